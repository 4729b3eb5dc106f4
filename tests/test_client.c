#include "drivers/http/client.h"

#include "tests/liar.h"
#include "tests/test.h"
#include "tests/tree.h"
#include "tests/wait.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { BODY_MAX = 4096, SHORT_MS = 300 };

#define TOKEN   "lks_api_x_verysecret"
#define OK_LINE "HTTP/1.1 200 OK\r\n"
#define HELLO   OK_LINE "Content-Length: 5\r\n\r\nhello"

/* What all tests share: an authority, a server's pair, a client's, and their files. */
static struct {
    struct lks_tree tree;
    struct lks_pair authority, server, client;
    char ca[96], certificate[96], key[96], socket[96];
} shared;

static void put(char out[96], const char *name, const struct lks_buf *text)
{
    char path[32];
    snprintf(path, sizeof(path), "/%s", name);
    lks_tree_bytes(&shared.tree, path, lks_buf_view(text));
    snprintf(out, 96, "%s%s", shared.tree.path, path);
}

static void shared_init(void)
{
    shared.tree = lks_tree_new();
    lks_pki_authority(&shared.authority);
    lks_pki_issue(&shared.authority,
                  (struct lks_pki_wish){.use = LKS_X509_SERVER, .name = "localhost"},
                  &shared.server);
    lks_pki_issue(&shared.authority, (struct lks_pki_wish){.use = LKS_X509_NODE, .name = "n1"},
                  &shared.client);
    put(shared.ca, "ca.crt", &shared.authority.certificate);
    put(shared.certificate, "own.crt", &shared.client.certificate);
    put(shared.key, "own.key", &shared.client.key);
    snprintf(shared.socket, sizeof(shared.socket), "%s/sock", shared.tree.path);
}

static void shared_fini(void)
{
    lks_pair_fini(&shared.authority);
    lks_pair_fini(&shared.server);
    lks_pair_fini(&shared.client);
    lks_tree_free(&shared.tree);
}

/* A client of the liar, by this host name. */
static struct lks_client *client_of(const struct lks_liar *l, const char *host, int timeout_ms,
                                    bool certified)
{
    struct lks_client *c = NULL;
    struct lks_err err = {0};
    char server[160];
    if (l->path != NULL)
        snprintf(server, sizeof(server), "unix:%s", l->path);
    else
        snprintf(server, sizeof(server), "https://%s:%u", host, l->port);
    struct lks_client_options o = {.server = server,
                                   .ca = shared.ca,
                                   .certificate = certified ? shared.certificate : NULL,
                                   .key = certified ? shared.key : NULL,
                                   .token = TOKEN,
                                   .timeout_ms = timeout_ms,
                                   .body_max = BODY_MAX};
    CHECK_CODE(lks_client_new(&o, &c, &err), LKS_OK);
    LKS_ASSERT(c != NULL);
    return c;
}

static enum lks_code get(struct lks_client *c, struct lks_http_answer *a, struct lks_err *err)
{
    lks_http_answer_fini(a);
    return lks_client_exchange(c, "GET", "/v1/x", NULL, LKS_STR(""), "", a, err);
}

/* ---- One answer, true or not. ---- */

