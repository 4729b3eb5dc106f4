#include "core/stats/cover.h"

#include "base/buf.h"
#include "base/rng.h"
#include "tests/test.h"

enum { WIDTH = 4, NODES = 12 };

/* Twelve nodes: hardware, supplier, firmware, rack. */
static const uint32_t twelve[NODES * WIDTH] = {
    1, 1, 1, 1, /* n01 A S1 f1 r1 */
    1, 2, 1, 1, /* n02 A S2 f1 r1 */
    2, 1, 2, 1, /* n03 B S1 f2 r1 */
    2, 2, 2, 2, /* n04 B S2 f2 r2 */
    1, 1, 2, 2, /* n05 A S1 f2 r2 */
    3, 3, 1, 2, /* n06 C S3 f1 r2 */
    3, 1, 3, 3, /* n07 C S1 f3 r3 */
    2, 3, 3, 3, /* n08 B S3 f3 r3 */
    1, 2, 3, 3, /* n09 A S2 f3 r3 */
    3, 2, 2, 4, /* n10 C S2 f2 r4 */
    1, 3, 1, 4, /* n11 A S3 f1 r4 */
    2, 1, 1, 4, /* n12 B S1 f1 r4 */
};

static struct lks_cover choose(const struct lks_cover_question *q, struct lks_arena *arena)
{
    struct lks_cover out = {0};
    struct lks_err err = {0};
    lks_arena_init(arena, (size_t)64 << 20);
    (void)CHECK_CODE(lks_cover_choose(q, arena, &out, &err), LKS_OK);
    return out;
}

/* The twelve, each by itself. */
static struct lks_cover_question ask(struct lks_cover_candidate c[NODES], unsigned strength)
{
    for (uint32_t i = 0; i < NODES; i++)
        c[i] = (struct lks_cover_candidate){.first = i, .count = 1, .weight = 1};
    return (struct lks_cover_question){.rows = twelve,
                                       .row_count = NODES,
                                       .width = WIDTH,
                                       .strength = strength,
                                       .candidates = c,
                                       .count = NODES};
}

/* The published answers: combinations that occur, and how few cover them. */
static const struct {
    const char *name;
    unsigned strength;
    bool greedy;
    size_t items, count;
    const char *picked; /* the nodes' numbers, or NULL: one of several answers */
} oracles[] = {
    {"single attributes", 1, false, 13, 4, NULL},
    {"single attributes, greedily", 1, true, 13, 4, "1 4 7 11"},
    {"pairs", 2, false, 55, 11, "2 3 4 5 6 7 8 9 10 11 12"},
    {"pairs, greedily, less what is needless", 2, true, 55, 11, "2 3 4 5 6 7 8 9 10 11 12"},
    {"triples", 3, false, 47, 12, "1 2 3 4 5 6 7 8 9 10 11 12"},
    {"triples, greedily", 3, true, 47, 12, "1 2 3 4 5 6 7 8 9 10 11 12"},
};

static void test_oracles(void)
{
    for (size_t i = 0; i < LKS_COUNT(oracles); i++) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1000);
        struct lks_cover_candidate candidates[NODES];
        struct lks_cover_question q = ask(candidates, oracles[i].strength);
        lks_test_case("%s", oracles[i].name);
        q.greedy = oracles[i].greedy;
        struct lks_cover cover = choose(&q, &arena);
        (void)CHECK_INT(cover.items, oracles[i].items);
        (void)CHECK_INT(cover.covered, oracles[i].items);
        (void)CHECK_INT(cover.count, oracles[i].count);
        (void)CHECK_INT(cover.exact, !oracles[i].greedy);
        for (size_t k = 0; k < cover.count; k++)
            lks_buf_addf(&text, "%s%u", k > 0 ? " " : "", cover.picked[k] + 1);
        if (oracles[i].picked != NULL)
            (void)CHECK_STR(lks_buf_view(&text), oracles[i].picked);
    }
}

