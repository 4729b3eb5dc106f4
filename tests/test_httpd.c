#include "tests/site.h"
#include "tests/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define HOST "Host: x\r\n"
#define KIB  ((size_t)1024)

enum { OTHER_USER = 65534 };

/* ---- Requests as bytes, over a Unix socket. ---- */

static const struct {
    const char *name;
    struct lks_str request;
    const char *answer; /* in what comes back; NULL: closed without a word */
    unsigned handled;
    bool closes; /* the server ends the connection after it */
} requests[] = {
    {"a request", LKS_STR_C("GET /a HTTP/1.1\r\n" HOST "\r\n"), "GET /a|-|-|0", 1, false},
    {"headers in any case", LKS_STR_C("GET /a HTTP/1.1\r\n" HOST "X-ASK: hi\r\n\r\n"),
     "GET /a|hi|-|0", 1, false},
    {"our headers", LKS_STR_C("GET /a HTTP/1.1\r\n" HOST "\r\n"), "X-More: 2\r\n", 1, false},
    {"a query", LKS_STR_C("GET /a?q=1%202&r HTTP/1.1\r\n" HOST "\r\n"), "GET /a|-|1 2|0", 1, false},
    {"a body", LKS_STR_C("POST /a HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc"),
     "POST /a|-|-|3", 1, false},
    {"a body in chunks",
     LKS_STR_C("POST /a HTTP/1.1\r\n" HOST
               "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n"),
     "POST /a|-|-|5", 1, false},
    {"no body in the answer", LKS_STR_C("GET /none HTTP/1.1\r\n" HOST "\r\n"), "204 No Content", 1,
     false},
    {"HTTP/1.0", LKS_STR_C("GET /ok HTTP/1.0\r\n\r\n"), "200 OK", 1, true},
    {"asked to close", LKS_STR_C("GET /ok HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"), "200 OK",
     1, true},
    {"escapes are undone once", LKS_STR_C("GET /a%2561 HTTP/1.1\r\n" HOST "\r\n"), "GET /a%61|", 1,
     false},
    {"pipelined",
     LKS_STR_C("GET /ok HTTP/1.1\r\n" HOST "\r\nGET /ok HTTP/1.1\r\n" HOST
               "\r\nGET /last HTTP/1.1\r\n" HOST "\r\n"),
     "GET /last|", 3, false},
    {"dots inside a part", LKS_STR_C("GET /a..b/... HTTP/1.1\r\n" HOST "\r\n"), "GET /a..b/...|", 1,
     false},
    {"slash at the end", LKS_STR_C("GET /a/ HTTP/1.1\r\n" HOST "\r\n"), "GET /a/|", 1, false},

    {"two lengths",
     LKS_STR_C("POST /a HTTP/1.1\r\n" HOST "Content-Length: 3\r\nContent-Length: 5\r\n\r\nabc"),
     "400 Bad Request", 0, true},
    {"the same length twice",
     LKS_STR_C("POST /a HTTP/1.1\r\n" HOST "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"),
     "400 Bad Request", 0, true},
    {"a length and chunks",
     LKS_STR_C("POST /a HTTP/1.1\r\n" HOST
               "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
     "400 Bad Request", 0, true},
    {"chunks twice",
     LKS_STR_C("POST /a HTTP/1.1\r\n" HOST
               "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
     "400 Bad Request", 0, true},
    {"another coding",
     LKS_STR_C("POST /a HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
     "400 Bad Request", 0, true},
    {"a length that is a list",
     LKS_STR_C("POST /a HTTP/1.1\r\n" HOST "Content-Length: 3, 3\r\n\r\nabc"), "400 Bad Request", 0,
     true},
    {"a length with a sign", LKS_STR_C("POST /a HTTP/1.1\r\n" HOST "Content-Length: +3\r\n\r\nabc"),
     "400 Bad Request", 0, true},
    {"a length beyond numbers",
     LKS_STR_C("POST /a HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999999\r\n\r\nabc"),
     "HTTP/1.1 4", 0, true},
    {"a length below zero", LKS_STR_C("POST /a HTTP/1.1\r\n" HOST "Content-Length: -4\r\n\r\nabcd"),
     "400 Bad Request", 0, true},
    {"no host", LKS_STR_C("GET /a HTTP/1.1\r\n\r\n"), "one Host header", 0, true},
    {"two hosts", LKS_STR_C("GET /a HTTP/1.1\r\n" HOST HOST "\r\n"), "one Host header", 0, true},
    {"a chunk without a size",
     LKS_STR_C("POST /a HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n"),
     "400 Bad Request", 0, true},
    {"a chunk of nearly everything",
     LKS_STR_C("POST /a HTTP/1.1\r\n" HOST
               "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffffff\r\nab\r\n"),
     "HTTP/1.1 4", 0, true},
    {"zero byte as an escape", LKS_STR_C("GET /a%00b HTTP/1.1\r\n" HOST "\r\n"), "400 Bad Request",
     0, true},
    {"zero byte itself", LKS_STR_C("GET /a\0b HTTP/1.1\r\n" HOST "\r\n"), "400 Bad Request", 0,
     true},
    {"a slash as an escape", LKS_STR_C("GET /a%2Fb HTTP/1.1\r\n" HOST "\r\n"), "400 Bad Request", 0,
     true},
    {"an escape cut short", LKS_STR_C("GET /a%4 HTTP/1.1\r\n" HOST "\r\n"), "400 Bad Request", 0,
     true},
    {"up one folder", LKS_STR_C("GET /a/../b HTTP/1.1\r\n" HOST "\r\n"), "400 Bad Request", 0,
     true},
    {"up one folder, escaped", LKS_STR_C("GET /a/%2e%2e/b HTTP/1.1\r\n" HOST "\r\n"),
     "400 Bad Request", 0, true},
    {"up at the end", LKS_STR_C("GET /.. HTTP/1.1\r\n" HOST "\r\n"), "400 Bad Request", 0, true},
    {"an empty part", LKS_STR_C("GET /a//b HTTP/1.1\r\n" HOST "\r\n"), "400 Bad Request", 0, true},
    {"an empty part, escaped", LKS_STR_C("GET /a%2f/b HTTP/1.1\r\n" HOST "\r\n"), "400 Bad Request",
     0, true},
    {"no path", LKS_STR_C("OPTIONS * HTTP/1.1\r\n" HOST "\r\n"), "400 Bad Request", 0, true},
    {"another version", LKS_STR_C("GET /a HTTP/3.0\r\n" HOST "\r\n"), "HTTP/1.", 0, true},
    {"no version at all", LKS_STR_C("GET /a\r\n\r\n"), NULL, 0, true},
    {"TLS where none is", LKS_STR_C("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"), NULL,
     0, true},
};

static void test_requests(void)
{
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    lks_site_init(&s, false);
    lks_site_start(&s);
    for (size_t i = 0; i < LKS_COUNT(requests); i++) {
        lks_test_case("%s", requests[i].name);
        LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
        s.handled = 0;
        lks_site_dial(&s, &w);
        lks_wire_send(&w, requests[i].request);
        if (requests[i].answer != NULL)
            CHECK(lks_wire_until(&w, requests[i].answer));
        if (requests[i].closes)
            CHECK(lks_wire_end(&w, '\0'));
        else
            CHECK(!w.ended);
        CHECK_INT(s.handled, requests[i].handled);
        if (requests[i].closes) /* one answer, not one inside another */
            CHECK_INT(lks_str_find(lks_buf_view(&w.got), LKS_STR("\r\nHTTP/1.")), -1);
    }
}

static void add_request(struct lks_buf *out, const char *how, size_t size)
{
    lks_buf_addf(out, "POST /a HTTP/1.1\r\n" HOST);
    if (strcmp(how, "headers") == 0) {
        lks_buf_addf(out, "X-Long: ");
        lks_buf_pad(out, 'x', (ptrdiff_t)size);
        lks_buf_addf(out, "\r\n\r\n");
    } else if (strcmp(how, "length") == 0) {
        lks_buf_addf(out, "Content-Length: %zu\r\n\r\n", size);
        lks_buf_pad(out, 'x', (ptrdiff_t)size);
    } else if (strcmp(how, "chunks") == 0) {
        lks_buf_addf(out, "Transfer-Encoding: chunked\r\n\r\n");
        for (size_t done = 0; done < size; done += 1024) {
            lks_buf_addf(out, "400\r\n");
            lks_buf_pad(out, 'x', 1024);
            lks_buf_addf(out, "\r\n");
        }
        lks_buf_addf(out, "0\r\n\r\n");
    } else {
        lks_buf_addf(out, "Content-Length: %zu\r\nExpect: 100-continue\r\n\r\n", size);
    }
}

static const struct {
    const char *name, *how;
    size_t size;
    const char *answer; /* NULL: whatever, but closed and not handled */
} sizes[] = {
    {"body at the limit", "length", 4096, "POST /a|-|-|4096"},
    {"chunks at the limit", "chunks", 4096, "POST /a|-|-|4096"},
    {"body past the limit", "length", 4097, "413 "},
    {"chunks past the limit", "chunks", 5 * KIB, "413 "},
    {"long body", "length", 900 * KIB, "413 "},
    {"long chunks", "chunks", 900 * KIB, "413 "},
    {"body that is not waited for", "length", 8 * KIB * 1024, NULL},
    {"chunks without end", "chunks", 8 * KIB * 1024, NULL},
    {"client that asks first", "expect", 900 * KIB, "413 "},
    {"client that asks first, and may", "expect", 4096, "100 Continue"},
    {"long headers", "headers", 20 * KIB, "431 "},
    {"endless headers", "headers", 1024 * KIB, NULL},
};

static void test_sizes(void)
{
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    lks_site_init(&s, false);
    lks_site_start(&s);
    for (size_t i = 0; i < LKS_COUNT(sizes); i++) {
        lks_test_case("%s", sizes[i].name);
        LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(16 * KIB * 1024);
        add_request(&text, sizes[i].how, sizes[i].size);
        s.handled = 0;
        lks_site_dial(&s, &w);
        lks_wire_send(&w, lks_buf_view(&text));
        if (sizes[i].answer != NULL)
            CHECK(lks_wire_until(&w, sizes[i].answer));
        else
            CHECK(lks_wire_end(&w, '\0'));
        CHECK_INT(s.handled, sizes[i].size == 4096 && sizes[i].how[0] != 'e' ? 1 : 0);
    }
    CHECK(lks_httpd_counts(s.httpd).refused_size >= 6);
}

/* Bodies that are under way have a limit together, below which small ones always are; what a client
 * that left had is free again. */
static void test_bodies_together(void)
{
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    LKS_CLEANUP(lks_wire_close) struct lks_wire first = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf half = LKS_BUF(KIB * 1024);
    static const struct {
        const char *name;
        size_t size;
        bool leaves; /* the first one, before */
        const char *answer;
    } more[] = {{"another large one", 190 * KIB, false, "503 "},
                {"a small one", 4 * KIB, false, "200 "},
                {"after the first left", 190 * KIB, true, "200 "},
                {"and once more", 190 * KIB, false, "200 "}};
    lks_site_init(&s, false);
    s.options.body_max = 200 * KIB;
    s.options.bodies_max = 300 * KIB;
    lks_site_start(&s);
    add_request(&half, "length", 190 * KIB);
    lks_site_dial(&s, &first);
    lks_wire_send(&first, (struct lks_str){half.ptr, half.len - 1});
    for (int i = 0; i < 200; i++) /* until all of that was read */
        lks_wire_round(&s.loop);
    for (size_t i = 0; i < LKS_COUNT(more); i++) {
        lks_test_case("%s", more[i].name);
        LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(KIB * 1024);
        add_request(&text, "length", more[i].size);
        if (more[i].leaves) {
            lks_wire_close(&first);
            CHECK(lks_site_empty(&s));
        }
        lks_site_dial(&s, &w);
        lks_wire_send(&w, lks_buf_view(&text));
        CHECK(lks_wire_until(&w, more[i].answer));
    }
}

/* ---- Long answers. ---- */

/* The other side of resting: a long answer leaves without rests even while a handshake is silent.
 */
static void test_long_answer(void)
{
    for (int tls = 0; tls < 2; tls++) {
        lks_test_case("%s", tls ? "TLS" : "unix");
        LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
        LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0}, silent = {0};
        lks_site_init(&s, tls);
        lks_site_start(&s);
        lks_site_dial(&s, &w);
        if (tls)
            lks_wire_tcp(&silent, &s.loop, lks_httpd_port(s.httpd));
        else
            lks_site_dial(&s, &silent);
        CHECK(lks_wire_send(&w, LKS_STR("GET /long HTTP/1.1\r\n" HOST "\r\n")));
        CHECK(lks_wire_until(&w, "x!"));
        CHECK_HAS(lks_buf_view(&w.got), "Content-Length: 3145728\r\n");
        CHECK(w.got.len > 3145728);
        lks_buf_truncate(&w.got, 0);
        CHECK(lks_wire_send(&w, LKS_STR("GET /long-constant HTTP/1.1\r\n" HOST "\r\n")));
        CHECK(lks_wire_until(&w, "x!"));
        CHECK_HAS(lks_buf_view(&w.got), "X-C: 1\r\n");
        CHECK(w.got.len > 3145728);
        CHECK(lks_wire_send(&w, LKS_STR("GET /ok HTTP/1.1\r\n" HOST "\r\n")));
        CHECK(lks_wire_until(&w, "ok\n"));
    }
}

/* ---- Connections. ---- */

static void test_connection_limits(void)
{
    for (int address = 0; address < 2; address++) {
        lks_test_case("%s", address ? "from one address" : "in all");
        LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
        LKS_CLEANUP(lks_wire_close) struct lks_wire a = {0}, b = {0}, c = {0};
        lks_site_init(&s, true);
        s.options.connections = address ? 100 : 2;
        s.options.per_address = address ? 2 : 0;
        lks_site_start(&s);
        lks_site_dial(&s, &a);
        lks_site_dial(&s, &b);
        lks_wire_tcp(&c, &s.loop, lks_httpd_port(s.httpd));
        if (address)
            CHECK(lks_wire_end(&c, '\0')); /* sent away at once */
        for (int i = 0; i < 50; i++)
            lks_wire_round(&s.loop);
        CHECK_INT(lks_httpd_counts(s.httpd).connections, 2);
        /* Those that are in are served, and a place that is left is taken. */
        CHECK(lks_wire_send(&a, LKS_STR("GET /ok HTTP/1.1\r\n" HOST "\r\n")));
        CHECK(lks_wire_until(&a, "ok\n"));
        lks_wire_close(&b);
        for (int i = 0; i < 1000 && lks_httpd_counts(s.httpd).connections == 2 && address; i++)
            lks_wire_round(&s.loop);
        if (address) {
            lks_wire_close(&c);
            lks_site_dial(&s, &c);
        } else {
            CHECK(lks_wire_tls(&c, NULL, TLS1_3_VERSION, NULL));
        }
        CHECK(lks_wire_send(&c, LKS_STR("GET /ok HTTP/1.1\r\n" HOST "\r\n")));
        CHECK(lks_wire_until(&c, "ok\n"));
    }
}

/* On a Unix socket it is the user who has so many. */
static void test_connections_of_a_user(void)
{
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    LKS_CLEANUP(lks_wire_close) struct lks_wire a = {0}, b = {0}, c = {0};
    lks_site_init(&s, false);
    s.options.per_address = 2;
    lks_site_start(&s);
    lks_site_dial(&s, &a);
    lks_site_dial(&s, &b);
    lks_site_dial(&s, &c);
    CHECK(lks_wire_end(&c, '\0'));
    CHECK(lks_wire_send(&a, LKS_STR("GET /ok HTTP/1.1\r\n" HOST "\r\n")));
    CHECK(lks_wire_until(&a, "ok\n"));
    lks_wire_close(&b);
    for (int i = 0; i < 1000 && lks_httpd_counts(s.httpd).connections > 1; i++)
        lks_wire_round(&s.loop);
    lks_site_dial(&s, &b);
    CHECK(lks_wire_send(&b, LKS_STR("GET /ok HTTP/1.1\r\n" HOST "\r\n")));
    CHECK(lks_wire_until(&b, "ok\n"));
}

static void test_memory_of_a_connection(void)
{
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
    lks_site_init(&s, false);
    lks_site_start(&s);
    lks_site_dial(&s, &w);
    CHECK(lks_wire_send(&w, LKS_STR("GET /who HTTP/1.1\r\n" HOST "\r\n")));
    CHECK(lks_wire_until(&w, "again=0"));
    CHECK(lks_wire_send(&w, LKS_STR("GET /who HTTP/1.1\r\n" HOST "\r\n")));
    CHECK(lks_wire_until(&w, "again=1"));
    CHECK_INT(s.dropped, 0);
    lks_wire_close(&w);
    CHECK(lks_site_wait(&s, &s.dropped, 1));
}

static void reply_held(struct lks_site *s, const char *text)
{
    lks_httpd_reply(s->held, &(struct lks_httpd_reply){
                                 .status = 200, .type = "text/plain", .body = lks_str_from(text)});
    s->held = NULL;
}

static void hold_one(struct lks_site *s, struct lks_wire *w)
{
    unsigned before = s->handled;
    lks_site_dial(s, w);
    CHECK(lks_wire_send(w, LKS_STR("GET /hold HTTP/1.1\r\n" HOST "\r\n")));
    CHECK(lks_site_wait(s, &s->handled, before + 1));
    CHECK(s->held != NULL);
}

static void test_later_answers(void)
{
    for (int tls = 0; tls < 2; tls++) {
        lks_test_case("%s", tls ? "TLS" : "unix");
        LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
        LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0}, other = {0};
        lks_site_init(&s, tls);
        lks_site_start(&s);
        hold_one(&s, &w);
        lks_site_dial(&s, &other); /* others go on meanwhile */
        CHECK(lks_wire_send(&other, LKS_STR("GET /ok HTTP/1.1\r\n" HOST "\r\n")));
        CHECK(lks_wire_until(&other, "ok\n"));
        reply_held(&s, "at last");
        CHECK(lks_wire_until(&w, "at last"));
        CHECK(lks_wire_send(&w, LKS_STR("GET /ok HTTP/1.1\r\n" HOST "\r\n")));
        CHECK(lks_wire_until(&w, "ok\n"));
        CHECK_INT(s.gone, 0);
    }
}

/* One request's handler gives another's answer. */
static void test_answer_from_another(void)
{
    for (int tls = 0; tls < 2; tls++) {
        lks_test_case("%s", tls ? "TLS" : "unix");
        LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
        LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0}, other = {0};
        lks_site_init(&s, tls);
        lks_site_start(&s);
        hold_one(&s, &w);
        lks_site_dial(&s, &other);
        CHECK(lks_wire_send(&other, LKS_STR("GET /free HTTP/1.1\r\n" HOST "\r\n")));
        CHECK(lks_wire_until(&other, "ok\n"));
        CHECK(lks_wire_until(&w, "freed"));
        CHECK_INT(lks_httpd_counts(s.httpd).timeouts, 0);
    }
}

