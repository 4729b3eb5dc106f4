/* Nodes that are not there: a rollback goes on without them, they join it when they are back, and a
 * wave names those that it waits for. And nodes that drift before their turn. */
#include "base/rng.h"
#include "core/campaign/campaign.h"
#include "core/plan/drain.h"
#include "core/registry/book.h"
#include "core/rows/node.h"
#include "core/state/node_status.h"
#include "tests/campaigns.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdio.h>

#define MINUTE CAMPAIGN_MINUTE
#define HOUR   CAMPAIGN_HOUR
#define LOST   (3 * MINUTE) /* until a node that is down is lost */

enum { DAY_TRIES = 23 }; /* behind the first: leaving may take a day */

static const struct lks_node *node_of(const struct campaign *w, const char *node)
{
    return &w->a.state.nodes[campaign_member(w, node)->node];
}

static void go_on(struct campaign *w, lks_ms ms)
{
    enum { BEAT = 10000 };
    for (lks_ms passed = 0; passed < ms; passed += BEAT) {
        campaign_settle(w);
        campaign_pass(w, BEAT);
    }
    campaign_settle(w);
}

/* Rolling back ------------------------------------------------------------------------------ */

/* n5, of the last wave, is asked whether something runs on it, and dies. */
static void lose_while_draining(struct campaign *w, const char *node)
{
    campaign_begin(w, &(struct campaign_plan){
                          .nodes = 6, .waves = {1, 2, 3}, .width = 1, .retries = DAY_TRIES});
    CHECK(campaign_run_until(w, node, CAMPAIGN_LEAVE, LKS_MEMBER_READING, 9 * HOUR));
    campaign_node(w, node)->up = false;
}

static void without_the_lost(void)
{
    struct campaign w;
    lose_while_draining(&w, "n5");
    campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
    go_on(&w, MINUTE);
    for (unsigned i = 0; i < 4; i++)
        CHECK_MEMBER(&w, w.nodes[i].name, LKS_MEMBER_REVERTED);
    CHECK_CHANGE(&w, LKS_CHANGE_ROLLING_BACK);
    go_on(&w, LOST);
    CHECK_MEMBER(&w, "n5", LKS_MEMBER_FENCED);
    CHECK_CHANGE(&w, LKS_CHANGE_ROLLED_BACK);
    CHECK(node_of(&w, "n5")->changing != 0 && node_of(&w, "n5")->drained_by != 0);
    CHECK_INT(campaign_count(&w, "alarm",
                             "change 1 holds it out of service: the node is lost "
                             "since "),
              1);
    CHECK_INT(campaign_count(&w, "change-moved", "lost, and drained until they are back: n5"), 1);
    campaign_end(&w);
}

static void aborted_without_the_lost(void)
{
    struct campaign w;
    lose_while_draining(&w, "n5");
    campaign_move(&w, LKS_CHANGE_ABORTING);
    go_on(&w, LOST);
    CHECK_MEMBER(&w, "n4", LKS_MEMBER_DONE);
    CHECK_MEMBER(&w, "n5", LKS_MEMBER_FENCED);
    CHECK_CHANGE(&w, LKS_CHANGE_ABORTED);
    campaign_end(&w);
}

/* A late node is heard of again or lost within a moment: the rollback waits for that, and does not
 * end with the node on the new stack. */
