#include "drivers/http/httpd.h"

#include "drivers/http/httpd_parts.h"

#include <gnutls/abstract.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Authenticated ciphers and forward secrecy alone, for both versions. */
#define PRIORITIES                                                                                 \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"                                                   \
    ":-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305"                                    \
    ":-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA"                                                             \
    ":-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1"

enum {
    POOL_BYTES = 8 * 1024, /* a connection's headers, its own and its answer's */
    REST_FIRST_MS = 5,
    REST_MAX_MS = 80,
    TICK_MS = 100,
    LOOK_MS = 1000,
    BODIES_MAX = 256 << 20, /* bytes */
};

struct lks_httpd_peer_state *lks_httpd_peer_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

struct lks_httpd_peer_state *lks_httpd_peer_with(struct lks_httpd_exchange *x)
{
    return (struct lks_httpd_peer_state *)(void *)((char *)x -
                                                   offsetof(struct lks_httpd_peer_state, exchange));
}

/* ---- The bridge between MHD's epoll descriptor and the loop. ---- */

static void pump(struct lks_httpd *h);

static void on_run(uv_timer_t *timer)
{
    pump(timer->data);
}

static void on_soon(uv_idle_t *idle)
{
    pump(idle->data);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    pump(poll->data);
}

/* At once is one round of the loop later. A timer of 0 ms would be due again in the same round, and
 * a busy server would see neither its other timers nor anybody's messages. */
static void schedule(struct lks_httpd *h, lks_ms wait)
{
    if (h->stopping)
        return;
    if (wait == 0)
        uv_idle_start(&h->soon, on_soon);
    else
        uv_timer_start(&h->run, on_run, wait, 0);
}

/* Whether a run that made no callback has more to do. Headers longer than the first buffer are read
 * little by little from a record that GnuTLS has taken apart already; everything else that can be
 * left, but a handshake, makes callbacks or sends. Only TLS has handshakes. */
static bool unread(struct lks_httpd *h)
{
    struct lks_httpd_peer_state *peer, *next;
    bool found = h->trust == NULL;
    for (peer = TAILQ_FIRST(&h->fresh); peer != NULL; peer = next) {
        next = TAILQ_NEXT(peer, heard);
        bool reading = peer->exchange.stage <= LKS_STAGE_LINE;
        if (reading && lks_httpd_trust_pending(peer) > 0)
            found = true;
        else
            lks_httpd_stale(peer);
    }
    return found;
}

/* MHD's sockets are edge-triggered and GnuTLS buffers records, so a run is also due when
 * MHD_get_timeout() says 0: work is left although the descriptor is not readable. But a handshake
 * that waits for its peer says 0 as well, and one silent client would spin the core. A run that
 * found nothing to do has only such handshakes left, and rests, longer each time: their next bytes
 * make the descriptor readable anyway. After a connection closed one more run is due: at its limit
 * MHD stops watching for new ones, and looks again only when it begins a run. */
static void pump(struct lks_httpd *h)
{
    MHD_UNSIGNED_LONG_LONG wait = 0;
    uint64_t before = h->progress;
    LKS_ASSERT(!h->running);
    h->running = true;
    h->counts.runs++;
    uv_timer_stop(&h->run);
    uv_idle_stop(&h->soon);
    MHD_run(h->daemon);
    h->running = false;
    bool moved = h->progress != before;
    h->rest = moved ? 0 : h->rest;
    if (MHD_get_timeout(h->daemon, &wait) != MHD_YES && !h->again)
        return;
    wait = h->again ? 0 : wait;
    h->again = false;
    if (moved || unread(h)) {
        h->rest = 0;
    } else if (wait < REST_MAX_MS) {
        h->rest = h->rest == 0 ? REST_FIRST_MS : h->rest * 2;
        h->rest = h->rest < REST_MAX_MS ? h->rest : REST_MAX_MS;
        wait = h->rest;
        h->counts.rests++;
    }
    schedule(h, wait);
}

/* MHD wakes no thread for it in this mode, so a run follows: at once, and one for all connections
 * that are resumed until then. */
void lks_httpd_resume(struct lks_httpd *h, struct MHD_Connection *connection)
{
    h->progress++;
    MHD_resume_connection(connection);
    h->again = h->running;
    if (!h->running)
        schedule(h, 0);
}

/* ---- Deadlines: absolute, whatever drips. ---- */

