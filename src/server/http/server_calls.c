#include "base/file.h"
#include "core/rows/node.h"
#include "server/api/routes.h"
#include "server/auth/forward.h"
#include "server/base/progress.h"
#include "server/http/depot.h"
#include "server/http/server_parts.h"
#include "server/threads/lead.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    DOWNLOAD_PIECE = 256 << 10,
    DOWNLOAD_BACKLOG = 16 << 20,
    DOWNLOAD_MS = 5,
};

static struct lks_link *memory_of(struct lks_httpd_peer *peer)
{
    if (peer->memory != NULL)
        return peer->memory;
    struct lks_link *m = calloc(1, sizeof(*m));
    if (m == NULL)
        return NULL;
    struct lks_err err = {0};
    if (peer->kind == LKS_PEER_UNIX) {
        m->credential.kind = LKS_CREDENTIAL_UNIX;
        m->credential.uid = peer->uid;
    } else if (peer->kind == LKS_PEER_CERTIFICATE) {
        bool read = lks_x509_read(peer->certificate, &m->credential.certificate, &err) == LKS_OK;
        m->credential.kind = read ? LKS_CREDENTIAL_CERTIFICATE : LKS_CREDENTIAL_BAD;
    }
    peer->memory = m;
    peer->drop = free;
    return m;
}

/* Heartbeats -------------------------------------------------------------------------------- */

static bool protocol_ok(const struct lks_httpd_exchange *x)
{
    const char *text = lks_httpd_header(x, "Lockstep-Protocol");
    uint64_t protocol;
    return text != NULL && lks_str_number(lks_str_from(text), LKS_BEAT_PROTOCOL, &protocol) &&
           protocol >= LKS_BEAT_PROTOCOL_MIN;
}

void lks_server_flush(struct lks_server *s)
{
    if (s->beats == NULL)
        return;
    lks_mailbox_post(&s->daemon->state->box, &s->beats->mail);
    s->beats = NULL;
}

void lks_server_constants(struct lks_server *s)
{
    for (unsigned told = 0; told < LKS_COUNT(s->answers); told++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF((size_t)LKS_HEAD_TEXT_MAX * 2);
        struct lks_json_writer w = {.out = &body};
        lks_json_begin(&w, NULL, '{');
        if ((told & LKS_TOLD_BARRED) != 0)
            lks_json_bool(&w, "barred", true);
        if ((told & LKS_TOLD_CHANGING) != 0)
            lks_json_bool(&w, "changing", true);
        if (s->head[0] != '\0')
            lks_json_cstr(&w, "head", s->head);
        lks_json_int(&w, "heartbeat_ms", (int64_t)s->heartbeat);
        lks_json_bool(&w, "mail", (told & LKS_TOLD_MAIL) != 0);
        lks_json_int(&w, "time", (int64_t)lks_daemon_now().wall);
        lks_json_end(&w, '}');
        struct lks_httpd_reply reply = {200, "application/json", lks_buf_view(&body), NULL};
        struct lks_httpd_constant *c = lks_httpd_constant_new(&reply);
        if (c == NULL)
            continue; /* the one before is still true enough */
        lks_httpd_constant_free(s->answers[told]);
        s->answers[told] = c;
    }
}

static bool has_answers(const struct lks_server *s)
{
    for (size_t i = 0; i < LKS_COUNT(s->answers); i++) {
        if (s->answers[i] == NULL)
            return false;
    }
    return true;
}

/* A heartbeat of a connection we know. */
static bool is_beat(const struct lks_server *s, const struct lks_httpd_exchange *x,
                    const struct lks_httpd_request *request)
{
    const struct lks_link *m = request->peer->memory;
    return m != NULL && m->known && m->epoch == lks_daemon_epoch(s->daemon) && has_answers(s) &&
           strcmp(request->path, "/v1/agent/beat") == 0 && strcmp(request->method, "POST") == 0 &&
           request->length <= LKS_BEAT_BYTES_MAX && !request->chunked && protocol_ok(x);
}

/* It is noted and answered here; what it changes is decided on the state thread, and the caller
 * does not wait for that. */
