/*
 * How far pools are behind what is released.
 *
 * A released stack supersedes the one that a pool is pinned to where it is for the same hardware,
 * was released later, and the pool's version policy accepts it; and where it is the next edition of
 * it, by its name, or leaves nothing out that is pinned now, makes nothing older, and something
 * newer. The pool is behind since the first such stack was released, however many followed: who
 * never moves does not get younger with each release. Where it should go is the newest of them.
 *
 * Past its limit a pool has an alarm and a drafted change: core/rules/decide_cadence.c.
 */
#ifndef LKS_CORE_CADENCE_H
#define LKS_CORE_CADENCE_H

#include "core/registry/book.h"
#include "core/rows/text.h"

struct lks_state;
struct lks_state_change;

#define LKS_CADENCE_BY "lockstep:cadence" /* who proposes, and withdraws, what is drafted */

/* Which classes of hardware pools have. All zero is the beginning. */
struct lks_pool_class {
    uint32_t pool, nodes;
    lks_text class;
    uint32_t next; /* of the same pool: place + 1; 0: the last */
};
struct lks_pool_classes {
    struct lks_pool_class *list; /* owned, as is the other */
    uint32_t count, room;
    uint32_t *first; /* by pool: place + 1; 0: none */
    uint32_t pool_room;
};
void lks_cadence_classes_fini(struct lks_pool_classes *c);

/* One node, if it is one of a pool; or all of them. */
enum lks_code lks_cadence_classes_add(struct lks_pool_classes *c, const struct lks_state *s,
                                      uint32_t node, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_cadence_classes_all(struct lks_pool_classes *c, const struct lks_state *s,
                                      struct lks_err *err) LKS_MUST_CHECK;

/* The first of a pool: place + 1; 0: it has no nodes. */
uint32_t lks_cadence_classes_first(const struct lks_pool_classes *c, uint32_t pool);

/* By what the two pin and are called alone. */
bool lks_cadence_supersedes(const struct lks_facts *facts, const struct lks_stack *from,
                            const struct lks_stack *to);

struct lks_behind {
    bool known; /* false: the pool has no pin, or the content of the pin is unknown */
    const struct lks_state_stack *to; /* the newest that supersedes it; NULL: none does */
    lks_ms since;                     /* wall, when the first was released; 0: none was */
};

/* Of the pool's nodes of that class, at `wall`. */
struct lks_behind lks_cadence_behind(const struct lks_state *s, const struct lks_book *book,
                                     uint32_t pool, lks_text class, lks_ms wall);

/* For how long; 0: it is not. */
lks_ms lks_cadence_age(const struct lks_behind *b, lks_ms wall);

/* How long the pool may be: what the fleet's file says, else its posture's row; UINT64_MAX: no
 * limit is given. */
lks_ms lks_cadence_limit(const struct lks_state *s, const struct lks_book *book, uint32_t pool);

/* A pool as a whole: it is pinned to one stack, whatever hardware it has. */
struct lks_cadence {
    uint32_t pool;
    lks_text class;           /* that is behind for the longest */
    struct lks_behind behind; /* of that class */
    lks_ms limit;
    bool past;                        /* its limit */
    const struct lks_state_stack *to; /* the newest for all its classes; NULL: none is */
};
struct lks_cadence lks_cadence_of(const struct lks_state *s, const struct lks_book *book,
                                  const struct lks_pool_classes *classes, uint32_t pool,
                                  lks_ms wall);

/* Why no change is drafted at `wall`, in words; NULL: one is. */
const char *lks_cadence_waits(const struct lks_state *s, const struct lks_book *book,
                              const struct lks_cadence *c, lks_ms wall);

/* It was drafted for the pool, and has not begun. */
bool lks_cadence_is_draft(const struct lks_state *s, const struct lks_state_change *c,
                          uint32_t pool);

/* The first pool, from `from` on, for which a change is to be drafted; UINT32_MAX: none. */
uint32_t lks_cadence_wanted(const struct lks_state *s, const struct lks_book *book,
                            const struct lks_pool_classes *classes, uint32_t from, lks_ms wall);

#endif