/* A client may close its own half and still wait for the answer. */
static void test_half_closed(void)
{
    for (int held = 0; held < 2; held++) {
        lks_test_case("%s", held ? "answered later" : "answered at once");
        LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
        LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
        lks_site_init(&s, false);
        lks_site_start(&s);
        if (held) {
            hold_one(&s, &w);
            shutdown(w.fd, SHUT_WR);
            for (int i = 0; i < 1500; i++) /* longer than between two looks at it */
                lks_wire_round(&s.loop);
            if (!CHECK(s.held != NULL))
                continue;
            reply_held(&s, "ok\n");
        } else {
            lks_site_dial(&s, &w);
            CHECK(lks_wire_send(&w, LKS_STR("GET /ok HTTP/1.1\r\n" HOST "\r\n")));
            shutdown(w.fd, SHUT_WR);
        }
        CHECK(lks_wire_until(&w, "ok\n"));
        CHECK(lks_wire_end(&w, '\0'));
        CHECK_INT(s.gone, 0);
    }
}

/* A client that closes while its request is with the handler. */
static void test_client_leaves(void)
{
    for (int tls = 0; tls < 2; tls++) {
        lks_test_case("%s", tls ? "TLS, reset" : "unix");
        LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
        LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
        lks_site_init(&s, tls);
        lks_site_start(&s);
        hold_one(&s, &w);
        const struct lks_httpd_exchange *held = s.held;
        const struct linger hard = {.l_onoff = 1, .l_linger = 0};
        setsockopt(w.fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
        lks_wire_close(&w);
        CHECK(lks_site_wait(&s, &s.gone, 1));
        CHECK(s.left == held);
        CHECK(lks_site_empty(&s));
    }
}

/* The answer to one that left quietly finds nobody, and that is all. */
static void test_answer_to_nobody(void)
{
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
    lks_site_init(&s, true);
    lks_site_start(&s);
    hold_one(&s, &w);
    lks_wire_close(&w);
    reply_held(&s, "hello?");
    CHECK(lks_site_empty(&s));
    CHECK_INT(s.gone, 0);
}

static void test_drain(void)
{
    for (int tls = 0; tls < 2; tls++) {
        lks_test_case("%s", tls ? "TLS" : "unix");
        LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
        LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0}, idle = {0}, late = {0};
        lks_site_init(&s, tls);
        lks_site_start(&s);
        lks_site_dial(&s, &idle);
        CHECK(lks_wire_send(&idle, LKS_STR("GET /ok HTTP/1.1\r\n" HOST "\r\n")));
        CHECK(lks_wire_until(&idle, "ok\n"));
        hold_one(&s, &w);
        lks_httpd_drain(s.httpd);
        CHECK(lks_wire_end(&idle, '\0'));
        CHECK_INT(lks_httpd_counts(s.httpd).connections, 1);
        if (tls) {
            lks_wire_tcp(&late, &s.loop, lks_httpd_port(s.httpd));
            CHECK(lks_wire_end(&late, '\0'));
        } else {
            late = (struct lks_wire){.loop = &s.loop, .fd = -1};
            CHECK(access(s.socket + 5, F_OK) != 0);
        }
        reply_held(&s, "the last one");
        CHECK(lks_wire_until(&w, "the last one"));
        CHECK_HAS(lks_buf_view(&w.got), "Connection: close\r\n");
        CHECK(lks_wire_end(&w, '\0'));
        CHECK(lks_site_empty(&s));
    }
}

