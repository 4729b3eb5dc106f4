#include "base/time.h"

#include "tests/test.h"

static const struct {
    const char *text;
    lks_day day;
} dates[] = {
    {"1970-01-01", 0},       {"1969-12-31", -1},      {"2000-02-29", 11016},
    {"2000-03-01", 11017},   {"2026-11-15", 20772},   {"2024-02-29", 19782},
    {"1900-03-01", -25508},  {"0000-03-01", -719468}, {"0000-01-01", -719528},
    {"9999-12-31", 2932896},
};

static void test_dates(void)
{
    for (size_t i = 0; i < LKS_COUNT(dates); i++) {
        lks_test_case("%s", dates[i].text);
        char text[LKS_DAY_TEXT_SIZE];
        lks_day day = 0;
        CHECK(lks_time_day_parse(lks_str_from(dates[i].text), &day));
        CHECK_INT(day, dates[i].day);
        CHECK_STR(lks_str_from(lks_time_day_text(dates[i].day, text)), dates[i].text);
    }
}

static const struct {
    const char *month;
    const char *last;
} months[] = {
    {"2026-11", "2026-11-30"}, {"2026-12", "2026-12-31"}, {"2026-02", "2026-02-28"},
    {"2024-02", "2024-02-29"}, {"1900-02", "1900-02-28"}, {"2000-02", "2000-02-29"},
};

static void test_months(void)
{
    for (size_t i = 0; i < LKS_COUNT(months); i++) {
        lks_test_case("%s", months[i].month);
        char text[LKS_DAY_TEXT_SIZE];
        lks_day day = 0;
        CHECK(lks_time_day_parse(lks_str_from(months[i].month), &day));
        CHECK_STR(lks_str_from(lks_time_day_text(day, text)), months[i].last);
    }
}

static const char *const refused[] = {
    "",           "2026",       "2026-",      "2026-1",     "2026-00",     "2026-13",
    "2026-11-",   "2026-11-1",  "2026-11-00", "2026-11-31", "2026-02-29",  "1900-02-29",
    "2026/11/15", "2026-11/15", "+026-11-15", "2026-11-+5", "2026-11-15 ", " 2026-11-15",
    "20261115",   "2026-1a-15", "26-11-15",   "02026-11",
};

static void test_refused(void)
{
    for (size_t i = 0; i < LKS_COUNT(refused); i++) {
        lks_test_case("'%s'", refused[i]);
        lks_day day = 7;
        CHECK(!lks_time_day_parse(lks_str_from(refused[i]), &day));
        CHECK_INT(day, 7);
    }
    lks_test_case("the empty view");
    lks_day day = 7;
    CHECK(!lks_time_day_parse((struct lks_str){0}, &day));
}

/* Text and number agree, and a later day is a later text, five centuries either way. */
static void test_round_trip(void)
{
    char before[LKS_DAY_TEXT_SIZE] = "";
    for (lks_day day = -200000; day <= 200000; day++) {
        lks_test_case("day %d", (int)day);
        char text[LKS_DAY_TEXT_SIZE];
        lks_day back = 0;
        struct lks_str s = lks_str_from(lks_time_day_text(day, text));
        if (!CHECK(lks_time_day_parse(s, &back)) || !CHECK_INT(back, day) ||
            !CHECK(lks_str_cmp(lks_str_from(before), s) < 0))
            return;
        memcpy(before, text, sizeof(before));
    }
}

static const struct {
    const char *name;
    int64_t seconds;
    lks_day day;
} clocks[] = {
    {"the epoch", 0, 0},
    {"the last second of its day", 86399, 0},
    {"the next day", 86400, 1},
    {"a second earlier", -1, -1},
    {"a day earlier", -86400, -1},
    {"a day and a second earlier", -86401, -2},
    {"November 2026", 1794713858, 20772},
    {"further than days go", INT64_MAX, INT32_MAX},
    {"earlier than days go", INT64_MIN, INT32_MIN},
};

static void test_clocks(void)
{
    for (size_t i = 0; i < LKS_COUNT(clocks); i++) {
        lks_test_case("%s", clocks[i].name);
        CHECK_INT(lks_time_day_of(clocks[i].seconds), clocks[i].day);
    }
}

/* The whole range of the type fits the buffer. */
static void test_extremes(void)
{
    char text[LKS_DAY_TEXT_SIZE];
    CHECK_STR(lks_str_from(lks_time_day_text(INT32_MAX, text)), "5881580-07-11");
    CHECK_STR(lks_str_from(lks_time_day_text(INT32_MIN, text)), "-5877641-06-23");
}

static const struct {
    const char *text;
    lks_ms ms;
} moments[] = {
    {"1970-01-01T00:00:00.000Z", 0},
    {"1970-01-01T00:00:00.001Z", 1},
    {"1970-01-01T23:59:59.999Z", 86399999},
    {"2000-02-29T12:34:56.789Z", 951827696789},
    {"2026-11-15T03:37:38.123Z", 1794713858123},
    {"9999-12-31T23:59:59.999Z", LKS_TIME_MAX},
};

