#include "codec/format/kv.h"

#include "tests/test.h"

enum { TEXT_MAX = 4096 };

static const struct {
    const char *name;
    struct lks_str key, value;
    const char *word;
} words[] = {
    {"plain", LKS_STR_C("driver"), LKS_STR_C("580.95.05"), "driver=580.95.05"},
    {"no value", LKS_STR_C("a"), LKS_STR_C(""), "a="},
    {"no key", LKS_STR_C(""), LKS_STR_C("1"), "=1"},
    {"blanks", LKS_STR_C("a"), LKS_STR_C(" x\ty\n"), "a=%20x%09y%0A"},
    {"the marks themselves", LKS_STR_C("a"), LKS_STR_C("100%=all"), "a=100%25%3Dall"},
    {"marks in the key", LKS_STR_C("a=b c"), LKS_STR_C("1"), "a%3Db%20c=1"},
    {"bytes", LKS_STR_C("a"), LKS_STR_C("\xff\x7f\x01"), "a=%FF%7F%01"},
    {"zero", LKS_STR_C("a"), {"x\0y", 3}, "a=x%00y"},
    {"first and last printable", LKS_STR_C("a"), LKS_STR_C("!~"), "a=!~"},
};

static void test_words(void)
{
    for (size_t i = 0; i < LKS_COUNT(words); i++) {
        lks_test_case("%s", words[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(TEXT_MAX);
        lks_kv_add(&line, words[i].key, words[i].value);
        CHECK_STR(lks_buf_view(&line), words[i].word);
    }
}

static const struct {
    const char *name, *line, *key;
    bool found;
    const char *value;
} rows[] = {
    {"the only one", "a=1", "a", true, "1"},
    {"one of several", "a=1 b=2 c=3", "b", true, "2"},
    {"blanks between", "  a=1 \t b=2  ", "b", true, "2"},
    {"the first of a name", "a=1 a=2", "a", true, "1"},
    {"empty", "a= b=2", "a", true, ""},
    {"escaped", "a=%20%25%3D", "a", true, " %="},
    {"high bytes", "a=%FF", "a", true, "\xff"},
    {"a mark at the end", "a=x%41", "a", true, "xA"},
    {"none of the name", "a=1 b=2", "c", false, ""},
    {"part of a name", "abc=1", "ab", false, ""},
    {"a word without a value", "a", "a", false, ""},
    {"an empty line", "", "a", false, ""},
    {"two marks of equality", "a=1=2", "a", false, ""},
    {"half an escape", "a=%4", "a", false, ""},
    {"an escape cut off", "a=x%", "a", false, ""},
    {"no digits", "a=%G0", "a", false, ""},
    {"small letters, which are never written", "a=%ff", "a", false, ""},
    {"the first does not read", "a=% a=1", "a", false, ""},
};

/* What stood in the buffer before stays, and nothing of a value that does not read. */
static void test_get(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
        lks_buf_add(&out, LKS_STR("> "));
        CHECK(lks_kv_get(lks_str_from(rows[i].line), rows[i].key, &out) == rows[i].found);
        struct lks_str got = lks_buf_view(&out);
        CHECK(lks_str_starts(got, "> "));
        CHECK_STR(((struct lks_str){got.ptr + 2, got.len - 2}), rows[i].value);
    }
}

static void test_every_byte(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(TEXT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
    char bytes[256];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)i;
    struct lks_str all = {bytes, sizeof(bytes)};
    lks_kv_add(&line, LKS_STR("first"), LKS_STR("1"));
    lks_kv_add(&line, LKS_STR("all"), all);
    lks_kv_add(&line, LKS_STR("last"), LKS_STR("2"));
    CHECK(lks_kv_get(lks_buf_view(&line), "all", &out));
    CHECK(lks_str_eq(lks_buf_view(&out), all));
    lks_buf_truncate(&out, 0);
    CHECK(lks_kv_get(lks_buf_view(&line), "last", &out));
    CHECK_STR(lks_buf_view(&out), "2");
}

/* A buffer that is full says so itself. */
static void test_full(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(8);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(2);
    struct lks_err err = {0};
    lks_kv_add(&line, LKS_STR("key"), LKS_STR("too long"));
    CHECK_CODE(lks_buf_check(&line, &err), LKS_E_LIMIT);
    (void)lks_kv_get(LKS_STR("a=123=4"), "a", &out);
    CHECK_CODE(lks_buf_check(&out, &err), LKS_E_LIMIT);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"words", test_words},
        {"values", test_get},
        {"every byte", test_every_byte},
        {"full buffers", test_full},
        {0},
    });
}
