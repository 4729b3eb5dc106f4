/* Ways to update, and what services say meanwhile, each as the pages a service serves: what no
 * personality of bmcsim does, and what has to be exact. */
#include "tests/bmcs.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdlib.h>

#define PAGES_MAX 24
#define BEGIN     UINT64_C(1763200000000)

struct page {
    const char *method, *path;
    unsigned times; /* 0: from then on */
    int status;     /* 0: no answer */
    const char *head, *body;
};

/* The pages of a service; of several with the same name the first that is not used up. */
struct way {
    const char *name;
    enum lks_bmc_act act;
    enum lks_bmc_outcome outcome;
    const char *says;  /* a piece of the reason */
    const char *asked; /* requests that change something, a line each, all of them */
    struct page pages[PAGES_MAX];
    const char *pull;      /* NULL: none */
    const char *component; /* NULL: "bmc" */
};

#define LINK(name, at) "\"" name "\":{\"@odata.id\":\"" at "\"}"
#define ROOT                                                                                       \
    "{" LINK("UpdateService", "/u") "," LINK("Tasks", "/t") "," LINK(                              \
        "Managers", "/m") ","                                                                      \
                          "\"Links\":{" LINK("Sessions", "/s") "}}"
#define PLAIN_ROOT     "{" LINK("UpdateService", "/u") ",\"Links\":{" LINK("Sessions", "/s") "}}"
#define SERVICE(offer) "{" LINK("FirmwareInventory", "/f") "," offer "}"
#define PUSH           "\"MultipartHttpPushUri\":\"/push\""
#define ENTRY(version) "{\"@odata.id\":\"/f/1\",\"Id\":\"HostBMC_0\",\"Version\":\"" version "\"}"
#define TASK(state, status, more)                                                                  \
    "{\"@odata.id\":\"/t/l/9\",\"TaskState\":\"" state "\",\"TaskStatus\":\"" status "\"" more "}"

#define BEFORE(root, offer)                                                                        \
    {"GET", "/redfish/v1/", 0, 200, "", root},                                                     \
        {"POST", "/s", 0, 201, "x-auth-token: t\nlocation: /s/1\n", "{}"},                         \
        {"DELETE", "/s/1", 0, 204, "", ""},                                                        \
        {"GET", "/u", 0, 200, "etag: \"e\"\n", SERVICE(offer)},                                    \
        {"GET", "/m", 0, 200, "", "{\"Members\":[{\"@odata.id\":\"/m/1\"}]}"},                     \
        {"GET", "/f", 0, 200, "", "{\"Members\":[{\"@odata.id\":\"/f/1\"}]}"},                     \
    {                                                                                              \
        "GET", "/t", 0, 200, "", "{" LINK("Tasks", "/t/l") "}"                                     \
    }
#define MANAGER                                                                                    \
    {                                                                                              \
        "GET", "/m/1", 0, 200, "",                                                                 \
            "{\"LastResetTime\":\"2026-11-15T00:00:00Z\",\"Actions\":{\"#Manager.Reset\":{"        \
            "\"target\":\"/m/1/reset\"}}}"                                                         \
    }
#define NO_TASKS                                                                                   \
    {                                                                                              \
        "GET", "/t/l", 0, 200, "", "{\"Members\":[]}"                                              \
    }
#define TASK_LISTED                                                                                \
    {"GET", "/t/l", 1, 200, "", "{\"Members\":[]}"},                                               \
    {                                                                                              \
        "GET", "/t/l", 0, 200, "", "{\"Members\":[{\"@odata.id\":\"/t/l/9\"}]}"                    \
    }
#define MONITOR(said)                                                                              \
    {                                                                                              \
        BEFORE(ROOT, PUSH), MANAGER, NO_TASKS, ACCEPTED, {"GET", "/mon/9", 0, 200, "", said},      \
            STAYS_OLD                                                                              \
    }
#define THEN_NEW                                                                                   \
    {"GET", "/f/1", 1, 200, "", ENTRY("1.0")},                                                     \
    {                                                                                              \
        "GET", "/f/1", 0, 200, "", ENTRY("2.0")                                                    \
    }
#define STAYS_OLD                                                                                  \
    {                                                                                              \
        "GET", "/f/1", 0, 200, "", ENTRY("1.0")                                                    \
    }
#define ACCEPTED                                                                                   \
    {                                                                                              \
        "POST", "/push", 0, 202, "location: /mon/9\n", ""                                          \
    }

#define FULL "{\"error\":{\"message\":\"all sessions are taken\"}}"

