#include "tests/plans.h"

#include "tests/facts.h"
#include "tests/manifests.h"
#include "tests/test.h"

#define SHA(c)                                                                                     \
    "sha256:" c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c  \
        c c c c c c c c c c c c c c c c c c c c c c

#define STACK(name, driver, more) "---\n" LKS_STACK_HGX(name, "hgx-h100-8", driver, more)
#define OLD                       "580.126.20"
#define NEW                       "580.130.01"

#define BMC ", bmc: {url: 'https://bmc-{host}.example', credentials: 'file:/c'}"
#define FLEET(node, more)                                                                          \
    "lockstep: 1\nkind: Fleet\nname: f\n" more                                                     \
    "pools: {train: {posture: pre-training, stack: a}}\nnodes: [{hosts: g1, pool: train, class: "  \
    "hgx-h100-8" node "}]\n"

#define IMAGE(digest, component, version, rest)                                                    \
    "{\"name\":\"" component "-" version                                                           \
    ".bin\",\"digest\":\"" SHA(digest) "\",\"size\":5,"                                            \
                                       "\"component\":\"" component "\",\"version\":\"" version    \
                                       "\",\"kind\":\"firmware\"" rest "}"
#define BUNDLE(files)                                                                              \
    "{\"lockstep\":1,\"kind\":\"Bundle\",\"name\":\"b\",\"version\":\"1\",\"artifacts\":[" files   \
    "]}"

#define FW(list)          "firmware: [" list "]\n"
#define OF(class, ver)    "{class: " class ", version: '" ver "'}"
#define OF_IN(class, ver) "{class: " class ", version: '" ver "', transport: in-band}"

#define LEAVE  "recipe 0: leave@10"
#define DRIVER " apply@100(hook driver fabric-manager) reboot@100 check@100"
#define END    " accept@10000 return@20000\n"

