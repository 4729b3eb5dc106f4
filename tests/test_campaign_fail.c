/* Each kind of failure, row by row: what becomes of the node, of the change, and who is told. */
#include "core/campaign/campaign.h"
#include "core/rows/node.h"
#include "core/state/lookup.h"
#include "tests/campaigns.h"
#include "tests/test.h"

#define MINUTE CAMPAIGN_MINUTE
#define HOUR   CAMPAIGN_HOUR

enum { A, B, HALF };

static const struct {
    const char *name;
    struct campaign_plan plan;
    struct campaign_fault fault; /* of n1 */
    enum lks_member_state state;
    enum lks_failure failure;
    enum lks_change_state change;
    int runs; /* what n1 has in the end */
    bool out; /* it is kept out of use */
    const char *alarm;
} rows[] = {
    {"idle is refused",
     {0},
     {"n1", "idle", LKS_OUTCOME_REFUSED, 9},
     LKS_MEMBER_REVERTED,
     LKS_FAILURE_REFUSED,
     LKS_CHANGE_HALTED,
     A,
     false,
     "alarm=change subject=change:1"},
    {"an order is refused",
     {0},
     {"n1", "apt", LKS_OUTCOME_REFUSED, 9},
     LKS_MEMBER_REVERTED,
     LKS_FAILURE_REFUSED,
     LKS_CHANGE_HALTED,
     A,
     false,
     "alarm=change subject=change:1"},
    {"an order fails",
     {0},
     {"n1", "apt", LKS_OUTCOME_FAILED, 1},
     LKS_MEMBER_REVERTED,
     LKS_FAILURE_STEP,
     LKS_CHANGE_HALTED,
     A,
     false,
     "alarm=change subject=change:1"},
    {"its agent does not look whether something runs: it is not asked for ever",
     {.retries = 3},
     {"n1", "idle", LKS_OUTCOME_REFUSED, 99},
     LKS_MEMBER_REVERTED,
     LKS_FAILURE_REFUSED,
     LKS_CHANGE_HALTED,
     A,
     false,
     "alarm=change subject=change:1"},
    {"an order fails once, and is tried again",
     {.retries = 1},
     {"n1", "apt", LKS_OUTCOME_FAILED, 1},
     LKS_MEMBER_DONE,
     LKS_FAILURE_NONE,
     LKS_CHANGE_DONE,
     B,
     false,
     NULL},
    {"an order fails twice, and is tried twice",
     {.retries = 1},
     {"n1", "apt", LKS_OUTCOME_FAILED, 2},
     LKS_MEMBER_REVERTED,
     LKS_FAILURE_STEP,
     LKS_CHANGE_HALTED,
     A,
     false,
     "alarm=change subject=change:1"},
    {"nobody can tell how an order went: it is carried out again",
     {.retries = 1},
     {"n1", "apt", LKS_OUTCOME_UNKNOWN, 1},
     LKS_MEMBER_DONE,
     LKS_FAILURE_NONE,
     LKS_CHANGE_DONE,
     B,
     false,
     NULL},
    {"an order fails, and on the way back, too",
     {0},
     {"n1", "apt", LKS_OUTCOME_FAILED, 9},
     LKS_MEMBER_FENCED,
     LKS_FAILURE_REVERT,
     LKS_CHANGE_HALTED,
     A,
     true,
     "alarm=change subject=n1"},
    {"a reboot fails",
     {0},
     {"n1", "reboot", LKS_OUTCOME_FAILED, 1},
     LKS_MEMBER_REVERTED,
     LKS_FAILURE_STEP,
     LKS_CHANGE_HALTED,
     A,
     false,
     "alarm=change subject=change:1"},
    {"a reboot is said to be done, and is not",
     {0},
     {"n1", "reboot", LKS_OUTCOME_DONE, 1},
     LKS_MEMBER_REVERTED,
     LKS_FAILURE_STEP,
     LKS_CHANGE_HALTED,
     A,
     false,
     "alarm=change subject=change:1"},
    {"apt says done, and installed nothing",
     {0},
     {"n1", "apt", LKS_OUTCOME_DONE, 1},
     LKS_MEMBER_REVERTED,
     LKS_FAILURE_WRONG,
     LKS_CHANGE_HALTED,
     A,
     false,
     "alarm=change subject=change:1"},
    {"it is not accepted",
     {0},
     {"n1", "accept", LKS_OUTCOME_FAILED, 1},
     LKS_MEMBER_REVERTED,
     LKS_FAILURE_ACCEPT,
     LKS_CHANGE_HALTED,
     A,
     false,
     "alarm=change subject=change:1"},
    {"it is not accepted, neither there nor back",
     {0},
     {"n1", "accept", LKS_OUTCOME_FAILED, 9},
     LKS_MEMBER_FENCED,
     LKS_FAILURE_REVERT,
     LKS_CHANGE_HALTED,
     A,
     true,
     "alarm=change subject=n1"},
    {"an update fails",
     {0},
     {"n1", "flash", LKS_BMC_FAILED, 1},
     LKS_MEMBER_REVERTED,
     LKS_FAILURE_STEP,
     LKS_CHANGE_HALTED,
     A,
     false,
     "alarm=change subject=change:1"},
    {"an update is refused",
     {0},
     {"n1", "flash", LKS_BMC_REFUSED, 1},
     LKS_MEMBER_REVERTED,
     LKS_FAILURE_REFUSED,
     LKS_CHANGE_HALTED,
     A,
     false,
     "alarm=change subject=change:1"},
    {"an update is done by its word alone",
     {0},
     {"n1", "flash", LKS_BMC_DONE, 1},
     LKS_MEMBER_REVERTED,
     LKS_FAILURE_WRONG,
     LKS_CHANGE_HALTED,
     A,
     false,
     "alarm=change subject=change:1"},
    {"nobody can tell how an update went: nothing more is done",
     {.retries = 3},
     {"n1", "flash", LKS_BMC_UNKNOWN, 1},
     LKS_MEMBER_UNKNOWN,
     LKS_FAILURE_UNKNOWN,
     LKS_CHANGE_HALTED,
     HALF,
     true,
     "alarm=flash subject=n1"},
    {"the endpoint is lost in an update",
     {.retries = 3},
     {"n1", "silence", LKS_BMC_UNKNOWN, 1},
     LKS_MEMBER_HANDS,
     LKS_FAILURE_ENDPOINT,
     LKS_CHANGE_HALTED,
     HALF,
     true,
     "alarm=hands subject=n1 text=site s1, rack r1: bmc"},
    {"the endpoint does not answer, once",
     {.retries = 1},
     {"n1", "silence", LKS_BMC_FAILED, 1},
     LKS_MEMBER_DONE,
     LKS_FAILURE_NONE,
     LKS_CHANGE_DONE,
     B,
     false,
     NULL},
    {"the endpoint does not answer",
     {.retries = 1},
     {"n1", "silence", LKS_BMC_FAILED, 9},
     LKS_MEMBER_HANDS,
     LKS_FAILURE_ENDPOINT,
     LKS_CHANGE_HALTED,
     HALF,
     true,
     "alarm=hands"},
    {"an update without return fails",
     {.one_way = true},
     {"n1", "flash", LKS_BMC_FAILED, 9},
     LKS_MEMBER_FENCED,
     LKS_FAILURE_STEP,
     LKS_CHANGE_HALTED,
     HALF,
     true,
     "alarm=change subject=n1"},
    {"it is not accepted behind a step without return",
     {.one_way = true},
     {"n1", "accept", LKS_OUTCOME_FAILED, 9},
     LKS_MEMBER_FENCED,
     LKS_FAILURE_ACCEPT,
     LKS_CHANGE_HALTED,
     B,
     true,
     "alarm=change subject=n1"},
    {"the way back fails where it is shown",
     {.proves = true},
     {"n1", "accept", 0, 0},
     LKS_MEMBER_DONE,
     LKS_FAILURE_NONE,
     LKS_CHANGE_DONE,
     B,
     false,
     NULL},
    {"staging is refused",
     {.stages = true},
     {"n1", "stage", LKS_BMC_REFUSED, 1},
     LKS_MEMBER_REVERTED,
     LKS_FAILURE_REFUSED,
     LKS_CHANGE_HALTED,
     A,
     false,
     "alarm=change subject=change:1"},
    {"one may fail",
     {.nodes = 2, .failures_max = 1},
     {"n1", "apt", LKS_OUTCOME_FAILED, 1},
     LKS_MEMBER_REVERTED,
     LKS_FAILURE_STEP,
     LKS_CHANGE_DONE,
     A,
     false,
     NULL},
    {"it is halted, and rolled back at once",
     {.nodes = 2, .rolls_back = true},
     {"n1", "apt", LKS_OUTCOME_FAILED, 1},
     LKS_MEMBER_REVERTED,
     LKS_FAILURE_STEP,
     LKS_CHANGE_ROLLED_BACK,
     A,
     false,
     "alarm=change subject=change:1"},
};

