#include "core/rows/node.h"
#include "core/rows/registry.h"
#include "core/state/lookup.h"
#include "tests/manifests.h"
#include "tests/plans.h"
#include "tests/test.h"

#include <stdio.h>

#define BODY(name, driver, settings, more)                                                         \
    "---\n" LKS_STACK_HGX(name, "hgx-h100-8, hgx-h200-8", driver,                                  \
                          more "settings: {unattended_upgrades: false" settings "}\n")
#define A                 BODY("a", "580.126.20", "", "")
#define B                 BODY("b", "580.130.01", "", "")
#define HEAD              "lockstep: 1\nkind: Fleet\nname: f\n"
#define GROUP(h, p, more) "  - {hosts: '" h "', pool: " p ", class: hgx-h100-8" more "}\n"
#define POOL(name, more)  "  " name ": {posture: pre-training, stack: a" more "}\n"
#define TEN               "pools:\n" POOL("train", "") "nodes:\n" GROUP("g[0-9]", "train", "") A B

#define LONG_NAME "gpu-node-with-a-rather-long-name"

/* Small fleets, and everything that is planned for them but the steps. */
static const struct {
    const char *name, *manifest;
    const char *hosts, *pool;
    const char *told;
} rows[] = {
    {"one node", HEAD "pools:\n" POOL("train", "") "nodes:\n" GROUP("g1", "train", "") A B, NULL,
     "train",
     "wave 0: canary of train, 1 at a time\npart of wave 0: g1 by recipe 0, proves\ncapacity: "
     "pool train: at least 0 of 1 node stay in service; the largest gang on one stack is 0 at "
     "the least, after about 0 h\n"},
    {"ten of a kind: one canary, then three rings", HEAD TEN, NULL, "train",
     "wave 0: canary of train, 1 at a time, beside g[1-2]\nwave 1: ring of train, 1 at a time, "
     "beside g[2-3]\nwave 2: ring of train, 1 at a time, beside g[4-7]\nwave 3: ring of train, 1 "
     "at a time\npart of wave 0: g0 by recipe 0, proves\npart of wave 1: g1 by recipe 0\npart of "
     "wave 2: g[2-3] by recipe 0\npart of wave 3: g[4-9] by recipe 0\ncapacity: pool train: at "
     "least 9 of 10 nodes stay in service; the largest gang on one stack is 5 at the least, "
     "after about 5 h\n"},
    {"some hosts", HEAD TEN, "g[3,5]", NULL,
     "wave 0: canary of train, 1 at a time, beside g5\nwave 1: ring of train, 1 at a time\npart "
     "of wave 0: g3 by recipe 0, proves\npart of wave 1: g5 by recipe 0\nwarning: pool train "
     "stays pinned to a, for 8 nodes of it are not among these: when this is finished, drift "
     "from that pin is g[3,5]\ncapacity: pool train: at least 9 of 10 nodes stay in service; the "
     "largest gang on one stack is 8 at the least, after about 2 h\n"},
    {"every combination has its canary, and a rack its quarter",
     HEAD "pools:\n" POOL("train", "") "nodes:\n" GROUP("a[1-8]", "train",
                                                        ", hardware_revision: A, supplier: s1, "
                                                        "rack: R1")
         GROUP("b[1-8]", "train", ", hardware_revision: B, supplier: s1, rack: R1")
             GROUP("c[1-4]", "train", ", hardware_revision: B, supplier: s2, rack: R2") A B,
     NULL, "train",
     "wave 0: canary of train, 2 at a time, beside a[2-3],b[2-3],c[2-3]\n"
     "wave 1: ring of train, 1 at a time, beside a[3-4]\n"
     "wave 2: ring of train, 2 at a time, beside a[5-8],c[3-4]\n"
     "wave 3: ring of train, 1 at a time, beside c4\n"
     "wave 4: ring of train, 2 at a time\n"
     "part of wave 0: a1 by recipe 0, proves\n"
     "part of wave 0: c1 by recipe 0\n"
     "part of wave 0: b1 by recipe 0\n"
     "part of wave 1: a2 by recipe 0\n"
     "part of wave 2: a3,c2 by recipe 0\n"
     "part of wave 2: a4 by recipe 0\n"
     "part of wave 3: c3 by recipe 0\n"
     "part of wave 4: a5,c4 by recipe 0\n"
     "part of wave 4: a6 by recipe 0\n"},
    {"the lab first, then the least critical pool",
     HEAD "pools:\n" POOL("train", ", criticality: 90")
         POOL("batch", ", criticality: 20") "  lab: {posture: dev, stack: a}\nnodes:\n" GROUP(
             "t[1-2]", "train", "") GROUP("b[1-2]", "batch", "") GROUP("l1", "lab", "") A B,
     "t[1-2],b[1-2],l1", NULL,
     "wave 0: lab of lab, 1 at a time\n"
     "wave 1: canary of several, 2 at a time, beside b2,t2\n"
     "wave 2: ring of batch, 1 at a time\n"
     "wave 3: ring of train, 1 at a time\n"
     "part of wave 0: l1 by recipe 1, proves\n"
     "part of wave 1: b1,t1 by recipe 0\n"
     "part of wave 2: b2 by recipe 0\n"
     "part of wave 3: t2 by recipe 0\n"},
    {"a domain goes as one",
     HEAD "pools:\n" POOL("train", "") "domains: {d1: {}, d2: {}, d3: {}}\nnodes:\n" GROUP(
         "x[1-4]", "train", ", domain: d1") GROUP("y[1-4]", "train", ", domain: d2")
         GROUP("z[1-4]", "train", ", domain: d3") "assets: [{hosts: sw1, class: switch-tray, "
                                                  "domain: d1}]\n" A B,
     NULL, "train",
     "wave 0: canary of train, 1 at a time, beside y[1-4],z[1-4]\n"
     "wave 1: ring of train, 1 at a time, beside z[1-4]\n"
     "wave 2: ring of train, 1 at a time\n"
     "part of wave 0: x[1-4] by recipe 0, proves, domain d1\n"
     "part of wave 1: y[1-4] by recipe 0, domain d2\n"
     "part of wave 2: z[1-4] by recipe 0, domain d3\n"},
    {"a domain among nodes alone, which are not kept by it",
     HEAD "pools:\n" POOL("train", ", headroom: 4") "domains: {rack1: {}}\nnodes:\n" GROUP(
         "n[1-8]", "train", "") GROUP("x[1-4]", "train", ", domain: rack1") A B,
     NULL, "train",
     "wave 0: canary of train, 1 at a time, beside n[2-3]\nwave 1: ring of train, 1 at a time, "
     "beside n[3-4]\nwave 2: ring of train, 1 at a time, beside n[4-5]\nwave 3: ring of train, 4 "
     "at a time, beside x[1-4]\nwave 4: ring of train, 1 at a time\npart of wave 0: n1 by recipe "
     "0, proves\npart of wave 1: n2 by recipe 0\npart of wave 2: n3 by recipe 0\npart of wave 3: "
     "n[4-8] by recipe 0\npart of wave 4: x[1-4] by recipe 0, domain rack1\ncapacity: pool "
     "train: at least 8 of 12 nodes stay in service; the largest gang on one stack is 4 at the "
     "least, after about 4 h\n"},
    {"a domain with the name of a node that is not in it",
     HEAD "pools:\n" POOL("train", "") "domains: {n1: {}}\nnodes:\n" GROUP("n[1-2]", "train", "")
         GROUP("a1,x1", "train", ", domain: n1") A B,
     NULL, "train",
     "part of wave 0: n1 by recipe 0, proves\n"
     "part of wave 1: a1,x1 by recipe 0, domain n1\n"
     "part of wave 2: n2 by recipe 0\n"},
    {"a domain whose nodes come behind the node of its name",
     HEAD "pools:\n" POOL("train", "") "domains: {n1: {}}\nnodes:\n" GROUP("n[1-2]", "train", "")
         GROUP("x[1-2]", "train", ", domain: n1") A B,
     NULL, "train",
     "part of wave 0: n1 by recipe 0, proves\n"
     "part of wave 1: x[1-2] by recipe 0, domain n1\n"
     "part of wave 2: n2 by recipe 0\n"},
    {"a planned stop is used",
     HEAD "outages: [{hosts: 'g[7-8]', from: '2030-01-01T00:00:00Z', until: "
          "'2030-01-02T00:00:00Z'}, {hosts: g6, from: '1970-01-01T00:00:00Z', until: "
          "'1970-01-01T00:00:01Z'}]\n" TEN,
     NULL, "train",
     "wave 0: canary of train, 1 at a time, beside g[1-2]\n"
     "wave 1: ring of train, 1 at a time, beside g[1,8]\n"
     "wave 2: ring of train, 1 at a time, beside g[2-5]\n"
     "wave 3: ring of train, 1 at a time\n"
     "part of wave 0: g0 by recipe 0, proves\n"
     "part of wave 1: g7 by recipe 0\n"
     "part of wave 2: g8 by recipe 0\n"
     "part of wave 2: g1 by recipe 0\n"
     "part of wave 3: g[2-6,9] by recipe 0\n"},

    /* No. */
    {"nobody", HEAD TEN, NULL, NULL, "invalid: name either hosts or a pool\n"},
    {"both", HEAD TEN, "g1", "train", "invalid: name either hosts or a pool\n"},
    {"no such node", HEAD TEN, "g[8-10]", NULL,
     "not-found: no node 'g10' in the fleet; did you mean 'g0'?\n"},
    {"no such pool", HEAD TEN, NULL, "trian",
     "not-found: no pool 'trian' in the fleet; did you mean 'train'?\n"},
    {"a bad list", HEAD TEN, "g[1", NULL,
     "invalid: hosts: character 2: this bracket is never closed\n"},
    {"half a domain",
     HEAD "pools:\n" POOL("train", "") "domains: {d1: {}}\nnodes:\n" GROUP("x[1-4]", "train",
                                                                           ", domain: d1") A B,
     "x[1-3]", NULL, "refused: domain d1 changes as one: name x4 of it, too, or none of it\n"},
    {"a quarter of a domain",
     HEAD "pools:\n" POOL("train", "") "domains: {d1: {}}\nnodes:\n" GROUP("x[1-4]", "train",
                                                                           ", domain: d1") A B,
     "x2", NULL, "refused: domain d1 changes as one: name x[1,3-4] of it, too, or none of it\n"},
    {"most of a domain whose names do not fit into a line",
     HEAD "pools:\n" POOL("train", "") "domains: {d1: {}}\nnodes:\n" GROUP(
         "a1b[1-9]c,x[1-40]y[1-2]", "train", ", domain: d1") A B,
     "x1y1", NULL, "refused: domain d1 changes as one: name 88 nodes, x19y2 the first of it, too"},
    {"an asset alone",
     HEAD "pools:\n" POOL("train", "") "domains: {d1: {}}\nnodes:\n" GROUP(
         "x[1-4]", "train",
         ", domain: d1") "assets: [{hosts: sw1, class: switch-tray, domain: d1}]\n" A B,
     "sw1", NULL, "refused: domain d1 changes as one: name x[1-4] of it, too, or none of it\n"},
    {"there already",
     HEAD "pools:\n  train: {posture: pre-training, stack: b}\nnodes:\n" GROUP("g1", "train", "") B,
     NULL, "train", "refused: nothing to do: all of them should run b already\n"},
    {"pinned to nothing",
     HEAD "pools:\n  train: {posture: pre-training}\nnodes:\n" GROUP("g1", "train", "") B, NULL,
     "train",
     "refused: g1 has no stack that it should run now; pin its pool to what it runs first, with "
     "'lockstep fleet apply'\n"},
    {"another class",
     HEAD
     "pools:\n" POOL("train", "") "nodes: [{hosts: g1, pool: train, class: l40s-pcie-8}]\n" A B,
     NULL, "train", "refused: g1 is of class l40s-pcie-8, which b is not for\n"},
    {"a domain that is more than a pool can spare",
     HEAD "pools:\n" POOL("train", ", headroom: 3") "domains: {d1: {}}\nnodes:\n" GROUP(
         "x[1-4]", "train", ", domain: d1") A B,
     NULL, "train",
     "refused: pool train can do without 3 of its nodes at a time, and one unit of it has 4; its "
     "headroom and minimum capacity say so\n"},
};

