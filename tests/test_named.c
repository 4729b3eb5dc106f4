/* Stacks and bundles by digest, the beginning of one, and name; and what deviations can cover. */
#include "core/registry/named.h"
#include "core/rows/registry.h"
#include "core/state/lookup.h"
#include "core/view/subjects.h"
#include "tests/asked.h"
#include "tests/manifests.h"
#include "tests/test.h"

#define HEX(c16) "sha256:" c16 c16 c16 c16
#define GOLD1    HEX("aaaa111111111111")
#define GOLD2    HEX("aaaa222222222222")
#define SILVER   HEX("bbbb333333333333")
#define OLD      HEX("cccc444444444444")

static void publish(struct lks_asked *a, const char *digest, const char *name)
{
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_PUBLISHED,
                                            .published = {.digest = lks_str_from(digest),
                                                          .name = lks_str_from(name),
                                                          .manifest = LKS_STR(OLD),
                                                          .envelope = LKS_STR("signed")}});
}

static void retire(struct lks_asked *a, const char *digest)
{
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_STEPPED,
                                            .stepped = {.digest = lks_str_from(digest),
                                                        .step = LKS_STEP_RETIRED,
                                                        .evidence = LKS_STR("x")}});
}

static const struct {
    const char *text, *digest; /* NULL: it is refused, */
    const char *why;           /* and why */
} names[] = {
    {GOLD1, GOLD1, NULL},
    {"sha256:aaaa1", GOLD1, NULL},
    {"aaaa2", GOLD2, NULL},
    {"silver", SILVER, NULL},
    {"bbbb", SILVER, NULL},
    /* A retired one has its name only where no other has it. */
    {"bronze", OLD, NULL},
    {"aaaa", NULL,
     "'aaaa' may be one of 2 stacks, newest first: sha256:aaaa22222222 (gold, candidate), "
     "sha256:aaaa11111111 (gold, candidate); name one by more of its digest"},
    {"gold", NULL, "'gold' may be one of 2 stacks, newest first: sha256:aaaa22222222"},
    {"glod", NULL, "there is no stack 'glod'; did you mean 'gold'?"},
    {"platinum", NULL,
     "there is no stack 'platinum' in the registry; put it there with 'lockstep stack publish'"},
    {"aaa", NULL, "there is no stack 'aaa'"},
    {"", NULL, "there is no stack ''"},
    {"sha256:", NULL, "there is no stack 'sha256:'"},
    {"AAAA1", NULL, "there is no stack 'AAAA1'"},
};

static void test_stacks(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    publish(&a, OLD, "bronze");
    publish(&a, GOLD1, "gold");
    publish(&a, GOLD2, "gold");
    publish(&a, SILVER, "silver");
    retire(&a, OLD);
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        const struct lks_state_stack *stack = NULL;
        struct lks_err err = {0};
        lks_test_case("'%s'", names[i].text);
        enum lks_code code = lks_named_stack(&a.state, lks_str_from(names[i].text), &stack, &err);
        if (names[i].digest == NULL) {
            CHECK(code == LKS_E_NOT_FOUND || code == LKS_E_INVALID);
            CHECK_HAS(lks_str_from(err.msg), names[i].why);
        } else if (CHECK_CODE(code, LKS_OK)) {
            CHECK_STR(lks_state_text(&a.state, stack->digest), names[i].digest);
        }
    }
}

static void bring(struct lks_asked *a, const char *digest, const char *name, const char *version)
{
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_BUNDLE,
                                            .bundle = {.digest = lks_str_from(digest),
                                                       .name = lks_str_from(name),
                                                       .version = lks_str_from(version)}});
}

