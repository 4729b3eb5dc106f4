#include "codec/notation/hostlist.h"

#include "base/rng.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

enum { MEMORY_MAX = 64 * 1024 * 1024, SETS = 3000, NAMES_MAX = 60 };

static void add_names(const struct lks_hostlist *list, struct lks_buf *out)
{
    for (size_t i = 0; i < list->count; i++)
        lks_buf_addf(out, "%s%" LKS_STR_FMT, i > 0 ? " " : "", LKS_STR_ARG(list->names[i]));
}

static const struct {
    const char *name;
    const char *text;
    const char *names;   /* NULL where it is refused */
    const char *message; /* then */
} texts[] = {
    {"empty", "", "", NULL},
    {"blank", " \t", "", NULL},
    {"one name", "login1", "login1", NULL},
    {"two names, one of them twice", "b,a,b", "b a b", NULL},
    {"blanks around commas", " a ,\tb ", "a b", NULL},
    {"every kind of byte", "r1_A-0.x.example", "r1_A-0.x.example", NULL},
    {"range", "gpu[8-11]", "gpu8 gpu9 gpu10 gpu11", NULL},
    {"width", "gpu[008-011]", "gpu008 gpu009 gpu010 gpu011", NULL},
    {"width outgrown", "n[098-101]x", "n098x n099x n100x n101x", NULL},
    {"narrow width outgrown", "n[98-101]", "n98 n99 n100 n101", NULL},
    {"padded width outgrown", "n[01-02,99-100]", "n01 n02 n99 n100", NULL},
    {"several ranges", "n[1-2,7,05,9-9]", "n1 n2 n7 n05 n9", NULL},
    {"zero", "n[0-1,00]", "n0 n1 n00", NULL},
    {"two brackets", "r[1-2]n[01-02].x", "r1n01.x r1n02.x r2n01.x r2n02.x", NULL},
    {"adjacent brackets", "[1-2][3-4]", "13 14 23 24", NULL},
    {"order as written", "n[3,1],m", "n3 n1 m", NULL},
    {"largest number", "n[999999999999999998-999999999999999999]",
     "n999999999999999998 n999999999999999999", NULL},
    {"long number outside brackets", "n12345678901234567890", "n12345678901234567890", NULL},

    {"backwards", "gpu[9-1]", NULL, "character 5: the range runs backwards"},
    {"high end narrower", "gpu[1,001-9]", NULL,
     "character 7: the ends of the range differ in width"},
    {"high end padded", "gpu[1-010]", NULL, "character 5: the ends of the range differ in width"},
    {"left open", "a,gpu[1-2", NULL, "character 6: this bracket is never closed"},
    {"never opened", "gpu1]", NULL, "character 5: ']' has no place here"},
    {"nested", "gpu[1-[2]]", NULL,
     "character 5: expected a number or a range of up to 18 digits, as in [001-512,600]"},
    {"empty brackets", "gpu[]", NULL,
     "character 5: expected a number or a range of up to 18 digits, as in [001-512,600]"},
    {"comma at the end of brackets", "gpu[1,]", NULL,
     "character 7: expected a number or a range of up to 18 digits, as in [001-512,600]"},
    {"comma at the start of brackets", "gpu[,1]", NULL,
     "character 5: expected a number or a range of up to 18 digits, as in [001-512,600]"},
    {"half a range", "gpu[1-]", NULL,
     "character 5: expected a number or a range of up to 18 digits, as in [001-512,600]"},
    {"two dashes", "gpu[1-2-3]", NULL,
     "character 5: expected a number or a range of up to 18 digits, as in [001-512,600]"},
    {"letters", "gpu[a-c]", NULL,
     "character 5: expected a number or a range of up to 18 digits, as in [001-512,600]"},
    {"blank in brackets", "gpu[1, 2]", NULL,
     "character 7: expected a number or a range of up to 18 digits, as in [001-512,600]"},
    {"nineteen digits", "n[1000000000000000000]", NULL,
     "character 3: expected a number or a range of up to 18 digits, as in [001-512,600]"},
    {"comma at the end", "a,", NULL, "character 3: a name is missing at the end"},
    {"comma at the start", ",a", NULL, "character 1: ',' has no place here"},
    {"two commas", "a,,b", NULL, "character 3: ',' has no place here"},
    {"no comma", "a b", NULL, "character 3: 'b' has no place here"},
    {"an option", "a,-oProxyCommand", NULL, "character 3: '-' has no place here"},
    {"dot first", ".a", NULL, "character 1: '.' has no place here"},
    {"shell", "a;b", NULL, "character 2: ';' has no place here"},
    {"newline", "a\nb", NULL, "character 2: byte 0x0a has no place here"},
    {"not ASCII", "a\xc3\xa9", NULL, "character 2: byte 0xc3 has no place here"},
};

