/* Making certificates; reading them is in x509_read.c. */
#include "trust/x509.h"

#include "trust/x509_pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

enum {
    SERIAL_BYTES = 16,
    BACKDATED = 300, /* seconds; clocks differ */
    COMMON_NAME_MAX = 64,
    VERSION_3 = 2, /* as X.509 counts */
};

/* What each use may be used for, and nothing else. */
static const struct profile {
    const char *basic, *usage, *extended;
    const char *urn; /* before the name in a URI; NULL: none */
} profiles[] = {
    [LKS_X509_CA] = {"critical,CA:TRUE,pathlen:0", "critical,keyCertSign,cRLSign", NULL, NULL},
    [LKS_X509_SERVER] = {"critical,CA:FALSE", "critical,digitalSignature", "serverAuth", NULL},
    [LKS_X509_NODE] = {"critical,CA:FALSE", "critical,digitalSignature", "clientAuth",
                       "urn:lockstep:node:"},
    [LKS_X509_USER] = {"critical,CA:FALSE", "critical,digitalSignature", "clientAuth",
                       "urn:lockstep:user:"},
    [LKS_X509_CONTROLLER] = {"critical,CA:FALSE", "critical,digitalSignature", "clientAuth",
                             "urn:lockstep:controller:"},
};

enum lks_code lks_x509_key(struct lks_buf *pem, struct lks_err *err)
{
    LKS_CLEANUP(lks_pkey_end) EVP_PKEY *key = EVP_EC_gen("P-256");
    /* Wiped when it is freed: it holds the key. */
    LKS_CLEANUP(lks_bio_end) BIO *bio = BIO_new(BIO_s_secmem());
    if (key == NULL || bio == NULL ||
        PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) != 1)
        return lks_x509_pem_fail("make a P-256 key", err);
    return lks_x509_pem_add(bio, pem, err);
}

static bool set_common_name(X509_NAME *subject, struct lks_str name)
{
    size_t len = name.len < COMMON_NAME_MAX ? name.len : COMMON_NAME_MAX;
    return X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8,
                                      (const unsigned char *)name.ptr, (int)len, -1, 0) == 1;
}

enum lks_code lks_x509_request(struct lks_str key_pem, struct lks_str name, struct lks_buf *pem,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_pkey_end) EVP_PKEY *key = lks_x509_pem_key(key_pem);
    if (!lks_x509_pem_p256(key))
        return lks_fail(err, LKS_E_INVALID, "the key is not a P-256 key in PEM");
    if (!lks_hostlist_is_name(name))
        return lks_fail(err, LKS_E_INVALID, "certificate request: the name is not a host name");
    LKS_CLEANUP(lks_request_end) X509_REQ *request = X509_REQ_new();
    LKS_CLEANUP(lks_bio_end) BIO *bio = BIO_new(BIO_s_mem());
    if (request == NULL || bio == NULL || X509_REQ_set_version(request, 0) != 1 ||
        !set_common_name(X509_REQ_get_subject_name(request), name) ||
        X509_REQ_set_pubkey(request, key) != 1 || X509_REQ_sign(request, key, EVP_sha256()) == 0 ||
        PEM_write_bio_X509_REQ(bio, request) != 1)
        return lks_x509_pem_fail("make a certificate request", err);
    return lks_x509_pem_add(bio, pem, err);
}

static enum lks_code check_wish(const struct lks_x509_wish *wish, struct lks_err *err)
{
    if (wish->seconds <= 0 || wish->seconds > LKS_X509_SECONDS_MAX || wish->now <= BACKDATED ||
        wish->now > LKS_X509_SECONDS_MAX)
        return lks_fail(err, LKS_E_INVALID, "certificate: valid for a second to a hundred years");
    bool good = wish->use == LKS_X509_CA     ? wish->name.len > 0 && lks_str_printable(wish->name)
                : wish->use == LKS_X509_USER ? lks_x509_user_name(wish->name)
                                             : lks_hostlist_is_name(wish->name);
    return good ? LKS_OK
                : lks_fail(err, LKS_E_INVALID,
                           "certificate: the name is not letters, digits, '.', '-' and '_'");
}

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    bool added = extension != NULL && X509_add_ext(cert, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return added;
}

/* Takes `value`, which may be NULL. */
static bool add_name(GENERAL_NAMES *names, int type, ASN1_STRING *value)
{
    GENERAL_NAME *name = value == NULL ? NULL : GENERAL_NAME_new();
    if (name == NULL) {
        ASN1_STRING_free(value);
        return false;
    }
    GENERAL_NAME_set0_value(name, type, value);
    if (sk_GENERAL_NAME_push(names, name) > 0)
        return true;
    GENERAL_NAME_free(name);
    return false;
}

