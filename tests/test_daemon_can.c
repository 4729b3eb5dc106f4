/* `access can-i` and `whoami` against the real daemon: the answer to "may I" is the answer of the
 * act, for people, acts and places, and the command that it names gives what is missing. */
#include "tests/crew.h"
#include "tests/test.h"

#include <stdio.h>

#define WHY "{\"reason\":\"r\"}"

static const char config[] = "rate: {people_per_s: 100000, burst: 1000000}\n";

/* A change needs a stack that the pool should run: `serve` is more of the pool. */
#define FLEET(serve)                                                                               \
    "lockstep: 1\nkind: Fleet\nname: here\nsites: {east: {}, west: {}}\n"                          \
    "pools: {train: {posture: batch}, serve: {posture: batch" serve                                \
    "}, empty: {posture: batch}}\n"                                                                \
    "nodes:\n"                                                                                     \
    "  - {hosts: \"gpu[1-2]\", pool: train, class: hgx-h200-8, site: east}\n"                      \
    "  - {hosts: \"inf[1-2]\", pool: serve, class: hgx-h200-8, site: west}\n"                      \
    "  - {hosts: \"inf3\", pool: serve, class: hgx-h200-8, site: east}\n"

enum person { VIEWER, TRAIN, EAST, OPERATOR, APPROVER, ADMIN, PERSONS };

static const struct {
    const char *role, *pool, *site, *identity;
} people[PERSONS] = {
    [VIEWER] = {"viewer", "", NULL, "viewer-"},
    [TRAIN] = {"operator", "train", NULL, "operator-train"},
    [EAST] = {"operator", NULL, "east", "operator-east"},
    [OPERATOR] = {"operator", "", NULL, "operator-"},
    [APPROVER] = {"approver", "train", NULL, "approver-train"},
    [ADMIN] = {"admin", "", NULL, "admin-"},
};

struct scene {
    struct crew crew;
    struct lks_client *clients[PERSONS];
};

static bool scene_begin(struct scene *s)
{
    *s = (struct scene){0};
    if (!crew_begin(&s->crew, config) || !crew_fleet(&s->crew, FLEET("")))
        return false;
    for (size_t i = 0; i < PERSONS; i++) {
        s->clients[i] = people[i].site != NULL
                            ? crew_person_at(&s->crew, people[i].role, people[i].site)
                            : crew_person(&s->crew, people[i].role, people[i].pool);
        if (s->clients[i] == NULL)
            return false;
    }
    return true;
}

static void scene_end(struct scene *s)
{
    for (size_t i = 0; i < PERSONS; i++)
        lks_client_free(s->clients[i]);
    crew_end(&s->crew);
}

/* A person, the question, and the act: whether it is permitted. An act that is permitted may still
 * be refused for another reason, with another status than 403. */
#define HOLD(node)   "POST", "/v1/nodes/" node "/hold", WHY
#define FREEZE(more) "POST", "/v1/freeze", "{" more "\"reason\":\"r\"}"
#define PROPOSE(key, value)                                                                        \
    "POST", "/v1/changes", "{\"stack\":\"x\",\"" key "\":\"" value "\",\"reason\":\"r\"}"
