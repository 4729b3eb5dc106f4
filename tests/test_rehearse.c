/* Rehearsals: the same seed has the same story, a bad image is met by the canary, and what a run
 * says adds up. */
#include "core/campaign/state_apply.h"
#include "core/state/state.h"
#include "drivers/store/memory.h"
#include "engine/journal.h"
#include "lab/rehearse/rehearse.h"
#include "lab/rehearse/world.h"
#include "tests/facts.h"
#include "tests/rehearsals.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

#define WALL UINT64_C(1794700000000)
#define HOUR (3600 * LKS_SECOND)
enum { NODES = 100, TRAIN = 80, STORY_MAX = 1 << 20 };

static struct lks_rehearsed one, two; /* too large for a stack */

static void hear(void *ctx, lks_ms after, const char *text)
{
    lks_buf_addf(ctx, "%llu %s\n", (unsigned long long)after, text);
}

/* One run of the pool `train` to s1; false: it could not be made. */
static bool run_gated(uint64_t seed, const char *gate, const char *faults,
                      struct lks_rehearsed *out, struct lks_buf *story)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf fleet = {0};
    struct lks_world_options options = {.facts = lks_test_facts(), .wall = WALL};
    struct lks_rehearse_faults f = lks_rehearse_faults_usual;
    struct lks_plan_wish wish = {.kind = LKS_CHANGE_STACK,
                                 .stack = LKS_STR("s1"),
                                 .hosts = LKS_STR(""),
                                 .pool = LKS_STR("train"),
                                 .hook = LKS_STR("site"),
                                 .windows = LKS_STR(""),
                                 .soak = 4 * HOUR,
                                 .one_way = true};
    struct lks_world_say say = {story, hear};
    struct lks_world *w = NULL;
    struct lks_err err = {0};
    rehearsals_fleet(NODES, gate, &fleet);
    bool ok =
        CHECK_CODE(lks_rehearse_faults_parse(lks_str_from(faults), &f, &err), LKS_OK) &&
        CHECK_CODE(lks_world_of_manifest("fleet", lks_buf_view(&fleet), &options, &w, &err),
                   LKS_OK) &&
        CHECK_CODE(lks_world_propose(w, &wish, &err), LKS_OK) &&
        CHECK_CODE(lks_world_run(w, seed, &f, story != NULL ? &say : NULL, out, &err), LKS_OK);
    if (!ok)
        printf("%s\n", err.msg);
    lks_world_free(w);
    return ok;
}

/* A second change of the same fleet, which begins with the one that is rehearsed: its events are
 * told with its number, those of the other one without. */
static void test_other_change(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf fleet = {0}, story = LKS_BUF(STORY_MAX);
    struct lks_world_options options = {.facts = lks_test_facts(), .wall = WALL};
    struct lks_plan_wish wish = {.kind = LKS_CHANGE_STACK,
                                 .stack = LKS_STR("s1"),
                                 .hosts = LKS_STR(""),
                                 .pool = LKS_STR("serve"),
                                 .hook = LKS_STR("site"),
                                 .windows = LKS_STR(""),
                                 .soak = 4 * HOUR,
                                 .one_way = true};
    struct lks_world_say say = {&story, hear};
    struct lks_world *w = NULL;
    struct lks_err err = {0};
    rehearsals_fleet(NODES, "", &fleet);
    CHECK_CODE(lks_world_of_manifest("fleet", lks_buf_view(&fleet), &options, &w, &err), LKS_OK);
    CHECK_CODE(lks_world_propose(w, &wish, &err), LKS_OK);
    CHECK(lks_world_turn(
        w,
        &(struct lks_event){
            .kind = LKS_EVENT_CHANGE_MOVE,
            .by = LKS_STR("user:kim"),
            .reason = LKS_STR("r"),
            .move = {.change = 1, .order = LKS_ORDERED_START, .standby = LKS_STR("kim")}},
        NULL));
    wish.pool = LKS_STR("train");
    CHECK_CODE(lks_world_propose(w, &wish, &err), LKS_OK);
    CHECK_CODE(lks_world_run(w, 7, &lks_rehearse_faults_usual, &say, &one, &err), LKS_OK);
    struct lks_str told = lks_buf_view(&story);
    CHECK_HAS(told, " the change is running: as rehearsed\n");
    CHECK_HAS(told, " wave 0 is begun\n");
    CHECK_HAS(told, " change 1: wave 0 is begun\n");
    CHECK_HAS(told, " change 1: n00081 is fenced: ");
    CHECK_HAS(told, " change 1: wave 0 is halted: ");
    CHECK_HAS(told, " change 1 is halted: ");
    lks_world_free(w);
}

static bool run(uint64_t seed, const char *faults, struct lks_rehearsed *out, struct lks_buf *story)
{
    return run_gated(seed, "", faults, out, story);
}