#define RESET_TASK(of, how)                                                                        \
    TASK("Completed", "OK",                                                                        \
         ",\"Messages\":[{\"MessageId\":\"Base.1.18.ResetRequired\",\"MessageArgs\":[\"" of        \
         "\",\"" how "\"]}]")
#define TWO_ENTRIES                                                                                \
    {                                                                                              \
        "GET", "/f", 0, 200, "",                                                                   \
            "{\"Members\":[{\"@odata.id\":\"/f/1\"},{\"@odata.id\":\"/f/2\"}]}"                    \
    }
#define OTHER_BANK(version)                                                                        \
    {                                                                                              \
        "GET", "/f/2", 0, 200, "",                                                                 \
            "{\"Id\":\"HostBMC_0\",\"Active\":false,\"Version\":\"" version                        \
            "\",\"Actions\":{\"#SoftwareInventory.Activate\":{\"target\":\"/f/2/activate\"}}}"     \
    }
#define STAGED_ENTRY(times)                                                                        \
    {                                                                                              \
        "GET", "/f/1", times, 200, "",                                                             \
            "{\"Id\":\"HostBMC_0\",\"Version\":\"1.0\",\"Staged\":{\"Version\":\"2.0\"},"          \
            "\"Actions\":{\"#SoftwareInventory.Cancel\":{\"target\":\"/f/1/cancel\"}}}"            \
    }

