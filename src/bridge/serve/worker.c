#include "bridge/serve/worker.h"

#include "bridge/serve/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#define IDLE_NS                                                                                    \
    (UINT64_C(30) * 1000 * 1000 * 1000) /* between two readings that nothing asked for */

enum { PING_MS = 10000 };

/* Reading ----------------------------------------------------------------------------------- */

/* Revisions above the ceiling are not given out before it is durable. */
static enum lks_code reserve(struct lks_worker *w, uint32_t changes, uint64_t now_us,
                             struct lks_err *err)
{
    uint64_t ceiling = 0;
    if (changes == 0 || lks_bridge_revision_ready(&w->book.revision, now_us, changes, &ceiling))
        return LKS_OK;
    if (lks_durable_keep(&w->durable, w->durable.epoch, ceiling, err) != LKS_OK)
        return lks_wrap(err, "cannot keep the revision");
    lks_bridge_revision_allow(&w->book.revision, ceiling);
    return LKS_OK;
}

/* The book is changed by this thread alone, so that it may be read here without the lock. */
static enum lks_code enter(struct lks_worker *w, const struct lks_bridge_reading *r,
                           const struct lks_bridge_when *when, struct lks_err *err)
{
    uint64_t now = lks_clock_wall_us();
    if (reserve(w, lks_bridge_book_changes(&w->book, r), now, err) != LKS_OK)
        return err->code;
    uv_mutex_lock(&w->lock);
    enum lks_code code = lks_bridge_book_enter(&w->book, r, when, now, err);
    uv_mutex_unlock(&w->lock);
    return code;
}

static void note(struct lks_worker *w, enum lks_level level, const char *what, const char *why)
{
    struct lks_log_field field = {"why", lks_str_from(why)};
    lks_log_event(w->log, level, what, &field, why[0] != '\0');
}

/* A warning is logged when it comes, when it changes and when it is over. */
static void note_warning(struct lks_worker *w)
{
    const char *now = lks_slurm_index_warning(w->slurm);
    if (strcmp(now, w->status.warning) == 0)
        return;
    if (now[0] != '\0')
        note(w, LKS_LEVEL_WARNING, "a list of nodes from Slurm cannot be read", now);
    else
        note(w, LKS_LEVEL_INFO, "all lists of nodes from Slurm can be read again", "");
    uv_mutex_lock(&w->lock);
    snprintf(w->status.warning, sizeof(w->status.warning), "%s", now);
    uv_mutex_unlock(&w->lock);
}

enum lks_code lks_worker_read(struct lks_worker *w, struct lks_err *err)
{
    LKS_CLEANUP(lks_bridge_reading_fini) struct lks_bridge_reading r = {0};
    lks_bridge_reading_init(&r);
    struct lks_bridge_when now = lks_clock_now();
    bool changed = false;
    enum lks_code code = lks_slurm_read(w->slurm, now.steady, &r, &changed, err);
    if (code == LKS_OK && changed && (code = enter(w, &r, &now, err)) != LKS_OK)
        lks_slurm_read_lost(w->slurm);
    if (code == LKS_OK)
        note_warning(w);
    uv_mutex_lock(&w->lock);
    if (code == LKS_OK)
        lks_bridge_book_unchanged(&w->book, &now);
    uv_mutex_unlock(&w->lock);
    return code;
}

enum lks_code lks_worker_read_node(struct lks_worker *w, const char *name, struct lks_err *err)
{
    LKS_CLEANUP(lks_bridge_reading_fini) struct lks_bridge_reading r = {0};
    lks_bridge_reading_init(&r);
    struct lks_bridge_when now = lks_clock_now();
    enum lks_code code = lks_slurm_read_node(w->slurm, name, now.steady, &r, err);
    if (code == LKS_OK) {
        note_warning(w);
        return enter(w, &r, &now, err);
    }
    if (code == LKS_E_NOT_FOUND) {
        uv_mutex_lock(&w->lock);
        lks_bridge_book_remove(&w->book, lks_str_from(name));
        uv_mutex_unlock(&w->lock);
    }
    return code;
}

