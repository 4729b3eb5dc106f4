#include "core/estimate.h"

#include "core/rank.h"
#include "core/special.h"
#include "tests/test.h"

#include <math.h>

#define TIGHT 1e-9

/* The worked example: what four canaries and six controls gained. */
static const double canaries[] = {-1.6, -1.7, -1.3, -1.3};
static const double controls[] = {-0.3, -0.1, -0.1, -0.6, -0.1, 0.2};

static struct lks_arms worked(void)
{
    return (struct lks_arms){canaries, controls, LKS_COUNT(canaries), LKS_COUNT(controls)};
}

static void test_welch(void)
{
    struct lks_arms arms = worked();
    struct lks_welch w = lks_welch(&arms);
    (void)CHECK_NEAR(w.estimate, -1.3083333333333333, TIGHT);
    (void)CHECK_NEAR(w.se, 0.149675575, TIGHT);
    (void)CHECK_NEAR(w.nu, 7.677194583, TIGHT);
    (void)CHECK_NEAR(w.estimate / w.se, -8.741127820, TIGHT);
    (void)CHECK_NEAR(lks_welch_less(&w, 0), 1.48014e-5, 1e-5);
    (void)CHECK_NEAR(lks_welch_lower(&w, 0.025), -1.6560283587, TIGHT);
    (void)CHECK_NEAR(lks_welch_upper(&w, 0.025), -0.9606383080, TIGHT);
    (void)CHECK_NEAR(lks_welch_lower(&w, 0.05), -1.5881870313, TIGHT);
    (void)CHECK_NEAR(lks_welch_upper(&w, 0.05), -1.0284796353, TIGHT);
    (void)CHECK_NEAR(lks_welch_less(&w, lks_welch_upper(&w, 0.03)), 0.03, TIGHT);
}

static void test_welch_edges(void)
{
    static const double ones[] = {0.1, 0.1, 0.1}, twos[] = {0.3, 0.3, 0.3, 0.3};
    struct lks_arms arms = {ones, twos, 3, 4};
    struct lks_welch w = lks_welch(&arms);
    lks_test_case("nothing varies");
    (void)CHECK(w.se == 0 && w.nu > 0);
    (void)CHECK_NEAR(w.estimate, -0.2, 1e-15);
    (void)CHECK(lks_welch_lower(&w, 0.05) == w.estimate && lks_welch_upper(&w, 0.05) == w.estimate);
    (void)CHECK(lks_welch_less(&w, 0) == 0 && lks_welch_less(&w, -1) == 1);
    lks_test_case("one canary");
    arms.canary_count = 1;
    w = lks_welch(&arms);
    (void)CHECK(w.nu == 0 && isinf(lks_welch_lower(&w, 0.05)) && isinf(lks_welch_upper(&w, 0.05)));
    (void)CHECK(lks_welch_less(&w, 0) == 1);
    lks_test_case("no canary");
    arms.canary_count = 0;
    w = lks_welch(&arms);
    (void)CHECK(w.nu == 0);
}

/* Before and after of eight nodes, as a test of one arm against nothing: t by hand. */
static const double paired[] = {-1.6, -1.7, -1.3, -1.3, -2.1, -1.0, -1.9, -1.1};

static void test_paired(void)
{
    double d[LKS_COUNT(paired)], sum = 0, squares = 0;
    for (size_t i = 0; i < LKS_COUNT(paired); i++) {
        d[i] = paired[i];
        sum += d[i];
    }
    (void)CHECK_NEAR(sum / 8, -1.5, TIGHT);
    for (size_t i = 0; i < LKS_COUNT(paired); i++)
        squares += (d[i] + 1.5) * (d[i] + 1.5);
    double sd = sqrt(squares / 7), t = -1.5 / (sd / sqrt(8));
    (void)CHECK_NEAR(sd, 0.3891382420536076, TIGHT);
    (void)CHECK_NEAR(t, -10.902656764674443, TIGHT);
    (void)CHECK_NEAR(lks_t_lower(t, 7), 6.034781629285239e-06, TIGHT);
    struct lks_rank w = lks_rank_signed(d, LKS_COUNT(paired), LKS_RANK_AUTO);
    (void)CHECK(w.exact && w.statistic == 0);
    (void)CHECK_NEAR(w.both, 0.0078125, TIGHT);
    (void)CHECK_NEAR(w.less, 0.00390625, TIGHT);
}

/* Relabelling ---------------------------------------------------------------------------------- */

