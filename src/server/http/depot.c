#include "server/http/depot.h"

#include "server/api/routes.h"
#include "server/auth/forward.h"
#include "server/http/depot_peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    TICK_MS = 5,
    BACKLOG_MAX = 1 << 20,
    RETRY_S = 2,
    ROOT_KEPT = 4,                   /* transfers, for root on the socket */
    COLLECT_FIRST_MS = 3600 * 1000,  /* after a start at the latest */
    PART_KEPT_MS = 24 * 3600 * 1000, /* one that was not continued */
    PATH_BYTES_MAX = 4096,
};

bool lks_depot_is_large(const char *method, const char *path)
{
    struct lks_route_match match;
    lks_route_find(LKS_LISTENER_PEOPLE, method, path, &match);
    return match.route != NULL && (match.route->flags & LKS_ROUTE_LARGE) != 0;
}

/* Steps ---------------------------------------------------------------------------------------- */

static void next_job(struct lks_depot_server *d);

static void run(uv_work_t *job)
{
    struct lks_transfer *t = job->data;
    t->work(t);
}

static void ran(uv_work_t *job, int status)
{
    struct lks_transfer *t = job->data;
    struct lks_depot_server *d = t->depot;
    (void)status;
    d->working = false;
    t->busy = false;
    t->done(t);
    next_job(d);
}

/* One at a time: what removes files never meets what puts them there. */
static void next_job(struct lks_depot_server *d)
{
    struct lks_transfer *t = TAILQ_FIRST(&d->jobs);
    if (d->working || t == NULL)
        return;
    TAILQ_REMOVE(&d->jobs, t, queue);
    d->working = true;
    t->job.data = t;
    uv_queue_work(&d->server->loop, &t->job, run, ran);
}

void lks_depot_transfer_step_start(struct lks_transfer *t, lks_transfer_step *work,
                                   lks_transfer_step *done)
{
    LKS_ASSERT(!t->busy);
    t->work = work;
    t->done = done;
    t->busy = true;
    TAILQ_INSERT_TAIL(&t->depot->jobs, t, queue);
    next_job(t->depot);
}

/* Rate ----------------------------------------------------------------------------------------- */

static uint64_t rate_of(const struct lks_depot_server *d)
{
    return lks_daemon_config(d->server->daemon)->depot_rate;
}

/* A pause is not saved up for long, or the rate would not hold after it. */
static void refill(struct lks_depot_server *d)
{
    lks_ms now = uv_now(&d->server->loop);
    uint64_t rate = rate_of(d), most = rate / 10 + LKS_TRANSFER_PIECE;
    lks_ms passed = now - d->refilled < LKS_SECOND ? now - d->refilled : LKS_SECOND;
    d->refilled = now;
    d->allowance += (int64_t)(rate * passed / LKS_SECOND);
    if (d->allowance > (int64_t)most)
        d->allowance = (int64_t)most;
}

bool lks_depot_may(struct lks_depot_server *d, size_t size)
{
    if (rate_of(d) == 0)
        return true;
    refill(d);
    if (d->allowance <= 0)
        return false;
    d->allowance -= (int64_t)size;
    return true;
}

/* Transfers ------------------------------------------------------------------------------------ */

static bool moves(enum lks_depot_act act)
{
    return act == LKS_DEPOT_GET || act == LKS_DEPOT_PUT;
}

static enum lks_side side_of(const struct lks_call *call)
{
    bool agent = call->route->listener == LKS_LISTENER_AGENTS;
    return agent ? LKS_SIDE_AGENTS : LKS_SIDE_PEOPLE;
}

static struct lks_transfer *transfer_new(struct lks_depot_server *d, struct lks_call *call)
{
    struct lks_transfer *t = calloc(1, sizeof(*t));
    if (t == NULL)
        return NULL;
    t->depot = d;
    t->call = call;
    t->act = call->depot->act;
    t->side = side_of(call);
    memcpy(t->digest, call->depot->digest, sizeof(t->digest));
    call->depot->transfer = t;
    d->count[t->side] += moves(t->act);
    if (moves(t->act)) /* has_room() counted it */
        t->account = lks_intake_ref(call->account);
    TAILQ_INSERT_TAIL(&d->transfers, t, all);
    return t;
}