static void test_stop_with_all_kinds(void)
{
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    LKS_CLEANUP(lks_wire_close)
    struct lks_wire held = {0}, stream = {0}, idle = {0}, silent = {0}, half = {0};
    lks_site_init(&s, true);
    lks_site_start(&s);
    hold_one(&s, &held);
    lks_site_dial(&s, &idle);
    lks_site_dial(&s, &stream);
    CHECK(lks_wire_send(&stream, LKS_STR("GET /stream HTTP/1.1\r\n" HOST "\r\n")));
    CHECK(lks_wire_until(&stream, "text/event-stream"));
    lks_wire_tcp(&silent, &s.loop, lks_httpd_port(s.httpd));
    lks_site_dial(&s, &half);
    CHECK(
        lks_wire_send(&half, LKS_STR("PUT /a HTTP/1.1\r\n" HOST "Content-Length: 10\r\n\r\nabc")));
    lks_site_stop(&s);
    CHECK_INT(s.gone, 1);
    CHECK_INT(s.ended, 1);
    CHECK(lks_wire_end(&held, '\0'));
    CHECK(lks_wire_end(&stream, '\0'));
    CHECK(lks_wire_end(&idle, '\0'));
    CHECK(lks_wire_end(&silent, '\0'));
    CHECK(lks_wire_end(&half, '\0'));
}

