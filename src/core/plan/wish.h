/* What people ask of a plan, and of the change that it becomes. */
#ifndef LKS_CORE_WISH_H
#define LKS_CORE_WISH_H

#include "base/str.h"
#include "base/time.h"
#include "model/record/record_words.h"

#include <stdbool.h>

/* What is asked for; what is 0 or empty is chosen by the plan. */
struct lks_plan_wish {
    enum lks_change_kind kind;
    struct lks_str hosts;      /* a host list; or */
    struct lks_str pool;       /* all nodes of this pool. Assets of their domains come along */
    struct lks_str stack;      /* digest, or the name of a published stack; AGENT: a version */
    struct lks_str hook;       /* site hook that installs what no bundle has a package for */
    unsigned strength;         /* combinations of so many attributes are covered; 2 */
    uint32_t failure_share;    /* a fault that hits so many is met by the canary, in millionths, */
    uint32_t confidence_share; /* with this confidence; both 0: one of each combination will do */
    uint32_t canary_max;       /* nodes of it, at most; what is left uncovered is named */
    uint32_t failures_max;     /* nodes that may fail; 0: none may */
    lks_ms soak;               /* of the canary; rings have a part of it */
    bool rolls_back, one_way;
    lks_ms not_before, not_after;
    struct lks_str windows;  /* codec/time/windows.h */
    struct lks_str class;    /* of change; never less than what the plan does */
    struct lks_str advisory; /* the published vulnerability that it is to close */
};

/* What people ask of a change. */
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
