/* What schedulers report: of a node, and how well they answer, by pool. */
#include "core/actions/sched_truth.h"
#include "core/plan/drain.h"
#include "core/rows/pool.h"
#include "core/state/lookup.h"
#include "core/state/state.h"
#include "core/view/view.h"
#include "drivers/sched/sched_drivers.h"
#include "server/api/handle.h"
#include "server/auth/authz.h"
#include "server/form/asks.h"
#include "server/form/views_change.h"

/* Nodes that one request looks at. */
enum { SCAN_MAX = 1000000 };

/* In the order of what a person wants to know first. */
static const char *state_of(const struct lks_sched_entry *e)
{
    if (e->failures > 0 || !e->heard)
        return "no answer";
    if (!e->said.known)
        return "unknown node";
    if (!e->said.closed)
        return e->said.down ? "down" : "in service";
    if (!e->said.lockstep)
        return "drained by another";
    return lks_sched_drained(&e->said) ? "drained" : "draining";
}

void lks_handle_node_sched(const struct lks_authz *authz, uint32_t node, struct lks_json_writer *w)
{
    const struct lks_state *s = authz->state;
    const struct lks_sched_entry *e = lks_sched_book_find(&authz->sched, node);
    uint32_t pool = s->nodes[node].pool;
    if (e == NULL || authz->following || pool >= s->pool_count)
        return;
    lks_json_begin(w, "scheduler", '{');
    lks_json_text(w, "name", lks_state_text(s, s->pools[pool].sched));
    lks_json_cstr(w, "state", state_of(e));
    lks_json_int(w, "jobs", e->said.jobs);
    lks_view_text(w, "owner", lks_str_from(e->said.owner));
    lks_view_text(w, "text", lks_str_from(e->failures > 0 ? e->trouble : e->said.text));
    if (e->said.ends > 0)
        lks_view_time(w, "ends", e->said.ends);
    if (e->heard)
        lks_view_time(w, "heard", e->heard_at);
    if (e->failing_since > 0)
        lks_view_time(w, "failing", e->failing_since);
    lks_json_end(w, '}');
}

struct tally {
    uint32_t nodes, draining, drained, unfenced, failing, published;
    uint32_t behind, late;      /* late: for too long */
    uint32_t gres, gres_differ; /* whose GPUs are advertised, and of these those that differ */
    uint32_t foreign, missing;  /* drained by another owner; unknown to the scheduler */
    lks_ms oldest;    /* wall: when the answer that is oldest came; UINT64_MAX: there is none */
    const char *text; /* of the first that fails */
    const char *why;  /* it is late; NULL: none is */
};

static const struct lks_sched_site *site_of(const struct lks_authz *authz, uint32_t node)
{
    const struct lks_state *s = authz->state;
    const struct lks_node *n = &s->nodes[node];
    return lks_sched_sites_find(&authz->sched.sites, lks_state_text(s, n->site),
                                lks_state_text(s, s->pools[n->pool].sched));
}

/* Why a reservation for the pool could not be made, by the first of its sites; empty: each could.
 */
static const char *reserve_trouble(const struct lks_authz *authz, uint32_t pool)
{
    const struct lks_state *s = authz->state;
    const struct lks_fleet *fleet = lks_book_fleet(lks_engine_book(authz->engine));
    struct lks_str name = lks_state_text(s, s->pools[pool].name);
    const struct lks_pool *p = fleet != NULL ? lks_fleet_find_pool(fleet, name) : NULL;
    lks_text last = 0; /* the site of the node before: neighbours mostly have the same */
    for (uint32_t i = 0; p != NULL && p->reserve && i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (n->pool != pool || !n->placed || n->asset != 0 || (last != 0 && n->site == last))
            continue;
        last = n->site;
        const struct lks_sched_site *site = site_of(authz, i);
        if (site != NULL && site->reserve_wanted > 0 && site->reserve_trouble[0] != '\0')
            return site->reserve_trouble;
    }
    return "";
}

/* The first of the pool's sites whose jobs cannot be listed now; NULL: there is none. */
static const struct lks_sched_site *unlisted(const struct lks_authz *authz, uint32_t pool)
{
    const struct lks_state *s = authz->state;
    lks_text last = 0; /* the site of the node before */
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (n->pool != pool || !n->placed || n->asset != 0 || (last != 0 && n->site == last))
            continue;
        last = n->site;
        const struct lks_sched_site *site = site_of(authz, i);
        if (site != NULL && lks_sched_sites_unlisted(site, authz->now.mono))
            return site;
    }
    return NULL;
}

