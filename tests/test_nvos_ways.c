/* What a switch tray says while it is updated, as the pages that it serves: what the simulated tray
 * of bmcsim does not do, and what has to be exact. What is followed is as good as what is asked:
 * nothing more is begun, and nothing is restarted, while an installation may still be writing. */
#include "tests/bmcs.h"
#include "tests/facts.h"
#include "tests/test.h"
#include "tests/ways.h"

#include <stdlib.h>

#define LIST   "/nvue_v1/platform/firmware"
#define JOBS   "/nvue_v1/action"
#define SYSTEM "/nvue_v1/system"

#define HAS(id, version) "\"" id "\":{\"actual-firmware\":\"" version "\"}"
#define WAITS(id, version)                                                                         \
    "\"" id "\":{\"actual-firmware\":\"" version "\",\"installed-firmware\":\"2.0\"}"
#define RUNS                "{\"state\":\"running\",\"percentage\":\"40\"}"
#define ENDED               "{\"state\":\"action_success\"}"
#define BROKE               "{\"state\":\"action_error\",\"status\":\"no room\"}"
#define LISTED(name, state) "\"" name "\":" state

/* What is asked for stands in the log as "fetch BIOS", the job that it begins as "1 runs". */
#define FETCH(id, times, body)                                                                     \
    {                                                                                              \
        "POST", LIST "/" id, times, 200, "note fetch " id "\nharmless\n", body                     \
    }
#define INSTALL(id, times, body)                                                                   \
    {                                                                                              \
        "POST", LIST "/" id "/files/i", times, 200, "note install " id "\n", body                  \
    }
#define UNANSWERED(id)                                                                             \
    {                                                                                              \
        "POST", LIST "/" id "/files/i", 0, 0, "note install " id "\n", ""                          \
    }
#define BUSY(id, times)                                                                            \
    {                                                                                              \
        "POST", LIST "/" id "/files/i", times, 503, "note install " id "\n", ""                    \
    }
#define RESTART                                                                                    \
    {                                                                                              \
        "POST", SYSTEM, 0, 200, "note restart\n", "99"                                             \
    }
#define JOB_RUNS(n, times)                                                                         \
    {                                                                                              \
        "GET", JOBS "/" n, times, 200, "note " n " runs\n", RUNS                                   \
    }
#define JOB_ENDED(n)                                                                               \
    {                                                                                              \
        "GET", JOBS "/" n, 0, 200, "note " n " ended\n", ENDED                                     \
    }
#define JOB_BROKE(n)                                                                               \
    {                                                                                              \
        "GET", JOBS "/" n, 0, 200, "note " n " broke\n", BROKE                                     \
    }
#define JOB_ODD(n, times, status, body)                                                            \
    {                                                                                              \
        "GET", JOBS "/" n, times, status, "note " n " is not shown\n", body                        \
    }
#define LIST_JOBS(times, jobs)                                                                     \
    {                                                                                              \
        "GET", JOBS, times, 200, "", "{" jobs "}"                                                  \
    }
#define LIST_JOBS_AFTER(line, jobs)                                                                \
    {                                                                                              \
        "GET", JOBS, 0, 200, "seen " line "\n", "{" jobs "}"                                       \
    }
#define SHOWS(entries)                                                                             \
    {                                                                                              \
        "GET", LIST, 0, 200, "", "{" entries "}"                                                   \
    }
#define SHOWS_AFTER(line, entries)                                                                 \
    {                                                                                              \
        "GET", LIST, 0, 200, "seen " line "\n", "{" entries "}"                                    \
    }

