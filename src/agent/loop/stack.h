/*
 * The file with the stack of this node (agent/hooks/node_stack.h), for jobs that start here. It is
 * asked for when the controller says that jobs should start again or no longer, and every five
 * minutes; each answered heartbeat makes the file new. After a failure it is asked for again some
 * heartbeats later, before readers call the file old.
 */
#ifndef LKS_AGENT_STACK_H
#define LKS_AGENT_STACK_H

#include "base/time.h"

#include <stdbool.h>

#define LKS_AGENT_STACK_MS (300 * LKS_SECOND)
#define LKS_AGENT_STACK_BARRED_MS                                                                  \
    (30 * LKS_SECOND) /* while no job should start: the reason changes */
/* After a failure: six heartbeats, but at most 30 s, because the default of `stale` is 180 s. */
#define LKS_AGENT_STACK_AGAIN_BEATS 6
#define LKS_AGENT_STACK_AGAIN_MS    (30 * LKS_SECOND)

struct lks_agent_stack {
    lks_ms due; /* mono; 0: at once */
    bool barred, failed;
};

struct lks_agent;

/* The controller answered a heartbeat. */
void lks_agent_stack_beat(struct lks_agent *a, bool barred);

#endif
