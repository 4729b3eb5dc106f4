#include "base/intern.h"
#include "codec/format/hex.h"
#include "core/rows/registry.h"
#include "core/state/state.h"
#include "engine/chain_walk.h"
#include "model/record/record.h"

#include <inttypes.h>

#define ASIDE_MAX ((size_t)1 << 30) /* bytes of rows that one digest is made of */

/* A record of ours behind the end, signed: for tools, while no engine has the store. */
struct signed_row {
    struct lks_buf body;
    struct lks_row row;
    struct lks_head head;
    struct lks_store_batch batch; /* of the two above */
};

static void signed_row_fini(struct signed_row *r)
{
    lks_buf_fini(&r->body);
}

/* The caller owes _fini, also after a failure. */
static enum lks_code signed_row_make(struct signed_row *out, const struct lks_key *key, lks_ms wall,
                                     const struct lks_store_tail *tail, const char *journal,
                                     const struct lks_record *record, struct lks_err *err)
{
    const struct lks_record_info *info = lks_record_info((unsigned)record->kind);
    lks_buf_init(&out->body, LKS_RECORD_BODY_MAX);
    lks_record_pack(record, &out->body);
    if (lks_buf_check(&out->body, err) != LKS_OK)
        return lks_wrap(err, "journal");
    out->row = (struct lks_row){
        .seq = tail->seq + 1,
        .time = wall > tail->time ? wall : tail->time,
        .kind = (uint16_t)record->kind,
        .version = (uint8_t)lks_record_version(info),
        .body = lks_buf_view(&out->body),
    };
    out->head = (struct lks_head){.seq = out->row.seq, .time = out->row.time};
    out->batch = (struct lks_store_batch){.rows = &out->row, .row_count = 1, .head = &out->head};
    memcpy(out->head.journal, journal, sizeof(out->head.journal));
    struct lks_chain *chain = lks_chain_new();
    enum lks_code code = chain == NULL
                             ? lks_fail_nomem(err)
                             : lks_chain_hash(chain, tail->hash, &out->row, out->row.hash, err);
    lks_chain_free(chain);
    memcpy(out->head.hash, out->row.hash, sizeof(out->head.hash));
    if (code != LKS_OK || lks_chain_head_sign(key, &out->head, err) != LKS_OK)
        return lks_wrap(err, "journal");
    return LKS_OK;
}

/* The bytes of rows as they are hashed for the record of a repair: numbers and body of each. */
struct aside {
    struct lks_buf bytes;
    uint64_t count;
};

static bool aside_row(void *ctx, const struct lks_row *row)
{
    struct aside *a = ctx;
    a->count++;
    lks_buf_addf(&a->bytes, "%" PRIu64 " %" PRIu64 " %u %u %zu\n", row->seq, row->time,
                 (unsigned)row->kind, (unsigned)row->version, row->body.len);
    lks_buf_add(&a->bytes, row->body);
    return true;
}

/* Where the journal ends once the rows from `at` on are aside. */
static enum lks_code tail_before(struct lks_store *store, uint64_t at, struct lks_store_tail *out,
                                 struct lks_err *err)
{
    struct lks_store_tail tail = {0}, after = {0};
    if (store->ops->tail(store->self, &tail, err) != LKS_OK ||
        lks_chain_walk_row(store, at - 1, &after, err) != LKS_OK)
        return err->code;
    if (after.seq == 0)
        return lks_fail(err, LKS_E_REFUSED,
                        "nothing before row %" PRIu64 " is left to go on from: restore a backup",
                        at);
    *out = after;
    out->first = tail.first;
    return LKS_OK;
}

/* The snapshot, where there is one that can be used; else its seq is 0. */
static enum lks_code read_snapshot(struct lks_store *store, const struct lks_key *key,
                                   struct lks_buf *bytes, struct lks_snapshot *out,
                                   struct lks_err *err)
{
    struct lks_public_key public = lks_key_public(key);
    struct lks_err ignored = {0};
    return lks_snapshot_load(store, &public, bytes, out, &ignored, err);
}

