#include "probe/library/loader.h"

#include "codec/notation/version.h"
#include "codec/program/ldcache.h"
#include "probe/library/libread.h"

#include <stdio.h>

#define CACHE_FILE "/etc/ld.so.cache"
#define CONF_FILE  "etc/ld.so.conf"

/* What the loader is built to look into when the cache does not have a name. */
static const char *const default_dirs[] = {
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    NULL,
};

static const struct lks_walk_limits limits = {.directories = 4096, .entries = 1 << 20, .ms = 5000};

/* Configuration ------------------------------------------------------------------------------ */

struct conf {
    struct lks_walk *w;
    lks_walk_fn *fn;
    void *ctx;
    size_t files;
    int nested;
};

static void read_conf(void *ctx, const char *path);

/* Words are patterns, those without a slash in front beside the file. */
static void include(struct conf *c, struct lks_str words)
{
    char top[LKS_ROOT_PATH_MAX];
    struct lks_str word;
    c->nested++;
    while (c->nested <= LKS_LOADER_NESTED_MAX && lks_str_word(&words, &word)) {
        bool absolute = word.ptr[0] == '/';
        snprintf(top, sizeof(top), "%" LKS_STR_FMT "%s", LKS_STR_ARG(c->w->base),
                 absolute ? "" : "/etc");
        while (word.len > 0 && word.ptr[0] == '/')
            word = (struct lks_str){word.ptr + 1, word.len - 1};
        lks_libwalk_expand(c->w, top, word, read_conf, c);
    }
    c->nested--;
}

static void directory(struct conf *c, struct lks_str line)
{
    char path[LKS_ROOT_PATH_MAX];
    struct lks_err err;
    struct lks_str dir, type;
    (void)lks_str_cut(line, '=', &dir, &type); /* "=libc6" was a type of library once */
    snprintf(path, sizeof(path), "%" LKS_STR_FMT, LKS_STR_ARG(c->w->base));
    enum lks_code code = lks_libwalk_step(c->w, path, lks_str_trim(dir), &err);
    if (code == LKS_OK)
        c->fn(c->ctx, path);
    else if (code != LKS_E_NOT_FOUND)
        lks_libwalk_skip(c->w, path, code, err.msg);
}

static void read_line(struct conf *c, struct lks_str line)
{
    struct lks_str comment, word, rest;
    (void)lks_str_cut(line, '#', &line, &comment);
    line = lks_str_trim(line);
    rest = line;
    if (!lks_str_word(&rest, &word) || lks_str_is(word, "hwcap"))
        return;
    if (lks_str_is(word, "include"))
        include(c, rest);
    else if (line.ptr[0] == '/')
        directory(c, line);
}

static void read_conf(void *ctx, const char *path)
{
    struct conf *c = ctx;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_LOADER_CONF_MAX);
    struct lks_err err;
    if (c->files++ >= LKS_LOADER_FILES_MAX)
        return;
    enum lks_code code = lks_root_read(c->w->root, path, LKS_LOADER_CONF_MAX, &text, &err);
    if (code != LKS_OK && code != LKS_E_NOT_FOUND)
        lks_libwalk_skip(c->w, path, code, err.msg);
    struct lks_str rest = lks_buf_view(&text), line;
    while (code == LKS_OK && rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        read_line(c, line);
    }
}

void lks_loader_conf(struct lks_walk *w, lks_walk_fn *fn, void *ctx)
{
    struct conf c = {.w = w, .fn = fn, .ctx = ctx};
    char top[LKS_ROOT_PATH_MAX];
    snprintf(top, sizeof(top), "%" LKS_STR_FMT, LKS_STR_ARG(w->base));
    lks_libwalk_expand(w, top, LKS_STR(CONF_FILE), read_conf, &c);
}

/* Asking ------------------------------------------------------------------------------------- */

struct question {
    struct lks_root *root;
    struct lks_arena *arena;
    const char *const *dirs;
    struct lks_walk walk;
    struct lks_buf *out;
};

/* "SOURCE NAME PATH" and a tab; a path is the last, as it may have blanks in it. The loader goes on
 * where a name leads to nothing, and so do we. */
static void note(struct question *q, const char *source, struct lks_str name, struct lks_str path)
{
    char at[LKS_ROOT_PATH_MAX];
    struct stat st;
    struct lks_err err;
    if (lks_libread_kind(name) == NULL || !lks_str_printable(name) || !lks_str_printable(path) ||
        lks_str_find(name, LKS_STR(" ")) >= 0)
        return;
    snprintf(at, sizeof(at), "%" LKS_STR_FMT, LKS_STR_ARG(path));
    if (lks_root_stat(q->root, at, &st, &err) == LKS_E_NOT_FOUND)
        return;
    lks_buf_addf(q->out, "%s %" LKS_STR_FMT " %" LKS_STR_FMT "\t", source, LKS_STR_ARG(name),
                 LKS_STR_ARG(path));
}

