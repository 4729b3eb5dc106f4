#include "core/stats/special.h"

#include "base/rng.h"
#include "tests/test.h"

#include <math.h>

#define TIGHT 1e-12 /* the product promises 1e-9 */

/* One function of up to three numbers a row; the wanted values have 16 digits. */
struct row {
    const char *name;
    double a, b, c, want;
};

static void check_rows(const struct row *rows, size_t count, double (*fn)(const struct row *))
{
    for (size_t i = 0; i < count; i++) {
        lks_test_case("%s", rows[i].name);
        (void)CHECK_NEAR(fn(&rows[i]), rows[i].want, TIGHT);
    }
}

static double gamma_ln(const struct row *r)
{
    return lks_special_gamma_ln(r->a);
}

static double gamma_lower(const struct row *r)
{
    return lks_special_gamma_lower(r->a, r->b);
}

static double gamma_upper(const struct row *r)
{
    return lks_special_gamma_upper(r->a, r->b);
}

static double gamma_upper_ln(const struct row *r)
{
    return lks_special_gamma_upper_ln(r->a, r->b);
}

static void test_gamma(void)
{
    static const struct row lns[] = {
        {"ln gamma 7.3", 7.3, 0, 0, 7.147892523022249},
        {"ln gamma near 0", 1e-9, 0, 0, 20.723265836369195},
        {"ln gamma, large", 123456.5, 0, 0, 1323898.630662737},
    };
    static const struct row lowers[] = {
        {"P(.5, .5)", 0.5, 0.5, 0, 0.6826894921370859},
        {"P near 0", 0.5, 1e-10, 0, 1.1283791670579e-5},
        {"P(1000, 1000)", 1000, 1000, 0, 0.50420524418021551},
        {"P far below the mean", 1000, 800, 0, 5.5014197761792281e-12},
        {"P(1e5, 1e5 + 300)", 1e5, 1e5 + 300, 0, 0.82863631125120765},
        {"P(30, .001)", 30, 0.001, 0, 3.7663410203018768e-123},
        {"P at 0", 3, 0, 0, 0},
        {"P at infinity", 3, HUGE_VAL, 0, 1},
    };
    static const struct row uppers[] = {
        {"Q(3, 2.5)", 3, 2.5, 0, 0.5438131158833297},
        {"Q(2.5, 100)", 2.5, 100, 0, 2.8406228986415317e-41},
        {"Q(1000, 1200)", 1000, 1200, 0, 1.2881606086281433e-9},
        {"Q of a small parameter", 0.001, 2, 0, 4.897691783098148e-5},
        {"Q(200, 900)", 200, 900, 0, 3.481098517199665e-176},
    };
    static const struct row upper_lns[] = {
        {"ln Q where Q is 0", 3, 2000, 0, -1985.4903422616423},
        {"ln Q(200, 900)", 200, 900, 0, -404.00762845711567},
    };
    check_rows(lns, LKS_COUNT(lns), gamma_ln);
    check_rows(lowers, LKS_COUNT(lowers), gamma_lower);
    check_rows(uppers, LKS_COUNT(uppers), gamma_upper);
    check_rows(upper_lns, LKS_COUNT(upper_lns), gamma_upper_ln);
    (void)CHECK_NEAR(lks_special_beta_ln(2, 3), log(1.0 / 12), TIGHT);
}

static double beta_lower(const struct row *r)
{
    return lks_special_beta_lower(r->a, r->b, r->c);
}

static double beta_upper(const struct row *r)
{
    return lks_special_beta_upper(r->a, r->b, r->c);
}

static double beta_quantile(const struct row *r)
{
    return lks_special_beta_quantile(r->a, r->b, r->c);
}

