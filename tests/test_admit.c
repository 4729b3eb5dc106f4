#include "core/admit.h"

#include "codec/hostlist.h"
#include "tests/jobs.h"
#include "tests/test.h"

#include <stdio.h>

enum { TOLD_MAX = 1 << 20, MEMORY = 64 << 20 };

/* Stacks ------------------------------------------------------------------------------------- */

#define NVIDIA(name, more)                                                                         \
    "---\nlockstep: 1\nkind: Stack\nname: " name "\nversion: '1'\nvendor: nvidia\n"                \
    "hardware: [hgx-h200-8]\ncomponents:\n"                                                        \
    "  kernel: {version: '6.8.0-71-generic'}\n"                                                    \
    "  driver: {version: '580.126.20', modules: open}\n"                                           \
    "  fabric-manager: {version: '580.126.20'}\n"                                                  \
    "  container-toolkit: {version: '1.19.1'}\n"                                                   \
    "  dcgm: {version: '4.5.3'}\n"                                                                 \
    "  doca-ofed: {absent: the drivers of the kernel are used}\n" more

#define ROCM                                                                                       \
    "---\nlockstep: 1\nkind: Stack\nname: rocm\nversion: '1'\nvendor: amd\n"                       \
    "hardware: [mi300x-oam-8]\ncomponents:\n"                                                      \
    "  kernel: {version: '6.8.0-85-generic'}\n"                                                    \
    "  amdgpu: {version: '30.30.3'}\n"                                                             \
    "  rocm: {version: '7.2.2', owner: image}\n"                                                   \
    "  rccl: {version: '2.27.7', owner: image}\n"

/* golden leaves all three to images; lax has tested a window of NCCL and installs the rest; bare
 * pins no collective library; rocm is AMD's. A stack called otherwise is not in the book. */
static const char stacks[] = NVIDIA("golden", "  cuda: {version: '12.8.1', owner: image}\n"
                                              "  cudnn: {version: '9.7.0', owner: image}\n"
                                              "  nccl: {version: '2.28.9', owner: image}\n")
    NVIDIA("lax", "  cuda: {version: '12.8.1'}\n"
                  "  cudnn: {version: '9.7.0'}\n"
                  "  nccl: {version: '2.28.9'}\nwindows: {nccl: '>=2.28.3 <2.29'}\n")
        NVIDIA("bare", "  cuda: {version: '12.8.1'}\n"
                       "  nccl: {absent: jobs bring what they like}\n") ROCM;

/* Four nodes that are as they should be, in a pool of one posture. */
#define POOL(posture, enforce) "pool train " posture " " enforce " golden\n"
#define GOOD                                                                                       \
    "nodes g[1-4] train\n"                                                                         \
    "verdict gold golden driver=580 nccl=\n"                                                       \
    "run g[1-4] gold\n"
#define TRAIN POOL("pre-training", "on") GOOD

/* Asking ------------------------------------------------------------------------------------- */

/* "REF RANKS" of each image, with ';' between two. */
static size_t read_images(const char *text, struct lks_admit_image *out)
{
    struct lks_str rest = lks_str_from(text), one;
    size_t count = 0;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, ';', &one, &rest);
        (void)lks_str_cut(one, ' ', &out[count].ref, &out[count].ranks);
        count++;
    }
    return count;
}

/* A digest as "sha256:*": what it is is for other tests. */
static void add_masked(struct lks_buf *out, struct lks_str text)
{
    static const char mark[] = "sha256:";
    ptrdiff_t at = lks_str_find(text, LKS_STR("sha256:"));
    size_t head = at < 0 ? text.len : (size_t)at + sizeof(mark) - 1;
    lks_buf_add(out, (struct lks_str){text.ptr, head});
    if (at >= 0)
        lks_buf_addf(out, "*%.*s", (int)(text.len - head - 64), text.ptr + head + 64);
}

static void tell_list(struct lks_buf *out, const char *word, const struct lks_admit_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct lks_admit_no *no = &list->items[i];
        lks_buf_addf(out, "%s %s", word, lks_bar_words[no->bar]);
        if (no->node.len > 0)
            lks_buf_addf(out, " %.*s", LKS_STR_ARG(no->node));
        if (no->image.len > 0)
            lks_buf_addf(out, " %.*s", LKS_STR_ARG(no->image));
        if (no->ranks.len > 0)
            lks_buf_addf(out, " %.*s", LKS_STR_ARG(no->ranks));
        if (no->pool.len > 0)
            lks_buf_addf(out, " in %.*s", LKS_STR_ARG(no->pool));
        lks_buf_addc(out, ':');
        lks_buf_addc(out, ' ');
        add_masked(out, no->text);
        lks_buf_addc(out, '\n');
    }
}

/* The answer: "yes STACK +MS" or "no STACK", then a line for each reason. */
static void tell(const struct lks_admit *a, struct lks_buf *out)
{
    lks_buf_addf(out, "%s %.*s", a->yes ? "yes" : "no", LKS_STR_ARG(a->stack));
    if (a->yes)
        lks_buf_addf(out, " +%lld", (long long)(a->valid_until - a->asked));
    if (a->overridden)
        lks_buf_addf(out, " by override: %.*s", LKS_STR_ARG(a->override));
    lks_buf_addc(out, '\n');
    tell_list(out, "refused", &a->refused);
    tell_list(out, "warned", &a->warned);
}

struct question {
    const char *nodes, *stack, *images, *nccl;
    lks_ms behind;
};

