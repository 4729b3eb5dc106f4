#include "port/store.h"

#include "model/record.h"

#include <inttypes.h>

/* What a database can hold of a number. */
#define NUMBER_MAX ((uint64_t)INT64_MAX)

void lks_store_close(struct lks_store *store)
{
    if (store->ops != NULL)
        store->ops->close(store->self);
    *store = (struct lks_store){0};
}

static enum lks_code check_rows(const struct lks_store_tail *tail,
                                const struct lks_store_batch *batch, struct lks_err *err)
{
    uint64_t seq = tail->seq;
    lks_ms time = tail->time;
    for (size_t i = 0; i < batch->row_count; i++) {
        const struct lks_row *row = &batch->rows[i];
        if (row->seq != seq + 1)
            return lks_fail(err, LKS_E_INVALID, "row %" PRIu64 " does not follow row %" PRIu64,
                            row->seq, seq);
        if (row->time < time)
            return lks_fail(err, LKS_E_INVALID, "row %" PRIu64 " is older than the row before it",
                            row->seq);
        if (row->seq > NUMBER_MAX || row->time > NUMBER_MAX)
            return lks_fail(err, LKS_E_LIMIT, "row %" PRIu64 ": a number over %" PRIu64, row->seq,
                            NUMBER_MAX);
        if (row->body.len > LKS_RECORD_BODY_MAX)
            return lks_fail(err, LKS_E_LIMIT, "row %" PRIu64 " has %zu bytes (%zu at most)",
                            row->seq, row->body.len, LKS_RECORD_BODY_MAX);
        seq = row->seq;
        time = row->time;
    }
    return LKS_OK;
}

static bool is_digest(const char digest[LKS_DIGEST_SIZE])
{
    return digest[LKS_DIGEST_SIZE - 1] == '\0' && lks_digest_valid(lks_str_from(digest));
}

static enum lks_code check_blobs(const struct lks_store_batch *batch, struct lks_err *err)
{
    for (size_t i = 0; i < batch->blob_count; i++) {
        const struct lks_store_blob *blob = &batch->blobs[i];
        if (!is_digest(blob->digest))
            return lks_fail(err, LKS_E_INVALID, "'%.*s' is not a digest", LKS_DIGEST_SIZE,
                            blob->digest);
        if (blob->bytes.len > LKS_STORE_BLOB_MAX)
            return lks_fail(err, LKS_E_LIMIT, "%s has %zu bytes (%zu at most)", blob->digest,
                            blob->bytes.len, LKS_STORE_BLOB_MAX);
    }
    return LKS_OK;
}

enum lks_code lks_store_batch_check(const struct lks_store_tail *tail,
                                    const struct lks_store_batch *batch, struct lks_err *err)
{
    enum lks_code code = check_rows(tail, batch, err);
    if (code == LKS_OK)
        code = check_blobs(batch, err);
    if (code != LKS_OK || batch->head == NULL)
        return code;

    const struct lks_head *head = batch->head;
    uint64_t last = tail->seq + batch->row_count;
    if (head->seq == 0 || head->seq > last || head->time > NUMBER_MAX)
        return lks_fail(err, LKS_E_INVALID,
                        "a head at row %" PRIu64 " for a journal that ends at %" PRIu64, head->seq,
                        last);
    if (memchr(head->journal, '\0', sizeof(head->journal)) == NULL)
        return lks_fail(err, LKS_E_INVALID, "a head whose journal has no end");
    return LKS_OK;
}

enum lks_code lks_store_snapshot_check(const struct lks_store_tail *tail, uint64_t seq,
                                       struct lks_str bytes, struct lks_err *err)
{
    if (seq == 0 || seq > tail->seq)
        return lks_fail(err, LKS_E_INVALID,
                        "a snapshot of row %" PRIu64 " for a journal that ends at %" PRIu64, seq,
                        tail->seq);
    if (bytes.len > LKS_STORE_SNAPSHOT_MAX)
        return lks_fail(err, LKS_E_LIMIT, "a snapshot of %zu bytes (%zu at most)", bytes.len,
                        LKS_STORE_SNAPSHOT_MAX);
    return LKS_OK;
}

enum lks_code lks_store_trim_check(const struct lks_store_tail *tail, uint64_t through,
                                   struct lks_err *err)
{
    if (through > tail->seq)
        return lks_fail(err, LKS_E_INVALID,
                        "cannot trim up to row %" PRIu64 ": the journal ends at %" PRIu64, through,
                        tail->seq);
    return LKS_OK;
}

enum lks_code lks_store_cut_check(uint64_t from, const struct lks_store_tail *after,
                                  struct lks_err *err)
{
    if (from == 0 || from > NUMBER_MAX || after->seq != from - 1 || after->first == 0 ||
        after->first > from || after->time > NUMBER_MAX)
        return lks_fail(err, LKS_E_INVALID,
                        "cannot cut from row %" PRIu64 ": rows %" PRIu64 " to %" PRIu64
                        " are to stay",
                        from, after->first, after->seq);
    return LKS_OK;
}

struct lks_store_tail lks_store_tail_after(const struct lks_store_tail *tail,
                                           const struct lks_store_batch *batch)
{
    struct lks_store_tail after = *tail;
    if (batch->row_count > 0) {
        const struct lks_row *last = &batch->rows[batch->row_count - 1];
        after.seq = last->seq;
        after.time = last->time;
        memcpy(after.hash, last->hash, sizeof(after.hash));
    }
    return after;
}
