/*
 * Revisions: numbers that only rise, also over a restart and when the clock is set back. A revision
 * is the microsecond of wall time at which a change was seen, made unique. The highest one that may
 * be given out is durable before it is: after a restart the numbers continue above it.
 */
#ifndef LKS_BRIDGE_REVISION_H
#define LKS_BRIDGE_REVISION_H

#include <stdbool.h>
#include <stdint.h>

#define LKS_BRIDGE_REVISION_AHEAD (UINT64_C(60) * 1000 * 1000) /* reserved at once: a minute */

struct lks_bridge_revision {
    uint64_t last;    /* that was given out */
    uint64_t ceiling; /* durable: none above it may be */
};

/* After a start, with the ceiling that was kept. */
void lks_bridge_revision_init(struct lks_bridge_revision *r, uint64_t kept);

/* Whether `count` more may be given out at `now`; else `ceiling` has to be kept, and then set with
 * lks_bridge_revision_allow(). */
bool lks_bridge_revision_ready(const struct lks_bridge_revision *r, uint64_t now_us, uint64_t count,
                               uint64_t *ceiling);
void lks_bridge_revision_allow(struct lks_bridge_revision *r, uint64_t ceiling);

uint64_t lks_bridge_revision_next(struct lks_bridge_revision *r, uint64_t now_us);

#endif