static const struct row {
    const char *name;
    const char *fleet;
    const char *from, *to; /* stacks a and b */
    const char *bundle;
    bool hook, one_way;
    const char *told; /* steps, then notes other than capacity; or why not */
} rows[] = {
    {"software: installed, restarted, looked at", FLEET("", ""), STACK("a", OLD, ""),
     STACK("b", NEW, ""), NULL, true, false, LEAVE DRIVER END},
    {"a setting that needs no restart", FLEET("", ""),
     STACK("a", OLD, "settings: {power_limit_w: 600}\n"),
     STACK("b", OLD, "settings: {power_limit_w: 700}\n"), NULL, false, false,
     LEAVE " apply@100(settings settings.power_limit_w) check@100" END},
    {"a setting that needs one", FLEET("", ""), STACK("a", OLD, ""),
     STACK("b", OLD, "settings: {kernel_cmdline: ['iommu=pt']}\n"), NULL, true, false,
     LEAVE " apply@100(settings settings.kernel_cmdline) reboot@100 check@100" END},
    {"software and settings are one layer", FLEET("", ""),
     STACK("a", OLD, "settings: {power_limit_w: 600}\n"),
     STACK("b", NEW, "settings: {power_limit_w: 700}\n"), NULL, true, false,
     LEAVE " apply@100(hook driver fabric-manager) apply@100(settings settings.power_limit_w) "
           "reboot@100 check@100" END},
    {"nothing that a node would notice", FLEET("", ""), STACK("a", OLD, ""),
     STACK("b", OLD, "windows: {driver: '>=580 <581'}\n"), NULL, false, false, LEAVE END},
    {"no bundle and no hook", FLEET("", ""), STACK("a", OLD, ""), STACK("b", NEW, ""), NULL, false,
     false,
     "refused: driver 580.130.01: no good bundle has it for hgx-h100-8; push one, or name a hook "
     "that installs it\n"},

    {"firmware that no executor updates", FLEET("", ""), STACK("a", OLD, FW(OF("widget", "1"))),
     STACK("b", OLD, FW(OF("widget", "2"))), NULL, false, false,
     "refused: firmware/widget: no executor updates it; name a hook that does it\n"},
    {"firmware that the hook updates", FLEET("", ""), STACK("a", OLD, FW(OF("widget", "1"))),
     STACK("b", OLD, FW(OF("widget", "2"))), NULL, true, false,
     LEAVE " apply@100(hook firmware/widget) reboot@100 check@100" END},

    /* Firmware by an endpoint. */
    {"staged while it is in use, activated when it is not", FLEET(BMC, ""),
     STACK("a", OLD, FW(OF("hmc", "1"))), STACK("b", OLD, FW(OF("hmc", "2"))),
     BUNDLE(IMAGE("a", "hmc", "2", "")), false, false,
     "recipe 0: stage@0(hmc 2) leave@10 activate@154(hmc 2) check@154" END},
    {"two that are staged", FLEET(BMC, "spares: {hgx-h100-8: 2}\n"),
     STACK("a", OLD, FW(OF("hmc", "1") ", " OF("erot", "1"))),
     STACK("b", OLD, FW(OF("hmc", "2") ", " OF("erot", "2"))),
     BUNDLE(IMAGE("a", "hmc", "2", "") "," IMAGE("b", "erot", "2", "")), false, true,
     "recipe 0: stage@0(hmc 2) stage@0(erot 2)![no firmware/erot 1] leave@10 activate@154(hmc 2) "
     "check@154 activate@1230(erot 2)![no firmware/erot 1] check@1230" END
     "one way: firmware/erot from 1 to 2 on hgx-h100-8 could not be rolled back: no verified "
     "bundle of the depot has firmware/erot 1; push one with 'lockstep bundle push'; a failed part "
     "is replaced by a spare, of which there are 2\n"},
    {"not where the endpoint would apply it at once", FLEET(BMC, ""),
     STACK("a", OLD, FW(OF("bmc", "1"))), STACK("b", OLD, FW(OF("bmc", "2"))),
     BUNDLE(IMAGE("a", "bmc", "2", "")), false, false, LEAVE " flash@150(bmc 2) check@150" END},
    {"one bank: flashed, and the image before is the way back", FLEET(BMC, ""),
     STACK("a", OLD, FW(OF("cpld", "1"))), STACK("b", OLD, FW(OF("cpld", "2"))),
     BUNDLE(IMAGE("a", "cpld", "2", "") "," IMAGE("b", "cpld", "1", "")), false, false,
     LEAVE " flash@190(cpld 2) check@190" END},
    {"without that image there is no way back", FLEET(BMC, ""),
     STACK("a", OLD, FW(OF("cpld", "1"))), STACK("b", OLD, FW(OF("cpld", "2"))),
     BUNDLE(IMAGE("a", "cpld", "2", "")), false, false,
     "refused: firmware/cpld from 1 to 2 on hgx-h100-8 could not be rolled back: no verified "
     "bundle of the depot has firmware/cpld 1; push one with 'lockstep bundle push', or do without "
     "the rollback: --one-way (one_way in the API)\n"},
    {"without that image, and of a version that was not read", FLEET(BMC, ""), STACK("a", OLD, ""),
     STACK("b", OLD, FW(OF("cpld", "2"))), BUNDLE(IMAGE("a", "cpld", "2", "")), false, false,
     "refused: firmware/cpld from an unread version to 2 on hgx-h100-8 could not be rolled back: "
     "no verified bundle of the depot has the version of firmware/cpld before, which was not "
     "read; "},
    {"and where that is meant there are spares", FLEET(BMC, ""),
     STACK("a", OLD, FW(OF("cpld", "1"))), STACK("b", OLD, FW(OF("cpld", "2"))),
     BUNDLE(IMAGE("a", "cpld", "2", "")), false, true,
     "refused: firmware/cpld from 1 to 2 on hgx-h100-8 could not be rolled back: no verified "
     "bundle of the depot has firmware/cpld 1; push one with 'lockstep bundle push'; without a "
     "rollback a failed part is replaced by a spare, and the fleet's file counts no spares of cpld "
     "or hgx-h100-8\n"},
    {"what cannot be taken back is the last, and told", FLEET(BMC, "spares: {hgx-h100-8: 2}\n"),
     STACK("a", OLD, FW(OF("cpld", "1") ", " OF("nic", "1"))),
     STACK("b", NEW, FW(OF("cpld", "2") ", " OF("nic", "2"))),
     BUNDLE(
         IMAGE("a", "cpld", "2", "") "," IMAGE("c", "nic", "1", "") "," IMAGE("d", "nic", "2", "")),
     true, true,
     LEAVE DRIVER
     " flash@182(nic 2) check@182 flash@1190(cpld 2)![no firmware/cpld 1] check@1190" END
     "one way: firmware/cpld from 1 to 2 on hgx-h100-8 could not be rolled back: no verified "
     "bundle of the depot has firmware/cpld 1; push one with 'lockstep bundle push'; a failed part "
     "is replaced by a spare, of which there are 2\n"},
    {"an image that says so has no way back", FLEET(BMC, ""), STACK("a", OLD, FW(OF("bmc", "1"))),
     STACK("b", OLD, FW(OF("bmc", "2"))), BUNDLE(IMAGE("a", "bmc", "2", ",\"one_way\":true")),
     false, false,
     "refused: firmware/bmc from 1 to 2 on hgx-h100-8 is irreversible; acknowledge that with "
     "--one-way (one_way in the API)\n"},
    {"and with spares it is planned, with nothing missing", FLEET(BMC, "spares: {bmc: 1}\n"),
     STACK("a", OLD, FW(OF("bmc", "1"))), STACK("b", OLD, FW(OF("bmc", "2"))),
     BUNDLE(IMAGE("a", "bmc", "2", ",\"one_way\":true")), false, true,
     LEAVE " flash@1150(bmc 2)! check@1150" END
           "one way: firmware/bmc from 1 to 2 on hgx-h100-8 is irreversible; a failed part is "
           "replaced by a spare, of which there is 1\n"},
    {"layers by the table: what others wait for goes first", FLEET(BMC, ""),
     STACK("a", OLD, FW(OF("bios", "1") ", " OF("bmc", "1") ", " OF("hmc", "1"))),
     STACK("b", NEW, FW(OF("bios", "2") ", " OF("bmc", "2") ", " OF("hmc", "2"))),
     BUNDLE(
         IMAGE("a", "bmc", "2", "") "," IMAGE("b", "bios", "2", "") "," IMAGE("c", "hmc", "2", "")),
     true, false,
     "recipe 0: stage@0(hmc 2) leave@10" DRIVER
     " flash@150(bmc 2) check@150 activate@154(hmc 2) check@154 flash@170(bios 2) "
     "check@170" END},
    {"no image", FLEET(BMC, ""), STACK("a", OLD, FW(OF("bmc", "1"))),
     STACK("b", OLD, FW(OF("bmc", "2"))), NULL, false, false,
     "refused: firmware/bmc 2: no good bundle in the depot has it for hgx-h100-8; put it there "
     "with 'lockstep bundle push'\n"},
    {"an image for other hardware", FLEET(BMC ", hardware_revision: A", ""),
     STACK("a", OLD, FW(OF("bmc", "1"))), STACK("b", OLD, FW(OF("bmc", "2"))),
     BUNDLE(IMAGE("a", "bmc", "2", ",\"hardware_revisions\":[\"B\"]")), false, false,
     "refused: firmware/bmc 2: no good bundle"},
    {"an image that may not follow", FLEET(BMC, ""), STACK("a", OLD, FW(OF("bmc", "1"))),
     STACK("b", OLD, FW(OF("bmc", "2"))), BUNDLE(IMAGE("a", "bmc", "2", ",\"from\":[\"1.5\"]")),
     false, false, "refused: firmware/bmc 2: no good bundle"},
    {"two images", FLEET(BMC, ""), STACK("a", OLD, FW(OF("bmc", "1"))),
     STACK("b", OLD, FW(OF("bmc", "2"))),
     BUNDLE(IMAGE("a", "bmc", "2", "") ","
                                       "{\"name\":\"other.bin\",\"digest\":\"" SHA(
                                           "b") "\",\"size\":5,\"component\":\"bmc\","
                                                "\"version\":\"2\",\"kind\":\"firmware\"}"),
     false, false,
     "refused: firmware/bmc 2: bundle b has several files for it; let the stack name its "
     "artifacts\n"},
    {"no endpoint", FLEET("", ""), STACK("a", OLD, FW(OF("bmc", "1"))),
     STACK("b", OLD, FW(OF("bmc", "2"))), BUNDLE(IMAGE("a", "bmc", "2", "")), false, false,
     "refused: g1: firmware/bmc goes by redfish, and it has no management endpoint for that\n"},

    /* By a tool of the node. */
    {"in-band, where there is no endpoint", FLEET("", ""), STACK("a", OLD, FW(OF("nic", "1"))),
     STACK("b", OLD, FW(OF("nic", "2"))),
     BUNDLE(IMAGE("a", "nic", "2", "") "," IMAGE("b", "nic", "1", "")), false, false,
     LEAVE " apply@182(firmware firmware/nic) check@182" END},
    {"in-band, because the stack says so", FLEET(BMC, ""), STACK("a", OLD, FW(OF_IN("nvme", "1"))),
     STACK("b", OLD, FW(OF_IN("nvme", "2"))),
     BUNDLE(IMAGE("a", "nvme", "2", "") "," IMAGE("b", "nvme", "1", "")), false, false,
     LEAVE " apply@176(firmware firmware/nvme) reboot@176 check@176" END},
    {"what comes with the driver has no step", FLEET(BMC, ""),
     STACK("a", OLD, FW(OF("gsp", "580.126.20"))), STACK("b", NEW, FW(OF("gsp", "580.130.01"))),
     NULL, true, false, LEAVE DRIVER END},

    /* Not ours. */
    {"what is external is told and left", FLEET("", ""),
     STACK("a", OLD, "  slurmd: {version: '24.05.1', owner: external}\n"),
     STACK("b", NEW, "  slurmd: {version: '24.05.2', owner: external}\n"), NULL, true, false,
     LEAVE DRIVER END
     "external: slurmd differs (24.05.1 to 24.05.2) and is external: it is not changed by this\n"},
};

