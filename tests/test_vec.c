#include "base/vec.h"

#include "tests/test.h"

#include <stdint.h>
#include <stdlib.h>

/* From a capacity to the next, for elements of one byte. */
static void test_capacity(void)
{
    static const struct {
        const char *name;
        size_t cap, wanted, max, want;
        enum lks_code code;
    } rows[] = {
        {"the first", 0, 1, SIZE_MAX, 4, LKS_OK},
        {"the first are many", 0, 100, SIZE_MAX, 128, LKS_OK},
        {"there is enough", 16, 16, SIZE_MAX, 16, LKS_OK},
        {"none", 0, 0, SIZE_MAX, 0, LKS_OK},
        {"one more", 16, 17, SIZE_MAX, 32, LKS_OK},
        {"an odd capacity", 5, 6, SIZE_MAX, 10, LKS_OK},
        {"the limit cuts it", 16, 17, 20, 20, LKS_OK},
        {"the limit cuts the first", 0, 1, 3, 3, LKS_OK},
        {"up to the limit", 16, 20, 20, 20, LKS_OK},
        {"beyond the limit", 20, 21, 20, 20, LKS_E_LIMIT},
        {"a limit of none", 0, 1, 0, 0, LKS_E_LIMIT},
        {"more than there is", 16, SIZE_MAX - 1, SIZE_MAX, 16, LKS_E_NOMEM},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        size_t cap = rows[i].cap;
        char *array = cap > 0 ? calloc(cap, 1) : NULL;
        const char *before = array;
        struct lks_err err = {0};
        CHECK_CODE(LKS_VEC_RESERVE_MAX(array, cap, rows[i].wanted, rows[i].max, &err),
                   rows[i].code);
        CHECK_INT(cap, rows[i].want);
        CHECK_CODE(err.code, rows[i].code);
        if (rows[i].code != LKS_OK)
            CHECK(array == before);
        if (rows[i].code == LKS_E_LIMIT)
            CHECK_HAS(lks_str_from(err.msg), "the limit is ");
        free(array);
    }
}

struct wide {
    uint64_t words[5];
};

/* Elements stay as they are, and new ones are zero. */
static void test_elements(void)
{
    struct wide *array = NULL;
    uint32_t cap = 0, count = 0;
    struct lks_err err = {0};
    for (; count < 1000; count++) {
        if (!CHECK_CODE(LKS_VEC_RESERVE(array, cap, count + 1, &err), LKS_OK))
            break;
        for (size_t w = 0; w < LKS_COUNT(array->words); w++) {
            CHECK_INT(array[count].words[w], 0);
            array[count].words[w] = count + w + 1;
        }
    }
    CHECK_INT(cap, 1024);
    for (uint32_t i = 0; i < count; i++)
        CHECK_INT(array[i].words[4], i + 5);
    free(array);
}

/* Where the number of bytes is no number, and where the type of the capacity ends. */
static void test_overflow(void)
{
    struct wide *array = NULL;
    size_t cap = 0;
    struct lks_err err = {0};
    CHECK_CODE(LKS_VEC_RESERVE(array, cap, SIZE_MAX / 8, &err), LKS_E_NOMEM);
    CHECK_CODE(LKS_VEC_RESERVE(array, cap, SIZE_MAX, NULL), LKS_E_NOMEM);
    CHECK(array == NULL && cap == 0);
    uint32_t small = 0;
    CHECK_CODE(LKS_VEC_RESERVE(array, small, (size_t)UINT32_MAX + 1, NULL), LKS_E_LIMIT);
    CHECK(array == NULL && small == 0);
}

