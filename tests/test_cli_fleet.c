/* The fleet by its manifest, as a person has it: what applying a file causes. Against the real
 * daemon, one row after the other. */
#include "tests/run_ctl.h"

#include <time.h>

static struct ctl controller;

#define FLEET(pools, more)                                                                         \
    "lockstep: 1\nkind: Fleet\nname: f\npools: {" pools "}\nnodes:\n"                              \
    "  - {hosts: 'n[1-7]', pool: p, class: hgx-h200-8}\n" more
#define NODE(pool) "  - {hosts: n8, pool: " pool ", class: hgx-h200-8}\n"

static const struct lks_run_row effects[] = {
    {ARGS("fleet", "apply", "DIR/fleet.yaml", "--dry-run"), 1,
     "this causes:\n"
     "  pool p: 8 nodes join: n1, n2, n3, n4, n5, and 3 more\n"
     "  new nodes are not enrolled until their agents enrol with a token ('lockstep node "
     "enroll')\n",
     ""},
    {ARGS("fleet", "apply", "DIR/fleet.yaml", "--accept"), 0, "  pool p: 8 nodes join: n1, ", ""},
    {ARGS("fleet", "apply", "DIR/fleet.yaml", "--dry-run"), 0, "nothing to change", ""},
    {ARGS("fleet", "apply", "DIR/strict.yaml", "--dry-run"), 1,
     "this causes:\n"
     "  pool p: 1 node leaves: n8\n"
     "  pool p: admission starts to refuse jobs on 7 nodes (stale): n1, n2, n3, n4, n5, and 2 "
     "more\n"
     "  pool q: 1 node joins: n8\n"
     "  0 enrolled nodes",
     ""},
    {ARGS("fleet", "apply", "DIR/strict.yaml", "--dry-run", "--json"), 1,
     "\"effects\":[{\"effect\":\"leaves\",\"pool\":\"p\",\"nodes\":1,\"first\":[\"n8\"]},"
     "{\"effect\":\"refused\",\"pool\":\"p\",\"reason\":\"stale\",\"nodes\":7,"
     "\"first\":[\"n1\",\"n2\",\"n3\",\"n4\",\"n5\"]},"
     "{\"effect\":\"joins\",\"pool\":\"q\",\"nodes\":1,\"first\":[\"n8\"]}]",
     ""},
};

/* A file with errors is refused with all of them, by their lines. */
static const struct lks_run_row faults[] = {
    {ARGS("fleet", "apply", "DIR/bad.yaml"), 3, "", "/bad.yaml: 3 errors\n"},
    {ARGS("fleet", "apply", "DIR/bad.yaml"), 3, "", "/bad.yaml:7:26: nodes[2].clas: "},
    {ARGS("fleet", "apply", "DIR/bad.yaml"), 3, "", "/bad.yaml:7:5: nodes[2]: "},
    {ARGS("fleet", "apply", "DIR/bad.yaml"), 3, "", "/bad.yaml:8:45: nodes[3].rack: "},
    {ARGS("fleet", "apply", "DIR/one.yaml"), 3, "", "/one.yaml:4:"}, /* not "manifest:4:" */
};

static void test_faults(void)
{
    lks_run_rows(&controller, faults, LKS_COUNT(faults));
}

