/* Jobs where Slurm takes them in: tables of jobs with what becomes of them, of constraints, of
 * images in scripts, and of files that are no policy. */
#include "codec/notation/word.h"
#include "submit/decide.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOW   ((lks_ms)1000000)
#define AA    "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define BB    "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define CC    "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define T(s)  LKS_STR_C(s)
#define SLOTS "[lks0|lks1|lks2]"

#define TRAIN_8  "train,train,train,train,train,train,train,train"
#define TRAIN_32 TRAIN_8 "," TRAIN_8 "," TRAIN_8 "," TRAIN_8
#define TRAIN_64 TRAIN_32 "," TRAIN_32

enum { TRAIN, SERVE, LAX, OLD, PLAIN };

static struct lks_policy_pool pools[] = {
    [TRAIN] = {T("train"), LKS_POLICY_ON, true, 600, T("2.27.3"), T("2.19.3,2.21.5")},
    [SERVE] = {T("serve"), LKS_POLICY_ON, false, 600, T(""), T("")},
    [LAX] = {T("lax"), LKS_POLICY_OBSERVE, true, 600, T("2.27.3"), T("2.21.5")},
    [OLD] = {T("old"), LKS_POLICY_ON, true, 1, T(""), T("")},
    [PLAIN] = {T("plain"), LKS_POLICY_ON, true, 600, T(""), T("")}, /* its nodes show no slots */
};
static struct lks_policy_stack stacks[] = {
    {TRAIN, 0, 6, T(AA), T("h200-1"), T("1")},
    {TRAIN, 1, 4, T(BB), T("h200-2"), T("1")},
    {SERVE, 0, 3, T(AA), T("same"), T("1")},
    {SERVE, 1, 3, T(CC), T("same"), T("2")},
    {SERVE, LKS_POLICY_SLOTS, 1, T(BB), T(""), T("")},
    {PLAIN, LKS_POLICY_SLOTS, 4, T(AA), T("h200-1"), T("")},
};
static struct lks_policy_partition partitions[] = {
    {T("train"), true, TRAIN, 10, 0, {6, 4, 0}},
    {T("serve"), false, SERVE, 7, 0, {3, 3, 0}},
    {T("lax"), false, LAX, 4, 0, {4, 0, 0}},
    {T("old"), false, OLD, 4, 0, {4, 0, 0}},
    {T("both"), false, LKS_POLICY_NO_POOL, 17, 0, {9, 7, 0}},
    {T("wide"), false, TRAIN, 10, 5, {6, 4, 0}},
    {T("plain"), false, PLAIN, 4, 0, {4, 4, 4}}, /* as slurm.conf has them */
    {T("whole"), false, TRAIN, 4, 0, {0, 4, 0}},
};
static struct lks_policy_image images[] = {
    {T("2.21.5"), T("nvcr.io/nvidia/pytorch:24.08")},
    {T("2.27.3"), T("nvcr.io/nvidia/pytorch:25.01")},
    {T("2.27.3+cuda12.8"), T("reg/built:1")},
    {T("2.21.5"), T("reg/other:1")},
    {T("2.28.1"), T("reg/tested:1")},
};
static struct lks_policy policy = {
    .confirmed = NOW - 5000,
    .pools = pools,
    .stacks = stacks,
    .partitions = partitions,
    .images = images,
    .pool_count = LKS_COUNT(pools),
    .stack_count = LKS_COUNT(stacks),
    .partition_count = LKS_COUNT(partitions),
    .image_count = LKS_COUNT(images),
};

#define IMAGE(ref) "#!/bin/sh\nsrun --container-image=" ref " true\n"
#define GOOD       "nvcr.io#nvidia/pytorch:25.01"
#define BAD        "docker://nvcr.io/nvidia/pytorch:24.08"
#define NEW        IMAGE("reg#new:1")
#define NEW_15     NEW NEW NEW NEW NEW NEW NEW NEW NEW NEW NEW NEW NEW NEW NEW

