#include "probe/library/libcontainerd.h"

#include "codec/format/digest.h"
#include "probe/library/libwalk.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
    DATABASE_MEMORY_MAX = 64 << 20,
    IMAGE_MEMORY_MAX = 16 << 20, /* manifests and configurations of one image */
    BLOB_MAX = 1 << 20,          /* bytes of one of them */
    PAUSE_MS = 20,               /* before a database that changed is read again, at the most */
};

const char *const lks_libcontainerd_roots[] = {
    "/var/lib/containerd",
    "/var/lib/rancher/k3s/agent/containerd",
    "/var/lib/rancher/rke2/agent/containerd",
    NULL,
};

static const char *const snapshotters[] = {"overlayfs", "fuse-overlayfs"};
#define SNAPSHOTS "/snapshots/"

bool lks_libcontainerd_layer(struct lks_str id)
{
    struct lks_str number = lks_str_last(id, '/');
    uint64_t n;
    for (size_t i = 0; i < LKS_COUNT(snapshotters); i++) {
        size_t len = strlen(snapshotters[i]) + strlen(SNAPSHOTS);
        if (lks_str_starts(id, snapshotters[i]) && len + number.len == id.len &&
            memcmp(number.ptr - strlen(SNAPSHOTS), SNAPSHOTS, strlen(SNAPSHOTS)) == 0)
            return lks_str_number(number, UINT64_MAX, &n);
    }
    return false;
}

/* Databases ---------------------------------------------------------------------------------- */

/* A database while it is read, and what was read of it. */
struct database {
    struct lks_root *root;
    char path[LKS_ROOT_PATH_MAX];
    int fd;
    struct lks_arena arena;
    struct lks_containerd_meta meta;
    struct lks_containerd_numbers numbers;
};

static void database_close(struct database *db)
{
    if (db->fd >= 0)
        (void)close(db->fd);
    db->fd = -1;
}

static void database_fini(struct database *db)
{
    database_close(db);
    lks_arena_fini(&db->arena);
}

static enum lks_code database_open(void *ctx, struct lks_bolt_file *out, struct lks_err *err)
{
    struct database *db = ctx;
    struct stat st;
    database_close(db);
    lks_arena_fini(&db->arena);
    lks_arena_init(&db->arena, DATABASE_MEMORY_MAX);
    lks_root_alive(db->root, db->path);
    if (lks_root_file(db->root, db->path, &db->fd, &st, err) != LKS_OK)
        return err->code;
    *out = (struct lks_bolt_file){db->path, (uint64_t)st.st_size, &db->fd, lks_root_read_at};
    return LKS_OK;
}

static enum lks_code walk_meta(void *ctx, struct lks_bolt *bolt, struct lks_err *err)
{
    struct database *db = ctx;
    return lks_containerd_meta(bolt, &db->arena, &db->meta, err);
}

static enum lks_code walk_numbers(void *ctx, struct lks_bolt *bolt, struct lks_err *err)
{
    struct database *db = ctx;
    return lks_containerd_numbers(bolt, &db->arena, &db->numbers, err);
}

