#include "trust/x509.h"

#include "tests/test.h"
#include "trust/x509_pem.h"

#include <openssl/pem.h>
#include <stdio.h>

enum { OUT_MAX = 64 * 1024 };

static const int64_t now = 1794713858, day = 86400, year = 31536000;

/* A CA with its key, and a request by somebody else; made once, keys being slow to make. */
static struct lks_buf ca_key, ca, key, request;

static struct lks_x509_wish wish(enum lks_x509_use use, const char *name)
{
    return (struct lks_x509_wish){
        .use = use, .name = lks_str_from(name), .now = now, .seconds = 30 * day};
}

static void make_all(void)
{
    struct lks_err err = {0};
    struct lks_x509_wish w = wish(LKS_X509_CA, "lockstep CA");
    struct lks_buf *const bufs[] = {&ca_key, &ca, &key, &request};
    for (size_t i = 0; i < LKS_COUNT(bufs); i++)
        lks_buf_init(bufs[i], OUT_MAX);
    w.seconds = 10 * year;
    LKS_ASSERT(lks_x509_key(&ca_key, &err) == LKS_OK);
    LKS_ASSERT(lks_x509_make_ca(lks_buf_view(&ca_key), &w, &ca, &err) == LKS_OK);
    LKS_ASSERT(lks_x509_key(&key, &err) == LKS_OK);
    LKS_ASSERT(lks_x509_request(lks_buf_view(&key), LKS_STR("mallory"), &request, &err) == LKS_OK);
}

static enum lks_code issue(const struct lks_x509_wish *w, struct lks_buf *pem,
                           struct lks_x509_about *about, struct lks_err *err)
{
    lks_buf_init(pem, OUT_MAX);
    return lks_x509_issue(lks_buf_view(&ca), lks_buf_view(&ca_key), lks_buf_view(&request), w, pem,
                          about, err);
}

/* What a TLS library asks: is this a certificate of that CA for this purpose, then? */
static bool verifies(struct lks_str pem, int purpose, const char *host, int64_t when)
{
    LKS_CLEANUP(lks_cert_end) X509 *cert = lks_x509_pem_cert(pem);
    LKS_CLEANUP(lks_cert_end) X509 *root = lks_x509_pem_cert(lks_buf_view(&ca));
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    LKS_ASSERT(cert != NULL && root != NULL && store != NULL && ctx != NULL);
    LKS_ASSERT(X509_STORE_add_cert(store, root) == 1);
    LKS_ASSERT(X509_STORE_CTX_init(ctx, store, cert, NULL) == 1);
    X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(ctx);
    X509_VERIFY_PARAM_set_time(param, when);
    X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_X509_STRICT);
    X509_STORE_CTX_set_purpose(ctx, purpose);
    if (host != NULL && X509_VERIFY_PARAM_set1_ip_asc(param, host) != 1)
        LKS_ASSERT(X509_VERIFY_PARAM_set1_host(param, host, 0) == 1);
    bool good = X509_verify_cert(ctx) == 1;
    X509_STORE_CTX_free(ctx);
    X509_STORE_free(store);
    return good;
}

static const struct {
    const char *name;
    enum lks_x509_use use;
    const char *subject;
    bool client, server, ours;
} uses[] = {
    {"a node", LKS_X509_NODE, "gn001", true, false, true},
    {"a node with a long name", LKS_X509_NODE,
     "gn001.a-rather-long-name-of-a-rack.and-a-rather-long-name-of-a-site.example.org", true, false,
     true},
    {"a user", LKS_X509_USER, "kim", true, false, true},
    {"a controller", LKS_X509_CONTROLLER, "ctl1", true, false, true},
    {"a user with a place", LKS_X509_USER, "kim@example.org", true, false, true},
    {"a server", LKS_X509_SERVER, "control", false, true, false},
};

