/* bbolt databases: what is read of them, damaged ones, and ones that change while they are read. */
#include "tests/bolt_file.h"
#include "tests/elf_image.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20, MANY = 300, META = 16, PAGE = 1024 };

static const struct lks_bolt_path images = {{"v1", NULL, "images", NULL, "target", "digest"}, 6};

/* A database as it is read, and what was read. */
struct reader {
    struct lks_test_bolt_file file;
    const struct lks_bolt_path *path;
    struct lks_buf text; /* a line for each value: its keys that the path does not name, and it */
    unsigned opened, paused;
};

static enum lks_code say(void *ctx, const struct lks_str *keys, struct lks_str value,
                         struct lks_err *err)
{
    struct reader *r = ctx;
    for (size_t i = 0; i < r->path->count; i++) {
        if (r->path->keys[i] == NULL)
            lks_buf_addf(&r->text, "%" LKS_STR_FMT " ", LKS_STR_ARG(keys[i]));
    }
    lks_buf_addf(&r->text, "= %" LKS_STR_FMT "\n", LKS_STR_ARG(value));
    return lks_buf_check(&r->text, err);
}

static enum lks_code open_now(void *ctx, struct lks_bolt_file *out, struct lks_err *err)
{
    struct reader *r = ctx;
    (void)err;
    r->opened++;
    lks_buf_fini(&r->text);
    lks_buf_init(&r->text, TEXT_MAX);
    *out = (struct lks_bolt_file){"meta.db", lks_test_bolt_state(&r->file)->len, &r->file,
                                  lks_test_bolt_read};
    return LKS_OK;
}

static enum lks_code walk(void *ctx, struct lks_bolt *bolt, struct lks_err *err)
{
    struct reader *r = ctx;
    return lks_bolt_walk(bolt, r->path, say, r, err);
}

static void note_pause(void *ctx, unsigned tries)
{
    struct reader *r = ctx;
    CHECK_INT(tries, r->opened);
    r->paused++;
}

static enum lks_code read_all(struct reader *r, struct lks_err *err)
{
    const struct lks_bolt_reading reading = {r, open_now, walk, note_pause};
    return lks_bolt_read(&reading, err);
}

static struct lks_str text_of(const struct reader *r)
{
    return r->text.ptr == NULL ? LKS_STR("") : lks_buf_view(&r->text);
}

/* Walking ------------------------------------------------------------------------------------ */

#define IMAGE(space, name, digest)                                                                 \
    {                                                                                              \
        "v1|" space "|images|" name "|target|digest",                                              \
        {                                                                                          \
            digest, sizeof(digest) - 1                                                             \
        }                                                                                          \
    }

static const struct lks_test_bolt_row two_spaces[] = {
    IMAGE("k8s.io", "r.io/train:7", "one"),
    IMAGE("k8s.io", "r.io/train:6", "two"),
    IMAGE("default", "r.io/eval:1", "three"),
    {"v1|k8s.io|images|r.io/train:7|target|size", LKS_STR_C("\x05")},
    {"v1|k8s.io|images|r.io/none:1|labels|", {0}},
    {"v1|k8s.io|images|plain", LKS_STR_C("no bucket")},
    {"v1|k8s.io|leases|x|target|digest", LKS_STR_C("other")},
    {"v1|empty|", {0}},
    {"v1|version", LKS_STR_C("\x03")},
    {"v2|k8s.io|images|r.io/late:1|target|digest", LKS_STR_C("late")},
};
#define TWO_SPACES                                                                                 \
    "default r.io/eval:1 = three\n"                                                                \
    "k8s.io r.io/train:6 = two\n"                                                                  \
    "k8s.io r.io/train:7 = one\n"

static const struct {
    const char *name;
    size_t page_size, keys, step;
    bool apart;
} shapes[] = {
    {"small buckets within values", 0, 0, 0, false},
    {"every bucket with a page", 0, 0, 0, true},
    {"two keys in a page", 0, 2, 0, true},
    {"small pages", PAGE, 2, 0, false},
    {"large pages", 65536, 0, 0, true},
    {"few bytes at a time", PAGE, 3, 7, false},
};

