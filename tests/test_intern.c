#include "base/intern.h"

#include "base/rng.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_BYTES = 16 * 1024 * 1024 };

static const struct {
    const char *name;
    struct lks_str text;
    uint32_t id;
} texts[] = {
    {"the first", LKS_STR_C("driver"), 0},
    {"another", LKS_STR_C("bmc"), 1},
    {"the first again", LKS_STR_C("driver"), 0},
    {"empty", LKS_STR_C(""), 2},
    {"empty again", {NULL, 0}, 2},
    {"with a zero in it", LKS_STR_C("a\0b"), 3},
    {"another behind the zero", LKS_STR_C("a\0c"), 4},
    {"a prefix", LKS_STR_C("a"), 5},
    {"letters in another case", LKS_STR_C("BMC"), 6},
};

static void test_ids(void)
{
    LKS_CLEANUP(lks_intern_fini) struct lks_intern in = {0};
    lks_intern_init(&in, MAX_BYTES);
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        lks_test_case("%s", texts[i].name);
        struct lks_err err = {0};
        uint32_t id = UINT32_MAX, found = UINT32_MAX;
        CHECK_CODE(lks_intern_id(&in, texts[i].text, &id, &err), LKS_OK);
        CHECK_INT(id, texts[i].id);
        CHECK(lks_intern_find(&in, texts[i].text, &found));
        CHECK_INT(found, id);
        CHECK(lks_str_eq(lks_intern_text(&in, id), texts[i].text));
    }
    CHECK_INT(lks_intern_count(&in), 7);
    uint32_t id = 99;
    CHECK(!lks_intern_find(&in, LKS_STR("nic"), &id));
    CHECK_INT(id, 99);
}

static void test_empty(void)
{
    LKS_CLEANUP(lks_intern_fini) struct lks_intern in = {0};
    uint32_t id = 99;
    CHECK(!lks_intern_find(&in, LKS_STR("driver"), &id));
    CHECK_INT(lks_intern_count(&in), 0);
}

/* At the ceiling a new text is refused, and everything known stays so. */
static void test_ceiling(void)
{
    LKS_CLEANUP(lks_intern_fini) struct lks_intern in = {0};
    struct lks_err err = {0};
    lks_intern_init(&in, 64);
    uint32_t id = 0;
    CHECK_CODE(lks_intern_id(&in, LKS_STR("0123456789012345678901234567890"), &id, &err), LKS_OK);
    CHECK_CODE(lks_intern_id(&in, LKS_STR("driver"), &id, &err), LKS_OK);
    CHECK_CODE(lks_intern_id(&in, LKS_STR("bmc"), &id, &err), LKS_OK);
    CHECK_CODE(lks_intern_id(&in, LKS_STR("nic"), &id, &err), LKS_E_LIMIT);
    CHECK_CODE(lks_intern_id(&in, LKS_STR("driver"), &id, &err), LKS_OK);
    CHECK_INT(id, 1);
    CHECK_INT(lks_intern_count(&in), 3);
}

/* Ids are dense, in the order of first sight, and survive every growth; `seen` is the model. */
static void test_property(void)
{
    enum { NAMES = 20000, STEPS = 100000 };
    uint32_t *seen = calloc(NAMES, sizeof(seen[0]));
    LKS_ASSERT(seen != NULL);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        lks_test_case("seed %d", (int)seed);
        struct lks_rng rng = {seed};
        LKS_CLEANUP(lks_intern_fini) struct lks_intern in = {0};
        lks_intern_init(&in, MAX_BYTES);
        memset(seen, 0xff, NAMES * sizeof(seen[0]));
        uint32_t next = 0;
        for (int i = 0; i < STEPS; i++) {
            char name[32];
            uint32_t n = (uint32_t)lks_rng_below(&rng, NAMES), id = 0;
            struct lks_err err = {0};
            snprintf(name, sizeof(name), "node-%u", (unsigned)n);
            if (seen[n] == UINT32_MAX)
                seen[n] = next++;
            if (!CHECK_CODE(lks_intern_id(&in, lks_str_from(name), &id, &err), LKS_OK) ||
                !CHECK_INT(id, seen[n]) || !CHECK_STR(lks_intern_text(&in, id), name))
                break;
        }
        CHECK_INT(lks_intern_count(&in), next);
    }
    free(seen);
}

