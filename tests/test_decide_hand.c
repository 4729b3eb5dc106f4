/* What production may be given: by a change, and by hand; and what is done by hand while it is
 * frozen. */
#include "core/actions/sched.h"
#include "core/governance/delta.h"
#include "core/rows/change.h"
#include "core/rows/node.h"
#include "core/rows/registry.h"
#include "core/rules/decide.h"
#include "core/state/lookup.h"
#include "model/manifest/bundle.h"
#include "tests/facts.h"
#include "tests/fleet.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MANIFEST_MAX = 1 << 16 };
#define HOUR ((lks_ms)3600 * LKS_SECOND)
#define T    LKS_STR_C
#define BMC                                                                                        \
    "bmc: {url: 'https://bmc-{host}.example', credentials: 'file:/etc/bmc', trust: fingerprint}"
#define DIGEST(d) "sha256:000000000000000000000000000000000000000000000000000000000000000" d
#define IMAGE     DIGEST("1")
#define BUNDLE    DIGEST("a")
#define PACKAGE   DIGEST("5") /* of the stack "golden" */
#define STRANGER  DIGEST("6")

/* t1 to t4 of "train" run "golden" and are production, d1 of "lab" does too and is not; "silver"
 * has another containerd and was published only. Pool "new" is production and pins nothing. */
static void add_stack(struct lks_buf *text, const char *name, const char *containerd)
{
    struct lks_str rest = lks_str_from(lks_test_node_stack), line;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        if (lks_str_starts(line, "name:"))
            lks_buf_addf(text, "name: %s\n", name);
        else if (lks_str_starts(line, "  containerd:"))
            lks_buf_addf(text, "  containerd: {version: '%s', artifacts: ['" PACKAGE "']}\n",
                         containerd);
        else
            lks_buf_addf(text, "%" LKS_STR_FMT "\n", LKS_STR_ARG(line));
    }
    lks_buf_addf(text, "---\n");
}

#define FLEET                                                                                      \
    "lockstep: 1\nkind: Fleet\nname: f\npools:\n"                                                  \
    "  train: {posture: pre-training, stack: golden}\n"                                            \
    "  lab: {posture: dev, stack: golden}\n"                                                       \
    "  new: {posture: batch}\n"                                                                    \
    "domains: {rack1: {}}\n"                                                                       \
    "nodes:\n"                                                                                     \
    "- {hosts: 't[1-3]', pool: train, class: hgx-h200-8, " BMC "}\n"                               \
    "- {hosts: t4, pool: train, class: hgx-h200-8, domain: rack1, " BMC "}\n"                      \
    "- {hosts: d1, pool: lab, class: hgx-h200-8, " BMC "}\n"                                       \
    "- {hosts: n1, pool: new, class: hgx-h200-8, " BMC "}\n"                                       \
    "assets:\n- {hosts: s1, class: power-shelf, domain: rack1, " BMC "}\n"

/* Both stacks are published, "golden" is released. */
static void publish(struct lks_asked *a, struct lks_str text)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest parsed = {0};
    struct lks_err err = {0};
    LKS_ASSERT(lks_manifest_parse("f", text, lks_test_facts(), NULL, &parsed, &err) == LKS_OK);
    for (size_t i = 0; i < parsed.stack_count; i++) {
        const struct lks_stack *stack = &parsed.stacks[i];
        bool golden = lks_str_is(stack->name, "golden");
        const struct lks_record records[] = {
            {.kind = LKS_RECORD_PUBLISHED,
             .published = {.digest = lks_str_from(stack->digest),
                           .name = stack->name,
                           .artifacts = golden ? LKS_STR(PACKAGE) : LKS_STR("")}},
            {.kind = LKS_RECORD_STEPPED,
             .stepped = {.digest = lks_str_from(stack->digest), .step = LKS_STEP_RELEASED}},
        };
        for (size_t r = 0; r < (golden ? 2 : 1); r++)
            lks_asked_apply(a, &records[r]);
    }
}

static void begin(struct lks_asked *a)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(MANIFEST_MAX);
    lks_asked_init(a);
    a->unreleased = true;
    add_stack(&text, "golden", "1.7.28");
    add_stack(&text, "silver", "1.7.29");
    lks_buf_addf(&text, "%s", FLEET);
    publish(a, lks_buf_view(&text));
    CHECK_HAS(lks_asked_fleet(a, text.ptr, NULL), "fleet name=f");
    for (uint32_t n = 0; n < a->state.node_count; n++) {
        if (a->state.nodes[n].asset == 0)
            lks_asked_live(a, lks_state_name(&a->state, n).ptr);
    }
}

