/* A deviation: a difference from the stack that people accepted for a limited time. */
#ifndef LKS_ROWS_DEVIATION_H
#define LKS_ROWS_DEVIATION_H

#include "base/time.h"
#include "core/rows/text.h"

#include <stdbool.h>

#define LKS_STATE_DEVIATIONS_MAX 10000     /* at this many, older ended ones are dropped */
#define LKS_STATE_DEVIATE_MAX    20000000  /* nodes named by those that hold, counted each time */
#define LKS_STATE_DEVIATED_MAX   200000000 /* and by all that a state is loaded with */

struct lks_deviation {
    uint64_t id;
    lks_text hosts, subject, value, owner, reason, approver, by;
    lks_ms added, expires;
    lks_ms ended; /* 0: it has not */
    lks_text ended_by, ended_reason;
    lks_ms agreed; /* by an approver; 0: not yet */
    lks_text agreed_by, agreed_reason;
    lks_text minters; /* of the credential of `by` */
    bool waits;       /* it applies only after an approver agrees */
    uint32_t *nodes;  /* owned; places, rising; of all that `hosts` names */
    uint32_t count;
};

/* Whether the differences that it names are no drift, while it has not ended. */
static inline bool lks_deviation_counts(const struct lks_deviation *d)
{
    return !d->waits || d->agreed != 0;
}

#endif
