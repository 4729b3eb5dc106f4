#include "core/plan/plan_parts.h"

#include "model/manifest/manifest.h"
#include "tests/facts.h"
#include "tests/manifests.h"
#include "tests/test.h"

#define A "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define D "sha256:dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"

#define STACK(nccl, more)                                                                          \
    LKS_STACK("s", "nvidia", "l40s-pcie-8",                                                        \
              "  kernel: {version: '6.8.0', owner: image}\n  cuda: {version: '13.0'}\n"            \
              "  container-toolkit: {version: '1.18.0'}\n  driver: {version: '580.95.05'}\n  "     \
              "nccl: " nccl "\n" more)
#define OLD STACK("{version: '2.27.7'}", "")
#define NEW STACK("{version: '2.28.3'}", "")
#define BUNDLE(files)                                                                              \
    "{\"lockstep\":1,\"kind\":\"Bundle\",\"name\":\"b\",\"version\":\"1\",\"artifacts\":[" files   \
    "]}"
#define FLASH_OF(name, digest, component, version, rest)                                           \
    "{\"name\":\"" name "\",\"digest\":\"" digest "\",\"size\":5,\"component\":\"" component       \
    "\",\"version\":\"" version "\"" rest "}"
#define FILE_OF(name, digest, component, version, rest)                                            \
    FLASH_OF(name, digest, component, version, ",\"kind\":\"package\"" rest)
#define OLD_DEB FILE_OF("libnccl2_2.27.7.deb", A, "nccl", "2.27.7", "")
#define NEW_DEB FILE_OF("libnccl2_2.28.3.deb", B, "nccl", "2.28.3", "")

#define ITEM(component, before, digest, file, value)                                               \
    "{\"before\":\"" before "\",\"component\":\"" component "\",\"digest\":\"" digest              \
    "\",\"file\":\"" file "\",\"value\":\"" value "\"}"