static enum lks_code ask(struct lks_jobs *j, const struct question *q, struct lks_buf *out,
                         struct lks_err *err)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_admit_fini) struct lks_admit answer = {0};
    struct lks_admit_image images[LKS_ADMIT_IMAGES_MAX];
    struct lks_hostlist list = {0};
    struct lks_book book = lks_jobs_book(j);
    lks_arena_init(&arena, MEMORY);
    LKS_ASSERT(lks_hostlist_parse(lks_str_from(q->nodes), &arena, &list, err) == LKS_OK);
    const struct lks_admit_ask asked = {
        .job = LKS_STR("j"),
        .names = list.names,
        .count = list.count,
        .stack = lks_str_from(q->stack != NULL ? q->stack : ""),
        .images = images,
        .image_count = read_images(q->images != NULL ? q->images : "", images),
        .nccl = lks_str_from(q->nccl != NULL ? q->nccl : ""),
        .behind = q->behind,
    };
    enum lks_code code = lks_admit(&j->asked.state, &book, j->asked.now, &asked, &answer, err);
    if (code == LKS_OK)
        tell(&answer, out);
    return code;
}

/* Every reason ------------------------------------------------------------------------------- */

struct row {
    const char *name;
    const char *fleet; /* as tests/jobs.h has it */
    struct question q;
    const char *answer;
};

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        LKS_CLEANUP(lks_jobs_fini) struct lks_jobs j = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf told = {0};
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].name);
        lks_buf_init(&told, TOLD_MAX);
        lks_jobs_init(&j, stacks);
        lks_jobs_tell(&j, rows[i].fleet);
        if (CHECK_CODE(ask(&j, &rows[i].q, &told, &err), LKS_OK))
            CHECK_STR(lks_buf_view(&told), rows[i].answer);
        else
            printf("%s\n", err.msg);
    }
}

#define ALL                                                                                        \
    {                                                                                              \
        .nodes = "g[1-4]"                                                                          \
    }
#define START "1970-01-01T00:16:40.000Z"

