#include "core/rows/alarm.h"
#include "core/rows/node.h"
#include "core/state/lookup.h"
#include "tests/fleet.h"
#include "tests/test.h"

#include <stdio.h>

enum { LATE = 30, LOST = 120, SECONDS_MAX = 400 };

/* Liveness ---------------------------------------------------------------------------------- */

static void make(struct lks_asked *a, const char *hosts)
{
    lks_asked_init(a);
    lks_fleet_pool(a, "train", "", "");
    lks_fleet_place(a, hosts, "train");
    lks_fleet_live(a, hosts, 7);
}

/* A node is heard at these seconds and else silent; what is recorded, and when. */
static const struct {
    const char *name;
    unsigned beats[6]; /* up to the first 0 */
    const char *story;
} lives[] = {
    {"silent", {0}, "30 late 120 lost "},
    {"just before it is late", {29}, "59 late 149 lost "},
    {"at the moment it turns late", {30}, "30 late 30 live 60 late 150 lost "},
    {"late, and back", {100}, "30 late 100 live 130 late 220 lost "},
    {"lost, and back", {130}, "30 late 120 lost 130 live 160 late 250 lost "},
    {"often enough", {20, 40, 60, 80}, "110 late 200 lost "},
};

static void tell_states(const struct lks_asked *a, unsigned second, struct lks_buf *story)
{
    for (size_t i = 0; i < a->decision.count; i++) {
        const struct lks_record *r = &a->decision.records[i];
        if (r->kind == LKS_RECORD_LIVENESS)
            lks_buf_addf(story, "%u %s ", second, lks_liveness_words[r->liveness.state]);
    }
}

static void test_liveness(void)
{
    for (size_t i = 0; i < LKS_COUNT(lives); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf story = LKS_BUF(4096);
        lks_test_case("%s", lives[i].name);
        make(&a, "n1");
        const unsigned *beat = lives[i].beats;
        uint64_t seq = 1;
        for (unsigned second = 1; second <= SECONDS_MAX; second++) {
            lks_fleet_wait(&a, LKS_SECOND);
            (void)lks_fleet_tick(&a);
            tell_states(&a, second, &story);
            if (*beat != second)
                continue;
            struct lks_beat heard = lks_fleet_beat(&a, 7, ++seq);
            if (lks_fleet_hear(&a, "n1", &heard).len > 0)
                tell_states(&a, second, &story);
            beat++;
        }
        CHECK_STR(lks_buf_view(&story), lives[i].story);
    }
}

/* What was never heard is not late. */
static void test_never(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    lks_fleet_place(&a, "n1", "");
    lks_fleet_wait(&a, 1000 * LKS_SECOND);
    CHECK(lks_decide_next(&a.state) == UINT64_MAX);
    CHECK_STR(lks_fleet_tick(&a), "");
    struct lks_beat beat = lks_fleet_beat(&a, 7, 1);
    CHECK_STR(lks_fleet_hear(&a, "n1", &beat),
              "liveness node=n1 state=live\n"
              "booted node=n1 boot=00000000-0000-0000-0000-000000000007\n");
}

/* MASS -------------------------------------------------------------------------------------- */

/* So many of a pool fall silent at once, by turns of `each` with `apart` seconds between. */
static const struct {
    const char *name;
    const char *hosts;
    unsigned silent, each, apart;
    unsigned mass; /* records of it */
} masses[] = {
    {"ten of a small pool", "n[001-100]", 10, 10, 0, 0},
    {"eleven of a small pool", "n[001-100]", 11, 11, 0, 1},
    {"all of it", "n[001-100]", 100, 100, 0, 1},
    {"eleven, one a minute", "n[001-100]", 11, 1, 60, 0},
    {"eleven, one in 20 seconds", "n[001-100]", 11, 1, 20, 1},
    {"two percent of a large pool", "n[0001-1000]", 20, 20, 0, 0},
    {"more than two percent of a large pool", "n[0001-1000]", 21, 21, 0, 1},
};

