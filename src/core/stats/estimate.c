#include "core/stats/estimate.h"

#include "core/stats/special.h"

#include <math.h>

/* Means and Welch's t -------------------------------------------------------------------------- */

struct moments {
    double mean, variance; /* the variance of the mean is this over the count */
};

/* Around the first value, so that equal values have exactly no variance. */
static struct moments moments_of(const double *v, size_t count)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += v[i] - v[0];
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (v[i] - v[0] - mean) * (v[i] - v[0] - mean);
    return (struct moments){v[0] + mean, count > 1 ? squares / (double)(count - 1) : 0};
}

static double welch_nu(double v1, size_t n1, double v2, size_t n2)
{
    double sum = v1 + v2;
    if (sum == 0)
        return HUGE_VAL;
    double a = v1 / sum, b = v2 / sum; /* shares, since squares of small variances underflow */
    return 1 / (a * a / (double)(n1 - 1) + b * b / (double)(n2 - 1));
}

struct lks_welch lks_estimate_welch(const struct lks_arms *arms)
{
    size_t n1 = arms->canary_count, n2 = arms->control_count;
    if (n1 < 1 || n2 < 1)
        return (struct lks_welch){0};
    struct moments canary = moments_of(arms->canary, n1), control = moments_of(arms->control, n2);
    struct lks_welch w = {.estimate = canary.mean - control.mean};
    if (n1 < 2 || n2 < 2)
        return w;
    double v1 = canary.variance / (double)n1, v2 = control.variance / (double)n2;
    w.se = sqrt(v1 + v2);
    w.nu = welch_nu(v1, n1, v2, n2);
    return w;
}

static double half_width(const struct lks_welch *w, double alpha)
{
    if (w->nu == 0)
        return HUGE_VAL;
    return w->se == 0 ? 0 : -lks_special_t_quantile(alpha, w->nu) * w->se;
}

double lks_estimate_welch_lower(const struct lks_welch *w, double alpha)
{
    return w->estimate - half_width(w, alpha);
}

double lks_estimate_welch_upper(const struct lks_welch *w, double alpha)
{
    return w->estimate + half_width(w, alpha);
}

double lks_estimate_welch_less(const struct lks_welch *w, double theta)
{
    if (w->nu == 0)
        return 1;
    if (w->se == 0)
        return w->estimate < theta ? 0 : 1;
    return lks_special_t_lower((w->estimate - theta) / w->se, w->nu);
}

/* Exact randomisation -------------------------------------------------------------------------- */

enum { CHOSEN_MAX = 11 }; /* of twice as many there are 705,432 ways, of one more too many */

/* All values around their mean, the smaller arm first: a difference of means then has the sign and
 * the order of the sum over the arm that is chosen. */
struct pool {
    const struct lks_arms *arms;
    bool swapped; /* the controls are chosen instead, and signs turn */
    size_t chosen, all;
    double mean, tolerance, seen;
    uint64_t low, high, both, looked;
};

static double value_at(const struct pool *p, size_t i)
{
    const struct lks_arms *a = p->arms;
    double v = i < a->canary_count ? a->canary[i] : a->control[i - a->canary_count];
    return v - p->mean;
}

static double ways(size_t all, size_t chosen)
{
    double n = 1;
    for (size_t i = 1; i <= chosen && n <= LKS_RELABEL_MAX; i++)
        n = n * (double)(all - chosen + i) / (double)i;
    return n;
}

double lks_estimate_relabel_least(size_t canaries, size_t controls)
{
    return exp(lks_special_gamma_ln((double)canaries + 1) +
               lks_special_gamma_ln((double)controls + 1) -
               lks_special_gamma_ln((double)(canaries + controls) + 1));
}

static void pool_init(struct pool *p, const struct lks_arms *a)
{
    double largest = 0;
    *p = (struct pool){.arms = a, .swapped = a->control_count < a->canary_count};
    p->all = a->canary_count + a->control_count;
    p->chosen = p->swapped ? a->control_count : a->canary_count;
    for (size_t i = 0; i < p->all; i++)
        p->mean += value_at(&(struct pool){.arms = a}, i) / (double)p->all;
    for (size_t i = 0; i < p->all; i++) {
        double v = value_at(p, i);
        largest = fmax(largest, fabs(v));
        if (i < a->canary_count)
            p->seen += v;
    }
    p->tolerance = 1e-12 * largest * (double)p->all; /* sums in another order are the same */
}