static ASN1_STRING *ia5(const char *prefix, struct lks_str s)
{
    ASN1_STRING *out = ASN1_IA5STRING_new();
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_X509_PEM_MAX);
    lks_buf_add(&text, lks_str_from(prefix));
    lks_buf_add(&text, s);
    if (out != NULL && text.failed == LKS_OK && ASN1_STRING_set(out, text.ptr, (int)text.len) == 1)
        return out;
    ASN1_STRING_free(out);
    return NULL;
}

/* A DNS name or an address, as servers are reached. */
static bool add_alternative(GENERAL_NAMES *names, struct lks_str s)
{
    char text[LKS_HOST_NAME_MAX + 1] = "";
    if (s.len > LKS_HOST_NAME_MAX)
        return false;
    memcpy(text, s.ptr, s.len);
    ASN1_OCTET_STRING *address = a2i_IPADDRESS(text);
    if (address != NULL)
        return add_name(names, GEN_IPADD, address);
    return lks_hostlist_is_name(s) && add_name(names, GEN_DNS, ia5("", s));
}

static enum lks_code add_names(X509 *cert, const struct lks_x509_wish *wish, struct lks_err *err)
{
    const char *urn = profiles[wish->use].urn;
    LKS_CLEANUP(lks_names_end) GENERAL_NAMES *names = GENERAL_NAMES_new();
    if (names == NULL)
        return lks_fail_nomem(err);
    if (urn != NULL && !add_name(names, GEN_URI, ia5(urn, wish->name)))
        return lks_fail_nomem(err);
    for (size_t i = 0; urn == NULL && i < wish->alternative_count; i++) {
        if (!add_alternative(names, wish->alternatives[i]))
            return lks_fail(err, LKS_E_INVALID,
                            "certificate: '%" LKS_STR_FMT "' is neither a DNS name nor an address",
                            LKS_STR_ARG(wish->alternatives[i]));
    }
    if (sk_GENERAL_NAME_num(names) == 0 && !add_alternative(names, wish->name))
        return lks_fail_nomem(err);
    if (X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT) != 1)
        return lks_x509_pem_fail("add the names to a certificate", err);
    return LKS_OK;
}

/* Never longer than its CA: a certificate that cannot be verified any more is only a surprise. */
static bool set_times(X509 *cert, const struct lks_x509_wish *wish, int64_t at_most)
{
    int64_t end = wish->now + wish->seconds < at_most ? wish->now + wish->seconds : at_most;
    return ASN1_TIME_set(X509_getm_notBefore(cert), wish->now - BACKDATED) != NULL &&
           ASN1_TIME_set(X509_getm_notAfter(cert), end) != NULL;
}

/* 126 random bits behind a one, so that every serial number has the same length. */
static bool set_serial(X509 *cert)
{
    unsigned char bytes[SERIAL_BYTES];
    if (RAND_bytes(bytes, sizeof(bytes)) != 1)
        return false;
    bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40);
    BIGNUM *number = BN_bin2bn(bytes, sizeof(bytes), NULL);
    bool set = number != NULL && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert)) != NULL;
    BN_free(number);
    return set;
}

/* `issuer` is `cert` itself where it signs itself. */
static bool fill(X509 *cert, X509 *issuer, EVP_PKEY *key, const struct lks_x509_wish *wish)
{
    const struct profile *p = &profiles[wish->use];
    return X509_set_version(cert, VERSION_3) == 1 && set_serial(cert) &&
           X509_set_pubkey(cert, key) == 1 &&
           set_common_name(X509_get_subject_name(cert), wish->name) &&
           X509_set_issuer_name(cert, X509_get_subject_name(issuer)) == 1 &&
           add_extension(cert, issuer, NID_basic_constraints, p->basic) &&
           add_extension(cert, issuer, NID_key_usage, p->usage) &&
           (p->extended == NULL || add_extension(cert, issuer, NID_ext_key_usage, p->extended)) &&
           add_extension(cert, issuer, NID_subject_key_identifier, "hash") &&
           add_extension(cert, issuer, NID_authority_key_identifier, "keyid:always");
}

static enum lks_code sign_and_write(X509 *cert, EVP_PKEY *key, struct lks_buf *pem,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_bio_end) BIO *bio = BIO_new(BIO_s_mem());
    if (bio == NULL || X509_sign(cert, key, EVP_sha256()) == 0 ||
        PEM_write_bio_X509(bio, cert) != 1)
        return lks_x509_pem_fail("sign a certificate", err);
    return lks_x509_pem_add(bio, pem, err);
}

