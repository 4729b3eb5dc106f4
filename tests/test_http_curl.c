#include "drivers/http/curl.h"

#include "drivers/http/curl_body.h"
#include "tests/liar.h"
#include "tests/test.h"
#include "tests/tree.h"
#include "tests/wait.h"

#include <fcntl.h>
#include <openssl/pem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SHORT_MS = 150, URL_SIZE = 64 };

/* Above HUGE a body is announced before it is sent. */
enum { BIG = 200 * 1024, HUGE = 300 * 1024 };

#define TOKEN "verysecret"
#define HELLO "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Odd:  a\tb \r\n\r\nhello"

/* What all tests share: an authority, a server's pair and a stranger's, and their files. */
static struct {
    struct lks_tree tree;
    struct lks_pair authority, server, elsewhere, other;
    char ca[96], other_ca[96];
    char fingerprint[LKS_DIGEST_SIZE], elsewhere_fingerprint[LKS_DIGEST_SIZE];
    char other_fingerprint[LKS_DIGEST_SIZE];
} shared;

static void put(char out[96], const char *name, const struct lks_buf *text)
{
    char path[32];
    snprintf(path, sizeof(path), "/%s", name);
    lks_tree_bytes(&shared.tree, path, lks_buf_view(text));
    snprintf(out, 96, "%s%s", shared.tree.path, path);
}

/* The digest of the public key in a certificate, found without the code under test. */
static void key_digest(const struct lks_pair *pair, char out[LKS_DIGEST_SIZE])
{
    BIO *bio = BIO_new_mem_buf(pair->certificate.ptr, (int)pair->certificate.len);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    unsigned char *der = NULL;
    struct lks_err err = {0};
    int len = i2d_PUBKEY(X509_get0_pubkey(cert), &der);
    CHECK_CODE(lks_digest_text((struct lks_str){(char *)der, (size_t)len}, out, &err), LKS_OK);
    OPENSSL_free(der);
    X509_free(cert);
    BIO_free(bio);
}

static void shared_init(void)
{
    shared.tree = lks_tree_new();
    lks_pki_authority(&shared.authority);
    lks_pki_authority(&shared.other);
    lks_pki_issue(&shared.authority,
                  (struct lks_pki_wish){.use = LKS_X509_SERVER, .name = "localhost"},
                  &shared.server);
    lks_pki_issue(
        &shared.authority,
        (struct lks_pki_wish){.use = LKS_X509_SERVER, .name = "elsewhere", .nameless = true},
        &shared.elsewhere);
    put(shared.ca, "ca.crt", &shared.authority.certificate);
    put(shared.other_ca, "other.crt", &shared.other.certificate);
    key_digest(&shared.server, shared.fingerprint);
    key_digest(&shared.elsewhere, shared.elsewhere_fingerprint);
    key_digest(&shared.other, shared.other_fingerprint);
}

static void shared_fini(void)
{
    lks_pair_fini(&shared.authority);
    lks_pair_fini(&shared.server);
    lks_pair_fini(&shared.elsewhere);
    lks_pair_fini(&shared.other);
    lks_tree_free(&shared.tree);
}

/* Stored files: the digest is their name, whatever is in them. */
static int open_stored(void *ctx, const char *digest, struct lks_err *err)
{
    char path[200];
    (void)ctx;
    snprintf(path, sizeof(path), "%s/%s", shared.tree.path, digest);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        (void)!lks_fail(err, LKS_E_NOT_FOUND, "%s: not kept here", digest);
    return fd;
}

/* What came of an exchange. */
struct heard {
    unsigned calls;
    int status;
    char body[256], head[1024];
    struct lks_err err;
};

static void on_done(void *ctx, const struct lks_http_response *answer, const struct lks_err *err)
{
    struct heard *h = ctx;
    h->calls++;
    h->err = *err;
    if (answer == NULL)
        return;
    h->status = answer->status;
    snprintf(h->body, sizeof(h->body), "%" LKS_STR_FMT, LKS_STR_ARG(answer->body));
    snprintf(h->head, sizeof(h->head), "%" LKS_STR_FMT, LKS_STR_ARG(answer->head));
}

