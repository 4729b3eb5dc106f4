/* What the gates of a change ask for, as its plan has it: metrics by pools, samples, soaks. */
#include "core/campaign/campaign_gate_plan.h"
#include "tests/manifests.h"
#include "tests/plans.h"
#include "tests/test.h"

#include <stdio.h>

#define BODY(name, driver)                                                                         \
    "---\n" LKS_STACK_HGX(name, "hgx-h100-8", driver, "settings: {unattended_upgrades: false}\n")
#define A                 BODY("a", "580.126.20")
#define B                 BODY("b", "580.130.01")
#define HEAD              "lockstep: 1\nkind: Fleet\nname: f\n"
#define GROUP(h, p, more) "  - {hosts: '" h "', pool: " p ", class: hgx-h100-8" more "}\n"
#define POOL(name, more)  "  " name ": {posture: pre-training, stack: a" more "}\n"
#define HUNDRED(pool)                                                                              \
    HEAD "pools:\n" POOL("train", pool) "nodes:\n" GROUP("g[001-100]", "train", "") A B

#define SPEED(margin) "speed: {query: x, better: higher, margin: " margin ", critical: true}"
#define GATE(more)    ", gate: {metrics: {" SPEED("1") ", sm-clock: {}, xid: {}}" more "}"
#define TWO(first, second)                                                                         \
    HEAD "pools:\n" POOL("train", first)                                                           \
        POOL("serve", second) "nodes:\n" GROUP("g[001-100]", "train", "")                          \
            GROUP("s[01-40]", "serve", "") A B

/* What is asked for, by pools, and the rings of the first; and a note. */
static const struct {
    const char *name, *manifest, *hosts;
    size_t metrics, gates, rings;
    const char *pools; /* of the first metric */
    uint64_t controls; /* of the canary */
    const char *note;
} gates[] = {
    {"no gate", HUNDRED(""), "g[001-100]", 0, 0, 3, NULL, 2, NULL},
    {"a gate, and what its canary can find", HUNDRED(GATE("")), "g[001-100]", 3, 1, 3, "train", 16,
     "evidence: wave 0, canary: 8 nodes with 16 controls do not pass a loss of 0.81 % of sm-clock "
     "with 80 %, and halt one of 1.2 % (nodes differ by 0.5 %, by the preset)"},
    {"a canary of one cannot be compared", HUNDRED(GATE("")), "g[001-003]", 3, 1, 2, "train", 2,
     "wave 0, canary: 1 node with 2 controls: too few to compare sm-clock, a person will have to "
     "decide"},
    {"more controls", HUNDRED(GATE(", controls: 4")), "g[001-100]", 3, 1, 3, "train", 32,
     "wave 3, ring: 69 nodes with 31 controls, some changed before it, do not pass a loss of"},
    {"later ones suffice", HUNDRED(GATE(", controls: 4")), "g[001-100]", 3, 1, 3, "train", 32,
     "wave 2, ring: 18 nodes with 64 controls do not pass a loss of"},
    {"a ring that grows", HUNDRED(GATE(", loss_budget: 2")), "g[001-100]", 3, 1, 1, "train", 16,
     "wave 1, ring: 92 nodes with 8 controls, some changed before it, do not pass a loss of"},
    {"two pools that say the same", TWO(GATE(""), GATE("")), "g[001-100],s[01-40]", 3, 2, 6,
     "train serve", 32, NULL},
    {"one pool of two", TWO(GATE(""), GATE("")), "g[001-100]", 3, 1, 3, "train", 16, NULL},
    {"two that do not say the same", TWO(GATE(""), ", gate: {metrics: {" SPEED("2") "}}"),
     "g[001-100],s[01-40]", 4, 2, 6, "train", 32,
     "wave 0, canary: 8 nodes with 16 controls do not pass a loss of 0.81 % of sm-clock"},
};

