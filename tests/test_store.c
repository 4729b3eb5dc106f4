/* The contract: what every store does, whichever it is. A new one is a line in `drivers`. */
#include "drivers/store_memory.h"
#include "drivers/store_sqlite.h"
#include "model/record.h"
#include "tests/rows.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)

/* What outlives a store: a folder, a disk. */
struct world {
    struct lks_tree tree;
    struct lks_memory_disk *disk;
    char path[128], copy[128];
    bool made;
};

static enum lks_code open_sqlite(struct world *w, struct lks_store *out, struct lks_err *err)
{
    enum lks_store_mode mode = w->made ? LKS_STORE_OWN : LKS_STORE_CREATE;
    w->made = true;
    return lks_store_sqlite_open(w->path, mode, out, err);
}

static enum lks_code open_sqlite_copy(struct world *w, struct lks_store *out, struct lks_err *err)
{
    return lks_store_sqlite_open(w->copy, LKS_STORE_OWN, out, err);
}

static enum lks_code open_memory(struct world *w, struct lks_store *out, struct lks_err *err)
{
    return lks_store_memory_open(w->disk, out, err);
}

static enum lks_code open_memory_copy(struct world *w, struct lks_store *out, struct lks_err *err)
{
    return lks_store_memory_open(lks_memory_disk_file(w->disk, w->copy), out, err);
}

static const struct driver {
    const char *name;
    enum lks_code (*open)(struct world *w, struct lks_store *out, struct lks_err *err);
    enum lks_code (*open_copy)(struct world *w, struct lks_store *out, struct lks_err *err);
} drivers[] = {
    {"memory", open_memory, open_memory_copy},
    {"sqlite", open_sqlite, open_sqlite_copy},
};

static struct world world_new(void)
{
    struct world w = {.tree = lks_tree_new(), .disk = lks_memory_disk_new()};
    LKS_ASSERT(w.disk != NULL);
    snprintf(w.path, sizeof(w.path), "%s/journal.db", w.tree.path);
    snprintf(w.copy, sizeof(w.copy), "%s/copy.db", w.tree.path);
    return w;
}

static void world_free(struct world *w)
{
    lks_memory_disk_free(w->disk);
    lks_tree_free(&w->tree);
}

static struct lks_store open_new(const struct driver *d, struct world *w)
{
    struct lks_store store = {0};
    struct lks_err err = {0};
    *w = world_new();
    CHECK_CODE(d->open(w, &store, &err), LKS_OK);
    LKS_ASSERT(store.ops != NULL);
    return store;
}

static void reopen(const struct driver *d, struct world *w, struct lks_store *store)
{
    struct lks_err err = {0};
    lks_store_close(store);
    CHECK_CODE(d->open(w, store, &err), LKS_OK);
    LKS_ASSERT(store->ops != NULL);
}

static enum lks_code put(const struct lks_store *store, const struct lks_store_batch *batch)
{
    struct lks_err err = {0};
    return store->ops->append(store->self, batch, &err);
}

static void put_rows(const struct lks_store *store, uint64_t first, size_t count)
{
    struct lks_test_rows rows;
    struct lks_store_batch batch = lks_test_rows_batch(&rows, first, count);
    CHECK_CODE(put(store, &batch), LKS_OK);
}

static void put_head(const struct lks_store *store, uint64_t seq)
{
    struct lks_head head = lks_test_rows_head(seq);
    CHECK_CODE(put(store, &(struct lks_store_batch){.head = &head}), LKS_OK);
}

static struct lks_store_blob blob_of(struct lks_str bytes)
{
    struct lks_err err = {0};
    struct lks_store_blob blob = {.bytes = bytes};
    CHECK_CODE(lks_digest_text(bytes, blob.digest, &err), LKS_OK);
    return blob;
}

static enum lks_code put_blob(const struct lks_store *store, struct lks_str bytes)
{
    struct lks_store_blob blob = blob_of(bytes);
    return put(store, &(struct lks_store_batch){.blobs = &blob, .blob_count = 1});
}

