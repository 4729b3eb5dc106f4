/* What a fleet's file asks less of changes than the one before: told, noted in plans, and agreed to
 * by somebody else. */
#include "core/governance/relaxed.h"

#include "core/governance/govern.h"
#include "core/rules/decide.h"
#include "tests/fleet.h"
#include "tests/test.h"

#include <stdio.h>

#define T LKS_STR_C
#define FLEET(posture, gate, more)                                                                 \
    "lockstep: 1\nkind: Fleet\nname: f\npools:\n  train: {posture: " posture gate "}\n"            \
    "  other: {posture: batch}\n" more                                                             \
    "nodes: [{hosts: 'g[1-2]', pool: train, class: hgx-h100-8}]\n"
#define GATE(metrics, more)  ", gate: {metrics: {" metrics "}" more "}"
#define STEP(margin)         "sm-clock: {margin: " margin "}"
#define PRE                  "pre-training"
#define GATED(metrics, more) FLEET(PRE, GATE(metrics, more), "")
#define DAYS(list)           "freezes: [" list "]\n"
#define YEAR                 "{from: '1970-12-19', until: '1971-01-04'}"

static const struct {
    const char *name, *before, *after;
    const char *told; /* what is less; "": nothing is */
} rows[] = {
    {"the same", GATED(STEP("1"), ""), GATED(STEP("1"), "") "# and a word\n", ""},
    {"a wider margin", GATED(STEP("1"), ""), GATED(STEP("2"), ""), "margin of sm-clock 1 to 2 %"},
    {"a narrower one", GATED(STEP("2"), ""), GATED(STEP("1"), ""), ""},
    {"a metric less", GATED(STEP("1") ", xid: {}", ""), GATED(STEP("1"), ""),
     "xid is not measured any more"},
    {"a metric more", GATED(STEP("1"), ""), GATED(STEP("1") ", xid: {}", ""), ""},
    {"no gate", GATED(STEP("1"), ""), FLEET(PRE, "", ""), "it has no gate any more"},
    {"a first gate", FLEET(PRE, "", ""), GATED(STEP("1"), ""), ""},
    {"not critical", GATED("sm-clock: {critical: true}", ""),
     GATED("sm-clock: {critical: false}", ""), "sm-clock is not critical any more"},
    {"a higher normal rate", GATED("xid: {normal: '0.001'}", ""),
     GATED("xid: {normal: '0.01'}", ""), "normal rate of xid 0.001 to 0.01"},
    {"no normal rate", GATED("xid: {normal: '0.001'}", ""), GATED("xid: {}", ""),
     "xid has no normal rate any more"},
    {"a lower normal rate", GATED("xid: {normal: '0.01'}", ""), GATED("xid: {normal: '0.001'}", ""),
     ""},
    {"a first normal rate", GATED("xid: {}", ""), GATED("xid: {normal: '0.001'}", ""), ""},
    {"less load", GATED(STEP("1"), ", min_load_gpu_hours: 8"),
     GATED(STEP("1"), ", min_load_gpu_hours: 4"), "8 to 4 GPU-hours under load"},
    {"more load", GATED(STEP("1"), ", min_load_gpu_hours: 4"),
     GATED(STEP("1"), ", min_load_gpu_hours: 8"), ""},
    {"a larger loss budget", GATED(STEP("1"), ", loss_budget: 5"),
     GATED(STEP("1"), ", loss_budget: 9"), "5 to 9 of the loss budget"},
    {"no production any more", FLEET(PRE, "", ""), FLEET("dev", "", ""),
     "posture pre-training to dev"},
    {"outside production", FLEET("dev", GATE(STEP("1"), ""), ""), FLEET("dev", "", ""), ""},
    {"days that were frozen", FLEET(PRE, "", DAYS(YEAR)), FLEET(PRE, "", ""),
     "days until 1971-01-04 are not frozen any more"},
    {"frozen for another pool", FLEET(PRE, "", DAYS(YEAR)),
     FLEET(PRE, "", DAYS("{from: '1970-12-19', until: '1971-01-04', pools: [other]}")),
     "days until 1971-01-04 are not frozen any more"},
    {"days in two parts", FLEET(PRE, "", DAYS(YEAR)),
     FLEET(PRE, "",
           DAYS("{from: '1970-12-19', until: '1970-12-25'}, {from: '1970-12-25', until: "
                "'1971-01-05'}")),
     ""},
    {"days with a gap", FLEET(PRE, "", DAYS(YEAR)),
     FLEET(PRE, "",
           DAYS("{from: '1970-12-19', until: '1970-12-25'}, {from: '1970-12-26', until: "
                "'1971-01-05'}")),
     "days until 1971-01-04 are not frozen any more"},
    {"days that are over", FLEET(PRE, "", DAYS("{from: '1969-12-19', until: '1970-01-01'}")),
     FLEET(PRE, "", ""), ""},
};

