#include "tests/crew.h"

#include "base/file.h"
#include "core/state/heartbeat.h"
#include "model/tuple/tuple.h"
#include "server/api/routes.h"
#include "tests/test.h"
#include "tests/tuples.h"
#include "tests/wait.h"
#include "trust/token.h"
#include "trust/x509.h"

#include <stdio.h>
#include <time.h>

enum { ANSWER_MAX = 64 << 20, ROUTES_MAX = 256, STEPS = 3 };

#define AGENT_HEAD "Lockstep-Protocol: 1\r\n"
#define BOOT       "07000000-0000-0000-0000-000000000000"

static const struct {
    const char *test, *id;
} elsewhere[] = {
    {"daemon_change", "journalState"},
    {"daemon_change", "journalManifest"},
    {"daemon_check", "check"},
    {"daemon_check", "nodeStack"},
    {"daemon_check", "unanswered"},
    {"daemon_drift", "drift"},
    {"daemon_drift", "deviations"},
    {"daemon_drift", "deviate"},
    {"daemon_drift", "approveDeviation"},
    {"daemon_drift", "closeDeviation"},
    {"daemon_drift", "nodeCondition"},
    {"daemon_drift", "readOutband"},
    {"daemon_drift", "endOutband"},
    {"daemon_drift", "sweeps"},
    {"daemon_sched", "schedulers"},
    {"daemon_sched", "schedulerJobs"},
    {"daemon_sched", "bridges"},
    {"daemon_drift", "leaseSweeps"},
    {"daemon_drift", "failSweep"},
    {"daemon_webhook", "mutatePod"},
    {"daemon_webhook", "validatePod"},
    {"daemon_admit", "admit"},
    {"daemon_admit", "override"},
    {"daemon_admit", "overrides"},
    {"daemon_admit", "admissions"},
    {"daemon_admit", "observed"},
    {"daemon_bundles", "bundles"},
    {"daemon_bundles", "bringBundle"},
    {"daemon_bundles", "bundle"},
    {"daemon_bundles", "bundleManifest"},
    {"daemon_bundles", "revokeBundle"},
    {"daemon_bundles", "trust"},
    {"daemon_bundles", "pinKey"},
    {"daemon_bundles", "unpinKey"},
    {"daemon_flash", "flashes"},
    {"daemon_flash", "flash"},
    {"daemon_flash", "flashOne"},
    {"daemon_flash", "resolveNode"},
    {"daemon_flash", "endpoints"},
    {"daemon_flash", "trustEndpoint"},
    {"daemon_change", "changes"},
    {"daemon_change", "propose"},
    {"daemon_change", "change"},
    {"daemon_change", "changeMembers"},
    {"daemon_change", "changeProcedure"},
    {"daemon_login", "loginDevice"},
    {"daemon_login", "loginPoll"},
    {"daemon_login", "logout"},
    {"daemon_login", "login"},
    {"daemon_login", "loginCallback"},
    {"daemon_can", "can"},
    {"daemon_access", "renewToken"},
    {"daemon_access", "renewCertificate"},
    {"daemon_access", "endCertificate"},
    {"daemon_change", "changePaper"},
    {"daemon_ticket", "ticket"},
    {"daemon_change", "moveMembers"},
    {"daemon_change", "skipMembers"},
    {"daemon_change", "approveChange"},
    {"daemon_change", "rejectChange"},
    {"daemon_change", "withdrawApproval"},
    {"daemon_change", "reviewChange"},
    {"daemon_change", "waiveGate"},
    {"daemon_change", "forecastChange"},
    {"daemon_change", "startChange"},
    {"daemon_change", "pauseChange"},
    {"daemon_change", "resumeChange"},
    {"daemon_change", "abortChange"},
    {"daemon_change", "rollBackChange"},
    {"daemon_change", "frozen"},
    {"daemon_change", "freeze"},
    {"daemon_change", "unfreeze"},
    {"daemon_change", "proven"},
    {"cli daemon", "setNode"},
    {"daemon_hand", "askReset"},
    {"daemon_hand", "approveReset"},
    {"daemon_hand", "reviewReset"},
    {"daemon_depot", "artifacts"},
    {"daemon_depot", "artifact"},
    {"daemon_depot", "putArtifact"},
    {"daemon_depot", "collectArtifacts"},
    {"daemon_depot", "agentArtifact"},
    {"daemon_registry", "stacks"},
    {"daemon_registry", "publish"},
    {"daemon_registry", "stack"},
    {"daemon_registry", "stackManifest"},
    {"daemon_registry", "stackEnvelope"},
    {"daemon_registry", "promote"},
    {"daemon_registry", "retire"},
    {"daemon_registry", "images"},
    {"daemon_registry", "addImage"},
    {"daemon_registry", "removeImage"},
    {"daemon_registry", "fleetAdvisories"},
    {"daemon_registry", "fleetLifecycle"},
    {"daemon_registry", "fleetRemedies"},
};