static struct lks_curl *client(void)
{
    struct lks_curl *c = NULL;
    struct lks_err err = {0};
    CHECK_CODE(lks_curl_new(&(struct lks_curl_options){.open = open_stored}, &c, &err), LKS_OK);
    CHECK_STR(lks_str_from(err.msg), "");
    LKS_ASSERT(c != NULL);
    return c;
}

static struct lks_http_request request(const char *method, const char *path, const char *body)
{
    struct lks_http_request r;
    lks_http_request_init(&r);
    r.method = method;
    lks_buf_add(&r.path, lks_str_from(path));
    lks_http_request_header(&r, "X-Auth-Token", "%s", TOKEN);
    lks_buf_add(&r.body, lks_str_from(body));
    return r;
}

static void run(struct lks_curl *c, const struct lks_curl_peer *peer, struct lks_http_request r,
                lks_ms timeout, struct heard *h)
{
    struct lks_curl_exchange *x = NULL;
    struct lks_err err = {0};
    *h = (struct heard){0};
    if (lks_curl_begin(c, peer, &r, timeout, on_done, h, &x, &h->err) != LKS_OK)
        return;
    CHECK(r.path.ptr == NULL && r.head.ptr == NULL); /* it was moved */
    for (struct lks_wait w = {0}; h->calls == 0 && lks_wait_on(&w);)
        CHECK_CODE(lks_curl_turn(c, 1000, &err), LKS_OK);
    CHECK_INT(h->calls, 1);
    CHECK(lks_str_find(lks_str_from(h->err.msg), LKS_STR(TOKEN)) < 0);
}

static struct lks_curl_peer peer_of(const struct lks_liar *l, char url[URL_SIZE])
{
    snprintf(url, URL_SIZE, "%s://127.0.0.1:%u", l->own != NULL ? "https" : "http", l->port);
    return (struct lks_curl_peer){.url = url, .fingerprint = shared.fingerprint};
}

/* Who it is --------------------------------------------------------------------------------- */

enum trust { BY_KEY, BY_CA, BY_BOTH, WRONG_KEY, WRONG_CA, KEY_OF_ANOTHER, NO_FILE, NO_TRUST };

static const struct {
    const char *name;
    enum trust trust;
    bool elsewhere; /* the certificate is for another name */
    enum lks_code code;
    const char *says;
} trusted[] = {
    {"the recorded key", BY_KEY, false, LKS_OK, ""},
    {"the recorded key, by a name that is not in the certificate", BY_KEY, true, LKS_OK, ""},
    {"an authority", BY_CA, false, LKS_OK, ""},
    {"an authority, but not for this address", BY_CA, true, LKS_E_DENIED, "certificate"},
    {"both", BY_BOTH, false, LKS_OK, ""},
    {"another key", WRONG_KEY, false, LKS_E_DENIED, "another key"},
    {"another authority", WRONG_CA, false, LKS_E_DENIED, "not certified"},
    {"a good authority and another key", KEY_OF_ANOTHER, false, LKS_E_DENIED, "another key"},
    {"a file that is not there", NO_FILE, false, LKS_E_INVALID, "authorities"},
    {"nothing", NO_TRUST, false, LKS_E_DENIED, "name its authority or its fingerprint"},
};

static struct lks_curl_peer trust_of(enum trust trust, bool elsewhere, const char *url)
{
    struct lks_curl_peer p = {.url = url};
    if (trust == BY_KEY || trust == BY_BOTH)
        p.fingerprint = elsewhere ? shared.elsewhere_fingerprint : shared.fingerprint;
    if (trust == BY_CA || trust == BY_BOTH || trust == KEY_OF_ANOTHER)
        p.ca = shared.ca;
    if (trust == WRONG_KEY || trust == KEY_OF_ANOTHER)
        p.fingerprint = shared.other_fingerprint;
    if (trust == WRONG_CA)
        p.ca = shared.other_ca;
    if (trust == NO_FILE)
        p.ca = "/nonexistent/ca.crt";
    return p;
}

