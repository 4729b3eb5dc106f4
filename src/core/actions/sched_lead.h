/*
 * Which bridges have the epoch of this leader. A bridge refuses writes with a lower epoch than the
 * highest one that it has seen, so a leader gives its epoch to every bridge, also to those that it
 * does not write through: no leader of before can write through any of them then. All that is here
 * is in memory: a new leader has a new epoch.
 */
#ifndef LKS_CORE_SCHED_LEAD_H
#define LKS_CORE_SCHED_LEAD_H

#include "base/err.h"
#include "base/intern.h"
#include "base/time.h"

#define LKS_SCHED_LEAD_MAX   256                /* bridges */
#define LKS_SCHED_LEAD_AGAIN (5 * LKS_SECOND)   /* until a silent bridge is told again */
#define LKS_SCHED_LEAD_ASKED (300 * LKS_SECOND) /* longer than a conversation lasts */

struct lks_sched_lead_bridge {
    uint64_t epoch; /* that it confirmed; 0: none */
    lks_ms due;     /* mono: it is not told before */
    bool failing;   /* the last time */
};

/* All zero is the beginning. */
struct lks_sched_lead {
    struct lks_intern urls;
    struct lks_sched_lead_bridge *bridges; /* owned; by the id of the URL */
    uint32_t room;
};
void lks_sched_lead_fini(struct lks_sched_lead *l);

/* Whether the bridge is to be told the epoch now; it counts as asked then. Epoch 0 is that of a
 * store with one controller: no bridge need know it. */
bool lks_sched_lead_due(struct lks_sched_lead *l, struct lks_str url, uint64_t epoch, lks_ms mono);

/* The bridge confirmed the epoch, or did not. Whether that is news: it failed and did not before,
 * or the other way round. */
bool lks_sched_lead_told(struct lks_sched_lead *l, struct lks_str url, uint64_t epoch, bool done,
                         lks_ms mono, uint64_t speed);

#endif
