/* lockstepd itself: made, started, asked in every way it documents, and in many it refuses. */
#include "base/file.h"
#include "codec/format/digest.h"
#include "codec/format/json.h"
#include "core/state/heartbeat.h"
#include "model/tuple/tuple.h"
#include "server/api/routes.h"
#include "server/form/forms.h"
#include "tests/crew.h"
#include "tests/test.h"
#include "tests/wait.h"
#include "trust/envelope.h"
#include "trust/token.h"
#include "trust/x509.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ANSWER_MAX = 8 << 20, ROUTES_MAX = 256 };

#define FLEET                                                                                      \
    "lockstep: 1\nkind: Fleet\nname: here\nsites: {east: {}, west: {}}\n"                          \
    "pools:\n  train: {posture: pre-training}\n  serve: {posture: online-inference}\n"             \
    "nodes:\n"                                                                                     \
    "  - {hosts: \"gpu[1-3]\", pool: train, class: hgx-h200-8, site: east}\n"                      \
    "  - {hosts: \"inf[1-2]\", pool: serve, class: hgx-h200-8, site: west}\n"

#define AGENT_HEAD "Lockstep-Protocol: 1\r\n"

/* Routes that answered a valid call as documented; all of them have, at the end. */
static bool covered[ROUTES_MAX];

static const struct lks_route *route_called(const char *id)
{
    for (size_t i = 0; i < lks_route_count; i++) {
        if (strcmp(lks_routes[i].id, id) == 0)
            return &lks_routes[i];
    }
    LKS_ASSERT(false);
    return NULL;
}

/* One exchange; the status, 0 when there was no answer. */
static int ask(struct lks_client *client, const char *method, const char *path, struct lks_str body,
               const char *head, struct crew_told *out)
{
    struct lks_err err = {0};
    crew_told_fini(out);
    if (lks_client_exchange(client, method, path, body.len > 0 ? "application/json" : NULL, body,
                            head, &out->answer, &err) != LKS_OK)
        return 0;
    if (lks_str_starts(lks_http_answer_header(&out->answer, "content-type"), "application/json") ||
        lks_str_starts(lks_http_answer_header(&out->answer, "content-type"),
                       "application/problem+json")) {
        CHECK_CODE(lks_docs_init(&out->docs, "answer", &err), LKS_OK);
        CHECK_CODE(lks_json_parse(lks_buf_view(&out->answer.body), &out->docs, &err), LKS_OK);
        out->doc = out->docs.first;
    }
    return out->answer.status;
}

/* A valid call: it is answered with 200 and with what its route documents. */
static bool fine(struct lks_client *client, const char *id, const char *path, const char *body,
                 struct crew_told *out)
{
    const struct lks_route *r = route_called(id);
    struct lks_err err = {0};
    lks_test_case("%s %s", r->method, path);
    int status = ask(client, r->method, path, lks_str_from(body),
                     r->listener == LKS_LISTENER_AGENTS ? AGENT_HEAD : "", out);
    if (!CHECK_INT(status, 200)) {
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

/* A refusal: its status, a problem as documented, and a line that says why. */
static void refused(struct lks_client *client, const char *method, const char *path,
                    const char *body, const char *head, int status, const char *detail)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct lks_err err = {0};
    CHECK_INT(ask(client, method, path, lks_str_from(body), head, &t), status);
    if (!CHECK(t.doc != NULL))
        return;
    CHECK_CODE(lks_schema_check(&t.docs, t.doc, &lks_form_problem, &err), LKS_OK);
    CHECK_STR(lks_http_answer_header(&t.answer, "content-type"), "application/problem+json");
    CHECK_INT(crew_number(&t, "status"), status);
    CHECK_HAS(crew_text(&t, "detail"), detail);
}

/* Agents ------------------------------------------------------------------------------------ */

static void put_file(const struct ctl *c, const char *name, struct lks_str bytes)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_file_replace(ctl_path(c, name), bytes, &err), LKS_OK);
}

/* With the certificate in WHO.crt, to the listener at this port. */
static struct lks_client *connect_as(const struct ctl *c, unsigned port, const char *who)
{
    char server[64], certificate[64], key[64];
    snprintf(server, sizeof(server), "https://localhost:%u", port);
    snprintf(certificate, sizeof(certificate), "%s.crt", who);
    snprintf(key, sizeof(key), "%s.key", who);
    struct lks_client_options options = {
        .server = server,
        .ca = ctl_path(c, "data/ca.crt"),
        .certificate = ctl_path(c, certificate),
        .key = ctl_path(c, key),
        .timeout_ms = LKS_WAIT_MS,
    };
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    CHECK_STR(lks_str_from(err.msg), "");
    return client;
}

static struct lks_client *connect_agent(const struct ctl *c, const char *node)
{
    return connect_as(c, c->agents, node);
}

