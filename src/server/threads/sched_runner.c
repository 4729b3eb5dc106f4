#include "server/threads/sched_runner.h"

#include "core/actions/job_acts.h"
#include "core/actions/sched_book.h"
#include "core/actions/sched_truth.h"
#include "core/campaign/campaign.h"
#include "core/registry/book.h"
#include "core/rows/pool.h"
#include "core/state/lookup.h"
#include "core/state/state.h"
#include "drivers/sched/sched_drivers.h"
#include "drivers/store/secrets.h"
#include "server/auth/authz.h"
#include "server/base/secrets.h"
#include "server/threads/client_parts.h"

#include <stdlib.h>

enum {
    LOOK_MS = 500,       /* how often nodes that are due are looked for ... */
    TROUBLE_MS = 10000,  /* ... or after that failed, or where no bridge is configured */
    OPEN_MAX = 256,      /* conversations at a time */
    PIECE = 64,          /* of them, that end before more nodes are looked for at once: each look
                            reads all nodes */
    SITES_MAX = 64,      /* the same about sites, besides */
    LEADS_MAX = 16,      /* bridges that are told the epoch at once */
    NODE_JOBS_MAX = 256, /* of one node that a change may touch */
    WITHDRAWN_MAX = 64,  /* ends of what a scheduler advertised, each time */
    ALARMS_MAX = 16,     /* alarms about sites and bridges that begin or end, the same */
};

