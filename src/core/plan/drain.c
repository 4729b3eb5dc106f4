#include "core/plan/drain.h"

#include "model/manifest/fleet.h"

#define MINUTE    (60 * LKS_SECOND)
#define DAY       (1440 * MINUTE)
#define TRIES_MAX 1000

/* One row a scheduler. */
static const struct lks_str_named scheds[] = {
    {"", LKS_DRAIN_AGENT},       {"none", LKS_DRAIN_AGENT},         {"simulated", LKS_DRAIN_DRIVEN},
    {"slurm", LKS_DRAIN_DRIVEN}, {"kubernetes", LKS_DRAIN_NOT_YET},
};

enum lks_drain_sched lks_drain_sched(struct lks_str sched)
{
    return (enum lks_drain_sched)lks_str_lookup(sched, scheds, LKS_COUNT(scheds),
                                                LKS_DRAIN_NOT_YET);
}

/* A number of the table, from 1 up to what makes sense. */
static uint64_t within(int64_t number, uint64_t max)
{
    uint64_t value = number > 1 ? (uint64_t)number : 1;
    return value < max ? value : max;
}

struct lks_str lks_drain_signal(bool requeues, struct lks_str said)
{
    if (!requeues)
        return LKS_STR("");
    return said.len > 0 ? said : LKS_STR(LKS_DRAIN_SIGNAL);
}

lks_ms lks_drain_grace(bool requeues, int64_t minutes)
{
    int64_t said = minutes > 0 ? minutes : LKS_DRAIN_GRACE_MINUTES;
    return requeues ? within(said, LKS_DRAIN_GRACE_MAX) * MINUTE : 0;
}

struct lks_drain_rule lks_drain_rule(const struct lks_facts *facts, struct lks_str posture)
{
    const struct lks_posture *row = NULL;
    for (size_t i = 0; i < facts->postures.count && row == NULL; i++) {
        if (lks_str_eq(facts->postures.rows[i].name, posture))
            row = &facts->postures.rows[i];
    }
    if (row == NULL)
        return (struct lks_drain_rule){.limit = DAY, .signal = LKS_STR("")};
    bool requeues = row->leave_jobs == LKS_DRAIN_JOBS_REQUEUE;
    return (struct lks_drain_rule){
        .jobs = row->leave_jobs,
        .signal = lks_drain_signal(requeues, row->leave_signal),
        .grace = lks_drain_grace(requeues, row->leave_grace_minutes),
        .way = row->leave,
        .limit = within(row->leave_minutes, LKS_TIME_MAX / MINUTE) * MINUTE,
        .retries = (uint32_t)within(row->leave_tries, TRIES_MAX) - 1,
        .then = row->leave_then,
    };
}

struct lks_drain_rule lks_drain_rule_jobs(const struct lks_drain_rule *rule,
                                          const struct lks_pool *said)
{
    struct lks_drain_rule out = *rule;
    if (said != NULL && said->drain_jobs.len > 0)
        out.jobs =
            lks_str_is(said->drain_jobs, "requeue") ? LKS_DRAIN_JOBS_REQUEUE : LKS_DRAIN_JOBS_WAIT;
    bool requeues = out.jobs == LKS_DRAIN_JOBS_REQUEUE;
    bool signals = said != NULL && said->drain_signal.len > 0;
    bool waits = said != NULL && said->drain_grace_minutes > 0;
    out.signal = lks_drain_signal(requeues, signals ? said->drain_signal : rule->signal);
    out.grace = waits                         ? lks_drain_grace(requeues, said->drain_grace_minutes)
                : rule->grace > 0 && requeues ? rule->grace
                                              : lks_drain_grace(requeues, 0);
    return out;
}

lks_ms lks_drain_longest(lks_ms limit, uint64_t retries)
{
    return limit > LKS_TIME_MAX / (retries + 1) ? LKS_TIME_MAX : limit * (retries + 1);
}