static void test_arena(void)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena a = {0};
    lks_arena_init(&a, 4096);
    uint32_t *array = NULL;
    size_t cap = 0, count = 0;
    struct lks_err err = {0};
    while (LKS_VEC_RESERVE_IN(&a, array, cap, count + 1, &err) == LKS_OK) {
        CHECK_INT(array[count], 0);
        array[count] = (uint32_t)count + 1;
        count++;
    }
    CHECK_CODE(err.code, LKS_E_LIMIT);
    CHECK_INT(count, 512); /* 4 + 8 + ... + 512 of 4 bytes fit, 1024 more do not */
    CHECK_INT(cap, 512);
    for (size_t i = 0; i < count; i++)
        CHECK_INT(array[i], i + 1);
    CHECK_CODE(LKS_VEC_RESERVE_IN(&a, array, cap, SIZE_MAX, NULL), LKS_E_LIMIT);
    CHECK_INT(cap, 512);
}

/* Where each number from 0 to 8 is, or would be, in a list in order. */
static void test_places(void)
{
    static const uint32_t list[] = {1, 3, 3, 5, 7}, want[] = {0, 0, 1, 1, 3, 3, 4, 4, 5};
    for (uint32_t n = 0; n < LKS_COUNT(want); n++) {
        size_t at;
        lks_test_case("%u", n);
        LKS_VEC_PLACE(at, LKS_COUNT(list), list[at] < n);
        CHECK_INT(at, want[n]);
    }
    uint32_t none = 7;
    LKS_VEC_PLACE(none, 0, true);
    CHECK_INT(none, 0);
}

static void test_find(void)
{
    static const struct wide list[] = {{{1}}, {{2, 1}}, {{2, 2}}};
    CHECK(LKS_VEC_FIND(list, LKS_COUNT(list), it, it->words[0] == 2) == &list[1]);
    CHECK(LKS_VEC_FIND(list, LKS_COUNT(list), it, it->words[1] == 2) == &list[2]);
    CHECK(LKS_VEC_FIND(list, LKS_COUNT(list), it, it->words[0] == 3) == NULL);
    const struct wide *empty = NULL;
    CHECK(LKS_VEC_FIND(empty, 0, it, it->words[0] == 1) == NULL);
}

/* Numbers in any order, put in their place and taken out of the middle. */
static void test_gaps(void)
{
    enum { MAX = 100 };
    struct lks_err err = {0};
    uint32_t *list = NULL, room = 0, count = 0, at;
    for (uint32_t i = 0; i < MAX; i++) {
        uint32_t n = i * 37 % MAX;
        LKS_VEC_PLACE(at, count, list[at] < n);
        if (!CHECK_CODE(LKS_VEC_INSERT(list, room, count, at, MAX, &err), LKS_OK))
            break;
        list[at] = n;
    }
    CHECK_CODE(LKS_VEC_INSERT(list, room, count, 0, MAX, &err), LKS_E_LIMIT);
    CHECK_INT(count, MAX);
    for (uint32_t i = 0; i < count; i++)
        CHECK_INT(list[i], i);
    LKS_VEC_REMOVE(list, count, 50);
    LKS_VEC_REMOVE(list, count, 0);
    LKS_VEC_REMOVE(list, count, count - 1);
    CHECK_INT(count, MAX - 3);
    CHECK_INT(list[0], 1);
    CHECK_INT(list[48], 49);
    CHECK_INT(list[49], 51);
    CHECK_INT(list[count - 1], 98);
    free(list);
}

static void test_add(void)
{
    enum { MAX = 3 };
    struct lks_err err = {0};
    uint32_t *list = NULL, room = 0, count = 0;
    for (uint32_t i = 0; i < MAX; i++)
        CHECK_CODE(LKS_VEC_ADD(list, room, count, MAX, i + 1, &err), LKS_OK);
    CHECK_CODE(LKS_VEC_ADD(list, room, count, MAX, 9, &err), LKS_E_LIMIT);
    CHECK_INT(count, MAX);
    for (uint32_t i = 0; i < count; i++)
        CHECK_INT(list[i], i + 1);
    free(list);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"vec: the next capacity", test_capacity},
        {"vec: elements stay and new ones are zero", test_elements},
        {"vec: overflow", test_overflow},
        {"vec: in an arena", test_arena},
        {"vec: places in order", test_places},
        {"vec: the first that holds", test_find},
        {"vec: gaps", test_gaps},
        {"vec: one more at the end", test_add},
        {0},
    });
}
