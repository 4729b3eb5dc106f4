#include "core/entity/settable.h"
#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/state/lookup.h"
#include "tests/asked.h"
#include "tests/manifests.h"
#include "tests/reload.h"
#include "tests/test.h"

#include <stdio.h>

#define STACK "---\n" LKS_STACK_HGX("gold", "hgx-h100-8", "580.126.20", "")

/* gpu1 to gpu30 are pinned, dev1 to dev3 are not. */
static const char fleet[] =
    "lockstep: 1\nkind: Fleet\nname: f\n"
    "pools: {train: {posture: pre-training, stack: gold}, dev: {posture: dev}}\n"
    "nodes:\n"
    "- {hosts: 'gpu[1-30]', pool: train, class: hgx-h100-8}\n"
    "- {hosts: 'dev[1-3]', pool: dev, class: hgx-h100-8}\n"
    "assets: [{hosts: sw1, class: switch}]\n" STACK;

/* What it runs: 't' was read and not judged, 'c' conforms, 'd' drifts, 'o' conforms to another
 * stack. */
static void reads(struct lks_asked *a, struct lks_str name, char what)
{
    struct lks_str pin = lks_state_text(&a->state, a->state.pools[0].stack_digest);
    const char digest[] = {what, '\0'};
    struct lks_str basis = lks_str_from(digest);
    struct lks_record r = {.kind = LKS_RECORD_TUPLE,
                           .tuple = {.node = name,
                                     .digest = LKS_STR("sha256:t"),
                                     .boot = LKS_STR("b1"),
                                     .basis = basis,
                                     .whole = basis}};
    lks_asked_apply(a, &r);
    r = (struct lks_record){.kind = LKS_RECORD_VERDICT,
                            .verdict = {.basis = basis,
                                        .stack = what == 'o' ? LKS_STR("sha256:o") : pin,
                                        .judged = LKS_JUDGED_CONFORMS}};
    if (what == 'd') {
        r.verdict.judged = LKS_JUDGED_DRIFT;
        r.verdict.drifted = 2;
        r.verdict.unmeasured = 1;
        r.verdict.first = LKS_STR("kernel");
    }
    if (what != 't')
        lks_asked_apply(a, &r);
}

/* What is so before a row, as letters behind a name: "gpu1:li" is live and in intake; 'L' is late,
 * 'X' lost, 'h' held, 'b' booted anew. */
static void make_so(struct lks_asked *a, struct lks_str name, char what)
{
    struct lks_record r = {0};
    char text[32];
    switch (what) {
    case 'l':
        snprintf(text, sizeof(text), "%" LKS_STR_FMT, LKS_STR_ARG(name));
        lks_asked_live(a, text);
        return;
    case 'L':
    case 'X':
        r = (struct lks_record){
            .kind = LKS_RECORD_LIVENESS,
            .liveness = {.node = name, .state = what == 'L' ? LKS_LATE : LKS_LOST}};
        break;
    case 'b':
        r = (struct lks_record){.kind = LKS_RECORD_BOOTED,
                                .booted = {.node = name, .boot = LKS_STR("b2")}};
        break;
    case 'i':
        r = (struct lks_record){.kind = LKS_RECORD_INTAKE, .intake = {.node = name}};
        break;
    case 'h':
        r = (struct lks_record){
            .kind = LKS_RECORD_HELD,
            .held = {.node = name, .by = LKS_STR("lee"), .reason = LKS_STR("fan")}};
        break;
    default:
        LKS_ASSERT(strchr("tcdo", what) != NULL);
        reads(a, name, what);
        return;
    }
    lks_asked_apply(a, &r);
}

static void set_up(struct lks_asked *a, const char *so)
{
    struct lks_str rest = lks_str_from(so), word, name, what;
    lks_asked_init(a);
    lks_asked_fleet(a, fleet, NULL);
    while (lks_str_word(&rest, &word)) {
        lks_str_cut(word, ':', &name, &what);
        for (size_t i = 0; i < what.len; i++)
            make_so(a, name, what.ptr[i]);
    }
}

