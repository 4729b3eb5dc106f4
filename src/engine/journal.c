#include "engine/journal.h"

#include "codec/format/json.h"
#include "codec/notation/hostlist.h"
#include "core/campaign/state_apply.h"
#include "core/state/state.h"
#include "engine/chain_walk.h"
#include "model/record/record.h"

#include <inttypes.h>

struct folding {
    struct lks_store *store;
    const struct lks_public_key *key; /* of the snapshot; NULL: not asked for */
    struct lks_chain_walk walk;
    struct lks_store_tail tail;
    struct lks_head newest; /* signed; seq 0: none */
    lks_ms until;
    uint64_t through; /* stop behind this row; UINT64_MAX: at the end */
    bool stopped;
    struct lks_state *out;
    struct lks_err *err;
    enum lks_code code;
};

static void folding_fini(struct folding *f)
{
    lks_chain_walk_fini(&f->walk);
}

static bool newest_head(void *ctx, const struct lks_head *head)
{
    struct lks_head *newest = ctx;
    if (head->seq > newest->seq)
        *newest = *head;
    return true;
}

static bool fold_row(void *ctx, const struct lks_row *row)
{
    struct folding *f = ctx;
    struct lks_record record;
    f->stopped = row->seq > f->through;
    if (f->stopped)
        return false;
    f->code = lks_chain_walk_look(&f->walk, row, &record, f->err);
    if (f->code != LKS_OK || f->walk.fault != LKS_FAULT_NONE)
        return false;
    f->stopped = f->until != 0 && row->time > f->until;
    if (f->stopped)
        return false;
    if (row->seq == f->newest.seq && memcmp(row->hash, f->newest.hash, sizeof(row->hash)) != 0) {
        lks_chain_walk_fault(&f->walk, LKS_FAULT_REWRITTEN, row->seq,
                             "row %" PRIu64 " is not the one that was signed", row->seq);
        return false;
    }
    f->code = lks_state_apply(f->out, row->seq, row->time, &record, f->err);
    if (f->code != LKS_OK)
        return false;
    lks_chain_walk_step(&f->walk, row);
    return true;
}

/* Where several share the store, the one that leads writes on while rows are read: what is behind
 * the end that was known before is behind an end of now, or was never committed. */
static enum lks_code fold_end(struct folding *f)
{
    struct lks_store_tail tail = f->tail;
    if (f->walk.seq > tail.seq && f->store->ops->tail(f->store->self, &tail, f->err) != LKS_OK)
        return f->err->code;
    if (f->walk.seq <= f->tail.seq || f->walk.seq >= tail.seq)
        lks_chain_walk_end(&f->walk, &tail);
    return LKS_OK;
}

/* From the record `signed` on every commit has a head, so that the last row has one. A leader that
 * writes on has newer heads by now than those that were read before the rows; what is behind the
 * last row that was read here is compared by the follower. */
static enum lks_code fold_signed(struct folding *f)
{
    struct lks_head newest = f->newest;
    struct lks_store_tail tail = {0};
    if (f->out->signed_from == 0 || newest.seq >= f->walk.seq)
        return LKS_OK;
    const struct lks_store_ops *ops = f->store->ops;
    if (ops->heads(f->store->self, newest.seq + 1, newest_head, &newest, f->err) != LKS_OK ||
        ops->tail(f->store->self, &tail, f->err) != LKS_OK)
        return f->err->code;
    bool same =
        newest.seq != f->walk.seq || memcmp(newest.hash, f->walk.hash, sizeof(newest.hash)) == 0;
    if (newest.seq < f->walk.seq || newest.seq > tail.seq || !same)
        lks_chain_walk_unsigned(&f->walk, f->newest.seq);
    return LKS_OK;
}