/* Someone with a role in one pool alone, by a token of theirs. NULL is a failed check. */
static struct lks_client *connect_person(const struct ctl *c, struct lks_client *admin,
                                         const char *role, const char *pool)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char server[64], body[160], token[LKS_TOKEN_TEXT_MAX];
    snprintf(body, sizeof(body), "{\"identity\":\"%s-%s\",\"role\":\"%s\",\"pool\":\"%s\"}", role,
             pool, role, pool);
    fine(admin, "grant", "/v1/access", body, &t);
    snprintf(body, sizeof(body), "{\"id\":\"%s-%s\",\"identity\":\"%s-%s\"}", role, pool, role,
             pool);
    fine(admin, "makeToken", "/v1/tokens", body, &t);
    snprintf(token, sizeof(token), "%" LKS_STR_FMT, LKS_STR_ARG(crew_text(&t, "token")));
    snprintf(server, sizeof(server), "https://localhost:%u", c->people);
    struct lks_client_options options = {.server = server,
                                         .ca = ctl_path(c, "data/ca.crt"),
                                         .token = token,
                                         .timeout_ms = LKS_WAIT_MS};
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    return client;
}

/* {"MEMBER": ..., "request": CSR}, the key left in NODE.key. */
static void request_body(const struct ctl *c, const char *node, const char *member,
                         struct lks_str value, struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = LKS_BUF(LKS_X509_PEM_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf request = LKS_BUF(LKS_X509_PEM_MAX);
    struct lks_err err = {0};
    char name[64];
    CHECK_CODE(lks_x509_key(&key, &err), LKS_OK);
    CHECK_CODE(lks_x509_request(lks_buf_view(&key), LKS_STR("liar"), &request, &err), LKS_OK);
    snprintf(name, sizeof(name), "%s.key", node);
    put_file(c, name, lks_buf_view(&key));
    lks_buf_fini(out);
    lks_buf_init(out, LKS_X509_PEM_MAX * 2);
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    if (member != NULL)
        lks_json_text(&w, member, value);
    lks_json_text(&w, "request", lks_buf_view(&request));
    lks_json_end(&w, '}');
}

/* From the token to a connection of its own. NULL is a failed check. */
static struct lks_client *enroll(const struct ctl *c, struct lks_client *admin, const char *node)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
    char path[96], file[64];
    snprintf(path, sizeof(path), "/v1/nodes/%s/enroll", node);
    if (!fine(admin, "enrollNode", path, "{\"ttl_seconds\":60}", &t))
        return NULL;
    request_body(c, node, "token", crew_text(&t, "token"), &body);
    if (!fine(admin, "enroll", "/v1/enroll", body.ptr, &t))
        return NULL;
    CHECK_STR(crew_text(&t, "node"), node);
    snprintf(file, sizeof(file), "%s.crt", node);
    put_file(c, file, crew_text(&t, "certificate"));
    refused(admin, "POST", "/v1/enroll", body.ptr, "", 403, ""); /* a token is good once */
    return connect_agent(c, node);
}

static int beat_in(struct lks_client *agent, uint8_t boot, uint64_t seq, struct crew_told *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_BEAT_BYTES_MAX);
    struct lks_beat b = {.protocol = 1, .boot = {boot}, .seq = seq};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    b.sent = (lks_ms)now.tv_sec * 1000;
    lks_heartbeat_pack(&b, &bytes);
    return ask(agent, "POST", "/v1/agent/beat", lks_buf_view(&bytes), AGENT_HEAD, out);
}

static int beat(struct lks_client *agent, uint64_t seq, struct crew_told *out)
{
    return beat_in(agent, 7, seq, out);
}

static void report_body(const char *node, struct lks_buf *out)
{
    struct lks_tuple t;
    struct lks_err err = {0};
    lks_tuple_init(&t);
    t.node = lks_str_from(node);
    t.boot_id = LKS_STR("07000000-0000-0000-0000-000000000000");
    t.taken = 1794700000;
    struct lks_reading driver = {
        .name = LKS_STR("driver"), .value = LKS_STR("580.95.05"), .evidence = LKS_STR("here")};
    lks_tuple_add(&t, &driver);
    CHECK_CODE(lks_tuple_finish(&t, &err), LKS_OK);
    lks_buf_init(out, ANSWER_MAX);
    CHECK_CODE(lks_tuple_json(&t, (struct lks_str){0}, out, &err), LKS_OK);
    lks_tuple_fini(&t);
}

/* Every route, in the order of a node's life ------------------------------------------------ */

