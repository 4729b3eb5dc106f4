/* Who was kept out of use and is tried again: from where it leaves use, with all that was done to
 * it before. */
#include "core/campaign/campaign.h"
#include "core/rows/node.h"
#include "core/state/lookup.h"
#include "tests/campaigns.h"
#include "tests/test.h"

#define MINUTE CAMPAIGN_MINUTE
#define HOUR   CAMPAIGN_HOUR

static struct lks_str try_again(struct campaign *w, const char *nodes)
{
    const struct lks_event event = {.kind = LKS_EVENT_MEMBER_MOVE,
                                    .by = LKS_STR("lee"),
                                    .reason = LKS_STR("it is repaired"),
                                    .name = lks_str_from(nodes),
                                    .member = {.change = 1, .again = true}};
    campaign_event(w, &event);
    return lks_str_from(w->a.decision.refused.msg);
}

/* It is lost while an order is carried out: nobody knows what is left of that. */
static void lose(struct campaign *w, const char *node)
{
    CHECK(campaign_run_until(w, node, CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
    campaign_node(w, node)->up = false;
    for (int i = 0; i < 600 && !lks_member_over(campaign_member(w, node)); i++) {
        campaign_pass(w, MINUTE);
        campaign_settle(w);
    }
    CHECK_MEMBER(w, node, LKS_MEMBER_FENCED);
    campaign_node(w, node)->up = true;
    campaign_pass(w, MINUTE);
    campaign_settle(w);
}

/* What was begun on it may be half done: it does not return as it is, whatever is said meanwhile.
 */
static void not_out_of_use(void)
{
    static const struct {
        const char *name;
        enum lks_change_state then;
    } rows[] = {
        {"something runs on it until its time is over", LKS_CHANGE_RUNNING},
        {"the change is aborted", LKS_CHANGE_ABORTING},
        {"the change is rolled back", LKS_CHANGE_ROLLING_BACK},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w,
                       &(struct campaign_plan){
                           .nodes = 1, .failures_max = 9, .soak = 10 * HOUR, .posture = "batch"});
        lose(&w, "n1");
        campaign_node(&w, "n1")->busy = true;
        CHECK_STR(try_again(&w, "n1"), "");
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_WAITING);
        if (rows[i].then != LKS_CHANGE_RUNNING)
            campaign_move(&w, rows[i].then);
        CHECK(campaign_run(&w, 100 * HOUR));
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_FENCED);
        const struct lks_node *n = &w.a.state.nodes[campaign_member(&w, "n1")->node];
        CHECK(n->changing != 0 && n->drained_by != 0);
        campaign_end(&w);
    }
}

