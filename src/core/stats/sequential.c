#include "core/stats/sequential.h"

#include "base/compiler.h"
#include "core/stats/special.h"

#include <math.h>

/* Wald ----------------------------------------------------------------------------------------- */

struct lks_sprt lks_sequential_sprt_rates(double alpha, double beta, double good, double bad)
{
    LKS_ASSERT(alpha > 0 && beta > 0 && alpha + beta < 1 && good > 0 && good < bad);
    return (struct lks_sprt){.event = log(bad / good),
                             .quiet = good - bad,
                             .accept = log(beta / (1 - alpha)),
                             .halt = log((1 - beta) / alpha)};
}

void lks_sequential_sprt_feed(struct lks_sprt *s, double events, double quiet)
{
    if (s->end != LKS_SPRT_OPEN)
        return;
    s->ln_ratio += events * s->event + quiet * s->quiet;
    if (s->ln_ratio >= s->halt)
        s->end = LKS_SPRT_HALT;
    else if (s->ln_ratio <= s->accept)
        s->end = LKS_SPRT_ACCEPT;
}

/* Mixtures ------------------------------------------------------------------------------------- */

void lks_sequential_event_rate_feed(struct lks_event_rate *r, double events, double exposure)
{
    LKS_ASSERT(r->rate > 0 && r->shape > 0 && r->inverse > 0 && events >= 0 && exposure >= 0);
    r->events += events;
    r->exposure += exposure;
    double shape = r->shape + r->events, inverse = r->inverse + r->exposure;
    double mixed = r->shape * log(r->inverse) - shape * log(inverse) + lks_special_gamma_ln(shape) -
                   lks_special_gamma_ln(r->shape);
    r->ln_e = mixed - (r->events * log(r->rate) - r->rate * r->exposure);
    if (!r->both)
        r->ln_e += lks_special_gamma_upper_ln(shape, inverse * r->rate) -
                   lks_special_gamma_upper_ln(r->shape, r->inverse * r->rate);
    r->ln_most = fmax(r->ln_most, r->ln_e);
}

/* What is known so far is the prior of the next events, cut off below their share. Where the share
 * stays the same the product is that of all events at once. */
void lks_sequential_event_split_feed(struct lks_event_split *s, double canary, double control,
                                     double share)
{
    LKS_ASSERT(share > 0 && share < 1 && canary >= 0 && control >= 0);
    double a = s->prior_canary + s->canary, b = s->prior_control + s->control;
    s->ln_e += lks_special_beta_ln(a + canary, b + control) - lks_special_beta_ln(a, b) -
               (canary * log(share) + control * log1p(-share));
    if (!s->both)
        s->ln_e += lks_special_beta_upper_ln(a + canary, b + control, share) -
                   lks_special_beta_upper_ln(a, b, share);
    s->canary += canary;
    s->control += control;
    s->ln_most = fmax(s->ln_most, s->ln_e);
}

double lks_sequential_msprt_half(double variance, double tau, double alpha)
{
    double sum = variance + tau * tau;
    return sqrt(variance * sum / (tau * tau) * (log(sum / variance) - 2 * log(alpha)));
}

/* Lan and DeMets ------------------------------------------------------------------------------- */

#define PAIRS_MAX 1000 /* of steps: Simpson's rule goes by two */
#define GRID_MAX  (2 * PAIRS_MAX + 1)
#define GRID_STEP 0.2    /* two steps, in standard deviations of what comes until the next look */
#define FAR       8.0    /* standard scores beyond which nothing is */
#define LEAST     0.001  /* of the information between two looks */
#define NEVER     1e-300 /* spent: less would be an infinite limit */

double lks_sequential_spend_by(enum lks_spending kind, double alpha, double at)
{
    if (at <= 0)
        return 0;
    at = fmin(at, 1);
    if (kind == LKS_SPEND_POCOCK)
        return alpha * log1p((M_E - 1) * at);
    return 2 * lks_special_normal_upper(-lks_special_normal_quantile(alpha / 2) / sqrt(at));
}

/* Where the score times the root of the information can be without having crossed a limit: weights
 * (density times step) at points of an even grid. */
struct paths {
    size_t count;
    double at; /* the information */
    double place[GRID_MAX], weight[GRID_MAX];
};

/* An even grid from far below to the limit, with Simpson's weights, fine enough for what comes in
 * until the next look. */
static void grid_init(struct paths *p, double at, double limit, double step)
{
    double low = -FAR * sqrt(at), range = fmax(limit - low, 1e-6);
    double pairs = fmin(range / (GRID_STEP * fmin(step, sqrt(at))), PAIRS_MAX - 1);
    p->count = 2 * ((size_t)pairs + 1) + 1;
    p->at = at;
    double h = range / (double)(p->count - 1);
    for (size_t i = 0; i < p->count; i++) {
        bool end = i == 0 || i == p->count - 1;
        p->place[i] = low + h * (double)i;
        p->weight[i] = h / 3 * (end ? 1 : i % 2 == 1 ? 4 : 2);
    }
}

/* The chance to be above `limit` at the next look, `step` being the root of what comes until then.
 */
static double chance_above(const struct paths *p, double limit, double step)
{
    double sum = 0;
    for (size_t i = 0; i < p->count; i++)
        sum += p->weight[i] * lks_special_normal_upper((limit - p->place[i]) / step);
    return sum;
}

static double find_limit(const struct paths *p, double at, double step, double spent)
{
    double low = -FAR * sqrt(at), high = 40 * sqrt(at);
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(chance_above(p, middle, step) > spent ? &low : &high) = middle;
    }
    return high;
}

/* The density moves on by what comes in, and loses what is above the limit. */
static void move_on(const struct paths *from, struct paths *to, double step)
{
    for (size_t i = 0; i < to->count; i++) {
        double density = 0;
        for (size_t k = 0; k < from->count; k++) {
            double z = (to->place[i] - from->place[k]) / step;
            density += z * z > 4 * FAR * FAR ? 0 : from->weight[k] * lks_special_normal_density(z);
        }
        to->weight[i] *= density / step;
    }
}

/* From the beginning, where everything is at 0. */
static void start(struct paths *p)
{
    double root = sqrt(p->at);
    for (size_t i = 0; i < p->count; i++)
        p->weight[i] *= lks_special_normal_density(p->place[i] / root) / root;
}

void lks_sequential_spend_limits(enum lks_spending kind, double alpha, const double *at,
                                 size_t looks, double *limits)
{
    struct paths both[2];
    double before = 0, spent = 0;
    LKS_ASSERT(looks <= LKS_LOOKS_MAX && alpha > 0 && alpha < 0.5);
    for (size_t k = 0; k < looks; k++) {
        struct paths *last = &both[(k + 1) % 2], *now = &both[k % 2];
        double here = fmax(at[k], before + LEAST), step = sqrt(here - before);
        double total = lks_sequential_spend_by(kind, alpha, here),
               rest = fmax(total - spent, NEVER);
        double limit = k == 0 ? -lks_special_normal_quantile(rest) * sqrt(here)
                              : find_limit(last, here, step, rest);
        limits[k] = limit / sqrt(here);
        spent = fmax(spent, total);
        double next = k + 1 < looks ? fmax(at[k + 1] - here, LEAST) : 1;
        grid_init(now, here, fmin(limit, FAR * sqrt(here)), sqrt(next));
        if (k == 0)
            start(now);
        else
            move_on(last, now, step);
        before = here;
    }
}
