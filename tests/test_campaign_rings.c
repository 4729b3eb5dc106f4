/* Rings behind a canary: what the canary has shown counts for them, who changed before is compared
 * with the last of them, and events are counted on through all waves. */
#include "core/campaign/campaign_evidence.h"
#include "core/campaign/campaign_evidence_waves.h"
#include "core/campaign/state_apply.h"
#include "core/state/lookup.h"
#include "tests/campaigns.h"
#include "tests/reload.h"
#include "tests/test.h"

#include <math.h>

#define HOUR CAMPAIGN_HOUR

/* A canary of n1 to n8, a ring of n9 and n10, and the last one of n11 to n26. */
enum { CANARIES = 8, RING = 2, LAST = 16, NODES = CANARIES + RING + LAST };

/* What the change does, and by how much nodes are apart, by wave; percent. */
struct world {
    double change[3], spread[3];
    double drift; /* of everybody, meanwhile */
    /* Nodes that have an event while a wave is on: the first so many canaries, and then the next so
     * many; of the last so many nodes all the time. */
    unsigned canary_events, later_events, control_events;
};

static void measure(const struct campaign *w, const struct lks_gate_want *want,
                    struct lks_measured *out)
{
    const struct world *world = w->ctx;
    unsigned number = campaign_number(w, want->node), wave = want->wave;
    double gain = world->drift + world->spread[wave] * campaign_noise(number + 100 * wave);
    gain += want->control ? 0 : world->change[wave];
    CHECK(!want->earlier || number <= CANARIES + RING);
    CHECK(!want->earlier || (want->metric->kind == LKS_METRIC_MEAN) == want->control);
    unsigned first = wave == 0 ? 0 : world->canary_events;
    unsigned last = wave == 0 ? world->canary_events : first + world->later_events;
    out->has_before = out->has_after = true;
    out->before = 100 + number;
    out->after = (100 + number) * exp(gain / 100);
    out->events = want->metric->kind != LKS_METRIC_MEAN &&
                  ((number > first && number <= last && !want->control) ||
                   number > NODES - world->control_events);
}

static void begin(struct campaign *w, const struct world *world)
{
    static struct world now;
    const struct campaign_plan plan = {
        .nodes = NODES,
        .waves = {CANARIES, RING, LAST},
        .soak = HOUR,
        .controls = "n[11-26]",
        .ring_controls = {NULL, "n[11-26]", "n[1-10]"},
    };
    now = *world;
    campaign_begin(w, &plan);
    w->ctx = &now;
}

#define SPEED                                                                                      \
    (struct lks_rec_plan_metric)                                                                   \
    {                                                                                              \
        .margin = LKS_STR("1"), .critical = true                                                   \
    }
#define EVENTS(of)                                                                                 \
    (struct lks_rec_plan_metric)                                                                   \
    {                                                                                              \
        .critical = true, .kind = (of), .better = LKS_BETTER_LOWER                                 \
    }

static const struct {
    const char *name;
    struct world world;
    bool resumed; /* a person lets the canary pass */
    enum lks_change_state ends;
    uint32_t wave; /* that decides, */
    const char *says;
} rows[] = {
    {"all is well",
     {.spread = {0.4, 0.4, 0.4}},
     .ends = LKS_CHANGE_DONE,
     .wave = 2,
     .says = "16 done"},
    {"a small ring is not sure alone, and the canary passed",
     {.spread = {0.4, 2, 0.4}},
     .ends = LKS_CHANGE_DONE,
     .wave = 1,
     .says = "2 done"},
    {"a small ring that does worse than the canary did",
     {.spread = {0.4, 2, 0.4}, .change = {0, -2.5, 0}},
     .ends = LKS_CHANGE_HALTED,
     .wave = 1,
     .says = "still not sure at the last evaluation"},
    {"a small ring that does far worse",
     {.spread = {0.4, 0.4, 0.4}, .change = {0, -9, 0}},
     .ends = LKS_CHANGE_HALTED,
     .wave = 1,
     .says = "worse than its margin of 1 %"},
    {"behind a canary that a person let pass, it has to show it itself",
     {.spread = {9, 2, 0.4}},
     .resumed = true,
     .ends = LKS_CHANGE_HALTED,
     .wave = 1,
     .says = "still not sure at the last evaluation"},
    {"the last ring does worse than those that changed before",
     {.spread = {0.4, 0.4, 0.4}, .change = {0, 0, -3}},
     .ends = LKS_CHANGE_HALTED,
     .wave = 2,
     .says = "worse than its margin of 1 %"},
    {"the whole fleet drifts while the last ring soaks",
     {.spread = {0.4, 0.4, 0.4}, .drift = -5},
     .ends = LKS_CHANGE_DONE,
     .wave = 2,
     .says = "16 done"},
};