static struct lks_str digest_of(const struct lks_asked *a, const char *name)
{
    for (uint32_t i = 0; i < a->state.stack_count; i++) {
        if (lks_str_is(lks_state_text(&a->state, a->state.stacks[i].name), name))
            return lks_state_text(&a->state, a->state.stacks[i].digest);
    }
    return LKS_STR("");
}

static void step_to(struct lks_asked *a, const char *name, enum lks_stack_step step)
{
    const struct lks_record r = {.kind = LKS_RECORD_STEPPED,
                                 .stepped = {.digest = digest_of(a, name), .step = step}};
    lks_asked_apply(a, &r);
}

/* Who agreed to a deviation, and is an approver of everything; "": nobody. The word of whoever
 * added it, and somebody whose role ended since. */
#define NAMED  "named"
#define LAPSED "lapsed"

static void agree(struct lks_asked *a, const char *approver)
{
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_GRANTED,
         .granted = {.identity = lks_str_from(approver), .role = LKS_ROLE_APPROVER}},
        {.kind = LKS_RECORD_DEVIATION_AGREED,
         .deviation_agreed = {.id = a->state.next_deviation - 1, .by = lks_str_from(approver)}},
        {.kind = LKS_RECORD_UNGRANTED,
         .ungranted = {.identity = lks_str_from(approver), .role = LKS_ROLE_APPROVER}},
    };
    if (approver[0] == '\0' || strcmp(approver, NAMED) == 0)
        return;
    for (size_t i = 0; i < (strcmp(approver, LAPSED) == 0 ? 3 : 2); i++)
        lks_asked_apply(a, &records[i]);
}

/* A deviation of those nodes, in the subject and value, by an approver or none, for an hour. */
static void deviate(struct lks_asked *a, const char *hosts, const char *what, const char *value,
                    const char *approver)
{
    const struct lks_record r = {.kind = LKS_RECORD_DEVIATION,
                                 .deviation = {.id = a->state.next_deviation,
                                               .hosts = lks_str_from(hosts),
                                               .subject = lks_str_from(what),
                                               .value = lks_str_from(value),
                                               .owner = T("user:kim"),
                                               .approver = lks_str_from(approver),
                                               .reason = T("tried"),
                                               .expires = a->now.wall + HOUR}};
    lks_asked_apply(a, &r);
    agree(a, approver);
}

static struct lks_str told_of(struct lks_asked *a, const struct lks_event *e)
{
    (void)lks_asked_dry(a, e);
    return a->decision.refused.code != LKS_OK ? lks_str_from(a->decision.refused.msg)
                                              : LKS_STR("yes");
}

/* By a change ------------------------------------------------------------------------------- */

#define NOT_TAKEN(node, name, is)                                                                  \
    node ": pool 'train' (pre-training) is production and takes only released stacks; '" name      \
         "' is " is ": "

static const struct {
    const char *name, *hosts;
    enum lks_stack_step step;
    const char *deviates, *approver; /* nodes that may differ in anything */
    const char *told;
} proposals[] = {
    {"released", "t1", LKS_STEP_RELEASED, "", "", "yes"},
    {"a candidate", "t1", LKS_STEP_CANDIDATE, "", "", NOT_TAKEN("t1", "silver", "candidate")},
    {"in the lab", "t1", LKS_STEP_LAB, "", "", NOT_TAKEN("t1", "silver", "lab")},
    {"a canary", "t1", LKS_STEP_CANARY, "", "", NOT_TAKEN("t1", "silver", "canary")},
    {"a candidate in a pool of posture dev", "d1", LKS_STEP_CANDIDATE, "", "", "yes"},
    {"one node of production among others", "d1,t3", LKS_STEP_CANDIDATE, "", "",
     NOT_TAKEN("t3", "silver", "candidate")},
    {"approved for these nodes", "t[1-2]", LKS_STEP_CANDIDATE, "t[1-2]", "user:ann", "yes"},
    {"approved by nobody", "t[1-2]", LKS_STEP_CANDIDATE, "t[1-2]", "",
     NOT_TAKEN("t1", "silver", "candidate")},
    {"an approver is named, and did not agree", "t[1-2]", LKS_STEP_CANDIDATE, "t[1-2]", NAMED,
     NOT_TAKEN("t1", "silver", "candidate")},
    {"an approver agreed, who is none any more", "t[1-2]", LKS_STEP_CANDIDATE, "t[1-2]", LAPSED,
     NOT_TAKEN("t1", "silver", "candidate")},
    {"approved for one of them", "t[1-2]", LKS_STEP_CANDIDATE, "t1", "user:ann",
     NOT_TAKEN("t2", "silver", "candidate")},
};

