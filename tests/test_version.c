#include "codec/notation/version.h"

#include "base/rng.h"
#include "tests/test.h"

#include <stdio.h>

enum { RANDOM_LEN_MAX = 24, TRIPLES = 20000, RANGES = 20000 };

#define DOTTED   LKS_VERSION_DOTTED
#define DEBIAN   LKS_VERSION_DEBIAN
#define VBIOS    LKS_VERSION_VBIOS
#define FIRMWARE LKS_VERSION_FIRMWARE

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static const struct {
    const char *name;
    const char *text;
    enum lks_version_scheme scheme;
    bool valid;
} forms[] = {
    {"driver", "580.95.05", DOTTED, true},
    {"branch", "R580", DOTTED, true},
    {"tag", "v2.18.1-1", DOTTED, true},
    {"single number", "0", DOTTED, true},
    {"package revision", "3.3.0-1", DOTTED, true},
    {"revision with dots", "4.4.2-4.7.0", DOTTED, true},
    {"more digits than an integer has", "1.99999999999999999999999999", DOTTED, true},
    {"empty", "", DOTTED, false},
    {"only a prefix", "R", DOTTED, false},
    {"two prefixes", "vR580", DOTTED, false},
    {"lower-case branch", "r580", DOTTED, false},
    {"dot at the start", ".580", DOTTED, false},
    {"dot at the end", "580.", DOTTED, false},
    {"two dots", "580..95", DOTTED, false},
    {"empty revision", "580-", DOTTED, false},
    {"two revisions", "1-2-3", DOTTED, false},
    {"revision with letters", "580.95.05-0ubuntu1", DOTTED, false},
    {"build suffix", "1.2.3+deb", DOTTED, false},
    {"wildcard", "6.4.x", DOTTED, false},
    {"letters", "2.4.0a0", DOTTED, false},
    {"sign", "-1", DOTTED, false},
    {"blank inside", "1 .2", DOTTED, false},

    {"upstream only", "580.95.05", DEBIAN, true},
    {"all parts", "1:580.95.05-0ubuntu0.24.04.1", DEBIAN, true},
    {"tilde", "580.95.05~rc1", DEBIAN, true},
    {"dash in upstream", "1.0-beta-2", DEBIAN, true},
    {"colon in upstream", "1:2:3", DEBIAN, true},
    {"largest epoch", "2147483647:1", DEBIAN, true},
    {"epoch too large", "2147483648:1", DEBIAN, false},
    {"empty epoch", ":1", DEBIAN, false},
    {"epoch not a number", "a:1", DEBIAN, false},
    {"nothing after the epoch", "1:", DEBIAN, false},
    {"empty revision", "1.0-", DEBIAN, false},
    {"no upstream", "-1", DEBIAN, false},
    {"begins with a letter", "v1.0", DEBIAN, false},
    {"underscore", "1.0_1", DEBIAN, false},
    {"slash", "1.0/1", DEBIAN, false},

    {"whole", "96.00.A5.00.1A", VBIOS, true},
    {"lower case", "96.00.a5.00.1a", VBIOS, true},
    {"a part of one", "96.00", VBIOS, true},
    {"not a pair", "96.0.A5", VBIOS, false},
    {"three digits", "096.00", VBIOS, false},
    {"not hexadecimal", "96.0G", VBIOS, false},
    {"dot at the end", "96.00.", VBIOS, false},

    {"numbers", "28.39.2048", FIRMWARE, true},
    {"package", "24.10-3", FIRMWARE, true},
    {"baseboard", "HGX-22.10-1-rc67", FIRMWARE, true},
    {"letters around a digit", "U8X", FIRMWARE, true},
    {"underscore", "00.02.0134.0000_n00", FIRMWARE, true},
    {"drive", "MPK7625Q", FIRMWARE, true},
    {"hexadecimal", "0x11", FIRMWARE, true},
    {"no digit", "unknown", FIRMWARE, false},
    {"not available", "N/A", FIRMWARE, false},
    {"blank", "Not Present", FIRMWARE, false},
    {"two separators", "1..2", FIRMWARE, false},
    {"separator at the start", "-1", FIRMWARE, false},
    {"separator at the end", "1.", FIRMWARE, false},
};

