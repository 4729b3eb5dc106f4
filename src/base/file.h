/* Whole files: read with a ceiling, written whole or not at all. For programs and tests: pure code
 * parses what was read and never sees the path. */
#ifndef LKS_BASE_FILE_H
#define LKS_BASE_FILE_H

#include "base/buf.h"

#include <limits.h>
#include <sys/types.h>

/* Append the content of `path` to `out`, whose ceiling applies; "-" is standard input. A directory
 * or a disk is refused, pipes and character devices such as /dev/null are read to their end. The
 * message names the path. */
enum lks_code lks_file_read(const char *path, struct lks_buf *out,
                            struct lks_err *err) LKS_MUST_CHECK;

/* The same for plain files alone: nothing that could keep us waiting, and "-" is a name. */
enum lks_code lks_file_read_plain(const char *path, struct lks_buf *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* All that is left of an open file; `path` is for messages. */
enum lks_code lks_file_read_fd(int fd, const char *path, struct lks_buf *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* Put all of `bytes` into `fd`; `path` is for the message. */
enum lks_code lks_file_put(int fd, const char *path, struct lks_str bytes,
                           struct lks_err *err) LKS_MUST_CHECK;

/* Make `path` a file with exactly `bytes` in it, for its owner alone (mode 0600). Whenever the
 * power goes, what is found later is the old content or the new; when this returns it is the new.
 * After a failure the old content is there and nothing beside it. Writers at the same time do not
 * mix: the last one wins. INVALID, and nothing is changed, where a device, a pipe or a socket is
 * there.
 */
enum lks_code lks_file_replace(const char *path, struct lks_str bytes,
                               struct lks_err *err) LKS_MUST_CHECK;

/* The same for those whom `mode` lets read it, whatever the umask: the file has never more rights,
 * and all of them when it is in its place. */
enum lks_code lks_file_replace_as(const char *path, mode_t mode, struct lks_str bytes,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* Whether lks_file_replace() could start, for callers with much to do before they have the bytes:
 * as far as can be told now, and nothing is left behind. */
enum lks_code lks_file_replaceable(const char *path, struct lks_err *err) LKS_MUST_CHECK;

/* The same for a file that is written in parts: into `fd`, until lks_file_temporary_place() gives
 * it the name `path`. It has another name in the same folder, which no other process has. The
 * temporary files of `path` that killed writers left are removed. The caller owes
 * lks_file_temporary_fini(), which removes a file that was not placed. */
struct lks_file_temporary {
    int fd; /* 0: none */
    char path[PATH_MAX];
};
enum lks_code lks_file_temporary_open(const char *path, mode_t mode, struct lks_file_temporary *out,
                                      struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_file_temporary_place(struct lks_file_temporary *t, const char *path,
                                       struct lks_err *err) LKS_MUST_CHECK;
void lks_file_temporary_fini(struct lks_file_temporary *t);

/* Make a file that is not there yet, with exactly `bytes` in it; never in the place of another.
 * Where that fails nothing is left of it. */
enum lks_code lks_file_new(const char *path, mode_t mode, struct lks_str bytes,
                           struct lks_err *err) LKS_MUST_CHECK;

/* What was made, renamed or removed at `path` stays so when the power goes. */
enum lks_code lks_file_sync_parent(const char *path, struct lks_err *err) LKS_MUST_CHECK;

/* The failure that errno tells of: NOT_FOUND, DENIED, INVALID for what is no file or is there
 * already, IO for the rest, such as a full disk. */
enum lks_code lks_file_fail(struct lks_err *err, const char *path) LKS_MUST_CHECK;

#endif
