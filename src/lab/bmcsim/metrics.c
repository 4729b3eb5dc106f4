/*
 * What a simulated machine does for a living, as an exporter would tell Prometheus: so many tokens
 * a second, and GPUs that are busy all the time.
 *
 * Machines differ by a percent or two and each measurement by less, as real ones do, so a change
 * that makes them slower by two percent shows in no single number. Who reads the same moment twice
 * reads the same.
 */
#include "lab/bmcsim/parts.h"

#define TOKENS      1000.0 /* a second, of the average machine */
#define OF_MACHINES 0.015  /* standard deviations: of machines among each other, */
#define OF_READINGS 0.004  /* and of the readings of one */
#define GPUS        4

/* About normal, with a deviation of one: the sum of twelve chances. */
static double normal(uint64_t seed)
{
    struct lks_rng rng = {.state = seed};
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += (double)(lks_rng_next(&rng) >> 11) / (double)(UINT64_C(1) << 53);
    return sum - 6;
}

static uint64_t seed_of(const struct lks_bmcsim *b)
{
    uint64_t seed = 1;
    for (const char *p = b->name; *p != '\0'; p++)
        seed = seed * 1099511628211U + (unsigned char)*p;
    return seed;
}

/* By images that are good and yet slow: a share of a thousand. */
static unsigned slower(const struct lks_bmcsim *b)
{
    unsigned most = 0;
    for (size_t i = 0; i < b->unit_count; i++) {
        const struct lks_bmcsim_unit *u = &b->units[i];
        if (u->slower > most && strcmp(u->active, u->slow_version) == 0)
            most = u->slower;
    }
    return most;
}

double lks_bmcsim_metrics_tokens(const struct lks_bmcsim *b, lks_ms now)
{
    uint64_t seed = seed_of(b);
    double machine = 1 + OF_MACHINES * normal(seed);
    double reading = 1 + OF_READINGS * normal(seed ^ (now / LKS_SECOND) * 2654435761U);
    return TOKENS * machine * reading * (1 - slower(b) / 1000.0);
}

void lks_bmcsim_metrics(struct lks_bmcsim_call *c)
{
    const struct lks_bmcsim *b = c->b;
    c->reply->status = 200;
    c->reply->type = "text/plain; version=0.0.4";
    lks_buf_addf(&c->reply->body,
                 "# TYPE sim_tokens_per_second gauge\nsim_tokens_per_second %.3f\n"
                 "# TYPE sim_gpu_busy_seconds_total counter\nsim_gpu_busy_seconds_total %llu\n",
                 lks_bmcsim_metrics_tokens(b, b->now),
                 (unsigned long long)(GPUS * (b->now / LKS_SECOND)));
}
