/* Bodies that are read only once the handler has seen the headers. Some are collected; large ones
 * are fetched piece by piece by the code that stores them, never held: between two pieces the
 * connection is suspended, so a slow disk slows down only its sender. */
#include "drivers/http/httpd_parts.h"

#include <stdio.h>
#include <sys/socket.h>

#define PIECE_SIZE  ((size_t)256 << 10) /* when it is handed over; one callback may add a little */
#define SWALLOW_MAX (UINT64_C(1) << 20)
#define AHEAD_MAX   (UINT64_C(64) << 10) /* the same of a body that was not asked for */
#define RAW_MAX     ((size_t)16 << 10)

_Static_assert(PIECE_SIZE < LKS_HTTPD_PIECE_MAX, "one more callback fits");

static void rest(struct lks_httpd_exchange *x)
{
    x->stage = LKS_STAGE_WAITING;
    MHD_suspend_connection(x->connection);
    lks_httpd_due(lks_httpd_peer_with(x), LKS_DUE_LOOK);
}

static void go_on(struct lks_httpd_exchange *x, enum lks_httpd_stage stage)
{
    struct lks_httpd_peer_state *peer = lks_httpd_peer_with(x);
    LKS_ASSERT(x->stage == LKS_STAGE_WAITING);
    x->stage = stage;
    lks_httpd_due(peer, LKS_DUE_REQUEST);
    lks_httpd_resume(peer->httpd, x->connection);
}

/* The headers are there: the handler decides before anything of the body is read. */
enum MHD_Result lks_httpd_body_begin(struct lks_httpd_exchange *x)
{
    struct lks_httpd *h = lks_httpd_peer_with(x)->httpd;
    x->fetched = 0;
    x->seen = true;
    x->stage = LKS_STAGE_HANDLER;
    h->counts.requests++;
    h->handler(h->ctx, x, &x->request);
    if (x->stage == LKS_STAGE_HANDLER)
        rest(x);
    return x->stage == LKS_STAGE_GONE ? MHD_NO : MHD_YES;
}

/* The library shows the headers of a connection that was suspended behind them once more. */
void lks_httpd_collect(struct lks_httpd_exchange *x, size_t max)
{
    LKS_ASSERT(x->request.ahead);
    x->body_max = max < x->body_max ? max : x->body_max;
    x->again = x->stage == LKS_STAGE_WAITING;
    if (x->again)
        go_on(x, LKS_STAGE_BODY);
    else
        x->stage = LKS_STAGE_BODY;
}

struct lks_buf lks_httpd_body_move(struct lks_httpd_exchange *x)
{
    struct lks_buf body = LKS_MOVE(x->body);
    lks_buf_init(&x->body, lks_httpd_peer_with(x)->httpd->options.body_max);
    return body;
}

void lks_httpd_fetch(struct lks_httpd_exchange *x, lks_httpd_take *take, void *ctx)
{
    LKS_ASSERT(x->request.large && x->take == NULL);
    x->take = take;
    x->take_ctx = ctx;
    lks_httpd_more(x);
}

void lks_httpd_more(struct lks_httpd_exchange *x)
{
    LKS_ASSERT(!x->whole);
    lks_buf_fini(&x->piece);
    lks_buf_init(&x->piece, LKS_HTTPD_PIECE_MAX);
    go_on(x, LKS_STAGE_PIECE);
}

/* What came is taken from us before we go on, so that a piece is seen once. */
static enum MHD_Result hand_piece(struct lks_httpd_exchange *x)
{
    rest(x);
    x->take(x->take_ctx, &x->piece, x->whole);
    return MHD_YES;
}

enum MHD_Result lks_httpd_body_data(struct lks_httpd_exchange *x, struct lks_str bytes)
{
    x->fetched += bytes.len;
    if (x->stage == LKS_STAGE_SWALLOW)
        return MHD_YES;
    lks_buf_add(&x->piece, bytes);
    if (x->piece.failed != LKS_OK)
        return MHD_NO;
    return x->piece.len >= PIECE_SIZE ? hand_piece(x) : MHD_YES;
}

/* The library shows the headers once more when a connection goes on behind them. */
enum MHD_Result lks_httpd_body_end(struct lks_httpd_exchange *x)
{
    if (x->fetched < x->request.length)
        return MHD_YES;
    x->whole = true;
    if (x->stage == LKS_STAGE_PIECE)
        return hand_piece(x);
    struct MHD_Response *response = x->response;
    x->response = NULL;
    lks_httpd_queue(x, x->status, response);
    MHD_destroy_response(response);
    return x->stage == LKS_STAGE_ANSWERED ? MHD_YES : MHD_NO;
}

void lks_httpd_body_drop(struct lks_httpd_exchange *x)
{
    if (x->response != NULL)
        MHD_destroy_response(x->response);
    x->response = NULL;
    x->take = NULL;
    lks_buf_fini(&x->piece);
}

/* Most clients do not listen while they send; and once the library went on behind the headers, it
 * takes an answer only at the body's end. */
bool lks_httpd_body_unread(const struct lks_httpd_exchange *x)
{
    bool unread = x->request.ahead || (x->request.large && !x->whole);
    return unread && x->stage == LKS_STAGE_WAITING;
}

/* What is little is read first. */
void lks_httpd_body_answer(struct lks_httpd_exchange *x, const struct lks_httpd_reply *reply,
                           struct MHD_Response *response)
{
    struct lks_httpd_peer_state *peer = lks_httpd_peer_with(x);
    uint64_t most = x->request.ahead ? AHEAD_MAX : SWALLOW_MAX;
    bool comes = !x->request.chunked && (!x->expects || x->take != NULL);
    if (response != NULL && comes && x->request.length - x->fetched <= most) {
        x->response = response;
        x->status = reply->status;
        go_on(x, LKS_STAGE_SWALLOW);
        return;
    }
    if (x->take == NULL)
        lks_httpd_queue(x, reply->status, response);
    if (response != NULL)
        MHD_destroy_response(response);
    if (x->take == NULL)
        return;
    lks_httpd_send_raw(peer, reply);
    x->stage = LKS_STAGE_GONE;
    lks_httpd_resume(peer->httpd, x->connection);
}

void lks_httpd_send_raw(struct lks_httpd_peer_state *peer, const struct lks_httpd_reply *reply)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(RAW_MAX);
    struct lks_str body = reply->type != NULL ? reply->body : LKS_STR("");
    lks_buf_addf(&text, "HTTP/1.1 %d %s\r\nConnection: close\r\n%s", reply->status,
                 MHD_get_reason_phrase_for((unsigned)reply->status),
                 reply->headers != NULL ? reply->headers : "");
    if (reply->type != NULL)
        lks_buf_addf(&text, "Content-Type: %s\r\n", reply->type);
    lks_buf_addf(&text, "Content-Length: %zu\r\n\r\n", body.len);
    lks_buf_add(&text, body);
    if (text.failed == LKS_OK && peer->httpd->trust != NULL)
        lks_httpd_trust_send(peer, lks_buf_view(&text));
    else if (text.failed == LKS_OK)
        (void)send(peer->fd, text.ptr, text.len, MSG_NOSIGNAL);
    peer->answered = true;
    lks_httpd_linger(peer);
}