static void leave_queue(struct lks_httpd_peer_state *peer)
{
    if (peer->due != LKS_DUE_NEVER)
        TAILQ_REMOVE(&peer->httpd->queues[peer->due], peer, queue);
    peer->due = LKS_DUE_NEVER;
}

void lks_httpd_due(struct lks_httpd_peer_state *peer, enum lks_httpd_due due)
{
    struct lks_httpd *h = peer->httpd;
    leave_queue(peer);
    if (due == LKS_DUE_NEVER || peer->shut)
        return;
    peer->due = due;
    peer->deadline = uv_now(h->loop) + h->patience[due];
    TAILQ_INSERT_TAIL(&h->queues[due], peer, queue);
}

/* MHD finds the end of the connection and closes it in its own time. */
void lks_httpd_shut(struct lks_httpd_peer_state *peer)
{
    leave_queue(peer);
    peer->shut = true;
    shutdown(peer->fd, SHUT_RDWR);
}

/* MHD does not watch a connection while it is suspended. A peer that closed only its own half may
 * still wait for its answer; a reader of a stream that did so has left. */
static void look(struct lks_httpd_peer_state *peer)
{
    struct lks_httpd_exchange *x = &peer->exchange;
    struct pollfd state = {.fd = peer->fd, .events = x->stream != NULL ? POLLRDHUP : 0};
    if (poll(&state, 1, 0) <= 0) {
        lks_httpd_due(peer, LKS_DUE_LOOK);
        return;
    }
    leave_queue(peer);
    if (x->stream != NULL)
        lks_httpd_stream_end(x->stream, true);
    else
        lks_httpd_leave(x);
}

static void on_tick(uv_timer_t *timer)
{
    struct lks_httpd *h = timer->data;
    lks_ms now = uv_now(h->loop);
    for (enum lks_httpd_due due = 0; due < LKS_DUE_COUNT; due++) {
        struct lks_httpd_peer_state *peer;
        while ((peer = TAILQ_FIRST(&h->queues[due])) != NULL && peer->deadline <= now) {
            if (due == LKS_DUE_LOOK) {
                look(peer);
                continue;
            }
            h->counts.timeouts++;
            lks_httpd_shut(peer);
        }
    }
    lks_httpd_linger_until(h, now);
    if (TAILQ_EMPTY(&h->peers) && TAILQ_EMPTY(&h->lingers))
        uv_timer_stop(&h->tick);
}

/* ---- Connections. ---- */

static bool is_trusted(const struct lks_httpd *h, uid_t uid)
{
    bool listed = false;
    for (size_t i = 0; i < h->options.user_count; i++)
        listed = listed || h->options.users[i] == uid;
    return listed || uid == 0 || uid == h->own;
}

/* MHD counts addresses, which a Unix socket has none of: there it is the user. Those who look after
 * the machine find a place whatever all others do. */
static bool too_many_of(const struct lks_httpd *h, const struct lks_httpd_peer_state *peer)
{
    const struct lks_httpd_peer_state *other = NULL;
    const struct lks_httpd_options *o = &h->options;
    unsigned own = 0, others = 0;
    if (h->trust != NULL || (o->per_address == 0 && o->kept == 0))
        return false;
    TAILQ_FOREACH(other, &h->peers, all)
    {
        own += other->peer.uid == peer->peer.uid;
        others += !is_trusted(h, other->peer.uid);
    }
    bool kept_full = !is_trusted(h, peer->peer.uid) && others + o->kept > o->connections;
    return kept_full || (o->per_address > 0 && own > o->per_address);
}

static void open_peer(struct lks_httpd *h, struct MHD_Connection *connection, void **context)
{
    struct lks_httpd_peer_state *peer = calloc(1, sizeof(*peer));
    *context = peer;
    if (peer == NULL)
        return; /* a request without one is refused */
    peer->httpd = h;
    peer->exchange.connection = connection;
    peer->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    peer->due = LKS_DUE_NEVER;
    h->counts.connections++;
    TAILQ_INSERT_TAIL(&h->peers, peer, all);
    lks_httpd_due(peer, LKS_DUE_FIRST);
    lks_httpd_name_peer(peer);
    if (h->trust != NULL)
        lks_httpd_trust_begin(peer);
    else if (too_many_of(h, peer))
        lks_httpd_shut(peer);
    if (!uv_is_active((uv_handle_t *)&h->tick) && !h->stopping)
        uv_timer_start(&h->tick, on_tick, TICK_MS, TICK_MS);
}

