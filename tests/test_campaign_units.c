/* Domains, ranks, sides and spares: who changes together, and who may serve beside whom; and what
 * holds whatever goes wrong. */
#include "base/rng.h"
#include "core/campaign/campaign.h"
#include "core/state/node_status.h"
#include "tests/campaigns.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

#define MINUTE CAMPAIGN_MINUTE
#define HOUR   CAMPAIGN_HOUR

/* What holds after every decision ------------------------------------------------------------ */

static const struct lks_node *state_of(const struct campaign *w, const struct campaign_node *n)
{
    uint32_t at = 0;
    LKS_ASSERT(lks_intern_find(&w->a.state.names, lks_str_from(n->name), &at));
    return &w->a.state.nodes[at];
}

static bool is_out(const struct lks_node *n)
{
    return n->changing != 0 && (n->asset != 0 || n->drained_by != 0);
}

static bool is_of_domain(const struct campaign *w, struct lks_str name)
{
    for (unsigned i = 0; i < w->count; i++) {
        if (lks_str_is(name, w->nodes[i].name))
            return w->nodes[i].asset || i < w->plan.domain;
    }
    return false;
}

/* Promise 1: nothing is done to a node, or to an asset of its domain, before it is out of use. */
static void check_out(struct campaign *w, struct lks_str name)
{
    bool of_asset = name.len > 0 && name.ptr[0] == 's';
    for (unsigned i = 0; i < w->count; i++) {
        const struct campaign_node *n = &w->nodes[i];
        bool same = lks_str_is(name, n->name);
        bool beside =
            w->plan.domain > 0 && (n->asset || i < w->plan.domain) && is_of_domain(w, name);
        const struct lks_member *m = n->gone ? NULL : campaign_member(w, n->name);
        if (m == NULL || (!same && !beside) || m->state == LKS_MEMBER_SKIPPED)
            continue;
        if (!same && !of_asset && m->state == LKS_MEMBER_REVERTED)
            continue; /* one that was lost goes back behind the others, alone */
        if (!CHECK(is_out(state_of(w, n))) || !CHECK(n->asset || !n->busy))
            printf("   %s while %.*s is touched\n", n->name, LKS_STR_ARG(name));
    }
}

static bool disrupts(const struct lks_record *r)
{
    if (r->kind == LKS_RECORD_FLASH)
        return r->flash.act != LKS_BMC_STAGE && r->flash.act != LKS_BMC_ABORT;
    return r->kind == LKS_RECORD_COMMAND &&
           (lks_str_is(r->command.executor, "apt") || lks_str_is(r->command.executor, "reboot"));
}

/* Promise 6: those of a domain that serve have all of them the same. */
static void check_mixed(struct campaign *w)
{
    int serves = -1;
    for (unsigned i = 0; i < w->count && w->plan.domain > 0; i++) {
        const struct campaign_node *n = &w->nodes[i];
        const struct lks_node *s = state_of(w, n);
        if (i >= w->plan.domain || is_out(s) || !s->placed || s->held || !n->up)
            continue;
        int has = n->loaded * 2 + n->flashed;
        CHECK(serves < 0 || serves == has);
        serves = has;
    }
}

/* Promise 4: who returns by a change is all of A or all of B. */
static void check_return(struct campaign *w, struct lks_str name)
{
    for (unsigned i = 0; i < w->count; i++) {
        const struct campaign_node *n = &w->nodes[i];
        if (lks_str_is(name, n->name) && !n->asset)
            CHECK(n->loaded == n->flashed);
    }
}

/* Of two that are units of their own only one is taken out of use at a time. */
static void check_sides(const struct campaign *w)
{
    unsigned open = 0, out = 0;
    for (uint32_t i = 0; i < w->a.state.node_count; i++)
        out += w->a.state.nodes[i].side != 0 && w->a.state.nodes[i].changing != 0;
    CHECK(out <= 1 || w->plan.domain > 0);
    for (uint32_t i = 0; i < w->a.state.flash_count; i++) {
        const struct lks_state_flash *f = &w->a.state.flashes[i];
        open += !lks_state_flash_over(f) && w->a.state.nodes[f->node].side != 0;
    }
    CHECK(open <= 1 || w->plan.shelves < 2);
}