#define WHY         " by=kim reason=why\n"
#define UNHELD(n)   "unheld node=" n WHY
#define ACCEPTED(n) "accepted hosts=" n WHY
#define TOO_MANY                                                                                   \
    "refused: these are 11 nodes, and one call may touch 10 (limits.call_nodes); more belongs in " \
    "a change"
#define STAYS(n, w)    "refused: " n " stays in intake: " w "; repair it, or release it with force"
#define HOLD_IT(n, is) "refused: " n " is " is "; hold it first: lockstep node hold " n

enum {
    HOLD = LKS_EVENT_HOLD,
    RELEASE = LKS_EVENT_RELEASE,
    FORCE = LKS_EVENT_COUNT,
    REPLACE = LKS_EVENT_REPLACE,
    REMOVE = LKS_EVENT_REMOVE
};

static const struct {
    const char *name;
    const char *so;
    int kind;
    const char *hosts;
    const char *told;
} rows[] = {
    {"hold one", "", HOLD, "gpu1", "held node=gpu1" WHY},
    {"hold several", "gpu2:l", HOLD, "gpu[2-3],dev1",
     "held node=dev1" WHY "held node=gpu2" WHY "held node=gpu3" WHY},
    {"hold one twice in a list", "", HOLD, "gpu1,gpu[1-2]",
     "held node=gpu1" WHY "held node=gpu2" WHY},
    {"hold an asset", "", HOLD, "sw1", "held node=sw1" WHY},
    {"hold ten", "", HOLD, "gpu[1-10]",
     "held node=gpu1" WHY "held node=gpu2" WHY "held node=gpu3" WHY "held node=gpu4" WHY
     "held node=gpu5" WHY "held node=gpu6" WHY "held node=gpu7" WHY "held node=gpu8" WHY
     "held node=gpu9" WHY "held node=gpu10" WHY},
    {"hold eleven", "", HOLD, "gpu[1-11]", TOO_MANY},
    {"hold what is held", "gpu2:h", HOLD, "gpu[1-2]", "refused: gpu2 is held already, by lee: fan"},
    {"hold no such node", "", HOLD, "gpu1,pgu2",
     "not-found: no node 'pgu2' in the fleet; did you mean 'gpu2'?"},
    {"hold nothing like a node", "", HOLD, "gpu1,switzerland",
     "not-found: no node 'switzerland' in the fleet"},
    {"hold nothing", "", HOLD, "", "invalid: nodes: the list names none"},
    {"hold no list", "", HOLD, "gpu[1",
     "invalid: nodes: character 4: this bracket is never closed"},

    {"release from a hold", "gpu1:h", RELEASE, "gpu1", UNHELD("gpu1")},
    {"release what is free", "gpu1:h", RELEASE, "gpu[1-2]",
     "refused: gpu2 is neither held nor in intake"},
    {"release from intake", "gpu1:lic", RELEASE, "gpu1", ACCEPTED("gpu1")},
    {"release from intake, drifted", "gpu1:lid", RELEASE, "gpu1",
     STAYS("gpu1", "2 drifted and 1 unmeasured, first kernel")},
    {"release from intake, never read", "gpu1:li", RELEASE, "gpu1",
     STAYS("gpu1", "what it runs was never read")},
    {"release from intake, never judged", "gpu1:lit", RELEASE, "gpu1",
     STAYS("gpu1", "what it runs was not compared with the stack of its pool")},
    {"release from intake, judged by another stack", "gpu1:lio", RELEASE, "gpu1",
     STAYS("gpu1", "what it runs was not compared with the stack of its pool")},
    {"release from intake without a stack", "dev1:lit", RELEASE, "dev1", ACCEPTED("dev1")},
    {"release from intake without a stack, never read", "dev1:li", RELEASE, "dev1",
     STAYS("dev1", "what it runs was never read")},
    {"release several, one of them drifted", "gpu1:lic gpu2:lid", RELEASE, "gpu[1-2]",
     STAYS("gpu2", "2 drifted and 1 unmeasured, first kernel")},
    {"release several", "gpu1:lic gpu2:h dev3:lit", RELEASE, "gpu[1-2],dev3",
     ACCEPTED("dev3") ACCEPTED("gpu1") UNHELD("gpu2")},
    {"release from both", "gpu1:lich", RELEASE, "gpu1", UNHELD("gpu1") ACCEPTED("gpu1")},
    {"release from the hold alone", "gpu1:lidh", RELEASE, "gpu1", UNHELD("gpu1")},
    {"force, drifted", "gpu1:lid", FORCE, "gpu1",
     "accepted hosts=gpu1 by=kim reason=although 2 drifted and 1 unmeasured, first kernel: why\n"},
    {"force, never read", "gpu1:i", FORCE, "gpu1",
     "accepted hosts=gpu1 by=kim reason=although what it runs was never read: why\n"},
    {"force without need", "gpu1:lic", FORCE, "gpu1", ACCEPTED("gpu1")},
    {"force from both", "gpu1:lidh", FORCE, "gpu1",
     UNHELD("gpu1") "accepted hosts=gpu1 by=kim reason=although 2 drifted and 1 unmeasured, first "
                    "kernel: why\n"},
    {"force what is free", "", FORCE, "gpu1", "refused: gpu1 is neither held nor in intake"},
    {"release eleven", "", RELEASE, "gpu[1-11]", TOO_MANY},

    {"release what was not read in this boot", "gpu1:lcbi", RELEASE, "gpu1",
     "refused: gpu1 stays in intake: it was not read since it booted or was changed; wait until it "
     "reports, or release it with force"},
    {"force what was not read in this boot", "gpu1:lcbi", FORCE, "gpu1",
     "accepted hosts=gpu1 by=kim reason=although it was not read since it booted or was changed: "
     "why\n"},

    {"replace", "gpu1:lc", REPLACE, "gpu1",
     "replaced node=gpu1" WHY "intake node=gpu1 why=replaced: why\n"},
    {"replace several", "", REPLACE, "gpu[1-2]",
     "replaced node=gpu1" WHY "intake node=gpu1 why=replaced: why\n"
     "replaced node=gpu2" WHY "intake node=gpu2 why=replaced: why\n"},
    {"replace no such node", "", REPLACE, "gpu99",
     "not-found: no node 'gpu99' in the fleet; did you mean 'gpu9'?"},
    {"replace eleven", "", REPLACE, "gpu[1-11]", TOO_MANY},

    {"remove, never seen", "", REMOVE, "gpu[2-3]", "removed hosts=gpu[2-3]" WHY},
    {"remove, lost", "gpu1:lX", REMOVE, "gpu1", "removed hosts=gpu1" WHY},
    {"remove, live", "gpu1:l", REMOVE, "gpu1", HOLD_IT("gpu1", "live")},
    {"remove, late", "gpu1:lL", REMOVE, "gpu1", HOLD_IT("gpu1", "late")},
    {"remove, live and held", "gpu1:lh", REMOVE, "gpu1", "removed hosts=gpu1" WHY},
    {"remove several, one live", "gpu2:l", REMOVE, "gpu[1-3]", HOLD_IT("gpu2", "live")},
    {"remove an asset", "", REMOVE, "sw1", "removed hosts=sw1" WHY},
    {"remove eleven", "", REMOVE, "gpu[1-11]", TOO_MANY},
};

