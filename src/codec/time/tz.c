#include "codec/time/tz.h"

#include "base/near.h"
#include "base/time.h"

#include <stddef.h>

enum {
    HOUR = 3600,
    DAY = 24 * HOUR,
    OFFSET_HOURS_MAX = 24,
    TURN_HOURS_MAX = 167, /* a week, as the zone database uses it */
    TURN_USUAL = 2 * HOUR,
    NAME_LEN_MIN = 3,
    TURNS = 6, /* two of each of three years */
};

/* Reading a rule ---------------------------------------------------------------------------- */

struct reader {
    struct lks_str rest;
};

static char peek(const struct reader *r)
{
    return r->rest.len > 0 ? r->rest.ptr[0] : '\0';
}

static bool take(struct reader *r, char c)
{
    if (peek(r) != c || c == '\0')
        return false;
    r->rest.ptr++;
    r->rest.len--;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool read_number(struct reader *r, int lo, int hi, int *out)
{
    int value = 0, digits = 0;
    for (; digits < 3 && is_digit(peek(r)); digits++) {
        value = 10 * value + (r->rest.ptr[0] - '0');
        (void)take(r, peek(r));
    }
    *out = value;
    return digits > 0 && !is_digit(peek(r)) && value >= lo && value <= hi;
}

/* "CET", or "<+01>". */
static bool read_name(struct reader *r)
{
    size_t len = 0;
    bool quoted = take(r, '<');
    while (is_letter(peek(r)) ||
           (quoted && (is_digit(peek(r)) || peek(r) == '+' || peek(r) == '-'))) {
        (void)take(r, peek(r));
        len++;
    }
    return len >= NAME_LEN_MIN && (!quoted || take(r, '>'));
}

/* "1", "-9:30", "+12:45:00", as seconds. */
static bool read_hours(struct reader *r, int hours_max, int32_t *out)
{
    int hours = 0, minutes = 0, seconds = 0;
    bool minus = take(r, '-');
    if (!minus)
        (void)take(r, '+');
    if (!read_number(r, 0, hours_max, &hours))
        return false;
    if (take(r, ':') && !read_number(r, 0, 59, &minutes))
        return false;
    if (minutes >= 0 && take(r, ':') && !read_number(r, 0, 59, &seconds))
        return false;
    *out = (hours * HOUR + minutes * 60 + seconds) * (minus ? -1 : 1);
    return true;
}

/* "M3.5.0", "J60", "59", each perhaps with "/3". */
static bool read_turn(struct reader *r, struct lks_tz_turn *out)
{
    *out = (struct lks_tz_turn){.kind = LKS_TZ_YEARDAY, .seconds = TURN_USUAL};
    bool good;
    if (take(r, 'M')) {
        out->kind = LKS_TZ_MONTH;
        good = read_number(r, 1, 12, &out->month) && take(r, '.') &&
               read_number(r, 1, 5, &out->week) && take(r, '.') &&
               read_number(r, 0, 6, &out->weekday);
    } else if (take(r, 'J')) {
        out->kind = LKS_TZ_JULIAN;
        good = read_number(r, 1, 365, &out->day);
    } else {
        good = read_number(r, 0, 365, &out->day);
    }
    return good && (!take(r, '/') || read_hours(r, TURN_HOURS_MAX, &out->seconds));
}

/* POSIX counts hours west of Greenwich, everybody else those east of it. */
static bool read_rule(struct reader *r, struct lks_tz *out)
{
    int32_t west = 0;
    if (!read_name(r) || !read_hours(r, OFFSET_HOURS_MAX, &west))
        return false;
    *out = (struct lks_tz){.standard = -west, .summer = -west};
    if (r->rest.len == 0)
        return true;
    if (!read_name(r))
        return false;
    out->turns = true;
    out->summer = out->standard + HOUR;
    if (peek(r) != ',') {
        if (!read_hours(r, OFFSET_HOURS_MAX, &west))
            return false;
        out->summer = -west;
    }
    return take(r, ',') && read_turn(r, &out->begins) && take(r, ',') && read_turn(r, &out->ends) &&
           r->rest.len == 0;
}

/* Names ------------------------------------------------------------------------------------- */

/* The rule of a zone by its name, or an empty view. */
static struct lks_str rule_of(struct lks_str name)
{
    for (size_t i = 0; i < lks_tz_zone_count; i++) {
        struct lks_str rest = lks_str_from(lks_tz_zones[i].names), word;
        while (lks_str_word(&rest, &word)) {
            if (lks_str_eq(word, name))
                return lks_str_from(lks_tz_zones[i].rule);
        }
    }
    return (struct lks_str){"", 0};
}

/* What may have been meant, where it looks like a name. */
static const char *hint_of(struct lks_str text, char hint[LKS_NEAR_HINT_SIZE])
{
    struct lks_near near = lks_near_to(text);
    bool name = lks_str_find(text, LKS_STR("/")) >= 0;
    for (size_t i = 0; name && i < lks_tz_zone_count; i++) {
        struct lks_str rest = lks_str_from(lks_tz_zones[i].names), word;
        while (lks_str_word(&rest, &word))
            lks_near_try(&near, word);
    }
    return lks_near_hint(&near, hint);
}

enum lks_code lks_tz_parse(struct lks_str text, struct lks_tz *out, struct lks_err *err)
{
    struct lks_str rule = rule_of(text);
    struct reader r = {rule.len > 0 ? rule : text};
    struct lks_tz tz = {0};
    char hint[LKS_NEAR_HINT_SIZE];
    if (text.len > 0 && (text.len > LKS_TZ_TEXT_MAX || !read_rule(&r, &tz)))
        return lks_fail(err, LKS_E_INVALID,
                        "'%.*s' is neither a time zone (\"Europe/Berlin\") nor a rule of one "
                        "(\"CET-1CEST,M3.5.0,M10.5.0/3\")%s",
                        (int)(text.len < LKS_TZ_TEXT_MAX ? text.len : LKS_TZ_TEXT_MAX), text.ptr,
                        hint_of(text, hint));
    *out = tz;
    return LKS_OK;
}

/* The calendar ------------------------------------------------------------------------------ */

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days from 1970 to the first of January. */
static int64_t year_begins(int64_t year)
{
    int64_t before = year - 1;
    return (year - 1970) * 365 + (before / 4 - before / 100 + before / 400) -
           (1969 / 4 - 1969 / 100 + 1969 / 400);
}

static int64_t year_of(int64_t day)
{
    int64_t year = 1970 + day / 366;
    while (year_begins(year + 1) <= day)
        year++;
    return year;
}

static int month_days(int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* The day (since 1970) of "the week-th weekday of the month". */
static int64_t month_turn(int64_t year, const struct lks_tz_turn *turn)
{
    int64_t first = year_begins(year);
    for (int m = 1; m < turn->month; m++)
        first += month_days(year, m);
    enum { THURSDAY = 4, WEEK = 7 }; /* the first of January 1970 was one */
    int64_t weekday = ((first + THURSDAY) % WEEK + WEEK) % WEEK;
    int64_t day = (turn->weekday - weekday + WEEK) % WEEK + (int64_t)(turn->week - 1) * WEEK;
    while (day >= month_days(year, turn->month))
        day -= WEEK;
    return first + day;
}

/* When it happens in that year, in seconds since 1970 of the clock that shows `offset`. */
static int64_t turn_at(int64_t year, const struct lks_tz_turn *turn, int32_t offset)
{
    enum { FEBRUARY_28 = 59 };
    int64_t day = 0;
    if (turn->kind == LKS_TZ_MONTH)
        day = month_turn(year, turn);
    else if (turn->kind == LKS_TZ_JULIAN)
        day = year_begins(year) + turn->day - 1 + (turn->day > FEBRUARY_28 && is_leap(year));
    else
        day = year_begins(year) + turn->day;
    return day * DAY + turn->seconds - offset;
}

struct turned {
    int64_t at;
    int32_t offset; /* from then on */
};

/* Those of the year before, this one and the next. */
static void list_turns(const struct lks_tz *tz, int64_t at, struct turned out[TURNS])
{
    const int64_t end = (int64_t)(LKS_TIME_MAX / LKS_SECOND);
    int64_t year = year_of((at < 0 ? 0 : at > end ? end : at) / DAY) - 1;
    for (size_t i = 0; i < TURNS; i += 2, year++) {
        out[i] = (struct turned){turn_at(year, &tz->begins, tz->standard), tz->summer};
        out[i + 1] = (struct turned){turn_at(year, &tz->ends, tz->summer), tz->standard};
    }
}

int32_t lks_tz_offset(const struct lks_tz *tz, int64_t at)
{
    struct turned turns[TURNS];
    int32_t offset = tz->standard;
    int64_t last = INT64_MIN;
    if (!tz->turns)
        return offset;
    list_turns(tz, at, turns);
    for (size_t i = 0; i < TURNS; i++) {
        if (turns[i].at <= at && turns[i].at >= last) {
            last = turns[i].at;
            offset = turns[i].offset;
        }
    }
    return offset;
}

int64_t lks_tz_next_turn(const struct lks_tz *tz, int64_t at)
{
    struct turned turns[TURNS];
    int64_t next = INT64_MAX;
    if (!tz->turns)
        return next;
    list_turns(tz, at, turns);
    for (size_t i = 0; i < TURNS; i++) {
        if (turns[i].at > at && turns[i].at < next)
            next = turns[i].at;
    }
    return next;
}

bool lks_tz_footer(struct lks_str file, struct lks_str *rule)
{
    enum { HEADER = 44, VERSION_AT = 4 };
    if (file.len <= HEADER || !lks_str_starts(file, "TZif") || file.ptr[VERSION_AT] < '2' ||
        file.ptr[file.len - 1] != '\n')
        return false;
    size_t begin = file.len - 1;
    while (begin > HEADER && file.ptr[begin - 1] != '\n')
        begin--;
    if (begin == HEADER)
        return false;
    *rule = (struct lks_str){file.ptr + begin, file.len - 1 - begin};
    return rule->len <= LKS_TZ_TEXT_MAX && lks_str_printable(*rule);
}