static bool hear(struct lks_server *s, struct lks_httpd_exchange *x,
                 const struct lks_httpd_request *request)
{
    struct lks_link *m = request->peer->memory;
    struct lks_beat beat;
    struct lks_err err = {0};
    if (!is_beat(s, x, request) || lks_heartbeat_unpack(request->body, &beat, &err) != LKS_OK)
        return false;
    if (s->beats == NULL)
        s->beats = (struct lks_beats *)lks_mail_new(LKS_MAIL_BEATS);
    s->beats->items[s->beats->count].node = m->node;
    s->beats->items[s->beats->count++].beat = beat;
    if (s->beats->count == LKS_BEATS_MAX)
        lks_server_flush(s);
    s->beats_fast++;
    s->statuses[2]++;
    lks_lead_check(s->daemon);
    unsigned told = m->node < s->told_room ? s->told[m->node] & LKS_TOLD_ALL : 0;
    lks_httpd_reply_constant(x, s->answers[told]);
    return true;
}

/* Requests become calls --------------------------------------------------------------------- */

struct asking {
    struct lks_call *call;
    struct lks_doc *map;
    bool failed;
};

static void add_query(void *ctx, const char *name, const char *value)
{
    struct asking *a = ctx;
    a->failed |= !lks_call_query_add(a->call, a->map, name, value != NULL ? value : "");
}

static enum lks_code read_query(struct lks_call *call, const struct lks_httpd_exchange *x,
                                struct lks_err *err)
{
    struct asking a = {.call = call, .map = lks_doc_add(&call->asked, NULL, LKS_DOC_MAP)};
    if (a.map == NULL)
        return lks_fail_nomem(err);
    lks_httpd_queries(x, add_query, &a);
    if (a.failed)
        return lks_fail_nomem(err);
    return lks_call_query_take(call, a.map, err);
}

/* What can be said of a body that was not read. */
static enum lks_code judge_body(struct lks_call *call, const struct lks_httpd_request *request,
                                struct lks_err *err)
{
    const struct lks_route *r = call->route;
    bool taken = r->body != NULL || r->body_type != NULL;
    call->length = request->length;
    call->chunked = request->chunked;
    if (request->ahead)
        return taken ? LKS_OK : lks_fail(err, LKS_E_INVALID, "this request takes no body");
    return (r->flags & LKS_ROUTE_SIGNED) == 0 ? lks_call_read(call, err) : LKS_OK;
}

static struct lks_str header_of(const struct lks_httpd_exchange *x, const char *name)
{
    const char *value = lks_httpd_header(x, name);
    return lks_str_from(value != NULL ? value : "");
}

/* A browser sends its cookie whichever page asks: what changes something has to come from a page of
 * this host. A caller with another credential is known by that. */
static void read_cookies(struct lks_call *call, const struct lks_httpd_exchange *x)
{
    struct lks_str all = header_of(x, "Cookie"), login = lks_auth_cookie(all, LKS_COOKIE_LOGIN);
    bool safe = strcmp(call->route->method, "GET") == 0;
    if (login.len < sizeof(call->cookie))
        snprintf(call->cookie, sizeof(call->cookie), "%" LKS_STR_FMT, LKS_STR_ARG(login));
    if (call->credential.kind != LKS_CREDENTIAL_NONE ||
        (!safe && !lks_auth_origin_is(header_of(x, "Origin"), header_of(x, "Host"))))
        return;
    call->credential = lks_auth_credential_cookie(all);
    call->by_cookie = call->credential.kind != LKS_CREDENTIAL_NONE;
}

static void read_headers(struct lks_call *call, const struct lks_httpd_exchange *x)
{
    const char *etag = lks_httpd_header(x, "If-None-Match");
    const char *last = lks_httpd_header(x, "Last-Event-ID");
    const char *bearer = lks_httpd_header(x, "Authorization");
    uint64_t seq = LKS_CALL_NO_EVENT - 1;
    snprintf(call->etag, sizeof(call->etag), "%s", etag != NULL ? etag : "");
    if (last != NULL) {
        (void)lks_str_number(lks_str_from(last), LKS_CALL_NO_EVENT - 2, &seq);
        call->last_event = seq + 1;
    }
    if (bearer != NULL && call->route->listener == LKS_LISTENER_PEOPLE)
        call->credential = lks_auth_credential_bearer(lks_str_from(bearer));
    else if (call->route->listener == LKS_LISTENER_PEOPLE)
        read_cookies(call, x);
    const char *sign = lks_httpd_header(x, LKS_WEBHOOK_HEADER);
    snprintf(call->signature, sizeof(call->signature), "%s", sign != NULL ? sign : "");
    /* Whether the sender may use these is the state thread's to decide. */
    const char *as = lks_httpd_header(x, LKS_FORWARD_AS);
    if (as != NULL && strlen(as) < sizeof(call->as) && lks_str_printable(lks_str_from(as)))
        snprintf(call->as, sizeof(call->as), "%s", as);
    const char *by = lks_httpd_header(x, LKS_FORWARD_CREDENTIAL);
    if (by != NULL && strlen(by) < sizeof(call->as_credential) &&
        lks_str_printable(lks_str_from(by)))
        snprintf(call->as_credential, sizeof(call->as_credential), "%s", by);
    call->as_root = lks_httpd_header(x, LKS_FORWARD_ROOT) != NULL;
}