static const struct row bars[] = {
    {"nothing is wrong", TRAIN, ALL, "yes golden +60000\n"},
    {"one of several pools' nodes", TRAIN, {.nodes = "g3"}, "yes golden +60000\n"},
    {"no such node",
     TRAIN,
     {.nodes = "g1,x1"},
     "no \nrefused unknown x1: no node 'x1' in the fleet\n"},
    {"a node that was removed",
     TRAIN "remove g2\n",
     {.nodes = "g[1-2]"},
     "no \nrefused unknown g2: no node 'g2' in the fleet\n"},
    {"an asset is no node",
     TRAIN "asset sw1 r1\n",
     {.nodes = "g1,sw1"},
     "no \nrefused unknown sw1: an asset (switch-tray), not a node\n"},
    {"stale: late", TRAIN "late g2\n", ALL,
     "no golden\nrefused stale g2 in train: late since " START "\n"},
    {"stale: read in another boot", TRAIN "reboot g2\n", ALL,
     "no golden\nrefused stale g2 in train: what was read of it is of another boot\n"},
    {"unmeasured: a component", TRAIN "verdict b2 golden driver=? nccl=?!2.28.9\nrun g2 b2\n", ALL,
     "no golden\nrefused unmeasured g2 in train: nccl: ?, pinned 2.28.9\n"
     "refused disagrees g2 in train: driver ?, where 3 of 4 have 580\n"},
    {"unmeasured: never read",
     TRAIN "nodes g5 train\n",
     {.nodes = "g5"},
     "no golden\nrefused stale g5 in train: nothing was read of it in this boot\n"
     "refused unmeasured g5 in train: it was not read yet\n"},
    {"unmeasured: not judged",
     TRAIN "run g2 b9\n",
     {.nodes = "g2"},
     "no golden\nrefused unmeasured g2 in train: what was read is not held against its stack "
     "yet\n"},
    {"unmeasured: nothing to hold it against",
     "pool train pre-training on -\nnodes g1 train\nrun g1 gold\n",
     {.nodes = "g1"},
     "no \nrefused unmeasured g1 in train: it has no stack to be held against: its pool is not "
     "pinned\n"},
    {"drift",
     TRAIN "verdict b2 golden driver=580 kernel=6.8!6.9\nrun g2 b2\n",
     {.nodes = "g2"},
     "no golden\nrefused drift g2 in train: kernel: 6.8, pinned 6.9 (other version)\n"},
    {"drift: the cause that was recorded counts",
     TRAIN "verdict b2 golden driver=580 kernel=6.8!6.9\nrun g2 b2\ndrift g2 reverted\n",
     {.nodes = "g2"},
     "no golden\nrefused drift g2 in train: kernel: 6.8, pinned 6.9 (reverted)\n"},
    {"drift: what a deviation covers is passed over",
     TRAIN "verdict b2 golden kernel=6.8!6.9 dcgm=4!5\nrun g2 b2\ndeviation g2 kernel\n",
     {.nodes = "g2"},
     "no golden\nrefused drift g2 in train: dcgm: 4, pinned 5 (other version)\n"
     "refused deviation g2 in train: runs deviation 1 (kernel 6.8), which its pool does not "
     "admit\n"},
    {"unhealthy", TRAIN "unhealthy g2\n", ALL,
     "no golden\nrefused unhealthy g2 in train: Xid 79\n"},
    {"changing", TRAIN "changing g2 -\n", ALL,
     "no golden\nrefused changing g2 in train: changing since " START "\n"},
    {"changing to another stack: it is its intent",
     TRAIN "changing g2 lax\n",
     {.nodes = "g[1-2]"},
     "no \nrefused unmeasured g2 in train: what was read is not held against its stack yet\n"
     "refused changing g2 in train: changing since " START "\n"},
    {"unattested: never",
     "pool train pre-training on golden attested\n" GOOD "attested g1 30000\n",
     {.nodes = "g[1-2]"},
     "no golden\nrefused unattested g2 in train: it was never attested\n"},
    {"unattested: it is over just now",
     "pool train pre-training on golden attested\n" GOOD "attested g1 0\n",
     {.nodes = "g1"},
     "no golden\nrefused unattested g1 in train: its attestation ended " START "\n"},
    {"a yes lasts no longer than an attestation",
     "pool train pre-training on golden attested\n" GOOD "attested g1 30000\nattested g2 20000\n",
     {.nodes = "g[1-2]"},
     "yes golden +20000\n"},
    {"nor longer than T",
     "pool train pre-training on golden attested\n" GOOD "attested g1 90000\n",
     {.nodes = "g1"},
     "yes golden +60000\n"},
    {"where nobody asks for it an attestation is nothing",
     TRAIN "attested g1 20000\n",
     {.nodes = "g1"},
     "yes golden +60000\n"},
    {"unchecked: never",
     "pool train pre-training on golden check=50000\n" GOOD,
     {.nodes = "g1"},
     "no golden\nrefused unchecked g1 in train: no active check of it passed yet\n"},
    {"a yes lasts no longer than a check",
     "pool train pre-training on golden check=50000\n" GOOD "checked g1 0\n",
     {.nodes = "g1"},
     "yes golden +50000\n"},
    {"held", TRAIN "hold g2\n", ALL, "no golden\nrefused held g2 in train: held by kim: fan\n"},
    {"intake", TRAIN "intake g2\n", ALL,
     "no golden\nrefused intake g2 in train: not accepted yet: first seen\n"},
    {"drained", TRAIN "drain g2\n", ALL,
     "no golden\nrefused drained g2 in train: drained by kim: fan\n"},
    {"deviation",
     TRAIN "verdict b2 golden driver=580 kernel=6.8!6.9\nrun g2 b2\ndeviation g2 *\n",
     {.nodes = "g2"},
     "no golden\nrefused deviation g2 in train: runs deviation 1 (kernel 6.8), which its pool does "
     "not admit\n"},
    {"a pool that admits deviations",
     "pool train pre-training on golden deviations\n" GOOD
     "verdict b2 golden driver=580 kernel=6.8!6.9\nrun g2 b2\ndeviation g2 *\n",
     {.nodes = "g2"},
     "yes golden +60000\n"},
    {"but a gang runs one and the same",
     "pool train pre-training on golden deviations\n" GOOD
     "verdict b2 golden driver=575!580\nrun g2 b2\ndeviation g2 *\n",
     ALL, "no golden\nrefused disagrees g2 in train: driver 575, where 3 of 4 have 580\n"},
    {"domain: another member runs something else",
     POOL("batch", "on") "nodes g[1-2] train r1\nverdict gold golden driver=580\n"
                         "verdict b2 golden driver=581\nrun g1 gold\nrun g2 b2\n",
     {.nodes = "g1"},
     "no golden\nrefused domain g1 in train: its domain 'r1' serves mixed: see 'g2'\n"},
    {"domain: an asset of it drifts",
     POOL("batch", "on") "nodes g[1-2] train r1\nasset sw1 r1\nverdict gold golden driver=580\n"
                         "run g[1-2] gold\nverdict old golden fw=1!2\noutband sw1 old\n",
     {.nodes = "g1"},
     "no golden\nrefused domain g1 in train: its domain 'r1' serves mixed: see 'sw1'\n"},
    {"several reasons of one node",
     TRAIN "hold g2\ndrain g2\nunhealthy g2\n",
     {.nodes = "g2"},
     "no golden\nrefused unhealthy g2 in train: Xid 79\n"
     "refused held g2 in train: held by kim: fan\n"
     "refused drained g2 in train: drained by kim: fan\n"},
    {"another stack than the one asked for, by name",
     TRAIN,
     {.nodes = "g1", .stack = "lax"},
     "no golden\nrefused stack g1 in train: its stack is 'golden' (sha256:*)\n"},
    {"the one asked for, by name",
     TRAIN,
     {.nodes = "g1", .stack = "golden"},
     "yes golden +60000\n"},
    {"nodes with a stack and without one have none in common",
     "pool none batch observe -\nnodes x1 none\nrun x1 gold\n" POOL("batch", "on") GOOD,
     {.nodes = "x1,g1"},
     "yes  +60000\nwarned unmeasured x1 in none: it has no stack to be held against: its pool is "
     "not pinned\n"},
    {"a stack where there is none",
     "pool train batch on -\nnodes g1 train\nrun g1 gold\n",
     {.nodes = "g1", .stack = "golden"},
     "no \nrefused unmeasured g1 in train: it has no stack to be held against: its pool is not "
     "pinned\nrefused stack g1 in train: it has no stack: its pool is not pinned\n"},
    {"a follower inside its bound", TRAIN, {.nodes = "g1", .behind = 5000}, "yes golden +60000\n"},
    {"a follower that is behind",
     TRAIN,
     {.nodes = "g1", .behind = 5001},
     "no golden\nrefused behind: this controller's knowledge may be 5001 ms old, and 5000 ms is "
     "the limit\n"},
};

static void test_bars(void)
{
    check_rows(bars, LKS_COUNT(bars));
}

/* Agreement ---------------------------------------------------------------------------------- */

/* g1 to g3 alike, g4 with another driver that its stack's window takes. */
#define ODD "verdict b4 golden driver=581 nccl=\nrun g4 b4\n"

/* A second pool, with a stack that says otherwise. */
#define SECOND(posture, enforce)                                                                   \
    "pool second " posture " " enforce " lax\nnodes h[1-2] second\n"                               \
    "verdict other lax driver=580 nccl=\nrun h[1-2] other\n"

