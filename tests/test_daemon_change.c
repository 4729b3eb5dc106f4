/* Changes asked of the real daemon: proposed, approved by another person, started, steered, and
 * carried out by agents that the test plays. */
#include "codec/format/base64.h"
#include "tests/crew.h"
#include "tests/test.h"
#include "tests/tuples.h"
#include "tests/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { NODES = 3, TEXT_MAX = 1 << 20 };

#define AGENT_HEAD "Lockstep-Protocol: 1\r\n"
#define WATTS      "settings.power_limit_w@gpu *=650"

/* No yes stands for long, so that nodes leave use in a moment; waves are looked at as often as
 * nodes are heard. A change is for more nodes than one call may touch. */
static const char config[] =
    "rate: {people_per_s: 100000, burst: 1000000}\n"
    "limits: {heartbeat_ms: 100, late_ms: 30000, lost_ms: 120000, validity_ms: 100,\n"
    "         staleness_ms: 100, call_nodes: 2}\n";

static const char fleet[] =
    "lockstep: 1\nkind: Fleet\nname: here\nsites: {east: {}, west: {}}\n"
    "freezes: [{from: '2090-12-19', until: '2091-01-04', pools: [train], description: far}]\n"
    "pools:\n"
    "  train: {posture: batch, stack: golden}\n"
    "  serve: {posture: online-inference, stack: golden}\n"
    "nodes:\n"
    "  - {hosts: \"gpu[1-3]\", pool: train, class: hgx-h200-8, site: east}\n"
    "  - {hosts: \"inf[1-2]\", pool: serve, class: hgx-h200-8, site: west}\n";

struct scene {
    struct crew crew;
    struct lks_client *agents[NODES];
    struct lks_client *maker, *approver, *second, *other; /* of train, train, all, serve */
    uint64_t beats[NODES];
    bool changed[NODES]; /* it has the new setting */
    const char *outcome; /* of acceptance checks */
    char from[LKS_DIGEST_SIZE], to[LKS_DIGEST_SIZE];
};

static void name_of(size_t i, char out[16])
{
    snprintf(out, 16, "gpu%zu", i + 1);
}

/* The stack of the fleet with another power limit, published and released. */
static bool release_next(struct scene *s)
{
    static const char *const steps[] = {"lab", "canary", "released"};
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_str rest = lks_str_from(lks_test_node_stack), line;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        if (lks_str_starts(line, "name: "))
            line = LKS_STR("name: cooler");
        if (lks_str_starts(line, "  power_limit_w: "))
            line = LKS_STR("  power_limit_w: 650");
        lks_buf_add(&text, line);
        lks_buf_addc(&text, '\n');
    }
    if (!crew_fine(s->crew.admin, "publish", "/v1/stacks?reason=next", text.ptr, &t))
        return false;
    snprintf(s->to, sizeof(s->to), "%" LKS_STR_FMT, LKS_STR_ARG(crew_text(&t, "digest")));
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        char path[160], body[96];
        snprintf(path, sizeof(path), "/v1/stacks/%s/promote", s->to);
        snprintf(body, sizeof(body), "{\"to\":\"%s\",\"evidence\":\"ran a week\"}", steps[i]);
        if (!crew_fine(s->crew.root, "promote", path, body, &t))
            return false;
    }
    return true;
}

static bool scene_begin(struct scene *s)
{
    *s = (struct scene){.outcome = "done"};
    if (!crew_begin(&s->crew, config) || !crew_release(&s->crew, s->from) || !release_next(s) ||
        !crew_fleet(&s->crew, fleet))
        return false;
    for (size_t i = 0; i < NODES; i++) {
        char name[16];
        name_of(i, name);
        s->agents[i] = crew_enroll(&s->crew, name);
        if (s->agents[i] == NULL || !crew_report(s->agents[i], name, "", &s->beats[i]))
            return false;
    }
    s->maker = crew_person(&s->crew, "operator", "train");
    s->approver = crew_person(&s->crew, "approver", "train");
    s->second = crew_person(&s->crew, "approver", "");
    s->other = crew_person(&s->crew, "operator", "serve");
    return s->maker != NULL && s->approver != NULL && s->second != NULL && s->other != NULL;
}

static void scene_end(struct scene *s)
{
    for (size_t i = 0; i < NODES; i++)
        lks_client_free(s->agents[i]);
    lks_client_free(s->maker);
    lks_client_free(s->approver);
    lks_client_free(s->second);
    lks_client_free(s->other);
    crew_end(&s->crew);
}

static const char *path_of(uint64_t id, const char *verb)
{
    static char paths[4][96];
    static size_t at;
    char *path = paths[at++ % LKS_COUNT(paths)];
    snprintf(path, sizeof(paths[0]), "/v1/changes/%llu%s%s", (unsigned long long)id,
             verb[0] != '\0' && verb[0] != '?' ? "/" : "", verb);
    return path;
}

#define WHY "{\"reason\":\"r\"}"
/* How large a change is, as its starter repeats it. */
#define START(nodes, gpus) "{\"nodes\":" nodes ",\"gpus\":" gpus ",\"reason\":\"r\"}"

