/*
 * The MASS rule. When more than max(floor, percent of the pool) of a pool's nodes turn late, lost,
 * drifted or drained within a window, the cause is most likely not the nodes. Their states are
 * still recorded and admission still refuses them, but automatic acts wait: one record, one alarm,
 * and a person releases it.
 *
 * This is the bookkeeping of one pool: when its nodes turned for the worse, by the journal's clock.
 * A node that goes on from late to lost turned once.
 */
#ifndef LKS_CORE_MASS_H
#define LKS_CORE_MASS_H

#include "base/err.h"
#include "base/time.h"

#define LKS_MASS_TURNS_MAX (1U << 20) /* beyond this the oldest are forgotten early */

struct lks_mass {
    lks_ms *turns;               /* owned ring */
    uint32_t first, count, room; /* room: a power of two, or 0 */
};

void lks_mass_fini(struct lks_mass *m);

/* One more at `now`; those older than `window` are forgotten. */
enum lks_code lks_mass_add(struct lks_mass *m, lks_ms now, lks_ms window,
                           struct lks_err *err) LKS_MUST_CHECK;

/* How many there were within the window; in O(log n). */
uint32_t lks_mass_count(const struct lks_mass *m, lks_ms now, lks_ms window);

/* Forget those that are older. */
void lks_mass_forget(struct lks_mass *m, lks_ms now, lks_ms window);

/* When the `i`th was, the oldest first. */
lks_ms lks_mass_turn(const struct lks_mass *m, uint32_t i);

/* A person released the alarm: what was counted is dealt with. */
void lks_mass_clear(struct lks_mass *m);

/* max(floor, percent of `nodes`), rounded down. */
uint64_t lks_mass_limit(uint64_t floor, uint64_t percent, uint64_t nodes);

#endif
