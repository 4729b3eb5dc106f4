/* Rehearsals with the jobs that schedulers listed: how the list is read, how long its jobs run by
 * seed, and that drains last as long as they do. */
#include "core/state/state.h"
#include "lab/rehearse/forecast.h"
#include "lab/rehearse/listed.h"
#include "tests/facts.h"
#include "tests/rehearsals.h"
#include "tests/test.h"

#include <stdio.h>

#define WALL UINT64_C(1794700000000)
#define HOUR (3600 * LKS_SECOND)
enum { NODES = 100, TRAIN = 80, STORY_MAX = 1 << 20, GPUS = 8 };

#define NOW "\"now\":\"2026-11-15T10:00:00.000Z\""
#define SITE(jobs, hosts)                                                                          \
    "{\"site\":\"lab\",\"scheduler\":\"slurm\"," NOW ",\"listed\":\"2026-11-15T09:59:48.000Z\","   \
    "\"awaited\":false,\"jobs\":" jobs ",\"hosts\":\"" hosts "\"}\n"
#define ALL "n[00001-00080]"
/* It started 97 hours ago, so that nearly all of such jobs run until their limit, in three. */
#define JOB(id, nodes, of, requeue)                                                                \
    "{\"job\":\"" id "\",\"user\":\"ada\",\"nodes\":\"" nodes "\",\"of\":" of                      \
    ",\"started\":\"2026-11-11T09:00:00.000Z\",\"ends\":\"2026-11-15T13:00:00.000Z\","             \
    "\"requeue\":" requeue ",\"ending\":false}\n"

/* Reading ------------------------------------------------------------------------------------- */

static void test_read(void)
{
    static const struct {
        const char *name, *text, *refused;
    } rows[] = {
        {"no site", "", NULL},
        {"a site without jobs", SITE("0", ALL), NULL},
        {"two jobs", SITE("2", ALL) JOB("17", "n00001", "1", "true") JOB("18_3", ALL, "80", "true"),
         NULL},
        {"fewer jobs than were said", SITE("2", ALL) JOB("17", "n00001", "1", "true"),
         "1 jobs are missing at its end"},
        {"more of them", SITE("0", ALL) JOB("17", "n00001", "1", "true"),
         "line 2: a job is cut off or malformed"},
        {"a job of no site", JOB("17", "n00001", "1", "true"), "line 1: a job is cut off"},
        {"a site within the jobs of another", SITE("1", ALL) SITE("0", ALL),
         "line 2: a site is cut off"},
        {"cut off", "{\"site\":\"lab\"", "line 1 is cut off"},
        {"no time", "{\"site\":\"lab\",\"scheduler\":\"slurm\",\"jobs\":0,\"hosts\":\"\"}\n",
         "line 1: a site is cut off or malformed"},
        {"a time that is none",
         SITE("1", ALL) "{\"job\":\"17\",\"of\":1,\"ends\":\"soon\",\"requeue\":true}\n",
         "line 2: a job is cut off or malformed"},
        {"hosts that are none", SITE("0", "n[1-"), "the jobs of schedulers: line 1: "},
        {"no JSON", "nothing\n", "the jobs of schedulers: line 1: "},
        {"a user with bytes that cannot be printed",
         SITE("1", ALL) "{\"job\":\"17\",\"user\":\"a\\u001b\",\"of\":1,\"requeue\":true}\n",
         "user has bytes that cannot be printed"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_listed_fini) struct lks_listed l = {0};
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].name);
        enum lks_code code = lks_listed_read(lks_str_from(rows[i].text), &l, &err);
        CHECK_CODE(code, rows[i].refused == NULL ? LKS_OK : LKS_E_INVALID);
        if (rows[i].refused != NULL)
            CHECK_HAS(lks_str_from(err.msg), rows[i].refused);
    }
}