/* On a machine that is busy itself nothing may have come yet. */
static void on_time(uv_timer_t *timer)
{
    struct lks_site *s = timer->data;
    if (s->handled <= 10)
        return;
    s->feed_max = 0;
    uv_close((uv_handle_t *)timer, NULL);
}

/* A server that always has work still sees the loop's other timers: here the one that ends it. */
static void test_busy_server_shares_its_loop(void)
{
    enum { MANY = 200000 };
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
    uv_timer_t timer = {.data = &s};
    lks_site_init(&s, true);
    lks_site_start(&s);
    lks_site_dial(&s, &w);
    s.feed = &w;
    s.feed_max = MANY;
    uv_timer_init(&s.loop, &timer);
    uv_timer_start(&timer, on_time, 20, 20);
    CHECK(lks_wire_send(&w, LKS_STR("GET /again HTTP/1.1\r\n" HOST "\r\n")));
    while (s.feed_max > 0 && s.handled < MANY)
        uv_run(&s.loop, UV_RUN_NOWAIT);
    CHECK(s.handled > 10);
    CHECK(s.handled < MANY);
}

/* ---- Streams. ---- */

static void open_stream(struct lks_site *s, struct lks_wire *w)
{
    lks_site_dial(s, w);
    CHECK(lks_wire_send(w, LKS_STR("GET /stream HTTP/1.1\r\n" HOST "\r\n")));
    CHECK(lks_wire_until(w, "text/event-stream")); /* before anything was written */
}

