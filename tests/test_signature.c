#include "trust/signature.h"

#include "codec/format/base64.h"
#include "tests/test.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>

#define MESSAGE LKS_STR("{\"name\":\"b\"}")

enum { TEXT_MAX = 8192 };

/* Keys of libcrypto's own making, as a vendor has them ---------------------------------------- */

enum vendor { ED25519, P256, P384, P521, RSA2048, VENDORS };

static EVP_PKEY *vendor_key(enum vendor which)
{
    static EVP_PKEY *keys[VENDORS];
    if (keys[which] == NULL) {
        keys[which] = which == ED25519 ? EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")
                      : which == P256  ? EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256")
                      : which == P384  ? EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-384")
                      : which == P521  ? EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-521")
                                       : EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)2048);
        LKS_ASSERT(keys[which] != NULL);
    }
    return keys[which];
}

static void vendor_pem(enum vendor which, bool private, struct lks_buf *out)
{
    char *bytes = NULL;
    BIO *bio = BIO_new(BIO_s_mem());
    EVP_PKEY *key = vendor_key(which);
    LKS_ASSERT(bio != NULL);
    int ok = private ? PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL)
                     : PEM_write_bio_PUBKEY(bio, key);
    LKS_ASSERT(ok == 1);
    long len = BIO_get_mem_data(bio, &bytes);
    lks_buf_init(out, TEXT_MAX);
    lks_buf_add(out, (struct lks_str){bytes, (size_t)len});
    BIO_free(bio);
}

static struct lks_pin vendor_pin(enum vendor which)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = {0};
    struct lks_pin pin = {0};
    struct lks_err err = {0};
    vendor_pem(which, false, &pem);
    CHECK_CODE(lks_signature_pin_parse(lks_buf_view(&pem), &pin, &err), LKS_OK);
    return pin;
}

/* As `openssl dgst -HASH -sign` and `openssl pkeyutl -sign -rawin` do it. */
static struct lks_str vendor_sign(enum vendor which, const EVP_MD *hash, struct lks_str message,
                                  uint8_t out[512])
{
    size_t len = 512;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    LKS_ASSERT(ctx != NULL && EVP_DigestSignInit(ctx, NULL, hash, NULL, vendor_key(which)) == 1 &&
               EVP_DigestSign(ctx, out, &len, (const unsigned char *)message.ptr, message.len) ==
                   1);
    EVP_MD_CTX_free(ctx);
    return (struct lks_str){(const char *)out, len};
}

/* Keys ---------------------------------------------------------------------------------------- */

static const struct {
    enum vendor vendor;
    enum lks_pin_kind kind;
    const char *prefix;
} taken[] = {
    {ED25519, LKS_PIN_ED25519, "ed25519:"},
    {P256, LKS_PIN_P256, "p256:"},
    {P384, LKS_PIN_P384, "p384:"},
};

static bool is_same(const struct lks_pin *a, const struct lks_pin *b)
{
    return a->kind == b->kind && a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0 &&
           strcmp(a->fingerprint, b->fingerprint) == 0;
}

/* PEM, the line we write of it, and the same with blanks around it are one key. */
static void test_keys(void)
{
    for (size_t i = 0; i < LKS_COUNT(taken); i++) {
        lks_test_case("%s", taken[i].prefix);
        struct lks_pin pin = vendor_pin(taken[i].vendor), again = {0};
        struct lks_err err = {0};
        char line[LKS_PIN_LINE_SIZE], padded[LKS_PIN_LINE_SIZE + 8];
        lks_signature_pin_text(&pin, line);
        CHECK_INT(pin.kind, taken[i].kind);
        CHECK(lks_str_starts(lks_str_from(line), taken[i].prefix));
        CHECK(lks_digest_valid(lks_str_from(pin.fingerprint)));
        snprintf(padded, sizeof(padded), "\n %s \r\n", line);
        CHECK_CODE(lks_signature_pin_parse(lks_str_from(padded), &again, &err), LKS_OK);
        CHECK(is_same(&again, &pin));
    }
}

