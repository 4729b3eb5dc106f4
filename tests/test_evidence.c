#include "core/stats/evidence.h"

#include "core/stats/ramp.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>

/* The worked example: before and after of four canaries and six controls. */
static const struct lks_unit_value canaries[] = {
    {1, 372.5, 370.9}, {2, 370.8, 369.1}, {3, 374.1, 372.8}, {4, 371.9, 370.6}};
static const struct lks_unit_value controls[] = {{11, 373.3, 373.0}, {12, 369.9, 369.8},
                                                 {13, 372.0, 371.9}, {14, 373.8, 373.2},
                                                 {15, 371.1, 371.0}, {16, 372.7, 372.9}};

static struct lks_compared worked(double margin)
{
    return (struct lks_compared){.name = LKS_STR("bandwidth"),
                                 .scale = LKS_SCALE_BASELINE,
                                 .critical = true,
                                 .margin = margin,
                                 .canary = canaries,
                                 .control = controls,
                                 .canary_count = LKS_COUNT(canaries),
                                 .control_count = LKS_COUNT(controls),
                                 .expected = LKS_COUNT(canaries)};
}

/* One look at the end. */
static struct lks_evidence_plan once(size_t tests)
{
    return lks_evidence_plan((const double[]){1}, 1, tests, LKS_EVIDENCE_PASS, LKS_EVIDENCE_HALT);
}

static struct lks_evidence_said judge(const struct lks_evidence *q, struct lks_arena *arena)
{
    struct lks_evidence_said out = {0};
    struct lks_err err = {0};
    (void)CHECK_CODE(lks_evidence_judge(q, arena, &out, &err), LKS_OK);
    return out;
}

/* Metrics ------------------------------------------------------------------------------------ */

