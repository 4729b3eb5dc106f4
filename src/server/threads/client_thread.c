#include "server/threads/client_thread.h"

#include "drivers/http/login.h"
#include "server/threads/client_parts.h"
#include "server/threads/lead.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    TURN_MS = 500,        /* longest wait for something to happen */
    QUICK_MS = 5,         /* the same where the clock runs fast */
    AGAIN_MS = 1000,      /* a call that could not be taken is asked again after */
    RESTART_MS = 30000,   /* an update that cannot go on is tried again after, and then ... */
    RESTARTS_TWICE = 4,   /* ... after twice as long, so often */
    LASTS_MIN_MS = 20000, /* devices may be fast, but to ask them takes as long as ever */
    PATH_BYTES_MAX = 4096,
};

_Static_assert(LKS_CONVERSATION_SAVED_MAX <= LKS_FLASH_SAVED_MAX, "what is saved fits a record");

static lks_ms mono_now(void)
{
    return lks_daemon_now().mono;
}

/* The clock of conversations: the wall's, or one that is fast by a factor and so the same after a
 * restart, which finds times that were saved. It never decreases. */
static lks_ms clock_now(void *ctx)
{
    const struct lks_client_thread *c = ctx;
    return (c->since.wall + (mono_now() - c->since.mono)) * c->speed;
}

/* Messages ---------------------------------------------------------------------------------- */

void lks_client_post(struct lks_client_thread *c, struct lks_mail *mail)
{
    mail->next = NULL;
    uv_mutex_lock(&c->queue.lock);
    bool closed = c->queue.drop != NULL;
    if (!closed) {
        *c->queue.last = mail;
        c->queue.last = &mail->next;
        uv_cond_signal(&c->come);
    }
    uv_mutex_unlock(&c->queue.lock);
    if (closed)
        lks_mail_drop(mail);
    else if (c->talks != NULL)
        lks_talks_wake(c->talks);
}

/* Jobs -------------------------------------------------------------------------------------- */

static bool copy_endpoint(struct lks_arena *arena, const struct lks_internal_endpoint *from,
                          struct lks_internal_endpoint *to)
{
    const struct {
        struct lks_str from, *to;
    } texts[] = {{from->name, &to->name},
                 {from->site, &to->site},
                 {from->url, &to->url},
                 {from->trust, &to->trust},
                 {from->credentials, &to->credentials},
                 {from->driver, &to->driver},
                 {from->fingerprint, &to->fingerprint}};
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        *texts[i].to = lks_arena_copy(arena, texts[i].from);
        if (texts[i].to->ptr == NULL)
            return false;
    }
    return true;
}

static void job_ended(struct lks_client_dialog *talk, const struct lks_err *why);

struct lks_client_job *lks_client_job_new(struct lks_client_thread *c,
                                          const struct lks_internal_endpoint *at)
{
    struct lks_client_job *job = calloc(1, sizeof(*job));
    if (job == NULL)
        return NULL;
    job->talk.ended = job_ended;
    job->client = c;
    job->number = ++c->next_job;
    lks_arena_init(&job->arena, LKS_BMC_MEMORY_MAX);
    lks_bmc_inventory_init(&job->inventory);
    lks_buf_init(&job->saved, LKS_FLASH_SAVED_MAX);
    job->next = c->jobs;
    if (job->next != NULL)
        job->next->before = job;
    c->jobs = job;
    if (copy_endpoint(&job->arena, at, &job->at))
        return job;
    lks_client_job_free(job);
    return NULL;
}

void lks_client_job_free(struct lks_client_job *job)
{
    struct lks_client_thread *c = job->client;
    if (job->dialog != NULL)
        lks_talks_cancel(c->talks, job->dialog);
    if (job->before != NULL)
        job->before->next = job->next;
    else
        c->jobs = job->next;
    if (job->next != NULL)
        job->next->before = job->before;
    c->sweeper.count -= job->reading;
    lks_call_free(job->call);
    lks_bmc_inventory_fini(&job->inventory);
    lks_buf_fini(&job->saved);
    lks_arena_fini(&job->arena);
    free(job);
}

static struct lks_client_job *find_job(const struct lks_client_thread *c, uint64_t number)
{
    struct lks_client_job *job = c->jobs;
    while (job != NULL && job->number != number)
        job = job->next;
    return job;
}

void lks_client_ask(struct lks_client_job *job, struct lks_call *call)
{
    lks_mailbox_post(&job->client->daemon->state->box, &call->mail);
}

