/* Time as numbers. Code below the main loops is told what time it is and never asks. */
#ifndef LKS_BASE_TIME_H
#define LKS_BASE_TIME_H

#include "base/str.h"

typedef uint64_t lks_ms; /* milliseconds on the caller's clock */
typedef int32_t lks_day; /* days since 1970-01-01 */

#define LKS_SECOND UINT64_C(1000)

/* "2026-11-15", or "2026-11", which as an end means the month's last day. False for anything else,
 * the 30th of February included. */
bool lks_time_day_parse(struct lks_str s, lks_day *out);

/* "YYYY-MM-DD" and a terminator. */
#define LKS_DAY_TEXT_SIZE 16
const char *lks_time_day_text(lks_day day, char out[LKS_DAY_TEXT_SIZE]);

/* A moment as people and machines read it (RFC 3339, UTC, milliseconds): "2026-11-15T08:30:00.250Z"
 * and a terminator. Whatever lies behind the year 9999 is written as its last millisecond. */
#define LKS_TIME_TEXT_SIZE 25
#define LKS_TIME_MAX       UINT64_C(253402300799999)
const char *lks_time_text(lks_ms since_1970, char out[LKS_TIME_TEXT_SIZE]);

/* And back: with or without a fraction of a second, which is cut to milliseconds, in UTC ("Z") or
 * with its distance from it ("+01:00"). False for anything else, and for what was before 1970. */
bool lks_time_parse(struct lks_str s, lks_ms *out);

/* "30s", "15m", "24h", "7d": more than nothing, and at most 100000 of a unit. */
bool lks_time_span_parse(struct lks_str s, lks_ms *out);

/* A span as people say it, in the largest unit that it is a whole number of: "90 s", "15 min",
 * "4 h". */
#define LKS_SPAN_TEXT_SIZE 32
const char *lks_time_span_text(lks_ms span, char out[LKS_SPAN_TEXT_SIZE]);

/* The day a wall clock (seconds since the epoch) is in, in UTC. */
lks_day lks_time_day_of(int64_t unix_seconds);

#endif