static void test_relabel(void)
{
    struct lks_arms arms = worked();
    struct lks_relabel r = lks_relabel(&arms, 0, NULL);
    (void)CHECK(r.exact);
    (void)CHECK_INT(r.looked, 210);
    (void)CHECK_NEAR(r.less, 1.0 / 210, TIGHT);
    (void)CHECK_NEAR(r.both, 1.0 / 210, TIGHT);
    (void)CHECK_NEAR(r.greater, 1, TIGHT);
    lks_test_case("the other way round");
    struct lks_arms turned = {controls, canaries, LKS_COUNT(controls), LKS_COUNT(canaries)};
    r = lks_relabel(&turned, 0, NULL);
    (void)CHECK_NEAR(r.greater, 1.0 / 210, TIGHT);
    (void)CHECK_NEAR(r.less, 1, TIGHT);
}

/* 60 in each arm are too many to enumerate: what is drawn agrees with the t test. */
static void test_relabel_drawn(void)
{
    double x[60], y[60];
    struct lks_rng rng = {4};
    for (size_t i = 0; i < 60; i++) {
        x[i] = (double)lks_rng_below(&rng, 1000) - 80;
        y[i] = (double)lks_rng_below(&rng, 1000);
    }
    struct lks_arms arms = {x, y, 60, 60};
    struct lks_welch w = lks_welch(&arms);
    struct lks_relabel r = lks_relabel(&arms, 4000, &rng);
    (void)CHECK(!r.exact);
    (void)CHECK_INT(r.looked, 4000);
    (void)CHECK(fabs(r.less - lks_welch_less(&w, 0)) < 0.03);
    (void)CHECK_NEAR(r.less + r.greater, 1, 1e-3);
    lks_test_case("never 0");
    for (size_t i = 0; i < 60; i++)
        x[i] -= 10000;
    r = lks_relabel(&arms, 400, &rng);
    (void)CHECK_NEAR(r.less, 1.0 / 401, TIGHT);
}

static void test_relabel_least(void)
{
    static const struct {
        const char *name;
        size_t canaries, controls;
        double ways;
    } rows[] = {
        {"3 against 12", 3, 12, 455}, {"4 against 8", 4, 8, 495},   {"4 against 4", 4, 4, 70},
        {"3 against 3", 3, 3, 20},    {"8 against 8", 8, 8, 12870},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        (void)CHECK_NEAR(lks_relabel_least(rows[i].canaries, rows[i].controls), 1 / rows[i].ways,
                         TIGHT);
    }
}

/* Ranks ---------------------------------------------------------------------------------------- */

struct ranks {
    double x[5], y[6];
};

static const struct ranks plain = {{370.1, 373.0, 371.5, 374.2, 372.6},
                                   {374.8, 373.1, 375.6, 372.2, 374.0, 376.3}};
static const struct ranks apart = {{371.2, 368.9, 370.4, 366.1, 369.7},
                                   {374.8, 373.1, 375.6, 372.2, 374.0, 376.3}};
static const struct ranks tied = {{1, 2, 2, 3, 5}, {2, 3, 4, 4, 6, 7}};

static const struct {
    const char *name;
    const struct ranks *of;
    enum lks_rank_way way;
    bool exact;
    double u, both, less;
} rank_rows[] = {
    {"exact", &plain, LKS_RANK_AUTO, true, 5, 38.0 / 462, 0.04112554112554113},
    {"corrected", &plain, LKS_RANK_CORRECTED, false, 5, 0.0828374251588063, 0.04141871257940315},
    {"not corrected", &plain, LKS_RANK_NORMAL, false, 5, 0.06788915486182899, 0.033944577430914495},
    {"apart", &apart, LKS_RANK_AUTO, true, 0, 2.0 / 462, 1.0 / 462},
    {"apart, corrected", &apart, LKS_RANK_CORRECTED, false, 0, 0.00811311726556578,
     0.00405655863278289},
    {"ties", &tied, LKS_RANK_AUTO, false, 6.5, 0.13862587987892763, 0.069312939939463815},
    {"ties, not corrected", &tied, LKS_RANK_NORMAL, false, 6.5, 0.11560643738731947,
     0.057803218693659735},
};

