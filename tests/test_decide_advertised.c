/* What a scheduler advertises of nodes: a reading of its own, drift where it is not what the stack
 * pins, and no reading at all where there is no scheduler. */
#include "core/actions/sched_book.h"
#include "core/decision/event.h"
#include "core/rows/alarm.h"
#include "core/rows/node.h"
#include "core/rows/verdict.h"
#include "core/state/node_status.h"
#include "tests/fleet.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>

enum { MANIFEST_MAX = 65536, NODES = 20 };

#define BOOT "0f3a7c52-5b1e-4d53-9a38-6c1d2e8f9b10" /* of the tuples in tests/tuples.h */
#define FLEET                                                                                      \
    "---\nlockstep: 1\nkind: Fleet\nname: f\n"                                                     \
    "pools: {train: {posture: pre-training, stack: golden}}\n"                                     \
    "nodes: [{hosts: 'n[1-20]', pool: train, class: hgx-h200-8}]\n"

struct world {
    struct lks_asked asked;
    struct lks_sched_book book;
    struct lks_str golden;
};

static void pool(struct world *w, const char *sched, const char *enforce, const char *acts)
{
    const struct lks_record r = {.kind = LKS_RECORD_POOL,
                                 .pool = {.name = LKS_STR("train"),
                                          .posture = LKS_STR("pre-training"),
                                          .enforce = lks_str_from(enforce),
                                          .sched = lks_str_from(sched),
                                          .on_drift = lks_str_from(acts),
                                          .stack = LKS_STR("golden"),
                                          .stack_digest = w->golden}};
    lks_asked_apply(&w->asked, &r);
}

/* n[1-20], accepted and booted; what they run is not known yet. */
static void make(struct world *w, const char *enforce, const char *acts)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf manifest = LKS_BUF(MANIFEST_MAX);
    *w = (struct world){0};
    lks_asked_init(&w->asked);
    lks_buf_addf(&manifest, "%s%s", lks_test_node_stack, FLEET);
    CHECK_HAS(lks_asked_fleet(&w->asked, manifest.ptr, NULL), "fleet name=f");
    w->golden = lks_str_from(w->asked.manifest.stacks[0].digest);
    pool(w, "slurm", enforce, acts);
    for (unsigned n = 1; n <= NODES; n++) {
        char name[8];
        snprintf(name, sizeof(name), "n%u", n);
        const struct lks_record records[] = {
            {.kind = LKS_RECORD_ENROLLED, .enrolled = {.node = lks_str_from(name)}},
            {.kind = LKS_RECORD_ACCEPTED, .accepted = {.hosts = lks_str_from(name)}},
            {.kind = LKS_RECORD_BOOTED,
             .booted = {.node = lks_str_from(name), .boot = LKS_STR(BOOT)}},
        };
        for (size_t i = 0; i < LKS_COUNT(records); i++)
            lks_asked_apply(&w->asked, &records[i]);
    }
}

static void world_fini(struct world *w)
{
    lks_asked_fini(&w->asked);
    lks_sched_book_fini(&w->book);
}

static void report(struct world *w, const char *name)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    lks_test_tuple(lks_test_node, &t);
    t.node = lks_str_from(name);
    const struct lks_event event = {.kind = LKS_EVENT_TUPLE,
                                    .node = lks_fleet_node(&w->asked, name),
                                    .tuple = {.tuple = &t, .report = LKS_STR("r")}};
    (void)lks_asked(&w->asked, &event);
    CHECK_CODE(w->asked.decision.refused.code, LKS_OK);
}

static struct lks_sched_said answer(const char *gres, enum lks_sched_odd odd)
{
    struct lks_sched_said said = {.known = true, .odd = odd};
    snprintf(said.gres, sizeof(said.gres), "%s", gres);
    return said;
}

/* What came of an answer of the scheduler; verdicts and readings are left to other tests. */
static struct lks_str hear(struct world *w, const char *name, const struct lks_sched_said *said)
{
    uint32_t node = lks_fleet_node(&w->asked, name);
    struct lks_event event;
    if (!lks_sched_advertised(&w->asked.state, node, said, &event))
        return LKS_STR("no news");
    return lks_asked(&w->asked, &event);
}

static enum lks_judged judged(const struct world *w, const char *name)
{
    return lks_state_judged(&w->asked.state, lks_fleet_node(&w->asked, name));
}

static struct lks_str ticks(struct world *w)
{
    struct lks_str told = lks_fleet_tick(&w->asked);
    for (int i = 0; i < NODES && lks_decide_next(&w->asked.state) <= w->asked.now.mono; i++)
        told = lks_fleet_tick(&w->asked);
    return told;
}

