#include "trust/envelope.h"

#include "tests/test.h"

enum { OUT_MAX = 1 << 20 };

#define DIGEST "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER  "sha256:ffff456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct lks_envelope whole = {
    .id = 42,
    .journal = "00112233445566778899aabbccddeeff",
    .node = "gn001",
    .boot = "0b4f9c1e-5d0c-4a39-9a60-1f3f6a1f7c11",
    .epoch = 3,
    .attempt = 1,
    .expires = 1794713858123,
    .executor = "apt-install",
    .digests = {DIGEST, OTHER},
    .digest_count = 2,
};

static struct lks_key a_key(void)
{
    uint8_t seed[LKS_KEY_BYTES] = {1};
    struct lks_key key = {0};
    struct lks_err err = {0};
    LKS_ASSERT(lks_key_make(seed, &key, &err) == LKS_OK);
    return key;
}

static void test_both_ways(void)
{
    struct lks_key key = a_key();
    struct lks_public_key half = lks_key_public(&key), other = {.bytes = {1}};
    struct lks_envelope back = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(OUT_MAX);
    CHECK_CODE(lks_envelope_sign(&key, &whole, &text, &err), LKS_OK);
    CHECK_CODE(lks_envelope_open(lks_buf_view(&text), &other, 1, &back, &err), LKS_E_DENIED);
    CHECK_INT(back.id, 0);
    CHECK_CODE(lks_envelope_open(lks_buf_view(&text), &half, 1, &back, &err), LKS_OK);
    CHECK_INT(back.id, whole.id);
    CHECK_STR(lks_str_from(back.journal), whole.journal);
    CHECK_STR(lks_str_from(back.node), whole.node);
    CHECK_STR(lks_str_from(back.boot), whole.boot);
    CHECK_INT(back.epoch, whole.epoch);
    CHECK_INT(back.attempt, whole.attempt);
    CHECK_INT(back.expires, whole.expires);
    CHECK_STR(lks_str_from(back.executor), whole.executor);
    CHECK_INT(back.digest_count, 2);
    CHECK_STR(lks_str_from(back.digests[0]), DIGEST);
    CHECK_STR(lks_str_from(back.digests[1]), OTHER);
}

/* What the wire holds, to the letter: agents of the version before read it too. */
#define HEAD                                                                                       \
    "{\"id\":42,\"journal\":\"00112233445566778899aabbccddeeff\",\"node\":\"gn001\","              \
    "\"boot\":\"0b4f9c1e-5d0c-4a39-9a60-1f3f6a1f7c11\",\"epoch\":3,\"attempt\":1,"                 \
    "\"expires\":1794713858123,\"executor\":\"apt-install\","
#define GOOD HEAD "\"digests\":[\"" DIGEST "\",\"" OTHER "\"]}"

static void test_payload(void)
{
    struct lks_key key = a_key();
    struct lks_public_key half = lks_key_public(&key);
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0}, payload = {0};
    lks_buf_init(&text, OUT_MAX);
    lks_buf_init(&payload, OUT_MAX);
    CHECK_CODE(lks_envelope_sign(&key, &whole, &text, &err), LKS_OK);
    CHECK_CODE(lks_dsse_open(lks_buf_view(&text), &half, 1, LKS_ENVELOPE_TYPE, &payload, &err),
               LKS_OK);
    CHECK_STR(lks_buf_view(&payload), GOOD);
}

/* Signed by the right key, and still not taken. */
static const struct {
    const char *name, *type, *payload, *says;
} refused[] = {
    {"another type", "text/plain", GOOD, "type"},
    {"not JSON", LKS_ENVELOPE_TYPE, "reboot", "command"},
    {"a list", LKS_ENVELOPE_TYPE, "[]", "more than this program knows"},
    {"nothing", LKS_ENVELOPE_TYPE, "{}", "id is missing"},
    {"no digests", LKS_ENVELOPE_TYPE, HEAD "\"epochs\":1}", "digests"},
    {"a member we do not know", LKS_ENVELOPE_TYPE, HEAD "\"digests\":[],\"shell\":\"x\"}",
     "more than this program knows"},
    {"a digest that is none", LKS_ENVELOPE_TYPE, HEAD "\"digests\":[\"sha256:00\"]}", "digests"},
    {"a digest in capitals", LKS_ENVELOPE_TYPE,
     HEAD "\"digests\":[\"sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef\""
          "]}",
     "digests"},
};