/* Refusals ----------------------------------------------------------------------------------- */

static const struct {
    const char *name, *body;
    int status;
    const char *detail;
} wishes[] = {
    {"neither nodes nor a pool", "{\"stack\":\"cooler\",\"reason\":\"r\"}", 400,
     "`nodes` or `pool`, one of them"},
    {"twice", "{\"stack\":\"cooler\",\"nodes\":\"gpu1\",\"pool\":\"train\",\"reason\":\"r\"}", 400,
     "`nodes` or `pool`, one of them"},
    {"no stack", "{\"nodes\":\"gpu1\",\"reason\":\"r\"}", 400, "stack"},
    {"no reason", "{\"stack\":\"cooler\",\"nodes\":\"gpu1\"}", 400, "reason"},
    {"no such stack", "{\"stack\":\"hotter\",\"nodes\":\"gpu1\",\"reason\":\"r\"}", 404, "hotter"},
    {"no such pool", "{\"stack\":\"cooler\",\"pool\":\"nope\",\"reason\":\"r\"}", 404,
     "there is no pool 'nope'"},
    {"no list", "{\"stack\":\"cooler\",\"nodes\":\"gpu[1\",\"reason\":\"r\"}", 400, "nodes"},
    {"no time",
     "{\"stack\":\"cooler\",\"nodes\":\"gpu1\",\"not_before\":\"noon\",\"reason\":\"r\"}", 400,
     "not_before"},
    {"too strong", "{\"stack\":\"cooler\",\"nodes\":\"gpu1\",\"strength\":4,\"reason\":\"r\"}", 400,
     "strength"},
    {"a hook that leads out",
     "{\"stack\":\"cooler\",\"nodes\":\"gpu1\",\"hook\":\"../x\",\"reason\":\"r\"}", 400,
     "body: hook: '../x' is not a name"},
};

static void check_wishes(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    for (size_t i = 0; i < LKS_COUNT(wishes); i++) {
        lks_test_case("%s", wishes[i].name);
        crew_refused(s->crew.root, "propose", "/v1/changes", wishes[i].body, wishes[i].status,
                     wishes[i].detail);
    }
    crew_refused(s->other, "propose", "/v1/changes",
                 "{\"stack\":\"cooler\",\"nodes\":\"gpu1\",\"reason\":\"r\"}", 403,
                 "may not operate");
    crew_refused(s->other, "propose", "/v1/changes",
                 "{\"stack\":\"cooler\",\"pool\":\"train\",\"reason\":\"r\"}", 403,
                 "may not operate");
    crew_refused(s->approver, "propose", "/v1/changes",
                 "{\"stack\":\"cooler\",\"pool\":\"train\",\"reason\":\"r\"}", 403,
                 "may not operate");
    crew_refused(s->crew.root, "change", path_of(77, ""), NULL, 404, "no change '77'");
    crew_refused(s->crew.root, "startChange", path_of(77, "start"),
                 "{\"nodes\":1,\"reason\":\"r\"}", 404, "no change '77'");
    crew_fine(s->crew.root, "changes", "/v1/changes", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 0);
}

/* Proposing ---------------------------------------------------------------------------------- */

static void check_plan(const struct crew_told *t)
{
    CHECK_INT(crew_number(t, "nodes"), NODES);
    CHECK_INT(crew_number(t, "gpus"), NODES * LKS_TEST_DEVICES);
    CHECK_INT(crew_number(t, "assets"), 0);
    CHECK(crew_number(t, "canaries") >= 1);
    CHECK(crew_count(t, "waves") >= 1);
    CHECK_STR(lks_doc_text(crew_item(t, "gates", 0), "gate"), "approval");
    CHECK_STR(lks_doc_text(crew_item(t, "gates", 1), "gate"), "hard failures");
    CHECK(crew_count(t, "recipes") >= 1);
    CHECK(crew_count(t, "orders") >= 1);
    CHECK_STR(crew_text(t, "kind"), "stack");
}

static uint64_t propose(struct scene *s, const char *stack, const char *more)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char body[256];
    snprintf(body, sizeof(body),
             "{\"stack\":\"%s\",\"pool\":\"train\",\"soak_seconds\":1,\"reason\":\"it is "
             "hot\"%s}",
             stack, more);
    if (!crew_fine(s->maker, "propose", "/v1/changes", body, &t))
        return 0;
    check_plan(&t);
    CHECK(!crew_truth(&t, "dry_run"));
    return (uint64_t)crew_number(&t, "id");
}

static void check_dry_run(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(s->maker, "propose", "/v1/changes",
              "{\"stack\":\"cooler\",\"nodes\":\"gpu[1-3]\",\"dry_run\":true,\"reason\":\"r\"}",
              &t);
    check_plan(&t);
    CHECK(crew_truth(&t, "dry_run"));
    CHECK_INT(crew_number(&t, "id"), -1);
    crew_fine(s->crew.root, "changes", "/v1/changes", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 0);
}

