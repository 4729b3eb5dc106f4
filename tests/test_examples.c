/* The shipped examples: the good ones pass, each broken one fails in the way its name says. */
#include "base/file.h"
#include "core/check/check.h"
#include "tests/manifests.h"
#include "tests/run_cli.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

/* The digests never change: a stack that was published once keeps its name for ever. Where one of
 * these fails, the code is wrong, not the row. */
static const struct {
    const char *file;
    const char *name; /* of the stack, with its version */
    const char *digest;
} good[] = {
    {"h100-train", "h100-train 2026.11.1",
     "sha256:b5fbc8faefc182e57c746f12961935d654028405569a8d33779a0e671f25a11c"},
    {"h200-train", "h200-train 2026.03.2",
     "sha256:775bf7c2743e58b9e3318b4f18617138896b3cbe19c15cb16f8fce8e2532f303"},
    {"h200-train-next", "h200-train 2026.11.1",
     "sha256:f8109959bb611e48da1f086f4e468eba0edd4835294eb69cbc7e4dfcf13e0847"},
    {"gb200-nvl72", "gb200-nvl72 2026.11.1",
     "sha256:954c9dcc3c5c5326a2d435ae069574733057c8ae581fa18cf41259fb300d356e"},
    {"v100-inference", "v100-inference 2026.11.1",
     "sha256:b87d3216dbb9d1c999815a17c48f824a41113d380da1c4a7c62645908cf9490e"},
    {"mi300x-rocm", "mi300x-rocm 2026.11.1",
     "sha256:33294c1ba32666c1028760b1070be3f75cd9b79882ec3138bcd5ba79560b3049"},
};

static const struct {
    const char *rule; /* also the name of the file */
    int exit;
    const char *severity;
    size_t others; /* findings of other rules, above info */
} rules[] = {
    {"compat", 1, "error", 0},
    {"driver-family", 1, "error", 0},
    {"kernel", 1, "error", 0},
    {"nccl", 1, "error", 0},
    {"cudnn", 1, "error", 0},
    {"cdmm", 1, "error", 0},
    {"mig", 1, "error", 0},
    {"toolkit-library", 1, "error", 0},
    {"bundled-driver", 0, "warning", 0},
    {"dcgm", 1, "error", 2},
    {"gpu-operator", 0, "warning", 0},
    {"rocm-parts", 0, "warning", 0},
    {"rocm-firmware", 0, "warning", 0},
    {"requires", 1, "error", 0},
    {"lifecycle", 0, "warning", 0},
    {"last-branch", 0, "warning", 0},
    {"unattended-upgrades", 0, "warning", 0},
    {"one-way", 0, "info", 0},
    {"spelling", 0, "warning", 0},
    {"known-version", 0, "warning", 0},
    {"advisories", 0, "warning", 0},
    {"version-policy", 1, "error", 0},
};

