
#include "base/rng.h"
#include "core/campaign/state_apply.h"
#include "core/entity/entity.h"
#include "core/rows/alarm.h"
#include "core/rows/command.h"
#include "core/rows/credential.h"
#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/heartbeat.h"
#include "core/state/lookup.h"
#include "core/state/mass.h"
#include "core/state/node_status.h"
#include "tests/anything.h"
#include "tests/counted.h"
#include "tests/fleet.h"
#include "tests/reload.h"
#include "tests/test.h"

#include <stdio.h>

enum { SEED = 7 };

/* Folding ----------------------------------------------------------------------------------- */

static void apply(struct lks_state *s, lks_ms time, const struct lks_record *r)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_state_apply(s, s->seq + 1, time, r, &err), LKS_OK);
}

static bool check_equal(const struct lks_state *a, const struct lks_state *b)
{
    struct lks_err why = {0};
    bool same = lks_entity_equal(a, b, &why);
    if (!same)
        printf("differs: %s\n", why.msg);
    return CHECK(same);
}

/* Every count that is kept along, counted anew. */
static bool check_counts(const struct lks_state *s)
{
    uint32_t placed = 0, live[LKS_LIVENESS_COUNT] = {0}, open = 0, pending = 0, kept_pending = 0;
    bool pools = true, bases = true;
    for (uint32_t n = 0; n < s->node_count; n++) {
        bool counts = s->nodes[n].placed && s->nodes[n].asset == 0;
        placed += counts;
        live[s->nodes[n].liveness] += counts;
        kept_pending += s->nodes[n].pending;
    }
    for (uint32_t p = 0; p < s->pool_count; p++) {
        const struct lks_state_pool *pool = &s->pools[p];
        struct lks_state_pool want = {0};
        for (uint32_t n = 0; n < s->node_count; n++) {
            bool counts = s->nodes[n].placed && s->nodes[n].asset == 0 && s->nodes[n].pool == p;
            want.nodes += counts;
            want.enrolled += counts && s->nodes[n].enrolled;
            want.liveness[s->nodes[n].liveness] += counts;
        }
        pools = pools && want.nodes == pool->nodes && want.enrolled == pool->enrolled &&
                memcmp(want.liveness, pool->liveness, sizeof(want.liveness)) == 0;
    }
    for (uint32_t i = 0; i < lks_intern_count(&s->basis_digests); i++) {
        uint32_t uses = 0, chained = 0, wholes = 0;
        for (uint32_t n = 0; n < s->node_count; n++) {
            const struct lks_node *node = &s->nodes[n];
            uses += node->inband == i + 1;
            uses += node->outband == i + 1;
            wholes += node->whole == i + 1;
        }
        for (uint32_t n = s->bases[i].first; n != 0; n = s->nodes[n - 1].whole_next)
            chained += s->nodes[n - 1].whole == i + 1;
        bases = bases && uses + wholes == s->bases[i].uses && chained == wholes;
    }
    for (uint32_t i = 0; i < s->alarm_count; i++)
        open += s->alarms[i].released == 0;
    for (uint32_t i = 0; i < s->command_count; i++)
        pending += !s->commands[i].ended;
    return CHECK_INT(s->placed_count, placed) &&
           CHECK(memcmp(live, s->liveness, sizeof(live)) == 0) && CHECK(pools) && CHECK(bases) &&
           CHECK_INT(s->alarms_open, open) && CHECK_INT(s->commands_open, pending) &&
           CHECK_INT(kept_pending, pending) && lks_counted_work(s) && lks_counted_changes(s);
}

/* Any record in any state ------------------------------------------------------------------- */

/* A state that lives on and one that was restarted in between are told the same, and are the same
 * ever after. */
static void test_property(void)
{
    enum { SEEDS = 45, STEPS = 2500 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        LKS_CLEANUP(lks_state_fini) struct lks_state lived = {0}, restarted = {0};
        struct lks_rng rng = {seed};
        struct lks_err err = {0};
        lks_ms time = 1;
        lks_test_case("seed %d", (int)seed);
        CHECK_CODE(lks_state_init(&lived, SEED, &err), LKS_OK);
        CHECK_CODE(lks_state_init(&restarted, SEED, &err), LKS_OK);
        for (unsigned i = 1; i <= STEPS; i++) {
            struct lks_record r = lks_test_any_record(&rng, &lived);
            time += lks_rng_below(&rng, 300);
            apply(&lived, time, &r);
            apply(&restarted, time, &r);
            if (!lks_rng_percent(&rng, 2) && i != STEPS)
                continue;
            if (!check_equal(&lived, &restarted) || !check_counts(&lived))
                break;
            struct lks_state anew = {0};
            lks_test_reload(&restarted, &anew);
            bool same = check_equal(&lived, &anew) && check_counts(&anew);
            lks_state_fini(&restarted);
            restarted = anew;
            if (!same)
                break;
        }
    }
}