static void test_beta(void)
{
    static const struct row lowers[] = {
        {"I_.4(2, 3)", 2, 3, 0.4, 0.5248},
        {"I_.1(.5, 5.5)", 0.5, 5.5, 0.1, 0.7074815446042269},
        {"half of a symmetric one", 1000, 1000, 0.5, 0.5},
        {"I_.53(1000, 1000)", 1000, 1000, 0.53, 0.99637747526855588},
        {"I_.999(1e4, 2)", 1e4, 2, 0.999, 0.00049690680574753109},
        {"I_1e-5(1, 1e5)", 1, 1e5, 1e-5, 0.63212239823342776},
        {"I_1e-6(3, 5000)", 3, 5000, 1e-6, 2.0767834786443347e-8},
        {"I_.2(50, .5)", 50, 0.5, 0.2, 9.9942678613369837e-37},
        {"I at 0", 2, 3, 0, 0},
        {"I at 1", 2, 3, 1, 1},
    };
    static const struct row uppers[] = {
        {"the rest of I_.53(1000, 1000)", 1000, 1000, 0.53, 0.0036225247314441245},
        {"the rest of I_.501(1e5, 1e5)", 1e5, 1e5, 0.501, 0.18554674455755675},
    };
    static const struct row quantiles[] = {
        {"0 of 16", 1, 16, 0.95, 0.1707497229824809},
        {"1 of 20", 2, 19, 0.95, 0.2161061642068473},
        {"1 of 60", 2, 59, 0.95, 0.076639994934504413},
        {"2 of 100", 3, 98, 0.95, 0.061619200396040696},
        {"0 of a million", 1, 1e6, 0.95, 2.9957277863525435e-6},
        {"arcsine, far left", 0.5, 0.5, 1e-8, 2.4674011002723396e-16},
        {"narrow", 1000, 1000, 0.01, 0.47400498109766791},
        {"a tail of 1e-30", 200, 3, 1e-30, 0.68137054387722875},
        {"nothing", 2, 3, 0, 0},
        {"all", 2, 3, 1, 1},
    };
    check_rows(lowers, LKS_COUNT(lowers), beta_lower);
    check_rows(uppers, LKS_COUNT(uppers), beta_upper);
    check_rows(quantiles, LKS_COUNT(quantiles), beta_quantile);
}

static double normal_lower(const struct row *r)
{
    return lks_special_normal_lower(r->a);
}

static double normal_quantile(const struct row *r)
{
    return lks_special_normal_quantile(r->a);
}

static void test_normal(void)
{
    static const struct row lowers[] = {
        {"1.5", 1.5, 0, 0, 0.9331927987311419},
        {"-3.5", -3.5, 0, 0, 2.3262907903552502e-4},
        {"-8", -8, 0, 0, 6.2209605742717841e-16},
        {"-20", -20, 0, 0, 2.7536241186062337e-89},
        {"-37.5", -37.5, 0, 0, 4.6053530095819548e-308},
        {"5", 5, 0, 0, 0.99999971334842812},
    };
    static const struct row quantiles[] = {
        {".9", 0.9, 0, 0, 1.2815515655446004},
        {".95", 0.95, 0, 0, 1.6448536269514722},
        {".975", 0.975, 0, 0, 1.959963984540054},
        {".99", 0.99, 0, 0, 2.3263478740408408},
        {".995", 0.995, 0, 0, 2.5758293035489004},
        {".999", 0.999, 0, 0, 3.090232306167813},
        {".25", 0.25, 0, 0, -0.67448975019608174},
        {".5", 0.5, 0, 0, 0},
        {"1e-9", 1e-9, 0, 0, -5.9978070150076869},
        {"1e-20", 1e-20, 0, 0, -9.2623400897984076},
        {"1e-300", 1e-300, 0, 0, -37.047096299361199},
        {"0", 0, 0, 0, -HUGE_VAL},
        {"1", 1, 0, 0, HUGE_VAL},
    };
    check_rows(lowers, LKS_COUNT(lowers), normal_lower);
    check_rows(quantiles, LKS_COUNT(quantiles), normal_quantile);
    (void)CHECK_NEAR(lks_special_normal_upper(8), 6.2209605742717841e-16, TIGHT);
    (void)CHECK_NEAR(lks_special_normal_density(0), 0.3989422804014327, TIGHT);
}

static double t_lower(const struct row *r)
{
    return lks_special_t_lower(r->a, r->b);
}