/* The listeners that there are, with the names that metrics give them. */
struct listener {
    const char *name;
    const struct lks_httpd *httpd;
};
enum { LISTENERS = 4 };

static size_t list_listeners(const struct lks_server *s, struct listener out[LISTENERS])
{
    size_t count = 0;
    out[count++] = (struct listener){lks_listener_words[LKS_LISTENER_PEOPLE], s->people};
    out[count++] = (struct listener){lks_listener_words[LKS_LISTENER_AGENTS], s->agents};
    out[count++] = (struct listener){"socket", s->socket};
    if (s->webhook != NULL)
        out[count++] = (struct listener){lks_listener_words[LKS_LISTENER_WEBHOOK], s->webhook};
    return count;
}

static void put_received(struct lks_buf *out, const struct lks_server *s, const char *name,
                         size_t offset)
{
    struct listener all[LISTENERS];
    size_t count = list_listeners(s, all);
    for (size_t i = 0; i < count; i++) {
        struct lks_httpd_counts counts = lks_httpd_counts(all[i].httpd);
        uint64_t value;
        memcpy(&value, (const char *)&counts + offset, sizeof(value));
        lks_buf_addf(out, "%s_total{listener=\"%s\"} %llu\n", name, all[i].name,
                     (unsigned long long)value);
    }
}

/* Memory, and what bodies take of it. */
static void put_memory(struct lks_server *s, struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf statm = LKS_BUF(256);
    struct lks_err err = {0};
    lks_buf_addf(out, "# TYPE lockstep_http_body_received_bytes counter\n"
                      "# HELP lockstep_http_body_received_bytes Bytes of request bodies read.\n");
    put_received(out, s, "lockstep_http_body_received_bytes",
                 offsetof(struct lks_httpd_counts, body_bytes));
    lks_buf_addf(out,
                 "# TYPE lockstep_http_discarded_bytes counter\n"
                 "# HELP lockstep_http_discarded_bytes Bytes of refused requests that came after "
                 "their answer.\n");
    put_received(out, s, "lockstep_http_discarded_bytes",
                 offsetof(struct lks_httpd_counts, lingered_bytes));
    lks_intake_metrics(&s->intake, lks_daemon_config(s->daemon)->bodies_max, out);
    lks_buf_addf(out,
                 "# TYPE lockstep_event_readers gauge\n"
                 "# HELP lockstep_event_readers Streams of events that are read.\n"
                 "lockstep_event_readers %u\n",
                 s->events.count);
    if (lks_file_read_plain("/proc/self/statm", &statm, &err) == LKS_OK)
        lks_metrics_put_memory(lks_buf_view(&statm), (uint64_t)sysconf(_SC_PAGESIZE), out);
}

/* Of the certificate that new connections get, which may be older than the file. */
static void put_certificate(const struct lks_server *s, struct lks_buf *out)
{
    int64_t left = s->certificate_end - (int64_t)(lks_daemon_now().wall / LKS_SECOND);
    lks_buf_addf(out,
                 "# TYPE lockstep_server_certificate_days gauge\n"
                 "# HELP lockstep_server_certificate_days Whole days until the served certificate "
                 "ends.\n"
                 "lockstep_server_certificate_days %lld\n",
                 left > 0 ? (long long)(left / LKS_SERVER_DAY_S) : 0);
}