/* The thread -------------------------------------------------------------------------------- */

static void ping(struct lks_worker *w)
{
    struct lks_slurm_about about = {0};
    struct lks_err err = {0};
    bool changed = false;
    if (lks_slurm_about(w->slurm, &about, &changed, &err) != LKS_OK || !changed)
        about = w->status.about; /* this thread alone writes it */
    bool primary = lks_slurm_ping(0);
    bool backup = about.controllers > 1 && lks_slurm_ping(1);
    uv_mutex_lock(&w->lock);
    w->status.about = about;
    if (changed)
        w->book.configured = lks_clock_wall();
    w->status.primary = primary;
    w->status.backup = backup;
    w->status.pinged = lks_clock_wall();
    uv_mutex_unlock(&w->lock);
}

static const char *failed_text(enum lks_code code)
{
    return code == LKS_E_UNAVAILABLE ? "slurmctld does not answer"
                                     : "the nodes of slurmctld cannot be read, or not be kept";
}

/* What ended since the last reading of jobs. A failure leaves it for the next one. */
static void take_runs(struct lks_worker *w)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_bridge_runs_reading reading = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_bridge_runs_news_fini) struct lks_bridge_runs_news news = {0};
    bool fresh = false;
    enum lks_code code = lks_slurm_runs(w->slurm, &arena, &reading, &fresh, &err);
    if (code == LKS_OK && fresh) /* this thread alone changes the runs */
        code = lks_bridge_runs_prepare(&w->runs, &reading, &news, &err);
    if (code == LKS_OK && fresh) {
        uv_mutex_lock(&w->lock);
        code = lks_bridge_runs_take(&w->runs, &news, &err);
        uv_mutex_unlock(&w->lock);
    }
    if (code == LKS_OK)
        return;
    lks_slurm_runs_lost(w->slurm);
    note(w, LKS_LEVEL_WARNING, "the runs of jobs cannot be kept", err.msg);
}

/* A reading that fails is told when the first one does, and when one succeeds again. */
static void renew(struct lks_worker *w)
{
    struct lks_err err = {0};
    enum lks_code code = lks_worker_read(w, &err);
    bool before = w->status.failed, first = w->status.pinged == 0;
    if (code != LKS_OK)
        ping(w); /* before the failure is shown: /v1/health says which controller answers */
    uv_mutex_lock(&w->lock);
    w->status.failed = code != LKS_OK;
    snprintf(w->status.failure, sizeof(w->status.failure), "%s", code != LKS_OK ? err.msg : "");
    uv_mutex_unlock(&w->lock);
    if (code != LKS_OK && (!before || first))
        note(w, LKS_LEVEL_WARNING, failed_text(code), err.msg);
    if (code == LKS_OK && before)
        note(w, LKS_LEVEL_INFO, "the nodes are read from slurmctld again", "");
    if (code == LKS_OK)
        take_runs(w);        /* before readers are answered */
    uv_async_send(&w->done); /* they need not wait for the ping */
    if (first || lks_clock_wall() - w->status.pinged > PING_MS)
        ping(w);
    if (first && code == LKS_OK)
        take_runs(w); /* the configuration is known now */
}

static bool has_node(struct lks_worker_task *const *tasks, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(tasks[i]->request.name, name) == 0)
            return true;
    }
    return false;
}

/* The next writes, one for each node. Under the lock. */
static size_t take(struct lks_worker *w, struct lks_worker_task *out[LKS_WORKER_BATCH])
{
    size_t count = 0;
    struct lks_worker_task **at = &w->first;
    while (*at != NULL && count < LKS_WORKER_BATCH) {
        struct lks_worker_task *task = *at;
        if (has_node(out, count, task->request.name)) {
            at = &task->next;
            continue;
        }
        *at = task->next;
        task->next = NULL;
        task->state = LKS_TASK_RUNNING;
        out[count++] = task;
        w->queued--;
    }
    while (*at != NULL)
        at = &(*at)->next;
    w->last = at;
    return count;
}