static void test_stream(void)
{
    for (int tls = 0; tls < 2; tls++) {
        lks_test_case("%s", tls ? "TLS" : "unix");
        LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
        LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
        lks_site_init(&s, tls);
        lks_site_start(&s);
        open_stream(&s, &w);
        CHECK(lks_httpd_stream_write(s.streams[0], LKS_STR("data: one\n\n")));
        CHECK_INT(lks_httpd_stream_backlog(s.streams[0]), 11);
        CHECK(lks_wire_until(&w, "data: one\n\n"));
        CHECK_INT(lks_httpd_stream_backlog(s.streams[0]), 0);
        CHECK(lks_httpd_stream_write(s.streams[0], LKS_STR("data: two\n\n")));
        CHECK(lks_httpd_stream_write(s.streams[0], LKS_STR("data: three\n\n")));
        lks_httpd_stream_close(s.streams[0]);
        CHECK(lks_wire_until(&w, "data: three\n\n"));
        CHECK(lks_wire_until(&w, "\r\n0\r\n"));
        LKS_CLEANUP(lks_wire_close) struct lks_wire cut = {0};
        open_stream(&s, &cut);
        CHECK(lks_httpd_stream_write(s.streams[1], LKS_STR("data: part\n\n")));
        CHECK(lks_wire_until(&cut, "data: part\n\n"));
        lks_httpd_stream_cut(s.streams[1]);
        CHECK(lks_wire_end(&cut, '\0'));
        CHECK(strstr(cut.got.ptr, "\r\n0\r\n") == NULL); /* it does not look whole */
        CHECK_INT(s.ended, 0);
    }
}

