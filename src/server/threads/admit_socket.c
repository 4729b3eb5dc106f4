#include "server/threads/admit_socket.h"

#include "drivers/http/unix.h"
#include "server/api/routes.h"
#include "server/base/daemon.h"
#include "server/form/admit_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SOCKET_MODE = 0660, PIECE = 64 << 10, TICK_MS = 1000, BACKLOG = 4096 };

struct lks_admit_peer {
    LIST_ENTRY(lks_admit_peer) link;
    struct lks_admit_socket *socket;
    uv_pipe_t pipe;
    uid_t uid;
    struct lks_buf in;     /* up to a line and a piece */
    size_t at;             /* where the next line begins in it */
    size_t looked;         /* and up to where it is known to have no end */
    struct lks_call *call; /* the question in progress */
    uv_write_t write;
    struct lks_buf out; /* being written */
    bool reading, writing, closing, closed;
    lks_call_work *work; /* that the question still needs, in the thread pool */
    bool last;           /* nothing more is read */
    uint64_t since;      /* on the loop's clock: when it began a line or took an answer */
};

struct lks_admit_socket {
    struct lks_daemon *daemon;
    const struct lks_route *route;
    lks_admit_take *take;
    void *ctx;
    uv_pipe_t listener;
    uv_timer_t timer;
    unsigned handles; /* of the two above, that are not closed yet */
    struct lks_unix_path path;
    LIST_HEAD(lks_admit_peers, lks_admit_peer) peers;
    unsigned count, max;
    uint64_t line_ms, idle_ms;
    char piece[PIECE];
};

/* Peers ------------------------------------------------------------------------------------- */

static void socket_free(struct lks_admit_socket *s)
{
    if (s->handles == 0 && LIST_EMPTY(&s->peers))
        free(s);
}

/* It is there until it is closed and its question, which may be anywhere, is answered. */
static void peer_free(struct lks_admit_peer *p)
{
    struct lks_admit_socket *s = p->socket;
    if (p->call != NULL || !p->closed)
        return;
    LIST_REMOVE(p, link);
    lks_buf_fini(&p->in);
    lks_buf_fini(&p->out);
    free(p);
    socket_free(s);
}

static void on_closed(uv_handle_t *handle)
{
    struct lks_admit_peer *p = handle->data;
    p->closed = true;
    peer_free(p);
}

static void peer_close(struct lks_admit_peer *p)
{
    if (p->closing)
        return;
    p->closing = true;
    p->socket->count--;
    uv_close((uv_handle_t *)&p->pipe, on_closed);
}

static void next_line(struct lks_admit_peer *p);

static void on_written(uv_write_t *write, int status)
{
    struct lks_admit_peer *p = write->data;
    p->writing = false;
    lks_buf_fini(&p->out);
    p->since = uv_now(p->pipe.loop);
    if (p->closing)
        return;
    if (status < 0)
        peer_close(p);
    else
        next_line(p);
}

static void work(uv_work_t *job)
{
    struct lks_call *call = job->data;
    call->asker->work(call);
}

static void worked(uv_work_t *job, int status)
{
    (void)status;
    lks_admit_socket_answer(job->data);
}

void lks_admit_socket_answer(struct lks_call *call)
{
    struct lks_admit_peer *p = call->asker;
    if (call->work != NULL) {
        p->work = call->work;
        call->work = NULL;
        call->job.data = call;
        uv_queue_work(p->pipe.loop, &call->job, work, worked);
        return;
    }
    p->call = NULL;
    if (call->out.failed != LKS_OK)
        lks_call_problem(call, LKS_E_LIMIT, "the answer is too large; ask about fewer nodes");
    p->out = LKS_MOVE(call->out);
    lks_call_free(call);
    if (p->closing) {
        peer_free(p);
        return;
    }
    lks_buf_addc(&p->out, '\n');
    uv_buf_t bytes = uv_buf_init(p->out.ptr, (unsigned)p->out.len);
    p->writing = true;
    p->write.data = p;
    p->since = uv_now(p->pipe.loop);
    if (p->out.failed != LKS_OK ||
        uv_write(&p->write, (uv_stream_t *)&p->pipe, &bytes, 1, on_written) != 0) {
        p->writing = false;
        peer_close(p);
    }
}