static void check_runs(struct campaign *w, int runs)
{
    const struct campaign_node *n = campaign_node(w, "n1");
    if (runs != HALF) {
        CHECK_INT(n->loaded, runs == B);
        CHECK_INT(n->flashed, runs == B);
    }
}

static void each_failure(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &rows[i].plan);
        campaign_fail(&w, rows[i].fault.node, rows[i].fault.what, rows[i].fault.outcome,
                      rows[i].fault.times);
        CHECK(campaign_run(&w, 4 * HOUR));
        const struct lks_member *m = campaign_member(&w, "n1");
        const struct lks_node *n = &w.a.state.nodes[m->node];
        CHECK_STR(lks_str_from(lks_member_state_words[m->state]),
                  lks_member_state_words[rows[i].state]);
        CHECK_STR(lks_str_from(lks_failure_words[m->failure]), lks_failure_words[rows[i].failure]);
        CHECK_STR(lks_str_from(lks_change_state_words[campaign_change(&w)->state]),
                  lks_change_state_words[rows[i].change]);
        check_runs(&w, rows[i].runs);
        CHECK_INT(n->changing != 0, rows[i].out);
        CHECK_INT(n->drained_by != 0, rows[i].out);
        CHECK_INT(n->change != 0, rows[i].out);
        if (rows[i].alarm != NULL)
            CHECK(campaign_count(&w, "alarm ", rows[i].alarm) == 1);
        else
            CHECK_INT(campaign_count(&w, "alarm ", ""), 0);
        campaign_show(&w);
        campaign_end(&w);
    }
}