static void close_peer(struct lks_httpd *h, struct lks_httpd_peer_state *peer)
{
    if (h->trust != NULL && !peer->spoke && !peer->shut)
        h->counts.refused_tls++;
    if (peer->unread && !peer->shut)
        lks_httpd_linger(peer);
    leave_queue(peer);
    lks_httpd_stale(peer);
    h->again = true;
    TAILQ_REMOVE(&h->peers, peer, all);
    h->counts.connections--;
    if (peer->peer.drop != NULL)
        peer->peer.drop(peer->peer.memory);
    lks_httpd_trust_drop(peer->trust);
    lks_buf_fini(&peer->exchange.body);
    free(peer);
}

static void on_connection(void *cls, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct lks_httpd *h = cls;
    h->progress++;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        open_peer(h, connection, context);
    } else if (*context != NULL) {
        close_peer(h, *context);
        *context = NULL;
    }
}

/* ---- Starting and stopping. ---- */

/* MHD wants a source of certificates at its start; every session gets its own before it is asked.
 */
static int no_certificate(gnutls_session_t session, const gnutls_datum_t *names, int count,
                          const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                          gnutls_pcert_st **chain, unsigned *chain_size, gnutls_privkey_t *key)
{
    (void)session, (void)names, (void)count, (void)algorithms, (void)algorithm_count;
    (void)chain, (void)chain_size, (void)key;
    return -1;
}

/* Without TLS the library passes over the options that belong to it. */
static enum lks_code start_daemon(struct lks_httpd *h, int fd, struct lks_err *err)
{
    bool tls = h->trust != NULL;
    h->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | (tls ? MHD_USE_TLS : 0), 0,
        NULL, NULL, lks_httpd_on_request, h, MHD_OPTION_EXTERNAL_LOGGER, lks_httpd_on_fault, h,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_HTTPS_PRIORITIES, PRIORITIES,
        MHD_OPTION_HTTPS_CERT_CALLBACK, no_certificate, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
        h, MHD_OPTION_NOTIFY_COMPLETED, lks_httpd_on_completed, h, MHD_OPTION_URI_LOG_CALLBACK,
        lks_httpd_on_line, h, MHD_OPTION_CONNECTION_LIMIT, h->options.connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, tls ? h->options.per_address : 0,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_BYTES, MHD_OPTION_END);
    if (h->daemon == NULL)
        return lks_fail(err, LKS_E_IO, "%s: the HTTP library cannot start", h->options.address);
    return LKS_OK;
}

static void watch(struct lks_httpd *h)
{
    int fd = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    h->poll.data = h->run.data = h->soon.data = h->tick.data = h;
    int failed = uv_timer_init(h->loop, &h->run);
    failed = failed != 0 ? failed : uv_timer_init(h->loop, &h->tick);
    failed = failed != 0 ? failed : uv_idle_init(h->loop, &h->soon);
    failed = failed != 0 ? failed : uv_poll_init(h->loop, &h->poll, fd);
    failed = failed != 0 ? failed : uv_poll_start(&h->poll, UV_READABLE, on_ready);
    LKS_ASSERT(failed == 0);
    h->open_handles = 4;
    pump(h);
}

static void destroy(struct lks_httpd *h)
{
    lks_httpd_unlisten(h);
    lks_httpd_trust_drop(h->trust);
    if (h->ticket_key.data != NULL)
        gnutls_memset(h->ticket_key.data, 0, h->ticket_key.size);
    gnutls_free(h->ticket_key.data);
    free(h);
}

static enum lks_code prepare(struct lks_httpd *h, struct lks_err *err)
{
    const struct lks_httpd_options *o = &h->options;
    int fd = -1;
    if (strncmp(o->address, "unix:", 5) != 0) {
        if (lks_httpd_trust_new(o, &h->trust, err) != LKS_OK)
            return lks_wrap(err, "%s", o->address);
        if (gnutls_session_ticket_key_generate(&h->ticket_key) < 0)
            return lks_fail_nomem(err);
    }
    if (lks_httpd_listen(h, o->address, o->socket_mode, &fd, err) != LKS_OK)
        return err->code;
    if (start_daemon(h, fd, err) != LKS_OK) {
        close(fd);
        return err->code;
    }
    return LKS_OK;
}

