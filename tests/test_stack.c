#include "model/manifest/stack.h"

#include "codec/format/json.h"
#include "model/manifest/manifest.h"
#include "tests/facts.h"
#include "tests/stacks.h"
#include "tests/test.h"

#include <stdio.h>

enum { OUT_MAX = 4 * 1024 * 1024, SPELLINGS = 6 };
enum { STACKS = LKS_TEST_ROUNDS(2000), CHANGED = LKS_TEST_ROUNDS(1000) };

#define HEAD          "lockstep: 1\nkind: Stack\nname: s\nversion: '1'\n"
#define NVIDIA(class) HEAD "vendor: nvidia\nhardware: [" class "]\n"
#define PINS                                                                                       \
    "components:\n"                                                                                \
    "  kernel: {version: '6.8.0-45'}\n"                                                            \
    "  driver: {version: '580.95.05'}\n"                                                           \
    "  cuda: {version: '13.0'}\n"                                                                  \
    "  nccl: {version: '2.27.7'}\n"                                                                \
    "  container-toolkit: {version: '1.18.0'}\n"
#define L40S NVIDIA("l40s-pcie-8") PINS
#define L40S_WITH(driver)                                                                          \
    NVIDIA("l40s-pcie-8")                                                                          \
    "components: {kernel: {version: '6.8.0'}, driver: {version: " driver "}, cuda: {version: "     \
    "'13.0'}, nccl: {version: '2.27.7'}, container-toolkit: {version: '1.18.0'}}\n"
#define AMD HEAD "vendor: amd\nhardware: [mi300x-oam-8]\n"

static enum lks_code parse(struct lks_str text, struct lks_manifest *out, struct lks_err *err)
{
    return lks_manifest_parse("s.yaml", text, lks_test_facts(), NULL, out, err);
}

#define DRIVER(version)                                                                            \
    "s.yaml:7:51: components.driver.version: " version                                             \
    " is not a whole version of driver (dotted numbering)"
#define CTRL   "a line break or control character has no place here"
#define NAME   "is not a name: lower-case letters, digits, '.', '-', '_'"
#define HIDDEN "resembles a secret, and a manifest holds none"