/* Significant but irrelevant: -0.35 % is a pass with a margin of 1 %, and a halt with 0.2 %. */
static void test_worked(void)
{
    static const struct {
        const char *name;
        double margin;
        bool critical;
        enum lks_gate_verdict verdict;
        const char *why;
    } rows[] = {
        {"a margin of 1 %", 1, true, LKS_GATE_PASS, "within its margin of 1 %"},
        {"a margin of .2 %", 0.2, true, LKS_GATE_HALT, "worse than its margin of 0.2 %"},
        {"a margin of .2 %, not critical", 0.2, false, LKS_GATE_HALT, "worse than its margin"},
        {"a margin of .34 %", 0.34, true, LKS_GATE_HALT, "worse than its margin"},
        {"a margin of .34 %, not critical", 0.34, false, LKS_GATE_HOLD, "still not sure"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        struct lks_compared m = worked(rows[i].margin);
        struct lks_evidence_plan plan = once(1);
        struct lks_evidence q = {.plan = &plan, .metrics = &m, .metric_count = 1};
        lks_arena_init(&arena, 1 << 20);
        lks_test_case("%s", rows[i].name);
        m.critical = rows[i].critical;
        struct lks_evidence_said said = judge(&q, &arena);
        (void)CHECK_INT(said.verdict, rows[i].verdict);
        (void)CHECK_HAS(said.metrics[0].why, rows[i].why);
        (void)CHECK_HAS(said.metrics[0].why, "bandwidth: -0.35 %");
        (void)CHECK_NEAR(said.metrics[0].estimate, -0.3514, 1e-4);
        (void)CHECK_NEAR(said.metrics[0].p, 1.48014e-5, 1e-5);
        (void)CHECK_NEAR(said.metrics[0].worst, -1.5881870313 / 3.72325, 1e-9);
    }
}

/* Units for rows below: gains of canaries and of controls, per cent of 100. */
struct arms {
    struct lks_unit_value canary[16], control[16];
};

static void fill(struct lks_unit_value *v, uint32_t first, size_t count, double gain, double spread)
{
    for (size_t i = 0; i < count; i++) {
        double wave = (double)(i % 4) - 1.5; /* sums to nothing over each four */
        v[i] = (struct lks_unit_value){first + (uint32_t)i, 100,
                                       100 * exp((gain + spread * wave) / 100)};
    }
}

static struct lks_compared metric(const char *name, struct arms *a, double gain, double spread)
{
    fill(a->canary, 0, 8, gain, spread);
    fill(a->control, 100, 8, 0, spread);
    return (struct lks_compared){.name = lks_str_from(name),
                                 .critical = true,
                                 .margin = 1,
                                 .canary = a->canary,
                                 .control = a->control,
                                 .canary_count = 8,
                                 .control_count = 8,
                                 .expected = 8};
}

enum spoil { NOTHING, NO_DATA, ONE_MISSING, ONE_CANARY, NO_CONTROLS, ZERO, STOPPED };

static const struct {
    const char *name;
    double gain, spread;
    bool lower, not_critical;
    enum spoil spoil;
    size_t look; /* of four */
    enum lks_gate_verdict verdict;
    const char *why;
} metric_rows[] = {
    {"healthy", 0, 0.3, false, false, NOTHING, 3, LKS_GATE_PASS, "within"},
    {"healthy, too early to say", 0, 0.3, false, false, NOTHING, 0, LKS_GATE_EXTEND,
     "not sure yet"},
    {"healthy, between looks", 0, 0.3, false, false, NOTHING, LKS_LOOK_BETWEEN, LKS_GATE_EXTEND,
     "not sure yet"},
    {"2 % worse", -2, 0.3, false, false, NOTHING, 3, LKS_GATE_HALT, "-2.00 %, at best"},
    {"2 % worse, first look", -2, 0.3, false, false, NOTHING, 0, LKS_GATE_HALT, "-2.00 %, at best"},
    {"4 % worse, between looks", -4, 0.3, false, false, NOTHING, LKS_LOOK_BETWEEN, LKS_GATE_HALT,
     "-4.00 %, at best"},
    {"2 % more, and that is worse", 2, 0.3, true, false, NOTHING, 3, LKS_GATE_HALT,
     "+2.00 %, at best"},
    {"2 % less, and that is better", -2, 0.3, true, false, NOTHING, 3, LKS_GATE_PASS, "-2.00 %"},
    {"2 % better", 2, 0.3, false, false, NOTHING, 3, LKS_GATE_PASS, "within"},
    {"at the margin", -1, 0.3, false, true, NOTHING, 3, LKS_GATE_HOLD, "still not sure"},
    {"wide", 0, 3, false, false, NOTHING, 3, LKS_GATE_HOLD, "still not sure"},
    {"a little beyond, not critical", -1.2, 0.4, false, true, NOTHING, 3, LKS_GATE_HOLD,
     "not sure"},
    {"a little beyond, critical", -1.2, 0.4, false, false, NOTHING, 3, LKS_GATE_HALT, "-1.20 %"},
    {"exactly nothing", 0, 0, false, false, NOTHING, 3, LKS_GATE_PASS, "+0.00 %"},
    {"exactly .5 % worse", -0.5, 0, false, false, NOTHING, 3, LKS_GATE_PASS, "-0.50 %"},
    {"exactly 1.5 % worse", -1.5, 0, false, true, NOTHING, 3, LKS_GATE_HALT, "-1.50 %"},
    {"no data", 0, 0.3, false, false, NO_DATA, 0, LKS_GATE_HOLD, "8 of 8 canaries have no data"},
    {"no data, not critical", 0, 0.3, false, true, NO_DATA, 0, LKS_GATE_EXTEND, "no data"},
    {"no data to the end, not critical", 0, 0.3, false, true, NO_DATA, 3, LKS_GATE_HOLD, "no data"},
    {"one canary without", 0, 0.3, false, false, ONE_MISSING, 3, LKS_GATE_HOLD, "1 of 8 canaries"},
    {"one canary without, bad enough", -2, 0.3, false, false, ONE_MISSING, 3, LKS_GATE_HALT,
     "at best"},
    {"one canary alone", 0, 0.3, false, false, ONE_CANARY, 3, LKS_GATE_HOLD, "there are 1 and 8"},
    {"no controls", 0, 0.3, false, false, NO_CONTROLS, 3, LKS_GATE_HOLD, "there are 8 and 0"},
    {"they came to a stop", 0, 0.3, false, false, STOPPED, 3, LKS_GATE_HALT, "-690.78 %"},
    {"a zero has no ratio", 0, 0.3, false, false, ZERO, 3, LKS_GATE_HOLD, "1 of 8 canaries"},
};

static void spoil(struct lks_compared *m, struct arms *a, enum spoil what)
{
    if (what == NO_DATA)
        m->canary_count = 0;
    if (what == ONE_MISSING)
        a->canary[3].after = NAN;
    if (what == ZERO)
        a->canary[3].before = 0;
    for (size_t i = 0; what == STOPPED && i < 8; i++)
        a->canary[i].after = 0;
    if (what == ONE_CANARY)
        m->canary_count = m->expected = 1;
    if (what == NO_CONTROLS)
        m->control_count = 0;
}

static void test_metrics(void)
{
    struct lks_evidence_plan plan =
        lks_evidence_plan(lks_evidence_at, 4, 1, LKS_EVIDENCE_PASS, LKS_EVIDENCE_HALT);
    for (size_t i = 0; i < LKS_COUNT(metric_rows); i++) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        struct arms a;
        struct lks_compared m = metric("tokens", &a, metric_rows[i].gain, metric_rows[i].spread);
        struct lks_evidence q = {.plan = &plan, .metrics = &m, .metric_count = 1};
        lks_arena_init(&arena, 1 << 20);
        lks_test_case("%s", metric_rows[i].name);
        m.lower_is_better = metric_rows[i].lower;
        m.critical = !metric_rows[i].not_critical;
        spoil(&m, &a, metric_rows[i].spoil);
        q.look = metric_rows[i].look;
        struct lks_evidence_said said = judge(&q, &arena);
        (void)CHECK_INT(said.verdict, metric_rows[i].verdict);
        (void)CHECK_HAS(said.metrics[0].why, metric_rows[i].why);
    }
}

