#include "codec/package/imagestore.h"

#include "codec/format/digest.h"
#include "codec/format/json.h"

#include <stdlib.h>

bool lks_imagestore_id(struct lks_str s)
{
    bool good = s.len == LKS_IMAGESTORE_ID_LEN;
    for (size_t i = 0; i < s.len && good; i++)
        good = (s.ptr[i] >= '0' && s.ptr[i] <= '9') || (s.ptr[i] >= 'a' && s.ptr[i] <= 'f');
    return good;
}

bool lks_imagestore_name(struct lks_str s)
{
    return s.len > 0 && s.len <= LKS_IMAGESTORE_NAME_MAX && lks_str_printable(s) &&
           lks_str_find(s, LKS_STR(" ")) < 0;
}

enum lks_code lks_imagestore_json(const char *source, struct lks_str json, struct lks_docs *docs,
                                  struct lks_err *err)
{
    if (json.len > LKS_IMAGESTORE_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%s: more than %zu bytes", source,
                        LKS_IMAGESTORE_BYTES_MAX);
    if (lks_docs_init(docs, source, err) != LKS_OK)
        return err->code;
    return lks_json_parse(json, docs, err);
}

/* Names -------------------------------------------------------------------------------------- */

/* What follows the '@' of a name; empty where it has none. */
static struct lks_str digest_in(struct lks_str name)
{
    struct lks_str head, digest;
    return lks_str_cut(name, '@', &head, &digest) && lks_digest_valid(digest) ? digest
                                                                              : LKS_STR("");
}

static bool is_tag(struct lks_str name)
{
    return lks_str_find(name, LKS_STR("@")) < 0;
}

static enum lks_code begin_names(struct lks_arena *arena, struct lks_image_names *names,
                                 struct lks_err *err)
{
    *names = (struct lks_image_names){0};
    names->list = lks_arena_array(arena, LKS_IMAGESTORE_IMAGES_MAX, sizeof(names->list[0]));
    return names->list == NULL ? lks_arena_fail(arena, err) : LKS_OK;
}

static enum lks_code add_name(struct lks_arena *arena, struct lks_image_names *names,
                              struct lks_image_name image, struct lks_err *err)
{
    if (names->count == LKS_IMAGESTORE_IMAGES_MAX || !lks_imagestore_name(image.name)) {
        names->left++;
        return LKS_OK;
    }
    struct lks_image_name copy = {
        lks_arena_copy(arena, image.name),
        lks_arena_copy(arena, image.digest),
        lks_arena_copy(arena, image.id),
    };
    if (copy.name.ptr == NULL || copy.digest.ptr == NULL || copy.id.ptr == NULL)
        return lks_arena_fail(arena, err);
    names->list[names->count++] = copy;
    return LKS_OK;
}

/* A list that a store keeps of its images. */
struct list_kind {
    const char *member; /* NULL: all of the document */
    enum lks_doc_kind kind;
    const char *missing;
    enum lks_code (*add)(const struct lks_doc *entry, struct lks_arena *arena,
                         struct lks_image_names *names, struct lks_err *err);
};

static enum lks_code read_list(const struct list_kind *list, const char *source,
                               struct lks_str json, struct lks_arena *arena,
                               struct lks_image_names *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_image_names names;
    if (lks_imagestore_json(source, json, &docs, err) != LKS_OK ||
        begin_names(arena, &names, err) != LKS_OK)
        return err->code;
    const struct lks_doc *all =
        list->member != NULL ? lks_doc_member(docs.first, list->member) : docs.first;
    if (all == NULL || all->kind != list->kind)
        return lks_fail(err, LKS_E_INVALID, "%s: %s", source, list->missing);
    for (const struct lks_doc *entry = all->first; entry != NULL; entry = entry->next) {
        if (list->add(entry, arena, &names, err) != LKS_OK)
            return err->code;
    }
    *out = names;
    return LKS_OK;
}

/* Docker ------------------------------------------------------------------------------------- */

/* The digest in the name itself, else the first by which the repository knows the same image. */
static struct lks_str digest_of(const struct lks_doc *repository, const struct lks_doc *image)
{
    struct lks_str digest = digest_in(image->key);
    for (const struct lks_doc *m = repository->first; m != NULL && digest.len == 0; m = m->next) {
        if (lks_str_eq(m->text, image->text))
            digest = digest_in(m->key);
    }
    return digest;
}

