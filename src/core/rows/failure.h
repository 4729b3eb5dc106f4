/* Each kind of failure of a step, and what follows from it. */
#ifndef LKS_ROWS_FAILURE_H
#define LKS_ROWS_FAILURE_H

#include "core/rows/change.h"

/* What becomes of a member whose step failed so, in this order: it is tried again `retries` times
 * (or as often as the step says), then rolls back, else it ends so. */
struct lks_failure_rule {
    const char *about;
    bool retries, reverts;
    bool hard; /* one is enough to halt the change */
    enum lks_member_state ends;
};
extern const struct lks_failure_rule lks_failure_rules[LKS_FAILURE_COUNT];

#endif
