/* Runs of jobs that ended: which get a row of their own, which are counted together, and that none
 * is counted twice. */
#include "core/rows/change.h"
#include "core/rules/decide_runs.h"
#include "core/state/runs.h"
#include "tests/fleet.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#define T0     UINT64_C(1795000000000)
#define SECOND LKS_SECOND
#define MINUTE (60 * LKS_SECOND)
#define HOUR   (60 * MINUTE)

enum { RUNS_MAX = 1000 };

/* n1 to n4 are of pool train at oslo, and m1 of pool serve; k1 is at bergen. Change 7 requeued the
 * run of job 30 that started at T0. */
static void begin(struct lks_asked *a)
{
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_CHANGE, .change = {.id = 7, .by = LKS_STR("kim")}},
        {.kind = LKS_RECORD_JOB_ACT,
         .job_act = {.change = 7,
                     .job = LKS_STR("30"),
                     .site = LKS_STR("oslo"),
                     .act = LKS_JOB_REQUEUE,
                     .state = LKS_JOB_DONE,
                     .started = T0}},
    };
    lks_asked_init(a);
    lks_fleet_pool(a, "train", "", "");
    lks_fleet_pool(a, "serve", "", "");
    lks_fleet_place_at(a, "n[1-4]", "train", "oslo");
    lks_fleet_place_at(a, "m1", "serve", "oslo");
    lks_fleet_place_at(a, "k1", "train", "bergen");
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        lks_asked_apply(a, &records[i]);
}

/* An answer about what is behind the place of the state. */
static struct lks_str answer(struct lks_asked *a, struct lks_sched_run *items, uint32_t count,
                             lks_ms until)
{
    struct lks_sched_runs runs = {.until = until, .items = items, .count = count, .from = T0};
    struct lks_event event = {
        .kind = LKS_EVENT_RUNS,
        .runs = {.site = LKS_STR("oslo"),
                 .sched = LKS_STR("slurm"),
                 .after = lks_decide_runs_after(&a->state, LKS_STR("oslo"), LKS_STR("slurm")),
                 .runs = &runs}};
    for (uint32_t i = 0; i < count; i++)
        items[i].place.at = items[i].ended;
    runs.last = count > 0 ? items[count - 1].place : (struct lks_sched_runs_place){0};
    return lks_asked(a, &event);
}

/* One run ------------------------------------------------------------------------------------ */

static const struct {
    const char *name, *job, *nodes;
    enum lks_run_state state;
    lks_ms took;
    uint32_t gpus;
    const char *down;
    const char *told; /* a part of its record; "": there is none yet */
} kinds[] = {
    {"short", "1", "n1", LKS_RUN_COMPLETED, MINUTE, 8, "", ""},
    {"ten minutes", "1", "n1", LKS_RUN_COMPLETED, 10 * MINUTE, 0, "",
     "job-ended job=1 site=oslo sched=slurm user=kim pool=train hosts=n1 nodes=1"},
    {"a GPU-hour", "1", "n[1-4]", LKS_RUN_FAILED, 2 * MINUTE, 32, "", "gpu_ms=3840000"},
    {"of another site", "1", "k1", LKS_RUN_COMPLETED, HOUR, 8, "", ""},
    {"of no node of the fleet", "1", "x1", LKS_RUN_COMPLETED, HOUR, 8, "", ""},
    {"on nodes that cannot be read", "1", "n[1-", LKS_RUN_COMPLETED, HOUR, 8, "", ""},
    {"also on a node of the fleet", "1", "x1,m1", LKS_RUN_COMPLETED, HOUR, 8, "", "pool=serve"},
    {"requeued by a change", "30", "n1", LKS_RUN_REQUEUED, MINUTE, 8, "",
     "cause=lockstep by=change:7"},
    {"a part of a job that a change requeued", "30+1", "n1", LKS_RUN_REQUEUED, MINUTE, 8, "",
     "cause=lockstep by=change:7"},
    {"it completed before", "30", "n1", LKS_RUN_COMPLETED, MINUTE, 8, "", ""},
    {"the node failed before", "30", "n1", LKS_RUN_NODE_FAIL, MINUTE, 8, "n1", "cause=node by=n1"},
    {"requeued by another", "31", "n1", LKS_RUN_REQUEUED, MINUTE, 8, "", "cause=requeue"},
    {"requeued from a node that is down", "31", "n[1-2]", LKS_RUN_REQUEUED, MINUTE, 8, "n2",
     "cause=node by=n2"},
    {"failed on a node that is down", "31", "n1", LKS_RUN_FAILED, MINUTE, 8, "n1",
     "cause=node by=n1"},
    {"failed by itself", "31", "n1", LKS_RUN_FAILED, MINUTE, 8, "", ""},
    {"cancelled beside a node that is down", "31", "n1", LKS_RUN_CANCELLED, MINUTE, 8, "n1", ""},
    {"cancelled after an hour", "31", "n1", LKS_RUN_CANCELLED, HOUR, 8, "", "cause=cancel"},
    {"preempted", "31", "n1", LKS_RUN_PREEMPTED, MINUTE, 8, "", "cause=preemption"},
    {"out of time", "31", "n1", LKS_RUN_TIMEOUT, HOUR, 8, "", "cause=limit"},
    {"out of memory", "31", "n1", LKS_RUN_OUT_OF_MEMORY, HOUR, 8, "", "cause=memory"},
    {"a node did not boot", "31", "n1", LKS_RUN_BOOT_FAIL, MINUTE, 8, "", "cause=node"},
    {"nothing is known of its end", "31", "n1", LKS_RUN_UNKNOWN, HOUR, 8, "",
     "state=unknown gpu_ms=28800000 cause=itself"},
};