static const struct {
    const char *name;
    struct lks_submit_job job;
    int64_t later; /* ms */
    enum lks_submit_what what;
    const char *features; /* CHANGED */
    const char *text;     /* a part of it; "": none */
} rows[] = {
    {"a job on one node", {.nodes = 1}, 0, LKS_SUBMIT_AS_IS, "", ""},
    {"a gang in the default partition", {.nodes = 2}, 0, LKS_SUBMIT_CHANGED, SLOTS, ""},
    {"a gang with features",
     {.nodes = 2, .features = T("rack7")},
     0,
     LKS_SUBMIT_CHANGED,
     "rack7&" SLOTS,
     ""},
    {"a gang that names a slot", {.nodes = 2, .features = T("lks1")}, 0, LKS_SUBMIT_AS_IS, "", ""},
    {"a gang that names a digest",
     {.nodes = 2, .features = T("a&lks-0123456789ab")},
     0,
     LKS_SUBMIT_AS_IS,
     "",
     ""},
    {"features that only look like ours",
     {.nodes = 2, .features = T("xlks1&lksa")},
     0,
     LKS_SUBMIT_CHANGED,
     "xlks1&lksa&" SLOTS,
     ""},
    {"a constraint that cannot be combined",
     {.nodes = 2, .features = T("a*2&b")},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "constraint 'a*2&b' cannot be combined with [lks0|lks1|lks2]; use a&b or a|b, or add '&lks0'"},
    {"the same on one node", {.nodes = 1, .features = T("a*2&b")}, 0, LKS_SUBMIT_AS_IS, "", ""},
    {"tasks on some nodes", {.nodes = 1, .spreads = true}, 0, LKS_SUBMIT_CHANGED, SLOTS, ""},
    {"as many as nodes of a slot",
     {.nodes = 1, .spreads = true, .needs = 6},
     0,
     LKS_SUBMIT_CHANGED,
     SLOTS,
     ""},
    {"more, which may need more nodes than a slot has",
     {.nodes = 1, .spreads = true, .needs = 7},
     0,
     LKS_SUBMIT_AS_IS,
     "",
     ""},
    {"more where all nodes have one slot",
     {.nodes = 1, .partition = T("whole"), .spreads = true, .needs = 64},
     0,
     LKS_SUBMIT_CHANGED,
     SLOTS,
     ""},
    {"the same with a constraint that cannot be combined",
     {.nodes = 1, .spreads = true, .features = T("a*2&b")},
     0,
     LKS_SUBMIT_AS_IS,
     "",
     ""},
    {"tasks on some nodes, which ask for a stack with it",
     {.nodes = 1, .spreads = true, .features = T("a*2&b"), .stack = T("h200-1")},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "cannot be combined with lks-aaaaaaaaaaaa"},
    {"a gang that is larger than each slot", {.nodes = 7}, 0, LKS_SUBMIT_AS_IS, "", ""},
    {"a partition without nodes of lockstep",
     {.nodes = 4, .partition = T("cpu")},
     0,
     LKS_SUBMIT_AS_IS,
     "",
     ""},
    {"a partition with nodes of two pools",
     {.nodes = 4, .partition = T("both")},
     0,
     LKS_SUBMIT_AS_IS,
     "",
     ""},
    {"a partition with other nodes",
     {.nodes = 4, .partition = T("wide")},
     0,
     LKS_SUBMIT_AS_IS,
     "",
     ""},
    {"a stack in a partition with other nodes",
     {.nodes = 1, .partition = T("wide"), .stack = T("h200-1")},
     0,
     LKS_SUBMIT_CHANGED,
     "lks-aaaaaaaaaaaa",
     ""},
    {"a stack in a partition with nodes of two pools",
     {.nodes = 1, .partition = T("both"), .stack = T("h200-1")},
     0,
     LKS_SUBMIT_AS_IS,
     "",
     ""},
    {"a gang in a pool without slots",
     {.nodes = 2, .partition = T("plain")},
     0,
     LKS_SUBMIT_AS_IS,
     "",
     ""},
    {"a stack that no partition of as many as are read has",
     {.nodes = 1, .partition = T(TRAIN_64), .stack = T("none")},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "no node of pool 'train'"},
    {"and one that is not read may have",
     {.nodes = 1, .partition = T(TRAIN_64 ",serve"), .stack = T("none")},
     0,
     LKS_SUBMIT_AS_IS,
     "",
     "no node of pool 'train'"},
    {"a stack in a pool without slots",
     {.nodes = 2, .partition = T("plain"), .stack = T("h200-1")},
     0,
     LKS_SUBMIT_AS_IS,
     "",
     ""},
    {"the same, with more nodes than it has",
     {.nodes = 5, .partition = T("plain"), .stack = T("h200-1")},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "4 nodes of pool 'plain'"},
    {"two partitions",
     {.nodes = 4, .partition = T("train,serve")},
     0,
     LKS_SUBMIT_CHANGED,
     SLOTS,
     ""},
    {"two partitions, one of others",
     {.nodes = 4, .partition = T("train,cpu")},
     0,
     LKS_SUBMIT_AS_IS,
     "",
     ""},
    {"two, one of which refuses",
     {.nodes = 2, .partition = T("serve,train"), .stack = T("h200-1")},
     0,
     LKS_SUBMIT_AS_IS,
     "",
     "no node of pool 'serve'"},
    {"a pool that observes", {.nodes = 4, .partition = T("lax")}, 0, LKS_SUBMIT_AS_IS, "", ""},
    {"its image is only noted",
     {.nodes = 4, .partition = T("lax"), .script = T(IMAGE(BAD))},
     0,
     LKS_SUBMIT_AS_IS,
     "",
     "has NCCL 2.21.5, and pool 'lax' pins 2.27.3"},
    {"a stack by option",
     {.nodes = 1, .stack = T("h200-1")},
     0,
     LKS_SUBMIT_CHANGED,
     "lks-aaaaaaaaaaaa",
     ""},
    {"a stack by comment",
     {.nodes = 1, .comment = T("CHG-1 lockstep:stack=h200-2 x"), .features = T("a|b")},
     0,
     LKS_SUBMIT_CHANGED,
     "(a|b)&lks-bbbbbbbbbbbb",
     ""},
    {"a stack by digest",
     {.nodes = 1, .stack = T("bbbbbbbbbbbb")},
     0,
     LKS_SUBMIT_CHANGED,
     "lks-bbbbbbbbbbbb",
     ""},
    {"a stack by its whole digest",
     {.nodes = 1, .stack = T(BB)},
     0,
     LKS_SUBMIT_CHANGED,
     "lks-bbbbbbbbbbbb",
     ""},
    {"digits that are too few",
     {.nodes = 1, .stack = T("bbbbbbbbbbb")},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "runs the stack 'bbbbbbbbbbb'"},
    {"a stack that the pool does not have",
     {.nodes = 1, .stack = T("h100")},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "no node of pool 'train' runs the stack 'h100'; its stacks: h200-1, h200-2"},
    {"a hostile name of a stack",
     {.nodes = 1, .stack = T("\x1b[31m\n\xff")},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "the stack '?[31m?"},
    {"a stack with two digests",
     {.nodes = 1, .partition = T("serve"), .stack = T("same")},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "several stacks are named 'same'; name one as NAME/VERSION, or by 12 digits"},
    {"a name with its version",
     {.nodes = 1, .partition = T("serve"), .stack = T("same/2")},
     0,
     LKS_SUBMIT_CHANGED,
     "lks-cccccccccccc",
     ""},
    {"a version that the pool does not have",
     {.nodes = 1, .stack = T("h200-1/2")},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "runs the stack 'h200-1/2'"},
    {"a version of a stack whose version is not known",
     {.nodes = 1, .partition = T("plain"), .stack = T("h200-1/2")},
     0,
     LKS_SUBMIT_AS_IS,
     "",
     ""},
    {"no name before a version",
     {.nodes = 1, .partition = T("serve"), .stack = T("/")},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "runs the stack '/'"},
    {"digits behind sha256:",
     {.nodes = 1, .stack = T("sha256:bbbb")},
     0,
     LKS_SUBMIT_CHANGED,
     "lks-bbbbbbbbbbbb",
     ""},
    {"too few of them",
     {.nodes = 1, .stack = T("sha256:bbb")},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "runs the stack 'sha256:bbb'"},
    {"a stack, and a constraint that cannot be combined",
     {.nodes = 1, .stack = T("h200-2"), .features = T("a*2")},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "or add '&lks-bbbbbbbbbbbb' to choose the stack yourself"},
    {"more nodes than the stack has",
     {.nodes = 5, .stack = T("h200-2")},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "4 nodes of pool 'train' run the stack 'h200-2', and the job needs 5; request at most 4 "
     "nodes"},
    {"the pinned image", {.nodes = 2, .script = T(IMAGE(GOOD))}, 0, LKS_SUBMIT_CHANGED, SLOTS, ""},
    {"an image with another NCCL",
     {.nodes = 2, .script = T(IMAGE(BAD))},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "image 'nvcr.io/nvidia/pytorch:24.08' has NCCL 2.21.5, and pool 'train' pins 2.27.3; use an "
     "image "
     "with NCCL 2.27.3"},
    {"one that is not pinned, and that a stack admits",
     {.nodes = 2, .image = T("reg#tested:1")},
     0,
     LKS_SUBMIT_CHANGED,
     SLOTS,
     ""},
    {"the same by option",
     {.nodes = 2, .image = T("reg#other:1")},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "image 'reg/other:1'"},
    {"an image that nothing is known of",
     {.nodes = 1, .image = T("reg#new:1")},
     0,
     LKS_SUBMIT_AS_IS,
     "",
     ""},
    {"two images with different NCCL",
     {.nodes = 2, .script = T(IMAGE(GOOD) IMAGE("reg#tested:1"))},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "(NCCL 2.28.1) cannot run in one job"},
    {"the same where ranks need not agree",
     {.nodes = 2, .partition = T("serve"), .script = T(IMAGE(GOOD) IMAGE(BAD))},
     0,
     LKS_SUBMIT_CHANGED,
     SLOTS,
     ""},
    {"two builds of one NCCL",
     {.nodes = 2, .script = T(IMAGE(GOOD) IMAGE("reg#built:1"))},
     0,
     LKS_SUBMIT_CHANGED,
     SLOTS,
     ""},
    {"two images with one NCCL",
     {.nodes = 2, .partition = T("serve"), .script = T(IMAGE("reg#other:1") IMAGE(BAD))},
     0,
     LKS_SUBMIT_CHANGED,
     SLOTS,
     ""},
    {"the last image that is looked up",
     {.nodes = 2, .script = T(NEW_15 IMAGE(BAD))},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "has NCCL 2.21.5"},
    {"an image behind as many unknown ones as are looked up",
     {.nodes = 2, .script = T(NEW_15 NEW IMAGE(BAD))},
     0,
     LKS_SUBMIT_CHANGED,
     SLOTS,
     ""},
    {"old data, and a pool that is closed then",
     {.nodes = 2},
     600000,
     LKS_SUBMIT_REFUSED,
     "",
     "the policy of pool 'train' is 605 s old, and the pool refuses jobs without a fresh one"},
    {"old data, and a pool that is open then",
     {.nodes = 2, .partition = T("serve"), .stack = T("none")},
     600000,
     LKS_SUBMIT_AS_IS,
     "",
     ""},
    {"old data, up to the limit", {.nodes = 2}, 595000, LKS_SUBMIT_CHANGED, SLOTS, ""},
    {"data of a future that is near", {.nodes = 2}, -595000, LKS_SUBMIT_CHANGED, SLOTS, ""},
    {"data of the future, and a pool that is closed then",
     {.nodes = 2},
     -610000,
     LKS_SUBMIT_REFUSED,
     "",
     "the policy of pool 'train' is 605 s ahead of slurmctld's clock, and the pool refuses jobs"},
    {"data of the future, and a pool that is open then",
     {.nodes = 2, .partition = T("serve"), .stack = T("none")},
     -610000,
     LKS_SUBMIT_AS_IS,
     "",
     ""},
    {"a pool with a limit of its own",
     {.nodes = 2, .partition = T("old")},
     0,
     LKS_SUBMIT_REFUSED,
     "",
     "pool 'old' is 5 s old"},
    {"a list of partitions without names",
     {.nodes = 2, .partition = T(",,,")},
     0,
     LKS_SUBMIT_CHANGED,
     SLOTS,
     ""},
};

