#include "base/str.h"

#include "base/rng.h"
#include "tests/test.h"

static const struct {
    const char *name;
    struct lks_str text;
    int bad; /* the first bad byte, or -1 */
} utf8[] = {
    {"empty", LKS_STR_C(""), -1},
    {"no bytes at all", {NULL, 0}, -1},
    {"ASCII with a zero", LKS_STR_C("a\0b"), -1},
    {"two bytes", LKS_STR_C("\xc2\x80\xdf\xbf"), -1},
    {"three bytes", LKS_STR_C("\xe0\xa0\x80\xef\xbf\xbf"), -1},
    {"four bytes", LKS_STR_C("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"), -1},
    {"around the surrogates", LKS_STR_C("\xed\x9f\xbf\xee\x80\x80"), -1},
    {"a continuation alone", LKS_STR_C("a\x80"), 1},
    {"a lead alone", LKS_STR_C("ab\xc3"), 2},
    {"cut after two of three", LKS_STR_C("\xe6\x9d"), 0},
    {"cut after three of four", LKS_STR_C("\xf0\x9f\x9a"), 0},
    {"a lead, then a letter",
     LKS_STR_C("\xc3"
               "a"),
     0},
    {"overlong in two", LKS_STR_C("\xc0\xaf"), 0},
    {"overlong in two, the last", LKS_STR_C("\xc1\xbf"), 0},
    {"overlong in three", LKS_STR_C("\xe0\x9f\xbf"), 0},
    {"overlong in four", LKS_STR_C("\xf0\x8f\xbf\xbf"), 0},
    {"a surrogate", LKS_STR_C("x\xed\xa0\x80"), 1},
    {"the last surrogate", LKS_STR_C("\xed\xbf\xbf"), 0},
    {"beyond Unicode", LKS_STR_C("\xf4\x90\x80\x80"), 0},
    {"a lead of five bytes", LKS_STR_C("\xf8\x88\x80\x80\x80"), 0},
    {"0xff", LKS_STR_C("ok\xff"), 2},
};

static void test_utf8(void)
{
    for (size_t i = 0; i < LKS_COUNT(utf8); i++) {
        lks_test_case("%s", utf8[i].name);
        size_t bad = 99;
        CHECK(lks_str_utf8(utf8[i].text, &bad) == (utf8[i].bad < 0));
        CHECK_INT(bad, utf8[i].bad < 0 ? 99 : utf8[i].bad);
        CHECK(lks_str_utf8(utf8[i].text, NULL) == (utf8[i].bad < 0));
    }
}

static const struct {
    const char *name;
    struct lks_str text;
    size_t len;
    uint32_t point;
    bool printable;
} runes[] = {
    {"a letter", LKS_STR_C("ab"), 1, 'a', true},
    {"a newline", LKS_STR_C("\n"), 1, '\n', false},
    {"delete", LKS_STR_C("\x7f"), 1, 0x7f, false},
    {"CSI", LKS_STR_C("\xc2\x9b"), 2, 0x9b, false},
    {"the first after the controls", LKS_STR_C("\xc2\xa0"), 2, 0xa0, true},
    {"u with dots", LKS_STR_C("ü"), 2, 0xfc, true},
    {"a line separator", LKS_STR_C("\xe2\x80\xa8"), 3, 0x2028, false},
    {"right to left from here", LKS_STR_C("\xe2\x80\xae"), 3, 0x202e, false},
    {"an isolate", LKS_STR_C("\xe2\x81\xa6"), 3, 0x2066, false},
    {"a soft hyphen", LKS_STR_C("\xc2\xad"), 2, 0xad, false},
    {"the one before it", LKS_STR_C("\xc2\xac"), 2, 0xac, true},
    {"an Arabic letter mark", LKS_STR_C("\xd8\x9c"), 2, 0x61c, false},
    {"a thin blank", LKS_STR_C("\xe2\x80\x8a"), 3, 0x200a, true},
    {"a blank of no width", LKS_STR_C("\xe2\x80\x8b"), 3, 0x200b, false},
    {"right to left", LKS_STR_C("\xe2\x80\x8f"), 3, 0x200f, false},
    {"a hyphen", LKS_STR_C("\xe2\x80\x90"), 3, 0x2010, true},
    {"a word joiner", LKS_STR_C("\xe2\x81\xa0"), 3, 0x2060, false},
    {"the last of its block", LKS_STR_C("\xe2\x81\xaf"), 3, 0x206f, false},
    {"a superscript", LKS_STR_C("\xe2\x81\xb0"), 3, 0x2070, true},
    {"a byte order mark", LKS_STR_C("\xef\xbb\xbf"), 3, 0xfeff, false},
    {"an annotation", LKS_STR_C("\xef\xbf\xb9"), 3, 0xfff9, false},
    {"a replacement character", LKS_STR_C("\xef\xbf\xbd"), 3, 0xfffd, true},
    {"no character", LKS_STR_C("\xef\xbf\xbf"), 3, 0xffff, false},
    {"a rocket", LKS_STR_C("🚀"), 4, 0x1f680, true},
};