static struct lks_event event_of(int kind, const char *hosts, const char *reason)
{
    return (struct lks_event){
        .kind = kind == FORCE ? LKS_EVENT_RELEASE : (enum lks_event_kind)kind,
        .by = LKS_STR("kim"),
        .reason = lks_str_from(reason),
        .name = lks_str_from(hosts),
        .release = {.force = kind == FORCE},
    };
}

static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        set_up(&a, rows[i].so);
        struct lks_event e = event_of(rows[i].kind, rows[i].hosts, "why");
        CHECK_STR(lks_asked(&a, &e), rows[i].told);
    }
}

/* What each of them leaves behind. */
static void test_after(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    set_up(&a, "gpu1:lcih");
    uint32_t id = lks_state_node(&a.state, LKS_STR("gpu1"));
    const struct lks_node *n = &a.state.nodes[id];
    struct lks_event e = event_of(RELEASE, "gpu1", "why");
    lks_asked(&a, &e);
    CHECK(!n->held && !n->intake && n->accepted && n->tuple != 0);

    e = event_of(REPLACE, "gpu1", "new board");
    lks_asked(&a, &e);
    CHECK(n->placed && n->intake && !n->accepted && !n->enrolled);
    CHECK(n->tuple == 0 && n->boot == 0 && n->parts[LKS_PART_BOARD] == 0);
    char print[LKS_DIGEST_SIZE];
    CHECK_STR(lks_str_from(lks_state_certificate_text(&n->certificates[0], print)), "");
    CHECK_STR(lks_state_text(&a.state, n->intake_why), "replaced: new board");

    e = event_of(REMOVE, "gpu1", "sold");
    lks_asked(&a, &e);
    CHECK_INT(lks_state_node(&a.state, LKS_STR("gpu1")), LKS_NO_NODE);
}

