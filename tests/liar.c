#include "tests/liar.h"

#include "tests/test.h"
#include "tests/wait.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { HEARD_MAX = 16 * 1024 * 1024, DRIP_MS = 5 };

struct line {
    int fd;
    SSL *ssl;
};

static bool readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, LKS_WAIT_MS) > 0;
}

static ssize_t take(struct line *line, char *out, size_t size)
{
    if (line->ssl == NULL)
        return readable(line->fd) ? recv(line->fd, out, size, 0) : -1;
    if (SSL_pending(line->ssl) == 0 && !readable(line->fd))
        return -1;
    return SSL_read(line->ssl, out, (int)size);
}

static bool say(struct line *line, struct lks_str text)
{
    if (text.len == 0)
        return true;
    if (line->ssl != NULL)
        return SSL_write(line->ssl, text.ptr, (int)text.len) == (int)text.len;
    return send(line->fd, text.ptr, text.len, MSG_NOSIGNAL) == (ssize_t)text.len;
}

/* A request: its headers, and the body they announce unless `head` is all that is wanted. */
static bool hear(struct lks_liar *l, struct line *line, bool head)
{
    char chunk[16 * 1024];
    size_t from = l->heard.len;
    for (;;) {
        struct lks_str got = lks_buf_view(&l->heard);
        got = (struct lks_str){got.ptr + from, got.len - from};
        ptrdiff_t end = got.len > 0 ? lks_str_find(got, LKS_STR("\r\n\r\n")) : -1;
        ptrdiff_t length = got.len > 0 ? lks_str_find(got, LKS_STR("Content-Length: ")) : -1;
        uint64_t size = 0;
        if (end >= 0 && length >= 0) {
            struct lks_str rest = {got.ptr + length + 16, got.len - (size_t)length - 16}, number;
            lks_str_cut(rest, '\r', &number, &rest);
            lks_str_number(number, HEARD_MAX, &size);
        }
        if (end >= 0 && (head || got.len >= (size_t)end + 4 + size))
            return true;
        ssize_t more = take(line, chunk, sizeof(chunk));
        if (more <= 0)
            return false;
        lks_buf_add(&l->heard, (struct lks_str){chunk, (size_t)more});
    }
}

static void drain(struct line *line)
{
    char chunk[16 * 1024];
    while (take(line, chunk, sizeof(chunk)) > 0)
        ;
}

static void drip(struct line *line, struct lks_str text)
{
    bool going = say(line, text);
    for (struct lks_wait w = {0}; going && lks_wait_on(&w);) {
        going = say(line, LKS_STR("x"));
        poll(NULL, 0, DRIP_MS);
    }
}

/* False when the connection is over after it. */
static bool act(struct lks_liar *l, struct line *line, const struct lks_liar_turn *turn)
{
    if (!hear(l, line, turn->act == LKS_LIAR_EARLY))
        return false;
    switch (turn->act) {
    case LKS_LIAR_ANSWER:
        return say(line, turn->text);
    case LKS_LIAR_CLOSE:
        say(line, turn->text);
        if (line->ssl != NULL)
            SSL_shutdown(line->ssl);
        return false;
    case LKS_LIAR_DRIP:
        drip(line, turn->text);
        return false;
    case LKS_LIAR_SILENT:
    case LKS_LIAR_EARLY:
        say(line, turn->text);
        drain(line);
        return false;
    case LKS_LIAR_CUT:
    case LKS_LIAR_DEAF:
    case LKS_LIAR_GARBAGE:
        say(line, turn->text);
        return false;
    }
    return false;
}

static bool greet(struct lks_liar *l, struct line *line)
{
    if (l->ctx == NULL)
        return true;
    line->ssl = SSL_new(l->ctx);
    SSL_set_fd(line->ssl, line->fd);
    if (SSL_accept(line->ssl) != 1)
        return false;
    l->reused += SSL_session_reused(line->ssl) == 1;
    l->shown += SSL_get0_peer_certificate(line->ssl) != NULL;
    return true;
}

