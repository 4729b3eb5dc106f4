/* Gates with evidence: what is measured decides whether a change goes on, and nothing else than it
 * does is recorded. */
#include "core/admission/admit.h"
#include "core/campaign/campaign_evidence.h"
#include "core/campaign/campaign_parts.h"
#include "core/gate/gate.h"
#include "tests/campaigns.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>

#define MINUTE CAMPAIGN_MINUTE
#define HOUR   CAMPAIGN_HOUR

enum { CANARIES = 8, CONTROLS = 16, REST = 2, NODES = CANARIES + CONTROLS + REST };

/* What the world is like. Percent; counts are of nodes, the first so many. */
struct world {
    double change;   /* what the change does to who has it */
    unsigned alone;  /* and that to the first so many alone; 0: to all */
    double drift;    /* of everybody, meanwhile */
    double spread;   /* of each by itself */
    unsigned silent; /* canaries that nothing is known of */
    bool mute;       /* nothing is known of controls */
    bool stops;      /* canaries come to a stop */
    bool more;       /* there is one more metric, of which everything is known */
    unsigned canary_events, control_events;
    uint64_t load; /* GPU-seconds of each in an hour */
};

struct row {
    const char *name;
    struct world world;
    struct lks_rec_plan_metric metric;
    uint64_t min_load;
    bool rolls_back;
    enum lks_change_state ends;
    enum lks_wave_state wave;
    const char *says; /* the first wave, or the change that was halted */
};

#define METRIC(...)                                                                                \
    {                                                                                              \
        .margin = LKS_STR_C("1"), __VA_ARGS__                                                      \
    }
#define LOWER       .better = LKS_BETTER_LOWER
#define SPEED       METRIC(.critical = true)
#define OTHER       METRIC(.critical = false)
#define SURE        METRIC(.critical = true, .alpha = LKS_STR_C("0.000001"))
#define TIME        METRIC(.critical = true, LOWER)
#define RATE        METRIC(.critical = true, .kind = LKS_METRIC_RATE, LOWER)
#define HARD        METRIC(.critical = true, .kind = LKS_METRIC_HARD, LOWER)
#define PASSES      .ends = LKS_CHANGE_DONE, .wave = LKS_WAVE_PASSED, .says = "8 done"
#define HALTS(text) .ends = LKS_CHANGE_HALTED, .wave = LKS_WAVE_HALTED, .says = (text)
#define HOLDS(text) .ends = LKS_CHANGE_HALTED, .wave = LKS_WAVE_HELD, .says = (text)

static const struct row rows[] = {
    {"nothing changed", {.spread = 0.4}, SPEED, PASSES},
    {"a little slower, within the margin", {.change = -0.2, .spread = 0.2}, SPEED, PASSES},
    {"the whole fleet drifts", {.drift = -5, .spread = 0.4}, SPEED, PASSES},
    {"nothing varies", {.spread = 0}, SPEED, PASSES},
    {"three percent slower",
     {.change = -3, .spread = 0.4},
     SPEED,
     HALTS("worse than its margin of 1 %")},
    {"slower, and sure enough",
     {.change = -1.8, .spread = 2},
     SPEED,
     HALTS("worse than its margin of 1 %")},
    {"slower, and not as sure as the plan wants it",
     {.change = -1.8, .spread = 2},
     SURE,
     HOLDS("still not sure at the last evaluation")},
    {"three percent slower, and it is to go back",
     {.change = -3, .spread = 0.4},
     SPEED,
     .rolls_back = true,
     .ends = LKS_CHANGE_ROLLED_BACK,
     .wave = LKS_WAVE_HALTED,
     .says = "worse than its margin of 1 %"},
    {"three percent more time",
     {.change = 3, .spread = 0.4},
     TIME,
     HALTS("worse than its margin of 1 %")},
    {"three percent less time", {.change = -3, .spread = 0.4}, TIME, PASSES},
    {"too noisy to tell", {.spread = 8}, SPEED, HOLDS("still not sure at the last evaluation")},
    {"no data of one, on a critical metric",
     {.spread = 0.4, .silent = 1},
     SPEED,
     HOLDS("7 of 8 have data")},
    {"no data of one, on another", {.spread = 0.4, .silent = 1}, OTHER, PASSES},
    {"no data at all, on another", {.spread = 0.4, .silent = 8}, OTHER, HOLDS("0 of 8 have data")},
    {"no data at all, on one of two", {.spread = 0.4, .silent = 8, .more = true}, OTHER, PASSES},
    {"a stop, on a critical metric",
     {.spread = 0.4, .stops = true},
     SPEED,
     HALTS("worse than its margin of 1 %")},
    {"a stop, on another",
     {.spread = 0.4, .stops = true},
     OTHER,
     HALTS("worse than its margin of 1 %")},
    {"idle canaries",
     {.spread = 0.4, .load = 10},
     SPEED,
     .min_load = 3600,
     HOLDS("the canaries were idle")},
    {"canaries at work", {.spread = 0.4, .load = 7200}, SPEED, .min_load = 3600, PASSES},
    {"one event of which one is enough",
     {.canary_events = 1},
     HARD,
     HALTS("on 1 of the canaries and on no control")},
    {"one that controls have, too", {.canary_events = 1, .control_events = 1}, HARD, PASSES},
    {"events on all canaries",
     {.canary_events = 8},
     RATE,
     HALTS("times likelier if the change did it")},
    {"events as often as elsewhere", {.canary_events = 3, .control_events = 6}, RATE, PASSES},
    {"nobody counts events", {.silent = 8}, RATE, HOLDS("0 of 8 have data")},
    {"nobody counts those of controls",
     {.mute = true},
     RATE,
     HOLDS("8 of 8 have data, and 0 controls")},
};