static void waits_for_the_late(void)
{
    static const struct {
        const char *name;
        unsigned domain;
        bool back;                      /* it is heard of again */
        enum lks_member_state n1, ends; /* n1: while n2 is late; ends: of n2 */
    } rows[] = {
        {"heard of again", 0, true, LKS_MEMBER_REVERTED, LKS_MEMBER_REVERTED},
        {"lost", 0, false, LKS_MEMBER_REVERTED, LKS_MEMBER_FENCED},
        {"heard of again, of a domain", 3, true, LKS_MEMBER_DONE, LKS_MEMBER_REVERTED},
        {"lost, of a domain", 3, false, LKS_MEMBER_DONE, LKS_MEMBER_FENCED},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(
            &w, &(struct campaign_plan){
                    .nodes = 3, .domain = rows[i].domain, .no_shelf = true, .soak = 100 * HOUR});
        go_on(&w, HOUR);
        CHECK_MEMBER(&w, "n2", LKS_MEMBER_DONE);
        campaign_node(&w, "n2")->up = false;
        go_on(&w, 50 * LKS_SECOND);
        CHECK_INT(node_of(&w, "n2")->liveness, LKS_LATE);
        campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
        go_on(&w, 30 * LKS_SECOND);
        CHECK_INT(node_of(&w, "n2")->liveness, LKS_LATE);
        CHECK_MEMBER(&w, "n1", rows[i].n1);
        CHECK_MEMBER(&w, "n2", LKS_MEMBER_DONE);
        CHECK_CHANGE(&w, LKS_CHANGE_ROLLING_BACK);
        campaign_node(&w, "n2")->up = rows[i].back;
        go_on(&w, 30 * MINUTE);
        CHECK_MEMBER(&w, "n2", rows[i].ends);
        CHECK_CHANGE(&w, LKS_CHANGE_ROLLED_BACK);
        campaign_end(&w);
    }
}

/* Nothing had been done to it: it returns as it was once it is heard of. */
static void joins_untouched(void)
{
    struct campaign w;
    lose_while_draining(&w, "n5");
    campaign_node(&w, "n4")->busy = true; /* so that the rollback is not over */
    campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
    go_on(&w, LOST);
    CHECK_MEMBER(&w, "n5", LKS_MEMBER_FENCED);
    CHECK_CHANGE(&w, LKS_CHANGE_ROLLING_BACK);
    campaign_node(&w, "n5")->up = true;
    go_on(&w, 15 * MINUTE); /* n4, which drains, keeps its slot for ten of them */
    CHECK_MEMBER(&w, "n5", LKS_MEMBER_REVERTED);
    CHECK(node_of(&w, "n5")->changing == 0 && node_of(&w, "n5")->drained_by == 0);
    CHECK_INT(campaign_count(&w, "node=n5", "executor=reboot"), 0);
    campaign_end(&w);
}

/* An order was being carried out: it leaves service once more, is read, and all of it is undone. */
static void joins_and_is_undone(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 4, .waves = {1, 3}, .width = 1});
    CHECK(campaign_run_until(&w, "n3", CAMPAIGN_CHECK_BMC, LKS_MEMBER_ASKED, 9 * HOUR));
    campaign_node(&w, "n3")->up = false;
    campaign_node(&w, "n1")->busy = true;
    campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
    go_on(&w, 15 * MINUTE); /* it may boot behind its update */
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_REVERTED);
    CHECK_MEMBER(&w, "n3", LKS_MEMBER_FENCED);
    size_t asked = campaign_count(&w, "node=n3", "executor=idle");
    campaign_node(&w, "n3")->up = true;
    go_on(&w, 10 * MINUTE);
    CHECK_MEMBER(&w, "n3", LKS_MEMBER_REVERTED);
    CHECK_INT(campaign_count(&w, "node=n3", "executor=idle"), asked + 1);
    CHECK(!campaign_node(&w, "n3")->loaded && !campaign_node(&w, "n3")->flashed);
    campaign_end(&w);
}

/* The change is over: what it runs is drift, by a partial wave, and it takes no job. */
static void comes_back_too_late(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 3, .waves = {1, 2}, .width = 1});
    CHECK(campaign_run_until(&w, "n2", CAMPAIGN_CHECK, LKS_MEMBER_ASKED, 9 * HOUR));
    campaign_node(&w, "n2")->up = false;
    campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
    go_on(&w, LOST);
    CHECK_CHANGE(&w, LKS_CHANGE_ROLLED_BACK);
    campaign_node(&w, "n2")->up = true;
    go_on(&w, MINUTE);
    const struct lks_node *n = node_of(&w, "n2");
    CHECK(n->drifting && n->drift_cause == LKS_DRIFT_WAVE);
    CHECK(n->changing != 0 && n->drained_by != 0);
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_FENCED);
    campaign_end(&w);
}

