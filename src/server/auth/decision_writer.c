#include "server/auth/decision_writer.h"

#include "server/base/daemon.h"

#include <stdio.h>

enum { FLUSH_MS = 2000, PATH_BYTES_MAX = 4096, FILE_BYTES_MAX = 64 << 20 };

static void flush(struct lks_decision_writer *w);

static void work(uv_work_t *job)
{
    struct lks_decision_writer *w = job->data;
    w->err = (struct lks_err){0};
    w->err.code = lks_decision_files_add(&w->files, lks_buf_view(&w->text), &w->err);
}

/* A log that cannot be written stops nothing; the failure is logged once. */
static void worked(uv_work_t *job, int status)
{
    (void)status;
    struct lks_decision_writer *w = job->data;
    struct lks_log_field field = {"cause", lks_str_from(w->err.msg)};
    bool failed = w->err.code != LKS_OK;
    lks_buf_fini(&w->text);
    w->busy = false;
    w->decisions->dropped += failed;
    if (failed && !w->said)
        lks_daemon_log(w->daemon, LKS_LEVEL_WARNING, "the log of admissions was not written",
                       &field, 1);
    w->said = failed;
    if (w->closing)
        flush(w);
}

static void flush(struct lks_decision_writer *w)
{
    if (w->busy || !lks_decisions_take(w->decisions, &w->text))
        return;
    w->busy = true;
    w->work.data = w;
    uv_queue_work(w->timer.loop, &w->work, work, worked);
}

static void on_timer(uv_timer_t *timer)
{
    flush(timer->data);
}

enum lks_code lks_decision_writer_open(struct lks_decision_writer *w, struct lks_daemon *daemon,
                                       struct lks_decisions *decisions, uv_loop_t *loop,
                                       struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf before = LKS_BUF(FILE_BYTES_MAX);
    const struct lks_config *c = lks_daemon_config(daemon);
    char dir[PATH_BYTES_MAX];
    snprintf(dir, sizeof(dir), "%s/decisions", c->data.ptr);
    w->daemon = daemon;
    w->decisions = decisions;
    if (lks_decision_files_open(&w->files, dir, c->decision_bytes, c->decision_files, err) !=
            LKS_OK ||
        lks_decision_files_read(&w->files, &before, err) != LKS_OK)
        return lks_wrap(err, "the log of admissions");
    if (before.len > 0)
        lks_decisions_load(decisions, lks_buf_view(&before));
    uv_timer_init(loop, &w->timer);
    w->timer.data = w;
    uv_timer_start(&w->timer, on_timer, FLUSH_MS, FLUSH_MS);
    return LKS_OK;
}

void lks_decision_writer_close(struct lks_decision_writer *w)
{
    w->closing = true;
    uv_close((uv_handle_t *)&w->timer, NULL);
    flush(w);
}
