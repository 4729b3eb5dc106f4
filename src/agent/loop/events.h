/*
 * What goes wrong with a machine while it works, as its kernel tells: Xids after which a GPU has to
 * be reset, and ports of the fabric that go down. Heartbeats say when the last one was, for a while
 * by a bit, too, and whether we would know.
 *
 * Of a captured machine, "/lockstep/kmsg" in its tree is the kernel's log, and what it has happened
 * when the file was last written.
 */
#ifndef LKS_AGENT_EVENTS_H
#define LKS_AGENT_EVENTS_H

#include "base/time.h"
#include "codec/machine/kmsg.h"

struct lks_now;

#define LKS_EVENTS_KMSG    "/lockstep/kmsg"
#define LKS_EVENTS_HOLD_MS (600 * LKS_SECOND) /* an event is told of for so long, at the least */

/* A clock that is set does not move it. */
struct lks_event_seen {
    bool any;
    lks_ms at;      /* mono */
    uint64_t which; /* as core/state/heartbeat.h has it */
};

struct lks_agent_events {
    int kmsg;       /* 0: not opened yet; -1: cannot be */
    uint8_t *fatal; /* by Xid, whether it is; owned. NULL: not known yet */
    bool links_known;
    uint64_t links; /* how often a port of this machine went down, by their counters */
    struct lks_event_seen xid, link; /* the last ones */
    lks_ms looked;                   /* mono: when all of the log was read; 0: not yet */
};
void lks_agent_events_fini(struct lks_agent_events *e);

/* Look again, and say what stands, as core/state/heartbeat.h has it in `health`. `hold` is for how
 * long an event has its bit; `root` the captured machine or NULL. */
uint64_t lks_agent_events_look(struct lks_agent_events *e, const char *root, struct lks_now now,
                               lks_ms hold);

#endif
