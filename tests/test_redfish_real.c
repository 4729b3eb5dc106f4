/* What real machines were seen to answer, and no personality of bmcsim does. */
#include "tests/test.h"
#include "tests/ways.h"

#define BROKEN                                                                                     \
    "{\"error\":{\"@Message.ExtendedInfo\":[{\"MessageId\":\"Base.1.8.InternalError\","            \
    "\"Message\":\"the image store is full\"}]}}"

/* An error of the service in answer to an upload: it may have arrived, and the reason names the
 * error. */
static const struct way errors[] = {
    {.name = "status 500 to an upload, and no list of tasks to look in",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "the service answered what was sent with status 500: the image store is full, and "
             "whether it arrived is unknown",
     .asked = "POST /push",
     .pages = {BEFORE(PLAIN_ROOT, PUSH), {"POST", "/push", 0, 500, "", BROKEN}, STAYS_OLD}},
    {.name = "status 500 to each upload, and none arrived",
     .outcome = LKS_BMC_FAILED,
     .says = "it was sent 3 times and never arrived: the service answered the last with status "
             "500: the image store is full",
     .asked = "POST /push\nPOST /push\nPOST /push",
     .pages =
         {BEFORE(ROOT, PUSH), MANAGER, NO_TASKS, {"POST", "/push", 0, 500, "", BROKEN}, STAYS_OLD}},
    {.name = "status 502 without a word to an upload",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "the service answered what was sent with status 502, and whether",
     .asked = "POST /push",
     .pages = {BEFORE(PLAIN_ROOT, PUSH), {"POST", "/push", 0, 502, "", "<html>"}, STAYS_OLD}},
    {.name = "status 500 to an upload that arrived all the same",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               TASK_LISTED,
               {"POST", "/push", 0, 500, "", BROKEN},
               {"GET", "/t/l/9", 0, 200, "", TASK("Completed", "OK", "")},
               THEN_NEW}},
    {.name = "status 500 to a switch of banks, each time",
     .act = LKS_BMC_SWITCH,
     .outcome = LKS_BMC_UNKNOWN,
     .says = "the service answered the switch of banks with status 500: the image store is full, "
             "and it runs 1.0 and not 2.0",
     .asked = "POST /f/2/activate {}\nPOST /f/2/activate {}\nPOST /f/2/activate {}",
     .pages = {TWO_ENTRIES,
               BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               OTHER_BANK("2.0"),
               {"POST", "/f/2/activate", 0, 500, "harmless\n", BROKEN},
               STAYS_OLD}},
};

static void test_errors(void)
{
    const struct ways all = {
        .driver = &lks_bmc_redfish, .rows = errors, .count = LKS_COUNT(errors)};
    lks_test_ways_ended(&all);
}

/* Supermicro's newer controllers call themselves SMCI. */
#define SMCI        "{\"Vendor\":\"SMCI\"," ROOT_LINKS "}"
#define STARTS      PUSH ",\"Actions\":{\"#UpdateService.StartUpdate\":{\"target\":\"/u/start\"}}"
#define BIOS(more)  "{\"@odata.id\":\"/f/1\",\"Id\":\"BIOS\",\"Version\":\"1.0\"" more "}"
#define HAS_RELATED ",\"RelatedItem\":[" AT("/redfish/v1/Systems/7/Bios") "]"
#define PARAMETERS(t)                                                                              \
    "\"Targets\":[\"" t "\"],\"@Redfish.OperationApplyTime\":\"OnStartUpdateRequest\""
#define NOT_TAKEN                                                                                  \
    {                                                                                              \
        "POST", "/push", 0, 400, "", BROKEN                                                        \
    }

static const struct way smci[] = {
    {.name = "host firmware of SMCI is verified first, for the target that its entry names",
     .component = "bios",
     .outcome = LKS_BMC_REFUSED,
     .says = "the service refused it: status 400",
     .asked = "POST /push",
     .sends = PARAMETERS("/redfish/v1/Systems/7/Bios") ",\"Oem\":{\"Supermicro\":{\"BIOS\":",
     .pages = {BEFORE(SMCI, STARTS),
               MANAGER,
               NO_TASKS,
               {"GET", "/f/1", 0, 200, "", BIOS(HAS_RELATED)},
               NOT_TAKEN}},
    {.name = "an entry that names no target",
     .component = "bios",
     .outcome = LKS_BMC_REFUSED,
     .says = "the service refused it: status 400",
     .asked = "POST /push",
     .sends = PARAMETERS("/redfish/v1/Systems/1/Bios"),
     .pages = {BEFORE(SMCI, STARTS),
               MANAGER,
               NO_TASKS,
               {"GET", "/f/1", 0, 200, "", BIOS("")},
               NOT_TAKEN}},
};

static void test_smci(void)
{
    const struct ways all = {.driver = &lks_bmc_redfish, .rows = smci, .count = LKS_COUNT(smci)};
    lks_test_ways(&all);
}