static void test_kinds(void)
{
    for (size_t i = 0; i < LKS_COUNT(kinds); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct lks_sched_run run = {.place = {.id = lks_str_from(kinds[i].job)},
                                    .user = LKS_STR("kim"),
                                    .nodes = lks_str_from(kinds[i].nodes),
                                    .down = lks_str_from(kinds[i].down),
                                    .state = kinds[i].state,
                                    .gpus = kinds[i].gpus,
                                    .started = T0,
                                    .ended = T0 + kinds[i].took};
        lks_test_case("%s", kinds[i].name);
        begin(&a);
        (void)answer(&a, NULL, 0, T0);
        struct lks_str told = answer(&a, &run, 1, run.ended + SECOND);
        CHECK_HAS(told, kinds[i].told);
        CHECK_INT(a.state.runs.count, kinds[i].told[0] != '\0');
        if (kinds[i].told[0] == '\0' && !CHECK(told.len == 0 || kinds[i].took >= HOUR))
            printf("%.*s\n", LKS_STR_ARG(told));
    }
}

/* Places ------------------------------------------------------------------------------------- */

static struct lks_sched_run long_run(const char *job, lks_ms ended)
{
    return (struct lks_sched_run){.place = {.id = lks_str_from(job)},
                                  .user = LKS_STR("kim"),
                                  .nodes = LKS_STR("n1"),
                                  .state = LKS_RUN_COMPLETED,
                                  .started = ended - HOUR,
                                  .ended = ended};
}

/* An answer that comes twice, late or to another leader changes nothing. */
static void test_answers_again(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_sched_run run = long_run("1", T0 + HOUR);
    struct lks_sched_runs runs = {.until = T0 + HOUR + SECOND, .items = &run, .count = 1};
    struct lks_event event = {
        .kind = LKS_EVENT_RUNS,
        .runs = {.site = LKS_STR("oslo"), .sched = LKS_STR("slurm"), .runs = &runs}};
    begin(&a);
    run.place.at = run.ended;
    runs.last = run.place;
    CHECK_HAS(lks_asked(&a, &event), "job-ended job=1");
    CHECK_INT(lks_decide_runs_after(&a.state, LKS_STR("oslo"), LKS_STR("slurm")).at, runs.until);
    CHECK_STR(lks_asked(&a, &event), "");
    event.runs.after = (struct lks_sched_runs_place){T0, LKS_STR("1")};
    CHECK_STR(lks_asked(&a, &event), "");
    CHECK_INT(a.state.runs.count, 1);
    /* A requeue that both bridges of the site noticed, at different moments. */
    event.runs.after = lks_decide_runs_after(&a.state, LKS_STR("oslo"), LKS_STR("slurm"));
    run.place.at = runs.until + SECOND;
    runs.until += 2 * SECOND;
    CHECK(lks_str_find(lks_asked(&a, &event), LKS_STR("job-")) < 0);
    CHECK_INT(a.state.runs.count, 1);
}