/* Measuring --------------------------------------------------------------------------------- */

static void measure(const struct campaign *w, const struct lks_gate_want *want,
                    struct lks_measured *out)
{
    const struct world *world = w->ctx;
    unsigned number = campaign_number(w, want->node);
    bool more = lks_str_is(lks_state_text(&w->a.state, want->metric->name), "more");
    bool silent = !more && (want->control ? world->mute : number <= world->silent);
    bool spared = want->control || (world->alone > 0 && number > world->alone);
    double gain =
        world->drift + world->spread * campaign_noise(number) + (spared ? 0 : world->change);
    unsigned with = want->control ? CANARIES + world->control_events : world->canary_events;
    out->has_before = out->has_after = !silent;
    out->before = 100 + number;
    out->after = !want->control && world->stops ? 0 : (100 + number) * exp(gain / 100);
    out->exposure = silent ? 0 : out->exposure;
    out->load = world->load * (want->until - want->from) / HOUR;
    out->events = want->metric->kind != LKS_METRIC_MEAN && number <= with;
}

static void measure_all(struct campaign *w, const struct world *world)
{
    struct world now = *world;
    w->ctx = &now;
    campaign_measure(w, measure);
    w->ctx = NULL;
}

static bool run_measured(struct campaign *w, const struct world *world, lks_ms limit)
{
    struct world now = *world;
    w->ctx = &now;
    bool ended = campaign_run_measured(w, measure, limit);
    w->ctx = NULL;
    return ended;
}

static void begin(struct campaign *w, struct campaign_plan plan)
{
    plan.nodes = NODES;
    plan.waves[0] = CANARIES;
    plan.waves[1] = CONTROLS + REST;
    plan.soak = HOUR;
    plan.controls = "n[9-24]";
    campaign_begin(w, &plan);
}

/* What follows ------------------------------------------------------------------------------ */

static void check_row(const struct row *r)
{
    struct campaign w;
    begin(&w, (struct campaign_plan){.rolls_back = r->rolls_back});
    campaign_gate(&w, r->metric, (struct lks_rec_plan_gate){.min_load = r->min_load});
    if (r->world.more)
        campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_PLAN_METRIC,
                                                 .plan_metric = {.change = w.change,
                                                                 .name = LKS_STR("more"),
                                                                 .pools = LKS_STR("train"),
                                                                 .margin = LKS_STR("1")}});
    CHECK(run_measured(&w, &r->world, 60 * HOUR));
    const struct lks_state_change *c = campaign_change(&w);
    CHECK_STR(lks_str_from(lks_change_state_words[c->state]), lks_change_state_words[r->ends]);
    CHECK_STR(lks_str_from(lks_wave_state_words[c->waves[0].state]), lks_wave_state_words[r->wave]);
    CHECK_HAS(lks_state_text(&w.a.state, c->waves[0].text), r->says);
    if (r->ends != LKS_CHANGE_DONE)
        CHECK_STR(lks_str_from(lks_member_state_words[campaign_member(&w, "n9")->state]),
                  "pending");
    campaign_end(&w);
}

static void what_is_measured_decides(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        check_row(&rows[i]);
    }
}

/* The looks of a soak of an hour are after 2.5, 10, 30 and 60 minutes; each is recorded once,
 * and the last one waits for data until its patience ends. */