static struct lks_event propose(const char *hosts)
{
    return (struct lks_event){
        .kind = LKS_EVENT_PROPOSE,
        .by = T("user:kim"),
        .reason = T("newer"),
        .propose = {.wish = {.hosts = lks_str_from(hosts),
                             .stack = T("silver"),
                             .hook = T("site-install")}},
    };
}

static void test_proposals(void)
{
    for (size_t i = 0; i < LKS_COUNT(proposals); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", proposals[i].name);
        begin(&a);
        if (proposals[i].step != LKS_STEP_CANDIDATE)
            step_to(&a, "silver", proposals[i].step);
        if (proposals[i].deviates[0] != '\0')
            deviate(&a, proposals[i].deviates, "*", "", proposals[i].approver);
        struct lks_event e = propose(proposals[i].hosts);
        CHECK_HAS(told_of(&a, &e), proposals[i].told);
    }
}

/* What was approved for an hour is not begun after it, and never becomes what the pool pins. */
static void test_late(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_event e = propose("t[1-4]");
    const struct lks_event start = {
        .kind = LKS_EVENT_CHANGE_MOVE,
        .by = T("user:kim"),
        .reason = T("now"),
        .move = {.change = 1, .order = LKS_ORDERED_START, .glass = true}};
    begin(&a);
    deviate(&a, "t[1-4],s1", "*", "", "user:ann");
    CHECK_HAS(lks_asked(&a, &e), "change id=1 ");
    CHECK(a.state.changes[0].quorum > 0); /* nobody approved it beforehand */
    uint32_t train = lks_state_pool(&a.state, LKS_STR("train"));
    struct lks_str silver = digest_of(&a, "silver"), golden = digest_of(&a, "golden");
    CHECK(!lks_delta_pins(&a.state, lks_test_facts(), train, silver));
    CHECK(lks_delta_pins(&a.state, lks_test_facts(), train, golden));
    CHECK_STR(told_of(&a, &start), "yes");
    lks_fleet_wait(&a, HOUR);
    CHECK_HAS(told_of(&a, &start), NOT_TAKEN("t4", "silver", "candidate"));
}

