/* One admin against the real daemon: an admin's token is all that the attacker has, and a change
 * that two others have to approve is what they want. And the credentials of people: how long they
 * are good, who made them, that they end at once. */
#include "base/file.h"
#include "core/campaign/state_apply.h"
#include "core/state/state.h"
#include "model/record/record.h"
#include "server/base/auth.h"
#include "tests/crew.h"
#include "tests/test.h"
#include "tests/tuples.h"
#include "tests/wait.h"
#include "trust/token.h"
#include "trust/x509.h"

#include <stdio.h>
#include <time.h>

enum { HOUR_S = 3600 };

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define WHY   "{\"reason\":\"r\"}"

static const char config[] = "rate: {people_per_s: 100000, burst: 1000000}\n";

static const char fleet[] = "lockstep: 1\nkind: Fleet\nname: here\n"
                            "pools: {train: {posture: batch, stack: golden}}\n"
                            "nodes: [{hosts: gpu1, pool: train, class: hgx-h200-8}]\n";

struct scene {
    struct crew crew;
    struct lks_client *agent;
    uint64_t beats;
    char from[LKS_DIGEST_SIZE], to[LKS_DIGEST_SIZE];
};

static bool scene_begin(struct scene *s)
{
    static const char *const cooler[] = {"name: ", "name: cooler",
                                         "  power_limit_w: ", "  power_limit_w: 650", NULL};
    *s = (struct scene){0};
    if (!crew_begin(&s->crew, config) || !crew_release(&s->crew, s->from) ||
        !crew_release_with(&s->crew, cooler, s->to) || !crew_fleet(&s->crew, fleet))
        return false;
    s->agent = crew_enroll(&s->crew, "gpu1");
    return s->agent != NULL && crew_report(s->agent, "gpu1", "", &s->beats);
}

static void scene_end(struct scene *s)
{
    lks_client_free(s->agent);
    crew_end(&s->crew);
}

/* Credentials ------------------------------------------------------------------------------- */

static void grant(struct lks_client *maker, const char *identity, const char *role)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char body[160];
    (void)snprintf(body, sizeof(body), "{\"identity\":\"%s\",\"role\":\"%s\"}", identity, role);
    crew_fine(maker, "grant", "/v1/access", body, &t);
}

/* A client with a token that `maker` makes; NULL is a failed check. */
static struct lks_client *token(struct scene *s, struct lks_client *maker, const char *id,
                                const char *identity)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char server[64], body[160], text[LKS_TOKEN_TEXT_MAX];
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    (void)snprintf(body, sizeof(body), "{\"id\":\"%s\",\"identity\":\"%s\"}", id, identity);
    if (!crew_fine(maker, "makeToken", "/v1/tokens", body, &t))
        return NULL;
    (void)snprintf(text, sizeof(text), "%" LKS_STR_FMT, LKS_STR_ARG(crew_text(&t, "token")));
    (void)snprintf(server, sizeof(server), "https://localhost:%u", s->crew.c.people);
    const struct lks_client_options options = {.server = server,
                                               .ca = ctl_path(&s->crew.c, "data/ca.crt"),
                                               .token = text,
                                               .timeout_ms = LKS_WAIT_MS};
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    return client;
}

/* {"name": NAME, "request": ...}, or the request alone; the key stays in FILE.key. */
static void write_request(struct scene *s, const char *name, const char *file, bool renewal,
                          struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = {0}, csr = {0};
    char path[64];
    struct lks_err err = {0};
    lks_buf_init(&key, LKS_X509_PEM_MAX);
    lks_buf_init(&csr, LKS_X509_PEM_MAX);
    lks_buf_init(out, LKS_X509_PEM_MAX * 2);
    CHECK_CODE(lks_x509_key(&key, &err), LKS_OK);
    CHECK_CODE(lks_x509_request(lks_buf_view(&key), lks_str_from(name), &csr, &err), LKS_OK);
    (void)snprintf(path, sizeof(path), "%s.key", file);
    CHECK_CODE(lks_file_replace(ctl_path(&s->crew.c, path), lks_buf_view(&key), &err), LKS_OK);
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    if (!renewal)
        lks_json_cstr(&w, "name", name);
    lks_json_text(&w, "request", lks_buf_view(&csr));
    lks_json_end(&w, '}');
}

