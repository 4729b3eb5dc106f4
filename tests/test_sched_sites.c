/*
 * When a site's jobs are listed: a table of what happens one after the other, and whether the list
 * is asked for then; and requests about jobs, which are given out once.
 */
#include "core/actions/sched_sites.h"
#include "core/state/state.h"
#include "tests/facts.h"
#include "tests/fleet.h"
#include "tests/test.h"

enum happens {
    NOTHING,
    DRAIN,   /* lockstep drains a node of the site */
    UNDRAIN, /* and does not any more */
    ASK,     /* a person asks for the jobs */
    LISTED,  /* a list comes */
    FAILS,   /* none does */
    UNASKED, /* nothing that was found due last left lockstepd */
};

struct step {
    enum happens happens;
    lks_ms after; /* this long after the step before */
    bool lists;   /* then the list is asked for */
};

#define STEPS_MAX 10

static const struct {
    const char *name;
    struct step steps[STEPS_MAX]; /* ends with one that has neither event nor time */
} stories[] = {
    {"no reader wants the jobs", {{NOTHING, 1, false}, {NOTHING, 100 * LKS_SECOND, false}}},
    {"while a node drains, each half minute",
     {{DRAIN, LKS_SCHED_SITES_SCAN, true},
      {NOTHING, LKS_SECOND, false},
      {LISTED, 1, false},
      {NOTHING, LKS_SCHED_SITES_LIST - 1, false},
      {NOTHING, 2, true},
      {LISTED, 1, false},
      {UNDRAIN, LKS_SCHED_SITES_LIST + LKS_SCHED_SITES_SCAN, false}}},
    {"a person asks, and for a minute there is a list",
     {{ASK, 1, true},
      {LISTED, 1, false},
      {NOTHING, LKS_SCHED_SITES_LIST, true},
      {LISTED, 1, false},
      {NOTHING, LKS_SCHED_SITES_ASKED, false},
      {ASK, 1, true}}},
    {"a failure is repeated ever later",
     {{DRAIN, LKS_SCHED_SITES_SCAN, true},
      {FAILS, 1, false},
      {NOTHING, LKS_SCHED_SITES_LIST, true},
      {FAILS, 1, false},
      {NOTHING, LKS_SCHED_SITES_LIST, false},
      {NOTHING, LKS_SCHED_SITES_LIST, true},
      {LISTED, 1, false},
      {NOTHING, LKS_SCHED_SITES_LIST, true}}},
    {"what never left is asked at once",
     {{DRAIN, LKS_SCHED_SITES_SCAN, true}, {UNASKED, 1, true}, {LISTED, 1, false}}},
    {"but not what left before",
     {{DRAIN, LKS_SCHED_SITES_SCAN, true}, {NOTHING, 1, false}, {UNASKED, 1, false}}},
    {"a conversation that is never over is given up",
     {{DRAIN, LKS_SCHED_SITES_SCAN, true}, {NOTHING, 600 * LKS_SECOND, true}}},
};

static void set_up(struct lks_asked *a)
{
    lks_asked_init(a);
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_POOL,
                                            .pool = {.name = LKS_STR("train"),
                                                     .posture = LKS_STR("pre-training"),
                                                     .enforce = LKS_STR("observe"),
                                                     .sched = LKS_STR("slurm")}});
    lks_fleet_place(a, "g1", "train");
    lks_fleet_place(a, "g2", "train");
}

static void drain(struct lks_asked *a, bool drained)
{
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_UNDRAINED,
         .undrained = {.node = LKS_STR("g1"),
                       .owner = LKS_STR("change:17"),
                       .reason = LKS_STR("done")}},
        {.kind = LKS_RECORD_DRAINED,
         .drained = {.node = LKS_STR("g1"),
                     .owner = LKS_STR("change:17"),
                     .reason = LKS_STR("why")}},
    };
    lks_asked_apply(a, &records[drained]);
}

/* The site of the fleet's nodes. */
static struct lks_str site_of(const struct lks_asked *a)
{
    return lks_state_text(&a->state, a->state.nodes[lks_fleet_node(a, "g1")].site);
}

static void happen(struct lks_asked *a, struct lks_sched_sites *b, enum happens what, lks_ms mono)
{
    struct lks_now now = {.wall = 1000000 + mono, .mono = mono};
    struct lks_sched_jobs jobs = {0};
    struct lks_err err = {0};
    if (what == DRAIN || what == UNDRAIN)
        drain(a, what == DRAIN);
    else if (what == ASK)
        CHECK_CODE(lks_sched_sites_ask(b, site_of(a), LKS_STR("slurm"), mono, &err), LKS_OK);
    else if (what == FAILS)
        lks_sched_sites_failed(b, site_of(a), LKS_STR("slurm"), "no route", now, 1);
    else if (what == UNASKED)
        lks_sched_sites_unasked(b, b->searches);
    else if (what == LISTED) {
        CHECK_CODE(lks_sched_jobs_read(LKS_STR("{\"age\":7,\"jobs\":[]}"), &jobs, &err), LKS_OK);
        lks_sched_sites_listed(b, site_of(a), LKS_STR("slurm"), &jobs, now, 1);
    }
}

