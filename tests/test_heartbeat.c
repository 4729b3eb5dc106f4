#include "base/rng.h"
#include "core/gate/gate.h"
#include "core/rows/node.h"
#include "core/rules/decide.h"
#include "core/state/heartbeat.h"
#include "core/state/lookup.h"
#include "tests/fleet.h"
#include "tests/test.h"

/* On the wire ------------------------------------------------------------------------------- */

enum { BEAT_BYTES = 128 };

static const struct lks_beat sample = {
    .protocol = 1,
    .boot = {0x0f, 0x3a, [15] = 0x10},
    .seq = 0x0102030405060708,
    .tuple = {[0] = 0xaa, [31] = 0xbb},
    .health = LKS_HEALTH_HELPER_AWAY,
    .sent = 1794724520123,
    .head_seq = 99,
    .head_hash = {[0] = 0xcc, [31] = 0xdd},
    .spooled = 3,
};

static void test_wire(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_BEAT_BYTES_MAX);
    struct lks_beat read = {0};
    struct lks_err err = {0};
    lks_heartbeat_pack(&sample, &bytes);
    CHECK_INT(bytes.len, BEAT_BYTES);
    CHECK(memcmp(bytes.ptr, "\0\0\0\0\0\0\0\1\x0f\x3a", 10) == 0);
    CHECK(memcmp(bytes.ptr + 24, "\1\2\3\4\5\6\7\10\xaa", 9) == 0);
    CHECK(memcmp(bytes.ptr + 120, "\0\0\0\0\0\0\0\3", 8) == 0);
    CHECK_CODE(lks_heartbeat_unpack(lks_buf_view(&bytes), &read, &err), LKS_OK);
    CHECK(memcmp(&read, &sample, sizeof(read)) == 0);
}

static const struct {
    const char *name;
    size_t len; /* of the sample's bytes that arrive */
    size_t at;  /* a byte of them that is set ... */
    char to;    /* ... to this */
    const char *message;
} broken[] = {
    {"nothing", 0, 0, 0, "a heartbeat of 0 bytes is cut short"},
    {"less than a number", 7, 0, 0, "a heartbeat of 7 bytes is cut short"},
    {"the protocol alone", 8, 7, 1, "a heartbeat has 128 bytes, not 8"},
    {"the last byte missing", BEAT_BYTES - 1, 7, 1, "a heartbeat has 128 bytes, not 127"},
    {"one byte more", BEAT_BYTES + 1, 7, 1, "a heartbeat has 128 bytes, not 129"},
    {"protocol 0", BEAT_BYTES, 7, 0,
     "a heartbeat of protocol 0; this controller understands 1 to 1"},
    {"the next protocol", BEAT_BYTES, 7, 2,
     "a heartbeat of protocol 2; this controller understands 1 to 1"},
    {"a protocol of eight bytes", BEAT_BYTES, 0, 1,
     "a heartbeat of protocol 72057594037927937; this controller understands 1 to 1"},
    {"whole", BEAT_BYTES, 7, 1, ""},
};

static void test_broken(void)
{
    for (size_t i = 0; i < LKS_COUNT(broken); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_BEAT_BYTES_MAX);
        struct lks_beat read = {.seq = 42};
        struct lks_err err = {0};
        bool good = broken[i].message[0] == '\0';
        lks_test_case("%s", broken[i].name);
        lks_heartbeat_pack(&sample, &bytes);
        lks_buf_addc(&bytes, '\0');
        bytes.ptr[broken[i].at] = broken[i].to;
        CHECK_CODE(lks_heartbeat_unpack((struct lks_str){bytes.ptr, broken[i].len}, &read, &err),
                   good ? LKS_OK : LKS_E_INVALID);
        CHECK_STR(lks_str_from(err.msg), broken[i].message);
        CHECK(good || read.seq == 42);
    }
}

