/* What a scheduler's bridge is told of the pools at a site. */
#include "core/admission/admit_policy.h"
#include "core/registry/book.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "tests/admits.h"
#include "tests/facts.h"
#include "tests/fleet.h"
#include "tests/test.h"

#include <stdio.h>
#include <time.h>

#define AA "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void add_pool(struct lks_asked *a, const char *name, const char *sched)
{
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_POOL,
                                            .pool = {.name = lks_str_from(name),
                                                     .posture = LKS_STR("pre-training"),
                                                     .enforce = LKS_STR("on"),
                                                     .sched = lks_str_from(sched),
                                                     .stack = LKS_STR("h200"),
                                                     .stack_digest = LKS_STR(AA)}});
}

static const struct {
    const char *name, *site, *closed, *said;
    bool hidden; /* nodes show no slots */
} rows[] = {
    {"pools of the scheduler with nodes there", "", "lax train",
     "{\"policy\":{\"pools\":[{\"name\":\"train\",\"nodes\":\"g[1-2]\",\"enforce\":\"on\","
     "\"closed\":true,\"stale\":600,\"nccl\":\"\",\"unfit\":\"\",\"stacks\":[{\"name\":\"h200\","
     "\"version\":\"\",\"digest\":\"" AA
     "\",\"slot\":1,\"nodes\":2}]},{\"name\":\"both\",\"nodes\":\"b1\",\"enforce\":\"on\","
     "\"closed\":false,\"stale\":600,\"nccl\":\"\",\"unfit\":\"\",\"stacks\":[{\"name\":\"h200\","
     "\"version\":\"\",\"digest\":\"" AA
     "\",\"nodes\":1}]}],\"images\":[{\"ref\":\"reg/a:1\",\"nccl\":\"2.27.3\"}]}}",
     false},
    {"all pools are closed", "", "*", "\"closed\":true", false},
    {"a pool that is open", "", "trai", "\"closed\":false", false},
    {"a site without nodes", "oslo", "", "{\"policy\":{\"pools\":[],", false},
    {"all sites", "*", "", "\"nodes\":\"g[1-2]\"", false},
    {"nodes that show no slots", "", "", "\"digest\":\"" AA "\",\"nodes\":2}", true},
};

static void test_policy(void)
{
    struct lks_asked a;
    const struct lks_facts facts = {0};
    const struct lks_book book = {.facts = &facts};
    lks_asked_init(&a);
    add_pool(&a, "train", "slurm");
    add_pool(&a, "kube", "kubernetes");
    add_pool(&a, "empty", "slurm");
    add_pool(&a, "both", "slurm+kubernetes");
    lks_fleet_place(&a, "b1", "both");
    lks_fleet_place(&a, "g1", "train");
    lks_fleet_place(&a, "g2", "train");
    lks_fleet_place(&a, "k1", "kube");
    lks_asked_apply(&a, &(struct lks_record){.kind = LKS_RECORD_SLOT,
                                             .slot = {LKS_STR("train"), 1, LKS_STR(AA)}});
    lks_asked_apply(&a, &(struct lks_record){.kind = LKS_RECORD_IMAGE,
                                             .image = {.ref = LKS_STR("reg/a:1"),
                                                       .digest = LKS_STR(AA),
                                                       .nccl = LKS_STR("2.27.3")}});
    lks_asked_apply(
        &a, &(struct lks_record){.kind = LKS_RECORD_IMAGE,
                                 .image = {.ref = LKS_STR("reg/b:1"), .digest = LKS_STR(AA)}});
    uint32_t g1 = lks_fleet_node(&a, "g1");
    struct lks_str here = lks_state_text(&a.state, a.state.nodes[g1].site);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LKS_ADMIT_POLICY_BYTES_MAX);
        const struct lks_admit_policy_how how = {600, lks_str_from(rows[i].closed),
                                                 !rows[i].hidden};
        struct lks_err err = {0};
        struct lks_str site = rows[i].site[0] != '\0' ? lks_str_from(rows[i].site) : here;
        lks_test_case("%s", rows[i].name);
        CHECK_CODE(
            lks_admit_policy_write(&a.state, &book, site, LKS_STR("slurm"), &how, &out, &err),
            LKS_OK);
        CHECK_HAS(lks_buf_view(&out), rows[i].said);
    }
    lks_asked_fini(&a);
}

