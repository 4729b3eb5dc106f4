/* Requests that are refused before they are read to their end: the answer is ours, it arrives
 * although the sender goes on sending, and other connections do not notice. */
#include "tests/site.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <signal.h>
#include <stdio.h>

#define HOST "Host: x\r\n"
#define KIB  ((size_t)1024)
#define MIB  (KIB * KIB)

static void pad(struct lks_buf *out, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++)
        lks_buf_addf(out, "%s", text);
}

static const struct {
    const char *name, *head, *part, *tail;
    size_t times;
    const char *status;
} longs[] = {
    {"a long path", "GET /", "x", " HTTP/1.1\r\n" HOST "\r\n", 20 * KIB, "414 "},
    {"a path without end", "GET /", "x", "", 200 * KIB, "414 "},
    {"a long query", "GET /a?q=", "x", " HTTP/1.1\r\n" HOST "\r\n", 20 * KIB, "414 "},
    {"a query of many parts", "GET /a?q", "&q", " HTTP/1.1\r\n" HOST "\r\n", KIB, "431 "},
    {"a long header", "GET /a HTTP/1.1\r\n" HOST "X: ", "x", "\r\n\r\n", 20 * KIB, "431 "},
    {"a header without end", "GET /a HTTP/1.1\r\n" HOST "X: ", "x", "", 200 * KIB, "431 "},
    {"many headers", "GET /a HTTP/1.1\r\n" HOST, "X: \r\n", "\r\n", KIB, "431 "},
    {"long cookies", "GET /a HTTP/1.1\r\n" HOST "Cookie: a=", "x", "\r\n\r\n", 5 * KIB, "431 "},
    {"many cookies", "GET /a HTTP/1.1\r\n" HOST "Cookie: a", ";a", "\r\n\r\n", KIB, "431 "},
    {"headers before a body", "POST /a HTTP/1.1\r\n" HOST "Content-Length: 40000\r\n", "X: \r\n",
     "\r\n", 9 * KIB, "431 "},
};

static void ask(struct lks_wire *w, const char *path)
{
    char text[128];
    int len = snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\n" HOST "\r\n", path);
    CHECK(lks_wire_send(w, (struct lks_str){text, (size_t)len}));
}

static void one_long(struct lks_site *s, size_t i)
{
    LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(MIB);
    lks_buf_addf(&text, "%s", longs[i].head);
    pad(&text, longs[i].part, longs[i].times);
    lks_buf_addf(&text, "%s", longs[i].tail);
    lks_site_dial(s, &w);
    (void)lks_wire_send(&w, lks_buf_view(&text));
    CHECK(lks_wire_end(&w, '\0'));
    CHECK_HAS(lks_buf_view(&w.got), longs[i].status);
    CHECK_HAS(lks_buf_view(&w.got), "application/problem+json");
    CHECK_INT(lks_str_find(lks_buf_view(&w.got), LKS_STR("\r\nHTTP/1.")), -1);
}

/* One that waits for its next request and one in the middle of its headers are there meanwhile. */
static void test_too_long(void)
{
    for (size_t i = 0; i < 2 * LKS_COUNT(longs); i++) {
        bool tls = i >= LKS_COUNT(longs);
        LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
        LKS_CLEANUP(lks_wire_close) struct lks_wire idle = {0}, half = {0};
        lks_test_case("%s, %s", tls ? "TLS" : "unix", longs[i % LKS_COUNT(longs)].name);
        lks_site_init(&s, tls);
        lks_site_start(&s);
        lks_site_dial(&s, &idle);
        lks_site_dial(&s, &half);
        ask(&idle, "/a");
        CHECK(lks_wire_until(&idle, "GET /a|"));
        CHECK(lks_wire_send(&half, LKS_STR("GET /half HTTP/1.1\r\n" HOST "X-Ask: h")));
        one_long(&s, i % LKS_COUNT(longs));
        CHECK_INT(s.handled, 1);
        CHECK(lks_wire_send(&half, LKS_STR("i\r\n\r\n")));
        CHECK(lks_wire_until(&half, "GET /half|hi|"));
        ask(&idle, "/b");
        CHECK(lks_wire_until(&idle, "GET /b|"));
    }
}

/* Looking for the connection that is too long takes nothing from others, however often. */
static void test_too_long_often(void)
{
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    LKS_CLEANUP(lks_wire_close) struct lks_wire idle = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(MIB);
    lks_site_init(&s, false);
    lks_site_start(&s);
    lks_site_dial(&s, &idle);
    ask(&idle, "/a");
    CHECK(lks_wire_until(&idle, "GET /a|"));
    for (size_t i = 0; i < 80; i++)
        one_long(&s, 0);
    lks_buf_addf(&text, "GET /b HTTP/1.1\r\n" HOST "X: ");
    pad(&text, "x", 5 * KIB);
    lks_buf_addf(&text, "\r\n\r\n");
    CHECK(lks_wire_send(&idle, lks_buf_view(&text)));
    CHECK(lks_wire_until(&idle, "GET /b|"));
}