static void test_pages(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_sched_run run = long_run("1", T0 + HOUR);
    struct lks_sched_runs runs = {.until = T0 + 2 * HOUR,
                                  .items = &run,
                                  .count = 1,
                                  .more = true,
                                  .last = {T0 + HOUR, LKS_STR("1")}};
    struct lks_event event = {
        .kind = LKS_EVENT_RUNS,
        .runs = {.site = LKS_STR("oslo"), .sched = LKS_STR("slurm"), .runs = &runs}};
    begin(&a);
    run.place.at = run.ended;
    CHECK_HAS(lks_asked(&a, &event), "runs-read site=oslo sched=slurm at=1795003600000 job=1");
    struct lks_sched_runs_place after =
        lks_decide_runs_after(&a.state, LKS_STR("oslo"), LKS_STR("slurm"));
    CHECK_INT(after.at, T0 + HOUR);
    CHECK_STR(after.id, "1");
}

/* What a bridge may say of its end: the place of the state never falls, and is never before a run
 * that was counted. */
static const struct {
    const char *name;
    lks_ms until, last; /* last: 0: no run */
    bool more;
    lks_ms at;
} ends[] = {
    {"behind the runs", T0 + 3 * HOUR, T0 + 2 * HOUR, false, T0 + 3 * HOUR},
    {"behind the first runs", T0 + 3 * HOUR, T0 + 2 * HOUR, true, T0 + 2 * HOUR},
    {"before a run that it has", T0 + 2 * HOUR, T0 + 3 * HOUR, false, T0 + 3 * HOUR},
    {"others behind none", T0 + 3 * HOUR, 0, true, T0 + HOUR},
    {"others behind none, a little before", T0 + HOUR - SECOND, 0, true, T0 + HOUR},
};

static void test_ends(void)
{
    for (size_t i = 0; i < LKS_COUNT(ends); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct lks_sched_run run = long_run("1", ends[i].last);
        struct lks_sched_runs runs = {.until = ends[i].until, .more = ends[i].more, .items = &run};
        lks_test_case("%s", ends[i].name);
        begin(&a);
        (void)answer(&a, NULL, 0, T0 + HOUR);
        const struct lks_event event = {.kind = LKS_EVENT_RUNS,
                                        .runs = {.site = LKS_STR("oslo"),
                                                 .sched = LKS_STR("slurm"),
                                                 .after = {T0 + HOUR, LKS_STR("")},
                                                 .runs = &runs}};
        if (ends[i].last != 0) {
            run.place.at = ends[i].last;
            runs.last = run.place;
            runs.count = 1;
        }
        (void)lks_asked(&a, &event);
        CHECK_INT(lks_decide_runs_after(&a.state, LKS_STR("oslo"), LKS_STR("slurm")).at,
                  ends[i].at);
    }
}

/* What the bridge dropped, and a clock that was set back. */
static const struct {
    const char *name;
    lks_ms from, until;
    const char *told;
} gaps[] = {
    {"nothing is missing", T0, T0 + 2 * HOUR, "runs-read site=oslo sched=slurm at=1795007200000\n"},
    {"the bridge started later", T0 + HOUR + 1, T0 + 2 * HOUR,
     "at=1795007200000 missing_from=1795003600000 missing_until=1795003600001\n"},
    {"the clock was set back", T0, T0 + MINUTE,
     "at=1795000060000 missing_from=1795000060000 missing_until=1795003600000\n"},
    {"the clock is a little behind", T0, T0 + HOUR - 10 * SECOND, ""},
};

static void test_gaps(void)
{
    for (size_t i = 0; i < LKS_COUNT(gaps); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct lks_sched_runs runs = {.from = gaps[i].from, .until = gaps[i].until};
        lks_test_case("%s", gaps[i].name);
        begin(&a);
        (void)answer(&a, NULL, 0, T0 + HOUR);
        const struct lks_event event = {.kind = LKS_EVENT_RUNS,
                                        .runs = {.site = LKS_STR("oslo"),
                                                 .sched = LKS_STR("slurm"),
                                                 .after = {T0 + HOUR, LKS_STR("")},
                                                 .runs = &runs}};
        struct lks_str told = lks_asked(&a, &event);
        CHECK_HAS(told, gaps[i].told);
        CHECK(gaps[i].told[0] != '\0' || told.len == 0);
    }
}

