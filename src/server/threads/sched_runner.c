#include "server/threads/sched_runner.h"

#include "core/actions/job_acts.h"
#include "core/actions/sched_book.h"
#include "core/actions/sched_truth.h"
#include "core/admission/admit_policy.h"
#include "core/campaign/campaign.h"
#include "core/registry/book.h"
#include "core/state/lookup.h"
#include "core/state/state.h"
#include "drivers/sched/sched_drivers.h"
#include "drivers/store/secrets.h"
#include "server/auth/authz.h"
#include "server/base/bridges.h"
#include "server/base/secrets.h"
#include "server/threads/client_parts.h"

#include <stdlib.h>

enum {
    LOOK_MS = 500,      /* how often nodes that are due are looked for ... */
    TROUBLE_MS = 10000, /* ... or after that failed, or where no bridge is configured */
    OPEN_MAX = 256,     /* conversations at a time */
    PIECE = 64,         /* of them, that end before more nodes are looked for at once: each look
                           reads all nodes */
    SITES_MAX = 64,     /* the same about sites, besides */
    LEADS_MAX = 16,     /* bridges that are told the epoch at once, */
    POLICIES_MAX = 8,   /* and the policy of submissions, which is long */
    WITHDRAWN_MAX = 64, /* ends of what a scheduler advertised, each time */
    SCHED_SIZE = 64,    /* of the name of a scheduler, which is a row's */
    ALARMS_MAX = 16,    /* alarms about sites and bridges, and slots, the same */
};

struct lks_sched_talk {
    struct lks_client_dialog talk; /* first: by it the thread finds whose dialog ended */
    struct lks_sched_talk *next;
    struct lks_client_thread *client;
    const struct lks_sched_driver *driver;
    struct lks_dialog *dialog;
    char node[LKS_SCHED_NODE_MAX + 1];
    char sched[SCHED_SIZE];
    bool whole;            /* about a site: */
    struct lks_call *site; /* the report, with the memory of the wish; NULL: it was sent */
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
        .sched = lks_str_from(due->sched),
        .turn = due->turn,
        .wish = due->wish,
    };
    struct lks_str *const texts[] = {&out->wish.node, &out->wish.owner, &out->wish.from,
                                     &out->wish.by, &out->wish.reason};
    for (size_t i = 0; i < LKS_COUNT(texts); i++)
        *texts[i] = lks_arena_copy(arena, *texts[i]);
    out->wish.epoch = lks_engine_epoch(authz->engine);
    return !arena->out_of_memory;
}

static enum lks_code take_nodes(struct lks_authz *authz, struct lks_internal *own,
                                struct lks_err *err)
{
    struct lks_sched_due due[OPEN_MAX];
    uint32_t count = 0;
    enum lks_code code = lks_sched_book_due(
        &authz->sched, authz->state, lks_daemon_facts(authz->daemon), authz->now.mono,
        own->max < OPEN_MAX ? (uint32_t)own->max : OPEN_MAX, due, &count, err);
    own->search = authz->sched.sites.searches;
    if (code != LKS_OK)
        return code;
    for (uint32_t i = 0; i < count; i++) {
        if (keep_wish(&own->arena, authz, &due[i], &own->wishes[own->count]))
            own->count++;
    }
    own->full = own->full || (count == own->max && count > 0);
    return LKS_OK;
}

/* slurmrestd lists no runs that ended: they are asked for where a bridge is, and where nothing is
 * configured, so that this is reported. */
static bool lists_runs(const struct lks_config *config, const struct lks_sched_site_due *due)
{
    struct lks_bridges_at at = {0};
    struct lks_bridge b;
    bool other = false;
    while (lks_bridges_next(config, &at, &b)) {
        if (!lks_bridges_serves(&b, due->sched, due->site))
            continue;
        if (lks_sched_driver_keeps_epoch(due->sched, b.url.ptr))
            return true;
        other = true;
    }
    return !other;
}

/* Whether the request is still meant: the act on a job may have ended since it was ordered, or its
 * change was paused meanwhile. The next list decides again. */