static const struct row {
    const char *name;
    enum person who;
    const char *query;
    const char *method, *path, *body;
    bool yes;
} rows[] = {
    {"a viewer holds", VIEWER, "act=holdNode&name=gpu1", HOLD("gpu1"), false},
    {"a viewer reads", VIEWER, "act=node&name=gpu1", "GET", "/v1/nodes/gpu1", NULL, true},
    {"in their pool", TRAIN, "act=holdNode&name=gpu1", HOLD("gpu1"), true},
    {"in another pool", TRAIN, "act=holdNode&name=inf1", HOLD("inf1"), false},
    {"a list", TRAIN, "act=holdNode&name=gpu%5B1-2%5D", HOLD("gpu%5B1-2%5D"), true},
    {"a list over two pools", TRAIN, "act=holdNode&name=gpu1,inf1", HOLD("gpu1,inf1"), false},
    {"all of their pool", TRAIN, "act=holdNode&pool=train", HOLD("gpu%5B1-2%5D"), true},
    {"all of another pool", TRAIN, "act=holdNode&pool=serve", HOLD("inf%5B1-3%5D"), false},
    {"all nodes", TRAIN, "act=holdNode", HOLD("gpu%5B1-2%5D,inf%5B1-3%5D"), false},
    {"all of their pool, and none of another, is a site", TRAIN, "act=holdNode&site=east",
     HOLD("gpu%5B1-2%5D,inf3"), false},
    {"all of their site", EAST, "act=holdNode&site=east", HOLD("gpu%5B1-2%5D,inf3"), true},
    {"a pool that is all in their site", EAST, "act=holdNode&pool=train", HOLD("gpu%5B1-2%5D"),
     true},
    {"a pool that is partly in their site", EAST, "act=holdNode&pool=serve", HOLD("inf%5B1-3%5D"),
     false},
    {"the part of it", EAST, "act=holdNode&pool=serve&site=east", HOLD("inf3"), true},
    {"all nodes, by a role without a place", OPERATOR, "act=holdNode",
     HOLD("gpu%5B1-2%5D,inf%5B1-3%5D"), true},
    {"freeze their pool", TRAIN, "act=freeze&pool=train", FREEZE("\"pool\":\"train\","), true},
    {"freeze it by its name", TRAIN, "act=freeze&name=train", FREEZE("\"pool\":\"train\","), true},
    {"freeze another pool", TRAIN, "act=freeze&pool=serve", FREEZE("\"pool\":\"serve\","), false},
    {"freeze the fleet", TRAIN, "act=freeze", FREEZE(""), false},
    {"freeze a pool by a role at a site", EAST, "act=freeze&pool=train",
     FREEZE("\"pool\":\"train\","), false},
    {"unfreeze, as an operator", TRAIN, "act=unfreeze&pool=train", "POST", "/v1/unfreeze",
     "{\"pool\":\"train\",\"reason\":\"r\"}", false},
    {"unfreeze, as an approver", APPROVER, "act=unfreeze&pool=train", "POST", "/v1/unfreeze",
     "{\"pool\":\"train\",\"reason\":\"r\"}", true},
    {"propose for their pool", TRAIN, "act=propose&pool=train", PROPOSE("pool", "train"), true},
    {"propose for another", TRAIN, "act=propose&pool=serve", PROPOSE("pool", "serve"), false},
    {"propose for their site", EAST, "act=propose&site=east", PROPOSE("nodes", "gpu[1-2],inf3"),
     true},
    {"propose for another site", EAST, "act=propose&site=west", PROPOSE("nodes", "inf[1-2]"),
     false},
    {"propose for a node", EAST, "act=propose&name=inf3", PROPOSE("nodes", "inf3"), true},
    {"propose for the fleet", EAST, "act=propose", PROPOSE("nodes", "gpu[1-2],inf[1-3]"), false},
    {"the fleet's file, as an operator", OPERATOR, "act=grant", "POST", "/v1/access", "{}", false},
    {"the fleet's file, as an admin", ADMIN, "act=grant", "POST", "/v1/access", "{}", true},
    {"an admin does not approve", ADMIN, "act=unfreeze&pool=train", "POST", "/v1/unfreeze",
     "{\"pool\":\"train\",\"reason\":\"r\"}", false},
    {"a role for the fleet that is wanted, in a pool", TRAIN, "act=fleetManifest&pool=train", "GET",
     "/v1/fleet/manifest", NULL, false},
    {"a pool without nodes", TRAIN, "act=freeze&pool=empty", FREEZE("\"pool\":\"empty\","), false},
};

static void path_of(const struct row *row, const char *as, char out[256])
{
    (void)snprintf(out, 256, "/v1/access/can?%s%s%s", row->query, as[0] != '\0' ? "&identity=" : "",
                   as);
}

static bool can(struct scene *s, const struct row *row, const char *as, struct crew_told *t)
{
    char path[256];
    path_of(row, as, path);
    struct lks_client *who = as[0] != '\0' ? s->clients[ADMIN] : s->clients[row->who];
    return crew_fine(who, "can", path, NULL, t) && crew_truth(t, "yes");
}

static bool permits(struct scene *s, const struct row *row)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    return crew_ask(s->clients[row->who], row->method, row->path, row->body, &t) != 403;
}

