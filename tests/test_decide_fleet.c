#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/state/lookup.h"
#include "tests/asked.h"
#include "tests/facts.h"
#include "tests/manifests.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 64 << 20 };

#define STACK(name, kernel)                                                                        \
    "---\n" LKS_STACK_HGX_OF(name, "hgx-h100-8", kernel, "580.126.20", "2.28.9", "1.19.1", "")

#define HEAD             "lockstep: 1\nkind: Fleet\nname: f\n"
#define POOLS(list)      "pools: {" list "}\n"
#define TRAIN            "train: {posture: pre-training}"
#define DEV              "dev: {posture: dev}"
#define PINNED(s)        "train: {posture: pre-training, stack: " s "}"
#define NODES(list)      "nodes: [" list "]\n"
#define GROUP(h, p)      "{hosts: '" h "', pool: " p ", class: hgx-h100-8}"
#define SMALL            HEAD POOLS(TRAIN) NODES(GROUP("g[1-3]", "train"))
#define GOLD             STACK("gold", "6.8.0-71-generic")
#define GOLD2            STACK("gold", "6.8.0-72-generic")
#define SILVER           STACK("silver", "6.8.0-72-generic")
#define PIN(s)           HEAD POOLS(PINNED(s)) NODES(GROUP("g[1-3]", "train"))
#define PIN_OF_TWO(a, b) HEAD POOLS("dev: {posture: dev" b "}, train: {posture: pre-training" a "}")

/* As records read; digests are shown as '*'. */
#define R_FLEET        "fleet name=f manifest=* by=kim\n"
#define R_TRAIN        "pool name=train posture=pre-training enforce=observe sched=none"
#define R_DEV          "pool name=dev posture=dev enforce=observe sched=none"
#define R_PLACED(h, p) "placed hosts=" h " pool=" p " class=hgx-h100-8"
#define BY             " by=kim\n"
/* Enrolled nodes are not production any more. */
#define R_LEFT(nodes)                                                                              \
    "alarm id=1 alarm=lowered subject=dev text=kim moved " nodes                                   \
    " from production to pool 'dev', "                                                             \
    "which is not, the first is g1: commands by hand need no drain there\n"
#define CARE       " by=kim deviations=1 sweep=86400000\n" /* of a pool that says no more */
#define R_TAKEN(h) "accepted hosts=" h " by=kim reason=taken in with the fleet\n"
#define R_GONE(h)  "removed hosts=" h " by=kim reason=no longer in the fleet's file\n"
#define ONLY       "; only a change moves a pin"
#define NO_STACK(s)                                                                                \
    "invalid: pool 'train': no stack '" s "' in this file, and none is released in the registry; " \
    "write it beside the fleet, or see 'lockstep stack ls'"