/* The same with a certificate; `serial` is its number. `maker` shows one that is renewed, where
 * `renewal` says so. */
static struct lks_client *certificate(struct scene *s, struct lks_client *maker, const char *name,
                                      const char *file, bool renewal, char serial[64])
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
    char server[64], crt[64], key[64];
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    write_request(s, name, file, renewal, &body);
    if (!crew_fine(maker, renewal ? "renewCertificate" : "makeCertificate",
                   renewal ? "/v1/certificates/renew" : "/v1/certificates", body.ptr, &t))
        return NULL;
    (void)snprintf(serial, 64, "%" LKS_STR_FMT, LKS_STR_ARG(crew_text(&t, "serial")));
    (void)snprintf(crt, sizeof(crt), "%s.crt", file);
    (void)snprintf(key, sizeof(key), "%s.key", file);
    CHECK_CODE(lks_file_replace(ctl_path(&s->crew.c, crt), crew_text(&t, "certificate"), &err),
               LKS_OK);
    (void)snprintf(server, sizeof(server), "https://localhost:%u", s->crew.c.people);
    const struct lks_client_options options = {.server = server,
                                               .ca = ctl_path(&s->crew.c, "data/ca.crt"),
                                               .certificate = ctl_path(&s->crew.c, crt),
                                               .key = ctl_path(&s->crew.c, key),
                                               .timeout_ms = LKS_WAIT_MS};
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    return client;
}

/* The attack -------------------------------------------------------------------------------- */

static uint64_t propose(struct lks_client *who, int64_t reachable)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    if (!crew_fine(who, "propose", "/v1/changes",
                   "{\"stack\":\"cooler\",\"pool\":\"train\",\"class\":\"routine\",\"reason\":"
                   "\"r\"}",
                   &t))
        return 0;
    const struct lks_doc *un = lks_doc_member(t.doc, "unreachable");
    const struct lks_doc *count = lks_doc_member(un, "reachable");
    CHECK_INT(count != NULL ? count->number : -1, reachable);
    if (reachable >= 0)
        CHECK_HAS(lks_doc_text(un, "text"), "of 2 approvals can be reached for pool train: more");
    return (uint64_t)crew_number(&t, "id");
}

static const char *path_of(uint64_t id, const char *verb)
{
    static char path[96];
    (void)snprintf(path, sizeof(path), "/v1/changes/%llu/%s", (unsigned long long)id, verb);
    return path;
}

static void no_vote(struct lks_client *who, uint64_t id, const char *behind)
{
    char want[96];
    (void)snprintf(want, sizeof(want), "%s is the person behind both; use a credential that",
                   behind);
    crew_refused(who, "approveChange", path_of(id, "approve"), WHY, 409, want);
}

/* What an admin can make of themselves: two approvers, before and after, by each way there is. */
static void attack(struct scene *s, struct lks_client *admin)
{
    char serial[64];
    struct lks_client *ann = token(s, admin, "ann-1", "ann");
    struct lks_client *joe = certificate(s, admin, "joe", "joe", false, serial);
    struct lks_client *other = token(s, admin, "adm-1", "adm");
    struct lks_client *lee = token(s, other, "lee-1", "lee");
    uint64_t id = propose(admin, 0);
    no_vote(ann, id, "admin");
    no_vote(joe, id, "admin");
    no_vote(lee, id, "admin");
    struct lks_client *next = certificate(s, joe, "joe", "joe2", true, serial);
    no_vote(next, id, "admin");
    struct lks_client *late = token(s, admin, "max-1", "max");
    no_vote(late, id, "admin");
    crew_refused(admin, "startChange", path_of(id, "start"),
                 "{\"nodes\":1,\"gpus\":8,\"reason\":\"r\"}", 409, "it has 0 of 2 approvals");
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(admin, "abortChange", path_of(id, "abort"), WHY, &t);
    lks_client_free(ann);
    lks_client_free(joe);
    lks_client_free(other);
    lks_client_free(lee);
    lks_client_free(next);
    lks_client_free(late);
}