static bool is_meant(struct lks_authz *authz, const struct lks_sched_site_due *due)
{
    const struct lks_sched_site_wish *wish = &due->wish;
    bool signals = wish->verb == LKS_SCHED_SITE_SIGNAL;
    struct lks_job_due act;
    if (wish->verb == LKS_SCHED_SITE_RUNS)
        return lists_runs(lks_daemon_config(authz->daemon), due);
    if (!signals && wish->verb != LKS_SCHED_SITE_REQUEUE)
        return true;
    if (!lks_job_acts_find(authz->state, wish->tag, due->site, wish->job,
                           signals ? LKS_JOB_SIGNAL : LKS_JOB_REQUEUE, &act))
        return false;
    if (!lks_sched_runner_site_drains(authz->state, &act)) {
        lks_job_acts_ended(&authz->sched.acts, &act, false, authz->now.wall);
        return false;
    }
    lks_job_acts_leaves(&authz->sched.acts, &act, authz->now.wall);
    return true;
}

static void keep_sites(struct lks_authz *authz, struct lks_internal *own,
                       const struct lks_sched_site_due *due, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!is_meant(authz, &due[i]))
            continue;
        struct lks_internal_wish *out = &own->wishes[own->count++];
        *out = (struct lks_internal_wish){.site = due[i].site,
                                          .sched = due[i].sched,
                                          .turn = due[i].turn,
                                          .url = due[i].url,
                                          .whole = true,
                                          .site_wish = due[i].wish};
        out->site_wish.epoch = lks_engine_epoch(authz->engine);
    }
}

/* Every bridge of a site writes the policy on its own host. */
static void take_policies(struct lks_authz *authz, struct lks_internal *own, uint32_t max)
{
    const struct lks_config *config = lks_daemon_config(authz->daemon);
    const struct lks_admit_policy_how how = {config->slurm_stale_s, config->slurm_stale_closed,
                                             config->slurm_publish != 0};
    struct lks_sched_sites_policy_look look = {.book = lks_engine_book(authz->engine),
                                               .how = &how,
                                               .mono = authz->now.mono,
                                               .speed = config->bmc_speed};
    struct lks_bridges_at at = {0};
    struct lks_bridge b;
    max = max < POLICIES_MAX ? max : POLICIES_MAX;
    while (max > 0 && lks_bridges_next(config, &at, &b)) {
        const struct lks_sched_sites_bridge bridge = {b.site, lks_str_from(b.sched), b.url};
        struct lks_sched_site_due due;
        if (!lks_sched_driver_keeps_epoch(bridge.sched, b.url.ptr) ||
            !lks_sched_sites_policy_due(&authz->sched.sites, authz->state, &look, &bridge,
                                        &own->arena, &due))
            continue;
        keep_sites(authz, own, &due, 1);
        max--;
    }
}

static enum lks_code take_sites(struct lks_authz *authz, struct lks_internal *own,
                                struct lks_err *err)
{
    struct lks_sched_site_due due[SITES_MAX];
    uint32_t count = 0, max = own->max_sites < SITES_MAX ? (uint32_t)own->max_sites : SITES_MAX;
    if (lks_sched_sites_due(&authz->sched.sites, authz->state, authz->now.mono, max, &own->arena,
                            due, &count, err) != LKS_OK)
        return err->code;
    keep_sites(authz, own, due, count);
    own->full = own->full || (count == max && max > 0);
    max -= count;
    struct lks_str hidden = lks_bridges_hidden(lks_daemon_config(authz->daemon));
    if (lks_sched_truth_due(&authz->sched, authz->state, hidden, authz->now.mono, max, &own->arena,
                            due, &count, err) != LKS_OK)
        return err->code;
    keep_sites(authz, own, due, count);
    max -= count;
    if (lks_sched_sites_runs_due(&authz->sched.sites, authz->state, authz->now.mono, max,
                                 &own->arena, due, &count) != LKS_OK)
        return lks_arena_fail(&own->arena, err);
    keep_sites(authz, own, due, count);
    max -= count;
    if (lks_sched_reserve_due(&authz->sched, authz->state, lks_engine_book(authz->engine),
                              authz->now, max, &own->arena, due, &count, err) != LKS_OK)
        return err->code;
    keep_sites(authz, own, due, count);
    take_policies(authz, own, max - count);
    return LKS_OK;
}