static void check_one_stack(struct campaign *w, const struct lks_decision *d)
{
    (void)d;
    check_mixed(w);
}

static void check_promises(struct campaign *w, const struct lks_decision *d)
{
    const struct lks_state_change *c = campaign_change(w);
    for (size_t i = 0; i < d->count; i++) {
        const struct lks_record *r = &d->records[i];
        if (disrupts(r))
            check_out(w, r->kind == LKS_RECORD_FLASH ? r->flash.node : r->command.node);
        if (r->kind == LKS_RECORD_UNDRAINED)
            check_return(w, r->undrained.node);
    }
    for (uint32_t i = 0; i < c->wave_count; i++)
        CHECK(c->waves[i].busy <= c->waves[i].width);
    check_mixed(w);
    check_sides(w);
}

/* Domains ------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    unsigned spares;
    struct campaign_fault faults[2];
    enum lks_change_state change;
    enum lks_member_state n1, n2, shelf1;
} domains[] = {
    {"all goes well", 0, {{0}}, LKS_CHANGE_DONE, LKS_MEMBER_DONE, LKS_MEMBER_DONE, LKS_MEMBER_DONE},
    {"one fails, and it goes back whole",
     0,
     {{"n1", "apt", LKS_OUTCOME_FAILED, 1}},
     LKS_CHANGE_HALTED,
     LKS_MEMBER_REVERTED,
     LKS_MEMBER_REVERTED,
     LKS_MEMBER_REVERTED},
    {"one fails late, and it goes back whole",
     0,
     {{"n1", "accept", LKS_OUTCOME_FAILED, 1}},
     LKS_CHANGE_HALTED,
     LKS_MEMBER_REVERTED,
     LKS_MEMBER_REVERTED,
     LKS_MEMBER_REVERTED},
    {"one fails, and there is a spare",
     1,
     {{"n1", "apt", LKS_OUTCOME_FAILED, 1}},
     LKS_CHANGE_DONE,
     LKS_MEMBER_FENCED,
     LKS_MEMBER_DONE,
     LKS_MEMBER_DONE},
    {"two fail, and there is one spare",
     1,
     {{"n1", "apt", LKS_OUTCOME_FAILED, 1}, {"n2", "accept", LKS_OUTCOME_FAILED, 1}},
     LKS_CHANGE_HALTED,
     LKS_MEMBER_FENCED,
     LKS_MEMBER_REVERTED,
     LKS_MEMBER_REVERTED},
    {"one cannot go back: it stays out as a whole",
     0,
     {{"n1", "apt", LKS_OUTCOME_FAILED, 9}},
     LKS_CHANGE_HALTED,
     LKS_MEMBER_FENCED,
     LKS_MEMBER_FENCED,
     LKS_MEMBER_FENCED},
    {"of one nobody can tell: the others go back and stay out",
     0,
     {{"n1", "flash", LKS_BMC_UNKNOWN, 1}},
     LKS_CHANGE_HALTED,
     LKS_MEMBER_UNKNOWN,
     LKS_MEMBER_FENCED,
     LKS_MEMBER_FENCED},
    {"an asset fails, and it goes back whole",
     0,
     {{"shelf1", "flash", LKS_BMC_FAILED, 1}},
     LKS_CHANGE_HALTED,
     LKS_MEMBER_REVERTED,
     LKS_MEMBER_REVERTED,
     LKS_MEMBER_REVERTED},
};

static void each_domain(void)
{
    for (size_t i = 0; i < LKS_COUNT(domains); i++) {
        struct campaign w;
        lks_test_case("%s", domains[i].name);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 3,
                                                   .domain = 3,
                                                   .spares = domains[i].spares,
                                                   .failures_max = domains[i].spares});
        w.after = check_promises;
        for (size_t f = 0; f < 2; f++) {
            const struct campaign_fault *fault = &domains[i].faults[f];
            if (fault->node != NULL)
                campaign_fail(&w, fault->node, fault->what, fault->outcome, fault->times);
        }
        CHECK(campaign_run(&w, 4 * HOUR));
        CHECK_CHANGE(&w, domains[i].change);
        CHECK_MEMBER(&w, "n1", domains[i].n1);
        CHECK_MEMBER(&w, "n2", domains[i].n2);
        CHECK_MEMBER(&w, "shelf1", domains[i].shelf1);
        campaign_show(&w);
        campaign_end(&w);
    }
}

/* A member that is away when it is the domain's turn. */
static void away(void)
{
    for (unsigned spares = 0; spares < 2; spares++) {
        struct campaign w;
        lks_test_case("%u spares", spares);
        campaign_begin(&w, &(struct campaign_plan){
                               .nodes = 3, .domain = 3, .spares = spares, .unapproved = true});
        w.after = check_promises;
        campaign_node(&w, "n2")->up = false;
        (void)campaign_run(&w, 10 * MINUTE);
        campaign_move(&w, LKS_CHANGE_APPROVED);
        campaign_move(&w, LKS_CHANGE_RUNNING);
        CHECK(campaign_run(&w, 4 * HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_DONE);
        CHECK_MEMBER(&w, "n1", spares > 0 ? LKS_MEMBER_DONE : LKS_MEMBER_SKIPPED);
        CHECK_MEMBER(&w, "n2", spares > 0 ? LKS_MEMBER_FENCED : LKS_MEMBER_SKIPPED);
        /* When it comes back as it was, it is kept from serving beside the others. */
        campaign_node(&w, "n2")->up = true;
        (void)campaign_run(&w, 10 * MINUTE);
        const struct lks_node *n2 = &w.a.state.nodes[campaign_member(&w, "n2")->node];
        CHECK_INT(n2->changing != 0, spares > 0);
        CHECK_INT(n2->drained_by != 0, spares > 0);
        campaign_show(&w);
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

/* Whether the domain of n2, which has what it should, may serve. */
static bool serves(const struct campaign *w)
{
    uint64_t bars =
        lks_node_status_bars(&w->a.state, lks_state_node(&w->a.state, LKS_STR("n2")), 0);
    return (bars >> LKS_BAR_DOMAIN & 1) == 0;
}

static void put_liveness(struct campaign *w, enum lks_liveness state)
{
    static const struct lks_str others[] = {LKS_STR_C("n2"), LKS_STR_C("n3")};
    for (size_t i = 0; i < LKS_COUNT(others); i++)
        campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_LIVENESS,
                                                .liveness = {.node = others[i], .state = state}});
}

/* A domain serves without the one that a change or a person keeps out of use; in use, it would keep
 * the others from jobs, and whoever asks for that is told. */
static void without_one(void)
{
    struct campaign w;
    const struct lks_record held = {.kind = LKS_RECORD_HELD, .held = {.node = LKS_STR("n1")}};
    const struct lks_record unheld = {.kind = LKS_RECORD_UNHELD, .unheld = {.node = LKS_STR("n1")}};
    campaign_begin(
        &w, &(struct campaign_plan){.nodes = 3, .domain = 3, .spares = 1, .failures_max = 1});
    campaign_fail(&w, "n1", "apt", LKS_OUTCOME_FAILED, 1);
    CHECK(campaign_run(&w, 4 * HOUR));
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_FENCED);
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_DONE);
    CHECK(serves(&w));
    CHECK_STR(lks_str_from(release(&w, "n1")),
              "n1 does not run the same as n3: in service as it is, it keeps all of domain rack1 "
              "from jobs; hold it first (node hold), and the domain does without it");
    put_liveness(&w, LKS_LATE); /* they will be back */
    CHECK_HAS(lks_str_from(release(&w, "n1")), "n1 does not run the same as n3: ");
    put_liveness(&w, LKS_LIVE);
    campaign_record(&w, &held);
    CHECK_STR(lks_str_from(release(&w, "n1")), "");
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_SKIPPED);
    campaign_settle(&w);
    CHECK(serves(&w));
    campaign_record(&w, &unheld);
    campaign_settle(&w);
    CHECK(!serves(&w));
    campaign_put(&w, "n1", true);
    campaign_settle(&w);
    CHECK(serves(&w));
    campaign_end(&w);
}

