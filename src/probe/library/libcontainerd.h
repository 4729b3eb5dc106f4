/*
 * The images of a containerd: names of all its namespaces, and the directories of their layers.
 *
 * Its databases are read while it writes to them, without their lock. What changed during the
 * reading is read again (codec/package/bolt.h), and blobs are held against their digests, so that
 * an image is told as one state of containerd has it, or not at all.
 */
#ifndef LKS_PROBE_LIBCONTAINERD_H
#define LKS_PROBE_LIBCONTAINERD_H

#include "codec/package/containerd.h"
#include "probe/root/root.h"

#define LKS_LIBCONTAINERD_CONFIG "/etc/containerd/config.toml"

/* Behind its root: where layers lie, each in a folder of its own, and the folders as a pattern. */
#define LKS_LIBCONTAINERD_LAYERS "/io.containerd.snapshotter.v1."
#define LKS_LIBCONTAINERD_PLACES                                                                   \
    LKS_LIBCONTAINERD_LAYERS "{overlayfs,fuse-overlayfs}/snapshots/*/fs"

/* Called with each image whose layers are all on the disk, the ids of layers as
 * "overlayfs/snapshots/12". */
typedef enum lks_code lks_libcontainerd_fn(void *ctx, const struct lks_image_name *image,
                                           const struct lks_image_layers *layers,
                                           struct lks_err *err);

/* Read the store whose root is `top`. `left` are the names that were not taken: not unpacked,
 * unpacked for several platforms, damaged, or too many. NOT_FOUND: there is no containerd. */
enum lks_code lks_libcontainerd_read(struct lks_root *root, const char *top,
                                     lks_libcontainerd_fn *fn, void *ctx, size_t *left,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* Whether it is such an id. */
bool lks_libcontainerd_layer(struct lks_str id);

/* The root that the configuration sets, asked and recorded; NOT_FOUND: it sets none, or one of
 * those that are read anyway. It lives in the arena. */
enum lks_code lks_libcontainerd_root(struct lks_root *root, struct lks_arena *arena,
                                     struct lks_str *out, struct lks_err *err) LKS_MUST_CHECK;

/* Those that are read anyway: its own default, K3s and RKE2. The list ends with NULL. */
extern const char *const lks_libcontainerd_roots[];

#endif
