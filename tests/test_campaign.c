/* The plain way of a change: one node, waves, a domain, showing the way back, our own time. */
#include "core/rows/change.h"
#include "core/rows/node.h"
#include "core/rows/registry.h"
#include "core/state/lookup.h"
#include "tests/campaigns.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

#define MINUTE CAMPAIGN_MINUTE
#define HOUR   CAMPAIGN_HOUR

static void finish(struct campaign *w, enum lks_change_state state)
{
    CHECK(campaign_run(w, 4 * HOUR));
    CHECK_STR(lks_str_from(lks_change_state_words[campaign_change(w)->state]),
              lks_change_state_words[state]);
    if (getenv("SHOW") != NULL)
        printf("%.*s\n", (int)w->log.len, w->log.ptr == NULL ? "" : w->log.ptr);
}

static const struct {
    const char *name;
    struct campaign_plan plan;
    unsigned flashes;
} plain[] = {
    {"one node", {.nodes = 1}, 1},
    {"three nodes at once", {.nodes = 3}, 3},
    {"one after the other", {.nodes = 3, .width = 1}, 3},
    {"a canary and two rings", {.nodes = 5, .waves = {1, 2, 2}}, 5},
    {"a canary that soaks", {.nodes = 2, .waves = {1, 1}, .soak = 10 * MINUTE}, 2},
    {"a domain of three nodes and a shelf", {.nodes = 3, .domain = 3}, 4},
    {"a domain, then nodes", {.nodes = 5, .domain = 3, .waves = {1, 2}}, 6},
    {"redundant shelves that are no domain", {.nodes = 1, .shelves = 2}, 3},
    {"the first exercises the rollback", {.nodes = 2, .proves = true}, 4},
    {"a domain exercises the rollback", {.nodes = 3, .domain = 2, .proves = true}, 10},
    {"one way, with the way back shown for the rest",
     {.nodes = 2, .proves = true, .one_way = true},
     2},
    {"staged first", {.nodes = 2, .stages = true}, 4},
    {"staged first, and the way back is shown", {.nodes = 1, .stages = true, .proves = true}, 5},
    {"a pool that enforces", {.nodes = 2, .enforce = "on"}, 2},
    {"a scheduler that drains", {.nodes = 2, .sched = "simulated"}, 2},
};

static void check_all_there(struct campaign *w)
{
    for (unsigned i = 0; i < w->count; i++) {
        const struct lks_member *m = campaign_member(w, w->nodes[i].name);
        const struct lks_node *n = &w->a.state.nodes[m->node];
        CHECK_INT(m->state, LKS_MEMBER_DONE);
        CHECK(w->nodes[i].flashed);
        CHECK(w->nodes[i].asset || w->nodes[i].loaded);
        CHECK_INT(n->changing, 0);
        CHECK_INT(n->drained_by, 0);
        CHECK_INT(n->change, 0);
        if (n->asset == 0 || w->plan.domain > 0) /* else nobody says what it should be */
            CHECK_INT(lks_state_judged(&w->a.state, m->node), LKS_JUDGED_CONFORMS);
    }
}

static void plain_ways(void)
{
    for (size_t i = 0; i < LKS_COUNT(plain); i++) {
        struct campaign w;
        lks_test_case("%s", plain[i].name);
        campaign_begin(&w, &plain[i].plan);
        finish(&w, LKS_CHANGE_DONE);
        check_all_there(&w);
        CHECK_INT(w.flash_count, plain[i].flashes);
        CHECK_INT(campaign_count(&w, "pool name=train", "stack=silver"), 1);
        CHECK_INT(campaign_count(&w, "alarm ", ""), 0);
        campaign_end(&w);
    }
}

/* Meanwhile ---------------------------------------------------------------------------------- */