static void test_shapes(void)
{
    for (size_t i = 0; i < LKS_COUNT(shapes); i++) {
        struct lks_buf db = lks_test_bolt_new(
            &(struct lks_test_bolt){two_spaces, LKS_COUNT(two_spaces), shapes[i].page_size,
                                    shapes[i].keys, 4, shapes[i].apart, 0});
        struct reader r = {.file = {&db, 1, 0, shapes[i].step, 0}, .path = &images};
        struct lks_err err = {0};
        lks_test_case("%s", shapes[i].name);
        CHECK_CODE(read_all(&r, &err), LKS_OK);
        CHECK_STR(text_of(&r), TWO_SPACES);
        lks_buf_fini(&r.text);
        lks_buf_fini(&db);
    }
}

/* Rows of many images; `names` has the bytes of their paths. */
struct rows {
    struct lks_test_bolt_row list[MANY];
    char names[MANY][64];
    char *large;
};

static void make_rows(struct rows *rows, const char *digest, struct lks_buf *want)
{
    for (int i = 0; i < MANY; i++) {
        snprintf(rows->names[i], sizeof(rows->names[i]),
                 "v1|k8s.io|images|r.io/i:%03d|target|digest", (i * 7) % MANY);
        rows->list[i] = (struct lks_test_bolt_row){rows->names[i], {digest, strlen(digest)}};
        lks_buf_addf(want, "k8s.io r.io/i:%03d = %s\n", i, digest);
    }
}

/* Trees of several levels, and values that go on in further pages. */
static void test_levels(void)
{
    static const size_t keys[] = {2, 3, 17, 64};
    static struct rows rows;
    static char large[3 * PAGE];
    memset(large, 'x', sizeof(large) - 1);
    const char *const digests[] = {"d", large};
    for (size_t i = 0; i < LKS_COUNT(keys) * LKS_COUNT(digests); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf want = LKS_BUF(TEXT_MAX);
        make_rows(&rows, digests[i % 2], &want);
        struct lks_buf db = lks_test_bolt_new(
            &(struct lks_test_bolt){rows.list, MANY, PAGE, keys[i / 2], 9, true, 0});
        struct reader r = {.file = {&db, 1, 0, 0, 0}, .path = &images};
        struct lks_err err = {0};
        lks_test_case("%zu keys in a page, values of %zu bytes", keys[i / 2],
                      strlen(digests[i % 2]));
        lks_buf_fini(&want);
        lks_buf_init(&want, (size_t)MANY * (sizeof(large) + 64));
        make_rows(&rows, digests[i % 2], &want);
        CHECK_CODE(read_all(&r, &err), LKS_OK);
        CHECK(lks_str_eq(text_of(&r), lks_buf_view(&want)));
        lks_buf_fini(&r.text);
        lks_buf_fini(&db);
    }
}

/* Damage ------------------------------------------------------------------------------------- */

/* Pages of the database below: 2 has the images, 3 what is above it, and so on. */
static const struct lks_test_bolt_row plain_rows[] = {
    IMAGE("k8s.io", "a:1", "one"),
    IMAGE("k8s.io", "b:1", "two"),
    IMAGE("k8s.io", "c:1", "three"),
};
enum {
    LEAF_A = 2, /* target of a:1 */
    BUCKET_A,   /* a:1 */
    LEAF_B,     /* and so on */
    BUCKET_B,
    LEAF_C,
    BUCKET_C,
    LEAF_AB,     /* of the images, the first two */
    LEAF_C_ONLY, /* the last */
    BRANCH,      /* above both */
    SPACE,       /* k8s.io */
    VERSION,     /* v1 */
    TOP,
    PAGES,
};
#define FIELD(page, element, at) ((size_t)(page)*PAGE + 16 + (size_t)(element)*16 + (at))

