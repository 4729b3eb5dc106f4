#include "codec/time/windows.h"

#include "base/err.h"

#include <string.h>

enum {
    HOUR = 60, /* in minutes */
    DAY = 24 * HOUR,
    WEEK = 7 * DAY,
    WEEKDAYS = 7,
    DAY_NAME_LEN = 3,
    /* Windows come again each week, but for one that the clock jumps over in spring. */
    LOOK_DAYS = 22,
};

static const char day_names[] = "MonTueWedThuFriSatSun";

/* Reading ----------------------------------------------------------------------------------- */

static bool read_day(struct lks_str text, unsigned *out)
{
    for (unsigned d = 0; d < WEEKDAYS && text.len == DAY_NAME_LEN; d++) {
        if (memcmp(text.ptr, day_names + (size_t)d * DAY_NAME_LEN, DAY_NAME_LEN) == 0) {
            *out = d;
            return true;
        }
    }
    return false;
}

/* "Mon", "Mon-Fri", "Fri-Mon". */
static bool read_range(struct lks_str text, unsigned *days)
{
    struct lks_str first, last;
    unsigned from = 0, until = 0;
    bool range = lks_str_cut(text, '-', &first, &last);
    if (!read_day(first, &from) || (range && !read_day(last, &until)))
        return false;
    for (unsigned d = from;; d = (d + 1) % WEEKDAYS) {
        *days |= 1U << d;
        if (!range || d == until)
            return true;
    }
}

static bool read_days(struct lks_str text, unsigned *days)
{
    bool more = true;
    *days = 0;
    while (more) {
        struct lks_str one;
        more = lks_str_cut(text, '+', &one, &text);
        if (!read_range(one, days))
            return false;
    }
    return true;
}

/* "22:00" as minutes of the day. */
static bool read_clock(struct lks_str text, int32_t *out)
{
    struct lks_str hours, minutes;
    uint64_t h = 0, m = 0;
    if (!lks_str_cut(text, ':', &hours, &minutes) || hours.len != 2 || minutes.len != 2 ||
        !lks_str_number(hours, 24, &h) || !lks_str_number(minutes, 59, &m))
        return false;
    *out = (int32_t)(h * HOUR + m);
    return *out <= DAY;
}

static bool read_window(struct lks_str text, struct lks_window *out)
{
    struct lks_str rest = text, word, from, until;
    struct lks_window w = {.days = (1U << WEEKDAYS) - 1};
    if (!lks_str_word(&rest, &word))
        return false;
    if (lks_str_find(word, LKS_STR(":")) < 0 &&
        (!read_days(word, &w.days) || !lks_str_word(&rest, &word)))
        return false;
    if (!lks_str_cut(word, '-', &from, &until) || !read_clock(from, &w.from) ||
        !read_clock(until, &w.until) || lks_str_trim(rest).len > 0 || w.from == w.until ||
        w.from == DAY)
        return false;
    w.until += w.until < w.from ? DAY : 0;
    *out = w;
    return true;
}

enum lks_code lks_windows_parse(struct lks_str text, struct lks_windows *out, struct lks_err *err)
{
    struct lks_windows windows = {0};
    bool more = lks_str_trim(text).len > 0;
    if (text.len > LKS_WINDOW_TEXT_MAX)
        return lks_fail(err, LKS_E_LIMIT, "windows: at most %d bytes", LKS_WINDOW_TEXT_MAX);
    while (more) {
        struct lks_str one;
        more = lks_str_cut(text, ',', &one, &text);
        if (windows.count == LKS_WINDOWS_MAX)
            return lks_fail(err, LKS_E_LIMIT, "windows: at most %d", LKS_WINDOWS_MAX);
        if (!read_window(one, &windows.list[windows.count++]))
            return lks_fail(err, LKS_E_INVALID,
                            "windows: '%" LKS_STR_FMT "' is no window; one is written like "
                            "'Mon-Fri 22:00-04:00', a whole day as 'Sat 00:00-24:00'",
                            LKS_STR_ARG(lks_str_trim(one)));
    }
    *out = windows;
    return LKS_OK;
}

/* Asking ------------------------------------------------------------------------------------ */

/* What a clock there shows, in seconds of a week that begins on Monday. */
static int64_t of_week(const struct lks_tz *tz, int64_t at)
{
    enum { THURSDAY = 3 }; /* 1970 began on one */
    const int64_t week = (int64_t)WEEK * 60;
    int64_t local = at + lks_tz_offset(tz, at) + (int64_t)THURSDAY * DAY * 60;
    return (local % week + week) % week;
}

/* Whether a window that began on day `d` holds this second of the week. */
static bool holds(const struct lks_window *w, unsigned d, int64_t second)
{
    int64_t from = ((int64_t)d * DAY + w->from) * 60, length = (int64_t)(w->until - w->from) * 60;
    int64_t since = second - from;
    since += since < 0 ? (int64_t)WEEK * 60 : 0;
    return since < length;
}

static bool is_open(const struct lks_windows *w, int64_t second)
{
    for (size_t i = 0; i < w->count; i++) {
        for (unsigned d = 0; d < WEEKDAYS; d++) {
            if ((w->list[i].days >> d & 1U) != 0 && holds(&w->list[i], d, second))
                return true;
        }
    }
    return w->count == 0;
}

static void nearer(int64_t second, int64_t edge, int64_t *best)
{
    const int64_t week = (int64_t)WEEK * 60;
    int64_t ahead = (edge - second % week + 2 * week) % week;
    ahead = ahead == 0 ? week : ahead;
    if (ahead < *best)
        *best = ahead;
}

/* Seconds until the clock shows a time at which a window begins or ends. */
static int64_t to_edge(const struct lks_windows *w, int64_t second)
{
    int64_t best = (int64_t)WEEK * 60;
    for (size_t i = 0; i < w->count; i++) {
        for (unsigned d = 0; d < WEEKDAYS; d++) {
            if ((w->list[i].days >> d & 1U) == 0)
                continue;
            nearer(second, ((int64_t)d * DAY + w->list[i].from) * 60, &best);
            nearer(second, ((int64_t)d * DAY + w->list[i].until) * 60, &best);
        }
    }
    return best;
}

/* From edge to edge, and from one turn of the clock to the next, until it is the other way. */
static lks_ms changes_at(const struct lks_windows *w, const struct lks_tz *tz, int64_t at,
                         bool open)
{
    int64_t end = at + (int64_t)LOOK_DAYS * DAY * 60;
    while (w->count > 0 && at < end) {
        int64_t edge = at + to_edge(w, of_week(tz, at)), turn = lks_tz_next_turn(tz, at);
        at = edge < turn ? edge : turn;
        if (is_open(w, of_week(tz, at)) != open)
            return (lks_ms)at * LKS_SECOND;
    }
    return LKS_WINDOW_NEVER;
}

bool lks_windows_open(const struct lks_windows *w, const struct lks_tz *tz, lks_ms wall,
                      lks_ms *next)
{
    int64_t at = (int64_t)((wall < LKS_TIME_MAX ? wall : LKS_TIME_MAX) / LKS_SECOND);
    bool open = is_open(w, of_week(tz, at));
    if (next != NULL)
        *next = changes_at(w, tz, at, open);
    return open;
}
