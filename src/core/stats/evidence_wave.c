/* The verdict on a wave: what halts at once, counted events, metrics, and whether the canaries
 * worked at all. */
#include "core/stats/evidence_parts.h"

#include <math.h>

static void say(struct lks_evidence_said *out, enum lks_gate_verdict verdict, struct lks_str why)
{
    if (verdict <= out->verdict && out->why.ptr != NULL)
        return; /* the first of the strictest is named */
    out->verdict = verdict;
    out->why = why;
}

static void judge_hard(const struct lks_evidence *q, struct lks_arena *arena,
                       struct lks_evidence_said *out)
{
    for (size_t i = 0; i < q->hard_count; i++) {
        const struct lks_hard_fail *h = &q->hard[i];
        if (h->canaries == 0 || (h->controls > 0 && !h->always))
            continue;
        say(out, LKS_GATE_HALT,
            lks_arena_format(arena, "%" LKS_STR_FMT " on %zu of the canaries%s",
                             LKS_STR_ARG(h->name), h->canaries,
                             h->controls == 0 ? " and on no control" : ""));
    }
}

#define RATE_PRIOR  4.0  /* rates of about so many times the normal one are looked for */
#define NORMAL_MOST 1e12 /* and no less than the inverse: what numbers can be computed with */
#define MISSED      0.1  /* the chance to take LKS_COUNTED_TIMES the normal rate for less */

void lks_evidence_counted_feed(struct lks_counted *c, uint64_t canary, double canary_exposure,
                               uint64_t control, double control_exposure)
{
    double share = canary_exposure / (canary_exposure + control_exposure);
    if (!(share > 0 && share < 1))
        return;
    if (c->split.prior_canary <= 0)
        c->split = (struct lks_event_split){.prior_canary = 1, .prior_control = 1};
    lks_sequential_event_split_feed(&c->split, (double)canary, (double)control, share);
}

struct lks_counted lks_evidence_counted_totals(struct lks_str name, uint64_t canary,
                                               double canary_exposure, uint64_t control,
                                               double control_exposure, double normal)
{
    struct lks_counted c = {.name = name};
    lks_evidence_counted_feed(&c, canary, canary_exposure, control, control_exposure);
    lks_evidence_counted_known(&c, canary, canary_exposure, normal);
    return c;
}

void lks_evidence_counted_known(struct lks_counted *c, uint64_t canary, double canary_exposure,
                                double normal)
{
    if (!(normal > 1 / NORMAL_MOST && normal < NORMAL_MOST))
        return; /* nothing that anybody knows */
    double exposure = fmax(canary_exposure, 0);
    c->rate =
        (struct lks_event_rate){.rate = normal, .shape = 1, .inverse = 1 / (RATE_PRIOR * normal)};
    c->times =
        lks_sequential_sprt_rates(LKS_EVIDENCE_HALT, MISSED, normal, LKS_COUNTED_TIMES * normal);
    lks_sequential_event_rate_feed(&c->rate, (double)canary, exposure);
    lks_sequential_sprt_feed(&c->times, (double)canary, exposure);
}

/* The mean of evidences is evidence, too: as they are now, since the most that each ever was may be
 * of different times. */
double lks_evidence_counted_ln(const struct lks_counted *c)
{
    const double all[] = {c->rate.ln_e, c->times.ln_ratio, c->split.ln_e};
    size_t count = c->split.prior_canary > 0 ? 3 : 2;
    double most = fmax(fmax(all[0], all[1]), count == 3 ? all[2] : all[0]), sum = 0;
    if (!(c->rate.rate > 0))
        return c->split.ln_most;
    for (size_t i = 0; i < count; i++)
        sum += exp(all[i] - most);
    return most + log(sum / (double)count);
}

static void judge_counted(const struct lks_evidence *q, struct lks_arena *arena,
                          struct lks_evidence_said *out)
{
    for (size_t i = 0; i < q->counted_count; i++) {
        const struct lks_counted *c = &q->counted[i];
        double ln = lks_evidence_counted_ln(c);
        if (ln < q->plan->count_limit)
            continue;
        say(out, LKS_GATE_HALT,
            lks_arena_format(arena,
                             "%" LKS_STR_FMT ": %g canaries and %g controls had it, which is %.3g "
                             "times likelier if the change did it",
                             LKS_STR_ARG(c->name), fmax(c->split.canary, c->rate.events),
                             c->split.control, exp(fmin(ln, 700))));
    }
}

