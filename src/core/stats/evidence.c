/* One metric of a wave: its units, its bounds, its verdict. evidence_wave.c has the wave. */
#include "core/stats/evidence_parts.h"
#include "core/stats/special.h"

#include <math.h>
#include <stdlib.h>

#define PLANNED     0.8     /* of the error of HALT, for planned looks; the rest for between them */
#define NU_BETWEEN  10.0    /* fewer degrees of freedom are judged at planned looks alone */
#define RELABELLING 20000   /* rounds at most, where there are too many ways to look at all */
#define DRAWS_MAX   2000000 /* of units, for all rounds together: large waves get fewer rounds */
#define RATIO_LEAST 0.001   /* a unit that came to a stop lost everything, which has no logarithm */

const double lks_evidence_at[4] = {1.0 / 24, 4.0 / 24, 12.0 / 24, 1};

/* Before the wave ------------------------------------------------------------------------------ */

/* Limits as standard scores become levels, which hold for t as well. */
static void levels_of(enum lks_spending kind, double alpha, const struct lks_evidence_plan *p,
                      double *levels)
{
    lks_sequential_spend_limits(kind, alpha, p->at, p->looks, levels);
    for (size_t i = 0; i < p->looks; i++)
        levels[i] = lks_special_normal_upper(levels[i]);
}

struct lks_evidence_plan lks_evidence_plan(const double *at, size_t looks, size_t tests,
                                           double pass, double halt)
{
    struct lks_evidence_plan p = {.looks = looks, .tests = tests};
    LKS_ASSERT(looks > 0 && looks <= LKS_LOOKS_MAX && tests > 0 && tests <= LKS_TESTS_MAX);
    for (size_t i = 0; i < looks; i++)
        p.at[i] = at[i];
    levels_of(LKS_SPEND_OBF, pass, &p, p.pass_level);
    levels_of(LKS_SPEND_POCOCK, PLANNED * halt / (double)tests, &p, p.halt_level);
    p.between_level = (1 - PLANNED) * halt / (double)tests;
    p.count_limit = log((double)tests / halt);
    return p;
}

struct lks_evidence_plan lks_evidence_plan_between(size_t tests, double halt)
{
    LKS_ASSERT(tests > 0 && tests <= LKS_TESTS_MAX);
    return (struct lks_evidence_plan){.looks = 1,
                                      .at = {1},
                                      .tests = tests,
                                      .pass_level = {LKS_EVIDENCE_PASS},
                                      .halt_level = {PLANNED * halt / (double)tests},
                                      .between_level = (1 - PLANNED) * halt / (double)tests,
                                      .count_limit = log((double)tests / halt)};
}

struct lks_evidence_power lks_evidence_power(const struct lks_evidence_plan *plan, size_t canaries,
                                             size_t controls, double sigma, double margin,
                                             double chance)
{
    struct lks_power_plan pass = {canaries, controls, sigma, plan->pass_level[plan->looks - 1]};
    struct lks_power_plan halt = {canaries, controls, sigma, plan->halt_level[plan->looks - 1]};
    if (canaries < 2 || controls < 2)
        return (struct lks_evidence_power){HUGE_VAL, HUGE_VAL};
    double se = sigma * sqrt(1 / (double)canaries + 1 / (double)controls);
    double gained = lks_estimate_power_effect(&pass, fmax(1 - chance, pass.alpha));
    double beyond = margin + se * lks_special_normal_quantile(chance);
    return (struct lks_evidence_power){.not_passed = fmax(0, margin - gained),
                                       .halted =
                                           fmax(beyond, lks_estimate_power_effect(&halt, chance))};
}

/* Units ---------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int by_unit(const void *a, const void *b)
{
    const struct lks_unit_value *x = a, *y = b;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static double median(double *v, size_t count)
{
    qsort(v, count, sizeof(*v), by_value);
    return (v[(count - 1) / 2] + v[count / 2]) / 2;
}

static bool is_there(const struct lks_compared *m, const struct lks_unit_value *r)
{
    if (!isfinite(r->before) || !isfinite(r->after))
        return false;
    return m->scale != LKS_SCALE_RATIO || (r->before > 0 && r->after >= 0);
}

/* One reading for each unit, in `out`, which has room for all of them twice and once more. */
static size_t fold(const struct lks_compared *m, const struct lks_unit_value *in, size_t count,
                   struct lks_unit_value *out, double *room)
{
    size_t there = 0, units = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_there(m, &in[i]))
            out[there++] = in[i];
    }
    qsort(out, there, sizeof(*out), by_unit);
    for (size_t i = 0; i < there;) {
        size_t n = 0;
        struct lks_unit_value unit = out[i];
        for (; i + n < there && out[i + n].unit == unit.unit; n++) {
            room[n] = out[i + n].before;
            room[count + n] = out[i + n].after;
        }
        i += n;
        out[units++] = (struct lks_unit_value){unit.unit, median(room, n), median(room + count, n)};
    }
    return units;
}

