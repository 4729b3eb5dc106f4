/* The GPUs that a scheduler advertises, against the class and the MIG geometry of a stack. */
#include "core/conform/conform.h"
#include "model/manifest/manifest.h"
#include "tests/facts.h"
#include "tests/manifests.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>

enum { TEXT_MAX = 65536 };

#define WHOLE    "settings: {mig: {mode: disabled}}\n"
#define SEVEN    "settings: {mig: {mode: enabled, profiles: [" SEVEN_OF "]}}\n"
#define SEVEN_OF "1g.18gb, 1g.18gb, 1g.18gb, 1g.18gb, 1g.18gb, 1g.18gb, 1g.18gb"
#define MIXED    "settings: {mig: {mode: enabled, profiles: [3g.71gb, 2g.35gb, 2g.35gb]}}\n"
#define DIFFERS  " drift, scheduler differs\n"
#define OF_H200  " (H200 SXM 141GB) > "

/* What a scheduler advertises of a node of eight H200. */
static const struct {
    const char *name, *settings, *gres;
    const char *row; /* empty: there is none */
} advertised[] = {
    {"as many", WHOLE, "gpu:8", "gpu:8" OF_H200 "gpu:8 conforms\n"},
    {"of a type that the class's board has", WHOLE, "gpu:h200:8",
     "gpu:8" OF_H200 "gpu:h200:8 conforms\n"},
    {"of the type that AutoDetect has", WHOLE, "gpu:nvidia_h200:8",
     "gpu:8" OF_H200 "gpu:nvidia_h200:8 conforms\n"},
    {"of a type that no board has", WHOLE, "gpu:big:8", "gpu:8" OF_H200 "gpu:big:8 conforms\n"},
    {"of two types", WHOLE, "gpu:a:3,gpu:b:5", "gpu:8" OF_H200 "gpu:a:3,gpu:b:5 conforms\n"},
    {"one fewer", WHOLE, "gpu:h200:7", "gpu:8" OF_H200 "gpu:h200:7" DIFFERS},
    {"one more", WHOLE, "gpu:h200:9", "gpu:8" OF_H200 "gpu:h200:9" DIFFERS},
    {"none", WHOLE, "gpu:0", "gpu:8" OF_H200 "gpu:0" DIFFERS},
    {"of another board", WHOLE, "gpu:h100:8", "gpu:8" OF_H200 "gpu:h100:8" DIFFERS},
    {"of another board, as nvidia-smi has it", WHOLE, "gpu:nvidia_h100_80gb_hbm3:8",
     "gpu:8" OF_H200 "gpu:nvidia_h100_80gb_hbm3:8" DIFFERS},
    {"instances where MIG is off", WHOLE, "gpu:7g.141gb:8",
     "gpu:8" OF_H200 "gpu:7g.141gb:8" DIFFERS},
    {"as many where MIG is not pinned", "", "gpu:8", "gpu:8" OF_H200 "gpu:8 conforms\n"},
    {"fewer where MIG is not pinned", "", "gpu:7", "gpu:8" OF_H200 "gpu:7" DIFFERS},
    {"instances where MIG is not pinned", "", "gpu:1g.18gb:56", ""},
    {"what cannot be read", WHOLE, "gpu:(8", ""},

    {"the pinned instances", SEVEN, "gpu:1g.18gb:56",
     "gpu:1g.18gb:56" OF_H200 "gpu:1g.18gb:56 conforms\n"},
    {"as AutoDetect names them", SEVEN, "gpu:nvidia_h200_1g.18gb:56",
     "gpu:1g.18gb:56" OF_H200 "gpu:nvidia_h200_1g.18gb:56 conforms\n"},
    {"their number alone", SEVEN, "gpu:56", "gpu:1g.18gb:56" OF_H200 "gpu:56 conforms\n"},
    {"their number by another type", SEVEN, "gpu:slice:56",
     "gpu:1g.18gb:56" OF_H200 "gpu:slice:56 conforms\n"},
    {"those of one GPU", SEVEN, "gpu:1g.18gb:7", "gpu:1g.18gb:56" OF_H200 "gpu:1g.18gb:7" DIFFERS},
    {"GPUs", SEVEN, "gpu:h200:8", "gpu:1g.18gb:56" OF_H200 "gpu:h200:8" DIFFERS},
    {"another profile", SEVEN, "gpu:1g.35gb:56", "gpu:1g.18gb:56" OF_H200 "gpu:1g.35gb:56" DIFFERS},
    {"the profile with media extensions", SEVEN, "gpu:1g.18gb+me:56",
     "gpu:1g.18gb:56" OF_H200 "gpu:1g.18gb+me:56" DIFFERS},
    {"the profile of another board", SEVEN, "gpu:h100_1g.18gb:56",
     "gpu:1g.18gb:56" OF_H200 "gpu:h100_1g.18gb:56" DIFFERS},
    {"instances and GPUs", SEVEN, "gpu:1g.18gb:49,gpu:h200:7",
     "gpu:1g.18gb:56" OF_H200 "gpu:1g.18gb:49,gpu:h200:7" DIFFERS},
    {"two profiles", MIXED, "gpu:2g.35gb:16,gpu:3g.71gb:8",
     "gpu:3g.71gb:8,gpu:2g.35gb:16" OF_H200 "gpu:2g.35gb:16,gpu:3g.71gb:8 conforms\n"},
    {"two profiles, exchanged", MIXED, "gpu:2g.35gb:8,gpu:3g.71gb:16",
     "gpu:3g.71gb:8,gpu:2g.35gb:16" OF_H200 "gpu:2g.35gb:8,gpu:3g.71gb:16" DIFFERS},
    {"MIG without profiles", "settings: {mig: {mode: enabled}}\n", "gpu:8", ""},
    {"MIG with an empty list", "settings: {mig: {mode: enabled, profiles: []}}\n", "gpu:8", ""},
};

