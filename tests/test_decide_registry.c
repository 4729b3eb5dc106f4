#include "core/registry/artifacts.h"
#include "tests/asked.h"
#include "tests/facts.h"
#include "tests/manifests.h"
#include "tests/test.h"

#include <stdio.h>

#define A "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define D "sha256:dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"

#define STACK(name, kernel, more)                                                                  \
    "---\n" LKS_STACK(                                                                             \
        name, "nvidia", "hgx-h100-8",                                                              \
        "  kernel: {version: '" kernel "'}\n"                                                      \
        "  driver: {version: '580.126.20', modules: open, artifacts: ['" B "', '" A "']}\n"        \
        "  fabric-manager: {version: '580.126.20', artifacts: ['" A "']}\n"                        \
        "  cuda: {version: '13.0.2', owner: image}\n  nccl: {version: '2.28.9', owner: image}\n"   \
        "  container-toolkit: {version: '1.19.1'}\n" more)
#define GOLD   STACK("gold", "6.8.0-71-generic", "")
#define GOLD2  STACK("gold", "6.8.0-72-generic", "tuning: {table: {digest: '" C "'}}\n")
#define GOLD3  STACK("gold", "6.8.0-73-generic", "")
#define SILVER STACK("silver", "6.8.0-71-generic", "")

/* A stack that can be published. */
struct draft {
    struct lks_manifest manifest;
    char file[LKS_DIGEST_SIZE];
};

static void draft_fini(struct draft *d)
{
    lks_manifest_fini(&d->manifest);
}

static void draft_make(struct draft *d, const char *text)
{
    struct lks_err err = {0};
    *d = (struct draft){0};
    LKS_ASSERT(lks_manifest_parse("s.yaml", lks_str_from(text), lks_test_facts(), NULL,
                                  &d->manifest, &err) == LKS_OK);
    LKS_ASSERT(lks_digest_text(lks_str_from(text), d->file, &err) == LKS_OK);
}

static struct lks_str publish(struct lks_asked *a, const struct draft *d, const char *by)
{
    struct lks_event e = {
        .kind = LKS_EVENT_PUBLISH,
        .by = lks_str_from(by),
        .reason = LKS_STR("for the row"),
        .publish = {.stack = &d->manifest.stacks[0],
                    .manifest = lks_str_from(d->file),
                    .envelope = LKS_STR("signed")},
    };
    return lks_asked(a, &e);
}

static struct lks_str step(struct lks_asked *a, const struct draft *d, enum lks_stack_step to,
                           const char *evidence, const char *by)
{
    struct lks_event e = {
        .kind = LKS_EVENT_STEP,
        .by = lks_str_from(by),
        .step = {.digest = lks_str_from(d->manifest.stacks[0].digest),
                 .to = to,
                 .evidence = lks_str_from(evidence)},
    };
    return lks_asked(a, &e);
}

/* `want` with the digest of `d` where it has '*', and of its file where it has '%'. */
static void check_told(struct lks_str told, const struct draft *d, const char *want)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(65536);
    for (const char *c = want; *c != '\0'; c++) {
        if (*c == '*')
            lks_buf_add(&text, lks_str_from(d->manifest.stacks[0].digest));
        else if (*c == '%')
            lks_buf_add(&text, lks_str_from(d->file));
        else
            lks_buf_addc(&text, *c);
    }
    CHECK_STR(told, text.ptr != NULL ? text.ptr : "");
}

/* Stacks ------------------------------------------------------------------------------------ */

