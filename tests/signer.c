#include "tests/signer.h"

#include "codec/format/base64.h"
#include "tests/test.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <string.h>

enum { HALF = 32, NUMBER_MAX = 1024, TEXT_MAX = 1 << 16 };

void lks_signer_make(struct lks_signer *s, unsigned bits, const char *id)
{
    *s = (struct lks_signer){.rsa = bits > 0};
    s->key = bits > 0 ? EVP_RSA_gen(bits) : EVP_EC_gen("P-256");
    CHECK(s->key != NULL);
    snprintf(s->id, sizeof(s->id), "%s", id);
}

void lks_signer_fini(struct lks_signer *s)
{
    EVP_PKEY_free(s->key);
    *s = (struct lks_signer){0};
}

/* A number of the key in base64url, `len` bytes of it; 0: as many as it has. */
static void add_number(const struct lks_signer *s, const char *name, size_t len,
                       struct lks_buf *out)
{
    BIGNUM *number = NULL;
    uint8_t bytes[NUMBER_MAX];
    if (!CHECK(EVP_PKEY_get_bn_param(s->key, name, &number) == 1))
        return;
    int count = len > 0 ? (int)len : BN_num_bytes(number);
    if (CHECK(BN_bn2binpad(number, bytes, count) == count))
        lks_base64_url_add(out, (struct lks_str){(const char *)bytes, (size_t)count});
    BN_free(number);
}

void lks_signer_key(const struct lks_signer *s, struct lks_buf *out)
{
    lks_buf_addf(out, "{\"kid\":\"%s\",\"use\":\"sig\",\"alg\":\"%s\",\"kty\":\"%s\",", s->id,
                 s->rsa ? "RS256" : "ES256", s->rsa ? "RSA" : "EC");
    lks_buf_addf(out, "%s", s->rsa ? "\"n\":\"" : "\"crv\":\"P-256\",\"x\":\"");
    add_number(s, s->rsa ? OSSL_PKEY_PARAM_RSA_N : OSSL_PKEY_PARAM_EC_PUB_X, s->rsa ? 0 : HALF,
               out);
    lks_buf_addf(out, "%s", s->rsa ? "\",\"e\":\"" : "\",\"y\":\"");
    add_number(s, s->rsa ? OSSL_PKEY_PARAM_RSA_E : OSSL_PKEY_PARAM_EC_PUB_Y, s->rsa ? 0 : HALF,
               out);
    lks_buf_addf(out, "\"}");
}

/* DER as the two numbers side by side. */
static size_t to_raw(uint8_t *bytes, size_t len)
{
    const uint8_t *at = bytes;
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &at, (long)len);
    if (!CHECK(signature != NULL))
        return 0;
    CHECK(BN_bn2binpad(ECDSA_SIG_get0_r(signature), bytes, HALF) == HALF);
    CHECK(BN_bn2binpad(ECDSA_SIG_get0_s(signature), bytes + HALF, HALF) == HALF);
    ECDSA_SIG_free(signature);
    return (size_t)2 * HALF;
}

void lks_signer_token(const struct lks_signer *s, const char *header, const char *claims,
                      struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    uint8_t signature[NUMBER_MAX];
    size_t len = sizeof(signature);
    char usual[96];
    snprintf(usual, sizeof(usual), "{\"alg\":\"%s\",\"kid\":\"%s\"}", s->rsa ? "RS256" : "ES256",
             s->id);
    lks_base64_url_add(&text, lks_str_from(header != NULL ? header : usual));
    lks_buf_addc(&text, '.');
    lks_base64_url_add(&text, lks_str_from(claims));
    CHECK(EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, s->key) == 1);
    CHECK(EVP_DigestSign(ctx, signature, &len, (const uint8_t *)text.ptr, text.len) == 1);
    EVP_MD_CTX_free(ctx);
    len = s->rsa ? len : to_raw(signature, len);
    lks_buf_add(out, lks_buf_view(&text));
    lks_buf_addc(out, '.');
    lks_base64_url_add(out, (struct lks_str){(const char *)signature, len});
}
