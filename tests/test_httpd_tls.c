#include "tests/site.h"
#include "tests/test.h"

#include <signal.h>

#define HOST "Host: x\r\n"
#define KIB  ((size_t)1024)

enum { NOBODY, GOOD, FOREIGN, EXPIRED, NOT_YET, SERVERS, SHOWN_COUNT };

static const struct {
    const char *name;
    struct lks_pki_wish wish;
    bool foreign;
    const char *required, *optional; /* in the answer; NULL: no connection */
} shown[SHOWN_COUNT] = {
    [NOBODY] = {"no certificate", {0}, false, NULL, "kind=0"},
    [GOOD] = {"a good one",
              {.use = LKS_X509_NODE, .name = "n1"},
              false,
              "kind=1 name=n1",
              "kind=1 name=n1"},
    [FOREIGN] =
        {"of another authority", {.use = LKS_X509_NODE, .name = "n1"}, true, "403 ", "403 "},
    [EXPIRED] = {"expired",
                 {.use = LKS_X509_NODE, .name = "n1", .age = INT64_C(2) * 24 * 3600},
                 false,
                 "403 ",
                 "403 "},
    [NOT_YET] = {"not yet valid",
                 {.use = LKS_X509_NODE, .name = "n1", .age = -3600},
                 false,
                 "403 ",
                 "403 "},
    [SERVERS] = {"a server's", {.use = LKS_X509_SERVER, .name = "n1"}, false, "403 ", "403 "},
};

static void show_certificate(struct lks_site *s, const struct lks_pair *own, int version,
                             const char *answer)
{
    LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
    uint64_t refused = lks_httpd_counts(s->httpd).refused_tls;
    lks_wire_tcp(&w, &s->loop, lks_httpd_port(s->httpd));
    bool up = lks_wire_tls(&w, own, version, NULL) &&
              lks_wire_send(&w, LKS_STR("GET /who HTTP/1.1\r\n" HOST "\r\n"));
    if (answer != NULL) {
        CHECK(up && lks_wire_until(&w, answer));
    } else {
        CHECK(!up || lks_wire_end(&w, '\0'));
        CHECK_INT(w.got.len, 0);
    }
    bool served = answer != NULL && answer[0] == 'k';
    CHECK(served ? !w.ended : lks_wire_end(&w, '\0'));
    lks_wire_close(&w);
    CHECK(lks_site_empty(s));
    CHECK_INT(lks_httpd_counts(s->httpd).refused_tls - refused, served ? 0 : 1);
}

static void test_certificates(void)
{
    LKS_CLEANUP(lks_pair_fini) struct lks_pair foreign = {0};
    lks_pki_authority(&foreign);
    for (int required = 0; required < 2; required++) {
        LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
        lks_site_init(&s, true);
        s.options.clients = required ? LKS_HTTPD_CLIENTS_REQUIRED : LKS_HTTPD_CLIENTS_OPTIONAL;
        lks_site_start(&s);
        for (size_t i = 0; i < SHOWN_COUNT; i++) {
            LKS_CLEANUP(lks_pair_fini) struct lks_pair own = {0};
            if (i != NOBODY)
                lks_pki_issue(shown[i].foreign ? &foreign : &s.authority, shown[i].wish, &own);
            const char *answer = required ? shown[i].required : shown[i].optional;
            for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
                lks_test_case("%s, %s, TLS 1.%d", shown[i].name, required ? "required" : "optional",
                              version - TLS1_VERSION);
                show_certificate(&s, i == NOBODY ? NULL : &own, version, answer);
            }
        }
    }
}

static void test_old_tls(void)
{
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
    lks_site_init(&s, true);
    lks_site_start(&s);
    lks_wire_tcp(&w, &s.loop, lks_httpd_port(s.httpd));
    CHECK(!lks_wire_tls(&w, NULL, TLS1_1_VERSION, NULL));
}