/* What is taken of a site and its jobs. */
static void test_taken(void)
{
    static const char text[] = SITE("3", ALL) JOB("17", "n[00001-00002]", "4", "true") //
        "{\"job\":\"18\",\"nodes\":\"n00003\",\"of\":1,\"gpus\":2,\"requeue\":false}\n"
        "{\"job\":\"19\",\"of\":0,\"requeue\":false,\"ending\":true}\n";
    LKS_CLEANUP(lks_listed_fini) struct lks_listed l = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_listed_read(lks_str_from(text), &l, &err), LKS_OK))
        return;
    CHECK_INT(l.site_count, 1);
    CHECK_INT(l.job_count, 3);
    CHECK_INT(l.sites[0].age, 12 * LKS_SECOND);
    CHECK_INT(l.sites[0].jobs, 3);
    CHECK_INT(l.sites[0].hosts.count, 80);
    CHECK_STR(l.jobs[0].user, "ada");
    CHECK_INT(l.jobs[0].hosts.count, 2);
    CHECK_INT(l.jobs[0].of, 4);
    CHECK_INT(l.jobs[0].ran, 97 * HOUR);
    CHECK_INT(l.jobs[0].left, 3 * HOUR);
    CHECK(l.jobs[0].requeue && l.jobs[0].gpus == UINT32_MAX && !l.jobs[0].unplaced);
    CHECK(l.jobs[1].left == UINT64_MAX && l.jobs[1].gpus == 2 && l.jobs[1].ran == 0);
    CHECK(l.jobs[2].unplaced && l.jobs[2].left == 0);
}

/* A list that is too old, or none, is not used, and its site has the reason. */
static void test_stale(void)
{
    static const struct {
        const char *name, *members, *missing;
        bool awaited;
    } rows[] = {
        {"fresh", "\"listed\":\"2026-11-15T10:00:00.000Z\",\"awaited\":false", "", false},
        {"an hour", "\"listed\":\"2026-11-15T09:00:00.000Z\",\"missing\":\"no route\"", "", false},
        {"more than an hour", "\"listed\":\"2026-11-15T08:59:59.000Z\"",
         "its last list is more than an hour old", false},
        {"none", "\"awaited\":true", "the scheduler did not list its jobs yet", true},
        {"none, with a reason", "\"awaited\":false,\"missing\":\"no route\"", "no route", false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_listed_fini) struct lks_listed l = {0};
        struct lks_err err = {0};
        char text[1024];
        lks_test_case("%s", rows[i].name);
        snprintf(text, sizeof(text),
                 "{\"site\":\"lab\",\"scheduler\":\"slurm\"," NOW ",%s,\"jobs\":1,\"hosts\":\"" ALL
                 "\"}\n" JOB("17", "n00001", "1", "true"),
                 rows[i].members);
        if (!CHECK_CODE(lks_listed_read(lks_str_from(text), &l, &err), LKS_OK))
            continue;
        CHECK_STR(l.sites[0].missing, rows[i].missing);
        CHECK_INT(l.job_count, rows[i].missing[0] == '\0');
        CHECK(l.awaited == rows[i].awaited);
    }
}

/* Drawing ------------------------------------------------------------------------------------- */

static void test_left(void)
{
    enum { DRAWS = 4000 };
    static const struct {
        const char *name;
        lks_ms ran, left, limit; /* left UINT64_MAX: it has no end */
        lks_ms least, most;
        unsigned at_limit_low, at_limit_high; /* percent of the draws */
    } rows[] = {
        {"just started", 0, 10 * HOUR, 10 * HOUR, 0, 10 * HOUR, 45, 55},
        {"half way", 5 * HOUR, 5 * HOUR, 10 * HOUR, 0, 5 * HOUR, 62, 71},
        {"nearly at its end", 99 * HOUR, HOUR, 100 * HOUR, 0, HOUR, 97, 100},
        {"beyond its end", 10 * HOUR, 0, 10 * HOUR, 0, 0, 100, 100},
        {"without an end", 10 * HOUR, UINT64_MAX, 0, 5 * HOUR, 15 * HOUR, 0, 0},
        {"without an end, just started", 0, UINT64_MAX, 0, 300 * LKS_SECOND, 900 * LKS_SECOND, 0,
         0},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        const struct lks_listed_job job = {.ran = rows[i].ran, .left = rows[i].left};
        struct lks_rng rng = {.state = 1}, again = {.state = 1};
        unsigned at_limit = 0;
        bool good = true;
        lks_test_case("%s", rows[i].name);
        for (unsigned k = 0; k < DRAWS; k++) {
            lks_ms limit = 0, same = 0, left = lks_listed_left(&job, &rng, &limit);
            good = good && left >= rows[i].least && left <= rows[i].most;
            good = good && limit == (rows[i].limit > 0 ? rows[i].limit : rows[i].ran + left);
            good = good && lks_listed_left(&job, &again, &same) == left && same == limit;
            at_limit += left == rows[i].left;
        }
        CHECK(good);
        CHECK(at_limit >= DRAWS / 100 * rows[i].at_limit_low);
        CHECK(at_limit <= DRAWS / 100 * rows[i].at_limit_high);
    }
}

