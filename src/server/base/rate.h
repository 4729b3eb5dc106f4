/*
 * How often one may ask: a token bucket for each key (an identity, an address). Buckets refill with
 * time, which is an argument. The table is bounded: the one of a few that was used longest ago
 * makes room, which is most likely full again and then says no more than none.
 */
#ifndef LKS_SERVER_RATE_H
#define LKS_SERVER_RATE_H

#include "base/err.h"
#include "base/str.h"
#include "base/time.h"

#define LKS_RATE_KEYS 4096 /* a power of two */

struct lks_rate_bucket {
    uint64_t key; /* hash; 0: free */
    lks_ms at;    /* when `thousandths` was right */
    uint64_t thousandths;
};

struct lks_rate {
    uint64_t per_s, burst;
    uint64_t seed;                   /* so that no caller chooses which others share its bucket */
    struct lks_rate_bucket *buckets; /* owned */
};

enum lks_code lks_rate_init(struct lks_rate *r, uint64_t per_s, uint64_t burst, uint64_t seed,
                            struct lks_err *err) LKS_MUST_CHECK;
void lks_rate_fini(struct lks_rate *r);

/* Other numbers from now on; what was used stays used. */
void lks_rate_set(struct lks_rate *r, uint64_t per_s, uint64_t burst);

/* Whether one is left for `key`; nothing is taken. */
bool lks_rate_left(const struct lks_rate *r, struct lks_str key, lks_ms now);

/* True, and one less is left for `key`; or false, and `wait` is when the next one will be. */
bool lks_rate_take(struct lks_rate *r, struct lks_str key, lks_ms now, lks_ms *wait);

#endif
