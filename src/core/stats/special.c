#include "core/stats/special.h"

#include "base/compiler.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define LN_2PI      1.8378770664093454836
#define TURNS_MAX   1000000 /* about the root of the largest parameter that is meant */
#define NEWTONS_MAX 200
#define LOGIT_MAX   700.0 /* as far as shares go before they are 0 or 1 */
#define TINY        1e-300

/* Both tails as logarithms, so that neither underflows. */
struct tails {
    double lower, upper;
};

double lks_special_gamma_ln(double x)
{
    int sign;
    LKS_ASSERT(x > 0);
    return lgamma_r(x, &sign); /* lgamma() writes a variable that threads share */
}

double lks_special_beta_ln(double a, double b)
{
    return lks_special_gamma_ln(a) + lks_special_gamma_ln(b) - lks_special_gamma_ln(a + b);
}

/* ln(1 - e^l) for l <= 0 without loss at either end. */
static double ln_rest(double l)
{
    if (l >= 0)
        return -HUGE_VAL;
    return l > -M_LN2 ? log(-expm1(l)) : log1p(-exp(l));
}

/* What multiplies the fractions ---------------------------------------------------------------- */

/* ln Γ(n+1) less Stirling's formula (n+½) ln n - n + ½ ln 2π. */
static double stirling_error(double n)
{
    if (n < 16)
        return lks_special_gamma_ln(n + 1) - (n + 0.5) * log(n) + n - LN_2PI / 2;
    double s = 1 / (n * n);
    double sum = 1.0 / 1188 - s * 691.0 / 360360;
    sum = 1.0 / 1680 - s * sum;
    sum = 1.0 / 1260 - s * sum;
    sum = 1.0 / 360 - s * sum;
    return (1.0 / 12 - s * sum) / n;
}

/* x ln(x/m) + m - x: what is lost to cancellation near x = m is summed as a series instead. */
static double deviance(double x, double m)
{
    if (fabs(x - m) >= 0.1 * (x + m))
        return x * log(x / m) + m - x;
    double v = (x - m) / (x + m);
    double sum = (x - m) * v, term = 2 * x * v, before = sum + 1;
    for (int j = 1; j < 1000 && sum != before; j++) {
        before = sum;
        term *= v * v;
        sum += term / (2 * j + 1);
    }
    return sum;
}

/* ln(x^a e^-x / Γ(a)) */
static double gamma_front(double a, double x)
{
    return (log(a) - LN_2PI) / 2 - stirling_error(a) - deviance(a, x);
}

/* ln(x^a y^b / B(a,b)), y being 1 - x. */
static double beta_front(double a, double b, double x, double y)
{
    double n = a + b;
    double errors = stirling_error(n) - stirling_error(a) - stirling_error(b);
    return (log(a) + log(b) - log(n) - LN_2PI) / 2 + errors - deviance(a, n * x) -
           deviance(b, n * y);
}

/* Incomplete gamma ----------------------------------------------------------------------------- */

static double gamma_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int i = 1; i < TURNS_MAX && term > sum * DBL_EPSILON / 4; i++) {
        term *= x / (a + i);
        sum += term;
    }
    return sum;
}

static double not_zero(double v)
{
    return fabs(v) < TINY ? TINY : v;
}

/* Lentz's way to evaluate a continued fraction, here that of the upper tail. */
static double gamma_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1 / TINY, d = 1 / not_zero(b), h = d;
    for (int i = 1; i < TURNS_MAX; i++) {
        double an = -i * (i - a);
        b += 2;
        d = 1 / not_zero(an * d + b);
        c = not_zero(b + an / c);
        h *= d * c;
        if (fabs(d * c - 1) < DBL_EPSILON)
            break;
    }
    return h;
}

static struct tails gamma_tails(double a, double x)
{
    struct tails t;
    LKS_ASSERT(a > 0 && x >= 0);
    if (x == 0)
        return (struct tails){-HUGE_VAL, 0};
    if (isinf(x))
        return (struct tails){0, -HUGE_VAL};
    if (x < a + 1) {
        t.lower = gamma_front(a, x) + log(gamma_series(a, x));
        t.upper = ln_rest(t.lower);
    } else {
        t.upper = gamma_front(a, x) + log(gamma_fraction(a, x));
        t.lower = ln_rest(t.upper);
    }
    return t;
}

double lks_special_gamma_lower(double a, double x)
{
    return exp(gamma_tails(a, x).lower);
}

double lks_special_gamma_upper(double a, double x)
{
    return exp(gamma_tails(a, x).upper);
}

double lks_special_gamma_upper_ln(double a, double x)
{
    return gamma_tails(a, x).upper;
}

/* Incomplete beta ------------------------------------------------------------------------------ */

/* The fraction of Didonato and Morris: its terms keep their digits near x = 1, too. The lower tail
 * is what stands in front, divided by it. */
static double beta_fraction(double a, double b, double x, double y)
{
    double start = a * y - b * x + 1;
    double h = not_zero(a * start / (a + 1)), c = h, d = 0;
    for (int i = 1; i < TURNS_MAX; i++) {
        double m = i, odd = a + 2 * m - 1, share = m * (b - m) * x / odd;
        double above = (a + m - 1) * (a + b + m - 1) / odd * x * share;
        double below = m + share + (a + m) * (start + m * (1 + y)) / (odd + 2);
        d = 1 / not_zero(below + above * d);
        c = not_zero(below + above / c);
        h *= c * d;
        if (fabs(c * d - 1) < DBL_EPSILON)
            break;
    }
    return h;
}

