/* The route table: every route, every role, every scope, against the real daemon. */
#include "server/api/routes.h"

#include "codec/format/json.h"
#include "core/rules/decide.h"
#include "server/auth/authz.h"
#include "server/form/forms.h"
#include "tests/controller.h"
#include "tests/test.h"
#include "tests/wait.h"
#include "trust/token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ANSWER_MAX = 4 << 20 };

/* Two pools on two sites; the walk looks at gpu1, of "train" on "east". */
#define FLEET                                                                                      \
    "lockstep: 1\nkind: Fleet\nname: walk\nsites: {east: {}, west: {}}\n"                          \
    "pools:\n  train: {posture: pre-training}\n  serve: {posture: online-inference}\n"             \
    "nodes:\n"                                                                                     \
    "  - {hosts: \"gpu[1-2]\", pool: train, class: hgx-h200-8, site: east}\n"                      \
    "  - {hosts: \"inf[1-2]\", pool: serve, class: hgx-h200-8, site: west}\n"                      \
    "  - {hosts: \"big[01-11]\", pool: serve, class: hgx-h200-8, site: west}\n"

static const struct where {
    const char *name, *site, *pool;
    bool everywhere; /* holds without a scope */
    bool at_node;    /* holds at gpu1 */
} scopes[] = {
    {"everywhere", "", "", true, true},        {"its-pool", "", "train", false, true},
    {"other-pool", "", "serve", false, false}, {"its-site", "east", "", false, true},
    {"other-site", "west", "", false, false},
};

/* Of an agents' route: the people's at the same path, or NULL. */
static const struct lks_route *twin_of(const struct lks_route *r)
{
    for (size_t i = 0; i < lks_route_count; i++) {
        const struct lks_route *other = &lks_routes[i];
        if (r->listener == LKS_LISTENER_AGENTS && other->listener == LKS_LISTENER_PEOPLE &&
            strcmp(other->path, r->path) == 0 && strcmp(other->method, r->method) == 0)
            return other;
    }
    return NULL;
}

static const struct lks_route *route_called(const char *id)
{
    for (size_t i = 0; i < lks_route_count; i++) {
        if (strcmp(lks_routes[i].id, id) == 0)
            return &lks_routes[i];
    }
    return NULL;
}

/* The path of a route with its parameters filled in, and a query. */
static void path_with(const struct lks_route *r, const char *query, char *out, size_t size)
{
    struct lks_str head, tail, path = lks_str_from(r->path);
    bool param = lks_str_cut(path, '{', &head, &tail);
    lks_str_cut(tail, '}', &path, &tail);
    const char *value = lks_str_is(path, "name") ? "gpu1" : "999999";
    snprintf(out, size, "%" LKS_STR_FMT "%s%" LKS_STR_FMT "?%s", LKS_STR_ARG(head),
             param ? value : "", LKS_STR_ARG(tail), query);
}

/* A query that no route takes: who may not ask is told so, who may is told that there is no such
 * parameter, and nothing happens. */
static void harmless_path(const struct lks_route *r, char *out, size_t size)
{
    path_with(r, "no-such-parameter=1", out, size);
}

/* What is sent along: where a length is needed, a byte. */
static const char *harmless_body(const struct lks_route *r)
{
    return (r->flags & LKS_ROUTE_LARGE) != 0 ? "x" : NULL;
}