/* A member that is let go, or tried again, beside others that are done ------------------------- */

/* n1 of three fails once, the domain returns without it, and the change is not over. */
static void begin_without_one(struct campaign *w, const char *what)
{
    campaign_begin(w,
                   &(struct campaign_plan){
                       .nodes = 3, .domain = 3, .spares = 1, .failures_max = 9, .soak = 9 * HOUR});
    w->after = check_one_stack;
    campaign_fail(w, "n1", what, LKS_OUTCOME_FAILED, 1);
    CHECK(!campaign_run(w, 4 * HOUR));
    CHECK_MEMBER(w, "n1", LKS_MEMBER_FENCED);
    CHECK_MEMBER(w, "n2", LKS_MEMBER_DONE);
}

static const char *try_again(struct campaign *w, const char *node)
{
    const struct lks_event event = {.kind = LKS_EVENT_MEMBER_MOVE,
                                    .by = LKS_STR("lee"),
                                    .reason = LKS_STR("it is repaired"),
                                    .name = lks_str_from(node),
                                    .member = {.change = 1, .again = true}};
    campaign_event(w, &event);
    return w->a.decision.refused.msg;
}

static const struct {
    const char *name;
    enum lks_change_state then, ends;
    enum lks_member_state n1, n2;
    bool serves; /* what an abort leaves behind is drift */
} retried[] = {
    {"it goes on", LKS_CHANGE_RUNNING, LKS_CHANGE_DONE, LKS_MEMBER_DONE, LKS_MEMBER_DONE, true},
    {"the change is aborted, and it does not return alone", LKS_CHANGE_ABORTING, LKS_CHANGE_ABORTED,
     LKS_MEMBER_FENCED, LKS_MEMBER_DONE, false},
    {"the change is rolled back, and it does not return before the others", LKS_CHANGE_ROLLING_BACK,
     LKS_CHANGE_ROLLED_BACK, LKS_MEMBER_FENCED, LKS_MEMBER_REVERTED, true},
};