static void test_runes(void)
{
    for (size_t i = 0; i < LKS_COUNT(runes); i++) {
        lks_test_case("%s", runes[i].name);
        uint32_t point = 0;
        CHECK_INT(lks_str_rune(runes[i].text, 0, &point), runes[i].len);
        CHECK_INT(point, runes[i].point);
        CHECK(lks_str_rune_printable(point) == runes[i].printable);
    }
    uint32_t point = 7;
    CHECK_INT(lks_str_rune(LKS_STR("a\xff"), 1, &point), 0);
    CHECK_INT(point, 7);
}

static const struct {
    const char *name;
    struct lks_str text;
    bool printable;
} printables[] = {
    {"empty", LKS_STR_C(""), true},
    {"no bytes at all", {NULL, 0}, true},
    {"ASCII", LKS_STR_C(" !~"), true},
    {"letters of the world", LKS_STR_C("Z\xc3\xbcrich \xf0\x9f\x9a\x80"), true},
    {"a zero", LKS_STR_C("a\0b"), false},
    {"a newline at the end", LKS_STR_C("ab\n"), false},
    {"an escape sequence", LKS_STR_C("\x1b[2J"), false},
    {"CSI in one character", LKS_STR_C("a\xc2\x9b"), false},
    {"right to left from here", LKS_STR_C("a\xe2\x80\xae"), false},
    {"a blank of no width", LKS_STR_C("a\xe2\x80\x8b"), false},
    {"a byte order mark",
     LKS_STR_C("\xef\xbb\xbf"
               "a"),
     false},
    {"not UTF-8", LKS_STR_C("a\xff"), false},
    {"half a character", LKS_STR_C("a\xc3"), false},
};

static void test_printable(void)
{
    for (size_t i = 0; i < LKS_COUNT(printables); i++) {
        lks_test_case("%s", printables[i].name);
        CHECK(lks_str_printable(printables[i].text) == printables[i].printable);
    }
}

static const struct {
    const char *a;
    const char *b;
    unsigned distance;
} distances[] = {
    {"", "", 0},
    {"driver", "driver", 0},
    {"driver", "", 6},
    {"driver", "drivers", 1},
    {"driver", "diver", 1},
    {"driver", "drives", 1},
    {"driver", "dirver", 1},
    {"ab", "ba", 1},
    {"abc", "cab", 2},
    {"kitten", "sitting", 3},
    {"ca", "abc", 3},
    {"a", "b", 1},
};

static void test_distances(void)
{
    for (size_t i = 0; i < LKS_COUNT(distances); i++) {
        lks_test_case("%s, %s", distances[i].a, distances[i].b);
        struct lks_str a = lks_str_from(distances[i].a), b = lks_str_from(distances[i].b);
        CHECK_INT(lks_str_distance(a, b, 10), distances[i].distance);
        CHECK_INT(lks_str_distance(b, a, 10), distances[i].distance);
        if (distances[i].distance > 0)
            CHECK(lks_str_distance(a, b, distances[i].distance - 1) >= distances[i].distance);
    }
    lks_test_case("long names");
    static const char long_name[65] = {0};
    struct lks_str longest = {long_name, 64}, longer = {long_name, 65};
    CHECK_INT(lks_str_distance(longest, longest, 3), 0);
    CHECK_INT(lks_str_distance(longer, longer, 3), 4);
}

