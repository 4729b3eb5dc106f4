/* What evidence.c (one metric) and evidence_wave.c (all of them) share. */
#ifndef LKS_CORE_EVIDENCE_PARTS_H
#define LKS_CORE_EVIDENCE_PARTS_H

#include "core/stats/evidence.h"

/* What each unit gained, positive being better: the canaries, then the controls. */
struct lks_gains {
    double *gains; /* in the arena */
    size_t canaries, controls;
};

static inline struct lks_arms lks_gains_arms(const struct lks_gains *g)
{
    return (struct lks_arms){g->gains, g->gains + g->canaries, g->canaries, g->controls};
}

/* False without memory. */
bool lks_evidence_gains(const struct lks_compared *m, struct lks_arena *arena,
                        struct lks_gains *out);

/* The verdict of one metric. `share` is 1, or more once other tests have halted (Holm). A text that
 * memory did not suffice for is NULL. */
void lks_evidence_metric(const struct lks_evidence *q, const struct lks_compared *m,
                         const struct lks_gains *g, double share, struct lks_arena *arena,
                         struct lks_compared_said *out);

#endif