/* One that stalls is dropped at its backlog; the others miss nothing. */
static void test_stalled_reader(void)
{
    for (int tls = 0; tls < 2; tls++) {
        lks_test_case("%s", tls ? "TLS" : "unix");
        LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
        LKS_CLEANUP(lks_wire_close) struct lks_wire stalled = {0}, live = {0};
        char event[4096];
        unsigned written = 0;
        lks_site_init(&s, tls);
        lks_site_start(&s);
        open_stream(&s, &stalled);
        open_stream(&s, &live);
        memset(event, 'e', sizeof(event));
        for (; s.ended == 0 && written < 10000; written++) {
            struct lks_str bytes = {event, sizeof(event)};
            if (!lks_httpd_stream_write(s.streams[0], bytes))
                CHECK_INT(s.ended, 1);
            CHECK(lks_httpd_stream_write(s.streams[1], bytes));
            CHECK(lks_wire_until(&live, "e\r\n"));
            lks_buf_truncate(&live.got, 0);
        }
        CHECK_INT(s.ended, 1);
        CHECK(s.streams[0] == NULL && s.streams[1] != NULL);
        CHECK(lks_httpd_stream_write(s.streams[1], LKS_STR("data: still here\n\n")));
        CHECK(lks_wire_until(&live, "still here"));
        CHECK(lks_wire_end(&stalled, '\0'));
        CHECK_INT(lks_httpd_counts(s.httpd).connections, 1);
    }
}

