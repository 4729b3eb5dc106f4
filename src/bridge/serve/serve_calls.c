/* One request to the bridge: who asks, what for, and what is answered when. */
#include "bridge/serve/clock.h"
#include "bridge/serve/serve_parts.h"
#include "trust/x509.h"

#include <inttypes.h>
#include <stdlib.h>

#define JSON "application/json"

enum {
    FRESH_MS = 1000,      /* a book that old is read again before it is answered from */
    READ_WAIT_MS = 2000,  /* for that, before it is answered from as it is */
    WRITE_WAIT_MS = 8000, /* for slurmctld; lockstepd waits ten seconds */
    TIMER_MS = 100,
    OK = 200,
    NOT_ALLOWED = 405,
    TOO_LATE = 504,
    BUSY = 503,
};

/* Answers ----------------------------------------------------------------------------------- */

static void reply(struct lks_httpd_exchange *x, int status, struct lks_str body)
{
    lks_httpd_reply(
        x, &(struct lks_httpd_reply){.status = status,
                                     .type = JSON,
                                     .body = body,
                                     .headers = status == BUSY ? "Retry-After: 5\r\n" : NULL});
}

static void refuse(struct lks_httpd_exchange *x, int status, const char *error)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(LKS_BRIDGE_BODY_MAX);
    struct lks_json_writer w = {.out = &body};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "error", error);
    lks_json_end(&w, '}');
    bool whole = lks_buf_check(&body, &(struct lks_err){0}) == LKS_OK;
    reply(x, status, whole ? lks_buf_view(&body) : LKS_STR("{\"error\":\"out of memory\"}"));
}

/* A body that is not whole is never sent as if it were. */
static void reply_whole(struct lks_httpd_exchange *x, int status, const struct lks_buf *body)
{
    struct lks_err err = {0};
    if (lks_buf_check(body, &err) == LKS_OK)
        reply(x, status, lks_buf_view(body));
    else
        refuse(x, lks_err_code_info(err.code)->http, err.msg);
}

static void write_health(const struct lks_serve *s, struct lks_buf *out)
{
    const struct lks_worker *w = &s->worker;
    const struct lks_worker_status *is = &w->status;
    struct lks_json_writer j = {.out = out};
    lks_ms now = lks_clock_steady();
    bool backup = is->about.controllers > 1;
    lks_json_begin(&j, NULL, '{');
    lks_json_cstr(&j, "version", LKS_VERSION);
    lks_json_cstr(&j, "cluster", is->about.cluster);
    lks_json_cstr(&j, "slurm", is->about.version);
    lks_json_bool(&j, "primary", is->primary);
    if (backup)
        lks_json_bool(&j, "backup", is->backup);
    else
        lks_json_null(&j, "backup");
    lks_json_int(&j, "pinged", (int64_t)is->pinged);
    lks_json_int(&j, "configured", (int64_t)w->book.configured);
    lks_json_int(&j, "epoch", (int64_t)w->epoch);
    if (w->book.read.wall > 0)
        lks_json_int(&j, "age", (int64_t)(now - w->book.read.steady));
    else
        lks_json_null(&j, "age");
    lks_json_int(&j, "waiting", (int64_t)(is->busy_since > 0 ? now - is->busy_since : 0));
    lks_json_int(&j, "queued", w->queued);
    if (is->policy_written > 0)
        lks_json_int(&j, "policy", (int64_t)is->policy_written);
    else
        lks_json_null(&j, "policy");
    lks_json_bool(&j, "policy_failed", is->policy_failed);
    lks_json_cstr(&j, "error", is->failure);
    lks_json_cstr(&j, "warning", is->warning[0] != '\0' ? is->warning : is->left_out);
    lks_json_end(&j, '}');
}

/* The book holds what is asked for and is recent enough. Under the lock. */
static int write_read(const struct lks_serve *s, const struct lks_bridge_request *r, lks_ms now,
                      bool fresh, struct lks_buf *out)
{
    const struct lks_bridge_book *book = &s->worker.book;
    struct lks_str name = lks_str_from(r->name);
    const struct lks_bridge_entry *entry = NULL;
    if (r->verb == LKS_BRIDGE_NODES) {
        lks_bridge_book_nodes(book, now, out);
    } else if (r->verb == LKS_BRIDGE_JOBS) {
        lks_bridge_book_jobs(book, now, out);
    } else if (r->verb == LKS_BRIDGE_RUNS) {
        lks_bridge_runs_json(&s->worker.runs, &r->runs, now - book->read.steady, out);
    } else if (r->verb == LKS_BRIDGE_RESERVATIONS) {
        lks_bridge_book_reservations(book, now, out);
    } else if ((entry = lks_bridge_book_find(book, name)) != NULL) {
        lks_bridge_book_node(book, name, entry, now, out);
    } else {
        lks_buf_addf(out, "{\"error\":\"Slurm has no node '%s'\"}", r->name);
        return fresh ? 404 : BUSY; /* an old book does not know new nodes */
    }
    return OK;
}

