/* Limits that a record sets: when a node is late, how many nodes one call may affect, and so on. */
#ifndef LKS_ROWS_LIMITS_H
#define LKS_ROWS_LIMITS_H

#include "base/time.h"

struct lks_limits {
    lks_ms heartbeat, late, lost, mass_window, skew;
    uint64_t mass_floor, mass_percent, call_nodes;
    lks_ms validity, staleness, outband_age, proposal_age;
};
extern const struct lks_limits lks_limits_default;

struct lks_rec_limits;

/* The record that sets them. */
struct lks_rec_limits lks_limits_record(const struct lks_limits *l, lks_ms yeses_until);

#endif
