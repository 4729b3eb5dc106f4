#include "codec/package/containerd.h"

#include "base/vec.h"
#include "codec/format/digest.h"
#include "codec/format/leb128.h"

#include <stdlib.h>

/* Lists that a walk fills ---------------------------------------------------------------------- */

struct filling {
    struct lks_arena *arena;
    const char *source;
    struct lks_image_name *names;
    struct lks_containerd_snapshot *snapshots;
    struct lks_containerd_number *numbers;
    size_t count, room;
    size_t left;
};

static enum lks_code full(const struct filling *f, size_t most, const char *what,
                          struct lks_err *err)
{
    if (f->count < most)
        return LKS_OK;
    return lks_fail(err, LKS_E_LIMIT, "%s: has more than %zu %s", f->source, most, what);
}

/* Whether it is a text of containerd's that we take. */
static bool is_key(struct lks_str s)
{
    return s.len > 0 && s.len <= LKS_CONTAINERD_KEY_MAX && lks_str_printable(s);
}

/* Copies of what `list` points to, up to the first NULL. */
static enum lks_code keep(struct lks_arena *arena, struct lks_str *const *list, struct lks_err *err)
{
    for (; *list != NULL; list++) {
        **list = lks_arena_copy(arena, **list);
        if ((*list)->ptr == NULL)
            return lks_arena_fail(arena, err);
    }
    return LKS_OK;
}

/* Images ------------------------------------------------------------------------------------- */

/* v1 / NAMESPACE / images / NAME / target / digest */
static enum lks_code take_name(void *ctx, const struct lks_str *keys, struct lks_str value,
                               struct lks_err *err)
{
    struct filling *f = ctx;
    struct lks_image_name n = {.name = keys[3], .digest = value, .id = keys[1]};
    if (full(f, LKS_CONTAINERD_NAMES_MAX, "names of images", err) != LKS_OK)
        return err->code;
    if (lks_digest_valid(n.name))
        return LKS_OK;
    if (!is_key(n.id) || !lks_digest_valid(n.digest) || !lks_imagestore_name(n.name)) {
        f->left++;
        return LKS_OK;
    }
    if (keep(f->arena, (struct lks_str *const[]){&n.name, &n.digest, &n.id, NULL}, err) != LKS_OK ||
        LKS_VEC_RESERVE_IN(f->arena, f->names, f->room, f->count + 1, err) != LKS_OK)
        return err->code;
    f->names[f->count++] = n;
    return LKS_OK;
}

static int by_digest(const void *left, const void *right)
{
    const struct lks_image_name *a = left, *b = right;
    int order = lks_str_cmp(a->id, b->id);
    if (order == 0)
        order = lks_str_cmp(a->digest, b->digest);
    return order != 0 ? order : lks_str_cmp(a->name, b->name);
}

static bool is_same_image(const struct lks_image_name *a, const struct lks_image_name *b)
{
    return lks_str_eq(a->id, b->id) && lks_str_eq(a->digest, b->digest);
}

static bool is_tag(const struct lks_image_name *n)
{
    return lks_str_find(n->name, LKS_STR("@")) < 0;
}

/* An image that a namespace knows by tags goes without its names by digest. */
static void drop_digests(struct lks_image_names *names)
{
    size_t count = 0;
    if (names->count > 0)
        qsort(names->list, names->count, sizeof(names->list[0]), by_digest);
    for (size_t first = 0, end = 0; first < names->count; first = end) {
        bool tagged = false;
        for (end = first;
             end < names->count && is_same_image(&names->list[first], &names->list[end]); end++)
            tagged = tagged || is_tag(&names->list[end]);
        for (size_t i = first; i < end; i++) {
            if (!tagged || is_tag(&names->list[i]))
                names->list[count++] = names->list[i];
        }
    }
    names->count = count;
    if (count > LKS_IMAGESTORE_IMAGES_MAX) {
        names->left += count - LKS_IMAGESTORE_IMAGES_MAX;
        names->count = LKS_IMAGESTORE_IMAGES_MAX;
    }
}

static enum lks_code read_images(struct lks_bolt *bolt, struct lks_arena *arena,
                                 struct lks_image_names *out, struct lks_err *err)
{
    static const struct lks_bolt_path path = {{"v1", NULL, "images", NULL, "target", "digest"}, 6};
    struct filling f = {.arena = arena, .source = bolt->file.source};
    if (lks_bolt_walk(bolt, &path, take_name, &f, err) != LKS_OK)
        return err->code;
    *out = (struct lks_image_names){.list = f.names, .count = f.count, .left = f.left};
    drop_digests(out);
    return LKS_OK;
}