/* Reservations of the pool's changes, as they were listed last. */
static uint32_t count_reserved(const struct lks_authz *authz, uint32_t pool)
{
    const struct lks_sched_sites *sites = &authz->sched.sites;
    struct lks_str name = lks_state_text(authz->state, authz->state->pools[pool].name), of, site;
    uint64_t change = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < sites->count; i++) {
        const struct lks_sched_reservations *r = &sites->items[i]->reserved;
        for (uint32_t k = 0; k < r->count; k++)
            count += lks_sched_reservations_of(r->list[k].name, &change, &of, &site) &&
                     lks_str_eq(site, sites->items[i]->site) && lks_str_eq(of, name);
    }
    return count;
}

/* What became of the last request that published verdicts at the node's site. */
static const char *publish_trouble(const struct lks_authz *authz, uint32_t node)
{
    const struct lks_sched_site *site = site_of(authz, node);
    return site != NULL ? site->publish_trouble : "";
}

static void count_truth(const struct lks_authz *authz, uint32_t node,
                        const struct lks_sched_entry *e, struct tally *t)
{
    const struct lks_config *config = lks_daemon_config(authz->daemon);
    if (!e->heard || !e->said.truthful)
        return;
    bool behind =
        lks_sched_truth_behind(&authz->sched, authz->state, node, config->slurm_publish != 0);
    bool late = behind && lks_sched_truth_late(e, authz->now.mono, config->bmc_speed);
    t->behind += behind;
    t->late += late;
    t->published += !behind && e->said.truth.features[0] != '\0';
    if (late && t->why == NULL)
        t->why = publish_trouble(authz, node);
}

static struct tally count_pool(const struct lks_authz *authz, uint32_t pool)
{
    const struct lks_state *s = authz->state;
    struct tally t = {.oldest = UINT64_MAX};
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_sched_entry *e = lks_sched_book_find(&authz->sched, i);
        if (s->nodes[i].pool != pool || !s->nodes[i].placed || s->nodes[i].asset != 0)
            continue;
        t.nodes++;
        t.gres += s->nodes[i].scheduler_gres != 0;
        t.gres_differ += lks_sched_gres_differs(s, i);
        if (e == NULL)
            continue;
        if (e->heard && e->heard_at < t.oldest)
            t.oldest = e->heard_at;
        t.unfenced += e->heard && e->said.dialect > 0;
        bool failing = e->failures > 0, drained = e->heard && lks_sched_drained(&e->said);
        t.failing += failing;
        t.drained += !failing && drained;
        t.foreign += !failing && e->heard && e->said.closed && !e->said.lockstep;
        t.missing += !failing && e->heard && !e->said.known;
        t.draining += !failing && !drained && e->heard && e->said.closed;
        count_truth(authz, i, e, &t);
        if (failing && t.text == NULL)
            t.text = e->trouble;
    }
    return t;
}

static void put_pool(struct lks_json_writer *w, const struct lks_authz *authz, uint32_t pool)
{
    const struct lks_state *s = authz->state;
    struct tally t = count_pool(authz, pool);
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "pool", lks_state_text(s, s->pools[pool].name));
    lks_json_text(w, "scheduler", lks_state_text(s, s->pools[pool].sched));
    lks_json_int(w, "nodes", t.nodes);
    lks_json_int(w, "draining", t.draining);
    lks_json_int(w, "drained", t.drained);
    lks_json_int(w, "unfenced", t.unfenced);
    lks_json_int(w, "foreign", t.foreign);
    lks_json_int(w, "missing", t.missing);
    lks_json_int(w, "published", t.published);
    lks_json_int(w, "behind", t.behind);
    lks_json_int(w, "failing", t.failing);
    lks_json_int(w, "late", t.late);
    lks_json_int(w, "gres", t.gres);
    lks_json_int(w, "gres_differ", t.gres_differ);
    lks_json_int(w, "reserved", count_reserved(authz, pool));
    lks_view_text(w, "unreserved", lks_str_from(reserve_trouble(authz, pool)));
    if (t.oldest != UINT64_MAX)
        lks_view_time(w, "oldest", t.oldest);
    lks_view_text(w, "text", lks_str_from(t.text != NULL ? t.text : ""));
    lks_view_text(w, "late_text", lks_str_from(t.why != NULL ? t.why : ""));
    const struct lks_sched_site *site = unlisted(authz, pool);
    if (site != NULL) {
        lks_view_time(w, "unlisted", site->failing_since);
        lks_view_text(w, "unlisted_text", lks_str_from(site->trouble));
    }
    lks_json_end(w, '}');
}