/* What the table says must come of a harmless call on the people's listener. */
static int expected(const struct lks_route *r, enum lks_role role, const struct where *where)
{
    if (r->listener != LKS_LISTENER_PEOPLE && twin_of(r) == NULL)
        return 404;
    if (r->listener == LKS_LISTENER_AGENTS)
        r = twin_of(r);
    if (r->permission == LKS_MAY_NOTHING || r->permission == LKS_MAY_KNOW)
        return 400;
    if (!lks_access_role_may(role, r->permission))
        return 403;
    switch (r->scope) {
    case LKS_SCOPE_EVERYWHERE:
        return where->everywhere ? 400 : 403;
    case LKS_SCOPE_NODES:
        return where->at_node ? 400 : 403;
    case LKS_SCOPE_ALARM:
    case LKS_SCOPE_COMMAND:
    case LKS_SCOPE_DEVIATION:
    case LKS_SCOPE_FLASH:
    case LKS_SCOPE_CHANGE:
    case LKS_SCOPE_CHANGE_PART:
        return where->everywhere ? 404
                                 : 403; /* there is no such thing, and who sees all learns it */
    case LKS_SCOPE_NONE:
    case LKS_SCOPE_NODE:
    case LKS_SCOPE_WISH:
    case LKS_SCOPE_POOL:
    case LKS_SCOPE_ASKED: /* nothing is asked about: that is told to who may ask somewhere */
    case LKS_SCOPE_SELF:
    case LKS_SCOPE_SOMEWHERE:
        break;
    }
    return 400;
}

static struct lks_client *connect_with(const struct ctl *c, const char *token)
{
    char server[64];
    snprintf(server, sizeof(server), "https://localhost:%u", c->people);
    struct lks_client_options options = {
        .server = server,
        .ca = ctl_path(c, "data/ca.crt"),
        .token = token,
        .timeout_ms = LKS_WAIT_MS,
    };
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    return client;
}

/* Whether the same person is told that they may, of the thing that the path of the act names, or of
 * gpu1 where its body would name a node. An act whose body would name a pool is asked for train. */
static void check_can(struct lks_client *client, const struct lks_route *r, enum lks_role role,
                      const struct where *where, int status)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    bool by_id = strstr(r->path, "{id}") != NULL, by_pool = r->scope == LKS_SCOPE_POOL;
    bool in_body = r->scope == LKS_SCOPE_NODE || r->scope == LKS_SCOPE_ASKED ||
                   r->scope == LKS_SCOPE_WISH || by_pool;
    char path[256];
    if (r->listener != LKS_LISTENER_PEOPLE)
        return;
    snprintf(path, sizeof(path), "/v1/access/can?act=%s&%s", r->id,
             by_pool                                        ? "pool=train"
             : strstr(r->path, "{name}") != NULL || in_body ? "name=gpu1"
             : by_id                                        ? "name=999999"
                                                            : "");
    if (path[strlen(path) - 1] == '&')
        path[strlen(path) - 1] = '\0';
    int can = ctl_ask(client, "GET", path, NULL, &answer);
    if (status == 404) {
        CHECK_INT(can, 404);
        return;
    }
    bool at = by_pool ? where->everywhere || where->pool[0] == 't' : where->at_node;
    bool may = in_body ? lks_access_role_may(role, r->permission) && at : status != 403;
    CHECK_INT(can, 200);
    CHECK_HAS(lks_buf_view(&answer), may ? "\"yes\":true" : "\"yes\":false");
}

static void walk(const struct ctl *c, const char *token, enum lks_role role,
                 const struct where *where)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    struct lks_client *client = connect_with(c, token);
    for (size_t i = 0; client != NULL && i < lks_route_count; i++) {
        const struct lks_route *r = &lks_routes[i];
        char path[256];
        harmless_path(r, path, sizeof(path));
        lks_test_case("%s %s as %s %s", r->method, path, lks_role_words[role], where->name);
        int status = ctl_ask(client, r->method, path, harmless_body(r), &answer);
        CHECK_INT(status, expected(r, role, where));
        check_can(client, r, role, where, status);
    }
    lks_client_free(client);
}

