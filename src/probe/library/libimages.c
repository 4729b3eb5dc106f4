#include "probe/library/libimages.h"

#include "codec/format/digest.h"
#include "codec/notation/version.h"
#include "probe/library/libcontainerd.h"

#include <stdio.h>

enum {
    CONFIG_MAX = 1 << 20, /* bytes of the configuration of one image */
    MEMORY_MAX = 64 << 20,
};

static const char *const components[] = {"nccl", "rccl", "cudnn", "cuda"};

/* A store, while it is read. */
struct reading {
    struct lks_root *root;
    const char *top;
    struct lks_arena arena;
    struct lks_buf text; /* of images, three fields each */
    size_t left;
};

static void reading_fini(struct reading *r)
{
    lks_arena_fini(&r->arena);
    lks_buf_fini(&r->text);
}

/* The stores --------------------------------------------------------------------------------- */

static enum lks_code read_json(struct reading *r, const char *path, size_t max, struct lks_buf *out,
                               struct lks_err *err)
{
    lks_buf_init(out, max);
    return lks_root_read(r->root, path, max, out, err);
}

static void add_stack(struct reading *r, const struct lks_image_name *image,
                      const struct lks_image_layers *layers)
{
    lks_buf_addf(&r->text, "%" LKS_STR_FMT "\t%" LKS_STR_FMT "\t", LKS_STR_ARG(image->name),
                 LKS_STR_ARG(image->digest));
    for (size_t i = 0; i < layers->count; i++)
        lks_buf_addf(&r->text, "%s%" LKS_STR_FMT, i > 0 ? " " : "", LKS_STR_ARG(layers->list[i]));
    lks_buf_addc(&r->text, '\t');
}

#define DOCKER_TOP "/var/lib/docker"
#define DOCKER     DOCKER_TOP "/image/overlay2"

/* A chain of layers has its own directory elsewhere, under a name that was drawn by lot. */
static enum lks_code follow_chains(struct reading *r, struct lks_image_layers *layers,
                                   struct lks_err *err)
{
    for (size_t i = 0; i < layers->count; i++) {
        char path[LKS_ROOT_PATH_MAX], id[LKS_ROOT_LINE_MAX];
        snprintf(path, sizeof(path), DOCKER "/layerdb/sha256/%" LKS_STR_FMT "/cache-id",
                 LKS_STR_ARG(layers->list[i]));
        if (lks_root_line(r->root, path, id, err) != LKS_OK)
            return err->code;
        layers->list[i] = lks_arena_copy(&r->arena, lks_str_from(id));
        if (!lks_imagestore_id(layers->list[i]))
            return lks_fail(err, LKS_E_INVALID, "%s: is no id of a layer", path);
    }
    return LKS_OK;
}

static enum lks_code read_layers(struct reading *r, struct lks_str id, struct lks_image_layers *out,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0};
    char path[LKS_ROOT_PATH_MAX];
    snprintf(path, sizeof(path), DOCKER "/imagedb/content/sha256/%" LKS_STR_FMT,
             LKS_STR_ARG(lks_str_last(id, ':')));
    if (read_json(r, path, CONFIG_MAX, &json, err) != LKS_OK ||
        lks_imagestore_chain(path, lks_buf_view(&json), &r->arena, out, err) != LKS_OK)
        return err->code;
    return follow_chains(r, out, err);
}

static enum lks_code read_docker(struct reading *r, struct lks_err *err)
{
    static const char path[] = DOCKER "/repositories.json";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0};
    struct lks_image_names names = {0};
    if (read_json(r, path, LKS_IMAGESTORE_BYTES_MAX, &json, err) != LKS_OK ||
        lks_imagestore_docker(path, lks_buf_view(&json), &r->arena, &names, err) != LKS_OK)
        return err->code;
    r->left = names.left;
    for (size_t i = 0; i < names.count; i++) {
        struct lks_image_layers layers = {0};
        struct lks_err why = {0};
        lks_root_alive(r->root, path);
        if (read_layers(r, names.list[i].id, &layers, &why) == LKS_OK)
            add_stack(r, &names.list[i], &layers);
        else
            r->left++;
    }
    return LKS_OK;
}

#define CONTAINERS "/var/lib/containers/storage"