/* Rules ------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *text;
    const char *message; /* NULL when it is accepted */
} rules[] = {
    {"complete", L40S, NULL},
    {"no kernel", NVIDIA("l40s-pcie-8") "components: {driver: {version: '580.95.05'}}\n",
     "s.yaml:7:1: components: 'kernel' is not pinned; give its version, or say absent: REASON"},
    {"no driver", NVIDIA("l40s-pcie-8") "components: {kernel: {version: '6.8.0'}}\n",
     "s.yaml:7:1: components: 'driver' is not pinned; give its version, or say absent: REASON"},
    {"no cuda",
     NVIDIA("l40s-pcie-8") "components: {kernel: {version: '6'}, driver: {version: '580.95.05'}}\n",
     "s.yaml:7:1: components: 'cuda' is not pinned; give its version, or say absent: REASON"},
    {"no nccl",
     NVIDIA("l40s-pcie-8") "components: {kernel: {version: '6'}, driver: {version: '580.95.05'}, "
                           "cuda: "
                           "{version: '13.0'}}\n",
     "s.yaml:7:1: components: 'nccl' is not pinned; give its version, or say absent: REASON"},
    {"no container toolkit",
     NVIDIA("l40s-pcie-8") "components: {kernel: {version: '6'}, driver: {version: '580.95.05'}, "
                           "cuda: "
                           "{version: '13.0'}, nccl: {version: '2.27'}}\n",
     "s.yaml:7:1: components: 'container-toolkit' is not pinned; give its version, or say absent: "
     "REASON"},
    {"absent for a reason",
     NVIDIA("l40s-pcie-8") "components: {kernel: {version: '6'}, driver: {version: '580.95.05'}, "
                           "cuda: "
                           "{version: '13.0'}, nccl: {absent: one GPU a job}, container-toolkit: "
                           "{absent: bare metal}}\n",
     NULL},
    {"NVSwitches without a manager", NVIDIA("hgx-h100-8") PINS,
     "s.yaml:7:1: components: 'fabric-manager' is not pinned and the hardware has NVSwitches; give "
     "its version, or say absent: REASON"},
    {"NVSwitches in one class of two", NVIDIA("l40s-pcie-8, hgx-h100-8") PINS,
     "s.yaml:7:1: components: 'fabric-manager' is not pinned and the hardware has NVSwitches; give "
     "its version, or say absent: REASON"},
    {"NVSwitches with one", NVIDIA("hgx-h100-8") PINS "  fabric-manager: {version: '580.95.05'}\n",
     NULL},
    {"no NVSwitch, no manager", NVIDIA("gb200-nvl72-tray") PINS, NULL},
    {"AMD, complete",
     AMD "components: {kernel: {version: '6'}, amdgpu: {version: '6.12.12'}, rocm: {version: "
         "'6.4.1'}, rccl: {version: '2.22.3'}}\n",
     NULL},
    {"AMD, nothing", AMD "components: {}\n",
     "s.yaml:7:1: components: 'kernel' is not pinned; give its version, or say absent: REASON"},
    {"AMD, no amdgpu", AMD "components: {kernel: {version: '6'}}\n",
     "s.yaml:7:1: components: 'amdgpu' is not pinned; give its version, or say absent: REASON"},
    {"AMD, no rocm", AMD "components: {kernel: {version: '6'}, amdgpu: {version: '6.12.12'}}\n",
     "s.yaml:7:1: components: 'rocm' is not pinned; give its version, or say absent: REASON"},
    {"AMD, no rccl",
     AMD "components: {kernel: {version: '6'}, amdgpu: {version: '6.12.12'}, rocm: {version: "
         "'6.4.1'}}\n",
     "s.yaml:7:1: components: 'rccl' is not pinned; give its version, or say absent: REASON"},

    {"neither version nor absence", L40S "  dcgm: {owner: image}\n",
     "s.yaml:13:3: components.dcgm: needs a version, or absent: REASON"},
    {"both", L40S "  dcgm: {version: '3.3.9', absent: no}\n",
     "s.yaml:13:36: no needs quotes (\"no\"): YAML 1.1 reads it as true or false, YAML 1.2 as "
     "text; for a switch write true or false"},
    {"version and absence", L40S "  dcgm: {version: '3.3.9', absent: not here}\n",
     "s.yaml:13:3: components.dcgm: has a version and is absent; it cannot be both"},
    {"absent and more", L40S "  dcgm: {absent: not here, owner: image}\n",
     "s.yaml:13:3: components.dcgm: is absent, so it has no other fields"},
    {"absent with a note", L40S "  dcgm: {absent: not here, note: really}\n", NULL},
    {"absence without a reason", L40S "  dcgm: {absent: true}\n",
     "s.yaml:13:10: components.dcgm.absent: expected text, found true; put it in quotes"},
    {"an alias", L40S "  nvidia-driver: {version: '580.95.05'}\n",
     "s.yaml:13:3: components.nvidia-driver: this component is called 'driver' here"},
    {"firmware among software", L40S "  bmc: {version: '1'}\n",
     "s.yaml:13:3: components.bmc: is firmware; pin it under firmware with class: bmc"},
    {"the other vendor's", L40S "  rocm: {version: '6.4.1'}\n",
     "s.yaml:13:3: components.rocm: belongs to a stack of vendor amd, and this is one of nvidia"},
    {"a component nobody knows", L40S "  site-agent: {version: 'v7-beta'}\n", NULL},
    {"a version of another numbering", L40S "  slurmd: {version: '24.05.3-rc1+x'}\n",
     "s.yaml:13:12: components.slurmd.version: '24.05.3-rc1+x' is not a whole version of slurmd "
     "(dotted "
     "numbering)"},
    {"no version at all", L40S "  site-agent: {version: 'unknown'}\n",
     "s.yaml:13:16: components.site-agent.version: 'unknown' is not a whole version of site-agent "
     "(firmware numbering)"},
    {"half a driver", L40S_WITH("'580'"), DRIVER("'580'")},
    {"a branch", L40S_WITH("'R580'"), DRIVER("'R580'")},
    {"a branch with a version", L40S_WITH("'R580.95.05'"), DRIVER("'R580.95.05'")},
    {"a tag", L40S_WITH("'v580.1'"), DRIVER("'v580.1'")},
    {"a dot at the start", L40S_WITH("'.580'"), DRIVER("'.580'")},
    {"one dot is enough", L40S_WITH("'580.95'"), NULL},
    {"half a daemon", L40S "  slurmd: {version: '24'}\n",
     "s.yaml:13:12: components.slurmd.version: '24' is not a whole version of slurmd (dotted "
     "numbering)"},
    {"firmware as its vendor numbers it", L40S "firmware: [{class: bmc, version: 'v7'}]\n", NULL},
    {"a character nobody sees in a version", L40S "  dcgm: {version: \"3.3.9\\u200b\"}\n",
     "s.yaml:13:10: components.dcgm.version: " CTRL},
    {"an escape sequence in a version", L40S "  dcgm: {version: \"3.3.9\\e[2J\"}\n",
     "s.yaml:13:10: components.dcgm.version: " CTRL},
    {"text that runs backwards in a name", L40S "  \"dcgm\\u202e\": {version: '3.3.9'}\n",
     "s.yaml:13:3: components.dcgm???: " NAME},
    {"a name with blanks", L40S "  site agent: {version: '7'}\n",
     "s.yaml:13:3: components.site agent: " NAME},
    {"a name with a slash", L40S "  firmware/bmc: {version: '7'}\n",
     "s.yaml:13:3: components.firmware/bmc: " NAME},
    {"a setting as a component", L40S "  settings.ecc: {version: '7'}\n",
     "s.yaml:13:3: components.settings.ecc: settings go under settings, they are no components"},
    {"a setting as firmware", L40S "firmware: [{class: settings.ecc, version: '7'}]\n",
     "s.yaml:13:13: firmware[1].class: settings go under settings, they are no components"},
    {"firmware with a slash", L40S "firmware: [{class: firmware/bmc, version: '7'}]\n",
     "s.yaml:13:13: firmware[1].class: 'firmware/bmc' " NAME},
    {"text that runs backwards in a part",
     L40S "firmware: [{class: psu, part: \"A\\u202e\", version: '7'}]\n",
     "s.yaml:13:25: firmware[1].part: " CTRL},
    {"a control character in a description", L40S "description: \"a\\rb\"\n",
     "s.yaml:13:1: description: " CTRL},
    {"an escape sequence in a reason", L40S "  dcgm: {absent: \"no\\e]0;x\\a\"}\n",
     "s.yaml:13:10: components.dcgm.absent: " CTRL},
    {"a reason of blanks", L40S "  dcgm: {absent: ' '}\n",
     "s.yaml:13:10: components.dcgm.absent: expected text, found an empty text"},
    {"no artifacts", L40S "  dcgm: {version: '3.3.9', artifacts: []}\n",
     "s.yaml:13:28: components.dcgm.artifacts: at least 1 expected, found 0"},
    {"a short build id", L40S "  dcgm: {version: '3.3.9', build: {build_id: '00ff'}}\n",
     "s.yaml:13:36: components.dcgm.build.build_id: '00ff' is not 16 to 128 lower-case hexadecimal "
     "digits, two for each byte"},
    {"a short hash", L40S "  dcgm: {version: '3.3.9', build: {sha256: '00ff00ff00ff00ff'}}\n",
     "s.yaml:13:36: components.dcgm.build.sha256: '00ff00ff00ff00ff' is not 64 lower-case "
     "hexadecimal "
     "digits, two for each byte"},
    {"no parameters of the kernel", L40S "settings: {kernel_cmdline: []}\n",
     "s.yaml:13:12: settings.kernel_cmdline: at least 1 expected, found 0"},
    {"a parameter twice", L40S "settings: {kernel_cmdline: [console=tty0, console=tty0]}\n", NULL},
    {"a secret in the environment", L40S "tuning: {env: {HF_TOKEN: hunter2}}\n",
     "s.yaml:13:16: tuning.env.HF_TOKEN: " HIDDEN},
    {"a secret in the BIOS", L40S "settings: {bios: {AdminPassword: hunter2}}\n",
     "s.yaml:13:19: settings.bios.AdminPassword: " HIDDEN},
    {"a secret among the rest", L40S "settings: {other: {Api-Key: hunter2}}\n",
     "s.yaml:13:20: settings.other.Api-Key: " HIDDEN},
    {"a secret of the NIC", L40S "settings: {nic: {options: {pwd: hunter2}}}\n",
     "s.yaml:13:28: settings.nic.options.pwd: " HIDDEN},
    {"whether there is a password", L40S "settings: {bios: {PasswordSet: true}}\n", NULL},
    {"evidence with a query", L40S "evidence: [{what: x, url: 'https://ci/run?id=7'}]\n",
     "s.yaml:13:22: evidence[1].url: expected https://HOST/PATH, without a query"},
    {"evidence with a password", L40S "evidence: [{what: x, url: 'https://me:x@ci/7'}]\n",
     "s.yaml:13:22: evidence[1].url: a URL here carries no user or password; name them under "
     "credentials"},
    {"evidence on paper", L40S "evidence: [{what: x, url: 'binder 7'}]\n",
     "s.yaml:13:22: evidence[1].url: expected https://HOST/PATH, without a query"},
    {"modules of something else", L40S "  dcgm: {version: '3.3.9', modules: open}\n",
     "s.yaml:13:3: components.dcgm: only the driver has a flavour of modules"},
    {"twice", L40S "  cuda: {version: '12.4'}\n",
     "s.yaml:13:3: components.cuda: this key is already there, on line 10"},
    {"two owners", L40S "  dcgm: {version: '3.3.9', owner: [package, image]}\n",
     "s.yaml:13:28: components.dcgm.owner: exactly one value is allowed here, not a list of 2"},
    {"an owner nobody knows", L40S "  dcgm: {version: '3.3.9', owner: ansible}\n",
     "s.yaml:13:28: components.dcgm.owner: no such value 'ansible'; one of: package, image, "
     "gpu-operator, external"},

    {"firmware", L40S "firmware: [{class: bmc, version: '1.0'}, {class: nic, version: 'x1'}]\n",
     NULL},
    {"firmware twice",
     L40S "firmware:\n  - {class: bmc, version: '1.0'}\n"
          "  - {class: bmc, version: '1.1', owner: external}\n",
     "s.yaml:15:5: firmware[2]: firmware/bmc is pinned twice (owners bundle and external); one "
     "component has one owner"},
    {"firmware twice for different parts",
     L40S "firmware:\n  - {class: psu, part: A, version: '1'}\n"
          "  - {class: psu, part: B, version: '1'}\n  - {class: psu, version: '1'}\n",
     NULL},
    {"firmware twice for the sides",
     L40S "firmware:\n  - {class: psu, side: a, version: '1'}\n"
          "  - {class: psu, side: b, version: '2'}\n",
     NULL},
    {"firmware twice for one side",
     L40S "firmware:\n  - {class: psu, side: a, version: '1'}\n"
          "  - {class: psu, side: a, version: '1'}\n",
     "s.yaml:15:5: firmware[2]: firmware/psu is pinned twice (owners bundle and bundle); one "
     "component has one owner"},
    {"software among firmware", L40S "firmware: [{class: slurmd, version: '24.05.3'}]\n",
     "s.yaml:13:13: firmware[1].class: slurmd is software; pin it under components"},
    {"an alias among firmware", L40S "firmware: [{class: connectx, version: '1'}]\n",
     "s.yaml:13:13: firmware[1].class: this component is called 'nic' here"},
    {"the other vendor's firmware", L40S "firmware: [{class: ifwi, version: '1'}]\n",
     "s.yaml:13:13: firmware[1].class: belongs to a stack of vendor amd, and this is one of "
     "nvidia"},
    {"firmware without a class", L40S "firmware: [{version: '1'}]\n",
     "s.yaml:13:12: firmware[1]: firmware entry needs 'class': kind of device: bmc, bios, vbios, "
     "nic, psu ..."},
    {"firmware without a version", L40S "firmware: [{class: bmc}]\n",
     "s.yaml:13:12: firmware[1]: needs a version, or absent: REASON"},
    {"a part that is absent", L40S "firmware: [{class: psu, part: A, absent: one feed}]\n", NULL},

    {"window", L40S "windows: {driver: '>=580 <581'}\n", NULL},
    {"window of firmware",
     L40S "firmware: [{class: bmc, version: '1.5'}]\n"
          "windows: {firmware/bmc: '>=1.0 <2'}\n",
     NULL},
    {"pin outside its window", L40S "windows: {driver: '>=570 <580'}\n",
     "s.yaml:13:11: windows.driver: the pinned version 580.95.05 lies outside its own window"},
    {"window of nothing", L40S "windows: {dcgm: '>=3'}\n",
     "s.yaml:13:11: windows.dcgm: a window is for a pinned component, and this one is not pinned"},
    {"window of what is absent", L40S "  dcgm: {absent: not here}\nwindows: {dcgm: '>=3'}\n",
     "s.yaml:14:11: windows.dcgm: a window is for a pinned component, and this one is not pinned"},
    {"window of a firmware class, all parts",
     L40S "firmware: [{class: nic, part: A, version: '28'}, {class: nic, part: B, version: '29'}]\n"
          "windows: {firmware/nic: '>=28'}\n",
     NULL},
    {"window of a firmware class that one part is outside of",
     L40S "firmware: [{class: nic, part: A, version: '28'}, {class: nic, part: B, version: '27'}]\n"
          "windows: {firmware/nic: '>=28'}\n",
     "s.yaml:14:11: windows.firmware/nic: the pinned version 27 lies outside its own window"},
    {"window of firmware by its class alone",
     L40S "firmware: [{class: bmc, version: '1.5'}]\nwindows: {bmc: '>=1.0'}\n",
     "s.yaml:14:11: windows.bmc: a window is for a pinned component, and this one is not pinned"},
    {"window of no component", L40S "windows: {Driver: '>=580'}\n",
     "s.yaml:13:11: windows.Driver: is not a component: a name, or firmware/NAME"},
    {"window of software with a prefix", L40S "windows: {software/driver: '>=580'}\n",
     "s.yaml:13:11: windows.software/driver: is not a component: a name, or firmware/NAME"},
    {"window that is no range", L40S "windows: {driver: '~>580'}\n",
     "s.yaml:13:11: windows.driver: condition 1: unknown operator '~>' (there are = != < <= > >=)"},
    {"window nothing can be in", L40S "windows: {driver: '>=581 <580'}\n",
     "s.yaml:13:11: windows.driver: no version can satisfy '>=581 <580'"},

    {"no such class", NVIDIA("hgx-h1000") PINS,
     "s.yaml:6:12: hardware[1]: no hardware class 'hgx-h1000'; did you mean 'hgx-h100-8'?"},
    {"a class twice", NVIDIA("l40s-pcie-8, t4-pcie-4, l40s-pcie-8") PINS,
     "s.yaml:6:36: hardware[3]: this class is named twice"},
    {"class of the other vendor", NVIDIA("l40s-pcie-8, mi300x-oam-8") PINS,
     "s.yaml:6:25: hardware[2]: hardware of amd in a stack of nvidia"},
    {"no hardware", HEAD "vendor: nvidia\nhardware: []\n" PINS,
     "s.yaml:6:1: hardware: at least 1 expected, found 0"},
    {"no vendor", HEAD "hardware: [l40s-pcie-8]\n" PINS,
     "s.yaml:1:1: Stack needs 'vendor': whose GPUs"},
    {"version without quotes", "lockstep: 1\nkind: Stack\nname: s\nversion: 1\n",
     "s.yaml:4:1: version: expected a version, found the number 1; put it in quotes"},
};

