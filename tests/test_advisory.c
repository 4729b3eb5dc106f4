#include "core/compat/advisory.h"

#include "core/compat/boards.h"
#include "core/compat/lifecycle.h"
#include "core/compat/parts.h"
#include "model/manifest/manifest.h"
#include "tests/facts.h"
#include "tests/manifests.h"
#include "tests/test.h"

#include <stdio.h>

#define STACK_OF(vendor_class, more) LKS_STACK("s", "nvidia", vendor_class, LKS_STACK_REST more)
#define DRIVER(v)                    STACK_OF("l40s-pcie-8", "  driver: {version: '" v "'}\n")

static void load(const char *affected, struct lks_facts *facts)
{
    char text[2048];
    struct lks_err err = {0};
    snprintf(text, sizeof(text),
             "advisories:\n- {id: CVE-1, vendor: x, component: driver, published: '2026-10-01',"
             " cvss: '7.8', summary: x, status: confirmed, source: x, affected: [%s]}\n",
             affected);
    struct lks_facts_file file = {"advisories.yaml", "a.yaml", lks_str_from(text)};
    if (!CHECK_CODE(lks_facts_load(lks_embedded_data, &file, 1, facts, &err), LKS_OK))
        printf("    %s\n", err.msg);
}

/* What one bulletin says of one stack. */
static const struct {
    const char *name;
    const char *affected;
    const char *stack;
    const char *exposure;  /* NULL when it does not concern the stack */
    const char *component; /* then */
} rows[] = {
    {"in the range", "{component: driver, range: '<580.95.05'}", DRIVER("580.82.07"), "exposed",
     "driver"},
    {"the fixed version", "{component: driver, range: '<580.95.05'}", DRIVER("580.95.05"), NULL,
     NULL},
    {"in the range of its branch", "{component: driver, branch: R580, range: '<580.95.05'}",
     DRIVER("580.82.07"), "exposed", "driver"},
    {"fixed in its branch, below another's",
     "{component: driver, branch: R535, range: '<535.2'}, "
     "{component: driver, branch: R580, range: '<580.95.05'}",
     DRIVER("535.274.02"), NULL, NULL},
    {"the second branch of two",
     "{component: driver, branch: R535, range: '<535.2'}, "
     "{component: driver, branch: R580, range: '<580.95.05'}",
     DRIVER("580.65.06"), "exposed", "driver"},
    {"a branch that had ended", "{component: driver, branch: R580, range: '<580.95.05'}",
     DRIVER("470.82.01"), "unfixed", "driver"},
    {"a branch that lives and is not named", "{component: driver, branch: R570, range: '<570.2'}",
     DRIVER("580.95.05"), NULL, NULL},
    {"words instead of a range", "{component: driver, condition: ask the vendor}",
     DRIVER("580.95.05"), "by-hand", "driver"},
    {"words for a branch", "{component: driver, branch: vGPU 16, condition: with vGPU}",
     DRIVER("580.95.05"), "by-hand", "driver"},
    {"words and a range: the range goes first",
     "{component: driver, condition: ask the vendor}, {component: driver, range: '<581'}",
     DRIVER("580.95.05"), "exposed", "driver"},
    {"a range and words: the same", "{component: driver, range: '<581'}, {component: driver}",
     DRIVER("580.95.05"), "exposed", "driver"},
    {"another family", "{component: driver, range: '<581', gpus: [H100, GB200]}",
     DRIVER("580.95.05"), NULL, NULL},
    {"this family", "{component: driver, range: '<581', gpus: [GB200, L40S]}", DRIVER("580.95.05"),
     "exposed", "driver"},
    {"another component", "{component: dcgm, range: '<9'}", DRIVER("580.95.05"), NULL, NULL},
    {"firmware by its class", "{component: bmc, range: '<2'}",
     STACK_OF("l40s-pcie-8", "  driver: {version: '580.95.05'}\n"
                             "firmware: [{class: bmc, version: '1.9'}]\n"),
     "exposed", "firmware/bmc"},
    {"absent", "{component: driver, range: '<999'}",
     STACK_OF("l40s-pcie-8", "  driver: {absent: no GPUs yet}\n"), NULL, NULL},
};

