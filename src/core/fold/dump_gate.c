/* Gates with evidence as records: what they ask for, what was measured, what they said. */
#include "base/real.h"
#include "core/fold/dump.h"

/* Where nothing was said there is no number. */
static struct lks_str real_text(bool said, double value, char out[LKS_REAL_SIZE])
{
    return said ? lks_str_from(lks_real_text(value, out)) : LKS_STR("");
}

static void dump_metric(struct lks_dump *d, const struct lks_state_change *c,
                        const struct lks_plan_metric *m)
{
    char margin[LKS_REAL_SIZE], alpha[LKS_REAL_SIZE], sigma[LKS_REAL_SIZE], normal[LKS_REAL_SIZE];
    lks_dump_say(d, c->proposed,
                 (struct lks_record){.kind = LKS_RECORD_PLAN_METRIC,
                                     .plan_metric = {
                                         .change = c->id,
                                         .name = lks_dump_text(d, m->name),
                                         .pools = lks_dump_text(d, m->pools),
                                         .kind = m->kind,
                                         .better = m->better,
                                         .unit = m->unit,
                                         .margin = real_text(m->margin != 0, m->margin, margin),
                                         .critical = m->critical,
                                         .query = lks_dump_text(d, m->query),
                                         .source = m->source,
                                         .alpha = real_text(m->alpha != 0, m->alpha, alpha),
                                         .sigma = real_text(m->sigma != 0, m->sigma, sigma),
                                         .normal = real_text(m->normal != 0, m->normal, normal),
                                     }});
}

static void dump_forecast(struct lks_dump *d, const struct lks_state_change *c)
{
    const struct lks_change_forecast *f = &c->forecast;
    if (f->runs > 0)
        lks_dump_say(d, f->at,
                     (struct lks_record){.kind = LKS_RECORD_FORECAST,
                                         .forecast = {.change = c->id,
                                                      .runs = f->runs,
                                                      .took_low = f->took[0],
                                                      .took_middle = f->took[1],
                                                      .took_high = f->took[2],
                                                      .gpu_hours_low = f->gpu_hours[0],
                                                      .gpu_hours_middle = f->gpu_hours[1],
                                                      .gpu_hours_high = f->gpu_hours[2],
                                                      .kept_high = f->kept,
                                                      .reached_high = f->reached,
                                                      .by = lks_dump_text(d, f->by)}});
}

void lks_dump_gates(struct lks_dump *d, const struct lks_state_change *c)
{
    for (uint32_t i = 0; i < c->metric_count; i++)
        dump_metric(d, c, &c->metrics[i]);
    for (uint32_t i = 0; i < c->gate_count; i++) {
        const struct lks_pool_gate *g = &c->gates[i];
        lks_dump_say(d, c->proposed,
                     (struct lks_record){.kind = LKS_RECORD_PLAN_GATE,
                                         .plan_gate = {
                                             .change = c->id,
                                             .pool = lks_dump_text(d, g->pool),
                                             .min_load = g->min_load,
                                             .min_soak = g->min_soak,
                                             .max_soak = g->max_soak,
                                             .loss_budget = g->loss_budget,
                                             .reference_load = lks_dump_text(d, g->reference_load),
                                         }});
    }
}

static void dump_measure(struct lks_dump *d, const struct lks_state_change *c,
                         const struct lks_measure *m)
{
    char before[LKS_REAL_SIZE], after[LKS_REAL_SIZE];
    lks_dump_say(d, m->at,
                 (struct lks_record){.kind = LKS_RECORD_MEASURED,
                                     .measured = {
                                         .change = c->id,
                                         .wave = m->wave,
                                         .node = lks_state_name(d->s, m->node),
                                         .metric = lks_dump_text(d, m->metric),
                                         .before = real_text(m->has_before, m->before, before),
                                         .after = real_text(m->has_after, m->after, after),
                                         .samples = m->samples,
                                         .from = m->from,
                                         .until = m->until,
                                         .load = m->load,
                                         .events = m->events,
                                         .exposure = m->exposure,
                                     }});
}

void lks_dump_evidence(struct lks_dump *d, const struct lks_state_change *c)
{
    for (uint32_t i = 0; i < c->measure_count && d->code == LKS_OK; i++)
        dump_measure(d, c, &c->measures[i]);
    for (uint32_t i = 0; i < c->look_count; i++) {
        const struct lks_gate_look *l = &c->looks[i];
        lks_dump_say(d, l->at,
                     (struct lks_record){.kind = LKS_RECORD_GATE_LOOKED,
                                         .gate_looked = {.change = c->id,
                                                         .wave = l->wave,
                                                         .metric = lks_dump_text(d, l->metric),
                                                         .look = l->look,
                                                         .verdict = l->verdict,
                                                         .text = lks_dump_text(d, l->text)}});
    }
    dump_forecast(d, c);
    for (uint32_t i = 0; i < c->wave_count; i++) {
        const struct lks_wave *w = &c->waves[i];
        if (w->limit != 0 || w->limit_text != 0)
            lks_dump_say(
                d, w->since,
                (struct lks_record){.kind = LKS_RECORD_WAVE_LIMIT,
                                    .wave_limit = {.change = c->id,
                                                   .wave = i,
                                                   .limit = w->limit,
                                                   .text = lks_dump_text(d, w->limit_text)}});
    }
}
