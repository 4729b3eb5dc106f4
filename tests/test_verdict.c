/* What a verdict says of a basis and a stack, and that it is all that is needed later. */
#include "core/conform/verdict.h"

#include "core/conform/conform.h"
#include "model/manifest/manifest.h"
#include "tests/facts.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>

#define ARENA_MAX ((size_t)16 << 20)

struct made {
    struct lks_manifest manifest;
    struct lks_buf basis;
    struct lks_arena arena;
    struct lks_rec_verdict verdict;
};

static void made_fini(struct made *m)
{
    lks_manifest_fini(&m->manifest);
    lks_buf_fini(&m->basis);
    lks_arena_fini(&m->arena);
}

/* The verdict of lks_test_node with changes, and with what was read out of band. */
static void make(const char *stack, const char *changes, const char *outband, struct made *m)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0}, out = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf in = {0}, beyond = {0};
    char digest[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    *m = (struct made){0};
    lks_arena_init(&m->arena, ARENA_MAX);
    lks_buf_init(&m->basis, LKS_BASIS_BYTES_MAX);
    lks_buf_init(&in, LKS_BASIS_BYTES_MAX);
    lks_buf_init(&beyond, LKS_BASIS_BYTES_MAX);
    lks_test_tuple_with(lks_test_node, changes, &tuple);
    lks_test_tuple(outband, &out);
    m->verdict.basis = LKS_STR("b");
    m->verdict.stack = LKS_STR("s");
    bool parsed = lks_manifest_parse("stack", lks_str_from(stack), lks_test_facts(), NULL,
                                     &m->manifest, &err) == LKS_OK;
    CHECK_STR(lks_str_from(err.msg), "");
    LKS_ASSERT(parsed);
    CHECK_CODE(lks_basis_of(&tuple, &in, digest, &err), LKS_OK);
    CHECK_CODE(lks_basis_of(&out, &beyond, digest, &err), LKS_OK);
    struct lks_str both = beyond.ptr == NULL ? LKS_STR("") : lks_buf_view(&beyond);
    CHECK_CODE(lks_basis_merge(lks_buf_view(&in), both, false, &m->basis, digest, &err), LKS_OK);
    CHECK_CODE(lks_verdict_make(lks_test_facts(), m->manifest.stacks, lks_buf_view(&m->basis),
                                &m->arena, &m->verdict, &err),
               LKS_OK);
    CHECK_STR(lks_str_from(err.msg), "");
    CHECK_STR(m->verdict.basis, "b");
    CHECK_STR(m->verdict.stack, "s");
}

