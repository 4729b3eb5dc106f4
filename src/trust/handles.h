/* libcrypto's objects released by LKS_CLEANUP; for the files of this folder. */
#ifndef LKS_TRUST_HANDLES_H
#define LKS_TRUST_HANDLES_H

#include "base/compiler.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

static inline void lks_pkey_end(EVP_PKEY **pkey)
{
    EVP_PKEY_free(*pkey);
}

static inline void lks_pkey_ctx_end(EVP_PKEY_CTX **ctx)
{
    EVP_PKEY_CTX_free(*ctx);
}

static inline void lks_md_end(EVP_MD_CTX **ctx)
{
    EVP_MD_CTX_free(*ctx);
}

static inline void lks_bio_end(BIO **bio)
{
    BIO_free(*bio);
}

static inline void lks_cert_end(X509 **cert)
{
    X509_free(*cert);
}

static inline void lks_request_end(X509_REQ **request)
{
    X509_REQ_free(*request);
}

static inline void lks_names_end(GENERAL_NAMES **names)
{
    GENERAL_NAMES_free(*names);
}

#endif
