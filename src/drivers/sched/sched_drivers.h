/* Drivers of schedulers. */
#ifndef LKS_DRIVERS_SCHED_DRIVERS_H
#define LKS_DRIVERS_SCHED_DRIVERS_H

#include "port/sched.h"

extern const struct lks_sched_driver lks_sched_bridge;     /* sched_bridge.c */
extern const struct lks_sched_driver lks_sched_slurmrestd; /* sched_slurmrestd.c */
extern const struct lks_sched_driver lks_sched_kubernetes; /* sched_kubernetes.c */

/* For it: what is asked about a whole site (sched_site.c). */
extern const struct lks_conversation_ops lks_sched_site_talk;
enum lks_code lks_sched_site_begin(void *value, const struct lks_sched_site_wish *wish,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* The driver by the name in a pool's `sched`; NULL: there is none. */
const struct lks_sched_driver *lks_sched_driver(struct lks_str sched);

/* The driver for a scheduler at this place: "rest+" in front of an address means slurmrestd, and
 * `address` is what follows; without it there is a bridge. */
const struct lks_sched_driver *lks_sched_driver_at(struct lks_str sched, const char *place,
                                                   const char **address);

/* Whether what answers at this place keeps the epochs of leaders: bridges alone do. */
bool lks_sched_driver_keeps_epoch(struct lks_str sched, const char *place);

#endif
