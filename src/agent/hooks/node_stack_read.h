/* The file with the stack of this node (node_stack.h), read without waiting for the agent. */
#ifndef LKS_AGENT_NODE_STACK_READ_H
#define LKS_AGENT_NODE_STACK_READ_H

#include "agent/hooks/node_stack.h"

#include <time.h>

/* NOT_FOUND: there is no agent on this node. UNAVAILABLE: it has not heard the controller for
 * `stale` seconds, or since the clock was set. DENIED: the file could be another user's. */
enum lks_code lks_node_stack_read(const char *run, time_t now, time_t stale,
                                  struct lks_node_stack *out, struct lks_err *err) LKS_MUST_CHECK;

#endif
