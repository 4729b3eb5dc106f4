/* What schedulers report: of a node, and how well they answer, by pool. */
#include "core/actions/sched_truth.h"
#include "core/plan/drain.h"
#include "core/rows/pool.h"
#include "core/state/lookup.h"
#include "core/state/runs.h"
#include "core/state/state.h"
#include "core/view/view.h"
#include "drivers/sched/sched_drivers.h"
#include "server/api/handle.h"
#include "server/auth/authz.h"
#include "server/base/bridges.h"
#include "server/form/asks.h"
#include "server/form/views_change.h"

#include <stdio.h>
#include <string.h>

/* Nodes that one request looks at. */
#define RUNS_GAP_SHOWN ((lks_ms)24 * 3600 * LKS_SECOND)

enum { SCAN_MAX = 1000000, NAME_BYTES_MAX = 4096, POLICY_BYTES_MAX = 4096 };

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

/* The schedulers of a node's pool, as its text has them. */
static struct lks_str scheds_of(const struct lks_state *s, uint32_t pool)
{
    return pool < s->pool_count ? lks_state_text(s, s->pools[pool].sched) : LKS_STR("");
}

static void put_entry(struct lks_json_writer *w, const char *key, const struct lks_sched_entry *e)
{
    lks_json_begin(w, key, '{');
    lks_json_cstr(w, "name", e->sched);
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

/* Of several: in service or drained is what each of them has; else what is worst. */
static const char *state_of_all(const struct lks_sched_entry *const *list, size_t count)
{
    static const char *const worst[] = {"no answer", "unknown node", "drained by another", "down"};
    bool same = true;
    for (size_t i = 0; i < LKS_COUNT(worst); i++) {
        for (size_t k = 0; k < count; k++) {
            if (strcmp(state_of(list[k]), worst[i]) == 0)
                return worst[i];
            same = same && strcmp(state_of(list[k]), state_of(list[0])) == 0;
        }
    }
    return same ? state_of(list[0]) : "draining";
}

static void put_entries(struct lks_json_writer *w, struct lks_str name,
                        const struct lks_sched_entry *const *list, size_t count)
{
    uint32_t jobs = 0;
    for (size_t i = 0; i < count; i++)
        jobs += list[i]->said.jobs;
    lks_json_begin(w, "scheduler", '{');
    lks_json_text(w, "name", name);
    lks_json_cstr(w, "state", state_of_all(list, count));
    lks_json_int(w, "jobs", jobs);
    lks_json_end(w, '}');
    lks_json_begin(w, "schedulers", '[');
    for (size_t i = 0; i < count; i++)
        put_entry(w, NULL, list[i]);
    lks_json_end(w, ']');
}

void lks_handle_node_sched(const struct lks_authz *authz, uint32_t node, struct lks_json_writer *w)
{
    static const struct lks_sched_entry none = {0};
    const struct lks_sched_entry *list[LKS_SCHED_PARTS_MAX];
    struct lks_sched_entry unasked[LKS_SCHED_PARTS_MAX];
    struct lks_str scheds = scheds_of(authz->state, authz->state->nodes[node].pool), rest = scheds;
    const struct lks_drain_named *sched;
    size_t count = 0, asked = 0;
    while (!authz->following && count < LKS_COUNT(list) &&
           (sched = lks_drain_sched_next(&rest, 0)) != NULL) {
        list[count] = lks_sched_book_find(&authz->sched, node, lks_str_from(sched->name));
        asked += list[count] != NULL;
        unasked[count] = none;
        unasked[count].sched = sched->name;
        list[count] = list[count] != NULL ? list[count] : &unasked[count];
        count++;
    }
    if (asked == 0)
        return;
    if (count == 1)
        put_entry(w, "scheduler", list[0]);
    else
        put_entries(w, scheds, list, count);
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

static const struct lks_sched_site *site_of(const struct lks_authz *authz, uint32_t node,
                                            struct lks_str sched)
{
    const struct lks_state *s = authz->state;
    return lks_sched_sites_find(&authz->sched.sites, lks_state_text(s, s->nodes[node].site), sched);
}

/* Why a reservation for the pool could not be made, by the first of its sites; empty: each could.
 */
static const char *reserve_trouble(const struct lks_authz *authz, uint32_t pool,
                                   struct lks_str sched)
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
        const struct lks_sched_site *site = site_of(authz, i, sched);
        if (site != NULL && site->reserve_wanted > 0 && site->reserve_trouble[0] != '\0')
            return site->reserve_trouble;
    }
    return "";
}

