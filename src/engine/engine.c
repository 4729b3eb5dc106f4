#include "base/vec.h"
#include "core/campaign/state_apply.h"
#include "core/fold/transition.h"
#include "core/rules/decide.h"
#include "core/state/lookup.h"
#include "engine/chain_walk.h"
#include "engine/engine_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PENDING_BODIES_MAX ((size_t)1 << 30)
#define PENDING_BLOBS_MAX  ((size_t)256 << 20)

static void pending_fini(struct lks_pending *p)
{
    free(p->rows);
    free(p->blobs);
    lks_buf_fini(&p->bodies);
    lks_buf_fini(&p->blob_bytes);
    *p = (struct lks_pending){0};
}

static void pending_init(struct lks_pending *p)
{
    *p = (struct lks_pending){0};
    lks_buf_init(&p->bodies, PENDING_BODIES_MAX);
    lks_buf_init(&p->blob_bytes, PENDING_BLOBS_MAX);
}

/* Chain one record to the end of what is pending. */
static enum lks_code pend_row(struct lks_engine *e, const struct lks_record *record, lks_ms time,
                              struct lks_err *err)
{
    struct lks_pending *p = &e->pending;
    const struct lks_record_info *info = lks_record_info((unsigned)record->kind);
    LKS_ASSERT(info != NULL);
    if (LKS_VEC_RESERVE(p->rows, p->row_room, p->row_count + 1, err) != LKS_OK)
        return err->code;
    size_t start = p->bodies.len;
    lks_record_pack(record, &p->bodies);
    if (lks_buf_check(&p->bodies, err) != LKS_OK)
        return lks_wrap(err, "journal");
    size_t len = p->bodies.len - start;
    if (len > LKS_RECORD_BODY_MAX)
        return lks_fail(err, LKS_E_LIMIT, "journal: a record '%s' of %zu bytes (%zu at most)",
                        info->word, len, LKS_RECORD_BODY_MAX);
    struct lks_row row = {
        .seq = e->seq + 1,
        .time = time,
        .kind = (uint16_t)record->kind,
        .version = (uint8_t)lks_record_version(info),
        .body = {p->bodies.ptr + start, len},
    };
    if (!e->options.unchained && lks_chain_hash(e->chain, e->hash, &row, row.hash, err) != LKS_OK)
        return lks_wrap(err, "journal");
    p->rows[p->row_count++] = row;
    memcpy(e->hash, row.hash, sizeof(e->hash));
    e->seq = row.seq;
    return LKS_OK;
}

static enum lks_code pend_blob(struct lks_pending *p, const struct lks_store_blob *blob,
                               struct lks_err *err)
{
    if (LKS_VEC_RESERVE(p->blobs, p->blob_room, p->blob_count + 1, err) != LKS_OK)
        return err->code;
    lks_buf_add(&p->blob_bytes, blob->bytes);
    if (lks_buf_check(&p->blob_bytes, err) != LKS_OK)
        return lks_wrap(err, "journal");
    p->blobs[p->blob_count++] = *blob;
    return LKS_OK;
}

/* Where the pending end was, to return to it when a turn cannot be completed. */
struct mark {
    size_t rows, blobs, bodies, blob_bytes;
    uint64_t seq;
    uint8_t hash[LKS_HASH_BYTES];
};

static struct mark set_mark(const struct lks_engine *e)
{
    const struct lks_pending *p = &e->pending;
    struct mark m = {p->row_count, p->blob_count, p->bodies.len, p->blob_bytes.len, e->seq, {0}};
    memcpy(m.hash, e->hash, sizeof(m.hash));
    return m;
}

static void go_back(struct lks_engine *e, const struct mark *m)
{
    struct lks_pending *p = &e->pending;
    p->row_count = m->rows;
    p->blob_count = m->blobs;
    p->bodies.failed = p->blob_bytes.failed = LKS_OK;
    lks_buf_truncate(&p->bodies, m->bodies);
    lks_buf_truncate(&p->blob_bytes, m->blob_bytes);
    e->seq = m->seq;
    memcpy(e->hash, m->hash, sizeof(e->hash));
}