static void tried_again_alone(void)
{
    for (size_t i = 0; i < LKS_COUNT(retried); i++) {
        struct campaign w;
        lks_test_case("%s", retried[i].name);
        begin_without_one(&w, "apt");
        CHECK_STR(lks_str_from(try_again(&w, "n1")), "");
        CHECK(campaign_run_until(&w, "n1", CAMPAIGN_FLASH, LKS_MEMBER_ASKED, HOUR));
        campaign_move(&w, retried[i].then);
        CHECK(campaign_run(&w, 20 * HOUR));
        CHECK_CHANGE(&w, retried[i].ends);
        CHECK_MEMBER(&w, "n1", retried[i].n1);
        CHECK_MEMBER(&w, "n2", retried[i].n2);
        CHECK_INT(serves(&w), retried[i].serves);
        campaign_show(&w);
        campaign_end(&w);
    }
}

static void hold(struct campaign *w, const char *node, bool on)
{
    struct lks_record r = {.kind = on ? LKS_RECORD_HELD : LKS_RECORD_UNHELD};
    if (on)
        r.held.node = lks_str_from(node);
    else
        r.unheld.node = lks_str_from(node);
    campaign_record(w, &r);
    campaign_settle(w);
}

/* One that is let go as it is does not go back with the others: while they may, it is held. */
static const struct {
    const char *name;
    bool held, unheld; /* before it is let go; before the change goes back */
    enum lks_member_state n1, n2;
    const char *text;
} released[] = {
    {"it is not let go while the others may go back", false, false, LKS_MEMBER_FENCED,
     LKS_MEMBER_REVERTED, "3 rolled back, 1 could not roll back"},
    {"it is held, and they go back without it", true, false, LKS_MEMBER_SKIPPED,
     LKS_MEMBER_REVERTED, "3 rolled back, 0 could not roll back"},
    {"it is in use, and they stay with it", true, true, LKS_MEMBER_SKIPPED, LKS_MEMBER_DONE,
     "rack1 stays on it whole, since n1 is in service there, and would not change with it: "
     "propose a change of all of that domain"},
};

