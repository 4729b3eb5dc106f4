/* The real daemon and a ticket system that the test plays: votes come signed and count as all
 * others, and what becomes of changes is told there, whatever that answers and through restarts. */
#include "tests/crew.h"
#include "tests/test.h"
#include "tests/tuples.h"
#include "tests/wait.h"
#include "trust/webhook.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20, REQUEST_MAX = 1 << 16 };

#define SECRET "0123456789abcdef-secret"

static const char fleet[] =
    "lockstep: 1\nkind: Fleet\nname: here\nsites: {east: {}}\n"
    "pools:\n"
    "  train: {posture: batch, stack: golden}\n"
    "nodes:\n"
    "  - {hosts: \"gpu[1-2]\", pool: train, class: hgx-h200-8, site: east}\n";

struct scene {
    struct crew crew;
    struct lks_tree tree; /* has the secret */
    struct lks_client *maker, *first, *second;
    int fd; /* where the ticket system listens */
    unsigned port;
    struct lks_buf heard; /* its last request */
};

/* The ticket system ------------------------------------------------------------------------- */

static bool listen_somewhere(struct scene *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = s->fd >= 0 && bind(s->fd, (struct sockaddr *)&at, len) == 0 &&
                listen(s->fd, 4) == 0 && getsockname(s->fd, (struct sockaddr *)&at, &len) == 0;
    s->port = ntohs(at.sin_port);
    return CHECK(good);
}

static bool wait_for(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return CHECK(poll(&p, 1, LKS_WAIT_MS) == 1);
}

/* All of it: as many bytes behind the head as that says. */
static bool is_whole(const struct lks_buf *heard)
{
    static const char said[] = "\r\ncontent-length: ";
    struct lks_str text = lks_buf_view(heard);
    ptrdiff_t head = lks_str_find(text, LKS_STR("\r\n\r\n"));
    ptrdiff_t at = -1;
    for (size_t i = 0; head > 0 && i + sizeof(said) < (size_t)head && at < 0; i++) {
        if (lks_str_eq_nocase((struct lks_str){text.ptr + i, sizeof(said) - 1},
                              (struct lks_str){said, sizeof(said) - 1}))
            at = (ptrdiff_t)(i + sizeof(said) - 1);
    }
    return at > 0 && text.len >= (size_t)head + 4 + strtoul(text.ptr + at, NULL, 10);
}

/* Take one message, and answer so. */
static bool take(struct scene *s, const char *answer)
{
    char piece[4096], text[256];
    if (!wait_for(s->fd))
        return false;
    int fd = accept(s->fd, NULL, NULL);
    lks_buf_truncate(&s->heard, 0);
    while (CHECK(fd >= 0) && !is_whole(&s->heard) && wait_for(fd)) {
        ssize_t got = read(fd, piece, sizeof(piece));
        if (!CHECK(got > 0))
            break;
        lks_buf_add(&s->heard, (struct lks_str){piece, (size_t)got});
    }
    snprintf(text, sizeof(text), "HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
             answer);
    /* Who was ended meanwhile does not hear it. */
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
    close(fd);
    return CHECK(is_whole(&s->heard));
}

static struct lks_str body_of(const struct scene *s)
{
    struct lks_str text = lks_buf_view(&s->heard);
    size_t at = (size_t)lks_str_find(text, LKS_STR("\r\n\r\n")) + 4;
    return (struct lks_str){text.ptr + at, text.len - at};
}

/* The message is signed, of the change, and says how it stands. */
static bool is_told(struct scene *s, const char *answer, const char *state)
{
    struct lks_err err = {0};
    struct lks_str header = {0}, rest;
    char want[64];
    lks_ms at = 0;
    if (!take(s, answer))
        return false;
    struct lks_str text = lks_buf_view(&s->heard);
    ptrdiff_t found = lks_str_find(text, LKS_STR(LKS_WEBHOOK_HEADER ": "));
    if (!CHECK(found > 0))
        return false;
    size_t skip = (size_t)found + strlen(LKS_WEBHOOK_HEADER ": ");
    (void)lks_str_cut((struct lks_str){text.ptr + skip, text.len - skip}, '\r', &header, &rest);
    snprintf(want, sizeof(want), "\"state\":\"%s\"", state);
    return CHECK_CODE(lks_webhook_check(LKS_STR(SECRET), header, body_of(s),
                                        (lks_ms)time(NULL) * LKS_SECOND, &at, &err),
                      LKS_OK) &&
           CHECK_HAS(text, "POST /hook?from=lockstep HTTP/1.1") && CHECK_HAS(body_of(s), want) &&
           CHECK_HAS(body_of(s), "\"plan\":\"sha256:");
}