static void test_same_seed_same_story(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf first = {0}, second = {0}, other = {0};
    lks_buf_init(&first, STORY_MAX);
    lks_buf_init(&second, STORY_MAX);
    lks_buf_init(&other, STORY_MAX);
    if (!run(7, "step=5%", &one, &first) || !run(7, "step=5%", &two, &second))
        return;
    CHECK(first.len > 0);
    CHECK(lks_str_eq(lks_buf_view(&first), lks_buf_view(&second)));
    CHECK(memcmp(&one, &two, sizeof(one)) == 0);
    if (run(8, "step=5%", &two, &other))
        CHECK(!lks_str_eq(lks_buf_view(&first), lks_buf_view(&other)));
}

static void test_fair_weather(void)
{
    if (!run(1, "none", &one, NULL))
        return;
    CHECK_INT(one.end, LKS_REHEARSED_DONE);
    CHECK_INT(one.members[LKS_MEMBER_DONE], TRAIN);
    CHECK_INT(one.reached, TRAIN);
    CHECK_INT(one.halts, 0);
    CHECK(!one.stopped && !one.bad);
    CHECK(one.took > 4 * HOUR && one.took < 100 * HOUR); /* the canary's soak at the least */
    CHECK(one.gpu_hours > 8 * TRAIN / 4 && one.gpu_hours < 8.0 * TRAIN * 24);
    CHECK_INT(one.pool_count, 1);
    CHECK_STR(lks_str_from(one.pools[0].name), "train");
    CHECK_INT(one.pools[0].in_use, TRAIN);
    CHECK_INT(one.pools[0].wanted, NODES / 4);
    CHECK_INT(one.pools[0].starved, 0);
    /* Width is a tenth of the pool; half way the largest gang is half of what is in use. */
    CHECK(one.pools[0].least >= TRAIN - TRAIN / 10 && one.pools[0].least < TRAIN);
    CHECK(one.pools[0].gang >= TRAIN / 2 - TRAIN / 10 && one.pools[0].gang < TRAIN);
    CHECK(one.points > 1 && one.point * one.points >= one.took);
    CHECK_INT(one.in_use[0][one.points - 1], TRAIN);
}

/* A bad image on one revision is met by the canary, which has both, and reaches nobody else. */
static void test_bad_image_is_met_by_the_canary(void)
{
    static const struct {
        const char *name, *faults;
        enum lks_rehearse_bad way;
    } rows[] = {
        {"acceptance fails", "none,bad=revision:b,way=accept", LKS_BAD_ACCEPT},
        {"it does not install", "none,bad=revision:b,way=step", LKS_BAD_STEP},
        {"nodes do not come back", "none,bad=revision:b,way=dies", LKS_BAD_DIES},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        if (!run(3, rows[i].faults, &one, NULL))
            continue;
        CHECK(one.bad && one.stopped);
        CHECK_INT(one.way, rows[i].way);
        CHECK_INT(one.stopped_wave, 0);
        CHECK_INT(one.wave_kind, LKS_WAVE_CANARY);
        CHECK(one.hurt > 0 && one.hurt <= one.reached);
        CHECK(one.reached <= 16); /* racks of the pool: one of each is in the canary */
        CHECK_INT(one.end, LKS_REHEARSED_ROLLED_BACK);
        CHECK(one.gate[0] != '\0' && one.why[0] != '\0');
        CHECK_INT(one.members[LKS_MEMBER_DONE], 0);
    }
}

/* An image that is only slower is met by a gate that measures, and by no other; and that gate
 * leaves a good one alone. */
static void test_slow_image(void)
{
    static const char gate[] = ", gate: {metrics: {speed: {query: x, better: higher, margin: 1}}, "
                               "min_soak: 10m}";
    if (run_gated(3, gate, "none,bad=100%,way=slow", &one, NULL)) {
        CHECK(one.stopped);
        CHECK_STR(lks_str_from(one.gate), "evidence");
        CHECK_INT(one.wave_kind, LKS_WAVE_CANARY);
        CHECK_INT(one.end, LKS_REHEARSED_ROLLED_BACK);
    }
    if (run_gated(3, gate, "none", &one, NULL))
        CHECK_INT(one.end, LKS_REHEARSED_DONE);
    if (run(3, "none,bad=100%,way=slow", &one, NULL)) {
        CHECK(!one.stopped);
        CHECK_INT(one.hurt, TRAIN);
    }
}

/* Whatever look it was that stopped it, it is named; and where the image is good, an approver lets
 * it go, and the change is done. */
