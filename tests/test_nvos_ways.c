/* What a switch tray says while it is updated, as the pages that it serves: what the simulated tray
 * of bmcsim does not do, and what has to be exact. What is followed is as good as what is asked:
 * nothing more is begun, and nothing is restarted, while an installation may still be writing. */
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
    const char *body;
    const char *note;  /* stands in the log, once where it is served in a row; NULL: nothing does */
    const char *after; /* a line that has to be in the log before; NULL: none */
};

/* The pages of a tray; of several with the same name the first that is not used up. */
struct way {
    const char *name;
    enum lks_bmc_act act;
    const char *component;
    enum lks_bmc_outcome outcome;
    const char *says; /* a piece of the reason */
    const char *log;  /* what was asked for and seen, a line each, all of it */
    const char *kill; /* the process ends at the first checkpoint after this line; NULL: never */
    struct page pages[PAGES_MAX];
};

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
        "POST", LIST "/" id, times, 200, body, "fetch " id, NULL                                   \
    }
#define INSTALL(id, times, body)                                                                   \
    {                                                                                              \
        "POST", LIST "/" id "/files/i", times, 200, body, "install " id, NULL                      \
    }
#define UNANSWERED(id)                                                                             \
    {                                                                                              \
        "POST", LIST "/" id "/files/i", 0, 0, "", "install " id, NULL                              \
    }
#define RESTART                                                                                    \
    {                                                                                              \
        "POST", SYSTEM, 0, 200, "99", "restart", NULL                                              \
    }
#define JOB_RUNS(n, times)                                                                         \
    {                                                                                              \
        "GET", JOBS "/" n, times, 200, RUNS, n " runs", NULL                                       \
    }
#define JOB_ENDED(n)                                                                               \
    {                                                                                              \
        "GET", JOBS "/" n, 0, 200, ENDED, n " ended", NULL                                         \
    }
#define JOB_BROKE(n)                                                                               \
    {                                                                                              \
        "GET", JOBS "/" n, 0, 200, BROKE, n " broke", NULL                                         \
    }
#define JOB_ODD(n, times, status, body)                                                            \
    {                                                                                              \
        "GET", JOBS "/" n, times, status, body, n " is not shown", NULL                            \
    }
#define LIST_JOBS(times, jobs)                                                                     \
    {                                                                                              \
        "GET", JOBS, times, 200, "{" jobs "}", NULL, NULL                                          \
    }
#define SHOWS(entries)                                                                             \
    {                                                                                              \
        "GET", LIST, 0, 200, "{" entries "}", NULL, NULL                                           \
    }
#define SHOWS_AFTER(line, entries)                                                                 \
    {                                                                                              \
        "GET", LIST, 0, 200, "{" entries "}", NULL, line                                           \
    }

#define BIOS_RUNS_AFTER(line) SHOWS_AFTER(line, HAS("BIOS", "2.0")), SHOWS(HAS("BIOS", "1.0"))
#define TWO(first, second)    HAS("CPLD1", first) "," HAS("CPLD2", second)
#define TWO_OLD               SHOWS(TWO("1.0", "1.0"))
#define TWO_RUN_AFTER(line)   SHOWS_AFTER(line, TWO("2.0", "2.0")), TWO_OLD