/* Whether what is left can still be folded, and the journal's name. */
static enum lks_code check_left(struct lks_store *store, const struct lks_key *key, uint64_t at,
                                const struct lks_store_tail *after,
                                char journal[LKS_JOURNAL_ID_SIZE], struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    struct lks_snapshot snapshot = {0};
    if (lks_state_init(&state, 0, err) != LKS_OK ||
        read_snapshot(store, key, &bytes, &snapshot, err) != LKS_OK)
        return err->code;
    if (after->first <= 1) {
        if (lks_journal_fold_rows(store, at - 1, &state, err) != LKS_OK)
            return err->code;
    } else if (snapshot.seq == 0 || snapshot.seq >= at) {
        return lks_fail(err, LKS_E_REFUSED,
                        "rows before %" PRIu64 " were trimmed and only a snapshot that is damaged, "
                        "or younger than row %" PRIu64 ", stands for them: restore a backup",
                        after->first, at);
    } else if (lks_snapshot_apply(&snapshot, &state, err) != LKS_OK) {
        return err->code;
    }
    memcpy(journal, state.journal, LKS_JOURNAL_ID_SIZE);
    return LKS_OK;
}

/* Faults that no row is to blame for, or that leave nothing to go on from. */
static enum lks_code check_fault(const struct lks_verify *found, struct lks_err *err)
{
    if (found->fault == LKS_FAULT_NONE)
        return lks_fail(err, LKS_E_REFUSED, "the journal has no fault: nothing to repair");
    if (found->fault == LKS_FAULT_BLOB)
        return lks_fail(err, LKS_E_REFUSED,
                        "%s; all rows are whole, and no repair brings bytes back: restore a backup",
                        found->text);
    if (found->at <= 1)
        return lks_fail(err, LKS_E_REFUSED, "%s; the journal's beginning is gone: restore a backup",
                        found->text);
    return LKS_OK;
}

/* The first row that goes. A rewritten chain is whole, so that it cannot be told which of the rows
 * behind the last good head are false: to sign any of them would make them true. */
static uint64_t first_aside(const struct lks_verify *found)
{
    if (found->fault == LKS_FAULT_SNAPSHOT)
        return found->last + 1;
    return found->fault == LKS_FAULT_REWRITTEN ? found->signed_to + 1 : found->at;
}

/* What goes, for the record of it. */
static enum lks_code note_aside(struct lks_store *store, uint64_t at,
                                struct lks_rec_repaired *record, char digest[LKS_DIGEST_SIZE],
                                struct lks_err *err)
{
    struct aside aside = {0};
    lks_buf_init(&aside.bytes, ASIDE_MAX);
    enum lks_code code = store->ops->rows(store->self, at, aside_row, &aside, err);
    if (code == LKS_OK)
        code = lks_buf_check(&aside.bytes, err);
    if (code == LKS_OK)
        code = lks_digest_text(lks_buf_view(&aside.bytes), digest, err);
    lks_buf_fini(&aside.bytes);
    record->from = at;
    record->count = aside.count;
    record->digest = lks_str_from(digest);
    return code;
}

/* The rows are good: the snapshot is made anew from them. */
static enum lks_code renew_snapshot(struct lks_store *store, const struct lks_key *key,
                                    const struct lks_store_tail *tail, struct lks_err *err)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_STORE_SNAPSHOT_MAX);
    if (lks_state_init(&state, 0, err) != LKS_OK ||
        lks_journal_fold_rows(store, tail->seq, &state, err) != LKS_OK ||
        lks_snapshot_pack_signed(&state, tail->hash, key, &bytes, err) != LKS_OK)
        return err->code;
    return store->ops->snapshot_put(store->self, tail->seq, lks_buf_view(&bytes), err);
}