void lks_depot_transfer_drop(struct lks_transfer *t)
{
    struct lks_depot_server *d = t->depot;
    LKS_ASSERT(!t->busy && t->stream == NULL);
    TAILQ_REMOVE(&d->transfers, t, all);
    d->count[t->side] -= moves(t->act);
    if (t->account != NULL)
        lks_intake_give(t->account, LKS_SHARE_TRANSFER);
    lks_intake_close(&d->server->intake, t->account);
    if (t->call != NULL)
        t->call->depot->transfer = NULL;
    if (t->fd > 0)
        (void)close(t->fd);
    lks_depot_part_fini(&t->part);
    lks_buf_fini(&t->piece);
    free(t->spared);
    free(t->wanted);
    free(t);
    if (TAILQ_EMPTY(&d->transfers))
        uv_timer_stop(&d->timer);
}

void lks_depot_transfer_answer(struct lks_transfer *t)
{
    struct lks_server *server = t->depot->server;
    struct lks_call *call = t->call;
    lks_depot_transfer_drop(t);
    lks_server_answer(server, call);
}

/* Downloads ------------------------------------------------------------------------------------ */

static void find_file(struct lks_transfer *t)
{
    uint64_t size = 0;
    if (lks_depot_find(&t->depot->files, t->digest, &t->fd, &size, &t->err) == LKS_OK &&
        size != t->call->depot->size)
        t->err.code = lks_fail(&t->err, LKS_E_IO, "%s is damaged", t->digest);
}

/* A controller is not told to wait for what we wait for ourselves. */
static void answer_missing(struct lks_transfer *t)
{
    struct lks_call *call = t->call;
    bool peer = lks_forward_controller(&call->credential);
    if (peer || !lks_depot_peers_ask(t->depot->peers, t->digest)) {
        lks_call_problem(call, LKS_E_NOT_FOUND, "%s has a record, and is not held here", t->digest);
        return;
    }
    lks_call_problem(call, LKS_E_UNAVAILABLE,
                     "%s is not held here, and is fetched from another controller; try again",
                     t->digest);
    lks_call_header(call, "Retry-After: %d", RETRY_S);
}

static void found_file(struct lks_transfer *t)
{
    struct lks_call *call = t->call;
    struct lks_server *server = t->depot->server;
    if (t->err.code == LKS_E_NOT_FOUND)
        answer_missing(t);
    else if (t->err.code != LKS_OK)
        lks_call_problem(call, LKS_E_IO, "%s cannot be read", t->digest);
    if (t->err.code != LKS_OK || call->x == NULL) {
        lks_depot_transfer_answer(t);
        return;
    }
    t->at = call->depot->range.from;
    t->size = call->depot->range.len;
    t->end = t->at + t->size;
    lks_server_answer(server, call); /* comes back as lks_depot_server_reply() */
}

static void pump(struct lks_transfer *t);

static void read_piece(struct lks_transfer *t)
{
    uint64_t left = t->end - t->at;
    size_t len = left < LKS_TRANSFER_PIECE ? (size_t)left : LKS_TRANSFER_PIECE;
    lks_buf_init(&t->piece, LKS_TRANSFER_PIECE);
    (void)!lks_depot_read(t->fd, t->at, len, &t->piece, &t->err);
}

/* An answer that is not whole must not look like one. */
static void cut(struct lks_transfer *t)
{
    struct lks_httpd_stream *stream = t->stream;
    t->stream = NULL;
    if (stream != NULL)
        lks_httpd_stream_cut(stream);
    lks_depot_transfer_drop(t);
}

static void have_piece(struct lks_transfer *t)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf piece = LKS_MOVE(t->piece);
    if (t->stream == NULL || t->err.code != LKS_OK) {
        cut(t);
        return;
    }
    t->at += piece.len;
    t->depot->sent += piece.len;
    t->busy = true; /* so that it is not dropped below us */
    bool taken = lks_httpd_stream_write(t->stream, lks_buf_view(&piece));
    t->busy = false;
    if (taken)
        pump(t);
    else
        lks_depot_transfer_drop(t);
}