static struct lks_str text(const char *said)
{
    return lks_str_from(said != NULL ? said : "");
}

static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct plans p;
        lks_test_case("%s", rows[i].name);
        plans_begin(&p, rows[i].manifest);
        struct lks_plan_wish wish = {.hosts = text(rows[i].hosts),
                                     .pool = text(rows[i].pool),
                                     .stack = LKS_STR("b"),
                                     .hook = LKS_STR("site")};
        (void)plans_make(&p, &wish);
        (void)CHECK_HAS(plans_tell(&p, PLANS_WAVES | PLANS_PARTS | PLANS_NOTES), rows[i].told);
        plans_end(&p);
    }
}

/* What a node truly runs -------------------------------------------------------------------- */

/* It is read so that it conforms to one of the stacks and not to the other, and is brought to what
 * it runs by a change that is over. */
static void run_stack(struct plans *p, const char *node, const char *runs, const char *other)
{
    struct lks_str its = {0}, not_its = {0}, name = lks_str_from(node);
    const struct lks_state *s = &p->a.state;
    struct lks_str boot = lks_state_text(s, s->nodes[lks_state_node(s, name)].boot);
    for (uint32_t i = 0; i < s->stack_count; i++) {
        struct lks_str digest = lks_state_text(s, s->stacks[i].digest);
        its = lks_str_is(lks_state_text(s, s->stacks[i].name), runs) ? digest : its;
        not_its = lks_str_is(lks_state_text(s, s->stacks[i].name), other) ? digest : not_its;
    }
    struct lks_rec_condition changing = {
        .node = name, .condition = LKS_CONDITION_CHANGING, .on = true, .stack = its};
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_CONDITION, .condition = changing},
        {.kind = LKS_RECORD_BASIS, .basis = {.digest = name, .readings = LKS_STR("x\n")}},
        {.kind = LKS_RECORD_VERDICT,
         .verdict = {.basis = name, .stack = its, .judged = LKS_JUDGED_CONFORMS}},
        {.kind = LKS_RECORD_VERDICT,
         .verdict = {.basis = name, .stack = not_its, .judged = LKS_JUDGED_DRIFT, .drifted = 1}},
        {.kind = LKS_RECORD_TUPLE,
         .tuple = {.node = name, .boot = boot, .basis = name, .whole = name}},
        {.kind = LKS_RECORD_CONDITION,
         .condition = {.node = name, .condition = LKS_CONDITION_CHANGING}},
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        lks_asked_apply(&p->a, &records[i]);
}