static void looks_are_planned(void)
{
    static const struct world quiet = {.spread = 0.4}, silent = {.spread = 0.4, .silent = 1};
    struct campaign w;
    begin(&w, (struct campaign_plan){0});
    campaign_gate(&w, rows[0].metric, (struct lks_rec_plan_gate){0});
    CHECK(run_measured(&w, &quiet, 20 * HOUR));
    for (unsigned i = 1; i <= 4; i++) {
        char look[32];
        snprintf(look, sizeof(look), "look=%u verdict", i);
        lks_test_case("%s", look);
        CHECK_INT(campaign_count(&w, "gate-looked change=1 metric=speed ", look), 1);
        CHECK_INT(campaign_count(&w, "gate-looked change=1 look", look), 1);
    }
    CHECK_INT(campaign_count(&w, "verdict=pass", "change=1 metric=speed look=4"), 1);
    campaign_end(&w);

    begin(&w, (struct campaign_plan){0});
    campaign_gate(&w, rows[0].metric, (struct lks_rec_plan_gate){.max_soak = 5 * HOUR});
    CHECK(!run_measured(&w, &silent, 4 * HOUR));
    CHECK_INT(campaign_count(&w, "gate-looked change=1 look", "look=3"), 1);
    CHECK_INT(campaign_count(&w, "gate-looked change=1 look", "look=4"), 0);
    CHECK(run_measured(&w, &silent, 3 * HOUR));
    CHECK_INT(campaign_count(&w, "gate-looked change=1 look", "verdict=hold"), 1);
    campaign_end(&w);
}

/* What was heard at the beginning of a soak is not what it ends by: where nobody measures any more,
 * the last look waits for somebody who does, and then for a person. */
static void what_is_old_is_not_enough(void)
{
    static const struct world quiet = {.spread = 0.4};
    static const char *const says = "speed: it was not measured in the second half of the soak";
    for (unsigned again = 0; again < 2; again++) {
        struct campaign w;
        lks_test_case(again != 0 ? "it is measured again" : "nobody measures again");
        begin(&w, (struct campaign_plan){0});
        campaign_gate(&w, (struct lks_rec_plan_metric)SPEED, (struct lks_rec_plan_gate){0});
        while (campaign_change(&w)->waves[0].state != LKS_WAVE_SOAKS)
            CHECK(!run_measured(&w, &quiet, MINUTE));
        CHECK(!run_measured(&w, &quiet, 20 * MINUTE));
        CHECK(!campaign_run(&w, HOUR));
        CHECK_INT(campaign_count(&w, "gate-looked change=1 look", "look=4"), 0);
        CHECK(again != 0 ? run_measured(&w, &quiet, 60 * HOUR) : campaign_run(&w, 60 * HOUR));
        CHECK_INT(campaign_change(&w)->state, again != 0 ? LKS_CHANGE_DONE : LKS_CHANGE_HALTED);
        CHECK_INT(campaign_count(&w, "gate-looked change=1 look=4 verdict=hold", says), !again);
        campaign_end(&w);
    }
}

/* The turn that hears of it is the one that stops: nobody else begins in between, whatever it is
 * that halts, at no planned look. */
static const struct {
    const char *name;
    struct world world;
    struct lks_rec_plan_metric metric;
    const char *says;
} at_once[] = {
    {"one event", {.canary_events = 1}, HARD, "on 1 of the canaries"},
    {"many events", {.canary_events = 8}, RATE, "times likelier if the change did it"},
    {"a mean", {.change = -6, .spread = 0.2}, SPEED, "worse than its margin of 1 %"},
};

static void a_halt_is_at_once(void)
{
    for (size_t i = 0; i < LKS_COUNT(at_once); i++) {
        struct campaign w;
        lks_test_case("%s", at_once[i].name);
        begin(&w, (struct campaign_plan){0});
        campaign_gate(&w, at_once[i].metric, (struct lks_rec_plan_gate){0});
        CHECK(!campaign_run(&w, 35 * MINUTE));
        CHECK_INT(campaign_change(&w)->state, LKS_CHANGE_RUNNING);
        measure_all(&w, &at_once[i].world);
        (void)campaign_tick(&w);
        CHECK_INT(campaign_change(&w)->state, LKS_CHANGE_HALTED);
        CHECK_INT(campaign_count(&w, "alarm ", at_once[i].says), 1);
        CHECK_STR(lks_str_from(lks_member_state_words[campaign_member(&w, "n9")->state]),
                  "pending");
        campaign_waive(&w, "speed", 60 * HOUR);
        campaign_move(&w, LKS_CHANGE_RUNNING);
        CHECK(run_measured(&w, &at_once[i].world, 60 * HOUR));
        CHECK_INT(campaign_change(&w)->state, LKS_CHANGE_DONE);
        campaign_end(&w);
    }
}

/* Evidence, be it one event, is not for whoever steers it to pass over: an approver who did not
 * propose it lets it go, for a time. */
static struct lks_event steer(enum lks_change_order_word order)
{
    return (struct lks_event){.kind = LKS_EVENT_CHANGE_MOVE,
                              .by = LKS_STR("user:ops"),
                              .reason = LKS_STR("it is fine"),
                              .move = {.change = 1, .order = order}};
}

