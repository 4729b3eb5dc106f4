/* Whom a plan is about: nodes, the assets of their domains, and the units they change in. */
#include "base/near.h"
#include "core/conform/basis.h"
#include "core/plan/drain.h"
#include "core/plan/plan_work.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

#include <stdlib.h>

#define AGENT_READING "platform.agent"

/* Classes of assets that have firmware of their own. */
static const char *const asset_classes[] = {"switch-tray", "switch",          "power-shelf", "bbu",
                                            "cdu",         "rack-controller", "dpu"};

uint32_t lks_plan_asset_bit(struct lks_str asset_class)
{
    for (size_t i = 0; i < LKS_COUNT(asset_classes); i++) {
        if (lks_str_is(asset_class, asset_classes[i]))
            return 1U << i;
    }
    return 0;
}

/* Where the fleet's file has them ----------------------------------------------------------- */

static enum lks_code find_groups_of(struct lks_planning *p, const struct lks_group *groups,
                                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct lks_hostlist *hosts = &groups[i].hosts;
        uint32_t *ids = lks_plan_array(p, hosts->count, sizeof(*ids));
        if (ids == NULL)
            return p->err->code;
        lks_intern_find_all(&p->state->names, hosts->names, hosts->count, ids);
        for (size_t h = 0; h < hosts->count; h++) {
            if (ids[h] < p->state->node_count)
                p->groups[ids[h]] = &groups[i];
        }
    }
    return LKS_OK;
}

/* Of several stops that lie ahead the first. */
static void find_outages(struct lks_planning *p)
{
    for (size_t i = 0; i < p->fleet->outage_count; i++) {
        const struct lks_outage *o = &p->fleet->outages[i];
        for (size_t h = 0; o->until > p->wall && h < o->hosts.count; h++) {
            uint32_t node = lks_state_node(p->state, o->hosts.names[h]);
            if (node != LKS_NO_NODE && (p->outages[node] == 0 || o->from < p->outages[node]))
                p->outages[node] = o->from;
        }
    }
}

static enum lks_code find_places(struct lks_planning *p)
{
    p->groups = lks_plan_array(p, p->state->node_count, sizeof(*p->groups));
    p->outages = lks_plan_array(p, p->state->node_count, sizeof(*p->outages));
    if (p->groups == NULL || p->outages == NULL)
        return p->err->code;
    if (p->fleet == NULL)
        return LKS_OK;
    find_outages(p);
    if (find_groups_of(p, p->fleet->nodes, p->fleet->node_groups) != LKS_OK)
        return p->err->code;
    return find_groups_of(p, p->fleet->assets, p->fleet->asset_groups);
}

/* Which recipe ------------------------------------------------------------------------------ */

static enum lks_plan_endpoint endpoint_of(const struct lks_planning *p, uint32_t node)
{
    struct lks_endpoint endpoint = {0};
    if (p->groups[node] == NULL || !lks_endpoint_of(p->groups[node], &endpoint))
        return LKS_PLAN_NO_ENDPOINT;
    return lks_str_is(endpoint.driver, "nvos") ? LKS_PLAN_NVOS : LKS_PLAN_REDFISH;
}

static uint32_t assets_beside(const struct lks_planning *p, uint32_t node)
{
    uint32_t domain = p->state->standing->domain[node];
    return domain == 0 || p->state->nodes[node].asset != 0 ? 0 : p->beside[domain - 1];
}

/* Whether that scheduler of a node's site can be asked. */
static bool is_reached(const struct lks_planning *p, uint32_t node, const char *sched)
{
    const struct lks_plan_wish *wish = &p->wish;
    struct lks_str at = lks_state_text(p->state, p->state->nodes[node].site);
    if (wish->bridges == NULL)
        return true;
    for (size_t i = 0; i < wish->bridge_count; i++) {
        const struct lks_plan_bridge *b = &wish->bridges[i];
        if (lks_str_is(b->sched, sched) && (lks_str_is(b->site, "*") || lks_str_eq(b->site, at)))
            return true;
    }
    return false;
}