#define BIOS_RUNS_AFTER(line) SHOWS_AFTER(line, HAS("BIOS", "2.0")), SHOWS(HAS("BIOS", "1.0"))
#define TWO(first, second)    HAS("CPLD1", first) "," HAS("CPLD2", second)
#define TWO_OLD               SHOWS(TWO("1.0", "1.0"))
#define TWO_RUN_AFTER(line)   SHOWS_AFTER(line, TWO("2.0", "2.0")), TWO_OLD
#define FOUR(n)                                                                                    \
    HAS("CPLD" n "1", "1.0")                                                                       \
    "," HAS("CPLD" n "2", "1.0") "," HAS("CPLD" n "3", "1.0") "," HAS("CPLD" n "4", "1.0")
#define LONG "0123456789012345678901234567890123"

/* One answer that shows nothing of an installation, among others that do. */
#define ONCE(what, status, body)                                                                   \
    {                                                                                              \
        .name = what " in place of an installation, once: it is asked for again",                  \
        .component = "cpld", .outcome = LKS_BMC_DONE, .says = "2 of 2", .percent = 20 + 40 / 2,    \
        .asked = "fetch CPLD1\n1 ended\ninstall CPLD1\n2 is not shown\n2 runs\n2 is not shown\n"   \
                 "2 ended\nfetch CPLD2\n3 ended\ninstall CPLD2\n4 ended\nrestart",                 \
        .pages = {                                                                                 \
            FETCH("CPLD1", 0, "1"),                                                                \
            JOB_ENDED("1"),                                                                        \
            INSTALL("CPLD1", 0, "2"),                                                              \
            JOB_ODD("2", 1, status, body),                                                         \
            JOB_RUNS("2", 2),                                                                      \
            JOB_ODD("2", 1, status, body),                                                         \
            JOB_ENDED("2"),                                                                        \
            FETCH("CPLD2", 0, "3"),                                                                \
            JOB_ENDED("3"),                                                                        \
            INSTALL("CPLD2", 0, "4"),                                                              \
            JOB_ENDED("4"),                                                                        \
            LIST_JOBS(0, LISTED("1", ENDED)),                                                      \
            RESTART,                                                                               \
            TWO_RUN_AFTER("restart")                                                               \
        }                                                                                          \
    }

