/* Gates that compare what acceptance checks find: before anything is done to a node, and when it is
 * to return. */
#include "base/rng.h"
#include "core/gate/gate.h"
#include "core/rows/change.h"
#include "core/state/lookup.h"
#include "tests/campaigns.h"
#include "tests/test.h"

#include <stdio.h>

#define HOUR CAMPAIGN_HOUR

enum { CANARIES = 8, RING = 4, NODES = CANARIES + RING };

/* What checks print: percent of a node's own level that the change brings, and what else. */
struct checks {
    double change, spread;
    bool mute_before, mute; /* they print nothing: before, or ever */
    unsigned wrong;         /* on so many of the nodes they find wrong results, once changed */
    bool garbled;           /* what they print is cut off */
};

struct row {
    const char *name;
    struct checks checks;
    struct lks_rec_plan_metric metric;
    bool fails_before; /* on a node they fail before anything is done to it */
    enum lks_change_state ends;
    enum lks_wave_state wave;
    const char *says;
};

#define TFLOPS                                                                                     \
    {                                                                                              \
        .query = LKS_STR_C("tflops"), .margin = LKS_STR_C("1"), .critical = true                   \
    }
#define OTHER                                                                                      \
    {                                                                                              \
        .query = LKS_STR_C("tflops"), .margin = LKS_STR_C("1")                                     \
    }
#define WRONG                                                                                      \
    {                                                                                              \
        .query = LKS_STR_C("wrong"), .kind = LKS_METRIC_HARD, .better = LKS_BETTER_LOWER,          \
        .critical = true                                                                           \
    }
#define ABSENT                                                                                     \
    {                                                                                              \
        .query = LKS_STR_C("absent"), .kind = LKS_METRIC_HARD, .better = LKS_BETTER_LOWER,         \
        .critical = true                                                                           \
    }
#define PASSES      .ends = LKS_CHANGE_DONE, .wave = LKS_WAVE_PASSED, .says = "8 done"
#define HALTS(text) .ends = LKS_CHANGE_HALTED, .wave = LKS_WAVE_HALTED, .says = (text)
#define HOLDS(text) .ends = LKS_CHANGE_HALTED, .wave = LKS_WAVE_HELD, .says = (text)

static const struct row rows[] = {
    {"as fast as before", {.spread = 0.3}, TFLOPS, PASSES},
    {"exactly as before", {.spread = 0}, TFLOPS, PASSES},
    {"two percent slower", {.change = -2, .spread = 0.3}, TFLOPS, HALTS("margin of 1 %")},
    {"all by the same two percent", {.change = -2}, TFLOPS, HALTS("margin of 1 %")},
    {"two percent faster", {.change = 2, .spread = 0.3}, TFLOPS, PASSES},
    {"too restless to tell", {.spread = 6}, TFLOPS, HOLDS("still not sure")},
    {"nothing is printed", {.mute = true}, TFLOPS, HOLDS("0 of 8 have data")},
    {"nothing was printed before", {.mute_before = true}, TFLOPS, HOLDS("0 of 8 have data")},
    {"what is printed is cut off", {.garbled = true}, TFLOPS, HOLDS("0 of 8 have data")},
    {"nothing is printed, and nothing else is asked for",
     {.mute = true},
     OTHER,
     HOLDS("0 of 8 have data")},
    {"checks fail on one before it is changed",
     {.spread = 0.3},
     TFLOPS,
     .fails_before = true,
     HOLDS("7 of 8 have data")},
    {"results are right", {.spread = 0}, WRONG, PASSES},
    {"results of one are wrong", {.wrong = 1}, WRONG, HALTS("on 1 of the canaries")},
    {"nobody looks whether they are", {.spread = 0}, ABSENT, HOLDS("0 of 8 have data")},
};

static const struct checks *checks;

static void say(const struct campaign *w, const struct campaign_node *n, struct lks_buf *text)
{
    uint64_t number = 0;
    (void)w;
    CHECK(lks_str_number(lks_str_from(n->name + 1), 1000, &number));
    struct lks_rng rng = {number * 7919};
    double noise = (double)lks_rng_below(&rng, 2001) / 1000 - 1;
    double gain = n->installed ? checks->change + checks->spread * noise : 0;
    if (checks->mute || (checks->mute_before && !n->installed))
        return;
    lks_buf_addf(text, "all well; figures tflops=%.3f wrong=%d%s",
                 (600 + (double)number) * (1 + gain / 100), n->installed && number <= checks->wrong,
                 checks->garbled ? " mor" : "");
}

static void begin(struct campaign *w, const struct row *r)
{
    struct lks_rec_plan_metric metric = r->metric;
    struct lks_rec_plan_gate gate = {.pool = LKS_STR("train")};
    checks = &r->checks;
    campaign_begin(
        w, &(struct campaign_plan){.nodes = NODES, .waves = {CANARIES, RING}, .soak = HOUR});
    w->accepts = say;
    metric.change = gate.change = w->change;
    metric.name = LKS_STR("figure");
    metric.pools = LKS_STR("train");
    metric.source = LKS_SOURCE_ACCEPT;
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_PLAN_METRIC, .plan_metric = metric});
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_PLAN_GATE, .plan_gate = gate});
    if (r->fails_before)
        w->faults[w->fault_count++] =
            (struct campaign_fault){"n2", "accept", LKS_OUTCOME_FAILED, 1};
}

static void figures_decide(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        const struct row *r = &rows[i];
        struct campaign w;
        lks_test_case("%s", r->name);
        begin(&w, r);
        CHECK(campaign_run(&w, 60 * HOUR));
        const struct lks_state_change *c = campaign_change(&w);
        CHECK_STR(lks_str_from(lks_change_state_words[c->state]), lks_change_state_words[r->ends]);
        CHECK_STR(lks_str_from(lks_wave_state_words[c->waves[0].state]),
                  lks_wave_state_words[r->wave]);
        CHECK_HAS(lks_state_text(&w.a.state, c->waves[0].text), r->says);
        campaign_end(&w);
    }
}

/* Canaries are accepted twice, those behind them once: it takes time, and tells no more. */
static void it_is_looked_at_twice(void)
{
    static const struct row good = {.metric = TFLOPS, .checks = {.spread = 0.3}},
                            right = {.metric = WRONG};
    static const struct {
        const char *name;
        const struct row *row;
        unsigned times[2]; /* of a canary, and of one of the ring */
        unsigned measured[2];
    } cases[] = {
        {"what is compared", &good, {2, 1}, {2, 1}},
        {"what is counted", &right, {1, 1}, {1, 1}},
    };
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        struct campaign w;
        lks_test_case("%s", cases[i].name);
        begin(&w, cases[i].row);
        CHECK(campaign_run(&w, 60 * HOUR));
        CHECK_INT(campaign_count(&w, "node=n1 ", "executor=accept"), cases[i].times[0]);
        CHECK_INT(campaign_count(&w, "node=n9 ", "executor=accept"), cases[i].times[1]);
        CHECK_INT(campaign_count(&w, "measured ", "node=n1 "), cases[i].measured[0]);
        CHECK_INT(campaign_count(&w, "measured ", "node=n9 "), cases[i].measured[1]);
        campaign_end(&w);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"figures of acceptance checks decide", figures_decide},
        {"canaries are looked at twice", it_is_looked_at_twice},
        {0},
    });
}