static void on_ended(void *ctx, struct lks_httpd_stream *stream)
{
    struct lks_transfer *t = ctx;
    (void)stream;
    t->stream = NULL;
    if (!t->busy)
        lks_depot_transfer_drop(t);
}

/* The next piece, where there is room for it and it is within the rate. */
static void pump(struct lks_transfer *t)
{
    lks_ms now = uv_now(&t->depot->server->loop);
    size_t backlog = lks_httpd_stream_backlog(t->stream);
    uint64_t begun = t->end - t->size;
    lks_ms within = lks_daemon_config(t->depot->server->daemon)->depot_stall_ms;
    if (!lks_progress_good(&t->progress, now, t->at - begun - backlog, backlog, within)) {
        t->depot->stalled++;
        cut(t);
        return;
    }
    uint64_t left = t->end - t->at;
    size_t size = left < LKS_TRANSFER_PIECE ? (size_t)left : LKS_TRANSFER_PIECE;
    if (size > 0 && backlog < BACKLOG_MAX / 4 && lks_depot_may(t->depot, size))
        lks_depot_transfer_step_start(t, read_piece, have_piece);
}

bool lks_depot_server_reply(struct lks_call *call)
{
    struct lks_transfer *t = call->depot != NULL ? call->depot->transfer : NULL;
    if (t == NULL || t->act != LKS_DEPOT_GET)
        return false;
    const struct lks_httpd_reply head = {
        .status = call->status, .type = call->type, .headers = call->headers};
    t->call = NULL;
    call->depot->transfer = NULL;
    t->stream = lks_httpd_stream_sized(call->x, &head, t->end - t->at, BACKLOG_MAX, on_ended, t);
    if (t->stream == NULL)
        lks_depot_transfer_drop(t);
    else
        pump(t);
    return true;
}

/* How much is there ---------------------------------------------------------------------------- */

static void count_part(struct lks_transfer *t)
{
    t->whole = lks_depot_find(&t->depot->files, t->digest, &t->fd, &t->have, &t->err) == LKS_OK;
    if (!t->whole)
        t->have = lks_depot_have(&t->depot->files, t->digest);
}

static void counted_part(struct lks_transfer *t)
{
    struct lks_json_writer w = lks_call_json(t->call);
    lks_json_cstr(&w, "digest", t->digest);
    lks_json_int(&w, "have", (int64_t)t->have);
    lks_json_bool(&w, "whole", t->whole && t->call->depot->known);
    lks_json_end(&w, '}');
    lks_depot_transfer_answer(t);
}

/* Collecting ----------------------------------------------------------------------------------- */

static int by_digest(const void *left, const void *right)
{
    const struct lks_depot_recorded *recorded = right;
    return strcmp(left, recorded->digest);
}

static bool keep(void *ctx, const char *digest)
{
    const struct lks_transfer *t = ctx;
    const struct lks_depot_ask *ask = t->call->depot;
    for (size_t i = 0; i < t->spared_count; i++) {
        if (strcmp(t->spared[i], digest) == 0)
            return true;
    }
    return ask->recorded_count > 0 && bsearch(digest, ask->recorded, ask->recorded_count,
                                              sizeof(ask->recorded[0]), by_digest) != NULL;
}

/* Artifacts with a record whose file is not here: lost, or put while another controller led. */
static void count_missing(struct lks_transfer *t)
{
    const struct lks_depot_ask *ask = t->call->depot;
    for (size_t i = 0; i < ask->recorded_count; i++) {
        struct lks_err err = {0};
        uint64_t size;
        int fd = 0;
        if (lks_depot_find(&t->depot->files, ask->recorded[i].digest, &fd, &size, &err) == LKS_OK)
            (void)close(fd);
        else
            t->missing += err.code == LKS_E_NOT_FOUND;
    }
}