static void advertise(struct lks_authz *authz, struct lks_call *call, struct lks_event *event)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    if (!lks_authz_turn(authz, call, event, NULL, &d))
        call->status = 200; /* nothing waits for it, and the next answer brings it again */
}

/* Nodes that left the scheduler: what it said of them is over. */
static void withdraw(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    struct lks_event event;
    for (uint32_t i = 0, left = WITHDRAWN_MAX; i < s->node_count && left > 0; i++) {
        if (!lks_sched_withdrawn(s, i, &event))
            continue;
        advertise(authz, call, &event);
        left--;
    }
}

/* Alarms about whole sites begin and end. */
static void look_at_sites(struct lks_authz *authz, struct lks_call *call, struct lks_arena *arena)
{
    const struct lks_sched_sites *sites = &authz->sched.sites;
    uint64_t speed = lks_daemon_config(authz->daemon)->bmc_speed;
    for (uint32_t i = 0; i < ALARMS_MAX; i++) {
        struct lks_event event = {.kind = LKS_EVENT_SCHED_ALARM};
        if (!lks_sched_truth_alarm(sites, authz->state, authz->now, speed, arena,
                                   &event.sched_alarm))
            return;
        advertise(authz, call, &event);
    }
}

/* Stacks that nodes of a pool should run get slots. */
static void give_slots(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_sched_sites *sites = &authz->sched.sites;
    const struct lks_config *config = lks_daemon_config(authz->daemon);
    uint32_t from = 0;
    if (authz->now.mono < sites->slots ||
        (config->slurm_publish == 0 && config->kubernetes_publish == 0))
        return;
    sites->slots = authz->now.mono + LKS_SCHED_TRUTH_SLOT_LOOK / config->bmc_speed;
    for (uint32_t i = 0; i < ALARMS_MAX; i++) {
        struct lks_event event = {.kind = LKS_EVENT_SCHED_SLOT};
        if (!lks_sched_truth_slot_due(&authz->sched, authz->state, &from, &event.slot))
            return;
        advertise(authz, call, &event);
    }
}

/* The same about lists of jobs that drains wait for. */
static void look_at_lists(struct lks_authz *authz, struct lks_call *call, struct lks_arena *arena)
{
    uint64_t speed = lks_daemon_config(authz->daemon)->bmc_speed;
    for (uint32_t i = 0; i < ALARMS_MAX; i++) {
        struct lks_event event = {.kind = LKS_EVENT_SCHED_ALARM};
        if (!lks_campaign_jobs_alarm(&authz->sched.sites, authz->state, authz->now, speed, arena,
                                     &event.sched_alarm))
            return;
        advertise(authz, call, &event);
    }
}

/* The same about bridges that keep epochs. */
static void look_at_bridges(struct lks_authz *authz, struct lks_call *call, struct lks_arena *arena)
{
    struct lks_sched_lead_named list[LKS_BRIDGES_MAX];
    uint64_t epoch = lks_engine_epoch(authz->engine);
    size_t count = 0;
    struct lks_bridges_at at = {0};
    struct lks_bridge b;
    while (lks_bridges_next(lks_daemon_config(authz->daemon), &at, &b)) {
        if (lks_sched_driver_keeps_epoch(lks_str_from(b.sched), b.url.ptr))
            list[count++] = (struct lks_sched_lead_named){b.item, b.url};
    }
    for (uint32_t i = 0; i < ALARMS_MAX; i++) {
        struct lks_event event = {.kind = LKS_EVENT_SCHED_ALARM};
        if (!lks_sched_lead_alarm(&authz->sched.lead, authz->state, list, count, epoch, authz->now,
                                  arena, &event.sched_alarm))
            return;
        advertise(authz, call, &event);
    }
}

