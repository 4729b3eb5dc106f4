/* A round of measuring: which questions are asked for the nodes of a wave and its controls, and
 * what is made of their answers. */
#include "core/gate/gate_round.h"
#include "core/rows/change.h"
#include "core/state/lookup.h"
#include "tests/campaigns.h"
#include "tests/test.h"

#include <string.h>

#define MINUTE CAMPAIGN_MINUTE
#define LOAD   "gpu_seconds[$window]"

/* A canary of n1 and n2, of which the last `fails` failed and rolled back, that soaks, with n3 as
 * its control, since so long. */
static void soaking_but(struct campaign *w, unsigned fails, lks_ms since)
{
    campaign_begin(w, &(struct campaign_plan){.nodes = 4,
                                              .waves = {2, 2},
                                              .width = 1,
                                              .failures_max = fails,
                                              .soak = CAMPAIGN_HOUR,
                                              .controls = "n3"});
    if (fails > 0)
        campaign_fail(w, "n2", "apt", LKS_OUTCOME_FAILED, 1);
    const struct lks_record planned[] = {
        {.kind = LKS_RECORD_PLAN_METRIC,
         .plan_metric = {.change = w->change,
                         .name = LKS_STR("tokens"),
                         .pools = LKS_STR("train"),
                         .margin = LKS_STR("1"),
                         .query = LKS_STR("tokens_per_s")}},
        {.kind = LKS_RECORD_PLAN_METRIC,
         .plan_metric = {.change = w->change,
                         .name = LKS_STR("xids"),
                         .pools = LKS_STR("train"),
                         .kind = LKS_METRIC_RATE,
                         .better = LKS_BETTER_LOWER,
                         .query = LKS_STR("increase(xids[$window])")}},
        {.kind = LKS_RECORD_PLAN_METRIC,
         .plan_metric = {.change = w->change,
                         .name = LKS_STR("bandwidth"),
                         .pools = LKS_STR("train"),
                         .source = LKS_SOURCE_ACCEPT}},
    };
    for (size_t i = 0; i < LKS_COUNT(planned); i++)
        campaign_record(w, &planned[i]);
    CHECK(!campaign_run(w, 20 * MINUTE));
    CHECK_INT(campaign_change(w)->waves[0].state, LKS_WAVE_SOAKS);
    campaign_pass(w, since);
}

static void soaking(struct campaign *w, lks_ms since)
{
    soaking_but(w, 0, since);
}

static struct lks_gate_round round_of(const struct campaign *w, const char *load)
{
    struct lks_gate_round r = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_gate_round_make(&w->a.state, lks_str_from(load), w->a.now.wall, &r, &err),
               LKS_OK);
    return r;
}

static const struct lks_gate_wanted *wanted(const struct lks_gate_round *r, const char *node,
                                            const char *metric)
{
    for (uint32_t i = 0; i < r->wanted_count; i++) {
        if (lks_str_is(r->wanted[i].name, node) && lks_str_is(r->wanted[i].metric, metric))
            return &r->wanted[i];
    }
    CHECK(false);
    return &r->wanted[0];
}

static void who_is_measured(void)
{
    struct campaign w;
    soaking(&w, 30 * MINUTE);
    struct lks_gate_round r = round_of(&w, "");
    CHECK_INT(r.wanted_count, 6); /* two metrics of n1, n2 and n3; not of n4, which waits */
    CHECK_INT(r.left, 0);
    CHECK_INT(wanted(&r, "n3", "tokens")->load, LKS_ROUND_NONE);
    lks_gate_round_fini(&r);
    campaign_end(&w);
}

/* Nobody's window begins before the node was back, and none ends behind the wave's beginning that
 * is to show what was before. */
static void windows(void)
{
    struct campaign w;
    soaking(&w, 30 * MINUTE);
    struct lks_gate_round r = round_of(&w, LOAD);
    static const char *const members[] = {"n1", "n2"};
    for (size_t i = 0; i < LKS_COUNT(members); i++) {
        const struct lks_member *m = campaign_member(&w, members[i]);
        const struct lks_gate_wanted *tokens = wanted(&r, members[i], "tokens");
        const struct lks_gate_question *after = &r.questions[tokens->after];
        const struct lks_gate_question *before = &r.questions[tokens->before];
        lks_test_case("%s", members[i]);
        CHECK_STR(after->query, "tokens_per_s");
        CHECK_INT(after->at, w.a.now.wall);
        CHECK(after->at - after->window >= m->since);
        CHECK(after->window >= (w.a.now.wall - m->since) * 31 / 32 - LKS_SECOND);
        CHECK(before->at <= m->begun);
        CHECK(before->at + before->window / 16 >= m->begun);
        CHECK(before->at >= before->window);
        CHECK(r.questions[tokens->load].counts && !after->counts);
    }
    lks_gate_round_fini(&r);
    campaign_end(&w);
}

