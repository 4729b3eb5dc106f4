/* Drift, deviations, what is said of nodes, readings out of band and sweeps, asked of the real
 * daemon. */
#include "base/time.h"
#include "core/conform/verdict.h"
#include "tests/crew.h"
#include "tests/test.h"
#include "tests/tuples.h"
#include "tests/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { NODES = 4 };

static const char fleet[] =
    "lockstep: 1\nkind: Fleet\nname: here\nsites: {east: {}, west: {}}\n"
    "pools:\n"
    "  train: {posture: pre-training, stack: golden, enforce: \"on\", sweep_hours: 6}\n"
    "  serve: {posture: online-inference, stack: golden}\n"
    "nodes:\n"
    "  - {hosts: \"gpu[1-4]\", pool: train, class: hgx-h200-8, site: east,\n"
    "     bmc: {url: \"https://bmc-{host}.example\", credentials: \"file:/etc/bmc\"}}\n"
    "  - {hosts: \"inf[1-2]\", pool: serve, class: hgx-h200-8, site: west}\n";

static const struct {
    const char *node, *changes;
} nodes[NODES] = {
    {"gpu1", ""},
    {"gpu2", "containerd=1.6.0"},
    {"gpu3", "dcgm?no answer"},
    {"gpu4", "settings.ecc@gpu *=false"},
};

struct scene {
    struct crew crew;
    struct lks_client *agents[NODES];
    uint64_t beats[NODES];
    char digest[LKS_DIGEST_SIZE];
};

static bool scene_begin(struct scene *s)
{
    *s = (struct scene){0};
    if (!crew_begin(&s->crew, "") || !crew_release(&s->crew, s->digest) ||
        !crew_fleet(&s->crew, fleet))
        return false;
    for (size_t i = 0; i < NODES; i++) {
        s->agents[i] = crew_enroll(&s->crew, nodes[i].node);
        if (s->agents[i] == NULL ||
            !crew_report(s->agents[i], nodes[i].node, nodes[i].changes, &s->beats[i]))
            return false;
    }
    return true;
}

static void scene_end(struct scene *s)
{
    for (size_t i = 0; i < NODES; i++)
        lks_client_free(s->agents[i]);
    crew_end(&s->crew);
}

static const struct lks_doc *drifter(const struct crew_told *t, const char *node)
{
    const struct lks_doc *items = lks_doc_member(t->doc, "items");
    for (const struct lks_doc *i = items != NULL ? items->first : NULL; i != NULL; i = i->next) {
        if (lks_str_is(lks_doc_text(i, "node"), node))
            return i;
    }
    return NULL;
}

/* Bits are at once; that it is recorded, with its cause, is a tick's business. */
static bool await_cause(struct scene *s, const char *node, bool wanted, struct crew_told *t)
{
    char path[96];
    snprintf(path, sizeof(path), "/v1/drift?node=%s", node);
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (!crew_fine(s->crew.root, "drift", path, NULL, t))
            return false;
        const struct lks_doc *item = drifter(t, node);
        if ((lks_doc_member(item, "cause") != NULL) == wanted)
            return true;
    }
    return CHECK(false);
}

static void check_count(const struct crew_told *t, const char *key, int64_t want)
{
    const struct lks_doc *n = lks_doc_member(lks_doc_member(t->doc, "counts"), key);
    lks_test_case("%s", key);
    CHECK_INT(n != NULL ? n->number : -1, want);
}

static void check_counts(const struct crew_told *t, int64_t conforms, int64_t drift,
                         int64_t unmeasured, int64_t unjudged, int64_t deviating)
{
    check_count(t, "nodes", conforms + drift + unmeasured + unjudged + deviating);
    check_count(t, "conforms", conforms);
    check_count(t, "drift", drift);
    check_count(t, "unmeasured", unmeasured);
    check_count(t, "unjudged", unjudged);
    check_count(t, "deviating", deviating);
}