/* `y` is 1 - `x`, which the caller may know better. */
static struct tails beta_tails(double a, double b, double x, double y)
{
    struct tails t;
    LKS_ASSERT(a > 0 && b > 0 && x >= 0 && y >= 0);
    if (x == 0)
        return (struct tails){-HUGE_VAL, 0};
    if (y == 0)
        return (struct tails){0, -HUGE_VAL};
    if (x * (a + b + 2) < a + 1) {
        t.lower = beta_front(a, b, x, y) - log(beta_fraction(a, b, x, y));
        t.upper = ln_rest(t.lower);
    } else {
        t.upper = beta_front(a, b, x, y) - log(beta_fraction(b, a, y, x));
        t.lower = ln_rest(t.upper);
    }
    return t;
}

double lks_special_beta_lower(double a, double b, double x)
{
    return exp(beta_tails(a, b, x, 1 - x).lower);
}

double lks_special_beta_upper(double a, double b, double x)
{
    return exp(beta_tails(a, b, x, 1 - x).upper);
}

double lks_special_beta_upper_ln(double a, double b, double x)
{
    return beta_tails(a, b, x, 1 - x).upper;
}

/* The u = ln(x / (1 - x)) with these tails: Newton's steps on the logarithm of the smaller tail,
 * halving what is left of the bracket where a step leaves it. Both ends of x keep their digits. */
static double beta_solve(double a, double b, struct tails want)
{
    bool low = want.lower <= want.upper;
    double from = -LOGIT_MAX, to = LOGIT_MAX, u = log(a / b);
    for (int i = 0; i < NEWTONS_MAX; i++) {
        double x = 1 / (1 + exp(-u)), y = 1 / (1 + exp(u));
        struct tails t = beta_tails(a, b, x, y);
        double miss = low ? t.lower - want.lower : want.upper - t.upper;
        if (miss == 0)
            return u;
        *(miss > 0 ? &to : &from) = u;
        double slope = exp(beta_front(a, b, x, y) - (low ? t.lower : t.upper));
        double next = u - miss / slope;
        if (!(next > from && next < to))
            next = from + (to - from) / 2;
        if (fabs(next - u) <= 2 * DBL_EPSILON * fmax(1, fabs(u)))
            return next;
        u = next;
    }
    return u;
}

double lks_special_beta_quantile(double a, double b, double p)
{
    LKS_ASSERT(a > 0 && b > 0 && p >= 0 && p <= 1);
    if (p == 0 || p == 1)
        return p;
    return 1 / (1 + exp(-beta_solve(a, b, (struct tails){log(p), log1p(-p)})));
}

/* Normal and t --------------------------------------------------------------------------------- */

double lks_special_normal_density(double z)
{
    return exp(-(z * z + LN_2PI) / 2);
}

double lks_special_normal_lower(double z)
{
    return erfc(-z * M_SQRT1_2) / 2;
}

double lks_special_normal_upper(double z)
{
    return erfc(z * M_SQRT1_2) / 2;
}

/* A first guess (Abramowitz and Stegun 26.2.23, good to 5e-4), then Halley's steps, each of which
 * leaves about the third power of the error. */
double lks_special_normal_quantile(double p)
{
    LKS_ASSERT(p >= 0 && p <= 1);
    if (p == 0 || p == 1)
        return p == 0 ? -HUGE_VAL : HUGE_VAL;
    double q = p < 0.5 ? p : 1 - p, s = sqrt(-2 * log(q));
    double z = s - (2.515517 + s * (0.802853 + s * 0.010328)) /
                       (1 + s * (1.432788 + s * (0.189269 + s * 0.001308)));
    for (int i = 0; i < 3; i++) {
        double step = (lks_special_normal_upper(z) - q) / lks_special_normal_density(z);
        z += step / (1 - step * z / 2);
    }
    return p < 0.5 ? -z : z;
}

double lks_special_t_lower(double t, double nu)
{
    LKS_ASSERT(nu > 0);
    if (isinf(nu))
        return lks_special_normal_lower(t);
    double r = t / sqrt(nu), square = r * r;
    double x = 1 / (1 + square), y = isinf(square) ? 1 : square / (1 + square);
    struct tails both = beta_tails(nu / 2, 0.5, x, y);
    double tail = exp(both.lower) / 2;
    if (t < 0)
        return tail;
    return 0.5 + exp(both.upper) / 2;
}

double lks_special_t_quantile(double p, double nu)
{
    LKS_ASSERT(p >= 0 && p <= 1 && nu > 0);
    if (p == 0 || p == 1 || isinf(nu))
        return lks_special_normal_quantile(p);
    double outside = 2 * (p < 0.5 ? p : 1 - p); /* beyond the quantile and its mirror image */
    if (outside == 1)
        return 0;
    double u = beta_solve(nu / 2, 0.5, (struct tails){log(outside), log1p(-outside)});
    double t = sqrt(nu) * exp(-u / 2);
    return p < 0.5 ? -t : t;
}

/* Counts --------------------------------------------------------------------------------------- */

double lks_special_share_upper(uint64_t k, uint64_t n, double confidence)
{
    LKS_ASSERT(k <= n);
    return k == n ? 1 : lks_special_beta_quantile((double)k + 1, (double)(n - k), confidence);
}
