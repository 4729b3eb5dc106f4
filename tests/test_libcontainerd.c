/* Images of containerd, as a node has them: databases, blobs and layers in one tree. */
#include "probe/library/libcontainerd.h"

#include "codec/format/digest.h"
#include "probe/root/probes.h"
#include "tests/bolt_file.h"
#include "tests/heard.h"
#include "tests/libraries.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 1 << 20, ROWS_MAX = 64, PATH_MAX_BYTES = 512 };

#define HEX15  "000000000000000"
#define ID(c)  #c HEX15 HEX15 HEX15 HEX15 "000"
#define SHA(c) "sha256:" ID(c)
/* The chain of the diffs SHA(a) and SHA(b), as sha256sum has it. */
#define CHAIN_AB "sha256:73adce8fecb4776739b11dbd0e35a8007b6bca7af6ba22949cd8e7b15e5c19b6"

#define ROOT "/var/lib/containerd"
#define LIB  "/usr/lib/x86_64-linux-gnu"

/* A containerd in the making. */
struct store {
    const struct lks_tree *tree;
    const char *top;
    struct lks_arena arena;
    struct lks_test_bolt_row meta[ROWS_MAX], numbers[ROWS_MAX];
    size_t meta_count, number_count;
};

static const char *format(struct store *s, const char *fmt, ...) LKS_PRINTF(2, 3);
static const char *format(struct store *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct lks_str text = lks_arena_formatv(&s->arena, fmt, ap);
    va_end(ap);
    LKS_ASSERT(text.ptr != NULL);
    return text.ptr;
}

/* A blob; its digest. */
static const char *blob(struct store *s, const char *json)
{
    char digest[LKS_DIGEST_SIZE];
    struct lks_err err;
    CHECK_CODE(lks_digest_text(lks_str_from(json), digest, &err), LKS_OK);
    lks_tree_file(s->tree,
                  format(s, "%s/io.containerd.content.v1.content/blobs/sha256/%s", s->top,
                         digest + strlen("sha256:")),
                  json);
    return format(s, "%s", digest);
}

/* The manifest of an image with these layers; `more` makes its configuration another one. */
static const char *manifest(struct store *s, const char *diffs, const char *more)
{
    const char *config =
        blob(s, format(s, "{\"config\":{\"Env\":[\"TOKEN=x\"]},%s\"rootfs\":{\"diff_ids\":[%s]}}",
                       more, diffs));
    return blob(s, format(s, "{\"config\":{\"digest\":\"%s\"}}", config));
}

static void image(struct store *s, const char *space, const char *name, const char *digest)
{
    const char *path = format(s, "v1|%s|images|%s|target|digest", space, name);
    s->meta[s->meta_count++] = (struct lks_test_bolt_row){path, lks_str_from(digest)};
}

static void snapshot(struct store *s, const char *space, const char *chain, unsigned number)
{
    const char *path = format(s, "v1|%s|snapshots|overlayfs|%s|name", space, chain);
    const char *name = format(s, "%s/%u/%s", space, number, chain);
    s->meta[s->meta_count++] = (struct lks_test_bolt_row){path, lks_str_from(name)};
    s->numbers[s->number_count++] = (struct lks_test_bolt_row){
        format(s, "v1|snapshots|%s|id", name), lks_str_from(format(s, "%c", (char)number))};
}

static void put(const struct store *s, const char *path, const struct lks_test_bolt_row *rows,
                size_t count)
{
    char at[PATH_MAX_BYTES];
    struct lks_buf db =
        lks_test_bolt_new(&(struct lks_test_bolt){.rows = rows, .count = count, .transaction = 2});
    snprintf(at, sizeof(at), "%s/%s", s->top, path);
    lks_tree_bytes(s->tree, at, lks_buf_view(&db));
    lks_buf_fini(&db);
}

#define META    "io.containerd.metadata.v1.bolt/meta.db"
#define NUMBERS "io.containerd.snapshotter.v1.overlayfs/metadata.db"

static void put_all(const struct store *s)
{
    put(s, META, s->meta, s->meta_count);
    put(s, NUMBERS, s->numbers, s->number_count);
}

static void nccl(struct store *s, unsigned number, const char *version)
{
    lks_test_nccl(
        s->tree,
        format(s, "%s/io.containerd.snapshotter.v1.overlayfs/snapshots/%u/fs" LIB "/libnccl.so.2",
               s->top, number),
        version, 'a');
}

/* Layers a with NCCL 2.26.2, and b over it with 2.28.9. */
static void make_layers(struct store *s, const char *space)
{
    snapshot(s, space, SHA(a), 1);
    snapshot(s, space, CHAIN_AB, 12);
    nccl(s, 1, "2.26.2");
    nccl(s, 12, "2.28.9");
}

#define A  "\"" SHA(a) "\""
#define AB A ",\"" SHA(b) "\""

/* Cases -------------------------------------------------------------------------------------- */

static void plain(struct store *s)
{
    make_layers(s, "k8s.io");
    image(s, "k8s.io", "r.io/base:1", manifest(s, A, ""));
    image(s, "k8s.io", "r.io/train:7", manifest(s, AB, ""));
    put_all(s);
}

