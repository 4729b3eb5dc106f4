/*
 * How a basis compares with a stack, once for all nodes that have it. A pure function of the two:
 * the record says all that is asked later, so nothing is judged twice.
 */
#ifndef LKS_CORE_VERDICT_H
#define LKS_CORE_VERDICT_H

#include "core/conform/basis.h"
#include "model/manifest/stack.h"
#include "model/record/record.h"

#define LKS_VERDICT_LINES_MAX 512 /* of `wrong` and `values`; more are counted and left out */

/* Fill in `out` but for `basis` and `stack`; its texts live in `arena`. */
enum lks_code lks_verdict_make(const struct lks_facts *facts, const struct lks_stack *stack,
                               struct lks_str basis, struct lks_arena *arena,
                               struct lks_rec_verdict *out, struct lks_err *err) LKS_MUST_CHECK;

/* One line of `wrong`: subject, cause (a word of lks_conform_cause_name), pinned, actual, and what
 * it fails on, where that has a name of its own, as "bmc" has: devices have none in a basis. */
struct lks_wrong {
    struct lks_str subject, cause, pinned, actual, of;
};
/* Take the first line off `*lines`; false: there is none. */
bool lks_verdict_wrong_next(struct lks_str *lines, struct lks_wrong *out);

/* The same of `values`: a component and what it has. An empty value is nothing to agree in: an
 * image brings it, or the node has no device of that part. */
struct lks_value {
    struct lks_str subject, value;
};
bool lks_verdict_value_next(struct lks_str *lines, struct lks_value *out);

#endif
