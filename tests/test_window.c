#include "codec/time/windows.h"

#include "base/rng.h"
#include "tests/test.h"

static lks_ms at(const char *text)
{
    lks_ms ms = 0;
    (void)CHECK(lks_time_parse(lks_str_from(text), &ms));
    return ms;
}

/* 15 November 2026 is a Sunday. */
static const struct {
    const char *name, *windows, *zone, *now;
    bool open;
    const char *next; /* NULL: never */
} rows[] = {
    {"nothing is always", "", "UTC", "2026-11-15T12:00:00Z", true, NULL},
    {"in the evening", "Mon-Fri 22:00-04:00", "UTC", "2026-11-16T21:59:59Z", false,
     "2026-11-16T22:00:00Z"},
    {"it begins", "Mon-Fri 22:00-04:00", "UTC", "2026-11-16T22:00:00Z", true,
     "2026-11-17T04:00:00Z"},
    {"past midnight", "Mon-Fri 22:00-04:00", "UTC", "2026-11-17T03:59:59Z", true,
     "2026-11-17T04:00:00Z"},
    {"it ends", "Mon-Fri 22:00-04:00", "UTC", "2026-11-17T04:00:00Z", false,
     "2026-11-17T22:00:00Z"},
    {"Friday's goes on into Saturday", "Mon-Fri 22:00-04:00", "UTC", "2026-11-21T01:00:00Z", true,
     "2026-11-21T04:00:00Z"},
    {"Sunday's would be Monday morning", "Mon-Fri 22:00-04:00", "UTC", "2026-11-16T01:00:00Z",
     false, "2026-11-16T22:00:00Z"},
    {"over the end of the week", "Sun 22:00-04:00", "UTC", "2026-11-16T01:00:00Z", true,
     "2026-11-16T04:00:00Z"},
    {"the whole of Saturday", "Sat 00:00-24:00", "UTC", "2026-11-21T23:59:59Z", true,
     "2026-11-22T00:00:00Z"},
    {"two that meet are one", "Fri 22:00-24:00, Sat 00:00-24:00", "UTC", "2026-11-20T22:30:00Z",
     true, "2026-11-22T00:00:00Z"},
    {"days over the weekend", "Fri-Mon 10:00-11:00", "UTC", "2026-11-16T10:30:00Z", true,
     "2026-11-16T11:00:00Z"},
    {"and not in the week", "Fri-Mon 10:00-11:00", "UTC", "2026-11-17T10:30:00Z", false,
     "2026-11-20T10:00:00Z"},
    {"single days", "Mon+Wed 10:00-11:00", "UTC", "2026-11-17T10:30:00Z", false,
     "2026-11-18T10:00:00Z"},
    {"every day", "02:00-03:00", "UTC", "2026-11-15T02:30:00Z", true, "2026-11-15T03:00:00Z"},
    {"every minute", "00:00-24:00", "UTC", "2026-11-15T02:30:00Z", true, NULL},
    {"the time of the site", "Sun 13:00-14:00", "Europe/Berlin", "2026-11-15T12:30:00Z", true,
     "2026-11-15T13:00:00Z"},
    {"its summer time", "Sun 13:00-14:00", "Europe/Berlin", "2026-06-14T11:30:00Z", true,
     "2026-06-14T12:00:00Z"},
    {"far in the east it is Monday", "Mon 06:00-07:00", "Pacific/Auckland", "2026-11-15T17:30:00Z",
     true, "2026-11-15T18:00:00Z"},
    {"an hour that is jumped over does not open", "Sun 02:15-02:45", "Europe/Berlin",
     "2026-03-28T12:00:00Z", false, "2026-04-05T00:15:00Z"},
    {"one that the jump ends in is shorter", "Sun 01:30-02:30", "Europe/Berlin",
     "2026-03-29T00:45:00Z", true, "2026-03-29T01:00:00Z"},
    {"an hour that comes twice opens twice", "Sun 02:00-02:30", "Europe/Berlin",
     "2026-10-25T00:30:00Z", false, "2026-10-25T01:00:00Z"},
    {"a window across the change is longer", "Sun 01:00-04:00", "Europe/Berlin",
     "2026-10-24T23:00:00Z", true, "2026-10-25T03:00:00Z"},
};

