#include "trust/dsse.h"

#include "codec/format/base64.h"
#include "tests/test.h"

#include <stdio.h>

enum { OUT_MAX = 2 << 20 };

#define TYPE "application/vnd.lockstep.test+json"

static struct lks_key key_of(uint8_t byte)
{
    uint8_t seed[LKS_KEY_BYTES];
    struct lks_key key = {0};
    struct lks_err err = {0};
    memset(seed, byte, sizeof(seed));
    LKS_ASSERT(lks_key_make(seed, &key, &err) == LKS_OK);
    return key;
}

static enum lks_code open_with(struct lks_str text, uint8_t key_byte, const char *type,
                               struct lks_buf *out, struct lks_err *err)
{
    struct lks_key key = key_of(key_byte), unused = key_of(99);
    struct lks_public_key keys[] = {lks_key_public(&unused), lks_key_public(&key)};
    if (out->max == 0)
        lks_buf_init(out, OUT_MAX);
    return lks_dsse_open(text, keys, LKS_COUNT(keys), type, out, err);
}

static const struct lks_str payloads[] = {LKS_STR_C(""), LKS_STR_C("{}"),
                                          LKS_STR_C("\0\xff any bytes"), LKS_STR_C("DSSEv1 0  0 ")};

static void test_both_ways(void)
{
    for (size_t i = 0; i < LKS_COUNT(payloads); i++) {
        lks_test_case("payload %zu", i);
        struct lks_key key = key_of(1);
        struct lks_err err = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0}, back = {0}, other = {0};
        lks_buf_init(&text, OUT_MAX);
        CHECK_CODE(lks_dsse_sign(&key, TYPE, payloads[i], &text, &err), LKS_OK);
        CHECK_CODE(open_with(lks_buf_view(&text), 1, TYPE, &back, &err), LKS_OK);
        CHECK(lks_str_eq(lks_buf_view(&back), payloads[i]));
        CHECK_CODE(open_with(lks_buf_view(&text), 2, TYPE, &other, &err), LKS_E_DENIED);
        CHECK_HAS(lks_str_from(err.msg), "not signed by a key we trust");
        CHECK_CODE(open_with(lks_buf_view(&text), 1, "text/plain", &other, &err), LKS_E_DENIED);
        CHECK_CODE(lks_dsse_open(lks_buf_view(&text), NULL, 0, TYPE, &other, &err), LKS_E_DENIED);
        CHECK_INT(other.len, 0);
    }
}

/* The form others read and write: github.com/secure-systems-lab/dsse, protocol.md. */
static void test_form(void)
{
    struct lks_key key = key_of(1);
    struct lks_public_key half = lks_key_public(&key);
    struct lks_err err = {0};
    uint8_t signature[LKS_SIGNATURE_BYTES];
    char name[LKS_KEY_TEXT_SIZE];
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0}, want = {0};
    lks_buf_init(&text, OUT_MAX);
    lks_buf_init(&want, OUT_MAX);
    lks_key_public_text(&half, name);
    struct lks_str signed_text = LKS_STR("DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    CHECK_CODE(lks_key_sign(&key, signed_text, signature, &err), LKS_OK);
    lks_buf_addf(&want,
                 "{\"payload\":\"aGVsbG8gd29ybGQ=\",\"payloadType\":"
                 "\"http://example.com/HelloWorld\",\"signatures\":[{\"keyid\":\"%s\",\"sig\":\"",
                 name);
    lks_base64_add(&want, (struct lks_str){(const char *)signature, sizeof(signature)});
    lks_buf_add(&want, LKS_STR("\"}]}"));
    CHECK_CODE(
        lks_dsse_sign(&key, "http://example.com/HelloWorld", LKS_STR("hello world"), &text, &err),
        LKS_OK);
    CHECK_STR(lks_buf_view(&text), want.ptr);
}

