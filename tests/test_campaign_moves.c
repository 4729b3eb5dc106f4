/* What people say while a change runs: pause, resume, abort, roll back, freeze, in every state a
 * member can be in; and that whatever they say, it settles. */
#include "core/campaign/campaign.h"
#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/lookup.h"
#include "tests/campaigns.h"
#include "tests/test.h"

#include <stdlib.h>

#define MINUTE CAMPAIGN_MINUTE
#define HOUR   CAMPAIGN_HOUR

/* All of A or all of B, in use, and nothing of ours left on it. */
static void check_in_use(struct campaign *w, const char *node, bool b)
{
    const struct campaign_node *n = campaign_node(w, node);
    const struct lks_node *s = &w->a.state.nodes[campaign_member(w, node)->node];
    CHECK_INT(n->loaded, b);
    CHECK_INT(n->flashed, b);
    CHECK_INT(s->changing, 0);
    CHECK_INT(s->drained_by, 0);
    CHECK_INT(s->change, 0);
}

/* Moves in every state ---------------------------------------------------------------------- */

static const struct {
    uint32_t step;
    enum lks_member_state state;
} places[] = {
    {CAMPAIGN_LEAVE, LKS_MEMBER_WAITING},     {CAMPAIGN_LEAVE, LKS_MEMBER_ASKED},
    {CAMPAIGN_LEAVE, LKS_MEMBER_READING},     {CAMPAIGN_APPLY, LKS_MEMBER_WAITING},
    {CAMPAIGN_APPLY, LKS_MEMBER_ASKED},       {CAMPAIGN_REBOOT, LKS_MEMBER_WAITING},
    {CAMPAIGN_REBOOT, LKS_MEMBER_ASKED},      {CAMPAIGN_CHECK, LKS_MEMBER_WAITING},
    {CAMPAIGN_CHECK, LKS_MEMBER_ASKED},       {CAMPAIGN_CHECK, LKS_MEMBER_READING},
    {CAMPAIGN_FLASH, LKS_MEMBER_WAITING},     {CAMPAIGN_FLASH, LKS_MEMBER_ASKED},
    {CAMPAIGN_CHECK_BMC, LKS_MEMBER_READING}, {CAMPAIGN_ACCEPT, LKS_MEMBER_WAITING},
    {CAMPAIGN_ACCEPT, LKS_MEMBER_ASKED},      {CAMPAIGN_ACCEPT, LKS_MEMBER_READING},
    {CAMPAIGN_RETURN, LKS_MEMBER_WAITING},
};

/* With n1 at each place, and n2 that did not begin. */
static void at_each_place(void (*then)(struct campaign *w), const struct campaign_plan *plan)
{
    for (size_t i = 0; i < LKS_COUNT(places); i++) {
        struct campaign w;
        lks_test_case("step %u, %s", places[i].step, lks_member_state_words[places[i].state]);
        campaign_begin(&w, plan);
        if (CHECK(campaign_run_until(&w, "n1", places[i].step, places[i].state, HOUR)))
            then(&w);
        campaign_show(&w);
        campaign_end(&w);
    }
}

static const struct lks_str n1_name = LKS_STR_C("n1");
static const struct campaign_plan two = {.nodes = 2, .width = 1};

/* Who is out of use goes on to its end, and who is about to leave it stays. */
static enum lks_member_state stopped_as(const struct campaign *w)
{
    const struct lks_member *m = campaign_member(w, "n1");
    bool left = m->step > CAMPAIGN_LEAVE || m->state != LKS_MEMBER_WAITING;
    return left ? LKS_MEMBER_DONE : LKS_MEMBER_WAITING;
}

