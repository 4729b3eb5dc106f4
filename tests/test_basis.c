/* What a judgement rests on: the same judgement as from the whole tuple, for every machine and
 * every change of one reading, and nothing that makes a node this very node. */
#include "core/conform/basis.h"

#include "core/conform/conform.h"
#include "core/conform/draft.h"
#include "model/manifest/manifest.h"
#include "probe/root/probes.h"
#include "tests/facts.h"
#include "tests/mutate.h"
#include "tests/roots.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>

#define YAML_MAX ((size_t)4 << 20)

/* The text of a tuple's basis; the caller owes lks_buf_fini(). */
static struct lks_buf basis_of(const struct lks_tuple *tuple, char digest[LKS_DIGEST_SIZE])
{
    struct lks_buf text = {0};
    struct lks_err err = {0};
    lks_buf_init(&text, 2 * LKS_BASIS_BYTES_MAX);
    CHECK_CODE(lks_basis_of(tuple, &text, digest, &err), LKS_OK);
    CHECK_STR(lks_str_from(err.msg), "");
    return text;
}

/* The same judgement ------------------------------------------------------------------------ */

/* "true on 7, false on 1 of 8 GPUs": devices have another order here, so the parts are compared
 * without one. Copies that read the same are one. */
static bool same_spread(struct lks_str a, struct lks_str b)
{
    struct lks_str part;
    if (lks_str_ends(a, " places") && lks_str_ends(b, " places"))
        return true;
    if (a.len != b.len || lks_str_find(a, LKS_STR(" of ")) < 0)
        return false;
    while (a.len > 0) {
        (void)lks_str_cut(a, ',', &part, &a);
        ptrdiff_t of = lks_str_find(part, LKS_STR(" of "));
        part.len = of >= 0 ? (size_t)of : part.len;
        if (lks_str_find(b, lks_str_trim(part)) < 0)
            return false;
    }
    return true;
}

/* Parameters of one host are not in a basis, and neither are the paths of copies; of GPUs that are
 * what they should be the name of the first is told, whichever that is. */
static bool same_actual(const struct lks_judgement *a, const struct lks_judgement *b)
{
    bool yes = a->verdict == LKS_CONFORMS;
    bool apart = yes && (lks_str_is(a->subject, "settings.kernel_cmdline") ||
                         lks_str_is(a->subject, "devices.gpu") ||
                         lks_str_find(a->actual, LKS_STR("; beside it ")) > 0);
    return apart || lks_str_eq(a->actual, b->actual) || same_spread(a->actual, b->actual);
}

static bool same_row(const struct lks_judgement *a, const struct lks_judgement *b)
{
    return lks_str_eq(a->subject, b->subject) && lks_str_eq(a->pinned, b->pinned) &&
           a->verdict == b->verdict && a->cause == b->cause && same_actual(a, b);
}

static bool same_rows(const struct lks_conformance *a, const struct lks_conformance *b)
{
    bool same = a->count == b->count && a->drifted == b->drifted &&
                a->unmeasured == b->unmeasured && a->class == b->class;
    for (size_t i = 0; same && i < a->count; i++) {
        same = same_row(&a->rows[i], &b->rows[i]);
        if (!same)
            printf("    %.*s: '%.*s' (%s), from its basis '%.*s' (%s)\n",
                   LKS_STR_ARG(a->rows[i].subject), LKS_STR_ARG(a->rows[i].actual),
                   lks_conform_cause_name(a->rows[i].cause), LKS_STR_ARG(b->rows[i].actual),
                   lks_conform_cause_name(b->rows[i].cause));
    }
    return same;
}

/* Whether `tuple` and the text of a basis are judged alike against `stack`. */
static bool judged_alike(const struct lks_stack *stack, const struct lks_tuple *tuple,
                         struct lks_str basis)
{
    LKS_CLEANUP(lks_conform_fini) struct lks_conformance a = {0}, b = {0};
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple again = {0};
    struct lks_err err = {0};
    bool done = CHECK_CODE(lks_conform(lks_test_facts(), stack, tuple, &a, &err), LKS_OK) &&
                CHECK_CODE(lks_basis_parse(basis, &again, &err), LKS_OK) &&
                CHECK_CODE(lks_conform(lks_test_facts(), stack, &again, &b, &err), LKS_OK);
    return done && same_rows(&a, &b);
}