/* All but the first `silent` nodes are heard. */
static void beat_all(struct lks_asked *a, unsigned silent, uint64_t seq)
{
    for (uint32_t n = silent; n < a->state.node_count; n++) {
        struct lks_beat beat = lks_fleet_beat(a, 7, seq);
        CHECK(!lks_heartbeat_hear(&a->state, a->now, n, &beat));
    }
}

static void test_mass(void)
{
    for (size_t i = 0; i < LKS_COUNT(masses); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        size_t found = 0, ticks = 0;
        lks_test_case("%s", masses[i].name);
        make(&a, masses[i].hosts);
        for (unsigned second = 10; second <= 900; second += 10) {
            unsigned gone = masses[i].each *
                            (masses[i].apart == 0 ? masses[i].silent : second / masses[i].apart);
            lks_fleet_wait(&a, 10 * LKS_SECOND);
            beat_all(&a, gone < masses[i].silent ? gone : masses[i].silent, second);
            found += lks_fleet_ticks(&a, LKS_RECORD_MASS, &ticks);
        }
        CHECK_INT(found, masses[i].mass);
        CHECK_INT(a.state.alarms_open, masses[i].mass);
        CHECK(lks_state_acts_wait(&a.state, 0) == (masses[i].mass > 0));
        CHECK_INT(a.state.liveness[LKS_LOST], masses[i].silent);
    }
}

/* One record and one alarm, until a person releases it; then the next one counts from nothing. */
static void test_mass_once(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    size_t ticks = 0;
    make(&a, "n[01-40]");
    lks_fleet_wait(&a, LATE * LKS_SECOND);
    (void)lks_fleet_tick(&a);
    const struct lks_decision *d = &a.decision;
    CHECK_INT(d->count, 42);
    CHECK_INT(d->records[11].kind, LKS_RECORD_ALARM);
    CHECK_STR(d->records[11].alarm.text,
              "11 of 40 nodes became late within 300 s: automatic acts in this pool wait");
    CHECK_STR(d->records[11].alarm.subject, "train");
    CHECK_INT(d->records[12].mass.count, 11);
    CHECK_INT(d->records[12].mass.of, 40);
    CHECK_INT(d->records[12].mass.alarm, d->records[11].alarm.id);
    CHECK(lks_state_acts_wait(&a.state, 0));

    lks_test_case("they come back and are gone again");
    for (uint32_t n = 0; n < 40; n++) {
        struct lks_beat beat = lks_fleet_beat(&a, 7, 2);
        CHECK(lks_fleet_hear(&a, lks_state_name(&a.state, n).ptr, &beat).len > 0);
    }
    lks_fleet_wait(&a, LATE * LKS_SECOND);
    CHECK_INT(lks_fleet_ticks(&a, LKS_RECORD_MASS, &ticks), 0);

    lks_test_case("released");
    const struct lks_record over = {.kind = LKS_RECORD_ALARM_RELEASED, .alarm_released = {.id = 1}};
    lks_asked_apply(&a, &over);
    CHECK(!lks_state_acts_wait(&a.state, 0));
    lks_fleet_wait(&a, LOST * LKS_SECOND);
    CHECK_INT(lks_fleet_ticks(&a, LKS_RECORD_MASS, &ticks), 0);
    for (uint32_t n = 0; n < 40; n++) {
        struct lks_beat beat = lks_fleet_beat(&a, 7, 3);
        CHECK(lks_fleet_hear(&a, lks_state_name(&a.state, n).ptr, &beat).len > 0);
    }
    lks_fleet_wait(&a, LATE * LKS_SECOND);
    (void)lks_fleet_tick(&a);
    CHECK_INT(d->records[12].kind, LKS_RECORD_MASS);
    CHECK_INT(d->records[12].mass.count, 11);
}

/* A pool of 20. `flapping` of them come back each time they turned late, `rounds` times within the
 * window, and then `gone` others fall silent with them. */
static const struct {
    const char *name;
    unsigned flapping, rounds, gone;
    unsigned count; /* that MASS tells; 0: there is none */
} flaps[] = {
    {"one that comes and goes all the time", 1, 9, 0, 0},
    {"ten that come and go all the time", 10, 9, 0, 0},
    {"eleven that come and go", 11, 1, 0, 11},
    {"one that comes and goes, and nine others", 1, 7, 9, 0},
    {"one that comes and goes, and ten others", 1, 7, 10, 11},
    {"ten that come and go, and one other", 10, 7, 1, 11},
};

