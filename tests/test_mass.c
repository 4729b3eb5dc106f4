#include "core/mass.h"

#include "base/rng.h"
#include "tests/test.h"

enum { WINDOW = 300000 };

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

/* Turns at these times; then how many there are at `now`. */
static const struct {
    const char *name;
    lks_ms turns[4];
    lks_ms now;
    uint32_t count;
} counts[] = {
    {"none", {0}, 1000, 0},
    {"at this very moment", {1000}, 1000, 1},
    {"the last moment of the window", {1000}, 1000 + WINDOW - 1, 1},
    {"the window has passed", {1000}, 1000 + WINDOW, 0},
    {"some of them", {1000, 2000, 3000}, 2000 + WINDOW, 1},
    {"two at once", {1000, 1000}, 2000, 2},
    {"a clock that was set back is taken to stand still", {2000, 1000}, 2000 + WINDOW - 1, 2},
    {"looking back", {1000}, 500, 1},
};

static void test_count(void)
{
    for (size_t i = 0; i < LKS_COUNT(counts); i++) {
        LKS_CLEANUP(lks_mass_fini) struct lks_mass m = {0};
        struct lks_err err = {0};
        lks_test_case("%s", counts[i].name);
        for (size_t k = 0; k < LKS_COUNT(counts[i].turns) && counts[i].turns[k] != 0; k++)
            CHECK_CODE(lks_mass_add(&m, counts[i].turns[k], WINDOW, &err), LKS_OK);
        CHECK_INT(lks_mass_count(&m, counts[i].now, WINDOW), counts[i].count);
        lks_mass_forget(&m, counts[i].now, WINDOW);
        CHECK_INT(m.count, counts[i].count);
        lks_mass_clear(&m);
        CHECK_INT(lks_mass_count(&m, counts[i].now, WINDOW), 0);
    }
}

/* Against a plain list of times that forgets nothing. */
static void test_property(void)
{
    enum { STEPS = 3000 };
    static lks_ms list[STEPS];
    for (uint64_t seed = 1; seed <= 5; seed++) {
        LKS_CLEANUP(lks_mass_fini) struct lks_mass m = {0};
        struct lks_rng rng = {seed};
        struct lks_err err = {0};
        lks_ms now = 1;
        lks_test_case("seed %d", (int)seed);
        for (size_t i = 0; i < STEPS; i++) {
            now += lks_rng_below(&rng, lks_rng_percent(&rng, 1) ? 2 * WINDOW : WINDOW / 100);
            list[i] = now;
            uint32_t want = 0;
            for (size_t k = 0; k <= i; k++)
                want += now - list[k] < WINDOW;
            if (!CHECK_CODE(lks_mass_add(&m, now, WINDOW, &err), LKS_OK) ||
                !CHECK_INT(lks_mass_count(&m, now, WINDOW), want) ||
                !CHECK_INT(lks_mass_turn(&m, m.count - 1), now))
                break;
        }
    }
}

/* However many turn within the window, there is a ceiling. */
static void test_ceiling(void)
{
    LKS_CLEANUP(lks_mass_fini) struct lks_mass m = {0};
    struct lks_err err = {0};
    for (uint32_t i = 0; i < LKS_MASS_TURNS_MAX + 10; i++) {
        if (!CHECK_CODE(lks_mass_add(&m, 1000 + i / 1000, WINDOW, &err), LKS_OK))
            return;
    }
    CHECK_INT(m.count, LKS_MASS_TURNS_MAX);
    CHECK_INT(m.room, LKS_MASS_TURNS_MAX);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"mass: limit", test_limit},
        {"mass: count", test_count},
        {"mass: property", test_property},
        {"mass: ceiling", test_ceiling},
        {0},
    });
}
