#include "base/rng.h"
#include "codec/format/base64.h"
#include "codec/format/hex.h"
#include "tests/test.h"

enum { OUT_MAX = 4096 };

/* RFC 4648 section 10, and bytes where the two alphabets differ. */
static const struct {
    struct lks_str bytes;
    const char *plain, *url;
} rows[] = {
    {LKS_STR_C(""), "", ""},
    {LKS_STR_C("f"), "Zg==", "Zg"},
    {LKS_STR_C("fo"), "Zm8=", "Zm8"},
    {LKS_STR_C("foo"), "Zm9v", "Zm9v"},
    {LKS_STR_C("foob"), "Zm9vYg==", "Zm9vYg"},
    {LKS_STR_C("fooba"), "Zm9vYmE=", "Zm9vYmE"},
    {LKS_STR_C("foobar"), "Zm9vYmFy", "Zm9vYmFy"},
    {LKS_STR_C("\xfb\xff\xbf"), "+/+/", "-_-_"},
    {LKS_STR_C("\0\0\0"), "AAAA", "AAAA"},
};

static void test_both_ways(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("'%s'", rows[i].plain);
        struct lks_err err = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf plain = {0}, url = {0}, back = {0}, again = {0};
        lks_buf_init(&plain, OUT_MAX);
        lks_buf_init(&url, OUT_MAX);
        lks_buf_init(&back, OUT_MAX);
        lks_buf_init(&again, OUT_MAX);
        lks_base64_add(&plain, rows[i].bytes);
        lks_base64_url_add(&url, rows[i].bytes);
        CHECK_STR(lks_buf_view(&plain), rows[i].plain);
        CHECK_STR(lks_buf_view(&url), rows[i].url);
        CHECK_CODE(lks_base64_read(lks_buf_view(&plain), &back, &err), LKS_OK);
        CHECK_CODE(lks_base64_url_read(lks_buf_view(&url), &again, &err), LKS_OK);
        CHECK(lks_str_eq(lks_buf_view(&back), rows[i].bytes));
        CHECK(lks_str_eq(lks_buf_view(&again), rows[i].bytes));
    }
}

static const struct {
    const char *name, *plain, *url;
} refused[] = {
    {"one character", "Z", "Z"},
    {"too little padding", "Zg=", NULL},
    {"no padding", "Zg", NULL},
    {"padding where there is none", NULL, "Zg=="},
    {"too much padding", "Zg======", NULL},
    {"padding alone", "====", "="},
    {"padding in the middle", "Zg==Zm8=", NULL},
    {"padding before a character", "Zg=v", NULL},
    {"bits left over behind one byte", "Zh==", "Zh"},
    {"bits left over behind two bytes", "Zm9=", "Zm9"},
    {"a blank", "Zm 9", "Zm 9"},
    {"a line end", "Zm9v\n", "Zm9v\n"},
    {"the other alphabet", "-_-_", "+/+/"},
    {"a byte that is no character", "Zm9\xff", "Zm9\xff"},
    {"five characters", "Zm9vY", "Zm9vY"},
};

static void test_refused(void)
{
    for (size_t i = 0; i < LKS_COUNT(refused); i++) {
        struct lks_err err = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(OUT_MAX);
        lks_buf_add(&out, LKS_STR("kept"));
        lks_test_case("%s", refused[i].name);
        if (refused[i].plain != NULL)
            CHECK_CODE(lks_base64_read(lks_str_from(refused[i].plain), &out, &err), LKS_E_INVALID);
        if (refused[i].url != NULL)
            CHECK_CODE(lks_base64_url_read(lks_str_from(refused[i].url), &out, &err),
                       LKS_E_INVALID);
        CHECK_STR(lks_buf_view(&out), "kept");
    }
}

static void test_limit(void)
{
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(5);
    CHECK_CODE(lks_base64_read(LKS_STR("Zm9vYmFy"), &out, &err), LKS_E_LIMIT);
}

/* Whatever the bytes, they come back; and every length has its own. */
static void test_property(void)
{
    struct lks_rng rng = {4};
    for (size_t len = 0; len < 300; len++) {
        lks_test_case("%zu bytes", len);
        char bytes[300];
        struct lks_err err = {0};
        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)lks_rng_next(&rng);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0}, back = {0};
        lks_buf_init(&text, OUT_MAX);
        lks_buf_init(&back, OUT_MAX);
        lks_base64_url_add(&text, (struct lks_str){bytes, len});
        CHECK_INT(text.len, (len * 4 + 2) / 3);
        if (!CHECK_CODE(lks_base64_url_read(lks_buf_view(&text), &back, &err), LKS_OK) ||
            !CHECK(lks_str_eq(lks_buf_view(&back), (struct lks_str){bytes, len})))
            return;
    }
}

static void test_hex(void)
{
    static const char *const bad[] = {"", "0", "00ff1", "00ff1g", "00FF10", "00ff10aa", " 0ff10"};
    uint8_t bytes[3] = {0, 0xff, 0x10}, back[3] = {7, 7, 7};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(OUT_MAX);
    lks_hex_add(&text, bytes, sizeof(bytes));
    CHECK_STR(lks_buf_view(&text), "00ff10");
    for (size_t i = 0; i < LKS_COUNT(bad); i++) {
        lks_test_case("'%s'", bad[i]);
        CHECK(!lks_hex_read(lks_str_from(bad[i]), back, sizeof(back)));
        CHECK_INT(back[0], 7);
    }
    CHECK(lks_hex_read(lks_buf_view(&text), back, sizeof(back)));
    CHECK(memcmp(bytes, back, sizeof(bytes)) == 0);
    CHECK(lks_hex_read(LKS_STR(""), back, 0));
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"base64: both ways", test_both_ways},
        {"base64: refused", test_refused},
        {"base64: limit", test_limit},
        {"base64: property", test_property},
        {"base64: hexadecimal", test_hex},
        {0},
    });
}
