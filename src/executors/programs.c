#include "executors/programs.h"

#include "executors/tool.h"
#include "probe/root/command.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static enum lks_code check(const char *path, mode_t kind, struct lks_err *err)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return lks_fail(err, LKS_E_NOT_FOUND, "%s: %s", path, strerror(errno));
    if ((st.st_mode & S_IFMT) != kind || (st.st_mode & S_IXUSR) == 0)
        return lks_fail(err, LKS_E_DENIED, "%s: is not a plain %s", path,
                        kind == S_IFDIR ? "folder" : "program");
    return lks_command_trust(path, &st, geteuid(), err);
}

enum lks_code lks_program_check(const char *folder, const char *path, struct lks_err *err)
{
    return check(folder, S_IFDIR, err) == LKS_OK ? check(path, S_IFREG, err) : err->code;
}

/* A hook has children of its own, such as one that writes an image: if we are killed they go on,
 * and no other executor starts before the last of them is gone. */
enum lks_code lks_program_hook_run(struct lks_job *job, struct lks_buf *said, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_TOOL_OUTPUT_MAX);
    char path[PATH_MAX];
    struct lks_str line, rest;
    snprintf(path, sizeof(path), LKS_HOOK_FOLDER "/%" LKS_STR_FMT, LKS_STR_ARG(job->order.hook));
    const char *argv[] = {path, job->order_path, job->files, NULL};
    if (lks_program_check(LKS_HOOK_FOLDER, path, err) != LKS_OK ||
        lks_tool_run(&(struct lks_tool){.argv = argv, .out = &text, .lock = lks_executor_lock()},
                     err) != LKS_OK)
        return err->code;
    lks_str_cut(lks_buf_view(&text), '\n', &line, &rest);
    line.len = line.len < LKS_EXECUTOR_SAID_MAX ? line.len : LKS_EXECUTOR_SAID_MAX;
    if (line.len > 0 && lks_str_printable(line))
        lks_buf_add(said, line);
    else
        lks_buf_addf(said, "hook %" LKS_STR_FMT " is done", LKS_STR_ARG(job->order.hook));
    return LKS_OK;
}