static void finish(struct lks_worker *w, struct lks_worker_task *const *tasks, size_t count)
{
    uv_mutex_lock(&w->lock);
    for (size_t i = 0; i < count; i++)
        tasks[i]->state = LKS_TASK_DONE;
    uv_mutex_unlock(&w->lock);
    uv_async_send(&w->done);
}

/* Wait for something to do; false: the end. */
static bool await(struct lks_worker *w, struct lks_worker_task **tasks, size_t *count,
                  bool *refresh)
{
    uv_mutex_lock(&w->lock);
    w->status.busy_since = 0;
    while (!w->stop && w->first == NULL && !w->refresh) {
        if (uv_cond_timedwait(&w->wake, &w->lock, IDLE_NS) == UV_ETIMEDOUT)
            w->refresh = true;
    }
    *count = take(w, tasks);
    *refresh = w->refresh;
    w->refresh = false;
    w->status.busy_since = lks_clock_steady();
    bool more = !w->stop;
    uv_mutex_unlock(&w->lock);
    return more;
}

static void run(void *arg)
{
    struct lks_worker *w = arg;
    struct lks_worker_task *tasks[LKS_WORKER_BATCH];
    size_t count = 0;
    bool refresh = false;
    while (await(w, tasks, &count, &refresh)) {
        if (count > 0) {
            lks_worker_write(w, tasks, count);
            finish(w, tasks, count);
        }
        if (refresh)
            renew(w);
    }
    finish(w, tasks, count); /* what was taken at the end is done: it is not answered */
}

/* What the loop's thread calls -------------------------------------------------------------- */

enum lks_code lks_worker_start(struct lks_worker *w, uv_loop_t *loop, uv_async_cb done, void *ctx,
                               struct lks_err *err)
{
    w->last = &w->first;
    w->epoch = w->durable.epoch;
    w->refresh = true;
    lks_bridge_book_init(&w->book, w->durable.ceiling);
    w->done.data = ctx;
    if (uv_mutex_init(&w->lock) != 0)
        return lks_fail_nomem(err);
    if (uv_cond_init(&w->wake) != 0) {
        uv_mutex_destroy(&w->lock);
        return lks_fail_nomem(err);
    }
    bool rings = uv_async_init(loop, &w->done, done) == 0;
    if (rings && uv_thread_create(&w->thread, run, w) == 0)
        return LKS_OK;
    if (rings)
        uv_close((uv_handle_t *)&w->done, NULL); /* the loop still runs to its end */
    uv_cond_destroy(&w->wake);
    uv_mutex_destroy(&w->lock);
    return lks_fail_nomem(err);
}

bool lks_worker_stop(struct lks_worker *w, lks_ms patience)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)(patience / LKS_SECOND);
    uv_mutex_lock(&w->lock);
    w->stop = true;
    uv_cond_signal(&w->wake);
    uv_mutex_unlock(&w->lock);
    return pthread_timedjoin_np(w->thread, NULL, &until) == 0;
}

void lks_worker_refresh(struct lks_worker *w)
{
    uv_mutex_lock(&w->lock);
    w->refresh = true;
    uv_cond_signal(&w->wake);
    uv_mutex_unlock(&w->lock);
}

bool lks_worker_put(struct lks_worker *w, struct lks_worker_task *task)
{
    uv_mutex_lock(&w->lock);
    bool fits = w->queued < LKS_WORKER_QUEUE_MAX;
    if (fits) {
        task->state = LKS_TASK_QUEUED;
        task->next = NULL;
        *w->last = task;
        w->last = &task->next;
        w->queued++;
        uv_cond_signal(&w->wake);
    }
    uv_mutex_unlock(&w->lock);
    return fits;
}

bool lks_worker_cancel(struct lks_worker *w, struct lks_worker_task *task)
{
    uv_mutex_lock(&w->lock);
    bool queued = task->state == LKS_TASK_QUEUED;
    for (struct lks_worker_task **at = &w->first; queued && *at != NULL; at = &(*at)->next) {
        if (*at != task)
            continue;
        *at = task->next;
        if (w->last == &task->next)
            w->last = at;
        w->queued--;
        break;
    }
    uv_mutex_unlock(&w->lock);
    return queued;
}