static void test_jobs(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_submit_answer a;
        lks_test_case("%s", rows[i].name);
        lks_submit_decide(&policy, &rows[i].job, NOW + (lks_ms)rows[i].later, &a);
        CHECK_INT(a.what, rows[i].what);
        CHECK_STR(lks_str_from(a.features), rows[i].features);
        if (rows[i].text[0] == '\0')
            CHECK_STR(lks_str_from(a.text), "");
        else
            CHECK_HAS(lks_str_from(a.text), rows[i].text);
        CHECK(lks_str_printable(lks_str_from(a.text)));
    }
    struct lks_submit_answer none;
    lks_test_case("no policy");
    lks_submit_decide(NULL, &rows[1].job, NOW, &none);
    CHECK_INT(none.what, LKS_SUBMIT_AS_IS);
}

/* What PrologSlurmctld gets: the first image that slurm-prolog can ask about. */
static void test_passed(void)
{
    static const struct {
        const char *name, *script, *image;
    } cases[] = {
        {"the first of two", IMAGE("a") IMAGE("b"), "a"},
        {"an option", IMAGE("--help") IMAGE("b"), "b"},
        {"only an option", IMAGE("-x"), ""},
        {"one with ranks", IMAGE("a=0-1"), ""},
        {"one with a control byte",
         IMAGE("a\x1b"
               "b"),
         ""},
    };
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        const struct lks_submit_job job = {.nodes = 1, .script = lks_str_from(cases[i].script)};
        struct lks_submit_answer a;
        lks_test_case("%s", cases[i].name);
        lks_submit_decide(&policy, &job, NOW, &a);
        CHECK_INT(a.what, LKS_SUBMIT_AS_IS);
        CHECK_STR(lks_str_from(a.image), cases[i].image);
    }
}

