/* Records about gates with evidence: what they ask for, what was measured, what they said. */
#include "base/real.h"
#include "base/vec.h"
#include "core/fold/sets.h"
#include "core/rows/change.h"
#include "core/state/change_room.h"
#include "core/state/state.h"
#include "core/state/state_room.h"
#include "model/record/record.h"
#include "model/record/record_words.h"

/* Empty: 0, not said. False where it is no number. */
static bool real_or_zero(struct lks_str text, double *out)
{
    *out = 0;
    return text.len == 0 || lks_real_parse(text, out);
}

/* What is asked for ------------------------------------------------------------------------- */

enum lks_code lks_apply_plan_metric(const struct lks_applying *a)
{
    const struct lks_rec_plan_metric *from = &a->r->plan_metric;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    struct lks_plan_metric made = {0};
    if (c == NULL || c->metric_count == LKS_CHANGE_METRICS || from->name.len == 0 ||
        from->kind >= LKS_METRIC_KIND_COUNT || from->better >= LKS_BETTER_COUNT ||
        from->unit >= LKS_UNIT_COUNT || from->source >= LKS_SOURCE_COUNT ||
        !real_or_zero(from->margin, &made.margin) || !real_or_zero(from->alpha, &made.alpha) ||
        !real_or_zero(from->sigma, &made.sigma) || !real_or_zero(from->normal, &made.normal))
        return LKS_OK;
    if (lks_sets_apply(a, &made) != LKS_OK)
        return a->err->code;
    if (LKS_VEC_ADD(c->metrics, c->metric_room, c->metric_count, LKS_CHANGE_METRICS, made,
                    a->err) != LKS_OK)
        return lks_wrap(a->err, "metrics");
    c->looked = 0;
    return LKS_OK;
}

enum lks_code lks_apply_plan_gate(const struct lks_applying *a)
{
    const struct lks_rec_plan_gate *from = &a->r->plan_gate;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    if (c == NULL || c->gate_count == LKS_CHANGE_GATES)
        return LKS_OK;
    struct lks_pool_gate made = {0};
    if (lks_sets_apply(a, &made) != LKS_OK)
        return a->err->code;
    if (LKS_VEC_ADD(c->gates, c->gate_room, c->gate_count, LKS_CHANGE_GATES, made, a->err) !=
        LKS_OK)
        return lks_wrap(a->err, "gates");
    c->looked = 0;
    return LKS_OK;
}

/* What was measured ------------------------------------------------------------------------- */

static bool has_metric(const struct lks_state *s, const struct lks_state_change *c,
                       struct lks_str name)
{
    for (uint32_t i = 0; i < c->metric_count; i++) {
        if (lks_str_eq(lks_state_text(s, c->metrics[i].name), name))
            return true;
    }
    return false;
}

/* The measurement at `place`, from 1, is the last of its node. */
static void chain_measure(struct lks_state_change *c, uint32_t node, uint32_t place)
{
    uint32_t *last = &c->measured[node];
    while (*last != 0)
        last = &c->measures[*last - 1].next;
    *last = place;
}

/* Where it is kept: in the place of the one before, or at the end; NULL and no failure: there is no
 * more room. */
static enum lks_code measure_place(const struct lks_applying *a, struct lks_state_change *c,
                                   const struct lks_measure *made, struct lks_measure **out)
{
    const struct lks_measure *had =
        lks_state_change_measure(c, made->wave, made->node, made->metric);
    *out = had == NULL ? NULL : &c->measures[had - c->measures];
    if (had != NULL || c->measure_count == LKS_CHANGE_MEASURES)
        return LKS_OK;
    if (LKS_VEC_RESERVE_MAX(c->measured, c->measured_room, made->node + 1, LKS_STATE_NODES_MAX,
                            a->err) != LKS_OK ||
        LKS_VEC_RESERVE_MAX(c->measures, c->measure_room, c->measure_count + 1, LKS_CHANGE_MEASURES,
                            a->err) != LKS_OK)
        return lks_wrap(a->err, "measurements");
    *out = &c->measures[c->measure_count++];
    chain_measure(c, made->node, c->measure_count);
    return LKS_OK;
}

