/* A change of a node whose scheduler advertises other GPUs than the stack pins: no step changes
 * slurm.conf, so the change waits for it, and does not put it down to a step. */
#include "core/decision/event.h"
#include "core/rows/change.h"
#include "tests/campaigns.h"
#include "tests/fleet.h"
#include "tests/test.h"

static void advertise(struct campaign *w, const char *gres)
{
    const struct lks_event event = {.kind = LKS_EVENT_ADVERTISED,
                                    .node = lks_fleet_node(&w->a, "n1"),
                                    .advertised = {.gres = lks_str_from(gres), .state = {"", 0}}};
    (void)lks_asked(&w->a, &event);
}

static const char *state_of(const struct campaign *w)
{
    return lks_member_state_words[campaign_member(w, "n1")->state];
}

/* A node that drifts before its change starts is skipped: what it advertises changes on the way, as
 * where slurm.conf got the line of another geometry too early. */
static void begin(struct campaign *w)
{
    campaign_begin(w, &(struct campaign_plan){0});
    campaign_node(w, "n1")->busy = true;
    CHECK(!campaign_run(w, CAMPAIGN_MINUTE));
    CHECK_INT(campaign_member(w, "n1")->step, CAMPAIGN_LEAVE);
    campaign_node(w, "n1")->busy = false;
    advertise(w, "gpu:h200:7");
}

/* A few minutes of the old line, then the new one. */
static void corrected(void)
{
    struct campaign w;
    begin(&w);
    CHECK(!campaign_run(&w, 3 * CAMPAIGN_MINUTE));
    CHECK_STR(lks_str_from(state_of(&w)), "reading");
    CHECK(campaign_node(&w, "n1")->flashed); /* all of its steps went on */
    advertise(&w, "gpu:h200:8");
    CHECK(campaign_run(&w, CAMPAIGN_HOUR));
    CHECK_STR(lks_str_from(state_of(&w)), "done");
    campaign_end(&w);
}

/* The deadline of the step ends the wait, and names what is wrong. */
static void never_corrected(void)
{
    struct campaign w;
    begin(&w);
    CHECK(campaign_run(&w, 48 * CAMPAIGN_HOUR));
    const struct lks_member *m = campaign_member(&w, "n1");
    CHECK_STR(lks_str_from(state_of(&w)), "fenced");
    CHECK_HAS(lks_state_text(&w.a.state, m->text), "scheduler.gres: gpu:h200:7, pinned gpu:8");
    campaign_end(&w);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"campaign: slurm.conf is corrected", corrected},
        {"campaign: slurm.conf is never corrected", never_corrected},
        {0},
    });
}
