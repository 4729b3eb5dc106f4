/* The fleet as a file wants it, against the fleet as it is: the records that lead from one to the
 * other. Pools come before the nodes that stand in them, and what goes away goes last. */
#include "base/bitset.h"
#include "base/intern.h"
#include "base/near.h"
#include "core/campaign/campaign.h"
#include "core/governance/delta.h"
#include "core/governance/relaxed.h"
#include "core/registry/book.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/rules/decide_rules.h"
#include "core/state/state.h"
#include "model/manifest/manifest.h"

#define HOUR     (3600 * LKS_SECOND)
#define SOAK_MAX ((lks_ms)30 * 24 * HOUR)

enum { STACK_BYTES_MAX = 16 << 20 };

struct names {
    struct lks_str *names; /* in the decision's arena */
    size_t count;
};

struct work {
    struct lks_deciding *d;
    const struct lks_manifest *manifest;
    const struct lks_fleet *fleet;
    struct lks_str reason;
    struct lks_intern stacks;           /* names; the id is the place in the manifest */
    struct lks_str *pins;               /* digests, by pool of the file */
    struct lks_bitset named;            /* nodes of the state that the file names */
    struct lks_bitset pools;            /* pools of the state that the file names */
    struct lks_bitset edited;           /* pools of the state that become others */
    struct lks_bitset touched;          /* enrolled nodes that the file reaches by name */
    size_t moved;                       /* of these, to another pool */
    size_t left;                        /* of these, from production to a pool that is not */
    struct lks_str left_first, left_to; /* the first of them, and its pool */
    struct names accepted;
    size_t fresh_nodes, fresh_pools; /* names that the state never had */
};

static void work_fini(struct work *w)
{
    lks_intern_fini(&w->stacks);
    lks_bitset_fini(&w->named);
    lks_bitset_fini(&w->pools);
    lks_bitset_fini(&w->edited);
    lks_bitset_fini(&w->touched);
}

static void *array(struct lks_deciding *d, size_t count, size_t size)
{
    struct lks_err err = {0};
    void *made = lks_arena_array(&d->out->arena, count > 0 ? count : 1, size);
    if (made == NULL)
        d->out->failed = lks_arena_fail(&d->out->arena, &err);
    return made;
}

static bool work_init(struct work *w)
{
    struct lks_deciding *d = w->d;
    struct lks_err err = {0};
    size_t hosts = w->fleet->node_count + w->fleet->asset_count;
    uint32_t id = 0;
    lks_intern_init(&w->stacks, STACK_BYTES_MAX);
    for (size_t i = 0; i < w->manifest->stack_count && err.code == LKS_OK; i++)
        d->out->failed = lks_intern_id(&w->stacks, w->manifest->stacks[i].name, &id, &err);
    if (err.code == LKS_OK)
        d->out->failed = lks_bitset_init(&w->named, d->state->node_count, &err);
    if (err.code == LKS_OK)
        d->out->failed = lks_bitset_init(&w->pools, d->state->pool_count, &err);
    if (err.code == LKS_OK)
        d->out->failed = lks_bitset_init(&w->edited, d->state->pool_count, &err);
    if (err.code == LKS_OK)
        d->out->failed = lks_bitset_init(&w->touched, d->state->node_count, &err);
    w->pins = array(d, w->fleet->pool_count, sizeof(*w->pins));
    w->accepted.names = array(d, d->event->fleet.accept ? hosts : 0, sizeof(struct lks_str));
    return d->out->failed == LKS_OK;
}

/* Host lists -------------------------------------------------------------------------------- */

/* For a message: folded, and not all of it if there are many. */
static struct lks_str shown(struct lks_deciding *d, const struct names *list)
{
    enum { NAMES_MAX = 100, BYTES_MAX = 160 };
    struct lks_str text = {"", 0};
    bool all = list->count <= NAMES_MAX;
    (void)lks_decision_fold(d, list->names, all ? list->count : NAMES_MAX, &text);
    if (all && text.len <= BYTES_MAX)
        return text;
    return lks_decision_text(d, "%.*s...", BYTES_MAX, text.ptr);
}