/* Whether the node can be drained at all. */
static enum lks_code check_sched(struct lks_planning *p, uint32_t node,
                                 const struct lks_state_pool *pool)
{
    const struct lks_state *s = p->state;
    struct lks_str sched = lks_state_text(s, pool->sched);
    const struct lks_drain_named *row;
    if (lks_drain_sched(sched) == LKS_DRAIN_NOT_YET)
        return lks_fail(p->err, LKS_E_REFUSED,
                        "%" LKS_STR_FMT " is in pool %" LKS_STR_FMT
                        ", whose scheduler (%" LKS_STR_FMT ") cannot be asked to drain it yet",
                        LKS_STR_ARG(lks_state_name(s, node)),
                        LKS_STR_ARG(lks_state_text(s, pool->name)),
                        LKS_STR_ARG(lks_drain_sched_mute(sched)));
    while ((row = lks_drain_sched_next(&sched, 0)) != NULL) {
        if (!is_reached(p, node, row->name))
            return lks_fail(p->err, LKS_E_REFUSED,
                            "%" LKS_STR_FMT
                            " drains through %s, and no bridge to it is configured for site "
                            "'%" LKS_STR_FMT "'; add one to %s.bridges in lockstepd.yaml",
                            LKS_STR_ARG(lks_state_name(s, node)), row->name,
                            LKS_STR_ARG(lks_state_text(s, s->nodes[node].site)), row->name);
    }
    return LKS_OK;
}

/* What may be done to jobs there: as the pool says, and where it does not, as its posture. Without
 * a scheduler that can be asked they are waited for. */
static void jobs_of(const struct lks_planning *p, const struct lks_state_pool *pool,
                    const struct lks_pool *said, const struct lks_drain_rule *rule,
                    struct lks_plan_kind *kind)
{
    struct lks_drain_rule jobs = lks_drain_rule_jobs(rule, said);
    struct lks_str sched = lks_state_text(p->state, pool->sched);
    bool signals = lks_drain_sched_next(&sched, LKS_DRAIN_SIGNALS) != NULL;
    kind->jobs = jobs.jobs;
    kind->signal = signals ? jobs.signal : LKS_STR("");
    kind->grace = signals ? jobs.grace : 0;
}

/* How it drains: as its pool's posture does, unless the pool says how long. */
static enum lks_code leave_of(struct lks_planning *p, uint32_t node, struct lks_plan_kind *kind)
{
    const struct lks_node *n = &p->state->nodes[node];
    const struct lks_state_pool *pool =
        n->pool < p->state->pool_count ? &p->state->pools[n->pool] : NULL;
    const struct lks_pool *said = lks_plan_pool(p, n->pool);
    struct lks_str posture = pool != NULL ? lks_state_text(p->state, pool->posture) : LKS_STR("");
    struct lks_drain_rule rule = lks_drain_rule(p->book->facts, posture);
    kind->leave = lks_drain_longest(rule.limit, rule.retries);
    if (said != NULL && said->drain_minutes > 0)
        kind->leave = (lks_ms)said->drain_minutes * LKS_PLAN_MINUTE;
    if (pool == NULL || p->wish.kind == LKS_CHANGE_AGENT)
        return LKS_OK;
    if (lks_drain_sched(lks_state_text(p->state, pool->sched)) == LKS_DRAIN_DRIVEN)
        jobs_of(p, pool, said, &rule, kind);
    return check_sched(p, node, pool);
}

static enum lks_code source_of(struct lks_planning *p, uint32_t node, struct lks_plan_kind *kind)
{
    const struct lks_state *s = p->state;
    if (p->wish.kind == LKS_CHANGE_AGENT) {
        struct lks_str read = lks_state_readings(s, s->nodes[node].inband);
        kind->before = lks_basis_value(read, AGENT_READING);
        return LKS_OK;
    }
    kind->from = lks_plan_from(s, node);
    kind->before = lks_state_text(s, kind->from);
    if (kind->from != 0)
        return LKS_OK;
    if (kind->asset != 0)
        return lks_fail(p->err, LKS_E_REFUSED,
                        "%" LKS_STR_FMT ": the pools of its domain are not pinned to one stack",
                        LKS_STR_ARG(lks_state_name(s, node)));
    return lks_fail(p->err, LKS_E_REFUSED,
                    "%" LKS_STR_FMT " has no stack that it should run now; pin its pool to what it "
                    "runs first, with 'lockstep fleet apply'",
                    LKS_STR_ARG(lks_state_name(s, node)));
}