static const struct {
    const char *name;
    struct lks_liar_turn turn;
    enum lks_code code;
    const char *said; /* the body, or a part of the message */
} answers[] = {
    {"a length", {LKS_LIAR_ANSWER, LKS_STR_C(HELLO)}, LKS_OK, "hello"},
    {"chunks",
     {LKS_LIAR_ANSWER,
      LKS_STR_C(OK_LINE "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n")},
     LKS_OK,
     "hello"},
    {"to the end", {LKS_LIAR_CLOSE, LKS_STR_C(OK_LINE "\r\nhello")}, LKS_OK, "hello"},
    {"no content", {LKS_LIAR_ANSWER, LKS_STR_C("HTTP/1.1 204 No Content\r\n\r\n")}, LKS_OK, ""},
    {"a problem is an answer",
     {LKS_LIAR_CLOSE, LKS_STR_C("HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno")},
     LKS_OK,
     "no"},

    {"a bad status line",
     {LKS_LIAR_CLOSE, LKS_STR_C("ICY 200 OK\r\n\r\n")},
     LKS_E_INVALID,
     "does not start with an HTTP/1.1 status"},
    {"two lengths",
     {LKS_LIAR_CLOSE, LKS_STR_C(OK_LINE "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab")},
     LKS_E_INVALID,
     "two lengths"},
    {"a length and chunks",
     {LKS_LIAR_CLOSE,
      LKS_STR_C(OK_LINE "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")},
     LKS_E_INVALID,
     "beside chunks"},
    {"closed without a word",
     {LKS_LIAR_CLOSE, LKS_STR_C("")},
     LKS_E_UNAVAILABLE,
     "ended before the answer"},
    {"closed in the headers",
     {LKS_LIAR_CLOSE, LKS_STR_C(OK_LINE "Content-Le")},
     LKS_E_UNAVAILABLE,
     "ended before the answer"},
    {"closed in the body",
     {LKS_LIAR_CLOSE, LKS_STR_C(OK_LINE "Content-Length: 9\r\n\r\nhello")},
     LKS_E_UNAVAILABLE,
     "ended before the answer"},
    {"to the end, but cut",
     {LKS_LIAR_CUT, LKS_STR_C(OK_LINE "\r\nhel")},
     LKS_E_UNAVAILABLE,
     "closed the connection"},
    {"a length past the limit",
     {LKS_LIAR_CLOSE, LKS_STR_C(OK_LINE "Content-Length: 4097\r\n\r\n")},
     LKS_E_LIMIT,
     "longer than 4096 bytes"},
    {"garbage instead of TLS",
     {LKS_LIAR_GARBAGE, LKS_STR_C("SSH-2.0-OpenSSH_9.2\r\nand more of it")},
     LKS_E_UNAVAILABLE,
     "TLS: "},
    {"an alert instead of TLS",
     {LKS_LIAR_GARBAGE, LKS_STR_C("\x15\x03\x03\x00\x02\x02\x28")},
     LKS_E_UNAVAILABLE,
     "TLS: "},
};

static void test_answers(void)
{
    for (size_t i = 0; i < LKS_COUNT(answers); i++) {
        lks_test_case("%s", answers[i].name);
        LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer a = {0};
        LKS_CLEANUP(lks_liar_fini)
        struct lks_liar l = {.own = &shared.server, .turns = {answers[i].turn}, .turn_count = 1};
        struct lks_err err = {0};
        lks_liar_start(&l);
        struct lks_client *c = client_of(&l, "127.0.0.1", LKS_WAIT_MS, false);
        CHECK_CODE(get(c, &a, &err), answers[i].code);
        if (answers[i].code == LKS_OK)
            CHECK_STR(lks_buf_view(&a.body), answers[i].said);
        else
            CHECK_HAS(lks_str_from(err.msg), answers[i].said);
        CHECK(strstr(err.msg, "secret") == NULL);
        lks_client_free(c);
    }
}

/* ---- Deadlines hold whatever trickles in. ---- */

static const struct {
    const char *name;
    struct lks_liar_turn turn;
} slow[] = {
    {"silent in the handshake", {LKS_LIAR_DEAF, LKS_STR_C("")}},
    {"silent after the request", {LKS_LIAR_SILENT, LKS_STR_C("")}},
    {"drip-fed status line", {LKS_LIAR_DRIP, LKS_STR_C("HTTP/1.1 200 ")}},
    {"drip-fed headers", {LKS_LIAR_DRIP, LKS_STR_C(OK_LINE "X-Long: ")}},
    {"drip-fed body", {LKS_LIAR_DRIP, LKS_STR_C(OK_LINE "Content-Length: 4000\r\n\r\n")}},
    {"drip-fed to the end", {LKS_LIAR_DRIP, LKS_STR_C(OK_LINE "\r\n")}},
};