static void test_forms(void)
{
    for (size_t i = 0; i < LKS_COUNT(forms); i++) {
        lks_test_case("%s: %s", lks_version_scheme_name(forms[i].scheme), forms[i].name);
        CHECK(lks_version_valid(lks_str_from(forms[i].text), forms[i].scheme) == forms[i].valid);
    }
}

static void test_length(void)
{
    char text[LKS_VERSION_LEN_MAX + 1];
    memset(text, '1', sizeof(text));
    for (unsigned scheme = 0; scheme < LKS_VERSION_SCHEME_COUNT; scheme++) {
        enum lks_version_scheme s = (enum lks_version_scheme)scheme;
        lks_test_case("%s", lks_version_scheme_name(s));
        CHECK(lks_version_valid((struct lks_str){text, sizeof(text) - 1}, s) == (s != VBIOS));
        CHECK(!lks_version_valid((struct lks_str){text, sizeof(text)}, s));
        CHECK(!lks_version_valid((struct lks_str){0}, s));
        CHECK(!lks_version_valid((struct lks_str){"1\0002", 3}, s));
    }
}

static const struct {
    const char *name;
    enum lks_version_scheme scheme;
    const char *a;
    int order;
    const char *b;
} orders[] = {
    {"numbers, not text", DOTTED, "1.10", 1, "1.9"},
    {"missing numbers are 0", DOTTED, "1.0", 0, "1.0.0"},
    {"leading zeroes", DOTTED, "570.5", 0, "570.05"},
    {"branch and number", DOTTED, "R580", 0, "580.0"},
    {"tag and number", DOTTED, "v1.17.8", 0, "1.17.8"},
    {"shorter before longer", DOTTED, "580", -1, "580.65.06"},
    {"beyond 64 bits", DOTTED, "1.18446744073709551617", 1, "1.18446744073709551616"},
    {"many zeroes", DOTTED, "0000000000000000000000001", -1, "2"},
    {"revision after none", DOTTED, "3.3.0", -1, "3.3.0-1"},
    {"revision 0 is none", DOTTED, "3.3.0", 0, "3.3.0-0"},
    {"version before revision", DOTTED, "3.3.1", 1, "3.3.0-9"},
    {"revision with dots", DOTTED, "4.4.2-4.10.0", 1, "4.4.2-4.7.0"},
    {"invalid after valid", DOTTED, "unknown", 1, "999"},
    {"invalid bytewise", DOTTED, "b", 1, "a"},
    {"invalid and equal", DOTTED, "n/a", 0, "n/a"},
    {"empty after valid", DOTTED, "", 1, "1"},

    {"tilde before the end", DEBIAN, "580~rc1", -1, "580"},
    {"two tildes before one", DEBIAN, "1.0~~", -1, "1.0~"},
    {"tilde letters", DEBIAN, "1.0~~a", -1, "1.0~"},
    {"end before letters", DEBIAN, "1.0", -1, "1.0a"},
    {"letters before the rest", DEBIAN, "1.0a", -1, "1.0+"},
    {"upper before lower case", DEBIAN, "1.0B", -1, "1.0a"},
    {"numbers", DEBIAN, "1.10", 1, "1.9"},
    {"leading zeroes", DEBIAN, "1.05", 0, "1.5"},
    {"no revision is 0", DEBIAN, "1.0", 0, "1.0-0"},
    {"revision", DEBIAN, "1.0-1", -1, "1.0-1ubuntu1"},
    {"revision tilde", DEBIAN, "1.0-1~bpo12+1", -1, "1.0-1"},
    {"epoch decides", DEBIAN, "1:0.1", 1, "2.0"},
    {"epoch 0 is none", DEBIAN, "0:2.0", 0, "2.0"},
    {"missing group is less", DEBIAN, "1.0", -1, "1.0.0"},
    {"last dash divides", DEBIAN, "1.0-1-1", 1, "1.0-2"},
    {"kernel", DEBIAN, "5.15.0-100.110", 1, "5.15.0-99.109"},
    {"security update", DEBIAN, "1.2.3-1+deb12u1", 1, "1.2.3-1"},

    {"hexadecimal", VBIOS, "96.00.A5", 1, "96.00.1A"},
    {"case", VBIOS, "96.00.a5", 0, "96.00.A5"},
    {"missing pairs are 00", VBIOS, "96.00.A5", 0, "96.00.A5.00.00"},
    {"digit before letter", VBIOS, "99.00", -1, "9A.00"},

    {"numbers", FIRMWARE, "28.39.2048", 1, "28.39.1002"},
    {"release candidates are numbered", FIRMWARE, "HGX-22.10-1-rc67", 1, "HGX-22.10-1-rc9"},
    {"rc after none", FIRMWARE, "HGX-22.10-1-rc67", 1, "HGX-22.10-1"},
    {"letter after none", FIRMWARE, "1.0b", 1, "1.0"},
    {"letter before the next number", FIRMWARE, "1.0b", -1, "1.0.1"},
    {"letter after letter", FIRMWARE, "1.0a", -1, "1.0b"},
    {"case", FIRMWARE, "U8X", 0, "u8x"},
    {"longer word after its start", FIRMWARE, "1a", -1, "1ab"},
    {"words by letter, not length", FIRMWARE, "1b", 1, "1aa"},
    {"separators only separate", FIRMWARE, "24.10-3", 0, "24.10.3"},
    {"missing runs are 0", FIRMWARE, "1.0", 0, "1.0.0"},
    {"leading zeroes", FIRMWARE, "00.02.0134", 0, "0.2.134"},
    {"beyond 64 bits", FIRMWARE, "99999999999999999999", -1, "100000000000000000000"},
    {"nonsense after versions", FIRMWARE, "N/A", 1, "99"},
};

