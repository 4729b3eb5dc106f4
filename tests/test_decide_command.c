#include "core/rows/command.h"
#include "core/rules/decide_rules.h"
#include "core/state/lookup.h"
#include "tests/asked.h"
#include "tests/test.h"

enum { NOW = 1000000, HOUR = 3600000 };
#define D0 "sha256:1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define D1 "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char fleet[] = "lockstep: 1\nkind: Fleet\nname: f\n"
                            "pools: {train: {posture: dev}}\n"
                            "nodes: [{hosts: 'g[1-4]', pool: train, class: hgx-h100-8}]\n"
                            "assets: [{hosts: sw1, class: switch}]\n";

/* What production asks for besides is in test_decide_hand.c. g1 and g2 are live, g3 is lost, g4
 * never enrolled. */
static void set_up(struct lks_asked *a)
{
    lks_asked_init(a);
    lks_asked_fleet(a, fleet, NULL);
    lks_asked_apply(
        a, &(struct lks_record){.kind = LKS_RECORD_BUNDLE,
                                .bundle = {.digest = LKS_STR(D0), .artifacts = LKS_STR(D1)}});
    lks_asked_live(a, "g1");
    lks_asked_live(a, "g2");
    lks_asked_live(a, "g3");
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_LIVENESS,
                                            .liveness = {LKS_STR("g3"), LKS_LOST}});
}

static struct lks_event order(const char *node, const char *executor, const char *digests,
                              lks_ms expires)
{
    return (struct lks_event){
        .kind = LKS_EVENT_COMMAND,
        .by = LKS_STR("kim"),
        .reason = LKS_STR("why"),
        .name = lks_str_from(node),
        .command = {.executor = lks_str_from(executor),
                    .digests = lks_str_from(digests),
                    .expires = expires},
    };
}

#define D8           D1 " " D1 " " D1 " " D1 " " D1 " " D1 " " D1 " " D1
#define E63          "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz-0123456789"
#define SENT         "command id=1 node=g1 boot=b1 executor="
#define REST         " attempt=1 expires=1000001 by=kim reason=why\n"
#define EXE_RULE     "lower-case letters, digits and '-', at most 63"
#define NO_EXE(e)    "invalid: '" e "' is no executor: " EXE_RULE
#define NO_DIGEST(d) "invalid: '" d "' is no digest: sha256: and 64 digits"

static const struct {
    const char *name;
    const char *node, *executor, *digests;
    lks_ms expires;
    const char *told;
} orders[] = {
    {"a command", "g1", "reboot", "", NOW + 1, SENT "reboot" REST},
    {"with a digest", "g1", "flash", D1, NOW + 1, SENT "flash digests=" D1 REST},
    {"with as many as there may be", "g1", "flash", D8 " " D8 " " D8 " " D8, NOW + 1,
     SENT "flash digests=" D8 " " D8 " " D8 " " D8 REST},
    {"with one more", "g1", "flash", D8 " " D8 " " D8 " " D8 " " D1, NOW + 1,
     "invalid: a command carries at most 32 digests"},
    {"with half a digest", "g1", "flash", "sha256:0123", NOW + 1, NO_DIGEST("sha256:0123")},
    {"with another hash", "g1", "flash", D1 " md5:0123", NOW + 1, NO_DIGEST("md5:0123")},
    {"with a digest in capitals", "g1", "flash",
     "sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef", NOW + 1,
     NO_DIGEST("sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef")},
    {"a long name", "g1", E63, "", NOW + 1, SENT E63 REST},
    {"too long a name", "g1", E63 "x", "", NOW + 1, NO_EXE(E63 "x")},
    {"no name", "g1", "", "", NOW + 1, NO_EXE("")},
    {"a path", "g1", "../sh", "", NOW + 1, NO_EXE("../sh")},
    {"an option", "g1", "-x", "", NOW + 1, NO_EXE("-x")},
    {"a name that no envelope carries", "g1", "Reboot", "", NOW + 1, NO_EXE("Reboot")},
    {"nor this", "g1", "re_boot", "", NOW + 1, NO_EXE("re_boot")},
    {"a command line", "g1", "rm x", "", NOW + 1, NO_EXE("rm x")},
    {"expired", "g1", "reboot", "", NOW, "invalid: a command that has expired would not be run"},
    {"a day", "g1", "reboot", "", NOW + 24 * (lks_ms)HOUR,
     SENT "reboot attempt=1 expires=87400000 by=kim reason=why\n"},
    {"more than a day", "g1", "reboot", "", NOW + 24 * (lks_ms)HOUR + 1,
     "invalid: a command lives at most 24 hours"},
    {"for ever", "g1", "reboot", "", UINT64_MAX, "invalid: a command lives at most 24 hours"},
    {"a lost node", "g3", "reboot", "", NOW + 1,
     "refused: g3 is lost, and only a live node is commanded"},
    {"a node that never enrolled", "g4", "reboot", "", NOW + 1, "refused: g4 is not enrolled"},
    {"an asset", "sw1", "reboot", "", NOW + 1, "refused: sw1 is an asset and has no agent"},
    {"no such node", "gg1", "reboot", "", NOW + 1,
     "not-found: no node 'gg1' in the fleet; did you mean 'g1'?"},
    {"several nodes", "g[1-2]", "reboot", "", NOW + 1, "not-found: no node 'g[1-2]' in the fleet"},
};