static void test_gates(void)
{
    for (size_t i = 0; i < LKS_COUNT(gates); i++) {
        struct plans p;
        lks_test_case("%s", gates[i].name);
        plans_begin(&p, gates[i].manifest);
        const struct lks_plan_wish wish = {
            .hosts = lks_str_from(gates[i].hosts), .stack = LKS_STR("b"), .hook = LKS_STR("site")};
        size_t rings = 0, controls = 0;
        struct lks_err err = {0};
        if (CHECK(plans_make(&p, &wish))) {
            for (size_t k = 0; k < p.plan.wave_count; k++)
                rings += p.plan.waves[k].kind == LKS_WAVE_RING && p.plan.waves[k].soak > 0;
            CHECK_CODE(lks_hostlist_count(p.plan.waves[0].controls, &controls, &err), LKS_OK);
            CHECK_INT(p.plan.metric_count, gates[i].metrics);
            CHECK_INT(p.plan.gate_count, gates[i].gates);
            CHECK_INT(rings, gates[i].rings);
            CHECK_INT(controls, gates[i].controls);
        }
        if (gates[i].pools != NULL)
            CHECK_STR(p.plan.metrics[0].pools, gates[i].pools);
        if (gates[i].note != NULL)
            CHECK_HAS(plans_tell(&p, PLANS_NOTES), gates[i].note);
        plans_end(&p);
    }
}

/* Two pools have a metric of one name, which is one for both only where all that it says is the
 * same: serve's says this. */
#define OWN(more) ", gate: {metrics: {own: {query: x, " more "}}}"
#define MEAN      "better: higher, margin: 1"
#define RATE      "kind: rate, better: lower"
static const struct {
    const char *name, *manifest;
    size_t metrics;
} alike[] = {
    {"the same", TWO(OWN(MEAN), OWN(MEAN)), 1},
    {"another unit", TWO(OWN(MEAN), OWN(MEAN ", unit: domain")), 2},
    {"another margin", TWO(OWN(MEAN), OWN("better: higher, margin: 2")), 2},
    {"better the other way", TWO(OWN(MEAN), OWN("better: lower, margin: 1")), 2},
    {"not critical", TWO(OWN(MEAN), OWN(MEAN ", critical: false")), 2},
    {"measured elsewhere", TWO(OWN(MEAN), OWN(MEAN ", from: accept")), 2},
    {"another kind", TWO(OWN(RATE), OWN("kind: hard, better: lower")), 2},
    {"another normal rate", TWO(OWN(RATE), OWN(RATE ", normal: '0.1'")), 2},
    {"another query", TWO(OWN(MEAN), ", gate: {metrics: {own: {query: z, " MEAN "}}}"), 2},
    {"another name", TWO(OWN(MEAN), ", gate: {metrics: {other: {query: x, " MEAN "}}}"), 2},
};

static void test_gates_alike(void)
{
    for (size_t i = 0; i < LKS_COUNT(alike); i++) {
        struct plans p;
        lks_test_case("%s", alike[i].name);
        plans_begin(&p, alike[i].manifest);
        const struct lks_plan_wish wish = {.hosts = LKS_STR("g[001-100],s[01-40]"),
                                           .stack = LKS_STR("b"),
                                           .hook = LKS_STR("site")};
        if (CHECK(plans_make(&p, &wish)) && CHECK_INT(p.plan.metric_count, alike[i].metrics)) {
            CHECK_STR(p.plan.metrics[0].pools, alike[i].metrics == 1 ? "train serve" : "train");
            if (alike[i].metrics == 2)
                CHECK_STR(p.plan.metrics[1].pools, "serve");
        }
        plans_end(&p);
    }
}

/* Ten racks of four: what a wave can find is told by samples, which are nodes or racks. */
#define RACK(n) GROUP("r" n "n[1-4]", "train", ", domain: r" n)
#define RACKS(more)                                                                                \
    HEAD "pools:\n" POOL("train", ", headroom: 8, gate: {metrics: {sm-clock: {margin: 1" more      \
                                  "}}}") "domains: {r0: {}, r1: {}, r2: {}, r3: {}, r4: {}, r5: "  \
                                         "{}, r6: {}, r7: {}, r8: {}, r9: {}}\nnodes:\n" RACK("0") \
                                             RACK("1") RACK("2") RACK("3") RACK("4") RACK("5")     \
                                                 RACK("6") RACK("7") RACK("8") RACK("9") A B