static void test_uses(void)
{
    for (size_t i = 0; i < LKS_COUNT(uses); i++) {
        lks_test_case("%s", uses[i].name);
        struct lks_x509_wish w = wish(uses[i].use, uses[i].subject);
        struct lks_x509_about about = {0}, read = {0};
        struct lks_err err = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = {0};
        CHECK_CODE(issue(&w, &pem, &about, &err), LKS_OK);
        CHECK_INT(verifies(lks_buf_view(&pem), X509_PURPOSE_SSL_CLIENT, NULL, now), uses[i].client);
        CHECK_INT(verifies(lks_buf_view(&pem), X509_PURPOSE_SSL_SERVER, NULL, now), uses[i].server);
        CHECK_CODE(lks_x509_read(lks_buf_view(&pem), &read, &err), LKS_OK);
        CHECK_STR(lks_str_from(about.name), uses[i].subject);
        CHECK_STR(lks_str_from(about.fingerprint), read.fingerprint);
        CHECK_STR(lks_str_from(about.serial), read.serial);
        CHECK_INT(read.use, uses[i].use);
        CHECK_INT(read.ours, uses[i].ours);
        CHECK_STR(lks_str_from(read.name), uses[i].subject);
        CHECK_INT(read.not_before, now - 300);
        CHECK_INT(read.not_after, now + 30 * day);
        CHECK_INT(strlen(read.serial), 32);
        CHECK(lks_digest_valid(lks_str_from(read.fingerprint)));
        CHECK(lks_x509_key_fits(lks_buf_view(&pem), lks_buf_view(&key)));
        CHECK(!lks_x509_key_fits(lks_buf_view(&pem), lks_buf_view(&ca_key)));
    }
}

/* The extensions, to the letter: a usage more is a right nobody meant to give. */
static void test_extensions(void)
{
    static const struct {
        enum lks_x509_use use;
        uint32_t usage, extended;
    } rows[] = {
        {LKS_X509_NODE, KU_DIGITAL_SIGNATURE, XKU_SSL_CLIENT},
        {LKS_X509_USER, KU_DIGITAL_SIGNATURE, XKU_SSL_CLIENT},
        {LKS_X509_SERVER, KU_DIGITAL_SIGNATURE, XKU_SSL_SERVER},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("use %d", (int)rows[i].use);
        struct lks_x509_wish w = wish(rows[i].use, "gn001");
        struct lks_x509_about about = {0};
        struct lks_err err = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = {0};
        CHECK_CODE(issue(&w, &pem, &about, &err), LKS_OK);
        LKS_CLEANUP(lks_cert_end) X509 *cert = lks_x509_pem_cert(lks_buf_view(&pem));
        CHECK_INT(X509_check_ca(cert), 0);
        CHECK_INT(X509_get_key_usage(cert), rows[i].usage);
        CHECK_INT(X509_get_extended_key_usage(cert), rows[i].extended);
    }
    LKS_CLEANUP(lks_cert_end) X509 *root = lks_x509_pem_cert(lks_buf_view(&ca));
    CHECK_INT(X509_check_ca(root), 1);
    CHECK_INT(X509_get_pathlen(root), 0);
    CHECK_INT(X509_get_key_usage(root), KU_KEY_CERT_SIGN | KU_CRL_SIGN);
    int at = X509_get_ext_by_NID(root, NID_basic_constraints, -1);
    CHECK(X509_EXTENSION_get_critical(X509_get_ext(root, at)) == 1);
}

static void test_server_names(void)
{
    const struct lks_str names[] = {LKS_STR_C("control.example.org"), LKS_STR_C("127.0.0.1"),
                                    LKS_STR_C("fd00::1"), LKS_STR_C("localhost")};
    struct lks_x509_wish w = wish(LKS_X509_SERVER, "control");
    struct lks_x509_about about = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = {0};
    w.alternatives = names;
    w.alternative_count = LKS_COUNT(names);
    CHECK_CODE(issue(&w, &pem, &about, &err), LKS_OK);
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        lks_test_case("%s", names[i].ptr);
        CHECK(verifies(lks_buf_view(&pem), X509_PURPOSE_SSL_SERVER, names[i].ptr, now));
    }
    CHECK(!verifies(lks_buf_view(&pem), X509_PURPOSE_SSL_SERVER, "other.example.org", now));
    CHECK(!verifies(lks_buf_view(&pem), X509_PURPOSE_SSL_SERVER, "127.0.0.2", now));
    lks_test_case("a name that is none");
    const struct lks_str bad[] = {LKS_STR_C("a,DNS:evil.example.org")};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf none = {0};
    w.alternatives = bad;
    w.alternative_count = 1;
    CHECK_CODE(issue(&w, &none, &about, &err), LKS_E_INVALID);
    CHECK_INT(none.len, 0);
}