typedef void emit_fn(struct work *w, const void *ctx, struct lks_str hosts);

/* One record for all of them, or several where no host list would hold them. */
static void emit_folded(struct work *w, const struct names *list, emit_fn *emit, const void *ctx)
{
    size_t step = list->count;
    for (size_t at = 0; at < list->count;) {
        size_t count = list->count - at < step ? list->count - at : step;
        struct lks_str hosts;
        if (lks_decision_fold(w->d, list->names + at, count, &hosts)) {
            emit(w, ctx, hosts);
            at += count;
        } else if (w->d->out->failed == LKS_OK && count > 1) {
            step = count / 2;
        } else {
            return;
        }
    }
}

/* Pools ------------------------------------------------------------------------------------- */

/* The last one of that name that was released and not retired since, in the registry; NULL: none.
 */
static const struct lks_state_stack *newest_released(const struct lks_state *s, struct lks_str name)
{
    const struct lks_state_stack *newest = NULL;
    for (uint32_t i = 0; i < s->stack_count; i++) {
        const struct lks_state_stack *stack = &s->stacks[i];
        if (stack->step == LKS_STEP_RELEASED && lks_str_eq(lks_state_text(s, stack->name), name) &&
            (newest == NULL || stack->stepped >= newest->stepped))
            newest = stack;
    }
    return newest;
}

static void refuse_stack(struct work *w, const struct lks_pool *pool)
{
    const struct lks_state *s = w->d->state;
    struct lks_near near = lks_near_to(pool->stack);
    char hint[LKS_NEAR_HINT_SIZE];
    for (size_t i = 0; i < w->manifest->stack_count; i++)
        lks_near_try(&near, w->manifest->stacks[i].name);
    for (uint32_t i = 0; i < s->stack_count; i++)
        lks_near_try(&near, lks_state_text(s, s->stacks[i].name));
    bool same = near.best.len > 0 && lks_str_eq(near.best, pool->stack); /* but not released */
    lks_decision_refuse(w->d, LKS_E_INVALID,
                        "pool '%" LKS_STR_FMT "': no stack '%" LKS_STR_FMT
                        "' in this file, and none is released in the registry; write it beside the "
                        "fleet, or see 'lockstep stack ls'%s",
                        LKS_STR_ARG(pool->name), LKS_STR_ARG(pool->stack),
                        same ? "" : lks_near_hint(&near, hint));
}

/* The digest of the stack that the file pins `pool` to; empty for none. The file comes first, then
 * the pin there is, so that a later release moves no pool: only a change does. */
static bool resolve_pin(struct work *w, const struct lks_pool *pool,
                        const struct lks_state_pool *now, struct lks_str *out)
{
    const struct lks_state *s = w->d->state;
    const struct lks_state_stack *released = NULL;
    uint32_t id = 0;
    if (pool->stack.len == 0)
        *out = (struct lks_str){"", 0};
    else if (lks_intern_find(&w->stacks, pool->stack, &id))
        *out = lks_str_from(w->manifest->stacks[id].digest);
    else if (now != NULL && lks_str_eq(lks_state_text(s, now->stack), pool->stack))
        *out = lks_state_text(s, now->stack_digest);
    else if ((released = newest_released(s, pool->stack)) != NULL)
        *out = lks_state_text(s, released->digest);
    else
        refuse_stack(w, pool);
    return w->d->out->refused.code == LKS_OK;
}

