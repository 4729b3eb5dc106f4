#include "drivers/store/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SHOWN_MAX = 256, PID_TEXT_SIZE = 16, RANDOM_PART = 6 };

_Static_assert(LKS_CLAIM_PATH_MAX >= PATH_MAX, "realpath() writes as much");

static void close_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static enum lks_code fail_errno(struct lks_err *err, const char *path)
{
    static const struct {
        int number;
        enum lks_code code;
    } codes[] = {
        {ENOENT, LKS_E_NOT_FOUND},     {ENOTDIR, LKS_E_NOT_FOUND},  {EACCES, LKS_E_DENIED},
        {EPERM, LKS_E_DENIED},         {EROFS, LKS_E_DENIED},       {EEXIST, LKS_E_REFUSED},
        {ENAMETOOLONG, LKS_E_INVALID}, {ELOOP, LKS_E_INVALID},      {ENOMEM, LKS_E_NOMEM},
        {ENOSPC, LKS_E_UNAVAILABLE},   {EDQUOT, LKS_E_UNAVAILABLE}, {EMFILE, LKS_E_UNAVAILABLE},
        {ENFILE, LKS_E_UNAVAILABLE},
    };
    int number = errno;
    enum lks_code code = LKS_E_IO;
    for (size_t i = 0; i < LKS_COUNT(codes); i++) {
        if (codes[i].number == number)
            code = codes[i].code;
    }
    return lks_fail(err, code, "%.*s: %s", PATH_SHOWN_MAX, path, strerror(number));
}

/* Put the path and an ending together. */
static enum lks_code join(const char *path, const char *ending, char out[LKS_CLAIM_PATH_MAX],
                          struct lks_err *err)
{
    int len = snprintf(out, LKS_CLAIM_PATH_MAX, "%s%s", path, ending);
    if (len < 0 || len >= LKS_CLAIM_PATH_MAX)
        return lks_fail(err, LKS_E_INVALID, "%.*s...: the path is too long", PATH_SHOWN_MAX, path);
    return LKS_OK;
}

enum lks_code lks_claim_resolve(const char *path, bool write, char out[LKS_CLAIM_PATH_MAX],
                                struct lks_err *err)
{
    char whole[LKS_CLAIM_PATH_MAX];
    struct stat st;
    if (realpath(path, whole) == NULL || stat(whole, &st) != 0)
        return fail_errno(err, path);
    if (!S_ISREG(st.st_mode))
        return lks_fail(err, LKS_E_INVALID, "%.*s: is not a plain file", PATH_SHOWN_MAX, path);
    if (faccessat(AT_FDCWD, whole, write ? R_OK | W_OK : R_OK, AT_EACCESS) != 0)
        return fail_errno(err, path);
    if (write && st.st_nlink > 1)
        return lks_fail(err, LKS_E_REFUSED,
                        "%.*s: the file has %ju names, and another process might write it under "
                        "another one: keep one",
                        PATH_SHOWN_MAX, path, (uintmax_t)st.st_nlink);
    memcpy(out, whole, sizeof(whole));
    return LKS_OK;
}

/* The claimant's number is in the file, for the message alone: only the lock counts. */
static enum lks_code fail_taken(int fd, const char *path, struct lks_err *err)
{
    char text[PID_TEXT_SIZE] = {0};
    uint64_t pid = 0;
    ssize_t len = pread(fd, text, sizeof(text) - 1, 0);
    struct lks_str line = {text, len > 0 ? (size_t)len : 0}, rest;
    (void)lks_str_cut(line, '\n', &line, &rest);
    if (lks_str_number(line, INT32_MAX, &pid))
        return lks_fail(err, LKS_E_REFUSED, "%.*s: process %" PRIu64 " has it open", PATH_SHOWN_MAX,
                        path, pid);
    return lks_fail(err, LKS_E_REFUSED, "%.*s: another process has it open", PATH_SHOWN_MAX, path);
}

enum lks_code lks_claim_take(const char *path, int *fd, struct lks_err *err)
{
    char side[LKS_CLAIM_PATH_MAX];
    enum lks_code code = join(path, "-lock", side, err);
    if (code != LKS_OK)
        return code;
    int lock = open(side, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0)
        return fail_errno(err, side);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(lock, F_OFD_SETLK, &whole) != 0) {
        code = errno == EAGAIN || errno == EACCES ? fail_taken(lock, path, err)
                                                  : fail_errno(err, side);
        close(lock);
        return code;
    }
    char pid[PID_TEXT_SIZE];
    int len = snprintf(pid, sizeof(pid), "%" PRIdMAX "\n", (intmax_t)getpid());
    if (ftruncate(lock, 0) == 0)
        (void)!pwrite(lock, pid, (size_t)len, 0);
    *fd = lock;
    return LKS_OK;
}

enum lks_code lks_claim_draft(const char *path, char out[LKS_CLAIM_PATH_MAX], struct lks_err *err)
{
    char draft[LKS_CLAIM_PATH_MAX];
    enum lks_code code = join(path, "-new-......", draft, err);
    if (code != LKS_OK)
        return code;
    memset(draft + strlen(draft) - RANDOM_PART, 'X', RANDOM_PART); /* as mkostemp() wants it */
    LKS_CLEANUP(close_fd) int fd = mkostemp(draft, O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, path);
    memcpy(out, draft, sizeof(draft));
    return LKS_OK;
}

/* A name is durable once its folder is. */
static enum lks_code sync_folder(const char *path, struct lks_err *err)
{
    char folder[LKS_CLAIM_PATH_MAX];
    enum lks_code code = join(path, "", folder, err);
    if (code != LKS_OK)
        return code;
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[1] = '\0';
    LKS_CLEANUP(close_fd)
    int fd = open(slash != NULL ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0)
        return fail_errno(err, path);
    return LKS_OK;
}

enum lks_code lks_claim_publish(const char *draft, const char *path, struct lks_err *err)
{
    LKS_CLEANUP(close_fd) int fd = open(draft, O_RDONLY | O_CLOEXEC);
    enum lks_code code = LKS_OK;
    if (fd < 0 || fsync(fd) != 0 || link(draft, path) != 0)
        code = fail_errno(err, path);
    (void)unlink(draft);
    return code == LKS_OK ? sync_folder(path, err) : code;
}