/* Nothing of a request leaves before it is clear whom it goes to. */
static void test_trust(void)
{
    struct lks_curl *c = client();
    for (size_t i = 0; i < LKS_COUNT(trusted); i++) {
        struct lks_liar liar = {.own = trusted[i].elsewhere ? &shared.elsewhere : &shared.server,
                                .turns = {{LKS_LIAR_CLOSE, LKS_STR(HELLO)}},
                                .turn_count = trusted[i].trust < NO_FILE};
        struct heard h;
        char url[URL_SIZE];
        lks_test_case("%s", trusted[i].name);
        lks_liar_start(&liar);
        snprintf(url, sizeof(url), "https://127.0.0.1:%u", liar.port);
        struct lks_curl_peer peer = trust_of(trusted[i].trust, trusted[i].elsewhere, url);
        run(c, &peer, request("GET", "/redfish/v1", ""), LKS_WAIT_MS, &h);
        lks_liar_join(&liar);
        CHECK_CODE(h.err.code, trusted[i].code);
        CHECK_HAS(lks_str_from(h.err.msg), trusted[i].says);
        CHECK_STR(lks_str_from(h.body), trusted[i].code == LKS_OK ? "hello" : "");
        CHECK((liar.heard.len > 0) == (trusted[i].code == LKS_OK));
        lks_liar_fini(&liar);
    }
    lks_curl_free(c);
}

static const struct {
    const char *url;
    bool plain;
    enum lks_code code;
} urls[] = {
    {"https://bmc-1.example.org", false, LKS_OK},
    {"https://10.0.0.1:8443", false, LKS_OK},
    {"https://[fe80::1]:443", false, LKS_OK},
    {"http://127.0.0.9:80", true, LKS_OK},
    {"http://[::1]", true, LKS_OK},
    {"http://127.0.0.1", false, LKS_E_INVALID},
    {"http://10.0.0.1", true, LKS_E_INVALID},
    {"http://127.0.0.1.example.org", true, LKS_E_INVALID},
    {"https://", false, LKS_E_INVALID},
    {"https://bmc/", false, LKS_E_INVALID},
    {"https://bmc:0", false, LKS_E_INVALID},
    {"https://bmc:65536", false, LKS_E_INVALID},
    {"https://bmc:443?x", false, LKS_E_INVALID},
    {"https://root:pw@bmc", false, LKS_E_INVALID},
    {"https://[::1", false, LKS_E_INVALID},
    {"https://[bmc]", false, LKS_E_INVALID},
    {"https://-bmc", false, LKS_E_INVALID},
    {"https://bmc bmc", false, LKS_E_INVALID},
    {"ftp://bmc", false, LKS_E_INVALID},
    {"bmc", false, LKS_E_INVALID},
    {"", false, LKS_E_INVALID},
};

static void test_urls(void)
{
    for (size_t i = 0; i < LKS_COUNT(urls); i++) {
        struct lks_err err = {0};
        lks_test_case("%s", urls[i].url);
        CHECK_CODE(lks_curl_url_check(urls[i].url, urls[i].plain, &err), urls[i].code);
    }
}

