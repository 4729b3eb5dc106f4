/* Time as numbers. Code below the main loops is told what time it is and never asks. */
#ifndef LKS_BASE_TIME_H
#define LKS_BASE_TIME_H

#include "base/str.h"

typedef uint64_t lks_ms; /* milliseconds on the caller's clock */
typedef int32_t lks_day; /* days since 1970-01-01 */

#define LKS_SECOND UINT64_C(1000)

/* "2026-11-15", or "2026-11", which as an end means the month's last day. False for anything else,
 * the 30th of February included. */
bool lks_day_parse(struct lks_str s, lks_day *out);

/* "YYYY-MM-DD" and a terminator. */
#define LKS_DAY_TEXT_SIZE 16
const char *lks_day_text(lks_day day, char out[LKS_DAY_TEXT_SIZE]);

/* The day a wall clock (seconds since the epoch) is in, in UTC. */
lks_day lks_day_of(int64_t unix_seconds);

#endif
