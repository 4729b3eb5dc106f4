#include "core/ramp.h"

#include "base/compiler.h"
#include "core/special.h"

#include <math.h>

uint64_t lks_ramp_next(uint64_t done, uint64_t failed, uint64_t left, double budget,
                       double confidence)
{
    double most = failed < done ? lks_share_upper(failed, done, confidence) : 1;
    double nodes = floor(budget / most);
    if (left == 0 || nodes >= (double)left)
        return left;
    return nodes < 1 ? 1 : (uint64_t)nodes;
}

double lks_ramp_hours(const struct lks_ramp_wave *waves, size_t count, uint64_t width, double unit)
{
    double hours = 0;
    LKS_ASSERT(width > 0);
    for (size_t i = 0; i < count; i++) {
        uint64_t turns = (waves[i].nodes + width - 1) / width;
        hours += (double)turns * unit + waves[i].soak;
    }
    return hours;
}

double lks_ramp_losses(const struct lks_ramp_wave *waves, size_t count, double share)
{
    double lost = 0, reached = 1; /* the chance that this wave begins */
    for (size_t i = 0; i < count; i++) {
        double nodes = (double)waves[i].nodes;
        lost += reached * nodes * share;
        reached *= pow(1 - share, nodes);
    }
    return lost;
}

double lks_ramp_gpu_hours(const struct lks_ramp_cost *c)
{
    double once = c->nodes * c->gpus * c->out;
    return once * (1 + c->rollback_share) + c->killed_gpus * (c->interval / 2 + c->restart) +
           c->by_hand;
}

double lks_checkpoint_young(double cost, double between)
{
    return sqrt(2 * cost * between);
}

double lks_checkpoint_daly(double cost, double between)
{
    double part = cost / (2 * between);
    if (part >= 1)
        return between;
    return sqrt(2 * cost * between) * (1 + sqrt(part) / 3 + part / 9) - cost;
}

double lks_checkpoint_waste(double interval, double cost, double between, double restart)
{
    return cost / (interval + cost) + (interval / 2 + restart) / between;
}