static void test_constraints(void)
{
    static const struct {
        const char *user, *slots, *stack; /* combined; "": they cannot be */
    } cases[] = {
        {"", SLOTS, "lks-a"},
        {"a", "a&" SLOTS, "a&lks-a"},
        {"a&b", "a&b&" SLOTS, "a&b&lks-a"},
        {"a,b", "a,b&" SLOTS, "a,b&lks-a"},
        {"a|b", "(a|b)&" SLOTS, "(a|b)&lks-a"},
        {"(a|b)", "(a|b)&" SLOTS, "(a|b)&lks-a"},
        {"a&(b|c)&d", "a&(b|c)&d&" SLOTS, "a&(b|c)&d&lks-a"},
        {"[a|b]", "[(a&lks0)|(a&lks1)|(a&lks2)|(b&lks0)|(b&lks1)|(b&lks2)]", ""},
        {"[a|b|c|d|e|f|g|h|i]", "", ""},
        {"[a|b]&c", "", ""},
        {"[a*1&b*1]", "", ""},
        {"a*2", "", ""},
        {"a|b&c", "", ""},
        {"(a|b)|c", "", ""},
        {"a&&b", "", ""},
        {"!a", "", ""},
        {"a&", "", ""},
        {"(a|b", "", ""},
        {"(a|b)c", "", ""},
        {"a b", "", ""},
        {"a\n", "", ""},
    };
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        char out[256] = "";
        lks_test_case("'%s'", cases[i].user);
        bool done = lks_submit_decide_combine(lks_str_from(cases[i].user), LKS_STR(SLOTS), out,
                                              sizeof(out));
        CHECK_STR(lks_str_from(done ? out : ""), cases[i].slots);
        done = lks_submit_decide_combine(lks_str_from(cases[i].user), LKS_STR("lks-a"), out,
                                         sizeof(out));
        CHECK_STR(lks_str_from(done ? out : ""), cases[i].stack);
        CHECK(!lks_submit_decide_combine(lks_str_from(cases[i].user), LKS_STR(SLOTS), out, 4));
    }
}

