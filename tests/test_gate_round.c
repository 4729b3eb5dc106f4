/* A round of measuring: which questions are asked for the nodes of a wave and its controls, and
 * what is made of their answers. */
#include "core/gate_round.h"
#include "tests/campaigns.h"
#include "tests/test.h"

#include <string.h>

#define MINUTE CAMPAIGN_MINUTE
#define LOAD   "gpu_seconds[$window]"

/* A canary of n1 and n2 that soaks, with n3 as its control, since so long. */
static void soaking(struct campaign *w, lks_ms since)
{
    campaign_begin(
        w, &(struct campaign_plan){
               .nodes = 4, .waves = {2, 2}, .width = 1, .soak = CAMPAIGN_HOUR, .controls = "n3"});
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
        CHECK((list[i].exposure > 0) == (!tokens && !control));
        CHECK_INT(list[i].load, control ? 0 : 4000);
        CHECK(list[i].from < list[i].until);
    }
    campaign_event(&w, &(struct lks_event){.kind = LKS_EVENT_MEASURED,
                                           .measured = {.list = list, .count = count}});
    const struct lks_measure *m =
        lks_change_measure(campaign_change(&w), 0, campaign_member(&w, "n1")->node,
                           campaign_change(&w)->metrics[0].name);
    CHECK(m != NULL && m->before == 100 && m->after == 98);
    lks_gate_round_fini(&r);
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
        {"questions are shared", shared_questions},
        {"what answers say, and that there are none", what_is_said},
        {"nothing is asked for a change without metrics", nobody},
        {0},
    };
    return lks_test_main(tests);
}
