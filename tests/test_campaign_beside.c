/* What is around a member: the other side of its pair, the nodes of its domain; and who may not
 * leave use any more when its image is staged. */
#include "core/campaign/campaign.h"
#include "core/rows/node.h"
#include "core/state/lookup.h"
#include "tests/campaigns.h"
#include "tests/test.h"

#define MINUTE CAMPAIGN_MINUTE
#define HOUR   CAMPAIGN_HOUR

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
 * domain goes back to what it was, however many nodes it can spare. */
static void dead_side(void)
{
    for (unsigned spares = 1; spares <= 2; spares++) {
        struct campaign w;
        lks_test_case("%u spares", spares);
        campaign_begin(
            &w, &(struct campaign_plan){.nodes = 4, .domain = 4, .shelves = 2, .spares = spares});
        campaign_fail(&w, "shelf1", "silence", LKS_BMC_FAILED, 9);
        (void)campaign_run(&w, 8 * HOUR);
        CHECK_MEMBER(&w, "shelf1", LKS_MEMBER_HANDS);
        CHECK_MEMBER(&w, "shelf2", LKS_MEMBER_REVERTED);
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_REVERTED);
        CHECK_HAS(lks_state_text(&w.a.state, campaign_member(&w, "shelf2")->text),
                  "shelf1, its redundant peer, is out of service");
        CHECK_INT(campaign_count(&w, "flash", "node=shelf2"), 0);
        campaign_end(&w);
    }
}

/* The same of sides that are units of their own: the second is left out in the end. */
static void dead_side_alone(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .shelves = 2, .failures_max = 9});
    campaign_fail(&w, "shelf1", "silence", LKS_BMC_FAILED, 9);
    (void)campaign_run(&w, 8 * HOUR);
    CHECK_MEMBER(&w, "shelf1", LKS_MEMBER_HANDS);
    CHECK_MEMBER(&w, "shelf2", LKS_MEMBER_PENDING);
    campaign_pass(&w, MINUTE);
    campaign_move(&w, LKS_CHANGE_RUNNING);
    CHECK(campaign_run(&w, 48 * HOUR));
    CHECK_MEMBER(&w, "shelf2", LKS_MEMBER_SKIPPED);
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
        CHECK_MEMBER(&w, "shelf1", again > 0 ? LKS_MEMBER_DONE : LKS_MEMBER_SKIPPED);
        CHECK_MEMBER(&w, "shelf2", again > 0 ? LKS_MEMBER_DONE : LKS_MEMBER_SKIPPED);
        campaign_end(&w);
    }
}

/* The hold came when the second was under way already. */
static void held_meanwhile(void)
{
    static const struct {
        const char *name;
        struct campaign_plan plan;
    } rows[] = {
        {"in a domain", {.nodes = 3, .domain = 3, .shelves = 2}},
        {"alone", {.nodes = 1, .shelves = 2}},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &rows[i].plan);
        CHECK(campaign_run_until(&w, "shelf2", 1, LKS_MEMBER_WAITING, 8 * HOUR));
        hold(&w, "shelf1", true);
        CHECK(!campaign_run(&w, 2 * HOUR));
        CHECK_INT(campaign_count(&w, "flash id", "node=shelf2"), 0);
        CHECK_HAS(lks_state_text(&w.a.state, campaign_member(&w, "shelf2")->text),
                  "its redundant peer, is on hold");
        hold(&w, "shelf1", false);
        CHECK(campaign_run(&w, 8 * HOUR));
        CHECK_MEMBER(&w, "shelf2", LKS_MEMBER_DONE);
        campaign_end(&w);
    }
}

/* A change that goes back does so without the side that it would have to touch beside a held one,
 * and says so. */
static void held_on_the_way_back(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .shelves = 2, .soak = 1000 * HOUR});
    go_on(&w, 120);
    CHECK_MEMBER(&w, "shelf2", LKS_MEMBER_DONE);
    hold(&w, "shelf1", true);
    campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
    CHECK(campaign_run(&w, 72 * HOUR));
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_REVERTED);
    CHECK_MEMBER(&w, "shelf2", LKS_MEMBER_DONE);
    CHECK_HAS(lks_state_text(&w.a.state, campaign_change(&w)->moved_reason),
              "1 could not roll back; shelf2 stays on it, since its redundant peer is on "
              "hold");
    campaign_end(&w);
}

