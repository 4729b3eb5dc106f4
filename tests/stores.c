#include "tests/stores.h"

#include "model/record/record.h"
#include "tests/rows.h"
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)

struct lks_store lks_test_bed_open(const struct lks_test_store *d, struct lks_test_bed *w)
{
    struct lks_store store = {0};
    struct lks_err err = {0};
    *w = (struct lks_test_bed){.kind = d, .at = d->make()};
    CHECK_CODE(d->open(w->at, &store, &err), LKS_OK);
    CHECK_STR(lks_str_from(err.msg), "");
    LKS_ASSERT(store.ops != NULL);
    return store;
}

void lks_test_bed_reopen(const struct lks_test_store *d, struct lks_test_bed *w,
                         struct lks_store *store)
{
    struct lks_err err = {0};
    lks_store_close(store);
    CHECK_CODE(d->open(w->at, store, &err), LKS_OK);
    LKS_ASSERT(store->ops != NULL);
}

void lks_test_bed_free(struct lks_test_bed *w)
{
    if (w->kind != NULL)
        w->kind->end(w->at);
    *w = (struct lks_test_bed){0};
}

enum lks_code lks_test_put(const struct lks_store *store, const struct lks_store_batch *batch)
{
    struct lks_err err = {0};
    return store->ops->append(store->self, batch, &err);
}

void lks_test_put_rows(const struct lks_store *store, uint64_t first, size_t count)
{
    struct lks_test_rows rows;
    struct lks_store_batch batch = lks_test_rows_batch(&rows, first, count);
    CHECK_CODE(lks_test_put(store, &batch), LKS_OK);
}

void lks_test_put_head(const struct lks_store *store, uint64_t seq)
{
    struct lks_head head = lks_test_rows_head(seq);
    CHECK_CODE(lks_test_put(store, &(struct lks_store_batch){.head = &head}), LKS_OK);
}

struct lks_store_blob lks_test_blob(struct lks_str bytes)
{
    struct lks_err err = {0};
    struct lks_store_blob blob = {.bytes = bytes};
    CHECK_CODE(lks_digest_text(bytes, blob.digest, &err), LKS_OK);
    return blob;
}

enum lks_code lks_test_put_blob(const struct lks_store *store, struct lks_str bytes)
{
    struct lks_store_blob blob = lks_test_blob(bytes);
    return lks_test_put(store, &(struct lks_store_batch){.blobs = &blob, .blob_count = 1});
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

void lks_test_heads_check(const struct lks_store *store, const char *want)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(MIB);
    struct lks_err err = {0};
    CHECK_CODE(store->ops->heads(store->self, 0, list_head, &out, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&out), want);
}

static bool count_blob(void *ctx, const char *digest, struct lks_str bytes)
{
    size_t *count = ctx;
    struct lks_store_blob want = lks_test_blob(bytes);
    CHECK_STR(lks_str_from(digest), want.digest);
    (*count)++;
    return true;
}

void lks_test_blobs_check(const struct lks_store *store, size_t want)
{
    struct lks_err err = {0};
    size_t count = 0;
    CHECK_CODE(store->ops->blobs(store->self, count_blob, &count, &err), LKS_OK);
    CHECK_INT(count, want);
}

enum lks_code lks_test_blob_read(const struct lks_store *store, struct lks_str bytes)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LKS_STORE_BLOB_MAX);
    struct lks_err err = {0};
    struct lks_store_blob want = lks_test_blob(bytes);
    enum lks_code code = store->ops->blob(store->self, want.digest, &out, &err);
    if (code == LKS_OK)
        CHECK(lks_str_eq(lks_buf_view(&out), bytes));
    return code;
}

void lks_test_snapshot_check(const struct lks_store *store, uint64_t seq, struct lks_str bytes)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(64 * MIB);
    struct lks_err err = {0};
    uint64_t got = UINT64_MAX;
    CHECK_CODE(store->ops->snapshot(store->self, &got, &out, &err), LKS_OK);
    CHECK_INT(got, seq);
    CHECK(lks_str_eq(lks_buf_view(&out), bytes));
}

static void test_empty(const struct lks_test_store *d)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    CHECK_STR(lks_str_from(store.ops->name), d->name);
    lks_test_tail_check(&store, 1, 0);
    lks_test_rows_check(&store, 1, 0);
    lks_test_heads_check(&store, "");
    lks_test_blobs_check(&store, 0);
    lks_test_snapshot_check(&store, 0, LKS_STR(""));
    CHECK_CODE(lks_test_blob_read(&store, LKS_STR("report")), LKS_E_NOT_FOUND);
    CHECK_CODE(lks_test_put(&store, &(struct lks_store_batch){0}), LKS_OK);
    lks_test_tail_check(&store, 1, 0);
}

