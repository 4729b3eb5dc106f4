#include "core/rank.h"

#include "base/compiler.h"
#include "core/special.h"

#include <math.h>
#include <stdlib.h>

enum {
    PAIRS_MAX = LKS_RANK_EXACT_MAX * LKS_RANK_EXACT_MAX,
    RANKS_MAX = LKS_RANK_EXACT_MAX * (LKS_RANK_EXACT_MAX + 1), /* sum of ranks counted double */
};

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (fabs(*x) > fabs(*y)) - (fabs(*x) < fabs(*y));
}

static struct lks_rank both_sides(struct lks_rank r)
{
    r.both = fmin(1, 2 * fmin(r.less, r.greater));
    return r;
}

static struct lks_rank normal_sides(double statistic, double mean, double sd, bool corrected)
{
    struct lks_rank r = {.statistic = statistic, .less = 1, .greater = 1, .both = 1};
    double shift = corrected ? 0.5 : 0;
    if (sd == 0)
        return r;
    r.less = lks_normal_lower((statistic - mean + shift) / sd);
    r.greater = lks_normal_upper((statistic - mean - shift) / sd);
    return both_sides(r);
}

/* Shares of `counts`, which has them for 0 to `last`, up to and from what was seen. */
static struct lks_rank exact_sides(const double *counts, size_t last, size_t at, double statistic)
{
    double below = 0, total = 0;
    for (size_t i = 0; i <= last; i++) {
        total += counts[i];
        below += i <= at ? counts[i] : 0;
    }
    struct lks_rank r = {.statistic = statistic, .less = below / total, .exact = true};
    r.greater = (total - below + counts[at]) / total;
    return both_sides(r);
}

/* Mann and Whitney ----------------------------------------------------------------------------- */

/* The coefficients of the product of (1 - q^(others+i)) / (1 - q^i) for i up to count. The upper
 * half mirrors the lower one, and would lose its digits: small numbers as differences of large. */
void lks_rank_counts(size_t count, size_t others, double *counts)
{
    size_t all = count * others, last = all / 2;
    LKS_ASSERT(count <= LKS_RANK_EXACT_MAX && others <= LKS_RANK_EXACT_MAX);
    for (size_t u = 0; u <= last; u++)
        counts[u] = u == 0;
    for (size_t i = 1; i <= count; i++) {
        for (size_t u = last; u >= others + i && u <= last; u--)
            counts[u] -= counts[u - others - i];
        for (size_t u = i; u <= last; u++)
            counts[u] += counts[u - i];
    }
    for (size_t u = last + 1; u <= all; u++)
        counts[u] = counts[all - u];
}

/* U, and how much ties take from its variance: the sum of t³ - t over groups of t equal values. */
struct merged {
    double u, ties;
};

static size_t run_of(const double *v, size_t count, size_t from, double value)
{
    size_t n = 0;
    while (from + n < count && v[from + n] == value)
        n++;
    return n;
}

static struct merged merge(const double *x, size_t m, const double *y, size_t n)
{
    struct merged out = {0};
    for (size_t i = 0, j = 0; i < m || j < n;) {
        double value = j == n || (i < m && x[i] < y[j]) ? x[i] : y[j];
        size_t here = run_of(x, m, i, value), there = run_of(y, n, j, value);
        double t = (double)(here + there);
        out.u += (double)here * ((double)j + (double)there / 2);
        out.ties += t * t * t - t;
        i += here;
        j += there;
    }
    return out;
}

struct lks_rank lks_rank_sum(double *x, size_t count, double *y, size_t others,
                             enum lks_rank_way way)
{
    double counts[PAIRS_MAX + 1];
    LKS_ASSERT(count > 0 && others > 0);
    qsort(x, count, sizeof(*x), by_value);
    qsort(y, others, sizeof(*y), by_value);
    struct merged both = merge(x, count, y, others);
    bool small = count <= LKS_RANK_EXACT_MAX && others <= LKS_RANK_EXACT_MAX;
    if (way == LKS_RANK_AUTO && small && both.ties == 0) {
        lks_rank_counts(count, others, counts);
        return exact_sides(counts, count * others, (size_t)both.u, both.u);
    }
    double m = (double)count, n = (double)others, all = m + n;
    double variance = m * n / 12 * (all + 1 - both.ties / (all * (all - 1)));
    return normal_sides(both.u, m * n / 2, sqrt(fmax(0, variance)), way != LKS_RANK_NORMAL);
}

/* Wilcoxon ------------------------------------------------------------------------------------- */