/* From right to wrong and back, and what admission and the metrics make of it. */
static void test_differs(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    const struct lks_sched_said eight = answer("gpu:h200:8", LKS_SCHED_ODD_NOTHING),
                                seven = answer("gpu:h200:7", LKS_SCHED_ODD_NOTHING),
                                odd = answer("gpu:h200:8", LKS_SCHED_ODD_REGISTERED);
    make(&w, "on", "alarm");
    const struct lks_state *s = &w.asked.state;
    report(&w, "n1");
    CHECK_INT(judged(&w, "n1"), LKS_JUDGED_CONFORMS);
    lks_test_case("as pinned");
    CHECK_HAS(hear(&w, "n1", &eight), "advertised node=n1 gres=gpu:h200:8 whole=sha256:");
    CHECK_INT(judged(&w, "n1"), LKS_JUDGED_CONFORMS);
    CHECK_STR(hear(&w, "n1", &eight), "no news");
    lks_test_case("one fewer");
    CHECK_HAS(hear(&w, "n1", &seven), "advertised node=n1 gres=gpu:h200:7 whole=sha256:");
    CHECK_INT(judged(&w, "n1"), LKS_JUDGED_DRIFT);
    CHECK(lks_sched_gres_differs(s, 0));
    CHECK((lks_node_status_bars(s, 0, w.asked.now.wall) >> LKS_BAR_DRIFT & 1) != 0);
    CHECK_HAS(ticks(&w), "cause=scheduler differs text=scheduler.gres: gpu:h200:7, pinned gpu:8");
    lks_test_case("its agent reports again");
    report(&w, "n1");
    CHECK_INT(judged(&w, "n1"), LKS_JUDGED_DRIFT);
    lks_test_case("as pinned again");
    (void)hear(&w, "n1", &eight);
    CHECK_INT(judged(&w, "n1"), LKS_JUDGED_CONFORMS);
    CHECK((lks_node_status_bars(s, 0, w.asked.now.wall) >> LKS_BAR_DRIFT & 1) == 0);
    CHECK_HAS(ticks(&w), "it conforms again");
    lks_test_case("registered with less");
    CHECK_HAS(hear(&w, "n1", &odd), "state=the node registered with less whole=");
    CHECK_INT(judged(&w, "n1"), LKS_JUDGED_DRIFT);
    lks_test_case("the scheduler advertises no GPUs");
    const struct lks_sched_said none = answer("", LKS_SCHED_ODD_NOTHING);
    CHECK_HAS(hear(&w, "n1", &none), "advertised node=n1 whole=sha256:");
    CHECK_INT(judged(&w, "n1"), LKS_JUDGED_CONFORMS);
    CHECK(!lks_sched_gres_differs(s, 0));
}

/* A scheduler alone makes no reading of a node that never reported, and an agent that reports later
 * is judged with it. */
static void test_before_the_agent(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    const struct lks_sched_said seven = answer("gpu:7", LKS_SCHED_ODD_NOTHING);
    make(&w, "on", "alarm");
    CHECK_STR(hear(&w, "n1", &seven), "advertised node=n1 gres=gpu:7\n");
    CHECK_INT(judged(&w, "n1"), LKS_JUDGED_NOT);
    CHECK_INT(w.asked.state.nodes[0].whole, 0);
    report(&w, "n1");
    CHECK_INT(judged(&w, "n1"), LKS_JUDGED_DRIFT);
}

/* A node whose pool has no scheduler any more, that Slurm does not know any more, or that left the
 * fleet is not judged by it. */
static void test_ends(void)
{
    static const char *const ways[] = {"the pool has no scheduler", "Slurm does not know the node",
                                       "the node is replaced"};
    for (size_t i = 0; i < LKS_COUNT(ways); i++) {
        LKS_CLEANUP(world_fini) struct world w = {0};
        const struct lks_sched_said seven = answer("gpu:7", LKS_SCHED_ODD_NOTHING),
                                    unknown = {.known = false};
        struct lks_event event;
        lks_test_case("%s", ways[i]);
        make(&w, "on", "alarm");
        report(&w, "n1");
        (void)hear(&w, "n1", &seven);
        CHECK_INT(judged(&w, "n1"), LKS_JUDGED_DRIFT);
        CHECK(!lks_sched_withdrawn(&w.asked.state, 0, &event));
        if (i == 0) {
            pool(&w, "none", "on", "alarm");
            CHECK(lks_sched_withdrawn(&w.asked.state, 0, &event));
            CHECK_HAS(lks_asked(&w.asked, &event), "advertised node=n1 whole=sha256:");
            CHECK(!lks_sched_withdrawn(&w.asked.state, 0, &event));
            CHECK_STR(hear(&w, "n1", &seven), "no news"); /* a late answer */
        } else if (i == 1) {
            CHECK_HAS(hear(&w, "n1", &unknown), "advertised node=n1 whole=sha256:");
        } else {
            const struct lks_record r = {.kind = LKS_RECORD_REPLACED,
                                         .replaced = {.node = LKS_STR("n1")}};
            lks_asked_apply(&w.asked, &r);
            report(&w, "n1");
        }
        CHECK_INT(w.asked.state.nodes[0].scheduler_gres, 0);
        CHECK_INT(judged(&w, "n1"), LKS_JUDGED_CONFORMS);
    }
}

