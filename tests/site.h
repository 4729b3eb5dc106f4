/* A server for tests of the HTTP server, and what its handler remembers. */
#ifndef LKS_TESTS_SITE_H
#define LKS_TESTS_SITE_H

#include "drivers/http/httpd.h"
#include "tests/tree.h"
#include "tests/wire.h"

enum { LKS_SITE_STREAMS = 8, LKS_SITE_BACKLOG = 256 * 1024, LKS_SITE_BODY_MAX = 4096 };

struct lks_site {
    uv_loop_t loop;
    struct lks_tree tree; /* where the Unix socket is */
    char socket[96];
    struct lks_pair authority, server;
    struct lks_httpd_options options; /* tests change them before lks_site_start() */
    struct lks_httpd *httpd;
    struct lks_httpd_constant *constant, *long_constant;
    /* What happened. */
    struct lks_httpd_exchange *held;
    struct lks_httpd_exchange *left; /* the last that was gone */
    struct lks_httpd_stream *streams[LKS_SITE_STREAMS];
    size_t stream_count;
    unsigned handled, gone, ended, dropped;
    struct lks_wire *feed; /* "/again" asks again here, up to `feed_max` handled */
    unsigned feed_max;
};

/* Ready to start on TLS, or on a Unix socket. */
void lks_site_init(struct lks_site *s, bool tls);
void lks_site_start(struct lks_site *s);
void lks_site_fini(struct lks_site *s);

/* The server alone ends; what happened stays to be looked at. */
void lks_site_stop(struct lks_site *s);

/* Connected; with TLS, the handshake is done as a good client. */
void lks_site_dial(struct lks_site *s, struct lks_wire *w);

/* Rounds until `*number` is `wanted`, within patience. */
bool lks_site_wait(struct lks_site *s, const unsigned *number, unsigned wanted);
bool lks_site_empty(struct lks_site *s);

#endif
