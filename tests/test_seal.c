#include "trust/seal.h"

#include "base/rng.h"
#include "codec/format/hex.h"
#include "tests/test.h"

enum {
    OUT_MAX = 1 << 20,
    HEADER = 35 + LKS_SEAL_NONCE_BYTES, /* "lockstep-sealed-1 0123456789abcdef\n" and the nonce */
    TAG = 16,
    PIECE = (int)LKS_SEAL_PIECE,
};

static const struct lks_seal_key key = {.bytes = {1, 2, 3}}, other_key = {.bytes = {1, 2, 4}};
static const uint8_t nonce[LKS_SEAL_NONCE_BYTES] = {9, 8, 7};

/* `len` bytes that do not repeat. */
static void plain_of(size_t len, struct lks_buf *out)
{
    struct lks_rng rng = {7};
    lks_buf_init(out, OUT_MAX);
    while (out->len < len)
        lks_buf_addc(out, (char)lks_rng_next(&rng));
}

static void sealed_of(struct lks_str plain, struct lks_buf *out)
{
    struct lks_err err = {0};
    lks_buf_init(out, OUT_MAX);
    LKS_ASSERT(lks_seal(&key, nonce, "backup", plain, out, &err) == LKS_OK);
}

static enum lks_code unsealed(struct lks_str sealed, struct lks_buf *out, struct lks_err *err)
{
    if (out->max == 0)
        lks_buf_init(out, OUT_MAX);
    return lks_seal_open(&key, "backup", sealed, out, err);
}

static const int sizes[] = {0,           1,           15,        16,        1000,
                            PIECE - 1,   PIECE,       PIECE + 1, 2 * PIECE, 2 * PIECE + 5,
                            PIECE - TAG, PIECE + TAG, 3 * PIECE};

static void test_sizes(void)
{
    for (size_t i = 0; i < LKS_COUNT(sizes); i++) {
        lks_test_case("%d bytes", sizes[i]);
        size_t len = (size_t)sizes[i], pieces = len == 0 ? 1 : (len + PIECE - 1) / PIECE;
        struct lks_err err = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf plain = {0}, sealed = {0}, back = {0};
        plain_of(len, &plain);
        sealed_of(lks_buf_view(&plain), &sealed);
        CHECK_INT(sealed.len, HEADER + len + pieces * TAG);
        CHECK_CODE(unsealed(lks_buf_view(&sealed), &back, &err), LKS_OK);
        CHECK(lks_str_eq(lks_buf_view(&plain), lks_buf_view(&back)));
    }
}

/* Golden: what was sealed once opens for ever. */
static void test_golden(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf sealed = {0}, text = {0};
    sealed_of(LKS_STR("secret"), &sealed);
    lks_buf_init(&text, OUT_MAX);
    lks_buf_add(&text, (struct lks_str){sealed.ptr, 35});
    lks_hex_add(&text, (const uint8_t *)sealed.ptr + 35, sealed.len - 35);
    CHECK_STR(lks_buf_view(&text),
              "lockstep-sealed-1 a213eede04037404\n"
              "090807000000000000000000f4ad4e8ac85c5e37d4079962ffc50fc5c00587914181");
}

