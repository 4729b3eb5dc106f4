#include "server/auth/reads.h"

#include "core/state/state.h"
#include "drivers/store/backup.h"
#include "engine/journal.h"
#include "server/auth/runs_sight.h"
#include "server/base/daemon.h"
#include "server/call/route.h"
#include "server/form/asks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    WINDOW = 4096,             /* rows read at once when reading backwards */
    HISTORY_SCAN_MAX = 200000, /* rows one call looks at; the next page goes on */
};

/* The answer is what was read, or why it was not. */
static void finish(struct lks_call *call, const char *type, enum lks_code code,
                   const struct lks_err *err)
{
    if (code != LKS_OK) {
        lks_call_problem_err(call, err);
        return;
    }
    call->status = 200;
    call->type = type;
}

void lks_read_blob(struct lks_call *call)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct lks_err err = {0};
    enum lks_code code = lks_daemon_store(call->daemon, false, &store, &err);
    if (code == LKS_OK)
        code = store.ops->blob(store.self, call->blob, &call->out, &err);
    finish(call, call->route->answer_type, code, &err);
}

void lks_read_from_store(struct lks_call *call, struct lks_str digest)
{
    LKS_ASSERT(digest.len < sizeof(call->blob));
    memcpy(call->blob, digest.ptr, digest.len);
    call->work = lks_read_blob;
}

/* Rows of a window that are about a node, as JSON, oldest first. */
struct window {
    struct lks_str name;
    struct lks_runs_sight *runs; /* those that the caller reads; NULL: all */
    uint64_t end;                /* the first row that is not looked at */
    struct lks_buf items[WINDOW];
    uint64_t seqs[WINDOW];
    size_t count;
    struct lks_err err;
};

static void window_clear(struct window *w)
{
    for (size_t i = 0; i < w->count; i++)
        lks_buf_fini(&w->items[i]);
    w->count = 0;
}

static void window_free(struct window **w)
{
    if (*w != NULL)
        window_clear(*w);
    free(*w);
}

static bool keep_row(void *ctx, const struct lks_row *row)
{
    struct window *w = ctx;
    struct lks_record record;
    if (row->seq >= w->end || w->count == WINDOW)
        return false;
    if (lks_record_unpack(row->kind, row->version, row->body, &record, &w->err) != LKS_OK)
        return false;
    if (!lks_journal_record_about(&record, w->name) ||
        (record.kind == LKS_RECORD_JOB_ENDED && !lks_runs_sight_shows(w->runs, &record.job_ended)))
        return true;
    struct lks_buf *item = &w->items[w->count];
    w->seqs[w->count++] = row->seq;
    lks_buf_init(item, LKS_RECORD_BODY_MAX * 8);
    return lks_journal_json(row, item, &w->err) == LKS_OK;
}

/* Read backwards in windows until there are enough rows, or enough were read. */
static enum lks_code go_back(struct lks_store *store, struct window *w, uint64_t before,
                             uint64_t limit, struct lks_json_writer *out, uint64_t *next,
                             struct lks_err *err)
{
    uint64_t scanned = 0;
    *next = before;
    while (*next > 1 && limit > 0 && scanned < HISTORY_SCAN_MAX) {
        uint64_t from = *next > WINDOW ? *next - WINDOW : 1;
        w->end = *next;
        if (store->ops->rows(store->self, from, keep_row, w, err) != LKS_OK)
            return err->code;
        if (w->err.code != LKS_OK) {
            *err = w->err;
            return err->code;
        }
        scanned += *next - from;
        *next = from;
        for (size_t i = w->count; i-- > 0 && limit > 0; limit--) {
            lks_json_raw(out, NULL, lks_buf_view(&w->items[i]));
            *next = limit == 1 ? w->seqs[i] : *next;
        }
        window_clear(w);
    }
    return LKS_OK;
}

void lks_read_history(struct lks_call *call)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    LKS_CLEANUP(window_free) struct window *w = calloc(1, sizeof(*w));
    struct lks_err err = {0};
    if (w == NULL) {
        (void)!lks_fail_nomem(&err);
        lks_call_problem_err(call, &err);
        return;
    }
    enum lks_code code = lks_daemon_store(call->daemon, false, &store, &err);
    uint64_t next = 0, limit = LKS_ASKED(call, lks_query_history)->limit;
    struct lks_json_writer out = lks_call_list(call);
    if (code == LKS_OK) {
        w->name = call->named;
        w->runs = call->memory;
        code = go_back(&store, w, call->from, limit, &out, &next, &err);
    }
    lks_call_list_end(&out, next > 1 ? next : 0);
    if (code != LKS_OK)
        lks_call_problem_err(call, &err);
}

void lks_read_at(struct lks_call *call)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct lks_err err = {0};
    struct lks_public_key key = lks_key_public(&lks_daemon_secrets(call->daemon)->journal);
    lks_ms at = LKS_ASKED(call, lks_query_at)->time;
    enum lks_code code = lks_daemon_store(call->daemon, false, &store, &err);
    if (code == LKS_OK)
        code = lks_journal_at(&store, &key, at, call->named, &call->out, &err);
    finish(call, "application/json", code, &err);
}