static void pause_then(struct campaign *w)
{
    enum lks_member_state as = stopped_as(w);
    campaign_move(w, LKS_CHANGE_PAUSED);
    CHECK_INT(campaign_run(w, HOUR), as == LKS_MEMBER_DONE);
    CHECK_CHANGE(w, LKS_CHANGE_PAUSED);
    CHECK_MEMBER(w, "n1", as);
    CHECK_MEMBER(w, "n2", LKS_MEMBER_PENDING);
    CHECK_INT(campaign_node(w, "n1")->loaded, as == LKS_MEMBER_DONE);
    CHECK_INT(w->a.state.nodes[campaign_member(w, "n1")->node].changing, 0);
    campaign_move(w, LKS_CHANGE_RUNNING);
    CHECK(campaign_run(w, HOUR));
    CHECK_CHANGE(w, LKS_CHANGE_DONE);
    check_in_use(w, "n1", true);
    check_in_use(w, "n2", true);
}

static void pause_and_resume(void)
{
    at_each_place(pause_then, &two);
}

static void abort_then(struct campaign *w)
{
    campaign_move(w, LKS_CHANGE_ABORTING);
    CHECK(campaign_run(w, HOUR));
    CHECK_CHANGE(w, LKS_CHANGE_ABORTED);
    CHECK_INT(campaign_count(w, "0 stay as they are, 1 rolled back, 1 did not start, 0 out", ""),
              1);
    CHECK_MEMBER(w, "n1", LKS_MEMBER_REVERTED);
    CHECK_MEMBER(w, "n2", LKS_MEMBER_PENDING);
    check_in_use(w, "n1", false);
    check_in_use(w, "n2", false);
}

static void abort_it(void)
{
    at_each_place(abort_then, &two);
}

static void rollback_then(struct campaign *w)
{
    campaign_move(w, LKS_CHANGE_ROLLING_BACK);
    CHECK(campaign_run(w, HOUR));
    CHECK_CHANGE(w, LKS_CHANGE_ROLLED_BACK);
    CHECK_MEMBER(w, "n1", LKS_MEMBER_REVERTED);
    check_in_use(w, "n1", false);
}

static void roll_back(void)
{
    at_each_place(rollback_then, &two);
}

static void freeze_then(struct campaign *w)
{
    enum lks_member_state as = stopped_as(w);
    campaign_freeze(w, true);
    CHECK(!campaign_run(w, 30 * MINUTE));
    CHECK_CHANGE(w, LKS_CHANGE_RUNNING);
    CHECK_MEMBER(w, "n1", as);
    CHECK_MEMBER(w, "n2", LKS_MEMBER_PENDING);
    campaign_freeze(w, false);
    CHECK(campaign_run(w, HOUR));
    CHECK_CHANGE(w, LKS_CHANGE_DONE);
}

static void freeze(void)
{
    at_each_place(freeze_then, &two);
}

/* While it shows the way back, in each of the three passes. */
static void prove_then_abort(void)
{
    static const struct campaign_plan plan = {.nodes = 2, .width = 1, .proves = true};
    for (uint32_t pass = 0; pass < 3; pass++) {
        for (unsigned turns = 0; turns < 40; turns++) {
            struct campaign w;
            unsigned i = 0;
            lks_test_case("pass %u, turn %u", pass, turns);
            campaign_begin(&w, &plan);
            while (campaign_member(&w, "n1")->pass != pass && i++ < 400) {
                if (campaign_tick(&w) + campaign_answer(&w) == 0)
                    campaign_pass(&w, MINUTE / 2);
            }
            for (unsigned t = 0; t < turns; t++) {
                if (t % 2 == 0)
                    (void)campaign_tick(&w);
                else
                    (void)campaign_answer(&w);
            }
            bool done = lks_member_over(campaign_member(&w, "n1"));
            campaign_move(&w, LKS_CHANGE_ABORTING);
            CHECK(campaign_run(&w, HOUR));
            CHECK_CHANGE(&w, LKS_CHANGE_ABORTED);
            if (!done)
                check_in_use(&w, "n1", false);
            campaign_end(&w);
            if (done)
                break;
        }
    }
}

/* A rollback of what was done --------------------------------------------------------------- */