static const struct way ways[] = {
    {.name = "the inventory cannot be listed",
     .outcome = LKS_BMC_REFUSED,
     .says = "the inventory cannot be listed: status 404",
     .asked = "",
     .pages = {{"GET", "/f", 0, 404, "", ""}, BEFORE(ROOT, PUSH), MANAGER, NO_TASKS}},
    {.name = "the inventory cannot be listed for a while, after the upload",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /push",
     .pages = {{"GET", "/f", 1, 200, "", "{\"Members\":[{\"@odata.id\":\"/f/1\"}]}"},
               {"GET", "/f", 4, 404, "", ""},
               BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 204, "", ""},
               THEN_NEW}},
    {.name = "an entry that is listed twice does not stand in for one that is gone",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "1 of 2 entries of bmc are to be read",
     .asked = "POST /push\nPOST /m/1/reset {\"ResetType\":\"GracefulRestart\"}",
     .pages = {{"GET", "/f", 1, 200, "",
                "{\"Members\":[{\"@odata.id\":\"/f/1\"},{\"@odata.id\":\"/f/2\"}]}"},
               {"GET", "/f", 0, 200, "",
                "{\"Members\":[{\"@odata.id\":\"/f/1\"},{\"@odata.id\":\"/f/1\"}]}"},
               BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"GET", "/f/2", 0, 200, "",
                "{\"@odata.id\":\"/f/2\",\"Id\":\"HostBMC_0\",\"Version\":\"1.0\"}"},
               {"POST", "/push", 0, 204, "", ""},
               {"POST", "/m/1/reset", 0, 204, "", ""},
               THEN_NEW}},
    {.name = "pages without end",
     .outcome = LKS_BMC_REFUSED,
     .says = "the inventory is too long",
     .asked = "",
     .pages = {{"GET", "/f", 0, 200, "", "{\"Members\":[],\"Members@odata.nextLink\":\"/f?p\"}"},
               {"GET", "/f?p", 0, 200, "", "{\"Members\":[],\"Members@odata.nextLink\":\"/f?p\"}"},
               BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS}},
    {.name = "the upload is lost, and the list of tasks has no end",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "does not list its tasks",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               {"GET", "/t/l", 1, 200, "", "{\"Members\":[]}"},
               {"GET", "/t/l", 0, 200, "",
                "{\"Members\":[],\"Members@odata.nextLink\":\"elsewhere\"}"},
               {"POST", "/push", 1, 0, "", ""},
               STAYS_OLD}},
    {.name = "an error that is good news",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 200, "",
                "{\"error\":{\"code\":\"iLO.0.10.ExtendedInfo\",\"@Message.ExtendedInfo\":[{"
                "\"MessageId\":\"Base.1.4.Success\"}]}}"},
               THEN_NEW}},
    {.name = "the task wants a host reset for its BMC: the table knows better",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /push\nPOST /m/1/reset {\"ResetType\":\"GracefulRestart\"}",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 202, "", TASK("New", "OK", "")},
               {"GET", "/t/l/9", 0, 200, "", RESET_TASK("/y/1", "ForceRestart")},
               {"GET", "/y/1", 0, 200, "",
                "{\"Actions\":{\"#ComputerSystem.Reset\":{\"target\":\"/y/1/reset\"}}}"},
               {"POST", "/m/1/reset", 0, 204, "", ""},
               {"GET", "/f/1", 10, 200, "", ENTRY("1.0")},
               {"GET", "/f/1", 0, 200, "", ENTRY("2.0")}}},
    {.name = "the task wants something turned off: it is restarted",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /push\nPOST /m/1/reset {\"ResetType\":\"GracefulRestart\"}",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 202, "", TASK("New", "OK", "")},
               {"GET", "/t/l/9", 0, 200, "", RESET_TASK("/m/1", "ForceOff")},
               {"POST", "/m/1/reset", 0, 204, "", ""},
               {"GET", "/f/1", 10, 200, "", ENTRY("1.0")},
               {"GET", "/f/1", 0, 200, "", ENTRY("2.0")}}},
    {.name = "a reset that is not answered is asked for again, and less kindly",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /push\nPOST /m/1/reset {\"ResetType\":\"GracefulRestart\"}\n"
              "POST /m/1/reset {\"ResetType\":\"ForceRestart\"}",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 204, "", ""},
               {"POST", "/m/1/reset", 1, 0, "", ""},
               {"POST", "/m/1/reset", 0, 204, "", ""},
               {"GET", "/f/1", 110, 200, "", ENTRY("1.0")},
               {"GET", "/f/1", 0, 200, "", ENTRY("2.0")}}},
    {.name = "an entry of no known class: no reset is a guess",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "it runs 1.0 and not 2.0, and it is not known which reset makes Frobnicator run",
     .asked = "POST /push",
     .component = "Frobnicator",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 204, "", ""},
               {"GET", "/f/1", 0, 200, "", "{\"Id\":\"Frobnicator\",\"Version\":\"1.0\"}"}}},
    {.name = "it can only be applied at once, and was to be staged",
     .act = LKS_BMC_STAGE,
     .outcome = LKS_BMC_REFUSED,
     .says = "does not offer the apply time OnReset",
     .asked = "",
     .pages = {BEFORE(ROOT, PUSH ",\"@Redfish.OperationApplyTimeSupport\":{\"SupportedValues\":["
                                 "\"Immediate\"]}"),
               MANAGER, NO_TASKS, STAYS_OLD}},
    {.name = "a push that has no word for later, and it was to be staged",
     .act = LKS_BMC_STAGE,
     .outcome = LKS_BMC_REFUSED,
     .says = "no way to stage bmc: it would apply it at once",
     .asked = "",
     .pages = {BEFORE(ROOT, "\"HttpPushUri\":\"/push\""), MANAGER, NO_TASKS, STAYS_OLD}},
    {.name = "the other bank holds something else",
     .act = LKS_BMC_SWITCH,
     .outcome = LKS_BMC_REFUSED,
     .says = "the other bank has 3.0 and not 2.0",
     .asked = "",
     .pages = {TWO_ENTRIES, BEFORE(ROOT, PUSH), MANAGER, NO_TASKS, OTHER_BANK("3.0"), STAYS_OLD}},
    {.name = "what is staged would run instead of the other bank",
     .act = LKS_BMC_SWITCH,
     .outcome = LKS_BMC_REFUSED,
     .says = "2.0 is staged, and a reset would make that run",
     .asked = "",
     .pages = {TWO_ENTRIES, BEFORE(ROOT, PUSH), MANAGER, NO_TASKS, OTHER_BANK("2.0"),
               STAGED_ENTRY(0)}},
    {.name = "a switch that is not answered is asked for again",
     .act = LKS_BMC_SWITCH,
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /f/2/activate {}\nPOST /f/2/activate {}",
     .pages = {TWO_ENTRIES,
               BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               OTHER_BANK("2.0"),
               {"POST", "/f/2/activate", 1, 0, "", ""},
               {"POST", "/f/2/activate", 0, 204, "", ""},
               {"GET", "/f/1", 10, 200, "", ENTRY("1.0")},
               {"GET", "/f/1", 0, 200, "", ENTRY("2.0")}}},
    {.name = "a switch that is never answered",
     .act = LKS_BMC_SWITCH,
     .outcome = LKS_BMC_UNKNOWN,
     .says = "no answer to the switch of banks, and it runs 1.0 and not 2.0",
     .asked = "POST /f/2/activate {}\nPOST /f/2/activate {}\nPOST /f/2/activate {}",
     .pages = {TWO_ENTRIES,
               BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               OTHER_BANK("2.0"),
               {"POST", "/f/2/activate", 0, 0, "", ""},
               STAYS_OLD}},
    {.name = "what cannot be read is not given up",
     .act = LKS_BMC_ABORT,
     .outcome = LKS_BMC_DONE,
     .says = "nothing of bmc is staged any more; it runs 1.0",
     .asked = "POST /f/1/cancel {}\nPOST /f/1/cancel {}",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               STAGED_ENTRY(1),
               {"POST", "/f/1/cancel", 1, 0, "", ""},
               {"POST", "/f/1/cancel", 0, 204, "", ""},
               {"GET", "/f/1", 4, 404, "", ""},
               STAGED_ENTRY(5),
               STAYS_OLD}},
    {.name = "a plain push, with targets set before, under a tag that changed",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1 entries of bmc say 2.0",
     .asked = "PATCH /u If-Match: \"e\"\nPATCH /u If-Match: \"e\"\nPOST /push",
     .pages = {BEFORE(ROOT, "\"HttpPushUri\":\"/push\",\"HttpPushUriTargets\":[]"),
               MANAGER,
               NO_TASKS,
               {"PATCH", "/u", 1, 412, "", ""},
               {"PATCH", "/u", 0, 200, "", "{}"},
               {"POST", "/push", 0, 204, "", ""},
               THEN_NEW}},
    {.name = "the service fetches it",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /simple",
     .pull = "https://depot.example/i",
     .pages = {BEFORE(ROOT, "\"Actions\":{\"#UpdateService.SimpleUpdate\":{\"target\":"
                            "\"/simple\"}}"),
               MANAGER,
               NO_TASKS,
               {"POST", "/simple", 0, 204, "", ""},
               THEN_NEW}},
    {.name = "it only fetches, and from where is not said",
     .outcome = LKS_BMC_REFUSED,
     .says = "only fetches images itself",
     .asked = "",
     .pages = {BEFORE(ROOT, "\"Actions\":{\"#UpdateService.SimpleUpdate\":{\"target\":"
                            "\"/simple\"}}"),
               MANAGER, NO_TASKS, STAYS_OLD}},
    {.name = "it takes nothing",
     .outcome = LKS_BMC_REFUSED,
     .says = "offers no way",
     .asked = "",
     .pages = {BEFORE(ROOT, "\"a\":1"), MANAGER, NO_TASKS, STAYS_OLD}},
    {.name = "switched off",
     .outcome = LKS_BMC_REFUSED,
     .says = "ServiceEnabled is false",
     .asked = "",
     .pages = {BEFORE(ROOT, PUSH ",\"ServiceEnabled\":false"), MANAGER, NO_TASKS, STAYS_OLD}},
    {.name = "another client has it",
     .outcome = LKS_BMC_REFUSED,
     .says = "HttpPushUriTargetsBusy",
     .asked = "",
     .pages = {BEFORE(ROOT, "\"HttpPushUri\":\"/push\",\"HttpPushUriTargetsBusy\":true"), MANAGER,
               NO_TASKS, STAYS_OLD}},
    {.name = "an error with status 200",
     .outcome = LKS_BMC_REFUSED,
     .says = "status 200: The image is not signed",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 200, "",
                "{\"error\":{\"@Message.ExtendedInfo\":[{\"Message\":\"The image is not "
                "signed\"}]}}"},
               STAYS_OLD}},
    {.name = "busy for ever",
     .outcome = LKS_BMC_REFUSED,
     .says = "the service stays busy: status 503",
     .asked = "POST /push\nPOST /push\nPOST /push\nPOST /push\nPOST /push\nPOST /push",
     .pages =
         {BEFORE(ROOT, PUSH), MANAGER, NO_TASKS, {"POST", "/push", 0, 503, "", ""}, STAYS_OLD}},
    {.name = "204 for a task that failed",
     .outcome = LKS_BMC_FAILED,
     .says = "Nothing of it fits",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               TASK_LISTED,
               ACCEPTED,
               {"GET", "/mon/9", 1, 202, "", ""},
               {"GET", "/mon/9", 1, 204, "", ""},
               {"GET", "/t/l/9", 0, 200, "",
                TASK("Exception", "Warning",
                     ",\"Messages\":[{\"MessageId\":\"Update.1.2.ApplyFailed\",\"Message\":"
                     "\"Nothing of it fits\"}]")},
               STAYS_OLD}},
    {.name = "404 when it is done",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH), MANAGER, NO_TASKS, ACCEPTED, THEN_NEW}},
    {.name = "404, and nothing is to be seen of it",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "its task vanished",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH), MANAGER, NO_TASKS, ACCEPTED, STAYS_OLD}},
    {.name = "what is no task in between is not its end",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 202, "", TASK("Running", "OK", "")},
               {"GET", "/t/l/9", 1, 200, "", TASK("Running", "OK", "")},
               {"GET", "/t/l/9", 2, 200, "", "{}"},
               {"GET", "/t/l/9", 0, 200, "", TASK("Completed", "OK", "")},
               THEN_NEW}},
    {.name = "a page in place of the answer to what was sent",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               TASK_LISTED,
               {"POST", "/push", 0, 200, "", " <html>please log in</html>"},
               {"GET", "/t/l/9", 0, 200, "", TASK("Completed", "OK", "")},
               THEN_NEW}},
    {.name = "a page for people where a service should be",
     .outcome = LKS_BMC_REFUSED,
     .says = "no Redfish service",
     .asked = "",
     .pages = {{"GET", "/redfish/v1/", 0, 200, "", "<html>please log in</html>"}}},
    {.name = "a task that shows nothing any more is not reset upon",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "its task vanished",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               TASK_LISTED,
               {"POST", "/push", 0, 202, "", TASK("Running", "OK", "")},
               {"GET", "/t/l/9", 1, 200, "", TASK("Running", "OK", "")},
               {"GET", "/t/l/9", 0, 200, "", "{}"},
               STAYS_OLD}},
    {.name = "nothing that can be read, from the beginning",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "its task vanished",
     .asked = "POST /push",
     .pages = MONITOR("please log in")},
    {.name = "a state that is no word",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "its task vanished",
     .asked = "POST /push",
     .pages = MONITOR("{\"TaskState\":5}")},
    {.name = "Completed with Critical, and it runs",
     .outcome = LKS_BMC_DONE,
     .says = "its task had said: the task ended as Completed with status Critical",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 202, "", TASK("Running", "OK", "")},
               {"GET", "/t/l/9", 0, 200, "", TASK("Completed", "Critical", "")},
               THEN_NEW}},
    {.name = "Completed with Critical, and it does not",
     .outcome = LKS_BMC_FAILED,
     .says = "Completed with status Critical; 0 of 1 entries say 2.0, the others 1.0",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 202, "", TASK("Running", "OK", "")},
               {"GET", "/t/l/9", 0, 200, "", TASK("Completed", "Critical", "")},
               STAYS_OLD}},
    {.name = "Exception with OK, and it runs",
     .outcome = LKS_BMC_DONE,
     .says = "its task had said: the task ended as Exception",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 202, "", TASK("New", "OK", "")},
               {"GET", "/t/l/9", 0, 200, "", TASK("Exception", "OK", "")},
               THEN_NEW}},
    {.name = "a task that is named in a message",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 202, "", "{\"Messages\":[{\"MessageArgs\":[\"/t/l/9\"]}]}"},
               {"GET", "/t/l/9", 0, 200, "", TASK("Completed", "OK", "")},
               THEN_NEW}},
    {.name = "the task says what is to be reset, and how",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /push\nPOST /m/1/reset {\"ResetType\":\"ForceRestart\"}",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 202, "", TASK("New", "OK", "")},
               {"GET", "/t/l/9", 0, 200, "", RESET_TASK("/m/1", "ForceRestart")},
               {"POST", "/m/1/reset", 0, 204, "", ""},
               {"GET", "/f/1", 2, 200, "", ENTRY("1.0")},
               {"GET", "/f/1", 0, 200, "", ENTRY("2.0")}}},
    {.name = "the upload is lost on the way, provably: once more",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /push\nPOST /push",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 1, 0, "", ""},
               {"POST", "/push", 0, 204, "", ""},
               {"GET", "/f/1", 5, 200, "", ENTRY("1.0")},
               {"GET", "/f/1", 0, 200, "", ENTRY("2.0")}}},
    {.name = "the upload is lost, and the service restarted meanwhile",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "may have restarted since, and forgotten it; look at the device, it has 1.0",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               {"GET", "/m/1", 1, 200, "", "{\"LastResetTime\":\"2026-11-15T00:00:00Z\"}"},
               {"GET", "/m/1", 0, 200, "", "{\"LastResetTime\":\"2026-11-15T06:00:00Z\"}"},
               NO_TASKS,
               {"POST", "/push", 1, 0, "", ""},
               STAYS_OLD}},
    {.name = "the upload is lost, and the service lists no tasks",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "does not list its tasks",
     .asked = "POST /push",
     .pages = {BEFORE(PLAIN_ROOT, PUSH), {"POST", "/push", 1, 0, "", ""}, STAYS_OLD}},
    {.name = "what is staged is activated by its own action",
     .act = LKS_BMC_ACTIVATE,
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /f/2/activate {}",
     .pages = {{"GET", "/f", 0, 200, "",
                "{\"Members\":[{\"@odata.id\":\"/f/1\"},{\"@odata.id\":\"/f/2\"}]}"},
               BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"GET", "/f/2", 0, 200, "",
                "{\"Id\":\"HostBMC_0\",\"Staged\":true,\"Version\":\"2.0\",\"Actions\":{"
                "\"#SoftwareInventory.Activate\":{\"target\":\"/f/2/activate\"}}}"},
               {"POST", "/f/2/activate", 0, 204, "", ""},
               THEN_NEW}},
    {.name = "something else is staged",
     .act = LKS_BMC_ACTIVATE,
     .outcome = LKS_BMC_REFUSED,
     .says = "what is staged is 3.0 and not 2.0",
     .asked = "",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"GET", "/f/1", 0, 200, "",
                "{\"Id\":\"HostBMC_0\",\"Version\":\"1.0\",\"Staged\":{\"Version\":\"3.0\"}}"}}},
    {.name = "what is staged is given up",
     .act = LKS_BMC_ABORT,
     .outcome = LKS_BMC_DONE,
     .says = "nothing of bmc is staged any more; it runs 1.0",
     .asked = "POST /f/1/cancel {}",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"GET", "/f/1", 1, 200, "",
                "{\"Id\":\"HostBMC_0\",\"Version\":\"1.0\",\"Staged\":{\"Version\":\"2.0\"},"
                "\"Actions\":{\"#SoftwareInventory.Cancel\":{\"target\":\"/f/1/cancel\"}}}"},
               STAYS_OLD,
               {"POST", "/f/1/cancel", 0, 204, "", ""}}},
    {.name = "completed, nothing changed, and no reset is offered",
     .outcome = LKS_BMC_FAILED,
     .says = "the task is over and nothing changed: it runs 1.0",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               {"GET", "/m/1", 0, 200, "", "{}"},
               NO_TASKS,
               {"POST", "/push", 0, 202, "", TASK("New", "OK", "")},
               {"GET", "/t/l/9", 0, 200, "", TASK("Completed", "OK", "")},
               STAYS_OLD}},
    {.name = "completed, a reset is missing, and none is offered",
     .outcome = LKS_BMC_STAGED,
     .says = "2.0 waits for a reset of kind 'bmc', which this service does not offer; the "
             "inventory shows no staged bank",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               {"GET", "/m/1", 0, 200, "", "{}"},
               NO_TASKS,
               {"POST", "/push", 0, 202, "", TASK("New", "OK", "")},
               {"GET", "/t/l/9", 0, 200, "",
                TASK("Completed", "OK", ",\"Messages\":[{\"MessageId\":\"B.1.ResetRequired\"}]")},
               STAYS_OLD}},
    {.name = "what it says is told as one line that prints",
     .outcome = LKS_BMC_FAILED,
     .says = "a?b?c???d?e",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 202, "", TASK("New", "OK", "")},
               {"GET", "/t/l/9", 0, 200, "",
                TASK("Exception", "OK",
                     ",\"Messages\":[{\"MessageId\":\"U.1.ApplyFailed\",\"Message\":"
                     "\"a\\u007fb\\u009bc\\u202ed\\u001be\"}]")},
               STAYS_OLD}},
    {.name = "the inventory cannot be listed any more",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "the inventory cannot be listed any more: status 404",
     .asked = "POST /push",
     .pages = {{"GET", "/f", 1, 200, "", "{\"Members\":[{\"@odata.id\":\"/f/1\"}]}"},
               {"GET", "/f", 0, 404, "", ""},
               BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 204, "", ""},
               STAYS_OLD}},
    {.name = "the inventory cannot be listed from the beginning",
     .outcome = LKS_BMC_REFUSED,
     .says = "the inventory cannot be listed: status 404",
     .asked = "",
     .pages = {{"GET", "/f", 0, 404, "", ""}, BEFORE(ROOT, PUSH), MANAGER, NO_TASKS}},
    {.name = "the inventory is not for us any more",
     .outcome = LKS_BMC_OPEN,
     .says = "does not let us in (the inventory cannot be listed: status 403); correct the "
             "credentials and start again",
     .asked = "POST /push",
     .pages = {{"GET", "/f", 1, 200, "", "{\"Members\":[{\"@odata.id\":\"/f/1\"}]}"},
               {"GET", "/f", 0, 403, "", ""},
               BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 204, "", ""},
               STAYS_OLD}},
    {.name = "the password is another one since",
     .outcome = LKS_BMC_OPEN,
     .says = "the endpoint does not let us in (no session for user admin: status 401)",
     .asked = "POST /push",
     .pages = {{"POST", "/s", 1, 201, "x-auth-token: t\nlocation: /s/1\n", "{}"},
               {"POST", "/s", 0, 401, "", ""},
               BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 202, "", TASK("New", "OK", "")},
               {"GET", "/t/l/9", 0, 401, "", ""},
               STAYS_OLD}},
    {.name = "no room for a session for a while, before anything was sent",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "POST /push",
     .pages = {{"POST", "/s", 60, 503, "", FULL},
               BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 204, "", ""},
               THEN_NEW}},
    {.name = "no room for a session, ever",
     .outcome = LKS_BMC_REFUSED,
     .says = "the deadline came before anything was sent; status 503: all sessions are taken",
     .asked = "",
     .pages = {{"POST", "/s", 0, 503, "", FULL}, BEFORE(ROOT, PUSH)}},
    {.name = "no answer to a log-in, ever",
     .outcome = LKS_BMC_REFUSED,
     .says = "no good answer in 6 tries",
     .asked = "",
     .pages = {{"POST", "/s", 0, 0, "", ""}, BEFORE(ROOT, PUSH)}},
    {.name = "the task is not for us any more",
     .outcome = LKS_BMC_OPEN,
     .says = "does not show its task /t/l/9",
     .asked = "POST /push",
     .pages = {BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 202, "", TASK("New", "OK", "")},
               {"GET", "/t/l/9", 0, 403, "", ""},
               STAYS_OLD}},
    {.name = "given up, and what was staged cannot be read",
     .act = LKS_BMC_ABORT,
     .outcome = LKS_BMC_UNKNOWN,
     .says = "whether it is still staged cannot be told",
     .asked = "POST /f/2/cancel {}",
     .pages = {{"GET", "/f", 0, 200, "",
                "{\"Members\":[{\"@odata.id\":\"/f/1\"},{\"@odata.id\":\"/f/2\"}]}"},
               BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"GET", "/f/2", 1, 200, "",
                "{\"Id\":\"HostBMC_0\",\"Staged\":true,\"Version\":\"2.0\",\"Actions\":{"
                "\"#SoftwareInventory.Cancel\":{\"target\":\"/f/2/cancel\"}}}"},
               {"POST", "/f/2/cancel", 0, 204, "", ""},
               STAYS_OLD}},
    {.name = "listed twice is one, and another is gone",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "1 of 2 entries of bmc are to be read",
     .asked = "POST /push\nPOST /m/1/reset {\"ResetType\":\"GracefulRestart\"}",
     .pages = {{"GET", "/f", 1, 200, "",
                "{\"Members\":[{\"@odata.id\":\"/f/1\"},{\"@odata.id\":\"/f/2\"}]}"},
               {"GET", "/f", 0, 200, "",
                "{\"Members\":[{\"@odata.id\":\"/f/1\"},{\"@odata.id\":\"/f/1\"}]}"},
               BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"POST", "/push", 0, 204, "", ""},
               {"POST", "/m/1/reset", 0, 204, "", ""},
               {"GET", "/f/2", 0, 200, "",
                "{\"@odata.id\":\"/f/2\",\"Id\":\"HostBMC_0\",\"Version\":\"1.0\"}"},
               THEN_NEW}},
    {.name = "back to the other bank",
     .act = LKS_BMC_SWITCH,
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1 entries of bmc say 2.0",
     .asked = "POST /f/2/activate {}",
     .pages = {{"GET", "/f", 0, 200, "",
                "{\"Members\":[{\"@odata.id\":\"/f/1\"},{\"@odata.id\":\"/f/2\"}]}"},
               BEFORE(ROOT, PUSH),
               MANAGER,
               NO_TASKS,
               {"GET", "/f/2", 0, 200, "",
                "{\"Id\":\"HostBMC_0\",\"Active\":false,\"Version\":\"2.0\",\"Actions\":{"
                "\"#SoftwareInventory.Activate\":{\"target\":\"/f/2/activate\"}}}"},
               {"POST", "/f/2/activate", 0, 204, "", ""},
               THEN_NEW}},
};