static void check_alike(const struct lks_stack *stack, const struct lks_tuple *tuple)
{
    char digest[LKS_DIGEST_SIZE];
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = basis_of(tuple, digest);
    CHECK(judged_alike(stack, tuple, lks_buf_view(&text)));
}

static void check_mutations(const char *name, const struct lks_stack *stack,
                            const struct lks_tuple *tuple)
{
    for (size_t at = 0; at < tuple->count; at++) {
        const struct lks_reading *r = &tuple->readings[at];
        for (int k = 0; k < LKS_MUTATIONS; k++) {
            struct lks_tuple changed = lks_mutate_tuple(tuple, at, (enum lks_mutation)k);
            lks_test_case("%s: %.*s of %.*s %s", name, LKS_STR_ARG(r->name), LKS_STR_ARG(r->of),
                          lks_mutation_name((enum lks_mutation)k));
            check_alike(stack, &changed);
            lks_tuple_fini(&changed);
        }
    }
}

/* A stack of the machine itself; false for one that none can be taken from. */
static bool draft(const struct lks_tuple *tuple, struct lks_buf *yaml, struct lks_manifest *out)
{
    struct lks_report report = {0};
    struct lks_err err = {0};
    lks_day today = 0;
    lks_buf_init(yaml, YAML_MAX);
    lks_report_init(&report);
    CHECK(lks_time_day_parse(LKS_STR("2026-11-15"), &today));
    bool ok = lks_draft_stack(lks_test_facts(), tuple, LKS_STR("golden"), LKS_STR("1"), today, yaml,
                              &report, &err) == LKS_OK &&
              report.errors == 0 &&
              lks_manifest_parse("draft", lks_buf_view(yaml), lks_test_facts(), NULL, out, &err) ==
                  LKS_OK;
    lks_report_fini(&report);
    return ok;
}

/* Machines against their own stacks, and those that agree with themselves against one of another
 * machine's. */
static void test_machines(void)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest test_stack = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_manifest_parse("stack", lks_str_from(lks_test_node_stack), lks_test_facts(),
                                  NULL, &test_stack, &err),
               LKS_OK);
    for (size_t i = 0; i < lks_test_root_count; i++) {
        const struct lks_test_root *root = &lks_test_roots[i];
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest own = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf yaml = {0};
        struct lks_planted planted;
        lks_test_plant(root, &planted);
        struct lks_tuple tuple = lks_test_read(planted.path, NULL, lks_probes, lks_probe_count);
        lks_test_planted_free(&planted);
        lks_test_case("%s", root->name);
        CHECK(draft(&tuple, &yaml, &own) == root->golden);
        if (root->golden)
            check_mutations(root->name, own.stacks, &tuple);
        lks_test_case("%s, another's stack", root->name);
        check_alike(test_stack.stacks, &tuple);
        lks_tuple_fini(&tuple);
    }
}

/* What no captured machine has: copies in images, sides of a pair, boards that share an id. */
static const struct {
    const char *name, *changes;
} nodes[] = {
    {"as it should be", ""},
    {"memory in blocks", "devices.memory_gib=2040\t/sys/devices/system/memory\n"},
    {"memory that firmware counted", "devices.memory_gib=2040\tSMBIOS\n"},
    {"a copy in an image", "copy.nccl@/opt/a/libnccl.so.2#python=2.27.3\n"},
    {"a copy in a process", "copy.nccl@/opt/a/libnccl.so.2#python=2.27.3\n"
                            "copy.nccl@/proc/7/libnccl.so.2#process=2.19.1\n"},
    {"a copy nobody could read", "copy.nccl@/opt/a/libnccl.so.2#process?no access\n"},
    {"build ids of copies", "copy.nccl@/opt/a/libnccl.so.2#python=2.28.9\n"
                            "copy.nccl.build_id@/opt/a/libnccl.so.2#python=aaaa\n"
                            "copy.nccl@/opt/b/libnccl.so.2#python=2.27.1\n"
                            "copy.nccl.build_id@/opt/b/libnccl.so.2#python=bbbb\n"},
    {"no search", "search.skipped@all places=a quick reading\n"},
    {"a search that left out a place", "search.skipped@/mnt=a network file system\n"},
    {"a search that failed", "probe.libraries?killed after 60 s\n"},
    {"a probe that failed", "nccl?killed after 60 s\tprobe libraries\n"},
    {"MIG that waits for a reset", "gpu.mig_pending@gpu 0000:2a:00.0=enabled\n"},
    {"MIG that waits to be off",
     "settings.mig.mode@gpu 0000:2a:00.0=enabled\ngpu.mig_pending@gpu 0000:2a:00.0=disabled\n"},
    {"sides of a pair", "firmware/psu@psu 1 side a#P=1.0\nfirmware/psu@psu 2 side b#P=1.1\n"},
    {"GPUs that tell another name", "gpu.product@gpu 0000:2a:00.0=NVIDIA H100\n"},
    {"ports beside the fabric's", "devices.nics=9\ndevices.nic_gbps@nic eno1=10\n"},
    {"no GPU at all", "!gpu.pci_id\n!gpu.product\ndevices.gpus=0\nfirmware/vbios~\n"},
};

