#include "core/compat/stackdiff.h"

#include "model/manifest/manifest.h"
#include "tests/facts.h"
#include "tests/manifests.h"
#include "tests/stacks.h"
#include "tests/test.h"

#include <stdio.h>

enum { TEXT_MAX = 64 * 1024, STACKS = LKS_TEST_ROUNDS(300) };

#define ON(class, driver, more)                                                                    \
    LKS_STACK("s", "nvidia", class, LKS_STACK_REST "  driver: {version: '" driver "'}\n" more)
#define L40S(more) ON("l40s-pcie-8", "580.95.05", more)

/* Each difference as "subject from>to direction class reboot revert", and what they make. */
static const struct {
    const char *name;
    const char *from, *to;
    const char *differences;
    const char *reboot;
    const char *class; /* of change, or NULL */
    size_t one_way;
} rows[] = {
    {"nothing", L40S(""), L40S("description: other words\n"), "", "no", NULL, 0},
    {"lists and maps without anything in them", L40S(""),
     L40S("firmware: []\nwindows: {}\nsettings: {nic: {}}\ntuning: {}\n"), "", "no", NULL, 0},
    {"newer driver", L40S(""), ON("l40s-pcie-8", "580.105.08", ""),
     "driver 580.95.05>580.105.08 upgrade software node cheap\n", "node", "routine", 0},
    {"older driver", ON("l40s-pcie-8", "580.105.08", ""), L40S(""),
     "driver 580.105.08>580.95.05 downgrade software node cheap\n", "node", "routine", 0},
    {"the same version, spelled differently", L40S(""), ON("l40s-pcie-8", "580.95.5", ""),
     "driver 580.95.05>580.95.5 changed software node cheap\n", "node", "routine", 0},
    {"newer driver inside its window", L40S("windows: {driver: '>=580 <581'}\n"),
     ON("l40s-pcie-8", "580.105.08", "windows: {driver: '>=580 <581'}\n"),
     "driver 580.95.05>580.105.08 upgrade software node cheap\n", "node", "standard", 0},
    {"newer driver outside its window", L40S("windows: {driver: '>=580 <580.100'}\n"),
     ON("l40s-pcie-8", "580.105.08", "windows: {driver: '>=580 <580.200'}\n"),
     "driver 580.95.05>580.105.08 upgrade software node cheap\n"
     "driver.window >=580 <580.100>>=580 <580.200 changed window no cheap\n",
     "node", "routine", 0},
    {"inside its window, with a setting beside it", L40S("windows: {driver: '>=580 <581'}\n"),
     ON("l40s-pcie-8", "580.105.08",
        "windows: {driver: '>=580 <581'}\nsettings: {bios: {NPS: 1}}\n"),
     "driver 580.95.05>580.105.08 upgrade software node cheap\n"
     "settings.bios.NPS >1 added settings node reboot\n",
     "node", "routine", 0},
    {"only a setting", L40S("settings: {ecc: true}\n"), L40S("settings: {ecc: false}\n"),
     "settings.ecc true>false changed settings reset reboot\n", "reset", "routine", 0},
    {"a setting that goes", L40S("settings: {power_limit_w: 700}\n"), L40S(""),
     "settings.power_limit_w 700> removed settings no cheap\n", "no", "routine", 0},
    {"a component that comes", L40S(""), L40S("  slurmd: {version: '24.05.3', owner: image}\n"),
     "slurmd >24.05.3 added software service cheap\n", "service", "routine", 0},
    {"a component that goes", L40S("  slurmd: {version: '24.05.3'}\n"), L40S(""),
     "slurmd 24.05.3> removed software service cheap\n", "service", "routine", 0},
    {"a component that becomes absent", L40S("  slurmd: {version: '24.05.3'}\n"),
     L40S("  slurmd: {absent: not yet}\n"),
     "slurmd 24.05.3> removed software service cheap\n"
     "slurmd.absent >not yet added software service cheap\n",
     "service", "routine", 0},
    {"an absence that comes", L40S(""), L40S("  slurmd: {absent: not yet}\n"),
     "slurmd.absent >not yet added software service cheap\n", "service", "routine", 0},
    {"an absence for another reason", L40S("  slurmd: {absent: not yet}\n"),
     L40S("  slurmd: {absent: never}\n"), "", "no", NULL, 0},
    {"an owner", L40S("  slurmd: {version: '24.05.3'}\n"),
     L40S("  slurmd: {version: '24.05.3', owner: image}\n"),
     "slurmd.owner >image added software service cheap\n", "service", "routine", 0},
    {"the usual owner, written down", L40S("  slurmd: {version: '24.05.3'}\n"),
     L40S("  slurmd: {version: '24.05.3', owner: package, scope: node, build: {}}\n"), "", "no",
     NULL, 0},
    {"sets in another order",
     ON("l40s-pcie-8, t4-pcie-4", "580.95.05", "settings: {nic: {pfc: [3, 4]}}\n"),
     ON("t4-pcie-4, l40s-pcie-8", "580.95.05", "settings: {nic: {pfc: [4, 3]}}\n"), "", "no", NULL,
     0},
    {"kernel parameters in another order",
     L40S("settings: {kernel_cmdline: [quiet, 'iommu=pt']}\n"),
     L40S("settings: {kernel_cmdline: ['iommu=pt', quiet]}\n"),
     "settings.kernel_cmdline [\"quiet\",\"iommu=pt\"]>[\"iommu=pt\",\"quiet\"] changed settings "
     "node "
     "reboot\n",
     "node", "routine", 0},
    {"hardware", L40S(""), ON("t4-pcie-4", "580.95.05", ""),
     "hardware [\"l40s-pcie-8\"]>[\"t4-pcie-4\"] changed hardware no cheap\n", "no", "routine", 0},
    {"tuning", L40S(""), L40S("tuning: {env: {NCCL_ALGO: Ring}}\n"),
     "tuning.env.NCCL_ALGO >Ring added tuning service cheap\n", "service", "routine", 0},
    {"one value of a map each", L40S("settings: {bios: {NPS: 1, SMT: 'on', C: 6}}\n"),
     L40S("settings: {bios: {SMT: 'on', NPS: 4, B: true}}\n"),
     "settings.bios.B >true added settings node reboot\n"
     "settings.bios.C 6> removed settings node reboot\n"
     "settings.bios.NPS 1>4 changed settings node reboot\n",
     "node", "routine", 0},
    {"a list is one value", L40S("settings: {nic: {pfc: [3], link_type: ethernet}}\n"),
     L40S("settings: {nic: {pfc: [3, 4], link_type: ethernet, options: {X: 1}}}\n"),
     "settings.nic.pfc [3]>[3,4] changed settings service cheap\n"
     "settings.nic.options.X >1 added settings service cheap\n",
     "service", "routine", 0},
    {"a number and its text", L40S("settings: {bios: {NPS: 1}}\n"),
     L40S("settings: {bios: {NPS: '1'}}\n"),
     "settings.bios.NPS 1>\"1\" changed settings node reboot\n", "node", "routine", 0},
    {"part of a build",
     L40S("  slurmd: {version: '24.05.3', build: {srcversion: 'A1', build_id: "
          "'0123456789abcdef'}}\n"),
     L40S("  slurmd: {version: '24.05.3', build: {srcversion: 'A2', build_id: "
          "'0123456789abcdef'}}\n"),
     "slurmd.build.srcversion A1>A2 changed software service cheap\n", "service", "routine", 0},
    {"the name of a table",
     L40S("tuning: {table: {name: a, digest: 'sha256:"
          "0000000000000000000000000000000000000000000000000000000000000000'}}\n"),
     L40S("tuning: {table: {name: b, digest: 'sha256:"
          "0000000000000000000000000000000000000000000000000000000000000000'}}\n"),
     "", "no", NULL, 0},
    {"firmware of one part", L40S("firmware: [{class: psu, part: A, version: '1'}]\n"),
     L40S("firmware: [{class: psu, part: A, version: '2'}]\n"),
     "firmware/psu[A] 1>2 upgrade power no one-way\n", "no", "power-fabric", 1},
    {"firmware of one side",
     L40S("firmware: [{class: psu, part: A, side: b, version: '1', revert: revertible}]\n"),
     L40S("firmware: [{class: psu, part: A, side: b, version: '2', revert: revertible}]\n"),
     "firmware/psu[A side b] 1>2 upgrade power no reflash\n", "no", "power-fabric", 0},
    {"firmware with two banks", L40S("firmware: [{class: bios, version: '1', banks: ab}]\n"),
     L40S("firmware: [{class: bios, version: '2', banks: ab}]\n"),
     "firmware/bios 1>2 upgrade host-firmware node banks\n", "node", "routine", 0},
    {"firmware nobody knows", L40S("firmware: [{class: widget, version: '1'}]\n"),
     L40S("firmware: [{class: widget, version: '2'}]\n"),
     "firmware/widget 1>2 upgrade unknown node unknown\n", "node", "routine", 0},
    {"the fabric beats a window",
     L40S("firmware: [{class: nvos, version: '1'}]\nwindows: {firmware/nvos: '>=1'}\n"),
     L40S("firmware: [{class: nvos, version: '2'}]\nwindows: {firmware/nvos: '>=1'}\n"),
     "firmware/nvos 1>2 upgrade fabric domain banks\n", "domain", "power-fabric", 0},
};