static void test_bundles(void)
{
    static const struct {
        const char *text, *digest; /* NULL: it is refused, */
        const char *why;           /* and why */
    } rows[] = {
        {GOLD1, GOLD1, NULL},
        {"sha256:aaaa2", GOLD2, NULL},
        {"aaaa1", GOLD1, NULL},
        {"bmc", SILVER, NULL},
        {"hgx", NULL,
         "'hgx' may be one of 2 bundles, newest first: sha256:aaaa22222222 (hgx, 2), "
         "sha256:aaaa11111111 (hgx, 1); name one by more of its digest"},
        {"bcm", NULL, "there is no bundle 'bcm'; did you mean 'bmc'?"},
        {"cuda", NULL, "there is no bundle 'cuda'; 'lockstep bundle push' brings one"},
    };
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    bring(&a, GOLD1, "hgx", "1");
    bring(&a, GOLD2, "hgx", "2");
    bring(&a, SILVER, "bmc", "1");
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        const struct lks_state_bundle *bundle = NULL;
        struct lks_err err = {0};
        lks_test_case("'%s'", rows[i].text);
        enum lks_code code = lks_named_bundle(&a.state, lks_str_from(rows[i].text), &bundle, &err);
        if (rows[i].digest == NULL) {
            CHECK(code == LKS_E_NOT_FOUND || code == LKS_E_INVALID);
            CHECK_HAS(lks_str_from(err.msg), rows[i].why);
        } else if (CHECK_CODE(code, LKS_OK)) {
            CHECK_STR(lks_state_text(&a.state, bundle->digest), rows[i].digest);
        }
    }
}

/* Of two with one name the one that is not retired is meant. */
static void test_retired(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    const struct lks_state_stack *stack = NULL;
    struct lks_err err = {0};
    lks_asked_init(&a);
    publish(&a, GOLD1, "gold");
    publish(&a, GOLD2, "gold");
    retire(&a, GOLD2);
    CHECK_CODE(lks_named_stack(&a.state, LKS_STR("gold"), &stack, &err), LKS_OK);
    CHECK_STR(lks_state_text(&a.state, stack->digest), GOLD1);
}

#define FLEET                                                                                      \
    "lockstep: 1\nkind: Fleet\nname: f\npools:\n  p: {posture: dev, stack: gold}\n"                \
    "nodes:\n  - {hosts: 'n[1-2]', pool: p, class: hgx-h100-8}\n"                                  \
    "---\n" LKS_STACK_HGX("gold", "hgx-h100-8", "580.126.20",                                      \
                          "settings: {power_limit_w: 700, clocks: {graphics_mhz: 1980}, "          \
                          "unattended_upgrades: false}\n")

static const struct {
    const char *subject, *near; /* NULL: it is known */
} subjects[] = {
    {"driver", NULL},
    {"driver.modules", NULL},
    {"settings.power_limit_w", NULL},
    {"settings.clocks.graphics_mhz", NULL},
    {"*", NULL},
    {"devices.gpu", NULL},
    {"settings.powr_limit_w", "settings.power_limit_w"},
    {"settings.clocks.grahpics_mhz", "settings.clocks.graphics_mhz"},
    {"dcgm", ""},
};

static void test_subjects(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    CHECK_HAS(lks_asked_fleet(&a, FLEET, NULL), "placed");
    const struct lks_book book = {.manifest = &a.manifest};
    struct lks_str nodes[] = {LKS_STR("n1"), LKS_STR("n2")};
    const struct lks_hostlist hosts = {nodes, LKS_COUNT(nodes)};
    for (size_t i = 0; i < LKS_COUNT(subjects); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf near = LKS_BUF(512);
        lks_test_case("%s", subjects[i].subject);
        bool known =
            lks_subject_known(&a.state, &book, &hosts, lks_str_from(subjects[i].subject), &near);
        CHECK(known == (subjects[i].near == NULL));
        if (!known)
            CHECK_STR(lks_buf_view(&near), subjects[i].near);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"named: stacks", test_stacks},
        {"named: bundles", test_bundles},
        {"named: retired stacks", test_retired},
        {"named: what a deviation can cover", test_subjects},
        {0},
    });
}