struct lks_sched_talk {
    struct lks_client_dialog talk; /* first: by it the thread finds whose dialog ended */
    struct lks_sched_talk *next;
    struct lks_client_thread *client;
    const struct lks_sched_driver *driver;
    struct lks_dialog *dialog;
    char node[LKS_SCHED_NODE_MAX + 1];
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
        .sched = lks_arena_copy(arena, lks_state_text(s, s->pools[n->pool].sched)),
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

/* Whether the request is still meant: what is asked of a job may have ended since it was ordered.
 */
static bool is_meant(struct lks_authz *authz, const struct lks_sched_site_due *due)
{
    const struct lks_sched_site_wish *wish = &due->wish;
    bool signals = wish->verb == LKS_SCHED_SITE_SIGNAL;
    struct lks_job_due act;
    if (!signals && wish->verb != LKS_SCHED_SITE_REQUEUE)
        return true;
    if (!lks_job_acts_find(authz->state, wish->tag, due->site, wish->job,
                           signals ? LKS_JOB_SIGNAL : LKS_JOB_REQUEUE, &act))
        return false;
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
                                          .whole = true,
                                          .site_wish = due[i].wish};
        out->site_wish.epoch = lks_engine_epoch(authz->engine);
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
    uint64_t publish = lks_daemon_config(authz->daemon)->slurm_publish;
    if (lks_sched_truth_due(&authz->sched, authz->state, publish != 0, authz->now.mono, max,
                            &own->arena, due, &count, err) != LKS_OK)
        return err->code;
    keep_sites(authz, own, due, count);
    max -= count;
    if (lks_sched_reserve_due(&authz->sched, authz->state, lks_engine_book(authz->engine),
                              authz->now, max, &own->arena, due, &count, err) != LKS_OK)
        return err->code;
    keep_sites(authz, own, due, count);
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
    const struct lks_config_list *all = &lks_daemon_config(authz->daemon)->slurm_bridges;
    struct lks_sched_lead_named list[LKS_CONFIG_NAMES_MAX];
    uint64_t epoch = lks_engine_epoch(authz->engine);
    size_t count = 0;
    struct lks_str site, url;
    for (size_t i = 0; i < all->count; i++) {
        if (lks_str_cut(all->items[i], '=', &site, &url) && lks_sched_driver_keeps_epoch(url.ptr))
            list[count++] = (struct lks_sched_lead_named){all->items[i], url};
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
    const struct lks_config_list *all = &lks_daemon_config(authz->daemon)->slurm_bridges;
    uint64_t epoch = lks_engine_epoch(authz->engine);
    struct lks_str site, url;
    for (size_t i = 0, count = 0; i < all->count && count < LEADS_MAX; i++) {
        if (!lks_str_cut(all->items[i], '=', &site, &url) ||
            !lks_sched_driver_keeps_epoch(url.ptr) ||
            !lks_sched_lead_due(&authz->sched.lead, url, epoch, authz->now.mono))
            continue;
        count++;
        own->wishes[own->count++] =
            (struct lks_internal_wish){.site = lks_arena_copy(&own->arena, site),
                                       .sched = LKS_STR("slurm"),
                                       .whole = true,
                                       .url = lks_arena_copy(&own->arena, url),
                                       .site_wish = {.verb = LKS_SCHED_SITE_LEAD, .epoch = epoch}};
    }
}

/* A bridge whose site has no node, once for each configuration and as soon as the fleet has nodes:
 * its name is misspelt, or the node's. `doctor` has it for as long as it is so. */
static void look_at_names(struct lks_authz *authz)
{
    const struct lks_config *config = lks_daemon_config(authz->daemon);
    const struct lks_config_list *all = &config->slurm_bridges;
    struct lks_str site, url;
    if (authz->sched_config == config || authz->state->node_count == 0)
        return;
    authz->sched_config = config;
    for (size_t i = 0; i < all->count; i++) {
        if (!lks_str_cut(all->items[i], '=', &site, &url) ||
            lks_sched_sites_known(authz->state, site))
            continue;
        const struct lks_log_field fields[] = {{"site", site}, {"url", url}};
        lks_daemon_log(authz->daemon, LKS_LEVEL_WARNING,
                       "slurm.bridges has a bridge for a site at which the fleet has no node; "
                       "correct the site there or in the fleet's file",
                       fields, 2);
    }
}

static void close_acts(struct lks_authz *authz, struct lks_call *call);

void lks_sched_runner_due(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_internal *own = call->own;
    struct lks_err err = {0};
    call->status = 200;
    if (own->unasked != 0)
        lks_sched_book_unasked(&authz->sched, own->unasked);
    if (authz->following)
        return; /* the leader asks */
    look_at_names(authz);
    close_acts(authz, call);
    withdraw(authz, call);
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

static void hear_node(struct lks_authz *authz, uint32_t node, const struct lks_sched_said *said,
                      uint64_t speed)
{
    lks_sched_book_heard(&authz->sched, node, said, authz->now, speed);
    lks_sched_truth_configured(&authz->sched, authz->state, node, said->configured);
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
    lks_sched_book_after(&authz->sched, node, own->sched.said.after);
    if (failed)
        lks_sched_book_failed(&authz->sched, node, &own->sched.why, authz->now, speed);
    else
        hear_node(authz, node, &own->sched.said, speed);
    if (lks_sched_book_event(&authz->sched, node, &event))
        lks_authz_record(authz, call, &event);
    if (!failed && lks_sched_advertised(authz->state, node, &own->sched.said, &event))
        advertise(authz, call, &event);
    if (!failed && lks_sched_outage(authz->state, node, &own->sched.said, &event))
        advertise(authz, call, &event);
}

/* Acts of changes on jobs ------------------------------------------------------------------ */

static void turn(struct lks_authz *authz, struct lks_call *call, struct lks_event *event)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    (void)lks_authz_turn(authz, call, event, NULL, &d);
}

static void tell_acted(struct lks_authz *authz, struct lks_call *call,
                       const struct lks_job_due *due, bool refused, const char *text)
{
    turn(authz, call,
         &(struct lks_event){.kind = LKS_EVENT_JOB_ACTED,
                             .acted = {.change = due->change,
                                       .job = due->job,
                                       .site = due->site,
                                       .act = due->act,
                                       .refused = refused,
                                       .text = lks_str_from(text)}});
}

static void order(struct lks_authz *authz, const struct lks_job_due *due)
{
    struct lks_err ignored = {0}; /* it is asked for again by a later list */
    const struct lks_sched_site_wish wish = {
        .verb = due->act == LKS_JOB_SIGNAL ? LKS_SCHED_SITE_SIGNAL : LKS_SCHED_SITE_REQUEUE,
        .job = due->job,
        .signal = due->act == LKS_JOB_SIGNAL ? due->signal : LKS_STR(""),
        .started = due->started,
        .tag = due->change,
    };
    if (lks_sched_sites_order(&authz->sched.sites, due->site, due->sched, &wish, &ignored) !=
        LKS_OK)
        lks_job_acts_ended(&authz->sched.acts, due, true, authz->now.wall);
}

/* An act may be open for long: its answer was lost, or the controller was. */
static bool drains_for(const struct lks_state *s, const struct lks_job_due *due)
{
    uint32_t node = lks_state_node(s, due->node);
    return node != LKS_NO_NODE && s->nodes[node].change == due->change &&
           lks_campaign_jobs_wanted(s, node);
}

/* Acts that no answer and no list will end: lists are taken only while a node of the site drains.
 */
static void close_acts(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_job_book *book = &authz->sched.acts;
    struct lks_job_acts_at at = {0};
    struct lks_job_due due;
    if (authz->now.mono < book->look)
        return;
    book->look = authz->now.mono + LKS_JOB_ACTS_LOOK;
    while (lks_job_acts_open(authz->state, &at, &due)) {
        const char *why = lks_job_acts_old(book, &due, authz->now.wall)
                              ? lks_campaign_jobs_closed(authz->state, &due)
                              : NULL;
        if (why != NULL)
            tell_acted(authz, call, &due, true, why);
    }
    lks_job_acts_sweep(book, authz->state);
}

/* What is open for the site's jobs, by the list that came last. */
static void run_acts(struct lks_authz *authz, struct lks_call *call,
                     const struct lks_sched_site *site, bool fresh)
{
    struct lks_job_acts_at at = {0};
    struct lks_job_due due;
    while (lks_job_acts_next(authz->state, &at, &due)) {
        if (!lks_str_eq(due.site, site->site) || !lks_str_eq(due.sched, site->sched))
            continue;
        enum lks_job_does does =
            lks_job_acts_does(&authz->sched.acts, &due, &site->jobs, fresh, authz->now.wall);
        if (does == LKS_JOB_SEND && !drains_for(authz->state, &due)) {
            lks_job_acts_ended(&authz->sched.acts, &due, false, authz->now.wall);
            tell_acted(authz, call, &due, true, "its node does not drain for the change any more");
            continue;
        }
        if (does == LKS_JOB_SEND)
            order(authz, &due);
        if (does == LKS_JOB_OVER)
            tell_acted(authz, call, &due, false, "it does not run any more");
        if (does == LKS_JOB_DENIED)
            tell_acted(authz, call, &due, true, lks_job_acts_why(&authz->sched.acts, &due));
        if (does == LKS_JOB_OVER || does == LKS_JOB_DENIED)
            lks_job_acts_ended(&authz->sched.acts, &due, false, authz->now.wall);
    }
}

/* Nodes of the site that drain and whose jobs may be touched: their jobs are told. */
static void tell_jobs(struct lks_authz *authz, struct lks_call *call,
                      const struct lks_sched_site *site)
{
    const struct lks_state *s = authz->state;
    struct lks_event_job list[NODE_JOBS_MAX];
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (n->drained_by == 0 || !lks_str_eq(lks_state_text(s, n->site), site->site) ||
            n->pool >= s->pool_count ||
            !lks_str_eq(lks_state_text(s, s->pools[n->pool].sched), site->sched) ||
            !lks_campaign_jobs_wanted(s, i))
            continue;
        struct lks_event event = {.kind = LKS_EVENT_SCHED_JOBS, .node = i};
        event.sched_jobs.list = list;
        event.sched_jobs.count =
            lks_job_acts_on(&site->jobs, lks_state_name(s, i), list, NODE_JOBS_MAX);
        if (event.sched_jobs.count > 0)
            turn(authz, call, &event);
    }
}

