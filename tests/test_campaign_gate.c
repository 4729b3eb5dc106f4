/* The gates behind a wave: what each says, that the strictest counts, and what follows. */
#include "core/campaign/campaign.h"
#include "core/state/lookup.h"
#include "tests/campaigns.h"
#include "tests/test.h"

#include <stdlib.h>

#define MINUTE CAMPAIGN_MINUTE
#define HOUR   CAMPAIGN_HOUR

static const char *const verdicts[] = {"pass", "extend", "hold", "halt"};

/* What one gate says of the first wave. */
static void check_gate(const struct campaign *w, const char *name, const char *verdict,
                       const char *text)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    lks_arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < lks_gate_count; i++) {
        if (strcmp(lks_gates[i].name, name) != 0)
            continue;
        struct lks_gate_said said =
            lks_gates[i].look(&w->a.state, campaign_change(w), 0, w->a.now.wall, &arena);
        CHECK_STR(lks_str_from(verdicts[said.verdict]), verdict);
        CHECK_HAS(said.text, text);
        return;
    }
    CHECK(false);
}

/* A canary of two, of which both are done, that soaks for an hour. */
static void soaking(struct campaign *w, struct campaign_plan plan)
{
    plan.nodes = 3;
    plan.waves[0] = 2;
    plan.waves[1] = 1;
    plan.soak = HOUR;
    campaign_begin(w, &plan);
    CHECK(!campaign_run(w, 10 * MINUTE));
    CHECK_WAVE(w, 0, LKS_WAVE_SOAKS);
}

static void all_is_well(void)
{
    struct campaign w;
    soaking(&w, (struct campaign_plan){0});
    check_gate(&w, "hard failures", "pass", "");
    check_gate(&w, "failure count", "pass", "");
    check_gate(&w, "soak", "extend", "it soaks for another");
    check_gate(&w, "acceptance", "pass", "");
    CHECK_MEMBER(&w, "n3", LKS_MEMBER_PENDING);
    campaign_pass(&w, HOUR);
    check_gate(&w, "soak", "pass", "");
    CHECK(campaign_run(&w, 3 * HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    campaign_end(&w);
}

/* Nobody of the next wave begins before the soak is over, to the second. */
static void the_soak_is_kept(void)
{
    struct campaign w;
    soaking(&w, (struct campaign_plan){0});
    lks_ms until = campaign_change(&w)->waves[0].until;
    while (w.a.now.wall + 1000 < until) {
        campaign_pass(&w, 1000);
        (void)campaign_tick(&w);
        CHECK_WAVE(&w, 0, LKS_WAVE_SOAKS);
    }
    campaign_end(&w);
}

static void not_healthy(void)
{
    struct campaign w;
    soaking(&w, (struct campaign_plan){0});
    campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_CONDITION,
                                             .condition = {.node = LKS_STR("n2"),
                                                           .condition = LKS_CONDITION_UNHEALTHY,
                                                           .on = true,
                                                           .text = LKS_STR("Xid 79")}});
    check_gate(&w, "acceptance", "halt", "n2: it is not healthy since it was accepted");
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
    CHECK_WAVE(&w, 0, LKS_WAVE_HALTED);
    CHECK_MEMBER(&w, "n3", LKS_MEMBER_PENDING);
    CHECK_INT(campaign_count(&w, "alarm ", "n2: it is not healthy"), 1);
    campaign_end(&w);
}

static void drifted_since(void)
{
    struct campaign w;
    soaking(&w, (struct campaign_plan){.rolls_back = true});
    campaign_put(&w, "n1", false);
    campaign_node(&w, "n1")->installed = true;
    check_gate(&w, "acceptance", "halt", "n1: it does not conform any more");
    CHECK(campaign_run(&w, 3 * HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_ROLLED_BACK);
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_REVERTED);
    CHECK_MEMBER(&w, "n3", LKS_MEMBER_PENDING);
    campaign_show(&w);
    campaign_end(&w);
}