static enum lks_code parse(const char *text, const struct lks_facts *facts,
                           struct lks_manifest *out, struct lks_err *err)
{
    return lks_manifest_parse("s", lks_str_from(text), facts, NULL, out, err);
}

static void describe(const struct lks_stackdiff *diff, struct lks_buf *out)
{
    lks_buf_init(out, TEXT_MAX);
    for (size_t i = 0; i < diff->count; i++) {
        const struct lks_difference *d = &diff->differences[i];
        lks_buf_addf(out, "%.*s %.*s>%.*s %s %.*s %.*s %.*s\n", LKS_STR_ARG(d->subject),
                     LKS_STR_ARG(d->from), LKS_STR_ARG(d->to), d->direction, LKS_STR_ARG(d->class),
                     LKS_STR_ARG(d->reboot), LKS_STR_ARG(d->revert));
    }
}

static void test_rows(void)
{
    const struct lks_facts *facts = lks_test_facts();
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest from = {0};
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest to = {0};
        LKS_CLEANUP(lks_stackdiff_fini) struct lks_stackdiff diff = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
        struct lks_err err = {0};
        if (!CHECK_CODE(parse(rows[i].from, facts, &from, &err), LKS_OK) ||
            !CHECK_CODE(parse(rows[i].to, facts, &to, &err), LKS_OK))
            continue;
        CHECK_CODE(lks_stackdiff_make(facts, &from.stacks[0], &to.stacks[0], &diff, &err), LKS_OK);
        describe(&diff, &text);
        CHECK_STR(lks_buf_view(&text), rows[i].differences);
        CHECK_STR(lks_str_from(diff.reboot), rows[i].reboot);
        CHECK_INT(diff.one_way, rows[i].one_way);
        CHECK_INT(diff.same, diff.count == 0);
        CHECK((diff.class != NULL) == (rows[i].class != NULL));
        if (diff.class != NULL && rows[i].class != NULL)
            CHECK_STR(diff.class->name, rows[i].class);
    }
}