/* A node is taken out of the fleet, at each step of it: the change goes on without it. */
static void removed(void)
{
    for (uint32_t step = 0; step < CAMPAIGN_STEPS; step++) {
        struct campaign w;
        lks_test_case("step %u", step);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 2});
        CHECK(campaign_run_until(&w, "n1", step, LKS_MEMBER_WAITING, HOUR));
        campaign_node(&w, "n1")->gone = true;
        campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_REMOVED,
                                                 .removed = {.hosts = LKS_STR("n1")}});
        CHECK(campaign_run(&w, 4 * HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_DONE);
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_SKIPPED);
        CHECK_MEMBER(&w, "n2", LKS_MEMBER_DONE);
        campaign_end(&w);
    }
}

/* It is away when its turn comes: the others go on, and it is left alone in the end. */
static void lost_before(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .width = 1, .unapproved = true});
    campaign_node(&w, "n1")->up = false;
    (void)campaign_run(&w, 10 * MINUTE);
    campaign_move(&w, LKS_CHANGE_RUNNING);
    CHECK(!campaign_run(&w, 30 * MINUTE));
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_DONE);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_PENDING);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_SKIPPED);
    campaign_end(&w);
}

/* It does not come back: kept out of use, and it is told that it is lost. */
static void lost_on_the_way(void)
{
    for (uint32_t step = CAMPAIGN_APPLY; step < CAMPAIGN_RETURN; step++) {
        struct campaign w;
        lks_test_case("step %u", step);
        if (step == CAMPAIGN_FLASH) /* that is not the node's business */
            continue;
        campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .width = 1});
        CHECK(campaign_run_until(&w, "n1", step, LKS_MEMBER_ASKED, HOUR));
        campaign_node(&w, "n1")->up = false;
        CHECK(campaign_run(&w, 4 * HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_FENCED);
        CHECK_MEMBER(&w, "n2", LKS_MEMBER_PENDING);
        CHECK_INT(campaign_member(&w, "n1")->failure, LKS_FAILURE_LOST);
        CHECK_INT(campaign_count(&w, "alarm ", "alarm=change subject=n1"), 1);
        /* Nor does it come back into use when it is heard of again. */
        campaign_node(&w, "n1")->up = true;
        (void)campaign_run(&w, HOUR);
        campaign_settle(&w);
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_FENCED);
        CHECK(w.a.state.nodes[campaign_member(&w, "n1")->node].changing != 0);
        campaign_end(&w);
    }
}

/* A node that is away for a moment at any step is waited for. */
static void away_for_a_moment(void)
{
    for (uint32_t step = CAMPAIGN_LEAVE; step < CAMPAIGN_RETURN; step++) {
        struct campaign w;
        lks_test_case("step %u", step);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 1});
        CHECK(campaign_run_until(&w, "n1", step, LKS_MEMBER_WAITING, HOUR));
        campaign_node(&w, "n1")->up = false;
        CHECK(!campaign_run(&w, 4 * MINUTE));
        campaign_node(&w, "n1")->up = true;
        CHECK(campaign_run(&w, 2 * HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_DONE);
        campaign_end(&w);
    }
}

/* Two changes of one node: the second begins when the first is over there. */
static void two_changes(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .width = 1});
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
    campaign_propose(&w, 2);
    campaign_move(&w, LKS_CHANGE_APPROVED);
    campaign_move(&w, LKS_CHANGE_RUNNING);
    for (unsigned i = 0; i < 200 && !lks_change_over(campaign_change(&w)); i++) {
        for (unsigned n = 0; n < 2; n++) {
            const struct lks_state *s = &w.a.state;
            uint32_t node = campaign_member(&w, w.nodes[n].name)->node;
            unsigned moving = 0;
            for (uint32_t c = 0; c < s->change_count; c++) {
                const struct lks_member *m = lks_state_change_member(&s->changes[c], node);
                moving += !lks_member_over(m) && m->state != LKS_MEMBER_PENDING;
            }
            CHECK(moving <= 1);
        }
        (void)campaign_tick(&w);
        if (campaign_answer(&w) == 0)
            campaign_pass(&w, MINUTE);
    }
    /* It was planned from where the node is not any more. */
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_SKIPPED);
    CHECK(campaign_count(&w, "change=2 node=n1 state=skipped", "planned from") == 1);
    w.change = 1;
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
    campaign_end(&w);
}