static void test_rules(void)
{
    for (size_t i = 0; i < LKS_COUNT(rules); i++) {
        lks_test_case("%s", rules[i].name);
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
        struct lks_err err = {0};
        bool fine = rules[i].message == NULL;
        CHECK_CODE(parse(lks_str_from(rules[i].text), &m, &err), fine ? LKS_OK : LKS_E_INVALID);
        CHECK_STR(lks_str_from(err.msg), fine ? "" : rules[i].message);
        CHECK_INT(m.stack_count, fine);
    }
}

/* Two entries for one class and part stand in the order of their sides. */
static void check_psu(const struct lks_component *psu)
{
    if (!CHECK(psu != NULL))
        return;
    CHECK_STR(psu[0].label, "firmware/psu[B side a]");
    CHECK_STR(psu[1].label, "firmware/psu[B side b]");
    CHECK(lks_stack_component_cmp(&psu[0], &psu[1]) < 0 &&
          lks_stack_component_cmp(&psu[1], &psu[0]) > 0);
    CHECK(lks_stack_component_cmp(&psu[0], &psu[0]) == 0);
    CHECK_STR(psu[0].side, "a");
    CHECK_STR(psu[0].revert, "one-way");
    CHECK_STR(psu[1].side, "b");
    CHECK_STR(psu[1].banks, "ab");
    CHECK_STR(psu[1].transport, "pldm");
    CHECK_STR(psu[1].owner, "bundle");
}