static const struct {
    const char *file;
    const char *message; /* behind the name of the file */
} lints[] = {
    {"lint-absent-and-version",
     "14:3: components.dcgm: has a version and is absent; it cannot be both"},
    {"lint-alias", "13:3: components.nvidia-container-toolkit: this component is called "
                   "'container-toolkit' here"},
    {"lint-ambiguous-scalar", "16:8: yes needs quotes (\"yes\"): YAML 1.1 reads it as true or "
                              "false, YAML 1.2 as text; for a switch write true or false"},
    {"lint-bad-version", "10:12: components.driver.version: '580.x' is not a whole version of "
                         "driver (dotted numbering)"},
    {"lint-blank-text", "14:10: components.dcgm.absent: expected text, found an empty text"},
    {"lint-bmc-braces", "12:7: nodes[1].bmc.url: only {host} can be in braces"},
    {"lint-bmc-trust", "13:7: nodes[1].bmc.trust: trust is file:/CA.pem or fingerprint"},
    {"lint-class-domain",
     "7:1: nvlink_domain: a domain of 72 GPUs is not a whole number of nodes with 5"},
    {"lint-class-twice", "7:25: hardware[2]: this class is named twice"},
    {"lint-component-name",
     "14:3: components.site agent: is not a name: lower-case letters, digits, '.', '-', '_'"},
    {"lint-credentials-words", "13:7: nodes[1].bmc.credentials: credentials are given by reference "
                               "only: file:/PATH or exec:/PROGRAM"},
    {"lint-credentials", "13:7: nodes[1].bmc.credentials: credentials are given by reference only: "
                         "file:/PATH or exec:/PROGRAM"},
    {"lint-date", "17:22: evidence[1].date: '2026-11-31' is not a date such as \"2026-11-15\""},
    {"lint-digest",
     "17:11: tuning.table.digest: 'sha256:5f3b1c' is not a digest: sha256: and 64 lower-case "
     "hexadecimal digits"},
    {"lint-domain-size",
     "6:3: domains.rack01: its nodes hold 68 GPUs, and one NVLink domain holds 72"},
    {"lint-duplicate-host", "9:6: nodes[2].hosts: host 'gpu04' is already named in this fleet"},
    {"lint-duplicate-key", "12:3: components.driver: this key is already there, on line 10"},
    {"lint-duplicate-name", "10:1: name: there is already a HardwareClass 'broken' in this file"},
    {"lint-empty-artifacts", "14:28: components.dcgm.artifacts: at least 1 expected, found 0"},
    {"lint-empty-cmdline", "15:3: settings.kernel_cmdline: at least 1 expected, found 0"},
    {"lint-empty-window", "16:3: windows.dcgm: no version can satisfy '>=4.6 <4.5'"},
    {"lint-evidence-url", "15:23: evidence[1].url: expected https://HOST/PATH, without a query"},
    {"lint-firmware-under-components",
     "14:3: components.bios: is firmware; pin it under firmware with class: bios"},
    {"lint-half-version",
     "10:12: components.driver.version: '580' is not a whole version of driver (dotted numbering)"},
    {"lint-hidden-character",
     "14:10: components.dcgm.version: a line break or control character has no place here"},
    {"lint-host-list", "8:6: nodes[1].hosts: character 5: the range runs backwards"},
    {"lint-latest",
     "14:10: components.dcgm.version: 'latest' is not a version: a stack pins exact ones"},
    {"lint-missing-fabric-manager",
     "8:1: components: 'fabric-manager' is not pinned and the hardware has NVSwitches; give its "
     "version, or say absent: REASON"},
    {"lint-missing-key", "2:1: Stack needs 'version': version of the stack, in quotes"},
    {"lint-missing-pin",
     "8:1: components: 'nccl' is not pinned; give its version, or say absent: REASON"},
    {"lint-modules", "14:3: components.dcgm: only the driver has a flavour of modules"},
    {"lint-newer-format",
     "2:1: lockstep: written for format 2; this lockstep reads 1, use a newer one"},
    {"lint-no-header", "2:1: a manifest starts with 'lockstep: 1' and 'kind: ...'"},
    {"lint-no-manifest", " holds no manifest"},
    {"lint-no-version", "14:3: components.dcgm: needs a version, or absent: REASON"},
    {"lint-number-as-text",
     "17:9: tuning.env.NCCL_IB_TC: expected text, found the number 106; put it in quotes"},
    {"lint-number-range", "16:3: settings.power_limit_w: 70000 is not between 1 and 10000"},
    {"lint-outside-window",
     "16:3: windows.dcgm: the pinned version 4.5.3 lies outside its own window"},
    {"lint-range-as-version",
     "14:10: components.dcgm.version: '>=4.5.3' is not a version: a stack pins exact ones"},
    {"lint-reversed-text",
     "15:18: firmware[1].part: a line break or control character has no place here"},
    {"lint-secret-in-bios",
     "15:10: settings.bios.AdminPassword: resembles a secret, and a manifest holds none"},
    {"lint-secret-in-env",
     "15:9: tuning.env.HF_TOKEN: resembles a secret, and a manifest holds none"},
    {"lint-setting-as-component",
     "14:3: components.settings.ecc: settings go under settings, they are no components"},
    {"lint-shared-bmc",
     "12:7: nodes[1].bmc.url: 4 hosts share this address; put {host} where their names go"},
    {"lint-short-build-id",
     "14:36: components.dcgm.build.build_id: '00ff' is not 16 to 128 lower-case "
     "hexadecimal digits, two for each byte"},
    {"lint-short-hash",
     "14:36: components.dcgm.build.sha256: '00ff00ff00ff00ff' is not 64 lower-case "
     "hexadecimal digits, two for each byte"},
    {"lint-software-under-firmware",
     "15:6: firmware[1].class: dcgm is software; pin it under components"},
    {"lint-syntax", "6:7: did not find expected ',' or ']'"},
    {"lint-too-many-hosts", "9:6: nodes[2].hosts: a fleet has at most 1000000 nodes and assets"},
    {"lint-two-owners", "16:5: firmware[2]: firmware/nic is pinned twice (owners bundle and "
                        "external); one component has one owner"},
    {"lint-unknown-class",
     "7:12: hardware[1]: no hardware class 'l40s-8'; 'lockstep stack classes' lists those built "
     "in; write others in the same file, after '---'"},
    {"lint-unknown-key", "16:3: settings.persistance: unknown key; did you mean 'persistence'?"},
    {"lint-unknown-kind", "3:1: kind: kind is one of Stack, HardwareClass and Fleet"},
    {"lint-unknown-node-class",
     "8:40: nodes[1].class: no hardware class 'hgx-h100'; did you mean 'hgx-h100-8'?"},
    {"lint-unknown-pool", "8:27: nodes[1].pool: no 'trian' under pools; did you mean 'train'?"},
    {"lint-unknown-posture",
     "6:11: pools.train.posture: no posture 'pretraining'; there are pre-training, post-training, "
     "online-inference, batch, dev"},
    {"lint-unknown-site", "8:59: nodes[1].site: no 'osl1' under sites"},
    {"lint-unknown-value", "16:3: settings.compute_mode: no such value 'exclusive'; did "
                           "you mean 'exclusive-process'?"},
    {"lint-unquoted-text", "10:12: components.driver.version: a version needs quotes, or 12.10 "
                           "would be read as 12.1: \"v580\""},
    {"lint-unquoted-version", "11:19: 13.0 needs quotes (\"13.0\"): it would be read as a number, "
                              "and 12.10 would become 12.1"},
    {"lint-url-credentials",
     "12:7: nodes[1].bmc.url: a URL here carries no user or password; name them under credentials"},
    {"lint-url-query", "12:7: nodes[1].bmc.url: expected https://HOST/PATH, without a query"},
    {"lint-url-scheme", "12:7: nodes[1].bmc.url: expected https://HOST/PATH, without a query"},
    {"lint-version-tag", "10:12: components.driver.version: 'v580.159.04' is not a whole version "
                         "of driver (dotted numbering)"},
    {"lint-window-name", "15:3: windows.Driver: is not a component: a name, or firmware/NAME"},
    {"lint-window-without-pin",
     "15:3: windows.dcgm: a window is for a pinned component, and this one is not pinned"},
    {"lint-wrong-hardware", "7:12: hardware[1]: hardware of amd in a stack of nvidia"},
    {"lint-wrong-vendor",
     "14:3: components.rocm: belongs to a stack of vendor amd, and this is one of nvidia"},
    {"lint-yaml-alias", "10:11: anchors and tags are not read here; write the value out"},
};

