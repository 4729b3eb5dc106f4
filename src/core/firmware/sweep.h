/*
 * Reading every management endpoint in time: what there is to read, and when.
 *
 * Endpoints are due by their pool's interval; an asset's by the shortest among the pools of its
 * domain, or a day. They are handed out as leases of the store (port/store.h), so that any
 * controller can read them and each is read by one. This is the pure part: the list, when each is
 * due, and how long to wait after a failure.
 */
#ifndef LKS_CORE_SWEEP_H
#define LKS_CORE_SWEEP_H

#include "core/firmware/endpoint.h"

struct lks_state;

#define LKS_SWEEP_RETRY_MS ((lks_ms)60 * LKS_SECOND) /* doubled with each failure */

struct lks_sweep_task {
    struct lks_str name, site, pool, url; /* `url` has the host's name in it */
    const struct lks_endpoint *endpoint;
    lks_ms every;
    lks_ms due; /* wall */
};

/* Every endpoint of the fleet. Return false from `fn` to stop. Texts live during the call. */
typedef bool lks_sweep_fn(void *ctx, const struct lks_sweep_task *task);
enum lks_code lks_sweep_list(const struct lks_state *s, const struct lks_book *book,
                             lks_sweep_fn *fn, void *ctx, struct lks_err *err) LKS_MUST_CHECK;

/* When to try again after the `failures`th failure in a row; never later than the interval. */
lks_ms lks_sweep_retry(lks_ms wall, lks_ms every, uint32_t failures);

/* How well a pool's nodes are read. Those without an endpoint do not count. */
struct lks_sweep_age {
    uint32_t endpoints, never; /* how many there are, and how many of them were never read */
    lks_ms oldest;             /* age of the oldest reading; 0: there is none */
};
struct lks_sweep_age lks_sweep_age(const struct lks_state *s, const struct lks_book *book,
                                   uint32_t pool, lks_ms wall);

#endif