/* The fingerprint is what openssl pkey -pubin -outform DER | sha256sum says: RFC 8410's key. */
static void test_fingerprint(void)
{
    static const char pem[] = "# of RFC 8410, section 10.1\n"
                              "-----BEGIN PUBLIC KEY-----\n"
                              "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
                              "-----END PUBLIC KEY-----\n";
    struct lks_pin pin = {0};
    struct lks_err err = {0};
    char line[LKS_PIN_LINE_SIZE], want[LKS_DIGEST_SIZE];
    LKS_CLEANUP(lks_buf_fini) struct lks_buf der = LKS_BUF(TEXT_MAX);
    CHECK_CODE(lks_signature_pin_parse(lks_str_from(pem), &pin, &err), LKS_OK);
    lks_signature_pin_text(&pin, line);
    CHECK_STR(lks_str_from(line), "ed25519:Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=");
    LKS_ASSERT(
        lks_base64_read(LKS_STR("MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="),
                        &der, &err) == LKS_OK &&
        lks_digest_text(lks_buf_view(&der), want, &err) == LKS_OK);
    CHECK_STR(lks_str_from(pin.fingerprint), want);
}

/* A point that is written shorter is the same point. */
static void test_compressed(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = {0};
    struct lks_pin pin = vendor_pin(P256), again = {0};
    struct lks_err err = {0};
    LKS_ASSERT(EVP_PKEY_set_utf8_string_param(vendor_key(P256),
                                              OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT,
                                              "compressed") == 1);
    vendor_pem(P256, false, &pem);
    CHECK_CODE(lks_signature_pin_parse(lks_buf_view(&pem), &again, &err), LKS_OK);
    CHECK_STR(lks_str_from(again.fingerprint), pin.fingerprint);
    LKS_ASSERT(EVP_PKEY_set_utf8_string_param(vendor_key(P256),
                                              OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT,
                                              "uncompressed") == 1);
}

#define ED_LINE  "ed25519:Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="
#define NO_KEY   "public key: expected ed25519:, p256: or p384: and base64 on one line, or PEM"
#define NO_KINDS "public key: it is neither Ed25519 nor ECDSA on P-256 or P-384"

static const struct {
    const char *name, *text, *message;
} refused[] = {
    {"nothing", "", NO_KEY},
    {"another word", "rsa:AAAA", NO_KEY},
    {"a point that anybody can sign for", "ed25519:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
     "public key: it is no real one, anybody can sign for it"},
    {"another one, with its sign", "ed25519:xxdqcD1N2E+6PAt2DRBnDyogU/osOczGTsf9d5KsA/o=",
     "public key: it is no real one, anybody can sign for it"},
    {"no base64", "ed25519:%", NO_KEY},
    {"no key in it", "ed25519:", NO_KEY},
    {"31 bytes", "ed25519:Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZg==",
     "public key: what follows ed25519: is no such key"},
    {"two lines", ED_LINE "\n" ED_LINE, NO_KEY},
    {"Ed25519 that says it is P-256",
     "p256:MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=",
     "public key: what follows p256: is no such key"},
    {"DER and a byte more", "p256:MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuEA",
     "public key: what follows p256: is no such key"},
    {"a certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
     "public key: no PEM with a public key in it"},
};

static void test_refused_keys(void)
{
    struct lks_pin pin = {0};
    struct lks_err err = {0};
    for (size_t i = 0; i < LKS_COUNT(refused); i++) {
        lks_test_case("%s", refused[i].name);
        CHECK_CODE(lks_signature_pin_parse(lks_str_from(refused[i].text), &pin, &err),
                   LKS_E_INVALID);
        CHECK_STR(lks_str_from(err.msg), refused[i].message);
        CHECK_INT(pin.len, 0);
    }
    for (enum vendor v = P521; v <= RSA2048; v++) {
        lks_test_case("vendor %d", (int)v);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = {0};
        vendor_pem(v, false, &pem);
        CHECK_CODE(lks_signature_pin_parse(lks_buf_view(&pem), &pin, &err), LKS_E_INVALID);
        CHECK_STR(lks_str_from(err.msg), NO_KINDS);
    }
    lks_test_case("a private key");
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = {0};
    vendor_pem(P256, true, &pem);
    CHECK_CODE(lks_signature_pin_parse(lks_buf_view(&pem), &pin, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "this is a private key");
    lks_test_case("too long");
    lks_buf_pad(&pem, ' ', (ptrdiff_t)LKS_PIN_TEXT_MAX);
    CHECK_CODE(lks_signature_pin_parse(lks_buf_view(&pem), &pin, &err), LKS_E_LIMIT);
}

static void test_names(void)
{
    static const struct {
        const char *name;
        bool ok;
    } names[] = {{"nvidia", true}, {"site-2026", true}, {"", false},    {"Nvidia", false},
                 {"a/b", false},   {"..", false},       {".key", false}};
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        lks_test_case("'%s'", names[i].name);
        CHECK(lks_signature_pin_name(lks_str_from(names[i].name)) == names[i].ok);
    }
}