static void test_counts_from_one(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_BEAT_BYTES_MAX);
    struct lks_beat beat = sample;
    struct lks_err err = {0};
    beat.seq = 0;
    lks_heartbeat_pack(&beat, &bytes);
    CHECK_CODE(lks_heartbeat_unpack(lks_buf_view(&bytes), &beat, &err), LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg), "heartbeats count from 1");
}

static const struct {
    const char *name, *text;
    bool good;
} boots[] = {
    {"as the kernel writes it", "0f3a7c52-5b1e-4d53-9a38-6c1d2e8f9b10", true},
    {"without dashes", "0f3a7c525b1e4d539a386c1d2e8f9b10", true},
    {"a digit missing", "0f3a7c52-5b1e-4d53-9a38-6c1d2e8f9b1", false},
    {"a digit too many", "0f3a7c52-5b1e-4d53-9a38-6c1d2e8f9b100", false},
    {"no digit", "0f3a7c52-5b1e-4d53-9a38-6c1d2e8f9b1g", false},
    {"empty", "", false},
};

static void test_boot_text(void)
{
    for (size_t i = 0; i < LKS_COUNT(boots); i++) {
        uint8_t bytes[16];
        char text[LKS_BOOT_TEXT_SIZE];
        lks_test_case("%s", boots[i].name);
        CHECK(lks_heartbeat_boot_parse(lks_str_from(boots[i].text), bytes) == boots[i].good);
        if (!boots[i].good)
            continue;
        lks_heartbeat_boot_text(bytes, text);
        CHECK_STR(lks_str_from(text), boots[0].text);
    }
}

/* What needs a turn ------------------------------------------------------------------------- */

/* One node, heard in boot 7 with sequence 1, live and with nothing to say. */
static void make_quiet(struct lks_asked *a)
{
    lks_asked_init(a);
    lks_fleet_pool(a, "train", "", "");
    lks_fleet_place(a, "n1", "train");
    lks_fleet_live(a, "n1", 7);
}

static bool hear(struct lks_asked *a, const struct lks_beat *beat)
{
    return lks_heartbeat_hear(&a->state, a->now, lks_fleet_node(a, "n1"), beat);
}

static void test_quiet(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make_quiet(&a);
    for (uint64_t seq = 2; seq < 1000; seq++) {
        struct lks_beat beat = lks_fleet_beat(&a, 7, seq);
        if (!CHECK(!hear(&a, &beat)))
            return;
        lks_fleet_wait(&a, 10 * LKS_SECOND);
    }
    CHECK_INT(a.state.pulses[0].seq, 999);
    CHECK_INT(a.state.liveness[LKS_LIVE], 1);
}

/* A single heartbeat behind the quiet one, with this changed. */
static const struct {
    const char *name;
    unsigned boot;
    uint64_t seq;
    int64_t skew;
    uint64_t head;
    bool turn;
} singles[] = {
    {"the next", 7, 2, 0, 0, false},
    {"some were lost", 7, 200, 0, 0, false},
    {"the same again", 7, 1, 0, 0, false},
    {"another boot", 8, 1, 0, 0, true},
    {"a clock that is off, once", 7, 2, 6000, 0, false},
    {"a head that is ours, as far as can be told", 7, 2, 0, 1, false},
    {"a head beyond our last row", 7, 2, 0, 1000, true},
};

static void test_singles(void)
{
    for (size_t i = 0; i < LKS_COUNT(singles); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", singles[i].name);
        make_quiet(&a);
        struct lks_beat beat = lks_fleet_beat(&a, singles[i].boot, singles[i].seq);
        beat.sent += (lks_ms)singles[i].skew;
        beat.head_seq = singles[i].head;
        CHECK(hear(&a, &beat) == singles[i].turn);
    }
}

/* A node that nobody placed is not heard. */
static void test_removed(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make_quiet(&a);
    uint32_t node = lks_fleet_node(&a, "n1");
    const struct lks_record gone = {.kind = LKS_RECORD_REMOVED,
                                    .removed = {.hosts = LKS_STR("n1")}};
    lks_asked_apply(&a, &gone);
    struct lks_beat beat = lks_fleet_beat(&a, 7, 2);
    CHECK(!lks_heartbeat_hear(&a.state, a.now, node, &beat));
    CHECK(!a.state.pulses[node].heard);
}