enum lks_code lks_journal_repair(struct lks_store *store, const struct lks_key *key, lks_ms wall,
                                 struct lks_str by, struct lks_str reason, struct lks_verify *out,
                                 struct lks_err *err)
{
    struct lks_public_key public = lks_key_public(key);
    LKS_CLEANUP(signed_row_fini) struct signed_row row = {0};
    struct lks_verify found = {0};
    struct lks_store_tail after = {0};
    char journal[LKS_JOURNAL_ID_SIZE] = {0}, digest[LKS_DIGEST_SIZE];
    struct lks_record record = {.kind = LKS_RECORD_REPAIRED,
                                .repaired = {.by = by, .reason = reason}};
    if (reason.len == 0)
        return lks_fail(err, LKS_E_USAGE, "a repair needs a reason");
    if (lks_journal_verify(store, &(struct lks_verify_options){.key = &public}, &found, err) !=
            LKS_OK ||
        check_fault(&found, err) != LKS_OK)
        return err->code;
    uint64_t at = first_aside(&found);
    if (tail_before(store, at, &after, err) != LKS_OK ||
        check_left(store, key, at, &after, journal, err) != LKS_OK)
        return err->code;
    if (found.fault == LKS_FAULT_SNAPSHOT && renew_snapshot(store, key, &after, err) != LKS_OK)
        return err->code;
    if (note_aside(store, at, &record.repaired, digest, err) != LKS_OK ||
        signed_row_make(&row, key, wall, &after, journal, &record, err) != LKS_OK ||
        store->ops->cut(store->self, at, &after, &row.batch, err) != LKS_OK)
        return err->code;
    *out = found;
    out->at = found.fault == LKS_FAULT_SNAPSHOT ? found.at : at;
    return LKS_OK;
}

struct trimming {
    struct lks_intern keep; /* digests that the state or a row that stays refers to */
    uint64_t first, limit, through;
    lks_ms keep_after;
    uint8_t hash[LKS_HASH_BYTES];
    lks_ms time;
    enum lks_code code;
    struct lks_err *err;
};

static bool cut_row(void *ctx, const struct lks_row *row)
{
    struct trimming *t = ctx;
    if (row->seq > t->limit || row->time >= t->keep_after)
        return false;
    t->through = row->seq;
    t->time = row->time;
    memcpy(t->hash, row->hash, sizeof(t->hash));
    return true;
}

static bool keep_text(struct trimming *t, struct lks_str digest)
{
    uint32_t id = 0;
    if (digest.len > 0)
        t->code = lks_intern_id(&t->keep, digest, &id, t->err);
    return t->code == LKS_OK;
}

static bool keep_row(void *ctx, const struct lks_row *row)
{
    struct trimming *t = ctx;
    struct lks_record r;
    t->code = lks_record_unpack(row->kind, row->version, row->body, &r, t->err);
    return t->code == LKS_OK && keep_text(t, lks_chain_walk_blob(&r));
}

static bool is_kept(void *ctx, const char *digest)
{
    const struct trimming *t = ctx;
    uint32_t id = 0;
    return lks_intern_find(&t->keep, lks_str_from(digest), &id);
}

static enum lks_code note_kept(struct lks_store *store, const struct lks_state *state,
                               struct trimming *t)
{
    bool ok = keep_text(t, lks_state_text(state, state->fleet_manifest));
    for (uint32_t i = 0; i < state->stack_count && ok; i++)
        ok = keep_text(t, lks_state_text(state, state->stacks[i].manifest));
    for (uint32_t i = 0; i < state->bundle_count && ok; i++)
        ok = keep_text(t, lks_state_text(state, state->bundles[i].manifest));
    for (uint32_t i = 0; i < state->node_count && ok; i++) {
        const struct lks_node *n = &state->nodes[i];
        ok = keep_text(t, lks_state_text(state, n->report)) &&
             keep_text(t, lks_state_text(state, n->outband_report)) &&
             keep_text(t, lks_state_text(state, n->drift_evidence));
    }
    if (ok && store->ops->rows(store->self, t->through + 1, keep_row, t, t->err) != LKS_OK)
        return t->err->code;
    return t->code;
}

/* The rows' last hash twice: signed as a head, and in the chain. Either alone lets what stays be
 * verified. */