static void test_publish(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    LKS_CLEANUP(draft_fini) struct draft gold = {0}, commented = {0}, renamed = {0}, newer = {0};
    lks_asked_init(&a);
    draft_make(&gold, GOLD);
    draft_make(&commented, GOLD "# in another file\n");
    draft_make(&renamed, SILVER);
    draft_make(&newer, GOLD2);
    CHECK_STR(lks_str_from(renamed.manifest.stacks[0].digest), gold.manifest.stacks[0].digest);

    check_told(publish(&a, &gold, "kim"), &gold,
               "published digest=* name=gold manifest=% envelope=signed artifacts=" B " " A
               " by=kim reason=for the row\n");
    check_told(publish(&a, &gold, "kim"), &gold, ""); /* the very same again */
    check_told(publish(&a, &commented, "kim"), &gold,
               "refused: stack 'gold' (*) was published from another file, by kim; what is "
               "published does not change");
    check_told(publish(&a, &renamed, "kim"), &gold,
               "refused: * is published already, as stack 'gold' by kim; one digest has one name");
    check_told(publish(&a, &newer, "ann"), &newer, /* a name may have many digests */
               "published digest=* name=gold manifest=% envelope=signed artifacts=" B " " A " " C
               " by=ann reason=for the row\n");
    CHECK_INT(a.state.stack_count, 2);
    check_told(step(&a, &gold, LKS_STEP_RETIRED, "never used", "ann"), &gold,
               "stepped digest=* step=retired evidence=never used by=ann\n");
    check_told(publish(&a, &gold, "kim"), &gold,
               "refused: stack 'gold' (*) is retired, which is final; publish one that differs");
}

/* The steps one by one, on the way of one stack that kim published. */
static const struct {
    const char *name;
    enum lks_stack_step to;
    const char *evidence, *by, *told;
} steps[] = {
    {"no evidence", LKS_STEP_LAB, "  ", "ann",
     "invalid: evidence: there is none, and it is needed"},
    {"evidence of two lines", LKS_STEP_LAB, "a\nb", "ann",
     "invalid: evidence: one line of printable text"},
    {"back to where it is", LKS_STEP_CANDIDATE, "x", "ann",
     "refused: stack 'gold' is candidate; its next stage is lab, not candidate: one at a time, "
     "each with its evidence"},
    {"two at once", LKS_STEP_CANARY, "x", "ann",
     "refused: stack 'gold' is candidate; its next stage is lab, not canary: one at a time, "
     "each with its evidence"},
    {"the first, by whoever published it", LKS_STEP_LAB, " lab report 7 ", "kim",
     "stepped digest=* step=lab evidence=lab report 7 by=kim\n"},
    {"the same again", LKS_STEP_LAB, "lab report 7", "kim", ""},
    {"the same for another reason", LKS_STEP_LAB, "lab report 8", "kim",
     "refused: stack 'gold' is lab; its next stage is canary, not lab: one at a time, each with "
     "its evidence"},
    {"the second", LKS_STEP_CANARY, "rack 7, a week", "ann",
     "stepped digest=* step=canary evidence=rack 7, a week by=ann\n"},
    {"released by whoever published it", LKS_STEP_RELEASED, "fine", "kim",
     "refused: stack 'gold' was published by kim, so another person with the role approver "
     "releases it; an admin grants the role: 'lockstep access grant PERSON approver'"},
    {"by another name", LKS_STEP_RELEASED, "fine", "user:Kim",
     "refused: stack 'gold' was published by kim, so another person with the role approver "
     "releases it; an admin grants the role: 'lockstep access grant PERSON approver'"},
    {"released by another", LKS_STEP_RELEASED, "fine", "ann",
     "stepped digest=* step=released evidence=fine by=ann\n"},
    {"once more", LKS_STEP_LAB, "fine", "ann",
     "refused: stack 'gold' is released, which is the last stage; 'lockstep stack retire' ends it"},
    {"retired", LKS_STEP_RETIRED, "CVE-2026-1", "kim",
     "stepped digest=* step=retired evidence=CVE-2026-1 by=kim\n"},
    {"retired again", LKS_STEP_RETIRED, "CVE-2026-1", "kim", ""},
    {"and back", LKS_STEP_RELEASED, "was a mistake", "ann",
     "refused: stack 'gold' is retired, which is final"},
};