static enum lks_code pend_all(struct lks_engine *e, const struct lks_record *records, size_t count,
                              lks_ms time, const struct lks_store_blob *blob, struct lks_err *err)
{
    struct mark mark = set_mark(e);
    enum lks_code code = LKS_OK;
    for (size_t i = 0; i < count && code == LKS_OK; i++)
        code = pend_row(e, &records[i], time, err);
    if (code == LKS_OK && blob != NULL)
        code = pend_blob(&e->pending, blob, err);
    if (code != LKS_OK)
        go_back(e, &mark);
    return code;
}

/* The state is no longer good: the rows are dropped, and nothing more leaves this engine. For
 * whatever reason it was, this is IO, which ends the process before anyone reads that state. */
static enum lks_code give_up(struct lks_engine *e, const struct mark *mark, uint64_t seq,
                             struct lks_err *err)
{
    err->code = LKS_E_IO;
    enum lks_code code = lks_wrap(err, "journal row %" PRIu64, seq);
    go_back(e, mark);
    e->broken = true;
    e->why = *err;
    return code;
}

/* Chain the records, then make them true: as a restart would, from their bytes. A record of a
 * decision may point into the state that it changes. */
static enum lks_code append(struct lks_engine *e, const struct lks_record *records, size_t count,
                            lks_ms time, const struct lks_store_blob *blob, struct lks_err *err)
{
    struct mark mark = set_mark(e);
    if (pend_all(e, records, count, time, blob, err) != LKS_OK)
        return err->code;
    struct lks_str body = {e->pending.bodies.ptr + mark.bodies, 0};
    for (size_t i = 0; i < count; i++, body.ptr += body.len) {
        const struct lks_row *row = &e->pending.rows[mark.rows + i];
        struct lks_record record;
        body.len = row->body.len;
        if (lks_record_unpack(row->kind, row->version, body, &record, err) != LKS_OK)
            return give_up(e, &mark, row->seq, err);
        lks_transition_assert(&e->state, &record);
        if (lks_state_apply(&e->state, row->seq, time, &record, err) != LKS_OK)
            return give_up(e, &mark, row->seq, err);
    }
    return LKS_OK;
}

enum lks_code lks_engine_manifest(struct lks_store *store, const struct lks_facts *facts,
                                  const char *what, struct lks_str digest, struct lks_manifest *out,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_STORE_BLOB_MAX);
    char found[LKS_DIGEST_SIZE], name[LKS_DIGEST_SIZE] = "";
    snprintf(name, sizeof(name), "%" LKS_STR_FMT, LKS_STR_ARG(digest));
    enum lks_code code = store->ops->blob(store->self, name, &bytes, err);
    if (code == LKS_E_NOT_FOUND)
        return lks_fail(err, LKS_E_INVALID,
                        "%s %s is gone; run `lockstep journal verify`, then restore a backup", what,
                        name);
    if (code != LKS_OK)
        return lks_wrap(err, "%s %s", what, name);
    if (lks_digest_text(lks_buf_view(&bytes), found, err) != LKS_OK)
        return err->code;
    if (strcmp(found, name) != 0)
        return lks_fail(err, LKS_E_INVALID,
                        "%s %s is not what was stored; run `lockstep journal verify`", what, name);
    if (lks_manifest_parse_kept("fleet", lks_buf_view(&bytes), facts, out, err) != LKS_OK)
        return lks_wrap(err, "%s", what);
    return LKS_OK;
}

static enum lks_code load_manifest(struct lks_engine *e, struct lks_store *store,
                                   struct lks_err *err)
{
    if (e->state.fleet_manifest == 0)
        return LKS_OK;
    if (lks_engine_manifest(store, e->options.facts, "the fleet's manifest",
                            lks_state_text(&e->state, e->state.fleet_manifest), &e->manifest,
                            err) != LKS_OK)
        return err->code;
    e->book.manifest = &e->manifest;
    return LKS_OK;
}

static enum lks_code begin_journal(struct lks_engine *e, struct lks_now now, struct lks_err *err)
{
    struct lks_str journal = lks_str_from(e->options.journal);
    if (journal.len != LKS_JOURNAL_ID_SIZE - 1)
        return lks_fail(err, LKS_E_INVALID, "a new journal needs a name of 32 hexadecimal digits");
    struct lks_record begun = {
        .kind = LKS_RECORD_BEGUN,
        .begun = {.journal = journal, .version = lks_str_from(e->options.version)},
    };
    return append(e, &begun, 1, now.wall, NULL, err);
}