/* A stack that only lies beside the fleet's file, or was retired, is no better by hand. */
static void test_condition(void)
{
    static const struct {
        const char *name, *node, *stack;
        const char *told;
    } rows[] = {
        {"to what it pins", "t1", "golden", "yes"},
        {"to a candidate", "t1", "silver", NOT_TAKEN("t1", "silver", "candidate")},
        {"outside production", "d1", "silver", "yes"},
        {"to nothing in particular", "t1", "", "yes"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", rows[i].name);
        begin(&a);
        const struct lks_event e = {.kind = LKS_EVENT_CONDITION,
                                    .by = T("user:kim"),
                                    .name = lks_str_from(rows[i].node),
                                    .condition = {.condition = LKS_CONDITION_CHANGING,
                                                  .on = true,
                                                  .stack = rows[i].stack[0] != '\0'
                                                               ? digest_of(&a, rows[i].stack)
                                                               : LKS_STR(""),
                                                  .text = T("by hand")}};
        CHECK_HAS(told_of(&a, &e), rows[i].told);
    }
}

/* By hand ----------------------------------------------------------------------------------- */

#define UNPINNED(node, what)                                                                       \
    node ": pool 'train' (pre-training) is production, and its stack 'golden' does not pin " what  \
         ": "

static const struct {
    const char *name, *node;
    enum lks_bmc_act act;
    const char *component, *version;
    const char *what, *value, *approver; /* a deviation of the node; "": none */
    const char *told;
} flashes[] = {
    {"what the stack pins", "t1", LKS_BMC_UPDATE, "bmc", "25.02.11", "", "", "", "yes"},
    {"another version", "t1", LKS_BMC_UPDATE, "bmc", "25.03.01", "", "", "",
     UNPINNED("t1", "bmc 25.03.01")},
    {"staged is begun, too", "t1", LKS_BMC_STAGE, "bmc", "25.03.01", "", "", "",
     UNPINNED("t1", "bmc 25.03.01")},
    {"and activated", "t1", LKS_BMC_ACTIVATE, "bmc", "25.03.01", "", "", "",
     UNPINNED("t1", "bmc 25.03.01")},
    {"inside its tested window", "t1", LKS_BMC_UPDATE, "nic", "28.46.2000", "", "", "", "yes"},
    {"outside of it", "t1", LKS_BMC_UPDATE, "nic", "28.47.0", "", "", "",
     UNPINNED("t1", "nic 28.47.0")},
    {"an entry by its id", "t1", LKS_BMC_UPDATE, "HGX_FW_GPU_1", "96.00.A5.00.1A", "", "", "",
     "yes"},
    {"and of another version", "t1", LKS_BMC_UPDATE, "HGX_FW_GPU_1", "97", "", "", "",
     UNPINNED("t1", "HGX_FW_GPU_1 97")},
    {"what the stack says nothing of", "t1", LKS_BMC_UPDATE, "cpld", "3.0", "", "", "",
     UNPINNED("t1", "cpld 3.0")},
    {"approved for a time", "t1", LKS_BMC_UPDATE, "bmc", "25.03.01", "firmware/bmc", "25.03.01",
     "user:ann", "yes"},
    {"approved is any", "t1", LKS_BMC_UPDATE, "bmc", "25.03.01", "*", "", "user:ann", "yes"},
    {"approved is another", "t1", LKS_BMC_UPDATE, "bmc", "25.03.01", "firmware/bmc", "25.04",
     "user:ann", UNPINNED("t1", "bmc 25.03.01")},
    {"noted and not approved", "t1", LKS_BMC_UPDATE, "bmc", "25.03.01", "firmware/bmc", "", "",
     UNPINNED("t1", "bmc 25.03.01")},
    {"an approver is named, and did not agree", "t1", LKS_BMC_UPDATE, "bmc", "25.03.01",
     "firmware/bmc", "", NAMED, UNPINNED("t1", "bmc 25.03.01")},
    {"outside production", "d1", LKS_BMC_UPDATE, "bmc", "25.03.01", "", "", "", "yes"},
    {"where nothing is pinned", "n1", LKS_BMC_UPDATE, "bmc", "25.03.01", "", "", "", "yes"},
    {"back to the other bank", "t1", LKS_BMC_SWITCH, "bmc", "", "", "", "", "yes"},
    {"given up", "t1", LKS_BMC_ABORT, "bmc", "", "", "", "", "yes"},
    {"an asset among nodes of production", "s1", LKS_BMC_UPDATE, "power-shelf", "2.0", "", "", "",
     "s1: its domain is production, and its stack 'golden' does not pin power-shelf 2.0: "},
};

static const struct lks_bundle *said_of(const char *component, const char *version)
{
    static struct lks_bundle_artifact artifact;
    static struct lks_bundle said;
    artifact = (struct lks_bundle_artifact){.name = T("a"),
                                            .digest = T(IMAGE),
                                            .size = 7,
                                            .component = lks_str_from(component),
                                            .version = lks_str_from(version),
                                            .kind = LKS_BUNDLE_FIRMWARE};
    said =
        (struct lks_bundle){.name = T("fw"), .version = T("1"), .artifacts = &artifact, .count = 1};
    return &said;
}

static void ready(struct lks_asked *a, const char *node)
{
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_ARTIFACT, .artifact = {.digest = T(IMAGE), .name = T("x"), .size = 7}},
        {.kind = LKS_RECORD_BUNDLE, .bundle = {.digest = T(BUNDLE), .artifacts = T(IMAGE)}},
        {.kind = LKS_RECORD_CONDITION,
         .condition = {.node = lks_str_from(node),
                       .condition = LKS_CONDITION_CHANGING,
                       .on = true}},
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        lks_asked_apply(a, &records[i]);
}

/* It is held, and its agent looked for processes and came to this outcome, `ago` ms before now. */
static void look(struct lks_asked *a, const char *node, enum lks_outcome outcome, const char *boot,
                 lks_ms ago)
{
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_COMMAND,
         .command = {.id = a->state.next_command,
                     .node = lks_str_from(node),
                     .boot = lks_str_from(boot),
                     .executor = T("idle"),
                     .expires = a->now.wall + HOUR}},
        {.kind = LKS_RECORD_COMMAND_ENDED,
         .command_ended = {.id = a->state.next_command,
                           .node = lks_str_from(node),
                           .outcome = outcome,
                           .text = outcome == LKS_OUTCOME_DONE ? LKS_STR("no GPU process")
                                                               : LKS_STR("2 GPU processes")}},
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        lks_asked_apply(a, &records[i]);
    a->now.wall += ago;
}