/* An asset around nodes in use --------------------------------------------------------------- */

enum { NODES, SHELF }; /* recipes */

static const struct lks_rec_plan_step steps[] = {
    {.recipe = NODES, .kind = LKS_DO_LEAVE, .limit = HOUR},
    {.recipe = NODES, .index = 1, .kind = LKS_DO_ACCEPT, .rank = 8},
    {.recipe = NODES, .index = 2, .kind = LKS_DO_RETURN, .rank = 9},
    {.recipe = SHELF, .kind = LKS_DO_LEAVE, .limit = HOUR},
    {.recipe = SHELF,
     .index = 1,
     .kind = LKS_DO_FLASH,
     .rank = 4,
     .layer = 2,
     .component = LKS_STR_C("power-shelf"),
     .version = LKS_STR_C("2.0"),
     .before = LKS_STR_C("1.0"),
     .bundle = LKS_STR_C(CAMPAIGN_BUNDLE),
     .image = LKS_STR_C(CAMPAIGN_SHELF_B),
     .bundle_back = LKS_STR_C(CAMPAIGN_BUNDLE),
     .image_back = LKS_STR_C(CAMPAIGN_SHELF_A),
     .revert = LKS_BMC_UPDATE},
    {.recipe = SHELF, .index = 2, .kind = LKS_DO_ACCEPT, .rank = 8},
    {.recipe = SHELF, .index = 3, .kind = LKS_DO_RETURN, .rank = 9},
};

static void plan_part(struct campaign *w, uint64_t recipe, const char *from, const char *hosts)
{
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_PLAN_PART,
                                            .plan_part = {.change = 2,
                                                          .recipe = recipe,
                                                          .from = lks_str_from(from),
                                                          .hosts = lks_str_from(hosts),
                                                          .domain = LKS_STR("rack1")}});
}

static void run_b(struct campaign *w, const char *node)
{
    campaign_record(
        w, &(struct lks_record){
               .kind = LKS_RECORD_MEMBER,
               .member = {.change = 1, .node = lks_str_from(node), .state = LKS_MEMBER_DONE}});
    campaign_put(w, node, true);
}

/* n1 to n3 run B already; change 2 is for the shelf of their domain, and `along` has them leave use
 * with it. */
static void begin_shelf(struct campaign *w, bool along)
{
    campaign_begin(w, &(struct campaign_plan){.nodes = 3, .domain = 3, .unapproved = true});
    run_b(w, "n1");
    run_b(w, "n2");
    run_b(w, "n3");
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_CHANGE,
                                            .change = {.id = 2,
                                                       .hosts = LKS_STR("shelf1"),
                                                       .stack = lks_str_from(w->stack_b),
                                                       .name = LKS_STR("b")}});
    for (size_t k = 0; k < LKS_COUNT(steps); k++) {
        struct lks_record r = {.kind = LKS_RECORD_PLAN_STEP, .plan_step = steps[k]};
        r.plan_step.change = 2;
        campaign_record(w, &r);
    }
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_PLAN_WAVE,
                                            .plan_wave = {.change = 2, .width = 1}});
    if (along)
        plan_part(w, NODES, w->stack_b, "n[1-3]");
    plan_part(w, SHELF, w->stack_a, "shelf1");
    w->change = 2;
    campaign_move(w, LKS_CHANGE_RUNNING);
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
    begin_shelf(&w, false);
    go_on(&w, 3);
    CHECK_INT(campaign_count(&w, "flash id", "node=shelf1"), 0);
    CHECK_INT(campaign_count(&w, "nodes of its domain are in service, and not in this change", ""),
              1);
    hold_nodes(&w);
    go_on(&w, 3);
    CHECK_INT(campaign_count(&w, "flash id", "node=shelf1"), 1);
    campaign_end(&w);
}

/* They were held when it began, and one of them is not any more when it is to be flashed. */
static void in_use_again(void)
{
    struct campaign w;
    begin_shelf(&w, false);
    hold_nodes(&w);
    CHECK(campaign_run_until(&w, "shelf1", 1, LKS_MEMBER_WAITING, HOUR));
    hold(&w, "n2", false);
    go_on(&w, 3);
    CHECK_INT(campaign_count(&w, "flash id", "node=shelf1"), 0);
    CHECK_HAS(lks_state_text(&w.a.state, campaign_member(&w, "shelf1")->text),
              "n2 of its domain is in service");
    hold(&w, "n2", true);
    go_on(&w, 3);
    CHECK_INT(campaign_count(&w, "flash id", "node=shelf1"), 1);
    campaign_end(&w);
}