static void test_orders(void)
{
    for (size_t i = 0; i < LKS_COUNT(orders); i++) {
        lks_test_case("%s", orders[i].name);
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        set_up(&a);
        struct lks_event e =
            order(orders[i].node, orders[i].executor, orders[i].digests, orders[i].expires);
        CHECK_STR(lks_asked(&a, &e), orders[i].told);
        e.reason = LKS_STR("");
        CHECK_STR(lks_asked(&a, &e), "invalid: give a reason; it is kept in the journal");
    }
}

static struct lks_event result(const struct lks_asked *a, const char *node, uint64_t id,
                               enum lks_outcome outcome, struct lks_str text)
{
    return (struct lks_event){.kind = LKS_EVENT_RESULT,
                              .node = lks_state_node(&a->state, lks_str_from(node)),
                              .result = {.id = id, .outcome = outcome, .text = text}};
}

/* One at a time on each node, and nodes do not wait for each other. */
static void test_one_at_a_time(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    set_up(&a);
    struct lks_event g1 = order("g1", "reboot", "", NOW + 1);
    struct lks_event g2 = order("g2", "drain", "", NOW + 1);
    lks_asked(&a, &g1);
    CHECK_STR(lks_asked(&a, &g1), "refused: g1 has not answered command 1 (reboot) yet");
    CHECK_STR(lks_asked(&a, &g2), "command id=2 node=g2 boot=b1 executor=drain" REST);
    struct lks_event done = result(&a, "g1", 1, LKS_OUTCOME_DONE, LKS_STR("ok"));
    CHECK_STR(lks_asked(&a, &done), "command-ended id=1 node=g1 outcome=done text=ok\n");
    CHECK_STR(lks_asked(&a, &g1), "command id=3 node=g1 boot=b1 executor=reboot" REST);
    CHECK_STR(lks_asked(&a, &g2), "refused: g2 has not answered command 2 (drain) yet");
}

#define B256       D1 D1 D1 "0123456789012345678901234567890123456789012" /* 3 * 71 + 43 */
#define B1024      B256 B256 B256 B256
#define TEXT_LIMIT "invalid: the text of a result is one printable line of at most 1024 bytes"