/* Single rules ------------------------------------------------------------------------------ */

#define ALL LKS_STR("n1")

/* A node that a job may run on, in a pool that pins the stack "s". */
static void make_good(struct lks_asked *a)
{
    char boot[LKS_BOOT_TEXT_SIZE];
    lks_asked_init(a);
    lks_fleet_pool(a, "train", "gold", "s");
    lks_fleet_place(a, "n1", "train");
    lks_fleet_live(a, "n1", 7);
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_BASIS, .basis = {.digest = LKS_STR("w"), .readings = LKS_STR("r")}},
        {.kind = LKS_RECORD_VERDICT,
         .verdict = {.basis = LKS_STR("w"), .stack = LKS_STR("s"), .judged = LKS_JUDGED_CONFORMS}},
        {.kind = LKS_RECORD_TUPLE,
         .tuple = {.node = ALL,
                   .digest = LKS_STR("d"),
                   .boot = lks_str_from(lks_fleet_boot(7, boot)),
                   .basis = LKS_STR("w"),
                   .whole = LKS_STR("w")}},
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        lks_asked_apply(a, &records[i]);
}

static const struct {
    const char *name;
    struct lks_record then;
    const char *why; /* NULL: admissible */
} admissions[] = {
    {"all is well", {.kind = LKS_RECORD_STARTED}, NULL},
    {"removed",
     {.kind = LKS_RECORD_REMOVED, .removed = {.hosts = LKS_STR_C("n1")}},
     "it is not a node of the fleet"},
    {"an asset by now",
     {.kind = LKS_RECORD_PLACED,
      .placed = {.hosts = LKS_STR_C("n1"), .asset = LKS_STR_C("switch-tray")}},
     "it is not a node of the fleet"},
    {"revoked",
     {.kind = LKS_RECORD_REVOKED, .revoked = {.node = LKS_STR_C("n1")}},
     "it is not enrolled"},
    {"replaced",
     {.kind = LKS_RECORD_REPLACED, .replaced = {.node = LKS_STR_C("n1")}},
     "it is not enrolled"},
    {"late",
     {.kind = LKS_RECORD_LIVENESS, .liveness = {.node = LKS_STR_C("n1"), .state = LKS_LATE}},
     "its heartbeat is late"},
    {"lost",
     {.kind = LKS_RECORD_LIVENESS, .liveness = {.node = LKS_STR_C("n1"), .state = LKS_LOST}},
     "it is lost"},
    {"held", {.kind = LKS_RECORD_HELD, .held = {.node = LKS_STR_C("n1")}}, "it is on hold"},
    {"in intake",
     {.kind = LKS_RECORD_INTAKE, .intake = {.node = LKS_STR_C("n1")}},
     "it is in intake"},
    {"booted since",
     {.kind = LKS_RECORD_BOOTED, .booted = {.node = LKS_STR_C("n1"), .boot = LKS_STR_C("b")}},
     "what it runs in this boot was not reported yet"},
    {"another stack since",
     {.kind = LKS_RECORD_POOL,
      .pool = {.name = LKS_STR_C("train"), .stack_digest = LKS_STR_C("t")}},
     "what it runs was not compared with the stack of its pool"},
    {"no stack any more",
     {.kind = LKS_RECORD_POOL, .pool = {.name = LKS_STR_C("train")}},
     "what it runs was not compared with the stack of its pool"},
    {"in another pool",
     {.kind = LKS_RECORD_PLACED, .placed = {.hosts = LKS_STR_C("n1"), .pool = LKS_STR_C("other")}},
     "what it runs was not compared with the stack of its pool"},
    {"drifted",
     {.kind = LKS_RECORD_VERDICT,
      .verdict = {.basis = LKS_STR_C("w"),
                  .stack = LKS_STR_C("s"),
                  .judged = LKS_JUDGED_DRIFT,
                  .drifted = 1}},
     "it does not run the stack of its pool"},
    {"unmeasured",
     {.kind = LKS_RECORD_VERDICT,
      .verdict = {.basis = LKS_STR_C("w"),
                  .stack = LKS_STR_C("s"),
                  .judged = LKS_JUDGED_UNMEASURED}},
     "not all of the stack of its pool could be measured"},
    {"other readings",
     {.kind = LKS_RECORD_TUPLE,
      .tuple = {.node = LKS_STR_C("n1"),
                .digest = LKS_STR_C("d"),
                .boot = LKS_STR_C("00000000-0000-0000-0000-000000000007"),
                .basis = LKS_STR_C("v"),
                .whole = LKS_STR_C("v")}},
     "what it runs was not compared with the stack of its pool"},
    {"a record of version 1",
     {.kind = LKS_RECORD_TUPLE,
      .tuple = {.node = LKS_STR_C("n1"),
                .digest = LKS_STR_C("d"),
                .boot = LKS_STR_C("00000000-0000-0000-0000-000000000007"),
                .stack = LKS_STR_C("s"),
                .judged = LKS_JUDGED_CONFORMS}},
     "what it runs was not compared with the stack of its pool"},
};