static void test_append(const struct lks_test_store *d)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    struct lks_test_rows rows;
    struct lks_store_batch batch = lks_test_rows_batch(&rows, 1, 20);
    struct lks_store_blob blobs[] = {lks_test_blob(LKS_STR("report")), lks_test_blob(LKS_STR("")),
                                     lks_test_blob(LKS_STR("zero\0byte")),
                                     lks_test_blob(LKS_STR("report"))};
    struct lks_head head = lks_test_rows_head(20);
    batch.blobs = blobs;
    batch.blob_count = LKS_COUNT(blobs);
    batch.head = &head;
    CHECK_CODE(lks_test_put(&store, &batch), LKS_OK);
    lks_test_put_rows(&store, 21, 1);
    lks_test_put_rows(&store, 22, 40);
    for (int round = 0; round < 2; round++) {
        lks_test_rows_check(&store, 1, 61);
        lks_test_tail_check(&store, 1, 61);
        lks_test_heads_check(&store, "20");
        lks_test_blobs_check(&store, 3);
        CHECK_CODE(lks_test_blob_read(&store, LKS_STR("report")), LKS_OK);
        CHECK_CODE(lks_test_blob_read(&store, LKS_STR("")), LKS_OK);
        CHECK_CODE(lks_test_blob_read(&store, LKS_STR("zero\0byte")), LKS_OK);
        CHECK_CODE(lks_test_blob_read(&store, LKS_STR("other")), LKS_E_NOT_FOUND);
        lks_test_bed_reopen(d, &w, &store);
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

static void test_extremes(const struct lks_test_store *d)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    struct lks_err err = {0};
    char *body = calloc(1, LKS_RECORD_BODY_MAX);
    LKS_ASSERT(body != NULL);
    body[LKS_RECORD_BODY_MAX - 1] = 'x';
    struct lks_row row = {.seq = 1,
                          .time = INT64_MAX,
                          .kind = UINT16_MAX,
                          .version = UINT8_MAX,
                          .body = {body, LKS_RECORD_BODY_MAX}};
    CHECK_CODE(lks_test_put(&store, &(struct lks_store_batch){.rows = &row, .row_count = 1}),
               LKS_OK);
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

static void test_refusals(const struct lks_test_store *d)
{
    char *zeros = calloc(1, LKS_STORE_BLOB_MAX + 1);
    LKS_ASSERT(zeros != NULL);
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        lks_test_case("%s, %s", d->name, refusals[i].name);
        LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
        LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
        lks_test_put_rows(&store, 1, 4);
        try_refusal(&store, i, zeros);
        uint64_t last = refusals[i].code == LKS_OK ? 6 : 4;
        lks_test_tail_check(&store, 1, last);
        lks_test_rows_check(&store, 1, last);
        lks_test_blobs_check(&store, 0);
        if (last == 4)
            lks_test_put_rows(&store, 5, 2);
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

static void test_reading(const struct lks_test_store *d)
{
    static const struct {
        uint64_t from, rows;
    } starts[] = {{0, 3}, {1, 3}, {2, 2}, {3, 1}, {4, 6}, {9, 1}, {10, 0}, {UINT64_MAX, 0}};
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    struct lks_err err = {0};
    lks_test_put_rows(&store, 1, 9);
    for (size_t i = 0; i < LKS_COUNT(starts); i++) {
        uint64_t seen = 0;
        CHECK_CODE(store.ops->rows(store.self, starts[i].from, stop_at_three, &seen, &err), LKS_OK);
        CHECK_INT(seen, starts[i].rows);
    }
    lks_test_put_head(&store, 5);
    lks_test_put_head(&store, 2);
    lks_test_put_head(&store, 9);
    lks_test_put_head(&store, 5);
    lks_test_heads_check(&store, "2 5 9");
    uint64_t seen = 0;
    CHECK_CODE(store.ops->heads(store.self, 0, stop_head, &seen, &err), LKS_OK);
    CHECK_INT(seen, 2);
    CHECK_CODE(store.ops->heads(store.self, 3, stop_head, &seen, &err), LKS_OK);
    CHECK_INT(seen, 5);
    CHECK_CODE(store.ops->heads(store.self, UINT64_MAX, stop_head, &seen, &err), LKS_OK);
    CHECK_INT(seen, 5);
    CHECK_CODE(lks_test_put_blob(&store, LKS_STR("a")), LKS_OK);
    CHECK_CODE(lks_test_put_blob(&store, LKS_STR("b")), LKS_OK);
    seen = 0;
    CHECK_CODE(store.ops->blobs(store.self, stop_blob, &seen, &err), LKS_OK);
    CHECK_INT(seen, 1);
}

/* A head takes the place of another, with the rows of its own commit or not at all. */
static void test_heads_that_replace(const struct lks_test_store *d)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    struct lks_head first = lks_test_rows_head(3), next = lks_test_rows_head(6);
    lks_test_put_rows(&store, 1, 9);
    lks_test_put_head(&store, 2);
    lks_test_put_head(&store, 3);
    struct lks_store_batch batch = {.head = &next, .replaces = 3};
    CHECK_CODE(lks_test_put(&store, &batch), LKS_OK);
    lks_test_heads_check(&store, "2 6");
    CHECK_CODE(lks_test_put(&store, &batch), LKS_OK); /* it is gone already */
    lks_test_heads_check(&store, "2 6");
    batch = (struct lks_store_batch){.head = &first, .replaces = 6};
    CHECK_CODE(lks_test_put(&store, &batch), LKS_E_INVALID);
    lks_test_heads_check(&store, "2 6");
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
    CHECK_CODE(lks_test_blob_read(n->store, LKS_STR("report")), LKS_OK);
    lks_test_rows_check(n->store, 1, 6);
    lks_test_tail_check(n->store, 1, 6);
    n->rows++;
    return true;
}

static void test_nested(const struct lks_test_store *d)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    struct lks_err err = {0};
    struct nested n = {.store = &store};
    lks_test_put_rows(&store, 1, 6);
    CHECK_CODE(lks_test_put_blob(&store, LKS_STR("report")), LKS_OK);
    CHECK_CODE(store.ops->rows(store.self, 1, read_within, &n, &err), LKS_OK);
    CHECK_INT(n.rows, 6);
}