/* What it says ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    struct lks_liar_turn turn;
    lks_ms timeout;
    int status;
    enum lks_code code;
    const char *says;
} answers[] = {
    {"an answer", {LKS_LIAR_CLOSE, LKS_STR_C(HELLO)}, LKS_WAIT_MS, 200, LKS_OK, ""},
    {"one of another status",
     {LKS_LIAR_CLOSE,
      LKS_STR_C("HTTP/1.1 503 Busy\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n")},
     LKS_WAIT_MS,
     503,
     LKS_OK,
     ""},
    {"one in chunks",
     {LKS_LIAR_CLOSE,
      LKS_STR_C("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")},
     LKS_WAIT_MS,
     200,
     LKS_OK,
     ""},
    {"a redirect",
     {LKS_LIAR_CLOSE,
      LKS_STR_C(
          "HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/x\r\nContent-Length: 0\r\n\r\n")},
     LKS_WAIT_MS,
     302,
     LKS_OK,
     ""},
    {"one that is cut",
     {LKS_LIAR_CUT, LKS_STR_C("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello")},
     LKS_WAIT_MS,
     0,
     LKS_E_UNAVAILABLE,
     "ended before the answer did"},
    {"one in chunks that is cut",
     {LKS_LIAR_CUT, LKS_STR_C("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel")},
     LKS_WAIT_MS,
     0,
     LKS_E_UNAVAILABLE,
     "ended before the answer did"},
    {"none",
     {LKS_LIAR_CLOSE, LKS_STR_C("")},
     LKS_WAIT_MS,
     0,
     LKS_E_UNAVAILABLE,
     "without an answer"},
    {"one that never comes",
     {LKS_LIAR_SILENT, LKS_STR_C("")},
     SHORT_MS,
     0,
     LKS_E_TIMEOUT,
     "in time"},
    {"one that drips",
     {LKS_LIAR_DRIP, LKS_STR_C("HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n")},
     SHORT_MS,
     0,
     LKS_E_TIMEOUT,
     "in time"},
    {"nobody who speaks TLS",
     {LKS_LIAR_DEAF, LKS_STR_C("")},
     SHORT_MS,
     0,
     LKS_E_TIMEOUT,
     "in time"},
    {"no TLS", {LKS_LIAR_GARBAGE, LKS_STR_C(HELLO)}, LKS_WAIT_MS, 0, LKS_E_UNAVAILABLE, "TLS"},
    {"no HTTP",
     {LKS_LIAR_CLOSE, LKS_STR_C("220 hello\r\n")},
     LKS_WAIT_MS,
     0,
     LKS_E_UNAVAILABLE,
     "HTTP"},
    {"a length that is too much",
     {LKS_LIAR_CLOSE, LKS_STR_C("HTTP/1.1 200 OK\r\nContent-Length: 16777217\r\n\r\nx")},
     LKS_WAIT_MS,
     0,
     LKS_E_LIMIT,
     "too large"},
};

static void test_answers(void)
{
    struct lks_curl *c = client();
    for (size_t i = 0; i < LKS_COUNT(answers); i++) {
        struct lks_liar liar = {.own = &shared.server, .turns = {answers[i].turn}, .turn_count = 1};
        struct heard h;
        char url[URL_SIZE];
        lks_test_case("%s", answers[i].name);
        lks_liar_start(&liar);
        struct lks_curl_peer peer = peer_of(&liar, url);
        run(c, &peer, request("GET", "/", ""), answers[i].timeout, &h);
        lks_liar_join(&liar);
        CHECK_CODE(h.err.code, answers[i].code);
        CHECK_HAS(lks_str_from(h.err.msg), answers[i].says);
        CHECK_INT(h.status, answers[i].status);
        CHECK_INT(liar.accepted, 1);
        lks_liar_fini(&liar);
    }
    lks_curl_free(c);
}

static const struct {
    const char *name;
    const char *head, *piece;
    size_t times;
} floods[] = {
    {"a body without an end", "HTTP/1.1 200 OK\r\n\r\n", "0123456789abcdef", (1 << 20) + 1},
    {"headers without an end", "HTTP/1.1 200 OK\r\n", "X-More: 0123456789abcdef\r\n", 4000},
};

static void test_floods(void)
{
    struct lks_curl *c = client();
    for (size_t i = 0; i < LKS_COUNT(floods); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF((size_t)32 << 20);
        struct heard h;
        char url[URL_SIZE];
        lks_test_case("%s", floods[i].name);
        lks_buf_add(&text, lks_str_from(floods[i].head));
        for (size_t n = 0; n < floods[i].times; n++)
            lks_buf_add(&text, lks_str_from(floods[i].piece));
        struct lks_liar liar = {.own = &shared.server,
                                .turns = {{LKS_LIAR_CLOSE, lks_buf_view(&text)}},
                                .turn_count = 1};
        lks_liar_start(&liar);
        struct lks_curl_peer peer = peer_of(&liar, url);
        run(c, &peer, request("GET", "/", ""), LKS_WAIT_MS, &h);
        lks_liar_join(&liar);
        CHECK_CODE(h.err.code, LKS_E_LIMIT);
        CHECK_INT(h.status, 0);
        lks_liar_fini(&liar);
    }
    lks_curl_free(c);
}

static void test_old_tls(void)
{
    struct lks_curl *c = client();
    struct lks_liar liar = {.own = &shared.server,
                            .turns = {{LKS_LIAR_CLOSE, LKS_STR(HELLO)}},
                            .turn_count = 1,
                            .version_max = TLS1_1_VERSION};
    struct heard h;
    char url[URL_SIZE];
    lks_liar_start(&liar);
    struct lks_curl_peer peer = peer_of(&liar, url);
    run(c, &peer, request("GET", "/", ""), LKS_WAIT_MS, &h);
    CHECK_CODE(h.err.code, LKS_E_UNAVAILABLE);
    CHECK_HAS(lks_str_from(h.err.msg), "TLS");
    lks_liar_fini(&liar);
    lks_curl_free(c);
}

/* What is sent ------------------------------------------------------------------------------ */

