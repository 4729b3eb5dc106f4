#include "server/base/rate.h"

#include "tests/test.h"

#include <stdio.h>

static void test_burst_then_rate(void)
{
    LKS_CLEANUP(lks_rate_fini) struct lks_rate r = {0};
    struct lks_err err = {0};
    lks_ms wait = 0;
    if (!CHECK_CODE(lks_rate_init(&r, 10, 5, 1, &err), LKS_OK))
        return;
    for (int i = 0; i < 5; i++)
        CHECK(lks_rate_take(&r, LKS_STR("kim"), 1000, &wait));
    CHECK(lks_rate_left(&r, LKS_STR("lee"), 1000));
    CHECK(!lks_rate_left(&r, LKS_STR("kim"), 1000));
    CHECK(!lks_rate_take(&r, LKS_STR("kim"), 1000, &wait));
    CHECK_INT(wait, 100);
    CHECK(lks_rate_take(&r, LKS_STR("lee"), 1000, &wait)); /* another's bucket is its own */
    CHECK(!lks_rate_take(&r, LKS_STR("kim"), 1099, &wait));
    CHECK_INT(wait, 1);
    CHECK(lks_rate_left(&r, LKS_STR("kim"), 1100)); /* looking takes nothing */
    CHECK(lks_rate_left(&r, LKS_STR("kim"), 1100));
    CHECK(lks_rate_take(&r, LKS_STR("kim"), 1100, &wait));
    CHECK(!lks_rate_take(&r, LKS_STR("kim"), 1100, &wait));
}

/* Over a long time no more get through than the rate says, and no fewer. */
static void test_long_run(void)
{
    LKS_CLEANUP(lks_rate_fini) struct lks_rate r = {0};
    struct lks_err err = {0};
    lks_ms wait = 0;
    if (!CHECK_CODE(lks_rate_init(&r, 50, 200, 1, &err), LKS_OK))
        return;
    int taken = 0;
    for (lks_ms now = 0; now < 60 * LKS_SECOND; now++)
        taken += lks_rate_take(&r, LKS_STR("kim"), now, &wait);
    CHECK(taken >= 200 + 50 * 60 - 1 && taken <= 200 + 50 * 60 + 1);
}

static void test_pause_fills_no_more_than_a_burst(void)
{
    LKS_CLEANUP(lks_rate_fini) struct lks_rate r = {0};
    struct lks_err err = {0};
    lks_ms wait = 0;
    if (!CHECK_CODE(lks_rate_init(&r, 10, 5, 1, &err), LKS_OK))
        return;
    while (lks_rate_take(&r, LKS_STR("kim"), 1, &wait)) {
    }
    int taken = 0;
    while (taken < 100 && lks_rate_take(&r, LKS_STR("kim"), UINT64_MAX / 2, &wait))
        taken++;
    CHECK_INT(taken, 5);
    CHECK(!lks_rate_take(&r, LKS_STR("kim"), 5, &wait)); /* a clock that went back gives nothing */
}

/* However many come, the table stays as it is, and one who keeps asking stays limited. */
static void test_bounded(void)
{
    LKS_CLEANUP(lks_rate_fini) struct lks_rate r = {0};
    struct lks_err err = {0};
    lks_ms wait = 0;
    if (!CHECK_CODE(lks_rate_init(&r, 1, 2, 7, &err), LKS_OK))
        return;
    int taken = 0;
    for (unsigned i = 0; i < 100000; i++) {
        char key[32];
        snprintf(key, sizeof(key), "address %u", i);
        CHECK(lks_rate_take(&r, lks_str_from(key), i / 1000, &wait));
        taken += lks_rate_take(&r, LKS_STR("kim"), i / 1000, &wait);
    }
    CHECK(taken <= 3);
}

static void test_other_numbers(void)
{
    LKS_CLEANUP(lks_rate_fini) struct lks_rate r = {0};
    struct lks_err err = {0};
    lks_ms wait = 0;
    if (!CHECK_CODE(lks_rate_init(&r, 10, 100, 1, &err), LKS_OK))
        return;
    CHECK(lks_rate_take(&r, LKS_STR("kim"), 0, &wait));
    lks_rate_set(&r, 10, 2);
    int taken = 0;
    while (taken < 100 && lks_rate_take(&r, LKS_STR("kim"), 0, &wait))
        taken++;
    CHECK_INT(taken, 2);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"a burst, then the rate", test_burst_then_rate},
        {"the rate in the long run", test_long_run},
        {"a pause fills no more than a burst", test_pause_fills_no_more_than_a_burst},
        {"the table is bounded", test_bounded},
        {"a reload gives other numbers", test_other_numbers},
        {0},
    };
    return lks_test_main(tests);
}