/* The first of the pool's sites whose jobs cannot be listed now; NULL: there is none. */
static const struct lks_sched_site *unlisted(const struct lks_authz *authz, uint32_t pool,
                                             struct lks_str sched)
{
    const struct lks_state *s = authz->state;
    lks_text last = 0; /* the site of the node before */
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (n->pool != pool || !n->placed || n->asset != 0 || (last != 0 && n->site == last))
            continue;
        last = n->site;
        const struct lks_sched_site *site = site_of(authz, i, sched);
        if (site != NULL && lks_sched_sites_unlisted(site, authz->now.mono))
            return site;
    }
    return NULL;
}

/* Reservations of the pool's changes, as they were listed last. */
static uint32_t count_reserved(const struct lks_authz *authz, uint32_t pool, struct lks_str sched)
{
    const struct lks_sched_sites *sites = &authz->sched.sites;
    struct lks_str name = lks_state_text(authz->state, authz->state->pools[pool].name), of, site;
    uint64_t change = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < sites->count; i++) {
        const struct lks_sched_reservations *r = &sites->items[i]->reserved;
        for (uint32_t k = 0; k < r->count && lks_str_eq(sites->items[i]->sched, sched); k++)
            count += lks_sched_reservations_of(r->list[k].name, &change, &of, &site) &&
                     lks_str_eq(site, sites->items[i]->site) && lks_str_eq(of, name);
    }
    return count;
}

/* What became of the last request that published verdicts at the node's site. */
static const char *publish_trouble(const struct lks_authz *authz, uint32_t node, const char *sched)
{
    const struct lks_sched_site *site = site_of(authz, node, lks_str_from(sched));
    return site != NULL ? site->publish_trouble : "";
}

static void count_truth(const struct lks_authz *authz, uint32_t node,
                        const struct lks_sched_entry *e, struct tally *t)
{
    const struct lks_config *config = lks_daemon_config(authz->daemon);
    if (!e->heard || !e->said.truthful)
        return;
    bool publish = !lks_drain_sched_has(lks_bridges_hidden(config), lks_str_from(e->sched));
    bool behind = lks_sched_truth_behind(e, authz->state, node, publish);
    bool late = behind && lks_sched_truth_late(e, authz->now.mono, config->bmc_speed);
    t->behind += behind;
    t->late += late;
    t->published += !behind && e->said.truth.features[0] != '\0';
    if (late && t->why == NULL)
        t->why = publish_trouble(authz, node, e->sched);
}

static struct tally count_pool(const struct lks_authz *authz, uint32_t pool, struct lks_str sched)
{
    const struct lks_state *s = authz->state;
    struct tally t = {.oldest = UINT64_MAX};
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_sched_entry *e = lks_sched_book_find(&authz->sched, i, sched);
        if (s->nodes[i].pool != pool || !s->nodes[i].placed || s->nodes[i].asset != 0)
            continue;
        t.nodes++;
        if (lks_sched_advertises(s, i, sched)) {
            t.gres += s->nodes[i].scheduler_gres != 0;
            t.gres_differ += lks_sched_gres_differs(s, i);
        }
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

/* Pool and scheduler, where the pool has several. */
static void put_name(struct lks_json_writer *w, struct lks_str pool, struct lks_str sched)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf name = LKS_BUF(NAME_BYTES_MAX);
    lks_buf_addf(&name, "%" LKS_STR_FMT " in %" LKS_STR_FMT, LKS_STR_ARG(pool), LKS_STR_ARG(sched));
    lks_view_text(w, "name", lks_buf_view(&name));
}