/* A domain goes back without the lost one, where it can spare it. */
static void domain_without_the_lost(void)
{
    for (unsigned spares = 0; spares < 2; spares++) {
        struct campaign w;
        lks_test_case("%u spares", spares);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 4, .domain = 3, .spares = spares});
        CHECK(campaign_run_until(&w, "n2", CAMPAIGN_CHECK, LKS_MEMBER_ASKED, 9 * HOUR));
        campaign_node(&w, "n2")->up = false;
        campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
        go_on(&w, LOST);
        CHECK_MEMBER(&w, "n4", LKS_MEMBER_REVERTED);
        CHECK_MEMBER(&w, "n2", LKS_MEMBER_FENCED);
        go_on(&w, 30 * MINUTE);
        CHECK_MEMBER(&w, "n1", spares > 0 ? LKS_MEMBER_REVERTED : LKS_MEMBER_FENCED);
        CHECK_CHANGE(&w, LKS_CHANGE_ROLLED_BACK);
        campaign_end(&w);
    }
}

static const char *release(struct campaign *w, const char *node)
{
    const struct lks_event event = {.kind = LKS_EVENT_MEMBER_MOVE,
                                    .by = LKS_STR("lee"),
                                    .reason = LKS_STR("as it is"),
                                    .name = lks_str_from(node),
                                    .member = {.change = 1}};
    campaign_event(w, &event);
    return w->a.decision.refused.msg;
}

/* A domain rolled back without n2, which was lost behind an order. Its last reading is from before
 * the order, and equals what the others run: it proves nothing, until n2 is read again. */
static void not_read_since_it_was_changed(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 4, .domain = 3, .spares = 1});
    CHECK(campaign_run_until(&w, "n2", CAMPAIGN_REBOOT, LKS_MEMBER_ASKED, 9 * HOUR));
    campaign_node(&w, "n2")->up = false;
    campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
    go_on(&w, LOST + 2 * HOUR);
    CHECK_CHANGE(&w, LKS_CHANGE_ROLLED_BACK);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_REVERTED);
    CHECK_INT(campaign_count(&w, "drift node=n2", "it conforms again"), 0);
    CHECK_STR(lks_str_from(release(&w, "n2")),
              "what n2 runs is not known: it is lost, and was not read since it booted or was "
              "changed; wait until it reports, or hold n2 first (node hold), and domain rack1 does "
              "without it");
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_FENCED);
    lks_test_case("read, and it is what the order made of it");
    campaign_node(&w, "n2")->up = true;
    go_on(&w, MINUTE);
    campaign_put(&w, "n2", true);
    CHECK_HAS(lks_str_from(release(&w, "n2")), "n2 does not run the same as ");
    lks_test_case("read, and it is as it was");
    campaign_put(&w, "n2", false);
    CHECK_STR(lks_str_from(release(&w, "n2")), "");
    campaign_end(&w);
}

/* Of a decision each member is listed once: what its unit does is not undone by its own rule. */
static void lists_once(struct campaign *w, const struct lks_decision *d)
{
    (void)w;
    for (size_t i = 0; i < d->count; i++) {
        for (size_t k = 0; k < i && d->records[i].kind == LKS_RECORD_MEMBER; k++)
            CHECK(d->records[k].kind != LKS_RECORD_MEMBER ||
                  !lks_str_eq(d->records[k].member.node, d->records[i].member.node));
    }
}