static void test_ranks(void)
{
    for (size_t i = 0; i < LKS_COUNT(rank_rows); i++) {
        struct ranks r = *rank_rows[i].of;
        lks_test_case("%s", rank_rows[i].name);
        struct lks_rank got = lks_rank_sum(r.x, 5, r.y, 6, rank_rows[i].way);
        (void)CHECK_INT(got.exact, rank_rows[i].exact);
        (void)CHECK_NEAR(got.statistic, rank_rows[i].u, TIGHT);
        (void)CHECK_NEAR(got.both, rank_rows[i].both, TIGHT);
        (void)CHECK_NEAR(got.less, rank_rows[i].less, TIGHT);
    }
    lks_test_case("all the same");
    double same[] = {1, 1, 1}, other[] = {1, 1};
    (void)CHECK_NEAR(lks_rank_sum(same, 3, other, 2, LKS_RANK_AUTO).both, 1, 0);
}

static void test_rank_counts(void)
{
    static const double want[] = {0.002165, 0.004329, 0.008658, 0.015152,
                                  0.025974, 0.041126, 0.062771, 0.088745};
    double counts[LKS_RANK_EXACT_MAX * LKS_RANK_EXACT_MAX + 1], sum = 0;
    lks_rank_counts(5, 6, counts);
    for (size_t u = 0; u <= 30; u++) {
        sum += counts[u];
        (void)CHECK_NEAR(counts[u], counts[30 - u], 0);
        if (u < LKS_COUNT(want))
            (void)CHECK(fabs(sum / 462 - want[u]) < 5.1e-7);
    }
    (void)CHECK_NEAR(sum, 462, 0);
    lks_test_case("the largest");
    lks_rank_counts(LKS_RANK_EXACT_MAX, LKS_RANK_EXACT_MAX, counts);
    sum = 0;
    for (size_t u = 0; u < LKS_COUNT(counts); u++) {
        sum += counts[u];
        (void)CHECK_NEAR(counts[u], counts[LKS_COUNT(counts) - 1 - u], 1e-9);
    }
    (void)CHECK_NEAR(sum * lks_relabel_least(50, 50), 1, 1e-9);
}

static void test_shift(void)
{
    static const struct {
        const char *name;
        double alpha, lower, upper, confidence;
        size_t cut;
    } rows[] = {
        {"90 %", 0.05, -3.7, -0.5, 0.917749, 6},
        {"95 %", 0.025, -4.1, 0.2, 0.969697, 4},
        {"98 %", 0.01, -4.7, 0.4, 0.982684, 3},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct ranks r = plain;
        lks_test_case("%s", rows[i].name);
        struct lks_shift s = lks_shift(r.x, 5, r.y, 6, rows[i].alpha);
        (void)CHECK_NEAR(s.estimate, -2.1, 1e-9);
        (void)CHECK_NEAR(s.lower, rows[i].lower, 1e-9);
        (void)CHECK_NEAR(s.upper, rows[i].upper, 1e-9);
        (void)CHECK_NEAR(s.confidence, rows[i].confidence, 1e-6);
        (void)CHECK_INT(s.cut, rows[i].cut);
    }
    lks_test_case("too few for bounds");
    double x[] = {1, 2}, y[] = {5, 7};
    struct lks_shift s = lks_shift(x, 2, y, 2, 0.05);
    (void)CHECK(isinf(s.lower) && isinf(s.upper) && s.cut == 0 && s.estimate == -4.5);
}

/* Against the plain way: all differences, sorted. */
static void test_shift_random(void)
{
    struct lks_rng rng = {5};
    for (int round = 0; round < 200; round++) {
        double x[9], y[7], low = 0;
        for (size_t i = 0; i < 9; i++)
            x[i] = (double)lks_rng_below(&rng, 20) / 4;
        for (size_t i = 0; i < 7; i++)
            y[i] = (double)lks_rng_below(&rng, 20) / 4;
        struct lks_shift s = lks_shift(x, 9, y, 7, 0.05);
        size_t below = 0, at_most = 0;
        for (size_t i = 0; i < 63; i++) {
            below += x[i / 7] - y[i % 7] < s.lower;
            at_most += x[i / 7] - y[i % 7] <= s.lower;
            low += x[i / 7] - y[i % 7] < s.estimate;
        }
        lks_test_case("round %d", round);
        (void)CHECK(below <= s.cut && at_most > s.cut && low <= 31);
    }
}

static void test_signed(void)
{
    double zeros[] = {0, 0, 0}, ties[] = {-1, -1, 1, 2, -3}, many[200];
    lks_test_case("zeros say nothing");
    (void)CHECK_NEAR(lks_rank_signed(zeros, 3, LKS_RANK_AUTO).both, 1, 0);
    /* ranks 2 2 2 4 5: +: 2 + 4 = 6; of the 32 ways 13 have 6 or less */
    lks_test_case("ties");
    struct lks_rank w = lks_rank_signed(ties, 5, LKS_RANK_AUTO);
    (void)CHECK(w.exact && w.statistic == 6);
    (void)CHECK_NEAR(w.less, 13.0 / 32, TIGHT);
    lks_test_case("many: normal");
    for (size_t i = 0; i < 200; i++)
        many[i] = (double)i - 99.25;
    w = lks_rank_signed(many, 200, LKS_RANK_AUTO);
    (void)CHECK(!w.exact && w.both > 0.5);
}