static const struct damage {
    const char *name;
    size_t at, len;
    uint64_t value;
    const char *want; /* NULL: read as ever */
} damages[] = {
    {"nothing", 0, 0, 0, NULL},
    {"the older meta page", PAGE + META, 4, 0, NULL},
    {"the number of a page", LEAF_A *PAGE, 8, LEAF_B,
     "meta.db: damaged: page 2 has another number in it"},
    {"a page that is none of keys", LEAF_A *PAGE + 8, 2, 0x10,
     "meta.db: damaged: page 2 holds no keys"},
    {"a page that is two kinds", LEAF_A *PAGE + 8, 2, 3, "meta.db: damaged: page 2 holds no keys"},
    {"more keys than fit", LEAF_A *PAGE + 10, 2, 64,
     "meta.db: damaged: page 2 counts more keys than fit"},
    {"as many keys as fit", LEAF_A *PAGE + 10, 2, 63,
     "meta.db: damaged: page 2 has a key or value outside of its place"},
    {"a page that goes on behind the end", TOP *PAGE + 12, 4, 1,
     "meta.db: damaged: page 13 goes on behind the end"},
    {"a page that goes on without end", LEAF_A *PAGE + 12, 4, UINT32_MAX,
     "meta.db: page 2 has more than 1048576 bytes"},
    {"a key before its page", FIELD(LEAF_A, 0, 4), 4, 0,
     "meta.db: damaged: page 2 has a key or value outside of its place"},
    {"a key behind its page", FIELD(LEAF_A, 0, 4), 4, UINT32_MAX,
     "meta.db: damaged: page 2 has a key or value outside of its place"},
    {"a key longer than its page", FIELD(LEAF_A, 0, 8), 4, UINT32_MAX,
     "meta.db: damaged: page 2 has a key or value outside of its place"},
    {"a value longer than its page", FIELD(LEAF_A, 0, 12), 4, PAGE,
     "meta.db: damaged: page 2 has a key or value outside of its place"},
    {"keys that share bytes", FIELD(LEAF_AB, 1, 4), 4, 16,
     "meta.db: damaged: page 8 has a key or value outside of its place"},
    {"a value that is a bucket", FIELD(LEAF_A, 0, 0), 4, 1, "b:1"},
    {"a bucket that is a value", FIELD(SPACE, 0, 0), 4, 0, ""},
    {"a bucket of a few bytes", FIELD(SPACE, 0, 12), 4, 15,
     "meta.db: damaged: page 11 has a bucket that is cut short"},
    {"keys that do not ascend", FIELD(LEAF_AB, 1, 8), 4, 0,
     "meta.db: damaged: page 8 has keys out of order"},
    {"a branch to itself", FIELD(BRANCH, 1, 8), 8, BRANCH,
     "meta.db: damaged: page 10 has keys out of order"},
    {"a branch to the same page twice", FIELD(BRANCH, 1, 8), 8, LEAF_AB,
     "meta.db: damaged: page 8 has keys out of order"},
    {"a branch to a meta page", FIELD(BRANCH, 0, 8), 8, 1,
     "meta.db: damaged: page 1 is not in the database"},
    {"a branch out of the database", FIELD(BRANCH, 0, 8), 8, PAGES,
     "meta.db: damaged: page 14 is not in the database"},
    {"a branch out of all numbers", FIELD(BRANCH, 0, 8), 8, UINT64_MAX,
     "meta.db: damaged: page 18446744073709551615 is not in the database"},
    {"a page without keys in a tree", LEAF_C_ONLY *PAGE + 10, 2, 0,
     "meta.db: damaged: page 9 is empty within a tree"},
    {"a branch without keys", BRANCH *PAGE + 10, 2, 0,
     "meta.db: damaged: page 10 is empty within a tree"},
};