static void test_reading(void)
{
    static const char text[] = NVIDIA("hgx-h100-8, l40s-pcie-8") PINS
        "  fabric-manager: {absent: under test}\n"
        "  dcgm: {version: '3.3.9', owner: gpu-operator, scope: chassis}\n"
        "firmware:\n"
        "  - {class: psu, part: B, side: b, version: '2', transport: pldm, banks: ab}\n"
        "  - {class: psu, part: B, side: a, version: '1', revert: one-way}\n"
        "windows: {cuda: '>=12.4'}\n"
        "settings: {mig: {mode: enabled, profiles: [1g.10gb]}, ecc: true}\n";
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(parse(lks_str_from(text), &m, &err), LKS_OK))
        return;
    const struct lks_stack *s = &m.stacks[0];
    CHECK_STR(s->name, "s");
    CHECK_STR(s->version, "1");
    CHECK_INT(s->vendor, LKS_VENDOR_NVIDIA);
    CHECK_INT(s->class_count, 2);
    CHECK_STR(s->classes[0]->name, "hgx-h100-8");
    CHECK_INT(s->component_count, 9);
    for (size_t i = 1; i < s->component_count; i++)
        CHECK(lks_str_cmp(s->components[i - 1].name, s->components[i].name) <= 0);

    CHECK(lks_stack_find(s, "fabric-manager") == NULL); /* absent */
    CHECK_STR(lks_stack_version(s, "fabric-manager"), "");
    CHECK_STR(lks_stack_version(s, "driver"), "580.95.05");
    CHECK_STR(lks_stack_find(s, "driver")->owner, "package");
    CHECK_STR(lks_stack_find(s, "driver")->scope, "node");
    CHECK_STR(lks_stack_find(s, "dcgm")->owner, "gpu-operator");
    CHECK_STR(lks_stack_find(s, "dcgm")->scope, "chassis");
    CHECK_STR(lks_stack_find(s, "cuda")->window, ">=12.4");
    check_psu(lks_stack_find(s, "firmware/psu"));
    CHECK_STR(lks_stack_find(s, "driver")->label, "driver");
    CHECK_STR(lks_stack_setting(s, "mig.mode")->text, "enabled");
    CHECK(lks_stack_setting(s, "ecc")->truth);
    CHECK(lks_stack_setting(s, "mig.missing") == NULL);
    CHECK(lks_stack_setting(s, "ecc.deeper") == NULL);
}