static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        char want[256];
        lks_test_case("%s", rows[i].name);
        lks_asked_init(&a);
        CHECK_HAS(lks_asked_fleet(&a, rows[i].before, NULL), "fleet ");
        lks_asked_live(&a, "g1");
        struct lks_str told = lks_asked_fleet(&a, rows[i].after, NULL);
        CHECK_INT(a.decision.refused.code, LKS_OK);
        snprintf(want, sizeof(want), "lowered pool=train text=%s by=kim\n", rows[i].told);
        bool less = rows[i].told[0] != '\0';
        CHECK((lks_str_find(told, LKS_STR("lowered pool=")) >= 0) == less);
        CHECK_HAS(told, less ? want : "");
        CHECK_HAS(told, less ? "alarm=lowered subject=train " : "");
        CHECK(lks_relaxed_pending(&a.state, 0, a.now.wall) == less);
        CHECK(!lks_relaxed_pending(&a.state, 0, a.now.wall + LKS_RELAXED_AGE));
    }
}

/* Nobody is there whose changes would be judged by it. */
static void test_empty(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    CHECK_HAS(lks_asked_fleet(&a, GATED(STEP("1"), ""), NULL), "fleet ");
    struct lks_str told = lks_asked_fleet(&a, GATED(STEP("2"), ""), NULL);
    CHECK(lks_str_find(told, LKS_STR("lowered")) < 0);
}

#define PLACED(pool)                                                                               \
    "lockstep: 1\nkind: Fleet\nname: f\npools: {train: {posture: batch}, more: {posture: batch}, " \
    "lab: {posture: dev}, other: {posture: dev}}\n"                                                \
    "nodes: [{hosts: 'g[1-2]', pool: " pool ", class: hgx-h100-8}]\n"

/* An enrolled node that leaves production by the file alone is told of. */
static void test_moved(void)
{
    static const struct {
        const char *name, *before, *after, *told;
    } moves[] = {
        {"to the lab", PLACED("train"), PLACED("lab"),
         "alarm=lowered subject=lab text=kim moved 1 enrolled node from production to pool 'lab', "
         "which is not, the first is g1: "},
        {"to another of production", PLACED("train"), PLACED("more"), ""},
        {"from the lab", PLACED("lab"), PLACED("train"), ""},
        {"within the lab", PLACED("lab"), PLACED("other"), ""},
        {"nowhere", PLACED("train"), PLACED("train") "# and a word\n", ""},
    };
    for (size_t i = 0; i < LKS_COUNT(moves); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", moves[i].name);
        lks_asked_init(&a);
        CHECK_HAS(lks_asked_fleet(&a, moves[i].before, NULL), "fleet ");
        lks_asked_live(&a, "g1"); /* g2 never enrolled */
        struct lks_str told = lks_asked_fleet(&a, moves[i].after, NULL);
        CHECK_INT(a.decision.refused.code, LKS_OK);
        CHECK_HAS(told, moves[i].told);
        CHECK((lks_str_find(told, LKS_STR("alarm=lowered")) >= 0) == (moves[i].told[0] != '\0'));
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"relaxed: what is less", test_rows},
        {"relaxed: before anybody enrolled", test_empty},
        {"relaxed: nodes that leave production", test_moved},
        {0},
    });
}