/* Too many of the pool turned at once: nobody else begins before a person looked. */
static void mass_waits(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .width = 1});
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
    campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_ALARM,
                                             .alarm = {.id = w.a.state.next_alarm,
                                                       .kind = LKS_ALARM_MASS,
                                                       .subject = LKS_STR("train"),
                                                       .text = LKS_STR("many")}});
    uint64_t alarm = w.a.state.next_alarm - 1;
    campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_MASS,
                                             .mass = {.pool = LKS_STR("train"),
                                                      .what = LKS_STR("late"),
                                                      .count = 20,
                                                      .of = 30,
                                                      .alarm = alarm}});
    CHECK(!campaign_run(&w, HOUR));
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_PENDING);
    const struct lks_event e = {.kind = LKS_EVENT_ALARM_RELEASE,
                                .by = LKS_STR("lee"),
                                .reason = LKS_STR("a switch was rebooted"),
                                .alarm = alarm};
    campaign_event(&w, &e);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    campaign_end(&w);
}

/* Promise 7: a drain of somebody else is kept, and stays theirs. */
static void drained_by_another(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .unapproved = true});
    campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_DRAINED,
                                             .drained = {.node = LKS_STR("n1"),
                                                         .owner = LKS_STR("kim"),
                                                         .reason = LKS_STR("a fan")}});
    campaign_move(&w, LKS_CHANGE_RUNNING);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    CHECK_INT(campaign_count(&w, "undrained", ""), 0);
    CHECK_STR(
        lks_state_text(&w.a.state, w.a.state.nodes[campaign_member(&w, "n1")->node].drained_by),
        "kim");
    campaign_end(&w);
}

/* A drain for drift stays while the node is changed, though it is right before the end of that: it
 * is never open for work in between. */
static void drained_for_drift(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .unapproved = true});
    campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_DRAINED,
                                             .drained = {.node = LKS_STR("n1"),
                                                         .owner = LKS_STR("lockstep:drift"),
                                                         .reason = LKS_STR("as it was")}});
    campaign_move(&w, LKS_CHANGE_RUNNING);
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_ACCEPT, LKS_MEMBER_ASKED, HOUR));
    CHECK_INT(campaign_count(&w, "undrained", ""), 0);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    CHECK_INT(campaign_count(&w, "undrained node=n1", "owner=lockstep:drift"), 1);
    CHECK_INT(campaign_count(&w, "drained node=n1", "owner=change:1"), 0);
    CHECK_INT(w.a.state.nodes[campaign_member(&w, "n1")->node].drained_by, 0);
    campaign_end(&w);
}

/* And where they release it meanwhile, it is drained by us. */
static void released_by_another(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .unapproved = true});
    campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_DRAINED,
                                             .drained = {.node = LKS_STR("n1"),
                                                         .owner = LKS_STR("kim"),
                                                         .reason = LKS_STR("a fan")}});
    campaign_move(&w, LKS_CHANGE_RUNNING);
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_FLASH, LKS_MEMBER_ASKED, HOUR));
    campaign_record(
        &w, &(struct lks_record){.kind = LKS_RECORD_UNDRAINED,
                                 .undrained = {.node = LKS_STR("n1"), .owner = LKS_STR("kim")}});
    (void)campaign_tick(&w);
    CHECK_INT(campaign_count(&w, "drained node=n1", "owner=change:1"), 1);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    CHECK_INT(w.a.state.nodes[campaign_member(&w, "n1")->node].drained_by, 0);
    campaign_end(&w);
}

/* Promise 9: nothing more is sent of a bundle that was revoked. */
static void revoked(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1});
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_APPLY, LKS_MEMBER_WAITING, HOUR));
    campaign_record(&w,
                    &(struct lks_record){
                        .kind = LKS_RECORD_BUNDLE_REVOKED,
                        .bundle_revoked = {
                            .digest = w.a.state.bundle_count > 0
                                          ? lks_state_text(&w.a.state, w.a.state.bundles[0].digest)
                                          : LKS_STR(""),
                            .reason = LKS_STR("it bricks")}});
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_REVERTED);
    CHECK_INT(campaign_member(&w, "n1")->failure, LKS_FAILURE_REFUSED);
    CHECK_INT(campaign_count(&w, "command ", "executor=apt"), 0);
    CHECK_INT(w.flash_count, 0);
    campaign_end(&w);
}