/* Asking again for what was done, as one does when the answer was lost, is no mistake. */
static void test_hold_again(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    set_up(&a, "");
    struct lks_event e = event_of(HOLD, "gpu[1-2]", "why"), other = event_of(HOLD, "gpu2", "dust");
    lks_asked(&a, &e);
    CHECK_STR(lks_asked(&a, &e), "");
    CHECK_STR(lks_asked(&a, &other), "refused: gpu2 is held already, by kim: why");
    e = event_of(HOLD, "gpu[1-3]", "why");
    CHECK_STR(lks_asked(&a, &e), "held node=gpu3" WHY);
}

#define B64   "0123456789012345678901234567890123456789012345678901234567890123"
#define B256  B64 B64 B64 B64
#define B1024 B256 B256 B256 B256

static struct lks_event set_event(const char *column, struct lks_str value)
{
    struct lks_event e = event_of(LKS_EVENT_NODE_SET, "gpu[1-2]", "why");
    e.set.column = lks_str_from(column);
    e.set.value = value;
    return e;
}

static void check_value(const struct lks_asked *a, const char *node, const char *column,
                        const char *value)
{
    const void *row = lks_entity_find(&a->state, &lks_entity_node, lks_str_from(node));
    const struct lks_column *c = lks_settable_find(lks_str_from(column));
    if (CHECK(row != NULL && c != NULL))
        CHECK_STR(lks_entity_text(&a->state, c, row, 0), value);
}

/* Nodes that have the value already get no record; other hardware keeps it, and a removed node
 * loses it. */
static void test_columns_that_people_set(void)
{
    CHECK(lks_settable_find(LKS_STR("rack")) == NULL);
    for (const char *const *column = lks_settable_node_words; *column != NULL; column++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        LKS_CLEANUP(lks_state_fini) struct lks_state loaded = {0};
        struct lks_event kim = set_event(*column, LKS_STR(" kim ")), e = kim;
        char told[256];
        lks_test_case("%s", *column);
        set_up(&a, "");
        e.name = LKS_STR("gpu2");
        (void)snprintf(told, sizeof(told), "node-set node=gpu2 column=%s value=kim" WHY, *column);
        CHECK_STR(lks_asked(&a, &e), told);
        CHECK_STR(lks_asked(&a, &e), "");
        (void)snprintf(told, sizeof(told), "node-set node=gpu1 column=%s value=kim" WHY, *column);
        CHECK_STR(lks_asked(&a, &kim), told);
        lks_test_reload(&a.state, &loaded);
        e = event_of(REPLACE, "gpu1", "why");
        lks_asked(&a, &e);
        check_value(&a, "gpu1", *column, "kim");
        e = set_event(*column, LKS_STR(""));
        e.name = LKS_STR("gpu1");
        (void)snprintf(told, sizeof(told), "node-set node=gpu1 column=%s" WHY, *column);
        CHECK_STR(lks_asked(&a, &e), told);
        check_value(&a, "gpu1", *column, "");
        check_value(&a, "gpu2", *column, "kim");
        e = event_of(REMOVE, "gpu2", "why");
        lks_asked(&a, &e);
        lks_asked_apply(&a, &(struct lks_record){.kind = LKS_RECORD_PLACED,
                                                 .placed = {.hosts = LKS_STR("gpu2")}});
        check_value(&a, "gpu2", *column, "");
    }
}

