#include "core/gate/gate.h"

#include "codec/notation/hostlist.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

bool lks_gate_metric_is_of(const struct lks_state *s, const struct lks_plan_metric *m,
                           uint32_t pool)
{
    struct lks_str rest = lks_state_text(s, m->pools), name = {0};
    if (pool >= s->pool_count)
        return false;
    struct lks_str wanted = lks_state_text(s, s->pools[pool].name);
    while (lks_str_word(&rest, &name)) {
        if (lks_str_eq(name, wanted))
            return true;
    }
    return false;
}

const struct lks_plan_metric *lks_gate_metric(const struct lks_state *s,
                                              const struct lks_state_change *c, uint32_t node,
                                              struct lks_str name)
{
    for (uint32_t i = 0; i < c->metric_count; i++) {
        if (lks_str_eq(lks_state_text(s, c->metrics[i].name), name) &&
            lks_gate_metric_is_of(s, &c->metrics[i], s->nodes[node].pool))
            return &c->metrics[i];
    }
    return NULL;
}

const struct lks_pool_gate *lks_gate_of(const struct lks_state *s, const struct lks_state_change *c,
                                        uint32_t pool)
{
    for (uint32_t i = 0; i < c->gate_count && pool < s->pool_count; i++) {
        if (c->gates[i].pool == s->pools[pool].name)
            return &c->gates[i];
    }
    return NULL;
}

static bool is_still(const struct lks_node *n)
{
    return n->placed && n->asset == 0 && n->change == 0;
}

/* One that this change begins, or another one, is a control no more: what it does since is not what
 * an untouched node would. */
static bool is_untouched(const struct lks_state *s, const struct lks_state_change *c, uint32_t wave,
                         uint32_t node)
{
    const struct lks_member *m = lks_state_change_member(c, node);
    return is_still(&s->nodes[node]) &&
           (m == NULL || (m->begun == 0 && c->units[m->unit].wave != wave));
}

/* An earlier wave brought it, and passed. */
static bool is_earlier(const struct lks_state *s, const struct lks_state_change *c,
                       const struct lks_member *m, uint32_t wave)
{
    uint32_t of = c->units[m->unit].wave;
    return of < wave && c->waves[of].state == LKS_WAVE_PASSED && m->state == LKS_MEMBER_DONE &&
           is_still(&s->nodes[m->node]);
}

bool lks_gate_counts_on(const struct lks_state *s, const struct lks_state_change *c,
                        const struct lks_member *m, uint32_t wave)
{
    return m - c->members < LKS_GATE_NODES_MAX && is_earlier(s, c, m, wave);
}

/* It had the change for as long before the wave began as the wave soaks, so there is a time to
 * compare with. */
static bool is_settled(const struct lks_state *s, const struct lks_state_change *c, uint32_t wave,
                       uint32_t node, lks_ms begun)
{
    const struct lks_member *m = lks_state_change_member(c, node);
    return m != NULL && is_earlier(s, c, m, wave) && m->since + c->waves[wave].soak <= begun;
}

/* Whether changes were in progress since then beside this one; mostly none were. */
static bool has_others(const struct lks_state *s, const struct lks_state_change *c, lks_ms begun)
{
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_state_change *other = &s->changes[i];
        if (other != c && other->started > 0 && (!lks_change_over(other) || other->moved >= begun))
            return true;
    }
    return false;
}

/* One of them was at the node, though it may have left it. */
static bool was_taken(const struct lks_state *s, const struct lks_state_change *c, uint32_t node,
                      lks_ms begun)
{
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_member *m =
            &s->changes[i] != c ? lks_state_change_member(&s->changes[i], node) : NULL;
        if (m != NULL && m->begun > 0 && m->since >= begun)
            return true;
    }
    return false;
}

static void list_controls(const struct lks_state *s, const struct lks_state_change *c,
                          uint32_t wave, const struct lks_hostlist *hosts,
                          struct lks_gate_controls *out)
{
    lks_ms begun = lks_gate_times(c, wave).begun;
    bool others = begun > 0 && has_others(s, c, begun);
    for (unsigned earlier = 0; earlier < 2; earlier++) {
        for (size_t i = 0; i < hosts->count; i++) {
            uint32_t node = lks_state_node(s, hosts->names[i]);
            if (node == LKS_NO_NODE || (others && was_taken(s, c, node, begun)))
                continue;
            if (earlier == 0 ? is_untouched(s, c, wave, node) : is_settled(s, c, wave, node, begun))
                out->nodes[out->count++] = node;
        }
        out->untouched = earlier == 0 ? out->count : out->untouched;
    }
}