static void check_filters(struct scene *s)
{
    static const struct {
        const char *query;
        size_t items;
    } rows[] = {
        {"", 3},
        {"?judged=drift", 2},
        {"?judged=unmeasured", 1},
        {"?judged=deviation", 0},
        {"?pool=train", 3},
        {"?pool=serve", 0},
        {"?node=gpu[1-2]", 1},
        {"?node=gpu[2-4]&judged=drift", 2},
    };
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        char path[96];
        snprintf(path, sizeof(path), "/v1/drift%s", rows[i].query);
        crew_fine(s->crew.root, "drift", path, NULL, &t);
        CHECK_INT(crew_count(&t, "items"), rows[i].items);
    }
    crew_refused(s->crew.root, "drift", "/v1/drift?node=gpu[1", NULL, 400, "node");
    crew_refused(s->crew.root, "drift", "/v1/drift?after=nope", NULL, 400, "after");
    crew_refused(s->crew.root, "drift", "/v1/drift?pool=nope", NULL, 404,
                 "there is no pool 'nope'");
    crew_refused(s->crew.root, "drift", "/v1/drift?node=gpu[1-9]", NULL, 404,
                 "there is no node 'gpu5'");
    crew_refused(s->crew.root, "deviations", "/v1/deviations?pool=nope", NULL, 404,
                 "there is no pool 'nope'");
}

/* Page by page there is each of them once, and the counts are of all. */
static void check_pages(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[96] = "/v1/drift?limit=1";
    size_t pages = 0;
    for (; pages < NODES; pages++) {
        if (!crew_fine(s->crew.root, "drift", path, NULL, &t))
            break;
        CHECK_INT(crew_count(&t, "items"), 1);
        check_counts(&t, 1, 2, 1, 2, 0);
        struct lks_str next = crew_text(&t, "next");
        if (next.len == 0)
            break;
        snprintf(path, sizeof(path), "/v1/drift?limit=1&after=%" LKS_STR_FMT, LKS_STR_ARG(next));
    }
    CHECK_INT(pages, 2);
}

static void check_item(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    if (!await_cause(s, "gpu2", true, &t))
        return;
    const struct lks_doc *item = drifter(&t, "gpu2"), *rows = lks_doc_member(item, "rows");
    CHECK_STR(lks_doc_text(item, "pool"), "train");
    CHECK_STR(lks_doc_text(item, "stack"), "golden");
    CHECK_STR(lks_doc_text(item, "digest"), s->digest);
    CHECK(lks_doc_text(item, "since").len > 0 && lks_doc_text(item, "evidence").len > 0);
    bool found = false;
    for (const struct lks_doc *r = rows != NULL ? rows->first : NULL; r != NULL; r = r->next)
        found |= lks_str_is(lks_doc_text(r, "subject"), "containerd") &&
                 lks_str_is(lks_doc_text(r, "pinned"), "1.7.28") &&
                 lks_str_is(lks_doc_text(r, "actual"), "1.6.0");
    CHECK(found);
    crew_fine(s->crew.root, "node", "/v1/nodes/gpu2", NULL, &t);
    CHECK_STR(crew_text(&t, "judged"), "drift");
    CHECK_STR(crew_text(&t, "stack_digest"), s->digest);
    CHECK(crew_number(&t, "drifted") > 0 && crew_count(&t, "rows") > 0);
    CHECK(crew_number(&t, "inband_age_ms") >= 0 && crew_number(&t, "outband_age_ms") == -1);
}