/* What a canary passed, a ring passes at the last look unless its own estimate is beyond the
 * margin; halted it is as ever. */
static void test_vouched(void)
{
    static const struct {
        const char *name;
        double gain, spread;
        enum spoil spoil;
        size_t look;
        enum lks_gate_verdict alone, vouched;
        const char *why;
    } rows[] = {
        {"wide", 0, 3, NOTHING, 3, LKS_GATE_HOLD, LKS_GATE_PASS, "and the canary passed it"},
        {"wide, before the last look", 0, 3, NOTHING, 2, LKS_GATE_EXTEND, LKS_GATE_EXTEND,
         "not sure yet"},
        {"wide, between looks", 0, 3, NOTHING, LKS_LOOK_BETWEEN, LKS_GATE_EXTEND, LKS_GATE_EXTEND,
         "not sure yet"},
        {"wide, beyond the margin", -1.1, 3, NOTHING, 3, LKS_GATE_HOLD, LKS_GATE_HOLD,
         "still not sure"},
        {"surely worse", -2, 0.3, NOTHING, 3, LKS_GATE_HALT, LKS_GATE_HALT,
         "worse than its margin"},
        {"sure by itself", 0, 0.3, NOTHING, 3, LKS_GATE_PASS, LKS_GATE_PASS, "within its margin"},
        {"no data", 0, 3, NO_DATA, 3, LKS_GATE_HOLD, LKS_GATE_HOLD, "no data"},
        {"one without data", 0, 3, ONE_MISSING, 3, LKS_GATE_HOLD, LKS_GATE_HOLD, "no data"},
        {"no controls", 0, 3, NO_CONTROLS, 3, LKS_GATE_HOLD, LKS_GATE_HOLD, "two units"},
    };
    struct lks_evidence_plan plan =
        lks_evidence_plan(lks_evidence_at, 4, 1, LKS_EVIDENCE_PASS, LKS_EVIDENCE_HALT);
    for (size_t i = 0; i < 2 * LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        struct arms a;
        bool vouched = i % 2 == 1;
        struct lks_compared m = metric("speed", &a, rows[i / 2].gain, rows[i / 2].spread);
        struct lks_evidence q = {
            .plan = &plan, .look = rows[i / 2].look, .metrics = &m, .metric_count = 1};
        lks_arena_init(&arena, 1 << 20);
        lks_test_case("%s, %s", rows[i / 2].name, vouched ? "vouched for" : "alone");
        spoil(&m, &a, rows[i / 2].spoil);
        m.vouched = vouched;
        struct lks_evidence_said said = judge(&q, &arena);
        (void)CHECK_INT(said.verdict, vouched ? rows[i / 2].vouched : rows[i / 2].alone);
        if (vouched)
            (void)CHECK_HAS(said.metrics[0].why, rows[i / 2].why);
    }
}