static void look_at_fleet(struct lks_client *admin)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    fine(admin, "health", "/v1/health", "", &t);
    fine(admin, "ready", "/v1/ready", "", &t);
    fine(admin, "openapi", "/v1/openapi.json", "", &t);
    fine(admin, "whoami", "/v1/whoami", "", &t);
    CHECK_STR(crew_text(&t, "identity"), "admin");
    CHECK_INT(crew_count(&t, "bindings"), 1);
    fine(admin, "fleet", "/v1/fleet", "", &t); /* before there is one */
    fine(admin, "fleetManifest", "/v1/fleet/manifest", "", &t);
    CHECK_INT(t.answer.body.len, 0);
    fine(admin, "applyFleet", "/v1/fleet?dry_run=true", FLEET, &t);
    CHECK(lks_doc_member(t.doc, "applied") != NULL && !lks_doc_member(t.doc, "applied")->truth);
    fine(admin, "fleet", "/v1/fleet", "", &t);
    CHECK_INT(crew_number(&t, "nodes"), 0);
    fine(admin, "applyFleet", "/v1/fleet?accept=true", FLEET, &t);
    fine(admin, "fleet", "/v1/fleet", "", &t);
    CHECK_INT(crew_number(&t, "nodes"), 5);
    fine(admin, "fleetManifest", "/v1/fleet/manifest", "", &t);
    CHECK_HAS(lks_buf_view(&t.answer.body), "kind: Fleet\n");
    fine(admin, "pools", "/v1/pools?limit=1", "", &t);
    CHECK_STR(crew_text(&t, "next"), "train");
    fine(admin, "nodes", "/v1/nodes?pool=serve&liveness=unseen&intake=false", "", &t);
    CHECK_INT(crew_count(&t, "items"), 2);
    refused(admin, "GET", "/v1/whoami?x=1", "", "", 400, "unknown key");
    fine(admin, "metrics", "/metrics", "", &t);
    CHECK_HAS(lks_buf_view(&t.answer.body), "lockstep_node_info{node=\"gpu1\",pool=\"train\"");
    CHECK_HAS(lks_buf_view(&t.answer.body), "lockstep_calls_refused_total 1\n");
    CHECK_HAS(lks_buf_view(&t.answer.body),
              "lockstep_calls_refused Calls that were answered with an error: HTTP status 400 ");
    CHECK_HAS(lks_buf_view(&t.answer.body), "lockstep_http_limited_total{limit=\"calls\"} 0\n");
    CHECK_HAS(lks_buf_view(&t.answer.body),
              "lockstep_judged_nodes{pool=\"train\",judged=\"unjudged\"} 3\n");
    CHECK(lks_str_ends(lks_buf_view(&t.answer.body), "\n# EOF\n"));
}

/* Differences that were read from another fleet than the one there is are not applied. */
static void apply_from(struct lks_client *admin)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char digest[LKS_DIGEST_SIZE], path[256];
    struct lks_err err = {0};
    CHECK_CODE(lks_digest_text(LKS_STR(""), digest, &err), LKS_OK); /* before the first one */
    snprintf(path, sizeof(path), "/v1/fleet?from=%s", digest);
    refused(admin, "PUT", path, FLEET, "", 409, "the fleet changed after");
    fine(admin, "fleetManifest", "/v1/fleet/manifest", "", &t);
    CHECK_CODE(lks_digest_text(lks_buf_view(&t.answer.body), digest, &err), LKS_OK);
    snprintf(path, sizeof(path), "/v1/fleet?from=%s", digest);
    fine(admin, "applyFleet", path, FLEET, &t);
}

static void live_as_agent(struct lks_client *admin, struct lks_client *agent)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf report = {0};
    struct lks_err err = {0};
    for (uint64_t seq = 1; seq <= 3; seq++) { /* decided by the state thread, then noted at once */
        lks_test_case("heartbeat %llu", (unsigned long long)seq);
        CHECK_INT(beat(agent, seq, &t), 200);
        CHECK_CODE(lks_schema_check(&t.docs, t.doc, &lks_form_beat, &err), LKS_OK);
    }
    covered[route_called("beat") - lks_routes] = true;
    report_body("gpu1", &report);
    fine(agent, "report", "/v1/agent/tuple", report.ptr, &t);
    fine(admin, "node", "/v1/nodes/gpu1", "", &t);
    CHECK_STR(crew_text(&t, "liveness"), "live");
    fine(admin, "nodeTuple", "/v1/nodes/gpu1/tuple", "", &t);
    CHECK(lks_str_eq(lks_buf_view(&t.answer.body), lks_buf_view(&report)));
    fine(admin, "nodes", "/v1/nodes?component=driver&version=580.95.05", "", &t);
    CHECK_INT(crew_count(&t, "items"), 1);
    fine(admin, "nodes", "/v1/nodes?component=driver&version=1", "", &t);
    CHECK_INT(crew_count(&t, "items"), 0);
    fine(admin, "nodeHistory", "/v1/nodes/gpu1/history?limit=2", "", &t);
    CHECK_INT(crew_count(&t, "items"), 2);
    fine(admin, "nodeAt", "/v1/nodes/gpu1/at?time=2099-01-01T00:00:00Z", "", &t);
    fine(admin, "journalAt", "/v1/journal/at?time=2099-01-01T00:00:00Z&pool=train", "", &t);
}

