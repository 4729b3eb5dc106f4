#include "core/stats/sequential.h"

#include "base/rng.h"
#include "core/stats/special.h"
#include "tests/test.h"

#include <math.h>

#define TIGHT 1e-9

/* Wald ----------------------------------------------------------------------------------------- */

/* Each row: after so many events, accepted from this exposure on, or halted up to it. */
static void test_sprt_rates(void)
{
    static const struct {
        const char *name;
        double good, bad, events, exposure;
        enum lks_sprt_end end;
    } rows[] = {
        {"no event", 1e-3, 4e-3, 0, 750.43, LKS_SPRT_ACCEPT},
        {"one event", 1e-3, 4e-3, 1, 1212.53, LKS_SPRT_ACCEPT},
        {"two events", 1e-3, 4e-3, 2, 1674.63, LKS_SPRT_ACCEPT},
        {"three events", 1e-3, 4e-3, 3, 422.84, LKS_SPRT_HALT},
        {"four events", 1e-3, 4e-3, 4, 884.94, LKS_SPRT_HALT},
        {"five events", 1e-3, 4e-3, 5, 1347.03, LKS_SPRT_HALT},
        {"not three times the rate of a large run", 1.579e-4, 3 * 1.579e-4, 0, 7131,
         LKS_SPRT_ACCEPT},
        {"not ten times that rate", 1.579e-4, 10 * 1.579e-4, 0, 1585, LKS_SPRT_ACCEPT},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        for (int later = 0; later < 2; later++) {
            struct lks_sprt s = lks_sequential_sprt_rates(0.05, 0.10, rows[i].good, rows[i].bad);
            bool ends = (rows[i].end == LKS_SPRT_ACCEPT) == (later == 1);
            lks_test_case("%s, %s", rows[i].name, later ? "later" : "sooner");
            lks_sequential_sprt_feed(&s, rows[i].events,
                                     rows[i].exposure * (later ? 1.001 : 0.999));
            (void)CHECK_INT(s.end, ends ? rows[i].end : LKS_SPRT_OPEN);
        }
    }
    lks_test_case("the rate of a large run");
    (void)CHECK_NEAR(8 * 419.0 / (54 * 24 * 16384.0), 1.579e-4, 1e-3);
}

/* Mixtures ------------------------------------------------------------------------------------- */

static void test_rate(void)
{
    static const struct {
        double events, exposure, both, above;
    } rows[] = {
        {0, 500, 0.5495737569, 0.3333333333}, {1, 200, 1.5079046397, 1.7901234568},
        {2, 200, 6.7017983987, 8.5116598080}, {3, 200, 44.67865599, 57.29995428},
        {3, 1000, 1.670112355, 2.0624},       {5, 1000, 21.37743815, 27.39872},
        {8, 1000, 3677.60344, 4722.104599},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_event_rate above = {.rate = 0.001, .shape = 1, .inverse = 250}, both = above;
        both.both = true;
        lks_test_case("%g in %g", rows[i].events, rows[i].exposure);
        lks_sequential_event_rate_feed(&above, rows[i].events, rows[i].exposure);
        lks_sequential_event_rate_feed(&both, 0, rows[i].exposure / 2);
        lks_sequential_event_rate_feed(&both, rows[i].events, rows[i].exposure / 2);
        (void)CHECK_NEAR(exp(above.ln_e), rows[i].above, TIGHT);
        (void)CHECK_NEAR(exp(both.ln_e), rows[i].both, TIGHT);
    }
    lks_test_case("no overflow");
    struct lks_event_rate r = {.rate = 1e-6, .shape = 1, .inverse = 250};
    lks_sequential_event_rate_feed(&r, 100000, 10);
    (void)CHECK(isfinite(r.ln_e) && r.ln_e > 1e5);
    double most = r.ln_most;
    lks_sequential_event_rate_feed(&r, 0, 1e12);
    (void)CHECK(isfinite(r.ln_e) && r.ln_e < most && r.ln_most == most);
}

