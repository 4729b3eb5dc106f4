#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SHOWN_MAX = 256 }; /* of a path in a message: the reason must fit behind it */

static void close_fd(int *fd)
{
    if (*fd > STDIN_FILENO)
        close(*fd);
}

static enum lks_code code_of(int number)
{
    switch (number) {
    case ENOENT:
    case ENOTDIR:
        return LKS_E_NOT_FOUND;
    case EACCES:
    case EPERM:
        return LKS_E_DENIED;
    case EISDIR:
    case EEXIST:
    case ENAMETOOLONG:
    case ELOOP:
        return LKS_E_INVALID;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return LKS_E_UNAVAILABLE;
    default:
        return LKS_E_IO;
    }
}

enum lks_code lks_file_fail(struct lks_err *err, const char *path)
{
    return lks_fail(err, code_of(errno), "%.*s: %s", PATH_SHOWN_MAX, path, strerror(errno));
}

enum lks_code lks_file_read_fd(int fd, const char *path, struct lks_buf *out, struct lks_err *err)
{
    char chunk[64 * 1024];
    while (out->failed == LKS_OK) {
        ssize_t got = read(fd, chunk, sizeof(chunk));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return lks_file_fail(err, path);
        if (got == 0)
            break;
        lks_buf_add(out, (struct lks_str){chunk, (size_t)got});
    }
    if (lks_buf_check(out, err) != LKS_OK)
        return lks_wrap(err, "%s", path);
    return LKS_OK;
}

enum lks_code lks_file_read(const char *path, struct lks_buf *out, struct lks_err *err)
{
    if (strcmp(path, "-") == 0)
        return lks_file_read_fd(STDIN_FILENO, "standard input", out, err);

    LKS_CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return lks_file_fail(err, path);
    if (S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode))
        return lks_fail(err, LKS_E_INVALID, "%s: is a %s, not a file", path,
                        S_ISDIR(st.st_mode) ? "directory" : "device");
    return lks_file_read_fd(fd, path, out, err);
}

enum lks_code lks_file_read_plain(const char *path, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return lks_file_fail(err, path);
    if (!S_ISREG(st.st_mode))
        return lks_fail(err, LKS_E_INVALID, "%.*s: is not a plain file", PATH_SHOWN_MAX, path);
    return lks_file_read_fd(fd, path, out, err);
}

enum lks_code lks_file_put(int fd, const char *path, struct lks_str bytes, struct lks_err *err)
{
    while (bytes.len > 0) {
        ssize_t put = write(fd, bytes.ptr, bytes.len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return lks_file_fail(err, path);
        bytes.ptr += put;
        bytes.len -= (size_t)put;
    }
    return LKS_OK;
}

/* The directory's own sync is what makes the new name durable. */
enum lks_code lks_file_sync_parent(const char *path, struct lks_err *err)
{
    char dir[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(dir, sizeof(dir), "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1,
             slash != NULL ? path : ".");
    LKS_CLEANUP(close_fd) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 && fsync(fd) == 0 ? LKS_OK : lks_file_fail(err, dir);
}

/* Whole, or not there. */
static enum lks_code write_new(const char *path, mode_t mode, struct lks_str bytes,
                               struct lks_err *err)
{
    LKS_CLEANUP(close_fd)
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0)
        return lks_file_fail(err, path);
    enum lks_code code = lks_file_put(fd, path, bytes, err);
    if (code == LKS_OK && fsync(fd) != 0)
        code = lks_file_fail(err, path);
    if (code != LKS_OK)
        (void)unlink(path);
    return code;
}

enum lks_code lks_file_new(const char *path, mode_t mode, struct lks_str bytes, struct lks_err *err)
{
    return write_new(path, mode, bytes, err) == LKS_OK ? lks_file_sync_parent(path, err)
                                                       : err->code;
}

/* Devices, pipes and sockets are not ours to replace, nor is a link to one. What is not there is.
 */
static bool may_replace(const char *path)
{
    struct stat st;
    return lstat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ||
           (S_ISLNK(st.st_mode) && (stat(path, &st) != 0 || S_ISREG(st.st_mode)));
}

enum lks_code lks_file_replace(const char *path, struct lks_str bytes, struct lks_err *err)
{
    enum { OWNER_ALONE = 0600 };
    return lks_file_replace_as(path, OWNER_ALONE, bytes, err);
}

/* The name beside `path` that its new content has until it is whole; INVALID where nothing of ours
 * can stand at `path`. */
static enum lks_code name_temporary(const char *path, char out[PATH_MAX], struct lks_err *err)
{
    int len = snprintf(out, PATH_MAX, "%s.new", path);
    if (len < 0 || len >= PATH_MAX)
        return lks_fail(err, LKS_E_INVALID, "%.*s...: too long for a path", PATH_SHOWN_MAX, path);
    if (!may_replace(path))
        return lks_fail(err, LKS_E_INVALID, "%.*s: is there and is not a plain file",
                        PATH_SHOWN_MAX, path);
    return LKS_OK;
}

enum lks_code lks_file_replaceable(const char *path, struct lks_err *err)
{
    char temporary[PATH_MAX];
    struct stat st;
    if (name_temporary(path, temporary, err) != LKS_OK)
        return err->code;
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return lks_fail(err, LKS_E_INVALID, "%.*s: is a directory, not a file", PATH_SHOWN_MAX,
                        path);
    (void)unlink(temporary);
    LKS_CLEANUP(close_fd)
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return lks_file_fail(err, path);
    (void)unlink(temporary);
    return LKS_OK;
}

enum lks_code lks_file_replace_as(const char *path, mode_t mode, struct lks_str bytes,
                                  struct lks_err *err)
{
    char temporary[PATH_MAX];
    if (name_temporary(path, temporary, err) != LKS_OK)
        return err->code;
    (void)unlink(temporary); /* of a writer that was killed */
    enum lks_code code = write_new(temporary, mode, bytes, err);
    if (code == LKS_OK && rename(temporary, path) != 0)
        code = lks_file_fail(err, path);
    if (code != LKS_OK) {
        (void)unlink(temporary);
        return code;
    }
    return lks_file_sync_parent(path, err);
}
