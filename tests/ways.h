/*
 * A service as the pages it serves, for tests of what no personality of bmcsim does and of what has
 * to be exact. Of several pages with the same name the first is served that is not used up.
 */
#ifndef LKS_TESTS_WAYS_H
#define LKS_TESTS_WAYS_H

#include "port/bmc.h"

enum { PAGES_MAX = 24 };

struct page {
    const char *method, *path;
    unsigned times; /* 0: from then on */
    int status;     /* 0: no answer */
    /* Headers; and lines for the test: "after PATH", only once all limited pages of it are used up,
     * "seen LINE", only once the line is in the log, "note LINE", what stands in the log for it,
     * and "harmless", to be asked for again by a process that takes over. */
    const char *head;
    const char *body;
};

struct way {
    const char *name;
    enum lks_bmc_act act;
    enum lks_bmc_outcome outcome;
    const char *says; /* a piece of the reason */
    /* The log, a line each, all of it: requests that change something, and pages with a note, which
     * stand there once however often they are read in a row. */
    const char *asked;
    struct page pages[PAGES_MAX];
    const char *pull;      /* NULL: as all of them */
    const char *component; /* NULL: "bmc" */
    const char *sends;     /* a piece of the body of each request that has the image; NULL: any */
    unsigned percent;      /* shown at some moment; 0: any */
    bool write_protected;  /* what entries report of it is overridden */
    lks_ms behind;         /* the clock of a process that takes over, by so much */
};

/* Services that one driver talks to. */
struct ways {
    const struct lks_bmc_driver *driver;
    const char *pull; /* NULL: none */
    bool one_way;     /* acknowledged */
    const struct way *rows;
    size_t count;
};

#define LINK(name, at) "\"" name "\":{\"@odata.id\":\"" at "\"}"
#define ROOT_LINKS                                                                                 \
    LINK("UpdateService", "/u")                                                                    \
    "," LINK("Tasks", "/t") "," LINK("Managers", "/m") ",\"Links\":{" LINK("Sessions", "/s") "}"
#define ROOT           "{" ROOT_LINKS "}"
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

#define RESET         "POST /m/1/reset {\"ResetType\":\"GracefulRestart\"}"
#define RUNNING(more) TASK("Running", "OK", more)
#define TASKS(list)                                                                                \
    {                                                                                              \
        "GET", "/t/l", 0, 200, "", "{\"Members\":[" list "]}"                                      \
    }
#define NO_TASK_YET                                                                                \
    {                                                                                              \
        "GET", "/t/l", 1, 200, "", "{\"Members\":[]}"                                              \
    }
#define AT(uri) "{\"@odata.id\":\"" uri "\"}"
#define RESETS                                                                                     \
    {                                                                                              \
        "POST", "/m/1/reset", 0, 204, "", ""                                                       \
    }
#define T(id, state) "{\"@odata.id\":\"/t/l/" id "\",\"TaskState\":\"" state "\"}"

/* Each way is gone, and has to end as it says with no request but those it names. */
void lks_test_ways(const struct ways *ways);

/* The same with the process ended at a request that only reads, after something was sent, and
 * another one in its place: nothing is asked for more often than without that. */
void lks_test_ways_ended(const struct ways *ways);

#endif
