/* A pool as the state keeps it: the requirements of its manifest, and counts of its nodes. */
#ifndef LKS_ROWS_POOL_H
#define LKS_ROWS_POOL_H

#include "base/time.h"
#include "core/rows/text.h"
#include "model/record/record_words.h"

#define LKS_STATE_POOLS_MAX 20000
#define LKS_STATE_SLOTS     3 /* of stacks that nodes of a pool run at the same time */
#define LKS_STATE_DAYS      8 /* of what was observed: today and a week */

/* Jobs that requested admission, and refusals by reason, on one day of the journal's clock. */
struct lks_observed {
    uint64_t day; /* since 1970; 0: none */
    uint64_t asked;
    uint64_t refused[LKS_BAR_COUNT];
};

enum lks_drift_act { LKS_ACT_ALARM = 1, LKS_ACT_DRAIN = 2, LKS_ACT_PROPOSE = 4 }; /* bits */

struct lks_state_pool {
    bool known;
    lks_text name, posture, enforce, sched, stack, stack_digest;
    uint32_t criticality;
    uint32_t nodes;    /* placed in it */
    uint32_t enrolled; /* of those */
    uint32_t liveness[LKS_LIVENESS_COUNT];
    lks_text stack_before;                        /* digest of the pin before this one; 0: none */
    unsigned on_drift;                            /* bits by enum lks_drift_act */
    bool deviations;                              /* nodes that run one are admitted */
    bool attested;                                /* nodes must be */
    bool drain_refused;                           /* nodes that admission refuses are drained */
    lks_ms check_age;                             /* 0: no check is needed */
    lks_ms sweep;                                 /* between out-of-band readings */
    struct lks_observed observed[LKS_STATE_DAYS]; /* by day modulo their number */
    uint64_t mass_alarm; /* open: automatic acts in this pool wait; 0: none */
    bool frozen;         /* no new work starts in it */
    lks_text frozen_by, frozen_reason;
    lks_ms frozen_since;
    lks_text lowered, lowered_by; /* requirements that its manifest lowered; 0: none */
    lks_text lowered_minters;
    lks_ms lowered_at;
    lks_text slots[LKS_STATE_SLOTS]; /* digests of stacks (core/actions/sched_truth.h); 0: none */
};

#endif