/* Versions of NCCL that no job of the pool may bring: those that admission refuses on each stack.
 */
static const struct {
    const char *name, *posture, *stack, *more, *said;
} versions[] = {
    {"others than the pinned one", "pre-training", "golden", "",
     "\"nccl\":\"2.28.9\",\"unfit\":\"2.28.7,2.20.5\",\"stacks\":[{\"name\":\"golden\",\"version\":"
     "\"1\""},
    {"those outside the tested window", "pre-training", "lax", "", "\"unfit\":\"2.20.5\""},
    {"what another stack of the pool admits", "pre-training", "golden", "changing g2 lax\n",
     "\"unfit\":\"2.20.5\""},
    {"a node moves to a stack that pins none", "pre-training", "golden", "changing g2 bare\n",
     "\"unfit\":\"\""},
    {"a node moves to a stack that is not at hand", "pre-training", "golden", "changing g2 lost\n",
     "\"unfit\":\"\""},
    {"a stack that pins none", "pre-training", "bare", "", "\"unfit\":\"\""},
    {"a pool where ranks need not agree", "batch", "golden", "", "\"nccl\":\"\",\"unfit\":\"\""},
};

/* The policy of a pool with that stack, and what `more` says. */
static void write_train(const char *stacks, const char *posture, const char *stack,
                        const char *more, struct lks_buf *out)
{
    const struct lks_admit_policy_how how = {600, LKS_STR(""), true};
    struct lks_err err = {0};
    struct lks_jobs j;
    char text[512], digest[LKS_DIGEST_SIZE];
    lks_jobs_init(&j, stacks);
    snprintf(text, sizeof(text), "pool train %s on %s\nnodes g[1-4] train\n%s", posture, stack,
             more);
    lks_jobs_tell(&j, text);
    lks_jobs_digest(&j, lks_str_from(stack), digest);
    lks_asked_apply(&j.asked, &(struct lks_record){.kind = LKS_RECORD_POOL,
                                                   .pool = {.name = LKS_STR("train"),
                                                            .posture = lks_str_from(posture),
                                                            .enforce = LKS_STR("on"),
                                                            .sched = LKS_STR("slurm"),
                                                            .stack = lks_str_from(stack),
                                                            .stack_digest = lks_str_from(digest)}});
    struct lks_book book = lks_jobs_book(&j);
    CHECK_CODE(lks_admit_policy_write(&j.asked.state, &book, LKS_STR("*"), LKS_STR("slurm"), &how,
                                      out, &err),
               LKS_OK);
    lks_jobs_fini(&j);
}

static void test_versions(void)
{
    for (size_t i = 0; i < LKS_COUNT(versions); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LKS_ADMIT_POLICY_BYTES_MAX);
        char more[512];
        lks_test_case("%s", versions[i].name);
        snprintf(more, sizeof(more),
                 "%simage r/old:1 nccl=2.20.5\nimage r/near:1 nccl=2.28.7\n"
                 "image r/near:2 nccl=2.28.7\nimage r/good:1 nccl=2.28.9+cuda12.8\n",
                 versions[i].more);
        write_train(lks_admits_stacks, versions[i].posture, versions[i].stack, more, &out);
        CHECK_HAS(lks_buf_view(&out), versions[i].said);
    }
}

/* Texts that the bridge's file cannot have: it would refuse the policy of all pools. */
#define STACK_OF(version, nccl)                                                                    \
    "---\nlockstep: 1\nkind: Stack\nname: odd\nversion: '" version                                 \
    "'\nvendor: nvidia\nhardware: [hgx-h200-8]\ncomponents:\n"                                     \
    "  kernel: {absent: x}\n  driver: {absent: x}\n  cuda: {absent: x}\n"                          \
    "  fabric-manager: {absent: x}\n  container-toolkit: {absent: x}\n  nccl: {version: '" nccl    \
    "'}\n"

