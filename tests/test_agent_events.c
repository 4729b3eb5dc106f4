/* What an agent finds out about its machine while it works, and for how long it says so. */
#include "agent/loop/events.h"
#include "core/state/heartbeat.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#define NOW  UINT64_C(1794724520000)
#define UP   (7000 * LKS_SECOND) /* mono, then */
#define HOLD LKS_EVENTS_HOLD_MS
#define XID(number, text)                                                                          \
    "3,1234,5678901234,-;NVRM: Xid (PCI:0000:3b:00): " number ", pid='<unknown>', " text

static const struct {
    const char *name, *record;
    bool is;
    uint64_t xid, usec;
} records[] = {
    {"off the bus", XID("79", "GPU has fallen off the bus."), true, 79, 5678901234},
    {"with more in its head", "4,1,20,-,caller=T12;NVRM: Xid (PCI:0000:01:00): 48, x", true, 48,
     20},
    {"another's words", "6,1,2,-;usb 1-1: NVRM: Xid (PCI:0000:01:00): 79, x", false, 0, 0},
    {"no head", "NVRM: Xid (PCI:0000:01:00): 79, x", false, 0, 0},
    {"no time", "6,1;NVRM: Xid (PCI:0000:01:00): 79, x", false, 0, 0},
    {"no number", XID("many", "x"), false, 0, 0},
    {"a number without end", XID("99999999999", "x"), false, 0, 0},
    {"cut off", "6,1,2,-;NVRM: Xid (PCI:00", false, 0, 0},
    {"nothing", "", false, 0, 0},
};

static void test_records(void)
{
    for (size_t i = 0; i < LKS_COUNT(records); i++) {
        struct lks_kmsg_xid xid = {0};
        lks_test_case("%s", records[i].name);
        CHECK(lks_kmsg_xid(lks_str_from(records[i].record), &xid) == records[i].is);
        CHECK_INT(xid.xid, records[i].xid);
        CHECK_INT(xid.usec, records[i].usec);
    }
}