/* A freeze stops what is proposed, and what is not frozen cannot be unfrozen. */
#define PROPOSE "change", "propose", "--agent=9.9", "--hook=h", "--pool=p", "--reason=x"
static const struct lks_run_row freezes[] = {
    {ARGS("unfreeze", "--reason=x"), 1, "", "nothing is frozen: neither the fleet nor a pool\n"},
    {ARGS("unfreeze", "--pool=p", "--reason=x"), 1, "",
     "pool 'p' is not frozen, and neither is the whole fleet; 'lockstep freeze --list'"},
    {ARGS("freeze", "--pool=p", "--reason=a storm"), 0, "", ""},
    {ARGS("freeze", "--pool=p", "--reason=a storm"), 0, "", ""}, /* again */
    {ARGS("unfreeze", "--reason=x"), 1, "",
     "the whole fleet is not frozen; frozen pools: p; 'lockstep unfreeze --pool POOL'"},
    {ARGS(PROPOSE, "--dry-run"), 0,
     "leave out --dry-run to propose it\nwarning: pool p is frozen by unix:0 since ", ""},
    {ARGS(PROPOSE, "--dry-run"), 0,
     ": a storm\n  no node starts before 'lockstep unfreeze --pool p "
     "--reason TEXT'\n",
     ""},
    {ARGS("freeze", "--reason=an audit"), 0, "the fleet is frozen", ""},
    {ARGS("unfreeze", "--pool=p", "--reason=x"), 0, "", ""},
    {ARGS("unfreeze", "--pool=p", "--reason=x"), 1, "",
     "pool 'p' is not frozen: the whole fleet is, by unix:0 (an audit); 'lockstep unfreeze' "
     "without "
     "--pool ends that"},
    {ARGS(PROPOSE, "--dry-run", "--json"), 0,
     "\"freezes\":[{\"by\":\"unix:0\",\"reason\":\"an audit\"", ""},
    {ARGS(PROPOSE), 0, "warning: the fleet is frozen by unix:0 since ", ""},
    {ARGS("unfreeze", "--reason=over"), 0, "no longer frozen", ""},
    {ARGS(PROPOSE, "--dry-run", "--json"), 0, "\"freezes\":[]", ""},
    /* Days of the fleet's file, for its pools. */
    {ARGS("fleet", "apply", "DIR/days.yaml"), 0, "applied", ""},
    {ARGS(PROPOSE, "--dry-run"), 0,
     "warning: the fleet's file freezes it from 2026-01-01 until 2099-01-01, which includes today: "
     "the turn of the year; no node starts on these days\n",
     ""},
    {ARGS("change", "propose", "--agent=9.9", "--hook=h", "--pool=q", "--dry-run", "--json"), 0,
     "\"freezes\":[]", ""},
};

static void test_freezes(void)
{
    lks_run_rows(&controller, freezes, LKS_COUNT(freezes));
}

static void test_effects(void)
{
    lks_run_rows(&controller, effects, LKS_COUNT(effects));
}

static void test_begin(void)
{
    lks_run_now = (int64_t)time(NULL);
    ctl_init(&controller, "");
    CHECK(ctl_start(&controller));
    lks_tree_file(&controller.tree, "/fleet.yaml", FLEET("p: {posture: dev}", NODE("p")));
    lks_tree_file(&controller.tree, "/one.yaml", FLEET("p: {posture: fast}", NODE("p")));
    lks_tree_file(&controller.tree, "/bad.yaml",
                  FLEET("p: {posture: fast}",
                        "  - {hosts: n8, pool: p, clas: hgx-h200-8}\n"
                        "  - {hosts: n9, pool: p, class: hgx-h200-8, rack: 7}\n"));
    lks_tree_file(&controller.tree, "/strict.yaml",
                  FLEET("p: {posture: dev, enforce: 'on'}, q: {posture: dev}", NODE("q")));
    lks_tree_file(&controller.tree, "/days.yaml",
                  FLEET("p: {posture: dev}, q: {posture: dev}",
                        NODE("q") "freezes: [{from: '2026-01-01', until: '2099-01-01', pools: [p], "
                                  "description: the turn of the year}]\n"));
}

static void test_end(void)
{
    CHECK_INT(ctl_stop(&controller), 0);
    ctl_fini(&controller);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"a controller starts", test_begin},
        {"fleet: the effects of a manifest", test_effects},
        {"fleet: all errors of a manifest", test_faults},
        {"fleet: freezes", test_freezes},
        {"it ends", test_end},
        {0},
    });
}