static void hold(struct lks_asked *a, const char *node)
{
    const struct lks_record r = {.kind = LKS_RECORD_HELD, .held = {.node = lks_str_from(node)}};
    lks_asked_apply(a, &r);
}

static void empty(struct lks_asked *a, const char *node)
{
    hold(a, node);
    look(a, node, LKS_OUTCOME_DONE, "b1", 0);
}

static struct lks_event flash(const struct lks_asked *a, const char *node, enum lks_bmc_act act,
                              const char *component, const char *version)
{
    return (struct lks_event){
        .kind = LKS_EVENT_FLASH,
        .by = T("user:kim"),
        .reason = T("by hand"),
        .name = lks_str_from(node),
        .said = said_of(component, version),
        .flash = {.act = act,
                  .component = lks_str_from(component),
                  .version = lks_str_from(version),
                  .bundle = version[0] != '\0' ? LKS_STR(BUNDLE) : LKS_STR(""),
                  .one_way = true,
                  .deadline = a->now.wall + HOUR}};
}

static void test_flashes(void)
{
    for (size_t i = 0; i < LKS_COUNT(flashes); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", flashes[i].name);
        begin(&a);
        ready(&a, flashes[i].node);
        if (flashes[i].node[0] != 's')
            empty(&a, flashes[i].node);
        if (flashes[i].what[0] != '\0')
            deviate(&a, flashes[i].node, flashes[i].what, flashes[i].value, flashes[i].approver);
        struct lks_event e =
            flash(&a, flashes[i].node, flashes[i].act, flashes[i].component, flashes[i].version);
        CHECK_HAS(told_of(&a, &e), flashes[i].told);
    }
}

#define NOT_IN                                                                                     \
    "t1: pool 'train' (pre-training) is production, and its stack 'golden' does not have "

static const struct {
    const char *name, *node, *digests;
    const char *approver; /* of a deviation in anything; NULL: there is none */
    const char *told;
} orders[] = {
    {"without an artifact", "t1", "", NULL, "yes"},
    {"with one of the stack", "t1", PACKAGE, NULL, "yes"},
    {"with another", "t1", STRANGER, NULL, NOT_IN STRANGER ": "},
    {"with both", "t1", PACKAGE " " STRANGER, NULL, NOT_IN STRANGER ": "},
    {"approved for a time", "t1", STRANGER, "user:ann", "yes"},
    {"noted and not approved", "t1", STRANGER, "", NOT_IN STRANGER ": "},
    {"outside production", "d1", STRANGER, NULL, "yes"},
    {"where nothing is pinned", "n1", STRANGER, NULL, "yes"},
};

static struct lks_event order(const struct lks_asked *a, const char *node, const char *digests)
{
    return (struct lks_event){.kind = LKS_EVENT_COMMAND,
                              .by = T("user:kim"),
                              .reason = T("by hand"),
                              .name = lks_str_from(node),
                              .command = {.executor = T("apt"),
                                          .digests = lks_str_from(digests),
                                          .expires = a->now.wall + HOUR}};
}

static void vouch(struct lks_asked *a, const char *artifacts)
{
    const struct lks_record r = {
        .kind = LKS_RECORD_BUNDLE,
        .bundle = {.digest = T(DIGEST("b")), .artifacts = lks_str_from(artifacts)}};
    lks_asked_apply(a, &r);
}

static void test_orders(void)
{
    for (size_t i = 0; i < LKS_COUNT(orders); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", orders[i].name);
        begin(&a);
        empty(&a, orders[i].node);
        vouch(&a, PACKAGE " " STRANGER);
        if (orders[i].approver != NULL)
            deviate(&a, orders[i].node, "*", "", orders[i].approver);
        struct lks_event e = order(&a, orders[i].node, orders[i].digests);
        CHECK_HAS(told_of(&a, &e), orders[i].told);
    }
}

/* Promises 1 and 9 -------------------------------------------------------------------------- */

/* Everything that counts for a command by hand, each value with each other: the rules for steps
 * hold in every pool but those of posture dev, and a verdict is needed everywhere. */
enum drained { IN_SERVICE, HELD, CHANGING, DRAINED_COUNT };
enum process { UNREAD, IDLE, BUSY, OLD, OTHER_BOOT, BEFORE, PROCESS_COUNT };
enum artifact { NONE, UNKNOWN, VERDICT, REVOKED, ARTIFACT_COUNT };