/* Another change left n1 and n3 so long before this one began at n1. */
static const struct {
    const char *name;
    lks_ms ago;
    bool asked; /* there is a time of which to ask what was before */
} lefts[] = {
    {"long before", 10 * CAMPAIGN_HOUR, true},
    {"a while before", 10 * MINUTE, true},
    {"just before", 10 * LKS_SECOND, true},
    {"as it began", 0, false},
};

static void check_before(const struct campaign *w, const struct lks_gate_round *r, const char *node,
                         size_t row)
{
    lks_ms begun = campaign_member(w, "n1")->begun, left = begun - lefts[row].ago;
    const struct lks_gate_wanted *tokens = wanted(r, node, "tokens");
    lks_test_case("%s: %s", lefts[row].name, node);
    CHECK(tokens->after != LKS_ROUND_NONE);
    if (!CHECK_INT(tokens->before != LKS_ROUND_NONE, lefts[row].asked) || !lefts[row].asked)
        return;
    const struct lks_gate_question *before = &r->questions[tokens->before];
    CHECK(before->window > 0 && before->at <= begun);
    CHECK(before->at - before->window >= left);
    CHECK(lefts[row].ago >= CAMPAIGN_HOUR ||
          before->window + 2 * LKS_SECOND >= lefts[row].ago * 15 / 16);
}

/* What a node did while another change was at it is no time before this one. */
static void another_change_was_there(void)
{
    for (size_t i = 0; i < LKS_COUNT(lefts); i++) {
        struct campaign w;
        soaking(&w, 30 * MINUTE);
        w.a.now.wall += 100 * CAMPAIGN_HOUR;
        lks_ms begun = w.a.now.wall - 9 * CAMPAIGN_HOUR;
        for (unsigned k = 0; k < 2; k++) {
            w.a.state.changes[0].members[k].begun = begun;
            w.a.state.changes[0].members[k].since = begun + CAMPAIGN_HOUR;
        }
        campaign_propose(&w, 2);
        w.change = 1;
        static const unsigned members[] = {0, 2}; /* n1 and n3 */
        for (size_t k = 0; k < LKS_COUNT(members); k++) {
            struct lks_member *m = &w.a.state.changes[1].members[members[k]];
            m->begun = begun - 20 * CAMPAIGN_HOUR;
            m->since = begun - lefts[i].ago;
        }
        struct lks_gate_round r = round_of(&w, "");
        CHECK_INT(r.wanted_count, 6);
        CHECK_INT(r.left, 0);
        check_before(&w, &r, "n1", i);
        check_before(&w, &r, "n3", i);
        lks_gate_round_fini(&r);
        campaign_end(&w);
    }
}

/* A member that rolled back runs what it ran: it is no canary, and the wave is compared since
 * those that are. */
static void rolled_back(void)
{
    struct campaign w;
    soaking_but(&w, 1, 30 * MINUTE);
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_REVERTED);
    struct lks_member *gone = &w.a.state.changes[0].members[1];
    gone->begun -= MINUTE;
    gone->since += MINUTE;
    struct lks_gate_times t = lks_gate_times(campaign_change(&w), 0);
    CHECK_INT(t.begun, campaign_member(&w, "n1")->begun);
    CHECK_INT(t.done, campaign_member(&w, "n1")->since);
    struct lks_gate_round r = round_of(&w, "");
    CHECK_INT(r.wanted_count, 4); /* two metrics of n1 and n3 */
    for (uint32_t i = 0; i < r.wanted_count; i++)
        CHECK(!lks_str_is(r.wanted[i].name, "n2"));
    lks_gate_round_fini(&r);
    campaign_end(&w);
}

/* The first wave passed, and the second one soaks, so long after it began, with the nodes of the
 * first as its controls. */