static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
        LKS_CLEANUP(lks_advisory_list_fini) struct lks_advisory_list list = {0};
        struct lks_err err = {0};
        load(rows[i].affected, &facts);
        if (!CHECK_CODE(
                lks_manifest_parse("s", lks_str_from(rows[i].stack), &facts, NULL, &m, &err),
                LKS_OK))
            continue;
        CHECK_CODE(lks_advisory_list_of(&facts, &m.stacks[0], &list, &err), LKS_OK);
        if (!CHECK_INT(list.count, rows[i].exposure != NULL) || list.count == 0)
            continue;
        CHECK_STR(lks_str_from(lks_advisory_exposure_code(list.open[0].exposure)),
                  rows[i].exposure);
        CHECK_STR(list.open[0].component->name, rows[i].component);
        CHECK_INT(list.exposed, list.open[0].exposure == LKS_EXPOSED);
        CHECK(lks_advisory_list_has(&list, LKS_STR("CVE-1")) ==
              (list.open[0].exposure == LKS_EXPOSED));
        CHECK(!lks_advisory_list_has(&list, LKS_STR("CVE-2")));
        CHECK((list.open[0].affected == NULL) == (list.open[0].exposure == LKS_UNFIXED));
    }
}

static void test_scores(void)
{
    static const struct {
        struct lks_str cvss;
        int score;
    } scores[] = {
        {LKS_STR_C("8.4"), 84}, {LKS_STR_C("10.0"), 100}, {LKS_STR_C("9"), 90},  {LKS_STR_C(""), 0},
        {LKS_STR_C("high"), 0}, {LKS_STR_C("11.0"), 0},   {LKS_STR_C("0.1"), 1},
    };
    for (size_t i = 0; i < LKS_COUNT(scores); i++) {
        lks_test_case("%s", scores[i].cvss.ptr);
        CHECK_INT(lks_advisory_score(&(struct lks_advisory){.cvss = scores[i].cvss}),
                  scores[i].score);
    }
}

/* With the bulletins that are built in: sorted, each about a pinned component, each one once. */
static void test_builtin(void)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    LKS_CLEANUP(lks_advisory_list_fini) struct lks_advisory_list list = {0};
    struct lks_err err = {0};
    const struct lks_facts *facts = lks_test_facts();
    const char *text = STACK_OF("hgx-h100-8", "  driver: {version: '535.104.05'}\n"
                                              "  fabric-manager: {version: '535.104.05'}\n"
                                              "  dcgm: {version: '3.1.6'}\n");
    if (!CHECK_CODE(lks_manifest_parse("s", lks_str_from(text), facts, NULL, &m, &err), LKS_OK))
        return;
    CHECK_CODE(lks_advisory_list_of(facts, &m.stacks[0], &list, &err), LKS_OK);
    CHECK(list.count >= 5);
    CHECK(lks_advisory_list_has(&list, LKS_STR("CVE-2023-0208"))); /* DCGM below 3.1.7 */
    CHECK(lks_advisory_list_has(&list, LKS_STR("CVE-2024-0074"))); /* R535 below 535.161.07 */
    for (size_t i = 1; i < list.count; i++) {
        const struct lks_open_advisory *a = &list.open[i - 1], *b = &list.open[i];
        CHECK(a->exposure <= b->exposure);
        if (a->exposure == b->exposure)
            CHECK(lks_advisory_score(a->advisory) >= lks_advisory_score(b->advisory));
        for (size_t j = 0; j < i; j++)
            CHECK(list.open[j].advisory != b->advisory || list.open[j].component != b->component);
    }
}

