/*
 * Work of calls in the thread pool, so much of it at a time; callers take turns, so that one that
 * asks much does not keep others waiting. Everything here but the work itself happens on the server
 * thread.
 */
#ifndef LKS_SERVER_FAIR_QUEUE_H
#define LKS_SERVER_FAIR_QUEUE_H

#include "server/call/call.h"

struct lks_fair_queue {
    uv_loop_t *loop;
    unsigned most;                       /* at a time */
    void (*work)(struct lks_call *call); /* in the pool */
    void (*done)(struct lks_call *call); /* then; the call is handed over */
    void (*left)(struct lks_call *call); /* instead of both: its answer is not awaited any more */
    unsigned running;
    struct lks_mail *first, **end;  /* that wait */
    const struct lks_account *last; /* whose turn was last; only compared */
};

/* Takes the call over. */
void lks_fair_queue_add(struct lks_fair_queue *t, struct lks_call *call);

/* How many calls of the same caller wait. */
unsigned lks_fair_queue_waiting(const struct lks_fair_queue *t, const struct lks_call *call);

#endif