/* In the name of an operator, whom the admin makes as well. */
static void attack_as_another(struct scene *s, struct lks_client *admin)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct lks_client *dave = token(s, admin, "dave-1", "dave");
    struct lks_client *ann = token(s, admin, "ann-2", "ann");
    struct lks_client *lee = token(s, admin, "lee-2", "lee");
    uint64_t id = propose(dave, 0);
    no_vote(ann, id, "admin");
    no_vote(lee, id, "admin");
    crew_fine(dave, "abortChange", path_of(id, "abort"), WHY, &t);
    lks_client_free(dave);
    lks_client_free(ann);
    lks_client_free(lee);
}

/* Where others proposed it, all that one admin made are one voice. */
static void one_voice(struct scene *s, struct lks_client *admin)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct lks_client *op = token(s, s->crew.root, "op-1", "op");
    struct lks_client *ann = token(s, admin, "ann-3", "ann");
    struct lks_client *lee = token(s, admin, "lee-3", "lee");
    grant(s->crew.root, "op", "operator");
    uint64_t id = propose(op, 1);
    crew_fine(ann, "approveChange", path_of(id, "approve"), WHY, &t);
    crew_fine(lee, "approveChange", path_of(id, "approve"), WHY, &t);
    CHECK_STR(crew_text(&t, "state"), "proposed");
    CHECK_INT(lks_doc_member(lks_doc_member(t.doc, "approvals"), "given")->number, 1);
    /* People whom root let in are two. */
    struct lks_client *real = token(s, s->crew.root, "lee-4", "lee");
    crew_fine(real, "approveChange", path_of(id, "approve"), WHY, &t);
    CHECK_STR(crew_text(&t, "state"), "approved");
    char path[64];
    (void)snprintf(path, sizeof(path), "/v1/changes/%llu", (unsigned long long)id);
    crew_fine(op, "change", path, NULL, &t);
    CHECK_STR(lks_doc_text(crew_item(&t, "votes", 0), "credential"), "token:ann-3");
    CHECK_STR(lks_doc_member(crew_item(&t, "votes", 0), "minters")->first->text, "admin");
    CHECK_STR(lks_doc_text(crew_item(&t, "votes", 1), "credential"), "token:lee-4");
    CHECK(lks_doc_member(t.doc, "unreachable") == NULL);
    crew_fine(op, "abortChange", path_of(id, "abort"), WHY, &t);
    lks_client_free(op);
    lks_client_free(ann);
    lks_client_free(lee);
    lks_client_free(real);
}

/* The review of what began without approvals, and a gate that is waived, are another's as well. */
static void attack_glass(struct scene *s, struct lks_client *admin)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct lks_client *ann = token(s, admin, "ann-5", "ann");
    struct lks_client *real = token(s, s->crew.root, "ann-6", "ann");
    uint64_t id = propose(admin, -1);
    crew_fine(admin, "startChange", path_of(id, "start"),
              "{\"nodes\":1,\"gpus\":8,\"break_glass\":true,\"reason\":\"worm\"}", &t);
    crew_refused(ann, "reviewChange", path_of(id, "review"), WHY, 409,
                 "admin is the person behind both");
    crew_refused(ann, "waiveGate", path_of(id, "waive"),
                 "{\"gate\":\"soak\",\"until\":\"2090-01-01T00:00:00Z\",\"reason\":\"r\"}", 409,
                 "admin is the person behind both");
    crew_fine(real, "reviewChange", path_of(id, "review"), WHY, &t);
    crew_fine(admin, "abortChange", path_of(id, "abort"), WHY, &t);
    lks_client_free(ann);
    lks_client_free(real);
}

