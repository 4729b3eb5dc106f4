#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SHOWN_MAX = 256 }; /* of a path in a message: the reason must fit behind it */

static void close_fd(int *fd)
{
    if (*fd > STDIN_FILENO)
        close(*fd);
}

static enum lks_code fail_errno(struct lks_err *err, const char *path)
{
    enum lks_code code = errno == ENOENT || errno == ENOTDIR ? LKS_E_NOT_FOUND
                         : errno == EACCES || errno == EPERM ? LKS_E_DENIED
                         : errno == EISDIR || errno == ENAMETOOLONG || errno == ELOOP
                             ? LKS_E_INVALID
                             : LKS_E_IO;
    return lks_fail(err, code, "%.*s: %s", PATH_SHOWN_MAX, path, strerror(errno));
}

static enum lks_code read_all(int fd, const char *path, struct lks_buf *out, struct lks_err *err)
{
    char chunk[64 * 1024];
    while (out->failed == LKS_OK) {
        ssize_t got = read(fd, chunk, sizeof(chunk));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_errno(err, path);
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
        return read_all(STDIN_FILENO, "standard input", out, err);

    LKS_CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return fail_errno(err, path);
    if (S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode))
        return lks_fail(err, LKS_E_INVALID, "%s: is a %s, not a file", path,
                        S_ISDIR(st.st_mode) ? "directory" : "device");
    return read_all(fd, path, out, err);
}

enum lks_code lks_file_read_plain(const char *path, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return fail_errno(err, path);
    if (!S_ISREG(st.st_mode))
        return lks_fail(err, LKS_E_INVALID, "%.*s: is not a plain file", PATH_SHOWN_MAX, path);
    return read_all(fd, path, out, err);
}
