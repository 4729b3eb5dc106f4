/*
 * Several controllers on one store, in an invented world.
 *
 * Three of them run the production engine: one leads by lease, the others follow. They crash, are
 * paused and wake late, lose sight of the store, and have clocks that are off. Nodes drift, turn
 * unhealthy, fall silent and come back; people hold them, allow deviations that expire, and read
 * them out of band; some are changed, a step at a time; jobs ask any controller whether they may
 * start. Then all turns calm and has to settle. What must hold is checked as it happens
 * (controllers_checks.c), with a seed that repeats exactly:
 *
 *     sim_controllers          run many seeds, and show that broken rules are found
 *     sim_controllers 17       run one and print what happens
 *     sim_controllers 17 2     the same with the second rule broken (enum ctl_broken)
 */
#include "sim/controllers.h"

#include "tests/facts.h"
#include "tests/test.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define BROKEN_SEEDS 250 /* in so many of them a broken rule shows */
#define STORM        (5 * 60 * LKS_SECOND)
#define CALM         (150 * LKS_SECOND)
#define REST         (40 * LKS_SECOND) /* the end of the calm, without jobs */

void ctl_require(struct ctl_world *w, bool ok, const char *what)
{
    if (ok || w->failed)
        return;
    w->failed = true;
    (void)snprintf(w->why, sizeof(w->why), "%s", what);
    ctl_say(w, "BROKEN: %s", what);
}

void ctl_say(const struct ctl_world *w, const char *fmt, ...)
{
    if (!w->print)
        return;
    va_list ap;
    va_start(ap, fmt);
    printf("%9" PRIu64 " ms  ", w->now);
    vprintf(fmt, ap);
    putchar('\n');
    va_end(ap);
}

lks_ms ctl_between(struct ctl_world *w, lks_ms low, lks_ms high)
{
    return low + lks_rng_below(&w->rng, high - low + 1);
}

bool ctl_chance(struct ctl_world *w, unsigned percent)
{
    return lks_rng_percent(&w->rng, percent);
}

/* Each actor has one moment at which it acts next. */
void ctl_at(struct ctl_world *w, uint32_t actor, lks_ms when)
{
    struct lks_err err = {0};
    LKS_ASSERT(lks_heap_set(&w->agenda, actor, when, &err) == LKS_OK);
}

struct lks_now ctl_clock(const struct ctl_world *w, const struct ctl *c)
{
    return (struct lks_now){.wall = (lks_ms)((int64_t)(CTL_WALL + w->now) + c->skew),
                            .mono = w->now};
}

/* The store takes no rows for a while, though it renews leases. */
static void outage(struct ctl_world *w)
{
    w->full = !w->full && !w->calm;
    ctl_say(w, "the store is %s", w->full ? "full" : "no longer full");
    ctl_at(w, CTL_OUTAGE,
           w->now + (w->full ? ctl_between(w, LKS_SECOND, 25 * LKS_SECOND)
                             : ctl_between(w, 60, 300) * LKS_SECOND));
}

/* The world ----------------------------------------------------------------------------------- */

static void act(struct ctl_world *w, uint32_t actor)
{
    static void (*const others[])(struct ctl_world *) = {ctl_change, ctl_person, ctl_job, outage};
    if (actor >= CTL_CHANGE)
        others[actor - CTL_CHANGE](w);
    else if (actor >= CTL_MACHINE(0))
        ctl_machine(w, actor - CTL_MACHINE(0));
    else if (actor >= CTL_BEAT(0))
        ctl_beat(w, actor - CTL_BEAT(0));
    else
        ctl_act(w, &w->controllers[actor % CTL_COUNT], (enum ctl_part)(actor / CTL_COUNT));
}

static void run_until(struct ctl_world *w, lks_ms end)
{
    while (!w->failed && w->agenda.count > 0) {
        uint32_t actor = 0;
        lks_ms when = 0;
        if (!lks_heap_peek(&w->agenda, &when, &actor) || when > end)
            break;
        (void)lks_heap_pop(&w->agenda, &when, &actor);
        w->now = when > w->now ? when : w->now;
        lks_memory_disk_clock(w->disk, w->now);
        w->steps++;
        w->history = (w->history ^ (w->now << 8 ^ actor)) * UINT64_C(0x100000001b3);
        act(w, actor);
    }
    w->now = end;
}