/* Wrong -------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *changes, *outband;
    enum lks_judged judged;
    unsigned drifted, unmeasured;
    const char *first, *wrong;
} rows[] = {
    {"conforms", "", "", LKS_JUDGED_CONFORMS, 0, 0, "", ""},
    {"a component", "kernel=6.8.0-72-generic", "", LKS_JUDGED_DRIFT, 1, 0,
     "kernel: 6.8.0-72-generic, pinned 6.8.0-71-generic",
     "kernel\tother version\t6.8.0-71-generic\t6.8.0-72-generic\t\n"},
    {"unread", "kernel?no access", "", LKS_JUDGED_UNMEASURED, 0, 1,
     "kernel: no access, pinned 6.8.0-71-generic",
     "kernel\tunmeasured\t6.8.0-71-generic\tno access\t\n"},
    {"one device, whichever", "settings.ecc@gpu 0000:ab:00.0=false", "", LKS_JUDGED_DRIFT, 1, 0,
     "settings.ecc: false on 1 of 8 GPUs, pinned true",
     "settings.ecc\tpending\ttrue\tfalse on 1 of 8 GPUs\t\n"},
    {"a device that has no number", "!firmware/bmc\nfirmware/bmc@bmc=1", "", LKS_JUDGED_DRIFT, 1, 0,
     "firmware/bmc: 1, pinned 25.02.11", "firmware/bmc\tother version\t25.02.11\t1\tbmc\n"},
    {"drift and unread", "kernel?no access\nfirmware/bmc=1", "", LKS_JUDGED_DRIFT, 1, 1,
     "kernel: no access, pinned 6.8.0-71-generic",
     "kernel\tunmeasured\t6.8.0-71-generic\tno access\t\n"
     "firmware/bmc\tother version\t25.02.11\t1\t\n"},
    {"bands that disagree", "", "firmware/bmc@bmc=1", LKS_JUDGED_DRIFT, 1, 0,
     "firmware/bmc: in-band and out-of-band disagree: 25.02.11 against 1, pinned 25.02.11",
     "firmware/bmc\tbands disagree\t25.02.11\tin-band and out-of-band disagree: 25.02.11 against "
     "1\t\n"},
    {"bands that agree", "", "firmware/bmc@bmc=25.02.11", LKS_JUDGED_CONFORMS, 0, 0, "", ""},
};

static void test_wrong(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(made_fini) struct made m = {0};
        lks_test_case("%s", rows[i].name);
        make(lks_test_node_stack, rows[i].changes, rows[i].outband, &m);
        CHECK_INT(m.verdict.judged, rows[i].judged);
        CHECK_INT(m.verdict.drifted, rows[i].drifted);
        CHECK_INT(m.verdict.unmeasured, rows[i].unmeasured);
        CHECK_STR(m.verdict.first, rows[i].first);
        CHECK_STR(m.verdict.wrong, rows[i].wrong);
    }
}

/* Lines are read back as they were written. */
static void test_next(void)
{
    struct lks_str lines = LKS_STR("a\tb\tc\td\te\nf\tg\th\t\t\n");
    struct lks_wrong w = {0};
    CHECK(lks_verdict_wrong_next(&lines, &w));
    CHECK_STR(w.subject, "a");
    CHECK_STR(w.cause, "b");
    CHECK_STR(w.pinned, "c");
    CHECK_STR(w.actual, "d");
    CHECK_STR(w.of, "e");
    CHECK(lks_verdict_wrong_next(&lines, &w));
    CHECK_STR(w.subject, "f");
    CHECK_STR(w.actual, "");
    CHECK_STR(w.of, "");
    CHECK(!lks_verdict_wrong_next(&lines, &w));
    struct lks_str values = LKS_STR("driver\t580\ncuda\t\n");
    struct lks_value v = {0};
    CHECK(lks_verdict_value_next(&values, &v));
    CHECK_STR(v.subject, "driver");
    CHECK_STR(v.value, "580");
    CHECK(lks_verdict_value_next(&values, &v));
    CHECK_STR(v.subject, "cuda");
    CHECK_STR(v.value, "");
    CHECK(!lks_verdict_value_next(&values, &v));
}

/* Values ------------------------------------------------------------------------------------- */

static void test_values(void)
{
    LKS_CLEANUP(made_fini) struct made m = {0};
    make(lks_test_node_stack, "", "", &m);
    CHECK_STR(m.verdict.values, "container-toolkit\t1.19.1\n"
                                "containerd\t1.7.28\n"
                                "cuda\t\n" /* an image brings it */
                                "dcgm\t4.5.3\n"
                                "doca-ofed\tabsent\n"
                                "driver\t580.126.20\n"
                                "driver.modules\topen\n"
                                "driver.build.srcversion\t0B9F2F4D6A0E1D3C5B7A998\n"
                                "fabric-manager\t580.126.20\n"
                                "kernel\t6.8.0-71-generic\n"
                                "nccl\t\n" /* the same, though one lies there */
                                "firmware/bios\t2.4.1\n"
                                "firmware/bmc\t25.02.11\n"
                                "firmware/nic\t28.46.1006\n"
                                "firmware/nvme\t2.1.9\n"
                                "firmware/nvme[MZ-1]\tGDC7302Q\n"
                                "firmware/vbios\t96.00.A5.00.1A\n");
}

