/*
 * The control plane in a simulated fleet.
 *
 * Each seed picks a fleet and how unkind the world is to it: messages lost, doubled, late and out
 * of order; the controller killed before a commit, after it, and at each of its statements; a full
 * disk; a wall clock that jumps; agents and machines that restart, boards that are replaced, half
 * of the nodes cut off; people who hold, release, command and replace. Then the weather turns calm
 * and everything has to settle. The promises are checked as things happen; see checks.c. A seed
 * that fails once fails always:
 *
 *     sim_fleet               run many seeds
 *     sim_fleet 17            run one and print what happens
 *     sim_fleet 17 10000      run one with this many nodes and print how fast
 *     sim_fleet keep 17 DIR   keep the journal of one as a golden one: tests/golden/README.md
 */
#include "sim/world.h"

#include "tests/facts.h"
#include "tests/goldens.h"
#include "tests/test.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SEEDS     500
#define NODES_MAX 16
#define STORM     (12 * 60 * LKS_SECOND)
#define SETTLING  (9 * 60 * LKS_SECOND)
#define FLEET_MAX 999999
#define STEPS_MAX UINT64_C(100000000)

/* For the handler of a signal that ends the program: what was running. */
static volatile sig_atomic_t seed_length;
static char seed_text[64];

static void name_seed(uint64_t seed)
{
    seed_length = 0;
    int length = snprintf(seed_text, sizeof(seed_text), "sim_fleet: seed %" PRIu64 "\n", seed);
    seed_length = length > 0 ? length : 0;
}