static void test_attack(void)
{
    struct scene s;
    if (CHECK(scene_begin(&s))) {
        static const char *const approvers[] = {"ann", "lee", "max", "user:joe"};
        struct lks_client *admin = s.crew.admin;
        for (size_t i = 0; i < LKS_COUNT(approvers); i++)
            grant(admin, approvers[i], "approver");
        grant(admin, "adm", "admin");
        grant(admin, "dave", "operator");
        attack(&s, admin);
        attack_as_another(&s, admin);
        one_voice(&s, admin);
        attack_glass(&s, admin);
    }
    scene_end(&s);
}

/* Credentials of people --------------------------------------------------------------------- */

/* The member of a list of /v1/access with this value; NULL: none. */
static const struct lks_doc *listed(const struct crew_told *t, const char *list, const char *key,
                                    const char *value)
{
    const struct lks_doc *items = lks_doc_member(t->doc, list);
    for (const struct lks_doc *i = items != NULL ? items->first : NULL; i != NULL; i = i->next) {
        if (lks_str_is(lks_doc_text(i, key), value))
            return i;
    }
    return NULL;
}

static int64_t hours_left(const struct lks_doc *item)
{
    lks_ms end = 0;
    CHECK(lks_time_parse(lks_doc_text(item, "expires"), &end));
    return ((int64_t)(end / LKS_SECOND) - (int64_t)time(NULL) + HOUR_S / 2) / HOUR_S;
}

/* A stream of events by a certificate, which is revoked at the first row. */
struct streaming {
    struct lks_client *admin;
    const char *serial, *path; /* of the certificate */
    bool asked;
};

static bool on_row(void *ctx, struct lks_str id, struct lks_str data)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct streaming *s = ctx;
    (void)id;
    CHECK(lks_str_find(data, LKS_STR("person-revoked")) < 0 ||
          lks_str_find(data, lks_str_from(s->serial)) < 0); /* it ends before that is told */
    if (!s->asked)
        crew_fine(s->admin, "endCertificate", s->path, NULL, &t);
    s->asked = true;
    return true;
}

static void check_stream(struct scene *s)
{
    char serial[64], path[128];
    struct lks_err err = {0};
    grant(s->crew.root, "user:eve", "viewer");
    struct lks_client *eve = certificate(s, s->crew.admin, "eve", "eve", false, serial);
    (void)snprintf(path, sizeof(path), "/v1/certificates/%s", serial);
    struct streaming over = {.admin = s->crew.admin, .serial = serial, .path = path};
    CHECK_CODE(lks_client_events(eve, "/v1/events?from=1", NULL, LKS_WAIT_MS, on_row, &over, &err),
               LKS_OK);
    CHECK(over.asked);
    crew_refused(eve, "whoami", "/v1/whoami", NULL, 401, "not known, or has expired");
    lks_client_free(eve);
}

static void test_certificates(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct scene s = {0};
    char serial[64], next[64], path[128];
    if (!CHECK(crew_begin(&s.crew, config))) {
        scene_end(&s);
        return;
    }
    struct lks_client *kim = certificate(&s, s.crew.admin, "kim", "kim", false, serial);
    struct lks_client *again = certificate(&s, kim, "kim", "kim2", true, next);
    crew_fine(s.crew.admin, "access", "/v1/access", NULL, &t);
    const struct lks_doc *first = listed(&t, "certificates", "serial", serial);
    const struct lks_doc *second = listed(&t, "certificates", "serial", next);
    if (CHECK(first != NULL && second != NULL)) {
        CHECK_STR(lks_doc_text(first, "identity"), "user:kim");
        CHECK_STR(lks_doc_text(first, "minter"), "admin");
        CHECK_STR(lks_doc_text(second, "minter"), "admin");
        CHECK_INT(hours_left(first), 24);
        CHECK_INT(hours_left(second), 24);
    }
    /* On the connection that is open, from the next request on. */
    crew_fine(kim, "whoami", "/v1/whoami", NULL, &t);
    (void)snprintf(path, sizeof(path), "/v1/certificates/%s", serial);
    crew_fine(s.crew.admin, "endCertificate", path, NULL, &t);
    crew_refused(kim, "whoami", "/v1/whoami", NULL, 401, "not known, or has expired");
    crew_fine(again, "whoami", "/v1/whoami", NULL, &t);
    CHECK_STR(crew_text(&t, "by"), "certificate");
    CHECK_INT(hours_left(t.doc), 24);
    crew_refused(s.crew.admin, "endCertificate", path, NULL, 404, "no certificate '");
    crew_refused(s.crew.admin, "renewCertificate", "/v1/certificates/renew", "{\"request\":\"x\"}",
                 400, "show the certificate that is to be renewed");
    check_stream(&s);
    /* A restart knows what was revoked. */
    if (CHECK(crew_again(&s.crew))) {
        crew_fine(s.crew.admin, "access", "/v1/access", NULL, &t);
        CHECK(listed(&t, "certificates", "serial", serial) == NULL);
        CHECK(listed(&t, "certificates", "serial", next) != NULL);
    }
    lks_client_free(kim);
    lks_client_free(again);
    scene_end(&s);
}

