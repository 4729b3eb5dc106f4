/* One request: its line, its headers, its body, and the answer. */
#include "drivers/http/httpd_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>

#define PROBLEM       "application/problem+json"
#define SWALLOW_MAX   (UINT64_C(1) << 20)
#define BODY_KEPT     ((size_t)1024)     /* a larger buffer is not kept for the next request */
#define BODY_SMALL    ((size_t)64 << 10) /* has room in any case */
#define PIECE_SIZE    ((size_t)16 << 10) /* one TLS record */
#define PROBLEM_SIZE  512
#define LINE_MAX_SIZE ((uintptr_t)64 << 10) /* farther away is another piece of memory */

static const struct lks_httpd_refusal path_bad = {
    MHD_HTTP_BAD_REQUEST, LKS_E_INVALID,
    "the path has a zero byte, a slash in a name, an empty part, '..', or an escape that is none"};
static const struct lks_httpd_refusal framing_bad = {
    MHD_HTTP_BAD_REQUEST, LKS_E_INVALID, "the body needs one Content-Length or one 'chunked'"};
static const struct lks_httpd_refusal host_bad = {MHD_HTTP_BAD_REQUEST, LKS_E_INVALID,
                                                  "a request needs one Host header"};
static const struct lks_httpd_refusal version_bad = {MHD_HTTP_HTTP_VERSION_NOT_SUPPORTED,
                                                     LKS_E_INVALID, "this is HTTP/1.1"};
static const struct lks_httpd_refusal too_large = {MHD_HTTP_CONTENT_TOO_LARGE, LKS_E_LIMIT,
                                                   "the body is too long"};
static const struct lks_httpd_refusal no_length = {MHD_HTTP_LENGTH_REQUIRED, LKS_E_INVALID,
                                                   "the body needs its Content-Length here"};
static const struct lks_httpd_refusal too_many = {
    MHD_HTTP_SERVICE_UNAVAILABLE, LKS_E_UNAVAILABLE,
    "too many large requests are in progress; try again"};

const char *lks_httpd_header(const struct lks_httpd_exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

const char *lks_httpd_query(const struct lks_httpd_exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_GET_ARGUMENT_KIND, name);
}

struct visit {
    void (*fn)(void *ctx, const char *name, const char *value);
    void *ctx;
};

static enum MHD_Result visit_value(void *cls, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    const struct visit *v = cls;
    (void)kind;
    v->fn(v->ctx, name, value != NULL ? value : "");
    return MHD_YES;
}

void lks_httpd_queries(const struct lks_httpd_exchange *x,
                       void (*fn)(void *ctx, const char *name, const char *value), void *ctx)
{
    struct visit v = {fn, ctx};
    MHD_get_connection_values(x->connection, MHD_GET_ARGUMENT_KIND, visit_value, &v);
}

void lks_httpd_headers(const struct lks_httpd_exchange *x,
                       void (*fn)(void *ctx, const char *name, const char *value), void *ctx)
{
    struct visit v = {fn, ctx};
    MHD_get_connection_values(x->connection, MHD_HEADER_KIND, visit_value, &v);
}

void *lks_httpd_memory(const struct lks_httpd_exchange *x)
{
    return x->memory;
}

void lks_httpd_remember(struct lks_httpd_exchange *x, void *memory)
{
    x->memory = memory;
}

/* ---- Answers. ---- */

/* A long body, read by MHD in pieces; a constant's is shared by many answers. */
struct body {
    size_t refs, len;
    char bytes[];
};

struct piecewise {
    struct body *body;
    struct lks_httpd_peer_state *peer;
};

struct lks_httpd_constant {
    int status;
    struct MHD_Response *open, *closing; /* the second ends the connection */
    struct body *body;                   /* too long for those, or NULL */
    char *type, *headers;
};

static struct body *body_new(struct lks_str bytes)
{
    struct body *body = malloc(sizeof(*body) + bytes.len);
    if (body == NULL)
        return NULL;
    body->refs = 1;
    body->len = bytes.len;
    memcpy(body->bytes, bytes.ptr, bytes.len);
    return body;
}

static void body_drop(struct body *body)
{
    if (body != NULL && --body->refs == 0)
        free(body);
}