/* Signatures ---------------------------------------------------------------------------------- */

static bool good(struct lks_str text, const struct lks_pin *pin, struct lks_str message)
{
    struct lks_signature s = {0};
    struct lks_err err = {0};
    return lks_signature_parse(text, &s, &err) == LKS_OK && lks_signature_good(&s, pin, message);
}

/* Bytes, base64 in one line and in lines of 64, JSON. */
static void check_forms(struct lks_str raw, const struct lks_pin *pin)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf one = {0}, lines = {0}, json = {0};
    struct lks_signature s = {0};
    struct lks_err err = {0};
    lks_buf_init(&one, TEXT_MAX);
    lks_buf_init(&lines, TEXT_MAX);
    lks_buf_init(&json, TEXT_MAX);
    lks_base64_add(&one, raw);
    for (size_t i = 0; i < one.len; i++) {
        lks_buf_addc(&lines, one.ptr[i]);
        if (i % 64 == 63)
            lks_buf_addc(&lines, '\n');
    }
    lks_buf_addc(&lines, '\n');
    CHECK(good(raw, pin, MESSAGE));
    CHECK(good(lks_buf_view(&one), pin, MESSAGE));
    CHECK(good(lks_buf_view(&lines), pin, MESSAGE));
    CHECK_CODE(lks_signature_parse(raw, &s, &err), LKS_OK);
    CHECK(!s.said && s.key[0] == '\0' && !s.site);
    s.said = true;
    s.kind = pin->kind;
    s.site = true;
    memcpy(s.key, pin->fingerprint, sizeof(s.key));
    lks_signature_write(&s, &json);
    CHECK(good(lks_buf_view(&json), pin, MESSAGE));
    struct lks_signature back = {0};
    CHECK_CODE(lks_signature_parse(lks_buf_view(&json), &back, &err), LKS_OK);
    CHECK(back.site && back.said && back.kind == s.kind && strcmp(back.key, s.key) == 0);
    CHECK(back.len == s.len && memcmp(back.bytes, s.bytes, s.len) == 0);
}

static const struct {
    const char *name;
    enum vendor vendor;
    const EVP_MD *(*hash)(void);
    enum vendor pinned;
    bool good;
} signers[] = {
    {"Ed25519", ED25519, NULL, ED25519, true},
    {"P-256 with SHA-256", P256, EVP_sha256, P256, true},
    {"P-384 with SHA-384", P384, EVP_sha384, P384, true},
    {"P-256 with SHA-384", P256, EVP_sha384, P256, false},
    {"P-256 with SHA-1", P256, EVP_sha1, P256, false},
    {"P-384 with SHA-256", P384, EVP_sha256, P384, false},
    {"P-256 against P-384", P256, EVP_sha256, P384, false},
    {"P-384 against P-256", P384, EVP_sha384, P256, false},
    {"Ed25519 against P-256", ED25519, NULL, P256, false},
    {"P-256 against Ed25519", P256, EVP_sha256, ED25519, false},
    {"RSA against P-256", RSA2048, EVP_sha256, P256, false},
};

static void test_signers(void)
{
    for (size_t i = 0; i < LKS_COUNT(signers); i++) {
        lks_test_case("%s", signers[i].name);
        uint8_t bytes[512];
        struct lks_pin pin = vendor_pin(signers[i].pinned);
        const EVP_MD *hash = signers[i].hash != NULL ? signers[i].hash() : NULL;
        struct lks_str raw = vendor_sign(signers[i].vendor, hash, MESSAGE, bytes);
        CHECK(good(raw, &pin, MESSAGE) == signers[i].good);
        if (!signers[i].good)
            continue;
        check_forms(raw, &pin);
        CHECK(!good(raw, &pin, LKS_STR("{\"name\":\"c\"}")));
        CHECK(!good(raw, &pin, LKS_STR("")));
        for (size_t len = 0; len < raw.len; len++) /* whatever is missing, it is not good */
            CHECK(!good((struct lks_str){raw.ptr, len}, &pin, MESSAGE));
        for (size_t at = 0; at < raw.len; at++) {
            bytes[at] ^= 1;
            CHECK(!good(raw, &pin, MESSAGE));
            bytes[at] ^= 1;
        }
    }
}

