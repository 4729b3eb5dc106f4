/* What gates will ask, what they measured of a wave, and what they say, as JSON. Numbers with
 * fractions are texts. */
#include "core/campaign/campaign_evidence.h"
#include "core/state/state.h"
#include "server/form/views_change.h"

#include <math.h>
#include <stdio.h>

enum { MEMORY_MAX = 64 << 20 };

static void put_real(struct lks_json_writer *w, const char *key, double value)
{
    char text[32];
    if (!isfinite(value))
        return;
    (void)snprintf(text, sizeof(text), "%.4g", value);
    lks_json_cstr(w, key, text);
}

/* What was last recorded of it counts; before the first look, what is known now. */
static void put_row(struct lks_json_writer *w, const struct lks_state *s,
                    const struct lks_state_change *c, uint32_t wave,
                    const struct lks_metric_found *row)
{
    const struct lks_plan_metric *m = row->metric;
    const struct lks_gate_look *l = lks_state_change_look(c, wave, m->name);
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "metric", lks_state_text(s, m->name));
    lks_json_cstr(w, "kind", lks_metric_kind_words[m->kind]);
    lks_json_bool(w, "critical", m->critical);
    lks_json_cstr(w, "verdict", lks_gate_verdict_words[l != NULL ? l->verdict : row->verdict]);
    lks_view_text(w, "text", l != NULL ? lks_state_text(s, l->text) : row->text);
    lks_json_int(w, "looks", row->look);
    lks_json_int(w, "changed", row->canaries);
    lks_json_int(w, "expected", row->expected);
    lks_json_int(w, "controls", row->controls);
    if (m->kind != LKS_METRIC_MEAN) {
        lks_json_int(w, "events", row->canary_events);
        lks_json_int(w, "control_events", row->control_events);
    } else {
        put_real(w, "margin", m->margin);
    }
    if (row->compared) {
        put_real(w, "estimate", row->estimate);
        put_real(w, "worst", row->worst);
        put_real(w, "best", row->best);
    }
    lks_json_bool(w, "waived", row->waived);
    lks_json_end(w, '}');
}

void lks_view_change_gate(struct lks_json_writer *w, const struct lks_state *s,
                          const struct lks_state_change *c, uint32_t wave)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_wave_evidence found = {0};
    struct lks_err err = {0};
    const struct lks_wave *at = &c->waves[wave];
    if (at->limit > 0) {
        lks_json_int(w, "limit", at->limit);
        lks_view_text(w, "limit_text", lks_state_text(s, at->limit_text));
    }
    lks_arena_init(&arena, MEMORY_MAX);
    if (c->metric_count == 0 ||
        lks_campaign_wave_evidence(s, c, wave, s->seen.wall, &arena, &found, &err) != LKS_OK ||
        !found.asked)
        return;
    lks_json_begin(w, "gate", '[');
    for (uint32_t i = 0; i < found.count; i++)
        put_row(w, s, c, wave, &found.rows[i]);
    lks_json_end(w, ']');
}

/* Of a plan --------------------------------------------------------------------------------- */

enum lks_code lks_view_change_gates_find(const struct lks_state *s, bool prometheus, bool load,
                                         struct lks_change_sketch *k, struct lks_err *err)
{
    const struct lks_gate_plan_of of = {
        .change = &k->change,
        .waves = k->waves,
        .parts = k->parts,
        .metrics = k->metrics,
        .gates = k->gates,
        .wave_count = k->wave_count,
        .part_count = k->part_count,
        .metric_count = k->metric_count,
        .gate_count = k->gate_count,
        .prometheus = prometheus,
        .load = load,
    };
    return lks_campaign_gate_plan(s, &of, s->seen.wall, &k->memory, &k->asks, err);
}

void lks_view_change_gates(struct lks_json_writer *w, const struct lks_change_sketch *k)
{
    lks_json_begin(w, "gates", '[');
    for (uint32_t i = 0; i < k->asks.count; i++) {
        const struct lks_gate_planned *row = &k->asks.rows[i];
        lks_json_begin(w, NULL, '{');
        lks_json_cstr(w, "gate", row->gate);
        if (!row->before) {
            lks_json_int(w, "from", row->from);
            lks_json_int(w, "to", row->to);
        }
        if (row->metric != NULL) {
            lks_json_text(w, "metric", row->metric->name);
            lks_json_cstr(w, "source", lks_metric_source_words[row->metric->source]);
            lks_json_bool(w, "critical", row->metric->critical);
        }
        lks_json_text(w, "limit", row->limit);
        lks_view_text(w, "waits", row->waits);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
}
