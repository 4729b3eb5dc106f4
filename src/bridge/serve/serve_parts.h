/* What the files that serve requests share. */
#ifndef LKS_BRIDGE_SERVE_PARTS_H
#define LKS_BRIDGE_SERVE_PARTS_H

#include "bridge/serve/serve.h"
#include "bridge/serve/worker.h"
#include "drivers/http/httpd.h"

/* A request that is not answered yet. */
struct lks_serve_call {
    struct lks_serve_call *next;
    struct lks_httpd_exchange *x; /* NULL: the peer has left, or got its answer */
    lks_ms deadline;              /* steady */
    struct lks_worker_task task;  /* with the request, also of a read */
};

struct lks_serve {
    const struct lks_bridge_options *o;
    uv_loop_t loop;
    struct lks_log log;
    struct lks_worker worker;
    struct lks_httpd *listeners[LKS_SERVE_LISTEN_MAX];
    size_t listener_count;
    struct lks_serve_call *calls;
    uv_timer_t timer; /* runs while there are calls */
    uv_signal_t ends[2];
    bool started, ending;
};

/* The handler of requests and what is told when a peer leaves, for lks_httpd_new(). */
void lks_serve_request(void *ctx, struct lks_httpd_exchange *x,
                       const struct lks_httpd_request *request);
void lks_serve_gone(void *ctx, struct lks_httpd_exchange *x);

/* Something was read or written, or time went by: answer what can be. */
void lks_serve_answer(struct lks_serve *s);

/* Free the calls that are left. The worker has ended. */
void lks_serve_drop(struct lks_serve *s);

#endif