/* Many at once are found as each by itself is, whether they are there or not. */
static void test_all(void)
{
    enum { NAMES = 500, KNOWN = 300 };
    static char names[NAMES][16];
    LKS_CLEANUP(lks_intern_fini) struct lks_intern in = {0};
    struct lks_err err = {0};
    struct lks_str asked[NAMES];
    uint32_t ids[NAMES], id = 0;
    lks_intern_init(&in, MAX_BYTES);
    for (size_t i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof(names[i]), "node-%zu", i * 7919 % NAMES);
        asked[i] = lks_str_from(names[i]);
    }
    lks_intern_find_all(&in, asked, NAMES, ids);
    CHECK(ids[0] == UINT32_MAX && ids[NAMES - 1] == UINT32_MAX);
    for (size_t i = 0; i < KNOWN; i++)
        CHECK_CODE(lks_intern_id(&in, asked[i], &id, &err), LKS_OK);
    for (size_t count = 0; count <= NAMES; count += 1 + count / 3) {
        memset(ids, 0, sizeof(ids));
        lks_intern_find_all(&in, asked + NAMES - count, count, ids);
        for (size_t i = 0; i < count; i++) {
            bool known = lks_intern_find(&in, asked[NAMES - count + i], &id);
            CHECK_INT(ids[i], known ? id : UINT32_MAX);
        }
    }
}

/* Texts that were chosen to fall on one another do so for one seed alone. */
static void test_seed(void)
{
    enum { CHOSEN = 256, MASK = 0xff, TRIES = 1000000 };
    LKS_CLEANUP(lks_intern_fini) struct lks_intern known = {0}, seeded = {0};
    struct lks_err err = {0};
    bool seen[MASK + 1] = {false};
    uint32_t id = 0, slots = 0;
    lks_intern_init(&known, MAX_BYTES);
    lks_intern_init(&seeded, MAX_BYTES);
    lks_intern_seed(&seeded, 42);
    for (int i = 0; i < TRIES && lks_intern_count(&seeded) < CHOSEN; i++) {
        char name[32];
        snprintf(name, sizeof(name), "node-%d", i);
        LKS_CLEANUP(lks_intern_fini) struct lks_intern one = {0};
        lks_intern_init(&one, MAX_BYTES);
        CHECK_CODE(lks_intern_id(&one, lks_str_from(name), &id, &err), LKS_OK);
        if ((one.entries[0].hash & MASK) != 0)
            continue;
        CHECK_CODE(lks_intern_id(&seeded, lks_str_from(name), &id, &err), LKS_OK);
        uint64_t slot = seeded.entries[id].hash & MASK;
        slots += !seen[slot];
        seen[slot] = true;
    }
    CHECK_INT(lks_intern_count(&seeded), CHOSEN);
    CHECK(slots > CHOSEN / 2);
}

/* SipHash-1-3 of nothing, and of up to fifteen bytes, by another implementation of it. */
static void test_hash(void)
{
    static const struct {
        const char *text;
        uint64_t hash;
    } rows[] = {
        {"", UINT64_C(0xabac0158050fc4dc)},
        {"a", UINT64_C(0x1c2697ab786a6237)},
        {"abc", UINT64_C(0x6fce24e8af8146eb)},
        {"1234", UINT64_C(0x692bf89bf238c89b)},
        {"12345", UINT64_C(0x57c43330bdedc2f3)},
        {"1234567", UINT64_C(0x39f89ef839e557b1)},
        {"12345678", UINT64_C(0x11a8ebb5cd0da9ce)},
        {"123456789abcdef", UINT64_C(0x9c152c7dd04b575d)},
        {"123456789abcdef0", UINT64_C(0x62a10844aa8afcb8)},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_intern_fini) struct lks_intern in = {0};
        struct lks_err err = {0};
        uint32_t id = 0;
        lks_test_case("'%s'", rows[i].text);
        lks_intern_init(&in, MAX_BYTES);
        in.seed[0] = UINT64_C(0x0706050403020100);
        in.seed[1] = UINT64_C(0x0f0e0d0c0b0a0908);
        CHECK_CODE(lks_intern_id(&in, lks_str_from(rows[i].text), &id, &err), LKS_OK);
        CHECK(in.entries[0].hash == rows[i].hash);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"intern: ids", test_ids},
        {"intern: the empty state", test_empty},
        {"intern: ceiling", test_ceiling},
        {"intern: property", test_property},
        {"intern: many at once", test_all},
        {"intern: seed", test_seed},
        {"intern: hash", test_hash},
        {0},
    });
}
