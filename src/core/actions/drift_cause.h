/*
 * Why a node differs from its intent, so far as it can be told: from its verdict, from what became
 * of it before, and from what the pool pinned before.
 */
#ifndef LKS_CORE_DRIFT_CAUSE_H
#define LKS_CORE_DRIFT_CAUSE_H

#include "core/decision/decision.h"
#include "core/rows/text.h"

enum { LKS_CAUSES_KEPT = 64 };

struct lks_cause_told {
    enum lks_drift_cause cause;
    struct lks_str text; /* what differs, as people read it; lives in the decision */
};

/* Nodes with one verdict mostly differ for one cause: it is told once. For one decision. */
struct lks_causes {
    struct lks_deciding *deciding;
    struct {
        uint32_t verdict, pool;
        bool reverted;    /* it ran its intent before */
        lks_text changed; /* what its package manager's log says */
        struct lks_cause_told told;
    } kept[LKS_CAUSES_KEPT]; /* by verdict modulo their number */
};

void lks_drift_causes_init(struct lks_causes *c, struct lks_deciding *d);

/* Of a node whose verdict is drift that no deviation covers. */
struct lks_cause_told lks_drift_cause_tell(struct lks_causes *c, uint32_t node);

#endif