/* What executors are told is served as files are: to people and to agents, whole and in parts. */
static void check_orders(struct scene *s, uint64_t id)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf whole = LKS_BUF(TEXT_MAX);
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer part = {0};
    struct lks_err err = {0};
    char path[128], digest[LKS_DIGEST_SIZE];
    crew_fine(s->crew.root, "change", path_of(id, ""), NULL, &t);
    const struct lks_doc *order = crew_item(&t, "orders", 0);
    if (!CHECK(order != NULL))
        return;
    int64_t size = lks_doc_member(order, "size")->number;
    snprintf(path, sizeof(path), "/v1/artifacts/%" LKS_STR_FMT,
             LKS_STR_ARG(lks_doc_text(order, "digest")));
    CHECK_INT(crew_ask(s->crew.root, "GET", path, NULL, &t), 200);
    lks_buf_add(&whole, lks_buf_view(&t.answer.body));
    CHECK_INT(whole.len, size);
    CHECK_CODE(lks_digest_text(lks_buf_view(&whole), digest, &err), LKS_OK);
    CHECK_HAS(lks_str_from(path), digest);
    CHECK_CODE(lks_client_exchange(s->agents[0], "GET", path, NULL, LKS_STR(""),
                                   AGENT_HEAD "Range: bytes=2-\r\n", &part, &err),
               LKS_OK);
    CHECK_INT(part.status, 206);
    CHECK(lks_str_eq(lks_buf_view(&part.body), (struct lks_str){whole.ptr + 2, whole.len - 2}));
}

/* Approving and starting ----------------------------------------------------------------------- */

static void check_state(struct scene *s, uint64_t id, const char *state)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(s->maker, "change", path_of(id, "?plan=false"), NULL, &t);
    CHECK_STR(crew_text(&t, "state"), state);
    CHECK_INT(crew_count(&t, "recipes"), 0);
}

static void move(struct scene *s, struct lks_client *who, uint64_t id, const char *route,
                 const char *verb, const char *state)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(who, route, path_of(id, verb), WHY, &t);
    CHECK_STR(crew_text(&t, "state"), state);
    CHECK_INT(crew_number(&t, "id"), (int64_t)id);
    CHECK_INT(crew_number(&t, "nodes"), NODES);
    CHECK_INT(crew_number(&t, "gpus"), NODES * LKS_TEST_DEVICES);
    check_state(s, id, state);
}

/* Two of them are a board; what one of them says and takes back counts no more. */
static void approve(struct scene *s, uint64_t id)
{
    move(s, s->approver, id, "approveChange", "approve", "proposed");
    move(s, s->approver, id, "withdrawApproval", "withdraw", "proposed");
    move(s, s->second, id, "approveChange", "approve", "proposed");
    move(s, s->approver, id, "approveChange", "approve", "approved");
}

/* The proposer does not approve, whatever their role; others without the role are refused. */
static void check_votes(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(s->crew.root, "propose", "/v1/changes",
              "{\"stack\":\"cooler\",\"pool\":\"train\",\"reason\":\"mine\"}", &t);
    uint64_t id = (uint64_t)crew_number(&t, "id");
    crew_refused(s->crew.root, "approveChange", path_of(id, "approve"), WHY, 409, "another person");
    crew_refused(s->maker, "approveChange", path_of(id, "approve"), WHY, 403, "may not approve");
    crew_refused(s->other, "change", path_of(id, ""), NULL, 403, "may not read");
    crew_refused(s->other, "abortChange", path_of(id, "abort"), WHY, 403, "may not operate");
    crew_refused(s->maker, "startChange", path_of(id, "start"), START("3", "24"), 409, "approve");
    move(s, s->approver, id, "rejectChange", "reject", "rejected");
    crew_refused(s->approver, "approveChange", path_of(id, "approve"), WHY, 409, "rejected");
    crew_fine(s->other, "changes", "/v1/changes", NULL, &t); /* not theirs to see */
    CHECK_INT(crew_count(&t, "items"), 0);
    crew_fine(s->maker, "changes", "/v1/changes?open=true", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 0);
    crew_fine(s->maker, "changes", "/v1/changes?state=rejected", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 1);
}

/* Two of three nodes drift after the approvals: the change shows why it cannot start, until the
 * nodes are as they were. */
static void check_barred(struct scene *s)
{
    static const char *const readings[] = {"settings.power_limit_w@gpu *=600", ""};
    static const char *const why[] = {"2 nodes drifted since change ", ""};
    uint64_t id = propose(s, "cooler", "");
    approve(s, id);
    for (size_t k = 0; k < LKS_COUNT(readings); k++) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        for (size_t i = 0; i < 2; i++) {
            char name[16];
            name_of(i, name);
            CHECK(crew_report(s->agents[i], name, readings[k], &s->beats[i]));
        }
        crew_fine(s->maker, "change", path_of(id, ""), NULL, &t);
        CHECK_HAS(crew_text(&t, "cannot_start"), why[k]);
        CHECK_INT(crew_text(&t, "cannot_start").len > 0, k == 0);
        if (k == 0)
            crew_refused(s->maker, "startChange", path_of(id, "start"), START("3", "24"), 409,
                         "start: 2 nodes drifted since change ");
    }
    move(s, s->maker, id, "abortChange", "abort", "aborted");
}

