/*
 * The time that slurmctld is given with a request, so that it does not send again what has not
 * changed since. The time is slurmctld's own, of its last answer. If its clock was set back, or
 * another slurmctld with a slower clock leads, it calls old data unchanged until its clock catches
 * up. Therefore everything is asked for again after a failure, after an answer that is older than
 * the one before, and every few seconds.
 */
#ifndef LKS_BRIDGE_SINCE_H
#define LKS_BRIDGE_SINCE_H

#include "base/time.h"

#include <stdbool.h>

#define LKS_BRIDGE_SINCE_MAX (10 * LKS_SECOND) /* so long "unchanged" is believed */

enum lks_bridge_since_what {
    LKS_BRIDGE_SINCE_NODES,
    LKS_BRIDGE_SINCE_JOBS,
    LKS_BRIDGE_SINCE_RESERVATIONS,
    LKS_BRIDGE_SINCE_COUNT
};

/* All zero: nothing was read yet. */
struct lks_bridge_since {
    struct {
        int64_t clock; /* slurmctld's, in the last answer with all data */
        lks_ms whole;  /* steady: when that was asked for */
        bool believed; /* what is unchanged since is as it was then */
    } of[LKS_BRIDGE_SINCE_COUNT];
};

/* What to give to slurmctld at `now`, which is steady; 0: everything is wanted. */
int64_t lks_bridge_since_ask(const struct lks_bridge_since *s, enum lks_bridge_since_what what,
                             lks_ms now);

/* An answer with all data of this kind, or, where it is not `whole`, with some. False: slurmctld's
 * clock was set back, and everything else is wanted again as well. */
bool lks_bridge_since_got(struct lks_bridge_since *s, enum lks_bridge_since_what what, bool whole,
                          int64_t clock, lks_ms now);

/* slurmctld did not answer: another one may answer next. */
void lks_bridge_since_lost(struct lks_bridge_since *s);

#endif