/* Production runs what was released. A pool that was pinned so before stays as it is. */
static bool check_released(struct work *w, const struct lks_pool *pool,
                           const struct lks_state_pool *now, struct lks_str pin)
{
    const struct lks_state *s = w->d->state;
    bool as_before = now != NULL && lks_str_eq(lks_state_text(s, now->stack_digest), pin) &&
                     lks_delta_production(w->d->book->facts, lks_state_text(s, now->posture));
    if (pin.len == 0 || as_before || !lks_delta_production(w->d->book->facts, pool->posture))
        return true;
    const struct lks_state_stack *stack = lks_state_stack(s, pin);
    if (stack != NULL && stack->step == LKS_STEP_RELEASED)
        return true;
    const char *step = stack != NULL ? lks_step_words[stack->step] : "not published";
    const char *remedy = "publish it with 'lockstep stack publish', then lead it step by step to "
                         "'released' with 'lockstep stack promote'";
    if (stack != NULL)
        remedy = stack->step == LKS_STEP_RETIRED ? "pin another: 'lockstep stack ls'"
                                                 : "promote it with 'lockstep stack promote'";
    lks_decision_refuse(w->d, LKS_E_REFUSED,
                        "pool '%" LKS_STR_FMT "' (%" LKS_STR_FMT
                        ") is production and takes only released stacks; '%" LKS_STR_FMT
                        "' (%" LKS_STR_FMT ") is %s: %s",
                        LKS_STR_ARG(pool->name), LKS_STR_ARG(pool->posture),
                        LKS_STR_ARG(pool->stack), LKS_STR_ARG(pin), step, remedy);
    return false;
}

/* The first pin is set here; where nodes are enrolled, another is the business of a change. */
static bool check_pin(struct work *w, const struct lks_pool *pool, const struct lks_state_pool *now,
                      struct lks_str pin)
{
    if (now == NULL || now->stack_digest == 0 || now->enrolled == 0 ||
        lks_str_eq(lks_state_text(w->d->state, now->stack_digest), pin))
        return true;
    struct lks_str stack = lks_state_text(w->d->state, now->stack);
    const char *what = "it names another stack";
    if (pin.len == 0)
        what = "it names none";
    else if (lks_str_eq(stack, pool->stack))
        what = "that stack has another digest";
    lks_decision_refuse(w->d, LKS_E_REFUSED,
                        "pool '%" LKS_STR_FMT "' is pinned to '%" LKS_STR_FMT
                        "' and has enrolled nodes (%u), but in this file %s; only a change moves a "
                        "pin",
                        LKS_STR_ARG(pool->name), LKS_STR_ARG(stack), now->enrolled, what);
    return false;
}

/* Metrics are waived by name, as gates are: none is called as a gate. Not asked when a manifest is
 * read, since one that was taken has to be readable for ever. */
static bool check_metrics(struct work *w, const struct lks_pool *pool)
{
    size_t count = pool->gate != NULL ? pool->gate->metric_count : 0;
    for (size_t i = 0; i < count; i++) {
        struct lks_str name = pool->gate->metrics[i].name;
        for (size_t g = 0; g < lks_gate_count; g++) {
            if (!lks_str_is(name, lks_gates[g].name))
                continue;
            lks_decision_refuse(w->d, LKS_E_INVALID,
                                "pool '%" LKS_STR_FMT "': '%" LKS_STR_FMT
                                "' is a gate of every wave; call that metric otherwise",
                                LKS_STR_ARG(pool->name), LKS_STR_ARG(name));
            return false;
        }
    }
    return true;
}

/* As long as a change may ask for: a wave that soaks for a century is a slip of the hand. */
static bool check_soak(struct work *w, const struct lks_pool *pool)
{
    const struct lks_pool_gate_wish *gate = pool->gate;
    if (gate == NULL || (gate->min_soak <= SOAK_MAX && gate->max_soak <= SOAK_MAX))
        return true;
    lks_decision_refuse(w->d, LKS_E_INVALID,
                        "pool '%" LKS_STR_FMT "': its gate soaks for more than 30 days; give %s "
                        "a shorter span",
                        LKS_STR_ARG(pool->name),
                        gate->min_soak > SOAK_MAX ? "min_soak" : "max_soak");
    return false;
}

/* What is asked of its nodes and done about those that differ, as the record says it. */
static unsigned acts_of(const struct lks_pool *pool)
{
    return (pool->alarm ? LKS_ACT_ALARM : 0U) | (pool->drain ? LKS_ACT_DRAIN : 0U) |
           (pool->propose ? LKS_ACT_PROPOSE : 0U);
}