/* The first bytes under a digest stay, and a buffer's ceiling holds. */
static void test_blobs(const struct lks_test_store *d)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf small = LKS_BUF(5);
    struct lks_err err = {0};
    struct lks_store_blob blob = lks_test_blob(LKS_STR("report"));
    CHECK_CODE(lks_test_put_blob(&store, LKS_STR("report")), LKS_OK);
    blob.bytes = LKS_STR("another");
    CHECK_CODE(lks_test_put(&store, &(struct lks_store_batch){.blobs = &blob, .blob_count = 1}),
               LKS_OK);
    CHECK_CODE(lks_test_blob_read(&store, LKS_STR("report")), LKS_OK);
    lks_test_blobs_check(&store, 1);
    CHECK_CODE(store.ops->blob(store.self, blob.digest, &small, &err), LKS_E_LIMIT);

    char *large = calloc(1, LKS_STORE_BLOB_MAX);
    LKS_ASSERT(large != NULL);
    large[LKS_STORE_BLOB_MAX - 1] = 'x';
    CHECK_CODE(lks_test_put_blob(&store, (struct lks_str){large, LKS_STORE_BLOB_MAX}), LKS_OK);
    CHECK_CODE(lks_test_blob_read(&store, (struct lks_str){large, LKS_STORE_BLOB_MAX}), LKS_OK);
    free(large);
}

static void test_snapshot(const struct lks_test_store *d)
{
    static const size_t sizes[] = {0, 1, 8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 20 * MIB, 3};
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf small = LKS_BUF(2);
    struct lks_err err = {0};
    char *bytes = malloc(20 * MIB);
    LKS_ASSERT(bytes != NULL);
    for (size_t i = 0; i < 20 * MIB; i++)
        bytes[i] = (char)(i % 251);
    lks_test_put_rows(&store, 1, 9);
    CHECK_CODE(store.ops->snapshot_put(store.self, 0, LKS_STR("x"), &err), LKS_E_INVALID);
    CHECK_CODE(store.ops->snapshot_put(store.self, 10, LKS_STR("x"), &err), LKS_E_INVALID);
    struct lks_str huge = {bytes, LKS_STORE_SNAPSHOT_MAX + 1};
    CHECK_CODE(store.ops->snapshot_put(store.self, 9, huge, &err), LKS_E_LIMIT);
    lks_test_snapshot_check(&store, 0, LKS_STR(""));
    for (size_t i = 0; i < LKS_COUNT(sizes); i++) {
        lks_test_case("%s, %zu bytes", d->name, sizes[i]);
        struct lks_str want = {bytes, sizes[i]};
        CHECK_CODE(store.ops->snapshot_put(store.self, i + 1, want, &err), LKS_OK);
        lks_test_snapshot_check(&store, i + 1, want);
        lks_test_bed_reopen(d, &w, &store);
        lks_test_snapshot_check(&store, i + 1, want);
    }
    uint64_t seq = 99;
    CHECK_CODE(store.ops->snapshot(store.self, &seq, &small, &err), LKS_E_LIMIT);
    CHECK_INT(seq, 99);
    free(bytes);
}

