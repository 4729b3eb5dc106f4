#include "server/threads/lead.h"

#include "server/threads/seen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    POLL_MS = 250, /* between two looks at the store, unless it says that there is something new */
    MARGIN = 8,    /* our clock and the store's may differ by so small a part of a lease */
    RENEWALS = 3,  /* in the time of one lease */
};

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

static void move(struct lks_store_thread *t, enum lks_lease to)
{
    LKS_MACHINE_MOVE(&lks_lease_moves, t->lead.state, to);
}

/* What is the same as the last time is not said again. */
static void say(struct lks_store_thread *t, const char *msg, const struct lks_err *why)
{
    struct lks_lead *l = &t->lead;
    char text[sizeof(l->said)];
    if (snprintf(text, sizeof(text), "%s %s", msg, why->msg) < 0 || strcmp(text, l->said) == 0)
        return;
    snprintf(l->said, sizeof(l->said), "%s", text);
    struct lks_log_field field = {"cause", lks_str_from(why->msg)};
    lks_daemon_log(t->daemon, LKS_LEVEL_WARNING, msg, &field, 1);
}

/* Following ----------------------------------------------------------------------------------- */

/* Look once. What came is for the state thread. */
static enum lks_code look(struct lks_store_thread *t, bool *more, struct lks_news **out,
                          struct lks_err *err)
{
    struct lks_news *m = (struct lks_news *)lks_mail_new(LKS_MAIL_NEWS);
    enum lks_code code =
        lks_engine_look(&t->daemon->options, &t->store, &t->lead.place, &m->news, err);
    if (code != LKS_OK) {
        lks_mail_drop(&m->mail);
        return code;
    }
    *more = m->news.more;
    *out = m;
    return LKS_OK;
}

/* All there is. The last of it is left in `out`; what came before is on its way. */
static bool catch_up(struct lks_store_thread *t, struct lks_news **out)
{
    struct lks_err err = {0};
    struct lks_news *m = NULL;
    for (bool more = true; more;) {
        if (m != NULL)
            lks_mailbox_post(&t->daemon->state->box, &m->mail);
        m = NULL;
        enum lks_code code = look(t, &more, &m, &err);
        if (code == LKS_E_UNAVAILABLE || code == LKS_E_TIMEOUT) {
            say(t, "the store cannot be read; what is known here grows old", &err);
            return false;
        }
        if (code != LKS_OK)
            lks_daemon_die(t->daemon, "the store's journal cannot be followed", &err);
    }
    *out = m;
    return true;
}

/* Whether a record that the store acknowledges is safe there. */
static bool is_safe(struct lks_store_thread *t)
{
    struct lks_err err = {0};
    if (t->store.ops->safe == NULL || lks_daemon_config(t->daemon)->require_sync == 0 ||
        t->store.ops->safe(t->store.self, &err) == LKS_OK)
        return true;
    say(t, "does not lead while the store is not replicated synchronously", &err);
    return false;
}

/* Ask for the lease, or for more time. It counts from before the question. */
static enum lks_code ask(struct lks_store_thread *t, struct lks_store_lease *lease, lks_ms *until,
                         struct lks_err *err)
{
    lks_ms ttl = lks_daemon_config(t->daemon)->lease_ms, asked = lks_lead_clock();
    if (t->store.ops->lead(t->store.self, t->lead.holder, lks_daemon_url(t->daemon), ttl, lease,
                           err) != LKS_OK)
        return err->code;
    *until = asked + ttl - ttl / MARGIN;
    return LKS_OK;
}

/* From the moment the lease is ours no other controller's rows are taken, so what is read then is
 * all. */
static void take_over(struct lks_store_thread *t, uint64_t epoch, lks_ms until)
{
    struct lks_news *rest = NULL;
    move(t, LKS_LEASE_TAKEN);
    if (!catch_up(t, &rest)) {
        move(t, LKS_LEASE_FOLLOWS);
        return;
    }
    move(t, LKS_LEASE_LEADS);
    t->lead.epoch = rest->epoch = epoch;
    atomic_store(&t->daemon->lease_until, until);
    lks_mailbox_post(&t->daemon->state->box, &rest->mail);
}