static void test_deadlines(void)
{
    for (size_t i = 0; i < LKS_COUNT(slow); i++) {
        for (int tls = 0; tls < 2; tls++) {
            lks_test_case("%s, %s", slow[i].name, tls ? "TLS" : "unix");
            LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer a = {0};
            LKS_CLEANUP(lks_liar_fini)
            struct lks_liar l = {.own = tls ? &shared.server : NULL,
                                 .path = tls ? NULL : shared.socket,
                                 .turns = {slow[i].turn},
                                 .turn_count = 1};
            struct lks_err err = {0};
            lks_liar_start(&l);
            struct lks_client *c = client_of(&l, "127.0.0.1", SHORT_MS, false);
            CHECK_CODE(get(c, &a, &err), LKS_E_TIMEOUT);
            CHECK_HAS(lks_str_from(err.msg), "no answer in time (0.");
            lks_client_free(c);
            remove(shared.socket);
        }
    }
}

/* A long body gets more time while it moves, and one that does not move fast enough gets none. */
static void test_rates(void)
{
    static const struct {
        const char *name;
        unsigned rate_min;
        enum lks_code code;
    } rates[] = {
        {"fast enough", 1, LKS_OK},
        {"too slow", 1 << 16, LKS_E_TIMEOUT},
        {"without a rate", 0, LKS_E_TIMEOUT},
    };
    for (size_t i = 0; i < LKS_COUNT(rates); i++) {
        lks_test_case("%s", rates[i].name);
        LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer a = {0};
        LKS_CLEANUP(lks_liar_fini)
        struct lks_liar l = {
            .path = shared.socket,
            .turns = {{LKS_LIAR_DRIP, LKS_STR_C(OK_LINE "Content-Length: 200\r\n\r\n")}},
            .turn_count = 1};
        char server[160];
        struct lks_client *c = NULL;
        struct lks_err err = {0};
        snprintf(server, sizeof(server), "unix:%s", shared.socket);
        const struct lks_client_options o = {
            .server = server, .timeout_ms = SHORT_MS, .rate_min = rates[i].rate_min};
        lks_liar_start(&l);
        CHECK_CODE(lks_client_new(&o, &c, &err), LKS_OK);
        CHECK_CODE(get(c, &a, &err), rates[i].code);
        CHECK_INT(a.body.len, rates[i].code == LKS_OK ? 200 : 0);
        lks_client_free(c);
        remove(shared.socket);
    }
}

/* ---- Whom it believes. ---- */

static const struct {
    const char *name;
    struct lks_pki_wish wish;
    bool foreign;
    const char *host;
    enum lks_code code;
    const char *message;
} servers[] = {
    {"by name", {.use = LKS_X509_SERVER, .name = "localhost"}, false, "localhost", LKS_OK, ""},
    {"by address", {.use = LKS_X509_SERVER, .name = "other"}, false, "127.0.0.1", LKS_OK, ""},
    {"of another name",
     {.use = LKS_X509_SERVER, .name = "other"},
     false,
     "localhost",
     LKS_E_DENIED,
     "hostname mismatch"},
    {"of no address",
     {.use = LKS_X509_SERVER, .name = "localhost", .nameless = true},
     false,
     "127.0.0.1",
     LKS_E_DENIED,
     "IP address mismatch"},
    {"of another authority",
     {.use = LKS_X509_SERVER, .name = "localhost"},
     true,
     "localhost",
     LKS_E_DENIED,
     "certificate is not good"},
    {"expired",
     {.use = LKS_X509_SERVER, .name = "localhost", .age = INT64_C(2) * 24 * 3600},
     false,
     "localhost",
     LKS_E_DENIED,
     "expired"},
    {"not yet valid",
     {.use = LKS_X509_SERVER, .name = "localhost", .age = -3600},
     false,
     "localhost",
     LKS_E_DENIED,
     "not yet valid"},
    {"a node's",
     {.use = LKS_X509_NODE, .name = "localhost"},
     false,
     "localhost",
     LKS_E_DENIED,
     "certificate is not good"},
};

