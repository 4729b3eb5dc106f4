/* The submission policy: written as a file for the plugin in slurmctld. */
#include "base/file.h"
#include "bridge/serve/clock.h"
#include "bridge/serve/worker.h"

#include <stdio.h>
#include <string.h>

enum { DONE = 200, FILE_MODE = 0644 };

/* Logged when it comes, when it changes and when it is over. This thread alone changes it. */
static void note_left_out(struct lks_worker *w, const char *now)
{
    const struct lks_log_field why = {"why", lks_str_from(now)};
    if (strcmp(now, w->status.left_out) == 0)
        return;
    if (now[0] != '\0')
        lks_log_event(w->log, LKS_LEVEL_WARNING, "the submission policy leaves a partition out",
                      &why, 1);
    else
        lks_log_event(w->log, LKS_LEVEL_INFO, "the submission policy has all partitions again",
                      NULL, 0);
    uv_mutex_lock(&w->lock);
    snprintf(w->status.left_out, sizeof(w->status.left_out), "%s", now);
    uv_mutex_unlock(&w->lock);
}

static enum lks_code write_file(struct lks_worker *w, const struct lks_bridge_policy *from,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_POLICY_BYTES_MAX);
    LKS_CLEANUP(lks_policy_fini) struct lks_policy whole = {0};
    char warning[LKS_ERR_MSG_MAX] = "";
    if (lks_worker_read(w, err) != LKS_OK ||
        lks_slurm_partitions(w->slurm, from, &whole, warning, err) != LKS_OK)
        return err->code;
    note_left_out(w, warning);
    struct lks_policy out = from->policy;
    out.partitions = whole.partitions;
    out.partition_count = whole.partition_count;
    out.confirmed = lks_clock_wall();
    if (lks_policy_write(&out, &bytes, err) != LKS_OK)
        return err->code;
    return lks_file_replace_as(w->policy, FILE_MODE, lks_buf_view(&bytes), err);
}

void lks_worker_policy(struct lks_worker *w, struct lks_worker_task *task)
{
    struct lks_json_writer j = {.out = &task->body};
    struct lks_err err = {0};
    enum lks_code code = w->policy != NULL ? write_file(w, &task->request.policy, &err) : LKS_OK;
    uv_mutex_lock(&w->lock);
    w->status.policy_failed = code != LKS_OK;
    if (code == LKS_OK && w->policy != NULL)
        w->status.policy_written = lks_clock_wall();
    uv_mutex_unlock(&w->lock);
    lks_json_begin(&j, NULL, '{');
    if (code == LKS_OK)
        lks_json_bool(&j, "written", w->policy != NULL);
    else
        lks_json_cstr(&j, "error", err.msg);
    lks_json_end(&j, '}');
    task->status = code == LKS_OK ? DONE : lks_err_code_info(code)->http;
}
