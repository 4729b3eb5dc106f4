/*
 * What the gates behind the waves of a plan will ask, by their own rules, and what they would wait
 * for as things are now: a source of metrics that is not configured, controls that are too few,
 * nodes that send no heartbeat. Told before a change is proposed.
 *
 * Each row of lks_gates adds its part. Neighbouring waves of which a gate asks the same share one
 * row. `waits` is about this moment: a change that starts later may find something else.
 */
#ifndef LKS_CORE_CAMPAIGN_GATE_PLAN_H
#define LKS_CORE_CAMPAIGN_GATE_PLAN_H

#include "base/arena.h"
#include "base/compiler.h"
#include "base/err.h"
#include "base/str.h"
#include "base/time.h"
#include "model/record/record.h"

struct lks_state;

/* A plan as its records have it, and the sources that lockstepd is configured with. */
struct lks_gate_plan_of {
    const struct lks_rec_change *change;
    const struct lks_rec_plan_wave *waves;
    const struct lks_rec_plan_part *parts;
    const struct lks_rec_plan_metric *metrics;
    const struct lks_rec_plan_gate *gates;
    size_t wave_count, part_count, metric_count, gate_count;
    bool prometheus, load; /* metrics.url; metrics.load */
};

/* What one gate asks of the waves `from` to `to`. */
struct lks_gate_planned {
    const char *gate;
    const struct lks_rec_plan_metric *metric; /* NULL: it is about none */
    bool before;                              /* all waves: `from` and `to` mean nothing */
    uint32_t from, to;
    struct lks_str limit; /* what holds where it passes */
    struct lks_str waits; /* empty: nothing */
};

struct lks_gate_plan_wave;

struct lks_gate_plan {
    const struct lks_state *s;
    struct lks_gate_plan_of of;
    struct lks_arena *arena;
    lks_ms wall;
    const char *gate;                /* whose part is added */
    struct lks_gate_plan_wave *told; /* by wave */
    struct lks_gate_planned *rows;   /* in the arena; by gate, then wave */
    uint32_t count, room;
    bool failed; /* there was no memory */
};

/* Hosts that are no nodes any more count for nothing. */
enum lks_code lks_campaign_gate_plan(const struct lks_state *s, const struct lks_gate_plan_of *of,
                                     lks_ms wall, struct lks_arena *arena,
                                     struct lks_gate_plan *out, struct lks_err *err) LKS_MUST_CHECK;

/* For the rows of lks_gates. */
void lks_campaign_gate_plan_failures(struct lks_gate_plan *p, uint32_t wave);
void lks_campaign_gate_plan_soak(struct lks_gate_plan *p, uint32_t wave);
void lks_campaign_gate_plan_acceptance(struct lks_gate_plan *p, uint32_t wave);
void lks_campaign_gate_plan_evidence(struct lks_gate_plan *p, uint32_t wave);

#endif
