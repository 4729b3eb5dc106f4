/*
 * The jobs of a site that are not finished, as its scheduler listed them, in the memory of the
 * controller that leads. Plans and rehearsals read the list; nothing of it is journaled.
 *
 * A list is whole or there is none: one that is too long, cut off or malformed is a failure that
 * names its reason. A job of which something needed cannot be read (its id, nodes, start, or
 * whether it may be requeued) hides no other one: it counts as running on every node, and its run
 * is unknown. Texts are printable: users choose some of them, and other bytes become '?'.
 */
#ifndef LKS_CORE_SCHED_JOBS_H
#define LKS_CORE_SCHED_JOBS_H

#include "base/intern.h"
#include "base/time.h"

#define LKS_SCHED_JOBS_LISTED_MAX ((uint32_t)200000)
#define LKS_SCHED_JOBS_PLACES_MAX ((uint32_t)4000000) /* nodes of all jobs that run, in all */
#define LKS_SCHED_JOBS_BYTES_MAX  ((size_t)96 << 20)  /* of the list as JSON */
#define LKS_SCHED_JOBS_STALE      (60 * LKS_SECOND)   /* a list that was older when it came */
#define LKS_SCHED_JOBS_ID_MAX     326                 /* bytes of the id of a job */
#define LKS_SCHED_JOBS_UNKNOWN    UINT32_MAX          /* a number of GPUs that is not known */

/* Texts are owned by the list. */
struct lks_sched_job {
    struct lks_str id; /* as the scheduler prints it: "17", "17_3" in an array, "17+1"; of a pod
                          "ml/train-0#3f2c1a9b" */
    struct lks_str user, account, partition, state;
    struct lks_str nodes; /* a host list; empty: it does not run */
    lks_ms started, ends; /* wall; 0: it did not start, its end is unknown */
    uint32_t node_count;
    uint32_t gpus; /* on all its nodes, or UNKNOWN */
    bool runs;     /* has nodes, or cannot be read */
    bool requeue;  /* the scheduler may start it again */
    bool unplaced; /* it runs, and which nodes it has cannot be read */
};

/* A job of a node. */
struct lks_sched_job_link {
    uint32_t job, next; /* place in `jobs`; of the next link + 1, 0: none */
};

/* All zero is none. */
struct lks_sched_jobs {
    lks_ms age;                 /* of the list when it came */
    lks_ms listed;              /* wall: when it was so, as its keeper noted; 0: there is no list */
    struct lks_sched_job *jobs; /* owned */
    uint32_t count, room;
    uint32_t unplaced; /* how many of them are */
    struct lks_intern ids;
    uint32_t *by_id; /* owned; place in `jobs`, by the number of the id */
    uint32_t id_room;
    struct lks_intern names; /* of nodes with a job */
    uint32_t *first;         /* owned; of a name: its first link + 1 */
    uint32_t first_room;
    struct lks_sched_job_link *links; /* owned */
    uint32_t link_count, link_room;
    struct lks_intern words; /* users, accounts, partitions, states and host lists */
};
void lks_sched_jobs_fini(struct lks_sched_jobs *jobs);

/* Read the answer {"age": MS, "jobs": [...]} of a bridge. LIMIT: the list is too long; UNAVAILABLE:
 * it is too old; INVALID: it is malformed. */
enum lks_code lks_sched_jobs_read(struct lks_str json, struct lks_sched_jobs *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* Begin a list that is made job by job; what was listed before is gone. */
void lks_sched_jobs_begin(struct lks_sched_jobs *jobs);

/* Add a job, whose texts are copied; the list finds out how many nodes it has. LIMIT: the list is
 * too long. */
enum lks_code lks_sched_jobs_add(struct lks_sched_jobs *jobs, const struct lks_sched_job *job,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* The list came at `wall`: its age counts from now on. */
void lks_sched_jobs_came(struct lks_sched_jobs *jobs, lks_ms wall);

/* NULL: no such job is listed. */
const struct lks_sched_job *lks_sched_jobs_find(const struct lks_sched_jobs *jobs,
                                                struct lks_str id);

/* A heterogeneous job is listed by its components, "17+0" and "17+1". They start and are requeued
 * together, by the id that they share: "17". Any other id is its own. */
#define LKS_SCHED_JOBS_PARTS 128 /* components that Slurm allows a job */
struct lks_str lks_sched_jobs_whole(struct lks_str id);
/* The component of that number; NULL: none such is listed. */
const struct lks_sched_job *lks_sched_jobs_part(const struct lks_sched_jobs *jobs,
                                                struct lks_str whole, uint32_t number);

/* The jobs of a node, in no order: `at` is zero before the first. NULL: that was all. Jobs
 * whose nodes cannot be read are among them. */
struct lks_sched_jobs_at {
    uint32_t step, place;
};
const struct lks_sched_job *lks_sched_jobs_on(const struct lks_sched_jobs *jobs,
                                              struct lks_str node, struct lks_sched_jobs_at *at);

/* How old the list is at `wall`; UINT64_MAX: there is none. */
lks_ms lks_sched_jobs_age(const struct lks_sched_jobs *jobs, lks_ms wall);

#endif