static void test_servers(void)
{
    LKS_CLEANUP(lks_pair_fini) struct lks_pair foreign = {0};
    lks_pki_authority(&foreign);
    for (size_t i = 0; i < LKS_COUNT(servers); i++) {
        lks_test_case("%s", servers[i].name);
        LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer a = {0};
        LKS_CLEANUP(lks_pair_fini) struct lks_pair own = {0};
        struct lks_err err = {0};
        lks_pki_issue(servers[i].foreign ? &foreign : &shared.authority, servers[i].wish, &own);
        LKS_CLEANUP(lks_liar_fini)
        struct lks_liar l = {
            .own = &own, .turns = {{LKS_LIAR_CLOSE, LKS_STR(HELLO)}}, .turn_count = 1};
        lks_liar_start(&l);
        struct lks_client *c = client_of(&l, servers[i].host, LKS_WAIT_MS, false);
        CHECK_CODE(get(c, &a, &err), servers[i].code);
        CHECK_HAS(lks_str_from(err.msg), servers[i].message);
        CHECK_CODE(err.code, servers[i].code); /* also where another address was tried before */
        lks_liar_join(&l);
        if (servers[i].code != LKS_OK)
            CHECK_INT(l.heard.len, 0); /* the token above all */
        lks_client_free(c);
    }
}

static const struct {
    int version;
    enum lks_code code;
} versions[] = {
    {TLS1_1_VERSION, LKS_E_UNAVAILABLE},
    {TLS1_2_VERSION, LKS_OK},
    {TLS1_3_VERSION, LKS_OK},
};

static void test_versions(void)
{
    for (size_t i = 0; i < LKS_COUNT(versions); i++) {
        lks_test_case("TLS 1.%d", versions[i].version - TLS1_VERSION);
        LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer a = {0};
        LKS_CLEANUP(lks_liar_fini)
        struct lks_liar l = {.own = &shared.server,
                             .version_max = versions[i].version,
                             .turns = {{LKS_LIAR_CLOSE, LKS_STR(HELLO)}},
                             .turn_count = 1};
        struct lks_err err = {0};
        lks_liar_start(&l);
        struct lks_client *c = client_of(&l, "localhost", LKS_WAIT_MS, false);
        CHECK_CODE(get(c, &a, &err), versions[i].code);
        lks_client_free(c);
    }
}

/* A server that insists on a certificate; in TLS 1.3 it says so only after the handshake. */
static void test_own_certificate(void)
{
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        for (int certified = 0; certified < 2; certified++) {
            lks_test_case("TLS 1.%d, %s", version - TLS1_VERSION, certified ? "shown" : "none");
            LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer a = {0};
            LKS_CLEANUP(lks_liar_fini)
            struct lks_liar l = {.own = &shared.server,
                                 .authority = &shared.authority,
                                 .version_max = version,
                                 .turns = {{LKS_LIAR_CLOSE, LKS_STR(HELLO)}},
                                 .turn_count = 1};
            struct lks_err err = {0};
            lks_liar_start(&l);
            struct lks_client *c = client_of(&l, "localhost", LKS_WAIT_MS, certified);
            enum lks_code code = get(c, &a, &err);
            lks_liar_join(&l);
            CHECK(certified ? code == LKS_OK : code == LKS_E_DENIED || code == LKS_E_UNAVAILABLE);
            CHECK_INT(l.shown, certified);
            lks_client_free(c);
        }
    }
}

/* ---- Connections that are kept. ---- */