void lks_handle_scheds(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    const struct lks_ask_page *page = &LKS_ASKED(call, lks_query_page)->page;
    struct lks_str after = page->after, last = {0};
    uint32_t i = after.len > 0 ? lks_state_pool(s, after) : 0;
    if (i == UINT32_MAX) {
        lks_call_problem(call, LKS_E_INVALID, "query: after: is not the `next` of a page");
        return;
    }
    uint64_t looked = 0, left = page->limit;
    struct lks_json_writer w = lks_call_list(call);
    for (i += after.len > 0; i < s->pool_count && left > 0 && looked < SCAN_MAX; i++) {
        const struct lks_state_pool *p = &s->pools[i];
        struct lks_scope scope = {.pool = lks_state_text(s, p->name)};
        if (!p->known || lks_drain_sched(lks_state_text(s, p->sched)) != LKS_DRAIN_DRIVEN ||
            !lks_authz_may(authz, call, LKS_MAY_READ, scope))
            continue;
        last = scope.pool;
        looked += s->node_count;
        left--;
        put_pool(&w, authz, i);
    }
    lks_call_list_end_at(&w, i < s->pool_count ? last : LKS_STR(""));
}

void lks_handle_scheds_jobs(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_view_jobs v = {authz->state, lks_engine_book(authz->engine),
                                    &authz->sched.sites, authz->now};
    struct lks_err err = {0};
    lks_buf_truncate(&call->out, 0);
    if (lks_view_jobs_listed(&v, &call->out, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return;
    }
    call->status = 200;
    call->type = call->route->answer_type;
}

/* Bridges ------------------------------------------------------------------------------------ */

/* slurmrestd keeps none. */
static enum lks_sched_lead_state lead_of(const struct lks_authz *authz, struct lks_str url)
{
    return lks_sched_driver_keeps_epoch(url.ptr)
               ? lks_sched_lead_state(&authz->sched.lead, url, lks_engine_epoch(authz->engine))
               : LKS_SCHED_LEAD_NONE;
}

static void put_bridge(struct lks_json_writer *w, const struct lks_authz *authz,
                       struct lks_str site, struct lks_str url)
{
    enum lks_sched_lead_state state = lead_of(authz, url);
    const struct lks_sched_lead_bridge *b = lks_sched_lead_find(&authz->sched.lead, url);
    bool fails = state == LKS_SCHED_LEAD_FAILING || state == LKS_SCHED_LEAD_REFUSED;
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "site", site);
    lks_json_text(w, "url", url);
    lks_json_bool(w, "known", lks_sched_sites_known(authz->state, site));
    lks_json_cstr(w, "epoch", lks_sched_lead_words[state]);
    if (fails)
        lks_view_time(w, "failing", b->failing_since);
    lks_view_text(w, "text", lks_str_from(fails ? b->trouble : ""));
    lks_json_end(w, '}');
}

/* As many as the configuration may have: one page. */
void lks_handle_bridges(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_config_list *all = &lks_daemon_config(authz->daemon)->slurm_bridges;
    struct lks_json_writer w = lks_call_list(call);
    struct lks_str site, url;
    for (size_t i = 0; i < all->count; i++) {
        struct lks_scope scope = {0};
        if (!lks_str_cut(all->items[i], '=', &site, &url))
            continue;
        if (!lks_str_is(site, "*"))
            scope.site = site;
        if (lks_authz_may(authz, call, LKS_MAY_READ, scope))
            put_bridge(&w, authz, site, url);
    }
    lks_call_list_end_at(&w, LKS_STR(""));
}

uint64_t lks_handle_bridges_unconfirmed(const struct lks_authz *authz)
{
    const struct lks_config_list *all = &lks_daemon_config(authz->daemon)->slurm_bridges;
    uint64_t count = 0;
    struct lks_str site, url;
    for (size_t i = 0; i < all->count && !authz->following; i++) {
        if (!lks_str_cut(all->items[i], '=', &site, &url))
            continue;
        enum lks_sched_lead_state state = lead_of(authz, url);
        count += state != LKS_SCHED_LEAD_NONE && state != LKS_SCHED_LEAD_CONFIRMED;
    }
    return count;
}

/* A node that leaves the fleet ---------------------------------------------------------------- */