static void test_admissible(void)
{
    for (size_t i = 0; i < LKS_COUNT(admissions); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        const char *why = "";
        lks_test_case("%s", admissions[i].name);
        make_good(&a);
        uint32_t node = lks_fleet_node(&a, "n1");
        lks_asked_apply(&a, &admissions[i].then);
        CHECK(lks_node_admissible(&a.state, node, 0, &why) == (admissions[i].why == NULL));
        CHECK_STR(lks_str_from(why), admissions[i].why == NULL ? "" : admissions[i].why);
        CHECK(lks_node_admissible(&a.state, node, 0, NULL) == (admissions[i].why == NULL));
    }
}

/* With another stack to be judged against, a judgement is void, and so is what it said. */
static void test_void(void)
{
    static const struct {
        const char *name;
        struct lks_record then;
        enum lks_judged judged;
    } rows[] = {
        {"its pool pins another",
         {.kind = LKS_RECORD_POOL,
          .pool = {.name = LKS_STR_C("train"), .stack_digest = LKS_STR_C("t")}},
         LKS_JUDGED_NOT},
        {"its pool is gone",
         {.kind = LKS_RECORD_POOL_REMOVED, .pool_removed = {.name = LKS_STR_C("train")}},
         LKS_JUDGED_NOT},
        {"it moves to a pool that pins another",
         {.kind = LKS_RECORD_PLACED,
          .placed = {.hosts = LKS_STR_C("n1"), .pool = LKS_STR_C("dev")}},
         LKS_JUDGED_NOT},
        {"it moves to a pool that pins the same",
         {.kind = LKS_RECORD_PLACED,
          .placed = {.hosts = LKS_STR_C("n1"), .pool = LKS_STR_C("lab")}},
         LKS_JUDGED_CONFORMS},
        {"it moves within its pool",
         {.kind = LKS_RECORD_PLACED,
          .placed = {.hosts = LKS_STR_C("n1"),
                     .pool = LKS_STR_C("train"),
                     .rack = LKS_STR_C("r7")}},
         LKS_JUDGED_CONFORMS},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", rows[i].name);
        make_good(&a);
        lks_fleet_pool(&a, "dev", "silver", "t");
        lks_fleet_pool(&a, "lab", "gold", "s");
        lks_asked_apply(&a, &rows[i].then);
        CHECK_INT(lks_state_judged(&a.state, lks_fleet_node(&a, "n1")), rows[i].judged);
    }
}

/* A node that left and comes back has its place and nothing else. */
static void test_return(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make_good(&a);
    uint32_t node = lks_fleet_node(&a, "n1");
    const struct lks_record removed = {.kind = LKS_RECORD_REMOVED, .removed = {.hosts = ALL}};
    lks_asked_apply(&a, &removed);
    CHECK_INT(lks_state_node(&a.state, ALL), LKS_NO_NODE);
    CHECK_INT(a.state.deadlines.count, 0);
    CHECK_INT(lks_state_basis(&a.state, LKS_STR("w")), 0);
    lks_fleet_place(&a, "n1", "train");
    CHECK_INT(lks_fleet_node(&a, "n1"), node);
    CHECK(!a.state.nodes[node].enrolled && !a.state.pulses[node].heard);
    CHECK_INT(a.state.nodes[node].tuple, 0);
    CHECK_INT(a.state.nodes[node].liveness, LKS_NEVER_SEEN);
}