/* Why the runs of jobs that ended cannot be read, or the gap of the last day that they have. */
static bool put_runs(struct lks_json_writer *w, const struct lks_authz *authz,
                     const struct lks_sched_site *site)
{
    const struct lks_runs_place *place = lks_runs_place(authz->state, site->site, site->sched);
    bool failing = site->runs_failing_since != 0;
    bool gap = place != NULL && place->missing_until != 0 &&
               place->missing_until + RUNS_GAP_SHOWN > authz->now.wall;
    if (failing) {
        lks_view_time(w, "runs_failing", site->runs_failing_since);
        lks_view_text(w, "runs_text", lks_str_from(site->runs_trouble));
    }
    if (gap)
        lks_view_time(w, "runs_gap", place->missing_until);
    return failing || gap;
}

/* Whether the caller reads where a bridge is: one of "*" is of all sites. */
static bool reads_bridge(const struct lks_authz *authz, const struct lks_call *call,
                         const struct lks_bridge *b)
{
    struct lks_scope scope = {0};
    if (!lks_str_is(b->site, "*"))
        scope.site = b->site;
    return lks_authz_may(authz, call, LKS_MAY_READ, scope);
}

/* The policy of submissions, by the bridges of a pool's sites. */
struct policies {
    lks_ms oldest; /* wall: when the bridge wrote it whose file is oldest; 0: none did */
    bool is_fileless, fails;
    struct lks_bridge fileless; /* the first bridge that has no file for it */
    struct lks_bridge failing;  /* the first whose last request failed */
    const char *why;            /* of that */
};

/* Every bridge writes a file, for the slurmctld on its own host. */
static void look_at_policies(const struct lks_authz *authz, struct lks_str site,
                             struct lks_str sched, struct policies *out)
{
    struct lks_bridges_at at = {0};
    struct lks_bridge b;
    while (lks_bridges_next(lks_daemon_config(authz->daemon), &at, &b)) {
        const struct lks_sched_sites_bridge bridge = {b.site, sched, b.url};
        const struct lks_sched_sites_policy *p =
            lks_bridges_serves(&b, sched, site)
                ? lks_sched_sites_policy_find(&authz->sched.sites, &bridge)
                : NULL;
        if (p == NULL)
            continue;
        if (p->written > 0 && (out->oldest == 0 || p->written < out->oldest))
            out->oldest = p->written;
        if (p->fileless && !out->is_fileless)
            out->fileless = b;
        out->is_fileless = out->is_fileless || p->fileless;
        if (p->trouble[0] != '\0' && !out->fails) {
            out->fails = true;
            out->failing = b;
            out->why = p->trouble;
        }
    }
}

/* What a bridge does, with its address for those who read the bridge. */
static void put_policy_text(struct lks_json_writer *w, const struct lks_authz *authz,
                            const struct lks_call *call, const struct lks_bridge *b,
                            const char *what)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(POLICY_BYTES_MAX);
    if (reads_bridge(authz, call, b))
        lks_buf_addf(&text, "%" LKS_STR_FMT ": ", LKS_STR_ARG(b->url));
    lks_buf_addf(&text, "%s", what);
    lks_view_text(w, "policy_text", lks_buf_view(&text));
}

/* A bridge without a file matters where another bridge of the pool has one: a backup slurmctld
 * would go on without. */
static void put_policies(struct lks_json_writer *w, const struct lks_authz *authz,
                         const struct lks_call *call, const struct policies *p)
{
    if (p->oldest > 0)
        lks_view_time(w, "policy", p->oldest);
    if (p->fails)
        put_policy_text(w, authz, call, &p->failing, p->why);
    else if (p->oldest > 0 && p->is_fileless)
        put_policy_text(w, authz, call, &p->fileless,
                        "the bridge writes no file; start it with --policy FILE");
}

