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