/* What a change of a part left behind can be brought back, and counts where the rest follows. */
static void test_sources(void)
{
    static const struct {
        const char *name, *hosts, *to, *told;
    } left[] = {
        {"back to what its pool pins", "g3", "a", "part of wave 0: g3 by recipe 0, proves\n"},
        {"those that are there are left alone", "g[3-4]", "a",
         "warning: 1 of them should run it already\n"},
        {"it has what is asked for", "g3", "b",
         "refused: nothing to do: g3 runs b already, and its pool is pinned to another stack"},
        {"the rest of the pool: it will be pinned, and nobody is told of drift", "g[0-2,4-9]", "b",
         "part of wave 3: g[4-9] by recipe 0\ncapacity: "},
    };
    for (size_t i = 0; i < LKS_COUNT(left); i++) {
        struct plans p;
        lks_test_case("%s", left[i].name);
        plans_begin(&p, HEAD TEN);
        run_stack(&p, "g3", "b", "a");
        const struct lks_plan_wish wish = {
            .hosts = text(left[i].hosts), .stack = text(left[i].to), .hook = LKS_STR("site")};
        (void)plans_make(&p, &wish);
        (void)CHECK_HAS(plans_tell(&p, PLANS_PARTS | PLANS_NOTES), left[i].told);
        plans_end(&p);
    }
}

