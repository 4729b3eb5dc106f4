#include "codec/format/http.h"

#include "tests/test.h"

#include <stdio.h>

enum { BODY_MAX = 64 };

#define OK_LINE "HTTP/1.1 200 OK\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n\r\n"

/* Feed `text` in pieces of `step` bytes, then the end of the connection if `end` is set. */
static enum lks_code feed(struct lks_http_answer *a, struct lks_str text, size_t step, bool end,
                          size_t *left, struct lks_err *err)
{
    while (text.len > 0 && !lks_http_answer_whole(a)) {
        struct lks_str piece = {text.ptr, text.len < step ? text.len : step};
        size_t taken = 0;
        if (lks_http_answer_feed(a, piece, &taken, err) != LKS_OK)
            return err->code;
        text = (struct lks_str){text.ptr + taken, text.len - taken};
    }
    *left = text.len;
    return end ? lks_http_answer_end(a, err) : LKS_OK;
}

static const struct {
    const char *name;
    struct lks_str text;
    bool bodiless;
    int status;
    const char *body;
    bool keep_alive;
    size_t left; /* bytes that are not this answer's */
} good[] = {
    {"a length", LKS_STR_C(OK_LINE "Content-Length: 3\r\n\r\nabc"), false, 200, "abc", true, 0},
    {"no body", LKS_STR_C(OK_LINE "Content-Length: 0\r\n\r\n"), false, 200, "", true, 0},
    {"no reason", LKS_STR_C("HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n"), false, 404, "", true, 0},
    {"empty reason", LKS_STR_C("HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n"), false, 404, "", true,
     0},
    {"chunks", LKS_STR_C(OK_LINE CHUNKED "1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"), false, 200, "abc", true,
     0},
    {"chunk extensions", LKS_STR_C(OK_LINE CHUNKED "1;x=\"y\"\r\na\r\n0;z\r\n\r\n"), false, 200,
     "a", true, 0},
    {"chunk sizes in either case", LKS_STR_C(OK_LINE CHUNKED "0A\r\n0123456789\r\n00\r\n\r\n"),
     false, 200, "0123456789", true, 0},
    {"trailers", LKS_STR_C(OK_LINE CHUNKED "1\r\na\r\n0\r\nX-Sum: 1\r\nContent-Length: 9\r\n\r\n"),
     false, 200, "a", true, 0},
    {"coding in capitals", LKS_STR_C(OK_LINE "TRANSFER-ENCODING: Chunked\r\n\r\n0\r\n\r\n"), false,
     200, "", true, 0},
    {"to the end", LKS_STR_C(OK_LINE "\r\nall of it"), false, 200, "all of it", false, 0},
    {"the same length twice", LKS_STR_C(OK_LINE "Content-Length: 1\r\nContent-Length: 1\r\n\r\na"),
     false, 200, "a", true, 0},
    {"asked to close", LKS_STR_C(OK_LINE "Connection: x, close\r\nContent-Length: 1\r\n\r\na"),
     false, 200, "a", false, 0},
    {"HTTP/1.0", LKS_STR_C("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na"), false, 200, "a", false,
     0},
    {"HTTP/1.0 that stays",
     LKS_STR_C("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na"), false,
     200, "a", true, 0},
    {"204", LKS_STR_C("HTTP/1.1 204 No Content\r\n\r\n"), false, 204, "", true, 0},
    {"304 with a length", LKS_STR_C("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"),
     false, 304, "", true, 0},
    {"204 that lies", LKS_STR_C("HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\nabc"), false, 204, "",
     false, 3},
    {"to a HEAD", LKS_STR_C(OK_LINE "Content-Length: 9\r\n\r\n"), true, 200, "", true, 0},
    {"interim first",
     LKS_STR_C("HTTP/1.1 100 Continue\r\nX: y\r\n\r\n" OK_LINE "Content-Length: 1\r\n\r\na"), false,
     200, "a", true, 0},
    {"more than one answer", LKS_STR_C(OK_LINE "Content-Length: 1\r\n\r\naHTTP/1.1"), false, 200,
     "a", true, 8},
    {"line feeds in the body", LKS_STR_C(OK_LINE "Content-Length: 3\r\n\r\n\n\r\n"), false, 200,
     "\n\r\n", true, 0},
};