/* What halts at once, of a canary that is still under way: one of two is done. */
static const struct {
    const char *name;
    struct lks_rec_condition said[3];
    bool put; /* it runs something else */
    const char *says;
} signs[] = {
    {"not healthy",
     {{.node = LKS_STR_C("n1"), .condition = LKS_CONDITION_UNHEALTHY, .on = true}},
     false,
     "n1: it is not healthy since it was accepted"},
    {.name = "drifted",
     .put = true,
     .says = "n1: it does not conform any more since it was accepted"},
    {"not attested any more",
     {{.node = LKS_STR_C("n3"), .condition = LKS_CONDITION_ATTESTED, .on = true, .until = 1e15},
      {.node = LKS_STR_C("n1"), .condition = LKS_CONDITION_ATTESTED, .on = true, .until = 1e15},
      {.node = LKS_STR_C("n1"), .condition = LKS_CONDITION_ATTESTED}},
     false,
     "n1: it lost its attestation, and controls have theirs, since it was accepted"},
    {"attested as controls are",
     {{.node = LKS_STR_C("n3"), .condition = LKS_CONDITION_ATTESTED, .on = true, .until = 1e15},
      {.node = LKS_STR_C("n1"), .condition = LKS_CONDITION_ATTESTED, .on = true, .until = 1e15}},
     false,
     NULL},
    {.name = "nobody attests anything"},
};

/* The pool asks for attestation. */
static void ask_attested(struct campaign *w)
{
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_POOL,
                                            .pool = {.name = LKS_STR("train"),
                                                     .posture = LKS_STR("pre-training"),
                                                     .enforce = LKS_STR("observe"),
                                                     .sched = LKS_STR("none"),
                                                     .stack = LKS_STR("golden"),
                                                     .stack_digest = lks_str_from(w->stack_a),
                                                     .attested = true}});
}

static void it_is_halted_while_it_is_under_way(void)
{
    for (size_t i = 0; i < LKS_COUNT(signs); i++) {
        struct campaign w;
        lks_test_case("%s", signs[i].name);
        const struct campaign_plan plan = {
            .nodes = 3, .waves = {2, 1}, .width = 1, .soak = HOUR, .controls = "n3"};
        campaign_begin(&w, &plan);
        ask_attested(&w);
        CHECK(campaign_run_until(&w, "n2", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
        for (size_t k = 0; k < LKS_COUNT(signs[i].said) && signs[i].said[k].node.len > 0; k++)
            campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_CONDITION,
                                                     .condition = signs[i].said[k]});
        if (signs[i].put)
            campaign_put(&w, "n1", false);
        (void)campaign_tick(&w);
        CHECK_CHANGE(&w, signs[i].says != NULL ? LKS_CHANGE_HALTED : LKS_CHANGE_RUNNING);
        if (signs[i].says != NULL)
            CHECK_INT(campaign_count(&w, "alarm ", signs[i].says), 1);
        /* Whoever lets it go on has seen that. */
        campaign_pass(&w, MINUTE);
        campaign_move(&w, LKS_CHANGE_RUNNING);
        (void)campaign_tick(&w);
        CHECK_CHANGE(&w, LKS_CHANGE_RUNNING);
        campaign_end(&w);
    }
}

/* Where a pool asks for attestation and nobody attests, a person decides in the end. */
static void never_attested(void)
{
    struct campaign w;
    soaking(&w, (struct campaign_plan){0});
    ask_attested(&w);
    check_gate(&w, "acceptance", "extend", "it is not attested");
    CHECK(campaign_run(&w, 4 * HOUR));
    CHECK_WAVE(&w, 0, LKS_WAVE_HELD);
    campaign_end(&w);
}