/* The scene --------------------------------------------------------------------------------- */

/* The stack of the fleet with another power limit, published and released. */
static bool release_next(struct scene *s)
{
    static const char *const steps[] = {"lab", "canary", "released"};
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_str rest = lks_str_from(lks_test_node_stack), line;
    char digest[LKS_DIGEST_SIZE];
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        if (lks_str_starts(line, "name: "))
            line = LKS_STR("name: cooler");
        if (lks_str_starts(line, "  power_limit_w: "))
            line = LKS_STR("  power_limit_w: 650");
        lks_buf_addf(&text, "%" LKS_STR_FMT "\n", LKS_STR_ARG(line));
    }
    if (!crew_fine(s->crew.admin, "publish", "/v1/stacks?reason=next", text.ptr, &t))
        return false;
    snprintf(digest, sizeof(digest), "%" LKS_STR_FMT, LKS_STR_ARG(crew_text(&t, "digest")));
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        char path[160], body[96];
        snprintf(path, sizeof(path), "/v1/stacks/%s/promote", digest);
        snprintf(body, sizeof(body), "{\"to\":\"%s\",\"evidence\":\"ran a week\"}", steps[i]);
        if (!crew_fine(s->crew.root, "promote", path, body, &t))
            return false;
    }
    return true;
}

/* Until the daemon has noted that a ticket system is to be notified: what was before is not. */
static bool await_noted(struct scene *s)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf rows = {0};
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (ctl_ask(s->crew.root, "GET", "/v1/journal?limit=10000", NULL, &rows) == 200 &&
            lks_str_find(lks_buf_view(&rows), LKS_STR("\"kind\":\"ticket-told\"")) >= 0)
            return true;
    }
    return CHECK(false);
}

static bool scene_begin(struct scene *s)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf config = LKS_BUF(TEXT_MAX);
    char path[128], digest[LKS_DIGEST_SIZE];
    *s = (struct scene){.fd = -1};
    s->tree = lks_tree_new();
    lks_buf_init(&s->heard, REQUEST_MAX);
    lks_tree_file(&s->tree, "/secret", SECRET "\n");
    snprintf(path, sizeof(path), "%s/secret", s->tree.path);
    if (!CHECK(chmod(path, 0600) == 0) || !listen_somewhere(s))
        return false;
    lks_buf_addf(&config,
                 "rate: {people_per_s: 100000, burst: 1000000}\n"
                 "tickets:\n  secret: 'file:%s'\n  url: 'http://127.0.0.1:%u/hook?from=lockstep'\n"
                 "  people: ['ann@example.com=approver-', 'tia@example.com=approver-train',\n"
                 "           'ops@example.com=operator-train', 'gone@example.com=user:gone']\n",
                 path, s->port);
    if (!crew_begin(&s->crew, config.ptr) || !crew_release(&s->crew, digest) || !release_next(s) ||
        !crew_fleet(&s->crew, fleet) || !await_noted(s))
        return false;
    s->maker = crew_person(&s->crew, "operator", "train");
    s->first = crew_person(&s->crew, "approver", "train");
    s->second = crew_person(&s->crew, "approver", "");
    return s->maker != NULL && s->first != NULL && s->second != NULL;
}

static void scene_end(struct scene *s)
{
    lks_client_free(s->maker);
    lks_client_free(s->first);
    lks_client_free(s->second);
    crew_end(&s->crew);
    if (s->fd >= 0)
        close(s->fd);
    lks_buf_fini(&s->heard);
    lks_tree_free(&s->tree);
}

/* Votes ------------------------------------------------------------------------------------- */

struct plan {
    uint64_t id;
    char digest[LKS_DIGEST_SIZE];
};