/* In how many ways of choosing signs the double ranks with a positive one come to each sum. */
static struct lks_rank signed_exact(const double *ranks, size_t count, double positive)
{
    double counts[RANKS_MAX + 1] = {1};
    size_t last = 0;
    for (size_t i = 0; i < count; i++) {
        size_t rank = (size_t)ranks[i];
        last += rank;
        for (size_t s = last; s >= rank && s <= last; s--)
            counts[s] += counts[s - rank];
    }
    return exact_sides(counts, last, (size_t)positive, positive / 2);
}

/* Twice the rank of each size, equal ones sharing theirs; returns the sum of those that are
 * positive, and adds the cubes of groups to `ties`. */
static double double_ranks(const double *d, size_t count, double *ranks, double *ties)
{
    double positive = 0;
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        while (end < count && fabs(d[end]) == fabs(d[i]))
            end++;
        double t = (double)(end - i), rank = (double)(i + end + 1);
        *ties += t * t * t - t;
        for (; i < end; i++) {
            positive += d[i] > 0 ? rank : 0;
            if (ranks != NULL)
                ranks[i] = rank;
        }
    }
    return positive;
}

struct lks_rank lks_rank_signed(double *d, size_t count, enum lks_rank_way way)
{
    double ranks[LKS_RANK_EXACT_MAX], ties = 0;
    qsort(d, count, sizeof(*d), by_size);
    while (count > 0 && d[0] == 0) { /* zeros are first now, and say nothing */
        d++;
        count--;
    }
    if (count == 0)
        return (struct lks_rank){.less = 1, .greater = 1, .both = 1, .exact = true};
    bool exact = way == LKS_RANK_AUTO && count <= LKS_RANK_EXACT_MAX;
    double positive = double_ranks(d, count, exact ? ranks : NULL, &ties);
    if (exact)
        return signed_exact(ranks, count, positive);
    double n = (double)count, variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48;
    return normal_sides(positive / 2, n * (n + 1) / 4, sqrt(variance), way != LKS_RANK_NORMAL);
}

/* Hodges and Lehmann, Moses -------------------------------------------------------------------- */

/* How many differences are at most `limit`; both arrays are sorted. */
static size_t pairs_up_to(const double *x, size_t m, const double *y, size_t n, double limit)
{
    size_t pairs = 0, j = n; /* y[j..] are near enough to x[i] */
    for (size_t i = 0; i < m; i++) {
        while (j > 0 && x[i] - y[j - 1] <= limit)
            j--;
        while (j < n && x[i] - y[j] > limit)
            j++;
        pairs += n - j;
    }
    return pairs;
}

/* The difference of which `rank` (from 1) are at most as large: halving what is left until no
 * number lies between. It needs no memory, where there may be very many pairs. */
static double pair_at(const double *x, size_t m, const double *y, size_t n, size_t rank)
{
    double low = x[0] - y[n - 1], high = x[m - 1] - y[0];
    if (pairs_up_to(x, m, y, n, low) >= rank)
        return low;
    for (;;) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            return high;
        *(pairs_up_to(x, m, y, n, middle) >= rank ? &high : &low) = middle;
    }
}

/* How many differences may be cut off at each end, and the chance that each is then wrong. */
static size_t moses_cut(size_t m, size_t n, double alpha, double *chance)
{
    double counts[PAIRS_MAX + 1], total = 0, below = 0;
    size_t cut = 0;
    if (m > LKS_RANK_EXACT_MAX || n > LKS_RANK_EXACT_MAX) {
        double pairs = (double)m * (double)n, all = (double)(m + n);
        double at = pairs / 2 + lks_normal_quantile(alpha) * sqrt(pairs * (all + 1) / 12);
        *chance = alpha;
        return at > 0 ? (size_t)at : 0;
    }
    lks_rank_counts(m, n, counts);
    for (size_t u = 0; u <= m * n; u++)
        total += counts[u];
    while (cut < m * n && (below + counts[cut]) / total <= alpha)
        below += counts[cut++];
    *chance = below / total;
    return cut;
}

struct lks_shift lks_shift(double *x, size_t count, double *y, size_t others, double alpha)
{
    double chance;
    size_t pairs = count * others;
    LKS_ASSERT(count > 0 && others > 0 && alpha > 0 && alpha < 0.5);
    qsort(x, count, sizeof(*x), by_value);
    qsort(y, others, sizeof(*y), by_value);
    struct lks_shift s = {.cut = moses_cut(count, others, alpha, &chance)};
    double middle = pair_at(x, count, y, others, (pairs + 1) / 2);
    s.estimate = (middle + pair_at(x, count, y, others, pairs / 2 + 1)) / 2;
    s.lower = s.cut > 0 ? pair_at(x, count, y, others, s.cut + 1) : -HUGE_VAL;
    s.upper = s.cut > 0 ? pair_at(x, count, y, others, pairs - s.cut) : HUGE_VAL;
    s.confidence = 1 - 2 * chance;
    return s;
}
