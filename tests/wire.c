#include "tests/wire.h"

#include "tests/test.h"
#include "tests/wait.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { GOT_MAX = 64 * 1024 * 1024 };

void lks_wire_round(uv_loop_t *loop)
{
    uv_run(loop, UV_RUN_NOWAIT);
    poll(NULL, 0, 1);
}

static void dial(struct lks_wire *w, uv_loop_t *loop, const struct sockaddr *to, socklen_t size)
{
    *w = (struct lks_wire){.loop = loop};
    lks_buf_init(&w->got, GOT_MAX);
    w->fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    CHECK(w->fd >= 0);
    int failed = connect(w->fd, to, size);
    CHECK(failed == 0 || errno == EINPROGRESS);
    uv_run(loop, UV_RUN_NOWAIT);
}

void lks_wire_tcp(struct lks_wire *w, uv_loop_t *loop, unsigned port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    dial(w, loop, (const struct sockaddr *)&to, sizeof(to));
}

void lks_wire_unix(struct lks_wire *w, uv_loop_t *loop, const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    LKS_ASSERT(strlen(path) < sizeof(to.sun_path));
    memcpy(to.sun_path, path, strlen(path) + 1);
    dial(w, loop, (const struct sockaddr *)&to, sizeof(to));
}

void lks_wire_close(struct lks_wire *w)
{
    SSL_free(w->ssl);
    SSL_CTX_free(w->ctx);
    if (w->loop != NULL && w->fd >= 0) /* one of zeroes was never dialled */
        close(w->fd);
    lks_buf_fini(&w->got);
    uv_loop_t *loop = w->loop;
    *w = (struct lks_wire){.loop = loop, .fd = -1};
}

static void show(SSL_CTX *ctx, const struct lks_pair *own)
{
    BIO *bio = BIO_new_mem_buf(own->certificate.ptr, (int)own->certificate.len);
    X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    bio = BIO_new_mem_buf(own->key.ptr, (int)own->key.len);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    BIO_free(bio);
    CHECK(SSL_CTX_use_certificate(ctx, certificate) == 1);
    CHECK(SSL_CTX_use_PrivateKey(ctx, key) == 1);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

/* Whether a call of libssl that gave `result` may be made again. */
static bool again(struct lks_wire *w, int result)
{
    int why = SSL_get_error(w->ssl, result);
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
}

bool lks_wire_tls(struct lks_wire *w, const struct lks_pair *own, int version, SSL_SESSION *session)
{
    w->ctx = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(w->ctx, version);
    SSL_CTX_set_max_proto_version(w->ctx, version);
    if (own != NULL)
        show(w->ctx, own);
    w->ssl = SSL_new(w->ctx);
    SSL_set_fd(w->ssl, w->fd);
    if (session != NULL)
        SSL_set_session(w->ssl, session);
    for (struct lks_wait wait = {0}; lks_wait_on(&wait);) {
        ERR_clear_error();
        int result = SSL_connect(w->ssl);
        if (result == 1)
            return true;
        if (!again(w, result))
            return false;
        lks_wire_round(w->loop);
    }
    return CHECK(false);
}

/* How many bytes left, 0 for none now, -1 for never. */
static ssize_t push(struct lks_wire *w, struct lks_str bytes)
{
    if (w->ssl == NULL) {
        ssize_t sent = send(w->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
        return sent < 0 && errno == EAGAIN ? 0 : sent;
    }
    ERR_clear_error();
    int result = SSL_write(w->ssl, bytes.ptr, (int)bytes.len);
    return result > 0 ? result : again(w, result) ? 0 : -1;
}

bool lks_wire_send(struct lks_wire *w, struct lks_str bytes)
{
    for (struct lks_wait wait = {0}; bytes.len > 0 && lks_wait_on(&wait);) {
        ssize_t sent = push(w, bytes);
        if (sent < 0)
            return false;
        bytes = (struct lks_str){bytes.ptr + sent, bytes.len - (size_t)sent};
        uv_run(w->loop, UV_RUN_NOWAIT);
    }
    return bytes.len == 0;
}

static void pull(struct lks_wire *w)
{
    char chunk[16 * 1024];
    for (bool more = true; more && !w->ended;) {
        ssize_t got;
        if (w->ssl != NULL) {
            ERR_clear_error();
            got = SSL_read(w->ssl, chunk, sizeof(chunk));
            more = got > 0;
            w->ended = got <= 0 && !again(w, (int)got);
        } else {
            got = recv(w->fd, chunk, sizeof(chunk), 0);
            more = got > 0;
            w->ended = got == 0 || (got < 0 && errno != EAGAIN);
        }
        if (got > 0)
            lks_buf_add(&w->got, (struct lks_str){chunk, (size_t)got});
    }
}

bool lks_wire_until(struct lks_wire *w, const char *text)
{
    for (struct lks_wait wait = {0}; lks_wait_on(&wait);) {
        bool ended = w->ended;
        pull(w);
        if (w->got.len > 0 && strstr(w->got.ptr, text) != NULL)
            return true;
        if (ended)
            return false;
        lks_wire_round(w->loop);
    }
    return false;
}

bool lks_wire_end(struct lks_wire *w, char drip)
{
    for (struct lks_wait wait = {0}; !w->ended && lks_wait_on(&wait);) {
        pull(w);
        if (drip != '\0' && !w->ended)
            push(w, (struct lks_str){&drip, 1});
        lks_wire_round(w->loop);
    }
    return w->ended;
}
