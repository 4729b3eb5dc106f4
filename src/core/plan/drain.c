#include "core/plan/drain.h"

#include "model/manifest/fleet.h"

#define MINUTE    (60 * LKS_SECOND)
#define DAY       (1440 * MINUTE)
#define TRIES_MAX 1000

#define ALL_OFFERS                                                                                 \
    (LKS_DRAIN_LISTS | LKS_DRAIN_RESERVES | LKS_DRAIN_ADVERTISES | LKS_DRAIN_RUNS |                \
     LKS_DRAIN_SHOWS | LKS_DRAIN_SIGNALS)

/* A request about a node waits for those of other nodes at the same API server: with more parts a
 * round of verdicts takes a larger share of the lanes, beside readings of nodes and drains. */
#define NODE_BY_NODE 32

/* One row a scheduler. */
static const struct lks_drain_named scheds[] = {
    {"", LKS_DRAIN_AGENT, 0, 0},
    {"none", LKS_DRAIN_AGENT, 0, 0},
    {"slurm", LKS_DRAIN_DRIVEN, ALL_OFFERS, 0},
    {"simulated", LKS_DRAIN_DRIVEN, ALL_OFFERS, 0},
    {"kubernetes", LKS_DRAIN_DRIVEN, LKS_DRAIN_LISTS | LKS_DRAIN_SHOWS, NODE_BY_NODE},
};
/* The first two are none, and a text has each of the others once at the most. */
_Static_assert(LKS_COUNT(scheds) - 2 <= LKS_DRAIN_SCHEDS_MAX, "a pool's schedulers are not cut");

/* NULL: the name is unknown. */
static const struct lks_drain_named *find(struct lks_str name)
{
    for (size_t i = 0; i < LKS_COUNT(scheds); i++) {
        if (lks_str_is(name, scheds[i].name))
            return &scheds[i];
    }
    return NULL;
}

static enum lks_drain_sched how_of(struct lks_str name)
{
    const struct lks_drain_named *row = find(name);
    return row != NULL ? row->how : LKS_DRAIN_NOT_YET;
}

enum lks_drain_sched lks_drain_sched(struct lks_str sched)
{
    enum lks_drain_sched most = LKS_DRAIN_AGENT; /* they are in rising order */
    struct lks_str rest = sched, name;
    for (bool more = true; more;) {
        more = lks_str_cut(rest, '+', &name, &rest);
        enum lks_drain_sched how = how_of(name);
        most = how > most ? how : most;
    }
    return most;
}

const struct lks_drain_named *lks_drain_sched_next(struct lks_str *rest, unsigned offers)
{
    while (rest->len > 0) {
        struct lks_str name;
        (void)lks_str_cut(*rest, '+', &name, rest);
        const struct lks_drain_named *row = find(name);
        if (row != NULL && row->how == LKS_DRAIN_DRIVEN && (row->offers & offers) == offers)
            return row;
    }
    return NULL;
}

struct lks_str lks_drain_sched_first(struct lks_str sched, unsigned offers)
{
    struct lks_str rest = sched;
    const struct lks_drain_named *row = lks_drain_sched_next(&rest, offers);
    return row != NULL ? lks_str_from(row->name) : sched;
}

bool lks_drain_sched_has(struct lks_str sched, struct lks_str name)
{
    const struct lks_drain_named *row;
    while ((row = lks_drain_sched_next(&sched, 0)) != NULL) {
        if (lks_str_is(name, row->name))
            return true;
    }
    return false;
}

bool lks_drain_sched_evicts(struct lks_str sched)
{
    const struct lks_drain_named *row;
    while ((row = lks_drain_sched_next(&sched, LKS_DRAIN_LISTS)) != NULL) {
        if ((row->offers & LKS_DRAIN_SIGNALS) == 0)
            return true;
    }
    return false;
}

struct lks_str lks_drain_sched_mute(struct lks_str sched)
{
    struct lks_str rest = sched, name;
    for (bool more = true; more;) {
        more = lks_str_cut(rest, '+', &name, &rest);
        if (how_of(name) == LKS_DRAIN_NOT_YET)
            return name;
    }
    return LKS_STR("");
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