static void rollback_of_done(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 5, .waves = {1, 2, 2}, .soak = HOUR});
    CHECK(!campaign_run(&w, 90 * MINUTE)); /* the second wave soaks */
    CHECK_MEMBER(&w, "n3", LKS_MEMBER_DONE);
    CHECK_MEMBER(&w, "n4", LKS_MEMBER_PENDING);
    campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_ROLLED_BACK);
    for (unsigned i = 0; i < 5; i++)
        check_in_use(&w, w.nodes[i].name, false);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_REVERTED);
    CHECK_MEMBER(&w, "n4", LKS_MEMBER_PENDING);
    /* The last wave went first, and the first one did not wait for its end. */
    const char *n2 = memmem(w.log.ptr, w.log.len, "node=n2 state=waiting back=1", 28);
    const char *n1 = memmem(w.log.ptr, w.log.len, "node=n1 state=waiting back=1", 28);
    const char *end = memmem(w.log.ptr, w.log.len, "node=n2 state=reverted", 22);
    CHECK(n2 != NULL && n1 != NULL && end != NULL && n2 < n1 && n1 < end);
    campaign_show(&w);
    campaign_end(&w);
}

static void rollback_is_as_wide_as_its_wave(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 4, .width = 2, .soak = HOUR});
    CHECK(!campaign_run(&w, 30 * MINUTE));
    campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
    for (unsigned i = 0; i < 400 && !lks_change_over(campaign_change(&w)); i++) {
        (void)campaign_tick(&w);
        CHECK(campaign_change(&w)->waves[0].busy <= 2);
        if (campaign_answer(&w) == 0)
            campaign_pass(&w, MINUTE / 2);
    }
    CHECK_CHANGE(&w, LKS_CHANGE_ROLLED_BACK);
    campaign_end(&w);
}

/* What has no way back stays, and its change says so. */
static void rollback_of_one_way(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .one_way = true, .soak = HOUR});
    CHECK(!campaign_run(&w, 30 * MINUTE));
    campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_ROLLED_BACK);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
    CHECK_INT(campaign_count(&w, "state=rolled back",
                             "0 rolled back, 1 could not roll back; irreversible steps keep 1 node "
                             "on the new stack"),
              1);
    campaign_end(&w);
}

/* Behind a step without return an abort lets it go on to its end. */
static void abort_behind_one_way(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .one_way = true});
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_FLASH, LKS_MEMBER_ASKED, HOUR));
    campaign_move(&w, LKS_CHANGE_ABORTING);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_ABORTED);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
    campaign_end(&w);
}

/* What an abort leaves behind is drift, and its cause is a partial wave. */
static void partial_wave_is_drift(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .waves = {1, 1}, .soak = HOUR});
    CHECK(!campaign_run(&w, 30 * MINUTE));
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
    const struct lks_node *n1 = &w.a.state.nodes[campaign_member(&w, "n1")->node];
    CHECK(!n1->drifting);
    campaign_move(&w, LKS_CHANGE_ABORTING);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_ABORTED);
    campaign_settle(&w);
    CHECK(n1->drifting);
    CHECK_INT(n1->drift_cause, LKS_DRIFT_WAVE);
    CHECK_INT(n1->pin, 0);
    campaign_end(&w);
}

static void nothing_before_it_runs(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .unapproved = true});
    CHECK(!campaign_run(&w, HOUR));
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_PENDING);
    campaign_move(&w, LKS_CHANGE_APPROVED);
    CHECK(!campaign_run(&w, HOUR));
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_PENDING);
    campaign_end(&w);
}

/* Its time ---------------------------------------------------------------------------------- */

