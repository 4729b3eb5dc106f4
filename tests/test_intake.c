/* Accounts of callers, and whether a reader takes what it asked for. */
#include "server/base/intake.h"
#include "server/base/progress.h"
#include "tests/test.h"

#include <stdio.h>

static const struct {
    const char *name, *key;
    enum lks_side side;
    uint64_t bytes;
    enum lks_limited why;
} wishes[] = {
    {"within both", "kim", LKS_SIDE_PEOPLE, 60, LKS_LIMITED_COUNT},
    {"beyond its own", "kim", LKS_SIDE_PEOPLE, 41, LKS_LIMITED_BODIES},
    {"just its own", "kim", LKS_SIDE_PEOPLE, 40, LKS_LIMITED_COUNT},
    {"another's", "lee", LKS_SIDE_PEOPLE, 50, LKS_LIMITED_COUNT},
    {"beyond what all have", "max", LKS_SIDE_PEOPLE, 1, LKS_LIMITED_BODIES_ALL},
    {"an agent's, which is apart", "kim", LKS_SIDE_AGENTS, 100, LKS_LIMITED_COUNT},
    {"more than any number", "max", LKS_SIDE_PEOPLE, UINT64_MAX, LKS_LIMITED_BODIES},
    {"nothing", "max", LKS_SIDE_PEOPLE, 0, LKS_LIMITED_COUNT},
};

static void memory(void)
{
    static struct lks_intake in = {.seed = 7};
    const struct lks_intake_memory most = {100, 150}, none = {0};
    struct lks_account *accounts[LKS_COUNT(wishes)];
    for (size_t i = 0; i < LKS_COUNT(wishes); i++) {
        lks_test_case("%s", wishes[i].name);
        accounts[i] = lks_intake_open(&in, lks_str_from(wishes[i].key), wishes[i].side);
        CHECK_INT(lks_intake_hold(&in, accounts[i], wishes[i].bytes, &most), wishes[i].why);
    }
    lks_test_case("sums");
    CHECK(accounts[0] == accounts[2] && accounts[0] != accounts[5]);
    CHECK_INT(in.accounts, 4);
    CHECK_INT(in.bytes[LKS_SIDE_PEOPLE], 150);
    CHECK_INT(in.bytes[LKS_SIDE_AGENTS], 100);
    CHECK_INT(in.limited[LKS_LIMITED_BODIES], 2);
    CHECK_INT(in.limited[LKS_LIMITED_BODIES_ALL], 1);
    lks_test_case("without limits");
    CHECK_INT(lks_intake_hold(&in, accounts[0], 1000, &none), LKS_LIMITED_COUNT);
    lks_intake_free(&in, accounts[0], 1000);
    CHECK_INT(in.peak[LKS_SIDE_PEOPLE], 1150);
    lks_test_case("all of it is given back");
    for (size_t i = 0; i < LKS_COUNT(wishes); i++) {
        if (wishes[i].why == LKS_LIMITED_COUNT)
            lks_intake_free(&in, accounts[i], wishes[i].bytes);
        lks_intake_close(&in, accounts[i]);
    }
    CHECK_INT(in.accounts, 0);
    CHECK_INT(in.bytes[LKS_SIDE_PEOPLE] + in.bytes[LKS_SIDE_AGENTS], 0);
}

static void shares(void)
{
    static struct lks_intake in;
    struct lks_account *a = lks_intake_open(&in, LKS_STR("kim"), LKS_SIDE_PEOPLE);
    CHECK(lks_intake_take(&in, a, LKS_SHARE_STREAM, 1));
    CHECK(!lks_intake_take(&in, a, LKS_SHARE_STREAM, 1));
    CHECK(lks_intake_take(&in, a, LKS_SHARE_STREAM, 0)); /* no limit */
    CHECK(lks_intake_take(&in, a, LKS_SHARE_CALL, 1));   /* one of another kind */
    CHECK_INT(in.limited[LKS_LIMITED_STREAMS], 1);
    CHECK_INT(in.limited[LKS_LIMITED_CALLS], 0);
    lks_intake_give(a, LKS_SHARE_STREAM);
    lks_intake_give(a, LKS_SHARE_STREAM);
    CHECK(lks_intake_take(&in, a, LKS_SHARE_STREAM, 1));
    lks_intake_fini(&in);
    CHECK_INT(in.accounts, 0);
}

/* A thousand accounts come and go in another order than they came. */
static void many(void)
{
    static struct lks_intake in = {.seed = 3};
    static struct lks_account *all[1000];
    char key[32];
    for (size_t i = 0; i < LKS_COUNT(all); i++) {
        snprintf(key, sizeof(key), "node:n%zu", i);
        all[i] = lks_intake_open(&in, lks_str_from(key), LKS_SIDE_AGENTS);
    }
    CHECK_INT(in.accounts, LKS_COUNT(all));
    for (size_t i = 0; i < LKS_COUNT(all); i++)
        lks_intake_close(&in, all[i * 7 % LKS_COUNT(all)]);
    CHECK_INT(in.accounts, 0);
}

static const struct {
    const char *name;
    lks_ms at; /* s */
    uint64_t taken, wait;
    bool good;
} looks[] = {
    {"the start", 1, 0, 1000, true},
    {"a little later", 20, 0, 1000, true},
    {"nothing in all the time", 31, 0, 1000, false},
    {"another start", 100, 0, 0, true},
    {"it took all there was, and so keeps up", 200, 10, 0, true},
    {"too little of what waits", 230, LKS_PROGRESS_BYTES, 1, false},
    {"enough", 260, 2 * LKS_PROGRESS_BYTES, 1, true},
    {"and again", 290, 3 * LKS_PROGRESS_BYTES, 1, true},
    {"one byte now and then", 319, 3 * LKS_PROGRESS_BYTES + 1, 1, true},
    {"is not enough", 320, 3 * LKS_PROGRESS_BYTES + 2, 1, false},
};

static void progress(void)
{
    struct lks_progress p = {0};
    for (size_t i = 0; i < LKS_COUNT(looks); i++) {
        lks_test_case("%s", looks[i].name);
        CHECK_INT(lks_progress_good(&p, looks[i].at * LKS_SECOND, looks[i].taken, looks[i].wait,
                                    30 * LKS_SECOND),
                  looks[i].good);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"memory", memory}, {"shares", shares}, {"many", many}, {"progress", progress}, {0},
    };
    return lks_test_main(tests);
}