static void test_good(void)
{
    for (size_t i = 0; i < LKS_COUNT(good); i++) {
        for (size_t step = 1; step < 100; step = step * 3 + 1) {
            lks_test_case("%s, %zu bytes at a time", good[i].name, step);
            LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer a = {0};
            struct lks_err err = {0};
            size_t left = 99;
            lks_http_answer_init(&a, BODY_MAX, good[i].bodiless);
            if (!CHECK_CODE(feed(&a, good[i].text, step, true, &left, &err), LKS_OK))
                CHECK_STR(lks_str_from(err.msg), "");
            CHECK(lks_http_answer_whole(&a));
            CHECK_INT(a.status, good[i].status);
            CHECK_STR(lks_buf_view(&a.body), good[i].body);
            CHECK(a.keep_alive == good[i].keep_alive);
            CHECK_INT(left, good[i].left);
        }
    }
}

static const struct {
    const char *name;
    struct lks_str text;
    enum lks_code code;
    const char *message;
} bad[] = {
    {"nothing", LKS_STR_C(""), LKS_E_UNAVAILABLE, "ended before the answer did"},
    {"cut in the line", LKS_STR_C("HTTP/1.1 20"), LKS_E_UNAVAILABLE, "ended before"},
    {"cut in the headers", LKS_STR_C(OK_LINE "Content-"), LKS_E_UNAVAILABLE, "ended before"},
    {"cut in the body", LKS_STR_C(OK_LINE "Content-Length: 3\r\n\r\nab"), LKS_E_UNAVAILABLE,
     "ended before"},
    {"cut in a chunk", LKS_STR_C(OK_LINE CHUNKED "3\r\nab"), LKS_E_UNAVAILABLE, "ended before"},
    {"cut before the last chunk", LKS_STR_C(OK_LINE CHUNKED "1\r\na\r\n"), LKS_E_UNAVAILABLE,
     "ended before"},
    {"cut in the trailers", LKS_STR_C(OK_LINE CHUNKED "0\r\n"), LKS_E_UNAVAILABLE, "ended before"},
    {"interim and no more", LKS_STR_C("HTTP/1.1 100 Continue\r\n\r\n"), LKS_E_UNAVAILABLE,
     "ended before"},
    {"not HTTP", LKS_STR_C("SSH-2.0-OpenSSH_9.2\r\n"), LKS_E_INVALID, "an HTTP/1.1 status"},
    {"HTTP/2", LKS_STR_C("HTTP/2 200\r\n\r\n"), LKS_E_INVALID, "an HTTP/1.1 status"},
    {"status of two digits", LKS_STR_C("HTTP/1.1 20 OK\r\n\r\n"), LKS_E_INVALID, "status"},
    {"status of four digits", LKS_STR_C("HTTP/1.1 2000 OK\r\n\r\n"), LKS_E_INVALID, "status"},
    {"status 099", LKS_STR_C("HTTP/1.1 099 OK\r\n\r\n"), LKS_E_INVALID, "status"},
    {"status of letters", LKS_STR_C("HTTP/1.1 2x0 OK\r\n\r\n"), LKS_E_INVALID, "status"},
    {"empty line first", LKS_STR_C("\r\n" OK_LINE), LKS_E_INVALID, "status"},
    {"another protocol", LKS_STR_C("HTTP/1.1 101 Switching\r\n\r\n"), LKS_E_INVALID, "protocol"},
    {"bare line feed", LKS_STR_C("HTTP/1.1 200 OK\n"), LKS_E_INVALID, "line feed without"},
    {"bare line feed in headers", LKS_STR_C(OK_LINE "A: b\nC: d\r\n\r\n"), LKS_E_INVALID,
     "line feed without"},
    {"return inside a header", LKS_STR_C(OK_LINE "A: b\rC: d\r\n\r\n"), LKS_E_INVALID,
     "control character"},
    {"zero byte in a header", LKS_STR_C(OK_LINE "A: b\0c\r\n\r\n"), LKS_E_INVALID,
     "control character"},
    {"escape in a header", LKS_STR_C(OK_LINE "A: \x1b[1m\r\n\r\n"), LKS_E_INVALID, "no header"},
    {"folded header", LKS_STR_C(OK_LINE "A: b\r\n c\r\n\r\n"), LKS_E_INVALID, "folded"},
    {"header without a colon", LKS_STR_C(OK_LINE "A b\r\n\r\n"), LKS_E_INVALID, "no header"},
    {"header without a name", LKS_STR_C(OK_LINE ": b\r\n\r\n"), LKS_E_INVALID, "no header"},
    {"blank before the colon", LKS_STR_C(OK_LINE "Content-Length : 1\r\n\r\na"), LKS_E_INVALID,
     "no header"},
    {"two lengths", LKS_STR_C(OK_LINE "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
     LKS_E_INVALID, "two lengths"},
    {"a list of lengths", LKS_STR_C(OK_LINE "Content-Length: 1, 1\r\n\r\na"), LKS_E_INVALID,
     "not a number"},
    {"a length with a sign", LKS_STR_C(OK_LINE "Content-Length: +1\r\n\r\na"), LKS_E_INVALID,
     "not a number"},
    {"a length beyond numbers", LKS_STR_C(OK_LINE "Content-Length: 18446744073709551616\r\n\r\n"),
     LKS_E_INVALID, "not a number"},
    {"a length beside chunks", LKS_STR_C(OK_LINE "Content-Length: 1\r\n" CHUNKED "0\r\n\r\n"),
     LKS_E_INVALID, "beside chunks"},
    {"another coding", LKS_STR_C(OK_LINE "Transfer-Encoding: gzip, chunked\r\n\r\n"), LKS_E_INVALID,
     "Transfer-Encoding"},
    {"chunks twice", LKS_STR_C(OK_LINE "Transfer-Encoding: chunked\r\n" CHUNKED), LKS_E_INVALID,
     "Transfer-Encoding"},
    {"chunks in HTTP/1.0", LKS_STR_C("HTTP/1.0 200 OK\r\n" CHUNKED), LKS_E_INVALID,
     "Transfer-Encoding"},
    {"chunk without a size", LKS_STR_C(OK_LINE CHUNKED "\r\n"), LKS_E_INVALID, "without a size"},
    {"chunk with a sign", LKS_STR_C(OK_LINE CHUNKED "-1\r\n"), LKS_E_INVALID, "without a size"},
    {"chunk with a prefix", LKS_STR_C(OK_LINE CHUNKED "0x1\r\na\r\n"), LKS_E_INVALID,
     "without a size"},
    {"chunk beyond numbers", LKS_STR_C(OK_LINE CHUNKED "fffffffffffffffff\r\n"), LKS_E_INVALID,
     "without a size"},
    {"chunk longer than its size", LKS_STR_C(OK_LINE CHUNKED "1\r\nab\r\n"), LKS_E_INVALID,
     "longer than its size"},
    {"folded trailer", LKS_STR_C(OK_LINE CHUNKED "0\r\n x\r\n\r\n"), LKS_E_INVALID, "folded"},
    {"a length past the limit", LKS_STR_C(OK_LINE "Content-Length: 65\r\n\r\n"), LKS_E_LIMIT,
     "longer than 64 bytes"},
    {"chunks past the limit",
     LKS_STR_C(OK_LINE CHUNKED "41\r\n"
                               "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0"),
     LKS_E_LIMIT, "longer than 64 bytes"},
    {"past the limit to the end",
     LKS_STR_C(OK_LINE "\r\n"
                       "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0"),
     LKS_E_LIMIT, "longer than 64 bytes"},
};

static void test_bad(void)
{
    for (size_t i = 0; i < LKS_COUNT(bad); i++) {
        for (size_t step = 1; step < 100; step = step * 5 + 1) {
            lks_test_case("%s, %zu bytes at a time", bad[i].name, step);
            LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer a = {0};
            struct lks_err err = {0};
            size_t left = 0, taken = 77;
            lks_http_answer_init(&a, BODY_MAX, false);
            CHECK_CODE(feed(&a, bad[i].text, step, true, &left, &err), bad[i].code);
            CHECK_HAS(lks_str_from(err.msg), bad[i].message);
            CHECK(!lks_http_answer_whole(&a));
            CHECK(lks_http_answer_feed(&a, LKS_STR("x"), &taken, &err) != LKS_OK);
            CHECK_INT(taken, 77);
        }
    }
}

static void test_headers(void)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer a = {0};
    struct lks_err err = {0};
    size_t left = 0;
    lks_http_answer_init(&a, BODY_MAX, false);
    struct lks_str text = LKS_STR("HTTP/1.1 100 Wait\r\nOld: gone\r\n\r\n" OK_LINE
                                  "ETag: \"J-7\" \r\nX-Empty:\r\netag: second\r\n\r\n");
    CHECK_CODE(feed(&a, text, 5, true, &left, &err), LKS_OK);
    CHECK_STR(lks_http_answer_header(&a, "etag"), "\"J-7\"");
    CHECK_STR(lks_http_answer_header(&a, "x-empty"), "");
    CHECK_STR(lks_http_answer_header(&a, "old"), "");
    CHECK_STR(lks_http_answer_header(&a, "eta"), "");
    CHECK_STR(lks_buf_view(&a.head), "etag: \"J-7\"\nx-empty: \netag: second\n");
}