/* All rows behind where the walk stands. */
static enum lks_code fold_on(struct folding *f)
{
    const struct lks_store_ops *ops = f->store->ops;
    if (ops->rows(f->store->self, f->walk.seq + 1, fold_row, f, f->err) != LKS_OK)
        return lks_wrap(f->err, "journal");
    if (f->code != LKS_OK)
        return lks_wrap(f->err, "journal row %" PRIu64, f->walk.seq + 1);
    f->stopped = f->stopped || f->walk.seq == f->through;
    if (!f->stopped && fold_end(f) != LKS_OK)
        return lks_wrap(f->err, "journal");
    if (!f->stopped && f->newest.seq > f->walk.seq)
        lks_chain_walk_fault(&f->walk, LKS_FAULT_TRUNCATED, f->walk.seq + 1,
                             "the journal ends with row %" PRIu64 ", and row %" PRIu64
                             " was signed",
                             f->walk.seq, f->newest.seq);
    if (!f->stopped && f->walk.fault == LKS_FAULT_NONE && fold_signed(f) != LKS_OK)
        return lks_wrap(f->err, "journal");
    if (f->walk.fault == LKS_FAULT_NONE)
        return LKS_OK;
    if (lks_chain_walk_classify(&f->walk, f->store, f->err) != LKS_OK)
        return lks_wrap(f->err, "journal");
    return lks_chain_walk_fail(&f->walk, f->err);
}

static enum lks_code fold_begin(struct folding *f)
{
    const struct lks_store_ops *ops = f->store->ops;
    if (ops->tail(f->store->self, &f->tail, f->err) != LKS_OK ||
        lks_chain_walk_heads(f->store, f->tail.seq, newest_head, &f->newest, f->err) != LKS_OK)
        return lks_wrap(f->err, "journal");
    return LKS_OK;
}

/* Whether the snapshot is one of this chain, so far as can be told before the fold goes on. */
static enum lks_code check_place(const struct folding *f, const struct lks_snapshot *s,
                                 struct lks_err *why)
{
    struct lks_store_tail row = {0};
    if (s->seq > f->tail.seq || s->seq + 1 < f->tail.first)
        return lks_fail(why, LKS_E_INVALID,
                        "snapshot: of row %" PRIu64 ", and the journal has %" PRIu64 " to %" PRIu64,
                        s->seq, f->tail.first, f->tail.seq);
    if (f->until != 0 && s->time > f->until)
        return lks_fail(why, LKS_E_NOT_FOUND, "the snapshot is of a later time");
    if (s->seq < f->tail.first)
        return LKS_OK; /* the row went; the link of the next one will tell */
    if (lks_chain_walk_row(f->store, s->seq, &row, why) != LKS_OK)
        return why->code;
    if (row.seq != s->seq || memcmp(row.hash, s->hash, sizeof(row.hash)) != 0)
        return lks_fail(why, LKS_E_INVALID, "snapshot: not of this journal's row %" PRIu64, s->seq);
    return LKS_OK;
}

/* Begin with the snapshot if there is one that can be trusted and is not too young. */
static enum lks_code use_snapshot(struct folding *f, struct lks_journal_start *start)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    struct lks_snapshot snapshot = {0};
    struct lks_err *why = &start->why;
    *start = (struct lks_journal_start){0};
    if (lks_snapshot_load(f->store, f->key, &bytes, &snapshot, why, f->err) != LKS_OK)
        return f->err->code;
    start->passed_over = snapshot.kept;
    if (snapshot.seq == 0 || check_place(f, &snapshot, why) != LKS_OK)
        return LKS_OK;
    enum lks_code code = lks_snapshot_apply(&snapshot, f->out, why);
    if (code == LKS_E_INVALID)
        return LKS_OK;
    if (code != LKS_OK)
        *f->err = *why;
    if (code != LKS_OK ||
        lks_chain_walk_init(&f->walk, snapshot.seq, snapshot.hash, f->err) != LKS_OK)
        return f->err->code;
    f->walk.time = snapshot.time;
    *start = (struct lks_journal_start){.used = snapshot.seq};
    return LKS_OK;
}

static enum lks_code fold_all(struct folding *f, struct lks_store_tail *tail,
                              struct lks_journal_start *start)
{
    const struct lks_err *why = &start->why;
    if (fold_begin(f) != LKS_OK || use_snapshot(f, start) != LKS_OK)
        return f->err->code;
    if (start->used == 0 && f->tail.first > 1)
        return lks_fail(f->err, why->code == LKS_E_NOT_FOUND ? LKS_E_NOT_FOUND : LKS_E_INVALID,
                        "journal: rows before %" PRIu64 " were trimmed, and nothing replaces "
                        "them: %s; restore a backup to read earlier rows",
                        f->tail.first, why->code != LKS_OK ? why->msg : "there is no snapshot");
    if (start->used == 0 && lks_chain_walk_init(&f->walk, 0, NULL, f->err) != LKS_OK)
        return f->err->code;
    if (fold_on(f) != LKS_OK)
        return f->err->code;
    *tail =
        (struct lks_store_tail){.first = f->tail.first, .seq = f->walk.seq, .time = f->walk.time};
    memcpy(tail->hash, f->walk.hash, sizeof(tail->hash));
    return LKS_OK;
}