static const struct {
    const char *name;
    struct lks_liar_turn turns[LKS_LIAR_TURNS];
    size_t turn_count;
    enum lks_code second; /* the outcome of the second exchange */
    unsigned accepted;
    unsigned reused; /* sessions; libssl gives up one whose connection broke */
} kept[] = {
    {"kept",
     {{LKS_LIAR_ANSWER, LKS_STR_C(HELLO)}, {LKS_LIAR_CLOSE, LKS_STR_C(HELLO)}},
     2,
     LKS_OK,
     1,
     0},
    {"closed in between",
     {{LKS_LIAR_CLOSE, LKS_STR_C(HELLO)}, {LKS_LIAR_CLOSE, LKS_STR_C(HELLO)}},
     2,
     LKS_OK,
     2,
     1},
    {"said to be closed",
     {{LKS_LIAR_ANSWER, LKS_STR_C(OK_LINE "Connection: close\r\nContent-Length: 0\r\n\r\n")},
      {LKS_LIAR_CLOSE, LKS_STR_C(HELLO)},
      {LKS_LIAR_CLOSE, LKS_STR_C(HELLO)}},
     3,
     LKS_OK,
     2,
     1},
    {"closed on the second request",
     {{LKS_LIAR_ANSWER, LKS_STR_C(HELLO)},
      {LKS_LIAR_CUT, LKS_STR_C("")},
      {LKS_LIAR_CLOSE, LKS_STR_C(HELLO)}},
     3,
     LKS_OK,
     2,
     0},
    {"closed again and again",
     {{LKS_LIAR_ANSWER, LKS_STR_C(HELLO)},
      {LKS_LIAR_CUT, LKS_STR_C("")},
      {LKS_LIAR_CUT, LKS_STR_C("")}},
     3,
     LKS_E_UNAVAILABLE,
     2,
     0},
    {"closed in the second answer",
     {{LKS_LIAR_ANSWER, LKS_STR_C(HELLO)}, {LKS_LIAR_CUT, LKS_STR_C(OK_LINE)}},
     2,
     LKS_E_UNAVAILABLE,
     1,
     0},
    {"more than was asked for",
     {{LKS_LIAR_ANSWER, LKS_STR_C(HELLO HELLO)},
      {LKS_LIAR_CLOSE, LKS_STR_C(OK_LINE "Content-Length: 5\r\n\r\nfalse")},
      {LKS_LIAR_CLOSE, LKS_STR_C(HELLO)}},
     3,
     LKS_OK,
     2,
     1},
};

static void test_kept(void)
{
    for (size_t i = 0; i < LKS_COUNT(kept); i++) {
        for (int tls = 0; tls < 2; tls++) {
            lks_test_case("%s, %s", kept[i].name, tls ? "TLS" : "unix");
            LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer a = {0};
            LKS_CLEANUP(lks_liar_fini)
            struct lks_liar l = {.own = tls ? &shared.server : NULL,
                                 .path = tls ? NULL : shared.socket,
                                 .turn_count = kept[i].turn_count};
            struct lks_err err = {0};
            memcpy(l.turns, kept[i].turns, sizeof(l.turns));
            lks_liar_start(&l);
            struct lks_client *c = client_of(&l, "localhost", LKS_WAIT_MS, false);
            CHECK_CODE(get(c, &a, &err), LKS_OK);
            CHECK_CODE(get(c, &a, &err), kept[i].second);
            if (kept[i].second == LKS_OK)
                CHECK_STR(lks_buf_view(&a.body), "hello");
            lks_client_free(c);
            lks_liar_join(&l);
            CHECK_INT(l.accepted, kept[i].accepted);
            CHECK_INT(l.reused, tls ? kept[i].reused : 0);
            remove(shared.socket);
        }
    }
}

/* ---- What is sent. ---- */

static void test_request(void)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer a = {0};
    LKS_CLEANUP(lks_liar_fini)
    struct lks_liar l = {.path = shared.socket,
                         .turns = {{LKS_LIAR_ANSWER, LKS_STR(HELLO)},
                                   {LKS_LIAR_ANSWER, LKS_STR(OK_LINE "Content-Length: 9\r\n\r\n")}},
                         .turn_count = 2};
    struct lks_err err = {0};
    lks_liar_start(&l);
    struct lks_client *c = client_of(&l, "", LKS_WAIT_MS, false);
    CHECK_CODE(lks_client_exchange(c, "POST", "/v1/x?y=z", "text/plain", LKS_STR("body"),
                                   "X-More: 1\r\n", &a, &err),
               LKS_OK);
    lks_http_answer_fini(&a);
    CHECK_CODE(lks_client_exchange(c, "HEAD", "/v1/y", NULL, LKS_STR(""), "", &a, &err), LKS_OK);
    lks_client_free(c);
    lks_liar_join(&l);
    CHECK_STR(lks_buf_view(&l.heard),
              "POST /v1/x?y=z HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " TOKEN
              "\r\nContent-Type: text/plain\r\nContent-Length: 4\r\nX-More: 1\r\n\r\nbody"
              "HEAD /v1/y HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " TOKEN "\r\n\r\n");
    remove(shared.socket);
}