enum lks_code lks_engine_sign_from_here(struct lks_engine *e, struct lks_now now,
                                        struct lks_err *err)
{
    if (lks_engine_is_following(e) || e->options.unchained || e->state.signed_from != 0)
        return LKS_OK;
    struct lks_record record = {
        .kind = LKS_RECORD_SIGNED,
        .signing = {.from = e->seq + 1,
                    .earlier = e->durable > e->head.seq ? e->durable - e->head.seq : 0},
    };
    return append(e, &record, 1, lks_engine_now(e, now).wall, NULL, err);
}

static bool take_head(void *ctx, const struct lks_head *head)
{
    struct lks_engine *e = ctx;
    if (head->seq > e->state.seq)
        return true; /* the leader went on since; it comes with its rows */
    if (head->seq > e->head.seq)
        e->head = *head;
    lks_heartbeat_publish(&e->state, head);
    return true;
}

/* The heads that agents were sent, which they will show again. Under a key other than this engine's
 * own, agents would refuse what is signed from now on. */
static enum lks_code load_head(struct lks_engine *e, struct lks_store *store, struct lks_err *err)
{
    if (lks_chain_walk_heads(store, e->state.seq, take_head, e, err) != LKS_OK)
        return err->code;
    struct lks_public_key key = lks_key_public(e->options.key);
    if (e->head.seq == 0 && e->state.seq != 0)
        return lks_fail(err, LKS_E_INVALID,
                        "journal: none of its heads is left, so no signature covers its rows; run "
                        "`lockstep journal verify`, then restore a backup");
    if (e->head.seq != 0 && !lks_chain_head_verify(&key, &e->head))
        return lks_fail(err, LKS_E_INVALID,
                        "journal: the head at row %" PRIu64 " is not signed with this key; is it "
                        "the right one? run `lockstep journal verify`",
                        e->head.seq);
    e->told = e->head;
    return LKS_OK;
}

static enum lks_code fold_store(struct lks_engine *e, struct lks_store *store, struct lks_err *err)
{
    struct lks_store_tail tail = {0};
    struct lks_public_key key = lks_key_public(e->options.key);
    if (lks_state_init(&e->state, e->options.seed, err) != LKS_OK ||
        lks_journal_fold_start(store, &key, &e->state, &tail, &e->start, err) != LKS_OK ||
        load_head(e, store, err) != LKS_OK || load_manifest(e, store, err) != LKS_OK ||
        lks_engine_shelve_all(e, store, err) != LKS_OK)
        return err->code;
    e->seq = e->durable = tail.seq;
    memcpy(e->hash, tail.hash, sizeof(e->hash));
    return LKS_OK;
}

static struct lks_engine *engine_new(const struct lks_engine_options *options, struct lks_now now)
{
    LKS_ASSERT(options->facts != NULL && options->key != NULL);
    struct lks_engine *e = calloc(1, sizeof(*e));
    if (e == NULL)
        return NULL;
    e->options = *options;
    LKS_MACHINE_MOVE(&lks_lease_moves, e->lease,
                     options->follow ? LKS_LEASE_FOLLOWS : LKS_LEASE_ALONE);
    e->book.facts = options->facts;
    e->book.judge = options->judge;
    e->base = now;
    pending_init(&e->pending);
    e->chain = lks_chain_new();
    return e;
}

/* The clock goes on from where the state is, and every deadline counts anew. */
static enum lks_code begin_here(struct lks_engine *e, struct lks_now now, struct lks_err *err)
{
    if (e->base.wall < e->state.clock)
        e->base.wall = e->state.clock;
    return lks_heartbeat_restart(&e->state, lks_engine_now(e, now), err);
}

/* An engine that did not start is of no use to a caller. */
static enum lks_code hand_over(struct lks_engine *e, enum lks_code code, struct lks_engine **out)
{
    if (code == LKS_OK)
        *out = e;
    else
        lks_engine_free(e);
    return code;
}

enum lks_code lks_engine_open(struct lks_store *store, const struct lks_engine_options *options,
                              struct lks_now now, struct lks_engine **out, struct lks_err *err)
{
    struct lks_engine *e = engine_new(options, now);
    if (e == NULL)
        return lks_fail_nomem(err);
    enum lks_code code = e->chain == NULL ? lks_fail_nomem(err) : fold_store(e, store, err);
    if (code == LKS_OK && e->base.wall < e->state.clock)
        e->base.wall = e->state.clock;
    if (code == LKS_OK && e->seq == 0)
        code = lks_engine_is_following(e)
                   ? lks_fail(err, LKS_E_NOT_FOUND,
                              "the store holds no journal yet; `lockstepd init` creates "
                              "one")
                   : begin_journal(e, now, err);
    if (code == LKS_OK)
        code = begin_here(e, now, err);
    if (code == LKS_OK)
        code = lks_engine_sign_from_here(e, now, err);
    return hand_over(e, code, out);
}