static void test_nodes(void)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_manifest_parse("stack", lks_str_from(lks_test_node_stack), lks_test_facts(),
                                  NULL, &m, &err),
               LKS_OK);
    for (size_t i = 0; i < LKS_COUNT(nodes); i++) {
        struct lks_tuple tuple;
        lks_test_case("%s", nodes[i].name);
        lks_test_tuple_with(lks_test_node, nodes[i].changes, &tuple);
        check_alike(m.stacks, &tuple);
        lks_tuple_fini(&tuple);
    }
}

/* Were a line left out, the property above would not hold. */
static void test_lines_matter(void)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf yaml = {0}, without = {0};
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    char digest[LKS_DIGEST_SIZE];
    size_t lines = 0, matter = 0;
    lks_test_tuple(lks_test_node, &tuple);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = basis_of(&tuple, digest);
    if (!CHECK(draft(&tuple, &yaml, &m)))
        return;
    lks_buf_init(&without, LKS_BASIS_BYTES_MAX);
    struct lks_str all = lks_buf_view(&text), rest = all, line;
    for (; rest.len > 0; lines++) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        lks_buf_truncate(&without, 0);
        lks_buf_add(&without, (struct lks_str){all.ptr, (size_t)(line.ptr - all.ptr)});
        lks_buf_add(&without, rest);
        lks_test_case("without %.*s", LKS_STR_ARG(line));
        LKS_CLEANUP(lks_conform_fini) struct lks_conformance c = {0};
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple again = {0};
        struct lks_err err = {0};
        if (!CHECK_CODE(lks_basis_parse(lks_buf_view(&without), &again, &err), LKS_OK) ||
            !CHECK_CODE(lks_conform(lks_test_facts(), m.stacks, &again, &c, &err), LKS_OK))
            return;
        matter += !lks_conformance_yes(&c);
    }
    lks_test_case("lines that count");
    CHECK(lines > 60);
    CHECK(matter > lines / 2);
}

/* The same basis ---------------------------------------------------------------------------- */

static const struct {
    const char *name, *changes;
    bool same;
} changes[] = {
    {"nothing", "", true},
    {"serial numbers", "gpu.serial@gpu 0000:18:00.0=1653\nplatform.serial=X\nnic.mac@nic a=aa\n",
     true},
    {"health", "gpu.throttle@gpu 0000:18:00.0=thermal\ngpu.processes@gpu 0000:18:00.0=47\n", true},
    {"evidence", "driver=580.126.20\tanother way\n", true},
    {"another GPU with the same exception",
     "settings.ecc@gpu 0000:18:00.0=true\nsettings.ecc@gpu 0000:2a:00.0=true\n", true},
    {"a place that was not searched", "search.skipped@/mnt=a network file system\n", true},
    {"a probe that matters to nobody", "probe.optics?killed\n", true},
    {"a driver library in an image", "shadow.driver@/opt/x#container=580.1\n", true},
    {"another driver", "driver=580.126.21\n", false},
    {"a GPU without ECC", "settings.ecc@gpu 0000:18:00.0=false\n", false},
    {"absent instead of there", "kernel~\n", false},
    {"unread instead of there", "kernel?no access\n", false},
    {"unread for another reason", "kernel?timeout\n", false},
    {"a GPU less", "!settings.ecc@gpu 0000:18:00.0\n", false},
    {"a mode that waits", "gpu.ecc_pending@gpu 0000:18:00.0=disabled\n", false},
    {"a part's number", "gpu.part@gpu 0000:18:00.0=900-1\n", false},
};