static bool covered[ROUTES_MAX];

const char *crew_covers(const char *id)
{
    for (size_t i = 0; i < LKS_COUNT(elsewhere); i++) {
        if (strcmp(elsewhere[i].id, id) == 0)
            return elsewhere[i].test;
    }
    return NULL;
}

static const struct lks_route *route_called(const char *id)
{
    for (size_t i = 0; i < lks_route_count; i++) {
        if (strcmp(lks_routes[i].id, id) == 0)
            return &lks_routes[i];
    }
    LKS_ASSERT(false);
    return NULL;
}

void crew_all_covered(const char *test)
{
    for (size_t i = 0; i < LKS_COUNT(elsewhere); i++) {
        if (strcmp(elsewhere[i].test, test) != 0)
            continue;
        lks_test_case("%s", elsewhere[i].id);
        CHECK(covered[route_called(elsewhere[i].id) - lks_routes]);
    }
}

/* Answers ----------------------------------------------------------------------------------- */

void crew_told_fini(struct crew_told *t)
{
    lks_http_answer_fini(&t->answer);
    lks_docs_fini(&t->docs);
    *t = (struct crew_told){0};
}

struct lks_str crew_text(const struct crew_told *t, const char *key)
{
    return lks_doc_text(t->doc, key);
}

int64_t crew_number(const struct crew_told *t, const char *key)
{
    const struct lks_doc *m = lks_doc_member(t->doc, key);
    return m != NULL && m->kind == LKS_DOC_NUMBER ? m->number : -1;
}

bool crew_truth(const struct crew_told *t, const char *key)
{
    const struct lks_doc *m = lks_doc_member(t->doc, key);
    return m != NULL && m->kind == LKS_DOC_BOOL && m->truth;
}

size_t crew_count(const struct crew_told *t, const char *key)
{
    const struct lks_doc *m = lks_doc_member(t->doc, key);
    return m != NULL ? m->count : 0;
}

const struct lks_doc *crew_item(const struct crew_told *t, const char *key, size_t at)
{
    const struct lks_doc *m = lks_doc_member(t->doc, key);
    const struct lks_doc *item = m != NULL ? m->first : NULL;
    for (; item != NULL && at > 0; at--)
        item = item->next;
    return item;
}

/* Without an answer 0, and why. */
static int try_exchange(struct lks_client *client, const char *method, const char *path,
                        struct lks_str body, const char *head, struct crew_told *out,
                        struct lks_err *err)
{
    crew_told_fini(out);
    if (!CHECK(client != NULL) ||
        lks_client_exchange(client, method, path, body.len > 0 ? "application/json" : NULL, body,
                            head, &out->answer, err) != LKS_OK)
        return 0;
    struct lks_str type = lks_http_answer_header(&out->answer, "content-type");
    if (lks_str_starts(type, "application/json") ||
        lks_str_starts(type, "application/problem+json")) {
        CHECK_CODE(lks_docs_init(&out->docs, "answer", err), LKS_OK);
        CHECK_CODE(lks_json_parse(lks_buf_view(&out->answer.body), &out->docs, err), LKS_OK);
        out->doc = out->docs.first;
    }
    return out->answer.status;
}