static void not_before(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .not_before = 2 * HOUR});
    CHECK(!campaign_run(&w, HOUR));
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_PENDING);
    CHECK(campaign_run(&w, 2 * HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    campaign_end(&w);
}

/* Who did not begin in time does not begin; and that is told. It is no failure: what went well
 * stays, also where a failure would take all of it back. */
static void not_after(void)
{
    for (unsigned back = 0; back < 2; back++) {
        struct campaign w;
        lks_test_case("%s", back ? "one that rolls back" : "one that does not");
        campaign_begin(&w, &(struct campaign_plan){.nodes = 2,
                                                   .waves = {1, 1},
                                                   .soak = 2 * HOUR,
                                                   .not_after = HOUR,
                                                   .rolls_back = back > 0});
        CHECK(campaign_run(&w, 4 * HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
        CHECK_MEMBER(&w, "n2", LKS_MEMBER_PENDING);
        check_in_use(&w, "n1", true);
        CHECK_INT(campaign_count(&w, "alarm ", "its time has expired, and 1 node did not start: "),
                  1);
        /* However it came to run again: nobody is dropped. */
        campaign_move(&w, LKS_CHANGE_RUNNING);
        CHECK(campaign_run(&w, HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
        CHECK_MEMBER(&w, "n2", LKS_MEMBER_PENDING);
        campaign_move(&w, LKS_CHANGE_ABORTING);
        CHECK(campaign_run(&w, HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_ABORTED);
        check_in_use(&w, "n1", true);
        campaign_end(&w);
    }
}

/* One that a person let go on to its end, though nobody arrived, did not do what was asked for. */
static void nobody_arrived(void)
{
    static const struct {
        const char *name;
        unsigned fail; /* n1 ... fail */
        enum lks_change_state ends;
    } rows[] = {
        {"both went back", 2, LKS_CHANGE_ROLLED_BACK},
        {"one went back", 1, LKS_CHANGE_DONE},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        static const char *const names[] = {"n1", "n2"};
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .failures_max = 2});
        for (unsigned f = 0; f < rows[i].fail && f < LKS_COUNT(names); f++)
            campaign_fail(&w, names[f], "apt", LKS_OUTCOME_FAILED, 1);
        CHECK(campaign_run(&w, 4 * HOUR));
        CHECK_CHANGE(&w, rows[i].ends);
        check_in_use(&w, "n1", false);
        check_in_use(&w, "n2", rows[i].fail < 2);
        campaign_show(&w);
        campaign_end(&w);
    }
}

/* What a change of a part left behind comes back by another one, that was planned from it. */
static void back_by_another(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .waves = {1, 1}, .soak = HOUR});
    CHECK(!campaign_run(&w, 30 * MINUTE));
    campaign_move(&w, LKS_CHANGE_ABORTING);
    CHECK(campaign_run(&w, HOUR));
    campaign_settle(&w);
    const struct lks_node *n1 = &w.a.state.nodes[campaign_member(&w, "n1")->node];
    CHECK(n1->drifting);
    const struct lks_str a = lks_str_from(w.stack_a), b = lks_str_from(w.stack_b);
    const struct lks_record plan[] = {
        {.kind = LKS_RECORD_CHANGE,
         .change = {.id = 2, .hosts = LKS_STR("n1"), .stack = a, .name = LKS_STR("a")}},
        {.kind = LKS_RECORD_PLAN_STEP, .plan_step = {.change = 2, .kind = LKS_DO_LEAVE}},
        {.kind = LKS_RECORD_PLAN_WAVE, .plan_wave = {.change = 2, .width = 1}},
        {.kind = LKS_RECORD_PLAN_PART, .plan_part = {.change = 2, .from = b, .hosts = n1_name}},
        {.kind = LKS_RECORD_CHANGE_MOVED,
         .change_moved = {.change = 2, .state = LKS_CHANGE_RUNNING}},
    };
    for (size_t i = 0; i < LKS_COUNT(plan); i++)
        campaign_record(&w, &plan[i]);
    w.change = 2;
    (void)campaign_tick(&w);
    (void)campaign_tick(&w);
    CHECK(campaign_member(&w, "n1")->state != LKS_MEMBER_SKIPPED);
    CHECK(campaign_member(&w, "n1")->begun > 0);
    campaign_show(&w);
    campaign_end(&w);
}

/* Change 2 brought nodes to a third stack, and is done: its pool is pinned to that. */
#define THIRD CAMPAIGN_DIGEST("e")
static void overtake(struct campaign *w, const char *hosts, const char *done)
{
    const struct lks_rec_pool pool = {.name = LKS_STR("train"),
                                      .posture = LKS_STR("pre-training"),
                                      .enforce = LKS_STR("observe"),
                                      .sched = LKS_STR("none"),
                                      .stack = LKS_STR("third"),
                                      .stack_digest = LKS_STR(THIRD)};
    const struct lks_record plan[] = {
        {.kind = LKS_RECORD_CHANGE,
         .change = {.id = 2, .stack = LKS_STR(THIRD), .name = LKS_STR("third")}},
        {.kind = LKS_RECORD_PLAN_STEP, .plan_step = {.change = 2, .kind = LKS_DO_LEAVE}},
        {.kind = LKS_RECORD_PLAN_WAVE, .plan_wave = {.change = 2, .width = 1}},
        {.kind = LKS_RECORD_PLAN_PART, .plan_part = {.change = 2, .hosts = lks_str_from(hosts)}},
    };
    for (size_t i = 0; i < LKS_COUNT(plan); i++)
        campaign_record(w, &plan[i]);
    for (unsigned i = 0; i < w->count; i++) {
        if (strstr(done, w->nodes[i].name) != NULL)
            campaign_record(w,
                            &(struct lks_record){.kind = LKS_RECORD_MEMBER,
                                                 .member = {.change = 2,
                                                            .node = lks_str_from(w->nodes[i].name),
                                                            .state = LKS_MEMBER_DONE}});
    }
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_POOL, .pool = pool});
    campaign_record(w,
                    &(struct lks_record){.kind = LKS_RECORD_CHANGE_MOVED,
                                         .change_moved = {.change = 2, .state = LKS_CHANGE_DONE}});
}