/* A node that is not heard of extends the soak, for a while; then a person decides. */
static void not_heard_of(void)
{
    struct campaign w;
    soaking(&w, (struct campaign_plan){0});
    campaign_node(&w, "n2")->up = false;
    CHECK(!campaign_run(&w, 90 * MINUTE));
    check_gate(&w, "acceptance", "extend", "n2: it is not heard of");
    CHECK_WAVE(&w, 0, LKS_WAVE_SOAKS);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
    CHECK_WAVE(&w, 0, LKS_WAVE_HELD);
    CHECK_MEMBER(&w, "n3", LKS_MEMBER_PENDING);
    CHECK_INT(campaign_count(&w, "alarm ", "subject=change:1"), 1);
    const struct lks_event resume = {.kind = LKS_EVENT_CHANGE_MOVE,
                                     .by = LKS_STR("lee"),
                                     .reason = LKS_STR("it is a known bad node"),
                                     .move = {.change = 1, .order = LKS_ORDERED_RESUME}};
    campaign_event(&w, &resume);
    CHECK(campaign_run(&w, 3 * HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    campaign_show(&w);
    campaign_end(&w);
}

/* A canary that is not heard of hides none of the others, whichever comes first. */
static void behind_one_that_is_not_heard_of(void)
{
    static const struct {
        const char *name, *away, *bad;
        bool unhealthy; /* else it runs something else */
        const char *says;
    } canaries[] = {
        {"the second is not healthy", "n1", "n2", true, "n2: it is not healthy"},
        {"the first is not healthy", "n2", "n1", true, "n1: it is not healthy"},
        {"the second drifted", "n1", "n2", false, "n2: it does not conform any more"},
        {"the first drifted", "n2", "n1", false, "n1: it does not conform any more"},
    };
    for (size_t i = 0; i < LKS_COUNT(canaries); i++) {
        struct campaign w;
        lks_test_case("%s", canaries[i].name);
        soaking(&w, (struct campaign_plan){0});
        campaign_node(&w, canaries[i].away)->up = false;
        CHECK(!campaign_run(&w, 20 * MINUTE));
        check_gate(&w, "acceptance", "extend", "it is not heard of");
        if (canaries[i].unhealthy)
            campaign_record(
                &w, &(struct lks_record){.kind = LKS_RECORD_CONDITION,
                                         .condition = {.node = lks_str_from(canaries[i].bad),
                                                       .condition = LKS_CONDITION_UNHEALTHY,
                                                       .on = true,
                                                       .text = LKS_STR("Xid 79")}});
        else
            campaign_put(&w, canaries[i].bad, false);
        check_gate(&w, "acceptance", "halt", canaries[i].says);
        (void)campaign_tick(&w);
        CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
        campaign_end(&w);
    }
}

/* A member that rolled back was counted as a failure: what becomes of it since is none of the
 * change's. */
static void rolled_back(void)
{
    struct campaign w;
    campaign_begin(
        &w, &(struct campaign_plan){.nodes = 3, .waves = {2, 1}, .soak = HOUR, .failures_max = 1});
    campaign_fail(&w, "n1", "apt", LKS_OUTCOME_FAILED, 1);
    CHECK(!campaign_run(&w, 20 * MINUTE));
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_REVERTED);
    CHECK_WAVE(&w, 0, LKS_WAVE_SOAKS);
    campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_CONDITION,
                                             .condition = {.node = LKS_STR("n1"),
                                                           .condition = LKS_CONDITION_UNHEALTHY,
                                                           .on = true,
                                                           .text = LKS_STR("Xid 79")}});
    check_gate(&w, "acceptance", "pass", "");
    CHECK(campaign_run(&w, 3 * HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    campaign_end(&w);
}

/* It is back in time. */
static void heard_of_again(void)
{
    struct campaign w;
    soaking(&w, (struct campaign_plan){0});
    campaign_node(&w, "n2")->up = false;
    CHECK(!campaign_run(&w, 90 * MINUTE));
    campaign_node(&w, "n2")->up = true;
    CHECK(campaign_run(&w, 3 * HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    campaign_end(&w);
}

/* Failures ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned max, fail; /* n1 ... fail */
    bool hard;
    enum lks_change_state ends;
} counts[] = {
    {"none may fail, none does", 0, 0, false, LKS_CHANGE_DONE},
    {"none may fail, one does", 0, 1, false, LKS_CHANGE_HALTED},
    {"one may fail, one does", 1, 1, false, LKS_CHANGE_DONE},
    {"one may fail, two do", 1, 2, false, LKS_CHANGE_HALTED},
    {"two may fail, one does so that a person has to go there", 2, 1, true, LKS_CHANGE_HALTED},
};

static void count_of_failures(void)
{
    static const char *const names[] = {"n1", "n2"};
    for (size_t i = 0; i < LKS_COUNT(counts); i++) {
        struct campaign w;
        lks_test_case("%s", counts[i].name);
        campaign_begin(
            &w, &(struct campaign_plan){.nodes = 4, .width = 1, .failures_max = counts[i].max});
        for (unsigned f = 0; f < counts[i].fail && f < LKS_COUNT(names); f++)
            campaign_fail(&w, names[f], counts[i].hard ? "silence" : "apt",
                          counts[i].hard ? LKS_BMC_UNKNOWN : LKS_OUTCOME_FAILED, 1);
        CHECK(campaign_run(&w, 4 * HOUR));
        CHECK_CHANGE(&w, counts[i].ends);
        bool halted = counts[i].ends == LKS_CHANGE_HALTED;
        CHECK_WAVE(&w, 0, halted ? LKS_WAVE_HALTED : LKS_WAVE_PASSED);
        /* After a halt nobody else began. */
        CHECK_MEMBER(&w, "n4", halted ? LKS_MEMBER_PENDING : LKS_MEMBER_DONE);
        campaign_show(&w);
        campaign_end(&w);
    }
}

/* As many may fail in each wave, and no more in all of them together. */
static void count_of_all(void)
{
    struct campaign w;
    campaign_begin(
        &w, &(struct campaign_plan){.nodes = 4, .waves = {2, 2}, .width = 1, .failures_max = 1});
    campaign_fail(&w, "n1", "apt", LKS_OUTCOME_FAILED, 1);
    campaign_fail(&w, "n3", "apt", LKS_OUTCOME_FAILED, 1);
    CHECK(campaign_run(&w, 4 * HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
    CHECK_WAVE(&w, 0, LKS_WAVE_PASSED);
    CHECK_WAVE(&w, 1, LKS_WAVE_HALTED);
    check_gate(&w, "failure count", "halt",
               "2 nodes failed in this change; at most 1 node may fail; the first is n1: ");
    campaign_end(&w);
}

/* A wave allows fewer than the change. */
static void count_of_wave(void)
{
    struct campaign w;
    campaign_begin(
        &w, &(struct campaign_plan){.nodes = 4, .width = 2, .failures_max = 1, .failures_all = 3});
    campaign_fail(&w, "n1", "apt", LKS_OUTCOME_FAILED, 1);
    campaign_fail(&w, "n2", "apt", LKS_OUTCOME_FAILED, 1);
    CHECK(campaign_run(&w, 4 * HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
    check_gate(&w, "failure count", "halt",
               "2 nodes failed in this wave; at most 1 node may fail; the first is n1: ");
    campaign_end(&w);
}

/* What a person has seen counts no more once they let it go on; what fails after that does. */
static void resumed(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 4, .width = 1});
    campaign_fail(&w, "n1", "apt", LKS_OUTCOME_FAILED, 1);
    campaign_fail(&w, "n3", "apt", LKS_OUTCOME_FAILED, 1);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_PENDING);
    campaign_pass(&w, MINUTE);
    campaign_move(&w, LKS_CHANGE_RUNNING);
    campaign_pass(&w, MINUTE);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_DONE);
    CHECK_MEMBER(&w, "n3", LKS_MEMBER_REVERTED);
    CHECK_MEMBER(&w, "n4", LKS_MEMBER_PENDING);
    campaign_pass(&w, MINUTE);
    campaign_move(&w, LKS_CHANGE_RUNNING);
    campaign_pass(&w, MINUTE);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    campaign_end(&w);
}

/* Promise 5 ---------------------------------------------------------------------------------- */

/* Nobody else of that hardware begins before the way back was shown; its duration is kept. */
static void shown_first(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 3, .proves = true});
    for (unsigned i = 0; i < 400 && w.a.state.proven_count == 0; i++) {
        (void)campaign_tick(&w);
        if (w.a.state.proven_count == 0) {
            CHECK_MEMBER(&w, "n2", LKS_MEMBER_PENDING);
            CHECK_MEMBER(&w, "n3", LKS_MEMBER_PENDING);
        }
        campaign_pass(&w, MINUTE / 2);
        (void)campaign_answer(&w);
    }
    if (CHECK_INT(w.a.state.proven_count, 1)) {
        const struct lks_proven *p = &w.a.state.proven[0];
        CHECK_STR(lks_state_text(&w.a.state, p->class), "hgx-h200-8");
        CHECK_STR(lks_state_text(&w.a.state, p->from), w.stack_a);
        CHECK_STR(lks_state_text(&w.a.state, p->to), w.stack_b);
        CHECK_STR(lks_state_text(&w.a.state, p->node), "n1");
        CHECK(p->took >= MINUTE && p->took < HOUR);
    }
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    CHECK_INT(campaign_count(&w, "revert-proven", ""), 1);
    campaign_end(&w);
}

