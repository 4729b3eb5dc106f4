/* lks_curl_certificate(): what an endpoint shows, before anybody trusts it. */
#include "base/term/term.h"
#include "drivers/http/curl_lib.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <time.h>

enum { PEM_MAX = 256 * 1024, NAME_BYTES_MAX = 64 * 1024 };

static enum lks_code read_key(const X509 *cert, char out[LKS_DIGEST_SIZE], struct lks_err *err)
{
    unsigned char *der = NULL;
    int len = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(cert), &der);
    if (len <= 0)
        return lks_fail(err, LKS_E_INVALID, "the public key cannot be read");
    enum lks_code code = lks_digest_text((struct lks_str){(char *)der, (size_t)len}, out, err);
    OPENSSL_free(der);
    return code;
}

static enum lks_code read_whole(X509 *cert, char out[LKS_DIGEST_SIZE], struct lks_err *err)
{
    unsigned char *der = NULL;
    int len = i2d_X509(cert, &der);
    if (len <= 0)
        return lks_fail(err, LKS_E_INVALID, "the certificate cannot be read");
    enum lks_code code = lks_digest_text((struct lks_str){(char *)der, (size_t)len}, out, err);
    OPENSSL_free(der);
    return code;
}

/* As much of a name as fits, whatever it is made of. */
static void read_name(const X509_NAME *name, char out[LKS_CURL_NAME_MAX + 1])
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf clean = LKS_BUF(NAME_BYTES_MAX);
    BIO *bio = BIO_new(BIO_s_mem());
    char *text = NULL;
    if (bio != NULL &&
        X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) > 0) {
        long len = BIO_get_mem_data(bio, &text);
        lks_term_clean(&clean, (struct lks_str){text, len > 0 ? (size_t)len : 0});
    }
    BIO_free(bio);
    struct lks_str view = lks_buf_view(&clean);
    view.len = view.len < LKS_CURL_NAME_MAX ? view.len : LKS_CURL_NAME_MAX;
    while (!lks_str_utf8(view, NULL)) /* not a part of a character */
        view.len--;
    memcpy(out, view.ptr, view.len);
    out[view.len] = '\0';
}

static bool read_time(const ASN1_TIME *from, int64_t *out)
{
    struct tm tm = {0};
    if (ASN1_TIME_to_tm(from, &tm) != 1)
        return false;
    *out = timegm(&tm);
    return true;
}

static enum lks_code read_about(X509 *cert, struct lks_curl_certificate *out, struct lks_err *err)
{
    struct lks_curl_certificate c = {0};
    if (read_key(cert, c.fingerprint, err) != LKS_OK ||
        read_whole(cert, c.certificate, err) != LKS_OK)
        return err->code;
    if (!read_time(X509_get0_notBefore(cert), &c.not_before) ||
        !read_time(X509_get0_notAfter(cert), &c.not_after))
        return lks_fail(err, LKS_E_INVALID, "the times of its certificate cannot be read");
    read_name(X509_get_subject_name(cert), c.subject);
    read_name(X509_get_issuer_name(cert), c.issuer);
    c.self_signed = X509_NAME_cmp(X509_get_subject_name(cert), X509_get_issuer_name(cert)) == 0;
    *out = c;
    return LKS_OK;
}

/* Endpoints sign themselves, with odd serial numbers and names: only what is shown is read. */
static enum lks_code read_certificate(struct lks_str pem, struct lks_curl_certificate *out,
                                      struct lks_err *err)
{
    BIO *bio = pem.len <= PEM_MAX ? BIO_new_mem_buf(pem.ptr, (int)pem.len) : NULL;
    X509 *cert = bio != NULL ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    enum lks_code code = cert != NULL
                             ? read_about(cert, out, err)
                             : lks_fail(err, LKS_E_INVALID, "its certificate cannot be read");
    X509_free(cert);
    BIO_free(bio);
    return code;
}

/* The first certificate of the chain that was shown: the endpoint's own. */
static struct lks_str first_shown(const struct lks_curl_lib *lib, CURL *easy)
{
    const struct curl_certinfo *chain = NULL;
    if (lib->easy_getinfo(easy, CURLINFO_CERTINFO, &chain) != CURLE_OK || chain == NULL ||
        chain->num_of_certs < 1)
        return LKS_STR("");
    for (const struct curl_slist *l = chain->certinfo[0]; l != NULL; l = l->next) {
        struct lks_str line = lks_str_from(l->data);
        if (lks_str_starts(line, "Cert:"))
            return (struct lks_str){line.ptr + 5, line.len - 5};
    }
    return LKS_STR("");
}

/* The peer is not verified, so nothing may be sent: the connection is made, and that is all. */
static CURLcode look(const struct lks_curl_lib *lib, CURL *easy, const char *url, lks_ms timeout)
{
    CURLcode code = lks_curl_common(lib, easy, timeout);
    if (code == CURLE_OK)
        code = lib->easy_setopt(easy, CURLOPT_URL, url);
    if (code == CURLE_OK)
        code = lib->easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    if (code == CURLE_OK)
        code = lib->easy_setopt(easy, CURLOPT_CERTINFO, 1L);
    if (code == CURLE_OK)
        code = lib->easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    if (code == CURLE_OK)
        code = lib->easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    return code == CURLE_OK ? lib->easy_perform(easy) : code;
}

enum lks_code lks_curl_certificate(const char *url, lks_ms timeout,
                                   struct lks_curl_certificate *out, struct lks_err *err)
{
    const struct lks_curl_lib *lib = lks_curl_lib(err);
    if (lib == NULL || lks_curl_url_check(url, false, err) != LKS_OK)
        return err->code;
    CURL *easy = lib->easy_init();
    if (easy == NULL)
        return lks_fail_nomem(err);
    CURLcode done = look(lib, easy, url, timeout);
    enum lks_code code = LKS_OK;
    if (done != CURLE_OK)
        code = lks_curl_fail(lib, done, url, err);
    else if (read_certificate(first_shown(lib, easy), out, err) != LKS_OK)
        code = lks_wrap(err, "%s", url);
    ERR_clear_error();
    lib->easy_cleanup(easy);
    return code;
}
