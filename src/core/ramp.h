/* How large the next wave may be, how long a campaign takes and what it costs, and how often jobs
 * should save what they have. */
#ifndef LKS_CORE_RAMP_H
#define LKS_CORE_RAMP_H

#include <stddef.h>
#include <stdint.h>

/* Nodes of the next wave: so many that, at the highest rate of failures that is still likely after
 * `failed` of `done`, at most `budget` of them are lost. At least one, and at most `left`. */
uint64_t lks_ramp_next(uint64_t done, uint64_t failed, uint64_t left, double budget,
                       double confidence);

/* A wave of a campaign. */
struct lks_ramp_wave {
    uint64_t nodes;
    double soak; /* hours */
};

/* Hours, `width` nodes at a time taking `unit` hours each. `width` is at least 1. */
double lks_ramp_hours(const struct lks_ramp_wave *waves, size_t count, uint64_t width, double unit);

/* Nodes that are lost on average, when the change loses each with this chance and the first loss
 * ends the campaign behind its wave. */
double lks_ramp_losses(const struct lks_ramp_wave *waves, size_t count, double share);

/* GPU-hours that a campaign takes from its users. */
struct lks_ramp_cost {
    double nodes, gpus;             /* changed, and of each */
    double out;                     /* hours that each is out of use */
    double killed_gpus;             /* of jobs that are ended for it, together */
    double interval, restart;       /* of their checkpoints, and until they run again; hours */
    double rollback_share, by_hand; /* nodes that go back (their time out once more), GPU-hours */
};
double lks_ramp_gpu_hours(const struct lks_ramp_cost *c);

/* The best interval between checkpoints that take `cost`, when something fails every `between`; in
 * one unit of time. Young's, Daly's, and which part of the time is lost at any interval. */
double lks_checkpoint_young(double cost, double between);
double lks_checkpoint_daly(double cost, double between);
double lks_checkpoint_waste(double interval, double cost, double between, double restart);

#endif