static struct lks_plan_wish wish_of(const struct row *row)
{
    return (struct lks_plan_wish){.hosts = LKS_STR("g1"),
                                  .stack = LKS_STR("b"),
                                  .hook = row->hook ? LKS_STR("site") : LKS_STR(""),
                                  .one_way = row->one_way};
}

/* Steps and notes, without what is said about capacity. */
static struct lks_str tell(struct plans *p)
{
    struct lks_str all = plans_tell(p, PLANS_STEPS | PLANS_NOTES);
    ptrdiff_t at = lks_str_find(all, LKS_STR("capacity: "));
    return at < 0 ? all : (struct lks_str){all.ptr, (size_t)at};
}

static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(64 << 10);
        struct plans p;
        lks_test_case("%s", rows[i].name);
        lks_buf_addf(&text, "%s%s%s", rows[i].fleet, rows[i].from, rows[i].to);
        plans_begin(&p, text.ptr);
        if (rows[i].bundle != NULL)
            plans_bundle(&p, rows[i].bundle);
        struct lks_plan_wish wish = wish_of(&rows[i]);
        (void)plans_make(&p, &wish);
        (void)CHECK_HAS(tell(&p), rows[i].told);
        plans_end(&p);
    }
}

/* No more are changed at once than could be replaced. */
static void test_spares(void)
{
    struct plans p;
    plans_begin(&p,
                "lockstep: 1\nkind: Fleet\nname: f\nspares: {hgx-h100-8: 2}\n"
                "pools: {train: {posture: pre-training, stack: a, headroom: 30}}\nnodes: "
                "[{hosts: 'g[01-60]', pool: train, class: hgx-h100-8" BMC
                "}]\n" STACK("a", OLD, FW(OF("cpld", "1"))) STACK("b", OLD, FW(OF("cpld", "2"))));
    plans_bundle(&p, BUNDLE(IMAGE("a", "cpld", "2", "")));
    const struct lks_plan_wish wish = {
        .pool = LKS_STR("train"), .stack = LKS_STR("b"), .one_way = true};
    if (CHECK(plans_make(&p, &wish))) {
        const struct lks_rec_plan_wave *w = &p.plan.waves[p.plan.wave_count - 1];
        (void)CHECK_INT(w->width, 2);
        (void)CHECK_STR(w->width_text, "spare parts for irreversible steps: 2");
    }
    plans_end(&p);
}