static const struct {
    const char *name;
    const char *text;
    bool found;
    const char *head;
    const char *tail;
} cuts[] = {
    {"in the middle", "a=b", true, "a", "b"}, {"the first of two", "a=b=c", true, "a", "b=c"},
    {"at the start", "=b", true, "", "b"},    {"at the end", "a=", true, "a", ""},
    {"nowhere", "ab", false, "ab", ""},       {"empty", "", false, "", ""},
};

static void test_cuts(void)
{
    for (size_t i = 0; i < LKS_COUNT(cuts); i++) {
        lks_test_case("%s", cuts[i].name);
        struct lks_str s = lks_str_from(cuts[i].text), head, tail;
        CHECK(lks_str_cut(s, '=', &head, &tail) == cuts[i].found);
        CHECK_STR(head, cuts[i].head);
        CHECK_STR(tail, cuts[i].tail);
        CHECK(lks_str_cut(s, '=', &head, &s) == cuts[i].found);
        CHECK_STR(s, cuts[i].tail);
        s = lks_str_from(cuts[i].text);
        CHECK(lks_str_cut(s, '=', &s, &tail) == cuts[i].found);
        CHECK_STR(s, cuts[i].head);
    }
}

static const struct {
    const char *text;
    const char *words[4];
} words[] = {
    {"", {NULL}},
    {" \t ", {NULL}},
    {"one", {"one"}},
    {"  one\ttwo \r three  ", {"one", "two", "three"}},
};

static void test_words(void)
{
    for (size_t i = 0; i < LKS_COUNT(words); i++) {
        lks_test_case("'%s'", words[i].text);
        struct lks_str rest = lks_str_from(words[i].text), word;
        for (const char *const *want = words[i].words; *want != NULL; want++) {
            CHECK(lks_str_word(&rest, &word));
            CHECK_STR(word, *want);
        }
        CHECK(!lks_str_word(&rest, &word));
        CHECK(!lks_str_word(&rest, &word));
    }
    lks_test_case("no bytes at all");
    struct lks_str rest = {0}, word;
    CHECK(!lks_str_word(&rest, &word));
}

static const struct {
    const char *text;
    uint64_t max;
    bool ok;
    uint64_t value;
} numbers[] = {
    {"0", 0, true, 0},
    {"007", 10, true, 7},
    {"65535", 65535, true, 65535},
    {"65536", 65535, false, 0},
    {"18446744073709551615", UINT64_MAX, true, UINT64_MAX},
    {"18446744073709551616", UINT64_MAX, false, 0},
    {"99999999999999999999", UINT64_MAX, false, 0},
    {"", 10, false, 0},
    {"+1", 10, false, 0},
    {"-1", 10, false, 0},
    {" 1", 10, false, 0},
    {"1 ", 10, false, 0},
    {"0x1", 10, false, 0},
    {"1/", 100, false, 0},
    {"1:", 100, false, 0},
};

static void test_counts(void)
{
    char out[LKS_COUNT_TEXT_SIZE];
    CHECK_STR(lks_str_from(lks_str_count_text(0, "node", out)), "0 nodes");
    CHECK_STR(lks_str_from(lks_str_count_text(1, "node", out)), "1 node");
    CHECK_STR(lks_str_from(lks_str_count_text(UINT64_MAX, "GPU", out)),
              "18446744073709551615 GPUs");
}

static void test_numbers(void)
{
    for (size_t i = 0; i < LKS_COUNT(numbers); i++) {
        lks_test_case("'%s'", numbers[i].text);
        uint64_t value = 42;
        CHECK(lks_str_number(lks_str_from(numbers[i].text), numbers[i].max, &value) ==
              numbers[i].ok);
        CHECK(value == (numbers[i].ok ? numbers[i].value : 42));
    }
}