/* A line of slurm.conf that is wrong for a pool: states are recorded, and nothing is drained. */
static void test_mass(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    const struct lks_sched_said seven = answer("gpu:7", LKS_SCHED_ODD_NOTHING);
    make(&w, "on", "alarm drain");
    for (unsigned n = 1; n <= NODES; n++) {
        char name[8];
        snprintf(name, sizeof(name), "n%u", n);
        report(&w, name);
        (void)hear(&w, name, &seven);
    }
    (void)ticks(&w);
    unsigned drained = 0, drifting = 0;
    for (unsigned n = 0; n < NODES; n++) {
        drained += w.asked.state.nodes[n].drained_by != 0;
        drifting += w.asked.state.nodes[n].drifting;
    }
    CHECK_INT(drifting, NODES);
    CHECK(drained <= 10);
    unsigned mass = 0;
    for (uint32_t i = 0; i < w.asked.state.alarm_count; i++)
        mass += w.asked.state.alarms[i].kind == LKS_ALARM_MASS;
    CHECK_INT(mass, 1);
}

/* What came of an answer that says why no job starts there. */
static struct lks_str hear_outage(struct world *w, const char *outage)
{
    struct lks_sched_said said = {.known = true};
    struct lks_event event;
    snprintf(said.outage, sizeof(said.outage), "%s", outage);
    lks_sched_book_heard(&w->book, 0, LKS_STR("slurm"), &said, w->asked.now, 1);
    if (!lks_sched_book_outage(&w->book, &w->asked.state, 0, &event))
        return LKS_STR("no news");
    return lks_asked(&w->asked, &event);
}

/* It is noted once, and ends. A node that lockstep drains is down while it reboots: that is none.
 */
static void test_outage(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    const struct lks_record drained = {
        .kind = LKS_RECORD_DRAINED,
        .drained = {.node = LKS_STR("n1"), .owner = LKS_STR("change:1"), .reason = LKS_STR("x")}};
    const struct lks_record open = {
        .kind = LKS_RECORD_UNDRAINED,
        .undrained = {.node = LKS_STR("n1"), .owner = LKS_STR("change:1"), .reason = LKS_STR("x")}};
    struct lks_sched_due due[NODES];
    const struct lks_facts facts = {0};
    struct lks_event event;
    struct lks_err err = {0};
    uint32_t count = 0;
    make(&w, "on", "alarm");
    CHECK_CODE(lks_sched_book_due(&w.book, &w.asked.state, &facts, 1, NODES, due, &count, &err),
               LKS_OK);
    CHECK_STR(hear_outage(&w, ""), "no news");
    CHECK_STR(hear_outage(&w, "down"), "noted node=n1 note=outage on=1 text=down\n");
    CHECK_STR(hear_outage(&w, "in maintenance"), "no news");
    lks_asked_apply(&w.asked, &drained);
    CHECK_STR(hear_outage(&w, ""), "noted node=n1 note=outage\n");
    CHECK_STR(hear_outage(&w, "down"), "no news");
    lks_asked_apply(&w.asked, &open);
    CHECK_STR(hear_outage(&w, "in maintenance"),
              "noted node=n1 note=outage on=1 text=in maintenance\n");
    CHECK(!lks_sched_withdrawn(&w.asked.state, 0, &event));
    pool(&w, "none", "on", "alarm");
    CHECK(lks_sched_withdrawn(&w.asked.state, 0, &event));
    CHECK_STR(lks_asked(&w.asked, &event), "noted node=n1 note=outage\n");
    CHECK(!lks_sched_withdrawn(&w.asked.state, 0, &event));
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"advertised: other GPUs than pinned", test_differs},
        {"advertised: before the agent reports", test_before_the_agent},
        {"advertised: the end of it", test_ends},
        {"advertised: many nodes at once", test_mass},
        {"an outage in the scheduler", test_outage},
        {0},
    });
}