/* Eight values of one domain are one value: what looks like many nodes is two domains. */
static void test_domains(void)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_evidence_plan plan = once(1);
    struct arms a;
    struct lks_compared m = metric("busbw", &a, -2, 0.3);
    struct lks_evidence q = {.plan = &plan, .metrics = &m, .metric_count = 1};
    lks_arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < 8; i++) {
        a.canary[i].unit = i < 4 ? 1 : 2;
        a.control[i].unit = i < 4 ? 3 : 4;
    }
    m.expected = 2;
    struct lks_evidence_said said = judge(&q, &arena);
    (void)CHECK_INT(said.metrics[0].canaries, 2);
    (void)CHECK_INT(said.metrics[0].controls, 2);
    (void)CHECK_NEAR(said.metrics[0].estimate, -2, 1e-9); /* the median of each four */
    lks_test_case("in any order");
    struct lks_unit_value swapped = a.canary[0];
    a.canary[0] = a.canary[7];
    a.canary[7] = swapped;
    (void)CHECK_NEAR(judge(&q, &arena).metrics[0].estimate, -2, 1e-9);
}

/* One node of eight that is far worse says little about the change: it is not enough to halt. */
static void test_outlier(void)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_evidence_plan plan = once(1);
    struct arms a;
    struct lks_compared m = metric("tokens", &a, 0, 0.3);
    struct lks_evidence q = {.plan = &plan, .metrics = &m, .metric_count = 1};
    lks_arena_init(&arena, 1 << 20);
    a.canary[5].after *= 0.7;
    (void)CHECK_INT(judge(&q, &arena).verdict, LKS_GATE_HOLD);
}

/* Would others, had they been the canaries, have looked as bad? */
static void test_relabelled(void)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_evidence_plan plan = once(1);
    struct arms a;
    struct lks_compared m = metric("tokens", &a, -2, 0.3);
    struct lks_evidence q = {.plan = &plan, .metrics = &m, .metric_count = 1};
    lks_arena_init(&arena, 1 << 20);
    struct lks_evidence_said said = judge(&q, &arena);
    (void)CHECK_NEAR(said.metrics[0].relabelled, 1.0 / 12870, 1e-9);
    (void)CHECK_INT(said.verdict, LKS_GATE_HALT);
    lks_test_case("3 against 3 could never say so, and is not asked");
    m.canary_count = m.control_count = m.expected = 3;
    said = judge(&q, &arena);
    (void)CHECK(said.metrics[0].relabelled < 0);
}