/* Sites share a limit by a number; two that get the same one share it too. */
static uint32_t site_number(struct lks_str site)
{
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (size_t i = 0; i < site.len; i++)
        hash = (hash ^ (unsigned char)site.ptr[i]) * 16777619U;
    return hash % LKS_TALKS_SITES_MAX;
}

enum lks_code lks_client_dial(struct lks_client_job *job, const struct lks_conversation_ops *ops,
                              struct lks_bmc_secret *secret, struct lks_err *err)
{
    static const char file[] = "file:";
    const struct lks_internal_endpoint *at = &job->at;
    bool ca = lks_str_starts(at->trust, file);
    if (job->client->talks == NULL)
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s", job->client->broken.msg);
    if (!ca && at->fingerprint.len == 0)
        return lks_fail(err, LKS_E_DENIED,
                        "no certificate of %" LKS_STR_FMT
                        " is recorded; inspect and record it: lockstep bmc trust "
                        "%" LKS_STR_FMT,
                        LKS_STR_ARG(at->url), LKS_STR_ARG(at->url));
    if (lks_login_get(at->credentials.ptr, secret, err) != LKS_OK)
        return err->code = LKS_E_DENIED; /* whatever it is, they may be there later */
    const struct lks_dialog_options options = {
        .peer = {.url = at->url.ptr,
                 .ca = ca ? at->trust.ptr + strlen(file) : NULL,
                 .fingerprint = ca ? NULL : at->fingerprint.ptr},
        .site = site_number(at->site),
        .ops = ops,
        .ctx = job,
    };
    return lks_talks_add(job->client->talks, &options, &job->dialog, err);
}

/* Updates ----------------------------------------------------------------------------------- */

/* As lks_mail_new(): a daemon that cannot tell its threads anything is over. */
static struct lks_call *new_call(const struct lks_client_job *job, enum lks_internal_kind kind)
{
    struct lks_call *call = lks_internal_call(job->client->daemon, kind, job->number);
    if (call == NULL)
        abort();
    return call;
}

/* Say how it ended. */
static void end_flash(struct lks_client_job *job, struct lks_rec_flash_ended ended)
{
    struct lks_call *call = new_call(job, LKS_INTERNAL_ENDED);
    struct lks_arena *arena = &call->own->arena;
    ended.id = job->id;
    ended.found = lks_arena_copy(arena, ended.found);
    ended.text = lks_arena_copy(arena, ended.text);
    call->own->ended = ended;
    lks_client_ask(job, call);
}

/* Whether there is time to try it once more, with credentials that are read anew: ever more seldom,
 * since services lock out who keeps asking in vain. */
static bool try_later(struct lks_client_job *job)
{
    lks_ms now = lks_daemon_now().wall;
    if (now >= job->deadline)
        return false;
    lks_ms left = job->deadline - now;
    lks_ms wait = ((lks_ms)RESTART_MS << job->tries) / job->client->speed;
    job->tries += job->tries < RESTARTS_TWICE;
    job->again = mono_now() + (wait < left ? wait : left);
    return true;
}

/* It cannot be started, or not continued. Where nothing was sent that is its end; else it is tried
 * again until its deadline, when its outcome is unknown. */
static void fail_flash(struct lks_client_job *job, const struct lks_err *err)
{
    bool sent = job->saved.len > 0;
    if (job->dialog != NULL)
        lks_talks_cancel(job->client->talks, job->dialog);
    job->dialog = NULL;
    bool later = err->code == LKS_E_LIMIT || (sent && err->code != LKS_E_INVALID);
    if (later && try_later(job))
        return;
    end_flash(job, (struct lks_rec_flash_ended){.outcome = sent ? LKS_BMC_UNKNOWN : LKS_BMC_REFUSED,
                                                .found = LKS_STR(""),
                                                .text = lks_str_from(err->msg)});
}

static enum lks_code begin_update(struct lks_client_job *job, struct lks_err *err)
{
    struct lks_bmc_secret secret = {0};
    const struct lks_facts *facts = lks_daemon_facts(job->client->daemon);
    struct lks_str saved = lks_buf_view(&job->saved);
    if (job->driver == NULL)
        return lks_fail(err, LKS_E_INVALID, "there is no driver '%" LKS_STR_FMT "'",
                        LKS_STR_ARG(job->at.driver));
    enum lks_code code = lks_client_dial(job, job->driver->update, &secret, err);
    if (code == LKS_OK)
        code = job->driver->update_begin(lks_talks_value(job->dialog), facts, &secret, &job->intent,
                                         err);
    lks_login_wipe(&secret);
    if (code == LKS_OK && saved.len > 0)
        code = job->driver->update->load(lks_talks_value(job->dialog), saved, err);
    return code;
}