static void test_gates_count(void)
{
    static const struct {
        const char *name, *manifest, *note;
    } units[] = {
        {"nodes", RACKS(""),
         "wave 3, ring: 24 nodes with 16 controls, some changed before it, do not pass"},
        {"domains", RACKS(", unit: domain"),
         "wave 3, ring: 6 domains with 4 controls, some changed before it, do not pass"},
    };
    for (size_t i = 0; i < LKS_COUNT(units); i++) {
        struct plans p;
        lks_test_case("%s", units[i].name);
        plans_begin(&p, units[i].manifest);
        const struct lks_plan_wish wish = {
            .pool = LKS_STR("train"), .stack = LKS_STR("b"), .hook = LKS_STR("site")};
        if (CHECK(plans_make(&p, &wish)))
            CHECK_HAS(plans_tell(&p, PLANS_NOTES), units[i].note);
        plans_end(&p);
    }
}

/* Where nodes alone have waves apart from the domains of their ring, a gate sees both sorts. */
static void test_gates_see_all(void)
{
    static const struct {
        const char *name, *manifest;
        bool soaks[5]; /* canary, two rings, and the last one in two waves */
    } mixed[] = {
        {"no gate",
         HEAD "pools:\n" POOL("train", ", headroom: 4") "domains: {rack1: {}}\nnodes:\n" GROUP(
             "n[1-8]", "train", "") GROUP("x[1-4]", "train", ", domain: rack1") A B,
         {true, true, true, false, true}},
        {"a gate",
         HEAD
         "pools:\n" POOL("train", ", headroom: 4" GATE("")) "domains: {rack1: {}}\nnodes:\n" GROUP(
             "n[1-8]", "train", "") GROUP("x[1-4]", "train", ", domain: rack1") A B,
         {true, true, true, true, true}},
    };
    for (size_t i = 0; i < LKS_COUNT(mixed); i++) {
        struct plans p;
        lks_test_case("%s", mixed[i].name);
        plans_begin(&p, mixed[i].manifest);
        const struct lks_plan_wish wish = {
            .pool = LKS_STR("train"), .stack = LKS_STR("b"), .hook = LKS_STR("site")};
        if (CHECK(plans_make(&p, &wish)) &&
            CHECK_INT(p.plan.wave_count, LKS_COUNT(mixed[i].soaks))) {
            for (size_t k = 0; k < p.plan.wave_count; k++)
                CHECK_INT(p.plan.waves[k].soak > 0, mixed[i].soaks[k]);
        }
        plans_end(&p);
    }
}

/* A wave is planned to be watched for as long as the gate of its pool will watch it, and the other
 * pool's for as long as the change says. Slices without a soak stay so. */
static void test_gates_lengthen_soaks(void)
{
    static const uint64_t asked = 1800000, least = 2 * 3600000;
    struct plans p;
    plans_begin(&p, TWO(GATE(", min_soak: 2h"), ""));
    const struct lks_plan_wish wish = {.hosts = LKS_STR("g[001-100],s[01-40]"),
                                       .stack = LKS_STR("b"),
                                       .hook = LKS_STR("site"),
                                       .soak = asked};
    if (CHECK(plans_make(&p, &wish))) {
        CHECK_INT(p.plan.waves[0].soak, least);
        for (size_t i = 1; i < p.plan.wave_count; i++) {
            const struct lks_rec_plan_wave *w = &p.plan.waves[i];
            lks_test_case("wave %zu", i);
            if (w->soak > 0)
                CHECK_INT(w->soak, lks_str_is(w->pool, "train") ? least : asked / 4);
        }
    }
    plans_end(&p);
}

#define R(KIND, member, ...)                                                                       \
    &(struct lks_record)                                                                           \
    {                                                                                              \
        .kind = LKS_RECORD_##KIND, .member = {.change = 1, __VA_ARGS__ }                           \
    }

/* What nodes gained that an earlier change left as they were says how far they differ: here 2 % up
 * or down, whatever the preset says. A member of the wave does not count. */
