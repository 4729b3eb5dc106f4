#include "bench/load.h"

#include "codec/format/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 256, ANSWER_MAX = 1 << 20, PATIENCE_MS = 10000, PACE_MS = 1 };

struct line {
    int fd;
    unsigned number;
    bool fresh;  /* it ends with its answer */
    X509 *shown; /* of a fresh one, that comes again and again: read once */
    EVP_PKEY *key;
    SSL *ssl;
    struct lks_buf out;
    size_t sent;
    struct lks_http_answer answer;
    double began;
    bool busy;
};

struct load {
    const struct lks_load_plan *plan;
    SSL_CTX *ctx;
    int epoll;
    struct line *lines; /* those that are kept, and the fresh ones */
    float *took;        /* ms, of each good answer */
    unsigned started, ended, open;
    unsigned turn, fresh_turn; /* whose it is to begin */
    uint64_t fresh_started, fresh_good;
    double began; /* the clock */
    bool told;    /* to end */
    struct lks_load_result result;
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* What a connection shows. */
static bool read_pair(struct lks_load_pair pair, X509 **own, EVP_PKEY **secret)
{
    BIO *certificate = BIO_new_mem_buf(pair.certificate.ptr, (int)pair.certificate.len);
    BIO *key = BIO_new_mem_buf(pair.key.ptr, (int)pair.key.len);
    *own = PEM_read_bio_X509(certificate, NULL, NULL, NULL);
    *secret = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);
    BIO_free(certificate);
    BIO_free(key);
    return *own != NULL && *secret != NULL;
}

static bool show(SSL *ssl, struct lks_load_pair pair)
{
    X509 *own = NULL;
    EVP_PKEY *secret = NULL;
    bool good = read_pair(pair, &own, &secret) && SSL_use_certificate(ssl, own) == 1 &&
                SSL_use_PrivateKey(ssl, secret) == 1;
    X509_free(own);
    EVP_PKEY_free(secret);
    return good;
}

static int dial(const struct lks_load_plan *plan)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)plan->port)};
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    const int on = 1;
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(plan->path != NULL ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    int failed;
    if (plan->path != NULL) {
        memcpy(un.sun_path, plan->path, strnlen(plan->path, sizeof(un.sun_path) - 1));
        failed = connect(fd, (const struct sockaddr *)&un, sizeof(un));
    } else {
        failed = connect(fd, (const struct sockaddr *)&in, sizeof(in));
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    if (failed == 0)
        return fd;
    close(fd);
    return -1;
}

static struct lks_load_pair pair_of(const struct lks_load_plan *plan, unsigned n)
{
    struct lks_load_pair pair = {plan->certificate, plan->key};
    return plan->pairs != NULL ? plan->pairs[n] : pair;
}

/* From now on nothing blocks. */
static bool watch(struct load *l, struct line *line)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = line};
    l->open++;
    return fcntl(line->fd, F_SETFL, O_NONBLOCK) == 0 &&
           epoll_ctl(l->epoll, EPOLL_CTL_ADD, line->fd, &event) == 0;
}

/* Blocking up to here, so that the handshake is one call. */
static enum lks_code open_line(struct load *l, struct line *line, struct lks_err *err)
{
    line->fd = dial(l->plan);
    if (line->fd < 0)
        return lks_fail(err, LKS_E_UNAVAILABLE, "connection %u: %s", line->number, strerror(errno));
    if (l->ctx != NULL) {
        line->ssl = SSL_new(l->ctx);
        if (line->ssl == NULL)
            return lks_fail_nomem(err);
        struct lks_load_pair pair = pair_of(l->plan, line->number);
        if (pair.certificate.len > 0 && !show(line->ssl, pair))
            return lks_fail(err, LKS_E_INVALID, "connection %u: no certificate", line->number);
        SSL_set_fd(line->ssl, line->fd);
        if (SSL_connect(line->ssl) != 1)
            return lks_fail(err, LKS_E_UNAVAILABLE, "connection %u: no TLS", line->number);
    }
    if (!watch(l, line))
        return lks_fail(err, LKS_E_IO, "connection %u: %s", line->number, strerror(errno));
    return LKS_OK;
}

static void close_line(struct load *l, struct line *line)
{
    SSL_free(line->ssl);
    line->ssl = NULL;
    if (line->fd >= 0) {
        close(line->fd);
        l->open--;
    }
    line->fd = -1;
    lks_buf_fini(&line->out);
    lks_http_answer_fini(&line->answer);
}

/* How many requests should have begun at this rate. */
static double due(const struct load *l, double per_second)
{
    return (now_ms() - l->began) / 1e3 * per_second;
}