static void test_steps(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    LKS_CLEANUP(draft_fini) struct draft gold = {0};
    lks_asked_init(&a);
    draft_make(&gold, GOLD);
    check_told(step(&a, &gold, LKS_STEP_LAB, "x", "ann"), &gold,
               "not-found: no stack * in the registry; put it there with 'lockstep stack publish'");
    publish(&a, &gold, "kim");
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        lks_test_case("%s", steps[i].name);
        check_told(step(&a, &gold, steps[i].to, steps[i].evidence, steps[i].by), &gold,
                   steps[i].told);
    }
}

/* Whoever runs the controller may be the only one there is. */
static void test_root(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    LKS_CLEANUP(draft_fini) struct draft gold = {0};
    lks_asked_init(&a);
    draft_make(&gold, GOLD);
    publish(&a, &gold, "unix:1000");
    step(&a, &gold, LKS_STEP_LAB, "x", "unix:1000");
    step(&a, &gold, LKS_STEP_CANARY, "x", "unix:1000");
    struct lks_event e = {
        .kind = LKS_EVENT_STEP,
        .by = LKS_STR("unix:1000"),
        .step = {.digest = lks_str_from(gold.manifest.stacks[0].digest),
                 .to = LKS_STEP_RELEASED,
                 .evidence = LKS_STR("x")},
    };
    CHECK_HAS(lks_asked(&a, &e), "so another person with the role approver releases it");
    e.root = true;
    check_told(lks_asked(&a, &e), &gold,
               "stepped digest=* step=released evidence=x by=unix:1000\n");
}

static void pin(struct lks_asked *a, const struct draft *d)
{
    struct lks_str digest = d != NULL ? lks_str_from(d->manifest.stacks[0].digest) : LKS_STR("");
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_POOL,
                                            .pool = {.name = LKS_STR("train"),
                                                     .stack = LKS_STR("gold"),
                                                     .stack_digest = digest}});
}

static void change(struct lks_asked *a, bool on, const struct draft *to)
{
    lks_asked_apply(a, &(struct lks_record){
                           .kind = LKS_RECORD_CONDITION,
                           .condition = {.node = LKS_STR("g1"),
                                         .condition = LKS_CONDITION_CHANGING,
                                         .on = on,
                                         .stack = lks_str_from(to->manifest.stacks[0].digest)}});
}

/* What is in use is not retired, and what it is made of is not collected. */
static void test_in_use(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    LKS_CLEANUP(draft_fini) struct draft gold = {0}, newer = {0}, third = {0};
    lks_asked_init(&a);
    draft_make(&gold, GOLD);
    draft_make(&newer, GOLD2);
    draft_make(&third, GOLD3);
    publish(&a, &gold, "kim");
    publish(&a, &newer, "kim");
    pin(&a, &newer);
    lks_asked_apply(
        &a, &(struct lks_record){.kind = LKS_RECORD_PLACED,
                                 .placed = {.hosts = LKS_STR("g1"), .pool = LKS_STR("train")}});
    check_told(step(&a, &newer, LKS_STEP_RETIRED, "x", "ann"), &newer,
               "refused: stack 'gold' cannot be retired: pool 'train' is pinned to it");
    CHECK(lks_artifact_needed(&a.state, LKS_STR(C)));
    pin(&a, &gold); /* and the one before is `newer` */
    change(&a, true, &newer);
    check_told(step(&a, &newer, LKS_STEP_RETIRED, "x", "ann"), &newer,
               "refused: stack 'gold' cannot be retired: node g1 is to run it");
    change(&a, false, &newer);
    check_told(step(&a, &newer, LKS_STEP_RETIRED, "x", "ann"), &newer,
               "stepped digest=* step=retired evidence=x by=ann\n");
    CHECK(lks_artifact_needed(&a.state, LKS_STR(C))); /* of the pin before this one */
    CHECK(lks_artifact_needed(&a.state, LKS_STR(A)));
    CHECK(!lks_artifact_needed(&a.state, LKS_STR(D)));
    lks_asked_apply(&a, &(struct lks_record){
                            .kind = LKS_RECORD_STEPPED,
                            .stepped = {.digest = lks_str_from(newer.manifest.stacks[0].digest),
                                        .step = LKS_STEP_RETIRED}});
    pin(&a, &third);
    CHECK(!lks_artifact_needed(&a.state, LKS_STR(C)));
    change(&a, true, &newer); /* a node goes there all the same */
    CHECK(lks_artifact_needed(&a.state, LKS_STR(C)));
    change(&a, false, &newer);
    CHECK(!lks_artifact_needed(&a.state, LKS_STR(C)));
    lks_asked_apply(&a, &(struct lks_record){
                            .kind = LKS_RECORD_COMMAND,
                            .command = {.id = 1, .node = LKS_STR("g1"), .digests = LKS_STR(D)}});
    CHECK(lks_artifact_needed(&a.state, LKS_STR(D))); /* until the command ends */
    CHECK(!lks_artifact_needed(&a.state, LKS_STR(C)));
}