static bool keep_a(void *ctx, const char *digest)
{
    size_t *asked = ctx;
    struct lks_store_blob a = lks_test_blob(LKS_STR("a"));
    (*asked)++;
    return strcmp(digest, a.digest) == 0;
}

static void test_trim(const struct lks_test_store *d)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    struct lks_err err = {0};
    size_t asked = 0;
    lks_test_put_rows(&store, 1, 30);
    for (uint64_t seq = 5; seq <= 30; seq += 5)
        lks_test_put_head(&store, seq);
    CHECK_CODE(lks_test_put_blob(&store, LKS_STR("a")), LKS_OK);
    CHECK_CODE(lks_test_put_blob(&store, LKS_STR("b")), LKS_OK);
    CHECK_CODE(store.ops->snapshot_put(store.self, 25, LKS_STR("state"), &err), LKS_OK);

    CHECK_CODE(store.ops->trim(store.self, 31, keep_a, &asked, &err), LKS_E_INVALID);
    lks_test_blobs_check(&store, 2);
    CHECK_CODE(store.ops->trim(store.self, 0, NULL, NULL, &err), LKS_OK);
    lks_test_tail_check(&store, 1, 30);
    lks_test_heads_check(&store, "5 10 15 20 25 30");
    CHECK_CODE(store.ops->trim(store.self, 15, keep_a, &asked, &err), LKS_OK);
    CHECK_INT(asked, 2);
    for (int round = 0; round < 2; round++) {
        lks_test_tail_check(&store, 16, 30);
        lks_test_rows_check(&store, 16, 30);
        lks_test_heads_check(&store, "15 20 25 30");
        lks_test_blobs_check(&store, 1);
        CHECK_CODE(lks_test_blob_read(&store, LKS_STR("a")), LKS_OK);
        lks_test_snapshot_check(&store, 25, LKS_STR("state"));
        lks_test_bed_reopen(d, &w, &store);
    }
    CHECK_CODE(lks_test_put_blob(&store, LKS_STR("b")), LKS_OK);
    CHECK_CODE(lks_test_blob_read(&store, LKS_STR("b")), LKS_OK);
    CHECK_CODE(store.ops->trim(store.self, 3, NULL, NULL, &err), LKS_OK);
    lks_test_tail_check(&store, 16, 30);
    CHECK_CODE(store.ops->trim(store.self, 30, NULL, NULL, &err), LKS_OK);
    lks_test_tail_check(&store, 31, 30);
    lks_test_heads_check(&store, "30");
    lks_test_put_rows(&store, 31, 2);
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

enum lks_code lks_test_cut(const struct lks_store *store, uint64_t from, uint64_t first,
                           uint64_t seq)
{
    struct lks_err err = {0};
    struct lks_store_tail tail = tail_at(first, seq);
    return store->ops->cut(store->self, from, &tail, NULL, &err);
}

static void test_cut(const struct lks_test_store *d)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    struct lks_err err = {0};
    lks_test_put_rows(&store, 1, 30);
    lks_test_put_head(&store, 10);
    lks_test_put_head(&store, 20);
    lks_test_put_head(&store, 30);
    CHECK_CODE(store.ops->snapshot_put(store.self, 20, LKS_STR("state"), &err), LKS_OK);
    CHECK_CODE(lks_test_cut(&store, 0, 1, 0), LKS_E_INVALID);
    CHECK_CODE(lks_test_cut(&store, 22, 1, 20), LKS_E_INVALID);
    CHECK_CODE(lks_test_cut(&store, 21, 22, 20), LKS_E_INVALID);
    CHECK_CODE(lks_test_cut(&store, 21, 0, 20), LKS_E_INVALID);
    lks_test_rows_check(&store, 1, 30);

    CHECK_CODE(lks_test_cut(&store, 21, 1, 20), LKS_OK);
    lks_test_tail_check(&store, 1, 20);
    lks_test_rows_check(&store, 1, 20);
    lks_test_heads_check(&store, "10 20");
    lks_test_snapshot_check(&store, 20, LKS_STR("state"));
    lks_test_put_rows(&store, 21, 5);

    CHECK_CODE(lks_test_cut(&store, 20, 1, 19), LKS_OK);
    lks_test_bed_reopen(d, &w, &store);
    lks_test_tail_check(&store, 1, 19);
    lks_test_heads_check(&store, "10");
    lks_test_snapshot_check(&store, 0, LKS_STR(""));
    lks_test_put_rows(&store, 20, 3);
    CHECK_CODE(lks_test_cut(&store, 1, 1, 0), LKS_OK);
    lks_test_tail_check(&store, 1, 0);
    lks_test_rows_check(&store, 1, 0);
    lks_test_put_rows(&store, 1, 3);
    lks_test_rows_check(&store, 1, 3);
}

