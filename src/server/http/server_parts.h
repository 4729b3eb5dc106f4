/* For server/http/server_*.c: what the server thread knows of a connection and of the calls on it.
 */
#ifndef LKS_SERVER_SERVER_PARTS_H
#define LKS_SERVER_SERVER_PARTS_H

#include "server/threads/threads.h"

/* What a connection showed, so that it is looked at once. */
struct lks_link {
    struct lks_credential credential;
    bool known; /* the state thread found the node */
    uint32_t node;
    uint64_t epoch; /* when it did */
    /* What its exchange is counted as, until that is over. */
    struct lks_account *account; /* NULL: nothing */
    enum lks_share share;
};

/* How bodies are read: lks_httpd_options. */
enum lks_httpd_how lks_server_how(const char *method, const char *path, bool body);

/* The state thread knows the caller of `call`: its account is found and the exchange counted.
 * False: it has too many, and the call is answered with that. */
bool lks_server_enter(struct lks_server *s, struct lks_call *call);

/* The state thread found whose agent the call's connection is. */
void lks_server_remember(const struct lks_call *call);

/* A call whose body may come. */
void lks_server_collect(struct lks_server *s, struct lks_call *call);
/* It is there: parse it, here or in the pool, and go on to the state thread. */
void lks_server_collected(struct lks_server *s, struct lks_call *call,
                          struct lks_httpd_exchange *x);

/* What a job of lks_server.bodies does in the pool, and then here. */
void lks_server_body_work(struct lks_call *call);
void lks_server_body_done(struct lks_call *call);

/* Its answer is not awaited any more: it is gone. */
void lks_server_forget(struct lks_server *s, struct lks_call *call);

/* What the call held is free again. */
void lks_server_leave(struct lks_server *s, struct lks_call *call);

/* An exchange is over: lks_httpd_options. */
void lks_server_over(void *ctx, struct lks_httpd_peer *peer);

/* Whether the exchange may become a stream of events; false: it is answered with why not. */
bool lks_server_streams(struct lks_server *s, struct lks_call *call);

#endif