static bool pool_differs(const struct lks_state *s, const struct lks_state_pool *now,
                         const struct lks_rec_pool *want, unsigned acts)
{
    return now == NULL || now->criticality != want->criticality || now->on_drift != acts ||
           now->deviations != want->deviations || now->attested != want->attested ||
           now->check_age != want->check_age || now->sweep != want->sweep ||
           now->drain_refused != want->drain_refused ||
           !lks_str_eq(lks_state_text(s, now->posture), want->posture) ||
           !lks_str_eq(lks_state_text(s, now->enforce), want->enforce) ||
           !lks_str_eq(lks_state_text(s, now->sched), want->sched) ||
           !lks_str_eq(lks_state_text(s, now->stack), want->stack) ||
           !lks_str_eq(lks_state_text(s, now->stack_digest), want->stack_digest);
}

static struct lks_rec_pool pool_record(struct work *w, const struct lks_pool *pool,
                                       struct lks_str pin)
{
    struct lks_str acts =
        lks_decision_text(w->d, "%s%s%s", pool->alarm ? "alarm " : "", pool->drain ? "drain " : "",
                          pool->propose ? "propose" : "");
    return (struct lks_rec_pool){
        .name = pool->name,
        .posture = pool->posture,
        .criticality = (uint64_t)pool->criticality,
        .enforce = pool->enforce,
        .sched = pool->sched,
        .stack = pool->stack,
        .stack_digest = pin,
        .by = w->d->event->by,
        .on_drift = lks_str_trim(acts),
        .deviations = pool->deviations,
        .attested = pool->attested,
        .check_age = (uint64_t)pool->check_hours * HOUR,
        .sweep = (uint64_t)pool->sweep_hours * HOUR,
        .drain_refused = pool->drain_refused,
    };
}

static bool decide_pool(struct work *w, size_t index)
{
    const struct lks_state *s = w->d->state;
    const struct lks_pool *pool = &w->fleet->pools[index];
    uint32_t id = lks_state_pool(s, pool->name), ignored = 0;
    const struct lks_state_pool *now = id != UINT32_MAX ? &s->pools[id] : NULL;
    struct lks_str *pin = &w->pins[index];
    if (!resolve_pin(w, pool, now, pin) || !check_pin(w, pool, now, *pin) ||
        !check_released(w, pool, now, *pin) || !check_metrics(w, pool) || !check_soak(w, pool))
        return false;
    if (now != NULL)
        lks_bitset_set(&w->pools, id);
    w->fresh_pools += !lks_intern_find(&s->pool_names, pool->name, &ignored);
    struct lks_rec_pool want = pool_record(w, pool, *pin);
    if (pool_differs(s, now, &want, acts_of(pool))) {
        lks_decision_add(w->d, LKS_RECORD_POOL)->pool = want;
        if (now != NULL)
            lks_bitset_set(&w->edited, id);
    }
    if (now != NULL && now->known)
        lks_decide_acts_begin(w->d, id, want.enforce, acts_of(pool));
    return true;
}

static bool decide_pools(struct work *w)
{
    for (size_t i = 0; i < w->fleet->pool_count; i++) {
        if (!decide_pool(w, i))
            return false;
    }
    if (w->d->state->pool_count + w->fresh_pools <= LKS_STATE_POOLS_MAX)
        return true;
    lks_decision_refuse(w->d, LKS_E_LIMIT, "more than %d pools, those of the past counted",
                        LKS_STATE_POOLS_MAX);
    return false;
}

/* Nodes ------------------------------------------------------------------------------------- */

/* Where a node keeps what a record says of its place. */
#define PLACE(member)                                                                              \
    {                                                                                              \
        offsetof(struct lks_node, member), offsetof(struct lks_rec_placed, member)                 \
    }
