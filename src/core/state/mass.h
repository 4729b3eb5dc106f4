/*
 * The MASS rule. When more than max(floor, percent of the pool) of a pool's nodes become late,
 * lost, drifted or drained within a window, the cause is most likely not the nodes. Their states
 * are still recorded and admission still refuses them, but automatic acts wait: one record, one
 * alarm, and a person releases it.
 *
 * This is the bookkeeping of one pool: which of its nodes turned for the worse, and when each last
 * did, by the journal's clock. Nodes are counted, not turns: one that comes and goes all the time
 * counts once, and one that goes on from late to lost turned once. A node that leaves the pool is
 * not one of the pool's any more.
 *
 * The nodes are chained in the order in which they turned, through an array with an element for
 * each node of the fleet, which belongs to the caller. Nothing is allocated here.
 */
#ifndef LKS_CORE_MASS_H
#define LKS_CORE_MASS_H

#include "base/err.h"
#include "base/time.h"

/* When a node turned. Zero: it did not; it is in the chain of one pool at the most. */
struct lks_mass_turn {
    lks_ms at;
    uint32_t before, after; /* nodes; of no meaning at the ends of the chain */
    bool counted;
};

struct lks_mass {
    uint32_t oldest, newest; /* nodes; of no meaning while `count` is 0 */
    uint32_t count;
};

/* `node` turned at `now`, whether or not it did before; those older than `window` are forgotten. */
void lks_mass_add(struct lks_mass *m, struct lks_mass_turn *turns, uint32_t node, lks_ms now,
                  lks_ms window);

/* How many there were within the window. This costs one step for each that is older, and
 * lks_mass_add() forgets those. */
uint32_t lks_mass_count(const struct lks_mass *m, const struct lks_mass_turn *turns, lks_ms now,
                        lks_ms window);

/* Whether this node is one of them. */
bool lks_mass_counts(const struct lks_mass_turn *turn, lks_ms now, lks_ms window);

/* Forget those that are older. */
void lks_mass_forget(struct lks_mass *m, struct lks_mass_turn *turns, lks_ms now, lks_ms window);

/* The node is not one of this pool any more. One that is not counted may be named, too. */
void lks_mass_remove(struct lks_mass *m, struct lks_mass_turn *turns, uint32_t node);

/* A person released the alarm: what was counted is dealt with. */
void lks_mass_clear(struct lks_mass *m, struct lks_mass_turn *turns);

/* max(floor, percent of `nodes`), rounded down. */
uint64_t lks_mass_limit(uint64_t floor, uint64_t percent, uint64_t nodes);

#endif