/* A long body, and the answer of a server that did not want it: it came before the body was out. */
static void test_long_body(void)
{
    enum { SIZE = 4 * 1024 * 1024 };
    char *body = malloc(SIZE);
    memset(body, 'b', SIZE);
    for (int early = 0; early < 2; early++) {
        for (int tls = 0; tls < 2; tls++) {
            lks_test_case("%s, %s", early ? "refused early" : "taken", tls ? "TLS" : "unix");
            LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer a = {0};
            LKS_CLEANUP(lks_liar_fini)
            struct lks_liar l = {
                .own = tls ? &shared.server : NULL,
                .path = tls ? NULL : shared.socket,
                .turns = {{early ? LKS_LIAR_EARLY : LKS_LIAR_CLOSE,
                           early ? LKS_STR("HTTP/1.1 413 No\r\nConnection: close\r\n"
                                           "Content-Length: 0\r\n\r\n")
                                 : LKS_STR(HELLO)}},
                .turn_count = 1};
            struct lks_err err = {0};
            lks_liar_start(&l);
            struct lks_client *c = client_of(&l, "localhost", LKS_WAIT_MS, false);
            CHECK_CODE(lks_client_exchange(c, "PUT", "/x", "x/y", (struct lks_str){body, SIZE}, "",
                                           &a, &err),
                       LKS_OK);
            CHECK_INT(a.status, early ? 413 : 200);
            lks_client_free(c);
            lks_liar_join(&l);
            if (!early)
                CHECK(l.heard.len > SIZE);
            remove(shared.socket);
        }
    }
    free(body);
}

static const char *const paths[] = {"", "v1/x", "/v1/a b", "/x\r\nHost: y", "/x\n", "/\x7f"};

static void test_bad_paths(void)
{
    struct lks_liar none = {.path = shared.socket};
    struct lks_client *c = client_of(&none, "", LKS_WAIT_MS, false);
    for (size_t i = 0; i < LKS_COUNT(paths); i++) {
        lks_test_case("path %zu", i);
        struct lks_http_answer a = {0};
        struct lks_err err = {0};
        CHECK_CODE(lks_client_exchange(c, "GET", paths[i], NULL, LKS_STR(""), "", &a, &err),
                   LKS_E_INVALID);
        CHECK_HAS(lks_str_from(err.msg), "cannot be asked for");
    }
    lks_client_free(c);
}

/* ---- Events. ---- */

struct noted {
    char text[128];
    size_t len;
    unsigned wanted;
};

static bool note(void *ctx, struct lks_str id, struct lks_str data)
{
    struct noted *n = ctx;
    n->len +=
        (size_t)snprintf(n->text + n->len, sizeof(n->text) - n->len,
                         "%" LKS_STR_FMT "=%" LKS_STR_FMT ";", LKS_STR_ARG(id), LKS_STR_ARG(data));
    return --n->wanted > 0;
}

#define EVENTS OK_LINE "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
#define TWO    "7\r\n: ping\n\r\n17\r\nid: 7\ndata: x\n\nid: 8\nda\r\n8\r\nta: yy\n\n\r\n"

