#include "drivers/http/client.h"

#include "base/file.h"
#include "base/time.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PEM_MAX      ((size_t)1 << 20) /* a bundle of a site's authorities may be long */
#define REQUEST_MAX  ((size_t)64 << 10)
#define FEED_MAX     ((size_t)64 << 10) /* of a stream's body, between two reads */
#define DEFAULT_PORT "7443"
#define FOR_EVER     UINT64_MAX

enum {
    CHUNK_SIZE = 8 * 1024,
    TOGETHER_MAX = 4 * 1024, /* a body up to this leaves in one piece with its headers */
    HOST_MAX = 255,
    CHAIN_MAX = 4,
};

struct lks_client {
    char host[HOST_MAX + 1], port[8]; /* TCP */
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    bool address; /* `host` is one and not a name */
    char *token;
    int timeout_ms;
    unsigned rate_min;
    size_t body_max;
    SSL_CTX *ctx; /* NULL: without TLS */
    BIO_METHOD *method;
    SSL_SESSION *session; /* the newest the server gave us */
    SSL *ssl;
    int fd;          /* -1: not connected */
    lks_ms deadline; /* of the exchange in progress */
    uint64_t moved;  /* bytes of it that have not moved the deadline yet */
    bool heard;      /* something came back since the request left */
    struct lks_buf request;
};

static lks_ms now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (lks_ms)t.tv_sec * 1000 + (lks_ms)t.tv_nsec / 1000000;
}

static bool is_unix(const struct lks_client *c)
{
    return c->path[0] != '\0';
}

static const char *server_name(const struct lks_client *c)
{
    return is_unix(c) ? c->path : c->host;
}

/* Without a good-bye, which could block: the answer's framing says enough. But libssl must think
 * that there was one, or it would never take the session up again. */