static bool has_tag(const struct lks_doc *repository, struct lks_str id)
{
    for (const struct lks_doc *m = repository->first; m != NULL; m = m->next) {
        if (is_tag(m->key) && lks_str_eq(m->text, id))
            return true;
    }
    return false;
}

/* Members are "NAME:TAG" or "NAME@DIGEST", and the id of the image. */
static enum lks_code add_repository(const struct lks_doc *repository, struct lks_arena *arena,
                                    struct lks_image_names *names, struct lks_err *err)
{
    enum lks_code code = LKS_OK;
    if (repository->kind != LKS_DOC_MAP || repository->count > LKS_IMAGESTORE_NAMES_MAX) {
        names->left++;
        return LKS_OK;
    }
    for (const struct lks_doc *m = repository->first; m != NULL && code == LKS_OK; m = m->next) {
        if (!lks_digest_valid(m->text))
            names->left++;
        else if (is_tag(m->key) || !has_tag(repository, m->text))
            code =
                add_name(arena, names,
                         (struct lks_image_name){m->key, digest_of(repository, m), m->text}, err);
    }
    return code;
}

enum lks_code lks_imagestore_docker(const char *source, struct lks_str json,
                                    struct lks_arena *arena, struct lks_image_names *out,
                                    struct lks_err *err)
{
    static const struct list_kind repositories = {"Repositories", LKS_DOC_MAP,
                                                  "has no map of repositories", add_repository};
    return read_list(&repositories, source, json, arena, out, err);
}

/* A chain is known by the digest of "CHAIN-BELOW DIFF"; the lowest is its own diff. */
static enum lks_code chain(struct lks_str diff, char digest[LKS_DIGEST_SIZE], bool lowest,
                           struct lks_err *err)
{
    char text[2 * LKS_DIGEST_SIZE];
    LKS_ASSERT(diff.len == LKS_DIGEST_SIZE - 1);
    if (lowest) {
        memcpy(digest, diff.ptr, diff.len);
        digest[diff.len] = '\0';
        return LKS_OK;
    }
    memcpy(text, digest, diff.len);
    text[diff.len] = ' ';
    memcpy(text + diff.len + 1, diff.ptr, diff.len);
    return lks_digest_text((struct lks_str){text, 2 * diff.len + 1}, digest, err);
}

static enum lks_code add_chains(const char *source, const struct lks_doc *diffs,
                                struct lks_arena *arena, struct lks_image_layers *layers,
                                struct lks_err *err)
{
    char digest[LKS_DIGEST_SIZE];
    layers->list = lks_arena_array(arena, diffs->count + 1, sizeof(layers->list[0]));
    if (layers->list == NULL)
        return lks_arena_fail(arena, err);
    for (const struct lks_doc *d = diffs->first; d != NULL; d = d->next) {
        if (!lks_digest_valid(d->text))
            return lks_fail(err, LKS_E_INVALID, "%s: a layer without a digest", source);
        if (chain(d->text, digest, layers->count == 0, err) != LKS_OK)
            return err->code;
        struct lks_str id = lks_arena_copy(arena, lks_str_last(lks_str_from(digest), ':'));
        if (id.ptr == NULL)
            return lks_arena_fail(arena, err);
        layers->list[diffs->count - ++layers->count] = id;
    }
    return LKS_OK;
}

enum lks_code lks_imagestore_chain(const char *source, struct lks_str json, struct lks_arena *arena,
                                   struct lks_image_layers *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_image_layers layers = {0};
    if (lks_imagestore_json(source, json, &docs, err) != LKS_OK)
        return err->code;
    const struct lks_doc *diffs = lks_doc_member(lks_doc_member(docs.first, "rootfs"), "diff_ids");
    if (diffs == NULL || diffs->kind != LKS_DOC_LIST || diffs->count > LKS_IMAGESTORE_LAYERS_MAX)
        return lks_fail(err, LKS_E_INVALID, "%s: has no list of layers, or one of more than %d",
                        source, LKS_IMAGESTORE_LAYERS_MAX);
    if (add_chains(source, diffs, arena, &layers, err) != LKS_OK)
        return err->code;
    *out = layers;
    return LKS_OK;
}

/* containers/storage ------------------------------------------------------------------------- */

