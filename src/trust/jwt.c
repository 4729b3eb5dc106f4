#include "trust/jwt.h"

#include "base/buf.h"
#include "codec/format/base64.h"
#include "codec/format/json.h"
#include "trust/handles.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/param_build.h>
#include <string.h>

enum {
    P256_BYTES = 32,
    EXPONENT_BYTES = 8,
    DER_MAX = 128, /* of two numbers of P256_BYTES */
    AUDIENCES_MAX = 16,
};

/* Keys -------------------------------------------------------------------------------------- */

static void params_end(OSSL_PARAM **params)
{
    OSSL_PARAM_free(*params);
}

static void builder_end(OSSL_PARAM_BLD **builder)
{
    OSSL_PARAM_BLD_free(*builder);
}

static void context_end(EVP_PKEY_CTX **ctx)
{
    EVP_PKEY_CTX_free(*ctx);
}

static void number_end(BIGNUM **number)
{
    BN_free(*number);
}

static void ecdsa_end(ECDSA_SIG **signature)
{
    ECDSA_SIG_free(*signature);
}

/* NULL: libcrypto does not take it. */
static EVP_PKEY *make_key(const char *type, OSSL_PARAM *params)
{
    LKS_CLEANUP(context_end) EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    EVP_PKEY *key = NULL;
    if (ctx == NULL || EVP_PKEY_fromdata_init(ctx) != 1 ||
        EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
        return NULL;
    return key;
}

/* A member in base64url; false where it is missing or longer than `max`. */
static bool read_bytes(const struct lks_doc *jwk, const char *member, size_t max,
                       struct lks_buf *out)
{
    struct lks_err err = {0};
    lks_buf_init(out, max);
    return lks_base64_url_read(lks_doc_text(jwk, member), out, &err) == LKS_OK && out->len > 0;
}

static enum lks_code read_rsa(const struct lks_doc *jwk, struct lks_jwk *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf n = {0}, e = {0};
    LKS_CLEANUP(builder_end) OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    LKS_CLEANUP(params_end) OSSL_PARAM *params = NULL;
    LKS_CLEANUP(number_end) BIGNUM *modulus = NULL;
    LKS_CLEANUP(number_end) BIGNUM *exponent = NULL;
    if (!read_bytes(jwk, "n", LKS_JWT_RSA_MOST / 8, &n) ||
        !read_bytes(jwk, "e", EXPONENT_BYTES, &e))
        return lks_fail(err, LKS_E_INVALID,
                        "key '%s': n and e of an RSA key are base64url, of at "
                        "most %d bits",
                        out->id, LKS_JWT_RSA_MOST);
    modulus = BN_bin2bn((const uint8_t *)n.ptr, (int)n.len, NULL);
    exponent = BN_bin2bn((const uint8_t *)e.ptr, (int)e.len, NULL);
    if (builder == NULL || modulus == NULL || exponent == NULL)
        return lks_fail_nomem(err);
    if (BN_num_bits(modulus) < LKS_JWT_RSA_BITS || !BN_is_odd(exponent) || BN_is_one(exponent))
        return lks_fail(err, LKS_E_INVALID, "key '%s': an RSA key of %d bits; %d are the least",
                        out->id, BN_num_bits(modulus), LKS_JWT_RSA_BITS);
    if (OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent) == 1)
        params = OSSL_PARAM_BLD_to_param(builder);
    out->alg = LKS_JWT_RS256;
    out->key = params != NULL ? make_key("RSA", params) : NULL;
    return out->key != NULL ? LKS_OK
                            : lks_fail(err, LKS_E_INVALID, "key '%s' is no RSA key", out->id);
}

/* libcrypto refuses a point that is not on the curve. */
static enum lks_code read_ec(const struct lks_doc *jwk, struct lks_jwk *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf x = {0}, y = {0};
    uint8_t point[1 + 2 * P256_BYTES] = {POINT_CONVERSION_UNCOMPRESSED};
    char group[] = "P-256";
    if (!read_bytes(jwk, "x", P256_BYTES, &x) || !read_bytes(jwk, "y", P256_BYTES, &y) ||
        x.len != P256_BYTES || y.len != P256_BYTES)
        return lks_fail(err, LKS_E_INVALID, "key '%s': x and y of a P-256 key are %d bytes each",
                        out->id, P256_BYTES);
    memcpy(point + 1, x.ptr, P256_BYTES);
    memcpy(point + 1 + P256_BYTES, y.ptr, P256_BYTES);
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point)),
        OSSL_PARAM_construct_end(),
    };
    out->alg = LKS_JWT_ES256;
    out->key = make_key("EC", params);
    return out->key != NULL
               ? LKS_OK
               : lks_fail(err, LKS_E_INVALID, "key '%s' is no point of P-256", out->id);
}