static const struct {
    const char *name;
    const char *before; /* applied first, and accepted; NULL: nothing */
    const char *live;   /* then these enrol; host by host, separated by blanks */
    const char *file;
    bool accept;
    const char *told;
} rows[] = {
    {"a first fleet", NULL, "", SMALL, false, R_FLEET R_TRAIN CARE R_PLACED("g[1-3]", "train") BY},
    {"a first fleet, taken in at once", NULL, "", SMALL, true,
     R_FLEET R_TRAIN CARE R_PLACED("g[1-3]", "train") BY R_TAKEN("g[1-3]")},
    {"the same again", SMALL, "", SMALL, false, ""},
    {"the same again, taken in", SMALL, "g1 g2", SMALL, true, ""},
    {"a comment", SMALL, "g1", SMALL "# more to come\n", false, R_FLEET},
    {"another name", SMALL, "",
     "lockstep: 1\nkind: Fleet\nname: other\n" POOLS(TRAIN) NODES(GROUP("g[1-3]", "train")), false,
     "fleet name=other manifest=* by=kim\n"},
    {"two fleets", NULL, "",
     SMALL "---\nlockstep: 1\nkind: Fleet\nname: g\n" POOLS(TRAIN) NODES(GROUP("h1", "train")),
     false, "invalid: 2 documents of kind Fleet; one is applied at once"},
    {"a metric that is called as a gate", NULL, "",
     HEAD POOLS("train: {posture: pre-training, gate: {metrics: {soak: {query: up, better: higher, "
                "margin: 1}}}}") NODES(GROUP("g[1-3]", "train")),
     false, "invalid: pool 'train': 'soak' is a gate of every wave; call that metric otherwise"},
    {"a gate that soaks for a century", NULL, "",
     HEAD POOLS("train: {posture: pre-training, gate: {metrics: {sm-clock: {}}, min_soak: 40000d}}")
         NODES(GROUP("g[1-3]", "train")),
     false,
     "invalid: pool 'train': its gate soaks for more than 30 days; give min_soak a shorter span"},
    {"a gate that waits for one", NULL, "",
     HEAD POOLS("train: {posture: pre-training, gate: {metrics: {sm-clock: {}}, max_soak: 31d}}")
         NODES(GROUP("g[1-3]", "train")),
     false,
     "invalid: pool 'train': its gate soaks for more than 30 days; give max_soak a shorter span"},
    {"no fleet", NULL, "", GOLD, false,
     "invalid: 0 documents of kind Fleet; one is applied at once"},

    {"one more node", SMALL, "g1", HEAD POOLS(TRAIN) NODES(GROUP("g[1-4]", "train")), false,
     R_FLEET R_PLACED("g4", "train") BY},
    {"one more node, taken in", SMALL, "g1", HEAD POOLS(TRAIN) NODES(GROUP("g[1-4]", "train")),
     true, R_FLEET R_PLACED("g4", "train") BY R_TAKEN("g4")},
    {"one group written as two", SMALL, "g1",
     HEAD POOLS(TRAIN) NODES(GROUP("g1", "train") ", " GROUP("g[2-3]", "train")), false, R_FLEET},
    {"some move to a rack", SMALL, "g1",
     HEAD POOLS(TRAIN) NODES(GROUP("g2", "train") ", {hosts: 'g1,g3', pool: train, class: "
                                                  "hgx-h100-8, rack: R7}"),
     false, R_FLEET R_PLACED("g[1,3]", "train") " rack=R7" BY},
    {"everything about a place", SMALL, "",
     HEAD POOLS(TRAIN) "sites: {fra: {}}\npower_zones: {z: {site: fra}}\ndomains: {d: {}}\n" NODES(
         "{hosts: 'g[1-3]', pool: train, class: hgx-h100-8, site: fra, rack: R7, domain: d, "
         "power_zone: z, cooling_loop: c, hardware_revision: r, supplier: s, side: a}"),
     false,
     R_FLEET R_PLACED("g[1-3]", "train") " site=fra rack=R7 domain=d power_zone=z cooling_loop=c "
                                         "hardware_revision=r supplier=s side=a" BY},
    {"assets", SMALL, "", SMALL "assets: [{hosts: 'sw[1-2]', class: switch-tray}]\n", true,
     R_FLEET "placed hosts=sw[1-2] asset=switch-tray" BY},
    {"an asset that was a node", SMALL, "",
     HEAD POOLS(TRAIN) NODES(GROUP("g[1-2]", "train")) "assets: [{hosts: g3, class: switch}]\n",
     false, R_FLEET "placed hosts=g3 asset=switch" BY},

    {"another posture", SMALL, "g1",
     HEAD POOLS("train: {posture: batch}") NODES(GROUP("g[1-3]", "train")), false,
     R_FLEET "pool name=train posture=batch enforce=observe sched=none" CARE},
    {"all else about a pool", SMALL, "g1",
     HEAD POOLS("train: {posture: pre-training, criticality: 7, enforce: warn, sched: slurm}")
         NODES(GROUP("g[1-3]", "train")),
     false,
     R_FLEET "pool name=train posture=pre-training criticality=7 enforce=warn sched=slurm" CARE},
    {"all care for nodes", SMALL, "g1",
     HEAD POOLS("train: {posture: pre-training, on_drift: [propose, alarm, drain], deviations: "
                "refuse, attested: true, check_hours: 48, sweep_hours: 6}")
         NODES(GROUP("g[1-3]", "train")),
     false,
     R_FLEET R_TRAIN " by=kim on_drift=alarm drain propose attested=1 check_age=172800000 "
                     "sweep=21600000\n"},
    {"care alone moves no pin", PIN("gold") GOLD, "g1",
     HEAD POOLS("train: {posture: pre-training, stack: gold, enforce: 'on', on_drift: [drain]}")
         NODES(GROUP("g[1-3]", "train")),
     false,
     R_FLEET "pool name=train posture=pre-training enforce=on sched=none stack=gold stack_digest=*"
             " by=kim on_drift=drain deviations=1 sweep=86400000\n"},
    {"a pool comes, another goes", SMALL, "g1", HEAD POOLS(DEV) NODES(GROUP("g[1-3]", "dev")),
     false,
     R_FLEET R_DEV CARE R_PLACED("g[1-3]", "dev") BY
     "pool-removed name=train by=kim\n" R_LEFT("1 enrolled node")},

    {"a node goes", SMALL, "g1 g2", HEAD POOLS(TRAIN) NODES(GROUP("g[1-2]", "train")), false,
     R_FLEET R_GONE("g3")},
    {"nodes and their pool go",
     HEAD POOLS(TRAIN ", " DEV) NODES(GROUP("g[1-3]", "train") ", " GROUP("h[1-2]", "dev")), "g1",
     SMALL, false, R_FLEET R_GONE("h[1-2]") "pool-removed name=dev by=kim\n"},
    {"one of them is enrolled",
     HEAD POOLS(TRAIN ", " DEV) NODES(GROUP("g[1-3]", "train") ", " GROUP("h[1-2]", "dev")), "h1",
     SMALL, false,
     "refused: enrolled and not in this file (1): h1; write them down, or take them out first "
     "with 'lockstep node rm'"},
    {"nodes that are enrolled go", SMALL, "g2 g3", HEAD POOLS(TRAIN) NODES(GROUP("g1", "train")),
     false,
     "refused: enrolled and not in this file (2): g[2-3]; write them down, or take them out first "
     "with 'lockstep node rm'"},

    {"a first pin", SMALL, "g1 g2", PIN("gold") GOLD, false,
     R_FLEET R_TRAIN " stack=gold stack_digest=*" CARE},
    {"a pin from the start", NULL, "", PIN("gold") GOLD, false,
     R_FLEET R_TRAIN " stack=gold stack_digest=*" CARE R_PLACED("g[1-3]", "train") BY},
    {"no such stack", SMALL, "", PIN("gold"), false, NO_STACK("gold")},
    {"nearly such a stack", SMALL, "", PIN("gould") GOLD, false,
     NO_STACK("gould") "; did you mean 'gold'?"},
    {"the pin's stack is written elsewhere", PIN("gold") GOLD, "g1", PIN("gold"), false, R_FLEET},
    {"another pin, written elsewhere", PIN("gold") GOLD, "", PIN("silver"), false,
     NO_STACK("silver")},
    {"another pin, nobody enrolled", PIN("gold") GOLD, "", PIN("silver") SILVER, false,
     R_FLEET R_TRAIN " stack=silver stack_digest=*" CARE},
    {"another pin", PIN("gold") GOLD, "g1 g3", PIN("silver") SILVER, false,
     "refused: pool 'train' is pinned to 'gold' and has enrolled nodes (2), but in this file it "
     "names another stack" ONLY},
    {"a pin of the same name", PIN("gold") GOLD, "g1", PIN("gold") GOLD2, false,
     "refused: pool 'train' is pinned to 'gold' and has enrolled nodes (1), but in this file that "
     "stack has another digest" ONLY},
    {"no pin any more", PIN("gold") GOLD, "g1", SMALL, false,
     "refused: pool 'train' is pinned to 'gold' and has enrolled nodes (1), but in this file it "
     "names none" ONLY},
    {"no pin any more, nobody enrolled", PIN("gold") GOLD, "", SMALL, false, R_FLEET R_TRAIN CARE},
    {"the same stack under another name", PIN("silver") SILVER, "g1", PIN("gold") GOLD2, false,
     R_FLEET R_TRAIN " stack=gold stack_digest=*" CARE},

    {"between pools with one stack",
     PIN_OF_TWO(", stack: gold", ", stack: gold") NODES(GROUP("g[1-3]", "train")) GOLD, "g1 g2",
     PIN_OF_TWO(", stack: gold", ", stack: gold")
         NODES(GROUP("g[1-2]", "dev") ", " GROUP("g3", "train")) GOLD,
     false, R_FLEET R_PLACED("g[1-2]", "dev") BY R_LEFT("2 enrolled nodes")},
    {"between pools with two stacks",
     PIN_OF_TWO(", stack: gold", ", stack: silver") NODES(GROUP("g[1-3]", "train")) GOLD SILVER,
     "g1 g2",
     PIN_OF_TWO(", stack: gold", ", stack: silver") NODES(GROUP("g[1-3]", "dev")) GOLD SILVER,
     false,
     "refused: g[1-2]: enrolled in a pool that is pinned to another stack than 'dev'; only a "
     "change moves nodes between stacks"},
    {"between pools with two stacks, nobody enrolled",
     PIN_OF_TWO(", stack: gold", ", stack: silver") NODES(GROUP("g[1-3]", "train")) GOLD SILVER, "",
     PIN_OF_TWO(", stack: gold", ", stack: silver") NODES(GROUP("g[1-3]", "dev")) GOLD SILVER,
     false, R_FLEET R_PLACED("g[1-3]", "dev") BY},
    {"out of a pool without a stack",
     PIN_OF_TWO("", ", stack: silver") NODES(GROUP("g[1-3]", "train")) SILVER, "g1",
     PIN_OF_TWO("", ", stack: silver") NODES(GROUP("g[1-3]", "dev")) SILVER, false,
     R_FLEET R_PLACED("g[1-3]", "dev") BY R_LEFT("1 enrolled node")},
    {"into a pool without a stack",
     PIN_OF_TWO(", stack: gold", "") NODES(GROUP("g[1-3]", "train")) GOLD, "g1",
     PIN_OF_TWO(", stack: gold", "") NODES(GROUP("g[1-3]", "dev")) GOLD, false,
     "refused: g1: enrolled in a pool that is pinned to another stack than 'dev'; only a change "
     "moves nodes between stacks"},
};