static void test_boards(void)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    struct lks_err err = {0};
    const struct lks_facts *facts = lks_test_facts();
    const char *text = STACK_OF("hgx-h100-8, l40s-pcie-8, ours",
                                "  driver: {version: '580.95.05'}\n"
                                "  fabric-manager: {version: '580.95.05'}\n"
                                "---\nlockstep: 1\nkind: HardwareClass\nname: ours\n"
                                "vendor: nvidia\ngpu: {product: L40S, count: 4}\n");
    if (!CHECK_CODE(lks_manifest_parse("s", lks_str_from(text), facts, NULL, &m, &err), LKS_OK))
        return;
    const struct lks_gpu *boards[LKS_BOARDS_MAX];
    CHECK_INT(lks_boards_of(facts, &m.stacks[0], boards, LKS_COUNT(boards)), 2); /* each once */
    CHECK_STR(boards[0]->product, "H100 SXM5 80GB");
    CHECK_STR(boards[1]->product, "L40S");
    CHECK_INT(lks_boards_of(facts, &m.stacks[0], boards, 1), 1);
    CHECK(lks_boards_any_family(boards, 2, LKS_STR("")));
    CHECK(lks_boards_any_family(boards, 2, LKS_STR("GB200 h100")));
    CHECK(!lks_boards_any_family(boards, 2, LKS_STR("GB200 H200")));
    struct lks_gpu pro = {.family = LKS_STR("RTX PRO 6000")};
    CHECK(lks_board_in_families(&pro, LKS_STR("T4 RTX-PRO-6000")));
    CHECK(!lks_board_in_families(&pro, LKS_STR("RTX PRO 6000")));
}

/* Programs get a code, people a sentence. */
static void test_exposures(void)
{
    CHECK_STR(lks_str_from(lks_advisory_exposure_code(LKS_EXPOSED)), "exposed");
    CHECK_STR(lks_str_from(lks_advisory_exposure_about(LKS_EXPOSED)), "exposed");
    CHECK_STR(lks_str_from(lks_advisory_exposure_code(LKS_UNFIXED)), "unfixed");
    CHECK_STR(lks_str_from(lks_advisory_exposure_about(LKS_UNFIXED)), "no fix for this branch");
    CHECK_STR(lks_str_from(lks_advisory_exposure_code(LKS_BY_HAND)), "by-hand");
    CHECK_STR(lks_str_from(lks_advisory_exposure_about(LKS_BY_HAND)), "check by hand");
}

/* Two sources may name the end of a branch, and the earlier day is the one to plan for. */
static void test_ends(void)
{
    static const struct {
        const char *name;
        lks_day eol, eol_other, end, other;
    } ends[] = {
        {"nobody says", LKS_DAY_NONE, LKS_DAY_NONE, LKS_DAY_NONE, LKS_DAY_NONE},
        {"only the vendor", 100, LKS_DAY_NONE, 100, LKS_DAY_NONE},
        {"only another", LKS_DAY_NONE, 200, 200, LKS_DAY_NONE},
        {"the vendor's is earlier", 100, 200, 100, 200},
        {"the other's is earlier", 200, 100, 100, 200},
        {"both the same", 100, 100, 100, LKS_DAY_NONE},
    };
    for (size_t i = 0; i < LKS_COUNT(ends); i++) {
        lks_test_case("%s", ends[i].name);
        struct lks_branch branch = {.eol = ends[i].eol, .eol_other = ends[i].eol_other};
        CHECK_INT(lks_lifecycle_end(&branch), ends[i].end);
        CHECK_INT(lks_lifecycle_other_end(&branch), ends[i].other);
    }
}

/* A stack cares about its own branch and about the last one of its boards. */
static void test_branches(void)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    struct lks_err err = {0};
    const struct lks_facts *facts = lks_test_facts();
    const char *text = STACK_OF("v100-sxm2-8", "  driver: {version: '535.274.02'}\n");
    if (!CHECK_CODE(lks_manifest_parse("s", lks_str_from(text), facts, NULL, &m, &err), LKS_OK))
        return;
    CHECK(lks_lifecycle_matters(facts, &m.stacks[0], 535));
    CHECK(lks_lifecycle_matters(facts, &m.stacks[0], 580));
    CHECK(!lks_lifecycle_matters(facts, &m.stacks[0], 570));
}

static void test_names(void)
{
    CHECK_STR(lks_component_bare(LKS_STR("firmware/nic")), "nic");
    CHECK_STR(lks_component_bare(LKS_STR("driver")), "driver");
    CHECK(lks_component_is_firmware(LKS_STR("firmware/nic")));
    CHECK(!lks_component_is_firmware(LKS_STR("firmware")));
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"advisory: rows", test_rows},
        {"advisory: scores", test_scores},
        {"advisory: built in", test_builtin},
        {"advisory: boards", test_boards},
        {"advisory: exposures", test_exposures},
        {"lifecycle: ends", test_ends},
        {"lifecycle: branches of a stack", test_branches},
        {"parts: names", test_names},
        {0},
    });
}
