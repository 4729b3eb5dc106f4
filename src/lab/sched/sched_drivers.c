#include "lab/sched/sched_drivers.h"

/* One row a scheduler; core/plan/drain.c says the same to plans. */
static const struct lks_sched_driver *const drivers[] = {&lks_sched_simulated};

const struct lks_sched_driver *lks_sched_driver(struct lks_str sched)
{
    for (size_t i = 0; i < LKS_COUNT(drivers); i++) {
        if (lks_str_is(sched, drivers[i]->name))
            return drivers[i];
    }
    return NULL;
}
