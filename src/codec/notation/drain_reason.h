/*
 * The reason of a drain in Slurm, which has one line of text for it, and no other place for an
 * owner. lockstep's bridge and its driver of slurmrestd write "OWNER REASON", where OWNER is one
 * word that starts with "lockstep:", and take the first word of a reason for the owner only where
 * their own user set it: everything else is a drain of the user who set it.
 *
 * A drain of a node that is down replaces the reason why it is down. That one is kept behind ours,
 * "OWNER REASON (before: WHY)", and set again when the drain ends.
 */
#ifndef LKS_CODEC_DRAIN_REASON_H
#define LKS_CODEC_DRAIN_REASON_H

#include "base/str.h"

#include <stdint.h>

#define LKS_DRAIN_REASON_MARK      "lockstep:"
#define LKS_DRAIN_REASON_OWNER_MAX 136 /* bytes, the mark included */
#define LKS_DRAIN_REASON_MAX       255 /* what slurmdbd keeps of a reason */

/* Whether `owner` is a word that may stand before a reason. */
bool lks_drain_reason_owner_valid(struct lks_str owner);

/* What stands behind the owner, "kim: bad fan, journal row 812": the person who asked for it, where
 * it was one, their words, and where the journal has more. Long words are cut, so that the row is
 * there in every reason; row 0 is unknown and left out. */
void lks_drain_reason_words(struct lks_str by, struct lks_str words, uint64_t row,
                            char out[LKS_DRAIN_REASON_MAX + 1]);

/* The reason to give to Slurm: printable, and at most LKS_DRAIN_REASON_MAX bytes. `before` is the
 * reason of a node that is down, or empty. What is too long is cut, the owner last. */
void lks_drain_reason_write(struct lks_str owner, struct lks_str reason, struct lks_str before,
                            char out[LKS_DRAIN_REASON_MAX + 1]);

/* Whose drain has this reason: `user` set it, and `own` says that this is our user. */
struct lks_str lks_drain_reason_owner(struct lks_str reason, bool own, struct lks_str user);

/* The reason without the owner that lks_drain_reason_owner() gives for it. */
struct lks_str lks_drain_reason_why(struct lks_str reason, bool own);

/* The reason that was there before ours; empty: none, or `reason` is not ours. */
struct lks_str lks_drain_reason_before(struct lks_str reason, bool own);

#endif