/* Nobody outlives the CA, and nothing is valid outside of its time. */
static void test_times(void)
{
    struct lks_x509_wish w = wish(LKS_X509_NODE, "gn001");
    struct lks_x509_about about = {0}, root = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = {0}, late = {0};
    CHECK_CODE(lks_x509_read(lks_buf_view(&ca), &root, &err), LKS_OK);
    CHECK_INT(root.use, LKS_X509_CA);
    CHECK_STR(lks_str_from(root.name), "lockstep CA");
    w.seconds = 50 * year;
    CHECK_CODE(issue(&w, &pem, &about, &err), LKS_OK);
    CHECK_INT(about.not_after, root.not_after);
    CHECK(verifies(lks_buf_view(&pem), X509_PURPOSE_SSL_CLIENT, NULL, now - 299));
    CHECK(!verifies(lks_buf_view(&pem), X509_PURPOSE_SSL_CLIENT, NULL, now - 301));
    CHECK(!verifies(lks_buf_view(&pem), X509_PURPOSE_SSL_CLIENT, NULL, root.not_after + 1));
    w.now = root.not_after;
    CHECK_CODE(issue(&w, &late, &about, &err), LKS_E_REFUSED);
    CHECK_HAS(lks_str_from(err.msg), "not valid now");
}

static void test_serials_differ(void)
{
    struct lks_x509_wish w = wish(LKS_X509_NODE, "gn001");
    struct lks_x509_about a = {0}, b = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = {0}, again = {0};
    CHECK_CODE(issue(&w, &pem, &a, &err), LKS_OK);
    CHECK_CODE(issue(&w, &again, &b, &err), LKS_OK);
    CHECK(strcmp(a.serial, b.serial) != 0);
    CHECK(strcmp(a.fingerprint, b.fingerprint) != 0);
}

/* Names end up in a URI that decides who somebody is. */
static const struct {
    enum lks_x509_use use;
    const char *name;
} bad_names[] = {
    {LKS_X509_NODE, ""},           {LKS_X509_NODE, "gn 1"},  {LKS_X509_NODE, "gn:1"},
    {LKS_X509_NODE, "kim@home"},   {LKS_X509_NODE, "-gn1"},  {LKS_X509_NODE, "gn1\n"},
    {LKS_X509_NODE, "gn\xc3\xa4"}, {LKS_X509_USER, "@"},     {LKS_X509_USER, "kim@"},
    {LKS_X509_USER, "a@b@c"},      {LKS_X509_SERVER, "a/b"}, {LKS_X509_SERVER, "*"},
};

static void test_bad_names(void)
{
    for (size_t i = 0; i < LKS_COUNT(bad_names); i++) {
        lks_test_case("'%s'", bad_names[i].name);
        struct lks_x509_wish w = wish(bad_names[i].use, bad_names[i].name);
        struct lks_x509_about about = {.not_after = 7};
        struct lks_err err = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = {0};
        CHECK_CODE(issue(&w, &pem, &about, &err), LKS_E_INVALID);
        CHECK_INT(about.not_after, 7);
        CHECK_INT(pem.len, 0);
    }
}

static void test_bad_lengths_of_time(void)
{
    static const int64_t seconds[] = {0, -1, INT64_MIN, INT64_MAX, LKS_X509_SECONDS_MAX + 1};
    for (size_t i = 0; i < LKS_COUNT(seconds); i++) {
        lks_test_case("%lld seconds", (long long)seconds[i]);
        struct lks_x509_wish w = wish(LKS_X509_NODE, "gn001");
        struct lks_x509_about about = {0};
        struct lks_err err = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = {0};
        w.seconds = seconds[i];
        CHECK_CODE(issue(&w, &pem, &about, &err), LKS_E_INVALID);
        w.use = LKS_X509_CA;
        CHECK_CODE(lks_x509_make_ca(lks_buf_view(&ca_key), &w, &pem, &err), LKS_E_INVALID);
    }
}