/* It differs in something else than when its drift was recorded: the line says what differs now. */
static void check_other(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_report(s->agents[1], "gpu2", "dcgm=3.0.0", &s->beats[1]);
    bool other = false;
    for (struct lks_wait w = {0}; !other && lks_wait(&w);) {
        if (!crew_fine(s->crew.root, "drift", "/v1/drift?node=gpu2", NULL, &t))
            return;
        const struct lks_doc *rows = lks_doc_member(drifter(&t, "gpu2"), "rows");
        other = rows != NULL && rows->first != NULL &&
                lks_str_is(lks_doc_text(rows->first, "subject"), "dcgm");
    }
    CHECK_HAS(lks_doc_text(drifter(&t, "gpu2"), "text"), "dcgm: 3.0.0, pinned ");
    crew_fine(s->crew.root, "node", "/v1/nodes/gpu2", NULL, &t);
    CHECK_HAS(crew_text(&t, "text"), "dcgm: 3.0.0, pinned ");
}

static void test_drift(void)
{
    struct scene s;
    if (scene_begin(&s)) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        crew_fine(s.crew.root, "drift", "/v1/drift", NULL, &t);
        check_counts(&t, 1, 2, 1, 2, 0);
        check_filters(&s);
        check_pages(&s);
        check_item(&s);
        struct lks_client *viewer = crew_person(&s.crew, "viewer", "serve");
        crew_fine(viewer, "drift", "/v1/drift", NULL, &t);
        check_counts(&t, 0, 0, 0, 2, 0); /* what they may see */
        CHECK_INT(crew_count(&t, "items"), 0);
        lks_client_free(viewer);
        check_other(&s);
        crew_report(s.agents[1], "gpu2", "", &s.beats[1]);
        if (await_cause(&s, "gpu2", false, &t))
            CHECK(drifter(&t, "gpu2") == NULL);
    }
    scene_end(&s);
}

/* Deviations -------------------------------------------------------------------------------- */

static void later(int64_t seconds, char out[LKS_TIME_TEXT_SIZE])
{
    lks_time_text((lks_ms)(time(NULL) + seconds) * LKS_SECOND, out);
}

static int64_t deviate(struct scene *s, struct lks_client *client, const char *hosts,
                       const char *subject, int64_t seconds)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char until[LKS_TIME_TEXT_SIZE], body[512];
    later(seconds, until);
    snprintf(body, sizeof(body),
             "{\"nodes\":\"%s\",\"subject\":\"%s\",\"owner\":\"kim\",\"reason\":\"a hot "
             "fix\",\"approver\":\"lee\","
             "\"expires\":\"%s\"}",
             hosts, subject, until);
    return crew_fine(client != NULL ? client : s->crew.root, "deviate", "/v1/deviations", body, &t)
               ? crew_number(&t, "id")
               : -1;
}

/* The journal says that its drift ended. */
static void await_ended(struct scene *s, const char *node)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf rows = {0};
    char off[96];
    bool ended = false;
    snprintf(off, sizeof(off), "\"kind\":\"drift\",\"node\":\"%s\",\"on\":false", node);
    for (struct lks_wait w = {0}; !ended && lks_wait(&w);)
        ended = ctl_ask(s->crew.root, "GET", "/v1/journal?limit=10000", NULL, &rows) == 200 &&
                lks_str_find(lks_buf_view(&rows), lks_str_from(off)) >= 0;
    CHECK(ended);
}

static void check_deviates(struct scene *s, int64_t id, const char *cause)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(s->crew.root, "drift", "/v1/drift?node=gpu2", NULL, &t);
    check_counts(&t, 0, 0, 0, 0, 1);
    const struct lks_doc *item = drifter(&t, "gpu2"), *rows = lks_doc_member(item, "rows");
    CHECK_STR(lks_doc_text(item, "judged"), "deviation");
    CHECK_STR(lks_doc_text(item, "cause"), cause);
    CHECK(lks_doc_text(item, "since").len > 0);
    const struct lks_doc *covered = lks_doc_member(rows != NULL ? rows->first : NULL, "deviation");
    CHECK_INT(covered != NULL ? covered->number : -1, id);
    crew_fine(s->crew.root, "deviations", "/v1/deviations?open=true&pool=train", NULL, &t);
    item = crew_item(&t, "items", 0);
    CHECK_STR(lks_doc_text(item, "nodes"), "gpu2");
    CHECK_STR(lks_doc_text(item, "owner"), "kim");
    const struct lks_doc *used = lks_doc_member(item, "in_use");
    CHECK_INT(used != NULL ? used->number : -1, 1);
    crew_fine(s->crew.root, "deviations", "/v1/deviations?pool=serve", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 0);
    crew_fine(s->crew.root, "node", "/v1/nodes/gpu2", NULL, &t);
    CHECK_INT(crew_count(&t, "deviations"), 1);
    CHECK_STR(crew_text(&t, "judged"), "deviation");
    crew_fine(s->crew.root, "nodes", "/v1/nodes?judged=deviation", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 1);
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "name"), "gpu2");
}

