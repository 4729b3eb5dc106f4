/* Keys, requests and certificates as texts; for the files of this folder. */
#ifndef LKS_TRUST_X509_PEM_H
#define LKS_TRUST_X509_PEM_H

#include "trust/handles.h"
#include "trust/x509.h"

/* Each is NULL for what cannot be read, or is larger than LKS_X509_PEM_MAX. A key that is locked
 * with a password cannot be read: there is no prompt. */
EVP_PKEY *lks_x509_pem_key(struct lks_str pem);
X509_REQ *lks_x509_pem_request(struct lks_str pem);
X509 *lks_x509_pem_cert(struct lks_str pem_or_der);

/* Whether it is a key as we make them. */
bool lks_x509_pem_p256(const EVP_PKEY *key);

/* What libcrypto failed to do, without its own words: they may quote what was read. */
enum lks_code lks_x509_pem_fail(const char *what, struct lks_err *err) LKS_MUST_CHECK;

/* Append what was written to `bio` to `out`. */
enum lks_code lks_x509_pem_add(BIO *bio, struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

#endif