static void let_go_and_back(void)
{
    for (size_t i = 0; i < LKS_COUNT(released); i++) {
        struct campaign w;
        lks_test_case("%s", released[i].name);
        begin_without_one(&w, "accept");
        campaign_node(&w, "n1")->flashed = campaign_node(&w, "n1")->loaded; /* it is all of B */
        campaign_put(&w, "n1", true);
        campaign_settle(&w);
        if (released[i].held)
            hold(&w, "n1", true);
        CHECK_STR(
            lks_str_from(release(&w, "n1")),
            released[i].held
                ? ""
                : "change 1 is running and may still take domain rack1 back, which then would "
                  "not be one with n1: try it again, put it on hold first (node hold), or wait "
                  "until the change is finished");
        if (released[i].unheld)
            hold(&w, "n1", false);
        campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
        CHECK(campaign_run(&w, 20 * HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_ROLLED_BACK);
        CHECK_MEMBER(&w, "n1", released[i].n1);
        CHECK_MEMBER(&w, "n2", released[i].n2);
        CHECK_HAS(lks_state_text(&w.a.state, campaign_change(&w)->moved_reason), released[i].text);
        CHECK_INT(campaign_count(&w, "alarm ", "stays on it whole"), released[i].unheld);
        campaign_show(&w);
        campaign_end(&w);
    }
}

/* A plan leaves out who is to run the target already. When that is so no more, the rest of its
 * domain does not begin. */
static void beside_one_that_was_left_out(void)
{
    static const struct {
        const char *name;
        bool there; /* the others */
    } rows[] = {{"they are to run the target", true}, {"they are not any more", false}};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 3, .domain = 3, .unapproved = true});
        const struct lks_str a = lks_str_from(w.stack_a), b = lks_str_from(w.stack_b);
        const struct lks_str rack = LKS_STR("rack1"), n1 = LKS_STR("n1");
        const struct lks_record plan[] = {
            {.kind = LKS_RECORD_CHANGE,
             .change = {.id = 2, .hosts = n1, .stack = b, .name = LKS_STR("b")}},
            {.kind = LKS_RECORD_PLAN_STEP, .plan_step = {.change = 2, .kind = LKS_DO_LEAVE}},
            {.kind = LKS_RECORD_PLAN_WAVE, .plan_wave = {.change = 2, .width = 1}},
            {.kind = LKS_RECORD_PLAN_PART,
             .plan_part = {.change = 2, .from = a, .hosts = n1, .domain = rack}},
            {.kind = LKS_RECORD_CHANGE_MOVED,
             .change_moved = {.change = 2, .state = LKS_CHANGE_RUNNING}},
            {.kind = LKS_RECORD_MEMBER,
             .member = {.change = 1, .node = LKS_STR("n2"), .state = LKS_MEMBER_DONE}},
            {.kind = LKS_RECORD_MEMBER,
             .member = {.change = 1, .node = LKS_STR("n3"), .state = LKS_MEMBER_DONE}},
        };
        for (size_t k = 0; k < LKS_COUNT(plan) - (rows[i].there ? 0 : 2); k++)
            campaign_record(&w, &plan[k]);
        w.change = 2;
        for (int k = 0; k < 3; k++) {
            (void)campaign_tick(&w);
            campaign_pass(&w, MINUTE);
        }
        CHECK_INT(campaign_member(&w, "n1")->state != LKS_MEMBER_PENDING, rows[i].there);
        CHECK_INT(campaign_count(&w, "wave change=2",
                                 "n1: others of its domain are not in this change, and do not run "
                                 "its stack"),
                  !rows[i].there);
        campaign_show(&w);
        campaign_end(&w);
    }
}

/* A member that is lost on the way ------------------------------------------------------------- */

/* It stays out of use whenever it is heard of again, and the others serve without it or not at all.
 */
static void check_without(struct campaign *w, enum lks_change_state ends, enum lks_member_state n2)
{
    CHECK_CHANGE(w, ends);
    CHECK_MEMBER(w, "n1", LKS_MEMBER_FENCED);
    CHECK_MEMBER(w, "n2", n2);
    campaign_node(w, "n1")->up = true;
    (void)campaign_run(w, HOUR);
    campaign_settle(w);
    CHECK_MEMBER(w, "n1", LKS_MEMBER_FENCED);
    CHECK(is_out(state_of(w, campaign_node(w, "n1"))));
    CHECK(n2 == LKS_MEMBER_FENCED || serves(w));
    campaign_show(w);
}

