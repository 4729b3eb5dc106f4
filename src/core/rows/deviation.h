/* A deviation: a difference from the stack that people agreed to for a while. */
#ifndef LKS_ROWS_DEVIATION_H
#define LKS_ROWS_DEVIATION_H

#include "base/time.h"
#include "core/rows/text.h"

#include <stdbool.h>

#define LKS_STATE_DEVIATIONS_MAX 10000 /* at this many, the older ended ones make room */

struct lks_deviation {
    uint64_t id;
    lks_text hosts, subject, value, owner, reason, approver, by;
    lks_ms added, expires;
    lks_ms ended; /* 0: it holds */
    lks_text ended_by, ended_reason;
    lks_ms agreed; /* by an approver; 0: not yet */
    lks_text agreed_by, agreed_reason;
    lks_text minters; /* of the credential of `by` */
    bool waits;       /* it counts once an approver agreed */
    uint32_t *nodes;  /* owned; places, rising; of all that `hosts` names */
    uint32_t count;
};

/* Whether it makes what it names no drift, while it has not ended. */
static inline bool lks_deviation_counts(const struct lks_deviation *d)
{
    return !d->waits || d->agreed != 0;
}

#endif