/* Its pool enforces: a name alone covers nothing. */
static void check_waits(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(s->crew.root, "drift", "/v1/drift?node=gpu2", NULL, &t);
    CHECK_STR(lks_doc_text(drifter(&t, "gpu2"), "judged"), "drift");
    crew_fine(s->crew.root, "deviations", "/v1/deviations?open=true&pool=train", NULL, &t);
    CHECK_HAS(lks_buf_view(&t.answer.body), "\"waits\":true");
}

/* By an approver of its nodes; root alone is none. */
static void check_approved(struct scene *s, int64_t id)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    static const char why[] = "{\"reason\":\"looked at it\"}";
    struct lks_client *approver = crew_person(&s->crew, "approver", "train");
    struct lks_client *other = crew_person(&s->crew, "approver", "serve");
    char path[96];
    snprintf(path, sizeof(path), "/v1/deviations/%lld/approve", (long long)id);
    crew_refused(other, "approveDeviation", path, why, 403, "may not approve");
    crew_refused(s->crew.admin, "approveDeviation", path, why, 403, "may not approve");
    crew_refused(s->crew.root, "approveDeviation", path, why, 409, "another person has to approve");
    crew_fine(approver, "approveDeviation", path, why, &t);
    crew_fine(s->crew.root, "deviations", "/v1/deviations?open=true&pool=train", NULL, &t);
    const struct lks_doc *item = crew_item(&t, "items", 0);
    CHECK_STR(lks_doc_text(item, "agreed_reason"), "looked at it");
    CHECK(lks_doc_text(item, "agreed_by").len > 0 && lks_doc_text(item, "agreed").len > 0);
    lks_client_free(approver);
    lks_client_free(other);
}

/* What the command line says, on both streams. */
static int run_cli(struct scene *s, const char *const *words, struct lks_buf *said)
{
    const char *argv[CTL_ARGS_MAX] = {LKS_CLI_PROGRAM};
    size_t count = 1;
    while (*words != NULL)
        argv[count++] = *words++;
    argv[count++] = "--server";
    argv[count] = s->crew.c.socket;
    lks_buf_fini(said);
    lks_buf_init(said, 1 << 20);
    return ctl_run(argv, said);
}

/* A subject that the stacks of the nodes do not pin may be meant for what comes: it is recorded,
 * with a warning. */