/* As `lockstepd init` leaves the store: a journal that has begun. */
static void begin_journal(struct ctl_world *w)
{
    LKS_CLEANUP(lks_engine_batch_fini) struct lks_engine_batch batch = {0};
    struct lks_store store = {0};
    struct lks_engine *engine = NULL;
    struct lks_err err = {0};
    struct lks_now now = {.wall = CTL_WALL, .mono = 0};
    w->options.follow = false;
    LKS_ASSERT(lks_store_memory_open(w->disk, &store, &err) == LKS_OK &&
               lks_engine_open(&store, &w->options, now, &engine, &err) == LKS_OK &&
               lks_engine_take(engine, now, &batch) &&
               lks_engine_commit(&w->options, &store, &batch, &err) == LKS_OK);
    lks_engine_durable(engine, &batch);
    lks_engine_free(engine);
    lks_store_close(&store);
    w->options.follow = true;
}

static void world_init(struct ctl_world *w, uint64_t seed, enum ctl_broken broken, bool print)
{
    struct lks_err err = {0};
    uint8_t secret[LKS_KEY_BYTES] = {1, 2, 3};
    *w = (struct ctl_world){.seed = seed, .rng.state = seed, .broken = broken, .print = print};
    w->disk = lks_memory_disk_new();
    LKS_ASSERT(w->disk != NULL && lks_key_make(secret, &w->key, &err) == LKS_OK);
    lks_heap_init(&w->agenda, CTL_ACTORS);
    w->node_count = 2 + (uint32_t)lks_rng_below(&w->rng, CTL_NODES_MAX - 1);
    w->limits = lks_limits_default;
    w->limits.validity = ctl_between(w, 5, 30) * LKS_SECOND;
    w->limits.outband_age = ctl_between(w, 30, 200) * LKS_SECOND;
    w->limits.mass_floor = 100;
    w->options = (struct lks_engine_options){
        .facts = lks_test_facts(),
        .key = &w->key,
        .version = "1.2.3",
        .journal = "00112233445566778899aabbccddeeff",
        .seed = 7,
    };
    begin_journal(w);
    ctl_model_init(w);
    ctl_fleet_write(w);
}

/* Wall clocks are off by a third of what limits.skew allows, at the most, but for the second that
 * a commit may take unnoticed: a leader whose clock is slow, the next one's that is fast, and a
 * follower's that is fast add up to all of it. */
static void world_plan(struct ctl_world *w)
{
    lks_ms third = (w->limits.skew - LKS_ENGINE_SLOW) / 3;
    for (uint32_t i = 0; i < CTL_COUNT; i++) {
        struct ctl *c = &w->controllers[i];
        c->number = i;
        c->world = w;
        (void)snprintf(c->name, sizeof(c->name), "c%u", i + 1);
        c->skew = (int64_t)lks_rng_below(&w->rng, 2 * third + 1) - (int64_t)third;
        ctl_at(w, CTL_PART(c, CTL_POLL), ctl_between(w, 0, LKS_SECOND));
        ctl_at(w, CTL_PART(c, CTL_FAULT), ctl_between(w, 30 * LKS_SECOND, 120 * LKS_SECOND));
    }
    for (uint32_t n = 0; n < w->node_count; n++) {
        (void)snprintf(w->nodes[n].name, sizeof(w->nodes[n].name), "n%u", n + 1);
        ctl_at(w, CTL_BEAT(n), ctl_between(w, 2 * LKS_SECOND, CTL_HEARTBEAT));
        ctl_at(w, CTL_MACHINE(n), ctl_between(w, 20 * LKS_SECOND, 120 * LKS_SECOND));
    }
    ctl_at(w, CTL_CHANGE, 30 * LKS_SECOND);
    ctl_at(w, CTL_JOB, 20 * LKS_SECOND);
    ctl_at(w, CTL_PERSON, 25 * LKS_SECOND);
    ctl_at(w, CTL_OUTAGE, ctl_between(w, 60, 300) * LKS_SECOND);
}

static void world_fini(struct ctl_world *w)
{
    for (uint32_t i = 0; i < CTL_COUNT; i++)
        ctl_free(&w->controllers[i]);
    ctl_model_fini(w);
    lks_memory_disk_free(w->disk);
    lks_manifest_fini(&w->manifest);
    lks_buf_fini(&w->manifest_text);
    lks_heap_fini(&w->agenda);
    *w = (struct ctl_world){0};
}

/* Nothing more falls, and most machines are as they should be. */
static void calm_down(struct ctl_world *w)
{
    w->calm = true;
    w->full = false;
    for (uint32_t i = 0; i < CTL_COUNT; i++)
        w->controllers[i].cut = false;
    for (uint32_t n = 0; n < w->node_count; n++) {
        w->nodes[n].silent = false;
        if (ctl_chance(w, 70))
            w->nodes[n].variant = 0;
    }
}