static enum lks_code add_image(const struct lks_doc *image, struct lks_arena *arena,
                               struct lks_image_names *names, struct lks_err *err)
{
    const struct lks_doc *all = lks_doc_member(image, "names");
    struct lks_str top = lks_doc_text(image, "layer"), digest = lks_doc_text(image, "digest");
    bool tagged = false;
    if (all == NULL || all->kind != LKS_DOC_LIST || all->count > LKS_IMAGESTORE_NAMES_MAX ||
        !lks_imagestore_id(top)) {
        names->left += all != NULL && all->kind == LKS_DOC_LIST && all->count > 0;
        return LKS_OK;
    }
    if (!lks_digest_valid(digest))
        digest = LKS_STR("");
    for (const struct lks_doc *n = all->first; n != NULL; n = n->next)
        tagged = tagged || (n->text.len > 0 && is_tag(n->text));
    for (const struct lks_doc *n = all->first; n != NULL; n = n->next) {
        struct lks_str own = digest_in(n->text);
        if (tagged && own.len > 0)
            continue;
        struct lks_image_name name = {n->text, own.len > 0 ? own : digest, top};
        if (add_name(arena, names, name, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

enum lks_code lks_imagestore_containers(const char *source, struct lks_str json,
                                        struct lks_arena *arena, struct lks_image_names *out,
                                        struct lks_err *err)
{
    static const struct list_kind images = {NULL, LKS_DOC_LIST, "is no list of images", add_image};
    return read_list(&images, source, json, arena, out, err);
}

static int by_id(const void *left, const void *right)
{
    const struct lks_layer_parent *a = left, *b = right;
    return lks_str_cmp(a->id, b->id);
}

enum lks_code lks_imagestore_parents(const char *source, struct lks_str json,
                                     struct lks_arena *arena, struct lks_layer_parents *out,
                                     struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_layer_parents parents = {0};
    if (lks_imagestore_json(source, json, &docs, err) != LKS_OK)
        return err->code;
    if (docs.first == NULL || docs.first->kind != LKS_DOC_LIST)
        return lks_fail(err, LKS_E_INVALID, "%s: is no list of layers", source);
    parents.list = lks_arena_array(arena, docs.first->count + 1, sizeof(parents.list[0]));
    if (parents.list == NULL)
        return lks_arena_fail(arena, err);
    for (const struct lks_doc *l = docs.first->first; l != NULL; l = l->next) {
        struct lks_str id = lks_doc_text(l, "id"), parent = lks_doc_text(l, "parent");
        if (!lks_imagestore_id(id) || (parent.len > 0 && !lks_imagestore_id(parent)))
            continue;
        struct lks_layer_parent copy = {lks_arena_copy(arena, id), lks_arena_copy(arena, parent)};
        if (copy.id.ptr == NULL || copy.parent.ptr == NULL)
            return lks_arena_fail(arena, err);
        parents.list[parents.count++] = copy;
    }
    qsort(parents.list, parents.count, sizeof(parents.list[0]), by_id);
    *out = parents;
    return LKS_OK;
}

enum lks_code lks_imagestore_below(const struct lks_layer_parents *parents, struct lks_str top,
                                   struct lks_arena *arena, struct lks_image_layers *out,
                                   struct lks_err *err)
{
    struct lks_image_layers layers = {0};
    layers.list = lks_arena_array(arena, LKS_IMAGESTORE_LAYERS_MAX, sizeof(layers.list[0]));
    if (layers.list == NULL)
        return lks_arena_fail(arena, err);
    while (top.len > 0) {
        const struct lks_layer_parent key = {.id = top};
        const struct lks_layer_parent *found =
            parents->count == 0 ? NULL
                                : bsearch(&key, parents->list, parents->count, sizeof(key), by_id);
        if (found == NULL)
            return lks_fail(err, LKS_E_NOT_FOUND, "layer %" LKS_STR_FMT " is not listed",
                            LKS_STR_ARG(top));
        if (layers.count == LKS_IMAGESTORE_LAYERS_MAX)
            return lks_fail(err, LKS_E_LIMIT, "an image of more than %d layers",
                            LKS_IMAGESTORE_LAYERS_MAX);
        layers.list[layers.count++] = found->id;
        top = found->parent;
    }
    *out = layers;
    return LKS_OK;
}