/* The role, and "pool" and "site" behind it, of "lockstep access grant IDENTITY ROLE --pool NAME"
 * as a body of a grant; `gone` is the same as a query. */
static void grant_of(const struct crew_told *t, char body[256], char gone[256])
{
    struct lks_str command = crew_text(t, "command"), word;
    const char *key = NULL;
    size_t at = 0;
    int len = 0, past = 0;
    for (bool more = true; more; at++) {
        more = lks_str_cut(command, ' ', &word, &command);
        if (at == 3 || at == 4)
            key = at == 3 ? "identity" : "role";
        if (at < 3 || lks_str_starts(word, "--")) {
            key = lks_str_is(word, "--pool") ? "pool" : "site";
            continue;
        }
        len += snprintf(body + len, 256 - (size_t)len, "%s\"%s\":\"%" LKS_STR_FMT "\"",
                        len > 0 ? "," : "{", key, LKS_STR_ARG(word));
        past += snprintf(gone + past, 256 - (size_t)past, "%s%s=%" LKS_STR_FMT,
                         past > 0 ? "&" : "/v1/access?", key, LKS_STR_ARG(word));
    }
    (void)snprintf(body + len, 256 - (size_t)len, "}");
}

/* The command of a no gives exactly this: can-i and the act both change their answer. */
static void check_command(struct scene *s, const struct row *row, const struct crew_told *no)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char body[256], gone[256];
    if (!CHECK_HAS(crew_text(no, "command"), people[row->who].identity))
        return;
    if (lks_str_find(crew_text(no, "command"), LKS_STR("[")) >= 0)
        return; /* nodes of several pools, or that the asker does not see: the admin chooses */
    grant_of(no, body, gone);
    crew_fine(s->crew.root, "grant", "/v1/access", body, &t);
    CHECK(can(s, row, "", &t));
    CHECK(permits(s, row));
    CHECK_INT(crew_ask(s->crew.root, "DELETE", gone, NULL, &t), 200);
}

static void test_agrees(void)
{
    struct scene s;
    if (CHECK(scene_begin(&s))) {
        for (size_t i = 0; i < LKS_COUNT(rows); i++) {
            LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
            const struct row *row = &rows[i];
            lks_test_case("%s", row->name);
            CHECK(can(&s, row, people[row->who].identity, &t) == row->yes);
            CHECK(can(&s, row, "", &t) == row->yes);
            CHECK_STR(crew_text(&t, "identity"), people[row->who].identity);
            CHECK(permits(&s, row) == row->yes);
            CHECK((crew_text(&t, "command").len > 0) != row->yes);
            if (row->yes)
                CHECK_STR(lks_doc_text(crew_item(&t, "grants", 0), "role"), people[row->who].role);
            else
                check_command(&s, row, &t);
        }
    }
    scene_end(&s);
}