/* The log of a way holds each request that changes something: an empty one means that no byte of
 * the image was sent. */
#define GIZMO "{\"@odata.id\":\"/f/1\",\"Id\":\"Gizmo_0\",\"Version\":\"1.0\",\"Updateable\":true}"
static const struct way unknown[] = {
    {.name = "an entry of unknown class is not updated",
     .component = "Gizmo_0",
     .outcome = LKS_BMC_REFUSED,
     .says = "Gizmo_0 is of unknown class",
     .asked = "",
     .pages =
         {BEFORE(ROOT, PUSH), MANAGER, NO_TASKS, {"GET", "/f/1", 0, 200, "", GIZMO}, ACCEPTED}},
    {.name = "nor staged",
     .act = LKS_BMC_STAGE,
     .component = "Gizmo_0",
     .outcome = LKS_BMC_REFUSED,
     .says = "Gizmo_0 is of unknown class",
     .asked = "",
     .pages =
         {BEFORE(ROOT, PUSH), MANAGER, NO_TASKS, {"GET", "/f/1", 0, 200, "", GIZMO}, ACCEPTED}},
    {.name = "nor activated",
     .act = LKS_BMC_ACTIVATE,
     .component = "Gizmo_0",
     .outcome = LKS_BMC_REFUSED,
     .says = "Gizmo_0 is of unknown class",
     .asked = "",
     .pages =
         {BEFORE(ROOT, PUSH), MANAGER, NO_TASKS, {"GET", "/f/1", 0, 200, "", GIZMO}, ACCEPTED}},
};

static void test_unknown(void)
{
    const struct ways all = {
        .driver = &lks_bmc_redfish, .rows = unknown, .count = LKS_COUNT(unknown)};
    lks_test_ways(&all);
}

/* Lenovo XCC reports WriteProtected of each entry, also of those that it updates. */
#define LENOVO "{\"Vendor\":\"Lenovo\"," ROOT_LINKS "}"
#define LOCKED(id, version, updateable)                                                            \
    "{\"@odata.id\":\"/f/1\",\"Id\":\"" id "\",\"Version\":\"" version                             \
    "\",\"WriteProtected\":true,\"Updateable\":" updateable "}"
#define LOCKED_PAGES(root, id, updateable)                                                         \
    {                                                                                              \
        BEFORE(root, PUSH), MANAGER, NO_TASK_YET, TASKS(AT("/t/l/9")),                             \
            {"POST", "/push", 0, 202, "", RUNNING("")},                                            \
            {"GET", "/t/l/9", 0, 200, "", TASK("Completed", "OK", "")},                            \
            {"GET", "/f/1", 1, 200, "", LOCKED(id, "1.0", updateable)},                            \
        {                                                                                          \
            "GET", "/f/1", 0, 200, "", LOCKED(id, "2.0", updateable)                               \
        }                                                                                          \
    }

static const struct way locked[] = {
    {.name = "Lenovo: updateable",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /push",
     .pages = LOCKED_PAGES(LENOVO, "BMC-Primary", "true")},
    {.name = "Lenovo: not updateable",
     .outcome = LKS_BMC_REFUSED,
     .says = "BMC-Primary is write-protected and not updateable, as it says",
     .asked = "",
     .pages = LOCKED_PAGES(LENOVO, "BMC-Primary", "false")},
    {.name = "Lenovo: silent about updates",
     .outcome = LKS_BMC_REFUSED,
     .says = "BMC-Primary is write-protected, as it says",
     .asked = "",
     .pages = LOCKED_PAGES(LENOVO, "BMC-Primary", "null")},
    {.name = "another vendor",
     .outcome = LKS_BMC_REFUSED,
     .says = "HostBMC_0 is write-protected, as it says; 'lockstep bmc update --write-protected "
             "REASON' overrides that",
     .asked = "",
     .pages = LOCKED_PAGES(ROOT, "HostBMC_0", "true")},
    {.name = "another vendor, overridden",
     .write_protected = true,
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /push",
     .pages = LOCKED_PAGES(ROOT, "HostBMC_0", "true")},
    {.name = "another vendor, overridden, and not updateable",
     .write_protected = true,
     .outcome = LKS_BMC_REFUSED,
     .says = "HostBMC_0 is write-protected and not updateable, as it says",
     .asked = "",
     .pages = LOCKED_PAGES(ROOT, "HostBMC_0", "false")},
};

static void test_locked(void)
{
    const struct ways all = {
        .driver = &lks_bmc_redfish, .rows = locked, .count = LKS_COUNT(locked)};
    lks_test_ways_ended(&all);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"an error in answer to what was sent is reported as such", test_errors},
        {"SMCI is Supermicro", test_smci},
        {"write protection counts where the vendor means it", test_locked},
        {"an entry of unknown class is refused before the image is sent", test_unknown},
        {0},
    };
    return lks_test_main(tests);
}