static const struct {
    const char *name;
    const char *node;
    uint64_t id;
    enum lks_outcome outcome;
    struct lks_str text;
    const char *told;
} results[] = {
    {"done", "g1", 1, LKS_OUTCOME_DONE, LKS_STR_C("ok"),
     "command-ended id=1 node=g1 outcome=done text=ok\n"},
    {"failed, without a word", "g1", 1, LKS_OUTCOME_FAILED, LKS_STR_C(""),
     "command-ended id=1 node=g1 outcome=failed\n"},
    {"refused", "g1", 1, LKS_OUTCOME_REFUSED, LKS_STR_C("another boot"),
     "command-ended id=1 node=g1 outcome=refused text=another boot\n"},
    {"unknown", "g1", 1, LKS_OUTCOME_UNKNOWN, LKS_STR_C("it stopped"),
     "command-ended id=1 node=g1 outcome=unknown text=it stopped\n"},
    {"expired is not the agent's to say", "g1", 1, LKS_OUTCOME_EXPIRED, LKS_STR_C(""),
     "invalid: no outcome that an agent can report"},
    {"no outcome", "g1", 1, LKS_OUTCOME_COUNT, LKS_STR_C(""),
     "invalid: no outcome that an agent can report"},
    {"of another node", "g2", 1, LKS_OUTCOME_DONE, LKS_STR_C(""),
     "denied: command 1 is not for this node"},
    {"of no command", "g1", 2, LKS_OUTCOME_DONE, LKS_STR_C(""),
     "not-found: there was never a command 2"},
    {"of command 0", "g1", 0, LKS_OUTCOME_DONE, LKS_STR_C(""),
     "not-found: there was never a command 0"},
    {"a long text", "g1", 1, LKS_OUTCOME_DONE, LKS_STR_C(B1024),
     "command-ended id=1 node=g1 outcome=done text=" B1024 "\n"},
    {"too long a text", "g1", 1, LKS_OUTCOME_DONE, LKS_STR_C(B1024 "x"), TEXT_LIMIT},
    {"an escape sequence", "g1", 1, LKS_OUTCOME_DONE, LKS_STR_C("\x1b[2J"), TEXT_LIMIT},
};

static void test_results(void)
{
    for (size_t i = 0; i < LKS_COUNT(results); i++) {
        lks_test_case("%s", results[i].name);
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        set_up(&a);
        struct lks_event e = order("g1", "reboot", "", NOW + 1);
        lks_asked(&a, &e);
        e = result(&a, results[i].node, results[i].id, results[i].outcome, results[i].text);
        CHECK_STR(lks_asked(&a, &e), results[i].told);
        if (a.decision.refused.code == LKS_OK)
            CHECK_STR(lks_asked(&a, &e), ""); /* a repetition is welcome and changes nothing */
    }
}

/* Run the part of a tick that is about commands, and apply what it lists. */
static size_t tick(struct lks_asked *a, lks_ms wall)
{
    lks_decision_fini(&a->decision);
    lks_decision_init(&a->decision);
    struct lks_deciding d = {.state = &a->state,
                             .now = {.wall = wall, .mono = wall},
                             .event = &(struct lks_event){.kind = LKS_EVENT_TICK},
                             .out = &a->decision};
    lks_decide_command_tick(&d);
    for (size_t i = 0; i < a->decision.count; i++)
        lks_asked_apply(a, &a->decision.records[i]);
    return a->decision.count;
}

/* A command without an answer ends, some time after its expiry so that an answer may still come.
 * Then the node can be given another. */
static void test_expiry(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    set_up(&a);
    struct lks_event e = order("g1", "reboot", "", NOW + HOUR);
    lks_asked(&a, &e);
    lks_ms over = lks_state_command_over(&a.state, lks_state_command(&a.state, 1));
    CHECK(over >= NOW + HOUR);
    CHECK_INT(tick(&a, NOW + 1), 0);
    CHECK_INT(tick(&a, over - 1), 0);
    CHECK_INT(tick(&a, over), 1);
    CHECK_INT(a.state.commands[0].outcome, LKS_OUTCOME_EXPIRED);
    CHECK(a.state.commands[0].ended);
    CHECK_INT(tick(&a, over + 1), 0);
    CHECK_STR(lks_asked(&a, &e), "command id=2 node=g1 boot=b1 executor=reboot attempt=1 "
                                 "expires=4600000 by=kim reason=why\n");
}

/* A tick lists no more than a slice, and the rest at once after it. */
static void test_slices(void)
{
    enum { COMMANDS = 2 * LKS_DECISION_SLICE + 10 };
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    set_up(&a);
    for (uint64_t id = 1; id <= COMMANDS; id++)
        lks_asked_apply(&a, &(struct lks_record){
                                .kind = LKS_RECORD_COMMAND,
                                .command = {.id = id, .node = LKS_STR("g1"), .expires = NOW + 1}});
    static const size_t counts[] = {LKS_DECISION_SLICE, LKS_DECISION_SLICE, 10, 0};
    for (size_t i = 0; i < LKS_COUNT(counts); i++) {
        lks_test_case("tick %zu", i);
        CHECK_INT(tick(&a, NOW + HOUR), counts[i]);
        CHECK_INT(a.decision.more, i < 2);
    }
    CHECK_INT(a.state.commands_open, 0);
}

