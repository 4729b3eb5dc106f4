#include "base/intern.h"
#include "base/vec.h"
#include "core/entity/entity.h"
#include "core/state/state.h"
#include "engine/chain_walk.h"
#include "model/record/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A head, ours or a witness's, so far as it is compared with rows. */
struct claim {
    uint64_t seq;
    lks_ms time;
    uint8_t hash[LKS_HASH_BYTES];
    bool witness;
    bool forged; /* not signed by the journal's key */
    bool foreign;
};

struct claims {
    struct claim *items; /* owned */
    size_t count, room;
    size_t next; /* the first that is not below the row being looked at */
};

/* A repair explains why heads from before it, of rows that were set aside, are not here. Its record
 * is signed when it is written: an unsigned one was not written by lockstep. */
struct mended {
    uint64_t from;
    lks_ms time;
};

struct verifying {
    struct lks_store *store;
    const struct lks_verify_options *options;
    struct lks_verify *out;
    struct lks_err *err;
    enum lks_code code;
    struct lks_store_tail tail;
    struct lks_chain_walk walk;
    struct claims claims;
    struct mended *mended; /* owned */
    size_t mended_count, mended_room;
    struct lks_intern blobs; /* digests that rows refer to */
    uint64_t *blob_rows;     /* owned; by id: the first of those rows; 0 once it was found */
    size_t blob_room;
    uint64_t last_signed;
    uint64_t trimmed_by; /* the row that says so; 0: none, or nothing was trimmed */
    char journal[LKS_JOURNAL_ID_SIZE];
};

static void verifying_fini(struct verifying *v)
{
    lks_chain_walk_fini(&v->walk);
    free(v->claims.items);
    free(v->mended);
    lks_intern_fini(&v->blobs);
    free(v->blob_rows);
}

static bool add_claim(struct verifying *v, const struct lks_head *head, bool witness)
{
    struct claims *c = &v->claims;
    v->code = LKS_VEC_RESERVE(c->items, c->room, c->count + 1, v->err);
    if (v->code != LKS_OK)
        return false;
    struct claim claim = {.seq = head->seq, .time = head->time, .witness = witness};
    memcpy(claim.hash, head->hash, sizeof(claim.hash));
    claim.forged = v->options->key != NULL && !lks_chain_head_verify(v->options->key, head);
    claim.foreign = strncmp(head->journal, v->journal, sizeof(v->journal)) != 0;
    c->items[c->count++] = claim;
    if (!witness)
        v->out->heads++;
    return true;
}

static bool add_head(void *ctx, const struct lks_head *head)
{
    return add_claim(ctx, head, false);
}

static int by_seq(const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    return (int)x->witness - (int)y->witness; /* ours first */
}

static bool journal_row(void *ctx, const struct lks_row *row)
{
    struct verifying *v = ctx;
    struct lks_record r;
    struct lks_err ignored = {0};
    if (row->seq == 1 && row->kind == LKS_RECORD_BEGUN &&
        lks_record_unpack(row->kind, row->version, row->body, &r, &ignored) == LKS_OK &&
        r.begun.journal.len < sizeof(v->journal))
        memcpy(v->journal, r.begun.journal.ptr, r.begun.journal.len);
    return false;
}

/* The journal's name is in its first row, or where that was trimmed in its oldest head. */
static bool journal_head(void *ctx, const struct lks_head *head)
{
    struct verifying *v = ctx;
    memcpy(v->journal, head->journal, sizeof(v->journal));
    return false;
}

static enum lks_code gather(struct verifying *v)
{
    const struct lks_store_ops *ops = v->store->ops;
    void *self = v->store->self;
    if (ops->tail(self, &v->tail, v->err) != LKS_OK ||
        ops->rows(self, v->tail.first, journal_row, v, v->err) != LKS_OK)
        return v->err->code;
    if (v->journal[0] == '\0' && ops->heads(self, 0, journal_head, v, v->err) != LKS_OK)
        return v->err->code;
    if (ops->heads(self, 0, add_head, v, v->err) != LKS_OK)
        return v->err->code;
    for (size_t i = 0; i < v->options->witness_count && v->code == LKS_OK; i++)
        (void)add_claim(v, &v->options->witnesses[i], true);
    if (v->claims.count > 1)
        qsort(v->claims.items, v->claims.count, sizeof(v->claims.items[0]), by_seq);
    return v->code;
}