static void command_and_result(const struct ctl *c, struct lks_client *admin,
                               struct lks_client *agent)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = LKS_BUF(128);
    struct lks_public_key public;
    struct lks_envelope envelope;
    struct lks_err err = {0};
    char path[64], body[128];
    fine(admin, "commandNode", "/v1/nodes/gpu1/command",
         "{\"executor\":\"inventory\",\"reason\":\"a test\"}", &t);
    long long id = crew_number(&t, "id");
    CHECK_CODE(lks_file_read_plain(ctl_path(c, "data/command.pub"), &key, &err), LKS_OK);
    CHECK_CODE(
        lks_key_public_parse(lks_str_trim((struct lks_str){key.ptr, key.len - 1}), &public, &err),
        LKS_OK);
    fine(agent, "mail", "/v1/agent/mail", "", &t);
    if (CHECK_INT(crew_count(&t, "commands"), 1)) {
        const struct lks_doc *first = lks_doc_member(t.doc, "commands")->first;
        CHECK_CODE(lks_envelope_open(first->text, &public, 1, &envelope, &err), LKS_OK);
        CHECK_INT(envelope.id, id);
        CHECK_STR(lks_str_from(envelope.node), "gpu1");
        CHECK_STR(lks_str_from(envelope.executor), "inventory");
    }
    snprintf(body, sizeof(body), "{\"id\":%lld,\"outcome\":\"done\",\"text\":\"well\"}", id);
    fine(agent, "result", "/v1/agent/result", body, &t);
    fine(agent, "result", "/v1/agent/result", body, &t); /* saying it again is harmless */
    snprintf(path, sizeof(path), "/v1/commands/%lld", id);
    fine(admin, "command", path, "", &t);
    CHECK_STR(crew_text(&t, "outcome"), "done");
    struct lks_client *near = connect_person(c, admin, "viewer", "train");
    struct lks_client *far = connect_person(c, admin, "admin", "serve");
    fine(near, "command", path, "", &t);
    refused(far, "GET", path, "", "", 403, "may not read here");
    lks_client_free(near);
    lks_client_free(far);
    fine(agent, "mail", "/v1/agent/mail", "", &t);
    CHECK_INT(crew_count(&t, "commands"), 0);
}

static void renew(const struct ctl *c, struct lks_client *agent)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
    request_body(c, "renewed", NULL, (struct lks_str){0}, &body);
    if (!fine(agent, "renew", "/v1/agent/renew", body.ptr, &t))
        return;
    put_file(c, "renewed.crt", crew_text(&t, "certificate"));
    struct lks_client *next = connect_agent(c, "renewed");
    CHECK_INT(beat(next, 10, &t), 200);
    CHECK_INT(beat(agent, 11, &t), 200); /* the one before stays good for a while */
    lks_client_free(next);
}

static void operate(struct lks_client *admin)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    fine(admin, "holdNode", "/v1/nodes/inf%5B1-2%5D/hold", "{\"reason\":\"a test\"}", &t);
    fine(admin, "nodes", "/v1/nodes?held=true", "", &t);
    CHECK_INT(crew_count(&t, "items"), 2);
    fine(admin, "releaseNode", "/v1/nodes/inf%5B1-2%5D/release",
         "{\"reason\":\"over\",\"force\":true}", &t);
    fine(admin, "replaceNode", "/v1/nodes/inf1/replace", "{\"reason\":\"a test\"}", &t);
    fine(admin, "removeNode", "/v1/nodes/inf2?reason=gone", "", &t);
    fine(admin, "nodes", "/v1/nodes", "", &t);
    CHECK_INT(crew_count(&t, "items"), 4);
    fine(admin, "alarms", "/v1/alarms?open=true", "", &t);
    fine(admin, "jobs", "/v1/jobs?interrupted=true", "", &t);
    fine(admin, "journal", "/v1/journal?from=2&limit=3", "", &t);
    CHECK_HAS(lks_buf_view(&t.answer.body), "{\"seq\":4,");
    fine(admin, "journalHead", "/v1/journal/head", "", &t);
    fine(admin, "backup", "/v1/backup", "", &t);
}