static void sweep(struct lks_transfer *t)
{
    lks_ms wall = lks_daemon_now().wall;
    lks_ms before = wall > PART_KEPT_MS ? wall - PART_KEPT_MS : 0;
    (void)!lks_depot_sweep(&t->depot->files, keep, t, before, &t->swept, &t->err);
    count_missing(t);
}

static void swept(struct lks_transfer *t)
{
    struct lks_call *call = t->call;
    if (t->err.code != LKS_OK) {
        lks_call_problem_err(call, &t->err);
    } else {
        struct lks_json_writer w = lks_call_json(call);
        t->depot->bytes = t->swept.bytes;
        t->depot->missing = t->missing;
        lks_json_int(&w, "gone", (int64_t)call->depot->gone);
        lks_json_int(&w, "files", t->swept.artifacts);
        lks_json_int(&w, "parts", t->swept.parts);
        lks_json_int(&w, "bytes", (int64_t)t->swept.bytes);
        lks_json_int(&w, "missing", (int64_t)t->missing);
        lks_json_end(&w, '}');
    }
    lks_depot_transfer_answer(t);
}

/* What is being put is spared: its record may come behind those that this call saw. One that begins
 * to be put from now on finds its file removed, as steps are in order. */
static void collect(struct lks_transfer *t)
{
    const struct lks_transfer *other;
    t->spared = calloc(t->depot->count[LKS_SIDE_PEOPLE] + 1, sizeof(*t->spared));
    if (t->spared == NULL) {
        lks_call_problem(t->call, LKS_E_NOMEM, "out of memory");
        lks_depot_transfer_answer(t);
        return;
    }
    TAILQ_FOREACH(other, &t->depot->transfers, all)
    if (other->act == LKS_DEPOT_PUT)
        memcpy(t->spared[t->spared_count++], other->digest, sizeof(other->digest));
    lks_depot_transfer_step_start(t, sweep, swept);
}

/* A call of our own, as if a permitted person had made it; one at a time. */
static void collect_by_itself(struct lks_depot_server *d)
{
    struct lks_route_match match;
    struct lks_call *call = lks_call_new(d->server->daemon);
    struct lks_depot_ask *ask = calloc(1, sizeof(*ask));
    lks_route_find(LKS_LISTENER_PEOPLE, "POST", "/v1/artifacts/collect", &match);
    LKS_ASSERT(match.route != NULL);
    if (call == NULL || ask == NULL) {
        lks_call_free(call);
        free(ask);
        return;
    }
    call->route = match.route;
    call->depot = ask;
    call->cursor = 1; /* it is allowed already */
    snprintf(call->identity, sizeof(call->identity), "lockstep:depot");
    d->server->calls_open++;
    lks_server_decide(d->server, call);
}

void lks_depot_server_tick(struct lks_depot_server *d, lks_ms now)
{
    lks_ms every = lks_daemon_config(d->server->daemon)->depot_collect_s * LKS_SECOND;
    lks_depot_peers_tick(d->peers, now);
    bool first = d->collected == 0;
    if (first)
        d->collected = now;
    lks_ms wait = d->again || every < COLLECT_FIRST_MS ? every : COLLECT_FIRST_MS;
    if (first || now < d->collected + wait || d->server->drain_until != 0)
        return;
    d->collected = now;
    d->again = true;
    collect_by_itself(d);
}

/* Taking --------------------------------------------------------------------------------------- */

bool lks_depot_server_takes(const struct lks_call *call)
{
    const struct lks_depot_ask *ask = call->depot;
    return ask != NULL &&
           (ask->transfer != NULL || (ask->act != LKS_DEPOT_NOTHING && call->status < 400));
}

bool lks_depot_puts(const struct lks_depot_server *d, const char *digest)
{
    const struct lks_transfer *t;
    TAILQ_FOREACH(t, &d->transfers, all)
    if (t->act == LKS_DEPOT_PUT && strcmp(t->digest, digest) == 0)
        return true;
    return false;
}

