#include "base/file.h"
#include "drivers/store/sqlite.h"
#include "server/threads/lead.h"
#include "server/threads/seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RETRY_MS = 500 };

static void tell_stalled(struct lks_store_thread *t, const struct lks_err *why)
{
    struct lks_stalled *m = (struct lks_stalled *)lks_mail_new(LKS_MAIL_STALLED);
    m->why = *why;
    t->told = true;
    lks_mailbox_post(&t->daemon->state->box, &m->mail);
}

static void try_commit(struct lks_store_thread *t);

static void on_retry(uv_timer_t *timer)
{
    struct lks_store_thread *t = timer->data;
    try_commit(t);
}

/* A batch that was not written stays and is tried again. Whether it was written when that cannot be
 * told, only the next start can find out. */
static void try_commit(struct lks_store_thread *t)
{
    struct lks_err err = {0};
    uint64_t began = uv_hrtime();
    enum lks_code code = lks_engine_commit(&t->daemon->options, &t->store, &t->held->batch, &err);
    if (code == LKS_E_UNAVAILABLE) {
        if (!t->told)
            tell_stalled(t, &err);
        uv_timer_start(&t->retry, on_retry, RETRY_MS, 0);
        return;
    }
    if (code == LKS_E_REFUSED && t->lead.lease.state != LKS_LEASE_NONE)
        lks_lead_lost(t->daemon, err.msg);
    if (code != LKS_OK)
        lks_daemon_die(t->daemon, "a commit's outcome is not known", &err);
    t->held->whole_us = (uv_hrtime() - began) / 1000;
    t->held->us = t->lead.lease.state != LKS_LEASE_NONE ? t->held->whole_us
                                                        : lks_store_sqlite_last_us(&t->store);
    lks_lead_wrote(t, &t->held->batch);
    t->told = false;
    struct lks_batch *done = t->held;
    t->held = NULL;
    lks_mailbox_post(&t->daemon->state->box, &done->mail);
}

/* The child that wrote it is gone; a snapshot that cannot be kept is only a slower restart. */
static void keep_snapshot(struct lks_store_thread *t, const struct lks_snapshot *snapshot)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_STORE_SNAPSHOT_MAX);
    struct lks_err err = {0};
    enum lks_code code = lks_file_read_plain(snapshot->path, &bytes, &err);
    if (code == LKS_OK)
        code = t->store.ops->snapshot_put(t->store.self, snapshot->seq, lks_buf_view(&bytes), &err);
    unlink(snapshot->path);
    struct lks_log_field field = {"cause", lks_str_from(err.msg)};
    if (code != LKS_OK)
        lks_daemon_log(t->daemon, LKS_LEVEL_WARNING, "a snapshot was not kept", &field, 1);
}

/* A call that has something to do here; then it returns to be handled on. */
static void visit(struct lks_store_thread *t, struct lks_call *call)
{
    lks_call_store *fn = call->at_store;
    call->at_store = NULL;
    fn(call, &t->store);
    lks_mailbox_post(&t->daemon->state->box, &call->mail);
}

static void stop(struct lks_store_thread *t)
{
    uv_timer_stop(&t->retry);
    uv_close((uv_handle_t *)&t->retry, NULL);
    lks_lead_end(t);
    lks_seen_end(t);
    lks_mailbox_close(&t->box, lks_mail_drop);
}

static void deliver(void *ctx, struct lks_mail *mail)
{
    struct lks_store_thread *t = ctx;
    if (mail->kind == LKS_MAIL_BATCH) {
        LKS_ASSERT(t->held == NULL);
        t->held = (struct lks_batch *)mail;
        try_commit(t);
        return;
    }
    if (mail->kind == LKS_MAIL_CALL) {
        visit(t, (struct lks_call *)mail);
        return;
    }
    if (mail->kind == LKS_MAIL_SNAPSHOT)
        keep_snapshot(t, (const struct lks_snapshot *)mail);
    if (mail->kind == LKS_MAIL_FOLLOW)
        lks_lead_begin(t, &((const struct lks_follow *)mail)->place);
    if (mail->kind == LKS_MAIL_STOP)
        stop(t);
    lks_mail_drop(mail);
}

static void run(void *arg)
{
    struct lks_store_thread *t = arg;
    uv_run(&t->loop, UV_RUN_DEFAULT);
    if (t->held != NULL)
        lks_mail_drop(&t->held->mail);
    t->held = NULL;
    lks_store_close(&t->store);
    uv_loop_close(&t->loop);
}

enum lks_code lks_store_thread_start(struct lks_store_thread *t, struct lks_daemon *daemon,
                                     struct lks_err *err)
{
    t->daemon = daemon;
    if (uv_loop_init(&t->loop) != 0)
        return lks_fail(err, LKS_E_IO, "cannot make a loop");
    if (lks_mailbox_init(&t->box, &t->loop, deliver, NULL, t, err) != LKS_OK)
        return err->code;
    uv_timer_init(&t->loop, &t->retry);
    t->retry.data = t;
    lks_seen_begin(t);
    if (uv_thread_create(&t->thread, run, t) != 0)
        return lks_fail(err, LKS_E_IO, "cannot start the store thread");
    return LKS_OK;
}
