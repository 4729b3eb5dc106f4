/* Arrays that grow. Such an array is an ordinary pointer and a capacity beside it, of type uint32_t
 * or size_t, in the struct that owns both; all zero is the empty one, and free() ends it. The
 * macros below are the only code that changes the two, but for lks_state_sorted_put() and
 * lks_entity_unpack(), which have lists of several types. New elements are zero. A failure leaves
 * the array as it was. */
#ifndef LKS_BASE_VEC_H
#define LKS_BASE_VEC_H

#include "base/arena.h"
#include "base/err.h"

/* What the macros hand over: an array of any type and its capacity. */
struct lks_vec {
    void *items;
    size_t cap;
};

/* Capacity for `wanted` elements of `size` bytes, more than there is now. The capacity doubles, so
 * that an element costs the same however many there are. LIMIT beyond `max` elements; `err` may be
 * NULL for a caller that needs the code alone. */
enum lks_code lks_vec_grow(struct lks_vec *v, size_t wanted, size_t size, size_t max,
                           struct lks_err *err) LKS_MUST_CHECK;

/* The same in an arena, which keeps the smaller array until its end. */
enum lks_code lks_vec_grow_in(struct lks_arena *arena, struct lks_vec *v, size_t wanted,
                              size_t size, struct lks_err *err) LKS_MUST_CHECK;

/* Capacity for `wanted` elements. `array` and `room` are lvalues, and evaluated more than once;
 * `room` is the capacity. */
#define LKS_VEC_RESERVE(array, room, wanted, err)                                                  \
    LKS_VEC_RESERVE_MAX(array, room, wanted, (__typeof__(room))-1, err)

/* The same where there may be `max` elements at the most. */
#define LKS_VEC_RESERVE_MAX(array, room, wanted, max, err)                                         \
    LKS_VEC_GROW_(array, room, wanted,                                                             \
                  lks_vec_grow(&lks_vec_, lks_wanted_, sizeof((array)[0]), (max), (err)))

/* The same for an array in an arena, whose ceiling is the limit. */
#define LKS_VEC_RESERVE_IN(arena, array, room, wanted, err)                                        \
    LKS_VEC_GROW_(array, room, wanted,                                                             \
                  lks_vec_grow_in((arena), &lks_vec_, lks_wanted_, sizeof((array)[0]), (err)))

#define LKS_VEC_GROW_(array, room, wanted, grow)                                                   \
    __extension__({                                                                                \
        const size_t lks_wanted_ = (wanted);                                                       \
        enum lks_code lks_code_ = LKS_OK;                                                          \
        if (lks_wanted_ > (room)) {                                                                \
            struct lks_vec lks_vec_ = {(array), (room)};                                           \
            lks_code_ = (grow);                                                                    \
            (array) = lks_vec_.items;                                                              \
            (room) = (__typeof__(room))lks_vec_.cap;                                               \
        }                                                                                          \
        lks_code_;                                                                                 \
    })

/* `made` as the last of `count`, which it counts, of `max` elements at the most. */
#define LKS_VEC_ADD(array, room, count, max, made, err)                                            \
    __extension__({                                                                                \
        const enum lks_code lks_added_ =                                                           \
            LKS_VEC_RESERVE_MAX(array, room, (count) + (size_t)1, max, err);                       \
        if (lks_added_ == LKS_OK)                                                                  \
            (array)[(count)++] = (made);                                                           \
        lks_added_;                                                                                \
    })

/* A gap at `at`, for one more among `count`, which it counts, of `max` elements at the most. */
#define LKS_VEC_INSERT(array, room, count, at, max, err)                                           \
    __extension__({                                                                                \
        const enum lks_code lks_made_ =                                                            \
            LKS_VEC_RESERVE_MAX(array, room, (count) + (size_t)1, max, err);                       \
        if (lks_made_ == LKS_OK) {                                                                 \
            lks_vec_open_gap((array), (count), (at), sizeof((array)[0]));                          \
            (count)++;                                                                             \
        }                                                                                          \
        lks_made_;                                                                                 \
    })

/* Without the element at `at`. */
#define LKS_VEC_REMOVE(array, count, at)                                                           \
    do {                                                                                           \
        lks_vec_close_gap((array), (count), (at), sizeof((array)[0]));                             \
        (count)--;                                                                                 \
    } while (0)

void lks_vec_open_gap(void *array, size_t count, size_t at, size_t size);
void lks_vec_close_gap(void *array, size_t count, size_t at, size_t size);

/* The first of `count` elements for which `holds`, an expression in the pointer `it`, is true; NULL
 * where there is none. The name of a variable takes no parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define LKS_VEC_FIND(array, count, it, holds)                                                      \
    __extension__({                                                                                \
        size_t lks_i_ = 0;                                                                         \
        const size_t lks_count_ = (count);                                                         \
        __typeof__((array)[0]) *it = NULL;                                                         \
        for (; lks_i_ < lks_count_; lks_i_++) {                                                    \
            it = &(array)[lks_i_];                                                                 \
            if (holds)                                                                             \
                break;                                                                             \
        }                                                                                          \
        lks_i_ < lks_count_ ? it : NULL;                                                           \
    })
/* NOLINTEND(bugprone-macro-parentheses) */

/* The first of `count` places, in order, for which `before` is false: an element that is sought is
 * there, or would be. `before` is an expression in `at`, the lvalue that ends up with the place. */
#define LKS_VEC_PLACE(at, count, before)                                                           \
    do {                                                                                           \
        __typeof__(at) lks_low_ = 0, lks_high_ = (count);                                          \
        while (lks_low_ < lks_high_) {                                                             \
            (at) = lks_low_ + (lks_high_ - lks_low_) / 2;                                          \
            if (before)                                                                            \
                lks_low_ = (at) + 1;                                                               \
            else                                                                                   \
                lks_high_ = (at);                                                                  \
        }                                                                                          \
        (at) = lks_low_;                                                                           \
    } while (0)

#endif
