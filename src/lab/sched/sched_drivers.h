/* Drivers of schedulers: the simulated one, until a real one exists. */
#ifndef LKS_LAB_SCHED_DRIVERS_H
#define LKS_LAB_SCHED_DRIVERS_H

#include "port/sched.h"

extern const struct lks_sched_driver lks_sched_simulated; /* sched_simulated.c */

/* The driver by the name in a pool's `sched`; NULL: there is none. */
const struct lks_sched_driver *lks_sched_driver(struct lks_str sched);

#endif