/* "sha256:" and what follows it, as '*'. */
static void shorten(struct lks_str text, struct lks_buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        struct lks_str rest = {text.ptr + i, text.len - i};
        bool digest = lks_str_starts(rest, "sha256:") && rest.len >= LKS_DIGEST_SIZE - 1;
        lks_buf_addc(out, digest ? '*' : text.ptr[i]);
        i += digest ? LKS_DIGEST_SIZE - 2 : 0;
    }
}

static void check_told(struct lks_str told, const char *want)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    shorten(told, &text);
    CHECK_STR(text.ptr != NULL ? lks_buf_view(&text) : LKS_STR(""), want);
}

static void enrol(struct lks_asked *a, const char *list)
{
    struct lks_str rest = lks_str_from(list), word;
    while (lks_str_word(&rest, &word)) {
        char name[16];
        snprintf(name, sizeof(name), "%" LKS_STR_FMT, LKS_STR_ARG(word));
        lks_asked_live(a, name);
    }
}

static const struct lks_event taking = {.by = LKS_STR_C("kim"), .fleet = {.accept = true}};

/* Each row, and that whatever was taken is taken in full: the same file again changes nothing. */
static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_asked_init(&a);
        if (rows[i].before != NULL)
            lks_asked_fleet(&a, rows[i].before, &taking);
        enrol(&a, rows[i].live);
        const struct lks_event *event = rows[i].accept ? &taking : NULL;
        check_told(lks_asked_fleet(&a, rows[i].file, event), rows[i].told);
        if (a.decision.refused.code == LKS_OK)
            check_told(lks_asked_fleet(&a, rows[i].file, event), "");
    }
}