static struct lks_str waive(struct campaign *w, const char *by)
{
    const struct lks_event e = {
        .kind = LKS_EVENT_WAIVE,
        .by = lks_str_from(by),
        .reason = LKS_STR("a known cause"),
        .waive = {.change = 1, .gate = LKS_STR("speed"), .until = w->a.now.wall + HOUR}};
    return lks_asked(&w->a, &e);
}

static void let_approve(struct campaign *w, const char *who)
{
    campaign_record(w, &(struct lks_record){
                           .kind = LKS_RECORD_GRANTED,
                           .granted = {.identity = lks_str_from(who), .role = LKS_ROLE_APPROVER}});
}

/* Another pool measures something else by that name, and has nobody here. */
static void measure_elsewhere(struct campaign *w, struct lks_rec_plan_metric other)
{
    other.change = w->change;
    other.name = LKS_STR("speed");
    other.pools = LKS_STR("elsewhere");
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_PLAN_METRIC, .plan_metric = other});
}

static const struct {
    const char *name;
    struct world world;
    struct lks_rec_plan_metric metric;
    bool early; /* it can be let go before it happens */
} let_go[] = {
    {"a mean", {.change = -3, .spread = 0.4}, SPEED, true},
    {"many events", {.canary_events = 8}, RATE, true},
    {"one event", {.canary_events = 1}, HARD, false},
};

/* A name that is none is told with the change and what it may have meant. */
static void unknown_is_let_go(void)
{
    static const struct {
        const char *name, *gate, *says;
    } slips[] = {
        {"a slip", "spede",
         "not-found: change 1 has no gate or metric 'spede'; did you mean "
         "'speed'?"},
        {"nothing like it", "weather", "not-found: change 1 has no gate or metric 'weather'"},
        {"never", "hard failures", "refused: 'hard failures' cannot be waived"},
    };
    struct campaign w;
    begin(&w, (struct campaign_plan){0});
    campaign_gate(&w, let_go[0].metric, (struct lks_rec_plan_gate){0});
    let_approve(&w, "user:ann");
    for (size_t i = 0; i < LKS_COUNT(slips); i++) {
        const struct lks_event e = {
            .kind = LKS_EVENT_WAIVE,
            .by = LKS_STR("user:ann"),
            .reason = LKS_STR("a known cause"),
            .waive = {1, lks_str_from(slips[i].gate), LKS_STR(""), w.a.now.wall + HOUR}};
        lks_test_case("%s", slips[i].name);
        CHECK_STR(lks_asked(&w.a, &e), slips[i].says);
    }
    campaign_end(&w);
}

static void evidence_is_let_go(void)
{
    const struct lks_event resume = steer(LKS_ORDERED_RESUME);
    for (size_t i = 0; i < LKS_COUNT(let_go); i++) {
        struct campaign w;
        lks_test_case("%s", let_go[i].name);
        begin(&w, (struct campaign_plan){0});
        campaign_gate(&w, let_go[i].metric, (struct lks_rec_plan_gate){0});
        measure_elsewhere(&w, let_go[i].metric);
        let_approve(&w, "user:ann");
        let_approve(&w, "kim");
        if (!let_go[i].early)
            CHECK_HAS(waive(&w, "user:ann"), "refused: 'speed' halts by one event: it can be "
                                             "waived after it did, and not beforehand");
        (void)run_measured(&w, &let_go[i].world, 60 * HOUR);
        CHECK_INT(campaign_change(&w)->state, LKS_CHANGE_HALTED);
        CHECK_HAS(lks_asked(&w.a, &resume),
                  "refused: resume: speed halted wave 0 of change 1: an approver who did not "
                  "propose it has to waive that first ('lockstep change waive 1 --gate \"speed\" "
                  "--until 12h --reason ...'), or roll it back");
        CHECK_HAS(waive(&w, "kim"), "refused: kim proposed or started change 1");
        CHECK_HAS(waive(&w, "user:ops"), "denied: user:ops may approve in none of the pools");
        CHECK_HAS(waive(&w, "user:ann"), "waived change=1 ");
        CHECK_HAS(lks_asked(&w.a, &resume), "change-moved change=1 state=running");
        (void)run_measured(&w, &let_go[i].world, 60 * HOUR); /* when that is over it halts again */
        CHECK_INT(campaign_change(&w)->state, LKS_CHANGE_HALTED);
        CHECK_HAS(lks_asked(&w.a, &resume), "refused: resume: speed halted wave 0");
        campaign_end(&w);
    }
}