static void run(struct ctl_world *w, uint64_t seed, enum ctl_broken broken, bool print)
{
    world_init(w, seed, broken, print);
    world_plan(w);
    run_until(w, STORM);
    calm_down(w);
    run_until(w, STORM + CALM - REST);
    (void)lks_heap_remove(&w->agenda, CTL_JOB);
    run_until(w, STORM + CALM);
    if (!w->failed)
        ctl_check_end(w);
}

/* Tests --------------------------------------------------------------------------------------- */

struct totals {
    uint64_t leads, asked, admitted, changes, drifts, expired;
};

static void test_seeds(void)
{
    struct totals sum = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        LKS_CLEANUP(world_fini) struct ctl_world w = {0};
        run(&w, seed, CTL_WHOLE, false);
        lks_test_case("seed %" PRIu64 " at %" PRIu64 " ms: %s", seed, w.now, w.why);
        if (!CHECK(!w.failed))
            return; /* the first seed is enough to work on */
        sum = (struct totals){sum.leads + w.leads,       sum.asked + w.asked,
                              sum.admitted + w.admitted, sum.changes + w.changes,
                              sum.drifts + w.drifts,     sum.expired + w.expired};
    }
    printf("%d seeds, %" PRIu64 " leaders, %" PRIu64 " questions, %" PRIu64 " of them yes, %" PRIu64
           " steps, %" PRIu64 " drifted, %" PRIu64 " deviations expired\n",
           SEEDS, sum.leads, sum.asked, sum.admitted, sum.changes, sum.drifts, sum.expired);
    CHECK(sum.leads > 4 * SEEDS && sum.admitted > 20 * SEEDS && sum.changes > 2 * SEEDS);
    CHECK(sum.drifts > 3 * SEEDS && sum.expired > 2 * SEEDS);
}

/* The checks are worth something: without a rule they do not hold. */
static void test_a_broken_rule_is_found(void)
{
    static const char *const names[CTL_BROKEN_COUNT] = {
        [CTL_NO_QUIET] = "a step begins as soon as its node is closed",
        [CTL_NO_LEASE] = "a leader does not look at the clock before it answers",
        [CTL_NO_STALENESS] = "a follower does not count how old its knowledge is",
        [CTL_NO_FENCE] = "what the store refused is acknowledged",
        [CTL_NO_WAIT] = "an answer leaves before its rows are durable",
    };
    for (unsigned broken = CTL_NO_QUIET; broken < CTL_BROKEN_COUNT; broken++) {
        bool found = false;
        for (uint64_t seed = 1; seed <= BROKEN_SEEDS && !found; seed++) {
            LKS_CLEANUP(world_fini) struct ctl_world w = {0};
            run(&w, seed, (enum ctl_broken)broken, false);
            found = w.failed;
            if (found)
                printf("%s: seed %" PRIu64 ": %s\n", names[broken], seed, w.why);
        }
        lks_test_case("%s", names[broken]);
        CHECK(found);
    }
}

static void test_a_seed_repeats_exactly(void)
{
    LKS_CLEANUP(world_fini) struct ctl_world a = {0}, b = {0}, c = {0};
    run(&a, 42, CTL_WHOLE, false);
    run(&b, 42, CTL_WHOLE, false);
    run(&c, 43, CTL_WHOLE, false);
    CHECK(a.history == b.history);
    CHECK(a.history != c.history);
}

int main(int argc, char **argv)
{
    uint64_t seed = 0, broken = CTL_WHOLE;
    bool ok = argc <= 3;
    ok = ok && (argc < 2 || lks_str_number(lks_str_from(argv[1]), UINT64_MAX, &seed));
    ok = ok && (argc < 3 || lks_str_number(lks_str_from(argv[2]), CTL_BROKEN_COUNT - 1, &broken));
    if (!ok) {
        (void)fprintf(stderr, "usage: sim_controllers [SEED [BROKEN]]\n");
        return 2;
    }
    (void)atexit(ctl_tuples_free);
    if (argc > 1) {
        LKS_CLEANUP(world_fini) struct ctl_world w = {0};
        run(&w, seed, (enum ctl_broken)broken, true);
        return w.failed;
    }
    return lks_test_main((const struct lks_test[]){
        {"controllers sim: seeds", test_seeds},
        {"controllers sim: a broken rule is found", test_a_broken_rule_is_found},
        {"controllers sim: a seed repeats exactly", test_a_seed_repeats_exactly},
        {0},
    });
}