/* What was placed and never accepted, whether seen or not, is taken in by a later apply. */
static void test_accept_later(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    lks_asked_fleet(&a, SMALL, NULL);
    lks_asked_live(&a, "g2");
    lks_asked_apply(
        &a, &(struct lks_record){.kind = LKS_RECORD_INTAKE, .intake = {.node = LKS_STR("g2")}});
    CHECK(a.state.nodes[lks_state_node(&a.state, LKS_STR("g2"))].intake);
    check_told(lks_asked_fleet(&a, SMALL, &taking), R_TAKEN("g[1-3]"));
    CHECK(!a.state.nodes[lks_state_node(&a.state, LKS_STR("g2"))].intake);
    check_told(lks_asked_fleet(&a, SMALL, &taking), "");
}

/* The digest of a pin is that of the stack beside the fleet, and stays when the file no longer has
 * the stack. */
static void test_pin(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    lks_asked_fleet(&a, PIN("gold") GOLD SILVER, NULL);
    uint32_t pool = lks_state_pool(&a.state, LKS_STR("train"));
    if (!CHECK(pool != UINT32_MAX) || !CHECK_INT(a.manifest.stack_count, 2))
        return;
    char digest[LKS_DIGEST_SIZE];
    memcpy(digest, a.manifest.stacks[0].digest, sizeof(digest));
    CHECK_STR(lks_state_text(&a.state, a.state.pools[pool].stack_digest), digest);
    lks_asked_fleet(&a, PIN("gold"), NULL);
    CHECK_INT(a.manifest.stack_count, 0);
    CHECK_STR(lks_state_text(&a.state, a.state.pools[pool].stack_digest), digest);
    CHECK_STR(lks_state_text(&a.state, a.state.pools[pool].stack), "gold");
}