/* All of the domain wait to return as they were, and one is lost in that moment. */
static void lost_as_its_domain_returns(void)
{
    for (unsigned i = 0; i < 2; i++) {
        const char *lost = i == 0 ? "n1" : "n2";
        struct campaign w;
        lks_test_case("%s", lost);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .domain = 2, .spares = 1});
        CHECK(campaign_run_until(&w, "n1", CAMPAIGN_LEAVE, LKS_MEMBER_READING, 9 * HOUR));
        campaign_node(&w, lost)->up = false;
        campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
        for (unsigned n = 0; n < w.count; n++) {
            const struct lks_member *m = campaign_member(&w, w.nodes[n].name);
            campaign_record(
                &w, &(struct lks_record){
                        .kind = LKS_RECORD_MEMBER,
                        .member = {.change = w.change,
                                   .node = lks_str_from(w.nodes[n].name),
                                   .state = LKS_MEMBER_WAITING,
                                   .step = campaign_change(&w)->recipes[m->recipe].count - 1,
                                   .attempt = 1,
                                   .back = true}});
        }
        campaign_record(
            &w, &(struct lks_record){.kind = LKS_RECORD_LIVENESS,
                                     .liveness = {.node = lks_str_from(lost), .state = LKS_LOST}});
        w.after = lists_once;
        go_on(&w, LOST);
        CHECK(campaign_member(&w, "n1")->state >= LKS_MEMBER_OVER);
        CHECK(campaign_member(&w, "n2")->state >= LKS_MEMBER_OVER);
        campaign_end(&w);
    }
}

/* What a pool can spare ----------------------------------------------------------------------- */

static unsigned out_of(const struct campaign *w)
{
    unsigned out = 0;
    for (unsigned i = 0; i < w->count; i++)
        out += node_of(w, w->nodes[i].name)->changing != 0;
    return out;
}

/* Jobs run on all of them: nodes that wait for those do not pass their slots on for ever, or none
 * would be left for new jobs, and all would restart together. */
static void keeps_what_the_pool_needs(void)
{
    static const struct {
        const char *says;
        unsigned most;
    } rows[] = {{"headroom: 1", 1}, {"headroom: 3", 3}};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        unsigned most = 0;
        lks_test_case("%s", rows[i].says);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 8,
                                                   .waves = {2, 6},
                                                   .width = 1,
                                                   .soak = 100 * HOUR,
                                                   .retries = DAY_TRIES,
                                                   .pool_says = rows[i].says});
        go_on(&w, 100 * HOUR + 3 * HOUR);
        CHECK_INT(campaign_change(&w)->states[LKS_MEMBER_DONE], 8);
        for (unsigned n = 0; n < w.count; n++)
            w.nodes[n].busy = true;
        campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
        for (unsigned k = 0; k < 16; k++) {
            go_on(&w, 10 * MINUTE);
            most = out_of(&w) > most ? out_of(&w) : most;
        }
        CHECK_INT(most, rows[i].most);
        for (unsigned n = 0; n < w.count; n++)
            w.nodes[n].busy = false;
        CHECK(campaign_run(&w, 9 * HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_ROLLED_BACK);
        CHECK_INT(campaign_change(&w)->states[LKS_MEMBER_REVERTED], 8);
        campaign_end(&w);
    }
}

/* All waves go back at once, and what restarts together comes back together: no more of them than
 * their power zone bears. */
static void keeps_to_its_power_zone(void)
{
    struct campaign w;
    unsigned most = 0;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 6,
                                               .width = 6,
                                               .soak = 100 * HOUR,
                                               .pool_says = "headroom: 6, node_power_w: 10000",
                                               .zone_says = "ramp_kw: 25"});
    go_on(&w, 3 * HOUR);
    CHECK_INT(campaign_change(&w)->states[LKS_MEMBER_DONE], 6);
    campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
    for (unsigned k = 0; k < 2000 && !lks_change_over(campaign_change(&w)); k++) {
        (void)campaign_tick(&w);
        most = out_of(&w) > most ? out_of(&w) : most;
        if (campaign_answer(&w) == 0)
            campaign_pass(&w, MINUTE / 2);
    }
    CHECK_INT(most, 2);
    CHECK_CHANGE(&w, LKS_CHANGE_ROLLED_BACK);
    CHECK_INT(campaign_change(&w)->states[LKS_MEMBER_REVERTED], 6);
    campaign_end(&w);
}

