/* One probe of the machine, or of a captured tree, read now: what the agent checks right before it
 * acts. A child of the agent does it, so it may take a while. */
#ifndef LKS_AGENT_RECHECK_H
#define LKS_AGENT_RECHECK_H

#include "probe/root/probe.h"

struct lks_recheck {
    struct lks_facts facts;
    struct lks_root root;
    struct lks_tuple tuple;
};

/* Run the probe of that name over `root` and let `judge` say in `out` what follows from it. */
typedef enum lks_code lks_recheck_judge(struct lks_recheck *g, struct lks_buf *out,
                                        struct lks_err *err);
enum lks_code lks_recheck(const char *probe, const char *root, lks_recheck_judge *judge,
                          struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

#endif