/* Many ---------------------------------------------------------------------------------------- */

/* `count` runs of one minute each that end within a second. */
static void fill(struct lks_sched_run *items, uint32_t count, const char *before, uint32_t users,
                 lks_ms ended)
{
    static char ids[RUNS_MAX][24], names[RUNS_MAX][16];
    for (uint32_t i = 0; i < count; i++) {
        snprintf(ids[i], sizeof(ids[i]), "%s%u", before, (unsigned)i);
        snprintf(names[i], sizeof(names[i]), "u%u", (unsigned)(i % users));
        items[i] = (struct lks_sched_run){.place = {.id = lks_str_from(ids[i])},
                                          .user = lks_str_from(names[i]),
                                          .nodes = LKS_STR("n1"),
                                          .state = LKS_RUN_COMPLETED,
                                          .gpus = 2,
                                          .started = ended - MINUTE,
                                          .ended = ended};
    }
}

static uint64_t counted(const struct lks_asked *a)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < a->state.runs.count; i++)
        count += a->state.runs.list[i].count;
    return count;
}

/* Short runs wait for others, and become one row for a user. */
static void test_together(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    static struct lks_sched_run items[RUNS_MAX];
    begin(&a);
    (void)answer(&a, NULL, 0, T0);
    fill(items, 100, "", 2, T0 + 30 * MINUTE);
    items[99].state = LKS_RUN_FAILED;
    CHECK_STR(answer(&a, items, 100, T0 + 30 * MINUTE + SECOND), "");
    CHECK_STR(answer(&a, items, 100, T0 + 30 * MINUTE + 9 * MINUTE), "");
    struct lks_str told = answer(&a, items, 100, T0 + 30 * MINUTE + 10 * MINUTE);
    CHECK_HAS(told,
              "job-batch site=oslo sched=slurm user=u0 pool=train state=completed cause=itself "
              "count=50 gpu_ms=6000000 started=1795001740000 ended=1795001800000\n");
    CHECK_HAS(told, "user=u1 pool=train state=completed cause=itself count=49");
    CHECK_HAS(told, "user=u1 pool=train state=failed cause=itself count=1");
    CHECK_INT(a.state.runs.count, 3);
    CHECK_INT(counted(&a), 100);
}

static void test_bounded(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    static struct lks_sched_run items[RUNS_MAX];
    begin(&a);
    (void)answer(&a, NULL, 0, T0);
    lks_test_case("tasks of an array");
    fill(items, LKS_SCHED_RUNS_PAGE, "77_", 1, T0 + HOUR);
    CHECK_HAS(answer(&a, items, LKS_SCHED_RUNS_PAGE, T0 + HOUR + 10 * MINUTE),
              "job-batch job=77 site=oslo sched=slurm user=u0 pool=train state=completed "
              "cause=itself count=500 ");
    CHECK_INT(a.state.runs.count, 1);
    lks_test_case("many users");
    fill(items, LKS_SCHED_RUNS_PAGE, "", LKS_SCHED_RUNS_PAGE, T0 + 2 * HOUR);
    (void)answer(&a, items, LKS_SCHED_RUNS_PAGE, T0 + 2 * HOUR + 10 * MINUTE);
    CHECK(a.state.runs.count <= 1 + LKS_RUNS_GROUPS);
    CHECK_INT(counted(&a), 2 * LKS_SCHED_RUNS_PAGE);
    lks_test_case("more long runs than a pool may have rows for in an hour");
    fill(items, RUNS_MAX, "9", 1, T0 + 4 * HOUR);
    for (uint32_t i = 0; i < RUNS_MAX; i++)
        items[i].started -= HOUR;
    uint32_t before = a.state.runs.count;
    (void)answer(&a, items, RUNS_MAX, T0 + 4 * HOUR + SECOND);
    CHECK_INT(a.state.runs.count, before + LKS_RUNS_OWN_HOUR + 1);
    CHECK_INT(counted(&a), 2 * LKS_SCHED_RUNS_PAGE + RUNS_MAX);
}