enum lks_code lks_engine_adopt(struct lks_state *state, struct lks_store *store,
                               const struct lks_engine_options *options, struct lks_now now,
                               struct lks_engine **out, struct lks_err *err)
{
    struct lks_engine *e = engine_new(options, now);
    if (e == NULL)
        return lks_fail_nomem(err);
    e->state = LKS_MOVE(*state);
    e->seq = e->durable = e->state.seq;
    enum lks_code code = e->chain == NULL ? lks_fail_nomem(err) : load_manifest(e, store, err);
    if (code == LKS_OK)
        code = lks_engine_shelve_all(e, store, err);
    if (code == LKS_OK)
        code = begin_here(e, now, err);
    return hand_over(e, code, out);
}

const struct lks_journal_start *lks_engine_start(const struct lks_engine *e)
{
    return &e->start;
}

void lks_engine_vouch(struct lks_engine *e, uint32_t node, lks_ms until)
{
    lks_heartbeat_vouch(&e->state, node, until);
}

void lks_engine_free(struct lks_engine *e)
{
    if (e == NULL)
        return;
    lks_state_fini(&e->state);
    lks_manifest_fini(&e->manifest);
    lks_registry_store_fini(&e->registry);
    lks_chain_free(e->chain);
    pending_fini(&e->pending);
    free(e);
}

const struct lks_state *lks_engine_state(const struct lks_engine *e)
{
    return &e->state;
}

const struct lks_book *lks_engine_book(const struct lks_engine *e)
{
    return &e->book;
}

uint64_t lks_engine_epoch(const struct lks_engine *e)
{
    return e->epoch;
}

/* The journal's clock is the wall's and never decreases. Where the wall's was set back it goes on
 * from where it was, a little slower, until the wall's has caught up: what is to expire expires. */
struct lks_now lks_engine_now(const struct lks_engine *e, struct lks_now now)
{
    lks_ms elapsed = now.mono > e->base.mono ? now.mono - e->base.mono : 0;
    lks_ms least = e->base.wall + elapsed - elapsed / 8;
    if (least < e->state.clock)
        least = e->state.clock;
    return (struct lks_now){.wall = now.wall > least ? now.wall : least, .mono = now.mono};
}

static struct lks_now journal_time(struct lks_engine *e, struct lks_now now)
{
    struct lks_now at = lks_engine_now(e, now);
    if (at.wall == now.wall)
        e->base = at;
    e->state.seen = at;
    return at;
}

/* Whether anything may be decided now. */
static enum lks_code check_open(const struct lks_engine *e, const struct lks_store_blob *blob,
                                struct lks_err *err)
{
    if (e->broken)
        return lks_fail(err, LKS_E_IO, "nothing more can be recorded: %s", e->why.msg);
    if (lks_engine_is_following(e))
        return lks_fail(err, LKS_E_UNAVAILABLE, "this controller follows; another one leads");
    if (e->stalled)
        return lks_fail(err, LKS_E_UNAVAILABLE, "the journal cannot be written: %s", e->why.msg);
    size_t more = blob != NULL ? blob->bytes.len : 0;
    if (e->pending.row_count >= LKS_ENGINE_BATCH_ROWS_MAX ||
        more > PENDING_BLOBS_MAX - e->pending.blob_bytes.len)
        return lks_fail(err, LKS_E_UNAVAILABLE, "the journal is behind; try again");
    return LKS_OK;
}

static bool has_fleet(const struct lks_decision *d)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->records[i].kind == LKS_RECORD_FLEET)
            return true;
    return false;
}

/* Records become rows and the state. A new manifest is the one that was given, or is read from its
 * own bytes first, so that it lives as long as the engine, as it would after a restart. */