#define RACK(stack)                                                                                \
    "lockstep: 1\nkind: Fleet\nname: f\ndomains: {d1: {}}\n"                                       \
    "pools: {train: {posture: pre-training, stack: " stack "}}\n"                                  \
    "nodes: [{hosts: 'g[1-2]', pool: train, class: hgx-h100-8, domain: d1" BMC "}]\n"              \
    "assets:\n  - {hosts: sw1, class: switch-tray, domain: d1" BMC "}\n"                           \
    "  - {hosts: pa, class: power-shelf, domain: d1, side: a" BMC "}\n"                            \
    "  - {hosts: pb, class: power-shelf, domain: d1, side: b" BMC "}\n"                            \
    "  - {hosts: cdu1, class: cdu, domain: d1}\n" STACK(                                           \
        "a", OLD, FW(OF("bmc", "1") ", " OF("nvos", "1") ", " OF("power-shelf", "1")))             \
        STACK("b", NEW, FW(OF("bmc", "2") ", " OF("nvos", "2") ", " OF("power-shelf", "2")))

static void begin_rack(struct plans *p, const char *manifest)
{
    plans_begin(p, manifest);
    plans_bundle(p, BUNDLE(IMAGE("a", "bmc", "2", "") "," IMAGE("b", "nvos", "2", "") "," IMAGE(
                        "c", "power-shelf", "2", "")));
}