static int exchange(struct lks_client *client, const char *method, const char *path,
                    struct lks_str body, const char *head, struct crew_told *out)
{
    struct lks_err err = {0};
    int status = try_exchange(client, method, path, body, head, out, &err);
    if (status == 0)
        CHECK_STR(lks_str_from(err.msg), "");
    return status;
}

int crew_try(struct lks_client *client, const char *method, const char *path, const char *body,
             struct crew_told *out)
{
    struct lks_err err = {0};
    return try_exchange(client, method, path, lks_str_from(body != NULL ? body : ""), "", out,
                        &err);
}

static const char *head_of(const char *path)
{
    return lks_str_starts(lks_str_from(path), "/v1/agent/") ? AGENT_HEAD : "";
}

int crew_ask(struct lks_client *client, const char *method, const char *path, const char *body,
             struct crew_told *out)
{
    return exchange(client, method, path, lks_str_from(body != NULL ? body : ""), head_of(path),
                    out);
}

bool crew_fine(struct lks_client *client, const char *id, const char *path, const char *body,
               struct crew_told *out)
{
    return crew_fine_head(client, id, path, body, head_of(path), out);
}

bool crew_fine_head(struct lks_client *client, const char *id, const char *path, const char *body,
                    const char *head, struct crew_told *out)
{
    const struct lks_route *r = route_called(id);
    struct lks_str text = lks_str_from(body != NULL ? body : "");
    struct lks_err err = {0};
    lks_test_case("%s %s", r->method, path);
    if (!CHECK_INT(exchange(client, r->method, path, text, head, out), 200)) {
        CHECK_STR(crew_text(out, "detail"), "");
        return false;
    }
    struct lks_str type = lks_http_answer_header(&out->answer, "content-type");
    CHECK_STR(type, r->answer != NULL ? "application/json" : r->answer_type);
    bool good = r->answer == NULL ||
                (out->doc != NULL &&
                 CHECK_CODE(lks_schema_check(&out->docs, out->doc, r->answer, &err), LKS_OK));
    CHECK_STR(lks_str_from(err.msg), "");
    covered[r - lks_routes] = good;
    return good;
}

void crew_refused(struct lks_client *client, const char *id, const char *path, const char *body,
                  int status, const char *detail)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    const struct lks_route *r = route_called(id);
    lks_test_case("%s %s: %s", r->method, path, detail);
    CHECK_INT(crew_ask(client, r->method, path, body, &t), status);
    CHECK_HAS(crew_text(&t, "detail"), detail);
}

/* The daemon -------------------------------------------------------------------------------- */

static bool connect_all(struct crew *crew)
{
    crew->root = ctl_client(&crew->c, CTL_UNIX);
    crew->admin = ctl_client(&crew->c, CTL_TLS);
    return crew->root != NULL && crew->admin != NULL;
}

static void leave(struct crew *crew)
{
    lks_client_free(crew->root);
    lks_client_free(crew->admin);
    crew->root = crew->admin = NULL;
}

bool crew_begin(struct crew *crew, const char *more)
{
    *crew = (struct crew){0};
    ctl_init(&crew->c, more);
    return CHECK(ctl_start(&crew->c)) && connect_all(crew);
}

bool crew_again(struct crew *crew)
{
    leave(crew);
    CHECK_INT(ctl_stop(&crew->c), 0);
    return CHECK(ctl_start(&crew->c)) && connect_all(crew);
}

void crew_end(struct crew *crew)
{
    leave(crew);
    if (crew->c.pid != 0)
        CHECK_INT(ctl_stop(&crew->c), 0);
    ctl_fini(&crew->c);
}

bool crew_release(struct crew *crew, char digest[LKS_DIGEST_SIZE])
{
    static const char *const as_it_is[] = {NULL};
    return crew_release_with(crew, as_it_is, digest);
}