static void test_reader_leaves(void)
{
    for (int tls = 0; tls < 2; tls++) {
        lks_test_case("%s", tls ? "TLS" : "unix");
        LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
        LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
        lks_site_init(&s, tls);
        lks_site_start(&s);
        open_stream(&s, &w);
        lks_wire_close(&w);
        CHECK(lks_site_wait(&s, &s.ended, 1)); /* though nothing was written */
        CHECK(lks_site_empty(&s));
    }
}

/* ---- Unix sockets. ---- */

static void test_unix_socket(void)
{
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
    struct lks_httpd *second = NULL;
    struct lks_err err = {0};
    struct stat st = {0};
    char who[32];
    lks_site_init(&s, false);
    lks_site_start(&s);
    CHECK(stat(s.socket + 5, &st) == 0 && S_ISSOCK(st.st_mode));
    CHECK_INT(st.st_mode & 07777, 0660);
    lks_site_dial(&s, &w);
    CHECK(lks_wire_send(&w, LKS_STR("GET /who HTTP/1.1\r\n" HOST "\r\n")));
    snprintf(who, sizeof(who), "kind=2 name= uid=%u", (unsigned)getuid());
    CHECK(lks_wire_until(&w, who));

    CHECK_CODE(lks_httpd_new(&s.loop, &s.options, NULL, NULL, NULL, &second, &err), LKS_E_REFUSED);
    CHECK_HAS(lks_str_from(err.msg), "another program listens there");
    CHECK(stat(s.socket + 5, &st) == 0);
    lks_site_stop(&s);
    CHECK(stat(s.socket + 5, &st) != 0);
}

/* As another user of this machine; false where that user cannot come so far. */
static bool dial_as_other(struct lks_site *s, struct lks_wire *w)
{
    CHECK(seteuid(OTHER_USER) == 0);
    bool near = faccessat(AT_FDCWD, s->socket + 5, W_OK, AT_EACCESS) == 0;
    if (near)
        lks_site_dial(s, w);
    CHECK(seteuid(0) == 0);
    return near;
}

/* Others leave connections to root and to a user that is named. Only root can be another user. */
static void check_kept(size_t named, size_t answered)
{
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    struct lks_wire others[4] = {0}, root = {0};
    lks_site_init(&s, false);
    s.options.connections = 6;
    s.options.kept = 4;
    s.options.users = (const uid_t[]){OTHER_USER};
    s.options.user_count = named;
    s.options.socket_mode = 0666;
    lks_site_start(&s);
    CHECK(chmod(s.tree.path, 0711) == 0);
    for (size_t i = 0; getuid() == 0 && i < LKS_COUNT(others); i++) {
        lks_test_case("connection %zu of others, %zu named", i, named);
        if (!dial_as_other(&s, &others[i]))
            break;
        bool sent = lks_wire_send(&others[i], LKS_STR("GET /ok HTTP/1.1\r\n" HOST "\r\n"));
        CHECK_INT(sent && lks_wire_until(&others[i], "200 "), i < answered);
    }
    lks_site_dial(&s, &root);
    CHECK(lks_wire_send(&root, LKS_STR("GET /ok HTTP/1.1\r\n" HOST "\r\n")));
    CHECK(lks_wire_until(&root, "200 "));
    for (size_t i = 0; i < LKS_COUNT(others); i++) {
        if (others[i].loop != NULL)
            lks_wire_close(&others[i]);
    }
    lks_wire_close(&root);
}

