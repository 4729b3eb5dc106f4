#include "codec/format/digest.h"

#include "base/buf.h"
#include "tests/test.h"

/* FIPS 180-4 and its examples; the last two are longer than a block of the hash. */
static const struct {
    const char *name;
    const char *bytes;
    const char *digest;
} vectors[] = {
    {"nothing", "",
     "sha256:"
     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "abc",
     "sha256:"
     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"448 bits", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "sha256:"
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"896 bits",
     "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
     "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
     "sha256:"
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
};

static void test_vectors(void)
{
    for (size_t i = 0; i < LKS_COUNT(vectors); i++) {
        lks_test_case("%s", vectors[i].name);
        char digest[LKS_DIGEST_SIZE];
        struct lks_err err = {0};
        CHECK_CODE(lks_digest_text(lks_str_from(vectors[i].bytes), digest, &err), LKS_OK);
        CHECK_STR(lks_str_from(digest), vectors[i].digest);
    }
}

static void test_million(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1000000);
    char digest[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    lks_buf_pad(&text, 'a', 1000000);
    CHECK_CODE(lks_digest_text(lks_buf_view(&text), digest, &err), LKS_OK);
    CHECK_STR(lks_str_from(digest),
              "sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* All bytes count, the zero byte and what follows it too. */
static void test_zero_byte(void)
{
    char with[LKS_DIGEST_SIZE], without[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    CHECK_CODE(lks_digest_text(LKS_STR("a\0b"), with, &err), LKS_OK);
    CHECK_CODE(lks_digest_text(LKS_STR("a"), without, &err), LKS_OK);
    CHECK(strcmp(with, without) != 0);
    CHECK_INT(strlen(with), LKS_DIGEST_SIZE - 1);
}

#define HEX63 "23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0"
static const struct {
    const char *text;
    bool valid;
} texts[] = {
    {"sha256:1" HEX63, true},
    {"sha256:" HEX63, false},
    {"sha256:11" HEX63, false},
    {"sha256:A" HEX63, false},
    {"sha256:g" HEX63, false},
    {"sha256 1" HEX63, false},
    {"sha512:1" HEX63, false},
    {"SHA256:1" HEX63, false},
    {"1" HEX63, false},
    {"sha256:", false},
    {"", false},
    {" sha256:1" HEX63, false},
    {"sha256:1" HEX63 "\n", false},
};

static void test_valid(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        lks_test_case("'%s'", texts[i].text);
        CHECK_INT(lks_digest_valid(lks_str_from(texts[i].text)), texts[i].valid);
    }
}

/* As bytes, and back; what is none leaves them as they were. */
static void test_bytes(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        uint8_t bytes[LKS_DIGEST_BYTES] = {7};
        char text[LKS_DIGEST_SIZE];
        lks_test_case("'%s'", texts[i].text);
        CHECK(lks_digest_read(lks_str_from(texts[i].text), bytes) == texts[i].valid);
        CHECK_INT(bytes[0], texts[i].valid ? 0x12 : 7);
        if (texts[i].valid)
            CHECK_STR(lks_str_from(lks_digest_write(bytes, text)), texts[i].text);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"digest: vectors", test_vectors},
        {"digest: a million bytes", test_million},
        {"digest: zero byte", test_zero_byte},
        {"digest: as we write it", test_valid},
        {"digest: as bytes", test_bytes},
        {0},
    });
}
