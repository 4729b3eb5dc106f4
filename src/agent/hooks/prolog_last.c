#include "agent/hooks/prolog_last.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum lks_code lks_prolog_last_open(const char *path, int *out, struct lks_err *err)
{
    struct stat st;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return lks_fail(err, LKS_E_IO, "--state %s: %s", path, strerror(errno));
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return lks_fail(err, LKS_E_IO, "--state %s: %s", path, strerror(errno));
    if (fstat(fd, &st) != 0 || st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        (void)close(fd);
        return lks_fail(err, LKS_E_DENIED,
                        "--state %s: other users can write to it; make it a folder of SlurmUser "
                        "with mode 0700",
                        path);
    }
    *out = fd;
    return LKS_OK;
}

static const char *file_of(struct lks_str node, char out[LKS_HOST_NAME_MAX + 1])
{
    snprintf(out, LKS_HOST_NAME_MAX + 1, "%" LKS_STR_FMT, LKS_STR_ARG(node));
    return out;
}

/* When the last no was answered. No name of a node starts with a dot. */
#define NO ".no."
enum { NO_SIZE = LKS_HOST_NAME_MAX + sizeof(NO) };

static const char *no_of(const char *node, char out[NO_SIZE])
{
    snprintf(out, NO_SIZE, NO "%s", node);
    return out;
}

static bool is_before(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

static void touch(int dir, const char *name, struct timespec at)
{
    const struct timespec times[2] = {at, at};
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd >= 0) {
        (void)futimens(fd, times);
        (void)close(fd);
    }
}

/* A no that lies in the future is from before the clock was set back. */
static void note_yes(int dir, const char *name, struct timespec asked)
{
    char no[NO_SIZE];
    struct timespec now;
    struct stat st;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (fstatat(dir, no_of(name, no), &st, AT_SYMLINK_NOFOLLOW) == 0 && is_before(now, st.st_mtim))
        (void)unlinkat(dir, no, 0);
    touch(dir, name, asked);
}

/* It stays when the yes goes: another run may still write a yes that was asked for before. */
static void note_no(int dir, const char *name)
{
    char no[NO_SIZE];
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    touch(dir, no_of(name, no), now);
    (void)unlinkat(dir, name, 0);
}

void lks_prolog_last_note(int dir, const struct lks_hostlist *nodes, bool admitted,
                          struct timespec asked)
{
    char name[LKS_HOST_NAME_MAX + 1];
    for (size_t i = 0; i < nodes->count; i++) {
        if (admitted)
            note_yes(dir, file_of(nodes->names[i], name), asked);
        else
            note_no(dir, file_of(nodes->names[i], name));
    }
}

static bool is_known(int dir, const char *name, time_t now, time_t seconds)
{
    char no[NO_SIZE];
    struct stat st, ended;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode) ||
        st.st_mtime > now || now - st.st_mtime > seconds)
        return false;
    return fstatat(dir, no_of(name, no), &ended, AT_SYMLINK_NOFOLLOW) != 0 ||
           is_before(ended.st_mtim, st.st_mtim);
}

const struct lks_str *lks_prolog_last_unknown(int dir, const struct lks_hostlist *nodes, time_t now,
                                              time_t seconds)
{
    char name[LKS_HOST_NAME_MAX + 1];
    for (size_t i = 0; i < nodes->count; i++) {
        if (!is_known(dir, file_of(nodes->names[i], name), now, seconds))
            return &nodes->names[i];
    }
    return NULL;
}

bool lks_prolog_last_stored(int dir, struct lks_str node)
{
    char name[LKS_HOST_NAME_MAX + 1], no[NO_SIZE];
    struct stat st;
    return fstatat(dir, file_of(node, name), &st, AT_SYMLINK_NOFOLLOW) == 0 ||
           fstatat(dir, no_of(name, no), &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Jobs without an answer ------------------------------------------------------------------- */

#define COUNT ".unanswered"
#define TAKEN ".unanswered.taken"

enum { LOCK_TRIES = 100, LOCK_PAUSE_MS = 10 };

static int open_file(int dir, const char *name, int flags)
{
    return openat(dir, name, flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
}

/* Runs hold it for some system calls. A run that was stopped meanwhile does not stop others. */
static bool lock(int fd)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000L};
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

/* A byte for each job. */
void lks_prolog_last_count(int dir, uint64_t jobs)
{
    static const char bytes[4096];
    struct stat st;
    int fd = open_file(dir, COUNT, O_WRONLY | O_APPEND);
    if (fd < 0)
        return;
    (void)lock(fd); /* without it a byte is lost at worst */
    while (jobs > 0 && fstat(fd, &st) == 0 && st.st_size < LKS_PROLOG_LAST_COUNT_MAX) {
        ssize_t len = write(fd, bytes, jobs < sizeof(bytes) ? (size_t)jobs : sizeof(bytes));
        if (len <= 0)
            break;
        jobs -= (uint64_t)len;
    }
    (void)close(fd);
}

uint64_t lks_prolog_last_take(int dir, int *taken)
{
    struct stat st;
    if (fstatat(dir, COUNT, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode) ||
        st.st_size <= 0)
        return 0;
    int fd = open_file(dir, TAKEN, O_WRONLY);
    if (fd < 0)
        return 0;
    /* Again, because another run may have reported them. */
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || fstatat(dir, COUNT, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
        st.st_size <= 0) {
        (void)close(fd);
        return 0;
    }
    *taken = fd;
    return st.st_size < LKS_PROLOG_LAST_COUNT_MAX ? (uint64_t)st.st_size
                                                  : LKS_PROLOG_LAST_COUNT_MAX;
}

void lks_prolog_last_end(int dir, int taken, uint64_t reported)
{
    struct stat st;
    int fd = reported > 0 ? open_file(dir, COUNT, O_WRONLY) : -1;
    if (fd >= 0 && lock(fd) && fstat(fd, &st) == 0 &&
        ftruncate(fd, (uint64_t)st.st_size > reported ? st.st_size - (off_t)reported : 0) != 0)
        (void)unlinkat(dir, COUNT, 0); /* rather than reporting them again for ever */
    if (fd >= 0)
        (void)close(fd);
    (void)close(taken);
}