static const char *const drained_words[] = {"in service", "held", "changing"};
static const char *const process_words[] = {"unread",
                                            "idle",
                                            "busy",
                                            "read long ago",
                                            "read in a boot before",
                                            "read before it was drained"};
static const char *const artifact_words[] = {"no artifact", "an unknown artifact",
                                             "a verified artifact", "a revoked artifact"};

static void drain(struct lks_asked *a, const char *node, enum drained drained)
{
    const struct lks_record changing = {
        .kind = LKS_RECORD_CONDITION,
        .condition = {.node = lks_str_from(node), .condition = LKS_CONDITION_CHANGING, .on = true}};
    if (drained == HELD)
        hold(a, node);
    else if (drained == CHANGING)
        lks_asked_apply(a, &changing);
}

static void process(struct lks_asked *a, const char *node, enum process process)
{
    if (process == IDLE || process == BEFORE)
        look(a, node, LKS_OUTCOME_DONE, "b1", 1);
    else if (process == BUSY)
        look(a, node, LKS_OUTCOME_FAILED, "b1", 1);
    else if (process == OLD)
        look(a, node, LKS_OUTCOME_DONE, "b1", HOUR);
    else if (process == OTHER_BOOT)
        look(a, node, LKS_OUTCOME_DONE, "b0", 1);
}

static void judge(struct lks_asked *a, enum artifact artifact)
{
    const struct lks_record revoked = {.kind = LKS_RECORD_BUNDLE_REVOKED,
                                       .bundle_revoked = {.digest = T(DIGEST("b"))}};
    if (artifact == VERDICT || artifact == REVOKED)
        vouch(a, PACKAGE);
    if (artifact == REVOKED)
        lks_asked_apply(a, &revoked);
}

static const char *expected(bool dev, enum drained d, enum process p, enum artifact f)
{
    static const char *const by_process[] = {
        [UNREAD] = "its agent did not read its GPU processes",
        [IDLE] = "yes",
        [BUSY] = "its agent did not find it idle (2 GPU processes)",
        [OLD] = "its agent did not read its GPU processes",
        [OTHER_BOOT] = "its agent did not read its GPU processes",
        [BEFORE] = "its agent did not read its GPU processes",
    };
    if (f == UNKNOWN || f == REVOKED)
        return "no verified bundle names " PACKAGE;
    if (dev)
        return "yes";
    return d == IN_SERVICE ? "it is in service; drain it first" : by_process[p];
}

static void test_rules(void)
{
    enum { ALL = 2 * DRAINED_COUNT * PROCESS_COUNT * ARTIFACT_COUNT };
    for (unsigned i = 0; i < ALL; i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        const char *node = i % 2 == 0 ? "t1" : "d1";
        enum drained d = i / 2 % DRAINED_COUNT;
        enum process p = i / 2 / DRAINED_COUNT % PROCESS_COUNT;
        enum artifact f = i / 2 / DRAINED_COUNT / PROCESS_COUNT;
        lks_test_case("%s, %s, %s, %s", node, drained_words[d], process_words[p],
                      artifact_words[f]);
        begin(&a);
        if (p == BEFORE)
            process(&a, node, p);
        drain(&a, node, d);
        if (p != BEFORE)
            process(&a, node, p);
        judge(&a, f);
        struct lks_event e = order(&a, node, f == NONE ? "" : PACKAGE);
        CHECK_HAS(told_of(&a, &e), expected(node[0] == 'd', d, p, f));
        e.command.executor = LKS_STR("idle"); /* only reads: at any time */
        CHECK_HAS(told_of(&a, &e), expected(true, d, p, f));
    }
}

/* The same of updates; an asset looks at the nodes of its domain. What is staged or given up
 * disrupts nobody. */