/* Another key of the same kind. */
static void test_wrong_key(void)
{
    uint8_t bytes[512], seed[LKS_KEY_BYTES] = {1};
    struct lks_key ours = {0};
    struct lks_pin pin = {0}, vendor = vendor_pin(ED25519);
    struct lks_signature s = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_key_make(seed, &ours, &err), LKS_OK);
    CHECK_CODE(lks_signature_pin_of(&ours, &pin, &err), LKS_OK);
    CHECK_CODE(lks_signature_make(&ours, MESSAGE, true, &s, &err), LKS_OK);
    CHECK(lks_signature_good(&s, &pin, MESSAGE) && s.site);
    CHECK_STR(lks_str_from(s.key), pin.fingerprint);
    CHECK(!lks_signature_good(&s, &vendor, MESSAGE));
    CHECK(!good(vendor_sign(ED25519, NULL, MESSAGE, bytes), &pin, MESSAGE));
}

/* With a private key as its owner keeps it. */
static void test_signing(void)
{
    struct lks_err err = {0};
    for (size_t i = 0; i < LKS_COUNT(taken); i++) {
        lks_test_case("%s", taken[i].prefix);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = {0};
        struct lks_signature s = {0};
        struct lks_pin pin = vendor_pin(taken[i].vendor), half = {0};
        vendor_pem(taken[i].vendor, true, &pem);
        CHECK_CODE(lks_signature_by(lks_buf_view(&pem), MESSAGE, false, &s, &err), LKS_OK);
        CHECK(lks_signature_good(&s, &pin, MESSAGE) && !s.site && s.said);
        CHECK(!lks_signature_good(&s, &pin, LKS_STR("another")));
        CHECK_CODE(lks_signature_pin_of_pem(lks_buf_view(&pem), &half, &err), LKS_OK);
        CHECK(is_same(&half, &pin));
    }
    lks_test_case("a key of our own");
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = {0}, other = {0};
    uint8_t seed[LKS_KEY_BYTES] = {7};
    struct lks_key key = {0};
    struct lks_pin pin = {0}, half = {0};
    struct lks_signature s = {0};
    lks_buf_init(&pem, TEXT_MAX);
    CHECK_CODE(lks_signature_pin_make(seed, &pem, &err), LKS_OK);
    CHECK_CODE(lks_key_make(seed, &key, &err), LKS_OK);
    CHECK_CODE(lks_signature_pin_of(&key, &pin, &err), LKS_OK);
    CHECK_CODE(lks_signature_pin_of_pem(lks_buf_view(&pem), &half, &err), LKS_OK);
    CHECK_STR(lks_str_from(half.fingerprint), pin.fingerprint);
    CHECK_CODE(lks_signature_by(lks_buf_view(&pem), MESSAGE, true, &s, &err), LKS_OK);
    CHECK(lks_signature_good(&s, &pin, MESSAGE) && s.site);
    lks_test_case("no key");
    CHECK_CODE(lks_signature_by(LKS_STR(""), MESSAGE, true, &s, &err), LKS_E_INVALID);
    vendor_pem(P256, false, &other); /* a public one */
    CHECK_CODE(lks_signature_by(lks_buf_view(&other), MESSAGE, true, &s, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "no PEM with a private key");
    lks_buf_fini(&other);
    vendor_pem(RSA2048, true, &other);
    CHECK_CODE(lks_signature_by(lks_buf_view(&other), MESSAGE, true, &s, &err), LKS_E_INVALID);
}

/* What a signature says of itself can only make it worse. */
static void test_confusion(void)
{
    uint8_t bytes[512];
    struct lks_pin pin = vendor_pin(P256), other = vendor_pin(P384);
    struct lks_signature s = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_signature_parse(vendor_sign(P256, EVP_sha256(), MESSAGE, bytes), &s, &err),
               LKS_OK);
    CHECK(lks_signature_good(&s, &pin, MESSAGE));
    s.said = true;
    for (size_t k = 0; k < LKS_PIN_KIND_COUNT; k++) {
        s.kind = (enum lks_pin_kind)k;
        CHECK(lks_signature_good(&s, &pin, MESSAGE) == (k == LKS_PIN_P256));
    }
    s.kind = LKS_PIN_P256;
    memcpy(s.key, other.fingerprint, sizeof(s.key));
    CHECK(!lks_signature_good(&s, &pin, MESSAGE));
}

#define B64                                                                                        \
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="
#define NO_FORM "signature: neither our JSON nor a signature's bytes nor these in base64"

