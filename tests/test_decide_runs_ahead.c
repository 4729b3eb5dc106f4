/* Rows of runs that are recorded ahead of the place of their scheduler: other runs go on waiting,
 * and no run is counted twice or lost, whatever becomes of answers, of the controller and of old
 * rows. */
#include "base/rng.h"
#include "core/rules/decide_runs.h"
#include "core/state/runs.h"
#include "tests/fleet.h"
#include "tests/reload.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#define T0     UINT64_C(1795000000000)
#define SECOND LKS_SECOND
#define MINUTE (60 * LKS_SECOND)
#define HOUR   (60 * MINUTE)

enum { RUNS_MAX = 60000, USERS = 5 };

/* What the bridge remembers, by their ends, and what was recorded of it. */
struct world {
    struct lks_asked a;
    uint32_t count, first; /* runs; the first that is behind the last place */
    bool dry;              /* the controller stops before the records are durable */
    uint64_t own, batches, places, together;
    uint64_t users[USERS]; /* runs that are recorded */
};

static struct lks_sched_run items[RUNS_MAX];
static char ids[RUNS_MAX][12];
static const char *const users[USERS] = {"u0", "u1", "u2", "u3", "u4"};

static void begin(struct world *w)
{
    *w = (struct world){0};
    lks_asked_init(&w->a);
    w->a.now.wall = T0;
    lks_fleet_pool(&w->a, "train", "", "");
    lks_fleet_place_at(&w->a, "n[1-4]", "train", "oslo");
}

static void end_run(struct world *w, lks_ms took)
{
    uint32_t i = w->count++;
    LKS_ASSERT(i < RUNS_MAX);
    snprintf(ids[i], sizeof(ids[i]), "%u", (unsigned)(i + 1));
    items[i] = (struct lks_sched_run){.place = {w->a.now.wall, lks_str_from(ids[i])},
                                      .user = lks_str_from(users[i % USERS]),
                                      .nodes = LKS_STR("n1"),
                                      .state = LKS_RUN_COMPLETED,
                                      .started = w->a.now.wall - took,
                                      .ended = w->a.now.wall};
    w->a.now.wall++; /* each has an end of its own */
}

static void count_records(struct world *w)
{
    for (size_t i = 0; i < w->a.decision.count; i++) {
        const struct lks_record *r = &w->a.decision.records[i];
        bool batch = r->kind == LKS_RECORD_JOB_BATCH;
        struct lks_str user = batch ? r->job_batch.user : r->job_ended.user;
        w->places += r->kind == LKS_RECORD_RUNS_READ;
        if (r->kind == LKS_RECORD_RUNS_READ)
            continue;
        w->own += !batch;
        w->batches += batch;
        w->together += batch ? r->job_batch.count : 0;
        for (size_t u = 0; u < USERS; u++)
            w->users[u] += lks_str_is(user, users[u]) ? (batch ? r->job_batch.count : 1) : 0;
    }
}

/* The bridge's answer about what is behind `after`. */
static struct lks_str answer(struct world *w, struct lks_sched_runs_place after)
{
    while (w->first < w->count && lks_sched_runs_compare(items[w->first].place, after) <= 0)
        w->first++;
    struct lks_sched_runs runs = {.until = w->a.now.wall,
                                  .items = &items[w->first],
                                  .count = w->count - w->first,
                                  .from = T0};
    if (runs.count > LKS_SCHED_RUNS_PAGE) {
        runs.count = LKS_SCHED_RUNS_PAGE;
        runs.more = true;
    }
    if (runs.count > 0)
        runs.last = runs.items[runs.count - 1].place;
    const struct lks_event event = {
        .kind = LKS_EVENT_RUNS,
        .runs = {
            .site = LKS_STR("oslo"), .sched = LKS_STR("slurm"), .after = after, .runs = &runs}};
    if (w->dry)
        return lks_asked_dry(&w->a, &event);
    struct lks_str told = lks_asked(&w->a, &event);
    count_records(w);
    return told;
}

static struct lks_sched_runs_place place_of(const struct world *w)
{
    return lks_decide_runs_after(&w->a.state, LKS_STR("oslo"), LKS_STR("slurm"));
}

static struct lks_str poll(struct world *w)
{
    char id[LKS_SCHED_RUNS_ID + 1];
    struct lks_sched_runs_place after = place_of(w);
    snprintf(id, sizeof(id), "%" LKS_STR_FMT, LKS_STR_ARG(after.id));
    return answer(w, (struct lks_sched_runs_place){after.at, lks_str_from(id)});
}

