#include "trust/x509.h"

#include "codec/format/hex.h"
#include "trust/x509_pem.h"

#include <openssl/err.h>
#include <time.h>

#define URN "urn:lockstep:"

/* The names in a certificate that say whose it is. */
struct names {
    struct lks_str ours; /* what follows URN */
    size_t ours_count;
    struct lks_str dns; /* the first */
    size_t dns_count;
};

static struct lks_str text_of(const ASN1_STRING *s)
{
    return (struct lks_str){(const char *)ASN1_STRING_get0_data(s), (size_t)ASN1_STRING_length(s)};
}

static void find_names(const GENERAL_NAMES *list, struct names *out)
{
    for (int i = 0; i < sk_GENERAL_NAME_num(list); i++) {
        int type;
        const ASN1_STRING *value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(list, i), &type);
        if (type == GEN_DNS && out->dns_count++ == 0)
            out->dns = text_of(value);
        if (type != GEN_URI || !lks_str_starts(text_of(value), URN))
            continue;
        struct lks_str uri = text_of(value);
        out->ours = (struct lks_str){uri.ptr + sizeof(URN) - 1, uri.len - (sizeof(URN) - 1)};
        out->ours_count++;
    }
}

static struct lks_str common_name(const X509 *cert)
{
    const X509_NAME *subject = X509_get_subject_name(cert);
    int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0)
        return LKS_STR("");
    return text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
}

bool lks_x509_user_name(struct lks_str name)
{
    struct lks_str account, place;
    if (!lks_str_cut(name, '@', &account, &place))
        return lks_hostlist_is_name(name);
    return name.len <= LKS_HOST_NAME_MAX && lks_hostlist_is_name(account) &&
           lks_hostlist_is_name(place);
}

/* Names with anything else in them, such as a zero byte, are no names. */
static bool copy_name(struct lks_str s, struct lks_x509_about *out)
{
    bool host = out->use == LKS_X509_NODE || out->use == LKS_X509_CONTROLLER;
    bool good = out->use == LKS_X509_USER ? lks_x509_user_name(s)
                : host                    ? lks_hostlist_is_name(s)
                                          : lks_str_printable(s);
    if (!good || s.len > LKS_HOST_NAME_MAX)
        return false;
    memcpy(out->name, s.ptr, s.len);
    return true;
}

static bool urn_name(struct lks_str word, struct lks_str name, struct lks_x509_about *out)
{
    static const struct {
        const char *word;
        enum lks_x509_use use;
    } uses[] = {
        {"node", LKS_X509_NODE}, {"user", LKS_X509_USER}, {"controller", LKS_X509_CONTROLLER}};
    for (size_t i = 0; i < LKS_COUNT(uses); i++) {
        if (lks_str_is(word, uses[i].word)) {
            out->use = uses[i].use;
            return copy_name(name, out);
        }
    }
    return false;
}

/* Which use the extensions leave, where no URI says it. */
static enum lks_x509_use use_of(X509 *cert)
{
    if (X509_check_ca(cert) == 1)
        return LKS_X509_CA;
    uint32_t extended = X509_get_extended_key_usage(cert); /* all bits where there is none */
    return (extended & XKU_SSL_CLIENT) == 0 && (extended & XKU_SSL_SERVER) != 0 ? LKS_X509_SERVER
                                                                                : LKS_X509_NODE;
}