/* What is known of the pool's sites: the policy of submissions, and the runs of the first site that
 * has trouble with them. */
static void put_sites(struct lks_json_writer *w, const struct lks_authz *authz,
                      const struct lks_call *call, uint32_t pool, struct lks_str sched)
{
    const struct lks_state *s = authz->state;
    struct policies policies = {0};
    bool shown = false;
    lks_text last = 0; /* the site of the node before */
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (n->pool != pool || !n->placed || n->asset != 0 || (last != 0 && n->site == last))
            continue;
        last = n->site;
        const struct lks_sched_site *site = site_of(authz, i, sched);
        if (site == NULL)
            continue;
        look_at_policies(authz, site->site, sched, &policies);
        shown = shown || put_runs(w, authz, site);
    }
    put_policies(w, authz, call, &policies);
}

static void put_pool(struct lks_json_writer *w, const struct lks_authz *authz,
                     const struct lks_call *call, uint32_t pool, struct lks_str sched)
{
    const struct lks_state *s = authz->state;
    struct tally t = count_pool(authz, pool, sched);
    struct lks_sched_truth_slots slots = {0};
    if (!lks_drain_sched_has(lks_bridges_hidden(lks_daemon_config(authz->daemon)), sched))
        slots = lks_sched_truth_slots(s, pool);
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "pool", lks_state_text(s, s->pools[pool].name));
    lks_json_text(w, "scheduler", sched);
    if (!lks_str_eq(lks_state_text(s, s->pools[pool].sched), sched))
        put_name(w, lks_state_text(s, s->pools[pool].name), sched);
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
    lks_json_int(w, "slots", slots.used);
    lks_json_int(w, "slotless", slots.without);
    lks_json_int(w, "reserved", count_reserved(authz, pool, sched));
    lks_view_text(w, "unreserved", lks_str_from(reserve_trouble(authz, pool, sched)));
    if (t.oldest != UINT64_MAX)
        lks_view_time(w, "oldest", t.oldest);
    lks_view_text(w, "text", lks_str_from(t.text != NULL ? t.text : ""));
    lks_view_text(w, "late_text", lks_str_from(t.why != NULL ? t.why : ""));
    put_sites(w, authz, call, pool, sched);
    const struct lks_sched_site *site = unlisted(authz, pool, sched);
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
        struct lks_str rest = lks_state_text(s, p->sched);
        const struct lks_drain_named *sched = lks_drain_sched_next(&rest, 0);
        if (!p->known || sched == NULL || !lks_authz_may(authz, call, LKS_MAY_READ, scope))
            continue;
        last = scope.pool;
        left--; /* a page ends behind a pool */
        for (; sched != NULL; sched = lks_drain_sched_next(&rest, 0)) {
            looked += s->node_count;
            put_pool(&w, authz, call, i, lks_str_from(sched->name));
        }
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
static enum lks_sched_lead_state lead_of(const struct lks_authz *authz, const struct lks_bridge *b)
{
    return lks_sched_driver_keeps_epoch(lks_str_from(b->sched), b->url.ptr)
               ? lks_sched_lead_state(&authz->sched.lead, b->url, lks_engine_epoch(authz->engine))
               : LKS_SCHED_LEAD_NONE;
}

static void put_bridge(struct lks_json_writer *w, const struct lks_authz *authz,
                       const struct lks_bridge *bridge)
{
    enum lks_sched_lead_state state = lead_of(authz, bridge);
    const struct lks_sched_lead_bridge *b = lks_sched_lead_find(&authz->sched.lead, bridge->url);
    bool fails = state == LKS_SCHED_LEAD_FAILING || state == LKS_SCHED_LEAD_REFUSED;
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "site", bridge->site);
    lks_json_text(w, "url", bridge->url);
    if (strcmp(bridge->sched, "slurm") != 0)
        lks_json_cstr(w, "scheduler", bridge->sched);
    lks_json_bool(w, "known", lks_sched_sites_known(authz->state, bridge->site));
    lks_json_cstr(w, "epoch", lks_sched_lead_words[state]);
    if (fails)
        lks_view_time(w, "failing", b->failing_since);
    lks_view_text(w, "text", lks_str_from(fails ? b->trouble : ""));
    lks_json_end(w, '}');
}