static void test_same(void)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple base = {0};
    char digest[LKS_DIGEST_SIZE], other[LKS_DIGEST_SIZE];
    lks_test_tuple(lks_test_node, &base);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = basis_of(&base, digest);
    CHECK(lks_digest_valid(lks_str_from(digest)));
    for (size_t i = 0; i < LKS_COUNT(changes); i++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
        lks_test_case("%s", changes[i].name);
        lks_test_tuple_with(lks_test_node, changes[i].changes, &tuple);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf changed = basis_of(&tuple, other);
        CHECK((strcmp(digest, other) == 0) == changes[i].same);
        CHECK(lks_str_eq(lks_buf_view(&text), lks_buf_view(&changed)) == changes[i].same);
    }
}

/* Pairs of tuples, and whether they are the same but for which device has what. */
static const struct {
    const char *name, *a, *b;
    bool same;
} pairs[] = {
    {"another of two GPUs is the odd one", "settings.ecc@gpu 1=true\nsettings.ecc@gpu 2=false\n",
     "settings.ecc@gpu 8=false\nsettings.ecc@gpu 9=true\n", true},
    {"the odd one is odd in two ways",
     "gpu.pci_id@gpu 1=a\ngpu.pci_id@gpu 2=b\ngpu.product@gpu 1=A\ngpu.product@gpu 2=B\n",
     "gpu.pci_id@gpu 1=b\ngpu.pci_id@gpu 2=a\ngpu.product@gpu 1=B\ngpu.product@gpu 2=A\n", true},
    {"two are odd in a way each",
     "gpu.pci_id@gpu 1=a\ngpu.pci_id@gpu 2=b\ngpu.product@gpu 1=A\ngpu.product@gpu 2=B\n",
     "gpu.pci_id@gpu 1=a\ngpu.pci_id@gpu 2=b\ngpu.product@gpu 1=B\ngpu.product@gpu 2=A\n", false},
    {"sides", "firmware/psu@psu 1 side a#P=1\nfirmware/psu@psu 2 side b#P=2\n",
     "firmware/psu@psu 1 side a#P=2\nfirmware/psu@psu 2 side b#P=1\n", false},
    {"slots of a side", "firmware/psu@psu 1 side a#P=1\n", "firmware/psu@psu 5 side a#P=1\n", true},
    {"parameters of the host", "settings.kernel_cmdline=root=/dev/a quiet ip=10.0.0.1\n",
     "settings.kernel_cmdline=root=UUID=x   quiet\n", true},
    {"other parameters", "settings.kernel_cmdline=quiet\n", "settings.kernel_cmdline=\n", false},
    {"two processes of a job", "copy.nccl@/proc/1/x#process=2.1\ncopy.nccl@/proc/2/x#process=2.1\n",
     "copy.nccl@/proc/99/x#process=2.1\n", true},
    {"copies of two versions", "copy.nccl@/a#python=2.1\ncopy.nccl@/b#python=2.2\n",
     "copy.nccl@/a#python=2.1\n", false},
    {"a device of each kind", "firmware/nvme@nvme nvme0#P=1\n", "firmware/nvme@disk nvme0#P=1\n",
     false},
    {"a node without readings", "", "gpu.serial@gpu 1=1\n", true},
};

static void test_pairs(void)
{
    for (size_t i = 0; i < LKS_COUNT(pairs); i++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple a = {0}, b = {0};
        char left[LKS_DIGEST_SIZE], right[LKS_DIGEST_SIZE];
        lks_test_case("%s", pairs[i].name);
        lks_test_tuple(pairs[i].a, &a);
        lks_test_tuple(pairs[i].b, &b);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf one = basis_of(&a, left);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf two = basis_of(&b, right);
        CHECK(lks_str_eq(lks_buf_view(&one), lks_buf_view(&two)) == pairs[i].same);
        CHECK((strcmp(left, right) == 0) == pairs[i].same);
    }
}