/* And goes there once nothing runs on it. */
static void goes_there(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .failures_max = 9, .soak = 10 * HOUR});
    lose(&w, "n1");
    CHECK_STR(try_again(&w, "n1"), "");
    CHECK(campaign_run(&w, 20 * HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
    campaign_end(&w);
}

/* Its update has no known outcome, and a person resolved that. */
static void leave_unknown(struct campaign *w)
{
    campaign_fail(w, "n1", "flash", LKS_BMC_UNKNOWN, 1);
    CHECK(campaign_run_until(w, "n1", CAMPAIGN_FLASH, LKS_MEMBER_UNKNOWN, 10 * HOUR));
    campaign_resolve(w, "n1");
    CHECK(campaign_run_until(w, "n1", CAMPAIGN_FLASH, LKS_MEMBER_FENCED, HOUR));
    campaign_move(w, LKS_CHANGE_RUNNING);
}

/* Its checks fail, and so does its rollback. */
static void fail_in_rollback(struct campaign *w)
{
    CHECK(campaign_run_until(w, "n1", CAMPAIGN_ACCEPT, LKS_MEMBER_ASKED, HOUR));
    campaign_fail(w, "n1", "accept", LKS_OUTCOME_FAILED, 1);
    campaign_fail(w, "n1", "apt", LKS_OUTCOME_FAILED, 1);
    CHECK(campaign_run_until(w, "n1", CAMPAIGN_APPLY, LKS_MEMBER_FENCED, 10 * HOUR));
}

/* It is tried again, and its change is aborted once it is drained: what the earlier try did is
 * undone. Of a node that failed in its rollback that is unknown, and it stays out of service. */
static void after_an_earlier_try(void)
{
    static const struct {
        const char *name;
        void (*fails)(struct campaign *w);
        unsigned flashes; /* there and back */
        enum lks_member_state ends;
    } rows[] = {
        {"the outcome of its update was unknown", leave_unknown, 2, LKS_MEMBER_REVERTED},
        {"its rollback failed", fail_in_rollback, 2, LKS_MEMBER_FENCED},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w,
                       &(struct campaign_plan){.nodes = 1, .failures_max = 9, .soak = 10 * HOUR});
        w.after = campaign_check_promises;
        rows[i].fails(&w);
        CHECK_STR(try_again(&w, "n1"), "");
        CHECK(campaign_run_until(&w, "n1", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
        campaign_move(&w, LKS_CHANGE_ABORTING);
        CHECK(campaign_run(&w, 10 * HOUR));
        CHECK_MEMBER(&w, "n1", rows[i].ends);
        CHECK_INT(w.flash_count, rows[i].flashes);
        CHECK_INT(campaign_is_out(&w.a.state.nodes[campaign_member(&w, "n1")->node]),
                  rows[i].ends == LKS_MEMBER_FENCED);
        campaign_end(&w);
    }
}

/* Its wave passed its gate long ago: the change is not over before it is. */
static void of_an_earlier_wave(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){
                           .nodes = 2, .waves = {1, 1}, .failures_max = 9, .soak = 10 * MINUTE});
    lose(&w, "n1");
    CHECK(campaign_run_until(&w, "n2", CAMPAIGN_ACCEPT, LKS_MEMBER_ASKED, HOUR));
    campaign_node(&w, "n1")->busy = true;
    CHECK_STR(try_again(&w, "n1"), "");
    CHECK(!campaign_run(&w, 40 * MINUTE));
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_DONE);
    CHECK_CHANGE(&w, LKS_CHANGE_RUNNING);
    campaign_node(&w, "n1")->busy = false;
    CHECK(campaign_run(&w, 4 * HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
    campaign_end(&w);
}

/* Where its wave is as wide as it may be, it waits for its turn, is not begun twice, and the change
 * is not over before. */
static void beyond_the_width(void)
{
    static const struct {
        const char *name;
        bool frozen;
    } rows[] = {{"when there is room", false}, {"and nothing is frozen", true}};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .width = 1, .failures_max = 9});
        campaign_node(&w, "n2")->busy = true;
        lose(&w, "n1");
        CHECK_MEMBER(&w, "n2", LKS_MEMBER_READING);
        CHECK_STR(try_again(&w, "n1"), "");
        campaign_node(&w, "n2")->busy = false;
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_FENCED);
        CHECK_HAS(lks_state_text(&w.a.state, campaign_member(&w, "n1")->text),
                  "is tried again when there is room in its wave: by lee: it is repaired");
        campaign_freeze(&w, rows[i].frozen);
        CHECK(campaign_run(&w, 2 * HOUR) == !rows[i].frozen);
        campaign_freeze(&w, false);
        CHECK(campaign_run(&w, 20 * HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_DONE);
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
        CHECK_MEMBER(&w, "n2", LKS_MEMBER_DONE);
        CHECK_INT(campaign_count(&w, "node=n1 state=waiting", "text=tried again"), 1);
        campaign_end(&w);
    }
}