static void count_sum(struct pool *p, double sum)
{
    sum = p->swapped ? -sum : sum;
    p->looked++;
    p->low += sum <= p->seen + p->tolerance;
    p->high += sum >= p->seen - p->tolerance;
    p->both += fabs(sum) >= fabs(p->seen) - p->tolerance;
}

/* Every way to choose, in the order of their indices; sums[i] is that of the first i. */
static void enumerate(struct pool *p)
{
    size_t index[CHOSEN_MAX], k = p->chosen, at = 0;
    double sums[CHOSEN_MAX + 1] = {0};
    LKS_ASSERT(k >= 1 && k <= CHOSEN_MAX);
    index[0] = 0;
    for (;;) {
        for (; at < k; at++) {
            sums[at + 1] = sums[at] + value_at(p, index[at]);
            if (at + 1 < k)
                index[at + 1] = index[at] + 1;
        }
        count_sum(p, sums[k]);
        do {
            if (at == 0)
                return;
            at--;
        } while (index[at] == p->all - k + at);
        index[at]++;
    }
}

/* Each of those left is taken with the chance needed / left: every choice is equally likely. */
static double draw_sum(const struct pool *p, struct lks_rng *rng)
{
    size_t needed = p->chosen;
    double sum = 0;
    for (size_t i = 0; i < p->all && needed > 0; i++) {
        if (lks_rng_below(rng, p->all - i) >= needed)
            continue;
        sum += value_at(p, i);
        needed--;
    }
    return sum;
}

struct lks_relabel lks_estimate_relabel(const struct lks_arms *arms, uint64_t rounds,
                                        struct lks_rng *rng)
{
    struct pool p;
    LKS_ASSERT(arms->canary_count > 0 && arms->control_count > 0);
    pool_init(&p, arms);
    bool exact = ways(p.all, p.chosen) <= LKS_RELABEL_MAX;
    if (exact)
        enumerate(&p);
    for (uint64_t i = 0; !exact && i < rounds; i++)
        count_sum(&p, draw_sum(&p, rng));
    double one = exact ? 0 : 1, of = (double)p.looked + one; /* what was seen is one of the drawn */
    return (struct lks_relabel){.less = ((double)p.low + one) / of,
                                .greater = ((double)p.high + one) / of,
                                .both = ((double)p.both + one) / of,
                                .looked = p.looked,
                                .exact = exact};
}

/* Power ---------------------------------------------------------------------------------------- */

#define POWER_STEPS 2000 /* of Simpson's rule; even */

/* The density of s = chi(nu) / sqrt(nu), the estimate of a standard deviation of 1. */
static double spread_density(double s, double nu)
{
    double ln = M_LN2 + nu / 2 * log(nu / 2) - lks_special_gamma_ln(nu / 2) + (nu - 1) * log(s);
    return s <= 0 ? 0 : exp(ln - nu * s * s / 2);
}

double lks_estimate_power(const struct lks_power_plan *p, double effect)
{
    double n1 = (double)p->canaries, n2 = (double)p->controls;
    if (p->canaries < 2 || p->controls < 2)
        return 0;
    if (p->sigma <= 0)
        return effect != 0;
    double nu = welch_nu(1 / n1, p->canaries, 1 / n2, p->controls);
    double far = fabs(effect) / (p->sigma * sqrt(1 / n1 + 1 / n2));
    double limit = -lks_special_t_quantile(p->alpha, nu);
    double top = 1 + 12 / sqrt(nu), h = top / POWER_STEPS, sum = 0;
    for (int i = 1; i <= POWER_STEPS; i++) {
        double s = h * i, weight = i == POWER_STEPS ? 1 : 2 + 2 * (i % 2);
        sum += weight * spread_density(s, nu) * lks_special_normal_lower(far - limit * s);
    }
    return fmin(1, sum * h / 3);
}

double lks_estimate_power_effect(const struct lks_power_plan *p, double power)
{
    double low = 0, high = p->sigma;
    LKS_ASSERT(power > 0 && power < 1);
    if (p->canaries < 2 || p->controls < 2)
        return HUGE_VAL;
    for (int i = 0; i < 60 && lks_estimate_power(p, high) < power; i++)
        high *= 2;
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        *(lks_estimate_power(p, middle) < power ? &low : &high) = middle;
    }
    return high;
}
