/*
 * Rings that grow with the evidence. Where a pool has a budget for losses, as many units begin as
 * would cost no more than that at the highest rate of failures that is still likely; when they are
 * over and were watched, the next ones do. The limit is a record (WAVE_LIMIT): no unit starts
 * before it is there.
 */
#include "core/campaign/campaign_evidence.h"
#include "core/campaign/campaign_parts.h"
#include "core/gate/gate.h"
#include "core/stats/ramp.h"

#define CONFIDENCE 0.95

static const struct lks_pool_gate *gate_of(const struct lks_state_change *c, uint32_t wave)
{
    const struct lks_wave *w = &c->waves[wave];
    for (uint32_t i = 0; i < c->gate_count && w->kind == LKS_WAVE_RING && w->pool != 0; i++) {
        if (c->gates[i].pool == w->pool && c->gates[i].loss_budget > 0)
            return &c->gates[i];
    }
    return NULL;
}

/* How far the wave is. */
struct reached {
    uint32_t units, begun, nodes;
    lks_ms last; /* when the last of them was over */
};

static struct reached count_begun(const struct lks_state_change *c, uint32_t wave)
{
    struct reached r = {0};
    for (uint32_t u = c->waves[wave].first_unit; u != 0; u = c->units[u - 1].next) {
        const struct lks_unit *unit = &c->units[u - 1];
        r.units++;
        r.nodes += unit->count;
        r.begun += unit->begun;
        for (uint32_t i = 0; i < unit->count && unit->begun; i++) {
            lks_ms since = c->members[unit->first + i].since;
            r.last = since > r.last ? since : r.last;
        }
    }
    return r;
}

uint32_t lks_campaign_ramp_room(const struct lks_state_change *c, uint32_t wave)
{
    const struct lks_wave *w = &c->waves[wave];
    uint32_t width = w->width > 0 ? w->width : 1;
    if (gate_of(c, wave) == NULL)
        return width;
    uint32_t begun = count_begun(c, wave).begun;
    uint32_t more = w->limit > begun ? w->limit - begun : 0;
    return width > w->busy && width - w->busy > more ? w->busy + more : width;
}

/* All that the change has brought so far says how many fail. */
static void list_limit(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave,
                       const struct lks_pool_gate *gate, const struct reached *r)
{
    uint64_t done = (uint64_t)c->states[LKS_MEMBER_DONE] + c->failed;
    uint64_t left = (uint64_t)(r->units - r->begun) * r->nodes / (r->units > 0 ? r->units : 1);
    uint64_t nodes = lks_ramp_next(done, c->failed, left, gate->loss_budget, CONFIDENCE);
    uint64_t units = nodes * r->units / (r->nodes > 0 ? r->nodes : 1);
    lks_decision_add(d, LKS_RECORD_WAVE_LIMIT)->wave_limit = (struct lks_rec_wave_limit){
        .change = c->id,
        .wave = wave,
        .limit = r->begun + (units > 0 ? units : 1),
        .text = lks_decision_text(
            d, "%u of %llu failed: of the next %llu no more than %u would, with 95 %%", c->failed,
            (unsigned long long)done, (unsigned long long)nodes, gate->loss_budget),
    };
}

/* Critical metrics lack data of a node; a text: which nodes. */
static struct lks_str lacking(struct lks_deciding *d, const struct lks_state_change *c,
                              uint32_t wave)
{
    struct lks_wave_evidence found;
    struct lks_err err = {0};
    if (lks_campaign_wave_evidence(d->state, c, wave, d->now.wall, &d->out->arena, &found, &err) !=
        LKS_OK)
        return LKS_STR("there was no memory for the evaluation");
    for (uint32_t i = 0; i < found.count; i++) {
        const struct lks_metric_found *row = &found.rows[i];
        if (row->metric->critical && !row->waived && row->canaries < row->expected)
            return lks_decision_text(d, "%" LKS_STR_FMT ": %u of %u have data",
                                     LKS_STR_ARG(lks_state_text(d->state, row->metric->name)),
                                     row->canaries, row->expected);
    }
    return LKS_STR("");
}

struct lks_str lks_campaign_ramp_grow(struct lks_deciding *d, const struct lks_state_change *c,
                                      uint32_t wave)
{
    const struct lks_wave *w = &c->waves[wave];
    const struct lks_pool_gate *gate = gate_of(c, wave);
    if (gate == NULL || w->members[LKS_MEMBER_PENDING] == 0)
        return LKS_STR("");
    struct reached r = count_begun(c, wave);
    if (w->limit == 0) {
        list_limit(d, c, wave, gate, &r);
        return LKS_STR("");
    }
    lks_ms soak = gate->min_soak > 0 ? gate->min_soak : w->soak;
    lks_ms patience = gate->max_soak > 0 ? gate->max_soak : LKS_GATE_PATIENCE * soak;
    if (r.begun < w->limit || w->busy > 0 || d->now.wall < r.last + soak)
        return LKS_STR("");
    struct lks_str lacks = lacking(d, c, wave);
    bool seen = c->moved > c->started && c->moved > r.last; /* a person did, and resumed it */
    if (lacks.len == 0 || seen)
        list_limit(d, c, wave, gate, &r);
    else if (d->now.wall >= r.last + patience)
        return lacks;
    return LKS_STR("");
}