static void second_wave(struct campaign *w, unsigned fails, lks_ms since)
{
    campaign_begin(w, &(struct campaign_plan){.nodes = 4,
                                              .waves = {2, 2},
                                              .failures_max = fails,
                                              .soak = CAMPAIGN_HOUR,
                                              .ring_controls = {[1] = "n[1-2]"}});
    if (fails > 0)
        campaign_fail(w, "n2", "apt", LKS_OUTCOME_FAILED, 1);
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_PLAN_METRIC,
                                            .plan_metric = {.change = w->change,
                                                            .name = LKS_STR("tokens"),
                                                            .pools = LKS_STR("train"),
                                                            .margin = LKS_STR("1"),
                                                            .query = LKS_STR("tokens_per_s")}});
    campaign_waive(w, "tokens", 100 * CAMPAIGN_HOUR);
    CHECK(campaign_run_until(w, "n4", CAMPAIGN_RETURN, LKS_MEMBER_DONE, 9 * CAMPAIGN_HOUR));
    w->a.now.wall += since;
}

static uint32_t count_controls(const struct campaign *w)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_gate_controls controls = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, 1 << 20);
    CHECK_CODE(lks_gate_controls(&w->a.state, campaign_change(w), 1, &arena, &controls, &err),
               LKS_OK);
    CHECK_INT(controls.untouched, 0);
    return controls.count;
}

/* What a node of an earlier wave did before the change came to it is no time before: it has the
 * change on both sides, and that for as long as the wave soaks. */
static void controls_of_an_earlier_wave(void)
{
    struct campaign w;
    second_wave(&w, 0, 30 * CAMPAIGN_HOUR);
    CHECK_INT(count_controls(&w), 2);
    struct lks_gate_round r = round_of(&w, "");
    const struct lks_gate_wanted *n1 = wanted(&r, "n1", "tokens"), *n3 = wanted(&r, "n3", "tokens");
    if (CHECK(n1->before != LKS_ROUND_NONE && n3->before != LKS_ROUND_NONE)) {
        const struct lks_gate_question *before = &r.questions[n1->before];
        CHECK(before->at - before->window >= campaign_member(&w, "n1")->since);
        CHECK(before->at <= campaign_member(&w, "n3")->begun);
        before = &r.questions[n3->before]; /* the change was at other nodes, which says nothing */
        CHECK(before->at - before->window < campaign_member(&w, "n1")->begun);
    }
    lks_gate_round_fini(&r);
    struct lks_member *n2 = &w.a.state.changes[0].members[1];
    lks_ms begun = lks_gate_times(campaign_change(&w), 1).begun;
    n2->since = begun - CAMPAIGN_HOUR;
    CHECK_INT(count_controls(&w), 2);
    n2->since++;
    CHECK_INT(count_controls(&w), 1);
    campaign_end(&w);
}

/* A node of an earlier wave that rolled back is no control, and no event of it is the change's. */
static void rolled_back_in_an_earlier_wave(void)
{
    struct campaign w;
    second_wave(&w, 1, 30 * CAMPAIGN_HOUR);
    const struct lks_state_change *c = campaign_change(&w);
    CHECK_MEMBER(&w, "n2", LKS_MEMBER_REVERTED);
    CHECK_INT(count_controls(&w), 1);
    CHECK(lks_gate_counts_on(&w.a.state, c, campaign_member(&w, "n1"), 1));
    CHECK(!lks_gate_counts_on(&w.a.state, c, campaign_member(&w, "n2"), 1));
    campaign_end(&w);
}

static void shared_questions(void)
{
    struct campaign w;
    soaking(&w, 30 * MINUTE);
    struct lks_gate_round r = round_of(&w, LOAD);
    /* Both metrics share the question for load; what is counted has no `before`. */
    CHECK_INT(wanted(&r, "n1", "tokens")->load, wanted(&r, "n1", "xids")->load);
    CHECK_INT(wanted(&r, "n1", "xids")->before, LKS_ROUND_NONE);
    CHECK(r.question_count < 4 * 3);
    lks_gate_round_fini(&r);
    campaign_end(&w);
}