static void test_text(void)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    char digest[LKS_DIGEST_SIZE];
    lks_test_tuple("settings.ecc@gpu 0000:18:00.0=true\nsettings.ecc@gpu 0000:2a:00.0=false\n"
                   "kernel?no access\nnccl?killed\tprobe libraries\ndoca-ofed~\n"
                   "firmware/bmc@bmc#AST=1.2\ndevices.memory_gib=2048\t/sys/devices/system/memory\n"
                   "devices.gpus=8\ngpu.uuid@gpu 0000:18:00.0=GPU-1\n",
                   &tuple);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = basis_of(&tuple, digest);
    CHECK_STR(lks_buf_view(&text), "devices.gpus\t\t\t=\t8\n"
                                   "devices.memory_gib\t\t\t#\t2048\n"
                                   "doca-ofed\t\t\t-\t\n"
                                   "firmware/bmc\tbmc\tAST\t=\t1.2\n"
                                   "kernel\t\t\t?\tno access\n"
                                   "nccl\t\t\t!\tkilled\n"
                                   "settings.ecc\tgpu 1\t\t=\tfalse\n"
                                   "settings.ecc\tgpu 2\t\t=\ttrue\n");
    CHECK_STR(lks_str_from(digest), /* never changes: it is in journals */
              "sha256:60b00c73f9849ccffb5066975a201a0f97886ecca8a44558945dadfd9c613295");
}

/* Reading it -------------------------------------------------------------------------------- */

static const struct {
    const char *name, *text;
    bool good;
} texts[] = {
    {"nothing", "", true},
    {"a line", "a\t\t\t=\t1\n", true},
    {"two lines", "a\t\t\t=\t1\nb\t\t\t-\t\n", true},
    {"letters of a language", "a\t\t\t=\t\xc3\xa4\n", true},
    {"no end", "a\t\t\t=\t1", false},
    {"an empty line", "a\t\t\t=\t1\n\n", false},
    {"a field too few", "a\t\t=\t1\n", false},
    {"a field too many", "a\t\t\t=\t1\t\n", false},
    {"no name", "\t\t\t=\t1\n", false},
    {"no state", "a\t\t\t\t1\n", false},
    {"an unknown state", "a\t\t\t+\t1\n", false},
    {"two states", "a\t\t\t==\t1\n", false},
    {"absent, and a value", "a\t\t\t-\t1\n", false},
    {"the same again", "a\t\t\t=\t1\na\t\t\t=\t1\n", false},
    {"out of order", "b\t\t\t=\t1\na\t\t\t=\t1\n", false},
    {"bytes that do not print", "a\t\t\t=\t\x1b[2J\n", false},
    {"bytes that are no text", "a\t\t\t=\t\xff\n", false},
};

static void test_parse(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        struct lks_tuple tuple = {0};
        struct lks_err err = {0};
        lks_test_case("%s", texts[i].name);
        CHECK_CODE(lks_basis_parse(lks_str_from(texts[i].text), &tuple, &err),
                   texts[i].good ? LKS_OK : LKS_E_INVALID);
        CHECK((err.msg[0] == '\0') == texts[i].good);
        CHECK(texts[i].good || tuple.readings == NULL);
        lks_tuple_fini(&tuple);
    }
}

static void test_long(void)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(8 * LKS_BASIS_BYTES_MAX);
    struct lks_err err = {0};
    char name[64], value[LKS_READING_VALUE_MAX], digest[LKS_DIGEST_SIZE];
    memset(value, 'x', sizeof(value));
    lks_tuple_init(&tuple);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof(name), "c%d", i);
        lks_tuple_add(&tuple, &(struct lks_reading){.name = lks_str_from(name),
                                                    .value = {value, sizeof(value)}});
    }
    CHECK_CODE(lks_tuple_finish(&tuple, &err), LKS_OK);
    CHECK_CODE(lks_basis_of(&tuple, &text, digest, &err), LKS_E_LIMIT);
    CHECK_INT(text.len, 0);
}

static const char looked_at[] = "devices.gpus\t\t\t=\t8\n"
                                "driver\t\t\t=\t580\n"
                                "driver.package\t\t\t?\tno access\n"
                                "firmware/nic\tnic 1\tP\t-\t\n"
                                "firmware/nic\tnic 2\tP\t=\t28\n"
                                "kernel\t\t\t-\t\n";