static void check_uncovered(struct scene *s)
{
    static const struct {
        const char *subject, *warning; /* NULL: none */
    } rows[] = {
        {"settings.power_limit_w", NULL},
        {"settings.powr_limit_w",
         "lockstep: warning: --what: the stacks of these nodes pin no 'settings.powr_limit_w', so "
         "it covers nothing; did you mean 'settings.power_limit_w'?\n"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf said = {0};
        const char *const words[] = {"deviation", "add", "gpu4",    "--what", rows[i].subject,
                                     "--owner",   "kim", "--until", "1h",     "--reason",
                                     "a test",    NULL};
        lks_test_case("%s", rows[i].subject);
        CHECK_INT(run_cli(s, words, &said), 0);
        CHECK_HAS(lks_buf_view(&said),
                  ": 1 node, 8 GPUs; an approver runs 'lockstep deviation approve ");
        if (rows[i].warning != NULL)
            CHECK_HAS(lks_buf_view(&said), rows[i].warning);
        else
            CHECK(lks_str_find(lks_buf_view(&said), LKS_STR("warning")) < 0);
    }
}

static void test_deviations(void)
{
    struct scene s;
    if (scene_begin(&s)) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        struct lks_client *other = crew_person(&s.crew, "operator", "serve");
        static const char close[] = "{\"reason\":\"it is fixed\"}";
        char path[96];
        char cause[32];
        CHECK(await_cause(&s, "gpu2", true, &t));
        snprintf(cause, sizeof(cause), "%" LKS_STR_FMT,
                 LKS_STR_ARG(lks_doc_text(drifter(&t, "gpu2"), "cause")));
        int64_t id = deviate(&s, NULL, "gpu2", "*", 3600);
        check_waits(&s);
        check_approved(&s, id);
        await_ended(&s, "gpu2");
        check_deviates(&s, id, cause);
        snprintf(path, sizeof(path), "/v1/deviations/%lld/close", (long long)id);
        crew_refused(other, "closeDeviation", path, close, 403, "may not operate");
        crew_refused(other, "deviate", "/v1/deviations",
                     "{\"nodes\":\"gpu1\",\"subject\":\"*\",\"owner\":\"o\",\"reason\":\"r\","
                     "\"expires\":\"2099-01-01T00:00:00Z\"}",
                     403, "may not operate");
        crew_fine(s.crew.root, "closeDeviation", path, close, &t);
        crew_fine(s.crew.root, "drift", "/v1/drift?node=gpu2", NULL, &t);
        check_counts(&t, 0, 1, 0, 0, 0); /* it is drift again */
        crew_fine(s.crew.root, "deviations", "/v1/deviations?open=false", NULL, &t);
        CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "ended_reason"), "it is fixed");
        crew_refused(s.crew.root, "closeDeviation", "/v1/deviations/999/close", close, 404, "999");
        crew_refused(s.crew.root, "deviate", "/v1/deviations",
                     "{\"nodes\":\"gpu1\",\"subject\":\"*\",\"owner\":\"o\",\"reason\":\"r\","
                     "\"expires\":\"tomorrow\"}",
                     400, "expires");
        CHECK(deviate(&s, NULL, "gpu[1-4]", "driver", 60) > id);
        crew_fine(s.crew.root, "deviations", "/v1/deviations?limit=1", NULL, &t);
        CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "nodes"), "gpu[1-4]"); /* the newest */
        CHECK(crew_text(&t, "next").len > 0);
        check_uncovered(&s);
        lks_client_free(other);
    }
    scene_end(&s);
}

/* What is said of nodes --------------------------------------------------------------------- */

static void admits(struct scene *s, const char *node, bool yes, const char *has)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char body[96];
    snprintf(body, sizeof(body), "{\"job\":\"j\",\"nodes\":\"%s\"}", node);
    crew_fine(s->crew.root, "admit", "/v1/admit", body, &t);
    CHECK(crew_truth(&t, "admitted") == yes);
    CHECK_HAS(lks_buf_view(&t.answer.body), has);
}