/* Readings are known from their record until the last node has others, and so are verdicts. */
static void test_bases(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    lks_fleet_place(&a, "n[1-2]", "");
    const struct lks_record known = {.kind = LKS_RECORD_BASIS,
                                     .basis = {.digest = LKS_STR("d"), .readings = LKS_STR("r")}};
    const struct lks_record judged = {
        .kind = LKS_RECORD_VERDICT,
        .verdict = {.basis = LKS_STR("d"), .stack = LKS_STR("s"), .judged = LKS_JUDGED_CONFORMS}};
    struct lks_record runs = {
        .kind = LKS_RECORD_TUPLE,
        .tuple = {.node = LKS_STR("n1"), .basis = LKS_STR("d"), .whole = LKS_STR("d")}};
    lks_asked_apply(&a, &judged);
    CHECK_INT(a.state.verdict_count, 0);
    lks_asked_apply(&a, &known);
    lks_asked_apply(&a, &judged);
    uint32_t handle = lks_state_basis(&a.state, LKS_STR("d"));
    CHECK_STR(lks_state_readings(&a.state, handle), "r");
    lks_asked_apply(&a, &runs);
    lks_asked_apply(&a, &runs);
    runs.tuple.node = LKS_STR("n2");
    lks_asked_apply(&a, &runs);
    runs.tuple.basis = runs.tuple.whole = LKS_STR("e");
    lks_asked_apply(&a, &runs);
    CHECK_INT(lks_state_basis(&a.state, LKS_STR("d")), handle);
    runs.tuple.node = LKS_STR("n1");
    lks_asked_apply(&a, &runs);
    CHECK_INT(lks_state_basis(&a.state, LKS_STR("d")), 0);
    CHECK_INT(lks_state_readings(&a.state, handle).len, 0);
    CHECK(lks_state_basis(&a.state, LKS_STR("e")) != 0);
    CHECK_INT(a.state.verdict_free, 1);
    lks_test_case("known again");
    lks_asked_apply(&a, &known);
    lks_asked_apply(&a, &judged);
    CHECK_INT(lks_state_basis(&a.state, LKS_STR("d")), handle);
    CHECK_INT(a.state.verdict_count, 2);
    CHECK_INT(a.state.verdict_free, 0);
}

/* One node that runs something else each minute does not use up the memory of all. */
static void test_restless(void)
{
    enum { TUPLES = 2000, BYTES = 64 << 10 };
    static char readings[BYTES + 1];
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    lks_fleet_place(&a, "n1", "");
    size_t before = a.state.texts.bytes.used;
    memset(readings, 'r', BYTES);
    for (unsigned i = 0; i < TUPLES; i++) {
        char digest[16];
        snprintf(digest, sizeof(digest), "d%u", i);
        const struct lks_record known = {
            .kind = LKS_RECORD_BASIS,
            .basis = {.digest = lks_str_from(digest), .readings = {readings, BYTES - i}}};
        const struct lks_record runs = {.kind = LKS_RECORD_TUPLE,
                                        .tuple = {.node = LKS_STR("n1"),
                                                  .digest = lks_str_from(digest),
                                                  .basis = lks_str_from(digest),
                                                  .whole = lks_str_from(digest)}};
        lks_asked_apply(&a, &known);
        lks_asked_apply(&a, &runs);
    }
    CHECK(a.state.texts.bytes.used - before <= (size_t)100 * TUPLES);
    size_t kept = 0;
    for (unsigned i = 0; i < TUPLES; i++)
        kept += a.state.bases[i].readings != NULL;
    CHECK_INT(kept, 1);
}