void lks_read_past(struct lks_call *call)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct lks_err err = {0};
    struct lks_public_key key = lks_key_public(&lks_daemon_secrets(call->daemon)->journal);
    const struct lks_query_past *ask = LKS_ASKED(call, lks_query_past);
    struct lks_past past = {
        .at = ask->time,
        .names = call->hosts.names,
        .count = call->hosts.count,
        .pool = ask->pool,
        .readings = ask->readings,
    };
    enum lks_code code = lks_daemon_store(call->daemon, false, &store, &err);
    if (code == LKS_OK)
        code = lks_journal_past(&store, &key, &past, &call->out, &err);
    finish(call, "application/json", code, &err);
}

/* All that is known now, as a snapshot without secrets. */
void lks_read_state(struct lks_call *call)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    struct lks_err err = {0};
    struct lks_public_key key = lks_key_public(&lks_daemon_secrets(call->daemon)->journal);
    struct lks_store_tail tail;
    bool read = lks_state_init(&state, 0, &err) == LKS_OK &&
                lks_daemon_store(call->daemon, false, &store, &err) == LKS_OK &&
                lks_journal_fold(&store, &key, 0, &state, &tail, &err) == LKS_OK &&
                lks_snapshot_pack_shown(&state, &call->out, &err) == LKS_OK;
    finish(call, call->route->answer_type, read ? LKS_OK : err.code, &err);
}

/* Rows one behind the other, up to a row and to a number of them. */
struct listing {
    struct lks_buf *out;
    const struct lks_select *select; /* NULL: all of them */
    uint64_t last, left, scan, next; /* rows to tell, and to look at */
    bool events, over;
    struct lks_err err;
};

enum lks_code lks_read_event_text(const struct lks_row *row, struct lks_buf *out,
                                  struct lks_err *err)
{
    lks_buf_addf(out, "id: %" PRIu64 "\ndata: ", row->seq);
    if (lks_journal_json(row, out, err) != LKS_OK)
        return err->code;
    lks_buf_add(out, LKS_STR("\n\n"));
    return lks_buf_check(out, err);
}

static bool list_row(void *ctx, const struct lks_row *row)
{
    struct listing *l = ctx;
    bool full = l->events && l->out->len > l->out->max / 2;
    l->over = l->select != NULL && lks_select_over(l->select, row);
    if (l->left == 0 || row->seq > l->last || full || l->scan == 0 || l->over)
        return false;
    l->scan--;
    if (l->select != NULL && !lks_select_fits(l->select, row)) {
        l->next = row->seq + 1;
        return true;
    }
    enum lks_code code = l->events ? lks_read_event_text(row, l->out, &l->err)
                                   : lks_journal_json(row, l->out, &l->err);
    if (!l->events)
        lks_buf_addc(l->out, '\n');
    l->left--;
    l->next = row->seq + 1;
    return code == LKS_OK;
}

static enum lks_code list_rows(const struct lks_daemon *d, uint64_t from, struct listing *l,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    if (lks_daemon_store(d, false, &store, err) != LKS_OK ||
        (l->select != NULL && lks_select_begin(&store, l->select, from, &from, err) != LKS_OK))
        return err->code;
    l->next = from;
    if (store.ops->rows(store.self, from, list_row, l, err) != LKS_OK)
        return err->code;
    if (l->err.code != LKS_OK)
        *err = l->err;
    return l->err.code;
}

enum lks_code lks_read_events(const struct lks_daemon *d, uint64_t from, uint64_t last, size_t most,
                              struct lks_buf *out, uint64_t *next, struct lks_err *err)
{
    struct listing l = {.out = out, .last = last, .left = most, .scan = most, .events = true};
    if (list_rows(d, from, &l, err) != LKS_OK)
        return err->code;
    *next = l.next;
    return LKS_OK;
}

void lks_read_journal(struct lks_call *call)
{
    struct lks_err err = {0};
    struct listing l = {
        .out = &call->out,
        .select = &call->select,
        .last = UINT64_MAX,
        .left = LKS_ASKED(call, lks_query_journal)->limit,
        .scan = HISTORY_SCAN_MAX,
        .over = true,
    };
    if (list_rows(call->daemon, call->from, &l, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return;
    }
    if (!l.over)
        lks_call_header(call, "Lockstep-Next: %" PRIu64, l.next);
    call->status = 200;
    call->type = call->route->answer_type;
}

/* The whole controller, into a file that is sent and removed. */
void lks_read_backup(struct lks_call *call)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    const char *data = lks_daemon_config(call->daemon)->data.ptr;
    uint64_t chance = 0;
    struct lks_err err = {0};
    enum lks_code code = lks_secrets_chance(&chance, sizeof(chance), &err);
    int len =
        snprintf(call->file, sizeof(call->file), "%s/backup-%016" PRIx64 ".tmp", data, chance);
    if (code == LKS_OK && (len < 0 || (size_t)len >= sizeof(call->file)))
        code = lks_fail(&err, LKS_E_INVALID, "%s: too long for a path", data);
    if (code == LKS_OK)
        code = lks_daemon_store(call->daemon, false, &store, &err);
    if (code == LKS_OK)
        code = lks_backup_make(data, &store, &lks_daemon_secrets(call->daemon)->seal, call->file,
                               &err);
    if (code == LKS_OK) {
        call->status = 200;
        call->type = "application/octet-stream";
        return;
    }
    call->file[0] = '\0';
    lks_call_problem_err(call, &err);
}