/* How firmware is called, and what one copy of it serves when nothing is said. */
static const struct {
    const char *entry;
    const char *label;
    const char *scope;
} firmwares[] = {
    {"class: bmc", "firmware/bmc", "node"},
    {"class: power-shelf", "firmware/power-shelf", "domain"},
    {"class: hmc", "firmware/hmc", "chassis"},
    {"class: power-shelf, scope: site", "firmware/power-shelf", "site"},
    {"class: power-shelf, scope: node", "firmware/power-shelf", "node"},
    {"class: of-our-own", "firmware/of-our-own", "node"},
    {"class: bios, part: PN 7", "firmware/bios[PN 7]", "node"},
    {"class: bios, side: a", "firmware/bios[side a]", "node"},
    {"class: bios, side: b, part: PN 7", "firmware/bios[PN 7 side b]", "node"},
};

static void test_firmware(void)
{
    for (size_t i = 0; i < LKS_COUNT(firmwares); i++) {
        lks_test_case("%s", firmwares[i].entry);
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(OUT_MAX);
        struct lks_err err = {0};
        lks_buf_addf(&text, L40S "firmware: [{%s, version: '1'}]\n", firmwares[i].entry);
        if (!CHECK_CODE(parse(lks_buf_view(&text), &m, &err), LKS_OK))
            continue;
        const struct lks_stack *s = &m.stacks[0];
        const struct lks_component *c = NULL;
        for (size_t j = 0; j < s->component_count; j++) {
            if (lks_str_starts(s->components[j].name, "firmware/"))
                c = &s->components[j];
        }
        if (!CHECK(c != NULL))
            continue;
        CHECK_STR(c->label, firmwares[i].label);
        CHECK_STR(c->scope, firmwares[i].scope);
    }
}

/* Each ceiling: so many are accepted, one more is not. */
static const struct {
    const char *name;
    const char *text;            /* what comes first */
    const char *before, *behind; /* the number of each item */
    int width;                   /* of that number */
    int most;
    const char *message;
} ceilings[] = {
    {"components", L40S, "  c", ": {version: '7'}\n", 1, LKS_STACK_COMPONENTS_MAX - 5,
     "s.yaml:7:1: components: at most 512 allowed, found 513"},
    {"firmware", L40S "firmware:\n", "  - {class: c", ", version: '7'}\n", 1,
     LKS_STACK_COMPONENTS_MAX, "s.yaml:13:1: firmware: at most 512 allowed, found 513"},
    {"attributes of the BIOS", L40S "settings:\n  bios:\n", "    A", ": 7\n", 1,
     LKS_STACK_ATTRIBUTES_MAX, "s.yaml:14:3: settings.bios: at most 4096 allowed, found 4097"},
    {"parameters of the kernel", L40S "settings:\n  kernel_cmdline:\n", "    - p", "\n", 1, 256,
     "s.yaml:14:3: settings.kernel_cmdline: at most 256 allowed, found 257"},
    {"artifacts", L40S "  dcgm:\n    version: '3.3.9'\n    artifacts:\n", "      - 'sha256:", "'\n",
     64, 64, "s.yaml:15:5: components.dcgm.artifacts: at most 64 allowed, found 65"},
};

