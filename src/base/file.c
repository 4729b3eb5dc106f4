#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
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

static bool put_all(int fd, struct lks_str bytes)
{
    while (bytes.len > 0) {
        ssize_t put = write(fd, bytes.ptr, bytes.len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        bytes.ptr += put;
        bytes.len -= (size_t)put;
    }
    return true;
}

enum lks_code lks_file_put(int fd, const char *path, struct lks_str bytes, struct lks_err *err)
{
    return put_all(fd, bytes) ? LKS_OK : lks_file_fail(err, path);
}

static void parent_of(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    snprintf(out, PATH_MAX, "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1,
             slash != NULL ? path : ".");
}

/* The directory's own sync is what makes the new name durable. */
enum lks_code lks_file_sync_parent(const char *path, struct lks_err *err)
{
    char dir[PATH_MAX];
    parent_of(path, dir);
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

/* The failure that errno tells of, and what became of the file that was to be replaced. */
static enum lks_code fail_kept(struct lks_err *err, const char *path)
{
    struct lks_err why = {0};
    enum lks_code code = lks_file_fail(&why, path);
    if (code != LKS_E_IO)
        return lks_fail(err, code, "%s", why.msg);
    return lks_fail(err, code, "%s; the file is as it was before", why.msg);
}

/* Temporary files --------------------------------------------------------------------------- */

/* The name of a temporary file of NAME is NAME.<16 hex digits>.new. Its writer holds a lock on it,
 * which ends with the process: a temporary file without a lock is of a writer that was killed. */
#define TEMPORARY_END ".new"

enum {
    DIGITS = 16,
    TRIES_MAX = 16,      /* of names; one is nearly always enough */
    SCANNED_MAX = 10000, /* entries of a folder in which leftovers are looked for */
};

static bool is_temporary_of(const char *entry, struct lks_str name)
{
    struct lks_str rest = lks_str_from(entry);
    if (rest.len != name.len + 1 + DIGITS + strlen(TEMPORARY_END) ||
        memcmp(rest.ptr, name.ptr, name.len) != 0 || rest.ptr[name.len] != '.')
        return false;
    rest.ptr += name.len + 1;
    return strspn(rest.ptr, "0123456789abcdef") == DIGITS &&
           strcmp(rest.ptr + DIGITS, TEMPORARY_END) == 0;
}

/* A plain file of ours without a lock. */
static void remove_leftover(int dir, const char *name)
{
    struct stat st;
    LKS_CLEANUP(close_fd)
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)unlinkat(dir, name, 0);
}

static void remove_leftovers(const char *path)
{
    char folder[PATH_MAX];
    struct lks_str name = lks_str_last(lks_str_from(path), '/');
    parent_of(path, folder);
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    for (int i = 0; dir != NULL && i < SCANNED_MAX && (entry = readdir(dir)) != NULL; i++) {
        if (is_temporary_of(entry->d_name, name))
            remove_leftover(dirfd(dir), entry->d_name);
    }
    if (dir != NULL)
        (void)closedir(dir);
}

static enum lks_code name_temporary(const char *path, char out[PATH_MAX], struct lks_err *err)
{
    uint64_t number;
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return lks_file_fail(err, "getrandom");
    int len = snprintf(out, PATH_MAX, "%s.%016" PRIx64 TEMPORARY_END, path, number);
    if (len < 0 || len >= PATH_MAX)
        return lks_fail(err, LKS_E_INVALID, "%.*s...: too long for a path", PATH_SHOWN_MAX, path);
    return LKS_OK;
}

/* Between the open and the lock another process may have taken the file for a leftover: then it is
 * gone, or about to be. A file system without locks has no such process. */
static bool is_kept(int fd)
{
    struct stat st;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

enum lks_code lks_file_temporary_open(const char *path, mode_t mode, struct lks_file_temporary *out,
                                      struct lks_err *err)
{
    if (!may_replace(path))
        return lks_fail(err, LKS_E_INVALID, "%.*s: is there and is not a plain file",
                        PATH_SHOWN_MAX, path);
    remove_leftovers(path);
    for (int i = 0; i < TRIES_MAX; i++) {
        LKS_CLEANUP(lks_file_temporary_fini) struct lks_file_temporary t = {0};
        if (name_temporary(path, t.path, err) != LKS_OK)
            return err->code;
        int fd = open(t.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
        if (fd < 0 && errno == EEXIST)
            continue;
        if (fd < 0)
            return fail_kept(err, path);
        t.fd = fd;
        if (!is_kept(fd))
            continue;
        *out = LKS_MOVE(t);
        return LKS_OK;
    }
    return lks_fail(err, LKS_E_IO, "%.*s: no name for a temporary file is free", PATH_SHOWN_MAX,
                    path);
}

enum lks_code lks_file_temporary_place(struct lks_file_temporary *t, const char *path,
                                       struct lks_err *err)
{
    if (fsync(t->fd) != 0 || rename(t->path, path) != 0)
        return fail_kept(err, path);
    close_fd(&t->fd);
    *t = (struct lks_file_temporary){0};
    return lks_file_sync_parent(path, err);
}

void lks_file_temporary_fini(struct lks_file_temporary *t)
{
    if (t->fd > 0) {
        (void)unlink(t->path); /* while it is locked, so that no other file has the name */
        close_fd(&t->fd);
    }
    *t = (struct lks_file_temporary){0};
}

/* Replacing --------------------------------------------------------------------------------- */

enum lks_code lks_file_replaceable(const char *path, struct lks_err *err)
{
    enum { OWNER_ALONE = 0600 };
    LKS_CLEANUP(lks_file_temporary_fini) struct lks_file_temporary t = {0};
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return lks_fail(err, LKS_E_INVALID, "%.*s: is a directory, not a file", PATH_SHOWN_MAX,
                        path);
    return lks_file_temporary_open(path, OWNER_ALONE, &t, err);
}

enum lks_code lks_file_replace(const char *path, struct lks_str bytes, struct lks_err *err)
{
    enum { OWNER_ALONE = 0600 };
    return lks_file_replace_as(path, OWNER_ALONE, bytes, err);
}

/* The umask took rights from the file when it was made. */
static bool has_mode(int fd, mode_t mode)
{
    enum { RIGHTS = 07777 };
    struct stat st;
    return fstat(fd, &st) == 0 && ((st.st_mode & RIGHTS) == mode || fchmod(fd, mode) == 0);
}

enum lks_code lks_file_replace_as(const char *path, mode_t mode, struct lks_str bytes,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_file_temporary_fini) struct lks_file_temporary t = {0};
    if (lks_file_temporary_open(path, mode, &t, err) != LKS_OK)
        return err->code;
    if (!has_mode(t.fd, mode) || !put_all(t.fd, bytes))
        return fail_kept(err, path);
    return lks_file_temporary_place(&t, path, err);
}
