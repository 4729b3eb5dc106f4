#include "cli/shared/path.h"

#include "base/file.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum lks_code lks_path_join(char out[PATH_MAX], const char *dir, const char *name,
                            struct lks_err *err)
{
    size_t end = strlen(dir);
    int len =
        snprintf(out, PATH_MAX, "%s%s%s", dir, end > 0 && dir[end - 1] == '/' ? "" : "/", name);
    if (len < 0 || len >= PATH_MAX)
        return lks_fail(err, LKS_E_INVALID, "%.100s...: too long for a path", dir);
    return LKS_OK;
}

enum lks_code lks_path_absolute(char out[PATH_MAX], const char *path, struct lks_err *err)
{
    char here[PATH_MAX];
    if (path[0] == '/')
        return lks_path_join(out, "/", path + 1, err);
    if (getcwd(here, sizeof(here)) == NULL)
        return lks_fail(err, LKS_E_IO, "the current directory: %s", strerror(errno));
    return lks_path_join(out, here, path, err);
}

/* lockstep/NAME in `set`, or in `usual` of $HOME. NOT_FOUND where neither is there. A path from
 * wherever one stands is no folder of a user: the standard says to ignore it. */
static enum lks_code user_path(const struct lks_cli *cli, const char *set, const char *usual,
                               const char *name, char out[PATH_MAX], struct lks_err *err)
{
    char base[PATH_MAX], ours[PATH_MAX];
    bool is_set = set != NULL && set[0] == '/';
    if (!is_set && (cli->home == NULL || cli->home[0] != '/'))
        return lks_fail(err, LKS_E_NOT_FOUND, "$HOME is not a path from the root");
    if (lks_path_join(base, is_set ? set : cli->home, is_set ? "" : usual, err) != LKS_OK ||
        lks_path_join(ours, base, "lockstep", err) != LKS_OK)
        return err->code;
    return lks_path_join(out, ours, name, err);
}

enum lks_code lks_path_state(const struct lks_cli *cli, const char *name, char out[PATH_MAX],
                             struct lks_err *err)
{
    enum lks_code code = user_path(cli, cli->state_home, ".local/state", name, out, err);
    if (code != LKS_E_NOT_FOUND)
        return code;
    return lks_fail(err, LKS_E_USAGE,
                    "neither $XDG_STATE_HOME nor $HOME is set to a path from the root; say "
                    "where with --state DIR");
}

enum lks_code lks_path_cache(const struct lks_cli *cli, const char *name, char out[PATH_MAX],
                             struct lks_err *err)
{
    return user_path(cli, cli->cache_home, ".cache", name, out, err);
}

enum lks_code lks_path_config(const struct lks_cli *cli, const char *name, char out[PATH_MAX],
                              struct lks_err *err)
{
    enum lks_code code = user_path(cli, cli->config_home, ".config", name, out, err);
    if (code != LKS_E_NOT_FOUND)
        return code;
    return lks_fail(err, LKS_E_USAGE,
                    "neither $XDG_CONFIG_HOME nor $HOME is set to a path from the root");
}

enum lks_code lks_path_config_base(const struct lks_cli *cli, char out[PATH_MAX],
                                   struct lks_err *err)
{
    bool is_set = cli->config_home != NULL && cli->config_home[0] == '/';
    return lks_path_join(out, is_set ? cli->config_home : cli->home, "", err);
}

static enum lks_code fail_others(const char *path, struct lks_err *err)
{
    return lks_fail(err, LKS_E_REFUSED,
                    "%s: others can write there, so its content is not trusted; remove their "
                    "permission: chmod go-w %s",
                    path, path);
}

/* In a folder with the sticky bit everyone can write, and only owners can move their files. */
static bool is_open(const struct stat *st)
{
    return (st->st_mode & S_IWOTH) != 0 && (st->st_mode & S_ISVTX) == 0;
}

enum lks_code lks_path_mine(const char *path, const struct stat *st, struct lks_err *err)
{
    bool open = (st->st_mode & (S_IWGRP | S_IWOTH)) != 0;
    bool sticky = S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX) != 0;
    if (st->st_uid != geteuid() && st->st_uid != 0)
        return lks_fail(err, LKS_E_REFUSED,
                        "%s: belongs to another user, so its content is not trusted", path);
    return open && !sticky ? fail_others(path, err) : LKS_OK;
}

/* A group that is named after the user, is theirs at login and has no other member: many systems
 * make one for each user, with a umask that lets it write. */
static bool is_own_group(gid_t gid)
{
    const struct passwd *user = getpwuid(geteuid());
    const struct group *group = getgrgid(gid);
    if (user == NULL || group == NULL || user->pw_gid != gid ||
        strcmp(user->pw_name, group->gr_name) != 0)
        return false;
    for (char **member = group->gr_mem; *member != NULL; member++) {
        if (strcmp(*member, user->pw_name) != 0)
            return false;
    }
    return true;
}

/* The folder that holds the file is the user's alone. Those above it may also be writable for the
 * user's own group: its members could rename the folder, and there are none. */
enum lks_code lks_path_folders(const char *path, const char *base, struct lks_err *err)
{
    char above[PATH_MAX];
    struct stat st;
    size_t end = strlen(base);
    bool holds = true;
    while (end > 1 && base[end - 1] == '/')
        end--;
    (void)snprintf(above, sizeof(above), "%s", path);
    for (char *slash; (slash = strrchr(above, '/')) != NULL && slash != above;) {
        *slash = '\0';
        if (strlen(above) < end)
            break;
        if (stat(above, &st) != 0)
            return lks_file_fail(err, above);
        if (!holds && (st.st_mode & S_IWOTH) == 0 && is_own_group(st.st_gid))
            st.st_mode &= ~(mode_t)S_IWGRP;
        if (lks_path_mine(above, &st, err) != LKS_OK)
            return err->code;
        holds = false;
    }
    return LKS_OK;
}

enum lks_code lks_path_ours(const char *path, struct lks_err *err)
{
    char above[PATH_MAX];
    struct stat st;
    if (stat(path, &st) != 0)
        return lks_file_fail(err, path);
    if ((st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return fail_others(path, err);
    if (lks_path_absolute(above, path, err) != LKS_OK)
        return err->code;
    for (char *slash; (slash = strrchr(above, '/')) != NULL && slash != above;) {
        *slash = '\0';
        if (stat(above, &st) == 0 && is_open(&st))
            return fail_others(above, err);
    }
    return LKS_OK;
}

enum lks_code lks_path_make(const char *path, struct lks_err *err)
{
    char part[PATH_MAX];
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof(part))
        return lks_fail(err, LKS_E_INVALID, "%.100s: not a path for a folder", path);
    for (size_t i = 1; i <= len; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0700) == 0) {
            if (lks_file_sync_parent(part, err) != LKS_OK)
                return err->code;
        } else if (errno != EEXIST) {
            return lks_file_fail(err, part);
        }
    }
    return LKS_OK;
}