/* The numbers of the heads, as text: "3 7". */
static bool list_head(void *ctx, const struct lks_head *head)
{
    struct lks_buf *out = ctx;
    struct lks_head want = lks_test_rows_head(head->seq);
    CHECK_STR(lks_str_from(head->journal), want.journal);
    CHECK_INT(head->time, want.time);
    CHECK(memcmp(head->hash, want.hash, sizeof(want.hash)) == 0);
    CHECK(memcmp(head->signature, want.signature, sizeof(want.signature)) == 0);
    lks_buf_addf(out, "%s%" PRIu64, out->len > 0 ? " " : "", head->seq);
    return true;
}

static void check_heads(const struct lks_store *store, const char *want)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
    struct lks_err err = {0};
    lks_buf_init(&out, MIB);
    CHECK_CODE(store->ops->heads(store->self, 0, list_head, &out, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&out), want);
}

static bool count_blob(void *ctx, const char *digest, struct lks_str bytes)
{
    size_t *count = ctx;
    struct lks_store_blob want = blob_of(bytes);
    CHECK_STR(lks_str_from(digest), want.digest);
    (*count)++;
    return true;
}

static void check_blobs(const struct lks_store *store, size_t want)
{
    struct lks_err err = {0};
    size_t count = 0;
    CHECK_CODE(store->ops->blobs(store->self, count_blob, &count, &err), LKS_OK);
    CHECK_INT(count, want);
}

static enum lks_code read_blob(const struct lks_store *store, struct lks_str bytes)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
    struct lks_err err = {0};
    struct lks_store_blob want = blob_of(bytes);
    lks_buf_init(&out, LKS_STORE_BLOB_MAX);
    enum lks_code code = store->ops->blob(store->self, want.digest, &out, &err);
    if (code == LKS_OK)
        CHECK(lks_str_eq(lks_buf_view(&out), bytes));
    return code;
}

static void check_snapshot(const struct lks_store *store, uint64_t seq, struct lks_str bytes)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
    struct lks_err err = {0};
    uint64_t got = UINT64_MAX;
    lks_buf_init(&out, 64 * MIB);
    CHECK_CODE(store->ops->snapshot(store->self, &got, &out, &err), LKS_OK);
    CHECK_INT(got, seq);
    CHECK(lks_str_eq(lks_buf_view(&out), bytes));
}

static void test_empty(const struct driver *d)
{
    LKS_CLEANUP(world_free) struct world w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_new(d, &w);
    CHECK_STR(lks_str_from(store.ops->name), d->name);
    lks_test_tail_check(&store, 1, 0);
    lks_test_rows_check(&store, 1, 0);
    check_heads(&store, "");
    check_blobs(&store, 0);
    check_snapshot(&store, 0, LKS_STR(""));
    CHECK_CODE(read_blob(&store, LKS_STR("report")), LKS_E_NOT_FOUND);
    CHECK_CODE(put(&store, &(struct lks_store_batch){0}), LKS_OK);
    lks_test_tail_check(&store, 1, 0);
}

static void test_append(const struct driver *d)
{
    LKS_CLEANUP(world_free) struct world w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_new(d, &w);
    struct lks_test_rows rows;
    struct lks_store_batch batch = lks_test_rows_batch(&rows, 1, 20);
    struct lks_store_blob blobs[] = {blob_of(LKS_STR("report")), blob_of(LKS_STR("")),
                                     blob_of(LKS_STR("zero\0byte")), blob_of(LKS_STR("report"))};
    struct lks_head head = lks_test_rows_head(20);
    batch.blobs = blobs;
    batch.blob_count = LKS_COUNT(blobs);
    batch.head = &head;
    CHECK_CODE(put(&store, &batch), LKS_OK);
    put_rows(&store, 21, 1);
    put_rows(&store, 22, 40);
    for (int round = 0; round < 2; round++) {
        lks_test_rows_check(&store, 1, 61);
        lks_test_tail_check(&store, 1, 61);
        check_heads(&store, "20");
        check_blobs(&store, 3);
        CHECK_CODE(read_blob(&store, LKS_STR("report")), LKS_OK);
        CHECK_CODE(read_blob(&store, LKS_STR("")), LKS_OK);
        CHECK_CODE(read_blob(&store, LKS_STR("zero\0byte")), LKS_OK);
        CHECK_CODE(read_blob(&store, LKS_STR("other")), LKS_E_NOT_FOUND);
        reopen(d, &w, &store);
    }
}

