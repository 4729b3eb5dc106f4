/*
 * Whether a reader takes what it asked for. One that does not holds a slot that others wait for, so
 * it has to take LKS_PROGRESS_BYTES within a time. Only time in which bytes wait for the reader
 * counts: a transfer that our rate slows down is not the reader's fault.
 */
#ifndef LKS_SERVER_PROGRESS_H
#define LKS_SERVER_PROGRESS_H

#include "base/time.h"

#include <stdint.h>

#define LKS_PROGRESS_BYTES ((uint64_t)512 << 10)

struct lks_progress {
    lks_ms since;   /* when the time that counts began; 0: not yet */
    uint64_t taken; /* what the reader had by then */
};

/* Tell at `now` that the reader has `taken` bytes in all, and that so many `wait` for it. False: it
 * took too little `within` the time. */
bool lks_progress_good(struct lks_progress *p, lks_ms now, uint64_t taken, uint64_t wait,
                       lks_ms within);

#endif
