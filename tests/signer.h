/* Keys of an identity provider for tests: what it publishes, and tokens that it signs. */
#ifndef LKS_TESTS_SIGNER_H
#define LKS_TESTS_SIGNER_H

#include "base/buf.h"

#include <openssl/types.h>

struct lks_signer {
    EVP_PKEY *key;
    bool rsa;
    char id[32];
};

/* An RSA key of so many bits, or a P-256 key where that is 0. A failure is a failed check. */
void lks_signer_make(struct lks_signer *s, unsigned bits, const char *id);
void lks_signer_fini(struct lks_signer *s);

/* Append the public key as a member of a key set, without a comma. */
void lks_signer_key(const struct lks_signer *s, struct lks_buf *out);

/* Append a token. `header` NULL: as its algorithm and id say. */
void lks_signer_token(const struct lks_signer *s, const char *header, const char *claims,
                      struct lks_buf *out);

#endif
