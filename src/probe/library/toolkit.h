/*
 * Toolkits: directories such as /usr/local/cuda-13.0 and /opt/rocm-6.4.1, of which a link without
 * a number says which one counts.
 *
 * A CUDA toolkit has a number of its own, which is what people pin: 13.0.2 has run time 13.0.96.
 * It stands in version.json, until CUDA 11 in version.txt; packages of distributions may leave the
 * file out.
 */
#ifndef LKS_PROBE_TOOLKIT_H
#define LKS_PROBE_TOOLKIT_H

#include "probe/root/root.h"

/* The real path of the toolkit that counts: the one `top`/`name` leads to, else the only one called
 * `name`-NUMBER. NOT_FOUND where there is none, REFUSED where there are several and no link. */
enum lks_code lks_toolkit_find(struct lks_root *root, struct lks_arena *arena, const char *top,
                               const char *name, struct lks_str *dir,
                               struct lks_err *err) LKS_MUST_CHECK;

struct lks_toolkit_version {
    struct lks_str release; /* 13.0.2 */
    struct lks_str runtime; /* version of its libcudart, 13.0.96; empty where it does not say */
    struct lks_str source;  /* the file that says so */
};

/* What a CUDA toolkit says of itself; NOT_FOUND where it says nothing. */
enum lks_code lks_toolkit_read(struct lks_root *root, struct lks_arena *arena, struct lks_str dir,
                               struct lks_toolkit_version *out, struct lks_err *err) LKS_MUST_CHECK;

/* The directory of the toolkit that has the library `path`, or an empty view: what is before
 * /lib64/FILE, /lib/FILE or /targets/NAME/lib/FILE. */
struct lks_str lks_toolkit_of(struct lks_str path);

#endif
