/*
 * Walking over places: patterns of paths become directories that are there, within limits.
 *
 * Paths are real ones: each part is looked at before it is stepped on, so that a link into a file
 * system that is not the machine's own is seen before that file system is touched. Within the file
 * system of a container (`base`) links lead to its own files. Whatever is not looked at is noted,
 * by its place and the reason.
 */
#ifndef LKS_PROBE_LIBWALK_H
#define LKS_PROBE_LIBWALK_H

#include "base/intern.h"
#include "probe/library/libplaces.h"
#include "probe/library/remotefs.h"

#define LKS_WALK_LINKS_MAX 40 /* on the way to one file */
#define LKS_WALK_SKIPS_MAX 256

struct lks_walk_limits {
    size_t directories; /* listed */
    size_t entries;     /* in all of them together */
    int64_t ms;
};

struct lks_skip {
    struct lks_str where; /* the pattern, as far as it went */
    enum lks_code code;
    struct lks_str why;
    struct lks_str first; /* the first path it happened to; empty: all of the place */
    size_t more;          /* other paths with the same fate */
};

struct lks_walk {
    struct lks_root *root; /* the caller's */
    struct lks_arena *arena;
    struct lks_remotefs mounts;
    struct lks_walk_limits limits;
    struct lks_str base;           /* file system of a container, or empty */
    const struct lks_place *place; /* being looked into */
    size_t directories, entries;
    int64_t until;          /* lks_clock_ms() */
    bool over;              /* it came to its end early */
    char ended[96];         /* why */
    struct lks_skip *skips; /* in the arena */
    size_t skip_count;
    struct lks_str where;    /* what to call the place; empty: by its pattern */
    struct lks_intern noted; /* paths that were left out */
};

/* `root` and `arena` stay the caller's and must outlive the walk. */
enum lks_code lks_libwalk_init(struct lks_walk *w, struct lks_root *root, struct lks_arena *arena,
                               const struct lks_walk_limits *limits,
                               struct lks_err *err) LKS_MUST_CHECK;

void lks_libwalk_fini(struct lks_walk *w);

/* Step from `path`, a real one without a slash at its end (the top is ""), along the relative path
 * `more`. On success `path` is real again. UNAVAILABLE where a remote file system begins. */
enum lks_code lks_libwalk_step(struct lks_walk *w, char path[LKS_ROOT_PATH_MAX],
                               struct lks_str more, struct lks_err *err) LKS_MUST_CHECK;

/* Call `fn` with each real path that `pattern` (without a slash in front) leads to from `path`,
 * whatever it is. */
typedef void lks_walk_fn(void *ctx, const char *path);
void lks_libwalk_expand(struct lks_walk *w, const char *path, struct lks_str pattern,
                        lks_walk_fn *fn, void *ctx);

/* The names in a directory; false where there are none to be had, which is noted. */
bool lks_libwalk_list(struct lks_walk *w, const char *path, struct lks_arena *arena,
                      struct lks_names *out);

/* Whether to go on; asked before each piece of work. */
bool lks_libwalk_over(struct lks_walk *w);

/* Note that `path` was left out ("": all of the place). Of one place and code the first path is
 * told and the others are counted, each once. */
void lks_libwalk_skip(struct lks_walk *w, const char *path, enum lks_code code, const char *why);

/* lks_root_ask_file() for a question whose answer takes a walk: what `fn` reads on its way is not
 * recorded in a capture, only what it answers. */
enum lks_code lks_libwalk_ask(struct lks_root *root, const char *table, const char *key,
                              lks_ask_fn *fn, void *ctx, struct lks_buf *out,
                              struct lks_err *err) LKS_MUST_CHECK;

#endif