static void check_start(struct scene *s, uint64_t id)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_refused(s->maker, "startChange", path_of(id, "start"), WHY, 400, "nodes");
    crew_refused(s->maker, "startChange", path_of(id, "start"), "{\"nodes\":3,\"reason\":\"r\"}",
                 400, "gpus");
    crew_refused(s->maker, "startChange", path_of(id, "start"), START("2", "24"), 409,
                 "is for 3 nodes with 24 GPUs, and 2 nodes were confirmed");
    crew_refused(s->maker, "startChange", path_of(id, "start"), START("3", "0"), 409,
                 "is for 3 nodes with 24 GPUs, and 0 GPUs were confirmed");
    crew_fine(s->maker, "startChange", path_of(id, "start"), START("3", "24"), &t);
    CHECK_STR(crew_text(&t, "state"), "running");
    CHECK_INT(crew_number(&t, "nodes"), NODES);
    CHECK(crew_truth(&t, "frozen")); /* by check_freeze() */
}

/* Agents --------------------------------------------------------------------------------------- */

static bool report(struct scene *s, size_t i)
{
    char name[16];
    name_of(i, name);
    return crew_report(s->agents[i], name, s->changed[i] ? WATTS : "", &s->beats[i]);
}

/* What the agent is asked for, without looking at its signature. */
static bool read_command(struct lks_str envelope, struct lks_docs *docs, uint64_t *id,
                         struct lks_str *executor)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs outer = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf payload = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_docs_init(&outer, "envelope", &err), LKS_OK) ||
        !CHECK_CODE(lks_json_parse(envelope, &outer, &err), LKS_OK) ||
        !CHECK_CODE(lks_base64_read(lks_doc_text(outer.first, "payload"), &payload, &err),
                    LKS_OK) ||
        !CHECK_CODE(lks_docs_init(docs, "command", &err), LKS_OK) ||
        !CHECK_CODE(lks_json_parse(lks_buf_view(&payload), docs, &err), LKS_OK))
        return false;
    *id = (uint64_t)lks_doc_member(docs->first, "id")->number;
    *executor = lks_doc_text(docs->first, "executor");
    return true;
}

/* Do it, and say so. The order of the settings goes one way and then the other. */
static void obey(struct scene *s, size_t i, struct lks_str envelope)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer told = {0};
    struct lks_str executor = {0};
    struct lks_err err = {0};
    uint64_t id = 0;
    char body[96];
    if (!read_command(envelope, &docs, &id, &executor))
        return;
    bool sets = lks_str_is(executor, "settings");
    const char *outcome = lks_str_is(executor, "accept") ? s->outcome : "done";
    if (sets)
        s->changed[i] = !s->changed[i];
    if (sets || lks_str_is(executor, "inventory"))
        report(s, i);
    snprintf(body, sizeof(body), "{\"id\":%llu,\"outcome\":\"%s\"}", (unsigned long long)id,
             outcome);
    CHECK_CODE(lks_client_exchange(s->agents[i], "POST", "/v1/agent/result", "application/json",
                                   lks_str_from(body), AGENT_HEAD, &told, &err),
               LKS_OK);
    CHECK_INT(told.status, 200);
}

/* Each agent fetches what waits for it, and does it. */
static void play(struct scene *s)
{
    for (size_t i = 0; i < NODES; i++) {
        LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer mail = {0};
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        if (!report(s, i) ||
            !CHECK_CODE(lks_client_exchange(s->agents[i], "GET", "/v1/agent/mail", NULL,
                                            LKS_STR(""), AGENT_HEAD, &mail, &err),
                        LKS_OK) ||
            !CHECK_CODE(lks_docs_init(&docs, "mail", &err), LKS_OK) ||
            !CHECK_CODE(lks_json_parse(lks_buf_view(&mail.body), &docs, &err), LKS_OK))
            return;
        const struct lks_doc *commands = lks_doc_member(docs.first, "commands");
        for (const struct lks_doc *c = commands != NULL ? commands->first : NULL; c != NULL;
             c = c->next)
            obey(s, i, c->text);
    }
}

/* A node with a command of the change gets it with its very next heartbeat. */
static void check_told(struct scene *s, uint64_t id)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char name[16];
    for (struct lks_wait w = {0}; crew_count(&t, "items") == 0 && lks_wait(&w);)
        crew_fine(s->maker, "changeMembers", path_of(id, "members?state=reading"), NULL, &t);
    if (!CHECK(crew_count(&t, "items") > 0))
        return;
    struct lks_str first = lks_doc_text(crew_item(&t, "items", 0), "node");
    size_t at = NODES;
    do
        name_of(--at, name);
    while (at > 0 && !lks_str_is(first, name));
    crew_beat(s->agents[at], &s->beats[at], &t);
    CHECK(crew_truth(&t, "mail"));
}

/* Until the change stands so; false is a failed check. */
static bool play_until(struct scene *s, uint64_t id, const char *state, struct crew_told *t)
{
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (!crew_fine(s->maker, "change", path_of(id, "?plan=false"), NULL, t))
            return false;
        if (lks_str_is(crew_text(t, "state"), state))
            return true;
        play(s);
    }
    return CHECK_STR(crew_text(t, "state"), state);
}

