/* What people are told of a node that waits, wherever it does. */
#include "core/campaign/campaign.h"
#include "core/registry/book.h"
#include "core/rows/command.h"
#include "core/state/lookup.h"
#include "tests/campaigns.h"
#include "tests/facts.h"
#include "tests/test.h"

#define MINUTE CAMPAIGN_MINUTE
#define HOUR   CAMPAIGN_HOUR

static void check_waits(const struct campaign *w, const char *node, const char *want)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision space = {0};
    const struct lks_book book = {.facts = lks_test_facts(), .manifest = &w->a.manifest};
    lks_decision_init(&space);
    CHECK_STR(lks_campaign_waits(&w->a.state, &book, w->a.now, campaign_change(w),
                                 campaign_member(w, node), &space),
              want);
}

static void paused(struct campaign *w)
{
    campaign_move(w, LKS_CHANGE_PAUSED);
}

static void frozen(struct campaign *w)
{
    campaign_freeze(w, true);
}

static void held(struct campaign *w)
{
    campaign_record(
        w, &(struct lks_record){
               .kind = LKS_RECORD_HELD,
               .held = {.node = LKS_STR("n2"), .by = LKS_STR("kim"), .reason = LKS_STR("a fan")}});
}

static void away(struct campaign *w)
{
    campaign_node(w, "n2")->up = false;
    campaign_pass(w, 10 * MINUTE);
    (void)campaign_tick(w);
}

static void rolled_back(struct campaign *w)
{
    campaign_move(w, LKS_CHANGE_ROLLING_BACK);
}

/* n1 is at its first order, and n2 did not begin. */
static void before_it_begins(void)
{
    static const struct {
        const char *name;
        void (*then)(struct campaign *w);
        unsigned waves[CAMPAIGN_WAVES_MAX];
        const char *text;
    } rows[] = {
        {"not its turn",
         NULL,
         {0},
         "for its turn: wave 0 changes 1 at a time, beside other changes"},
        {"not its wave", NULL, {1, 1}, "for its wave, number 1"},
        {"paused", paused, {0}, "the change is paused"},
        {"frozen", frozen, {0}, "n2: frozen"},
        {"held", held, {0}, "n2: held by kim: a fan"},
        {"away", away, {0}, "n2: not heard of"},
        {"never, as it goes back", rolled_back, {0}, "the change is rolling back"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        struct campaign_plan plan = {.nodes = 2, .width = 1};
        lks_test_case("%s", rows[i].name);
        memcpy(plan.waves, rows[i].waves, sizeof(plan.waves));
        campaign_begin(&w, &plan);
        CHECK(campaign_run_until(&w, "n1", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
        if (rows[i].then != NULL)
            rows[i].then(&w);
        check_waits(&w, "n2", rows[i].text);
        check_waits(&w, "n1", "");
        campaign_end(&w);
    }
}

/* A domain goes from step to step together. */
static void on_the_way(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .domain = 2});
    campaign_node(&w, "n1")->busy = true;
    CHECK(campaign_run_until(&w, "n2", CAMPAIGN_APPLY, LKS_MEMBER_WAITING, HOUR));
    check_waits(&w, "n2", "for n1 of its domain, which is not as far (drain)");
    campaign_end(&w);
}

/* A step that was put off says why, until it is asked for again. */
static void put_off(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1});
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_LEAVE, LKS_MEMBER_READING, HOUR));
    w.a.state.commands_open += LKS_STATE_COMMANDS_MAX;
    CHECK(!campaign_run(&w, 10 * MINUTE));
    check_waits(&w, "n1", "100000 commands wait for answers, which is the most");
    w.a.state.commands_open -= LKS_STATE_COMMANDS_MAX;
    campaign_end(&w);
}

/* It was done, and the rollback does not reach it yet. */
static void on_the_way_back(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .waves = {1, 1}, .width = 1});
    CHECK(campaign_run_until(&w, "n2", CAMPAIGN_ACCEPT, LKS_MEMBER_ASKED, 4 * HOUR));
    campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
    check_waits(&w, "n1", "for a slot: its pool rolls back 1 at a time");
    campaign_end(&w);
}

/* An asset of its domain may still be updated, until a person resolved that. */
static void beside_an_unresolved_update(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .domain = 2, .shelf_first = true});
    campaign_fail(&w, "shelf1", "flash", LKS_BMC_UNKNOWN, 1);
    (void)campaign_run(&w, HOUR);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_WAITING);
    check_waits(&w, "n1", "for shelf1 of its domain, which is unknown: a person decides");
    campaign_end(&w);
}

/* Its pool would be in too many parts with it, too. */
static void beside_another_change(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 4,
                                               .width = 1,
                                               .waves = {1, 3},
                                               .soak = 5 * HOUR,
                                               .pool_says = "headroom: 4, min_gang: 3"});
    CHECK(!campaign_run(&w, HOUR));
    w.plan.waves[0] = w.plan.waves[1] = 0;
    campaign_propose(&w, 2);
    campaign_move(&w, LKS_CHANGE_APPROVED);
    campaign_move(&w, LKS_CHANGE_RUNNING);
    CHECK(!campaign_run(&w, MINUTE));
    check_waits(&w, "n3",
                "beside what another change has, its pool would not keep its min_gang on one "
                "stack");
    campaign_end(&w);
}

/* Its scheduler's last answer is too old, and nothing starts. */
static void silent_scheduler(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .sched = "simulated"});
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
    campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_NOTED,
                                             .noted = {.node = LKS_STR("n1"),
                                                       .note = LKS_NOTE_UNHEARD,
                                                       .on = true,
                                                       .text = LKS_STR("no answer")}});
    (void)campaign_answer(&w);
    (void)campaign_tick(&w);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_WAITING);
    check_waits(&w, "n1", "for its scheduler, which gives no answer");
    campaign_end(&w);
}

/* A wave that may not begin says when it will. */
static void before_its_time(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .not_before = 10 * HOUR});
    CHECK(!campaign_run(&w, HOUR));
    CHECK_STR(lks_state_text(&w.a.state, campaign_change(&w)->waves[0].text),
              "waits: no node starts before 1970-01-01T10:00:00.000Z");
    CHECK_INT(campaign_count(&w, "wave change=1", "no node starts before"), 1);
    campaign_end(&w);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"before it begins", before_it_begins},
        {"on the way", on_the_way},
        {"put off", put_off},
        {"on the way back", on_the_way_back},
        {"beside another change", beside_another_change},
        {"beside an unresolved update", beside_an_unresolved_update},
        {"beside a silent scheduler", silent_scheduler},
        {"before its time", before_its_time},
        {0},
    };
    return lks_test_main(tests);
}
