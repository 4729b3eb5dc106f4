#include "codec/time/tz.h"

#include "base/rng.h"
#include "base/time.h"
#include "tests/test.h"

static int64_t at(const char *text)
{
    lks_ms ms = 0;
    (void)CHECK(lks_time_parse(lks_str_from(text), &ms));
    return (int64_t)(ms / LKS_SECOND);
}

/* What the zone database says of these moments. */
static const struct {
    const char *zone, *moment;
    int32_t offset;
} offsets[] = {
    {"Europe/Berlin", "2026-03-29T00:59:59Z", 3600},
    {"Europe/Berlin", "2026-03-29T01:00:00Z", 7200},
    {"Europe/Berlin", "2026-10-25T00:59:59Z", 7200},
    {"Europe/Berlin", "2026-10-25T01:00:00Z", 3600},
    {"America/New_York", "2026-03-08T06:59:59Z", -18000},
    {"America/New_York", "2026-03-08T07:00:00Z", -14400},
    {"America/New_York", "2026-11-01T05:59:59Z", -14400},
    {"America/New_York", "2026-11-01T06:00:00Z", -18000},
    {"Asia/Kolkata", "2026-06-01T00:00:00Z", 19800},
    {"Australia/Adelaide", "2026-01-15T00:00:00Z", 37800},
    {"Australia/Adelaide", "2026-04-04T16:29:59Z", 37800},
    {"Australia/Adelaide", "2026-04-04T16:30:00Z", 34200},
    {"Australia/Adelaide", "2026-10-03T16:30:00Z", 37800},
    {"Pacific/Chatham", "2026-09-26T13:59:59Z", 45900},
    {"Pacific/Chatham", "2026-09-26T14:00:00Z", 49500},
    {"Europe/Dublin", "2026-07-01T00:00:00Z", 3600},
    {"Europe/Dublin", "2026-12-01T00:00:00Z", 0},
    {"America/Santiago", "2026-09-06T03:59:59Z", -14400},
    {"America/Santiago", "2026-09-06T04:00:00Z", -10800},
    {"America/Nuuk", "2026-03-29T00:59:59Z", -7200},
    {"America/Nuuk", "2026-03-29T01:00:00Z", -3600},
    {"Asia/Jerusalem", "2026-03-26T23:59:59Z", 7200},
    {"Asia/Jerusalem", "2026-03-27T00:00:00Z", 10800},
    {"Antarctica/Troll", "2026-07-01T00:00:00Z", 7200},
    {"UTC", "2026-07-01T00:00:00Z", 0},
    {"", "2026-07-01T00:00:00Z", 0},
    {"Europe/Berlin", "2100-03-28T01:00:00Z", 7200},
    {"America/Los_Angeles", "2400-07-01T00:00:00Z", -25200},
    {"Europe/Berlin", "1970-01-01T00:00:00Z", 3600},
    /* Rules as such. */
    {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-07-01T00:00:00Z", 7200},
    {"<+0530>-5:30", "2026-07-01T00:00:00Z", 19800},
    {"EST5", "2026-07-01T00:00:00Z", -18000},
    {"AAA+1:02:03", "2026-07-01T00:00:00Z", -3723},
    {"AAA0BBB,J60/0,J300/0", "2024-02-29T23:59:59Z", 0},
    {"AAA0BBB,J60/0,J300/0", "2024-03-01T00:00:00Z", 3600},
    {"AAA0BBB,J60/0,J300/0", "2026-03-01T00:00:00Z", 3600},
    {"AAA0BBB,59/0,300/0", "2024-02-29T00:00:00Z", 3600},
    {"AAA0BBB,59/0,300/0", "2026-02-28T23:59:59Z", 0},
};

static void test_offset(void)
{
    for (size_t i = 0; i < LKS_COUNT(offsets); i++) {
        struct lks_tz tz;
        struct lks_err err = {0};
        lks_test_case("%s at %s", offsets[i].zone, offsets[i].moment);
        if (CHECK_CODE(lks_tz_parse(lks_str_from(offsets[i].zone), &tz, &err), LKS_OK))
            (void)CHECK_INT(lks_tz_offset(&tz, at(offsets[i].moment)), offsets[i].offset);
    }
}

static const struct {
    const char *zone, *moment, *turn;
} turns[] = {
    {"Europe/Berlin", "2026-01-01T00:00:00Z", "2026-03-29T01:00:00Z"},
    {"Europe/Berlin", "2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"},
    {"Europe/Berlin", "2026-12-31T23:59:59Z", "2027-03-28T01:00:00Z"},
    {"Asia/Jerusalem", "2026-01-01T00:00:00Z", "2026-03-27T00:00:00Z"},
    {"Asia/Tokyo", "2026-01-01T00:00:00Z", NULL},
};

static void test_turns(void)
{
    for (size_t i = 0; i < LKS_COUNT(turns); i++) {
        struct lks_tz tz;
        struct lks_err err = {0};
        lks_test_case("%s after %s", turns[i].zone, turns[i].moment);
        if (CHECK_CODE(lks_tz_parse(lks_str_from(turns[i].zone), &tz, &err), LKS_OK))
            (void)CHECK_INT(lks_tz_next_turn(&tz, at(turns[i].moment)),
                            turns[i].turn != NULL ? at(turns[i].turn) : INT64_MAX);
    }
}

static const struct {
    const char *zone, *message;
} refused[] = {
    {"Europe/Berlim", "did you mean 'Europe/Berlin'?"},
    {"europe/berlin", "neither a time zone"},
    {"CE-1", "neither a time zone"},
    {"CET", "neither a time zone"},
    {"CET-25", "neither a time zone"},
    {"CET-1:60", "neither a time zone"},
    {"CET-1CEST", "neither a time zone"},
    {"CET-1CEST,M3.5.0", "neither a time zone"},
    {"CET-1CEST,M13.5.0,M10.5.0", "neither a time zone"},
    {"CET-1CEST,M3.6.0,M10.5.0", "neither a time zone"},
    {"CET-1CEST,M3.5.7,M10.5.0", "neither a time zone"},
    {"CET-1CEST,J0,J100", "neither a time zone"},
    {"CET-1CEST,366,100", "neither a time zone"},
    {"CET-1CEST,M3.5.0/168,M10.5.0", "neither a time zone"},
    {"CET-1CEST,M3.5.0,M10.5.0 ", "neither a time zone"},
    {"<CET-1", "neither a time zone"},
    {"CET-0001", "neither a time zone"},
};

static void test_refused(void)
{
    for (size_t i = 0; i < LKS_COUNT(refused); i++) {
        struct lks_tz tz;
        struct lks_err err = {0};
        lks_test_case("'%s'", refused[i].zone);
        (void)CHECK_CODE(lks_tz_parse(lks_str_from(refused[i].zone), &tz, &err), LKS_E_INVALID);
        (void)CHECK_HAS(lks_str_from(err.msg), refused[i].message);
    }
}

/* What a zone shows changes only at its turns. */
static void check_zone(struct lks_str name, struct lks_rng *rng)
{
    struct lks_tz tz;
    struct lks_err err = {0};
    lks_test_case("%.*s", LKS_STR_ARG(name));
    if (!CHECK_CODE(lks_tz_parse(name, &tz, &err), LKS_OK))
        return;
    for (int i = 0; i < 20; i++) {
        int64_t from = (int64_t)lks_rng_below(rng, UINT64_C(4000000000));
        int64_t turn = lks_tz_next_turn(&tz, from);
        int32_t offset = lks_tz_offset(&tz, from);
        (void)CHECK(offset >= -12 * 3600 && offset <= 15 * 3600);
        if (turn == INT64_MAX)
            continue;
        (void)CHECK(turn > from && turn - from <= INT64_C(366) * 86400);
        (void)CHECK_INT(lks_tz_offset(&tz, turn - 1), offset);
        (void)CHECK(lks_tz_offset(&tz, turn) != offset);
    }
}

/* Every name has a rule that can be read. */
static void test_zones(void)
{
    struct lks_rng rng = {1};
    size_t count = 0;
    for (size_t i = 0; i < lks_tz_zone_count; i++) {
        struct lks_str rest = lks_str_from(lks_tz_zones[i].names), name;
        for (; lks_str_word(&rest, &name); count++)
            check_zone(name, &rng);
    }
    (void)CHECK(count > 400);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"tz: offset", test_offset},
        {"tz: turns", test_turns},
        {"tz: refused", test_refused},
        {"tz: every zone", test_zones},
        {0},
    });
}
