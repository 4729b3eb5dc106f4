#include "agent/hooks/notify.h"

#include "probe/root/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { REST_MS = 20, STATE_MAX = 64 };

void lks_notify_close(struct lks_notify *n)
{
    if (n->fd > 0)
        (void)close(n->fd);
    if (n->dir > 0)
        (void)close(n->dir);
    *n = (struct lks_notify){0};
}

/* A folder that others can write to may have a socket of theirs, which hears of every check. */
static enum lks_code open_folder(const char *path, struct lks_notify *n, struct stat *st,
                                 struct lks_err *err)
{
    int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return lks_fail(err, errno == ENOENT ? LKS_E_UNAVAILABLE : LKS_E_DENIED,
                        "%s: %s; start lockstep-agent with --run %s", path, strerror(errno), path);
    n->dir = fd;
    if (fstat(fd, st) != 0)
        return lks_fail(err, LKS_E_IO, "%s: %s", path, strerror(errno));
    if ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return lks_fail(err, LKS_E_DENIED,
                        "%s: other users can write to it; make it a folder of mode 0700", path);
    return LKS_OK;
}

enum lks_code lks_notify_open(const char *path, struct lks_notify *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_notify_close) struct lks_notify n = {0};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat folder = {0}, st = {0};
    if (open_folder(path, &n, &folder, err) != LKS_OK)
        return err->code;
    if (fstatat(n.dir, LKS_NOTICE_SOCKET, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return lks_fail(err, errno == ENOENT ? LKS_E_UNAVAILABLE : LKS_E_DENIED,
                        "%s/" LKS_NOTICE_SOCKET ": %s; start lockstep-agent", path,
                        strerror(errno));
    if (!S_ISSOCK(st.st_mode) || st.st_uid != folder.st_uid)
        return lks_fail(err, LKS_E_DENIED,
                        "%s/" LKS_NOTICE_SOCKET " is not a socket of the owner of the folder; "
                        "remove it and restart lockstep-agent",
                        path);
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" LKS_NOTICE_SOCKET,
             n.dir);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return lks_fail(err, LKS_E_IO, "cannot make a socket: %s", strerror(errno));
    n.fd = fd;
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        return lks_fail(err, LKS_E_UNAVAILABLE,
                        "%s/" LKS_NOTICE_SOCKET ": %s; start lockstep-agent", path,
                        strerror(errno));
    *out = LKS_MOVE(n);
    return LKS_OK;
}

bool lks_notify_in_service(const struct lks_notify *n)
{
    char text[STATE_MAX];
    struct stat st;
    int fd = openat(n->dir, LKS_NOTICE_STATE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t len = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, text, sizeof(text)) : -1;
    (void)close(fd);
    return len > 0 && lks_str_is((struct lks_str){text, (size_t)len}, LKS_NOTICE_IN_SERVICE);
}

enum lks_code lks_notify_send(const struct lks_notify *n, const struct lks_notice *notice,
                              struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_NOTICE_BYTES_MAX);
    int64_t until = lks_clock_ms() + LKS_NOTIFY_WAIT_MS;
    lks_notice_pack(notice, &bytes);
    if (lks_buf_check(&bytes, err) != LKS_OK)
        return err->code;
    while (send(n->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS)
            return lks_fail(err, LKS_E_UNAVAILABLE, "the agent ended meanwhile: %s",
                            strerror(errno));
        if (lks_clock_ms() >= until)
            return lks_fail(err, LKS_E_TIMEOUT,
                            "the agent took no notice for %d s; is lockstep-agent stopped?",
                            LKS_NOTIFY_WAIT_MS / 1000);
        (void)poll(NULL, 0, REST_MS);
    }
    return LKS_OK;
}