static void hang_up(struct lks_client *c)
{
    if (c->ssl != NULL)
        SSL_set_shutdown(c->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(c->ssl);
    c->ssl = NULL;
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

/* How long a request has; a large one has a second more for each `rate_min` bytes. */
static enum lks_code fail_timeout(const struct lks_client *c, struct lks_err *err)
{
    return lks_fail(err, LKS_E_TIMEOUT, "%s: no answer in time (%g s)", server_name(c),
                    (double)c->timeout_ms / 1000);
}

/* Until the socket is ready, or `deadline`. */
static enum lks_code wait_until(const struct lks_client *c, short events, lks_ms deadline,
                                struct lks_err *err)
{
    for (;;) {
        lks_ms now = now_ms();
        if (now >= deadline)
            return fail_timeout(c, err);
        lks_ms left = deadline - now;
        struct pollfd wanted = {.fd = c->fd, .events = events};
        int ready = poll(&wanted, 1, left > INT32_MAX ? INT32_MAX : (int)left);
        if (ready > 0)
            return LKS_OK;
        if (ready < 0 && errno != EINTR)
            return lks_fail(err, LKS_E_IO, "%s: poll: %s", server_name(c), strerror(errno));
    }
}

/* Bytes went one way or the other: one second more for each `rate_min` of them, so that a slow link
 * can carry a long body, and a server that drips gets no time. */
static void move_deadline(struct lks_client *c, size_t bytes)
{
    enum { MS = 1000 };
    if (c->rate_min == 0)
        return;
    c->moved += bytes;
    c->deadline += c->moved / c->rate_min * MS;
    c->moved %= c->rate_min;
}

static enum lks_code fail_errno(const struct lks_client *c, const char *what, struct lks_err *err)
{
    enum lks_code code = errno == EACCES || errno == EPERM ? LKS_E_DENIED : LKS_E_UNAVAILABLE;
    return lks_fail(err, code, "%s: %s: %s", server_name(c), what, strerror(errno));
}

/* ---- TLS over our socket: libssl's own way of writing would raise SIGPIPE. ---- */

static int bio_write(BIO *bio, const char *data, int size)
{
    const struct lks_client *c = BIO_get_data(bio);
    ssize_t sent = send(c->fd, data, (size_t)size, MSG_NOSIGNAL);
    BIO_clear_retry_flags(bio);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_retry_write(bio);
    return (int)sent;
}

static int bio_read(BIO *bio, char *data, int size)
{
    const struct lks_client *c = BIO_get_data(bio);
    ssize_t got = recv(c->fd, data, (size_t)size, 0);
    BIO_clear_retry_flags(bio);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_retry_read(bio);
    if (got == 0)
        BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return (int)got;
}

static long bio_ctrl(BIO *bio, int command, long number, void *pointer)
{
    (void)number, (void)pointer;
    if (command == BIO_CTRL_EOF)
        return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
    return command == BIO_CTRL_FLUSH;
}

static int keep_session(SSL *ssl, SSL_SESSION *session)
{
    struct lks_client *c = SSL_get_app_data(ssl);
    SSL_SESSION_free(c->session);
    c->session = session;
    return 1; /* the reference is ours now */
}

/* What a server says that does not like the certificate we showed, or that we showed none. */
static bool refuses_us(int reason)
{
    static const int reasons[] = {
        SSL_R_SSLV3_ALERT_BAD_CERTIFICATE,     SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE,
        SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED,
        SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, SSL_R_TLSV1_ALERT_UNKNOWN_CA,
        SSL_R_TLSV1_ALERT_ACCESS_DENIED,       SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED,
    };
    for (size_t i = 0; i < LKS_COUNT(reasons); i++)
        if (reasons[i] == reason)
            return true;
    return false;
}

static enum lks_code fail_tls(const struct lks_client *c, struct lks_err *err)
{
    long verdict = SSL_get_verify_result(c->ssl);
    unsigned long code = ERR_peek_error();
    int reason = ERR_GET_REASON(code);
    const char *text = ERR_reason_error_string(code);
    ERR_clear_error();
    if (verdict != X509_V_OK)
        return lks_fail(err, LKS_E_DENIED, "%s: its certificate is not good: %s", c->host,
                        X509_verify_cert_error_string(verdict));
    if (ERR_GET_LIB(code) == ERR_LIB_SSL && refuses_us(reason))
        return lks_fail(err, LKS_E_DENIED, "%s: does not take our certificate", c->host);
    if (code == 0 || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING)
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s: closed the connection", c->host);
    return lks_fail(err, LKS_E_UNAVAILABLE, "%s: TLS: %s", c->host,
                    text != NULL ? text : "not understood");
}

/* After a call of libssl that gave `result`: OK to call again, once the socket is ready. */
static enum lks_code tls_wait(const struct lks_client *c, int result, struct lks_err *err)
{
    switch (SSL_get_error(c->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        return wait_until(c, POLLIN, c->deadline, err);
    case SSL_ERROR_WANT_WRITE:
        return wait_until(c, POLLOUT, c->deadline, err);
    case SSL_ERROR_SYSCALL:
        ERR_clear_error();
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s: closed the connection", c->host);
    default:
        return fail_tls(c, err);
    }
}

static enum lks_code start_tls(struct lks_client *c, struct lks_err *err)
{
    BIO *bio = BIO_new(c->method);
    c->ssl = SSL_new(c->ctx);
    if (c->ssl == NULL || bio == NULL) {
        BIO_free(bio);
        return lks_fail_nomem(err);
    }
    BIO_set_data(bio, c);
    BIO_set_init(bio, 1);
    SSL_set_bio(c->ssl, bio, bio);
    SSL_set_app_data(c->ssl, c);
    X509_VERIFY_PARAM *wanted = SSL_get0_param(c->ssl);
    X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                                                X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    bool named = c->address ? X509_VERIFY_PARAM_set1_ip_asc(wanted, c->host) == 1
                            : X509_VERIFY_PARAM_set1_host(wanted, c->host, 0) == 1 &&
                                  SSL_set_tlsext_host_name(c->ssl, c->host) == 1;
    if (!named)
        return lks_fail_nomem(err);
    if (c->session != NULL)
        SSL_set_session(c->ssl, c->session);
    for (;;) {
        ERR_clear_error();
        int result = SSL_connect(c->ssl);
        if (result == 1)
            return LKS_OK;
        if (tls_wait(c, result, err) != LKS_OK)
            return err->code;
    }
}

/* ---- Connections. ---- */

static enum lks_code connect_one(struct lks_client *c, int family, const struct sockaddr *to,
                                 socklen_t size, lks_ms deadline, struct lks_err *err)
{
    int failed = 0;
    socklen_t failed_size = sizeof(failed);
    c->fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        return lks_fail(err, LKS_E_IO, "socket: %s", strerror(errno));
    if (connect(c->fd, to, size) == 0)
        return LKS_OK;
    if (errno != EINPROGRESS)
        return fail_errno(c, "connect", err);
    if (wait_until(c, POLLOUT, deadline, err) != LKS_OK)
        return err->code;
    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &failed, &failed_size) != 0)
        return fail_errno(c, "connect", err);
    errno = failed;
    return failed == 0 ? LKS_OK : fail_errno(c, "connect", err);
}

static enum lks_code connect_unix(struct lks_client *c, struct lks_err *err)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    _Static_assert(sizeof(to.sun_path) == sizeof(c->path), "copied whole");
    memcpy(to.sun_path, c->path, sizeof(to.sun_path));
    return connect_one(c, AF_UNIX, (const struct sockaddr *)&to, sizeof(to), c->deadline, err);
}

