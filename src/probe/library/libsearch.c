#include "probe/library/libsearch.h"

#include "probe/library/libcontainerd.h"
#include "probe/library/libread.h"
#include "probe/library/loader.h"
#include "probe/library/processes.h"

#include <stdio.h>

const struct lks_walk_limits lks_libsearch_limits = {
    .directories = 65536,
    .entries = (size_t)4 << 20,
    .ms = 15000,
};

#define DIRS_BYTES_MAX ((size_t)16 << 20)
#define SEEN_SLOTS     4096 /* a power of two, more than there can be copies */
_Static_assert(SEEN_SLOTS >= 2 * LKS_LIBSEARCH_COPIES_MAX, "half of the slots stay free");

struct lks_seen {
    uint64_t device, inode;
    bool taken, shadow;
};

void lks_libsearch_init(struct lks_libsearch *s, struct lks_root *root, struct lks_arena *arena,
                        const struct lks_walk_limits *limits)
{
    *s = (struct lks_libsearch){.root = root, .arena = arena};
    s->limits = limits != NULL ? *limits : lks_libsearch_limits;
}

void lks_libsearch_fini(struct lks_libsearch *s)
{
    lks_intern_fini(&s->dirs);
    lks_libwalk_fini(&s->walk);
    *s = (struct lks_libsearch){0};
}

bool lks_libsearch_cut_short(const struct lks_libsearch *s)
{
    return s->walk.over;
}

/* Findings ----------------------------------------------------------------------------------- */

/* Six fields, a tab behind each: what it is, kind, name, users, path, of where that is another.
 * Where something was left out name is the place and users the reason. No text in it has a tab:
 * all of them print. */
static void record(struct lks_libsearch *s, const char *what, struct lks_str name,
                   struct lks_str users, struct lks_str path, struct lks_str of)
{
    lks_buf_addf(s->out, "%s\t%s\t", what, lks_libplace_kind_name(s->kind));
    const struct lks_str fields[] = {name, users, path, of};
    for (size_t i = 0; i < LKS_COUNT(fields); i++) {
        lks_buf_add(s->out, fields[i]);
        lks_buf_addc(s->out, '\t');
    }
}

static bool seen_before(struct lks_libsearch *s, const struct stat *st, bool shadow)
{
    uint64_t device = (uint64_t)st->st_dev, inode = (uint64_t)st->st_ino;
    size_t at = (size_t)((device * 31 + inode) * UINT64_C(0x9e3779b97f4a7c15) >> 40);
    for (;; at++) {
        struct lks_seen *slot = &s->seen[at % SEEN_SLOTS];
        if (!slot->taken) {
            *slot = (struct lks_seen){device, inode, true, shadow};
            return false;
        }
        if (slot->device == device && slot->inode == inode && slot->shadow == shadow)
            return true;
    }
}

static void found(struct lks_libsearch *s, const char *name, const char *path,
                  const struct stat *st, bool shadow)
{
    if (s->copies == LKS_LIBSEARCH_COPIES_MAX) {
        lks_libwalk_skip(&s->walk, path, LKS_E_REFUSED, "more copies than are kept");
        return;
    }
    if (st != NULL && seen_before(s, st, shadow))
        return;
    s->copies++;
    record(s, shadow ? "shadow" : "copy", lks_str_from(name), (struct lks_str){0},
           lks_str_from(path), (struct lks_str){0});
}

static bool has_part(const char *path, const char *part)
{
    size_t len = strlen(part);
    for (const char *at = path; (at = strstr(at, part)) != NULL; at++) {
        if (at > path && at[-1] == '/' && at[len] == '/')
            return true;
    }
    return false;
}

/* The driver's own libraries belong to the host. In an image or environment they hide those that
 * come with the kernel module; the forward compatibility of CUDA does so only where the loader was
 * told of it. What is empty is a place to mount the real one on. */
static void found_driver(struct lks_libsearch *s, const struct lks_libver_kind *kind,
                         const char *path, const struct stat *st)
{
    bool compat = has_part(path, "compat");
    bool host = s->kind == LKS_PLACE_SYSTEM || s->kind == LKS_PLACE_CUDA;
    if (st->st_size == 0)
        return;
    if (compat && strcmp(kind->stem, "libcuda") == 0)
        found(s, "cuda-compat", path, st, false);
    if (compat ? s->told : !host)
        found(s, kind->stem, path, st, true);
}