/* Rows -------------------------------------------------------------------------------------- */

/* A run with its own row has it at once, and the others go on waiting. */
static void test_others_wait(void)
{
    struct world w;
    begin(&w);
    (void)poll(&w);
    w.a.now.wall += MINUTE;
    end_run(&w, MINUTE);
    end_run(&w, HOUR);
    struct lks_sched_runs_place before = place_of(&w);
    struct lks_str told = poll(&w);
    CHECK_HAS(told, "job-ended job=2 ");
    CHECK_INT(lks_str_count(told, '\n'), 1);
    CHECK_INT(place_of(&w).at, before.at);
    lks_test_case("the same answer again");
    w.a.now.wall += 10 * SECOND;
    CHECK_STR(poll(&w), "");
    lks_test_case("after a start from a snapshot");
    struct lks_state again;
    lks_test_reload(&w.a.state, &again);
    lks_state_fini(&w.a.state);
    w.a.state = again;
    CHECK_STR(poll(&w), "");
    lks_test_case("when the first has waited");
    w.a.now.wall += 10 * MINUTE;
    end_run(&w, 2 * MINUTE);
    told = poll(&w);
    CHECK_HAS(told, "job-batch site=oslo sched=slurm user=u0 ");
    CHECK_HAS(told, "runs-read site=oslo sched=slurm at=");
    CHECK(lks_str_find(told, LKS_STR("job-ended")) < 0);
    CHECK_INT(w.own, 1);
    CHECK_INT(w.together, 2);
    lks_asked_fini(&w.a);
}

/* Rows ahead of the place are bounded: with the last of them the answer is taken. */
static void test_many_ahead(void)
{
    struct world w;
    begin(&w);
    (void)poll(&w);
    end_run(&w, MINUTE);
    for (uint32_t i = 0; i < LKS_RUNS_AHEAD; i++) {
        CHECK_INT(w.together, 0);
        CHECK_INT(w.places, 1);
        end_run(&w, HOUR);
        w.a.now.wall += SECOND;
        (void)poll(&w);
    }
    CHECK_INT(w.own, LKS_RUNS_AHEAD);
    CHECK_INT(w.together, 1);
    CHECK_INT(w.places, 2);
    CHECK_INT(
        lks_runs_ahead(&w.a.state, lks_runs_place(&w.a.state, LKS_STR("oslo"), LKS_STR("slurm"))),
        0);
    lks_asked_fini(&w.a);
}

/* A day in which a run with its own row, and short runs of five users, end between any two polls.
 * Rows for those that are counted together are a few for each ten minutes, as without the former.
 */
static void test_a_steady_day(void)
{
    struct world w;
    begin(&w);
    (void)poll(&w);
    for (uint32_t i = 0; i < 8640; i++) {
        w.a.now.wall += 9 * SECOND;
        end_run(&w, HOUR);
        for (uint32_t k = 0; k < 4; k++)
            end_run(&w, MINUTE);
        w.a.now.wall += SECOND;
        (void)poll(&w);
    }
    CHECK_INT(w.own, 8640);
    CHECK(w.batches <= (uint64_t)USERS * 160);
    CHECK(w.places <= 160);
    lks_asked_fini(&w.a);
}

/* Old rows ----------------------------------------------------------------------------------- */

/* As many rows of another site as the state keeps. */
static void flood(struct world *w, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct lks_record r = {.kind = LKS_RECORD_JOB_BATCH,
                                     .job_batch = {.site = LKS_STR("bergen"),
                                                   .sched = LKS_STR("slurm"),
                                                   .user = LKS_STR("kim"),
                                                   .count = 1}};
        lks_asked_apply(&w->a, &r);
    }
}

static bool is_kept(const struct world *w, const char *job)
{
    for (uint32_t i = 0; i < w->count; i++) {
        if (strcmp(ids[i], job) == 0)
            return lks_runs_find(&w->a.state, LKS_STR("oslo"), lks_str_from(job),
                                 items[i].started) != NULL;
    }
    return false;
}

