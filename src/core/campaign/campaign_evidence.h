/*
 * What the evidence says of a wave: members that are done against controls, metric by metric.
 *
 * A wave is looked at after parts of its soak (lks_evidence_at) and whenever something was
 * measured. Planned looks are recorded (GATE_LOOKED), so the error that they share is spent once,
 * whatever is restarted. It passes at the last of them alone. That one waits for data of critical
 * metrics and for load, as long as the gate has patience; then a person decides.
 */
#ifndef LKS_CORE_CAMPAIGN_EVIDENCE_H
#define LKS_CORE_CAMPAIGN_EVIDENCE_H

#include "core/campaign/campaign.h"
#include "core/stats/evidence.h"

/* What one metric says. */
struct lks_metric_found {
    const struct lks_plan_metric *metric;
    enum lks_gate_verdict verdict;
    struct lks_str text;
    bool compared;                          /* the next three are there */
    double estimate, worst, best;           /* percent; `best` may be infinite: nothing is known */
    uint32_t canaries, controls, expected;  /* units with data; units that should have some */
    uint32_t canary_events, control_events; /* RATE, HARD: units that had one */
    uint32_t look;                          /* planned looks so far */
    bool waived;                            /* a person let the change go on in spite of it */
};

struct lks_wave_evidence {
    bool asked;  /* something is measured of this wave */
    size_t look; /* the planned look that is due now, or LKS_LOOK_BETWEEN */
    struct lks_gate_said said;
    struct lks_metric_found *rows; /* in the arena */
    uint32_t count;
};

/* NOMEM alone. */
enum lks_code lks_campaign_wave_evidence(const struct lks_state *s,
                                         const struct lks_state_change *c, uint32_t wave,
                                         lks_ms wall, struct lks_arena *arena,
                                         struct lks_wave_evidence *out,
                                         struct lks_err *err) LKS_MUST_CHECK;

/* The gate's row. */
struct lks_gate_said lks_campaign_gate_evidence(const struct lks_state *s,
                                                const struct lks_state_change *c, uint32_t wave,
                                                lks_ms wall, struct lks_arena *arena);

#endif