/* Snapshots ---------------------------------------------------------------------------------- */

/* v1 / NAMESPACE / snapshots / SNAPSHOTTER / KEY / name. Other keys are those of containers. */
static enum lks_code take_snapshot(void *ctx, const struct lks_str *keys, struct lks_str value,
                                   struct lks_err *err)
{
    struct filling *f = ctx;
    if (full(f, LKS_CONTAINERD_SNAPSHOTS_MAX, "snapshots", err) != LKS_OK)
        return err->code;
    struct lks_containerd_snapshot s = {keys[1], keys[3], lks_str_last(keys[4], ':'), value};
    if (!lks_digest_valid(keys[4]) || !is_key(s.space) || !is_key(s.snapshotter) || !is_key(s.name))
        return LKS_OK;
    struct lks_str *const texts[] = {&s.space, &s.snapshotter, &s.chain, &s.name, NULL};
    if (keep(f->arena, texts, err) != LKS_OK ||
        LKS_VEC_RESERVE_IN(f->arena, f->snapshots, f->room, f->count + 1, err) != LKS_OK)
        return err->code;
    f->snapshots[f->count++] = s;
    return LKS_OK;
}

static int by_chain(const void *left, const void *right)
{
    const struct lks_containerd_snapshot *a = left, *b = right;
    int order = lks_str_cmp(a->chain, b->chain);
    if (order == 0)
        order = lks_str_cmp(a->space, b->space);
    return order != 0 ? order : lks_str_cmp(a->snapshotter, b->snapshotter);
}

enum lks_code lks_containerd_meta(struct lks_bolt *bolt, struct lks_arena *arena,
                                  struct lks_containerd_meta *out, struct lks_err *err)
{
    static const struct lks_bolt_path path = {{"v1", NULL, "snapshots", NULL, NULL, "name"}, 6};
    struct filling f = {.arena = arena, .source = bolt->file.source};
    struct lks_image_names images;
    if (read_images(bolt, arena, &images, err) != LKS_OK ||
        lks_bolt_walk(bolt, &path, take_snapshot, &f, err) != LKS_OK)
        return err->code;
    if (f.count > 0)
        qsort(f.snapshots, f.count, sizeof(f.snapshots[0]), by_chain);
    *out = (struct lks_containerd_meta){images, f.snapshots, f.count};
    return LKS_OK;
}

const struct lks_containerd_snapshot *lks_containerd_find(const struct lks_containerd_meta *meta,
                                                          struct lks_str space,
                                                          struct lks_str snapshotter,
                                                          struct lks_str chain)
{
    const struct lks_containerd_snapshot key = {space, snapshotter, chain, {0}};
    if (meta->count == 0)
        return NULL;
    return bsearch(&key, meta->snapshots, meta->count, sizeof(key), by_chain);
}

/* Numbers ------------------------------------------------------------------------------------ */

/* v1 / snapshots / NAME / id */
static enum lks_code take_number(void *ctx, const struct lks_str *keys, struct lks_str value,
                                 struct lks_err *err)
{
    struct filling *f = ctx;
    struct lks_containerd_number n = {.name = keys[2]};
    if (full(f, LKS_CONTAINERD_SNAPSHOTS_MAX, "snapshots", err) != LKS_OK)
        return err->code;
    if (!is_key(n.name) || !lks_leb128_take(&value, &n.number) || value.len > 0)
        return LKS_OK;
    if (keep(f->arena, (struct lks_str *const[]){&n.name, NULL}, err) != LKS_OK ||
        LKS_VEC_RESERVE_IN(f->arena, f->numbers, f->room, f->count + 1, err) != LKS_OK)
        return err->code;
    f->numbers[f->count++] = n;
    return LKS_OK;
}

enum lks_code lks_containerd_numbers(struct lks_bolt *bolt, struct lks_arena *arena,
                                     struct lks_containerd_numbers *out, struct lks_err *err)
{
    static const struct lks_bolt_path path = {{"v1", "snapshots", NULL, "id"}, 4};
    struct filling f = {.arena = arena, .source = bolt->file.source};
    if (lks_bolt_walk(bolt, &path, take_number, &f, err) != LKS_OK)
        return err->code;
    *out = (struct lks_containerd_numbers){f.numbers, f.count}; /* as the walk, sorted by name */
    return LKS_OK;
}

static int by_name(const void *left, const void *right)
{
    const struct lks_containerd_number *a = left, *b = right;
    return lks_str_cmp(a->name, b->name);
}

