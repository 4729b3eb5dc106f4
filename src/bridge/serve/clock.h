/* The clocks of the bridge. */
#ifndef LKS_BRIDGE_CLOCK_H
#define LKS_BRIDGE_CLOCK_H

#include "bridge/view/book.h"

#include <time.h>

static inline uint64_t lks_clock_wall_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static inline lks_ms lks_clock_wall(void)
{
    return lks_clock_wall_us() / 1000;
}

/* Runs on while the machine is suspended. */
static inline lks_ms lks_clock_steady(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (lks_ms)t.tv_sec * LKS_SECOND + (lks_ms)t.tv_nsec / 1000000;
}

static inline struct lks_bridge_when lks_clock_now(void)
{
    return (struct lks_bridge_when){.wall = lks_clock_wall(), .steady = lks_clock_steady()};
}

#endif