/* Images ------------------------------------------------------------------------------------ */

#define IMAGE(...)                                                                                 \
    {                                                                                              \
        .source = LKS_STR_C("sbom"), __VA_ARGS__                                                   \
    }
#define REF LKS_STR_C("nvcr.io/nvidia/pytorch:25.01-py3")

static const struct {
    const char *name;
    struct lks_rec_image image;
    const char *told;
} images[] = {
    {"a first one",
     IMAGE(.ref = REF, .digest = LKS_STR_C(A), .nccl = LKS_STR_C("2.25.1"),
           .cuda = LKS_STR_C("12.8.0")),
     "image ref=nvcr.io/nvidia/pytorch:25.01-py3 digest=" A
     " nccl=2.25.1 cuda=12.8.0 source=sbom by=kim\n"},
    {"the same again",
     IMAGE(.ref = REF, .digest = LKS_STR_C(A), .nccl = LKS_STR_C("2.25.1"),
           .cuda = LKS_STR_C("12.8.0")),
     ""},
    {"the tag was moved", IMAGE(.ref = REF, .nccl = LKS_STR_C("2.26.2")),
     "image ref=nvcr.io/nvidia/pytorch:25.01-py3 nccl=2.26.2 source=sbom by=kim\n"},
    {"no reference", IMAGE(.nccl = LKS_STR_C("2.26.2")),
     "invalid: image: there is none, and it is needed"},
    {"a blank in it", IMAGE(.ref = LKS_STR_C("a b"), .nccl = LKS_STR_C("2.26.2")),
     "invalid: image: a reference has no blanks"},
    {"nothing known of it", IMAGE(.ref = LKS_STR_C("x:1")),
     "invalid: image: say which NCCL, RCCL, cuDNN or CUDA is in it; an image of which nothing "
     "is known needs no entry"},
    {"no version", IMAGE(.ref = LKS_STR_C("x:1"), .cudnn = LKS_STR_C("latest")),
     "invalid: cudnn: 'latest' is no version"},
    {"no digest",
     IMAGE(.ref = LKS_STR_C("x:1"), .rccl = LKS_STR_C("2.22.3"), .digest = LKS_STR_C("abc")),
     "invalid: image: 'abc' is no digest; one is sha256: and 64 of 0-9 a-f"},
    {"no source",
     {.ref = LKS_STR_C("x:1"), .rccl = LKS_STR_C("2.22.3")},
     "invalid: source: there is none, and it is needed"},
};

static void test_images(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    for (size_t i = 0; i < LKS_COUNT(images); i++) {
        lks_test_case("%s", images[i].name);
        struct lks_event e = {
            .kind = LKS_EVENT_IMAGE, .by = LKS_STR("kim"), .image = images[i].image};
        CHECK_STR(lks_asked(&a, &e), images[i].told);
    }
    CHECK_INT(a.state.image_count, 1);
    struct lks_event gone = {.kind = LKS_EVENT_IMAGE_GONE,
                             .by = LKS_STR("kim"),
                             .reason = LKS_STR("old"),
                             .image = {.ref = REF}};
    CHECK_STR(lks_asked(&a, &gone),
              "image-gone ref=nvcr.io/nvidia/pytorch:25.01-py3 by=kim reason=old\n");
    CHECK_STR(lks_asked(&a, &gone),
              "not-found: no image 'nvcr.io/nvidia/pytorch:25.01-py3' in the catalogue");
}

