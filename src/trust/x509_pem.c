#include "trust/x509_pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>

/* Without one of its own, libcrypto would ask for a password on the terminal. */
static int no_password(char *buf, int size, int writing, void *ctx)
{
    (void)buf;
    (void)size;
    (void)writing;
    (void)ctx;
    return -1;
}

static BIO *bio_of(struct lks_str pem)
{
    return pem.len == 0 || pem.len > LKS_X509_PEM_MAX ? NULL
                                                      : BIO_new_mem_buf(pem.ptr, (int)pem.len);
}

EVP_PKEY *lks_x509_pem_key(struct lks_str pem)
{
    LKS_CLEANUP(lks_bio_end) BIO *bio = bio_of(pem);
    EVP_PKEY *key = bio == NULL ? NULL : PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
    ERR_clear_error();
    return key;
}

X509_REQ *lks_x509_pem_request(struct lks_str pem)
{
    LKS_CLEANUP(lks_bio_end) BIO *bio = bio_of(pem);
    X509_REQ *request = bio == NULL ? NULL : PEM_read_bio_X509_REQ(bio, NULL, no_password, NULL);
    ERR_clear_error();
    return request;
}

X509 *lks_x509_pem_cert(struct lks_str pem_or_der)
{
    LKS_CLEANUP(lks_bio_end) BIO *bio = bio_of(pem_or_der);
    X509 *cert = NULL;
    if (bio != NULL && pem_or_der.ptr[0] != '\x30') {
        cert = PEM_read_bio_X509(bio, NULL, no_password, NULL);
    } else if (bio != NULL) {
        const unsigned char *at = (const unsigned char *)pem_or_der.ptr;
        cert = d2i_X509(NULL, &at, (long)pem_or_der.len);
        if (cert != NULL && (const char *)at != pem_or_der.ptr + pem_or_der.len) {
            X509_free(cert);
            cert = NULL;
        }
    }
    ERR_clear_error();
    return cert;
}

bool lks_x509_pem_p256(const EVP_PKEY *key)
{
    char group[32] = "";
    return key != NULL && EVP_PKEY_is_a(key, "EC") == 1 &&
           EVP_PKEY_get_group_name(key, group, sizeof(group), NULL) == 1 &&
           lks_str_is(lks_str_from(group), "prime256v1");
}

enum lks_code lks_x509_pem_fail(const char *what, struct lks_err *err)
{
    ERR_clear_error();
    return lks_fail(err, LKS_E_IO, "libcrypto could not %s", what);
}

enum lks_code lks_x509_pem_add(BIO *bio, struct lks_buf *out, struct lks_err *err)
{
    char *bytes = NULL;
    long len = BIO_get_mem_data(bio, &bytes);
    if (len <= 0)
        return lks_x509_pem_fail("write PEM", err);
    lks_buf_add(out, (struct lks_str){bytes, (size_t)len});
    return lks_buf_check(out, err);
}
