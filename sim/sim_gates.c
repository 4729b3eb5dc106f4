/*
 * How often the gate is wrong.
 *
 * Waves are invented, and the production gate judges them. Nodes differ by 1.5 %, the median of a
 * node over a day is off by 0.4 %: partly by what the node happened to run in that window, partly
 * by noise that lasts (samples follow each other with a correlation of 0.9). The whole fleet drifts
 * alike. Four metrics are watched, and crashes at the rate of a large training run; the change may
 * cost something on one of the metrics, or bring crashes. The gate looks at 1, 4, 12 and 24 hours
 * as planned, and every other hour in between.
 *
 * Rings behind a canary are judged with what that showed: a canary that does not pass has none.
 *
 *     sim_gates               what is promised, on a moderate number of waves
 *     sim_gates 10000         tables for docs/gates.md, of so many waves a row
 *     sim_gates 10000 5       the same from another first seed
 */
#include "base/rng.h"
#include "core/stats/evidence.h"
#include "core/stats/special.h"
#include "tests/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seeds below FIRST were looked at while the rule was made; those from it on were not. */
#define FIRST     UINT64_C(1000001)
#define METRICS   4
#define NODES_MAX 16
#define SAMPLES   96 /* of a window: every quarter of an hour of a day */
#define HOUR      4
#define NODE_SD   1.5
#define WINDOW_SD 0.35
#define SAMPLE_SD 0.4
#define FOLLOWS   0.9
#define DRIFT_SD  0.5
#define CRASHES   1.579e-4 /* of a node in an hour */
#define POOLED    0.01     /* one side of 98 %, as others judge pooled samples */

static const struct {
    const char *name;
    bool lower_is_better, critical;
    double margin;
} watched[METRICS] = {
    {"tokens/s", false, true, 1},
    {"step time", true, true, 1},
    {"memory bandwidth", false, true, 1},
    {"busbw", false, false, 2},
};

enum weather { PLAIN, WILD, UNEVEN };

struct setup {
    const char *name;
    size_t canaries, controls;
    double loss;    /* of tokens/s, per cent */
    double crashes; /* of canaries, times the normal rate */
    enum weather weather;
};

static const struct setup setups[] = {
    {"8 v 8, healthy", 8, 8, 0, 1, PLAIN},
    {"8 v 8, -0.5 %", 8, 8, 0.5, 1, PLAIN},
    {"8 v 8, -1 %", 8, 8, 1, 1, PLAIN},
    {"8 v 8, -1.5 %", 8, 8, 1.5, 1, PLAIN},
    {"8 v 8, -2 %", 8, 8, 2, 1, PLAIN},
    {"4 v 8, healthy", 4, 8, 0, 1, PLAIN},
    {"4 v 8, -1 %", 4, 8, 1, 1, PLAIN},
    {"4 v 8, -2 %", 4, 8, 2, 1, PLAIN},
    {"3 v 12, healthy", 3, 12, 0, 1, PLAIN},
    {"3 v 12, -1 %", 3, 12, 1, 1, PLAIN},
    {"3 v 12, -2 %", 3, 12, 2, 1, PLAIN},
    {"4 v 4, healthy", 4, 4, 0, 1, PLAIN},
    {"4 v 4, -1 %", 4, 4, 1, 1, PLAIN},
    {"4 v 4, -2 %", 4, 4, 2, 1, PLAIN},
    {"16 v 16, healthy", 16, 16, 0, 1, PLAIN},
    {"16 v 16, -1 %", 16, 16, 1, 1, PLAIN},
    {"16 v 16, -2 %", 16, 16, 2, 1, PLAIN},
    {"8 v 8, wild nodes, healthy", 8, 8, 0, 1, WILD},
    {"8 v 8, wild nodes, -1 %", 8, 8, 1, 1, WILD},
    {"8 v 8, wild nodes, -2 %", 8, 8, 2, 1, WILD},
    {"8 v 8, restless canaries, healthy", 8, 8, 0, 1, UNEVEN},
    {"8 v 8, restless canaries, -1 %", 8, 8, 1, 1, UNEVEN},
    {"8 v 8, restless canaries, -2 %", 8, 8, 2, 1, UNEVEN},
    {"8 v 8, crashes x 10", 8, 8, 0, 10, PLAIN},
    {"8 v 8, crashes x 30", 8, 8, 0, 30, PLAIN},
    {"8 v 8, crashes x 100", 8, 8, 0, 100, PLAIN},
};