/* At the edge of what a row can be. */
static bool is_last(void *ctx, const struct lks_row *row)
{
    const struct lks_row *want = ctx;
    CHECK_INT(row->seq, want->seq);
    CHECK_INT(row->time, want->time);
    CHECK_INT(row->kind, want->kind);
    CHECK_INT(row->version, want->version);
    CHECK(lks_str_eq(row->body, want->body));
    return true;
}

static void test_extremes(const struct driver *d)
{
    LKS_CLEANUP(world_free) struct world w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_new(d, &w);
    struct lks_err err = {0};
    char *body = calloc(1, LKS_RECORD_BODY_MAX);
    LKS_ASSERT(body != NULL);
    body[LKS_RECORD_BODY_MAX - 1] = 'x';
    struct lks_row row = {.seq = 1,
                          .time = INT64_MAX,
                          .kind = UINT16_MAX,
                          .version = UINT8_MAX,
                          .body = {body, LKS_RECORD_BODY_MAX}};
    CHECK_CODE(put(&store, &(struct lks_store_batch){.rows = &row, .row_count = 1}), LKS_OK);
    CHECK_CODE(store.ops->rows(store.self, 1, is_last, &row, &err), LKS_OK);
    free(body);
}

/* What is not a batch is refused before anything of it is written. */
static const struct {
    const char *name;
    uint64_t seq, time; /* of the second of two rows; they follow row 4 */
    size_t body;        /* its length */
    const char *digest; /* of a blob, if any */
    size_t blob;        /* its length */
    uint64_t head;      /* 0: none */
    enum lks_code code;
    const char *message;
} refusals[] = {
    {"a good one", 6, 1003, 0, NULL, 0, 6, LKS_OK, ""},
    {"the same number", 5, 1003, 0, NULL, 0, 0, LKS_E_INVALID, "row 5 does not follow row 5"},
    {"a gap", 7, 1003, 0, NULL, 0, 0, LKS_E_INVALID, "row 7 does not follow row 5"},
    {"back in time", 6, 1001, 0, NULL, 0, 0, LKS_E_INVALID, "row 6 is older"},
    {"beyond all time", 6, UINT64_MAX, 0, NULL, 0, 0, LKS_E_LIMIT, "a number over"},
    {"a body that is too long", 6, 1003, LKS_RECORD_BODY_MAX + 1, NULL, 0, 0, LKS_E_LIMIT,
     "row 6 has 4194305 bytes"},
    {"no digest", 6, 1003, 0, "", 0, 0, LKS_E_INVALID, "'' is not a digest"},
    {"half a digest", 6, 1003, 0, "sha256:12", 0, 0, LKS_E_INVALID, "is not a digest"},
    {"capital letters", 6, 1003, 0,
     "sha256:E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855", 0, 0, LKS_E_INVALID,
     "is not a digest"},
    {"a blob that is too long", 6, 1003, 0,
     "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     LKS_STORE_BLOB_MAX + 1, 0, LKS_E_LIMIT, "has 16777217 bytes"},
    {"a head beyond the end", 6, 1003, 0, NULL, 0, 7, LKS_E_INVALID,
     "a head at row 7 for a journal that ends at 6"},
};

static void try_refusal(const struct lks_store *store, size_t i, char *zeros)
{
    struct lks_err err = {0};
    struct lks_test_rows rows;
    struct lks_store_batch batch = lks_test_rows_batch(&rows, 5, 2);
    struct lks_store_blob blob = {.bytes = {zeros, refusals[i].blob}};
    struct lks_head head = lks_test_rows_head(refusals[i].head);
    rows.rows[1].seq = refusals[i].seq;
    rows.rows[1].time = refusals[i].time;
    if (refusals[i].body > 0)
        rows.rows[1].body = (struct lks_str){zeros, refusals[i].body};
    if (refusals[i].digest != NULL) {
        snprintf(blob.digest, sizeof(blob.digest), "%s", refusals[i].digest);
        batch.blobs = &blob;
        batch.blob_count = 1;
    }
    if (refusals[i].head > 0)
        batch.head = &head;
    CHECK_CODE(store->ops->append(store->self, &batch, &err), refusals[i].code);
    CHECK_HAS(lks_str_from(err.msg), refusals[i].message);
}

static void test_refusals(const struct driver *d)
{
    char *zeros = calloc(1, LKS_STORE_BLOB_MAX + 1);
    LKS_ASSERT(zeros != NULL);
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        lks_test_case("%s, %s", d->name, refusals[i].name);
        LKS_CLEANUP(world_free) struct world w = {0};
        LKS_CLEANUP(lks_store_close) struct lks_store store = open_new(d, &w);
        put_rows(&store, 1, 4);
        try_refusal(&store, i, zeros);
        uint64_t last = refusals[i].code == LKS_OK ? 6 : 4;
        lks_test_tail_check(&store, 1, last);
        lks_test_rows_check(&store, 1, last);
        check_blobs(&store, 0);
        if (last == 4)
            put_rows(&store, 5, 2);
        lks_test_rows_check(&store, 1, 6);
    }
    free(zeros);
}

