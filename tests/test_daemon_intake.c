/*
 * lockstepd and callers that take more than their share: bodies of strangers, bodies that never
 * end, downloads and streams that are never read. What is refused is refused before it is read;
 * agents, other people and root get on. Nothing here is measured in time: the daemon's own counters
 * say how many bytes it took.
 */
#include "base/file.h"
#include "codec/format/digest.h"
#include "codec/format/json.h"
#include "core/state/heartbeat.h"
#include "tests/controller.h"
#include "tests/pki.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

enum {
    CROWD = 256,
    FLOOD = 64,
    GOT_MAX = 4096,
    TOKEN_MAX = 256,
};

static struct {
    struct ctl ctl;
    SSL_CTX *tls;
    char viewer[TOKEN_MAX], operator[TOKEN_MAX], admin[TOKEN_MAX];
} at;

/* People ------------------------------------------------------------------------------------- */

static void make_person(const char *name, const char *role, char token[TOKEN_MAX])
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    char body[256];
    snprintf(body, sizeof(body), "{\"identity\":\"user:%s\",\"role\":\"%s\"}", name, role);
    CHECK_INT(ctl_once(&at.ctl, "POST", "/v1/access", body, &answer), 200);
    snprintf(body, sizeof(body), "{\"id\":\"%s\",\"identity\":\"user:%s\"}", name, name);
    CHECK_INT(ctl_once(&at.ctl, "POST", "/v1/tokens", body, &answer), 200);
    ctl_text(&answer, "token", token, TOKEN_MAX);
}

/* That is shared with a ticket system. */
static void give_secret(void)
{
    struct lks_err err = {0};
    char line[256];
    const char *path = ctl_path(&at.ctl, "secret");
    CHECK_CODE(lks_file_replace(path, LKS_STR("0123456789abcdef0123456789abcdef\n"), &err), LKS_OK);
    snprintf(line, sizeof(line), "tickets: {secret: \"file:%s\"}\n", path);
    ctl_configure(&at.ctl, line);
}

static bool begin(const char *settings)
{
    memset(&at, 0, sizeof(at));
    ctl_init(&at.ctl, "rate: {people_per_s: 100000, burst: 1000000}\n");
    ctl_configure(&at.ctl, settings);
    give_secret();
    at.tls = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_verify(at.tls, SSL_VERIFY_NONE, NULL);
    if (!ctl_start(&at.ctl))
        return false;
    ctl_apply(&at.ctl, 2);
    make_person("vic", "viewer", at.viewer);
    make_person("ola", "operator", at.operator);
    make_person("ada", "admin", at.admin);
    return true;
}

static void end(void)
{
    if (at.ctl.pid != 0)
        CHECK_INT(ctl_stop(&at.ctl), 0);
    SSL_CTX_free(at.tls);
    ctl_fini(&at.ctl);
}

/* A number of /metrics, by the beginning of its line. */
static uint64_t metric(const char *name)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    char line[128];
    uint64_t number = 0;
    CHECK_INT(ctl_once(&at.ctl, "GET", "/metrics", NULL, &answer), 200);
    snprintf(line, sizeof(line), "\n%s ", name);
    ptrdiff_t place = lks_str_find(lks_buf_view(&answer), lks_str_from(line));
    if (!CHECK(place >= 0)) {
        printf("no metric %s\n", name);
        return 0;
    }
    struct lks_str rest = lks_str_from(answer.ptr + place + strlen(line)), word;
    lks_str_cut(rest, '\n', &word, &rest);
    CHECK(lks_str_number(word, UINT64_MAX, &number));
    return number;
}

static bool becomes(const char *name, uint64_t wanted)
{
    uint64_t is = metric(name);
    for (struct lks_wait w = {0}; is != wanted && lks_wait(&w);)
        is = metric(name);
    return CHECK_INT(is, wanted);
}

#define HELD    "lockstep_http_body_held_bytes{from=\"people\"}"
#define PEAK    "lockstep_http_body_peak_bytes{from=\"people\"}"
#define TAKEN   "lockstep_http_body_received_bytes_total{listener=\"people\"}"
#define READERS "lockstep_event_readers"