/* What a later change took further is no longer this one's: it neither takes it back nor pins the
 * pool to what it was before. */
static void overtaken(void)
{
    static const struct {
        const char *name, *done; /* by the later one */
        enum lks_change_state then, ends;
        bool pins; /* the pool to its own stack */
    } rows[] = {
        {"rolled back", "n1 n2 n3", LKS_CHANGE_ROLLING_BACK, LKS_CHANGE_ROLLED_BACK, false},
        {"resumed", "n1 n2 n3", LKS_CHANGE_RUNNING, LKS_CHANGE_DONE, false},
        {"resumed, and one was left", "n1 n3", LKS_CHANGE_RUNNING, LKS_CHANGE_DONE, false},
        {"resumed, and only the rest was taken", "n3", LKS_CHANGE_RUNNING, LKS_CHANGE_DONE, true},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(
            &w, &(struct campaign_plan){
                    .nodes = 3, .waves = {2, 1}, .soak = HOUR, .pool = true, .failures_max = 9});
        CHECK(!campaign_run(&w, 30 * MINUTE));
        CHECK_MEMBER(&w, "n2", LKS_MEMBER_DONE);
        campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_WAVE,
                                                 .wave = {.change = 1, .state = LKS_WAVE_PASSED}});
        campaign_move(&w, LKS_CHANGE_PAUSED);
        overtake(&w, "n[1-3]", rows[i].done);
        campaign_record(
            &w, &(struct lks_record){
                    .kind = LKS_RECORD_MEMBER,
                    .member = {.change = 1, .node = LKS_STR("n3"), .state = LKS_MEMBER_SKIPPED}});
        const struct lks_node *n1 = &w.a.state.nodes[campaign_member(&w, "n1")->node];
        CHECK_INT(n1->pin != 0, rows[i].pins);
        campaign_move(&w, rows[i].then);
        CHECK(campaign_run(&w, 40 * HOUR));
        CHECK_CHANGE(&w, rows[i].ends);
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
        CHECK_MEMBER(&w, "n2", LKS_MEMBER_DONE);
        CHECK(campaign_node(&w, "n1")->loaded);
        bool third = lks_str_is(lks_state_text(&w.a.state, w.a.state.pools[0].stack_digest), THIRD);
        CHECK_INT(third, !rows[i].pins);
        campaign_show(&w);
        campaign_end(&w);
    }
}

/* Each was planned to take one of two nodes out of use; together they do not take both. */
static const struct {
    const char *name, *pool_says, *zone_says;
} pairs[] = {
    {"headroom", NULL, NULL},
    {"a gang", "headroom: 2, min_gang: 1", NULL},
    {"power that returns", "headroom: 2, node_power_w: 10000", "ramp_kw: 15"},
};