/* Sixty nodes, three of which die at random steps: all others are back within a minute. */
enum { FLEET = 60, DEAD = 3, SEEDS = 20 };

/* One dies where it comes to its step, and with the last of them the change is rolled back. */
static void kill_three(struct campaign *w, struct lks_rng *rng, const char *dead[DEAD])
{
    enum { TURNS_MAX = 200000, EVERY = 10000 };
    unsigned at[DEAD], steps[DEAD], count = 0;
    for (unsigned i = 0; i < DEAD; i++) {
        at[i] = (unsigned)lks_rng_below(rng, FLEET / DEAD) * DEAD + i;
        steps[i] = (unsigned)lks_rng_below(rng, CAMPAIGN_RETURN);
        dead[i] = w->nodes[at[i]].name;
    }
    for (unsigned turn = 0; turn < TURNS_MAX && count < DEAD; turn++) {
        bool still = campaign_tick(w) == 0;
        for (unsigned i = 0; i < DEAD; i++) {
            const struct lks_member *m = campaign_member(w, dead[i]);
            bool moves = m->state > LKS_MEMBER_WAITING && m->state < LKS_MEMBER_OVER;
            if (!w->nodes[at[i]].up || !moves || m->step < steps[i])
                continue;
            w->nodes[at[i]].up = false;
            count++;
        }
        if (count < DEAD && campaign_answer(w) == 0 && still)
            campaign_pass(w, EVERY);
    }
    CHECK_INT(count, DEAD);
}

static void check_named(const struct campaign *w, const char *node)
{
    char name[64];
    snprintf(name, sizeof(name), "subject=%s ", node);
    const struct lks_member *m = campaign_member(w, node);
    CHECK(m->state == LKS_MEMBER_FENCED || m->state == LKS_MEMBER_SKIPPED);
    CHECK(campaign_count(w, "alarm", name) > 0);
}

static void within_a_minute(void)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct campaign w;
        struct lks_rng rng = {.state = seed};
        const char *dead[DEAD] = {"", "", ""};
        lks_test_case("seed %u", (unsigned)seed);
        campaign_begin(&w, &(struct campaign_plan){.nodes = FLEET,
                                                   .waves = {4, 16, 40},
                                                   .width = 6,
                                                   .failures_max = FLEET,
                                                   .retries = 3});
        kill_three(&w, &rng, dead);
        campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
        go_on(&w, MINUTE - 10000);
        for (unsigned i = 0; i < FLEET; i++) {
            const struct lks_member *m = campaign_member(&w, w.nodes[i].name);
            if (w.nodes[i].up && m->state != LKS_MEMBER_PENDING)
                CHECK_MEMBER(&w, w.nodes[i].name, LKS_MEMBER_REVERTED);
        }
        go_on(&w, HOUR);
        CHECK_CHANGE(&w, LKS_CHANGE_ROLLED_BACK);
        for (unsigned i = 0; i < DEAD; i++)
            check_named(&w, dead[i]);
        campaign_end(&w);
    }
}

/* Going there ------------------------------------------------------------------------------- */

/* A node that died before anything was done to it is skipped, and is no failure of the change. */
static void skipped_after_its_grace(void)
{
    struct campaign w;
    lose_while_draining(&w, "n5");
    go_on(&w, 30 * MINUTE);
    CHECK_MEMBER(&w, "n5", LKS_MEMBER_READING);
    go_on(&w, 50 * MINUTE);
    CHECK_MEMBER(&w, "n5", LKS_MEMBER_SKIPPED);
    CHECK(node_of(&w, "n5")->changing == 0 && node_of(&w, "n5")->drained_by == 0);
    CHECK_INT(campaign_count(&w, "alarm", "change 1 skipped it: the node is lost since "), 1);
    go_on(&w, 2 * HOUR);
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    campaign_end(&w);
}

