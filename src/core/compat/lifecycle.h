/* Until when a driver branch is supported, and which branches a stack has to care about. */
#ifndef LKS_CORE_LIFECYCLE_H
#define LKS_CORE_LIFECYCLE_H

#include "model/manifest/stack.h"

/* The earlier of the days two sources name, or the only one: a plan for the later date may be
 * without support. LKS_DAY_NONE where no source names any. */
lks_day lks_lifecycle_end(const struct lks_branch *branch);

/* The other of the two days, where they differ; else LKS_DAY_NONE. */
lks_day lks_lifecycle_other_end(const struct lks_branch *branch);

/* Whether the branch is the one the stack pins, or the last one of its boards. */
bool lks_lifecycle_matters(const struct lks_facts *facts, const struct lks_stack *stack,
                           int number);

#endif
