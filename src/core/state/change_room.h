/* For core/state/state*.c and core/fold/apply_change.c: how a change is kept. */
#ifndef LKS_CORE_CHANGE_ROOM_H
#define LKS_CORE_CHANGE_ROOM_H

#include "base/str.h"

struct lks_member;
struct lks_state;
struct lks_state_change;

void lks_change_fini(struct lks_state_change *c);

/* NULL: there is none. */
struct lks_state_change *lks_state_change_find(struct lks_state *s, uint64_t id);

/* Where a list in order of its keys has, or would have, this one; true if it has. */
bool lks_state_change_order_at(const struct lks_state *s, const struct lks_state_change *c,
                               struct lks_str digest, uint32_t *at);
bool lks_state_proven_at(const struct lks_state *s, struct lks_str class, struct lks_str from,
                         struct lks_str to, uint32_t *at);

/* Whether the change brought this node, a member of it or NULL, to its stack; our own agent is
 * none.
 */
bool lks_change_brought(const struct lks_state_change *c, const struct lks_member *m);

/* The oldest of those with the least to lose, and how much that is (0: nothing). */
uint32_t lks_change_least(const struct lks_state *s, unsigned *lost);

#endif