/* What somebody saw in one wave says nothing of an event in the next, however long they gave. */
static void one_event_is_let_go_in_its_wave(void)
{
    static const struct world again = {.canary_events = NODES};
    const struct lks_event resume = steer(LKS_ORDERED_RESUME);
    struct campaign w;
    begin(&w, (struct campaign_plan){0});
    campaign_gate(&w, (struct lks_rec_plan_metric)HARD, (struct lks_rec_plan_gate){0});
    (void)run_measured(&w, &again, 60 * HOUR);
    CHECK_INT(campaign_change(&w)->waves[0].state, LKS_WAVE_HALTED);
    campaign_waive(&w, "speed", 999 * HOUR);
    CHECK_HAS(lks_asked(&w.a, &resume), "change-moved change=1 state=running");
    (void)run_measured(&w, &again, 60 * HOUR);
    CHECK_INT(campaign_change(&w)->waves[0].state, LKS_WAVE_PASSED);
    CHECK_INT(campaign_change(&w)->waves[1].state, LKS_WAVE_HALTED);
    CHECK_HAS(lks_asked(&w.a, &resume), "refused: resume: speed halted wave 1");
    campaign_waive(&w, "speed", 999 * HOUR);
    CHECK_HAS(lks_asked(&w.a, &resume), "change-moved change=1 state=running");
    campaign_end(&w);
}

/* Rings ------------------------------------------------------------------------------------- */

static uint32_t begun_of(const struct lks_state_change *c, uint32_t wave)
{
    uint32_t begun = 0;
    for (uint32_t u = c->waves[wave].first_unit; u != 0; u = c->units[u - 1].next)
        begun += c->units[u - 1].begun;
    return begun;
}

static void within_the_limit(struct campaign *w, const struct lks_decision *d)
{
    (void)d;
    const struct lks_state_change *c = campaign_change(w);
    CHECK(begun_of(c, 1) <= c->waves[1].limit);
}

/* Three canaries without a failure say that at most 63 % fail, so one node follows; and so on. */
static void rings_grow_with_the_evidence(void)
{
    static const struct world quiet = {.spread = 0.4};
    struct campaign w;
    struct campaign_plan plan = {.nodes = NODES, .waves = {3, NODES - 3}, .soak = HOUR};
    plan.controls = "n[9-24]";
    campaign_begin(&w, &plan);
    campaign_gate(&w, rows[0].metric,
                  (struct lks_rec_plan_gate){.loss_budget = 1, .min_soak = HOUR});
    w.after = within_the_limit;
    CHECK(run_measured(&w, &quiet, 100 * HOUR));
    CHECK_INT(campaign_change(&w)->state, LKS_CHANGE_DONE);
    CHECK_INT(campaign_count(&w, "wave-limit change=1 wave=1 limit=1 ", "0 of 3 failed"), 1);
    CHECK_INT(campaign_count(&w, "wave-limit change=1 wave=1 limit=2 ", "0 of 4 failed"), 1);
    CHECK_INT(campaign_count(&w, "wave-limit change=1 wave=1 limit=4 ", "0 of 5 failed"), 1);
    campaign_end(&w);
}

/* Who is tried again is beside those that the width allows for: nobody else begins. */
static void a_ring_that_is_full(void)
{
    enum { WIDTH = 4 };
    struct campaign w;
    begin(&w, (struct campaign_plan){.width = WIDTH});
    campaign_gate(&w, rows[0].metric, (struct lks_rec_plan_gate){.loss_budget = 1});
    struct lks_wave *ring = &w.a.state.changes[0].waves[1];
    ring->limit = 100;
    for (ring->busy = 0; ring->busy < 2 * WIDTH; ring->busy++)
        CHECK_INT(lks_campaign_ramp_room(campaign_change(&w), 1), WIDTH);
    campaign_end(&w);
}

/* What is heard ----------------------------------------------------------------------------- */

static const struct lks_measured heard = {.change = 1,
                                          .wave = 0,
                                          .metric = LKS_STR_C("speed"),
                                          .has_before = true,
                                          .has_after = true,
                                          .before = 100,
                                          .after = 99.5,
                                          .from = 1,
                                          .until = 2};

/* How many records a measurement makes, when the canaries are done. */
static const struct {
    const char *name, *node;
    struct lks_measured what; /* beside `heard`, where it is not 0 */
    size_t records;
} events[] = {
    {"of a canary", "n1", {.change = 1}, 1},
    {"of a control", "n9", {.change = 1}, 1},
    {"of one that is neither", "n25", {.change = 1}, 0},
    {"of a wave that did not begin", "n9", {.change = 1, .wave = 1}, 0},
    {"of no wave", "n1", {.change = 1, .wave = 9}, 0},
    {"of no change", "n1", {.change = 2}, 0},
    {"of what nobody asked for", "n1", {.change = 1, .metric = LKS_STR_C("height")}, 0},
    {"of what is no number", "n1", {.change = 1, .after = INFINITY}, 1},
};

