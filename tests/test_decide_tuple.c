#include "core/gate/gate.h"
#include "core/rows/node.h"
#include "core/state/lookup.h"
#include "core/state/node_status.h"
#include "tests/fleet.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>

enum { SHOWN_MAX = 64 << 10 };

#define BOOT   "0f3a7c52-5b1e-4d53-9a38-6c1d2e8f9b10" /* of the tuples in tests/tuples.h */
#define BEFORE "00000000-0000-0000-0000-000000000007"

/* The serials of a machine, beside lks_test_node. */
#define BOARD   "platform.serial=B1\n"
#define GPUS    "gpu.serial@gpu 0=G1\ngpu.serial@gpu 1=G2\n"
#define NICS    "nic.serial@nic 0=N1\n"
#define SERIALS BOARD GPUS NICS

/* A machine ---------------------------------------------------------------------------------- */

struct machine {
    struct lks_asked asked;
    struct lks_buf shown;
};

/* Digests as '*'. */
static void show(struct machine *m, struct lks_str told)
{
    static const char digest[] = "sha256:";
    lks_buf_truncate(&m->shown, 0);
    while (told.len > 0) {
        size_t skip = 0;
        if (lks_str_starts(told, digest) && told.len >= sizeof(digest) - 1 + 64) {
            skip = sizeof(digest) - 1 + 64;
            lks_buf_addc(&m->shown, '*');
        } else {
            lks_buf_addc(&m->shown, told.ptr[0]);
            skip = 1;
        }
        told = (struct lks_str){told.ptr + skip, told.len - skip};
    }
}

#define FLEET                                                                                      \
    "---\nlockstep: 1\nkind: Fleet\nname: f\n"                                                     \
    "pools: {train: {posture: pre-training, stack: golden}, dev: {posture: dev}}\n"                \
    "nodes: [{hosts: 'n[1-20]', pool: train, class: hgx-h200-8}]\n"

/* n1 in a pool that pins the stack of tests/tuples.h, live in BOOT; the journal holds so much. */
static void make(struct machine *m)
{
    char manifest[32768];
    struct lks_asked *a = &m->asked;
    lks_asked_init(a);
    lks_buf_init(&m->shown, SHOWN_MAX);
    int len = snprintf(manifest, sizeof(manifest), "%s%s", lks_test_node_stack, FLEET);
    LKS_ASSERT(len > 0 && (size_t)len < sizeof(manifest));
    (void)lks_asked_fleet(a, manifest, NULL);
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_ENROLLED, .enrolled = {.node = LKS_STR("n1")}},
        {.kind = LKS_RECORD_BOOTED, .booted = {.node = LKS_STR("n1"), .boot = LKS_STR(BOOT)}},
        {.kind = LKS_RECORD_LIVENESS, .liveness = {.node = LKS_STR("n1"), .state = LKS_LIVE}},
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        lks_asked_apply(a, &records[i]);
}

static void machine_fini(struct machine *m)
{
    lks_asked_fini(&m->asked);
    lks_buf_fini(&m->shown);
}

static struct lks_str report_tuple(struct machine *m, const struct lks_tuple *tuple)
{
    const struct lks_event event = {.kind = LKS_EVENT_TUPLE,
                                    .node = lks_fleet_node(&m->asked, "n1"),
                                    .tuple = {.tuple = tuple, .report = LKS_STR("r")}};
    show(m, lks_asked(&m->asked, &event));
    return m->shown.ptr == NULL ? LKS_STR("") : lks_buf_view(&m->shown);
}

/* The node reports lks_test_node with serials and these changes. */
static struct lks_str report(struct machine *m, const char *changes)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    char lines[32768];
    int len = snprintf(lines, sizeof(lines), "%s%s", lks_test_node, SERIALS);
    LKS_ASSERT(len > 0 && (size_t)len < sizeof(lines));
    lks_test_tuple_with(lines, changes, &t);
    return report_tuple(m, &t);
}

#define BASIS      "basis digest=* readings=...\n"
#define VERDICT    "verdict basis=* stack=* "
#define VALUES     " values=...\n"
#define TUPLE      "tuple node=n1 digest=* report=r boot=" BOOT " taken=1794724520000 stack=* "
#define BASES      " basis=* whole=*\n"
#define GOOD       TUPLE "judged=conforms" BASES
#define KNOWN      BASIS VERDICT "judged=conforms" VALUES
#define PARTS      "parts node=n1 board=* gpus=* nics=* list=board B1, GPUs G1 G2, NICs N1\n"
#define FIRST      "intake node=n1 why=first seen\n"
#define WRONG(how) BASIS VERDICT how " wrong=..." VALUES TUPLE how BASES