/* A domain that went back as a whole goes there as a whole, or not at all. */
static void of_a_domain(void)
{
    struct campaign w;
    campaign_begin(
        &w, &(struct campaign_plan){.nodes = 2, .domain = 2, .failures_max = 9, .soak = 10 * HOUR});
    campaign_fail(&w, "n1", "apt", LKS_OUTCOME_FAILED, 1);
    for (int i = 0; i < 600 && campaign_member(&w, "n1")->state != LKS_MEMBER_REVERTED; i++) {
        campaign_pass(&w, MINUTE);
        campaign_settle(&w);
    }
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_REVERTED);
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_REVERTED);
    CHECK_STR(try_again(&w, "n1"), "n1 is of one domain with n2, which is rolling back, or "
                                   "rolled back: try all of it again, or propose another change");
    CHECK_STR(try_again(&w, "n[1-2],shelf1"), "");
    CHECK(campaign_run(&w, 20 * HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
    CHECK_MEMBER(&w, "shelf1", LKS_MEMBER_DONE);
    campaign_end(&w);
}

/* Nothing is done to an asset around nodes that are in use. */
static void of_an_asset(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){
                           .nodes = 3, .domain = 2, .spares = 1, .width = 1, .failures_max = 9});
    campaign_fail(&w, "shelf1", "flash", LKS_BMC_FAILED, 1);
    CHECK(campaign_run_until(&w, "n3", CAMPAIGN_LEAVE, LKS_MEMBER_READING, 8 * HOUR));
    CHECK_MEMBER(&w, "shelf1", LKS_MEMBER_FENCED);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
    CHECK_STR(try_again(&w, "shelf1"),
              "shelf1 is of one domain with n1, which is in service: try all "
              "of it again, or propose another change");
    campaign_end(&w);
}

/* Time passes until both shelves are at their end. */
static void shelves_end(struct campaign *w)
{
    for (int i = 0; i < 600 && !(lks_member_over(campaign_member(w, "shelf1")) &&
                                 lks_member_over(campaign_member(w, "shelf2")));
         i++) {
        campaign_pass(w, MINUTE);
        campaign_settle(w);
    }
}

static void one_side_at_most(struct campaign *w, const struct lks_decision *d)
{
    const struct lks_node *nodes = w->a.state.nodes;
    (void)d;
    CHECK(nodes[campaign_member(w, "shelf1")->node].change == 0 ||
          nodes[campaign_member(w, "shelf2")->node].change == 0);
}

/* A pair of which the first side fails once. */
static void pair_begin(struct campaign *w)
{
    static const struct campaign_plan plan = {
        .nodes = 1, .shelves = 2, .failures_max = 9, .soak = 20 * HOUR};
    campaign_begin(w, &plan);
    w->after = one_side_at_most;
    campaign_fail(w, "shelf1", "flash", LKS_BMC_REFUSED, 1);
}

/* Of a redundant pair one side is under way, whoever began the other. */
static void of_a_pair(void)
{
    struct campaign w;
    pair_begin(&w);
    campaign_node(&w, "shelf2")->mute_bmc = true;
    CHECK(campaign_run_until(&w, "shelf2", 1, LKS_MEMBER_ASKED, 4 * HOUR));
    CHECK_MEMBER(&w, "shelf1", LKS_MEMBER_REVERTED);
    CHECK_STR(
        try_again(&w, "shelf1"),
        "the redundant peer of shelf1 is in progress, on hold or out of service: wait for that, "
        "or repair that one first");
    campaign_node(&w, "shelf2")->mute_bmc = false;
    shelves_end(&w);
    CHECK_STR(try_again(&w, "shelf1"), "");
    shelves_end(&w);
    CHECK_MEMBER(&w, "shelf1", LKS_MEMBER_DONE);
    CHECK_MEMBER(&w, "shelf2", LKS_MEMBER_DONE);
    campaign_end(&w);
}

/* Both of them by one word: one after the other. */
static void both_of_a_pair(void)
{
    struct campaign w;
    pair_begin(&w);
    campaign_fail(&w, "shelf2", "flash", LKS_BMC_REFUSED, 1);
    CHECK(campaign_run_until(&w, "shelf2", 1, LKS_MEMBER_ASKED, 4 * HOUR));
    shelves_end(&w);
    CHECK_MEMBER(&w, "shelf1", LKS_MEMBER_REVERTED);
    CHECK_MEMBER(&w, "shelf2", LKS_MEMBER_REVERTED);
    CHECK_STR(try_again(&w, "shelf[1-2]"), "");
    CHECK_MEMBER(&w, "shelf1", LKS_MEMBER_WAITING);
    CHECK_MEMBER(&w, "shelf2", LKS_MEMBER_REVERTED);
    CHECK_HAS(lks_state_text(&w.a.state, campaign_member(&w, "shelf2")->text),
              "is tried again when its redundant peer is back: by lee: it is repaired");
    CHECK(campaign_run(&w, 60 * HOUR));
    CHECK_MEMBER(&w, "shelf1", LKS_MEMBER_DONE);
    CHECK_MEMBER(&w, "shelf2", LKS_MEMBER_DONE);
    campaign_end(&w);
}