static void test_conditions(void)
{
    static const char path[] = "/v1/nodes/gpu1/condition";
    struct scene s;
    if (scene_begin(&s)) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        admits(&s, "gpu1", true, "");
        crew_fine(s.crew.root, "nodeCondition", path,
                  "{\"condition\":\"unhealthy\",\"on\":true,\"text\":\"Xid 79\"}", &t);
        admits(&s, "gpu1", false, "\"reason\":\"unhealthy\"");
        crew_fine(s.crew.root, "node", "/v1/nodes/gpu1", NULL, &t);
        CHECK(crew_truth(&t, "unhealthy") && !crew_truth(&t, "admissible"));
        CHECK_STR(crew_text(&t, "condition_text"), "Xid 79");
        crew_fine(s.crew.root, "nodeCondition", path,
                  "{\"condition\":\"unhealthy\",\"on\":false,\"text\":\"reset\"}", &t);
        admits(&s, "gpu1", true, "");
        crew_fine(s.crew.root, "nodeCondition", path,
                  "{\"condition\":\"changing\",\"on\":true,\"text\":\"a step\"}", &t);
        admits(&s, "gpu1", false, "\"reason\":\"changing\"");
        crew_fine(s.crew.root, "nodeCondition", path,
                  "{\"condition\":\"changing\",\"on\":false,\"text\":\"done\"}", &t);
        crew_fine(s.crew.root, "nodeCondition", "/v1/nodes/gpu[1-2]/condition",
                  "{\"condition\":\"checked\",\"on\":true,\"text\":\"a check\"}", &t);
        crew_fine(s.crew.root, "node", "/v1/nodes/gpu2", NULL, &t);
        CHECK(crew_text(&t, "checked").len > 0);
        crew_refused(s.crew.root, "nodeCondition", path,
                     "{\"condition\":\"attested\",\"on\":true,\"until\":\"x\",\"text\":\"a\"}", 400,
                     "until");
        crew_refused(s.crew.root, "nodeCondition", path,
                     "{\"condition\":\"sad\",\"on\":true,\"text\":\"a\"}", 400, "condition");
    }
    scene_end(&s);
}

/* The first digits of a digest. */
static void begin_of(struct lks_str digest, char out[32])
{
    enum { DIGITS = 12 };
    snprintf(out, 32, "%.*s", (int)strlen("sha256:") + DIGITS, digest.ptr);
}

/* A stack by name and a digest by its first digits, wherever calls about nodes take a digest. */
static void test_names(void)
{
    struct scene s;
    if (scene_begin(&s)) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        char begin[32], text[128];
        begin_of(lks_str_from(s.digest), begin);
        lks_test_case("a job that asks for a stack");
        snprintf(text, sizeof(text), "{\"job\":\"j\",\"nodes\":\"gpu1\",\"stack\":\"%s\"}", begin);
        crew_fine(s.crew.root, "admit", "/v1/admit", text, &t);
        CHECK(crew_truth(&t, "admitted"));
        lks_test_case("nodes that run a tuple");
        crew_fine(s.crew.root, "node", "/v1/nodes/gpu1", NULL, &t);
        begin_of(crew_text(&t, "tuple"), begin);
        snprintf(text, sizeof(text), "/v1/nodes?tuple=%s", begin);
        crew_fine(s.crew.root, "nodes", text, NULL, &t);
        CHECK_INT(crew_count(&t, "items"), 1);
        CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "name"), "gpu1");
        lks_test_case("the stack that a node is going to");
        crew_fine(s.crew.root, "nodeCondition", "/v1/nodes/gpu1/condition",
                  "{\"condition\":\"changing\",\"on\":true,\"stack\":\"golden\",\"text\":\"a "
                  "step\"}",
                  &t);
        crew_fine(s.crew.root, "node", "/v1/nodes/gpu1", NULL, &t);
        CHECK_STR(crew_text(&t, "stack_digest"), s.digest);
    }
    scene_end(&s);
}

/* Holds -------------------------------------------------------------------------------------- */

static const char rack[] =
    "lockstep: 1\nkind: Fleet\nname: here\ndomains: {rack1: {}}\n"
    "pools: {train: {posture: pre-training, stack: golden, enforce: \"on\"}}\n"
    "nodes:\n"
    "  - {hosts: \"gpu[1-2]\", pool: train, class: hgx-h200-8, domain: rack1}\n"
    "  - {hosts: \"gpu[3-4]\", pool: train, class: hgx-h200-8}\n";

/* In service as it is, a node may keep its domain from jobs: the person who ends its hold is told.
 */