/* Judging ------------------------------------------------------------------------------------ */

static const struct {
    const char *name, *changes, *told;
} judgements[] = {
    {"conforms", "", KNOWN GOOD PARTS FIRST},
    {"another kernel", "kernel=6.8.0-72-generic",
     WRONG("judged=drift drifted=1 first=kernel: 6.8.0-72-generic, pinned 6.8.0-71-generic")
         PARTS FIRST},
    {"a kernel that was not read", "kernel?no access",
     WRONG("judged=unmeasured unmeasured=1 first=kernel: no access, pinned 6.8.0-71-generic")
         PARTS FIRST},
};

static void test_judgements(void)
{
    for (size_t i = 0; i < LKS_COUNT(judgements); i++) {
        LKS_CLEANUP(machine_fini) struct machine m = {0};
        lks_test_case("%s", judgements[i].name);
        make(&m);
        CHECK_STR(report(&m, judgements[i].changes), judgements[i].told);
        lks_test_case("%s, the same again", judgements[i].name);
        CHECK_STR(report(&m, judgements[i].changes), "");
    }
}

/* Against what a pool pins, and nothing else of that name. */
static void test_pins(void)
{
    static const struct {
        const char *name, *stack, *digest, *told;
    } rows[] = {
        {"no stack", "", "", "judged=unjudged basis="},
        {"a stack of that name with another digest", "golden", "other",
         "stack=other judged=unjudged basis="},
        {"a stack that is not there", "silver", "other", "stack=other judged=unjudged basis="},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(machine_fini) struct machine m = {0};
        lks_test_case("%s", rows[i].name);
        make(&m);
        lks_fleet_pool(&m.asked, "train", rows[i].stack, rows[i].digest);
        CHECK_HAS(report(&m, ""), rows[i].told);
        CHECK_STR(report(&m, ""), "");
        CHECK(!lks_gate_mail(&m.asked.state, 0));
    }
}

/* Readings are recorded once for all who have them, and judged once. */
static void test_readings(void)
{
    LKS_CLEANUP(machine_fini) struct machine m = {0};
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    make(&m);
    (void)report(&m, "");
    const struct lks_record *basis = &m.asked.decision.records[0];
    CHECK_INT(basis->kind, LKS_RECORD_BASIS);
    CHECK_HAS(basis->basis.readings, "driver\t\t\t=\t580.126.20\n");
    CHECK(lks_str_find(basis->basis.readings, LKS_STR("B1")) < 0);
    lks_test_tuple(lks_test_node, &t);
    t.node = LKS_STR("n2");
    const struct lks_event event = {.kind = LKS_EVENT_TUPLE,
                                    .node = lks_fleet_node(&m.asked, "n2"),
                                    .tuple = {.tuple = &t, .report = LKS_STR("r")}};
    show(&m, lks_asked(&m.asked, &event));
    CHECK_STR(lks_buf_view(&m.shown), "booted node=n2 boot=" BOOT "\n"
                                      "tuple node=n2 digest=* report=r boot=" BOOT
                                      " taken=1794724520000 stack=* judged=conforms" BASES
                                      "intake node=n2 why=first seen\n");
    CHECK_INT(lks_state_judged(&m.asked.state, event.node), LKS_JUDGED_CONFORMS);
}

/* A journal of before says nothing of readings: its node is not judged, and reports again. */
static void test_old_record(void)
{
    LKS_CLEANUP(machine_fini) struct machine m = {0};
    make(&m);
    const struct lks_record old = {.kind = LKS_RECORD_TUPLE,
                                   .tuple = {.node = LKS_STR("n1"),
                                             .digest = LKS_STR("d"),
                                             .boot = LKS_STR(BOOT),
                                             .judged = LKS_JUDGED_CONFORMS}};
    lks_asked_apply(&m.asked, &old);
    CHECK_INT(lks_state_judged(&m.asked.state, 0), LKS_JUDGED_NOT);
    CHECK_HAS(report(&m, ""), KNOWN GOOD);
    CHECK_INT(lks_state_judged(&m.asked.state, 0), LKS_JUDGED_CONFORMS);
}

