/* Tasks of others beside an update: what says that it is an update may be ours, what may be one is
 * waited for, and neither is taken for ours where nothing shows of that. */
#include "tests/test.h"
#include "tests/ways.h"

#define ERASE "/sys/1/Drives/1/Actions/Drive.SecureErase"
#define OF(id, state, uri)                                                                         \
    "{\"@odata.id\":\"/t/l/" id "\",\"TaskState\":\"" state "\",\"Payload\":{\"TargetUri\":\"" uri \
    "\"}}"
#define COUNTED_WRONG                                                                              \
    {                                                                                              \
        "GET", "/f", 0, 200, "", "{\"Members@odata.count\":2,\"Members\":[" AT("/f/1") "]}"        \
    }
#define OURS_ENDS(times)                                                                           \
    {"POST", "/push", 0, 202, "", RUNNING("")}, {"GET", "/t/l/9", times, 200, "", RUNNING("")},    \
    {                                                                                              \
        "GET", "/t/l/9", 0, 200, "", TASK("Completed", "OK", "")                                   \
    }

static const struct way ways[] = {
    {.name = "busy once, and a task that is over came into the list",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "reported that it is busy",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASK_YET,
               TASKS(T("12", "Completed")),
               {"GET", "/t/l/12", 0, 200, "", T("12", "Completed")},
               {"POST", "/push", 1, 503, "", ""},
               {"POST", "/push", 0, 204, "", ""},
               RESETS,
               STAYS_OLD}},
    {.name = "busy with the update of somebody else",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "reported that it is busy",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASK_YET,
               TASKS(AT("/t/l/12")),
               {"GET", "/t/l/12", 6, 200, "", OF("12", "Running", "/push")},
               {"GET", "/t/l/12", 0, 200, "", OF("12", "Completed", "/push")},
               {"POST", "/push", 0, 503, "", ""},
               RESETS,
               STAYS_OLD}},
    {.name = "an update is given up beside an erasure",
     .act = LKS_BMC_ABORT,
     .outcome = LKS_BMC_UNKNOWN,
     .says = "a task of an update still runs",
     .asked = "DELETE /t/l/9",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               TASKS(OF("9", "Running", "/push") "," OF("12", "Running", ERASE)),
               {"DELETE", "/t/l/9", 0, 204, "", ""},
               {"DELETE", "/t/l/12", 0, 204, "", ""},
               STAYS_OLD}},
    {.name = "an erasure that fails holds up a reset, and does not fail the update",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /push\n" RESET,
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASK_YET,
               TASKS(AT("/t/l/9") "," AT("/t/l/12")),
               OURS_ENDS(3),
               {"GET", "/t/l/12", 6, 200, "", OF("12", "Running", ERASE)},
               {"GET", "/t/l/12", 0, 200, "", OF("12", "Exception", ERASE)},
               RESETS,
               {"GET", "/f/1", 0, 200, "seen " RESET, ENTRY("2.0")},
               {"GET", "/f/1", 1, 200, "", ENTRY("1.0")},
               STAGED_ENTRY(0)}},
    {.name = "an erasure runs before anything was sent",
     .outcome = LKS_BMC_REFUSED,
     .says = "an update is running there already, or may be: /t/l/12",
     .asked = "",
     .pages = {BEFORE(ROOT, PUSH), MANAGER, TASKS(OF("12", "Running", ERASE)), STAYS_OLD}},
    {.name = "no answer, and an erasure ended since: that was not ours",
     .outcome = LKS_BMC_FAILED,
     .says = "after the reset it still runs",
     .asked = "POST /push\nPOST /push\n" RESET,
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASK_YET,
               TASKS(OF("12", "Completed", ERASE)),
               {"GET", "/t/l/12", 0, 200, "", OF("12", "Completed", ERASE)},
               {"POST", "/push", 1, 0, "", ""},
               OURS_ENDS(1),
               RESETS,
               STAYS_OLD}},
    {.name = "more entries are counted than listed, and one is named by its id",
     .component = "HostBMC_0",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /push",
     .pages = {COUNTED_WRONG, BEFORE(ROOT, PUSH), MANAGER, NO_TASKS, OURS_ENDS(1), THEN_NEW}},
};

static void test_others(void)
{
    const struct ways all = {.driver = &lks_bmc_redfish, .rows = ways, .count = LKS_COUNT(ways)};
    lks_test_ways_ended(&all);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"tasks of others", test_others},
        {0},
    };
    return lks_test_main(tests);
}
