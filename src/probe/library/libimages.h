/*
 * Which images lie on the node, by name, and which of the copies that the library search found in
 * layers are theirs.
 *
 * The map from a name to its layers is read from the stores of Docker, of containers/storage
 * (Podman, CRI-O) and of containerd. It is one answer for each store, so that a capture holds names
 * and layers and nothing of the images' configuration, where passwords stand.
 */
#ifndef LKS_PROBE_LIBIMAGES_H
#define LKS_PROBE_LIBIMAGES_H

#include "codec/package/imagestore.h"
#include "probe/library/libsearch.h"
#include "probe/root/probe.h"

#define LKS_LIBIMAGES_TOLD_MAX  64 /* images that have one of the libraries */
#define LKS_LIBIMAGES_BYTES_MAX ((size_t)8 << 20)

/* A library of a layer, once it was read. */
struct lks_image_copy {
    struct lks_str component, path;
    struct lks_str version; /* empty: not known */
    struct lks_str note;    /* then why */
    bool hole;              /* no file: it hides one of that path in the layers below */
};

/* An image, its layers by their ids with blanks between, the upper first. */
struct lks_image_stack {
    struct lks_str name, digest, layers;
};
struct lks_image_stacks {
    struct lks_image_stack *list;
    size_t count;
    uint64_t left; /* images that were not taken */
};

/* Tell NCCL, RCCL, cuDNN and CUDA of the images on the node as readings image.*. The uppermost
 * layer that has a library counts; where it has two versions the reading is unmeasured. Images of a
 * store in which the search left something out are not told. Whole directories that an upper layer
 * removes are not seen to be gone. */
void lks_libimages_tell(struct lks_probe *p, const struct lks_image_copy *copies, size_t count,
                        const struct lks_findings *found);

/* What a store said, from its text. Views live in the arena. */
enum lks_code lks_libimages_parse(struct lks_str text, struct lks_arena *arena,
                                  struct lks_image_stacks *out, struct lks_err *err) LKS_MUST_CHECK;

#endif