static bool propose(struct scene *s, struct plan *out)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[64];
    if (!crew_fine(s->maker, "propose", "/v1/changes",
                   "{\"stack\":\"cooler\",\"pool\":\"train\",\"class\":\"routine\","
                   "\"reason\":\"r\"}",
                   &t))
        return false;
    out->id = (uint64_t)crew_number(&t, "id");
    snprintf(path, sizeof(path), "/v1/changes/%llu/procedure", (unsigned long long)out->id);
    if (!crew_fine(s->maker, "changeProcedure", path, NULL, &t))
        return false;
    struct lks_str digest = lks_doc_text(lks_doc_member(t.doc, "change"), "plan");
    snprintf(out->digest, sizeof(out->digest), "%" LKS_STR_FMT, LKS_STR_ARG(digest));
    return true;
}

struct vote {
    const char *name, *event, *decision, *who, *plan, *nodes, *secret, *header;
    int64_t late; /* s */
    int status;
    const char *detail;
};

/* As a ticket system would send it, over TLS and without any other credential. */
static int send_vote(struct scene *s, const struct plan *p, const struct vote *v,
                     struct lks_http_answer *out)
{
    char server[64], body[1024], header[LKS_WEBHOOK_SIZE], head[LKS_WEBHOOK_SIZE + 64];
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    snprintf(body, sizeof(body),
             "{\"event\":\"%s\",\"change\":%llu,\"decision\":\"%s\",\"who\":\"%s\","
             "\"ticket\":\"CHG-7\",\"plan\":\"%s\",\"nodes\":%s,\"reason\":\"board of Tuesday\"}",
             v->event, (unsigned long long)p->id, v->decision != NULL ? v->decision : "approve",
             v->who != NULL ? v->who : "ann@example.com", v->plan != NULL ? v->plan : p->digest,
             v->nodes != NULL ? v->nodes : "2");
    lks_ms wall = (lks_ms)((int64_t)time(NULL) - v->late) * LKS_SECOND;
    CHECK_CODE(lks_webhook_sign(lks_str_from(v->secret != NULL ? v->secret : SECRET), wall,
                                lks_str_from(body), header, &err),
               LKS_OK);
    snprintf(head, sizeof(head), LKS_WEBHOOK_HEADER ": %s\r\n",
             v->header != NULL ? v->header : header);
    snprintf(server, sizeof(server), "https://localhost:%u", s->crew.c.people);
    struct lks_client_options options = {
        .server = server, .ca = ctl_path(&s->crew.c, "data/ca.crt"), .timeout_ms = LKS_WAIT_MS};
    if (!CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK))
        return 0;
    enum lks_code code = lks_client_exchange(client, "POST", "/v1/tickets", "application/json",
                                             lks_str_from(body), head, out, &err);
    lks_client_free(client);
    return CHECK_CODE(code, LKS_OK) ? out->status : 0;
}

#define OTHER "sha256:0000000000000000000000000000000000000000000000000000000000000001"
static const struct vote votes[] = {
    {.name = "not signed", .event = "m-1", .header = "", .status = 403, .detail = "not signed"},
    {.name = "signed by another key",
     .event = "m-1",
     .secret = SECRET "x",
     .status = 403,
     .detail = "not one of the shared secret"},
    {.name = "signed long ago",
     .event = "m-1",
     .late = 400,
     .status = 403,
     .detail = "too long ago"},
    {.name = "signed by a clock that is ahead",
     .event = "m-1",
     .late = -400,
     .status = 403,
     .detail = "in the future"},
    {.name = "of an unknown person",
     .event = "m-1",
     .who = "eve@example.com",
     .status = 403,
     .detail = "'eve@example.com' is not known here"},
    {.name = "of the proposer",
     .event = "m-1",
     .who = "ops@example.com",
     .status = 409,
     .detail = "another person has to approve it"},
    {.name = "of a person without a role",
     .event = "m-1",
     .who = "gone@example.com",
     .status = 403,
     .detail = "may approve in none of the pools"},
    {.name = "for another plan",
     .event = "m-1",
     .plan = OTHER,
     .status = 409,
     .detail = "the ticket was shown another"},
    {.name = "for more nodes",
     .event = "m-1",
     .nodes = "3",
     .status = 409,
     .detail = "the ticket was shown another"},
    {.name = "neither yes nor no",
     .event = "m-1",
     .decision = "perhaps",
     .status = 400,
     .detail = "decision"},
    {.name = "a yes", .event = "m-1", .status = 200, .detail = "\"state\":\"proposed\""},
    {.name = "the same again", .event = "m-1", .status = 409, .detail = "was taken already"},
    {.name = "its message for another's vote",
     .event = "m-1",
     .who = "tia@example.com",
     .status = 409,
     .detail = "was taken already"},
    {.name = "another's yes, and it is approved",
     .event = "m-2",
     .who = "tia@example.com",
     .status = 200,
     .detail = "\"state\":\"approved\""},
};

