/* Closing a connection whose request was answered before it was read to its end. A socket that is
 * closed with unread bytes resets the connection, and the sender may lose the answer. So bytes that
 * still come are read and thrown away, undecrypted, until the sender has closed or a limit is
 * reached: bytes and time of one connection, and connections of a listener. */
#include "drivers/http/httpd_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LINGER_MS = 5000,
    LINGER_BYTES = 1 << 20,
    LINGERS_MAX = 64,
    READ_SIZE = 16 << 10,
    READS_MAX = 4, /* at a time: others have their turn */
};

struct lks_httpd_linger {
    TAILQ_ENTRY(lks_httpd_linger) all;
    struct lks_httpd *httpd;
    uv_poll_t poll;
    int fd; /* our own, of the connection that the library closes */
    lks_ms deadline;
    size_t left;
};

static void on_closed(uv_handle_t *handle)
{
    struct lks_httpd_linger *l = handle->data;
    struct lks_httpd *h = l->httpd;
    free(l);
    lks_httpd_handle_closed(h);
}

/* The library may still have the connection, and finds its end then. */
static void end(struct lks_httpd_linger *l)
{
    TAILQ_REMOVE(&l->httpd->lingers, l, all);
    l->httpd->lingering--;
    uv_close((uv_handle_t *)&l->poll, on_closed);
    shutdown(l->fd, SHUT_RDWR);
    close(l->fd);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct lks_httpd_linger *l = poll->data;
    char bytes[READ_SIZE];
    ssize_t got = -1;
    (void)status, (void)events;
    for (unsigned i = 0; i < READS_MAX && l->left > 0; i++) {
        got = recv(l->fd, bytes, l->left < sizeof(bytes) ? l->left : sizeof(bytes), 0);
        if (got <= 0)
            break;
        l->left -= (size_t)got;
        l->httpd->counts.lingered_bytes += (size_t)got;
    }
    if (l->left == 0 || got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        end(l);
}

/* The oldest one makes way: a flood costs the listener no more than LINGERS_MAX descriptors. */
void lks_httpd_linger(struct lks_httpd_peer_state *peer)
{
    struct lks_httpd *h = peer->httpd;
    struct lks_httpd_linger *l = h->stopping ? NULL : calloc(1, sizeof(*l));
    peer->unread = false;
    if (l == NULL)
        return;
    shutdown(peer->fd, SHUT_WR);
    l->fd = fcntl(peer->fd, F_DUPFD_CLOEXEC, 0);
    if (l->fd < 0 || uv_poll_init(h->loop, &l->poll, l->fd) != 0) {
        if (l->fd >= 0)
            close(l->fd);
        free(l);
        return;
    }
    if (h->lingering == LINGERS_MAX)
        end(TAILQ_FIRST(&h->lingers));
    l->httpd = h;
    l->poll.data = l;
    l->left = LINGER_BYTES;
    l->deadline = uv_now(h->loop) + LINGER_MS;
    h->open_handles++;
    h->lingering++;
    h->counts.lingered++;
    TAILQ_INSERT_TAIL(&h->lingers, l, all);
    if (uv_poll_start(&l->poll, UV_READABLE, on_readable) != 0)
        end(l);
}

void lks_httpd_linger_until(struct lks_httpd *h, lks_ms now)
{
    struct lks_httpd_linger *l;
    while ((l = TAILQ_FIRST(&h->lingers)) != NULL && l->deadline <= now)
        end(l);
}