/* Questions that are none ------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum person who;
    const char *query;
    int status;
    const char *detail;
} questions[] = {
    {"an unknown act", TRAIN, "act=hold", 404, "there is no act 'hold'"},
    {"an act of agents", TRAIN, "act=beat", 404, "there is no act 'beat'"},
    {"an unknown node", OPERATOR, "act=holdNode&name=nope", 404, "no node 'nope'"},
    {"an unknown pool", OPERATOR, "act=holdNode&pool=nope", 404, "there is no pool 'nope'"},
    {"an unknown pool of an act for pools", OPERATOR, "act=freeze&pool=nope", 404,
     "no pool 'nope'"},
    {"an unknown pool, asked about a person who sees less", ADMIN,
     "act=holdNode&pool=trian&identity=operator-train", 404,
     "there is no pool 'trian'; did you mean 'train'?"},
    {"an unknown pool, to a viewer of the whole fleet", VIEWER, "act=holdNode&pool=nope", 404,
     "there is no pool 'nope'"},
    {"an unknown pool of an act for the fleet", ADMIN, "act=applyFleet&pool=nope", 404,
     "there is no pool 'nope'"},
    {"an unknown site", OPERATOR, "act=holdNode&site=nope", 404, "there is no site 'nope'"},
    {"an unknown site of a change", OPERATOR, "act=propose&site=nope", 404,
     "there is no site 'nope'"},
    {"a site of an act for pools", EAST, "act=freeze&site=east", 400, "not for a site"},
    {"an unknown change", OPERATOR, "act=startChange&name=99", 404, "there is no change '99'"},
    {"a name and a place", TRAIN, "act=holdNode&name=gpu1&pool=train", 400, "do not go with it"},
    {"about another person", OPERATOR, "act=node&identity=kim", 403, "needs the role admin"},
    {"without an act", OPERATOR, "", 400, "act"},
};

static void test_questions(void)
{
    struct scene s;
    if (CHECK(scene_begin(&s))) {
        for (size_t i = 0; i < LKS_COUNT(questions); i++) {
            char path[256];
            lks_test_case("%s", questions[i].name);
            (void)snprintf(path, sizeof(path), "/v1/access/can%s%s",
                           questions[i].query[0] != '\0' ? "?" : "", questions[i].query);
            crew_refused(s.clients[questions[i].who], "can", path, NULL, questions[i].status,
                         questions[i].detail);
        }
        /* A person who does not see the whole fleet does not learn what is there. */
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        lks_test_case("an unknown pool, to a person of one pool");
        crew_fine(s.clients[TRAIN], "can", "/v1/access/can?act=unfreeze&pool=nope", NULL, &t);
        CHECK(!crew_truth(&t, "yes"));
        lks_test_case("root on the socket");
        crew_fine(s.crew.root, "can", "/v1/access/can?act=applyFleet", NULL, &t);
        CHECK(crew_truth(&t, "yes") && crew_truth(&t, "root"));
        lks_test_case("root on the socket, asked about");
        crew_fine(s.clients[ADMIN], "can", "/v1/access/can?act=unfreeze&identity=unix:0", NULL, &t);
        CHECK(crew_truth(&t, "yes") && crew_truth(&t, "root"));
        lks_test_case("a user of the machine");
        crew_fine(s.clients[ADMIN], "can", "/v1/access/can?act=unfreeze&identity=unix:4711", NULL,
                  &t);
        CHECK(!crew_truth(&t, "yes"));
    }
    scene_end(&s);
}

/* The command of a refusal: a role for a pool is named where it can be enough. */
static const struct {
    const char *name;
    enum person who;
    const char *act, *path, *body, *detail;
} refusals[] = {
    {"of a node", VIEWER, "holdNode", "/v1/nodes/gpu1/hold", WHY,
     "lockstep access grant viewer- operator [--pool NAME]"},
    {"of a pool", TRAIN, "freeze", "/v1/freeze", "{\"pool\":\"serve\",\"reason\":\"r\"}",
     "lockstep access grant operator-train operator [--pool NAME]"},
    {"of the fleet", TRAIN, "freeze", "/v1/freeze", WHY,
     "lockstep access grant operator-train operator"},
    {"of a route for the fleet", OPERATOR, "grant", "/v1/access",
     "{\"identity\":\"kim\",\"role\":\"viewer\"}", "lockstep access grant operator- admin"},
};

static void test_refusals(void)
{
    struct scene s;
    if (CHECK(scene_begin(&s))) {
        for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
            LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
            lks_test_case("%s", refusals[i].name);
            CHECK_INT(crew_ask(s.clients[refusals[i].who], "POST", refusals[i].path,
                               refusals[i].body, &t),
                      403);
            struct lks_str detail = crew_text(&t, "detail");
            CHECK_INT(lks_str_find(detail, lks_str_from(refusals[i].detail)) +
                          (ptrdiff_t)strlen(refusals[i].detail),
                      (ptrdiff_t)detail.len);
        }
    }
    scene_end(&s);
}

/* A name that is no person's: the answer says so, and names the nearest one. */
static const struct {
    const char *name, *identity;
    bool unknown;
    const char *nearest;
} persons[] = {
    {"a person with a role", "operator-train", false, ""},
    {"a slip", "operator-trian", true, "operator-train"},
    {"the same person, written otherwise", "user:operator-east", true, "operator-east"},
    {"nobody", "kim", true, ""},
    {"a user of the machine", "unix:4711", false, ""},
};