static void two_at_once(void)
{
    for (size_t p = 0; p < LKS_COUNT(pairs); p++) {
        struct campaign w;
        bool first = false, second = false;
        lks_test_case("%s", pairs[p].name);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 2,
                                                   .width = 1,
                                                   .pool_says = pairs[p].pool_says,
                                                   .zone_says = pairs[p].zone_says});
        campaign_propose(&w, 2);
        w.change = 2;
        campaign_move(&w, LKS_CHANGE_APPROVED);
        campaign_move(&w, LKS_CHANGE_RUNNING);
        for (unsigned i = 0; i < 800 && !(lks_change_over(campaign_change(&w)) && w.change == 1);
             i++) {
            const struct lks_node *n1 = &w.a.state.nodes[campaign_member(&w, "n1")->node];
            const struct lks_node *n2 = &w.a.state.nodes[campaign_member(&w, "n2")->node];
            (void)campaign_tick(&w);
            CHECK(n1->change == 0 || n2->change == 0);
            first |= n1->change != 0;
            second |= n2->change != 0;
            if (campaign_answer(&w) == 0)
                campaign_pass(&w, MINUTE / 2);
            w.change = i % 2 + 1;
        }
        CHECK(first && second);
        for (w.change = 1; w.change <= 2; w.change++)
            CHECK_CHANGE(&w, LKS_CHANGE_DONE);
        campaign_show(&w);
        campaign_end(&w);
    }
}

/* Each would stay within what the zone has; both together would not. */
static void two_limits_at_once(void)
{
    static const struct {
        const char *name, *zone_says;
        bool waits;
    } rows[] = {
        {"enough for both", "budget_kw: 24", false},
        {"for one", "budget_kw: 22", true},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 2,
                                                   .width = 1,
                                                   .rises = true,
                                                   .pool_says = "headroom: 2, node_power_w: 10000",
                                                   .zone_says = rows[i].zone_says});
        CHECK(campaign_run_until(&w, "n1", CAMPAIGN_LEAVE, LKS_MEMBER_ASKED, HOUR));
        campaign_propose(&w, 2);
        campaign_move(&w, LKS_CHANGE_APPROVED);
        campaign_move(&w, LKS_CHANGE_RUNNING);
        (void)campaign_tick(&w);
        (void)campaign_tick(&w);
        CHECK_INT(campaign_member(&w, "n2")->state == LKS_MEMBER_PENDING, rows[i].waits);
        campaign_show(&w);
        campaign_end(&w);
    }
}

/* What a pool keeps on one stack, when an earlier change has part of it on another and is not over,
 * though nobody of that is under way. */
static void beside_an_earlier_one(void)
{
    static const struct {
        const char *name, *pool_says;
        bool waits;
    } rows[] = {
        {"no gang", "headroom: 4", false},
        {"a gang that is kept", "headroom: 4, min_gang: 2", false},
        {"a gang that would be broken", "headroom: 4, min_gang: 3", true},
    };
    static const char why[] =
        "beside what another change has, its pool would not keep its min_gang on one stack";
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 4,
                                                   .width = 1,
                                                   .waves = {1, 3},
                                                   .soak = 5 * HOUR,
                                                   .pool_says = rows[i].pool_says});
        CHECK(!campaign_run(&w, HOUR));
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
        w.plan.waves[0] = w.plan.waves[1] = 0;
        campaign_propose(&w, 2);
        campaign_move(&w, LKS_CHANGE_APPROVED);
        campaign_move(&w, LKS_CHANGE_RUNNING);
        CHECK(!campaign_run(&w, MINUTE));
        CHECK_INT(campaign_member(&w, "n2")->state == LKS_MEMBER_PENDING, rows[i].waits);
        CHECK_INT(campaign_count(&w, "wave change=2", why), rows[i].waits);
        /* The earlier one waits for nobody, and when it is over the other goes on. */
        CHECK(campaign_run(&w, 40 * HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_DONE);
        campaign_show(&w);
        campaign_end(&w);
    }
}