/* Each piece that is asked for shows that the one before was taken. */
static ssize_t read_piece(void *cls, uint64_t at, char *out, size_t room)
{
    const struct piecewise *p = cls;
    size_t left = p->body->len - (size_t)at, size = left < room ? left : room;
    p->peer->httpd->progress++;
    lks_httpd_due(p->peer, LKS_DUE_REQUEST);
    memcpy(out, p->body->bytes + at, size);
    return (ssize_t)size;
}

static void end_pieces(void *cls)
{
    struct piecewise *p = cls;
    body_drop(p->body);
    free(p);
}

/* Takes the reference to `body`, which may be NULL for lack of memory. */
static struct MHD_Response *respond_piecewise(struct lks_httpd_peer_state *peer, struct body *body)
{
    struct piecewise *p = malloc(sizeof(*p));
    if (p == NULL || body == NULL) {
        free(p);
        body_drop(body);
        return NULL;
    }
    *p = (struct piecewise){body, peer};
    struct MHD_Response *response =
        MHD_create_response_from_callback(body->len, PIECE_SIZE, read_piece, p, end_pieces);
    if (response == NULL)
        end_pieces(p);
    return response;
}

/* More headers are the handler's own text, "Name: value\r\n" each. */
static void add_headers(struct MHD_Response *response, struct lks_str text)
{
    char name[128], value[1024];
    while (text.len > 0) {
        struct lks_str line, key, content;
        lks_str_cut(text, '\n', &line, &text);
        bool split = lks_str_cut(lks_str_trim(line), ':', &key, &content);
        content = lks_str_trim(content);
        LKS_ASSERT(split && key.len < sizeof(name) && content.len < sizeof(value));
        snprintf(name, sizeof(name), "%" LKS_STR_FMT, LKS_STR_ARG(key));
        snprintf(value, sizeof(value), "%" LKS_STR_FMT, LKS_STR_ARG(content));
        MHD_add_response_header(response, name, value);
    }
}

void lks_httpd_finish(struct MHD_Response *response, const char *type, const char *headers,
                      bool closing)
{
    if (response == NULL)
        return;
    if (type != NULL)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (headers != NULL)
        add_headers(response, lks_str_from(headers));
    if (closing)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
}

static struct MHD_Response *respond_whole(struct lks_str body)
{
    return MHD_create_response_from_buffer(body.len, (void *)body.ptr, MHD_RESPMEM_MUST_COPY);
}

void lks_httpd_queue(struct lks_httpd_exchange *x, int status, struct MHD_Response *response)
{
    struct lks_httpd_peer_state *peer = lks_httpd_peer_with(x);
    bool waited = x->stage == LKS_STAGE_WAITING;
    bool queued = response != NULL &&
                  MHD_queue_response(x->connection, (unsigned)status, response) == MHD_YES;
    x->stage = queued ? LKS_STAGE_ANSWERED : LKS_STAGE_GONE;
    x->last = peer->httpd->draining;
    peer->unread = !x->whole;
    lks_httpd_due(peer, LKS_DUE_REQUEST);
    if (waited)
        lks_httpd_resume(peer->httpd, x->connection);
}

void lks_httpd_reply(struct lks_httpd_exchange *x, const struct lks_httpd_reply *reply)
{
    struct lks_httpd_peer_state *peer = lks_httpd_peer_with(x);
    struct lks_str body = reply->type != NULL ? reply->body : LKS_STR("");
    LKS_ASSERT(x->stage == LKS_STAGE_HANDLER || x->stage == LKS_STAGE_WAITING);
    struct MHD_Response *response =
        body.len > PIECE_SIZE ? respond_piecewise(peer, body_new(body)) : respond_whole(body);
    lks_httpd_finish(response, reply->type, reply->headers, peer->httpd->draining);
    if (lks_httpd_body_unread(x)) {
        lks_httpd_body_answer(x, reply, response);
        return;
    }
    lks_httpd_queue(x, reply->status, response);
    if (response != NULL)
        MHD_destroy_response(response);
}

