#include "codec/time/moment.h"

#include "base/compiler.h"

#include <stdio.h>
#include <string.h>

enum {
    DAY_SECONDS = 86400,
    DATE_LEN = 10,       /* "2026-11-15" */
    SPAN_MAX = 10000000, /* of a unit */
    PARTS_MAX = 4,       /* "1d 12h 30m 10s" */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

static struct lks_str from(struct lks_str s, size_t n)
{
    return (struct lks_str){s.ptr + n, s.len - n};
}

/* `head` off the front of `s`, and blanks behind it. */
static bool take(struct lks_str *s, const char *head)
{
    if (!lks_str_starts(*s, head))
        return false;
    *s = lks_str_trim(from(*s, strlen(head)));
    return true;
}

/* Spans ------------------------------------------------------------------------------------- */

static uint64_t unit_seconds(struct lks_str unit)
{
    static const struct {
        const char *names[5];
        uint64_t seconds;
    } units[] = {
        {{"s", "sec", "second", "seconds"}, 1},
        {{"m", "min", "minute", "minutes"}, 60},
        {{"h", "hour", "hours"}, 3600},
        {{"d", "day", "days"}, DAY_SECONDS},
        {{"w", "week", "weeks"}, 7 * (uint64_t)DAY_SECONDS},
    };
    for (size_t i = 0; i < LKS_COUNT(units); i++)
        for (size_t n = 0; n < LKS_COUNT(units[i].names) && units[i].names[n] != NULL; n++)
            if (lks_str_is(unit, units[i].names[n]))
                return units[i].seconds;
    return 0;
}

/* "1d 12h", "30 minutes": numbers with their units, up to the end. */
static bool span_parse(struct lks_str s, int64_t *seconds)
{
    uint64_t sum = 0;
    for (unsigned part = 0; s.len > 0; part++) {
        size_t digits = 0, letters = 0;
        uint64_t count = 0, unit = 0;
        while (digits < s.len && is_digit(s.ptr[digits]))
            digits++;
        if (part == PARTS_MAX || digits == 0 ||
            !lks_str_number((struct lks_str){s.ptr, digits}, SPAN_MAX, &count))
            return false;
        s = lks_str_trim(from(s, digits));
        while (letters < s.len && is_letter(s.ptr[letters]))
            letters++;
        unit = unit_seconds((struct lks_str){s.ptr, letters});
        if (unit == 0)
            return false;
        sum += count * unit;
        s = lks_str_trim(from(s, letters));
    }
    *seconds = (int64_t)sum;
    return sum > 0;
}

enum relation { NO_SPAN, BARE, RELATIVE };

/* How far from now it is, in seconds. */
static enum relation relative_parse(struct lks_str s, int64_t *seconds)
{
    static const char ago[] = "ago";
    bool back = lks_str_ends(s, ago);
    *seconds = 0;
    if (lks_str_is(s, "now"))
        return RELATIVE;
    if (back)
        s = lks_str_trim((struct lks_str){s.ptr, s.len - strlen(ago)});
    bool minus = !back && take(&s, "-");
    bool plus = !back && !minus && (take(&s, "+") || take(&s, "in "));
    if (!span_parse(s, seconds))
        return NO_SPAN;
    if (back || minus)
        *seconds = -*seconds;
    return back || minus || plus ? RELATIVE : BARE;
}

/* Days and clocks --------------------------------------------------------------------------- */

/* The day that `s` begins with, and what is behind it; without one it is today. */
static bool day_parse(struct lks_str *s, lks_day today, lks_day *out)
{
    static const struct {
        const char *word;
        int days;
    } words[] = {{"today", 0}, {"yesterday", -1}, {"tomorrow", 1}};
    *out = today;
    for (size_t i = 0; i < LKS_COUNT(words); i++) {
        if (take(s, words[i].word)) {
            *out = today + words[i].days;
            return true;
        }
    }
    if (s->len < DATE_LEN || s->ptr[4] != '-')
        return s->len > 0;
    if (!lks_time_day_parse((struct lks_str){s->ptr, DATE_LEN}, out))
        return false;
    struct lks_str rest = from(*s, DATE_LEN);
    if (rest.len > 0 && rest.ptr[0] != ' ' && (rest.ptr[0] != 'T' || rest.len == 1))
        return false;
    *s = rest.len > 0 ? lks_str_trim(from(rest, 1)) : rest;
    return true;
}

/* The end of "03:37:00.5" within `s`: where a zone begins. */
static size_t clock_length(struct lks_str s)
{
    size_t n = 0;
    while (n < s.len && (is_digit(s.ptr[n]) || s.ptr[n] == ':' || s.ptr[n] == '.'))
        n++;
    return n;
}

/* A day with the rest of its text, as if it were UTC; `exact` where the text has a zone. */
static bool clock_parse(struct lks_str s, lks_day day, int64_t *ms, bool *exact)
{
    char date[LKS_DAY_TEXT_SIZE], text[LKS_MOMENT_TEXT_MAX + LKS_DAY_TEXT_SIZE];
    size_t length = clock_length(s);
    struct lks_str zone = lks_str_trim(from(s, length));
    const char *pad = length > 1 && s.ptr[1] == ':' ? "0" : ""; /* "3:37" is 03:37 */
    bool brief = length + strlen(pad) == 5;                     /* "03:37" */
    lks_ms at;
    *exact = zone.len > 0;
    snprintf(text, sizeof(text), "%sT%s%.*s%s%.*s", lks_time_day_text(day, date), pad,
             length > 0 ? (int)length : 5, length > 0 ? s.ptr : "00:00",
             brief || length == 0 ? ":00" : "", zone.len > 0 ? (int)zone.len : 1,
             zone.len > 0 ? zone.ptr : "Z");
    if (!lks_time_parse(lks_str_from(text), &at))
        return false;
    *ms = (int64_t)at;
    return true;
}

/* Whether clocks show the local time at all, and when first. */
static bool local_to_utc(const struct lks_tz *tz, int64_t local_ms, int64_t *utc_ms)
{
    const int32_t offsets[] = {tz->standard, tz->summer};
    const int64_t second = (int64_t)LKS_SECOND;
    bool found = false;
    for (size_t i = 0; i < (tz->turns ? 2U : 1U); i++) {
        int64_t at = local_ms - offsets[i] * second;
        int64_t whole = at / second - (at % second < 0);
        if (lks_tz_offset(tz, whole) != offsets[i] || (found && at >= *utc_ms))
            continue;
        *utc_ms = at;
        found = true;
    }
    return found;
}

static lks_day today_of(const struct lks_moment_of *of)
{
    int64_t now = (int64_t)(of->now / LKS_SECOND);
    return lks_time_day_of(now + lks_tz_offset(of->zone, now));
}

static enum lks_code fail_forms(struct lks_str text, bool ahead, struct lks_err *err)
{
    return lks_fail(err, LKS_E_INVALID, "'%" LKS_STR_FMT "' is not a time%s; write %s",
                    LKS_STR_ARG(text), ahead ? " in the future" : "",
                    ahead ? LKS_MOMENT_FORMS_AHEAD : LKS_MOMENT_FORMS);
}

static enum lks_code calendar_parse(struct lks_str text, const struct lks_moment_of *of,
                                    int64_t *ms, struct lks_err *err)
{
    struct lks_str rest = text;
    lks_day day;
    bool exact = false;
    if (!day_parse(&rest, today_of(of), &day) || !clock_parse(rest, day, ms, &exact))
        return fail_forms(text, of->ahead, err);
    if (!exact && !local_to_utc(of->zone, *ms, ms))
        return lks_fail(err, LKS_E_INVALID,
                        "clocks skip '%" LKS_STR_FMT "' in this zone: summer time starts; write "
                        "the time with its distance from UTC, such as 03:37+01:00",
                        LKS_STR_ARG(text));
    return LKS_OK;
}

enum lks_code lks_moment_parse(struct lks_str text, const struct lks_moment_of *of, lks_ms *out,
                               struct lks_err *err)
{
    struct lks_str s = lks_str_trim(text);
    int64_t ms = 0, seconds = 0;
    if (s.len == 0 || s.len > LKS_MOMENT_TEXT_MAX)
        return lks_fail(err, LKS_E_INVALID, "a time has 1 to %d characters; write %s",
                        LKS_MOMENT_TEXT_MAX, of->ahead ? LKS_MOMENT_FORMS_AHEAD : LKS_MOMENT_FORMS);
    enum relation relation = relative_parse(s, &seconds);
    if (relation == BARE && !of->ahead)
        return lks_fail(err, LKS_E_INVALID,
                        "'%" LKS_STR_FMT "' is a span, not a time; write '%" LKS_STR_FMT
                        " ago' for that long before now",
                        LKS_STR_ARG(s), LKS_STR_ARG(s));
    if (relation != NO_SPAN)
        ms = (int64_t)of->now + seconds * (int64_t)LKS_SECOND;
    else if (calendar_parse(s, of, &ms, err) != LKS_OK)
        return err->code;
    if (ms < 0 || ms > (int64_t)LKS_TIME_MAX)
        return lks_fail(err, LKS_E_INVALID, "'%" LKS_STR_FMT "' is not between 1970 and 9999",
                        LKS_STR_ARG(s));
    *out = (lks_ms)ms;
    return LKS_OK;
}

const char *lks_moment_text(lks_ms at, const struct lks_tz *zone, char out[LKS_MOMENT_TEXT_SIZE])
{
    int64_t seconds = (int64_t)(at / LKS_SECOND);
    int32_t offset = lks_tz_offset(zone, seconds);
    int64_t local = seconds + offset;
    char text[LKS_TIME_TEXT_SIZE];
    unsigned minutes = (unsigned)(offset < 0 ? -offset : offset) / 60;
    (void)lks_time_text(local > 0 ? (lks_ms)local * LKS_SECOND : 0, text);
    snprintf(out, LKS_MOMENT_TEXT_SIZE, "%.10s %.8s %c%02u:%02u", text, text + DATE_LEN + 1,
             offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
    return out;
}
