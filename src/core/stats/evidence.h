/*
 * The verdict on a wave from what was measured.
 *
 * Each metric has a margin: how much worse the canaries may have become, compared with controls of
 * the same time. PASS needs the worst that is still likely to be within it; HALT needs the best
 * that is still likely to be beyond it, or, for a critical metric, to be worse at all while the
 * estimate is beyond it. In between there is more to wait for (EXTEND), and at the last look a
 * person decides (HOLD). A wave passes when every metric does, and is halted by any.
 *
 * What a canary has shown need not be shown again by each ring behind it, which may be small: there
 * a metric that is `vouched` for passes at the last look unless its own estimate is beyond the
 * margin. A change that is worse by the margin still passes with no more than the chance `pass`:
 * it has to pass its canary first.
 *
 * Both errors are kept over all looks and metrics: a change that is worse by just the margin passes
 * with at most the chance `pass`, one that does nothing is halted with at most the chance `halt`.
 * PASS is decided at planned looks alone. HALT has four fifths of its error for those and one fifth
 * for the time between them, where a confidence sequence may be looked at whenever one likes.
 * docs/gates.md has it in plain words, with figures.
 */
#ifndef LKS_CORE_EVIDENCE_H
#define LKS_CORE_EVIDENCE_H

#include "base/arena.h"
#include "core/stats/estimate.h"
#include "core/stats/sequential.h"
#include "model/record/record_words.h"

#define LKS_EVIDENCE_PASS 0.05 /* the errors, where nothing else is wanted */
#define LKS_EVIDENCE_HALT 0.05

/* Before the wave ------------------------------------------------------------------------------ */

/* When it is looked at, and how sure one has to be then. A value without pointers. */
struct lks_evidence_plan {
    size_t looks;
    double at[LKS_LOOKS_MAX];                        /* parts of the soak: rising, the last is 1 */
    size_t tests;                                    /* metrics and counts together */
    double pass_level[LKS_LOOKS_MAX];                /* one-sided, for each metric */
    double halt_level[LKS_LOOKS_MAX], between_level; /* the same, shared among the tests */
    double count_limit;                              /* ln of what counted evidence has to reach */
};

/* Looks after a 24th, a sixth, a half and all of the soak: 1, 4, 12 and 24 hours of a day. */
extern const double lks_evidence_at[4];

/* At most LKS_LOOKS_MAX looks and LKS_TESTS_MAX tests, at least one of each. */
struct lks_evidence_plan lks_evidence_plan(const double *at, size_t looks, size_t tests,
                                           double pass, double halt);

/* The same without its planned looks, which take a while to compute: for LKS_LOOK_BETWEEN alone. */
struct lks_evidence_plan lks_evidence_plan_between(size_t tests, double halt);

/* The smallest loss, in the margin's unit, that is not passed with this chance at the last look,
 * and the one that is halted with it, for a critical metric whose units gain with a spread of
 * `sigma`. */
struct lks_evidence_power {
    double not_passed, halted;
};
struct lks_evidence_power lks_evidence_power(const struct lks_evidence_plan *plan, size_t canaries,
                                             size_t controls, double sigma, double margin,
                                             double chance);

/* What was measured ---------------------------------------------------------------------------- */

enum lks_scale {
    LKS_SCALE_RATIO,    /* 100 ln(after / before): per cent of each unit's own level */
    LKS_SCALE_BASELINE, /* per cent of the mean of the canaries before: where a 0 may come */
    LKS_SCALE_OWN,      /* in the metric's own unit */
};

/* The median of a unit over a window before, and over one after. Several of one unit (nodes of a
 * domain, for a metric of the fabric) are folded to their median: they are not independent. NaN is
 * what is not there. */
struct lks_unit_value {
    uint32_t unit;
    double before, after;
};

struct lks_compared {
    struct lks_str name; /* the caller's */
    enum lks_scale scale;
    bool lower_is_better, critical;
    double margin;                                 /* above 0 */
    const struct lks_unit_value *canary, *control; /* the caller's */
    size_t canary_count, control_count;
    size_t expected; /* canary units that should have been measured */
    bool vouched;    /* a canary of nodes like these passed it */
};

/* Events, counted. Fed by the caller at each look with units that had their first one: a node that
 * flaps a thousand times is one node. */
struct lks_counted {
    struct lks_str name;
    struct lks_event_split split; /* canaries against controls; all 0: there are none */
    struct lks_event_rate rate;   /* canaries against what is normal; all 0: it is not known */
    struct lks_sprt times;        /* the same against LKS_COUNTED_TIMES of it */
};

#define LKS_COUNTED_TIMES 10

/* From totals of a wave: units that had an event, and exposure (hours of units until their first).
 * `normal` is the rate for a unit of exposure, 0 where it is not known. */
struct lks_counted lks_evidence_counted_totals(struct lks_str name, uint64_t canary,
                                               double canary_exposure, uint64_t control,
                                               double control_exposure, double normal);

/* Canaries against what is normal, from all that there is of them. */
void lks_evidence_counted_known(struct lks_counted *c, uint64_t canary, double canary_exposure,
                                double normal);

/* How much likelier what happened is if the change did it: the logarithm. It may be looked at as
 * often as one likes. */
double lks_evidence_counted_ln(const struct lks_counted *c);

/* What came after that, of another wave, say: canaries against controls alone. Where one side was
 * not there, nothing is compared. */
void lks_evidence_counted_feed(struct lks_counted *c, uint64_t canary, double canary_exposure,
                               uint64_t control, double control_exposure);

/* What halts at once: attestation that does not match, a fatal Xid, wrong results, a node that did
 * not come back. `always`: controls that have it, too, are no excuse. */
struct lks_hard_fail {
    struct lks_str name;
    bool always;
    size_t canaries, controls; /* that have it */
};

struct lks_soak {
    double gpu_hours, gpu_hours_wanted; /* under load */
    double wall_hours, wall_hours_wanted;
};

#define LKS_LOOK_BETWEEN SIZE_MAX

struct lks_evidence {
    const struct lks_evidence_plan *plan;
    size_t look; /* which of the planned ones this is, or LKS_LOOK_BETWEEN */
    const struct lks_compared *metrics;
    size_t metric_count;
    const struct lks_counted *counted;
    size_t counted_count;
    const struct lks_hard_fail *hard;
    size_t hard_count;
    struct lks_soak soak;
    uint64_t seed; /* for relabellings that are too many to look at all */
};

/* The verdict ---------------------------------------------------------------------------------- */

struct lks_compared_said {
    enum lks_gate_verdict verdict;
    struct lks_str why; /* one sentence, with the name */
    bool by_canary;     /* it passes by what the canary showed, and nothing is against it */
    double estimate;    /* as the metric counts: more step time is positive */
    double worst, best; /* bounds of it, by what decided or by the last look; perhaps infinite */
    double p;           /* the chance of this, or worse, had nothing changed */
    double relabelled;  /* the same by relabelling; negative: it was not needed */
    size_t canaries, controls;
};

struct lks_evidence_said {
    enum lks_gate_verdict verdict;
    struct lks_str why;
    struct lks_compared_said *metrics; /* as many as asked about */
};

/* Texts and `metrics` live in the arena. Fails without memory alone. */
enum lks_code lks_evidence_judge(const struct lks_evidence *q, struct lks_arena *arena,
                                 struct lks_evidence_said *out, struct lks_err *err) LKS_MUST_CHECK;

#endif
