#include "core/campaign/campaign_evidence_waves.h"

#include "core/rows/change.h"
#include "core/state/state.h"

#define SIDE_MIN 2 /* fewer on a side were not compared */
#define HOUR     (3600.0 * (double)LKS_SECOND)

/* Events ------------------------------------------------------------------------------------ */

/* Of one wave: of who had the change, and of controls. */
struct epoch {
    uint64_t events[2], exposure[2];
};

/* Since when what happens to the node counts as it does in this wave: since it has the change, or,
 * for one that has not, from the beginning. */
static uint32_t first_of(const struct lks_state_change *c, uint32_t node, uint32_t wave)
{
    const struct lks_member *m = lks_state_change_member(c, node);
    return m != NULL && c->units[m->unit].wave <= wave ? c->units[m->unit].wave : 0;
}

bool lks_campaign_waves_had(const struct lks_state_change *c, uint32_t node, uint32_t wave,
                            lks_text metric)
{
    uint32_t first = first_of(c, node, wave);
    uint32_t at = node < c->measured_room ? c->measured[node] : 0;
    for (; at != 0; at = c->measures[at - 1].next) {
        const struct lks_measure *had = &c->measures[at - 1];
        if (had->metric == metric && had->wave < wave && had->wave >= first && had->events > 0)
            return true;
    }
    return false;
}

static void add(const struct lks_state_change *c, const struct lks_measure *m, struct epoch *e)
{
    const struct lks_member *member = lks_state_change_member(c, m->node);
    bool changed = member != NULL && c->units[member->unit].wave <= m->wave;
    if (lks_campaign_waves_had(c, m->node, m->wave, m->metric))
        return;
    e->events[!changed] += m->events > 0;
    e->exposure[!changed] += m->exposure;
}

/* The first wave whose halt no person has seen. */
static uint32_t first_unseen(const struct lks_state_change *c, uint32_t wave, lks_text metric)
{
    for (uint32_t w = wave; w > 0; w--) {
        const struct lks_gate_look *l = lks_state_change_look(c, w - 1, metric);
        if (l != NULL && l->verdict == LKS_GATE_HALT)
            return w;
    }
    return 0;
}

bool lks_campaign_waves_count(const struct lks_state *s, const struct lks_state_change *c,
                              uint32_t wave, const struct lks_plan_metric *metric,
                              struct lks_arena *arena, struct lks_counted *out)
{
    struct epoch *epochs = lks_arena_array(arena, (size_t)wave + 1, sizeof(*epochs));
    uint32_t first = first_unseen(c, wave, metric->name);
    *out = (struct lks_counted){.name = lks_state_text(s, metric->name)};
    if (epochs == NULL)
        return false;
    for (uint32_t i = 0; i < c->measure_count; i++) {
        const struct lks_measure *m = &c->measures[i];
        if (m->metric == metric->name && m->wave >= first && m->wave <= wave &&
            lks_gate_metric_is_of(s, metric, s->nodes[m->node].pool))
            add(c, m, &epochs[m->wave]);
    }
    struct epoch all = {0};
    for (uint32_t w = first; w <= wave; w++) {
        lks_evidence_counted_feed(out, epochs[w].events[0], (double)epochs[w].exposure[0] / HOUR,
                                  epochs[w].events[1], (double)epochs[w].exposure[1] / HOUR);
        all.events[0] += epochs[w].events[0];
        all.exposure[0] += epochs[w].exposure[0];
    }
    lks_evidence_counted_known(out, all.events[0], (double)all.exposure[0] / HOUR, metric->normal);
    return true;
}

/* What a canary has shown ------------------------------------------------------------------- */

static bool is_like(const struct lks_state *s, uint32_t a, uint32_t b)
{
    return s->nodes[a].pool == s->nodes[b].pool && s->nodes[a].class == s->nodes[b].class;
}

/* It passed by a number of a node like this one, among others. What was left out has none. */
static bool shows_for(const struct lks_state *s, const struct lks_state_change *c, uint32_t canary,
                      lks_text metric, uint32_t node)
{
    bool like = false;
    uint32_t canaries = 0, controls = 0;
    for (uint32_t i = 0; i < c->measure_count; i++) {
        const struct lks_measure *m = &c->measures[i];
        if (m->metric != metric || m->wave != canary || !m->has_before || !m->has_after)
            continue;
        const struct lks_member *member = lks_state_change_member(c, m->node);
        bool changed = member != NULL && c->units[member->unit].wave == canary;
        canaries += changed;
        controls += !changed;
        like = like || (changed && is_like(s, m->node, node));
    }
    return like && canaries >= SIDE_MIN && controls >= SIDE_MIN;
}

/* The wave before this one that is a canary, passed, and passed this metric; `wave`: none did. */
static uint32_t canary_of(const struct lks_state_change *c, uint32_t wave, lks_text metric)
{
    for (uint32_t w = 0; w < wave; w++) {
        const struct lks_gate_look *l = lks_state_change_look(c, w, metric);
        if (c->waves[w].kind == LKS_WAVE_CANARY && c->waves[w].state == LKS_WAVE_PASSED &&
            l != NULL && l->verdict == LKS_GATE_PASS && l->look == LKS_COUNT(lks_evidence_at))
            return w;
    }
    return wave;
}

/* Two pools may call different things by one name, and what was said of one is not kept apart from
 * what was said of the other. */
static bool is_one(const struct lks_state_change *c, lks_text name)
{
    uint32_t named = 0;
    for (uint32_t i = 0; i < c->metric_count; i++)
        named += c->metrics[i].name == name;
    return named == 1;
}

bool lks_campaign_waves_vouch(const struct lks_state *s, const struct lks_state_change *c,
                              uint32_t wave, const struct lks_plan_metric *metric)
{
    uint32_t canary = canary_of(c, wave, metric->name), last = UINT32_MAX;
    if (canary == wave || c->waves[wave].kind != LKS_WAVE_RING || !is_one(c, metric->name))
        return false;
    for (uint32_t u = c->waves[wave].first_unit; u != 0; u = c->units[u - 1].next) {
        const struct lks_unit *unit = &c->units[u - 1];
        for (uint32_t i = 0; i < unit->count; i++) {
            const struct lks_member *m = &c->members[unit->first + i];
            if (m->state != LKS_MEMBER_DONE || s->nodes[m->node].asset != 0 ||
                !lks_gate_metric_is_of(s, metric, s->nodes[m->node].pool) ||
                (last != UINT32_MAX && is_like(s, last, m->node)))
                continue;
            if (!shows_for(s, c, canary, metric->name, m->node))
                return false;
            last = m->node;
        }
    }
    return true;
}
