#include "core/stats/ramp.h"

#include "base/compiler.h"
#include "core/stats/special.h"

#include <math.h>

uint64_t lks_ramp_next(uint64_t done, uint64_t failed, uint64_t left, double budget,
                       double confidence)
{
    double most = failed < done ? lks_special_share_upper(failed, done, confidence) : 1;
    double nodes = floor(budget / most);
    if (left == 0 || nodes >= (double)left)
        return left;
    return nodes < 1 ? 1 : (uint64_t)nodes;
}

double lks_ramp_checkpoint_daly(double cost, double between)
{
    double part = cost / (2 * between);
    if (part >= 1)
        return between;
    return sqrt(2 * cost * between) * (1 + sqrt(part) / 3 + part / 9) - cost;
}

double lks_ramp_checkpoint_waste(double interval, double cost, double between, double restart)
{
    return cost / (interval + cost) + (interval / 2 + restart) / between;
}