static void manage_access(const struct ctl *c, struct lks_client *admin)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
    fine(admin, "grant", "/v1/access", "{\"identity\":\"user:kim\",\"role\":\"viewer\"}", &t);
    fine(admin, "makeToken", "/v1/tokens",
         "{\"id\":\"kim\",\"identity\":\"user:kim\",\"ttl_seconds\":60}", &t);
    fine(admin, "access", "/v1/access", "", &t);
    fine(admin, "endToken", "/v1/tokens/kim", "", &t);
    request_body(c, "kim", "name", LKS_STR("kim"), &body);
    if (fine(admin, "makeCertificate", "/v1/certificates", body.ptr, &t)) {
        put_file(c, "kim.crt", crew_text(&t, "certificate"));
        struct lks_client *kim = connect_as(c, c->people, "kim");
        fine(kim, "whoami", "/v1/whoami", "", &t);
        CHECK_STR(crew_text(&t, "identity"), "user:kim");
        refused(kim, "GET", "/v1/access", "", "", 403, "user:kim may not admin here");
        lks_client_free(kim);
    }
    fine(admin, "ungrant", "/v1/access?identity=user:kim&role=viewer", "", &t);
}

static void test_every_route(void)
{
    struct ctl c = {0};
    ctl_init(&c, "");
    if (!CHECK(ctl_start(&c))) {
        ctl_fini(&c);
        return;
    }
    struct lks_client *admin = ctl_client(&c, CTL_TLS);
    look_at_fleet(admin);
    apply_from(admin);
    struct lks_client *agent = enroll(&c, admin, "gpu1");
    if (agent != NULL) {
        live_as_agent(admin, agent);
        command_and_result(&c, admin, agent);
        renew(&c, agent);
    }
    operate(admin);
    manage_access(&c, admin);
    lks_client_free(agent);
    lks_client_free(admin);
    CHECK_INT(ctl_stop(&c), 0);
    ctl_fini(&c);
}

/* Alarms: two nodes are heard once and no more ---------------------------------------------- */

/* Seen and dealt with where it is about, and nowhere else. */
static void alarm_of_pool(const struct ctl *c, struct lks_client *admin)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct lks_client *near = connect_person(c, admin, "viewer", "train");
    struct lks_client *far = connect_person(c, admin, "operator", "serve");
    fine(near, "alarms", "/v1/alarms", "", &t);
    CHECK_INT(crew_count(&t, "items"), 1);
    fine(near, "fleet", "/v1/fleet", "", &t);
    CHECK_INT(crew_number(&t, "alarms_open"), 1);
    refused(near, "POST", "/v1/alarms/1/release", "{\"reason\":\"x\"}", "", 403, "may not operate");
    fine(far, "alarms", "/v1/alarms", "", &t);
    CHECK_INT(crew_count(&t, "items"), 0);
    fine(far, "fleet", "/v1/fleet", "", &t);
    CHECK_INT(crew_number(&t, "alarms_open"), 0);
    refused(far, "POST", "/v1/alarms/1/release", "{\"reason\":\"x\"}", "", 403, "may not operate");
    lks_client_free(near);
    lks_client_free(far);
}

static void test_alarm(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct ctl c = {0};
    ctl_init(&c, "limits:\n  heartbeat_ms: 100\n  late_ms: 300\n  lost_ms: 60000\n"
                 "  mass_floor: 1\n  mass_percent: 0\n");
    if (CHECK(ctl_start(&c))) {
        struct lks_client *admin = ctl_client(&c, CTL_TLS);
        fine(admin, "applyFleet", "/v1/fleet?accept=true", FLEET, &t);
        struct lks_client *one = enroll(&c, admin, "gpu1"), *two = enroll(&c, admin, "gpu2");
        CHECK_INT(beat(one, 1, &t), 200);
        CHECK_INT(beat(two, 1, &t), 200);
        size_t open = 0;
        for (struct lks_wait w = {0}; open == 0 && lks_wait(&w);) {
            if (!fine(admin, "alarms", "/v1/alarms?open=true", "", &t))
                break;
            open = crew_count(&t, "items");
        }
        CHECK_INT(open, 1);
        fine(admin, "pools", "/v1/pools", "", &t);
        CHECK_HAS(lks_buf_view(&t.answer.body), "\"acts_wait\":true");
        alarm_of_pool(&c, admin);
        fine(admin, "releaseAlarm", "/v1/alarms/1/release", "{\"reason\":\"a test\"}", &t);
        refused(admin, "POST", "/v1/alarms/1/release", "{\"reason\":\"again\"}", "", 409, "");
        lks_client_free(one);
        lks_client_free(two);
        lks_client_free(admin);
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
}

/* Events ------------------------------------------------------------------------------------ */

struct heard {
    uint64_t first, last, count, stop;
};

static bool on_event(void *ctx, struct lks_str id, struct lks_str data)
{
    struct heard *h = ctx;
    uint64_t seq = 0;
    CHECK(lks_str_number(id, UINT64_MAX, &seq));
    CHECK(h->count == 0 || seq == h->last + 1); /* none is left out, none comes twice */
    char begins[48];
    snprintf(begins, sizeof(begins), "{\"seq\":%llu,", (unsigned long long)seq);
    CHECK(lks_str_starts(data, begins));
    h->first = h->count++ == 0 ? seq : h->first;
    h->last = seq;
    return seq < h->stop;
}

/* At the first row somebody's role is taken back. */
static bool on_row(void *ctx, struct lks_str id, struct lks_str data)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    static bool asked;
    (void)id;
    CHECK(lks_str_find(data, LKS_STR("ungranted")) < 0); /* it ends before that is told */
    if (!asked)
        CHECK_INT(ctl_once(ctx, "DELETE", "/v1/access?identity=user:u1&role=viewer", NULL, &answer),
                  200);
    asked = true;
    return true;
}