/* `reads` has the bytes of what was read, until the next call. */
static enum lks_code kind_of(struct lks_planning *p, uint32_t node, struct lks_buf *reads,
                             struct lks_plan_kind *out)
{
    const struct lks_node *n = &p->state->nodes[node];
    struct lks_plan_kind kind = {
        .asset = n->asset,
        .class = n->asset != 0 ? n->asset : n->class,
        .revision = n->hardware_revision,
        .endpoint = endpoint_of(p, node),
        .beside = assets_beside(p, node),
        .other_side = lks_str_is(lks_state_text(p->state, n->side), "b"),
    };
    if (source_of(p, node, &kind) != LKS_OK || leave_of(p, node, &kind) != LKS_OK)
        return p->err->code;
    reads->len = 0;
    lks_plan_reads(p, node, &kind, reads);
    if (lks_buf_check(reads, p->err) != LKS_OK)
        return p->err->code;
    kind.reads = lks_buf_view(reads);
    *out = kind;
    return LKS_OK;
}

static bool same_kind(const struct lks_plan_kind *a, const struct lks_plan_kind *b)
{
    return a->asset == b->asset && a->class == b->class && a->revision == b->revision &&
           a->from == b->from && a->endpoint == b->endpoint && a->beside == b->beside &&
           a->other_side == b->other_side && a->leave == b->leave && a->jobs == b->jobs &&
           a->grace == b->grace && lks_str_eq(a->signal, b->signal) &&
           lks_str_eq(a->before, b->before) && lks_str_eq(a->reads, b->reads);
}

static enum lks_code add_recipe(struct lks_planning *p, const struct lks_plan_kind *kind,
                                uint32_t node)
{
    if (p->recipe_count == LKS_CHANGE_RECIPES)
        return lks_fail(p->err, LKS_E_LIMIT,
                        "these nodes differ in too many ways: a change has at most %d recipes",
                        LKS_CHANGE_RECIPES);
    if (LKS_PLANNING_RESERVE(p, p->recipes, p->recipe_room, p->recipe_count + 1) != LKS_OK)
        return p->err->code;
    struct lks_plan_recipe *recipe = &p->recipes[p->recipe_count++];
    *recipe = (struct lks_plan_recipe){.kind = *kind, .node = node, .spares = LKS_PLAN_NONE};
    recipe->kind.reads = lks_arena_copy(&p->out->memory, kind->reads);
    if (recipe->kind.reads.ptr == NULL)
        return lks_arena_fail(&p->out->memory, p->err);
    return lks_plan_steps(p, recipe);
}

/* Neighbours are mostly alike: the last one that fitted is looked at first. */
static enum lks_code recipe_of(struct lks_planning *p, uint32_t node, uint32_t *last)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf reads = LKS_BUF(LKS_BASIS_BYTES_MAX);
    struct lks_plan_kind kind = {0};
    if (kind_of(p, node, &reads, &kind) != LKS_OK)
        return p->err->code;
    if (*last < p->recipe_count && same_kind(&p->recipes[*last].kind, &kind))
        return LKS_OK;
    for (*last = 0; *last < p->recipe_count; ++*last) {
        if (same_kind(&p->recipes[*last].kind, &kind))
            return LKS_OK;
    }
    return add_recipe(p, &kind, node);
}

/* Who is meant ------------------------------------------------------------------------------ */

/* Those that are named, each once. */
struct crowd {
    bool *named; /* by node */
    bool *along; /* by node: there is nothing to do to it, but around it */
    bool *apart; /* by node: it, or another of its domain, drifted, and it is left out */
    struct named {
        struct lks_str name; /* of its domain, or its own */
        struct lks_str own;
        uint32_t node;
        bool together; /* with its domain, which may have the name of a node outside of it */
        bool asset;
    } * list;
    size_t count;
};

