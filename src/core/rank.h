/*
 * Tests by rank: the robust twins of the t test, on which one wild unit has little weight.
 *
 * They sort the arrays they are given. Null distributions are exact up to LKS_RANK_EXACT_MAX in
 * each group, and normal above it.
 */
#ifndef LKS_CORE_RANK_H
#define LKS_CORE_RANK_H

#include <stdbool.h>
#include <stddef.h>

#define LKS_RANK_EXACT_MAX 50

enum lks_rank_way {
    LKS_RANK_AUTO,      /* exact where it can be, otherwise corrected */
    LKS_RANK_NORMAL,    /* the normal approximation */
    LKS_RANK_CORRECTED, /* the same with a correction for continuity */
};

struct lks_rank {
    double statistic; /* U of the first group (ties count half), or the sum of positive ranks */
    double less, greater, both;
    bool exact;
};

/* Mann and Whitney: are the first group's numbers lower than the second's? With ties never exact:
 * the table does not know them. U / (count * others) is the chance that one of the first is above
 * one of the second. Both groups have at least one. */
struct lks_rank lks_rank_sum(double *x, size_t count, double *y, size_t others,
                             enum lks_rank_way way);

/* Wilcoxon: do these differences lie below 0? Zeros are left out; exact with ties, too. */
struct lks_rank lks_rank_signed(double *d, size_t count, enum lks_rank_way way);

/* By how much the first group's numbers are shifted (Hodges and Lehmann), and exact bounds of it
 * (Moses), each of them wrong with at most the chance `alpha`. Without enough units for that a
 * bound is infinite. */
struct lks_shift {
    double estimate, lower, upper;
    double confidence; /* that the truth is between the bounds, at least */
    size_t cut;        /* differences left out at each end */
};

struct lks_shift lks_shift(double *x, size_t count, double *y, size_t others, double alpha);

/* How often each U comes among all ways to mix the two groups: `counts` has room for count * others
 * + 1, and each group at most LKS_RANK_EXACT_MAX. */
void lks_rank_counts(size_t count, size_t others, double *counts);

#endif