/* Pairs of nodes that run the same stack, and whether their gangs agree. */
static void test_agreement(void)
{
    static const struct {
        const char *name, *changes;
        bool same;
    } pairs[] = {
        {"the same", "", true},
        {"within a window, and another", "dcgm=4.6.0\ndcgm.package=4.6.0", false},
        {"another version of an image beside the pinned one",
         "copy.nccl@/opt/x/libnccl.so.2#python=2.27.0", true},
        {"a setting", "settings.power_limit_w@gpu *=650", true},
        {"a GPU less", "devices.gpus=7", true},
        {"firmware of one device",
         "firmware/vbios@gpu 0000:18:00.0#692-2G520-0282-001=96.00.A5.00.19", false},
        {"the same of another device", "gpu.serial@gpu 0000:18:00.0=1", true},
    };
    LKS_CLEANUP(made_fini) struct made base = {0};
    make(lks_test_node_stack, "", "", &base);
    for (size_t i = 0; i < LKS_COUNT(pairs); i++) {
        LKS_CLEANUP(made_fini) struct made m = {0};
        lks_test_case("%s", pairs[i].name);
        make(lks_test_node_stack, pairs[i].changes, "", &m);
        CHECK(lks_str_eq(base.verdict.values, m.verdict.values) == pairs[i].same);
    }
}

/* A node without devices of a part that is pinned has nothing to agree in. */
static void test_no_device(void)
{
    LKS_CLEANUP(made_fini) struct made m = {0};
    make(lks_test_node_stack, "!firmware/nvme\nfirmware/nvme@nvme nvme1#MZ-2=2.1.9", "", &m);
    CHECK_HAS(m.verdict.values, "firmware/nvme[MZ-1]\t\n");
    CHECK_HAS(m.verdict.values, "firmware/nvme\t2.1.9\n");
}

/* Limits ------------------------------------------------------------------------------------- */

/* Long values are cut, and of many lines those beyond the limit are counted. */
static void test_limits(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf stack = {0}, changes = {0};
    LKS_CLEANUP(made_fini) struct made m = {0};
    enum { MANY = LKS_VERDICT_LINES_MAX + 50 };
    size_t lines = 0;
    lks_buf_init(&stack, (size_t)1 << 20);
    lks_buf_init(&changes, (size_t)1 << 20);
    lks_buf_addf(&stack, "%s", lks_test_node_stack);
    struct lks_str all = lks_buf_view(&stack);
    ptrdiff_t at = lks_str_find(all, LKS_STR("  unattended_upgrades"));
    LKS_ASSERT(at > 0);
    lks_buf_truncate(&stack, (size_t)at);
    lks_buf_addf(&stack, "  bios: {A: yonder");
    for (int i = 0; i < MANY; i++)
        lks_buf_addf(&stack, ", B%d: low", i);
    lks_buf_addf(&stack, "}\n%s", lks_test_node_stack + at);
    lks_buf_addf(&changes, "settings.bios.A=");
    lks_buf_pad(&changes, 'x', 4000);
    lks_buf_addf(&changes, "\n");
    make(stack.ptr, changes.ptr, "", &m);
    CHECK_INT(m.verdict.judged, LKS_JUDGED_DRIFT);
    CHECK_INT(m.verdict.drifted, 1);
    CHECK_INT(m.verdict.unmeasured, MANY);
    CHECK_HAS(m.verdict.wrong, "settings.bios.A\tsetting changed\tyonder\txxx");
    CHECK(m.verdict.first.len <= 256);
    struct lks_str wrong = m.verdict.wrong;
    struct lks_wrong w;
    for (; lks_verdict_wrong_next(&wrong, &w); lines++)
        CHECK(w.actual.len <= 512);
    CHECK_INT(lines, LKS_VERDICT_LINES_MAX);
}

static void test_bad_basis(void)
{
    LKS_CLEANUP(made_fini) struct made m = {0};
    struct lks_rec_verdict v = {.judged = 7};
    struct lks_err err = {0};
    make(lks_test_node_stack, "", "", &m);
    CHECK_CODE(lks_verdict_make(lks_test_facts(), m.manifest.stacks, LKS_STR("no basis\n"),
                                &m.arena, &v, &err),
               LKS_E_INVALID);
    CHECK_INT(v.judged, 7);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"verdict: what is wrong", test_wrong},
        {"verdict: lines", test_next},
        {"verdict: values", test_values},
        {"verdict: agreement", test_agreement},
        {"verdict: no device of a part", test_no_device},
        {"verdict: limits", test_limits},
        {"verdict: a bad basis", test_bad_basis},
        {NULL, NULL},
    });
}
