/* Where the server listens, and who is at the other end. */
#include "drivers/http_mhd_parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 4096, HOST_MAX = 255 };

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static enum lks_code fail_errno(const char *address, const char *what, struct lks_err *err)
{
    enum lks_code code = errno == EACCES || errno == EPERM ? LKS_E_DENIED
                         : errno == EADDRINUSE             ? LKS_E_REFUSED
                         : errno == EADDRNOTAVAIL          ? LKS_E_INVALID
                                                           : LKS_E_IO;
    if (errno == EADDRINUSE)
        return lks_fail(err, code,
                        "%s: another program has this address, perhaps another lockstepd; end that "
                        "one, or choose another address",
                        address);
    return lks_fail(err, code, "%s: %s: %s", address, what, strerror(errno));
}

/* A socket that nobody answers at is what a daemon left that was killed; one that somebody answers
 * at, and anything that is no socket, stays. */
static enum lks_code clear_path(const struct sockaddr_un *at, struct lks_err *err)
{
    struct stat st;
    if (lstat(at->sun_path, &st) != 0)
        return errno == ENOENT ? LKS_OK : fail_errno(at->sun_path, "stat", err);
    if (!S_ISSOCK(st.st_mode))
        return lks_fail(err, LKS_E_REFUSED, "%s: is there already and is no socket", at->sun_path);
    LKS_CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return fail_errno(at->sun_path, "socket", err);
    if (connect(fd, (const struct sockaddr *)at, sizeof(*at)) == 0 || errno != ECONNREFUSED)
        return lks_fail(err, LKS_E_REFUSED, "%s: another program listens there", at->sun_path);
    return unlink(at->sun_path) == 0 ? LKS_OK : fail_errno(at->sun_path, "remove", err);
}

/* The mode is on the socket before it has a name, so that it is never open wider; the second change
 * gives back what the umask took. */
static enum lks_code listen_unix(struct lks_httpd *h, const char *path, mode_t mode, int fd,
                                 struct lks_err *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct stat st;
    if (path[0] != '/' || strlen(path) >= sizeof(at.sun_path))
        return lks_fail(err, LKS_E_INVALID, "unix:%s: not an absolute path of at most %zu bytes",
                        path, sizeof(at.sun_path) - 1);
    memcpy(at.sun_path, path, strlen(path) + 1);
    if (clear_path(&at, err) != LKS_OK)
        return err->code;
    if (fchmod(fd, mode) != 0 || bind(fd, (const struct sockaddr *)&at, sizeof(at)) != 0)
        return fail_errno(path, "bind", err);
    h->unix_path = strdup(path);
    if (h->unix_path == NULL) {
        unlink(path);
        return lks_fail_nomem(err);
    }
    if (chmod(path, mode) != 0 || stat(path, &st) != 0)
        return fail_errno(path, "chmod", err);
    h->unix_device = st.st_dev;
    h->unix_inode = st.st_ino;
    return LKS_OK;
}

/* Only what is still ours: another daemon may have taken the place. */
void lks_httpd_unlisten(struct lks_httpd *h)
{
    struct stat st;
    if (h->unix_path == NULL)
        return;
    if (lstat(h->unix_path, &st) == 0 && st.st_dev == h->unix_device && st.st_ino == h->unix_inode)
        unlink(h->unix_path);
    free(h->unix_path);
    h->unix_path = NULL;
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
                   "one look is enough");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, to->ai_addr, to->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&bound, &size) != 0)
        return fail_errno(address, "listen", err);
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
    enum lks_code code =
        fd >= 0 ? bind_tcp(h, address, found, fd, err) : fail_errno(address, "socket", err);
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
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return fail_errno(address, "socket", err);
    enum lks_code code = listen_unix(h, address + 5, mode, fd, err);
    if (code == LKS_OK && listen(fd, BACKLOG) != 0)
        code = fail_errno(address, "listen", err);
    if (code == LKS_OK)
        *out = fd;
    else
        close(fd);
    return code;
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