static void index_of_two(struct store *s)
{
    const char *here = manifest(s, A, ""), *other = manifest(s, "\"" SHA(d) "\"", "");
    make_layers(s, "k8s.io");
    image(s, "k8s.io", "r.io/multi:1",
          blob(s, format(s,
                         "{\"manifests\":[{\"digest\":\"" SHA(e) "\"},{\"digest\":\"%s\"},"
                                                                 "{\"digest\":\"%s\"}]}",
                         other, here)));
    put_all(s);
}

static void index_unpacked_twice(struct store *s)
{
    make_layers(s, "k8s.io");
    image(s, "k8s.io", "r.io/multi:1",
          blob(s, format(s, "{\"manifests\":[{\"digest\":\"%s\"},{\"digest\":\"%s\"}]}",
                         manifest(s, A, ""), manifest(s, AB, ""))));
    put_all(s);
}

static void two_spaces(struct store *s)
{
    const char *base = manifest(s, A, "");
    make_layers(s, "k8s.io");
    snapshot(s, "default", SHA(a), 3);
    nccl(s, 3, "2.26.2");
    image(s, "k8s.io", "r.io/base:1", base);
    image(s, "default", "r.io/base:1", base);
    put_all(s);
}

static void other_space(struct store *s)
{
    make_layers(s, "k8s.io");
    image(s, "moby", "r.io/base:1", manifest(s, A, ""));
    put_all(s);
}

static void no_snapshotter(struct store *s)
{
    make_layers(s, "k8s.io");
    image(s, "k8s.io", "r.io/base:1", manifest(s, A, ""));
    put(s, META, s->meta, s->meta_count);
}

static void other_number(struct store *s)
{
    make_layers(s, "k8s.io");
    image(s, "k8s.io", "r.io/base:1", manifest(s, A, ""));
    s->numbers[0].path = "v1|snapshots|k8s.io/9/" SHA(a) "|id"; /* removed and unpacked again */
    put_all(s);
}

static void changed_blob(struct store *s)
{
    make_layers(s, "k8s.io");
    const char *digest = manifest(s, A, "");
    image(s, "k8s.io", "r.io/base:1", digest);
    put_all(s);
    lks_tree_file(s->tree,
                  format(s, "%s/io.containerd.content.v1.content/blobs/sha256/%s", s->top,
                         digest + strlen("sha256:")),
                  format(s, "{\"config\":{\"digest\":\"%s\"}}", SHA(f)));
}

static void no_database(struct store *s)
{
    plain(s);
    lks_tree_file(s->tree, format(s, "%s/" META, s->top), "none");
}

static void no_numbers(struct store *s)
{
    plain(s);
    lks_tree_file(s->tree, format(s, "%s/" NUMBERS, s->top), "none");
}

static void configured(struct store *s)
{
    s->top = "/data/containerd";
    lks_tree_file(s->tree, LKS_LIBCONTAINERD_CONFIG,
                  "version = 2\nroot = \"/data/containerd\"\n[plugins.x]\npassword = \"x\"\n");
    plain(s);
}

static void configured_badly(struct store *s)
{
    plain(s);
    lks_tree_file(s->tree, LKS_LIBCONTAINERD_CONFIG, "root = containerd\n");
}

static void linked(struct store *s)
{
    lks_tree_dir(s->tree, "/data/ctr");
    lks_tree_link(s->tree, ROOT, "/data/ctr");
    s->top = "/data/ctr";
    plain(s);
}

static void linked_and_configured(struct store *s)
{
    lks_tree_file(s->tree, LKS_LIBCONTAINERD_CONFIG, "root = \"/data/ctr\"\n");
    linked(s);
}

static void default_and_configured(struct store *s)
{
    lks_tree_file(s->tree, LKS_LIBCONTAINERD_CONFIG, "root = \"" ROOT "\"\n");
    plain(s);
}

static void k3s(struct store *s)
{
    s->top = "/var/lib/rancher/k3s/agent/containerd";
    plain(s);
}

#define IN(top, number)                                                                            \
    " < " top "/io.containerd.snapshotter.v1.overlayfs/snapshots/" #number "/fs" LIB               \
    "/libnccl.so.2\n"
#define BASE(top)  "image.nccl@r.io/base:1=2.26.2" IN(top, 1)
#define TRAIN(top) "image.nccl@r.io/train:7=2.28.9" IN(top, 12)
#define SKIPPED    "search.skipped@images of "
#define ONE_LEFT   SKIPPED ROOT "=1 names were not inspected < library search\n"