/* One address after the other, each with its share of the time that is left. The name itself is
 * looked up with the patience of the system's resolver. */
static enum lks_code connect_tcp(struct lks_client *c, struct lks_err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    lks_ms count = 0;
    /* This machine itself is always found, also where nothing can be looked up (RFC 6761). */
    const char *name = strcmp(c->host, "localhost") == 0 ? NULL : c->host;
    int failed = getaddrinfo(name, c->port, &hints, &found);
    if (failed != 0)
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s: %s", c->host, gai_strerror(failed));
    for (const struct addrinfo *a = found; a != NULL; a = a->ai_next)
        count++;
    enum lks_code code = LKS_E_UNAVAILABLE;
    struct lks_err tried = {0}; /* of an address before the one that answers; not reported */
    for (const struct addrinfo *a = found; a != NULL && code != LKS_OK; a = a->ai_next) {
        lks_ms now = now_ms(), left = c->deadline > now ? c->deadline - now : 0;
        hang_up(c);
        code =
            connect_one(c, a->ai_family, a->ai_addr, a->ai_addrlen, now + left / count--, &tried);
    }
    freeaddrinfo(found);
    if (code != LKS_OK) {
        *err = tried;
        return code;
    }
    const int on = 1;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return c->ctx != NULL ? start_tls(c, err) : LKS_OK;
}

/* A connection that is there and was not closed meanwhile, or a new one. */
static enum lks_code reach(struct lks_client *c, bool *kept, struct lks_err *err)
{
    struct pollfd left = {.fd = c->fd, .events = POLLRDHUP};
    if (c->fd >= 0 && poll(&left, 1, 0) != 0)
        hang_up(c);
    *kept = c->fd >= 0;
    if (*kept)
        return LKS_OK;
    return is_unix(c) ? connect_unix(c, err) : connect_tcp(c, err);
}