static const struct {
    const char *name;
    struct lks_liar_turn turn;
    unsigned wanted;
    enum lks_code code;
    const char *events, *message;
} streams[] = {
    {"until the server ends",
     {LKS_LIAR_CLOSE, LKS_STR_C(EVENTS TWO "0\r\n\r\n")},
     99,
     LKS_OK,
     "7=x;8=yy;",
     ""},
    {"until it is enough", {LKS_LIAR_SILENT, LKS_STR_C(EVENTS TWO)}, 1, LKS_OK, "7=x;", ""},
    {"until it is too quiet",
     {LKS_LIAR_SILENT, LKS_STR_C(EVENTS TWO)},
     99,
     LKS_E_TIMEOUT,
     "7=x;8=yy;",
     "no answer in time"},
    {"cut", {LKS_LIAR_CUT, LKS_STR_C(EVENTS TWO)}, 99, LKS_E_UNAVAILABLE, "7=x;8=yy;", ""},
    {"not allowed",
     {LKS_LIAR_CLOSE, LKS_STR_C("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")},
     99,
     LKS_E_DENIED,
     "",
     "status 403"},
    {"not there",
     {LKS_LIAR_CLOSE, LKS_STR_C("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")},
     99,
     LKS_E_NOT_FOUND,
     "",
     "status 404"},
    {"not now",
     {LKS_LIAR_CLOSE, LKS_STR_C("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")},
     99,
     LKS_E_UNAVAILABLE,
     "",
     "status 503"},
    {"a chunk that lies",
     {LKS_LIAR_CLOSE, LKS_STR_C(EVENTS "1\r\nabc\r\n")},
     99,
     LKS_E_INVALID,
     "",
     "longer than its size"},
};

static void test_events(void)
{
    for (size_t i = 0; i < LKS_COUNT(streams); i++) {
        for (int tls = 0; tls < 2; tls++) {
            lks_test_case("%s, %s", streams[i].name, tls ? "TLS" : "unix");
            LKS_CLEANUP(lks_liar_fini)
            struct lks_liar l = {.own = tls ? &shared.server : NULL,
                                 .path = tls ? NULL : shared.socket,
                                 .turns = {streams[i].turn},
                                 .turn_count = 1};
            struct noted noted = {.wanted = streams[i].wanted};
            struct lks_err err = {0};
            lks_liar_start(&l);
            struct lks_client *c = client_of(&l, "localhost", LKS_WAIT_MS, false);
            int silence = streams[i].code == LKS_E_TIMEOUT ? SHORT_MS : LKS_WAIT_MS;
            CHECK_CODE(lks_client_events(c, "/v1/events", "6", silence, note, &noted, &err),
                       streams[i].code);
            CHECK_HAS(lks_str_from(err.msg), streams[i].message);
            CHECK_STR(lks_str_from(noted.text), streams[i].events);
            lks_client_free(c);
            lks_liar_join(&l);
            CHECK_HAS(lks_buf_view(&l.heard), "Last-Event-ID: 6\r\n");
            remove(shared.socket);
        }
    }
}

/* ---- Where it is told to go, and with what. ---- */

static const struct {
    const char *name, *server;
    bool ca, own_key;
    const char *token;
    enum lks_code code;
    const char *message;
} options[] = {
    {"name and port", "https://localhost:1", true, true, "t", LKS_OK, ""},
    {"no port", "https://localhost", true, true, NULL, LKS_OK, ""},
    {"a slash", "https://localhost:1/", true, true, NULL, LKS_OK, ""},
    {"IPv6", "https://[::1]:1", true, true, NULL, LKS_OK, ""},
    {"IPv6 without a port", "https://[::1]", true, true, NULL, LKS_OK, ""},
    {"a socket", "unix:/x", false, true, NULL, LKS_OK, ""},
    {"http", "http://localhost:1", true, true, NULL, LKS_E_INVALID, "neither https://"},
    {"no scheme", "localhost:1", true, true, NULL, LKS_E_INVALID, "neither https://"},
    {"no host", "https://:1", true, true, NULL, LKS_E_INVALID, "neither https://"},
    {"a path", "https://localhost:1/x", true, true, NULL, LKS_E_INVALID, "neither https://"},
    {"a user", "https://me@localhost:1", true, true, NULL, LKS_E_INVALID, "neither https://"},
    {"port 0", "https://localhost:0", true, true, NULL, LKS_E_INVALID, "neither https://"},
    {"port of letters", "https://localhost:x", true, true, NULL, LKS_E_INVALID, "neither https://"},
    {"an open bracket", "https://[::1:1", true, true, NULL, LKS_E_INVALID, "neither https://"},
    {"a relative socket", "unix:x", false, true, NULL, LKS_E_INVALID, "neither https://"},
    {"no authority", "https://localhost:1", false, true, NULL, LKS_E_USAGE, "authority"},
    {"another's key", "https://localhost:1", true, false, NULL, LKS_E_INVALID,
     "is not the certificate's private key"},
    {"a token with a line end", "unix:/x", false, true, "t\r\nX: y", LKS_E_INVALID, "token"},
    {"a token with a blank", "unix:/x", false, true, "t x", LKS_E_INVALID, "token"},
};

