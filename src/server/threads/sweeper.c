#include "server/threads/sweeper.h"

#include "drivers/http/login.h"
#include "model/tuple/tuple.h"
#include "server/threads/client_parts.h"

enum {
    LOOK_MS = 1000,        /* how often endpoints that are due are looked for ... */
    TROUBLE_MS = 10000,    /* ... or after that failed */
    LEASE_MORE_MS = 60000, /* a lease lasts longer than a reading may */
    BATCH_MAX = 256,
};

/* Leases ------------------------------------------------------------------------------------ */

/* Twice as many as are asked at a time: those that wait in vain for a peer keep none from theirs.
 */
static unsigned room_for(const struct lks_client_thread *c, const struct lks_config *config)
{
    unsigned most = 2 * (unsigned)config->bmc_concurrency;
    unsigned left = c->sweeper.count < most ? most - c->sweeper.count : 0;
    return left < BATCH_MAX ? left : BATCH_MAX;
}

void lks_sweeper_tick(struct lks_client_thread *c, lks_ms mono)
{
    const struct lks_config *config = lks_daemon_config(c->daemon);
    unsigned room = room_for(c, config);
    if (config->sweep_run == 0 || c->talks == NULL || c->sweeper.asked || mono < c->sweeper.due ||
        room == 0)
        return;
    struct lks_call *call = lks_internal_call(c->daemon, LKS_INTERNAL_LEASE, 0);
    c->sweeper.due = mono + TROUBLE_MS;
    if (call == NULL)
        return;
    c->sweeper.asked = true;
    call->own->max = room;
    call->own->lasts = config->bmc_timeout_ms + LEASE_MORE_MS;
    lks_mailbox_post(&c->daemon->state->box, &call->mail);
}

/* A conversation with it is in progress already. */
static bool is_busy(const struct lks_client_thread *c, struct lks_str name)
{
    for (const struct lks_client_job *job = c->jobs; job != NULL; job = job->next) {
        if (lks_str_eq(job->at.name, name))
            return true;
    }
    return false;
}

void lks_sweeper_take(struct lks_client_thread *c, const struct lks_call *call, lks_ms mono)
{
    const struct lks_internal *own = call->own;
    if (own->kind != LKS_INTERNAL_LEASE)
        return;
    c->sweeper.asked = false;
    if (call->status != 200)
        return;
    c->sweeper.due = own->full ? mono : mono + LOOK_MS;
    for (size_t i = 0; i < own->count; i++) {
        const struct lks_internal_endpoint *at = &own->endpoints[i];
        if (!at->unleased || !is_busy(c, at->name))
            lks_sweeper_read(c, at, !at->unleased);
    }
}

/* Readings ---------------------------------------------------------------------------------- */

/* It failed: the controller that leased it is notified, and it is tried again later. */
static void fail(struct lks_client_job *job, const char *why)
{
    struct lks_client_thread *c = job->client;
    struct lks_call *call =
        job->leased ? lks_internal_call(c->daemon, LKS_INTERNAL_FAILED, job->number) : NULL;
    atomic_fetch_add(&c->daemon->counts.failed, 1);
    if (call != NULL) {
        call->own->name = lks_arena_copy(&call->own->arena, job->at.name);
        call->own->text = lks_arena_copy(&call->own->arena, lks_str_from(why));
        lks_client_ask(job, call);
    }
    lks_client_job_free(job); /* the answer is not awaited */
}

static enum lks_code begin(struct lks_client_job *job, struct lks_err *err)
{
    struct lks_client_thread *c = job->client;
    struct lks_bmc_secret secret = {0};
    if (job->driver == NULL)
        return lks_fail(err, LKS_E_INVALID, "there is no driver '%" LKS_STR_FMT "'",
                        LKS_STR_ARG(job->at.driver));
    enum lks_code code = lks_client_dial(job, job->driver->read, &secret, err);
    if (code == LKS_OK) {
        lks_ms lasts = lks_daemon_config(c->daemon)->bmc_timeout_ms * c->speed;
        lks_ms deadline = lks_talks_now(c->talks) + lasts;
        job->driver->read_begin(lks_talks_value(job->dialog), lks_daemon_facts(c->daemon), &secret,
                                deadline, &job->inventory);
        lks_talks_start(c->talks, job->dialog, false);
    }
    lks_login_wipe(&secret);
    return code;
}

void lks_sweeper_read(struct lks_client_thread *c, const struct lks_internal_endpoint *at,
                      bool leased)
{
    struct lks_err err = {0};
    struct lks_client_job *job = lks_client_job_new(c, at);
    if (job == NULL)
        return; /* its lease ends by itself */
    job->reading = true;
    job->leased = leased;
    job->driver = lks_bmc_driver(job->at.driver);
    c->sweeper.count++;
    if (begin(job, &err) != LKS_OK)
        fail(job, err.msg);
}

/* What it has, as a tuple, on its way to the leader. */
static enum lks_code tell(struct lks_client_job *job, struct lks_err *err)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(LKS_DOC_BYTES_MAX);
    struct lks_daemon *d = job->client->daemon;
    lks_tuple_init(&tuple);
    lks_bmc_inventory_tuple(&job->inventory, job->at.name,
                            (int64_t)(lks_daemon_now().wall / LKS_SECOND), &tuple);
    if (lks_tuple_finish(&tuple, err) != LKS_OK ||
        lks_tuple_json(&tuple, LKS_STR(""), &json, err) != LKS_OK)
        return err->code;
    struct lks_call *call = lks_internal_call(d, LKS_INTERNAL_READ, job->number);
    if (call == NULL)
        return lks_fail_nomem(err);
    if (lks_internal_readings(call, job->at.name, lks_buf_view(&json), err) != LKS_OK) {
        lks_call_free(call);
        return err->code;
    }
    lks_client_ask(job, call);
    return LKS_OK;
}

void lks_sweeper_ended(struct lks_client_job *job, const struct lks_err *why)
{
    struct lks_err err = {0};
    job->dialog = NULL; /* it is gone when this returns */
    if (why->code != LKS_OK)
        fail(job, why->msg);
    else if (tell(job, &err) != LKS_OK)
        fail(job, err.msg);
}