static void test_refused(void)
{
    struct lks_key key = a_key();
    struct lks_public_key half = lks_key_public(&key);
    for (size_t i = 0; i < LKS_COUNT(refused); i++) {
        lks_test_case("%s", refused[i].name);
        struct lks_envelope back = {.id = 7};
        struct lks_err err = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(OUT_MAX);
        LKS_ASSERT(lks_dsse_sign(&key, refused[i].type, lks_str_from(refused[i].payload), &text,
                                 &err) == LKS_OK);
        CHECK(lks_envelope_open(lks_buf_view(&text), &half, 1, &back, &err) != LKS_OK);
        CHECK_HAS(lks_str_from(err.msg), refused[i].says);
        CHECK_INT(back.id, 7);
    }
}

/* One member of a good payload replaced by something else: refused when signing or opening. */
static const struct {
    const char *was, *is, *says;
} swaps[] = {
    {"\"id\":42", "\"id\":-1", "id"},
    {"\"id\":42", "\"id\":\"42\"", "id"},
    {"00112233445566778899aabbccddeeff", "0011", "journal"},
    {"\"gn001\"", "\"\"", "node"},
    {"\"gn001\"", "\"gn 1\"", "node"},
    {"\"gn001\"", "7", "node"},
    {"0b4f9c1e-5d0c", "0b4f9c1e-5d0c-and-more", "boot"},
    {"\"epoch\":3", "\"epoch\":true", "epoch"},
    {"\"apt-install\"", "\"../apt\"", "executor"},
    {"\"apt-install\"", "\"Apt\"", "executor"},
    {"\"apt-install\"", "\"-rf\"", "executor"},
    {"\"apt-install\"", "\"\"", "executor"},
    {"\"apt-install\"", "\"a b\"", "executor"},
    {"\"apt-install\"", "\"a.b\"", "executor"},
    {"\"apt-install\"", "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
     "executor"},
    {"[\"" DIGEST "\",\"" OTHER "\"]", "\"" DIGEST "\"", "digests"},
};

static void test_swaps(void)
{
    struct lks_key key = a_key();
    struct lks_public_key half = lks_key_public(&key);
    for (size_t i = 0; i < LKS_COUNT(swaps); i++) {
        lks_test_case("%s instead of %s", swaps[i].is, swaps[i].was);
        struct lks_envelope back = {.id = 7};
        struct lks_err err = {0};
        struct lks_str good = LKS_STR(GOOD), was = lks_str_from(swaps[i].was);
        ptrdiff_t at = lks_str_find(good, was);
        LKS_ASSERT(at >= 0);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf payload = {0}, text = {0};
        lks_buf_init(&payload, OUT_MAX);
        lks_buf_init(&text, OUT_MAX);
        lks_buf_add(&payload, (struct lks_str){good.ptr, (size_t)at});
        lks_buf_add(&payload, lks_str_from(swaps[i].is));
        lks_buf_add(&payload, lks_str_from(good.ptr + at + was.len));
        LKS_ASSERT(lks_dsse_sign(&key, LKS_ENVELOPE_TYPE, lks_buf_view(&payload), &text, &err) ==
                   LKS_OK);
        CHECK_CODE(lks_envelope_open(lks_buf_view(&text), &half, 1, &back, &err), LKS_E_INVALID);
        CHECK_HAS(lks_str_from(err.msg), swaps[i].says);
        CHECK_INT(back.id, 7);
    }
}

/* What an agent would refuse is not sent. */
static void test_not_signed(void)
{
    struct lks_key key = a_key();
    struct lks_envelope bad[] = {whole, whole, whole, whole, whole};
    static const char *const says[] = {"id", "node", "executor", "digests", "journal"};
    bad[0].id = UINT64_MAX;
    bad[1].node[0] = '\0';
    bad[2].executor[0] = '/';
    bad[3].digests[1][0] = 'x';
    memset(bad[4].journal, 'a', sizeof(bad[4].journal)); /* no terminator */
    for (size_t i = 0; i < LKS_COUNT(bad); i++) {
        lks_test_case("%s", says[i]);
        struct lks_err err = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(OUT_MAX);
        CHECK_CODE(lks_envelope_sign(&key, &bad[i], &text, &err), LKS_E_INVALID);
        CHECK_HAS(lks_str_from(err.msg), says[i]);
        CHECK_INT(text.len, 0);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"envelope: both ways", test_both_ways},
        {"envelope: what crosses the wire", test_payload},
        {"envelope: signed and refused", test_refused},
        {"envelope: one member changed", test_swaps},
        {"envelope: not signed", test_not_signed},
        {0},
    });
}