static void test_persons(void)
{
    struct scene s;
    if (CHECK(scene_begin(&s))) {
        for (size_t i = 0; i < LKS_COUNT(persons); i++) {
            LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
            char path[256], body[256];
            lks_test_case("%s", persons[i].name);
            (void)snprintf(path, sizeof(path), "/v1/access/can?act=node&identity=%s",
                           persons[i].identity);
            crew_fine(s.clients[ADMIN], "can", path, NULL, &t);
            CHECK(crew_truth(&t, "unknown") == persons[i].unknown);
            CHECK_STR(crew_text(&t, "nearest"), persons[i].nearest);
            if (lks_str_starts(lks_str_from(persons[i].identity), "unix:"))
                continue;
            for (int again = 0; again < 2; again++) { /* with a token, a person is known */
                (void)snprintf(body, sizeof(body), "{\"id\":\"t%zu-%d\",\"identity\":\"%s\"}", i,
                               again, persons[i].identity);
                crew_fine(s.crew.root, "makeToken", "/v1/tokens", body, &t);
                CHECK(crew_truth(&t, "unknown") == (persons[i].unknown && again == 0));
            }
        }
    }
    scene_end(&s);
}

/* Things that are not seen ------------------------------------------------------------------- */

/* A thing at a place that the asker does not see, and one that is not there. */
static const struct {
    enum person who;
    const char *act, *unseen, *unknown, *role;
} hidden[] = {
    {TRAIN, "node", "inf1", "nope", "viewer"},
    {TRAIN, "holdNode", "inf1", "nope", "operator"},
    {TRAIN, "holdNode", "gpu1,inf1", "gpu1,nope", "operator"},
    {TRAIN, "propose", "inf%5B1-2%5D", "inf1,nope,inf2", "operator"},
    {TRAIN, "change", "1", "99", "viewer"},
    {TRAIN, "startChange", "1", "99", "operator"},
    {EAST, "node", "inf1", "nope", "viewer"},
};

/* Change 1, of nodes of serve. */
static bool make_change(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    static const char *const cooler[] = {"name: ", "name: cooler",
                                         "  power_limit_w: ", "  power_limit_w: 650", NULL};
    char digest[LKS_DIGEST_SIZE];
    return crew_release(&s->crew, digest) && crew_release_with(&s->crew, cooler, digest) &&
           crew_fleet(&s->crew, FLEET(", stack: golden")) &&
           crew_fine(s->crew.root, "propose", "/v1/changes",
                     "{\"stack\":\"cooler\",\"nodes\":\"inf[1-2]\",\"reason\":\"r\"}", &t) &&
           CHECK_INT(crew_number(&t, "id"), 1);
}

/* The answer tells neither the pool nor whether the thing is there. */
static void test_hidden(void)
{
    struct scene s;
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    if (CHECK(scene_begin(&s)) && CHECK(make_change(&s))) {
        for (size_t i = 0; i < LKS_COUNT(hidden); i++) {
            const char *names[] = {hidden[i].unseen, hidden[i].unknown};
            const char *identity = people[hidden[i].who].identity;
            for (size_t k = 0; k < LKS_COUNT(names); k++) {
                char path[256], command[256];
                (void)snprintf(path, sizeof(path), "/v1/access/can?act=%s&name=%s", hidden[i].act,
                               names[k]);
                (void)snprintf(command, sizeof(command),
                               "lockstep access grant %s %s [--pool NAME]", identity,
                               hidden[i].role);
                lks_test_case("%s: %s of %s", identity, hidden[i].act, names[k]);
                crew_fine(s.clients[hidden[i].who], "can", path, NULL, &t);
                CHECK(!crew_truth(&t, "yes"));
                CHECK_STR(crew_text(&t, "command"), command);
            }
        }
        lks_test_case("an asker who sees the node");
        crew_fine(s.clients[VIEWER], "can", "/v1/access/can?act=holdNode&name=inf1", NULL, &t);
        CHECK_STR(crew_text(&t, "command"), "lockstep access grant viewer- operator --pool serve");
    }
    scene_end(&s);
}

/* The act and its question: of what the caller does not see and of what is not there, answers have
 * the same status and the same text but for the name. */
