/*
 * Maintenance windows, as people write them: "Mon-Fri 22:00-04:00, Sat 00:00-24:00".
 *
 * Times are of the site, summer time included. A window that ends before it begins goes on into
 * the next day. Days may be a range, which may go over the weekend ("Fri-Mon"), single ones with
 * '+' between ("Mon+Wed"), or left out, which is every day. Nothing at all is always.
 */
#ifndef LKS_CODEC_WINDOWS_H
#define LKS_CODEC_WINDOWS_H

#include "base/time.h"
#include "codec/time/tz.h"

#define LKS_WINDOWS_MAX     32
#define LKS_WINDOW_TEXT_MAX 1024
#define LKS_WINDOW_NEVER    UINT64_MAX

struct lks_window {
    unsigned days;       /* bits, Monday is 1 << 0: on which it begins */
    int32_t from, until; /* minutes of the day; `until` is more than `from`, and up to 2880 */
};

struct lks_windows {
    struct lks_window list[LKS_WINDOWS_MAX];
    size_t count; /* 0: always */
};

enum lks_code lks_windows_parse(struct lks_str text, struct lks_windows *out,
                                struct lks_err *err) LKS_MUST_CHECK;

/* Whether one is open at `wall`; `next`, which may be NULL, gets when that changes. */
bool lks_windows_open(const struct lks_windows *w, const struct lks_tz *tz, lks_ms wall,
                      lks_ms *next);

#endif
