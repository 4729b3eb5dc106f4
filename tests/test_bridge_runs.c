/* Runs of jobs that ended, as the bridge makes them of readings, and pages of them. */
#include "base/buf.h"
#include "bridge/view/runs.h"
#include "codec/format/json.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T0       UINT64_C(1795000000000)
#define TEXT_MAX ((size_t)1 << 20)

enum { JOBS_MAX = 16, READINGS_MAX = 6, KEPT_S = 300 };

static lks_ms second(const char *text)
{
    return T0 + strtoull(text, NULL, 10) * LKS_SECOND;
}

/* "17 run 5 g1", "17 done 5 9 completed g1", "17 wait", "17 leaves 5 9 g1" (requeued, and its run
 * is ending); a number is seconds behind T0. */
static struct lks_bridge_run job_of(struct lks_str words)
{
    static char texts[JOBS_MAX * 8][64];
    static size_t next;
    struct lks_bridge_run run = {.gpus = 2, .exit = 0, .signal = 0, .user = LKS_STR("kim")};
    const char *part[8] = {"", "", "", "", "", "", "", ""};
    struct lks_str word;
    for (size_t i = 0; i < LKS_COUNT(part) && lks_str_word(&words, &word); i++) {
        char *to = texts[next++ % LKS_COUNT(texts)];
        snprintf(to, sizeof(texts[0]), "%" LKS_STR_FMT, LKS_STR_ARG(word));
        part[i] = to;
    }
    run.id = lks_str_from(part[0]);
    if (strcmp(part[1], "run") == 0) {
        run.phase = LKS_BRIDGE_RUN_GOES;
        run.started = second(part[2]);
        run.nodes = lks_str_from(part[3]);
    } else if (strcmp(part[1], "done") == 0) {
        run.phase = LKS_BRIDGE_RUN_ENDED;
        run.started = second(part[2]);
        run.ended = second(part[3]);
        run.state = lks_str_from(part[4]);
        run.nodes = lks_str_from(part[5]);
    } else if (strcmp(part[1], "leaves") == 0) {
        run.started = second(part[2]);
        run.ended = second(part[3]);
        run.nodes = lks_str_from(part[4]);
    }
    return run;
}

static void take(struct lks_bridge_runs *r, const struct lks_bridge_runs_reading *reading)
{
    LKS_CLEANUP(lks_bridge_runs_news_fini) struct lks_bridge_runs_news news = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_bridge_runs_prepare(r, reading, &news, &err), LKS_OK);
    CHECK_CODE(lks_bridge_runs_take(r, &news, &err), LKS_OK);
}

/* "10: JOB; JOB": what slurmctld has at that second. */
static void read_jobs(struct lks_bridge_runs *r, const char *text)
{
    static const struct lks_str down[] = {LKS_STR_C("g7"), LKS_STR_C("g9")};
    struct lks_bridge_run runs[JOBS_MAX];
    struct lks_str at, rest, job;
    char number[32];
    size_t count = 0;
    (void)lks_str_cut(lks_str_from(text), ':', &at, &rest);
    snprintf(number, sizeof(number), "%" LKS_STR_FMT, LKS_STR_ARG(at));
    for (bool more = lks_str_trim(rest).len > 0; more;) {
        more = lks_str_cut(rest, ';', &job, &rest);
        runs[count++] = job_of(lks_str_trim(job));
    }
    const struct lks_bridge_runs_reading reading = {.runs = runs,
                                                    .count = count,
                                                    .at = second(number),
                                                    .kept = KEPT_S * LKS_SECOND,
                                                    .down = down,
                                                    .down_count = LKS_COUNT(down)};
    take(r, &reading);
}

static int64_t behind(const struct lks_doc *map, const char *key)
{
    const struct lks_doc *doc = lks_doc_member(map, key);
    return doc != NULL ? (doc->number - (int64_t)T0) / (int64_t)LKS_SECOND : -1;
}

