#include "core/rows/limits.h"

#include "model/record/record.h"

const struct lks_limits lks_limits_default = {
    .heartbeat = 10 * LKS_SECOND,
    .late = 30 * LKS_SECOND,
    .lost = 120 * LKS_SECOND,
    .mass_window = 300 * LKS_SECOND,
    .skew = 5 * LKS_SECOND,
    .mass_floor = 10,
    .mass_percent = 2,
    .call_nodes = 10,
    .validity = 60 * LKS_SECOND,
    .staleness = 5 * LKS_SECOND,
    .outband_age = (lks_ms)7 * 24 * 3600 * LKS_SECOND,
    .proposal_age = (lks_ms)14 * 24 * 3600 * LKS_SECOND,
};

struct lks_rec_limits lks_limits_record(const struct lks_limits *l, lks_ms yeses_until)
{
    return (struct lks_rec_limits){
        .heartbeat = l->heartbeat,
        .late = l->late,
        .lost = l->lost,
        .mass_floor = l->mass_floor,
        .mass_percent = l->mass_percent,
        .mass_window = l->mass_window,
        .skew = l->skew,
        .call_nodes = l->call_nodes,
        .validity = l->validity,
        .staleness = l->staleness,
        .outband_age = l->outband_age,
        .yeses_until = yeses_until,
        .proposal_age = l->proposal_age,
    };
}
