#include "server/base/rate.h"

#include <stdlib.h>

enum { WAYS = 8, WHOLE = 1000 };

enum lks_code lks_rate_init(struct lks_rate *r, uint64_t per_s, uint64_t burst, uint64_t seed,
                            struct lks_err *err)
{
    struct lks_rate_bucket *buckets = calloc(LKS_RATE_KEYS, sizeof(*buckets));
    if (buckets == NULL)
        return lks_fail_nomem(err);
    *r = (struct lks_rate){.per_s = per_s, .burst = burst, .seed = seed, .buckets = buckets};
    return LKS_OK;
}

void lks_rate_fini(struct lks_rate *r)
{
    free(r->buckets);
    *r = (struct lks_rate){0};
}

void lks_rate_set(struct lks_rate *r, uint64_t per_s, uint64_t burst)
{
    r->per_s = per_s;
    r->burst = burst;
}

/* FNV-1a from a seed, with a last stir so that low bits depend on all of it. */
static uint64_t hash_of(const struct lks_rate *r, struct lks_str key)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ r->seed;
    for (size_t i = 0; i < key.len; i++)
        h = (h ^ (uint8_t)key.ptr[i]) * UINT64_C(0x100000001b3);
    h = (h ^ h >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 29;
    return h != 0 ? h : 1;
}

static void refill(const struct lks_rate *r, struct lks_rate_bucket *b, lks_ms now)
{
    uint64_t full = r->burst * WHOLE;
    if (now > b->at) {
        /* Thousandths for each millisecond are as many as wholes for each second. */
        lks_ms passed = now - b->at;
        b->thousandths = passed >= full / r->per_s ? full : b->thousandths + passed * r->per_s;
        b->at = now;
    }
    if (b->thousandths > full)
        b->thousandths = full;
}

/* The bucket of `key`, a full one if it has none yet. Its place is among a few by its hash. */
static struct lks_rate_bucket *find(struct lks_rate *r, uint64_t key, lks_ms now)
{
    struct lks_rate_bucket *set = &r->buckets[(key % (LKS_RATE_KEYS / WAYS)) * WAYS];
    struct lks_rate_bucket *oldest = &set[0];
    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].key == key)
            return &set[i];
        if (set[i].key == 0 || set[i].at < oldest->at)
            oldest = &set[i];
        if (oldest->key == 0)
            break;
    }
    *oldest = (struct lks_rate_bucket){key, now, r->burst * WHOLE};
    return oldest;
}

bool lks_rate_left(const struct lks_rate *r, struct lks_str key, lks_ms now)
{
    uint64_t hash = hash_of(r, key);
    const struct lks_rate_bucket *set = &r->buckets[(hash % (LKS_RATE_KEYS / WAYS)) * WAYS];
    for (size_t i = 0; i < WAYS; i++) {
        struct lks_rate_bucket b = set[i];
        if (b.key != hash)
            continue;
        refill(r, &b, now);
        return b.thousandths >= WHOLE;
    }
    return true;
}

bool lks_rate_take(struct lks_rate *r, struct lks_str key, lks_ms now, lks_ms *wait)
{
    struct lks_rate_bucket *b = find(r, hash_of(r, key), now);
    refill(r, b, now);
    if (b->thousandths >= WHOLE) {
        b->thousandths -= WHOLE;
        return true;
    }
    *wait = (WHOLE - b->thousandths + r->per_s - 1) / r->per_s;
    return false;
}