static void test_known_spread(void)
{
    struct plans p;
    plans_begin(&p, HUNDRED(GATE("")));
    lks_asked_apply(&p.a, &(struct lks_record){.kind = LKS_RECORD_CHANGE, .change = {.id = 1}});
    lks_asked_apply(&p.a, R(PLAN_STEP, plan_step, .kind = LKS_DO_RETURN));
    lks_asked_apply(&p.a, R(PLAN_WAVE, plan_wave, .kind = LKS_WAVE_CANARY, .width = 1));
    lks_asked_apply(&p.a, R(PLAN_PART, plan_part, .hosts = LKS_STR("g001")));
    lks_asked_apply(&p.a, R(PLAN_METRIC, plan_metric, .name = LKS_STR("sm-clock")));
    for (unsigned i = 1; i <= 17; i++) {
        char name[8];
        snprintf(name, sizeof(name), "g%03u", i);
        lks_asked_apply(&p.a, R(MEASURED, measured, .node = lks_str_from(name),
                                .metric = LKS_STR("sm-clock"), .before = LKS_STR("100"),
                                .after = i == 1       ? LKS_STR("50")
                                         : i % 2 == 0 ? LKS_STR("102")
                                                      : LKS_STR("98.03921568627451")));
    }
    lks_asked_apply(&p.a, R(CHANGE_MOVED, change_moved, .state = LKS_CHANGE_REJECTED));
    const struct lks_plan_wish wish = {
        .pool = LKS_STR("train"), .stack = LKS_STR("b"), .hook = LKS_STR("site")};
    CHECK(plans_make(&p, &wish));
    CHECK_HAS(plans_tell(&p, PLANS_NOTES), "(nodes differ by 2 %, by earlier changes)");
    plans_end(&p);
}

/* What gates will ask, told from the plan: a line of the answer, "GATE METRIC FROM-TO: LIMIT |
 * WAITS". `silent` nodes, from the first, send no heartbeat. */
#define METRIC(more) ", gate: {metrics: {speed: {query: x, better: higher, margin: 2" more "}}}"
#define XID          ", gate: {metrics: {xid-fatal: {}}}"
#define LOAD(more)   GATE(", min_load_gpu_hours: 4" more)
static const struct {
    const char *name, *manifest, *hosts;
    bool prometheus, load;
    uint32_t silent;
    const char *says, *never; /* NULL: everything may be said */
} asks[] = {
    {"people come first", HUNDRED(""), "g[001-100]", true, true, 0,
     "approval before: 2 approvals for each pool, and a person starts the change |", "evidence"},
    {"waves that say the same are one row", HUNDRED(""), "g[001-100]", true, true, 0,
     "hard failures 0-3: no node of the wave needs manual intervention or has an unknown outcome |",
     NULL},
    {"failures of a wave and of the change", HUNDRED(""), "g[001-100]", true, true, 0,
     "failure count 0-0: no node of the wave and at most 3 of the change fail |", NULL},
    {"a soak", HUNDRED(""), "g[001-100]", true, true, 0,
     "soak 0-0: 2 h have passed since the last node was accepted |", NULL},
    {"acceptance", HUNDRED(""), "g[001-100]", true, true, 0,
     "acceptance 0-3: every node conforms and is healthy after the soak |", "heartbeat"},
    {"acceptance of nodes that are late", HUNDRED(""), "g[001-003]", true, true, 100,
     "1 of 1 nodes send no heartbeat now: the gate holds 1 h after the soak", NULL},
    {"acceptance of a pool that attests", HUNDRED(", attested: true"), "g[001-003]", true, true, 0,
     "healthy and attested after the soak | 1 of 1 nodes are not attested now", NULL},
    {"a mean", HUNDRED(METRIC(", critical: true")), "g[001-100]", true, true, 0,
     "evidence speed 0-3: at most 2 % lower than on controls |", "holds"},
    {"a mean that should be low",
     HUNDRED(", gate: {metrics: {speed: {query: x, better: lower, margin: 2}}}"), "g[001-100]",
     true, true, 0, "at most 2 % higher than on controls |", NULL},
    {"events", HUNDRED(XID), "g[001-100]", true, true, 0,
     "evidence xid-fatal 0-3: no changed node has the event", "holds"},
    {"no source of a critical metric", HUNDRED(METRIC(", critical: true")), "g[001-100]", false,
     true, 0,
     "on controls | no metrics.url is configured: there is no data, and the gate holds after 6 h",
     NULL},
    {"no source, and the gate says how long it waits",
     HUNDRED(", gate: {max_soak: 5h, metrics: {speed: {query: x, better: higher, margin: 2}}}"),
     "g[001-100]", false, true, 0, "there is no data, and the gate holds after 5 h", NULL},
    {"no source of the only metric", HUNDRED(METRIC(", critical: false")), "g[001-100]", false,
     true, 0, "there is no data, and the gate holds after", "does not count"},
    {"no source of one that is not critical, beside one of agents",
     HUNDRED(", gate: {metrics: {speed: {query: x, better: higher, margin: 2, critical: false}, "
             "xid-fatal: {}}}"),
     "g[001-100]", false, true, 0,
     "speed 0-3: at most 2 % lower than on controls | no metrics.url is configured: there is no "
     "data, and the metric, which is not critical, does not count",
     "holds"},
    {"agents that are silent", HUNDRED(XID), "g[001-003]", true, true, 100,
     "xid-fatal 0-0: no changed node has the event, or controls have it, too | 1 of 1 nodes send "
     "no "
     "heartbeat now: the gate holds after 6 h",
     NULL},
    {"load by Prometheus", HUNDRED(LOAD("")), "g[001-100]", true, true, 0,
     "evidence 0-3: every changed node had 4 GPU-hours under load |", "holds"},
    {"no query for load", HUNDRED(LOAD("")), "g[001-100]", true, false, 0,
     "under load | no metrics.load is configured, and a pool has no reference_load: the load is "
     "unknown, and the gate holds after 6 h",
     NULL},
    {"no query, but a reference load", HUNDRED(LOAD(", reference_load: burn")), "g[001-100]", true,
     false, 0, "under load |", "metrics.load"},
    {"another pool's metric", TWO(METRIC(""), ""), "s[01-40]", false, true, 0, "acceptance",
     "evidence"},
};