/* Who goes back asks for less, however much others have. */
static void back_to_a_lower_limit(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 2,
                                               .width = 1,
                                               .rises = true,
                                               .pool_says = "headroom: 2, node_power_w: 10000",
                                               .zone_says = "budget_kw: 24"});
    campaign_propose(&w, 2);
    const struct lks_rec_member done[] = {
        {.change = 1, .node = LKS_STR("n1"), .state = LKS_MEMBER_DONE},
        {.change = 2, .node = LKS_STR("n2"), .state = LKS_MEMBER_DONE}};
    for (size_t i = 0; i < LKS_COUNT(done); i++)
        campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_MEMBER, .member = done[i]});
    campaign_move(&w, LKS_CHANGE_APPROVED);
    campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
    for (int i = 0; i < 3; i++) {
        (void)campaign_tick(&w);
        campaign_pass(&w, MINUTE);
    }
    CHECK(campaign_member(&w, "n2")->back);
    campaign_show(&w);
    campaign_end(&w);
}

/* Many services hold what was staged and do not show it: "nothing is staged" is then no news, and
 * what runs is staged over it. */
static void staged_and_not_shown(void)
{
    static const struct {
        const char *name;
        enum lks_bmc_outcome outcome; /* of giving it up */
        size_t again;
    } rows[] = {
        {"given up", LKS_BMC_DONE, 0},
        {"not shown", LKS_BMC_SAME, 1},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .stages = true});
        CHECK(campaign_run_until(&w, "n1", 1, LKS_MEMBER_ASKED, HOUR));
        campaign_fail(&w, "n1", "abort", rows[i].outcome, 1);
        campaign_move(&w, LKS_CHANGE_ABORTING);
        CHECK(campaign_run(&w, 4 * HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_ABORTED);
        check_in_use(&w, "n1", false);
        CHECK_INT(campaign_count(&w, "act=abort", ""), 1);
        CHECK_INT(campaign_count(&w, "act=stage", CAMPAIGN_IMAGE_A), rows[i].again);
        campaign_show(&w);
        campaign_end(&w);
    }
}

/* Staging ends what the endpoint had read: whoever turns before anything was done to it returns
 * only once that is read again, and a person is told where it never is. */
static void staged_and_unread(void)
{
    static const struct {
        const char *name;
        bool read; /* in the end */
        enum lks_member_state state;
    } rows[] = {
        {"read again", true, LKS_MEMBER_REVERTED},
        {"never read", false, LKS_MEMBER_FENCED},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .stages = true, .outband = true});
        campaign_node(&w, "n1")->busy = true;
        campaign_node(&w, "n1")->unread = true;
        CHECK(campaign_run_until(&w, "n1", 1, LKS_MEMBER_ASKED, HOUR));
        campaign_move(&w, LKS_CHANGE_ABORTING);
        CHECK(!campaign_run(&w, 5 * MINUTE));
        const struct lks_node *n1 = &w.a.state.nodes[campaign_member(&w, "n1")->node];
        CHECK(n1->drained_by != 0);
        campaign_node(&w, "n1")->unread = !rows[i].read;
        campaign_put(&w, "n1", false);
        CHECK(campaign_run(&w, 4 * HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_ABORTED);
        CHECK_MEMBER(&w, "n1", rows[i].state);
        CHECK_INT(n1->drained_by != 0, !rows[i].read);
        CHECK_INT(lks_state_verdict(&w.a.state, campaign_member(&w, "n1")->node)->judged ==
                      LKS_JUDGED_CONFORMS,
                  rows[i].read);
        campaign_show(&w);
        campaign_end(&w);
    }
}