/* Events -------------------------------------------------------------------------------------- */

struct told {
    int64_t after; /* seconds: when it is heard */
    unsigned boot;
    bool bit;
    int64_t which, age; /* -1: the agent does not say */
};

/* What is known then of the last Xid: so many seconds behind the first heartbeat; -1: of none. */
static const struct {
    const char *name;
    struct told beats[3];
    int64_t at;
} told[] = {
    {"nothing", {{10, 7, false, -1, -1}}, -1},
    {"one", {{10, 7, true, 3, 4}}, 6},
    {"one that is told of again", {{10, 7, true, 3, 4}, {20, 7, true, 3, 14}}, 6},
    {"one, by a heartbeat that was late, and by one that was not",
     {{30, 7, true, 3, 4}, {31, 7, true, 3, 25}},
     6},
    {"a heartbeat that is late makes it no later", {{10, 7, true, 3, 4}, {50, 7, true, 3, 14}}, 6},
    {"another one while the first is told of", {{10, 7, true, 3, 4}, {300, 7, true, 90, 2}}, 298},
    {"another one in a second that looks the same",
     {{10, 7, true, 3, 4}, {138, 7, true, 3, 4}},
     134},
    {"another one of another boot, which looks the same",
     {{10, 7, true, 3, 4}, {40, 8, true, 3, 4}},
     36},
    {"one from long before we were there to hear", {{10, 7, false, 3, 900}}, -890},
    {"an agent that started anew and does not remember",
     {{10, 7, true, 3, 4}, {20, 7, false, -1, -1}},
     6},
    {"an agent that knows an older one", {{10, 7, true, 3, 4}, {20, 7, true, 8, 300}}, 6},
    {"an agent that cannot say when", {{10, 7, true, -1, -1}, {40, 7, true, -1, -1}}, 10},
    {"and tells of another once the first is over",
     {{10, 7, true, -1, -1}, {700, 7, false, -1, -1}, {710, 7, true, -1, -1}},
     710},
    {"an agent that learned to say when", {{10, 7, true, -1, -1}, {40, 7, true, 3, 2}}, 38},
};

static void test_events(void)
{
    for (size_t i = 0; i < LKS_COUNT(told); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", told[i].name);
        make_quiet(&a);
        const struct lks_now start = a.now;
        for (size_t k = 0; k < LKS_COUNT(told[i].beats) && told[i].beats[k].boot != 0; k++) {
            const struct told *t = &told[i].beats[k];
            a.now.wall = start.wall + (lks_ms)t->after * LKS_SECOND;
            a.now.mono = start.mono + (lks_ms)t->after * LKS_SECOND;
            struct lks_beat beat = lks_fleet_beat(&a, t->boot, k + 2);
            const struct lks_health_event e = {(uint64_t)t->which, (lks_ms)t->age * LKS_SECOND};
            beat.health = (t->bit ? LKS_HEALTH_XID : 0) |
                          (t->which >= 0 ? lks_heartbeat_health_tell(LKS_HEARTBEAT_XID, &e) : 0);
            (void)hear(&a, &beat);
        }
        const struct lks_heartbeat *p = &a.state.pulses[lks_fleet_node(&a, "n1")];
        lks_ms at = p->events[LKS_HEARTBEAT_XID];
        CHECK_INT(told[i].at == -1 ? at : at - start.wall,
                  told[i].at == -1 ? 0 : (lks_ms)told[i].at * LKS_SECOND);
        CHECK_INT(p->events[LKS_HEARTBEAT_LINK_DOWN], 0);
    }
}