static void test_ceilings(void)
{
    for (size_t i = 0; i < LKS_COUNT(ceilings); i++) {
        for (int more = 0; more < 2; more++) {
            lks_test_case("%s, %d more", ceilings[i].name, more);
            LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
            LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(OUT_MAX);
            struct lks_err err = {0};
            lks_buf_add(&text, lks_str_from(ceilings[i].text));
            for (int n = 0; n < ceilings[i].most + more; n++)
                lks_buf_addf(&text, "%s%0*d%s", ceilings[i].before, ceilings[i].width, n,
                             ceilings[i].behind);
            CHECK_CODE(parse(lks_buf_view(&text), &m, &err), more > 0 ? LKS_E_INVALID : LKS_OK);
            CHECK_STR(lks_str_from(err.msg), more > 0 ? ceilings[i].message : "");
        }
    }
}

/* Golden digests ---------------------------------------------------------------------------- */

/* These never change: signatures, pins and journals of every site hang on them. The canonical text,
 * where it is given, was written by hand after RFC 8785 and hashed by another program. */
static const struct {
    const char *name;
    const char *text;
    const char *canonical; /* or NULL */
    const char *digest;
} golden[] = {
    {"as small as can be", L40S,
     "{\"components\":{\"container-toolkit\":{\"version\":\"1.18.0\"},\"cuda\":{\"version\":\"13."
     "0\"},\"driver\":{\"version\":\"580.95.05\"},\"kernel\":{\"version\":\"6.8.0-45\"},\"nccl\":{"
     "\"version\":\"2.27.7\"}},\"hardware\":[\"l40s-pcie-8\"],\"vendor\":\"nvidia\"}",
     "sha256:8432d92e021d694fb52fdbea73deb85dc72218911e87e3a65ee3548f8f7eb1cb"},
    {"everything",
     NVIDIA("l40s-pcie-8, gb200-nvl72-tray") PINS
     "  dcgm: {absent: \"not yet\", note: really}\n"
     "  site-agent: {version: \"v7\", scope: site, owner: external}\n"
     "  gds: {version: \"2.17.5\", owner: package, scope: node, build: {build_id: "
     "'00ff00ff00ff00ff', "
     "srcversion: "
     "A1}, artifacts: ['sha256:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff', "
     "'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef']}\n"
     "firmware:\n"
     "  - {class: psu, part: \"B \\u20ac\", side: b, version: '2', transport: pldm, banks: ab, "
     "revert: "
     "one-way}\n"
     "  - {class: bmc, version: '24.10-3', owner: bundle}\n"
     "windows: {driver: '>=580 <581'}\n"
     "settings:\n"
     "  ecc: false\n"
     "  power_limit_w: 700\n"
     "  mig: {mode: enabled, profiles: [3g.40gb, 1g.10gb]}\n"
     "  kernel_cmdline: ['pci=realloc=off', 'iommu=pt']\n"
     "  nic: {pfc: [4, 3], options: {Z: 1, a: true, B: \"x\"}}\n"
     "tuning: {env: {NCCL_ALGO: Ring}, table: {name: t.conf, digest: "
     "'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}}\n"
     "description: golden\n"
     "evidence: [{what: burn-in, by: us, date: '2026-10-01'}]\n",
     "{\"components\":{\"container-toolkit\":{\"version\":\"1.18.0\"},\"cuda\":{\"version\":\"13."
     "0\"},\"dcgm\":{\"absent\":true},\"driver\":{\"version\":\"580.95.05\"},\"gds\":{"
     "\"artifacts\":[\"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\","
     "\"sha256:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\"],\"build\":{"
     "\"build_id\":\"00ff00ff00ff00ff\",\"srcversion\":\"A1\"},\"version\":\"2.17.5\"},\"kernel\":{"
     "\"version\":"
     "\"6.8.0-45\"},\"nccl\":{\"version\":\"2.27.7\"},\"site-"
     "agent\":{\"owner\":\"external\",\"scope\":\"site\",\"version\":\"v7\"}},\"firmware\":[{"
     "\"banks\":\"ab\",\"class\":\"psu\",\"part\":\"B \xe2"
     "\x82"
     "\xac"
     "\",\"revert\":\"one-way\",\"side\":\"b\",\"transport\":\"pldm\",\"version\":\"2\"},{"
     "\"class\":\"bmc\",\"version\":\"24.10-3\"}],\"hardware\":[\"gb200-nvl72-tray\",\"l40s-pcie-"
     "8\"],\"settings\":{\"ecc\":false,\"kernel_cmdline\":[\"pci=realloc=off\",\"iommu=pt\"],"
     "\"mig\":{\"mode\":\"enabled\",\"profiles\":[\"3g.40gb\",\"1g.10gb\"]},\"nic\":{\"options\":{"
     "\"B\":\"x\",\"Z\":1,\"a\":true},\"pfc\":[3,4]},\"power_limit_w\":700},\"tuning\":{\"env\":{"
     "\"NCCL_ALGO\":\"Ring\"},\"table\":{\"digest\":\"sha256:"
     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}},\"vendor\":\"nvidia\","
     "\"windows\":{\"driver\":\">=580 <581\"}}",
     "sha256:be5b6acc28a5ed8988f5c9ca5d5168fa9af5ca24fe19099eb3e2e57ef207029f"},
    {"AMD",
     AMD "components: {kernel: {version: '6.8.0'}, amdgpu: {version: '6.12.12'}, rocm: {version: "
         "'6.4.1'}, "
         "rccl: {version: '2.22.3', owner: image}}\n",
     NULL, "sha256:6e2469f5d5ff378a1f36bec833e81c77989e5b707566a6ee49f43673f82235ed"},
    {"with a fabric manager",
     NVIDIA("hgx-h100-8") PINS "  fabric-manager: {version: '580.95.05'}\n", NULL,
     "sha256:7f964050004259f8bd49e811ef4b0b952b60edbc7b3eec8487096ef0b6917283"},
    {"a list without elements", L40S "firmware: []\nsettings: {nic: {pfc: []}}\n", NULL,
     "sha256:3287912cbd67fbc3f26d7c3fb6d3e8ff21671c451d8f27d0a7ba167f8706a2d6"},
    {"JSON",
     "{\"lockstep\":1,\"kind\":\"Stack\",\"name\":\"s\",\"version\":\"1\",\"vendor\":\"nvidia\","
     "\"hardware\":[\"l40s-pcie-8\"],\"components\":{\"kernel\":{\"version\":\"6.8.0-45\"},"
     "\"driver\":{"
     "\"version\":\"580.95.05\"},\"cuda\":{\"version\":\"13.0\"},\"nccl\":{\"version\":\"2.27.7\"},"
     "\"container-toolkit\":{\"version\":\"1.18.0\"}},\"tuning\":{\"env\":{\"A\":\"\\u00e9\"}}}",
     NULL, "sha256:9b5db803b16350521ef2ad1fb96dda40b10145d16fcd766bf56be252d36ea675"},
    {"settings of the BIOS",
     L40S "settings: {bios: {'SR-IOV': Enabled, NPS: 4, \"Bo\\u00f6t\": true}}\n", NULL,
     "sha256:7efa2ed29f65d5c22b3d17baf1cd64b9aea07a351eacdedc61be2ab1c9136cee"},
    {"parameters of the kernel, in their order",
     L40S "settings: {kernel_cmdline: [hugepagesz=1G, hugepages=16, hugepagesz=2M, hugepages=512, "
          "hugepages=512]}\n",
     "{\"components\":{\"container-toolkit\":{\"version\":\"1.18.0\"},\"cuda\":{\"version\":\"13."
     "0\"},\"driver\":{\"version\":\"580.95.05\"},\"kernel\":{\"version\":\"6.8.0-45\"},\"nccl\":{"
     "\"version\":\"2.27.7\"}},\"hardware\":[\"l40s-pcie-8\"],\"settings\":{\"kernel_cmdline\":["
     "\"hugepagesz=1G\",\"hugepages=16\",\"hugepagesz=2M\",\"hugepages=512\",\"hugepages=512\"]},"
     "\"vendor\":\"nvidia\"}",
     "sha256:15a6342b285c7d874e6eeb3152ae0a0d1220cced150cca31e98b9f86c603a017"},
    {"a firmware's scope is what is usual",
     L40S "firmware: [{class: power-shelf, version: '1.4.2', owner: bundle}]\n",
     "{\"components\":{\"container-toolkit\":{\"version\":\"1.18.0\"},\"cuda\":{\"version\":\"13."
     "0\"},\"driver\":{\"version\":\"580.95.05\"},\"kernel\":{\"version\":\"6.8.0-45\"},\"nccl\":{"
     "\"version\":\"2.27.7\"}},\"firmware\":[{\"class\":\"power-shelf\",\"version\":\"1.4.2\"}],"
     "\"hardware\":[\"l40s-pcie-8\"],\"vendor\":\"nvidia\"}",
     "sha256:ddc7964eb70f26cde3e04dd948caee65539fa753dfc314f522a728437f4976f1"},
    {"a firmware's scope is said",
     L40S "firmware: [{class: power-shelf, version: '1.4.2', scope: domain}, {class: bmc, version: "
          "'1', scope: node}]\n",
     "{\"components\":{\"container-toolkit\":{\"version\":\"1.18.0\"},\"cuda\":{\"version\":\"13."
     "0\"},\"driver\":{\"version\":\"580.95.05\"},\"kernel\":{\"version\":\"6.8.0-45\"},\"nccl\":{"
     "\"version\":\"2.27.7\"}},\"firmware\":[{\"class\":\"bmc\",\"scope\":\"node\",\"version\":"
     "\"1\"},{\"class\":\"power-shelf\",\"scope\":\"domain\",\"version\":\"1.4.2\"}],\"hardware\":["
     "\"l40s-pcie-8\"],\"vendor\":\"nvidia\"}",
     "sha256:e0b0cd642a65ee900c37a1bf9ccbeb42405577dca589bfa709b8616fc9e74d08"},
    {"windows of software and firmware",
     L40S "firmware: [{class: nic, version: '28.46.1006'}]\nwindows: {firmware/nic: '>=28', "
          "driver: '>=580'}\n",
     "{\"components\":{\"container-toolkit\":{\"version\":\"1.18.0\"},\"cuda\":{\"version\":\"13."
     "0\"},\"driver\":{\"version\":\"580.95.05\"},\"kernel\":{\"version\":\"6.8.0-45\"},\"nccl\":{"
     "\"version\":\"2.27.7\"}},\"firmware\":[{\"class\":\"nic\",\"version\":\"28.46.1006\"}],"
     "\"hardware\":[\"l40s-pcie-8\"],\"vendor\":\"nvidia\",\"windows\":{\"driver\":\">=580\","
     "\"firmware/nic\":\">=28\"}}",
     "sha256:9d08a4be5c51be3815fe5eb9ee1c02fea0cb2323afdabc7da3e15eccccb4726d"},
    {"the hash of a file",
     L40S "  dcgm: {version: '1:3.3.9', build: {sha256: "
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855}}\n",
     "{\"components\":{\"container-toolkit\":{\"version\":\"1.18.0\"},\"cuda\":{\"version\":\"13."
     "0\"},\"dcgm\":{\"build\":{\"sha256\":"
     "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"},\"version\":\"1:3.3."
     "9\"},\"driver\":{\"version\":\"580.95.05\"},\"kernel\":{\"version\":\"6.8.0-45\"},\"nccl\":{"
     "\"version\":\"2.27.7\"}},\"hardware\":[\"l40s-pcie-8\"],\"vendor\":\"nvidia\"}",
     "sha256:138431a847fb15037ce3064d2190745f1467e46c66aa32e6bc98d113e2600849"},
};

