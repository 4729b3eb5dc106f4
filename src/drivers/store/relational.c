#include "drivers/store/relational.h"

#include <inttypes.h>

uint64_t lks_relational_newest(const struct lks_embedded *scripts)
{
    uint64_t count = 0;
    while (scripts[count].name != NULL)
        count++;
    return count;
}

enum lks_code lks_relational_check(const char *shown, uint64_t schema, uint64_t newest, bool reader,
                                   struct lks_err *err)
{
    if (schema > newest)
        return lks_fail(err, LKS_E_INVALID,
                        "%.256s: its schema is %" PRIu64
                        ", and this program knows them up to %" PRIu64 ": use a newer lockstep",
                        shown, schema, newest);
    if (reader && schema < newest)
        return lks_fail(err, LKS_E_INVALID,
                        "%.256s: its schema is %" PRIu64 ", and this program reads %" PRIu64
                        ": start lockstepd of this version on it first",
                        shown, schema, newest);
    return LKS_OK;
}

bool lks_relational_tail(const struct lks_relational *r, int from, struct lks_store_tail *out)
{
    struct lks_store_tail tail = {0};
    if (!r->ops->number(r, from, INT64_MAX, &tail.first) || tail.first == 0 ||
        !r->ops->number(r, from + 1, INT64_MAX, &tail.seq) ||
        !r->ops->number(r, from + 2, INT64_MAX, &tail.time) ||
        !r->ops->exact(r, from + 3, tail.hash, sizeof(tail.hash)))
        return false;
    *out = tail;
    return true;
}

/* A row that was edited beyond what a row can be is handed on with a hash that no row has, so that
 * it is found as the edited row it is and can be repaired like one. */
static struct lks_row row_of(const struct lks_relational *r)
{
    struct lks_row row = {0};
    uint64_t kind = 0, version = 0;
    (void)r->ops->number(r, 0, INT64_MAX, &row.seq);
    bool whole = r->ops->number(r, 1, INT64_MAX, &row.time) &&
                 r->ops->number(r, 2, UINT16_MAX, &kind) &&
                 r->ops->number(r, 3, UINT8_MAX, &version) && r->ops->there(r, 4);
    row.kind = (uint16_t)kind;
    row.version = (uint8_t)version;
    row.body = r->ops->bytes(r, 4);
    if (whole)
        (void)r->ops->exact(r, 5, row.hash, sizeof(row.hash));
    return row;
}

/* As with rows: what cannot be a head gets a signature that no key made. */
static struct lks_head head_of(const struct lks_relational *r)
{
    struct lks_head head = {0};
    (void)r->ops->number(r, 0, INT64_MAX, &head.seq);
    bool whole = r->ops->exact(r, 1, head.journal, sizeof(head.journal) - 1) &&
                 r->ops->number(r, 2, INT64_MAX, &head.time) &&
                 r->ops->exact(r, 3, head.hash, sizeof(head.hash));
    if (whole)
        (void)r->ops->exact(r, 4, head.signature, sizeof(head.signature));
    return head;
}

bool lks_relational_show(struct lks_relational_reader *reader, const struct lks_relational *r)
{
    if (reader->row != NULL) {
        struct lks_row row = row_of(r);
        reader->seen = row.seq;
        return reader->row(reader->ctx, &row);
    }
    struct lks_head head = head_of(r);
    reader->seen = head.seq;
    return reader->head(reader->ctx, &head);
}

bool lks_relational_part(struct lks_relational_snapshot *s, const struct lks_relational *r,
                         struct lks_buf *out)
{
    uint64_t part = 0, seq = 0, size = 0;
    if (!r->ops->number(r, 0, INT64_MAX, &part) || part != s->next ||
        !r->ops->number(r, 1, INT64_MAX, &seq) || seq == 0 ||
        !r->ops->number(r, 2, LKS_STORE_SNAPSHOT_MAX, &size) ||
        (part > 0 && (seq != s->seq || size != s->size)))
        return false;
    *s = (struct lks_relational_snapshot){part + 1, seq, size};
    lks_buf_add(out, r->ops->bytes(r, 3));
    return true;
}

/* ---- writing ---- */

enum { SNAPSHOT_PART = 8 << 20 };

static enum lks_code set_tail(const struct lks_relational_writer *w,
                              const struct lks_store_tail *tail, struct lks_err *err)
{
    return w->run(w->self, "UPDATE tail SET first = $1, seq = $2, time = $3, hash = $4",
                  LKS_VALUES(LKS_NUMBER_VALUE(tail->first), LKS_NUMBER_VALUE(tail->seq),
                             LKS_NUMBER_VALUE(tail->time), LKS_ARRAY_VALUE(tail->hash)),
                  err);
}

static enum lks_code add_row(const struct lks_relational_writer *w, const struct lks_row *row,
                             struct lks_err *err)
{
    return w->run(w->self, "INSERT INTO journal VALUES ($1, $2, $3, $4, $5, $6)",
                  LKS_VALUES(LKS_NUMBER_VALUE(row->seq), LKS_NUMBER_VALUE(row->time),
                             LKS_NUMBER_VALUE(row->kind), LKS_NUMBER_VALUE(row->version),
                             LKS_BYTES_VALUE(row->body), LKS_ARRAY_VALUE(row->hash)),
                  err);
}

