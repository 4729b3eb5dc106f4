/*
 * Changes in a simulated fleet.
 *
 * Each seed draws a fleet (pools, domains with assets and spares, redundant sides, a scheduler or
 * none; in a third of the seeds two sites, and domains that span pools and sites), which evils
 * there are at all, and how strong each is: messages lost, doubled, late and out of order; a
 * controller that is killed before a commit, after it and at each of its statements; a full disk;
 * endpoints that are silent, lie, fail, forget or brick; an image that is bad on one hardware
 * revision; agents and machines that go away in the middle of a step; jobs that never end,
 * schedulers that do not drain, drains of others; a slurmctld that fails over to a backup with an
 * older state, is upgraded, or drains nodes itself; bridges that go silent or show old readings, a
 * Slurm that reboots nodes, loses reservations or what is published of nodes, and lists jobs that
 * cannot be read; arrays and heterogeneous jobs; people who
 * pause, resume, abort, roll back, freeze, hold, remove and add nodes, revoke bundles and want
 * another change meanwhile. The promises are checked as things happen, against what machines truly
 * run; see campaign_checks.c. Then the weather turns calm, and everything has to settle. A seed
 * that fails once fails always:
 *
 *     sim_campaign               run many seeds
 *     sim_campaign 17            run one and print what happens
 *     sim_campaign 17 100000     run one with this many nodes for a while and print how fast
 *     sim_campaign from 17 500   run so many, from this one on, until one fails
 *     sim_campaign today 500     the same from a seed that the day gives
 *     sim_campaign keep 17 DIR   keep the journal of one as a golden one: tests/golden/README.md
 */
#include "sim/campaign.h"

#include "tests/goldens.h"
#include "tests/test.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifndef SEEDS
#define SEEDS 2000
#endif
#define STORM     (150 * CAM_MINUTE)
#define FLEET_MAX 999999
#define ENOUGH    UINT64_C(20000000) /* messages of a large fleet, for its rate */

/* For the handler of a signal that ends the program: what was running. */
static volatile sig_atomic_t seed_length;
static char seed_text[64];

static void name_seed(uint64_t seed)
{
    seed_length = 0;
    int length = snprintf(seed_text, sizeof(seed_text), "sim_campaign: seed %" PRIu64 "\n", seed);
    seed_length = length > 0 ? length : 0;
    lks_test_case("seed %" PRIu64, seed);
}