static void say_seed(int number)
{
    ssize_t ignored = write(STDERR_FILENO, seed_text, (size_t)seed_length);
    (void)ignored;
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void sim_fini(struct sim *s)
{
    sim_model_fini(s);
    sim_controller_fini(s);
    for (uint32_t i = 0; i < s->agent_count; i++)
        sim_agent_fini(&s->agents[i]);
    free(s->agents);
    free(s->messages);
    free(s->letters);
    free(s->letters_free);
    free(s->commands);
    free(s->tokens);
    *s = (struct sim){0};
}

static void draw_weather(struct sim *s)
{
    struct lks_rng *r = &s->rng;
    s->weather = (struct sim_weather){
        .loss = (unsigned)lks_rng_below(r, 25),
        .doubling = (unsigned)lks_rng_below(r, 25),
        .late = (unsigned)lks_rng_below(r, 6),
        .delay_max = lks_rng_below(r, 2000),
        .crash = (unsigned)lks_rng_below(r, 30),
        .power_cut = (unsigned)lks_rng_below(r, 4),
        .disk_full = (unsigned)lks_rng_below(r, 3),
        .jumps = (unsigned)lks_rng_below(r, 3),
        .cuts = (unsigned)lks_rng_below(r, 3),
        .agent_restarts = (unsigned)lks_rng_below(r, 100),
        .reboots = (unsigned)lks_rng_below(r, 150),
        .persons = (unsigned)lks_rng_below(r, 60),
    };
}

/* When what falls upon the fleet falls. */
static void plan(struct sim *s, lks_ms storm)
{
    static const struct {
        enum sim_kind kind;
        size_t offset;
    } events[] = {
        {SIM_POWER_CUT, offsetof(struct sim_weather, power_cut)},
        {SIM_DISK, offsetof(struct sim_weather, disk_full)},
        {SIM_CLOCK_JUMP, offsetof(struct sim_weather, jumps)},
        {SIM_NETWORK, offsetof(struct sim_weather, cuts)},
        {SIM_PERSON, offsetof(struct sim_weather, persons)},
    };
    for (size_t i = 0; i < LKS_COUNT(events); i++) {
        unsigned count;
        memcpy(&count, (const char *)&s->weather + events[i].offset, sizeof(count));
        for (unsigned n = 0; n < count; n++)
            sim_post(s, (struct sim_message){.kind = events[i].kind},
                     sim_between(s, 20 * LKS_SECOND, storm));
    }
    for (unsigned n = 0; n < 4; n++)
        sim_post(s, (struct sim_message){.kind = SIM_SNAPSHOT}, sim_between(s, 0, storm));
    for (uint32_t a = 0; a < s->agent_count; a++) {
        if (lks_rng_percent(&s->rng, s->weather.agent_restarts))
            sim_post(s, (struct sim_message){.kind = SIM_AGENT, .agent = a, .life = UINT32_MAX},
                     sim_between(s, 0, storm));
        for (unsigned n = lks_rng_below(&s->rng, 100) < s->weather.reboots; n > 0; n--)
            sim_post(s, (struct sim_message){.kind = SIM_MACHINE, .agent = a},
                     sim_between(s, 0, storm));
    }
}

static void sim_init(struct sim *s, uint64_t seed, uint32_t nodes)
{
    struct lks_err err = {0};
    uint8_t chance[LKS_KEY_BYTES] = {1, 2, 3};
    name_seed(seed);
    lks_test_case("seed %" PRIu64, seed);
    *s = (struct sim){.seed = seed, .rng.state = seed, .tick_at = UINT64_MAX};
    s->agent_count = nodes > 0 ? nodes : 2 + (uint32_t)lks_rng_below(&s->rng, NODES_MAX - 1);
    s->agents = calloc(s->agent_count, sizeof(s->agents[0]));
    s->disk = lks_memory_disk_new();
    LKS_ASSERT(s->agents != NULL && s->disk != NULL);
    LKS_ASSERT(lks_key_make(chance, &s->key, &err) == LKS_OK);
    s->options = (struct lks_engine_options){
        .facts = lks_test_facts(),
        .key = &s->key,
        .version = "1.2.3",
        .journal = "00112233445566778899aabbccddeeff",
        .seed = 7,
    };
    sim_model_init(s);
    draw_weather(s);
}

/* The network to half of the fleet is cut, for a while. */
static void cut_off(struct sim *s, bool on)
{
    for (uint32_t i = 0; i < s->agent_count; i++)
        s->agents[i].cut = on && lks_rng_percent(&s->rng, 50);
    sim_say(s, "the network %s", on ? "is cut" : "is whole");
    if (on)
        sim_post(s, (struct sim_message){.kind = SIM_NETWORK, .number = 1},
                 sim_between(s, 20 * LKS_SECOND, 240 * LKS_SECOND));
}

static void fill_disk(struct sim *s, bool full)
{
    s->disk_full = full;
    lks_memory_disk_fail(s->disk, full ? LKS_MEMORY_FULL : LKS_MEMORY_NO_CRASH, 0);
    sim_say(s, "the disk %s", full ? "is full" : "has room");
    if (full)
        sim_post(s, (struct sim_message){.kind = SIM_DISK, .number = 1},
                 sim_between(s, LKS_SECOND, 60 * LKS_SECOND));
}

static void jump(struct sim *s)
{
    uint64_t by = sim_between(s, 1, 3600 * LKS_SECOND);
    bool forward = lks_rng_percent(&s->rng, 50);
    s->wall_offset += forward ? (int64_t)by : -(int64_t)by;
    sim_controller_clock(s, forward ? by : 0, forward ? 0 : by);
}

/* What is not for the controller, or does not ask whether it runs. */
static bool deliver_world(struct sim *s, const struct sim_message *m)
{
    bool alive = s->agents[m->agent].life == m->life || m->life == UINT32_MAX;
    if (m->kind == SIM_RESTART)
        sim_controller_start(s);
    else if (m->kind == SIM_POWER_CUT)
        sim_controller_crash(s);
    else if (m->kind == SIM_DISK)
        fill_disk(s, m->number == 0);
    else if (m->kind == SIM_CLOCK_JUMP)
        jump(s);
    else if (m->kind == SIM_NETWORK)
        cut_off(s, m->number == 0);
    else if (m->kind == SIM_WAKE && alive)
        sim_agent_wake(s, m->agent, m->due);
    else if (m->kind == SIM_TIMEOUT && alive)
        sim_agent_timeout(s, m->agent, m->number);
    else if (m->kind == SIM_EXECUTED && alive)
        sim_agent_executed(s, m->agent, m->number);
    else if (m->kind == SIM_AGENT && alive)
        sim_agent_turn(s, m->agent);
    else if (m->kind == SIM_MACHINE && s->agents[m->agent].up)
        sim_agent_machine(s, m->agent);
    else
        return false;
    return true;
}

static void deliver_controller(struct sim *s, const struct sim_message *m)
{
    if (m->kind == SIM_PERSON && m->number == 1)
        sim_person_enrols(s, m->agent);
    if (s->engine == NULL)
        return;
    if (m->kind == SIM_PERSON && m->number == 0)
        sim_person_acts(s);
    else if (m->kind == SIM_SNAPSHOT)
        sim_controller_snapshot(s);
    if (s->engine == NULL || m->life != s->life)
        return;
    if (m->kind == SIM_TICK)
        sim_controller_tick(s, m->number);
    else if (m->kind == SIM_TAKE)
        sim_controller_take(s);
    else if (m->kind == SIM_COMMIT)
        sim_controller_commit(s);
}

static void deliver_letter(struct sim *s, const struct sim_message *m)
{
    struct sim_letter l = sim_letter_take(s, m->letter);
    if (m->kind == SIM_REQUEST && s->engine != NULL)
        sim_controller_request(s, m->agent, m->life, &l);
    else if (m->kind == SIM_ANSWER && s->agents[m->agent].life == m->life)
        sim_agent_answer(s, m->agent, &l);
}

static void step(struct sim *s)
{
    struct sim_message m = sim_next(s);
    s->mono = m.due;
    s->delivered++;
    sim_mix(s, m.order ^ m.due << 20 ^ (uint64_t)m.kind << 56);
    if (m.kind == SIM_REQUEST || m.kind == SIM_ANSWER)
        deliver_letter(s, &m);
    else if (!deliver_world(s, &m))
        deliver_controller(s, &m);
    if (m.kind != SIM_WAKE && s->engine != NULL)
        sim_check_agent(s, m.agent);
}

static void calm_down(struct sim *s)
{
    s->calm = true;
    s->weather = (struct sim_weather){.delay_max = 20};
    if (s->disk_full)
        fill_disk(s, false);
    cut_off(s, false);
    sim_say(s, "the weather is calm");
}

static void run_until(struct sim *s, lks_ms end)
{
    while (s->message_count > 0 && s->messages[0].due <= end && !s->broken) {
        step(s);
        sim_require(s, s->delivered < STEPS_MAX, "a run comes to its end");
    }
    s->mono = end;
}

static bool is_writing(const struct sim *s)
{
    return !s->broken && s->engine != NULL &&
           lks_engine_seq(s->engine) > lks_engine_durable_seq(s->engine);
}

static void run(struct sim *s, lks_ms storm)
{
    sim_controller_start(s);
    for (uint32_t i = 0; i < s->agent_count && !s->broken; i++) {
        sim_agent_init(s, i);
        sim_person_enrols(s, i);
    }
    plan(s, storm);
    run_until(s, storm);
    if (s->broken)
        return;
    calm_down(s);
    run_until(s, storm + SETTLING - 2 * 60 * LKS_SECOND);
    if (s->engine != NULL && !s->broken)
        sim_person_tidies(s);
    run_until(s, storm + SETTLING);
    for (unsigned i = 0; i < 100 && is_writing(s); i++) /* what was decided last */
        run_until(s, s->mono + 100);
    sim_check_end(s);
}

static void run_seed(struct sim *s, uint64_t seed, bool print)
{
    sim_init(s, seed, 0);
    s->print = print;
    run(s, STORM);
}

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* One large fleet, and the rate. */
static bool run_fleet(uint64_t seed, uint32_t nodes)
{
    LKS_CLEANUP(sim_fini) struct sim s = {0};
    sim_init(&s, seed, nodes);
    s.weather.power_cut = s.weather.crash = 1;
    double began = seconds();
    run(&s, 5 * 60 * LKS_SECOND);
    double took = seconds() - began;
    printf("%" PRIu32 " nodes, %" PRIu64 " minutes: %" PRIu64 " messages, %" PRIu64 " records, "
           "%" PRIu64 " crashes in %.2f s: %.0f messages/s\n",
           nodes, s.mono / (60 * LKS_SECOND), s.delivered,
           s.engine != NULL ? lks_engine_seq(s.engine) : 0, s.crashes, took,
           (double)s.delivered / took);
    return !s.broken;
}

static void test_seeds(void)
{
    uint64_t hours = 0, crashes = 0, stalls = 0, trims = 0, messages = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        LKS_CLEANUP(sim_fini) struct sim s = {0};
        run_seed(&s, seed, false);
        if (s.broken)
            return; /* the first seed is enough to work on */
        hours += s.mono * s.agent_count / (3600 * LKS_SECOND);
        crashes += s.crashes;
        stalls += s.stalls;
        trims += s.trims;
        messages += s.delivered;
    }
    printf("%d seeds, %" PRIu64 " node hours, %" PRIu64 " messages, %" PRIu64 " crashes, %" PRIu64
           " stalled commits, %" PRIu64 " trims\n",
           SEEDS, hours, messages, crashes, stalls, trims);
    CHECK(crashes > SEEDS && stalls > SEEDS && trims > 50);
}

