/* For core/entity/entity_pack.c and entity_unpack.c: which tables the bytes hold. */
#ifndef LKS_CORE_LAYOUT_H
#define LKS_CORE_LAYOUT_H

#include "base/compiler.h"
#include "base/str.h"
#include "base/time.h"
#include "core/entity/entity.h"

struct lks_state;

/* Turns of nodes for the worse, which the state keeps as a chain: see core/state/mass.h. The oldest
 * of a pool comes first. */
struct lks_layout_turn {
    uint32_t node;
    lks_ms at;
};

struct lks_layout_turns {
    struct lks_layout_turn *list; /* owned */
    uint32_t count, room;
};

/* Those within the window. */
enum lks_code lks_layout_turns_of(const struct lks_state *s, struct lks_layout_turns *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* The tables of the state itself and, last, that of turns. */
size_t lks_layout_roots(void);
const struct lks_entity *lks_layout_root(size_t i);

/* What the rows of a root are in: the state, or the turns. */
const void *lks_layout_parent(size_t i, const struct lks_state *s,
                              const struct lks_layout_turns *turns);

#endif