/* Every bridge learns the epoch, also one that is not written through now. */
static void take_leads(struct lks_authz *authz, struct lks_internal *own)
{
    uint64_t epoch = lks_engine_epoch(authz->engine);
    struct lks_bridges_at at = {0};
    struct lks_bridge b;
    for (size_t count = 0;
         count < LEADS_MAX && lks_bridges_next(lks_daemon_config(authz->daemon), &at, &b);) {
        if (!lks_sched_driver_keeps_epoch(lks_str_from(b.sched), b.url.ptr) ||
            !lks_sched_lead_due(&authz->sched.lead, b.url, epoch, authz->now.mono))
            continue;
        count++;
        own->wishes[own->count++] =
            (struct lks_internal_wish){.site = lks_arena_copy(&own->arena, b.site),
                                       .sched = lks_str_from(b.sched),
                                       .whole = true,
                                       .url = lks_arena_copy(&own->arena, b.url),
                                       .site_wish = {.verb = LKS_SCHED_SITE_LEAD, .epoch = epoch}};
    }
}

/* A bridge whose site has no node, once for each configuration and as soon as the fleet has nodes:
 * its name is misspelt, or the node's. `doctor` has it for as long as it is so. */
static void log_names(struct lks_authz *authz)
{
    const struct lks_config *config = lks_daemon_config(authz->daemon);
    struct lks_bridges_at at = {0};
    struct lks_bridge b;
    if (authz->sched_config == config || authz->state->node_count == 0)
        return;
    authz->sched_config = config;
    while (lks_bridges_next(config, &at, &b)) {
        char message[160];
        const struct lks_log_field fields[] = {{"site", b.site}, {"url", b.url}};
        if (lks_sched_sites_known(authz->state, b.site))
            continue;
        snprintf(message, sizeof(message),
                 "%s has a bridge for a site at which the fleet has no node; correct the site "
                 "there or in the fleet's file",
                 b.key);
        lks_daemon_log(authz->daemon, LKS_LEVEL_WARNING, message, fields, 2);
    }
}