/* Where n1 is when it is lost, and what becomes of the others by how many spares there are. */
static const struct {
    const char *name;
    uint32_t step;
    enum lks_member_state state;
    enum lks_change_state ends[2];
    enum lks_member_state n2[2];
} losses[] = {
    {"before it is known that nothing runs on it: as they were",
     CAMPAIGN_LEAVE,
     LKS_MEMBER_ASKED,
     {LKS_CHANGE_ROLLED_BACK, LKS_CHANGE_ROLLED_BACK},
     {LKS_MEMBER_REVERTED, LKS_MEMBER_REVERTED}},
    {"in an order",
     CAMPAIGN_APPLY,
     LKS_MEMBER_ASKED,
     {LKS_CHANGE_HALTED, LKS_CHANGE_DONE},
     {LKS_MEMBER_FENCED, LKS_MEMBER_DONE}},
    {"in a reboot",
     CAMPAIGN_REBOOT,
     LKS_MEMBER_ASKED,
     {LKS_CHANGE_HALTED, LKS_CHANGE_DONE},
     {LKS_MEMBER_FENCED, LKS_MEMBER_DONE}},
    {"in an update",
     CAMPAIGN_FLASH,
     LKS_MEMBER_ASKED,
     {LKS_CHANGE_HALTED, LKS_CHANGE_DONE},
     {LKS_MEMBER_FENCED, LKS_MEMBER_DONE}},
    {"before it was accepted",
     CAMPAIGN_ACCEPT,
     LKS_MEMBER_ASKED,
     {LKS_CHANGE_HALTED, LKS_CHANGE_DONE},
     {LKS_MEMBER_FENCED, LKS_MEMBER_DONE}},
};

static void lost_on_the_way(void)
{
    for (size_t i = 0; i < 2 * LKS_COUNT(losses); i++) {
        struct campaign w;
        unsigned spares = i % 2;
        lks_test_case("%s, %u spares", losses[i / 2].name, spares);
        campaign_begin(&w, &(struct campaign_plan){
                               .nodes = 3, .domain = 3, .spares = spares, .failures_max = 9});
        w.after = check_promises;
        CHECK(campaign_run_until(&w, "n1", losses[i / 2].step, losses[i / 2].state, HOUR));
        campaign_node(&w, "n1")->up = false;
        CHECK(campaign_run(&w, 30 * HOUR));
        check_without(&w, losses[i / 2].ends[spares], losses[i / 2].n2[spares]);
        campaign_end(&w);
    }
}

/* It was accepted, waits for another of its domain to return with it, and is lost meanwhile. */
static void lost_before_the_return(void)
{
    struct campaign w;
    campaign_begin(
        &w, &(struct campaign_plan){.nodes = 3, .domain = 3, .spares = 1, .failures_max = 9});
    w.after = check_promises;
    CHECK(campaign_run_until(&w, "n2", CAMPAIGN_ACCEPT, LKS_MEMBER_ASKED, HOUR));
    campaign_node(&w, "n2")->up = false;
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_RETURN, LKS_MEMBER_WAITING, HOUR));
    campaign_node(&w, "n1")->up = false;
    for (int i = 0; i < 5; i++) {
        campaign_pass(&w, MINUTE);
        campaign_settle(&w);
    }
    campaign_node(&w, "n2")->up = true;
    CHECK(campaign_run(&w, 30 * HOUR));
    check_without(&w, LKS_CHANGE_DONE, LKS_MEMBER_DONE);
    campaign_end(&w);
}

/* It is lost while its wave soaks, and then the change goes back: with a spare the others do. */
static void lost_before_the_way_back(void)
{
    for (unsigned spares = 0; spares < 2; spares++) {
        struct campaign w;
        lks_test_case("%u spares", spares);
        campaign_begin(&w, &(struct campaign_plan){
                               .nodes = 3, .domain = 3, .spares = spares, .soak = 9 * HOUR});
        w.after = check_promises;
        CHECK(!campaign_run(&w, 2 * HOUR));
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
        campaign_node(&w, "n1")->up = false;
        CHECK(!campaign_run(&w, 10 * MINUTE));
        campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
        CHECK(campaign_run(&w, 30 * HOUR));
        check_without(&w, LKS_CHANGE_ROLLED_BACK,
                      spares > 0 ? LKS_MEMBER_REVERTED : LKS_MEMBER_FENCED);
        campaign_end(&w);
    }
}

