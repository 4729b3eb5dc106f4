/*
 * An image that a BMC fetches by itself, as SimpleUpdate wants it. From loopback addresses alone:
 * whatever a request names, no simulated BMC reaches another machine. It waits in a thread of the
 * loop's pool.
 */
#ifndef LKS_BMCD_PULL_H
#define LKS_BMCD_PULL_H

#include "base/buf.h"

#include <uv.h>

#define LKS_PULL_URI_MAX 2047
#define LKS_PULL_MS      20000 /* for the whole of it */

/* On the loop's thread: what was fetched, or nothing and why. */
typedef void lks_pull_done(void *ctx, struct lks_str bytes, const char *why);

/* `ca` is the PEM file that an https server must be certified by, or NULL: then https is refused.
 * False, and `done` is not called, when it cannot even begin. */
bool lks_pull_begin(uv_loop_t *loop, struct lks_str uri, const char *ca, size_t most,
                    lks_pull_done *done, void *ctx);

/* For tests: the host and port of a URI and where its path begins, if it may be asked at all. */
struct lks_pull_place {
    bool tls;
    char host[64]; /* an address, or "localhost" */
    char port[8];
    const char *path; /* in the text */
};
bool lks_pull_parse(const char *uri, struct lks_pull_place *out);

#endif