static void put_asks(const struct lks_gate_plan *plan, struct lks_buf *out)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct lks_gate_planned *row = &plan->rows[i];
        lks_buf_addf(out, "%s ", row->gate);
        if (row->metric != NULL)
            lks_buf_addf(out, "%" LKS_STR_FMT " ", LKS_STR_ARG(row->metric->name));
        if (row->before)
            lks_buf_addf(out, "before: ");
        else
            lks_buf_addf(out, "%u-%u: ", row->from, row->to);
        lks_buf_addf(out, "%" LKS_STR_FMT " | %" LKS_STR_FMT "\n", LKS_STR_ARG(row->limit),
                     LKS_STR_ARG(row->waits));
    }
}

static void test_gates_ask(void)
{
    for (size_t i = 0; i < LKS_COUNT(asks); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1 << 20);
        struct plans p;
        struct lks_gate_plan told;
        struct lks_err err = {0};
        lks_test_case("%s", asks[i].name);
        plans_begin(&p, asks[i].manifest);
        const struct lks_plan_wish wish = {.hosts = lks_str_from(asks[i].hosts),
                                           .stack = LKS_STR("b"),
                                           .hook = LKS_STR("site"),
                                           .failures_max = 3,
                                           .soak = 2 * 3600000};
        for (uint32_t k = 0; k < asks[i].silent && k < p.a.state.node_count; k++)
            p.a.state.nodes[k].liveness = LKS_LATE;
        if (CHECK(plans_make(&p, &wish))) {
            const struct lks_plan *plan = &p.plan;
            const struct lks_gate_plan_of of = {
                &plan->change,    plan->waves,        plan->parts,      plan->metrics,
                plan->gates,      plan->wave_count,   plan->part_count, plan->metric_count,
                plan->gate_count, asks[i].prometheus, asks[i].load};
            CHECK_CODE(lks_campaign_gate_plan(&p.a.state, &of, 1, &p.plan.memory, &told, &err),
                       LKS_OK);
            put_asks(&told, &text);
            CHECK_HAS(lks_buf_view(&text), asks[i].says);
            if (asks[i].never != NULL)
                CHECK(strstr(text.ptr, asks[i].never) == NULL);
        }
        plans_end(&p);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"plan: gates", test_gates},
        {"plan: metrics of one name", test_gates_alike},
        {"plan: samples are nodes or domains", test_gates_count},
        {"plan: gates see nodes alone and domains", test_gates_see_all},
        {"plan: gates lengthen soaks", test_gates_lengthen_soaks},
        {"plan: what gates will ask", test_gates_ask},
        {"plan: how far nodes differ is learned", test_known_spread},
        {0},
    });
}