/* One answer that shows nothing of an installation, among others that do. */
#define ONCE(what, status, body)                                                                   \
    {                                                                                              \
        .name = what " in place of an installation, once: it is asked for again",                  \
        .component = "cpld", .outcome = LKS_BMC_DONE, .says = "2 of 2",                            \
        .log = "fetch CPLD1\n1 ended\ninstall CPLD1\n2 is not shown\n2 runs\n2 is not shown\n"     \
               "2 ended\nfetch CPLD2\n3 ended\ninstall CPLD2\n4 ended\nrestart",                   \
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
    {.name = "an installation that runs goes before another's that has ended",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .log = "fetch BIOS\n1 ended\ninstall BIOS\n2 runs\n2 ended\n3 ended\nrestart",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), UNANSWERED("BIOS"), JOB_RUNS("2", 30),
               JOB_ENDED("2"), JOB_ENDED("3"), LIST_JOBS(1, LISTED("1", ENDED)),
               LIST_JOBS(1, LISTED("1", ENDED) "," LISTED("2", RUNS) "," LISTED("3", ENDED)),
               LIST_JOBS(0, LISTED("1", ENDED) "," LISTED("2", ENDED) "," LISTED("3", ENDED)),
               RESTART, BIOS_RUNS_AFTER("restart")}},
    {.name = "another's ended, and ours is listed only later",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .log = "fetch BIOS\n1 ended\ninstall BIOS\n3 ended\n2 runs\n2 ended\nrestart",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), UNANSWERED("BIOS"), JOB_RUNS("2", 30),
               JOB_ENDED("2"), JOB_ENDED("3"), LIST_JOBS(1, LISTED("1", ENDED)),
               LIST_JOBS(1, LISTED("1", ENDED) "," LISTED("3", ENDED)),
               LIST_JOBS(0, LISTED("1", ENDED) "," LISTED("2", RUNS) "," LISTED("3", ENDED)),
               RESTART, BIOS_RUNS_AFTER("restart")}},
    {.name = "the same, and the process ends when another's was found",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .log = "fetch BIOS\n1 ended\ninstall BIOS\n3 ended\n2 runs\n2 ended\nrestart",
     .kill = "install BIOS",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), UNANSWERED("BIOS"), JOB_RUNS("2", 30),
               JOB_ENDED("2"), JOB_ENDED("3"), LIST_JOBS(1, LISTED("1", ENDED)),
               LIST_JOBS(1, LISTED("1", ENDED) "," LISTED("3", ENDED)),
               LIST_JOBS(0, LISTED("1", ENDED) "," LISTED("2", RUNS) "," LISTED("3", ENDED)),
               RESTART, BIOS_RUNS_AFTER("restart")}},
    {.name = "it waits for a restart by its version, and still runs as a job",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .log = "fetch BIOS\n1 ended\ninstall BIOS\n2 runs\n2 ended\nrestart",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), UNANSWERED("BIOS"), JOB_RUNS("2", 30),
               JOB_ENDED("2"), LIST_JOBS(1, LISTED("1", ENDED)),
               LIST_JOBS(0, LISTED("1", ENDED) "," LISTED("2", RUNS)), RESTART,
               SHOWS_AFTER("restart", HAS("BIOS", "2.0")),
               SHOWS_AFTER("install BIOS", WAITS("BIOS", "1.0")), SHOWS(HAS("BIOS", "1.0"))}},
    {.name = "it waits for a restart by its version, and no job of it runs",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .log = "fetch BIOS\n1 ended\ninstall BIOS\nrestart",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), UNANSWERED("BIOS"),
               LIST_JOBS(0, LISTED("1", ENDED)), RESTART,
               SHOWS_AFTER("restart", HAS("BIOS", "2.0")),
               SHOWS_AFTER("install BIOS", WAITS("BIOS", "1.0")), SHOWS(HAS("BIOS", "1.0"))}},
    {.name = "the job that fetched is listed late: it is not the one that installs",
     .component = "bios",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "no answer to the installation",
     .log = "fetch BIOS\n1 ended\ninstall BIOS",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), UNANSWERED("BIOS"), LIST_JOBS(1, ""),
               LIST_JOBS(0, LISTED("1", ENDED)), RESTART, BIOS_RUNS_AFTER("restart")}},
    {.name = "a job was found and ended, and whether others run cannot be seen",
     .component = "bios",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "vanished",
     .log = "fetch BIOS\n1 ended\ninstall BIOS\n3 ended",
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
     .log = "fetch BIOS\n1 ended\ninstall BIOS\n2 runs\n2 is not shown\n2 ended\nrestart",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), INSTALL("BIOS", 0, "2"), JOB_RUNS("2", 1),
               JOB_ODD("2", 6, 200, "[]"), JOB_ENDED("2"), LIST_JOBS(0, LISTED("1", ENDED)),
               RESTART, BIOS_RUNS_AFTER("restart")}},
    {.name = "an installation that is lost: no other component, no restart",
     .component = "cpld",
     .outcome = LKS_BMC_UNKNOWN,
     .says = "its job vanished",
     .log = "fetch CPLD1\n1 ended\ninstall CPLD1\n2 is not shown",
     .pages = {FETCH("CPLD1", 0, "1"), JOB_ENDED("1"), INSTALL("CPLD1", 0, "2"),
               JOB_ODD("2", 0, 404, ""), LIST_JOBS(0, LISTED("1", ENDED)), FETCH("CPLD2", 0, "3"),
               JOB_ENDED("3"), INSTALL("CPLD2", 0, "4"), JOB_ENDED("4"), RESTART,
               TWO_RUN_AFTER("restart")}},
    {.name = "an installation that is lost, and its component runs it: the next one follows",
     .component = "cpld",
     .outcome = LKS_BMC_DONE,
     .says = "2 of 2",
     .log = "fetch CPLD1\n1 ended\ninstall CPLD1\n2 is not shown\nfetch CPLD2\n3 ended\n"
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
     .log = "fetch BIOS\n1 ended\ninstall BIOS\n2 is not shown",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), INSTALL("BIOS", 0, "2"),
               JOB_ODD("2", 0, 404, ""), LIST_JOBS(0, LISTED("1", ENDED)), RESTART,
               SHOWS_AFTER("restart", HAS("BIOS", "2.0")),
               SHOWS_AFTER("install BIOS", WAITS("BIOS", "1.0")), SHOWS(HAS("BIOS", "1.0"))}},
    {.name = "an installation that is lost, and was only to be staged: the version tells",
     .act = LKS_BMC_STAGE,
     .component = "bios",
     .outcome = LKS_BMC_STAGED,
     .says = "waits for a restart",
     .log = "fetch BIOS\n1 ended\ninstall BIOS\n2 is not shown",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), INSTALL("BIOS", 0, "2"),
               JOB_ODD("2", 0, 404, ""), LIST_JOBS(0, LISTED("1", ENDED)),
               SHOWS_AFTER("install BIOS", WAITS("BIOS", "1.0")), SHOWS(HAS("BIOS", "1.0"))}},
    {.name = "an installation that is lost, and runs",
     .component = "bios",
     .outcome = LKS_BMC_DONE,
     .says = "1 of 1",
     .log = "fetch BIOS\n1 ended\ninstall BIOS\n2 is not shown",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ENDED("1"), INSTALL("BIOS", 0, "2"),
               JOB_ODD("2", 0, 404, ""), LIST_JOBS(0, LISTED("1", ENDED)),
               BIOS_RUNS_AFTER("2 is not shown")}},

    {.name = "whether it was fetched is never seen: nothing is installed",
     .component = "bios",
     .outcome = LKS_BMC_REFUSED,
     .says = "whether it fetched the image: status 404",
     .log = "fetch BIOS\n1 is not shown\nfetch BIOS\n1 is not shown\nfetch BIOS\n1 is not shown",
     .pages = {FETCH("BIOS", 0, "1"), JOB_ODD("1", 0, 404, ""), LIST_JOBS(0, ""),
               INSTALL("BIOS", 0, "2"), JOB_ENDED("2"), RESTART, BIOS_RUNS_AFTER("restart")}},
    {.name = "the same of the second component: the first was installed",
     .component = "cpld",
     .outcome = LKS_BMC_FAILED,
     .says = "whether it fetched the image: status 404",
     .log = "fetch CPLD1\n1 ended\ninstall CPLD1\n2 ended\nfetch CPLD2\n3 is not shown\n"
            "fetch CPLD2\n3 is not shown\nfetch CPLD2\n3 is not shown",
     .pages = {FETCH("CPLD1", 0, "1"), JOB_ENDED("1"), INSTALL("CPLD1", 0, "2"), JOB_ENDED("2"),
               FETCH("CPLD2", 0, "3"), JOB_ODD("3", 0, 404, ""), LIST_JOBS(0, LISTED("1", ENDED)),
               INSTALL("CPLD2", 0, "4"), JOB_ENDED("4"), RESTART, TWO_RUN_AFTER("restart")}},
    {.name = "the second component is not fetched: the first was installed",
     .component = "cpld",
     .outcome = LKS_BMC_FAILED,
     .says = "could not fetch the image: action_error: no room",
     .log = "fetch CPLD1\n1 ended\ninstall CPLD1\n2 ended\nfetch CPLD2\n3 broke",
     .pages = {FETCH("CPLD1", 0, "1"), JOB_ENDED("1"), INSTALL("CPLD1", 0, "2"), JOB_ENDED("2"),
               FETCH("CPLD2", 0, "3"), JOB_BROKE("3"), LIST_JOBS(0, LISTED("1", ENDED)), TWO_OLD}},
    {.name = "each component may be fetched three times",
     .component = "cpld",
     .outcome = LKS_BMC_DONE,
     .says = "2 of 2",
     .log = "fetch CPLD1\n1 is not shown\nfetch CPLD1\n2 is not shown\nfetch CPLD1\n3 ended\n"
            "install CPLD1\n4 ended\nfetch CPLD2\n5 is not shown\nfetch CPLD2\n6 is not shown\n"
            "fetch CPLD2\n7 ended\ninstall CPLD2\n8 ended\nrestart",
     .pages = {FETCH("CPLD1", 1, "1"), FETCH("CPLD1", 1, "2"), FETCH("CPLD1", 1, "3"),
               JOB_ODD("1", 0, 404, ""), JOB_ODD("2", 0, 404, ""), JOB_ENDED("3"),
               INSTALL("CPLD1", 0, "4"), JOB_ENDED("4"), FETCH("CPLD2", 1, "5"),
               FETCH("CPLD2", 1, "6"), FETCH("CPLD2", 1, "7"), JOB_ODD("5", 0, 404, ""),
               JOB_ODD("6", 0, 404, ""), JOB_ENDED("7"), INSTALL("CPLD2", 0, "8"), JOB_ENDED("8"),
               LIST_JOBS(0, LISTED("3", ENDED)), RESTART, TWO_RUN_AFTER("restart")}},

    {.name = "one of two would go back to an older version, and not the first",
     .component = "cpld",
     .outcome = LKS_BMC_REFUSED,
     .says = "2.0 is older than 3.0",
     .log = "",
     .pages = {SHOWS(TWO("1.0", "3.0")), FETCH("CPLD1", 0, "1")}},
};