static enum lks_code fail_unknown(struct lks_planning *p, const char *what, struct lks_str name,
                                  void (*look)(const struct lks_state *s, struct lks_near *near))
{
    struct lks_near near = lks_near_to(name);
    char hint[LKS_NEAR_HINT_SIZE];
    look(p->state, &near);
    return lks_fail(p->err, LKS_E_NOT_FOUND, "no %s '%" LKS_STR_FMT "' in the fleet%s", what,
                    LKS_STR_ARG(name), lks_near_hint(&near, hint));
}

static enum lks_code name_hosts(struct lks_planning *p, struct crowd *c)
{
    struct lks_hostlist hosts = {0};
    if (lks_hostlist_parse(p->wish.hosts, &p->out->memory, &hosts, p->err) != LKS_OK)
        return lks_wrap(p->err, "hosts");
    for (size_t i = 0; i < hosts.count; i++) {
        uint32_t node = lks_state_node(p->state, hosts.names[i]);
        if (node == LKS_NO_NODE)
            return fail_unknown(p, "node", hosts.names[i], lks_state_near_nodes);
        c->named[node] = true;
    }
    return LKS_OK;
}

static enum lks_code name_pool(struct lks_planning *p, struct crowd *c)
{
    uint32_t pool = lks_state_pool(p->state, p->wish.pool);
    if (pool == LKS_PLAN_NONE)
        return fail_unknown(p, "pool", p->wish.pool, lks_state_near_pools);
    for (uint32_t n = 0; n < p->state->node_count; n++) {
        const struct lks_node *node = &p->state->nodes[n];
        c->named[n] = node->placed && node->asset == 0 && node->pool == pool;
    }
    return LKS_OK;
}

/* What it should run, unless it was last right in something else and its readings of now still say
 * so: a change brought it there that ended before its pool was pinned to it, or the pin moved. */
lks_text lks_plan_from(const struct lks_state *s, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    lks_text intent = lks_state_intent(s, node);
    if (n->changing != 0 || n->right == 0 || n->right == intent ||
        (n->asset == 0 && n->tuple_boot != n->boot))
        return intent;
    uint32_t v = lks_state_verdict_find(s, n->whole, n->right);
    return v != 0 && s->verdicts[v].judged == LKS_JUDGED_CONFORMS ? n->right : intent;
}

/* It runs the target, as far as anybody can tell: there is nothing to do. */
static bool is_there(const struct lks_planning *p, uint32_t node)
{
    return p->wish.kind == LKS_CHANGE_STACK &&
           lks_str_eq(lks_state_text(p->state, lks_plan_from(p->state, node)),
                      p->out->change.stack);
}

bool lks_plan_drifted(const struct lks_state *s, uint32_t node)
{
    return lks_bitset_test(&s->standing->differs, node) &&
           lks_plan_from(s, node) == lks_state_intent(s, node);
}

static bool is_stray(const struct lks_planning *p, uint32_t node)
{
    return p->wish.kind == LKS_CHANGE_STACK && lks_plan_drifted(p->state, node);
}

/* Its check would fail, and take the whole change back: it has to be repaired first. */
static bool is_drifted(const struct lks_planning *p, uint32_t node)
{
    return p->state->nodes[node].placed && is_stray(p, node) && !is_there(p, node);
}

/* A domain changes as one, so that one of it that drifted keeps all of it. */
static void leave_domain(const struct lks_planning *p, struct crowd *c, uint32_t node)
{
    const struct lks_node_status *st = p->state->standing;
    bool drifted = is_drifted(p, node);
    uint32_t n = node;
    if (st->domain[node] != 0) {
        do {
            drifted = drifted || is_drifted(p, n);
            n = st->domain_next[n];
        } while (n != node);
    }
    c->apart[node] = drifted;
}

static const char *why_apart(const struct lks_planning *p, uint32_t node)
{
    return is_drifted(p, node) ? "drifted" : "share a domain with a node or asset that drifted";
}