static void test_orders(void)
{
    for (size_t i = 0; i < LKS_COUNT(orders); i++) {
        lks_test_case("%s: %s", lks_version_scheme_name(orders[i].scheme), orders[i].name);
        struct lks_str a = lks_str_from(orders[i].a), b = lks_str_from(orders[i].b);
        CHECK_INT(sign(lks_version_cmp(a, b, orders[i].scheme)), orders[i].order);
        CHECK_INT(sign(lks_version_cmp(b, a, orders[i].scheme)), -orders[i].order);
    }
}

/* Few enough different bytes that random texts often are valid and often meet. */
static const char *const alphabets[LKS_VERSION_SCHEME_COUNT] = {
    [LKS_VERSION_DOTTED] = "0012.-Rv",
    [LKS_VERSION_DEBIAN] = "0012aB.~+-:",
    [LKS_VERSION_VBIOS] = "00aA1.",
    [LKS_VERSION_FIRMWARE] = "0012aB.-_",
};

static struct lks_str random_version(struct lks_rng *rng, enum lks_version_scheme scheme,
                                     size_t len_max, char *out)
{
    const char *alphabet = alphabets[scheme];
    size_t len = lks_rng_below(rng, len_max);
    for (size_t i = 0; i < len; i++)
        out[i] = alphabet[lks_rng_below(rng, strlen(alphabet))];
    return (struct lks_str){out, len};
}

static void check_triple(struct lks_str a, struct lks_str b, struct lks_str c,
                         enum lks_version_scheme scheme)
{
    int ab = sign(lks_version_cmp(a, b, scheme)), ba = sign(lks_version_cmp(b, a, scheme));
    int bc = sign(lks_version_cmp(b, c, scheme)), ac = sign(lks_version_cmp(a, c, scheme));
    CHECK_INT(ab, -ba);
    CHECK_INT(lks_version_cmp(a, a, scheme), 0);
    if (ab <= 0 && bc <= 0)
        CHECK_INT(ac, ab < 0 || bc < 0 ? -1 : 0);
    if (ab >= 0 && bc >= 0)
        CHECK_INT(ac, ab > 0 || bc > 0 ? 1 : 0);
}

static void test_total_order(void)
{
    for (unsigned scheme = 0; scheme < LKS_VERSION_SCHEME_COUNT; scheme++) {
        enum lks_version_scheme s = (enum lks_version_scheme)scheme;
        for (uint64_t seed = 0; seed < TRIPLES; seed++) {
            lks_test_case("%s, seed %u", lks_version_scheme_name(s), (unsigned)seed);
            struct lks_rng rng = {seed};
            size_t len_max = 2 + lks_rng_below(&rng, RANDOM_LEN_MAX - 1);
            char text[3][RANDOM_LEN_MAX];
            struct lks_str v[3];
            for (size_t i = 0; i < 3; i++)
                v[i] = random_version(&rng, s, len_max, text[i]);
            check_triple(v[0], v[1], v[2], s);
        }
    }
}

