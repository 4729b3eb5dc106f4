/* What containerd writes down about images: names, snapshots, manifests, its configuration. */
#include "codec/package/containerd.h"
#include "tests/bolt_file.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum { MEMORY_MAX = 1 << 26, TEXT_MAX = 1 << 16 };

#define HEX15  "000000000000000"
#define HEX(c) #c HEX15 HEX15 HEX15 HEX15 "000"
#define SHA(c) "sha256:" HEX(c)
#define V(text)                                                                                    \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }
#define IMAGE(space, name, digest)                                                                 \
    {                                                                                              \
        "v1|" space "|images|" name "|target|digest", V(digest)                                    \
    }
#define SNAPSHOT(space, by, key, name)                                                             \
    {                                                                                              \
        "v1|" space "|snapshots|" by "|" key "|name", V(name)                                      \
    }
#define NUMBER(name, bytes)                                                                        \
    {                                                                                              \
        "v1|snapshots|" name "|id", V(bytes)                                                       \
    }

static const struct lks_test_bolt_row meta_rows[] = {
    IMAGE("k8s.io", "r.io/train:7", SHA(1)),
    IMAGE("k8s.io", "r.io/train:latest", SHA(1)),
    IMAGE("k8s.io", "r.io/train@" SHA(1), SHA(1)),
    IMAGE("k8s.io", SHA(a), SHA(1)),
    IMAGE("k8s.io", "r.io/pinned@" SHA(2), SHA(2)),
    IMAGE("k8s.io", "r.io/no digest:1", SHA(3)),
    IMAGE("k8s.io", "r.io/md5:1", "md5:3"),
    IMAGE("default", "r.io/train@" SHA(1), SHA(1)),
    IMAGE("default", "r.io/train:7", SHA(4)),
    {"v1|k8s.io|images|r.io/train:7|target|mediatype", V("application/json")},
    SNAPSHOT("k8s.io", "overlayfs", SHA(b), "k8s.io/2/" SHA(b)),
    SNAPSHOT("k8s.io", "overlayfs", "extract-1 " SHA(c), "k8s.io/3/extract"),
    SNAPSHOT("k8s.io", "native", SHA(b), "k8s.io/4/" SHA(b)),
    SNAPSHOT("default", "overlayfs", SHA(b), "default/5/" SHA(b)),
};

/* Open what `rows` make, read it by `read`, and clean up. */
static struct lks_bolt open_rows(struct lks_test_bolt_file *file, struct lks_buf *db,
                                 const struct lks_test_bolt_row *rows, size_t count)
{
    struct lks_bolt bolt = {0};
    struct lks_err err = {0};
    *db = lks_test_bolt_new(
        &(struct lks_test_bolt){.rows = rows, .count = count, .page_size = 1024, .transaction = 2});
    *file = (struct lks_test_bolt_file){.states = db, .count = 1};
    const struct lks_bolt_file at = {"meta.db", db->len, file, lks_test_bolt_read};
    CHECK_CODE(lks_bolt_open(&at, &bolt, &err), LKS_OK);
    return bolt;
}

static void check_find(const struct lks_containerd_meta *meta, const char *space, const char *by,
                       const char *chain, const char *want)
{
    const struct lks_containerd_snapshot *found =
        lks_containerd_find(meta, lks_str_from(space), lks_str_from(by), lks_str_from(chain));
    CHECK_STR(found == NULL ? LKS_STR("none") : found->name, want);
}

static void test_meta(void)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf db = {0}, got = LKS_BUF(TEXT_MAX);
    struct lks_test_bolt_file file;
    struct lks_containerd_meta meta = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, MEMORY_MAX);
    struct lks_bolt bolt = open_rows(&file, &db, meta_rows, LKS_COUNT(meta_rows));
    CHECK_CODE(lks_containerd_meta(&bolt, &arena, &meta, &err), LKS_OK);
    for (size_t i = 0; i < meta.images.count; i++)
        lks_buf_addf(&got, "%s %s %s\n", meta.images.list[i].id.ptr, meta.images.list[i].name.ptr,
                     meta.images.list[i].digest.ptr);
    CHECK_STR(lks_buf_view(&got),
              "default r.io/train@" SHA(1) " " SHA(
                  1) "\n"
                     "default r.io/train:7 " SHA(4) "\n"
                                                    "k8s.io r.io/train:7 " SHA(
                                                        1) "\n"
                                                           "k8s.io r.io/train:latest " SHA(
                                                               1) "\n"
                                                                  "k8s.io r.io/pinned@" SHA(
                                                                      2) " " SHA(2) "\n");
    CHECK_INT(meta.images.left, 2);
    CHECK_INT(meta.count, 3);
    check_find(&meta, "k8s.io", "overlayfs", HEX(b), "k8s.io/2/" SHA(b));
    check_find(&meta, "k8s.io", "native", HEX(b), "k8s.io/4/" SHA(b));
    check_find(&meta, "default", "overlayfs", HEX(b), "default/5/" SHA(b));
    check_find(&meta, "moby", "overlayfs", HEX(b), "none");
    check_find(&meta, "k8s.io", "overlayfs", HEX(c), "none");
}