#define REASON "{\"reason\":\"r\"}"
static const struct {
    const char *name;
    enum person who;
    const char *method, *unseen, *unknown; /* paths */
    const char *body_unseen, *body_unknown;
    int status;
} acts[] = {
    {"hold a node", TRAIN, "POST", "/v1/nodes/inf1/hold", "/v1/nodes/nope/hold", REASON, REASON,
     403},
    {"hold a list", TRAIN, "POST", "/v1/nodes/gpu1,inf1/hold", "/v1/nodes/gpu1,nope/hold", REASON,
     REASON, 403},
    {"read a node", TRAIN, "GET", "/v1/nodes/inf1", "/v1/nodes/nope", NULL, NULL, 403},
    {"read a report", EAST, "GET", "/v1/nodes/inf1/tuple", "/v1/nodes/inf8/tuple", NULL, NULL, 403},
    {"read a change", TRAIN, "GET", "/v1/changes/1", "/v1/changes/99", NULL, NULL, 403},
    {"start a change", TRAIN, "POST", "/v1/changes/1/start", "/v1/changes/99/start",
     "{\"reason\":\"r\",\"nodes\":2,\"gpus\":16}", "{\"reason\":\"r\",\"nodes\":2,\"gpus\":16}",
     403},
    {"freeze a pool", TRAIN, "POST", "/v1/freeze", "/v1/freeze",
     "{\"reason\":\"r\",\"pool\":\"serve\"}", "{\"reason\":\"r\",\"pool\":\"nope\"}", 403},
    {"propose for a node", TRAIN, "POST", "/v1/changes", "/v1/changes",
     "{\"stack\":\"x\",\"nodes\":\"inf1\",\"reason\":\"r\"}",
     "{\"stack\":\"x\",\"nodes\":\"nope\",\"reason\":\"r\"}", 403},
    {"propose for a pool", TRAIN, "POST", "/v1/changes", "/v1/changes",
     "{\"stack\":\"x\",\"pool\":\"serve\",\"reason\":\"r\"}",
     "{\"stack\":\"x\",\"pool\":\"nope\",\"reason\":\"r\"}", 403},
    {"a deviation", TRAIN, "POST", "/v1/deviations", "/v1/deviations",
     "{\"nodes\":\"inf1\",\"subject\":\"x\",\"owner\":\"o\",\"expires\":\"2099-01-01T00:00:00Z\","
     "\"reason\":\"r\"}",
     "{\"nodes\":\"nope\",\"subject\":\"x\",\"owner\":\"o\",\"expires\":\"2099-01-01T00:00:00Z\","
     "\"reason\":\"r\"}",
     403},
    {"nodes of a site", TRAIN, "GET", "/v1/nodes?site=west", "/v1/nodes?site=wast", NULL, NULL,
     404},
    {"nodes of a pool", TRAIN, "GET", "/v1/nodes?pool=serve", "/v1/nodes?pool=nope", NULL, NULL,
     404},
    {"drift of a pool", TRAIN, "GET", "/v1/drift?pool=serve", "/v1/drift?pool=nope", NULL, NULL,
     404},
    {"the past of a node", TRAIN, "GET", "/v1/journal/at?nodes=inf1&time=2026-11-15T03:37:00Z",
     "/v1/journal/at?nodes=nope&time=2026-11-15T03:37:00Z", NULL, NULL, 404},
    {"the past of a pool", TRAIN, "GET", "/v1/journal/at?pool=serve&time=2026-11-15T03:37:00Z",
     "/v1/journal/at?pool=nope&time=2026-11-15T03:37:00Z", NULL, NULL, 404},
    {"updates of a node", TRAIN, "GET", "/v1/flashes?node=inf1", "/v1/flashes?node=nope", NULL,
     NULL, 404},
};

/* The answer without the names. */
static void told_of(const struct crew_told *t, struct lks_buf *out)
{
    static const struct lks_str names[] = {LKS_STR_C("inf1"), LKS_STR_C("inf8"),
                                           LKS_STR_C("nope"), LKS_STR_C("serve"),
                                           LKS_STR_C("west"), LKS_STR_C("wast")};
    struct lks_str rest = crew_text(t, "detail");
    while (rest.len > 0) {
        size_t skipped = 0;
        for (size_t i = 0; i < LKS_COUNT(names); i++)
            skipped = lks_str_starts(rest, names[i].ptr) ? names[i].len : skipped;
        if (skipped == 0)
            lks_buf_addc(out, rest.ptr[0]);
        skipped += skipped == 0;
        rest = (struct lks_str){rest.ptr + skipped, rest.len - skipped};
    }
}