/* The same by commands. */
static void check_commands(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(1 << 16);
    char server[64], file[128];
    struct lks_err err = {0};
    crew_fine(s->crew.admin, "makeToken", "/v1/tokens", "{\"id\":\"lee-1\",\"identity\":\"lee\"}",
              &t);
    (void)snprintf(file, sizeof(file), "%s", ctl_path(&s->crew.c, "lee.token"));
    (void)snprintf(server, sizeof(server), "https://localhost:%u", s->crew.c.people);
    CHECK_CODE(lks_file_replace(file, crew_text(&t, "token"), &err), LKS_OK);
    const char *const renew[] = {LKS_CLI_PROGRAM,
                                 "access",
                                 "renew",
                                 "--server",
                                 server,
                                 "--ca",
                                 ctl_path(&s->crew.c, "data/ca.crt"),
                                 "--token-file",
                                 file,
                                 NULL};
    CHECK_INT(ctl_run(renew, &said), 0);
    CHECK_HAS(lks_buf_view(&said), "token lee-1 is good until 20");
    const char *const ls[] = {LKS_CLI_PROGRAM, "access", "ls", "--server", s->crew.c.socket, NULL};
    lks_buf_truncate(&said, 0);
    CHECK_INT(ctl_run(ls, &said), 0);
    CHECK_HAS(lks_buf_view(&said), "minter");
    CHECK_HAS(lks_buf_view(&said), "lee-1");
    const char *const revoke[] = {LKS_CLI_PROGRAM,  "access", "revoke",
                                  "--certificate",  "0A",     "--server",
                                  s->crew.c.socket, NULL};
    CHECK_INT(ctl_run(revoke, &said), 3);
    CHECK_HAS(lks_buf_view(&said), "no certificate '0A' of a person");
}

/* The status of a call that changes something, as a page of `origin` would make it. */
static int ask_from(struct lks_client *client, const char *origin)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_client_exchange(client, "POST", "/v1/access", "text/plain", LKS_STR("{}"),
                                   origin, &answer, &err),
               LKS_OK);
    return answer.status;
}

/* A browser shows a certificate that it has whichever page asks, and a token never by itself. */
static void test_pages(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct scene s = {0};
    char serial[64];
    if (CHECK(crew_begin(&s.crew, config))) {
        struct lks_client *kim = certificate(&s, s.crew.admin, "kim", "kim", false, serial);
        struct lks_client *lee = token(&s, s.crew.admin, "lee-1", "lee");
        CHECK_INT(ask_from(kim, ""), 403);
        CHECK_INT(ask_from(kim, "Origin: https://evil.example\r\n"), 401);
        CHECK_INT(ask_from(kim, "Origin: null\r\n"), 401);
        CHECK_INT(ask_from(lee, "Origin: https://evil.example\r\n"), 403);
        crew_fine(kim, "whoami", "/v1/whoami", NULL, &t);
        lks_client_free(kim);
        lks_client_free(lee);
    }
    scene_end(&s);
}