static void test_copy(const struct lks_test_store *d)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    LKS_CLEANUP(lks_store_close) struct lks_store copy = {0};
    struct lks_err err = {0};
    lks_test_put_rows(&store, 1, 30);
    lks_test_put_head(&store, 10);
    CHECK_CODE(lks_test_put_blob(&store, LKS_STR("report")), LKS_OK);
    CHECK_CODE(store.ops->snapshot_put(store.self, 20, LKS_STR("state"), &err), LKS_OK);
    CHECK_CODE(store.ops->trim(store.self, 4, NULL, NULL, &err), LKS_OK);
    CHECK_CODE(lks_test_cut(&store, 26, 5, 25), LKS_OK);

    CHECK_CODE(store.ops->copy(store.self, d->copy_path(w.at), &err), LKS_OK);
    CHECK_CODE(store.ops->copy(store.self, d->copy_path(w.at), &err), LKS_E_REFUSED);
    lks_test_put_rows(&store, 26, 2);
    if (!CHECK_CODE(d->open_copy(w.at, &copy, &err), LKS_OK))
        return;
    lks_test_tail_check(&copy, 5, 25);
    lks_test_rows_check(&copy, 5, 25);
    lks_test_heads_check(&copy, "10");
    lks_test_blobs_check(&copy, 1);
    lks_test_snapshot_check(&copy, 20, LKS_STR("state"));
    lks_test_put_rows(&copy, 26, 20);
    lks_test_rows_check(&store, 5, 27);
    lks_test_rows_check(&copy, 5, 45);
}

static void test_one_owner(const struct lks_test_store *d)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    struct lks_store second = {0};
    struct lks_err err = {0};
    lks_test_put_rows(&store, 1, 3);
    for (int i = 0; i < 3; i++)
        CHECK_CODE(d->open(w.at, &second, &err), LKS_E_REFUSED);
    CHECK(second.ops == NULL);
    lks_test_put_rows(&store, 4, 3);
    lks_test_bed_reopen(d, &w, &store);
    lks_test_rows_check(&store, 1, 6);
}

/* Copies of a database server are its own business, and what we say of them is a clear line. */
static void test_no_copy(const struct lks_test_store *d)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    struct lks_err err = {0};
    CHECK_CODE(store.ops->copy(store.self, "copy.db", &err), LKS_E_REFUSED);
    CHECK(err.msg[0] != '\0');
}

/* Every part of the contract, for every store. */
static const struct part {
    const char *name;
    void (*run)(const struct lks_test_store *d);
} contract[] =
    {
        {"empty", test_empty},       {"append", test_append},   {"extremes", test_extremes},
        {"refusals", test_refusals}, {"reading", test_reading}, {"heads", test_heads_that_replace},
        {"nested", test_nested},     {"blobs", test_blobs},     {"snapshot", test_snapshot},
        {"trim", test_trim},         {"cut", test_cut},         {"tasks", lks_test_store_tasks},
},
  copies[] = {{"copy", test_copy}}, no_copies[] = {{"no copy", test_no_copy}},
  alone[] = {{"one owner", test_one_owner}},
  shared[] = {
      {"lead", lks_test_store_lead},
      {"fence", lks_test_store_fence},
      {"wait", lks_test_store_wait},
};

static void run(const struct lks_test_store *d, const struct part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lks_test_case("%s, %s", d->title, parts[i].name);
        parts[i].run(d);
    }
}

void lks_test_store_contract(const struct lks_test_store *d)
{
    run(d, contract, LKS_COUNT(contract));
    if (d->open_copy != NULL)
        run(d, copies, LKS_COUNT(copies));
    else
        run(d, no_copies, LKS_COUNT(no_copies));
    if (d->pass != NULL)
        run(d, shared, LKS_COUNT(shared));
    else
        run(d, alone, LKS_COUNT(alone));
}
