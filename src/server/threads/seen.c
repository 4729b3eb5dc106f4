#include "server/threads/seen.h"

#include "core/state/state.h"
#include "server/threads/lead.h"

#include <stdio.h>

enum { SEEN_MS = 1000 }; /* between two writes */

#define ACCEPT "start lockstepd once with --accept-lost-rows, which freezes the fleet"

static const char *data_of(const struct lks_daemon *d)
{
    return lks_daemon_config(d)->data.ptr;
}

/* A person takes the store as it is, or it is refused. */
static enum lks_code refuse(struct lks_daemon *d, struct lks_err *why, struct lks_err *err)
{
    if (!d->accept_lost)
        return lks_fail(err, LKS_E_REFUSED, "%s; or, if it is gone for good, " ACCEPT, why->msg);
    struct lks_log_field field = {"cause", lks_str_from(why->msg)};
    lks_daemon_log(d, LKS_LEVEL_WARNING,
                   "starts on a journal that lost rows, as --accept-lost-rows permits", &field, 1);
    d->seen.lost = true;
    return LKS_OK;
}

enum lks_code lks_seen_check(struct lks_daemon *d, struct lks_store *store, struct lks_err *err)
{
    struct lks_err why = {0};
    if (d->seen.lost)
        return LKS_OK;
    enum lks_code code = lks_seen_read(data_of(d), &d->secrets.seal, &d->seen.found, &why);
    d->seen.missing = code == LKS_E_NOT_FOUND;
    if (d->seen.missing)
        return LKS_OK;
    if (code == LKS_E_INVALID || code == LKS_E_DENIED)
        return refuse(d, &why, err);
    if (code == LKS_OK) {
        const struct lks_seen *found = &d->seen.found;
        struct lks_engine_place place = {.seq = found->seq, .time = found->time};
        memcpy(place.hash, found->hash, sizeof(place.hash));
        code = lks_engine_place_check(store, &place, &why);
        if (code == LKS_E_REFUSED) {
            (void)!lks_wrap(&why, "%s/seen-head", data_of(d));
            return refuse(d, &why, err);
        }
    }
    if (code != LKS_OK)
        *err = why;
    return code;
}

/* Earlier versions wrote a plain file, and none where the journal is in SQLite. Such a file names a
 * row from before the record `signed`, since they cannot read a journal that has it. */
static bool is_earlier(const struct lks_daemon *d, const struct lks_engine *engine)
{
    uint64_t from = lks_engine_state(engine)->signed_from;
    bool shared = lks_daemon_config(d)->postgres.len > 0;
    return from == 0 || from > lks_engine_durable_seq(engine) ||
           (d->seen.found.plain && shared && d->seen.found.seq < from);
}

/* From now on there is one, also should we be killed right behind the first commit. */
static enum lks_code write_first(const struct lks_daemon *d, struct lks_store *store,
                                 struct lks_err *err)
{
    struct lks_store_tail tail = {0};
    if (store->ops->tail(store->self, &tail, err) != LKS_OK)
        return err->code;
    struct lks_seen seen = {.seq = tail.seq, .time = tail.time};
    memcpy(seen.hash, tail.hash, sizeof(seen.hash));
    return lks_seen_write(data_of(d), &d->secrets.seal, &seen, err);
}

enum lks_code lks_seen_check_file(struct lks_daemon *d, const struct lks_engine *engine,
                                  struct lks_store *store, struct lks_err *err)
{
    struct lks_err why = {0};
    if (d->seen.lost || (!d->seen.missing && !d->seen.found.plain))
        return LKS_OK;
    if (is_earlier(d, engine))
        return write_first(d, store, err);
    (void)!lks_fail(&why, LKS_E_REFUSED,
                    "%s/seen-head: %s, so that it is not known whether the journal lost rows; "
                    "bring the file back",
                    data_of(d), d->seen.missing ? "is not there" : "is not sealed");
    return refuse(d, &why, err);
}

/* Writing it down ----------------------------------------------------------------------------- */

static void write_now(struct lks_store_thread *t)
{
    struct lks_seen_noting *n = &t->seen;
    struct lks_err err = {0};
    n->written_at = lks_lead_clock();
    bool ok =
        lks_seen_write(data_of(t->daemon), &t->daemon->secrets.seal, &n->last, &err) == LKS_OK;
    struct lks_log_field field = {"cause", lks_str_from(err.msg)};
    if (!ok && !n->failed)
        lks_daemon_log(t->daemon, LKS_LEVEL_WARNING,
                       "the last row that was seen could not be written to seen-head", &field, 1);
    if (ok)
        n->written = n->last.seq;
    n->failed = !ok;
}

static void on_timer(uv_timer_t *timer)
{
    struct lks_store_thread *t = timer->data;
    if (t->seen.written != t->seen.last.seq)
        write_now(t);
}

void lks_seen_begin(struct lks_store_thread *t)
{
    uv_timer_init(&t->loop, &t->seen.timer);
    t->seen.timer.data = t;
}

void lks_seen_note(struct lks_store_thread *t, const struct lks_engine_place *place)
{
    struct lks_seen_noting *n = &t->seen;
    n->last = (struct lks_seen){.seq = place->seq, .time = place->time};
    memcpy(n->last.hash, place->hash, sizeof(n->last.hash));
    lks_ms clock = lks_lead_clock(), due = n->written_at + SEEN_MS;
    if (n->last.seq == n->written || uv_is_active((uv_handle_t *)&n->timer))
        return;
    if (clock >= due)
        write_now(t);
    else
        uv_timer_start(&n->timer, on_timer, due - clock, 0);
}

void lks_seen_end(struct lks_store_thread *t)
{
    if (t->seen.written != t->seen.last.seq)
        write_now(t);
    uv_close((uv_handle_t *)&t->seen.timer, NULL);
}