/* The largest one first takes three, none of them needless; two do. */
static void test_better_than_greed(void)
{
    static const uint32_t values[] = {1, 2, 3,  4,  5,  6,  7,      /* one half */
                                      8, 9, 10, 11, 12, 13, 14,     /* the other */
                                      1, 2, 3,  4,  8,  9,  10, 11, /* more than a half */
                                      5, 6, 12, 13, 7,  14};        /* and the rest */
    static const struct lks_cover_candidate c[] = {{.first = 0, .count = 7, .weight = 1},
                                                   {.first = 7, .count = 7, .weight = 1},
                                                   {.first = 14, .count = 8, .weight = 1},
                                                   {.first = 22, .count = 4, .weight = 1},
                                                   {.first = 26, .count = 2, .weight = 1}};
    for (unsigned greedy = 0; greedy < 2; greedy++) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        const struct lks_cover_question q = {.rows = values,
                                             .row_count = LKS_COUNT(values),
                                             .width = 1,
                                             .strength = 1,
                                             .greedy = greedy != 0,
                                             .candidates = c,
                                             .count = LKS_COUNT(c)};
        lks_test_case("%s", greedy ? "greedily" : "at best");
        struct lks_cover cover = choose(&q, &arena);
        (void)CHECK_INT(cover.count, greedy ? 3 : 2);
        (void)CHECK_INT(cover.items, 14);
        (void)CHECK_INT(cover.covered, 14);
    }
}

/* Whoever cannot be picked leaves a hole, and it is told. */
static void test_barred(void)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_cover_candidate c[NODES];
    struct lks_cover_question q = ask(c, 1);
    c[5].barred = c[7].barred = c[10].barred = true; /* all of supplier S3 */
    struct lks_cover cover = choose(&q, &arena);
    (void)CHECK_INT(cover.items - cover.covered, 1);
    (void)CHECK(cover.uncovered[0].attributes[0] == 1 && cover.uncovered[0].values[0] == 3);
}

/* A limit leaves holes, too, and is kept; what occurs at all is covered before pairs are. */
static void test_limit(void)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_cover_candidate c[NODES];
    struct lks_cover_question q = ask(c, 2);
    q.weight_max = 5;
    struct lks_cover cover = choose(&q, &arena);
    (void)CHECK_INT(cover.count, 5);
    (void)CHECK(cover.covered < cover.items && !cover.exact);
    unsigned seen[WIDTH] = {0}; /* by attribute: bits of its values */
    for (size_t i = 0; i < cover.count; i++) {
        for (size_t k = 0; k < WIDTH; k++)
            seen[k] |= 1U << twelve[(size_t)cover.picked[i] * WIDTH + k];
    }
    (void)CHECK(seen[0] == 0xe && seen[1] == 0xe && seen[2] == 0xe && seen[3] == 0x1e);
}

/* One that stands for several is worth its weight, and no more. */
static void test_weight(void)
{
    for (uint32_t weight = 3; weight <= 5; weight += 2) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        struct lks_cover_candidate c[NODES];
        struct lks_cover_question q = ask(c, 1);
        lks_test_case("weight %u", weight);
        c[0] = (struct lks_cover_candidate){.first = 0, .count = NODES, .weight = weight};
        struct lks_cover cover = choose(&q, &arena);
        (void)CHECK_INT(cover.count, weight == 3 ? 1 : 4);
        (void)CHECK_INT(cover.picked[0] == 0, weight == 3);
    }
}

/* Among equals the one that is disliked least. */
static void test_liking(void)
{
    static const uint32_t rows[] = {1, 1, 1, 2};
    struct lks_cover_candidate c[] = {{.first = 0, .count = 1, .weight = 1, .dislike = 7},
                                      {.first = 1, .count = 1, .weight = 1, .dislike = 9},
                                      {.first = 2, .count = 1, .weight = 1, .dislike = 3},
                                      {.first = 3, .count = 1, .weight = 1, .dislike = 9}};
    const struct lks_cover_question q = {
        .rows = rows, .row_count = 4, .width = 1, .strength = 1, .candidates = c, .count = 4};
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_cover cover = choose(&q, &arena);
    (void)CHECK_INT(cover.count, 2);
    (void)CHECK_INT(cover.picked[0], 2);
    (void)CHECK_INT(cover.picked[1], 3);
}

/* The fewest, by trying all sets of candidates. */
static size_t fewest(struct lks_cover_question *q, struct lks_cover_candidate *c)
{
    size_t best = q->count;
    for (uint32_t set = 1; set < 1U << q->count; set++) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        size_t n = 0;
        for (uint32_t i = 0; i < q->count; i++) {
            c[i].barred = (set >> i & 1) == 0;
            n += !c[i].barred;
        }
        if (n >= best)
            continue;
        struct lks_cover tried = choose(q, &arena);
        if (tried.covered == tried.items)
            best = n;
    }
    return best;
}