static void test_texts(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        lks_test_case("%s", texts[i].name);
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(MEMORY_MAX);
        struct lks_hostlist list = {0};
        struct lks_err err = {0};
        lks_arena_init(&arena, MEMORY_MAX);

        enum lks_code code = lks_hostlist_parse(lks_str_from(texts[i].text), &arena, &list, &err);
        CHECK_CODE(code, texts[i].names != NULL ? LKS_OK : LKS_E_INVALID);
        size_t count = 99;
        CHECK_CODE(lks_hostlist_count(lks_str_from(texts[i].text), &count, &err), code);
        CHECK_INT(count, texts[i].names != NULL ? list.count : 99);
        add_names(&list, &shown);
        CHECK_STR(lks_buf_view(&shown), texts[i].names != NULL ? texts[i].names : "");
        if (texts[i].names == NULL)
            CHECK_STR(lks_str_from(err.msg), texts[i].message);
    }
}

static const struct {
    const char *name;
    const char *text;
    enum lks_code code;
    size_t count;
    const char *message; /* when it fails */
} limits[] = {
    {"as many as allowed", "n[1-1000000]", LKS_OK, LKS_HOSTLIST_MAX, NULL},
    {"one more", "n[0-1000000]", LKS_E_LIMIT, 0, "character 3: more than 1000000 names"},
    {"very many", "gpu[1-999999999]", LKS_E_LIMIT, 0, "character 5: more than 1000000 names"},
    {"more than 64 bits count", "n[0-999999999999999999,0-999999999999999999]", LKS_E_LIMIT, 0,
     "character 3: more than 1000000 names"},
    {"as many as allowed, multiplied", "n[1-1000]m[1-1000]", LKS_OK, LKS_HOSTLIST_MAX, NULL},
    {"too many, multiplied", "n[1-1000]m[1-1001]", LKS_E_LIMIT, 0,
     "character 11: more than 1000000 names"},
    {"many times many", "[1-999999][1-999999][1-999999][1-999999]", LKS_E_LIMIT, 0,
     "character 11: more than 1000000 names"},
    {"too many, added", "a,n[1-1000000]", LKS_E_LIMIT, 0, "character 3: more than 1000000 names"},
    {"sixteen brackets", "[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1]", LKS_OK, 1, NULL},
    {"seventeen brackets", "[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1]", LKS_E_LIMIT, 0,
     "character 49: more than 16 brackets in one name"},
};

static void test_limits(void)
{
    for (size_t i = 0; i < LKS_COUNT(limits); i++) {
        lks_test_case("%s", limits[i].name);
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        struct lks_hostlist list = {0};
        struct lks_err err = {0};
        lks_arena_init(&arena, MEMORY_MAX);
        CHECK_CODE(lks_hostlist_parse(lks_str_from(limits[i].text), &arena, &list, &err),
                   limits[i].code);
        CHECK_INT(list.count, limits[i].count);
        size_t count = 0;
        CHECK_CODE(lks_hostlist_count(lks_str_from(limits[i].text), &count, &err), limits[i].code);
        CHECK_INT(count, limits[i].count);
        if (limits[i].code != LKS_OK) {
            CHECK_STR(lks_str_from(err.msg), limits[i].message);
            CHECK_INT(arena.used, 0); /* refused before anything was allocated */
        }
    }
}

