/* What is asked and measured of changes. */
#ifndef LKS_CORE_EVENT_CHANGE_H
#define LKS_CORE_EVENT_CHANGE_H

#include "base/str.h"
#include "base/time.h"
#include "core/plan/wish.h"
#include "model/record/record_words.h"

#include <stdbool.h>

struct lks_event_propose {
    struct lks_plan_wish wish;          /* core/plan/wish.h */
    const struct lks_bundle_set *known; /* manifests of the bundles there are */
};

struct lks_event_vote {
    uint64_t change;
    bool yes;
    bool withdrawn; /* the approver withdraws the approval */
};

struct lks_event_waive {
    uint64_t change;
    struct lks_str gate; /* its name, or that of a metric */
    struct lks_str pool; /* of that pool alone; empty: where they may approve */
    lks_ms until;
};

struct lks_event_move {
    uint64_t change;
    enum lks_change_order_word order; /* core/plan/wish.h */
    bool glass;                       /* START: without its approvals */
    struct lks_str standby;           /* START: who stands by on site, where it asks */
};

struct lks_event_member {
    uint64_t change;
    bool again; /* try it again; else it returns to service as is */
};

struct lks_event_freeze {
    struct lks_str pool; /* empty: all */
    bool on;
};

struct lks_event_ticket {
    uint64_t change, nodes; /* nodes: how many it was shown with */
    bool yes;
    struct lks_str plan;        /* digest of what was shown */
    struct lks_str id;          /* of the message */
    struct lks_str ticket, who; /* as the ticket system calls them */
    lks_ms until;               /* the message is not taken again before then */
};

/* Values that were not asked for are ignored; nothing is refused for them. */
struct lks_event_measured {
    const struct lks_measured *list;
    size_t count;
};

struct lks_event_cadence {
    uint32_t pool; /* for which a change may be drafted now; UINT32_MAX: for none */
    const struct lks_bundle_set *known; /* manifests of the bundles there are */
};

#endif
