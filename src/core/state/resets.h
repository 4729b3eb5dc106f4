/*
 * Resets of wedged nodes: a drained or unhealthy node is rebooted although a process holds its
 * GPUs, because an operator asks for it and an approver agrees. This is the one exception to "no
 * disruptive act before the node is drained and read": each has an alarm that only a review ends.
 *
 * A node has one reset at a time, until it is reviewed. All of it is the fold of RESET records.
 */
#ifndef LKS_CORE_RESETS_H
#define LKS_CORE_RESETS_H

#include "base/str.h"
#include "base/time.h"
#include "core/rows/text.h"
#include "model/record/record_words.h"

#include <stdbool.h>

#define LKS_RESETS_MAX 10000 /* at this many, the oldest unapproved one is dropped */

struct lks_reset {
    uint32_t node;
    lks_text boot, by, reason;
    lks_text minters; /* of the credential by which it was asked for: core/governance/backing.h */
    lks_ms asked, until;
    lks_ms approved; /* 0: not yet */
    lks_text approved_by, approved_reason;
    uint64_t command;
};

struct lks_resets {
    struct lks_reset *list; /* owned; in the order they were asked for */
    uint32_t count, room;
    uint64_t given; /* how many were approved, ever */
};

struct lks_state;

void lks_resets_fini(struct lks_resets *r);

/* The reset of the node that is asked for or waits for its review; NULL: none. */
const struct lks_reset *lks_state_reset(const struct lks_state *s, uint32_t node);

#endif