struct lks_httpd_constant *lks_httpd_constant_new(const struct lks_httpd_reply *reply)
{
    struct lks_httpd_constant *c = calloc(1, sizeof(*c));
    struct lks_str body = reply->type != NULL ? reply->body : LKS_STR("");
    if (c == NULL)
        return NULL;
    c->status = reply->status;
    if (body.len > PIECE_SIZE) {
        c->body = body_new(body);
        c->type = strdup(reply->type);
        c->headers = strdup(reply->headers != NULL ? reply->headers : "");
        if (c->body != NULL && c->type != NULL && c->headers != NULL)
            return c;
    } else {
        c->open = respond_whole(body);
        c->closing = respond_whole(body);
        lks_httpd_finish(c->open, reply->type, reply->headers, false);
        lks_httpd_finish(c->closing, reply->type, reply->headers, true);
        if (c->open != NULL && c->closing != NULL)
            return c;
    }
    lks_httpd_constant_free(c);
    return NULL;
}

/* Answers in progress keep what they need. */
void lks_httpd_constant_free(struct lks_httpd_constant *c)
{
    if (c == NULL)
        return;
    if (c->open != NULL)
        MHD_destroy_response(c->open);
    if (c->closing != NULL)
        MHD_destroy_response(c->closing);
    body_drop(c->body);
    free(c->type);
    free(c->headers);
    free(c);
}

void lks_httpd_reply_constant(struct lks_httpd_exchange *x, struct lks_httpd_constant *c)
{
    struct lks_httpd_peer_state *peer = lks_httpd_peer_with(x);
    bool closing = peer->httpd->draining;
    LKS_ASSERT(x->stage == LKS_STAGE_HANDLER || x->stage == LKS_STAGE_WAITING);
    if (c->body == NULL) {
        lks_httpd_queue(x, c->status, closing ? c->closing : c->open);
        return;
    }
    c->body->refs++;
    struct MHD_Response *response = respond_piecewise(peer, c->body);
    lks_httpd_finish(response, c->type, c->headers, closing);
    lks_httpd_queue(x, c->status, response);
    if (response != NULL)
        MHD_destroy_response(response);
}

/* ---- Requests. ---- */

static struct lks_str problem(const struct lks_httpd *h, const struct lks_httpd_refusal *why,
                              char text[PROBLEM_SIZE])
{
    const char *code = lks_err_code_info(why->code)->text;
    int size =
        h->options.errors
            ? snprintf(text, PROBLEM_SIZE, "{\"error\":\"%s\"}\n", why->text)
            : snprintf(text, PROBLEM_SIZE,
                       "{\"type\":\"urn:lockstep:problem:%s\",\"title\":\"%s\",\"status\":%d,"
                       "\"detail\":\"%s\"}\n",
                       code, code, why->status, why->text);
    LKS_ASSERT(size > 0 && (size_t)size < PROBLEM_SIZE);
    return (struct lks_str){text, (size_t)size};
}

static const char *problem_type(const struct lks_httpd *h)
{
    return h->options.errors ? "application/json" : PROBLEM;
}

static enum MHD_Result refuse(struct lks_httpd_exchange *x)
{
    const struct lks_httpd_refusal *why = x->refusal;
    char text[PROBLEM_SIZE];
    const struct lks_httpd *h = lks_httpd_peer_with(x)->httpd;
    struct MHD_Response *response = respond_whole(problem(h, why, text));
    lks_httpd_finish(response, problem_type(h), NULL, true);
    lks_httpd_queue(x, why->status, response);
    if (response != NULL)
        MHD_destroy_response(response);
    return x->stage == LKS_STAGE_ANSWERED ? MHD_YES : MHD_NO;
}

/* MHD undoes the escapes itself: one of a zero byte would end the path early, and one of a slash
 * would make two parts of a name. */
static bool escapes_good(const char *uri)
{
    const char *query = strchrnul(uri, '?');
    for (const char *p = strchr(uri, '%'); p != NULL; p = strchr(p + 1, '%'))
        if (!isxdigit((unsigned char)p[1]) || !isxdigit((unsigned char)p[2]) ||
            strncmp(p, "%00", 3) == 0 || (p < query && strncasecmp(p, "%2f", 3) == 0))
            return false;
    return true;
}