/* Questions --------------------------------------------------------------------------------- */

/* A line becomes a call. It is read where calls are decided, and errors in it are reported to
 * callers that may ask. */
static void ask(struct lks_admit_peer *p, struct lks_str line)
{
    struct lks_admit_socket *s = p->socket;
    struct lks_call *call = lks_call_new(s->daemon);
    if (call == NULL) {
        peer_close(p);
        return;
    }
    call->asker = p;
    call->route = s->route;
    call->credential.kind = LKS_CREDENTIAL_UNIX;
    call->credential.uid = p->uid;
    snprintf(call->address, sizeof(call->address), "unix:%u", (unsigned)p->uid);
    lks_buf_add(&call->bytes, line);
    p->call = call;
    s->take(s->ctx, call);
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *out)
{
    (void)size;
    struct lks_admit_peer *p = handle->data;
    *out = uv_buf_init(p->socket->piece, PIECE);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
    struct lks_admit_peer *p = stream->data;
    if (p->in.len == p->at)
        p->since = uv_now(stream->loop); /* a line that has begun has its time for all of it */
    if (n > 0)
        lks_buf_add(&p->in, (struct lks_str){bytes->base, (size_t)n});
    if (n < 0)
        p->last = true; /* they may still read what they asked for */
    if (p->in.failed != LKS_OK)
        peer_close(p);
    else if (n != 0)
        next_line(p);
}

static bool find_line(struct lks_admit_peer *p, struct lks_str *out)
{
    const char *from = p->in.ptr + p->looked;
    const char *end = p->in.len > p->looked ? memchr(from, '\n', p->in.len - p->looked) : NULL;
    if (end == NULL) {
        p->looked = p->in.len;
        return false;
    }
    *out = (struct lks_str){p->in.ptr + p->at, (size_t)(end - p->in.ptr) - p->at};
    p->at = p->looked = (size_t)(end - p->in.ptr) + 1;
    return true;
}

/* What was read already makes room. */
static void forget_lines(struct lks_admit_peer *p)
{
    size_t left = p->in.len - p->at;
    if (p->at == 0 || p->in.ptr == NULL)
        return;
    memmove(p->in.ptr, p->in.ptr + p->at, left);
    lks_buf_truncate(&p->in, left);
    p->at = 0;
    p->looked = left;
}

/* The next question, if it is there; else read on. A line without an end is answered as one that is
 * too long, and is the last. */
static void next_line(struct lks_admit_peer *p)
{
    struct lks_str line;
    bool found = false;
    if (p->call != NULL || p->writing || p->closing)
        return;
    while (p->in.ptr != NULL && (found = find_line(p, &line)) && lks_str_trim(line).len == 0) {
    }
    bool endless = !found && p->in.len - p->at > LKS_ADMIT_LINE_MAX;
    if (found || endless) {
        uv_read_stop((uv_stream_t *)&p->pipe);
        p->reading = false;
        if (endless) {
            p->last = true;
            line = (struct lks_str){p->in.ptr + p->at, p->in.len - p->at};
            p->at = p->looked = p->in.len;
        }
        ask(p, line);
        return;
    }
    forget_lines(p);
    if (!p->reading && !p->last)
        p->reading = uv_read_start((uv_stream_t *)&p->pipe, on_alloc, on_read) == 0;
    if (!p->reading || p->last)
        peer_close(p);
}

/* Connections ------------------------------------------------------------------------------- */

static unsigned count_of(const struct lks_admit_socket *s, uid_t uid)
{
    unsigned count = 0;
    for (const struct lks_admit_peer *p = LIST_FIRST(&s->peers); p != NULL; p = LIST_NEXT(p, link))
        count += p->uid == uid && !p->closing;
    return count;
}