static enum lks_code read_names(X509 *cert, struct lks_x509_about *out, struct lks_err *err)
{
    struct names names = {0};
    int critical = 0;
    LKS_CLEANUP(lks_names_end)
    GENERAL_NAMES *list = X509_get_ext_d2i(cert, NID_subject_alt_name, &critical, NULL);
    if (list == NULL && critical != -1) /* -1: it has none */
        return lks_fail(err, LKS_E_INVALID, "certificate: its alternative names cannot be read");
    find_names(list, &names);
    out->use = use_of(cert);
    out->ours = names.ours_count > 0;
    if (out->ours) {
        struct lks_str word, name;
        lks_str_cut(names.ours, ':', &word, &name);
        if (out->use == LKS_X509_CA || names.ours_count > 1 || !urn_name(word, name, out))
            return lks_fail(err, LKS_E_INVALID,
                            "certificate: expected one " URN "node:NAME or " URN "user:NAME");
        return LKS_OK;
    }
    bool by_dns = out->use == LKS_X509_NODE && names.dns_count > 0;
    if (!by_dns || names.dns_count == 1)
        copy_name(by_dns ? names.dns : common_name(cert), out);
    return LKS_OK;
}

static bool read_serial(X509 *cert, char out[LKS_X509_SERIAL_MAX])
{
    const ASN1_INTEGER *serial = X509_get0_serialNumber(cert);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_X509_SERIAL_MAX - 1);
    lks_hex_add(&text, ASN1_STRING_get0_data(serial), (size_t)ASN1_STRING_length(serial));
    if (ASN1_STRING_type(serial) != V_ASN1_INTEGER || text.len == 0 || text.failed != LKS_OK)
        return false; /* negative, empty or longer than X.509 allows */
    memcpy(out, text.ptr, text.len);
    return true;
}

static bool read_time(const ASN1_TIME *from, int64_t *out)
{
    struct tm tm = {0};
    if (ASN1_TIME_to_tm(from, &tm) != 1)
        return false;
    *out = timegm(&tm);
    return true;
}

static enum lks_code read_fingerprint(X509 *cert, char out[LKS_DIGEST_SIZE], struct lks_err *err)
{
    unsigned char *der = NULL;
    int len = i2d_X509(cert, &der);
    if (len <= 0)
        return lks_x509_pem_fail("encode a certificate", err);
    enum lks_code code = lks_digest_text((struct lks_str){(char *)der, (size_t)len}, out, err);
    OPENSSL_free(der);
    return code;
}

enum lks_code lks_x509_read(struct lks_str pem_or_der, struct lks_x509_about *out,
                            struct lks_err *err)
{
    LKS_CLEANUP(lks_cert_end) X509 *cert = lks_x509_pem_cert(pem_or_der);
    struct lks_x509_about about = {0};
    if (cert == NULL)
        return lks_fail(err, LKS_E_INVALID, "not a certificate in PEM or DER");
    if (!read_serial(cert, about.serial))
        return lks_fail(err, LKS_E_INVALID, "certificate: its serial number cannot be read");
    if (!read_time(X509_get0_notBefore(cert), &about.not_before) ||
        !read_time(X509_get0_notAfter(cert), &about.not_after))
        return lks_fail(err, LKS_E_INVALID, "certificate: its times cannot be read");
    enum lks_code code = read_names(cert, &about, err);
    if (code == LKS_OK)
        code = read_fingerprint(cert, about.fingerprint, err);
    ERR_clear_error();
    if (code == LKS_OK)
        *out = about;
    return code;
}

bool lks_x509_key_fits(struct lks_str cert_pem, struct lks_str key_pem)
{
    LKS_CLEANUP(lks_cert_end) X509 *cert = lks_x509_pem_cert(cert_pem);
    LKS_CLEANUP(lks_pkey_end) EVP_PKEY *key = lks_x509_pem_key(key_pem);
    bool fits = cert != NULL && key != NULL && X509_check_private_key(cert, key) == 1;
    ERR_clear_error();
    return fits;
}

bool lks_x509_issued_by(struct lks_str cert_pem, struct lks_str ca_pem)
{
    LKS_CLEANUP(lks_cert_end) X509 *cert = lks_x509_pem_cert(cert_pem);
    LKS_CLEANUP(lks_cert_end) X509 *ca = lks_x509_pem_cert(ca_pem);
    bool issued = cert != NULL && ca != NULL && X509_verify(cert, X509_get0_pubkey(ca)) == 1;
    ERR_clear_error();
    return issued;
}