static enum lks_code send_all(struct lks_client *c, struct lks_str bytes, struct lks_err *err)
{
    while (bytes.len > 0) {
        size_t sent = 0;
        if (c->ssl != NULL) {
            ERR_clear_error();
            int result = SSL_write_ex(c->ssl, bytes.ptr, bytes.len, &sent);
            if (result != 1 && tls_wait(c, result, err) != LKS_OK)
                return err->code;
        } else {
            ssize_t result = send(c->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
            if (result < 0 && errno != EAGAIN && errno != EINTR)
                return fail_errno(c, "send", err);
            if (result < 0 && wait_until(c, POLLOUT, c->deadline, err) != LKS_OK)
                return err->code;
            sent = result > 0 ? (size_t)result : 0;
        }
        bytes = (struct lks_str){bytes.ptr + sent, bytes.len - sent};
        move_deadline(c, sent);
        if (now_ms() >= c->deadline && bytes.len > 0)
            return fail_timeout(c, err);
    }
    return LKS_OK;
}

/* What arrived, at least a byte; `*got` is 0 when the server ended the connection. */
static enum lks_code receive(struct lks_client *c, char *out, size_t size, size_t *got,
                             struct lks_err *err)
{
    for (;;) {
        if (now_ms() >= c->deadline) /* a server that drips is never waited for below */
            return fail_timeout(c, err);
        if (c->ssl != NULL) {
            ERR_clear_error();
            int result = SSL_read_ex(c->ssl, out, size, got);
            if (result == 1)
                break;
            *got = 0;
            if (SSL_get_error(c->ssl, result) == SSL_ERROR_ZERO_RETURN)
                break;
            if (tls_wait(c, result, err) != LKS_OK)
                return err->code;
        } else {
            ssize_t result = recv(c->fd, out, size, 0);
            *got = result > 0 ? (size_t)result : 0;
            if (result >= 0)
                break;
            if (errno != EAGAIN && errno != EINTR)
                return fail_errno(c, "receive", err);
            if (wait_until(c, POLLIN, c->deadline, err) != LKS_OK)
                return err->code;
        }
    }
    c->heard = c->heard || *got > 0;
    return LKS_OK;
}

/* ---- Requests. ---- */

/* A blank or a control character in a path would end it and begin something else. */
static bool path_good(const char *path)
{
    for (const char *p = path; *p != '\0'; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return false;
    return path[0] == '/';
}

static enum lks_code write_request(struct lks_client *c, const char *method, const char *path,
                                   const char *type, struct lks_str body, const char *head,
                                   struct lks_err *err)
{
    struct lks_buf *out = &c->request;
    if (!path_good(path))
        return lks_fail(err, LKS_E_INVALID, "'%s' cannot be asked for", path);
    lks_buf_truncate(out, 0);
    lks_buf_addf(out, "%s %s HTTP/1.1\r\n", method, path);
    if (is_unix(c))
        lks_buf_addf(out, "Host: localhost\r\n");
    else if (strchr(c->host, ':') != NULL)
        lks_buf_addf(out, "Host: [%s]:%s\r\n", c->host, c->port);
    else
        lks_buf_addf(out, "Host: %s:%s\r\n", c->host, c->port);
    if (c->token != NULL)
        lks_buf_addf(out, "Authorization: Bearer %s\r\n", c->token);
    if (type != NULL)
        lks_buf_addf(out, "Content-Type: %s\r\nContent-Length: %zu\r\n", type, body.len);
    lks_buf_addf(out, "%s\r\n", head);
    if (type != NULL && body.len <= TOGETHER_MAX)
        lks_buf_add(out, body);
    if (lks_buf_check(out, err) == LKS_OK)
        return LKS_OK;
    lks_buf_fini(out);
    lks_buf_init(out, REQUEST_MAX);
    return lks_wrap(err, "the request");
}

static enum lks_code send_request(struct lks_client *c, const char *type, struct lks_str body,
                                  struct lks_err *err)
{
    c->heard = false;
    if (send_all(c, lks_buf_view(&c->request), err) != LKS_OK)
        return err->code;
    return type != NULL && body.len > TOGETHER_MAX ? send_all(c, body, err) : LKS_OK;
}

/* The whole answer; `*kept` when the connection can carry another. */
static enum lks_code read_answer(struct lks_client *c, struct lks_http_answer *a, bool *kept,
                                 struct lks_err *err)
{
    char chunk[CHUNK_SIZE];
    size_t got = 0, taken = 0;
    while (!lks_http_answer_whole(a)) {
        if (receive(c, chunk, sizeof(chunk), &got, err) != LKS_OK)
            return err->code;
        move_deadline(c, got);
        enum lks_code code =
            got == 0 ? lks_http_answer_end(a, err)
                     : lks_http_answer_feed(a, (struct lks_str){chunk, got}, &taken, err);
        if (code != LKS_OK)
            return lks_wrap(err, "%s", server_name(c));
    }
    *kept = a->keep_alive && got == taken;
    return LKS_OK;
}

/* A server may refuse a long body before all of it has left, and close: its answer is worth more
 * than the failure to send. */
static enum lks_code try_once(struct lks_client *c, bool bodiless, const char *type,
                              struct lks_str body, struct lks_http_answer *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    struct lks_err unread = {0};
    bool keep = false;
    lks_http_answer_init(&answer, c->body_max, bodiless);
    enum lks_code sent = send_request(c, type, body, err);
    if (sent != LKS_OK && sent != LKS_E_UNAVAILABLE)
        return sent;
    if (read_answer(c, &answer, &keep, sent == LKS_OK ? err : &unread) != LKS_OK)
        return err->code;
    if (!keep || sent != LKS_OK)
        hang_up(c);
    *out = LKS_MOVE(answer);
    return LKS_OK;
}

enum lks_code lks_client_exchange(struct lks_client *c, const char *method, const char *path,
                                  const char *type, struct lks_str body, const char *head,
                                  struct lks_http_answer *out, struct lks_err *err)
{
    c->deadline = now_ms() + (lks_ms)c->timeout_ms;
    c->moved = 0;
    if (write_request(c, method, path, type, body, head, err) != LKS_OK)
        return err->code;
    for (bool kept = true;;) {
        enum lks_code code = reach(c, &kept, err);
        if (code == LKS_OK)
            code = try_once(c, strcmp(method, "HEAD") == 0, type, body, out, err);
        if (code == LKS_OK)
            return LKS_OK;
        hang_up(c);
        if (!kept || c->heard || code != LKS_E_UNAVAILABLE)
            return code;
    }
}

/* ---- Events. ---- */

static enum lks_code judge_status(const struct lks_client *c, int status, struct lks_err *err)
{
    enum lks_code code = status == 401 || status == 403   ? LKS_E_DENIED
                         : status == 404                  ? LKS_E_NOT_FOUND
                         : status == 429 || status >= 500 ? LKS_E_UNAVAILABLE
                                                          : LKS_E_INVALID;
    if (status == 200)
        return LKS_OK;
    return lks_fail(err, code, "%s: answers with status %d", server_name(c), status);
}

static enum lks_code read_events(struct lks_client *c, int quiet_ms, lks_client_event_fn *fn,
                                 void *ctx, struct lks_err *err)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    LKS_CLEANUP(lks_http_events_fini) struct lks_http_events events = {0};
    char chunk[CHUNK_SIZE];
    lks_http_answer_init(&answer, FEED_MAX, false);
    lks_http_events_init(&events);
    for (bool going = true; going && !lks_http_answer_whole(&answer);) {
        size_t got = 0, taken = 0;
        if (receive(c, chunk, sizeof(chunk), &got, err) != LKS_OK)
            return err->code;
        enum lks_code code =
            got == 0 ? lks_http_answer_end(&answer, err)
                     : lks_http_answer_feed(&answer, (struct lks_str){chunk, got}, &taken, err);
        if (code != LKS_OK)
            return lks_wrap(err, "%s", server_name(c));
        if (answer.status >= 200 && judge_status(c, answer.status, err) != LKS_OK)
            return err->code;
        if (lks_http_events_feed(&events, lks_buf_view(&answer.body), fn, ctx, &going, err) !=
            LKS_OK)
            return lks_wrap(err, "%s", server_name(c));
        lks_buf_truncate(&answer.body, 0);
        c->deadline = quiet_ms > 0 ? now_ms() + (lks_ms)quiet_ms : FOR_EVER;
    }
    return LKS_OK;
}

enum lks_code lks_client_events(struct lks_client *c, const char *path, const char *last_id,
                                int quiet_ms, lks_client_event_fn *fn, void *ctx,
                                struct lks_err *err)
{
    char head[512] = "Accept: text/event-stream\r\n";
    size_t used = strlen(head);
    bool kept = false;
    if (last_id != NULL) {
        size_t room = sizeof(head) - used;
        int size = snprintf(head + used, room, "Last-Event-ID: %s\r\n", last_id);
        if (!lks_str_printable(lks_str_from(last_id)) || size < 0 || (size_t)size >= room)
            return lks_fail(err, LKS_E_INVALID, "'%s' cannot be the id of an event", last_id);
    }
    c->deadline = now_ms() + (lks_ms)c->timeout_ms;
    hang_up(c); /* a kept connection may be stale, and this one is not kept either */
    enum lks_code code = write_request(c, "GET", path, NULL, LKS_STR(""), head, err);
    if (code == LKS_OK)
        code = reach(c, &kept, err);
    if (code == LKS_OK)
        code = send_request(c, NULL, LKS_STR(""), err);
    if (code == LKS_OK)
        code = read_events(c, quiet_ms, fn, ctx, err);
    hang_up(c);
    return code;
}

/* ---- Making a client. ---- */

static enum lks_code fail_server(const char *server, struct lks_err *err)
{
    return lks_fail(err, LKS_E_INVALID, "server '%s': neither https://HOST:PORT nor unix:/PATH",
                    server);
}

static enum lks_code read_unix(struct lks_client *c, const char *server, struct lks_err *err)
{
    const char *path = server + strlen("unix:");
    if (path[0] != '/')
        return fail_server(server, err);
    if (strlen(path) >= sizeof(c->path))
        return lks_fail(err, LKS_E_LIMIT, "server '%s': a socket's path has at most %zu bytes",
                        server, sizeof(c->path) - 1);
    memcpy(c->path, path, strlen(path) + 1);
    return LKS_OK;
}

/* "https://host", "https://host:port", "https://[::1]:port", with or without a slash at the end. */
static enum lks_code read_address(struct lks_client *c, const char *server, struct lks_err *err)
{
    struct lks_str rest = lks_str_from(strstr(server, "://") + strlen("://")), host, port;
    struct in6_addr parsed;
    uint64_t number = 0;
    if (lks_str_ends(rest, "/"))
        rest.len--;
    if (lks_str_starts(rest, "[")) {
        rest = (struct lks_str){rest.ptr + 1, rest.len - 1};
        if (!lks_str_cut(rest, ']', &host, &port) || (port.len > 0 && port.ptr[0] != ':'))
            return fail_server(server, err);
        port = port.len > 0 ? (struct lks_str){port.ptr + 1, port.len - 1} : port;
    } else {
        lks_str_cut(rest, ':', &host, &port);
    }
    port = port.len > 0 ? port : LKS_STR(DEFAULT_PORT);
    bool good = host.len > 0 && host.len <= HOST_MAX && lks_str_printable(host) &&
                memchr(host.ptr, '/', host.len) == NULL && memchr(host.ptr, '@', host.len) == NULL;
    if (!good || !lks_str_number(port, UINT16_MAX, &number) || number == 0)
        return fail_server(server, err);
    snprintf(c->host, sizeof(c->host), "%" LKS_STR_FMT, LKS_STR_ARG(host));
    snprintf(c->port, sizeof(c->port), "%u", (unsigned)number);
    c->address =
        inet_pton(AF_INET, c->host, &parsed) == 1 || inet_pton(AF_INET6, c->host, &parsed) == 1;
    return LKS_OK;
}

enum lks_code lks_client_address(const char *server, struct lks_err *err)
{
    struct lks_client c = {0};
    if (strncmp(server, "unix:", 5) == 0)
        return read_unix(&c, server, err);
    return strncmp(server, "https://", 8) == 0 ? read_address(&c, server, err)
                                               : fail_server(server, err);
}

static void wipe(struct lks_buf *b)
{
    OPENSSL_cleanse(b->ptr, b->cap);
    lks_buf_fini(b);
}

/* The libraries would ask for it at the terminal. */
static int no_password(char *out, int size, int writing, void *ctx)
{
    (void)out, (void)size, (void)writing, (void)ctx;
    return -1;
}

/* What stands in PEM, as OpenSSL reads it. */
struct pem {
    struct lks_buf text;
    BIO *bio;
    const char *named; /* what a message may say of it */
};

static void pem_fini(struct pem *pem)
{
    BIO_free(pem->bio);
    wipe(&pem->text);
}

/* The text at `path`, or the text that it is itself, which messages call `text`. */
static enum lks_code pem_open(struct pem *pem, const char *text, const char *path,
                              struct lks_err *err)
{
    lks_buf_init(&pem->text, PEM_MAX);
    pem->named = text != NULL ? text : path;
    if (text != NULL)
        lks_buf_add(&pem->text, lks_str_from(path));
    if ((text != NULL ? lks_buf_check(&pem->text, err)
                      : lks_file_read_plain(path, &pem->text, err)) != LKS_OK)
        return err->code;
    pem->bio = BIO_new_mem_buf(pem->text.ptr, (int)pem->text.len);
    return pem->bio != NULL ? LKS_OK : lks_fail_nomem(err);
}

/* Each certificate of a PEM file goes to `take`. */
static enum lks_code load_certificates(SSL_CTX *ctx, const char *text, const char *path,
                                       bool (*take)(SSL_CTX *ctx, X509 *certificate, size_t nth),
                                       struct lks_err *err)
{
    LKS_CLEANUP(pem_fini) struct pem pem = {0};
    if (pem_open(&pem, text, path, err) != LKS_OK)
        return err->code;
    X509 *certificate = NULL;
    size_t count = 0;
    bool good = true;
    while (good && (certificate = PEM_read_bio_X509(pem.bio, NULL, no_password, NULL)) != NULL) {
        good = take(ctx, certificate, count++);
        X509_free(certificate);
    }
    ERR_clear_error();
    if (!good || count == 0)
        return lks_fail(err, LKS_E_INVALID, "%s: has no certificate in PEM that can be used",
                        pem.named);
    return LKS_OK;
}

static bool take_authority(SSL_CTX *ctx, X509 *certificate, size_t nth)
{
    (void)nth;
    return X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), certificate) == 1;
}