/* Three canaries that happen to agree, among controls that do not: t alone would halt. */
static void test_relabelled_disagrees(void)
{
    static const double gains[] = {-3, -2.5, -2, -1.5, -1, -0.5, 0.5, 1, 1.5, 2, 2.5, 3};
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_evidence_plan plan = once(1);
    struct arms a;
    struct lks_compared m = metric("tokens", &a, -1.5, 0.01);
    struct lks_evidence q = {.plan = &plan, .metrics = &m, .metric_count = 1};
    lks_arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < LKS_COUNT(gains); i++)
        fill(&a.control[i], 100 + (uint32_t)i, 1, gains[i], 0);
    m.canary_count = m.expected = 3;
    m.control_count = LKS_COUNT(gains);
    struct lks_evidence_said said = judge(&q, &arena);
    (void)CHECK(said.metrics[0].p < plan.halt_level[0] && said.metrics[0].best < 0);
    (void)CHECK(said.metrics[0].relabelled > plan.halt_level[0]);
    (void)CHECK_INT(said.verdict, LKS_GATE_HOLD);
}

/* One that halts leaves its part of the error to the others, which are named as well then. */
static void test_holm(void)
{
    struct lks_evidence_plan plan = once(2);
    for (int bad = 0; bad < 2; bad++) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        struct arms a, b;
        struct lks_compared m[] = {metric("first", &a, bad ? -4 : 0, 0.3),
                                   metric("second", &b, -1.25, 1.01)};
        struct lks_evidence q = {.plan = &plan, .metrics = m, .metric_count = 2};
        lks_arena_init(&arena, 1 << 20);
        lks_test_case("the first is %s", bad ? "bad" : "good");
        struct lks_evidence_said said = judge(&q, &arena);
        (void)CHECK_INT(said.metrics[1].verdict, bad ? LKS_GATE_HALT : LKS_GATE_HOLD);
    }
}

/* Waves -------------------------------------------------------------------------------------- */

struct wave_row {
    const char *name;
    double first, second; /* gains of two metrics */
    struct lks_hard_fail hard;
    uint64_t canary_events, control_events;
    double normal;
    struct lks_soak soak;
    enum lks_gate_verdict verdict;
    const char *why;
};

static const struct wave_row wave_rows[] = {
    {.name = "all is well", .verdict = LKS_GATE_PASS, .why = "all of 2 metrics"},
    {.name = "one is enough to halt",
     .second = -2,
     .verdict = LKS_GATE_HALT,
     .why = "second: -2.00 %"},
    {.name = "the first of two is named",
     .first = -2,
     .second = -2,
     .verdict = LKS_GATE_HALT,
     .why = "first: -2.00 %"},
    {.name = "a good one does not make up for it",
     .first = 5,
     .second = -2,
     .verdict = LKS_GATE_HALT,
     .why = "second"},
    {.name = "a fatal Xid",
     .hard = {LKS_STR_C("fatal Xid"), false, 1, 0},
     .verdict = LKS_GATE_HALT,
     .why = "fatal Xid on 1 of the canaries and on no control"},
    {.name = "controls have it, too",
     .hard = {LKS_STR_C("fatal Xid"), false, 1, 1},
     .verdict = LKS_GATE_PASS,
     .why = "all of"},
    {.name = "not back, whatever the controls do",
     .hard = {LKS_STR_C("not back"), true, 1, 1},
     .verdict = LKS_GATE_HALT,
     .why = "not back on 1"},
    {.name = "crashes of canaries alone",
     .canary_events = 8,
     .verdict = LKS_GATE_HALT,
     .why = "crashes: 8 canaries"},
    {.name = "crashes everywhere",
     .canary_events = 8,
     .control_events = 8,
     .verdict = LKS_GATE_PASS,
     .why = "all of"},
    {.name = "far more than normal",
     .canary_events = 3,
     .normal = 1.6e-4,
     .verdict = LKS_GATE_HALT,
     .why = "crashes: 3 canaries"},
    {.name = "one may be chance",
     .canary_events = 1,
     .normal = 1.6e-4,
     .verdict = LKS_GATE_PASS,
     .why = "all of"},
    {.name = "not long enough",
     .soak = {0, 0, 2, 4},
     .verdict = LKS_GATE_EXTEND,
     .why = "2.0 of 4.0 hours"},
    {.name = "idle",
     .soak = {3, 100, 5, 4},
     .verdict = LKS_GATE_HOLD,
     .why = "idle: 3.0 of 100.0 GPU-hours"},
    {.name = "worked enough", .soak = {100, 100, 4, 4}, .verdict = LKS_GATE_PASS, .why = "all of"},
    {.name = "idle, and bad",
     .second = -2,
     .soak = {3, 100, 5, 4},
     .verdict = LKS_GATE_HALT,
     .why = "second"},
};