static const struct way ways[] = {
    {.name = "an entry of unknown class: nothing is fetched",
     .component = "GIZMO",
     .outcome = LKS_BMC_REFUSED,
     .says = "GIZMO is of unknown class",
     .asked = "",
     .pages = {LIST_JOBS(0, ""), FETCH("GIZMO", 0, "1"), JOB_ENDED("1"),
               SHOWS(HAS("GIZMO", "1.0"))}},
    {.name = "a job of long ago was canceled",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n2 ended\nrestart",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), INSTALL("BIOS", 0, "2"), JOB_ENDED("2"),
               LIST_JOBS(0, LISTED("9", "{\"state\":\"action_canceled\"}") "," LISTED("1", ENDED)),
               RESTART, BIOS_RUNS_AFTER("restart")}},
    {.name = "busy, says the answer to a restart, and it restarts",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n2 ended\nrestart",
     .pages = {FETCH("BIOS", 0, "1"),
               JOB_ENDED("1"),
               INSTALL("BIOS", 0, "2"),
               JOB_ENDED("2"),
               LIST_JOBS(0, LISTED("1", ENDED)),
               {"POST", SYSTEM, 1, 503, "note restart\n", ""},
               RESTART,
               BIOS_RUNS_AFTER("restart")}},
    {.name = "an installation that runs goes before another's that has ended",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n2 runs\n2 ended\n3 ended\nrestart",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), UNANSWERED("BIOS"), JOB_RUNS("2", 30),
               JOB_ENDED("2"), JOB_ENDED("3"), LIST_JOBS(1, LISTED("1", ENDED)),
               LIST_JOBS(1, LISTED("1", ENDED) "," LISTED("2", RUNS) "," LISTED("3", ENDED)),
               LIST_JOBS(0, LISTED("1", ENDED) "," LISTED("2", ENDED) "," LISTED("3", ENDED)),
               RESTART, BIOS_RUNS_AFTER("restart")}},
    {.name = "another's ended, and ours is listed only later",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n3 ended\n2 runs\n2 ended\nrestart",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), UNANSWERED("BIOS"), JOB_RUNS("2", 30),
               JOB_ENDED("2"), JOB_ENDED("3"), LIST_JOBS(1, LISTED("1", ENDED)),
               LIST_JOBS(1, LISTED("1", ENDED) "," LISTED("3", ENDED)),
               LIST_JOBS_AFTER("2 ended", LISTED("1", ENDED) "," LISTED("2", ENDED)),
               LIST_JOBS(0, LISTED("1", ENDED) "," LISTED("2", RUNS) "," LISTED("3", ENDED)),
               RESTART, BIOS_RUNS_AFTER("restart")}},
    {.name = "it waits for a restart by its version, and still runs as a job",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n2 runs\n2 ended\nrestart",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), UNANSWERED("BIOS"), JOB_RUNS("2", 30),
               JOB_ENDED("2"), LIST_JOBS(1, LISTED("1", ENDED)),
               LIST_JOBS_AFTER("2 ended", LISTED("1", ENDED) "," LISTED("2", ENDED)),
               LIST_JOBS(0, LISTED("1", ENDED) "," LISTED("2", RUNS)), RESTART,
               SHOWS_AFTER("restart", HAS("BIOS", "2.0")),
               SHOWS_AFTER("install BIOS", WAITS("BIOS", "1.0")), SHOWS(HAS("BIOS", "1.0"))}},
    {.name = "it waits for a restart by its version, and no job of it runs",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\nrestart",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), UNANSWERED("BIOS"),
               LIST_JOBS(0, LISTED("1", ENDED)), RESTART,
               SHOWS_AFTER("restart", HAS("BIOS", "2.0")),
               SHOWS_AFTER("install BIOS", WAITS("BIOS", "1.0")), SHOWS(HAS("BIOS", "1.0"))}},
    {.name = "the job that fetched is listed late: it is not the one that installs",
     .component = "bios",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "no good answer to the installation",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), UNANSWERED("BIOS"), LIST_JOBS(1, ""),
               LIST_JOBS(0, LISTED("1", ENDED)), RESTART, BIOS_RUNS_AFTER("restart")}},
    {.name = "a job was found and ended, and whether others run cannot be seen",
     .component = "bios",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "vanished",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n3 ended",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), UNANSWERED("BIOS"), JOB_ENDED("3"),
               LIST_JOBS(1, LISTED("1", ENDED)),
               LIST_JOBS(1, LISTED("1", ENDED) "," LISTED("3", ENDED)), RESTART,
               BIOS_RUNS_AFTER("restart")}},

    ONCE("404", 404, "{\"title\":\"Not Found\"}"),
    ONCE("403", 403, ""),
    ONCE("a redirection", 302, ""),
    ONCE("a list", 200, "[]"),
    ONCE("an error", 200, "{\"error\":{\"message\":\"busy\"}}"),
    {.name = "what was shown and is blank for a minute goes on meanwhile",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n2 runs\n2 is not shown\n2 ended\nrestart",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), INSTALL("BIOS", 0, "2"), JOB_RUNS("2", 1),
               JOB_ODD("2", 6, 200, "[]"), JOB_ENDED("2"), LIST_JOBS(0, LISTED("1", ENDED)),
               RESTART, BIOS_RUNS_AFTER("restart")}},
    {.name = "an installation that is lost: no other component, no restart",
     .component = "cpld",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "its job vanished",
     .asked = "fetch CPLD1\n1 ended\ninstall CPLD1\n2 is not shown",
     .pages = {FETCH("CPLD1", 0, "1"), JOB_ENDED("1"), INSTALL("CPLD1", 0, "2"),
               JOB_ODD("2", 0, 404, ""), LIST_JOBS(0, LISTED("1", ENDED)), FETCH("CPLD2", 0, "3"),
               JOB_ENDED("3"), INSTALL("CPLD2", 0, "4"), JOB_ENDED("4"), RESTART,
               TWO_RUN_AFTER("restart")}},
    {.name = "an installation that is lost, and its component runs it: the next one follows",
     .component = "cpld",
     .outcome = LKS_BMC_DONE,
     .says = "2 of 2",
     .asked = "fetch CPLD1\n1 ended\ninstall CPLD1\n2 is not shown\nfetch CPLD2\n3 ended\n"
              "install CPLD2\n4 ended\nrestart",
     .pages = {FETCH("CPLD1", 0, "1"), JOB_ENDED("1"), INSTALL("CPLD1", 0, "2"),
               JOB_ODD("2", 0, 404, ""), LIST_JOBS(0, LISTED("1", ENDED)), FETCH("CPLD2", 0, "3"),
               JOB_ENDED("3"), INSTALL("CPLD2", 0, "4"), JOB_ENDED("4"), RESTART,
               SHOWS_AFTER("restart", TWO("2.0", "2.0")),
               SHOWS_AFTER("2 is not shown", TWO("2.0", "1.0")), TWO_OLD}},
    {.name = "an installation that is lost, and its version waits for a restart: not by us",
     .component = "bios",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "its job vanished",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n2 is not shown",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), INSTALL("BIOS", 0, "2"),
               JOB_ODD("2", 0, 404, ""), LIST_JOBS(0, LISTED("1", ENDED)), RESTART,
               SHOWS_AFTER("restart", HAS("BIOS", "2.0")),
               SHOWS_AFTER("install BIOS", WAITS("BIOS", "1.0")), SHOWS(HAS("BIOS", "1.0"))}},
    {.name = "an installation that is lost, and was only to be staged: the version tells",
     .act = LKS_BMC_STAGE,
     .component = "bios",
     .outcome = LKS_BMC_STAGED,
     .says = "waits for a restart",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n2 is not shown",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), INSTALL("BIOS", 0, "2"),
               JOB_ODD("2", 0, 404, ""), LIST_JOBS(0, LISTED("1", ENDED)),
               SHOWS_AFTER("install BIOS", WAITS("BIOS", "1.0")), SHOWS(HAS("BIOS", "1.0"))}},
    {.name = "an installation that is lost, and runs",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n2 is not shown",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), INSTALL("BIOS", 0, "2"),
               JOB_ODD("2", 0, 404, ""), LIST_JOBS(0, LISTED("1", ENDED)),
               BIOS_RUNS_AFTER("2 is not shown")}},

    {.name = "whether it was fetched is never seen: nothing is installed",
     .component = "bios",
     .outcome = LKS_BMC_REFUSED,
     .says = "whether it fetched the image: status 404",
     .asked = "fetch BIOS\n1 is not shown\nfetch BIOS\n1 is not shown\nfetch BIOS\n1 is not shown",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ODD("1", 0, 404, ""), LIST_JOBS(0, ""),
               INSTALL("BIOS", 0, "2"), JOB_ENDED("2"), RESTART, BIOS_RUNS_AFTER("restart")}},
    {.name = "the same of the second component: the first was installed",
     .component = "cpld",
     .outcome = LKS_BMC_FAILED,
     .says = "whether it fetched the image: status 404",
     .asked = "fetch CPLD1\n1 ended\ninstall CPLD1\n2 ended\nfetch CPLD2\n3 is not shown\n"
              "fetch CPLD2\n3 is not shown\nfetch CPLD2\n3 is not shown",
     .pages = {FETCH("CPLD1", 0, "1"), JOB_ENDED("1"), INSTALL("CPLD1", 0, "2"), JOB_ENDED("2"),
               FETCH("CPLD2", 0, "3"), JOB_ODD("3", 0, 404, ""), LIST_JOBS(0, LISTED("1", ENDED)),
               INSTALL("CPLD2", 0, "4"), JOB_ENDED("4"), RESTART, TWO_RUN_AFTER("restart")}},
    {.name = "the second component is not fetched: the first was installed",
     .component = "cpld",
     .outcome = LKS_BMC_FAILED,
     .says = "could not fetch the image: action_error: no room",
     .asked = "fetch CPLD1\n1 ended\ninstall CPLD1\n2 ended\nfetch CPLD2\n3 broke",
     .pages = {FETCH("CPLD1", 0, "1"), JOB_ENDED("1"), INSTALL("CPLD1", 0, "2"), JOB_ENDED("2"),
               FETCH("CPLD2", 0, "3"), JOB_BROKE("3"), LIST_JOBS(0, LISTED("1", ENDED)), TWO_OLD}},
    {.name = "each component may be fetched three times",
     .component = "cpld",
     .outcome = LKS_BMC_DONE,
     .says = "2 of 2",
     .asked = "fetch CPLD1\n1 is not shown\nfetch CPLD1\n2 is not shown\nfetch CPLD1\n3 ended\n"
              "install CPLD1\n4 ended\nfetch CPLD2\n5 is not shown\nfetch CPLD2\n6 is not shown\n"
              "fetch CPLD2\n7 ended\ninstall CPLD2\n8 ended\nrestart",
     .pages = {FETCH("CPLD1", 1, "1"), FETCH("CPLD1", 1, "2"), FETCH("CPLD1", 0, "3"),
               JOB_ODD("1", 0, 404, ""), JOB_ODD("2", 0, 404, ""), JOB_ENDED("3"),
               INSTALL("CPLD1", 0, "4"), JOB_ENDED("4"), FETCH("CPLD2", 1, "5"),
               FETCH("CPLD2", 1, "6"), FETCH("CPLD2", 0, "7"), JOB_ODD("5", 0, 404, ""),
               JOB_ODD("6", 0, 404, ""), JOB_ENDED("7"), INSTALL("CPLD2", 0, "8"), JOB_ENDED("8"),
               LIST_JOBS(0, LISTED("3", ENDED)), RESTART, TWO_RUN_AFTER("restart")}},

    {.name = "one of two would go back to an older version, and not the first",
     .component = "cpld",
     .outcome = LKS_BMC_REFUSED,
     .says = "2.0 is older than 3.0",
     .asked = "",
     .pages = {SHOWS(TWO("1.0", "3.0")), FETCH("CPLD1", 0, "1")}},

    {.name = "another's job runs, and what it installs waits: no restart",
     .component = "bios",
     .outcome = LKS_BMC_REFUSED,
     .says = "before anything was installed",
     .asked = "",
     .pages = {LIST_JOBS(0, LISTED("7", RUNS)), RESTART, SHOWS(WAITS("BIOS", "1.0"))}},
    {.name = "another's job runs, and ends: what it installed is restarted into",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "restart",
     .pages = {LIST_JOBS(30, LISTED("7", RUNS)), LIST_JOBS(0, LISTED("7", ENDED)), RESTART,
               SHOWS_AFTER("restart", HAS("BIOS", "2.0")), SHOWS(WAITS("BIOS", "1.0"))}},
    {.name = "another's job runs: nothing is installed beside it",
     .component = "bios",
     .outcome = LKS_BMC_REFUSED,
     .says = "before anything was installed",
     .asked = "fetch BIOS\n1 ended",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), INSTALL("BIOS", 0, "2"), JOB_ENDED("2"),
               LIST_JOBS(0, LISTED("1", ENDED) "," LISTED("7", RUNS)), RESTART,
               BIOS_RUNS_AFTER("restart")}},
    {.name = "another's job runs, and installs a newer version: nothing older over it",
     .component = "bios",
     .outcome = LKS_BMC_REFUSED,
     .says = "2.0 is older than 3.0",
     .asked = "fetch BIOS\n1 ended\n7 ended",
     .pages = {FETCH("BIOS", 0, "1"),
               JOB_ENDED("1"),
               INSTALL("BIOS", 0, "2"),
               LIST_JOBS(3, LISTED("1", ENDED) "," LISTED("7", RUNS)),
               {"GET", JOBS, 0, 200, "note 7 ended\n", "{" LISTED("1", ENDED) "}"},
               RESTART,
               SHOWS_AFTER("7 ended", HAS("BIOS", "3.0")),
               SHOWS(HAS("BIOS", "1.0"))}},
    {.name = "another's job begins beside ours: no restart",
     .component = "bios",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "waiting for a job of the tray to end",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n2 ended",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), INSTALL("BIOS", 0, "2"), JOB_ENDED("2"),
               LIST_JOBS(1, LISTED("1", ENDED)),
               LIST_JOBS(0, LISTED("1", ENDED) "," LISTED("7", RUNS)), RESTART,
               BIOS_RUNS_AFTER("restart")}},
    {.name = "a restart that the tray had no time for: the jobs are looked at before the next",
     .component = "bios",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "waiting for a job of the tray to end",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n2 ended\nrestart",
     .pages = {FETCH("BIOS", 0, "1"),
               JOB_ENDED("1"),
               INSTALL("BIOS", 0, "2"),
               JOB_ENDED("2"),
               LIST_JOBS_AFTER("restart", LISTED("1", ENDED) "," LISTED("7", RUNS)),
               LIST_JOBS(0, LISTED("1", ENDED)),
               {"POST", SYSTEM, 0, 503, "note restart\n", ""},
               SHOWS(HAS("BIOS", "1.0"))}},
    {.name = "a list of jobs that cannot be read is waited for, and not for ever",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n2 ended\nrestart",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), INSTALL("BIOS", 0, "2"), JOB_ENDED("2"),
               RESTART, BIOS_RUNS_AFTER("restart")}},
    {.name = "a job without a state is waited for, and not for ever",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n2 ended\nrestart",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), INSTALL("BIOS", 0, "2"), JOB_ENDED("2"),
               LIST_JOBS(0, LISTED("1", ENDED) "," LISTED("7", "{}")), RESTART,
               BIOS_RUNS_AFTER("restart")}},
    {.name = "not answered, and it runs under the name of a job of before",
     .component = "bios",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "not finished by its deadline",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n5 runs",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), UNANSWERED("BIOS"), JOB_RUNS("5", 0),
               LIST_JOBS(1, LISTED("1", ENDED) "," LISTED("5", ENDED)),
               LIST_JOBS(0, LISTED("1", ENDED) "," LISTED("5", RUNS)), RESTART,
               SHOWS(HAS("BIOS", "1.0"))}},

    {.name = "an installation that was taken, and its job is not named: not begun again",
     .component = "bios",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "was taken, and no job of it",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), INSTALL("BIOS", 0, "{}"),
               LIST_JOBS(0, LISTED("1", ENDED)), RESTART, SHOWS(HAS("BIOS", "1.0"))}},
    {.name = "the tray is busy, and began the installation nevertheless",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n2 runs\n2 ended\nrestart",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), BUSY("BIOS", 1), INSTALL("BIOS", 0, "3"),
               LIST_JOBS(1, LISTED("1", ENDED)), JOB_RUNS("2", 30), JOB_ENDED("2"),
               LIST_JOBS_AFTER("2 ended", LISTED("1", ENDED) "," LISTED("2", ENDED)),
               LIST_JOBS(0, LISTED("1", ENDED) "," LISTED("2", RUNS)), RESTART,
               BIOS_RUNS_AFTER("restart")}},
    {.name = "the tray is busy, and its jobs show that no work was started",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\ninstall BIOS\n2 ended\nrestart",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), BUSY("BIOS", 1), INSTALL("BIOS", 0, "2"),
               JOB_ENDED("2"), LIST_JOBS(0, LISTED("1", ENDED)), RESTART,
               BIOS_RUNS_AFTER("restart")}},

    {.name = "the list has another order after the first of two",
     .component = "cpld",
     .outcome = LKS_BMC_DONE,
     .says = "2 of 2",
     .asked = "fetch CPLD1\n1 ended\ninstall CPLD1\n2 ended\nfetch CPLD2\n3 ended\n"
              "install CPLD2\n4 ended\nrestart",
     .pages = {FETCH("CPLD1", 0, "1"), JOB_ENDED("1"), INSTALL("CPLD1", 0, "2"), JOB_ENDED("2"),
               FETCH("CPLD2", 0, "3"), JOB_ENDED("3"), INSTALL("CPLD2", 0, "4"), JOB_ENDED("4"),
               LIST_JOBS(0, LISTED("1", ENDED)), RESTART, SHOWS_AFTER("restart", TWO("2.0", "2.0")),
               SHOWS_AFTER("2 ended", HAS("CPLD2", "1.0") "," HAS("CPLD1", "1.0")), TWO_OLD}},
    {.name = "not answered, and its component is not listed any more",
     .component = "cpld",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "does not list CPLD1",
     .asked = "fetch CPLD1\n1 ended\ninstall CPLD1",
     .pages = {FETCH("CPLD1", 0, "1"), JOB_ENDED("1"), UNANSWERED("CPLD1"),
               LIST_JOBS(0, LISTED("1", ENDED)), RESTART,
               SHOWS_AFTER("install CPLD1", HAS("CPLD2", "1.0")), TWO_OLD}},

    {.name = "after the restart nothing of it is listed: unknown",
     .component = "bios",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "after the restart it still runs nothing",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n2 ended\nrestart",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), INSTALL("BIOS", 0, "2"), JOB_ENDED("2"),
               LIST_JOBS(0, LISTED("1", ENDED)), RESTART, SHOWS_AFTER("restart", ""),
               SHOWS(HAS("BIOS", "1.0"))}},
    {.name = "its job failed, and nothing of it is listed: unknown",
     .component = "bios",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "action_error: no room",
     .asked = "fetch BIOS\n1 ended\ninstall BIOS\n2 broke",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), INSTALL("BIOS", 0, "2"), JOB_BROKE("2"),
               LIST_JOBS(0, LISTED("1", ENDED)), SHOWS_AFTER("2 broke", ""),
               SHOWS(HAS("BIOS", "1.0"))}},
    {.name = "more components than can be followed: none is updated",
     .component = "cpld",
     .outcome = LKS_BMC_REFUSED,
     .says = "name one of them by its id",
     .asked = "",
     .pages = {SHOWS(FOUR("1") "," FOUR("2") "," FOUR("3") "," FOUR("4") "," HAS("CPLD9", "1.0")),
               FETCH("CPLD11", 0, "1")}},
    {.name = "a component whose id is too long: none is updated",
     .component = "erot",
     .outcome = LKS_BMC_REFUSED,
     .says = "name one of them by its id",
     .asked = "",
     .pages = {SHOWS(HAS("EROT-1", "1.0") "," HAS("EROT-" LONG LONG, "1.0")),
               FETCH("EROT-1", 0, "1")}},
};

