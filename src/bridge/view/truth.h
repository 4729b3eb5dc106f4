/*
 * What lockstep says of nodes, as Slurm shows it: features of the node that start with "lks-", the
 * slot of its stack ("lks0", "lks1" or "lks2"), and the digest of the stack in the node's `extra`.
 * Slurm replaces a list of features as a whole, so that the features of others are carried along
 * from the reading that came right before.
 *
 * `extra` belongs to lockstep where it is empty or starts with the mark. Where another program has
 * it, `comment` is used by the same rule; where both are taken, the digest is not shown.
 */
#ifndef LKS_BRIDGE_TRUTH_H
#define LKS_BRIDGE_TRUTH_H

#include "base/arena.h"
#include "base/buf.h"
#include "codec/format/docs.h"

#define LKS_BRIDGE_TRUTH_PREFIX   "lks-"
#define LKS_BRIDGE_TRUTH_SLOT     "lks"            /* before the number of a slot, one digit */
#define LKS_BRIDGE_TRUTH_NODES    ((uint32_t)4096) /* in one request */
#define LKS_BRIDGE_TRUTH_FEATURES 8                /* of a node */
#define LKS_BRIDGE_TRUTH_WORD     63               /* bytes of a feature, and ... */
#define LKS_BRIDGE_TRUTH_DIGEST   127              /* ... of the digest */

/* A node of a request. */
struct lks_bridge_truth_row {
    struct lks_str node;
    struct lks_str features; /* separated by commas; empty: those that are there are removed */
    struct lks_str digest;   /* empty: the same */
};

/* All zero is an empty one. */
struct lks_bridge_truth {
    struct lks_arena arena; /* owns everything */
    struct lks_bridge_truth_row *rows;
    uint32_t count;
};
void lks_bridge_truth_fini(struct lks_bridge_truth *t);

/* Read {"truth": [{"nodes": "g[1-8]", "features": ["lks-..."], "digest": "sha256:..."}]}. A node
 * may be named once. */
enum lks_code lks_bridge_truth_read(const struct lks_doc *body, struct lks_bridge_truth *out,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* Whether a feature is one of lockstep: no other program sets or removes these. */
bool lks_bridge_truth_ours(struct lks_str word);

/* `list` without the features of lockstep, followed by `ours`. */
void lks_bridge_truth_merge(struct lks_str list, struct lks_str ours, struct lks_buf *out);

/* Whether the features of lockstep in `list` are those of `ours`, in any order. */
bool lks_bridge_truth_is(struct lks_str list, struct lks_str ours);

/* The field of a node that the digest goes to, and the one that it is in now. */
enum lks_bridge_truth_place {
    LKS_BRIDGE_TRUTH_NOWHERE,
    LKS_BRIDGE_TRUTH_EXTRA,
    LKS_BRIDGE_TRUTH_COMMENT
};
enum lks_bridge_truth_place lks_bridge_truth_place(struct lks_str extra, struct lks_str comment);

/* The digest that is shown there; empty: none. */
struct lks_str lks_bridge_truth_digest(struct lks_str extra, struct lks_str comment);

#endif
