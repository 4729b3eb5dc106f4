/* Whether nodes that must run the same do: their `values` (core/conform/verdict.h) held against
 * each other. What one of them has no value for is nothing to agree in, so that agreeing is no
 * equivalence: of three, two may contradict each other and neither the third. */
#ifndef LKS_CORE_AGREE_H
#define LKS_CORE_AGREE_H

#include "core/conform/verdict.h"
#include "core/rows/text.h"

struct lks_state;

#define LKS_AGREE_KINDS_MAX 64 /* of values that are held against each other; more do not agree */

/* The first component that both have a value for, and not the same; false: there is none. */
bool lks_agree_contradict(struct lks_str a, struct lks_str b, struct lks_value *one,
                          struct lks_value *other);

/* Values that agree so far. */
struct lks_agreed {
    lks_text kinds[LKS_AGREE_KINDS_MAX];
    uint32_t count;
};

/* Add one more; false: it does not agree with all of them, and is not added. Where they contradict
 * each other is in `one` and `other`, which are empty where there are too many kinds. */
bool lks_agree_add(struct lks_agreed *agreed, const struct lks_state *s, lks_text values,
                   struct lks_value *one, struct lks_value *other);

#endif