static enum lks_code add_blob(const struct lks_relational_writer *w,
                              const struct lks_store_blob *blob, struct lks_err *err)
{
    return w->run(w->self, "INSERT INTO blob VALUES ($1, $2) ON CONFLICT DO NOTHING",
                  LKS_VALUES(LKS_TEXT_VALUE(blob->digest), LKS_BYTES_VALUE(blob->bytes)), err);
}

static enum lks_code add_head(const struct lks_relational_writer *w, const struct lks_head *head,
                              struct lks_err *err)
{
    return w->run(w->self,
                  "INSERT INTO head VALUES ($1, $2, $3, $4, $5) ON CONFLICT (seq) DO UPDATE SET "
                  "journal = $2, time = $3, hash = $4, signature = $5",
                  LKS_VALUES(LKS_NUMBER_VALUE(head->seq), LKS_TEXT_VALUE(head->journal),
                             LKS_NUMBER_VALUE(head->time), LKS_ARRAY_VALUE(head->hash),
                             LKS_ARRAY_VALUE(head->signature)),
                  err);
}

static enum lks_code run_number(const struct lks_relational_writer *w, const char *text,
                                uint64_t number, struct lks_err *err)
{
    return w->run(w->self, text, LKS_VALUES(LKS_NUMBER_VALUE(number)), err);
}

enum lks_code lks_relational_append(const struct lks_relational_writer *w,
                                    const struct lks_store_tail *tail,
                                    const struct lks_store_batch *batch, struct lks_err *err)
{
    enum lks_code code = lks_store_batch_check(tail, batch, err);
    if (code == LKS_OK && w->rows != NULL)
        code = w->rows(w->self, batch, err);
    for (size_t i = 0; w->rows == NULL && i < batch->row_count && code == LKS_OK; i++)
        code = add_row(w, &batch->rows[i], err);
    for (size_t i = 0; i < batch->blob_count && code == LKS_OK; i++)
        code = add_blob(w, &batch->blobs[i], err);
    if (code == LKS_OK && batch->head != NULL)
        code = add_head(w, batch->head, err);
    if (code == LKS_OK && batch->head != NULL && batch->replaces != 0)
        code = run_number(w, "DELETE FROM head WHERE seq = $1", batch->replaces, err);
    if (code != LKS_OK || batch->row_count == 0)
        return code;
    struct lks_store_tail after = lks_store_tail_after(tail, batch);
    return set_tail(w, &after, err);
}

enum lks_code lks_relational_snapshot_put(const struct lks_relational_writer *w,
                                          const struct lks_store_tail *tail, uint64_t seq,
                                          struct lks_str bytes, struct lks_err *err)
{
    enum lks_code code = lks_store_snapshot_check(tail, seq, bytes, err);
    if (code == LKS_OK)
        code = w->run(w->self, "DELETE FROM snapshot", NULL, err);
    size_t done = 0;
    for (uint64_t part = 0; code == LKS_OK && (part == 0 || done < bytes.len); part++) {
        size_t len = bytes.len - done < SNAPSHOT_PART ? bytes.len - done : SNAPSHOT_PART;
        struct lks_str piece = {bytes.ptr + done, len};
        code = w->run(w->self, "INSERT INTO snapshot VALUES ($1, $2, $3, $4)",
                      LKS_VALUES(LKS_NUMBER_VALUE(part), LKS_NUMBER_VALUE(seq),
                                 LKS_NUMBER_VALUE(bytes.len), LKS_BYTES_VALUE(piece)),
                      err);
        done += len;
    }
    return code;
}

enum lks_code lks_relational_trim(const struct lks_relational_writer *w,
                                  const struct lks_store_tail *tail, uint64_t through,
                                  struct lks_err *err)
{
    struct lks_store_tail after = *tail;
    enum lks_code code = lks_store_trim_check(tail, through, err);
    if (code == LKS_OK)
        code = run_number(w, "DELETE FROM journal WHERE seq <= $1", through, err);
    if (code == LKS_OK)
        code = run_number(w, "DELETE FROM head WHERE seq < $1", through, err);
    if (code != LKS_OK || tail->first > through)
        return code;
    after.first = through + 1;
    return set_tail(w, &after, err);
}

enum lks_code lks_relational_cut(const struct lks_relational_writer *w, uint64_t from,
                                 const struct lks_store_tail *tail, struct lks_err *err)
{
    static const char *const steps[] = {
        ("INSERT INTO aside SELECT (SELECT coalesce(max(cut), 0) + 1 FROM aside), journal.* "
         "FROM journal WHERE seq >= $1"),
        "DELETE FROM journal WHERE seq >= $1",
        "DELETE FROM head WHERE seq >= $1",
        "DELETE FROM snapshot WHERE seq >= $1",
    };
    enum lks_code code = LKS_OK;
    for (size_t i = 0; i < LKS_COUNT(steps) && code == LKS_OK; i++)
        code = run_number(w, steps[i], from, err);
    return code == LKS_OK ? set_tail(w, tail, err) : code;
}