static const struct {
    const char *name, *stacks, *images, *said;
} words[] = {
    {"a stack's version that is none in the file", STACK_OF("-", "2.28.9"), "",
     "\"name\":\"odd\",\"version\":\"\""},
    {"a stack's version beyond ASCII", STACK_OF("b\xc3\xa4", "2.28.9"), "",
     "\"name\":\"odd\",\"version\":\"\""},
    {"an image whose version is none in the file", STACK_OF("1", "2.28.9"),
     "image r/odd:1 nccl=-\nimage r/old:1 nccl=2.20.5\n",
     "\"unfit\":\"2.20.5\",\"stacks\":[{\"name\":\"odd\",\"version\":\"1\""},
    {"its row", STACK_OF("1", "2.28.9"), "image r/odd:1 nccl=-\nimage r/old:1 nccl=2.20.5\n",
     "\"images\":[{\"ref\":\"r/old:1\",\"nccl\":\"2.20.5\"}]"},
    {"an image whose reference is beyond ASCII", STACK_OF("1", "2.28.9"),
     "image r/\xc3\xa4:1 nccl=2.20.5\n", "\"images\":[]"},
};

static void test_words(void)
{
    for (size_t i = 0; i < LKS_COUNT(words); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LKS_ADMIT_POLICY_BYTES_MAX);
        lks_test_case("%s", words[i].name);
        write_train(words[i].stacks, "pre-training", "odd", words[i].images, &out);
        CHECK_HAS(lks_buf_view(&out), words[i].said);
    }
}

/* The CPU time that the policy of so many pools takes, with so many nodes together. */
static clock_t write_large(uint32_t pools, uint32_t nodes)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LKS_ADMIT_POLICY_BYTES_MAX);
    const struct lks_facts facts = {0};
    const struct lks_book book = {.facts = &facts};
    const struct lks_admit_policy_how how = {600, LKS_STR(""), true};
    char text[64];
    struct lks_err err = {0};
    lks_asked_init(&a);
    for (uint32_t i = 0; i < pools; i++) {
        snprintf(text, sizeof(text), "p%u", (unsigned)i);
        add_pool(&a, text, "slurm");
    }
    for (uint32_t i = 0; i < pools; i++) {
        struct lks_record r = {.kind = LKS_RECORD_PLACED, .placed = {.site = LKS_STR("oslo")}};
        char pool[16];
        snprintf(pool, sizeof(pool), "p%u", (unsigned)i);
        snprintf(text, sizeof(text), "n%u-[1-%u]", (unsigned)i, (unsigned)(nodes / pools));
        r.placed.hosts = lks_str_from(text);
        r.placed.pool = lks_str_from(pool);
        lks_asked_apply(&a, &r);
    }
    clock_t begun = clock();
    CHECK_CODE(lks_admit_policy_write(&a.state, &book, LKS_STR("oslo"), LKS_STR("slurm"), &how,
                                      &out, &err),
               LKS_OK);
    clock_t took = clock() - begun;
    snprintf(text, sizeof(text), "{\"name\":\"p%u\",\"nodes\":\"n%u-[1-%u]\"", (unsigned)pools - 1,
             (unsigned)pools - 1, (unsigned)(nodes / pools));
    CHECK_HAS(lks_buf_view(&out), text);
    return took;
}

/* The time follows the number of nodes, and not that number times the pools. */
static void test_large(void)
{
    clock_t few = write_large(2, 100000), many = write_large(2000, 100000);
    if (!CHECK(many < 10 * (few + CLOCKS_PER_SEC / 100)))
        printf("2 pools took %ld, 2000 pools %ld\n", (long)few, (long)many);
}

static const struct lks_test tests[] = {
    {"policy: what a bridge is told", test_policy},
    {"policy: many pools", test_large},
    {"policy: versions that no stack admits", test_versions},
    {"policy: texts that the bridge cannot write", test_words},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