/* What the registry says of the stack whose digest `a->manifest` has first. */
static void step(struct lks_asked *a, enum lks_stack_step to)
{
    lks_asked_apply(
        a, &(struct lks_record){
               .kind = LKS_RECORD_STEPPED,
               .stepped = {.digest = lks_str_from(a->manifest.stacks[0].digest), .step = to}});
}

#define DEV_PIN                                                                                    \
    HEAD POOLS("train: {posture: dev, stack: gold}") NODES(GROUP("g[1-3]", "train")) GOLD
#define NOT_RELEASED(step)                                                                         \
    "refused: pool 'train' (pre-training) is production and takes only released stacks; 'gold' "   \
    "(*) is " step ": "

/* A production pool is pinned to what was released; one for development to anything. */
static void test_released(void)
{
    static const struct {
        enum lks_stack_step step;
        const char *told;
    } steps[] = {
        {LKS_STEP_CANDIDATE, NOT_RELEASED("candidate") "promote it with 'lockstep stack promote'"},
        {LKS_STEP_LAB, NOT_RELEASED("lab") "promote it with 'lockstep stack promote'"},
        {LKS_STEP_CANARY, NOT_RELEASED("canary") "promote it with 'lockstep stack promote'"},
        {LKS_STEP_RETIRED, NOT_RELEASED("retired") "pin another: 'lockstep stack ls'"},
    };
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    a.unreleased = true;
    check_told(lks_asked_fleet(&a, PIN("gold") GOLD, NULL),
               NOT_RELEASED("not published") "publish it with 'lockstep stack publish', then lead "
                                             "it step by step to 'released' with 'lockstep stack "
                                             "promote'");
    CHECK_HAS(lks_asked_fleet(&a, DEV_PIN, NULL), "posture=dev");
    lks_asked_release(&a, &a.manifest);
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        step(&a, steps[i].step);
        check_told(lks_asked_fleet(&a, PIN("gold") GOLD, NULL), steps[i].told);
    }
    step(&a, LKS_STEP_RELEASED);
    check_told(lks_asked_fleet(&a, PIN("gold") GOLD, NULL),
               R_FLEET R_TRAIN " stack=gold stack_digest=*" CARE);
    step(&a, LKS_STEP_RETIRED);
    check_told(lks_asked_fleet(&a, PIN("gold") GOLD, NULL), ""); /* it was pinned so before */
}

