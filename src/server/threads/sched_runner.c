#include "server/threads/sched_runner.h"

#include "core/rows/pool.h"
#include "core/state/lookup.h"
#include "core/state/state.h"
#include "drivers/sched/sched_drivers.h"
#include "server/auth/authz.h"
#include "server/threads/client_parts.h"

#include <stdlib.h>

enum {
    LOOK_MS = 500,      /* how often nodes that are due are looked for ... */
    TROUBLE_MS = 10000, /* ... or after that failed, or where no bridge is configured */
    OPEN_MAX = 256,     /* conversations at a time */
};

struct lks_sched_talk {
    struct lks_client_dialog talk; /* first: by it the thread finds whose dialog ended */
    struct lks_sched_talk *next;
    struct lks_client_thread *client;
    const struct lks_sched_driver *driver;
    struct lks_dialog *dialog;
    char node[LKS_SCHED_NODE_MAX + 1];
};

/* The state thread's part ------------------------------------------------------------------- */

/* Texts as the call's own: it travels to another thread. */
static bool keep_wish(struct lks_arena *arena, const struct lks_authz *authz,
                      const struct lks_sched_due *due, struct lks_internal_wish *out)
{
    const struct lks_state *s = authz->state;
    const struct lks_node *n = &s->nodes[due->node];
    *out = (struct lks_internal_wish){
        .site = lks_arena_copy(arena, lks_state_text(s, n->site)),
        .sched = lks_arena_copy(arena, lks_state_text(s, s->pools[n->pool].sched)),
        .turn = due->turn,
        .wish = due->wish,
    };
    struct lks_str *const texts[] = {&out->wish.node, &out->wish.owner, &out->wish.reason};
    for (size_t i = 0; i < LKS_COUNT(texts); i++)
        *texts[i] = lks_arena_copy(arena, *texts[i]);
    out->wish.epoch = lks_engine_epoch(authz->engine);
    return !arena->out_of_memory;
}

void lks_sched_runner_due(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_internal *own = call->own;
    struct lks_err err = {0};
    struct lks_sched_due due[OPEN_MAX];
    uint32_t count = 0;
    call->status = 200;
    if (authz->following)
        return; /* the leader asks */
    if (lks_sched_book_due(&authz->sched, authz->state, lks_daemon_facts(authz->daemon),
                           authz->now.mono, own->max < OPEN_MAX ? (uint32_t)own->max : OPEN_MAX,
                           due, &count, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return;
    }
    own->wishes = lks_arena_array(&own->arena, count + 1, sizeof(*own->wishes));
    for (uint32_t i = 0; i < count && own->wishes != NULL; i++) {
        if (keep_wish(&own->arena, authz, &due[i], &own->wishes[own->count]))
            own->count++;
    }
    call->needs =
        lks_engine_seq(authz->engine); /* no request leaves before its record is durable */
}

/* Once, when it begins, and once more when it is over. */
static void log_change(const struct lks_authz *authz, const struct lks_internal *own,
                       const struct lks_sched_entry *before, bool failed)
{
    const struct lks_log_field fields[] = {{"name", own->name},
                                           {"cause", lks_str_from(own->sched.why.msg)}};
    bool failed_before = before != NULL && before->failures > 0;
    if (own->sched.why.code == LKS_E_NOT_FOUND)
        return; /* no bridge is configured: that is no news, and would be for each node */
    if (failed && !failed_before)
        lks_daemon_log(authz->daemon, LKS_LEVEL_WARNING, "a scheduler does not answer for a node",
                       fields, 2);
    else if (!failed && failed_before)
        lks_daemon_log(authz->daemon, LKS_LEVEL_INFO, "a scheduler answers for a node again",
                       fields, 1);
}

void lks_sched_runner_said(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_internal *own = call->own;
    uint64_t speed = lks_daemon_config(authz->daemon)->bmc_speed;
    bool failed = own->sched.why.code != LKS_OK;
    uint32_t node = lks_state_node(authz->state, own->name);
    struct lks_event event;
    call->status = 200;
    if (node == LKS_NO_NODE || authz->following)
        return;
    log_change(authz, own, lks_sched_book_find(&authz->sched, node), failed);
    if (failed)
        lks_sched_book_failed(&authz->sched, node, own->sched.why.msg, authz->now, speed);
    else
        lks_sched_book_heard(&authz->sched, node, &own->sched.said, authz->now, speed);
    if (lks_sched_book_event(&authz->sched, node, &event))
        lks_authz_record(authz, call, &event);
}

/* A conversation ---------------------------------------------------------------------------- */

static void report(struct lks_client_thread *c, struct lks_str node,
                   const struct lks_sched_said *said, const struct lks_err *why)
{
    struct lks_call *call = lks_internal_call(c->daemon, LKS_INTERNAL_SCHED_SAID, 0);
    if (call == NULL)
        return; /* it is asked again later, as if no answer had come */
    call->own->name = lks_arena_copy(&call->own->arena, node);
    call->own->sched.why = *why;
    if (said != NULL)
        call->own->sched.said = *said;
    lks_mailbox_post(&c->daemon->state->box, &call->mail);
}

static void talk_free(struct lks_sched_talk *t)
{
    struct lks_sched_talk **at = &t->client->sched.talks;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    t->client->sched.open--;
    free(t);
}

static void talk_ended(struct lks_client_dialog *talk, const struct lks_err *why)
{
    struct lks_sched_talk *t = (struct lks_sched_talk *)talk;
    struct lks_sched_said said;
    t->driver->said(lks_talks_value(t->dialog), &said);
    report(t->client, lks_str_from(t->node), &said, why);
    talk_free(t);
}

/* The bridges of a site in turn: one that failed is followed by the next. */
static const char *choose_bridge(const struct lks_config *config, struct lks_str at, uint32_t turn)
{
    const struct lks_config_list *all = &config->slurm_bridges;
    struct lks_str site, url, found[LKS_CONFIG_NAMES_MAX];
    uint32_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (lks_str_cut(all->items[i], '=', &site, &url) &&
            (lks_str_eq(site, at) || lks_str_is(site, "*")))
            found[count++] = url;
    }
    return count > 0 ? found[turn % count].ptr : NULL; /* the text of an item is terminated */
}