/* Names in lower case, values as one line, no cookie sent back; a small body leaves at once. */
static void test_lines(void)
{
    struct lks_curl *c = client();
    struct lks_liar liar = {
        .own = &shared.server,
        .turns = {{LKS_LIAR_ANSWER, LKS_STR("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nETag: \"1\"\r\n"
                                            "Content-Length: 0\r\n\r\n")},
                  {LKS_LIAR_CLOSE, LKS_STR(HELLO)}},
        .turn_count = 2};
    struct heard h;
    char url[URL_SIZE];
    lks_liar_start(&liar);
    struct lks_curl_peer peer = peer_of(&liar, url);
    run(c, &peer, request("GET", "/a?b=c", ""), LKS_WAIT_MS, &h);
    CHECK_STR(lks_str_from(h.head), "set-cookie: a=b\netag: \"1\"\ncontent-length: 0\n");
    run(c, &peer, request("DELETE", "/d/../e", ""), LKS_WAIT_MS, &h);
    CHECK_HAS(lks_str_from(h.head), "x-odd: a b\n");
    lks_liar_join(&liar);
    CHECK_INT(liar.accepted, 1);
    struct lks_str heard = lks_buf_view(&liar.heard);
    CHECK_HAS(heard, "GET /a?b=c HTTP/1.1\r\n");
    CHECK_HAS(heard, "DELETE /d/../e HTTP/1.1\r\n");
    CHECK_HAS(heard, "X-Auth-Token: " TOKEN "\r\n");
    CHECK(lks_str_find(heard, LKS_STR("Cookie:")) < 0);
    CHECK(lks_str_find(heard, LKS_STR("Expect:")) < 0);
    lks_liar_fini(&liar);
    lks_curl_free(c);
}

/* A stored file of `size` bytes; `digest` is what it says it is. */
static void store(size_t size, bool honest, struct lks_http_file *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(HUGE);
    struct lks_err err = {0};
    char path[LKS_DIGEST_SIZE + 1];
    for (size_t i = 0; i < size; i++)
        lks_buf_addc(&bytes, (char)('a' + i % 23));
    *out = (struct lks_http_file){.length = size};
    CHECK_CODE(lks_digest_text(lks_buf_view(&bytes), out->digest, &err), LKS_OK);
    if (!honest)
        bytes.ptr[size / 2] = '!';
    snprintf(path, sizeof(path), "/%s", out->digest);
    lks_tree_bytes(&shared.tree, path, lks_buf_view(&bytes));
}

