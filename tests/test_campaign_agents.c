/* Gates that ask agents: what heartbeats tell of nodes since they returned. */
#include "core/gate/gate.h"
#include "core/gate/gate_agents.h"
#include "core/rows/change.h"
#include "core/state/heartbeat.h"
#include "core/state/lookup.h"
#include "tests/campaigns.h"
#include "tests/test.h"

#include <stdio.h>

#define MINUTE CAMPAIGN_MINUTE
#define HOUR   CAMPAIGN_HOUR

enum { CANARIES = 8, CONTROLS = 8, NODES = CANARIES + CONTROLS };

struct row {
    const char *name;
    bool blind;     /* agents cannot tell, */
    bool deaf;      /* those of controls; and the metric is not critical */
    unsigned early; /* so many canaries had it before they were changed, */
    unsigned late;  /* so many once they were, */
    bool control;   /* and a control had it then, too */
    bool forgets;   /* it is told for one heartbeat alone */
    bool during;    /* canaries have one while they are changed, which is told of on and on; */
    bool says_when; /* agents say when it was */
    enum lks_metric_kind kind;
    enum lks_change_state ends;
    const char *says;
};

#define PASSES      .ends = LKS_CHANGE_DONE, .says = "done"
#define STOPS(text) .ends = LKS_CHANGE_HALTED, .says = (text)

static const struct row rows[] = {
    {"nothing happens", .kind = LKS_METRIC_HARD, PASSES},
    {"a GPU of a canary", .late = 1, .kind = LKS_METRIC_HARD, STOPS("on 1 of the canaries")},
    {"one that is told once", .late = 1, .forgets = true, .kind = LKS_METRIC_HARD,
     STOPS("on 1 of the canaries")},
    {"one of a control, too", .late = 1, .control = true, .kind = LKS_METRIC_HARD, PASSES},
    {"one from before it was changed", .early = 8, .kind = LKS_METRIC_HARD, PASSES},
    {"one while it was changed", .during = true, .says_when = true, .kind = LKS_METRIC_HARD,
     PASSES},
    {"one while it was changed, and another once it was back", .during = true, .says_when = true,
     .late = 1, .kind = LKS_METRIC_HARD, STOPS("on 1 of the canaries")},
    {"agents that cannot tell", .blind = true, .kind = LKS_METRIC_HARD, STOPS("0 of 8 have data")},
    {"all canaries", .late = 8, .kind = LKS_METRIC_RATE, STOPS("times likelier")},
    {"all canaries, and controls cannot tell: it passes, and the ring of these is held",
     .deaf = true, .late = 8, .kind = LKS_METRIC_RATE, .ends = LKS_CHANGE_HALTED, .says = "8 done"},
    {"one of them, which happens", .late = 1, .kind = LKS_METRIC_RATE, PASSES},
};

static void add_metric(struct campaign *w, enum lks_metric_kind kind, bool critical,
                       enum lks_metric_source source)
{
    const struct lks_rec_plan_metric metric = {.change = w->change,
                                               .name = LKS_STR("xid"),
                                               .pools = LKS_STR("train"),
                                               .kind = kind,
                                               .better = LKS_BETTER_LOWER,
                                               .critical = critical,
                                               .query = LKS_STR("xid-fatal"),
                                               .source = source};
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_PLAN_METRIC, .plan_metric = metric});
}

static void set_health(struct campaign *w, const struct row *r, unsigned with, bool control)
{
    for (unsigned i = 0; i < w->count; i++) {
        bool has = i < with || (control && i == CANARIES);
        bool knows = !r->blind && (!r->deaf || i < CANARIES);
        w->nodes[i].health =
            (knows ? LKS_HEALTH_XIDS_KNOWN : 0) | (has && !r->says_when ? LKS_HEALTH_XID : 0);
        if (has && r->says_when)
            w->nodes[i].xid = w->a.now.wall;
    }
}

