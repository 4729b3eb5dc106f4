#include "bridge/view/ending.h"

#include <stdio.h>

#define SLURMS "Not responding" /* slurmctld's own reason for a node that it takes down */

struct lks_str lks_bridge_ending_before(const struct lks_bridge_entry *e)
{
    if (!e->down)
        return LKS_STR("");
    if (e->drained)
        return lks_drain_reason_before(e->reason, e->own);
    return e->reason.len > 0 ? e->reason : LKS_STR("down"); /* so that it is seen at the end */
}

struct lks_bridge_ending lks_bridge_ending_of(const struct lks_bridge_entry *e)
{
    struct lks_bridge_ending end = {0};
    struct lks_str before = lks_drain_reason_before(e->reason, e->own);
    if (!e->down || e->failing)
        return end;
    end.resume = before.len == 0 && e->responding;
    if (!end.resume)
        snprintf(end.reason, sizeof(end.reason), "%" LKS_STR_FMT,
                 LKS_STR_ARG(before.len > 0 ? before : LKS_STR(SLURMS)));
    return end;
}
