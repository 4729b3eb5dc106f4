/* A Unix socket that listens at a path: made, and removed again when it is still ours. */
#ifndef LKS_DRIVERS_HTTP_UNIX_H
#define LKS_DRIVERS_HTTP_UNIX_H

#include "base/err.h"

#include <sys/types.h>

struct lks_unix_path {
    char *path; /* owned; NULL: none, or it is removed */
    dev_t device;
    ino_t inode;
};

/* Listen at `path` with `mode`; the descriptor, which does not block, is the caller's. The socket
 * of a daemon that was killed is removed; one that answers, and anything that is no socket, stays
 * and is REFUSED. */
enum lks_code lks_unix_listen(const char *path, mode_t mode, struct lks_unix_path *name, int *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* Remove the path, unless another has taken the place. */
void lks_unix_unlink(struct lks_unix_path *name);

/* The failure that errno tells of, in what was to be done to an address. */
enum lks_code lks_unix_listen_fail(const char *address, const char *what,
                                   struct lks_err *err) LKS_MUST_CHECK;

#endif