/* Prometheus knows of nothing bad. */
static void find_nothing(const struct campaign *w, const struct lks_gate_want *want,
                         struct lks_measured *out)
{
    (void)w;
    (void)want;
    out->has_after = true;
}

static void measure(struct campaign *w)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_measured *list = NULL;
    struct lks_err err = {0};
    size_t count = 0;
    lks_arena_init(&arena, 1 << 20);
    CHECK_CODE(lks_gate_agents(&w->a.state, w->a.now.wall, &arena, &list, &count, &err), LKS_OK);
    if (count > 0)
        campaign_event(w, &(struct lks_event){.kind = LKS_EVENT_MEASURED,
                                              .measured = {.list = list, .count = count}});
    if (campaign_change(w)->metrics[0].source == LKS_SOURCE_PROMETHEUS)
        campaign_measure(w, find_nothing);
}

/* `r` NULL: nothing happens meanwhile. */
static bool run(struct campaign *w, const struct row *r)
{
    unsigned told = 0;
    for (lks_ms end = w->a.now.wall + 60 * HOUR; w->a.now.wall < end;) {
        if (campaign_run(w, 2 * MINUTE))
            return true;
        measure(w);
        bool soaks = campaign_change(w)->waves[0].state == LKS_WAVE_SOAKS;
        if (r != NULL && r->during && told == 0 && !soaks)
            set_health(w, r, CANARIES, false);
        told += soaks;
        if (told == 2 && r != NULL)
            set_health(w, r, r->late, r->control);
        if (told == 3 && r != NULL && r->forgets)
            set_health(w, r, 0, false);
    }
    return false;
}

static void begin(struct campaign *w)
{
    campaign_begin(
        w, &(struct campaign_plan){
               .nodes = NODES, .waves = {CANARIES, CONTROLS}, .soak = HOUR, .controls = "n[9-16]"});
}

static void add_load(struct campaign *w, const char *load, uint64_t seconds)
{
    const struct lks_rec_plan_gate gate = {.change = w->change,
                                           .pool = LKS_STR("train"),
                                           .min_load = seconds,
                                           .reference_load = lks_str_from(load)};
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_PLAN_GATE, .plan_gate = gate});
}

static void what_agents_tell_decides(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        const struct row *r = &rows[i];
        struct campaign w;
        lks_test_case("%s", r->name);
        begin(&w);
        add_metric(&w, r->kind, !r->deaf, LKS_SOURCE_AGENT);
        set_health(&w, r, r->early, false);
        campaign_pass(&w, MINUTE);
        CHECK(run(&w, r));
        const struct lks_state_change *c = campaign_change(&w);
        CHECK_STR(lks_str_from(lks_change_state_words[c->state]), lks_change_state_words[r->ends]);
        CHECK_HAS(lks_state_text(&w.a.state, c->waves[0].text), r->says);
        campaign_end(&w);
    }
}

/* The reference load ------------------------------------------------------------------------ */

static const struct {
    const char *name, *load;
    bool runs;                     /* agents say that it does */
    enum lks_metric_source source; /* of the one metric */
    enum lks_change_state ends;
    const char *says;
} loads[] = {
    {"none, and no work", "", false, LKS_SOURCE_AGENT, STOPS("the canaries were idle")},
    {"one that does not run", "burn", false, LKS_SOURCE_AGENT, STOPS("the canaries were idle")},
    {"one that runs", "burn", true, LKS_SOURCE_AGENT, PASSES},
    {"one that does not run, and agents are asked for nothing else", "burn", false,
     LKS_SOURCE_PROMETHEUS, STOPS("the canaries were idle")},
    {"one that runs, and agents are asked for nothing else", "burn", true, LKS_SOURCE_PROMETHEUS,
     PASSES},
    {"one that runs though nobody wants it", "", true, LKS_SOURCE_PROMETHEUS,
     STOPS("the canaries were idle")},
};

static uint32_t node_of(const struct campaign *w, const char *name)
{
    return lks_state_node(&w->a.state, lks_str_from(name));
}

