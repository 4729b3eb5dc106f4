#include "port/store.h"

#include "model/record/record.h"

#include <inttypes.h>

/* What a database can hold of a number. */
#define NUMBER_MAX ((uint64_t)INT64_MAX)

/* Of a lead, and between two readings of a task: ten years. */
#define DURATION_MAX ((lks_ms)10 * 366 * 24 * 3600 * LKS_SECOND)

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
    if (batch->replaces >= head->seq)
        return lks_fail(err, LKS_E_INVALID,
                        "a head at row %" PRIu64 " in the place of one at %" PRIu64, head->seq,
                        batch->replaces);
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

enum lks_code lks_store_fence_check(const struct lks_store_lease *lease, uint64_t epoch,
                                    struct lks_err *err)
{
    if (epoch > 0 && epoch != lease->epoch)
        return lks_fail(err, LKS_E_REFUSED,
                        "the lead is not ours any more: we had epoch %" PRIu64
                        ", and %s has epoch %" PRIu64,
                        epoch, lease->name, lease->epoch);
    if (epoch == 0 && lease->left > 0)
        return lks_fail(err, LKS_E_REFUSED, "%s leads, in epoch %" PRIu64 ": it alone may write",
                        lease->name, lease->epoch);
    return LKS_OK;
}

enum lks_code lks_store_lead_check(const char *name, const char *url, lks_ms ttl,
                                   struct lks_err *err)
{
    if (name[0] == '\0' || strlen(name) >= LKS_STORE_NAME_SIZE)
        return lks_fail(err, LKS_E_INVALID, "a controller's name has 1 to %d bytes",
                        LKS_STORE_NAME_SIZE - 1);
    if (strlen(url) >= LKS_STORE_URL_SIZE)
        return lks_fail(err, LKS_E_INVALID, "a controller's URL has %d bytes at the most",
                        LKS_STORE_URL_SIZE - 1);
    if (ttl == 0 || ttl > DURATION_MAX)
        return lks_fail(err, LKS_E_INVALID, "a lead lasts 1 to %" PRIu64 " ms", DURATION_MAX);
    return LKS_OK;
}

static bool is_task_text(struct lks_str text)
{
    return text.len <= LKS_STORE_TASK_TEXT_MAX;
}

enum lks_code lks_store_tasks_check(const struct lks_store_task *tasks, size_t count, lks_ms now,
                                    struct lks_err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct lks_store_task *task = &tasks[i];
        if (task->name.len == 0 || !is_task_text(task->name) || !is_task_text(task->site))
            return lks_fail(err, LKS_E_INVALID,
                            "task %zu: its name or its site is not of 1 to %zu "
                            "bytes",
                            i + 1, LKS_STORE_TASK_TEXT_MAX);
        if (task->every == 0 || task->every > DURATION_MAX || task->due > LKS_TIME_MAX)
            return lks_fail(err, LKS_E_INVALID,
                            "task %" LKS_STR_FMT ": every %" PRIu64 " ms, due at %" PRIu64,
                            LKS_STR_ARG(task->name), task->every, task->due);
    }
    if (now > LKS_TIME_MAX)
        return lks_fail(err, LKS_E_INVALID, "a time beyond the year 9999");
    return LKS_OK;
}

enum lks_code lks_store_claim_check(const struct lks_store_claim *claim, struct lks_err *err)
{
    if (claim->holder.len == 0 || !is_task_text(claim->holder))
        return lks_fail(err, LKS_E_INVALID, "who claims tasks has a name of 1 to %zu bytes",
                        LKS_STORE_TASK_TEXT_MAX);
    if (claim->now > LKS_TIME_MAX || claim->until > LKS_TIME_MAX || claim->until <= claim->now)
        return lks_fail(err, LKS_E_INVALID, "tasks are claimed from now on until later");
    return LKS_OK;
}

enum lks_code lks_store_done_refused(struct lks_str holder, struct lks_str name,
                                     struct lks_err *err)
{
    return lks_fail(err, LKS_E_REFUSED, "%" LKS_STR_FMT " does not have the task %" LKS_STR_FMT,
                    LKS_STR_ARG(holder), LKS_STR_ARG(name));
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