/* Who should have shown it failed: nobody follows, and that is told, though one may fail. */
static void never_shown(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){
                           .nodes = 3, .proves = true, .failures_max = 1, .rolls_back = true});
    campaign_fail(&w, "n1", "apt", LKS_OUTCOME_FAILED, 1);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_REVERTED);
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_PENDING);
    CHECK_INT(campaign_count(&w, "alarm ", "the rollback was not exercised yet on hgx-h200-8"), 1);
    CHECK_INT(campaign_count(&w, "alarm ", "resume it and try n1 again, or abort it"), 1);
    /* A person lets it try again. */
    const struct lks_event events[] = {
        {.kind = LKS_EVENT_CHANGE_MOVE,
         .by = LKS_STR("lee"),
         .reason = LKS_STR("the mirror was away"),
         .move = {.change = 1, .order = LKS_ORDERED_RESUME}},
        {.kind = LKS_EVENT_MEMBER_MOVE,
         .by = LKS_STR("lee"),
         .reason = LKS_STR("the mirror is back"),
         .name = LKS_STR("n1"),
         .member = {.change = 1, .again = true}},
    };
    for (size_t i = 0; i < LKS_COUNT(events); i++) {
        campaign_pass(&w, 5 * MINUTE); /* that long a person may take */
        campaign_event(&w, &events[i]);
        (void)campaign_tick(&w);
    }
    CHECK_INT(w.a.state.alarms_open, 0);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    CHECK_INT(w.a.state.proven_count, 1);
    campaign_show(&w);
    campaign_end(&w);
}