/* Of eight units over a day, each until its first event: in the middle of it. */
static double hours_of(uint64_t events)
{
    return 8 * 24 - 12 * (double)events;
}

static void test_waves(void)
{
    struct lks_evidence_plan plan =
        lks_evidence_plan(lks_evidence_at, 4, 3, LKS_EVIDENCE_PASS, LKS_EVIDENCE_HALT);
    for (size_t i = 0; i < LKS_COUNT(wave_rows); i++) {
        const struct wave_row *row = &wave_rows[i];
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        struct arms a, b;
        struct lks_compared m[] = {metric("first", &a, row->first, 0.3),
                                   metric("second", &b, row->second, 0.3)};
        struct lks_counted counted = lks_evidence_counted_totals(
            LKS_STR("crashes"), row->canary_events, hours_of(row->canary_events),
            row->control_events, hours_of(row->control_events), row->normal);
        struct lks_evidence q = {.plan = &plan,
                                 .look = 3,
                                 .metrics = m,
                                 .metric_count = 2,
                                 .counted = &counted,
                                 .counted_count = 1,
                                 .hard = &row->hard,
                                 .hard_count = 1,
                                 .soak = row->soak};
        lks_arena_init(&arena, 1 << 20);
        lks_test_case("%s", row->name);
        struct lks_evidence_said said = judge(&q, &arena);
        (void)CHECK_INT(said.verdict, row->verdict);
        (void)CHECK_HAS(said.why, row->why);
    }
}

/* From totals: either evidence may be missing, and then the other one counts in full. */
static void test_counted(void)
{
    struct lks_counted both = lks_evidence_counted_totals(LKS_STR("x"), 3, 100, 1, 100, 0.001);
    struct lks_counted unknown = lks_evidence_counted_totals(LKS_STR("x"), 3, 100, 1, 100, 0);
    struct lks_counted alone = lks_evidence_counted_totals(LKS_STR("x"), 3, 200, 0, 0, 0.001);
    struct lks_counted none = lks_evidence_counted_totals(LKS_STR("x"), 3, 0, 0, 0, 0);
    (void)CHECK(both.split.canary == 3 && both.split.control == 1 && both.rate.events == 3);
    (void)CHECK(alone.split.prior_canary == 0);
    (void)CHECK_NEAR(exp(alone.rate.ln_e), 57.29995428, 1e-9);
    (void)CHECK(none.split.ln_most == 0 && none.rate.ln_most == 0);
    /* Three where 0.2 are normal: a thousand times ten's likelihood less what quiet says. */
    double ten = exp(3 * log(10) - 9 * 0.001 * 200);
    (void)CHECK_NEAR(exp(alone.times.ln_ratio), ten, 1e-9);
    (void)CHECK_NEAR(exp(lks_evidence_counted_ln(&alone)), (57.29995428 + ten) / 2, 1e-9);
    (void)CHECK_NEAR(exp(lks_evidence_counted_ln(&both)),
                     (exp(both.split.ln_e) + exp(both.rate.ln_e) + exp(both.times.ln_ratio)) / 3,
                     1e-9);
    (void)CHECK_NEAR(lks_evidence_counted_ln(&unknown), unknown.split.ln_most, 0);
    lks_test_case("quiet for long enough");
    (void)CHECK_INT(lks_evidence_counted_totals(LKS_STR("x"), 0, 1584, 0, 0, 1.579e-4).times.end,
                    LKS_SPRT_OPEN);
    (void)CHECK_INT(lks_evidence_counted_totals(LKS_STR("x"), 0, 1585, 0, 0, 1.579e-4).times.end,
                    LKS_SPRT_ACCEPT);
    lks_test_case("a rate that nobody can mean");
    (void)CHECK(lks_evidence_counted_totals(LKS_STR("x"), 3, 100, 0, 0, 1e300).rate.rate == 0);
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_evidence_plan plan = once(1);
    struct lks_evidence q = {.plan = &plan, .counted = &alone, .counted_count = 1};
    lks_arena_init(&arena, 1 << 20);
    plan.count_limit = lks_evidence_counted_ln(&alone) - 0.01;
    (void)CHECK_INT(judge(&q, &arena).verdict, LKS_GATE_HALT);
    plan.count_limit = lks_evidence_counted_ln(&alone) + 0.01;
    (void)CHECK_INT(judge(&q, &arena).verdict, LKS_GATE_PASS);
}

