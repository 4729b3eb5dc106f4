/* A set of small numbers, one bit for each that could be in it: nodes of a fleet by id, mostly. Its
 * size is chosen once; two sets are combined only if they have the same size. */
#ifndef LKS_BASE_BITSET_H
#define LKS_BASE_BITSET_H

#include "base/err.h"

#include <stdint.h>

struct lks_bitset {
    uint64_t *words; /* owned; bits past the size stay zero */
    size_t size;
};

/* Empty, with room for the numbers below `size`. On success the caller owes lks_bitset_fini(). */
enum lks_code lks_bitset_init(struct lks_bitset *b, size_t size,
                              struct lks_err *err) LKS_MUST_CHECK;
void lks_bitset_fini(struct lks_bitset *b);

void lks_bitset_set(struct lks_bitset *b, size_t bit);
void lks_bitset_clear(struct lks_bitset *b, size_t bit);
bool lks_bitset_test(const struct lks_bitset *b, size_t bit);

/* Keep in `b` what is also in `other`; add to `b` what is in `other`; take that away from `b`. */
void lks_bitset_and(struct lks_bitset *b, const struct lks_bitset *other);
void lks_bitset_or(struct lks_bitset *b, const struct lks_bitset *other);
void lks_bitset_andnot(struct lks_bitset *b, const struct lks_bitset *other);

size_t lks_bitset_count(const struct lks_bitset *b);
bool lks_bitset_any(const struct lks_bitset *b);
bool lks_bitset_equal(const struct lks_bitset *a, const struct lks_bitset *b);

/* The smallest member that is at least `from`, or the size when there is none:
 *
 *     for (size_t i = lks_bitset_next(b, 0); i < b->size; i = lks_bitset_next(b, i + 1))
 */
size_t lks_bitset_next(const struct lks_bitset *b, size_t from);

#endif