/* An hour of soak with a GPU of a node under load is an hour for each of its GPUs. */
static void load_is_counted(void)
{
    for (size_t i = 0; i < LKS_COUNT(loads); i++) {
        struct campaign w;
        lks_test_case("%s", loads[i].name);
        begin(&w);
        add_metric(&w, LKS_METRIC_HARD, true, loads[i].source);
        add_load(&w, loads[i].load, 1800);
        for (unsigned k = 0; k < w.count; k++)
            w.nodes[k].health =
                LKS_HEALTH_XIDS_KNOWN | (loads[i].runs ? (uint64_t)LKS_HEALTH_LOAD : 0);
        CHECK(run(&w, NULL));
        const struct lks_state_change *c = campaign_change(&w);
        CHECK_STR(lks_str_from(lks_change_state_words[c->state]),
                  lks_change_state_words[loads[i].ends]);
        CHECK_HAS(lks_state_text(&w.a.state, c->waves[0].text), loads[i].says);
        campaign_end(&w);
    }
}

static void check_load(const struct campaign *w, const char *when, const char *canary)
{
    lks_test_case("%s", when);
    CHECK_STR(lks_gate_load(&w->a.state, node_of(w, "n1")), canary);
    CHECK(lks_gate_mail(&w->a.state, node_of(w, "n1")) == (canary[0] != '\0'));
    CHECK_STR(lks_gate_load(&w->a.state, node_of(w, "n9")), "");
}

static void move(struct campaign *w, enum lks_change_state to)
{
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_CHANGE_MOVED,
                                            .change_moved = {.change = w->change, .state = to}});
}

/* Canaries alone, while they soak, and not a turn longer. */
static void load_is_wanted_while_it_soaks(void)
{
    struct campaign w;
    begin(&w);
    add_metric(&w, LKS_METRIC_HARD, true, LKS_SOURCE_AGENT);
    add_load(&w, "burn", 0);
    check_load(&w, "before", "");
    CHECK(!campaign_run(&w, 10 * MINUTE));
    CHECK_INT(campaign_change(&w)->waves[0].state, LKS_WAVE_SOAKS);
    check_load(&w, "while it soaks", "burn");
    move(&w, LKS_CHANGE_PAUSED);
    check_load(&w, "paused", "");
    move(&w, LKS_CHANGE_RUNNING);
    check_load(&w, "resumed", "burn");
    campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_FROZEN, .frozen = {.on = true}});
    check_load(&w, "frozen", "");
    campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_FROZEN, .frozen = {.on = false}});
    check_load(&w, "released", "burn");
    move(&w, LKS_CHANGE_ABORTING);
    check_load(&w, "aborted", "");
    campaign_end(&w);
}

/* A canary that rolled back runs what it ran before: nothing is to be shown of it. */
static void no_load_where_it_rolled_back(void)
{
    struct campaign w;
    campaign_begin(
        &w, &(struct campaign_plan){
                .nodes = NODES, .waves = {CANARIES, CONTROLS}, .soak = HOUR, .failures_max = 1});
    add_metric(&w, LKS_METRIC_HARD, true, LKS_SOURCE_AGENT);
    add_load(&w, "burn", 0);
    campaign_fail(&w, "n1", "apt", LKS_OUTCOME_FAILED, 1);
    CHECK(!campaign_run(&w, 10 * MINUTE));
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_REVERTED);
    CHECK_WAVE(&w, 0, LKS_WAVE_SOAKS);
    check_load(&w, "rolled back", "");
    CHECK_STR(lks_gate_load(&w.a.state, node_of(&w, "n2")), "burn");
    campaign_end(&w);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"what agents tell decides", what_agents_tell_decides},
        {"a reference load is counted", load_is_counted},
        {"a reference load is wanted while it soaks", load_is_wanted_while_it_soaks},
        {"no reference load on a canary that rolled back", no_load_where_it_rolled_back},
        {0},
    });
}
