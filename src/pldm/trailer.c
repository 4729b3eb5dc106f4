#include "pldm/trailer.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

enum {
    HEAD = 16,
    SIZE = 2, /* of the numbers in front of key and signature */
    MAJOR = 3,
    SIGNATURE_MAX = 0x68, /* DER of two numbers of 384 bits */
};

static const uint8_t magic[] = {0x5f, 0x32, 0xcb, 0x08};

static void pkey_end(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

static void ctx_end(EVP_PKEY_CTX **ctx)
{
    EVP_PKEY_CTX_free(*ctx);
}

/* Unlike all the rest of a package, the most significant byte comes first. */
static uint32_t big_number(struct lks_str s, size_t at, size_t width)
{
    uint32_t value = 0;
    for (size_t i = 0; i < width; i++)
        value = value << 8 | (uint8_t)s.ptr[at + i];
    return value;
}

bool lks_pldm_trailer_is(struct lks_str tail)
{
    return tail.len == LKS_PLDM_TRAILER_BYTES && memcmp(tail.ptr, magic, sizeof(magic)) == 0;
}

/* What a number of 16 bits at `at` says is behind it; false: it is not within the trailer. */
static bool take_sized(struct lks_str tail, size_t at, struct lks_str *out)
{
    if (at > tail.len || tail.len - at < SIZE)
        return false;
    size_t len = big_number(tail, at, SIZE);
    if (len > tail.len - at - SIZE)
        return false;
    *out = (struct lks_str){tail.ptr + at + SIZE, len};
    return true;
}

enum lks_code lks_pldm_trailer_parse(struct lks_str tail, uint64_t at, struct lks_pldm_trailer *out,
                                     struct lks_err *err)
{
    if (!lks_pldm_trailer_is(tail))
        return lks_fail(err, LKS_E_INVALID, "no signature trailer");
    struct lks_pldm_trailer t = {
        .major = (uint8_t)tail.ptr[4],
        .minor = (uint8_t)tail.ptr[5],
        .security_version = (uint8_t)tail.ptr[6],
        .payload_size = big_number(tail, 9, 4),
    };
    size_t signature_at = big_number(tail, 7, 2), key_at = big_number(tail, 14, 2);
    unsigned kind = (uint8_t)tail.ptr[13];
    if (t.major != MAJOR)
        return lks_fail(err, LKS_E_INVALID,
                        "a signature trailer of version %u; only version 3 is known", t.major);
    if (kind != 0)
        return lks_fail(err, LKS_E_INVALID, "a signature trailer with an unknown algorithm: %u",
                        kind);
    if (key_at != HEAD || !take_sized(tail, key_at, &t.key) || t.key.len == 0)
        return lks_fail(err, LKS_E_INVALID, "the key is not within the signature trailer");
    size_t key_end = HEAD + SIZE + t.key.len;
    if (signature_at < key_end || !take_sized(tail, signature_at, &t.signature) ||
        t.signature.len == 0 || t.signature.len > SIGNATURE_MAX)
        return lks_fail(err, LKS_E_INVALID, "the signature is not within the signature trailer");
    t.signed_size = at + key_end;
    *out = t;
    return LKS_OK;
}

static bool is_good(const struct lks_pin *pin, struct lks_str signature, const uint8_t *digest)
{
    const unsigned char *der = pin->bytes;
    LKS_CLEANUP(pkey_end) EVP_PKEY *key = d2i_PUBKEY(NULL, &der, (long)pin->len);
    LKS_CLEANUP(ctx_end) EVP_PKEY_CTX *ctx = key != NULL ? EVP_PKEY_CTX_new(key, NULL) : NULL;
    bool good = ctx != NULL && EVP_PKEY_verify_init(ctx) == 1 &&
                EVP_PKEY_verify(ctx, (const unsigned char *)signature.ptr, signature.len, digest,
                                LKS_PLDM_SIGNED_DIGEST_BYTES) == 1;
    ERR_clear_error();
    return good;
}

enum lks_code lks_pldm_trailer_verify(const struct lks_pldm_trailer *t,
                                      const uint8_t digest[LKS_PLDM_SIGNED_DIGEST_BYTES],
                                      const struct lks_pin *pin, struct lks_err *err)
{
    struct lks_pin embedded;
    if (pin == NULL) {
        if (lks_signature_pin_parse(t->key, &embedded, err) != LKS_OK)
            return lks_wrap(err, "the key in the signature trailer");
        pin = &embedded;
    }
    if (pin->kind != LKS_PIN_P384)
        return lks_fail(err, LKS_E_INVALID,
                        "a signature trailer is made with a P-384 key, and this is a %s one",
                        lks_pin_kind_words[pin->kind]);
    if (!is_good(pin, t->signature, digest))
        return lks_fail(err, LKS_E_REFUSED, "the signature is not that of this file by %s",
                        pin == &embedded ? "the key that comes with it" : "the pinned key");
    return LKS_OK;
}