/* A layer that breaks what no step changes is found behind it, too. */
static void found_broken(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){0});
    campaign_node(&w, "n1")->broken = true;
    CHECK(campaign_run(&w, 4 * HOUR));
    const struct lks_member *m = campaign_member(&w, "n1");
    CHECK_STR(lks_str_from(lks_member_state_words[m->state]), "reverted");
    CHECK_STR(lks_str_from(lks_failure_words[m->failure]), lks_failure_words[LKS_FAILURE_WRONG]);
    CHECK_HAS(lks_state_text(&w.a.state, m->text), "container-toolkit: ");
    CHECK_HAS(lks_state_text(&w.a.state, m->text), ", pinned ");
    CHECK_INT(w.flash_count, 0);
    campaign_show(&w);
    campaign_end(&w);
}

/* What is missing on a kernel that should not run follows from the kernel: that is what is named.
 */
static void found_on_another_kernel(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){0});
    campaign_node(&w, "n1")->other_kernel = true;
    CHECK(campaign_run(&w, 4 * HOUR));
    const struct lks_member *m = campaign_member(&w, "n1");
    CHECK_STR(lks_str_from(lks_failure_words[m->failure]), lks_failure_words[LKS_FAILURE_WRONG]);
    CHECK_HAS(lks_state_text(&w.a.state, m->text),
              "kernel: 6.8.0-90-generic, pinned 6.8.0-71-generic (");
    campaign_show(&w);
    campaign_end(&w);
}

/* What a layer left wrong is found behind it, before firmware is touched: also what a package says
 * of itself, which the stack pins beside its component. */
static void found_behind_its_layer(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){0});
    campaign_node(&w, "n1")->stale = true;
    CHECK(campaign_run(&w, 4 * HOUR));
    const struct lks_member *m = campaign_member(&w, "n1");
    CHECK_STR(lks_str_from(lks_member_state_words[m->state]), "reverted");
    CHECK_STR(lks_str_from(lks_failure_words[m->failure]), lks_failure_words[LKS_FAILURE_WRONG]);
    CHECK_HAS(lks_state_text(&w.a.state, m->text),
              "settings.other.fabric-manager.package: 580.1, pinned 580.130.01 (");
    CHECK_INT(w.flash_count, 0);
    campaign_show(&w);
    campaign_end(&w);
}

