/*
 * How long the runs of a rehearsal will still take, by those that are over.
 *
 * Runs with a bad image mostly end early and sometimes not at all, so the two kinds are counted
 * apart, and of the few of them that are over after a tenth only a part is believed: the rest is
 * how such runs usually are beside plain ones. What runs now counts with what is left of it, so
 * that the first answers are right too when there are many processors.
 */
#ifndef LKS_REHEARSE_ETA_H
#define LKS_REHEARSE_ETA_H

#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lks_eta {
    unsigned jobs; /* at a time */
    struct lks_eta_kind {
        uint64_t done, waiting; /* over; not begun */
        lks_ms took;            /* all that are over */
    } kinds[2];                 /* plain ones, and those with a bad image */
};

struct lks_eta_run {
    bool bad;
    lks_ms age; /* since it began */
};

/* 0: nothing is over yet, or all is. */
lks_ms lks_eta(const struct lks_eta *r, const struct lks_eta_run *running, size_t count);

#endif