#define DISAGREES(verb) verb " disagrees g4 in train: driver 581, where 3 of 4 have 580\n"

static const struct row gangs[] = {
    {"pre-training agrees", POOL("pre-training", "on") GOOD ODD, ALL,
     "no golden\n" DISAGREES("refused")},
    {"post-training agrees: it is the trainer", POOL("post-training", "on") GOOD ODD, ALL,
     "no golden\n" DISAGREES("refused")},
    {"online inference does not have to", POOL("online-inference", "on") GOOD ODD, ALL,
     "yes golden +60000\n"},
    {"batch does not have to", POOL("batch", "on") GOOD ODD, ALL, "yes golden +60000\n"},
    {"dev does not have to", POOL("dev", "on") GOOD ODD, ALL, "yes golden +60000\n"},
    {"a posture nobody knows is strict", POOL("lunar", "on") GOOD ODD, ALL,
     "no golden\n" DISAGREES("refused")},
    {"observe only says so", POOL("pre-training", "observe") GOOD ODD, ALL,
     "yes golden +60000\n" DISAGREES("warned")},
    {"warn only says so", POOL("pre-training", "warn") GOOD ODD, ALL,
     "yes golden +60000\n" DISAGREES("warned")},
    {"batch nodes stand by themselves all the same",
     POOL("batch", "on") GOOD "verdict b2 golden driver=575!580\nrun g2 b2\n", ALL,
     "no golden\nrefused drift g2 in train: driver: 575, pinned 580 (other version)\n"},
    {"half and half: the first ranks are the measure",
     TRAIN "verdict b4 golden driver=581\nrun g[1-2] b4\n", ALL,
     "no golden\nrefused disagrees g3 in train: driver 580, where 2 of 4 have 581\n"
     "refused disagrees g4 in train: driver 580, where 2 of 4 have 581\n"},
    {"three kinds",
     TRAIN "verdict b4 golden driver=581\nverdict b5 golden driver=582\n"
           "run g1 b4\nrun g2 b5\n",
     ALL,
     "no golden\nrefused disagrees g1 in train: driver 581, where 2 of 4 have 580\n"
     "refused disagrees g2 in train: driver 582, where 2 of 4 have 580\n"},
    {"what only one node's images bring is no difference",
     TRAIN "verdict b4 golden driver=580 nccl=2.28.9 nccl.build=aa\nrun g4 b4\n", ALL,
     "yes golden +60000\n"},
    {"what most have no value for, two others must agree in",
     TRAIN "verdict b3 golden driver=580 nccl=2.28.7\nrun g3 b3\n"
           "verdict b4 golden driver=580 nccl=2.28.9\nrun g4 b4\n",
     ALL, "no golden\nrefused disagrees g4 in train: nccl 2.28.9, where others of 4 have 2.28.7\n"},
    {"two verdicts may say the same", TRAIN "verdict b4 golden driver=580 nccl=\nrun g4 b4\n", ALL,
     "yes golden +60000\n"},
    {"two pools with two stacks disagree, though their values are the same",
     TRAIN SECOND("pre-training", "on"),
     {.nodes = "g[1-4],h1"},
     "no \nrefused disagrees h1 in second: stack 'lax', where 4 of 5 have 'golden'\n"},
    {"and where values differ too",
     TRAIN SECOND("pre-training", "on") "verdict x lax driver=590\nrun h1 x\n",
     {.nodes = "g[1-4],h1"},
     "no \nrefused disagrees h1 in second: driver 590, where 4 of 5 have 580, and another stack\n"},
    {"one pool of the gang that enforces is enough",
     POOL("pre-training", "observe") GOOD SECOND("pre-training", "on"),
     {.nodes = "g[1-4],h1"},
     "no \nrefused disagrees h1 in second: stack 'lax', where 4 of 5 have 'golden'\n"},
    {"also where the odd one only observes",
     TRAIN SECOND("pre-training", "observe"),
     {.nodes = "g[1-4],h1"},
     "no \nrefused disagrees h1 in second: stack 'lax', where 4 of 5 have 'golden'\n"},
    {"rollout workers carry their own version",
     POOL("post-training", "on") GOOD SECOND("online-inference", "on"),
     {.nodes = "g[1-4],h[1-2]"},
     "yes  +60000\n"},
    {"but stand by themselves",
     POOL("post-training", "on") GOOD SECOND("batch", "on") "hold h1\n",
     {.nodes = "g1,h[1-2]"},
     "no \nrefused held h1 in second: held by kim: fan\n"},
    {"the trainer beside rollout workers is strict",
     POOL("post-training", "on") GOOD ODD SECOND("batch", "on"),
     {.nodes = "g[1-4],h1"},
     "no \n" DISAGREES("refused")},
    {"dev never with production",
     TRAIN SECOND("dev", "on"),
     {.nodes = "g1,h1"},
     "no \nrefused posture in second: pools 'train' (pre-training) and 'second' (dev) do not share "
     "a job: one is production and one is not\n"},
    {"not even with batch, and one that enforces is enough",
     POOL("batch", "observe") GOOD SECOND("dev", "on"),
     {.nodes = "g1,h1"},
     "no \nrefused posture in second: pools 'train' (batch) and 'second' (dev) do not share a job: "
     "one is production and one is not\n"},
    {"dev with production where both observe",
     POOL("batch", "observe") GOOD SECOND("dev", "observe"),
     {.nodes = "g1,h1"},
     "yes  +60000\nwarned posture in second: pools 'train' (batch) and 'second' (dev) do not share "
     "a job: one is production and one is not\n"},
    {"pre-training with nothing else",
     TRAIN SECOND("batch", "on"),
     {.nodes = "g1,h1"},
     "no \nrefused posture in second: pools 'train' (pre-training) and 'second' (batch) do not "
     "share a job: a synchronous gang is of one posture\n"},
    {"not with post-training either",
     POOL("post-training", "on") GOOD SECOND("pre-training", "on"),
     {.nodes = "g1,h1"},
     "no \nrefused posture in train: pools 'second' (pre-training) and 'train' (post-training) do "
     "not share a job: a synchronous gang is of one posture\n"
     "refused disagrees h1 in second: stack 'lax', where 1 of 2 have 'golden'\n"},
    {"batch and inference",
     POOL("batch", "on") GOOD SECOND("online-inference", "on"),
     {.nodes = "g1,h1"},
     "yes  +60000\n"},
    {"a node of no pool has no posture that would fit",
     TRAIN "nodes x1 -\nrun x1 gold\n",
     {.nodes = "g1,x1"},
     "no \nrefused posture: pools 'train' (pre-training) and '' () do not share a job: a "
     "synchronous gang is of one posture\n"
     "warned unmeasured x1: it has no stack to be held against: its pool is not pinned\n"},
};