static void test_values_that_are_refused(void)
{
    static const struct {
        struct lks_str value;
        const char *told;
    } values[] = {
        {LKS_STR_C("a\nb"), "one line of printable text"},
        {LKS_STR_C("\x1b[2J"), "one line of printable text"},
        {LKS_STR_C("\xff"), "one line of printable text"},
        {LKS_STR_C(B256 "x"), "at most 256 bytes; these are 257"},
    };
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    set_up(&a, "");
    CHECK(lks_str_printable(LKS_STR("OPS-4711, for kim")));
    for (const char *const *column = lks_settable_node_words; *column != NULL; column++) {
        for (size_t i = 0; i < LKS_COUNT(values); i++) {
            struct lks_event e = set_event(*column, values[i].value);
            char told[128];
            (void)snprintf(told, sizeof(told), "invalid: %s: %s", *column, values[i].told);
            CHECK_STR(lks_asked(&a, &e), told);
        }
    }
}

/* A column that the manifest or a reading sets is not for people. */
static void test_columns_that_people_do_not_set(void)
{
    static const struct lks_str names[] = {LKS_STR_C("rack"), LKS_STR_C("no"), LKS_STR_C("")};
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    set_up(&a, "");
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        struct lks_event e = event_of(LKS_EVENT_NODE_SET, "gpu1", "why");
        char told[64];
        e.set.column = names[i];
        e.set.value = LKS_STR("kim");
        (void)snprintf(told, sizeof(told), "invalid: column: '%" LKS_STR_FMT "' cannot be set",
                       LKS_STR_ARG(names[i]));
        CHECK_HAS(lks_asked(&a, &e), told);
    }
}

/* The number of nodes in one call is the site's to set. */
static void test_limit(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    set_up(&a, "");
    a.state.limits.call_nodes = 30;
    struct lks_event e = event_of(REMOVE, "gpu[1-30]", "why");
    CHECK_STR(lks_asked(&a, &e), "removed hosts=gpu[1-30]" WHY);
}

static const struct {
    const char *name;
    struct lks_str reason;
    const char *told;
} reasons[] = {
    {"none", LKS_STR_C(""), "invalid: give a reason; it is kept in the journal"},
    {"blanks", LKS_STR_C(" \t "), "invalid: give a reason; it is kept in the journal"},
    {"two lines", LKS_STR_C("a\nb"), "invalid: a reason is one line of printable text"},
    {"an escape sequence", LKS_STR_C("\x1b[2J"), "invalid: a reason is one line of printable text"},
    {"not UTF-8", LKS_STR_C("\xff"), "invalid: a reason is one line of printable text"},
    {"too long", LKS_STR_C(B1024 "x"),
     "invalid: a reason has at most 1024 bytes; this one has 1025"},
    {"as long as it may be", LKS_STR_C(B1024), "held node=gpu1 by=kim reason=" B1024 "\n"},
    {"blanks around", LKS_STR_C("  fan \t"), "held node=gpu1 by=kim reason=fan\n"},
    {"letters of all kinds",
     LKS_STR_C("l\xc3\xbc"
               "fter"),
     "held node=gpu1 by=kim reason=l\xc3\xbc"
     "fter\n"},
};

static void test_reasons(void)
{
    for (size_t i = 0; i < LKS_COUNT(reasons); i++) {
        lks_test_case("%s", reasons[i].name);
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        set_up(&a, "");
        struct lks_event e = event_of(HOLD, "gpu1", "");
        e.reason = reasons[i].reason;
        CHECK_STR(lks_asked(&a, &e), reasons[i].told);
        for (int kind = LKS_EVENT_HOLD; kind <= LKS_EVENT_REMOVE && i == 0; kind++) {
            e.kind = (enum lks_event_kind)kind;
            CHECK_STR(lks_asked(&a, &e), reasons[i].told);
        }
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"node: what a person asks of nodes", test_rows},
        {"node: what it leaves behind", test_after},
        {"node: held again", test_hold_again},
        {"node: columns that people set", test_columns_that_people_set},
        {"node: values that are refused", test_values_that_are_refused},
        {"node: columns that people do not set", test_columns_that_people_do_not_set},
        {"node: how many at once", test_limit},
        {"node: reasons", test_reasons},
        {0},
    });
}
