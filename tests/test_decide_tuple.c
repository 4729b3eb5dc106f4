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

/* Digests as '*', the readings of a tuple as "...": what they are is for other tests. */
static void show(struct machine *m, struct lks_str told)
{
    static const char digest[] = "sha256:", readings[] = " readings=";
    lks_buf_truncate(&m->shown, 0);
    while (told.len > 0) {
        size_t skip = 0;
        if (lks_str_starts(told, digest) && told.len >= sizeof(digest) - 1 + 64) {
            skip = sizeof(digest) - 1 + 64;
            lks_buf_addc(&m->shown, '*');
        } else if (lks_str_starts(told, readings)) {
            struct lks_str line, rest;
            lks_str_cut(told, '\n', &line, &rest);
            skip = line.len;
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

#define KNOWN    "tuple-known digest=*\n"
#define TUPLE    "tuple node=n1 digest=* report=r boot=" BOOT " taken=1794724520000 stack=* "
#define GOOD     TUPLE "judged=conforms\n"
#define PARTS    "parts node=n1 board=* gpus=* nics=* list=board B1, GPUs G1 G2, NICs N1\n"
#define FIRST    "intake node=n1 why=first seen\n"
#define DRIFT(n) TUPLE "judged=drift drifted=" n " first="

/* Judging ------------------------------------------------------------------------------------ */

static const struct {
    const char *name, *changes, *told;
} judgements[] = {
    {"conforms", "", KNOWN GOOD PARTS FIRST},
    {"another kernel", "kernel=6.8.0-72-generic",
     KNOWN DRIFT("1") "kernel: 6.8.0-72-generic, pinned 6.8.0-71-generic\n" PARTS FIRST},
    {"a kernel that was not read", "kernel?no access",
     KNOWN TUPLE
     "judged=unmeasured unmeasured=1 first=kernel: no access, pinned 6.8.0-71-generic\n" PARTS
         FIRST},
};

static void test_judgements(void)
{
    for (size_t i = 0; i < LKS_COUNT(judgements); i++) {
        LKS_CLEANUP(machine_fini) struct machine m;
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
        {"no stack", "", "", "judged=unjudged\n"},
        {"a stack of that name with another digest", "golden", "other",
         "stack=other judged=unjudged\n"},
        {"a stack that is not in the file", "silver", "other", "stack=other judged=unjudged\n"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(machine_fini) struct machine m;
        lks_test_case("%s", rows[i].name);
        make(&m);
        lks_fleet_pool(&m.asked, "train", rows[i].stack, rows[i].digest);
        CHECK_HAS(report(&m, ""), rows[i].told);
        CHECK_STR(report(&m, ""), "");
        CHECK(!lks_state_mail(&m.asked.state, 0));
    }
}

/* The identity of a tuple, once for all who run it. */
static void test_readings(void)
{
    LKS_CLEANUP(machine_fini) struct machine m;
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    make(&m);
    (void)report(&m, "");
    const struct lks_record *known = &m.asked.decision.records[0];
    CHECK_INT(known->kind, LKS_RECORD_TUPLE_KNOWN);
    struct lks_str json = known->tuple_known.readings;
    CHECK_CODE(lks_docs_init(&docs, "readings", &err), LKS_OK);
    CHECK_CODE(lks_json_parse(json, &docs, &err), LKS_OK);
    CHECK_HAS(json, "[\"driver\",\"\",\"580.126.20\"]");
    CHECK_HAS(json, "[\"firmware/vbios\",\"692-2G520-0282-001\",\"96.00.A5.00.1A\"],"
                    "[\"gpu.board_part\"");
    static const char *const left_out[] = {"B1", "kernel_cmdline", "swappiness", "sha256"};
    for (size_t i = 0; i < LKS_COUNT(left_out); i++) {
        lks_test_case("%s", left_out[i]);
        CHECK(lks_str_find(json, lks_str_from(left_out[i])) < 0);
    }
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
        LKS_CLEANUP(machine_fini) struct machine m;
        lks_test_case("%s", changes[i].name);
        make(&m);
        (void)report(&m, "");
        accept_n1(&m);
        CHECK(lks_node_admissible(&m.asked.state, 0, NULL));
        CHECK_STR(report(&m, changes[i].changes), changes[i].told);
        CHECK(m.asked.state.nodes[0].intake == (changes[i].told[0] != '\0'));
        lks_test_case("%s, the same again", changes[i].name);
        CHECK_STR(report(&m, changes[i].changes), "");
    }
}

/* Serials that could not be read at first are no change when they are. */
static void test_parts_later(void)
{
    LKS_CLEANUP(machine_fini) struct machine m;
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
    LKS_CLEANUP(machine_fini) struct machine m;
    make(&m);
    accept_n1(&m);
    CHECK_STR(report(&m, ""), KNOWN GOOD PARTS);
    CHECK(lks_node_admissible(&m.asked.state, 0, NULL));
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
    LKS_CLEANUP(machine_fini) struct machine m;
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
    LKS_CLEANUP(machine_fini) struct machine m;
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    make(&m);
    heard_in(&m, 7);
    lks_test_tuple(lks_test_node, &t);
    t.boot_id = LKS_STR(BEFORE);
    CHECK_HAS(report_tuple(&m, &t), "tuple node=n1 digest=* report=r boot=" BEFORE);
    accept_n1(&m);
    heard_in(&m, 8);
    CHECK(!lks_node_admissible(&m.asked.state, 0, NULL));
    t.boot_id = LKS_STR("00000000-0000-0000-0000-000000000008");
    t.taken++;
    CHECK_STR(report_tuple(&m, &t),
              "tuple node=n1 digest=* report=r boot=00000000-0000-0000-0000-000000000008 "
              "taken=1794724521000 stack=* judged=conforms\n");
    CHECK(lks_node_admissible(&m.asked.state, 0, NULL));
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
        LKS_CLEANUP(machine_fini) struct machine m;
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
        lks_test_case("%s", refusals[i].name);
        make(&m);
        lks_test_tuple(lks_test_node, &t);
        t.node = lks_str_from(refusals[i].node);
        t.boot_id = lks_str_from(refusals[i].boot);
        CHECK_STR(report_tuple(&m, &t), refusals[i].told);
    }
}

/* MASS --------------------------------------------------------------------------------------- */

/* One bad package on many nodes is no fault of the nodes: the eleventh that drifts is told. */
static void test_mass(void)
{
    LKS_CLEANUP(machine_fini) struct machine m;
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple good = {0}, bad = {0};
    make(&m);
    lks_test_tuple(lks_test_node, &good);
    lks_test_tuple_with(lks_test_node, "kernel=6.8.0-72-generic", &bad);
    for (unsigned n = 1; n <= 12; n++) {
        char name[8];
        snprintf(name, sizeof(name), "n%u", n);
        good.node = bad.node = lks_str_from(name);
        struct lks_event event = {.kind = LKS_EVENT_TUPLE,
                                  .node = lks_fleet_node(&m.asked, name),
                                  .tuple = {.tuple = &good, .report = LKS_STR("r")}};
        lks_test_case("%s", name);
        (void)lks_asked(&m.asked, &event);
        event.tuple.tuple = &bad;
        struct lks_str told = lks_asked(&m.asked, &event);
        CHECK((lks_str_find(told, LKS_STR("mass pool=train what=drift count=11 of=20")) >= 0) ==
              (n == 11));
    }
    CHECK(lks_state_acts_wait(&m.asked.state, m.asked.state.nodes[0].pool));
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"decide tuple: judgements", test_judgements},
        {"decide tuple: pins", test_pins},
        {"decide tuple: readings", test_readings},
        {"decide tuple: parts", test_parts},
        {"decide tuple: serials that come later", test_parts_later},
        {"decide tuple: accepted before it was seen", test_accepted_before},
        {"decide tuple: boots", test_boots},
        {"decide tuple: the same in the next boot", test_same_in_next_boot},
        {"decide tuple: refusals", test_refusals},
        {"decide tuple: MASS", test_mass},
        {0},
    });
}