/* The node's own word about a command that was given up is news, once. */
static void test_late_answer(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    set_up(&a);
    struct lks_event e = order("g1", "reboot", "", NOW + 1);
    lks_asked(&a, &e);
    CHECK_INT(tick(&a, NOW + HOUR), 1);
    e = result(&a, "g1", 1, LKS_OUTCOME_DONE, LKS_STR("ok"));
    CHECK_STR(lks_asked(&a, &e), "command-ended id=1 node=g1 outcome=done text=ok\n");
    CHECK_INT(a.state.commands[0].outcome, LKS_OUTCOME_DONE);
    CHECK_STR(lks_asked(&a, &e), "");
    CHECK_INT(a.state.commands_open, 0);
}

/* HELD or CONDITION; LIMITS: held, and yeses that were given before last longer; else not. */
static void close_node(struct lks_asked *a, enum lks_record_kind kind)
{
    struct lks_record closed = {.kind = kind == LKS_RECORD_LIMITS ? LKS_RECORD_HELD : kind};
    if (kind == LKS_RECORD_LIMITS)
        a->state.yeses_until = a->now.wall + 100000;
    if (closed.kind == LKS_RECORD_HELD)
        closed.held.node = LKS_STR("g1");
    else if (closed.kind == LKS_RECORD_CONDITION)
        closed.condition = (struct lks_rec_condition){
            .node = LKS_STR("g1"), .condition = LKS_CONDITION_CHANGING, .on = true};
    if (closed.kind != LKS_RECORD_BEGUN)
        lks_asked_apply(a, &closed);
}

/* Where a pool enforces, no step begins before every yes that could name the node has expired. */
static void test_quiet(void)
{
    static const struct {
        const char *name, *enforce;
        enum lks_record_kind kind; /* HELD, CONDITION, or none */
        lks_ms after;
        const char *told;
    } rows[] = {
        {"a pool that observes", "observe", LKS_RECORD_BEGUN, 0, "command id=1 node=g1"},
        {"a pool that warns", "warn", LKS_RECORD_BEGUN, 0, "command id=1 node=g1"},
        {"a node in use", "on", LKS_RECORD_BEGUN, 0,
         "refused: jobs may start on g1; hold it first: lockstep node hold g1"},
        {"held just now", "on", LKS_RECORD_HELD, 0,
         "refused: a job may have been admitted to g1 and not started; try again in 70 s"},
        {"held not long enough", "on", LKS_RECORD_HELD, 69999, "try again in 1 s"},
        {"held long enough", "on", LKS_RECORD_HELD, 70000, "command id=1 node=g1"},
        {"changing just now", "on", LKS_RECORD_CONDITION, 0, "try again in 70 s"},
        {"changing long enough", "on", LKS_RECORD_CONDITION, 70000, "command id=1 node=g1"},
        {"yeses were given for longer", "on", LKS_RECORD_LIMITS, 70000, "try again in 30 s"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", rows[i].name);
        set_up(&a);
        struct lks_record pool = {.kind = LKS_RECORD_POOL,
                                  .pool = {.name = LKS_STR("train"),
                                           .posture = LKS_STR("dev"),
                                           .enforce = lks_str_from(rows[i].enforce)}};
        lks_asked_apply(&a, &pool);
        close_node(&a, rows[i].kind);
        a.now.wall += rows[i].after;
        struct lks_event e = order("g1", "reboot", "", a.now.wall + 1);
        CHECK_HAS(lks_asked(&a, &e), rows[i].told);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"command: given", test_orders},
        {"command: no yes is open", test_quiet},
        {"command: one at a time", test_one_at_a_time},
        {"command: results", test_results},
        {"command: expiry", test_expiry},
        {"command: slices of a tick", test_slices},
        {"command: a late answer", test_late_answer},
        {0},
    });
}