static enum lks_code carry_out(struct lks_engine *e, lks_ms time, const struct lks_decision *d,
                               const struct lks_event *event, const struct lks_store_blob *blob,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest manifest = {0};
    bool fleet = has_fleet(d);
    LKS_ASSERT(!fleet || (blob != NULL && event->kind == LKS_EVENT_FLEET));
    struct lks_manifest *given = fleet ? event->fleet.give : NULL;
    if (fleet && given == NULL &&
        lks_manifest_parse("fleet", blob->bytes, e->options.facts, NULL, &manifest, err) != LKS_OK)
        return lks_wrap(err, "the fleet's manifest");
    if (append(e, d->records, d->count, time, blob, err) != LKS_OK)
        return err->code;
    if (given != NULL)
        manifest = LKS_MOVE(*given);
    if (fleet) {
        lks_manifest_fini(&e->manifest);
        e->manifest = LKS_MOVE(manifest);
        e->book.manifest = &e->manifest;
    }
    return LKS_OK;
}

/* Followers know a row when it is durable. Where that took longer than the little that clocks may
 * be off besides, what the row closed counts from when it was. */
static void note_slow(struct lks_engine *e, lks_ms wall)
{
    lks_ms from = e->under_way_from;
    if (from == 0 && e->pending.row_count > 0)
        from = e->pending.rows[0].time;
    if (from != 0 && wall > from + LKS_ENGINE_SLOW)
        lks_node_status_slow(&e->state, from, wall);
    if (!e->under_way)
        e->under_way_from = 0;
}

void lks_engine_tell(struct lks_engine *e)
{
    if (e->head.seq <= e->told.seq)
        return;
    e->told = e->head;
    e->replaced = 0;
    lks_heartbeat_publish(&e->state, &e->told);
}

/* The second of the newest head has passed, and no commit is in progress that would replace it. */
static void settle_head(struct lks_engine *e, lks_ms mono)
{
    if (!e->under_way && mono >= e->kept_at + LKS_ENGINE_HEAD_EVERY)
        lks_engine_tell(e);
}

enum lks_code lks_engine_turn(struct lks_engine *e, struct lks_now now,
                              const struct lks_event *event, const struct lks_store_blob *blob,
                              struct lks_decision *d, uint64_t *needs, struct lks_err *err)
{
    now = journal_time(e, now);
    settle_head(e, now.mono);
    if (check_open(e, blob, err) != LKS_OK)
        return err->code;
    note_slow(e, now.wall);
    if (event->kind == LKS_EVENT_TICK)
        lks_decide_settle(&e->state, now);
    if (lks_decide(&e->state, &e->book, now, event, d, err) != LKS_OK)
        return err->code;
    if (d->refused.code == LKS_OK && d->count > 0 && event->kind == LKS_EVENT_PUBLISH &&
        lks_engine_shelve_event(e, event, blob, err) != LKS_OK)
        return err->code;
    if (d->refused.code == LKS_OK && d->count > 0 &&
        carry_out(e, now.wall, d, event, blob, err) != LKS_OK)
        return err->code;
    *needs = e->seq;
    return LKS_OK;
}

enum lks_code lks_engine_hear(struct lks_engine *e, struct lks_now now, uint32_t node,
                              const struct lks_beat *beat, struct lks_err *err)
{
    if (lks_engine_is_following(e))
        return LKS_OK; /* it is for the leader to hear */
    /* How far a node's clock is off is told from the wall's. */
    bool news = lks_heartbeat_hear(&e->state, now, node, beat);
    (void)journal_time(e, now);
    if (!news)
        return LKS_OK;
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_event event = {.kind = LKS_EVENT_BEAT, .node = node, .beat = *beat};
    uint64_t needs = 0;
    lks_decision_init(&d);
    return lks_engine_turn(e, now, &event, NULL, &d, &needs, err);
}

enum lks_code lks_engine_try(const struct lks_engine *e, struct lks_now now,
                             const struct lks_event *event, struct lks_decision *d,
                             struct lks_err *err)
{
    return lks_decide(&e->state, &e->book, lks_engine_now(e, now), event, d, err);
}

lks_ms lks_engine_next(const struct lks_engine *e)
{
    if (e->broken || lks_engine_is_following(e) || e->stalled ||
        e->pending.row_count >= LKS_ENGINE_BATCH_ROWS_MAX)
        return UINT64_MAX; /* it would be refused; ask again after _take and _durable */
    lks_ms next = lks_decide_next(&e->state);
    lks_ms tell = e->kept_at + LKS_ENGINE_HEAD_EVERY;
    return !e->under_way && e->head.seq > e->told.seq && tell < next ? tell : next;
}