/* "17 5-9 completed g1; ..." of a page; the place of the last run is left in `place`. */
static bool page(const struct lks_bridge_runs *r, struct lks_bridge_runs_ask *ask,
                 struct lks_buf *out)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    lks_bridge_runs_json(r, ask, 7, &json);
    CHECK_CODE(lks_docs_init(&docs, "runs", &err), LKS_OK);
    CHECK_CODE(lks_json_parse(lks_buf_view(&json), &docs, &err), LKS_OK);
    const struct lks_doc *list = lks_doc_member(docs.first, "runs");
    for (const struct lks_doc *at = list->first; at != NULL; at = at->next) {
        const struct lks_doc *run = lks_doc_member(at, "run");
        struct lks_str id = lks_doc_text(run, "id"), down = lks_doc_text(run, "down");
        lks_buf_addf(out, "%s%" LKS_STR_FMT " %lld-%lld %" LKS_STR_FMT " %" LKS_STR_FMT,
                     out->len > 0 ? "; " : "", LKS_STR_ARG(id), (long long)behind(run, "started"),
                     (long long)behind(run, "ended"), LKS_STR_ARG(lks_doc_text(run, "state")),
                     LKS_STR_ARG(lks_doc_text(run, "nodes")));
        if (down.len > 0)
            lks_buf_addf(out, " (%" LKS_STR_FMT ")", LKS_STR_ARG(down));
        ask->after.at = (lks_ms)lks_doc_member(at, "at")->number;
        snprintf(ask->after.id, sizeof(ask->after.id), "%" LKS_STR_FMT, LKS_STR_ARG(id));
    }
    return lks_doc_member(docs.first, "more")->truth;
}

static const struct {
    const char *name;
    const char *readings[READINGS_MAX];
    const char *runs;
} histories[] = {
    {"a job that runs", {"10: 17 run 5 g1"}, ""},
    {"a job that waits never ran", {"10: 17 wait", "20: "}, ""},
    {"it ended between two readings",
     {"10: 17 run 5 g1", "20: 17 done 5 12 completed g1"},
     "17 5-12 completed g1"},
    {"it is shown once",
     {"10: 17 run 5 g1", "20: 17 done 5 12 completed g1", "30: 17 done 5 12 completed g1", "40: "},
     "17 5-12 completed g1"},
    {"it was there at the first reading", {"20: 17 done 5 12 failed g1"}, "17 5-12 failed g1"},
    {"not in the second in which it ended", {"12: 17 done 5 12 completed g1"}, ""},
    {"but with the next reading",
     {"12: 17 done 5 12 completed g1", "13: 17 done 5 12 completed g1"},
     "17 5-12 completed g1"},
    {"and also if slurmctld forgot it by then",
     {"12: 17 done 5 12 completed g1", "13: "},
     "17 5-12 completed g1"},
    {"in the order of ends, and then of ids",
     {"20: 3 done 5 12 completed g1; 20 done 5 11 completed g1; 19 done 5 12 completed g1"},
     "20 5-11 completed g1; 19 5-12 completed g1; 3 5-12 completed g1"},
    {"the nodes that are left while it ends are not all",
     {"10: 17 run 5 g[1-4]", "20: 17 done 5 12 completed g3"},
     "17 5-12 completed g[1-4]"},
    {"requeued, and its run is ending",
     {"10: 17 run 5 g1", "20: 17 leaves 5 14 g1", "30: 17 wait"},
     "17 5-14 requeued g1"},
    {"requeued, and it waits", {"10: 17 run 5 g1", "20: 17 wait"}, "17 5-19 requeued g1"},
    {"requeued, and it runs again",
     {"10: 17 run 5 g1", "20: 17 run 15 g2", "30: 17 done 15 22 completed g2"},
     "17 5-19 requeued g1; 17 15-22 completed g2"},
    {"requeued, and the next run ended too",
     {"10: 17 run 5 g1", "20: 17 done 15 18 completed g2"},
     "17 15-18 completed g2; 17 5-19 requeued g1"},
    {"started again in the second of its end",
     {"12: 17 done 5 12 failed g1", "13: 17 run 12 g1", "20: 17 done 12 15 completed g1"},
     "17 5-12 failed g1; 17 12-15 completed g1"},
    {"slurmctld forgot it while it ran", {"10: 17 run 5 g1", "20: "}, "17 5-19 unknown g1"},
    {"cancelled before it started", {"10: 17 wait", "20: 17 done 0 12 cancelled"}, ""},
    {"on a node that is down",
     {"10: 17 run 5 g[6-8]", "20: 17 done 5 12 node_fail g[6-8]"},
     "17 5-12 node_fail g[6-8] (g7)"},
    {"a run that completed has no such cause",
     {"20: 17 done 5 12 completed g7"},
     "17 5-12 completed g7"},
    {"the clock was set back: behind those before",
     {"20: 17 done 5 12 completed g1", "8: 18 done 5 7 completed g2", "9: 18 done 5 7 failed g2"},
     "17 5-12 completed g1; 18 5-7 completed g2"},
    {"the clock was set back before the first reading: it was shown by the bridge before",
     {"8: 17 done 5 12 completed g1; 18 done 5 7 completed g1", "20: 17 done 5 12 completed g1"},
     "18 5-7 completed g1"},
    {"tasks of an array, and parts of a job",
     {"10: 17_1 run 5 g1; 17_2 run 5 g2; 17_[3-9] wait; 18+0 run 5 g3; 18+1 run 5 g4",
      "20: 17_1 done 5 11 completed g1; 17_2 run 5 g2; 18+1 done 5 12 failed g4; 18+0 run 5 g3"},
     "17_1 5-11 completed g1; 18+1 5-12 failed g4"},
    {"an id that is none is left out",
     {"20: 17\n done 5 12 completed g1; 18 done 5 12 completed g1"},
     "18 5-12 completed g1"},
};