/* A request for somebody else's key, which its sender cannot have signed with. */
static void test_requests_refused(void)
{
    struct lks_x509_wish w = wish(LKS_X509_NODE, "gn001");
    struct lks_x509_about about = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_request_end) X509_REQ *req = lks_x509_pem_request(lks_buf_view(&request));
    LKS_CLEANUP(lks_pkey_end) EVP_PKEY *victim = lks_x509_pem_key(lks_buf_view(&ca_key));
    LKS_ASSERT(X509_REQ_set_pubkey(req, victim) == 1);
    LKS_CLEANUP(lks_bio_end) BIO *bio = BIO_new(BIO_s_mem());
    LKS_ASSERT(PEM_write_bio_X509_REQ(bio, req) == 1);
    char *bytes = NULL;
    long len = BIO_get_mem_data(bio, &bytes);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = LKS_BUF(OUT_MAX);
    CHECK_CODE(lks_x509_issue(lks_buf_view(&ca), lks_buf_view(&ca_key),
                              (struct lks_str){bytes, (size_t)len}, &w, &pem, &about, &err),
               LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "signature");
    const struct lks_str bad[] = {LKS_STR_C(""), LKS_STR_C("hello"), lks_buf_view(&ca),
                                  lks_buf_view(&key)};
    for (size_t i = 0; i < LKS_COUNT(bad); i++) {
        lks_test_case("%zu: not a request", i);
        CHECK_CODE(lks_x509_issue(lks_buf_view(&ca), lks_buf_view(&ca_key), bad[i], &w, &pem,
                                  &about, &err),
                   LKS_E_INVALID);
    }
}

/* A request for a key of another kind, as `openssl req` makes them. */
static void test_other_keys_refused(void)
{
    LKS_CLEANUP(lks_pkey_end) EVP_PKEY *other = EVP_EC_gen("P-384");
    LKS_CLEANUP(lks_request_end) X509_REQ *req = X509_REQ_new();
    LKS_CLEANUP(lks_bio_end) BIO *bio = BIO_new(BIO_s_mem());
    LKS_ASSERT(X509_REQ_set_pubkey(req, other) == 1 && X509_REQ_sign(req, other, EVP_sha256()) > 0);
    LKS_ASSERT(PEM_write_bio_X509_REQ(bio, req) == 1);
    char *bytes = NULL;
    long len = BIO_get_mem_data(bio, &bytes);
    struct lks_x509_wish w = wish(LKS_X509_NODE, "gn001");
    struct lks_x509_about about = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = LKS_BUF(OUT_MAX);
    CHECK_CODE(lks_x509_issue(lks_buf_view(&ca), lks_buf_view(&ca_key),
                              (struct lks_str){bytes, (size_t)len}, &w, &pem, &about, &err),
               LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "P-256");
}

/* A CA that is none, or whose key is another's. */
static void test_ca_refused(void)
{
    struct lks_x509_wish w = wish(LKS_X509_NODE, "gn001");
    struct lks_x509_about about = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf leaf = {0}, pem = {0};
    lks_buf_init(&pem, OUT_MAX);
    CHECK_CODE(issue(&w, &leaf, &about, &err), LKS_OK);
    CHECK_CODE(lks_x509_issue(lks_buf_view(&leaf), lks_buf_view(&key), lks_buf_view(&request), &w,
                              &pem, &about, &err),
               LKS_E_INVALID);
    CHECK_CODE(lks_x509_issue(lks_buf_view(&ca), lks_buf_view(&key), lks_buf_view(&request), &w,
                              &pem, &about, &err),
               LKS_E_INVALID);
    CHECK_INT(pem.len, 0);
}

