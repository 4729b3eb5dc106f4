/*
 * What goes wrong with a machine while it works, as its kernel tells: Xids after which a GPU has to
 * be reset, and ports of the fabric that go down. Heartbeats say for a while that there was one,
 * and whether we would know; they need no more room than a bit each.
 *
 * Of a captured machine, "/lockstep/kmsg" in its tree is the kernel's log, and what it has happened
 * when the file was last written.
 */
#ifndef LKS_AGENT_EVENTS_H
#define LKS_AGENT_EVENTS_H

#include "base/time.h"
#include "codec/kmsg.h"

#define LKS_EVENTS_KMSG    "/lockstep/kmsg"
#define LKS_EVENTS_HOLD_MS (600 * LKS_SECOND) /* an event is told of for so long, at the least */

struct lks_events {
    int kmsg;       /* 0: not opened yet; -1: cannot be */
    uint8_t *fatal; /* by Xid, whether it is; owned. NULL: not known yet */
    bool links_known;
    uint64_t links;         /* how often a port of this machine went down, by their counters */
    lks_ms xid_at, link_at; /* wall: the last one; 0: none */
};
void lks_events_fini(struct lks_events *e);

/* Look again, and say the bits of core/pulse.h that stand. `hold` is for how long an event is told
 * of; `root` the captured machine or NULL. */
uint64_t lks_events_look(struct lks_events *e, const char *root, lks_ms wall, lks_ms hold);

#endif
