/*
 * Does a node agree with itself: the driver's four numbers, its GPUs with each other, its copies of
 * a library, its container devices with its driver. Asked of a tuple alone, without a stack.
 *
 * Findings that are errors mean that no golden stack can be taken from the node; warnings are what
 * its owner wants to know all the same (a second NCCL in a Python environment).
 */
#ifndef LKS_CORE_CONSISTENCY_H
#define LKS_CORE_CONSISTENCY_H

#include "core/compat/report.h"
#include "model/tuple/tuple.h"

struct lks_consistency_rule {
    const char *id;
    const char *about;
};

/* The rules there are, for the reference page; NULL behind the last. */
const struct lks_consistency_rule *lks_consistency_rule(size_t index);

/* Whether a finding of this rule means that the next boot leaves the node broken. */
bool lks_consistency_bars_reboot(const char *rule);

/* `report` was initialised. */
enum lks_code lks_consistency(const struct lks_facts *facts, const struct lks_tuple *tuple,
                              struct lks_report *report, struct lks_err *err) LKS_MUST_CHECK;

#endif