enum lks_code lks_journal_fold(struct lks_store *store, const struct lks_public_key *key,
                               lks_ms until, struct lks_state *out, struct lks_store_tail *tail,
                               struct lks_err *err)
{
    LKS_CLEANUP(folding_fini)
    struct folding f = {
        .store = store, .key = key, .until = until, .through = UINT64_MAX, .out = out, .err = err};
    struct lks_journal_start ignored = {0};
    return fold_all(&f, tail, &ignored);
}

enum lks_code lks_journal_fold_start(struct lks_store *store, const struct lks_public_key *key,
                                     struct lks_state *out, struct lks_store_tail *tail,
                                     struct lks_journal_start *start, struct lks_err *err)
{
    LKS_CLEANUP(folding_fini)
    struct folding f = {.store = store, .key = key, .through = UINT64_MAX, .out = out, .err = err};
    return fold_all(&f, tail, start);
}

enum lks_code lks_journal_fold_rows(struct lks_store *store, uint64_t through,
                                    struct lks_state *out, struct lks_err *err)
{
    LKS_CLEANUP(folding_fini)
    struct folding f = {.store = store, .through = through, .out = out, .err = err};
    if (fold_begin(&f) != LKS_OK || lks_chain_walk_init(&f.walk, 0, NULL, err) != LKS_OK)
        return err->code;
    return fold_on(&f);
}

/* Names are mostly alone; a list is taken apart only where the name could be in it. */
static bool list_has(struct lks_str list, struct lks_str name)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_hostlist hosts = {0};
    struct lks_err ignored = {0};
    if (lks_str_eq(list, name))
        return true;
    lks_arena_init(&arena, (size_t)256 << 20);
    if (memchr(list.ptr, '[', list.len) == NULL && lks_str_find(list, name) < 0)
        return false;
    if (lks_hostlist_parse(list, &arena, &hosts, &ignored) != LKS_OK)
        return false;
    for (size_t i = 0; i < hosts.count; i++)
        if (lks_str_eq(hosts.names[i], name))
            return true;
    return false;
}

static bool is_hosts(const struct lks_record_field *field)
{
    return strcmp(field->key, "hosts") == 0;
}

static bool names_nodes(const struct lks_record_field *field)
{
    return is_hosts(field) || strcmp(field->key, "node") == 0 || strcmp(field->key, "subject") == 0;
}

bool lks_journal_kind_about_nodes(const struct lks_record_info *info)
{
    for (size_t i = 0; i < info->count; i++) {
        if (names_nodes(&info->fields[i]))
            return true;
    }
    return false;
}

bool lks_journal_record_about(const struct lks_record *r, struct lks_str name)
{
    const struct lks_record_info *info = lks_record_info((unsigned)r->kind);
    if (info == NULL || name.len == 0)
        return false;
    for (size_t i = 0; i < info->count; i++) {
        const struct lks_record_field *field = &info->fields[i];
        struct lks_str value;
        bool list = is_hosts(field);
        if (!names_nodes(field))
            continue;
        memcpy(&value, (const char *)&r->begun + field->offset, sizeof(value));
        if (value.len > 0 && (list ? list_has(value, name) : lks_str_eq(value, name)))
            return true;
    }
    return false;
}

enum lks_code lks_journal_json(const struct lks_row *row, struct lks_buf *out, struct lks_err *err)
{
    struct lks_record record;
    char time[LKS_TIME_TEXT_SIZE];
    if (lks_record_unpack(row->kind, row->version, row->body, &record, err) != LKS_OK)
        return lks_wrap(err, "journal row %" PRIu64, row->seq);
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    lks_json_int(&w, "seq", (int64_t)row->seq);
    lks_json_cstr(&w, "time", lks_time_text(row->time, time));
    lks_record_json_shown(&record, &w);
    lks_json_end(&w, '}');
    return lks_buf_check(out, err);
}
