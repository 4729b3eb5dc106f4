/* Paths in a directory that the user named. */
#ifndef LKS_CLI_PATH_H
#define LKS_CLI_PATH_H

#include "cli/shared/cli.h"

#include <limits.h>
#include <sys/stat.h>

/* DIR/NAME, if it fits. */
enum lks_code lks_path_join(char out[PATH_MAX], const char *dir, const char *name,
                            struct lks_err *err) LKS_MUST_CHECK;

/* `path` as one that holds wherever one stands; it need not exist. */
enum lks_code lks_path_absolute(char out[PATH_MAX], const char *path,
                                struct lks_err *err) LKS_MUST_CHECK;

/* lockstep/NAME in the user's state folder: $XDG_STATE_HOME, or .local/state in $HOME. It need not
 * exist. */
enum lks_code lks_path_state(const struct lks_cli *cli, const char *name, char out[PATH_MAX],
                             struct lks_err *err) LKS_MUST_CHECK;

/* The same in the cache folder: $XDG_CACHE_HOME, or .cache in $HOME. */
enum lks_code lks_path_cache(const struct lks_cli *cli, const char *name, char out[PATH_MAX],
                             struct lks_err *err) LKS_MUST_CHECK;

/* The same in the configuration folder: $XDG_CONFIG_HOME, or .config in $HOME. */
enum lks_code lks_path_config(const struct lks_cli *cli, const char *name, char out[PATH_MAX],
                              struct lks_err *err) LKS_MUST_CHECK;

/* The folder that the three above start from: $XDG_CONFIG_HOME, or $HOME. */
enum lks_code lks_path_config_base(const struct lks_cli *cli, char out[PATH_MAX],
                                   struct lks_err *err) LKS_MUST_CHECK;

/* REFUSED where the file of `st` is another user's, or others can write it. */
enum lks_code lks_path_mine(const char *path, const struct stat *st,
                            struct lks_err *err) LKS_MUST_CHECK;

/* The same for each folder of `path` up to `base` and with it. Above the first, the user's own
 * group may write. */
enum lks_code lks_path_folders(const char *path, const char *base,
                               struct lks_err *err) LKS_MUST_CHECK;

/* REFUSED where others can write what is at `path`, or put something else in its place: then it is
 * no choice of the user's. */
enum lks_code lks_path_ours(const char *path, struct lks_err *err) LKS_MUST_CHECK;

/* Make a folder and those above it that are missing, for the user alone (mode 0700). */
enum lks_code lks_path_make(const char *path, struct lks_err *err) LKS_MUST_CHECK;

#endif