/* What a unit gained, positive being better. */
static double gain(const struct lks_compared *m, const struct lks_unit_value *r, double base)
{
    double d = r->after - r->before;
    if (m->scale == LKS_SCALE_RATIO)
        d = 100 * log(fmax(r->after / r->before, RATIO_LEAST));
    if (m->scale == LKS_SCALE_BASELINE)
        d *= 100 / base;
    return m->lower_is_better ? -d : d;
}

static double mean_before(const struct lks_unit_value *r, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += r[i].before;
    return count > 0 ? sum / (double)count : 0;
}

bool lks_evidence_gains(const struct lks_compared *m, struct lks_arena *arena,
                        struct lks_gains *out)
{
    size_t most = m->canary_count > m->control_count ? m->canary_count : m->control_count;
    struct lks_unit_value *canary = lks_arena_array(arena, m->canary_count + 1, sizeof(*canary));
    struct lks_unit_value *control = lks_arena_array(arena, m->control_count + 1, sizeof(*control));
    double *room = lks_arena_array(arena, 2 * most + 1, sizeof(*room));
    double *gains = lks_arena_array(arena, m->canary_count + m->control_count + 1, sizeof(*gains));
    if (canary == NULL || control == NULL || room == NULL || gains == NULL)
        return false;
    size_t canaries = fold(m, m->canary, m->canary_count, canary, room);
    size_t controls = fold(m, m->control, m->control_count, control, room);
    double base = mean_before(canary, canaries);
    if (m->scale == LKS_SCALE_BASELINE && !(base > 0))
        canaries = 0; /* there is nothing that it could be a part of */
    for (size_t i = 0; i < canaries; i++)
        gains[i] = gain(m, &canary[i], base);
    for (size_t i = 0; i < controls && canaries > 0; i++)
        gains[canaries + i] = gain(m, &control[i], base);
    *out = (struct lks_gains){gains, canaries, canaries > 0 ? controls : 0};
    return true;
}

/* Bounds --------------------------------------------------------------------------------------- */

/* How many standard errors a confidence sequence is wide, and the level that is of a normal score.
 * For t the score of the same level is taken, which makes it wider where little is known. Effects
 * of about the margin are looked for. One-sided, so half of both sides' error. */
static double level_between(const struct lks_welch *w, double margin, double alpha)
{
    if (w->se == 0 || !(w->nu >= NU_BETWEEN))
        return 0;
    return lks_special_normal_upper(lks_sequential_msprt_half(w->se * w->se, margin, 2 * alpha) /
                                    w->se);
}

/* The level at which HALT is judged now; 0: not at all. `share` is what Holm adds for tests that
 * halted already. */
static double level_of_halt(const struct lks_evidence *q, const struct lks_compared *m,
                            const struct lks_welch *w, double share)
{
    double planned = q->look < q->plan->looks ? q->plan->halt_level[q->look] : 0;
    double between = level_between(w, m->margin, share * q->plan->between_level);
    return fmax(share * planned, between);
}

/* Without an assumption about how gains are spread: would other canaries have looked like this?
 * Where too few units could ever say so, it is not asked. */
static bool relabelling_agrees(const struct lks_evidence *q, const struct lks_gains *g,
                               double shift, double level, struct lks_compared_said *out)
{
    struct lks_rng rng = {q->seed};
    struct lks_arms arms = lks_gains_arms(g);
    uint64_t most = DRAWS_MAX / (g->canaries + g->controls);
    uint64_t rounds = most < RELABELLING ? most + 1 : RELABELLING;
    if (level < 2 * lks_estimate_relabel_least(g->canaries, g->controls) ||
        level < 2 / (double)rounds)
        return true;
    for (size_t i = 0; i < g->canaries; i++)
        g->gains[i] += shift;
    out->relabelled = lks_estimate_relabel(&arms, rounds, &rng).less;
    for (size_t i = 0; i < g->canaries; i++)
        g->gains[i] -= shift;
    return out->relabelled <= level;
}

static bool halts(const struct lks_evidence *q, const struct lks_compared *m,
                  const struct lks_gains *g, const struct lks_welch *w, double share,
                  struct lks_compared_said *out)
{
    double level = level_of_halt(q, m, w, share);
    double best = w->se == 0 ? w->estimate : HUGE_VAL;
    if (level > 0 && w->se > 0)
        best = lks_estimate_welch_upper(w, fmin(level, 0.5));
    bool beyond = best < -m->margin;
    if (!beyond && !(m->critical && best < 0 && w->estimate < -m->margin))
        return false;
    out->best = best;
    return w->se == 0 || relabelling_agrees(q, g, beyond ? m->margin : 0, level, out);
}