static const struct {
    const char *text;
    uint64_t max;
    bool ok;
    uint64_t value;
} hexes[] = {
    {"0", 0, true, 0},
    {"00ff", 255, true, 255},
    {"1aBcDeF", UINT64_MAX, true, 0x1abcdef},
    {"100", 255, false, 0},
    {"ffffffffffffffff", UINT64_MAX, true, UINT64_MAX},
    {"10000000000000000", UINT64_MAX, false, 0},
    {"0000000000000000001", 1, true, 1},
    {"", 10, false, 0},
    {"0x1", 10, false, 0},
    {"1g", 100, false, 0},
    {"1:", 100, false, 0},
    {"@", 100, false, 0},
    {" 1", 10, false, 0},
};

static void test_hexes(void)
{
    for (size_t i = 0; i < LKS_COUNT(hexes); i++) {
        lks_test_case("'%s'", hexes[i].text);
        uint64_t value = 42;
        CHECK(lks_str_hex(lks_str_from(hexes[i].text), hexes[i].max, &value) == hexes[i].ok);
        CHECK(value == (hexes[i].ok ? hexes[i].value : 42));
    }
    lks_test_case("a zero byte is no digit");
    uint64_t value = 42;
    CHECK(!lks_str_hex(LKS_STR("1\0"), 100, &value));
}

static const struct {
    const char *text, *last;
} lasts[] = {
    {"/usr/lib/libc.so", "libc.so"}, {"libc.so", "libc.so"}, {"/usr/", ""}, {"/", ""}, {"", ""},
};

static void test_lasts(void)
{
    for (size_t i = 0; i < LKS_COUNT(lasts); i++) {
        lks_test_case("'%s'", lasts[i].text);
        CHECK_STR(lks_str_last(lks_str_from(lasts[i].text), '/'), lasts[i].last);
    }
    lks_test_case("no bytes at all");
    CHECK_STR(lks_str_last((struct lks_str){0}, '/'), "");
}