/* Seeds that found something, each with what it was. */
static const struct {
    const char *name;
    uint64_t seed;
} remembered[] = {
    {"a record of a decision pointed into the state that it changed", 13},
    {"a renewal that came late took away the certificate of the one after it", 39},
    {"the commit of the fleet itself was lost", 216},
};

static void test_seeds_that_found_something(void)
{
    for (size_t i = 0; i < LKS_COUNT(remembered); i++) {
        LKS_CLEANUP(sim_fini) struct sim s = {0};
        run_seed(&s, remembered[i].seed, false);
        lks_test_case("%s", remembered[i].name);
        CHECK(!s.broken);
    }
}

static void test_a_seed_repeats_exactly(void)
{
    LKS_CLEANUP(sim_fini) struct sim a = {0}, b = {0}, c = {0};
    run_seed(&a, 42, false);
    run_seed(&b, 42, false);
    run_seed(&c, 43, false);
    CHECK(a.history == b.history);
    CHECK(a.history != c.history);
}

static int keep(uint64_t seed, const char *dir)
{
    LKS_CLEANUP(sim_fini) struct sim s = {0};
    run_seed(&s, seed, false);
    bool good = !s.broken && lks_golden_save(&s.store, &s.key, dir) &&
                lks_golden_snapshots(&s.store, &s.key, dir);
    return !good;
}

