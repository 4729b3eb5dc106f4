#include "base/time.h"

#include <stdio.h>

enum {
    ERA_YEARS = 400, /* after which the calendar repeats */
    ERA_DAYS = 146097,
    EPOCH = 719468, /* days from 0000-03-01 to 1970-01-01 */
    DAY_SECONDS = 86400,
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

const char *lks_day_text(lks_day day, char out[LKS_DAY_TEXT_SIZE])
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

bool lks_day_parse(struct lks_str s, lks_day *out)
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

lks_day lks_day_of(int64_t unix_seconds)
{
    int64_t day = floor_div(unix_seconds, DAY_SECONDS);
    return day > INT32_MAX ? INT32_MAX : day < INT32_MIN ? INT32_MIN : (lks_day)day;
}
