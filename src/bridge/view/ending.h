/*
 * How a drain of lockstep's ends, so that the node is as it would be without the drain. slurmctld
 * leaves the reason alone when a drained node goes down, and brings a node back by itself only if
 * the reason is its own (ReturnToService=1): a node that went down under lockstep's drain would
 * stay down for good. A node that was down before has that reason behind the drain's.
 */
#ifndef LKS_BRIDGE_ENDING_H
#define LKS_BRIDGE_ENDING_H

#include "bridge/view/book.h"
#include "codec/notation/drain_reason.h"

struct lks_bridge_ending {
    bool resume;                           /* end DOWN as well */
    char reason[LKS_DRAIN_REASON_MAX + 1]; /* that the node gets; "": as it is */
};

/* Of a node whose drain is lockstep's. */
struct lks_bridge_ending lks_bridge_ending_of(const struct lks_bridge_entry *e);

/* The reason that a drain of this node puts behind its own; empty: the node is not down, or went
 * down under lockstep's drain. */
struct lks_str lks_bridge_ending_before(const struct lks_bridge_entry *e);

#endif