/* The whole --------------------------------------------------------------------------------------
 */

static void check_members(struct scene *s, uint64_t id)
{
    static const struct {
        const char *query;
        size_t items;
        const char *next;
    } rows[] = {
        {"members", NODES, ""},        {"members?state=pending", NODES, ""},
        {"members?state=done", 0, ""}, {"members?wave=4000", 0, ""},
        {"members?limit=2", 2, "2"},   {"members?limit=2&after=2", 1, ""},
        {"members?after=99", 0, ""},
    };
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        crew_fine(s->maker, "changeMembers", path_of(id, rows[i].query), NULL, &t);
        CHECK_INT(crew_count(&t, "items"), rows[i].items);
        CHECK_STR(crew_text(&t, "next"), rows[i].next);
    }
    crew_refused(s->maker, "changeMembers", path_of(id, "members?state=odd"), NULL, 400, "state");
    crew_refused(s->maker, "moveMembers", path_of(id, "members"),
                 "{\"nodes\":\"gpu1\",\"act\":\"forget\",\"reason\":\"r\"}", 400, "act");
    crew_refused(s->maker, "moveMembers", path_of(id, "members"),
                 "{\"nodes\":\"inf1\",\"act\":\"again\",\"reason\":\"r\"}", 404, "inf1");
    crew_refused(s->maker, "skipMembers", path_of(id, "skip"), "{\"reason\":\"r\"}", 400, "nodes");
    crew_refused(s->maker, "skipMembers", path_of(id, "skip"),
                 "{\"nodes\":\"gpu1\",\"reason\":\"r\"}", 409, "change");
    crew_fine(s->maker, "change", path_of(id, "?plan=false"), NULL, &t);
    CHECK_INT(crew_count(&t, "waits"), 0);
}

/* Everything that people and programs see of it, once it is done. */
static void check_done(struct scene *s, uint64_t id)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(s->maker, "changeMembers", path_of(id, "members?state=done"), NULL, &t);
    CHECK_INT(crew_count(&t, "items"), NODES);
    crew_fine(s->crew.root, "proven", "/v1/proven", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 1);
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "to"), s->to);
    crew_fine(s->other, "proven", "/v1/proven", NULL, &t); /* by a node they do not see */
    CHECK_INT(crew_count(&t, "items"), 0);
    CHECK_INT(crew_ask(s->crew.root, "GET", "/v1/journal", NULL, &t), 200);
    CHECK_HAS(lks_buf_view(&t.answer.body), "\"kind\":\"change-voted\"");
    CHECK_HAS(lks_buf_view(&t.answer.body), "\"kind\":\"member\"");
    CHECK_HAS(lks_buf_view(&t.answer.body), "\"kind\":\"wave\"");
    CHECK_INT(crew_ask(s->crew.root, "GET", "/metrics", NULL, &t), 200);
    CHECK_HAS(lks_buf_view(&t.answer.body), "lockstep_changes{state=\"done\"} 1\n");
    CHECK_HAS(lks_buf_view(&t.answer.body), "lockstep_changes{state=\"running\"} 0\n");
    for (size_t i = 0; i < NODES; i++)
        CHECK(s->changed[i]);
    crew_fine(s->crew.root, "pools", "/v1/pools", NULL, &t);
    for (size_t i = 0; i < crew_count(&t, "items"); i++) {
        const struct lks_doc *pool = crew_item(&t, "items", i);
        bool train = lks_str_is(lks_doc_text(pool, "name"), "train");
        CHECK_STR(lks_doc_text(pool, "stack_digest"), train ? s->to : s->from);
    }
}

