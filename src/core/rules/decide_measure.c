/* What was measured of nodes, for the gates of changes. */
#include "base/real.h"
#include "core/gate/gate.h"
#include "core/rows/change.h"
#include "core/rules/decide_rules.h"
#include "core/state/state.h"

#include <math.h>

enum { PARTS = 8 }; /* of its shortest soak that a gate hears of a node in */
#define EVERY_MIN LKS_SECOND
#define EVERY_MAX (600 * LKS_SECOND)

/* How long what was measured of a node stays as it is: a journal is no store of samples. */
static lks_ms every(const struct lks_pool_gate *gate)
{
    lks_ms soak = gate != NULL && gate->min_soak > 0 ? gate->min_soak : LKS_GATE_SOAK_DEFAULT;
    lks_ms part = soak / PARTS;
    return part < EVERY_MIN ? EVERY_MIN : part > EVERY_MAX ? EVERY_MAX : part;
}

/* Controls of the wave that it was last asked for: mostly all of a batch are of one. */
struct controls {
    uint64_t change;
    uint32_t wave;
    bool known;
    struct lks_gate_controls list;
};

static bool is_control(struct lks_deciding *d, const struct lks_state_change *c,
                       const struct lks_measured *m, const struct lks_plan_metric *metric,
                       struct controls *of)
{
    struct lks_err err = {0};
    if (!of->known || of->change != c->id || of->wave != m->wave) {
        *of = (struct controls){.change = c->id, .wave = m->wave, .known = true};
        if (lks_gate_controls(d->state, c, m->wave, &d->out->arena, &of->list, &err) != LKS_OK) {
            d->out->failed = LKS_E_NOMEM;
            return false;
        }
    }
    uint32_t count = metric->kind == LKS_METRIC_MEAN ? of->list.count : of->list.untouched;
    for (uint32_t i = 0; i < count; i++) {
        if (of->list.nodes[i] == m->node)
            return true;
    }
    return false;
}

/* A member that is done, of those that are measured; one event of which one is enough is heard of
 * anybody. One of an earlier wave whose events are counted on. Or a control. */
static bool is_asked(struct lks_deciding *d, const struct lks_state_change *c,
                     const struct lks_measured *m, const struct lks_plan_metric *metric,
                     struct controls *of)
{
    const struct lks_member *member = lks_state_change_member(c, m->node);
    if (member != NULL && c->units[member->unit].wave == m->wave)
        return member->state == LKS_MEMBER_DONE &&
               (lks_gate_samples(c, member) || (metric->kind == LKS_METRIC_HARD && m->events > 0));
    if (member != NULL && metric->kind != LKS_METRIC_MEAN &&
        lks_gate_counts_on(d->state, c, member, m->wave))
        return true;
    return is_control(d, c, m, metric, of);
}

static bool is_watched(const struct lks_state_change *c, uint32_t wave)
{
    return c->state == LKS_CHANGE_RUNNING && wave < c->wave_count &&
           (c->waves[wave].state == LKS_WAVE_BEGUN || c->waves[wave].state == LKS_WAVE_SOAKS);
}

static bool has_value(bool has, double value)
{
    return has && isfinite(value);
}

/* Whether it says more than what is known. A node counts once, however many events it had. */
static bool is_news(const struct lks_deciding *d, const struct lks_state_change *c,
                    const struct lks_measured *m, const struct lks_plan_metric *metric)
{
    const struct lks_measure *had = lks_state_change_measure(c, m->wave, m->node, metric->name);
    if (had == NULL || had->has_before != has_value(m->has_before, m->before) ||
        had->has_after != has_value(m->has_after, m->after) ||
        (metric->kind != LKS_METRIC_MEAN && (had->events > 0) != (m->events > 0)))
        return true;
    lks_ms next = had->at + every(lks_gate_of(d->state, c, d->state->nodes[m->node].pool));
    return d->now.wall >= next && m->until >= had->until;
}

struct lks_str lks_decide_measure_number(struct lks_deciding *d, bool has, double value)
{
    char text[LKS_REAL_SIZE];
    if (!has_value(has, value))
        return LKS_STR("");
    return lks_decision_copy(d, lks_str_from(lks_real_text(value, text)));
}

static void record(struct lks_deciding *d, const struct lks_measured *m)
{
    struct lks_str before = lks_decide_measure_number(d, m->has_before, m->before);
    struct lks_str after = lks_decide_measure_number(d, m->has_after, m->after);
    lks_decision_add(d, LKS_RECORD_MEASURED)->measured = (struct lks_rec_measured){
        .change = m->change,
        .wave = m->wave,
        .node = lks_state_name(d->state, m->node),
        .metric = m->metric,
        .before = before,
        .after = after,
        .samples = m->samples,
        .from = m->from,
        .until = m->until,
        .load = m->load,
        .events = m->events,
        .exposure = m->exposure,
    };
}

/* The reference load of a member, which is of no metric: as far as it went on. */
static bool is_load(const struct lks_deciding *d, const struct lks_state_change *c,
                    const struct lks_measured *m)
{
    const struct lks_member *member = lks_state_change_member(c, m->node);
    const struct lks_pool_gate *gate = lks_gate_of(d->state, c, d->state->nodes[m->node].pool);
    const struct lks_measure *had = lks_state_change_measure(c, m->wave, m->node, 0);
    if (m->metric.len > 0 || member == NULL || c->units[member->unit].wave != m->wave ||
        member->state != LKS_MEMBER_DONE || !lks_gate_samples(c, member) || gate == NULL ||
        gate->reference_load == 0)
        return false;
    return had == NULL ? m->load > 0 : m->load > had->load && d->now.wall >= had->at + every(gate);
}

void lks_decide_measured(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    struct controls of = {0};
    for (size_t i = 0; i < e->measured.count; i++) {
        const struct lks_measured *m = &e->measured.list[i];
        const struct lks_state_change *c = lks_state_change(d->state, m->change);
        if (c == NULL || m->node >= d->state->node_count || !is_watched(c, m->wave))
            continue;
        const struct lks_plan_metric *metric = lks_gate_metric(d->state, c, m->node, m->metric);
        if (metric != NULL ? is_asked(d, c, m, metric, &of) && is_news(d, c, m, metric)
                           : is_load(d, c, m))
            record(d, m);
    }
}