static void start_flash(struct lks_client_job *job)
{
    struct lks_err err = {0};
    job->again = 0;
    if (begin_update(job, &err) == LKS_OK)
        lks_talks_start(job->client->talks, job->dialog, job->saved.len > 0);
    else
        fail_flash(job, &err);
}

static struct lks_client_job *find_flash(const struct lks_client_thread *c, uint64_t id)
{
    struct lks_client_job *job = c->jobs;
    while (job != NULL && (job->reading || job->id != id))
        job = job->next;
    return job;
}

/* Texts of the intent as the job's own; false: no memory. */
static bool copy_intent(struct lks_client_job *job, const struct lks_bmc_intent *from)
{
    struct lks_bmc_intent *to = &job->intent;
    *to = *from;
    struct lks_str *const texts[] = {&to->component, &to->version, &to->image_name, &to->apply_time,
                                     &to->pull};
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        *texts[i] = lks_arena_copy(&job->arena, *texts[i]);
        if (texts[i]->ptr == NULL)
            return false;
    }
    return true;
}

static void take_flash(struct lks_client_thread *c, const struct lks_flash_mail *m)
{
    struct lks_client_job *job = find_flash(c, m->id);
    if (job != NULL && m->over)
        lks_client_job_free(job); /* an answer to it is dropped */
    if (job != NULL || m->over)
        return;
    job = lks_client_job_new(c, &m->at);
    if (job == NULL || !copy_intent(job, &m->intent))
        abort();
    job->id = m->id;
    lks_ms lasts = (m->intent.deadline - m->begun) / c->speed;
    if (c->speed > 1 && lasts < LASTS_MIN_MS)
        lasts = LASTS_MIN_MS;
    job->deadline = m->begun + lasts;
    job->intent.deadline = job->deadline * c->speed;
    job->driver = lks_bmc_driver(job->at.driver);
    lks_buf_add(&job->saved, m->saved);
    job->restored = m->saved.len > 0;
    start_flash(job);
}

/* Nothing is sent before what it says now is durable. */
static void on_checkpoint(void *ctx, struct lks_dialog *dialog, struct lks_str saved)
{
    (void)ctx;
    struct lks_client_job *job = lks_talks_ctx(dialog);
    struct lks_bmc_status status = {0};
    struct lks_call *call = new_call(job, LKS_INTERNAL_SAVED);
    lks_buf_truncate(&job->saved, 0);
    lks_buf_add(&job->saved, saved);
    if (job->saved.failed != LKS_OK)
        abort();
    job->driver->update_status(lks_talks_value(dialog), &status);
    call->own->saved = (struct lks_rec_flash_saved){
        .id = job->id,
        .saved = lks_arena_copy(&call->own->arena, saved),
        .phase = lks_str_from(status.phase != NULL ? status.phase : ""),
        .percent = status.percent,
    };
    lks_client_ask(job, call);
}

/* Nothing was sent to the endpoint since the checkpoint. What was sent before a restart, if
 * anything, is for a person to look at. */
void lks_client_pulled(struct lks_client_job *job, const struct lks_err *why)
{
    job->pulling = false;
    if (job->dialog == NULL)
        return;
    if (why->code == LKS_OK) {
        lks_talks_resume(job->client->talks, job->dialog);
        return;
    }
    if (job->restored) {
        fail_flash(job, why);
        return;
    }
    lks_talks_cancel(job->client->talks, job->dialog);
    job->dialog = NULL;
    end_flash(job, (struct lks_rec_flash_ended){.outcome = LKS_BMC_REFUSED,
                                                .found = LKS_STR(""),
                                                .text = lks_str_from(why->msg)});
}

/* What was saved is durable. */
static void resume(struct lks_client_job *job)
{
    struct lks_bmc_status status = {0};
    job->tries = 0;
    job->driver->update_status(lks_talks_value(job->dialog), &status);
    if (!status.pulls || lks_pulls_ready(job->client, job))
        lks_talks_resume(job->client->talks, job->dialog);
}

/* How it ended, by its driver; one that gave up without saying so may have sent something. One that
 * was not let in has not ended: what was sent before goes on without us. */