/* A token whose identity has this role here. */
static bool make_token(const struct ctl *c, enum lks_role role, const struct where *where,
                       char *token, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    char body[512], id[64];
    snprintf(id, sizeof(id), "%s-%s", lks_role_words[role], where->name);
    int len = snprintf(body, sizeof(body), "{\"identity\":\"user:%s\",\"role\":\"%s\"", id,
                       lks_role_words[role]);
    if (where->site[0] != '\0')
        len += snprintf(body + len, sizeof(body) - (size_t)len, ",\"site\":\"%s\"", where->site);
    if (where->pool[0] != '\0')
        len += snprintf(body + len, sizeof(body) - (size_t)len, ",\"pool\":\"%s\"", where->pool);
    snprintf(body + len, sizeof(body) - (size_t)len, "}");
    if (!CHECK_INT(ctl_once(c, "POST", "/v1/access", body, &answer), 200))
        return false;
    snprintf(body, sizeof(body), "{\"id\":\"%s\",\"identity\":\"user:%s\"}", id, id);
    return CHECK_INT(ctl_once(c, "POST", "/v1/tokens", body, &answer), 200) &&
           CHECK(ctl_text(&answer, "token", token, size) != NULL);
}

static void walk_as_nobody(const struct ctl *c)
{
    static const char *const open[] = {"health",      "ready",     "enroll", "ticket",
                                       "loginDevice", "loginPoll", "login",  "loginCallback"};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    static const char *const tokens[] = {
        NULL, "lks_api_admin_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "nonsense"};
    for (size_t k = 0; k < LKS_COUNT(tokens); k++) {
        struct lks_client *client = connect_with(c, tokens[k]);
        for (size_t i = 0; client != NULL && i < lks_route_count; i++) {
            const struct lks_route *r = &lks_routes[i];
            char path[256];
            harmless_path(r, path, sizeof(path));
            bool is_open = false;
            for (size_t n = 0; n < LKS_COUNT(open); n++)
                is_open |= strcmp(r->id, open[n]) == 0;
            lks_test_case("%s %s as nobody, way %zu", r->method, path, k);
            bool there = r->listener == LKS_LISTENER_PEOPLE || twin_of(r) != NULL;
            int want = is_open ? 400 : there ? 401 : 404;
            CHECK_INT(ctl_ask(client, r->method, path, harmless_body(r), &answer), want);
        }
        lks_client_free(client);
    }
}

static bool put_fleet(const struct ctl *c)
{
    struct lks_client *client = ctl_client(c, CTL_UNIX);
    struct lks_http_answer answer = {0};
    struct lks_err err = {0};
    if (client == NULL)
        return false;
    CHECK_CODE(lks_client_exchange(client, "PUT", "/v1/fleet?accept=true", "application/yaml",
                                   LKS_STR(FLEET), "", &answer, &err),
               LKS_OK);
    bool ok = CHECK_INT(answer.status, 200);
    lks_http_answer_fini(&answer);
    lks_client_free(client);
    return ok;
}

/* One call outside a change ----------------------------------------------------------------- */

#define FEW   "limits.call_nodes"
#define UNTIL "\"expires\":\"@\"" /* an hour from now */

/* Every route whose body names nodes, and what keeps it from many. */
static const struct {
    const char *id;
    const char *body; /* with one node too many; NULL: the last column says why there is no limit */
    const char *why;
} bodies[] = {
    {"deviate",
     "{\"nodes\":\"big[01-11]\",\"subject\":\"driver\",\"owner\":\"kim\",\"reason\":\"x\"," UNTIL
     "}",
     FEW},
    {"flash", "{\"node\":\"big[01-11]\",\"component\":\"bmc\",\"reason\":\"x\"}", "big[01-11]"},
    {"enroll", NULL, "a node of itself"},
    {"admit", NULL, "a question, of a job"},
    {"override", NULL, "of a job; nothing is done to nodes"},
    {"propose", NULL, "that is a change"},
    {"moveMembers", NULL, "inside a change"},
    {"skipMembers", NULL, "inside a change"},
    {"startChange", NULL, "a change's own number"},
    {"forecastChange", NULL, "a change's own numbers"},
    {"ticket", NULL, "a change's own number"},
};

/* A body with the time in the place of '@'. */
static const char *filled(const char *body, char *out, size_t size)
{
    struct lks_str head, tail;
    char at[LKS_TIME_TEXT_SIZE];
    if (body == NULL || !lks_str_cut(lks_str_from(body), '@', &head, &tail))
        return body;
    (void)lks_time_text(((lks_ms)time(NULL) + 3600) * LKS_SECOND, at);
    snprintf(out, size, "%" LKS_STR_FMT "%s%" LKS_STR_FMT, LKS_STR_ARG(head), at,
             LKS_STR_ARG(tail));
    return out;
}

static bool names_nodes(const struct lks_form *form)
{
    static const char *const keys[] = {"node", "nodes", "hosts"};
    struct lks_field field;
    for (size_t k = 0; form != NULL && k < LKS_COUNT(keys); k++) {
        if (lks_schema_field(form, lks_str_from(keys[k]), &field))
            return true;
    }
    return false;
}

static void check_body(struct lks_client *client, const struct lks_route *r)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    char body[512];
    size_t row = 0;
    while (row < LKS_COUNT(bodies) && strcmp(bodies[row].id, r->id) != 0)
        row++;
    if (!CHECK(row < LKS_COUNT(bodies)) || bodies[row].body == NULL)
        return; /* a new route says here why it may name many */
    CHECK(ctl_ask(client, r->method, r->path, filled(bodies[row].body, body, sizeof(body)),
                  &answer) >= 400);
    CHECK_HAS(lks_buf_view(&answer), bodies[row].why);
}