/* They leave use with it and return with it, there and back. */
static void along(void)
{
    for (unsigned back = 0; back < 2; back++) {
        struct campaign w;
        lks_test_case(back > 0 ? "back" : "there");
        begin_shelf(&w, true);
        CHECK(campaign_run_until(&w, "shelf1", 1, LKS_MEMBER_ASKED, HOUR));
        CHECK(is_out(&w, "n1") && is_out(&w, "n2") && is_out(&w, "n3"));
        if (back > 0)
            campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
        CHECK(campaign_run(&w, 8 * HOUR));
        CHECK_MEMBER(&w, "shelf1", back > 0 ? LKS_MEMBER_REVERTED : LKS_MEMBER_DONE);
        CHECK_MEMBER(&w, "n3", back > 0 ? LKS_MEMBER_REVERTED : LKS_MEMBER_DONE);
        CHECK(!is_out(&w, "n1") && !is_out(&w, "n2") && !is_out(&w, "n3"));
        campaign_end(&w);
    }
}

/* One of them is lost before anything was done to the shelf: the others return as they are, and
 * nobody is told that they are kept. */
static void along_and_lost(void)
{
    struct campaign w;
    begin_shelf(&w, true);
    campaign_node(&w, "n3")->busy = true;
    go_on(&w, 2);
    campaign_node(&w, "n3")->up = false;
    go_on(&w, 200);
    CHECK_MEMBER(&w, "n3", LKS_MEMBER_FENCED);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_REVERTED);
    CHECK_MEMBER(&w, "shelf1", LKS_MEMBER_REVERTED);
    CHECK_INT(campaign_count(&w, "alarm=change", "subject=n1"), 0);
    CHECK_INT(campaign_count(&w, "flash id", "node=shelf1"), 0);
    campaign_end(&w);
}

/* A node joined the domain and has jobs: the shelf does not go back around it. */
static void joined_before_the_way_back(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 3, .domain = 3, .soak = 100 * HOUR});
    go_on(&w, 120);
    CHECK_MEMBER(&w, "shelf1", LKS_MEMBER_DONE);
    w.plan.domain = 4;
    campaign_join(&w);
    go_on(&w, 3);
    campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
    CHECK(campaign_run(&w, 8 * HOUR));
    CHECK_MEMBER(&w, "shelf1", LKS_MEMBER_DONE);
    CHECK(!is_out(&w, "n1"));
    CHECK_HAS(lks_state_text(&w.a.state, campaign_change(&w)->moved_reason),
              "rack1 stays on it whole, since n4 is in service there");
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
    for (size_t i = 0; i < 2 * LKS_COUNT(rows); i++) {
        struct campaign w;
        bool domain = i >= LKS_COUNT(rows);
        lks_test_case("%s%s", rows[i % LKS_COUNT(rows)].name, domain ? ", a domain" : "");
        campaign_begin(&w, &(struct campaign_plan){
                               .nodes = domain ? 3 : 1, .domain = domain ? 3 : 0, .stages = true});
        CHECK(campaign_run_until(&w, "n1", 0, LKS_MEMBER_ASKED, HOUR));
        rows[i % LKS_COUNT(rows)].stop(&w);
        go_on(&w, 30);
        CHECK_INT(campaign_count(&w, "drained node=n1", ""), 0);
        CHECK(!is_out(&w, "n1"));
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_WAITING);
        rows[i % LKS_COUNT(rows)].go(&w);
        CHECK(campaign_run(&w, 4 * HOUR));
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
        campaign_end(&w);
    }
}

static void freeze_pool(struct campaign *w, const char *pool, bool on)
{
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_FROZEN,
                                            .frozen = {.pool = lks_str_from(pool),
                                                       .on = on,
                                                       .by = LKS_STR("lee"),
                                                       .reason = LKS_STR("a demonstration")}});
}

