/* Chance from a seed (the SplitMix64 sequence). What needs chance takes one of these: a daemon
 * seeds it from the kernel, a test from its row, the simulator from the number of the run. */
#ifndef LKS_BASE_RNG_H
#define LKS_BASE_RNG_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

struct lks_rng {
    uint64_t state;
};

static inline uint64_t lks_rng_next(struct lks_rng *rng)
{
    rng->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = rng->state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A number from 0 to `n` - 1; `n` is at least 1. */
static inline uint64_t lks_rng_below(struct lks_rng *rng, uint64_t n)
{
    LKS_ASSERT(n > 0);
    return lks_rng_next(rng) % n;
}

/* True `percent` times in a hundred. */
static inline bool lks_rng_percent(struct lks_rng *rng, unsigned percent)
{
    return lks_rng_below(rng, 100) < percent;
}

#endif