bool lks_containerd_number_of(const struct lks_containerd_numbers *numbers, struct lks_str name,
                              uint64_t *out)
{
    const struct lks_containerd_number key = {.name = name}, *found = NULL;
    if (numbers->count > 0)
        found = bsearch(&key, numbers->list, numbers->count, sizeof(key), by_name);
    if (found != NULL)
        *out = found->number;
    return found != NULL;
}

/* Manifests ---------------------------------------------------------------------------------- */

static enum lks_code take_index(const char *source, const struct lks_doc *all,
                                struct lks_arena *arena, struct lks_containerd_manifest *out,
                                struct lks_err *err)
{
    if (all->count > LKS_CONTAINERD_MANIFESTS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%s: an index of more than %d manifests", source,
                        LKS_CONTAINERD_MANIFESTS_MAX);
    out->list = lks_arena_array(arena, all->count + 1, sizeof(out->list[0]));
    if (out->list == NULL)
        return lks_arena_fail(arena, err);
    for (const struct lks_doc *m = all->first; m != NULL; m = m->next) {
        struct lks_str *digest = &out->list[out->count];
        *digest = lks_doc_text(m, "digest");
        if (!lks_digest_valid(*digest))
            return lks_fail(err, LKS_E_INVALID, "%s: a manifest without a digest", source);
        if (keep(arena, (struct lks_str *const[]){digest, NULL}, err) != LKS_OK)
            return err->code;
        out->count++;
    }
    return LKS_OK;
}

enum lks_code lks_containerd_manifest(const char *source, struct lks_str json,
                                      struct lks_arena *arena, struct lks_containerd_manifest *out,
                                      struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_containerd_manifest m = {0};
    if (lks_imagestore_json(source, json, &docs, err) != LKS_OK)
        return err->code;
    const struct lks_doc *all = lks_doc_member(docs.first, "manifests");
    m.config = lks_doc_text(lks_doc_member(docs.first, "config"), "digest");
    if (all != NULL && all->kind == LKS_DOC_LIST) {
        m.config = LKS_STR("");
        if (take_index(source, all, arena, &m, err) != LKS_OK)
            return err->code;
    } else if (!lks_digest_valid(m.config)) {
        return lks_fail(err, LKS_E_INVALID, "%s: has neither a configuration nor manifests",
                        source);
    } else if (keep(arena, (struct lks_str *const[]){&m.config, NULL}, err) != LKS_OK) {
        return err->code;
    }
    *out = m;
    return LKS_OK;
}

/* config.toml -------------------------------------------------------------------------------- */

/* A path that can stand in a pattern of libplaces.h. */
static bool is_root(struct lks_str path)
{
    struct lks_str rest = path, part;
    if (path.len < 2 || path.len > LKS_CONTAINERD_KEY_MAX || path.ptr[0] != '/' ||
        !lks_str_printable(path) || lks_str_ends(path, "/"))
        return false;
    (void)lks_str_cut(rest, '/', &part, &rest);
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '/', &part, &rest);
        if (part.len == 0 || lks_str_is(part, ".") || lks_str_is(part, ".."))
            return false;
    }
    for (size_t i = 0; i < path.len; i++) {
        if (strchr("*?[]{},\\\"'", path.ptr[i]) != NULL)
            return false;
    }
    return true;
}

/* The text in quotes of `value`, which a remark may follow. */
static bool unquote(struct lks_str value, struct lks_str *out)
{
    struct lks_str rest;
    if (value.len < 2 || (value.ptr[0] != '"' && value.ptr[0] != '\''))
        return false;
    struct lks_str inner = {value.ptr + 1, value.len - 1};
    if (!lks_str_cut(inner, value.ptr[0], out, &rest))
        return false;
    rest = lks_str_trim(rest);
    return rest.len == 0 || rest.ptr[0] == '#';
}

enum lks_code lks_containerd_root(const char *source, struct lks_str toml, struct lks_str *out,
                                  struct lks_err *err)
{
    struct lks_str rest = toml, line, key, value, root;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        line = lks_str_trim(line);
        if (lks_str_starts(line, "["))
            break; /* keys of the file itself stand before its first table */
        if (!lks_str_cut(line, '=', &key, &value) || !lks_str_is(lks_str_trim(key), "root"))
            continue;
        if (!unquote(lks_str_trim(value), &root))
            return lks_fail(err, LKS_E_INVALID, "%s: root is no text in quotes", source);
        while (root.len > 1 && lks_str_ends(root, "/"))
            root.len--;
        if (!is_root(root))
            return lks_fail(err, LKS_E_INVALID,
                            "%s: root is no absolute path of plain names: its images are not read",
                            source);
        *out = root;
        return LKS_OK;
    }
    return lks_fail(err, LKS_E_NOT_FOUND, "%s: does not set root", source);
}