static struct lks_str skip(struct campaign *w, const char *nodes)
{
    const struct lks_event event = {.kind = LKS_EVENT_MEMBER_SKIP,
                                    .by = LKS_STR("lee"),
                                    .reason = LKS_STR("its rack burns"),
                                    .name = lks_str_from(nodes),
                                    .member = {.change = 1}};
    campaign_event(w, &event);
    return lks_str_from(w->a.decision.refused.msg);
}

static void skipped_by_hand(void)
{
    struct campaign w;
    lose_while_draining(&w, "n5");
    CHECK_STR(skip(&w, "n9"), "no node 'n9' in the fleet; did you mean 'n1'?");
    CHECK_STR(skip(&w, "n4"), "n4 is done in change 1, which does not wait for it");
    CHECK_STR(skip(&w, "n[5-6]"), "");
    CHECK_MEMBER(&w, "n5", LKS_MEMBER_SKIPPED);
    CHECK_MEMBER(&w, "n6", LKS_MEMBER_SKIPPED);
    CHECK_INT(campaign_count(&w, "node=n5 state=skipped", "by=lee"), 1);
    CHECK_INT(campaign_count(&w, "node=n6 state=skipped", "skipped by lee: its rack burns"), 1);
    go_on(&w, MINUTE);
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    campaign_end(&w);
}

/* Something was done to it: it stays drained. One that is heard of goes on to its end. */
static void skipped_on_the_way(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .failures_max = 2, .width = 1});
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_CHECK, LKS_MEMBER_ASKED, 9 * HOUR));
    CHECK_HAS(skip(&w, "n1"), "n1 is heard of and at step check: it goes on to its end; ");
    campaign_node(&w, "n1")->up = false;
    go_on(&w, LOST);
    CHECK_STR(skip(&w, "n1"), "");
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_FENCED);
    CHECK(node_of(&w, "n1")->changing != 0 && node_of(&w, "n1")->drained_by != 0);
    CHECK(campaign_run(&w, 2 * HOUR));
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_DONE);
    campaign_end(&w);
}

/* Its checks run: beside them no job starts. */
static void not_skipped_under_a_command(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1});
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_LEAVE, LKS_MEMBER_ASKED, HOUR));
    campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_COMMAND,
                                             .command = {.id = w.a.state.next_command,
                                                         .node = LKS_STR("n1"),
                                                         .executor = LKS_STR("accept"),
                                                         .expires = w.a.now.wall + HOUR}});
    CHECK_HAS(skip(&w, "n1"), "n1 has not answered command 1 (accept) yet");
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_ASKED);
    campaign_end(&w);
}

static void skipped_domain(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 4, .domain = 2, .unapproved = true});
    CHECK_STR(skip(&w, "n3"), "change 1 is proposed: propose it without these nodes instead");
    campaign_move(&w, LKS_CHANGE_APPROVED);
    campaign_move(&w, LKS_CHANGE_RUNNING);
    CHECK_HAS(skip(&w, "n1"), "domain rack1 changes as one: name ");
    CHECK_STR(skip(&w, "n[1-2],shelf1"), "");
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_SKIPPED);
    campaign_end(&w);
}

/* Telling ----------------------------------------------------------------------------------- */

static bool wait_of(const struct campaign *w, const char *node, struct lks_decision *space,
                    struct lks_wait *out)
{
    const struct lks_book book = {.facts = lks_test_facts(), .manifest = &w->a.manifest};
    return lks_campaign_wait(&w->a.state, &book, w->a.now, campaign_change(w),
                             campaign_member(w, node), space, out);
}