static bool may_begin(const struct load *l, const struct line *line)
{
    const struct lks_load_plan *plan = l->plan;
    return line->fresh || (l->started < plan->requests &&
                           (plan->per_second == 0 || l->started < due(l, plan->per_second)));
}

static void begin(struct load *l, struct line *line)
{
    const struct lks_load_plan *plan = l->plan;
    if (!may_begin(l, line))
        return;
    if (!line->fresh)
        l->started++;
    if (line->out.max == 0)
        lks_buf_init(&line->out, ANSWER_MAX);
    if (line->out.len == 0 || plan->next != NULL) {
        if (line->out.len > 0)
            lks_buf_truncate(&line->out, 0);
        lks_buf_add(&line->out,
                    plan->next != NULL ? plan->next(plan->ctx, line->number) : plan->request);
    }
    lks_http_answer_fini(&line->answer);
    lks_http_answer_init(&line->answer, ANSWER_MAX, false);
    line->sent = 0;
    line->busy = true;
    line->began = now_ms();
}

/* Bytes moved, 0 for none now, -1 for never. */
static ssize_t tls_result(struct line *line, int result)
{
    if (result > 0)
        return result;
    int why = SSL_get_error(line->ssl, result);
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

static ssize_t plain_result(ssize_t result)
{
    return result > 0 ? result : result < 0 && errno == EAGAIN ? 0 : -1;
}

static ssize_t push(struct line *line)
{
    const char *from = line->out.ptr + line->sent;
    size_t left = line->out.len - line->sent;
    if (line->ssl != NULL)
        return tls_result(line, SSL_write(line->ssl, from, (int)left));
    return plain_result(send(line->fd, from, left, MSG_NOSIGNAL));
}

static ssize_t pull(struct line *line, char *out, size_t size)
{
    if (line->ssl != NULL)
        return tls_result(line, SSL_read(line->ssl, out, (int)size));
    return plain_result(recv(line->fd, out, size, 0));
}

static void finish(struct load *l, struct line *line)
{
    struct lks_load_result *r = &l->result;
    bool good = line->answer.status == l->plan->status;
    line->busy = false;
    r->bad += !good;
    if (line->fresh) {
        l->fresh_good += good;
        close_line(l, line);
        return;
    }
    l->ended++;
    if (good)
        l->took[r->good++] = (float)(now_ms() - line->began);
}

static void fail_line(struct load *l, struct line *line)
{
    l->ended += line->busy && !line->fresh;
    l->result.bad += line->busy;
    line->busy = false;
    close_line(l, line);
}

/* Everything that can be done on this connection without waiting. */
static void go_on(struct load *l, struct line *line)
{
    char chunk[16 * 1024];
    struct lks_err err;
    ERR_clear_error();
    while (line->fd >= 0) {
        ssize_t moved = 0;
        if (!line->busy)
            begin(l, line);
        if (line->busy && line->sent < line->out.len) {
            moved = push(line);
            line->sent += moved > 0 ? (size_t)moved : 0;
        } else {
            size_t taken = 0;
            moved = pull(line, chunk, sizeof(chunk));
            if (moved > 0 &&
                lks_http_answer_feed(&line->answer, (struct lks_str){chunk, (size_t)moved}, &taken,
                                     &err) != LKS_OK)
                moved = -1;
            if (moved > 0 && lks_http_answer_whole(&line->answer))
                finish(l, line);
        }
        if (moved < 0)
            fail_line(l, line);
        if (moved <= 0)
            return;
    }
}

/* A connection for one request: the handshake is part of sending it. */
static void open_fresh(struct load *l, struct line *line)
{
    line->fd = dial(l->plan);
    line->ssl = line->fd >= 0 ? SSL_new(l->ctx) : NULL;
    if (line->ssl == NULL || SSL_set_fd(line->ssl, line->fd) != 1 ||
        (line->shown != NULL && (SSL_use_certificate(line->ssl, line->shown) != 1 ||
                                 SSL_use_PrivateKey(line->ssl, line->key) != 1)) ||
        !watch(l, line)) {
        l->result.bad++;
        close_line(l, line);
        return;
    }
    SSL_set_connect_state(line->ssl);
    go_on(l, line);
}

/* What should have begun by now does, as far as there are connections that are free. */
static void keep_pace(struct load *l)
{
    const struct lks_load_plan *plan = l->plan;
    double wanted = due(l, plan->per_second), fresh = due(l, plan->fresh_per_second);
    for (unsigned n = 0; n < plan->connections && l->started < wanted; n++) {
        struct line *line = &l->lines[l->turn++ % plan->connections];
        if (line->fd >= 0 && !line->busy)
            go_on(l, line);
    }
    for (unsigned n = 0; n < plan->fresh && (double)l->fresh_started < fresh; n++) {
        struct line *line = &l->lines[plan->connections + l->fresh_turn++ % plan->fresh];
        if (line->fd >= 0)
            continue;
        l->fresh_started++;
        open_fresh(l, line);
    }
}

static enum lks_code open_lines(struct load *l, struct lks_err *err)
{
    const struct lks_load_plan *plan = l->plan;
    double start = now_ms();
    struct epoll_event told = {.events = EPOLLIN};
    for (unsigned n = 0; n < plan->connections; n++) {
        if (open_line(l, &l->lines[n], err) != LKS_OK)
            return err->code;
    }
    l->result.handshakes_per_second = plan->connections / (now_ms() - start) * 1e3;
    for (unsigned n = plan->connections; n < plan->connections + plan->fresh; n++) {
        struct line *line = &l->lines[n];
        line->fresh = true;
        struct lks_load_pair pair = pair_of(plan, n);
        if (pair.certificate.len > 0 && !read_pair(pair, &line->shown, &line->key))
            return lks_fail(err, LKS_E_INVALID, "connection %u: no certificate", n);
    }
    if (plan->until != NULL && epoll_ctl(l->epoll, EPOLL_CTL_ADD, *plan->until, &told) != 0)
        return lks_fail(err, LKS_E_IO, "%s", strerror(errno));
    return LKS_OK;
}

static enum lks_code run(struct load *l, struct lks_err *err)
{
    struct epoll_event events[EVENTS];
    const struct lks_load_plan *plan = l->plan;
    bool paced = plan->per_second > 0 || plan->fresh_per_second > 0;
    if (open_lines(l, err) != LKS_OK)
        return err->code;
    l->began = now_ms();
    for (unsigned n = 0; n < plan->connections; n++)
        go_on(l, &l->lines[n]);
    while (l->ended < plan->requests && l->open > 0 && !l->told) {
        int count = epoll_wait(l->epoll, events, EVENTS, paced ? PACE_MS : PATIENCE_MS);
        if (count == 0 && !paced)
            return lks_fail(err, LKS_E_TIMEOUT, "no answer for %d ms", PATIENCE_MS);
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr != NULL)
                go_on(l, events[i].data.ptr);
            l->told = l->told || events[i].data.ptr == NULL;
        }
        if (paced)
            keep_pace(l);
    }
    l->result.seconds = (now_ms() - l->began) / 1e3;
    return LKS_OK;
}