/* A domain: each member by its own recipe, and ranks that fit together. */
static void test_domain(void)
{
    struct plans p;
    begin_rack(&p, RACK("a"));
    const struct lks_plan_wish wish = {
        .hosts = LKS_STR("g[1-2]"), .stack = LKS_STR("b"), .hook = LKS_STR("site")};
    (void)CHECK(plans_make(&p, &wish));
    (void)CHECK_STR(plans_tell(&p, PLANS_STEPS | PLANS_PARTS),
                    "recipe 0: leave@10" DRIVER " flash@150(bmc 2) check@150" END
                    "recipe 1: leave@10 flash@160(power-shelf 2) check@160" END
                    "recipe 2: leave@10 flash@161(power-shelf 2) check@161" END
                    "recipe 3: leave@10 flash@20(nvos 2) check@20" END
                    "part of wave 0: g[1-2] by recipe 0, proves, domain d1\n"
                    "part of wave 0: pa by recipe 1, proves, domain d1\n"
                    "part of wave 0: pb by recipe 2, proves, domain d1\n"
                    "part of wave 0: sw1 by recipe 3, proves, domain d1\n");
    plans_end(&p);
}

/* It is read to run a, and its nodes are on b already. */
static void stayed_behind(struct plans *p, const char *asset)
{
    static const struct lks_str basis = LKS_STR_C("sha256:basis");
    struct lks_str a = plans_stack(p, "a");
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_BASIS, .basis = {.digest = basis, .readings = LKS_STR("r")}},
        {.kind = LKS_RECORD_TUPLE,
         .tuple = {.node = lks_str_from(asset),
                   .digest = basis,
                   .basis = basis,
                   .whole = basis,
                   .stack = a,
                   .judged = LKS_JUDGED_CONFORMS}},
        {.kind = LKS_RECORD_VERDICT,
         .verdict = {.basis = basis, .stack = a, .judged = LKS_JUDGED_CONFORMS}},
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        lks_asked_apply(&p->a, &records[i]);
}