/* Nothing is done to the shelf while one of the nodes is still busy; and what is not begun in time
 * goes back into use as it was. */
static void busy_member(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 3, .domain = 3, .posture = "batch"});
    w.after = check_promises;
    campaign_node(&w, "n2")->busy = true;
    CHECK(!campaign_run(&w, 50 * MINUTE));
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_READING);
    CHECK_INT(w.flash_count, 0);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_REVERTED);
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_REVERTED);
    CHECK_INT(campaign_member(&w, "n2")->failure, LKS_FAILURE_BUSY);
    CHECK_INT(w.flash_count, 0);
    CHECK_INT(campaign_count(&w, "executor=apt", ""), 0);
    CHECK_INT(campaign_count(&w, "undrained", "node=n2"), 1);
    campaign_show(&w);
    campaign_end(&w);
}

/* Two sides ---------------------------------------------------------------------------------- */

static void two_sides(void)
{
    static const struct campaign_plan plans[] = {
        {.nodes = 1, .shelves = 2},
        {.nodes = 2, .domain = 2, .shelves = 2},
        {.nodes = 2, .domain = 2, .shelves = 2, .proves = true},
    };
    for (size_t i = 0; i < LKS_COUNT(plans); i++) {
        struct campaign w;
        lks_test_case("plan %zu", i);
        campaign_begin(&w, &plans[i]);
        w.after = check_promises;
        CHECK(campaign_run(&w, 4 * HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_DONE);
        CHECK_MEMBER(&w, "shelf1", LKS_MEMBER_DONE);
        CHECK_MEMBER(&w, "shelf2", LKS_MEMBER_DONE);
        campaign_show(&w);
        campaign_end(&w);
    }
}

/* Whatever goes wrong ------------------------------------------------------------------------ */

static const char *const whats[] = {"apt",   "reboot", "accept",  "inventory", "idle",
                                    "flash", "stage",  "silence", "switch",    "abort"};

static void random_faults(struct campaign *w, struct lks_rng *rng)
{
    for (uint64_t i = lks_rng_below(rng, 6); i > 0; i--) {
        const char *what = whats[lks_rng_below(rng, LKS_COUNT(whats))];
        const char *node = w->nodes[lks_rng_below(rng, w->count)].name;
        bool bmc = strcmp(what, "flash") == 0 || strcmp(what, "stage") == 0 ||
                   strcmp(what, "silence") == 0 || strcmp(what, "switch") == 0 ||
                   strcmp(what, "abort") == 0;
        unsigned outcome = bmc ? LKS_BMC_REFUSED + (unsigned)lks_rng_below(rng, 3)
                               : LKS_OUTCOME_FAILED + (unsigned)lks_rng_below(rng, 2);
        campaign_fail(w, node, what, outcome, 1 + (unsigned)lks_rng_below(rng, 3));
    }
}

static void random_word(struct campaign *w, struct lks_rng *rng)
{
    static const enum lks_change_state words[] = {LKS_CHANGE_PAUSED, LKS_CHANGE_RUNNING,
                                                  LKS_CHANGE_ABORTING, LKS_CHANGE_ROLLING_BACK};
    const struct lks_state_change *c = campaign_change(w);
    struct campaign_node *n = &w->nodes[lks_rng_below(rng, w->count)];
    bool open = c->state >= LKS_CHANGE_RUNNING && c->state <= LKS_CHANGE_HALTED;
    switch (lks_rng_below(rng, 12)) {
    case 0:
        if (open)
            campaign_move(w, words[lks_rng_below(rng, LKS_COUNT(words))]);
        break;
    case 1:
        campaign_freeze(w, !w->a.state.frozen);
        break;
    case 2:
        n->up = !n->up || n->asset;
        break;
    case 3:
        if (!is_out(state_of(w, n)))
            n->busy = !n->busy && !n->asset;
        break;
    case 4:
        n->mute_bmc = !n->mute_bmc;
        break;
    default:
        break;
    }
}

/* In the end everything is well, updates of assets are resolved, nobody says anything any more, and
 * it settles. */
static void be_well(struct campaign *w)
{
    for (unsigned i = 0; i < w->count; i++) {
        w->nodes[i].up = true;
        w->nodes[i].busy = w->nodes[i].mute_bmc = false;
    }
    w->fault_count = 0;
    if (w->a.state.frozen)
        campaign_freeze(w, false);
    if (campaign_change(w)->state == LKS_CHANGE_PAUSED)
        campaign_move(w, LKS_CHANGE_RUNNING);
    campaign_settle(w);
    for (unsigned i = 0; i < w->count; i++) {
        if (w->nodes[i].asset)
            campaign_resolve(w, w->nodes[i].name);
    }
}

static void check_settled(struct campaign *w)
{
    const struct lks_state_change *c = campaign_change(w);
    CHECK(lks_change_over(c) || c->state == LKS_CHANGE_HALTED);
    for (unsigned i = 0; i < w->count; i++) {
        const struct lks_member *m = campaign_member(w, w->nodes[i].name);
        const struct lks_node *n = &w->a.state.nodes[m->node];
        CHECK(lks_member_over(m) || m->state == LKS_MEMBER_PENDING);
        bool kept = m->state == LKS_MEMBER_FENCED || m->state == LKS_MEMBER_HANDS ||
                    m->state == LKS_MEMBER_UNKNOWN;
        CHECK_INT(n->change != 0, kept);
        CHECK_INT(is_out(n), kept);
        CHECK(kept || m->state != LKS_MEMBER_REVERTED || !w->nodes[i].loaded);
    }
}

static void random_plan(struct lks_rng *rng, struct campaign_plan *p)
{
    *p = (struct campaign_plan){
        .nodes = 2 + (unsigned)lks_rng_below(rng, 4),
        .width = 1 + (unsigned)lks_rng_below(rng, 3),
        .retries = (unsigned)lks_rng_below(rng, 3),
        .failures_max = (unsigned)lks_rng_below(rng, 3),
        .proves = lks_rng_percent(rng, 40),
        .one_way = lks_rng_percent(rng, 20),
        .stages = lks_rng_percent(rng, 30),
        .rolls_back = lks_rng_percent(rng, 40),
        .enforce = lks_rng_percent(rng, 30) ? "on" : NULL,
        .sched = lks_rng_percent(rng, 30) ? "simulated" : NULL,
        .posture = lks_rng_percent(rng, 50) ? "batch" : NULL,
        .waves = {1, 2, 9},
    };
    if (lks_rng_percent(rng, 50)) {
        p->domain = 2;
        p->spares = (unsigned)lks_rng_below(rng, 2);
    }
}

static void whatever_goes_wrong(void)
{
    enum { SEEDS = 100, TURNS = 60 };
    const char *only = getenv("SEED");
    const char *more = getenv("SEEDS");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 0;
    uint64_t count = more != NULL ? strtoull(more, NULL, 10) : only != NULL ? 1 : SEEDS;
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct campaign w;
        struct campaign_plan plan;
        struct lks_rng rng = {seed + 1};
        lks_test_case("seed %llu", (unsigned long long)seed);
        random_plan(&rng, &plan);
        campaign_begin(&w, &plan);
        w.after = check_promises;
        random_faults(&w, &rng);
        for (unsigned i = 0; i < TURNS; i++) {
            (void)campaign_tick(&w);
            random_word(&w, &rng);
            if (lks_rng_percent(&rng, 80))
                (void)campaign_answer(&w);
            if (lks_rng_percent(&rng, 50))
                campaign_pass(&w, (1 + lks_rng_below(&rng, 10)) * MINUTE);
        }
        be_well(&w);
        CHECK(campaign_run(&w, 100 * HOUR));
        check_settled(&w);
        campaign_show(&w);
        campaign_end(&w);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"each domain", each_domain},
        {"a member that is away", away},
        {"without one", without_one},
        {"tried again alone", tried_again_alone},
        {"let go as it is, and the change goes back", let_go_and_back},
        {"beside one that was left out", beside_one_that_was_left_out},
        {"lost on the way", lost_on_the_way},
        {"lost before the return", lost_before_the_return},
        {"lost before the way back", lost_before_the_way_back},
        {"a member that is busy", busy_member},
        {"two sides", two_sides},
        {"whatever goes wrong", whatever_goes_wrong},
        {0},
    };
    return lks_test_main(tests);
}
