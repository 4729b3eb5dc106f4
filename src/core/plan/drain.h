/*
 * How a node drains before something is done to it. Two tables:
 *
 *   - by the posture of its pool: what is waited for, how long, how often, what then, and what may
 *     be done to its jobs (data/postures.csv);
 *   - by the pool's `sched`: what is asked to send it no work. With `none` nothing is asked; the
 *     node's agent alone reports whether something runs there. A scheduler that cannot be asked yet
 *     makes a change of its nodes impossible: it would go on sending work. Several are joined by
 *     '+' ("slurm+kubernetes"), and each has to say that the node is drained.
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

#define LKS_DRAIN_SCHEDS_MAX 4 /* that a pool can have at once and that can be asked */

/* What only some schedulers have; bits. */
enum {
    LKS_DRAIN_LISTS = 1 << 0,      /* a list of jobs, and requeues of single ones */
    LKS_DRAIN_RESERVES = 1 << 1,   /* reservations */
    LKS_DRAIN_ADVERTISES = 1 << 2, /* the GPUs of a node, as it has them configured */
    LKS_DRAIN_RUNS = 1 << 3,       /* runs of jobs that ended */
    LKS_DRAIN_SHOWS = 1 << 4,      /* verdicts and slots of nodes, for jobs to choose by */
    LKS_DRAIN_SIGNALS = 1 << 5,    /* signals to single jobs, before they are requeued */
};

struct lks_drain_named {
    const char *name;
    enum lks_drain_sched how;
    unsigned offers;
    uint32_t parts; /* SHOWS: a request is so many, side by side: it is written node by node; 0: it
                       is one, for all nodes at once */
};

/* By the text of a pool's `sched`; empty is "none", an unknown name is NOT_YET, and so are several
 * of which one is. No fleet's file may say "simulated": only the simulator puts it there. */
enum lks_drain_sched lks_drain_sched(struct lks_str sched);

/* The next scheduler of the text that can be asked and offers all of that; `*rest` is the text at
 * first, and then what is behind. NULL: there is none. The row lives as long as the program. */
const struct lks_drain_named *lks_drain_sched_next(struct lks_str *rest, unsigned offers);

/* The name of the first that offers all of that; the whole text where none does. */
struct lks_str lks_drain_sched_first(struct lks_str sched, unsigned offers);

/* Whether the text has this scheduler, and it can be asked. */
bool lks_drain_sched_has(struct lks_str sched, struct lks_str name);

/* Whether one of them has jobs requeued without a signal: Kubernetes, where that is an eviction. */
bool lks_drain_sched_evicts(struct lks_str sched);

/* What that is, for plans and procedures. */
#define LKS_DRAIN_EVICTIONS                                                                        \
    "pods with GPUs are evicted, each once, with their own grace, when PodDisruptionBudgets "      \
    "allow it, and pods that no controller makes again are waited for"

/* The first that cannot be asked yet; empty: there is none. A view of the text. */
struct lks_str lks_drain_sched_mute(struct lks_str sched);

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