static const struct {
    const char *name;
    size_t size;
    bool honest, missing;
    uint64_t offset, length; /* length 0: all of it */
    size_t sent;             /* at the most, where it is broken off */
    enum lks_code code;
    const char *says;
} files[] = {
    {"a small one", 9, true, false, 0, 0, 9, LKS_OK, ""},
    {"a large one", BIG, true, false, 0, 0, BIG, LKS_OK, ""},
    {"a part of one", 100, true, false, 10, 20, 20, LKS_OK, ""},
    {"a small one that was changed", 9, false, false, 0, 0, 0, LKS_E_INVALID, "not sha256:"},
    {"a large one that was changed", BIG, false, false, 0, 0, BIG - 1, LKS_E_INVALID,
     "not sha256:"},
    {"a part of one that was changed", 100, false, false, 10, 20, 0, LKS_E_INVALID, "not sha256:"},
    {"one that is shorter", 9, true, false, 0, 10, 0, LKS_E_INVALID, "not sha256:"},
    {"one that is not kept", 8, true, true, 0, 0, 0, LKS_E_NOT_FOUND, "not kept here"},
};

static struct lks_http_request huge_request(void)
{
    struct lks_http_request r = request("POST", "/push", "");
    store(HUGE, true, &r.file);
    return r;
}

static struct lks_http_request file_request(size_t i)
{
    struct lks_http_request r = request("POST", "/push", "<>");
    store(files[i].size, files[i].honest, &r.file);
    r.file_at = 1;
    r.file.offset = files[i].offset;
    if (files[i].length > 0)
        r.file.length = files[i].length;
    if (files[i].missing)
        r.file.digest[LKS_DIGEST_SIZE - 2] ^= 1;
    return r;
}

/* What is between the headers and the end. */
static struct lks_str body_of(const struct lks_liar *l)
{
    struct lks_str all = lks_buf_view(&l->heard);
    ptrdiff_t at = all.len > 0 ? lks_str_find(all, LKS_STR("\r\n\r\n")) : -1;
    if (at < 0)
        return LKS_STR("");
    return (struct lks_str){all.ptr + at + 4, all.len - (size_t)at - 4};
}

static void test_files(void)
{
    struct lks_curl *c = client();
    for (size_t i = 0; i < LKS_COUNT(files); i++) {
        bool begins = files[i].sent > 0 || files[i].code == LKS_OK ||
                      (files[i].code == LKS_E_INVALID && files[i].length == 0);
        struct lks_liar liar = {.turns = {{LKS_LIAR_CLOSE, LKS_STR(HELLO)}}, .turn_count = begins};
        struct heard h;
        char url[URL_SIZE];
        lks_test_case("%s", files[i].name);
        lks_liar_start(&liar);
        struct lks_curl_peer peer = peer_of(&liar, url);
        peer.plain = true;
        run(c, &peer, file_request(i), LKS_WAIT_MS, &h);
        lks_liar_join(&liar);
        struct lks_str body = body_of(&liar);
        CHECK_CODE(h.err.code, files[i].code);
        CHECK_HAS(lks_str_from(h.err.msg), files[i].says);
        if (files[i].code == LKS_OK && CHECK_INT(body.len, files[i].sent + 2)) {
            CHECK(body.ptr[0] == '<' && body.ptr[body.len - 1] == '>');
            CHECK(body.ptr[1] == (char)('a' + files[i].offset % 23));
        } else {
            CHECK(body.len <= files[i].sent + 1);
        }
        lks_liar_fini(&liar);
    }
    lks_curl_free(c);
}

/* A large body is announced, and not sent where it is not wanted. */
static void test_unwanted(void)
{
    struct lks_curl *c = client();
    struct lks_liar liar = {
        .turns = {{LKS_LIAR_EARLY, LKS_STR("HTTP/1.1 413 Too large\r\nConnection: close\r\n"
                                           "Content-Length: 2\r\n\r\nno")}},
        .turn_count = 1};
    struct heard h;
    char url[URL_SIZE];
    lks_liar_start(&liar);
    struct lks_curl_peer peer = peer_of(&liar, url);
    peer.plain = true;
    run(c, &peer, huge_request(), LKS_WAIT_MS, &h);
    lks_liar_join(&liar);
    CHECK_INT(h.status, 413);
    CHECK_STR(lks_str_from(h.body), "no");
    CHECK_HAS(lks_buf_view(&liar.heard), "Expect: 100-continue");
    CHECK_STR(body_of(&liar), "");
    lks_liar_fini(&liar);
    lks_curl_free(c);
}