static void test_images(void)
{
    static const struct {
        const char *name, *script, *images; /* separated by blanks */
    } cases[] = {
        {"none", "srun true", ""},
        {"with =", "srun --container-image=a true", "a"},
        {"behind a blank", "srun --container-image a true", "a"},
        {"quoted", "srun --container-image=\"a\" --container-image 'b'", "a b"},
        {"on the next line", "srun --container-image \\\n  a", "a"},
        {"an option of Slurm", "#SBATCH --container-image=a\n", "a"},
        {"an option of Slurm with blanks", "#SBATCH -N 2 --container-image a\n", "a"},
        {"a comment", "#!/bin/sh\n# old: srun --container-image=a\nsrun --container-image=b", "b"},
        {"the first line", "# --container-image=a --container-image=b", ""},
        {"a comment with blanks before it", "\n \t#srun --container-image=a", ""},
        {"an option of Slurm with blanks before it", "\n #SBATCH --container-image=a", ""},
        {"a comment between", "x --container-image=a\n#--container-image=b\n --container-image=c",
         "a c"},
        {"a comment behind another option", "x --container-imagex\n# --container-image=b", ""},
        {"a line that has a #", "srun --container-image=a#b --container-image=c # d", "a#b c"},
        {"an end of the line without a value", "srun --container-image\n# x", ""},
        {"another option", "srun --container-image-x=a --container-imagesb", ""},
        {"a variable", "srun --container-image=$IMAGE --container-image=b", "b"},
        {"in a word", "echo x--container-image=a", ""},
        {"at the end", "srun --container-image=", ""},
        {"at the very end", "srun --container-image", ""},
    };
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        struct lks_str rest = lks_str_from(cases[i].script), image;
        char found[64] = "";
        lks_test_case("%s", cases[i].name);
        while (lks_submit_decide_image(&rest, &image))
            snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%" LKS_STR_FMT,
                     found[0] != '\0' ? " " : "", LKS_STR_ARG(image));
        CHECK_STR(lks_str_from(found), cases[i].images);
    }
}