static void test_golden(void)
{
    for (size_t i = 0; i < LKS_COUNT(golden); i++) {
        lks_test_case("%s", golden[i].name);
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(OUT_MAX);
        struct lks_err err = {0};
        if (!CHECK_CODE(parse(lks_str_from(golden[i].text), &m, &err), LKS_OK))
            continue;
        CHECK_STR(lks_str_from(m.stacks[0].digest), golden[i].digest);
        CHECK_CODE(lks_stack_canonical(&m.stacks[0], &out, &err), LKS_OK);
        if (golden[i].canonical != NULL)
            CHECK_STR(lks_buf_view(&out), golden[i].canonical);
    }
}

/* Invariance -------------------------------------------------------------------------------- */

/* The digest of one spelling of `stack`; empty when it was refused, which is a failure. */
static void spelled_digest(const struct lks_docs *stack, struct lks_rng *rng,
                           char digest[LKS_DIGEST_SIZE])
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_err err = {0};
    lks_test_stack_spell(stack, rng, &text);
    digest[0] = '\0';
    if (CHECK_CODE(parse(lks_buf_view(&text), &m, &err), LKS_OK) && CHECK_INT(m.stack_count, 1))
        memcpy(digest, m.stacks[0].digest, LKS_DIGEST_SIZE);
    else
        printf("    %s\n%s\n", err.msg, text.ptr);
}