static bool stop_at_three(void *ctx, const struct lks_row *row)
{
    uint64_t *seen = ctx;
    (*seen)++;
    return row->seq != 3;
}

static bool stop_head(void *ctx, const struct lks_head *head)
{
    uint64_t *seen = ctx;
    *seen = head->seq;
    return false;
}

static bool stop_blob(void *ctx, const char *digest, struct lks_str bytes)
{
    uint64_t *seen = ctx;
    (void)digest;
    (void)bytes;
    (*seen)++;
    return false;
}

static void test_reading(const struct driver *d)
{
    static const struct {
        uint64_t from, rows;
    } starts[] = {{0, 3}, {1, 3}, {2, 2}, {3, 1}, {4, 6}, {9, 1}, {10, 0}, {UINT64_MAX, 0}};
    LKS_CLEANUP(world_free) struct world w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_new(d, &w);
    struct lks_err err = {0};
    put_rows(&store, 1, 9);
    for (size_t i = 0; i < LKS_COUNT(starts); i++) {
        uint64_t seen = 0;
        CHECK_CODE(store.ops->rows(store.self, starts[i].from, stop_at_three, &seen, &err), LKS_OK);
        CHECK_INT(seen, starts[i].rows);
    }
    put_head(&store, 5);
    put_head(&store, 2);
    put_head(&store, 9);
    put_head(&store, 5);
    check_heads(&store, "2 5 9");
    uint64_t seen = 0;
    CHECK_CODE(store.ops->heads(store.self, 0, stop_head, &seen, &err), LKS_OK);
    CHECK_INT(seen, 2);
    CHECK_CODE(store.ops->heads(store.self, 3, stop_head, &seen, &err), LKS_OK);
    CHECK_INT(seen, 5);
    CHECK_CODE(store.ops->heads(store.self, UINT64_MAX, stop_head, &seen, &err), LKS_OK);
    CHECK_INT(seen, 5);
    CHECK_CODE(put_blob(&store, LKS_STR("a")), LKS_OK);
    CHECK_CODE(put_blob(&store, LKS_STR("b")), LKS_OK);
    seen = 0;
    CHECK_CODE(store.ops->blobs(store.self, stop_blob, &seen, &err), LKS_OK);
    CHECK_INT(seen, 1);
}

/* Bytes are looked up while rows are read, and rows while rows are. */
struct nested {
    const struct lks_store *store;
    uint64_t rows;
};

static bool read_within(void *ctx, const struct lks_row *row)
{
    struct nested *n = ctx;
    (void)row;
    CHECK_CODE(read_blob(n->store, LKS_STR("report")), LKS_OK);
    lks_test_rows_check(n->store, 1, 6);
    lks_test_tail_check(n->store, 1, 6);
    n->rows++;
    return true;
}

static void test_nested(const struct driver *d)
{
    LKS_CLEANUP(world_free) struct world w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_new(d, &w);
    struct lks_err err = {0};
    struct nested n = {.store = &store};
    put_rows(&store, 1, 6);
    CHECK_CODE(put_blob(&store, LKS_STR("report")), LKS_OK);
    CHECK_CODE(store.ops->rows(store.self, 1, read_within, &n, &err), LKS_OK);
    CHECK_INT(n.rows, 6);
}

