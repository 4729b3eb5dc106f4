#include "base/arena.h"

#include "base/rng.h"
#include "tests/test.h"

/* Where AddressSanitizer is built in: a request that cannot be met is answered, as without it. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* What fits under a ceiling of 64 bytes that already has `used` bytes in use. */
static const struct {
    const char *name;
    size_t used;
    size_t size;
    bool ok;
} sizes[] = {
    {"nothing", 0, 0, true},
    {"a byte", 0, 1, true},
    {"all of it", 0, 64, true},
    {"one more than all", 0, 65, false},
    {"the rest", 48, 16, true},
    {"more than the rest", 48, 17, false},
    {"nothing when it is full", 64, 0, true},
    {"a byte when it is full", 64, 1, false},
    {"more than there is", 0, SIZE_MAX, false},
    {"so much that rounding overflows", 0, SIZE_MAX - 7, false},
};

static void test_sizes(void)
{
    for (size_t i = 0; i < LKS_COUNT(sizes); i++) {
        lks_test_case("%s", sizes[i].name);
        LKS_CLEANUP(lks_arena_fini) struct lks_arena a = {0};
        lks_arena_init(&a, 64);
        CHECK(lks_arena_alloc(&a, sizes[i].used) != NULL);
        CHECK((lks_arena_alloc(&a, sizes[i].size) != NULL) == sizes[i].ok);
    }
    lks_test_case("without a ceiling");
    LKS_CLEANUP(lks_arena_fini) struct lks_arena a = {0};
    lks_arena_init(&a, SIZE_MAX);
    CHECK(lks_arena_alloc(&a, SIZE_MAX) == NULL);
    CHECK(lks_arena_alloc(&a, SIZE_MAX - 7) == NULL);
}

static void test_array(void)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena a = {0};
    lks_arena_init(&a, 1024);
    uint32_t *numbers = lks_arena_array(&a, 10, sizeof(numbers[0]));
    if (CHECK(numbers != NULL))
        CHECK(numbers[0] == 0 && numbers[9] == 0);
    CHECK(lks_arena_array(&a, SIZE_MAX / 2, 4) == NULL); /* the product would be small */
    CHECK(lks_arena_array(&a, 0, 0) != NULL);
}

static void test_copy(void)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena a = {0};
    struct lks_err err = {0};
    lks_arena_init(&a, 32);
    struct lks_str copy = lks_arena_copy(&a, LKS_STR("driver"));
    CHECK_STR(copy, "driver");
    CHECK_INT(copy.ptr[copy.len], 0);
    copy = lks_arena_copy(&a, (struct lks_str){0});
    CHECK(copy.ptr != NULL && copy.len == 0);
    copy = lks_arena_copy(&a, LKS_STR("bmc"));
    CHECK(copy.ptr == NULL && copy.len == 0);
    CHECK_CODE(lks_arena_fail(&a, &err), LKS_E_LIMIT);
    CHECK_HAS(lks_str_from(err.msg), "32 bytes");
}

/* The ceiling and the system refuse for different reasons, and the last one counts. */
static void test_causes(void)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena a = {0};
    struct lks_err err = {0};
    lks_arena_init(&a, SIZE_MAX);
    CHECK(lks_arena_alloc(&a, PTRDIFF_MAX / 2) == NULL);
    CHECK_CODE(lks_arena_fail(&a, &err), LKS_E_NOMEM);
    CHECK(lks_arena_array(&a, SIZE_MAX / 2, 4) == NULL);
    CHECK_CODE(lks_arena_fail(&a, &err), LKS_E_LIMIT);
    CHECK(lks_arena_alloc(&a, PTRDIFF_MAX / 2) == NULL);
    CHECK_CODE(lks_arena_fail(&a, &err), LKS_E_NOMEM);
    CHECK(lks_arena_alloc(&a, 16) != NULL);
    CHECK_CODE(lks_arena_fail(&a, &err), LKS_E_NOMEM); /* still the last refusal */
}

static void test_empty(void)
{
    struct lks_arena a = {0};
    CHECK(lks_arena_alloc(&a, 1) == NULL);
    lks_arena_fini(&a);
    lks_arena_fini(&a);
}

/* Pieces are zeroed, aligned, apart from each other, and stay where they are; some are larger than
 * a block. */
static void test_property(void)
{
    enum { PIECES = 300 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        lks_test_case("seed %d", (int)seed);
        struct lks_rng rng = {seed};
        LKS_CLEANUP(lks_arena_fini) struct lks_arena a = {0};
        unsigned char *pieces[PIECES];
        size_t lens[PIECES];
        lks_arena_init(&a, 64 * 1024 * 1024);
        for (size_t i = 0; i < PIECES; i++) {
            lens[i] = (size_t)lks_rng_below(&rng, lks_rng_percent(&rng, 5) ? 200000 : 500);
            pieces[i] = lks_arena_alloc(&a, lens[i]);
            if (!CHECK(pieces[i] != NULL))
                return;
            CHECK_INT((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
            for (size_t at = 0; at < lens[i]; at++)
                CHECK(pieces[i][at] == 0);
            memset(pieces[i], (int)(i % 255 + 1), lens[i]);
        }
        for (size_t i = 0; i < PIECES; i++) {
            for (size_t at = 0; at < lens[i]; at++)
                CHECK(pieces[i][at] == i % 255 + 1);
        }
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"arena: sizes", test_sizes},
        {"arena: array", test_array},
        {"arena: copy", test_copy},
        {"arena: causes", test_causes},
        {"arena: the empty state", test_empty},
        {"arena: property", test_property},
        {0},
    });
}