static void wait_for_quiet(void *ctx, unsigned tries)
{
    (void)ctx;
    long ms = tries < PAUSE_MS ? (long)tries : PAUSE_MS;
    (void)nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

static enum lks_code database_read(struct database *db,
                                   enum lks_code (*walk)(void *ctx, struct lks_bolt *bolt,
                                                         struct lks_err *err),
                                   struct lks_err *err)
{
    const struct lks_bolt_reading reading = {db, database_open, walk, wait_for_quiet};
    return lks_bolt_read(&reading, err);
}

/* Images ------------------------------------------------------------------------------------- */

/* A store while it is read: databases[0] is its metadata, the others those of snapshotters. */
struct store {
    struct lks_root *root;
    const char *top;
    struct database databases[1 + LKS_COUNT(snapshotters)];
    struct lks_arena arena; /* of one image */
};

static void store_fini(struct store *s)
{
    for (size_t i = 0; i < LKS_COUNT(s->databases); i++)
        database_fini(&s->databases[i]);
    lks_arena_fini(&s->arena);
}

/* One without layers was not used, so it may have no database. */
static enum lks_code read_snapshotter(struct database *db, struct lks_err *err)
{
    struct lks_err why = {0};
    enum lks_code code = database_read(db, walk_numbers, &why);
    if (code == LKS_OK || code == LKS_E_NOT_FOUND)
        return LKS_OK;
    *err = why;
    return code;
}

static enum lks_code read_databases(struct store *s, struct lks_err *err)
{
    for (size_t i = 0; i < LKS_COUNT(s->databases); i++) {
        struct database *db = &s->databases[i];
        db->root = s->root;
        db->fd = -1;
        if (i == 0)
            snprintf(db->path, sizeof(db->path), "%s/io.containerd.metadata.v1.bolt/meta.db",
                     s->top);
        else
            snprintf(db->path, sizeof(db->path), "%s" LKS_LIBCONTAINERD_LAYERS "%s/metadata.db",
                     s->top, snapshotters[i - 1]);
    }
    if (database_read(&s->databases[0], walk_meta, err) != LKS_OK)
        return err->code;
    for (size_t i = 1; i < LKS_COUNT(s->databases); i++) {
        if (read_snapshotter(&s->databases[i], err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* A blob, by its digest and of it. */
static enum lks_code read_blob(struct store *s, struct lks_str digest, char path[LKS_ROOT_PATH_MAX],
                               struct lks_buf *out, struct lks_err *err)
{
    char real[LKS_DIGEST_SIZE];
    snprintf(path, LKS_ROOT_PATH_MAX,
             "%s/io.containerd.content.v1.content/blobs/sha256/%" LKS_STR_FMT, s->top,
             LKS_STR_ARG(lks_str_last(digest, ':')));
    lks_buf_init(out, BLOB_MAX);
    if (lks_root_read(s->root, path, BLOB_MAX, out, err) != LKS_OK ||
        lks_digest_text(lks_buf_view(out), real, err) != LKS_OK)
        return err->code;
    if (!lks_str_is(digest, real))
        return lks_fail(err, LKS_E_INVALID, "%s: has other content than its name says", path);
    return LKS_OK;
}

static enum lks_code read_manifest(struct store *s, struct lks_str digest,
                                   struct lks_containerd_manifest *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0};
    char path[LKS_ROOT_PATH_MAX];
    if (read_blob(s, digest, path, &json, err) != LKS_OK)
        return err->code;
    return lks_containerd_manifest(path, lks_buf_view(&json), &s->arena, out, err);
}

/* The directories of a chain of layers, by one snapshotter; false: it has not all of them. */
static bool find_layers(struct store *s, struct lks_str space, size_t snapshotter,
                        const struct lks_image_layers *chain, struct lks_image_layers *out)
{
    struct lks_str name = lks_str_from(snapshotters[snapshotter]);
    for (size_t i = 0; i < chain->count; i++) {
        uint64_t number = 0;
        const struct lks_containerd_snapshot *snapshot =
            lks_containerd_find(&s->databases[0].meta, space, name, chain->list[i]);
        if (snapshot == NULL || !lks_containerd_number_of(&s->databases[1 + snapshotter].numbers,
                                                          snapshot->name, &number))
            return false;
        out->list[i] = lks_arena_format(&s->arena, "%" LKS_STR_FMT SNAPSHOTS "%llu",
                                        LKS_STR_ARG(name), (unsigned long long)number);
        if (out->list[i].ptr == NULL)
            return false;
    }
    out->count = chain->count;
    return true;
}

/* The layers of a configuration. NOT_FOUND: it is not on the node, or was not unpacked. */
static enum lks_code read_layers(struct store *s, const struct lks_image_name *image,
                                 struct lks_str config, struct lks_image_layers *out,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0};
    struct lks_image_layers chain = {0}, layers = {0};
    char path[LKS_ROOT_PATH_MAX];
    if (read_blob(s, config, path, &json, err) != LKS_OK ||
        lks_imagestore_chain(path, lks_buf_view(&json), &s->arena, &chain, err) != LKS_OK)
        return err->code;
    layers.list = lks_arena_array(&s->arena, chain.count + 1, sizeof(layers.list[0]));
    if (layers.list == NULL)
        return lks_arena_fail(&s->arena, err);
    for (size_t i = 0; i < LKS_COUNT(snapshotters); i++) {
        if (find_layers(s, image->id, i, &chain, &layers)) {
            *out = layers;
            return LKS_OK;
        }
    }
    return lks_fail(err, LKS_E_NOT_FOUND, "%s: was not unpacked", path);
}

/* An index may name a manifest again: it is read once, or a small image would take minutes. */
static bool is_again(const struct lks_containerd_manifest *index, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (lks_str_eq(index->list[i], index->list[at]))
            return true;
    }
    return false;
}

/* Of an index one manifest counts: the one that was unpacked, for the platform of the node. */
static enum lks_code read_index(struct store *s, const struct lks_image_name *image,
                                const struct lks_containerd_manifest *index,
                                struct lks_image_layers *out, struct lks_err *err)
{
    size_t found = 0;
    for (size_t i = 0; i < index->count; i++) {
        struct lks_containerd_manifest one = {0};
        struct lks_image_layers layers = {0};
        if (is_again(index, i))
            continue;
        enum lks_code code = read_manifest(s, index->list[i], &one, err);
        if (code == LKS_OK && one.config.len > 0)
            code = read_layers(s, image, one.config, &layers, err);
        if (code != LKS_OK && code != LKS_E_NOT_FOUND)
            return code;
        if (code == LKS_OK && layers.count > 0) {
            *out = layers;
            found++;
        }
    }
    if (found != 1)
        return lks_fail(err, LKS_E_REFUSED, "%" LKS_STR_FMT ": unpacked for %zu platforms",
                        LKS_STR_ARG(image->name), found);
    return LKS_OK;
}

static enum lks_code read_image(struct store *s, const struct lks_image_name *image,
                                struct lks_image_layers *out, struct lks_err *err)
{
    struct lks_containerd_manifest top = {0};
    lks_arena_fini(&s->arena);
    lks_arena_init(&s->arena, IMAGE_MEMORY_MAX);
    if (read_manifest(s, image->digest, &top, err) != LKS_OK)
        return err->code;
    return top.config.len > 0 ? read_layers(s, image, top.config, out, err)
                              : read_index(s, image, &top, out, err);
}

/* Whether another namespace had the same image under the same name. */
static bool is_known(const struct lks_image_names *names, size_t index, const bool *taken)
{
    for (size_t i = 0; i < index; i++) {
        if (taken[i] && lks_str_eq(names->list[i].name, names->list[index].name) &&
            lks_str_eq(names->list[i].digest, names->list[index].digest))
            return true;
    }
    return false;
}

enum lks_code lks_libcontainerd_read(struct lks_root *root, const char *top,
                                     lks_libcontainerd_fn *fn, void *ctx, size_t *left,
                                     struct lks_err *err)
{
    LKS_CLEANUP(store_fini) struct store s = {.root = root, .top = top};
    bool taken[LKS_IMAGESTORE_IMAGES_MAX] = {false};
    if (read_databases(&s, err) != LKS_OK)
        return err->code;
    const struct lks_image_names *names = &s.databases[0].meta.images;
    size_t lost = names->left;
    for (size_t i = 0; i < names->count; i++) {
        struct lks_image_layers layers = {0};
        struct lks_err why = {0};
        lks_root_alive(root, top);
        if (is_known(names, i, taken))
            continue;
        taken[i] = read_image(&s, &names->list[i], &layers, &why) == LKS_OK;
        lost += !taken[i];
        if (taken[i] && fn(ctx, &names->list[i], &layers, err) != LKS_OK)
            return err->code;
    }
    *left = lost;
    return LKS_OK;
}

/* Its configuration -------------------------------------------------------------------------- */

/* Whether a root is one of those that are read anyway, by its name or behind a link. */
static bool is_default(struct lks_root *root, struct lks_str top)
{
    char path[LKS_ROOT_PATH_MAX], real[LKS_ROOT_PATH_MAX], other[LKS_ROOT_PATH_MAX];
    struct lks_err err;
    bool same = false;
    snprintf(path, sizeof(path), "%" LKS_STR_FMT, LKS_STR_ARG(top));
    bool exists = lks_root_real(root, path, real, &err) == LKS_OK;
    for (size_t i = 0; lks_libcontainerd_roots[i] != NULL && !same; i++) {
        same = lks_str_is(top, lks_libcontainerd_roots[i]);
        if (exists && lks_root_real(root, lks_libcontainerd_roots[i], other, &err) == LKS_OK)
            same = same || strcmp(real, other) == 0;
    }
    return same;
}

/* The answer is the one line that counts: the rest of the file may have passwords. */
static enum lks_code read_root(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf toml = LKS_BUF(LKS_ROOT_FILE_MAX);
    struct lks_root *root = ctx;
    struct lks_str found;
    if (lks_root_read(root, LKS_LIBCONTAINERD_CONFIG, LKS_ROOT_FILE_MAX, &toml, err) != LKS_OK ||
        lks_containerd_root(LKS_LIBCONTAINERD_CONFIG, lks_buf_view(&toml), &found, err) != LKS_OK)
        return err->code;
    if (is_default(root, found))
        return lks_fail(err, LKS_E_NOT_FOUND, "%s: root is the default", LKS_LIBCONTAINERD_CONFIG);
    lks_buf_addf(out, "root = '%" LKS_STR_FMT "'", LKS_STR_ARG(found));
    return lks_buf_check(out, err);
}

enum lks_code lks_libcontainerd_root(struct lks_root *root, struct lks_arena *arena,
                                     struct lks_str *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(LKS_ROOT_PATH_MAX);
    struct lks_str found;
    if (lks_libwalk_ask(root, "images", LKS_LIBCONTAINERD_CONFIG, read_root, root, &answer, err) !=
            LKS_OK ||
        lks_containerd_root(LKS_LIBCONTAINERD_CONFIG, lks_buf_view(&answer), &found, err) != LKS_OK)
        return err->code;
    found = lks_arena_copy(arena, found);
    if (found.ptr == NULL)
        return lks_arena_fail(arena, err);
    *out = found;
    return LKS_OK;
}