static const struct {
    const char *name, *begin, *again;
} endless[] = {
    {"status line", "HTTP/1.1 200 ", "x"},
    {"one header", OK_LINE "A: ", "x"},
    {"headers", OK_LINE, "A: b\r\n"},
    {"interim answers", "", "HTTP/1.1 100 Continue\r\n\r\n"},
    {"chunk extension", OK_LINE CHUNKED "1;", "x"},
    {"trailers", OK_LINE CHUNKED "0\r\n", "A: b\r\n"},
};

static void test_endless(void)
{
    for (size_t i = 0; i < LKS_COUNT(endless); i++) {
        lks_test_case("%s", endless[i].name);
        LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer a = {0};
        struct lks_err err = {0};
        size_t taken = 0, fed = 0;
        lks_http_answer_init(&a, BODY_MAX, false);
        enum lks_code code = lks_http_answer_feed(&a, lks_str_from(endless[i].begin), &taken, &err);
        for (; code == LKS_OK && fed < 2 * LKS_HTTP_HEAD_MAX; fed += strlen(endless[i].again))
            code = lks_http_answer_feed(&a, lks_str_from(endless[i].again), &taken, &err);
        CHECK_CODE(code, LKS_E_LIMIT);
        CHECK(fed <= LKS_HTTP_HEAD_MAX + 64);
    }
}