static const struct page *find_page(const struct way *way, const struct lks_http_request *r,
                                    unsigned *served)
{
    for (size_t i = 0; i < PAGES_MAX && way->pages[i].method != NULL; i++) {
        const struct page *page = &way->pages[i];
        if (strcmp(page->method, r->method) != 0 ||
            !lks_str_is(lks_buf_view(&r->path), page->path) ||
            (page->times > 0 && served[i] >= page->times))
            continue;
        served[i]++;
        return page;
    }
    return NULL;
}

/* Requests that change something, with what matters of them. */
static void note(const struct lks_http_request *r, struct lks_buf *log)
{
    struct lks_str head = lks_buf_view(&r->head), tag, rest;
    ptrdiff_t match = lks_str_find(head, LKS_STR("If-Match"));
    bool session = lks_str_starts(lks_buf_view(&r->path), "/s");
    if (strcmp(r->method, "GET") == 0 || (session && r->path.ptr[2] != 'i'))
        return;
    lks_buf_addf(log, "%s%s %s", log->len > 0 ? "\n" : "", r->method, r->path.ptr);
    if (match >= 0) {
        lks_str_cut((struct lks_str){head.ptr + match, head.len - (size_t)match}, '\r', &tag,
                    &rest);
        lks_buf_addf(log, " %.*s", (int)tag.len, tag.ptr);
    }
    if (r->body.len > 0 && r->body.len < 40 && r->file.digest[0] == '\0')
        lks_buf_addf(log, " %s", r->body.ptr);
}

