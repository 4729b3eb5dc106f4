#include "tests/rows.h"

#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>

/* Some bodies are empty, and the others have zero bytes in them. */
static struct lks_row make(uint64_t seq, char body[LKS_TEST_BODY_MAX])
{
    struct lks_row row = {.seq = seq,
                          .time = 1000 + seq / 2,
                          .kind = (uint16_t)(seq * 7919),
                          .version = (uint8_t)seq};
    memset(body, 0, LKS_TEST_BODY_MAX);
    snprintf(body, LKS_TEST_BODY_MAX, "body of row %" PRIu64, seq);
    row.body = (struct lks_str){body, seq % 5 == 0 ? 0 : 24 + (size_t)(seq % 100)};
    for (size_t i = 0; i < sizeof(row.hash); i++)
        row.hash[i] = (uint8_t)(seq + i * 31 + 1);
    return row;
}

void lks_test_rows_make(struct lks_test_rows *out, uint64_t first, size_t count)
{
    LKS_ASSERT(count <= LKS_TEST_ROWS_MAX);
    for (size_t i = 0; i < count; i++)
        out->rows[i] = make(first + i, out->bodies[i]);
}

struct lks_store_batch lks_test_rows_batch(struct lks_test_rows *out, uint64_t first, size_t count)
{
    lks_test_rows_make(out, first, count);
    return (struct lks_store_batch){.rows = out->rows, .row_count = count};
}

struct lks_head lks_test_rows_head(uint64_t seq)
{
    char body[LKS_TEST_BODY_MAX];
    struct lks_row row = make(seq, body);
    struct lks_head head = {.seq = seq, .time = row.time};
    memset(head.journal, 'a', sizeof(head.journal) - 1);
    memcpy(head.hash, row.hash, sizeof(head.hash));
    memset(head.signature, (int)(seq % 256), sizeof(head.signature));
    return head;
}

struct reading {
    uint64_t next;
    uint64_t count;
};

static bool compare(void *ctx, const struct lks_row *row)
{
    struct reading *reading = ctx;
    char body[LKS_TEST_BODY_MAX];
    struct lks_row want = make(reading->next, body);
    bool ok = CHECK_INT(row->seq, want.seq) && CHECK_INT(row->time, want.time) &&
              CHECK_INT(row->kind, want.kind) && CHECK_INT(row->version, want.version) &&
              CHECK(lks_str_eq(row->body, want.body)) &&
              CHECK(memcmp(row->hash, want.hash, sizeof(want.hash)) == 0);
    reading->next++;
    reading->count++;
    return ok;
}

void lks_test_rows_check(const struct lks_store *store, uint64_t first, uint64_t last)
{
    struct lks_err err = {0};
    struct reading reading = {.next = first};
    CHECK_CODE(store->ops->rows(store->self, 0, compare, &reading, &err), LKS_OK);
    CHECK_INT(reading.count, last + 1 - first);
}

void lks_test_tail_check(const struct lks_store *store, uint64_t first, uint64_t last)
{
    struct lks_err err = {0};
    struct lks_store_tail tail = {0};
    char body[LKS_TEST_BODY_MAX];
    struct lks_row want = {0};
    if (last > 0)
        want = make(last, body);
    CHECK_CODE(store->ops->tail(store->self, &tail, &err), LKS_OK);
    CHECK_INT(tail.first, first);
    CHECK_INT(tail.seq, last);
    CHECK_INT(tail.time, want.time);
    CHECK(memcmp(tail.hash, want.hash, sizeof(want.hash)) == 0);
}