/* Acts that are open first: what is recorded behind that is fresh. */
static void follow_list(struct lks_authz *authz, struct lks_call *call,
                        const struct lks_internal_wish *w)
{
    const struct lks_sched_site *site =
        lks_sched_sites_find(&authz->sched.sites, w->site, w->sched);
    if (site == NULL)
        return;
    run_acts(authz, call, site, false);
    tell_jobs(authz, call, site);
    run_acts(authz, call, site, true);
}

static void follow_order(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_internal *own = call->own;
    const struct lks_internal_wish *w = &own->site.wish;
    enum lks_code code = own->site.why.code;
    enum lks_job_act act =
        w->site_wish.verb == LKS_SCHED_SITE_SIGNAL ? LKS_JOB_SIGNAL : LKS_JOB_REQUEUE;
    bool refused = !own->site.unsent &&
                   (code == LKS_E_REFUSED || code == LKS_E_DENIED || code == LKS_E_INVALID);
    struct lks_job_due due;
    if (!lks_job_acts_find(authz->state, w->site_wish.tag, w->site, w->site_wish.job, act, &due))
        return;
    if (code == LKS_E_NOT_FOUND && !own->site.unsent) {
        lks_job_acts_missing(&authz->sched.acts, &due, own->site.why.msg, authz->now.wall);
        return;
    }
    lks_job_acts_ended(&authz->sched.acts, &due, code != LKS_OK && !refused, authz->now.wall);
    if (code == LKS_OK || refused)
        tell_acted(authz, call, &due, refused, own->site.why.msg);
}

