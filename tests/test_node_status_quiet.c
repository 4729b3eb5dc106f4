/* When a step may start on a node that takes no new jobs: every yes that could name it expired. */
#include "core/state/node_status.h"
#include "tests/fleet.h"
#include "tests/test.h"

static void say(struct lks_asked *a, struct lks_record r)
{
    lks_asked_apply(a, &r);
}

static void begin(struct lks_asked *a)
{
    lks_asked_init(a);
    say(a, (struct lks_record){.kind = LKS_RECORD_POOL, .pool = {.name = LKS_STR("train")}});
    say(a, (struct lks_record){.kind = LKS_RECORD_PLACED,
                               .placed = {.hosts = LKS_STR("n[1-2]"), .pool = LKS_STR("train")}});
    lks_fleet_live(a, "n[1-2]", 7);
}

static void change(struct lks_asked *a, bool on)
{
    say(a,
        (struct lks_record){
            .kind = LKS_RECORD_CONDITION,
            .condition = {.node = LKS_STR("n1"), .condition = LKS_CONDITION_CHANGING, .on = on}});
}

static void hold(struct lks_asked *a)
{
    say(a, (struct lks_record){.kind = LKS_RECORD_HELD, .held = {.node = LKS_STR("n1")}});
}

static void test_quiet(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    uint32_t n1 = lks_fleet_node(&a, "n1");
    const struct lks_limits *l = &a.state.limits;
    lks_ms wait = l->validity + l->staleness + l->skew, first = a.now.wall;
    CHECK(lks_node_status_quiet(&a.state, n1) == UINT64_MAX);
    change(&a, true);
    CHECK_INT(lks_node_status_quiet(&a.state, n1), first + wait);
    lks_fleet_wait(&a, 10);
    change(&a, true);
    hold(&a);
    CHECK_INT(lks_node_status_quiet(&a.state, n1), first + wait);
    change(&a, false);
    CHECK_INT(lks_node_status_quiet(&a.state, n1), first + 10 + wait);
    lks_fleet_wait(&a, 10);
    hold(&a);
    CHECK_INT(lks_node_status_quiet(&a.state, n1), first + 10 + wait);
}

/* A person's override reaches held nodes, so that a step waits for its end. */
static const struct {
    const char *name, *hosts;
    bool changing;
    lks_ms until;  /* after the node was held */
    bool prolongs; /* the wait */
} overrides[] = {
    {"one of the node", "n[1-2]", false, 500000, true},
    {"one of another", "n2", false, 500000, false},
    {"one that ends before", "n1", false, 5, false},
    {"one that cannot be read", "n[", false, 500000, true},
    {"none reaches a change", "n1", true, 500000, false},
};

static void test_quiet_overridden(void)
{
    for (size_t i = 0; i < LKS_COUNT(overrides); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", overrides[i].name);
        begin(&a);
        uint32_t n1 = lks_fleet_node(&a, "n1");
        const struct lks_limits *l = &a.state.limits;
        lks_ms held = a.now.wall, until = held + overrides[i].until;
        hold(&a);
        if (overrides[i].changing)
            change(&a, true);
        say(&a, (struct lks_record){
                    .kind = LKS_RECORD_OVERRIDE,
                    .override = {.hosts = lks_str_from(overrides[i].hosts), .until = until}});
        lks_ms alone = held + l->validity + l->staleness + l->skew;
        CHECK_INT(lks_node_status_quiet(&a.state, n1),
                  overrides[i].prolongs ? until + l->staleness + l->skew : alone);
    }
}

/* Limits out of all bounds make it late and never early. */
static void test_quiet_limits(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    hold(&a);
    say(&a, (struct lks_record){
                .kind = LKS_RECORD_LIMITS,
                .limits = {.validity = UINT64_MAX, .staleness = 2, .skew = UINT64_MAX}});
    CHECK(lks_node_status_quiet(&a.state, lks_fleet_node(&a, "n1")) == UINT64_MAX);
}

/* What followers came to know late counts from then: of the rows that one commit wrote, and no
 * others. */
static void test_slow(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    uint32_t n1 = lks_fleet_node(&a, "n1");
    const struct lks_limits *l = &a.state.limits;
    lks_ms wait = l->validity + l->staleness + l->skew, first = a.now.wall;
    lks_node_status_slow(&a.state, 0, first + 100);
    CHECK(lks_node_status_quiet(&a.state, n1) == UINT64_MAX);
    change(&a, true);
    static const struct {
        const char *name;
        int64_t from, to, then; /* beside the time at which it was closed */
    } steps[] = {
        {"all before a leader", 0, 0, 100},
        {"a commit that wrote it", -10, 3000, 3000},
        {"the same, which goes on", -10, 4000, 4000},
        {"a later commit", 10, 9000, 4000},
    };
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        lks_test_case("%s", steps[i].name);
        if (steps[i].to != 0)
            lks_node_status_slow(&a.state, first + (lks_ms)steps[i].from,
                                 first + (lks_ms)steps[i].to);
        CHECK_INT(lks_node_status_quiet(&a.state, n1), first + (lks_ms)steps[i].then + wait);
    }
    for (unsigned i = 1; i <= 2 * LKS_NODE_STATUS_SLOW_MAX; i++)
        lks_node_status_slow(&a.state, first + 10000 * i, first + 10000 * i + 5000);
    lks_test_case("more commits than are kept");
    CHECK(lks_node_status_quiet(&a.state, n1) > first + 4000 + wait);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"node status: when a step may begin", test_quiet},
        {"node status: overrides and steps", test_quiet_overridden},
        {"node status: rows that were durable late", test_slow},
        {"node status: limits and steps", test_quiet_limits},
        {0},
    });
}