/* Whoever reaches many nodes at once is refused, by whichever route. */
static void check_few(const struct ctl *c)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    struct lks_client *client = ctl_client(c, CTL_UNIX);
    for (size_t i = 0; client != NULL && i < lks_route_count; i++) {
        const struct lks_route *r = &lks_routes[i];
        struct lks_str head, tail;
        char path[256];
        bool reads = strcmp(r->method, "GET") == 0;
        if (reads || r->listener != LKS_LISTENER_PEOPLE)
            continue;
        lks_test_case("%s %s with 11 nodes", r->method, r->path);
        if (names_nodes(r->body))
            check_body(client, r);
        if (r->scope != LKS_SCOPE_NODES)
            continue;
        (void)lks_str_cut(lks_str_from(r->path), '{', &head, &tail);
        (void)lks_str_cut(tail, '}', &(struct lks_str){0}, &tail);
        snprintf(path, sizeof(path), "%" LKS_STR_FMT "big%%5B01-11%%5D%" LKS_STR_FMT,
                 LKS_STR_ARG(head), LKS_STR_ARG(tail));
        CHECK_INT(ctl_ask(client, r->method, path, harmless_body(r), &answer), 409);
        CHECK_HAS(lks_buf_view(&answer), FEW);
    }
    lks_client_free(client);
}

/* And who reaches some is told how many, with their GPUs. */
static void check_counts(const struct ctl *c)
{
    static const struct {
        const char *method, *path, *body;
    } rows[] = {
        {"POST", "/v1/nodes/gpu%5B1-2%5D/hold", "{\"reason\":\"x\"}"},
        {"POST", "/v1/nodes/gpu%5B1-2%5D/release", "{\"reason\":\"x\"}"},
        {"POST", "/v1/nodes/gpu%5B1-2%5D/condition",
         "{\"condition\":\"unhealthy\",\"on\":true,\"text\":\"x\"}"},
        {"POST", "/v1/deviations",
         "{\"nodes\":\"gpu[1-2]\",\"subject\":\"driver\",\"owner\":\"kim\",\"reason\":\"x\"," UNTIL
         "}"},
        {"POST", "/v1/nodes/gpu%5B1-2%5D/replace", "{\"reason\":\"x\"}"},
        {"DELETE", "/v1/nodes/gpu%5B1-2%5D?reason=x", NULL},
    };
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    struct lks_client *client = ctl_client(c, CTL_UNIX);
    for (size_t i = 0; client != NULL && i < LKS_COUNT(rows); i++) {
        char body[512];
        const char *said = filled(rows[i].body, body, sizeof(body));
        lks_test_case("%s %s", rows[i].method, rows[i].path);
        CHECK_INT(ctl_ask(client, rows[i].method, rows[i].path, said, &answer), 200);
        CHECK_HAS(lks_buf_view(&answer), "\"nodes\":2,\"gpus\":16}");
    }
    lks_client_free(client);
}