static void test_split(void)
{
    static const struct {
        double canary, all, both, above;
    } rows[] = {
        {3, 5, 3.2552083, 4.0},           {5, 6, 93.005952, 116.214286},
        {6, 8, 96.881200, 121.063492},    {2, 10, 0.30103356, 0.23232323},
        {8, 10, 1233.03346, 1541.262626},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_event_split above = {.prior_canary = 1, .prior_control = 1}, both = above;
        both.both = true;
        lks_test_case("%g of %g", rows[i].canary, rows[i].all);
        lks_sequential_event_split_feed(&both, rows[i].canary, rows[i].all - rows[i].canary, 0.2);
        for (int k = 0; k < (int)rows[i].all; k++) /* one by one comes to the same */
            lks_sequential_event_split_feed(&above, k < (int)rows[i].canary,
                                            k >= (int)rows[i].canary, 0.2);
        (void)CHECK(fabs(exp(both.ln_e) / rows[i].both - 1) < 1e-7);
        (void)CHECK(fabs(exp(above.ln_e) / rows[i].above - 1) < 1e-7);
    }
}

/* ln of the evidence against a mean of 0: what lks_sequential_msprt_half() turns round. */
static double msprt_ln(double estimate, double variance, double tau)
{
    double sum = variance + tau * tau;
    return log(variance / sum) / 2 + estimate * estimate * tau * tau / (2 * variance * sum);
}

static void test_msprt(void)
{
    static const struct {
        double n, mean, ratio;
    } rows[] = {
        {10, 0.5, 1.3210493854},
        {50, 0.3, 2.6621132583},
        {100, 0.3, 18.0286372953},
        {200, 0.25, 83.9414669158},
    };
    static const double halves[][2] = {
        {10, 1.1562535818}, {50, 0.4322006205}, {100, 0.3037811021}, {1000, 0.1035019368}};
    double tau = sqrt(0.1);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%g with mean %g", rows[i].n, rows[i].mean);
        (void)CHECK_NEAR(exp(msprt_ln(rows[i].mean, 1 / rows[i].n, tau)), rows[i].ratio, TIGHT);
    }
    for (size_t i = 0; i < LKS_COUNT(halves); i++) {
        lks_test_case("half width after %g", halves[i][0]);
        double half = lks_sequential_msprt_half(1 / halves[i][0], tau, 0.05);
        (void)CHECK_NEAR(half, halves[i][1], TIGHT);
        (void)CHECK_NEAR(msprt_ln(half, 1 / halves[i][0], tau), log(20), 1e-9);
    }
}

/* Planned looks -------------------------------------------------------------------------------- */

static const struct {
    enum lks_spending kind;
    size_t looks;
    double limits[5];
} limit_rows[] = {
    {LKS_SPEND_OBF, 2, {2.9626, 1.9686}},
    {LKS_SPEND_OBF, 3, {3.7103, 2.5114, 1.9930}},
    {LKS_SPEND_OBF, 4, {4.3326, 2.9631, 2.3590, 2.0141}},
    {LKS_SPEND_OBF, 5, {4.8769, 3.3570, 2.6803, 2.2898, 2.0310}},
    {LKS_SPEND_POCOCK, 2, {2.1570, 2.2010}},
    {LKS_SPEND_POCOCK, 3, {2.2794, 2.2949, 2.2959}},
    {LKS_SPEND_POCOCK, 4, {2.3683, 2.3675, 2.3582, 2.3500}},
    {LKS_SPEND_POCOCK, 5, {2.4380, 2.4268, 2.4102, 2.3966, 2.3860}},
};