/* A cache the loader could not read either is as good as none to it. */
static bool ask_cache(struct question *q)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_LDCACHE_BYTES_MAX);
    struct lks_err err;
    struct lks_ldcache cache;
    struct lks_ldcache_entry entry;
    if (lks_root_read(q->root, CACHE_FILE, LKS_LDCACHE_BYTES_MAX, &bytes, &err) != LKS_OK ||
        lks_ldcache_open(lks_buf_view(&bytes), &cache, &err) != LKS_OK)
        return false;
    for (bool more = true; lks_ldcache_next(&cache, &entry, &more, &err) == LKS_OK && more;) {
        if (entry.wide && !entry.special)
            note(q, CACHE_FILE, entry.name, entry.path);
    }
    return true;
}

static void ask_dir(void *ctx, const char *dir)
{
    struct question *q = ctx;
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_names names;
    lks_arena_init(&arena, LKS_ROOT_NAMES_MAX);
    if (!lks_libwalk_list(&q->walk, dir, &arena, &names))
        return;
    for (size_t i = 0; i < names.count; i++) {
        struct lks_str path =
            lks_arena_format(&arena, "%s/%" LKS_STR_FMT, dir, LKS_STR_ARG(names.list[i]));
        if (path.ptr != NULL && lks_str_find(lks_str_from(dir), LKS_STR(" ")) < 0)
            note(q, dir, names.list[i], path);
    }
}

static enum lks_code ask_now(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    struct question *q = ctx;
    q->out = out;
    if (lks_libwalk_init(&q->walk, q->root, q->arena, &limits, err) != LKS_OK)
        return err->code;
    q->walk.place = &lks_place_loader;
    if (q->dirs == default_dirs && !ask_cache(q))
        lks_loader_conf(&q->walk, ask_dir, q);
    for (size_t i = 0; q->dirs[i] != NULL; i++)
        ask_dir(q, q->dirs[i]);
    lks_libwalk_fini(&q->walk);
    return LKS_OK;
}

static enum lks_code parse(struct lks_str text, struct lks_arena *arena, struct lks_loadables *out,
                           struct lks_err *err)
{
    struct lks_loadables all = {0};
    struct lks_str rest = lks_arena_copy(arena, text), record;
    size_t room = 0;
    for (size_t i = 0; i < text.len; i++)
        room += text.ptr[i] == '\t';
    all.list = lks_arena_array(arena, room + 1, sizeof(*all.list));
    if (rest.ptr == NULL || all.list == NULL)
        return lks_arena_fail(arena, err);
    while (lks_str_cut(rest, '\t', &record, &rest)) {
        struct lks_loadable *l = &all.list[all.count++];
        if (!lks_str_cut(record, ' ', &l->source, &record) ||
            !lks_str_cut(record, ' ', &l->name, &l->path) || l->path.len == 0 ||
            l->path.ptr[0] != '/')
            return lks_fail(err, LKS_E_INVALID, "the recorded names of libraries are damaged");
    }
    *out = all;
    return LKS_OK;
}

static enum lks_code ask(struct lks_root *root, struct lks_arena *arena, const char *key,
                         const char *const *dirs, struct lks_loadables *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(LKS_LOADER_ANSWER_MAX);
    struct question q = {.root = root, .arena = arena, .dirs = dirs};
    if (lks_libwalk_ask(root, "loader", key, ask_now, &q, &answer, err) != LKS_OK)
        return err->code;
    return parse(lks_buf_view(&answer), arena, out, err);
}

enum lks_code lks_loader_read(struct lks_root *root, struct lks_arena *arena,
                              struct lks_loadables *out, struct lks_err *err)
{
    return ask(root, arena, CACHE_FILE, default_dirs, out, err);
}

enum lks_code lks_loader_dirs(struct lks_root *root, struct lks_arena *arena, const char *key,
                              const char *const *dirs, struct lks_loadables *out,
                              struct lks_err *err)
{
    return ask(root, arena, key, dirs, out, err);
}

/* Choosing ----------------------------------------------------------------------------------- */

/* "2.28.3" of "libnccl.so.2.28.3", empty for "libnccl.so". */
static struct lks_str number_of(struct lks_str name)
{
    ptrdiff_t at = lks_str_find(name, LKS_STR(".so."));
    if (at < 0)
        return (struct lks_str){0};
    return (struct lks_str){name.ptr + at + 4, name.len - (size_t)at - 4};
}

static size_t parts_of(struct lks_str number)
{
    size_t parts = number.len > 0;
    for (size_t i = 0; i < number.len; i++)
        parts += number.ptr[i] == '.';
    return parts;
}

/* Programs ask for libX.so.N: a name with more numbers is that of the file behind it. */
static bool better(const struct lks_loadable *a, const struct lks_loadable *b)
{
    struct lks_str x = number_of(a->name), y = number_of(b->name);
    if (parts_of(x) != parts_of(y))
        return parts_of(x) < parts_of(y);
    return lks_version_cmp(x, y, LKS_VERSION_DOTTED) > 0;
}

const struct lks_loadable *lks_loader_choose(const struct lks_loadables *all, const char *stem)
{
    const struct lks_loadable *best = NULL;
    for (size_t i = 0; i < all->count; i++) {
        const struct lks_libver_kind *kind = lks_libread_kind(all->list[i].name);
        if (kind != NULL && strcmp(kind->stem, stem) == 0 &&
            (best == NULL || better(&all->list[i], best)))
            best = &all->list[i];
    }
    return best;
}