/* n1 failed in change 1 and went back; change 2 to the same stack has `node` alone. */
static void went_back(struct campaign *w, const char *node, enum lks_member_state state)
{
    const struct lks_str host = lks_str_from(node), b = lks_str_from(w->stack_b);
    const struct lks_record plan[] = {
        {.kind = LKS_RECORD_CHANGE, .change = {.id = 2, .stack = b, .name = LKS_STR("silver")}},
        {.kind = LKS_RECORD_PLAN_STEP,
         .plan_step = {.change = 2, .kind = LKS_DO_LEAVE, .limit = 10 * HOUR}},
        {.kind = LKS_RECORD_PLAN_WAVE, .plan_wave = {.change = 2, .width = 1}},
        {.kind = LKS_RECORD_PLAN_PART, .plan_part = {.change = 2, .hosts = host}},
        {.kind = LKS_RECORD_CHANGE_MOVED,
         .change_moved = {.change = 2, .state = LKS_CHANGE_PAUSED}},
        {.kind = LKS_RECORD_MEMBER, .member = {.change = 2, .node = host, .state = state}},
    };
    campaign_fail(w, "n1", "apt", LKS_OUTCOME_FAILED, 1);
    CHECK(campaign_run_until(w, "n1", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
    for (int i = 0; i < 60 && !lks_member_over(campaign_member(w, "n1")); i++) {
        campaign_pass(w, MINUTE);
        campaign_settle(w);
    }
    CHECK_MEMBER(w, "n1", LKS_MEMBER_REVERTED);
    for (size_t i = 0; i < LKS_COUNT(plan); i++)
        campaign_record(w, &plan[i]);
}

/* Who is in use again begins anew, as far as its pool and zone can tell. */
static void beside_another_change(void)
{
    static const struct {
        const char *name, *pool_says, *zone_says;
    } rows[] = {
        {"headroom", NULL, NULL},
        {"a gang", "headroom: 3, min_gang: 2", NULL},
        {"power that returns", "headroom: 3, node_power_w: 10000", "ramp_kw: 15"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 3,
                                                   .waves = {1, 2},
                                                   .soak = 10 * HOUR,
                                                   .failures_max = 9,
                                                   .pool_says = rows[i].pool_says,
                                                   .zone_says = rows[i].zone_says});
        campaign_node(&w, "n2")->busy = true; /* so it stays at its step */
        went_back(&w, "n2", LKS_MEMBER_WAITING);
        CHECK_STR(try_again(&w, "n1"), "");
        campaign_settle(&w);
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_REVERTED);
        CHECK_HAS(lks_state_text(&w.a.state, campaign_member(&w, "n1")->text),
                  "is tried again when its pool and power zone can do without it");
        campaign_record(
            &w, &(struct lks_record){
                    .kind = LKS_RECORD_MEMBER,
                    .member = {.change = 2, .node = LKS_STR("n2"), .state = LKS_MEMBER_SKIPPED}});
        CHECK(campaign_run_until(&w, "n1", CAMPAIGN_ACCEPT, LKS_MEMBER_ASKED, HOUR));
        campaign_end(&w);
    }
}

/* Change 2 keeps it out of use and told so; letting go what change 1 remembers of it ends none of
 * that. */
static void kept_by_another(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){
                           .nodes = 3, .waves = {1, 2}, .soak = 10 * HOUR, .failures_max = 9});
    went_back(&w, "n1", LKS_MEMBER_FENCED);
    campaign_record(&w, &(struct lks_record){
                            .kind = LKS_RECORD_ALARM,
                            .alarm = {.id = 77,
                                      .kind = LKS_ALARM_CHANGE,
                                      .subject = LKS_STR("n1"),
                                      .text = LKS_STR("change 2 holds it out of service: x")}});
    campaign_event(&w, &(struct lks_event){.kind = LKS_EVENT_MEMBER_MOVE,
                                           .by = LKS_STR("lee"),
                                           .reason = LKS_STR("tidy"),
                                           .name = LKS_STR("n1"),
                                           .member = {.change = 1, .again = false}});
    CHECK_INT(w.a.decision.refused.code, LKS_OK);
    CHECK_INT(w.a.state.nodes[campaign_member(&w, "n1")->node].change, 2);
    CHECK_INT(campaign_count(&w, "alarm-released", "id=77"), 0);
    campaign_end(&w);
}

