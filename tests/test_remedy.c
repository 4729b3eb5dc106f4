/* Which published stack closes a flaw for a pool, and which of several is the nearest. */
#include "core/exposure/remedies.h"
#include "core/rows/registry.h"
#include "core/state/lookup.h"
#include "tests/asked.h"
#include "tests/facts.h"
#include "tests/manifests.h"
#include "tests/test.h"

#define T LKS_STR_C

#define STACK(name, hardware, driver, toolkit, nccl, more)                                         \
    "---\n" LKS_STACK_HGX_OF(name, hardware, LKS_STACK_KERNEL, driver, nccl, toolkit, more)
#define BOTH  "hgx-h100-8, hgx-h200-8"
#define FLAW  "CVE-2025-23266" /* container-toolkit up to 1.17.7; 1.17.8 closes it */
#define POWER "firmware:\n  - {class: psu, version: '2.0', revert: one-way}\n"

/* "main" has the flaw; "good" is pinned to what has not; "none" to nothing. */
#define FLEET                                                                                      \
    "lockstep: 1\nkind: Fleet\nname: f\npools:\n"                                                  \
    "  main: {posture: dev, stack: bad}\n  both: {posture: dev, stack: bad}\n"                     \
    "  good: {posture: dev, stack: fine}\n  none: {posture: dev}\nnodes:\n"                        \
    "  - {hosts: m1, pool: main, class: hgx-h100-8}\n"                                             \
    "  - {hosts: b1, pool: both, class: hgx-h100-8}\n"                                             \
    "  - {hosts: b2, pool: both, class: hgx-h200-8}\n"                                             \
    "  - {hosts: g1, pool: good, class: hgx-h100-8}\n"                                             \
    "  - {hosts: z1, pool: none, class: hgx-h100-8}\n" STACK("bad", BOTH, "580.126.20", "1.17.7",  \
                                                             "2.27.7", "")                         \
        STACK("fine", BOTH, "580.126.20", "1.17.8", "2.29.9", "")

#define NEAR_ONE STACK("near", BOTH, "580.126.20", "1.17.8", "2.27.7", "")
#define FAR_ONE  STACK("far", BOTH, "580.130.01", "1.19.1", "2.28.9", "")
#define BRANCH   STACK("branch", BOTH, "590.48.01", "1.17.8", "2.27.7", "")
#define ONLY     STACK("only", "hgx-h100-8", "580.126.20", "1.17.9", "2.27.7", "")
#define PSU      STACK("psu", BOTH, "580.126.20", "1.17.8", "2.27.7", POWER)
#define ALSO_BAD STACK("also", BOTH, "580.126.20", "1.17.6", "2.27.7", "")

static const struct {
    const char *name, *manifest, *pool;
    const char *retired; /* or NULL */
    bool known, exposed;
    const char *best; /* "": none */
    const char *list; /* all that close it, the nearest first */
} rows[] = {
    {"what differs least", FLEET NEAR_ONE FAR_ONE, "main", NULL, true, true, "near",
     "near fine far "},
    {"whatever the order they came in", FLEET FAR_ONE NEAR_ONE, "main", NULL, true, true, "near",
     "near fine far "},
    {"its own branch, though more differs", FLEET BRANCH, "main", NULL, true, true, "fine",
     "fine branch "},
    {"one that has it, too, closes nothing", FLEET ALSO_BAD, "main", NULL, true, true, "fine",
     "fine "},
    {"for each class of hardware", FLEET ONLY, "both", NULL, true, true, "fine", "fine only "},
    {"of one class it is nearer", FLEET ONLY, "main", NULL, true, true, "only", "only fine "},
    {"for some of the hardware alone", FLEET ONLY, "both", "fine", true, true, "", "only "},
    {"power has no fast way back", FLEET PSU, "main", "fine", true, true, "", "psu "},
    {"nothing that is published", FLEET, "main", "fine", true, true, "", ""},
    {"it does not have it", FLEET NEAR_ONE, "good", NULL, true, false, "", ""},
    {"nobody knows what it should run", FLEET NEAR_ONE, "none", NULL, false, false, "", ""},
};

static void retire(struct lks_asked *a, const char *name)
{
    for (size_t i = 0; name != NULL && i < a->manifest.stack_count; i++) {
        const struct lks_stack *stack = &a->manifest.stacks[i];
        const struct lks_record r = {
            .kind = LKS_RECORD_STEPPED,
            .stepped = {.digest = lks_str_from(stack->digest), .step = LKS_STEP_RETIRED}};
        if (lks_str_is(stack->name, name))
            lks_asked_apply(a, &r);
    }
}

static void check(struct lks_asked *a, size_t i)
{
    LKS_CLEANUP(lks_cadence_classes_fini) struct lks_pool_classes classes = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf list = LKS_BUF(LKS_DOC_BYTES_MAX);
    struct lks_book book = {.facts = lks_test_facts(), .manifest = &a->manifest};
    const struct lks_advisory *flaw = lks_facts_advisory(book.facts, LKS_STR(FLAW));
    struct lks_remedies r = {0};
    struct lks_err err = {0};
    uint32_t pool = lks_state_pool(&a->state, lks_str_from(rows[i].pool));
    if (!CHECK(flaw != NULL) ||
        !CHECK_CODE(lks_cadence_classes_all(&classes, &a->state, &err), LKS_OK) ||
        !CHECK_CODE(lks_remedies_of(&a->state, &book, &classes, pool, flaw, &r, &err), LKS_OK))
        return;
    lks_buf_add(&list, LKS_STR(""));
    for (size_t k = 0; k < r.count; k++)
        lks_buf_addf(&list, "%" LKS_STR_FMT " ",
                     LKS_STR_ARG(lks_state_text(&a->state, r.list[k].row->name)));
    CHECK_STR(r.count > 0 ? lks_buf_view(&list) : LKS_STR(""), rows[i].list);
    const struct lks_remedy *best = lks_remedies_best(&r);
    CHECK_STR(best != NULL ? lks_state_text(&a->state, best->row->name) : LKS_STR(""),
              rows[i].best);
    CHECK(r.known == rows[i].known);
    CHECK(r.exposed == rows[i].exposed);
    CHECK_STR(r.exposed ? r.fixed : LKS_STR(""), rows[i].exposed ? "1.17.8" : "");
    CHECK(lks_remedies_change(&a->state, &book, pool, flaw) == NULL);
}

static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct lks_event accept = {.by = T("kim"), .fleet = {.accept = true}};
        lks_test_case("%s", rows[i].name);
        lks_asked_init(&a);
        (void)lks_asked_fleet(&a, rows[i].manifest, &accept);
        if (!CHECK_STR(lks_str_from(a.decision.refused.msg), ""))
            continue;
        retire(&a, rows[i].retired);
        check(&a, i);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"the nearest stack that closes a flaw", test_rows},
        {0},
    };
    return lks_test_main(tests);
}
