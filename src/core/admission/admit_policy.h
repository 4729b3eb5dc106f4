/* What a scheduler is told of a site's pools before jobs start: which stacks their nodes should run
 * and in which slots, and which images bring another NCCL than is pinned. The bridge makes the
 * policy of submissions of it. */
#ifndef LKS_CORE_ADMIT_POLICY_H
#define LKS_CORE_ADMIT_POLICY_H

#include "base/arena.h"
#include "base/buf.h"
#include "codec/format/json.h"

struct lks_book;
struct lks_state;

#define LKS_ADMIT_POLICY_BYTES_MAX  ((size_t)768 << 10)
#define LKS_ADMIT_POLICY_IMAGES_MAX 4096
#define LKS_ADMIT_POLICY_STACKS_MAX 32   /* of a pool */
#define LKS_ADMIT_POLICY_UNFIT_MAX  1000 /* bytes of versions that no stack of a pool admits */

/* Without fresh data, and how long data is fresh. */
struct lks_admit_policy_how {
    uint64_t stale;        /* seconds */
    struct lks_str closed; /* pools that refuse jobs then, separated by blanks; "*": all */
    bool slots;            /* nodes show them: else no job can ask for one */
};

/* Append it as JSON, for the pools of that scheduler with nodes at the site; "*": at any. */
enum lks_code lks_admit_policy_write(const struct lks_state *s, const struct lks_book *book,
                                     struct lks_str site, struct lks_str sched,
                                     const struct lks_admit_policy_how *how, struct lks_buf *out,
                                     struct lks_err *err) LKS_MUST_CHECK;

#endif