/* The pool has had all rows of their own of this hour. */
static void use_up(struct lks_asked *a, struct lks_sched_run *items, const char *nodes,
                   lks_ms ended)
{
    fill(items, LKS_RUNS_OWN_HOUR, nodes, 1, ended);
    for (uint32_t i = 0; i < LKS_RUNS_OWN_HOUR; i++) {
        items[i].nodes = lks_str_from(nodes);
        items[i].started -= HOUR;
    }
    uint32_t before = a->state.runs.count;
    (void)answer(a, items, LKS_RUNS_OWN_HOUR, ended + SECOND);
    CHECK_INT(a->state.runs.count, before + LKS_RUNS_OWN_HOUR);
}

/* Runs that are counted together for want of rows are interrupted all the same. */
static void test_interrupted_together(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    static struct lks_sched_run items[RUNS_MAX];
    begin(&a);
    (void)answer(&a, NULL, 0, T0);
    use_up(&a, items, "n1", T0 + HOUR);
    fill(items, 100, "5", 1, T0 + HOUR + MINUTE);
    for (uint32_t i = 0; i < 100; i++) {
        items[i].state = i < 90 ? LKS_RUN_CANCELLED : LKS_RUN_REQUEUED;
        items[i].down = i < 95 ? LKS_STR("") : LKS_STR("n1");
        if (i < 30) {
            items[i].place.id = LKS_STR("30");
            items[i].started = T0;
        }
    }
    struct lks_str told = answer(&a, items, 100, T0 + HOUR + 11 * MINUTE);
    CHECK_HAS(told, "state=cancelled cause=lockstep count=30 ");
    CHECK_HAS(told, "state=cancelled cause=cancel count=60 ");
    CHECK_HAS(told, "state=requeued cause=requeue count=5 ");
    CHECK_HAS(told, "state=requeued cause=node count=5 ");
    uint64_t interrupted = 0;
    for (uint32_t i = 0; i < a.state.runs.count; i++) {
        const struct lks_run *run = &a.state.runs.list[i];
        interrupted += lks_runs_interrupted(run->cause) ? run->count : 0;
    }
    CHECK_INT(interrupted, 40);
}

/* All pairs of a state and a cause. */
static const struct {
    enum lks_run_state state;
    enum lks_run_cause cause;
} pairs[] = {
    {LKS_RUN_COMPLETED, LKS_RUN_ITSELF},        {LKS_RUN_FAILED, LKS_RUN_ITSELF},
    {LKS_RUN_FAILED, LKS_RUN_BY_NODE},          {LKS_RUN_FAILED, LKS_RUN_BY_LOCKSTEP},
    {LKS_RUN_CANCELLED, LKS_RUN_BY_CANCEL},     {LKS_RUN_CANCELLED, LKS_RUN_BY_LOCKSTEP},
    {LKS_RUN_TIMEOUT, LKS_RUN_BY_LIMIT},        {LKS_RUN_NODE_FAIL, LKS_RUN_BY_NODE},
    {LKS_RUN_PREEMPTED, LKS_RUN_BY_PREEMPTION}, {LKS_RUN_PREEMPTED, LKS_RUN_BY_LOCKSTEP},
    {LKS_RUN_OUT_OF_MEMORY, LKS_RUN_BY_MEMORY}, {LKS_RUN_OUT_OF_MEMORY, LKS_RUN_BY_LOCKSTEP},
    {LKS_RUN_BOOT_FAIL, LKS_RUN_BY_NODE},       {LKS_RUN_DEADLINE, LKS_RUN_BY_LIMIT},
    {LKS_RUN_DEADLINE, LKS_RUN_BY_LOCKSTEP},    {LKS_RUN_REQUEUED, LKS_RUN_BY_REQUEUE},
    {LKS_RUN_REQUEUED, LKS_RUN_BY_NODE},        {LKS_RUN_REQUEUED, LKS_RUN_BY_LOCKSTEP},
    {LKS_RUN_UNKNOWN, LKS_RUN_ITSELF},          {LKS_RUN_UNKNOWN, LKS_RUN_BY_NODE},
    {LKS_RUN_UNKNOWN, LKS_RUN_BY_LOCKSTEP},
};

static void make_pair(struct lks_sched_run *run, size_t pair)
{
    run->state = pairs[pair].state;
    if (pairs[pair].cause == LKS_RUN_BY_NODE)
        run->down = LKS_STR("n1");
    if (pairs[pair].cause == LKS_RUN_BY_LOCKSTEP) {
        run->place.id = LKS_STR("30");
        run->started = T0;
    }
}

