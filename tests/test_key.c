#include "trust/key.h"

#include "codec/format/hex.h"
#include "tests/test.h"

/* RFC 8032 section 7.1, tests 1 to 3. */
static const struct {
    const char *seed, *public, *message, *signature;
} vectors[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b"
     "46bd25bf5f0595bbe24655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11"
     "d8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc"
     "6594a7c15e9716ed28dc027beceea1ec40a"},
};

static void test_vectors(void)
{
    for (size_t i = 0; i < LKS_COUNT(vectors); i++) {
        lks_test_case("RFC 8032, test %zu", i + 1);
        uint8_t seed[LKS_KEY_BYTES], public[LKS_KEY_BYTES], want[LKS_SIGNATURE_BYTES];
        uint8_t message[2], got[LKS_SIGNATURE_BYTES];
        struct lks_str hex = lks_str_from(vectors[i].message);
        LKS_ASSERT(lks_hex_read(lks_str_from(vectors[i].seed), seed, sizeof(seed)) &&
                   lks_hex_read(lks_str_from(vectors[i].public), public, sizeof(public)) &&
                   lks_hex_read(lks_str_from(vectors[i].signature), want, sizeof(want)) &&
                   lks_hex_read(hex, message, hex.len / 2));
        struct lks_key key = {0};
        struct lks_err err = {0};
        struct lks_str bytes = {(const char *)message, hex.len / 2};
        CHECK_CODE(lks_key_make(seed, &key, &err), LKS_OK);
        CHECK(memcmp(key.public, public, sizeof(public)) == 0);
        CHECK_CODE(lks_key_sign(&key, bytes, got, &err), LKS_OK);
        CHECK(memcmp(got, want, sizeof(want)) == 0);
        struct lks_public_key half = lks_key_public(&key);
        CHECK(lks_key_verify(&half, bytes, got));
    }
}

static struct lks_key made_of(uint8_t byte)
{
    uint8_t seed[LKS_KEY_BYTES];
    struct lks_key key = {0};
    struct lks_err err = {0};
    memset(seed, byte, sizeof(seed));
    LKS_ASSERT(lks_key_make(seed, &key, &err) == LKS_OK);
    return key;
}

static void test_not_verified(void)
{
    struct lks_key key = made_of(1), other = made_of(2);
    struct lks_public_key half = lks_key_public(&key), other_half = lks_key_public(&other);
    uint8_t signature[LKS_SIGNATURE_BYTES];
    struct lks_err err = {0};
    LKS_ASSERT(lks_key_sign(&key, LKS_STR("head"), signature, &err) == LKS_OK);
    CHECK(lks_key_verify(&half, LKS_STR("head"), signature));
    CHECK(!lks_key_verify(&half, LKS_STR("heat"), signature));
    CHECK(!lks_key_verify(&half, LKS_STR("heads"), signature));
    CHECK(!lks_key_verify(&half, LKS_STR(""), signature));
    CHECK(!lks_key_verify(&other_half, LKS_STR("head"), signature));
    for (size_t bit = 0; bit < LKS_SIGNATURE_BYTES * (size_t)8; bit++) {
        lks_test_case("bit %zu of the signature", bit);
        signature[bit / 8] ^= (uint8_t)(1U << bit % 8);
        CHECK(!lks_key_verify(&half, LKS_STR("head"), signature));
        signature[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
}

static void test_text(void)
{
    struct lks_key key = made_of(0);
    struct lks_public_key half = lks_key_public(&key), back = {0};
    char text[LKS_KEY_TEXT_SIZE];
    struct lks_err err = {0};
    lks_key_public_text(&half, text);
    CHECK_STR(lks_str_from(text), "ed25519:O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik=");
    CHECK_CODE(lks_key_public_parse(lks_str_from(text), &back, &err), LKS_OK);
    CHECK(memcmp(&half, &back, sizeof(half)) == 0);
}

static const struct {
    const char *name, *text;
} refused[] = {
    {"nothing", ""},
    {"no algorithm", "O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik="},
    {"another algorithm", "rsa:O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik="},
    {"no bytes", "ed25519:"},
    {"too few bytes", "ed25519:O2onvM62"},
    {"too many bytes", "ed25519:O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ikA"},
    {"far too many bytes",
     "ed25519:"
     "O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZO2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZO2on"},
    {"a line end", "ed25519:O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik=\n"},
    {"not base64", "ed25519:?2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik="},
};

static void test_refused(void)
{
    for (size_t i = 0; i < LKS_COUNT(refused); i++) {
        lks_test_case("%s", refused[i].name);
        struct lks_err err = {0};
        struct lks_public_key key = {.bytes = {7}};
        CHECK_CODE(lks_key_public_parse(lks_str_from(refused[i].text), &key, &err), LKS_E_INVALID);
        CHECK_HAS(lks_str_from(err.msg), "public key: ");
        CHECK_INT(key.bytes[0], 7);
    }
}

static void test_wiped(void)
{
    struct lks_key key = made_of(3), empty = {0};
    lks_key_wipe(&key);
    CHECK(memcmp(&key, &empty, sizeof(key)) == 0);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"key: known answers", test_vectors},
        {"key: what is not verified", test_not_verified},
        {"key: the public half as text", test_text},
        {"key: text refused", test_refused},
        {"key: wiped", test_wiped},
        {0},
    });
}