static void test_limits(void)
{
    for (size_t i = 0; i < LKS_COUNT(limit_rows); i++) {
        double at[5], limits[5];
        size_t looks = limit_rows[i].looks;
        for (size_t k = 0; k < looks; k++)
            at[k] = (double)(k + 1) / (double)looks;
        lks_sequential_spend_limits(limit_rows[i].kind, 0.025, at, looks, limits);
        for (size_t k = 0; k < looks; k++) {
            lks_test_case("%s, look %zu of %zu",
                          limit_rows[i].kind == LKS_SPEND_OBF ? "OBF" : "Pocock", k + 1, looks);
            (void)CHECK(fabs(limits[k] - limit_rows[i].limits[k]) < 5.1e-5);
        }
    }
}

static void test_spent(void)
{
    static const double want[] = {1e-6, 0.000394, 0.003808, 0.012212, 0.025};
    for (size_t k = 0; k < LKS_COUNT(want); k++)
        (void)CHECK(fabs(lks_sequential_spend_by(LKS_SPEND_OBF, 0.025, (double)(k + 1) / 5) -
                         want[k]) < 5.1e-7);
    (void)CHECK_NEAR(lks_sequential_spend_by(LKS_SPEND_POCOCK, 0.025, 1), 0.025, TIGHT);
    (void)CHECK_NEAR(lks_sequential_spend_by(LKS_SPEND_OBF, 0.025, 0), 0, 0);
}

static double normal(struct lks_rng *rng)
{
    return lks_special_normal_quantile(((double)(lks_rng_next(rng) >> 12) + 0.5) /
                                       4503599627370496.0);
}

/* How often any of the looks crosses its limit, where nothing is the matter. */
static double crossed(const double *at, const double *limits, size_t looks, int rounds)
{
    struct lks_rng rng = {12};
    int hits = 0;
    for (int i = 0; i < rounds; i++) {
        double sum = 0, before = 0;
        bool hit = false;
        for (size_t k = 0; k < looks; k++) {
            sum += normal(&rng) * sqrt(at[k] - before);
            before = at[k];
            hit |= sum / sqrt(at[k]) >= limits[k];
        }
        hits += hit;
    }
    return (double)hits / rounds;
}

/* Looks of a soak, uneven, and two that are close together. */
static void test_limits_uneven(void)
{
    static const double at[] = {1.0 / 24, 4.0 / 24, 12.0 / 24, 0.505, 1};
    double limits[LKS_COUNT(at)];
    for (enum lks_spending kind = LKS_SPEND_OBF; kind <= LKS_SPEND_POCOCK; kind++) {
        lks_test_case("kind %d", (int)kind);
        lks_sequential_spend_limits(kind, 0.05, at, LKS_COUNT(at), limits);
        double share = crossed(at, limits, LKS_COUNT(at), 20000);
        (void)CHECK(share > 0.05 - 0.006 && share < 0.05 + 0.006);
    }
}

/* Looking at every one of many moments: an ordinary test halts a quarter of the healthy. */
static void test_peeking(void)
{
    struct lks_rng rng = {13};
    int naive = 0, sequential = 0;
    for (int i = 0; i < 1000; i++) {
        double sum = 0;
        bool n = false, s = false;
        for (int k = 1; k <= 400; k++) {
            sum += normal(&rng);
            if (k % 20 != 0)
                continue;
            n |= fabs(sum) / sqrt(k) > 1.959964;
            s |= fabs(sum / k) > lks_sequential_msprt_half(1.0 / k, sqrt(0.1), 0.05);
        }
        naive += n;
        sequential += s;
    }
    (void)CHECK(naive > 200 && naive < 300);
    (void)CHECK(sequential < 35);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"sequential: rates", test_sprt_rates},
        {"sequential: gamma-Poisson", test_rate},
        {"sequential: beta-binomial", test_split},
        {"sequential: normal mixture", test_msprt},
        {"sequential: limits", test_limits},
        {"sequential: spent", test_spent},
        {"sequential: uneven looks", test_limits_uneven},
        {"sequential: peeking", test_peeking},
        {0},
    });
}
