/*
 * Evidence that may be looked at while it comes in.
 *
 * A test that is made again and again until it says no will say no. These do not: whatever moment
 * is chosen to stop, the chance of a false alarm is the one that was asked for. Each is a value
 * without pointers that is fed with what happened since the last time; zero-initialised fields that
 * are not named by a caller are its beginning. Likelihoods are kept as logarithms.
 *
 *     lks_sprt         one rate against another, both known (Wald)
 *     lks_event_rate   a rate against a known one: gamma-Poisson mixture
 *     lks_event_split  events of canaries against those of controls, no rate known: beta-binomial
 *     lks_sequential_msprt_half   a mean with a normal error: mixture SPRT, as a confidence
 * sequence lks_spend_...    a few planned looks that share the error: Lan and DeMets
 */
#ifndef LKS_CORE_SEQUENTIAL_H
#define LKS_CORE_SEQUENTIAL_H

#include <stdbool.h>
#include <stddef.h>

/* Wald's sequential probability ratio test ----------------------------------------------------- */

enum lks_sprt_end { LKS_SPRT_OPEN, LKS_SPRT_ACCEPT, LKS_SPRT_HALT };

struct lks_sprt {
    double event, quiet; /* what an event and a unit of quiet add */
    double accept, halt; /* the limits */
    double ln_ratio;     /* so far */
    enum lks_sprt_end end;
};

/* Quiet is counted in exposure (node-hours). `alpha` is the chance to halt where the first rate
 * holds, `beta` to accept where the second does. */
struct lks_sprt lks_sequential_sprt_rates(double alpha, double beta, double good, double bad);

/* The first limit that is reached decides, and stays. */
void lks_sequential_sprt_feed(struct lks_sprt *s, double events, double quiet);

/* Gamma-Poisson -------------------------------------------------------------------------------- */

/* Halt once `ln_most` is at least ln(1/alpha). */
struct lks_event_rate {
    double rate;           /* what is normal, for a unit of exposure */
    double shape, inverse; /* prior of the rate: gamma with this shape and inverse scale */
    bool both;             /* also of lower rates; otherwise only of higher ones */
    double events, exposure;
    double ln_e, ln_most; /* now, and the most there was */
};

void lks_sequential_event_rate_feed(struct lks_event_rate *r, double events, double exposure);

/* Beta-binomial
 * ----------------------------------------------------------------------------------*/

/* Under no difference an event is a canary's with the chance `share`: the canaries' part of the
 * exposure, which may change from one feeding to the next. */
struct lks_event_split {
    double prior_canary, prior_control; /* of the beta prior; 1 and 1 is flat */
    bool both;
    double canary, control;
    double ln_e, ln_most;
};

void lks_sequential_event_split_feed(struct lks_event_split *s, double canary, double control,
                                     double share);

/* Normal mixture ------------------------------------------------------------------------------- */

/* The mixture SPRT of a mean, turned round: every mean that it does not reject. The truth is always
 * within this of an estimate with this variance, at every look together, but for the chance
 * `alpha`; effects of about `tau` are looked for. */
double lks_sequential_msprt_half(double variance, double tau, double alpha);

/* Planned looks -------------------------------------------------------------------------------- */

#define LKS_LOOKS_MAX 24

enum lks_spending {
    LKS_SPEND_OBF,    /* of O'Brien and Fleming's kind: almost nothing at first */
    LKS_SPEND_POCOCK, /* of Pocock's kind: evenly */
};

/* How much of `alpha` is spent when the part `at` (0 to 1) of the information is there. */
double lks_sequential_spend_by(enum lks_spending kind, double alpha, double at);

/* The limits, as standard scores, at looks with these parts of the information, which rise to at
 * most 1: crossing any of them has the chance `alpha` (one-sided) at the last. Looks that are
 * closer together than a thousandth of the information are treated as that far apart. */
void lks_sequential_spend_limits(enum lks_spending kind, double alpha, const double *at,
                                 size_t looks, double *limits);

#endif
