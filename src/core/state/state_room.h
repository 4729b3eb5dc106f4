/* For core/state/state.c and core/fold/apply.c: places in the state, and the counts kept
 * along. */
#ifndef LKS_CORE_STATE_ROOM_H
#define LKS_CORE_STATE_ROOM_H

#include "base/vec.h"

struct lks_rec_granted;
struct lks_state;

#define LKS_NO_POOL UINT32_MAX

/* Numbers of texts with this bit are of lks_state.passing. */
#define LKS_TEXT_PASSING (UINT32_C(1) << 31)

/* The place of a node or asset called `name`, placed or not, made if there is none. */
enum lks_code lks_state_place(struct lks_state *s, struct lks_str name, uint32_t *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* The same for a pool, known or not. */
enum lks_code lks_state_pool_place(struct lks_state *s, struct lks_str name, uint32_t *out,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* The handle of a basis, made if there is none; 0 for an empty digest. */
enum lks_code lks_state_basis_place(struct lks_state *s, struct lks_str digest, uint32_t *out,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* The reset of the node, to be changed; NULL: there is none. */
struct lks_reset *lks_resets_find(const struct lks_state *s, uint32_t node);

/* The element with that id of a list in rising order of ids, or NULL. */
#define LKS_STATE_BY_ID(list, count, wanted)                                                       \
    __extension__({                                                                                \
        uint32_t lks_at_;                                                                          \
        LKS_VEC_PLACE(lks_at_, (count), (list)[lks_at_].id < (wanted));                            \
        lks_at_ < (count) && (list)[lks_at_].id == (wanted) ? &(list)[lks_at_] : NULL;             \
    })

/* The lists of the state in order of a text, their key. */
enum lks_sorted {
    LKS_SORTED_ARTIFACTS,
    LKS_SORTED_IMAGES,
    LKS_SORTED_KEYS,
    LKS_SORTED_PERSONS,
    LKS_SORTED_TOKENS,
    LKS_SORTED_COUNT,
};

/* Where the list has, or would have, an element with this key; true if it has. */
bool lks_state_sorted_at(const struct lks_state *s, enum lks_sorted list, struct lks_str key,
                         uint32_t *at);

/* Take `made` into the list, in place of the element with the same key where there is one. */
enum lks_code lks_state_sorted_put(struct lks_state *s, enum lks_sorted list, const void *made,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* Without the element with this key, if there is one. */
void lks_state_sorted_remove(struct lks_state *s, enum lks_sorted list, struct lks_str key);

/* Where the list of bindings has, or would have, this one; true if it has. */
bool lks_state_binding_at(const struct lks_state *s, const struct lks_rec_granted *want,
                          uint32_t *at);

#endif