static void what_a_canary_showed(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        begin(&w, &rows[i].world);
        campaign_gate(&w, SPEED, (struct lks_rec_plan_gate){0});
        if (rows[i].resumed) {
            CHECK(campaign_run_measured(&w, measure, 10 * HOUR));
            CHECK_INT(campaign_change(&w)->waves[0].state, LKS_WAVE_HELD);
            campaign_move(&w, LKS_CHANGE_RUNNING);
        }
        CHECK(campaign_run_measured(&w, measure, 60 * HOUR));
        const struct lks_state_change *c = campaign_change(&w);
        CHECK_STR(lks_str_from(lks_change_state_words[c->state]),
                  lks_change_state_words[rows[i].ends]);
        CHECK_HAS(lks_state_text(&w.a.state, c->waves[rows[i].wave].text), rows[i].says);
        campaign_end(&w);
    }
}

/* It is written down by what it passed. */
static void it_says_why(void)
{
    static const struct world world = {.spread = {0.4, 2, 0.4}};
    struct campaign w;
    begin(&w, &world);
    campaign_gate(&w, SPEED, (struct lks_rec_plan_gate){0});
    CHECK(campaign_run_measured(&w, measure, 60 * HOUR));
    CHECK_INT(campaign_count(&w, "wave=1 metric=speed look=4 verdict=pass", "the canary passed it"),
              1);
    CHECK_INT(campaign_count(&w, "look=3", "the canary passed it"), 0);
    CHECK_INT(campaign_count(&w, "wave=0 metric=speed", "the canary passed it"), 0);
    campaign_end(&w);
}

/* Events ------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    enum lks_metric_kind kind;
    struct world world;
    enum lks_change_state ends;
    uint32_t wave; /* it was halted in */
} events[] = {
    {"too few in any wave, and too many in all",
     LKS_METRIC_RATE,
     {.canary_events = 2, .later_events = 3},
     LKS_CHANGE_HALTED,
     1},
    {"too few in all", LKS_METRIC_RATE, {.canary_events = 2}, LKS_CHANGE_DONE, 0},
    {"as many later as first, and no canary had one then",
     LKS_METRIC_RATE,
     {.later_events = 3},
     LKS_CHANGE_DONE,
     0},
    {"controls have them as often",
     LKS_METRIC_RATE,
     {.canary_events = 2, .later_events = 3, .control_events = 6},
     LKS_CHANGE_DONE,
     0},
    {"a control has them in every wave, and counts once",
     LKS_METRIC_RATE,
     {.canary_events = 3, .later_events = 3, .control_events = 1},
     LKS_CHANGE_HALTED,
     1},
    {"a control that had one in the wave before is no excuse",
     LKS_METRIC_HARD,
     {.later_events = 1, .control_events = 1},
     LKS_CHANGE_HALTED,
     1},
    {"one of which one is enough, of a canary while the ring is on",
     LKS_METRIC_HARD,
     {.later_events = 1},
     LKS_CHANGE_HALTED,
     1},
};

static void events_are_counted_on(void)
{
    for (size_t i = 0; i < LKS_COUNT(events); i++) {
        struct campaign w;
        lks_test_case("%s", events[i].name);
        begin(&w, &events[i].world);
        campaign_gate(&w, EVENTS(events[i].kind), (struct lks_rec_plan_gate){0});
        CHECK(campaign_run_measured(&w, measure, 60 * HOUR));
        const struct lks_state_change *c = campaign_change(&w);
        CHECK_STR(lks_str_from(lks_change_state_words[c->state]),
                  lks_change_state_words[events[i].ends]);
        if (events[i].ends == LKS_CHANGE_HALTED)
            CHECK_INT(c->waves[events[i].wave].state, LKS_WAVE_HALTED);
        campaign_end(&w);
    }
}

/* Where it is known how often a node has one without the change, fewer are enough; and where there
 * were none for long enough, that is told. */
static const struct {
    const char *name, *normal;
    unsigned events;
    bool halts;
    const char *says; /* of the first wave */
} known[] = {
    {"two, where many are normal in an hour", "10", 2, false, "2 changed nodes"},
    {"two, where one is normal in a year", "0.0001", 2, true, "2 changed nodes"},
    {"none, and it is too early to tell", "0.0001", 0, false,
     "too few node-hours to rule out ten times what is normal"},
    {"none, where some are normal", "1", 0, false, "surely less than ten times what is normal"},
    {"none, and nobody knows what is normal", "", 0, false, "0 changed nodes and 0 controls"},
};

static void what_is_normal_counts(void)
{
    for (size_t i = 0; i < LKS_COUNT(known); i++) {
        const struct world world = {.canary_events = known[i].events};
        struct lks_rec_plan_metric metric = EVENTS(LKS_METRIC_RATE);
        struct campaign w;
        lks_test_case("%s", known[i].name);
        begin(&w, &world);
        metric.normal = lks_str_from(known[i].normal);
        campaign_gate(&w, metric, (struct lks_rec_plan_gate){0});
        CHECK(campaign_run_measured(&w, measure, 60 * HOUR));
        CHECK_INT(campaign_change(&w)->waves[0].state,
                  known[i].halts ? LKS_WAVE_HALTED : LKS_WAVE_PASSED);
        CHECK(campaign_count(&w, "gate-looked change=1 metric=speed", known[i].says) > 0);
        campaign_end(&w);
    }
}

