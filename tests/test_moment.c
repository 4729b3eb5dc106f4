#include "codec/time/moment.h"

#include "base/compiler.h"
#include "tests/test.h"

/* 2026-11-16 12:00 in Berlin, 11:00 UTC. */
#define NOW "2026-11-16T11:00:00.000Z"

static const struct {
    const char *zone, *text, *want; /* NULL: it is refused */
} moments[] = {
    {"Europe/Berlin", "2026-11-15T03:37:00Z", "2026-11-15T03:37:00.000Z"},
    {"Europe/Berlin", "2026-11-15T03:37:00.25+02:00", "2026-11-15T01:37:00.250Z"},
    {"Europe/Berlin", "2026-11-15 03:37", "2026-11-15T02:37:00.000Z"},
    {"Europe/Berlin", "2026-11-15T03:37", "2026-11-15T02:37:00.000Z"},
    {"Europe/Berlin", "2026-07-15 03:37:30", "2026-07-15T01:37:30.000Z"},
    {"Europe/Berlin", "2026-11-15 03:37+01:00", "2026-11-15T02:37:00.000Z"},
    {"Europe/Berlin", "2026-11-15 03:37 Z", "2026-11-15T03:37:00.000Z"},
    {"America/New_York", "2026-11-15 03:37", "2026-11-15T08:37:00.000Z"},
    {"UTC", "2026-11-15 03:37", "2026-11-15T03:37:00.000Z"},
    {"Europe/Berlin", "2026-11-15", "2026-11-14T23:00:00.000Z"},
    {"Europe/Berlin", "14:00", "2026-11-16T13:00:00.000Z"},
    {"Europe/Berlin", "today", "2026-11-15T23:00:00.000Z"},
    {"Europe/Berlin", "yesterday 14:00", "2026-11-15T13:00:00.000Z"},
    {"Europe/Berlin", "  tomorrow  02:00:30 ", "2026-11-17T01:00:30.000Z"},
    {"Pacific/Auckland", "today 00:30", "2026-11-16T11:30:00.000Z"},
    {"Europe/Berlin", "now", NOW},
    {"Europe/Berlin", "2h ago", "2026-11-16T09:00:00.000Z"},
    {"Europe/Berlin", "2 hours ago", "2026-11-16T09:00:00.000Z"},
    {"Europe/Berlin", "-2h", "2026-11-16T09:00:00.000Z"},
    {"Europe/Berlin", "1d 12h ago", "2026-11-14T23:00:00.000Z"},
    {"Europe/Berlin", "-90m", "2026-11-16T09:30:00.000Z"},
    {"Europe/Berlin", "+30s", "2026-11-16T11:00:30.000Z"},
    {"Europe/Berlin", "in 2 weeks", "2026-11-30T11:00:00.000Z"},
    /* Clocks skip an hour, and show one twice: the first of the two is meant. */
    {"Europe/Berlin", "2026-03-29 02:30", NULL},
    {"Europe/Berlin", "2026-03-29 03:00", "2026-03-29T01:00:00.000Z"},
    {"Europe/Berlin", "2026-10-25 02:30", "2026-10-25T00:30:00.000Z"},
    {"Europe/Berlin", "2026-10-25 02:30+01:00", "2026-10-25T01:30:00.000Z"},
    /* Southern hemisphere: summer is around the new year. */
    {"Australia/Adelaide", "2026-01-15 10:30", "2026-01-15T00:00:00.000Z"},
    {"UTC", "", NULL},
    {"UTC", "2h", NULL},
    {"UTC", "ago", NULL},
    {"UTC", "2 ago", NULL},
    {"UTC", "2x ago", NULL},
    {"UTC", "0h ago", NULL},
    {"UTC", "-2h ago", NULL},
    {"UTC", "2026-02-30 10:00", NULL},
    {"UTC", "2026-11-15T", NULL},
    {"UTC", "2026-11-1503:37", NULL},
    {"UTC", "2026-11-15 3:37", "2026-11-15T03:37:00.000Z"},
    {"UTC", "3:37", "2026-11-16T03:37:00.000Z"},
    {"UTC", "3:37:05+01:00", "2026-11-16T02:37:05.000Z"},
    {"UTC", "3:7", NULL},
    {"UTC", ":37", NULL},
    {"UTC", "2026-11-15 24:00", NULL},
    {"UTC", "yesterday noon", NULL},
    {"UTC", "yesterday14:00", "2026-11-15T14:00:00.000Z"},
    {"UTC", "1969-12-31 23:59", NULL},
    {"UTC", "9000000w ago", NULL},
    {"UTC", "next week", NULL},
};

