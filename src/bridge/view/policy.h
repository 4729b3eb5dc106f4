/*
 * The submission policy as lockstepd sends it: pools with their nodes, stacks and slots, and
 * images. The bridge adds Slurm's partitions, and writes the file (submit/policy.h).
 *
 *     {"policy": {"pools": [{"name", "nodes", "enforce", "closed", "stale", "nccl",
 *                            "stacks": [{"name", "digest", "slot", "nodes"}]}],
 *                 "images": [{"ref", "nccl"}]}}
 */
#ifndef LKS_BRIDGE_POLICY_H
#define LKS_BRIDGE_POLICY_H

#include "codec/format/docs.h"
#include "codec/notation/hostlist.h"
#include "submit/policy.h"

/* All zero is an empty one. */
struct lks_bridge_policy {
    struct lks_arena arena;     /* owns what follows, but for partitions */
    struct lks_policy policy;   /* without partitions and time */
    struct lks_hostlist *nodes; /* by pool */
};
void lks_bridge_policy_fini(struct lks_bridge_policy *p);

enum lks_code lks_bridge_policy_read(const struct lks_doc *body, struct lks_bridge_policy *out,
                                     struct lks_err *err) LKS_MUST_CHECK;

#endif
