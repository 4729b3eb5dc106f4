/*
 * Rows of the journal as server-sent events, on the server thread.
 *
 * Rows that become durable while there are readers are kept as text in a ring. A reader that is
 * within the ring is written from there; one that is further behind is caught up from the store,
 * piece by piece in the thread pool. A reader who does not read is dropped. A stream ends after an
 * hour, and when any access is revoked: readers come again and go on where they were.
 */
#ifndef LKS_SERVER_EVENTS_H
#define LKS_SERVER_EVENTS_H

#include "drivers/http/httpd.h"
#include "engine/engine.h"

#define LKS_EVENTS_RING    4096 /* rows */
#define LKS_EVENTS_KEPT    16   /* readers, for root */
#define LKS_EVENTS_PIECE   1000 /* rows of one catch-up */
#define LKS_EVENTS_BACKLOG ((size_t)4 << 20)

struct lks_daemon;
struct lks_reader;

struct lks_events {
    const struct lks_daemon *daemon;
    uv_loop_t *loop;
    struct lks_reader *readers;
    unsigned count;
    struct lks_buf ring[LKS_EVENTS_RING]; /* by seq modulo its size */
    uint64_t first, next;                 /* rows the ring has: first to next - 1 */
    uint64_t durable;
    unsigned working; /* catch-ups in the thread pool */
    bool closing;
};

/* Nothing is known to be durable until the first batch is. */
void lks_events_init(struct lks_events *e, const struct lks_daemon *daemon, uv_loop_t *loop);
/* Every stream is ended; none begins any more. */
void lks_events_close(struct lks_events *e);
void lks_events_fini(struct lks_events *e);

/* A request becomes a reader from row `from` on. False when there are too many; some places are
 * kept for `root`, who has to see what goes on. */
bool lks_events_join(struct lks_events *e, struct lks_httpd_exchange *x, uint64_t from, bool root);

/* These rows are durable now. */
void lks_events_add(struct lks_events *e, const struct lks_engine_batch *batch);

/* Now and then: a sign of life, and readers who were too slow get another chance. */
void lks_events_tick(struct lks_events *e, lks_ms mono);

#endif