static const struct {
    size_t in_node, in_record;
} places[] = {
    PLACE(class),        PLACE(asset),    PLACE(site),
    PLACE(rack),         PLACE(domain),   PLACE(power_zone),
    PLACE(cooling_loop), PLACE(supplier), PLACE(hardware_revision),
    PLACE(side),
};
#undef PLACE

enum { PLACES = LKS_COUNT(places) };

/* A group of the file, with the numbers its texts have in the state. */
struct wanted {
    struct lks_rec_placed record; /* but for the hosts */
    bool known;                   /* every text has a number, so a node can be there already */
    lks_text texts[PLACES];
    uint32_t pool;
    struct lks_str pin;
    struct names moved, stuck;
};

static struct lks_rec_placed record_of(const struct work *w, const struct lks_group *group)
{
    return (struct lks_rec_placed){
        .pool = group->pool != NULL ? group->pool->name : (struct lks_str){"", 0},
        .class = group->class != NULL ? group->class->name : (struct lks_str){"", 0},
        .asset = group->asset_class,
        .site = group->site,
        .rack = group->rack,
        .domain = group->domain,
        .power_zone = group->power_zone,
        .cooling_loop = group->cooling_loop,
        .hardware_revision = group->hardware_revision,
        .supplier = group->supplier,
        .side = group->side,
        .by = w->d->event->by,
    };
}

static bool want_group(struct work *w, const struct lks_group *group, struct wanted *out)
{
    const struct lks_state *s = w->d->state;
    *out = (struct wanted){.record = record_of(w, group), .known = true, .pool = UINT32_MAX};
    if (group->pool != NULL) {
        out->pool = lks_state_pool(s, group->pool->name);
        out->pin = w->pins[group->pool - w->fleet->pools];
        out->known = out->pool != UINT32_MAX;
    }
    for (size_t i = 0; i < PLACES && out->known; i++) {
        struct lks_str text;
        memcpy(&text, (const char *)&out->record + places[i].in_record, sizeof(text));
        out->known = lks_intern_find(&s->texts, text, &out->texts[i]);
    }
    out->moved.names = array(w->d, group->hosts.count, sizeof(struct lks_str));
    out->stuck.names = out->moved.names; /* either is used: a refusal lists no moves */
    return out->moved.names != NULL;
}

static bool stands_there(const struct lks_node *n, const struct wanted *want)
{
    if (!want->known || n->pool != want->pool)
        return false;
    for (size_t i = 0; i < PLACES; i++) {
        lks_text text;
        memcpy(&text, (const char *)n + places[i].in_node, sizeof(text));
        if (text != want->texts[i])
            return false;
    }
    return true;
}

/* Whether the move would give an enrolled node another stack. Out of a pool without a pin it may
 * go: that is a first pin. */
static bool changes_stack(const struct lks_state *s, const struct lks_node *n,
                          const struct wanted *want)
{
    if (!n->enrolled || n->pool >= s->pool_count || n->pool == want->pool)
        return false;
    lks_text pin = s->pools[n->pool].stack_digest;
    return pin != 0 && !lks_str_eq(lks_state_text(s, pin), want->pin);
}

static void push(struct names *list, struct lks_str name)
{
    list->names[list->count++] = name;
}

/* An enrolled node that is not production any more: commands by hand ask less there. */
static void note_left(struct work *w, const struct lks_node *n, struct lks_str to,
                      struct lks_str name)
{
    const struct lks_state *s = w->d->state;
    const struct lks_facts *facts = w->d->book->facts;
    const struct lks_pool *pool = lks_fleet_find_pool(w->fleet, to);
    if (n->pool >= s->pool_count || pool == NULL ||
        lks_str_eq(lks_state_text(s, s->pools[n->pool].name), to) ||
        !lks_delta_production(facts, lks_state_text(s, s->pools[n->pool].posture)) ||
        lks_delta_production(facts, pool->posture))
        return;
    if (w->left++ == 0) {
        w->left_first = name;
        w->left_to = to;
    }
}