static void plant_damage(struct lks_buf *db, const struct damage *d)
{
    if (d->len > 0)
        lks_test_elf_set(db, d->at, d->value, d->len);
}

static void test_damages(void)
{
    for (size_t i = 0; i < LKS_COUNT(damages); i++) {
        struct lks_buf db = lks_test_bolt_new(
            &(struct lks_test_bolt){plain_rows, LKS_COUNT(plain_rows), PAGE, 2, 4, true, 0});
        struct reader r = {.file = {&db, 1, 0, 0, 0}, .path = &images};
        struct lks_err err = {0};
        const char *want = damages[i].want;
        lks_test_case("%s", damages[i].name);
        CHECK_INT(db.len, PAGES * PAGE);
        plant_damage(&db, &damages[i]);
        bool told = want != NULL && strncmp(want, "meta.db", 7) == 0;
        enum lks_code code = read_all(&r, &err);
        CHECK_CODE(code, told ? err.code : LKS_OK);
        CHECK_STR(lks_str_from(err.msg), told ? want : "");
        if (!told)
            CHECK_HAS(text_of(&r), want != NULL ? want : "k8s.io a:1 = one");
        CHECK_INT(r.opened, 1);
        lks_buf_fini(&r.text);
        lks_buf_fini(&db);
    }
}

static const struct meta_damage {
    const char *name;
    size_t at, len;
    uint64_t value;
    bool both, sum;
    enum lks_code want;
} meta_damages[] = {
    {"the newer alone, torn", META + 48, 8, 9, false, false, LKS_OK},
    {"both torn", META + 48, 8, 9, true, false, LKS_E_INVALID},
    {"another program's", META, 4, 1, true, true, LKS_E_INVALID},
    {"another version", META + 4, 4, 3, true, true, LKS_E_INVALID},
    {"no meta pages", 8, 2, 2, true, true, LKS_E_INVALID},
    {"pages of no power of two", META + 8, 4, 1000, true, true, LKS_E_INVALID},
    {"pages of no bytes", META + 8, 4, 0, true, true, LKS_E_INVALID},
    {"pages of 512 bytes", META + 8, 4, 512, true, true, LKS_E_INVALID},
    {"pages of a megabyte", META + 8, 4, 1 << 20, true, true, LKS_E_INVALID},
    {"a top that is a meta page", META + 16, 8, 0, true, true, LKS_E_INVALID},
    {"a top outside", META + 16, 8, PAGES, true, true, LKS_E_INVALID},
    {"more pages than the file has", META + 40, 8, PAGES * 2, true, true, LKS_OK},
    {"no pages", META + 40, 8, 0, true, true, LKS_E_INVALID},
};

static void test_metas(void)
{
    for (size_t i = 0; i < LKS_COUNT(meta_damages); i++) {
        const struct meta_damage *d = &meta_damages[i];
        struct lks_buf db = lks_test_bolt_new(
            &(struct lks_test_bolt){plain_rows, LKS_COUNT(plain_rows), PAGE, 2, 4, true, 0});
        struct reader r = {.file = {&db, 1, 0, 0, 0}, .path = &images};
        struct lks_err err = {0};
        lks_test_case("%s", d->name);
        for (size_t page = 0; page <= d->both; page++) {
            lks_test_elf_set(&db, page * PAGE + d->at, d->value, d->len);
            if (d->sum)
                lks_test_bolt_sum(&db, page * PAGE);
        }
        CHECK_CODE(read_all(&r, &err), d->want);
        CHECK_HAS(text_of(&r), d->want == LKS_OK ? "k8s.io a:1 = one" : "");
        lks_buf_fini(&r.text);
        lks_buf_fini(&db);
    }
}

static enum lks_code open_huge(void *ctx, struct lks_bolt_file *out, struct lks_err *err)
{
    if (open_now(ctx, out, err) != LKS_OK)
        return err->code;
    out->size = LKS_BOLT_FILE_MAX + 1;
    return LKS_OK;
}

