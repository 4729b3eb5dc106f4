#include "trust/key.h"

#include "codec/format/base64.h"
#include "trust/handles.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/params.h>

#define PREFIX "ed25519:"

enum lks_code lks_key_make(const uint8_t seed[LKS_KEY_BYTES], struct lks_key *out,
                           struct lks_err *err)
{
    uint8_t public[LKS_KEY_BYTES];
    size_t len = sizeof(public);
    LKS_CLEANUP(lks_pkey_end)
    EVP_PKEY *pkey = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, LKS_KEY_BYTES);
    if (pkey == NULL || EVP_PKEY_get_raw_public_key(pkey, public, &len) != 1 ||
        len != sizeof(public))
        return lks_fail(err, LKS_E_IO, "Ed25519 is not available in this libcrypto");
    memcpy(out->seed, seed, sizeof(out->seed));
    memcpy(out->public, public, sizeof(out->public));
    return LKS_OK;
}

void lks_key_wipe(struct lks_key *key)
{
    OPENSSL_cleanse(key, sizeof(*key));
}

struct lks_public_key lks_key_public(const struct lks_key *key)
{
    struct lks_public_key public;
    memcpy(public.bytes, key->public, sizeof(public.bytes));
    return public;
}

void lks_key_public_text(const struct lks_public_key *key, char out[LKS_KEY_TEXT_SIZE])
{
    _Static_assert(sizeof(PREFIX) + (LKS_KEY_BYTES + 2) / 3 * (size_t)4 <= LKS_KEY_TEXT_SIZE,
                   "fits");
    memcpy(out, PREFIX, sizeof(PREFIX) - 1);
    EVP_EncodeBlock((unsigned char *)out + sizeof(PREFIX) - 1, key->bytes, LKS_KEY_BYTES);
}

enum lks_code lks_key_public_parse(struct lks_str text, struct lks_public_key *out,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_KEY_TEXT_SIZE);
    struct lks_str kind, rest;
    lks_str_cut(text, ':', &kind, &rest);
    if (!lks_str_is(kind, "ed25519") || lks_base64_read(rest, &bytes, err) != LKS_OK ||
        bytes.len != sizeof(out->bytes))
        return lks_fail(err, LKS_E_INVALID, "public key: not \"" PREFIX "\" and %d bytes in base64",
                        LKS_KEY_BYTES);
    memcpy(out->bytes, bytes.ptr, sizeof(out->bytes));
    return LKS_OK;
}

enum lks_code lks_key_public_file(const char *path, struct lks_str text, struct lks_public_key *out,
                                  struct lks_err *err)
{
    struct lks_str line, rest;
    lks_str_cut(text, '\n', &line, &rest);
    if (lks_key_public_parse(lks_str_trim(line), out, err) != LKS_OK)
        return lks_wrap(err, "%s", path);
    return LKS_OK;
}

/* With both halves: from the secret one alone libcrypto would compute the public one anew, and that
 * takes as long as a signature. NULL: it could not be made. */
static EVP_PKEY *both_halves(const struct lks_key *key)
{
    EVP_PKEY *pkey = NULL;
    struct lks_key copy = *key; /* parameters are not const */
    LKS_CLEANUP(lks_pkey_ctx_end)
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "ED25519", NULL);
    OSSL_PARAM halves[] = {
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, copy.seed, sizeof(copy.seed)),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, copy.public,
                                          sizeof(copy.public)),
        OSSL_PARAM_construct_end(),
    };
    bool made = ctx != NULL && EVP_PKEY_fromdata_init(ctx) == 1 &&
                EVP_PKEY_fromdata(ctx, &pkey, EVP_PKEY_KEYPAIR, halves) == 1;
    lks_key_wipe(&copy);
    return made ? pkey : NULL;
}

enum lks_code lks_key_sign(const struct lks_key *key, struct lks_str message,
                           uint8_t out[LKS_SIGNATURE_BYTES], struct lks_err *err)
{
    size_t len = LKS_SIGNATURE_BYTES;
    LKS_CLEANUP(lks_pkey_end) EVP_PKEY *pkey = both_halves(key);
    LKS_CLEANUP(lks_md_end) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    if (pkey == NULL || ctx == NULL || EVP_DigestSignInit(ctx, NULL, NULL, NULL, pkey) != 1 ||
        EVP_DigestSign(ctx, out, &len, (const unsigned char *)message.ptr, message.len) != 1)
        return lks_fail(err, LKS_E_IO, "libcrypto could not sign with Ed25519");
    return LKS_OK;
}

bool lks_key_verify(const struct lks_public_key *key, struct lks_str message,
                    const uint8_t signature[LKS_SIGNATURE_BYTES])
{
    LKS_CLEANUP(lks_pkey_end)
    EVP_PKEY *pkey = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key->bytes, LKS_KEY_BYTES);
    LKS_CLEANUP(lks_md_end) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool good = pkey != NULL && ctx != NULL &&
                EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, pkey) == 1 &&
                EVP_DigestVerify(ctx, signature, LKS_SIGNATURE_BYTES,
                                 (const unsigned char *)message.ptr, message.len) == 1;
    ERR_clear_error(); /* a refusal of ours is not the next caller's failure */
    return good;
}