/* A device stands for what a layer removes from those below: one may have many names there. */
static void look_at(struct lks_libsearch *s, const char *dir, struct lks_str name)
{
    char path[LKS_ROOT_PATH_MAX];
    struct stat st;
    struct lks_err err;
    const struct lks_libver_kind *kind = lks_libread_kind(name);
    if (kind == NULL)
        return;
    snprintf(path, sizeof(path), "%s", dir);
    enum lks_code code = lks_libwalk_step(&s->walk, path, name, &err);
    if (code == LKS_OK)
        code = lks_root_stat(s->root, path, &st, &err);
    if (code == LKS_E_INVALID && !lks_libread_is_driver(kind)) {
        snprintf(path, sizeof(path), "%s/%" LKS_STR_FMT, dir, LKS_STR_ARG(name));
        found(s, kind->component, path, NULL, false);
    } else if (code != LKS_OK && code != LKS_E_NOT_FOUND) {
        lks_libwalk_skip(&s->walk, path, code, err.msg);
    }
    if (code != LKS_OK || S_ISDIR(st.st_mode) || has_part(path, "stubs"))
        return;
    if (lks_libread_is_driver(kind))
        found_driver(s, kind, path, &st);
    else
        found(s, kind->component, path, S_ISCHR(st.st_mode) ? NULL : &st, false);
}

/* Places ------------------------------------------------------------------------------------- */

/* Whether this is the first time that `path` is met as a `role`. */
static bool first_time(struct lks_libsearch *s, char role, const char *path)
{
    char text[LKS_ROOT_PATH_MAX + 2];
    uint32_t id, before = lks_intern_count(&s->dirs);
    struct lks_err err;
    snprintf(text, sizeof(text), "%c%s", role, path);
    return lks_intern_id(&s->dirs, lks_str_from(text), &id, &err) != LKS_OK || id >= before;
}

static bool is_conda(struct lks_libsearch *s, const char *environment)
{
    char path[LKS_ROOT_PATH_MAX + 16];
    snprintf(path, sizeof(path), "%s/conda-meta", environment);
    return lks_root_exists(s->root, path);
}

/* The libraries of a Conda environment are Python's, wherever it is. */
static bool is_condas(struct lks_libsearch *s, const char *dir)
{
    char path[LKS_ROOT_PATH_MAX];
    snprintf(path, sizeof(path), "%s", dir);
    char *slash = strrchr(path, '/');
    if (slash != NULL)
        *slash = '\0';
    return is_conda(s, path);
}

static void visit(void *ctx, const char *dir)
{
    struct lks_libsearch *s = ctx;
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_names names;
    lks_arena_init(&arena, LKS_ROOT_NAMES_MAX);
    if (s->walk.place->kind == LKS_PLACE_SYSTEM && is_condas(s, dir))
        return;
    if (!first_time(s, s->told ? 't' : 'd', dir) ||
        !lks_libwalk_list(&s->walk, dir, &arena, &names))
        return;
    for (size_t i = 0; i < names.count; i++)
        look_at(s, dir, names.list[i]);
}

static void visit_told(void *ctx, const char *dir)
{
    struct lks_libsearch *s = ctx;
    s->told = true;
    visit(ctx, dir);
    s->told = false;
}

static void visit_packages(void *ctx, const char *packages)
{
    struct lks_libsearch *s = ctx;
    for (size_t i = 0; i < lks_wheel_place_count; i++)
        lks_libwalk_expand(&s->walk, packages, lks_str_from(lks_wheel_places[i]), visit, s);
}

static void visit_environment(void *ctx, const char *environment)
{
    struct lks_libsearch *s = ctx;
    if (!first_time(s, 'e', environment))
        return;
    for (size_t i = 0; i < lks_conda_place_count && is_conda(s, environment); i++)
        lks_libwalk_expand(&s->walk, environment, lks_str_from(lks_conda_places[i]), visit, s);
    lks_libwalk_expand(&s->walk, environment, LKS_STR(LKS_PYTHON_PACKAGES), visit_packages, s);
}

static void visit_layer(void *ctx, const char *layer);

static lks_walk_fn *const visitors[] = {visit, visit, visit_environment, visit_layer};
_Static_assert(LKS_COUNT(visitors) == LKS_PLACE_PROCESS, "a visitor for each kind with a table");

/* Whether the top of a layer has what a pattern begins with: most layers have little in them. */
static bool begins_in(const struct lks_names *top, const char *pattern)
{
    struct lks_str part, rest;
    (void)lks_str_cut(lks_str_from(pattern + 1), '/', &part, &rest);
    bool any = lks_str_find(part, LKS_STR("*")) >= 0 || lks_str_find(part, LKS_STR("{")) >= 0;
    for (size_t i = 0; i < top->count && !any; i++)
        any = lks_str_eq(top->list[i], part);
    return any;
}

