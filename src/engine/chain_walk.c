#include "engine/chain_walk.h"

#include "codec/format/hex.h"
#include "model/record/record.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

const char *const lks_fault_words[] = {
    "none",      "edited",    "dropped",    "reordered", "truncated",
    "rewritten", "signature", "unreadable", "blob",      "snapshot",
};
_Static_assert(LKS_COUNT(lks_fault_words) == LKS_FAULT_COUNT, "each fault has its word");

enum lks_code lks_chain_walk_init(struct lks_chain_walk *w, uint64_t seq, const uint8_t *hash,
                                  struct lks_err *err)
{
    *w = (struct lks_chain_walk){.seq = seq, .beginning = hash == NULL, .chain = lks_chain_new()};
    if (w->chain == NULL)
        return lks_fail_nomem(err);
    if (hash != NULL)
        memcpy(w->hash, hash, sizeof(w->hash));
    return LKS_OK;
}

void lks_chain_walk_fini(struct lks_chain_walk *w)
{
    lks_chain_free(w->chain);
    *w = (struct lks_chain_walk){0};
}

void lks_chain_walk_fault(struct lks_chain_walk *w, enum lks_fault fault, uint64_t at,
                          const char *fmt, ...)
{
    if (w->fault != LKS_FAULT_NONE)
        return;
    w->fault = fault;
    w->at = at;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(w->text, sizeof(w->text), fmt, ap);
    va_end(ap);
}

static void note_gap(struct lks_chain_walk *w, uint64_t found)
{
    uint64_t missing = w->seq + 1;
    if (found <= missing)
        lks_chain_walk_fault(w, LKS_FAULT_REORDERED, found,
                             "row %" PRIu64 " comes after row %" PRIu64, found, w->seq);
    else if (w->beginning)
        lks_chain_walk_fault(w, LKS_FAULT_TRUNCATED, missing,
                             "the journal starts with row %" PRIu64 ", and rows from %" PRIu64
                             " on are missing",
                             found, missing);
    else if (found - missing == 1)
        lks_chain_walk_fault(w, LKS_FAULT_DROPPED, missing, "row %" PRIu64 " is missing", missing);
    else
        lks_chain_walk_fault(w, LKS_FAULT_DROPPED, missing,
                             "rows %" PRIu64 " to %" PRIu64 " are missing", missing, found - 1);
}

enum lks_code lks_chain_walk_look(struct lks_chain_walk *w, const struct lks_row *row,
                                  struct lks_record *out, struct lks_err *err)
{
    uint8_t hash[LKS_HASH_BYTES];
    struct lks_err why = {0};
    if (row->seq != w->seq + 1) {
        note_gap(w, row->seq);
        return LKS_OK;
    }
    if (lks_chain_hash(w->chain, w->hash, row, hash, err) != LKS_OK)
        return lks_wrap(err, "journal row %" PRIu64, row->seq);
    if (memcmp(hash, row->hash, sizeof(hash)) != 0) {
        lks_chain_walk_fault(
            w, LKS_FAULT_EDITED, row->seq,
            "row %" PRIu64 " is not what was written: its hash is that of other content", row->seq);
        memcpy(w->bad_hash, row->hash, sizeof(w->bad_hash));
    } else if (row->time < w->time) {
        lks_chain_walk_fault(w, LKS_FAULT_EDITED, row->seq,
                             "row %" PRIu64 " is earlier than the row before it", row->seq);
        memcpy(w->bad_hash, row->hash, sizeof(w->bad_hash));
    } else if (lks_record_unpack(row->kind, row->version, row->body, out, &why) != LKS_OK) {
        lks_chain_walk_fault(w, LKS_FAULT_UNREADABLE, row->seq,
                             "row %" PRIu64 " is whole and cannot be read: %s", row->seq, why.msg);
    }
    return LKS_OK;
}

void lks_chain_walk_step(struct lks_chain_walk *w, const struct lks_row *row)
{
    LKS_ASSERT(w->fault == LKS_FAULT_NONE);
    w->beginning = false;
    w->seq = row->seq;
    w->time = row->time;
    memcpy(w->hash, row->hash, sizeof(w->hash));
}

void lks_chain_walk_unsigned(struct lks_chain_walk *w, uint64_t covered)
{
    if (w->seq == covered + 1)
        lks_chain_walk_fault(w, LKS_FAULT_SIGNATURE, w->seq,
                             "row %" PRIu64 " has no signed head, and every commit has one: "
                             "lockstepd did not write it",
                             w->seq);
    else
        lks_chain_walk_fault(w, LKS_FAULT_SIGNATURE, covered + 1,
                             "rows %" PRIu64 " to %" PRIu64 " have no signed head, and every "
                             "commit has one: lockstepd did not write them",
                             covered + 1, w->seq);
}

void lks_chain_walk_end(struct lks_chain_walk *w, const struct lks_store_tail *tail)
{
    if (w->seq < tail->seq)
        lks_chain_walk_fault(w, LKS_FAULT_TRUNCATED, w->seq + 1,
                             "the journal ends with row %" PRIu64
                             ", and the last commit with row %" PRIu64,
                             w->seq, tail->seq);
    else if (w->seq > tail->seq)
        lks_chain_walk_fault(w, LKS_FAULT_EDITED, tail->seq + 1,
                             "row %" PRIu64 " is after the end of the last commit", tail->seq + 1);
    else if (w->seq > 0 &&
             (memcmp(w->hash, tail->hash, sizeof(w->hash)) != 0 || w->time != tail->time))
        lks_chain_walk_fault(w, LKS_FAULT_EDITED, w->seq,
                             "row %" PRIu64 " is not the one that the last commit ended with",
                             w->seq);
}