enum lks_code lks_gate_controls(const struct lks_state *s, const struct lks_state_change *c,
                                uint32_t wave, struct lks_arena *arena,
                                struct lks_gate_controls *out, struct lks_err *err)
{
    struct lks_hostlist hosts = {0};
    struct lks_str text = lks_state_text(s, c->waves[wave].controls);
    *out = (struct lks_gate_controls){0};
    if (text.len == 0)
        return LKS_OK;
    if (lks_hostlist_parse(text, arena, &hosts, err) != LKS_OK)
        return err->code == LKS_E_INVALID ? LKS_OK : err->code; /* it names no node */
    out->nodes = lks_arena_array(arena, hosts.count, sizeof(out->nodes[0]));
    if (out->nodes == NULL)
        return lks_arena_fail(arena, err);
    list_controls(s, c, wave, &hosts, out);
    return LKS_OK;
}

struct lks_gate_times lks_gate_times(const struct lks_state_change *c, uint32_t wave)
{
    struct lks_gate_times t = {0};
    for (uint32_t u = c->waves[wave].first_unit; u != 0; u = c->units[u - 1].next) {
        const struct lks_unit *unit = &c->units[u - 1];
        for (uint32_t i = 0; i < unit->count; i++) {
            const struct lks_member *m = &c->members[unit->first + i];
            if (m->state != LKS_MEMBER_DONE)
                continue;
            t.begun = t.begun == 0 || m->begun < t.begun ? m->begun : t.begun;
            t.done = m->since > t.done ? m->since : t.done;
        }
    }
    return t;
}

bool lks_gate_samples(const struct lks_state_change *c, const struct lks_member *m)
{
    uint32_t wave = c->units[m->unit].wave;
    const struct lks_unit *first = &c->units[c->waves[wave].first_unit - 1];
    uint32_t place = (uint32_t)(m - c->members);
    return place < first->first || place - first->first < LKS_GATE_NODES_MAX;
}

static bool is_loaded(const struct lks_state_change *c, const struct lks_member *m)
{
    const struct lks_wave *w = &c->waves[c->units[m->unit].wave];
    return c->state == LKS_CHANGE_RUNNING && m->state == LKS_MEMBER_DONE &&
           w->kind != LKS_WAVE_RING && (w->state == LKS_WAVE_BEGUN || w->state == LKS_WAVE_SOAKS);
}

/* Asked of every heartbeat: most nodes are no canaries. */
struct lks_str lks_gate_load(const struct lks_state *s, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    if (!lks_bitset_test(&s->standing->soaks, node) || !n->placed || n->change != 0 ||
        lks_state_frozen(s, node))
        return LKS_STR("");
    for (uint32_t i = s->change_count; i > 0; i--) {
        const struct lks_state_change *c = &s->changes[i - 1];
        const struct lks_member *m = lks_state_change_member(c, node);
        const struct lks_pool_gate *gate =
            m != NULL && is_loaded(c, m) ? lks_gate_of(s, c, n->pool) : NULL;
        if (gate != NULL && gate->reference_load != 0)
            return lks_state_text(s, gate->reference_load);
    }
    return LKS_STR("");
}

bool lks_gate_mail(const struct lks_state *s, uint32_t node)
{
    return s->nodes[node].pending > 0 || lks_state_wants_tuple(s, node) ||
           lks_gate_load(s, node).len > 0;
}

bool lks_gate_wants_before(const struct lks_state *s, const struct lks_state_change *c,
                           const struct lks_member *m)
{
    uint32_t wave = c->units[m->unit].wave;
    if (m->back || c->waves[wave].kind == LKS_WAVE_RING || !lks_gate_samples(c, m))
        return false;
    for (uint32_t i = 0; i < c->metric_count; i++) {
        const struct lks_plan_metric *metric = &c->metrics[i];
        const struct lks_measure *had = lks_state_change_measure(c, wave, m->node, metric->name);
        if (metric->source == LKS_SOURCE_ACCEPT && metric->kind == LKS_METRIC_MEAN &&
            lks_gate_metric_is_of(s, metric, s->nodes[m->node].pool) &&
            (had == NULL || !had->has_before))
            return true;
    }
    return false;
}

/* What is wanted ---------------------------------------------------------------------------- */

struct wanting {
    const struct lks_state *s;
    const struct lks_state_change *c;
    uint32_t wave;
    lks_ms wall;
    lks_gate_want_fn *fn;
    void *ctx;
    bool over;
    bool hard_alone; /* of members that are not measured one event is heard all the same */
};

/* Since when the node is what it was before the wave: what it did while another change was at it,
 * or while it ran what was rolled back, says nothing about that. `earlier`: so does what it did
 * before this change came to it. */