int main(int argc, char **argv)
{
    uint64_t seed = 0, nodes = 0;
    bool ok = argc <= 3;
    if (argc == 4 && strcmp(argv[1], "keep") == 0 &&
        lks_str_number(lks_str_from(argv[2]), UINT64_MAX, &seed)) {
        (void)atexit(sim_tuples_free);
        return keep(seed, argv[3]);
    }
    ok = ok && (argc < 2 || lks_str_number(lks_str_from(argv[1]), UINT64_MAX, &seed));
    ok = ok && (argc < 3 || lks_str_number(lks_str_from(argv[2]), FLEET_MAX, &nodes));
    if (!ok || (argc == 3 && nodes == 0)) {
        fprintf(stderr, "usage: sim_fleet [SEED [NODES]] | keep SEED DIR\n");
        return 2;
    }
    (void)signal(SIGABRT, say_seed);
    (void)signal(SIGSEGV, say_seed);
    (void)atexit(sim_tuples_free);
    if (argc == 3)
        return !run_fleet(seed, (uint32_t)nodes);
    if (argc == 2) {
        LKS_CLEANUP(sim_fini) struct sim s = {0};
        run_seed(&s, seed, true);
        return s.broken;
    }
    return lks_test_main((const struct lks_test[]){
        {"fleet sim: seeds", test_seeds},
        {"fleet sim: seeds that found something", test_seeds_that_found_something},
        {"fleet sim: a seed repeats exactly", test_a_seed_repeats_exactly},
        {0},
    });
}
