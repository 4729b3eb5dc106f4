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
        CHECK(lks_day_parse(lks_str_from(dates[i].text), &day));
        CHECK_INT(day, dates[i].day);
        CHECK_STR(lks_str_from(lks_day_text(dates[i].day, text)), dates[i].text);
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
        CHECK(lks_day_parse(lks_str_from(months[i].month), &day));
        CHECK_STR(lks_str_from(lks_day_text(day, text)), months[i].last);
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
        CHECK(!lks_day_parse(lks_str_from(refused[i]), &day));
        CHECK_INT(day, 7);
    }
    lks_test_case("the empty view");
    lks_day day = 7;
    CHECK(!lks_day_parse((struct lks_str){0}, &day));
}

/* Text and number agree, and a later day is a later text, five centuries either way. */
static void test_round_trip(void)
{
    char before[LKS_DAY_TEXT_SIZE] = "";
    for (lks_day day = -200000; day <= 200000; day++) {
        lks_test_case("day %d", (int)day);
        char text[LKS_DAY_TEXT_SIZE];
        lks_day back = 0;
        struct lks_str s = lks_str_from(lks_day_text(day, text));
        if (!CHECK(lks_day_parse(s, &back)) || !CHECK_INT(back, day) ||
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
        CHECK_INT(lks_day_of(clocks[i].seconds), clocks[i].day);
    }
}

/* The whole range of the type fits the buffer. */
static void test_extremes(void)
{
    char text[LKS_DAY_TEXT_SIZE];
    CHECK_STR(lks_str_from(lks_day_text(INT32_MAX, text)), "5881580-07-11");
    CHECK_STR(lks_str_from(lks_day_text(INT32_MIN, text)), "-5877641-06-23");
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
        {0},
    });
}
