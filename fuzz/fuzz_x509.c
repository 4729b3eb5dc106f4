/* Any bytes at all, as a certificate, a request and a key: a certificate that is taken has a name
 * that may be shown, a fingerprint and a serial number, and reads the same twice. */
#include "trust/x509.h"
#include "trust/x509_pem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_about(const struct lks_x509_about *about)
{
    struct lks_str name = lks_str_from(about->name);
    LKS_ASSERT(lks_digest_valid(lks_str_from(about->fingerprint)));
    LKS_ASSERT(about->serial[0] != '\0' && lks_str_printable(name));
    LKS_ASSERT(!about->ours || about->use == LKS_X509_NODE || about->use == LKS_X509_USER);
    LKS_ASSERT(!about->ours || name.len > 0);
    LKS_ASSERT(about->use != LKS_X509_NODE || name.len == 0 || lks_hostlist_is_name(name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str in = {(const char *)data, size};
    struct lks_x509_about about = {0}, again = {0};
    struct lks_err err = {0};
    if (lks_x509_read(in, &about, &err) == LKS_OK) {
        check_about(&about);
        LKS_ASSERT(lks_x509_read(in, &again, &err) == LKS_OK);
        LKS_ASSERT(about.use == again.use && lks_str_is(lks_str_from(about.name), again.name));
    } else {
        LKS_ASSERT(about.serial[0] == '\0');
    }
    LKS_CLEANUP(lks_request_end) X509_REQ *request = lks_x509_pem_request(in);
    if (request != NULL && lks_x509_pem_p256(X509_REQ_get0_pubkey(request)))
        X509_REQ_verify(request, X509_REQ_get0_pubkey(request));
    LKS_ASSERT(!lks_x509_key_fits(in, LKS_STR("")));
    return 0;
}