/* Of those that are left out: how many, their names, and of one that drifted what is wrong. */
static enum lks_code note_apart(struct lks_planning *p, const struct crowd *c, bool drifted,
                                uint32_t *first)
{
    const struct lks_state *s = p->state;
    struct lks_str *names = lks_plan_array(p, s->node_count, sizeof(*names)), hosts;
    size_t count = 0;
    if (names == NULL)
        return p->err->code;
    for (uint32_t n = 0; n < s->node_count; n++) {
        if (!c->apart[n] || is_drifted(p, n) != drifted)
            continue;
        *first = count == 0 ? n : *first;
        names[count++] = lks_state_name(s, n);
    }
    if (count == 0)
        return LKS_OK;
    if (lks_plan_hosts(p, names, count, &hosts) != LKS_OK)
        return p->err->code;
    const struct lks_state_verdict *v = lks_state_verdict(s, *first);
    struct lks_str wrong = drifted && v != NULL ? lks_state_text(s, v->first) : LKS_STR("");
    return lks_plan_note(
        p, LKS_PLAN_LEFT_OUT,
        "%" LKS_STR_FMT " %s%s%" LKS_STR_FMT "%s; repair what drifted ('lockstep drift') and "
        "propose a change for the rest",
        LKS_STR_ARG(hosts), why_apart(p, *first), wrong.len > 0 ? " (" : "", LKS_STR_ARG(wrong),
        wrong.len == 0 ? ""
        : count > 1    ? ", the first of them)"
                       : ")");
}

/* A domain never serves mixed: all of its nodes come along, or none. */
static enum lks_code check_domain(struct lks_planning *p, const struct crowd *c, uint32_t node)
{
    const struct lks_node_status *st = p->state->standing;
    struct lks_str *names = NULL, hosts;
    size_t count = 0;
    for (uint32_t n = st->domain_next[node]; n != node; n = st->domain_next[n]) {
        if (c->named[n] || p->state->nodes[n].asset != 0 || is_there(p, n))
            continue;
        if (names == NULL)
            names = lks_plan_array(p, p->state->node_count, sizeof(*names));
        if (names == NULL)
            return p->err->code;
        names[count++] = lks_state_name(p->state, n);
    }
    if (count == 0)
        return LKS_OK;
    if (lks_plan_hosts(p, names, count, &hosts) != LKS_OK)
        return p->err->code;
    return lks_fail(
        p->err, LKS_E_REFUSED,
        "domain %" LKS_STR_FMT " changes as one: name %" LKS_STR_FMT " of it, too, or none of it",
        LKS_STR_ARG(lks_state_text(p->state, p->state->nodes[node].domain)), LKS_STR_ARG(hosts));
}

/* The assets of the domain of one that is named, and of itself. */
static void name_assets(const struct lks_planning *p, struct crowd *c, uint32_t node)
{
    const struct lks_node_status *st = p->state->standing;
    uint32_t n = node;
    do {
        lks_text asset = p->state->nodes[n].asset;
        c->named[n] |= asset != 0;
        p->beside[st->domain[node] - 1] |=
            asset == 0 ? 0 : lks_plan_asset_bit(lks_state_text(p->state, asset));
        n = st->domain_next[n];
    } while (n != node);
}

static enum lks_code refuse_stray(struct lks_planning *p, uint32_t node)
{
    return lks_fail(p->err, LKS_E_REFUSED,
                    "no steps are known: %" LKS_STR_FMT " should run %" LKS_STR_FMT
                    " already and does not, and no known stack is what it runs; 'lockstep node "
                    "show' lists the differences, to be repaired there",
                    LKS_STR_ARG(lks_state_name(p->state, node)), LKS_STR_ARG(p->out->change.name));
}

/* A node on hold does not count as in service: the person who holds it knows what runs there. */
static bool comes_along(const struct lks_planning *p, uint32_t node)
{
    const struct lks_node *n = &p->state->nodes[node];
    return n->asset == 0 && !n->held && is_there(p, node);
}

static size_t count_along(const struct lks_planning *p, uint32_t node)
{
    const struct lks_node_status *st = p->state->standing;
    size_t count = 0;
    uint32_t n = node;
    do {
        count += comes_along(p, n);
        n = st->domain_next[n];
    } while (n != node);
    return count;
}

/* Whether firmware of an asset of its domain is to change. */
static enum lks_code find_asset_work(struct lks_planning *p, uint32_t node, bool *found)
{
    const struct lks_node_status *st = p->state->standing;
    uint32_t n = node, recipe = LKS_PLAN_NONE;
    do {
        bool asset = p->state->nodes[n].asset != 0 && !is_there(p, n);
        if (asset && recipe_of(p, n, &recipe) != LKS_OK)
            return p->err->code;
        *found |= asset && p->recipes[recipe].count > 0;
        n = st->domain_next[n];
    } while (n != node);
    return LKS_OK;
}