/* A ticket brings the client's chain back, and it is judged again. */
static void test_tickets(void)
{
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        lks_test_case("TLS 1.%d", version - TLS1_VERSION);
        LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
        LKS_CLEANUP(lks_pair_fini) struct lks_pair own = {0};
        LKS_CLEANUP(lks_wire_close) struct lks_wire first = {0}, second = {0};
        lks_site_init(&s, true);
        s.options.clients = LKS_HTTPD_CLIENTS_REQUIRED;
        lks_site_start(&s);
        lks_pki_issue(&s.authority, (struct lks_pki_wish){.use = LKS_X509_NODE, .name = "n7"},
                      &own);
        lks_wire_tcp(&first, &s.loop, lks_httpd_port(s.httpd));
        lks_wire_tcp(&second, &s.loop, lks_httpd_port(s.httpd));
        CHECK(lks_wire_tls(&first, &own, version, NULL));
        CHECK(lks_wire_send(&first, LKS_STR("GET /who HTTP/1.1\r\n" HOST "\r\n")));
        CHECK(lks_wire_until(&first, "name=n7"));
        CHECK(!SSL_session_reused(first.ssl));

        SSL_SESSION *session = SSL_get1_session(first.ssl);
        CHECK(lks_wire_tls(&second, NULL, version, session));
        SSL_SESSION_free(session);
        CHECK(SSL_session_reused(second.ssl));
        CHECK(lks_wire_send(&second, LKS_STR("GET /who HTTP/1.1\r\n" HOST "\r\n")));
        CHECK(lks_wire_until(&second, "kind=1 name=n7"));
    }
}

/* A connection is good no longer than the certificate it was made with. */
static void test_outlived(void)
{
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    LKS_CLEANUP(lks_pair_fini) struct lks_pair own = {0};
    LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
    lks_site_init(&s, true);
    s.options.clients = LKS_HTTPD_CLIENTS_REQUIRED;
    lks_site_start(&s);
    lks_pki_issue(&s.authority,
                  (struct lks_pki_wish){.use = LKS_X509_NODE, .name = "n1", .seconds = 4}, &own);
    lks_wire_tcp(&w, &s.loop, lks_httpd_port(s.httpd));
    CHECK(lks_wire_tls(&w, &own, TLS1_3_VERSION, NULL));
    unsigned asked = 0;
    bool refused = false;
    for (; asked < 1000 && !refused && !w.ended; asked++) {
        CHECK(lks_wire_send(&w, LKS_STR("GET /ok HTTP/1.1\r\n" HOST "\r\n")));
        lks_buf_truncate(&w.got, 0);
        CHECK(lks_wire_until(&w, "\r\n\r\n"));
        refused = strstr(w.got.ptr, "403 ") != NULL;
        for (int i = 0; i < 50 && !refused; i++)
            lks_wire_round(&s.loop);
    }
    CHECK(refused && asked > 1);
    CHECK_INT(lks_httpd_counts(s.httpd).refused_tls, 1);
}

/* A new authority counts for connections to come; those that are up go on. */
static void test_new_certificates(void)
{
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    LKS_CLEANUP(lks_pair_fini) struct lks_pair other = {0}, own = {0};
    LKS_CLEANUP(lks_wire_close) struct lks_wire before = {0}, after = {0};
    struct lks_err err = {0};
    lks_site_init(&s, true);
    lks_site_start(&s);
    lks_site_dial(&s, &before);
    lks_pki_authority(&other);
    lks_pki_issue(&other, (struct lks_pki_wish){.use = LKS_X509_NODE, .name = "n9"}, &own);
    CHECK_CODE(lks_httpd_certificates(s.httpd, lks_buf_view(&s.server.certificate),
                                      lks_buf_view(&other.key), lks_buf_view(&other.certificate),
                                      &err),
               LKS_E_INVALID);
    CHECK_CODE(lks_httpd_certificates(s.httpd, lks_buf_view(&s.server.certificate),
                                      lks_buf_view(&s.server.key), lks_buf_view(&other.certificate),
                                      &err),
               LKS_OK);
    lks_wire_tcp(&after, &s.loop, lks_httpd_port(s.httpd));
    CHECK(lks_wire_tls(&after, &own, TLS1_3_VERSION, NULL));
    CHECK(lks_wire_send(&after, LKS_STR("GET /who HTTP/1.1\r\n" HOST "\r\n")));
    CHECK(lks_wire_until(&after, "kind=1 name=n9"));
    CHECK(lks_wire_send(&before, LKS_STR("GET /who HTTP/1.1\r\n" HOST "\r\n")));
    CHECK(lks_wire_until(&before, "kind=1 name=n1"));
}

/* A handshake that waits must cost rests, not runs: the loop goes round a hundred times and more
 * while the library runs a few times. */