/* Certificates of other people's making. */
static const struct {
    const char *name;
    const char *common, *alternatives, *extended;
    enum lks_x509_use use;
    bool ours;
    const char *is;
} foreign[] = {
    {"a DNS name", "x", "DNS:gn001", "clientAuth", LKS_X509_NODE, false, "gn001"},
    {"for both ends", "x", "DNS:gn001", "serverAuth,clientAuth", LKS_X509_NODE, false, "gn001"},
    {"two DNS names", "x", "DNS:gn001,DNS:gn002", "clientAuth", LKS_X509_NODE, false, ""},
    {"a common name", "gn001", NULL, "clientAuth", LKS_X509_NODE, false, "gn001"},
    {"no use", "gn001", NULL, NULL, LKS_X509_NODE, false, "gn001"},
    {"an address only", "gn001", "IP:10.0.0.1", "clientAuth", LKS_X509_NODE, false, "gn001"},
    {"a common name that is no host", "gn 001", NULL, "clientAuth", LKS_X509_NODE, false, ""},
    {"a wildcard", "x", "DNS:*.example.org", "clientAuth", LKS_X509_NODE, false, ""},
    {"a server", "web 1", "DNS:a,DNS:b", "serverAuth", LKS_X509_SERVER, false, "web 1"},
    {"our node", "x", "URI:urn:lockstep:node:gn001,DNS:y", "clientAuth", LKS_X509_NODE, true,
     "gn001"},
    {"our user", "x", "URI:urn:lockstep:user:kim", "clientAuth", LKS_X509_USER, true, "kim"},
    {"our controller", "x", "URI:urn:lockstep:controller:ctl1", "clientAuth", LKS_X509_CONTROLLER,
     true, "ctl1"},
    {"another URI", "gn001", "URI:https://x", "clientAuth", LKS_X509_NODE, false, "gn001"},
    {"two of ours", "x", "URI:urn:lockstep:node:a,URI:urn:lockstep:user:b", "clientAuth",
     LKS_X509_NODE, true, NULL},
    {"ours without a name", "x", "URI:urn:lockstep:node:", "clientAuth", LKS_X509_NODE, true, NULL},
    {"ours with a bad name", "x", "URI:urn:lockstep:node:a/b", "clientAuth", LKS_X509_NODE, true,
     NULL},
    {"ours of a kind we do not have", "x", "URI:urn:lockstep:king:a", "clientAuth", LKS_X509_NODE,
     true, NULL},
};

static void add_ext(X509 *cert, int nid, const char *value)
{
    X509_EXTENSION *ext = value == NULL ? NULL : X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    LKS_ASSERT(value == NULL || (ext != NULL && X509_add_ext(cert, ext, -1) == 1));
    X509_EXTENSION_free(ext);
}

static void make_foreign(const char *common, const char *alternatives, const char *extended,
                         struct lks_buf *der)
{
    LKS_CLEANUP(lks_cert_end) X509 *cert = X509_new();
    LKS_CLEANUP(lks_pkey_end) EVP_PKEY *signer = lks_x509_pem_key(lks_buf_view(&key));
    X509_set_version(cert, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), 0x1234);
    ASN1_TIME_set(X509_getm_notBefore(cert), now);
    ASN1_TIME_set(X509_getm_notAfter(cert), now + 60);
    X509_set_pubkey(cert, signer);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_UTF8,
                               (const unsigned char *)common, -1, -1, 0);
    add_ext(cert, NID_subject_alt_name, alternatives);
    add_ext(cert, NID_ext_key_usage, extended);
    LKS_ASSERT(X509_sign(cert, signer, EVP_sha256()) > 0);
    unsigned char *bytes = NULL;
    int len = i2d_X509(cert, &bytes);
    LKS_ASSERT(len > 0);
    lks_buf_init(der, OUT_MAX);
    lks_buf_add(der, (struct lks_str){(char *)bytes, (size_t)len});
    OPENSSL_free(bytes);
}

