/* Attackers against the real daemon, with the rights that each would have: the key of a node's
 * agent, a token of the least role, a copy of the disk, the database or a backup.
 * docs/threat-model.md names these tests. */
#include "base/file.h"
#include "server/api/routes.h"
#include "tests/crew.h"
#include "tests/test.h"
#include "tests/tuples.h"
#include "tests/wait.h"
#include "trust/token.h"
#include "trust/x509.h"

#include <stdio.h>
#include <string.h>

enum { SEAL_DIGITS = 64 };

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char config[] = "rate: {people_per_s: 100000, burst: 1000000}\n";

static const char fleet[] = "lockstep: 1\nkind: Fleet\nname: here\n"
                            "pools: {lab: {posture: dev, stack: golden}}\n"
                            "nodes: [{hosts: 'gpu[1-2]', pool: lab, class: hgx-h200-8}]\n";

struct scene {
    struct crew crew;
    struct lks_client *gpu1, *gpu2; /* their agents */
    uint64_t beats1, beats2;
};

static bool scene_begin(struct scene *s)
{
    char digest[LKS_DIGEST_SIZE];
    *s = (struct scene){0};
    if (!crew_begin(&s->crew, config) || !crew_release(&s->crew, digest) ||
        !crew_fleet(&s->crew, fleet))
        return false;
    s->gpu1 = crew_enroll(&s->crew, "gpu1");
    s->gpu2 = crew_enroll(&s->crew, "gpu2");
    return s->gpu1 != NULL && s->gpu2 != NULL && crew_report(s->gpu1, "gpu1", "", &s->beats1) &&
           crew_report(s->gpu2, "gpu2", "", &s->beats2);
}

static void scene_end(struct scene *s)
{
    lks_client_free(s->gpu1);
    lks_client_free(s->gpu2);
    crew_end(&s->crew);
}

/* A client of the people's port; `node` and `token` may be NULL. */
static struct lks_client *people(const struct scene *s, const char *node, const char *token)
{
    char server[64], crt[64], key[64];
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    (void)snprintf(server, sizeof(server), "https://localhost:%u", s->crew.c.people);
    (void)snprintf(crt, sizeof(crt), "%s.crt", node != NULL ? node : "");
    (void)snprintf(key, sizeof(key), "%s.key", node != NULL ? node : "");
    const struct lks_client_options options = {
        .server = server,
        .ca = ctl_path(&s->crew.c, "data/ca.crt"),
        .certificate = node != NULL ? ctl_path(&s->crew.c, crt) : NULL,
        .key = node != NULL ? ctl_path(&s->crew.c, key) : NULL,
        .token = token,
        .timeout_ms = LKS_WAIT_MS,
    };
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    return client;
}

/* The status of a request with more headers; the text of a member of its answer. */
static int ask_as(struct lks_client *client, const char *method, const char *path, const char *head,
                  const char *key, char out[128])
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    struct lks_err err = {0};
    bool body = strcmp(method, "GET") != 0;
    if (!CHECK_CODE(lks_client_exchange(client, method, path, body ? "application/json" : NULL,
                                        body ? LKS_STR("{}") : LKS_STR(""), head, &answer, &err),
                    LKS_OK))
        return 0;
    ctl_text(&answer.body, key, out, 128);
    return answer.status;
}

/* A stolen agent key ------------------------------------------------------------------------- */

/* The path of a route, its parameter filled in. */
static void path_of(const struct lks_route *r, char out[256])
{
    struct lks_str head, name, tail = {0}, rest = {0};
    bool param = lks_str_cut(lks_str_from(r->path), '{', &head, &rest);
    (void)lks_str_cut(rest, '}', &name, &tail);
    (void)snprintf(out, 256, "%" LKS_STR_FMT "%s%" LKS_STR_FMT, LKS_STR_ARG(head),
                   !param                       ? ""
                   : lks_str_is(name, "digest") ? "sha256:" HEX64
                   : lks_str_is(name, "name")   ? "gpu2"
                                                : "1",
                   LKS_STR_ARG(tail));
}

/* Nothing that people may do is open to the certificate of a node, its own node included. */
static void people_routes(const struct scene *s)
{
    struct lks_client *thief = people(s, "gpu1", NULL);
    for (size_t i = 0; thief != NULL && i < lks_route_count; i++) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        const struct lks_route *r = &lks_routes[i];
        char path[256];
        if (r->listener != LKS_LISTENER_PEOPLE || r->permission == LKS_MAY_NOTHING ||
            r->permission == LKS_MAY_KNOW)
            continue;
        path_of(r, path);
        lks_test_case("%s %s", r->method, path);
        CHECK_INT(crew_ask(thief, r->method, path, strcmp(r->method, "GET") != 0 ? "{}" : NULL, &t),
                  403);
    }
    lks_client_free(thief);
}

static void check_command(const struct scene *s, uint64_t id, bool ended)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[64];
    (void)snprintf(path, sizeof(path), "/v1/commands/%llu", (unsigned long long)id);
    if (crew_fine(s->crew.root, "command", path, NULL, &t))
        CHECK_INT(crew_text(&t, "outcome").len > 0, ended);
}