static void only_what_is_asked_for_is_heard(void)
{
    struct campaign w;
    for (size_t i = 0; i < LKS_COUNT(events); i++) {
        lks_test_case("%s", events[i].name);
        struct lks_measured m = heard;
        begin(&w, (struct campaign_plan){0});
        campaign_gate(&w, rows[0].metric, (struct lks_rec_plan_gate){0});
        CHECK(!campaign_run(&w, 30 * MINUTE));
        m.change = events[i].what.change;
        m.wave = events[i].what.wave;
        m.metric = events[i].what.metric.len > 0 ? events[i].what.metric : m.metric;
        m.after = events[i].what.after != 0 ? events[i].what.after : m.after;
        m.node = lks_state_node(&w.a.state, lks_str_from(events[i].node));
        const struct lks_event e = {.kind = LKS_EVENT_MEASURED,
                                    .measured = {.list = &m, .count = 1}};
        campaign_event(&w, &e);
        CHECK_INT(campaign_count(&w, "measured change", "metric="), events[i].records);
        campaign_event(&w, &e); /* said again, it is no news; a while later it is */
        CHECK_INT(campaign_count(&w, "measured change", "metric="), events[i].records);
        campaign_pass(&w, 20 * MINUTE);
        campaign_event(&w, &e);
        CHECK_INT(campaign_count(&w, "measured change", "metric="), 2 * events[i].records);
        campaign_end(&w);
    }
}

static uint32_t count_controls(const struct campaign *w)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_gate_controls controls = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, 1 << 20);
    CHECK_CODE(lks_gate_controls(&w->a.state, &w->a.state.changes[0], 0, &arena, &controls, &err),
               LKS_OK);
    CHECK_INT(controls.count, controls.untouched);
    return controls.count;
}

/* Another change may come to a control meanwhile, and be over soon: it is none since then. */
static void a_control_that_another_change_took(void)
{
    struct campaign w;
    begin(&w, (struct campaign_plan){0});
    campaign_gate(&w, rows[0].metric, (struct lks_rec_plan_gate){0});
    CHECK(!campaign_run(&w, 30 * MINUTE));
    CHECK_INT(count_controls(&w), CONTROLS);
    campaign_propose(&w, 2);
    campaign_move(&w, LKS_CHANGE_APPROVED);
    campaign_move(&w, LKS_CHANGE_RUNNING);
    CHECK_INT(count_controls(&w), CONTROLS);
    static const enum lks_member_state states[] = {LKS_MEMBER_WAITING, LKS_MEMBER_DONE};
    for (size_t i = 0; i < LKS_COUNT(states); i++) {
        lks_test_case("%s", lks_member_state_words[states[i]]);
        campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_MEMBER,
                                                 .member = {.change = 2,
                                                            .node = LKS_STR("n9"),
                                                            .state = states[i],
                                                            .text = LKS_STR("")}});
        CHECK_INT(count_controls(&w), CONTROLS - 1);
    }
    campaign_end(&w);
}

/* Nothing is expected of a member that rolled back. */
static void a_member_that_rolled_back(void)
{
    static const struct world quiet = {.spread = 0.4};
    struct campaign w;
    begin(&w, (struct campaign_plan){.failures_max = 1});
    campaign_gate(&w, rows[0].metric, (struct lks_rec_plan_gate){0});
    campaign_fail(&w, "n1", "apt", LKS_OUTCOME_FAILED, 1);
    CHECK(run_measured(&w, &quiet, 60 * HOUR));
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_REVERTED);
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    CHECK_WAVE(&w, 0, LKS_WAVE_PASSED);
    campaign_end(&w);
}

/* What counts as one sample: the canary is a domain of eight nodes, and one of them says nothing.
 */