static void test_histories(void)
{
    for (size_t i = 0; i < LKS_COUNT(histories); i++) {
        LKS_CLEANUP(lks_bridge_runs_fini) struct lks_bridge_runs r = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
        struct lks_bridge_runs_ask ask = {.max = LKS_BRIDGE_RUNS_PAGE};
        lks_test_case("%s", histories[i].name);
        for (size_t k = 0; k < READINGS_MAX && histories[i].readings[k] != NULL; k++)
            read_jobs(&r, histories[i].readings[k]);
        CHECK(!page(&r, &ask, &text));
        CHECK_STR(lks_buf_view(&text), histories[i].runs);
    }
}

/* Pages of one run each are all runs, each once, whatever the reader starts with. */
static void test_pages(void)
{
    LKS_CLEANUP(lks_bridge_runs_fini) struct lks_bridge_runs r = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_bridge_runs_ask ask = {.max = 1};
    read_jobs(&r, "20: 1 done 5 12 failed g1; 2 done 5 12 failed g1; 3 done 5 11 failed g1");
    CHECK(page(&r, &ask, &text));
    CHECK(page(&r, &ask, &text));
    CHECK(!page(&r, &ask, &text));
    CHECK_STR(lks_buf_view(&text), "3 5-11 failed g1; 1 5-12 failed g1; 2 5-12 failed g1");
    CHECK(!page(&r, &ask, &text));
    CHECK_STR(lks_buf_view(&text), "3 5-11 failed g1; 1 5-12 failed g1; 2 5-12 failed g1");
}

/* A reader that goes on from `until` after each reading sees each run. */
static const struct {
    const char *name;
    const char *readings[READINGS_MAX];
    const char *runs;
} followed[] = {
    {"requeued and ended in the second of a reading",
     {"9: 10 run 5 g1; 20 run 5 g2", "10: 10 leaves 5 10 g1; 20 done 5 10 failed g2",
      "11: 10 wait; 20 done 5 10 failed g2"},
     "10 5-10 requeued g1; 20 5-10 failed g2"},
    {"two readings within a second",
     {"9: 10 run 5 g1; 20 run 5 g2", "10: 10 wait; 20 run 5 g2", "10: 10 wait; 20 wait"},
     "10 5-9 requeued g1; 20 5-9 requeued g2"},
    {"the clock was set back",
     {"20: 10 done 5 12 failed g1; 20 run 5 g2", "8: 20 done 5 7 failed g2"},
     "10 5-12 failed g1; 20 5-7 failed g2"},
};

