/* Management endpoints, as the fleet's file declares them: where each is, how it is known to be the
 * right one, and by what reference we log in. */
#ifndef LKS_CORE_ENDPOINT_H
#define LKS_CORE_ENDPOINT_H

#include "core/registry/book.h"

#define LKS_ENDPOINT_URL_MAX 4096

/* Views of the book. */
struct lks_endpoint {
    struct lks_str url;         /* with {host} in it where the host's name goes */
    struct lks_str trust;       /* "file:/CA.pem", or "fingerprint": as recorded */
    struct lks_str credentials; /* a reference */
    struct lks_str driver;      /* "redfish", "nvos" */
    struct lks_str site;
};

/* Of these nodes or assets; false: they have none. */
bool lks_endpoint_of(const struct lks_group *group, struct lks_endpoint *out);

/* Of the node or asset of this name. */
bool lks_endpoint_find(const struct lks_book *book, struct lks_str name, struct lks_endpoint *out);

/* Each of them: hosts in the order of the file. Return false from `fn` to stop. */
typedef bool lks_endpoint_fn(void *ctx, struct lks_str name, const struct lks_endpoint *endpoint);
void lks_endpoint_each(const struct lks_book *book, lks_endpoint_fn *fn, void *ctx);

/* Its address: the pattern with the host's name in the place of each {host}. */
void lks_endpoint_url(struct lks_str pattern, struct lks_str host, struct lks_buf *out);

#endif
