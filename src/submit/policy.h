/*
 * The policy of submissions: what the bridge writes for the plugin in slurmctld, as a file.
 *
 *     lockstep-policy FORMAT CONFIRMED LENGTH CHECKSUM
 *     pool NAME ENFORCE STALE SECONDS NCCL UNFIT
 *     stack POOL SLOT NODES DIGEST NAME VERSION
 *     partition NAME DEFAULT POOL NODES FOREIGN SLOT0 SLOT1 SLOT2
 *     image NCCL REF
 *
 * Words are separated by one blank; "-" is none. CONFIRMED is when lockstepd confirmed it, in
 * milliseconds since 1970; LENGTH is that of the lines behind the first one, and CHECKSUM (FNV-1a,
 * 64 bits) of CONFIRMED and these lines. It finds torn and foreign files, not forged ones: a user
 * that may write the folder decides. What is read prints to the same bytes if its images are
 * sorted.
 */
#ifndef LKS_SUBMIT_POLICY_H
#define LKS_SUBMIT_POLICY_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/time.h"

#define LKS_POLICY_FORMAT         1
#define LKS_POLICY_BYTES_MAX      ((size_t)4 << 20)
#define LKS_POLICY_POOLS_MAX      1024
#define LKS_POLICY_STACKS_MAX     4096
#define LKS_POLICY_PARTITIONS_MAX 4096
#define LKS_POLICY_IMAGES_MAX     8192
#define LKS_POLICY_SLOTS          3
#define LKS_POLICY_NO_POOL        UINT32_MAX

enum lks_policy_enforce { LKS_POLICY_OBSERVE, LKS_POLICY_WARN, LKS_POLICY_ON };
extern const char *const lks_policy_enforce_words[]; /* "observe", "warn", "on", NULL */

struct lks_policy_pool {
    struct lks_str name;
    enum lks_policy_enforce enforce;
    bool closed;          /* without fresh data jobs are refused; else they are taken as they are */
    uint64_t stale;       /* seconds until data is not fresh any more */
    struct lks_str nccl;  /* version that is pinned, where ranks must agree; empty: none */
    struct lks_str unfit; /* versions that none of its stacks admits, separated by commas */
};

/* A stack that nodes of a pool should run. */
struct lks_policy_stack {
    uint32_t pool;
    uint32_t slot;  /* LKS_POLICY_SLOTS: none */
    uint64_t nodes; /* that should run it */
    struct lks_str digest, name, version;
};

struct lks_policy_partition {
    struct lks_str name;
    bool is_default;
    uint32_t pool;    /* of all nodes that lockstep has there; LKS_POLICY_NO_POOL: several pools */
    uint64_t nodes;   /* of lockstep, and */
    uint64_t foreign; /* others */
    uint64_t slots[LKS_POLICY_SLOTS]; /* nodes that show each slot */
};

struct lks_policy_image {
    struct lks_str nccl, ref;
};

/* All zero is an empty one. Texts are in the arena, or the caller's who filled it. */
struct lks_policy {
    struct lks_arena arena;
    lks_ms confirmed;
    struct lks_policy_pool *pools;
    struct lks_policy_stack *stacks;
    struct lks_policy_partition *partitions;
    struct lks_policy_image *images; /* sorted by ref where they are looked up */
    uint32_t pool_count, stack_count, partition_count, image_count;
};
void lks_policy_fini(struct lks_policy *p);

/* Append the file. INVALID: a text is no word (codec/notation/word.h); LIMIT: it does not fit. */
enum lks_code lks_policy_write(const struct lks_policy *p, struct lks_buf *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* Read a whole file; texts are copied, and images are sorted by ref. REFUSED: a format of another
 * release. INVALID: torn, damaged, or something else. */
enum lks_code lks_policy_read(struct lks_str bytes, struct lks_policy *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* The image of this reference, by a binary search; NULL: the policy does not have it. */
const struct lks_policy_image *lks_policy_image(const struct lks_policy *p, struct lks_str ref);

#endif