static int by_value(const void *left, const void *right)
{
    const float *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void sum_up(struct load *l)
{
    struct lks_load_result *r = &l->result;
    size_t count = (size_t)r->good;
    r->per_second = (double)r->good / r->seconds;
    r->fresh_per_second = (double)l->fresh_good / r->seconds;
    if (count == 0)
        return;
    qsort(l->took, count, sizeof(l->took[0]), by_value);
    r->p50_ms = (double)l->took[count / 2];
    r->p99_ms = (double)l->took[count - 1 - count / 100];
    r->max_ms = (double)l->took[count - 1];
}

static void load_fini(struct load *l, unsigned lines)
{
    for (unsigned n = 0; n < lines; n++) {
        close_line(l, &l->lines[n]);
        X509_free(l->lines[n].shown);
        EVP_PKEY_free(l->lines[n].key);
    }
    free(l->lines);
    free(l->took);
    SSL_CTX_free(l->ctx);
    if (l->epoll >= 0)
        close(l->epoll);
}

enum lks_code lks_load_run(const struct lks_load_plan *plan, struct lks_load_result *out,
                           struct lks_err *err)
{
    LKS_ASSERT(plan->connections > 0 && plan->connections <= LKS_LOAD_CONNECTIONS_MAX);
    LKS_ASSERT(plan->requests > 0 && plan->requests <= LKS_LOAD_REQUESTS_MAX);
    LKS_ASSERT(plan->fresh <= LKS_LOAD_CONNECTIONS_MAX && (plan->fresh == 0 || plan->path == NULL));
    struct load l = {.plan = plan, .epoll = epoll_create1(EPOLL_CLOEXEC)};
    unsigned lines = plan->connections + plan->fresh;
    l.lines = calloc(lines, sizeof(l.lines[0]));
    l.took = calloc(plan->requests, sizeof(l.took[0]));
    l.ctx = plan->path == NULL ? SSL_CTX_new(TLS_client_method()) : NULL;
    bool made =
        l.lines != NULL && l.took != NULL && l.epoll >= 0 && (l.ctx != NULL || plan->path != NULL);
    for (unsigned n = 0; made && n < lines; n++) {
        l.lines[n].fd = -1;
        l.lines[n].number = n;
    }
    enum lks_code code = made ? run(&l, err) : lks_fail_nomem(err);
    if (code == LKS_OK) {
        sum_up(&l);
        *out = l.result;
    }
    load_fini(&l, made ? lines : 0);
    return code;
}
