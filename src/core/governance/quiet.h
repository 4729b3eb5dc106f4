/*
 * Days on which no node of a pool starts a change, as the fleet's file has them: from the first
 * midnight to the last by the clocks of each site.
 */
#ifndef LKS_CORE_QUIET_H
#define LKS_CORE_QUIET_H

#include "model/manifest/fleet.h"

/* Whether none of them is on for the pool, by the clocks of the zone; an unknown zone is as if one
 * were. `next`: when one ends, or starts; UINT64_MAX: never. A fleet of NULL has none. */
bool lks_quiet_over(const struct lks_fleet *fleet, struct lks_str pool, struct lks_str zone,
                    lks_ms wall, lks_ms *next);

#endif