static void hold(struct campaign *w, const char *node, bool on)
{
    const struct lks_record held = {
        .kind = LKS_RECORD_HELD,
        .held = {.node = lks_str_from(node), .by = LKS_STR("kim"), .reason = LKS_STR("a fan")}};
    const struct lks_record unheld = {
        .kind = LKS_RECORD_UNHELD,
        .unheld = {.node = lks_str_from(node), .by = LKS_STR("kim"), .reason = LKS_STR("done")}};
    campaign_record(w, on ? &held : &unheld);
}

/* A person keeps a node: nobody begins on it, and not for ever is it waited for. */
static void held_before(void)
{
    for (unsigned released = 0; released < 2; released++) {
        struct campaign w;
        lks_test_case(released ? "released" : "never released");
        campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .unapproved = true});
        hold(&w, "n1", true);
        campaign_move(&w, LKS_CHANGE_APPROVED);
        campaign_move(&w, LKS_CHANGE_RUNNING);
        CHECK(!campaign_run(&w, 30 * MINUTE));
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_PENDING);
        CHECK_MEMBER(&w, "n2", LKS_MEMBER_DONE);
        CHECK_STR(lks_state_text(&w.a.state, campaign_change(&w)->waves[0].text),
                  "waits: n1: held by kim: a fan");
        if (released)
            hold(&w, "n1", false);
        CHECK(campaign_run(&w, 2 * HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_DONE);
        CHECK_MEMBER(&w, "n1", released ? LKS_MEMBER_DONE : LKS_MEMBER_SKIPPED);
        campaign_end(&w);
    }
}

/* In the middle of its steps it would be worse off: it goes on, and stays held. */
static void held_on_the_way(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1});
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
    hold(&w, "n1", true);
    CHECK(campaign_run(&w, HOUR));
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
    CHECK(w.a.state.nodes[campaign_member(&w, "n1")->node].held);
    campaign_end(&w);
}

/* An update of which nobody could tell: a person looks, and then decides. */
static void looked_at(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1});
    campaign_fail(&w, "n1", "flash", LKS_BMC_UNKNOWN, 1);
    CHECK(campaign_run(&w, HOUR));
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_UNKNOWN);
    CHECK_INT(w.flash_count, 1);
    campaign_pass(&w, MINUTE);
    const struct lks_event events[] = {
        {.kind = LKS_EVENT_FLASH_RESOLVE,
         .by = LKS_STR("lee"),
         .reason = LKS_STR("it runs the old one"),
         .name = LKS_STR("n1")},
        {.kind = LKS_EVENT_CHANGE_MOVE,
         .by = LKS_STR("lee"),
         .reason = LKS_STR("on it goes"),
         .move = {.change = 1, .order = LKS_ORDERED_RESUME}},
        {.kind = LKS_EVENT_MEMBER_MOVE,
         .by = LKS_STR("lee"),
         .reason = LKS_STR("once more"),
         .name = LKS_STR("n1"),
         .member = {.change = 1, .again = true}},
    };
    for (size_t i = 0; i < LKS_COUNT(events); i++) {
        campaign_event(&w, &events[i]);
        if (i == 0) {
            (void)campaign_tick(&w);
            CHECK_MEMBER(&w, "n1", LKS_MEMBER_FENCED);
        }
    }
    CHECK_INT(w.flash_count, 1);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
    campaign_end(&w);
}

