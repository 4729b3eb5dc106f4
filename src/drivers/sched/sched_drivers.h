/* Drivers of schedulers. */
#ifndef LKS_DRIVERS_SCHED_DRIVERS_H
#define LKS_DRIVERS_SCHED_DRIVERS_H

#include "port/sched.h"

extern const struct lks_sched_driver lks_sched_bridge; /* sched_bridge.c */

/* The driver by the name in a pool's `sched`; NULL: there is none. */
const struct lks_sched_driver *lks_sched_driver(struct lks_str sched);

#endif