/* Counts of the listeners, for the metrics. */
static void put_counts(struct lks_server *s, struct lks_buf *out)
{
    struct listener all[LISTENERS];
    size_t count = list_listeners(s, all);
    lks_buf_addf(out, "# TYPE lockstep_http_requests counter\n"
                      "# HELP lockstep_http_requests Requests by listener.\n");
    for (size_t i = 0; i < count; i++)
        lks_buf_addf(out, "lockstep_http_requests_total{listener=\"%s\"} %llu\n", all[i].name,
                     (unsigned long long)lks_httpd_counts(all[i].httpd).requests);
    lks_buf_addf(out, "# TYPE lockstep_http_connections gauge\n"
                      "# HELP lockstep_http_connections Connections by listener.\n");
    for (size_t i = 0; i < count; i++)
        lks_buf_addf(out, "lockstep_http_connections{listener=\"%s\"} %u\n", all[i].name,
                     lks_httpd_counts(all[i].httpd).connections);
    lks_buf_addf(out,
                 "# TYPE lockstep_http_refused counter\n"
                 "# HELP lockstep_http_refused Connections and requests cut short, by cause.\n");
    for (size_t i = 0; i < count; i++) {
        struct lks_httpd_counts c = lks_httpd_counts(all[i].httpd);
        lks_buf_addf(out,
                     "lockstep_http_refused_total{listener=\"%s\",cause=\"tls\"} %llu\n"
                     "lockstep_http_refused_total{listener=\"%s\",cause=\"size\"} %llu\n"
                     "lockstep_http_refused_total{listener=\"%s\",cause=\"timeout\"} %llu\n",
                     all[i].name, (unsigned long long)c.refused_tls, all[i].name,
                     (unsigned long long)c.refused_size, all[i].name,
                     (unsigned long long)c.timeouts);
    }
    lks_buf_addf(out, "# TYPE lockstep_http_answers counter\n"
                      "# HELP lockstep_http_answers Answers by the first digit of their status.\n");
    for (size_t i = 2; i < LKS_COUNT(s->statuses); i++)
        lks_buf_addf(out, "lockstep_http_answers_total{status=\"%zuxx\"} %llu\n", i,
                     (unsigned long long)s->statuses[i]);
    put_certificate(s, out);
    put_memory(s, out);
    lks_depot_server_metrics(s->depot, out);
    lks_audit_metrics(&s->audit, out);
    lks_oidc_metrics(s->daemon, out);
}

/* A browser shows a person's certificate whichever page asks, and no program sends an Origin:
 * beside one, a certificate counts for nothing where something is changed. */
static void distrust_pages(struct lks_call *call, const struct lks_httpd_exchange *x)
{
    if (call->credential.kind == LKS_CREDENTIAL_CERTIFICATE &&
        strcmp(call->route->method, "GET") != 0 && lks_httpd_header(x, "Origin") != NULL)
        call->credential = (struct lks_credential){.kind = LKS_CREDENTIAL_NONE};
}

/* Everything that the headers say is read here, and reported to callers that may ask; the rest of
 * the way is the state thread's. False: it is answered already. */
static bool read_request(struct lks_server *s, struct lks_call *call, struct lks_httpd_exchange *x,
                         const struct lks_httpd_request *request,
                         const struct lks_route_match *match)
{
    struct lks_link *m = memory_of(request->peer);
    snprintf(call->address, sizeof(call->address), "%s", request->peer->address);
    if (m == NULL || lks_docs_init(&call->asked, "query", &call->failed) != LKS_OK) {
        lks_call_problem(call, LKS_E_NOMEM, "out of memory");
        return false;
    }
    call->credential = m->credential;
    distrust_pages(call, x);
    read_headers(call, x);
    bool depot = (call->route->flags & LKS_ROUTE_DEPOT) != 0;
    if (depot && (call->depot = lks_depot_ask_new(x, request)) == NULL) {
        lks_call_problem(call, LKS_E_NOMEM, "out of memory");
        return false;
    }
    if (request->ahead && request->length > call->route->body_max && call->route->body_max > 0) {
        lks_call_problem(call, LKS_E_LIMIT, "a body of %llu bytes; %zu are taken here",
                         (unsigned long long)request->length, call->route->body_max);
        return false;
    }
    call->unread = request->ahead;
    if (!request->ahead) /* as of a heartbeat whose sender was known at its headers only */
        call->bytes = lks_httpd_body_move(x);
    call->named = lks_arena_copy(&call->asked.arena, match->named);
    if (call->named.ptr == NULL)
        (void)!lks_fail_nomem(&call->failed);
    else if (read_query(call, x, &call->failed) == LKS_OK)
        call->failed.code = judge_body(call, request, &call->failed);
    if ((call->route->flags & LKS_ROUTE_COUNTS) != 0)
        put_counts(s, &call->aside);
    return true;
}

void lks_server_decide(struct lks_server *s, struct lks_call *call)
{
    call->mail.kind = LKS_MAIL_CALL;
    if (!s->stop_sent) {
        lks_mailbox_post(&s->daemon->state->box, &call->mail);
        return;
    }
    lks_call_problem(call, LKS_E_UNAVAILABLE, "lockstepd is about to end");
    lks_server_answer(s, call);
}