static bool take_own(SSL_CTX *ctx, X509 *certificate, size_t nth)
{
    if (nth == 0)
        return SSL_CTX_use_certificate(ctx, certificate) == 1;
    return nth < CHAIN_MAX && SSL_CTX_add1_chain_cert(ctx, certificate) == 1;
}

static enum lks_code load_key(SSL_CTX *ctx, const char *text, const char *path, struct lks_err *err)
{
    LKS_CLEANUP(pem_fini) struct pem pem = {0};
    if (pem_open(&pem, text, path, err) != LKS_OK)
        return err->code;
    EVP_PKEY *key = PEM_read_bio_PrivateKey(pem.bio, NULL, no_password, NULL);
    bool good =
        key != NULL && SSL_CTX_use_PrivateKey(ctx, key) == 1 && SSL_CTX_check_private_key(ctx) == 1;
    EVP_PKEY_free(key);
    ERR_clear_error();
    if (!good)
        return lks_fail(err, LKS_E_INVALID, "%s: is not the certificate's private key", pem.named);
    return LKS_OK;
}

static bool make_method(struct lks_client *c)
{
    c->method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "lockstep");
    return c->method != NULL && BIO_meth_set_write(c->method, bio_write) == 1 &&
           BIO_meth_set_read(c->method, bio_read) == 1 &&
           BIO_meth_set_ctrl(c->method, bio_ctrl) == 1;
}