/* The newest certificate and the one before it. */
static void test_certificates(void)
{
#define PRINT(digit) "sha256:000000000000000000000000000000000000000000000000000000000000000" digit
    static const char *const prints[] = {PRINT("1"), PRINT("a"), PRINT("3")};
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    char text[LKS_DIGEST_SIZE];
    lks_asked_init(&a);
    lks_fleet_place(&a, "n1", "");
    const struct lks_node *node = &a.state.nodes[lks_fleet_node(&a, "n1")];
    for (size_t i = 0; i < LKS_COUNT(prints); i++) {
        const struct lks_record r = {
            .kind = i == 0 ? LKS_RECORD_ENROLLED : LKS_RECORD_CERTIFIED,
            .certified = {.node = ALL, .fingerprint = lks_str_from(prints[i])}};
        lks_asked_apply(&a, &r);
        lks_test_case("%s", prints[i]);
        CHECK_STR(lks_str_from(lks_state_certificate_text(&node->certificates[0], text)),
                  prints[i]);
        CHECK_STR(lks_str_from(lks_state_certificate_text(&node->certificates[1], text)),
                  i == 0 ? "" : prints[i - 1]);
        CHECK(lks_state_certificate_is(&node->certificates[0], lks_str_from(prints[i])));
        CHECK(!lks_state_certificate_is(&node->certificates[1], lks_str_from(prints[i])));
    }
    const struct lks_record revoked = {.kind = LKS_RECORD_REVOKED, .revoked = {.node = ALL}};
    lks_asked_apply(&a, &revoked);
    CHECK(!node->enrolled);
    for (size_t i = 0; i < LKS_COUNT(node->certificates); i++) {
        CHECK_STR(lks_str_from(lks_state_certificate_text(&node->certificates[i], text)), "");
        CHECK(!lks_state_certificate_is(&node->certificates[i], LKS_STR("")));
        CHECK(!lks_state_certificate_is(&node->certificates[i], LKS_STR(PRINT("0"))));
    }
}

/* Who turned for the worse ----------------------------------------------------------------- */

static void live_or_not(struct lks_asked *a, const char *node, enum lks_liveness state)
{
    const struct lks_record r = {.kind = LKS_RECORD_LIVENESS,
                                 .liveness = {.node = lks_str_from(node), .state = state}};
    lks_asked_apply(a, &r);
}

/* Pools have their place in the order they came, and keep it when they are gone. */
static uint32_t turned_of(const struct lks_state *s, uint32_t pool)
{
    return lks_mass_count(&s->mass[pool], s->turns, s->clock, s->limits.mass_window);
}

/* n1 and n2 of "train" turn late, n1 twice. Each row is what happens then, and whom both pools
 * count. */
static const struct {
    const char *name;
    struct lks_record then;
    uint32_t train, dev;
} turns[] = {
    {"each counts once", {.kind = LKS_RECORD_STARTED}, 2, 0},
    {"late to lost is no turn",
     {.kind = LKS_RECORD_LIVENESS, .liveness = {.node = LKS_STR_C("n1"), .state = LKS_LOST}},
     2,
     0},
    {"one moves to another pool",
     {.kind = LKS_RECORD_PLACED, .placed = {.hosts = LKS_STR_C("n1"), .pool = LKS_STR_C("dev")}},
     1,
     0},
    {"one is removed", {.kind = LKS_RECORD_REMOVED, .removed = {.hosts = LKS_STR_C("n2")}}, 1, 0},
    {"the alarm is released",
     {.kind = LKS_RECORD_ALARM_RELEASED, .alarm_released = {.id = 1}},
     0,
     0},
    {"the pool is removed",
     {.kind = LKS_RECORD_POOL_REMOVED, .pool_removed = {.name = LKS_STR_C("train")}},
     0,
     0},
    {"a snapshot says so of a node",
     {.kind = LKS_RECORD_MASS, .mass = {.pool = LKS_STR_C("dev"), .what = LKS_STR_C("d1")}},
     2,
     1},
    {"or of one that is not of the pool",
     {.kind = LKS_RECORD_MASS, .mass = {.pool = LKS_STR_C("dev"), .what = LKS_STR_C("n1")}},
     2,
     0},
};

static void test_turns(void)
{
    for (size_t i = 0; i < LKS_COUNT(turns); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", turns[i].name);
        lks_asked_init(&a);
        lks_fleet_pool(&a, "train", "", "");
        lks_fleet_pool(&a, "dev", "", "");
        lks_fleet_place(&a, "n[1-3]", "train");
        lks_fleet_place(&a, "d1", "dev");
        lks_fleet_live(&a, "n[1-3]", 7);
        live_or_not(&a, "n1", LKS_LATE);
        live_or_not(&a, "n2", LKS_LATE);
        live_or_not(&a, "n1", LKS_LIVE);
        lks_fleet_wait(&a, LKS_SECOND);
        live_or_not(&a, "n1", LKS_LATE);
        const struct lks_record mass = {.kind = LKS_RECORD_MASS,
                                        .mass = {.pool = LKS_STR("train"), .alarm = 1}};
        lks_asked_apply(&a, &mass);
        lks_asked_apply(&a, &turns[i].then);
        CHECK_INT(turned_of(&a.state, 0), turns[i].train);
        CHECK_INT(turned_of(&a.state, 1), turns[i].dev);
        LKS_CLEANUP(lks_state_fini) struct lks_state again = {0};
        lks_test_reload(&a.state, &again);
        (void)check_equal(&a.state, &again);
    }
}