/* Keys for encryption, other curves and other algorithms are of no use here, and no fault. */
static bool is_ours(const struct lks_doc *jwk)
{
    struct lks_str type = lks_doc_text(jwk, "kty"), use = lks_doc_text(jwk, "use");
    struct lks_str alg = lks_doc_text(jwk, "alg"), curve = lks_doc_text(jwk, "crv");
    bool rsa = lks_str_is(type, "RSA") && (alg.len == 0 || lks_str_is(alg, "RS256"));
    bool ec = lks_str_is(type, "EC") && lks_str_is(curve, "P-256") &&
              (alg.len == 0 || lks_str_is(alg, "ES256"));
    return (rsa || ec) && (use.len == 0 || lks_str_is(use, "sig")) &&
           lks_doc_text(jwk, "kid").len > 0;
}

static enum lks_code add_key(const struct lks_doc *jwk, struct lks_jwks *out, struct lks_err *err)
{
    struct lks_str id = lks_doc_text(jwk, "kid");
    if (out->count == LKS_JWKS_KEYS)
        return lks_fail(err, LKS_E_LIMIT, "more than %d keys", LKS_JWKS_KEYS);
    struct lks_jwk *key = &out->keys[out->count];
    if (id.len >= sizeof(key->id) || !lks_str_printable(id))
        return lks_fail(err, LKS_E_INVALID, "kid: expected less than %zu printable bytes",
                        sizeof(key->id));
    *key = (struct lks_jwk){0};
    memcpy(key->id, id.ptr, id.len);
    enum lks_code code = lks_str_is(lks_doc_text(jwk, "kty"), "RSA") ? read_rsa(jwk, key, err)
                                                                     : read_ec(jwk, key, err);
    out->count += code == LKS_OK;
    return code;
}

enum lks_code lks_jwt_keys_parse(struct lks_str json, struct lks_jwks *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    *out = (struct lks_jwks){0};
    if (json.len > LKS_JWKS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "keys: more than %zu bytes", LKS_JWKS_MAX);
    if (lks_docs_init(&docs, "keys", err) != LKS_OK || lks_json_parse(json, &docs, err) != LKS_OK)
        return err->code;
    const struct lks_doc *list = lks_doc_member(docs.first, "keys");
    if (list == NULL || list->kind != LKS_DOC_LIST)
        return lks_fail(err, LKS_E_INVALID, "keys: expected a list `keys`");
    for (const struct lks_doc *jwk = list->first; jwk != NULL; jwk = jwk->next) {
        if (is_ours(jwk) && add_key(jwk, out, err) != LKS_OK)
            return lks_wrap(err, "keys");
    }
    if (out->count == 0)
        return lks_fail(err, LKS_E_INVALID, "keys: none for RS256 or ES256 with a kid");
    return LKS_OK;
}

void lks_jwt_keys_fini(struct lks_jwks *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        EVP_PKEY_free(keys->keys[i].key);
    *keys = (struct lks_jwks){0};
}

/* Signatures -------------------------------------------------------------------------------- */

/* JWS has the two numbers side by side, libcrypto wants them as DER; its length, 0: none. */
static size_t to_der(struct lks_str raw, uint8_t out[DER_MAX])
{
    LKS_CLEANUP(ecdsa_end) ECDSA_SIG *signature = ECDSA_SIG_new();
    uint8_t *at = out;
    if (raw.len != (size_t)2 * P256_BYTES || signature == NULL)
        return 0;
    const uint8_t *bytes = (const uint8_t *)raw.ptr;
    BIGNUM *r = BN_bin2bn(bytes, P256_BYTES, NULL);
    BIGNUM *s = BN_bin2bn(bytes + P256_BYTES, P256_BYTES, NULL);
    if (r == NULL || s == NULL || ECDSA_SIG_set0(signature, r, s) != 1) {
        BN_free(r);
        BN_free(s);
        return 0;
    }
    int len = i2d_ECDSA_SIG(signature, NULL);
    return len > 0 && len <= DER_MAX ? (size_t)i2d_ECDSA_SIG(signature, &at) : 0;
}

