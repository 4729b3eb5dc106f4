/* A server in a thread that says what a test wrote down, true or not. */
#ifndef LKS_TESTS_LIAR_H
#define LKS_TESTS_LIAR_H

#include "tests/pki.h"

#include <openssl/ssl.h>
#include <pthread.h>

enum { LKS_LIAR_TURNS = 16 };

/* One thing it does. */
enum lks_liar_act {
    LKS_LIAR_ANSWER,  /* read a request, say `text`, and keep the connection */
    LKS_LIAR_CLOSE,   /* the same, then close */
    LKS_LIAR_CUT,     /* the same, and close without TLS's good-bye */
    LKS_LIAR_DRIP,    /* the same, a byte at a time for as long as the client takes it */
    LKS_LIAR_SILENT,  /* read a request, say `text`, and nothing more until the client leaves */
    LKS_LIAR_DEAF,    /* say nothing from the start, not even in the handshake */
    LKS_LIAR_GARBAGE, /* say `text` where the handshake belongs, and close */
    LKS_LIAR_EARLY,   /* answer when the headers are there, then read what still comes */
};

struct lks_liar_turn {
    enum lks_liar_act act;
    struct lks_str text;
};

/* What it says to requests that begin so: "GET /v1/nodes?". */
struct lks_liar_reply {
    const char *request;
    struct lks_str text;
};

struct lks_liar {
    struct lks_liar_turn turns[LKS_LIAR_TURNS]; /* one after the other */
    size_t turn_count;
    /* Or: the first that fits, on a connection for each request, until lks_liar_join(). */
    struct lks_liar_reply replies[LKS_LIAR_TURNS];
    size_t reply_count;
    const struct lks_pair *own, *authority; /* NULL: no TLS; `authority`: clients show one of its */
    const char *path;                       /* of a Unix socket, or NULL */
    int version_max;                        /* of TLS; 0: any */
    /* Learned. */
    unsigned port, accepted, reused, shown, unplayed; /* `unplayed`: requests without a reply */
    struct lks_buf heard;                             /* all requests */
    /* Its own. */
    int fd;
    SSL_CTX *ctx;
    pthread_t thread;
    bool running;
};

void lks_liar_start(struct lks_liar *l);
/* Wait until it has done everything, or its patience ended. What it learned may be looked at then.
 */
void lks_liar_join(struct lks_liar *l);
void lks_liar_fini(struct lks_liar *l);

#endif