static void visit_layer(void *ctx, const char *layer)
{
    struct lks_libsearch *s = ctx;
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_names top;
    lks_arena_init(&arena, LKS_ROOT_NAMES_MAX);
    if (s->layers == LKS_LIBSEARCH_LAYERS_MAX) {
        lks_libwalk_skip(&s->walk, layer, LKS_E_REFUSED, "more layers than are searched");
        return;
    }
    if (!first_time(s, 'l', layer) || !lks_libwalk_list(&s->walk, layer, &arena, &top))
        return;
    s->layers++;
    s->walk.base = lks_str_from(layer);
    if (begins_in(&top, lks_place_loader.pattern))
        lks_loader_conf(&s->walk, visit_told, s);
    for (size_t i = 0; i < lks_place_count; i++) {
        const struct lks_place *place = &lks_places[i];
        if (place->kind != LKS_PLACE_CONTAINER && begins_in(&top, place->pattern))
            lks_libwalk_expand(&s->walk, layer, lks_str_from(place->pattern + 1),
                               visitors[place->kind], s);
    }
    s->walk.base = (struct lks_str){0};
}

static void search_places(struct lks_libsearch *s)
{
    for (size_t i = 0; i < lks_place_count; i++) {
        if (lks_places[i].kind != s->kind)
            continue;
        s->walk.place = &lks_places[i];
        lks_libwalk_expand(&s->walk, "", lks_str_from(lks_places[i].pattern + 1), visitors[s->kind],
                           s);
    }
    if (s->kind == LKS_PLACE_SYSTEM) {
        s->walk.place = &lks_place_loader;
        lks_loader_conf(&s->walk, visit_told, s);
    }
    if (s->kind == LKS_PLACE_CONTAINER && s->containerd.pattern != NULL) {
        s->walk.place = &s->containerd;
        lks_libwalk_expand(&s->walk, "", lks_str_from(s->containerd.pattern + 1), visit_layer, s);
    }
}

static bool processes_over(void *ctx)
{
    struct lks_libsearch *s = ctx;
    return lks_libwalk_over(&s->walk);
}

static void skip_processes(struct lks_libsearch *s, enum lks_code code, size_t n, const char *what)
{
    char why[96];
    snprintf(why, sizeof(why), "%zu %s", n, what);
    if (n > 0)
        lks_libwalk_skip(&s->walk, "", code, why);
}

static void search_processes(struct lks_libsearch *s)
{
    struct lks_processes all = {0};
    struct lks_err err;
    s->walk.place = &lks_place_processes;
    if (lks_processes_read(s->root, s->arena, processes_over, s, &all, &err) != LKS_OK)
        lks_libwalk_skip(&s->walk, "/proc", err.code, err.msg);
    for (size_t i = 0; i < all.count; i++) {
        const struct lks_mapped *m = &all.list[i];
        char users[96];
        if (m->users == 1)
            snprintf(users, sizeof(users), "process %ld", (long)m->first);
        else
            snprintf(users, sizeof(users), "%zu processes, the first %ld", m->users,
                     (long)m->first);
        struct lks_str of = lks_str_eq(m->of, m->path) ? LKS_STR("") : m->of;
        record(s, "copy", m->name, lks_str_from(users), m->path, of);
    }
    skip_processes(s, LKS_E_UNAVAILABLE, all.denied, "processes of others were not readable");
    skip_processes(s, LKS_E_INVALID, all.large,
                   "processes have more open files or mappings than are inspected");
    skip_processes(s, LKS_E_REFUSED, all.dropped, "mapped libraries more than are kept");
    if (s->walk.over)
        lks_libwalk_skip(&s->walk, "", LKS_E_LIMIT, s->walk.ended);
}

/* Asking ------------------------------------------------------------------------------------- */

static enum lks_code begin(struct lks_libsearch *s, struct lks_err *err)
{
    if (s->walking)
        return LKS_OK;
    s->seen = lks_arena_array(s->arena, SEEN_SLOTS, sizeof(*s->seen));
    if (s->seen == NULL)
        return lks_arena_fail(s->arena, err);
    if (lks_libwalk_init(&s->walk, s->root, s->arena, &s->limits, err) != LKS_OK)
        return err->code;
    lks_intern_init(&s->dirs, DIRS_BYTES_MAX);
    s->walking = true;
    return LKS_OK;
}