/* ---- Events. ---- */

struct heard {
    char text[256];
    size_t len;
    unsigned wanted;
};

static bool hear(void *ctx, struct lks_str id, struct lks_str data)
{
    struct heard *h = ctx;
    h->len +=
        (size_t)snprintf(h->text + h->len, sizeof(h->text) - h->len,
                         "%" LKS_STR_FMT "=%" LKS_STR_FMT ";", LKS_STR_ARG(id), LKS_STR_ARG(data));
    return --h->wanted > 0;
}

static const struct {
    const char *name;
    struct lks_str text;
    const char *events;
} streams[] = {
    {"an event", LKS_STR_C("id: 7\ndata: x\n\n"), "7=x;"},
    {"without an id", LKS_STR_C("data: x\n\n"), "=x;"},
    {"the id stays", LKS_STR_C("id: 7\ndata: x\n\ndata: y\n\n"), "7=x;7=y;"},
    {"an empty id", LKS_STR_C("id: 7\ndata: x\n\nid\ndata: y\n\n"), "7=x;=y;"},
    {"an id with a zero byte", LKS_STR_C("id: 7\nid: 8\0\ndata: x\n\n"), "7=x;"},
    {"data of more lines", LKS_STR_C("data: a\ndata: b\n\n"), "=a\nb;"},
    {"empty data", LKS_STR_C("data\n\n"), "=;"},
    {"no data", LKS_STR_C("id: 7\n\n"), ""},
    {"one blank belongs to the field", LKS_STR_C("data:  a\ndata:b\n\n"), "= a\nb;"},
    {"comments", LKS_STR_C(": hello\n\n:\ndata: x\n\n"), "=x;"},
    {"other fields", LKS_STR_C("event: e\nretry: 1\ndatax: y\ndata: x\n\n"), "=x;"},
    {"CRLF", LKS_STR_C("id: 7\r\ndata: x\r\n\r\ndata: y\r\n\r\n"), "7=x;7=y;"},
    {"CR", LKS_STR_C("id: 7\rdata: x\r\rdata: y\r\r"), "7=x;7=y;"},
    {"cut off", LKS_STR_C("data: x\n\ndata: y\n"), "=x;"},
};