enum lks_code lks_apply_measured(const struct lks_applying *a)
{
    const struct lks_rec_measured *from = &a->r->measured;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    struct lks_measure made = {0};
    struct lks_measure *to = NULL;
    if (c == NULL || from->wave >= c->wave_count || from->node.len == 0 ||
        (from->metric.len > 0 && !has_metric(a->s, c, from->metric)))
        return LKS_OK;
    made.has_before = lks_real_parse(from->before, &made.before);
    made.has_after = lks_real_parse(from->after, &made.after);
    if (lks_state_place(a->s, from->node, &made.node, a->err) != LKS_OK ||
        lks_sets_apply(a, &made) != LKS_OK || measure_place(a, c, &made, &to) != LKS_OK)
        return a->err->code;
    if (to == NULL)
        return LKS_OK;
    made.next = to->next;
    *to = made;
    c->looked = 0;
    return LKS_OK;
}

/* What was said ----------------------------------------------------------------------------- */

enum lks_code lks_apply_gate_looked(const struct lks_applying *a)
{
    const struct lks_rec_gate_looked *from = &a->r->gate_looked;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    lks_text metric = 0;
    if (c == NULL || from->wave >= c->wave_count || from->verdict >= LKS_GATE_COUNT ||
        (from->metric.len > 0 && !has_metric(a->s, c, from->metric)))
        return LKS_OK;
    if (lks_apply_keep(a, from->metric, &metric) != LKS_OK)
        return a->err->code;
    const struct lks_gate_look *had = lks_state_change_look(c, (uint32_t)from->wave, metric);
    if (had == NULL && c->look_count == LKS_CHANGE_LOOKS)
        return LKS_OK;
    if (LKS_VEC_RESERVE_MAX(c->looks, c->look_room, c->look_count + (had == NULL), LKS_CHANGE_LOOKS,
                            a->err) != LKS_OK)
        return lks_wrap(a->err, "looks");
    had = lks_state_change_look(c, (uint32_t)from->wave, metric);
    struct lks_gate_look *look = &c->looks[had != NULL ? had - c->looks : c->look_count++];
    return lks_sets_apply(a, look);
}

enum lks_code lks_apply_forecast(const struct lks_applying *a)
{
    const struct lks_rec_forecast *from = &a->r->forecast;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    if (c == NULL || from->runs == 0)
        return LKS_OK;
    return lks_sets_apply(a, c);
}

/* What was done to a job, by its change: a later act replaces it. */
enum lks_code lks_apply_job_act(const struct lks_applying *a)
{
    const struct lks_rec_job_act *from = &a->r->job_act;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    if (c == NULL || from->job.len == 0 || from->act >= LKS_JOB_ACT_COUNT ||
        from->state >= LKS_JOB_STATE_COUNT)
        return LKS_OK;
    const struct lks_job_acted *had = lks_state_change_job(a->s, c, from->site, from->job);
    if (had == NULL && c->job_count == LKS_CHANGE_JOBS)
        return LKS_OK;
    size_t at = had != NULL ? (size_t)(had - c->jobs) : c->job_count;
    if (LKS_VEC_RESERVE_MAX(c->jobs, c->job_room, c->job_count + (had == NULL), LKS_CHANGE_JOBS,
                            a->err) != LKS_OK)
        return lks_wrap(a->err, "jobs");
    if (had == NULL)
        c->jobs[c->job_count++] = (struct lks_job_acted){0};
    return lks_sets_apply(a, &c->jobs[at]);
}

enum lks_code lks_apply_wave_limit(const struct lks_applying *a)
{
    const struct lks_rec_wave_limit *from = &a->r->wave_limit;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    if (c == NULL || from->wave >= c->wave_count)
        return LKS_OK;
    c->looked = 0;
    return lks_sets_apply(a, &c->waves[from->wave]);
}

/* Loaded rows ------------------------------------------------------------------------------- */

static enum lks_code index_measures_of(const struct lks_applying *a, struct lks_state_change *c)
{
    for (uint32_t i = 0; i < c->measure_count; i++) {
        const struct lks_measure *m = &c->measures[i];
        if (m->wave >= c->wave_count)
            return lks_fail(a->err, LKS_E_INVALID, "a measurement has no wave");
        if (LKS_VEC_RESERVE_MAX(c->measured, c->measured_room, m->node + 1, LKS_STATE_NODES_MAX,
                                a->err) != LKS_OK)
            return lks_wrap(a->err, "measurements");
        chain_measure(c, m->node, i + 1);
    }
    for (uint32_t i = 0; i < c->look_count; i++) {
        if (c->looks[i].wave >= c->wave_count)
            return lks_fail(a->err, LKS_E_INVALID, "a gate's verdict has no wave");
    }
    return LKS_OK;
}

enum lks_code lks_apply_index_measures(const struct lks_applying *a)
{
    for (uint32_t i = 0; i < a->s->change_count; i++) {
        if (index_measures_of(a, &a->s->changes[i]) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}
