/* What is around a member: the other side of its pair, the nodes of its domain; and who may not
 * leave use any more when its image is staged. */
#include "core/campaign.h"
#include "tests/campaigns.h"
#include "tests/test.h"

#define MINUTE CAMPAIGN_MINUTE
#define HOUR   CAMPAIGN_HOUR

static void check_member(const struct campaign *w, const char *node, enum lks_member_state want)
{
    CHECK_STR(lks_str_from(lks_member_state_words[campaign_member(w, node)->state]),
              lks_member_state_words[want]);
}

static bool is_out(const struct campaign *w, const char *node)
{
    return w->a.state.nodes[campaign_member(w, node)->node].changing != 0;
}

static void hold(struct campaign *w, const char *node, bool on)
{
    struct lks_record r = {.kind = on ? LKS_RECORD_HELD : LKS_RECORD_UNHELD};
    if (on)
        r.held = (struct lks_rec_held){.node = lks_str_from(node),
                                       .by = LKS_STR("lee"),
                                       .reason = LKS_STR("its cable is out")};
    else
        r.unheld = (struct lks_rec_unheld){
            .node = lks_str_from(node), .by = LKS_STR("lee"), .reason = LKS_STR("it is in")};
    campaign_record(w, &r);
}

static void go_on(struct campaign *w, unsigned minutes)
{
    for (unsigned k = 0; k < minutes; k++) {
        campaign_settle(w);
        campaign_pass(w, MINUTE);
    }
}

/* Sides ------------------------------------------------------------------------------------- */

/* Nobody knows whether the first still carries the rack: the second is not touched, and all of the
 * domain goes back to what it was. */
static void dead_side(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 3, .domain = 3, .shelves = 2, .spares = 1});
    campaign_fail(&w, "shelf1", "silence", LKS_BMC_FAILED, 9);
    (void)campaign_run(&w, 8 * HOUR);
    check_member(&w, "shelf1", LKS_MEMBER_HANDS);
    check_member(&w, "shelf2", LKS_MEMBER_REVERTED);
    check_member(&w, "n1", LKS_MEMBER_REVERTED);
    CHECK_HAS(lks_state_text(&w.a.state, campaign_member(&w, "shelf2")->text),
              "shelf1, the other side of its pair, is kept out of use");
    CHECK_INT(campaign_count(&w, "flash", "node=shelf2"), 0);
    campaign_end(&w);
}

/* A person may be at work on the first: the second waits for that, or is left out. */
static void held_side(void)
{
    for (unsigned again = 0; again < 2; again++) {
        struct campaign w;
        lks_test_case(again > 0 ? "held for a while" : "held for ever");
        campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .shelves = 2});
        hold(&w, "shelf1", true);
        go_on(&w, 30);
        CHECK_INT(campaign_count(&w, "flash id", "node=shelf2"), 0);
        if (again > 0)
            hold(&w, "shelf1", false);
        CHECK(campaign_run(&w, 8 * HOUR));
        check_member(&w, "shelf1", again > 0 ? LKS_MEMBER_DONE : LKS_MEMBER_SKIPPED);
        check_member(&w, "shelf2", again > 0 ? LKS_MEMBER_DONE : LKS_MEMBER_SKIPPED);
        campaign_end(&w);
    }
}

/* An asset around nodes in use --------------------------------------------------------------- */

/* n1 to n3 run B already; change 2 has only the shelf of their domain. */
static void begin_shelf(struct campaign *w)
{
    campaign_begin(w, &(struct campaign_plan){.nodes = 3, .domain = 3, .unapproved = true});
    const struct lks_str a = lks_str_from(w->stack_a), b = lks_str_from(w->stack_b);
    const struct lks_str rack = LKS_STR("rack1"), shelf = LKS_STR("shelf1");
    const struct lks_record plan[] = {
        {.kind = LKS_RECORD_CHANGE,
         .change = {.id = 2, .hosts = shelf, .stack = b, .name = LKS_STR("b")}},
        {.kind = LKS_RECORD_PLAN_STEP, .plan_step = {.change = 2, .kind = LKS_DO_LEAVE}},
        {.kind = LKS_RECORD_PLAN_STEP,
         .plan_step = {.change = 2,
                       .index = 1,
                       .kind = LKS_DO_FLASH,
                       .rank = 4,
                       .layer = 2,
                       .component = LKS_STR("power-shelf"),
                       .version = LKS_STR("2.0"),
                       .before = LKS_STR("1.0"),
                       .bundle = LKS_STR(CAMPAIGN_BUNDLE),
                       .image = LKS_STR(CAMPAIGN_SHELF_B),
                       .bundle_back = LKS_STR(CAMPAIGN_BUNDLE),
                       .image_back = LKS_STR(CAMPAIGN_SHELF_A),
                       .revert = LKS_BMC_UPDATE}},
        {.kind = LKS_RECORD_PLAN_WAVE, .plan_wave = {.change = 2, .width = 1}},
        {.kind = LKS_RECORD_PLAN_PART,
         .plan_part = {.change = 2, .from = a, .hosts = shelf, .domain = rack}},
        {.kind = LKS_RECORD_CHANGE_MOVED,
         .change_moved = {.change = 2, .state = LKS_CHANGE_RUNNING}},
    };
    static const char *const nodes[] = {"n1", "n2", "n3"};
    for (size_t k = 0; k < LKS_COUNT(plan); k++)
        campaign_record(w, &plan[k]);
    for (size_t k = 0; k < LKS_COUNT(nodes); k++) {
        campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_MEMBER,
                                                .member = {.change = 1,
                                                           .node = lks_str_from(nodes[k]),
                                                           .state = LKS_MEMBER_DONE}});
        campaign_put(w, nodes[k], true);
        campaign_node(w, nodes[k])->busy = true;
    }
    w->change = 2;
}