/* "100 Continue" is not the answer. */
static void test_wanted(void)
{
    struct lks_curl *c = client();
    struct lks_liar liar = {
        .turns = {{LKS_LIAR_EARLY, LKS_STR("HTTP/1.1 100 Continue\r\nX-First: 1\r\n\r\n"
                                           "HTTP/1.1 202 Accepted\r\nConnection: close\r\n"
                                           "Location: /task/1\r\nContent-Length: 0\r\n\r\n")}},
        .turn_count = 1};
    struct heard h;
    char url[URL_SIZE];
    lks_liar_start(&liar);
    struct lks_curl_peer peer = peer_of(&liar, url);
    peer.plain = true;
    run(c, &peer, huge_request(), LKS_WAIT_MS, &h);
    lks_liar_join(&liar);
    CHECK_INT(h.status, 202);
    CHECK_STR(lks_str_from(h.head), "connection: close\nlocation: /task/1\ncontent-length: 0\n");
    lks_liar_fini(&liar);
    lks_curl_free(c);
}

/* Once -------------------------------------------------------------------------------------- */

static size_t count_of(struct lks_str text, const char *what)
{
    size_t count = 0;
    for (ptrdiff_t at; text.len > 0 && (at = lks_str_find(text, lks_str_from(what))) >= 0; count++)
        text = (struct lks_str){text.ptr + at + 1, text.len - (size_t)at - 1};
    return count;
}

/* A kept connection dies under a request: what is safe is asked again, what is not is not. */
static const struct {
    const char *method, *body;
    size_t sent;
    int status;
} repeats[] = {{"GET", "", 2, 200}, {"POST", "x", 1, 0}, {"POST", "", 1, 0}, {"PATCH", "x", 1, 0}};

static void test_once(void)
{
    for (size_t i = 0; i < LKS_COUNT(repeats); i++) {
        struct lks_curl *c = client();
        struct lks_liar liar = {.own = &shared.server,
                                .turns = {{LKS_LIAR_ANSWER, LKS_STR(HELLO)},
                                          {LKS_LIAR_CUT, LKS_STR("")},
                                          {repeats[i].sent == 2 ? LKS_LIAR_CLOSE : LKS_LIAR_CUT,
                                           repeats[i].sent == 2 ? LKS_STR(HELLO) : LKS_STR("")}},
                                .turn_count = 3};
        struct heard h;
        char url[URL_SIZE], line[32];
        lks_test_case("%s", repeats[i].method);
        lks_liar_start(&liar);
        struct lks_curl_peer peer = peer_of(&liar, url);
        run(c, &peer, request("GET", "/first", ""), LKS_WAIT_MS, &h);
        CHECK_INT(h.status, 200);
        run(c, &peer, request(repeats[i].method, "/second", repeats[i].body), LKS_WAIT_MS, &h);
        CHECK_INT(h.status, repeats[i].status);
        lks_liar_join(&liar);
        snprintf(line, sizeof(line), "%s /second ", repeats[i].method);
        CHECK_INT(count_of(lks_buf_view(&liar.heard), line), repeats[i].sent);
        lks_liar_fini(&liar);
        lks_curl_free(c);
    }
}

