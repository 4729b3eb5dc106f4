#include "core/stats/remaining.h"

#include "tests/test.h"

#define MIN (60 * LKS_SECOND)

static const struct {
    const char *name;
    struct lks_remaining of;
    lks_ms left;
} rows[] = {
    {"not started", {.total = 4, .now = 9 * MIN}, 0},
    {"the clock stepped back", {.over = 1, .total = 4, .started = 9 * MIN, .now = 8 * MIN}, 0},
    {"nothing is finished", {.total = 4, .started = MIN, .now = 9 * MIN}, 0},
    {"nothing is finished, and there is a forecast",
     {.total = 4, .started = MIN, .now = 9 * MIN, .forecast = 20 * MIN},
     12 * MIN},
    {"a forecast that is past", {.total = 4, .started = MIN, .now = 9 * MIN, .forecast = MIN}, 0},
    {"half", {.over = 2, .total = 4, .started = MIN, .now = 11 * MIN}, 10 * MIN},
    {"a quarter", {.over = 1, .total = 4, .started = MIN, .now = 11 * MIN}, 30 * MIN},
    {"what is finished counts more than a forecast",
     {.over = 2, .total = 4, .started = MIN, .now = 11 * MIN, .forecast = 900 * MIN},
     10 * MIN},
    {"soaks of the past are no work",
     {.over = 2, .total = 4, .started = MIN, .now = 11 * MIN, .waited = 6 * MIN},
     4 * MIN},
    {"soaks to come are added",
     {.over = 2, .total = 4, .started = MIN, .now = 11 * MIN, .waited = 6 * MIN, .waits = 6 * MIN},
     10 * MIN},
    {"more soak than time",
     {.over = 2, .total = 4, .started = MIN, .now = 11 * MIN, .waited = 60 * MIN, .waits = MIN},
     MIN},
    {"all", {.over = 4, .total = 4, .started = MIN, .now = 11 * MIN}, 0},
    {"all, and the last wave soaks",
     {.over = 4, .total = 4, .started = MIN, .now = 11 * MIN, .waits = 5 * MIN},
     5 * MIN},
    {"more than all", {.over = 5, .total = 4, .started = MIN, .now = 11 * MIN}, 0},
};

static void test_left(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        CHECK_INT(lks_remaining(&rows[i].of), rows[i].left);
    }
}

/* While things are finished at an even pace, the end stays where it is. */
static void test_even(void)
{
    enum { TOTAL = 100 };
    for (uint64_t over = 1; over <= TOTAL; over++) {
        struct lks_remaining of = {
            .over = over, .total = TOTAL, .started = MIN, .now = MIN + over * 3 * MIN};
        CHECK_INT(of.now + lks_remaining(&of), MIN + TOTAL * 3 * MIN);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"remaining: what is left", test_left},
        {"remaining: an even pace", test_even},
        {0},
    });
}