static void check_freeze(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_refused(s->maker, "freeze", "/v1/freeze", WHY, 403, "may not operate");
    crew_refused(s->maker, "freeze", "/v1/freeze", "{\"pool\":\"nope\",\"reason\":\"r\"}", 403,
                 "may not operate");
    crew_refused(s->maker, "freeze", "/v1/freeze", "{\"pool\":\"train\"}", 400, "reason");
    crew_fine(s->maker, "freeze", "/v1/freeze", "{\"pool\":\"train\",\"reason\":\"heat\"}", &t);
    CHECK(!crew_truth(&t, "already"));
    crew_fine(s->maker, "freeze", "/v1/freeze", "{\"pool\":\"train\",\"reason\":\"dust\"}", &t);
    CHECK(crew_truth(&t, "already"));
    CHECK_STR(crew_text(&t, "reason"), "heat");
    CHECK(crew_text(&t, "by").len > 0 && crew_text(&t, "since").len > 0);
    crew_fine(s->maker, "frozen", "/v1/freeze", NULL, &t);
    CHECK(!crew_truth(&t, "frozen"));
    CHECK_STR(lks_doc_text(crew_item(&t, "pools", 0), "reason"), "heat");
    CHECK(lks_doc_text(crew_item(&t, "pools", 0), "since").len > 0);
    CHECK_STR(lks_doc_text(crew_item(&t, "days", 0), "from"), "2090-12-19");
    CHECK_STR(lks_doc_text(crew_item(&t, "days", 0), "description"), "far");
    crew_fine(s->other, "frozen", "/v1/freeze", NULL, &t);
    CHECK_INT(crew_count(&t, "pools"), 0);
    CHECK_INT(crew_count(&t, "days"), 0);
    crew_fine(s->crew.root, "freeze", "/v1/freeze", "{\"reason\":\"storm\"}", &t);
    CHECK(!crew_truth(&t, "already"));
    crew_fine(s->crew.root, "freeze", "/v1/freeze", "{\"reason\":\"flood\"}", &t);
    CHECK(crew_truth(&t, "already"));
    crew_fine(s->other, "frozen", "/v1/freeze", NULL, &t); /* of all: that concerns everyone */
    CHECK(crew_truth(&t, "frozen"));
    CHECK_STR(crew_text(&t, "reason"), "storm");
    CHECK_INT(crew_ask(s->crew.root, "GET", "/metrics", NULL, &t), 200);
    CHECK_HAS(lks_buf_view(&t.answer.body), "lockstep_frozen 1\n");
    CHECK_HAS(lks_buf_view(&t.answer.body), "lockstep_pool_frozen{pool=\"train\"} 1\n");
}

static void check_unfreeze(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_refused(s->maker, "unfreeze", "/v1/unfreeze", "{\"pool\":\"train\",\"reason\":\"r\"}", 403,
                 "may not approve");
    crew_refused(s->approver, "unfreeze", "/v1/unfreeze", WHY, 403, "may not approve");
    crew_fine(s->crew.root, "unfreeze", "/v1/unfreeze", WHY, &t);
    crew_fine(s->approver, "unfreeze", "/v1/unfreeze", "{\"pool\":\"train\",\"reason\":\"r\"}", &t);
    crew_fine(s->crew.root, "frozen", "/v1/freeze", NULL, &t);
    CHECK(!crew_truth(&t, "frozen"));
    CHECK_INT(crew_count(&t, "pools"), 0);
}

/* No node starts while it is frozen; then the change goes through. */
static void check_whole(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    uint64_t id = propose(s, "cooler", "");
    check_orders(s, id);
    check_members(s, id);
    approve(s, id);
    check_freeze(s);
    check_start(s, id);
    crew_fine(s->maker, "change", path_of(id, ""), NULL, &t);
    CHECK(crew_truth(&t, "frozen"));
    CHECK_INT(crew_count(&t, "votes"), 2);
    CHECK_STR(crew_text(&t, "class"), "routine");
    CHECK_INT(crew_number(&t, "quorum"), 2);
    for (int i = 0; i < 10; i++)
        play(s);
    crew_fine(s->maker, "changeMembers", path_of(id, "members?state=pending"), NULL, &t);
    CHECK_INT(crew_count(&t, "items"), NODES);
    move(s, s->maker, id, "pauseChange", "pause", "paused");
    check_unfreeze(s);
    move(s, s->maker, id, "resumeChange", "resume", "running");
    check_told(s, id);
    play(s);
    CHECK_INT(crew_ask(s->crew.root, "GET", "/metrics", NULL, &t), 200);
    CHECK_HAS(lks_buf_view(&t.answer.body), "lockstep_changes{state=\"running\"} 1\n");
    CHECK_HAS(lks_buf_view(&t.answer.body), "lockstep_change_waves{change=\"");
    if (play_until(s, id, "done", &t))
        check_done(s, id);
}

/* Until the node's agent was told to set something; false is a failed check. */
static bool play_first(struct scene *s)
{
    bool before = s->changed[0];
    for (struct lks_wait w = {0}; s->changed[0] == before && lks_wait(&w);)
        play(s);
    return CHECK(s->changed[0] != before);
}

static void check_waive(struct scene *s, uint64_t id)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char body[160], at[LKS_TIME_TEXT_SIZE];
    snprintf(body, sizeof(body),
             "{\"gate\":\"soak\",\"until\":\"%s\",\"reason\":\"the lab ran a month\"}",
             lks_time_text(((lks_ms)time(NULL) + 3600) * LKS_SECOND, at));
    crew_refused(s->maker, "waiveGate", path_of(id, "waive"), body, 403, "may not approve");
    crew_fine(s->second, "waiveGate", path_of(id, "waive"), body, &t);
    crew_fine(s->maker, "change", path_of(id, "?plan=false"), NULL, &t);
    CHECK_INT(crew_count(&t, "waived"), 1);
}