static uint64_t resident(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(256);
    struct lks_err err = {0};
    char path[64];
    struct lks_str size, word, rest;
    uint64_t pages = 0;
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)at.ctl.pid);
    CHECK_CODE(lks_file_read_plain(path, &text, &err), LKS_OK);
    CHECK(lks_str_cut(lks_buf_view(&text), ' ', &size, &rest) &&
          lks_str_cut(rest, ' ', &word, &rest) && lks_str_number(word, UINT64_MAX, &pages));
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Connections that say what they like, and read when they like -------------------------------- */

struct talk {
    int fd;
    SSL *ssl;
    char got[GOT_MAX];
    size_t len;
};

static void talk_end(struct talk *t)
{
    SSL_free(t->ssl);
    if (t->fd > 0)
        close(t->fd);
    *t = (struct talk){0};
}

static void talk_begin_at(struct talk *t, SSL_CTX *tls, unsigned port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int small = 64 * 1024; /* a reader that stalls is noticed by it */
    to.sin_port = htons((uint16_t)port);
    *t = (struct talk){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    setsockopt(t->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    CHECK(t->fd >= 0 && connect(t->fd, (const struct sockaddr *)&to, sizeof(to)) == 0);
    t->ssl = SSL_new(tls);
    SSL_set_fd(t->ssl, t->fd);
    CHECK_INT(SSL_connect(t->ssl), 1);
}

static void talk_begin(struct talk *t)
{
    talk_begin_at(t, at.tls, at.ctl.people);
}

/* As much of it as is taken; a server that refuses may not take all. */
static void talk_say(struct talk *t, struct lks_str bytes)
{
    size_t sent = 0;
    if (bytes.len > 0)
        (void)!SSL_write_ex(t->ssl, bytes.ptr, bytes.len, &sent);
}

/* The head of a request with a token, or without one; `length` SIZE_MAX: no body. */
static void talk_head(struct talk *t, const char *line, const char *token, size_t length)
{
    char head[1024], more[512] = "";
    if (token != NULL)
        snprintf(more, sizeof(more), "Authorization: Bearer %s\r\n", token);
    if (length != SIZE_MAX)
        snprintf(more + strlen(more), sizeof(more) - strlen(more), "Content-Length: %zu\r\n",
                 length);
    int len = snprintf(head, sizeof(head), "%s HTTP/1.1\r\nHost: x\r\n%s\r\n", line, more);
    talk_say(t, (struct lks_str){head, (size_t)len});
}

/* The status of the answer; 0: there is none. */
static int talk_status(struct talk *t)
{
    struct timeval patience = {LKS_WAIT_MS / 1000, 0};
    setsockopt(t->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    while (t->len < GOT_MAX - 1 && strstr(t->got, "\r\n\r\n") == NULL) {
        size_t n = 0;
        if (SSL_read_ex(t->ssl, t->got + t->len, 1, &n) != 1)
            break;
        t->len += n;
    }
    uint64_t status = 0;
    struct lks_str head = {t->got, t->len}, version, word;
    return lks_str_cut(head, ' ', &version, &head) && lks_str_cut(head, ' ', &word, &head) &&
                   lks_str_number(word, 999, &status)
               ? (int)status
               : 0;
}

/* The rest of an answer, and nothing is left of it. */
static void talk_skip(struct talk *t)
{
    const char *length = strstr(t->got, "Content-Length: ");
    size_t rest = length != NULL ? strtoul(length + strlen("Content-Length: "), NULL, 10) : 0;
    CHECK(rest > 0 && rest < GOT_MAX);
    for (size_t n = 1; rest > 0 && n > 0; rest -= n)
        if (SSL_read_ex(t->ssl, t->got, rest, &n) != 1)
            n = 0;
    CHECK_INT(rest, 0);
    memset(t->got, 0, sizeof(t->got));
    t->len = 0;
}

static int ask_status(const char *line, const char *token)
{
    struct talk t = {0};
    talk_begin(&t);
    talk_head(&t, line, token, SIZE_MAX);
    int status = talk_status(&t);
    talk_end(&t);
    return status;
}

/* Bodies of those who may not ----------------------------------------------------------------- */

enum who { NOBODY, LIAR, VIEWER };

static const struct {
    const char *name, *line;
    enum who who;
    size_t length;
    int status;
} floods[] = {
    {"without a token", "POST /v1/bundles", NOBODY, 4 * MIB, 401},
    {"without a token, as a manifest", "PUT /v1/fleet", NOBODY, 4 * MIB, 401},
    {"with an unknown token", "POST /v1/bundles", LIAR, 4 * MIB, 401},
    {"of a role that is too small", "POST /v1/bundles", VIEWER, 4 * MIB, 403},
    {"without rights at that node", "PUT /v1/nodes/n0/outband", VIEWER, MIB, 403},
    {"to no path", "POST /v1/nothing", NOBODY, 4 * MIB, 404},
    {"without a token, to enrol", "POST /v1/enroll", NOBODY, 4 * MIB, 413},
    {"without a token, as a vote", "POST /v1/tickets", NOBODY, 4 * MIB, 413},
};

/* Whatever came is not read: neither the bytes that follow the headers, nor any later. */
static void refused_unread(void)
{
    if (begin("")) {
        char *bytes = calloc(1, 256 * KIB);
        memset(bytes, '[', 256 * KIB);
        uint64_t before = resident(), peak = metric(PEAK);
        for (size_t i = 0; i < LKS_COUNT(floods); i++) {
            struct talk all[FLOOD];
            lks_test_case("%s", floods[i].name);
            const char *tokens[] = {[LIAR] = "lka_vic_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                                    [VIEWER] = at.viewer};
            for (size_t k = 0; k < FLOOD; k++) {
                talk_begin(&all[k]);
                talk_head(&all[k], floods[i].line, tokens[floods[i].who], floods[i].length);
                talk_say(&all[k], (struct lks_str){bytes, 256 * KIB});
            }
            for (size_t k = 0; k < FLOOD; k++) {
                CHECK_INT(talk_status(&all[k]), floods[i].status);
                talk_end(&all[k]);
            }
            CHECK_INT(metric(TAKEN), 0);
            CHECK_INT(metric(PEAK), peak);
        }
        /* The sanitizer keeps what was freed for a while. */
        CHECK(resident() < before + (LKS_TEST_SANITIZED ? 512 : 64) * MIB);
        free(bytes);
    }
    end();
}

/* Small bodies of strangers ------------------------------------------------------------------- */

static void strangers(void)
{
    if (begin("http: {address_calls: 2, request_ms: 600000}\n")) {
        struct talk held[2], more = {0};
        lks_test_case("a vote that is not signed is not parsed");
        talk_begin(&more);
        talk_head(&more, "POST /v1/tickets", NULL, 6);
        talk_say(&more, LKS_STR("[[[[[["));
        CHECK_INT(talk_status(&more), 403); /* and not 400, for what is no JSON */
        talk_end(&more);
        lks_test_case("two of an address");
        for (size_t i = 0; i < LKS_COUNT(held); i++) {
            talk_begin(&held[i]);
            talk_head(&held[i], "POST /v1/enroll", NULL, 100);
            talk_say(&held[i], LKS_STR("{"));
        }
        CHECK(becomes(HELD, 200));
        lks_test_case("one more");
        talk_begin(&more);
        talk_head(&more, "POST /v1/enroll", NULL, 2);
        talk_say(&more, LKS_STR("{}"));
        CHECK_INT(talk_status(&more), 429);
        CHECK(strstr(more.got, "Retry-After: 1") != NULL);
        talk_end(&more);
        lks_test_case("another client at the same address");
        CHECK_INT(ask_status("GET /v1/whoami", at.viewer), 200);
        CHECK_INT(ask_status("GET /v1/health", NULL), 200);
        lks_test_case("after one of them left");
        talk_end(&held[0]);
        CHECK(becomes(HELD, 100));
        talk_begin(&more);
        talk_head(&more, "POST /v1/enroll", NULL, 2);
        talk_say(&more, LKS_STR("[]"));
        CHECK_INT(talk_status(&more), 400);
        talk_end(&more);
        talk_end(&held[1]);
        CHECK(becomes(HELD, 0));
    }
    end();
}

/* Memory of bodies ---------------------------------------------------------------------------- */

#define DEVIATE "POST /v1/deviations"

static void start_body(struct talk *t, const char *token, size_t length)
{
    talk_begin(t);
    talk_head(t, DEVIATE, token, length);
    talk_say(t, LKS_STR("{"));
}

static void memory_is_shared(void)
{
    if (begin("http: {identity_bodies: 1048576, bodies_max: 2097152, request_ms: 600000}\n")) {
        struct talk first = {0}, second = {0}, more = {0};
        lks_test_case("a body on its way is counted");
        start_body(&first, at.operator, 700 * KIB);
        CHECK(becomes(HELD, 700 * KIB));
        lks_test_case("one identity has a limit");
        start_body(&more, at.operator, 700 * KIB);
        CHECK_INT(talk_status(&more), 429);
        talk_end(&more);
        lks_test_case("which is not another's");
        start_body(&second, at.admin, MIB);
        CHECK(becomes(HELD, 700 * KIB + MIB));
        lks_test_case("all have one");
        char third[TOKEN_MAX];
        make_person("tom", "operator", third);
        start_body(&more, third, 700 * KIB);
        CHECK_INT(talk_status(&more), 503);
        talk_end(&more);
        lks_test_case("root is exempt");
        LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
        CHECK_INT(ctl_once(&at.ctl, "POST", "/v1/deviations", "{}", &answer), 400);
        lks_test_case("what is over is free");
        talk_end(&first);
        talk_end(&second);
        CHECK(becomes(HELD, 0));
        CHECK_INT(metric("lockstep_http_limited_total{limit=\"bodies\"}"), 1);
        CHECK_INT(metric("lockstep_http_limited_total{limit=\"bodies_all\"}"), 1);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(MIB);
        /* Its status depends on the machine too: a disk that is almost full, say. */
        (void)ctl_run((const char *const[]){LKS_CLI_PROGRAM, "doctor", at.ctl.data, NULL}, &said);
        CHECK_HAS(lks_buf_view(&said), "by limit: bodies 1, bodies_all 1;");
        CHECK(metric(PEAK) <= 2 * MIB);
    }
    end();
}

/* Values are dearer than bytes: they are counted before they are parsed. */
static void many_values(void)
{
    if (begin("")) {
        struct talk t = {0};
        char *bytes = calloc(1, MIB);
        memset(bytes, ',', MIB);
        bytes[0] = '[';
        start_body(&t, at.operator, MIB);
        talk_say(&t, (struct lks_str){bytes, MIB - 1});
        CHECK_INT(talk_status(&t), 413);
        talk_end(&t);
        CHECK(becomes(HELD, 0));
        CHECK_INT(metric(PEAK), MIB);
        free(bytes);
    }
    end();
}

static void calls_in_progress(void)
{
    if (begin("http: {identity_calls: 4, request_ms: 600000}\n")) {
        struct talk all[4];
        for (size_t i = 0; i < LKS_COUNT(all); i++)
            start_body(&all[i], at.operator, 1000);
        CHECK(becomes(HELD, 4000));
        CHECK_INT(ask_status("GET /v1/whoami", at.operator), 429);
        CHECK_INT(ask_status("GET /v1/whoami", at.viewer), 200);
        CHECK_INT(ask_status("GET /v1/whoami", at.admin), 200);
        talk_end(&all[0]);
        CHECK(becomes(HELD, 3000));
        CHECK_INT(ask_status("GET /v1/whoami", at.operator), 200);
        for (size_t i = 1; i < LKS_COUNT(all); i++)
            talk_end(&all[i]);
    }
    end();
}

/* Those that do not read ---------------------------------------------------------------------- */

/* So many connections ask and do not read on; how many got a yes, and all others `no`. */
static size_t crowd(struct talk *all, const char *line, const char *token, int no)
{
    size_t yes = 0;
    for (size_t i = 0; i < CROWD; i++) {
        talk_begin(&all[i]);
        talk_head(&all[i], line, token, SIZE_MAX);
    }
    for (size_t i = 0; i < CROWD; i++) {
        int status = talk_status(&all[i]);
        yes += status == 200;
        if (status != 200)
            CHECK_INT(status, no);
    }
    return yes;
}

static void leave(struct talk *all)
{
    for (size_t i = 0; i < CROWD; i++)
        talk_end(&all[i]);
}

static bool first_event(void *ctx, struct lks_str id, struct lks_str data)
{
    (void)ctx, (void)id, (void)data;
    return false;
}

static void event_readers(void)
{
    static struct talk all[CROWD], filled[CROWD];
    if (begin("events: {readers: 40, identity_readers: 16}\n")) {
        lks_test_case("one viewer");
        CHECK_INT(crowd(all, "GET /v1/events", at.viewer, 429), 16);
        CHECK_INT(ask_status("GET /v1/events", at.admin), 200);
        CHECK(becomes(READERS, 16));
        lks_test_case("a second one");
        CHECK_INT(crowd(filled, "GET /v1/events", at.operator, 429), 16);
        CHECK_INT(ask_status("GET /v1/events", at.admin), 200);
        CHECK(becomes(READERS, 32));
        lks_test_case("when all places are taken");
        struct talk last[8];
        for (size_t i = 0; i < LKS_COUNT(last); i++) {
            talk_begin(&last[i]);
            talk_head(&last[i], "GET /v1/events", at.admin, SIZE_MAX);
            CHECK_INT(talk_status(&last[i]), 200);
        }
        CHECK_INT(ask_status("GET /v1/events", at.admin), 503);
        CHECK_INT(ask_status("GET /v1/whoami", at.admin), 200);
        struct lks_client *root = ctl_client(&at.ctl, CTL_UNIX);
        struct lks_err err = {0};
        CHECK_CODE(lks_client_events(root, "/v1/events?from=1", NULL, LKS_WAIT_MS, first_event,
                                     NULL, &err),
                   LKS_OK);
        lks_client_free(root);
        lks_test_case("places come back");
        leave(all);
        leave(filled);
        for (size_t i = 0; i < LKS_COUNT(last); i++)
            talk_end(&last[i]);
        CHECK(becomes(READERS, 0));
        CHECK_INT(ask_status("GET /v1/events", at.viewer), 200);
    }
    end();
}

/* An artifact that is larger than what a connection's buffers take. */
static void put_artifact(char digest[LKS_DIGEST_SIZE])
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    struct lks_client *client = ctl_client(&at.ctl, CTL_UNIX);
    struct lks_err err = {0};
    char path[LKS_DIGEST_SIZE + 64];
    struct lks_str bytes = {calloc(1, 16 * MIB), 16 * MIB};
    CHECK_CODE(lks_digest_text(bytes, digest, &err), LKS_OK);
    snprintf(path, sizeof(path), "/v1/artifacts/%s", digest);
    CHECK_CODE(lks_client_exchange(client, "PUT", path, "application/octet-stream", bytes, "",
                                   &answer, &err),
               LKS_OK);
    CHECK_INT(answer.status, 200);
    lks_client_free(client);
    free((char *)bytes.ptr);
}

/* A node's agent, enrolled. */
static struct lks_client *make_agent(const char *node, struct lks_pair *pair)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf request = LKS_BUF(LKS_X509_PEM_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(LKS_X509_PEM_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    static char token[512], pem[LKS_X509_PEM_MAX], server[64];
    char path[64];
    struct lks_err err = {0};
    struct lks_client *client = NULL;
    snprintf(path, sizeof(path), "/v1/nodes/%s/enroll", node);
    CHECK_INT(ctl_once(&at.ctl, "POST", path, "{}", &answer), 200);
    ctl_text(&answer, "token", token, sizeof(token));
    lks_buf_init(&pair->key, LKS_X509_PEM_MAX);
    CHECK_CODE(lks_x509_key(&pair->key, &err), LKS_OK);
    CHECK_CODE(lks_x509_request(lks_buf_view(&pair->key), LKS_STR("any"), &request, &err), LKS_OK);
    struct lks_json_writer w = {.out = &body};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "token", token);
    lks_json_text(&w, "request", lks_buf_view(&request));
    lks_json_end(&w, '}');
    CHECK_INT(ctl_once(&at.ctl, "POST", "/v1/enroll", body.ptr, &answer), 200);
    ctl_text(&answer, "certificate", pem, sizeof(pem));
    snprintf(server, sizeof(server), "https://localhost:%u", at.ctl.agents);
    const struct lks_client_options o = {.server = server,
                                         .ca = ctl_path(&at.ctl, "data/ca.crt"),
                                         .certificate = ctl_path(&at.ctl, "agent.crt"),
                                         .key = ctl_path(&at.ctl, "agent.key"),
                                         .body_max = 32 * MIB,
                                         .timeout_ms = LKS_WAIT_MS};
    CHECK_CODE(lks_file_replace(o.certificate, lks_str_from(pem), &err), LKS_OK);
    CHECK_CODE(lks_file_replace(o.key, lks_buf_view(&pair->key), &err), LKS_OK);
    CHECK_CODE(lks_client_new(&o, &client, &err), LKS_OK);
    return client;
}

/* An agent gets all of it. */
static void check_fetched(struct lks_client *agent, const char *line)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    struct lks_err err = {0};
    lks_test_case("an agent");
    CHECK_CODE(lks_client_exchange(agent, "GET", line + strlen("GET "), NULL, LKS_STR(""),
                                   "Lockstep-Protocol: 1\r\n", &answer, &err),
               LKS_OK);
    CHECK_INT(answer.status, 200);
    CHECK_INT(answer.body.len, 16 * MIB);
}

/* People that took every place of people leave those of agents. */
static void places_apart(void)
{
    struct lks_pair pair = {0};
    char digest[LKS_DIGEST_SIZE], line[LKS_DIGEST_SIZE + 64];
    if (begin("depot: {spare_bytes: 0, people: 2, stall_ms: 86400000}\n")) {
        struct talk all[2] = {0};
        put_artifact(digest);
        struct lks_client *agent = make_agent("n0", &pair);
        snprintf(line, sizeof(line), "GET /v1/artifacts/%s", digest);
        for (size_t i = 0; i < LKS_COUNT(all); i++) {
            talk_begin(&all[i]);
            talk_head(&all[i], line, at.viewer, SIZE_MAX);
            CHECK_INT(talk_status(&all[i]), 200);
        }
        lks_test_case("another person");
        CHECK_INT(ask_status(line, at.admin), 503);
        check_fetched(agent, line);
        for (size_t i = 0; i < LKS_COUNT(all); i++)
            talk_end(&all[i]);
        lks_client_free(agent);
    }
    lks_pair_fini(&pair);
    end();
}

static void stalled_downloads(void)
{
    static struct talk all[CROWD];
    struct lks_pair pair = {0};
    char digest[LKS_DIGEST_SIZE], line[LKS_DIGEST_SIZE + 64];
    if (begin("depot: {spare_bytes: 0, stall_ms: 86400000}\n")) {
        put_artifact(digest);
        struct lks_client *agent = make_agent("n0", &pair);
        snprintf(line, sizeof(line), "GET /v1/artifacts/%s", digest);
        CHECK_INT(crowd(all, line, at.viewer, 429), 8);
        CHECK_INT(metric("lockstep_depot_transfers"), 8);
        check_fetched(agent, line);
        lks_test_case("another client");
        CHECK_INT(ask_status(line, at.admin), 200);
        lks_test_case("places come back");
        leave(all);
        CHECK(becomes("lockstep_depot_transfers", 0));
        CHECK_INT(ask_status(line, at.viewer), 200);
        lks_client_free(agent);
    }
    lks_pair_fini(&pair);
    end();
}

/* A reader that takes nothing is cut, and its place is free. */
static void stalled_are_cut(void)
{
    char digest[LKS_DIGEST_SIZE], line[LKS_DIGEST_SIZE + 64];
    if (begin("depot: {spare_bytes: 0, identity: 1, stall_ms: 100}\n")) {
        struct talk t = {0};
        put_artifact(digest);
        snprintf(line, sizeof(line), "GET /v1/artifacts/%s", digest);
        talk_begin(&t);
        talk_head(&t, line, at.viewer, SIZE_MAX);
        CHECK_INT(talk_status(&t), 200);
        CHECK(becomes("lockstep_depot_stalled_total", 1));
        CHECK(becomes("lockstep_depot_transfers", 0));
        CHECK_INT(ask_status(line, at.viewer), 200);
        talk_end(&t);
    }
    end();
}

/* A heartbeat, cut behind its headers --------------------------------------------------------- */

#define AGENTS "lockstep_http_requests_total{listener=\"agents\"}"

static void beat_pack(uint64_t seq, struct lks_buf *out)
{
    struct lks_beat beat = {.protocol = LKS_BEAT_PROTOCOL, .boot = {7}, .seq = seq};
    beat.sent = (lks_ms)time(NULL) * LKS_SECOND;
    lks_buf_fini(out);
    lks_buf_init(out, LKS_BEAT_BYTES_MAX);
    lks_heartbeat_pack(&beat, out);
}

static void beat_head(struct talk *t, size_t length)
{
    char head[256];
    int len = snprintf(head, sizeof(head),
                       "POST /v1/agent/beat HTTP/1.1\r\nHost: x\r\nLockstep-Protocol: 1\r\n"
                       "Content-Type: application/octet-stream\r\nContent-Length: %zu\r\n\r\n",
                       length);
    talk_say(t, (struct lks_str){head, (size_t)len});
}

/* Agents that enrol make every connection be looked at anew, also one that was known when the
 * headers of its heartbeat came. */
static void beat_between(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf beat = {0};
    struct lks_pair pair = {0}, other = {0};
    if (begin("http: {request_ms: 600000}\n")) {
        struct talk t = {0};
        SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
        lks_client_free(make_agent("n0", &pair));
        CHECK(SSL_CTX_use_certificate_file(tls, ctl_path(&at.ctl, "agent.crt"), SSL_FILETYPE_PEM));
        CHECK(SSL_CTX_use_PrivateKey_file(tls, ctl_path(&at.ctl, "agent.key"), SSL_FILETYPE_PEM));
        talk_begin_at(&t, tls, at.ctl.agents);
        beat_pack(1, &beat);
        beat_head(&t, beat.len);
        talk_say(&t, lks_buf_view(&beat));
        CHECK_INT(talk_status(&t), 200);
        talk_skip(&t);
        uint64_t before = metric(AGENTS);
        beat_pack(2, &beat);
        beat_head(&t, beat.len);
        CHECK(becomes(AGENTS, before + 1));
        lks_client_free(make_agent("n1", &other));
        talk_say(&t, lks_buf_view(&beat));
        CHECK_INT(talk_status(&t), 200);
        talk_end(&t);
        SSL_CTX_free(tls);
    }
    lks_pair_fini(&pair);
    lks_pair_fini(&other);
    end();
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"bodies of those who may not are not read", refused_unread},
        {"strangers have little", strangers},
        {"memory of bodies has limits", memory_is_shared},
        {"values of a body have a limit", many_values},
        {"calls in progress have a limit", calls_in_progress},
        {"readers of events have a limit", event_readers},
        {"downloads that stall keep no agent waiting", stalled_downloads},
        {"downloads of people and of agents have places apart", places_apart},
        {"downloads that stall are cut", stalled_are_cut},
        {"a heartbeat of a connection that is looked at anew is read", beat_between},
        {0},
    };
    signal(SIGPIPE, SIG_IGN); /* a server that refuses closes while we still send */
    return lks_test_main(tests);
}
