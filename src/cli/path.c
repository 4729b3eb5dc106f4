#include "cli/path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
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