static void test_value(void)
{
    static const struct {
        const char *name, *value;
    } rows[] = {{"devices.gpus", "8"},  {"driver", "580"}, {"driver.package", ""},
                {"firmware/nic", "28"}, {"kernel", ""},    {"a", ""},
                {"driver.", ""},        {"zz", ""},        {"firmware/nic\tnic", ""}};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        CHECK_STR(lks_basis_value(lks_str_from(looked_at), rows[i].name), rows[i].value);
    }
    CHECK_STR(lks_basis_value(LKS_STR(""), "driver"), "");
}

static void test_gpus(void)
{
    CHECK_INT(lks_basis_gpus(lks_str_from(looked_at)), 8);
    CHECK_INT(lks_basis_gpus(LKS_STR("")), 0);
    CHECK_INT(lks_basis_gpus(LKS_STR("gpu.pci_id\tgpu 1\t\t=\t10de:1\ngpu.pci_id\tgpu 2\t\t=\tx\n"
                                     "gpu.product\tgpu 1\t\t=\tH200\n")),
              2);
}

/* Two bands --------------------------------------------------------------------------------- */

static const struct {
    const char *name, *inband, *outband;
    bool expired;
    const char *whole; /* lines, a reading each */
} merges[] = {
    {"nothing of either", "", "", false, ""},
    {"only in-band", "driver=580\n", "", false, "driver\t\t\t=\t580\n"},
    {"only out-of-band", "", "firmware/bmc@bmc=1\n", false, "firmware/bmc\tbmc\t\t=\t1\n"},
    {"each its own", "driver=580\n", "firmware/bmc@bmc=1\n", false,
     "driver\t\t\t=\t580\nfirmware/bmc\tbmc\t\t=\t1\n"},
    {"devices are of their own band", "gpu.pci_id@gpu 1=a\n", "gpu.product@gpu 1=A\n", false,
     "gpu.pci_id\tgpu 1\t\t=\ta\ngpu.product\tgpu +1\t\t=\tA\n"},
    {"alike", "firmware/bmc@bmc=1a\n", "firmware/bmc@manager=1A\n", false,
     "firmware/bmc\tbmc\t\t=\t1a\n"},
    {"alike, ports and adapters", "firmware/nic@nic 1#P=28\nfirmware/nic@nic 2#P=28\n",
     "firmware/nic@slot 1=28\n", false,
     "firmware/nic\tnic 1\tP\t=\t28\nfirmware/nic\tnic 2\tP\t=\t28\n"},
    {"other versions", "firmware/bmc@bmc=1\n", "firmware/bmc@bmc=2\n", false,
     "firmware/bmc\t\t\t?\tin-band and out-of-band disagree: 1 against 2\n"},
    {"one device of several", "firmware/nic@nic 1=28\nfirmware/nic@nic 2=28\n",
     "firmware/nic@nic 1=28\nfirmware/nic@nic 2=29\n", false,
     "firmware/nic\t\t\t?\tin-band and out-of-band disagree: 28 against 28, 29\n"},
    {"other parts", "firmware/nic@nic 1#P=28\n", "firmware/nic@nic 1#Q=28\n", false,
     "firmware/nic\t\t\t?\tin-band and out-of-band disagree: 28 against 28\n"},
    {"firmware that the node does not see", "firmware/bmc@bmc~\n", "firmware/bmc@bmc=1\n", false,
     "firmware/bmc\tbmc\t\t=\t1\n"},
    {"firmware that the node does not see, of several devices", "firmware/psu~\n",
     "firmware/psu@psu 1=1\nfirmware/psu@psu 2=2\n", false,
     "firmware/psu\tpsu +1\t\t=\t1\nfirmware/psu\tpsu +2\t\t=\t2\n"},
    {"firmware that the node does not see, past its age", "firmware/bmc@bmc~\n",
     "firmware/bmc@bmc=1\n", true, "firmware/bmc\tbmc\t\t?\tread out of band, and past its age\n"},
    {"firmware that the endpoint does not have", "firmware/tpm@tpm=1\n", "firmware/tpm~\n", false,
     "firmware/tpm\t\t\t?\tin-band and out-of-band disagree: 1 against absent\n"},
    {"firmware of one of two devices", "firmware/nic@nic 1~\nfirmware/nic@nic 2=28\n",
     "firmware/nic@nic 1=29\n", false,
     "firmware/nic\t\t\t?\tin-band and out-of-band disagree: absent, 28 against 29\n"},
    {"a device there and not there", "gpu.product~\n", "gpu.product@gpu 1=A\n", false,
     "gpu.product\t\t\t?\tin-band and out-of-band disagree: absent against A\n"},
    {"neither sees the firmware", "firmware/tpm~\n", "firmware/tpm~\n", false,
     "firmware/tpm\t\t\t-\t\n"},
    {"in-band could not", "firmware/bmc?no access\n", "firmware/bmc@bmc=1\n", false,
     "firmware/bmc\tbmc\t\t=\t1\n"},
    {"out-of-band could not", "firmware/bmc@bmc=1\n", "firmware/bmc?no answer\n", false,
     "firmware/bmc\tbmc\t\t=\t1\n"},
    {"neither could", "firmware/bmc?no access\n", "firmware/bmc?no answer\n", false,
     "firmware/bmc\t\t\t?\tno access\n"},
    {"one reads more", "firmware/nic@nic 1=28\nfirmware/nic@nic 2?no access\n",
     "firmware/nic@nic 1=28\nfirmware/nic@nic 2=28\n", false,
     "firmware/nic\tnic +1\t\t=\t28\nfirmware/nic\tnic +2\t\t=\t28\n"},
    {"past its age", "driver=580\n", "firmware/bmc@bmc=1\n", true,
     "driver\t\t\t=\t580\nfirmware/bmc\tbmc\t\t?\tread out of band, and past its age\n"},
    {"past its age, two of a device", "", "firmware/bmc@bmc=1\nfirmware/bmc@bmc=2\n", true,
     "firmware/bmc\tbmc\t\t?\tread out of band, and past its age\n"},
    {"past its age, and other", "firmware/bmc@bmc=1\n", "firmware/bmc@bmc=2\n", true,
     "firmware/bmc\tbmc\t\t=\t1\n"},
};