/* By name alone: what was released last, and a pin that is there stays. */
static void test_registry(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest newer = {0};
    struct lks_err err = {0};
    char first[LKS_DIGEST_SIZE];
    lks_asked_init(&a);
    lks_asked_fleet(&a, SMALL GOLD, NULL);
    memcpy(first, a.manifest.stacks[0].digest, sizeof(first));
    CHECK_CODE(lks_manifest_parse("f", LKS_STR(GOLD2), lks_test_facts(), NULL, &newer, &err),
               LKS_OK);
    a.now.wall += 1000;
    lks_asked_release(&a, &newer);
    lks_asked_fleet(&a, PIN("gold"), NULL);
    const struct lks_state_pool *pool = &a.state.pools[lks_state_pool(&a.state, LKS_STR("train"))];
    CHECK_STR(lks_state_text(&a.state, pool->stack_digest), newer.stacks[0].digest);
    a.now.wall += 1000;
    lks_asked_apply(&a, &(struct lks_record){
                            .kind = LKS_RECORD_STEPPED,
                            .stepped = {.digest = lks_str_from(first), .step = LKS_STEP_RELEASED}});
    lks_asked_live(&a, "g1");
    check_told(lks_asked_fleet(&a, PIN("gold") "# again\n", NULL), R_FLEET);
    CHECK_STR(lks_state_text(&a.state, pool->stack_digest), newer.stacks[0].digest);
    check_told(lks_asked_fleet(&a,
                               HEAD POOLS(PINNED("gold") ", dev: {posture: dev, stack: gold}")
                                   NODES(GROUP("g[1-3]", "train")),
                               NULL),
               R_FLEET R_DEV " stack=gold stack_digest=*" CARE);
    pool = &a.state.pools[lks_state_pool(&a.state, LKS_STR("dev"))];
    CHECK_STR(lks_state_text(&a.state, pool->stack_digest), first); /* released last */
}

/* A node that was taken out comes back with the next apply, as a new one; so does a pool. */
static void test_return(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    lks_asked_fleet(&a, HEAD POOLS(TRAIN ", " DEV) NODES(GROUP("g[1-3]", "dev")), &taking);
    lks_asked_fleet(&a, SMALL, &taking);
    lks_asked_apply(
        &a, &(struct lks_record){.kind = LKS_RECORD_REMOVED, .removed = {.hosts = LKS_STR("g2")}});
    check_told(lks_asked_fleet(&a, SMALL, &taking), R_PLACED("g2", "train") BY R_TAKEN("g2"));
    check_told(lks_asked_fleet(&a, HEAD POOLS(DEV) NODES(GROUP("g[1-3]", "dev")), NULL),
               R_FLEET R_DEV CARE R_PLACED("g[1-3]", "dev") BY "pool-removed name=train by=kim\n");
}

static void test_reason(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    struct lks_event e = taking;
    lks_asked_fleet(&a, SMALL, NULL);
    e.reason = LKS_STR("row 7 is here");
    check_told(lks_asked_fleet(&a, HEAD POOLS(TRAIN) NODES(GROUP("g[2-4]", "train")), &e),
               "fleet name=f manifest=* by=kim reason=row 7 is here\n" R_PLACED("g4", "train") BY
               "accepted hosts=g[2-4] by=kim reason=row 7 is here\n"
               "removed hosts=g1 by=kim reason=row 7 is here\n");
    e.reason = LKS_STR("two\nlines");
    check_told(lks_asked_fleet(&a, SMALL, &e), "invalid: a reason is one line of printable text");
}

/* Message of a long list. */
static void test_many(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    lks_asked_fleet(&a, HEAD POOLS(TRAIN) NODES(GROUP("g[1-1000]", "train")), NULL);
    for (int i = 2; i <= 1000; i++) {
        char name[16];
        snprintf(name, sizeof(name), "g%d", i);
        lks_asked_live(&a, name);
    }
    CHECK_HAS(lks_asked_fleet(&a, HEAD POOLS(TRAIN) NODES(GROUP("g1", "train")), NULL),
              "refused: enrolled and not in this file (999): g[2-101]...; write");
}

/* Names that do not fold make host lists longer than one may be: then there are several records,
 * and together they name every host once. */
static void test_unfoldable(void)
{
    enum { HOSTS = 40000 };
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(TEXT_MAX);
    lks_asked_init(&a);
    lks_buf_addf(&file, HEAD POOLS(TRAIN) "nodes:\n");
    for (unsigned i = 0; i < HOSTS; i++) {
        if (i % 50 == 0)
            lks_buf_addf(&file, "%s- {pool: train, class: hgx-h100-8, hosts: '",
                         i > 0 ? "'}\n" : "");
        lks_buf_addf(&file, "%sa-node-with-a-name-that-is-much-too-long-%ua%ux",
                     i % 50 > 0 ? "," : "", i * 7919, i);
    }
    lks_buf_addf(&file, "'}\n");
    LKS_ASSERT(file.failed == LKS_OK);
    lks_asked_fleet(&a, file.ptr, &taking);
    size_t accepted = 0;
    for (size_t i = 0; i < a.decision.count; i++)
        accepted += a.decision.records[i].kind == LKS_RECORD_ACCEPTED;
    CHECK(accepted > 1);
    CHECK_INT(a.state.placed_count, HOSTS);
    for (uint32_t n = 0; n < a.state.node_count; n++) {
        if (!CHECK(a.state.nodes[n].accepted))
            break;
    }
    CHECK_STR(lks_asked_fleet(&a, file.ptr, &taking), "");
}