/* As many as the configuration may have: one page. */
void lks_handle_bridges(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_json_writer w = lks_call_list(call);
    struct lks_bridges_at at = {0};
    struct lks_bridge b;
    while (lks_bridges_next(lks_daemon_config(authz->daemon), &at, &b)) {
        if (reads_bridge(authz, call, &b))
            put_bridge(&w, authz, &b);
    }
    lks_call_list_end_at(&w, LKS_STR(""));
}

uint64_t lks_handle_bridges_unconfirmed(const struct lks_authz *authz)
{
    uint64_t count = 0;
    struct lks_bridges_at at = {0};
    struct lks_bridge b;
    while (!authz->following && lks_bridges_next(lks_daemon_config(authz->daemon), &at, &b)) {
        enum lks_sched_lead_state state = lead_of(authz, &b);
        count += state != LKS_SCHED_LEAD_NONE && state != LKS_SCHED_LEAD_CONFIRMED;
    }
    return count;
}

/* A node that leaves the fleet ---------------------------------------------------------------- */

/* The first bridge of a site to that scheduler: one of its own name, else one of "*". Empty: it has
 * none. */
static struct lks_str bridge_of(const struct lks_authz *authz, struct lks_str sched,
                                struct lks_str site)
{
    struct lks_bridges_at at = {0};
    struct lks_bridge b;
    struct lks_str any = LKS_STR("");
    while (lks_bridges_next(lks_daemon_config(authz->daemon), &at, &b)) {
        if (!lks_bridges_serves(&b, sched, site))
            continue;
        if (lks_str_eq(b.site, site))
            return b.url;
        any = any.len == 0 ? b.url : any;
    }
    return any;
}

static struct lks_str site_name(const struct lks_state *s, uint32_t node)
{
    return lks_state_text(s, s->nodes[node].site);
}

static enum lks_sched_owes owes(const struct lks_authz *authz, uint32_t node, struct lks_str sched)
{
    return lks_sched_book_owes(&authz->sched, authz->state, lks_daemon_facts(authz->daemon), node,
                               sched);
}

/* The next of the node's schedulers, from `*rest` on, in which a drain would be left over. */
static bool is_owing(const struct lks_authz *authz, uint32_t node, struct lks_str *rest,
                     struct lks_str *sched)
{
    const struct lks_drain_named *next;
    while ((next = lks_drain_sched_next(rest, 0)) != NULL) {
        *sched = lks_str_from(next->name);
        if (owes(authz, node, *sched) != LKS_SCHED_OWES_NOTHING &&
            bridge_of(authz, *sched, site_name(authz->state, node)).len > 0)
            return true;
    }
    return false;
}