bool crew_release_with(struct crew *crew, const char *const *lines, char digest[LKS_DIGEST_SIZE])
{
    static const char *const steps[STEPS] = {"lab", "canary", "released"};
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_DOC_BYTES_MAX);
    struct lks_str rest = lks_str_from(lks_test_node_stack), line;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        for (size_t i = 0; lines[i] != NULL; i += 2)
            line = lks_str_starts(line, lines[i]) ? lks_str_from(lines[i + 1]) : line;
        lks_buf_addf(&text, "%" LKS_STR_FMT "\n", LKS_STR_ARG(line));
    }
    if (!crew_fine(crew->admin, "publish", "/v1/stacks?reason=first", text.ptr, &t))
        return false;
    snprintf(digest, LKS_DIGEST_SIZE, "%" LKS_STR_FMT, LKS_STR_ARG(crew_text(&t, "digest")));
    for (size_t i = 0; i < STEPS; i++) {
        char path[160], body[96];
        snprintf(path, sizeof(path), "/v1/stacks/%s/promote", digest);
        snprintf(body, sizeof(body), "{\"to\":\"%s\",\"evidence\":\"ran a week\"}", steps[i]);
        if (!crew_fine(crew->root, "promote", path, body, &t))
            return false;
    }
    return true;
}

bool crew_fleet(struct crew *crew, const char *text)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    return crew_fine(crew->root, "applyFleet", "/v1/fleet?accept=true", text, &t);
}

/* `where` is "pool" or "site". */
static struct lks_client *person_in(struct crew *crew, const char *role, const char *where,
                                    const char *name)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char server[64], body[256], token[LKS_TOKEN_TEXT_MAX], scope[64] = "";
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    if (name[0] != '\0')
        snprintf(scope, sizeof(scope), ",\"%s\":\"%s\"", where, name);
    snprintf(body, sizeof(body), "{\"identity\":\"%s-%s\",\"role\":\"%s\"%s}", role, name, role,
             scope);
    if (!crew_fine(crew->root, "grant", "/v1/access", body, &t))
        return NULL;
    snprintf(body, sizeof(body), "{\"id\":\"%s-%s\",\"identity\":\"%s-%s\"}", role,
             name[0] != '\0' ? name : "all", role, name);
    if (!crew_fine(crew->root, "makeToken", "/v1/tokens", body, &t))
        return NULL;
    snprintf(token, sizeof(token), "%" LKS_STR_FMT, LKS_STR_ARG(crew_text(&t, "token")));
    snprintf(server, sizeof(server), "https://localhost:%u", crew->c.people);
    struct lks_client_options options = {.server = server,
                                         .ca = ctl_path(&crew->c, "data/ca.crt"),
                                         .token = token,
                                         .timeout_ms = LKS_WAIT_MS};
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    return client;
}

struct lks_client *crew_person(struct crew *crew, const char *role, const char *pool)
{
    return person_in(crew, role, "pool", pool);
}

struct lks_client *crew_person_at(struct crew *crew, const char *role, const char *site)
{
    return person_in(crew, role, "site", site);
}

/* Agents ------------------------------------------------------------------------------------ */

static void put_file(const struct ctl *c, const char *node, const char *end, struct lks_str bytes)
{
    struct lks_err err = {0};
    char name[80];
    snprintf(name, sizeof(name), "%s.%s", node, end);
    CHECK_CODE(lks_file_replace(ctl_path(c, name), bytes, &err), LKS_OK);
}