enum lks_code lks_httpd_new(uv_loop_t *loop, const struct lks_httpd_options *options,
                            lks_httpd_handler *handler, lks_httpd_gone *gone, void *ctx,
                            struct lks_httpd **out, struct lks_err *err)
{
    const struct lks_httpd_options *o = options;
    LKS_ASSERT(o->connections > 0 && o->body_max > 0);
    LKS_ASSERT(o->first_ms > 0 && o->request_ms > 0 && o->idle_ms > 0);
    struct lks_httpd *h = calloc(1, sizeof(*h));
    if (h == NULL)
        return lks_fail_nomem(err);
    h->loop = loop;
    h->handler = handler;
    h->gone = gone;
    h->ctx = ctx;
    h->own = geteuid();
    h->options = *o;
    h->options.bodies_max = o->bodies_max > 0 ? o->bodies_max : BODIES_MAX;
    h->patience[LKS_DUE_FIRST] = o->first_ms;
    h->patience[LKS_DUE_REQUEST] = o->request_ms;
    h->patience[LKS_DUE_IDLE] = o->idle_ms;
    h->patience[LKS_DUE_LOOK] = LOOK_MS;
    TAILQ_INIT(&h->peers);
    TAILQ_INIT(&h->fresh);
    TAILQ_INIT(&h->lingers);
    for (enum lks_httpd_due due = 0; due < LKS_DUE_COUNT; due++)
        TAILQ_INIT(&h->queues[due]);
    enum lks_code code = prepare(h, err);
    if (code != LKS_OK) {
        destroy(h);
        return code;
    }
    h->options.address = NULL;
    h->options.certificate = h->options.key = h->options.client_ca = (struct lks_str){0};
    watch(h);
    *out = h;
    return LKS_OK;
}

enum lks_code lks_httpd_certificates(struct lks_httpd *h, struct lks_str certificate,
                                     struct lks_str key, struct lks_str client_ca,
                                     struct lks_err *err)
{
    struct lks_httpd_options o = h->options;
    struct lks_httpd_trust *trust = NULL;
    LKS_ASSERT(h->trust != NULL);
    o.certificate = certificate;
    o.key = key;
    o.client_ca = client_ca;
    if (lks_httpd_trust_new(&o, &trust, err) != LKS_OK)
        return err->code;
    lks_httpd_trust_drop(h->trust);
    h->trust = trust;
    return LKS_OK;
}

/* A connection without a request in progress has nothing to wait for, and a stream no other end. */
void lks_httpd_drain(struct lks_httpd *h)
{
    struct lks_httpd_peer_state *peer;
    if (h->draining)
        return;
    h->draining = true;
    int fd = MHD_quiesce_daemon(h->daemon);
    if (fd >= 0)
        close(fd);
    lks_httpd_unlisten(h);
    TAILQ_FOREACH(peer, &h->peers, all)
    {
        if (peer->exchange.stage == LKS_STAGE_NONE)
            lks_httpd_shut(peer);
        else if (peer->exchange.stream != NULL)
            lks_httpd_stream_end(peer->exchange.stream, false);
    }
}

void lks_httpd_handle_closed(struct lks_httpd *h)
{
    if (--h->open_handles == 0)
        destroy(h);
}

static void on_closed(uv_handle_t *handle)
{
    lks_httpd_handle_closed(handle->data);
}

/* MHD_stop_daemon() aborts the program over a suspended connection, so all of them go on first. */
void lks_httpd_free(struct lks_httpd *h)
{
    struct lks_httpd_peer_state *peer;
    if (h == NULL)
        return;
    LKS_ASSERT(!h->running);
    lks_httpd_drain(h);
    h->stopping = true;
    TAILQ_FOREACH(peer, &h->peers, all)
    if (peer->exchange.stage == LKS_STAGE_WAITING)
        lks_httpd_leave(&peer->exchange);
    lks_httpd_linger_until(h, UINT64_MAX);
    uv_close((uv_handle_t *)&h->poll, on_closed);
    uv_close((uv_handle_t *)&h->run, on_closed);
    uv_close((uv_handle_t *)&h->soon, on_closed);
    uv_close((uv_handle_t *)&h->tick, on_closed);
    MHD_stop_daemon(h->daemon);
    LKS_ASSERT(TAILQ_EMPTY(&h->peers));
}

unsigned lks_httpd_port(const struct lks_httpd *h)
{
    return h->port;
}

struct lks_httpd_counts lks_httpd_counts(const struct lks_httpd *h)
{
    return h->counts;
}