static void nodes_or_domains(void)
{
    static const struct {
        const char *name;
        enum lks_metric_unit unit;
        uint32_t expected, canaries;
    } units[] = {
        {"nodes", LKS_UNIT_NODE, CANARIES, CANARIES - 1},
        {"domains", LKS_UNIT_DOMAIN, 1, 1},
    };
    static const struct world world = {.spread = 0.4, .silent = 1};
    for (size_t i = 0; i < LKS_COUNT(units); i++) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        struct lks_wave_evidence found = {0};
        struct lks_err err = {0};
        struct campaign w;
        lks_test_case("%s", units[i].name);
        lks_arena_init(&arena, 1 << 20);
        campaign_begin(&w, &(struct campaign_plan){.nodes = NODES,
                                                   .domain = CANARIES,
                                                   .no_shelf = true,
                                                   .waves = {1, CONTROLS + REST},
                                                   .soak = HOUR,
                                                   .controls = "n[9-24]"});
        campaign_gate(&w, (struct lks_rec_plan_metric)METRIC(.unit = units[i].unit),
                      (struct lks_rec_plan_gate){0});
        CHECK(!campaign_run(&w, 30 * MINUTE));
        measure_all(&w, &world);
        CHECK_CODE(lks_campaign_wave_evidence(&w.a.state, campaign_change(&w), 0, w.a.now.wall,
                                              &arena, &found, &err),
                   LKS_OK);
        if (CHECK_INT(found.count, 1)) {
            CHECK_INT(found.rows[0].expected, units[i].expected);
            CHECK_INT(found.rows[0].canaries, units[i].canaries);
            CHECK_INT(found.rows[0].controls, CONTROLS); /* each is in no domain */
        }
        campaign_end(&w);
    }
}

/* The second half of canaries and controls is of pool "serve", which has a metric of its own by
 * the same name: it counts domains. */
static void add_pool(struct campaign *w)
{
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_POOL,
         .pool = {.name = LKS_STR("serve"),
                  .posture = LKS_STR("pre-training"),
                  .enforce = LKS_STR("observe"),
                  .sched = LKS_STR("none"),
                  .stack = LKS_STR("golden"),
                  .stack_digest = lks_str_from(w->stack_a)}},
        {.kind = LKS_RECORD_PLACED,
         .placed = {.hosts = LKS_STR("n[5-8,17-24]"),
                    .pool = LKS_STR("serve"),
                    .class = LKS_STR("hgx-h200-8")}},
        {.kind = LKS_RECORD_PLAN_METRIC,
         .plan_metric = {.change = w->change,
                         .name = LKS_STR("speed"),
                         .pools = LKS_STR("serve"),
                         .unit = LKS_UNIT_DOMAIN,
                         .margin = LKS_STR("1"),
                         .critical = true}},
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        campaign_record(w, &records[i]);
}

/* A halt by one of two metrics with one name stays until an approver waived it. */
static void two_metrics_of_one_name(void)
{
    static const struct world world = {.change = -3, .alone = 4, .spread = 0.4};
    const struct lks_event resume = {.kind = LKS_EVENT_CHANGE_MOVE,
                                     .by = LKS_STR("lee"),
                                     .reason = LKS_STR("go on"),
                                     .move = {.change = 1, .order = LKS_ORDERED_RESUME}};
    struct campaign w;
    begin(&w, (struct campaign_plan){0});
    campaign_gate(&w, rows[0].metric, (struct lks_rec_plan_gate){0});
    add_pool(&w);
    CHECK(run_measured(&w, &world, 60 * HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
    const struct lks_state_change *c = campaign_change(&w);
    CHECK_HAS(lks_state_text(&w.a.state, c->waves[0].text), "worse than its margin of 1 %");
    CHECK_HAS(lks_asked(&w.a, &resume), "refused: resume: speed halted wave 0 of change 1");
    CHECK_INT(lks_state_change_look(c, 0, c->metrics[0].name)->verdict, LKS_GATE_HALT);
    campaign_end(&w);
}

/* A node counts once: that it had more meanwhile is no news, that it had one is. */
static void a_count_that_rises_is_no_news(void)
{
    static const struct {
        uint64_t events;
        size_t records;
    } told[] = {{0, 1}, {0, 1}, {1, 2}, {2, 2}, {700, 2}};
    struct campaign w;
    struct lks_measured m = heard;
    begin(&w, (struct campaign_plan){0});
    campaign_gate(&w, (struct lks_rec_plan_metric)RATE, (struct lks_rec_plan_gate){0});
    CHECK(!campaign_run(&w, 30 * MINUTE));
    m.node = lks_state_node(&w.a.state, LKS_STR("n1"));
    m.has_before = false;
    for (size_t i = 0; i < LKS_COUNT(told); i++) {
        lks_test_case("told %zu times", i + 1);
        m.events = told[i].events;
        campaign_event(&w, &(struct lks_event){.kind = LKS_EVENT_MEASURED,
                                               .measured = {.list = &m, .count = 1}});
        CHECK_INT(campaign_count(&w, "measured change", "metric="), told[i].records);
    }
    campaign_end(&w);
}

/* Whom canaries work for --------------------------------------------------------------------- */

static const struct {
    const char *name, *node;
    bool gate, canary_ok, has_criticality;
    uint32_t criticality;
    const char *no;   /* NULL: it is admitted */
    const char *load; /* the gate's reference load; NULL: none */
} jobs[] = {
    {"any job on a canary", "n1", true, false, false, 0, "for jobs that say they may run there",
     NULL},
    {"one that opted in", "n1", true, true, false, 0, NULL, NULL},
    {"one that opted in and matters", "n1", true, true, true, 90,
     "for jobs of criticality 30 or less, and this one has 90", NULL},
    {"one that opted in and matters little", "n1", true, true, true, 30, NULL, NULL},
    {"any job on a control", "n9", true, false, false, 0, NULL, NULL},
    {"any job on a canary of a change without a gate", "n1", false, false, false, 0, NULL, NULL},
    {"one that opted in, where a reference load is", "n1", true, true, false, 0,
     "that a reference load keeps busy", "burn"},
    {"any job on a control of that", "n9", true, false, false, 0, NULL, "burn"},
};

static void ask_for(const struct campaign *w, size_t i, bool soaks)
{
    LKS_CLEANUP(lks_admit_fini) struct lks_admit answer = {0};
    const struct lks_str name = lks_str_from(jobs[i].node);
    const struct lks_book book = {.facts = lks_test_facts(), .manifest = &w->a.manifest};
    const struct lks_admit_ask ask = {.job = LKS_STR("j"),
                                      .names = &name,
                                      .count = 1,
                                      .canary_ok = jobs[i].canary_ok,
                                      .has_criticality = jobs[i].has_criticality,
                                      .criticality = jobs[i].criticality};
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_admit(&w->a.state, &book, w->a.now, &ask, &answer, &err), LKS_OK))
        return;
    bool refused = soaks && jobs[i].no != NULL;
    CHECK_INT(answer.bars[LKS_BAR_CANARY], refused);
    CHECK(answer.yes != refused);
    if (refused)
        CHECK_HAS(answer.refused.items[0].text, jobs[i].no);
}

