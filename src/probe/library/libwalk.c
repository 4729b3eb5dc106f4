#include "probe/library/libwalk.h"

#include "probe/root/clock.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>

#define NOTED_BYTES_MAX ((size_t)4 << 20)

enum lks_code lks_libwalk_init(struct lks_walk *w, struct lks_root *root, struct lks_arena *arena,
                               const struct lks_walk_limits *limits, struct lks_err *err)
{
    *w = (struct lks_walk){.root = root, .arena = arena, .limits = *limits};
    w->until = lks_clock_ms() + limits->ms;
    w->skips = lks_arena_array(arena, LKS_WALK_SKIPS_MAX, sizeof(*w->skips));
    if (w->skips == NULL)
        return lks_arena_fail(arena, err);
    lks_intern_init(&w->noted, NOTED_BYTES_MAX);
    return lks_remotefs_read(root, arena, &w->mounts, err);
}

void lks_libwalk_fini(struct lks_walk *w)
{
    lks_intern_fini(&w->noted);
    *w = (struct lks_walk){0};
}

struct question {
    struct lks_root *root;
    lks_ask_fn *fn;
    void *ctx;
};

static enum lks_code ask_quietly(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    struct question *q = ctx;
    int capture = q->root->capture;
    q->root->capture = -1;
    enum lks_code code = q->fn(q->ctx, out, err);
    q->root->capture = capture;
    return code;
}

enum lks_code lks_libwalk_ask(struct lks_root *root, const char *table, const char *key,
                              lks_ask_fn *fn, void *ctx, struct lks_buf *out, struct lks_err *err)
{
    struct question q = {root, fn, ctx};
    return lks_root_ask_file(root, table, key, ask_quietly, &q, out, err);
}

/* What was left out -------------------------------------------------------------------------- */

static struct lks_skip *find_skip(struct lks_walk *w, struct lks_str where, enum lks_code code)
{
    for (size_t i = 0; i < w->skip_count; i++) {
        if (lks_str_eq(w->skips[i].where, where) && w->skips[i].code == code)
            return &w->skips[i];
    }
    return w->skip_count == LKS_WALK_SKIPS_MAX ? &w->skips[w->skip_count - 1] : NULL;
}

/* The same directory is met again by each pattern that begins with it. */
static bool noted_before(struct lks_walk *w, const char *path, enum lks_code code)
{
    char text[LKS_ROOT_PATH_MAX + 16];
    struct lks_err err;
    uint32_t id, before = lks_intern_count(&w->noted);
    snprintf(text, sizeof(text), "%d %s", (int)code, path);
    return lks_intern_id(&w->noted, lks_str_from(text), &id, &err) == LKS_OK && id < before;
}

void lks_libwalk_skip(struct lks_walk *w, const char *path, enum lks_code code, const char *why)
{
    struct lks_str where = w->where.len > 0 ? w->where : lks_str_from(w->place->pattern);
    struct lks_skip *known = find_skip(w, where, code);
    if (path[0] != '\0' && noted_before(w, path, code))
        return;
    if (known != NULL) {
        known->more++;
        return;
    }
    w->skips[w->skip_count++] = (struct lks_skip){
        .where = where,
        .code = code,
        .why = lks_arena_copy(w->arena, lks_str_from(code == LKS_E_DENIED ? "not permitted" : why)),
        .first = lks_arena_copy(w->arena, lks_str_from(path)),
    };
}

bool lks_libwalk_over(struct lks_walk *w)
{
    if (w->over)
        return true;
    if (w->directories >= w->limits.directories)
        snprintf(w->ended, sizeof(w->ended), "the search ended at its limit of %zu directories",
                 w->limits.directories);
    else if (w->entries >= w->limits.entries)
        snprintf(w->ended, sizeof(w->ended), "the search ended at its limit of %zu names",
                 w->limits.entries);
    else if (lks_clock_ms() >= w->until)
        snprintf(w->ended, sizeof(w->ended), "the search ended at its limit of %lld ms",
                 (long long)w->limits.ms);
    else
        return false;
    w->over = true;
    return true;
}

/* Steps -------------------------------------------------------------------------------------- */

