/* The health check of a node's site: when it makes a node unhealthy, when healthy again, and what
 * of it is recorded. */
#include "core/decision/event.h"
#include "core/rows/node.h"
#include "core/state/node_status.h"
#include "tests/fleet.h"
#include "tests/test.h"

#include <stdio.h>

/* What happens to n1, a letter each. */
static struct lks_str step(struct lks_asked *a, char what)
{
    const struct {
        char what;
        struct lks_event event;
    } steps[] = {
        {'P', {.kind = LKS_EVENT_CHECK, .check = {.passed = true}}},
        {'F', {.kind = LKS_EVENT_CHECK, .check = {.text = LKS_STR("no GPU 3")}}},
        {'G', {.kind = LKS_EVENT_CHECK, .check = {.text = LKS_STR("/ is full")}}},
        {'N', {.kind = LKS_EVENT_CHECK}},
        {'B', {.kind = LKS_EVENT_CHECK, .check = {.text = LKS_STR("two\nlines")}}},
        {'u',
         {.kind = LKS_EVENT_CONDITION,
          .by = LKS_STR("kim"),
          .condition = {.condition = LKS_CONDITION_UNHEALTHY,
                        .on = true,
                        .text = LKS_STR("bad fan")}}},
        {'h',
         {.kind = LKS_EVENT_CONDITION,
          .by = LKS_STR("kim"),
          .condition = {.condition = LKS_CONDITION_UNHEALTHY}}},
        {'c',
         {.kind = LKS_EVENT_CONDITION,
          .by = LKS_STR("kim"),
          .condition = {.condition = LKS_CONDITION_CHANGING,
                        .on = true,
                        .text = LKS_STR("wave 1")}}},
        {'e',
         {.kind = LKS_EVENT_CONDITION,
          .by = LKS_STR("kim"),
          .condition = {.condition = LKS_CONDITION_CHANGING}}},
    };
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        struct lks_event event = steps[i].event;
        if (steps[i].what != what)
            continue;
        event.name = LKS_STR("n1");
        event.node = lks_fleet_node(a, "n1");
        return lks_asked(a, &event);
    }
    LKS_ASSERT(false); /* no such letter is in the table */
    return LKS_STR("");
}

#define FAILED(text)                                                                               \
    "noted node=n1 note=check on=1 text=slurm-health: " text "\n"                                  \
    "condition node=n1 condition=unhealthy on=1 by=slurm-health text=slurm-health: " text "\n"
#define PASSES                                                                                     \
    "noted node=n1 note=check text=slurm-health: the check passes\n"                               \
    "condition node=n1 condition=unhealthy by=slurm-health text=slurm-health: the check passes\n"
#define TAKEN "noted node=n1 note=check text=a person took the condition over\n"

static const struct {
    const char *name, *steps, *told; /* `told`: of the last step */
    bool unhealthy, noted;
} rows[] = {
    {"a check fails", "F", FAILED("no GPU 3"), true, true},
    {"it fails again for the same reason", "FF", "", true, true},
    {"it fails for another reason", "FG",
     "condition node=n1 condition=unhealthy on=1 by=slurm-health text=slurm-health: / is full\n",
     true, true},
    {"it passes", "FP", PASSES, false, false},
    {"it passes again", "FPP", "", false, false},
    {"it passes and never failed", "P", "", false, false},
    {"it fails while the node is changed", "cF", "", false, false},
    {"it fails after the change", "cFeF", FAILED("no GPU 3"), true, true},
    {"it passes while the node is changed", "FcP", PASSES, false, false},
    {"a change ended in between: the reason is told again", "FceF",
     "condition node=n1 condition=unhealthy on=1 by=slurm-health text=slurm-health: no GPU 3\n",
     true, true},
    {"a person said before that the node is unhealthy", "uF", "", true, false},
    {"what a person said is not ended by a check that passes", "uFP", "", true, false},
    {"a person says so, too", "Fu",
     TAKEN "condition node=n1 condition=unhealthy on=1 by=kim text=bad fan\n", true, false},
    {"and the check passes", "FuP", "", true, false},
    {"a person says that the node is healthy", "Fh",
     TAKEN "condition node=n1 condition=unhealthy by=kim\n", false, false},
    {"and the check still fails", "FhF", FAILED("no GPU 3"), true, true},
    {"without a reason", "N", "text: there is none, and it is needed", false, false},
    {"a reason of two lines", "B", "text: one line of printable text", false, false},
};

static void test_checks(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct lks_str told = LKS_STR("");
        lks_test_case("%s", rows[i].name);
        lks_asked_init(&a);
        lks_fleet_pool(&a, "train", "", "");
        lks_fleet_place(&a, "n[1-2]", "train");
        lks_fleet_live(&a, "n[1-2]", 1);
        for (const char *s = rows[i].steps; *s != '\0'; s++)
            told = step(&a, *s);
        CHECK_HAS(told, rows[i].told);
        if (rows[i].told[0] == '\0')
            CHECK_STR(told, "");
        const struct lks_node *n = &a.state.nodes[lks_fleet_node(&a, "n1")];
        CHECK_INT(n->unhealthy, rows[i].unhealthy);
        CHECK_INT(n->notes >> LKS_NOTE_CHECK & 1, rows[i].noted);
        CHECK_INT(lks_node_status_bars(&a.state, lks_fleet_node(&a, "n1"), a.now.wall) >>
                          LKS_BAR_UNHEALTHY &
                      1,
                  rows[i].unhealthy);
        CHECK(!a.state.nodes[lks_fleet_node(&a, "n2")].unhealthy);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){{"health checks of sites", test_checks}, {0}});
}