/* More than can be judged is refused, and not cut. */
static void test_too_much(void)
{
    LKS_CLEANUP(machine_fini) struct machine m = {0};
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    struct lks_err err = {0};
    char name[32], value[LKS_READING_VALUE_MAX];
    make(&m);
    memset(value, 'x', sizeof(value));
    lks_tuple_init(&t);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof(name), "c%d", i);
        lks_tuple_add(
            &t, &(struct lks_reading){.name = lks_str_from(name), .value = {value, sizeof(value)}});
    }
    t.node = LKS_STR("n1");
    t.boot_id = LKS_STR(BOOT);
    CHECK_CODE(lks_tuple_finish(&t, &err), LKS_OK);
    CHECK_HAS(report_tuple(&m, &t), "limit: ");
}

/* Parts and intake --------------------------------------------------------------------------- */

#define OTHER_PARTS(list, what)                                                                    \
    GOOD "parts node=n1 board=* gpus=* nics=* list=" list "\nintake node=n1 why=other serial "     \
         "numbers than before: " what "\nalarm id=1 alarm=parts subject=n1 text=other serial "     \
         "numbers than before: " what "\n"

static const struct {
    const char *name, *changes, *told;
} changes[] = {
    {"the same in another order", "!gpu.serial\ngpu.serial@gpu 0=G2\ngpu.serial@gpu 1=G1", ""},
    {"another board", "platform.serial=B2", OTHER_PARTS("board B2, GPUs G1 G2, NICs N1", "board")},
    {"a board with a short serial", "platform.serial=7",
     OTHER_PARTS("board 7, GPUs G1 G2, NICs N1", "board")},
    {"another GPU", "!gpu.serial\ngpu.serial@gpu 0=G1\ngpu.serial@gpu 1=G3",
     OTHER_PARTS("board B1, GPUs G1 G3, NICs N1", "GPUs")},
    {"a GPU less", "!gpu.serial\ngpu.serial@gpu 0=G1",
     OTHER_PARTS("board B1, GPUs G1, NICs N1", "GPUs")},
    {"a NIC more", "nic.serial@nic 1=N2", OTHER_PARTS("board B1, GPUs G1 G2, NICs N1 N2", "NICs")},
    {"all of them", "platform.serial=B2\n!gpu.serial\ngpu.serial@gpu 0=G3\nnic.serial@nic 0=N2",
     OTHER_PARTS("board B2, GPUs G3, NICs N2", "board and GPUs and NICs")},
    {"a board that was not read", "platform.serial?no access", ""},
    {"one GPU that was not read", "gpu.serial@gpu 1?no access", ""},
    {"a board that was not read, and another NIC", "platform.serial?no access\nnic.serial@nic 0=N2",
     GOOD "parts node=n1 board=* gpus=* nics=* list=GPUs G1 G2, NICs N2\n"
          "intake node=n1 why=other serial numbers than before: NICs\n"
          "alarm id=1 alarm=parts subject=n1 text=other serial numbers than before: NICs\n"},
    {"no GPUs at all", "!gpu.serial", ""},
};

static void accept_n1(struct machine *m)
{
    const struct lks_record r = {.kind = LKS_RECORD_ACCEPTED, .accepted = {.hosts = LKS_STR("n1")}};
    lks_asked_apply(&m->asked, &r);
}

/* A node that was accepted reports this. */
static void test_parts(void)
{
    for (size_t i = 0; i < LKS_COUNT(changes); i++) {
        LKS_CLEANUP(machine_fini) struct machine m = {0};
        lks_test_case("%s", changes[i].name);
        make(&m);
        (void)report(&m, "");
        accept_n1(&m);
        CHECK(lks_node_admissible(&m.asked.state, 0, 0, NULL));
        CHECK_STR(report(&m, changes[i].changes), changes[i].told);
        CHECK(m.asked.state.nodes[0].intake == (changes[i].told[0] != '\0'));
        lks_test_case("%s, the same again", changes[i].name);
        CHECK_STR(report(&m, changes[i].changes), "");
    }
}

/* Serials that could not be read at first are no change when they are. */
static void test_parts_later(void)
{
    LKS_CLEANUP(machine_fini) struct machine m = {0};
    make(&m);
    accept_n1(&m);
    CHECK_STR(report(&m, "platform.serial?no access"),
              KNOWN GOOD "parts node=n1 gpus=* nics=* list=GPUs G1 G2, NICs N1\n");
    CHECK_STR(report(&m, ""), GOOD PARTS);
    CHECK(!m.asked.state.nodes[0].intake);
}