static void test_open(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_windows w;
        struct lks_tz tz;
        struct lks_err err = {0};
        lks_ms next = 0;
        lks_test_case("%s", rows[i].name);
        if (!CHECK_CODE(lks_windows_parse(lks_str_from(rows[i].windows), &w, &err), LKS_OK) ||
            !CHECK_CODE(lks_tz_parse(lks_str_from(rows[i].zone), &tz, &err), LKS_OK))
            continue;
        (void)CHECK_INT(lks_windows_open(&w, &tz, at(rows[i].now), &next), rows[i].open);
        char text[LKS_TIME_TEXT_SIZE];
        lks_ms want = rows[i].next != NULL ? at(rows[i].next) : LKS_WINDOW_NEVER;
        if (!CHECK(next == want))
            (void)CHECK_STR(lks_str_from(lks_time_text(next, text)), rows[i].next);
    }
}

static const struct {
    const char *windows, *message;
} refused[] = {
    {"Monday 10:00-11:00", "'Monday 10:00-11:00' is no window"},
    {"mon 10:00-11:00", "is no window"},
    {"Mon", "is no window"},
    {"Mon 10-11", "is no window"},
    {"Mon 10:00", "is no window"},
    {"Mon 10:00-10:00", "is no window"},
    {"Mon 24:00-01:00", "is no window"},
    {"Mon 10:60-11:00", "is no window"},
    {"Mon 23:00-24:30", "is no window"},
    {"Mon 1:00-2:00", "is no window"},
    {"Mon 10:00-11:00 UTC", "is no window"},
    {"Mon 10:00-11:00,", "'' is no window"},
    {"Mon-Wed-Fri 10:00-11:00", "is no window"},
    {"Mon+ 10:00-11:00", "is no window"},
};

static void test_refused(void)
{
    struct lks_windows w;
    struct lks_err err = {0};
    for (size_t i = 0; i < LKS_COUNT(refused); i++) {
        lks_test_case("'%s'", refused[i].windows);
        (void)CHECK_CODE(lks_windows_parse(lks_str_from(refused[i].windows), &w, &err),
                         LKS_E_INVALID);
        (void)CHECK_HAS(lks_str_from(err.msg), refused[i].message);
    }
    lks_test_case("more than may be");
    char many[LKS_WINDOW_TEXT_MAX];
    size_t len = 0;
    for (size_t i = 0; i <= LKS_WINDOWS_MAX; i++) {
        const char *one = i > 0 ? ",01:00-02:00" : "01:00-02:00";
        while (*one != '\0')
            many[len++] = *one++;
    }
    (void)CHECK_CODE(lks_windows_parse((struct lks_str){many, len}, &w, &err), LKS_E_LIMIT);
}

/* It is open, or closed, from now until the moment that is told, and the other way then. */
static void test_property(void)
{
    static const char *const texts[] = {"Mon-Fri 22:00-04:00, Sat 00:00-24:00", "02:30-02:45",
                                        "Sun 01:00-03:30", "Tue+Thu 23:00-01:00, Wed 12:00-13:00"};
    static const char *const zones[] = {"UTC", "Europe/Berlin", "America/Santiago",
                                        "Pacific/Chatham"};
    struct lks_rng rng = {7};
    for (size_t i = 0; i < LKS_COUNT(texts) * LKS_COUNT(zones); i++) {
        struct lks_windows w;
        struct lks_tz tz;
        struct lks_err err = {0};
        lks_test_case("%s in %s", texts[i % 4], zones[i / 4]);
        if (!CHECK_CODE(lks_windows_parse(lks_str_from(texts[i % 4]), &w, &err), LKS_OK) ||
            !CHECK_CODE(lks_tz_parse(lks_str_from(zones[i / 4]), &tz, &err), LKS_OK))
            return;
        for (int k = 0; k < 40; k++) {
            lks_ms now = (UINT64_C(1700000000) + lks_rng_below(&rng, 100000000)) * LKS_SECOND, next;
            bool open = lks_windows_open(&w, &tz, now, &next);
            if (!CHECK(next > now && next != LKS_WINDOW_NEVER))
                return;
            (void)CHECK(lks_windows_open(&w, &tz, next, NULL) != open);
            (void)CHECK(lks_windows_open(&w, &tz, next - LKS_SECOND, NULL) == open);
            (void)CHECK(lks_windows_open(&w, &tz, now + lks_rng_below(&rng, next - now), NULL) ==
                        open);
        }
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"window: open", test_open},
        {"window: refused", test_refused},
        {"window: property", test_property},
        {0},
    });
}