static void waits_are_named(void)
{
    struct campaign w;
    struct lks_wait wait = {0};
    LKS_CLEANUP(lks_decision_fini) struct lks_decision space = {0};
    lks_decision_init(&space);
    lose_while_draining(&w, "n5");
    const struct lks_member *m = campaign_member(&w, "n5");
    const struct lks_step *step = lks_member_step(campaign_change(&w), m);
    CHECK(wait_of(&w, "n5", &space, &wait));
    CHECK_STR(wait.why, "idle");
    /* What the plan says is the deadline. */
    CHECK_INT(lks_drain_longest(step->limit, step->retries), 24 * HOUR);
    CHECK(wait.until > w.a.now.wall + 23 * HOUR && wait.until <= w.a.now.wall + 24 * HOUR);
    CHECK(!wait_of(&w, "n4", &space, &wait) && !wait_of(&w, "n6", &space, &wait));
    go_on(&w, LOST + MINUTE); /* its agent owes an answer */
    CHECK(campaign_member(&w, "n5")->work != 0 && wait_of(&w, "n5", &space, &wait));
    CHECK_INT(wait.until, node_of(&w, "n5")->liveness_since + LKS_CAMPAIGN_GRACE);
    go_on(&w, 20 * MINUTE);
    CHECK(wait_of(&w, "n5", &space, &wait));
    CHECK_HAS(wait.why, "lost since ");
    CHECK_INT(wait.until, node_of(&w, "n5")->liveness_since + LKS_CAMPAIGN_GRACE);
    campaign_end(&w);
}

/* Those of a domain that wait are told for whom. */
static void dead_member_is_named(void)
{
    struct campaign w;
    struct lks_wait wait = {0};
    LKS_CLEANUP(lks_decision_fini) struct lks_decision space = {0};
    lks_decision_init(&space);
    campaign_begin(&w, &(struct campaign_plan){.nodes = 3, .domain = 3, .spares = 1});
    CHECK(campaign_run_until(&w, "n2", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, 9 * HOUR));
    campaign_node(&w, "n2")->up = false;
    go_on(&w, LOST);
    CHECK(wait_of(&w, "n1", &space, &wait));
    CHECK_HAS(wait.why, "for n2 of its domain, which is lost since ");
    campaign_end(&w);
}

/* Drift ------------------------------------------------------------------------------------- */

/* It is read to run neither of the two stacks. */
static void drift(struct campaign *w, const char *node)
{
    campaign_node(w, node)->stale = true;
    campaign_put(w, node, true);
    campaign_settle(w);
}

static void approve(struct campaign *w)
{
    const struct lks_event vote = {.kind = LKS_EVENT_VOTE,
                                   .by = LKS_STR("user:ann"),
                                   .reason = LKS_STR("read"),
                                   .vote = {.change = 1, .yes = true}};
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_GRANTED,
                                            .granted = {.identity = LKS_STR("user:ann"),
                                                        .role = LKS_ROLE_APPROVER}});
    campaign_event(w, &vote);
    CHECK_CHANGE(w, LKS_CHANGE_APPROVED);
}

/* What people read before they start it. */
static void check_barred(const struct campaign *w, const char *want)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision space = {0};
    const struct lks_book book = {.facts = lks_test_facts(), .manifest = &w->a.manifest};
    lks_decision_init(&space);
    CHECK_STR(lks_decide_change_barred(&w->a.state, &book, w->a.now, campaign_change(w), &space),
              want);
    CHECK_INT(space.count, 0);
}

static struct lks_str start(struct campaign *w)
{
    const struct lks_event event = {.kind = LKS_EVENT_CHANGE_MOVE,
                                    .by = LKS_STR("lee"),
                                    .reason = LKS_STR("tonight"),
                                    .move = {.change = 1, .order = LKS_ORDERED_START}};
    campaign_event(w, &event);
    return lks_str_from(w->a.decision.refused.msg);
}