static const char *path_of(char *out, size_t size, const char *folder, const char *name)
{
    snprintf(out, size, "examples/%s%s.yaml", folder, name);
    return out;
}

/* Whether a finding of `rule` has `severity`, or none of them is there where that is asked for;
 * those of other rules above info are counted. */
static bool has_finding(const struct lks_doc *answer, const char *rule, const char *severity,
                        size_t *others)
{
    const struct lks_doc *findings = lks_doc_member(answer, "findings");
    bool found = false, any = false;
    *others = 0;
    for (const struct lks_doc *f = findings != NULL ? findings->first : NULL; f; f = f->next) {
        bool mine = lks_str_is(lks_doc_text(f, "rule"), rule);
        any = any || mine;
        found = found || (mine && lks_str_is(lks_doc_text(f, "severity"), severity));
        *others += !mine && !lks_str_is(lks_doc_text(f, "severity"), "info");
    }
    return strcmp(severity, "none") == 0 ? !any : found;
}

static void test_good(void)
{
    for (size_t i = 0; i < LKS_COUNT(good); i++) {
        lks_test_case("%s", good[i].file);
        char path[128], line[256];
        path_of(path, sizeof(path), "", good[i].file);

        struct lks_run run = lks_run((const char *[]){"stack", "lint", path, NULL});
        CHECK_INT(run.exit, 0);
        CHECK_STR(run.err, "");
        snprintf(line, sizeof(line), "%s: Stack %s: ", path, good[i].name);
        CHECK_HAS(run.out, line);
        lks_run_fini(&run);

        run = lks_run((const char *[]){"stack", "digest", path, NULL});
        snprintf(line, sizeof(line), "%s\n", good[i].digest);
        CHECK_STR(run.out, line);
        lks_run_fini(&run);

        run = lks_run((const char *[]){"stack", "check", path, "--date", LKS_RUN_TODAY, NULL});
        CHECK_INT(run.exit, 0);
        snprintf(line, sizeof(line), "%s: yes: 0 errors, ", good[i].name);
        CHECK_HAS(run.out, line);
        lks_run_fini(&run);
    }
}