/* It began without approvals: an alarm says so until another person reviewed it. */
static void check_glass(struct scene *s, uint64_t id)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(s->maker, "alarms", "/v1/alarms?open=true", NULL, &t);
    CHECK_HAS(lks_buf_view(&t.answer.body), "\"kind\":\"break-glass\"");
    crew_fine(s->maker, "change", path_of(id, ""), NULL, &t);
    CHECK_HAS(lks_buf_view(&t.answer.body), "\"break_glass\":{\"at\":\"");
    crew_refused(s->maker, "reviewChange", path_of(id, "review"), WHY, 403, "may not approve");
    crew_refused(s->second, "waiveGate", path_of(id, "waive"),
                 "{\"gate\":\"hard failures\",\"until\":\"2999-01-01T00:00:00Z\",\"reason\":\"r\"}",
                 409, "'hard failures' cannot be waived");
    crew_refused(s->second, "waiveGate", path_of(id, "waive"),
                 "{\"gate\":\"soak\",\"until\":\"2999-01-01T00:00:00Z\",\"reason\":\"r\"}", 400,
                 "at most 7 days");
    check_waive(s, id);
    move(s, s->second, id, "reviewChange", "review", "running");
    crew_fine(s->maker, "alarms", "/v1/alarms?open=true", NULL, &t);
    CHECK(lks_str_find(lks_buf_view(&t.answer.body), LKS_STR("break-glass")) < 0);
}

static void say(struct scene *s, const char *const *words, const char *has)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(TEXT_MAX);
    const char *argv[CTL_ARGS_MAX] = {LKS_CLI_PROGRAM};
    size_t count = 1;
    for (; words[count - 1] != NULL; count++)
        argv[count] = words[count - 1];
    argv[count++] = "--server";
    argv[count] = s->crew.c.socket;
    if (!CHECK_INT(ctl_run(argv, &said), 0) || !CHECK_HAS(lks_buf_view(&said), has))
        printf("%s\n", said.ptr);
}

#define FORECAST(runs, took_low, gpu_hours_middle, reached)                                        \
    "{\"runs\":" runs ",\"took_low_ms\":" took_low ",\"took_middle_ms\":2700000,"                  \
    "\"took_high_ms\":23400000,\"gpu_hours_low\":1,\"gpu_hours_middle\":" gpu_hours_middle         \
    ",\"gpu_hours_high\":3,\"kept_high\":0,\"reached_high\":" reached "}"

static const struct {
    const char *body, *refused;
} forecasts[] = {
    {FORECAST("0", "90400", "2", "1"), "a forecast has at least 1"},
    {FORECAST("100", "2700001", "2", "1"), "took_low_ms is above took_middle_ms"},
    {FORECAST("100", "90400", "4", "1"), "gpu_hours_middle is above gpu_hours_high"},
    {FORECAST("100", "90400", "0", "1"), "gpu_hours_low is above gpu_hours_middle"},
    {FORECAST("100", "90400", "2", "4000000"),
     "reached_high is above the number of nodes in the change"},
};

/* What a rehearsal came to is kept before it begins, and stands beside what came. */
static void check_forecast(struct scene *s, uint64_t id)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    for (size_t i = 0; i < LKS_COUNT(forecasts); i++)
        crew_refused(s->maker, "forecastChange", path_of(id, "forecast"), forecasts[i].body, 400,
                     forecasts[i].refused);
    crew_fine(s->maker, "forecastChange", path_of(id, "forecast"),
              FORECAST("100", "90400", "2", "1"), &t);
    crew_fine(s->maker, "change", path_of(id, ""), NULL, &t);
    CHECK_HAS(lks_buf_view(&t.answer.body), "\"forecast\":{\"runs\":100,\"took_low_ms\":90400,");
    CHECK_HAS(lks_buf_view(&t.answer.body), "\"actual_kept\":0}");
    char number[24];
    snprintf(number, sizeof(number), "%llu", (unsigned long long)id);
    static const char *const times[] = {"90 s", "45 min", "6.5 h"};
    for (size_t i = 0; i < LKS_COUNT(times); i++)
        say(s, (const char *[]){"change", "show", number, NULL}, times[i]);
}

/* A person elsewhere rehearses it on a copy of what lockstepd knows, and has the forecast kept. */
static void check_rehearsal(struct scene *s, uint64_t id)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char number[24], path[160];
    snprintf(number, sizeof(number), "%llu", (unsigned long long)id);
    crew_refused(s->maker, "journalState", "/v1/journal/state", NULL, 403, "may not read");
    crew_fine(s->crew.admin, "journalState", "/v1/journal/state", NULL, &t);
    crew_refused(s->crew.admin, "journalManifest", "/v1/journal/manifests/sha256%3Ano", NULL, 404,
                 "has a manifest of this digest");
    snprintf(path, sizeof(path), "/v1/stacks/%s", s->to);
    crew_fine(s->crew.admin, "stack", path, NULL, &t);
    snprintf(path, sizeof(path), "/v1/journal/manifests/%" LKS_STR_FMT,
             LKS_STR_ARG(crew_text(&t, "manifest")));
    crew_fine(s->crew.admin, "journalManifest", path, NULL, &t);
    CHECK_HAS(lks_buf_view(&t.answer.body), "name: cooler");
    say(s, (const char *[]){"rehearse", number, "--seeds", "4", "--keep", NULL},
        "3 nodes, 24 GPUs to golden");
    crew_fine(s->maker, "change", path_of(id, ""), NULL, &t);
    CHECK_HAS(lks_buf_view(&t.answer.body), "\"forecast\":{\"runs\":3,"); /* one had a bad image */
    say(s, (const char *[]){"change", "show", number, NULL}, "rehearsed");
}