static double t_quantile(const struct row *r)
{
    return lks_special_t_quantile(r->a, r->b);
}

static void test_t(void)
{
    static const struct row lowers[] = {
        {"near the middle", -1e-3, 4, 0, 0.49962500007812498},
        {"nu 2.5", -3.5, 2.5, 0, 0.026172773480160169},
        {"nu 3, far out", -50, 3, 0, 8.8085760206359871e-6},
        {"the worked example", -8.741127820, 7.677194583, 0, 1.48014182814779e-5},
        {"a tail of 1e-76", -30, 200, 0, 2.8620806044139259e-76},
        {"nu 1.5, very far out", -1e8, 1.5, 0, 3.770852432016246e-13},
        {"nu below 1", 2.5, 0.5, 0, 0.79951473547335341},
        {"normal", 1.5, HUGE_VAL, 0, 0.9331927987311419},
    };
    static const struct row quantiles[] = {
        {".975, 1", 0.975, 1, 0, 12.706204736174693},
        {".975, 2", 0.975, 2, 0, 4.3026527297494618},
        {".975, 3", 0.975, 3, 0, 3.1824463052837084},
        {".975, 5", 0.975, 5, 0, 2.5705818356363148},
        {".975, 7", 0.975, 7, 0, 2.3646242515927847},
        {".975, 7.677", 0.975, 7.677194583113651, 0, 2.3229910770303212},
        {".975, 10", 0.975, 10, 0, 2.2281388519862742},
        {".975, 30", 0.975, 30, 0, 2.0422724563012379},
        {".95, 1", 0.95, 1, 0, 6.3137515146750374},
        {".95, 2", 0.95, 2, 0, 2.9199855803537242},
        {".95, 3", 0.95, 3, 0, 2.3533634348018229},
        {".95, 5", 0.95, 5, 0, 2.0150483733330235},
        {".95, 7", 0.95, 7, 0, 1.8945786050900068},
        {".95, 10", 0.95, 10, 0, 1.8124611228116759},
        {".95, 30", 0.95, 30, 0, 1.6972608865939574},
        {".95, a million", 0.95, 1e6, 0, 1.6448551507220401},
        {".05, .5", 0.05, 0.5, 0, -41.136000092878271},
        {"1e-10, 4", 1e-10, 4, 0, -416.17514032960412},
        {"1e-12, 30", 1e-12, 30, 0, -11.397217523311411},
        {"1e-5, 2.2", 1e-5, 2.2, 0, -145.51405265386737},
        {"near the middle", 0.4999, 3, 0, -0.00027206990911047338},
        {"the middle", 0.5, 3, 0, 0},
        {"normal", 0.95, HUGE_VAL, 0, 1.6448536269514722},
    };
    check_rows(lowers, LKS_COUNT(lowers), t_lower);
    lks_test_case("a million degrees");
    (void)CHECK_NEAR(lks_special_t_lower(-2, 1e6), 0.022750266925659604, TIGHT);
    check_rows(quantiles, LKS_COUNT(quantiles), t_quantile);
}

/* None of n: the rule of three. Some of n: exact bounds. */
static void test_shares(void)
{
    static const struct {
        const char *name;
        uint64_t k, n;
        double upper;
    } rows[] = {
        {"0 of 8", 0, 8, 0.3123},        {"0 of 16", 0, 16, 0.1707},
        {"0 of 30", 0, 30, 0.0950},      {"0 of 60", 0, 60, 0.0487},
        {"0 of 100", 0, 100, 0.0295},    {"0 of 300", 0, 300, 0.00994},
        {"1 of 20", 1, 20, 0.2161062},   {"1 of 60", 1, 60, 0.0766400},
        {"2 of 100", 2, 100, 0.0616192}, {"all of 5", 5, 5, 1},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        (void)CHECK_NEAR(lks_special_share_upper(rows[i].k, rows[i].n, 0.95), rows[i].upper, 2e-3);
    }
    lks_test_case("exactly");
    (void)CHECK_NEAR(lks_special_share_upper(0, 8, 0.95), 1 - pow(0.05, 1.0 / 8), TIGHT);
    (void)CHECK_NEAR(lks_special_share_upper(1, 20, 0.95), 0.2161061642068473, TIGHT);
    (void)CHECK_NEAR(lks_special_share_upper(2, 100, 0.95), 0.061619200396040696, TIGHT);
}