/* What may pass by itself is waited for before it is tried again; what a device came to is not. */
static const struct {
    const char *name;
    unsigned retries;
    struct campaign_fault fault; /* of n1 */
    bool waits;
} pauses[] = {
    {"an order failed", 1, {"n1", "apt", LKS_OUTCOME_FAILED, 1}, true},
    {"an update failed, and what runs is known", 1, {"n1", "flash", LKS_BMC_FAILED, 1}, false},
    {"it did so twice", 2, {"n1", "flash", LKS_BMC_FAILED, 2}, true},
    {"an update was refused", 1, {"n1", "flash", LKS_BMC_REFUSED, 1}, true},
    {"the endpoint does not answer", 1, {"n1", "silence", LKS_BMC_FAILED, 1}, true},
};

static void each_pause(void)
{
    for (size_t i = 0; i < LKS_COUNT(pauses); i++) {
        struct campaign w;
        lks_test_case("%s", pauses[i].name);
        campaign_begin(&w, &(struct campaign_plan){.retries = pauses[i].retries});
        campaign_fail(&w, pauses[i].fault.node, pauses[i].fault.what, pauses[i].fault.outcome,
                      pauses[i].fault.times);
        campaign_settle(&w);
        CHECK_STR(lks_str_from(lks_member_state_words[campaign_member(&w, "n1")->state]),
                  pauses[i].waits ? "waiting" : "done");
        CHECK(campaign_run(&w, 4 * HOUR));
        CHECK_STR(lks_str_from(lks_member_state_words[campaign_member(&w, "n1")->state]), "done");
        campaign_end(&w);
    }
}

/* A rollback to the other bank, where the switch ends so for the first `times` times. A switch that
 * did not work is not asked for again: the image before is flashed, if there is one. */
static const struct {
    const char *name;
    struct campaign_plan plan;
    enum lks_bmc_outcome outcome; /* of the switch */
    unsigned times;
    unsigned switches, flashes; /* asked for in the rollback */
    enum lks_member_state state;
    int runs;
} switches[] = {
    {"the bank is switched", {0}, LKS_BMC_DONE, 0, 1, 0, LKS_MEMBER_REVERTED, A},
    {"refused", {0}, LKS_BMC_REFUSED, 9, 1, 1, LKS_MEMBER_REVERTED, A},
    {"failed", {0}, LKS_BMC_FAILED, 9, 1, 1, LKS_MEMBER_REVERTED, A},
    {"failed, of an image that was staged",
     {.stages = true},
     LKS_BMC_FAILED,
     9,
     1,
     1,
     LKS_MEMBER_REVERTED,
     A},
    {"it is done by its answer, and is not", {0}, LKS_BMC_DONE, 9, 1, 0, LKS_MEMBER_FENCED, HALF},
    {"its outcome is unknown: nothing is flashed before a person resolves it",
     {0},
     LKS_BMC_UNKNOWN,
     9,
     1,
     0,
     LKS_MEMBER_UNKNOWN,
     HALF},
    {"failed, and there is no image",
     {.no_image_back = true},
     LKS_BMC_FAILED,
     9,
     1,
     0,
     LKS_MEMBER_FENCED,
     HALF},
    {"failed once, and there is no image: it is switched again",
     {.no_image_back = true, .retries = 1},
     LKS_BMC_FAILED,
     1,
     2,
     0,
     LKS_MEMBER_REVERTED,
     A},
};

static void each_switch(void)
{
    for (size_t i = 0; i < LKS_COUNT(switches); i++) {
        struct campaign w;
        struct campaign_plan plan = switches[i].plan;
        lks_test_case("%s", switches[i].name);
        plan.switches = true;
        campaign_begin(&w, &plan);
        campaign_fail(&w, "n1", "accept", LKS_OUTCOME_FAILED, 1 + plan.retries);
        campaign_fail(&w, "n1", "switch", switches[i].outcome, switches[i].times);
        CHECK(campaign_run(&w, 4 * HOUR));
        CHECK_MEMBER(&w, "n1", switches[i].state);
        CHECK_INT(campaign_count(&w, "flash ", "act=switch"), switches[i].switches);
        CHECK_INT(campaign_count(&w, "act=update", CAMPAIGN_IMAGE_A), switches[i].flashes);
        check_runs(&w, switches[i].runs);
        campaign_show(&w);
        campaign_end(&w);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"each failure", each_failure},
        {"each switch of banks", each_switch},
        {"each pause", each_pause},
        {"what a layer left wrong", found_behind_its_layer},
        {"what a layer broke", found_broken},
        {"another kernel", found_on_another_kernel},
        {0},
    };
    return lks_test_main(tests);
}
