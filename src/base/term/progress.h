/*
 * How far along something with a known total is.
 *
 * On a terminal, one line that is drawn over itself, at most ten times a second:
 *
 *     flashing [#############.................]  45 %  1,234/2,742
 *
 * Anywhere else a plain line for each tenth of the way, or after ten seconds without one, so that a
 * log of it stays short. Both end with a line that says how long it took.
 */
#ifndef LKS_BASE_PROGRESS_H
#define LKS_BASE_PROGRESS_H

#include "base/term/term.h"
#include "base/time.h"

struct lks_progress {
    FILE *out;         /* borrowed */
    const char *label; /* borrowed */
    struct lks_term term;
    uint64_t total;
    uint64_t done;
    lks_ms began;   /* the first report */
    lks_ms printed; /* the last report that was shown */
    unsigned tenths;
    size_t columns; /* of the line that is to be drawn over */
    bool started;
    lks_ms left; /* remaining time, where the caller knows it; 0: it does not */
};

/* `out` and `label` outlive `p`, which owns nothing and needs no _fini. */
void lks_progress_init(struct lks_progress *p, FILE *out, const struct lks_term *term,
                       const char *label, uint64_t total);

/* `done` of the total are done. The first report starts the clock. */
void lks_progress_at(struct lks_progress *p, uint64_t done, lks_ms now);

/* The closing line: how far it came, whether or not that is all, and in what time. */
void lks_progress_end(struct lks_progress *p, lks_ms now);

#endif
