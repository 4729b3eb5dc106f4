#include "core/stats/remaining.h"

lks_ms lks_remaining(const struct lks_remaining *of)
{
    if (of->started == 0 || of->now < of->started)
        return 0;
    lks_ms took = of->now - of->started;
    if (of->over == 0)
        return of->forecast > took ? of->forecast - took : 0;
    if (of->over > of->total)
        return 0;
    double worked = took > of->waited ? (double)(took - of->waited) : 0;
    double left = worked * (double)(of->total - of->over) / (double)of->over;
    return (lks_ms)left + of->waits;
}
