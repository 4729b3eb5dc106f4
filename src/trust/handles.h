/* libcrypto's objects released by LKS_CLEANUP; for the files of this folder. */
#ifndef LKS_TRUST_HANDLES_H
#define LKS_TRUST_HANDLES_H

#include "base/compiler.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/* A type takes no parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define LKS_TRUST_END(name, type, release)                                                         \
    static inline void name(type **at)                                                             \
    {                                                                                              \
        release(*at);                                                                              \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

LKS_TRUST_END(lks_pkey_end, EVP_PKEY, EVP_PKEY_free)
LKS_TRUST_END(lks_pkey_ctx_end, EVP_PKEY_CTX, EVP_PKEY_CTX_free)
LKS_TRUST_END(lks_md_end, EVP_MD_CTX, EVP_MD_CTX_free)
LKS_TRUST_END(lks_bio_end, BIO, BIO_free)
LKS_TRUST_END(lks_cert_end, X509, X509_free)
LKS_TRUST_END(lks_request_end, X509_REQ, X509_REQ_free)
LKS_TRUST_END(lks_names_end, GENERAL_NAMES, GENERAL_NAMES_free)

#endif