static void test_gangs(void)
{
    check_rows(gangs, LKS_COUNT(gangs));
}

/* What enforce means ------------------------------------------------------------------------- */

static const struct row enforce[] = {
    {"observe: it would have been no", POOL("pre-training", "observe") GOOD "hold g2\n", ALL,
     "yes golden +60000\nwarned held g2 in train: held by kim: fan\n"},
    {"warn: the same", POOL("pre-training", "warn") GOOD "hold g2\n", ALL,
     "yes golden +60000\nwarned held g2 in train: held by kim: fan\n"},
    {"an unknown node is a no whatever is enforced",
     POOL("dev", "observe") GOOD,
     {.nodes = "x1"},
     "no \nrefused unknown x1: no node 'x1' in the fleet\n"},
    {"behind, where nothing is enforced",
     POOL("dev", "observe") GOOD,
     {.nodes = "g1", .behind = 6000},
     "yes golden +60000\nwarned behind: this controller's knowledge may be 6000 ms old, and 5000 "
     "ms is the limit\n"},
    {"each node by its own pool",
     POOL("batch", "observe") GOOD SECOND("batch", "on") "hold g1\nhold h1\n",
     {.nodes = "g1,h1"},
     "no \nrefused held h1 in second: held by kim: fan\nwarned held g1 in train: held by kim: "
     "fan\n"},
    {"a stack that was asked for, observed",
     POOL("pre-training", "observe") GOOD,
     {.nodes = "g1", .stack = "lax"},
     "yes golden +60000\nwarned stack g1 in train: its stack is 'golden' (sha256:*)\n"},
    {"what is over in an observing pool does not end the yes",
     "pool train batch observe golden attested\n" GOOD,
     {.nodes = "g1"},
     "yes golden +60000\nwarned unattested g1 in train: it was never attested\n"},
};

static void test_enforce(void)
{
    check_rows(enforce, LKS_COUNT(enforce));
}

/* Overrides ---------------------------------------------------------------------------------- */

#define HELD "no golden\nrefused held g2 in train: held by kim: fan\n"
#define OVER(ms)                                                                                   \
    "yes golden +" ms " by override: deadline\nrefused held g2 in train: held by kim: fan\n"

static const struct row overrides[] = {
    {"a person says yes", TRAIN "hold g2\noverride j g[1-4] 600000\n", ALL, OVER("60000")},
    {"a yes lasts no longer than the override", TRAIN "hold g2\noverride j g[1-4] 30000\n", ALL,
     OVER("30000")},
    {"of several the longest",
     TRAIN "hold g2\noverride j g[1-4] 9000\noverride j g[1-9] 40000\n"
           "override j g[1-4] 20000\n",
     ALL, OVER("40000")},
    {"for more nodes than asked",
     TRAIN "hold g2\noverride j g[1-9] 600000\n",
     {.nodes = "g2"},
     OVER("60000")},
    {"for fewer", TRAIN "hold g2\noverride j g[1-3] 600000\n", ALL, HELD},
    {"for another job", TRAIN "hold g2\noverride k g[1-4] 600000\n", ALL, HELD},
    {"that is over just now", TRAIN "hold g2\noverride j g[1-4] 0\n", ALL, HELD},
    {"where the answer is yes it is not used", TRAIN "override j g[1-4] 30000\n", ALL,
     "yes golden +60000\n"},
    {"not for a node that is not there",
     TRAIN "override j g[1-4],x1 600000\n",
     {.nodes = "g1,x1"},
     "no \nrefused unknown x1: no node 'x1' in the fleet\n"},
    {"not for one that is being changed", TRAIN "changing g2 -\noverride j g[1-4] 600000\n", ALL,
     "no golden\nrefused changing g2 in train: changing since " START "\n"},
    {"not where others know more",
     TRAIN "override j g[1-4] 600000\n",
     {.nodes = "g1", .behind = 9000},
     "no golden\nrefused behind: this controller's knowledge may be 9000 ms old, and 5000 ms is "
     "the limit\n"},
    {"but where a change is only observed",
     POOL("pre-training", "observe")
         GOOD SECOND("pre-training", "on") "changing g1 golden\noverride j g1,h1 600000\n",
     {.nodes = "g1,h1"},
     "yes  +60000 by override: deadline\n"
     "refused disagrees h1 in second: stack 'lax', where 1 of 2 have 'golden'\n"
     "warned changing g1 in train: changing since " START "\n"},
};

static void test_overrides(void)
{
    check_rows(overrides, LKS_COUNT(overrides));
}

/* Images ------------------------------------------------------------------------------------- */