/* "not permitted: /home/ada and 36 more"; a reason that names the path needs no more of it. */
static void record_skip(struct lks_libsearch *s, const struct lks_skip *skip)
{
    char why[LKS_ROOT_PATH_MAX + LKS_ERR_MSG_MAX], more[32] = "";
    bool named = skip->first.len == 0 || lks_str_find(skip->why, skip->first) >= 0;
    if (skip->more > 0)
        snprintf(more, sizeof(more), " and %zu more", skip->more);
    snprintf(why, sizeof(why), "%" LKS_STR_FMT "%s%" LKS_STR_FMT "%s", LKS_STR_ARG(skip->why),
             named ? "" : ": ", named ? 0 : (int)skip->first.len, skip->first.ptr, more);
    record(s, "skip", skip->where, lks_str_from(why), (struct lks_str){0}, (struct lks_str){0});
}

static enum lks_code search_now(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    struct lks_libsearch *s = ctx;
    if (begin(s, err) != LKS_OK)
        return err->code;
    s->out = out;
    s->walk.skip_count = 0;
    if (s->kind == LKS_PLACE_PROCESS)
        search_processes(s);
    else
        search_places(s);
    for (size_t i = 0; i < s->walk.skip_count; i++)
        record_skip(s, &s->walk.skips[i]);
    return lks_buf_check(out, err);
}

/* The layers of a containerd whose root is configured. A failure is told with its images. */
static void find_containerd(struct lks_libsearch *s)
{
    struct lks_str top;
    struct lks_err err = {0};
    if (lks_libcontainerd_root(s->root, s->arena, &top, &err) == LKS_OK)
        s->containerd = (struct lks_place){
            LKS_PLACE_CONTAINER,
            lks_arena_format(s->arena, "%" LKS_STR_FMT LKS_LIBCONTAINERD_PLACES, LKS_STR_ARG(top))
                .ptr,
            "layers of containerd"};
}

enum lks_code lks_libsearch_kind(struct lks_libsearch *s, enum lks_place_kind kind,
                                 struct lks_findings *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(LKS_LIBSEARCH_BYTES_MAX);
    s->kind = kind;
    if (kind == LKS_PLACE_CONTAINER)
        find_containerd(s);
    if (lks_libwalk_ask(s->root, "search", lks_libplace_kind_name(kind), search_now, s, &answer,
                        err) != LKS_OK)
        return err->code;
    return lks_libsearch_findings_parse(lks_buf_view(&answer), s->arena, out, err);
}

static bool kind_of(struct lks_str word, enum lks_place_kind *out)
{
    for (int i = 0; i < LKS_PLACE_KIND_COUNT; i++) {
        if (lks_str_is(word, lks_libplace_kind_name((enum lks_place_kind)i))) {
            *out = (enum lks_place_kind)i;
            return true;
        }
    }
    return false;
}

/* What a line of six fields says; false where it makes no sense. */
static bool take_fields(struct lks_findings *f, const struct lks_str field[6])
{
    enum lks_place_kind kind;
    bool shadow = lks_str_is(field[0], "shadow");
    if (!kind_of(field[1], &kind) || field[2].len == 0)
        return false;
    if (lks_str_is(field[0], "skip")) {
        f->left_out[f->left_out_count++] = (struct lks_left_out){field[2], field[3]};
        return true;
    }
    f->list[f->count++] = (struct lks_found){
        kind, shadow, field[2], field[4], field[5].len > 0 ? field[5] : field[4], field[3]};
    return (shadow || lks_str_is(field[0], "copy")) && field[4].len > 0 && field[4].ptr[0] == '/';
}

enum lks_code lks_libsearch_findings_parse(struct lks_str text, struct lks_arena *arena,
                                           struct lks_findings *out, struct lks_err *err)
{
    struct lks_findings f = {0};
    struct lks_str rest = lks_arena_copy(arena, text);
    size_t room = 1;
    for (size_t i = 0; i < text.len; i++)
        room += text.ptr[i] == '\t';
    room = room / 6 + 1;
    f.list = lks_arena_array(arena, room, sizeof(*f.list));
    f.left_out = lks_arena_array(arena, room, sizeof(*f.left_out));
    if (rest.ptr == NULL || f.list == NULL || f.left_out == NULL)
        return lks_arena_fail(arena, err);
    while (rest.len > 0) {
        struct lks_str field[6];
        bool ok = true;
        for (size_t i = 0; i < LKS_COUNT(field) && ok; i++)
            ok = lks_str_cut(rest, '\t', &field[i], &rest);
        if (!ok || !take_fields(&f, field))
            return lks_fail(err, LKS_E_INVALID, "the recorded findings are damaged");
    }
    *out = f;
    return LKS_OK;
}