/* What a monitoring system has: of n1 everything, of n2 nothing from before, of n3 nothing. */
static bool answer(void *ctx, uint32_t question, struct lks_str node, double *out)
{
    const struct lks_gate_round *r = ctx;
    const struct lks_gate_question *q = &r->questions[question];
    if (lks_str_is(node, "n3"))
        return false;
    if (lks_str_find(q->query, LKS_STR("xids")) >= 0)
        *out = 1.9; /* as they interpolate */
    else if (lks_str_find(q->query, LKS_STR("gpu_seconds")) >= 0)
        *out = 4000.2;
    else if (q->at == r->questions[wanted(r, "n1", "tokens")->after].at)
        *out = 98;
    else if (lks_str_is(node, "n1"))
        *out = 100;
    else
        return false;
    return true;
}

static const struct lks_measure *tokens_of(const struct campaign *w, const char *node)
{
    const struct lks_state_change *c = campaign_change(w);
    return lks_state_change_measure(c, 0, campaign_member(w, node)->node, c->metrics[0].name);
}

static void what_is_said(void)
{
    struct campaign w;
    struct lks_measured *list = NULL;
    struct lks_err err = {0};
    size_t count = 0;
    soaking(&w, 30 * MINUTE);
    struct lks_gate_round r = round_of(&w, LOAD);
    CHECK_CODE(lks_gate_round_answer(&r, answer, &r, &list, &count, &err), LKS_OK);
    CHECK_INT(count, 6);
    for (size_t i = 0; i < count; i++) {
        struct lks_str name = lks_state_name(&w.a.state, list[i].node);
        bool control = lks_str_is(name, "n3"), tokens = lks_str_is(list[i].metric, "tokens");
        lks_test_case("%.*s %.*s", LKS_STR_ARG(name), LKS_STR_ARG(list[i].metric));
        CHECK_INT(list[i].change, w.change);
        CHECK(list[i].has_after == !control);
        CHECK(list[i].has_before == (tokens && lks_str_is(name, "n1")));
        CHECK(list[i].after == (tokens && !control ? 98 : 0));
        CHECK_INT(list[i].events, tokens || control ? 0 : 2);
        /* Of two events in a window, the first is on average behind its first third. */
        CHECK_INT(list[i].exposure, tokens || control ? 0 : (list[i].until - list[i].from) / 3);
        CHECK_INT(list[i].load, control ? 0 : 4000);
        CHECK(list[i].from < list[i].until);
    }
    campaign_event(&w, &(struct lks_event){.kind = LKS_EVENT_MEASURED,
                                           .measured = {.list = list, .count = count}});
    const struct lks_measure *m = tokens_of(&w, "n1");
    CHECK(m != NULL && m->before == 100 && m->after == 98);
    lks_gate_round_fini(&r);
    campaign_end(&w);
}

/* A question about a member that was done, and an answer after it needs manual intervention. */
static void an_answer_about_a_member_that_is_not_done(void)
{
    struct campaign w;
    struct lks_measured *list = NULL;
    struct lks_err err = {0};
    size_t count = 0;
    soaking(&w, 30 * MINUTE);
    struct lks_gate_round r = round_of(&w, LOAD);
    CHECK_CODE(lks_gate_round_answer(&r, answer, &r, &list, &count, &err), LKS_OK);
    for (uint32_t i = 0; i < w.a.state.changes[0].member_count; i++) {
        struct lks_member *m = &w.a.state.changes[0].members[i];
        if (m == campaign_member(&w, "n1"))
            m->state = LKS_MEMBER_HANDS;
    }
    campaign_event(&w, &(struct lks_event){.kind = LKS_EVENT_MEASURED,
                                           .measured = {.list = list, .count = count}});
    CHECK(tokens_of(&w, "n1") == NULL);
    CHECK(tokens_of(&w, "n2") != NULL);
    lks_gate_round_fini(&r);
    campaign_end(&w);
}