void lks_server_forget(struct lks_server *s, struct lks_call *call)
{
    lks_server_leave(s, call);
    s->calls_open--;
    lks_call_free(call);
}

static void begin(struct lks_server *s, struct lks_httpd_exchange *x,
                  const struct lks_httpd_request *request, enum lks_listener listener)
{
    struct lks_route_match match;
    struct lks_call *call = lks_call_new(s->daemon);
    if (call == NULL) {
        lks_httpd_reply(x, &(struct lks_httpd_reply){.status = 503});
        return;
    }
    s->calls_open++;
    call->x = x;
    call->peer = request->peer;
    lks_httpd_remember(x, call);
    lks_route_find(listener, request->method, request->path, &match);
    call->route = match.route;
    if (match.route == NULL && match.known_path) {
        lks_call_problem_http(call, 405, "method-not-allowed", "%s is not taken here; %s is",
                              request->method, match.allow);
        lks_call_header(call, "Allow: %s", match.allow);
    } else if (match.route == NULL) {
        lks_call_problem(call, LKS_E_NOT_FOUND, "there is nothing at this path");
    } else if (listener == LKS_LISTENER_AGENTS && !protocol_ok(x)) {
        lks_call_problem_http(call, 426, "protocol",
                              "agents say Lockstep-Protocol: %d (%d at least)", LKS_BEAT_PROTOCOL,
                              LKS_BEAT_PROTOCOL_MIN);
        lks_call_header(call, "Upgrade: lockstep/%d", LKS_BEAT_PROTOCOL);
    } else if (read_request(s, call, x, request, &match)) {
        lks_server_decide(s, call);
        return;
    }
    lks_server_answer(s, call);
}

/* The first time with the headers; again where a body was collected. */
static void go_on(struct lks_server *s, struct lks_httpd_exchange *x,
                  const struct lks_httpd_request *request, enum lks_listener listener)
{
    struct lks_call *call = lks_httpd_memory(x);
    if (call == NULL)
        begin(s, x, request, listener);
    else
        lks_server_collected(s, call, x);
}

void lks_server_people(void *ctx, struct lks_httpd_exchange *x,
                       const struct lks_httpd_request *request)
{
    go_on(ctx, x, request, LKS_LISTENER_PEOPLE);
}

/* A connection's first heartbeat finds out whose it is; those behind it need no call. */
void lks_server_agents(void *ctx, struct lks_httpd_exchange *x,
                       const struct lks_httpd_request *request)
{
    struct lks_call *call = lks_httpd_memory(x);
    if (request->ahead && is_beat(ctx, x, request))
        lks_httpd_collect(x, LKS_BEAT_BYTES_MAX);
    else if (request->ahead || !hear(ctx, x, request))
        go_on(ctx, x, request, LKS_LISTENER_AGENTS);
    else if (call != NULL)
        lks_server_forget(ctx, call);
}

void lks_server_webhook(void *ctx, struct lks_httpd_exchange *x,
                        const struct lks_httpd_request *request)
{
    go_on(ctx, x, request, LKS_LISTENER_WEBHOOK);
}

void lks_server_gone(void *ctx, struct lks_httpd_exchange *x)
{
    struct lks_server *s = ctx;
    struct lks_call *call = lks_httpd_memory(x);
    if (call == NULL)
        return;
    call->x = NULL; /* its answer is dropped */
    if (call->collecting)
        lks_server_forget(s, call);
    else
        lks_depot_server_gone(s->depot, call);
}

/* Calls become answers ---------------------------------------------------------------------- */

static void log_call(const struct lks_call *call)
{
    unsigned flags = call->route != NULL ? call->route->flags : 0;
    if ((flags & LKS_ROUTE_WRITE) == 0 || (flags & LKS_ROUTE_OFTEN) != 0)
        return;
    bool by_name = strstr(call->route->path, "{name}") != NULL;
    char status[16];
    snprintf(status, sizeof(status), "%d", call->status);
    struct lks_log_field fields[] = {
        {"identity", lks_str_from(call->identity)},    {"route", lks_str_from(call->route->id)},
        {"name", by_name ? call->named : LKS_STR("")}, {"status", lks_str_from(status)},
        {"address", lks_str_from(call->address)},
    };
    lks_daemon_log(call->daemon, LKS_LEVEL_INFO, "request", fields, LKS_COUNT(fields));
}