/* The log of a captured machine, as of a moment. */
static void write_log(const struct lks_tree *tree, const char *text, lks_ms at)
{
    char path[512];
    struct timespec times[2] = {{.tv_sec = (time_t)(at / LKS_SECOND)},
                                {.tv_sec = (time_t)(at / LKS_SECOND)}};
    lks_tree_file(tree, LKS_EVENTS_KMSG, text);
    snprintf(path, sizeof(path), "%s" LKS_EVENTS_KMSG, tree->path);
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

/* The bits, and how long ago the event of the sort was in seconds; -1: none is told of. */
static uint64_t look(struct lks_agent_events *e, const struct lks_tree *tree, lks_ms after,
                     enum lks_heartbeat_event sort, int64_t *age)
{
    struct lks_health_event told = {0};
    uint64_t health = lks_agent_events_look(
        e, tree->path, (struct lks_now){.wall = NOW + after, .mono = UP + after}, HOLD);
    *age = lks_heartbeat_health_told(health, sort, &told) ? (int64_t)(told.age / LKS_SECOND) : -1;
    return health & LKS_HEALTH_BITS;
}

static const struct {
    const char *name, *log; /* NULL: there is none */
    lks_ms age;
    uint64_t bits;
    int64_t told;
} logs[] = {
    {"no log", NULL, 0, 0, -1},
    {"nothing in it", "6,1,2,-;all is well\n", 0, LKS_HEALTH_XIDS_KNOWN, -1},
    {"a GPU that is gone", XID("79", "gone\n"), 1000, LKS_HEALTH_XIDS_KNOWN | LKS_HEALTH_XID, 1},
    {"one that went long ago", XID("79", "gone\n"), HOLD, LKS_HEALTH_XIDS_KNOWN, 600},
    {"a job that did wrong", XID("13", "Graphics Exception\n"), 1000, LKS_HEALTH_XIDS_KNOWN, -1},
    {"among others",
     "6,1,2,-;all is well\n" XID("13", "x\n") XID("95", "uncontained\n") "6,1,2,-;on\n", 1000,
     LKS_HEALTH_XIDS_KNOWN | LKS_HEALTH_XID, 1},
};

static void test_logs(void)
{
    for (size_t i = 0; i < LKS_COUNT(logs); i++) {
        struct lks_tree tree = lks_tree_new();
        struct lks_agent_events e = {0};
        lks_test_case("%s", logs[i].name);
        if (logs[i].log != NULL)
            write_log(&tree, logs[i].log, NOW - logs[i].age);
        int64_t age = 0;
        CHECK_INT(look(&e, &tree, 0, LKS_HEARTBEAT_XID, &age), logs[i].bits);
        CHECK_INT(age, logs[i].told);
        lks_agent_events_fini(&e);
        lks_tree_free(&tree);
    }
}

#define PORT(device, port) "/sys/class/infiniband/" device "/ports/" port "/counters/link_downed"

/* Counters count from the boot: what they say at first is old, and who rises tells of an event. */
static void test_links(void)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_agent_events e = {0};
    int64_t age = 0;
    lks_test_case("no ports");
    CHECK_INT(look(&e, &tree, 0, LKS_HEARTBEAT_LINK_DOWN, &age), 0);
    lks_tree_file(&tree, PORT("mlx5_0", "1"), "7\n");
    lks_tree_file(&tree, PORT("mlx5_1", "1"), "0\n");
    lks_test_case("at first");
    CHECK_INT(look(&e, &tree, 0, LKS_HEARTBEAT_LINK_DOWN, &age), LKS_HEALTH_LINKS_KNOWN);
    lks_test_case("nothing new");
    CHECK_INT(look(&e, &tree, 1, LKS_HEARTBEAT_LINK_DOWN, &age), LKS_HEALTH_LINKS_KNOWN);
    lks_tree_file(&tree, PORT("mlx5_1", "1"), "1\n");
    lks_test_case("one went down");
    CHECK_INT(look(&e, &tree, 2, LKS_HEARTBEAT_LINK_DOWN, &age),
              LKS_HEALTH_LINKS_KNOWN | LKS_HEALTH_LINK_DOWN);
    CHECK_INT(age, 0);
    lks_test_case("for a while, and when it was for longer");
    CHECK_INT(look(&e, &tree, 1 + HOLD, LKS_HEARTBEAT_LINK_DOWN, &age),
              LKS_HEALTH_LINKS_KNOWN | LKS_HEALTH_LINK_DOWN);
    CHECK_INT(look(&e, &tree, 2 + HOLD, LKS_HEARTBEAT_LINK_DOWN, &age), LKS_HEALTH_LINKS_KNOWN);
    CHECK_INT(age, 600);
    lks_test_case("the same again, and before that is over another one");
    lks_tree_file(&tree, PORT("mlx5_1", "1"), "2\n");
    (void)look(&e, &tree, 1000 * LKS_SECOND, LKS_HEARTBEAT_LINK_DOWN, &age);
    CHECK_INT(age, 0);
    lks_tree_file(&tree, PORT("mlx5_1", "1"), "3\n");
    (void)look(&e, &tree, 1300 * LKS_SECOND, LKS_HEARTBEAT_LINK_DOWN, &age);
    CHECK_INT(age, 0);
    (void)look(&e, &tree, 1310 * LKS_SECOND, LKS_HEARTBEAT_LINK_DOWN, &age);
    CHECK_INT(age, 10);
    lks_tree_file(&tree, PORT("mlx5_0", "1"), "many\n");
    lks_tree_file(&tree, PORT("mlx5_1", "1"), "\n");
    lks_test_case("counters that do not count");
    CHECK_INT(look(&e, &tree, 2000 * LKS_SECOND, LKS_HEARTBEAT_LINK_DOWN, &age), 0);
    lks_agent_events_fini(&e);
    lks_tree_free(&tree);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"records of the kernel", test_records},
        {"Xids", test_logs},
        {"ports", test_links},
        {0},
    });
}
