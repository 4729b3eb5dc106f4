#include "drivers/http/unix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 4096 };

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

enum lks_code lks_unix_listen_fail(const char *address, const char *what, struct lks_err *err)
{
    enum lks_code code = errno == EACCES || errno == EPERM ? LKS_E_DENIED
                         : errno == EADDRINUSE             ? LKS_E_REFUSED
                         : errno == EADDRNOTAVAIL          ? LKS_E_INVALID
                                                           : LKS_E_IO;
    if (errno == EADDRINUSE)
        return lks_fail(err, code,
                        "%s: another program has this address, perhaps one started before; end "
                        "that one, or choose another address",
                        address);
    return lks_fail(err, code, "%s: %s: %s", address, what, strerror(errno));
}

/* A socket without an answer was left by a daemon that was killed; one that answers, and anything
 * that is no socket, stays. */
static enum lks_code clear_path(const struct sockaddr_un *at, struct lks_err *err)
{
    struct stat st;
    if (lstat(at->sun_path, &st) != 0)
        return errno == ENOENT ? LKS_OK : lks_unix_listen_fail(at->sun_path, "stat", err);
    if (!S_ISSOCK(st.st_mode))
        return lks_fail(err, LKS_E_REFUSED, "%s: is there already and is no socket", at->sun_path);
    LKS_CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return lks_unix_listen_fail(at->sun_path, "socket", err);
    if (connect(fd, (const struct sockaddr *)at, sizeof(*at)) == 0 || errno != ECONNREFUSED)
        return lks_fail(err, LKS_E_REFUSED, "%s: another program listens there", at->sun_path);
    return unlink(at->sun_path) == 0 ? LKS_OK : lks_unix_listen_fail(at->sun_path, "remove", err);
}

/* The mode is on the socket before it has a name, so that it is never open wider; the second change
 * gives back what the umask took. */
static enum lks_code bind_path(const char *path, mode_t mode, int fd, struct lks_unix_path *name,
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
        return lks_unix_listen_fail(path, "bind", err);
    name->path = strdup(path);
    if (name->path == NULL) {
        unlink(path);
        return lks_fail_nomem(err);
    }
    if (chmod(path, mode) != 0 || stat(path, &st) != 0)
        return lks_unix_listen_fail(path, "chmod", err);
    name->device = st.st_dev;
    name->inode = st.st_ino;
    if (listen(fd, BACKLOG) != 0)
        return lks_unix_listen_fail(path, "listen", err);
    return LKS_OK;
}

enum lks_code lks_unix_listen(const char *path, mode_t mode, struct lks_unix_path *name, int *out,
                              struct lks_err *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return lks_unix_listen_fail(path, "socket", err);
    enum lks_code code = bind_path(path, mode, fd, name, err);
    if (code == LKS_OK)
        *out = fd;
    else
        close(fd);
    return code;
}

void lks_unix_unlink(struct lks_unix_path *name)
{
    struct stat st;
    if (name->path == NULL)
        return;
    if (lstat(name->path, &st) == 0 && st.st_dev == name->device && st.st_ino == name->inode)
        unlink(name->path);
    free(name->path);
    name->path = NULL;
}
