/*
 * What the dynamic loader of the machine would take for a library: the entry of /etc/ld.so.cache,
 * and for what it does not have the default directories. Where there is no cache, the directories
 * of /etc/ld.so.conf in their order stand for it.
 */
#ifndef LKS_PROBE_LOADER_H
#define LKS_PROBE_LOADER_H

#include "probe/library/libwalk.h"

#define LKS_LOADER_CONF_MAX   65536 /* bytes of one file */
#define LKS_LOADER_FILES_MAX  256   /* files of configuration */
#define LKS_LOADER_NESTED_MAX 4     /* files included by included ones */
#define LKS_LOADER_ANSWER_MAX ((size_t)256 << 10)

struct lks_loadable {
    struct lks_str source; /* "/etc/ld.so.cache", or the directory it was seen in */
    struct lks_str name;   /* "libnccl.so.2" */
    struct lks_str path;   /* "/usr/lib/x86_64-linux-gnu/libnccl.so.2" */
};

struct lks_loadables {
    struct lks_loadable *list; /* the loader's first choice first, by name */
    size_t count;
};

/* The libraries we know by name that the loader finds. Texts live in `arena`. */
enum lks_code lks_loader_read(struct lks_root *root, struct lks_arena *arena,
                              struct lks_loadables *out, struct lks_err *err) LKS_MUST_CHECK;

/* The same for the directories of a toolkit, a list that ends with NULL. `key` names the question
 * in a capture. */
enum lks_code lks_loader_dirs(struct lks_root *root, struct lks_arena *arena, const char *key,
                              const char *const *dirs, struct lks_loadables *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* The library with this stem ("libnccl"): what the name without a number leads to, else the highest
 * of the names a program can ask for. NULL: there is none. */
const struct lks_loadable *lks_loader_choose(const struct lks_loadables *all, const char *stem);

/* Call `fn` with the real path of each directory of `w->base`/etc/ld.so.conf, in order. */
void lks_loader_conf(struct lks_walk *w, lks_walk_fn *fn, void *ctx);

#endif
