#include "server/base/progress.h"

bool lks_progress_good(struct lks_progress *p, lks_ms now, uint64_t taken, uint64_t wait,
                       lks_ms within)
{
    bool over = p->since != 0 && wait > 0 && now - p->since >= within;
    bool good = !over || taken - p->taken >= LKS_PROGRESS_BYTES;
    if (p->since == 0 || wait == 0 || over)
        *p = (struct lks_progress){now, taken};
    return good;
}