/* What a snapshot kept still counts each node once, and by when it last turned. */
static void test_turns_kept(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0}, b = {0};
    make_good(&a);
    lks_asked_init(&b);
    live_or_not(&a, "n1", LKS_LATE);
    lks_state_fini(&b.state);
    lks_test_reload(&a.state, &b.state);
    b.now = a.now;
    CHECK_INT(turned_of(&b.state, 0), 1);
    live_or_not(&b, "n1", LKS_LIVE);
    lks_fleet_wait(&b, a.state.limits.mass_window - 1);
    live_or_not(&b, "n1", LKS_LATE);
    CHECK_INT(turned_of(&b.state, 0), 1);
    lks_fleet_wait(&b, a.state.limits.mass_window - 1);
    lks_asked_apply(&b, &(struct lks_record){.kind = LKS_RECORD_STARTED});
    CHECK_INT(turned_of(&b.state, 0), 1);
    lks_fleet_wait(&b, 1);
    lks_asked_apply(&b, &(struct lks_record){.kind = LKS_RECORD_STARTED});
    CHECK_INT(turned_of(&b.state, 0), 0);
}

/* Bounds ------------------------------------------------------------------------------------ */

/* Alarms make room: closed ones of the older half go first, open ones stay. */
static void test_alarm_room(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_state_init(&s, SEED, &err), LKS_OK);
    for (uint64_t id = 1; id <= LKS_STATE_ALARMS_MAX + 1; id++) {
        const struct lks_record raised = {.kind = LKS_RECORD_ALARM, .alarm = {.id = id}};
        const struct lks_record over = {.kind = LKS_RECORD_ALARM_RELEASED,
                                        .alarm_released = {.id = id}};
        apply(&s, 1, &raised);
        if (id % 10 != 0)
            apply(&s, 1, &over);
    }
    CHECK_INT(s.alarm_count, LKS_STATE_ALARMS_MAX / 2 + LKS_STATE_ALARMS_MAX / 20 + 1);
    CHECK_INT(s.alarms_open, LKS_STATE_ALARMS_MAX / 10);
    CHECK(lks_state_alarm(&s, 10) != NULL);
    CHECK(lks_state_alarm(&s, 11) == NULL);
    CHECK(lks_state_alarm(&s, LKS_STATE_ALARMS_MAX) != NULL);
    CHECK_INT(s.next_alarm, LKS_STATE_ALARMS_MAX + 2);
}

static void test_command_room(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_state_init(&s, SEED, &err), LKS_OK);
    for (uint64_t id = 1; id <= LKS_STATE_COMMANDS_MAX + 2; id++) {
        const struct lks_record sent = {.kind = LKS_RECORD_COMMAND,
                                        .command = {.id = id, .node = ALL}};
        apply(&s, 1, &sent);
    }
    CHECK_INT(s.command_count, LKS_STATE_COMMANDS_MAX);
    CHECK_INT(s.nodes[0].pending, LKS_STATE_COMMANDS_MAX);
    CHECK(lks_state_command(&s, 2) == NULL);
    CHECK(lks_state_command(&s, 3) != NULL);
}

/* One place more than there may be is refused by a name, not by running out of memory. */
static void test_pool_limit(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_state_init(&s, SEED, &err), LKS_OK);
    for (unsigned i = 0; i <= LKS_STATE_POOLS_MAX; i++) {
        char name[32];
        snprintf(name, sizeof(name), "p%u", i);
        const struct lks_record r = {.kind = LKS_RECORD_POOL, .pool = {.name = lks_str_from(name)}};
        enum lks_code code = lks_state_apply(&s, i + 1, 1, &r, &err);
        if (!CHECK_CODE(code, i < LKS_STATE_POOLS_MAX ? LKS_OK : LKS_E_LIMIT))
            return;
    }
    CHECK_STR(lks_str_from(err.msg), "pools: the limit is 20000");
}

/* Lists in order ---------------------------------------------------------------------------- */