static lks_ms settled(const struct wanting *w, uint32_t node, bool earlier)
{
    lks_ms since = 0;
    for (uint32_t i = 0; i < w->s->change_count; i++) {
        const struct lks_state_change *c = &w->s->changes[i];
        const struct lks_member *m = c != w->c || earlier ? lks_state_change_member(c, node) : NULL;
        if (m != NULL && m->begun > 0 && m->since > since)
            since = m->since;
    }
    return since;
}

/* Metrics of one sort, `counted` or not, of one node; `want` says whose, and since when. */
static void want_metrics(struct wanting *w, struct lks_gate_want want, lks_ms begun, bool counted)
{
    lks_ms before = settled(w, want.node, want.earlier);
    lks_ms length = w->wall > want.from ? w->wall - want.from : 0;
    length = length < LKS_GATE_WINDOW_MIN ? LKS_GATE_WINDOW_MIN : length;
    length = length > LKS_GATE_WINDOW_MAX ? LKS_GATE_WINDOW_MAX : length;
    want.change = w->c->id;
    want.wave = w->wave;
    want.before_from = begun > length + before ? begun - length : before;
    want.before_until = begun;
    want.until = w->wall;
    for (uint32_t i = 0; i < w->c->metric_count && !w->over; i++) {
        want.metric = &w->c->metrics[i];
        if ((want.metric->kind != LKS_METRIC_MEAN) == counted &&
            (!w->hard_alone || want.metric->kind == LKS_METRIC_HARD) &&
            lks_gate_metric_is_of(w->s, want.metric, w->s->nodes[want.node].pool))
            w->over = !w->fn(w->ctx, &want);
    }
}

static void want_members(struct wanting *w)
{
    const struct lks_state_change *c = w->c;
    for (uint32_t u = c->waves[w->wave].first_unit; u != 0 && !w->over; u = c->units[u - 1].next) {
        const struct lks_unit *unit = &c->units[u - 1];
        for (uint32_t i = 0; i < unit->count && !w->over; i++) {
            const struct lks_member *m = &c->members[unit->first + i];
            struct lks_gate_want want = {.node = m->node, .from = m->since};
            if (m->state != LKS_MEMBER_DONE || !is_still(&w->s->nodes[m->node]))
                continue;
            w->hard_alone = !lks_gate_samples(c, m);
            want_metrics(w, want, m->begun, false);
            want_metrics(w, want, m->begun, true);
        }
    }
    w->hard_alone = false;
}

/* Means are compared since all of the wave are done; events are counted since it began. */
static void want_controls(struct wanting *w, const struct lks_gate_controls *list,
                          struct lks_gate_times t)
{
    for (uint32_t i = 0; i < list->count && !w->over; i++) {
        struct lks_gate_want want = {.node = list->nodes[i], .control = true, .from = t.done};
        want.earlier = i >= list->untouched;
        want_metrics(w, want, t.begun, false);
        want.from = t.begun;
        if (!want.earlier)
            want_metrics(w, want, t.begun, true);
    }
}

static void want_earlier(struct wanting *w, struct lks_gate_times t)
{
    for (uint32_t i = 0; i < w->c->member_count && i < LKS_GATE_NODES_MAX && !w->over; i++) {
        const struct lks_member *m = &w->c->members[i];
        struct lks_gate_want want = {.node = m->node, .earlier = true, .from = t.begun};
        if (lks_gate_counts_on(w->s, w->c, m, w->wave))
            want_metrics(w, want, t.begun, true);
    }
}

static enum lks_code want_wave(struct wanting *w, struct lks_arena *arena, struct lks_err *err)
{
    struct lks_gate_controls controls;
    struct lks_gate_times t = lks_gate_times(w->c, w->wave);
    if (t.done == 0)
        return LKS_OK;
    want_members(w);
    if (lks_gate_controls(w->s, w->c, w->wave, arena, &controls, err) != LKS_OK)
        return err->code;
    want_controls(w, &controls, t);
    want_earlier(w, t);
    return LKS_OK;
}

enum lks_code lks_gate_wants(const struct lks_state *s, lks_ms wall, struct lks_arena *arena,
                             lks_gate_want_fn *fn, void *ctx, struct lks_err *err)
{
    struct wanting w = {.s = s, .wall = wall, .fn = fn, .ctx = ctx};
    for (uint32_t i = 0; i < s->change_count && !w.over; i++) {
        w.c = &s->changes[i];
        if (w.c->metric_count == 0 || w.c->state != LKS_CHANGE_RUNNING)
            continue;
        for (w.wave = 0; w.wave < w.c->wave_count && !w.over; w.wave++) {
            enum lks_wave_state state = w.c->waves[w.wave].state;
            if ((state == LKS_WAVE_BEGUN || state == LKS_WAVE_SOAKS) &&
                want_wave(&w, arena, err) != LKS_OK)
                return err->code;
        }
    }
    return LKS_OK;
}