static void test_release(void)
{
    static const struct {
        const char *name, *changes, *warning; /* NULL: none */
    } rows[] = {
        {"it runs something else", "containerd=1.6.0",
         "warning: domain rack1 takes no jobs: gpu2 does not run the same as gpu1; "},
        {"it runs the same", "", NULL},
    };
    const char *const words[] = {"node", "release", "gpu2", "--reason", "a test", NULL};
    struct scene s;
    if (scene_begin(&s) && crew_fleet(&s.crew, rack)) {
        for (size_t i = 0; i < LKS_COUNT(rows); i++) {
            LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
            LKS_CLEANUP(lks_buf_fini) struct lks_buf said = {0};
            lks_test_case("%s", rows[i].name);
            crew_fine(s.crew.root, "holdNode", "/v1/nodes/gpu2/hold", "{\"reason\":\"a fan\"}", &t);
            crew_report(s.agents[1], "gpu2", rows[i].changes, &s.beats[1]);
            CHECK_INT(run_cli(&s, words, &said), 0);
            if (rows[i].warning != NULL)
                CHECK_HAS(lks_buf_view(&said), rows[i].warning);
            else
                CHECK(lks_str_find(lks_buf_view(&said), LKS_STR("warning")) < 0);
        }
    }
    scene_end(&s);
}

/* Out of band and sweeps -------------------------------------------------------------------- */

static void check_outband(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf tuple = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf other = {0};
    crew_tuple("gpu1", "firmware/bmc=25.02.11", "", &tuple);
    crew_fine(s->crew.root, "readOutband", "/v1/nodes/gpu1/outband", tuple.ptr, &t);
    crew_fine(s->crew.root, "node", "/v1/nodes/gpu1", NULL, &t);
    CHECK(crew_number(&t, "outband_age_ms") >= 0);
    CHECK_STR(crew_text(&t, "judged"), "conforms");
    crew_tuple("gpu1", "firmware/bmc=24.01.01", "", &other); /* the bands disagree */
    crew_fine(s->crew.root, "readOutband", "/v1/nodes/gpu1/outband", other.ptr, &t);
    crew_fine(s->crew.root, "node", "/v1/nodes/gpu1", NULL, &t);
    CHECK(!lks_str_is(crew_text(&t, "judged"), "conforms"));
    crew_fine(s->crew.root, "endOutband", "/v1/nodes/gpu1/outband?reason=reset", NULL, &t);
    crew_fine(s->crew.root, "node", "/v1/nodes/gpu1", NULL, &t);
    CHECK_STR(crew_text(&t, "judged"), "conforms");
    CHECK_INT(crew_number(&t, "outband_age_ms"), -1);
    crew_refused(s->crew.root, "readOutband", "/v1/nodes/gpu2/outband", tuple.ptr, 400, "gpu1");
    crew_refused(s->crew.root, "readOutband", "/v1/nodes/gpu1/outband", "{}", 400, "report");
    crew_refused(s->crew.root, "readOutband", "/v1/nodes/gpu[1-2]/outband", tuple.ptr, 400,
                 "one node");
}

static void test_outband(void)
{
    struct scene s;
    if (scene_begin(&s))
        check_outband(&s);
    scene_end(&s);
}

static size_t lease(struct scene *s, const char *holder, unsigned most, struct crew_told *t)
{
    char body[96];
    snprintf(body, sizeof(body), "{\"holder\":\"%s\",\"max\":%u,\"seconds\":60}", holder, most);
    crew_fine(s->crew.root, "leaseSweeps", "/v1/sweeps/lease", body, t);
    return crew_count(t, "items");
}

static int64_t number_of(const struct lks_doc *item, const char *key)
{
    const struct lks_doc *n = lks_doc_member(item, key);
    return n != NULL ? n->number : -1;
}