uint64_t lks_engine_seq(const struct lks_engine *e)
{
    return e->seq;
}

uint64_t lks_engine_durable_seq(const struct lks_engine *e)
{
    return e->durable;
}

/* The head of the batch's last row, in the place of the one before while that is not a second old:
 * what was told to agents stays. */
static void put_head(struct lks_engine *e, lks_ms mono, struct lks_engine_batch *out)
{
    settle_head(e, mono);
    if (e->replaced == 0)
        e->kept_at = mono;
    out->sign = true;
    out->store.replaces = e->replaced;
    memcpy(out->head.journal, e->state.journal, sizeof(out->head.journal));
    out->head.seq = e->seq;
    out->head.time = e->state.clock;
    memcpy(out->head.hash, e->hash, sizeof(e->hash));
    e->replaced = e->seq;
}

static void point(struct lks_engine_batch *b)
{
    const char *at = b->bodies.ptr;
    for (size_t i = 0; i < b->store.row_count; at += b->rows[i++].body.len)
        b->rows[i].body.ptr = at;
    at = b->blob_bytes.ptr;
    for (size_t i = 0; i < b->store.blob_count; at += b->blobs[i++].bytes.len)
        b->blobs[i].bytes.ptr = at;
}

bool lks_engine_take(struct lks_engine *e, struct lks_now now, struct lks_engine_batch *out)
{
    struct lks_pending *p = &e->pending;
    note_slow(e, lks_engine_now(e, now).wall);
    if (e->broken || lks_engine_is_following(e) || e->under_way || p->row_count == 0)
        return false;
    *out = (struct lks_engine_batch){
        .store = {.epoch = e->epoch, .row_count = p->row_count, .blob_count = p->blob_count},
        .rows = p->rows,
        .blobs = p->blobs,
        .bodies = p->bodies,
        .blob_bytes = p->blob_bytes,
        .last = e->seq,
    };
    e->under_way_from = p->rows[0].time;
    pending_init(p);
    point(out);
    if (!e->options.unchained)
        put_head(e, now.mono, out);
    e->under_way = true;
    return true;
}

enum lks_code lks_engine_commit(const struct lks_engine_options *options, struct lks_store *store,
                                struct lks_engine_batch *batch, struct lks_err *err)
{
    if (batch->sign && lks_chain_head_sign(options->key, &batch->head, err) != LKS_OK)
        return lks_wrap(err, "journal head");
    batch->store.rows = batch->rows;
    batch->store.blobs = batch->blobs;
    batch->store.head = batch->sign ? &batch->head : NULL;
    if (store->ops->append(store->self, &batch->store, err) != LKS_OK)
        return lks_wrap(err, "journal");
    return LKS_OK;
}

void lks_engine_batch_fini(struct lks_engine_batch *batch)
{
    free(batch->rows);
    free(batch->blobs);
    lks_buf_fini(&batch->bodies);
    lks_buf_fini(&batch->blob_bytes);
    *batch = (struct lks_engine_batch){0};
}

void lks_engine_durable(struct lks_engine *e, const struct lks_engine_batch *batch)
{
    LKS_ASSERT(e->under_way && batch->last >= e->durable);
    e->under_way = e->stalled = false;
    e->durable = batch->last;
    if (batch->sign)
        e->head = batch->head;
}

void lks_engine_stall(struct lks_engine *e, const struct lks_err *why)
{
    LKS_ASSERT(e->under_way);
    e->stalled = true;
    e->why = *why;
}

bool lks_engine_stalled(const struct lks_engine *e, struct lks_err *why)
{
    if (e->stalled && why != NULL)
        *why = e->why;
    return e->stalled;
}

const struct lks_head *lks_engine_head(const struct lks_engine *e)
{
    return &e->head;
}

const struct lks_head *lks_engine_told(const struct lks_engine *e)
{
    return &e->told;
}

enum lks_code lks_engine_snapshot(const struct lks_engine *e, struct lks_buf *out, uint64_t *seq,
                                  struct lks_err *err)
{
    if (e->broken)
        return lks_fail(err, LKS_E_IO, "no snapshot of a state that is not good: %s", e->why.msg);
    if (lks_snapshot_pack_signed(&e->state, e->hash, e->options.key, out, err) != LKS_OK)
        return err->code;
    *seq = e->seq;
    return LKS_OK;
}