static bool path_good(const char *path)
{
    struct lks_str rest = lks_str_from(path), part;
    bool more = rest.len > 0 && path[0] == '/';
    if (!more)
        return false;
    for (rest = (struct lks_str){path + 1, rest.len - 1}; more;) {
        more = lks_str_cut(rest, '/', &part, &rest);
        if (lks_str_is(part, "..") || (more && part.len == 0))
            return false;
    }
    return true;
}

void *lks_httpd_on_line(void *cls, const char *uri, struct MHD_Connection *connection)
{
    struct lks_httpd *h = cls;
    struct lks_httpd_peer_state *peer = lks_httpd_peer_of(connection);
    h->progress++;
    if (peer == NULL)
        return NULL;
    struct lks_httpd_exchange *x = &peer->exchange;
    peer->spoke = true;
    peer->unread = false;
    x->stage = LKS_STAGE_LINE;
    x->swallowed = 0;
    x->memory = NULL;
    x->stream = NULL;
    x->refusal = escapes_good(uri) ? NULL : &path_bad;
    x->line_end = (uintptr_t)uri + strlen(uri);
    bool sooner = !peer->judged && peer->due == LKS_DUE_FIRST &&
                  peer->deadline < uv_now(h->loop) + h->patience[LKS_DUE_REQUEST];
    if (!sooner)
        lks_httpd_due(peer, LKS_DUE_REQUEST);
    return x;
}

void lks_httpd_refuse_raw(struct lks_httpd_peer_state *peer, const struct lks_httpd_refusal *why)
{
    char body[PROBLEM_SIZE];
    const struct lks_httpd_reply reply = {.status = why->status,
                                          .type = problem_type(peer->httpd),
                                          .body = problem(peer->httpd, why, body)};
    peer->spoke = true;
    lks_httpd_send_raw(peer, &reply);
}

/* MHD cuts the request's line into strings where it stands. A zero byte in the path ends it early,
 * which shows in how far away the version is. */
static bool line_good(const struct lks_httpd_exchange *x, const char *version)
{
    uintptr_t at = (uintptr_t)version;
    return at <= x->line_end || at - x->line_end > LINE_MAX_SIZE || at - x->line_end == 1;
}

struct framing {
    unsigned lengths, codings, hosts;
    bool bad, expects;
    uint64_t length;
};

static enum MHD_Result note_framing(void *cls, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    struct framing *f = cls;
    (void)kind;
    if (value == NULL)
        return MHD_YES;
    if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
        f->lengths++;
        f->bad = f->bad || !lks_str_number(lks_str_from(value), UINT64_MAX, &f->length);
    } else if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
        f->codings++;
        f->bad = f->bad || strcasecmp(value, "chunked") != 0;
    } else if (strcasecmp(name, MHD_HTTP_HEADER_EXPECT) == 0) {
        f->expects = true;
    } else if (strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0) {
        f->hosts++;
    }
    return MHD_YES;
}

static void choose(struct lks_httpd_exchange *x)
{
    const struct lks_httpd_options *o = &lks_httpd_peer_with(x)->httpd->options;
    struct lks_httpd_request *r = &x->request;
    bool body = r->chunked || r->length > 0;
    enum lks_httpd_how how = o->how != NULL ? o->how(r->method, r->path, body) : LKS_HTTPD_WHOLE;
    r->large = how == LKS_HTTPD_PIECES;
    r->ahead = how == LKS_HTTPD_AHEAD && body;
}

/* What can be said before the body has come; `*now` when it should be. A body that is a little too
 * long is read and thrown away first: most clients do not listen while they send, and a connection
 * closed under them would lose the answer. */
