#include "core/state/mass.h"

#include "base/rng.h"
#include "tests/test.h"

enum { WINDOW = 300000, NODES = 40 };

static const struct {
    const char *name;
    uint64_t floor, percent, nodes, limit;
} limits[] = {
    {"a small pool has the floor", 10, 2, 20, 10},
    {"as many as both say", 10, 2, 500, 10},
    {"the first where the percentage is more", 10, 2, 550, 11},
    {"rounded down", 10, 2, 599, 11},
    {"a large pool", 10, 2, 100000, 2000},
    {"without a floor", 0, 2, 49, 0},
    {"no nodes", 10, 2, 0, 10},
    {"all of them", 0, 100, 77, 77},
};

static void test_limit(void)
{
    for (size_t i = 0; i < LKS_COUNT(limits); i++) {
        lks_test_case("%s", limits[i].name);
        CHECK_INT(lks_mass_limit(limits[i].floor, limits[i].percent, limits[i].nodes),
                  limits[i].limit);
    }
}

/* Turns of nodes at these times; then how many nodes there are at `now`. */
static const struct {
    const char *name;
    struct {
        uint32_t node;
        lks_ms at; /* 0: no more */
    } turns[4];
    lks_ms now;
    uint32_t count;
} counts[] = {
    {"none", {{0}}, 1000, 0},
    {"at this very moment", {{1, 1000}}, 1000, 1},
    {"the last moment of the window", {{1, 1000}}, 1000 + WINDOW - 1, 1},
    {"the window has passed", {{1, 1000}}, 1000 + WINDOW, 0},
    {"some of them", {{1, 1000}, {2, 2000}, {3, 3000}}, 2000 + WINDOW, 1},
    {"two at once", {{1, 1000}, {2, 1000}}, 2000, 2},
    {"one that comes and goes counts once", {{1, 1000}, {1, 2000}, {1, 3000}}, 3000, 1},
    {"and by its last turn", {{1, 1000}, {2, 1500}, {1, 2000}}, 1500 + WINDOW, 1},
    {"the newest turns again", {{1, 1000}, {2, 1500}, {2, 2000}}, 2000, 2},
    {"the one in the middle turns again", {{1, 1}, {2, 2}, {3, 3}, {2, 4}}, 2 + WINDOW, 2},
    {"a clock that was set back is taken to stand still",
     {{1, 2000}, {2, 1000}},
     2000 + WINDOW - 1,
     2},
    {"looking back", {{1, 1000}}, 500, 1},
};

static void test_count(void)
{
    for (size_t i = 0; i < LKS_COUNT(counts); i++) {
        struct lks_mass_turn turns[NODES] = {0};
        struct lks_mass m = {0};
        uint32_t found = 0;
        lks_test_case("%s", counts[i].name);
        for (size_t k = 0; k < LKS_COUNT(counts[i].turns) && counts[i].turns[k].at != 0; k++)
            lks_mass_add(&m, turns, counts[i].turns[k].node, counts[i].turns[k].at, WINDOW);
        CHECK_INT(lks_mass_count(&m, turns, counts[i].now, WINDOW), counts[i].count);
        for (uint32_t n = 0; n < NODES; n++)
            found += lks_mass_counts(&turns[n], counts[i].now, WINDOW);
        CHECK_INT(found, counts[i].count);
        lks_mass_forget(&m, turns, counts[i].now, WINDOW);
        CHECK_INT(m.count, counts[i].count);
        lks_mass_clear(&m, turns);
        CHECK_INT(lks_mass_count(&m, turns, counts[i].now, WINDOW), 0);
    }
}

/* The chain, read in both directions, has the nodes that are counted in the order of time. */
static bool is_whole(const struct lks_mass *m, const struct lks_mass_turn *turns)
{
    uint32_t counted = 0, n = m->oldest;
    for (uint32_t i = 0; i < NODES; i++)
        counted += turns[i].counted;
    bool whole = counted == m->count;
    for (uint32_t i = 1; i < m->count && whole; i++, n = turns[n].after)
        whole = turns[n].counted && turns[turns[n].after].before == n &&
                turns[n].at <= turns[turns[n].after].at;
    return whole && (m->count == 0 || n == m->newest);
}

/* Against the times of last turns, which forget nothing. */
static void test_property(void)
{
    enum { STEPS = 3000 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct lks_mass_turn turns[NODES] = {0};
        struct lks_mass m = {0};
        struct lks_rng rng = {seed};
        lks_ms now = 1, last[NODES] = {0};
        lks_test_case("seed %d", (int)seed);
        for (size_t i = 0; i < STEPS; i++) {
            uint32_t node = (uint32_t)lks_rng_below(&rng, NODES), want = 0;
            now += lks_rng_below(&rng, lks_rng_percent(&rng, 1) ? 2 * WINDOW : WINDOW / 20);
            if (lks_rng_percent(&rng, 10)) {
                lks_mass_remove(&m, turns, node);
                last[node] = 0;
            } else {
                lks_mass_add(&m, turns, node, now, WINDOW);
                last[node] = now;
            }
            for (size_t k = 0; k < NODES; k++)
                want += last[k] != 0 && now - last[k] < WINDOW;
            if (!CHECK_INT(lks_mass_count(&m, turns, now, WINDOW), want) ||
                !CHECK(is_whole(&m, turns)))
                break;
        }
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"mass: limit", test_limit},
        {"mass: count", test_count},
        {"mass: property", test_property},
        {0},
    });
}