/* A command of another node is neither shown to the thief nor ended by it. */
static void commands_of_others(const struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char body[128];
    if (!crew_fine(s->crew.root, "commandNode", "/v1/nodes/gpu2/command",
                   "{\"executor\":\"idle\",\"digests\":[],\"reason\":\"a test\"}", &t))
        return;
    uint64_t id = (uint64_t)crew_number(&t, "id");
    if (crew_fine(s->gpu1, "mail", "/v1/agent/mail", NULL, &t))
        CHECK_INT(crew_count(&t, "commands"), 0);
    (void)snprintf(body, sizeof(body),
                   "{\"id\":%llu,\"outcome\":\"done\",\"text\":\"no GPU process\"}",
                   (unsigned long long)id);
    crew_refused(s->gpu1, "result", "/v1/agent/result", body, 403, "is not for this node");
    check_command(s, id, false);
    crew_fine(s->gpu2, "result", "/v1/agent/result", body, &t);
    check_command(s, id, true);
}

static void tuple_of(const struct scene *s, const char *node, char out[128])
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[64];
    (void)snprintf(path, sizeof(path), "/v1/nodes/%s", node);
    crew_fine(s->crew.root, "node", path, NULL, &t);
    (void)snprintf(out, 128, "%" LKS_STR_FMT, LKS_STR_ARG(crew_text(&t, "tuple")));
}

/* A report that names another node is refused. */
static void report_as_another(const struct scene *s)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf report = {0};
    char before[128], after[128];
    tuple_of(s, "gpu2", before);
    CHECK(before[0] != '\0');
    crew_tuple("gpu2", lks_test_node, "settings.power_limit_w\t\t\t=\t300\n", &report);
    crew_refused(s->gpu1, "report", "/v1/agent/tuple", report.ptr, 403,
                 "its own node and no other");
    tuple_of(s, "gpu2", after);
    CHECK_STR(lks_str_from(after), before);
}

/* A new certificate is for the node of the one that was shown, whatever the request calls itself,
 * and it ends with the node's machine. */
static void renew_as_another(const struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = {0}, csr = {0}, body = {0};
    struct lks_x509_about about = {0};
    struct lks_err err = {0};
    lks_buf_init(&key, LKS_X509_PEM_MAX);
    lks_buf_init(&csr, LKS_X509_PEM_MAX);
    lks_buf_init(&body, LKS_X509_PEM_MAX);
    CHECK_CODE(lks_x509_key(&key, &err), LKS_OK);
    CHECK_CODE(lks_x509_request(lks_buf_view(&key), LKS_STR("gpu2"), &csr, &err), LKS_OK);
    struct lks_json_writer w = {.out = &body};
    lks_json_begin(&w, NULL, '{');
    lks_json_text(&w, "request", lks_buf_view(&csr));
    lks_json_end(&w, '}');
    if (!crew_fine(s->gpu1, "renew", "/v1/agent/renew", body.ptr, &t))
        return;
    CHECK_CODE(lks_x509_read(crew_text(&t, "certificate"), &about, &err), LKS_OK);
    CHECK_STR(lks_str_from(about.name), "gpu1");
    CHECK_INT(about.use, LKS_X509_NODE);
    crew_fine(s->crew.root, "replaceNode", "/v1/nodes/gpu1/replace", "{\"reason\":\"stolen\"}", &t);
    crew_refused(s->gpu1, "mail", "/v1/agent/mail", NULL, 403, "was revoked");
}

static void test_agent_key(void)
{
    struct scene s;
    if (CHECK(scene_begin(&s))) {
        people_routes(&s);
        commands_of_others(&s);
        report_as_another(&s);
        renew_as_another(&s);
    }
    scene_end(&s);
}

/* Headers of other controllers --------------------------------------------------------------- */

#define CLAIM "Lockstep-As: unix:0\r\nLockstep-As-Credential: unix:0\r\nLockstep-As-Root: yes\r\n"

/* Only a controller speaks for others: the headers count for nothing beside any other credential.
 */
static void test_claims(void)
{
    struct scene s;
    if (CHECK(scene_begin(&s))) {
        struct lks_client *nobody = people(&s, NULL, NULL), *agent = people(&s, "gpu1", NULL);
        struct lks_client *viewer = crew_person(&s.crew, "viewer", "");
        char text[128];
        CHECK_INT(ask_as(nobody, "GET", "/v1/whoami", CLAIM, "identity", text), 401);
        CHECK_INT(ask_as(nobody, "POST", "/v1/nodes/gpu1/hold", CLAIM, "title", text), 401);
        CHECK_INT(ask_as(agent, "GET", "/v1/whoami", CLAIM, "identity", text), 200);
        CHECK_STR(lks_str_from(text), "node:gpu1");
        CHECK_INT(ask_as(agent, "POST", "/v1/nodes/gpu1/hold", CLAIM, "title", text), 403);
        CHECK_INT(ask_as(viewer, "GET", "/v1/whoami", CLAIM, "identity", text), 200);
        CHECK(strcmp(text, "unix:0") != 0);
        CHECK_INT(ask_as(viewer, "POST", "/v1/nodes/gpu1/hold", CLAIM, "title", text), 403);
        lks_client_free(nobody);
        lks_client_free(agent);
        lks_client_free(viewer);
    }
    scene_end(&s);
}

