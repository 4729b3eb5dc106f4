/*
 * A moment as people write it, in the one place where commands read them:
 *
 *     2026-11-15T03:37:00Z, 2026-11-15 03:37+01:00    exact
 *     2026-11-15 03:37, 2026-11-15, 14:00             in the reader's zone; a day is its midnight
 *     yesterday 14:00, today, tomorrow 02:00          the same
 *     now, 2h ago, -90m, +2h, in 1d 12h               from now
 *
 * Pure: what time it is and which zone is meant are arguments.
 */
#ifndef LKS_CODEC_MOMENT_H
#define LKS_CODEC_MOMENT_H

#include "base/time.h"
#include "codec/time/tz.h"

#define LKS_MOMENT_TEXT_MAX 64

/* For messages and help: how a moment may be written. */
#define LKS_MOMENT_FORMS                                                                           \
    "2026-11-15T03:37:00Z, '2026-11-15 03:37' (local), 14:00 (today), 'yesterday 14:00' or '2h "   \
    "ago'"

/* The same where a time in the future is asked for. */
#define LKS_MOMENT_FORMS_AHEAD                                                                     \
    "2026-11-20T08:00:00Z, '2026-11-20 08:00' (local), 'tomorrow 14:00' or '2h'"

struct lks_moment_of {
    lks_ms now;
    const struct lks_tz *zone; /* of times without one */
    bool ahead;                /* "4h" alone is that long from now; else it is refused */
};

/* INVALID, with how to write it: for what is no moment, lies before 1970 or behind 9999, or is an
 * hour that clocks of the zone skip. An hour that they show twice is the first of the two. */
enum lks_code lks_moment_parse(struct lks_str text, const struct lks_moment_of *of, lks_ms *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* As clocks of the zone show it, with their distance from UTC: "2026-11-15 03:37:00 +01:00". */
#define LKS_MOMENT_TEXT_SIZE 40
const char *lks_moment_text(lks_ms at, const struct lks_tz *zone, char out[LKS_MOMENT_TEXT_SIZE]);

#endif