/* `when` the scheduler would not be asked about it any more. */
static void refuse_owing(const struct lks_authz *authz, struct lks_call *call, uint32_t node,
                         struct lks_str sched, const char *when)
{
    const struct lks_state *s = authz->state;
    const struct lks_sched_entry *e = lks_sched_book_find(&authz->sched, node, sched);
    struct lks_str name = lks_state_name(s, node);
    struct lks_str bridge = bridge_of(authz, sched, site_name(s, node));
    char how[LKS_SCHED_OWNER_MAX + LKS_SCHED_REASON_MAX] = "";
    if (lks_str_is(sched, "slurm"))
        (void)snprintf(how, sizeof(how),
                       " (scontrol update nodename=%" LKS_STR_FMT " state=drain reason=...)",
                       LKS_STR_ARG(name));
    if (owes(authz, node, sched) == LKS_SCHED_OWES_DRAIN)
        lks_call_problem(call, LKS_E_REFUSED,
                         "lockstep drains '%" LKS_STR_FMT "' in %" LKS_STR_FMT
                         ", and nothing would end the drain %s; take it over there%s, or end what "
                         "drains the node, and try again in a minute",
                         LKS_STR_ARG(name), LKS_STR_ARG(sched), when, how);
    else
        lks_call_problem(call, LKS_E_REFUSED,
                         "%" LKS_STR_FMT " gives no answer about '%" LKS_STR_FMT
                         "' (%s), so a drain of lockstep may be left there; try again in a minute, "
                         "or take the bridge %" LKS_STR_FMT " out of %" LKS_STR_FMT
                         ".bridges if it is gone for good",
                         LKS_STR_ARG(sched), LKS_STR_ARG(name),
                         e != NULL && e->trouble[0] != '\0' ? e->trouble : "not asked yet",
                         LKS_STR_ARG(bridge), LKS_STR_ARG(sched));
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
        struct lks_str sched, rest = LKS_STR("");
        if (node != LKS_NO_NODE)
            rest = scheds_of(authz->state, authz->state->nodes[node].pool);
        if (!is_owing(authz, node, &rest, &sched))
            continue;
        refuse_owing(authz, call, node, sched, "after the removal");
        return true;
    }
    return false;
}

/* Whether the fleet's file takes the node from that scheduler, gives it another bridge or has no
 * such node. One that is enrolled is not left out: the decision refuses that with its own reason.
 */
static bool leaves(const struct lks_authz *authz, const struct lks_group *group, uint32_t node,
                   struct lks_str sched)
{
    const struct lks_state *s = authz->state;
    if (group == NULL)
        return !s->nodes[node].enrolled;
    return group->pool == NULL || !lks_drain_sched_has(group->pool->sched, sched) ||
           !lks_str_eq(bridge_of(authz, sched, group->site),
                       bridge_of(authz, sched, site_name(s, node)));
}

/* Whether the file adds a scheduler that cannot be asked, to a node that is drained in another: it
 * would not be drained any more, and could not become it. */
static bool gains_mute(const struct lks_authz *authz, struct lks_call *call,
                       const struct lks_group *group, uint32_t node, struct lks_str sched)
{
    const struct lks_state *s = authz->state;
    struct lks_str mute = group != NULL && group->pool != NULL
                              ? lks_drain_sched_mute(group->pool->sched)
                              : LKS_STR("");
    if (mute.len == 0 || lks_drain_sched_mute(scheds_of(s, s->nodes[node].pool)).len > 0 ||
        owes(authz, node, sched) != LKS_SCHED_OWES_DRAIN)
        return false;
    lks_call_problem(call, LKS_E_REFUSED,
                     "lockstep drains '%" LKS_STR_FMT "' in %" LKS_STR_FMT
                     ", and cannot drain it in %" LKS_STR_FMT
                     " yet; apply this file when the drain ended",
                     LKS_STR_ARG(lks_state_name(s, node)), LKS_STR_ARG(sched), LKS_STR_ARG(mute));
    return true;
}

static bool is_refused(const struct lks_authz *authz, struct lks_call *call,
                       const struct lks_fleet *fleet, uint32_t node)
{
    const struct lks_group *group = lks_fleet_group(fleet, lks_state_name(authz->state, node));
    struct lks_str rest = scheds_of(authz->state, authz->state->nodes[node].pool), sched;
    while (is_owing(authz, node, &rest, &sched)) {
        if (leaves(authz, group, node, sched)) {
            refuse_owing(authz, call, node, sched, "once this file is applied");
            return true;
        }
        if (gains_mute(authz, call, group, node, sched))
            return true;
    }
    return false;
}

bool lks_handle_sched_leaves(const struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    if (call->manifest == NULL || call->manifest->fleet_count != 1)
        return false; /* the decision refuses it */
    for (uint32_t i = 0; i < s->node_count; i++) {
        if (s->nodes[i].placed && is_refused(authz, call, &call->manifest->fleets[0], i))
            return true;
    }
    return false;
}
