#include "core/gate.h"

#include "codec/hostlist.h"
#include "core/state_room.h"

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

/* One that this change begins, or another one, is a control no more: what it does since is not what
 * an untouched node would. */
static bool is_control(const struct lks_state *s, const struct lks_state_change *c, uint32_t wave,
                       uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    const struct lks_member *m = lks_change_member(c, node);
    if (!n->placed || n->asset != 0 || n->change != 0)
        return false;
    return m == NULL || (m->begun == 0 && c->units[m->unit].wave != wave);
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
        return err->code == LKS_E_INVALID ? LKS_OK : err->code; /* it names nobody */
    out->nodes = lks_arena_array(arena, hosts.count, sizeof(out->nodes[0]));
    if (out->nodes == NULL)
        return lks_arena_fail(arena, err);
    for (size_t i = 0; i < hosts.count; i++) {
        uint32_t node = lks_state_node(s, hosts.names[i]);
        if (node != LKS_NO_NODE && is_control(s, c, wave, node))
            out->nodes[out->count++] = node;
    }
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

/* What is wanted ---------------------------------------------------------------------------- */

struct wanting {
    const struct lks_state *s;
    const struct lks_state_change *c;
    uint32_t wave;
    lks_ms wall;
    lks_gate_want_fn *fn;
    void *ctx;
    bool over;
};

/* Since when the node is what it was before this change: what it did while another one was at it,
 * or while it ran what was taken back, says nothing about that. */
static lks_ms settled(const struct wanting *w, uint32_t node)
{
    lks_ms since = 0;
    for (uint32_t i = 0; i < w->s->change_count; i++) {
        const struct lks_state_change *c = &w->s->changes[i];
        const struct lks_member *m = c == w->c ? NULL : lks_change_member(c, node);
        if (m != NULL && m->begun > 0 && m->since > since)
            since = m->since;
    }
    return since;
}

static void want_node(struct wanting *w, uint32_t node, bool control, lks_ms begun, lks_ms done)
{
    lks_ms before = settled(w, node);
    lks_ms length = w->wall > done ? w->wall - done : 0;
    length = length < LKS_GATE_WINDOW_MIN ? LKS_GATE_WINDOW_MIN : length;
    length = length > LKS_GATE_WINDOW_MAX ? LKS_GATE_WINDOW_MAX : length;
    struct lks_gate_want want = {
        .change = w->c->id,
        .wave = w->wave,
        .node = node,
        .control = control,
        .before_from = begun > length + before ? begun - length : before,
        .before_until = begun,
        .from = done,
        .until = w->wall,
    };
    for (uint32_t i = 0; i < w->c->metric_count && !w->over; i++) {
        want.metric = &w->c->metrics[i];
        if (lks_gate_metric_is_of(w->s, want.metric, w->s->nodes[node].pool))
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
            const struct lks_node *n = &w->s->nodes[m->node];
            if (m->state == LKS_MEMBER_DONE && n->placed && n->asset == 0 && n->change == 0)
                want_node(w, m->node, false, m->begun, m->since);
        }
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
    for (uint32_t i = 0; i < controls.count && !w->over; i++)
        want_node(w, controls.nodes[i], true, t.begun, t.done);
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
