#include "codec/format/byterange.h"

#include "tests/test.h"

static const struct {
    const char *name, *text;
    uint64_t size;
    enum lks_byterange_kind kind;
    uint64_t from, len;
} asked[] = {
    {"nothing", "", 100, LKS_BYTERANGE_ALL, 0, 100},
    {"from to", "bytes=10-19", 100, LKS_BYTERANGE_SOME, 10, 10},
    {"one byte", "bytes=0-0", 100, LKS_BYTERANGE_SOME, 0, 1},
    {"the last byte", "bytes=99-99", 100, LKS_BYTERANGE_SOME, 99, 1},
    {"to the end", "bytes=90-", 100, LKS_BYTERANGE_SOME, 90, 10},
    {"beyond the end", "bytes=90-1000", 100, LKS_BYTERANGE_SOME, 90, 10},
    {"far beyond it", "bytes=90-18446744073709551615", 100, LKS_BYTERANGE_SOME, 90, 10},
    {"the tail", "bytes=-5", 100, LKS_BYTERANGE_SOME, 95, 5},
    {"a longer tail", "bytes=-500", 100, LKS_BYTERANGE_SOME, 0, 100},
    {"in another case", "Bytes=1-2", 100, LKS_BYTERANGE_SOME, 1, 2},
    {"from behind the end", "bytes=100-", 100, LKS_BYTERANGE_NONE, 0, 100},
    {"no tail", "bytes=-0", 100, LKS_BYTERANGE_NONE, 0, 100},
    {"of nothing", "bytes=0-", 0, LKS_BYTERANGE_NONE, 0, 0},
    {"a tail of nothing", "bytes=-1", 0, LKS_BYTERANGE_NONE, 0, 0},
    {"several", "bytes=0-1,5-6", 100, LKS_BYTERANGE_ALL, 0, 100},
    {"backwards", "bytes=9-1", 100, LKS_BYTERANGE_ALL, 0, 100},
    {"other units", "lines=0-1", 100, LKS_BYTERANGE_ALL, 0, 100},
    {"a number beyond numbers", "bytes=18446744073709551616-", 100, LKS_BYTERANGE_ALL, 0, 100},
    {"no numbers", "bytes=-", 100, LKS_BYTERANGE_ALL, 0, 100},
    {"a sign", "bytes=+1-2", 100, LKS_BYTERANGE_ALL, 0, 100},
    {"blanks inside", "bytes=1 -2", 100, LKS_BYTERANGE_ALL, 0, 100},
};

static void ask(void)
{
    for (size_t i = 0; i < LKS_COUNT(asked); i++) {
        struct lks_byterange range = {7, 7};
        lks_test_case("%s", asked[i].name);
        CHECK_INT(lks_byterange_ask(lks_str_from(asked[i].text), asked[i].size, &range),
                  asked[i].kind);
        CHECK_INT(range.from, asked[i].from);
        CHECK_INT(range.len, asked[i].len);
    }
}

static const struct {
    const char *name, *text;
    bool good;
    uint64_t from, len, size;
} told[] = {
    {"the first part", "bytes 0-9/100", true, 0, 10, 100},
    {"the last part", "bytes 90-99/100", true, 90, 10, 100},
    {"all of it", "bytes 0-99/100", true, 0, 100, 100},
    {"the most", "bytes 999-999/1000", true, 999, 1, 1000},
    {"beyond the most", "bytes 0-9/1001", false, 0, 0, 0},
    {"behind the end", "bytes 90-100/100", false, 0, 0, 0},
    {"backwards", "bytes 9-1/100", false, 0, 0, 0},
    {"a size that is not known", "bytes 0-9/*", false, 0, 0, 0},
    {"no range", "bytes */100", false, 0, 0, 0},
    {"of nothing", "bytes 0-0/0", false, 0, 0, 0},
    {"as a request has it", "bytes=0-9/100", false, 0, 0, 0},
    {"nothing", "", false, 0, 0, 0},
    {"overflow", "bytes 18446744073709551615-18446744073709551616/18446744073709551617", false, 0,
     0, 0},
};

static void content(void)
{
    for (size_t i = 0; i < LKS_COUNT(told); i++) {
        struct lks_byterange range = {0};
        uint64_t size = 0;
        lks_test_case("%s", told[i].name);
        CHECK(lks_byterange_content(lks_str_from(told[i].text), 1000, &range, &size) ==
              told[i].good);
        CHECK_INT(range.from, told[i].from);
        CHECK_INT(range.len, told[i].len);
        CHECK_INT(size, told[i].size);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"asked for", ask},
        {"told of a body", content},
        {NULL, NULL},
    };
    return lks_test_main(tests);
}