static void test_nothing(void)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_evidence_plan plan = once(1);
    struct lks_evidence q = {.plan = &plan};
    lks_arena_init(&arena, 1 << 20);
    struct lks_evidence_said said = judge(&q, &arena);
    (void)CHECK_INT(said.verdict, LKS_GATE_PASS);
    (void)CHECK_STR(said.why, "nothing is measured");
}

static void test_memory(void)
{
    struct lks_evidence_plan plan = once(1);
    struct arms a;
    struct lks_compared m = metric("tokens", &a, 0, 0.3);
    struct lks_evidence q = {.plan = &plan, .metrics = &m, .metric_count = 1};
    for (size_t max = 0; max < 600; max += 40) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        struct lks_evidence_said out = {.verdict = LKS_GATE_HALT};
        struct lks_err err = {0};
        lks_arena_init(&arena, max);
        lks_test_case("%zu bytes", max);
        (void)CHECK_CODE(lks_evidence_judge(&q, &arena, &out, &err), LKS_E_LIMIT);
        (void)CHECK_INT(out.verdict, LKS_GATE_HALT);
    }
}

/* Plans -------------------------------------------------------------------------------------- */

static void test_plan(void)
{
    struct lks_evidence_plan one = once(1), many = once(4);
    (void)CHECK_NEAR(one.pass_level[0], 0.05, 1e-6);
    (void)CHECK_NEAR(many.pass_level[0], 0.05, 1e-6); /* every metric has to pass anyway */
    (void)CHECK_NEAR(one.halt_level[0], 0.04, 1e-6);
    (void)CHECK_NEAR(many.halt_level[0], 0.01, 1e-6);
    (void)CHECK_NEAR(many.between_level, 0.0025, 1e-9);
    (void)CHECK_NEAR(many.count_limit, log(80), 1e-9);
    struct lks_evidence_plan looks = lks_evidence_plan(lks_evidence_at, 4, 1, 0.05, 0.05);
    double sum = 0;
    for (size_t i = 0; i < 4; i++) {
        (void)CHECK(looks.pass_level[i] < 0.05 && looks.halt_level[i] < 0.04);
        (void)CHECK(i == 0 || looks.pass_level[i] > looks.pass_level[i - 1]);
        sum += looks.pass_level[i];
    }
    (void)CHECK(sum > 0.05); /* looks share data, so their levels may add up to more */
}