/* So many of the pool changed at once that acts wait, until a person closes that alarm. */
static void let_wait(struct campaign *w, const char *pool, bool on)
{
    uint64_t next = w->a.state.next_alarm;
    const struct lks_record waits[] = {
        {.kind = LKS_RECORD_ALARM,
         .alarm = {.id = next, .kind = LKS_ALARM_MASS, .subject = lks_str_from(pool)}},
        {.kind = LKS_RECORD_MASS, .mass = {.pool = lks_str_from(pool), .count = 9, .alarm = next}},
    };
    for (size_t i = 0; i < LKS_COUNT(waits) && on; i++)
        campaign_record(w, &waits[i]);
    if (!on)
        campaign_event(w, &(struct lks_event){.kind = LKS_EVENT_ALARM_RELEASE,
                                              .by = LKS_STR("lee"),
                                              .reason = LKS_STR("a switch was rebooted"),
                                              .alarm = next - 1});
}

/* A domain of two pools, at two sites: what stops the pool of any of its nodes stops all of it. */
static void staged_and_one_stopped(void)
{
    static const struct {
        const char *name, *pool;
        void (*stop)(struct campaign *w, const char *pool, bool on);
    } rows[] = {
        {"the pool of the first is frozen", "train", freeze_pool},
        {"the pool of the last is frozen", "serve", freeze_pool},
        {"acts of the pool of the first wait", "train", let_wait},
        {"acts of the pool of the last wait", "serve", let_wait},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(
            &w, &(struct campaign_plan){.nodes = 3, .domain = 3, .apart = 1, .stages = true});
        CHECK(campaign_run_until(&w, "n3", 0, LKS_MEMBER_ASKED, HOUR));
        rows[i].stop(&w, rows[i].pool, true);
        go_on(&w, 30);
        CHECK_INT(campaign_count(&w, "drained node=", ""), 0);
        CHECK(!is_out(&w, "n1") && !is_out(&w, "n2") && !is_out(&w, "n3"));
        rows[i].stop(&w, rows[i].pool, false);
        CHECK(campaign_run(&w, 4 * HOUR));
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
        CHECK_MEMBER(&w, "n3", LKS_MEMBER_DONE);
        campaign_end(&w);
    }
}

static void mute_bmcs(struct campaign *w, bool mute)
{
    for (unsigned i = 0; i < w->count; i++)
        w->nodes[i].mute_bmc = mute;
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
        {"the time of the change has expired",
         {.nodes = 1, .stages = true, .not_after = 20 * MINUTE},
         LKS_MEMBER_REVERTED},
        {"the time of the change has expired, of a domain",
         {.nodes = 3, .domain = 3, .stages = true, .not_after = 20 * MINUTE},
         LKS_MEMBER_REVERTED},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &rows[i].plan);
        CHECK(campaign_run_until(&w, "n1", 0, LKS_MEMBER_ASKED, HOUR / 2));
        mute_bmcs(&w, true); /* tests begin at 00:16 */
        go_on(&w, 6);
        mute_bmcs(&w, false);
        go_on(&w, 5);
        CHECK_INT(campaign_count(&w, "drained node=n1", ""), 0);
        (void)campaign_run(&w, 8 * 24 * HOUR);
        CHECK_MEMBER(&w, "n1", rows[i].ends);
        campaign_end(&w);
    }
}

/* An update of an asset with unknown outcome ------------------------------------------------- */

static bool in_service(const struct campaign *w, const char *node)
{
    const struct lks_node *n = &w->a.state.nodes[campaign_member(w, node)->node];
    return n->changing == 0 && n->drained_by == 0;
}

static const struct {
    const char *name, *what;
    bool first;
    unsigned spares;
    enum lks_member_state shelf1, resolved, n1;
} unresolved[] = {
    {"nodes that nothing was done to", "flash", true, 0, LKS_MEMBER_UNKNOWN, LKS_MEMBER_FENCED,
     LKS_MEMBER_REVERTED},
    {"beside an endpoint that is silent", "silence", true, 0, LKS_MEMBER_HANDS, LKS_MEMBER_HANDS,
     LKS_MEMBER_REVERTED},
    {"nodes on the target, and there is a spare", "flash", false, 1, LKS_MEMBER_UNKNOWN,
     LKS_MEMBER_FENCED, LKS_MEMBER_DONE},
    {"nodes that rolled back, and there is none", "flash", false, 0, LKS_MEMBER_UNKNOWN,
     LKS_MEMBER_FENCED, LKS_MEMBER_FENCED},
};

