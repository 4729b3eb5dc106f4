/* The bridge's listeners and requests, from its start to SIGTERM. */
#ifndef LKS_BRIDGE_SERVE_H
#define LKS_BRIDGE_SERVE_H

#include "base/err.h"
#include "base/time.h"

#include <stdio.h>
#include <sys/types.h>

#define LKS_SERVE_LISTEN_MAX 8
#define LKS_SERVE_NAMES_MAX  16

struct lks_bridge_options {
    const char *listen[LKS_SERVE_LISTEN_MAX]; /* "unix:/PATH", or "ADDRESS:PORT" with TLS */
    size_t listen_count;
    uid_t users[LKS_SERVE_NAMES_MAX]; /* that may use the socket */
    size_t user_count;
    const char *names[LKS_SERVE_NAMES_MAX]; /* of certificates that may use a port */
    size_t name_count;
    const char *certificate, *key, *ca; /* files; NULL where no port is listened on */
    const char *state;
    const char *policy; /* file of the submission policy; NULL: none */
    lks_ms stale;       /* answers of nodes are at most so old */
};

/* Prints "ready ADDRESS..." once it listens; the port of ADDRESS:0 is the one it got. */
enum lks_code lks_bridge_serve(const struct lks_bridge_options *options, FILE *out,
                               struct lks_err *err) LKS_MUST_CHECK;

#endif