static void test_tokens(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct scene s = {0};
    if (!CHECK(crew_begin(&s.crew, "rate: {people_per_s: 1000, burst: 1000}\n"
                                   "tls: {user_hours: 2, user_days: 3}\n"))) {
        scene_end(&s);
        return;
    }
    struct lks_client *kim = token(&s, s.crew.admin, "kim-1", "kim");
    crew_fine(s.crew.admin, "makeToken", "/v1/tokens",
              "{\"id\":\"batch\",\"identity\":\"batch\",\"ttl_seconds\":259200}", &t);
    crew_refused(s.crew.admin, "makeToken", "/v1/tokens",
                 "{\"id\":\"x\",\"identity\":\"x\",\"ttl_seconds\":259201}", 400,
                 "ttl_seconds: at most 3 days (tls.user_days)");
    crew_fine(kim, "renewToken", "/v1/tokens/renew", NULL, &t);
    CHECK_STR(crew_text(&t, "id"), "kim-1");
    CHECK_INT(hours_left(t.doc), 2);
    check_commands(&s);
    crew_refused(s.crew.root, "renewToken", "/v1/tokens/renew", NULL, 400,
                 "show the API token that is to be renewed; this call shows unix:");
    crew_fine(s.crew.admin, "access", "/v1/access", NULL, &t);
    const struct lks_doc *made = listed(&t, "tokens", "id", "kim-1");
    const struct lks_doc *batch = listed(&t, "tokens", "id", "batch");
    const struct lks_doc *root = listed(&t, "tokens", "id", "admin");
    if (CHECK(made != NULL && batch != NULL && root != NULL)) {
        CHECK_STR(lks_doc_text(made, "minter"), "admin");
        CHECK_STR(lks_doc_text(root, "minter"), "unix:0");
        CHECK_INT(hours_left(made), 2);
        CHECK_INT(hours_left(batch), 72);
    }
    lks_client_free(kim);
    scene_end(&s);
}

/* What another controller says it was shown holds where the journal has it, and ends with it. */
static void test_forwarded(void)
{
    static const struct {
        const char *identity, *credential;
        bool holds;
    } rows[] = {
        {"kim", "token:kim-1", true},
        {"ann", "token:kim-1", false},
        {"kim", "token:x", false},
        {"unix:0", "unix:0", true},
        {"kim", "", true},
        {"kim", "token:old", false},
        {"user:kim", "certificate:a", true},
        {"user:kim", "certificate:b", false},
        {"user:ann", "certificate:a", false},
        {"ann", "ticket:CHG1", true},
    };
    struct lks_state state;
    struct lks_err err = {0};
    CHECK_CODE(lks_state_init(&state, 1, &err), LKS_OK);
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_API_TOKEN,
         .api_token = {.id = LKS_STR_C("kim-1"), .identity = LKS_STR_C("kim"), .expires = 100}},
        {.kind = LKS_RECORD_API_TOKEN,
         .api_token = {.id = LKS_STR_C("old"), .identity = LKS_STR_C("kim"), .expires = 50}},
        {.kind = LKS_RECORD_PERSON_CERTIFIED,
         .person_certified = {.serial = LKS_STR_C("a"),
                              .identity = LKS_STR_C("user:kim"),
                              .fingerprint = LKS_STR_C("sha256:" HEX64),
                              .expires = 100}},
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        CHECK_CODE(lks_state_apply(&state, i + 1, 1, &records[i], &err), LKS_OK);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s by '%s'", rows[i].identity, rows[i].credential);
        CHECK(lks_auth_holds(&state, lks_str_from(rows[i].identity),
                             lks_str_from(rows[i].credential), 60) == rows[i].holds);
    }
    lks_state_fini(&state);
}

static void test_covered(void)
{
    crew_all_covered("daemon_access");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"one admin does not pass two of two", test_attack},
        {"certificates of people end at once", test_certificates},
        {"pages of other sites", test_pages},
        {"tokens end, and are renewed by their holder", test_tokens},
        {"what another controller was shown", test_forwarded},
        {"every route was asked", test_covered},
        {0},
    });
}