static enum lks_code read_containers(struct reading *r, struct lks_err *err)
{
    static const char images[] = CONTAINERS "/overlay-images/images.json";
    static const char layers[] = CONTAINERS "/overlay-layers/layers.json";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf below = {0};
    struct lks_image_names names = {0};
    struct lks_layer_parents parents = {0};
    if (read_json(r, images, LKS_IMAGESTORE_BYTES_MAX, &json, err) != LKS_OK ||
        lks_imagestore_containers(images, lks_buf_view(&json), &r->arena, &names, err) != LKS_OK ||
        read_json(r, layers, LKS_IMAGESTORE_BYTES_MAX, &below, err) != LKS_OK ||
        lks_imagestore_parents(layers, lks_buf_view(&below), &r->arena, &parents, err) != LKS_OK)
        return err->code;
    r->left = names.left;
    for (size_t i = 0; i < names.count; i++) {
        struct lks_image_layers stack = {0};
        struct lks_err why = {0};
        if (lks_imagestore_below(&parents, names.list[i].id, &r->arena, &stack, &why) == LKS_OK)
            add_stack(r, &names.list[i], &stack);
        else
            r->left++;
    }
    return LKS_OK;
}

static enum lks_code take_image(void *ctx, const struct lks_image_name *image,
                                const struct lks_image_layers *layers, struct lks_err *err)
{
    struct reading *r = ctx;
    add_stack(r, image, layers);
    return lks_buf_check(&r->text, err);
}

static enum lks_code read_containerd(struct reading *r, struct lks_err *err)
{
    return lks_libcontainerd_read(r->root, r->top, take_image, r, &r->left, err);
}

/* A kind of store. */
struct kind {
    const char *layers; /* behind the top of a store: the id of a layer and `files` follow */
    const char *files;
    enum lks_code (*read)(struct reading *r, struct lks_err *err);
};
static const struct kind docker = {"/overlay2/", "/diff/", read_docker};
static const struct kind containers = {"/overlay/", "/diff/", read_containers};
static const struct kind containerd = {LKS_LIBCONTAINERD_LAYERS, "/fs/", read_containerd};

struct store {
    const char *top; /* the key of its answer */
    const struct kind *kind;
};

/* Asking ------------------------------------------------------------------------------------- */

struct question {
    struct lks_root *root;
    const struct store *store;
};

static enum lks_code read_store(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    const struct question *q = ctx;
    LKS_CLEANUP(reading_fini) struct reading r = {.root = q->root, .top = q->store->top};
    lks_arena_init(&r.arena, MEMORY_MAX);
    lks_buf_init(&r.text, LKS_LIBIMAGES_BYTES_MAX);
    if (q->store->kind->read(&r, err) != LKS_OK || lks_buf_check(&r.text, err) != LKS_OK)
        return err->code;
    lks_buf_addf(out, "%zu\t%" LKS_STR_FMT, r.left, (int)r.text.len,
                 r.text.ptr != NULL ? r.text.ptr : "");
    return lks_buf_check(out, err);
}

static bool is_stack(const struct lks_image_stack *image)
{
    struct lks_str rest = image->layers, id;
    size_t count = 0, len = 0;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, ' ', &id, &rest);
        if (!(lks_imagestore_id(id) || lks_libcontainerd_layer(id)) ||
            ++count > LKS_IMAGESTORE_LAYERS_MAX)
            return false;
        len += id.len;
    }
    bool whole = count == 0 || image->layers.len + 1 == len + count;
    return whole && lks_imagestore_name(image->name) &&
           (image->digest.len == 0 || lks_digest_valid(image->digest));
}

enum lks_code lks_libimages_parse(struct lks_str text, struct lks_arena *arena,
                                  struct lks_image_stacks *out, struct lks_err *err)
{
    struct lks_image_stacks s = {0};
    struct lks_str rest = lks_arena_copy(arena, text), left;
    s.list = lks_arena_array(arena, LKS_IMAGESTORE_IMAGES_MAX, sizeof(s.list[0]));
    if (rest.ptr == NULL || s.list == NULL)
        return lks_arena_fail(arena, err);
    bool good = lks_str_cut(rest, '\t', &left, &rest) && lks_str_number(left, UINT32_MAX, &s.left);
    while (good && rest.len > 0 && s.count < LKS_IMAGESTORE_IMAGES_MAX) {
        struct lks_image_stack *image = &s.list[s.count++];
        good = lks_str_cut(rest, '\t', &image->name, &rest) &&
               lks_str_cut(rest, '\t', &image->digest, &rest) &&
               lks_str_cut(rest, '\t', &image->layers, &rest) && is_stack(image);
    }
    if (!good || rest.len > 0)
        return lks_fail(err, LKS_E_INVALID, "what was recorded of the images is damaged");
    *out = s;
    return LKS_OK;
}