static void test_options(void)
{
    char other[96];
    put(other, "other.key", &shared.server.key);
    for (size_t i = 0; i < LKS_COUNT(options); i++) {
        lks_test_case("%s", options[i].name);
        struct lks_client *c = NULL;
        struct lks_err err = {0};
        struct lks_client_options o = {.server = options[i].server,
                                       .ca = options[i].ca ? shared.ca : NULL,
                                       .certificate = shared.certificate,
                                       .key = options[i].own_key ? shared.key : other,
                                       .token = options[i].token,
                                       .timeout_ms = LKS_WAIT_MS};
        CHECK_CODE(lks_client_new(&o, &c, &err), options[i].code);
        CHECK_HAS(lks_str_from(err.msg), options[i].message);
        CHECK((c != NULL) == (options[i].code == LKS_OK));
        lks_client_free(c);
    }
}

/* Without TLS only where the caller says so, and never with a token. */
static void test_plain(void)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer a = {0};
    LKS_CLEANUP(lks_liar_fini)
    struct lks_liar l = {.turns = {{LKS_LIAR_CLOSE, LKS_STR(HELLO)}}, .turn_count = 1};
    struct lks_client *c = NULL;
    struct lks_err err = {0};
    char server[64];
    lks_liar_start(&l);
    snprintf(server, sizeof(server), "http://127.0.0.1:%u", l.port);
    struct lks_client_options o = {
        .server = server, .plain = true, .token = TOKEN, .timeout_ms = LKS_WAIT_MS};
    CHECK_CODE(lks_client_new(&o, &c, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "neither https://");
    o.token = NULL;
    if (!CHECK_CODE(lks_client_new(&o, &c, &err), LKS_OK))
        return;
    CHECK_CODE(get(c, &a, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&a.body), "hello");
    lks_client_free(c);
}

/* Nobody there, in each way. */
static void test_nobody(void)
{
    struct lks_http_answer a = {0};
    struct lks_err err = {0};
    struct lks_liar none = {.path = shared.socket};
    struct lks_client *c = client_of(&none, "", LKS_WAIT_MS, false);
    CHECK_CODE(get(c, &a, &err), LKS_E_UNAVAILABLE);
    CHECK_HAS(lks_str_from(err.msg), "No such file");
    lks_client_free(c);

    struct lks_liar tcp = {.port = 1};
    c = client_of(&tcp, "127.0.0.1", LKS_WAIT_MS, false);
    CHECK_CODE(get(c, &a, &err), LKS_E_UNAVAILABLE);
    CHECK_HAS(lks_str_from(err.msg), "refused");
    lks_client_free(c);
}

static const struct lks_test tests[] = {
    {"answers", test_answers},
    {"deadlines", test_deadlines},
    {"a long body gets more time", test_rates},
    {"servers", test_servers},
    {"versions", test_versions},
    {"own certificate", test_own_certificate},
    {"kept connections", test_kept},
    {"request", test_request},
    {"long body", test_long_body},
    {"bad paths", test_bad_paths},
    {"events", test_events},
    {"options", test_options},
    {"http without TLS", test_plain},
    {"nobody there", test_nobody},
    {0},
};

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* the liar's */
    shared_init();
    int status = lks_test_main(tests);
    shared_fini();
    return status;
}
