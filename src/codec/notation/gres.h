/*
 * Slurm's lists of generic resources, as a node has them:
 *
 *     gpu:h200:8(S:0-1)            eight of type h200, on two sockets
 *     gpu:1g.18gb:56,shard:64      56 instances of a MIG profile, and something else
 *     gpu:nvidia_h200_3g.71gb:16   what AutoDetect calls an instance
 *     gpu:no_consume:1,license:4G  a count with K, M, G, T or P is of 1024s
 *
 * A type is any name that the site chose. "(null)" and an empty text are no resources.
 */
#ifndef LKS_CODEC_GRES_H
#define LKS_CODEC_GRES_H

#include "base/buf.h"

#define LKS_GRES_BYTES_MAX  4096
#define LKS_GRES_ITEMS_MAX  64
#define LKS_GRES_PREFIX_MAX 16 /* of a MIG profile's numbers, in digits */

struct lks_gres_item {
    struct lks_str name, type; /* views of the text; an empty type: none is given */
    uint64_t count;
};

struct lks_gres {
    struct lks_gres_item items[LKS_GRES_ITEMS_MAX]; /* in the order of the text */
    size_t count;
};

/* INVALID for what Slurm would not print, LIMIT for more than the limits above. */
enum lks_code lks_gres_parse(struct lks_str text, struct lks_gres *out,
                             struct lks_err *err) LKS_MUST_CHECK;

/* The resources called `name` alone, sorted by type, each type once with the sum of its counts, and
 * without sockets: the same text for all lists that mean the same. */
enum lks_code lks_gres_write(const struct lks_gres *gres, const char *name, struct lks_buf *out,
                             struct lks_err *err) LKS_MUST_CHECK;

/* A MIG profile: "3g.71gb", "1c.3g.71gb", "1g.18gb+me". */
struct lks_gres_profile {
    struct lks_str board; /* before it, as in "nvidia_h200_3g.71gb"; or empty */
    uint64_t compute;     /* compute slices of a compute instance; 0: all of the GPU instance */
    uint64_t slices, gigabytes;
    struct lks_str attributes; /* behind "+", "." or "_": "me"; or empty */
};

/* Whether a type ends with a profile. */
bool lks_gres_profile_parse(struct lks_str type, struct lks_gres_profile *out);

/* Whether two are the same profile, of whichever boards. */
bool lks_gres_profile_eq(const struct lks_gres_profile *a, const struct lks_gres_profile *b);

#endif