#define DRIFTED                                                                                    \
    "2 nodes drifted since change 1 was planned, the first is n2: repair them, or end it "         \
    "(lockstep change abort 1) and propose it again without them"

/* Between approval and start: left out with a record and an alarm, where they are few. */
static void drifts_before_the_start(void)
{
    for (unsigned many = 1; many < 3; many++) {
        struct campaign w;
        lks_test_case("%u drift", many);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 6, .unapproved = true});
        check_barred(&w, "");
        approve(&w);
        check_barred(&w, "");
        drift(&w, "n2");
        if (many > 1)
            drift(&w, "n3");
        check_barred(&w, many > 1 ? DRIFTED : "");
        struct lks_str why = start(&w);
        if (many > 1) {
            CHECK_STR(why, "start: " DRIFTED);
        } else {
            CHECK_STR(why, "");
            CHECK_MEMBER(&w, "n2", LKS_MEMBER_SKIPPED);
            CHECK_INT(campaign_count(&w, "alarm", "n2 drifted since this was planned"), 1);
            CHECK(campaign_run(&w, 9 * HOUR));
            CHECK_CHANGE(&w, LKS_CHANGE_DONE);
            CHECK_INT(campaign_change(&w)->states[LKS_MEMBER_DONE], 5);
        }
        campaign_end(&w);
    }
}

/* Behind the start, before its wave: the same; and where they are many, a person decides. */
static void drifts_before_its_wave(void)
{
    for (unsigned many = 1; many < 3; many++) {
        struct campaign w;
        lks_test_case("%u drift", many);
        campaign_begin(&w,
                       &(struct campaign_plan){.nodes = 6, .waves = {1, 5}, .soak = 30 * MINUTE});
        CHECK(!campaign_run(&w, 20 * MINUTE));
        drift(&w, "n2");
        if (many > 1)
            drift(&w, "n3");
        CHECK(campaign_run(&w, 9 * HOUR));
        CHECK_CHANGE(&w, many > 1 ? LKS_CHANGE_HALTED : LKS_CHANGE_DONE);
        if (many > 1) {
            CHECK_INT(campaign_count(&w, "state=halted",
                                     "2 nodes of this wave drifted since it was planned"),
                      2); /* of the wave, and of the change */
            campaign_move(&w, LKS_CHANGE_RUNNING);
            CHECK(campaign_run(&w, 9 * HOUR));
            CHECK_CHANGE(&w, LKS_CHANGE_DONE);
        }
        CHECK_MEMBER(&w, "n2", LKS_MEMBER_SKIPPED);
        CHECK_MEMBER(&w, "n6", LKS_MEMBER_DONE);
        CHECK_INT(campaign_change(&w)->failed, 0);
        campaign_end(&w);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"a rollback does not wait for the lost", without_the_lost},
        {"nor does an abort", aborted_without_the_lost},
        {"a rollback waits for the late", waits_for_the_late},
        {"a lost node joins, untouched", joins_untouched},
        {"a lost node joins and is undone", joins_and_is_undone},
        {"a lost node comes back too late", comes_back_too_late},
        {"a domain without the lost", domain_without_the_lost},
        {"not read since it was changed", not_read_since_it_was_changed},
        {"one is lost as its domain returns", lost_as_its_domain_returns},
        {"a rollback keeps what the pool needs", keeps_what_the_pool_needs},
        {"a rollback keeps to its power zone", keeps_to_its_power_zone},
        {"sixty nodes within a minute", within_a_minute},
        {"skipped after its grace", skipped_after_its_grace},
        {"skipped by hand", skipped_by_hand},
        {"skipped on the way", skipped_on_the_way},
        {"not skipped under a command", not_skipped_under_a_command},
        {"a domain is skipped whole", skipped_domain},
        {"waits are named", waits_are_named},
        {"a dead member is named", dead_member_is_named},
        {"drifts before the start", drifts_before_the_start},
        {"drifts before its wave", drifts_before_its_wave},
        {0},
    });
}