/* Every length that a file can have: nothing is read but what is there. */
static void test_lengths(void)
{
    struct lks_buf db = lks_test_bolt_new(
        &(struct lks_test_bolt){plain_rows, LKS_COUNT(plain_rows), PAGE, 2, 4, true, 0});
    struct reader r = {.file = {&db, 1, 0, 0, 0}, .path = &images};
    struct lks_err err = {0};
    const struct lks_bolt_reading huge = {&r, open_huge, walk, note_pause};
    CHECK_CODE(lks_bolt_read(&huge, &err), LKS_E_LIMIT);
    CHECK_STR(lks_str_from(err.msg), "meta.db: has 4294967297 bytes, and databases of more than "
                                     "4294967296 are not read");
    for (size_t len = db.len; len-- > 0;) {
        lks_test_case("%zu bytes", len);
        lks_buf_truncate(&db, len);
        r.opened = 0;
        CHECK_CODE(read_all(&r, &err), LKS_E_INVALID);
    }
    lks_buf_fini(&r.text);
    lks_buf_fini(&db);
}

/* A branch of one key leads to itself: nothing but its depth ends it. */
static void test_depth(void)
{
    struct lks_buf db = lks_test_bolt_new(
        &(struct lks_test_bolt){plain_rows, LKS_COUNT(plain_rows), PAGE, 2, 4, true, 0});
    struct reader r = {.file = {&db, 1, 0, 0, 0}, .path = &images};
    struct lks_err err = {0};
    lks_test_elf_set(&db, BRANCH * PAGE + 10, 1, 2);
    lks_test_elf_set(&db, FIELD(BRANCH, 0, 8), BRANCH, 8);
    CHECK_CODE(read_all(&r, &err), LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg),
              "meta.db: damaged: page 10 is deeper in its tree than trees can be");
    lks_buf_fini(&r.text);
    lks_buf_fini(&db);
}

/* Changes ------------------------------------------------------------------------------------ */

static const struct lks_test_bolt_row before_rows[] = {
    IMAGE("k8s.io", "r.io/train:7", "sha256:before"),
    IMAGE("k8s.io", "r.io/eval:1", "sha256:eval"),
    IMAGE("default", "r.io/train:7", "sha256:before"),
};
static const struct lks_test_bolt_row between_rows[] = {
    IMAGE("k8s.io", "r.io/train:7", "sha256:between"),
    IMAGE("default", "r.io/train:7", "sha256:before"),
};
static const struct lks_test_bolt_row after_rows[] = {
    IMAGE("default", "r.io/train:7", "sha256:after"),
    IMAGE("k8s.io", "r.io/train:7", "sha256:after"),
    IMAGE("k8s.io", "r.io/train:8", "sha256:eval"),
};
#define BEFORE                                                                                     \
    "default r.io/train:7 = sha256:before\nk8s.io r.io/eval:1 = sha256:eval\n"                     \
    "k8s.io r.io/train:7 = sha256:before\n"
#define BETWEEN "default r.io/train:7 = sha256:before\nk8s.io r.io/train:7 = sha256:between\n"
#define AFTER                                                                                      \
    "default r.io/train:7 = sha256:after\nk8s.io r.io/train:7 = sha256:after\n"                    \
    "k8s.io r.io/train:8 = sha256:eval\n"

/* The file as bbolt writes it, each state a write after the one before. Transaction 6 is there; 7
 * writes its pages behind those of 6, then its meta page; 8 writes its pages over those of 6, which
 * nothing of 7 refers to, then its meta page in two halves. */
enum { STATES = 6 };

static void put(struct lks_buf *file, const struct lks_buf *from, size_t page, size_t bytes)
{
    LKS_ASSERT(page * PAGE + bytes <= from->len && page * PAGE + bytes <= file->len);
    memcpy(file->ptr + page * PAGE, from->ptr + page * PAGE, bytes);
}