/* Another change brought it elsewhere since: the steps of this one do not lead from there. */
static void elsewhere_by_now(void)
{
    static const char refused[] = "n1 should run, or runs, another stack by now than the one that "
                                  "this was planned from: propose another change for it";
    for (unsigned queued = 0; queued < 2; queued++) {
        struct campaign w;
        lks_test_case("%s", queued != 0 ? "while it waits" : "before it is tried");
        campaign_begin(&w, &(struct campaign_plan){
                               .nodes = 2, .waves = {1, 1}, .soak = 10 * HOUR, .failures_max = 9});
        went_back(&w, "n1", queued != 0 ? LKS_MEMBER_PENDING : LKS_MEMBER_DONE);
        const struct lks_rec_member waits = {
            .change = 1, .node = LKS_STR("n1"), .state = LKS_MEMBER_REVERTED, .until = 1};
        const struct lks_rec_member done = {
            .change = 2, .node = LKS_STR("n1"), .state = LKS_MEMBER_DONE};
        campaign_put(&w, "n1", true);
        if (queued != 0) {
            campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_MEMBER, .member = done});
            campaign_settle(&w);
            campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_MEMBER, .member = waits});
        } else {
            campaign_settle(&w);
            CHECK_STR(try_again(&w, "n1"), refused);
        }
        CHECK(campaign_run(&w, 60 * HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_DONE);
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_REVERTED);
        campaign_end(&w);
    }
}

/* Only the change says of its nodes whether they are being changed, and to what. */
static void not_by_hand(void)
{
    struct campaign w;
    struct lks_event event = {.kind = LKS_EVENT_CONDITION,
                              .by = LKS_STR("lee"),
                              .name = LKS_STR("n1"),
                              .condition = {.condition = LKS_CONDITION_CHANGING}};
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1});
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
    for (int on = 0; on < 2; on++) {
        event.condition.on = on != 0;
        event.condition.text = on != 0 ? LKS_STR("mine") : LKS_STR("");
        CHECK_STR(lks_asked(&w.a, &event),
                  "refused: change 1 has n1; pause, abort or release it there");
    }
    campaign_end(&w);
}

/* It waits to be tried again while the change is paused, and then the time of that is over: what
 * may be half done on it stays out of use. */
static void too_late(void)
{
    struct campaign w;
    campaign_begin(&w,
                   &(struct campaign_plan){
                       .nodes = 2, .soak = 100 * HOUR, .failures_max = 9, .not_after = 6 * HOUR});
    lose(&w, "n1");
    CHECK_STR(try_again(&w, "n1"), "");
    campaign_move(&w, LKS_CHANGE_PAUSED);
    campaign_pass(&w, 6 * HOUR);
    campaign_move(&w, LKS_CHANGE_RUNNING);
    (void)campaign_run(&w, HOUR);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_FENCED);
    CHECK(w.a.state.nodes[campaign_member(&w, "n1")->node].changing != 0);
    campaign_end(&w);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"not out of use", not_out_of_use},
        {"too late", too_late},
        {"goes there", goes_there},
        {"undone after an earlier try", after_an_earlier_try},
        {"of an earlier wave", of_an_earlier_wave},
        {"beyond the width of its wave", beyond_the_width},
        {"of a domain", of_a_domain},
        {"of an asset", of_an_asset},
        {"of a pair", of_a_pair},
        {"both of a pair", both_of_a_pair},
        {"beside another change", beside_another_change},
        {"kept by another change", kept_by_another},
        {"elsewhere by now", elsewhere_by_now},
        {"not by hand", not_by_hand},
        {0},
    };
    return lks_test_main(tests);
}