static void test_lengths(void)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_HOSTLIST_BYTES_MAX + 1);
    struct lks_hostlist list = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, 4096);

    lks_buf_pad(&text, 'n', LKS_HOST_NAME_MAX - 2);
    lks_buf_add(&text, LKS_STR("[8-10]"));
    CHECK_CODE(lks_hostlist_parse(lks_buf_view(&text), &arena, &list, &err), LKS_OK);
    CHECK_INT(list.names[2].len, LKS_HOST_NAME_MAX);
    lks_buf_addc(&text, 'n');
    CHECK_CODE(lks_hostlist_parse(lks_buf_view(&text), &arena, &list, &err), LKS_E_LIMIT);
    CHECK_STR(lks_str_from(err.msg), "character 1: a name of more than 253 bytes");

    CHECK_CODE(lks_hostlist_parse(LKS_STR("n[1-1000]"), &arena, &list, &err), LKS_E_LIMIT);
    CHECK_HAS(lks_str_from(err.msg), "bytes of memory");

    lks_buf_truncate(&text, 0);
    lks_buf_addc(&text, 'n');
    lks_buf_pad(&text, ' ', LKS_HOSTLIST_BYTES_MAX - 1);
    CHECK_CODE(lks_hostlist_parse(lks_buf_view(&text), &arena, &list, &err), LKS_OK);
    lks_buf_addc(&text, ' ');
    CHECK_CODE(lks_hostlist_parse(lks_buf_view(&text), &arena, &list, &err), LKS_E_LIMIT);
    size_t count = 7;
    CHECK_CODE(lks_hostlist_count(lks_buf_view(&text), &count, &err), LKS_E_LIMIT);
    CHECK_STR(lks_str_from(err.msg), "a host list of more than 1048576 bytes");
    CHECK_INT(count, 7);
}

static const struct {
    const char *name;
    const char *names; /* separated by blanks */
    const char *folded;
} folds[] = {
    {"nothing", "", ""},
    {"one name", "login1", "login1"},
    {"no number", "login gateway", "gateway,login"},
    {"run", "gpu3 gpu1 gpu2", "gpu[1-3]"},
    {"two are a run", "gpu2 gpu1", "gpu[1-2]"},
    {"gap", "gpu1 gpu2 gpu4", "gpu[1-2,4]"},
    {"duplicates", "gpu1 gpu1 gpu2 gpu1", "gpu[1-2]"},
    {"same name twice", "gpu1 gpu1", "gpu1"},
    {"width", "gpu001 gpu002 gpu600", "gpu[001-002,600]"},
    {"widths apart", "gpu1 gpu01 gpu001", "gpu[1,01,001]"},
    {"unpadded run", "n8 n9 n10 n11", "n[8-11]"},
    {"padded run outgrown", "n098 n099 n100 n1000", "n[098-100,1000]"},
    {"run through its width", "n98 n99 n100", "n[98-100]"},
    {"padding does not follow none", "n9 n010", "n[9,010]"},
    {"suffix", "gpu1.x gpu2.x gpu3.y", "gpu[1-2].x,gpu3.y"},
    {"last number counts", "r1n1 r1n2 r2n1", "r1n[1-2],r2n1"},
    {"last number in the domain", "a1.pod1 a1.pod2", "a1.pod[1-2]"},
    {"with and without number", "gpu gpu1 gpu2", "gpu,gpu[1-2]"},
    {"only numbers", "1 2 3", "[1-3]"},
    {"too long to count with", "n1234567890123456789 n1234567890123456790",
     "n1234567890123456789,n1234567890123456790"},
    {"longest that counts", "n999999999999999998 n999999999999999999",
     "n[999999999999999998-999999999999999999]"},
    {"invalid name", "a b,c", NULL},
    {"an option", "-o", NULL},
};

static size_t split_words(const char *text, struct lks_str *out, size_t max)
{
    struct lks_str rest = lks_str_from(text);
    size_t count = 0;
    while (count < max && lks_str_word(&rest, &out[count]))
        count++;
    return count;
}

static void test_folds(void)
{
    for (size_t i = 0; i < LKS_COUNT(folds); i++) {
        lks_test_case("%s", folds[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(1024);
        struct lks_str names[8];
        struct lks_err err = {0};
        size_t count = split_words(folds[i].names, names, LKS_COUNT(names));
        enum lks_code code = lks_hostlist_fold(names, count, &out, &err);
        CHECK_CODE(code, folds[i].folded != NULL ? LKS_OK : LKS_E_INVALID);
        CHECK_STR(lks_buf_view(&out), folds[i].folded != NULL ? folds[i].folded : "");
    }
}

static void test_fold_full(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(4);
    struct lks_err err = {0};
    CHECK_CODE(lks_hostlist_fold(&LKS_STR("gpu001"), 1, &out, &err), LKS_E_LIMIT);
}

static int by_bytes(const void *left, const void *right)
{
    const struct lks_str *a = left, *b = right;
    return lks_str_cmp(*a, *b);
}

/* Sort, and keep one of each. */
static size_t make_set(struct lks_str *names, size_t count)
{
    qsort(names, count, sizeof(*names), by_bytes);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || !lks_str_eq(names[kept - 1], names[i]))
            names[kept++] = names[i];
    }
    return kept;
}