/* Buffers are given back between exchanges and no configuration file is read: an agent is small
 * and does the same on every machine. */
static enum lks_code prepare_tls(struct lks_client *c, const struct lks_client_options *o,
                                 struct lks_err *err)
{
    const char *text = o->pem ? "the text given" : NULL;
    const char *own = o->pem_own != NULL ? o->pem_own : text;
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
    c->ctx = SSL_CTX_new(TLS_client_method());
    if (c->ctx == NULL || !make_method(c) ||
        SSL_CTX_set_min_proto_version(c->ctx, TLS1_2_VERSION) != 1)
        return lks_fail_nomem(err);
    SSL_CTX_set_mode(c->ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                 SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(c->ctx, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_verify(c->ctx, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_session_cache_mode(c->ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(c->ctx, keep_session);
    if (o->ca == NULL)
        return lks_fail(err, LKS_E_USAGE, "%s: no authority is given that certifies it", o->server);
    if (load_certificates(c->ctx, text, o->ca, take_authority, err) != LKS_OK)
        return err->code;
    if (o->certificate == NULL)
        return LKS_OK;
    LKS_ASSERT(o->key != NULL);
    if (load_certificates(c->ctx, own, o->certificate, take_own, err) != LKS_OK)
        return err->code;
    return load_key(c->ctx, own, o->key, err);
}

static enum lks_code prepare(struct lks_client *c, const struct lks_client_options *o,
                             struct lks_err *err)
{
    struct lks_str token = lks_str_from(o->token != NULL ? o->token : "");
    if (!lks_str_printable(token) || memchr(token.ptr, ' ', token.len) != NULL)
        return lks_fail(err, LKS_E_INVALID, "the token has characters that no token has");
    if (o->token != NULL && (c->token = strdup(o->token)) == NULL)
        return lks_fail_nomem(err);
    if (strncmp(o->server, "unix:", 5) == 0)
        return read_unix(c, o->server, err);
    bool plain = o->plain && o->token == NULL && strncmp(o->server, "http://", 7) == 0;
    if (!plain && strncmp(o->server, "https://", 8) != 0)
        return fail_server(o->server, err);
    if (read_address(c, o->server, err) != LKS_OK)
        return err->code;
    return plain ? LKS_OK : prepare_tls(c, o, err);
}

enum lks_code lks_client_new(const struct lks_client_options *options, struct lks_client **out,
                             struct lks_err *err)
{
    LKS_ASSERT(options->timeout_ms > 0);
    struct lks_client *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return lks_fail_nomem(err);
    c->fd = -1;
    c->timeout_ms = options->timeout_ms;
    c->rate_min = options->rate_min;
    c->body_max = options->body_max > 0 ? options->body_max : LKS_CLIENT_BODY_MAX;
    lks_buf_init(&c->request, REQUEST_MAX);
    enum lks_code code = prepare(c, options, err);
    if (code != LKS_OK) {
        lks_client_free(c);
        return code;
    }
    *out = c;
    return LKS_OK;
}

void lks_client_free(struct lks_client *c)
{
    if (c == NULL)
        return;
    hang_up(c);
    SSL_SESSION_free(c->session);
    SSL_CTX_free(c->ctx);
    BIO_meth_free(c->method);
    wipe(&c->request);
    if (c->token != NULL)
        OPENSSL_cleanse(c->token, strlen(c->token));
    free(c->token);
    free(c);
}
