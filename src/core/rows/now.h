/* The time that decisions are given. */
#ifndef LKS_ROWS_NOW_H
#define LKS_ROWS_NOW_H

#include "base/time.h"

/* Two clocks: records carry the first, deadlines count on the second, which never jumps. */
struct lks_now {
    lks_ms wall; /* milliseconds since 1970, never less than before */
    lks_ms mono;
};

#endif