/* Metrics -------------------------------------------------------------------------------------- */

static size_t count_halts(const struct lks_evidence *q, const struct lks_evidence_said *out)
{
    size_t n = 0;
    for (size_t i = 0; i < q->metric_count; i++)
        n += out->metrics[i].verdict == LKS_GATE_HALT;
    for (size_t i = 0; i < q->counted_count; i++)
        n += lks_evidence_counted_ln(&q->counted[i]) >= q->plan->count_limit;
    return n;
}

/* Holm: each one that halts leaves its part of the error to the others. It changes no wave's
 * verdict, but names all that are at fault. */
static void judge_again(const struct lks_evidence *q, const struct lks_gains *gains,
                        struct lks_arena *arena, struct lks_evidence_said *out)
{
    size_t tests = q->plan->tests, before = 0;
    for (size_t n = count_halts(q, out); n > before && n < tests; n = count_halts(q, out)) {
        before = n;
        for (size_t i = 0; i < q->metric_count; i++) {
            if (out->metrics[i].verdict != LKS_GATE_HALT)
                lks_evidence_metric(q, &q->metrics[i], &gains[i],
                                    (double)tests / (double)(tests - n), arena, &out->metrics[i]);
        }
    }
}

static bool judge_metrics(const struct lks_evidence *q, struct lks_arena *arena,
                          struct lks_evidence_said *out)
{
    struct lks_gains *gains = lks_arena_array(arena, q->metric_count + 1, sizeof(*gains));
    out->metrics = lks_arena_array(arena, q->metric_count + 1, sizeof(*out->metrics));
    if (gains == NULL || out->metrics == NULL)
        return false;
    for (size_t i = 0; i < q->metric_count; i++) {
        LKS_ASSERT(q->metrics[i].margin > 0);
        if (!lks_evidence_gains(&q->metrics[i], arena, &gains[i]))
            return false;
        lks_evidence_metric(q, &q->metrics[i], &gains[i], 1, arena, &out->metrics[i]);
    }
    judge_again(q, gains, arena, out);
    for (size_t i = 0; i < q->metric_count; i++) {
        if (out->metrics[i].why.ptr == NULL)
            return false;
        if (out->metrics[i].verdict != LKS_GATE_PASS)
            say(out, out->metrics[i].verdict, out->metrics[i].why);
    }
    return true;
}

/* Canaries that did nothing have shown nothing. */
static void judge_soak(const struct lks_evidence *q, struct lks_arena *arena,
                       struct lks_evidence_said *out)
{
    const struct lks_soak *s = &q->soak;
    if (s->wall_hours < s->wall_hours_wanted)
        say(out, LKS_GATE_EXTEND,
            lks_arena_format(arena, "%.1f of %.1f hours have passed", s->wall_hours,
                             s->wall_hours_wanted));
    else if (s->gpu_hours < s->gpu_hours_wanted)
        say(out, LKS_GATE_HOLD,
            lks_arena_format(arena,
                             "the canaries were idle: %.1f of %.1f GPU-hours under load in %.1f "
                             "hours",
                             s->gpu_hours, s->gpu_hours_wanted, s->wall_hours));
}

enum lks_code lks_evidence_judge(const struct lks_evidence *q, struct lks_arena *arena,
                                 struct lks_evidence_said *out, struct lks_err *err)
{
    struct lks_evidence_said said = {.verdict = LKS_GATE_PASS};
    LKS_ASSERT(q->metric_count + q->counted_count <= q->plan->tests);
    judge_hard(q, arena, &said);
    judge_counted(q, arena, &said);
    if (!judge_metrics(q, arena, &said))
        return lks_arena_fail(arena, err);
    judge_soak(q, arena, &said);
    if (said.verdict == LKS_GATE_PASS)
        said.why = q->metric_count > 0
                       ? lks_arena_format(arena, "all of %zu metrics are within their margins",
                                          q->metric_count)
                       : LKS_STR("nothing is measured");
    if (said.why.ptr == NULL)
        return lks_arena_fail(arena, err);
    *out = said;
    return LKS_OK;
}