static void test_access_lists(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    struct lks_err err = {0};
    uint32_t count = 9;
    CHECK_CODE(lks_state_init(&s, SEED, &err), LKS_OK);
    CHECK(lks_state_bindings(&s, LKS_STR("kim"), &count) == NULL && count == 0);
    static const struct lks_rec_granted grants[] = {
        {.identity = LKS_STR_C("kim"), .role = LKS_ROLE_ADMIN},
        {.identity = LKS_STR_C("ann"), .role = LKS_ROLE_VIEWER},
        {.identity = LKS_STR_C("kim"), .role = LKS_ROLE_VIEWER, .site = LKS_STR_C("fra")},
        {.identity = LKS_STR_C("kim"), .role = LKS_ROLE_VIEWER, .site = LKS_STR_C("fra")},
        {.identity = LKS_STR_C("kimberly"), .role = LKS_ROLE_VIEWER},
        {.identity = LKS_STR_C("kim"), .role = LKS_ROLE_COUNT},
    };
    for (size_t i = 0; i < LKS_COUNT(grants); i++)
        apply(&s, 1, &(struct lks_record){.kind = LKS_RECORD_GRANTED, .granted = grants[i]});
    CHECK_INT(s.binding_count, 4);
    const struct lks_binding *of_kim = lks_state_bindings(&s, LKS_STR("kim"), &count);
    if (CHECK(of_kim != NULL) && CHECK_INT(count, 2)) {
        CHECK_INT(of_kim[0].role, LKS_ROLE_VIEWER);
        CHECK_INT(of_kim[1].role, LKS_ROLE_ADMIN);
    }
    apply(&s, 1,
          &(struct lks_record){.kind = LKS_RECORD_UNGRANTED,
                               .ungranted = {.identity = LKS_STR("kim"), .role = LKS_ROLE_ADMIN}});
    (void)lks_state_bindings(&s, LKS_STR("kim"), &count);
    CHECK_INT(count, 1);
}

static void test_tokens(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    struct lks_err err = {0};
    static const char *const ids[] = {"b", "c", "a", "b"};
    CHECK_CODE(lks_state_init(&s, SEED, &err), LKS_OK);
    for (size_t i = 0; i < LKS_COUNT(ids); i++)
        apply(&s, 1,
              &(struct lks_record){.kind = LKS_RECORD_API_TOKEN,
                                   .api_token = {.id = lks_str_from(ids[i]), .expires = i}});
    CHECK_INT(s.token_count, 3);
    for (size_t i = 1; i < LKS_COUNT(ids); i++) {
        const struct lks_api_token *found = lks_state_token(&s, lks_str_from(ids[i]));
        lks_test_case("%s", ids[i]);
        if (CHECK(found != NULL))
            CHECK_INT(found->expires, i);
    }
    apply(&s, 1,
          &(struct lks_record){.kind = LKS_RECORD_API_TOKEN_GONE,
                               .api_token_gone = {.id = LKS_STR("b")}});
    CHECK(lks_state_token(&s, LKS_STR("b")) == NULL);
    CHECK(lks_state_token(&s, LKS_STR("c")) != NULL);
}

/* A state that differs in one thing is told apart, by that thing. */
static const struct {
    const char *name;
    struct lks_record then;
    const char *why;
} differences[] = {
    {"one more node",
     {.kind = LKS_RECORD_PLACED, .placed = {.hosts = LKS_STR_C("n2")}},
     "number of rows 'node'"},
    {"an asset",
     {.kind = LKS_RECORD_PLACED,
      .placed = {.hosts = LKS_STR_C("s1"), .asset = LKS_STR_C("switch-tray")}},
     "number of rows 'node'"},
    {"held", {.kind = LKS_RECORD_HELD, .held = {.node = LKS_STR_C("n1")}}, "held of node 'n1'"},
    {"a boot",
     {.kind = LKS_RECORD_BOOTED, .booted = {.node = LKS_STR_C("n1"), .boot = LKS_STR_C("b")}},
     "boot of node 'n1'"},
    {"a pool",
     {.kind = LKS_RECORD_POOL, .pool = {.name = LKS_STR_C("p")}},
     "number of rows 'pool'"},
    {"a turn",
     {.kind = LKS_RECORD_MASS,
      .mass = {.pool = LKS_STR_C("train"), .what = LKS_STR_C("n1"), .count = 1}},
     "turns of pool 'train'"},
    {"a basis",
     {.kind = LKS_RECORD_BASIS, .basis = {.digest = LKS_STR_C("x"), .readings = LKS_STR_C("r")}},
     "number of rows 'basis'"},
    {"an alarm", {.kind = LKS_RECORD_ALARM, .alarm = {.id = 5}}, "number of rows 'alarm'"},
    {"a command",
     {.kind = LKS_RECORD_COMMAND, .command = {.id = 5, .node = LKS_STR_C("nobody")}},
     "number of rows 'command'"},
    {"a binding",
     {.kind = LKS_RECORD_GRANTED, .granted = {.identity = LKS_STR_C("kim")}},
     "number of rows 'binding'"},
    {"nothing", {.kind = LKS_RECORD_STARTED}, ""},
};