static void test_mass_flapping(void)
{
    for (size_t i = 0; i < LKS_COUNT(flaps); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        uint64_t count = 0;
        lks_test_case("%s", flaps[i].name);
        make(&a, "n[01-20]");
        for (unsigned round = 1; round <= flaps[i].rounds + (flaps[i].gone > 0); round++) {
            unsigned gone = round > flaps[i].rounds ? flaps[i].gone : 0;
            lks_fleet_wait(&a, LATE * LKS_SECOND - 1);
            beat_all(&a, flaps[i].flapping + gone, 2 * round);
            lks_fleet_wait(&a, 1);
            (void)lks_fleet_tick(&a);
            for (size_t k = 0; k < a.decision.count; k++) {
                if (a.decision.records[k].kind == LKS_RECORD_MASS)
                    count = a.decision.records[k].mass.count;
            }
            for (uint32_t n = 0; n < flaps[i].flapping; n++) {
                struct lks_beat beat = lks_fleet_beat(&a, 7, 2 * round + 1);
                CHECK(lks_fleet_hear(&a, lks_state_name(&a.state, n).ptr, &beat).len > 0);
            }
        }
        CHECK_INT(count, flaps[i].count);
        CHECK_INT(a.state.alarms_open, flaps[i].count > 0);
    }
}

/* Pools are looked at one by one. */
static void test_mass_pools(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    size_t ticks = 0;
    make(&a, "n[01-20]");
    lks_fleet_pool(&a, "dev", "", "");
    lks_fleet_place(&a, "d[1-9]", "dev");
    lks_fleet_live(&a, "d[1-9]", 7);
    lks_fleet_place(&a, "loose[1-30]", "");
    lks_fleet_live(&a, "loose[1-30]", 7);
    lks_fleet_wait(&a, LATE * LKS_SECOND);
    CHECK_INT(lks_fleet_ticks(&a, LKS_RECORD_MASS, &ticks), 1);
    CHECK(lks_state_acts_wait(&a.state, lks_state_pool(&a.state, LKS_STR("train"))));
    CHECK(!lks_state_acts_wait(&a.state, lks_state_pool(&a.state, LKS_STR("dev"))));
    CHECK_INT(a.state.liveness[LKS_LATE], 59);
}

/* A tick lists a slice, and says that there is more. */
static void test_slices(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    size_t ticks = 0;
    make(&a, "n[0001-3000]");
    lks_fleet_wait(&a, LATE * LKS_SECOND);
    (void)lks_fleet_tick(&a);
    CHECK(a.decision.more);
    CHECK(a.decision.count >= LKS_DECISION_SLICE && a.decision.count < LKS_DECISION_SLICE + 3);
    CHECK_INT(lks_fleet_ticks(&a, LKS_RECORD_MASS, &ticks), 0);
    CHECK(!a.decision.more);
    CHECK_INT(ticks, 2);
    CHECK_INT(a.state.liveness[LKS_LATE], 3000);
    CHECK_INT(a.state.alarms_open, 1);
}

/* Heartbeats -------------------------------------------------------------------------------- */

/* Heartbeats of n1 behind the first one, in order, and what was recorded in the end. `skew` is in
 * ms; a beat each second. */
#define BEATS 8
struct heard {
    unsigned boot;
    uint64_t seq;
    int skew;
};