/* While the bridge is away, the state drops other rows first. */
static void test_rows_ahead_are_kept(void)
{
    struct world w;
    begin(&w);
    (void)poll(&w);
    end_run(&w, MINUTE);
    end_run(&w, HOUR);
    (void)poll(&w);
    flood(&w, 3 * LKS_STATE_RUNS_MAX);
    CHECK(is_kept(&w, "2"));
    CHECK_INT(
        lks_runs_ahead(&w.a.state, lks_runs_place(&w.a.state, LKS_STR("oslo"), LKS_STR("slurm"))),
        1);
    struct lks_state again;
    lks_test_reload(&w.a.state, &again);
    lks_state_fini(&again);
    w.a.now.wall += SECOND;
    CHECK_STR(poll(&w), "");
    w.a.now.wall += 11 * MINUTE;
    CHECK(lks_str_find(poll(&w), LKS_STR("job-ended")) < 0);
    CHECK_INT(w.own + w.together, 2);
    lks_test_case("the place is behind it");
    CHECK(is_kept(&w, "2"));
    flood(&w, LKS_STATE_RUNS_MAX);
    CHECK(!is_kept(&w, "2"));
    CHECK(w.a.state.runs.count <= LKS_STATE_RUNS_MAX);
    lks_asked_fini(&w.a);
}

/* A journal that no decision made: all rows are ahead of the place. */
static void test_all_ahead(void)
{
    struct world w;
    char job[12];
    begin(&w);
    (void)poll(&w);
    for (uint32_t i = 0; i <= LKS_STATE_RUNS_MAX; i++) {
        snprintf(job, sizeof(job), "%u", (unsigned)i);
        const struct lks_record r = {.kind = LKS_RECORD_JOB_ENDED,
                                     .job_ended = {.site = LKS_STR("oslo"),
                                                   .sched = LKS_STR("slurm"),
                                                   .job = lks_str_from(job),
                                                   .hosts = LKS_STR("n1")}};
        lks_asked_apply(&w.a, &r);
    }
    CHECK_INT(w.a.state.runs.count, LKS_STATE_RUNS_MAX - LKS_STATE_RUNS_MAX / 4 + 1);
    CHECK(lks_runs_find(&w.a.state, LKS_STR("oslo"), LKS_STR("0"), 0) == NULL);
    CHECK(lks_runs_find(&w.a.state, LKS_STR("oslo"), LKS_STR("20000"), 0) != NULL);
    lks_asked_fini(&w.a);
}

/* Anything ------------------------------------------------------------------------------------ */

static void step(struct world *w, struct lks_rng *rng, unsigned percent_long, uint32_t most)
{
    for (uint64_t n = lks_rng_below(rng, most); n > 0; n--)
        end_run(w, lks_rng_percent(rng, percent_long) ? HOUR : MINUTE);
    w->a.now.wall += lks_rng_below(rng, 20) * SECOND + 1;
    if (lks_rng_percent(rng, 1))
        w->a.now.wall += 2 * HOUR; /* the bridge is away */
    if (lks_rng_below(rng, 200) == 0)
        flood(w, LKS_STATE_RUNS_MAX / 2);
    if (lks_rng_below(rng, 200) == 0) {
        struct lks_state again;
        lks_test_reload(&w->a.state, &again);
        lks_state_fini(&w->a.state);
        w->a.state = again;
    }
    w->dry = lks_rng_percent(rng, 20);
    (void)poll(w);
    w->dry = false;
    if (lks_rng_percent(rng, 20))
        (void)poll(w); /* another answer, or the same one again */
}

static void test_any(void)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct lks_rng rng = {seed};
        struct world w;
        uint64_t want[USERS] = {0};
        lks_test_case("seed %u", (unsigned)seed);
        begin(&w);
        for (uint32_t i = 0; i < 800; i++)
            step(&w, &rng, seed % 3 == 0 ? 90 : 20, seed % 4 == 0 ? 40 : 4);
        w.a.now.wall += HOUR;
        for (uint32_t i = 0; i < 200; i++)
            (void)poll(&w);
        for (uint32_t i = 0; i < w.count; i++)
            want[i % USERS]++;
        for (size_t u = 0; u < USERS; u++)
            CHECK_INT(w.users[u], want[u]);
        CHECK_INT(w.own + w.together, w.count);
        CHECK(w.own > 0 && w.together > 0);
        lks_asked_fini(&w.a);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"other runs wait", test_others_wait},
        {"many rows ahead of a place", test_many_ahead},
        {"a steady day", test_a_steady_day},
        {"rows ahead of a place are kept", test_rows_ahead_are_kept},
        {"all rows are ahead", test_all_ahead},
        {"no run is counted twice or lost", test_any},
        {0},
    };
    return lks_test_main(tests);
}