/* Who should have shown it was left alone, and cannot be tried again: nobody is told to. */
static void left_alone_before_it_showed(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 3, .proves = true, .unapproved = true});
    campaign_node(&w, "n1")->up = false;
    (void)campaign_run(&w, 10 * MINUTE);
    campaign_move(&w, LKS_CHANGE_RUNNING);
    CHECK(campaign_run(&w, 4 * HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_SKIPPED);
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_PENDING);
    CHECK_INT(campaign_count(&w, "alarm ", "try n1 again"), 0);
    CHECK_INT(campaign_count(&w, "alarm ",
                             "n2 does not start before that; who was to show it was left alone: "
                             "abort it, what is done stays, and propose another one"),
              1);
    campaign_end(&w);
}

/* Whoever resumes it and then does nothing finds it halted again, and nobody went back for it. */
static void still_not_shown(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 3, .proves = true, .failures_max = 1});
    campaign_fail(&w, "n1", "apt", LKS_OUTCOME_FAILED, 1);
    CHECK(campaign_run(&w, HOUR));
    campaign_pass(&w, MINUTE);
    campaign_move(&w, LKS_CHANGE_RUNNING);
    CHECK(!campaign_run(&w, 9 * MINUTE));
    CHECK_CHANGE(&w, LKS_CHANGE_RUNNING);
    CHECK(campaign_run(&w, 5 * MINUTE));
    CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_PENDING);
    campaign_end(&w);
}