static void check_votes(struct scene *s, const struct plan *p)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[64];
    for (size_t i = 0; i < LKS_COUNT(votes); i++) {
        struct lks_http_answer answer = {0};
        lks_test_case("%s", votes[i].name);
        CHECK_INT(send_vote(s, p, &votes[i], &answer), votes[i].status);
        CHECK_HAS(lks_buf_view(&answer.body), votes[i].detail);
        lks_http_answer_fini(&answer);
    }
    lks_test_case("%s", "what is shown of them");
    snprintf(path, sizeof(path), "/v1/changes/%llu", (unsigned long long)p->id);
    crew_fine(s->maker, "change", path, NULL, &t);
    CHECK_HAS(lks_buf_view(&t.answer.body), "\"ticket\":\"CHG-7\",\"who\":\"tia@example.com\"");
    CHECK_HAS(ctl_log(&s->crew.c), "a message of a ticket system was refused");
    CHECK(lks_str_find(ctl_log(&s->crew.c), LKS_STR("0123456789abcdef")) < 0);
}

/* A message that was taken is not taken again by a daemon that was started since. */
static void check_restart(struct scene *s, const struct plan *p)
{
    struct lks_http_answer answer = {0};
    if (!crew_again(&s->crew))
        return;
    lks_test_case("%s", "replayed behind a restart");
    CHECK_INT(send_vote(s, p, &votes[LKS_COUNT(votes) - 1], &answer), 409);
    CHECK_HAS(lks_buf_view(&answer.body), "was taken already");
    lks_http_answer_fini(&answer);
}

/* Both of its moves wait to be told. */
static void check_metrics(struct scene *s)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    CHECK_INT(ctl_ask(s->crew.root, "GET", "/metrics", NULL, &text), 200);
    CHECK_HAS(lks_buf_view(&text), "\nlockstep_tickets_waiting 2\n");
    CHECK_HAS(lks_buf_view(&text), "\nlockstep_tickets_oldest_ms ");
}

/* Whatever it answers, it is told in the end, each in its turn and with the same id. */
static void check_told(struct scene *s)
{
    char first[256], again[256];
    lks_test_case("%s", "told through a failure, a redirect and a restart");
    if (!is_told(s, "500 broken", "proposed"))
        return;
    check_metrics(s);
    snprintf(first, sizeof(first), "%.80s", body_of(s).ptr);
    if (!is_told(s, "302 elsewhere\r\nLocation: http://127.0.0.1:1/", "proposed"))
        return;
    snprintf(again, sizeof(again), "%.80s", body_of(s).ptr);
    CHECK_STR(lks_str_from(again), first);
    CHECK(is_told(s, "200 fine", "proposed"));
    CHECK(is_told(s, "204 fine", "approved"));
    CHECK_HAS(ctl_log(&s->crew.c), "the ticket system cannot be notified");
}

/* What it refuses for good does not keep others from it. */
static void check_refused(struct scene *s, uint64_t id)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[64];
    lks_test_case("%s", "given up after three times");
    snprintf(path, sizeof(path), "/v1/changes/%llu/abort", (unsigned long long)id);
    struct lks_client *maker = crew_person(&s->crew, "operator", "");
    if (maker == NULL)
        return;
    crew_fine(maker, "abortChange", path, "{\"reason\":\"r\"}", &t);
    for (size_t i = 0; i < 3; i++)
        CHECK(is_told(s, "410 gone", "aborted"));
    crew_fine(maker, "propose", "/v1/changes",
              "{\"stack\":\"cooler\",\"pool\":\"train\",\"class\":\"routine\",\"reason\":\"r\"}",
              &t);
    CHECK(is_told(s, "200 fine", "proposed"));
    lks_client_free(maker);
}

static void test_tickets(void)
{
    struct scene s;
    struct plan p = {0};
    if (scene_begin(&s) && propose(&s, &p)) {
        check_votes(&s, &p);
        check_restart(&s, &p);
        check_told(&s);
        check_refused(&s, p.id);
    }
    scene_end(&s);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"votes by tickets, and what they are told", test_tickets},
        {0},
    };
    return lks_test_main(tests);
}