#define IMAGES                                                                                     \
    "image r.io/good:1 nccl=2.28.9 cudnn=9.7.0 cuda=12.8\n"                                        \
    "image r.io/good:2 nccl=2.28.9+cuda12.8 cudnn=9.7.0.66 cuda=12.8.1\n"                          \
    "image r.io/near:1 nccl=2.28.7 cudnn=9.7.0 cuda=12.8\n"                                        \
    "image r.io/old:1 nccl=2.20.5 cudnn=9.7.0 cuda=12.8\n"                                         \
    "image r.io/dnn:1 nccl=2.28.9 cudnn=8.9.7 cuda=12.8\n"                                         \
    "image r.io/half:1 nccl=2.28.9 cuda=12.8\n"                                                    \
    "image r.io/amd:1 rccl=2.27.7\n"
#define PINNED(posture, enforce, stack)                                                            \
    "pool train " posture " " enforce " " stack "\nnodes g[1-4] train\nverdict v " stack           \
    " driver=580 nccl=2.28.9\nrun g[1-4] v\n" IMAGES
#define UNRESOLVED(verb)                                                                           \
    verb " image r.io/x:1 in train: what it brings is not known: it is not in the catalogue "      \
         "(lockstep image add) nor in NVIDIA's tables\n"
#define OLD(verb, pin)                                                                             \
    verb " image r.io/old:1 in train: brings NCCL 2.20.5 (catalogue sbom), pinned " pin "\n"

#define WITH(list)                                                                                 \
    {                                                                                              \
        .nodes = "g[1-4]", .images = (list)                                                        \
    }

static const struct row images[] = {
    {"the pinned libraries", PINNED("pre-training", "on", "golden"), WITH("r.io/good:1"),
     "yes golden +60000\n"},
    {"in two images, each half of the ranks", PINNED("pre-training", "on", "golden"),
     WITH("r.io/good:1 0-1;r.io/good:2 2,3"), "yes golden +60000\n"},
    {"another NCCL", PINNED("pre-training", "on", "golden"), WITH("r.io/old:1"),
     "no golden\n" OLD("refused", "2.28.9")},
    {"another NCCL on some ranks", PINNED("pre-training", "on", "golden"),
     WITH("r.io/good:1 0-2;r.io/old:1 3"),
     "no golden\nrefused image r.io/old:1 3 in train: brings NCCL 2.20.5 (catalogue sbom), pinned "
     "2.28.9\n"},
    {"another NCCL, observed", PINNED("pre-training", "observe", "golden"), WITH("r.io/old:1"),
     "yes golden +60000\n" OLD("warned", "2.28.9")},
    {"another NCCL in a batch pool that pins it", PINNED("batch", "on", "golden"),
     WITH("r.io/old:1"), "no golden\n" OLD("refused", "2.28.9")},
    {"inside the window", PINNED("pre-training", "on", "lax"), WITH("r.io/near:1"),
     "yes lax +60000\n"},
    {"two builds inside the window", PINNED("pre-training", "on", "lax"),
     WITH("r.io/good:1 0-1;r.io/near:1 2-3"),
     "no lax\nrefused image r.io/near:1 2-3 in train: brings NCCL 2.28.7, where r.io/good:1 brings "
     "NCCL 2.28.9\n"},
    {"two builds where nobody has to agree", PINNED("batch", "on", "lax"),
     WITH("r.io/good:1 0-1;r.io/near:1 2-3"), "yes lax +60000\n"},
    {"outside the window", PINNED("pre-training", "on", "lax"), WITH("r.io/old:1"),
     "no lax\n" OLD("refused", "2.28.9, tested >=2.28.3 <2.29")},
    {"two builds where none is pinned", PINNED("pre-training", "on", "bare"),
     WITH("r.io/old:1 0;r.io/good:1 1-3"),
     "no bare\nrefused image r.io/good:1 1-3 in train: brings NCCL 2.28.9, where r.io/old:1 brings "
     "NCCL 2.20.5\n"},
    {"one build where none is pinned", PINNED("pre-training", "on", "bare"), WITH("r.io/old:1"),
     "yes bare +60000\n"},
    {"another cuDNN, which the stack leaves to images", PINNED("pre-training", "on", "golden"),
     WITH("r.io/dnn:1"),
     "no golden\nrefused image r.io/dnn:1 in train: brings cuDNN 8.9.7 (catalogue sbom), pinned "
     "9.7.0\n"},
    {"another cuDNN, which the stack installs", PINNED("pre-training", "on", "lax"),
     WITH("r.io/dnn:1"), "yes lax +60000\n"},
    {"a cuDNN that is not known", PINNED("pre-training", "on", "golden"), WITH("r.io/half:1"),
     "no golden\nrefused image r.io/half:1 in train: its cuDNN is not known (catalogue sbom)\n"},
    {"the same where it is not strict", PINNED("batch", "on", "golden"), WITH("r.io/half:1"),
     "yes golden +60000\nwarned image r.io/half:1 in train: its cuDNN is not known (catalogue "
     "sbom)\n"},
    {"not resolved: pre-training", PINNED("pre-training", "on", "golden"), WITH("r.io/x:1"),
     "no golden\n" UNRESOLVED("refused")},
    {"not resolved: post-training", PINNED("post-training", "on", "golden"), WITH("r.io/x:1"),
     "no golden\n" UNRESOLVED("refused")},
    {"not resolved: online inference", PINNED("online-inference", "on", "golden"), WITH("r.io/x:1"),
     "yes golden +60000\n" UNRESOLVED("warned")},
    {"not resolved: batch", PINNED("batch", "on", "golden"), WITH("r.io/x:1"),
     "yes golden +60000\n" UNRESOLVED("warned")},
    {"not resolved: strict, and observed", PINNED("pre-training", "warn", "golden"),
     WITH("r.io/x:1"), "yes golden +60000\n" UNRESOLVED("warned")},
    {"seen twice", PINNED("batch", "on", "golden") "image r.io/x:1 by=node:g1\n", WITH("r.io/x:1"),
     "yes golden +60000\nwarned image r.io/x:1 in train: what it brings is not known: layers, "
     "nodes "
     "differ in what they have under this name (lockstep image add)\n"},
    {"not resolved, and nobody cares", PINNED("batch", "on", "bare"), WITH("r.io/x:1"),
     "yes bare +60000\n"},
    {"NVIDIA's own", PINNED("pre-training", "on", "bare"),
     WITH("nvcr.io#nvidia/pytorch:26.06-py3 0;nvidia/pytorch:26.03-py3 1-3"),
     "no bare\nrefused image nvidia/pytorch:26.03-py3 1-3 in train: brings NCCL 2.29.7, where "
     "nvcr.io#nvidia/pytorch:26.06-py3 brings NCCL 2.30.5\n"},
    {"NVIDIA's, of which less is known", PINNED("pre-training", "on", "bare"),
     WITH("nvcr.io/nvidia/pytorch:25.01-py3"),
     "no bare\nrefused image nvcr.io/nvidia/pytorch:25.01-py3 in train: its NCCL is not known (NGC "
     "25.01)\n"},
    {"what the job says it loads",
     PINNED("pre-training", "on", "golden"),
     {.nodes = "g[1-4]", .nccl = "2.28.9"},
     "yes golden +60000\n"},
    {"another one",
     PINNED("pre-training", "on", "golden"),
     {.nodes = "g[1-4]", .nccl = "2.27.3"},
     "no golden\nrefused image in train: the job loads NCCL 2.27.3 (as it says), pinned 2.28.9\n"},
    {"not what its image brings",
     PINNED("pre-training", "on", "bare"),
     {.nodes = "g[1-4]", .images = "r.io/old:1", .nccl = "2.27.3"},
     "no bare\nrefused image r.io/old:1 in train: brings NCCL 2.20.5, where the job loads NCCL "
     "2.27.3\n"},
    {"a stack that is not in the book: what its nodes have counts",
     PINNED("pre-training", "on", "lost"), WITH("r.io/old:1"),
     "no lost\n" OLD("refused", "2.28.9")},
    {"AMD's", PINNED("pre-training", "on", "rocm"), WITH("r.io/amd:1"), "yes rocm +60000\n"},
    {"NVIDIA's image on AMD's nodes", PINNED("pre-training", "on", "rocm"), WITH("r.io/good:1"),
     "no rocm\nrefused image r.io/good:1 in train: its RCCL is not known (catalogue sbom)\n"},
    {"what the job says, on AMD's nodes",
     PINNED("pre-training", "on", "rocm"),
     {.nodes = "g[1-4]", .nccl = "2.28.9"},
     "no rocm\nrefused image in train: the job loads RCCL 2.28.9 (as it says), pinned 2.27.7\n"},
    {"rollout workers bring their own",
     PINNED("post-training", "on", "golden") SECOND(
         "batch", "on") "pool second batch on bare\nverdict w bare driver=580\nrun h[1-2] w\n",
     {.nodes = "g[1-4],h[1-2]", .images = "r.io/good:1 0-3;r.io/old:1 4-5"},
     "yes  +60000\n"},
    {"of two pools the one that enforces answers",
     PINNED("batch", "observe", "golden") SECOND("batch", "on"),
     {.nodes = "g1,h1", .images = "r.io/old:1"},
     "no \nrefused image r.io/old:1 in second: brings NCCL 2.20.5 (catalogue sbom), pinned 2.28.9, "
     "tested >=2.28.3 <2.29\n"},
};