static void test_merge(void)
{
    for (size_t i = 0; i < LKS_COUNT(merges); i++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple in = {0}, out = {0}, again = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf whole = LKS_BUF(LKS_BASIS_BYTES_MAX);
        char digest[LKS_DIGEST_SIZE], same[LKS_DIGEST_SIZE];
        struct lks_err err = {0};
        lks_test_case("%s", merges[i].name);
        lks_test_tuple(merges[i].inband, &in);
        lks_test_tuple(merges[i].outband, &out);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf a = basis_of(&in, digest);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf b = basis_of(&out, digest);
        CHECK_CODE(lks_basis_merge(lks_buf_view(&a), lks_buf_view(&b), merges[i].expired, &whole,
                                   digest, &err),
                   LKS_OK);
        CHECK_STR(lks_buf_view(&whole), merges[i].whole);
        CHECK_CODE(lks_digest_text(lks_buf_view(&whole), same, &err), LKS_OK);
        CHECK_STR(lks_str_from(digest), same);
        CHECK_CODE(lks_basis_parse(lks_buf_view(&whole), &again, &err), LKS_OK);
    }
}

/* Without another band, or with one that says the same, nothing changes. */
static void test_merge_same(void)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple node = {0};
    char own[LKS_DIGEST_SIZE], digest[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    lks_test_tuple(lks_test_node, &node);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = basis_of(&node, own);
    struct lks_str all = lks_buf_view(&text);
    const struct lks_str others[] = {LKS_STR(""), all};
    for (size_t i = 0; i < LKS_COUNT(others); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf whole = LKS_BUF(LKS_BASIS_BYTES_MAX);
        CHECK_CODE(lks_basis_merge(all, others[i], i == 1, &whole, digest, &err), LKS_OK);
        CHECK_STR(lks_str_from(digest), own);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"machines and their changes are judged alike", test_machines},
        {"nodes are judged alike", test_nodes},
        {"lines matter", test_lines_matter},
        {"what is no part of it", test_same},
        {"devices without addresses", test_pairs},
        {"the text", test_text},
        {"reading it", test_parse},
        {"too long", test_long},
        {"a value", test_value},
        {"GPUs", test_gpus},
        {"two bands", test_merge},
        {"two bands that agree", test_merge_same},
        {NULL, NULL},
    });
}