/* While their wave is watched, and no longer. */
static void canaries_are_for_those_who_opt_in(void)
{
    static const struct world quiet = {.spread = 0.4};
    for (size_t i = 0; i < LKS_COUNT(jobs); i++) {
        struct campaign w;
        lks_test_case("%s", jobs[i].name);
        begin(&w, (struct campaign_plan){.enforce = "on"});
        if (jobs[i].gate)
            campaign_gate(
                &w, rows[0].metric,
                (struct lks_rec_plan_gate){
                    .reference_load = lks_str_from(jobs[i].load != NULL ? jobs[i].load : "")});
        CHECK(!run_measured(&w, &quiet, 30 * MINUTE));
        CHECK_INT(campaign_member(&w, "n1")->state, LKS_MEMBER_DONE);
        ask_for(&w, i, true);
        CHECK(run_measured(&w, &quiet, 20 * HOUR));
        CHECK_INT(campaign_change(&w)->state, LKS_CHANGE_DONE);
        ask_for(&w, i, false);
        campaign_end(&w);
    }
}

/* Without a gate nobody is asked anything. */
static void no_gate_no_question(void)
{
    static const struct world bad = {.change = -50};
    struct campaign w;
    begin(&w, (struct campaign_plan){0});
    CHECK(run_measured(&w, &bad, 20 * HOUR));
    CHECK_INT(campaign_change(&w)->state, LKS_CHANGE_DONE);
    CHECK_INT(campaign_count(&w, "measured", ""), 0);
    CHECK_INT(campaign_count(&w, "gate-looked", ""), 0);
    campaign_end(&w);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"evidence in a campaign: what is measured decides", what_is_measured_decides},
        {"evidence in a campaign: looks are planned", looks_are_planned},
        {"evidence in a campaign: what is old is not enough", what_is_old_is_not_enough},
        {"evidence in a campaign: a halt is at once", a_halt_is_at_once},
        {"evidence in a campaign: what is no gate", unknown_is_let_go},
        {"evidence in a campaign: who lets it go on all the same", evidence_is_let_go},
        {"evidence in a campaign: one event, wave by wave", one_event_is_let_go_in_its_wave},
        {"evidence in a campaign: rings grow with it", rings_grow_with_the_evidence},
        {"evidence in a campaign: a ring that is full", a_ring_that_is_full},
        {"evidence in a campaign: only what is asked for", only_what_is_asked_for_is_heard},
        {"evidence in a campaign: a control that another change took",
         a_control_that_another_change_took},
        {"evidence in a campaign: a member that rolled back", a_member_that_rolled_back},
        {"evidence in a campaign: nodes or domains", nodes_or_domains},
        {"evidence in a campaign: two metrics of one name", two_metrics_of_one_name},
        {"evidence in a campaign: a count that rises", a_count_that_rises_is_no_news},
        {"evidence in a campaign: canaries are for those who opt in",
         canaries_are_for_those_who_opt_in},
        {"evidence in a campaign: no gate, no question", no_gate_no_question},
        {0},
    });
}