/* A fleet that was taken in at once is not put into intake for being first seen. */
static void test_accepted_before(void)
{
    LKS_CLEANUP(machine_fini) struct machine m = {0};
    make(&m);
    accept_n1(&m);
    CHECK_STR(report(&m, ""), KNOWN GOOD PARTS);
    CHECK(lks_node_admissible(&m.asked.state, 0, 0, NULL));
    lks_test_case("another machine under the name");
    const struct lks_record replaced = {.kind = LKS_RECORD_REPLACED,
                                        .replaced = {.node = LKS_STR("n1")}};
    lks_asked_apply(&m.asked, &replaced);
    CHECK_STR(report(&m, ""), "booted node=n1 boot=" BOOT "\n" KNOWN GOOD PARTS FIRST);
}

/* Boots -------------------------------------------------------------------------------------- */

static void heard_in(struct machine *m, unsigned boot)
{
    const struct lks_beat beat = lks_fleet_beat(&m->asked, boot, 1);
    (void)lks_fleet_hear(&m->asked, "n1", &beat);
}

static void test_boots(void)
{
    LKS_CLEANUP(machine_fini) struct machine m = {0};
    make(&m);
    const struct lks_record before = {.kind = LKS_RECORD_BOOTED,
                                      .booted = {.node = LKS_STR("n1"), .boot = LKS_STR(BEFORE)}};
    lks_asked_apply(&m.asked, &before);
    lks_test_case("it names a boot before a heartbeat does");
    CHECK_STR(report(&m, ""), "booted node=n1 boot=" BOOT "\n" KNOWN GOOD PARTS FIRST);
    lks_test_case("of a boot that is over");
    heard_in(&m, 7);
    CHECK_STR(lks_state_text(&m.asked.state, m.asked.state.nodes[0].boot), BEFORE);
    CHECK_STR(report(&m, "kernel=1"), "");
    CHECK_CODE(m.asked.decision.refused.code, LKS_OK);
}

/* The same tuple in another boot is news: it was read anew. */
static void test_same_in_next_boot(void)
{
    LKS_CLEANUP(machine_fini) struct machine m = {0};
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    make(&m);
    heard_in(&m, 7);
    lks_test_tuple(lks_test_node, &t);
    t.boot_id = LKS_STR(BEFORE);
    CHECK_HAS(report_tuple(&m, &t), "tuple node=n1 digest=* report=r boot=" BEFORE);
    accept_n1(&m);
    heard_in(&m, 8);
    CHECK(!lks_node_admissible(&m.asked.state, 0, 0, NULL));
    t.boot_id = LKS_STR("00000000-0000-0000-0000-000000000008");
    t.taken++;
    CHECK_STR(report_tuple(&m, &t),
              "tuple node=n1 digest=* report=r boot=00000000-0000-0000-0000-000000000008 "
              "taken=1794724521000 stack=* judged=conforms" BASES);
    CHECK(lks_node_admissible(&m.asked.state, 0, 0, NULL));
}

/* Acts --------------------------------------------------------------------------------------- */

#define OVER_TEXT "what it runs was not read since it was changed"

/* n1 conforms and is in service; then it is given a command and answers it. */
static struct lks_str act(struct machine *m, const char *executor, const char *boot,
                          enum lks_outcome outcome)
{
    make(m);
    accept_n1(m);
    (void)report(m, "");
    CHECK(lks_node_admissible(&m->asked.state, 0, 0, NULL));
    const struct lks_record command = {.kind = LKS_RECORD_COMMAND,
                                       .command = {.id = 1,
                                                   .node = LKS_STR("n1"),
                                                   .boot = lks_str_from(boot),
                                                   .executor = lks_str_from(executor),
                                                   .attempt = 1,
                                                   .expires = m->asked.now.wall + 1}};
    lks_asked_apply(&m->asked, &command);
    const struct lks_event result = {.kind = LKS_EVENT_RESULT,
                                     .node = lks_fleet_node(&m->asked, "n1"),
                                     .result = {.id = 1, .outcome = outcome, .text = {"", 0}}};
    show(m, lks_asked(&m->asked, &result));
    return lks_buf_view(&m->shown);
}

/* A reading from before something was done to the node is no proof that it conforms, though it
 * would say so; the same reading from behind it is. */