/* A file that is sent as fast as its reader reads. */
struct download {
    struct lks_httpd_stream *stream;
    FILE *file;
    uv_timer_t timer;
    uint64_t written;
    struct lks_progress progress;
    lks_ms within;
};

static void download_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void on_download_ended(void *ctx, struct lks_httpd_stream *stream)
{
    (void)stream;
    struct download *d = ctx;
    d->stream = NULL;
    fclose(d->file);
    uv_close((uv_handle_t *)&d->timer, download_closed);
}

/* A copy that is not whole must not look like one. */
static void cut_download(struct download *d)
{
    lks_httpd_stream_cut(d->stream);
    on_download_ended(d, NULL);
}

static void send_piece(uv_timer_t *timer)
{
    struct download *d = timer->data;
    static char piece[DOWNLOAD_PIECE]; /* of the server thread alone */
    lks_ms now = uv_now(timer->loop);
    size_t backlog = lks_httpd_stream_backlog(d->stream);
    if (!lks_progress_good(&d->progress, now, d->written - backlog, backlog, d->within)) {
        cut_download(d);
        return;
    }
    while (lks_httpd_stream_backlog(d->stream) < DOWNLOAD_BACKLOG / 4) {
        size_t n = fread(piece, 1, sizeof(piece), d->file);
        if (n == 0 && ferror(d->file) != 0) {
            cut_download(d);
            return;
        }
        if (n == 0) {
            lks_httpd_stream_close(d->stream);
            on_download_ended(d, NULL);
            return;
        }
        d->written += n;
        if (!lks_httpd_stream_write(d->stream, (struct lks_str){piece, n}))
            return;
    }
}

static void send_file(struct lks_server *s, struct lks_call *call)
{
    struct download *d = calloc(1, sizeof(*d));
    FILE *file = fopen(call->file, "rbe");
    unlink(call->file);
    if (d == NULL || file == NULL) {
        if (file != NULL)
            fclose(file);
        free(d);
        lks_httpd_reply(call->x, &(struct lks_httpd_reply){.status = 500});
        return;
    }
    d->file = file;
    d->within = lks_daemon_config(s->daemon)->depot_stall_ms;
    uv_timer_init(&s->loop, &d->timer);
    d->timer.data = d;
    uv_timer_start(&d->timer, send_piece, 0, DOWNLOAD_MS);
    d->stream = lks_httpd_stream_new(call->x, call->type, DOWNLOAD_BACKLOG, on_download_ended, d);
    if (d->stream == NULL)
        on_download_ended(d, NULL);
}

static void reply(struct lks_server *s, struct lks_call *call)
{
    lks_httpd_remember(call->x, NULL);
    if (call->stream && lks_server_streams(s, call) &&
        lks_events_join(&s->events, call->x, call->from, call->root))
        return;
    if (call->stream)
        lks_call_problem(call, LKS_E_UNAVAILABLE,
                         "%u streams of events are read, and that is the most (events.readers)",
                         s->events.count);
    if (lks_depot_server_reply(call))
        return;
    if (call->file[0] != '\0') {
        send_file(s, call);
        return;
    }
    if (call->out.failed != LKS_OK)
        lks_call_problem(call, LKS_E_LIMIT, "the answer is too large; ask for less at once");
    lks_httpd_reply(call->x, &(struct lks_httpd_reply){
                                 .status = call->status,
                                 .type = call->type,
                                 .body = lks_buf_view(&call->out),
                                 .headers = call->headers[0] != '\0' ? call->headers : NULL,
                             });
}

void lks_server_remember(const struct lks_call *call)
{
    struct lks_link *m = call->peer->memory;
    if (m == NULL || call->route == NULL || call->route->listener != LKS_LISTENER_AGENTS)
        return;
    m->known = call->node != LKS_NO_NODE;
    m->node = call->node;
    m->epoch = call->epoch;
}

void lks_server_answer(struct lks_server *s, struct lks_call *call)
{
    lks_lead_check(s->daemon); /* the last look at the clock before it leaves */
    if (call->own != NULL) {
        lks_client_post(s->daemon->client, &call->mail);
        return;
    }
    int hundred = call->stream ? 2 : call->status / 100;
    s->statuses[hundred >= 0 && hundred < 6 ? hundred : 5]++;
    log_call(call);
    lks_audit_note(&s->audit, call);
    if (call->x != NULL) {
        lks_server_remember(call);
        reply(s, call);
    } else if (call->file[0] != '\0') {
        unlink(call->file);
    }
    lks_server_forget(s, call);
}