/* Whether there is a place for one more that moves bytes: of all, and of its caller. */
static bool has_place(struct lks_depot_server *d, struct lks_call *call)
{
    const struct lks_config *c = lks_daemon_config(d->server->daemon);
    bool agent = side_of(call) == LKS_SIDE_AGENTS;
    unsigned long long all = agent ? c->depot_concurrency : c->depot_people;
    unsigned long long own = c->depot_identity;
    if (d->count[side_of(call)] >= all + (call->root ? ROOT_KEPT : 0))
        lks_call_problem_http(call, 503, "unavailable",
                              "%u artifacts of %s are on their way, and that is the most (%s); try "
                              "again",
                              d->count[side_of(call)], agent ? "agents" : "people",
                              agent ? "depot.concurrency" : "depot.people");
    else if (call->account != NULL && !lks_intake_take(&d->server->intake, call->account,
                                                       LKS_SHARE_TRANSFER, call->root ? 0 : own))
        lks_call_problem_http(call, 429, "too-many-requests",
                              "%llu artifacts of %s are on their way, and that is the most "
                              "(depot.identity); try again",
                              own, call->identity);
    else
        return true;
    lks_call_header(call, "Retry-After: %d", RETRY_S);
    return false;
}

/* False: it is answered. */
static bool has_room(struct lks_depot_server *d, struct lks_call *call)
{
    const struct lks_depot_ask *ask = call->depot;
    if (ask->act == LKS_DEPOT_PUT && lks_depot_puts(d, ask->digest))
        lks_call_problem(call, LKS_E_REFUSED, "another caller is putting %s at the moment",
                         ask->digest);
    else if (ask->act == LKS_DEPOT_PUT && lks_depot_peers_fetches(d->peers, ask->digest))
        lks_call_problem(call, LKS_E_REFUSED, "%s is being fetched from another controller",
                         ask->digest);
    else if (!moves(ask->act) || has_place(d, call))
        return true;
    d->refused++;
    lks_server_answer(d->server, call);
    return false;
}

static void on_timer(uv_timer_t *timer)
{
    struct lks_depot_server *d = timer->data;
    struct lks_transfer *next;
    refill(d);
    for (struct lks_transfer *t = TAILQ_FIRST(&d->transfers); t != NULL; t = next) {
        next = TAILQ_NEXT(t, all);
        if (t->busy)
            continue;
        if (t->stream != NULL)
            pump(t);
        else if (t->paced)
            lks_depot_transfer_put_on(t);
    }
    /* The next round begins with another one. */
    struct lks_transfer *first = TAILQ_FIRST(&d->transfers);
    if (first != NULL) {
        TAILQ_REMOVE(&d->transfers, first, all);
        TAILQ_INSERT_TAIL(&d->transfers, first, all);
    }
}

void lks_depot_server_take(struct lks_depot_server *d, struct lks_call *call)
{
    if (call->depot->transfer != NULL) { /* the record that it waited for */
        lks_depot_transfer_answer(call->depot->transfer);
        return;
    }
    if (!has_room(d, call))
        return;
    struct lks_transfer *t = transfer_new(d, call);
    if (t == NULL) {
        if (moves(call->depot->act) && call->account != NULL)
            lks_intake_give(call->account, LKS_SHARE_TRANSFER);
        lks_call_problem(call, LKS_E_NOMEM, "out of memory");
        lks_server_answer(d->server, call);
        return;
    }
    if (!uv_is_active((uv_handle_t *)&d->timer)) {
        d->refilled = uv_now(&d->server->loop);
        uv_timer_start(&d->timer, on_timer, TICK_MS, TICK_MS);
    }
    if (t->act == LKS_DEPOT_GET)
        lks_depot_transfer_step_start(t, find_file, found_file);
    else if (t->act == LKS_DEPOT_HAVE)
        lks_depot_transfer_step_start(t, count_part, counted_part);
    else if (t->act == LKS_DEPOT_PUT)
        lks_depot_transfer_put(t);
    else if (t->act == LKS_DEPOT_LOOK)
        lks_depot_transfer_look(t);
    else
        collect(t);
}

/* A step in progress finds out at its end; a record that is asked for comes anyway. */
void lks_depot_server_gone(struct lks_depot_server *d, const struct lks_call *call)
{
    struct lks_transfer *t = call->depot != NULL ? call->depot->transfer : NULL;
    (void)d;
    if (t != NULL && !t->busy && !t->whole)
        lks_depot_transfer_answer(t);
}

