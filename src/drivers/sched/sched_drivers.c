#include "drivers/sched/sched_drivers.h"

/* One row for each value of a pool's `sched` that can be asked; core/plan/drain.c has the same for
 * plans. The simulated scheduler speaks the protocol of bridges. */
static const struct {
    const char *sched;
    const struct lks_sched_driver *driver;
} drivers[] = {{"simulated", &lks_sched_bridge},
               {"slurm", &lks_sched_bridge},
               {"kubernetes", &lks_sched_kubernetes}};

const struct lks_sched_driver *lks_sched_driver(struct lks_str sched)
{
    for (size_t i = 0; i < LKS_COUNT(drivers); i++) {
        if (lks_str_is(sched, drivers[i].sched))
            return drivers[i].driver;
    }
    return NULL;
}

const struct lks_sched_driver *lks_sched_driver_at(struct lks_str sched, const char *place,
                                                   const char **address)
{
    static const char rest[] = "rest+";
    const struct lks_sched_driver *driver = lks_sched_driver(sched);
    bool is_rest = lks_str_starts(lks_str_from(place), rest);
    *address = is_rest ? place + sizeof(rest) - 1 : place;
    return is_rest && driver == &lks_sched_bridge ? &lks_sched_slurmrestd : driver;
}

bool lks_sched_driver_keeps_epoch(struct lks_str sched, const char *place)
{
    const char *address = NULL;
    return lks_sched_driver_at(sched, place, &address) == &lks_sched_bridge;
}