static void test_what_was_measured(void)
{
    static const struct {
        const char *name, *margin, *faults;
        uint64_t seed;
        bool held;
        enum lks_rehearse_end end;
    } rows[] = {
        {"halted between looks", "1", "none,bad=100%,way=slow", 1, false,
         LKS_REHEARSED_ROLLED_BACK},
        {"halted at a look", "1", "none,bad=100%,way=slow", 5, false, LKS_REHEARSED_ROLLED_BACK},
        {"a good image, held", "1", "none", 12, true, LKS_REHEARSED_DONE},
        {"a good image, halted", "'0.2'", "none", 30, false, LKS_REHEARSED_DONE},
    };
    char gate[128];
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        snprintf(gate, sizeof(gate),
                 ", gate: {metrics: {speed: {query: x, better: higher, critical: true, margin: "
                 "%s}}, min_soak: 4h}",
                 rows[i].margin);
        if (!run_gated(rows[i].seed, gate, rows[i].faults, &one, NULL))
            continue;
        CHECK(one.stopped && one.halts < 10);
        CHECK_STR(lks_str_from(one.gate), "evidence");
        CHECK((strstr(one.why, "still not sure") != NULL) == rows[i].held);
        CHECK_INT(one.end, rows[i].end);
    }
}

/* Whoever is to show the way back and is lost is brought back and tried again: nobody else of its
 * hardware would ever begin. */
static void test_a_lost_prover_is_tried_again(void)
{
    enum { SEEDS = 40 };
    size_t called = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        lks_test_case("seed %llu", (unsigned long long)seed);
        if (!run(seed, "none,lost=5%", &one, NULL))
            continue;
        CHECK_INT(one.end, LKS_REHEARSED_DONE);
        called += one.halts > 0;
    }
    CHECK(called > 0);
}

static void test_faults(void)
{
    static const struct {
        const char *text;
        bool good;
        uint32_t step, bad;
    } rows[] = {
        {"step=1%", true, 10000, 0},    {"step=0.25%,bad=100%", true, 2500, 1000000},
        {"none", true, 0, 0},           {"none,bad=revision:B", true, 0, 0},
        {"bad=5", false, 0, 0},         {"bad=101%", false, 0, 0},
        {"bad=100.0001%", false, 0, 0}, {"bad=revision:", false, 0, 0},
        {"way=slowly", false, 0, 0},    {"steps=1%", false, 0, 0},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_rehearse_faults f = lks_rehearse_faults_usual;
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].text);
        enum lks_code code = lks_rehearse_faults_parse(lks_str_from(rows[i].text), &f, &err);
        CHECK_CODE(code, rows[i].good ? LKS_OK : LKS_E_USAGE);
        CHECK_INT(f.step, rows[i].good ? rows[i].step : lks_rehearse_faults_usual.step);
        CHECK_INT(f.bad, rows[i].bad);
    }
}

#define LOST_AT(name)                                                                              \
    {                                                                                              \
        .kind = LKS_RECORD_LIVENESS, .liveness = {.node = LKS_STR_C(name), .state = LKS_LOST }     \
    }
#define MEMBER_AT(name, how)                                                                       \
    {                                                                                              \
        .kind = LKS_RECORD_MEMBER, .member = {.node = LKS_STR_C(name), .state = (how) }            \
    }

/* Nodes that go away while a change is at them did not fail by themselves. */
static void test_seen(void)
{
    static const struct lks_record records[] = {
        LOST_AT("n1"), MEMBER_AT("n2", LKS_MEMBER_WAITING),
        LOST_AT("n2"), MEMBER_AT("n2", LKS_MEMBER_DONE),
        LOST_AT("n2"),
    };
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct lks_memory_disk *disk = lks_memory_disk_new();
    struct lks_world_seen seen = {0};
    struct lks_err err = {0};
    LKS_ASSERT(disk != NULL && lks_store_memory_open(disk, &store, &err) == LKS_OK);
    for (size_t i = 0; i < LKS_COUNT(records); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(LKS_RECORD_BODY_MAX);
        lks_record_pack(&records[i], &body);
        struct lks_row row = {
            .seq = i + 1,
            .time = WALL + i * HOUR,
            .kind = (uint16_t)records[i].kind,
            .version = (uint8_t)lks_record_version(lks_record_info((unsigned)records[i].kind)),
            .body = lks_buf_view(&body)};
        struct lks_store_batch batch = {.rows = &row, .row_count = 1};
        CHECK_CODE(store.ops->append(store.self, &batch, &err), LKS_OK);
    }
    CHECK_CODE(lks_world_see(&store, 10, &seen, &err), LKS_OK);
    CHECK_INT(seen.losses, 2);
    CHECK_NEAR(seen.node_hours, 40.0, 1e-12);
    lks_store_close(&store);
    lks_memory_disk_free(disk);
}