static bool is_signed(const struct lks_jwk *key, struct lks_str text, struct lks_str signature)
{
    LKS_CLEANUP(lks_md_end) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    uint8_t der[DER_MAX];
    const uint8_t *bytes = (const uint8_t *)signature.ptr;
    size_t len = signature.len;
    if (key->alg == LKS_JWT_ES256) {
        len = to_der(signature, der);
        bytes = der;
    }
    return len > 0 && ctx != NULL &&
           EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, key->key) == 1 &&
           EVP_DigestVerify(ctx, bytes, len, (const uint8_t *)text.ptr, text.len) == 1;
}

/* Tokens ------------------------------------------------------------------------------------ */

struct parts {
    struct lks_str header, claims, signature; /* in base64url */
    struct lks_str text;                      /* that is signed */
};

static enum lks_code split(struct lks_str token, struct parts *out, struct lks_err *err)
{
    struct lks_str rest;
    if (token.len > LKS_JWT_MAX)
        return lks_fail(err, LKS_E_DENIED, "ID token: more than %zu bytes", LKS_JWT_MAX);
    if (!lks_str_cut(token, '.', &out->header, &rest) ||
        !lks_str_cut(rest, '.', &out->claims, &out->signature) ||
        memchr(out->signature.ptr, '.', out->signature.len) != NULL)
        return lks_fail(err, LKS_E_DENIED, "ID token: expected three parts with dots between");
    out->text = (struct lks_str){token.ptr, out->header.len + 1 + out->claims.len};
    return LKS_OK;
}

/* A part as the one document of `docs`. */
static enum lks_code read_part(struct lks_str part, const char *what, struct lks_docs *docs,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(LKS_JWT_MAX);
    struct lks_err why = {0};
    if (lks_base64_url_read(part, &json, &why) != LKS_OK)
        return lks_fail(err, LKS_E_DENIED, "ID token: its %s is not base64url", what);
    if (lks_json_parse(lks_buf_view(&json), docs, &why) != LKS_OK)
        return lks_fail(err, LKS_E_DENIED, "ID token: its %s is not JSON that is taken here: %s",
                        what, why.msg);
    return docs->first->kind == LKS_DOC_MAP
               ? LKS_OK
               : lks_fail(err, LKS_E_DENIED, "ID token: its %s is not a map", what);
}

/* The key that the header names; NULL, and `err` says why. */
static const struct lks_jwk *find_key(const struct lks_doc *header, const struct lks_jwks *keys,
                                      struct lks_err *err)
{
    struct lks_str alg = lks_doc_text(header, "alg"), id = lks_doc_text(header, "kid");
    bool rsa = lks_str_is(alg, "RS256");
    if (!rsa && !lks_str_is(alg, "ES256"))
        (void)!lks_fail(err, LKS_E_DENIED,
                        "ID token: signed with '%" LKS_STR_FMT "'; RS256 and ES256 are taken",
                        LKS_STR_ARG(alg));
    else if (lks_doc_member(header, "crit") != NULL)
        (void)!lks_fail(err, LKS_E_DENIED, "ID token: its header has `crit`, which is not taken");
    else if (id.len == 0)
        (void)!lks_fail(err, LKS_E_DENIED, "ID token: its header has no kid");
    else
        (void)!lks_fail(err, LKS_E_NOT_FOUND,
                        "ID token: the provider has no key '%" LKS_STR_FMT "' for %" LKS_STR_FMT,
                        LKS_STR_ARG(id), LKS_STR_ARG(alg));
    for (size_t i = 0; err->code == LKS_E_NOT_FOUND && i < keys->count; i++) {
        const struct lks_jwk *key = &keys->keys[i];
        if (lks_str_is(id, key->id) && key->alg == (rsa ? LKS_JWT_RS256 : LKS_JWT_ES256)) {
            *err = (struct lks_err){0};
            return key;
        }
    }
    return NULL;
}

/* Claims ------------------------------------------------------------------------------------ */

static bool has_audience(const struct lks_doc *aud, struct lks_str client)
{
    if (aud == NULL || aud->kind == LKS_DOC_TEXT)
        return aud != NULL && lks_str_eq(aud->text, client);
    if (aud->kind != LKS_DOC_LIST || aud->count > AUDIENCES_MAX)
        return false;
    for (const struct lks_doc *item = aud->first; item != NULL; item = item->next) {
        if (item->kind == LKS_DOC_TEXT && lks_str_eq(item->text, client))
            return true;
    }
    return false;
}