static const struct {
    const char *name;
    struct heard beats[BEATS]; /* up to boot 0 */
    const char *told;          /* records but those of liveness */
} stories[] = {
    {"in order", {{7, 2, 0}, {7, 3, 0}, {7, 4, 0}}, ""},
    {"doubled messages", {{7, 2, 0}, {7, 2, 0}, {7, 2, 0}, {7, 2, 0}, {7, 2, 0}, {7, 3, 0}}, ""},
    {"two out of order", {{7, 5, 0}, {7, 3, 0}, {7, 4, 0}, {7, 6, 0}}, ""},
    {"three old ones",
     {{7, 5, 0}, {7, 2, 0}, {7, 3, 0}, {7, 4, 0}, {7, 2, 0}},
     "noted node=n1 note=replay on=1 text=3 heartbeats came out of order: an echo, or two agents "
     "under one name\n"
     "alarm id=1 alarm=replay subject=n1 text=3 heartbeats came out of order: an echo, or two "
     "agents under one name\n"},
    {"a new boot counts anew",
     {{7, 5, 0}, {7, 2, 0}, {7, 3, 0}, {8, 1, 0}, {8, 2, 0}, {8, 1, 0}},
     "booted node=n1 boot=00000000-0000-0000-0000-000000000008\n"},
    {"two agents under one name",
     {{8, 1, 0}, {7, 2, 0}, {8, 2, 0}, {7, 3, 0}, {8, 3, 0}, {7, 4, 0}, {8, 4, 0}},
     "booted node=n1 boot=00000000-0000-0000-0000-000000000008\n"
     "noted node=n1 note=replay on=1 text=3 heartbeats came out of order: an echo, or two agents "
     "under one name\n"
     "alarm id=1 alarm=replay subject=n1 text=3 heartbeats came out of order: an echo, or two "
     "agents under one name\n"},
    {"a clock that is off twice", {{7, 2, 6000}, {7, 3, 6000}, {7, 4, 0}, {7, 5, 6000}}, ""},
    {"a clock that is off",
     {{7, 2, 6000}, {7, 3, 6000}, {7, 4, 6001}, {7, 5, 7000}},
     "noted node=n1 note=skew on=1 text=its clock is 6001 ms ahead of ours\n"},
    {"a clock at the limit", {{7, 2, 5000}, {7, 3, 5000}, {7, 4, -5000}, {7, 5, -5000}}, ""},
    {"a clock behind, and nearly back",
     {{7, 2, -9000}, {7, 3, -9000}, {7, 4, -9000}, {7, 5, -2501}, {7, 6, -4000}},
     "noted node=n1 note=skew on=1 text=its clock is 9000 ms behind ours\n"},
    {"a clock behind, and back",
     {{7, 2, -9000}, {7, 3, -9000}, {7, 4, -9000}, {7, 5, -2500}},
     "noted node=n1 note=skew on=1 text=its clock is 9000 ms behind ours\n"
     "noted node=n1 note=skew text=its clock is 2500 ms behind ours\n"},
};

static void test_stories(void)
{
    for (size_t i = 0; i < LKS_COUNT(stories); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf told = LKS_BUF(1 << 16);
        lks_test_case("%s", stories[i].name);
        make(&a, "n1");
        for (const struct heard *h = stories[i].beats; h->boot != 0; h++) {
            lks_fleet_wait(&a, LKS_SECOND);
            struct lks_beat beat = lks_fleet_beat(&a, h->boot, h->seq);
            beat.sent += (lks_ms)(int64_t)h->skew;
            lks_buf_add(&told, lks_fleet_hear(&a, "n1", &beat));
        }
        CHECK_STR(told.ptr == NULL ? LKS_STR("") : lks_buf_view(&told), stories[i].told);
    }
}

/* An old heartbeat keeps nobody alive, and brings nobody back. */
static void test_old_is_no_life(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make(&a, "n1");
    struct lks_beat beat = lks_fleet_beat(&a, 7, 5);
    CHECK_STR(lks_fleet_hear(&a, "n1", &beat), "");
    for (unsigned second = 1; second <= 200; second++) {
        lks_fleet_wait(&a, LKS_SECOND);
        beat.seq = second % 2 == 0 ? 4 : 5;
        if (second > LATE)
            CHECK(lks_str_find(lks_fleet_hear(&a, "n1", &beat), LKS_STR("live")) < 0);
        (void)lks_fleet_tick(&a);
    }
    CHECK_INT(a.state.nodes[0].notes, 1 << LKS_NOTE_REPLAY);
    CHECK_INT(a.state.nodes[0].liveness, LKS_LOST);
}