static const struct row {
    const char *name;
    const char *from, *to;
    const char *bundles[2];
    const char *hook, *revision;
    bool firmware;
    const char *told; /* "executor components" of each, and the items of there and back; or */
    const char *why;  /* why not */
} rows[] = {
    {"a package there and back",
     OLD,
     NEW,
     {BUNDLE(OLD_DEB "," NEW_DEB)},
     "",
     "",
     false,
     "apt nccl [" ITEM("nccl", "2.27.7", B, "libnccl2_2.28.3.deb", "2.28.3") "] [" ITEM(
         "nccl", "2.28.3", A, "libnccl2_2.27.7.deb", "2.27.7") "]\n",
     NULL},
    {"of two bundles",
     OLD,
     NEW,
     {BUNDLE(OLD_DEB), BUNDLE(NEW_DEB)},
     "",
     "",
     false,
     "apt nccl [" ITEM("nccl", "2.27.7", B, "libnccl2_2.28.3.deb", "2.28.3") "] [" ITEM(
         "nccl", "2.28.3", A, "libnccl2_2.27.7.deb", "2.27.7") "]\n",
     NULL},
    {"no package for the way back",
     OLD,
     NEW,
     {BUNDLE(NEW_DEB)},
     "",
     "",
     false,
     "apt nccl [" ITEM("nccl", "2.27.7", B, "libnccl2_2.28.3.deb",
                       "2.28.3") "] none, missing nccl 2.27.7\n",
     NULL},
    {"a hook knows the way back",
     OLD,
     NEW,
     {BUNDLE(NEW_DEB)},
     "site-nccl",
     "",
     false,
     "hook nccl [{\"before\":\"2.27.7\",\"component\":\"nccl\",\"value\":\"2.28.3\"}] "
     "[{\"before\":\"2.28.3\",\"component\":\"nccl\",\"value\":\"2.27.7\"}]\n",
     NULL},
    {"no package at all",
     OLD,
     NEW,
     {BUNDLE(OLD_DEB)},
     "",
     "A01",
     false,
     NULL,
     "nccl 2.28.3: no good bundle has it for l40s-pcie-8, revision A01; push one, or name a hook "
     "that installs it"},
    {"packages of Red Hat's kind",
     OLD,
     NEW,
     {BUNDLE(FILE_OF("n-1.rpm", A, "nccl", "2.27.7", "") "," FILE_OF("n-2.rpm", B, "nccl", "2.28.3",
                                                                     ""))},
     "",
     "",
     false,
     "dnf nccl [" ITEM("nccl", "2.27.7", B, "n-2.rpm",
                       "2.28.3") "] [" ITEM("nccl", "2.28.3", A, "n-1.rpm", "2.27.7") "]\n",
     NULL},
    {"several files of one component",
     OLD,
     NEW,
     {BUNDLE(OLD_DEB "," NEW_DEB "," FILE_OF("libnccl-dev_2.28.3.deb", C, "nccl", "2.28.3", ""))},
     "",
     "",
     false,
     "apt nccl [" ITEM("nccl", "2.27.7", C, "libnccl-dev_2.28.3.deb", "2.28.3") "," ITEM(
         "nccl", "2.27.7", B, "libnccl2_2.28.3.deb",
         "2.28.3") "] [" ITEM("nccl", "2.28.3", A, "libnccl2_2.27.7.deb", "2.27.7") "]\n",
     NULL},
    {"files of two kinds",
     OLD,
     NEW,
     {BUNDLE(OLD_DEB "," NEW_DEB "," FILE_OF("n.rpm", C, "nccl", "2.28.3", ""))},
     "",
     "",
     false,
     NULL,
     "nccl 2.28.3: no good bundle has it for l40s-pcie-8; push one, or name a hook that installs "
     "it"},
    {"each revision has its own",
     OLD,
     NEW,
     {BUNDLE(FILE_OF("a.deb", A, "nccl", "2.28.3", ",\"hardware_revisions\":[\"A01\"]") "," FILE_OF(
         "b.deb", B, "nccl", "2.28.3", ",\"hardware_revisions\":[\"A02\"]"))},
     "",
     "A02",
     false,
     "apt nccl [" ITEM("nccl", "2.27.7", B, "b.deb", "2.28.3") "] none, missing nccl 2.27.7\n",
     NULL},
    {"two bundles that differ",
     OLD,
     NEW,
     {BUNDLE(NEW_DEB), BUNDLE(FILE_OF("other.deb", C, "nccl", "2.28.3", ""))},
     "",
     "",
     false,
     NULL,
     "nccl 2.28.3: bundles b (sha256:ca8fba2d71c4) and b (sha256:b56054304ec2) have different "
     "files "
     "for it; revoke one, or let the stack name its artifacts"},
    {"the stack names its artifacts",
     OLD,
     STACK("{version: '2.28.3', artifacts: ['" C "']}", ""),
     {BUNDLE(NEW_DEB), BUNDLE(FILE_OF("other.deb", C, "nccl", "2.28.3", ""))},
     "",
     "",
     false,
     "apt nccl [" ITEM("nccl", "2.27.7", C, "other.deb", "2.28.3") "] none, missing nccl 2.27.7\n",
     NULL},
    {"the same version of other bits",
     STACK("{version: '2.28.3', artifacts: ['" B "']}", ""),
     STACK("{version: '2.28.3', artifacts: ['" C "']}", ""),
     {BUNDLE(NEW_DEB), BUNDLE(FILE_OF("other.deb", C, "nccl", "2.28.3", ""))},
     "",
     "",
     false,
     "apt nccl [" ITEM("nccl", "2.28.3", C, "other.deb", "2.28.3") "] [" ITEM(
         "nccl", "2.28.3", B, "libnccl2_2.28.3.deb", "2.28.3") "]\n",
     NULL},
    {"a version that may not follow",
     OLD,
     NEW,
     {BUNDLE(FILE_OF("a.deb", B, "nccl", "2.28.3", ",\"from\":[\"2.28.1\"]"))},
     "",
     "",
     false,
     NULL,
     "nccl: 2.28.3 may not follow 2.27.7"},
    {"a package from which there is no way back",
     OLD,
     NEW,
     {BUNDLE(OLD_DEB "," FILE_OF("a.deb", B, "nccl", "2.28.3", ",\"one_way\":true"))},
     "",
     "",
     false,
     "apt nccl [" ITEM("nccl", "2.27.7", B, "a.deb", "2.28.3") "] none\n",
     NULL},
    {"one that comes goes again",
     STACK("{version: '2.27.7'}", "  dcgm: {absent: not here}\n"),
     STACK("{version: '2.27.7'}", "  dcgm: {version: '4.2.3'}\n"),
     {BUNDLE(FILE_OF("dcgm.deb", D, "dcgm", "4.2.3", ""))},
     "",
     "",
     false,
     "apt dcgm [{\"component\":\"dcgm\",\"digest\":\"" D
     "\",\"file\":\"dcgm.deb\",\"value\":\"4.2.3\"}] [{\"before\":\"4.2.3\",\"component\":\"dcgm\","
     "\"digest\":\"" D "\",\"file\":\"dcgm.deb\"}]\n",
     NULL},
    {"one that is not pinned any more stays",
     STACK("{version: '2.27.7'}", "  dcgm: {version: '4.2.3'}\n"),
     OLD,
     {NULL},
     "",
     "",
     false,
     "",
     NULL},
    {"the image",
     OLD,
     LKS_STACK("s", "nvidia", "l40s-pcie-8",
               "  kernel: {version: '6.11.0', owner: image}\n  cuda: {version: '13.0'}\n"
               "  container-toolkit: {version: '1.18.0'}\n  driver: {version: '580.95.05'}\n"
               "  nccl: {version: '2.27.7'}\n"),
     {NULL},
     "",
     "",
     false,
     "image kernel reboots [{\"before\":\"6.8.0\",\"component\":\"kernel\",\"value\":\"6.11.0\"}] "
     "[{\"before\":\"6.11.0\",\"component\":\"kernel\",\"value\":\"6.8.0\"}]\n",
     NULL},
    {"the image from files",
     OLD,
     LKS_STACK("s", "nvidia", "l40s-pcie-8",
               "  kernel: {version: '6.11.0', owner: image}\n  cuda: {version: '13.0'}\n"
               "  container-toolkit: {version: '1.18.0'}\n  driver: {version: '580.95.05'}\n"
               "  nccl: {version: '2.27.7'}\n"),
     {BUNDLE(FILE_OF("old.img", A, "kernel", "6.8.0", "") "," FILE_OF("new.img", B, "kernel",
                                                                      "6.11.0", ""))},
     "",
     "",
     false,
     "image kernel reboots [" ITEM("kernel", "6.8.0", B, "new.img", "6.11.0") "] [" ITEM(
         "kernel", "6.11.0", A, "old.img", "6.8.0") "]\n",
     NULL},
    {"settings, behind the packages they are of",
     STACK("{version: '2.27.7'}", "settings: {power_limit_w: 300}\n"),
     STACK("{version: '2.28.3'}",
           "settings: {power_limit_w: 350, kernel_cmdline: [iommu=pt, quiet]}\n"),
     {BUNDLE(OLD_DEB "," NEW_DEB)},
     "",
     "",
     false,
     "apt nccl [" ITEM("nccl", "2.27.7", B, "libnccl2_2.28.3.deb", "2.28.3") "] [" ITEM(
         "nccl", "2.28.3", A, "libnccl2_2.27.7.deb",
         "2.27.7") "]\n"
                   "settings settings.power_limit_w settings.kernel_cmdline "
                   "[{\"component\":\"settings.kernel_cmdline\",\"value\":\"[\\\"iommu=pt\\\","
                   "\\\"quiet\\\"]\"},"
                   "{\"before\":\"300\",\"component\":\"settings.power_limit_w\",\"value\":\"350\"}"
                   "] "
                   "[{\"before\":\"[\\\"iommu=pt\\\",\\\"quiet\\\"]\",\"component\":\"settings."
                   "kernel_cmdline\"},"
                   "{\"before\":\"350\",\"component\":\"settings.power_limit_w\",\"value\":\"300\"}"
                   "]\n",
     NULL},
    {"a setting that no executor sets",
     OLD,
     STACK("{version: '2.27.7'}", "settings: {bios: {NPS: 1}}\n"),
     {NULL},
     "",
     "",
     false,
     NULL,
     "settings.bios.NPS: no executor sets it; name a hook that does"},
    {"a setting that the hook sets",
     OLD,
     STACK("{version: '2.27.7'}", "settings: {bios: {NPS: 1}}\n"),
     {NULL},
     "bios",
     "",
     false,
     "hook settings.bios.NPS [{\"component\":\"settings.bios.NPS\",\"value\":\"1\"}] "
     "[{\"before\":\"1\",\"component\":\"settings.bios.NPS\"}]\n",
     NULL},
    {"firmware by a tool of the node",
     STACK("{version: '2.27.7'}", "firmware: [{class: nic, version: '28.39.1002'}]\n"),
     STACK("{version: '2.27.7'}", "firmware: [{class: nic, version: '28.43.2026'}]\n"),
     {BUNDLE(FLASH_OF("old.bin", A, "nic", "28.39.1002", "") "," FLASH_OF("new.bin", B, "nic",
                                                                          "28.43.2026", ""))},
     "",
     "",
     true,
     "firmware firmware/nic [" ITEM("firmware/nic", "28.39.1002", B, "new.bin",
                                    "28.43.2026") "] [" ITEM("firmware/nic", "28.43.2026", A,
                                                             "old.bin", "28.39.1002") "]\n",
     NULL},
    {"firmware of one part",
     STACK("{version: '2.27.7'}", "firmware: [{class: nvme, part: 'MZ 1', version: '1'}]\n"),
     STACK("{version: '2.27.7'}", "firmware: [{class: nvme, part: 'MZ 1', version: '2'}]\n"),
     {BUNDLE(FLASH_OF("new.bin", B, "nvme", "2", ""))},
     "",
     "",
     true,
     "firmware firmware/nvme [" ITEM("firmware/nvme[MZ 1]", "1", B, "new.bin",
                                     "2") "] none, missing firmware/nvme[MZ 1] 1\n",
     NULL},
    {"why something is absent is no work",
     STACK("{version: '2.27.7'}", "  dcgm: {absent: a}\n"),
     STACK("{version: '2.27.7'}", "  dcgm: {absent: b}\n"),
     {NULL},
     "",
     "",
     false,
     "",
     NULL},
};