/* Properties at random places ------------------------------------------------------------------ */

/* From 10^-3 to 10^5, each order of magnitude as often. */
static double draw(struct lks_rng *rng)
{
    return pow(10, (double)lks_rng_below(rng, 8000) / 1000 - 3);
}

static double draw_share(struct lks_rng *rng)
{
    return ((double)lks_rng_below(rng, 1000000) + 0.5) / 1e6;
}

static void test_properties(void)
{
    struct lks_rng rng = {8};
    for (int i = 0; i < 2000; i++) {
        double a = draw(&rng), b = draw(&rng), x = draw_share(&rng);
        lks_test_case("a %.17g, b %.17g, x %.17g", a, b, x);
        (void)CHECK_NEAR(lks_special_beta_lower(a, b, x) + lks_special_beta_upper(a, b, x), 1,
                         1e-14);
        (void)CHECK_NEAR(lks_special_beta_lower(a, b, x), lks_special_beta_upper(b, a, 1 - x),
                         1e-8);
        (void)CHECK(lks_special_beta_lower(a, b, x) <=
                    lks_special_beta_lower(a, b, fmin(1, x * 1.001)) + 1e-15);
        (void)CHECK_NEAR(lks_special_gamma_lower(a, b) + lks_special_gamma_upper(a, b), 1, 1e-14);
        (void)CHECK(lks_special_gamma_lower(a, b) <= lks_special_gamma_lower(a, b * 1.001) + 1e-15);
        /* Q(a+1, x) = Q(a, x) + x^a e^-x / Γ(a+1) */
        double step = exp(a * log(b) - b - lks_special_gamma_ln(a + 1));
        (void)CHECK_NEAR(
            lks_special_gamma_upper(a, b) + step - lks_special_gamma_upper(a + 1, b) + 1, 1, 1e-9);
    }
}

static void test_inverses(void)
{
    struct lks_rng rng = {9};
    for (int i = 0; i < 2000; i++) {
        double a = draw(&rng) + 0.05, b = draw(&rng) + 0.05, p = draw_share(&rng);
        double nu = draw(&rng) + 0.5;
        lks_test_case("a %.17g, b %.17g, nu %.17g, p %.17g", a, b, nu, p);
        double x = lks_special_beta_quantile(a, b, p);
        if (x > 1e-300 && x < 0.999) /* nearer to 1 a double has too few digits */
            (void)CHECK_NEAR(lks_special_beta_lower(a, b, x), p, 1e-9);
        (void)CHECK_NEAR(lks_special_normal_lower(lks_special_normal_quantile(p)), p, 1e-14);
        (void)CHECK_NEAR(lks_special_t_lower(lks_special_t_quantile(p, nu), nu), p, 1e-12);
        (void)CHECK_NEAR(lks_special_t_quantile(p, nu), -lks_special_t_quantile(1 - p, nu), 1e-9);
        (void)CHECK(lks_special_t_quantile(p * 0.999, nu) < lks_special_t_quantile(p, nu));
    }
}

/* Compilers may multiply and add in one step where the processor can. Then the last digits depend
 * on where a controller was built, and with them what a gate says at its limit. */
static void test_rounding(void)
{
    volatile double a = 1 + 0x1p-30, b = 1 - 0x1p-30; /* the product is 1 - 2^-60, rounded 1 */
    double left = a * b - 1;
    (void)CHECK(left == 0);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"special: gamma", test_gamma},
        {"special: beta", test_beta},
        {"special: normal", test_normal},
        {"special: t", test_t},
        {"special: shares", test_shares},
        {"special: properties", test_properties},
        {"special: inverses", test_inverses},
        {"special: rounding", test_rounding},
        {0},
    });
}