static void test_no_fleet(void)
{
    struct lks_world_options options = {.facts = lks_test_facts(), .wall = WALL};
    struct lks_world *w = NULL;
    struct lks_err err = {0};
    struct lks_str text = LKS_STR("lockstep: 1\nkind: HardwareClass\nname: tray\nvendor: nvidia\n"
                                  "gpu: {product: 'H200', count: 8}\n");
    CHECK_CODE(lks_world_of_manifest("f.yaml", text, &options, &w, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "f.yaml: there is no fleet in it");
    CHECK(w == NULL);
}

/* Gangs have the sizes that the pool's min_gang says, fill it as far as pools are filled, and those
 * that make room and need many nodes of one stack wait for them; the same seed has the same jobs.
 */
static void test_jobs(void)
{
    enum { GANG = NODES / 4 };
    uint32_t in_jobs = 0;
    if (!run(5, "none", &one, NULL) || !run(5, "none", &two, NULL))
        return;
    const struct lks_rehearse_pool *pool = &one.pools[0];
    CHECK_INT(pool->job_count, LKS_REHEARSE_JOBS);
    for (uint32_t i = 0; i < pool->job_count; i++) {
        lks_test_case("jobs of %u nodes", pool->jobs[i].size);
        CHECK_INT(pool->jobs[i].size, GANG >> i);
        CHECK_INT(pool->jobs[i].waited, two.pools[0].jobs[i].waited);
        CHECK(pool->jobs[i].waited <= one.took);
        in_jobs += pool->jobs[i].size * pool->jobs[i].count;
    }
    CHECK(in_jobs <= TRAIN * 80 / 100 && in_jobs > TRAIN / 2);
    lks_ms large = pool->jobs[0].waited + pool->jobs[1].waited;
    CHECK(large > 0);
    CHECK(pool->jobs[LKS_REHEARSE_JOBS - 1].waited < large);
}

static bool note(struct lks_state *s, struct lks_record r)
{
    struct lks_err err = {0};
    return CHECK_CODE(lks_state_apply(s, s->seq + 1, WALL, &r, &err), LKS_OK);
}

/* What a controller tells for a rehearsal elsewhere has no digest of a token, and is all the rest.
 */
static void test_shown_state(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state whole = {0}, shown = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(STORY_MAX);
    uint8_t hash[LKS_HASH_BYTES];
    struct lks_err err = {0};
    struct lks_str name = LKS_STR("n1");
    CHECK_CODE(lks_state_init(&whole, 0, &err), LKS_OK);
    CHECK_CODE(lks_state_init(&shown, 0, &err), LKS_OK);
    note(&whole, (struct lks_record){.kind = LKS_RECORD_PLACED,
                                     .placed = {.hosts = name, .pool = LKS_STR("train")}});
    note(&whole,
         (struct lks_record){
             .kind = LKS_RECORD_TOKEN,
             .token = {.node = name, .hash = LKS_STR("sha256:11"), .expires = WALL + HOUR}});
    note(&whole, (struct lks_record){.kind = LKS_RECORD_API_TOKEN,
                                     .api_token = {.id = LKS_STR("kim"),
                                                   .identity = LKS_STR("user:kim"),
                                                   .hash = LKS_STR("sha256:22"),
                                                   .expires = WALL + HOUR}});
    CHECK_INT(whole.token_count, 1);
    CHECK(whole.nodes[lks_state_node(&whole, name)].token_hash != 0);
    CHECK_CODE(lks_snapshot_pack_shown(&whole, &bytes, &err), LKS_OK);
    CHECK(lks_str_find(lks_buf_view(&bytes), LKS_STR("sha256:11")) < 0);
    CHECK(lks_str_find(lks_buf_view(&bytes), LKS_STR("sha256:22")) < 0);
    CHECK_CODE(lks_snapshot_unpack_state(lks_buf_view(&bytes), &shown, hash, &err), LKS_OK);
    CHECK_INT(shown.token_count, 0);
    CHECK_INT(shown.placed_count, 1);
    CHECK_INT(shown.nodes[lks_state_node(&shown, name)].token_hash, 0);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"rehearse: the same seed has the same story", test_same_seed_same_story},
        {"rehearse: a lost prover is tried again", test_a_lost_prover_is_tried_again},
        {"rehearse: another change", test_other_change},
        {"rehearse: fair weather", test_fair_weather},
        {"rehearse: a bad image is met by the canary", test_bad_image_is_met_by_the_canary},
        {"rehearse: an image that is only slower", test_slow_image},
        {"rehearse: what was measured is named, and let go", test_what_was_measured},
        {"rehearse: what goes wrong, as people write it", test_faults},
        {"rehearse: how often nodes fail by themselves", test_seen},
        {"rehearse: a file without a fleet", test_no_fleet},
        {"rehearse: jobs that wait", test_jobs},
        {"rehearse: what a controller tells", test_shown_state},
        {0},
    });
}