/* Artifacts --------------------------------------------------------------------------------- */

static struct lks_str artifact(struct lks_asked *a, const char *digest, const char *name,
                               uint64_t size)
{
    struct lks_event e = {
        .kind = LKS_EVENT_ARTIFACT,
        .by = LKS_STR("kim"),
        .artifact = {.digest = lks_str_from(digest), .name = lks_str_from(name), .size = size}};
    return lks_asked(a, &e);
}

static struct lks_str collect(struct lks_asked *a, const char *digest)
{
    struct lks_event e = {.kind = LKS_EVENT_ARTIFACT_GONE,
                          .reason = LKS_STR("collected"),
                          .artifact = {.digest = lks_str_from(digest)}};
    return lks_asked(a, &e);
}

static void test_artifacts(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    CHECK_STR(artifact(&a, A, "fw.bin", 10), "artifact digest=" A " name=fw.bin size=10 by=kim\n");
    CHECK_STR(artifact(&a, A, "other.bin", 10), "");
    CHECK_STR(artifact(&a, A, "fw.bin", 11),
              "invalid: artifact " A " has 10 bytes, and these are 11");
    CHECK_STR(artifact(&a, B, "fw.bin", 0), "invalid: artifact " B ": it is empty");
    CHECK_STR(artifact(&a, B, "", 1), "invalid: artifact's name: there is none, and it is needed");
    CHECK_STR(artifact(&a, "sha256:AA", "x", 1),
              "invalid: artifact: 'sha256:AA' is no digest; one is sha256: and 64 of 0-9 a-f");
    CHECK_STR(collect(&a, B), "not-found: no artifact " B " in the depot");
    CHECK_STR(collect(&a, A), "artifact-gone digest=" A " reason=collected\n");
    CHECK_INT(a.state.artifact_count, 0);
}

#define STAYS " stays: a stack, a bundle or work in progress refers to it"

/* Each in turn keeps an artifact, and lets go of it. */
static void test_collecting(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    LKS_CLEANUP(draft_fini) struct draft gold = {0};
    static const char *const digests[] = {A, B, C, D};
    lks_asked_init(&a);
    draft_make(&gold, GOLD);
    for (size_t i = 0; i < LKS_COUNT(digests); i++)
        artifact(&a, digests[i], "x", 1);
    publish(&a, &gold, "kim");
    CHECK_STR(collect(&a, A), "refused: artifact " A STAYS);
    step(&a, &gold, LKS_STEP_RETIRED, "x", "ann");
    CHECK_STR(collect(&a, A), "artifact-gone digest=" A " reason=collected\n");

    /* a stack beside the fleet that nobody published, and a command */
    lks_asked_fleet(&a,
                    "lockstep: 1\nkind: Fleet\nname: f\npools: {dev: {posture: dev}}\n"
                    "nodes: [{hosts: g1, pool: dev, class: hgx-h100-8}]\n" GOLD2,
                    NULL);
    CHECK_STR(collect(&a, C), "refused: artifact " C STAYS);
    lks_asked_apply(&a,
                    &(struct lks_record){
                        .kind = LKS_RECORD_COMMAND,
                        .command = {.id = 1, .node = LKS_STR("g1"), .digests = LKS_STR(C " " D)}});
    CHECK_STR(collect(&a, D), "refused: artifact " D STAYS);
    lks_asked_apply(&a, &(struct lks_record){.kind = LKS_RECORD_COMMAND_ENDED,
                                             .command_ended = {.id = 1, .node = LKS_STR("g1")}});
    CHECK_STR(collect(&a, D), "artifact-gone digest=" D " reason=collected\n");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"registry: publishing", test_publish},
        {"registry: steps", test_steps},
        {"registry: root alone", test_root},
        {"registry: what is in use", test_in_use},
        {"registry: images", test_images},
        {"registry: artifacts", test_artifacts},
        {"registry: collecting", test_collecting},
        {0},
    });
}