static void test_images(void)
{
    check_rows(images, LKS_COUNT(images));
}

/* What is no question ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    struct question q;
    enum lks_code code;
    const char *message;
} refusals[] = {
    {"no node", {.nodes = ""}, LKS_E_INVALID, "none is named"},
    {"a node twice", {.nodes = "g1,g2,g1"}, LKS_E_INVALID, "node 'g1' is named twice"},
    {"a rank that is not there", WITH("r.io/x:1 4"), LKS_E_INVALID, "ranges of 0 to 3"},
    {"a range that ends too far", WITH("r.io/x:1 0-4"), LKS_E_INVALID, "image 'r.io/x:1'"},
    {"a range backwards", WITH("r.io/x:1 2-1"), LKS_E_INVALID, "such as 0-7,12"},
    {"ranks that are none", WITH("r.io/x:1 a"), LKS_E_INVALID, "must be numbers and ranges"},
    {"an empty range", WITH("r.io/x:1 1,,2"), LKS_E_INVALID, "must be numbers and ranges"},
    {"a comma at the end", WITH("r.io/x:1 1,"), LKS_E_INVALID, "must be numbers and ranges"},
    {"a rank many times over", WITH("r.io/x:1 0-3,0"), LKS_E_INVALID, "must be numbers and ranges"},
    {"an image without a name", WITH(" 1"), LKS_E_INVALID, "an image's name has 1 to 512"},
    {"an NCCL that is no version", {.nodes = "g1", .nccl = "new"}, LKS_E_INVALID, "NCCL 'new'"},
};

static void test_refusals(void)
{
    LKS_CLEANUP(lks_jobs_fini) struct lks_jobs j = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf told = {0};
    lks_buf_init(&told, TOLD_MAX);
    lks_jobs_init(&j, stacks);
    lks_jobs_tell(&j, TRAIN);
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        struct lks_err err = {0};
        lks_test_case("%s", refusals[i].name);
        CHECK_CODE(ask(&j, &refusals[i].q, &told, &err), refusals[i].code);
        CHECK_HAS(lks_str_from(err.msg), refusals[i].message);
    }
}

/* Names of jobs and the number of images have bounds. */
static void test_limits(void)
{
    LKS_CLEANUP(lks_jobs_fini) struct lks_jobs j = {0};
    static const struct lks_admit_image many[LKS_ADMIT_IMAGES_MAX + 1];
    char job[LKS_ADMIT_JOB_MAX + 1];
    const struct lks_str name = LKS_STR("g1");
    memset(job, 'j', sizeof(job));
    lks_jobs_init(&j, NULL);
    struct lks_book book = lks_jobs_book(&j);
    const struct {
        struct lks_admit_ask ask;
        enum lks_code code;
    } rows[] = {
        {{.job = {job, sizeof(job) - 1}, .names = &name, .count = 1}, LKS_OK},
        {{.job = {job, sizeof(job)}, .names = &name, .count = 1}, LKS_E_INVALID},
        {{.job = {job, 0}, .names = &name, .count = 1}, LKS_E_INVALID},
        {{.job = {"a\nb", 3}, .names = &name, .count = 1}, LKS_E_INVALID},
        {{.job = {job, 1},
          .names = &name,
          .count = 1,
          .images = many,
          .image_count = LKS_ADMIT_IMAGES_MAX + 1},
         LKS_E_LIMIT},
        {{.job = {job, 1}, .names = &name, .count = LKS_HOSTLIST_MAX + 1}, LKS_E_LIMIT},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_admit answer = {0};
        struct lks_err err = {0};
        lks_test_case("row %zu", i);
        CHECK_CODE(lks_admit(&j.asked.state, &book, j.asked.now, &rows[i].ask, &answer, &err),
                   rows[i].code);
        lks_admit_fini(&answer);
    }
}

