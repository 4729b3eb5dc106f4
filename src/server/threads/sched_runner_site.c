/* What came of requests about whole sites, on the state thread: lists of jobs and what follows for
 * acts of changes on them, runs that ended, verdicts, policies, reservations. */
#include "core/actions/job_acts.h"
#include "core/actions/sched_book.h"
#include "core/actions/sched_truth.h"
#include "core/campaign/campaign.h"
#include "core/plan/drain.h"
#include "core/rows/pool.h"
#include "core/state/lookup.h"
#include "core/state/state.h"
#include "server/auth/authz.h"
#include "server/threads/client_parts.h"
#include "server/threads/sched_runner.h"

enum { NODE_JOBS_MAX = 256 }; /* of one node that a change may touch */

/* For the log -------------------------------------------------------------------------------- */

/* A list that does not come is logged once, and once more when one does. */
static void log_list(const struct lks_authz *authz, const struct lks_internal *own)
{
    const struct lks_internal_wish *w = &own->site.wish;
    const struct lks_sched_site *site =
        lks_sched_sites_find(&authz->sched.sites, w->site, w->sched);
    bool failed = own->site.why.code != LKS_OK, failed_before = site != NULL && site->failures > 0;
    const struct lks_log_field fields[] = {{"site", w->site},
                                           {"cause", lks_str_from(own->site.why.msg)}};
    if (own->site.why.code == LKS_E_NOT_FOUND)
        return; /* no bridge is configured, or it is one of before */
    if (failed && !failed_before)
        lks_daemon_log(authz->daemon, LKS_LEVEL_WARNING, "the jobs of a site cannot be listed",
                       fields, 2);
    else if (!failed && failed_before)
        lks_daemon_log(authz->daemon, LKS_LEVEL_INFO, "the jobs of a site can be listed again",
                       fields, 1);
}

/* Requests that fail are logged once, and once more when one succeeds. */
static void log_published(const struct lks_authz *authz, const struct lks_internal *own)
{
    const struct lks_internal_wish *w = &own->site.wish;
    const struct lks_sched_site *site =
        lks_sched_sites_find(&authz->sched.sites, w->site, w->sched);
    bool failed = own->site.why.code != LKS_OK;
    bool failed_before = site != NULL && site->publish_failures > 0;
    const struct lks_log_field fields[] = {{"site", w->site},
                                           {"cause", lks_str_from(own->site.why.msg)}};
    if (failed && !failed_before)
        lks_daemon_log(authz->daemon, LKS_LEVEL_WARNING, "verdicts cannot be shown in a scheduler",
                       fields, 2);
    else if (!failed && failed_before)
        lks_daemon_log(authz->daemon, LKS_LEVEL_INFO, "verdicts are shown in a scheduler again",
                       fields, 1);
}

/* The caller knows that it is news. */
static void log_reserve(const struct lks_authz *authz, const struct lks_internal *own)
{
    const struct lks_log_field fields[] = {{"site", own->site.wish.site},
                                           {"cause", lks_str_from(own->site.why.msg)}};
    lks_daemon_log(authz->daemon, LKS_LEVEL_WARNING,
                   "nodes cannot be reserved in a scheduler for the window of a change", fields, 2);
}

/* The caller knows that it is news. */
static void log_lead(const struct lks_authz *authz, const struct lks_internal *own)
{
    bool failed = own->site.why.code != LKS_OK;
    const struct lks_log_field fields[] = {{"site", own->site.wish.site},
                                           {"url", own->site.wish.url},
                                           {"cause", lks_str_from(own->site.why.msg)}};
    lks_daemon_log(authz->daemon, failed ? LKS_LEVEL_WARNING : LKS_LEVEL_INFO,
                   failed ? "a bridge does not confirm the epoch of this leader"
                          : "a bridge confirms the epoch of this leader now",
                   fields, failed ? 3 : 2);
}