/* Enough good heartbeats end it, and one old one in between begins the count anew. */
static void test_replay_over(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make(&a, "n1");
    struct lks_beat beat = lks_fleet_beat(&a, 7, 10);
    (void)lks_fleet_hear(&a, "n1", &beat);
    for (beat.seq = 2; beat.seq < 5; beat.seq++)
        (void)lks_fleet_hear(&a, "n1", &beat);
    CHECK_INT(a.state.nodes[0].notes, 1 << LKS_NOTE_REPLAY);
    for (beat.seq = 11; beat.seq < 11 + LKS_HEARTBEAT_CLEAN - 1; beat.seq++)
        CHECK_STR(lks_fleet_hear(&a, "n1", &beat), "");
    CHECK_STR(lks_fleet_hear(&a, "n1", &beat),
              "noted node=n1 note=replay text=heartbeats are in order again\n");
    CHECK_INT(a.state.alarms_open, 1);
}

/* Witnesses --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint64_t seq;
    uint8_t hash;
    uint64_t health;
    const char *text; /* NULL: nothing is wrong */
} witnesses[] = {
    {"no head", 0, 0, 0, NULL},
    {"the newest head", 4, 40, 0, NULL},
    {"an older head", 2, 20, 0, NULL},
    {"a head that is too old to be compared", 1, 99, 0, NULL},
    {"the newest head with another hash", 4, 41, 0,
     "it witnessed row 4 of the journal with another hash than it has here"},
    {"a head beyond our end", 100, 0, 0,
     "it witnessed row 100 of the journal and this journal ends before it"},
    {"the agent itself saw two that contradict each other", 4, 40, LKS_HEALTH_WITNESS,
     "it witnessed row 4 of the journal beside a head that contradicts it"},
};

static void test_witness(void)
{
    for (size_t i = 0; i < LKS_COUNT(witnesses); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        char want[512] = "";
        lks_test_case("%s", witnesses[i].name);
        make(&a, "n1");
        for (uint64_t seq = 2; seq <= 4; seq++) {
            const struct lks_head head = {.seq = seq, .hash = {[0] = (uint8_t)(10 * seq)}};
            lks_heartbeat_publish(&a.state, &head);
        }
        struct lks_beat beat = lks_fleet_beat(&a, 7, 2);
        beat.head_seq = witnesses[i].seq;
        beat.head_hash[0] = witnesses[i].hash;
        beat.health = witnesses[i].health;
        if (witnesses[i].text != NULL)
            snprintf(want, sizeof(want),
                     "noted node=n1 note=witness on=1 text=%s\n"
                     "alarm id=1 alarm=witness subject=n1 text=%s\n",
                     witnesses[i].text, witnesses[i].text);
        CHECK_STR(lks_fleet_hear(&a, "n1", &beat), want);
        beat.seq = 3;
        lks_test_case("%s, again", witnesses[i].name);
        CHECK_STR(lks_fleet_hear(&a, "n1", &beat), "");
        beat = lks_fleet_beat(&a, 7, 4);
        beat.head_seq = 3;
        beat.head_hash[0] = 30;
        lks_test_case("%s, then a good one", witnesses[i].name);
        CHECK_STR(lks_fleet_hear(&a, "n1", &beat),
                  witnesses[i].text == NULL ? ""
                                            : "noted node=n1 note=witness text=it witnesses a head "
                                              "of this journal\n");
    }
}

/* More heads than are kept: the last ones count. */
static void test_witness_ring(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make(&a, "n1");
    a.state.seq = 1000;
    for (uint64_t seq = 1; seq <= UINT64_C(2) * LKS_STATE_HEADS; seq++) {
        const struct lks_head head = {.seq = seq, .hash = {[0] = (uint8_t)seq}};
        lks_heartbeat_publish(&a.state, &head);
    }
    static const struct {
        uint64_t seq;
        enum lks_witness witness;
    } rows[] = {
        {LKS_STATE_HEADS, LKS_WITNESS_UNKNOWN},
        {LKS_STATE_HEADS + 1, LKS_WITNESS_WRONG},
        {UINT64_C(2) * LKS_STATE_HEADS, LKS_WITNESS_WRONG},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_beat beat = lks_fleet_beat(&a, 7, 2 + i);
        beat.head_seq = rows[i].seq;
        beat.head_hash[0] = 0xff;
        (void)lks_fleet_hear(&a, "n1", &beat);
        CHECK_INT(lks_heartbeat_witness(&a.state, 0), rows[i].witness);
    }
}

