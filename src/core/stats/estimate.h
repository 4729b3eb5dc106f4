/*
 * How much a change did, and how sure that is.
 *
 * Each unit (a node, or a domain) is one number: what it gained from before to after. The change is
 * what the units that were changed gained more than those that were not: the difference of
 * differences, so that neither good and bad nodes nor a drift of the whole fleet count.
 */
#ifndef LKS_CORE_ESTIMATE_H
#define LKS_CORE_ESTIMATE_H

#include "base/rng.h"

#include <stddef.h>

/* One number for each unit. The arrays are the caller's. */
struct lks_arms {
    const double *canary, *control;
    size_t canary_count, control_count;
};

/* Welch's t ------------------------------------------------------------------------------------ */

struct lks_welch {
    double estimate; /* mean of the canaries less mean of the controls */
    double se;       /* its standard error; 0: nothing varies, and the estimate is exact */
    double nu;       /* degrees of freedom; 0: an arm has fewer than two units, nothing is known */
};

struct lks_welch lks_estimate_welch(const struct lks_arms *arms);

/* One-sided bounds: the truth is beyond each of them with the chance `alpha`. */
double lks_estimate_welch_lower(const struct lks_welch *w, double alpha);
double lks_estimate_welch_upper(const struct lks_welch *w, double alpha);

/* The chance of an estimate as low as this one, or lower, were the truth `theta`. */
double lks_estimate_welch_less(const struct lks_welch *w, double theta);

/* Exact randomisation -------------------------------------------------------------------------- */

#define LKS_RELABEL_MAX 1000000 /* ways to choose the canaries that are all looked at */

struct lks_relabel {
    double less, greater, both; /* share of relabellings with such a difference, or a larger one */
    uint64_t looked;
    bool exact; /* all of them; otherwise drawn, and the shares are (b + 1) / (looked + 1) */
};

/* What if others had been the canaries? Of more ways than LKS_RELABEL_MAX, `rounds` are drawn with
 * `rng`. Each arm has at least one unit. */
struct lks_relabel lks_estimate_relabel(const struct lks_arms *arms, uint64_t rounds,
                                        struct lks_rng *rng);

/* The least share that relabelling can come to: one over the number of ways. */
double lks_estimate_relabel_least(size_t canaries, size_t controls);

/* Power ---------------------------------------------------------------------------------------- */

/* What is asked of a test before it is made. */
struct lks_power_plan {
    size_t canaries, controls;
    double sigma; /* standard deviation of what units gain */
    double alpha; /* one-sided */
};

/* The chance that the test finds an effect of this size: of the noncentral t, integrated, with
 * Welch's degrees of freedom for equal spreads. Those of a test vary with its data, so against
 * simulation it is up to 0.03 too hopeful with four units in an arm, 0.07 with three, and within
 * 0.005 with eight. */
double lks_estimate_power(const struct lks_power_plan *p, double effect);

/* The smallest effect that is found with this chance. */
double lks_estimate_power_effect(const struct lks_power_plan *p, double power);

/* Many tests at once --------------------------------------------------------------------------- */

#define LKS_TESTS_MAX 64 /* metrics and counts that share an error */

#endif