/* An approver has seen them: the next wave is not halted by the same. */
static void what_was_seen_counts_no_more(void)
{
    static const enum lks_metric_kind kinds[] = {LKS_METRIC_RATE, LKS_METRIC_HARD};
    static const struct world world = {.canary_events = 2, .later_events = 3};
    for (size_t i = 0; i < LKS_COUNT(kinds); i++) {
        struct campaign w;
        lks_test_case("%s", lks_metric_kind_words[kinds[i]]);
        begin(&w, &world);
        campaign_gate(&w, EVENTS(kinds[i]), (struct lks_rec_plan_gate){0});
        for (unsigned halts = 0; halts <= i; halts++) { /* HARD: in either wave */
            CHECK(campaign_run_measured(&w, measure, 60 * HOUR));
            CHECK_INT(campaign_change(&w)->state, LKS_CHANGE_HALTED);
            campaign_waive(&w, "speed", 2 * HOUR); /* and no longer than this wave */
            campaign_move(&w, LKS_CHANGE_RUNNING);
        }
        CHECK(campaign_run_measured(&w, measure, 60 * HOUR));
        CHECK_INT(campaign_change(&w)->state, LKS_CHANGE_DONE);
        campaign_end(&w);
    }
}

/* Restarts ---------------------------------------------------------------------------------- */

/* Who starts with what is written down says the same of the ring. */
static void a_restart_forgets_nothing(void)
{
    static const struct world world = {.canary_events = 2, .later_events = 1};
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_state_fini) struct lks_state again = {0};
    struct lks_wave_evidence one = {0}, other = {0};
    struct lks_err err = {0};
    struct campaign w;
    begin(&w, &world);
    campaign_gate(&w, EVENTS(LKS_METRIC_RATE), (struct lks_rec_plan_gate){0});
    for (unsigned i = 0; i < 100 && campaign_change(&w)->waves[1].state != LKS_WAVE_SOAKS; i++)
        CHECK(!campaign_run_measured(&w, measure, HOUR / 10));
    campaign_measure(&w, measure);
    lks_arena_init(&arena, 1 << 20);
    lks_test_reload(&w.a.state, &again);
    CHECK_CODE(lks_campaign_wave_evidence(&w.a.state, campaign_change(&w), 1, w.a.now.wall, &arena,
                                          &one, &err),
               LKS_OK);
    CHECK_CODE(lks_campaign_wave_evidence(&again, lks_state_change(&again, w.change), 1,
                                          w.a.now.wall, &arena, &other, &err),
               LKS_OK);
    CHECK_HAS(one.rows[0].text, "and 3 and 0 since the change started");
    CHECK(lks_str_eq(one.rows[0].text, other.rows[0].text));
    CHECK_INT(one.said.verdict, other.said.verdict);
    campaign_end(&w);
}

/* A ring needs canaries like each of its nodes that is done, and none like one that rolled back. */
static void canaries_like_the_ring(void)
{
    static const struct world quiet = {.spread = {0.4, 0.4, 0.4}};
    struct campaign w;
    begin(&w, &quiet);
    campaign_gate(&w, SPEED, (struct lks_rec_plan_gate){0});
    w.a.state.changes[0].waves[1].failures_max = 1;
    campaign_fail(&w, "n9", "apt", LKS_OUTCOME_FAILED, 1);
    CHECK(campaign_run_measured(&w, measure, 60 * HOUR));
    CHECK_MEMBER(&w, "n9", LKS_MEMBER_REVERTED);
    CHECK_MEMBER(&w, "n10", LKS_MEMBER_DONE);
    const struct lks_state_change *c = campaign_change(&w);
    CHECK(lks_campaign_waves_vouch(&w.a.state, c, 1, &c->metrics[0]));
    w.a.state.nodes[campaign_member(&w, "n9")->node].class = c->metrics[0].name; /* any other */
    CHECK(lks_campaign_waves_vouch(&w.a.state, c, 1, &c->metrics[0]));
    w.a.state.nodes[campaign_member(&w, "n10")->node].class = c->metrics[0].name;
    CHECK(!lks_campaign_waves_vouch(&w.a.state, c, 1, &c->metrics[0]));
    campaign_end(&w);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"rings: what a canary showed", what_a_canary_showed},
        {"rings: canaries like the ring", canaries_like_the_ring},
        {"rings: it says why", it_says_why},
        {"rings: events are counted on", events_are_counted_on},
        {"rings: what is normal counts", what_is_normal_counts},
        {"rings: what was seen counts no more", what_was_seen_counts_no_more},
        {"rings: a restart forgets nothing", a_restart_forgets_nothing},
        {0},
    });
}