/* The first users take half of the groups, and the pairs of two pools the others: each pair is
 * counted, with and without its pool. */
static void test_pairs(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    static struct lks_sched_run items[RUNS_MAX];
    enum { USERS = LKS_RUNS_GROUPS / 2, COUNT = USERS + 2 * LKS_COUNT(pairs) };
    begin(&a);
    (void)answer(&a, NULL, 0, T0);
    use_up(&a, items, "n1", T0 + HOUR);
    use_up(&a, items, "m1", T0 + HOUR + MINUTE);
    fill(items, COUNT, "5", COUNT, T0 + HOUR + 2 * MINUTE);
    for (uint32_t i = USERS; i < COUNT; i++) {
        items[i].nodes = i < USERS + LKS_COUNT(pairs) ? LKS_STR("n1") : LKS_STR("m1");
        make_pair(&items[i], (i - USERS) % LKS_COUNT(pairs));
    }
    uint32_t before = a.state.runs.count;
    (void)answer(&a, items, COUNT, T0 + HOUR + 12 * MINUTE);
    CHECK_INT(a.state.runs.count - before, LKS_RUNS_GROUPS);
    for (size_t k = 0; k < LKS_COUNT(pairs); k++) {
        uint64_t count = 0;
        lks_test_case("%s by %s", lks_run_state_words[pairs[k].state],
                      lks_run_cause_words[pairs[k].cause]);
        for (uint32_t i = before; i < a.state.runs.count; i++) {
            const struct lks_run *run = &a.state.runs.list[i];
            if (run->state == pairs[k].state && run->cause == pairs[k].cause)
                count += run->count;
        }
        CHECK_INT(count, 2 + (k == 0 ? USERS : 0));
    }
}

/* GPUs and times of a bridge that makes them up. */
static void test_numbers(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    static struct lks_sched_run items[RUNS_MAX];
    begin(&a);
    (void)answer(&a, NULL, 0, T0);
    fill(items, RUNS_MAX, "", 1, LKS_TIME_MAX);
    for (uint32_t i = 0; i < RUNS_MAX; i++) {
        items[i].started = 0;
        items[i].gpus = UINT32_MAX - 1;
    }
    struct lks_str told = answer(&a, items, RUNS_MAX, LKS_TIME_MAX);
    CHECK_HAS(told, "ended=253402300799999 state=completed gpu_ms=9223372036854775807");
    CHECK_HAS(told, "state=completed cause=itself count=400 gpu_ms=9223372036854775807");
}

/* A million short jobs in a day are some thousands of rows. */
static void test_a_million(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    static struct lks_sched_run items[LKS_SCHED_RUNS_PAGE];
    uint64_t records = 0, jobs = 0;
    begin(&a);
    (void)answer(&a, NULL, 0, T0);
    for (uint32_t i = 0; jobs < 1000000; i++) {
        lks_ms ended = T0 + (i + 1) * 43 * SECOND; /* 500 of them in 43 s */
        fill(items, LKS_SCHED_RUNS_PAGE, "", 1, ended);
        struct lks_sched_runs runs = {
            .until = ended + SECOND, .items = items, .count = LKS_SCHED_RUNS_PAGE, .more = true};
        const struct lks_event event = {
            .kind = LKS_EVENT_RUNS,
            .runs = {.site = LKS_STR("oslo"),
                     .sched = LKS_STR("slurm"),
                     .after = lks_decide_runs_after(&a.state, LKS_STR("oslo"), LKS_STR("slurm")),
                     .runs = &runs}};
        for (uint32_t k = 0; k < LKS_SCHED_RUNS_PAGE; k++)
            items[k].place.at = ended;
        runs.last = items[LKS_SCHED_RUNS_PAGE - 1].place;
        records += lks_str_count(lks_asked(&a, &event), '\n');
        jobs += LKS_SCHED_RUNS_PAGE;
    }
    CHECK_INT(records, 4000); /* two for each page */
    CHECK_INT(counted(&a), jobs);
}