static void test_order(void)
{
    for (size_t i = 0; i < LKS_COUNT(stories); i++) {
        struct lks_asked a;
        struct lks_sched_sites b = {0};
        lks_ms mono = 1;
        set_up(&a);
        for (size_t j = 0; j < STEPS_MAX; j++) {
            const struct step *step = &stories[i].steps[j];
            LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = 1 << 16};
            struct lks_sched_site_due due[4];
            struct lks_err err = {0};
            uint32_t count = 0;
            if (step->happens == NOTHING && step->after == 0)
                break;
            lks_test_case("%s, step %zu", stories[i].name, j);
            mono += step->after;
            happen(&a, &b, step->happens, mono);
            b.searches++; /* as the search for nodes does, which comes first */
            CHECK_CODE(lks_sched_sites_due(&b, &a.state, mono, 4, &arena, due, &count, &err),
                       LKS_OK);
            CHECK_INT(count, step->lists);
            if (count > 0)
                CHECK(due[0].wish.verb == LKS_SCHED_SITE_JOBS && lks_str_is(due[0].sched, "slurm"));
        }
        lks_sched_sites_fini(&b);
        lks_asked_fini(&a);
    }
}

/* The last list stays when the next one does not come. */
static void test_list(void)
{
    struct lks_asked a;
    struct lks_sched_sites b = {0};
    set_up(&a);
    happen(&a, &b, ASK, 1);
    CHECK(lks_sched_sites_jobs(&b, site_of(&a), LKS_STR("slurm")) == NULL);
    happen(&a, &b, LISTED, 100);
    happen(&a, &b, FAILS, 200);
    const struct lks_sched_jobs *jobs = lks_sched_sites_jobs(&b, site_of(&a), LKS_STR("slurm"));
    CHECK(jobs != NULL && lks_sched_jobs_age(jobs, 1000100) == 7);
    const struct lks_sched_site *site = lks_sched_sites_find(&b, site_of(&a), LKS_STR("slurm"));
    CHECK_INT(site->failures, 1);
    CHECK_INT(site->turn, 1);
    CHECK_INT(site->failing_since, 1000200);
    CHECK_STR(lks_str_from(site->trouble), "no route");
    happen(&a, &b, LISTED, 300);
    CHECK_INT(site->failing_since, 0);
    CHECK(lks_sched_sites_jobs(&b, site_of(&a), LKS_STR("simulated")) == NULL);
    lks_sched_sites_fini(&b);
    lks_asked_fini(&a);
}

static void test_orders(void)
{
    struct lks_asked a;
    struct lks_sched_sites b = {0};
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = 1 << 16};
    struct lks_sched_site_due due[2];
    struct lks_err err = {0};
    uint32_t count = 0;
    char job[] = "1";
    set_up(&a);
    for (int i = 0; i < LKS_SCHED_SITES_ORDERS; i++) {
        job[0] = (char)('1' + i % 9);
        const struct lks_sched_site_wish wish = {.verb = LKS_SCHED_SITE_SIGNAL,
                                                 .job = lks_str_from(job),
                                                 .signal = LKS_STR("USR1"),
                                                 .started = 1000 + (uint64_t)i,
                                                 .tag = (uint64_t)i};
        CHECK_CODE(lks_sched_sites_order(&b, LKS_STR("oslo"), LKS_STR("slurm"), &wish, &err),
                   LKS_OK);
    }
    const struct lks_sched_site_wish again = {
        .verb = LKS_SCHED_SITE_SIGNAL, .job = LKS_STR("1"), .signal = LKS_STR("USR1")};
    CHECK_CODE(lks_sched_sites_order(&b, LKS_STR("oslo"), LKS_STR("slurm"), &again, &err), LKS_OK);
    CHECK_INT(b.items[0]->order_count, LKS_SCHED_SITES_ORDERS); /* it waits already */
    const struct lks_sched_site_wish more = {.verb = LKS_SCHED_SITE_REQUEUE, .job = LKS_STR("9")};
    CHECK_CODE(lks_sched_sites_order(&b, LKS_STR("oslo"), LKS_STR("slurm"), &more, &err),
               LKS_E_LIMIT);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_CODE(lks_sched_sites_due(&b, &a.state, 1, 2, &arena, due, &count, &err), LKS_OK);
        CHECK_INT(count, 2);
        CHECK_INT(due[0].wish.tag, 2 * i);
        CHECK_INT(due[1].wish.tag, 2 * i + 1);
        CHECK_STR(due[1].site, "oslo");
        CHECK_STR(due[1].wish.signal, "USR1");
        CHECK_INT(due[1].wish.started, 1001 + 2 * i);
        CHECK(due[1].wish.job.len == 1 && due[1].wish.job.ptr[0] == (char)('2' + 2 * i));
    }
    CHECK_CODE(lks_sched_sites_order(&b, LKS_STR("oslo"), LKS_STR("slurm"), &more, &err), LKS_OK);
    lks_sched_sites_fini(&b); /* those that wait are gone with it */
    lks_asked_fini(&a);
}