/* Where the rows begin: with the first, or behind one whose hash a record or a head keeps. */
static enum lks_code begin(struct verifying *v)
{
    uint8_t hash[LKS_HASH_BYTES] = {0};
    if (v->tail.first > 1 &&
        lks_chain_walk_anchor(v->store, v->tail.first, &v->trimmed_by, hash, v->err) != LKS_OK)
        return v->err->code;
    bool found = v->tail.first <= 1 || v->trimmed_by != 0;
    for (size_t i = 0; i < v->claims.count && !found; i++) {
        const struct claim *c = &v->claims.items[i];
        found = c->seq == v->tail.first - 1 && !c->forged && !c->foreign;
        if (found)
            memcpy(hash, c->hash, sizeof(hash));
    }
    uint64_t before = v->tail.first > 1 ? v->tail.first - 1 : 0;
    if (lks_chain_walk_init(&v->walk, before, before > 0 ? hash : NULL, v->err) != LKS_OK)
        return v->err->code;
    v->walk.beginning = true;
    if (!found)
        lks_chain_walk_fault(&v->walk, LKS_FAULT_TRUNCATED, 1,
                             "the journal starts with row %" PRIu64
                             ", and no record says that what was "
                             "before it was trimmed",
                             v->tail.first);
    return LKS_OK;
}

static bool explained(const struct verifying *v, const struct claim *c)
{
    for (size_t i = 0; i < v->mended_count; i++)
        if (c->seq >= v->mended[i].from && c->time <= v->mended[i].time)
            return true;
    return false;
}

/* What heads say of the row that the walk has just reached. */
static void compare(struct verifying *v, const struct lks_row *row)
{
    struct claims *c = &v->claims;
    for (; c->next < c->count && c->items[c->next].seq <= row->seq; c->next++) {
        const struct claim *claim = &c->items[c->next];
        const char *whose = claim->witness ? "a witness's head" : "the head";
        if (claim->seq < row->seq)
            continue; /* of a row that was trimmed */
        if (claim->forged)
            lks_chain_walk_fault(&v->walk, LKS_FAULT_SIGNATURE, row->seq,
                                 "%s at row %" PRIu64 " is not signed by the journal's key", whose,
                                 row->seq);
        else if (claim->foreign)
            lks_chain_walk_fault(&v->walk, LKS_FAULT_REWRITTEN, row->seq,
                                 "%s at row %" PRIu64 " is of another journal", whose, row->seq);
        else if (memcmp(claim->hash, row->hash, sizeof(row->hash)) == 0)
            v->out->witnesses += claim->witness;
        else if (!claim->witness || !explained(v, claim))
            lks_chain_walk_fault(&v->walk, LKS_FAULT_REWRITTEN, row->seq,
                                 "row %" PRIu64 " is not the one %s names; rows up to %" PRIu64
                                 " agree with the heads",
                                 row->seq, whose, v->last_signed);
        if (!claim->witness && v->walk.fault == LKS_FAULT_NONE)
            v->last_signed = row->seq;
    }
}

/* Whether a head of ours names this very row, which the walk has just reached. */
static bool is_signed(const struct verifying *v, const struct lks_row *row)
{
    const struct claims *c = &v->claims;
    for (size_t i = c->next; i < c->count && c->items[i].seq <= row->seq; i++) {
        const struct claim *claim = &c->items[i];
        if (claim->seq == row->seq && !claim->witness && !claim->forged && !claim->foreign &&
            memcmp(claim->hash, row->hash, sizeof(row->hash)) == 0)
            return true;
    }
    return false;
}

static void note_repair(struct verifying *v, const struct lks_row *row, const struct lks_record *r)
{
    if (r->kind != LKS_RECORD_REPAIRED || !is_signed(v, row))
        return;
    v->code = LKS_VEC_RESERVE(v->mended, v->mended_room, v->mended_count + 1, v->err);
    if (v->code == LKS_OK)
        v->mended[v->mended_count++] = (struct mended){r->repaired.from, row->time};
}

/* From here on the last row has a head. Who cannot sign may append such a record, and only makes
 * the rule hold: it has no head itself. */
static void note_signing(struct verifying *v, const struct lks_record *r)
{
    if (r->kind == LKS_RECORD_SIGNED) {
        v->out->signed_from = r->signing.from;
        v->out->earlier_rows = r->signing.earlier;
    }
    if (r->kind == LKS_RECORD_TRIMMED && v->out->signed_from == 0)
        v->out->signed_from = r->trimmed.signed_from;
}