static void test_events(void)
{
    for (size_t i = 0; i < LKS_COUNT(streams); i++) {
        for (size_t step = 1; step < 64; step *= 4) {
            lks_test_case("%s, %zu bytes at a time", streams[i].name, step);
            LKS_CLEANUP(lks_http_events_fini) struct lks_http_events e = {0};
            struct heard heard = {.wanted = 100};
            struct lks_str rest = streams[i].text;
            struct lks_err err = {0};
            bool going = true;
            lks_http_events_init(&e);
            while (rest.len > 0) {
                struct lks_str piece = {rest.ptr, rest.len < step ? rest.len : step};
                CHECK_CODE(lks_http_events_feed(&e, piece, hear, &heard, &going, &err), LKS_OK);
                rest = (struct lks_str){rest.ptr + piece.len, rest.len - piece.len};
            }
            CHECK(going);
            CHECK_STR(lks_str_from(heard.text), streams[i].events);
        }
    }
}

static void test_events_end(void)
{
    LKS_CLEANUP(lks_http_events_fini) struct lks_http_events e = {0};
    struct heard heard = {.wanted = 2};
    struct lks_err err = {0};
    bool going = true;
    lks_http_events_init(&e);
    CHECK_CODE(lks_http_events_feed(&e, LKS_STR("data:1\n\ndata:2\n\ndata:3\n\n"), hear, &heard,
                                    &going, &err),
               LKS_OK);
    CHECK(!going);
    CHECK_STR(lks_str_from(heard.text), "=1;=2;");
}

static void test_events_endless(void)
{
    static const char *const again[] = {"data: y", "data: x\n", "xxxxxxxx"};
    for (size_t i = 0; i < LKS_COUNT(again); i++) {
        lks_test_case("%s", again[i]);
        LKS_CLEANUP(lks_http_events_fini) struct lks_http_events e = {0};
        struct heard heard = {.wanted = 1};
        struct lks_err err = {0};
        enum lks_code code = LKS_OK;
        bool going = true;
        lks_http_events_init(&e);
        for (size_t fed = 0; code == LKS_OK && fed < 8 * LKS_HTTP_EVENT_MAX; fed += 8)
            code = lks_http_events_feed(&e, lks_str_from(again[i]), hear, &heard, &going, &err);
        CHECK_CODE(code, LKS_E_LIMIT);
        CHECK(going);
    }
}

static const struct lks_test tests[] = {
    {"good answers", test_good},
    {"bad answers", test_bad},
    {"headers", test_headers},
    {"endless answers", test_endless},
    {"events", test_events},
    {"end of events", test_events_end},
    {"endless events", test_events_endless},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