/* So many reasons are spelled out, and the rest is counted. */
static void test_many(void)
{
    enum { NODES = LKS_ADMIT_LISTED_MAX + 10 };
    LKS_CLEANUP(lks_jobs_fini) struct lks_jobs j = {0};
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_admit_fini) struct lks_admit answer = {0};
    struct lks_hostlist list = {0};
    struct lks_err err = {0};
    char hosts[32];
    lks_jobs_init(&j, NULL);
    struct lks_book book = lks_jobs_book(&j);
    lks_arena_init(&arena, MEMORY);
    snprintf(hosts, sizeof(hosts), "x[1-%d]", NODES);
    LKS_ASSERT(lks_hostlist_parse(lks_str_from(hosts), &arena, &list, &err) == LKS_OK);
    const struct lks_admit_ask asked = {
        .job = LKS_STR("j"), .names = list.names, .count = list.count};
    CHECK_CODE(lks_admit(&j.asked.state, &book, j.asked.now, &asked, &answer, &err), LKS_OK);
    CHECK(!answer.yes);
    CHECK_INT(answer.refused.count, LKS_ADMIT_LISTED_MAX);
    CHECK_INT(answer.refused.total, NODES);
    CHECK_INT(answer.bars[LKS_BAR_UNKNOWN], NODES);
}

/* As JSON ------------------------------------------------------------------------------------ */

#define DIGEST                                                                                     \
    "\"digest\":\"sha256:dd56de4137951d9c92681b03416ec15f886b4482a27e3a517d32f085244cbe5d\","
#define SEQ "\"seq\":21,\"asked\":\"" START "\","

static void test_json(void)
{
    LKS_CLEANUP(lks_jobs_fini) struct lks_jobs j = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    const struct lks_str names[] = {LKS_STR("g1"), LKS_STR("g2")};
    struct lks_admit_ask asked = {.job = LKS_STR("j"), .names = names, .count = 1};
    struct lks_err err = {0};
    lks_jobs_init(&j, NULL);
    lks_jobs_tell(&j, TRAIN "hold g2\n");
    struct lks_book book = lks_jobs_book(&j);
    lks_buf_init(&text, TOLD_MAX);
    for (asked.count = 1; asked.count <= 2; asked.count++) {
        LKS_CLEANUP(lks_admit_fini) struct lks_admit answer = {0};
        struct lks_json_writer w = {.out = &text};
        CHECK_CODE(lks_admit(&j.asked.state, &book, j.asked.now, &asked, &answer, &err), LKS_OK);
        lks_json_begin(&w, NULL, '{');
        lks_admit_json(&answer, &asked, &w);
        lks_json_end(&w, '}');
        lks_buf_addc(&text, '\n');
    }
    CHECK_STR(lks_buf_view(&text),
              "{\"job\":\"j\",\"admitted\":true,\"stack\":\"golden\"," DIGEST SEQ
              "\"valid_until\":\"1970-01-01T00:17:40.000Z\",\"refused\":[],\"refused_total\":0,"
              "\"warned\":[],\"warned_total\":0}\n"
              "{\"job\":\"j\",\"admitted\":false,\"stack\":\"golden\"," DIGEST SEQ
              "\"refused\":[{\"reason\":\"held\",\"node\":\"g2\",\"pool\":\"train\",\"text\":"
              "\"held by kim: fan\"}],\"refused_total\":1,\"warned\":[],\"warned_total\":0}\n");
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"bars", test_bars},       {"gangs", test_gangs},
        {"enforce", test_enforce}, {"overrides", test_overrides},
        {"images", test_images},   {"refusals", test_refusals},
        {"limits", test_limits},   {"many", test_many},
        {"json", test_json},       {0},
    };
    return lks_test_main(tests);
}