static void test_rules(void)
{
    for (size_t i = 0; i < LKS_COUNT(rules); i++) {
        lks_test_case("%s", rules[i].rule);
        char path[128];
        path_of(path, sizeof(path), "broken/", rules[i].rule);
        struct lks_run run = lks_run((const char *[]){"stack", "check", "--json", path, NULL});
        CHECK_INT(run.exit, rules[i].exit);
        CHECK_STR(run.err, "");

        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        const struct lks_doc *answer = lks_run_json(&run, &docs);
        size_t others = 0;
        CHECK(answer != NULL && has_finding(answer, rules[i].rule, rules[i].severity, &others));
        CHECK_INT(others, rules[i].others);
        CHECK_STR(lks_doc_text(answer, "verdict"), rules[i].exit == 0 ? "yes" : "no");
        lks_run_fini(&run);
    }
}

/* Other ways to break the same rules: an example with one text in the place of another. */
static const struct {
    const char *name, *file, *from, *to;
    int exit;
    const char *rule, *severity; /* none: the rule has nothing to say */
} variants[] = {
    {"wrong toolkit for the board", "broken/last-branch", "12.9.1", "13.0.2", 1, "compat", "error"},
    {"limited by minor compatibility", "broken/one-way", "13.0.2", "13.1.1", 0, "compat",
     "warning"},
    {"no row", "broken/one-way", "13.0.2", "13.9.0", 0, "compat", "warning"},
    {"a domain without IMEX", "broken/cdmm", "  imex: {version: \"580.159.04\"}\n", "", 1,
     "driver-family", "warning"},
    {"ranks that do not compare", "broken/last-branch", "2.28.9", "2.21.5", 0, "nccl", "warning"},
    {"NCCL for another CUDA", "broken/one-way", "2.28.9", "2.26.6", 1, "nccl", "error"},
    {"NCCL older than the board", "broken/cdmm", "2.28.9", "2.24.3", 1, "nccl", "warning"},
    {"a window of one version", "broken/nccl", ">=2.28 <2.30", "=2.28.9", 0, "compat", "info"},
    {"cuDNN without the board", "v100-inference", "9.10.2", "9.17.0", 1, "cudnn", "error"},
    {"cuDNN nobody knows", "h100-train", "9.18.1", "9.99.0", 0, "cudnn", "info"},
    {"CDMM and MIG", "broken/cdmm", "gds: true", "mig: {mode: enabled}", 1, "cdmm", "error"},
    {"CDMM without Grace", "broken/one-way", "upgrades: false",
     "upgrades: false\n  memory_mode: cdmm", 1, "cdmm", "error"},
    {"no such MIG profile", "broken/mig", "2g.35gb", "1g.5gb", 1, "mig", "error"},
    {"a board without MIG", "broken/one-way", "upgrades: false",
     "upgrades: false\n  mig: {mode: enabled}", 0, "mig", "warning"},
    {"an old pair", "broken/toolkit-library", "\"1.19.1\"", "\"1.17.8\"", 0, "toolkit-library",
     "warning"},
    {"an operator that has ended", "broken/gpu-operator", "26.3.3", "25.3.4", 0, "gpu-operator",
     "warning"},
    {"a branch that has ended", "broken/lifecycle", "590.48.01", "610.57.04", 0, "lifecycle",
     "warning"},
    {"a branch without an end", "broken/lifecycle", "590.48.01", "615.61", 0, "lifecycle", "info"},
    {"upgrades allowed", "broken/one-way", "upgrades: false", "upgrades: true", 0,
     "unattended-upgrades", "warning"},
    {"misspelled firmware", "broken/one-way", "class: bios", "class: boss", 0, "spelling",
     "warning"},
    {"a second bundle", "broken/rocm-firmware", "class: pldm-bundle, version",
     "class: pldm-bundle, version: \"01.25.06.04\"}\n  - {class: pldm-bundle, part: B, version", 0,
     "rocm-firmware", "warning"},
    {"a driver too young", "gb200-nvl72", "min_age_days: 90", "min_age_days: 300", 1,
     "version-policy", "error"},
    {"a driver of no age", "broken/version-policy", "branches: [LTSB]", "min_age_days: 30", 0,
     "version-policy", "warning"},
    {"a compat package that is not needed", "broken/one-way",
     "  nccl:", "  cuda-compat: {version: \"13.0\"}\n  nccl:", 0, "compat", "warning"},
    {"a compat package that helps", "broken/last-branch",
     "  nccl:", "  cuda-compat: {version: \"13.4\"}\n  nccl:", 0, "compat", "info"},
    {"a driver of an image", "broken/bundled-driver", "modules: open",
     "modules: open, owner: image", 0, "bundled-driver", "none"},
    {"CUDA of an image", "broken/bundled-driver", "owner: package", "owner: image", 0,
     "bundled-driver", "none"},
    {"minor compatibility not accepted", "gb200-nvl72", "13.0.2", "13.1.1", 1, "version-policy",
     "error"},
};

