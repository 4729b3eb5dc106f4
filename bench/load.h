/*
 * Load for an HTTP server: so many connections, each kept and each with at most one request under
 * way, over mutual TLS or a Unix socket, from one thread. Connections are made before the clock
 * starts. Requests follow each other as fast as they are answered, or begin at a steady rate; with
 * them come others that each have a connection of their own, so that there are handshakes too.
 */
#ifndef LKS_BENCH_LOAD_H
#define LKS_BENCH_LOAD_H

#include "base/buf.h"

#define LKS_LOAD_CONNECTIONS_MAX 20000
#define LKS_LOAD_REQUESTS_MAX    4000000

struct lks_load_pair {
    struct lks_str certificate, key; /* PEM */
};

struct lks_load_plan {
    unsigned port;                     /* on 127.0.0.1, with TLS */
    const char *path;                  /* of a Unix socket instead; NULL: none */
    struct lks_str certificate, key;   /* PEM; empty: no certificate is shown */
    const struct lks_load_pair *pairs; /* NULL, or one for each connection instead */
    unsigned connections;
    unsigned requests;       /* in all */
    double per_second;       /* that begin, as far as a connection is free; 0: as fast as it goes */
    double fresh_per_second; /* over TLS: requests that come with a connection of their own; */
    unsigned fresh;          /* of them at a time; `pairs`, if any, has as many more */
    const int *until;        /* NULL, or a descriptor: when it can be read we end */
    struct lks_str request;  /* the bytes of each, unless `next` says */
    /* NULL, or what gives the bytes of the next request of connection `n`; fresh ones are counted
     * behind those that are kept. */
    struct lks_str (*next)(void *ctx, unsigned n);
    void *ctx;
    int status; /* what an answer must have to count as good */
};

struct lks_load_result {
    uint64_t good, bad; /* answers; a broken connection counts as bad and ends */
    double seconds, per_second;
    double p50_ms, p99_ms, max_ms; /* of connections that are kept */
    double fresh_per_second;       /* good answers on those that are not */
    double handshakes_per_second;  /* of the time before the clock started */
};

enum lks_code lks_load_run(const struct lks_load_plan *plan, struct lks_load_result *out,
                           struct lks_err *err) LKS_MUST_CHECK;

#endif
