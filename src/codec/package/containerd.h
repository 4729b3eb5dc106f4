/*
 * What containerd writes down about the images it holds. Two bbolt databases (bolt.h): its metadata
 * has names, digests and keys of snapshots, each in a namespace, and the one of a snapshotter has
 * the numbers of the directories in which snapshots lie. The manifest and the configuration of an
 * image are blobs, as JSON.
 *
 * From a name to its layers: the name has the digest of a manifest, or of an index of manifests;
 * the manifest has the digest of a configuration, which has the chain of layers (imagestore.h);
 * each chain is the key of a snapshot; the snapshot has a name of its own for the snapshotter.
 */
#ifndef LKS_CODEC_CONTAINERD_H
#define LKS_CODEC_CONTAINERD_H

#include "codec/package/bolt.h"
#include "codec/package/imagestore.h"

#define LKS_CONTAINERD_NAMES_MAX     8192  /* of images, in all namespaces */
#define LKS_CONTAINERD_SNAPSHOTS_MAX 65536 /* of one database */
#define LKS_CONTAINERD_KEY_MAX       1024  /* bytes of a namespace, a snapshotter, a snapshot */
#define LKS_CONTAINERD_MANIFESTS_MAX 128   /* of one index */

/* A snapshot that an image was unpacked into. */
struct lks_containerd_snapshot {
    struct lks_str space;       /* its namespace */
    struct lks_str snapshotter; /* "overlayfs" */
    struct lks_str chain;       /* the 64 digits of its chain of layers */
    struct lks_str name;        /* for the snapshotter */
};

/* Views live in the arena. Of images `digest` is that of the manifest or index, and `id` the
 * namespace. A name of CRI that is a bare digest is left out: the same image has another. */
struct lks_containerd_meta {
    struct lks_image_names images;
    struct lks_containerd_snapshot *snapshots; /* sorted */
    size_t count;
};

/* The metadata. LIMIT: more names or snapshots than are taken. */
enum lks_code lks_containerd_meta(struct lks_bolt *bolt, struct lks_arena *arena,
                                  struct lks_containerd_meta *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* The snapshot of a chain; NULL: it was not unpacked there. */
const struct lks_containerd_snapshot *lks_containerd_find(const struct lks_containerd_meta *meta,
                                                          struct lks_str space,
                                                          struct lks_str snapshotter,
                                                          struct lks_str chain);

/* The directory of a snapshot, by its name; sorted. */
struct lks_containerd_number {
    struct lks_str name;
    uint64_t number;
};
struct lks_containerd_numbers {
    struct lks_containerd_number *list;
    size_t count;
};

/* The database of a snapshotter. */
enum lks_code lks_containerd_numbers(struct lks_bolt *bolt, struct lks_arena *arena,
                                     struct lks_containerd_numbers *out,
                                     struct lks_err *err) LKS_MUST_CHECK;
bool lks_containerd_number_of(const struct lks_containerd_numbers *numbers, struct lks_str name,
                              uint64_t *out);

/* A manifest has a configuration, an index has manifests. */
struct lks_containerd_manifest {
    struct lks_str config; /* its digest; empty: it is an index */
    struct lks_str *list;  /* digests of manifests */
    size_t count;
};
enum lks_code lks_containerd_manifest(const char *source, struct lks_str json,
                                      struct lks_arena *arena, struct lks_containerd_manifest *out,
                                      struct lks_err *err) LKS_MUST_CHECK;

/* `root` of containerd's config.toml: an absolute path without patterns, `.` and `..`. NOT_FOUND:
 * the file does not set it. Files that it imports are not read. */
enum lks_code lks_containerd_root(const char *source, struct lks_str toml, struct lks_str *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

#endif