/* Telling ------------------------------------------------------------------------------------ */

struct telling {
    struct lks_probe *p;
    const struct lks_image_copy *copies;
    size_t count;
    struct store store;
    const char *layers;           /* where those of the store really lie */
    struct lks_image_stack image; /* being told */
    size_t told;                  /* images */
};

/* The layer of this image that a copy is in, from 0 for the uppermost, and its path there. */
static bool layer_of(const struct telling *t, const struct lks_image_copy *c, size_t *layer,
                     struct lks_str *inner)
{
    struct lks_str rest = t->image.layers, id;
    if (!lks_str_starts(c->path, t->layers))
        return false;
    struct lks_str path = {c->path.ptr + strlen(t->layers), c->path.len - strlen(t->layers)};
    ptrdiff_t end = lks_str_find(path, lks_str_from(t->store.kind->files));
    for (size_t at = 0; end >= 0 && rest.len > 0; at++) {
        (void)lks_str_cut(rest, ' ', &id, &rest);
        if (lks_str_eq(id, (struct lks_str){path.ptr, (size_t)end})) {
            *layer = at;
            *inner = (struct lks_str){path.ptr + end, path.len - (size_t)end};
            return true;
        }
    }
    return false;
}

static bool is_hidden(const struct telling *t, size_t layer, struct lks_str inner)
{
    for (size_t i = 0; i < t->count; i++) {
        struct lks_str other;
        size_t above = 0;
        if (t->copies[i].hole && layer_of(t, &t->copies[i], &above, &other) && above < layer &&
            lks_str_eq(inner, other))
            return true;
    }
    return false;
}

/* Releases of CUDA and of its run time are numbered apart behind the first two numbers. */
static struct lks_str comparable(const char *component, struct lks_str version)
{
    struct lks_str major, rest, minor;
    if (strcmp(component, "cuda") != 0 || !lks_str_cut(version, '.', &major, &rest))
        return version;
    (void)lks_str_cut(rest, '.', &minor, &rest);
    return (struct lks_str){version.ptr, major.len + 1 + minor.len};
}

/* What the uppermost layer has of a component. */
struct upper {
    const struct lks_image_copy *copy; /* NULL: none has it */
    size_t layer;
    struct lks_str version, other; /* other: a second one in the same layer */
    struct lks_str unread;         /* why one of them has no version */
};

static void take(struct upper *u, const struct lks_image_copy *c, struct lks_str version)
{
    if (c->version.len == 0)
        u->unread = c->note;
    else if (lks_version_covers(u->version, version) || u->version.len == 0)
        u->version = version;
    else if (!lks_version_covers(version, u->version))
        u->other = version;
}

static struct upper find_upper(const struct telling *t, const char *component)
{
    struct upper u = {0};
    for (size_t i = 0; i < t->count; i++) {
        const struct lks_image_copy *c = &t->copies[i];
        struct lks_str inner;
        size_t layer = 0;
        if (c->hole || !lks_str_is(c->component, component) || !layer_of(t, c, &layer, &inner) ||
            (u.copy != NULL && layer > u.layer) || is_hidden(t, layer, inner))
            continue;
        if (u.copy == NULL || layer < u.layer)
            u = (struct upper){.copy = c, .layer = layer};
        take(&u, c, comparable(component, c->version));
    }
    return u;
}

static void tell_upper(const struct telling *t, const char *component, const struct upper *u)
{
    struct lks_arena *arena = t->p->arena;
    struct lks_str name = lks_arena_format(arena, "image.%s", component);
    struct lks_str value = u->version;
    bool known = u->unread.len == 0 && u->other.len == 0;
    if (u->unread.len > 0)
        value = u->unread;
    else if (u->other.len > 0)
        value = lks_arena_format(arena, "one layer has %" LKS_STR_FMT " and %" LKS_STR_FMT,
                                 LKS_STR_ARG(u->version), LKS_STR_ARG(u->other));
    t->p->emit(t->p->ctx, &(struct lks_reading){
                              .name = name,
                              .of = t->image.name,
                              .part = t->image.digest,
                              .state = known ? LKS_MEASURED : LKS_UNMEASURED,
                              .value = value,
                              .evidence = u->copy->path,
                          });
}

