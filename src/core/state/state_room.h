/* For core/state/state.c and core/fold/apply.c: places in the state, and the counts kept
 * along. */
#ifndef LKS_CORE_STATE_ROOM_H
#define LKS_CORE_STATE_ROOM_H

#include "base/vec.h"
#include "core/state/state.h"

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

/* The texts that are the keys of a list. */
struct lks_state_texts {
    const lks_text *keys; /* of the first element */
    uint32_t count;
    size_t size; /* of an element */
};

#define LKS_STATE_TEXTS(list, count, member)                                                       \
    ((struct lks_state_texts){(count) > 0 ? &(list)[0].member : NULL, (count), sizeof((list)[0])})

/* Where a list in order of its texts has, or would have, this one; true if it has. */
bool lks_state_text_at(const struct lks_state *s, struct lks_state_texts list, struct lks_str text,
                       uint32_t *at);

/* Where a list in order of its keys has, or would have, this one; true if it has. */
bool lks_state_token_at(const struct lks_state *s, struct lks_str id, uint32_t *at);
bool lks_state_person_at(const struct lks_state *s, struct lks_str serial, uint32_t *at);
bool lks_state_binding_at(const struct lks_state *s, const struct lks_rec_granted *want,
                          uint32_t *at);
bool lks_state_image_at(const struct lks_state *s, struct lks_str ref, uint32_t *at);
bool lks_state_artifact_at(const struct lks_state *s, struct lks_str digest, uint32_t *at);
bool lks_state_key_at(const struct lks_state *s, struct lks_str name, uint32_t *at);

#endif