static lks_ms now_ms(void)
{
    lks_ms now = 0;
    CHECK(lks_time_parse(LKS_STR(NOW), &now));
    return now;
}

static void test_forms(void)
{
    for (size_t i = 0; i < LKS_COUNT(moments); i++) {
        struct lks_tz tz;
        struct lks_err err = {0};
        struct lks_moment_of of = {.now = now_ms(), .zone = &tz};
        char text[LKS_TIME_TEXT_SIZE];
        lks_ms at = 0;
        lks_test_case("'%s' in %s", moments[i].text, moments[i].zone);
        CHECK_CODE(lks_tz_parse(lks_str_from(moments[i].zone), &tz, &err), LKS_OK);
        enum lks_code code = lks_moment_parse(lks_str_from(moments[i].text), &of, &at, &err);
        if (moments[i].want == NULL) {
            CHECK(code == LKS_E_INVALID && err.msg[0] != '\0');
            continue;
        }
        CHECK_CODE(code, LKS_OK);
        CHECK_STR(lks_str_from(lks_time_text(at, text)), moments[i].want);
    }
}

static void test_bare_span_is_ahead_where_an_end_is_asked_for(void)
{
    struct lks_tz tz = {0};
    struct lks_err err = {0};
    struct lks_moment_of of = {.now = now_ms(), .zone = &tz, .ahead = true};
    lks_ms at = 0;
    CHECK_CODE(lks_moment_parse(LKS_STR("4h"), &of, &at, &err), LKS_OK);
    CHECK(at == now_ms() + UINT64_C(4) * 3600 * LKS_SECOND);
    CHECK(lks_moment_parse(LKS_STR("0s"), &of, &at, &err) == LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg),
              "'0s' is not a time in the future; write 2026-11-20T08:00:00Z, '2026-11-20 08:00' "
              "(local), 'tomorrow 14:00' or '2h'");
    of.ahead = false;
    CHECK(lks_moment_parse(LKS_STR("4h"), &of, &at, &err) == LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg),
              "'4h' is a span, not a time; write '4h ago' for that long before now");
}

static void test_text_reads_back(void)
{
    struct lks_tz tz;
    struct lks_err err = {0};
    char text[LKS_MOMENT_TEXT_SIZE];
    CHECK_CODE(lks_tz_parse(LKS_STR("America/New_York"), &tz, &err), LKS_OK);
    CHECK_STR(lks_str_from(lks_moment_text(now_ms(), &tz, text)), "2026-11-16 06:00:00 -05:00");
}

static void test_footer(void)
{
    static const char file[] =
        "TZif2000000000000000000000000000000000000000\nEST5EDT,M3.2.0,M11.1.0\n";
    struct lks_str rule;
    CHECK(lks_tz_footer(lks_str_from(file), &rule) && lks_str_is(rule, "EST5EDT,M3.2.0,M11.1.0"));
    CHECK(!lks_tz_footer(LKS_STR("TZif"), &rule) && !lks_tz_footer(LKS_STR(""), &rule));
    CHECK(!lks_tz_footer((struct lks_str){file, sizeof(file) - 2}, &rule));
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"moment: forms", test_forms},
        {"moment: a bare span is ahead where an end is asked for",
         test_bare_span_is_ahead_where_an_end_is_asked_for},
        {"moment: text reads back", test_text_reads_back},
        {"moment: the rule of a zone's file", test_footer},
        {0},
    });
}