/* Runs that are met have run for as long as they go on, on average; half of those that start run
 * until their limit, and two thirds of those that are met are such. */
static void test_behind(void)
{
    enum { DRAWS = 4000 };
    struct lks_rng rng = {.state = 3};
    double ran_all = 0, left_all = 0;
    unsigned whole = 0, at_limit = 0;
    bool good = true;
    for (unsigned i = 0; i < DRAWS; i++) {
        lks_ms ran = 0, left = 0, run = lks_listed_run(10 * HOUR, &rng);
        lks_listed_met(10 * HOUR, &rng, &ran, &left);
        good = good && run > 0 && run <= 10 * HOUR && left > 0 && ran + left <= 10 * HOUR;
        at_limit += run == 10 * HOUR;
        whole += ran + left == 10 * HOUR;
        ran_all += (double)ran;
        left_all += (double)left;
    }
    CHECK(good);
    CHECK(at_limit > DRAWS * 45 / 100 && at_limit < DRAWS * 55 / 100);
    CHECK(whole > DRAWS * 62 / 100 && whole < DRAWS * 71 / 100);
    CHECK(ran_all / left_all > 0.93 && ran_all / left_all < 1.07);
}

/* Runs ---------------------------------------------------------------------------------------- */

static void hear(void *ctx, lks_ms after, const char *text)
{
    lks_buf_addf(ctx, "%llu %s\n", (unsigned long long)after, text);
}

struct scene {
    const char *jobs;  /* NULL: no controller is asked */
    const char *drain; /* what the pool says of them */
    const char *hosts; /* empty: the whole pool */
    uint64_t seed;
};

static struct lks_world *make(const struct scene *scene, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf fleet = {0};
    LKS_CLEANUP(lks_listed_fini) struct lks_listed listed = {0};
    struct lks_world_options options = {.facts = lks_test_facts(), .wall = WALL};
    struct lks_plan_wish wish = {.kind = LKS_CHANGE_STACK,
                                 .stack = LKS_STR("s1"),
                                 .hosts = lks_str_from(scene->hosts),
                                 .hook = LKS_STR("site"),
                                 .windows = LKS_STR(""),
                                 .soak = HOUR,
                                 .one_way = true};
    struct lks_world *w = NULL;
    wish.pool = lks_str_from(scene->hosts[0] == '\0' ? "train" : "");
    rehearsals_fleet(NODES, scene->drain, &fleet);
    if (!CHECK_CODE(lks_world_of_manifest("fleet", lks_buf_view(&fleet), &options, &w, err),
                    LKS_OK))
        return NULL;
    bool good = (scene->jobs == NULL ||
                 (CHECK_CODE(lks_listed_read(lks_str_from(scene->jobs), &listed, err), LKS_OK) &&
                  CHECK_CODE(lks_world_listed_take(w, &listed, err), LKS_OK))) &&
                CHECK_CODE(lks_world_propose(w, &wish, err), LKS_OK);
    if (!good) {
        lks_world_free(w);
        return NULL;
    }
    return w;
}

static bool run(const struct scene *scene, struct lks_rehearsed *out, struct lks_buf *story)
{
    struct lks_rehearse_faults faults = lks_rehearse_faults_usual;
    struct lks_world_say say = {story, hear};
    struct lks_err err = {0};
    struct lks_world *w = make(scene, &err);
    bool good =
        w != NULL &&
        CHECK_CODE(lks_rehearse_faults_parse(LKS_STR("none"), &faults, &err), LKS_OK) &&
        CHECK_CODE(lks_world_run(w, scene->seed, &faults, story != NULL ? &say : NULL, out, &err),
                   LKS_OK);
    if (!good)
        printf("%s\n", err.msg);
    lks_world_free(w);
    return good;
}

