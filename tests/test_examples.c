/* The shipped examples: the good ones pass, each broken one fails in the way its name says. */
#include "base/file.h"
#include "core/check.h"
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
    {"lint-ambiguous-scalar",
     "16:8: yes needs quotes (\"yes\"): YAML 1.1 reads it as true or false, YAML 1.2 as text; "
     "for a switch write true or false"},
    {"lint-bad-version",
     "10:12: components.driver.version: '580.x' is not a version of driver (dotted numbering)"},
    {"lint-class-domain",
     "7:1: nvlink_domain: a domain of 72 GPUs is not a whole number of nodes with 5"},
    {"lint-credentials", "13:7: nodes[1].bmc.credentials: credentials are given by reference only: "
                         "file:/PATH or exec:/PROGRAM"},
    {"lint-date", "17:22: evidence[1].date: '2026-11-31' is not a date such as \"2026-11-15\""},
    {"lint-digest",
     "17:11: tuning.table.digest: expected sha256: and 64 lower-case hexadecimal digits"},
    {"lint-domain-size",
     "6:3: domains.rack01: its nodes hold 68 GPUs, and one NVLink domain holds 72"},
    {"lint-duplicate-host", "9:6: nodes[2].hosts: host 'gpu04' is already named in this fleet"},
    {"lint-duplicate-key", "12:3: components.driver: this key is already there, on line 10"},
    {"lint-empty-window", "16:3: windows.dcgm: no version can satisfy '>=4.6 <4.5'"},
    {"lint-firmware-under-components",
     "14:3: components.bios: is firmware; pin it under firmware with class: bios"},
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
    {"lint-no-header", "2:1: a manifest begins with 'lockstep: 1' and 'kind: ...'"},
    {"lint-no-manifest", " holds no manifest"},
    {"lint-no-version", "14:3: components.dcgm: needs a version, or absent: REASON"},
    {"lint-number-as-text",
     "17:9: tuning.env.NCCL_IB_TC: expected text, found number; put it in quotes"},
    {"lint-number-range", "16:3: settings.power_limit_w: 70000 is not between 1 and 10000"},
    {"lint-outside-window",
     "16:3: windows.dcgm: the pinned version 4.5.3 lies outside its own window"},
    {"lint-range-as-version",
     "14:10: components.dcgm.version: '>=4.5.3' is not a version: a stack pins exact ones"},
    {"lint-software-under-firmware",
     "15:6: firmware[1].class: dcgm is software; pin it under components"},
    {"lint-syntax", "6:7: did not find expected ',' or ']'"},
    {"lint-two-owners", "16:5: firmware[2]: firmware/nic is pinned twice (owners bundle and "
                        "external); one component has one owner"},
    {"lint-unknown-class",
     "7:12: hardware[1]: no hardware class 'l40s-8'; 'lockstep stack classes' lists those built "
     "in, others come beside it or with --class FILE"},
    {"lint-unknown-key", "16:3: settings.persistance: unknown key; did you mean 'persistence'?"},
    {"lint-unknown-kind", "3:1: kind: kind is one of Stack, HardwareClass and Fleet"},
    {"lint-unknown-node-class",
     "8:40: nodes[1].class: no hardware class 'hgx-h100'; did you mean 'hgx-h100-8'?"},
    {"lint-unknown-pool", "8:27: nodes[1].pool: no 'trian' under pools; did you mean 'train'?"},
    {"lint-unknown-site", "8:59: nodes[1].site: no 'osl1' under sites"},
    {"lint-unknown-value", "16:3: settings.compute_mode: no such value 'exclusive'; one of: "
                           "default, exclusive-process, prohibited"},
    {"lint-unquoted-text", "10:12: components.driver.version: a version stands in quotes, or 12.10 "
                           "would be read as 12.1: \"v580\""},
    {"lint-unquoted-version", "11:19: 13.0 needs quotes (\"13.0\"): it would be read as a number, "
                              "and 12.10 would become 12.1"},
    {"lint-url-credentials",
     "12:7: nodes[1].bmc.url: a URL here carries no user or password; name them under credentials"},
    {"lint-url-scheme",
     "12:7: nodes[1].bmc.url: expected https://HOST, in which {host} stands for the node's name"},
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

/* Whether a finding of `rule` has `severity`; those of other rules above info are counted. */
static bool has_finding(const struct lks_doc *answer, const char *rule, const char *severity,
                        size_t *others)
{
    const struct lks_doc *findings = lks_doc_member(answer, "findings");
    bool found = false;
    *others = 0;
    for (const struct lks_doc *f = findings != NULL ? findings->first : NULL; f; f = f->next) {
        bool mine = lks_str_is(lks_doc_text(f, "rule"), rule);
        found = found || (mine && lks_str_is(lks_doc_text(f, "severity"), severity));
        *others += !mine && !lks_str_is(lks_doc_text(f, "severity"), "info");
    }
    return found;
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
    const char *rule, *severity;
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
    {"minor compatibility not accepted", "gb200-nvl72", "13.0.2", "13.1.1", 1, "version-policy",
     "error"},
};

/* The text of `path` with `to` in the place of the first `from`, as a file of its own. */
static bool make_variant(const char *path, const char *from, const char *to, char *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    lks_buf_init(&text, 1024 * 1024);
    struct lks_err err = {0};
    if (!CHECK(lks_file_read(path, &text, &err) == LKS_OK))
        return false;
    const char *at = strstr(text.ptr, from);
    if (!CHECK(at != NULL))
        return false;
    int fd = mkstemps(out, (int)strlen(".yaml"));
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!CHECK(file != NULL))
        return false;
    fprintf(file, "%.*s%s%s", (int)(at - text.ptr), text.ptr, to, at + strlen(from));
    return CHECK(fclose(file) == 0);
}

static void test_variants(void)
{
    for (size_t i = 0; i < LKS_COUNT(variants); i++) {
        lks_test_case("%s", variants[i].name);
        char path[128], made[] = "/tmp/lockstep-test-XXXXXX.yaml";
        path_of(path, sizeof(path), "", variants[i].file);
        if (!make_variant(path, variants[i].from, variants[i].to, made))
            continue;
        struct lks_run run = lks_run((const char *[]){"stack", "check", "--json", made, NULL});
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        const struct lks_doc *answer = lks_run_json(&run, &docs);
        size_t others;
        CHECK_INT(run.exit, variants[i].exit);
        CHECK_STR(run.err, "");
        CHECK(answer != NULL &&
              has_finding(answer, variants[i].rule, variants[i].severity, &others));
        lks_run_fini(&run);
        unlink(made);
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
    return false;
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
        {"one for each fault of structure", test_lints},
        {"every example is in a row", test_all_files},
        {"every rule has an example", test_all_rules},
        {"edges of a site", test_site_data},
        {"the next stack", test_next},
        {0},
    });
}
