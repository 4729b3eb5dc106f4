/* Events about changes: requests of people and ticket systems, and measurements. */
#ifndef LKS_CORE_EVENT_CHANGE_H
#define LKS_CORE_EVENT_CHANGE_H

#include "base/str.h"
#include "base/time.h"
#include "core/plan/wish.h"
#include "model/record/record_words.h"

#include <stdbool.h>

struct lks_event_propose {
    struct lks_plan_wish wish;          /* core/plan/wish.h */
    const struct lks_bundle_set *known; /* manifests of all bundles */
};

struct lks_event_vote {
    uint64_t change;
    bool yes;
    bool withdrawn; /* the approver withdraws the approval */
};

struct lks_event_waive {
    uint64_t change;
    struct lks_str gate; /* the name of a gate or of a metric */
    struct lks_str pool; /* this pool alone; empty: all pools for which the actor may approve */
    lks_ms until;
};

struct lks_event_move {
    uint64_t change;
    enum lks_change_order_word order; /* core/plan/wish.h */
    bool glass;                       /* START: without its approvals */
    struct lks_str standby;           /* START: the person on standby at the site, if needed */
};

struct lks_event_member {
    uint64_t change;
    bool again; /* try the node again; else it returns to service as is */
};

struct lks_event_freeze {
    struct lks_str pool; /* empty: the whole fleet */
    bool on;
};

struct lks_event_ticket {
    uint64_t change, nodes; /* nodes: the number of nodes in the ticket */
    bool yes;
    struct lks_str plan;        /* digest of the plan in the ticket */
    struct lks_str id;          /* ID of the message */
    struct lks_str ticket, who; /* their names in the ticket system */
    lks_ms until;               /* the message is not accepted again before then */
};

/* Values that were not requested are ignored, never refused. */
struct lks_event_measured {
    const struct lks_measured *list;
    size_t count;
};

struct lks_event_cadence {
    uint32_t pool; /* a change may be drafted for it now; UINT32_MAX: for none */
    const struct lks_bundle_set *known; /* manifests of all bundles */
};

#endif
