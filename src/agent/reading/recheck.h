/* One probe of the machine, or of a captured tree, read now: what the agent checks right before it
 * acts. A child of the agent does it, so it may take a while. */
#ifndef LKS_AGENT_RECHECK_H
#define LKS_AGENT_RECHECK_H

#include "probe/root/probe.h"

/* All zero but for `root`: nothing was read yet. */
struct lks_recheck {
    struct lks_facts facts;
    struct lks_root root;
    struct lks_tuple tuple;
};

#define LKS_RECHECK_NONE                                                                           \
    {                                                                                              \
        .root = {.fd = -1, .capture = -1 }                                                         \
    }

/* Run the probe of that name over `root`. */
enum lks_code lks_recheck_take(const char *probe, const char *root, struct lks_recheck *out,
                               struct lks_err *err) LKS_MUST_CHECK;
void lks_recheck_fini(struct lks_recheck *g);

#endif
