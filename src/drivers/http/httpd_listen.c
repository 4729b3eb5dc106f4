/* Where the server listens, and who is at the other end. */
#include "drivers/http/httpd_parts.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 4096, HOST_MAX = 255 };

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* Only what is still ours: another daemon may have taken the place. */
void lks_httpd_unlisten(struct lks_httpd *h)
{
    lks_unix_unlink(&h->unix_path);
}

/* "host:port" and "[host]:port"; the last colon ends the host. */
static enum lks_code resolve(const char *address, struct addrinfo **out, struct lks_err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct lks_str host = lks_str_from(address), port = lks_str_last(host, ':');
    char name[HOST_MAX + 1];
    uint64_t number = 0;
    bool good = port.len < host.len && lks_str_number(port, UINT16_MAX, &number);
    host.len -= good ? port.len + 1 : 0;
    bool bracketed = lks_str_starts(host, "[") && lks_str_ends(host, "]");
    if (bracketed)
        host = (struct lks_str){host.ptr + 1, host.len - 2};
    good = good && host.len > 0 && host.len <= HOST_MAX &&
           (bracketed || memchr(host.ptr, ':', host.len) == NULL);
    if (!good)
        return lks_fail(err, LKS_E_INVALID, "'%s': neither ADDRESS:PORT nor unix:/PATH", address);
    snprintf(name, sizeof(name), "%" LKS_STR_FMT, LKS_STR_ARG(host));
    bool here = strcmp(name, "localhost") == 0; /* which needs no look-up (RFC 6761) */
    if (here)
        hints.ai_flags &= ~AI_PASSIVE;
    int failed = getaddrinfo(here ? NULL : name, port.ptr, &hints, out);
    if (failed != 0)
        return lks_fail(err, LKS_E_INVALID, "%s: %s", address, gai_strerror(failed));
    return LKS_OK;
}

static enum lks_code bind_tcp(struct lks_httpd *h, const char *address, const struct addrinfo *to,
                              int fd, struct lks_err *err)
{
    const int on = 1;
    struct sockaddr_in6 bound = {0}; /* the port is at the same place in both families */
    socklen_t size = sizeof(bound);
    _Static_assert(offsetof(struct sockaddr_in6, sin6_port) ==
                       offsetof(struct sockaddr_in, sin_port),
                   "the port is at one offset");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, to->ai_addr, to->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&bound, &size) != 0)
        return lks_unix_listen_fail(address, "listen", err);
    h->port = ntohs(bound.sin6_port);
    return LKS_OK;
}

static enum lks_code listen_tcp(struct lks_httpd *h, const char *address, int *out,
                                struct lks_err *err)
{
    struct addrinfo *found = NULL;
    if (resolve(address, &found, err) != LKS_OK)
        return err->code;
    LKS_ASSERT(found != NULL);
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    enum lks_code code = fd >= 0 ? bind_tcp(h, address, found, fd, err)
                                 : lks_unix_listen_fail(address, "socket", err);
    freeaddrinfo(found);
    if (code == LKS_OK)
        *out = fd;
    else
        close_fd(&fd);
    return code;
}

enum lks_code lks_httpd_listen(struct lks_httpd *h, const char *address, mode_t mode, int *out,
                               struct lks_err *err)
{
    if (strncmp(address, "unix:", 5) != 0)
        return listen_tcp(h, address, out, err);
    return lks_unix_listen(address + 5, mode, &h->unix_path, out, err);
}

static void name_unix(struct lks_httpd_peer_state *peer)
{
    struct ucred who = {0};
    socklen_t size = sizeof(who);
    if (getsockopt(peer->fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
        return; /* stays anonymous */
    peer->peer.kind = LKS_PEER_UNIX;
    peer->peer.uid = who.uid;
    peer->peer.pid = who.pid;
    snprintf(peer->peer.address, sizeof(peer->peer.address), "unix:%u", (unsigned)who.uid);
}

/* An IPv4 address that came through an IPv6 socket is written as what it is. */
void lks_httpd_name_peer(struct lks_httpd_peer_state *peer)
{
    const struct sockaddr *from =
        MHD_get_connection_info(peer->exchange.connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
            ->client_addr;
    char *out = peer->peer.address;
    if (peer->httpd->trust == NULL) {
        name_unix(peer);
    } else if (from != NULL && from->sa_family == AF_INET) {
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)from)->sin_addr, out,
                  sizeof(peer->peer.address));
    } else if (from != NULL && from->sa_family == AF_INET6) {
        const struct in6_addr *a = &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
        bool mapped = IN6_IS_ADDR_V4MAPPED(a);
        inet_ntop(mapped ? AF_INET : AF_INET6, mapped ? (const void *)&a->s6_addr[12] : a, out,
                  sizeof(peer->peer.address));
    }
}