/* Nothing is done to an asset around nodes that are in service: those of its domain that run the
 * target already drain, too. One that only should run it could not return. */
static enum lks_code take_along(struct lks_planning *p, struct crowd *c, uint32_t node)
{
    const struct lks_node_status *st = p->state->standing;
    size_t count = count_along(p, node);
    bool works = false;
    if (count > 0 && find_asset_work(p, node, &works) != LKS_OK)
        return p->err->code;
    if (!works)
        return LKS_OK;
    uint32_t n = node;
    do {
        c->along[n] = comes_along(p, n);
        c->named[n] |= c->along[n];
        if (c->along[n] && is_stray(p, n))
            return refuse_stray(p, n);
        n = st->domain_next[n];
    } while (n != node);
    char nodes[LKS_COUNT_TEXT_SIZE];
    return lks_plan_note(p, LKS_PLAN_WARNING,
                         "%s of domain %" LKS_STR_FMT
                         " should run it already, and drain while its assets change",
                         lks_str_count_text(count, "node", nodes),
                         LKS_STR_ARG(lks_state_text(p->state, p->state->nodes[node].domain)));
}

/* Each domain once. */
static enum lks_code name_domains(struct lks_planning *p, struct crowd *c)
{
    const struct lks_node_status *st = p->state->standing;
    bool *seen = lks_plan_array(p, lks_intern_count(&st->domains), sizeof(*seen));
    p->beside = lks_plan_array(p, lks_intern_count(&st->domains), sizeof(*p->beside));
    if (seen == NULL || p->beside == NULL)
        return p->err->code;
    for (uint32_t n = 0; p->wish.kind == LKS_CHANGE_STACK && n < p->state->node_count; n++) {
        if (!c->named[n] || c->apart[n] || st->domain[n] == 0 || is_there(p, n) ||
            seen[st->domain[n] - 1])
            continue;
        seen[st->domain[n] - 1] = true;
        if (check_domain(p, c, n) != LKS_OK)
            return p->err->code;
        name_assets(p, c, n);
        if (take_along(p, c, n) != LKS_OK)
            return p->err->code;
    }
    return LKS_OK;
}

static void take(struct lks_planning *p, struct crowd *c, uint32_t node)
{
    const struct lks_node *n = &p->state->nodes[node];
    struct lks_str own = lks_state_name(p->state, node);
    bool together = n->domain != 0 && p->wish.kind == LKS_CHANGE_STACK;
    c->list[c->count++] =
        (struct named){.name = together ? lks_state_text(p->state, n->domain) : own,
                       .own = own,
                       .together = together,
                       .node = node,
                       .asset = n->asset != 0};
}

static int by_name(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    int order = lks_str_cmp(a->name, b->name);
    if (order == 0 && a->together != b->together)
        return a->together ? 1 : -1;
    if (order == 0 && a->asset != b->asset)
        return a->asset ? 1 : -1;
    return order != 0 ? order : lks_str_cmp(a->own, b->own);
}

/* Nodes of one sort: how many, and the first. */
struct some {
    size_t count;
    uint32_t first;
};

static void count_in(struct some *some, uint32_t node)
{
    some->first = some->count++ == 0 ? node : some->first;
}

/* Those that are not planned since they are there already, or should be. */
struct left_out {
    struct some there;  /* it is what they should run */
    struct some apart;  /* they run it, and should run another */
    struct some strays; /* they should run it and do not */
};

static enum lks_code refuse_none(struct lks_planning *p, const struct left_out *l)
{
    struct lks_str to = p->out->change.name;
    if (l->strays.count > 0)
        return refuse_stray(p, l->strays.first);
    if (l->apart.count > 0)
        return lks_fail(p->err, LKS_E_REFUSED,
                        "nothing to do: %" LKS_STR_FMT " runs %" LKS_STR_FMT
                        " already, and its pool is pinned to another stack; 'lockstep fleet apply' "
                        "moves the pin",
                        LKS_STR_ARG(lks_state_name(p->state, l->apart.first)), LKS_STR_ARG(to));
    if (l->there.count > 0)
        return lks_fail(p->err, LKS_E_REFUSED,
                        "nothing to do: all of them should run %" LKS_STR_FMT " already",
                        LKS_STR_ARG(to));
    return lks_fail(p->err, LKS_E_REFUSED, "nothing to do: there is no node among them");
}