/* `text` as a file, whose name is made from the template `out`. */
static bool make_file(const char *text, char *out)
{
    int fd = mkstemps(out, (int)strlen(".yaml"));
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    return CHECK(file != NULL) && CHECK(fputs(text, file) >= 0) && CHECK(fclose(file) == 0);
}

/* The text of `path` with `to` in the place of the first `from`. */
static bool change_text(const char *path, const char *from, const char *to, struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1024 * 1024);
    struct lks_err err = {0};
    if (!CHECK(lks_file_read(path, &text, &err) == LKS_OK))
        return false;
    const char *at = strstr(text.ptr, from);
    if (!CHECK(at != NULL))
        return false;
    lks_buf_init(out, 2 * 1024 * 1024);
    lks_buf_addf(out, "%.*s%s%s", (int)(at - text.ptr), text.ptr, to, at + strlen(from));
    return CHECK(lks_buf_check(out, &err) == LKS_OK);
}

/* Check the stack `text`, with `args` before its name, and look for one finding in the answer. */
static void check_text(const char *text, const char *const *args, int exit, const char *rule,
                       const char *severity, const char *has)
{
    char made[] = "/tmp/lockstep-test-XXXXXX.yaml";
    const char *all[LKS_RUN_ARGS_MAX] = {"stack", "check", "--json"};
    size_t count = 3, others;
    for (; *args != NULL; args++)
        all[count++] = *args;
    all[count] = made;
    if (!make_file(text, made))
        return;
    struct lks_run run = lks_run(all);
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    CHECK_INT(run.exit, exit);
    CHECK_STR(run.err, "");
    const struct lks_doc *answer = lks_run_json(&run, &docs);
    CHECK(answer != NULL && has_finding(answer, rule, severity, &others));
    CHECK_HAS(run.out, has);
    lks_run_fini(&run);
    unlink(made);
}