/* A change that closes a critical flaw is an emergency, one that opens it is not. */
static void test_emergency(void)
{
    static const char bulletin[] =
        "advisories:\n- {id: CVE-1, vendor: x, component: driver, cvss: '9.0', summary: x,"
        " status: confirmed, source: x, affected: [{component: driver, range: '<580.100'}]}\n";
    struct lks_facts_file file = {"advisories.yaml", "a.yaml", lks_str_from(bulletin)};
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest from = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest to = {0};
    LKS_CLEANUP(lks_stackdiff_fini) struct lks_stackdiff up = {0};
    LKS_CLEANUP(lks_stackdiff_fini) struct lks_stackdiff down = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_facts_load(lks_embedded_data, &file, 1, &facts, &err), LKS_OK) ||
        !CHECK_CODE(parse(L40S(""), &facts, &from, &err), LKS_OK) ||
        !CHECK_CODE(parse(ON("l40s-pcie-8", "580.105.08", ""), &facts, &to, &err), LKS_OK) ||
        !CHECK_CODE(lks_stackdiff_make(&facts, from.stacks, to.stacks, &up, &err), LKS_OK) ||
        !CHECK_CODE(lks_stackdiff_make(&facts, to.stacks, from.stacks, &down, &err), LKS_OK))
        return;
    CHECK_STR(up.class->name, "emergency");
    CHECK(up.closed.count == 1 && up.opened.count == 0);
    CHECK_STR(up.closed.list[0]->id, "CVE-1");
    CHECK_STR(down.class->name, "routine");
    CHECK(down.closed.count == 0 && down.opened.count == 1);
}