/* g2 is judged, and held, so. */
static void be(struct plans *p, bool strays, bool held)
{
    static const struct lks_str basis = LKS_STR_C("sha256:other");
    const struct lks_str g2 = LKS_STR("g2"), b = plans_stack(p, "b");
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_BASIS, .basis = {.digest = basis, .readings = LKS_STR("r")}},
        {.kind = LKS_RECORD_TUPLE,
         .tuple = {.node = g2,
                   .digest = basis,
                   .boot = LKS_STR("b1"),
                   .basis = basis,
                   .whole = basis,
                   .stack = b,
                   .judged = LKS_JUDGED_DRIFT}},
        {.kind = LKS_RECORD_VERDICT,
         .verdict = {.basis = basis, .stack = b, .judged = LKS_JUDGED_DRIFT, .drifted = 1}},
    };
    for (size_t i = 0; strays && i < LKS_COUNT(records); i++)
        lks_asked_apply(&p->a, &records[i]);
    if (held)
        lks_asked_apply(
            &p->a, &(struct lks_record){
                       .kind = LKS_RECORD_HELD,
                       .held = {.node = g2, .by = LKS_STR("lee"), .reason = LKS_STR("a fan")}});
}

/* Nothing is done to an asset around nodes that are in use: they leave use with it. */
static void test_asset_behind(void)
{
    static const struct {
        const char *name;
        bool strays, held;
        const char *told;
    } cases[] = {
        {"they run it", false, false,
         "recipe 0: leave@10 flash@160(power-shelf 2) check@160" END "recipe 1: leave@10" END
         "part of wave 0: g[1-2] by recipe 1, proves, domain d1\npart of wave 0: pa by recipe 0, "
         "proves, domain d1\nwarning: 2 nodes of domain d1 should run it already, and drain "
         "while its assets change\n"},
        {"one is held", false, true,
         "part of wave 0: g1 by recipe 1, proves, domain d1\n"
         "part of wave 0: pa by recipe 0, proves, domain d1\n"},
        {"one could not return", true, false,
         "refused: no steps are known: g2 should run b already and does not"},
    };
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        struct plans p;
        lks_test_case("%s", cases[i].name);
        begin_rack(&p, RACK("b"));
        stayed_behind(&p, "pa");
        be(&p, cases[i].strays, cases[i].held);
        const struct lks_plan_wish wish = {
            .hosts = LKS_STR("pa"), .stack = LKS_STR("b"), .hook = LKS_STR("site")};
        (void)CHECK_INT(plans_make(&p, &wish), !cases[i].strays);
        (void)CHECK_HAS(plans_tell(&p, PLANS_STEPS | PLANS_PARTS | PLANS_NOTES), cases[i].told);
        plans_end(&p);
    }
}

/* Layers are put in an order in which the facts have nothing against any state in between. */
#define COLUMNS        "id,kind,component,range,other,other_range,gpus,condition,note"
#define EDGES          COLUMNS ",status,source\n"
#define EDGE(id, a, b) id ",requires," a "," b ",,,,confirmed,a test\n"
static const struct {
    const char *name, *edges, *told;
} orders[] = {
    {"nobody minds", EDGES, LEAVE DRIVER " flash@170(bios 2) check@170" END},
    {"the driver wants the firmware", EDGES EDGE("e1", "driver,>=580.130", "bios,>=2"),
     LEAVE " flash@170(bios 2) check@170 apply@172(hook driver fabric-manager) reboot@172 "
           "check@172" END},
    {"the firmware wants the driver", EDGES EDGE("e1", "bios,>=2", "driver,>=580.130"),
     LEAVE DRIVER " flash@170(bios 2) check@170" END},
    {"both want each other first",
     EDGES EDGE("e1", "driver,>=580.130", "bios,>=2") EDGE("e2", "bios,>=2", "driver,>=580.130"),
     "refused: no order of its layers works on hgx-h100-8 (driver 580.130.01, still firmware/bios "
     "1): "},
    {"the new stack itself cannot work", EDGES EDGE("e1", "driver,>=580.130", "bios,>=3"),
     "refused: b cannot work on hgx-h100-8: "},
    {"what the old one has already is not our fault", EDGES EDGE("e1", "driver,>=580", "bios,>=3"),
     LEAVE DRIVER " flash@170(bios 2) check@170" END},
};