/* Of "train" all four have an endpoint, of "serve" none. */
static void check_sweeps(struct scene *s, int64_t never)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    char line[64];
    crew_fine(s->crew.root, "sweeps", "/v1/sweeps", NULL, &t);
    const struct lks_doc *item = crew_item(&t, "items", 0), *other = crew_item(&t, "items", 1);
    CHECK_STR(lks_doc_text(item, "pool"), "train");
    CHECK_INT(number_of(item, "endpoints"), NODES);
    CHECK_INT(number_of(item, "never"), never);
    CHECK(number_of(item, "oldest_ms") == 0 || never < NODES);
    CHECK_INT(number_of(item, "every"), 6 * 3600 * 1000);
    CHECK_STR(lks_doc_text(other, "pool"), "serve");
    CHECK_INT(number_of(other, "endpoints"), 0);
    crew_fine(s->crew.root, "sweeps", "/v1/sweeps?after=train", NULL, &t);
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "pool"), "serve");
    CHECK_INT(ctl_ask(s->crew.root, "GET", "/metrics", NULL, &text), 200);
    snprintf(line, sizeof(line), "lockstep_sweep_never{pool=\"train\"} %lld\n", (long long)never);
    CHECK_HAS(lks_buf_view(&text), line);
    CHECK(lks_str_find(lks_buf_view(&text), LKS_STR("lockstep_sweep_never{pool=\"serve\"}")) < 0);
    bool aged = lks_str_find(lks_buf_view(&text),
                             LKS_STR("lockstep_sweep_age_seconds{pool=\"train\"}")) >= 0;
    CHECK(aged == (never < NODES)); /* the age of nothing is not 0 */
}

static void test_sweeps(void)
{
    struct scene s;
    if (scene_begin(&s)) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf tuple = {0};
        check_sweeps(&s, 4);
        CHECK_INT(lease(&s, "a", 3, &t), 3);
        CHECK_HAS(lks_doc_text(crew_item(&t, "items", 0), "url"), "https://bmc-gpu");
        char name[64], path[128];
        snprintf(name, sizeof(name), "%" LKS_STR_FMT,
                 LKS_STR_ARG(lks_doc_text(crew_item(&t, "items", 0), "name")));
        CHECK_INT(lease(&s, "b", 3, &t), 1); /* each is read by one */
        CHECK_INT(lease(&s, "b", 3, &t), 0);
        crew_tuple(name, "firmware/bmc=25.02.11", "", &tuple);
        snprintf(path, sizeof(path), "/v1/nodes/%s/outband?holder=a", name);
        crew_fine(s.crew.root, "readOutband", path, tuple.ptr, &t);
        check_sweeps(&s, 3);
        snprintf(path, sizeof(path), "/v1/sweeps/%s/failed", name);
        crew_fine(s.crew.root, "failSweep", path, "{\"holder\":\"a\",\"text\":\"no answer\"}", &t);
        CHECK(!crew_truth(&t, "done")); /* the reading ended the lease */
        CHECK_INT(lease(&s, "b", 3, &t), 0);
        CHECK(crew_again(&s.crew)); /* what was read and leased is known after a restart */
        check_sweeps(&s, 3);
        CHECK_INT(lease(&s, "c", 3, &t), 0);
        crew_refused(s.crew.root, "failSweep", "/v1/sweeps/nope/failed",
                     "{\"holder\":\"a\",\"text\":\"x\"}", 404, "nope");
        crew_refused(s.crew.root, "leaseSweeps", "/v1/sweeps/lease",
                     "{\"holder\":\"a\",\"max\":0,\"seconds\":60}", 400, "max");
    }
    scene_end(&s);
}

static void test_covered(void)
{
    crew_all_covered("daemon_drift");
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"nodes that drift, and how", test_drift},
        {"deviations", test_deviations},
        {"what is said of nodes", test_conditions},
        {"names and digests", test_names},
        {"a release that leaves a domain without jobs", test_release},
        {"readings out of band", test_outband},
        {"endpoints are read by one at a time", test_sweeps},
        {"all routes were asked", test_covered},
        {0},
    };
    return lks_test_main(tests);
}