/* The state keeps the newest. */
static void test_dropped(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    for (uint32_t i = 0; i <= LKS_STATE_RUNS_MAX; i++) {
        char user[16];
        snprintf(user, sizeof(user), "u%u", (unsigned)i);
        const struct lks_record r = {.kind = LKS_RECORD_JOB_BATCH,
                                     .job_batch = {.user = lks_str_from(user), .count = 1}};
        lks_asked_apply(&a, &r);
    }
    const struct lks_runs *runs = &a.state.runs;
    CHECK_INT(runs->count, LKS_STATE_RUNS_MAX - LKS_STATE_RUNS_MAX / 4 + 1);
    CHECK_INT(runs->list[0].id, LKS_STATE_RUNS_MAX / 4 + 1);
    CHECK_INT(runs->list[runs->count - 1].id, LKS_STATE_RUNS_MAX + 1);
    CHECK_STR(lks_state_text(&a.state, runs->list[runs->count - 1].user), "u20000");
}

/* A run of a list that lost its oldest rows is found, and recorded once. */
static void test_found(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    char job[16];
    struct lks_record r = {.kind = LKS_RECORD_JOB_ENDED, .job_ended = {.site = LKS_STR("oslo")}};
    begin(&a);
    for (uint32_t i = 0; i <= LKS_STATE_RUNS_MAX; i++) {
        snprintf(job, sizeof(job), "%u", (unsigned)(i / 2));
        r.job_ended.job = lks_str_from(job);
        r.job_ended.started = T0 + (i % 2) * HOUR; /* each job ran twice */
        lks_asked_apply(&a, &r);
        if (i % 64 == 0)
            lks_asked_apply(&a, &r);
    }
    const struct lks_runs *runs = &a.state.runs;
    CHECK_INT(runs->count, LKS_STATE_RUNS_MAX - LKS_STATE_RUNS_MAX / 4 + 1);
    for (uint32_t i = 0; i < runs->count; i++) {
        const struct lks_run *run = &runs->list[i];
        CHECK(lks_runs_find(&a.state, LKS_STR("oslo"), lks_state_text(&a.state, run->job),
                            run->started) == run);
    }
    CHECK(lks_runs_find(&a.state, LKS_STR("oslo"), LKS_STR("0"), T0) == NULL);
    CHECK(lks_runs_find(&a.state, LKS_STR("bergen"), LKS_STR("9000"), T0) == NULL);
    CHECK(lks_runs_find(&a.state, LKS_STR("oslo"), LKS_STR("9000"), T0 + 1) == NULL);
}

/* There is a place for each scheduler that is asked: the one that is not asked any more goes. */
static void test_places(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    char site[16];
    begin(&a);
    (void)answer(&a, NULL, 0, T0);
    for (uint32_t i = 0; i < LKS_STATE_RUNS_PLACES_MAX; i++) {
        snprintf(site, sizeof(site), "s%u", (unsigned)i);
        const struct lks_record r = {.kind = LKS_RECORD_RUNS_READ,
                                     .runs_read = {.site = lks_str_from(site),
                                                   .sched = LKS_STR("slurm"),
                                                   .at = T0 + i + 1,
                                                   .job = lks_str_from(site)}};
        a.now.wall += SECOND;
        lks_asked_apply(&a, &r);
    }
    CHECK_INT(a.state.runs.place_count, LKS_STATE_RUNS_PLACES_MAX);
    CHECK(lks_runs_place(&a.state, LKS_STR("oslo"), LKS_STR("slurm")) == NULL);
    CHECK_INT(lks_decide_runs_after(&a.state, LKS_STR("s0"), LKS_STR("slurm")).at, T0 + 1);
    CHECK_INT(lks_decide_runs_after(&a.state, LKS_STR("s255"), LKS_STR("slurm")).at, T0 + 256);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"runs and their causes", test_kinds},
        {"answers that come again", test_answers_again},
        {"pages", test_pages},
        {"ends of answers", test_ends},
        {"gaps", test_gaps},
        {"runs that are counted together", test_together},
        {"bounds", test_bounded},
        {"interrupted runs that are counted together", test_interrupted_together},
        {"pairs of a state and a cause", test_pairs},
        {"a million jobs", test_a_million},
        {"old rows are dropped", test_dropped},
        {"rows are found", test_found},
        {"places", test_places},
        {"numbers", test_numbers},
        {0},
    };
    return lks_test_main(tests);
}
