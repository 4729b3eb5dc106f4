#include "core/governance/quiet.h"

#include "codec/time/tz.h"

enum { DAY_S = 86400 };

/* When a day begins by these clocks, in ms. */
static lks_ms midnight(const struct lks_tz *tz, lks_day day)
{
    int64_t local = (int64_t)day * DAY_S, at = local - lks_tz_offset(tz, local);
    at = local - lks_tz_offset(tz, at);
    return at > 0 ? (lks_ms)at * LKS_SECOND : 0;
}

bool lks_quiet_over(const struct lks_fleet *fleet, struct lks_str pool, struct lks_str zone,
                    lks_ms wall, lks_ms *next)
{
    struct lks_tz tz;
    struct lks_err ignored = {0};
    bool open = true;
    *next = UINT64_MAX;
    if (fleet == NULL || fleet->quiet_count == 0 || lks_tz_parse(zone, &tz, &ignored) != LKS_OK)
        return fleet == NULL || fleet->quiet_count == 0;
    for (size_t i = 0; i < fleet->quiet_count; i++) {
        const struct lks_quiet *q = &fleet->quiets[i];
        lks_ms from = midnight(&tz, q->from), until = midnight(&tz, q->until);
        if (!lks_fleet_quiet_is_of(q, pool) || wall >= until)
            continue;
        bool on = wall >= from;
        lks_ms turn = on ? until : from;
        if (on ? open || turn > *next : open && turn < *next)
            *next = turn;
        open = open && !on;
    }
    return open;
}