/* The row of it: "pinned > actual verdict, cause". */
static void show(const struct lks_conformance *c, struct lks_buf *out)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct lks_judgement *row = &c->rows[i];
        const char *cause = lks_conform_cause_name(row->cause);
        if (!lks_str_starts(row->subject, "scheduler."))
            continue;
        lks_buf_addf(out, "%" LKS_STR_FMT " > %" LKS_STR_FMT " %s%s%s\n", LKS_STR_ARG(row->pinned),
                     LKS_STR_ARG(row->actual), lks_conform_verdict_name(row->verdict),
                     cause[0] != '\0' ? ", " : "", cause);
        CHECK_STR(row->evidence, "proof of scheduler.gres");
    }
}

static void test_scheduler(void)
{
    for (size_t i = 0; i < LKS_COUNT(advertised); i++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf stack = LKS_BUF(TEXT_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf rows = LKS_BUF(TEXT_MAX);
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
        LKS_CLEANUP(lks_conform_fini) struct lks_conformance c = {0};
        struct lks_err err = {0};
        char line[256];
        lks_test_case("%s", advertised[i].name);
        lks_buf_addf(&stack, "%s%s", LKS_STACK_HGX("s", "hgx-h200-8", "580.126.20", ""),
                     advertised[i].settings);
        snprintf(line, sizeof(line), "scheduler.gres=%s\n", advertised[i].gres);
        lks_test_tuple(line, &tuple);
        if (!CHECK_CODE(
                lks_manifest_parse("s", lks_buf_view(&stack), lks_test_facts(), NULL, &m, &err),
                LKS_OK) ||
            !CHECK_CODE(lks_conform(lks_test_facts(), &m.stacks[0], &tuple, &c, &err), LKS_OK))
            continue;
        show(&c, &rows);
        CHECK_STR(rows.len > 0 ? lks_buf_view(&rows) : LKS_STR(""), advertised[i].row);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"conform: what a scheduler advertises", test_scheduler},
        {0},
    });
}