void lks_sched_runner_due(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_internal *own = call->own;
    struct lks_err err = {0};
    call->status = 200;
    if (own->unasked != 0)
        lks_sched_book_unasked(&authz->sched, own->unasked);
    if (authz->following)
        return; /* the leader asks */
    log_names(authz);
    lks_sched_runner_site_close(authz, call);
    withdraw(authz, call);
    give_slots(authz, call);
    look_at_sites(authz, call, &own->arena);
    look_at_lists(authz, call, &own->arena);
    look_at_bridges(authz, call, &own->arena);
    own->wishes =
        lks_arena_array(&own->arena, OPEN_MAX + SITES_MAX + LEADS_MAX, sizeof(*own->wishes));
    enum lks_code code = own->wishes != NULL ? LKS_OK : lks_arena_fail(&own->arena, &err);
    if (own->wishes == NULL || code != LKS_OK || take_nodes(authz, own, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return;
    }
    take_leads(authz, own);
    if (take_sites(authz, own, &err) != LKS_OK) /* drains go on without it */
        lks_daemon_log(authz->daemon, LKS_LEVEL_WARNING, "schedulers cannot be asked about sites",
                       &(struct lks_log_field){"cause", lks_str_from(err.msg)}, 1);
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

static void hear_node(struct lks_authz *authz, uint32_t node, struct lks_str sched,
                      const struct lks_sched_said *said, uint64_t speed)
{
    lks_sched_book_heard(&authz->sched, node, sched, said, authz->now, speed);
    lks_sched_truth_configured(&authz->sched, authz->state, node, sched, said->configured);
}

/* What an answer says besides its drain. */
static void tell_others(struct lks_authz *authz, struct lks_call *call, uint32_t node)
{
    const struct lks_internal *own = call->own;
    struct lks_event event;
    if (lks_sched_advertises(authz->state, node, own->sched.name) &&
        lks_sched_advertised(authz->state, node, &own->sched.said, &event))
        advertise(authz, call, &event);
    if (lks_sched_book_outage(&authz->sched, authz->state, node, &event))
        advertise(authz, call, &event);
}

/* What its schedulers say of it together. */
static void tell_answer(struct lks_authz *authz, struct lks_call *call, uint32_t node)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_event event;
    if (lks_sched_book_event(&authz->sched, authz->state, node, authz->now.mono, &event) &&
        lks_authz_turn(authz, call, &event, NULL, &d))
        lks_sched_book_told(&authz->sched, &event);
}

void lks_sched_runner_said(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_internal *own = call->own;
    uint64_t speed = lks_daemon_config(authz->daemon)->bmc_speed;
    bool failed = own->sched.why.code != LKS_OK;
    uint32_t node = lks_state_node(authz->state, own->name);
    struct lks_str sched = own->sched.name;
    call->status = 200;
    if (node == LKS_NO_NODE || authz->following)
        return;
    log_change(authz, own, lks_sched_book_find(&authz->sched, node, sched), failed);
    lks_sched_book_after(&authz->sched, node, sched, own->sched.said.after);
    if (failed)
        lks_sched_book_failed(&authz->sched, node, sched, &own->sched.why, authz->now, speed);
    else
        hear_node(authz, node, sched, &own->sched.said, speed);
    tell_answer(authz, call, node);
    if (!failed)
        tell_others(authz, call, node);
}

/* A conversation ---------------------------------------------------------------------------- */

static void report(struct lks_client_thread *c, struct lks_str node, struct lks_str sched,
                   const struct lks_sched_said *said, const struct lks_err *why)
{
    struct lks_call *call = lks_internal_call(c->daemon, LKS_INTERNAL_SCHED_SAID, 0);
    if (call == NULL)
        return; /* it is asked again later, as if no answer had come */
    call->own->name = lks_arena_copy(&call->own->arena, node);
    call->own->sched.name = lks_arena_copy(&call->own->arena, sched);
    call->own->sched.why = *why;
    if (said != NULL)
        call->own->sched.said = *said;
    lks_mailbox_post(&c->daemon->state->box, &call->mail);
}

static void report_site(struct lks_sched_talk *t, const struct lks_err *why)
{
    struct lks_call *call = t->site;
    call->own->site.why = *why;
    t->site = NULL;
    lks_mailbox_post(&t->client->daemon->state->box, &call->mail);
}

static void talk_free(struct lks_sched_talk *t)
{
    struct lks_sched_talk **at = &t->client->sched.talks;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    *(t->whole ? &t->client->sched.sites : &t->client->sched.open) -= 1;
    lks_call_free(t->site);
    free(t);
}

static void talk_ended(struct lks_client_dialog *talk, const struct lks_err *why)
{
    struct lks_sched_talk *t = (struct lks_sched_talk *)talk;
    struct lks_sched_said said;
    if (t->whole) {
        report_site(t, why);
    } else {
        t->driver->said(lks_talks_value(t->dialog), &said);
        report(t->client, lks_str_from(t->node), lks_str_from(t->sched), &said, why);
    }
    talk_free(t);
}

/* The bridges of a site to a scheduler in turn: one that failed is followed by the next. */
static const char *choose_bridge(const struct lks_config *config, struct lks_str sched,
                                 struct lks_str site, uint32_t turn)
{
    struct lks_str found[LKS_BRIDGES_MAX];
    struct lks_bridges_at at = {0};
    struct lks_bridge b;
    uint32_t count = 0;
    while (lks_bridges_next(config, &at, &b)) {
        if (lks_bridges_serves(&b, sched, site))
            found[count++] = b.url;
    }
    return count > 0 ? found[turn % count].ptr : NULL; /* the text of an item is terminated */
}

/* What slurmrestd and API servers know us by; a bridge knows the certificate or the user. */
static enum lks_code read_login(const struct lks_sched_talk *t, const struct lks_config *config,
                                struct lks_buf *space, struct lks_sched_login *out,
                                struct lks_err *err)
{
    if (t->driver == &lks_sched_kubernetes)
        return lks_secrets_kubernetes(config, space, &out->token, err);
    if (t->driver != &lks_sched_slurmrestd)
        return LKS_OK;
    out->user = config->slurm_rest_user;
    return lks_secrets_slurm(config, space, &out->token, err);
}

/* Begin the value of the dialog that was added. */
static enum lks_code begin_value(struct lks_sched_talk *t, const struct lks_internal_wish *w,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_secrets_wipe) struct lks_buf space = {0};
    struct lks_client_thread *c = t->client;
    struct lks_sched_login login = {0};
    void *value = lks_talks_value(t->dialog);
    lks_ms deadline = lks_talks_now(c->talks) + LKS_SCHED_DEADLINE * c->speed;
    lks_buf_init(&space, LKS_SECRET_MAX);
    if (read_login(t, lks_daemon_config(c->daemon), &space, &login, err) != LKS_OK)
        return err->code;
    if (t->whole) {
        struct lks_sched_site_wish wish = t->site->own->site.wish.site_wish;
        wish.deadline = deadline;
        wish.jobs = &t->site->own->site.jobs;
        wish.listed = &t->site->own->site.reservations;
        wish.runs = &t->site->own->site.runs;
        wish.written = &t->site->own->site.written;
        wish.login = login;
        return t->driver->begin_site(value, &wish, err);
    }
    struct lks_sched_wish wish = w->wish;
    wish.now = lks_talks_now(c->talks);
    wish.deadline = deadline;
    wish.login = login;
    return t->driver->begin(value, &wish, err);
}

