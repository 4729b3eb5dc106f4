/* How long something still takes, by what was done of it so far. */
#ifndef LKS_CORE_REMAINING_H
#define LKS_CORE_REMAINING_H

#include "base/time.h"

struct lks_remaining {
    uint64_t over, total; /* things that are finished, of all */
    lks_ms started, now;  /* wall time; 0: it has not started */
    lks_ms waited;        /* of that time, in which it waited by plan: passed waves that soaked */
    lks_ms waits;         /* that it still waits by plan */
    lks_ms forecast;      /* for the whole, before anything is finished; 0: there is none */
};

/* Milliseconds from now on; 0: not known, or nothing is left. The rest takes as long as what is
 * finished did, each; before anything is, a forecast counts. */
lks_ms lks_remaining(const struct lks_remaining *of);

#endif