static void decide_host(struct work *w, struct wanted *want, struct lks_str name)
{
    const struct lks_state *s = w->d->state;
    uint32_t id = 0;
    bool known = lks_intern_find(&s->names, name, &id);
    const struct lks_node *n = known && s->nodes[id].placed ? &s->nodes[id] : NULL;
    w->fresh_nodes += !known;
    if (n != NULL)
        lks_bitset_set(&w->named, id);
    if (n != NULL && changes_stack(s, n, want))
        push(&want->stuck, name);
    else if ((n == NULL || !stands_there(n, want)) && want->stuck.count == 0)
        push(&want->moved, name);
    bool waits = want->record.asset.len > 0 ? n != NULL && n->intake : n == NULL || !n->accepted;
    bool accepts = w->d->event->fleet.accept && waits;
    if (accepts)
        push(&w->accepted, name);
    if (n != NULL && n->enrolled && (accepts || !stands_there(n, want))) {
        lks_bitset_set(&w->touched, id);
        w->moved += n->pool != want->pool;
        note_left(w, n, want->record.pool, name);
    }
}

static void emit_placed(struct work *w, const void *ctx, struct lks_str hosts)
{
    const struct wanted *want = ctx;
    struct lks_rec_placed *placed = &lks_decision_add(w->d, LKS_RECORD_PLACED)->placed;
    *placed = want->record;
    placed->hosts = hosts;
}

static bool decide_group(struct work *w, const struct lks_group *group)
{
    struct wanted want;
    if (!want_group(w, group, &want))
        return false;
    for (size_t i = 0; i < group->hosts.count; i++)
        decide_host(w, &want, group->hosts.names[i]);
    if (want.stuck.count > 0) {
        lks_decision_refuse(w->d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT ": enrolled in a pool that is pinned to another stack "
                            "than '%" LKS_STR_FMT "'; only a change moves nodes between stacks",
                            LKS_STR_ARG(shown(w->d, &want.stuck)), LKS_STR_ARG(want.record.pool));
        return false;
    }
    emit_folded(w, &want.moved, emit_placed, &want);
    return true;
}

/* What becomes of nodes, and why, where no reason is given. */
static const struct saying {
    enum lks_record_kind kind;
    struct lks_str usual;
} accepted = {LKS_RECORD_ACCEPTED, LKS_STR_C("taken in with the fleet")},
  removed = {LKS_RECORD_REMOVED, LKS_STR_C("no longer in the fleet's file")};

static void emit_said(struct work *w, const void *ctx, struct lks_str hosts)
{
    const struct saying *said = ctx;
    struct lks_record *r = lks_decision_add(w->d, said->kind);
    struct lks_str by = w->d->event->by, reason = w->reason.len > 0 ? w->reason : said->usual;
    if (said->kind == LKS_RECORD_ACCEPTED)
        r->accepted = (struct lks_rec_accepted){.hosts = hosts, .by = by, .reason = reason};
    else
        r->removed = (struct lks_rec_removed){.hosts = hosts, .by = by, .reason = reason};
}

static bool decide_nodes(struct work *w)
{
    for (size_t i = 0; i < w->fleet->node_groups; i++) {
        if (!decide_group(w, &w->fleet->nodes[i]))
            return false;
    }
    for (size_t i = 0; i < w->fleet->asset_groups; i++) {
        if (!decide_group(w, &w->fleet->assets[i]))
            return false;
    }
    emit_folded(w, &w->accepted, emit_said, &accepted);
    if (w->d->state->node_count + w->fresh_nodes <= LKS_STATE_NODES_MAX)
        return true;
    lks_decision_refuse(w->d, LKS_E_LIMIT, "more than %d nodes, those of the past counted",
                        LKS_STATE_NODES_MAX);
    return false;
}

/* What goes away ---------------------------------------------------------------------------- */

/* A line that was deleted by mistake must not cost a fleet its nodes: one that is enrolled is taken
 * out by name. */