/* What was read is up to date only while a controller leads: else no controller hears the fleet. */
static void follow_once(struct lks_store_thread *t)
{
    struct lks_store_lease lease = {0};
    struct lks_err err = {0};
    struct lks_news *news = NULL;
    lks_ms began = lks_lead_clock(), until = 0;
    if (!catch_up(t, &news))
        return;
    if (is_safe(t)) {
        if (ask(t, &lease, &until, &err) != LKS_OK)
            say(t, "who leads cannot be asked", &err);
        else
            t->lead.said[0] = '\0';
    }
    bool ours = strcmp(lease.name, t->lead.holder) == 0;
    if (!ours && lease.left > 0)
        news->confirmed = began;
    lks_mailbox_post(&t->daemon->state->box, &news->mail);
    if (ours)
        take_over(t, lease.epoch, until);
}

/* Until something may be new. The loop looks at its mail in between: not with a timer of 0, which
 * libuv runs again and again before it looks at anything else. */
static void rest(struct lks_store_thread *t)
{
    struct lks_err err = {0};
    bool waited =
        t->store.ops->wait != NULL && t->store.ops->wait(t->store.self, POLL_MS, &err) == LKS_OK;
    uv_timer_start(&t->lead.timer, t->lead.on_timer, waited ? 1 : POLL_MS, 0);
}

static void follow(struct lks_store_thread *t)
{
    follow_once(t);
    lks_seen_note(t, &t->lead.place);
    if (t->lead.state != LKS_LEASE_LEADS)
        rest(t);
    else
        uv_timer_start(&t->lead.timer, t->lead.on_timer, 0, 0);
}

/* Leading ------------------------------------------------------------------------------------- */

static void renew(struct lks_store_thread *t)
{
    struct lks_store_lease lease = {0};
    struct lks_err err = {0};
    lks_ms until = 0, again = lks_daemon_config(t->daemon)->lease_ms / RENEWALS;
    lks_lead_check(t->daemon);
    enum lks_code code = ask(t, &lease, &until, &err);
    if (code != LKS_OK) {
        say(t, "the lease could not be renewed; tries again", &err);
        again = POLL_MS;
    } else if (strcmp(lease.name, t->lead.holder) != 0 || lease.epoch != t->lead.epoch) {
        move(t, LKS_LEASE_LOST);
        lks_lead_lost(t->daemon, "another controller has the lease");
    } else {
        move(t, LKS_LEASE_LEADS);
        atomic_store(&t->daemon->lease_until, until);
        t->lead.said[0] = '\0';
    }
    uv_timer_start(&t->lead.timer, t->lead.on_timer, again, 0);
}

static void on_timer(uv_timer_t *timer)
{
    struct lks_store_thread *t = timer->data;
    if (t->lead.state == LKS_LEASE_LEADS)
        renew(t);
    else
        follow(t);
}

void lks_lead_begin(struct lks_store_thread *t, const struct lks_engine_place *place)
{
    uint64_t chance = 0;
    struct lks_err err = {0};
    /* A process that was taken for dead and its successor must not be the same holder. */
    if (lks_secrets_chance(&chance, sizeof(chance), &err) != LKS_OK)
        lks_daemon_die(t->daemon, "cannot name the holder of a lease", &err);
    snprintf(t->lead.holder, sizeof(t->lead.holder), "%.40s:%016" PRIx64,
             lks_daemon_name(t->daemon), chance);
    t->lead.place = *place;
    t->lead.on_timer = on_timer;
    uv_timer_init(&t->loop, &t->lead.timer);
    t->lead.timer.data = t;
    move(t, LKS_LEASE_FOLLOWS);
    uv_timer_start(&t->lead.timer, on_timer, 0, 0);
}

void lks_lead_wrote(struct lks_store_thread *t, const struct lks_engine_batch *batch)
{
    if (batch->store.row_count == 0)
        return;
    const struct lks_row *last = &batch->rows[batch->store.row_count - 1];
    t->lead.place.seq = last->seq;
    t->lead.place.time = last->time;
    memcpy(t->lead.place.hash, last->hash, sizeof(last->hash));
    lks_seen_note(t, &t->lead.place);
}

void lks_lead_end(struct lks_store_thread *t)
{
    struct lks_err err = {0};
    if (t->lead.state == LKS_LEASE_NONE)
        return;
    bool leads = t->lead.state == LKS_LEASE_LEADS;
    uv_close((uv_handle_t *)&t->lead.timer, NULL);
    move(t, LKS_LEASE_RETURNED);
    if (leads && t->store.ops->resign(t->store.self, t->lead.epoch, &err) != LKS_OK)
        say(t, "the lease could not be given back; another waits until it expires", &err);
}