static void test_variants(void)
{
    for (size_t i = 0; i < LKS_COUNT(variants); i++) {
        lks_test_case("%s", variants[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
        char path[128];
        path_of(path, sizeof(path), "", variants[i].file);
        if (change_text(path, variants[i].from, variants[i].to, &text))
            check_text(text.ptr, (const char *[]){NULL}, variants[i].exit, variants[i].rule,
                       variants[i].severity, "");
    }
}

/* Stacks of their own --------------------------------------------------------------------------
 */

#define STACK(vendor, class, parts)                                                                \
    LKS_STACK("s", vendor, class,                                                                  \
              "  kernel: {version: '6.8.0'}\n" parts                                               \
              "settings: {unattended_upgrades: false, mig: {mode: disabled}}\n")
#define NVIDIA_PARTS(driver, cuda)                                                                 \
    "  driver: {version: '" driver "'}\n  cuda: {version: '" cuda "', owner: image}\n"             \
    "  nccl: {absent: none yet}\n  container-toolkit: {absent: none yet}\n"
#define AMD_PARTS(amdgpu, rocm)                                                                    \
    "  amdgpu: {version: '" amdgpu "'}\n  rocm: {version: '" rocm "'}\n  rccl: {absent: none "     \
    "yet}\n"
#define CLASS(gpu)                                                                                 \
    "---\nlockstep: 1\nkind: HardwareClass\nname: ours\nvendor: nvidia\ngpu: {product: " gpu       \
    ", count: 4}\n"
#define FLEET(name, pool, class, policy)                                                           \
    "---\nlockstep: 1\nkind: Fleet\nname: " name "\npools:\n  " pool                               \
    ": {posture: online-inference, stack: s, version_policy: {" policy "}}\n"                      \
    "nodes:\n  - {hosts: 'gpu[01-04]', pool: " pool ", class: " class "}\n"

/* R525 has a driver that knows the H100 for PCIe and none that knows the H100 NVL. */
#define OLD_H100 STACK("nvidia", "ours", NVIDIA_PARTS("525.85.12", "12.0.0"))
#define OLD_L40S STACK("nvidia", "l40s-pcie-8", NVIDIA_PARTS("525.85.12", "12.0.0"))

static const struct {
    const char *name, *text;
    const char *args[4];
    int exit;
    const char *rule, *severity, *has;
} texts[] = {
    {"a class that names a family",
     OLD_H100 CLASS("H100"),
     {NULL},
     0,
     "compat",
     "info",
     "\"subject\":\"H100 NVL 94GB\",\"text\":\"this board answers NO_DRIVER (no); evaluated is "
     "H100 "},
    {"a class that names the board",
     OLD_H100 CLASS("H100 NVL 94GB"),
     {NULL},
     1,
     "compat",
     "error",
     "NO_DRIVER"},
    {"a family by hand", OLD_L40S, {"--gpu", "H100"}, 0, "compat", "info", "this board answers"},
    {"a board by hand", OLD_L40S, {"--gpu", "H100 NVL"}, 1, "compat", "error", "NO_DRIVER"},
    {"minor compatibility of AMD not accepted",
     STACK("amd", "mi300x-oam-8", AMD_PARTS("30.30.3", "7.1.1"))
         FLEET("f", "a", "mi300x-oam-8", "minor: false"),
     {NULL},
     1,
     "version-policy",
     "error",
     "Instinct MI300X runs as MINOR"},
    {"minor compatibility of AMD accepted",
     STACK("amd", "mi300x-oam-8", AMD_PARTS("30.30.3", "7.1.1"))
         FLEET("f", "a", "mi300x-oam-8", "minor: true"),
     {NULL},
     0,
     "version-policy",
     "none",
     ""},
    {"the second fleet refuses",
     STACK("nvidia", "l40s-pcie-8", NVIDIA_PARTS("595.91.07", "13.2.2"))
         FLEET("north", "a", "l40s-pcie-8", "branches: [PB]")
             FLEET("south", "b", "l40s-pcie-8", "branches: [LTSB]"),
     {NULL},
     1,
     "version-policy",
     "error",
     "\"subject\":\"south/b\""},
    {"both fleets accept",
     STACK("nvidia", "l40s-pcie-8", NVIDIA_PARTS("595.91.07", "13.2.2"))
         FLEET("north", "a", "l40s-pcie-8", "branches: [PB]")
             FLEET("south", "b", "l40s-pcie-8", "branches: [PB]"),
     {NULL},
     0,
     "version-policy",
     "none",
     ""},
};

static void test_texts(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        lks_test_case("%s", texts[i].name);
        check_text(texts[i].text, texts[i].args, texts[i].exit, texts[i].rule, texts[i].severity,
                   texts[i].has);
    }
}

/* Tables of their own ------------------------------------------------------------------------ */

#define EDGES "id,kind,component,range,other,other_range,gpus,condition,note,status,source\n"
#define L40S  STACK("nvidia", "l40s-pcie-8", NVIDIA_PARTS("580.159.04", "13.0.2"))

/* A site's table: a text of its own, or a built-in one with `to` in the place of `from`. */
static const struct {
    const char *name, *file, *from, *to;
    const char *rule, *severity, *has;
} tables[] = {
    {"something a site requires is not pinned", "requires.site.csv", NULL,
     EDGES "a,requires,driver,>=580,slurmd,>=24.11,,,ask ops,confirmed,us\n", "requires", "warning",
     "driver >=580 requires slurmd >=24.11; the stack does not pin it; ask ops (a)"},
    {"where nobody can tell whether it matters", "requires.site.csv", NULL,
     EDGES "a,requires,driver,>=580,slurmd,,,on Mondays,,confirmed,us\n", "requires", "info",
     "driver >=580 requires slurmd; the stack does not pin it; this matters where on Mondays (a)"},
    {"a setting that is not set", "requires.site.csv", NULL,
     EDGES "a,requires,driver,,settings.ecc,true,,,,confirmed,us\n", "requires", "warning",
     "driver requires settings.ecc true; the stack does not set it (a)"},
    {"a setting that is a map", "requires.site.csv", NULL,
     EDGES "a,requires,driver,,settings.mig,x,,,,confirmed,us\n", "requires", "none", ""},
    {"of another board", "requires.site.csv", NULL,
     EDGES "a,requires,driver,,slurmd,,H100,,,confirmed,us\n", "requires", "none", ""},
    {"a conflict with something that is not there", "requires.site.csv", NULL,
     EDGES "a,conflicts,driver,,slurmd,,,,,confirmed,us\n", "requires", "none", ""},
    {"built-in rows hold where both ends are there", "requires.csv",
     "ctk-containerd,requires,container-toolkit", "ctk-containerd,requires,kernel", "requires",
     "none", ""},
    {"the earlier of two ends", "driver-branches.csv", "R580,LTSB,2025-08-04,2028-06,2028-08-04",
     "R580,LTSB,2025-08-04,2028-06,2026-12-15", "lifecycle", "warning",
     "support of branch R580 ends on 2026-12-15 (30 days left); another source says 2028-06-30"},
    {"only another source names an end", "driver-branches.csv",
     "R580,LTSB,2025-08-04,2028-06,2028-08-04", "R580,LTSB,2025-08-04,,2026-12-15", "lifecycle",
     "warning", "support of branch R580 ends on 2026-12-15 (30 days left)\""},
};

static void test_tables(void)
{
    for (size_t i = 0; i < LKS_COUNT(tables); i++) {
        lks_test_case("%s", tables[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1024 * 1024);
        char dir[] = "/tmp/lockstep-test-XXXXXX", path[128];
        snprintf(path, sizeof(path), "data/%s", tables[i].file);
        if (tables[i].from == NULL)
            lks_buf_addf(&text, "%s", tables[i].to);
        else if (!change_text(path, tables[i].from, tables[i].to, &text))
            continue;
        if (!CHECK(mkdtemp(dir) != NULL))
            continue;
        snprintf(path, sizeof(path), "%s/%s", dir, tables[i].file);
        FILE *file = fopen(path, "we");
        CHECK(file != NULL && fputs(text.ptr, file) >= 0 && fclose(file) == 0);
        check_text(L40S, (const char *[]){"--data", dir, NULL}, 0, tables[i].rule,
                   tables[i].severity, tables[i].has);
        unlink(path);
        rmdir(dir);
    }
}

static void test_lints(void)
{
    for (size_t i = 0; i < LKS_COUNT(lints); i++) {
        lks_test_case("%s", lints[i].file);
        char path[128], line[512];
        path_of(path, sizeof(path), "broken/", lints[i].file);
        struct lks_run run = lks_run((const char *[]){"stack", "lint", path, NULL});
        CHECK_INT(run.exit, 3);
        CHECK_STR(run.out, "");
        snprintf(line, sizeof(line), "lockstep: %s:%s\n", path, lints[i].message);
        CHECK_STR(run.err, line);
        lks_run_fini(&run);
    }
}

static bool is_in_rows(struct lks_str name)
{
    for (size_t i = 0; i < LKS_COUNT(rules); i++) {
        if (lks_str_is(name, rules[i].rule))
            return true;
    }
    for (size_t i = 0; i < LKS_COUNT(lints); i++) {
        if (lks_str_is(name, lints[i].file))
            return true;
    }
    for (size_t i = 0; i < LKS_COUNT(good); i++) {
        if (lks_str_is(name, good[i].file))
            return true;
    }
    return lks_str_is(name, "bundle"); /* tests/test_cli_bundle.c builds it */
}

/* An example that no row speaks of is one that nobody tests. Its first line says what it is. */
static void test_all_files(void)
{
    static const char *const folders[] = {"examples", "examples/broken"};
    for (size_t i = 0; i < LKS_COUNT(folders); i++) {
        DIR *dir = opendir(folders[i]);
        if (!CHECK(dir != NULL))
            continue;
        for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
            struct lks_str name, end;
            lks_str_cut(lks_str_from(entry->d_name), '.', &name, &end);
            if (!lks_str_is(end, "yaml"))
                continue;
            lks_test_case("%s/%s", folders[i], entry->d_name);
            CHECK(is_in_rows(name));
            char path[512], first[8] = "";
            snprintf(path, sizeof(path), "%s/%s", folders[i], entry->d_name);
            FILE *file = fopen(path, "re");
            CHECK(file != NULL && fgets(first, 3, file) != NULL && strcmp(first, "# ") == 0);
            if (file != NULL)
                fclose(file);
        }
        closedir(dir);
    }
}

static void test_all_rules(void)
{
    for (size_t i = 0; lks_check_rule(i) != NULL; i++) {
        lks_test_case("%s", lks_check_rule(i)->id);
        CHECK(is_in_rows(lks_str_from(lks_check_rule(i)->id)));
    }
}

/* The edges of a site: one is broken by H200 with RoCE, the other holds everywhere. */
static void test_site_data(void)
{
    static const struct {
        const char *name, *file;
        int exit;
        const char *text;
    } runs[] = {
        {"edge broken", "examples/h200-train.yaml", 1,
         "firmware/nic <28.47 conflicts with settings.nic.congestion_control dcqcn; the stack has "
         "dcqcn; links of row 7 dropped in load tests; take 28.47 first (site-nic-pfc)"},
        {"not these boards", "examples/mi300x-rocm.yaml", 0, "mi300x-rocm 2026.11.1: yes"},
        {"another value", "examples/h100-train.yaml", 0, "h100-train 2026.11.1: yes"},
        {"every part is asked", "tests/golden/two-nics.yaml", 1, "(site-nic-pfc)"},
        {"the other edges stay", "examples/broken/requires.yaml", 1, "(ctk-containerd)"},
    };
    for (size_t i = 0; i < LKS_COUNT(runs); i++) {
        lks_test_case("%s", runs[i].name);
        struct lks_run run = lks_run(
            (const char *[]){"stack", "check", "--data", "examples/site-data", runs[i].file, NULL});
        CHECK_INT(run.exit, runs[i].exit);
        CHECK_STR(run.err, "");
        CHECK_HAS(run.out, runs[i].text);
        lks_run_fini(&run);
    }
}

/* From one H200 stack to the next: what the example promises in its first lines. */
static void test_next(void)
{
    struct lks_run run =
        lks_run((const char *[]){"stack", "diff", "--json", "examples/h200-train.yaml",
                                 "examples/h200-train-next.yaml", NULL});
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *answer = lks_run_json(&run, &docs);
    CHECK_INT(run.exit, 1);
    const struct lks_doc *all = answer != NULL ? lks_doc_member(answer, "differences") : NULL;
    size_t one_way = 0;
    bool pair[2] = {false}, setting = false;
    for (const struct lks_doc *d = all != NULL ? all->first : NULL; d != NULL; d = d->next) {
        const struct lks_doc *forever = lks_doc_member(d, "one_way");
        struct lks_str what = lks_doc_text(d, "what"), to = lks_doc_text(d, "new");
        one_way += forever != NULL && forever->truth && lks_str_is(to, "1.8.0");
        pair[0] = pair[0] || (lks_str_is(what, "driver") && lks_str_is(to, "580.178.04"));
        pair[1] = pair[1] || (lks_str_is(what, "fabric-manager") && lks_str_is(to, "580.178.04"));
        setting = setting || lks_str_is(what, "settings.power_limit_w");
    }
    CHECK(pair[0] && pair[1] && setting);
    CHECK_INT(one_way, 1);
    CHECK_HAS(run.out, "\"flaws_closed\":[\"CVE-2026-24187\"");
    CHECK_HAS(run.out, "\"flaws_opened\":[]");
    lks_run_fini(&run);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"good examples", test_good},
        {"one broken example for each rule", test_rules},
        {"other ways to break the rules", test_variants},
        {"stacks, classes and fleets together", test_texts},
        {"tables of a site", test_tables},
        {"one for each fault of structure", test_lints},
        {"every example is in a row", test_all_files},
        {"every rule has an example", test_all_rules},
        {"edges of a site", test_site_data},
        {"the next stack", test_next},
        {0},
    });
}