static void request(const struct ctl *c, const char *node, struct lks_str token,
                    struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = LKS_BUF(LKS_X509_PEM_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf csr = LKS_BUF(LKS_X509_PEM_MAX);
    struct lks_err err = {0};
    CHECK_CODE(lks_x509_key(&key, &err), LKS_OK);
    CHECK_CODE(lks_x509_request(lks_buf_view(&key), lks_str_from(node), &csr, &err), LKS_OK);
    put_file(c, node, "key", lks_buf_view(&key));
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    lks_json_text(&w, "token", token);
    lks_json_text(&w, "request", lks_buf_view(&csr));
    lks_json_end(&w, '}');
}

struct lks_client *crew_enroll(struct crew *crew, const char *node)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(LKS_X509_PEM_MAX * 2);
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    char path[96], server[64], crt[80], key[80];
    snprintf(path, sizeof(path), "/v1/nodes/%s/enroll", node);
    if (!crew_fine(crew->root, "enrollNode", path, "{\"ttl_seconds\":60}", &t))
        return NULL;
    request(&crew->c, node, crew_text(&t, "token"), &body);
    if (!crew_fine(crew->root, "enroll", "/v1/enroll", body.ptr, &t))
        return NULL;
    put_file(&crew->c, node, "crt", crew_text(&t, "certificate"));
    snprintf(server, sizeof(server), "https://localhost:%u", crew->c.agents);
    snprintf(crt, sizeof(crt), "%s.crt", node);
    snprintf(key, sizeof(key), "%s.key", node);
    struct lks_client_options options = {
        .server = server,
        .ca = ctl_path(&crew->c, "data/ca.crt"),
        .certificate = ctl_path(&crew->c, crt),
        .key = ctl_path(&crew->c, key),
        .timeout_ms = LKS_WAIT_MS,
    };
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    return client;
}

static void write_tuple(const char *node, const char *base, const char *changes,
                        struct lks_buf *out, uint8_t digest[LKS_HASH_BYTES])
{
    struct lks_tuple t;
    struct lks_err err = {0};
    lks_test_tuple_with(base, changes, &t);
    t.node = lks_str_from(node);
    t.boot_id = LKS_STR(BOOT);
    t.taken = (int64_t)time(NULL);
    lks_buf_init(out, ANSWER_MAX);
    CHECK_CODE(lks_tuple_json(&t, (struct lks_str){0}, out, &err), LKS_OK);
    for (size_t i = 0; i < LKS_HASH_BYTES; i++) {
        uint64_t byte = 0;
        CHECK(lks_str_hex((struct lks_str){t.digest + strlen("sha256:") + 2 * i, 2}, 255, &byte));
        digest[i] = (uint8_t)byte;
    }
    lks_tuple_fini(&t);
}

void crew_tuple(const char *node, const char *base, const char *changes, struct lks_buf *out)
{
    uint8_t digest[LKS_HASH_BYTES];
    write_tuple(node, base, changes, out, digest);
}

static bool beat(struct lks_client *agent, const uint8_t digest[LKS_HASH_BYTES], uint64_t seq,
                 struct crew_told *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_BEAT_BYTES_MAX);
    struct lks_beat b = {.protocol = 1, .boot = {7}, .seq = seq};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    b.sent = (lks_ms)now.tv_sec * 1000 + (lks_ms)now.tv_nsec / 1000000;
    memcpy(b.tuple, digest, sizeof(b.tuple));
    lks_heartbeat_pack(&b, &bytes);
    return CHECK_INT(
        exchange(agent, "POST", "/v1/agent/beat", lks_buf_view(&bytes), AGENT_HEAD, out), 200);
}

bool crew_beat(struct lks_client *agent, uint64_t *beats, struct crew_told *out)
{
    static const uint8_t nothing[LKS_HASH_BYTES];
    return beat(agent, nothing, ++*beats, out);
}

bool crew_report(struct lks_client *agent, const char *node, const char *changes, uint64_t *beats)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf report = {0};
    uint8_t digest[LKS_HASH_BYTES];
    write_tuple(node, lks_test_node, changes, &report, digest);
    lks_test_case("%s reports: %s", node, changes);
    if (!beat(agent, digest, ++*beats, &t))
        return false;
    int status = exchange(agent, "PUT", "/v1/agent/tuple", lks_buf_view(&report), AGENT_HEAD, &t);
    if (!CHECK_INT(status, 200))
        CHECK_STR(crew_text(&t, "detail"), "");
    return status == 200 && beat(agent, digest, ++*beats, &t);
}