static void test_alike(void)
{
    struct scene s;
    if (CHECK(scene_begin(&s)) && CHECK(make_change(&s))) {
        for (size_t i = 0; i < LKS_COUNT(acts); i++) {
            LKS_CLEANUP(crew_told_fini) struct crew_told a = {0}, b = {0};
            LKS_CLEANUP(lks_buf_fini)
            struct lks_buf unseen = LKS_BUF(4096), unknown = LKS_BUF(4096);
            struct lks_client *who = s.clients[acts[i].who];
            lks_test_case("%s", acts[i].name);
            CHECK_INT(crew_ask(who, acts[i].method, acts[i].unseen, acts[i].body_unseen, &a),
                      acts[i].status);
            CHECK_INT(crew_ask(who, acts[i].method, acts[i].unknown, acts[i].body_unknown, &b),
                      acts[i].status);
            told_of(&a, &unseen);
            told_of(&b, &unknown);
            CHECK_STR(lks_buf_view(&unseen), lks_buf_view(&unknown).ptr);
        }
        lks_test_case("no other node is suggested");
        crew_refused(s.clients[TRAIN], "holdNode", "/v1/nodes/gpu11/hold", REASON, 403,
                     "; or there is no node 'gpu11': 'lockstep node ls' lists those that "
                     "operator-train may read");
        lks_test_case("a caller who sees all");
        crew_refused(s.clients[OPERATOR], "holdNode", "/v1/nodes/nope/hold", REASON, 404,
                     "there is no node 'nope'");
    }
    scene_end(&s);
}

/* Votes -------------------------------------------------------------------------------------- */

/* The person who proposed a change does not approve it, whatever their role is, and neither does
 * one whose credential the proposer made. */
static void test_votes(void)
{
    struct scene s;
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    if (!CHECK(scene_begin(&s)) || !CHECK(make_change(&s)))
        return;
    lks_test_case("an approver who proposed it");
    crew_fine(s.crew.root, "grant", "/v1/access",
              "{\"identity\":\"approver-train\",\"role\":\"operator\"}", &t);
    crew_fine(s.crew.root, "grant", "/v1/access",
              "{\"identity\":\"approver-train\",\"role\":\"approver\"}", &t);
    crew_fine(s.clients[APPROVER], "propose", "/v1/changes",
              "{\"stack\":\"cooler\",\"nodes\":\"inf3\",\"reason\":\"r\"}", &t);
    CHECK_INT(crew_number(&t, "id"), 2);
    crew_fine(s.clients[APPROVER], "can", "/v1/access/can?act=approveChange&name=2", NULL, &t);
    CHECK(!crew_truth(&t, "yes"));
    CHECK_HAS(crew_text(&t, "refused"), "approver-train proposed change 2");
    CHECK_STR(crew_text(&t, "command"), "");
    crew_refused(s.clients[APPROVER], "approveChange", "/v1/changes/2/approve", REASON, 409,
                 "approver-train proposed change 2");
    lks_test_case("asked by another person");
    crew_fine(s.clients[ADMIN], "can",
              "/v1/access/can?act=approveChange&name=2&identity=approver-train", NULL, &t);
    CHECK(!crew_truth(&t, "yes"));
    lks_test_case("as commands print it");
    const char *const line[] = {LKS_CLI_PROGRAM, "access",         "can-i",  "--server",
                                s.crew.c.socket, "approve",        "change", "2",
                                "--as",          "approver-train", NULL};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(1 << 16);
    CHECK_INT(ctl_run(line, &said), 1);
    CHECK_HAS(lks_buf_view(&said), "no: approver-train proposed change 2: another person has to");
    CHECK_HAS(lks_buf_view(&said), "by: approver");
    lks_test_case("a change of another person");
    crew_fine(s.clients[APPROVER], "can", "/v1/access/can?act=approveChange&name=1", NULL, &t);
    CHECK(crew_truth(&t, "yes"));
    crew_fine(s.clients[ADMIN], "can",
              "/v1/access/can?act=approveChange&name=1&identity=approver-train", NULL, &t);
    CHECK(crew_truth(&t, "yes"));
    lks_test_case("nothing was voted");
    crew_fine(s.clients[VIEWER], "change", "/v1/changes/1", NULL, &t);
    CHECK(crew_item(&t, "votes", 0) == NULL);
    scene_end(&s);
}