/* The endpoint may still carry the update out: no node of the domain returns to service before a
 * person resolved it, and then all of them do, or none. */
static void unresolved_asset(void)
{
    for (size_t i = 0; i < LKS_COUNT(unresolved); i++) {
        struct campaign w;
        lks_test_case("%s", unresolved[i].name);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 3,
                                                   .domain = 3,
                                                   .spares = unresolved[i].spares,
                                                   .shelf_first = unresolved[i].first});
        campaign_fail(&w, "shelf1", unresolved[i].what, LKS_BMC_UNKNOWN, 1);
        (void)campaign_run(&w, 4 * HOUR);
        campaign_pass(&w, 4 * HOUR);
        campaign_settle(&w);
        CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
        CHECK_MEMBER(&w, "shelf1", unresolved[i].shelf1);
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_WAITING);
        CHECK(!in_service(&w, "n1") && !in_service(&w, "n3"));
        CHECK(campaign_tick(&w) == 0); /* it waits, and records nothing */
        campaign_resolve(&w, "shelf1");
        campaign_settle(&w);
        CHECK_MEMBER(&w, "shelf1", unresolved[i].resolved);
        CHECK_MEMBER(&w, "n1", unresolved[i].n1);
        CHECK_MEMBER(&w, "n3", unresolved[i].n1);
        CHECK_INT(in_service(&w, "n1"), unresolved[i].n1 != LKS_MEMBER_FENCED);
        CHECK_INT(in_service(&w, "n3"), unresolved[i].n1 != LKS_MEMBER_FENCED);
        campaign_show(&w);
        campaign_end(&w);
    }
}

/* Units behind it roll back meanwhile, though only one of them may at a time. */
static void unresolved_in_a_rollback(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){
                           .nodes = 4, .domain = 2, .width = 1, .waves = {3}, .soak = 90 * HOUR});
    CHECK(!campaign_run(&w, 9 * HOUR));
    CHECK_MEMBER(&w, "n4", LKS_MEMBER_DONE);
    campaign_fail(&w, "shelf1", "flash", LKS_BMC_UNKNOWN, 1);
    campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
    CHECK(!campaign_run(&w, 9 * HOUR));
    CHECK_MEMBER(&w, "shelf1", LKS_MEMBER_UNKNOWN);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_WAITING);
    CHECK_MEMBER(&w, "n4", LKS_MEMBER_REVERTED);
    campaign_resolve(&w, "shelf1");
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_ROLLED_BACK);
    campaign_show(&w);
    campaign_end(&w);
}

/* Nor does a person return one as is, however its change ended for it. */
static void unresolved_as_is(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .domain = 2, .spares = 1});
    campaign_fail(&w, "shelf1", "flash", LKS_BMC_UNKNOWN, 1);
    campaign_fail(&w, "n1", "apt", LKS_OUTCOME_FAILED, 9);
    (void)campaign_run(&w, 4 * HOUR);
    CHECK_MEMBER(&w, "shelf1", LKS_MEMBER_UNKNOWN);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_FENCED);
    campaign_event(&w, &(struct lks_event){.kind = LKS_EVENT_MEMBER_MOVE,
                                           .by = LKS_STR("lee"),
                                           .reason = LKS_STR("as it is"),
                                           .name = LKS_STR("n1"),
                                           .member = {.change = 1}});
    CHECK_STR(lks_str_from(w.a.decision.refused.msg),
              "the outcome of an update is unknown on shelf1: inspect it, and resolve that first");
    campaign_end(&w);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"a dead side", dead_side},
        {"a dead side alone", dead_side_alone},
        {"a held side", held_side},
        {"held meanwhile", held_meanwhile},
        {"held on the way back", held_on_the_way_back},
        {"around nodes in use", around_nodes_in_use},
        {"in use again", in_use_again},
        {"along", along},
        {"along, and lost", along_and_lost},
        {"joined before the way back", joined_before_the_way_back},
        {"staged and stopped", staged_and_stopped},
        {"staged, and the pool of one is stopped", staged_and_one_stopped},
        {"staged too late", staged_too_late},
        {"an asset whose update is not resolved", unresolved_asset},
        {"others roll back beside it", unresolved_in_a_rollback},
        {"nor is a node beside it returned as is", unresolved_as_is},
        {0},
    };
    return lks_test_main(tests);
}