static void test_major(void)
{
    static const struct {
        const char *text;
        int major;
    } rows[] = {
        {"580.95.05", 580},
        {"R580", 580},
        {"v2.18.1-1", 2},
        {"580.95.05-0ubuntu1", 580},
        {"6.4.x", 6},
        {"12", 12},
        {"", -1},
        {"R", -1},
        {"open", -1},
        {".5", -1},
        {"580~rc1", -1},
        {"2147483647", 2147483647},
        {"2147483648", -1},
        {"1:580", -1},
        {"99999999999999999999999", -1},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].text);
        CHECK_INT(lks_version_major(lks_str_from(rows[i].text)), rows[i].major);
    }
}

static void test_covers(void)
{
    static const struct {
        const char *prefix, *version;
        bool covers;
    } rows[] = {
        {"6.4.x", "6.4.3", true},       {"6.4", "6.4.3", true},      {"6.4", "6.4", true},
        {"30.10", "30.10.2", true},     {"30.10", "30.1", false},    {"30.1", "30.10", false},
        {"6.4", "6.5.4", false},        {"R580", "580.95.05", true}, {"580.95", "580", false},
        {"580.0", "580", true},         {"6.04", "6.4.1", true},     {"3.3.0", "3.3.0-1", true},
        {"3.3.0-1", "3.3.0-1", true},   {"3.3.0-1", "3.3.0", false}, {"3.3-1", "3.3.1-1", false},
        {"3.3.0-4", "3.3.0-4.7", true}, {"6.x.x", "6.4.3", false},   {"x", "6.4.3", false},
        {".x", "6.4.3", false},         {"", "6.4.3", false},        {"6.4.x", "6.4.x", false},
        {"6.4.x", "unknown", false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s covers %s", rows[i].prefix, rows[i].version);
        struct lks_str prefix = lks_str_from(rows[i].prefix);
        CHECK(lks_version_covers(prefix, lks_str_from(rows[i].version)) == rows[i].covers);
    }
}

static const struct {
    const char *version, *upstream;
} packages[] = {
    {"580.95.05-0ubuntu1", "580.95.05"},
    {"580.95.05-0ubuntu0.24.04.2", "580.95.05"},
    {"2.28.3-1+cuda13.0", "2.28.3"},
    {"1:4.5.3-1", "4.5.3"},
    {"5:28.3.3-1~ubuntu.24.04~noble", "28.3.3"},
    {"20.10.24+dfsg1-1+deb12u1+b6", "20.10.24"},
    {"1.6.20~ds1-1+deb12u3", "1.6.20"},
    {"4.3.1+ds1-8+deb12u1+b3", "4.3.1"},
    {"1.2+repack-1", "1.2"},
    {"20.11.7+really20.11.4-2+deb11u1", "20.11.4"},
    {"22.05.8-4+deb12u3", "22.05.8"},
    {"9.14.0.64-1", "9.14.0.64"},
    {"6.4.2.60402-120~24.04", "6.4.2.60402"},
    {"1.18.0~rc.1-1", "1.18.0~rc.1"},
    {"1.29.4+k3s1", "1.29.4+k3s1"},
    {"25.10.OFED.25.10.1.7.1.409.1-1", "25.10.OFED.25.10.1.7.1.409.1"},
    {"1.2+dsp-1", "1.2+dsp"},
    {"1.7.27", "1.7.27"},
    {"", ""},
    {"-", ""},
    {":", ""},
    {"+", "+"},
};

static void test_upstream(void)
{
    for (size_t i = 0; i < LKS_COUNT(packages); i++) {
        lks_test_case("%s", packages[i].version);
        CHECK_STR(lks_version_upstream(lks_str_from(packages[i].version)), packages[i].upstream);
    }
}

static void test_stated(void)
{
    static const struct {
        const char *stated, *like, *version;
    } rows[] = {
        {"1.19.1", "1.19.1", "1.19.1"},
        {"1.19.1-rc.2", "1.19.1", "1.19.1-rc.2"},
        {"1.19.1-rc2", "1.19.1", "1.19.1-rc2"},
        {"1.19.1-2rc", "1.19.1", "1.19.1-2rc"},
        {"1.19.1-0rc1ubuntu2", "1.19.1", "1.19.1-0rc1ubuntu2"},
        {"1.19.1-rc.2+5", "1.19.1", "1.19.1-rc.2"},
        {"1.19.1~rc.2", "1.19.1", "1.19.1~rc.2"},
        {"v1.33.0-rc.1", "1.33.0", "v1.33.0-rc.1"},
        {"1.7.28-0ubuntu1~24.04.1", "1.7.28", "1.7.28"},
        {"1.7.28-0ubuntu", "1.7.28", "1.7.28-0ubuntu"},
        {"6.4.3-128", "6.4.3", "6.4.3"},
        {"6.4.3-128", "6.4.3-128", "6.4.3-128"},
        {"2.28.9+cuda13.0", "2.28.9", "2.28.9"},
        {"2.28.9-1+cuda13.0", "2.28.9-1", "2.28.9-1"},
        {"1.29.4+k3s1", "1.29.4+k3s1", "1.29.4+k3s1"},
        {"1.0-", "1.0", "1.0-"},
        {"", "1.0", ""},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s like %s", rows[i].stated, rows[i].like);
        CHECK_STR(lks_version_stated(lks_str_from(rows[i].stated), lks_str_from(rows[i].like)),
                  rows[i].version);
    }
}

static const struct {
    const char *name;
    enum lks_version_scheme scheme;
    const char *text;
    const char *inside;  /* NULL where the range is refused */
    const char *outside; /* or the message of the refusal */
} ranges[] = {
    {"bare version", DOTTED, "580.95.05", "580.95.5", "580.95.06"},
    {"equal", DOTTED, "=1.0", "1", "1.0.1"},
    {"unequal", DOTTED, "!=1.0", "1.0.1", "1"},
    {"less", DOTTED, "<581", "580.999", "581.0"},
    {"at most", DOTTED, "<=1.16.1", "1.16.1", "1.16.2"},
    {"greater", DOTTED, ">3.1.7", "3.1.7.1", "3.1.7"},
    {"at least", DOTTED, ">=3.1.7", "3.1.7", "3.1.6"},
    {"both ends", DOTTED, ">=580.95.05 <581", "580.105.08", "581"},
    {"comma", DOTTED, ">=1,<2", "1.5", "2"},
    {"comma and blanks", DOTTED, "\t>=1 , <2 ", "1.5", "0.9"},
    {"blank after the operator", DOTTED, ">= 1 < 2", "1.5", "2"},
    {"closed to one version", DOTTED, ">=1.0 <=1", "1.0.0", "1.0.1"},
    {"hole", DOTTED, ">=1 <2 !=1.5", "1.6", "1.5.0"},
    {"eight conditions", DOTTED, ">0 >1 >2 >3 >4 >5 >6 >7", "8", "7"},
    {"up to the least", DOTTED, "<=0", "0.0", "0.1"},
    {"nonsense is in no range", DOTTED, ">=1", "2", "unknown"},
    {"nonsense is not unequal either", DOTTED, "!=1", "2", "unknown"},
    {"below every number", DEBIAN, "<0", "0~rc1", "0"},
    {"package", DEBIAN, ">=1:580~ <<1:581", NULL,
     "condition 2: unknown operator '<<' (there are = != < <= > >=)"},
    {"tilde in a version", DEBIAN, ">=580~rc1", "580", "579"},
    {"vbios", VBIOS, ">=96.00.A5 <97.00", "96.00.a5.00.1a", "96.00.9F"},
    {"firmware", FIRMWARE, ">HGX-22.10-1-rc34", "HGX-22.10-1-rc67", "HGX-22.10-1-rc34"},

    {"empty", DOTTED, "", NULL, "empty range"},
    {"blank", DOTTED, " \t", NULL, "empty range"},
    {"swapped operator", DOTTED, "=>580", NULL,
     "condition 1: unknown operator '=>' (there are = != < <= > >=)"},
    {"borrowed operator", DOTTED, ">=1 ~>2", NULL,
     "condition 2: unknown operator '~>' (there are = != < <= > >=)"},
    {"doubled operator", DOTTED, "==1", NULL,
     "condition 1: unknown operator '==' (there are = != < <= > >=)"},
    {"operator alone", DOTTED, ">=", NULL, "condition 1: no version after '>='"},
    {"comma after the operator", DOTTED, ">=,1", NULL, "condition 1: no version after '>='"},
    {"comma at the end", DOTTED, ">=1,", NULL, "condition 2: no version after ','"},
    {"comma at the start", DOTTED, ",1", NULL, "condition 1: no version before ','"},
    {"two commas", DOTTED, ">=1,,<2", NULL, "condition 2: no version before ','"},
    {"not a version", DOTTED, ">=1 <banana", NULL, "condition 2: 'banana' is not a dotted version"},
    {"wildcard", DOTTED, "6.4.x", NULL, "condition 1: '6.4.x' is not a dotted version"},
    {"no separator", DOTTED, ">=1<2", NULL, "condition 1: '1<2' is not a dotted version"},
    {"another scheme's version", VBIOS, ">=580", NULL, "condition 1: '580' is not a vbios version"},
    {"newline", DOTTED, ">=1\n<2", NULL, "condition 1: '1?<2' is not a dotted version"},
    {"nine conditions", DOTTED, "1 1 1 1 1 1 1 1 1", NULL, "condition 9: more than 8 conditions"},
    {"ends swapped", DOTTED, ">=2 <1", NULL, "no version can satisfy '>=2 <1'"},
    {"ends meet", DOTTED, ">1 <=1.0", NULL, "no version can satisfy '>1 <=1.0'"},
    {"two versions", DOTTED, "1.0 1.1", NULL, "no version can satisfy '1.0 1.1'"},
    {"nothing left", DOTTED, ">=1 <=1 !=1.0", NULL, "no version can satisfy '>=1 <=1 !=1.0'"},
    {"below the least", DOTTED, "<0", NULL, "no version can satisfy '<0'"},
    {"the least left out", DOTTED, "<=0 !=0.0", NULL, "no version can satisfy '<=0 !=0.0'"},
    {"below the least pair", VBIOS, "<00", NULL, "no version can satisfy '<00'"},
    {"below the least firmware", FIRMWARE, "<0.0", NULL, "no version can satisfy '<0.0'"},
};

static void test_ranges(void)
{
    for (size_t i = 0; i < LKS_COUNT(ranges); i++) {
        lks_test_case("%s: %s", lks_version_scheme_name(ranges[i].scheme), ranges[i].name);
        struct lks_range range = {0};
        struct lks_err err = {0};
        struct lks_str text = lks_str_from(ranges[i].text);
        enum lks_code code = lks_version_range_parse(text, ranges[i].scheme, &range, &err);
        if (ranges[i].inside == NULL) {
            CHECK(code != LKS_OK);
            CHECK_STR(lks_str_from(err.msg), ranges[i].outside);
            CHECK_INT(range.count, 0);
        } else if (CHECK_CODE(code, LKS_OK)) {
            CHECK(lks_version_range_has(&range, lks_str_from(ranges[i].inside), ranges[i].scheme));
            CHECK(
                !lks_version_range_has(&range, lks_str_from(ranges[i].outside), ranges[i].scheme));
        }
    }
}

static void test_range_limits(void)
{
    static char text[LKS_RANGE_LEN_MAX + 1];
    struct lks_range range;
    struct lks_err err = {0};
    memset(text, ' ', sizeof(text));
    text[0] = '1';
    struct lks_str all = {text, sizeof(text)}, most = {text, sizeof(text) - 1};
    CHECK_CODE(lks_version_range_parse(most, DOTTED, &range, &err), LKS_OK);
    CHECK_CODE(lks_version_range_parse(all, DOTTED, &range, &err), LKS_E_LIMIT);

    memset(text, '1', LKS_VERSION_LEN_MAX);
    CHECK_CODE(lks_version_range_parse(most, DOTTED, &range, &err), LKS_OK);
    text[LKS_VERSION_LEN_MAX] = '1';
    CHECK_CODE(lks_version_range_parse(most, DOTTED, &range, &err), LKS_E_LIMIT);
    CHECK_STR(lks_str_from(err.msg), "condition 1: a version of more than 128 bytes");
}

/* For each version three neighbours: itself, one just below and one just above, nearer than any
 * other version that short can be. If these do not satisfy a range of short versions, nothing
 * does. */
static const struct {
    const char *below, *above, *above_revised;
} neighbours[LKS_VERSION_SCHEME_COUNT] = {
    [LKS_VERSION_DOTTED] = {"", "-0.0.0.0.0.0.0.0.1", ".0.0.0.0.0.0.0.1"},
    [LKS_VERSION_DEBIAN] = {"~~~~~~~~", "-0A~~~~~~~~", "A~~~~~~~~"},
    [LKS_VERSION_VBIOS] = {"", ".00.00.00.00.00.00.01", ".00.00.00.00.00.00.01"},
    [LKS_VERSION_FIRMWARE] = {"", ".0.0.0.0.0.0.0.1", ".0.0.0.0.0.0.0.1"},
};

static bool neighbour_fits(const struct lks_range *range, struct lks_str v,
                           enum lks_version_scheme scheme)
{
    bool revised = lks_str_find(v, LKS_STR("-")) >= 0;
    const char *suffixes[] = {
        "",
        neighbours[scheme].below,
        revised ? neighbours[scheme].above_revised : neighbours[scheme].above,
    };
    for (size_t i = 0; i < LKS_COUNT(suffixes); i++) {
        char text[64];
        snprintf(text, sizeof(text), "%" LKS_STR_FMT "%s", LKS_STR_ARG(v), suffixes[i]);
        if (lks_version_range_has(range, lks_str_from(text), scheme))
            return true;
    }
    return false;
}

static bool any_fits(const struct lks_range *range, enum lks_version_scheme scheme)
{
    bool fits =
        neighbour_fits(range, LKS_STR("0"), scheme) || neighbour_fits(range, LKS_STR("00"), scheme);
    for (size_t i = 0; i < range->count; i++)
        fits |= neighbour_fits(range, range->terms[i].version, scheme);
    return fits;
}

/* A few random conditions, as a text and as what the text should mean. */
static void random_range(struct lks_rng *rng, enum lks_version_scheme scheme, char text[64],
                         char versions[4][8], struct lks_range *out)
{
    static const char *const ops[] = {"=", "!=", "<", "<=", ">", ">="};
    *out = (struct lks_range){0};
    size_t count = 1 + lks_rng_below(rng, 4), len = 0;
    while (out->count < count) {
        struct lks_str v = random_version(rng, scheme, 8, versions[out->count]);
        if (!lks_version_valid(v, scheme))
            continue;
        size_t op = lks_rng_below(rng, LKS_COUNT(ops));
        out->terms[out->count].op = (enum lks_range_op)op;
        out->terms[out->count++].version = v;
        len +=
            (size_t)snprintf(text + len, 64 - len, "%s%" LKS_STR_FMT " ", ops[op], LKS_STR_ARG(v));
    }
}

static void test_satisfiable(void)
{
    unsigned accepted = 0;
    for (uint64_t seed = 0; seed < RANGES; seed++) {
        enum lks_version_scheme scheme = (enum lks_version_scheme)(seed % LKS_VERSION_SCHEME_COUNT);
        struct lks_rng rng = {seed};
        char text[64], versions[4][8];
        struct lks_range meant, range;
        struct lks_err err = {0};
        random_range(&rng, scheme, text, versions, &meant);
        lks_test_case("%s, seed %u: %s", lks_version_scheme_name(scheme), (unsigned)seed, text);
        enum lks_code code = lks_version_range_parse(lks_str_from(text), scheme, &range, &err);
        CHECK_CODE(code, any_fits(&meant, scheme) ? LKS_OK : LKS_E_INVALID);
        accepted += code == LKS_OK;
    }
    CHECK(accepted > RANGES / 10 && accepted < RANGES / 10 * 9);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"version forms", test_forms},
        {"version length", test_length},
        {"version order", test_orders},
        {"version order is total", test_total_order},
        {"version major", test_major},
        {"version covers", test_covers},
        {"version: upstream", test_upstream},
        {"version: as stated", test_stated},
        {"ranges", test_ranges},
        {"range limits", test_range_limits},
        {"ranges that can be satisfied", test_satisfiable},
        {0},
    });
}