/* Answer a read if the book is fresh, or if `now_or_never`: then as it is, unless it is too old. */
static bool answer_read(struct lks_serve *s, struct lks_httpd_exchange *x,
                        const struct lks_bridge_request *r, lks_ms now, bool now_or_never)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(LKS_BRIDGE_ANSWER_MAX);
    char failure[LKS_ERR_MSG_MAX];
    int status = 0;
    uv_mutex_lock(&s->worker.lock);
    const struct lks_worker_status *is = &s->worker.status;
    const struct lks_bridge_when *read = &s->worker.book.read;
    lks_ms age = read->wall > 0 ? now - read->steady : UINT64_MAX;
    bool fresh = age <= FRESH_MS, health = r->verb == LKS_BRIDGE_HEALTH;
    snprintf(failure, sizeof(failure), "%s",
             is->failure[0] != '\0' ? is->failure
             : read->wall > 0       ? "slurmctld does not answer"
                                    : "slurmctld has not answered yet");
    if (health && (fresh || now_or_never)) {
        write_health(s, &body);
        status = OK;
    } else if (fresh || (now_or_never && age <= s->o->stale))
        status = write_read(s, r, now, fresh, &body);
    uv_mutex_unlock(&s->worker.lock);
    if (status == 0 && !now_or_never)
        return false;
    if (status == 0)
        refuse(x, BUSY, failure);
    else
        reply_whole(x, status, &body);
    return true;
}

/* Waiting ----------------------------------------------------------------------------------- */

static void free_call(struct lks_serve_call *c)
{
    lks_bridge_request_fini(&c->task.request);
    lks_buf_fini(&c->task.body);
    free(c);
}

/* Slurm may have done what was asked where the answer is not whole: 504 tells to read again. */
static void answer_write(struct lks_httpd_exchange *x, const struct lks_worker_task *t)
{
    if (lks_buf_check(&t->body, &(struct lks_err){0}) == LKS_OK)
        reply(x, t->status, lks_buf_view(&t->body));
    else
        refuse(x, TOO_LATE,
               "the answer does not fit into memory, and the outcome is unknown. Read the node "
               "again before the next request.");
}

/* Whether the call is over: answered, or its peer gone and the worker through with it. */
static bool is_over(struct lks_serve *s, struct lks_serve_call *c, lks_ms now)
{
    bool late = now >= c->deadline;
    if (!lks_bridge_request_writes(c->task.request.verb)) {
        uv_mutex_lock(&s->worker.lock);
        bool failed = s->worker.status.failed;
        uv_mutex_unlock(&s->worker.lock);
        return c->x == NULL || answer_read(s, c->x, &c->task.request, now, late || failed);
    }
    uv_mutex_lock(&s->worker.lock);
    bool done = c->task.state == LKS_TASK_DONE;
    uv_mutex_unlock(&s->worker.lock);
    if (done && c->x != NULL)
        answer_write(c->x, &c->task);
    if (done)
        return true;
    if (c->x != NULL && !late)
        return false;
    bool unsent = lks_worker_cancel(&s->worker, &c->task);
    if (c->x != NULL)
        refuse(c->x, TOO_LATE,
               unsent ? "slurmctld keeps the bridge waiting; nothing was sent for this request"
                      : "slurmctld did not answer in time, and the outcome is unknown. Read the "
                        "node again before the next request.");
    c->x = NULL;
    return unsent;
}

static void on_timer(uv_timer_t *timer)
{
    lks_serve_answer(timer->data);
}

void lks_serve_answer(struct lks_serve *s)
{
    lks_ms now = lks_clock_steady();
    struct lks_serve_call **at = &s->calls;
    while (*at != NULL) {
        struct lks_serve_call *c = *at;
        if (!is_over(s, c, now)) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        free_call(c);
    }
    if (s->calls == NULL && !s->ending)
        uv_timer_stop(&s->timer);
}