static void serve(const struct way *way, void *value, struct lks_buf *log)
{
    LKS_CLEANUP(lks_talk_fini) struct lks_talk talk = {0};
    unsigned served[PAGES_MAX] = {0};
    lks_ms now = BEGIN;
    lks_talk_init(&talk);
    for (unsigned i = 0; i < 2000; i++) {
        lks_conversation_next(lks_bmc_redfish.update, value, now, &talk);
        if (talk.kind == LKS_TALK_WAIT) {
            now = talk.until;
            continue;
        }
        if (talk.kind != LKS_TALK_SEND)
            return;
        note(&talk.request, log);
        const struct page *page = find_page(way, &talk.request, served);
        struct lks_http_response response = {.status = 404, .head = {"", 0}, .body = {"", 0}};
        if (page != NULL)
            response = (struct lks_http_response){.status = page->status,
                                                  .head = lks_str_from(page->head),
                                                  .body = lks_str_from(page->body)};
        now += 10;
        lks_conversation_feed(lks_bmc_redfish.update, value, now,
                              response.status != 0 ? &response : NULL);
    }
    CHECK(false);
}

static void try_way(const struct way *way)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf log = {0};
    struct lks_bmc_secret secret = lks_bmcs_secret();
    struct lks_bmc_status status;
    struct lks_err err = {0};
    const struct lks_bmc_intent intent = {
        .act = way->act,
        .component = lks_str_from(way->component != NULL ? way->component : "bmc"),
        .version = LKS_STR("2.0"),
        .image = {.digest = "sha256:00", .length = 10},
        .image_size = 10,
        .pull = lks_str_from(way->pull != NULL ? way->pull : ""),
        .deadline = BEGIN + 2 * LKS_BMCS_HOUR,
    };
    void *value = calloc(1, lks_bmc_redfish.update->size);
    LKS_ASSERT(value != NULL);
    lks_buf_init(&log, (size_t)1 << 16);
    CHECK_CODE(lks_bmc_redfish.update_begin(value, lks_test_facts(), &secret, &intent, &err),
               LKS_OK);
    serve(way, value, &log);
    lks_bmc_redfish.update_status(value, &status);
    CHECK_STR(lks_str_from(lks_bmc_outcome_words[status.outcome]),
              lks_bmc_outcome_words[way->outcome]);
    CHECK_HAS(status.text, way->says);
    CHECK_STR(log.len > 0 ? lks_buf_view(&log) : LKS_STR(""), way->asked);
    free(value);
}

static void test_ways(void)
{
    for (size_t i = 0; i < LKS_COUNT(ways); i++) {
        lks_test_case("%s", ways[i].name);
        try_way(&ways[i]);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"ways to update", test_ways},
        {0},
    };
    return lks_test_main(tests);
}
