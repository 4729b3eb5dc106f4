/* Paths in a directory that the user named. */
#ifndef LKS_CLI_PATH_H
#define LKS_CLI_PATH_H

#include "base/err.h"

#include <limits.h>

/* DIR/NAME, if it fits. */
enum lks_code lks_path_join(char out[PATH_MAX], const char *dir, const char *name,
                            struct lks_err *err) LKS_MUST_CHECK;

/* `path` as one that holds wherever one stands; it need not exist. */
enum lks_code lks_path_absolute(char out[PATH_MAX], const char *path,
                                struct lks_err *err) LKS_MUST_CHECK;

#endif