static void say_seed(int number)
{
    ssize_t ignored = write(STDERR_FILENO, seed_text, (size_t)seed_length);
    (void)ignored;
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* A world is too large for a stack. */
static struct cam world;

struct totals {
    uint64_t seeds, messages, rows, crashes, stalls, jobs, flashes, hours, halts, by_hand, resets,
        requeued, holds, emptied;
    uint64_t bridged, silences, unheard, reboots, denied, undone, reserved;
    uint64_t tasks, parts, failovers, forgotten, upgrades, drains, outages, first;
    uint64_t ends[LKS_CHANGE_STATE_COUNT], members[LKS_MEMBER_STATE_COUNT];
};

static void count(const struct cam *w, struct totals *t)
{
    t->seeds++;
    t->messages += w->delivered;
    t->rows += w->rows;
    t->crashes += w->crashes;
    t->stalls += w->stalls;
    t->jobs += w->jobs_begun;
    t->flashes += w->flashes_begun;
    t->hours += w->now / CAM_HOUR;
    t->halts += w->gate_halts;
    t->by_hand += w->by_hand;
    t->requeued += w->requeued;
    t->tasks += w->requeued_shapes[CAM_TASK];
    t->parts += w->requeued_shapes[CAM_PARTS];
    t->failovers += w->slurm.failovers;
    t->forgotten += w->slurm.forgotten;
    t->upgrades += w->slurm.upgrades;
    t->drains += w->slurm.drains;
    t->outages += w->slurm.outages;
    t->first += w->slurm.first;
    t->bridged += w->bridges.on;
    t->silences += w->bridges.silences;
    t->unheard += w->bridges.unheard;
    t->reboots += w->bridges.reboots;
    t->denied += w->bridges.denied;
    t->undone += w->bridges.undone;
    t->reserved += w->bridges.reserved;
    t->resets += w->resets;
    t->holds += w->holds;
    t->emptied += w->emptied;
    for (size_t k = 0; k < w->change_count; k++) {
        t->ends[w->changes[k].state]++;
        for (uint32_t i = 0; i < w->count; i++)
            if (w->changes[k].members[i].in)
                t->members[w->changes[k].members[i].state]++;
    }
}

/* The journal of a seed, with its reservations or without. */
static bool run_twin(uint64_t seed, enum cam_twin twin, uint8_t hash[LKS_HASH_BYTES])
{
    cam_init(&world, seed, 0);
    world.bridges.twin = twin;
    cam_run(&world, STORM);
    memcpy(hash, world.model.hash, LKS_HASH_BYTES);
    bool good = !world.broken;
    cam_fini(&world);
    return good;
}

/* No decision depends on a reservation. */
static bool run_twins(uint64_t seed)
{
    uint8_t with[LKS_HASH_BYTES], without[LKS_HASH_BYTES];
    if (!run_twin(seed, CAM_TWIN_RESERVES, with) || !run_twin(seed, CAM_TWIN_REFUSES, without))
        return false;
    CHECK(memcmp(with, without, LKS_HASH_BYTES) == 0);
    return memcmp(with, without, LKS_HASH_BYTES) == 0;
}

static bool run_seed(uint64_t seed, bool print, struct totals *t)
{
    enum { TWINS = 8 }; /* one in so many of those with bridges */
    name_seed(seed);
    cam_init(&world, seed, 0);
    world.print = print;
    cam_run(&world, STORM);
    count(&world, t);
    bool good = !world.broken, twins = world.bridges.on && seed % TWINS == 0;
    cam_fini(&world);
    return good && (!twins || print || run_twins(seed));
}

static void print_totals(const struct totals *t)
{
    printf("%" PRIu64 " seeds, %" PRIu64 " fleet hours, %" PRIu64 " messages, %" PRIu64 " rows, "
           "%" PRIu64 " crashes, %" PRIu64 " stalls, %" PRIu64 " jobs, %" PRIu64 " updates\n",
           t->seeds, t->hours, t->messages, t->rows, t->crashes, t->stalls, t->jobs, t->flashes);
    printf("changes:");
    for (unsigned i = 0; i < LKS_CHANGE_STATE_COUNT; i++)
        if (t->ends[i] > 0)
            printf(" %" PRIu64 " %s", t->ends[i], lks_change_state_words[i]);
    printf("; members:");
    for (unsigned i = 0; i < LKS_MEMBER_STATE_COUNT; i++)
        if (t->members[i] > 0)
            printf(" %" PRIu64 " %s", t->members[i], lks_member_state_words[i]);
    printf("; %" PRIu64 " halts by what was measured\n", t->halts);
    printf("by hand: %" PRIu64 " disruptive commands in production, %" PRIu64 " wedged resets; "
           "%" PRIu64 " jobs requeued; %" PRIu64 " holds with a scheduler, drained %" PRIu64
           " times\n",
           t->by_hand, t->resets, t->requeued, t->holds, t->emptied);
    printf("Slurm: %" PRIu64 " failovers that forgot %" PRIu64 " things, %" PRIu64
           " upgrades, %" PRIu64 " drains of its own, %" PRIu64 " outages, %" PRIu64
           " nodes changed in one; of jobs requeued %" PRIu64 " tasks of arrays, %" PRIu64
           " heterogeneous\n",
           t->failovers, t->forgotten, t->upgrades, t->drains, t->outages, t->first, t->tasks,
           t->parts);
    printf("bridges, of %" PRIu64 " seeds: %" PRIu64 " failed for a while, %" PRIu64
           " old answers noted; %" PRIu64 " reboots by Slurm, %" PRIu64
           " requests about jobs that it does not know, %" PRIu64 " verdicts undone, %" PRIu64
           " reservations\n",
           t->bridged, t->silences, t->unheard, t->reboots, t->denied, t->undone, t->reserved);
}

static void test_seeds(void)
{
    struct totals t = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        if (!run_seed(seed, false, &t))
            return; /* the first is enough to work on */
    print_totals(&t);
    /* Weather in which nothing is done, nothing fails or nobody dies tests nothing. */
    CHECK(t.ends[LKS_CHANGE_DONE] > SEEDS / 10 && t.ends[LKS_CHANGE_ROLLED_BACK] > SEEDS / 20);
    CHECK(t.ends[LKS_CHANGE_ABORTED] > SEEDS / 20);
    CHECK(t.members[LKS_MEMBER_FENCED] > 0 && t.members[LKS_MEMBER_REVERTED] > 0);
    CHECK(t.by_hand > SEEDS / 20 && t.resets > 0);
    CHECK(t.holds > SEEDS / 20 && t.emptied > SEEDS / 40);
    CHECK(t.requeued > 0);
    CHECK(t.forgotten > SEEDS / 40 && t.upgrades > SEEDS / 20 && t.drains > SEEDS / 20);
    CHECK(t.outages > SEEDS / 20 && t.first > 0 && t.tasks + t.parts > 0);
    CHECK(t.silences > SEEDS / 20 && t.unheard > SEEDS / 40 && t.reboots > SEEDS / 40);
    CHECK((t.denied > 0 || t.bridged < 100) && t.undone > SEEDS / 40 && t.reserved > SEEDS / 40);
    CHECK(t.crashes > SEEDS && t.jobs > SEEDS && t.flashes > SEEDS);
}

/* Seeds that find something, each with what it was: with that fault put back they fail. What the
 * simulator draws changes with it, and a seed that tells another story is replaced. */
static const struct {
    const char *name;
    uint64_t seed;
} remembered[] = {
    {"what halts at once is heeded while the wave is under way", 168},
    {"one that is late will serve again beside who is let go as it is", 2449},
    {"one side of a pair is dead, and the other is not touched", 244},
    {"no node returns around an asset whose update has an unknown outcome", 1010188},
    {"a lost node joins the rollback right behind the return of its domain", 1001089},
    {"a lost node joins right behind the return of two others", 1014392},
    {"an update that its endpoint forgot stays open until its deadline", 3031590},
    {"people give up an approved change that shows why it cannot start", 1001208},
    {"people give up an approved change whose nodes drifted in a rollback", 2011620},
    {"a reading from before a step proves nothing behind it", 2003584},
    {"one that was not touched does not return others of a domain with too few", 6005769},
    {"a rollback waits for an update of a domain, whose deadline is long", 20775004997},
    {"no asset is updated around a node that is held because its drain was ended", 30451},
};

static void test_seeds_that_found_something(void)
{
    struct totals t = {0};
    for (size_t i = 0; i < LKS_COUNT(remembered); i++) {
        bool good = run_seed(remembered[i].seed, false, &t);
        lks_test_case("%s", remembered[i].name);
        CHECK(good);
    }
}

static uint64_t history(uint64_t seed)
{
    name_seed(seed);
    cam_init(&world, seed, 0);
    cam_run(&world, STORM);
    uint64_t history = world.history;
    cam_fini(&world);
    return history;
}

static void test_a_seed_repeats_exactly(void)
{
    uint64_t first = history(42);
    CHECK(first == history(42));
    CHECK(first != history(43));
}

/* Of this process alone: others may have the core meanwhile. */
static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* One large fleet, and the rate. */
static bool run_fleet(uint64_t seed, uint32_t nodes)
{
    cam_init(&world, seed, nodes);
    double first = seconds();
    cam_begin(&world);
    double began = seconds();
    uint64_t rows = world.rows;
    world.enough = ENOUGH;
    cam_storm(&world, CAM_HOUR / 2);
    double took = seconds() - began;
    printf("%" PRIu32 " nodes, set up in %.2f s, then %" PRIu64 " minutes: %" PRIu64
           " messages, %" PRIu64 " rows, %" PRIu64 " crashes in %.2f s: %.0f messages/s\n",
           nodes, began - first, world.now / CAM_MINUTE, world.delivered, world.rows - rows,
           world.crashes, took, (double)world.delivered / took);
    for (size_t k = 0; k < world.change_count; k++) {
        uint32_t states[LKS_MEMBER_STATE_COUNT] = {0};
        for (uint32_t i = 0; i < world.count; i++)
            states[world.changes[k].members[i].state] += world.changes[k].members[i].in;
        for (size_t v = 0; v < world.changes[k].wave_count; v++)
            printf("wave %zu: %" PRIu64 " wide, %s, %" PRIu32 " open\n", v,
                   world.changes[k].waves[v].width,
                   lks_wave_state_words[world.changes[k].waves[v].state],
                   world.changes[k].waves[v].open);
        printf("change %" PRIu64 ": %s;", world.changes[k].id,
               lks_change_state_words[world.changes[k].state]);
        for (unsigned i = 0; i < LKS_MEMBER_STATE_COUNT; i++)
            if (states[i] > 0)
                printf(" %" PRIu32 " %s", states[i], lks_member_state_words[i]);
        printf("\n");
    }
    bool good = !world.broken;
    cam_fini(&world);
    return good;
}

/* Each day has a million of its own, apart from those of the test. */
static uint64_t seed_of_today(void)
{
    enum { DAY = 86400, SEEDS_A_DAY = 1000000 };
    return ((uint64_t)time(NULL) / DAY) * SEEDS_A_DAY;
}

static int run_some(uint64_t from, uint64_t many)
{
    struct totals t = {0};
    printf("seeds %" PRIu64 " to %" PRIu64 "\n", from, from + many - 1);
    for (uint64_t seed = from; seed < from + many; seed++) {
        if (run_seed(seed, false, &t))
            continue;
        printf("seed %" PRIu64 ": %s\n", seed, world.why);
        return EXIT_FAILURE;
    }
    print_totals(&t);
    return EXIT_SUCCESS;
}

static int keep(uint64_t seed, const char *dir)
{
    name_seed(seed);
    cam_init(&world, seed, 0);
    cam_run(&world, STORM);
    bool good = !world.broken && lks_golden_save(&world.store, &world.key, dir) &&
                lks_golden_snapshots(&world.store, &world.key, dir);
    cam_fini(&world);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void clean_up(void)
{
    cam_tuples_free();
    cam_redfish_free();
}

static int usage(void)
{
    fprintf(stderr, "usage: sim_campaign [SEED [NODES]] | from SEED SEEDS | today SEEDS | "
                    "keep SEED DIR\n");
    return 2;
}

int main(int argc, char **argv)
{
    uint64_t first = 0, second = 0;
    struct totals t = {0};
    bool today = argc == 3 && strcmp(argv[1], "today") == 0;
    bool some = argc == 4 && strcmp(argv[1], "from") == 0;
    bool kept = argc == 4 && strcmp(argv[1], "keep") == 0;
    int at = some || today || kept ? 2 : 1;
    if ((argc == 4) != (some || kept) || argc > 4 ||
        (argc > at && !lks_str_number(lks_str_from(argv[at]), UINT64_MAX, &first)) ||
        (argc > at + 1 && !kept && !lks_str_number(lks_str_from(argv[at + 1]), FLEET_MAX, &second)))
        return usage();
    (void)signal(SIGABRT, say_seed);
    (void)signal(SIGSEGV, say_seed);
    (void)atexit(clean_up);
    if (kept)
        return keep(first, argv[3]);
    if (today)
        return run_some(seed_of_today(), first);
    if (some)
        return run_some(first, second);
    if (argc == 3)
        return second == 0 ? usage() : !run_fleet(first, (uint32_t)second);
    if (argc == 2)
        return !run_seed(first, true, &t);
    return lks_test_main((const struct lks_test[]){
        {"campaign sim: seeds", test_seeds},
        {"campaign sim: seeds that found something", test_seeds_that_found_something},
        {"campaign sim: a seed repeats exactly", test_a_seed_repeats_exactly},
        {0},
    });
}