static enum lks_code dial(struct lks_sched_talk *t, const struct lks_internal_wish *w,
                          struct lks_err *err)
{
    struct lks_client_thread *c = t->client;
    const struct lks_config *config = lks_daemon_config(c->daemon);
    const char *url = choose_bridge(config, w->site, w->turn);
    if (t->driver == NULL || url == NULL)
        return lks_fail(err, LKS_E_NOT_FOUND,
                        "no bridge to %" LKS_STR_FMT " is configured for site '%" LKS_STR_FMT
                        "'; add one to slurm.bridges in lockstepd.yaml",
                        LKS_STR_ARG(w->sched), LKS_STR_ARG(w->site));
    bool tls = lks_str_starts(lks_str_from(url), "https:");
    const struct lks_dialog_options options = {
        .peer = {.url = url,
                 .ca = tls ? config->slurm_ca.ptr : NULL,
                 .certificate = tls ? config->slurm_certificate.ptr : NULL,
                 .key = tls ? config->slurm_key.ptr : NULL,
                 .plain = true},
        .ops = t->driver->talk,
        .impatient = true,
        .ctx = &t->talk,
    };
    struct lks_sched_wish wish = w->wish;
    if (lks_talks_add(c->talks, &options, &t->dialog, err) != LKS_OK)
        return err->code;
    wish.deadline = lks_talks_now(c->talks) + LKS_SCHED_DEADLINE * c->speed;
    if (t->driver->begin(lks_talks_value(t->dialog), &wish, err) == LKS_OK) {
        lks_talks_start(c->talks, t->dialog, false);
        return LKS_OK;
    }
    lks_talks_cancel(c->talks, t->dialog);
    return err->code;
}

static void begin(struct lks_client_thread *c, const struct lks_internal_wish *w)
{
    struct lks_sched_talk *t = calloc(1, sizeof(*t));
    struct lks_err err = {0};
    if (t == NULL)
        return;
    *t = (struct lks_sched_talk){.talk.ended = talk_ended,
                                 .next = c->sched.talks,
                                 .client = c,
                                 .driver = lks_sched_driver(w->sched)};
    snprintf(t->node, sizeof(t->node), "%" LKS_STR_FMT, LKS_STR_ARG(w->wish.node));
    c->sched.talks = t;
    c->sched.open++;
    if (dial(t, w, &err) == LKS_OK)
        return;
    report(c, w->wish.node, NULL, &err);
    talk_free(t);
}

/* The thread's part ------------------------------------------------------------------------- */

void lks_sched_runner_tick(struct lks_client_thread *c, lks_ms mono)
{
    struct lks_sched_runner *r = &c->sched;
    if (c->talks == NULL || r->asked || mono < r->due || r->open >= OPEN_MAX)
        return;
    struct lks_call *call = lks_internal_call(c->daemon, LKS_INTERNAL_SCHED, 0);
    r->due = mono + TROUBLE_MS;
    if (call == NULL)
        return;
    r->asked = true;
    call->own->max = OPEN_MAX - r->open;
    lks_mailbox_post(&c->daemon->state->box, &call->mail);
}

void lks_sched_runner_take(struct lks_client_thread *c, const struct lks_call *call, lks_ms mono)
{
    const struct lks_internal *own = call->own;
    if (own->kind != LKS_INTERNAL_SCHED)
        return;
    c->sched.asked = false;
    if (call->status != 200)
        return;
    if (lks_daemon_config(c->daemon)->slurm_bridges.count > 0)
        c->sched.due = own->count == own->max ? mono : mono + LOOK_MS;
    for (size_t i = 0; i < own->count; i++)
        begin(c, &own->wishes[i]);
}

void lks_sched_runner_fini(struct lks_client_thread *c)
{
    while (c->sched.talks != NULL) {
        lks_talks_cancel(c->talks, c->sched.talks->dialog);
        talk_free(c->sched.talks);
    }
}