static bool append(char path[LKS_ROOT_PATH_MAX], struct lks_str name)
{
    size_t len = strlen(path);
    if (len + 1 + name.len >= LKS_ROOT_PATH_MAX)
        return false;
    path[len] = '/';
    memcpy(path + len + 1, name.ptr, name.len);
    path[len + 1 + name.len] = '\0';
    return true;
}

/* One part up, but not out of the container. */
static void go_up(const struct lks_walk *w, char path[LKS_ROOT_PATH_MAX])
{
    char *slash = strrchr(path, '/');
    if (slash != NULL && (size_t)(slash - path) >= w->base.len)
        *slash = '\0';
}

/* OK for a link, whose target is written, INVALID for what is there and no link. */
static enum lks_code look(struct lks_walk *w, const char *path, char target[LKS_ROOT_PATH_MAX],
                          struct lks_err *err)
{
    const struct lks_remotefs_mount *m = lks_remotefs_of(&w->mounts, lks_str_from(path));
    if (m != NULL)
        return lks_fail(err, LKS_E_UNAVAILABLE,
                        "on a file system of type %" LKS_STR_FMT ", which is not searched",
                        LKS_STR_ARG(m->type));
    return lks_root_link(w->root, path, target, err);
}

/* Put the target of a link in place of the part it stood for. */
static bool follow(char rest[LKS_ROOT_PATH_MAX], const char *target)
{
    char joined[LKS_ROOT_PATH_MAX];
    int len = snprintf(joined, sizeof(joined), "%s/%s", target, rest);
    if (len < 0 || (size_t)len >= sizeof(joined) || !lks_str_printable(lks_str_from(target)))
        return false;
    memcpy(rest, joined, (size_t)len + 1);
    return true;
}

/* The first part of `rest`, taken off it. */
static struct lks_str take_part(char rest[LKS_ROOT_PATH_MAX], char name[LKS_ROOT_PATH_MAX])
{
    size_t start = strspn(rest, "/"), len = strcspn(rest + start, "/");
    memcpy(name, rest + start, len);
    memmove(rest, rest + start + len, strlen(rest + start + len) + 1);
    return (struct lks_str){name, len};
}

enum lks_code lks_libwalk_step(struct lks_walk *w, char path[LKS_ROOT_PATH_MAX],
                               struct lks_str more, struct lks_err *err)
{
    char rest[LKS_ROOT_PATH_MAX], target[LKS_ROOT_PATH_MAX], name[LKS_ROOT_PATH_MAX];
    if (more.len >= sizeof(rest))
        return lks_fail(err, LKS_E_LIMIT, "a path longer than %d bytes", LKS_ROOT_PATH_MAX);
    memcpy(rest, more.ptr, more.len);
    rest[more.len] = '\0';
    for (int links = 0; rest[0] != '\0';) {
        struct lks_str part = take_part(rest, name);
        size_t before = strlen(path);
        if (lks_str_is(part, ".."))
            go_up(w, path);
        if (part.len == 0 || lks_str_is(part, ".") || lks_str_is(part, ".."))
            continue;
        if (!append(path, part))
            return lks_fail(err, LKS_E_LIMIT, "a path longer than %d bytes", LKS_ROOT_PATH_MAX);
        enum lks_code code = look(w, path, target, err);
        if (code == LKS_E_INVALID)
            continue;
        if (code != LKS_OK)
            return code;
        if (++links > LKS_WALK_LINKS_MAX || !follow(rest, target))
            return lks_fail(err, LKS_E_INVALID, "%s: its links lead nowhere", path);
        path[target[0] == '/' ? w->base.len : before] = '\0';
    }
    return LKS_OK;
}

bool lks_libwalk_list(struct lks_walk *w, const char *path, struct lks_arena *arena,
                      struct lks_names *out)
{
    struct lks_err err;
    *out = (struct lks_names){0};
    if (lks_libwalk_over(w))
        return false;
    w->directories++;
    enum lks_code code = lks_root_list(w->root, path[0] == '\0' ? "/" : path, arena, out, &err);
    w->entries += out->count;
    if (code != LKS_OK && code != LKS_E_NOT_FOUND && code != LKS_E_INVALID)
        lks_libwalk_skip(w, path, code, err.msg);
    return code == LKS_OK;
}

/* Patterns ----------------------------------------------------------------------------------- */

struct expansion {
    struct lks_walk *w;
    lks_walk_fn *fn;
    void *ctx;
    bool whole; /* the pattern is that of the place, from its beginning */
};