static enum lks_code note_some(struct lks_planning *p, const struct some *some, const char *what)
{
    if (some->count == 0)
        return LKS_OK;
    return lks_plan_note(p, LKS_PLAN_WARNING, "%zu of them %s: %" LKS_STR_FMT "%s", some->count,
                         what, LKS_STR_ARG(lks_state_name(p->state, some->first)),
                         some->count > 1 ? " is the first" : "");
}

static enum lks_code note_left_out(struct lks_planning *p, const struct left_out *l, size_t count)
{
    if (count == 0)
        return refuse_none(p, l);
    if (l->there.count > 0 &&
        lks_plan_note(p, LKS_PLAN_WARNING, "%zu of them should run it already", l->there.count) !=
            LKS_OK)
        return p->err->code;
    if (note_some(p, &l->apart, "found to run it already, though another is pinned") != LKS_OK)
        return p->err->code;
    return note_some(p, &l->strays,
                     "found not to run it, though it is pinned, nor any stack that is known, and "
                     "left out");
}

static void leave_out(const struct lks_planning *p, struct left_out *l, uint32_t node)
{
    const struct lks_state *s = p->state;
    if (s->nodes[node].asset != 0)
        return;
    if (is_stray(p, node))
        count_in(&l->strays, node);
    else if (lks_plan_from(s, node) != lks_state_intent(s, node))
        count_in(&l->apart, node);
    else
        count_in(&l->there, node);
}

/* All that were asked for drifted, or are beside one that did. */
static enum lks_code refuse_apart(struct lks_planning *p, uint32_t first)
{
    return lks_fail(p->err, LKS_E_REFUSED,
                    "nothing to do: %" LKS_STR_FMT " %s, and so did all others that would change; "
                    "'lockstep drift' says what differs: repair it, then propose again",
                    LKS_STR_ARG(lks_state_name(p->state, first)), why_apart(p, first));
}

static enum lks_code list_crowd(struct lks_planning *p, struct crowd *c)
{
    const struct lks_state *s = p->state;
    struct left_out left = {0};
    uint32_t apart = LKS_NO_NODE;
    for (uint32_t n = 0; n < s->node_count; n++) {
        if (c->named[n] && !is_there(p, n))
            leave_domain(p, c, n);
    }
    if (name_domains(p, c) != LKS_OK || note_apart(p, c, false, &apart) != LKS_OK ||
        note_apart(p, c, true, &apart) != LKS_OK)
        return p->err->code;
    for (uint32_t n = 0; n < s->node_count; n++) {
        if (!c->named[n] || (p->wish.kind == LKS_CHANGE_AGENT && s->nodes[n].asset != 0))
            continue;
        if (is_there(p, n) && !c->along[n]) {
            leave_out(p, &left, n);
            continue;
        }
        if (!c->apart[n])
            take(p, c, n);
    }
    if (c->count == 0 && apart != LKS_NO_NODE)
        return refuse_apart(p, apart);
    if (c->count > 1)
        qsort(c->list, c->count, sizeof(*c->list), by_name);
    return note_left_out(p, &left, c->count);
}

/* Units ------------------------------------------------------------------------------------- */

/* Whether something is the matter with it, so that it is no canary. */
static bool is_barred(const struct lks_planning *p, uint32_t node)
{
    const struct lks_node *n = &p->state->nodes[node];
    return n->held || n->unhealthy || n->intake || n->changing != 0 || n->drained_by != 0 ||
           n->flashing > 0 || (n->asset == 0 && n->liveness == LKS_LOST);
}

static bool is_dev(const struct lks_planning *p, uint32_t pool)
{
    return pool < p->state->pool_count &&
           lks_str_is(lks_state_text(p->state, p->state->pools[pool].posture), "dev");
}