static void note_blob(struct verifying *v, const struct lks_row *row, const struct lks_record *r)
{
    struct lks_str digest = lks_chain_walk_blob(r);
    uint32_t id = 0;
    if (digest.len == 0 || lks_intern_find(&v->blobs, digest, &id))
        return;
    v->code = lks_intern_id(&v->blobs, digest, &id, v->err);
    if (v->code == LKS_OK)
        v->code = LKS_VEC_RESERVE(v->blob_rows, v->blob_room, (size_t)id + 1, v->err);
    if (v->code == LKS_OK)
        v->blob_rows[id] = row->seq;
}

static bool verify_row(void *ctx, const struct lks_row *row)
{
    struct verifying *v = ctx;
    struct lks_record record;
    v->code = lks_chain_walk_look(&v->walk, row, &record, v->err);
    if (v->code != LKS_OK || v->walk.fault != LKS_FAULT_NONE)
        return false;
    note_repair(v, row, &record);
    note_signing(v, &record);
    compare(v, row);
    if (v->code != LKS_OK || v->walk.fault != LKS_FAULT_NONE)
        return false;
    note_blob(v, row, &record);
    lks_chain_walk_step(&v->walk, row);
    v->out->rows++;
    if (v->out->first == 0)
        v->out->first = row->seq;
    return v->code == LKS_OK;
}

/* Heads of rows that are not there. */
static void compare_rest(struct verifying *v)
{
    for (struct claims *c = &v->claims; c->next < c->count; c->next++) {
        const struct claim *claim = &c->items[c->next];
        const char *whose = claim->witness ? "a witness's head" : "a head";
        if (claim->witness && explained(v, claim))
            continue;
        if (claim->forged)
            lks_chain_walk_fault(&v->walk, LKS_FAULT_SIGNATURE, v->walk.seq + 1,
                                 "%s at row %" PRIu64 " is not signed by the journal's key", whose,
                                 claim->seq);
        else if (claim->foreign)
            lks_chain_walk_fault(&v->walk, LKS_FAULT_REWRITTEN, v->walk.seq + 1,
                                 "%s at row %" PRIu64 " is of another journal", whose, claim->seq);
        else
            lks_chain_walk_fault(&v->walk, LKS_FAULT_TRUNCATED, v->walk.seq + 1,
                                 "the journal ends with row %" PRIu64 ", and %s names row %" PRIu64,
                                 v->walk.seq, whose, claim->seq);
    }
}

/* An attacker who cannot sign can still remove heads, and rows together with what names them. A
 * journal is signed from its first commit on, and so is the record of every trim; a repair may have
 * set that aside, and then the head that came with it replaces it. */
static void check_signed(struct verifying *v)
{
    bool recorded = v->trimmed_by != 0 && v->trimmed_by <= v->last_signed;
    bool mended = v->trimmed_by == 0 && v->mended_count > 0;
    if (v->tail.first > 1 && !recorded && !mended)
        lks_chain_walk_fault(&v->walk, LKS_FAULT_TRUNCATED, 1,
                             "the journal starts with row %" PRIu64
                             ", and no signed record says that what was before it was trimmed",
                             v->tail.first);
    else if (v->options->key != NULL && v->out->rows > 0 && v->last_signed == 0)
        lks_chain_walk_fault(&v->walk, LKS_FAULT_SIGNATURE, v->out->first,
                             "no head is left: nothing of this journal is signed");
    else if (v->out->signed_from != 0 && v->last_signed < v->walk.seq)
        lks_chain_walk_unsigned(&v->walk, v->last_signed);
}

static bool verify_blob(void *ctx, const char *digest, struct lks_str bytes)
{
    struct verifying *v = ctx;
    char found[LKS_DIGEST_SIZE];
    uint32_t id = 0;
    v->code = lks_digest_text(bytes, found, v->err);
    if (v->code != LKS_OK)
        return false;
    bool known = lks_intern_find(&v->blobs, lks_str_from(digest), &id);
    v->out->blobs++;
    if (strcmp(found, digest) != 0)
        lks_chain_walk_fault(&v->walk, LKS_FAULT_BLOB, known ? v->blob_rows[id] : v->walk.seq,
                             "the bytes kept as %s are others", digest);
    if (known)
        v->blob_rows[id] = 0;
    return v->walk.fault == LKS_FAULT_NONE;
}

static enum lks_code verify_blobs(struct verifying *v)
{
    if (v->walk.fault != LKS_FAULT_NONE)
        return LKS_OK;
    if (v->store->ops->blobs(v->store->self, verify_blob, v, v->err) != LKS_OK || v->code != LKS_OK)
        return v->err->code;
    for (uint32_t id = 0; id < lks_intern_count(&v->blobs); id++)
        if (v->blob_rows[id] != 0)
            lks_chain_walk_fault(&v->walk, LKS_FAULT_BLOB, v->blob_rows[id],
                                 "row %" PRIu64 " refers to bytes that are not there: %s",
                                 v->blob_rows[id], lks_intern_text(&v->blobs, id).ptr);
    return LKS_OK;
}

