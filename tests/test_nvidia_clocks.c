/* What is worked out from a GPU's numbers: whether its clocks are locked, and names of MIG
 * profiles.
 */
#include "probe/gpu/nvidia_gpu.h"
#include "tests/test.h"

#define MS 1000000u

/* Clocks: the rows are what an H200 with driver 580.159.04 was seen to do ---------------------- */

enum { FREE = LKS_CLOCKS_FREE, HELD = LKS_CLOCKS_HELD, UNSURE = LKS_CLOCKS_UNSURE };
static const struct {
    const char *name;
    struct lks_clocks_look first;
    struct lks_clocks_look later; /* all zero: the first look is enough */
    int verdict;
} looks[] = {
    {"idle, never locked", {0, 0, false, true, 345, 345, 1980}, {0}, FREE},
    {"fresh and idle at the top", {0, 0, false, true, 1980, 345, 1980}, {0}, FREE},
    {"busy, never locked", {0, 0, false, false, 1755, 345, 1980}, {0}, FREE},
    {"range not known", {0, 0, false, true, 1200, 0, 0}, {0}, FREE},
    {"locked this moment",
     {0, 0, false, true, 1830, 345, 1980},
     {39 * MS, 39 * MS, false, false, 1830, 0, 0},
     HELD},
    {"locked, idle",
     {52 * MS, 52 * MS, false, true, 600, 345, 1980},
     {152 * MS, 152 * MS, false, false, 600, 0, 0},
     HELD},
    {"locked at the bottom",
     {2539 * MS, 2539 * MS, false, true, 345, 345, 1980},
     {2639 * MS, 2639 * MS, false, false, 345, 0, 0},
     HELD},
    {"locked and busy",
     {8027 * MS, 8027 * MS, false, false, 1200, 345, 1980},
     {8127 * MS, 8127 * MS, false, false, 1200, 0, 0},
     HELD},
    {"was locked, is not",
     {6974 * MS, 6974 * MS, false, true, 345, 345, 1980},
     {6974 * MS, 6974 * MS, false, false, 345, 0, 0},
     FREE},
    {"on its way down",
     {12398 * MS, 12398 * MS, false, true, 510, 345, 1980},
     {12398 * MS, 12398 * MS, false, false, 465, 0, 0},
     FREE},
    {"on its way down, never locked",
     {0, 0, false, true, 510, 345, 1980},
     {0, 0, false, false, 465, 0, 0},
     FREE},
    {"stands between and does not count",
     {0, 0, false, true, 600, 345, 1980},
     {0, 0, false, false, 600, 0, 0},
     UNSURE},
    {"on its way down, counters known to tell",
     {12398 * MS, 12398 * MS, true, true, 510, 345, 1980},
     {12398 * MS, 12398 * MS, true, false, 510, 0, 0},
     FREE},
    {"never locked, counters known to tell", {0, 0, true, true, 510, 345, 1980}, {0}, FREE},
    {"one counter alone",
     {0, 50 * MS, false, false, 1980, 345, 1980},
     {0, 150 * MS, false, false, 1980, 0, 0},
     FREE},
    {"counters apart",
     {10 * MS, 50 * MS, false, false, 1980, 345, 1980},
     {20 * MS, 150 * MS, false, false, 1980, 0, 0},
     UNSURE},
    {"counted anew",
     {50 * MS, 50 * MS, false, false, 1980, 345, 1980},
     {0, 0, false, false, 1980, 0, 0},
     UNSURE},
};

static void test_clock_verdicts(void)
{
    for (size_t i = 0; i < LKS_COUNT(looks); i++) {
        lks_test_case("%s", looks[i].name);
        int first = looks[i].later.clock == 0 ? looks[i].verdict : LKS_CLOCKS_AGAIN;
        CHECK_INT(lks_nvidia_clocks_first(&looks[i].first), first);
        if (first == LKS_CLOCKS_AGAIN)
            CHECK_INT(lks_nvidia_clocks_second(&looks[i].first, &looks[i].later), looks[i].verdict);
    }
}

static void test_profile_names(void)
{
    static const struct {
        unsigned profile;
        unsigned slices, memory_mb, total_mb;
        const char *name; /* NULL: has none */
    } rows[] = {
        {0, 1, 16384, 143771, "1g.18gb"},    {7, 1, 16384, 143771, "1g.18gb+me"},
        {9, 1, 33280, 143771, "1g.35gb"},    {1, 2, 33280, 143771, "2g.35gb"},
        {2, 3, 71424, 143771, "3g.71gb"},    {3, 4, 71424, 143771, "4g.71gb"},
        {4, 7, 143360, 143771, "7g.141gb"},  {0, 1, 4864, 40536, "1g.5gb"},
        {0, 1, 9728, 81920, "1g.10gb"},      {2, 3, 40192, 81920, "3g.40gb"},
        {0, 1, 5952, 24576, "1g.6gb"},       {10, 1, 23936, 97887, "1g.24gb+gfx"},
        {13, 1, 23936, 97887, "1g.24gb-me"}, {15, 1, 23936, 97887, "1g.24gb+me.all"},
        {17, 1, 16384, 143771, NULL},        {0, 1, 16384, 0, NULL},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        char name[32] = "";
        lks_test_case("row %zu", i);
        bool has = lks_nvidia_profile_name(rows[i].profile, rows[i].slices, rows[i].memory_mb,
                                           (uint64_t)rows[i].total_mb << 20, name, sizeof(name));
        CHECK(has == (rows[i].name != NULL));
        if (has && rows[i].name != NULL)
            CHECK_STR(lks_str_from(name), rows[i].name);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"nvidia clock verdicts", test_clock_verdicts},
        {"nvidia profile names", test_profile_names},
        {0},
    });
}