/* Texts of a job that are as large as they can be are read up to a limit. */
static void test_huge(void)
{
    enum { HUGE = 4 << 20 };
    char *text = malloc(HUGE);
    struct lks_submit_answer a;
    LKS_ASSERT(text != NULL);
    memset(text, ',', HUGE);
    struct lks_str all = {text, HUGE};
    const struct lks_submit_job commas = {.partition = all,
                                          .comment = all,
                                          .script = all,
                                          .nodes = 2,
                                          .features = all,
                                          .stack = all,
                                          .image = all};
    lks_submit_decide(&policy, &commas, NOW, &a);
    CHECK_INT(a.what, LKS_SUBMIT_AS_IS); /* its other partitions may have the stack */
    memset(text, 'a', HUGE);
    const struct lks_submit_job letters = {.nodes = 2, .features = all};
    lks_submit_decide(&policy, &letters, NOW, &a);
    CHECK_INT(a.what, LKS_SUBMIT_REFUSED);
    free(text);
}

/* Names of stacks that are as large as they can be, where there are as many stacks as can be. */
static void test_long_names(void)
{
    enum { HUGE = 4 << 20, SECONDS = 5 };
    static struct lks_policy_stack many[LKS_POLICY_STACKS_MAX];
    static const char token[] = "lockstep:stack=";
    struct lks_policy p = policy;
    struct lks_submit_answer a;
    char *text = malloc(HUGE);
    LKS_ASSERT(text != NULL);
    memset(text, 'a', HUGE);
    memcpy(text, token, sizeof(token) - 1);
    for (size_t i = 0; i < LKS_COUNT(many); i++)
        many[i] = stacks[0];
    p.stacks = many;
    p.stack_count = LKS_COUNT(many);
    const struct lks_submit_job jobs[] = {
        {.nodes = 1, .partition = T(TRAIN_64), .stack = {text, HUGE}},
        {.nodes = 1, .partition = T(TRAIN_64), .comment = {text, HUGE}},
    };
    for (size_t i = 0; i < LKS_COUNT(jobs); i++) {
        clock_t began = clock();
        lks_test_case("%s", i == 0 ? "by option" : "by comment");
        lks_submit_decide(&p, &jobs[i], NOW, &a);
        CHECK_INT(a.what, LKS_SUBMIT_REFUSED);
        CHECK(clock() - began < SECONDS * CLOCKS_PER_SEC);
    }
    free(text);
}

/* The file ---------------------------------------------------------------------------------- */