void lks_serve_drop(struct lks_serve *s)
{
    while (s->calls != NULL) {
        struct lks_serve_call *c = s->calls;
        s->calls = c->next;
        free_call(c);
    }
}

void lks_serve_gone(void *ctx, struct lks_httpd_exchange *x)
{
    (void)ctx;
    struct lks_serve_call *c = lks_httpd_memory(x);
    if (c != NULL)
        c->x = NULL;
}

static void wait_for(struct lks_serve *s, struct lks_httpd_exchange *x,
                     struct lks_bridge_request *r, lks_ms now)
{
    struct lks_serve_call *c = calloc(1, sizeof(*c));
    if (c == NULL) {
        refuse(x, BUSY, "there is no memory left");
        return;
    }
    bool writes = lks_bridge_request_writes(r->verb);
    c->x = x;
    c->deadline = now + (writes ? WRITE_WAIT_MS : READ_WAIT_MS);
    c->task.request = LKS_MOVE(*r);
    if (writes && !lks_worker_put(&s->worker, &c->task)) {
        free_call(c);
        refuse(x, BUSY, "too many requests wait for slurmctld");
        return;
    }
    if (!writes)
        lks_worker_refresh(&s->worker);
    lks_httpd_remember(x, c);
    c->next = s->calls;
    s->calls = c;
    uv_timer_start(&s->timer, on_timer, TIMER_MS, TIMER_MS);
}

/* Who asks ---------------------------------------------------------------------------------- */

static bool is_allowed_name(const struct lks_bridge_options *o, struct lks_str der)
{
    struct lks_x509_about about = {0};
    struct lks_err err = {0};
    if (lks_x509_read(der, &about, &err) != LKS_OK ||
        (about.ours && about.use != LKS_X509_CONTROLLER))
        return false; /* of our CA a node or a person may have a controller's name */
    for (size_t i = 0; i < o->name_count; i++) {
        if (about.name[0] != '\0' && strcmp(about.name, o->names[i]) == 0)
            return true;
    }
    return false;
}

static bool is_allowed(const struct lks_bridge_options *o, const struct lks_httpd_peer *peer)
{
    if (peer->kind == LKS_PEER_CERTIFICATE)
        return is_allowed_name(o, peer->certificate);
    for (size_t i = 0; peer->kind == LKS_PEER_UNIX && i < o->user_count; i++) {
        if (o->users[i] == peer->uid)
            return true;
    }
    return false;
}

struct count {
    const char *name;
    unsigned found;
};

static void count_one(void *ctx, const char *name, const char *value)
{
    struct count *count = ctx;
    (void)value;
    count->found += strcasecmp(name, count->name) == 0;
}

static unsigned count_headers(const struct lks_httpd_exchange *x, const char *name)
{
    struct count count = {name, 0};
    lks_httpd_headers(x, count_one, &count);
    return count.found;
}

void lks_serve_request(void *ctx, struct lks_httpd_exchange *x,
                       const struct lks_httpd_request *request)
{
    struct lks_serve *s = ctx;
    const struct lks_bridge_raw raw = {.method = request->method,
                                       .path = request->path,
                                       .if_match = lks_httpd_header(x, "If-Match"),
                                       .epoch = lks_httpd_header(x, "Lockstep-Epoch"),
                                       .after = lks_httpd_query(x, "after"),
                                       .id = lks_httpd_query(x, "id"),
                                       .max = lks_httpd_query(x, "max"),
                                       .epochs = count_headers(x, "Lockstep-Epoch"),
                                       .if_matches = count_headers(x, "If-Match"),
                                       .body = request->body};
    LKS_CLEANUP(lks_bridge_request_fini) struct lks_bridge_request r = {0};
    struct lks_err err = {0};
    if (!is_allowed(s->o, request->peer)) {
        refuse(x, lks_err_code_info(LKS_E_DENIED)->http,
               "this user or certificate may not use the bridge; see --allow-user, --client-name");
        return;
    }
    enum lks_code code = lks_bridge_request_read(&raw, &r, &err);
    lks_ms now = lks_clock_steady();
    if (code != LKS_OK)
        refuse(x, code == LKS_E_USAGE ? NOT_ALLOWED : lks_err_code_info(code)->http, err.msg);
    else if (lks_bridge_request_writes(r.verb) || !answer_read(s, x, &r, now, false))
        wait_for(s, x, &r, now);
}
