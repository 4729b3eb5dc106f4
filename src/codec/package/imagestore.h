/*
 * What Docker and containers/storage (Podman, CRI-O) write down about the images they hold: names,
 * digests, and the layers an image is stacked of. Files of theirs, as JSON.
 */
#ifndef LKS_CODEC_IMAGESTORE_H
#define LKS_CODEC_IMAGESTORE_H

#include "base/arena.h"
#include "codec/format/docs.h"

#define LKS_IMAGESTORE_BYTES_MAX  ((size_t)8 << 20) /* of one file */
#define LKS_IMAGESTORE_IMAGES_MAX 512
#define LKS_IMAGESTORE_NAMES_MAX  1024 /* of one repository or image; with more it is left out */
#define LKS_IMAGESTORE_LAYERS_MAX 128  /* of one image */
#define LKS_IMAGESTORE_NAME_MAX   256  /* bytes */
#define LKS_IMAGESTORE_ID_LEN     64   /* hexadecimal digits */

/* Views live in the arena. An image that is known by tags is listed by each of them, and by its
 * digest only where it has none. */
struct lks_image_name {
    struct lks_str name;   /* as the store writes it */
    struct lks_str digest; /* of its manifest; empty: not known */
    struct lks_str id; /* Docker: digest of its configuration; containerd: its namespace; else the
                          id of its top layer */
};

struct lks_image_names {
    struct lks_image_name *list;
    size_t count;
    size_t left; /* names that were not taken: too many, or none that we would print */
};

/* Ids of layers, the upper first. */
struct lks_image_layers {
    struct lks_str *list;
    size_t count;
};

/* A layer and the one below it; sorted by id. */
struct lks_layer_parent {
    struct lks_str id, parent;
};
struct lks_layer_parents {
    struct lks_layer_parent *list;
    size_t count;
};

/* Whether it is an id as both write it. It is used as a part of paths. */
bool lks_imagestore_id(struct lks_str s);

/* Whether it is a name that can stand for an image. */
bool lks_imagestore_name(struct lks_str s);

/* One file of a store as a document; the caller owes lks_docs_fini(), whatever the result. */
enum lks_code lks_imagestore_json(const char *source, struct lks_str json, struct lks_docs *docs,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* Docker's repositories.json. `source` is how messages call the file, here and below. */
enum lks_code lks_imagestore_docker(const char *source, struct lks_str json,
                                    struct lks_arena *arena, struct lks_image_names *out,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* The configuration of one image: ids of its chains of layers. */
enum lks_code lks_imagestore_chain(const char *source, struct lks_str json, struct lks_arena *arena,
                                   struct lks_image_layers *out,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* images.json and layers.json of containers/storage, and the layers from `top` down. */
enum lks_code lks_imagestore_containers(const char *source, struct lks_str json,
                                        struct lks_arena *arena, struct lks_image_names *out,
                                        struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_imagestore_parents(const char *source, struct lks_str json,
                                     struct lks_arena *arena, struct lks_layer_parents *out,
                                     struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_imagestore_below(const struct lks_layer_parents *parents, struct lks_str top,
                                   struct lks_arena *arena, struct lks_image_layers *out,
                                   struct lks_err *err) LKS_MUST_CHECK;

#endif