static bool has_line(const struct lks_buf *log, const char *line)
{
    struct lks_str rest = lks_buf_view(log), one;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &one, &rest);
        if (lks_str_is(one, line))
            return true;
    }
    return false;
}

static const struct page *find_page(const struct way *way, const struct lks_http_request *r,
                                    const struct lks_buf *log, unsigned *served)
{
    for (size_t i = 0; i < PAGES_MAX && way->pages[i].method != NULL; i++) {
        const struct page *page = &way->pages[i];
        if (strcmp(page->method, r->method) != 0 ||
            !lks_str_is(lks_buf_view(&r->path), page->path) ||
            (page->times > 0 && served[i] >= page->times) ||
            (page->after != NULL && !has_line(log, page->after)))
            continue;
        served[i]++;
        return page;
    }
    return NULL;
}

/* What only reads stands there once however often it is asked for. */
static void note(const struct page *page, struct lks_buf *log)
{
    bool reads = page != NULL && strcmp(page->method, "GET") == 0;
    if (page == NULL || page->note == NULL ||
        (reads && lks_str_eq(lks_str_last(lks_buf_view(log), '\n'), lks_str_from(page->note))))
        return;
    lks_buf_addf(log, "%s%s", log->len > 0 ? "\n" : "", page->note);
}