/* A token for several clients names the one it was given to. */
static enum lks_code check_names(const struct lks_doc *claims, const struct lks_jwt_want *want,
                                 struct lks_err *err)
{
    const struct lks_doc *aud = lks_doc_member(claims, "aud"), *azp = lks_doc_member(claims, "azp");
    struct lks_str issuer = lks_doc_text(claims, "iss");
    bool several = aud != NULL && aud->kind == LKS_DOC_LIST && aud->count > 1;
    if (!lks_str_eq(issuer, want->issuer))
        return lks_fail(err, LKS_E_DENIED,
                        "ID token: iss is '%" LKS_STR_FMT "', and the provider is %" LKS_STR_FMT,
                        LKS_STR_ARG(issuer), LKS_STR_ARG(want->issuer));
    if (!has_audience(aud, want->client))
        return lks_fail(err, LKS_E_DENIED, "ID token: aud is not %" LKS_STR_FMT,
                        LKS_STR_ARG(want->client));
    if ((several || azp != NULL) && !lks_str_eq(lks_doc_text(claims, "azp"), want->client))
        return lks_fail(err, LKS_E_DENIED, "ID token: azp is not %" LKS_STR_FMT,
                        LKS_STR_ARG(want->client));
    if (want->nonce.len > 0 && !lks_str_eq(lks_doc_text(claims, "nonce"), want->nonce))
        return lks_fail(err, LKS_E_DENIED, "ID token: nonce is not the one of this login");
    return LKS_OK;
}

/* Seconds since 1970 as ms; 0: there is none. */
static bool read_time(const struct lks_doc *claims, const char *name, lks_ms *out)
{
    const struct lks_doc *at = lks_doc_member(claims, name);
    *out = 0;
    if (at == NULL)
        return true;
    if (at->kind != LKS_DOC_NUMBER || at->number <= 0 ||
        (uint64_t)at->number > LKS_TIME_MAX / LKS_SECOND)
        return false;
    *out = (lks_ms)at->number * LKS_SECOND;
    return true;
}

static enum lks_code check_times(const struct lks_doc *claims, lks_ms wall, struct lks_err *err)
{
    lks_ms end, from, made;
    if (!read_time(claims, "exp", &end) || !read_time(claims, "nbf", &from) ||
        !read_time(claims, "iat", &made) || end == 0 || made == 0)
        return lks_fail(err, LKS_E_DENIED,
                        "ID token: exp and iat have to be there, and they and nbf whole seconds");
    if (wall >= end + LKS_JWT_SKEW)
        return lks_fail(err, LKS_E_DENIED,
                        "ID token: exp has passed; do the clocks of the provider "
                        "and this controller agree?");
    if (wall + LKS_JWT_SKEW < from || wall + LKS_JWT_SKEW < made)
        return lks_fail(err, LKS_E_DENIED,
                        "ID token: %s is in the future; do the clocks of the provider and this "
                        "controller agree?",
                        wall + LKS_JWT_SKEW < from ? "nbf" : "iat");
    return LKS_OK;
}

static enum lks_code check_signature(const struct parts *p, const struct lks_jwks *keys,
                                     struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs header = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf signature = LKS_BUF(LKS_JWT_RSA_MOST / 8);
    struct lks_err why = {0};
    if (lks_docs_init(&header, "header", err) != LKS_OK ||
        read_part(p->header, "header", &header, err) != LKS_OK)
        return err->code;
    const struct lks_jwk *key = find_key(header.first, keys, err);
    if (key == NULL)
        return err->code;
    if (lks_base64_url_read(p->signature, &signature, &why) != LKS_OK ||
        !is_signed(key, p->text, lks_buf_view(&signature)))
        return lks_fail(err, LKS_E_DENIED, "ID token: its signature is not one of key '%s'",
                        key->id);
    return LKS_OK;
}

enum lks_code lks_jwt_check(struct lks_str token, const struct lks_jwks *keys,
                            const struct lks_jwt_want *want, struct lks_docs *claims,
                            struct lks_err *err)
{
    struct parts p = {0};
    if (split(token, &p, err) != LKS_OK || check_signature(&p, keys, err) != LKS_OK ||
        read_part(p.claims, "payload", claims, err) != LKS_OK ||
        check_names(claims->first, want, err) != LKS_OK)
        return err->code;
    return check_times(claims->first, want->wall, err);
}
