/* What closes a published vulnerability, pool by pool: stacks of the registry that do not have it,
 * those first that are nearest to what the pool is pinned to. */
#ifndef LKS_CORE_REMEDIES_H
#define LKS_CORE_REMEDIES_H

#include "core/compat/advisory.h"
#include "core/exposure/cadence.h"

struct lks_state;

#define LKS_REMEDIES_MAX    16  /* that are told */
#define LKS_REMEDIES_LOOKED 256 /* published last: what is older is not looked at */

struct lks_remedy {
    const struct lks_state_stack *row;
    size_t differences; /* from what the pool is pinned to */
    size_t opens;       /* vulnerabilities that it has, and that one does not */
    bool whole;         /* it is for all hardware of the pool */
    bool branch;        /* its driver is of the branch that the pool runs */
    bool back;          /* each step is reversible, and power and fabric are left alone */
};

struct lks_remedies {
    bool known;                      /* what is in the pool's pin */
    bool exposed;                    /* the pin has the vulnerability */
    struct lks_str component, fixed; /* exposed: by which, and what version closes it, or empty */
    struct lks_remedy list[LKS_REMEDIES_MAX];
    size_t count; /* 0 where it is not exposed */
};

enum lks_code lks_remedies_of(const struct lks_state *s, const struct lks_book *book,
                              const struct lks_pool_classes *classes, uint32_t pool,
                              const struct lks_advisory *advisory, struct lks_remedies *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* The nearest that an emergency can bring to all of the pool; NULL: none. */
const struct lks_remedy *lks_remedies_best(const struct lks_remedies *r);

/* The open emergency change that closes the vulnerability in the pool, whichever it was proposed
 * for; NULL: none. */
const struct lks_state_change *lks_remedies_change(const struct lks_state *s,
                                                   const struct lks_book *book, uint32_t pool,
                                                   const struct lks_advisory *advisory);

#endif
