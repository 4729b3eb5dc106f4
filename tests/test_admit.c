#include "tests/admits.h"

#include "codec/notation/hostlist.h"
#include "tests/test.h"

#include <stdio.h>

enum { MEMORY = 64 << 20 };

/* Every reason ------------------------------------------------------------------------------- */

#define START "1970-01-01T00:16:40.000Z"

static const struct lks_admits_row bars[] = {
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
    {"also in what is no component",
     "pool train pre-training on golden deviations\n" GOOD
     "verdict b2 golden driver=580 settings.ecc=0!1\nrun g2 b2\ndeviation g2 *\n",
     ALL,
     "no golden\nrefused disagrees g2 in train: settings.ecc 0 by a deviation that 3 of 4 do not "
     "run\n"},
    {"the odd one is without it",
     "pool train pre-training on golden deviations\n" GOOD
     "verdict b2 golden driver=580 settings.ecc=0!1\nrun g[2-4] b2\ndeviation g[2-4] *\n",
     ALL,
     "no golden\nrefused disagrees g1 in train: not the deviation that 3 of 4 run: settings.ecc "
     "0\n"},
    {"all run it",
     "pool train pre-training on golden deviations\n" GOOD
     "verdict b2 golden driver=580 settings.ecc=0!1\nrun g[1-4] b2\ndeviation g[1-4] *\n",
     ALL, "yes golden +60000\n"},
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
    {"the one asked for, by name and version",
     TRAIN,
     {.nodes = "g1", .stack = "golden/1"},
     "yes golden +60000\n"},
    {"another version of it",
     TRAIN,
     {.nodes = "g1", .stack = "golden/2"},
     "no golden\nrefused stack g1 in train: its stack is 'golden' (sha256:*)\n"},
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
    lks_admits_check(bars, LKS_COUNT(bars));
}

/* Agreement ---------------------------------------------------------------------------------- */

/* g1 to g3 alike, g4 with another driver that its stack's window takes. */
#define ODD "verdict b4 golden driver=581 nccl=\nrun g4 b4\n"

#define DISAGREES(verb) verb " disagrees g4 in train: driver 581, where 3 of 4 have 580\n"

static const struct lks_admits_row gangs[] = {
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
    lks_admits_check(gangs, LKS_COUNT(gangs));
}

/* What enforce means ------------------------------------------------------------------------- */

static const struct lks_admits_row enforce[] = {
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
    lks_admits_check(enforce, LKS_COUNT(enforce));
}

/* Overrides ---------------------------------------------------------------------------------- */

#define HELD "no golden\nrefused held g2 in train: held by kim: fan\n"
#define OVER(ms)                                                                                   \
    "yes golden +" ms " by override: deadline\nrefused held g2 in train: held by kim: fan\n"

static const struct lks_admits_row overrides[] = {
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
    lks_admits_check(overrides, LKS_COUNT(overrides));
}

/* What is no question ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    struct lks_admits_question q;
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
    LKS_CLEANUP(lks_buf_fini) struct lks_buf told = LKS_BUF(LKS_ADMITS_TOLD_MAX);
    lks_jobs_init(&j, lks_admits_stacks);
    lks_jobs_tell(&j, TRAIN);
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        struct lks_err err = {0};
        lks_test_case("%s", refusals[i].name);
        CHECK_CODE(lks_admits_ask(&j, &refusals[i].q, &told, &err), refusals[i].code);
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

/* A stack that is asked for by digits of its digest, sha256 of "golden" here. */
static void test_digits(void)
{
    static const struct {
        const char *asked;
        bool yes;
    } rows[] = {
        {"sha256:dd56de4137951d9c92681b03416ec15f886b4482a27e3a517d32f085244cbe5d", true},
        {"sha256:dd56de41", true},
        {"sha256:dd56de42", false},
        {"dd56de413795", true},
        {"dd56de413796", false},
        {"dd56de41379", false},
        {"dd56de413795/1", false},
    };
    LKS_CLEANUP(lks_jobs_fini) struct lks_jobs j = {0};
    const struct lks_str name = LKS_STR("g1");
    lks_jobs_init(&j, NULL);
    lks_jobs_tell(&j, TRAIN);
    struct lks_book book = lks_jobs_book(&j);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_admit_fini) struct lks_admit answer = {0};
        const struct lks_admit_ask ask = {
            .job = LKS_STR("j"), .names = &name, .count = 1, .stack = lks_str_from(rows[i].asked)};
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].asked);
        CHECK_CODE(lks_admit(&j.asked.state, &book, j.asked.now, &ask, &answer, &err), LKS_OK);
        CHECK(answer.yes == rows[i].yes);
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
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_ADMITS_TOLD_MAX);
    const struct lks_str names[] = {LKS_STR("g1"), LKS_STR("g2")};
    struct lks_admit_ask asked = {.job = LKS_STR("j"), .names = names, .count = 1};
    struct lks_err err = {0};
    lks_jobs_init(&j, NULL);
    lks_jobs_tell(&j, TRAIN "hold g2\n");
    struct lks_book book = lks_jobs_book(&j);
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
        {"bars", test_bars},         {"gangs", test_gangs},
        {"enforce", test_enforce},   {"overrides", test_overrides},
        {"refusals", test_refusals}, {"limits", test_limits},
        {"digits", test_digits},     {"many", test_many},
        {"json", test_json},         {0},
    };
    return lks_test_main(tests);
}