/* The first bytes under a digest stay, and a buffer's ceiling holds. */
static void test_blobs(const struct driver *d)
{
    LKS_CLEANUP(world_free) struct world w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_new(d, &w);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf small = {0};
    struct lks_err err = {0};
    struct lks_store_blob blob = blob_of(LKS_STR("report"));
    CHECK_CODE(put_blob(&store, LKS_STR("report")), LKS_OK);
    blob.bytes = LKS_STR("another");
    CHECK_CODE(put(&store, &(struct lks_store_batch){.blobs = &blob, .blob_count = 1}), LKS_OK);
    CHECK_CODE(read_blob(&store, LKS_STR("report")), LKS_OK);
    check_blobs(&store, 1);
    lks_buf_init(&small, 5);
    CHECK_CODE(store.ops->blob(store.self, blob.digest, &small, &err), LKS_E_LIMIT);

    char *large = calloc(1, LKS_STORE_BLOB_MAX);
    LKS_ASSERT(large != NULL);
    large[LKS_STORE_BLOB_MAX - 1] = 'x';
    CHECK_CODE(put_blob(&store, (struct lks_str){large, LKS_STORE_BLOB_MAX}), LKS_OK);
    CHECK_CODE(read_blob(&store, (struct lks_str){large, LKS_STORE_BLOB_MAX}), LKS_OK);
    free(large);
}

static void test_snapshot(const struct driver *d)
{
    static const size_t sizes[] = {0, 1, 8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 20 * MIB, 3};
    LKS_CLEANUP(world_free) struct world w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_new(d, &w);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf small = {0};
    struct lks_err err = {0};
    char *bytes = malloc(20 * MIB);
    LKS_ASSERT(bytes != NULL);
    for (size_t i = 0; i < 20 * MIB; i++)
        bytes[i] = (char)(i % 251);
    put_rows(&store, 1, 9);
    CHECK_CODE(store.ops->snapshot_put(store.self, 0, LKS_STR("x"), &err), LKS_E_INVALID);
    CHECK_CODE(store.ops->snapshot_put(store.self, 10, LKS_STR("x"), &err), LKS_E_INVALID);
    struct lks_str huge = {bytes, LKS_STORE_SNAPSHOT_MAX + 1};
    CHECK_CODE(store.ops->snapshot_put(store.self, 9, huge, &err), LKS_E_LIMIT);
    check_snapshot(&store, 0, LKS_STR(""));
    for (size_t i = 0; i < LKS_COUNT(sizes); i++) {
        lks_test_case("%s, %zu bytes", d->name, sizes[i]);
        struct lks_str want = {bytes, sizes[i]};
        CHECK_CODE(store.ops->snapshot_put(store.self, i + 1, want, &err), LKS_OK);
        check_snapshot(&store, i + 1, want);
        reopen(d, &w, &store);
        check_snapshot(&store, i + 1, want);
    }
    uint64_t seq = 99;
    lks_buf_init(&small, 2);
    CHECK_CODE(store.ops->snapshot(store.self, &seq, &small, &err), LKS_E_LIMIT);
    CHECK_INT(seq, 99);
    free(bytes);
}

static bool keep_a(void *ctx, const char *digest)
{
    size_t *asked = ctx;
    struct lks_store_blob a = blob_of(LKS_STR("a"));
    (*asked)++;
    return strcmp(digest, a.digest) == 0;
}

static void test_trim(const struct driver *d)
{
    LKS_CLEANUP(world_free) struct world w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_new(d, &w);
    struct lks_err err = {0};
    size_t asked = 0;
    put_rows(&store, 1, 30);
    for (uint64_t seq = 5; seq <= 30; seq += 5)
        put_head(&store, seq);
    CHECK_CODE(put_blob(&store, LKS_STR("a")), LKS_OK);
    CHECK_CODE(put_blob(&store, LKS_STR("b")), LKS_OK);
    CHECK_CODE(store.ops->snapshot_put(store.self, 25, LKS_STR("state"), &err), LKS_OK);

    CHECK_CODE(store.ops->trim(store.self, 31, keep_a, &asked, &err), LKS_E_INVALID);
    check_blobs(&store, 2);
    CHECK_CODE(store.ops->trim(store.self, 0, NULL, NULL, &err), LKS_OK);
    lks_test_tail_check(&store, 1, 30);
    check_heads(&store, "5 10 15 20 25 30");
    CHECK_CODE(store.ops->trim(store.self, 15, keep_a, &asked, &err), LKS_OK);
    CHECK_INT(asked, 2);
    for (int round = 0; round < 2; round++) {
        lks_test_tail_check(&store, 16, 30);
        lks_test_rows_check(&store, 16, 30);
        check_heads(&store, "15 20 25 30");
        check_blobs(&store, 1);
        CHECK_CODE(read_blob(&store, LKS_STR("a")), LKS_OK);
        check_snapshot(&store, 25, LKS_STR("state"));
        reopen(d, &w, &store);
    }
    CHECK_CODE(put_blob(&store, LKS_STR("b")), LKS_OK);
    CHECK_CODE(read_blob(&store, LKS_STR("b")), LKS_OK);
    CHECK_CODE(store.ops->trim(store.self, 3, NULL, NULL, &err), LKS_OK);
    lks_test_tail_check(&store, 16, 30);
    CHECK_CODE(store.ops->trim(store.self, 30, NULL, NULL, &err), LKS_OK);
    lks_test_tail_check(&store, 31, 30);
    check_heads(&store, "30");
    put_rows(&store, 31, 2);
    lks_test_rows_check(&store, 31, 32);
}