static void test_events(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    struct ctl c = {0};
    struct lks_err err = {0};
    ctl_init(&c, "");
    if (CHECK(ctl_start(&c))) {
        for (int i = 0; i < 30; i++) {
            char body[128];
            snprintf(body, sizeof(body), "{\"identity\":\"user:u%d\",\"role\":\"viewer\"}", i);
            CHECK_INT(ctl_once(&c, "POST", "/v1/access", body, &answer), 200);
        }
        struct lks_client *client = ctl_client(&c, CTL_UNIX);
        struct heard h = {.stop = 20};
        CHECK_CODE(lks_client_events(client, "/v1/events?from=1", NULL, 5000, on_event, &h, &err),
                   LKS_OK);
        CHECK_INT(h.first, 1);
        CHECK_INT(h.last, 20);
        h = (struct heard){.stop = 30};
        CHECK_CODE(lks_client_events(client, "/v1/events", "20", 5000, on_event, &h, &err), LKS_OK);
        CHECK_INT(h.first, 21);
        CHECK_INT(h.last, 30);
        lks_test_case("readers are asked again who they are when access is taken back");
        CHECK_CODE(lks_client_events(client, "/v1/events?from=1", NULL, 5000, on_row, &c, &err),
                   LKS_OK);
        lks_client_free(client);
        covered[route_called("events") - lks_routes] = h.count == 10;
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
}

/* Refusals ---------------------------------------------------------------------------------- */

static const struct {
    const char *name, *method, *path, *body;
    int status;
    const char *detail;
} refusals[] = {
    {"no such path", "GET", "/v1/nope", "", 404, "nothing at this path"},
    {"no such node", "GET", "/v1/nodes/nope", "", 404, "there is no node 'nope'"},
    {"no such alarm", "POST", "/v1/alarms/7/release", "{\"reason\":\"x\"}", 404, "no alarm '7'"},
    {"a number that is none", "GET", "/v1/commands/x", "", 404, "there is no command 'x'"},
    {"other method", "DELETE", "/v1/fleet", "", 405, "DELETE is not taken here; GET, PUT is"},
    {"unknown parameter", "GET", "/v1/nodes?poool=x", "", 400, "poool: unknown key; did you mean"},
    {"parameter twice", "GET", "/v1/nodes?pool=x&pool=y", "", 400, "pool"},
    {"parameter where none is", "GET", "/v1/whoami?x=1", "", 400, "unknown key"},
    {"limit too large", "GET", "/v1/nodes?limit=1001", "", 400, "limit: 1001 is not between"},
    {"limit is no number", "GET", "/v1/nodes?limit=ten", "", 400,
     "limit: expected a whole number from 1 to"},
    {"unknown word", "GET", "/v1/nodes?liveness=alive", "", 400, "liveness: no such value 'alive'"},
    {"not a truth", "GET", "/v1/nodes?held=yes", "", 400, "held: expected true or false"},
    {"version of nothing", "GET", "/v1/nodes?version=1", "", 400, "version needs component"},
    {"a cursor of nobody's", "GET", "/v1/nodes?after=zz", "", 400, "after:"},
    {"a body that is none", "POST", "/v1/access", "{", 400, "body:"},
    {"no body", "POST", "/v1/access", "", 400, "needs 'identity'"},
    {"unknown member", "POST", "/v1/access",
     "{\"identity\":\"user:x\",\"role\":\"viewer\",\"sight\":\"x\"}", 400, "sight: unknown key"},
    {"unknown role", "POST", "/v1/access", "{\"identity\":\"user:x\",\"role\":\"king\"}", 400,
     "role: no such value 'king'"},
    {"member twice", "POST", "/v1/nodes/gpu1/hold", "{\"reason\":\"a\",\"reason\":\"b\"}", 400,
     "body:"},
    {"no reason", "POST", "/v1/nodes/gpu1/hold", "{}", 400, "needs 'reason'"},
    {"a body where none is", "GET", "/v1/whoami", "{}", 400, "takes no body"},
    {"one node, not two", "GET", "/v1/nodes/gpu%5B1-2%5D", "", 400, "one node is expected"},
    {"not a host list", "GET", "/v1/nodes/gpu%5B1-", "", 400, ""},
    {"release of what is not held", "POST", "/v1/nodes/gpu1/release", "{\"reason\":\"x\"}", 409,
     ""},
    {"not a manifest", "PUT", "/v1/fleet", "lockstep: 1\nkind: Flet\n", 400, "manifest:"},
    {"not a token", "POST", "/v1/enroll", "{\"token\":\"x\",\"request\":\"y\"}", 400, ""},
    {"no such token", "DELETE", "/v1/tokens/nope", "", 404, ""},
    {"not a request", "POST", "/v1/certificates", "{\"name\":\"kim\",\"request\":\"x\"}", 400, ""},
};

static void refuse_large(struct lks_client *admin)
{
    char *body = malloc((size_t)70 << 10);
    LKS_ASSERT(body != NULL);
    memset(body, ' ', (size_t)70 << 10);
    body[((size_t)70 << 10) - 1] = '\0';
    lks_test_case("a body of 70 KiB");
    refused(admin, "POST", "/v1/access", body, "", 413, "65536 are taken here");
    free(body);
}

static void test_refusals(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct ctl c = {0};
    ctl_init(&c, "");
    if (CHECK(ctl_start(&c))) {
        struct lks_client *admin = ctl_client(&c, CTL_TLS);
        fine(admin, "applyFleet", "/v1/fleet?accept=true", FLEET, &t);
        for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
            lks_test_case("%s", refusals[i].name);
            refused(admin, refusals[i].method, refusals[i].path, refusals[i].body, "",
                    refusals[i].status, refusals[i].detail);
        }
        refuse_large(admin);
        lks_test_case("the headers that belong to a refusal");
        CHECK_INT(ask(admin, "DELETE", "/v1/fleet", LKS_STR(""), "", &t), 405);
        CHECK_STR(lks_http_answer_header(&t.answer, "allow"), "GET, PUT");
        lks_client_free(admin);
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
}

static void test_conditional(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    struct ctl c = {0};
    ctl_init(&c, "");
    if (CHECK(ctl_start(&c))) {
        char head[128];
        struct lks_client *admin = ctl_client(&c, CTL_TLS);
        CHECK_INT(ask(admin, "GET", "/v1/nodes", LKS_STR(""), "", &t), 200);
        struct lks_str etag = lks_http_answer_header(&t.answer, "etag");
        CHECK(etag.len > 2 && etag.ptr[0] == '"');
        snprintf(head, sizeof(head), "If-None-Match: %" LKS_STR_FMT "\r\n", LKS_STR_ARG(etag));
        CHECK_INT(ask(admin, "GET", "/v1/nodes", LKS_STR(""), head, &t), 304);
        CHECK_INT(t.answer.body.len, 0);
        struct lks_client *root = ctl_client(&c, CTL_UNIX); /* another one's answer is another */
        CHECK_INT(ask(root, "GET", "/v1/nodes", LKS_STR(""), head, &t), 200);
        lks_client_free(root);
        CHECK_INT(ctl_once(&c, "POST", "/v1/access",
                           "{\"identity\":\"user:x\",\"role\":\"viewer\"}", &answer),
                  200);
        CHECK_INT(ask(admin, "GET", "/v1/nodes", LKS_STR(""), head, &t), 200);
        lks_client_free(admin);
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
}

/* A certificate that ended is refused at once, on the connection it was shown on. */
static void test_revoked(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct ctl c = {0};
    ctl_init(&c, "");
    if (CHECK(ctl_start(&c))) {
        struct lks_client *admin = ctl_client(&c, CTL_TLS);
        fine(admin, "applyFleet", "/v1/fleet?accept=true", FLEET, &t);
        struct lks_client *agent = enroll(&c, admin, "gpu1");
        for (uint64_t i = 1; i <= 3; i++)
            CHECK_INT(beat(agent, i, &t), 200);
        refused(agent, "POST", "/v1/agent/beat", "nonsense", AGENT_HEAD, 400, "");
        refused(agent, "POST", "/v1/agent/beat", "x", "", 426, "Lockstep-Protocol");
        refused(agent, "POST", "/v1/agent/beat", "x", "Lockstep-Protocol: 99\r\n", 426, "");
        refused(agent, "GET", "/v1/nodes", "", AGENT_HEAD, 404, "");
        struct lks_client *visitor = connect_as(&c, c.people, "gpu1");
        fine(visitor, "whoami", "/v1/whoami", "", &t);
        CHECK_STR(crew_text(&t, "identity"), "node:gpu1");
        fine(admin, "replaceNode", "/v1/nodes/gpu1/replace", "{\"reason\":\"a test\"}", &t);
        refused(visitor, "GET", "/v1/whoami", "", "", 401, "not known, or has expired");
        lks_client_free(visitor);
        CHECK_INT(beat(agent, 4, &t), 403);
        CHECK_HAS(crew_text(&t, "detail"), "enrol the node again");
        lks_client_free(agent);
        agent = connect_agent(&c, "gpu1");
        CHECK_INT(beat(agent, 5, &t), 403);
        lks_client_free(agent);
        lks_client_free(admin);
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
}

/* Lists ------------------------------------------------------------------------------------- */

static const struct {
    const char *id, *path; /* what is asked, as a viewer of the pool "serve" */
    const char *has, *lacks;
    int status;
} cuts[] = {
    {"nodes", "/v1/nodes", "\"inf1\"", "gpu", 200},
    {"nodes", "/v1/nodes?pool=train", "there is no pool", "gpu", 404},
    {"nodes", "/v1/nodes?limit=1", "\"next\":\"inf1\"", "gpu", 200},
    {"pools", "/v1/pools", "\"serve\"", "train", 200},
    {"fleet", "/v1/fleet", "\"nodes\":2,", "train", 200},
    {"node", "/v1/nodes/inf1", "\"inf1\"", "gpu", 200},
    {"node", "/v1/nodes/gpu1", "may not read", "train", 403},
    {"nodeTuple", "/v1/nodes/gpu1/tuple", "may not read", "train", 403},
    {"nodeHistory", "/v1/nodes/gpu1/history", "may not read", "train", 403},
    {"metrics", "/metrics", "may not read", "train", 403},
    {"journal", "/v1/journal", "may not read", "train", 403},
    {"events", "/v1/events?from=1", "may not read", "train", 403},
    {"access", "/v1/access", "may not admin", "train", 403},
};

static void test_cut(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct ctl c = {0};
    ctl_init(&c, "");
    if (CHECK(ctl_start(&c))) {
        struct lks_client *admin = ctl_client(&c, CTL_TLS);
        fine(admin, "applyFleet", "/v1/fleet?accept=true", FLEET, &t);
        struct lks_client *viewer = connect_person(&c, admin, "viewer", "serve");
        for (size_t i = 0; i < LKS_COUNT(cuts); i++) {
            lks_test_case("%s", cuts[i].path);
            CHECK_INT(ask(viewer, "GET", cuts[i].path, LKS_STR(""), "", &t), cuts[i].status);
            CHECK_HAS(lks_buf_view(&t.answer.body), cuts[i].has);
            CHECK(lks_str_find(lks_buf_view(&t.answer.body), lks_str_from(cuts[i].lacks)) < 0);
        }
        lks_client_free(viewer);
        lks_client_free(admin);
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
}

/* A node that floods: what it reports is put off, and its heartbeats fill nothing. */
static void test_flood(void)
{
    enum { BURST = 5, MANY = 40 };
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf report = {0};
    struct ctl c = {0};
    ctl_init(&c, "rate: {people_per_s: 10000, burst: 5}\n");
    if (CHECK(ctl_start(&c))) {
        struct lks_client *admin = ctl_client(&c, CTL_UNIX);
        fine(admin, "applyFleet", "/v1/fleet?accept=true", FLEET, &t);
        struct lks_client *agent = enroll(&c, admin, "gpu1");
        report_body("gpu1", &report);
        int status = 200, taken = 0;
        for (; status == 200 && taken < MANY; taken += status == 200)
            status = ask(agent, "PUT", "/v1/agent/tuple", lks_buf_view(&report), AGENT_HEAD, &t);
        CHECK_INT(status, 429);
        CHECK(taken >= BURST && lks_http_answer_header(&t.answer, "retry-after").len > 0);
        fine(admin, "fleet", "/v1/fleet", "", &t);
        int64_t before = crew_number(&t, "seq");
        for (int boot = 1; boot <= MANY; boot++)
            CHECK_INT(beat_in(agent, (uint8_t)boot, 1, &t), 200);
        fine(admin, "fleet", "/v1/fleet", "", &t);
        CHECK(crew_number(&t, "seq") > before);
        CHECK(crew_number(&t, "seq") < before + MANY);
        lks_client_free(agent);
        lks_client_free(admin);
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
}

static void test_all_covered(void)
{
    for (size_t i = 0; i < lks_route_count; i++) {
        lks_test_case("%s %s", lks_routes[i].method, lks_routes[i].path);
        CHECK(covered[i] || crew_covers(lks_routes[i].id) != NULL);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"every route answers as it documents", test_every_route},
        {"an alarm is raised and released", test_alarm},
        {"events come in order and resume", test_events},
        {"no route was left out", test_all_covered},
        {"what is wrong is refused with a line", test_refusals},
        {"what did not change is not sent again", test_conditional},
        {"a certificate that ended is refused", test_revoked},
        {"lists are cut to the scope", test_cut},
        {"a node that floods is put off", test_flood},
        {0},
    };
    return lks_test_main(tests);
}