static void talk(struct lks_liar *l, int fd, size_t *turn)
{
    struct line line = {.fd = fd};
    const struct timeval patience = {.tv_sec = LKS_WAIT_MS / 1000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (l->turns[*turn].act == LKS_LIAR_DEAF || l->turns[*turn].act == LKS_LIAR_GARBAGE) {
        say(&line, l->turns[*turn].text);
        if (l->turns[*turn].act == LKS_LIAR_DEAF)
            drain(&line);
        ++*turn;
    } else if (greet(l, &line)) {
        while (*turn < l->turn_count && act(l, &line, &l->turns[*turn]))
            ++*turn;
        *turn += *turn < l->turn_count;
    } else {
        ++*turn;
    }
    ERR_clear_error();
    SSL_free(line.ssl);
    close(fd);
}

/* A request that has no reply gets one that no client can take for an answer. */
static void reply(struct lks_liar *l, int fd)
{
    struct line line = {.fd = fd};
    size_t from = l->heard.len;
    if (!hear(l, &line, false))
        return;
    struct lks_str asked = {l->heard.ptr + from, l->heard.len - from};
    for (size_t i = 0; i < l->reply_count; i++) {
        if (!lks_str_starts(asked, l->replies[i].request))
            continue;
        say(&line, l->replies[i].text);
        return;
    }
    l->unplayed++;
    say(&line, LKS_STR("HTTP/1.1 501 x\r\nContent-Length: 0\r\n\r\n"));
}

static void *serve_replies(void *ctx)
{
    struct lks_liar *l = ctx;
    for (int fd; (fd = accept(l->fd, NULL, NULL)) >= 0; close(fd)) {
        l->accepted++;
        reply(l, fd);
    }
    return NULL;
}

static void *serve(void *ctx)
{
    struct lks_liar *l = ctx;
    for (size_t turn = 0; turn < l->turn_count && readable(l->fd);) {
        int fd = accept(l->fd, NULL, NULL);
        if (fd < 0)
            break;
        l->accepted++;
        talk(l, fd, &turn);
    }
    return NULL;
}

static SSL_CTX *prepare(const struct lks_liar *l)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    BIO *certificate = BIO_new_mem_buf(l->own->certificate.ptr, (int)l->own->certificate.len);
    BIO *key = BIO_new_mem_buf(l->own->key.ptr, (int)l->own->key.len);
    X509 *own = PEM_read_bio_X509(certificate, NULL, NULL, NULL);
    EVP_PKEY *secret = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);
    CHECK(SSL_CTX_use_certificate(ctx, own) == 1 && SSL_CTX_use_PrivateKey(ctx, secret) == 1);
    if (l->version_max != 0) {
        SSL_CTX_set_min_proto_version(ctx, 0);
        SSL_CTX_set_max_proto_version(ctx, l->version_max);
        SSL_CTX_set_security_level(ctx, 0);
    }
    SSL_CTX_set_session_id_context(ctx, (const unsigned char *)"liar", 4);
    if (l->authority != NULL) {
        BIO *text =
            BIO_new_mem_buf(l->authority->certificate.ptr, (int)l->authority->certificate.len);
        X509 *authority = PEM_read_bio_X509(text, NULL, NULL, NULL);
        X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), authority);
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
        X509_free(authority);
        BIO_free(text);
    }
    X509_free(own);
    EVP_PKEY_free(secret);
    BIO_free(certificate);
    BIO_free(key);
    return ctx;
}

void lks_liar_start(struct lks_liar *l)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    socklen_t size = sizeof(in);
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    lks_buf_init(&l->heard, HEARD_MAX);
    l->fd = socket(l->path != NULL ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (l->path != NULL) {
        LKS_ASSERT(strlen(l->path) < sizeof(un.sun_path));
        memcpy(un.sun_path, l->path, strlen(l->path) + 1);
        CHECK(bind(l->fd, (const struct sockaddr *)&un, sizeof(un)) == 0);
    } else {
        CHECK(bind(l->fd, (const struct sockaddr *)&in, sizeof(in)) == 0);
        CHECK(getsockname(l->fd, (struct sockaddr *)&in, &size) == 0);
        l->port = ntohs(in.sin_port);
    }
    CHECK(listen(l->fd, 16) == 0);
    l->ctx = l->own != NULL ? prepare(l) : NULL;
    l->running =
        pthread_create(&l->thread, NULL, l->reply_count > 0 ? serve_replies : serve, l) == 0;
    CHECK(l->running);
}

void lks_liar_join(struct lks_liar *l)
{
    if (l->reply_count > 0)
        (void)shutdown(l->fd, SHUT_RDWR); /* it has no last turn */
    if (l->running)
        pthread_join(l->thread, NULL);
    l->running = false;
}

void lks_liar_fini(struct lks_liar *l)
{
    (void)shutdown(l->fd, SHUT_RDWR); /* no further connection comes */
    lks_liar_join(l);
    SSL_CTX_free(l->ctx);
    close(l->fd);
    lks_buf_fini(&l->heard);
}