static void test_orders(void)
{
    for (size_t i = 0; i < LKS_COUNT(orders); i++) {
        LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
        const struct lks_facts_file file = {"requires.csv", "requires.csv",
                                            lks_str_from(orders[i].edges)};
        struct lks_err err = {0};
        struct plans p;
        lks_test_case("%s", orders[i].name);
        if (!CHECK_CODE(lks_facts_load(lks_embedded_data, &file, 1, &facts, &err), LKS_OK))
            continue;
        plans_begin(&p, FLEET(BMC, "") STACK("a", OLD, FW(OF("bios", "1")))
                            STACK("b", NEW, FW(OF("bios", "2"))));
        plans_bundle(&p, BUNDLE(IMAGE("a", "bios", "2", "")));
        p.book.facts = &facts;
        const struct lks_plan_wish wish = {
            .hosts = LKS_STR("g1"), .stack = LKS_STR("b"), .hook = LKS_STR("site")};
        (void)plans_make(&p, &wish);
        (void)CHECK_HAS(plans_tell(&p, PLANS_STEPS), orders[i].told);
        plans_end(&p);
    }
}

/* What a step may take, and how it is taken back. */
static void test_care(void)
{
    enum { MINUTE = 60000 };
    struct plans p;
    plans_begin(&p, "lockstep: 1\nkind: Fleet\nname: f\n"
                    "pools: {train: {posture: pre-training, stack: a, drain_minutes: 90}}\n"
                    "nodes: [{hosts: g1, pool: train, class: hgx-h100-8" BMC
                    "}]\n" STACK("a", OLD, FW(OF("bios", "1") ", " OF("cpld", "1")))
                        STACK("b", OLD, FW(OF("bios", "2") ", " OF("cpld", "2"))));
    plans_bundle(&p, BUNDLE(IMAGE("a", "bios", "2", "") "," IMAGE("b", "cpld", "2", "") "," IMAGE(
                         "c", "cpld", "1", "")));
    const struct lks_plan_wish wish = {.hosts = LKS_STR("g1"), .stack = LKS_STR("b")};
    if (!CHECK(plans_make(&p, &wish)) || !CHECK_INT(p.plan.step_count, 7))
        return;
    const struct lks_rec_plan_step *s = p.plan.steps;
    (void)CHECK_INT(s[0].limit, 90 * MINUTE);
    (void)CHECK_STR(s[1].component, "bios");
    (void)CHECK_INT(s[1].limit, (10 + 2 * 20) * MINUTE);
    (void)CHECK_INT(s[1].revert, LKS_BMC_SWITCH);
    (void)CHECK_STR(s[1].image, SHA("a"));
    (void)CHECK_STR(s[1].image_back, "");
    (void)CHECK_INT(s[1].layer, 1);
    (void)CHECK_INT(s[2].layer, 1);
    (void)CHECK_INT(s[3].revert, LKS_BMC_UPDATE);
    (void)CHECK_STR(s[3].image_back, SHA("c"));
    (void)CHECK_STR(s[3].before, "1");
    (void)CHECK_INT(s[3].layer, 2);
    (void)CHECK_STR(s[5].executor, "accept");
    for (size_t i = 0; i < p.plan.step_count; i++)
        (void)CHECK(s[i].limit > 0);
    plans_end(&p);
}

/* What was read of the endpoint ------------------------------------------------------------- */

