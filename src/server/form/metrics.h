/* Numbers for a monitoring system, as OpenMetrics text. */
#ifndef LKS_SERVER_METRICS_H
#define LKS_SERVER_METRICS_H

#include "base/buf.h"
#include "base/time.h"
#include "core/exposure/cadence.h"
#include "server/base/daemon.h"

#define LKS_METRICS_BUCKETS 12
#define LKS_METRICS_SLICE   5000 /* nodes of one call */

/* Seconds, of something that takes from a tenth of a millisecond to seconds. */
struct lks_histogram {
    uint64_t counts[LKS_METRICS_BUCKETS + 1]; /* the last: more than the last bound */
    uint64_t sum_us, count;
};
void lks_metrics_histogram_add(struct lks_histogram *h, uint64_t us);

/* Jobs that were refused, and that would have been were it enforced, by reason. */
struct lks_metrics_pool {
    uint64_t refused[LKS_BAR_COUNT], would[LKS_BAR_COUNT];
    uint64_t ended[LKS_RUN_STATE_COUNT], gpu_ms; /* runs of jobs, with those that are folded: */
    uint64_t folded;                             /* counted together, without a row of their own */
    uint64_t interrupted[LKS_RUN_CAUSE_COUNT];
};

/* Answers to webhooks of Kubernetes. */
enum lks_reviewed {
    LKS_REVIEWED_ALLOWED, /* without a word, or no concern of lockstep */
    LKS_REVIEWED_PATCHED,
    LKS_REVIEWED_WARNED,
    LKS_REVIEWED_REFUSED,
    LKS_REVIEWED_COUNT
};
enum lks_webhook { LKS_WEBHOOK_MUTATE, LKS_WEBHOOK_VALIDATE, LKS_WEBHOOK_COUNT };

enum lks_answer { LKS_ANSWER_YES, LKS_ANSWER_OVERRIDDEN, LKS_ANSWER_NO, LKS_ANSWER_COUNT };

/* The state thread's own counts. */
struct lks_metrics {
    struct lks_histogram commit;    /* taken by the store thread until durable */
    struct lks_histogram store;     /* the store's own part of it */
    struct lks_histogram admission; /* from a question until its answer is written */
    uint64_t beats, calls, refused, stalls, snapshots, snapshots_unused;
    uint64_t admissions[LKS_ANSWER_COUNT];
    uint64_t reviews[LKS_WEBHOOK_COUNT][LKS_REVIEWED_COUNT];
    struct lks_histogram review; /* from a review until its answer is written */
    int64_t webhook_client_end;  /* of the certificate of the API server that asked last; 0: none */
    uint64_t unanswered;         /* jobs that schedulers started without an answer */
    uint64_t decisions_dropped;
    uint64_t run_gaps;              /* in runs of schedulers, as recorded */
    struct lks_metrics_pool *pools; /* owned; by pool */
    uint32_t pool_room;
};
/* Room for `count` pools; false when memory ran out. */
bool lks_metrics_pools(struct lks_metrics *m, uint32_t count);
void lks_metrics_fini(struct lks_metrics *m);

/* Count what a decision records of runs of jobs that ended. */
void lks_metrics_runs(struct lks_metrics *m, const struct lks_state *s,
                      const struct lks_decision *d);

/* What the numbers are of, beside the state. */
struct lks_metrics_now {
    struct lks_now now;
    uint64_t durable;
    const char *version;
    bool leads;
    lks_ms behind;
    struct lks_str aside; /* text of the server thread's */
    struct lks_metrics_bmc bmc;
    uint64_t sched_asked, sched_failed;           /* conversations with schedulers about nodes, */
    uint64_t sched_site_asked, sched_site_failed; /* about sites; */
    uint64_t sched_published, sched_behind;       /* nodes whose verdict they show, or not, */
    uint64_t bridges_unconfirmed;                 /* that do not have the leader's epoch */
    uint64_t sched_reserved, sched_reserve;       /* reservations for windows: listed, and wanted */
    lks_ms sched_behind_for;                      /* and for how long the longest does not */
};

/* Everything but what is counted by node. */
void lks_metrics_put(const struct lks_metrics *m, const struct lks_state *s,
                     const struct lks_metrics_now *about, struct lks_buf *out);

/* Nodes by pool, counted on the way; all zero is the beginning. */
struct lks_metrics_tally {
    struct lks_metrics_counts *pools; /* owned */
    uint32_t count;
    uint32_t node, pool; /* where to go on */
    struct lks_pool_classes classes;
};
void lks_metrics_tally_fini(struct lks_metrics_tally *t);

/* lockstep_node_info for at most a slice of nodes, and behind the last of them what was counted;
 * true when all of it is there. Pools that come meanwhile are not in it. */
bool lks_metrics_put_nodes(const struct lks_state *s, const struct lks_book *book,
                           struct lks_now now, struct lks_metrics_tally *t, struct lks_buf *out);

/* One line of a label's value, escaped. */
void lks_metrics_label(struct lks_buf *out, const char *name, struct lks_str value);

/* What this process takes of memory, from the text of /proc/self/statm. */
void lks_metrics_put_memory(struct lks_str statm, uint64_t page, struct lks_buf *out);

#endif