/* Beginning and end ---------------------------------------------------------------------------- */

static bool add_size(void *ctx, const char *digest, uint64_t size, lks_ms used)
{
    uint64_t *sum = ctx;
    (void)digest, (void)used;
    *sum += size;
    return true;
}

enum lks_code lks_depot_server_new(struct lks_server *server, struct lks_depot_server **out,
                                   struct lks_err *err)
{
    char path[PATH_BYTES_MAX];
    struct lks_depot_server *d = calloc(1, sizeof(*d));
    if (d == NULL)
        return lks_fail_nomem(err);
    snprintf(path, sizeof(path), "%s/depot", lks_daemon_config(server->daemon)->data.ptr);
    if (lks_depot_open(path, &d->files, err) != LKS_OK ||
        lks_depot_list(&d->files, add_size, &d->bytes, err) != LKS_OK) {
        lks_depot_close(&d->files);
        free(d);
        return err->code;
    }
    d->server = server;
    d->peers = lks_depot_peers_new(d);
    if (d->peers == NULL) {
        lks_depot_close(&d->files);
        free(d);
        return lks_fail_nomem(err);
    }
    TAILQ_INIT(&d->transfers);
    TAILQ_INIT(&d->jobs);
    uv_timer_init(&server->loop, &d->timer);
    d->timer.data = d;
    *out = d;
    return LKS_OK;
}

void lks_depot_server_stop(struct lks_depot_server *d)
{
    if (d == NULL)
        return;
    uv_close((uv_handle_t *)&d->timer, NULL);
    lks_depot_peers_stop(d->peers);
}

void lks_depot_server_free(struct lks_depot_server *d)
{
    if (d == NULL)
        return;
    while (!TAILQ_EMPTY(&d->transfers)) {
        struct lks_transfer *t = TAILQ_FIRST(&d->transfers);
        struct lks_call *call = t->whole ? NULL : t->call; /* else it is the state thread's */
        lks_depot_transfer_drop(t);
        lks_call_free(call);
    }
    lks_depot_peers_free(d->peers);
    lks_depot_close(&d->files);
    free(d);
}

void lks_depot_server_metrics(const struct lks_depot_server *d, struct lks_buf *out)
{
    uint64_t fetched, lied;
    lks_depot_peers_counts(d->peers, &fetched, &lied);
    const struct {
        const char *name, *type, *suffix, *about;
        uint64_t value;
    } all[] = {
        {"lockstep_depot_held_bytes", "gauge", "", "Bytes of artifacts on this disk.", d->bytes},
        {"lockstep_depot_missing", "gauge", "",
         "Artifacts that the journal has and this disk lacks.", d->missing},
        {"lockstep_depot_fetched", "counter", "_total",
         "Artifacts that were fetched from other controllers.", fetched},
        {"lockstep_depot_lied", "counter", "_total",
         "Artifacts that another controller sent and that had another digest.", lied},
        {"lockstep_depot_transfers", "gauge", "", "Artifacts on their way.",
         (uint64_t)d->count[LKS_SIDE_PEOPLE] + d->count[LKS_SIDE_AGENTS]},
        {"lockstep_depot_stalled", "counter", "_total",
         "Downloads that were cut because their reader took too little.", d->stalled},
        {"lockstep_depot_sent_bytes", "counter", "_total", "Bytes of artifacts sent.", d->sent},
        {"lockstep_depot_received_bytes", "counter", "_total", "Bytes of artifacts received.",
         d->received},
        {"lockstep_depot_refused", "counter", "_total", "Transfers that were one too many.",
         d->refused},
    };
    for (size_t i = 0; i < LKS_COUNT(all); i++)
        lks_buf_addf(out, "# TYPE %s %s\n# HELP %s %s\n%s%s %llu\n", all[i].name, all[i].type,
                     all[i].name, all[i].about, all[i].name, all[i].suffix,
                     (unsigned long long)all[i].value);
}
