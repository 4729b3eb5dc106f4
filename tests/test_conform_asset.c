/* Assets are held against what a stack pins for the domain or site, and against nothing else. */
#include "core/conform/conform.h"

#include "model/manifest/manifest.h"
#include "tests/facts.h"
#include "tests/test.h"
#include "tests/tuples.h"

enum { TEXT_MAX = 64 * 1024 };

static const char stack[] = "lockstep: 1\nkind: Stack\nname: rack\nversion: \"1\"\nvendor: nvidia\n"
                            "hardware: [gb200-nvl72-tray]\ncomponents:\n"
                            "  kernel: {version: \"6.8.0\"}\n"
                            "  driver: {version: \"580.126.20\", modules: open}\n"
                            "  imex: {version: \"580.126.20\"}\n"
                            "  cuda: {version: \"13.0.2\"}\n  cudnn: {version: \"9.18.1\"}\n"
                            "  nccl: {version: \"2.28.9\"}\n"
                            "  container-toolkit: {version: \"1.19.1\"}\n"
                            "firmware:\n"
                            "  - {class: bmc, version: \"24.10\"}\n"
                            "  - {class: nvos, version: \"25.02\", scope: domain}\n"
                            "  - {class: power-shelf, side: a, version: \"1.4\", scope: domain}\n"
                            "  - {class: power-shelf, side: b, version: \"1.5\", scope: domain}\n";

static const struct {
    const char *name, *lines, *wrong;
} rows[] = {
    {"a tray as pinned", "asset=switch-tray\nfirmware/nvos=25.02\n", ""},
    {"its BMC is not that of nodes",
     "asset=switch-tray\nfirmware/nvos=25.02\nfirmware/bmc=88.0\nfirmware/bios=1.0\n", ""},
    {"another version", "asset=switch-tray\nfirmware/nvos=25.01\n",
     "firmware/nvos 25.02 other version\n"},
    {"not read", "asset=switch-tray\nfirmware/nvos?no answer\n",
     "firmware/nvos 25.02 unmeasured\n"},
    {"one that has nothing that is pinned", "asset=cdu\nfirmware/cdu=3\n", ""},
    {"a shelf on its side", "asset=power-shelf\nasset.side=b\nfirmware/power-shelf=1.5\n", ""},
    {"with the version of the other side",
     "asset=power-shelf\nasset.side=a\nfirmware/power-shelf=1.5\n",
     "firmware/power-shelf[side a] 1.4 other version\n"},
};

static void judge(const struct lks_stack *s, const char *lines, struct lks_buf *out)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    LKS_CLEANUP(lks_conform_fini) struct lks_conformance c = {0};
    struct lks_err err = {0};
    lks_test_tuple(lines, &tuple);
    if (!CHECK_CODE(lks_conform(lks_test_facts(), s, &tuple, &c, &err), LKS_OK))
        return;
    for (size_t i = 0; i < c.count; i++) {
        const struct lks_judgement *row = &c.rows[i];
        if (row->verdict != LKS_CONFORMS)
            lks_buf_addf(out, "%" LKS_STR_FMT " %" LKS_STR_FMT " %s\n", LKS_STR_ARG(row->subject),
                         LKS_STR_ARG(row->pinned), lks_conform_cause_name(row->cause));
    }
}

static void test_assets(void)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(
            lks_manifest_parse("stack", lks_str_from(stack), lks_test_facts(), NULL, &m, &err),
            LKS_OK)) {
        CHECK_STR(lks_str_from(err.msg), "");
        return;
    }
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf wrong = LKS_BUF(TEXT_MAX);
        lks_test_case("%s", rows[i].name);
        judge(&m.stacks[0], rows[i].lines, &wrong);
        CHECK_STR(lks_buf_view(&wrong), rows[i].wrong);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"assets", test_assets},
        {0},
    });
}