/* Whether it has any of the libraries; it is told unless there were enough. */
static bool tell_image(struct telling *t)
{
    bool any = false;
    for (size_t i = 0; i < LKS_COUNT(components); i++) {
        struct upper u = find_upper(t, components[i]);
        any = any || u.copy != NULL;
        if (u.copy != NULL && t->told < LKS_LIBIMAGES_TOLD_MAX)
            tell_upper(t, components[i], &u);
    }
    return any;
}

static void skip(struct lks_probe *p, const struct store *store, struct lks_str why)
{
    lks_probe_value(p, "search.skipped", lks_arena_format(p->arena, "images of %s", store->top),
                    LKS_STR(""), why, "library search");
}

/* What was left out within the store, or above it. */
static const struct lks_left_out *left_out(const struct store *store,
                                           const struct lks_findings *found)
{
    for (size_t i = 0; i < found->left_out_count; i++) {
        struct lks_str place = found->left_out[i].place, top = lks_str_from(store->top);
        size_t len = place.len < top.len ? place.len : top.len;
        if (memcmp(place.ptr, top.ptr, len) == 0)
            return &found->left_out[i];
    }
    return NULL;
}

/* Copies have real paths, and the top of a store is often a link. */
static bool find_layers(struct telling *t)
{
    char real[LKS_ROOT_PATH_MAX];
    struct lks_err err;
    const char *top = t->store.top;
    if (lks_root_real(t->p->root, top, real, &err) == LKS_OK)
        top = real;
    t->layers = lks_arena_format(t->p->arena, "%s%s", top, t->store.kind->layers).ptr;
    return t->layers != NULL;
}

static void tell_stacks(struct telling *t, struct lks_image_stacks *stacks)
{
    if (stacks->count > 0 && !find_layers(t))
        return;
    for (size_t i = 0; i < stacks->count; i++) {
        t->image = stacks->list[i];
        bool any = tell_image(t);
        stacks->left += any && t->told == LKS_LIBIMAGES_TOLD_MAX;
        t->told += any && t->told < LKS_LIBIMAGES_TOLD_MAX;
    }
    if (stacks->left > 0)
        skip(t->p, &t->store,
             lks_arena_format(t->p->arena, "%llu names were not inspected",
                              (unsigned long long)stacks->left));
}

static void tell_store(struct telling *t, const struct lks_findings *found)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(LKS_LIBIMAGES_BYTES_MAX + 32);
    struct question q = {t->p->root, &t->store};
    struct lks_image_stacks stacks = {0};
    struct lks_err err = {0};
    enum lks_code code =
        lks_libwalk_ask(t->p->root, "images", t->store.top, read_store, &q, &answer, &err);
    if (code == LKS_E_NOT_FOUND)
        return;
    if (code == LKS_OK)
        code = lks_libimages_parse(lks_buf_view(&answer), t->p->arena, &stacks, &err);
    if (code != LKS_OK)
        skip(t->p, &t->store, lks_str_from(err.msg));
    else if (stacks.count > 0 && left_out(&t->store, found) != NULL)
        skip(t->p, &t->store, LKS_STR("not all of their layers were searched"));
    else
        tell_stacks(t, &stacks);
}

/* Those that containerd is configured for come last. */
static void tell_configured(struct telling *t, const struct lks_findings *found)
{
    struct lks_str top;
    struct lks_err err = {0};
    enum lks_code code = lks_libcontainerd_root(t->p->root, t->p->arena, &top, &err);
    t->store = (struct store){code == LKS_OK ? top.ptr : "containerd", &containerd};
    if (code == LKS_OK)
        tell_store(t, found);
    else if (code != LKS_E_NOT_FOUND)
        skip(t->p, &t->store, lks_str_from(err.msg));
}

void lks_libimages_tell(struct lks_probe *p, const struct lks_image_copy *copies, size_t count,
                        const struct lks_findings *found)
{
    static const struct store stores[] = {{DOCKER_TOP, &docker}, {CONTAINERS, &containers}};
    struct telling t = {.p = p, .copies = copies, .count = count};
    for (size_t i = 0; i < LKS_COUNT(stores); i++) {
        t.store = stores[i];
        tell_store(&t, found);
    }
    for (size_t i = 0; lks_libcontainerd_roots[i] != NULL; i++) {
        t.store = (struct store){lks_libcontainerd_roots[i], &containerd};
        tell_store(&t, found);
    }
    tell_configured(&t, found);
}