/* However a stack is spelled, it has one digest. */
static void test_invariance(void)
{
    for (uint64_t seed = 1; seed <= STACKS; seed++) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs stack = {0};
        lks_test_stack_make(seed, &stack);
        struct lks_rng rng = {seed * 7919};
        char first[LKS_DIGEST_SIZE], other[LKS_DIGEST_SIZE];
        lks_test_case("seed %d", (int)seed);
        spelled_digest(&stack, &rng, first);
        for (int i = 1; i < SPELLINGS; i++) {
            lks_test_case("seed %d, spelling %d", (int)seed, i);
            spelled_digest(&stack, &rng, other);
            if (!CHECK_STR(lks_str_from(other), first))
                return;
        }
    }
}

/* Whatever is changed of what counts, the digest is another one. */
static void test_sensitivity(void)
{
    unsigned applied[LKS_TEST_CHANGES] = {0};
    for (uint64_t seed = 1; seed <= CHANGED; seed++) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs stack = {0};
        lks_test_stack_make(seed, &stack);
        struct lks_rng rng = {seed};
        char before[LKS_DIGEST_SIZE], after[LKS_DIGEST_SIZE];
        lks_test_case("seed %d", (int)seed);
        spelled_digest(&stack, &rng, before);
        for (unsigned change = 0; change < LKS_TEST_CHANGES; change++) {
            lks_test_case("seed %d, %s", (int)seed, lks_test_change_name(change));
            LKS_CLEANUP(lks_docs_fini) struct lks_docs changed = {0};
            lks_test_stack_make(seed, &changed);
            if (!lks_test_stack_change(&changed, change))
                continue;
            applied[change]++;
            spelled_digest(&changed, &rng, after);
            if (!CHECK(strcmp(before, after) != 0) || !CHECK(after[0] != '\0'))
                return;
        }
    }
    for (unsigned change = 0; change < LKS_TEST_CHANGES; change++) {
        lks_test_case("how often: %s", lks_test_change_name(change));
        CHECK(applied[change] > CHANGED / 20);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"stack: rules", test_rules},
        {"stack: reading", test_reading},
        {"stack: firmware by itself", test_firmware},
        {"stack: ceilings", test_ceilings},
        {"stack: golden digests", test_golden},
        {"stack: one digest for every spelling", test_invariance},
        {"stack: another digest for every change", test_sensitivity},
        {0},
    });
}