static const struct {
    const char *name, *text, *message;
} unread[] = {
    {"nothing", "", NO_FORM},
    {"blanks", " \n \n", NO_FORM},
    {"words", "not a signature", NO_FORM},
    {"63 bytes",
     "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
     "signature: 63 bytes that are neither Ed25519 (64 bytes) nor ECDSA in DER"},
    {"DER that is longer than it says", "MAYCAQECAQEA",
     "signature: 9 bytes that are neither Ed25519 (64 bytes) nor ECDSA in DER"},
    {"JSON that ends early", "{\"signature\":", "signature:1:"},
    {"JSON without a signature", "{\"algorithm\":\"ed25519\"}",
     "signature: the member 'signature' is missing"},
    {"an algorithm nobody has", "{\"algorithm\":\"rsa\",\"signature\":\"" B64 "\"}",
     "signature: 'algorithm' is not what a signature says"},
    {"a key that is no fingerprint", "{\"key\":\"me\",\"signature\":\"" B64 "\"}",
     "signature: 'key' is not what a signature says"},
    {"more than we know", "{\"expires\":\"2030\",\"signature\":\"" B64 "\"}",
     "signature: 'expires' is not what a signature says"},
    {"a number", "{\"signature\":1}", "signature: 'signature' is not what a signature says"},
    {"an empty one", "{\"signature\":\"\"}", NO_FORM},
};

/* Text that is as long as bytes would be, or begins as they do, is text. */
static void test_looks_like_bytes(void)
{
    static const char base64[] =
        "0VAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==";
    static const char object[] =
        "{\"signature\":\"MCACAQECAQEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==\"}";
    struct lks_signature s = {0};
    struct lks_err err = {0};
    CHECK_INT(strlen(base64), 'V' + 2); /* '0' and that length: a sequence in DER */
    CHECK_CODE(lks_signature_parse(lks_str_from(base64), &s, &err), LKS_OK);
    CHECK_INT(s.len, LKS_SIGNATURE_BYTES);
    CHECK_INT(strlen(object), LKS_SIGNATURE_BYTES);
    CHECK_CODE(lks_signature_parse(lks_str_from(object), &s, &err), LKS_OK);
    CHECK_INT(s.len, 34);
}

/* A sequence in DER fits to its last byte, and no further. */
static void test_longest(void)
{
    for (size_t len = LKS_SIGNATURE_BYTES_MAX; len <= LKS_SIGNATURE_BYTES_MAX + 1; len++) {
        char bytes[LKS_SIGNATURE_BYTES_MAX + 1] = {0x30, (char)(len - 2)};
        struct lks_signature s = {0};
        struct lks_err err = {0};
        lks_test_case("%zu bytes", len);
        bool fits = len <= LKS_SIGNATURE_BYTES_MAX;
        CHECK_CODE(lks_signature_parse((struct lks_str){bytes, len}, &s, &err),
                   fits ? LKS_OK : LKS_E_INVALID);
        CHECK_INT(s.len, fits ? len : 0);
    }
}

static void test_unread(void)
{
    for (size_t i = 0; i < LKS_COUNT(unread); i++) {
        lks_test_case("%s", unread[i].name);
        struct lks_signature s = {0};
        struct lks_err err = {0};
        CHECK_CODE(lks_signature_parse(lks_str_from(unread[i].text), &s, &err), LKS_E_INVALID);
        CHECK_HAS(lks_str_from(err.msg), unread[i].message);
        CHECK_INT(s.len, 0);
    }
    lks_test_case("too long");
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_SIGNATURE_TEXT_MAX * 2);
    struct lks_signature s = {0};
    struct lks_err err = {0};
    lks_buf_pad(&text, 'A', (ptrdiff_t)LKS_SIGNATURE_TEXT_MAX + 1);
    CHECK_CODE(lks_signature_parse(lks_buf_view(&text), &s, &err), LKS_E_LIMIT);
}

static const struct lks_test tests[] = {
    {"keys", test_keys},
    {"fingerprint", test_fingerprint},
    {"compressed points", test_compressed},
    {"keys that are refused", test_refused_keys},
    {"names", test_names},
    {"signers", test_signers},
    {"wrong key", test_wrong_key},
    {"signing", test_signing},
    {"confusion", test_confusion},
    {"looks like bytes", test_looks_like_bytes},
    {"longest", test_longest},
    {"unread", test_unread},
    {NULL, NULL},
};

int main(void)
{
    return lks_test_main(tests);
}