static void test_held(void)
{
    struct plans p;
    plans_begin(&p, HEAD TEN);
    static const struct lks_record held = {
        .kind = LKS_RECORD_HELD,
        .held = {.node = LKS_STR_C("g2"), .by = LKS_STR_C("kim"), .reason = LKS_STR_C("fan")}};
    lks_asked_apply(&p.a, &held);
    const struct lks_plan_wish wish = {
        .pool = LKS_STR("train"), .stack = LKS_STR("b"), .hook = LKS_STR("site")};
    CHECK(plans_make(&p, &wish));
    (void)CHECK_HAS(plans_tell(&p, PLANS_NOTES),
                    "warning: on hold by a person, and waited for before they start: g2\n");
    plans_end(&p);
}

/* A scheduler is asked through the bridge of the node's site: without one there is no plan. */
static void test_bridges(void)
{
#define BRIDGE(sched, site)                                                                        \
    {                                                                                              \
        LKS_STR_C(sched), LKS_STR_C(site)                                                          \
    }
    static const struct lks_plan_bridge fra[] = {BRIDGE("slurm", "fra")},
                                        oslo[] = {BRIDGE("slurm", "oslo")},
                                        every[] = {BRIDGE("slurm", "*")},
                                        other[] = {BRIDGE("kubernetes", "fra")};
    static const char refused[] = "refused: g1 drains through slurm, and no bridge to it is "
                                  "configured for site 'fra'; add one to slurm.bridges in "
                                  "lockstepd.yaml\n";
    static const struct {
        const char *name;
        const struct lks_plan_bridge *bridges;
        size_t count;
        const char *told;
    } bridged[] = {
        {"every scheduler can be asked", NULL, 0, "wave 0"},
        {"that of its site", fra, 1, "wave 0"},
        {"that of every site", every, 1, "wave 0"},
        {"that of another site", oslo, 1, refused},
        {"that of another scheduler", other, 1, refused},
        {"none", oslo, 0, refused},
    };
    for (size_t i = 0; i < LKS_COUNT(bridged); i++) {
        struct plans p;
        lks_test_case("%s", bridged[i].name);
        plans_begin(&p, HEAD
                    "sites: {fra: {}}\npools:\n" POOL("train", ", sched: slurm") "nodes:\n" GROUP(
                        "g1", "train", ", site: fra") A B);
        const struct lks_plan_wish wish = {.pool = LKS_STR("train"),
                                           .stack = LKS_STR("b"),
                                           .hook = LKS_STR("site"),
                                           .bridges = bridged[i].bridges,
                                           .bridge_count = bridged[i].count};
        (void)plans_make(&p, &wish);
        (void)CHECK_HAS(plans_tell(&p, PLANS_WAVES | PLANS_NOTES), bridged[i].told);
        plans_end(&p);
    }
}

/* How many may be out together, by what the fleet's file says of pool and zones. */
#define HUNDRED(pool, more)                                                                        \
    HEAD "sites: {fra: {}}\npower_zones: {z: {site: fra" more "}}\npools:\n" POOL(                 \
        "train", pool) "nodes:\n" GROUP("g[001-100]", "train", ", power_zone: z") A B