static void test_equal(void)
{
    for (size_t i = 0; i < LKS_COUNT(differences); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0}, b = {0};
        struct lks_err why = {0};
        lks_test_case("%s", differences[i].name);
        make_good(&a);
        make_good(&b);
        lks_asked_apply(&a, &differences[i].then);
        lks_asked_apply(&b, &(struct lks_record){.kind = LKS_RECORD_STARTED});
        CHECK(lks_entity_equal(&a.state, &b.state, &why) == (differences[i].why[0] == '\0'));
        CHECK_STR(lks_str_from(why.msg), differences[i].why);
        CHECK(lks_entity_equal(&b.state, &a.state, NULL) == (differences[i].why[0] == '\0'));
    }
}

/* A large fleet loads from a snapshot, and what it takes stays within reason. */
static void test_large(void)
{
    enum { NODES = 100000, BYTES_EACH = 2048 };
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0}, again = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_state_init(&s, SEED, &err), LKS_OK);
    apply(&s, 1, &(struct lks_record){.kind = LKS_RECORD_POOL, .pool = {.name = LKS_STR("train")}});
    apply(&s, 1,
          &(struct lks_record){
              .kind = LKS_RECORD_PLACED,
              .placed = {.hosts = LKS_STR("n[000001-100000]"), .pool = LKS_STR("train")}});
    for (uint32_t n = 0; n < NODES; n++) {
        char text[LKS_BOOT_TEXT_SIZE];
        struct lks_str name = lks_state_name(&s, n);
        snprintf(text, sizeof(text), "%08x-0000-0000-0000-000000000000", n);
        const struct lks_record records[] = {
            {.kind = LKS_RECORD_ENROLLED, .enrolled = {.node = name, .fingerprint = name}},
            {.kind = LKS_RECORD_LIVENESS, .liveness = {.node = name, .state = LKS_LIVE}},
            {.kind = LKS_RECORD_BOOTED, .booted = {.node = name, .boot = lks_str_from(text)}},
            {.kind = LKS_RECORD_TUPLE,
             .tuple = {.node = name, .digest = LKS_STR("d"), .report = lks_str_from(text)}},
        };
        for (size_t i = 0; i < LKS_COUNT(records); i++)
            apply(&s, 2, &records[i]);
    }
    CHECK_INT(s.placed_count, NODES);
    CHECK_INT(s.pools[0].liveness[LKS_LIVE], NODES);
    lks_test_reload(&s, &again);
    check_equal(&s, &again);
    size_t bytes = s.node_room * (sizeof(s.nodes[0]) + sizeof(s.pulses[0])) +
                   s.deadlines.cap * (sizeof(struct lks_heap_entry) + sizeof(uint32_t)) +
                   s.texts.bytes.used + s.names.bytes.used +
                   (s.texts.slot_count + s.names.slot_count) *
                       (sizeof(struct lks_intern_entry) / 2 + sizeof(uint32_t));
    CHECK(bytes / NODES <= BYTES_EACH);
    printf("     %zu bytes a node\n", bytes / NODES);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"state: any record in any state", test_property},
        {"state: admissible", test_admissible},
        {"state: judgements that are void", test_void},
        {"state: a node that returns", test_return},
        {"state: readings are known while they run", test_bases},
        {"state: a restless node", test_restless},
        {"state: certificates", test_certificates},
        {"state: who turned for the worse", test_turns},
        {"state: who turned, in a snapshot", test_turns_kept},
        {"state: alarms make room", test_alarm_room},
        {"state: commands make room", test_command_room},
        {"state: limit of pools", test_pool_limit},
        {"state: bindings", test_access_lists},
        {"state: tokens", test_tokens},
        {"state: equal", test_equal},
        {"state: a large fleet", test_large},
        {0},
    });
}