/* A page that starts after an item that is not there: the daemon answers, and goes on answering. */
static void check_cursors(const struct ctl *c)
{
    static const char *const queries[] = {"after=nosuch", "after=999999", "after=nosuch&limit=1"};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    struct lks_client *client = ctl_client(c, CTL_UNIX);
    struct lks_field after;
    size_t asked = 0;
    for (size_t i = 0; client != NULL && i < lks_route_count; i++) {
        const struct lks_route *r = &lks_routes[i];
        if (r->query == NULL || !lks_schema_field(r->query, LKS_STR("after"), &after))
            continue;
        for (size_t k = 0; k < LKS_COUNT(queries); k++, asked++) {
            char path[256];
            path_with(r, queries[k], path, sizeof(path));
            lks_test_case("%s %s", r->method, path);
            int status = ctl_ask(client, r->method, path, NULL, &answer);
            CHECK(status == 200 || status == 400 || status == 404);
        }
    }
    CHECK(asked > 0);
    lks_client_free(client);
}

/* What a request has in it is quoted as one printable line. */
static void check_detail(const struct ctl *c)
{
    static const char *const paths[] = {
        "/v1/deviations/%0C%1B%5B31m%0Ax/close",
        "/v1/changes/%0D%0Ax/pause",
        "/v1/nodes/%7F%C2%9B%ff/hold",
        "/v1/access?identity=%00",
        "/v1/nodes?%1Bno=1",
    };
    struct lks_client *client = ctl_client(c, CTL_UNIX);
    for (size_t i = 0; client != NULL && i < LKS_COUNT(paths); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
        char detail[LKS_ERR_MSG_MAX];
        lks_test_case("%s", paths[i]);
        bool reads = strchr(paths[i], '?') != NULL;
        int status = ctl_ask(client, reads ? "GET" : "POST", paths[i],
                             reads ? NULL : "{\"reason\":\"x\"}", &answer);
        CHECK(status == 400 || status == 404);
        CHECK(ctl_text(&answer, "detail", detail, sizeof(detail)) != NULL &&
              lks_str_printable(lks_str_from(detail)));
    }
    lks_client_free(client);
}

/* Rows of the journal show who got a token, and nothing of its secret. */
static void check_journal(const struct ctl *c)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    CHECK_INT(ctl_once(c, "POST", "/v1/nodes/gpu1/enroll", "{}", &answer), 200);
    CHECK_INT(ctl_once(c, "GET", "/v1/journal?limit=10000", NULL, &answer), 200);
    CHECK_HAS(lks_buf_view(&answer), "\"kind\":\"api-token\"");
    CHECK_HAS(lks_buf_view(&answer), "\"kind\":\"token\",\"node\":\"gpu1\"");
    CHECK(lks_str_find(lks_buf_view(&answer), LKS_STR("\"hash\"")) < 0);
}