/* What did not get onto a full disk is told with the cause. */
static void check_full(struct scene *s, uint64_t id)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(TEXT_MAX);
    char number[24];
    snprintf(number, sizeof(number), "%llu", (unsigned long long)id);
    const char *const argv[] = {"/bin/sh",
                                "-c",
                                "\"$0\" change procedure \"$1\" --server \"$2\" >/dev/full",
                                LKS_CLI_PROGRAM,
                                number,
                                s->crew.c.socket,
                                NULL};
    CHECK_INT(ctl_run(argv, &said), 6);
    CHECK_HAS(lks_buf_view(&said), "lockstep: cannot write the answer: No space left on device");
}

/* What the board reads: the same whenever it is asked, and for both kinds of readers. */
static void check_procedure(struct scene *s, uint64_t id)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(crew_told_fini) struct crew_told again = {0};
    crew_fine(s->maker, "changeProcedure", path_of(id, "procedure?gpu_hour=2.5%20EUR"), NULL, &t);
    CHECK_HAS(lks_buf_view(&t.answer.body), "\"rehearsed\":true,\"runs\":100,");
    CHECK_HAS(lks_buf_view(&t.answer.body), "\"gpu_hours\":2,\"money\":\"5 EUR\"}");
    CHECK_HAS(lks_buf_view(&t.answer.body), "\"needed\":2,\"given\":0,");
    crew_fine(s->maker, "changePaper", path_of(id, "procedure.md"), NULL, &t);
    CHECK_HAS(lks_buf_view(&t.answer.body), "# Method of procedure: change ");
    crew_fine(s->maker, "changePaper", path_of(id, "procedure.md"), NULL, &again);
    CHECK(lks_str_eq(lks_buf_view(&t.answer.body), lks_buf_view(&again.answer.body)));
    crew_refused(s->maker, "changePaper", path_of(id, "procedure.md?gpu_hour=much"), NULL, 400,
                 "gpu_hour: no price such as '2.5 EUR'");
}

/* The way back to the stack before, as another change. A node that is not accepted waits to be
 * tried again when a person takes the change back: who was reached has what it had. */
static void check_back(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    uint64_t id = propose(s, "golden", ",\"rolls_back\":true");
    move(s, s->maker, id, "abortChange", "abort", "aborted");
    crew_refused(s->maker, "forecastChange", path_of(id, "forecast"),
                 FORECAST("9", "90400", "2", "1"), 409,
                 "a forecast can be stored only before it starts");
    id = propose(s, "golden", "");
    check_forecast(s, id);
    check_procedure(s, id);
    check_full(s, id);
    check_rehearsal(s, id);
    crew_refused(s->maker, "startChange", path_of(id, "start"), START("3", "24"), 409,
                 "it has 0 of 2 approvals");
    crew_refused(s->maker, "startChange", path_of(id, "start"),
                 "{\"nodes\":3,\"gpus\":23,\"break_glass\":true,\"reason\":\"r\"}", 409,
                 "23 GPUs were confirmed");
    crew_fine(s->maker, "startChange", path_of(id, "start"),
              "{\"nodes\":3,\"gpus\":24,\"break_glass\":true,\"reason\":\"r\"}", &t);
    check_glass(s, id);
    s->outcome = "failed";
    if (!play_first(s))
        return;
    crew_fine(s->maker, "rollBackChange", path_of(id, "rollback"), WHY, &t);
    CHECK_STR(crew_text(&t, "state"), "rolling back");
    crew_fine(s->maker, "skipMembers", path_of(id, "skip"),
              "{\"nodes\":\"gpu3\",\"reason\":\"its rack burns\"}", &t);
    s->outcome = "done";
    if (!play_until(s, id, "rolled back", &t))
        return;
    for (size_t i = 0; i < NODES; i++)
        CHECK(s->changed[i]);
    crew_fine(s->maker, "change", path_of(id, ""), NULL, &t);
    CHECK_HAS(lks_buf_view(&t.answer.body), "\"actual_ms\":");
    crew_fine(s->maker, "changeMembers", path_of(id, "members?state=reverted"), NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 1);
    crew_refused(s->maker, "moveMembers", path_of(id, "members"),
                 "{\"nodes\":\"gpu1\",\"act\":\"again\",\"reason\":\"r\"}", 409, "rolled back");
    crew_fine(s->maker, "moveMembers", path_of(id, "members"),
              "{\"nodes\":\"gpu1\",\"act\":\"release\",\"reason\":\"looked at\"}", &t);
    CHECK_STR(crew_text(&t, "state"), "rolled back");
}

static void test_changes(void)
{
    struct scene s;
    if (scene_begin(&s)) {
        check_wishes(&s);
        check_dry_run(&s);
        check_votes(&s);
        check_barred(&s);
        check_whole(&s);
        check_back(&s);
        crew_all_covered("daemon_change");
    }
    scene_end(&s);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"changes, from a wish to their end", test_changes},
        {0},
    };
    return lks_test_main(tests);
}
