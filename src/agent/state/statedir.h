/*
 * The directory a program of ours keeps its state in: small files, each whole or not there.
 *
 * A file is written under another name, made durable and renamed, so that a reader after a crash at
 * any point finds the old content or the new. All of it is for its owner's eyes alone.
 */
#ifndef LKS_AGENT_STATEDIR_H
#define LKS_AGENT_STATEDIR_H

#include "base/buf.h"

#define LKS_STATEDIR_PATH_MAX 1024
#define LKS_STATEDIR_NAME_MAX 64

struct lks_statedir {
    char path[LKS_STATEDIR_PATH_MAX];
    int fd;   /* 0: not open */
    int lock; /* 0: not locked */
};

/* Make it if it is not there. With `lock` no other process may have it open so: REFUSED. */
enum lks_code lks_statedir_open(const char *path, bool lock, struct lks_statedir *out,
                                struct lks_err *err) LKS_MUST_CHECK;
void lks_statedir_close(struct lks_statedir *dir);

/* The path of a file in it. */
const char *lks_statedir_path(const struct lks_statedir *dir, const char *name,
                              char out[LKS_STATEDIR_PATH_MAX + LKS_STATEDIR_NAME_MAX]);

/* Replace `name` as a whole; durable when it returns. */
enum lks_code lks_statedir_write(const struct lks_statedir *dir, const char *name,
                                 struct lks_str bytes, struct lks_err *err) LKS_MUST_CHECK;

/* Append the content of `name`, at most `max` bytes, to a buffer that is initialised here. */
enum lks_code lks_statedir_read(const struct lks_statedir *dir, const char *name, size_t max,
                                struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

/* Durable, too. A file that is not there is as good as removed. */
enum lks_code lks_statedir_remove(const struct lks_statedir *dir, const char *name,
                                  struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_statedir_rename(const struct lks_statedir *dir, const char *from, const char *to,
                                  struct lks_err *err) LKS_MUST_CHECK;

#endif