static const struct lks_httpd_refusal *judge(struct lks_httpd_exchange *x, const char *version,
                                             bool *now)
{
    struct lks_httpd_peer_state *peer = lks_httpd_peer_with(x);
    struct framing f = {0};
    *now = true;
    if (peer->trust != NULL && peer->verdict == NULL) {
        peer->verdict = peer->judged ? lks_httpd_trust_again(peer) : lks_httpd_trust_judge(peer);
        peer->httpd->counts.refused_tls += peer->verdict != NULL;
    }
    peer->judged = true;
    if (peer->verdict != NULL)
        return peer->verdict;
    if (strcmp(version, MHD_HTTP_VERSION_1_1) != 0 && strcmp(version, MHD_HTTP_VERSION_1_0) != 0)
        return &version_bad;
    if (x->refusal != NULL || !line_good(x, version) || !path_good(x->request.path))
        return &path_bad;
    MHD_get_connection_values(x->connection, MHD_HEADER_KIND, note_framing, &f);
    if (f.hosts > 1 || (f.hosts == 0 && strcmp(version, MHD_HTTP_VERSION_1_1) == 0))
        return &host_bad;
    if (f.bad || f.lengths + f.codings > 1)
        return &framing_bad;
    x->request.length = f.length;
    x->request.chunked = f.codings > 0;
    x->expects = f.expects;
    choose(x);
    if (x->request.large)
        return f.lengths == 1 ? NULL : &no_length;
    if (f.length <= x->body_max)
        return NULL;
    peer->httpd->counts.refused_size++;
    *now = x->request.ahead || f.expects || f.length > x->body_max + SWALLOW_MAX;
    return &too_large;
}

static enum MHD_Result begin(struct lks_httpd_exchange *x, const char *url, const char *method,
                             const char *version)
{
    struct lks_httpd_peer_state *peer = lks_httpd_peer_with(x);
    bool now = true;
    if (peer->due == LKS_DUE_FIRST)
        lks_httpd_due(peer, LKS_DUE_REQUEST);
    x->request = (struct lks_httpd_request){.method = method, .path = url, .peer = &peer->peer};
    x->body_max = peer->httpd->options.body_max;
    x->seen = x->left = x->again = x->whole = false;
    x->memory = NULL;
    x->refusal = judge(x, version, &now);
    if (x->refusal != NULL && now)
        return refuse(x);
    if (x->body.max == 0)
        lks_buf_init(&x->body, peer->httpd->options.body_max);
    if (x->request.large || x->request.ahead)
        return lks_httpd_body_begin(x);
    x->stage = LKS_STAGE_BODY;
    return MHD_YES;
}

static void drop_count(struct lks_httpd *h, struct lks_httpd_exchange *x)
{
    h->bodies -= x->counted;
    x->counted = 0;
}

/* Where the handler is not asked first anyone may send a body, so all of them together have a
 * limit; where it is, memory is its business. */
static const struct lks_httpd_refusal *judge_piece(const struct lks_httpd *h,
                                                   const struct lks_httpd_exchange *x, size_t more)
{
    if (more > x->body_max - x->body.len)
        return &too_large;
    bool small = x->seen || x->body.len + more <= BODY_SMALL;
    return small || h->bodies + more <= h->options.bodies_max ? NULL : &too_many;
}

/* The caller of a refused body does not wait for the answer. */
static void tell_gone(struct lks_httpd *h, struct lks_httpd_exchange *x)
{
    bool tell = x->seen && !x->left;
    x->left = true;
    if (tell && h->gone != NULL)
        h->gone(h->ctx, x);
}

static enum MHD_Result take_body(struct lks_httpd_exchange *x, struct lks_str piece)
{
    struct lks_httpd *h = lks_httpd_peer_with(x)->httpd;
    if (x->refusal == NULL && (x->refusal = judge_piece(h, x, piece.len)) != NULL) {
        h->counts.refused_size++;
        x->swallowed = x->body.len;
        drop_count(h, x);
        lks_buf_fini(&x->body);
        tell_gone(h, x);
    }
    if (x->refusal == NULL) {
        lks_buf_add(&x->body, piece);
        h->bodies += x->seen ? 0 : piece.len;
        x->counted += x->seen ? 0 : piece.len;
        return x->body.failed == LKS_OK ? MHD_YES : MHD_NO;
    }
    x->swallowed += piece.len;
    if (x->swallowed <= x->body_max + SWALLOW_MAX)
        return MHD_YES;
    lks_httpd_refuse_raw(lks_httpd_peer_with(x), x->refusal);
    return MHD_NO;
}