/* Whatever byte is changed, the payload that comes out is the one that was signed, or none. */
static void test_damage(void)
{
    struct lks_key key = key_of(1);
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(OUT_MAX);
    LKS_ASSERT(lks_dsse_sign(&key, TYPE, LKS_STR("reboot gn001"), &text, &err) == LKS_OK);
    size_t opened = 0;
    for (size_t bit = 0; bit < text.len * 8; bit++) {
        lks_test_case("bit %zu", bit);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf back = {0};
        text.ptr[bit / 8] = (char)(text.ptr[bit / 8] ^ (1 << bit % 8));
        if (open_with(lks_buf_view(&text), 1, TYPE, &back, &err) == LKS_OK) {
            CHECK_STR(lks_buf_view(&back), "reboot gn001");
            opened++;
        }
        text.ptr[bit / 8] = (char)(text.ptr[bit / 8] ^ (1 << bit % 8));
    }
    CHECK(opened > 0 && opened < 480); /* the hint and its name are nobody's promise */
}

static const struct {
    const char *name, *text;
    enum lks_code code;
} refused[] = {
    {"nothing", "", LKS_E_INVALID},
    {"not JSON", "hello", LKS_E_INVALID},
    {"a list", "[]", LKS_E_INVALID},
    {"an empty map", "{}", LKS_E_INVALID},
    {"a payload that is a number", "{\"payload\":1}", LKS_E_INVALID},
    {"a payload that is not base64", "{\"payload\":\"?\"}", LKS_E_INVALID},
    {"no type", "{\"payload\":\"\",\"signatures\":[]}", LKS_E_DENIED},
    {"no signatures", "{\"payload\":\"\",\"payloadType\":\"" TYPE "\"}", LKS_E_INVALID},
    {"an empty list", "{\"payload\":\"\",\"payloadType\":\"" TYPE "\",\"signatures\":[]}",
     LKS_E_DENIED},
    {"a signature that is a text",
     "{\"payload\":\"\",\"payloadType\":\"" TYPE "\",\"signatures\":[\"x\"]}", LKS_E_DENIED},
    {"a short signature",
     "{\"payload\":\"\",\"payloadType\":\"" TYPE "\",\"signatures\":[{\"sig\":\"AAAA\"}]}",
     LKS_E_DENIED},
    {"too many signatures",
     "{\"payload\":\"\",\"payloadType\":\"" TYPE "\",\"signatures\":[1,2,3,4,5,6,7,8,9]}",
     LKS_E_INVALID},
    {"a name twice", "{\"payload\":\"\",\"payload\":\"\"}", LKS_E_INVALID},
};

static void test_refused(void)
{
    for (size_t i = 0; i < LKS_COUNT(refused); i++) {
        lks_test_case("%s", refused[i].name);
        struct lks_err err = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf back = {0};
        CHECK_CODE(open_with(lks_str_from(refused[i].text), 1, TYPE, &back, &err), refused[i].code);
        CHECK_HAS(lks_str_from(err.msg), "signed payload");
        CHECK_INT(back.len, 0);
    }
}

static void test_limits(void)
{
    struct lks_key key = key_of(1);
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf large = {0}, text = {0}, back = {0};
    lks_buf_init(&large, OUT_MAX);
    lks_buf_init(&text, OUT_MAX);
    lks_buf_pad(&large, ' ', (ptrdiff_t)LKS_DSSE_MAX + 1);
    CHECK_CODE(open_with(lks_buf_view(&large), 1, TYPE, &back, &err), LKS_E_LIMIT);
    CHECK_CODE(lks_dsse_sign(&key, TYPE, lks_buf_view(&large), &text, &err), LKS_E_LIMIT);
    struct lks_str fits = {large.ptr, LKS_DSSE_MAX / 4 * 3 - 512};
    CHECK_CODE(lks_dsse_sign(&key, TYPE, fits, &text, &err), LKS_OK);
    CHECK_CODE(open_with(lks_buf_view(&text), 1, TYPE, &back, &err), LKS_OK);
    CHECK_INT(back.len, fits.len);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"dsse: both ways", test_both_ways},
        {"dsse: the form", test_form},
        {"dsse: damage", test_damage},
        {"dsse: refused", test_refused},
        {"dsse: limits", test_limits},
        {0},
    });
}