/* What was taken back is not heard of again; a turn can be woken. */
static void test_cancel(void)
{
    struct lks_curl *c = client();
    struct lks_liar liar = {
        .own = &shared.server, .turns = {{LKS_LIAR_SILENT, LKS_STR("")}}, .turn_count = 1};
    struct heard h = {0};
    struct lks_err err = {0};
    struct lks_curl_exchange *x = NULL;
    char url[URL_SIZE];
    lks_liar_start(&liar);
    struct lks_curl_peer peer = peer_of(&liar, url);
    struct lks_http_request r = request("GET", "/", "");
    CHECK_CODE(lks_curl_begin(c, &peer, &r, LKS_WAIT_MS, on_done, &h, &x, &err), LKS_OK);
    for (int i = 0; i < 20; i++)
        CHECK_CODE(lks_curl_turn(c, 1, &err), LKS_OK);
    lks_curl_cancel(c, x);
    lks_curl_wake(c);
    CHECK_CODE(lks_curl_turn(c, LKS_WAIT_MS, &err), LKS_OK);
    CHECK_INT(h.calls, 0);
    r = request("GET", "/", ""); /* one that is under way when all ends */
    CHECK_CODE(lks_curl_begin(c, &peer, &r, LKS_WAIT_MS, on_done, &h, &x, &err), LKS_OK);
    lks_curl_free(c);
    CHECK_INT(h.calls, 0);
    lks_liar_fini(&liar);
}

/* Looking at a certificate ------------------------------------------------------------------ */

static void test_look(void)
{
    struct lks_liar liar = {
        .own = &shared.server, .turns = {{LKS_LIAR_CLOSE, LKS_STR(HELLO)}}, .turn_count = 1};
    struct lks_curl_certificate shown = {0};
    struct lks_x509_about about;
    struct lks_err err = {0};
    char url[URL_SIZE];
    lks_liar_start(&liar);
    (void)peer_of(&liar, url);
    CHECK_CODE(lks_curl_certificate(url, LKS_WAIT_MS, &shown, &err), LKS_OK);
    lks_liar_join(&liar);
    CHECK_CODE(lks_x509_read(lks_buf_view(&shared.server.certificate), &about, &err), LKS_OK);
    CHECK_STR(lks_str_from(shown.fingerprint), shared.fingerprint);
    CHECK_STR(lks_str_from(shown.certificate), about.fingerprint);
    CHECK_STR(lks_str_from(shown.subject), "CN=localhost");
    CHECK_HAS(lks_str_from(shown.issuer), "an authority");
    CHECK_INT(shown.not_after, about.not_after);
    CHECK_INT(shown.not_before, about.not_before);
    CHECK(!shown.self_signed);
    CHECK_INT(liar.heard.len, 0);
    lks_liar_fini(&liar);
    CHECK_CODE(lks_curl_certificate("http://127.0.0.1:1", LKS_WAIT_MS, &shown, &err),
               LKS_E_INVALID);
    CHECK_CODE(lks_curl_certificate("https://127.0.0.1:1", LKS_WAIT_MS, &shown, &err),
               LKS_E_UNAVAILABLE);
    CHECK_HAS(lks_str_from(err.msg), "cannot connect");
}

/* Of which only a part is sent, so that it is read beforehand. */
static void test_unreadable(void)
{
    struct lks_http_request request = {.file = {.digest = "sha256:00", .offset = 1, .length = 1}};
    LKS_CLEANUP(lks_curl_body_fini) struct lks_curl_body body = {.fd = -1};
    struct lks_err err = {0};
    char path[96];
    lks_tree_file(&shared.tree, "/unreadable", "abc");
    snprintf(path, sizeof(path), "%s/unreadable", shared.tree.path);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    CHECK_CODE(lks_curl_body_init(&body, &request, fd, &err), LKS_E_IO);
    CHECK_STR(lks_str_from(err.msg), "sha256:00: Bad file descriptor");
}

static const struct lks_test tests[] = {
    {"who it is", test_trust},
    {"addresses", test_urls},
    {"what it says", test_answers},
    {"too much", test_floods},
    {"old TLS", test_old_tls},
    {"lines", test_lines},
    {"files", test_files},
    {"a file that cannot be read", test_unreadable},
    {"a body that is not wanted", test_unwanted},
    {"a body that is", test_wanted},
    {"once", test_once},
    {"taken back", test_cancel},
    {"a certificate", test_look},
    {0},
};

int main(void)
{
    /* Nothing of this may be followed. */
    setenv("https_proxy", "http://127.0.0.1:1", 1);
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    signal(SIGPIPE, SIG_IGN);
    shared_init();
    int status = lks_test_main(tests);
    shared_fini();
    return status;
}
