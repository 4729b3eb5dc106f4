/* File systems that are not this machine's own: a search stays out of them, since they can be
 * slow, gone, or the same for a thousand nodes. The root file system is the machine's own whatever
 * its type: a node may boot from the network. */
#ifndef LKS_PROBE_REMOTEFS_H
#define LKS_PROBE_REMOTEFS_H

#include "probe/root/root.h"

struct lks_remotefs_mount {
    struct lks_str path, type;
    bool remote;
};

/* Only what matters here: remote ones, and those mounted somewhere below a remote one. */
struct lks_remotefs {
    struct lks_remotefs_mount *list; /* in the order they were mounted; in the arena */
    size_t count;
};

/* From /proc/self/mountinfo. Without one nothing is remote. */
enum lks_code lks_remotefs_read(struct lks_root *root, struct lks_arena *arena,
                                struct lks_remotefs *out, struct lks_err *err) LKS_MUST_CHECK;

/* The mount `path` is on if it is remote, or NULL. Looks at names alone and touches nothing. */
const struct lks_remotefs_mount *lks_remotefs_of(const struct lks_remotefs *mounts,
                                                 struct lks_str path);

#endif