static void test_walk(void)
{
    struct ctl c = {0};
    ctl_init(&c, "rate: {people_per_s: 100000, burst: 1000000}\n");
    if (CHECK(ctl_start(&c)) && put_fleet(&c)) {
        walk_as_nobody(&c);
        check_cursors(&c);
        check_detail(&c);
        check_journal(&c);
        for (int role = 0; role < LKS_ROLE_COUNT; role++) {
            for (size_t i = 0; i < LKS_COUNT(scopes); i++) {
                char token[LKS_TOKEN_TEXT_MAX];
                lks_test_case("%s %s", lks_role_words[role], scopes[i].name);
                if (make_token(&c, (enum lks_role)role, &scopes[i], token, sizeof(token)))
                    walk(&c, token, (enum lks_role)role, &scopes[i]);
            }
        }
        check_few(&c);
        check_counts(&c);
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
}

static const struct {
    const char *name;
    enum lks_listener listener;
    const char *method, *path;
    const char *id;    /* NULL: none */
    const char *allow; /* then, if another method has the path */
    const char *named; /* by the path */
} finds[] = {
    {"exact", LKS_LISTENER_PEOPLE, "GET", "/v1/nodes", "nodes", "", ""},
    {"a parameter", LKS_LISTENER_PEOPLE, "GET", "/v1/nodes/gpu1", "node", "", "gpu1"},
    {"a host list", LKS_LISTENER_PEOPLE, "POST", "/v1/nodes/gpu[1-2]/hold", "holdNode", "",
     "gpu[1-2]"},
    {"below a parameter", LKS_LISTENER_PEOPLE, "GET", "/v1/nodes/gpu1/tuple", "nodeTuple", "",
     "gpu1"},
    {"other method", LKS_LISTENER_PEOPLE, "PATCH", "/v1/nodes/gpu1", NULL, "GET, DELETE", ""},
    {"a digest", LKS_LISTENER_PEOPLE, "GET", "/v1/stacks/sha256:00", "stack", "", "sha256:00"},
    {"a word where a name may be", LKS_LISTENER_PEOPLE, "POST", "/v1/sweeps/lease", "leaseSweeps",
     "", ""},
    {"a change's verb", LKS_LISTENER_PEOPLE, "POST", "/v1/changes/7/rollback", "rollBackChange", "",
     "7"},
    {"a change's nodes", LKS_LISTENER_PEOPLE, "GET", "/v1/changes/7/members", "changeMembers", "",
     "7"},
    {"no such verb", LKS_LISTENER_PEOPLE, "POST", "/v1/changes/7/stop", NULL, "", ""},
    {"a freeze is not deleted", LKS_LISTENER_PEOPLE, "DELETE", "/v1/freeze", NULL, "GET, POST", ""},
    {"unknown", LKS_LISTENER_PEOPLE, "GET", "/v1/nope", NULL, "", ""},
    {"too deep", LKS_LISTENER_PEOPLE, "GET", "/v1/nodes/gpu1/tuple/x", NULL, "", ""},
    {"empty parameter", LKS_LISTENER_PEOPLE, "GET", "/v1/nodes/", NULL, "", ""},
    {"only a beginning", LKS_LISTENER_PEOPLE, "GET", "/v1", NULL, "", ""},
    {"root", LKS_LISTENER_PEOPLE, "GET", "/", NULL, "", ""},
    {"agents' path for people", LKS_LISTENER_PEOPLE, "POST", "/v1/agent/beat", NULL, "", ""},
    {"people's path for agents", LKS_LISTENER_AGENTS, "GET", "/v1/nodes", NULL, "", ""},
    {"agents' path", LKS_LISTENER_AGENTS, "POST", "/v1/agent/beat", "beat", "", ""},
    {"case matters", LKS_LISTENER_PEOPLE, "get", "/v1/nodes", NULL, "GET", ""},
};

static void test_find(void)
{
    for (size_t i = 0; i < LKS_COUNT(finds); i++) {
        lks_test_case("%s", finds[i].name);
        struct lks_route_match m;
        lks_route_find(finds[i].listener, finds[i].method, finds[i].path, &m);
        CHECK_STR(lks_str_from(m.route != NULL ? m.route->id : ""),
                  finds[i].id != NULL ? finds[i].id : "");
        CHECK_STR(lks_str_from(m.allow), finds[i].id != NULL ? m.allow : finds[i].allow);
        CHECK(m.known_path == (m.route != NULL || finds[i].allow[0] != '\0'));
        CHECK_STR(m.named, finds[i].named);
    }
}

/* Whether the struct that a request decodes into starts with the places that it names. */
static bool has_places(const struct lks_form *form)
{
    static const char *const structs[] = {"lks_ask_admit", "lks_ask_change", "lks_ask_deviation",
                                          "lks_ask_flash", "lks_ask_freeze", "lks_ask_override"};
    bool has = false;
    for (size_t i = 0; form != NULL && i < LKS_COUNT(structs); i++)
        has |= strcmp(form->into, structs[i]) == 0;
    return has;
}

/* A request decodes into a struct, and each field into a member of its own. What OpenID providers
 * add to a login is ignored. */
static void check_request(const struct lks_form *form)
{
    CHECK(form->size > 0 && form->into != NULL);
    for (size_t i = 0; i < form->count; i++) {
        const struct lks_slot *slot = &form->fields[i].shape.to;
        lks_test_case("%s: %s", form->name, form->fields[i].key);
        CHECK(slot->kind != LKS_SLOT_NONE || form == &lks_query_login);
        for (size_t j = 0; j < i && slot->kind != LKS_SLOT_NONE; j++)
            CHECK(form->fields[j].shape.to.kind == LKS_SLOT_NONE ||
                  form->fields[j].shape.to.at != slot->at);
    }
}

/* Rules of the table itself. */
static void test_table(void)
{
    size_t open = 0;
    for (size_t i = 0; i < lks_route_count; i++) {
        const struct lks_route *r = &lks_routes[i];
        lks_test_case("%s %s", r->method, r->path);
        CHECK(route_called(r->id) == r); /* ids are unique */
        CHECK(r->handle != NULL && r->about[0] != '\0');
        CHECK((r->answer != NULL) != (r->answer_type != NULL));
        CHECK(r->body == NULL || (r->body_type == NULL && r->query == NULL));
        if (r->query != NULL || r->body != NULL)
            check_request(r->body != NULL ? r->body : r->query);
        bool in_body = r->scope == LKS_SCOPE_NODE || r->scope == LKS_SCOPE_ASKED ||
                       r->scope == LKS_SCOPE_WISH || r->scope == LKS_SCOPE_POOL;
        CHECK(in_body == has_places(r->body));
        bool large = (r->flags & LKS_ROUTE_LARGE) != 0; /* its limit is elsewhere */
        CHECK((r->body_max > 0 || large) == (r->body != NULL || r->body_type != NULL));
        CHECK((r->listener == LKS_LISTENER_AGENTS) == (r->scope == LKS_SCOPE_SELF));
        bool safe = strcmp(r->method, "GET") == 0;
        CHECK(!safe || (r->flags & LKS_ROUTE_WRITE) == 0);
        /* Too long for a path; and what a viewer's prolog counts, seldom and not much at once. */
        bool harmless = strcmp(r->id, "admit") == 0 || strcmp(r->id, "unanswered") == 0;
        CHECK(safe || harmless || r->permission != LKS_MAY_READ);
        CHECK(lks_authz_where(r->scope) != NULL);
        bool placeless = r->permission == LKS_MAY_NOTHING || r->permission == LKS_MAY_KNOW;
        CHECK((r->scope == LKS_SCOPE_NONE) == placeless); /* a forgotten scope checks nothing */
        open += r->permission == LKS_MAY_NOTHING;
    }
    CHECK_INT(open, 8); /* health, ready, and six that show something else than who asks */
}

static const struct lks_doc *operation_of(const struct lks_doc *api, const struct lks_route *r)
{
    char method[16];
    snprintf(method, sizeof(method), "%s", r->method);
    for (char *m = method; *m != '\0'; m++)
        *m = (char)(*m - 'A' + 'a');
    const struct lks_doc *paths = lks_doc_member(api, "paths");
    return lks_doc_member(lks_doc_member(paths, r->path), method);
}

/* Every reference leads somewhere. */
static void check_refs(const struct lks_doc *doc, const struct lks_doc *schemas)
{
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
        if (lks_str_is(item->key, "$ref")) {
            CHECK(lks_str_starts(item->text, "#/components/schemas/"));
            CHECK(lks_doc_find(schemas, lks_str_last(item->text, '/')) != NULL);
        }
        check_refs(item, schemas);
    }
}