/* `stack b` brings BMC 2; what stack a pins, what was read, and which images there are differ. */
static const struct {
    const char *name;
    const char *pinned; /* of stack a */
    const char *read;   /* lines of a basis; NULL: nothing was */
    const char *bundle;
    const char *told;   /* the steps, or why not */
    const char *before; /* of the flash; NULL: there is none */
    enum lks_bmc_act revert;
    const char *image_back;
} reads[] = {
    {"it runs it already", "", "firmware/bmc\t\t\t=\t2\n", BUNDLE(IMAGE("a", "bmc", "2", "")),
     LEAVE END, NULL, 0, NULL},
    {"it runs another, which is the way back", "", "firmware/bmc\t\t\t=\t1\n",
     BUNDLE(IMAGE("a", "bmc", "2", "") "," IMAGE("b", "bmc", "1", "")),
     LEAVE " flash@150(bmc 2) check@150" END, "1", LKS_BMC_UPDATE, SHA("b")},
    {"it runs another, whose image nobody has", "", "firmware/bmc\t\t\t=\t1\n",
     BUNDLE(IMAGE("a", "bmc", "2", "")),
     "refused: firmware/bmc from 1 to 2 on hgx-h100-8 could not be rolled back", NULL, 0, NULL},
    {"no switch is offered, and the image before is there", FW(OF("bmc", "1")),
     "firmware/bmc\t\t\t=\t1\n", BUNDLE(IMAGE("a", "bmc", "2", "") "," IMAGE("b", "bmc", "1", "")),
     LEAVE " flash@150(bmc 2) check@150" END, "1", LKS_BMC_UPDATE, SHA("b")},
    {"no switch is offered, and no image before", FW(OF("bmc", "1")),
     "backup/bmc\t\t\t=\t1\nfirmware/bmc\t\t\t=\t1\n", BUNDLE(IMAGE("a", "bmc", "2", "")),
     "refused: firmware/bmc from 1 to 2 on hgx-h100-8 could not be rolled back", NULL, 0, NULL},
    {"a switch is offered", FW(OF("bmc", "1")),
     "firmware/bmc\t\t\t=\t1\nswitch/bmc\t\t\t=\toffered\n", BUNDLE(IMAGE("a", "bmc", "2", "")),
     LEAVE " flash@150(bmc 2) check@150" END, "1", LKS_BMC_SWITCH, ""},
    {"nothing was read: by the table", FW(OF("bmc", "1")), NULL, BUNDLE(IMAGE("a", "bmc", "2", "")),
     LEAVE " flash@150(bmc 2) check@150" END, "1", LKS_BMC_SWITCH, ""},
};

static void read_outband(struct plans *p, const char *lines)
{
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_BASIS,
         .basis = {.digest = LKS_STR("o"), .readings = lks_str_from(lines)}},
        {.kind = LKS_RECORD_OUTBAND,
         .outband = {.node = LKS_STR("g1"), .basis = LKS_STR("o"), .whole = LKS_STR("o")}},
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        lks_asked_apply(&p->a, &records[i]);
}

static void test_reads(void)
{
    const struct lks_plan_wish wish = {.hosts = LKS_STR("g1"), .stack = LKS_STR("b")};
    for (size_t i = 0; i < LKS_COUNT(reads); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(64 << 10);
        struct plans p;
        lks_test_case("%s", reads[i].name);
        lks_buf_addf(&text, "%s" STACK("a", OLD, "%s") "%s", FLEET(BMC, ""), reads[i].pinned,
                     STACK("b", OLD, FW(OF("bmc", "2"))));
        plans_begin(&p, text.ptr);
        plans_bundle(&p, reads[i].bundle);
        if (reads[i].read != NULL)
            read_outband(&p, reads[i].read);
        (void)plans_make(&p, &wish);
        (void)CHECK_HAS(plans_tell(&p, PLANS_STEPS), reads[i].told);
        if (reads[i].before != NULL && CHECK(p.plan.step_count > 1)) {
            (void)CHECK_STR(p.plan.steps[1].before, reads[i].before);
            (void)CHECK_INT(p.plan.steps[1].revert, reads[i].revert);
            (void)CHECK_STR(p.plan.steps[1].image_back, reads[i].image_back);
        }
        plans_end(&p);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"plan steps: rows", test_rows},
        {"plan steps: spares", test_spares},
        {"plan steps: domain", test_domain},
        {"plan steps: an asset behind its nodes", test_asset_behind},
        {"plan steps: orders", test_orders},
        {"plan steps: care", test_care},
        {"plan steps: what was read of the endpoint", test_reads},
        {0},
    });
}
