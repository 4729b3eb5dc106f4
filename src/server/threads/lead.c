#include "server/threads/lead.h"

#include "server/threads/seen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

lks_ms lks_lead_clock(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_BOOTTIME, &ts);
    return (lks_ms)ts.tv_sec * LKS_SECOND + (lks_ms)ts.tv_nsec / 1000000;
}

_Noreturn void lks_lead_lost(const struct lks_daemon *d, const char *why)
{
    struct lks_log_field field = {"cause", lks_str_from(why)};
    lks_daemon_log(d, LKS_LEVEL_ERROR, "no longer the leader; ends, to come back as a follower",
                   &field, 1);
    _exit(EXIT_FAILURE);
}

void lks_lead_check(const struct lks_daemon *d)
{
    uint64_t until = atomic_load(&d->lease_until);
    if (until != UINT64_MAX && lks_lead_clock() >= until)
        lks_lead_lost(d, "the lease was not renewed in time");
}

/* The lease's caller -------------------------------------------------------------------------- */

static lks_ms clock_of(void *self)
{
    (void)self;
    return lks_lead_clock();
}

static void note_leads(void *self, lks_ms until)
{
    struct lks_store_thread *t = self;
    atomic_store(&t->daemon->lease_until, until);
}

static void post_news(void *self, const struct lks_lease_news *news)
{
    struct lks_store_thread *t = self;
    struct lks_news *m = (struct lks_news *)lks_mail_new(LKS_MAIL_NEWS);
    m->lease = *news;
    lks_mailbox_post(&t->daemon->state->box, &m->mail);
}

static void log_warning(void *self, const char *msg, const struct lks_err *why)
{
    const struct lks_store_thread *t = self;
    struct lks_log_field field = {"cause", lks_str_from(why->msg)};
    lks_daemon_log(t->daemon, LKS_LEVEL_WARNING, msg, &field, 1);
}

/* Turns --------------------------------------------------------------------------------------- */

/* Until something may be new. The loop looks at its mail in between: not with a timer of 0, which
 * libuv runs again and again before it looks at anything else. */
static lks_ms rest(struct lks_store_thread *t)
{
    struct lks_err err = {0};
    bool waited = t->store.ops->wait != NULL &&
                  t->store.ops->wait(t->store.self, LKS_LEASE_POLL, &err) == LKS_OK;
    return waited ? 1 : LKS_LEASE_POLL;
}

static void on_timer(uv_timer_t *timer)
{
    struct lks_store_thread *t = timer->data;
    struct lks_lease_controller *lease = &t->lead.lease;
    const struct lks_config *config = lks_daemon_config(t->daemon);
    const struct lks_lease_terms terms = {
        .options = &t->daemon->options,
        .url = lks_daemon_url(t->daemon),
        .ttl = config->lease_ms,
        .require_sync = config->require_sync != 0,
    };
    struct lks_err err = {0};
    lks_ms again = 0;
    bool led = lease->state == LKS_LEASE_LEADS;
    lks_lead_check(t->daemon);
    if (lks_lease_turn(lease, &terms, &again, &err) != LKS_OK) {
        if (lease->state == LKS_LEASE_LOST)
            lks_lead_lost(t->daemon, err.msg);
        lks_daemon_die(t->daemon, "the store's journal cannot be followed", &err);
    }
    if (!led)
        lks_seen_note(t, &lease->place);
    if (lease->state != LKS_LEASE_LEADS)
        again = rest(t);
    uv_timer_start(timer, on_timer, again, 0);
}

void lks_lead_begin(struct lks_store_thread *t, const struct lks_engine_place *place)
{
    uint64_t chance = 0;
    struct lks_err err = {0};
    char holder[LKS_STORE_NAME_SIZE];
    /* A process that was taken for dead and its successor must not be the same holder. */
    if (lks_secrets_chance(&chance, sizeof(chance), &err) != LKS_OK)
        lks_daemon_die(t->daemon, "cannot name the holder of a lease", &err);
    snprintf(holder, sizeof(holder), "%.40s:%016" PRIx64, lks_daemon_name(t->daemon), chance);
    t->lead.lease = (struct lks_lease_controller){
        .caller = {t, clock_of, note_leads, post_news, log_warning},
        .store = &t->store,
    };
    lks_lease_begin(&t->lead.lease, place, holder);
    uv_timer_init(&t->loop, &t->lead.timer);
    t->lead.timer.data = t;
    uv_timer_start(&t->lead.timer, on_timer, 0, 0);
}

void lks_lead_wrote(struct lks_store_thread *t, const struct lks_engine_batch *batch)
{
    if (batch->store.row_count == 0)
        return;
    lks_lease_wrote(&t->lead.lease, batch);
    lks_seen_note(t, &t->lead.lease.place);
}

void lks_lead_end(struct lks_store_thread *t)
{
    if (t->lead.lease.state == LKS_LEASE_NONE)
        return;
    uv_close((uv_handle_t *)&t->lead.timer, NULL);
    lks_lease_end(&t->lead.lease);
}
