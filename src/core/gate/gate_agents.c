/* Events and reference loads that heartbeats tell of, as gates want them measured. */
#include "core/gate/gate_agents.h"

#include "base/arena.h"
#include "core/gate/gate.h"
#include "core/rows/change.h"
#include "core/rows/verdict.h"
#include "core/state/heartbeat.h"
#include "core/state/state.h"
#include "model/record/record_words.h"

#define LIST_MAX 200000

static const struct {
    const char *name;
    uint64_t known; /* the bit that says that the agent would know */
    enum lks_heartbeat_event event;
} kinds[] = {
    {"xid-fatal", LKS_HEALTH_XIDS_KNOWN, LKS_HEARTBEAT_XID},
    {"link-down", LKS_HEALTH_LINKS_KNOWN, LKS_HEARTBEAT_LINK_DOWN},
};

struct listing {
    const struct lks_state *s;
    struct lks_measured *list;
    size_t count, max;
};

static size_t find_kind(const struct lks_state *s, const struct lks_plan_metric *m)
{
    size_t i = 0;
    while (i < LKS_COUNT(kinds) && !lks_str_is(lks_state_text(s, m->query), kinds[i].name))
        i++;
    return i;
}

/* GPU-seconds under the reference load: those that are recorded, and the time since, as far as it
 * was reported without a gap. Time without a report is not counted. */
static uint64_t load_of(const struct lks_state *s, const struct lks_gate_want *want,
                        const struct lks_measure *had)
{
    const struct lks_node *n = &s->nodes[want->node];
    const struct lks_heartbeat *p = &s->pulses[want->node];
    uint64_t before = had != NULL ? had->load : 0;
    if ((p->health & LKS_HEALTH_LOAD) == 0 || n->liveness != LKS_LIVE || n->whole == 0)
        return before;
    lks_ms from =
        p->events[LKS_HEARTBEAT_LOAD] > want->from ? p->events[LKS_HEARTBEAT_LOAD] : want->from;
    from = had != NULL && had->until > from ? had->until : from;
    lks_ms time = want->until > from ? want->until - from : 0;
    return before + time / LKS_SECOND * s->bases[n->whole - 1].gpus;
}

/* Members of a wave are asked about by each metric of their pool; of their load once will do. */
static bool is_loaded(const struct lks_state *s, const struct lks_gate_want *want)
{
    const struct lks_state_change *c = lks_state_change(s, want->change);
    uint32_t pool = s->nodes[want->node].pool, i = 0;
    const struct lks_pool_gate *gate = lks_gate_of(s, c, pool);
    if (want->control || want->earlier || gate == NULL || gate->reference_load == 0)
        return false;
    while (i < c->metric_count && !lks_gate_metric_is_of(s, &c->metrics[i], pool))
        i++;
    return &c->metrics[i] == want->metric;
}

static void add_load(struct listing *l, const struct lks_gate_want *want)
{
    const struct lks_measure *had =
        lks_state_change_measure(lks_state_change(l->s, want->change), want->wave, want->node, 0);
    uint64_t load = load_of(l->s, want, had);
    if (load == 0)
        return;
    l->list[l->count++] = (struct lks_measured){.change = want->change,
                                                .wave = want->wave,
                                                .node = want->node,
                                                .metric = LKS_STR(""),
                                                .from = want->from,
                                                .until = want->until,
                                                .load = load};
}

/* What happened stays so, though its agent tells of it for a while alone. It is watched until then,
 * and while it can tell. */
static void add_event(struct listing *l, const struct lks_gate_want *want, size_t kind)
{
    const struct lks_state *s = l->s;
    const struct lks_heartbeat *p = &s->pulses[want->node];
    const struct lks_measure *had = lks_state_change_measure(
        lks_state_change(s, want->change), want->wave, want->node, want->metric->name);
    lks_ms at = p->events[kinds[kind].event];
    bool before = had != NULL && had->events > 0, now = at > 0 && at >= want->from;
    bool knows = s->nodes[want->node].liveness == LKS_LIVE && (p->health & kinds[kind].known) != 0;
    lks_ms end = now && at < want->until ? at : want->until;
    uint64_t watched = end > want->from ? end - want->from : 0;
    l->list[l->count++] = (struct lks_measured){
        .change = want->change,
        .wave = want->wave,
        .node = want->node,
        .metric = lks_state_text(s, want->metric->name),
        .has_after = knows,
        .from = want->from,
        .until = want->until,
        .samples = 1,
        .events = before || now,
        .exposure = before || (!knows && had != NULL) ? had->exposure
                    : knows                           ? watched
                                                      : 0,
    };
}

/* One of which nothing was heard since we started says nothing yet. */
static bool add(void *ctx, const struct lks_gate_want *want)
{
    struct listing *l = ctx;
    size_t kind =
        want->metric->source == LKS_SOURCE_AGENT ? find_kind(l->s, want->metric) : LKS_COUNT(kinds);
    bool event = kind < LKS_COUNT(kinds), load = is_loaded(l->s, want);
    if (!l->s->pulses[want->node].heard || (!event && !load))
        return true;
    if (l->list == NULL) {
        l->count += (size_t)event + load;
        return l->count < LIST_MAX;
    }
    if (load)
        add_load(l, want);
    if (event)
        add_event(l, want, kind);
    return l->count < l->max;
}

enum lks_code lks_gate_agents(const struct lks_state *s, lks_ms wall, struct lks_arena *arena,
                              struct lks_measured **out, size_t *count, struct lks_err *err)
{
    struct listing l = {.s = s};
    if (lks_gate_wants(s, wall, arena, add, &l, err) != LKS_OK)
        return err->code;
    l.max = l.count;
    l.count = 0;
    l.list = lks_arena_array(arena, l.max + 1, sizeof(l.list[0]));
    if (l.list == NULL)
        return lks_arena_fail(arena, err);
    if (l.max > 0 && lks_gate_wants(s, wall, arena, add, &l, err) != LKS_OK)
        return err->code;
    *out = l.list;
    *count = l.count;
    return LKS_OK;
}
