/* The site's acceptance checks: every program in its folder, in the order of their names. All of
 * them have to say yes, each in its time. What they measured goes along with the yes. */
#include "executors/programs.h"

#include "executors/tool.h"
#include "model/tuple/figures.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct checks {
    char names[LKS_ACCEPT_MAX][NAME_MAX + 1];
    size_t count;
};

/* As run-parts has it: what an editor or a package manager leaves beside one is no check. */
static bool is_name(const char *name)
{
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return name[0] != '\0' && strspn(name, plain) == strlen(name);
}

static int by_name(const void *left, const void *right)
{
    return strcmp(left, right);
}

static enum lks_code list(struct checks *c, struct lks_err *err)
{
    DIR *dir = opendir(LKS_ACCEPT_FOLDER);
    if (dir == NULL && errno == ENOENT)
        return LKS_OK;
    if (dir == NULL)
        return lks_fail(err, LKS_E_IO, LKS_ACCEPT_FOLDER ": %s", strerror(errno));
    enum lks_code code = LKS_OK;
    for (struct dirent *e = readdir(dir); code == LKS_OK && e != NULL; e = readdir(dir)) {
        if (!is_name(e->d_name))
            continue;
        if (c->count == LKS_ACCEPT_MAX)
            code = lks_fail(err, LKS_E_LIMIT, "more than %d checks", LKS_ACCEPT_MAX);
        else
            snprintf(c->names[c->count++], sizeof(c->names[0]), "%s", e->d_name);
    }
    (void)closedir(dir);
    qsort(c->names, c->count, sizeof(c->names[0]), by_name);
    return code;
}

static enum lks_code run_check(const char *name, struct lks_figures *figures, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf printed = {0};
    char path[PATH_MAX];
    const char *argv[] = {path, NULL};
    const struct lks_tool tool = {.argv = argv, .out = &printed, .ms = LKS_ACCEPT_MS};
    lks_buf_init(&printed, LKS_TOOL_OUTPUT_MAX);
    snprintf(path, sizeof(path), LKS_ACCEPT_FOLDER "/%s", name);
    if (lks_program_check(LKS_ACCEPT_FOLDER, path, err) != LKS_OK ||
        lks_tool_run(&tool, err) != LKS_OK)
        return err->code;
    if (lks_figures_read(lks_buf_view(&printed), figures, err) != LKS_OK)
        return lks_wrap(err, "%.80s", name);
    return LKS_OK;
}

static enum lks_code run(struct lks_job *job, struct lks_buf *said, struct lks_err *err)
{
    struct checks *c = calloc(1, sizeof(*c));
    struct lks_figures figures = {0};
    (void)job;
    if (c == NULL)
        return lks_fail_nomem(err);
    enum lks_code code = list(c, err);
    for (size_t i = 0; code == LKS_OK && i < c->count; i++)
        code = run_check(c->names[i], &figures, err);
    if (code == LKS_OK && c->count > 0)
        lks_buf_addf(said, "all %zu acceptance checks passed", c->count);
    else if (code == LKS_OK)
        lks_buf_add(said, LKS_STR("there are no acceptance checks in " LKS_ACCEPT_FOLDER));
    lks_figures_print(&figures, said);
    free(c);
    return code;
}

int main(int argc, char **argv)
{
    return lks_executor_plain(argc, argv, run);
}