/* The verdict ---------------------------------------------------------------------------------- */

/* Numbers as the metric counts, for people. */
static void turn(const struct lks_compared *m, struct lks_compared_said *out)
{
    if (!m->lower_is_better)
        return;
    out->estimate = -out->estimate;
    out->worst = -out->worst;
    out->best = -out->best;
}

static const char *unit_of(const struct lks_compared *m)
{
    return m->scale == LKS_SCALE_OWN ? "" : " %";
}

static struct lks_str sentence(const struct lks_compared *m, const struct lks_compared_said *s,
                               struct lks_arena *arena)
{
    static const char *const ends[] = {
        [LKS_GATE_PASS] = "within its margin",
        [LKS_GATE_EXTEND] = "not sure yet",
        [LKS_GATE_HOLD] = "still not sure at the last evaluation",
        [LKS_GATE_HALT] = "worse than its margin",
    };
    const char *unit = unit_of(m);
    if (s->by_canary)
        return lks_arena_format(arena,
                                "%" LKS_STR_FMT ": %+.2f%s, within its margin of %g%s, at worst "
                                "%+.2f%s: too few to be sure alone, and the canary passed it",
                                LKS_STR_ARG(m->name), s->estimate, unit, m->margin, unit, s->worst,
                                unit);
    if (s->verdict == LKS_GATE_HALT)
        return lks_arena_format(arena, "%" LKS_STR_FMT ": %+.2f%s, at best %+.2f%s: %s of %g%s",
                                LKS_STR_ARG(m->name), s->estimate, unit, s->best, unit,
                                ends[s->verdict], m->margin, unit);
    return lks_arena_format(arena, "%" LKS_STR_FMT ": %+.2f%s, at worst %+.2f%s: %s of %g%s",
                            LKS_STR_ARG(m->name), s->estimate, unit, s->worst, unit,
                            ends[s->verdict], m->margin, unit);
}

/* Too little to say anything, or some of the canaries said nothing. */
static bool lacks(const struct lks_compared *m, const struct lks_gains *g, bool last,
                  struct lks_compared_said *out, struct lks_arena *arena)
{
    if (g->canaries >= 2 && g->controls >= 2 && g->canaries >= m->expected)
        return false;
    out->by_canary = false;
    out->verdict = m->critical || last ? LKS_GATE_HOLD : LKS_GATE_EXTEND;
    out->why = g->canaries < m->expected
                   ? lks_arena_format(arena, "%" LKS_STR_FMT ": %zu of %zu canaries have no data",
                                      LKS_STR_ARG(m->name), m->expected - g->canaries, m->expected)
                   : lks_arena_format(arena,
                                      "%" LKS_STR_FMT ": two units on each side are needed, and "
                                      "there are %zu and %zu",
                                      LKS_STR_ARG(m->name), g->canaries, g->controls);
    return true;
}

/* The bound of the planned evaluation decides. Where it does not pass, the bound of the last
 * evaluation is shown: early ones are too wide to be informative. */
static bool passes(const struct lks_evidence *q, const struct lks_compared *m,
                   const struct lks_welch *w, struct lks_compared_said *out)
{
    if (w->nu == 0 || q->look >= q->plan->looks)
        return false;
    double worst = lks_estimate_welch_lower(w, q->plan->pass_level[q->look]);
    if (worst <= -m->margin)
        return false;
    out->worst = worst;
    return true;
}

void lks_evidence_metric(const struct lks_evidence *q, const struct lks_compared *m,
                         const struct lks_gains *g, double share, struct lks_arena *arena,
                         struct lks_compared_said *out)
{
    struct lks_arms arms = lks_gains_arms(g);
    struct lks_welch w = lks_estimate_welch(&arms);
    size_t end = q->plan->looks - 1;
    *out =
        (struct lks_compared_said){.estimate = w.estimate,
                                   .worst = lks_estimate_welch_lower(&w, q->plan->pass_level[end]),
                                   .best = lks_estimate_welch_upper(&w, q->plan->halt_level[end]),
                                   .p = lks_estimate_welch_less(&w, 0),
                                   .relabelled = -1,
                                   .canaries = g->canaries,
                                   .controls = g->controls};
    bool halted = w.nu > 0 && halts(q, m, g, &w, share, out);
    bool passed = passes(q, m, &w, out);
    out->by_canary = !halted && !passed && q->look == end && m->vouched && w.estimate > -m->margin;
    passed = passed || out->by_canary;
    out->verdict = q->look == end ? LKS_GATE_HOLD : LKS_GATE_EXTEND;
    if (halted || passed)
        out->verdict = halted ? LKS_GATE_HALT : LKS_GATE_PASS;
    turn(m, out);
    if (halted || !lacks(m, g, q->look == end, out, arena))
        out->why = sentence(m, out, arena);
}