static void test_ways(void)
{
    const struct ways all = {.driver = &lks_bmc_nvos,
                             .pull = "https://depot.example/i",
                             .one_way = true,
                             .rows = ways,
                             .count = LKS_COUNT(ways)};
    lks_test_ways_ended(&all);
}

/* What another process saved, on a machine with another clock, or by an older version: when the
 * tray is asked for anything first, and how it ends where it answers to none of that. */
#define BEGIN UINT64_C(1763200000000)
#define SAVED(sent, reboots, rebooted, more)                                                       \
    "{\"sent\":" sent ",\"installs\":1,\"reboots\":" reboots                                       \
    ",\"again\":0,\"at\":0,\"expected\":1,"                                                        \
    "\"rebooted\":" rebooted ",\"outcome\":0,\"job\":\"\",\"jobs_known\":true,"                    \
    "\"jobs\":[\"af63ac4c86019afc\"]" more "}" /* which is "1" */

static const struct {
    const char *name, *saved;
    lks_ms quiet; /* from the beginning */
    const char *says;
} takeovers[] = {
    {"a restart in an hour: it was asked for just now",
     SAVED("3", "1", "1763203600000", ",\"turn\":\"\",\"taken\":true"), LKS_BMCS_HOUR / 6,
     "no answer to a restart"},
    {"an installation, and not whether it was taken: it is not begun again",
     SAVED("2", "0", "0", ",\"turn\":\"BIOS\""), 2 * LKS_BMCS_HOUR, "was taken, and no job of it"},
    {"an installation, and not of what: it is not begun again",
     SAVED("2", "0", "0", ",\"taken\":false"), 2 * LKS_BMCS_HOUR, "does not list the component"},
};

