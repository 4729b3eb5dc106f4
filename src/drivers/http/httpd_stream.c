/* Streams: a reader has a backlog of its own with a ceiling, so one that stalls costs that much and
 * is then dropped. */
#include "drivers/http/httpd_parts.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { SEND_BUFFER = 64 * 1024, PIECE_SIZE = 16 * 1024 };

struct lks_httpd_stream {
    struct lks_httpd_peer_state *peer;
    lks_httpd_ended *ended; /* NULL once it was called, or when the writer closed */
    void *ctx;
    struct lks_buf backlog;
    size_t read; /* of the backlog, from its start */
    bool suspended, closing, cut;
};

static void wake(struct lks_httpd_stream *s)
{
    if (!s->suspended)
        return;
    s->suspended = false;
    lks_httpd_due(s->peer, LKS_DUE_NEVER);
    lks_httpd_resume(s->peer->httpd, s->peer->exchange.connection);
}

/* The kernel may hold the headers back for more to follow, and nothing may follow for long. */
static void push(const struct lks_httpd_peer_state *peer)
{
    const int on = 1, off = 0;
    setsockopt(peer->fd, IPPROTO_TCP, TCP_CORK, &off, sizeof(off));
    setsockopt(peer->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static ssize_t read_backlog(void *cls, uint64_t at, char *out, size_t room)
{
    struct lks_httpd_stream *s = cls;
    size_t left = s->backlog.len - s->read, size = left < room ? left : room;
    (void)at;
    s->peer->httpd->progress++;
    if (s->cut)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (left == 0 && s->closing)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (left == 0) {
        s->suspended = true;
        push(s->peer);
        MHD_suspend_connection(s->peer->exchange.connection);
        lks_httpd_due(s->peer, LKS_DUE_LOOK);
        return 0;
    }
    memcpy(out, s->backlog.ptr + s->read, size);
    s->read += size;
    return (ssize_t)size;
}

static void tell_ended(struct lks_httpd_stream *s)
{
    lks_httpd_ended *ended = s->ended;
    s->ended = NULL;
    if (ended != NULL)
        ended(s->ctx, s);
}

static void release(void *cls)
{
    struct lks_httpd_stream *s = cls;
    s->peer->exchange.stream = NULL;
    tell_ended(s);
    lks_buf_fini(&s->backlog);
    free(s);
}

struct lks_httpd_stream *lks_httpd_stream_sized(struct lks_httpd_exchange *x,
                                                const struct lks_httpd_reply *head, uint64_t size,
                                                size_t backlog_max, lks_httpd_ended *ended,
                                                void *ctx)
{
    struct lks_httpd_peer_state *peer = lks_httpd_peer_with(x);
    struct lks_httpd_stream *s = calloc(1, sizeof(*s));
    LKS_ASSERT(x->stage == LKS_STAGE_HANDLER || x->stage == LKS_STAGE_WAITING);
    struct MHD_Response *response =
        s != NULL ? MHD_create_response_from_callback(size, PIECE_SIZE, read_backlog, s, release)
                  : NULL;
    if (response == NULL) {
        free(s);
        lks_httpd_queue(x, MHD_HTTP_INTERNAL_SERVER_ERROR, NULL);
        return NULL;
    }
    s->peer = peer;
    s->ended = ended;
    s->ctx = ctx;
    lks_buf_init(&s->backlog, backlog_max);
    lks_httpd_finish(response, head->type, head->headers, peer->httpd->draining);
    x->stream = s;
    lks_httpd_queue(x, head->status, response);
    lks_httpd_due(peer, LKS_DUE_NEVER); /* it lives while its reader keeps up */
    bool queued = x->stage == LKS_STAGE_ANSWERED;
    s->ended = queued ? s->ended : NULL;
    MHD_destroy_response(response); /* ends the stream where it was not queued */
    return queued ? s : NULL;
}

struct lks_httpd_stream *lks_httpd_stream_new(struct lks_httpd_exchange *x, const char *type,
                                              size_t backlog_max, lks_httpd_ended *ended, void *ctx)
{
    const int size = SEND_BUFFER;
    const struct lks_httpd_reply head = {
        .status = MHD_HTTP_OK, .type = type, .headers = "Cache-Control: no-store\r\n"};
    /* The kernel would otherwise take megabytes for a stalled reader before we noticed. */
    setsockopt(lks_httpd_peer_with(x)->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    return lks_httpd_stream_sized(x, &head, MHD_SIZE_UNKNOWN, backlog_max, ended, ctx);
}

bool lks_httpd_stream_write(struct lks_httpd_stream *s, struct lks_str bytes)
{
    LKS_ASSERT(s->ended != NULL && !s->closing);
    if (s->read == s->backlog.len || s->read > s->backlog.max / 2) {
        size_t left = s->backlog.len - s->read;
        if (left > 0)
            memmove(s->backlog.ptr, s->backlog.ptr + s->read, left);
        if (s->backlog.ptr != NULL)
            lks_buf_truncate(&s->backlog, left);
        s->read = 0;
    }
    lks_buf_add(&s->backlog, bytes);
    if (s->backlog.failed != LKS_OK) {
        lks_httpd_stream_end(s, true);
        return false;
    }
    wake(s);
    return true;
}

size_t lks_httpd_stream_backlog(const struct lks_httpd_stream *s)
{
    return s->backlog.len - s->read;
}

void lks_httpd_stream_close(struct lks_httpd_stream *s)
{
    s->ended = NULL;
    lks_httpd_stream_end(s, false);
}

void lks_httpd_stream_cut(struct lks_httpd_stream *s)
{
    s->ended = NULL;
    lks_httpd_stream_end(s, true);
}

/* `cut`: what is left in the backlog is not worth waiting for. The stream itself ends with its
 * connection, which MHD closes in its own time. */
void lks_httpd_stream_end(struct lks_httpd_stream *s, bool cut)
{
    tell_ended(s);
    s->closing = true;
    if (cut && !s->cut) {
        s->cut = true;
        if (!s->suspended)
            lks_httpd_shut(s->peer);
    }
    if (!cut && !s->suspended)
        lks_httpd_due(s->peer, LKS_DUE_REQUEST);
    wake(s);
}