static void test_acts(void)
{
    static const struct {
        const char *name, *executor, *boot;
        enum lks_outcome outcome;
        bool over;
    } rows[] = {
        {"an order that was carried out", "apt", BOOT, LKS_OUTCOME_DONE, true},
        {"one that failed on its way", "apt", BOOT, LKS_OUTCOME_FAILED, true},
        {"one with an unknown outcome", "settings", BOOT, LKS_OUTCOME_UNKNOWN, true},
        {"a reboot that did not happen", "reboot", BOOT, LKS_OUTCOME_FAILED, true},
        {"an executor of the site", "our-own", BOOT, LKS_OUTCOME_DONE, true},
        {"an order that was refused", "apt", BOOT, LKS_OUTCOME_REFUSED, false},
        {"an order of another boot", "apt", BEFORE, LKS_OUTCOME_UNKNOWN, false},
        {"a reading", "inventory", BOOT, LKS_OUTCOME_DONE, false},
        {"a question", "idle", BOOT, LKS_OUTCOME_FAILED, false},
        {"acceptance checks", "accept", BOOT, LKS_OUTCOME_DONE, false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(machine_fini) struct machine m = {0};
        const struct lks_state *s = &m.asked.state;
        const char *why = "";
        lks_test_case("%s", rows[i].name);
        struct lks_str told = act(&m, rows[i].executor, rows[i].boot, rows[i].outcome);
        CHECK((lks_str_find(told, LKS_STR("\ntuple node=n1 digest=* report=r taken=")) >= 0) ==
              rows[i].over);
        CHECK(lks_node_admissible(s, 0, 0, &why) == !rows[i].over);
        CHECK_STR(lks_str_from(why), rows[i].over ? OVER_TEXT : "");
        CHECK(lks_node_status_unread(s, 0) == rows[i].over);
        CHECK_STR(report(&m, ""), rows[i].over ? GOOD : "");
        CHECK(lks_node_admissible(s, 0, 0, NULL));
    }
}

/* A report that waited on the node is from before the act, by its own time. */
static void test_waited(void)
{
    enum { TAKEN = 1794724520 };
    static const struct {
        const char *name;
        int64_t taken; /* seconds behind the act */
        int64_t skew;  /* of the node's clock, in ms */
        bool counts;
    } rows[] = {
        {"read long before", -60, 0, false},
        {"read in the second before", -1, 0, false},
        {"read in the same second", 0, 0, true},
        {"read later", 5, 0, true},
        {"read before, by a clock that is ahead", 5, 9000, false},
        {"read later, by a clock that is behind", -5, -9000, true},
        {"a clock beyond all times", 5, INT64_MIN, true},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(machine_fini) struct machine m = {0};
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
        lks_test_case("%s", rows[i].name);
        (void)act(&m, "apt", BOOT, LKS_OUTCOME_DONE);
        m.asked.state.nodes[0].tuple_since = (lks_ms)TAKEN * LKS_SECOND;
        m.asked.state.pulses[0].skew = rows[i].skew;
        lks_test_tuple(lks_test_node, &t);
        t.taken = TAKEN + rows[i].taken;
        CHECK((report_tuple(&m, &t).len > 0) == rows[i].counts);
        CHECK_CODE(m.asked.decision.refused.code, LKS_OK);
        CHECK(lks_node_admissible(&m.asked.state, 0, 0, NULL) == rows[i].counts);
    }
}

static const struct {
    const char *name, *node, *boot, *told;
} refusals[] = {
    {"of another node", "n2", BOOT, "denied: an agent reports its own node and no other"},
    {"of nobody", "", BOOT, "denied: an agent reports its own node and no other"},
    {"of no boot there can be", "n1", "yesterday", "invalid: the tuple's boot id is not a UUID"},
};

static void test_refusals(void)
{
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        LKS_CLEANUP(machine_fini) struct machine m = {0};
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
        lks_test_case("%s", refusals[i].name);
        make(&m);
        lks_test_tuple(lks_test_node, &t);
        t.node = lks_str_from(refusals[i].node);
        t.boot_id = lks_str_from(refusals[i].boot);
        CHECK_STR(report_tuple(&m, &t), refusals[i].told);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"decide tuple: judgements", test_judgements},
        {"decide tuple: pins", test_pins},
        {"decide tuple: readings", test_readings},
        {"decide tuple: a record of before", test_old_record},
        {"decide tuple: too much", test_too_much},
        {"decide tuple: parts", test_parts},
        {"decide tuple: serials that come later", test_parts_later},
        {"decide tuple: accepted before it was seen", test_accepted_before},
        {"decide tuple: boots", test_boots},
        {"decide tuple: the same in the next boot", test_same_in_next_boot},
        {"decide tuple: acts", test_acts},
        {"decide tuple: a report that waited", test_waited},
        {"decide tuple: refusals", test_refusals},
        {0},
    });
}