static enum lks_code dial(struct lks_sched_talk *t, const struct lks_internal_wish *w,
                          struct lks_err *err)
{
    struct lks_client_thread *c = t->client;
    const struct lks_config *config = lks_daemon_config(c->daemon);
    const char *url = NULL;
    const char *place =
        w->url.len > 0 ? w->url.ptr : choose_bridge(config, w->sched, w->site, w->turn);
    if (place != NULL)
        t->driver = lks_sched_driver_at(w->sched, place, &url);
    if (t->driver == NULL)
        return lks_fail(err, LKS_E_NOT_FOUND,
                        "no bridge to %" LKS_STR_FMT " is configured for site '%" LKS_STR_FMT
                        "'; add one to %" LKS_STR_FMT ".bridges in lockstepd.yaml",
                        LKS_STR_ARG(w->sched), LKS_STR_ARG(w->site), LKS_STR_ARG(w->sched));
    bool tls = lks_str_starts(lks_str_from(url), "https:");
    const struct lks_bridges_tls files = lks_bridges_tls(config, w->sched);
    bool shows = tls && files.certificate.len > 0;
    const struct lks_dialog_options options = {
        .peer = {.url = url,
                 .ca = tls ? files.ca.ptr : NULL,
                 .certificate = shows ? files.certificate.ptr : NULL,
                 .key = shows ? files.key.ptr : NULL,
                 .plain = true},
        .ops = w->whole ? t->driver->site_talk : t->driver->talk,
        .lanes = t->driver->lanes,
        .impatient = true,
        .ctx = &t->talk,
    };
    if (lks_talks_add(c->talks, &options, &t->dialog, err) != LKS_OK)
        return err->code;
    if (begin_value(t, w, err) == LKS_OK) {
        lks_talks_start(c->talks, t->dialog, false);
        return LKS_OK;
    }
    lks_talks_cancel(c->talks, t->dialog);
    return err->code;
}

static bool keep_told(struct lks_arena *arena, struct lks_sched_site_wish *wish)
{
    struct lks_sched_told *told =
        lks_arena_array(arena, wish->told_count + (size_t)1, sizeof(*told));
    for (uint32_t i = 0; told != NULL && i < wish->told_count; i++) {
        told[i] = wish->told[i];
        told[i].node = lks_arena_copy(arena, told[i].node);
    }
    wish->told = told;
    return told != NULL && !arena->out_of_memory;
}