/* Each sort keeps to its own place. */
static void test_told(void)
{
    const struct lks_health_event xid = {5, 61 * LKS_SECOND}, link = {129, LKS_HEALTH_AGE_MAX};
    struct lks_health_event out = {0};
    uint64_t both = lks_heartbeat_health_tell(LKS_HEARTBEAT_XID, &xid) |
                    lks_heartbeat_health_tell(LKS_HEARTBEAT_LINK_DOWN, &link);
    CHECK_INT(both & LKS_HEALTH_BITS, 0);
    CHECK(lks_heartbeat_health_told(both, LKS_HEARTBEAT_XID, &out) && out.which == 5 &&
          out.age == xid.age);
    CHECK(lks_heartbeat_health_told(both, LKS_HEARTBEAT_LINK_DOWN, &out) && out.which == 1);
    CHECK_INT(out.age, LKS_HEALTH_AGE_MAX);
    lks_test_case("older than can be told");
    const struct lks_health_event old = {5, LKS_HEALTH_AGE_MAX + 1};
    CHECK_INT(lks_heartbeat_health_tell(LKS_HEARTBEAT_XID, &old), 0);
    CHECK(!lks_heartbeat_health_told(LKS_HEALTH_BITS, LKS_HEARTBEAT_XID, &out));
}

/* The wish for a tuple ---------------------------------------------------------------------- */

/* What it runs, by readings that are known under `basis`, or by none. */
static void tuple_record(struct lks_asked *a, const char *digest, unsigned boot, const char *basis)
{
    char text[LKS_BOOT_TEXT_SIZE];
    const struct lks_record r = {.kind = LKS_RECORD_TUPLE,
                                 .tuple = {.node = LKS_STR("n1"),
                                           .digest = lks_str_from(digest),
                                           .boot = lks_str_from(lks_fleet_boot(boot, text)),
                                           .basis = lks_str_from(basis),
                                           .whole = lks_str_from(basis)}};
    lks_asked_apply(a, &r);
}

#define ZEROES "000000000000000000000000000000000000000000000000000000000000"

static void test_wish(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make_quiet(&a);
    struct lks_beat beat = lks_fleet_beat(&a, 7, 2);
    lks_test_case("before the first reading");
    CHECK(!hear(&a, &beat) && !lks_gate_mail(&a.state, 0));
    lks_test_case("it names one that we lack");
    beat.seq = 3;
    beat.tuple[0] = 0xab;
    CHECK(!hear(&a, &beat) && lks_gate_mail(&a.state, 0));
    lks_test_case("it was sent");
    const struct lks_record known = {.kind = LKS_RECORD_BASIS,
                                     .basis = {.digest = LKS_STR("w"), .readings = LKS_STR("r")}};
    lks_asked_apply(&a, &known);
    tuple_record(&a, "sha256:ab00" ZEROES, 7, "w");
    CHECK(!lks_gate_mail(&a.state, 0));
    lks_test_case("another than we have");
    tuple_record(&a, "sha256:ac00" ZEROES, 7, "w");
    CHECK(lks_gate_mail(&a.state, 0));
    lks_test_case("of another boot");
    tuple_record(&a, "sha256:ab00" ZEROES, 6, "w");
    CHECK(lks_gate_mail(&a.state, 0));
    lks_test_case("another stack since: what was read is judged again here");
    tuple_record(&a, "sha256:ab00" ZEROES, 7, "w");
    lks_fleet_pool(&a, "train", "gold", "s");
    CHECK(!lks_gate_mail(&a.state, 0));
    lks_test_case("a record of version 1, which names no readings");
    tuple_record(&a, "sha256:ab00" ZEROES, 7, "");
    CHECK(lks_gate_mail(&a.state, 0));
    lks_test_case("readings that are not known");
    tuple_record(&a, "sha256:ab00" ZEROES, 7, "v");
    CHECK(lks_gate_mail(&a.state, 0));
}

/* What a heartbeat found to be nothing new is not read again by the next one: whatever heartbeats
 * and records come, the answers are those of somebody who remembers nothing. */