/* A scheduler that lets the node go again before it was made sure of. */
static void not_drained_any_more(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .sched = "simulated", .enforce = "on"});
    w.sched_mute = true;
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_LEAVE, LKS_MEMBER_ASKED, HOUR));
    struct lks_event e = {.kind = LKS_EVENT_SCHED,
                          .node = campaign_member(&w, "n1")->node,
                          .sched = {.drained = true, .owner = LKS_STR("somebody")}};
    campaign_event(&w, &e);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_ASKED); /* not by us */
    e.sched.owner = LKS_STR("change:1");
    campaign_event(&w, &e);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_READING);
    e.sched.drained = false;
    campaign_event(&w, &e);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_ASKED);
    CHECK_INT(campaign_count(&w, "executor=idle", ""), 0);
    /* Nor by what its agent is about to say: it may have looked before. */
    e.sched.drained = true;
    campaign_event(&w, &e);
    campaign_pass(&w, 10 * MINUTE);
    (void)campaign_tick(&w);
    CHECK_INT(campaign_count(&w, "executor=idle", ""), 1);
    e.sched.drained = false;
    campaign_event(&w, &e);
    (void)campaign_answer(&w);
    (void)campaign_tick(&w);
    CHECK_INT(campaign_member(&w, "n1")->step, CAMPAIGN_LEAVE);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_ASKED);
    w.sched_mute = false;
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    campaign_end(&w);
}

/* A scheduler that never drains: a day, and no more. */
static void never_drained(void)
{
    static const struct {
        const char *posture;
        enum lks_member_state ends;
    } rows[] = {{"pre-training", LKS_MEMBER_FENCED}, {"batch", LKS_MEMBER_REVERTED}};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].posture);
        campaign_begin(&w, &(struct campaign_plan){
                               .nodes = 1, .sched = "simulated", .posture = rows[i].posture});
        w.sched_mute = true;
        CHECK(campaign_run(&w, 3 * HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
        CHECK_MEMBER(&w, "n1", rows[i].ends);
        CHECK_INT(campaign_member(&w, "n1")->failure, LKS_FAILURE_BUSY);
        CHECK_INT(campaign_count(&w, "executor=", ""), 0);
        campaign_end(&w);
    }
}

/* No step begins while a yes may bring a job: where the pool enforces, that takes a while. */
static void yeses_expire_first(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .enforce = "on"});
    lks_ms began = w.a.now.wall;
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_LEAVE, LKS_MEMBER_READING, HOUR));
    CHECK(w.a.now.wall >= began + w.a.state.limits.validity);
    campaign_end(&w);
}

/* A change that broke the glass: its ring was halted before it began. Whoever resumes it does not
 * approve it by that. */
static void ring_without_approvals(void)
{
    const struct lks_record before[] = {
        {.kind = LKS_RECORD_GLASS_BROKEN,
         .glass_broken = {.change = 1, .until = 100 * HOUR, .by = LKS_STR("user:bob")}},
        {.kind = LKS_RECORD_GRANTED,
         .granted = {.identity = LKS_STR("user:ann"), .role = LKS_ROLE_APPROVER}},
    };
    const struct lks_rec_wave halted = {.change = 1, .index = 1, .state = LKS_WAVE_HALTED};
    const struct lks_rec_change_voted yes = {.change = 1, .yes = true, .by = LKS_STR("user:ann")};
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .waves = {1, 1}, .unapproved = true});
    for (size_t i = 0; i < LKS_COUNT(before); i++)
        campaign_record(&w, &before[i]);
    campaign_move(&w, LKS_CHANGE_RUNNING);
    CHECK(!campaign_run(&w, HOUR));
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
    campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_WAVE, .wave = halted});
    campaign_move(&w, LKS_CHANGE_HALTED);
    campaign_move(&w, LKS_CHANGE_RUNNING);
    CHECK(!campaign_run(&w, HOUR));
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_PENDING);
    CHECK_HAS(lks_state_text(&w.a.state, campaign_change(&w)->waves[1].text),
              "waits: it started without its approvals");
    campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_CHANGE_VOTED, .change_voted = yes});
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_DONE);
    campaign_end(&w);
}