static void test_follows(void)
{
    for (size_t i = 0; i < LKS_COUNT(followed); i++) {
        LKS_CLEANUP(lks_bridge_runs_fini) struct lks_bridge_runs r = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
        struct lks_bridge_runs_ask ask = {.max = LKS_BRIDGE_RUNS_PAGE};
        lks_test_case("%s", followed[i].name);
        for (size_t k = 0; k < READINGS_MAX && followed[i].readings[k] != NULL; k++) {
            read_jobs(&r, followed[i].readings[k]);
            CHECK(!page(&r, &ask, &text));
            CHECK(ask.after.at <= r.until);
            ask.after = (struct lks_bridge_runs_place){.at = r.until};
        }
        CHECK_STR(lks_buf_view(&text), followed[i].runs);
    }
}

/* Readers are answered while a reading is prepared; one that is not taken in is not lost. */
static void test_prepared(void)
{
    LKS_CLEANUP(lks_bridge_runs_fini) struct lks_bridge_runs r = {0};
    LKS_CLEANUP(lks_bridge_runs_news_fini) struct lks_bridge_runs_news news = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_bridge_runs_ask ask = {.max = LKS_BRIDGE_RUNS_PAGE};
    struct lks_err err = {0};
    const struct lks_bridge_runs_reading empty = {.at = T0 + 20 * LKS_SECOND};
    read_jobs(&r, "10: 17 run 5 g1");
    CHECK_CODE(lks_bridge_runs_prepare(&r, &empty, &news, &err), LKS_OK);
    CHECK(!page(&r, &ask, &text));
    CHECK_STR(lks_buf_view(&text), "");
    CHECK_INT(r.until, T0 + 10 * LKS_SECOND);
    read_jobs(&r, "30: ");
    CHECK(!page(&r, &ask, &text));
    CHECK_STR(lks_buf_view(&text), "17 5-29 unknown g1");
}

/* Two bridges, one of which started later, give the same runs behind one place. */
static void test_two_bridges(void)
{
    LKS_CLEANUP(lks_bridge_runs_fini) struct lks_bridge_runs first = {0};
    LKS_CLEANUP(lks_bridge_runs_fini) struct lks_bridge_runs later = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_bridge_runs_ask ask = {.max = 2};
    read_jobs(&first, "10: 1 done 5 9 failed g1; 2 run 5 g1; 3 run 5 g2");
    read_jobs(&first, "20: 1 done 5 9 failed g1; 2 done 5 15 failed g1; 3 done 5 15 failed g2");
    read_jobs(&later, "20: 1 done 5 9 failed g1; 2 done 5 15 failed g1; 3 done 5 15 failed g2");
    CHECK(page(&first, &ask, &text));
    CHECK(!page(&later, &ask, &text));
    CHECK_STR(lks_buf_view(&text), "1 5-9 failed g1; 2 5-15 failed g1; 3 5-15 failed g2");
}

/* What may be missing: ends of before slurmctld kept jobs, and runs that were dropped. */
static void test_bounds(void)
{
    LKS_CLEANUP(lks_bridge_runs_fini) struct lks_bridge_runs r = {0};
    static struct lks_bridge_run runs[LKS_BRIDGE_RUNS_MAX + 1];
    static char ids[LKS_BRIDGE_RUNS_MAX + 1][16];
    struct lks_bridge_runs_reading reading = {.runs = runs, .at = T0, .kept = 300 * LKS_SECOND};
    take(&r, &reading);
    CHECK_INT(r.from, T0 - 300 * LKS_SECOND);
    CHECK_INT(r.until, T0);
    for (size_t i = 0; i < LKS_COUNT(runs); i++) {
        snprintf(ids[i], sizeof(ids[i]), "%zu", i);
        runs[i] = (struct lks_bridge_run){.id = lks_str_from(ids[i]),
                                          .nodes = LKS_STR("g1"),
                                          .state = LKS_STR("completed"),
                                          .phase = LKS_BRIDGE_RUN_ENDED,
                                          .started = T0,
                                          .ended = T0 + (i + 1) * LKS_SECOND};
    }
    reading.count = LKS_COUNT(runs);
    reading.at = T0 + (LKS_COUNT(runs) + 1) * LKS_SECOND;
    take(&r, &reading);
    CHECK(r.count <= LKS_BRIDGE_RUNS_MAX && r.count >= LKS_BRIDGE_RUNS_MAX / 2);
    CHECK_INT(r.from, r.items[0].place.at - LKS_SECOND + 1);
    CHECK_INT(r.until, reading.at);
}