static enum MHD_Result hand_over(struct lks_httpd_exchange *x)
{
    struct lks_httpd_peer_state *peer = lks_httpd_peer_with(x);
    struct lks_httpd *h = peer->httpd;
    x->whole = true;
    if (x->refusal != NULL)
        return refuse(x);
    x->request.body = lks_buf_view(&x->body);
    x->request.ahead = false;
    x->stage = LKS_STAGE_HANDLER;
    h->counts.requests += !x->seen;
    x->seen = true;
    h->handler(h->ctx, x, &x->request);
    if (x->stage == LKS_STAGE_HANDLER) {
        x->stage = LKS_STAGE_WAITING;
        MHD_suspend_connection(x->connection);
        lks_httpd_due(peer, LKS_DUE_LOOK);
    }
    return x->stage == LKS_STAGE_GONE ? MHD_NO : MHD_YES;
}

/* Whether a call without bytes is the end of the body: after a connection was suspended behind its
 * headers the library shows them again, however often. A length says it; of chunks, only the first
 * such call is the headers'. */
static bool is_whole(struct lks_httpd_exchange *x)
{
    bool again = x->again;
    x->again = false;
    if (x->request.chunked)
        return !again;
    return (x->refusal != NULL ? x->swallowed : x->body.len) >= x->request.length;
}

/* MHD calls this with the headers, for each piece of the body, at its end, and after a connection
 * was resumed that has no answer yet: the peer of such a one has left. */
enum MHD_Result lks_httpd_on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                     const char *method, const char *version, const char *data,
                                     size_t *size, void **context)
{
    struct lks_httpd *h = cls;
    struct lks_httpd_exchange *x = *context;
    (void)connection;
    h->progress++;
    if (x == NULL)
        return MHD_NO;
    if (x->stage == LKS_STAGE_LINE)
        return begin(x, url, method, version);
    bool large = x->stage == LKS_STAGE_PIECE || x->stage == LKS_STAGE_SWALLOW;
    if (x->stage != LKS_STAGE_BODY && !large)
        return MHD_NO;
    if (*size == 0 && !large && !is_whole(x))
        return MHD_YES;
    if (*size == 0)
        return large ? lks_httpd_body_end(x) : hand_over(x);
    struct lks_str piece = {data, *size};
    h->counts.body_bytes += piece.len;
    *size = 0;
    return large ? lks_httpd_body_data(x, piece) : take_body(x, piece);
}

void lks_httpd_leave(struct lks_httpd_exchange *x)
{
    struct lks_httpd *h = lks_httpd_peer_with(x)->httpd;
    LKS_ASSERT(x->stage == LKS_STAGE_WAITING);
    x->stage = LKS_STAGE_GONE;
    if (h->gone != NULL)
        h->gone(h->ctx, x);
    lks_httpd_resume(h, x->connection);
}

void lks_httpd_drop(struct lks_httpd_exchange *x)
{
    bool waited = x->stage == LKS_STAGE_WAITING;
    LKS_ASSERT(waited || x->stage == LKS_STAGE_HANDLER);
    x->stage = LKS_STAGE_GONE;
    if (waited)
        lks_httpd_resume(lks_httpd_peer_with(x)->httpd, x->connection);
}

void lks_httpd_on_completed(void *cls, struct MHD_Connection *connection, void **context,
                            enum MHD_RequestTerminationCode code)
{
    struct lks_httpd *h = cls;
    struct lks_httpd_exchange *x = *context;
    (void)connection, (void)code;
    h->progress++;
    *context = NULL;
    if (x == NULL)
        return;
    struct lks_httpd_peer_state *peer = lks_httpd_peer_with(x);
    LKS_ASSERT(x->stage != LKS_STAGE_WAITING && x->stage != LKS_STAGE_HANDLER);
    if (x->stage == LKS_STAGE_PIECE || x->stage == LKS_STAGE_BODY)
        tell_gone(h, x);
    if (x->seen && h->options.over != NULL)
        h->options.over(h->ctx, &peer->peer);
    x->stage = LKS_STAGE_NONE;
    peer->probes = 0;
    peer->coming = peer->trust != NULL && lks_httpd_trust_pending(peer) > 0;
    lks_httpd_body_drop(x);
    drop_count(h, x);
    if (x->body.cap > BODY_KEPT)
        lks_buf_fini(&x->body);
    else if (x->body.ptr != NULL)
        lks_buf_truncate(&x->body, 0);
    if (h->draining && !x->last)
        lks_httpd_shut(peer);
    else
        lks_httpd_due(peer, LKS_DUE_IDLE);
}