/* Its approval is withdrawn when the ring is on and none of its nodes began: none does. */
static void approval_withdrawn(void)
{
    const struct lks_record before[] = {
        {.kind = LKS_RECORD_GLASS_BROKEN,
         .glass_broken = {.change = 1, .until = 100 * HOUR, .by = LKS_STR("user:bob")}},
        {.kind = LKS_RECORD_GRANTED,
         .granted = {.identity = LKS_STR("user:ann"), .role = LKS_ROLE_APPROVER}},
        {.kind = LKS_RECORD_CHANGE_VOTED,
         .change_voted = {.change = 1, .yes = true, .by = LKS_STR("user:ann")}},
    };
    const struct lks_rec_vote_withdrawn no = {.change = 1, .by = LKS_STR("user:ann")};
    struct campaign w;
    campaign_begin(
        &w, &(struct campaign_plan){.nodes = 3, .waves = {1, 2}, .width = 1, .unapproved = true});
    for (size_t i = 0; i < LKS_COUNT(before); i++)
        campaign_record(&w, &before[i]);
    campaign_move(&w, LKS_CHANGE_RUNNING);
    CHECK(campaign_run_until(&w, "n2", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
    campaign_record(&w,
                    &(struct lks_record){.kind = LKS_RECORD_VOTE_WITHDRAWN, .vote_withdrawn = no});
    CHECK(!campaign_run(&w, HOUR));
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_DONE);
    CHECK_MEMBER(&w, "n3", LKS_MEMBER_PENDING);
    CHECK_INT(campaign_change(&w)->waves[1].state, LKS_WAVE_BEGUN);
    CHECK_HAS(lks_state_text(&w.a.state, campaign_change(&w)->waves[1].text),
              "waits: it started without its approvals");
    campaign_record(&w, &before[2]);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    campaign_end(&w);
}

/* A node comes to the pool while it changes: it is taken along, in the last wave. */
static void one_joins(void)
{
    for (unsigned whole = 0; whole < 2; whole++) {
        struct campaign w;
        lks_test_case("%s", whole != 0 ? "asked for the pool" : "asked for nodes");
        campaign_begin(&w,
                       &(struct campaign_plan){.nodes = 2, .waves = {1, 1}, .pool = whole != 0});
        CHECK(campaign_run_until(&w, "n2", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
        campaign_join(&w);
        CHECK(campaign_run(&w, 2 * HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_DONE);
        CHECK_INT(campaign_node(&w, "n3")->loaded, whole != 0);
        CHECK_INT(campaign_count(&w, "plan-part", "hosts=n3"), whole);
        CHECK_INT(campaign_count(&w, "pool name=train", "stack=silver"), whole);
        campaign_end(&w);
    }
}

/* One that comes when nobody may begin any more is not taken along: it would never begin, and the
 * change never be done. */
static void one_joins_late(void)
{
    struct campaign w;
    campaign_begin(
        &w, &(struct campaign_plan){.nodes = 1, .pool = true, .soak = 2 * HOUR, .not_after = HOUR});
    CHECK(!campaign_run(&w, HOUR));
    campaign_join(&w);
    CHECK(campaign_run(&w, 4 * HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    CHECK_INT(campaign_count(&w, "plan-part", "hosts=n2"), 0);
    campaign_end(&w);
}

/* What a deviation covers does not keep a node from being accepted. */
static void with_a_deviation(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1});
    campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_DEVIATION,
                                             .deviation = {.id = 1,
                                                           .hosts = LKS_STR("n1"),
                                                           .subject = LKS_STR("firmware/bmc"),
                                                           .value = LKS_STR("25.02.11"),
                                                           .owner = LKS_STR("kim"),
                                                           .reason = LKS_STR("a bad bmc"),
                                                           .approver = LKS_STR("lee"),
                                                           .expires = 100 * HOUR}});
    campaign_fail(&w, "n1", "flash", LKS_BMC_SAME, 1); /* it says so, and stays what it is */
    CHECK(campaign_run(&w, 2 * HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    CHECK(!campaign_node(&w, "n1")->flashed);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
    campaign_end(&w);
}

/* Our own agents ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    struct campaign_plan plan;
    struct campaign_fault fault;
    enum lks_change_state change;
    enum lks_member_state n1;
} agents[] = {
    {"two nodes",
     {.nodes = 2, .agent = true, .enforce = "on"},
     {0},
     LKS_CHANGE_DONE,
     LKS_MEMBER_DONE},
    {"the way back is shown",
     {.nodes = 2, .agent = true, .proves = true},
     {0},
     LKS_CHANGE_DONE,
     LKS_MEMBER_DONE},
    {"it fails",
     {.nodes = 2, .agent = true, .width = 1},
     {"n1", "apt", LKS_OUTCOME_FAILED, 1},
     LKS_CHANGE_HALTED,
     LKS_MEMBER_REVERTED},
    {"it says done, and has another version",
     {.nodes = 2, .agent = true, .width = 1},
     {"n1", "apt", LKS_OUTCOME_DONE, 1},
     LKS_CHANGE_HALTED,
     LKS_MEMBER_REVERTED},
    {"it is rolled back",
     {.nodes = 2, .agent = true, .width = 1, .rolls_back = true},
     {"n2", "apt", LKS_OUTCOME_FAILED, 1},
     LKS_CHANGE_ROLLED_BACK,
     LKS_MEMBER_REVERTED},
};

/* By the same engine, while nodes stay in use. */
static void our_own_agents(void)
{
    for (size_t i = 0; i < LKS_COUNT(agents); i++) {
        struct campaign w;
        lks_test_case("%s", agents[i].name);
        campaign_begin(&w, &agents[i].plan);
        if (agents[i].fault.node != NULL)
            campaign_fail(&w, agents[i].fault.node, agents[i].fault.what, agents[i].fault.outcome,
                          agents[i].fault.times);
        finish(&w, agents[i].change);
        CHECK_MEMBER(&w, "n1", agents[i].n1);
        CHECK_INT(campaign_node(&w, "n1")->installed, agents[i].n1 == LKS_MEMBER_DONE);
        CHECK_INT(campaign_count(&w, "drained", ""), 0);
        CHECK_INT(campaign_count(&w, "condition", ""), 0);
        CHECK_INT(campaign_count(&w, "pool name", ""), 0);
        campaign_end(&w);
    }
}

/* It is read behind each layer. What was read behind the last one is what is accepted; whoever was
 * not is read again before the next try. */
static void read_as_often(void)
{
    static const struct {
        const char *name;
        unsigned refused, readings;
    } rows[] = {{"accepted", 0, 2}, {"accepted on a later try", 1, 3}};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &(struct campaign_plan){.retries = 1});
        campaign_fail(&w, "n1", "accept", LKS_OUTCOME_FAILED, rows[i].refused);
        finish(&w, LKS_CHANGE_DONE);
        CHECK_INT(campaign_count(&w, "command id", "executor=inventory"), rows[i].readings);
        CHECK_INT(campaign_count(&w, "command id", "executor=accept"), 1 + rows[i].refused);
        campaign_end(&w);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"plain ways", plain_ways},
        {"a node is removed", removed},
        {"a node is lost before its turn", lost_before},
        {"a node is lost on the way", lost_on_the_way},
        {"a node is away for a moment", away_for_a_moment},
        {"two changes of one node", two_changes},
        {"too many turned at once", mass_waits},
        {"drained by another", drained_by_another},
        {"drained for drift", drained_for_drift},
        {"released by another", released_by_another},
        {"a bundle is revoked", revoked},
        {"a person holds it before its turn", held_before},
        {"a person holds it on the way", held_on_the_way},
        {"a person looked at it", looked_at},
        {"not drained any more", not_drained_any_more},
        {"never drained", never_drained},
        {"yeses expire first", yeses_expire_first},
        {"a ring without approvals", ring_without_approvals},
        {"an approval is withdrawn on the way", approval_withdrawn},
        {"one joins", one_joins},
        {"one joins too late", one_joins_late},
        {"with a deviation", with_a_deviation},
        {"our own agents", our_own_agents},
        {"read as often as it takes", read_as_often},
        {0},
    };
    return lks_test_main(tests);
}