static struct lks_rehearsed one, two; /* too large for a stack */

#define REQUEUE ", drain_jobs: requeue, drain_grace_minutes: 10"

/* One node with a job that ends in three hours. */
static const struct {
    const char *name, *jobs, *drain;
    lks_ms least, most; /* longer than without a job */
    unsigned requeued;
    const char *story;
} drains[] = {
    {"no job", SITE("0", ALL), "", 0, HOUR / 4, 0, "wave 0 is passed"},
    {"waited for", SITE("1", ALL) JOB("17", "n00001", "1", "true"), "", 11 * HOUR / 4,
     15 * HOUR / 4, 0, "n00001 has job 17 of ada, which runs for another 3.0 h"},
    {"requeued", SITE("1", ALL) JOB("17", "n00001", "1", "true"), REQUEUE, 0, HOUR, 1,
     "job 17 of ada is requeued"},
    {"may not be requeued", SITE("1", ALL) JOB("17", "n00001", "1", "false"), REQUEUE,
     11 * HOUR / 4, 15 * HOUR / 4, 0, "n00001 has job 17"},
    {"one of two on the node",
     SITE("2", ALL) JOB("17", "n00001", "1", "true") JOB("18", "n[00001-00002]", "2", "false"),
     REQUEUE, 11 * HOUR / 4, 15 * HOUR / 4, 1, "job 17 of ada is requeued"},
    {"on many nodes", SITE("1", ALL) JOB("17", "n[00001-00040]", "40", "true"), "", 11 * HOUR / 4,
     15 * HOUR / 4, 0, "n00001 has job 17"},
    {"on nodes of another fleet, too", SITE("1", ALL) JOB("17", "n00001", "2", "true"), "",
     11 * HOUR / 4, 15 * HOUR / 4, 0, "n00001 has job 17"},
    {"its nodes cannot be read",
     SITE("1", ALL) "{\"job\":\"17\",\"of\":0,\"started\":\"2026-11-11T09:00:00.000Z\","
                    "\"ends\":\"2026-11-15T13:00:00.000Z\",\"requeue\":true}\n",
     REQUEUE, 11 * HOUR / 4, 15 * HOUR / 4, 0, ""},
    {"on another node", SITE("1", ALL) JOB("17", "n00002", "1", "true"), "", 0, HOUR / 4, 0,
     "wave 0 is passed"},
    {"it ends just now",
     SITE("1", ALL) "{\"job\":\"17\",\"nodes\":\"n00001\",\"of\":1,\"requeue\":true,"
                    "\"started\":\"2026-11-15T09:59:00.000Z\",\"ending\":true}\n",
     "", 0, HOUR / 4, 0, "a job that was drawn"},
};

static void test_drain(void)
{
    struct scene scene = {SITE("0", ALL), "", "n00001", 2};
    if (!run(&scene, &one, NULL))
        return;
    for (size_t i = 0; i < LKS_COUNT(drains); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf story = LKS_BUF(STORY_MAX);
        lks_test_case("%s", drains[i].name);
        scene.jobs = drains[i].jobs;
        scene.drain = drains[i].drain;
        if (!run(&scene, &two, &story))
            continue;
        CHECK_INT(two.end, LKS_REHEARSED_DONE);
        lks_ms longer = two.took > one.took ? two.took - one.took : 0;
        if (!CHECK(longer >= drains[i].least && longer <= drains[i].most))
            printf("%llu s\n", (unsigned long long)(longer / LKS_SECOND));
        CHECK_INT(two.requeued, drains[i].requeued);
        CHECK_NEAR(two.lost, drains[i].requeued * 97.0 * GPUS, 8.0 * GPUS * drains[i].requeued);
        CHECK(two.draining <= two.gpu_hours + 1e-9);
        double drained = two.draining * (double)HOUR / GPUS + 1; /* one node */
        CHECK(drained >= (double)drains[i].least &&
              drained >= drains[i].requeued * (double)HOUR / 6);
        CHECK_HAS(lks_buf_view(&story), drains[i].story);
    }
}