static void take_over(void *value, const char *saved)
{
    const struct lks_bmc_intent intent = {.component = LKS_STR("bios"),
                                          .version = LKS_STR("2.0"),
                                          .pull = LKS_STR("https://depot.example/i"),
                                          .deadline = BEGIN + 2 * LKS_BMCS_HOUR};
    struct lks_bmc_secret secret = lks_bmcs_secret();
    struct lks_err err = {0};
    CHECK_CODE(lks_bmc_nvos.update_begin(value, lks_test_facts(), &secret, &intent, &err), LKS_OK);
    CHECK_CODE(lks_bmc_nvos.update->load(value, lks_str_from(saved), &err), LKS_OK);
    lks_conversation_feed(lks_bmc_nvos.update, value, BEGIN, NULL);
}

/* When it was first asked for something, or ended without. */
static lks_ms serve_old(void *value)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    lks_ms now = BEGIN, first = 0;
    lks_conversation_talk_init(&talk);
    for (;;) {
        lks_conversation_next(lks_bmc_nvos.update, value, now, &talk);
        if (talk.kind != LKS_TALK_SEND && talk.kind != LKS_TALK_WAIT)
            return first > 0 ? first : BEGIN + 2 * LKS_BMCS_HOUR;
        if (talk.kind == LKS_TALK_WAIT) {
            now = talk.until;
            continue;
        }
        bool reads = strcmp(talk.request.method, "GET") == 0;
        bool jobs = lks_str_is(lks_buf_view(&talk.request.path), JOBS);
        const struct lks_http_response answer = {
            .status = 200,
            .head = LKS_STR(""),
            .body = lks_str_from(jobs ? "{" LISTED("1", ENDED) "}" : "{" HAS("BIOS", "1.0") "}")};
        first = first == 0 && !reads ? now : first;
        lks_conversation_feed(lks_bmc_nvos.update, value, now, reads ? &answer : NULL);
    }
}

static void test_takeovers(void)
{
    for (size_t i = 0; i < LKS_COUNT(takeovers); i++) {
        struct lks_bmc_status status;
        void *value = calloc(1, lks_bmc_nvos.update->size);
        LKS_ASSERT(value != NULL);
        lks_test_case("%s", takeovers[i].name);
        take_over(value, takeovers[i].saved);
        CHECK(serve_old(value) >= BEGIN + takeovers[i].quiet);
        lks_bmc_nvos.update_status(value, &status);
        CHECK_STR(lks_str_from(lks_bmc_outcome_words[status.outcome]),
                  lks_bmc_outcome_words[LKS_BMC_UNKNOWN]);
        CHECK_HAS(status.text, takeovers[i].says);
        free(value);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"what a switch tray says", test_ways},
        {"what another process saved", test_takeovers},
        {0},
    };
    return lks_test_main(tests);
}