static const struct {
    const char *name, *manifest;
    uint64_t width;   /* of the last ring */
    const char *text; /* the limit that decided it */
    const char *note; /* among the notes; or NULL */
} widths[] = {
    {"a tenth, where nothing is said", HUNDRED("", ""), 10,
     "a tenth of the 100 nodes of pool train", NULL},
    {"headroom", HUNDRED(", headroom: 25", ""), 25, "headroom of pool train: 25", NULL},
    {"minimum capacity", HUNDRED(", min_capacity_percent: 97", ""), 3,
     "minimum capacity of pool train: 97 %", NULL},
    {"the stricter of both", HUNDRED(", headroom: 2, min_capacity_percent: 90", ""), 2,
     "headroom of pool train: 2", NULL},
    {"a gang that fits into half of it", HUNDRED(", headroom: 30, min_gang: 48", ""), 4,
     "gang of pool train: 48 nodes on either stack",
     "the largest gang on one stack is 48 at the least"},
    {"a gang that cannot be kept", HUNDRED(", headroom: 30, min_gang: 60", ""), 30,
     "headroom of pool train: 30",
     "its min_gang of 60 nodes cannot be kept while one part has the old stack and the other the "
     "new one; the largest gang is 35 for a while"},
    {"the feed bears three at once", HUNDRED(", node_power_w: 10000", ", ramp_kw: 39"), 3,
     "feed of power zone z: steps of 39 kW", NULL},
    {"the feed does not bear one", HUNDRED(", node_power_w: 10000", ", ramp_kw: 9"), 1,
     "feed of power zone z: steps of 9 kW",
     "power zone z: one unit draws 10000 W when it returns, and the zone bears steps of 9 kW"},
    {"minimum capacity that is stricter", HUNDRED(", headroom: 9, min_capacity_percent: 97", ""), 3,
     "minimum capacity of pool train: 97 %", NULL},
    {"a pool that can do without all of them", HUNDRED(", headroom: 99", ""), 74,
     "all units of the wave", NULL},
    {"a ramp without a draw says nothing", HUNDRED("", ", ramp_kw: 9"), 10,
     "a tenth of the 100 nodes of pool train", NULL},
};

static void test_widths(void)
{
    for (size_t i = 0; i < LKS_COUNT(widths); i++) {
        struct plans p;
        lks_test_case("%s", widths[i].name);
        plans_begin(&p, widths[i].manifest);
        const struct lks_plan_wish wish = {
            .pool = LKS_STR("train"), .stack = LKS_STR("b"), .hook = LKS_STR("site")};
        if (CHECK(plans_make(&p, &wish))) {
            (void)CHECK_INT(p.plan.waves[p.plan.wave_count - 1].width, widths[i].width);
            (void)CHECK_STR(p.plan.waves[p.plan.wave_count - 1].width_text, widths[i].text);
        }
        if (widths[i].note != NULL)
            (void)CHECK_HAS(plans_tell(&p, PLANS_NOTES), widths[i].note);
        plans_end(&p);
    }
}

/* Limits that other waves have, or by more than the fleet's file. */
#define DOMAINS                                                                                    \
    GROUP("a[1-4]", "train", ", domain: d1")                                                       \
    GROUP("b[1-4]", "train", ", domain: d2")                                                       \
    GROUP("c[1-4]", "train", ", domain: d3") GROUP("d[1-4]", "train", ", domain: d4")

static const struct {
    const char *name, *manifest, *held;
    struct lks_plan_wish wish;
    bool canary; /* that wave; else the last */
    uint64_t width;
    const char *text;
} limits[] = {
    {"nodes that are out already count",
     HUNDRED(", headroom: 5", ""),
     "g099",
     {0},
     false,
     4,
     "headroom of pool train: 5, less 1 out of service"},
    {"at least one, whatever is out",
     HUNDRED(", headroom: 1", ""),
     "g099",
     {0},
     false,
     1,
     "headroom of pool train: 1, less 1 out of service"},
    {"domains change whole",
     HEAD "domains: {d1: {}, d2: {}, d3: {}, d4: {}}\n"
          "pools:\n" POOL("train", ", headroom: 5") "nodes:\n" DOMAINS A B,
     NULL,
     {.canary_max = 4},
     false,
     1,
     "headroom of pool train: 5, in units of 4 nodes"},
    {"a canary in one rack",
     HEAD "pools:\n" POOL("train", ", headroom: 3") "nodes:\n" GROUP(
         "a[1-2]", "train", ", rack: r1, hardware_revision: A")
         GROUP("b[1-2]", "train", ", rack: r1, hardware_revision: B") A B,
     NULL,
     {0},
     true,
     1,
     "a quarter of rack r1"},
    {"a class that is more careful",
     HUNDRED(", headroom: 8", ""),
     NULL,
     {.class = LKS_STR_C("power-fabric")},
     false,
     4,
     "headroom of pool train: 8; 50 % of that by class power-fabric"},
    {"agents",
     HUNDRED("", ""),
     NULL,
     {.kind = LKS_CHANGE_AGENT, .stack = LKS_STR_C("1.2.0")},
     false,
     8,
     "a tenth of the wave, as for every agent"},
};

static void test_limits(void)
{
    for (size_t i = 0; i < LKS_COUNT(limits); i++) {
        struct plans p;
        struct lks_plan_wish wish = limits[i].wish;
        lks_test_case("%s", limits[i].name);
        plans_begin(&p, limits[i].manifest);
        struct lks_record held = {.kind = LKS_RECORD_HELD,
                                  .held = {.by = LKS_STR("kim"), .reason = LKS_STR("fan")}};
        if (limits[i].held != NULL) {
            held.held.node = lks_str_from(limits[i].held);
            lks_asked_apply(&p.a, &held);
        }
        wish.pool = LKS_STR("train");
        wish.stack = wish.stack.len > 0 ? wish.stack : LKS_STR("b");
        wish.hook = LKS_STR("site");
        if (CHECK(plans_make(&p, &wish))) {
            const struct lks_rec_plan_wave *w =
                &p.plan.waves[limits[i].canary ? 0 : p.plan.wave_count - 1];
            (void)CHECK_INT(w->width, limits[i].width);
            (void)CHECK_STR(w->width_text, limits[i].text);
        }
        plans_end(&p);
    }
}