/* A ring behind a canary of 8 v 8 (of setups[].name), which may do worse than that did. */
static const struct ring {
    const char *name, *canary;
    struct setup setup;
} rings[] = {
    {"2 v 4, healthy", "8 v 8, healthy", {"", 2, 4, 0, 1, PLAIN}},
    {"2 v 4, -1 %", "8 v 8, -1 %", {"", 2, 4, 1, 1, PLAIN}},
    {"2 v 4, -2 %", "8 v 8, -2 %", {"", 2, 4, 2, 1, PLAIN}},
    {"2 v 4, -1 % in the ring alone", "8 v 8, healthy", {"", 2, 4, 1, 1, PLAIN}},
    {"2 v 4, -2 % in the ring alone", "8 v 8, healthy", {"", 2, 4, 2, 1, PLAIN}},
    {"16 v 16, healthy", "8 v 8, healthy", {"", 16, 16, 0, 1, PLAIN}},
    {"16 v 16, -1 %", "8 v 8, -1 %", {"", 16, 16, 1, 1, PLAIN}},
    {"16 v 16, -2 %", "8 v 8, -2 %", {"", 16, 16, 2, 1, PLAIN}},
    {"16 v 16, -1 % in the ring alone", "8 v 8, healthy", {"", 16, 16, 1, 1, PLAIN}},
    {"16 v 16, -2 % in the ring alone", "8 v 8, healthy", {"", 16, 16, 2, 1, PLAIN}},
};

/* Chance ------------------------------------------------------------------------------------ */

static double uniform(struct lks_rng *rng)
{
    return ((double)(lks_rng_next(rng) >> 12) + 0.5) / 4503599627370496.0;
}

static double normal(struct lks_rng *rng)
{
    double r = sqrt(-2 * log(uniform(rng)));
    return r * cos(2 * M_PI * uniform(rng));
}

/* How far a window of a node is off, in standard deviations. In wild weather a few are far off (t
 * with 3 degrees of freedom); in an uneven one those of canaries are twice as far. */
static double offset_of(struct lks_rng *rng, const struct setup *setup, bool canary)
{
    double z = normal(rng), squares = 0;
    if (setup->weather == UNEVEN && canary)
        return 2 * z;
    for (int i = 0; setup->weather == WILD && i < 3; i++) {
        double v = normal(rng);
        squares += v * v;
    }
    return setup->weather == WILD ? z / sqrt(squares) : z;
}

/* A wave ------------------------------------------------------------------------------------ */

/* What one node shows of one metric: logarithms times a hundred, so they are per cent. */
struct series {
    double before;                          /* the median of the window before */
    double after[SAMPLES], sorted[SAMPLES]; /* in their order, and those so far by size */
};

struct wave {
    const struct setup *setup;
    struct lks_rng rng;
    struct series series[METRICS][2 * NODES_MAX]; /* canaries, then controls */
    double crash[2 * NODES_MAX];                  /* when, in hours; perhaps after the end */
    size_t seen;                                  /* samples so far */
    bool vouched;                                 /* a canary passed it */
};

static size_t nodes_of(const struct wave *w)
{
    return w->setup->canaries + w->setup->controls;
}

/* `sorted` has `count` values, and then one more. */
static void insert(double *sorted, size_t count, double value)
{
    size_t at = count;
    for (; at > 0 && sorted[at - 1] > value; at--)
        sorted[at] = sorted[at - 1];
    sorted[at] = value;
}