/* A tuple that is named and never sent is a contradiction, until it is sent. */
static void test_contradiction(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make(&a, "n1");
    struct lks_beat beat = lks_fleet_beat(&a, 7, 2);
    beat.tuple[0] = 1;
    for (; beat.seq < 1 + LKS_HEARTBEAT_UNSENT; beat.seq++)
        CHECK_STR(lks_fleet_hear(&a, "n1", &beat), "");
    CHECK_STR(lks_fleet_hear(&a, "n1", &beat),
              "noted node=n1 note=contradiction on=1 text=30 heartbeats name a tuple that was not "
              "sent\n");
    beat.tuple[0] = 0;
    beat.seq++;
    CHECK_STR(lks_fleet_hear(&a, "n1", &beat),
              "noted node=n1 note=contradiction text=the tuple it names was sent\n");
}

/* Of itself --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t offset; /* of the limit that is changed, from good ones */
    uint64_t to;
    const char *told;
} limits[] = {
    {"heartbeat", offsetof(struct lks_limits, heartbeat), 0,
     "invalid: limits.heartbeat_ms is at least 1"},
    {"late before the next heartbeat", offsetof(struct lks_limits, late), 10000,
     "invalid: limits.late_ms is more than limits.heartbeat_ms, or every node would be late"},
    {"lost before late", offsetof(struct lks_limits, lost), 30000,
     "invalid: limits.lost_ms is more than limits.late_ms"},
    {"percent", offsetof(struct lks_limits, mass_percent), 101,
     "invalid: limits.mass_percent is at most 100"},
    {"window", offsetof(struct lks_limits, mass_window), 0,
     "invalid: limits.mass_window_ms is at least 1"},
    {"skew", offsetof(struct lks_limits, skew), 0, "invalid: limits.skew_ms is at least 1"},
    {"no node in a call", offsetof(struct lks_limits, call_nodes), 0,
     "invalid: limits.call_nodes is at least 1"},
    {"as they are", offsetof(struct lks_limits, lost), 120000, ""},
    {"another", offsetof(struct lks_limits, lost), 60000,
     "limits heartbeat=10000 late=30000 lost=60000 mass_floor=10 mass_percent=2 "
     "mass_window=300000 skew=5000 call_nodes=10 validity=60000 staleness=5000 "
     "outband_age=604800000 "
     "proposal_age=1209600000\n"},
};

static void test_limits(void)
{
    for (size_t i = 0; i < LKS_COUNT(limits); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct lks_event event = {.kind = LKS_EVENT_LIMITS, .limits = lks_limits_default};
        lks_test_case("%s", limits[i].name);
        lks_asked_init(&a);
        memcpy((char *)&event.limits + limits[i].offset, &limits[i].to, sizeof(uint64_t));
        CHECK_STR(lks_asked(&a, &event), limits[i].told);
    }
}

/* New limits count for the nodes that are there. */
static void test_limits_at_once(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_event event = {.kind = LKS_EVENT_LIMITS, .limits = lks_limits_default};
    make(&a, "n1");
    event.limits.late = 15 * LKS_SECOND;
    CHECK(lks_asked(&a, &event).len > 0);
    CHECK_INT(lks_decide_next(&a.state), a.now.mono + 15 * LKS_SECOND);
}

/* A yes that was given for longer stands although new ones are shorter. */
static void test_limits_yeses(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_event event = {.kind = LKS_EVENT_LIMITS, .limits = lks_limits_default};
    const struct lks_limits *d = &lks_limits_default;
    lks_asked_init(&a);
    lks_ms last = a.now.wall + d->validity + d->staleness + d->skew;
    event.limits.validity = d->validity / 2;
    CHECK(lks_asked(&a, &event).len > 0);
    CHECK_INT(a.state.yeses_until, last);
    lks_test_case("shorter still: the first ones stand longest");
    event.limits.validity = d->validity / 4;
    CHECK(lks_asked(&a, &event).len > 0);
    CHECK_INT(a.state.yeses_until, last);
    lks_test_case("longer: nothing stands longer than it would");
    event.limits.validity = d->validity * 2;
    CHECK(lks_asked(&a, &event).len > 0);
    CHECK_INT(a.state.yeses_until, last);
}