static bool decide_removals(struct work *w)
{
    const struct lks_state *s = w->d->state;
    struct names gone = {.names = array(w->d, s->node_count, sizeof(struct lks_str))};
    struct names enrolled = {.names = array(w->d, s->node_count, sizeof(struct lks_str))};
    if (gone.names == NULL || enrolled.names == NULL)
        return false;
    for (uint32_t n = 0; n < s->node_count; n++) {
        if (!s->nodes[n].placed || lks_bitset_test(&w->named, n))
            continue;
        if (s->nodes[n].flashing > 0 && !lks_decide_flash_unflashed(w->d, n))
            return false;
        push(s->nodes[n].enrolled ? &enrolled : &gone, lks_state_name(s, n));
    }
    if (enrolled.count > 0) {
        lks_decision_refuse(w->d, LKS_E_REFUSED,
                            "enrolled and not in this file (%zu): %" LKS_STR_FMT
                            "; write them down, or take them out first with 'lockstep node rm'",
                            enrolled.count, LKS_STR_ARG(shown(w->d, &enrolled)));
        return false;
    }
    emit_folded(w, &gone, emit_said, &removed);
    for (uint32_t p = 0; p < s->pool_count; p++) {
        if (s->pools[p].known && !lks_bitset_test(&w->pools, p))
            lks_decision_add(w->d, LKS_RECORD_POOL_REMOVED)->pool_removed =
                (struct lks_rec_pool_removed){.name = lks_state_text(s, s->pools[p].name),
                                              .by = w->d->event->by};
    }
    return true;
}

/* How far it reaches ------------------------------------------------------------------------ */

/* Nodes that never enrolled are only written down: a first fleet may be as large as it is. */
static void count_touched(struct work *w)
{
    const struct lks_state *s = w->d->state;
    for (uint32_t n = 0; n < s->node_count; n++) {
        const struct lks_node *node = &s->nodes[n];
        bool edited = node->pool < s->pool_count && lks_bitset_test(&w->edited, node->pool);
        if (node->placed && node->enrolled && (edited || lks_bitset_test(&w->touched, n)))
            lks_decision_touch(w->d, n);
    }
}

/* A caller that reaches many nodes repeats their number: a file with a line too much is not
 * applied. */
static bool check_touched(struct work *w)
{
    const struct lks_touched *is = &w->d->out->touched, *said = &w->d->event->fleet.said;
    unsigned long long most = w->d->state->limits.call_nodes;
    char nodes[LKS_COUNT_TEXT_SIZE], gpus[LKS_COUNT_TEXT_SIZE];
    (void)lks_str_count_text(is->nodes, "enrolled node", nodes);
    (void)lks_str_count_text(is->gpus, "GPU", gpus);
    bool other = (said->nodes != 0 && said->nodes != is->nodes) ||
                 (said->gpus != 0 && said->gpus != is->gpus);
    bool unsaid = is->nodes > most && (said->nodes == 0 || (said->gpus == 0 && is->gpus > 0));
    bool dry = w->d->event->fleet.dry;
    if (w->moved > most)
        lks_decision_refuse(w->d, LKS_E_REFUSED,
                            "%zu enrolled nodes would be of another pool, and one call may move "
                            "%llu (limits.call_nodes): move them a few at a time",
                            w->moved, most);
    else if (other && !dry)
        lks_decision_refuse(w->d, LKS_E_REFUSED,
                            "this file affects %s with %s, and other numbers were confirmed; "
                            "read it again with --dry-run",
                            nodes, gpus);
    else if (unsaid && !dry)
        lks_decision_refuse(
            w->d, LKS_E_REFUSED,
            "this file affects %s with %s, and one call may touch %llu (limits.call_nodes): read "
            "it with --dry-run, and repeat the numbers to confirm: --nodes %llu --gpus %llu",
            nodes, gpus, most, (unsigned long long)is->nodes, (unsigned long long)is->gpus);
    return w->moved <= most && (dry || (!other && !unsaid));
}

