/* Whole files, with a ceiling. For programs and tests: pure code parses what was read and never
 * sees the path. */
#ifndef LKS_BASE_FILE_H
#define LKS_BASE_FILE_H

#include "base/buf.h"

/* Append the content of `path` to `out`, whose ceiling applies; "-" is standard input. A directory
 * or a disk is refused, pipes and character devices such as /dev/null are read to their end. The
 * message names the path. */
enum lks_code lks_file_read(const char *path, struct lks_buf *out,
                            struct lks_err *err) LKS_MUST_CHECK;

/* The same for plain files alone: nothing that could keep us waiting, and "-" is a name. */
enum lks_code lks_file_read_plain(const char *path, struct lks_buf *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

#endif