static void test_remembered(void)
{
    enum { STEPS = 3000 };
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    static const char *const digests[] = {"sha256:ab00" ZEROES, "sha256:ac00" ZEROES};
    struct lks_rng rng = {17};
    unsigned differed = 0, booted = 0, kept = 0;
    make_quiet(&a);
    for (uint64_t seq = 2; seq < STEPS; seq++) {
        char text[LKS_BOOT_TEXT_SIZE];
        struct lks_beat beat = lks_fleet_beat(&a, 7 + (unsigned)(seq / 100) % 5, seq);
        unsigned boot = 7 + (unsigned)lks_rng_below(&rng, 5);
        const struct lks_record up = {
            .kind = LKS_RECORD_BOOTED,
            .booted = {.node = LKS_STR("n1"), .boot = lks_str_from(lks_fleet_boot(boot, text))}};
        beat.tuple[0] = (uint8_t)(0xab + seq / 10 % 2);
        if (lks_rng_percent(&rng, 10))
            lks_asked_apply(&a, &up);
        if (lks_rng_percent(&rng, 10))
            tuple_record(&a, digests[lks_rng_below(&rng, 2)], boot, "");
        if (lks_rng_percent(&rng, 80))
            (void)hear(&a, &beat);
        struct lks_heartbeat *p = &a.state.pulses[0], before = *p;
        bool differs = lks_heartbeat_tuple_differs(&a.state, 0),
             woke = lks_heartbeat_booted(&a.state, 0);
        p->boot_text = p->tuple_text = 0;
        if (!CHECK(differs == lks_heartbeat_tuple_differs(&a.state, 0)) ||
            !CHECK(woke == lks_heartbeat_booted(&a.state, 0)))
            return;
        *p = before;
        differed += differs;
        booted += woke;
        kept += before.boot_text != 0 && before.tuple_text != 0;
    }
    CHECK(differed > 100 && booted > 100 && kept > 100);
}

static void test_mail(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make_quiet(&a);
    const struct lks_record sent = {.kind = LKS_RECORD_COMMAND,
                                    .command = {.id = 1, .node = LKS_STR("n1")}};
    const struct lks_record over = {.kind = LKS_RECORD_COMMAND_ENDED, .command_ended = {.id = 1}};
    CHECK(!lks_gate_mail(&a.state, 0));
    lks_asked_apply(&a, &sent);
    CHECK(lks_gate_mail(&a.state, 0));
    lks_asked_apply(&a, &over);
    CHECK(!lks_gate_mail(&a.state, 0));
}

/* Deadlines --------------------------------------------------------------------------------- */

/* While heartbeats come, nothing is ever due. */
static void test_settling(void)
{
    enum { NODES = 50, ROUNDS = 400 };
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    lks_fleet_place(&a, "n[1-50]", "");
    lks_fleet_live(&a, "n[1-50]", 7);
    for (uint64_t round = 1; round < ROUNDS; round++) {
        for (uint32_t n = 0; n < NODES; n++) {
            struct lks_beat beat = lks_fleet_beat(&a, 7, round + 1);
            if (!CHECK(!lks_heartbeat_hear(&a.state, a.now, n, &beat)) ||
                !CHECK(lks_decide_next(&a.state) > a.now.mono))
                return;
            lks_fleet_wait(&a, 10 * LKS_SECOND / NODES);
        }
    }
    CHECK_INT(a.state.deadlines.count, NODES);
}

/* A deadline that was outlived is moved on by the one call, to when it is really due. */
static void test_settle(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make_quiet(&a);
    lks_ms first = lks_decide_next(&a.state);
    CHECK_INT(first, a.now.mono + 30 * LKS_SECOND);
    lks_fleet_wait(&a, 5 * LKS_SECOND);
    struct lks_beat beat = lks_fleet_beat(&a, 7, 2);
    CHECK(!hear(&a, &beat));
    CHECK_INT(lks_decide_next(&a.state), first);
    lks_fleet_wait(&a, 25 * LKS_SECOND);
    lks_decide_settle(&a.state, a.now);
    CHECK_INT(lks_decide_next(&a.state), first + 5 * LKS_SECOND);
}