static struct lks_str items_of(struct lks_str text)
{
    struct lks_str end = LKS_STR(",\"lockstep\":1");
    ptrdiff_t from = lks_str_find(text, LKS_STR("\"items\":")), to = lks_str_find(text, end);
    if (from < 0 || to < from)
        return LKS_STR("none");
    size_t skip = (size_t)from + strlen("\"items\":");
    return (struct lks_str){text.ptr + skip, (size_t)to - skip};
}

static void describe(const struct lks_plan_told *told, size_t count, struct lks_buf *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct lks_plan_told *t = &told[i];
        struct lks_str there = items_of(t->text), back = items_of(t->text_back);
        lks_buf_addf(out, "%.*s %.*s%s %.*s %.*s%s%.*s\n", LKS_STR_ARG(t->step.executor),
                     LKS_STR_ARG(t->step.component), t->reboots ? " reboots" : "",
                     LKS_STR_ARG(there), LKS_STR_ARG(back),
                     t->step.missing.len > 0 ? ", missing " : "", LKS_STR_ARG(t->step.missing));
    }
}

/* An order has the digest it is called by, and the artifacts are those that it names. */
static void check_told(const struct lks_plan_told *t)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_order order = {0};
    struct lks_err err = {0};
    char digest[LKS_DIGEST_SIZE];
    CHECK_CODE(lks_docs_init(&docs, "o", &err), LKS_OK);
    CHECK_CODE(lks_digest_text(t->text, digest, &err), LKS_OK);
    CHECK_STR(t->step.order, digest);
    if (!CHECK_CODE(lks_order_parse(t->text, "o", &docs, &order, &err), LKS_OK))
        return;
    for (size_t i = 0; i < order.count; i++)
        CHECK(order.items[i].digest.len == 0 ||
              lks_facts_words_have(t->step.artifacts, order.items[i].digest));
    CHECK_INT(t->step.order_back.len > 0, t->text_back.len > 0);
}

