/*
 * ID tokens of an identity provider (OpenID Connect): signed JSON in the compact form of RFC 7515,
 * and the provider's public keys as RFC 7517 writes them.
 *
 * Only RS256 and ES256 are taken, each with a key of its own kind: a token does not choose how it
 * is checked. Keys have an id, and the token names the one it is signed with. Headers that ask for
 * something more (`crit`, a key of their own) are refused or not looked at. Messages name claims
 * and never repeat a token.
 */
#ifndef LKS_TRUST_JWT_H
#define LKS_TRUST_JWT_H

#include "base/time.h"
#include "codec/format/docs.h"

#include <openssl/types.h>

#define LKS_JWT_MAX      ((size_t)64 << 10) /* bytes of a token */
#define LKS_JWKS_MAX     ((size_t)256 << 10)
#define LKS_JWKS_KEYS    32
#define LKS_JWT_ID_SIZE  256
#define LKS_JWT_RSA_BITS 2048
#define LKS_JWT_RSA_MOST 8192                      /* bits; larger ones are slow to check */
#define LKS_JWT_SKEW     ((lks_ms)60 * LKS_SECOND) /* that clocks may differ by */

enum lks_jwt_alg { LKS_JWT_RS256, LKS_JWT_ES256 };

struct lks_jwk {
    char id[LKS_JWT_ID_SIZE];
    enum lks_jwt_alg alg;
    EVP_PKEY *key; /* owned */
};

struct lks_jwks {
    struct lks_jwk keys[LKS_JWKS_KEYS];
    size_t count;
};

/* The keys of a provider that can be used here; others are passed over. It fails where none is
 * left, or one with our algorithms is weak or malformed. The caller owes lks_jwt_keys_fini(), also
 * after a failure. */
enum lks_code lks_jwt_keys_parse(struct lks_str json, struct lks_jwks *out,
                                 struct lks_err *err) LKS_MUST_CHECK;
void lks_jwt_keys_fini(struct lks_jwks *keys);

/* What a token has to say. */
struct lks_jwt_want {
    struct lks_str issuer, client;
    struct lks_str nonce; /* empty: the token was not asked for with one */
    lks_ms wall;
};

/* Check a token; its claims are then the one document of `claims`, which was initialised.
 * NOT_FOUND: the provider has no key of that id, or had none when it was asked; anything else that
 * is wrong with it is DENIED. */
enum lks_code lks_jwt_check(struct lks_str token, const struct lks_jwks *keys,
                            const struct lks_jwt_want *want, struct lks_docs *claims,
                            struct lks_err *err) LKS_MUST_CHECK;

#endif
