#include "agent/state/statedir.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCK_TRIES = 60, LOCK_REST_MS = 50 };

#define TEMPORARY ".tmp-" /* what the name begins with while a file is being written */

static enum lks_code fail_errno(struct lks_err *err, const struct lks_statedir *dir,
                                const char *name)
{
    int number = errno;
    enum lks_code code = number == ENOENT                      ? LKS_E_NOT_FOUND
                         : number == EACCES || number == EPERM ? LKS_E_DENIED
                                                               : LKS_E_IO;
    return lks_fail(err, code, "%s/%s: %s", dir->path, name, strerror(number));
}

static enum lks_code take_lock(struct lks_statedir *dir, struct lks_err *err)
{
    dir->lock = openat(dir->fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (dir->lock < 0) {
        dir->lock = 0;
        return fail_errno(err, dir, "lock");
    }
    /* A child of one that was killed has the lock, too, until it runs its own program. */
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(dir->lock, LOCK_EX | LOCK_NB) == 0)
            return LKS_OK;
        if (errno != EWOULDBLOCK)
            return fail_errno(err, dir, "lock");
        (void)poll(NULL, 0, LOCK_REST_MS);
    }
    return lks_fail(err, LKS_E_REFUSED,
                    "%s: another program is using it; stop that one, or choose another --state",
                    dir->path);
}

enum lks_code lks_statedir_open(const char *path, bool lock, struct lks_statedir *out,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_statedir_close) struct lks_statedir dir = {0};
    if ((size_t)snprintf(dir.path, sizeof(dir.path), "%s", path) >= sizeof(dir.path))
        return lks_fail(err, LKS_E_INVALID, "%.100s...: the path is too long", path);
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return lks_fail(err, errno == EACCES ? LKS_E_DENIED : LKS_E_IO, "cannot make %s: %s", path,
                        strerror(errno));
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return lks_fail(err, errno == EACCES ? LKS_E_DENIED : LKS_E_INVALID, "%s: %s", path,
                        strerror(errno));
    dir.fd = fd;
    if (lock && take_lock(&dir, err) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(dir);
    return LKS_OK;
}

void lks_statedir_close(struct lks_statedir *dir)
{
    if (dir->lock > 0)
        (void)close(dir->lock);
    if (dir->fd > 0)
        (void)close(dir->fd);
    *dir = (struct lks_statedir){0};
}

const char *lks_statedir_path(const struct lks_statedir *dir, const char *name,
                              char out[LKS_STATEDIR_PATH_MAX + LKS_STATEDIR_NAME_MAX])
{
    LKS_ASSERT(strlen(name) < LKS_STATEDIR_NAME_MAX);
    snprintf(out, LKS_STATEDIR_PATH_MAX + LKS_STATEDIR_NAME_MAX, "%s/%s", dir->path, name);
    return out;
}

enum lks_code lks_statedir_write(const struct lks_statedir *dir, const char *name,
                                 struct lks_str bytes, struct lks_err *err)
{
    char temporary[LKS_STATEDIR_NAME_MAX + sizeof(TEMPORARY)];
    snprintf(temporary, sizeof(temporary), TEMPORARY "%s", name);
    int fd =
        openat(dir->fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return fail_errno(err, dir, name);
    enum lks_code code = lks_file_put(fd, name, bytes, err);
    if (code == LKS_OK && fsync(fd) != 0)
        code = fail_errno(err, dir, name);
    if (close(fd) != 0 && code == LKS_OK)
        code = fail_errno(err, dir, name);
    if (code == LKS_OK)
        code = lks_statedir_rename(dir, temporary, name, err);
    if (code != LKS_OK)
        (void)unlinkat(dir->fd, temporary, 0);
    return code;
}

enum lks_code lks_statedir_read(const struct lks_statedir *dir, const char *name, size_t max,
                                struct lks_buf *out, struct lks_err *err)
{
    char path[LKS_STATEDIR_PATH_MAX + LKS_STATEDIR_NAME_MAX];
    lks_buf_init(out, max);
    return lks_file_read_plain(lks_statedir_path(dir, name, path), out, err);
}

enum lks_code lks_statedir_remove(const struct lks_statedir *dir, const char *name,
                                  struct lks_err *err)
{
    if (unlinkat(dir->fd, name, 0) != 0 && errno != ENOENT)
        return fail_errno(err, dir, name);
    return fsync(dir->fd) == 0 ? LKS_OK : fail_errno(err, dir, name);
}

enum lks_code lks_statedir_rename(const struct lks_statedir *dir, const char *from, const char *to,
                                  struct lks_err *err)
{
    if (renameat(dir->fd, from, dir->fd, to) != 0 || fsync(dir->fd) != 0)
        return fail_errno(err, dir, to);
    return LKS_OK;
}