/* A start trusts a snapshot that is signed; here it is held against the rows besides, as long as
 * all of them are there. */
static enum lks_code compare_snapshot(struct verifying *v, const struct lks_snapshot *snapshot,
                                      struct lks_err *err)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state rows = {0}, other = {0};
    struct lks_err why = {0};
    if (lks_state_init(&rows, 0, err) != LKS_OK || lks_state_init(&other, 0, err) != LKS_OK)
        return err->code;
    if (lks_snapshot_apply(snapshot, &other, &why) != LKS_OK) {
        lks_chain_walk_fault(&v->walk, LKS_FAULT_SNAPSHOT, snapshot->seq, "%s", why.msg);
        return LKS_OK;
    }
    if (v->tail.first > 1)
        return LKS_OK;
    if (lks_journal_fold_rows(v->store, snapshot->seq, &rows, err) != LKS_OK)
        return err->code;
    if (!lks_entity_equal(&rows, &other, &why))
        lks_chain_walk_fault(&v->walk, LKS_FAULT_SNAPSHOT, snapshot->seq,
                             "the snapshot of row %" PRIu64 " is not what the rows fold to: %s",
                             snapshot->seq, why.msg);
    return LKS_OK;
}

static enum lks_code verify_snapshot(struct verifying *v)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    struct lks_snapshot snapshot = {0};
    struct lks_err why = {0};
    if (v->walk.fault != LKS_FAULT_NONE)
        return LKS_OK;
    if (lks_snapshot_load(v->store, v->options->key, &bytes, &snapshot, &why, v->err) != LKS_OK)
        return v->err->code;
    if (why.code != LKS_OK)
        lks_chain_walk_fault(&v->walk, LKS_FAULT_SNAPSHOT, v->walk.seq, "%s", why.msg);
    else if (snapshot.seq > v->tail.seq)
        lks_chain_walk_fault(&v->walk, LKS_FAULT_SNAPSHOT, v->walk.seq,
                             "the snapshot is of row %" PRIu64 ", and the journal ends before it",
                             snapshot.seq);
    else if (snapshot.seq != 0)
        return compare_snapshot(v, &snapshot, v->err);
    else if (v->tail.first > 1)
        lks_chain_walk_fault(&v->walk, LKS_FAULT_SNAPSHOT, v->walk.seq,
                             "rows before %" PRIu64 " were trimmed, and there is no snapshot that "
                             "replaces them: restore a backup",
                             v->tail.first);
    return LKS_OK;
}

static void conclude(struct verifying *v)
{
    v->out->last = v->walk.seq;
    v->out->signed_to = v->last_signed;
    v->out->unsigned_rows = v->walk.seq > v->last_signed ? v->walk.seq - v->last_signed : 0;
    v->out->fault = v->walk.fault;
    v->out->at = v->walk.at;
    memcpy(v->out->text, v->walk.text, sizeof(v->out->text));
}

static enum lks_code verify_all(struct verifying *v)
{
    if (gather(v) != LKS_OK || begin(v) != LKS_OK)
        return v->err->code;
    if (v->walk.fault == LKS_FAULT_NONE &&
        v->store->ops->rows(v->store->self, v->tail.first, verify_row, v, v->err) != LKS_OK)
        return v->err->code;
    if (v->code != LKS_OK)
        return v->code;
    if (v->walk.fault == LKS_FAULT_NONE)
        lks_chain_walk_end(&v->walk, &v->tail);
    if (v->walk.fault == LKS_FAULT_NONE)
        compare_rest(v);
    if (v->walk.fault == LKS_FAULT_NONE)
        check_signed(v);
    if (lks_chain_walk_classify(&v->walk, v->store, v->err) != LKS_OK ||
        verify_blobs(v) != LKS_OK || verify_snapshot(v) != LKS_OK)
        return v->err->code;
    conclude(v);
    return LKS_OK;
}

enum lks_code lks_journal_verify(struct lks_store *store, const struct lks_verify_options *options,
                                 struct lks_verify *out, struct lks_err *err)
{
    struct lks_verify result = {0};
    LKS_CLEANUP(verifying_fini)
    struct verifying v = {.store = store, .options = options, .out = &result, .err = err};
    lks_intern_init(&v.blobs, (size_t)1 << 30);
    if (verify_all(&v) != LKS_OK)
        return lks_wrap(err, "journal");
    *out = result;
    return LKS_OK;
}