/* Random questions: what is picked covers all, and where there are few nothing does with less. */
static void test_random(void)
{
    enum { MOST = 14, ATTRIBUTES = 5, TRIED = 10 };
    for (uint64_t seed = 1; seed <= 60; seed++) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        LKS_CLEANUP(lks_arena_fini) struct lks_arena other = {0};
        struct lks_rng rng = {seed};
        uint32_t rows[MOST * ATTRIBUTES];
        struct lks_cover_candidate c[MOST];
        struct lks_cover_question q = {.rows = rows, .width = ATTRIBUTES, .candidates = c};
        lks_test_case("seed %llu", (unsigned long long)seed);
        q.count = q.row_count = 3 + lks_rng_below(&rng, MOST - 2);
        q.strength = 1 + (unsigned)lks_rng_below(&rng, 3);
        for (uint32_t i = 0; i < q.count; i++)
            c[i] = (struct lks_cover_candidate){.first = i, .count = 1, .weight = 1};
        for (size_t i = 0; i < q.count * ATTRIBUTES; i++)
            rows[i] = (uint32_t)lks_rng_below(&rng, 3);
        struct lks_cover best = choose(&q, &arena);
        q.greedy = true;
        struct lks_cover some = choose(&q, &other);
        (void)CHECK(best.exact && best.count <= some.count);
        (void)CHECK_INT(best.covered, best.items);
        (void)CHECK_INT(some.covered, some.items);
        if (q.count <= TRIED)
            (void)CHECK_INT(best.count, fewest(&q, c));
    }
}

static void test_large(void)
{
    enum { MANY = 20000 };
    static uint32_t rows[MANY * 4];
    static struct lks_cover_candidate c[MANY];
    struct lks_rng rng = {3};
    for (uint32_t i = 0; i < MANY; i++) {
        c[i] = (struct lks_cover_candidate){.first = i, .count = 1, .weight = 1};
        for (size_t a = 0; a < 4; a++)
            rows[(size_t)i * 4 + a] = (uint32_t)lks_rng_below(&rng, 12);
    }
    const struct lks_cover_question q = {
        .rows = rows, .row_count = MANY, .width = 4, .strength = 2, .candidates = c, .count = MANY};
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_cover cover = choose(&q, &arena);
    (void)CHECK_INT(cover.items, 6 * 144);
    (void)CHECK_INT(cover.covered, cover.items);
    /* A covering array of four columns of twelve needs 144 rows; greed takes a little more. */
    (void)CHECK(cover.count >= 144 && cover.count < 240 && !cover.exact);
}

static const struct {
    uint64_t population;
    uint32_t failures; /* millionths */
    uint64_t sizes[3]; /* for 90, 95 and 99 % */
} sizes[] = {
    {0, 500000, {4, 5, 7}},
    {0, 200000, {11, 14, 21}},
    {0, 100000, {22, 29, 44}},
    {0, 50000, {45, 59, 90}},
    {0, 20000, {114, 149, 228}},
    {0, 10000, {230, 299, 459}},
    {0, 5000, {460, 598, 919}},
    {0, 1000, {2302, 2995, 4603}},
    /* Of so many, with 5, 5, 26 and 20 bad ones among them. */
    {100, 50000, {37, 45, 59}},
    {512, 9765, {189, 230, 307}},
    {512, 50781, {43, 55, 82}},
    {2048, 9765, {222, 284, 420}},
    /* The smallest ones: one of one, and all but the good ones. */
    {1, 10000, {1, 1, 1}},
    {2, 500000, {2, 2, 2}},
};

static void test_sizes(void)
{
    static const uint32_t confidences[] = {900000, 950000, 990000};
    for (size_t i = 0; i < LKS_COUNT(sizes); i++) {
        for (size_t c = 0; c < LKS_COUNT(confidences); c++) {
            lks_test_case("%llu, %u, %u", (unsigned long long)sizes[i].population,
                          sizes[i].failures, confidences[c]);
            (void)CHECK_INT(lks_cover_size(sizes[i].population, sizes[i].failures, confidences[c]),
                            sizes[i].sizes[c]);
        }
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"cover: oracles", test_oracles},
        {"cover: better than greed", test_better_than_greed},
        {"cover: barred", test_barred},
        {"cover: limit", test_limit},
        {"cover: weight", test_weight},
        {"cover: liking", test_liking},
        {"cover: random", test_random},
        {"cover: large", test_large},
        {"cover: sizes", test_sizes},
        {0},
    });
}