static void test_file(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf one = LKS_BUF(1 << 16), two = LKS_BUF(1 << 16);
    LKS_CLEANUP(lks_policy_fini) struct lks_policy back = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_policy_write(&policy, &one, &err), LKS_OK);
    CHECK_CODE(lks_policy_read(lks_buf_view(&one), &back, &err), LKS_OK);
    CHECK_INT(back.partition_count, LKS_COUNT(partitions));
    CHECK_INT(back.partitions[4].pool, LKS_POLICY_NO_POOL);
    CHECK_INT(back.stacks[4].slot, LKS_POLICY_SLOTS);
    CHECK_CODE(lks_policy_write(&back, &two, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&two), one.ptr);
    for (size_t len = 0; len < one.len; len++) {
        struct lks_policy torn = {0};
        lks_test_case("cut behind %zu bytes", len);
        CHECK(lks_policy_read((struct lks_str){one.ptr, len}, &torn, &err) != LKS_OK);
    }
    for (size_t at = 0; at < one.len; at++) {
        struct lks_policy bad = {0};
        lks_test_case("byte %zu is another", at);
        one.ptr[at] ^= 1;
        CHECK(lks_policy_read(lks_buf_view(&one), &bad, &err) != LKS_OK);
        one.ptr[at] ^= 1;
    }
}

/* Images of a file in any order are found, and written in order. */
static void test_order(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf one = LKS_BUF(1 << 16), two = LKS_BUF(1 << 16);
    LKS_CLEANUP(lks_policy_fini) struct lks_policy back = {0};
    struct lks_policy_image mixed[] = {
        {T("2"), T("c")}, {T("1"), T("b")}, {T("3"), T("bb")}, {T("1"), T("a")}};
    const struct lks_policy p = {.images = mixed, .image_count = LKS_COUNT(mixed)};
    struct lks_err err = {0};
    CHECK_CODE(lks_policy_write(&p, &one, &err), LKS_OK);
    CHECK_CODE(lks_policy_read(lks_buf_view(&one), &back, &err), LKS_OK);
    for (size_t i = 0; i < LKS_COUNT(mixed); i++) {
        const struct lks_policy_image *found = lks_policy_image(&back, mixed[i].ref);
        lks_test_case("image %" LKS_STR_FMT, LKS_STR_ARG(mixed[i].ref));
        CHECK(found != NULL && lks_str_eq(found->nccl, mixed[i].nccl));
    }
    CHECK(lks_policy_image(&back, LKS_STR("ab")) == NULL);
    CHECK_CODE(lks_policy_write(&back, &two, &err), LKS_OK);
    CHECK_HAS(lks_buf_view(&two), "image 1 a\nimage 1 b\nimage 3 bb\nimage 2 c\n");
}

static void test_other_formats(void)
{
    static const struct {
        const char *name, *bytes;
        enum lks_code code;
        const char *text;
    } cases[] = {
        {"an empty file", "", LKS_E_INVALID, "not a policy"},
        {"something else", "ELF\n", LKS_E_INVALID, "not a policy"},
        {"a later format", "lockstep-policy 2 x\n", LKS_E_REFUSED, "different releases"},
        {"a length that lies", "lockstep-policy 1 0 9 0000000000000000\n", LKS_E_INVALID, "torn"},
    };
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        struct lks_policy p = {0};
        struct lks_err err = {0};
        lks_test_case("%s", cases[i].name);
        CHECK_CODE(lks_policy_read(lks_str_from(cases[i].bytes), &p, &err), cases[i].code);
        CHECK_HAS(lks_str_from(err.msg), cases[i].text);
    }
}

static void test_words(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(1 << 16);
    struct lks_policy_image image = {T("1"), T("a b")};
    const struct lks_policy p = {.images = &image, .image_count = 1};
    struct lks_err err = {0};
    CHECK_CODE(lks_policy_write(&p, &out, &err), LKS_E_INVALID);
    CHECK(!lks_word_fits(LKS_STR("-")) && !lks_word_fits(LKS_STR("")) &&
          !lks_word_fits(LKS_STR("\x7f")) && lks_word_fits(LKS_STR("a:b#c")));
}

static const struct lks_test tests[] = {
    {"submit: jobs", test_jobs},
    {"submit: images for the prolog", test_passed},
    {"submit: constraints", test_constraints},
    {"submit: images of scripts", test_images},
    {"submit: huge texts", test_huge},
    {"submit: long names of stacks", test_long_names},
    {"submit: the policy as a file", test_file},
    {"submit: images of a file", test_order},
    {"submit: files of other formats", test_other_formats},
    {"submit: words", test_words},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