static struct lks_store_tail tail_at(uint64_t first, uint64_t seq)
{
    struct lks_head head = lks_test_rows_head(seq);
    struct lks_store_tail tail = {.first = first, .seq = seq};
    if (seq > 0) {
        tail.time = head.time;
        memcpy(tail.hash, head.hash, sizeof(tail.hash));
    }
    return tail;
}

static enum lks_code cut_at(const struct lks_store *store, uint64_t from, uint64_t first,
                            uint64_t seq)
{
    struct lks_err err = {0};
    struct lks_store_tail tail = tail_at(first, seq);
    return store->ops->cut(store->self, from, &tail, NULL, &err);
}

static void test_cut(const struct driver *d)
{
    LKS_CLEANUP(world_free) struct world w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_new(d, &w);
    struct lks_err err = {0};
    put_rows(&store, 1, 30);
    put_head(&store, 10);
    put_head(&store, 20);
    put_head(&store, 30);
    CHECK_CODE(store.ops->snapshot_put(store.self, 20, LKS_STR("state"), &err), LKS_OK);
    CHECK_CODE(cut_at(&store, 0, 1, 0), LKS_E_INVALID);
    CHECK_CODE(cut_at(&store, 22, 1, 20), LKS_E_INVALID);
    CHECK_CODE(cut_at(&store, 21, 22, 20), LKS_E_INVALID);
    CHECK_CODE(cut_at(&store, 21, 0, 20), LKS_E_INVALID);
    lks_test_rows_check(&store, 1, 30);

    CHECK_CODE(cut_at(&store, 21, 1, 20), LKS_OK);
    lks_test_tail_check(&store, 1, 20);
    lks_test_rows_check(&store, 1, 20);
    check_heads(&store, "10 20");
    check_snapshot(&store, 20, LKS_STR("state"));
    put_rows(&store, 21, 5);

    CHECK_CODE(cut_at(&store, 20, 1, 19), LKS_OK);
    reopen(d, &w, &store);
    lks_test_tail_check(&store, 1, 19);
    check_heads(&store, "10");
    check_snapshot(&store, 0, LKS_STR(""));
    put_rows(&store, 20, 3);
    CHECK_CODE(cut_at(&store, 1, 1, 0), LKS_OK);
    lks_test_tail_check(&store, 1, 0);
    lks_test_rows_check(&store, 1, 0);
    put_rows(&store, 1, 3);
    lks_test_rows_check(&store, 1, 3);
}

static void test_copy(const struct driver *d)
{
    LKS_CLEANUP(world_free) struct world w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_new(d, &w);
    LKS_CLEANUP(lks_store_close) struct lks_store copy = {0};
    struct lks_err err = {0};
    put_rows(&store, 1, 30);
    put_head(&store, 10);
    CHECK_CODE(put_blob(&store, LKS_STR("report")), LKS_OK);
    CHECK_CODE(store.ops->snapshot_put(store.self, 20, LKS_STR("state"), &err), LKS_OK);
    CHECK_CODE(store.ops->trim(store.self, 4, NULL, NULL, &err), LKS_OK);
    CHECK_CODE(cut_at(&store, 26, 5, 25), LKS_OK);

    CHECK_CODE(store.ops->copy(store.self, w.copy, &err), LKS_OK);
    CHECK_CODE(store.ops->copy(store.self, w.copy, &err), LKS_E_REFUSED);
    put_rows(&store, 26, 2);
    if (!CHECK_CODE(d->open_copy(&w, &copy, &err), LKS_OK))
        return;
    lks_test_tail_check(&copy, 5, 25);
    lks_test_rows_check(&copy, 5, 25);
    check_heads(&copy, "10");
    check_blobs(&copy, 1);
    check_snapshot(&copy, 20, LKS_STR("state"));
    put_rows(&copy, 26, 20);
    lks_test_rows_check(&store, 5, 27);
    lks_test_rows_check(&copy, 5, 45);
}

