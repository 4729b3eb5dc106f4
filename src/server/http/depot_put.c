/* An artifact that is put: asked for piece by piece, written in the thread pool, looked at as a
 * whole, put in its place, and then given its record. */
#include "server/http/depot_parts.h"

#include <unistd.h>

static void answer(struct lks_transfer *t)
{
    const struct lks_err *err = &t->err;
    if (err->code == LKS_E_INVALID)
        lks_call_problem_http(t->call, 422, "digest", "%s", err->msg);
    else
        lks_call_problem_err(t->call, err);
    lks_depot_transfer_answer(t);
}

static void end_early(struct lks_transfer *t)
{
    lks_call_problem(t->call, LKS_E_UNAVAILABLE, "lockstepd is about to end; put it again");
    lks_depot_transfer_answer(t);
}

/* In its place: it gets a record, unless it has one. */
static void settle(struct lks_transfer *t)
{
    struct lks_call *call = t->call;
    struct lks_depot_ask *ask = call->depot;
    struct lks_server *server = t->depot->server;
    t->whole = true;
    ask->stored = true;
    call->status = 0;
    if (!server->stop_sent) {
        lks_server_decide(server, call);
        return;
    }
    end_early(t);
}

static void finish_part(struct lks_transfer *t)
{
    (void)!lks_depot_part_finish(&t->depot->files, &t->part, &t->err);
}

static void finished(struct lks_transfer *t)
{
    if (t->err.code != LKS_OK) {
        answer(t);
        return;
    }
    t->depot->bytes += t->call->depot->size;
    settle(t);
}

static void look(struct lks_transfer *t)
{
    (void)!lks_depot_part_look(&t->part, &t->looked, &t->err);
}

static void looked(struct lks_transfer *t)
{
    if (t->err.code != LKS_OK)
        answer(t);
    else if (t->depot->server->stop_sent)
        end_early(t);
    else if (t->looked)
        lks_depot_transfer_step_start(t, finish_part, finished);
    else
        lks_depot_transfer_step_start(t, look, looked);
}

static void tell_rest(struct lks_transfer *t)
{
    struct lks_json_writer w = lks_call_json(t->call);
    t->call->status = 202;
    lks_json_cstr(&w, "digest", t->digest);
    lks_json_int(&w, "have", (int64_t)t->part.size);
    lks_json_int(&w, "size", (int64_t)t->call->depot->size);
    lks_json_end(&w, '}');
    lks_depot_transfer_answer(t);
}

static void write_piece(struct lks_transfer *t)
{
    if (lks_depot_part_add(&t->part, lks_buf_view(&t->piece), &t->err) == LKS_OK && t->last)
        (void)!lks_depot_part_keep(&t->depot->files, &t->part, &t->err);
}

static void wrote_piece(struct lks_transfer *t)
{
    t->depot->received += t->piece.len;
    lks_buf_fini(&t->piece);
    if (t->err.code != LKS_OK) {
        answer(t);
    } else if (t->last && t->part.size == t->call->depot->size) {
        lks_depot_transfer_step_start(t, look, looked);
    } else if (t->last) {
        tell_rest(t);
    } else if (t->call->x == NULL) {
        lks_depot_transfer_answer(t);
    } else {
        t->paced = true;
        lks_depot_transfer_put_on(t);
    }
}

static void on_piece(void *ctx, struct lks_buf *piece, bool last)
{
    struct lks_transfer *t = ctx;
    t->piece = LKS_MOVE(*piece);
    t->last = last;
    lks_depot_transfer_step_start(t, write_piece, wrote_piece);
}

void lks_depot_transfer_put_on(struct lks_transfer *t)
{
    if (!lks_depot_may(t->depot, LKS_TRANSFER_PIECE))
        return;
    t->paced = false;
    lks_httpd_more(t->call->x);
}

/* One that is there already, without a record: a crash came between. */
static void begin_part(struct lks_transfer *t)
{
    const struct lks_depot_ask *ask = t->call->depot;
    uint64_t size = 0, spare = lks_daemon_config(t->call->daemon)->depot_spare;
    t->whole = lks_depot_find(&t->depot->files, t->digest, &t->fd, &size, &t->err) == LKS_OK &&
               size == ask->size;
    t->err = (struct lks_err){0};
    if (!t->whole)
        (void)!lks_depot_part_open(&t->depot->files, t->digest, ask->range.from,
                                   ask->size - ask->range.from, spare, &t->part, &t->err);
}

static void began(struct lks_transfer *t)
{
    if (t->err.code != LKS_OK)
        answer(t);
    else if (t->call->x == NULL)
        lks_depot_transfer_answer(t);
    else if (t->whole)
        settle(t);
    else
        lks_httpd_fetch(t->call->x, on_piece, t);
}

void lks_depot_transfer_put(struct lks_transfer *t)
{
    lks_depot_transfer_step_start(t, begin_part, began);
}