/* A reader of the disk ----------------------------------------------------------------------- */

/* Whether a file below the data directory, keys that are to be kept elsewhere left out, has the
 * text. */
static bool on_disk(const struct scene *s, const char *text)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(1 << 16);
    const char *const argv[] = {"/bin/grep", "-rlaF", "--exclude=seal.key", "--exclude=admin.token",
                                "-e",        text,    s->crew.c.data,       NULL};
    int status = ctl_run(argv, &said);
    CHECK(status == 0 || status == 1);
    return status == 0;
}

/* The secret of a token that a route made; its hash, as the journal keeps it. */
static void secret_of(const struct crew_told *t, char secret[128], char hash[LKS_DIGEST_SIZE])
{
    struct lks_token token = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_token_parse(crew_text(t, "token"), &token, &err), LKS_OK);
    CHECK_CODE(lks_token_hash(&token, hash, &err), LKS_OK);
    (void)snprintf(secret, 128, "%" LKS_STR_FMT, LKS_STR_ARG(token.secret));
}

/* What the journal keeps of a token opens nothing. */
static void hash_is_no_token(const struct scene *s, const char *hash)
{
    char shown[256], out[128];
    (void)snprintf(shown, sizeof(shown), "lks_api_kim-1_%.43s", strchr(hash, ':') + 1);
    struct lks_client *thief = people(s, NULL, shown);
    CHECK_INT(ask_as(thief, "GET", "/v1/whoami", "", "identity", out), 401);
    lks_client_free(thief);
}

/* Nor does the API show it, to an admin either. */
static void api_is_silent(const struct scene *s, const char *secret, const char *hash)
{
    static const char *const paths[] = {"/v1/journal?limit=10000", "/v1/access"};
    for (size_t i = 0; i < LKS_COUNT(paths); i++) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        lks_test_case("GET %s", paths[i]);
        CHECK_INT(crew_ask(s->crew.admin, "GET", paths[i], NULL, &t), 200);
        struct lks_str text = lks_buf_view(&t.answer.body);
        CHECK(lks_str_find(text, LKS_STR("kim-1")) >= 0);
        CHECK(lks_str_find(text, lks_str_from(secret)) < 0);
        CHECK(lks_str_find(text, lks_str_from(hash)) < 0);
    }
}

/* A backup is sealed: neither names nor records can be read in it. */
static void backup_is_sealed(const struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    if (!CHECK_INT(crew_ask(s->crew.admin, "POST", "/v1/backup", "", &t), 200))
        return;
    struct lks_str bytes = lks_buf_view(&t.answer.body);
    CHECK(bytes.len > 1000);
    CHECK(lks_str_find(bytes, LKS_STR("gpu1")) < 0);
    CHECK(lks_str_find(bytes, LKS_STR("SQLite")) < 0);
    CHECK(lks_str_find(bytes, LKS_STR("PRIVATE KEY")) < 0);
}

static void test_reader(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf seal = {0};
    char api[128], enrol[128], api_hash[LKS_DIGEST_SIZE], enrol_hash[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    struct scene s;
    if (CHECK(scene_begin(&s)) && crew_fine(s.crew.admin, "makeToken", "/v1/tokens",
                                            "{\"id\":\"kim-1\",\"identity\":\"kim\"}", &t)) {
        secret_of(&t, api, api_hash);
        crew_fine(s.crew.root, "enrollNode", "/v1/nodes/gpu2/enroll", "{\"ttl_seconds\":60}", &t);
        secret_of(&t, enrol, enrol_hash);
        hash_is_no_token(&s, api_hash);
        api_is_silent(&s, api, api_hash);
        backup_is_sealed(&s);
        CHECK_INT(ctl_stop(&s.crew.c), 0);
        lks_buf_init(&seal, 256);
        CHECK_CODE(lks_file_read_plain(ctl_path(&s.crew.c, "data/seal.key"), &seal, &err), LKS_OK);
        lks_buf_truncate(&seal, CHECK(seal.len > SEAL_DIGITS) ? SEAL_DIGITS : 0);
        CHECK(on_disk(&s, "gpu1")); /* what is there is found */
        CHECK(!on_disk(&s, api));
        CHECK(!on_disk(&s, enrol));
        CHECK(!on_disk(&s, "PRIVATE KEY"));
        CHECK(!on_disk(&s, seal.ptr));
    }
    scene_end(&s);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"a stolen agent key", test_agent_key},
        {"headers that claim another identity", test_claims},
        {"a reader of the disk, the database or a backup", test_reader},
        {0},
    });
}