/* Nodes that return one after the other have windows of their own, and nearly the same ones. */
static void many_nodes_share_few_questions(void)
{
    enum { CANARIES = 40 };
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = CANARIES + 4,
                                               .waves = {CANARIES, 4},
                                               .soak = CAMPAIGN_HOUR,
                                               .controls = "n[41-44]"});
    campaign_gate(&w, (struct lks_rec_plan_metric){.query = LKS_STR("x"), .margin = LKS_STR("1")},
                  (struct lks_rec_plan_gate){0});
    CHECK(!campaign_run(&w, 20 * MINUTE));
    CHECK_INT(campaign_change(&w)->waves[0].state, LKS_WAVE_SOAKS);
    w.a.now.wall += 100 * CAMPAIGN_HOUR;
    for (unsigned i = 0; i < CANARIES; i++) { /* ten hours ago, about half a minute apart */
        struct lks_member *m = &w.a.state.changes[0].members[i];
        m->begun = w.a.now.wall - 10 * CAMPAIGN_HOUR + (lks_ms)i * 31013;
        m->since = m->begun + 20 * MINUTE + (lks_ms)i * 37;
    }
    struct lks_gate_round r = round_of(&w, LOAD);
    CHECK_INT(r.wanted_count, CANARIES + 4);
    lks_test_case("%u questions", r.question_count);
    CHECK(r.question_count <= 3 * 6);
    for (uint32_t i = 0; i < r.wanted_count; i++) {
        const struct lks_gate_question *after = &r.questions[r.wanted[i].after];
        const struct lks_gate_question *before = &r.questions[r.wanted[i].before];
        CHECK(before->window <= after->window + after->window / 16);
        CHECK(before->window >= after->window - after->window / 16);
    }
    lks_gate_round_fini(&r);
    campaign_end(&w);
}

/* Something that every node has once a minute. */
static bool each_minute(void *ctx, uint32_t question, struct lks_str node, double *out)
{
    const struct lks_gate_round *r = ctx;
    (void)node;
    *out = r->questions[question].counts ? (double)(r->questions[question].window / MINUTE) : 100;
    return true;
}

static void tell(struct campaign *w, lks_gate_answer_fn *fn)
{
    struct lks_measured *list = NULL;
    struct lks_err err = {0};
    size_t count = 0;
    struct lks_gate_round r = round_of(w, "");
    CHECK_CODE(lks_gate_round_answer(&r, fn, &r, &list, &count, &err), LKS_OK);
    if (count > 0)
        campaign_event(w, &(struct lks_event){.kind = LKS_EVENT_MEASURED,
                                              .measured = {.list = list, .count = count}});
    lks_gate_round_fini(&r);
}

/* Canaries that just returned are beside controls that were counted for hours: all had it. */
static void what_everybody_has_halts_nothing(void)
{
    struct campaign w;
    bool over = false;
    campaign_begin(
        &w, &(struct campaign_plan){
                .nodes = 26, .waves = {8, 18}, .soak = CAMPAIGN_HOUR, .controls = "n[9-24]"});
    for (unsigned i = 0; i < 8; i++)
        w.nodes[i].busy = true; /* for a while, with what they were asked to leave for */
    CHECK(!campaign_run(&w, 25 * MINUTE));
    for (unsigned i = 0; i < 8; i++)
        w.nodes[i].busy = false;
    campaign_gate(&w,
                  (struct lks_rec_plan_metric){.kind = LKS_METRIC_RATE,
                                               .better = LKS_BETTER_LOWER,
                                               .query = LKS_STR("replays[$window]")},
                  (struct lks_rec_plan_gate){0});
    for (unsigned i = 0; i < 1000 && !over; i++) {
        over = campaign_run(&w, 2 * MINUTE);
        tell(&w, each_minute);
    }
    CHECK_STR(lks_str_from(lks_change_state_words[campaign_change(&w)->state]), "done");
    CHECK_STR(lks_state_text(&w.a.state, campaign_change(&w)->waves[0].text), "8 done");
    campaign_end(&w);
}

static void nobody(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1});
    struct lks_gate_round r = round_of(&w, LOAD);
    CHECK_INT(r.question_count, 0);
    lks_gate_round_fini(&r);
    campaign_end(&w);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"members that are done and controls are measured", who_is_measured},
        {"windows", windows},
        {"a member that rolled back is not measured", rolled_back},
        {"time under another change is not before", another_change_was_there},
        {"controls of an earlier wave", controls_of_an_earlier_wave},
        {"a node of an earlier wave that rolled back", rolled_back_in_an_earlier_wave},
        {"questions are shared", shared_questions},
        {"what answers say, and that there are none", what_is_said},
        {"an answer about a member that is not done", an_answer_about_a_member_that_is_not_done},
        {"many nodes share few questions", many_nodes_share_few_questions},
        {"what everybody has halts nothing", what_everybody_has_halts_nothing},
        {"nothing is asked for a change without metrics", nobody},
        {0},
    };
    return lks_test_main(tests);
}
