/*
 * How a node drains before something is done to it. Two tables:
 *
 *   - by the posture of its pool: what is waited for, how long, how often, what then, and what may
 *     be done to its jobs (data/postures.csv);
 *   - by the pool's `sched`: what is asked to send it no work. With `none` nothing is asked; the
 *     node's agent alone reports whether something runs there. A scheduler that cannot be asked yet
 *     makes a change of its nodes impossible: it would go on sending work.
 */
#ifndef LKS_CORE_DRAIN_H
#define LKS_CORE_DRAIN_H

#include "base/time.h"
#include "model/facts/facts.h"

enum lks_drain_sched {
    LKS_DRAIN_AGENT,   /* the agent's own look is enough */
    LKS_DRAIN_DRIVEN,  /* before it, the scheduler has to say that it is drained, by us */
    LKS_DRAIN_NOT_YET, /* this scheduler cannot be asked: no change there */
};

/* By the name of a pool's `sched`; empty is "none", an unknown name is NOT_YET. No fleet's file may
 * say "simulated": only the simulator puts it there. */
enum lks_drain_sched lks_drain_sched(struct lks_str sched);

/* How a node of this posture leaves; one that the table does not have waits a day for its jobs,
 * and then for a person. */
struct lks_drain_rule {
    enum lks_drain_way way;
    lks_ms limit;     /* of one try */
    uint32_t retries; /* behind the first */
    enum lks_drain_then then;
    enum lks_drain_jobs jobs; /* with REQUEUE: */
    struct lks_str signal;    /* that a job gets first */
    lks_ms grace;             /* and then so long until it is requeued */
};
struct lks_drain_rule lks_drain_rule(const struct lks_facts *facts, struct lks_str posture);

/* The same with what the pool's own file says of its jobs (`said` NULL: nothing), where a scheduler
 * can be asked. */
struct lks_pool;
struct lks_drain_rule lks_drain_rule_jobs(const struct lks_drain_rule *rule,
                                          const struct lks_pool *said);

/* The signal and the grace of a job before it is requeued: what was said, or what is usual; without
 * requeueing none. */
struct lks_str lks_drain_signal(bool requeues, struct lks_str said);
lks_ms lks_drain_grace(bool requeues, int64_t minutes);

/* How long that may take in all: the deadline of the step, and what its plan says. Plans of before
 * have tries; those of today the whole, and no more of them. */
lks_ms lks_drain_longest(lks_ms limit, uint64_t retries);

#endif