static void expand(struct expansion *e, const char *path, struct lks_str pattern);

/* The pattern of the place up to its part that is being looked at, where `rest` comes behind that;
 * an empty view where another pattern is followed. */
static struct lks_str reached(const struct expansion *e, struct lks_str rest)
{
    const char *start = e->w->place->pattern;
    if (!e->whole)
        return (struct lks_str){0};
    return rest.len == 0 ? lks_str_from(start)
                         : (struct lks_str){start, (size_t)(rest.ptr - start) - 1};
}

static struct lks_str above(struct lks_str pattern)
{
    while (pattern.len > 0 && pattern.ptr[pattern.len - 1] != '/')
        pattern.len--;
    pattern.len -= pattern.len > 1;
    return pattern;
}

/* What did not let us in is the directory above. */
static void note_step(struct expansion *e, char path[LKS_ROOT_PATH_MAX], struct lks_str rest,
                      const struct lks_err *err)
{
    struct lks_walk *w = e->w;
    if (err->code == LKS_E_NOT_FOUND)
        return;
    w->where = reached(e, rest);
    if (err->code == LKS_E_DENIED) {
        go_up(w, path);
        w->where = above(w->where);
    }
    lks_libwalk_skip(w, path[0] != '\0' ? path : "/", err->code, err->msg);
    w->where = (struct lks_str){0};
}

static void expand_name(struct expansion *e, const char *from, struct lks_str name,
                        struct lks_str rest)
{
    char path[LKS_ROOT_PATH_MAX];
    struct lks_err err;
    snprintf(path, sizeof(path), "%s", from);
    if (lks_libwalk_over(e->w))
        return;
    if (lks_libwalk_step(e->w, path, name, &err) == LKS_OK)
        expand(e, path, rest);
    else
        note_step(e, path, rest, &err);
}

static void expand_star(struct expansion *e, const char *path, const char *part,
                        struct lks_str rest)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_names names;
    lks_arena_init(&arena, LKS_ROOT_NAMES_MAX);
    e->w->where = above(reached(e, rest));
    bool listed = lks_libwalk_list(e->w, path, &arena, &names);
    e->w->where = (struct lks_str){0};
    for (size_t i = 0; listed && i < names.count; i++) {
        char name[NAME_MAX + 1];
        snprintf(name, sizeof(name), "%" LKS_STR_FMT, LKS_STR_ARG(names.list[i]));
        if (fnmatch(part, name, FNM_PERIOD | FNM_NOESCAPE) == 0)
            expand_name(e, path, names.list[i], rest);
    }
}

/* Each of the alternatives in braces, or the part itself. */
static void expand_part(struct expansion *e, const char *path, struct lks_str part,
                        struct lks_str rest)
{
    struct lks_str before, list, after = {0}, choice;
    bool braces = lks_str_cut(part, '{', &before, &list) && lks_str_cut(list, '}', &list, &after);
    if (!braces)
        list = part;
    do {
        char name[NAME_MAX + 1];
        (void)lks_str_cut(list, ',', &choice, &list);
        snprintf(name, sizeof(name), "%" LKS_STR_FMT "%" LKS_STR_FMT "%" LKS_STR_FMT,
                 braces ? (int)before.len : 0, before.ptr, LKS_STR_ARG(choice), (int)after.len,
                 after.ptr);
        if (strchr(name, '*') != NULL)
            expand_star(e, path, name, rest);
        else
            expand_name(e, path, lks_str_from(name), rest);
    } while (list.len > 0);
}

static void expand(struct expansion *e, const char *path, struct lks_str pattern)
{
    struct lks_str part, rest;
    if (pattern.len == 0) {
        e->fn(e->ctx, path);
        return;
    }
    (void)lks_str_cut(pattern, '/', &part, &rest);
    expand_part(e, path, part, rest);
}

void lks_libwalk_expand(struct lks_walk *w, const char *path, struct lks_str pattern,
                        lks_walk_fn *fn, void *ctx)
{
    struct expansion e = {w, fn, ctx, pattern.ptr == w->place->pattern + 1 && w->base.len == 0};
    expand(&e, path, pattern);
    if (w->over)
        lks_libwalk_skip(w, "", LKS_E_LIMIT, w->ended);
}