static bool read_uid(struct lks_admit_peer *p)
{
    struct ucred who = {0};
    socklen_t size = sizeof(who);
    uv_os_fd_t fd = -1;
    if (uv_fileno((uv_handle_t *)&p->pipe, &fd) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
        return false;
    p->uid = who.uid;
    return true;
}

/* No user of this machine keeps all others out. */
static void on_connection(uv_stream_t *listener, int status)
{
    struct lks_admit_socket *s = listener->data;
    struct lks_admit_peer *p = status == 0 ? calloc(1, sizeof(*p)) : NULL;
    if (p == NULL)
        return;
    p->socket = s;
    p->since = uv_now(listener->loop);
    lks_buf_init(&p->in, LKS_ADMIT_LINE_MAX + PIECE + 1);
    uv_pipe_init(listener->loop, &p->pipe, 0);
    p->pipe.data = p;
    bool accepted = uv_accept(listener, (uv_stream_t *)&p->pipe) == 0 && read_uid(p);
    bool room = s->count < s->max && count_of(s, p->uid) < s->max / 2;
    LIST_INSERT_HEAD(&s->peers, p, link);
    s->count++;
    if (accepted && room)
        next_line(p);
    else
        peer_close(p);
}

static void on_timer(uv_timer_t *timer)
{
    struct lks_admit_socket *s = timer->data;
    uint64_t now = uv_now(timer->loop);
    for (struct lks_admit_peer *p = LIST_FIRST(&s->peers); p != NULL; p = LIST_NEXT(p, link)) {
        uint64_t limit = p->writing || p->in.len > p->at ? s->line_ms : s->idle_ms;
        if (p->call == NULL && now - p->since >= limit)
            peer_close(p);
    }
}

/* Start and end ----------------------------------------------------------------------------- */

static enum lks_code begin(struct lks_admit_socket *s, uv_loop_t *loop, struct lks_err *err)
{
    const struct lks_config *c = lks_daemon_config(s->daemon);
    int fd = -1;
    if (lks_unix_listen(c->admit_socket.ptr, SOCKET_MODE, &s->path, &fd, err) != LKS_OK)
        return err->code;
    uv_pipe_init(loop, &s->listener, 0);
    uv_timer_init(loop, &s->timer);
    s->handles = 2;
    s->listener.data = s->timer.data = s;
    if (uv_pipe_open(&s->listener, fd) != 0 ||
        uv_listen((uv_stream_t *)&s->listener, BACKLOG, on_connection) != 0)
        return lks_fail(err, LKS_E_IO, "%s: cannot listen", c->admit_socket.ptr);
    uv_timer_start(&s->timer, on_timer, TICK_MS, TICK_MS);
    s->max = (unsigned)c->admit_connections;
    s->line_ms = c->request_ms;
    s->idle_ms = c->idle_ms;
    return LKS_OK;
}

enum lks_code lks_admit_socket_new(struct lks_daemon *daemon, uv_loop_t *loop, lks_admit_take *take,
                                   void *ctx, struct lks_admit_socket **out, struct lks_err *err)
{
    struct lks_admit_socket *s = calloc(1, sizeof(*s));
    struct lks_route_match match;
    if (s == NULL)
        return lks_fail_nomem(err);
    lks_route_find(LKS_LISTENER_PEOPLE, "POST", "/v1/admit", &match);
    LKS_ASSERT(match.route != NULL);
    s->daemon = daemon;
    s->route = match.route;
    s->take = take;
    s->ctx = ctx;
    LIST_INIT(&s->peers);
    if (begin(s, loop, err) != LKS_OK) {
        lks_unix_unlink(&s->path);
        return lks_wrap(err, "admit.socket"); /* the process is about to end, and `s` with it */
    }
    *out = s;
    return LKS_OK;
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct lks_admit_socket *s = handle->data;
    s->handles--;
    socket_free(s);
}

void lks_admit_socket_close(struct lks_admit_socket *s)
{
    lks_unix_unlink(&s->path);
    for (struct lks_admit_peer *p = LIST_FIRST(&s->peers); p != NULL; p = LIST_NEXT(p, link))
        peer_close(p);
    uv_close((uv_handle_t *)&s->listener, on_handle_closed);
    uv_close((uv_handle_t *)&s->timer, on_handle_closed);
}