static void test_foreign(void)
{
    for (size_t i = 0; i < LKS_COUNT(foreign); i++) {
        lks_test_case("%s", foreign[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf der = {0};
        struct lks_x509_about about = {.not_after = 7};
        struct lks_err err = {0};
        make_foreign(foreign[i].common, foreign[i].alternatives, foreign[i].extended, &der);
        enum lks_code want = foreign[i].is == NULL ? LKS_E_INVALID : LKS_OK;
        CHECK_CODE(lks_x509_read(lks_buf_view(&der), &about, &err), want);
        CHECK_INT(about.not_after, want == LKS_OK ? now + 60 : 7);
        if (want != LKS_OK)
            continue;
        CHECK_INT(about.use, foreign[i].use);
        CHECK_INT(about.ours, foreign[i].ours);
        CHECK_STR(lks_str_from(about.name), foreign[i].is);
        CHECK_STR(lks_str_from(about.serial), "1234");
    }
}

/* DER has to be all there is; of a PEM text the first certificate counts. */
static void test_forms(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf der = {0}, pem = {0};
    struct lks_x509_about about = {0};
    struct lks_err err = {0};
    make_foreign("gn001", NULL, "clientAuth", &der);
    CHECK_CODE(lks_x509_read(lks_buf_view(&der), &about, &err), LKS_OK);
    for (size_t len = 0; len < der.len; len++) {
        lks_test_case("the first %zu bytes", len);
        CHECK_CODE(lks_x509_read((struct lks_str){der.ptr, len}, &about, &err), LKS_E_INVALID);
    }
    lks_test_case("a byte more");
    lks_buf_addc(&der, '\0');
    CHECK_CODE(lks_x509_read(lks_buf_view(&der), &about, &err), LKS_E_INVALID);
    lks_test_case("words before the certificate");
    lks_buf_init(&pem, (size_t)2 * OUT_MAX);
    lks_buf_add(&pem, LKS_STR("our CA\n"));
    lks_buf_add(&pem, lks_buf_view(&ca));
    CHECK_CODE(lks_x509_read(lks_buf_view(&pem), &about, &err), LKS_OK);
    lks_test_case("too long");
    lks_buf_pad(&pem, '\n', (ptrdiff_t)LKS_X509_PEM_MAX);
    CHECK_CODE(lks_x509_read(lks_buf_view(&pem), &about, &err), LKS_E_INVALID);
}

/* A locked key is refused and nobody is asked for its password; other keys are told apart. */
static void test_keys(void)
{
    LKS_CLEANUP(lks_pkey_end) EVP_PKEY *mine = lks_x509_pem_key(lks_buf_view(&key));
    LKS_CLEANUP(lks_bio_end) BIO *bio = BIO_new(BIO_s_mem());
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(OUT_MAX);
    struct lks_err err = {0};
    char *bytes = NULL;
    CHECK_HAS(lks_buf_view(&key), "-----BEGIN PRIVATE KEY-----");
    LKS_ASSERT(PEM_write_bio_PKCS8PrivateKey(bio, mine, EVP_aes_128_cbc(), "pw", 2, NULL, NULL));
    long len = BIO_get_mem_data(bio, &bytes);
    struct lks_str locked = {bytes, (size_t)len};
    CHECK_CODE(lks_x509_request(locked, LKS_STR("gn001"), &out, &err), LKS_E_INVALID);
    CHECK_CODE(lks_x509_request(LKS_STR(""), LKS_STR("gn001"), &out, &err), LKS_E_INVALID);
    CHECK_CODE(lks_x509_request(lks_buf_view(&key), LKS_STR("gn 1"), &out, &err), LKS_E_INVALID);
    CHECK(!lks_x509_key_fits(lks_buf_view(&ca), locked));
    CHECK(lks_x509_key_fits(lks_buf_view(&ca), lks_buf_view(&ca_key)));
    CHECK_INT(out.len, 0);
}

int main(void)
{
    make_all();
    int status = lks_test_main((const struct lks_test[]){
        {"x509: each use verifies as what it is, and as nothing else", test_uses},
        {"x509: extensions", test_extensions},
        {"x509: names of a server", test_server_names},
        {"x509: times", test_times},
        {"x509: serial numbers differ", test_serials_differ},
        {"x509: names refused", test_bad_names},
        {"x509: lengths of time refused", test_bad_lengths_of_time},
        {"x509: requests refused", test_requests_refused},
        {"x509: requests for other keys refused", test_other_keys_refused},
        {"x509: a CA that is none", test_ca_refused},
        {"x509: certificates of others", test_foreign},
        {"x509: PEM and DER", test_forms},
        {"x509: keys", test_keys},
        {0},
    });
    struct lks_buf *const bufs[] = {&ca_key, &ca, &key, &request};
    for (size_t i = 0; i < LKS_COUNT(bufs); i++)
        lks_buf_fini(bufs[i]);
    return status;
}
