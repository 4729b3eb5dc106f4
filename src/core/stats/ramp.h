/* How large the next wave may be, and how often jobs should save what they have. */
#ifndef LKS_CORE_RAMP_H
#define LKS_CORE_RAMP_H

#include <stddef.h>
#include <stdint.h>

/* Nodes of the next wave: so many that, at the highest rate of failures that is still likely after
 * `failed` of `done`, at most `budget` of them are lost. At least one, and at most `left`. */
uint64_t lks_ramp_next(uint64_t done, uint64_t failed, uint64_t left, double budget,
                       double confidence);

/* The best interval between checkpoints that take `cost`, when something fails every `between`; in
 * one unit of time: Daly's, and which part of the time is lost at any interval. */
double lks_ramp_checkpoint_daly(double cost, double between);
double lks_ramp_checkpoint_waste(double interval, double cost, double between, double restart);

#endif