/* More names than are listed are counted; more than are read are refused. */
static void test_many(void)
{
    enum { MANY = LKS_CONTAINERD_NAMES_MAX + 1 };
    static struct lks_test_bolt_row rows[MANY];
    static char paths[MANY][64];
    static const size_t counts[] = {LKS_IMAGESTORE_IMAGES_MAX + 3, MANY};
    for (size_t i = 0; i < MANY; i++) {
        snprintf(paths[i], sizeof(paths[i]), "v1|k8s.io|images|r.io/i:%05zu|target|digest", i);
        rows[i] = (struct lks_test_bolt_row){paths[i], LKS_STR(SHA(1))};
    }
    for (size_t i = 0; i < LKS_COUNT(counts); i++) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf db = {0};
        struct lks_test_bolt_file file;
        struct lks_containerd_meta meta = {0};
        struct lks_err err = {0};
        lks_arena_init(&arena, MEMORY_MAX);
        lks_test_case("%zu", counts[i]);
        struct lks_bolt bolt = open_rows(&file, &db, rows, counts[i]);
        CHECK_CODE(lks_containerd_meta(&bolt, &arena, &meta, &err), i == 0 ? LKS_OK : LKS_E_LIMIT);
        CHECK_INT(meta.images.count, i == 0 ? LKS_IMAGESTORE_IMAGES_MAX : 0);
        CHECK_INT(meta.images.left, i == 0 ? 3 : 0);
        CHECK_STR(lks_str_from(err.msg),
                  i == 0 ? "" : "meta.db: has more than 8192 names of images");
    }
}

static void test_numbers(void)
{
    static const struct lks_test_bolt_row rows[] = {
        NUMBER("k8s.io/2/" SHA(b), "\x07"),   NUMBER("k8s.io/10/" SHA(c), "\xac\x02"),
        NUMBER("k8s.io/11/none", ""),         NUMBER("k8s.io/12/cut", "\xac"),
        NUMBER("k8s.io/13/more", "\x07\x07"), {"v1|snapshots|k8s.io/2/" SHA(b) "|kind", V("\x03")},
        {"v1|parents|\x01|id", V("\x09")},
    };
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf db = {0};
    struct lks_test_bolt_file file;
    struct lks_containerd_numbers numbers = {0};
    struct lks_err err = {0};
    uint64_t n = 0;
    lks_arena_init(&arena, MEMORY_MAX);
    struct lks_bolt bolt = open_rows(&file, &db, rows, LKS_COUNT(rows));
    CHECK_CODE(lks_containerd_numbers(&bolt, &arena, &numbers, &err), LKS_OK);
    CHECK_INT(numbers.count, 2);
    CHECK(lks_containerd_number_of(&numbers, LKS_STR("k8s.io/2/" SHA(b)), &n) && n == 7);
    CHECK(lks_containerd_number_of(&numbers, LKS_STR("k8s.io/10/" SHA(c)), &n) && n == 300);
    CHECK(!lks_containerd_number_of(&numbers, LKS_STR("k8s.io/3/" SHA(b)), &n));
}

/* Manifests ---------------------------------------------------------------------------------- */

static const struct {
    const char *name, *json,
        *want; /* want: the configuration, or digests of an index, or why not */
    enum lks_code code;
} manifests[] = {
    {"a manifest", "{\"config\":{\"digest\":\"" SHA(1) "\"},\"layers\":[]}", SHA(1), LKS_OK},
    {"an index", "{\"manifests\":[{\"digest\":\"" SHA(1) "\"},{\"digest\":\"" SHA(2) "\"}]}",
     "index " SHA(1) " " SHA(2), LKS_OK},
    {"an empty index", "{\"manifests\":[]}", "index", LKS_OK},
    {"an index that has a configuration as well",
     "{\"config\":{\"digest\":\"" SHA(1) "\"},\"manifests\":[{\"digest\":\"" SHA(2) "\"}]}",
     "index " SHA(2), LKS_OK},
    {"neither", "{\"schemaVersion\":1}", "b: has neither a configuration nor manifests",
     LKS_E_INVALID},
    {"another digest", "{\"config\":{\"digest\":\"sha256:../../etc\"}}",
     "b: has neither a configuration nor manifests", LKS_E_INVALID},
    {"an index without digests", "{\"manifests\":[{}]}", "b: a manifest without a digest",
     LKS_E_INVALID},
    {"a list", "[]", "b: has neither a configuration nor manifests", LKS_E_INVALID},
};