/* A large fleet is one record for each group however many nodes there are. */
static void test_large(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    check_told(lks_asked_fleet(&a,
                               HEAD POOLS(TRAIN ", " DEV) NODES(
                                   GROUP("g[000001-099999]", "train") ", " GROUP("h1", "dev")),
                               &taking),
               R_FLEET R_TRAIN CARE R_DEV CARE R_PLACED("g[000001-099999]", "train")
                   BY R_PLACED("h1", "dev") BY R_TAKEN("g[000001-099999],h1"));
    check_told(lks_asked_fleet(&a,
                               HEAD POOLS(TRAIN ", " DEV)
                                   NODES(GROUP("g[000001-050000,050002-099999]",
                                               "train") ", " GROUP("h1,g050001", "dev")),
                               NULL),
               R_FLEET R_PLACED("g050001", "dev") BY);
    CHECK_INT(a.state.placed_count, 100000);
}

/* How far a file reaches: 12 nodes of train, 12 of spare; the first `enrolled` of each enrolled. */
#define TWO(a, b, more)                                                                            \
    HEAD "pools:\n  train: {posture: pre-training, stack: gold" more "}\n"                         \
         "  spare: {posture: batch, stack: gold}\n"                                                \
         "sites: {fra: {}}\nnodes:\n- {hosts: 'g[" a "]', pool: train, class: hgx-h100-8}\n"       \
         "- {hosts: 'g[" b "]', pool: spare, class: hgx-h100-8}\n"
#define REACHES(n, gpus)                                                                           \
    "refused: this file affects " n " with " gpus " GPUs, and one call may touch 10 "              \
    "(limits.call_nodes): read it with --dry-run, and repeat the numbers to confirm: --nodes "
#define ELSE                                                                                       \
    "refused: this file affects 12 enrolled nodes with 96 GPUs, and other numbers were "           \
    "confirmed; "                                                                                  \
    "read it again with --dry-run"

static const struct {
    const char *name;
    int enrolled; /* of each pool, the first ones */
    const char *file;
    struct lks_touched said;
    bool dry;
    uint64_t nodes;   /* that it reaches */
    const char *told; /* or how it is refused */
} reaches[] = {
    {"nothing", 12, TWO("01-12", "13-24", ""), {0}, false, 0, ""},
    {"more nodes, that never enrolled",
     12,
     TWO("01-12,25-90", "13-24", ""),
     {0},
     false,
     0,
     "placed hosts=g[25-90] "},
    {"moved, that never enrolled", 0, TWO("01-24", "25", ""), {0}, false, 0, "placed hosts="},
    {"ten that are moved",
     12,
     TWO("01-12,13-22", "23-24", ""),
     {0},
     false,
     10,
     "placed hosts=g[13-22] "},
    {"eleven",
     12,
     TWO("01-12,13-23", "24", ""),
     {0},
     false,
     0,
     "refused: 11 enrolled nodes would be of another pool, and one call may move 10 "
     "(limits.call_nodes): move them a few at a time"},
    {"eleven, and it is said", 12, TWO("01-12,13-23", "24", ""), {11, 0}, false, 0, "refused: 11 "},
    {"eleven, and it is only tried",
     12,
     TWO("01-12,13-23", "24", ""),
     {0},
     true,
     0,
     "refused: 11 "},
    {"a rule of a small pool",
     10,
     TWO("01-12", "13-24", ", enforce: 'on'"),
     {0},
     false,
     10,
     "enforce=on"},
    {"of a large one",
     12,
     TWO("01-12", "13-24", ", enforce: 'on'"),
     {0},
     false,
     0,
     REACHES("12 enrolled nodes", "96") "12 --gpus 96"},
    {"of a large one, and GPUs are not said",
     12,
     TWO("01-12", "13-24", ", enforce: 'on'"),
     {12, 0},
     false,
     0,
     REACHES("12 enrolled nodes", "96") "12 --gpus 96"},
    {"of a large one, and nodes are not said",
     12,
     TWO("01-12", "13-24", ", enforce: 'on'"),
     {0, 96},
     false,
     0,
     REACHES("12 enrolled nodes", "96") "12 --gpus 96"},
    {"of a large one, and both are said",
     12,
     TWO("01-12", "13-24", ", enforce: 'on'"),
     {12, 96},
     false,
     12,
     "enforce=on"},
    {"with nodes that are left out, and with a number",
     12,
     TWO("02-12", "13-24", ""),
     {1, 8},
     false,
     0,
     "refused: enrolled and not in this file (1): g01"},
    {"with other GPUs", 12, TWO("01-12", "13-24", ", enforce: 'on'"), {12, 95}, false, 0, ELSE},
    {"with another number", 12, TWO("01-12", "13-24", ", enforce: 'on'"), {11, 0}, false, 0, ELSE},
    {"with another number, and few are meant",
     1,
     TWO("01-12", "13-24", ", enforce: 'on'"),
     {2, 0},
     false,
     0,
     "refused: this file affects 1 enrolled node with 8 GPUs, and other numbers were confirmed"},
    {"of a large one, and it is only tried",
     12,
     TWO("01-12", "13-24", ", enforce: 'on'"),
     {0},
     true,
     12,
     "enforce=on"},
    {"another posture",
     12,
     TWO("01-12", "13-24", ", criticality: 7"),
     {0},
     false,
     0,
     REACHES("12 enrolled nodes", "96") "12 --gpus 96"},
};

