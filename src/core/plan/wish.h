/* Requests of people: the options of a plan, and commands to the change that it becomes. */
#ifndef LKS_CORE_WISH_H
#define LKS_CORE_WISH_H

#include "base/str.h"
#include "base/time.h"
#include "model/record/record_words.h"

#include <stdbool.h>

/* A scheduler that can be asked at a site; "*": at every one. */
struct lks_plan_bridge {
    struct lks_str sched, site;
};

/* The options of a plan. The planner chooses the value of an option that is 0 or empty. */
struct lks_plan_wish {
    enum lks_change_kind kind;
    struct lks_str hosts;      /* a host list; or */
    struct lks_str pool;       /* all nodes of this pool. Assets of their domains come along */
    struct lks_str stack;      /* digest, or the name of a published stack; AGENT: a version */
    struct lks_str hook;       /* site hook that installs what no bundle has a package for */
    unsigned strength;         /* the canary covers combinations of so many attributes; 0: 2 */
    uint32_t failure_share;    /* the canary detects a fault of this share of nodes (millionths) */
    uint32_t confidence_share; /* with this confidence; both 0: one node for each combination */
    uint32_t canary_max;       /* maximum size of the canary; the plan notes what is uncovered */
    uint32_t failures_max;     /* failed nodes that are tolerated; 0: none */
    lks_ms soak;               /* of the canary; rings have a part of it */
    bool rolls_back, one_way;
    lks_ms not_before, not_after;
    struct lks_str windows;  /* codec/time/windows.h */
    struct lks_str class;    /* class of change; never below the class that the plan needs */
    struct lks_str advisory; /* the published vulnerability that it is to close */
    /* Which schedulers can be asked at which sites; NULL: each can at every one. */
    const struct lks_plan_bridge *bridges;
    size_t bridge_count;
};

/* Commands to a change. */
enum lks_change_order_word {
    LKS_ORDERED_START,
    LKS_ORDERED_PAUSE,
    LKS_ORDERED_RESUME,
    LKS_ORDERED_ABORT,
    LKS_ORDERED_ROLLBACK,
    LKS_ORDERED_COUNT
};
extern const char *const lks_change_order_words[]; /* "start" ... "rollback", NULL */

#endif