static void update_ended(struct lks_client_job *job, const struct lks_err *why)
{
    struct lks_bmc_status status = {0};
    bool sent = job->saved.len > 0;
    job->driver->update_status(lks_talks_value(job->dialog), &status);
    job->dialog = NULL; /* it is gone when this returns */
    if (status.outcome == LKS_BMC_OPEN && why->code == LKS_E_DENIED && sent && try_later(job))
        return;
    struct lks_rec_flash_ended ended = {
        .outcome = status.outcome,
        .found = status.found,
        .text = why->code != LKS_OK && status.text.len == 0 ? lks_str_from(why->msg) : status.text,
        .uploads = status.uploads,
    };
    if (status.outcome == LKS_BMC_OPEN)
        ended.outcome = sent || status.uploads > 0 ? LKS_BMC_UNKNOWN : LKS_BMC_FAILED;
    end_flash(job, ended);
}

static void job_ended(struct lks_client_dialog *talk, const struct lks_err *why)
{
    struct lks_client_job *job = (struct lks_client_job *)talk;
    if (job->reading)
        lks_sweeper_ended(job, why);
    else
        update_ended(job, why);
}

static void on_ended(void *ctx, struct lks_dialog *dialog, const struct lks_err *why)
{
    (void)ctx;
    struct lks_client_dialog *talk = lks_talks_ctx(dialog);
    talk->ended(talk, why);
}

static void on_heard(void *ctx, struct lks_dialog *dialog)
{
    struct lks_client_thread *c = ctx;
    (void)dialog;
    atomic_fetch_add(&c->daemon->counts.requests, 1);
}

/* Answers ----------------------------------------------------------------------------------- */

/* It can be asked again: the journal could not be written, or no controller led. */
static bool is_passing(const struct lks_call *call)
{
    return call->status == 503 || call->status == 429;
}

/* The same call anew, with what was asked. */
static struct lks_call *renew(struct lks_call *call)
{
    struct lks_internal *own = call->own;
    struct lks_call *fresh = lks_internal_call(call->daemon, own->kind, own->job);
    if (fresh == NULL)
        return NULL;
    lks_internal_free(fresh->own);
    fresh->own = own;
    call->own = NULL;
    if (own->kind != LKS_INTERNAL_READ)
        return fresh;
    struct lks_err err = {0};
    if (lks_internal_readings(fresh, call->named, lks_buf_view(&call->bytes), &err) == LKS_OK)
        return fresh;
    lks_call_free(fresh);
    return NULL;
}

/* Whether it is asked again, after a while. */
static bool ask_again(struct lks_client_job *job, struct lks_call *call)
{
    enum { READ_TRIES = 5 };
    if (!is_passing(call) || (job->reading && ++job->tries > READ_TRIES))
        return false;
    job->call = renew(call);
    job->again = mono_now() + AGAIN_MS;
    return job->call != NULL;
}

/* What an update left behind is read at once, rather than when its turn comes: also where it left
 * all as it was, for what had been read ended when it began. */
static void read_after(struct lks_client_job *job)
{
    if (job->client->talks != NULL)
        lks_sweeper_read(job->client, &job->at, false);
}

static void take_answer(struct lks_client_thread *c, struct lks_call *call)
{
    const struct lks_internal *own = call->own;
    struct lks_client_job *job = find_job(c, own->job);
    if (own->job == 0) {
        lks_sweeper_take(c, call, mono_now());
        lks_metrics_poller_take(c, call, mono_now());
        lks_sched_runner_take(c, call, mono_now());
        lks_change_drafter_take(c, call, mono_now());
        lks_ticket_notifier_take(c, call, mono_now());
    }
    if (job == NULL || ask_again(job, call))
        return;
    if (own->kind == LKS_INTERNAL_SAVED && call->status == 200 && job->dialog != NULL) {
        resume(job);
        return;
    }
    if (own->kind == LKS_INTERNAL_READ)
        atomic_fetch_add(call->status == 200 ? &c->daemon->counts.read : &c->daemon->counts.failed,
                         1);
    if (own->kind == LKS_INTERNAL_ENDED && call->status == 200)
        read_after(job);
    lks_client_job_free(job); /* it ended, or was ended */
}

/* Calls and updates whose time came again. */
static void go_on(struct lks_client_thread *c, lks_ms mono)
{
    for (struct lks_client_job *job = c->jobs, *next; job != NULL; job = next) {
        next = job->next;
        if (job->again == 0 || job->again > mono)
            continue;
        job->again = 0;
        struct lks_call *call = job->call;
        job->call = NULL;
        if (call != NULL)
            lks_client_ask(job, call);
        else if (!job->reading)
            start_flash(job);
    }
}

/* The thread -------------------------------------------------------------------------------- */

