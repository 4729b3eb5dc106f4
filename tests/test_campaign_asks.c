/* What a step asks for cannot be asked for now: it waits, and did not fail. And whose number the
 * work of a member is, and what the registry shows of a change to a stack. */
#include "core/campaign/campaign.h"
#include "core/rows/command.h"
#include "core/rows/flash.h"
#include "core/state/lookup.h"
#include "core/view/view.h"
#include "tests/campaigns.h"
#include "tests/test.h"

#define MINUTE CAMPAIGN_MINUTE
#define HOUR   CAMPAIGN_HOUR

/* As if so many of other nodes waited for answers. */
static void fill(struct campaign *w, bool flashes, bool on)
{
    struct lks_state *s = &w->a.state;
    uint32_t *open = flashes ? &s->flashes_open : &s->commands_open;
    uint32_t most = flashes ? LKS_STATE_FLASHES_MAX : LKS_STATE_COMMANDS_MAX;
    *open = on ? *open + most : *open - most;
}

/* From the moment that the step before it is at. */
static const struct {
    const char *name;
    uint32_t before;
    enum lks_member_state state;
    uint32_t at; /* where it waits then */
    bool flashes;
} full[] = {
    {"leaving use", CAMPAIGN_LEAVE, LKS_MEMBER_PENDING, CAMPAIGN_LEAVE, false},
    {"an order", CAMPAIGN_LEAVE, LKS_MEMBER_READING, CAMPAIGN_APPLY, false},
    {"a reboot", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, CAMPAIGN_REBOOT, false},
    {"a reading", CAMPAIGN_REBOOT, LKS_MEMBER_ASKED, CAMPAIGN_CHECK, false},
    {"an update", CAMPAIGN_CHECK, LKS_MEMBER_ASKED, CAMPAIGN_FLASH, true},
    {"acceptance", CAMPAIGN_CHECK_BMC, LKS_MEMBER_ASKED, CAMPAIGN_ACCEPT, false},
};

static void as_many_as_there_may_be(void)
{
    for (size_t i = 0; i < LKS_COUNT(full); i++) {
        struct campaign w;
        lks_test_case("%s", full[i].name);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 1});
        if (full[i].state != LKS_MEMBER_PENDING)
            CHECK(campaign_run_until(&w, "n1", full[i].before, full[i].state, 2 * HOUR));
        fill(&w, full[i].flashes, true);
        CHECK(!campaign_run(&w, 30 * MINUTE));
        const struct lks_member *m = campaign_member(&w, "n1");
        CHECK_INT(m->step, full[i].at);
        CHECK_INT(m->failure, LKS_FAILURE_NONE);
        CHECK_INT(m->work, 0);
        CHECK_HAS(lks_state_text(&w.a.state, m->text), "which is the most");
        fill(&w, full[i].flashes, false);
        CHECK(campaign_run(&w, 4 * HOUR));
        CHECK_INT(campaign_member(&w, "n1")->state, LKS_MEMBER_DONE);
        CHECK_INT(campaign_change(&w)->state, LKS_CHANGE_DONE);
        campaign_end(&w);
    }
}

/* Nobody waits for ever: what does not pass within a day is how the step ended. */
static void for_a_day_at_the_most(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1});
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_LEAVE, LKS_MEMBER_READING, 2 * HOUR));
    fill(&w, false, true);
    CHECK(!campaign_run(&w, 20 * HOUR));
    CHECK_INT(campaign_member(&w, "n1")->failure, LKS_FAILURE_NONE);
    (void)campaign_run(&w, 6 * HOUR);
    CHECK_INT(campaign_member(&w, "n1")->failure, LKS_FAILURE_REFUSED);
    fill(&w, false, false);
    campaign_end(&w);
}

static lks_ms due(const struct campaign *w)
{
    return lks_campaign_due(&w->a.state, campaign_change(w), campaign_member(w, "n1"));
}

/* An update of that number was looked at. Of a member whose work is a command of the same number
 * nobody looked at anything. */
static void whose_number(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1});
    campaign_fail(&w, "n1", "flash", LKS_BMC_UNKNOWN, 1);
    (void)campaign_run(&w, 4 * HOUR);
    const struct lks_member *m = campaign_member(&w, "n1");
    CHECK_INT(m->state, LKS_MEMBER_UNKNOWN);
    CHECK_INT(m->step, CAMPAIGN_FLASH);
    CHECK(due(&w) == UINT64_MAX);
    struct lks_record looked = {.kind = LKS_RECORD_FLASH_RESOLVED,
                                .flash_resolved = {.id = m->work,
                                                   .node = LKS_STR("n1"),
                                                   .by = LKS_STR("lee"),
                                                   .reason = LKS_STR("it runs the new one")}};
    campaign_record(&w, &looked);
    CHECK(due(&w) == 0);
    struct lks_record other = {.kind = LKS_RECORD_MEMBER,
                               .member = {.change = w.change,
                                          .node = LKS_STR("n1"),
                                          .state = LKS_MEMBER_UNKNOWN,
                                          .step = CAMPAIGN_APPLY,
                                          .attempt = 1,
                                          .work = m->work,
                                          .failure = LKS_FAILURE_UNKNOWN}};
    campaign_record(&w, &other);
    CHECK(due(&w) == UINT64_MAX);
    campaign_end(&w);
}

/* The registry names the change by which a stack was rolled back, until a later one is done. */
static void rolled_back_in_the_registry(void)
{
    static const struct {
        bool back;
        const char *shown;
    } rows[] = {{true, "\"rolled_back\":1"}, {false, "\"pools\":["}};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_DOC_BYTES_MAX);
        struct lks_json_writer json = {.out = &text};
        lks_test_case("%s", rows[i].back ? "rolled back" : "done");
        campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .soak = CAMPAIGN_HOUR});
        campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_PUBLISHED,
                                                 .published = {.digest = lks_str_from(w.stack_b),
                                                               .name = LKS_STR("silver")}});
        CHECK(!campaign_run(&w, 30 * CAMPAIGN_MINUTE));
        if (rows[i].back)
            campaign_move(&w, LKS_CHANGE_ROLLING_BACK);
        CHECK(campaign_run(&w, 2 * CAMPAIGN_HOUR));
        CHECK_CHANGE(&w, rows[i].back ? LKS_CHANGE_ROLLED_BACK : LKS_CHANGE_DONE);
        const struct lks_view_of of = {.s = &w.a.state,
                                       .row = lks_state_stack(&w.a.state, lks_str_from(w.stack_b))};
        lks_json_begin(&json, NULL, '{');
        lks_view_row_put(&json, &lks_view_stacks, LKS_USE_LISTED, &of);
        lks_json_end(&json, '}');
        CHECK_HAS(lks_buf_view(&text), rows[i].shown);
        CHECK(rows[i].back == (lks_str_find(lks_buf_view(&text), LKS_STR("rolled_back")) >= 0));
        campaign_end(&w);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"campaign asks: as many as there may be wait for answers", as_many_as_there_may_be},
        {"campaign asks: for a day at the most", for_a_day_at_the_most},
        {"campaign asks: whose number the work is", whose_number},
        {"rolled back in the registry", rolled_back_in_the_registry},
        {0},
    });
}