static void test_suffixes(void)
{
    static const struct {
        const char *text, *suffix;
        bool ends;
    } rows[] = {
        {"a.conf", ".conf", true},  {".conf", ".conf", true}, {"a.conf.bak", ".conf", false},
        {"conf", ".conf", false},   {"", ".conf", false},     {"a", "", true},
        {"a.ConF", ".conf", false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("'%s', '%s'", rows[i].text, rows[i].suffix);
        CHECK(lks_str_ends(lks_str_from(rows[i].text), rows[i].suffix) == rows[i].ends);
    }
    lks_test_case("no bytes at all");
    CHECK(lks_str_ends((struct lks_str){0}, ""));
    CHECK(!lks_str_ends((struct lks_str){0}, "a"));
}

static const struct {
    const char *name;
    const char *text;
    const char *needle;
    int at;
} finds[] = {
    {"at the start", "abcabc", "abc", 0},      {"further on", "xabc", "abc", 1},
    {"after a false start", "aab", "ab", 1},   {"nowhere", "abc", "d", -1},
    {"longer than the text", "ab", "abc", -1}, {"nothing", "abc", "", 0},
    {"nothing in nothing", "", "", 0},         {"something in nothing", "", "a", -1},
};

static void test_members(void)
{
    CHECK_INT(lks_str_count(LKS_STR("a\n\nb\n"), '\n'), 3);
    CHECK_INT(lks_str_count(LKS_STR("abc"), '\n'), 0);
    CHECK_INT(lks_str_count((struct lks_str){0}, '\n'), 0);
    CHECK(lks_str_has_word(LKS_STR(" viewer  approver@train "), LKS_STR("approver@train")));
    CHECK(!lks_str_has_word(LKS_STR("viewer approver@train"), LKS_STR("approver")));
    CHECK(!lks_str_has_word(LKS_STR("viewer"), LKS_STR("Viewer")));
    CHECK(!lks_str_has_word((struct lks_str){0}, LKS_STR("viewer")));
}

static void test_finds(void)
{
    for (size_t i = 0; i < LKS_COUNT(finds); i++) {
        lks_test_case("%s", finds[i].name);
        CHECK_INT(lks_str_find(lks_str_from(finds[i].text), lks_str_from(finds[i].needle)),
                  finds[i].at);
    }
}

static const struct {
    const char *name;
    struct lks_str a;
    struct lks_str b;
    int order;
    bool nocase; /* the same but for the case of ASCII letters */
} pairs[] = {
    {"the same", LKS_STR_C("ab"), LKS_STR_C("ab"), 0, true},
    {"both without bytes", {NULL, 0}, LKS_STR_C(""), 0, true},
    {"nothing first", {NULL, 0}, LKS_STR_C("a"), -1, false},
    {"the shorter first", LKS_STR_C("ab"), LKS_STR_C("abc"), -1, false},
    {"bytes without sign", LKS_STR_C("a"), LKS_STR_C("\xff"), -1, false},
    {"case", LKS_STR_C("ETag"), LKS_STR_C("etag"), -1, true},
    {"beside the letters", LKS_STR_C("@["), LKS_STR_C("`{"), -1, false},
    {"different behind a zero", LKS_STR_C("a\0b"), LKS_STR_C("a\0c"), -1, false},
};

static void test_pairs(void)
{
    for (size_t i = 0; i < LKS_COUNT(pairs); i++) {
        lks_test_case("%s", pairs[i].name);
        int forth = lks_str_cmp(pairs[i].a, pairs[i].b), back = lks_str_cmp(pairs[i].b, pairs[i].a);
        CHECK_INT((forth > 0) - (forth < 0), pairs[i].order);
        CHECK_INT((back > 0) - (back < 0), -pairs[i].order);
        CHECK(lks_str_eq(pairs[i].a, pairs[i].b) == (pairs[i].order == 0));
        CHECK(lks_str_eq_nocase(pairs[i].a, pairs[i].b) == pairs[i].nocase);
    }
}

static void test_ends(void)
{
    CHECK_STR(lks_str_trim(LKS_STR(" \ta b\r ")), "a b");
    CHECK_STR(lks_str_trim(LKS_STR(" \t\r")), "");
    CHECK_STR(lks_str_trim((struct lks_str){0}), "");
    CHECK(lks_str_starts(LKS_STR("driver"), "dri"));
    CHECK(!lks_str_starts(LKS_STR("dr"), "dri"));
    CHECK(lks_str_starts((struct lks_str){0}, ""));
    CHECK(!lks_str_starts((struct lks_str){0}, "a"));
    CHECK(lks_str_is(LKS_STR("bmc"), "bmc") && !lks_str_is(LKS_STR("bmc"), "bm"));
}

/* Walking by characters visits every byte once, and stops at the byte that lks_str_utf8 names. */
static void test_walk(void)
{
    for (uint64_t seed = 1; seed <= 5000; seed++) {
        lks_test_case("seed %d", (int)seed);
        struct lks_rng rng = {seed};
        static const unsigned char likely[] = {0xc3, 0xbc, 0xe6, 0x9d, 0xb1, 0xf0, 0x9f, 0x80, 'a'};
        char bytes[20];
        uint64_t plain = lks_rng_below(&rng, 8); /* of eight bytes */
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = lks_rng_below(&rng, 8) < plain
                           ? 'a'
                           : (char)likely[lks_rng_below(&rng, sizeof(likely))];
        struct lks_str s = {bytes, lks_rng_below(&rng, sizeof(bytes) + 1)};
        size_t at = 0, len = 1, bad = s.len;
        uint32_t point;
        while (at < s.len && len > 0) {
            len = lks_str_rune(s, at, &point);
            at += len;
        }
        CHECK(lks_str_utf8(s, &bad) == (at == s.len));
        CHECK_INT(bad, at);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"str: UTF-8", test_utf8},
        {"str: characters", test_runes},
        {"str: printable", test_printable},
        {"str: distances", test_distances},
        {"str: cuts", test_cuts},
        {"str: words", test_words},
        {"str: numbers", test_numbers},
        {"str: hexadecimal", test_hexes},
        {"str: the last part", test_lasts},
        {"str: suffixes", test_suffixes},
        {"str: finds", test_finds},
        {"str: members", test_members},
        {"str: pairs", test_pairs},
        {"str: both ends", test_ends},
        {"str: walk", test_walk},
        {"counts", test_counts},
        {0},
    });
}