static void test_no_spinning(void)
{
    enum { SILENT = 8 };
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    struct lks_wire silent[SILENT];
    lks_site_init(&s, true);
    lks_site_start(&s);
    for (size_t i = 0; i < SILENT; i++) {
        lks_wire_tcp(&silent[i], &s.loop, lks_httpd_port(s.httpd));
        if (i % 2 == 0)
            CHECK(lks_wire_send(&silent[i], LKS_STR("\x16\x03\x01\x02\x00\x01")));
    }
    for (int i = 0; i < 50; i++)
        lks_wire_round(&s.loop);
    CHECK_INT(lks_httpd_counts(s.httpd).connections, SILENT);
    /* With the timers out of the way nothing but the server's own wish would make it run. */
    uint64_t before = lks_httpd_counts(s.httpd).runs;
    lks_ms start = uv_now(&s.loop);
    unsigned rounds = 0;
    while (uv_now(&s.loop) < start + 800) {
        uv_run(&s.loop, UV_RUN_ONCE);
        rounds++;
    }
    uint64_t runs = lks_httpd_counts(s.httpd).runs - before;
    CHECK(runs <= 20);   /* ten at 80 ms each, and slack; it was as many as the core could do */
    CHECK(rounds <= 60); /* those, and the ticks */
    for (size_t i = 0; i < SILENT; i++)
        lks_wire_close(&silent[i]);
}

/* The other side of resting: headers longer than the first buffer are read in many runs without a
 * callback, and none of them rests, silent handshake or not. */
static void test_long_headers(void)
{
    for (int silent = 0; silent < 2; silent++) {
        lks_test_case("%s", silent ? "beside a silent handshake" : "alone");
        LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
        LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0}, other = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(16 * KIB);
        lks_buf_addf(&text, "GET /ok HTTP/1.1\r\n" HOST "X-Long: ");
        lks_buf_pad(&text, 'x', (ptrdiff_t)(6 * KIB));
        lks_buf_addf(&text, "\r\n\r\n");
        lks_site_init(&s, true);
        lks_site_start(&s);
        lks_site_dial(&s, &w);
        lks_wire_tcp(&other, &s.loop, lks_httpd_port(s.httpd));
        if (!silent)
            lks_wire_close(&other);
        uint64_t rests = lks_httpd_counts(s.httpd).rests;
        uint64_t runs = lks_httpd_counts(s.httpd).runs;
        CHECK(lks_wire_send(&w, lks_buf_view(&text)));
        CHECK(lks_wire_until(&w, "ok\n"));
        CHECK(lks_httpd_counts(s.httpd).runs > runs + 8);
        CHECK(lks_httpd_counts(s.httpd).rests <= rests + 3);
    }
}

/* An answer leaves in two pieces, and the first makes no callback: none of the runs between them
 * rests, silent handshake or not. The last request is one that the library refuses by itself. */
static void test_pipelined(void)
{
    for (int silent = 0; silent < 2; silent++) {
        lks_test_case("%s", silent ? "beside a silent handshake" : "alone");
        LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
        LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0}, other = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(16 * KIB);
        for (int i = 0; i < 20; i++)
            lks_buf_addf(&text, "GET /ok HTTP/1.1\r\n" HOST "\r\n");
        lks_buf_addf(&text, "POST /ok HTTP/1.1\r\n" HOST "Content-Length: -4\r\n\r\nabcd");
        lks_site_init(&s, true);
        lks_site_start(&s);
        lks_site_dial(&s, &w);
        lks_wire_tcp(&other, &s.loop, lks_httpd_port(s.httpd));
        if (!silent)
            lks_wire_close(&other);
        uint64_t rests = lks_httpd_counts(s.httpd).rests;
        CHECK(lks_wire_send(&w, lks_buf_view(&text)));
        CHECK(lks_wire_end(&w, '\0'));
        CHECK(lks_httpd_counts(s.httpd).rests <= rests + 3);
        CHECK_INT(s.handled, 20);
        ptrdiff_t at = lks_str_find(lks_buf_view(&w.got), LKS_STR("HTTP/1.1 400 "));
        CHECK(at > 0);
        struct lks_str last = {w.got.ptr + at, w.got.len - (size_t)at};
        CHECK_HAS(last, "has to be a number");
        CHECK_INT(lks_str_find(last, LKS_STR("\r\nHTTP/1.")), -1);
    }
}

static const struct lks_test tests[] = {
    {"certificates", test_certificates},
    {"old TLS", test_old_tls},
    {"tickets", test_tickets},
    {"a certificate that is outlived", test_outlived},
    {"new certificates", test_new_certificates},
    {"no spinning", test_no_spinning},
    {"long headers", test_long_headers},
    {"pipelined", test_pipelined},
    {0},
};

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* libssl's own sockets, in the clients of this test */
    return lks_test_main(tests);
}