static double middle(const double *sorted, size_t count)
{
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* A window of samples around a level, noise following noise, and the fleet's drift on top. */
static void window(struct lks_rng *rng, double level, const double *drift, double *out)
{
    double noise = SAMPLE_SD * normal(rng), fresh = SAMPLE_SD * sqrt(1 - FOLLOWS * FOLLOWS);
    for (size_t i = 0; i < SAMPLES; i++) {
        out[i] = level + noise + drift[i];
        noise = FOLLOWS * noise + fresh * normal(rng);
    }
}

/* A step between the windows, and the rhythm of a day. */
static void drift_of(struct lks_rng *rng, double step, double *drift)
{
    double phase = 2 * M_PI * uniform(rng);
    for (size_t i = 0; i < SAMPLES; i++)
        drift[i] = step + 0.3 * sin(phase + 2 * M_PI * (double)i / SAMPLES);
}

static void draw_metric(struct wave *w, size_t metric)
{
    double before[SAMPLES], after[SAMPLES], samples[SAMPLES], sorted[SAMPLES];
    drift_of(&w->rng, 0, before);
    drift_of(&w->rng, DRIFT_SD * normal(&w->rng), after);
    for (size_t n = 0; n < nodes_of(w); n++) {
        struct series *s = &w->series[metric][n];
        bool canary = n < w->setup->canaries;
        double level = NODE_SD * normal(&w->rng);
        double loss = metric == 0 && canary ? w->setup->loss : 0;
        window(&w->rng, level + WINDOW_SD * offset_of(&w->rng, w->setup, canary), before, samples);
        for (size_t i = 0; i < SAMPLES; i++)
            insert(sorted, i, samples[i]);
        s->before = middle(sorted, SAMPLES);
        level += WINDOW_SD * offset_of(&w->rng, w->setup, canary) - loss;
        window(&w->rng, level, after, s->after);
    }
}

static void wave_init(struct wave *w, const struct setup *setup, uint64_t seed)
{
    memset(w, 0, sizeof(*w));
    w->setup = setup;
    w->rng.state = seed * UINT64_C(0xd1342543de82ef95);
    for (size_t i = 0; i < METRICS; i++)
        draw_metric(w, i);
    for (size_t n = 0; n < nodes_of(w); n++) {
        double rate = CRASHES * (n < setup->canaries ? setup->crashes : 1);
        w->crash[n] = -log(uniform(&w->rng)) / rate;
    }
}

/* An hour passes. */
static void listen(struct wave *w, size_t until)
{
    for (; w->seen < until; w->seen++) {
        for (size_t m = 0; m < METRICS; m++) {
            for (size_t n = 0; n < nodes_of(w); n++)
                insert(w->series[m][n].sorted, w->seen, w->series[m][n].after[w->seen]);
        }
    }
}

/* The gate ---------------------------------------------------------------------------------- */

static void values_of(const struct wave *w, size_t metric, struct lks_unit_value *out)
{
    for (size_t n = 0; n < nodes_of(w); n++) {
        const struct series *s = &w->series[metric][n];
        double sign = watched[metric].lower_is_better ? -1 : 1;
        out[n] = (struct lks_unit_value){(uint32_t)n, exp(sign * s->before / 100),
                                         exp(sign * middle(s->sorted, w->seen) / 100)};
    }
}

static struct lks_compared compared(const struct wave *w, size_t metric,
                                    const struct lks_unit_value *values)
{
    return (struct lks_compared){.name = lks_str_from(watched[metric].name),
                                 .lower_is_better = watched[metric].lower_is_better,
                                 .critical = watched[metric].critical,
                                 .margin = watched[metric].margin,
                                 .canary = values,
                                 .control = values + w->setup->canaries,
                                 .canary_count = w->setup->canaries,
                                 .control_count = w->setup->controls,
                                 .expected = w->setup->canaries,
                                 .vouched = w->vouched};
}

static struct lks_counted crashes(const struct wave *w, double hours)
{
    uint64_t events[2] = {0};
    double exposure[2] = {0};
    for (size_t n = 0; n < nodes_of(w); n++) {
        size_t control = n >= w->setup->canaries;
        events[control] += w->crash[n] <= hours;
        exposure[control] += fmin(w->crash[n], hours);
    }
    return lks_evidence_counted_totals(LKS_STR("crashes"), events[0], exposure[0], events[1],
                                       exposure[1], CRASHES);
}

static enum lks_gate_verdict judge(const struct wave *w, const struct lks_evidence_plan *plan,
                                   size_t look)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_unit_value values[METRICS][2 * NODES_MAX];
    struct lks_compared metrics[METRICS];
    struct lks_counted counted = crashes(w, (double)w->seen / HOUR);
    struct lks_evidence_said said = {0};
    struct lks_err err = {0};
    struct lks_evidence q = {.plan = plan,
                             .look = look,
                             .metrics = metrics,
                             .metric_count = METRICS,
                             .counted = &counted,
                             .counted_count = 1,
                             .seed = 1};
    for (size_t i = 0; i < METRICS; i++) {
        values_of(w, i, values[i]);
        metrics[i] = compared(w, i, values[i]);
    }
    lks_arena_init(&arena, 1 << 20);
    (void)CHECK_CODE(lks_evidence_judge(&q, &arena, &said, &err), LKS_OK);
    return said.verdict;
}

