#include "base/time.h"

#include <stdio.h>

enum {
    ERA_YEARS = 400, /* after which the calendar repeats */
    ERA_DAYS = 146097,
    EPOCH = 719468, /* days from 0000-03-01 to 1970-01-01 */
    DAY_SECONDS = 86400,
    DATE_LEN = 10,   /* "2026-11-15" */
    MOMENT_LEN = 19, /* "2026-11-15T08:30:00" */
    FRACTION_MAX = 9,
};

/* Rounded down, where C rounds towards zero. */
static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static unsigned month_days(unsigned year, unsigned month)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap ? 1U : 0U);
}

/* Both directions count years from the first of March: the leap day then ends a year instead of
 * splitting it, and the lengths of the months before it follow (153 * month + 2) / 5. */
static lks_day day_from(unsigned year, unsigned month, unsigned day)
{
    int64_t y = (int64_t)year - (month <= 2);
    int64_t era = floor_div(y, ERA_YEARS);
    int64_t of_era = y - era * ERA_YEARS;
    int64_t of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    return (lks_day)(era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH);
}

const char *lks_time_day_text(lks_day day, char out[LKS_DAY_TEXT_SIZE])
{
    int64_t since = (int64_t)day + EPOCH;
    int64_t era = floor_div(since, ERA_DAYS);
    int64_t rest = since - era * ERA_DAYS;
    int64_t year = (rest - rest / 1460 + rest / 36524 - rest / (ERA_DAYS - 1)) / 365;
    int64_t of_year = rest - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    int64_t of_month = of_year - (153 * month + 2) / 5 + 1;

    bool wrapped = month >= 10; /* January and February belong to the next year */
    int64_t civil = year + era * ERA_YEARS + wrapped;
    unsigned m = (unsigned)(wrapped ? month - 9 : month + 3);
    snprintf(out, LKS_DAY_TEXT_SIZE, "%04d-%02u-%02u", (int)civil, m, (unsigned)of_month);
    return out;
}

bool lks_time_day_parse(struct lks_str s, lks_day *out)
{
    bool whole = s.len == 10;
    if ((!whole && s.len != 7) || s.ptr[4] != '-' || (whole && s.ptr[7] != '-'))
        return false;

    uint64_t year, month, day;
    if (!lks_str_number((struct lks_str){s.ptr, 4}, 9999, &year) ||
        !lks_str_number((struct lks_str){s.ptr + 5, 2}, 12, &month) || month == 0)
        return false;
    unsigned last = month_days((unsigned)year, (unsigned)month);
    if (!whole)
        day = last;
    else if (!lks_str_number((struct lks_str){s.ptr + 8, 2}, last, &day) || day == 0)
        return false;
    *out = day_from((unsigned)year, (unsigned)month, (unsigned)day);
    return true;
}

lks_day lks_time_day_of(int64_t unix_seconds)
{
    int64_t day = floor_div(unix_seconds, DAY_SECONDS);
    return day > INT32_MAX ? INT32_MAX : day < INT32_MIN ? INT32_MIN : (lks_day)day;
}

const char *lks_time_text(lks_ms since_1970, char out[LKS_TIME_TEXT_SIZE])
{
    lks_ms ms = since_1970 < LKS_TIME_MAX ? since_1970 : LKS_TIME_MAX;
    unsigned second = (unsigned)(ms / LKS_SECOND % DAY_SECONDS);
    char day[LKS_DAY_TEXT_SIZE];
    lks_time_day_text((lks_day)(ms / LKS_SECOND / DAY_SECONDS), day);
    snprintf(out, LKS_TIME_TEXT_SIZE, "%.10sT%02u:%02u:%02u.%03uZ", day, second / 3600 % 24,
             second / 60 % 60, second % 60, (unsigned)(ms % LKS_SECOND));
    return out;
}