/* Each status by its number: one for all others would document everything. */
static void check_statuses(const struct lks_doc *responses, const struct lks_route *r)
{
    for (const struct lks_doc *item = responses->first; item != NULL; item = item->next) {
        uint64_t status = 0;
        CHECK(lks_str_number(item->key, 599, &status) && status < 500 + 4);
        CHECK(lks_openapi_documents(r, (int)status));
    }
    CHECK(!lks_openapi_documents(r, 500) && !lks_openapi_documents(r, 418));
    CHECK(lks_openapi_documents(r, 401) == (lks_doc_member(responses, "401") != NULL));
}

static void test_openapi(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(ANSWER_MAX);
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    lks_openapi_json("1.2.3", &text);
    if (!CHECK_CODE(lks_docs_init(&docs, "openapi", &err), LKS_OK) ||
        !CHECK_CODE(lks_json_parse(lks_buf_view(&text), &docs, &err), LKS_OK))
        return;
    const struct lks_doc *api = docs.first;
    CHECK_STR(lks_doc_text(api, "openapi"), "3.1.0");
    size_t operations = 0, twins = 0;
    for (const struct lks_doc *p = lks_doc_member(api, "paths")->first; p != NULL; p = p->next)
        operations += p->count;
    for (size_t i = 0; i < lks_route_count; i++)
        twins += twin_of(&lks_routes[i]) != NULL;
    CHECK_INT(operations, lks_route_count - twins); /* none is there that is not in the table */
    for (size_t i = 0; i < lks_route_count; i++) {
        const struct lks_route *r = &lks_routes[i];
        lks_test_case("%s %s", r->method, r->path);
        const struct lks_doc *operation = operation_of(api, r);
        if (!CHECK(operation != NULL) || twin_of(r) != NULL)
            continue;
        CHECK_STR(lks_doc_text(operation, "operationId"), r->id);
        bool body = lks_doc_member(operation, "requestBody") != NULL;
        CHECK(body == (r->body != NULL || r->body_type != NULL));
        struct lks_field field;
        size_t params = 0;
        while (r->query != NULL && lks_schema_at(r->query, params, &field))
            params++;
        params += strchr(r->path, '{') != NULL;
        CHECK_INT(lks_doc_member(operation, "parameters")->count, params);
        CHECK((lks_doc_member(operation, "security")->count == 0) ==
              (r->permission == LKS_MAY_NOTHING));
        check_statuses(lks_doc_member(operation, "responses"), r);
    }
    check_refs(api, lks_doc_member(lks_doc_member(api, "components"), "schemas"));
}

static void test_reason(void)
{
    for (size_t over = 0; over < 2; over++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(ANSWER_MAX);
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        lks_test_case("%zu past it", over);
        lks_buf_addf(&text, "{\"reason\": \"");
        lks_buf_pad(&text, 'x', (ptrdiff_t)(LKS_REASON_MAX + over));
        lks_buf_addf(&text, "\"}");
        CHECK_CODE(lks_docs_init(&docs, "body", &err), LKS_OK);
        CHECK_CODE(lks_json_parse(lks_buf_view(&text), &docs, &err), LKS_OK);
        CHECK_CODE(lks_schema_check(&docs, docs.first, &lks_ask_reason, &err),
                   over == 0 ? LKS_OK : LKS_E_INVALID);
        CHECK_HAS(lks_str_from(err.msg),
                  over == 0 ? "" : "1025 bytes long; at most 1024 are allowed");
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"a reason is as long as the engine takes", test_reason},
        {"a path finds its route", test_find},
        {"rules of the table", test_table},
        {"OpenAPI has what the table has", test_openapi},
        {"every route, role and scope", test_walk},
        {0},
    };
    return lks_test_main(tests);
}