/* A higher power limit is paid by the zone. */
static const struct {
    const char *name, *budget, *draw, *before, *after, *told;
} powers[] = {
    {"within the budget", ", budget_kw: 1280", ", node_power_w: 10000", "500", "700", "wave 0"},
    {"beyond it", ", budget_kw: 1100", ", node_power_w: 10000", "500", "700",
     "refused: power zone z: with the new power limit its nodes can draw 1160 kW, and its budget "
     "is 1100 kW\n"},
    {"less than before is always good", ", budget_kw: 1", ", node_power_w: 10000", "700", "500",
     "wave 0"},
    {"a zone without a budget", "", ", node_power_w: 10000", "500", "700", "wave 0"},
};

static void test_powers(void)
{
    for (size_t i = 0; i < LKS_COUNT(powers); i++) {
        struct plans p;
        char manifest[8192];
        lks_test_case("%s", powers[i].name);
        snprintf(
            manifest, sizeof(manifest),
            HEAD "sites: {fra: {}}\npower_zones: {z: {site: fra%s}}\npools:\n  train: "
                 "{posture: pre-training, stack: a%s}\nnodes:\n" GROUP(
                     "g[001-100]", "train", ", power_zone: z") "%s, power_limit_w: %s}\n%s, "
                                                               "power_limit_w: %s}\n",
            powers[i].budget, powers[i].draw,
            "---\nlockstep: 1\nkind: Stack\nname: a\nversion: '1'\nvendor: nvidia\nhardware: "
            "[hgx-h100-8]\ncomponents: {kernel: {version: '6.8.0-71-generic'}, driver: "
            "{version: '580.126.20', modules: open}, fabric-manager: {version: '580.126.20'}, "
            "cuda: {version: '13.0.2', owner: image}, nccl: {version: '2.28.9', owner: image}, "
            "container-toolkit: {version: '1.19.1'}}\nsettings: {unattended_upgrades: false",
            powers[i].before,
            "---\nlockstep: 1\nkind: Stack\nname: b\nversion: '1'\nvendor: nvidia\nhardware: "
            "[hgx-h100-8]\ncomponents: {kernel: {version: '6.8.0-71-generic'}, driver: "
            "{version: '580.126.20', modules: open}, fabric-manager: {version: '580.126.20'}, "
            "cuda: {version: '13.0.2', owner: image}, nccl: {version: '2.28.9', owner: image}, "
            "container-toolkit: {version: '1.19.1'}}\nsettings: {unattended_upgrades: false",
            powers[i].after);
        plans_begin(&p, manifest);
        const struct lks_plan_wish wish = {.pool = LKS_STR("train"), .stack = LKS_STR("b")};
        (void)plans_make(&p, &wish);
        (void)CHECK_HAS(plans_tell(&p, PLANS_WAVES), powers[i].told);
        plans_end(&p);
    }
}

/* What the canary has, and what is said where it has not. */
static const struct {
    const char *name, *held; /* the first ten nodes called so are */
    struct lks_plan_wish wish;
    uint32_t canaries;
    const char *note; /* or NULL: nothing is uncovered */
} canaries[] = {
    {"pairs", "", {0}, 6, NULL},
    {"single values", "", {.strength = 1}, 4, NULL},
    {"at most two nodes",
     "",
     {.canary_max = 2},
     2,
     "hardware revision 'A' with supplier 's2' is not in the canary: the canary would be larger "
     "than it may be"},
    {"who is held is no canary",
     "c",
     {0},
     5,
     "hardware revision 'C' with supplier 's3' is not in the canary: nodes that have it are on "
     "hold, unhealthy, lost, drained or in intake"},
    {"more of each where a share of failures is to be met",
     "",
     {.failure_share = 200000, .confidence_share = 900000},
     40,
     NULL},
    {"and what is missing where there may not be so many",
     "",
     {.failure_share = 200000, .confidence_share = 900000, .canary_max = 10},
     10,
     "hardware revision 'C': a fault that 20.0000 % of its 10 nodes have needs 7 in the canary to "
     "be met, and there are"},
};

static void test_canaries(void)
{
    for (size_t i = 0; i < LKS_COUNT(canaries); i++) {
        struct plans p;
        lks_test_case("%s", canaries[i].name);
        plans_begin(
            &p, HEAD "pools:\n" POOL("train", "") "nodes:\n" GROUP("a[01-20]", "train",
                                                                   ", hardware_revision: A, "
                                                                   "supplier: s1")
                    GROUP("b[01-20]", "train", ", hardware_revision: A, supplier: s2")
                        GROUP("c[1-10]", "train", ", hardware_revision: C, supplier: s3")
                            GROUP("d[1-10]", "train", ", hardware_revision: D, supplier: s1")
                                GROUP("e[1-10]", "train", ", hardware_revision: D, supplier: s2")
                                    GROUP("f[1-10]", "train",
                                          ", hardware_revision: F, supplier: s1") A B);
        for (int n = 1; canaries[i].held[0] != '\0' && n <= 10; n++) {
            char name[16];
            snprintf(name, sizeof(name), "%s%d", canaries[i].held, n);
            struct lks_record r = {.kind = LKS_RECORD_HELD,
                                   .held = {.node = lks_str_from(name),
                                            .by = LKS_STR("kim"),
                                            .reason = LKS_STR("fan")}};
            lks_asked_apply(&p.a, &r);
        }
        struct lks_plan_wish wish = canaries[i].wish;
        wish.pool = LKS_STR("train");
        wish.stack = LKS_STR("b");
        wish.hook = LKS_STR("site");
        if (CHECK(plans_make(&p, &wish)))
            (void)CHECK_INT(p.plan.canaries, canaries[i].canaries);
        struct lks_str notes = plans_tell(&p, PLANS_NOTES);
        if (canaries[i].note != NULL)
            (void)CHECK_HAS(notes, canaries[i].note);
        else
            (void)CHECK(lks_str_find(notes, LKS_STR("uncovered")) < 0);
        plans_end(&p);
    }
}