/* Bodies ------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *head;
    size_t before, after; /* bytes of the body: with the headers, and behind the answer */
    const char *status;
} bodies[] = {
    {"a bad path", "POST /a//b HTTP/1.1\r\n" HOST "Content-Length: 500000\r\n\r\n", 1000, 499000,
     "400 "},
    {"two lengths",
     "POST /a HTTP/1.1\r\n" HOST "Content-Length: 500000\r\nContent-Length: 500000\r\n\r\n", 1000,
     499000, "400 "},
    {"a length that is none", "POST /a HTTP/1.1\r\n" HOST "Content-Length: x\r\n\r\n", 1000, 100000,
     "400 "},
    {"a body that is too long", "POST /a HTTP/1.1\r\n" HOST "Content-Length: 5000000\r\n\r\n", 1000,
     900000, "413 "},
};

/* Everything is sent before anything is read, and the last of it after the server closed: a
 * connection that is reset by then has lost its answer. */
static void test_bodies(void)
{
    for (size_t i = 0; i < 2 * LKS_COUNT(bodies); i++) {
        bool tls = i >= LKS_COUNT(bodies);
        size_t row = i % LKS_COUNT(bodies);
        LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
        LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(MIB);
        lks_test_case("%s, %s", tls ? "TLS" : "unix", bodies[row].name);
        lks_site_init(&s, tls);
        lks_site_start(&s);
        lks_site_dial(&s, &w);
        lks_buf_addf(&text, "%s", bodies[row].head);
        pad(&text, "x", bodies[row].before);
        CHECK(lks_wire_send(&w, lks_buf_view(&text)));
        CHECK(lks_site_empty(&s));
        lks_buf_truncate(&text, 0);
        pad(&text, "x", bodies[row].after);
        bool lingers = CHECK_INT(lks_httpd_counts(s.httpd).lingered, 1);
        CHECK(lks_wire_send(&w, lks_buf_view(&text)));
        for (struct lks_wait wait = {0};
             lingers && lks_httpd_counts(s.httpd).lingered_bytes < bodies[row].after &&
             lks_wait_on(&wait);)
            lks_wire_round(&s.loop);
        CHECK(lks_wire_until(&w, bodies[row].status) && lks_wire_end(&w, '\0'));
        CHECK_INT(s.handled, 0);
    }
}

/* A sender without end is cut off. */
static void test_no_end(void)
{
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(MIB);
    lks_site_init(&s, true);
    lks_site_start(&s);
    lks_site_dial(&s, &w);
    CHECK(lks_wire_send(
        &w, LKS_STR("POST /a//b HTTP/1.1\r\n" HOST "Content-Length: 900000000\r\n\r\n")));
    pad(&text, "x", 64 * KIB);
    size_t sent = 0;
    while (sent < 200 * MIB && lks_wire_send(&w, lks_buf_view(&text)))
        sent += text.len;
    CHECK(sent < 200 * MIB);
    CHECK(lks_httpd_counts(s.httpd).lingered_bytes <= MIB);
}

/* More connections than are waited for: the oldest ones make way, and none is left over. */
static void test_many(void)
{
    enum { MANY = 90 };
    static struct lks_wire w[MANY];
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    lks_site_init(&s, false);
    lks_site_start(&s);
    for (size_t i = 0; i < MANY; i++) {
        lks_site_dial(&s, &w[i]);
        CHECK(lks_wire_send(
            &w[i], LKS_STR("POST /a//b HTTP/1.1\r\n" HOST "Content-Length: 1000\r\n\r\n")));
        CHECK(lks_site_empty(&s));
    }
    CHECK_INT(lks_httpd_counts(s.httpd).lingered, MANY);
    CHECK(!lks_wire_send(&w[0], LKS_STR("x")));
    CHECK(lks_wire_send(&w[MANY - 1], LKS_STR("x")));
    for (size_t i = 0; i < MANY; i++) {
        CHECK(lks_wire_until(&w[i], "400 "));
        lks_wire_close(&w[i]);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"requests that are too long", test_too_long},
        {"requests that are too long, many times", test_too_long_often},
        {"bodies that are refused", test_bodies},
        {"a sender without end", test_no_end},
        {"many senders", test_many},
        {0},
    };
    signal(SIGPIPE, SIG_IGN); /* OpenSSL writes to what the server has closed */
    return lks_test_main(tests);
}