static void test_unix_kept(void)
{
    check_kept(0, 2);
    check_kept(1, 4);
}

static void test_unix_places(void)
{
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct lks_httpd *h = NULL;
    struct lks_err err = {0};
    lks_site_init(&s, false);

    lks_test_case("a file of somebody's");
    lks_tree_file(&s.tree, "/sock", "precious");
    CHECK_CODE(lks_httpd_new(&s.loop, &s.options, NULL, NULL, NULL, &h, &err), LKS_E_REFUSED);
    CHECK_HAS(lks_str_from(err.msg), "is no socket");
    unlink(s.socket + 5);

    lks_test_case("a socket that a killed daemon left");
    memcpy(at.sun_path, s.socket + 5, strlen(s.socket + 5) + 1);
    int left = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(left, (const struct sockaddr *)&at, sizeof(at)) == 0);
    close(left);
    lks_site_start(&s);

    lks_test_case("another's socket is not removed at the end");
    CHECK(unlink(s.socket + 5) == 0);
    left = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(left, (const struct sockaddr *)&at, sizeof(at)) == 0);
    lks_site_stop(&s);
    CHECK(access(s.socket + 5, F_OK) == 0);
    close(left);
}

static const struct {
    const char *address;
    enum lks_code code;
    const char *message;
} places[] = {
    {"127.0.0.1:0", LKS_OK, ""},
    {"[::1]:0", LKS_OK, ""},
    {"localhost:0", LKS_OK, ""},
    {"127.0.0.1", LKS_E_INVALID, "neither ADDRESS:PORT nor unix:/PATH"},
    {"127.0.0.1:70000", LKS_E_INVALID, "neither ADDRESS:PORT nor unix:/PATH"},
    {"::1:7443", LKS_E_INVALID, "neither ADDRESS:PORT nor unix:/PATH"},
    {":7443", LKS_E_INVALID, "neither ADDRESS:PORT nor unix:/PATH"},
    {"192.0.2.1:0", LKS_E_INVALID, "192.0.2.1:0: listen: "},
    {"unix:relative", LKS_E_INVALID, "not an absolute path"},
    {"unix:/nowhere/at/all/sock", LKS_E_IO, "bind: No such file"},
};

static void test_places(void)
{
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    lks_site_init(&s, true);
    for (size_t i = 0; i < LKS_COUNT(places); i++) {
        lks_test_case("%s", places[i].address);
        struct lks_err err = {0};
        struct lks_httpd *h = NULL;
        s.options.address = places[i].address;
        CHECK_CODE(lks_httpd_new(&s.loop, &s.options, NULL, NULL, NULL, &h, &err), places[i].code);
        CHECK_HAS(lks_str_from(err.msg), places[i].message);
        CHECK((h != NULL) == (places[i].code == LKS_OK));
        if (h != NULL)
            CHECK(lks_httpd_port(h) > 0);
        lks_httpd_free(h);
        uv_run(&s.loop, UV_RUN_DEFAULT);
    }
}

static const struct lks_test tests[] = {
    {"requests", test_requests},
    {"sizes", test_sizes},
    {"bodies together", test_bodies_together},
    {"long answer", test_long_answer},
    {"connection limits", test_connection_limits},
    {"connections of a user", test_connections_of_a_user},
    {"memory of a connection", test_memory_of_a_connection},
    {"later answers", test_later_answers},
    {"answer from another", test_answer_from_another},
    {"half closed", test_half_closed},
    {"client leaves", test_client_leaves},
    {"answer to nobody", test_answer_to_nobody},
    {"drain", test_drain},
    {"stop with all kinds", test_stop_with_all_kinds},
    {"busy server shares its loop", test_busy_server_shares_its_loop},
    {"stream", test_stream},
    {"stalled reader", test_stalled_reader},
    {"reader leaves", test_reader_leaves},
    {"unix socket", test_unix_socket},
    {"unix connections for root", test_unix_kept},
    {"unix places", test_unix_places},
    {"places", test_places},
    {0},
};

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* libssl's own sockets, in the clients of this test */
    return lks_test_main(tests);
}