/* Commands ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *const words[8];
    int status;
    const char *said;
} commands[] = {
    {"a verb and an object", {"hold", "node", "--pool", "train"}, 0, "yes: unix:"},
    {"as the command is called", {"node", "hold", "gpu1"}, 0, "yes: unix:"},
    {"one word", {"freeze", "--pool", "serve"}, 0, "yes: unix:"},
    {"one word and a name", {"freeze", "serve"}, 0, "yes: unix:"},
    {"of another person",
     {"hold", "node", "gpu1", "--as", "operator-train"},
     0,
     "by: operator in pool train"},
    {"no, and the command",
     {"hold", "node", "inf1", "--as", "operator-train"},
     1,
     "an admin can run: lockstep access grant operator-train operator --pool serve"},
    {"no, and where yes",
     {"hold", "node", "inf1", "--as", "operator-train"},
     1,
     "elsewhere: operator in pool train"},
    {"a slip in the name of a person",
     {"hold", "node", "gpu1", "--as", "operator-trian"},
     1,
     "note: operator-trian has no role, token or certificate; did you mean 'operator-train'?"},
    {"no such pool",
     {"hold", "node", "--as", "operator-train", "--pool", "nope"},
     3,
     "there is no pool 'nope'"},
    {"no such command", {"hold", "nod"}, 2, "did you mean 'node hold'?"},
    {"a command that asks no server", {"lint", "stack"}, 2, "there is no command"},
    {"too many words", {"freeze", "a", "b"}, 2, "there is no command"},
    {"no such node", {"hold", "node", "nope"}, 3, "no node 'nope'"},
};

static void test_commands(void)
{
    struct scene s;
    if (CHECK(scene_begin(&s))) {
        for (size_t i = 0; i < LKS_COUNT(commands); i++) {
            LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(1 << 16);
            const char *line[16] = {LKS_CLI_PROGRAM, "access", "can-i", "--server",
                                    s.crew.c.socket};
            size_t count = 5;
            for (size_t k = 0; k < 8 && commands[i].words[k] != NULL; k++)
                line[count++] = commands[i].words[k];
            lks_test_case("%s", commands[i].name);
            CHECK_INT(ctl_run(line, &said), commands[i].status);
            CHECK_HAS(lks_buf_view(&said), commands[i].said);
        }
    }
    scene_end(&s);
}

static void test_whoami(void)
{
    struct scene s;
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    if (CHECK(scene_begin(&s))) {
        lks_test_case("the socket");
        crew_fine(s.crew.root, "whoami", "/v1/whoami", NULL, &t);
        CHECK_STR(crew_text(&t, "by"), "socket");
        CHECK_STR(crew_text(&t, "expires"), "");
        CHECK(crew_text(&t, "controller").len > 0);
        lks_test_case("a token");
        crew_fine(s.clients[TRAIN], "whoami", "/v1/whoami", NULL, &t);
        CHECK_STR(crew_text(&t, "by"), "token");
        CHECK_HAS(crew_text(&t, "credential"), "train");
        CHECK(crew_text(&t, "expires").len > 0);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(1 << 16);
        const char *const line[] = {LKS_CLI_PROGRAM, "whoami", "--server", s.crew.c.socket, NULL};
        lks_test_case("the command");
        CHECK_INT(ctl_run(line, &said), 0);
        CHECK_HAS(lks_buf_view(&said), "by its Unix socket");
        CHECK_HAS(lks_buf_view(&said), s.crew.c.socket);
    }
    scene_end(&s);
}

static void test_covered(void)
{
    crew_all_covered("daemon_can");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"the answer is that of the act", test_agrees},
        {"questions that are none", test_questions},
        {"things that the asker does not see", test_hidden},
        {"acts on what the caller does not see", test_alike},
        {"votes that are refused", test_votes},
        {"access can-i", test_commands},
        {"refusals by role", test_refusals},
        {"names that are no person's", test_persons},
        {"whoami", test_whoami},
        {"every route was asked", test_covered},
        {0},
    });
}
