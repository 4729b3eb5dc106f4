#include "core/plan/leave.h"

#define MINUTE    (60 * LKS_SECOND)
#define DAY       (1440 * MINUTE)
#define TRIES_MAX 1000

/* One row a scheduler. */
static const struct {
    const char *name;
    enum lks_leave_sched leave;
} scheds[] = {
    {"", LKS_LEAVE_AGENT},
    {"none", LKS_LEAVE_AGENT},
    {"simulated", LKS_LEAVE_DRIVEN},
    {"slurm", LKS_LEAVE_NOT_YET},
    {"kubernetes", LKS_LEAVE_NOT_YET},
};

enum lks_leave_sched lks_leave_sched(struct lks_str sched)
{
    for (size_t i = 0; i < LKS_COUNT(scheds); i++) {
        if (lks_str_is(sched, scheds[i].name))
            return scheds[i].leave;
    }
    return LKS_LEAVE_NOT_YET;
}

/* A number of the table, from 1 up to what makes sense. */
static uint64_t within(int64_t number, uint64_t max)
{
    uint64_t value = number > 1 ? (uint64_t)number : 1;
    return value < max ? value : max;
}

struct lks_leave_rule lks_leave_rule(const struct lks_facts *facts, struct lks_str posture)
{
    const struct lks_posture *row = NULL;
    for (size_t i = 0; i < facts->postures.count && row == NULL; i++) {
        if (lks_str_eq(facts->postures.rows[i].name, posture))
            row = &facts->postures.rows[i];
    }
    if (row == NULL)
        return (struct lks_leave_rule){LKS_LEAVE_JOB, DAY, 0, LKS_LEAVE_HOLD};
    return (struct lks_leave_rule){
        .way = row->leave,
        .limit = within(row->leave_minutes, LKS_TIME_MAX / MINUTE) * MINUTE,
        .retries = (uint32_t)within(row->leave_tries, TRIES_MAX) - 1,
        .then = row->leave_then,
    };
}

lks_ms lks_leave_longest(lks_ms limit, uint64_t retries)
{
    return limit > LKS_TIME_MAX / (retries + 1) ? LKS_TIME_MAX : limit * (retries + 1);
}
