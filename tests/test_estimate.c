#include "core/stats/estimate.h"

#include "core/stats/special.h"
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
    struct lks_welch w = lks_estimate_welch(&arms);
    (void)CHECK_NEAR(w.estimate, -1.3083333333333333, TIGHT);
    (void)CHECK_NEAR(w.se, 0.149675575, TIGHT);
    (void)CHECK_NEAR(w.nu, 7.677194583, TIGHT);
    (void)CHECK_NEAR(w.estimate / w.se, -8.741127820, TIGHT);
    (void)CHECK_NEAR(lks_estimate_welch_less(&w, 0), 1.48014e-5, 1e-5);
    (void)CHECK_NEAR(lks_estimate_welch_lower(&w, 0.025), -1.6560283587, TIGHT);
    (void)CHECK_NEAR(lks_estimate_welch_upper(&w, 0.025), -0.9606383080, TIGHT);
    (void)CHECK_NEAR(lks_estimate_welch_lower(&w, 0.05), -1.5881870313, TIGHT);
    (void)CHECK_NEAR(lks_estimate_welch_upper(&w, 0.05), -1.0284796353, TIGHT);
    (void)CHECK_NEAR(lks_estimate_welch_less(&w, lks_estimate_welch_upper(&w, 0.03)), 0.03, TIGHT);
}

static void test_welch_edges(void)
{
    static const double ones[] = {0.1, 0.1, 0.1}, twos[] = {0.3, 0.3, 0.3, 0.3};
    struct lks_arms arms = {ones, twos, 3, 4};
    struct lks_welch w = lks_estimate_welch(&arms);
    lks_test_case("nothing varies");
    (void)CHECK(w.se == 0 && w.nu > 0);
    (void)CHECK_NEAR(w.estimate, -0.2, 1e-15);
    (void)CHECK(lks_estimate_welch_lower(&w, 0.05) == w.estimate &&
                lks_estimate_welch_upper(&w, 0.05) == w.estimate);
    (void)CHECK(lks_estimate_welch_less(&w, 0) == 0 && lks_estimate_welch_less(&w, -1) == 1);
    lks_test_case("one canary");
    arms.canary_count = 1;
    w = lks_estimate_welch(&arms);
    (void)CHECK(w.nu == 0 && isinf(lks_estimate_welch_lower(&w, 0.05)) &&
                isinf(lks_estimate_welch_upper(&w, 0.05)));
    (void)CHECK(lks_estimate_welch_less(&w, 0) == 1);
    lks_test_case("no canary");
    arms.canary_count = 0;
    w = lks_estimate_welch(&arms);
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
    (void)CHECK_NEAR(lks_special_t_lower(t, 7), 6.034781629285239e-06, TIGHT);
}

/* Relabelling ---------------------------------------------------------------------------------- */

static void test_relabel(void)
{
    struct lks_arms arms = worked();
    struct lks_relabel r = lks_estimate_relabel(&arms, 0, NULL);
    (void)CHECK(r.exact);
    (void)CHECK_INT(r.looked, 210);
    (void)CHECK_NEAR(r.less, 1.0 / 210, TIGHT);
    (void)CHECK_NEAR(r.both, 1.0 / 210, TIGHT);
    (void)CHECK_NEAR(r.greater, 1, TIGHT);
    lks_test_case("the other way round");
    struct lks_arms turned = {controls, canaries, LKS_COUNT(controls), LKS_COUNT(canaries)};
    r = lks_estimate_relabel(&turned, 0, NULL);
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
    struct lks_welch w = lks_estimate_welch(&arms);
    struct lks_relabel r = lks_estimate_relabel(&arms, 4000, &rng);
    (void)CHECK(!r.exact);
    (void)CHECK_INT(r.looked, 4000);
    (void)CHECK(fabs(r.less - lks_estimate_welch_less(&w, 0)) < 0.03);
    (void)CHECK_NEAR(r.less + r.greater, 1, 1e-3);
    lks_test_case("never 0");
    for (size_t i = 0; i < 60; i++)
        x[i] -= 10000;
    r = lks_estimate_relabel(&arms, 400, &rng);
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
        (void)CHECK_NEAR(lks_estimate_relabel_least(rows[i].canaries, rows[i].controls),
                         1 / rows[i].ways, TIGHT);
    }
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
        (void)CHECK(fabs(lks_estimate_power(&p, rows[i].effect) - rows[i].power) <= rows[i].within);
    }
    struct lks_power_plan p = {8, 8, 0.5, 0.01};
    lks_test_case("back again");
    (void)CHECK_NEAR(lks_estimate_power(&p, lks_estimate_power_effect(&p, 0.8)), 0.8, 1e-9);
    p.canaries = 1;
    (void)CHECK(isinf(lks_estimate_power_effect(&p, 0.8)) && lks_estimate_power(&p, 5) == 0);
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
        {"estimate: power", test_power},
        {0},
    });
}