/* After a restart what the journal says of a node stands, and it gets the time to be heard. */
static void test_restart(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_err err = {0};
    lks_asked_init(&a);
    lks_fleet_place(&a, "live,late,lost,never", "");
    static const enum lks_liveness states[] = {LKS_LIVE, LKS_LATE, LKS_LOST, LKS_NEVER_SEEN};
    for (uint32_t n = 0; n < LKS_COUNT(states); n++) {
        const struct lks_record r = {
            .kind = LKS_RECORD_LIVENESS,
            .liveness = {.node = lks_state_name(&a.state, n), .state = states[n]}};
        lks_asked_apply(&a, &r);
    }
    lks_fleet_wait(&a, 3600 * LKS_SECOND);
    CHECK_CODE(lks_heartbeat_restart(&a.state, a.now, &err), LKS_OK);
    for (uint32_t n = 0; n < LKS_COUNT(states); n++)
        CHECK_INT(a.state.nodes[n].liveness, states[n]);
    CHECK_INT(lks_heartbeat_deadline(&a.state, 0), a.now.mono + 30 * LKS_SECOND);
    CHECK_INT(lks_heartbeat_deadline(&a.state, 1), a.now.mono + 120 * LKS_SECOND);
    CHECK(lks_heartbeat_deadline(&a.state, 2) == UINT64_MAX);
    CHECK(lks_heartbeat_deadline(&a.state, 3) == UINT64_MAX);
    CHECK_INT(a.state.deadlines.count, 2);
}

/* A command's end on the wall clock becomes a deadline, and goes when nothing waits for it. */
static void test_command_deadline(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    lks_decide_settle(&a.state, a.now);
    const struct lks_record sent = {
        .kind = LKS_RECORD_COMMAND,
        .command = {.id = 1, .node = LKS_STR("n1"), .expires = a.now.wall + 60 * LKS_SECOND}};
    const struct lks_record later = {
        .kind = LKS_RECORD_COMMAND,
        .command = {.id = 2, .node = LKS_STR("n1"), .expires = a.now.wall + 90 * LKS_SECOND}};
    const struct lks_record over = {.kind = LKS_RECORD_COMMAND_ENDED, .command_ended = {.id = 1}};
    CHECK(lks_decide_next(&a.state) == UINT64_MAX);
    lks_asked_apply(&a, &sent);
    lks_asked_apply(&a, &later);
    lks_ms due = a.now.mono + (60 + 120) * LKS_SECOND;
    CHECK_INT(lks_decide_next(&a.state), due);
    lks_asked_apply(&a, &over);
    lks_fleet_wait(&a, 180 * LKS_SECOND);
    lks_decide_settle(&a.state, a.now);
    CHECK_INT(lks_decide_next(&a.state), due + 30 * LKS_SECOND);
    lks_test_case("less time for a late answer");
    const struct lks_record limits = {.kind = LKS_RECORD_LIMITS,
                                      .limits = {.lost = 110 * LKS_SECOND}};
    lks_asked_apply(&a, &limits);
    lks_decide_settle(&a.state, a.now);
    CHECK_INT(lks_decide_next(&a.state), due + 20 * LKS_SECOND);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"heartbeat: on the wire", test_wire},
        {"heartbeat: broken heartbeats", test_broken},
        {"heartbeat: heartbeats count from 1", test_counts_from_one},
        {"heartbeat: boot ids", test_boot_text},
        {"heartbeat: nothing to decide", test_quiet},
        {"heartbeat: what needs a turn", test_singles},
        {"heartbeat: a node that was removed", test_removed},
        {"heartbeat: the wish for a tuple", test_wish},
        {"heartbeat: what is remembered", test_remembered},
        {"heartbeat: mail", test_mail},
        {"heartbeat: when the last event was", test_events},
        {"heartbeat: how heartbeats say it", test_told},
        {"heartbeat: deadlines move on with heartbeats", test_settling},
        {"heartbeat: deadlines are settled", test_settle},
        {"heartbeat: restart", test_restart},
        {"heartbeat: commands have deadlines", test_command_deadline},
        {0},
    });
}