/* A bulletin about two components of a stack is one flaw. */
static void test_flaws_once(void)
{
    static const char bulletin[] =
        "advisories:\n- {id: CVE-1, vendor: x, component: driver, cvss: '5.0', summary: x,"
        " status: confirmed, source: x, affected: [{component: driver, range: '<580.100'},"
        " {component: kernel, range: '<6.9'}]}\n";
    struct lks_facts_file file = {"advisories.yaml", "a.yaml", lks_str_from(bulletin)};
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest from = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest to = {0};
    LKS_CLEANUP(lks_stackdiff_fini) struct lks_stackdiff half = {0};
    LKS_CLEANUP(lks_stackdiff_fini) struct lks_stackdiff none = {0};
    struct lks_err err = {0};
    static const char without[] = LKS_STACK("s", "nvidia", "l40s-pcie-8", LKS_STACK_ABSENT);
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest empty = {0};
    if (!CHECK_CODE(lks_facts_load(lks_embedded_data, &file, 1, &facts, &err), LKS_OK) ||
        !CHECK_CODE(parse(L40S(""), &facts, &from, &err), LKS_OK) ||
        !CHECK_CODE(parse(ON("l40s-pcie-8", "580.105.08", ""), &facts, &to, &err), LKS_OK) ||
        !CHECK_CODE(parse(without, &facts, &empty, &err), LKS_OK) ||
        !CHECK_CODE(lks_stackdiff_make(&facts, from.stacks, to.stacks, &half, &err), LKS_OK) ||
        !CHECK_CODE(lks_stackdiff_make(&facts, from.stacks, empty.stacks, &none, &err), LKS_OK))
        return;
    CHECK_INT(half.closed.count, 0); /* the kernel still has it */
    CHECK_INT(none.closed.count, 1);
}

/* Whatever a manifest may hold can be compared. */
static void test_large(void)
{
    enum { VALUES = 3000, WORDS = 40, LONG = 4000 };
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF((size_t)8 << 20);
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest from = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest to = {0};
    LKS_CLEANUP(lks_stackdiff_fini) struct lks_stackdiff diff = {0};
    struct lks_err err = {0};
    const struct lks_facts *facts = lks_test_facts();
    lks_buf_addf(&text, "%s", L40S("settings:\n  kernel_cmdline:\n"));
    for (int i = 0; i < WORDS; i++) {
        lks_buf_addf(&text, "    - 'p%d=", i);
        lks_buf_pad(&text, 'x', LONG);
        lks_buf_addf(&text, "'\n");
    }
    lks_buf_addf(&text, "  bios:\n");
    for (int i = 0; i < VALUES; i++)
        lks_buf_addf(&text, "    Attribute%d: 'a value of some length'\n", i);
    if (!CHECK_CODE(parse(L40S(""), facts, &from, &err), LKS_OK) ||
        !CHECK_CODE(lks_manifest_parse("s", lks_buf_view(&text), facts, NULL, &to, &err), LKS_OK))
        return;
    CHECK_CODE(lks_stackdiff_make(facts, from.stacks, to.stacks, &diff, &err), LKS_OK);
    CHECK_INT(diff.count, VALUES + 1);
}

static void diff_spelled(const struct lks_docs *a, const struct lks_docs *b, struct lks_rng *rng,
                         bool same)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf left = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf right = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest from = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest to = {0};
    LKS_CLEANUP(lks_stackdiff_fini) struct lks_stackdiff diff = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_err err = {0};
    const struct lks_facts *facts = lks_test_facts();
    lks_test_stack_spell(a, rng, &left);
    lks_test_stack_spell(b, rng, &right);
    if (!CHECK_CODE(parse(left.ptr, facts, &from, &err), LKS_OK) ||
        !CHECK_CODE(parse(right.ptr, facts, &to, &err), LKS_OK))
        return;
    CHECK_CODE(lks_stackdiff_make(facts, from.stacks, to.stacks, &diff, &err), LKS_OK);
    describe(&diff, &text);
    CHECK_INT(diff.same, same);
    if (!CHECK_INT(diff.count > 0, !same))
        printf("%s\n", text.ptr != NULL ? text.ptr : "");
}

/* There is a difference exactly where the digests differ, however the two are spelled. */
static void test_property(void)
{
    for (uint64_t seed = 1; seed <= STACKS; seed++) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs stack = {0};
        struct lks_rng rng = {seed};
        lks_test_stack_make(seed, &stack);
        lks_test_case("seed %d, nothing", (int)seed);
        diff_spelled(&stack, &stack, &rng, true);
        for (unsigned change = 0; change < LKS_TEST_CHANGES; change++) {
            lks_test_case("seed %d, %s", (int)seed, lks_test_change_name(change));
            LKS_CLEANUP(lks_docs_fini) struct lks_docs changed = {0};
            lks_test_stack_make(seed, &changed);
            if (lks_test_stack_change(&changed, change))
                diff_spelled(&stack, &changed, &rng, false);
        }
    }
}

/* Firmware is flashed from the reversible to the irreversible, and what a stack itself calls
 * one-way goes behind everything else. */