static const struct {
    const char *name;
    uint64_t forward, back;
    const char *told;
} jumps[] = {
    {"a little", 5000, 0, ""},
    {"forward", 5001, 0,
     "clock wall=1000000 forward=5001 text=the controller's clock jumped forward by 5001 ms\n"
     "alarm id=1 alarm=clock subject=lockstepd text=the controller's clock jumped forward by 5001 "
     "ms\n"},
    {"back", 0, 60000,
     "clock wall=1000000 back=60000 text=the controller's clock jumped back by 60000 ms\n"
     "alarm id=1 alarm=clock subject=lockstepd text=the controller's clock jumped back by 60000 "
     "ms\n"},
};

static void test_clock(void)
{
    for (size_t i = 0; i < LKS_COUNT(jumps); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        const struct lks_event event = {
            .kind = LKS_EVENT_CLOCK, .clock = {.forward = jumps[i].forward, .back = jumps[i].back}};
        lks_test_case("%s", jumps[i].name);
        lks_asked_init(&a);
        CHECK_STR(lks_asked(&a, &event), jumps[i].told);
        lks_asked(&a, &event);
        CHECK_INT(a.state.alarms_open, jumps[i].told[0] != '\0');
    }
}

static void test_started(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    const struct lks_event event = {.kind = LKS_EVENT_STARTED,
                                    .started = {LKS_STR("0.1.0"), LKS_STR("head1")}};
    lks_asked_init(&a);
    CHECK_STR(lks_asked(&a, &event), "started version=0.1.0 host=head1\n");
}

/* Agents gone mad cannot use up the alarms that a MASS needs. */
static void test_alarm_flood(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    size_t ticks = 0;
    make(&a, "n[01-20]");
    for (uint64_t id = 1; id <= LKS_STATE_ALARMS_MAX / 2; id++) {
        const struct lks_record r = {.kind = LKS_RECORD_ALARM,
                                     .alarm = {.id = id, .kind = LKS_ALARM_PARTS}};
        lks_asked_apply(&a, &r);
    }
    struct lks_beat beat = lks_fleet_beat(&a, 7, 2);
    beat.head_seq = UINT64_MAX;
    CHECK_STR(lks_fleet_hear(&a, "n01", &beat),
              "noted node=n01 note=witness on=1 text=it witnessed row 18446744073709551615 of the "
              "journal and this journal ends before it\n");
    lks_fleet_wait(&a, LATE * LKS_SECOND);
    CHECK_INT(lks_fleet_ticks(&a, LKS_RECORD_ALARM, &ticks), 1);
    CHECK(lks_state_acts_wait(&a.state, 0));
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"decide heartbeat: liveness", test_liveness},
        {"decide heartbeat: never seen", test_never},
        {"decide heartbeat: MASS", test_mass},
        {"decide heartbeat: MASS once", test_mass_once},
        {"decide heartbeat: MASS counts nodes, not turns", test_mass_flapping},
        {"decide heartbeat: MASS by pool", test_mass_pools},
        {"decide heartbeat: slices", test_slices},
        {"decide heartbeat: order, boots and clocks", test_stories},
        {"decide heartbeat: an old heartbeat is no life", test_old_is_no_life},
        {"decide heartbeat: a replay is over", test_replay_over},
        {"decide heartbeat: witnesses", test_witness},
        {"decide heartbeat: heads that are kept", test_witness_ring},
        {"decide heartbeat: contradiction", test_contradiction},
        {"decide heartbeat: limits", test_limits},
        {"decide heartbeat: limits count at once", test_limits_at_once},
        {"decide heartbeat: limits count at once, yeses", test_limits_yeses},
        {"decide heartbeat: clock", test_clock},
        {"decide heartbeat: started", test_started},
        {"decide heartbeat: too many alarms", test_alarm_flood},
        {0},
    });
}