static void begin(const struct way *way, void *value)
{
    struct lks_bmc_secret secret = lks_bmcs_secret();
    struct lks_err err = {0};
    const struct lks_bmc_intent intent = {
        .act = way->act,
        .component = lks_str_from(way->component),
        .version = LKS_STR("2.0"),
        .pull = LKS_STR("https://depot.example/i"),
        .one_way = true,
        .deadline = BEGIN + 2 * LKS_BMCS_HOUR,
    };
    CHECK_CODE(lks_bmc_nvos.update_begin(value, lks_test_facts(), &secret, &intent, &err), LKS_OK);
}

/* The process ends, and another goes on with what was saved. */
static void resume(const struct way *way, void *value, lks_ms now)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf saved = {0};
    struct lks_err err = {0};
    lks_buf_init(&saved, (size_t)1 << 16);
    lks_bmc_nvos.update->save(value, &saved);
    memset(value, 0, lks_bmc_nvos.update->size);
    begin(way, value);
    CHECK_CODE(lks_bmc_nvos.update->load(value, lks_buf_view(&saved), &err), LKS_OK);
    lks_conversation_feed(lks_bmc_nvos.update, value, now, NULL);
}

static void serve(const struct way *way, void *value, struct lks_buf *log)
{
    LKS_CLEANUP(lks_talk_fini) struct lks_talk talk = {0};
    unsigned served[PAGES_MAX] = {0};
    const char *kill = way->kill;
    lks_ms now = BEGIN;
    lks_talk_init(&talk);
    for (unsigned i = 0; i < 5000; i++) {
        lks_conversation_next(lks_bmc_nvos.update, value, now, &talk);
        if (talk.checkpoint && kill != NULL && has_line(log, kill)) {
            resume(way, value, now);
            kill = NULL;
            continue;
        }
        if (talk.kind == LKS_TALK_WAIT) {
            now = talk.until;
            continue;
        }
        if (talk.kind != LKS_TALK_SEND)
            return;
        const struct page *page = find_page(way, &talk.request, log, served);
        struct lks_http_response response = {.status = 404, .head = {"", 0}, .body = {"", 0}};
        if (page != NULL)
            response = (struct lks_http_response){
                .status = page->status, .head = {"", 0}, .body = lks_str_from(page->body)};
        note(page, log);
        now += 10;
        lks_conversation_feed(lks_bmc_nvos.update, value, now,
                              response.status != 0 ? &response : NULL);
    }
    CHECK(false);
}

static void try_way(const struct way *way)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf log = {0};
    struct lks_bmc_status status;
    void *value = calloc(1, lks_bmc_nvos.update->size);
    LKS_ASSERT(value != NULL);
    lks_buf_init(&log, (size_t)1 << 16);
    begin(way, value);
    serve(way, value, &log);
    lks_bmc_nvos.update_status(value, &status);
    CHECK_STR(lks_str_from(lks_bmc_outcome_words[status.outcome]),
              lks_bmc_outcome_words[way->outcome]);
    CHECK_HAS(status.text, way->says);
    CHECK_STR(log.len > 0 ? lks_buf_view(&log) : LKS_STR(""), way->log);
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
        {"what a switch tray says", test_ways},
        {0},
    };
    return lks_test_main(tests);
}