/* The caller knows that it is news. */
static void log_runs(const struct lks_authz *authz, const struct lks_internal *own)
{
    bool failed = own->site.why.code != LKS_OK;
    const struct lks_log_field fields[] = {{"site", own->site.wish.site},
                                           {"cause", lks_str_from(own->site.why.msg)}};
    if (own->site.why.code == LKS_E_NOT_FOUND)
        return; /* no bridge is configured, or it is one of before */
    lks_daemon_log(authz->daemon, failed ? LKS_LEVEL_WARNING : LKS_LEVEL_INFO,
                   failed ? "the jobs that ended at a site cannot be listed"
                          : "the jobs that ended at a site can be listed again",
                   fields, failed ? 2 : 1);
}

/* A scheduler that says "not now" is asked again with each list: the same answer is logged once. */
static bool is_known(const struct lks_authz *authz, const struct lks_internal *own)
{
    const struct lks_internal_wish *w = &own->site.wish;
    return own->site.why.code == LKS_E_UNAVAILABLE &&
           lks_job_acts_deferred(authz->state, w->site_wish.tag, w->site, w->site_wish.job,
                                 lks_str_from(own->site.why.msg));
}

static void log_order(const struct lks_authz *authz, const struct lks_internal *own)
{
    const struct lks_internal_wish *w = &own->site.wish;
    bool failed = own->site.why.code != LKS_OK;
    if (is_known(authz, own))
        return;
    const struct lks_log_field fields[] = {
        {"request", lks_str_from(lks_sched_site_verb_words[w->site_wish.verb])},
        {"site", w->site},
        {"job", w->site_wish.job},
        {"cause", lks_str_from(own->site.why.msg)}};
    lks_daemon_log(authz->daemon, failed ? LKS_LEVEL_WARNING : LKS_LEVEL_INFO,
                   failed ? "a request about a job failed"
                          : "a request about a job was carried out",
                   fields, failed ? 4 : 3);
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

/* The act stays open, and people see why. */
static void tell_later(struct lks_authz *authz, struct lks_call *call,
                       const struct lks_job_due *due, const char *text)
{
    turn(authz, call,
         &(struct lks_event){.kind = LKS_EVENT_JOB_ACTED,
                             .acted = {.change = due->change,
                                       .job = due->job,
                                       .site = due->site,
                                       .act = due->act,
                                       .later = true,
                                       .text = lks_str_from(text)}});
}

static void order(struct lks_authz *authz, const struct lks_job_due *due)
{
    struct lks_err ignored = {0}; /* it is asked for again by a later list */
    const struct lks_sched_site_wish wish = {
        .verb = due->act == LKS_JOB_SIGNAL ? LKS_SCHED_SITE_SIGNAL : LKS_SCHED_SITE_REQUEUE,
        .job = due->job,
        .node = due->node,
        .signal = due->act == LKS_JOB_SIGNAL ? due->signal : LKS_STR(""),
        .started = due->started,
        .tag = due->change,
    };
    if (lks_sched_sites_order(&authz->sched.sites, due->site, due->sched, &wish, &ignored) !=
        LKS_OK)
        lks_job_acts_ended(&authz->sched.acts, due, true, authz->now.wall);
}

/* An act may be open for long: its answer was lost, or the controller was. */
bool lks_sched_runner_site_drains(const struct lks_state *s, const struct lks_job_due *due)
{
    uint32_t node = lks_state_node(s, due->node);
    return node != LKS_NO_NODE && s->nodes[node].change == due->change &&
           lks_campaign_jobs_wanted(s, node);
}

/* Acts that no answer and no list will end: lists are taken only while a node of the site drains.
 */
void lks_sched_runner_site_close(struct lks_authz *authz, struct lks_call *call)
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
        if (does == LKS_JOB_SEND && !lks_sched_runner_site_drains(authz->state, &due)) {
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
            !lks_drain_sched_has(lks_state_text(s, s->pools[n->pool].sched), site->sched) ||
            !lks_campaign_jobs_wanted(s, i))
            continue;
        struct lks_event event = {.kind = LKS_EVENT_SCHED_JOBS, .node = i};
        event.sched_jobs.list = list;
        event.sched_jobs.sched = site->sched;
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
    else if (act == LKS_JOB_REQUEUE && !own->site.unsent && code == LKS_E_UNAVAILABLE)
        tell_later(authz, call, &due, own->site.why.msg);
    else if (act == LKS_JOB_REQUEUE && !own->site.unsent && code == LKS_E_TIMEOUT)
        tell_later(authz, call, &due, ""); /* "not now" is not true any more: nothing is known */
}