enum lks_code lks_x509_make_ca(struct lks_str key_pem, const struct lks_x509_wish *wish,
                               struct lks_buf *pem, struct lks_err *err)
{
    LKS_ASSERT(wish->use == LKS_X509_CA);
    LKS_CLEANUP(lks_pkey_end) EVP_PKEY *key = lks_x509_pem_key(key_pem);
    if (!lks_x509_pem_p256(key))
        return lks_fail(err, LKS_E_INVALID, "the CA's key is not a P-256 key in PEM");
    enum lks_code code = check_wish(wish, err);
    if (code != LKS_OK)
        return code;
    LKS_CLEANUP(lks_cert_end) X509 *cert = X509_new();
    if (cert == NULL || !set_times(cert, wish, INT64_MAX) || !fill(cert, cert, key, wish))
        return lks_x509_pem_fail("make a CA certificate", err);
    return sign_and_write(cert, key, pem, err);
}

/* The CA as it has to be to issue anything at `now`. */
static enum lks_code check_ca(struct lks_str ca_pem, X509 *ca, EVP_PKEY *key, int64_t now,
                              struct lks_x509_about *about, struct lks_err *err)
{
    if (ca == NULL || X509_check_ca(ca) != 1)
        return lks_fail(err, LKS_E_INVALID, "the CA's certificate is not one of a CA, in PEM");
    if (key == NULL || X509_check_private_key(ca, key) != 1) {
        ERR_clear_error();
        return lks_fail(err, LKS_E_INVALID, "the CA's key is not that of its certificate");
    }
    enum lks_code code = lks_x509_read(ca_pem, about, err);
    if (code != LKS_OK)
        return lks_wrap(err, "CA");
    if (now >= about->not_after || now < about->not_before)
        return lks_fail(err, LKS_E_REFUSED,
                        "the CA's certificate is not valid now: renew it, or correct the clock");
    return LKS_OK;
}

static enum lks_code check_request(X509_REQ *request, struct lks_err *err)
{
    EVP_PKEY *key = request == NULL ? NULL : X509_REQ_get0_pubkey(request);
    if (!lks_x509_pem_p256(key))
        return lks_fail(err, LKS_E_INVALID,
                        "certificate request: not a request for a P-256 key, in PEM");
    if (X509_REQ_verify(request, key) != 1) {
        ERR_clear_error();
        return lks_fail(err, LKS_E_INVALID,
                        "certificate request: its signature is not by the key in it");
    }
    return LKS_OK;
}

enum lks_code lks_x509_issue(struct lks_str ca_pem, struct lks_str ca_key_pem,
                             struct lks_str request_pem, const struct lks_x509_wish *wish,
                             struct lks_buf *pem, struct lks_x509_about *about, struct lks_err *err)
{
    LKS_ASSERT(wish->use != LKS_X509_CA);
    LKS_CLEANUP(lks_cert_end) X509 *ca = lks_x509_pem_cert(ca_pem);
    LKS_CLEANUP(lks_pkey_end) EVP_PKEY *ca_key = lks_x509_pem_key(ca_key_pem);
    LKS_CLEANUP(lks_request_end) X509_REQ *request = lks_x509_pem_request(request_pem);
    LKS_CLEANUP(lks_cert_end) X509 *cert = X509_new();
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_X509_PEM_MAX);
    struct lks_x509_about ca_about = {0}, made = {0};
    enum lks_code code = check_wish(wish, err);
    if (code == LKS_OK)
        code = check_ca(ca_pem, ca, ca_key, wish->now, &ca_about, err);
    if (code == LKS_OK)
        code = check_request(request, err);
    if (code != LKS_OK)
        return code;
    if (cert == NULL || !set_times(cert, wish, ca_about.not_after) ||
        !fill(cert, ca, X509_REQ_get0_pubkey(request), wish))
        return lks_x509_pem_fail("make a certificate", err);
    code = add_names(cert, wish, err);
    if (code == LKS_OK)
        code = sign_and_write(cert, ca_key, &text, err);
    if (code == LKS_OK)
        code = lks_x509_read(lks_buf_view(&text), &made, err);
    if (code != LKS_OK)
        return code;
    lks_buf_add(pem, lks_buf_view(&text));
    code = lks_buf_check(pem, err);
    if (code == LKS_OK)
        *about = made;
    return code;
}