/* The report about a site, with a copy of what is asked: it outlives the conversation. */
static struct lks_call *new_report(struct lks_client_thread *c, const struct lks_internal_wish *w)
{
    struct lks_call *call = lks_internal_call(c->daemon, LKS_INTERNAL_SCHED_SITE, 0);
    if (call == NULL)
        return NULL;
    struct lks_arena *arena = &call->own->arena;
    struct lks_internal_wish *kept = &call->own->site.wish;
    *kept = *w;
    struct lks_str *const texts[] = {&kept->site,
                                     &kept->sched,
                                     &kept->site_wish.job,
                                     &kept->site_wish.node,
                                     &kept->site_wish.signal,
                                     &kept->site_wish.after.id,
                                     &kept->site_wish.reservation.name,
                                     &kept->site_wish.reservation.nodes,
                                     &kept->site_wish.policy,
                                     &kept->url};
    for (size_t i = 0; i < LKS_COUNT(texts); i++)
        *texts[i] = lks_arena_copy(arena, *texts[i]);
    if (!arena->out_of_memory && keep_told(arena, &kept->site_wish))
        return call;
    lks_call_free(call);
    return NULL;
}

static void begin(struct lks_client_thread *c, const struct lks_internal_wish *w)
{
    struct lks_sched_talk *t = calloc(1, sizeof(*t));
    struct lks_call *site = t != NULL && w->whole ? new_report(c, w) : NULL;
    struct lks_err err = {0};
    if (t == NULL || (w->whole && site == NULL)) {
        free(t);
        return; /* it is asked again later, as if no answer had come */
    }
    *t = (struct lks_sched_talk){.talk.ended = talk_ended,
                                 .next = c->sched.talks,
                                 .client = c,
                                 .whole = w->whole,
                                 .site = site};
    snprintf(t->node, sizeof(t->node), "%" LKS_STR_FMT, LKS_STR_ARG(w->wish.node));
    snprintf(t->sched, sizeof(t->sched), "%" LKS_STR_FMT, LKS_STR_ARG(w->sched));
    c->sched.talks = t;
    *(w->whole ? &c->sched.sites : &c->sched.open) += 1;
    if (dial(t, w, &err) == LKS_OK)
        return;
    if (w->whole) {
        t->site->own->site.unsent = true;
        report_site(t, &err);
    } else
        report(c, w->wish.node, w->sched, NULL, &err);
    talk_free(t);
}

/* The thread's part ------------------------------------------------------------------------- */

void lks_sched_runner_tick(struct lks_client_thread *c, lks_ms mono)
{
    struct lks_sched_runner *r = &c->sched;
    bool waits = mono < r->due && (!r->more || r->open + PIECE > OPEN_MAX);
    if (c->talks == NULL || r->asked || waits || (r->open >= OPEN_MAX && r->sites >= SITES_MAX))
        return;
    struct lks_call *call = lks_internal_call(c->daemon, LKS_INTERNAL_SCHED, 0);
    r->due = mono + TROUBLE_MS;
    r->more = false;
    if (call == NULL)
        return;
    r->asked = true;
    call->own->unasked = r->unasked;
    call->own->max = OPEN_MAX - r->open;
    call->own->max_sites = r->sites < SITES_MAX ? SITES_MAX - r->sites : 0; /* and leads */
    lks_mailbox_post(&c->daemon->state->box, &call->mail);
}

void lks_sched_runner_take(struct lks_client_thread *c, const struct lks_call *call, lks_ms mono)
{
    const struct lks_internal *own = call->own;
    if (own->kind != LKS_INTERNAL_SCHED)
        return;
    c->sched.asked = false;
    c->sched.unasked = call->status != 200 ? own->search : 0; /* its records are not durable */
    if (call->status != 200)
        return;
    c->sched.more = own->full;
    struct lks_bridges_at at = {0};
    struct lks_bridge any;
    if (lks_bridges_next(lks_daemon_config(c->daemon), &at, &any))
        c->sched.due = mono + LOOK_MS;
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