static void test_power(void)
{
    struct lks_evidence_plan plan = once(1);
    struct lks_evidence_power p = lks_evidence_power(&plan, 8, 8, 0.4 * sqrt(2), 1, 0.8);
    (void)CHECK(p.not_passed > 0.6 && p.not_passed < 0.85);
    (void)CHECK(p.halted > 1.2 && p.halted < 1.3);
    struct lks_evidence_power fewer = lks_evidence_power(&plan, 3, 3, 0.4 * sqrt(2), 1, 0.8);
    (void)CHECK(fewer.halted > p.halted && fewer.not_passed < p.not_passed);
    (void)CHECK(isinf(lks_evidence_power(&plan, 1, 8, 0.4, 1, 0.8).halted));
}

/* The ramp ----------------------------------------------------------------------------------- */

/* Waves of a fleet of 2048 after a first one of 16, as text. */
static void ramp(double budget, size_t fails_after, char *text, size_t size)
{
    uint64_t done = 16, failed = 0;
    size_t waves = 1, at = (size_t)snprintf(text, size, "16");
    while (done < 2048 && waves < 100) {
        uint64_t n = lks_ramp_next(done, failed, 2048 - done, budget, 0.95);
        at += (size_t)snprintf(text + at, size - at, " %d", (int)n);
        done += n;
        waves++;
        failed += waves == fails_after;
    }
}

static void test_ramp(void)
{
    static const struct {
        const char *name;
        double budget;
        size_t fails_after;
        const char *waves;
    } rows[] = {
        {"two may be lost", 2, 0, "16 11 19 31 52 87 145 242 403 672 370"},
        {"four may be lost", 4, 0, "16 23 54 126 294 686 849"},
        {"eight may be lost", 8, 0, "16 46 169 620 1197"},
        {"one failed in the third wave", 4, 3, "16 23 54 80 147 271 499 920 38"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        char text[512];
        lks_test_case("%s", rows[i].name);
        ramp(rows[i].budget, rows[i].fails_after, text, sizeof(text));
        (void)CHECK_STR(lks_str_from(text), rows[i].waves);
    }
    lks_test_case("edges");
    (void)CHECK_INT(lks_ramp_next(16, 0, 0, 4, 0.95), 0);
    (void)CHECK_INT(lks_ramp_next(16, 16, 100, 0.5, 0.95), 1);
    (void)CHECK_INT(lks_ramp_next(0, 0, 100, 4, 0.95), 4);
}

static void test_checkpoints(void)
{
    static const struct {
        double cost, between, daly;
    } rows[] = {
        {60, 21600, 1570.22},
        {30, 10800, 785.11},
        {300, 86400, 7001.39},
        {120, 9720, 1448.40},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%g s, every %g s", rows[i].cost, rows[i].between);
        (void)CHECK(fabs(lks_ramp_checkpoint_daly(rows[i].cost, rows[i].between) - rows[i].daly) <
                    0.01);
    }
    (void)CHECK_NEAR(lks_ramp_checkpoint_waste(600, 60, 21600, 300), 0.118687, 1e-5);
    (void)CHECK_NEAR(lks_ramp_checkpoint_waste(1600, 60, 21600, 300), 0.087071, 1e-5);
    (void)CHECK_NEAR(lks_ramp_checkpoint_waste(3600, 60, 21600, 300), 0.113616, 1e-5);
    lks_test_case("fails sooner than it saves");
    (void)CHECK_NEAR(lks_ramp_checkpoint_daly(100, 40), 40, 0);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"evidence: the worked example", test_worked},
        {"evidence: metrics", test_metrics},
        {"evidence: vouched for by a canary", test_vouched},
        {"evidence: domains", test_domains},
        {"evidence: an outlier", test_outlier},
        {"evidence: relabelled", test_relabelled},
        {"evidence: relabelling disagrees", test_relabelled_disagrees},
        {"evidence: Holm", test_holm},
        {"evidence: waves", test_waves},
        {"evidence: counted", test_counted},
        {"evidence: nothing", test_nothing},
        {"evidence: memory", test_memory},
        {"evidence: plan", test_plan},
        {"evidence: power", test_power},
        {"evidence: ramp", test_ramp},
        {"evidence: checkpoints", test_checkpoints},
        {0},
    });
}