static void test_told_apart(void)
{
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf sealed = {0}, out = {0};
    sealed_of(LKS_STR("secret"), &sealed);
    lks_buf_init(&out, OUT_MAX);
    lks_test_case("another key");
    CHECK_CODE(lks_seal_open(&other_key, "backup", lks_buf_view(&sealed), &out, &err),
               LKS_E_DENIED);
    CHECK_HAS(lks_str_from(err.msg), "another key");
    lks_test_case("sealed as something else");
    CHECK_CODE(lks_seal_open(&key, "ca.key", lks_buf_view(&sealed), &out, &err), LKS_E_INVALID);
    lks_test_case("not sealed");
    CHECK_CODE(lks_seal_open(&key, "backup",
                             LKS_STR("-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
                             &out, &err),
               LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "lockstep-sealed-1");
    CHECK_INT(out.len, 0);
}

/* One nonce more and everything is different, so equal secrets do not show. */
static void test_nonces(void)
{
    struct lks_err err = {0};
    uint8_t next[LKS_SEAL_NONCE_BYTES] = {9, 8, 8};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf a = {0}, b = {0};
    sealed_of(LKS_STR("secret"), &a);
    lks_buf_init(&b, OUT_MAX);
    CHECK_CODE(lks_seal(&key, next, "backup", LKS_STR("secret"), &b, &err), LKS_OK);
    for (size_t i = HEADER; i + 4 <= a.len; i++)
        CHECK(memcmp(a.ptr + i, b.ptr + i, 4) != 0);
}

static void test_every_bit(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf sealed = {0}, out = {0};
    sealed_of(LKS_STR("a secret"), &sealed);
    for (size_t bit = 0; bit < sealed.len * 8; bit++) {
        lks_test_case("bit %zu", bit);
        struct lks_err err = {0};
        sealed.ptr[bit / 8] = (char)(sealed.ptr[bit / 8] ^ (1 << bit % 8));
        CHECK(unsealed(lks_buf_view(&sealed), &out, &err) != LKS_OK);
        CHECK_INT(out.len, 0);
        sealed.ptr[bit / 8] = (char)(sealed.ptr[bit / 8] ^ (1 << bit % 8));
    }
}

static void test_every_cut(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf sealed = {0}, out = {0};
    sealed_of(LKS_STR("a secret"), &sealed);
    for (size_t len = 0; len < sealed.len; len++) {
        lks_test_case("the first %zu bytes", len);
        struct lks_err err = {0};
        CHECK_CODE(unsealed((struct lks_str){sealed.ptr, len}, &out, &err), LKS_E_INVALID);
    }
    lks_test_case("a byte more");
    struct lks_err err = {0};
    lks_buf_addc(&sealed, '\0');
    CHECK_CODE(unsealed(lks_buf_view(&sealed), &out, &err), LKS_E_INVALID);
}

/* Pieces in other orders. Four pieces are sealed, each with its tag; `order` says what is left. */
static const struct {
    const char *name, *order;
    bool opens;
} orders[] = {
    {"as sealed", "0123", true},
    {"swapped", "1023", false},
    {"the last two swapped", "0132", false},
    {"one twice", "00123", false},
    {"the last twice", "01233", false},
    {"the first gone", "123", false},
    {"one in the middle gone", "013", false},
    {"the last gone", "012", false},
    {"only the last", "3", false},
    {"none", "", false},
    {"another stream's piece", "0x23", false},
};

static struct lks_str piece_of(const struct lks_buf *sealed, char which)
{
    size_t at = HEADER + (size_t)(which - '0') * (PIECE + TAG);
    size_t left = sealed->len - at;
    return (struct lks_str){sealed->ptr + at, left < PIECE + TAG ? left : PIECE + TAG};
}

static void test_orders(void)
{
    struct lks_err err = {0};
    uint8_t next[LKS_SEAL_NONCE_BYTES] = {1};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf plain = {0}, sealed = {0}, other = {0};
    plain_of(4 * LKS_SEAL_PIECE,
             &plain); /* a last piece as long as the others, so that it can be moved */
    sealed_of(lks_buf_view(&plain), &sealed);
    lks_buf_init(&other, OUT_MAX);
    LKS_ASSERT(lks_seal(&key, next, "backup", lks_buf_view(&plain), &other, &err) == LKS_OK);
    for (size_t i = 0; i < LKS_COUNT(orders); i++) {
        lks_test_case("%s", orders[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf made = {0}, out = {0};
        lks_buf_init(&made, OUT_MAX);
        lks_buf_add(&made, (struct lks_str){sealed.ptr, HEADER});
        for (const char *p = orders[i].order; *p != '\0'; p++)
            lks_buf_add(&made, *p == 'x' ? piece_of(&other, '1') : piece_of(&sealed, *p));
        CHECK_CODE(unsealed(lks_buf_view(&made), &out, &err),
                   orders[i].opens ? LKS_OK : LKS_E_INVALID);
        CHECK_INT(out.len, orders[i].opens ? plain.len : 0);
    }
}

/* A sink that takes some bytes and then no more, as a full disk does. */
struct sink {
    struct lks_buf bytes;
    size_t room;
};

static enum lks_code take(void *ctx, struct lks_str bytes, struct lks_err *err)
{
    struct sink *s = ctx;
    if (s->bytes.len + bytes.len > s->room)
        return lks_fail(err, LKS_E_IO, "the disk is full");
    lks_buf_add(&s->bytes, bytes);
    return LKS_OK;
}

/* However the bytes are cut on the way, the same come out at the end. */
static void test_streams(void)
{
    static const size_t steps[] = {1000, 4096, LKS_SEAL_PIECE, LKS_SEAL_PIECE + TAG, 100000};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf plain = {0}, whole = {0};
    plain_of(2 * PIECE + 77, &plain);
    sealed_of(lks_buf_view(&plain), &whole);
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        lks_test_case("%zu bytes at a time", steps[i]);
        struct sink sealed = {.room = OUT_MAX}, back = {.room = OUT_MAX};
        struct lks_seal_stream *s = NULL;
        struct lks_seal_stream *u = NULL;
        struct lks_err err = {0};
        lks_buf_init(&sealed.bytes, OUT_MAX);
        lks_buf_init(&back.bytes, OUT_MAX);
        CHECK_CODE(lks_seal_writer_new(&key, nonce, "backup", take, &sealed, &s, &err), LKS_OK);
        for (size_t at = 0; at < plain.len; at += steps[i]) {
            size_t left = plain.len - at;
            struct lks_str part = {plain.ptr + at, left < steps[i] ? left : steps[i]};
            CHECK_CODE(lks_seal_feed(s, part, &err), LKS_OK);
        }
        CHECK_CODE(lks_seal_end(s, &err), LKS_OK);
        CHECK(lks_str_eq(lks_buf_view(&sealed.bytes), lks_buf_view(&whole)));
        CHECK_CODE(lks_seal_reader_new(&key, "backup", take, &back, &u, &err), LKS_OK);
        for (size_t at = 0; at < whole.len; at += steps[i]) {
            size_t left = whole.len - at;
            struct lks_str part = {whole.ptr + at, left < steps[i] ? left : steps[i]};
            CHECK_CODE(lks_seal_feed(u, part, &err), LKS_OK);
        }
        CHECK_CODE(lks_seal_end(u, &err), LKS_OK);
        CHECK(lks_str_eq(lks_buf_view(&back.bytes), lks_buf_view(&plain)));
        CHECK_CODE(lks_seal_feed(s, LKS_STR("x"), &err), LKS_E_INVALID);
        CHECK_CODE(lks_seal_feed(u, LKS_STR("x"), &err), LKS_E_INVALID);
        lks_seal_free(s);
        lks_seal_free(u);
        lks_buf_fini(&sealed.bytes);
        lks_buf_fini(&back.bytes);
    }
}

/* The sink's failure is the caller's, and nothing goes on behind it. */
static void test_sink_fails(void)
{
    static const size_t rooms[] = {0, HEADER, HEADER + LKS_SEAL_PIECE + TAG};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf plain = {0};
    plain_of(2 * PIECE + 77, &plain);
    for (size_t i = 0; i < LKS_COUNT(rooms); i++) {
        lks_test_case("room for %zu bytes", rooms[i]);
        struct sink sink = {.room = rooms[i]};
        struct lks_seal_stream *s = NULL;
        struct lks_err err = {0};
        lks_buf_init(&sink.bytes, OUT_MAX);
        CHECK_CODE(lks_seal_writer_new(&key, nonce, "backup", take, &sink, &s, &err), LKS_OK);
        CHECK_CODE(lks_seal_feed(s, lks_buf_view(&plain), &err), LKS_E_IO);
        CHECK_STR(lks_str_from(err.msg), "the disk is full");
        sink.room = OUT_MAX;
        CHECK_CODE(lks_seal_feed(s, LKS_STR("x"), &err), LKS_E_INVALID);
        CHECK_CODE(lks_seal_end(s, &err), LKS_E_INVALID);
        CHECK_INT(sink.bytes.len, rooms[i]);
        lks_seal_free(s);
        lks_buf_fini(&sink.bytes);
    }
}

#define HEX64 "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
static const struct {
    const char *name, *text;
    bool good;
} keys[] = {
    {"digits", HEX64, true},
    {"a line", HEX64 "\n", true},
    {"blanks around", "  " HEX64 " \r\n \n", true},
    {"nothing", "", false},
    {"a digit less", "0112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", false},
    {"a digit more", HEX64 "0", false},
    {"two keys", HEX64 "\n" HEX64, false},
    {"not digits", "zz112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", false},
};

static void test_keys(void)
{
    for (size_t i = 0; i < LKS_COUNT(keys); i++) {
        lks_test_case("%s", keys[i].name);
        struct lks_seal_key got = {.bytes = {7}};
        struct lks_err err = {0};
        CHECK_CODE(lks_seal_key_parse(lks_str_from(keys[i].text), &got, &err),
                   keys[i].good ? LKS_OK : LKS_E_INVALID);
        CHECK_INT(got.bytes[0], keys[i].good ? 0 : 7);
        CHECK(strstr(err.msg, "112233") == NULL);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"seal: sizes", test_sizes},
        {"seal: golden", test_golden},
        {"seal: wrong keys and purposes are told apart", test_told_apart},
        {"seal: nonces", test_nonces},
        {"seal: every bit counts", test_every_bit},
        {"seal: every cut is found", test_every_cut},
        {"seal: pieces keep their places", test_orders},
        {"seal: streams", test_streams},
        {"seal: a sink that fails", test_sink_fails},
        {"seal: keys", test_keys},
        {0},
    });
}