/* Until it passes, is halted, or nobody knows at the end. */
static enum lks_gate_verdict soak(struct wave *w, const struct lks_evidence_plan *plan)
{
    size_t look = 0;
    for (;;) {
        listen(w, w->seen + HOUR);
        bool planned = (double)w->seen >= plan->at[look] * SAMPLES - 1e-9;
        enum lks_gate_verdict v = judge(w, plan, planned ? look : LKS_LOOK_BETWEEN);
        look += planned;
        if (v == LKS_GATE_PASS || v == LKS_GATE_HALT || look == plan->looks)
            return v;
    }
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Mann and Whitney: the chance that the first numbers would be as far below the second had they
 * come from one heap; normal, with a correction for continuity. Both are sorted. */
static double mann_whitney(double *x, size_t count, double *y, size_t others)
{
    double u = 0, ties = 0, m = (double)count, n = (double)others, all = m + n;
    qsort(x, count, sizeof(*x), by_value);
    qsort(y, others, sizeof(*y), by_value);
    for (size_t i = 0, j = 0; i < count || j < others;) {
        double value = j == others || (i < count && x[i] < y[j]) ? x[i] : y[j];
        size_t here = 0, there = 0;
        while (i + here < count && x[i + here] == value)
            here++;
        while (j + there < others && y[j + there] == value)
            there++;
        double t = (double)(here + there);
        u += (double)here * ((double)j + (double)there / 2);
        ties += t * t * t - t;
        i += here;
        j += there;
    }
    double variance = m * n / 12 * (all + 1 - ties / (all * (all - 1)));
    return variance > 0 ? lks_special_normal_lower((u - m * n / 2 + 0.5) / sqrt(variance)) : 1;
}

/* What others would have said: all samples of all nodes in one heap, at the end. */
static bool pooled_halts(struct wave *w)
{
    double canary[NODES_MAX * SAMPLES], control[NODES_MAX * SAMPLES];
    size_t canaries = w->setup->canaries, controls = w->setup->controls;
    for (size_t n = 0; n < canaries; n++)
        memcpy(&canary[n * SAMPLES], w->series[0][n].after, sizeof(w->series[0][n].after));
    for (size_t n = 0; n < controls; n++)
        memcpy(&control[n * SAMPLES], w->series[0][canaries + n].after,
               sizeof(w->series[0][n].after));
    return mann_whitney(canary, canaries * SAMPLES, control, controls * SAMPLES) < POOLED;
}

/* Many waves -------------------------------------------------------------------------------- */

struct tally {
    uint64_t waves, verdicts[LKS_GATE_COUNT], pooled;
    double hours;    /* of those that were decided, together */
    uint64_t before; /* of rings: their canary did not pass */
};

static struct tally run(const struct setup *setup, uint64_t first, uint64_t waves)
{
    static struct wave w; /* large */
    struct tally t = {.waves = waves};
    struct lks_evidence_plan plan =
        lks_evidence_plan(lks_evidence_at, 4, METRICS + 1, LKS_EVIDENCE_PASS, LKS_EVIDENCE_HALT);
    for (uint64_t i = 0; i < waves; i++) {
        wave_init(&w, setup, first + i);
        enum lks_gate_verdict v = soak(&w, &plan);
        t.verdicts[v]++;
        t.hours += v == LKS_GATE_HOLD ? 0 : (double)w.seen / HOUR;
        t.pooled += pooled_halts(&w);
    }
    return t;
}

static const struct setup *setup_of(const char *name)
{
    size_t i = 0;
    while (strcmp(setups[i].name, name) != 0)
        i++;
    return &setups[i];
}

/* A canary, and the ring behind it where it passes. */
static struct tally run_ring(const struct ring *ring, uint64_t first, uint64_t waves)
{
    static struct wave w; /* large */
    const struct setup *canary = setup_of(ring->canary);
    struct tally t = {.waves = waves};
    struct lks_evidence_plan plan =
        lks_evidence_plan(lks_evidence_at, 4, METRICS + 1, LKS_EVIDENCE_PASS, LKS_EVIDENCE_HALT);
    for (uint64_t i = 0; i < waves; i++) {
        wave_init(&w, canary, first + i);
        if (soak(&w, &plan) != LKS_GATE_PASS) {
            t.before++;
            continue;
        }
        wave_init(&w, &ring->setup, ~(first + i));
        w.vouched = true;
        t.verdicts[soak(&w, &plan)]++;
    }
    return t;
}

static double percent(const struct tally *t, uint64_t of)
{
    return 100 * (double)of / (double)t->waves;
}

static void table(uint64_t waves, uint64_t first)
{
    printf(
        "| wave | PASS | HOLD | HALT | hours until PASS or HALT | pooled samples would halt |\n");
    printf("|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < LKS_COUNT(setups); i++) {
        struct tally t = run(&setups[i], first, waves);
        uint64_t decided = t.verdicts[LKS_GATE_PASS] + t.verdicts[LKS_GATE_HALT];
        printf("| %s | %.1f %% | %.1f %% | %.1f %% | %.1f | %.1f %% |\n", setups[i].name,
               percent(&t, t.verdicts[LKS_GATE_PASS]), percent(&t, t.verdicts[LKS_GATE_HOLD]),
               percent(&t, t.verdicts[LKS_GATE_HALT]), decided > 0 ? t.hours / (double)decided : 0,
               percent(&t, t.pooled));
        fflush(stdout);
    }
}

static void table_of_rings(uint64_t waves, uint64_t first)
{
    printf("\n| ring behind a canary of 8 v 8 | the canary does not pass | PASS | HOLD | HALT |\n");
    printf("|---|---|---|---|---|\n");
    for (size_t i = 0; i < LKS_COUNT(rings); i++) {
        struct tally t = run_ring(&rings[i], first, waves);
        printf("| %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", rings[i].name,
               percent(&t, t.before), percent(&t, t.verdicts[LKS_GATE_PASS]),
               percent(&t, t.verdicts[LKS_GATE_HOLD]), percent(&t, t.verdicts[LKS_GATE_HALT]));
        fflush(stdout);
    }
}

/* What is promised: per cent of the waves of a setup. */
static const struct {
    const char *setup;
    enum lks_gate_verdict verdict;
    double least, most;
} promises[] = {
    {"8 v 8, healthy", LKS_GATE_HALT, 0, 5},
    {"8 v 8, healthy", LKS_GATE_PASS, 75, 100},
    {"8 v 8, -1 %", LKS_GATE_PASS, 0, 10},
    {"8 v 8, -2 %", LKS_GATE_HALT, 90, 100},
    {"4 v 8, healthy", LKS_GATE_HALT, 0, 5},
    {"4 v 8, -1 %", LKS_GATE_PASS, 0, 10},
    {"3 v 12, healthy", LKS_GATE_HALT, 0, 5},
    {"3 v 12, -1 %", LKS_GATE_PASS, 0, 10},
    {"4 v 4, healthy", LKS_GATE_HALT, 0, 5},
    {"4 v 4, -1 %", LKS_GATE_PASS, 0, 10},
    {"8 v 8, wild nodes, healthy", LKS_GATE_HALT, 0, 5},
    {"8 v 8, wild nodes, -1 %", LKS_GATE_PASS, 0, 10},
};

/* Those of one setup, of the same waves. */
static bool check_setup(const struct setup *setup)
{
    struct tally t = {0};
    for (size_t i = 0; i < LKS_COUNT(promises); i++) {
        if (strcmp(setup->name, promises[i].setup) != 0)
            continue;
        if (t.waves == 0)
            t = run(setup, FIRST, WAVES);
        double share = percent(&t, t.verdicts[promises[i].verdict]);
        lks_test_case("%s: %.1f %%", setup->name, share);
        (void)CHECK(share >= promises[i].least && share <= promises[i].most);
    }
    return t.waves > 0;
}

static void test_promises(void)
{
    size_t setups_met = 0;
    for (size_t i = 0; i < LKS_COUNT(setups); i++)
        setups_met += check_setup(&setups[i]);
    (void)CHECK_INT(setups_met, 11); /* each name above is that of a setup */
}

/* The same of rings, of all that began with their canary. */
static const struct {
    const char *ring;
    enum lks_gate_verdict verdict;
    double least, most;
} ring_promises[] = {
    {"2 v 4, healthy", LKS_GATE_HALT, 0, 5},
    {"2 v 4, healthy", LKS_GATE_PASS, 75, 100},
    {"2 v 4, -1 %", LKS_GATE_PASS, 0, 5},
    {"2 v 4, -2 % in the ring alone", LKS_GATE_PASS, 0, 10},
    {"16 v 16, healthy", LKS_GATE_HALT, 0, 5},
    {"16 v 16, -1 %", LKS_GATE_PASS, 0, 5},
};

static void test_rings(void)
{
    struct tally t = {0};
    for (size_t i = 0, at = LKS_COUNT(rings); i < LKS_COUNT(ring_promises); i++) {
        size_t before = at;
        for (at = 0; strcmp(rings[at].name, ring_promises[i].ring) != 0;)
            at++;
        if (at != before)
            t = run_ring(&rings[at], FIRST, WAVES / 2);
        double share = percent(&t, t.verdicts[ring_promises[i].verdict]);
        lks_test_case("%s: %.1f %%", rings[at].name, share);
        (void)CHECK(share >= ring_promises[i].least && share <= ring_promises[i].most);
    }
}

/* The waves are such that a plainer gate would fail: pooled samples halt many that are healthy. */
static void test_pooled(void)
{
    struct tally t = run(&setups[0], FIRST, WAVES);
    (void)CHECK(percent(&t, t.pooled) > 25);
}

/* Against published values. */
static void test_mann_whitney(void)
{
    double x[] = {370.1, 373.0, 371.5, 374.2, 372.6}, tied[] = {1, 2, 2, 3, 5};
    double y[] = {374.8, 373.1, 375.6, 372.2, 374.0, 376.3}, others[] = {2, 3, 4, 4, 6, 7};
    (void)CHECK_NEAR(mann_whitney(x, 5, y, 6), 0.04141871257940315, 1e-9);
    (void)CHECK_NEAR(mann_whitney(tied, 5, others, 6), 0.069312939939463815, 1e-9);
}

int main(int argc, char **argv)
{
    uint64_t waves = 0, first = FIRST;
    if (argc > 1 && lks_str_number(lks_str_from(argv[1]), UINT32_MAX, &waves)) {
        if (argc > 2 && !lks_str_number(lks_str_from(argv[2]), UINT64_MAX, &first))
            return EXIT_FAILURE;
        table(waves, first);
        table_of_rings(waves, first);
        return EXIT_SUCCESS;
    }
    return lks_test_main((const struct lks_test[]){
        {"gates: what is promised", test_promises},
        {"gates: rings behind a canary", test_rings},
        {"gates: ranks", test_mann_whitney},
        {"gates: pooled samples do not keep it", test_pooled},
        {0},
    });
}