static void list(const struct lks_stackdiff *diff, const struct lks_difference **out)
{
    for (size_t i = 0; i < diff->count; i++)
        out[i] = &diff->differences[i];
}

static void make(const struct row *row, const struct lks_plan_layer *layer)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1 << 16);
    struct lks_plan_told told[LKS_PLAN_LAYER_ORDERS];
    struct lks_err err = {0};
    size_t count = 99;
    lks_arena_init(&arena, 1 << 20);
    enum lks_code code = lks_plan_orders(layer, &arena, told, &count, &err);
    if (row->why != NULL) {
        CHECK_CODE(code, LKS_E_REFUSED);
        CHECK_STR(lks_str_from(err.msg), row->why);
        CHECK_INT(count, 99);
        return;
    }
    if (!CHECK_CODE(code, LKS_OK) && CHECK_STR(lks_str_from(err.msg), ""))
        return;
    describe(told, count, &text);
    CHECK_STR(lks_buf_view(&text), row->told);
    for (size_t i = 0; i < count; i++)
        check_told(&told[i]);
}

static void run(const struct row *row)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest from = {0}, to = {0};
    LKS_CLEANUP(lks_stackdiff_fini) struct lks_stackdiff diff = {0};
    struct lks_bundle bundles[2] = {0};
    const struct lks_bundle *list_of[2] = {&bundles[0], &bundles[1]};
    const struct lks_difference *differences[16];
    struct lks_bundle_set set = {.list = list_of};
    const struct lks_facts *facts = lks_test_facts();
    struct lks_err err = {0};
    bool ok =
        lks_manifest_parse("a", lks_str_from(row->from), facts, NULL, &from, &err) == LKS_OK &&
        lks_manifest_parse("b", lks_str_from(row->to), facts, NULL, &to, &err) == LKS_OK &&
        lks_stackdiff_make(facts, from.stacks, to.stacks, &diff, &err) == LKS_OK;
    for (; ok && set.count < 2 && row->bundles[set.count] != NULL; set.count++)
        ok = lks_bundle_parse(lks_str_from(row->bundles[set.count]), "b", facts,
                              &bundles[set.count], &err) == LKS_OK;
    CHECK_STR(lks_str_from(err.msg), "");
    if (CHECK(ok && diff.count <= LKS_COUNT(differences))) {
        list(&diff, differences);
        make(row, &(struct lks_plan_layer){.facts = facts,
                                           .bundles = &set,
                                           .class = LKS_STR("l40s-pcie-8"),
                                           .revision = lks_str_from(row->revision),
                                           .from = from.stacks,
                                           .to = to.stacks,
                                           .hook = lks_str_from(row->hook),
                                           .differences = differences,
                                           .count = diff.count,
                                           .firmware = row->firmware});
    }
    lks_bundle_fini(&bundles[0]);
    lks_bundle_fini(&bundles[1]);
}