static void test_flash_rules(void)
{
    static const struct {
        const char *name, *node, *empties;
        enum lks_bmc_act act;
        const char *told;
    } rows[] = {
        {"a node that is not read", "t1", NULL, LKS_BMC_UPDATE,
         "its agent did not read its GPU processes"},
        {"an idle node", "t1", "t1", LKS_BMC_UPDATE, "yes"},
        {"a switch of banks", "t1", NULL, LKS_BMC_SWITCH,
         "its agent did not read its GPU processes"},
        {"an activation", "t1", NULL, LKS_BMC_ACTIVATE, "its agent did not read its GPU processes"},
        {"what is only staged", "t1", NULL, LKS_BMC_STAGE, "yes"},
        {"what is given up", "t1", NULL, LKS_BMC_ABORT, "yes"},
        {"posture dev", "d1", NULL, LKS_BMC_UPDATE, "yes"},
        {"an asset beside a node in service", "s1", NULL, LKS_BMC_SWITCH,
         "t4: pool 'train' (pre-training) is production, and it is in service"},
        {"an asset beside an idle node", "s1", "t4", LKS_BMC_SWITCH, "yes"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", rows[i].name);
        begin(&a);
        ready(&a, rows[i].node);
        if (rows[i].empties != NULL)
            empty(&a, rows[i].empties);
        bool versioned = rows[i].act <= LKS_BMC_ACTIVATE;
        struct lks_event e =
            flash(&a, rows[i].node, rows[i].act, rows[i].node[0] == 's' ? "power-shelf" : "bmc",
                  versioned ? "25.02.11" : "");
        CHECK_HAS(told_of(&a, &e), rows[i].told);
    }
}

/* Where a scheduler places jobs, a hold counts only once it reports the node as drained, and what
 * the agent read before that says nothing. */
static struct lks_event answer(struct lks_asked *a, const char *owner, bool drained)
{
    return (struct lks_event){
        .kind = LKS_EVENT_SCHED,
        .node = lks_state_node(&a->state, LKS_STR("n1")),
        .sched = {.drained = drained, .owner = lks_str_from(owner), .text = LKS_STR("as played")}};
}

static void hear(struct lks_asked *a, const char *owner, bool drained)
{
    struct lks_event e = answer(a, owner, drained);
    (void)lks_asked(a, &e);
}

static const char not_there[] = " does not report it as drained for a hold: run 'lockstep node "
                                "hold n1', and wait until 'lockstep node show n1' has 'emptied'";

enum sched_act {
    NOTHING,
    HOLD_IT,
    DRAINED,
    DRAINED_FOR_CHANGE,
    JOB,
    LOST,
    SILENT,
    IDLE_READ,
    RELEASED
};

static void do_sched(struct lks_asked *a, enum sched_act act)
{
    char owner[LKS_SCHED_HOLD_SIZE];
    snprintf(owner, sizeof(owner), "hold:%" PRIu64,
             a->state.nodes[lks_state_node(&a->state, LKS_STR("n1"))].held_row);
    a->now.wall += LKS_SECOND;
    if (act == HOLD_IT)
        hold(a, "n1");
    else if (act == DRAINED || act == JOB)
        hear(a, owner, act == DRAINED);
    else if (act == DRAINED_FOR_CHANGE)
        hear(a, "change:3", true);
    else if (act == LOST)
        hear(a, "", false);
    else if (act == SILENT)
        (void)lks_asked(a, &(struct lks_event){.kind = LKS_EVENT_SCHED,
                                               .node = lks_state_node(&a->state, LKS_STR("n1")),
                                               .sched = {.unknown = true,
                                                         .refused = true,
                                                         .owner = LKS_STR(""),
                                                         .text = LKS_STR("no answer")}});
    else if (act == IDLE_READ)
        look(a, "n1", LKS_OUTCOME_DONE, "b1", 1);
    else if (act == RELEASED)
        lks_asked_apply(
            a, &(struct lks_record){.kind = LKS_RECORD_UNHELD, .unheld = {.node = T("n1")}});
}

static const struct {
    const char *name, *sched;
    enum sched_act acts[6];
    const char *told;
} scheduled[] = {
    {"on hold, and not drained", "slurm", {HOLD_IT, IDLE_READ}, "slurm"},
    {"drained, and not read since", "slurm", {HOLD_IT, IDLE_READ, DRAINED}, "its agent did not"},
    {"drained and read", "slurm", {HOLD_IT, DRAINED, IDLE_READ}, "yes"},
    {"a job runs there", "slurm", {HOLD_IT, JOB, IDLE_READ}, "slurm"},
    {"its change is over, and its drain not yet the hold's",
     "slurm",
     {HOLD_IT, DRAINED_FOR_CHANGE, IDLE_READ},
     "yes"},
    {"the drain was ended", "slurm", {HOLD_IT, DRAINED, IDLE_READ, LOST}, "slurm"},
    {"and made again", "slurm", {HOLD_IT, DRAINED, IDLE_READ, LOST, DRAINED}, "its agent did not"},
    {"the scheduler is silent", "slurm", {HOLD_IT, DRAINED, IDLE_READ, SILENT}, "slurm"},
    {"and answers again", "slurm", {HOLD_IT, DRAINED, SILENT, DRAINED, IDLE_READ}, "yes"},
    {"drained without a hold", "slurm", {DRAINED, IDLE_READ}, "it is in service"},
    {"the hold ended", "slurm", {HOLD_IT, DRAINED, IDLE_READ, RELEASED}, "it is in service"},
    {"without a driver", "lsf", {HOLD_IT, DRAINED, IDLE_READ}, "drain nodes in scheduler lsf yet"},
};

static void test_sched(void)
{
    for (size_t i = 0; i < LKS_COUNT(scheduled); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        const struct lks_record pool = {.kind = LKS_RECORD_POOL,
                                        .pool = {.name = T("new"),
                                                 .posture = T("batch"),
                                                 .enforce = T("observe"),
                                                 .sched = lks_str_from(scheduled[i].sched)}};
        lks_test_case("%s", scheduled[i].name);
        begin(&a);
        lks_asked_apply(&a, &pool);
        for (size_t k = 0; k < LKS_COUNT(scheduled[i].acts); k++)
            do_sched(&a, scheduled[i].acts[k]);
        struct lks_event e = order(&a, "n1", "");
        struct lks_str told = told_of(&a, &e);
        CHECK_HAS(told, scheduled[i].told);
        bool refused = strcmp(scheduled[i].told, scheduled[i].sched) == 0;
        CHECK(!refused || lks_str_find(told, lks_str_from(not_there)) >= 0);
    }
}

/* Frozen ------------------------------------------------------------------------------------ */

#define SINCE                                                                                      \
    " is frozen by user:ops since 1970-01-01T00:16:40.000Z (storage incident); ask an approver "   \
    "to end it: lockstep unfreeze"

static const struct {
    const char *name, *pool; /* NULL: nothing is frozen; "": the fleet */
    const char *node;
    enum lks_bmc_act act;
    const char *told;
} freezes[] = {
    {"nothing", NULL, "t1", LKS_BMC_UPDATE, "yes"},
    {"its pool", "train", "t1", LKS_BMC_UPDATE, "t1: pool 'train'" SINCE " --pool train"},
    {"the fleet", "", "t1", LKS_BMC_UPDATE, "t1: the fleet" SINCE},
    {"another pool", "lab", "t1", LKS_BMC_UPDATE, "yes"},
    {"a pool outside production", "lab", "d1", LKS_BMC_UPDATE, "d1: pool 'lab'" SINCE},
    {"the pool of an asset's neighbours", "train", "s1", LKS_BMC_UPDATE, "s1: pool 'train'" SINCE},
    {"what is given up is not begun", "train", "t1", LKS_BMC_ABORT, "yes"},
    {"what is switched back is", "train", "t1", LKS_BMC_SWITCH, "t1: pool 'train'" SINCE},
};

static void test_frozen(void)
{
    for (size_t i = 0; i < LKS_COUNT(freezes); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        const char *node = freezes[i].node;
        bool asset = node[0] == 's';
        const struct lks_event freeze = {
            .kind = LKS_EVENT_FREEZE,
            .by = T("user:ops"),
            .reason = T("storage incident"),
            .freeze = {.pool = lks_str_from(freezes[i].pool == NULL ? "" : freezes[i].pool),
                       .on = true}};
        lks_test_case("%s", freezes[i].name);
        begin(&a);
        ready(&a, node);
        empty(&a, asset ? "t4" : node);
        if (freezes[i].pool != NULL)
            CHECK_HAS(lks_asked(&a, &freeze), "frozen ");
        bool versioned = freezes[i].act == LKS_BMC_UPDATE;
        struct lks_event e = flash(&a, node, freezes[i].act, asset ? "power-shelf" : "bmc",
                                   !versioned ? ""
                                   : asset    ? "1.0"
                                              : "25.02.11");
        CHECK_HAS(told_of(&a, &e), freezes[i].told);
        e = order(&a, node, "");
        if (!asset && versioned)
            CHECK_HAS(told_of(&a, &e), freezes[i].told);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"production: by a change", test_proposals},
        {"production: what was approved for a time", test_late},
        {"production: where it is said to go", test_condition},
        {"production: updates by hand", test_flashes},
        {"production: commands by hand", test_orders},
        {"by hand: drained, read, with a verdict", test_rules},
        {"by hand: updates on drained and read nodes", test_flash_rules},
        {"by hand: nodes of a scheduler", test_sched},
        {"frozen: by hand", test_frozen},
        {0},
    });
}
