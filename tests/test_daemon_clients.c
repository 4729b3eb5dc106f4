/* lockstepd and clients that do not behave: broken, endless, slow, half gone, with the wrong
 * certificate. Each gets the end it deserves, and those that behave notice nothing. */
#include "base/file.h"
#include "codec/format/json.h"
#include "tests/controller.h"
#include "tests/pki.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    AT_ONCE = 8,       /* so many of each kind */
    FLOOD_MAX = 65536, /* pieces; far more than anybody takes */
    DRIP_MS = 40,
};

/* Deadlines that a test can wait for. */
static const char settings[] =
    "http: {first_ms: 1000, request_ms: 1500, idle_ms: 60000, body_max: 65536}\n"
    "rate: {people_per_s: 100000, burst: 1000000}\n";

enum where { SOCKET, PEOPLE, AGENTS };
enum manner {
    ONCE,  /* said once, and then it waits */
    HALF,  /* said once, and that it says no more */
    GONE,  /* said once, and gone */
    DRIP,  /* byte by byte */
    FLOOD, /* the last line again and again */
};

#define HEAD "Host: x\r\n"
#define DEEP "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["

static const struct rude {
    const char *name;
    enum where where;
    enum manner manner;
    const char *bytes;
    const char *answer; /* how it begins; "": none, or one that is no yes; NULL: any or none */
} rudes[] = {
    {"no HTTP", SOCKET, ONCE, "\026\003\001 hello there\r\n\r\n", "HTTP/1.1 400"},
    {"silence", SOCKET, ONCE, "", ""},
    {"half a request", SOCKET, ONCE, "GET /v1/fleet HTTP/1.1\r\nHo", ""},
    {"half a request, and gone", SOCKET, GONE, "GET /v1/fleet HTTP/1.1\r\nHo", ""},
    {"a whole one, and gone", SOCKET, GONE, "GET /v1/journal HTTP/1.1\r\n" HEAD "\r\n", ""},
    {"a whole one, and no more to say", SOCKET, HALF, "GET /v1/fleet HTTP/1.1\r\n" HEAD "\r\n",
     NULL},
    {"drops of a request", SOCKET, DRIP,
     "GET /v1/fleet HTTP/1.1\r\nX-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     ""},
    {"drops of a body", SOCKET, DRIP,
     "POST /v1/access HTTP/1.1\r\n" HEAD "Content-Length: 5000\r\n\r\n"
     "{\"identity\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     ""},
    {"headers without end", SOCKET, FLOOD,
     "GET /v1/fleet HTTP/1.1\r\n\nX-More: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n",
     "HTTP/1.1 431"},
    {"a target without end", SOCKET, FLOOD, "GET /\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     "HTTP/1.1 4"},
    {"a body beyond all limits", SOCKET, ONCE,
     "POST /v1/access HTTP/1.1\r\n" HEAD "Content-Length: 99999999\r\n\r\n{", "HTTP/1.1 413"},
    {"chunks without end", SOCKET, FLOOD,
     "POST /v1/access HTTP/1.1\r\n" HEAD "Transfer-Encoding: chunked\r\n\r\n"
     "\n8\r\naaaaaaaa\r\n",
     ""},
    {"a body that is not all there", SOCKET, HALF,
     "POST /v1/access HTTP/1.1\r\n" HEAD "Content-Length: 10\r\n\r\n{}", ""},
    {"a length that is none", SOCKET, ONCE,
     "POST /v1/access HTTP/1.1\r\n" HEAD "Content-Length: -1\r\n\r\n{}", "HTTP/1.1 400"},
    {"a path that climbs", SOCKET, ONCE, "GET /v1/../../etc/passwd HTTP/1.1\r\n" HEAD "\r\n",
     "HTTP/1.1 40"},
    {"a path with a zero in it", SOCKET, ONCE, "GET /v1/fleet%00 HTTP/1.1\r\n" HEAD "\r\n",
     "HTTP/1.1 40"},
    {"JSON of great depth", SOCKET, ONCE,
     "POST /v1/access HTTP/1.1\r\n" HEAD "Content-Length: 80\r\n\r\n" DEEP, "HTTP/1.1 400"},
    {"plain words to people's port", PEOPLE, ONCE, "GET / HTTP/1.1\r\n" HEAD "\r\n", ""},
    {"plain words to the agents' port", AGENTS, ONCE, "GET / HTTP/1.1\r\n" HEAD "\r\n", ""},
    {"half a handshake", PEOPLE, ONCE, "\026\003\001\002", ""},
    {"silence for agents", AGENTS, ONCE, "", ""},
    {"a handshake in drops", AGENTS, DRIP, "\026\003\001\002\001\001\001\001\001\001\001\001", ""},
};

/* One rude client ----------------------------------------------------------------------------- */

struct client {
    int fd;
    size_t at; /* of its bytes */
    unsigned floods;
    bool over; /* it was answered as it should be, or the connection ended */
    char got[512];
    size_t got_len;
};

static int dial(const struct ctl *c, enum where where)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    bool local = where == SOCKET;
    in.sin_port = htons((uint16_t)(where == PEOPLE ? c->people : c->agents));
    snprintf(un.sun_path, sizeof(un.sun_path), "%s", c->socket + strlen("unix:"));
    int fd = socket(local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr *to = local ? (const struct sockaddr *)&un : (const struct sockaddr *)&in;
    CHECK(fd >= 0 && connect(fd, to, local ? sizeof(un) : sizeof(in)) == 0);
    return fd;
}

/* Whether everything was said. What the server does not take any more is not said. */
static bool say(struct client *k, const struct rude *r)
{
    struct lks_str all = lks_str_from(r->bytes), head = all, again = {0};
    if (r->manner == FLOOD) {
        ptrdiff_t mark = lks_str_find(all, LKS_STR("\n\n")) + 1; /* CRLF, then what is repeated */
        mark = mark > 0 ? mark : lks_str_find(all, LKS_STR("\n"));
        head.len = (size_t)mark;
        again = (struct lks_str){all.ptr + mark + 1, all.len - (size_t)mark - 1};
    }
    size_t piece = r->manner == DRIP ? 1 : head.len - k->at;
    if (k->at < head.len) {
        ssize_t n = send(k->fd, head.ptr + k->at, piece, MSG_NOSIGNAL | MSG_DONTWAIT);
        k->at += n > 0 ? (size_t)n : 0;
        return n < 0 && errno != EAGAIN;
    }
    for (; again.len > 0 && k->floods < FLOOD_MAX; k->floods++) {
        if (send(k->fd, again.ptr, again.len, MSG_NOSIGNAL | MSG_DONTWAIT) < (ssize_t)again.len)
            return errno != EAGAIN;
    }
    return again.len == 0 || k->floods == FLOOD_MAX;
}

static bool wanted(const struct rude *r)
{
    return r->answer != NULL && r->answer[0] != '\0';
}

static void listen_to(struct client *k, const struct rude *r)
{
    char bytes[4096];
    ssize_t n = recv(k->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n > 0 && r->where == SOCKET) {
        size_t room = sizeof(k->got) - 1 - k->got_len;
        size_t kept = (size_t)n < room ? (size_t)n : room;
        memcpy(k->got + k->got_len, bytes, kept);
        k->got_len += kept;
    }
    bool answered = wanted(r) && k->got_len >= strlen(r->answer);
    k->over = n == 0 || (n < 0 && errno != EAGAIN) || answered;
}

/* Those that behave: one at the socket, one at people's port. Each writes once in each turn of the
 * rude clients, so the length of the test decides how much they write, and not the machine. */
struct polite {
    struct lks_client *client;
    unsigned id, yes;
};

static void behave_well(struct polite *p)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    char body[96];
    snprintf(body, sizeof(body), "{\"identity\":\"user:p%u-%u\",\"role\":\"viewer\"}", p->id,
             p->yes);
    if (CHECK_INT(ctl_ask(p->client, "POST", "/v1/access", body, &answer), 200))
        p->yes++;
    else
        printf("%s\n", answer.ptr);
}

static void behave_badly(const struct ctl *c, const struct rude *r, struct polite others[2])
{
    struct client all[AT_ONCE] = {0};
    for (size_t i = 0; i < AT_ONCE; i++) {
        all[i].fd = dial(c, r->where);
        if (r->manner != DRIP && r->manner != FLOOD)
            (void)say(&all[i], r);
        if (r->manner == HALF)
            CHECK(shutdown(all[i].fd, SHUT_WR) == 0);
        all[i].over = r->manner == GONE;
    }
    size_t over = 0;
    for (struct lks_wait w = {0}; over < AT_ONCE && lks_wait_on(&w);) {
        over = 0;
        behave_well(&others[0]);
        behave_well(&others[1]);
        for (size_t i = 0; i < AT_ONCE; i++) {
            if (!all[i].over && (r->manner == DRIP || r->manner == FLOOD))
                (void)say(&all[i], r);
            if (!all[i].over)
                listen_to(&all[i], r);
            over += all[i].over;
        }
        lks_rest(over < AT_ONCE ? DRIP_MS : 0);
    }
    CHECK_INT(over, AT_ONCE);
    for (size_t i = 0; i < AT_ONCE; i++) {
        close(all[i].fd);
        struct lks_str got = {all[i].got, all[i].got_len};
        if (wanted(r) ? !lks_str_starts(got, r->answer)
                      : r->answer != NULL && lks_str_starts(got, "HTTP/1.1 2"))
            CHECK_STR(got, r->answer);
    }
}

static void serves_others_meanwhile(void)
{
    struct ctl c;
    ctl_init(&c, settings);
    if (ctl_start(&c)) {
        ctl_apply(&c, 4);
        struct polite others[] = {{.client = ctl_client(&c, CTL_UNIX), .id = 0},
                                  {.client = ctl_client(&c, CTL_TLS), .id = 1}};
        for (size_t i = 0; i < LKS_COUNT(rudes); i++) {
            lks_test_case("%s", rudes[i].name);
            behave_badly(&c, &rudes[i], others);
        }
        lks_test_case("those that behave");
        for (size_t i = 0; i < LKS_COUNT(others); i++)
            lks_client_free(others[i].client);
        CHECK_INT(ctl_stop(&c), 0);
        CHECK(ctl_whole(&c) >= others[0].yes + others[1].yes);
    }
    ctl_fini(&c);
}

/* Certificates -------------------------------------------------------------------------------- */

/* The status that the agents' port gives to a client with this certificate; 0: none. */
static int show(const struct ctl *c, const struct lks_pair *pair, struct lks_buf *said)
{
    struct lks_http_answer answer = {0};
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    char server[64], ca[128];
    snprintf(server, sizeof(server), "https://localhost:%u", c->agents);
    snprintf(ca, sizeof(ca), "%s/ca.crt", c->data);
    struct lks_client_options o = {.server = server, .ca = ca, .timeout_ms = LKS_WAIT_MS};
    if (pair != NULL) {
        o.certificate = ctl_path(c, "shown.crt");
        o.key = ctl_path(c, "shown.key");
        CHECK_CODE(lks_file_replace(o.certificate, lks_buf_view(&pair->certificate), &err), LKS_OK);
        CHECK_CODE(lks_file_replace(o.key, lks_buf_view(&pair->key), &err), LKS_OK);
    }
    CHECK_CODE(lks_client_new(&o, &client, &err), LKS_OK);
    enum lks_code code = lks_client_exchange(client, "GET", "/v1/agent/mail", NULL, LKS_STR(""),
                                             "Lockstep-Protocol: 1\r\n", &answer, &err);
    lks_buf_init(said, LKS_CLIENT_BODY_MAX);
    lks_buf_add(said, code == LKS_OK ? lks_buf_view(&answer.body) : lks_str_from(err.msg));
    int status = code == LKS_OK ? answer.status : 0;
    lks_http_answer_fini(&answer);
    lks_client_free(client);
    return status;
}

/* A key of its own and what `path` makes of a request for it, with one more member. */
static void certify(const struct ctl *c, const char *path, const char *key, const char *value,
                    struct lks_pair *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf request = LKS_BUF(LKS_X509_PEM_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(LKS_X509_PEM_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    static char pem[LKS_X509_PEM_MAX];
    struct lks_err err = {0};
    lks_buf_init(&out->key, LKS_X509_PEM_MAX);
    lks_buf_init(&out->certificate, LKS_X509_PEM_MAX);
    CHECK_CODE(lks_x509_key(&out->key, &err), LKS_OK);
    CHECK_CODE(lks_x509_request(lks_buf_view(&out->key), LKS_STR("any"), &request, &err), LKS_OK);
    struct lks_json_writer w = {.out = &body};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, key, value);
    lks_json_text(&w, "request", lks_buf_view(&request));
    lks_json_end(&w, '}');
    if (!CHECK_INT(ctl_once(c, "POST", path, body.ptr, &answer), 200))
        printf("%s\n", answer.ptr);
    ctl_text(&answer, "certificate", pem, sizeof(pem));
    lks_buf_add(&out->certificate, lks_str_from(pem));
}

static void enroll(const struct ctl *c, const char *node, struct lks_pair *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    char path[64], token[512];
    snprintf(path, sizeof(path), "/v1/nodes/%s/enroll", node);
    CHECK_INT(ctl_once(c, "POST", path, "{}", &answer), 200);
    certify(c, "/v1/enroll", "token", ctl_text(&answer, "token", token, sizeof(token)), out);
}

enum { NOBODY, STRANGER, PERSON, LEFT, ANEW, AGENT, SHOWN_COUNT };

static const struct {
    const char *name;
    int status; /* 0: the handshake ends it */
} shown[SHOWN_COUNT] = {
    [NOBODY] = {"no certificate", 0},
    [STRANGER] = {"a node's certificate of another authority", 403},
    [PERSON] = {"a person's certificate", 403},
    [LEFT] = {"that of a node whose machine was replaced", 403},
    [ANEW] = {"that of a node that enrolled anew", 403},
    [AGENT] = {"that of an agent", 200},
};

static void issue_all(const struct ctl *c, struct lks_pair pairs[SHOWN_COUNT])
{
    LKS_CLEANUP(lks_pair_fini) struct lks_pair authority = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    lks_pki_authority(&authority);
    lks_pki_issue(&authority, (struct lks_pki_wish){.use = LKS_X509_NODE, .name = "n0"},
                  &pairs[STRANGER]);
    certify(c, "/v1/certificates", "name", "kim", &pairs[PERSON]);
    enroll(c, "n1", &pairs[LEFT]);
    CHECK_INT(ctl_once(c, "POST", "/v1/nodes/n1/replace", "{\"reason\":\"new board\"}", &answer),
              200);
    enroll(c, "n2", &pairs[ANEW]);
    enroll(c, "n2", &pairs[AGENT]);
}

static void knows_its_agents(void)
{
    struct ctl c;
    struct lks_pair pairs[SHOWN_COUNT] = {0};
    ctl_init(&c, "");
    if (ctl_start(&c)) {
        ctl_apply(&c, 4);
        issue_all(&c, pairs);
        for (size_t i = 0; i < (size_t)2 * SHOWN_COUNT; i++) {
            LKS_CLEANUP(lks_buf_fini) struct lks_buf said = {0};
            size_t which = i % SHOWN_COUNT;
            lks_test_case("%s", shown[which].name);
            if (!CHECK_INT(show(&c, which == NOBODY ? NULL : &pairs[which], &said),
                           shown[which].status))
                printf("%s\n", said.ptr);
        }
        CHECK_INT(ctl_stop(&c), 0);
    }
    for (size_t i = 0; i < SHOWN_COUNT; i++)
        lks_pair_fini(&pairs[i]);
    ctl_fini(&c);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"serves others meanwhile", serves_others_meanwhile},
        {"knows its agents", knows_its_agents},
        {0},
    };
    return lks_test_main(tests);
}