/* Jobs of many nodes give up all of them, and wait; and the same seed has the same story. */
static void test_gangs(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf first = LKS_BUF(STORY_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(STORY_MAX);
    const struct scene scene = {SITE("4", ALL) JOB("17", "n[00001-00040]", "40", "true")
                                    JOB("18", "n[00041-00060]", "20", "true")
                                        JOB("19", "n00061", "1", "true")
                                            JOB("20", "n[00062-00064]", "3", "true"),
                                REQUEUE, "", 7};
    if (!run(&scene, &one, &first) || !run(&scene, &two, &again))
        return;
    CHECK(lks_str_eq(lks_buf_view(&first), lks_buf_view(&again)));
    CHECK_INT(one.took, two.took);
    CHECK_NEAR(one.gpu_hours, two.gpu_hours, 1e-9);
    CHECK_INT(one.requeued, two.requeued);
    CHECK_INT(one.end, LKS_REHEARSED_DONE);
    CHECK(one.requeued >= 4);
    const struct lks_rehearse_pool *pool = &one.pools[0];
    static const uint32_t sizes[] = {40, 20, 10, 5}, counts[] = {1, 1, 0, 2};
    CHECK_INT(pool->job_count, LKS_COUNT(sizes));
    for (uint32_t i = 0; i < LKS_COUNT(sizes); i++) {
        lks_test_case("jobs of %u nodes", sizes[i]);
        CHECK_INT(pool->jobs[i].size, sizes[i]);
        CHECK_INT(pool->jobs[i].count, counts[i]);
    }
    CHECK(pool->jobs[0].waited > 0);
}

/* A site whose list is missing has drawn jobs, as the nodes of no scheduler. */
static void test_sites(void)
{
    static const char text[] = SITE("2", "n[00001-00030]") JOB("17", "n00001", "1", "true")
        JOB("18", "n[00002-00003]", "2",
            "true") "{\"site\":\"fra\",\"scheduler\":\"slurm\"," NOW ",\"awaited\":false,"
                    "\"missing\":\"no route\",\"jobs\":0,\"hosts\":\"n[00031-00070]\"}\n";
    static struct lks_rehearse_site sites[LKS_REHEARSE_SITES];
    const struct scene scene = {text, "", "", 1}, none = {NULL, "", "", 1};
    struct lks_err err = {0};
    uint32_t drawn = 0;
    struct lks_world *w = make(&scene, &err);
    if (w == NULL)
        return;
    CHECK_INT(lks_world_listed_sites(w, sites, &drawn), 2);
    CHECK_INT(drawn, TRAIN - 30);
    CHECK_INT(sites[0].nodes, 30);
    CHECK_INT(sites[0].jobs, 2);
    CHECK_INT(sites[0].endless, 0);
    CHECK_INT(sites[0].age, 12 * LKS_SECOND);
    CHECK_STR(sites[0].missing, "");
    CHECK_INT(sites[1].nodes, 40);
    CHECK_STR(sites[1].missing, "no route");
    CHECK(lks_forecast_listed(&(struct lks_forecast_about){.sites = sites, .site_count = 2}));
    CHECK(!lks_forecast_listed(&(struct lks_forecast_about){.sites = sites + 1, .site_count = 1}));
    lks_world_free(w);
    w = make(&none, &err);
    if (w == NULL)
        return;
    CHECK_INT(lks_world_listed_sites(w, sites, &drawn), 0);
    CHECK_INT(drawn, TRAIN);
    lks_world_free(w);
    if (run(&scene, &one, NULL))
        CHECK_INT(one.end, LKS_REHEARSED_DONE);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"listed jobs: what is read", test_read},
        {"listed jobs: what is taken of it", test_taken},
        {"listed jobs: lists that are not used", test_stale},
        {"listed jobs: how long they go on", test_left},
        {"listed jobs: those behind them", test_behind},
        {"rehearse: a node with a job", test_drain},
        {"rehearse: jobs of many nodes", test_gangs},
        {"rehearse: sites with and without a list", test_sites},
        {0},
    });
}