static void test_moments(void)
{
    for (size_t i = 0; i < LKS_COUNT(moments); i++) {
        lks_test_case("%s", moments[i].text);
        char text[LKS_TIME_TEXT_SIZE];
        lks_ms ms = 7;
        CHECK_STR(lks_str_from(lks_time_text(moments[i].ms, text)), moments[i].text);
        CHECK(lks_time_parse(lks_str_from(moments[i].text), &ms));
        CHECK_INT(ms, moments[i].ms);
    }
    char text[LKS_TIME_TEXT_SIZE];
    lks_test_case("behind the year 9999");
    CHECK_STR(lks_str_from(lks_time_text(LKS_TIME_MAX + 1, text)), "9999-12-31T23:59:59.999Z");
    CHECK_STR(lks_str_from(lks_time_text(UINT64_MAX, text)), "9999-12-31T23:59:59.999Z");
}

/* Other ways to write 2026-11-15T03:37:38.120Z. */
static const char *const same[] = {
    "2026-11-15T03:37:38.12Z",       "2026-11-15T03:37:38.120999999Z",
    "2026-11-15T04:37:38.12+01:00",  "2026-11-14T22:07:38.12-05:30",
    "2026-11-15T03:37:38.120-00:00",
};

static void test_same_moment(void)
{
    for (size_t i = 0; i < LKS_COUNT(same); i++) {
        lks_test_case("%s", same[i]);
        lks_ms ms = 7;
        CHECK(lks_time_parse(lks_str_from(same[i]), &ms));
        CHECK_INT(ms, 1794713858120);
    }
}

static const char *const no_moments[] = {
    "",
    "2026-11-15",
    "2026-11-15T03:37:38",
    "2026-11-15T03:37Z",
    "2026-11-15 03:37:38Z",
    "2026-11-15t03:37:38Z",
    "2026-11-15T03:37:38z",
    "2026-02-29T03:37:38Z",
    "2026-11-15T24:00:00Z",
    "2026-11-15T03:60:38Z",
    "2026-11-15T03:37:60Z",
    "2026-11-15T03:37:38.Z",
    "2026-11-15T03:37:38.1",
    "2026-11-15T03:37:38.1234567890Z",
    "2026-11-15T03:37:38,5Z",
    "2026-11-15T03:37:38+01",
    "2026-11-15T03:37:38+0100",
    "2026-11-15T03:37:38+01:00:00",
    "2026-11-15T03:37:38+24:00",
    "2026-11-15T03:37:38Z ",
    "+026-11-15T03:37:38Z",
    "1969-12-31T23:59:59.999Z",
    "1970-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
};

static void test_no_moment(void)
{
    for (size_t i = 0; i < LKS_COUNT(no_moments); i++) {
        lks_test_case("'%s'", no_moments[i]);
        lks_ms ms = 7;
        CHECK(!lks_time_parse(lks_str_from(no_moments[i]), &ms));
        CHECK_INT(ms, 7);
    }
}

/* A stride that meets every field of a moment, from 1970 to 9999. */
static void test_moments_round_trip(void)
{
    for (lks_ms ms = 0; ms <= LKS_TIME_MAX; ms += 2500000123457 / 100) {
        char text[LKS_TIME_TEXT_SIZE];
        lks_ms back = 7;
        lks_test_case("%s", lks_time_text(ms, text));
        if (!CHECK(lks_time_parse(lks_str_from(text), &back)) || !CHECK_INT(back, ms))
            return;
    }
}

/* 0: no span. */
static const struct {
    const char *text;
    lks_ms span;
} spans[] = {
    {"1s", 1000},   {"15m", 900000}, {"24h", 86400000}, {"7d", 604800000}, {"100000s", 100000000},
    {"100001s", 0}, {"0s", 0},       {"", 0},           {"s", 0},          {"5", 0},
    {"1.5h", 0},    {"-1h", 0},      {"1w", 0},         {"1 h", 0},
};

static void test_spans(void)
{
    for (size_t i = 0; i < LKS_COUNT(spans); i++) {
        lks_test_case("'%s'", spans[i].text);
        lks_ms span = 0;
        CHECK(lks_time_span_parse(lks_str_from(spans[i].text), &span) == (spans[i].span != 0));
        CHECK_INT(span, spans[i].span);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"time: dates", test_dates},
        {"time: a month is its last day", test_months},
        {"time: refused", test_refused},
        {"time: round trip", test_round_trip},
        {"time: the day of a clock", test_clocks},
        {"time: extremes", test_extremes},
        {"time: moments", test_moments},
        {"time: one moment, many texts", test_same_moment},
        {"time: no moment", test_no_moment},
        {"time: moments round trip", test_moments_round_trip},
        {"time: spans", test_spans},
        {0},
    });
}