struct search {
    struct lks_chain_walk *walk;
    struct lks_err *err;
    enum lks_code code;
    uint64_t found;
};

/* Would this row's content be good at the place of the bad one? */
static bool try_row(void *ctx, const struct lks_row *row)
{
    struct search *s = ctx;
    uint8_t hash[LKS_HASH_BYTES];
    struct lks_row moved = *row;
    moved.seq = s->walk->at;
    s->code = lks_chain_hash(s->walk->chain, s->walk->hash, &moved, hash, s->err);
    if (s->code != LKS_OK)
        return false;
    if (memcmp(hash, row->hash, sizeof(hash)) == 0 ||
        memcmp(hash, s->walk->bad_hash, sizeof(hash)) == 0)
        s->found = row->seq;
    return s->found == 0;
}

enum lks_code lks_chain_walk_classify(struct lks_chain_walk *w, struct lks_store *store,
                                      struct lks_err *err)
{
    if (w->fault != LKS_FAULT_EDITED || w->at != w->seq + 1)
        return LKS_OK;
    struct search s = {.walk = w, .err = err};
    if (store->ops->rows(store->self, w->at + 1, try_row, &s, err) != LKS_OK)
        return err->code;
    if (s.code == LKS_OK && s.found != 0) {
        w->fault = LKS_FAULT_REORDERED;
        (void)snprintf(w->text, sizeof(w->text),
                       "the content of row %" PRIu64 " is in row %" PRIu64, w->at, s.found);
    }
    return s.code;
}

enum lks_code lks_chain_walk_fail(const struct lks_chain_walk *w, struct lks_err *err)
{
    /* Without its beginning there is nothing to go on from, and a repair refuses. */
    const char *way = w->at <= 1 ? "restore a backup (`lockstep restore`): its beginning is gone"
                                 : "restore a backup or set aside what is damaged with "
                                   "`lockstep journal repair`";
    return lks_fail(err, LKS_E_INVALID,
                    "journal row %" PRIu64 " (%s): %s; run `lockstep journal verify`, then "
                    "%s",
                    w->at, lks_fault_words[w->fault], w->text, way);
}

struct anchor {
    uint64_t through;
    uint8_t *out;
    uint64_t *by;
};

static bool anchor_row(void *ctx, const struct lks_row *row)
{
    struct anchor *a = ctx;
    struct lks_record r;
    struct lks_err ignored = {0};
    if (row->kind != LKS_RECORD_TRIMMED ||
        lks_record_unpack(row->kind, row->version, row->body, &r, &ignored) != LKS_OK ||
        r.trimmed.through != a->through)
        return true;
    if (lks_hex_read(r.trimmed.hash, a->out, LKS_HASH_BYTES))
        *a->by = row->seq;
    return *a->by == 0;
}

enum lks_code lks_chain_walk_anchor(struct lks_store *store, uint64_t first, uint64_t *by,
                                    uint8_t out[LKS_HASH_BYTES], struct lks_err *err)
{
    struct anchor a = {.through = first - 1, .out = out, .by = by};
    *by = 0;
    return store->ops->rows(store->self, first, anchor_row, &a, err);
}

struct counted {
    lks_store_head_fn *fn;
    void *ctx;
    size_t count;
};

static bool count_head(void *ctx, const struct lks_head *head)
{
    struct counted *c = ctx;
    c->count++;
    return c->fn(c->ctx, head);
}

enum lks_code lks_chain_walk_heads(struct lks_store *store, uint64_t last, lks_store_head_fn *fn,
                                   void *ctx, struct lks_err *err)
{
    struct counted c = {.fn = fn, .ctx = ctx};
    uint64_t from = last > LKS_WALK_RECENT ? last - LKS_WALK_RECENT : 0;
    if (store->ops->heads(store->self, from, count_head, &c, err) != LKS_OK)
        return err->code;
    return c.count > 0 || from == 0 ? LKS_OK : store->ops->heads(store->self, 0, fn, ctx, err);
}

struct lks_str lks_chain_walk_blob(const struct lks_record *r)
{
    if (r->kind == LKS_RECORD_FLEET)
        return r->fleet.manifest;
    if (r->kind == LKS_RECORD_TUPLE)
        return r->tuple.report;
    if (r->kind == LKS_RECORD_OUTBAND)
        return r->outband.report;
    if (r->kind == LKS_RECORD_PUBLISHED)
        return r->published.manifest;
    if (r->kind == LKS_RECORD_BUNDLE)
        return r->bundle.manifest;
    return (struct lks_str){0};
}

struct one_row {
    uint64_t seq;
    struct lks_store_tail *out;
};

static bool keep_row(void *ctx, const struct lks_row *row)
{
    const struct one_row *one = ctx;
    if (row->seq == one->seq) {
        one->out->seq = row->seq;
        one->out->time = row->time;
        memcpy(one->out->hash, row->hash, sizeof(row->hash));
    }
    return row->seq < one->seq;
}

enum lks_code lks_chain_walk_row(struct lks_store *store, uint64_t seq, struct lks_store_tail *out,
                                 struct lks_err *err)
{
    struct one_row one = {.seq = seq, .out = out};
    *out = (struct lks_store_tail){0};
    return store->ops->rows(store->self, seq, keep_row, &one, err);
}