static void make_states(struct lks_buf states[STATES])
{
    struct lks_buf six = lks_test_bolt_new(
        &(struct lks_test_bolt){before_rows, LKS_COUNT(before_rows), PAGE, 2, 6, true, 0});
    struct lks_buf seven = lks_test_bolt_new(&(struct lks_test_bolt){
        between_rows, LKS_COUNT(between_rows), PAGE, 2, 7, true, six.len / PAGE});
    struct lks_buf eight = lks_test_bolt_new(
        &(struct lks_test_bolt){after_rows, LKS_COUNT(after_rows), PAGE, 2, 8, true, 0});
    LKS_ASSERT(eight.len <= six.len);
    for (size_t i = 0; i < STATES; i++) {
        states[i] = (struct lks_buf)LKS_BUF(TEXT_MAX);
        lks_buf_add(&states[i], lks_buf_view(i < 1 ? &six : &seven));
        put(&states[i], &six, 0, six.len);
        if (i >= 2)
            put(&states[i], &seven, 1, PAGE);
        if (i >= 3)
            put(&states[i], &eight, 2, eight.len - (size_t)2 * PAGE);
        if (i >= 4)
            put(&states[i], &eight, 0, i == 4 ? META + 52 : PAGE);
    }
    lks_buf_fini(&six);
    lks_buf_fini(&seven);
    lks_buf_fini(&eight);
}

/* Whenever the database changes, one of its states is read, as a whole. */
static void test_changes(void)
{
    struct lks_buf states[STATES];
    size_t again = 0, seen[3] = {0};
    const char *const wants[] = {BEFORE, BETWEEN, AFTER};
    make_states(states);
    for (size_t every = 1; every < 1200; every++) {
        struct reader r = {.file = {states, STATES, every, 16, 0}, .path = &images};
        struct lks_err err = {0};
        bool one = false;
        lks_test_case("a change after each %zu reads", every);
        CHECK_CODE(read_all(&r, &err), LKS_OK);
        for (size_t i = 0; i < LKS_COUNT(wants); i++) {
            seen[i] += lks_str_is(text_of(&r), wants[i]);
            one = one || lks_str_is(text_of(&r), wants[i]);
        }
        CHECK(one);
        CHECK_INT(r.paused + 1, r.opened);
        again += r.opened > 1;
        lks_buf_fini(&r.text);
    }
    lks_test_case("all states");
    CHECK(again > 0 && seen[0] > 0 && seen[1] > 0 && seen[2] > 0);
    for (size_t i = 0; i < STATES; i++)
        lks_buf_fini(&states[i]);
}

/* One that never rests is given up, with one line. */
static void test_restless(void)
{
    struct lks_buf states[256];
    for (size_t i = 0; i < LKS_COUNT(states); i++)
        states[i] = lks_test_bolt_new(
            &(struct lks_test_bolt){before_rows, LKS_COUNT(before_rows), PAGE, 2, i + 1, false, 0});
    struct reader r = {.file = {states, LKS_COUNT(states), 6, 0, 0}, .path = &images};
    struct lks_err err = {0};
    CHECK_CODE(read_all(&r, &err), LKS_E_UNAVAILABLE);
    CHECK_STR(lks_str_from(err.msg),
              "meta.db: changed each of the 64 times it was read; it is read "
              "again with the next inventory");
    CHECK_INT(r.opened, LKS_BOLT_TRIES_MAX);
    lks_buf_fini(&r.text);
    for (size_t i = 0; i < LKS_COUNT(states); i++)
        lks_buf_fini(&states[i]);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){{"bolt: shapes", test_shapes},
                                                   {"bolt: levels", test_levels},
                                                   {"bolt: damages", test_damages},
                                                   {"bolt: meta pages", test_metas},
                                                   {"bolt: lengths", test_lengths},
                                                   {"bolt: depth", test_depth},
                                                   {"bolt: changes", test_changes},
                                                   {"bolt: restless", test_restless},
                                                   {0}});
}
