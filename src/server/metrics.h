/* Numbers for a monitoring system, as OpenMetrics text. */
#ifndef LKS_SERVER_METRICS_H
#define LKS_SERVER_METRICS_H

#include "base/buf.h"
#include "base/time.h"
#include "core/state.h"

#define LKS_METRICS_BUCKETS 12
#define LKS_METRICS_SLICE   5000 /* nodes of one call */

/* Seconds, of something that takes from a tenth of a millisecond to seconds. */
struct lks_histogram {
    uint64_t counts[LKS_METRICS_BUCKETS + 1]; /* the last: more than the last bound */
    uint64_t sum_us, count;
};
void lks_histogram_add(struct lks_histogram *h, uint64_t us);

/* The state thread's own counts. */
struct lks_metrics {
    struct lks_histogram commit; /* taken by the store thread until durable */
    struct lks_histogram store;  /* the store's own part of it */
    uint64_t beats, calls, refused, stalls, snapshots;
};

/* Everything but what is counted by node; `aside` is text of the server thread's. */
void lks_metrics_put(const struct lks_metrics *m, const struct lks_state *s, uint64_t durable,
                     const char *version, struct lks_str aside, struct lks_buf *out);

/* lockstep_node_info for at most a slice of nodes from `from` on; the answer is where to go on, or
 * the number of nodes. */
uint32_t lks_metrics_put_nodes(const struct lks_state *s, uint32_t from, struct lks_buf *out);

/* One line of a label's value, escaped. */
void lks_metrics_label(struct lks_buf *out, const char *name, struct lks_str value);

/* What this process takes of memory, from the text of /proc/self/statm. */
void lks_metrics_put_memory(struct lks_str statm, uint64_t page, struct lks_buf *out);

#endif