static void deliver(struct lks_client_thread *c, struct lks_mail *mail)
{
    if (mail->kind == LKS_MAIL_CALL)
        take_answer(c, (struct lks_call *)mail);
    if (mail->kind == LKS_MAIL_FLASH)
        take_flash(c, (const struct lks_flash_mail *)mail);
    if (mail->kind == LKS_MAIL_STOP)
        c->stopping = true;
    lks_mail_drop(mail);
}

static void turn(struct lks_client_thread *c)
{
    struct lks_err err = {0};
    if (c->talks == NULL) {
        uv_mutex_lock(&c->queue.lock);
        if (c->queue.first == NULL)
            (void)uv_cond_timedwait(&c->come, &c->queue.lock, (uint64_t)TURN_MS * 1000000);
        uv_mutex_unlock(&c->queue.lock);
    } else if (lks_talks_turn(c->talks, c->speed > 1 ? QUICK_MS : TURN_MS, &err) != LKS_OK) {
        lks_daemon_die(c->daemon, "the client thread cannot go on", &err);
    }
}

/* Conversations in progress are cut: the next start finds out what became of them. */
static void run(void *arg)
{
    struct lks_client_thread *c = arg;
    while (!c->stopping) {
        for (struct lks_mail *mail = lks_mailbox_take(&c->queue), *next; mail != NULL;
             mail = next) {
            next = mail->next;
            deliver(c, mail);
        }
        lks_lead_check(c->daemon); /* what leaves, leaves from the controller that leads */
        go_on(c, mono_now());
        lks_sweeper_tick(c, mono_now());
        lks_metrics_poller_tick(c, mono_now());
        lks_sched_runner_tick(c, mono_now());
        lks_change_drafter_tick(c, mono_now());
        lks_ticket_notifier_tick(c, mono_now());
        if (!c->stopping)
            turn(c);
    }
    lks_mailbox_shut(&c->queue, lks_mail_drop);
    while (c->jobs != NULL)
        lks_client_job_free(c->jobs);
    lks_metrics_poller_fini(c);
    lks_sched_runner_fini(c);
    lks_ticket_notifier_fini(c);
    lks_pulls_fini(c);
    lks_talks_free(c->talks);
    lks_depot_close(&c->depot);
}

static int open_image(void *ctx, const char *digest, struct lks_err *err)
{
    const struct lks_client_thread *c = ctx;
    uint64_t size = 0;
    int fd = -1;
    return lks_depot_find(&c->depot, digest, &fd, &size, err) == LKS_OK ? fd : -1;
}

/* Where there is no libcurl, everything but talking to endpoints still works. */
static void make_talks(struct lks_client_thread *c)
{
    const struct lks_config *config = lks_daemon_config(c->daemon);
    const struct lks_talks_options options = {
        .curl = {.open = open_image, .ctx = c},
        .all_max = (unsigned)config->bmc_concurrency,
        .site_max = (unsigned)config->bmc_site_concurrency,
        .clock = clock_now,
        .clock_ctx = c,
        .ctx = c,
        .checkpoint = on_checkpoint,
        .heard = on_heard,
        .ended = on_ended,
    };
    struct lks_log_field field = {"cause", lks_str_from(c->broken.msg)};
    if (lks_talks_new(&options, &c->talks, &c->broken) == LKS_OK)
        return;
    c->talks = NULL;
    field.value = lks_str_from(c->broken.msg);
    lks_daemon_log(c->daemon, LKS_LEVEL_WARNING, "management endpoints cannot be talked to", &field,
                   1);
}

enum lks_code lks_client_thread_init(struct lks_client_thread *c, struct lks_daemon *daemon,
                                     struct lks_err *err)
{
    char path[PATH_BYTES_MAX];
    c->daemon = daemon;
    c->queue.last = &c->queue.first;
    c->since = lks_daemon_now();
    c->speed = lks_daemon_config(daemon)->bmc_speed;
    uv_mutex_init(&c->queue.lock);
    uv_cond_init(&c->come);
    snprintf(path, sizeof(path), "%s/depot", lks_daemon_config(daemon)->data.ptr);
    if (lks_depot_open(path, &c->depot, err) != LKS_OK)
        return lks_wrap(err, "%s", path);
    make_talks(c);
    return LKS_OK;
}

enum lks_code lks_client_thread_start(struct lks_client_thread *c, struct lks_err *err)
{
    if (uv_thread_create(&c->thread, run, c) != 0)
        return lks_fail(err, LKS_E_IO, "cannot start the client thread");
    c->started = true;
    return LKS_OK;
}

void lks_client_thread_join(struct lks_client_thread *c)
{
    if (c->started)
        uv_thread_join(&c->thread);
    uv_mutex_destroy(&c->queue.lock);
    uv_cond_destroy(&c->come);
}