/* Power ---------------------------------------------------------------------------------------- */

/* The published simulation: units vary by 0.4 % in each of two windows, alpha 5 %. */
static void test_power(void)
{
    static const struct {
        const char *name;
        size_t canaries, controls;
        double effect, power, within;
    } rows[] = {
        {"nothing to find", 8, 8, 0, 0.05, 1e-6},
        {"-1 %, 8 against 8", 8, 8, -1, 0.952, 0.01},
        {"-1 %, 4 against 8", 4, 8, -1, 0.799, 0.02},
        {"-1 %, 3 against 12", 3, 12, -1, 0.675, 0.05},
        {"-.5 %, 4 against 8", 4, 8, -0.5, 0.354, 0.01},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_power_plan p = {rows[i].canaries, rows[i].controls, 0.4 * sqrt(2), 0.05};
        lks_test_case("%s", rows[i].name);
        (void)CHECK(fabs(lks_power_of(&p, rows[i].effect) - rows[i].power) <= rows[i].within);
    }
    struct lks_power_plan p = {8, 8, 0.5, 0.01};
    lks_test_case("back again");
    (void)CHECK_NEAR(lks_power_of(&p, lks_power_effect(&p, 0.8)), 0.8, 1e-9);
    p.canaries = 1;
    (void)CHECK(isinf(lks_power_effect(&p, 0.8)) && lks_power_of(&p, 5) == 0);
}

static void test_sizes(void)
{
    (void)CHECK(fabs(lks_power_units(0.57, 1, 0.05, 0.9) - 5.6) < 0.05);
    (void)CHECK(fabs(lks_power_units(0.57, 0.5, 0.05, 0.9) - 22.3) < 0.05);
    (void)CHECK(fabs(lks_power_units(0.4, 0.3, 0.05, 0.9) - 30.4) < 0.05);
    lks_test_case("four times as many controls");
    (void)CHECK_NEAR((1.0 / 8 + 1.0 / 32) / (1.0 / 8 + 1.0 / 8), 1 - 0.375, TIGHT);
}

/* Many tests ----------------------------------------------------------------------------------- */

static size_t at_most(const double *p, size_t count, double limit)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += p[i] <= limit;
    return n;
}

static void test_adjust(void)
{
    static const double p[] = {0.001, 0.008, 0.012, 0.030, 0.041, 0.20, 0.55, 0.9};
    static const double mixed[] = {0.5, 0.01, 0.02};
    double adjusted[LKS_COUNT(p)];
    lks_adjust_bh(p, LKS_COUNT(p), adjusted);
    (void)CHECK_INT(at_most(adjusted, LKS_COUNT(p), 0.1), 5);
    lks_adjust_holm(p, LKS_COUNT(p), adjusted);
    (void)CHECK_INT(at_most(adjusted, LKS_COUNT(p), 0.05), 1);
    lks_test_case("in their own order");
    lks_adjust_holm(mixed, 3, adjusted);
    (void)CHECK_NEAR(adjusted[0], 0.5, TIGHT);
    (void)CHECK_NEAR(adjusted[1], 0.03, TIGHT);
    (void)CHECK_NEAR(adjusted[2], 0.04, TIGHT);
    lks_adjust_bh(mixed, 3, adjusted);
    (void)CHECK_NEAR(adjusted[1], 0.03, TIGHT);
    (void)CHECK_NEAR(adjusted[2], 0.03, TIGHT);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"estimate: Welch", test_welch},
        {"estimate: Welch at its edges", test_welch_edges},
        {"estimate: paired", test_paired},
        {"estimate: relabelling", test_relabel},
        {"estimate: relabelling, drawn", test_relabel_drawn},
        {"estimate: the least of relabelling", test_relabel_least},
        {"estimate: ranks", test_ranks},
        {"estimate: how often each U comes", test_rank_counts},
        {"estimate: shift", test_shift},
        {"estimate: shift at random", test_shift_random},
        {"estimate: signed ranks", test_signed},
        {"estimate: power", test_power},
        {"estimate: sizes", test_sizes},
        {"estimate: many tests", test_adjust},
        {0},
    });
}