/* One that is larger than a canary may be is the canary all the same: nothing of it is uncovered.
 */
static void test_canary_of_one_domain(void)
{
    struct plans p;
    const struct lks_plan_wish wish = {
        .pool = LKS_STR("train"), .stack = LKS_STR("b"), .hook = LKS_STR("site"), .canary_max = 2};
    plans_begin(&p, HEAD "domains: {d1: {}}\npools:\n" POOL("train", "") "nodes:\n" GROUP(
                        "a[1-4]", "train", ", domain: d1, hardware_revision: A, supplier: s1") A B);
    if (CHECK(plans_make(&p, &wish)))
        CHECK_INT(p.plan.canaries, 4);
    CHECK(lks_str_find(plans_tell(&p, PLANS_NOTES), LKS_STR("uncovered")) < 0);
    plans_end(&p);
}

/* Base firmware is named as it was read. */
static void test_canary_of_base_firmware(void)
{
    static const struct {
        const char *node, *digest, *readings;
    } nodes[] = {
        {"g1", "sha256:1", "firmware/bios\t\t\t=\t6\nfirmware/bmc\t\t\t=\t1\n"},
        {"g2", "sha256:1", "firmware/bios\t\t\t=\t6\nfirmware/bmc\t\t\t=\t1\n"},
        {"g3", "sha256:2", "firmware/bios\t\t\t=\t7\nfirmware/bmc\t\t\t=\t2\n"},
    };
    struct plans p;
    const struct lks_plan_wish wish = {
        .pool = LKS_STR("train"), .stack = LKS_STR("b"), .hook = LKS_STR("site"), .canary_max = 1};
    plans_begin(&p, HEAD TEN);
    for (size_t i = 0; i < LKS_COUNT(nodes); i++) {
        struct lks_str digest = text(nodes[i].digest), node = text(nodes[i].node);
        const struct lks_record records[] = {
            {.kind = LKS_RECORD_BASIS,
             .basis = {.digest = digest, .readings = text(nodes[i].readings)}},
            {.kind = LKS_RECORD_TUPLE,
             .tuple = {.node = node, .digest = digest, .basis = digest, .whole = digest}},
        };
        for (size_t r = 0; r < LKS_COUNT(records); r++)
            lks_asked_apply(&p.a, &records[r]);
    }
    CHECK(plans_make(&p, &wish));
    CHECK_HAS(plans_tell(&p, PLANS_NOTES),
              "class 'hgx-h100-8' with base firmware 'bmc 2, bios 7' is not in the canary");
    plans_end(&p);
}

/* By name or by digest, it is said why not. */
static void test_retired(void)
{
    struct plans p;
    plans_begin(&p, HEAD TEN);
    struct lks_str digest = plans_stack(&p, "b");
    const struct lks_record retired = {.kind = LKS_RECORD_STEPPED,
                                       .stepped = {.digest = digest, .step = LKS_STEP_RETIRED}};
    lks_asked_apply(&p.a, &retired);
    const struct lks_str names[] = {LKS_STR("b"), digest};
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        const struct lks_plan_wish wish = {.pool = LKS_STR("train"), .stack = names[i]};
        (void)CHECK(!plans_make(&p, &wish));
        (void)CHECK_STR(plans_tell(&p, PLANS_ALL), "refused: stack: b is retired\n");
    }
    plans_end(&p);
}

