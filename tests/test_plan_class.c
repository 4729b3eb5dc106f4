/* Which class of change a plan is: by what it does, by what is asked for, and by whether gates are
 * lowered for it. */
#include "tests/manifests.h"
#include "tests/plans.h"
#include "tests/test.h"

#define BODY(name, driver, toolkit, more)                                                          \
    "---\n" LKS_STACK_HGX_OF(name, "hgx-h100-8", LKS_STACK_KERNEL, driver, "2.28.9", toolkit,      \
                             more "settings: {unattended_upgrades: false}\n")
#define WINDOWS "windows: {container-toolkit: '>=1.17.0 <1.20.0'}\n"

/* Twenty nodes run "now". "near" is inside what was tested with it, "far" is not. */
static const char fleet[] =
    "lockstep: 1\nkind: Fleet\nname: f\npools:\n  train: {posture: pre-training, stack: now}\n"
    "nodes:\n  - {hosts: 'g[01-20]', pool: train, class: hgx-h100-8}\n" BODY("now", "580.126.20",
                                                                             "1.17.7", WINDOWS)
        BODY("near", "580.126.20", "1.19.1", WINDOWS) BODY("far", "580.130.01", "1.17.7", WINDOWS);

#define MINUTE (60 * LKS_SECOND)

static const struct {
    const char *name, *to;
    struct lks_plan_wish wish;
    const char *told; /* the class, or why not */
} rows[] = {
    {"software inside the tested window", "near", {0}, "standard"},
    {"outside of it", "far", {0}, "routine"},
    {"a stricter class is asked for", "near", {.class = LKS_STR_C("routine")}, "routine"},
    {"the strictest", "near", {.class = LKS_STR_C("power-fabric")}, "power-fabric"},
    {"less is not had",
     "far",
     {.class = LKS_STR_C("standard")},
     "class standard: by what it does (driver of hgx-h100-8) it is routine, which may be raised "
     "and not lowered"},
    {"no such class",
     "near",
     {.class = LKS_STR_C("rutine")},
     "class: there is no class of change 'rutine'; did you mean 'routine'?"},
    {"an emergency without a flaw",
     "near",
     {.class = LKS_STR_C("emergency")},
     "a change of class emergency closes a published advisory: name it with --advisory (advisory "
     "in the API)"},
    {"a flaw that it closes",
     "near",
     {.class = LKS_STR_C("emergency"), .advisory = LKS_STR_C("CVE-2025-23266")},
     "emergency"},
    {"a flaw that it does not close",
     "far",
     {.class = LKS_STR_C("emergency"), .advisory = LKS_STR_C("CVE-2025-23266")},
     "far does not close CVE-2025-23266 on any of these nodes"},
    {"a flaw without an emergency",
     "near",
     {.advisory = LKS_STR_C("CVE-2025-23266")},
     "--advisory (advisory in the API) is for a change of class emergency, and this one is of "
     "class standard"},
    {"no stack, and so nothing tested", "9.9", {.kind = LKS_CHANGE_AGENT}, "routine"},
    /* Nobody approves what is standard, so nobody would have agreed to less. */
    {"nodes may fail", "near", {.failures_max = 1}, "routine"},
    {"a shorter soak", "near", {.soak = 30 * MINUTE - 1}, "routine"},
    {"a soak as long as usual", "near", {.soak = 30 * MINUTE}, "standard"},
    {"a longer one", "near", {.soak = 120 * MINUTE}, "standard"},
    {"a smaller canary", "near", {.canary_max = 1}, "routine"},
    {"one with fewer combinations", "near", {.strength = 1}, "routine"},
    {"one with more", "near", {.strength = 3}, "standard"},
    {"a larger canary", "near", {.failure_share = 100000, .confidence_share = 950000}, "standard"},
    {"and it cannot be asked for as standard",
     "near",
     {.class = LKS_STR_C("standard"), .failures_max = 20},
     "class standard: by what it does (that nodes may fail of hgx-h100-8) it is routine"},
};

static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct plans p;
        struct lks_plan_wish wish = rows[i].wish;
        lks_test_case("%s", rows[i].name);
        plans_begin(&p, fleet);
        wish.pool = LKS_STR("train");
        wish.stack = lks_str_from(rows[i].to);
        wish.hook = LKS_STR("site");
        bool made = plans_make(&p, &wish);
        CHECK_HAS(made ? p.plan.change.class : lks_str_from(p.err.msg), rows[i].told);
        if (made)
            CHECK((p.plan.change.quorum == 0) == lks_str_is(p.plan.change.class, "standard"));
        plans_end(&p);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"plan class: rows", test_rows},
        {0},
    });
}