static void hear_reserve(struct lks_authz *authz, struct lks_internal *own, uint64_t speed)
{
    const struct lks_internal_wish *w = &own->site.wish;
    if (lks_sched_reserve_told(&authz->sched, w->site, w->sched, &w->site_wish,
                               &own->site.reservations, &own->site.why, authz->now, speed))
        lks_sched_runner_log_reserve(authz, own);
}

static void hear_jobs(struct lks_authz *authz, struct lks_call *call, uint64_t speed)
{
    struct lks_internal *own = call->own;
    const struct lks_internal_wish *w = &own->site.wish;
    struct lks_sched_sites *sites = &authz->sched.sites;
    lks_sched_runner_log_list(authz, own);
    if (own->site.why.code == LKS_OK) {
        lks_sched_sites_listed(sites, w->site, w->sched, &own->site.jobs, authz->now, speed);
        follow_list(authz, call, w);
    } else
        lks_sched_sites_failed(sites, w->site, w->sched, own->site.why.msg, authz->now, speed);
}

void lks_sched_runner_site_said(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_internal *own = call->own;
    const struct lks_internal_wish *w = &own->site.wish;
    uint64_t speed = lks_daemon_config(authz->daemon)->bmc_speed;
    call->status = 200;
    if (authz->following)
        return;
    switch (w->site_wish.verb) {
    case LKS_SCHED_SITE_LEAD:
        if (lks_sched_lead_told(&authz->sched.lead, w->url, w->site_wish.epoch, &own->site.why,
                                authz->now, speed))
            lks_sched_runner_log_lead(authz, own);
        break;
    case LKS_SCHED_SITE_PUBLISH:
        lks_sched_runner_log_published(authz, own);
        lks_sched_truth_told(&authz->sched, authz->state, w->site, w->sched, &w->site_wish,
                             &own->site.why, authz->now, speed);
        break;
    case LKS_SCHED_SITE_RESERVATIONS:
    case LKS_SCHED_SITE_RESERVE:
    case LKS_SCHED_SITE_UNRESERVE:
        hear_reserve(authz, own, speed);
        break;
    case LKS_SCHED_SITE_JOBS:
        hear_jobs(authz, call, speed);
        break;
    case LKS_SCHED_SITE_SIGNAL:
    case LKS_SCHED_SITE_REQUEUE:
        lks_sched_runner_log_order(authz, own);
        follow_order(authz, call);
        break;
    case LKS_SCHED_SITE_VERB_COUNT:
        break;
    }
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
        report(t->client, lks_str_from(t->node), &said, why);
    }
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

/* What slurmrestd knows us by; a bridge knows the certificate or the user. */
static enum lks_code read_login(const struct lks_sched_talk *t, const struct lks_config *config,
                                struct lks_buf *space, struct lks_sched_login *out,
                                struct lks_err *err)
{
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
    const char *place = w->url.len > 0 ? w->url.ptr : choose_bridge(config, w->site, w->turn);
    if (place != NULL)
        t->driver = lks_sched_driver_at(w->sched, place, &url);
    if (t->driver == NULL)
        return lks_fail(err, LKS_E_NOT_FOUND,
                        "no bridge to %" LKS_STR_FMT " is configured for site '%" LKS_STR_FMT
                        "'; add one to slurm.bridges in lockstepd.yaml",
                        LKS_STR_ARG(w->sched), LKS_STR_ARG(w->site));
    bool tls = lks_str_starts(lks_str_from(url), "https:");
    bool shows = tls && config->slurm_certificate.len > 0;
    const struct lks_dialog_options options = {
        .peer = {.url = url,
                 .ca = tls ? config->slurm_ca.ptr : NULL,
                 .certificate = shows ? config->slurm_certificate.ptr : NULL,
                 .key = shows ? config->slurm_key.ptr : NULL,
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
                                     &kept->site_wish.signal,
                                     &kept->site_wish.reservation.name,
                                     &kept->site_wish.reservation.nodes,
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
    c->sched.talks = t;
    *(w->whole ? &c->sched.sites : &c->sched.open) += 1;
    if (dial(t, w, &err) == LKS_OK)
        return;
    if (w->whole) {
        t->site->own->site.unsent = true;
        report_site(t, &err);
    } else
        report(c, w->wish.node, NULL, &err);
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
    if (lks_daemon_config(c->daemon)->slurm_bridges.count > 0)
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