static const struct {
    const char *name, *from, *to, *order;
} works[] = {
    {"the BMC before what it flashes, power last",
     L40S("firmware: [{class: psu, version: '1'}, {class: vbios, version: '1'}, {class: bios, "
          "version: '1'}, {class: bmc, version: '1'}]\n"),
     L40S("firmware: [{class: psu, version: '2'}, {class: vbios, version: '2'}, {class: bios, "
          "version: '2'}, {class: bmc, version: '2'}]\n"),
     "firmware/bmc firmware/bios firmware/vbios firmware/psu "},
    {"one-way by its own word",
     L40S("firmware: [{class: bmc, version: '1', revert: one-way}, {class: psu, version: '1', "
          "revert: revertible}]\n"),
     L40S("firmware: [{class: bmc, version: '2', revert: one-way}, {class: psu, version: '2', "
          "revert: revertible}]\n"),
     "firmware/psu firmware/bmc "},
    {"what goes is not flashed", L40S("firmware: [{class: bmc, version: '1'}]\n"), L40S(""), ""},
    {"what nobody knows is not in the order", L40S("firmware: [{class: widget, version: '1'}]\n"),
     L40S("firmware: [{class: widget, version: '2'}]\n"), ""},
    {"software is not flashed", L40S(""), ON("l40s-pcie-8", "580.105.08", ""), ""},
};

static void test_order_of_work(void)
{
    const struct lks_facts *facts = lks_test_facts();
    for (size_t i = 0; i < LKS_COUNT(works); i++) {
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest from = {0};
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest to = {0};
        LKS_CLEANUP(lks_stackdiff_fini) struct lks_stackdiff diff = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf order = LKS_BUF(TEXT_MAX);
        struct lks_err err = {0};
        lks_test_case("%s", works[i].name);
        if (!CHECK_CODE(parse(works[i].from, facts, &from, &err), LKS_OK) ||
            !CHECK_CODE(parse(works[i].to, facts, &to, &err), LKS_OK) ||
            !CHECK_CODE(lks_stackdiff_make(facts, from.stacks, to.stacks, &diff, &err), LKS_OK))
            continue;
        for (size_t k = 0; k < diff.flash_count; k++)
            lks_buf_addf(&order, "%.*s ", LKS_STR_ARG(diff.flashes[k]->subject));
        CHECK_STR(lks_buf_view(&order), works[i].order);
    }
}

/* Beside what makes new firmware run stands whether the node boots: one follows from the other.
 * What comes along with the driver is loaded with it. */
static void check_reset(const struct lks_firmware_update *u, const char *reboot)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest from = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest to = {0};
    LKS_CLEANUP(lks_stackdiff_fini) struct lks_stackdiff diff = {0};
    char text[4096];
    struct lks_err err = {0};
    snprintf(text, sizeof(text), L40S("firmware: [{class: %.*s, version: '1'}]\n"),
             LKS_STR_ARG(u->component));
    if (!CHECK_CODE(parse(text, lks_test_facts(), &from, &err), LKS_OK))
        return;
    snprintf(text, sizeof(text), L40S("firmware: [{class: %.*s, version: '2'}]\n"),
             LKS_STR_ARG(u->component));
    if (!CHECK_CODE(parse(text, lks_test_facts(), &to, &err), LKS_OK))
        return;
    CHECK_CODE(lks_stackdiff_make(lks_test_facts(), &from.stacks[0], &to.stacks[0], &diff, &err),
               LKS_OK);
    CHECK_STR(lks_str_from(diff.reboot), reboot);
}

static void test_resets(void)
{
    static const struct {
        const char *reset, *reboot;
    } means[] = {{"none", "no"}, {"bmc", "no"},  {"device", "reset"}, {"reboot", "node"},
                 {"dc", "node"}, {"ac", "node"}, {"domain", "domain"}};
    const struct lks_facts *facts = lks_test_facts();
    for (size_t i = 0; i < facts->firmware_updates.count; i++) {
        const struct lks_firmware_update *u = &facts->firmware_updates.rows[i];
        const struct lks_component_kind *kind = lks_facts_component(facts, u->component);
        bool ours = kind != NULL && kind->vendor != LKS_VENDOR_AMD &&
                    !lks_str_is(kind->update_class, "software");
        lks_test_case("%.*s", LKS_STR_ARG(u->component));
        for (size_t k = 0; k < LKS_COUNT(means); k++) {
            if (ours && lks_str_is(u->reset, means[k].reset))
                check_reset(u, means[k].reboot);
        }
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"stackdiff: rows", test_rows},
        {"stackdiff: the order of work", test_order_of_work},
        {"stackdiff: emergency", test_emergency},
        {"stackdiff: a flaw of two components", test_flaws_once},
        {"stackdiff: a large stack", test_large},
        {"stackdiff: a difference where the digests differ", test_property},
        {"stackdiff: resets and reboots", test_resets},
        {0},
    });
}
