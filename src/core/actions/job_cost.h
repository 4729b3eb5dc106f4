/*
 * What a drain costs jobs: which jobs run on the nodes of a change now, when they end, and what it
 * would cost to requeue them now against waiting for their ends. From the lists of schedulers,
 * which are of the past; nothing of it decides anything.
 *
 *     lost    the GPUs of each job that may be requeued, times the time since it started: what a
 *             requeue now throws away at most, for a checkpoint saves part of it
 *     idle    the GPUs of each unit, from the end of their own job (now, if they have none) until
 *             the last job of the unit ends: what stands still while its nodes drain
 *
 * A unit with a job whose end is unknown has no idle time, and is counted. GPUs of a job that its
 * scheduler does not tell are an equal share of its nodes.
 */
#ifndef LKS_CORE_JOB_COST_H
#define LKS_CORE_JOB_COST_H

#include "base/arena.h"
#include "core/actions/sched_sites.h"
#include "core/registry/book.h"

#define LKS_JOB_COST_MEMORY_MAX ((size_t)256 << 20)
#define LKS_JOB_COST_TOP        10

/* A node of a change. Units are numbered from 0, in any order. */
struct lks_job_place {
    uint32_t node, wave, unit;
    uint32_t pool; /* found by lks_job_cost_find() */
};

/* Of one pool in one wave; jobs count once in each row. */
struct lks_job_cost_row {
    uint32_t wave, pool;
    uint32_t nodes, busy, jobs;
    uint32_t requeue;      /* jobs that their scheduler may start again */
    uint32_t unknown_ends; /* jobs */
    uint32_t unknown_idle; /* nodes of units with such a job */
    uint32_t unlisted;     /* nodes whose site has no list */
    lks_ms ends;           /* of the last job whose end is known; 0: none */
    uint64_t lost, idle;   /* GPU-milliseconds */
};

struct lks_job_cost_job {
    const struct lks_sched_job *job;
    uint32_t nodes; /* of the change */
};

/* Texts and jobs are views of the lists. */
struct lks_job_cost {
    struct lks_arena memory;
    struct lks_job_cost_row *rows; /* by wave, then pool */
    uint32_t row_count;
    struct lks_job_cost_job top[LKS_JOB_COST_TOP]; /* with the most nodes of the change, first */
    uint32_t top_count;
    lks_ms listed;              /* wall: of the oldest list; 0: there is none */
    struct lks_str site, sched; /* of a node without a list; empty: each has one */
};

/* Nodes of pools without a scheduler that can be asked for its jobs are left out; of several the
 * first that lists jobs is asked. The caller owes _fini, whatever
 * comes of it. `places` are put in order. */
enum lks_code lks_job_cost_find(const struct lks_state *s, const struct lks_book *book,
                                const struct lks_sched_sites *sites, lks_ms wall,
                                struct lks_job_place *places, size_t count,
                                struct lks_job_cost *out, struct lks_err *err) LKS_MUST_CHECK;
void lks_job_cost_fini(struct lks_job_cost *cost);

/* GPU-hours of GPU-milliseconds, rounded. */
uint64_t lks_job_cost_hours(uint64_t gpu_ms);

#endif