/* Where the way back does not work, that is found on the first, and it stays there. */
static void no_way_back(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .proves = true});
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_CHECK_BMC, LKS_MEMBER_READING, HOUR));
    campaign_fail(&w, "n1", "flash", LKS_BMC_FAILED, 9);
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_FENCED);
    CHECK_INT(campaign_member(&w, "n1")->failure, LKS_FAILURE_REVERT);
    CHECK_INT(campaign_member(&w, "n1")->pass, 1); /* it went back to show the rollback */
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_PENDING);
    CHECK_INT(w.a.state.proven_count, 0);
    campaign_end(&w);
}

/* What nobody approves or starts does not wait for ever; what runs is not meant. */
static void expires(void)
{
    static const struct {
        const char *name;
        enum lks_change_state is, ends;
        const char *text;
    } rows[] = {
        {"proposed", LKS_CHANGE_PROPOSED, LKS_CHANGE_ABORTED, "it was not approved within 2 h"},
        {"approved", LKS_CHANGE_APPROVED, LKS_CHANGE_ABORTED, "it was not started within 2 h"},
        {"paused", LKS_CHANGE_PAUSED, LKS_CHANGE_PAUSED, ""},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        struct lks_limits limits = lks_limits_default;
        lks_test_case("%s", rows[i].name);
        limits.proposal_age = 2 * HOUR;
        campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .unapproved = true});
        campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_LIMITS,
                                                 .limits = lks_limits_record(&limits, 0)});
        for (unsigned to = LKS_CHANGE_APPROVED; to <= (unsigned)rows[i].is; to++)
            campaign_move(&w, (enum lks_change_state)to);
        campaign_pass(&w, 2 * HOUR - MINUTE);
        campaign_settle(&w);
        CHECK_CHANGE(&w, rows[i].is);
        campaign_pass(&w, MINUTE);
        campaign_settle(&w);
        CHECK_CHANGE(&w, rows[i].ends);
        CHECK_INT(campaign_count(&w, "change-moved", "state=aborted"),
                  rows[i].ends == LKS_CHANGE_ABORTED);
        CHECK_HAS(lks_state_text(&w.a.state, campaign_change(&w)->moved_reason), rows[i].text);
        campaign_end(&w);
    }
}

/* What a person may let go unasked, and what not. */
static void waived(void)
{
    static const struct {
        const char *name, *gate;
        bool ends;
    } rows[] = {
        {"nothing is", "", false},
        {"its soak", "soak", true},
        {"another gate", "acceptance", false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .soak = 24 * HOUR});
        const struct lks_record r = {.kind = LKS_RECORD_WAIVED,
                                     .waived = {.change = w.change,
                                                .gate = lks_str_from(rows[i].gate),
                                                .until = w.a.now.wall + 48 * HOUR,
                                                .by = LKS_STR("user:ann")}};
        const struct lks_record may = {
            .kind = LKS_RECORD_GRANTED,
            .granted = {.identity = LKS_STR("user:ann"), .role = LKS_ROLE_APPROVER}};
        campaign_record(&w, &may);
        campaign_record(&w, &r);
        (void)campaign_run(&w, 12 * HOUR);
        CHECK((campaign_change(&w)->state == LKS_CHANGE_DONE) == rows[i].ends);
        campaign_end(&w);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"all is well", all_is_well},
        {"a gate is waived", waived},
        {"the soak is kept", the_soak_is_kept},
        {"not healthy", not_healthy},
        {"drifted since", drifted_since},
        {"it is halted while it is under way", it_is_halted_while_it_is_under_way},
        {"never attested", never_attested},
        {"not heard of", not_heard_of},
        {"behind one that is not heard of", behind_one_that_is_not_heard_of},
        {"a member that rolled back", rolled_back},
        {"heard of again", heard_of_again},
        {"the count of failures", count_of_failures},
        {"the count of failures over waves", count_of_all},
        {"the count of failures of a wave that allows fewer", count_of_wave},
        {"what a person has seen", resumed},
        {"the way back is shown first", shown_first},
        {"the way back is never shown", never_shown},
        {"who was to show the way back is left alone", left_alone_before_it_showed},
        {"the way back is still not shown", still_not_shown},
        {"there is no way back", no_way_back},
        {"a proposal that nobody approves", expires},
        {0},
    };
    return lks_test_main(tests);
}