/* Nodes that leave production by the file alone: an admin does that without another person. */
static void tell_left(struct work *w)
{
    struct lks_deciding *d = w->d;
    if (w->left == 0)
        return;
    lks_decision_alarm_over(d, LKS_ALARM_LOWERED, w->left_to, LKS_STR("there is more to say"));
    lks_decision_add(d, LKS_RECORD_ALARM)->alarm = (struct lks_rec_alarm){
        .id = d->next_alarm++,
        .kind = LKS_ALARM_LOWERED,
        .subject = w->left_to,
        .text =
            lks_decision_text(d,
                              "%" LKS_STR_FMT " moved %zu enrolled node%s from production to "
                              "pool '%" LKS_STR_FMT "', which is not, the first is %" LKS_STR_FMT
                              ": commands by hand need no drain there",
                              LKS_STR_ARG(d->event->by), w->left, w->left > 1 ? "s" : "",
                              LKS_STR_ARG(w->left_to), LKS_STR_ARG(w->left_first))};
}

/* A lowered gate is recorded, and an approver of a change there agrees to it. */
static void tell_lowered(struct work *w)
{
    struct lks_deciding *d = w->d;
    const struct lks_manifest *m = d->book->manifest;
    lks_day today = lks_time_day_of((int64_t)(d->now.wall / LKS_SECOND));
    for (size_t i = 0; i < w->fleet->pool_count && m != NULL && m->fleet_count > 0; i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_RELAXED_TEXT_MAX);
        struct lks_str name = w->fleet->pools[i].name;
        uint32_t pool = lks_state_pool(d->state, name);
        if (pool == UINT32_MAX || d->state->pools[pool].enrolled == 0)
            continue;
        lks_relaxed(d->book->facts, &m->fleets[0], w->fleet, name, today, &text);
        if (text.len == 0 && text.failed == LKS_OK)
            continue;
        struct lks_str less = text.failed == LKS_OK ? lks_decision_copy(d, lks_buf_view(&text))
                                                    : LKS_STR("much of it");
        lks_decision_add(d, LKS_RECORD_LOWERED)->lowered =
            (struct lks_rec_lowered){.pool = name,
                                     .text = less,
                                     .by = d->event->by,
                                     .minters = lks_decision_backing(d).minters};
        lks_decision_alarm_over(d, LKS_ALARM_LOWERED, name, LKS_STR("there is more to say"));
        lks_decision_add(d, LKS_RECORD_ALARM)->alarm = (struct lks_rec_alarm){
            .id = d->next_alarm++,
            .kind = LKS_ALARM_LOWERED,
            .subject = name,
            .text = lks_decision_text(d,
                                      "%" LKS_STR_FMT " asks less of its changes: %" LKS_STR_FMT
                                      "; another person has to approve those",
                                      LKS_STR_ARG(d->event->by), LKS_STR_ARG(less))};
    }
}

void lks_decide_fleet(struct lks_deciding *d)
{
    const struct lks_state *s = d->state;
    const struct lks_manifest *manifest = d->event->fleet.manifest;
    struct lks_str digest = d->event->fleet.digest;
    if (manifest->fleet_count != 1) {
        lks_decision_refuse(d, LKS_E_INVALID, "%zu documents of kind Fleet; one is applied at once",
                            manifest->fleet_count);
        return;
    }
    struct lks_str reason = lks_str_trim(d->event->reason);
    if (!lks_decision_reason_fits(d))
        return;
    LKS_CLEANUP(work_fini)
    struct work w = {.d = d, .manifest = manifest, .fleet = &manifest->fleets[0], .reason = reason};
    if (!work_init(&w))
        return;
    if (!lks_str_eq(lks_state_text(s, s->fleet_manifest), digest) ||
        !lks_str_eq(lks_state_text(s, s->fleet_name), w.fleet->name))
        lks_decision_add(d, LKS_RECORD_FLEET)->fleet = (struct lks_rec_fleet){
            .name = w.fleet->name, .manifest = digest, .by = d->event->by, .reason = reason};
    if (!decide_pools(&w) || !decide_nodes(&w) || !decide_removals(&w))
        return;
    count_touched(&w);
    if (!check_touched(&w))
        return;
    tell_lowered(&w);
    tell_left(&w);
}