static void test_one_owner(const struct driver *d)
{
    LKS_CLEANUP(world_free) struct world w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_new(d, &w);
    struct lks_store second = {0};
    struct lks_err err = {0};
    put_rows(&store, 1, 3);
    for (int i = 0; i < 3; i++)
        CHECK_CODE(d->open(&w, &second, &err), LKS_E_REFUSED);
    CHECK(second.ops == NULL);
    put_rows(&store, 4, 3);
    reopen(d, &w, &store);
    lks_test_rows_check(&store, 1, 6);
}

/* Every part of the contract, for every store. */
static const struct {
    const char *name;
    void (*run)(const struct driver *d);
} contract[] = {
    {"empty", test_empty},       {"append", test_append},     {"extremes", test_extremes},
    {"refusals", test_refusals}, {"reading", test_reading},   {"nested", test_nested},
    {"blobs", test_blobs},       {"snapshot", test_snapshot}, {"trim", test_trim},
    {"cut", test_cut},           {"copy", test_copy},         {"one owner", test_one_owner},
};

static void test_contract(void)
{
    for (size_t i = 0; i < LKS_COUNT(contract); i++) {
        for (size_t k = 0; k < LKS_COUNT(drivers); k++) {
            lks_test_case("%s, %s", drivers[k].name, contract[i].name);
            contract[i].run(&drivers[k]);
        }
    }
}

/* ---- what only the disk in memory does ---- */

/* Three rows, two blobs, a commit: six statements. */
static enum lks_code put_six(const struct lks_store *store)
{
    struct lks_test_rows rows;
    struct lks_store_batch batch = lks_test_rows_batch(&rows, 3, 3);
    struct lks_store_blob blobs[] = {blob_of(LKS_STR("a")), blob_of(LKS_STR("b"))};
    struct lks_head head = lks_test_rows_head(5);
    batch.blobs = blobs;
    batch.blob_count = LKS_COUNT(blobs);
    batch.head = &head;
    return put(store, &batch);
}

static const struct {
    const char *name;
    enum lks_memory_crash how;
    enum lks_code code;
    bool stays; /* the batch is there afterwards */
    bool lives; /* the store goes on */
} crashes[] = {
    {"no crash", LKS_MEMORY_NO_CRASH, LKS_OK, true, true},
    {"before", LKS_MEMORY_CRASH_BEFORE, LKS_E_IO, false, false},
    {"after", LKS_MEMORY_CRASH_AFTER, LKS_E_IO, true, false},
    {"full", LKS_MEMORY_FULL, LKS_E_UNAVAILABLE, false, true},
};

static void check_six(const struct lks_store *store, bool there)
{
    lks_test_tail_check(store, 1, there ? 5 : 2);
    lks_test_rows_check(store, 1, there ? 5 : 2);
    check_heads(store, there ? "5" : "");
    check_blobs(store, there ? 2 : 0);
}

