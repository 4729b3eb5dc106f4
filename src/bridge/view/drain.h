/*
 * Slurm has one line of text for the reason why a node is drained, and no other place for an owner.
 * The bridge writes "OWNER REASON", where OWNER is one word that starts with "lockstep:", and takes
 * the first word of a reason for the owner only where the bridge's own user set it: everything else
 * is a drain of the user who set it.
 *
 * A drain of a node that is down replaces the reason why it is down. That one is kept behind ours,
 * "OWNER REASON (before: WHY)", and set again when the drain ends.
 */
#ifndef LKS_BRIDGE_DRAIN_H
#define LKS_BRIDGE_DRAIN_H

#include "base/str.h"

#define LKS_BRIDGE_MARK       "lockstep:"
#define LKS_BRIDGE_OWNER_MAX  136 /* bytes, the mark included */
#define LKS_BRIDGE_REASON_MAX 255 /* what slurmdbd keeps of a reason */

/* Whether `owner` is a word that the bridge may write before a reason. */
bool lks_bridge_drain_owner_valid(struct lks_str owner);

/* The reason to give to Slurm: printable, and at most LKS_BRIDGE_REASON_MAX bytes. `before` is the
 * reason of a node that is down, or empty. What is too long is cut, the owner last. */
void lks_bridge_drain_reason(struct lks_str owner, struct lks_str reason, struct lks_str before,
                             char out[LKS_BRIDGE_REASON_MAX + 1]);

/* Whose drain has this reason: `user` set it, and `own` says that this is the bridge's user. */
struct lks_str lks_bridge_drain_owner(struct lks_str reason, bool own, struct lks_str user);

/* The reason without the owner that lks_bridge_drain_owner() gives for it. */
struct lks_str lks_bridge_drain_why(struct lks_str reason, bool own);

/* The reason that was there before ours; empty: none, or `reason` is not ours. */
struct lks_str lks_bridge_drain_before(struct lks_str reason, bool own);

#endif