static enum lks_code record_trim(struct lks_store *store, const struct lks_key *key, lks_ms wall,
                                 const struct lks_store_tail *tail, const struct lks_state *state,
                                 const struct trimming *t, struct lks_str snapshot,
                                 struct lks_str by, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf hash = {0};
    LKS_CLEANUP(signed_row_fini) struct signed_row row = {0};
    char digest[LKS_DIGEST_SIZE];
    struct lks_head head = {.seq = t->through, .time = t->time};
    memcpy(head.journal, state->journal, sizeof(head.journal));
    memcpy(head.hash, t->hash, sizeof(head.hash));
    struct lks_store_batch batch = {.head = &head};
    lks_buf_init(&hash, 2 * (size_t)LKS_HASH_BYTES);
    lks_hex_add(&hash, t->hash, LKS_HASH_BYTES);
    if (lks_buf_check(&hash, err) != LKS_OK || lks_digest_text(snapshot, digest, err) != LKS_OK ||
        lks_chain_head_sign(key, &head, err) != LKS_OK ||
        store->ops->append(store->self, &batch, err) != LKS_OK)
        return err->code;
    struct lks_record record = {
        .kind = LKS_RECORD_TRIMMED,
        .trimmed = {.through = t->through,
                    .hash = lks_buf_view(&hash),
                    .snapshot = lks_str_from(digest),
                    .by = by,
                    .signed_from = state->signed_from},
    };
    if (signed_row_make(&row, key, wall, tail, state->journal, &record, err) != LKS_OK)
        return err->code;
    return store->ops->append(store->self, &row.batch, err);
}

/* All of it is read once more before anything goes. That bytes are missing is no reason to stay. */
static enum lks_code check_whole(struct lks_store *store, const struct lks_key *key,
                                 struct lks_err *err)
{
    struct lks_public_key public = lks_key_public(key);
    struct lks_verify found = {0};
    const struct lks_verify_options options = {.key = &public};
    if (lks_journal_verify(store, &options, &found, err) != LKS_OK)
        return err->code;
    if (found.fault != LKS_FAULT_NONE && found.fault != LKS_FAULT_BLOB)
        return lks_fail(err, LKS_E_INVALID,
                        "row %" PRIu64 " (%s): %s; run `lockstep journal verify`", found.at,
                        lks_fault_words[found.fault], found.text);
    return LKS_OK;
}

static enum lks_code trim_to(struct lks_store *store, const struct lks_key *key, lks_ms wall,
                             struct trimming *t, struct lks_str by, struct lks_err *err)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    struct lks_store_tail tail = {0};
    struct lks_snapshot snapshot = {0};
    struct lks_public_key public = lks_key_public(key);
    if (lks_state_init(&state, 0, err) != LKS_OK ||
        lks_journal_fold(store, &public, 0, &state, &tail, err) != LKS_OK ||
        read_snapshot(store, key, &bytes, &snapshot, err) != LKS_OK)
        return err->code;
    t->limit = snapshot.seq;
    if (store->ops->rows(store->self, tail.first, cut_row, t, err) != LKS_OK)
        return err->code;
    if (t->through == 0)
        return LKS_OK;
    if (check_whole(store, key, err) != LKS_OK || note_kept(store, &state, t) != LKS_OK ||
        record_trim(store, key, wall, &tail, &state, t, lks_buf_view(&bytes), by, err) != LKS_OK)
        return err->code;
    return store->ops->trim(store->self, t->through, is_kept, t, err);
}

enum lks_code lks_journal_trim(struct lks_store *store, const struct lks_key *key, lks_ms wall,
                               lks_ms keep_after, struct lks_str by, uint64_t *through,
                               struct lks_err *err)
{
    struct trimming t = {.keep_after = keep_after, .err = err};
    lks_intern_init(&t.keep, (size_t)1 << 30);
    enum lks_code code = trim_to(store, key, wall, &t, by, err);
    lks_intern_fini(&t.keep);
    if (code != LKS_OK)
        return lks_wrap(err, "journal trim");
    *through = t.through;
    return LKS_OK;
}