/* A device that fell back to what it ran dropped what was staged: the next attempt brings it. */
static void activated_again(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .stages = true, .retries = 1});
    campaign_fail(&w, "n1", "flash", LKS_BMC_FAILED, 1);
    CHECK(campaign_run(&w, 4 * HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    check_in_use(&w, "n1", true);
    CHECK_INT(campaign_count(&w, "act=activate", ""), 1);
    CHECK_INT(campaign_count(&w, "act=update", CAMPAIGN_IMAGE_B), 1);
    campaign_show(&w);
    campaign_end(&w);
}

/* Its update is cut off by us, so nobody has to go there: somebody looks at it. */
static void revoked_meanwhile(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1});
    campaign_node(&w, "n1")->mute_bmc = true;
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_FLASH, LKS_MEMBER_ASKED, HOUR));
    const struct lks_rec_flash_saved saved = {
        .id = campaign_member(&w, "n1")->work, .saved = LKS_STR("{}"), .phase = LKS_STR("sent")};
    campaign_record(&w, &(struct lks_record){LKS_RECORD_FLASH_SAVED, .flash_saved = saved});
    campaign_record(&w, &(struct lks_record){LKS_RECORD_BUNDLE_REVOKED,
                                             .bundle_revoked = {LKS_STR(CAMPAIGN_BUNDLE),
                                                                LKS_STR("kim"), LKS_STR("bad")}});
    CHECK(campaign_run(&w, HOUR));
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_UNKNOWN);
    CHECK_INT(campaign_count(&w, "alarm=hands", ""), 0);
    campaign_show(&w);
    campaign_end(&w);
}

/* 1970-01-01 was a Thursday, and tests begin at 00:16. */
static void windows(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .windows = "Thu 02:00-03:00"});
    CHECK(!campaign_run(&w, 90 * MINUTE));
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_PENDING);
    CHECK_INT(campaign_count(&w, "wave change=1 state=begun text=waits: ",
                             "n1: outside its windows, which open at 1970-01-01T02:00:00.000Z"),
              1);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    campaign_end(&w);
}

/* A wave of which nobody is under way says why; once, and no longer than that is so. */
static void says_why(void)
{
    static const struct {
        const char *name, *text;
        bool frozen, away;
    } rows[] = {
        {"frozen", "waits: n1: frozen", true, false},
        {"away", "waits: n1: not heard of", false, true},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 1});
        campaign_node(&w, "n1")->up = !rows[i].away;
        if (rows[i].away)
            campaign_pass(&w, 10 * MINUTE);
        campaign_freeze(&w, rows[i].frozen);
        CHECK(!campaign_run(&w, 20 * MINUTE));
        CHECK_INT(campaign_count(&w, "wave change=1 state=begun", rows[i].text), 1);
        campaign_node(&w, "n1")->up = true;
        campaign_freeze(&w, false);
        campaign_pass(&w, MINUTE);
        (void)campaign_tick(&w);
        CHECK_STR(lks_state_text(&w.a.state, campaign_change(&w)->waves[0].text), "");
        CHECK(campaign_run(&w, HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_DONE);
        campaign_show(&w);
        campaign_end(&w);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"pause and resume in every state", pause_and_resume},
        {"abort in every state", abort_it},
        {"roll back in every state", roll_back},
        {"freeze in every state", freeze},
        {"abort while the way back is shown", prove_then_abort},
        {"a rollback of what was done", rollback_of_done},
        {"a rollback is as wide as its wave", rollback_is_as_wide_as_its_wave},
        {"a rollback of irreversible step", rollback_of_one_way},
        {"an abort behind a step without return", abort_behind_one_way},
        {"a partial wave is drift", partial_wave_is_drift},
        {"nothing before it runs", nothing_before_it_runs},
        {"not before", not_before},
        {"not after", not_after},
        {"nobody arrived", nobody_arrived},
        {"what was left behind comes back", back_by_another},
        {"what a later change took further", overtaken},
        {"two changes at once", two_at_once},
        {"two power limits at once", two_limits_at_once},
        {"beside an earlier change", beside_an_earlier_one},
        {"back to a lower power limit", back_to_a_lower_limit},
        {"staged, and not shown", staged_and_not_shown},
        {"staged, and not read again", staged_and_unread},
        {"activated again", activated_again},
        {"a bundle that is revoked meanwhile", revoked_meanwhile},
        {"windows", windows},
        {"what a wave waits for", says_why},
        {0},
    };
    return lks_test_main(tests);
}