static void test_manifests(void)
{
    for (size_t i = 0; i < LKS_COUNT(manifests); i++) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf got = LKS_BUF(TEXT_MAX);
        struct lks_containerd_manifest m = {0};
        struct lks_err err = {0};
        lks_arena_init(&arena, MEMORY_MAX);
        lks_test_case("%s", manifests[i].name);
        enum lks_code code =
            lks_containerd_manifest("b", lks_str_from(manifests[i].json), &arena, &m, &err);
        CHECK_CODE(code, manifests[i].code);
        lks_buf_addf(&got, "%s%s", err.msg, m.list != NULL ? "index" : "");
        lks_buf_add(&got, m.config);
        for (size_t k = 0; k < m.count; k++)
            lks_buf_addf(&got, " %s", m.list[k].ptr);
        CHECK_STR(lks_buf_view(&got), manifests[i].want);
    }
}

static void test_large_index(void)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(TEXT_MAX);
    struct lks_containerd_manifest m = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, MEMORY_MAX);
    lks_buf_addf(&json, "{\"manifests\":[");
    for (int i = 0; i <= LKS_CONTAINERD_MANIFESTS_MAX; i++)
        lks_buf_addf(&json, "%s{\"digest\":\"" SHA(1) "\"}", i > 0 ? "," : "");
    lks_buf_addf(&json, "]}");
    CHECK_CODE(lks_containerd_manifest("b", lks_buf_view(&json), &arena, &m, &err), LKS_E_LIMIT);
    CHECK_STR(lks_str_from(err.msg), "b: an index of more than 128 manifests");
}

/* config.toml -------------------------------------------------------------------------------- */

static const struct {
    const char *toml,
        *want; /* NULL: it sets none; else the root, or the end of why it is refused */
    bool refused;
} roots[] = {
    {"", NULL, false},
    {"version = 2\n", NULL, false},
    {"version = 2\nroot = \"/data/containerd\"\n", "/data/containerd", false},
    {"  root='/data/containerd/' # moved\r\n", "/data/containerd", false},
    {"#root = \"/data\"\n", NULL, false},
    {"state = \"/run/x\"\nroots = \"/x\"\n", NULL, false},
    {"[plugins.\"a\"]\nroot = \"/var/lib/nvidia\"\n", NULL, false},
    {"imports = [\n \"/etc/x.toml\"\n]\nroot = \"/d\"", "/d", false},
    {"root = /data", "root is no text in quotes", true},
    {"root = \"/data", "root is no text in quotes", true},
    {"root = \"/data\" x", "root is no text in quotes", true},
    {"root = \"\"", "its images are not read", true},
    {"root = \"/\"", "its images are not read", true},
    {"root = \"data\"", "its images are not read", true},
    {"root = \"/data/../x\"", "its images are not read", true},
    {"root = \"/data/./x\"", "its images are not read", true},
    {"root = \"/data//x\"", "its images are not read", true},
    {"root = \"/data/*\"", "its images are not read", true},
    {"root = \"/data\\u002f\"", "its images are not read", true},
    {"root = \"/da\tta\"", "its images are not read", true},
};

static void test_roots(void)
{
    for (size_t i = 0; i < LKS_COUNT(roots); i++) {
        struct lks_str root = {0};
        struct lks_err err = {0};
        lks_test_case("%s", roots[i].toml);
        enum lks_code code = lks_containerd_root("c", lks_str_from(roots[i].toml), &root, &err);
        CHECK_CODE(code, roots[i].refused        ? LKS_E_INVALID
                         : roots[i].want == NULL ? LKS_E_NOT_FOUND
                                                 : LKS_OK);
        if (roots[i].want == NULL)
            CHECK_STR(lks_str_from(err.msg), "c: does not set root");
        else
            CHECK_HAS(roots[i].refused ? lks_str_from(err.msg) : root, roots[i].want);
        CHECK(roots[i].refused || roots[i].want == NULL || lks_str_is(root, roots[i].want));
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){{"containerd: metadata", test_meta},
                                                   {"containerd: many", test_many},
                                                   {"containerd: numbers", test_numbers},
                                                   {"containerd: manifests", test_manifests},
                                                   {"containerd: large index", test_large_index},
                                                   {"containerd: roots", test_roots},
                                                   {0}});
}