/* "08:30" or "08:30:00" as seconds. */
static bool clock_parse(struct lks_str s, int64_t *seconds)
{
    uint64_t hour, minute, second = 0;
    bool precise = s.len == 8;
    if ((!precise && s.len != 5) || s.ptr[2] != ':' || (precise && s.ptr[5] != ':'))
        return false;
    if (!lks_str_number((struct lks_str){s.ptr, 2}, 23, &hour) ||
        !lks_str_number((struct lks_str){s.ptr + 3, 2}, 59, &minute) ||
        (precise && !lks_str_number((struct lks_str){s.ptr + 6, 2}, 59, &second)))
        return false;
    *seconds = (int64_t)(hour * 3600 + minute * 60 + second);
    return true;
}

/* ".25" off the front of `rest`, where there is one. */
static bool fraction_parse(struct lks_str *rest, int64_t *ms)
{
    *ms = 0;
    if (rest->len == 0 || rest->ptr[0] != '.')
        return true;
    size_t digits = 0;
    while (digits + 1 < rest->len && rest->ptr[digits + 1] >= '0' && rest->ptr[digits + 1] <= '9') {
        if (digits < 3)
            *ms = *ms * 10 + (rest->ptr[digits + 1] - '0');
        digits++;
    }
    for (size_t i = digits; i < 3; i++)
        *ms *= 10;
    *rest = (struct lks_str){rest->ptr + digits + 1, rest->len - digits - 1};
    return digits > 0 && digits <= FRACTION_MAX;
}

/* "Z", "+01:00": what has to be taken off to arrive at UTC. */
static bool zone_parse(struct lks_str s, int64_t *seconds)
{
    *seconds = 0;
    if (lks_str_is(s, "Z"))
        return true;
    if (s.len != 6 || (s.ptr[0] != '+' && s.ptr[0] != '-') ||
        !clock_parse((struct lks_str){s.ptr + 1, 5}, seconds))
        return false;
    *seconds = s.ptr[0] == '-' ? -*seconds : *seconds;
    return true;
}

bool lks_time_parse(struct lks_str s, lks_ms *out)
{
    if (s.len <= MOMENT_LEN || s.ptr[DATE_LEN] != 'T')
        return false;
    struct lks_str rest = {s.ptr + MOMENT_LEN, s.len - MOMENT_LEN};
    struct lks_str of_day = {s.ptr + DATE_LEN + 1, MOMENT_LEN - DATE_LEN - 1};
    lks_day day;
    int64_t seconds, ms, zone;
    if (!lks_time_day_parse((struct lks_str){s.ptr, DATE_LEN}, &day) ||
        !clock_parse(of_day, &seconds) || !fraction_parse(&rest, &ms) || !zone_parse(rest, &zone))
        return false;
    seconds += (int64_t)day * DAY_SECONDS - zone;
    if (seconds < 0 || seconds > (int64_t)(LKS_TIME_MAX / LKS_SECOND))
        return false;
    *out = (lks_ms)seconds * LKS_SECOND + (lks_ms)ms;
    return true;
}

bool lks_time_span_parse(struct lks_str s, lks_ms *out)
{
    static const struct {
        char unit;
        uint64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    enum { SPAN_MAX = 100000 };
    struct lks_str number = {s.ptr, s.len > 0 ? s.len - 1 : 0};
    uint64_t count = 0;
    if (!lks_str_number(number, SPAN_MAX, &count) || count == 0)
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (s.ptr[s.len - 1] == units[i].unit) {
            *out = count * units[i].seconds * LKS_SECOND;
            return true;
        }
    }
    return false;
}

const char *lks_time_span_text(lks_ms span, char out[LKS_SPAN_TEXT_SIZE])
{
    static const struct {
        uint64_t ms;
        const char *unit;
    } units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "min"}, {1000, "s"}, {1, "ms"}};
    size_t i = 0;
    while (i + 1 < sizeof(units) / sizeof(units[0]) &&
           (span < units[i].ms || span % units[i].ms != 0))
        i++;
    snprintf(out, LKS_SPAN_TEXT_SIZE, "%llu %s", (unsigned long long)(span / units[i].ms),
             units[i].unit);
    return out;
}