/* Runs that ended are asked for without a reason, as soon as the site is known. */
static const struct {
    const char *name;
    struct {
        char what; /* f: they did not come, c: they came, m: there are more, u: nothing left */
        lks_ms after;
        bool asked; /* they are due then */
        bool news;
    } steps[STEPS_MAX]; /* ends with one without a time */
} runs[] = {
    {"every ten seconds",
     {{'-', 1, true, false},
      {'c', 1, false, false},
      {'-', LKS_SCHED_SITES_RUNS - 1, false, false},
      {'-', 2, true, false}}},
    {"at once where there are more", {{'-', 1, true, false}, {'m', 1, true, false}}},
    {"a failure is repeated ever later, and is news once",
     {{'-', 1, true, false},
      {'f', 1, false, true},
      {'-', LKS_SCHED_SITES_RUNS, true, false},
      {'f', 1, false, false},
      {'-', LKS_SCHED_SITES_RUNS, false, false},
      {'-', LKS_SCHED_SITES_RUNS, true, false},
      {'c', 1, false, true},
      {'-', LKS_SCHED_SITES_RUNS, true, false}}},
    {"what never left is asked at once", {{'-', 1, true, false}, {'u', 1, true, false}}},
    {"a conversation that is never over is given up",
     {{'-', 1, true, false}, {'-', 600 * LKS_SECOND, true, false}}},
};

static bool runs_happen(const struct lks_asked *a, struct lks_sched_sites *b, char what,
                        lks_ms mono)
{
    const struct lks_err good = {0}, bad = {.code = LKS_E_UNAVAILABLE, .msg = "no route"};
    const struct lks_now now = {.wall = 1000000 + mono, .mono = mono};
    if (what == 'u')
        lks_sched_sites_unasked(b, b->searches);
    return (what == 'f' || what == 'c' || what == 'm') &&
           lks_sched_sites_runs_told(b, site_of(a), LKS_STR("slurm"), what == 'f' ? &bad : &good,
                                     what == 'm', now, 1);
}

static void test_runs(void)
{
    for (size_t i = 0; i < LKS_COUNT(runs); i++) {
        struct lks_asked a;
        struct lks_sched_sites b = {0};
        struct lks_sched_site_due due[4];
        struct lks_err err = {0};
        uint32_t count = 0;
        lks_ms mono = 1;
        set_up(&a);
        lks_asked_apply(&a, &(struct lks_record){.kind = LKS_RECORD_RUNS_READ,
                                                 .runs_read = {.site = site_of(&a),
                                                               .sched = LKS_STR("slurm"),
                                                               .at = 77,
                                                               .job = LKS_STR("17+1")}});
        for (size_t k = 0; k < STEPS_MAX && runs[i].steps[k].after > 0; k++) {
            LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = 1 << 16};
            lks_test_case("%s, step %zu", runs[i].name, k);
            mono += runs[i].steps[k].after;
            CHECK_INT(runs_happen(&a, &b, runs[i].steps[k].what, mono), runs[i].steps[k].news);
            b.searches++;
            CHECK_CODE(lks_sched_sites_due(&b, &a.state, mono, 4, &arena, due, &count, &err),
                       LKS_OK);
            CHECK_INT(count, 0);
            CHECK_CODE(lks_sched_sites_runs_due(&b, &a.state, mono, 4, &arena, due, &count),
                       LKS_OK);
            if (!CHECK_INT(count, runs[i].steps[k].asked) || count == 0)
                continue;
            CHECK_INT(due[0].wish.verb, LKS_SCHED_SITE_RUNS);
            CHECK_INT(due[0].wish.after.at, 77);
            CHECK_STR(due[0].wish.after.id, "17+1");
        }
        lks_sched_sites_fini(&b);
        lks_asked_fini(&a);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"when jobs are listed", test_order},
        {"the last list", test_list},
        {"requests about jobs", test_orders},
        {"when runs that ended are asked for", test_runs},
        {NULL, NULL},
    });
}