/* Names close enough to each other that runs, widths and gaps all happen. */
static size_t random_names(struct lks_rng *rng, char (*storage)[32], struct lks_str *out)
{
    static const char *const prefixes[] = {"", "gpu", "r1n", "r2n", "a-"};
    static const char *const suffixes[] = {"", "", "", ".x", "n0", "-1_"};
    size_t count = lks_rng_below(rng, NAMES_MAX);
    for (size_t i = 0; i < count; i++) {
        const char *prefix = prefixes[lks_rng_below(rng, LKS_COUNT(prefixes))];
        const char *suffix = suffixes[lks_rng_below(rng, LKS_COUNT(suffixes))];
        unsigned number = (unsigned)lks_rng_below(rng, lks_rng_percent(rng, 50) ? 13 : 1100);
        int width = 1 + (int)lks_rng_below(rng, 4);
        snprintf(storage[i], sizeof(storage[i]), "%s%0*u%s", prefix, width, number, suffix);
        if (prefix[0] != '\0' && lks_rng_percent(rng, 5))
            snprintf(storage[i], sizeof(storage[i]), "%s", prefix);
        out[i] = lks_str_from(storage[i]);
    }
    return count;
}

static void test_round_trip(void)
{
    for (uint64_t seed = 0; seed < SETS; seed++) {
        lks_test_case("seed %u", (unsigned)seed);
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf folded = LKS_BUF(MEMORY_MAX);
        struct lks_rng rng = {seed};
        char storage[NAMES_MAX][32];
        struct lks_str names[NAMES_MAX];
        struct lks_hostlist list = {0};
        struct lks_err err = {0};
        lks_arena_init(&arena, MEMORY_MAX);

        size_t count = random_names(&rng, storage, names);
        CHECK_CODE(lks_hostlist_fold(names, count, &folded, &err), LKS_OK);
        CHECK_CODE(lks_hostlist_parse(lks_buf_view(&folded), &arena, &list, &err), LKS_OK);
        count = make_set(names, count);
        CHECK_INT(list.count, count); /* so nothing is written twice */
        if (!CHECK_INT(make_set(list.names, list.count), count))
            continue;
        for (size_t i = 0; i < count; i++)
            CHECK(lks_str_eq(names[i], list.names[i]));
    }
}

static const struct {
    struct lks_str text;
    bool name;
} names_alone[] = {
    {LKS_STR_C("gn001"), true}, {LKS_STR_C("r1_n-2.site"), true}, {LKS_STR_C("_x"), true},
    {LKS_STR_C(""), false},     {LKS_STR_C("-x"), false},         {LKS_STR_C(".x"), false},
    {LKS_STR_C("a,b"), false},  {LKS_STR_C("gn[1-2]"), false},    {LKS_STR_C("a b"), false},
    {LKS_STR_C("a\0b"), false}, {LKS_STR_C("a/b"), false},        {LKS_STR_C("\xc3\xa4"), false},
};

static void test_names_alone(void)
{
    for (size_t i = 0; i < LKS_COUNT(names_alone); i++) {
        lks_test_case("'%s'", names_alone[i].text.ptr);
        CHECK_INT(lks_hostlist_is_name(names_alone[i].text), names_alone[i].name);
    }
    char longest[LKS_HOST_NAME_MAX + 1];
    memset(longest, 'x', sizeof(longest));
    CHECK(lks_hostlist_is_name((struct lks_str){longest, LKS_HOST_NAME_MAX}));
    CHECK(!lks_hostlist_is_name((struct lks_str){longest, LKS_HOST_NAME_MAX + 1}));
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"hostlist texts", test_texts},
        {"hostlist limits", test_limits},
        {"hostlist lengths", test_lengths},
        {"hostlist folds", test_folds},
        {"hostlist fold into a full buffer", test_fold_full},
        {"hostlist round trip", test_round_trip},
        {"hostlist names alone", test_names_alone},
        {0},
    });
}