/* The first bridge of a site: one of its own name, else one of "*". Empty: it has none. */
static struct lks_str bridge_of(const struct lks_authz *authz, struct lks_str at)
{
    const struct lks_config_list *all = &lks_daemon_config(authz->daemon)->slurm_bridges;
    struct lks_str site, url, any = LKS_STR("");
    for (size_t i = 0; i < all->count; i++) {
        if (!lks_str_cut(all->items[i], '=', &site, &url))
            continue;
        if (lks_str_eq(site, at))
            return url;
        if (any.len == 0 && lks_str_is(site, "*"))
            any = url;
    }
    return any;
}

static struct lks_str site_name(const struct lks_state *s, uint32_t node)
{
    return lks_state_text(s, s->nodes[node].site);
}

static enum lks_sched_owes owes(const struct lks_authz *authz, uint32_t node)
{
    return lks_sched_book_owes(&authz->sched, authz->state, lks_daemon_facts(authz->daemon), node);
}

static bool is_owing(const struct lks_authz *authz, uint32_t node)
{
    return owes(authz, node) != LKS_SCHED_OWES_NOTHING &&
           bridge_of(authz, site_name(authz->state, node)).len > 0;
}

/* `when` its scheduler would not be asked about it any more. */
static void refuse_owing(const struct lks_authz *authz, struct lks_call *call, uint32_t node,
                         const char *when)
{
    const struct lks_state *s = authz->state;
    const struct lks_sched_entry *e = lks_sched_book_find(&authz->sched, node);
    struct lks_str name = lks_state_name(s, node);
    struct lks_str bridge = bridge_of(authz, site_name(s, node));
    struct lks_str sched = lks_state_text(s, s->pools[s->nodes[node].pool].sched);
    if (owes(authz, node) == LKS_SCHED_OWES_DRAIN)
        lks_call_problem(call, LKS_E_REFUSED,
                         "lockstep drains '%" LKS_STR_FMT "' in %" LKS_STR_FMT
                         ", and nothing would end the drain %s; take it over there "
                         "(scontrol update nodename=%" LKS_STR_FMT
                         " state=drain reason=...), or end what drains the node, and try again in "
                         "a minute",
                         LKS_STR_ARG(name), LKS_STR_ARG(sched), when, LKS_STR_ARG(name));
    else
        lks_call_problem(
            call, LKS_E_REFUSED,
            "%" LKS_STR_FMT " gives no answer about '%" LKS_STR_FMT
            "' (%s), so a drain of lockstep may be left there; try again in a minute, "
            "or take the bridge %" LKS_STR_FMT " out of slurm.bridges if it is gone for good",
            LKS_STR_ARG(sched), LKS_STR_ARG(name),
            e != NULL && e->trouble[0] != '\0' ? e->trouble : "not asked yet", LKS_STR_ARG(bridge));
}

bool lks_handle_sched_owes(const struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_hostlist names = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, LKS_DECISION_MEMORY_MAX);
    if (lks_hostlist_parse(call->named, &arena, &names, &err) != LKS_OK)
        return false; /* the decision refuses it */
    for (size_t i = 0; i < names.count; i++) {
        uint32_t node = lks_state_node(authz->state, names.names[i]);
        if (node == LKS_NO_NODE || !is_owing(authz, node))
            continue;
        refuse_owing(authz, call, node, "after the removal");
        return true;
    }
    return false;
}

/* Whether the fleet's file has another scheduler for the node, none, another bridge or no such
 * node. One that is enrolled is not left out: the decision refuses that with its own reason. */
static bool leaves(const struct lks_authz *authz, const struct lks_fleet *fleet, uint32_t node)
{
    const struct lks_state *s = authz->state;
    const struct lks_node *n = &s->nodes[node];
    const struct lks_group *group = lks_fleet_group(fleet, lks_state_name(s, node));
    if (group == NULL)
        return !n->enrolled;
    return group->pool == NULL ||
           !lks_str_eq(group->pool->sched, lks_state_text(s, s->pools[n->pool].sched)) ||
           !lks_str_eq(bridge_of(authz, group->site), bridge_of(authz, site_name(s, node)));
}

bool lks_handle_sched_leaves(const struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    if (call->manifest == NULL || call->manifest->fleet_count != 1)
        return false; /* the decision refuses it */
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (!n->placed || n->pool >= s->pool_count || !is_owing(authz, i) ||
            !leaves(authz, &call->manifest->fleets[0], i))
            continue;
        refuse_owing(authz, call, i, "once this file is applied");
        return true;
    }
    return false;
}