/* From what nodes run, where that is not what they should run. Their pool is pinned to a. */
static const struct {
    const char *name, *right; /* what g1 was last right in */
    bool still;               /* and its readings of now say so, */
    const char *boot;         /* which are of this boot */
    const char *hosts, *to, *from, *told;
} froms[] = {
    {"what a change left behind goes back", "b", true, "b1", "g1", "a", "b",
     "part of wave 0: g1 by recipe 0, proves\n"},
    {"beside others that are right", "b", true, "b1", "g[1-2]", "a", "b",
     "part of wave 0: g1 by recipe 0, proves\nwarning: 1 of them should run it already\n"},
    {"there, and pinned to another", "b", true, "b1", "g1", "b", NULL,
     "refused: nothing to do: g1 runs b already, and its pool is pinned to another stack; "
     "'lockstep fleet apply' moves the pin\n"},
    {"the others follow", "b", true, "b1", "g[1-2]", "b", "a",
     "part of wave 0: g2 by recipe 0, proves\n"
     "warning: 1 of them found to run it already, though another is pinned: g1\n"},
    {"it runs what nobody knows", "a", false, "b1", "g1", "a", NULL,
     "refused: no steps are known: g1 should run a already and does not, and no known stack is "
     "what it runs; 'lockstep node show' lists the differences, to be repaired there\n"},
    {"it was right in b, and is no longer", "b", false, "b1", "g1", "a", NULL,
     "refused: no steps are known: g1 should run a already and does not"},
    {"it was booted since", "b", true, "b0", "g1", "a", NULL,
     "refused: no steps are known: g1 should run a already and does not"},
    {"one that drifted is left out, by name", "a", false, "b1", "g[1-2]", "b", "a",
     "part of wave 0: g2 by recipe 0, proves\n"
     "left-out: g1 drifted; repair what drifted ('lockstep drift') and propose a change for the "
     "rest\n"},
    {"all that were asked for drifted", "a", false, "b1", "g1", "b", NULL,
     "refused: nothing to do: g1 drifted, and so did all others that would change; 'lockstep "
     "drift' says what differs: repair it, then propose again\n"},
};

/* g1 is read to drift from a, in the boot `boot`. It was last right in `right`; `still`: it is
 * right in b now. */
static void read_g1(struct plans *p, const char *right, bool still, const char *boot)
{
    static const struct lks_str basis = LKS_STR_C("sha256:basis");
    struct lks_str a = plans_stack(p, "a"), was = plans_stack(p, "b");
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_BASIS, .basis = {.digest = basis, .readings = LKS_STR("r")}},
        {.kind = LKS_RECORD_TUPLE,
         .tuple = {.node = LKS_STR("g1"),
                   .digest = basis,
                   .boot = lks_str_from(boot),
                   .basis = basis,
                   .whole = basis,
                   .stack = plans_stack(p, right),
                   .judged = LKS_JUDGED_CONFORMS}},
        {.kind = LKS_RECORD_VERDICT,
         .verdict = {.basis = basis,
                     .stack = was,
                     .judged = still ? LKS_JUDGED_CONFORMS : LKS_JUDGED_DRIFT,
                     .drifted = !still}},
        {.kind = LKS_RECORD_VERDICT,
         .verdict = {.basis = basis, .stack = a, .judged = LKS_JUDGED_DRIFT, .drifted = 1}},
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        lks_asked_apply(&p->a, &records[i]);
}

static void test_froms(void)
{
    for (size_t i = 0; i < LKS_COUNT(froms); i++) {
        struct plans p;
        lks_test_case("%s", froms[i].name);
        plans_begin(&p, HEAD TEN);
        read_g1(&p, froms[i].right, froms[i].still, froms[i].boot);
        const struct lks_plan_wish wish = {
            .hosts = text(froms[i].hosts), .stack = text(froms[i].to), .hook = LKS_STR("site")};
        bool made = plans_make(&p, &wish);
        (void)CHECK_INT(made, froms[i].from != NULL);
        if (made)
            (void)CHECK_STR(p.plan.parts[0].from, plans_stack(&p, froms[i].from).ptr);
        (void)CHECK_HAS(plans_tell(&p, PLANS_PARTS | PLANS_NOTES), froms[i].told);
        plans_end(&p);
    }
}

/* A domain changes as one: all of it is left out with the node that drifted. */
static void test_drifted_domain(void)
{
    struct plans p;
    const struct lks_plan_wish wish = {
        .pool = LKS_STR("train"), .stack = LKS_STR("b"), .hook = LKS_STR("site")};
    plans_begin(&p, HEAD "domains: {d1: {}}\npools:\n" POOL("train", "") "nodes:\n" GROUP(
                        "g[1-3]", "train", ", domain: d1") GROUP("g4", "train", "") A B);
    read_g1(&p, "a", false, "b1");
    CHECK(plans_make(&p, &wish));
    CHECK_HAS(plans_tell(&p, PLANS_PARTS | PLANS_NOTES),
              "part of wave 0: g4 by recipe 0, proves\n"
              "left-out: g[2-3] share a domain with a node or asset that drifted; repair what "
              "drifted ('lockstep drift') and propose a change for the rest\n"
              "left-out: g1 drifted; repair what drifted ('lockstep drift') and propose a change "
              "for the rest\n");
    plans_end(&p);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"plan: rows", test_rows},
        {"plan: from what a node truly runs", test_sources},
        {"plan: who is held", test_held},
        {"plan: schedulers that can be asked", test_bridges},
        {"plan: widths", test_widths},
        {"plan: limits of widths", test_limits},
        {"plan: powers", test_powers},
        {"plan: canaries", test_canaries},
        {"plan: a canary of one domain", test_canary_of_one_domain},
        {"plan: base firmware that a canary lacks", test_canary_of_base_firmware},
        {"plan: from what they run", test_froms},
        {"plan: beside one that drifted", test_drifted_domain},
        {"plan: to a retired stack", test_retired},
        {0},
    });
}