static void hold_nodes(struct campaign *w)
{
    hold(w, "n1", true);
    hold(w, "n2", true);
    hold(w, "n3", true);
}

static void around_nodes_in_use(void)
{
    struct campaign w;
    begin_shelf(&w);
    go_on(&w, 3);
    CHECK_INT(campaign_count(&w, "flash id", "node=shelf1"), 0);
    CHECK_INT(campaign_count(&w, "nodes of its domain are in use, and not in this change", ""), 1);
    hold_nodes(&w);
    go_on(&w, 3);
    CHECK_INT(campaign_count(&w, "flash id", "node=shelf1"), 1);
    campaign_end(&w);
}

/* They were held when it began, and one of them is not any more when it is to be flashed. */
static void in_use_again(void)
{
    struct campaign w;
    begin_shelf(&w);
    hold_nodes(&w);
    CHECK(campaign_run_until(&w, "shelf1", 1, LKS_MEMBER_WAITING, HOUR));
    hold(&w, "n2", false);
    go_on(&w, 3);
    CHECK_INT(campaign_count(&w, "flash id", "node=shelf1"), 0);
    CHECK_HAS(lks_state_text(&w.a.state, campaign_member(&w, "shelf1")->text),
              "n2 of its domain is in use");
    hold(&w, "n2", true);
    go_on(&w, 3);
    CHECK_INT(campaign_count(&w, "flash id", "node=shelf1"), 1);
    campaign_end(&w);
}

/* Staged, and not to begin -------------------------------------------------------------------- */

static void halt(struct campaign *w)
{
    campaign_move(w, LKS_CHANGE_HALTED);
}

static void let_pause(struct campaign *w)
{
    campaign_move(w, LKS_CHANGE_PAUSED);
}

static void freeze(struct campaign *w)
{
    campaign_freeze(w, true);
}

static void run_again(struct campaign *w)
{
    campaign_move(w, LKS_CHANGE_RUNNING);
}

static void unfreeze(struct campaign *w)
{
    campaign_freeze(w, false);
}

/* Its image is staged while it is in use: it does not leave use any more before it may begin. */
static void staged_and_stopped(void)
{
    static const struct {
        const char *name;
        void (*stop)(struct campaign *w), (*go)(struct campaign *w);
    } rows[] = {{"halted", halt, run_again},
                {"paused", let_pause, run_again},
                {"frozen", freeze, unfreeze}};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .stages = true});
        CHECK(campaign_run_until(&w, "n1", 0, LKS_MEMBER_ASKED, HOUR));
        rows[i].stop(&w);
        go_on(&w, 30);
        CHECK_INT(campaign_count(&w, "drained node=n1", ""), 0);
        CHECK(!is_out(&w, "n1"));
        check_member(&w, "n1", LKS_MEMBER_WAITING);
        rows[i].go(&w);
        CHECK(campaign_run(&w, 4 * HOUR));
        check_member(&w, "n1", LKS_MEMBER_DONE);
        campaign_end(&w);
    }
}

/* The same where it is the clock that does not let it. */
static void staged_too_late(void)
{
    static const struct {
        const char *name;
        struct campaign_plan plan;
        enum lks_member_state ends;
    } rows[] = {
        {"its window closes, and opens again",
         {.nodes = 1, .stages = true, .windows = "Thu 00:00-00:20"},
         LKS_MEMBER_DONE},
        {"the time of the change is over",
         {.nodes = 1, .stages = true, .not_after = 20 * MINUTE},
         LKS_MEMBER_REVERTED},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &rows[i].plan);
        CHECK(campaign_run_until(&w, "n1", 0, LKS_MEMBER_ASKED, HOUR / 2));
        campaign_node(&w, "n1")->mute_bmc = true; /* tests begin at 00:16 */
        go_on(&w, 6);
        campaign_node(&w, "n1")->mute_bmc = false;
        go_on(&w, 5);
        CHECK_INT(campaign_count(&w, "drained node=n1", ""), 0);
        (void)campaign_run(&w, 8 * 24 * HOUR);
        check_member(&w, "n1", rows[i].ends);
        campaign_end(&w);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"a dead side", dead_side},
        {"a held side", held_side},
        {"around nodes in use", around_nodes_in_use},
        {"in use again", in_use_again},
        {"staged and stopped", staged_and_stopped},
        {"staged too late", staged_too_late},
        {0},
    };
    return lks_test_main(tests);
}
