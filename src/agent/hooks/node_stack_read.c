#include "agent/hooks/node_stack_read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder that others can write to may have a file of theirs. A file that is no regular one, such
 * as a pipe, is not read: that could wait. */
static enum lks_code check(int dir, int fd, const char *run, struct stat *st, struct lks_err *err)
{
    struct stat folder;
    if (fstat(dir, &folder) != 0 || fstat(fd, st) != 0)
        return lks_fail(err, LKS_E_IO, "%s: %s", run, strerror(errno));
    if (!S_ISREG(st->st_mode) || st->st_uid != folder.st_uid ||
        ((folder.st_mode | st->st_mode) & (S_IWGRP | S_IWOTH)) != 0)
        return lks_fail(err, LKS_E_DENIED,
                        "%s/" LKS_NODE_STACK_FILE " is not a file that only its agent can write",
                        run);
    return LKS_OK;
}

static enum lks_code read_file(int dir, const char *run, time_t now, time_t stale,
                               struct lks_node_stack *out, struct lks_err *err)
{
    char bytes[LKS_NODE_STACK_BYTES_MAX + 1];
    struct stat st = {0};
    int fd = openat(dir, LKS_NODE_STACK_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return lks_fail(
            err, errno == ENOENT ? LKS_E_UNAVAILABLE : LKS_E_DENIED,
            "lockstep-agent does not know the stack of this node: %s/" LKS_NODE_STACK_FILE ": %s",
            run, strerror(errno));
    enum lks_code code = check(dir, fd, run, &st, err);
    ssize_t len = code == LKS_OK ? read(fd, bytes, sizeof(bytes)) : 0;
    (void)close(fd);
    if (code != LKS_OK)
        return code;
    if (len < 0)
        return lks_fail(err, LKS_E_IO, "%s/" LKS_NODE_STACK_FILE " cannot be read", run);
    if (st.st_mtime > now + stale || st.st_mtime < now - stale)
        return lks_fail(err, LKS_E_UNAVAILABLE,
                        "lockstep-agent has had no answer from lockstepd for %lld s; tell the "
                        "administrator (journalctl -u lockstep-agent on this node)",
                        (long long)stale);
    return lks_node_stack_parse((struct lks_str){bytes, (size_t)len}, out, err);
}

enum lks_code lks_node_stack_read(const char *run, time_t now, time_t stale,
                                  struct lks_node_stack *out, struct lks_err *err)
{
    int dir = open(run, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return lks_fail(err, errno == ENOENT ? LKS_E_NOT_FOUND : LKS_E_DENIED, "%s: %s", run,
                        strerror(errno));
    enum lks_code code = read_file(dir, run, now, stale, out, err);
    (void)close(dir);
    return code;
}