static void hear_published(struct lks_authz *authz, struct lks_internal *own, uint64_t speed)
{
    const struct lks_internal_wish *w = &own->site.wish;
    log_published(authz, own);
    lks_sched_truth_told(&authz->sched, authz->state, w->site, w->sched, &w->site_wish,
                         &own->site.why, authz->now, speed);
}

static void hear_reserve(struct lks_authz *authz, struct lks_internal *own, uint64_t speed)
{
    const struct lks_internal_wish *w = &own->site.wish;
    if (lks_sched_reserve_told(&authz->sched, w->site, w->sched, &w->site_wish,
                               &own->site.reservations, &own->site.why, authz->now, speed))
        log_reserve(authz, own);
}

static void hear_jobs(struct lks_authz *authz, struct lks_call *call, uint64_t speed)
{
    struct lks_internal *own = call->own;
    const struct lks_internal_wish *w = &own->site.wish;
    struct lks_sched_sites *sites = &authz->sched.sites;
    log_list(authz, own);
    if (own->site.why.code == LKS_OK) {
        lks_sched_sites_listed(sites, w->site, w->sched, &own->site.jobs, authz->now, speed);
        follow_list(authz, call, w);
    } else
        lks_sched_sites_failed(sites, w->site, w->sched, own->site.why.msg, authz->now, speed);
}

/* Others are asked for at once only where these were recorded: after a failure they come again. */
static void hear_runs(struct lks_authz *authz, struct lks_call *call, uint64_t speed)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_internal *own = call->own;
    const struct lks_internal_wish *w = &own->site.wish;
    struct lks_event event = {.kind = LKS_EVENT_RUNS,
                              .runs = {.site = w->site,
                                       .sched = w->sched,
                                       .after = w->site_wish.after,
                                       .runs = &own->site.runs}};
    bool heard = own->site.why.code == LKS_OK;
    bool taken = heard && lks_authz_turn(authz, call, &event, NULL, &d);
    if (taken)
        lks_metrics_runs(&authz->metrics, authz->state, &d);
    if (lks_sched_sites_runs_told(&authz->sched.sites, w->site, w->sched, &own->site.why,
                                  taken && own->site.runs.more, authz->now, speed))
        log_runs(authz, own);
    call->status = 200;
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
            log_lead(authz, own);
        break;
    case LKS_SCHED_SITE_PUBLISH:
        hear_published(authz, own, speed);
        break;
    case LKS_SCHED_SITE_POLICY:
        lks_sched_sites_policy_told(&authz->sched.sites,
                                    &(struct lks_sched_sites_bridge){w->site, w->sched, w->url},
                                    &own->site.why, own->site.written, authz->now, speed);
        break;
    case LKS_SCHED_SITE_RESERVATIONS:
    case LKS_SCHED_SITE_RESERVE:
    case LKS_SCHED_SITE_UNRESERVE:
        hear_reserve(authz, own, speed);
        break;
    case LKS_SCHED_SITE_JOBS:
        hear_jobs(authz, call, speed);
        break;
    case LKS_SCHED_SITE_RUNS:
        hear_runs(authz, call, speed);
        break;
    case LKS_SCHED_SITE_SIGNAL:
    case LKS_SCHED_SITE_REQUEUE:
        log_order(authz, own);
        follow_order(authz, call);
        break;
    case LKS_SCHED_SITE_VERB_COUNT:
        break;
    }
}
