/*
 * Special functions behind the statistics of gates.
 *
 * Continued fractions and series for the incomplete gamma and beta function, and everything that is
 * a tail of them: normal, Student's t with any degrees of freedom, exact bounds of a share. What
 * multiplies them is computed the way C. Loader does (as deviance from the mean), so that large
 * arguments keep their digits. Relative errors are below 1e-12 for parameters up to 1e6, of small
 * tails, too; a `_ln` gives the logarithm where the value itself would be zero.
 *
 * Arguments outside a function's domain are a mistake of the caller, and assert.
 */
#ifndef LKS_CORE_SPECIAL_H
#define LKS_CORE_SPECIAL_H

#include <stdint.h>

/* The logarithms of the gamma function of `x` > 0 and of the beta function. */
double lks_special_gamma_ln(double x);
double lks_special_beta_ln(double a, double b);

/* The regularised incomplete gamma functions P (below `x`) and Q (above it); `a` > 0, `x` >= 0. */
double lks_special_gamma_lower(double a, double x);
double lks_special_gamma_upper(double a, double x);
double lks_special_gamma_upper_ln(double a, double x);

/* The regularised incomplete beta function I_x(a, b), what is left of it to 1, and the `x` where it
 * is `p`. `a`, `b` > 0; `x`, `p` from 0 to 1. */
double lks_special_beta_lower(double a, double b, double x);
double lks_special_beta_upper(double a, double b, double x);
double lks_special_beta_upper_ln(double a, double b, double x);
double lks_special_beta_quantile(double a, double b, double p);

/* The normal distribution; the quantile of 0 and 1 is infinite. */
double lks_special_normal_density(double z);
double lks_special_normal_lower(double z);
double lks_special_normal_upper(double z);
double lks_special_normal_quantile(double p);

/* Student's t with `nu` > 0 degrees of freedom; with infinitely many it is the normal one. */
double lks_special_t_lower(double t, double nu);
double lks_special_t_quantile(double p, double nu);

/* The exact upper bound (Clopper and Pearson) of a share of which `k` of `n` were seen, one-sided
 * with this confidence. */
double lks_special_share_upper(uint64_t k, uint64_t n, double confidence);

#endif