static void test_reaches(void)
{
    for (size_t i = 0; i < LKS_COUNT(reaches); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", reaches[i].name);
        lks_asked_init(&a);
        CHECK_HAS(lks_asked_fleet(&a, TWO("01-12", "13-24", "") GOLD, NULL), "fleet ");
        for (int n = 1; n <= 24; n++) {
            char name[8];
            snprintf(name, sizeof(name), "g%02d", n);
            if ((n - 1) % 12 < reaches[i].enrolled)
                lks_asked_live(&a, name);
        }
        char text[4096];
        snprintf(text, sizeof(text), "%s%s", reaches[i].file, GOLD);
        const struct lks_event e = {.by = LKS_STR("kim"),
                                    .fleet = {.said = reaches[i].said, .dry = reaches[i].dry}};
        CHECK_HAS(lks_asked_fleet(&a, text, &e), reaches[i].told);
        bool refused = a.decision.refused.code != LKS_OK;
        CHECK(refused == (strncmp(reaches[i].told, "refused", 7) == 0));
        if (!refused)
            CHECK_INT(a.decision.touched.nodes, reaches[i].nodes);
    }
}

/* Taken in by the file, as by 'node release': those that wait already are counted. */
static void test_reaches_accepted(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_event e = {.by = LKS_STR("kim"), .fleet = {.accept = true}};
    lks_asked_init(&a);
    CHECK_HAS(lks_asked_fleet(&a, TWO("01-12", "13-24", "") GOLD, NULL), "fleet ");
    for (int n = 1; n <= 12; n++) {
        char name[8];
        snprintf(name, sizeof(name), "g%02d", n);
        lks_asked_live(&a, name);
    }
    CHECK_HAS(lks_asked_fleet(&a, TWO("01-12", "13-24", "") GOLD, &e),
              REACHES("12 enrolled nodes", "96") "12 --gpus 96");
    e.fleet.said = (struct lks_touched){12, 96};
    CHECK_HAS(lks_asked_fleet(&a, TWO("01-12", "13-24", "") GOLD, &e), "accepted hosts=g[01-24] ");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"fleet: what a file leads to", test_rows},
        {"fleet: accepted by a later apply", test_accept_later},
        {"fleet: the digest of a pin", test_pin},
        {"fleet: production runs what was released", test_released},
        {"fleet: a stack of the registry", test_registry},
        {"fleet: what went comes back", test_return},
        {"fleet: a reason is kept", test_reason},
        {"fleet: a long list in a message", test_many},
        {"fleet: names that do not fold", test_unfoldable},
        {"fleet: a large one", test_large},
        {"fleet: how far a file reaches", test_reaches},
        {"fleet: how many a file takes in", test_reaches_accepted},
        {0},
    });
}
