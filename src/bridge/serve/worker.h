/*
 * The one thread that talks to slurmctld. It reads into the book, which the loop's thread answers
 * from under the lock, and carries out writes, several at a time: nodes that are drained for the
 * same reason are one request to slurmctld. However long slurmctld takes, the loop never waits.
 *
 * A write is decided on what slurmctld says at that moment, not on the book: the epoch first, which
 * is durable before anything is sent; then the revision and the owner; and what the answer shows is
 * read again behind it.
 */
#ifndef LKS_BRIDGE_WORKER_H
#define LKS_BRIDGE_WORKER_H

#include "base/process/log.h"
#include "bridge/serve/durable.h"
#include "bridge/slurm/slurm_client.h"
#include "bridge/view/request.h"

#include <uv.h>

enum lks_worker_task_state { LKS_TASK_QUEUED, LKS_TASK_RUNNING, LKS_TASK_DONE };

/* A write. The loop's thread owns it, and leaves it alone while it runs. */
struct lks_worker_task {
    struct lks_worker_task *next;
    enum lks_worker_task_state state; /* under the lock */
    struct lks_bridge_request request;
    int status; /* of the answer, once it is done */
    struct lks_buf body;
    /* The worker's own. */
    bool sends;                            /* Slurm is asked to change something, or was */
    struct lks_err err;                    /* what Slurm said to that */
    char reason[LKS_DRAIN_REASON_MAX + 1]; /* for Slurm; empty: none */
    bool resume;                           /* a release ends DOWN as well */
};

/* What the loop's thread may read under the lock. */
struct lks_worker_status {
    lks_ms busy_since; /* steady: since when slurmctld is waited for; 0: it is not */
    bool failed;       /* the last reading */
    char failure[LKS_ERR_MSG_MAX];
    char warning[LKS_ERR_MSG_MAX];  /* a job whose nodes cannot be read, say; empty: none */
    struct lks_slurm_about about;   /* empty until slurmctld answered once */
    bool primary, backup;           /* answered the last ping */
    lks_ms pinged;                  /* wall; 0: never */
    lks_ms policy_written;          /* wall; 0: never */
    bool policy_failed;             /* the last time */
    char left_out[LKS_ERR_MSG_MAX]; /* a partition that the policy does not have; empty: none */
};

struct lks_worker {
    uv_thread_t thread;
    uv_mutex_t lock;
    uv_cond_t wake;
    uv_async_t done; /* a reading ended, or writes did */
    struct lks_slurm *slurm;
    struct lks_durable durable;
    const char *policy;  /* the file; NULL: none */
    struct lks_log *log; /* the loop's thread writes it only before the start and behind the end */
    /* Under the lock. */
    struct lks_bridge_book book;
    struct lks_bridge_runs runs;
    struct lks_worker_status status;
    struct lks_worker_task *first, **last;
    uint32_t queued;
    uint64_t epoch;
    bool refresh, stop;
};

#define LKS_WORKER_QUEUE_MAX 4096

/* `done` is called on the loop's thread. */
enum lks_code lks_worker_start(struct lks_worker *w, uv_loop_t *loop, uv_async_cb done, void *ctx,
                               struct lks_err *err) LKS_MUST_CHECK;

/* Ask the thread to end, and wait so long for it; false: slurmctld still keeps it. */
bool lks_worker_stop(struct lks_worker *w, lks_ms patience);

/* Have everything read again. */
void lks_worker_refresh(struct lks_worker *w);

/* False: the queue is full. */
bool lks_worker_put(struct lks_worker *w, struct lks_worker_task *task) LKS_MUST_CHECK;

/* Take a task out that has not been started; false: it runs, or is done. */
bool lks_worker_cancel(struct lks_worker *w, struct lks_worker_task *task) LKS_MUST_CHECK;

/* For the files of the worker: read all, or a node, into the book. */
enum lks_code lks_worker_read(struct lks_worker *w, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_worker_read_node(struct lks_worker *w, const char *name,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* Carry out tasks for different nodes. */
void lks_worker_write(struct lks_worker *w, struct lks_worker_task *const *tasks, size_t count);

/* Put what lockstep says of nodes into Slurm. */
void lks_worker_truth(struct lks_worker *w, struct lks_worker_task *task);

/* Write the submission policy, where there is a file for it. */
void lks_worker_policy(struct lks_worker *w, struct lks_worker_task *task);

/* Make a reservation as it is asked for, or end it. */
void lks_worker_reserve(struct lks_worker *w, struct lks_worker_task *task);

#define LKS_WORKER_BATCH 256

#endif
