/* Clients that take their time: each is cut off when its limit is over, wherever it was. */
#include "tests/site.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <signal.h>

#define HOST "Host: x\r\n"

static const struct {
    const char *name;
    struct lks_str bytes;
    bool encrypted;
    char drip; /* sent again and again; 'h': and there is much time for a request, once it is one */
    unsigned handled;
} slow[] = {
    {"silent socket", LKS_STR_C(""), false, '\0', 0},
    {"half a TLS hello", LKS_STR_C("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), false, '\0', 0},
    {"drip-fed TLS hello", LKS_STR_C("\x16\x03\x01\x3f\xff\x01\x00\x3f\xfb\x03\x03"), false, 'x',
     0},
    {"handshake and no request", LKS_STR_C(""), true, '\0', 0},
    {"drip-fed request line", LKS_STR_C("GET /"), true, 'x', 0},
    {"drip-fed headers", LKS_STR_C("GET /a HTTP/1.1\r\n" HOST "X-Long: "), true, 'x', 0},
    {"drip-fed first headers", LKS_STR_C("GET / HTTP/1.1\r\n" HOST "X: "), true, 'h', 0},
    {"drip-fed body", LKS_STR_C("PUT /a HTTP/1.1\r\n" HOST "Content-Length: 4000\r\n\r\n"), true,
     'x', 0},
    {"drip-fed chunk",
     LKS_STR_C("PUT /a HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nfa0"), true, ';', 0},
    {"idle after a request", LKS_STR_C("GET /ok HTTP/1.1\r\n" HOST "\r\n"), true, '\0', 1},
    {"drip-fed second request", LKS_STR_C("GET /ok HTTP/1.1\r\n" HOST "\r\nGET /"), true, 'x', 1},
    {"answer that nobody reads", LKS_STR_C("GET /long HTTP/1.1\r\n" HOST "\r\n"), true, 'n', 1},
};

/* Whether as many requests were handled as should be: a machine that is busy may take longer for
 * them than the limit is. */
static bool outlasts(size_t i, unsigned limit_ms)
{
    LKS_CLEANUP(lks_site_fini) struct lks_site s = {0};
    LKS_CLEANUP(lks_wire_close) struct lks_wire w = {0};
    lks_site_init(&s, true);
    s.options.first_ms = s.options.idle_ms = limit_ms;
    s.options.request_ms = slow[i].drip == 'h' ? LKS_WAIT_MS : limit_ms;
    lks_site_start(&s);
    if (slow[i].encrypted)
        lks_site_dial(&s, &w);
    else
        lks_wire_tcp(&w, &s.loop, lks_httpd_port(s.httpd));
    bool sent = lks_wire_send(&w, slow[i].bytes);
    if (slow[i].drip != 'n')
        CHECK(lks_wire_end(&w, slow[i].drip));
    CHECK(lks_site_empty(&s));
    return sent && lks_httpd_counts(s.httpd).timeouts == 1 && s.handled == slow[i].handled;
}

static void test_deadlines(void)
{
    for (size_t i = 0; i < LKS_COUNT(slow); i++) {
        lks_test_case("%s", slow[i].name);
        unsigned limit_ms = 300;
        while (!outlasts(i, limit_ms) && limit_ms < LKS_WAIT_MS / 20)
            limit_ms *= 4;
        CHECK(limit_ms < LKS_WAIT_MS / 20);
    }
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    static const struct lks_test tests[] = {
        {"deadlines", test_deadlines},
        {0},
    };
    return lks_test_main(tests);
}