static void crash_at(size_t i, uint64_t statements)
{
    lks_test_case("%s, after %d statements", crashes[i].name, (int)statements);
    const struct driver *d = &drivers[0];
    LKS_CLEANUP(world_free) struct world w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_new(d, &w);
    LKS_CLEANUP(lks_store_close) struct lks_store second = {0};
    struct lks_store_tail tail = {0};
    struct lks_err err = {0};
    put_rows(&store, 1, 2);
    lks_memory_disk_fail(w.disk, crashes[i].how, statements);
    bool falls = statements < 6;
    CHECK_CODE(put_six(&store), falls ? crashes[i].code : LKS_OK);
    if (crashes[i].how == LKS_MEMORY_FULL && falls) {
        CHECK_CODE(put_six(&store), LKS_E_UNAVAILABLE);
        check_six(&store, false);
        lks_memory_disk_fail(w.disk, LKS_MEMORY_NO_CRASH, 0);
        CHECK_CODE(put_six(&store), LKS_OK);
        check_six(&store, true);
        return;
    }
    if (crashes[i].lives || !falls) {
        check_six(&store, true);
        return;
    }
    CHECK_CODE(store.ops->tail(store.self, &tail, &err), LKS_E_IO);
    CHECK_CODE(put_six(&store), LKS_E_IO);
    if (CHECK_CODE(d->open(&w, &second, &err), LKS_OK))
        check_six(&second, crashes[i].stays);
}

static void test_crash_at_every_statement(void)
{
    for (size_t i = 0; i < LKS_COUNT(crashes); i++) {
        for (uint64_t statements = 0; statements <= 6; statements++)
            crash_at(i, statements);
    }
}

/* A crash may be some batches away, and falls in whatever is written then. */
static void test_crash_later(void)
{
    const struct driver *d = &drivers[0];
    LKS_CLEANUP(world_free) struct world w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_new(d, &w);
    struct lks_err err = {0};
    lks_memory_disk_fail(w.disk, LKS_MEMORY_CRASH_BEFORE, 6);
    put_rows(&store, 1, 2);
    CHECK_CODE(store.ops->snapshot_put(store.self, 2, LKS_STR("state"), &err), LKS_OK);
    CHECK_CODE(store.ops->trim(store.self, 1, NULL, NULL, &err), LKS_E_IO);
    reopen(d, &w, &store);
    lks_test_rows_check(&store, 1, 2);
    check_snapshot(&store, 2, LKS_STR("state"));
    lks_memory_disk_fail(w.disk, LKS_MEMORY_CRASH_AFTER, 0);
    CHECK_CODE(cut_at(&store, 2, 1, 1), LKS_E_IO);
    reopen(d, &w, &store);
    lks_test_rows_check(&store, 1, 1);
    CHECK_INT(lks_memory_disk_aside(w.disk), 1);
    lks_memory_disk_fail(w.disk, LKS_MEMORY_FULL, 1);
    CHECK_CODE(store.ops->snapshot_put(store.self, 1, LKS_STR("s"), &err), LKS_E_UNAVAILABLE);
}

struct seen {
    uint64_t seqs[8];
    size_t count;
    char first;
};

static bool see(void *ctx, const struct lks_row *row)
{
    struct seen *seen = ctx;
    if (seen->count == 0)
        seen->first = row->body.ptr[0];
    if (seen->count < LKS_COUNT(seen->seqs))
        seen->seqs[seen->count++] = row->seq;
    return true;
}

/* What tests do to a disk shows: an edited row, a dropped one, two that changed places. */
static void test_tampering(void)
{
    LKS_CLEANUP(world_free) struct world w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_new(&drivers[0], &w);
    struct lks_err err = {0};
    struct seen seen = {0};
    put_rows(&store, 1, 5);
    CHECK(lks_memory_disk_row(w.disk, 6) == NULL);
    lks_memory_disk_row(w.disk, 1)->body = LKS_STR("edited");
    lks_memory_disk_drop(w.disk, 3);
    lks_memory_disk_drop(w.disk, 6);
    struct lks_row *four = lks_memory_disk_row(w.disk, 4), *five = lks_memory_disk_row(w.disk, 5);
    four->seq = 5;
    five->seq = 4;
    CHECK_CODE(store.ops->rows(store.self, 1, see, &seen, &err), LKS_OK);
    CHECK_INT(seen.count, 4);
    CHECK_INT(seen.first, 'e');
    CHECK_INT(seen.seqs[1], 2);
    CHECK_INT(seen.seqs[2], 4);
    CHECK_INT(seen.seqs[3], 5);
    CHECK_INT(lks_memory_disk_row(w.disk, 4)->body.len, 0); /* that of row 5 */
    lks_test_tail_check(&store, 1, 5);
}

static const struct lks_test tests[] = {
    {"contract", test_contract},
    {"crash at every statement", test_crash_at_every_statement},
    {"crash later", test_crash_later},
    {"tampering", test_tampering},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