static struct lks_plan_unit begin_unit(const struct lks_planning *p, const struct named *of)
{
    const struct lks_node *n = &p->state->nodes[of->node];
    bool together = p->wish.kind == LKS_CHANGE_STACK;
    return (struct lks_plan_unit){.name = of->name,
                                  .domain = together ? n->domain : 0,
                                  .first = p->member_count,
                                  .pool = n->asset == 0 ? n->pool : LKS_PLAN_NONE,
                                  .rack = n->rack,
                                  .zone = n->power_zone,
                                  .outage = UINT64_MAX,
                                  .wave = LKS_PLAN_NONE};
}

static void add_member(struct lks_planning *p, struct lks_plan_unit *unit, uint32_t node,
                       uint32_t recipe)
{
    const struct lks_plan_recipe *r = &p->recipes[recipe];
    if (r->count == 0)
        return;
    if (unit->count == 0)
        unit->recipe = recipe;
    p->members[p->member_count++] = (struct lks_plan_member){node, recipe};
    unit->count++;
    unit->nodes += r->kind.asset == 0;
    p->out->nodes += r->kind.asset == 0;
    p->out->assets += r->kind.asset != 0;
    unit->takes = r->takes > unit->takes ? r->takes : unit->takes;
    unit->barred |= is_barred(p, node);
    if (p->outages[node] != 0 && p->outages[node] < unit->outage)
        unit->outage = p->outages[node];
}

/* Whom one would rather see changed first: the less critical, and who runs what it should. */
static void judge_unit(const struct lks_planning *p, struct lks_plan_unit *unit)
{
    enum { CRITICALITY = 4, LATE = 2, DRIFTING = 1 };
    const struct lks_state *s = p->state;
    if (unit->pool < s->pool_count)
        unit->dislike = s->pools[unit->pool].criticality * CRITICALITY;
    for (uint32_t i = 0; i < unit->count; i++) {
        const struct lks_node *n = &s->nodes[p->members[unit->first + i].node];
        unit->dislike += n->drifting ? DRIFTING : 0;
        unit->dislike += n->asset == 0 && n->liveness == LKS_LATE ? LATE : 0;
    }
    unit->dev = is_dev(p, unit->pool);
}

static enum lks_code make_units(struct lks_planning *p, const struct crowd *c)
{
    uint32_t recipe = LKS_PLAN_NONE;
    p->members = lks_plan_array(p, c->count, sizeof(*p->members));
    p->units = lks_plan_array(p, c->count, sizeof(*p->units));
    if (p->members == NULL || p->units == NULL)
        return p->err->code;
    for (size_t i = 0; i < c->count;) {
        struct lks_plan_unit unit = begin_unit(p, &c->list[i]);
        struct lks_str name = c->list[i].name;
        bool alone = unit.domain == 0;
        do {
            if (recipe_of(p, c->list[i].node, &recipe) != LKS_OK)
                return p->err->code;
            add_member(p, &unit, c->list[i].node, recipe);
            i++;
        } while (!alone && i < c->count && lks_str_eq(c->list[i].name, name));
        judge_unit(p, &unit);
        if (unit.count > 0)
            p->units[p->unit_count++] = unit;
    }
    p->out->units = p->unit_count;
    return LKS_OK;
}

enum lks_code lks_plan_who(struct lks_planning *p)
{
    struct crowd c = {0};
    c.named = lks_plan_array(p, p->state->node_count, sizeof(*c.named));
    c.along = lks_plan_array(p, p->state->node_count, sizeof(*c.along));
    c.apart = lks_plan_array(p, p->state->node_count, sizeof(*c.apart));
    c.list = lks_plan_array(p, p->state->node_count, sizeof(*c.list));
    if (c.named == NULL || c.along == NULL || c.apart == NULL || c.list == NULL)
        return p->err->code;
    if ((p->wish.hosts.len > 0 ? name_hosts(p, &c) : name_pool(p, &c)) != LKS_OK ||
        find_places(p) != LKS_OK || list_crowd(p, &c) != LKS_OK || make_units(p, &c) != LKS_OK)
        return p->err->code;
    if (p->unit_count == 0)
        return lks_fail(p->err, LKS_E_REFUSED, "nothing to do: none of them would change");
    return LKS_OK;
}