static const struct {
    const char *name;
    void (*make)(struct store *s);
    const char *want;
} cases[] = {
    {"two images that share a layer", plain, BASE(ROOT) TRAIN(ROOT)},
    {"of an index the platform that is unpacked", index_of_two,
     "image.nccl@r.io/multi:1=2.26.2" IN(ROOT, 1)},
    {"unpacked for two platforms", index_unpacked_twice, ONE_LEFT},
    {"one image in two namespaces", two_spaces, "image.nccl@r.io/base:1=2.26.2" IN(ROOT, 3)},
    {"unpacked in another namespace", other_space, ONE_LEFT},
    {"no database of the snapshotter", no_snapshotter, ONE_LEFT},
    {"a snapshot of another time", other_number, ONE_LEFT},
    {"a blob that has other content", changed_blob, ONE_LEFT},
    {"a metadata file that is no database", no_database,
     SKIPPED ROOT "=" ROOT "/" META ": is no bbolt database, or damaged: neither meta page is good"
                  " < library search\n"},
    {"a snapshotter's file that is no database", no_numbers,
     SKIPPED ROOT "=" ROOT "/" NUMBERS
                  ": is no bbolt database, or damaged: neither meta page is good"
                  " < library search\n"},
    {"a root that is configured", configured, BASE("/data/containerd") TRAIN("/data/containerd")},
    {"a configuration that cannot be read", configured_badly,
     BASE(ROOT) TRAIN(ROOT) SKIPPED "containerd=" LKS_LIBCONTAINERD_CONFIG
                                    ": root is no text in quotes < library search\n"},
    {"a root that is a link", linked, BASE("/data/ctr") TRAIN("/data/ctr")},
    {"a root that is configured, and a link to it", linked_and_configured,
     BASE("/data/ctr") TRAIN("/data/ctr")},
    {"the default, configured", default_and_configured, BASE(ROOT) TRAIN(ROOT)},
    {"K3s", k3s,
     BASE("/var/lib/rancher/k3s/agent/containerd") TRAIN("/var/lib/rancher/k3s/agent/containerd")},
};

/* The images and what was left out of them, without their digests, which every run computes. */
static void images_of(const struct lks_heard *heard, struct lks_buf *out)
{
    struct lks_str rest = lks_buf_view(&heard->full), line;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        ptrdiff_t hash = lks_str_find(line, LKS_STR("#sha256:"));
        size_t cut = hash < 0 ? line.len : (size_t)hash;
        size_t on = hash < 0 ? line.len : cut + LKS_DIGEST_SIZE;
        if (lks_str_starts(line, "image.") || lks_str_starts(line, "search.skipped@images"))
            lks_buf_addf(out, "%" LKS_STR_FMT "%" LKS_STR_FMT "\n", (int)cut, line.ptr,
                         (int)(line.len - on), line.ptr + on);
    }
}

static void hear(struct lks_root *root, struct lks_buf *out)
{
    LKS_CLEANUP(lks_heard_fini) struct lks_heard heard = {0};
    const struct lks_probe_options options = {.libraries = true};
    lks_hear(lks_probe_libraries, root, &options, &heard);
    images_of(&heard, out);
}

/* What the tree says, and what its capture says. */
static void check_case(const struct lks_tree *tree, const char *want)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf got = LKS_BUF(TEXT_MAX), again = LKS_BUF(TEXT_MAX);
    struct lks_tree capture = lks_tree_new();
    struct lks_root root = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_root_open(tree->path, capture.path, &root, &err), LKS_OK);
    hear(&root, &got);
    lks_root_close(&root);
    CHECK_STR(lks_buf_view(&got), want);
    CHECK_CODE(lks_root_open(capture.path, NULL, &root, &err), LKS_OK);
    hear(&root, &again);
    for (size_t i = 0; lks_libcontainerd_roots[i] != NULL; i++)
        CHECK(!lks_root_exists(&root, lks_libcontainerd_roots[i]));
    CHECK(!lks_root_exists(&root, LKS_LIBCONTAINERD_CONFIG));
    lks_root_close(&root);
    CHECK_STR(lks_buf_view(&again), want);
    lks_tree_free(&capture);
}

static void test_images(void)
{
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        struct lks_tree tree = lks_tree_new();
        struct store s = {.tree = &tree, .top = ROOT};
        lks_arena_init(&s.arena, TEXT_MAX);
        lks_test_case("%s", cases[i].name);
        cases[i].make(&s);
        check_case(&tree, cases[i].want);
        lks_arena_fini(&s.arena);
        lks_tree_free(&tree);
    }
}

static const struct {
    const char *id;
    bool good;
} ids[] = {
    {"overlayfs/snapshots/1", true},
    {"fuse-overlayfs/snapshots/120", true},
    {"overlayfs/snapshots/", false},
    {"overlayfs/snapshots/x", false},
    {"overlayfs/snapshots/1/..", false},
    {"overlayfs/snapshot/1", false},
    {"overlayfs/1", false},
    {"native/snapshots/1", false},
    {"1", false},
    {"", false},
    {"overlayfs/snapshots/99999999999999999999", false},
};

static void test_ids(void)
{
    for (size_t i = 0; i < LKS_COUNT(ids); i++) {
        lks_test_case("%s", ids[i].id);
        CHECK(lks_libcontainerd_layer(lks_str_from(ids[i].id)) == ids[i].good);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"libcontainerd: images", test_images}, {"libcontainerd: ids", test_ids}, {0}});
}