/* Names that users chose are cut and printable; a list of nodes that is none is left out. */
static void test_hostile(void)
{
    LKS_CLEANUP(lks_bridge_runs_fini) struct lks_bridge_runs r = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(TEXT_MAX);
    static char name[(1 << 20) + 1];
    struct lks_bridge_runs_ask ask = {.max = 1};
    memset(name, 'x', sizeof(name) - 1);
    name[1] = '\x1b';
    const struct lks_bridge_run run = {.id = LKS_STR("1"),
                                       .name = lks_str_from(name),
                                       .user = LKS_STR("\xff\n"),
                                       .nodes = lks_str_from(name),
                                       .state = LKS_STR("failed"),
                                       .phase = LKS_BRIDGE_RUN_ENDED,
                                       .gpus = LKS_BRIDGE_UNKNOWN,
                                       .exit = -1,
                                       .signal = 9,
                                       .started = T0,
                                       .ended = T0 + 1};
    const struct lks_bridge_runs_reading reading = {.runs = &run, .count = 1, .at = T0 + 2};
    take(&r, &reading);
    lks_bridge_runs_json(&r, &ask, 0, &json);
    CHECK(json.len < 1000);
    CHECK_HAS(lks_buf_view(&json), "\"name\":\"x?xxx");
    CHECK_HAS(lks_buf_view(&json), "\"user\":\"??\"");
    CHECK_HAS(lks_buf_view(&json), "\"nodes\":\"\",\"gpus\":null");
    CHECK_HAS(lks_buf_view(&json), "\"exit\":null,\"signal\":9");
}

static const struct {
    const char *name, *after, *id, *max;
    enum lks_code code;
} asks[] = {
    {"nothing", NULL, NULL, NULL, LKS_OK},
    {"all", "1795000000000", "17_3", "2000", LKS_OK},
    {"a place without a number", "x", NULL, NULL, LKS_E_INVALID},
    {"a negative place", "-1", NULL, NULL, LKS_E_INVALID},
    {"none", NULL, NULL, "0", LKS_E_INVALID},
    {"too many", NULL, NULL, "2001", LKS_E_INVALID},
    {"an id with a control byte", "1", "17\n", NULL, LKS_E_INVALID},
    {"an id that is too long", "1",
     "1234567890123456789012345678901234567890123456789012345678901234", NULL, LKS_E_INVALID},
};

static void test_asks(void)
{
    for (size_t i = 0; i < LKS_COUNT(asks); i++) {
        struct lks_bridge_runs_ask ask = {0};
        struct lks_err err = {0};
        lks_test_case("%s", asks[i].name);
        CHECK_CODE(lks_bridge_runs_ask_read(asks[i].after, asks[i].id, asks[i].max, &ask, &err),
                   asks[i].code);
        CHECK(asks[i].code != LKS_OK || ask.max > 0);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"runs of readings", test_histories},
        {"pages", test_pages},
        {"a reader that goes on", test_follows},
        {"a reading that is prepared", test_prepared},
        {"two bridges", test_two_bridges},
        {"bounds", test_bounds},
        {"hostile texts", test_hostile},
        {"what is asked", test_asks},
        {0},
    };
    return lks_test_main(tests);
}