static void what_executors_are_told(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        run(&rows[i]);
    }
}

/* Our own agent is a package like others, outside of any stack; it never goes. */
static void our_own_agent(void)
{
    static const char text[] =
        BUNDLE(FILE_OF("lockstep-agent_0.2.0.deb", A, "platform.agent", "0.2.0", "") "," FILE_OF(
            "lockstep-agent_0.1.0.deb", B, "platform.agent", "0.1.0", ""));
    static const struct row there_and_back = {
        .told = "apt platform.agent [" ITEM(
            "platform.agent", "0.1.0", A, "lockstep-agent_0.2.0.deb",
            "0.2.0") "] [" ITEM("platform.agent", "0.2.0", B, "lockstep-agent_0.1.0.deb",
                                "0.1.0") "]\n"};
    static const struct row there = {
        .told = "apt platform.agent [{\"component\":\"platform.agent\",\"digest\":\"" A
                "\",\"file\":\"lockstep-agent_0.2.0.deb\",\"value\":\"0.2.0\"}] none\n"};
    LKS_CLEANUP(lks_bundle_fini) struct lks_bundle bundle = {0};
    const struct lks_bundle *list_of[] = {&bundle};
    const struct lks_bundle_set set = {.list = list_of, .count = 1};
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_bundle_parse(lks_str_from(text), "b", lks_test_facts(), &bundle, &err),
                    LKS_OK))
        return;
    struct lks_plan_layer layer = {.facts = lks_test_facts(),
                                   .bundles = &set,
                                   .agent = LKS_STR("0.2.0"),
                                   .agent_before = LKS_STR("0.1.0")};
    make(&there_and_back, &layer);
    layer.agent_before = LKS_STR("");
    make(&there, &layer);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"what executors are told", what_executors_are_told},
        {"our own agent", our_own_agent},
        {NULL, NULL},
    };
    return lks_test_main(tests);
}
