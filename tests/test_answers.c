/* What the API answers, byte for byte: the handlers over the rich golden journal at one moment, for
 * an admin, for viewers of everything and of one pool, and for an operator of a site. Views may
 * change their code, and not their answers.
 *
 *     test_answers write    write tests/golden/api/answers and lists anew, on purpose
 *
 * Long because all tests ask one controller without threads.
 */
#include "core/fold/apply.h"
#include "core/rows/credential.h"
#include "core/state/lookup.h"
#include "core/state/state.h"
#include "core/view/view.h"
#include "engine/engine_parts.h"
#include "server/api/routes.h"
#include "server/auth/rows.h"
#include "server/base/daemon_parts.h"
#include "tests/facts.h"
#include "tests/goldens.h"
#include "tests/records.h"
#include "tests/test.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define API "tests/golden/api"

/* Two days and two hours behind the first record of the journal, which is behind its last. */
#define NOW ((lks_ms)1793491200000 + (lks_ms)50 * 3600 * LKS_SECOND)

/* Routes that are not asked, and why. */
static const struct {
    const char *id, *why;
} unasked[] = {
    {"login", "an OpenID provider answers"},
    {"can", "it has no rows; tests/test_daemon_can.c compares it with the acts"},
    {"loginCallback", "an OpenID provider answers"},
    {"openapi", "it says what docs/reference/api.md says, and changes with every route"},
    {"metrics", "most of it is of this process"},
    {"fleetManifest", "it is a document; tests/test_view_manifest.c reads it"},
    {"fleetAdvisories", "it follows from the tables in data/, which change with every advisory"},
    {"fleetRemedies", "it follows from the tables in data/, which change with every advisory"},
    {"fleetLifecycle", "it follows from the tables in data/, which change with every release"},
    {"events", "it is a stream, of the rows that /v1/journal answers with"},
    {"artifact", "it is a file of the depot"},
    {"agentArtifact", "it is a file of the depot"},
    {"mail", "it is for agents"},
    {"nodeStack", "it is for agents; tests/test_daemon_check.c asks"},
    {"bridges", "answers of bridges are of the process; tests/test_daemon_sched.c has them"},
    {"schedulers", "answers of schedulers are of the process; tests/test_daemon_sched.c has them"},
    {"schedulerJobs", "lists of jobs are of the process; tests/test_view_jobs.c has them"},
};

static const struct person {
    const char *name, *token;
} people[] = {
    {"admin", "kim-1"},
    {"viewer", "rae-1"},
    {"pool-viewer", "vic-1"},
    {"site-operator", "ann-1"},
};

/* A controller without threads --------------------------------------------------------------- */

struct api {
    struct lks_test_world w;
    struct lks_config config;
    struct lks_daemon daemon;
    struct lks_authz authz;
};

static void open_config(struct api *a)
{
    char text[256];
    struct lks_err err = {0};
    snprintf(text, sizeof(text), "data: %s\nrate: {burst: 100000}\n", a->w.tree.path);
    if (!CHECK_CODE(lks_config_parse("test", lks_str_from(text), &a->config, &err), LKS_OK))
        printf("%s\n", err.msg);
    atomic_store(&a->daemon.config, &a->config);
}

static void open_api(struct api *a)
{
    const struct lks_now now = {.wall = NOW, .mono = (lks_ms)1000 * LKS_SECOND};
    struct lks_secrets *secrets = &a->daemon.secrets;
    struct lks_err err = {0};
    *a = (struct api){.w = lks_test_world_new(true)};
    lks_golden_load(&a->w.store, LKS_GOLDEN_RICH);
    open_config(a);
    secrets->journal = secrets->command = lks_test_key();
    struct lks_public_key public = lks_key_public(&secrets->journal);
    lks_key_public_text(&public, secrets->journal_public);
    a->daemon.facts = *lks_test_facts();
    a->daemon.options = (struct lks_engine_options){
        .facts = &a->daemon.facts, .key = &secrets->journal, .version = "0", .follow = true};
    a->authz =
        (struct lks_authz){.daemon = &a->daemon, .now = now, .wall = now.wall, .first_row = 1};
    enum lks_code code =
        lks_engine_open(&a->w.store, &a->daemon.options, now, &a->authz.engine, &err);
    LKS_ASSERT(CHECK_STR(lks_str_from(err.msg), "") && code == LKS_OK);
    a->authz.state = lks_engine_state(a->authz.engine);
    CHECK_CODE(lks_authz_init(&a->authz, &a->config, 1, &err), LKS_OK);
}

static void close_api(struct api *a)
{
    lks_engine_free(a->authz.engine);
    lks_authz_fini(&a->authz);
    lks_config_fini(&a->config);
    lks_test_world_fini(&a->w);
}

/* Asking ------------------------------------------------------------------------------------- */

/* "a=b&c=d", as it stands: nothing is decoded. */
static bool add_queries(struct lks_call *call, struct lks_doc *map, struct lks_str rest)
{
    struct lks_str pair, name, value;
    char key[64], text[256];
    bool ok = map != NULL;
    while (ok && rest.len > 0) {
        lks_str_cut(rest, '&', &pair, &rest);
        lks_str_cut(pair, '=', &name, &value);
        snprintf(key, sizeof(key), "%" LKS_STR_FMT, LKS_STR_ARG(name));
        snprintf(text, sizeof(text), "%" LKS_STR_FMT, LKS_STR_ARG(value));
        ok = lks_call_query_add(call, map, key, text);
    }
    return ok;
}

static struct lks_call *make_call(struct api *a, struct lks_route_match *match,
                                  struct lks_str query)
{
    struct lks_call *call = lks_call_new(&a->daemon);
    LKS_ASSERT(call != NULL);
    call->route = match->route;
    CHECK_CODE(lks_docs_init(&call->asked, "query", &call->failed), LKS_OK);
    struct lks_doc *map = lks_doc_add(&call->asked, NULL, LKS_DOC_MAP);
    call->named = lks_arena_copy(&call->asked.arena, match->named);
    CHECK(add_queries(call, map, query));
    call->failed.code = lks_call_query_take(call, map, &call->failed);
    return call;
}

static void show_token(const struct api *a, const char *id, struct lks_credential *out)
{
    const struct lks_api_token *token = lks_state_token(a->authz.state, lks_str_from(id));
    if (!CHECK(token != NULL))
        return;
    *out = (struct lks_credential){.kind = LKS_CREDENTIAL_TOKEN};
    snprintf(out->id, sizeof(out->id), "%s", id);
    snprintf(out->hash, sizeof(out->hash), "%" LKS_STR_FMT,
             LKS_STR_ARG(lks_state_text(a->authz.state, token->hash)));
}

/* What the threads of lockstepd do with a call, one after the other. */
static void answer(struct api *a, struct lks_call *call)
{
    while (call->status == 0) {
        bool done = lks_authz_decide(&a->authz, call);
        lks_call_store *at_store = call->at_store;
        lks_call_work *work = call->work;
        call->at_store = NULL;
        call->work = NULL;
        if (at_store != NULL)
            at_store(call, &a->w.store);
        else if (work != NULL)
            work(call);
        else if (!CHECK(!done || call->status != 0))
            return;
    }
}

static void print_answer(const struct lks_call *call, struct lks_buf *out)
{
    struct lks_str body = lks_buf_view(&call->out);
    char digest[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    lks_buf_addf(out, "%d %s\n", call->status, call->type != NULL ? call->type : "-");
    if (lks_record_text(body)) {
        lks_buf_add(out, body);
    } else {
        CHECK_CODE(lks_digest_text(body, digest, &err), LKS_OK);
        lks_buf_addf(out, "(%zu bytes, %s)", body.len, digest);
    }
    lks_buf_addc(out, '\n');
}

/* Fields that are never shown, as the journal has them: no answer may have one. */
struct hidden {
    char values[64][LKS_DIGEST_SIZE];
    size_t count;
};

static void hide(void *ctx, lks_ms time, const struct lks_record *r)
{
    struct hidden *h = ctx;
    const struct lks_record_info *info = lks_record_info((unsigned)r->kind);
    (void)time;
    for (size_t i = 0; i < info->count; i++) {
        struct lks_str text;
        if (!info->fields[i].hidden)
            continue;
        memcpy(&text, (const char *)&r->begun + info->fields[i].offset, sizeof(text));
        LKS_ASSERT(h->count < LKS_COUNT(h->values) && text.len < sizeof(h->values[0]));
        snprintf(h->values[h->count++], sizeof(h->values[0]), "%" LKS_STR_FMT, LKS_STR_ARG(text));
    }
}

static void check_hidden(struct lks_str body)
{
    static struct hidden h;
    if (h.count == 0)
        lks_golden_records(LKS_GOLDEN_RICH, hide, &h);
    CHECK(h.count > 10);
    for (size_t i = 0; i < h.count; i++)
        CHECK(lks_str_find(body, lks_str_from(h.values[i])) < 0);
}

/* Members of answers that were seen, by form. */
enum { FORMS_MAX = 128, FIELDS_MAX = 128 };

static struct {
    const struct lks_form *form;
    bool fields[FIELDS_MAX];
} seen[FORMS_MAX];
static size_t seen_count;

static bool *seen_of(const struct lks_form *form)
{
    for (size_t i = 0; i < seen_count; i++) {
        if (seen[i].form == form)
            return seen[i].fields;
    }
    LKS_ASSERT(seen_count < FORMS_MAX);
    seen[seen_count].form = form;
    return seen[seen_count++].fields;
}

static void see_form(const struct lks_form *form, const struct lks_doc *map);

/* NOLINTNEXTLINE(misc-no-recursion) */
static void see_value(const struct lks_shape *shape, const struct lks_doc *value)
{
    if (shape->type == LKS_TYPE_FORM)
        see_form(shape->form, value);
    if (shape->type != LKS_TYPE_LIST && shape->type != LKS_TYPE_DICT)
        return;
    for (const struct lks_doc *d = value->first; d != NULL; d = d->next)
        see_value(shape->of, d);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void see_form(const struct lks_form *form, const struct lks_doc *map)
{
    bool *fields = seen_of(form);
    struct lks_field field;
    for (size_t i = 0; lks_schema_at(form, i, &field); i++) {
        const struct lks_doc *value = lks_doc_member(map, field.key);
        LKS_ASSERT(i < FIELDS_MAX);
        fields[i] |= value != NULL;
        if (value != NULL)
            see_value(&field.shape, value);
    }
}

/* An answer has the form that the reference says. */
static void check_form(const struct lks_call *call)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    if (call->status != 200 || call->route->answer == NULL)
        return;
    if (CHECK_CODE(lks_docs_init(&docs, "answer", &err), LKS_OK) &&
        CHECK_CODE(lks_json_parse(lks_buf_view(&call->out), &docs, &err), LKS_OK) &&
        CHECK_CODE(lks_schema_check(&docs, docs.first, call->route->answer, &err), LKS_OK))
        see_form(call->route->answer, docs.first);
    else
        printf("%s\n", err.msg);
}

/* The call that asks for `path`; owned by the caller. */
static struct lks_call *call_as(struct api *a, const struct person *who, const char *path)
{
    struct lks_route_match match;
    struct lks_str bare, query;
    char found[256];
    lks_test_case("%s: GET %s", who->name, path);
    lks_str_cut(lks_str_from(path), '?', &bare, &query);
    snprintf(found, sizeof(found), "%" LKS_STR_FMT, LKS_STR_ARG(bare));
    lks_route_find(LKS_LISTENER_PEOPLE, "GET", found, &match);
    LKS_ASSERT(match.route != NULL);
    struct lks_call *call = make_call(a, &match, query);
    show_token(a, who->token, &call->credential);
    return call;
}

static void ask_as(struct api *a, const struct person *who, const char *path, struct lks_buf *out)
{
    struct lks_call *call = call_as(a, who, path);
    answer(a, call);
    check_hidden(lks_buf_view(&call->out));
    check_form(call);
    print_answer(call, out);
    lks_call_free(call);
}

/* An answer that is the first person's is printed once. */
static void ask(struct api *a, const char *path, struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf first = LKS_BUF(LKS_GOLDEN_BYTES_MAX);
    lks_buf_addf(out, "GET %s\n", path);
    for (size_t i = 0; i < LKS_COUNT(people); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_GOLDEN_BYTES_MAX);
        ask_as(a, &people[i], path, i == 0 ? &first : &text);
        bool same = i > 0 && lks_str_eq(lks_buf_view(&first), lks_buf_view(&text));
        lks_buf_addf(out, "%s: ", people[i].name);
        lks_buf_add(out, same ? LKS_STR("the same\n") : lks_buf_view(i == 0 ? &first : &text));
    }
    lks_buf_addc(out, '\n');
}

/* Each line of the file of requests; "#" starts a comment. */
static void ask_all(struct api *a, struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf requests = {0};
    struct lks_str line, rest;
    char path[256];
    lks_golden_read(API, "requests", &requests);
    lks_buf_init(out, LKS_GOLDEN_BYTES_MAX);
    for (rest = lks_buf_view(&requests); rest.len > 0;) {
        lks_str_cut(rest, '\n', &line, &rest);
        snprintf(path, sizeof(path), "%" LKS_STR_FMT, LKS_STR_ARG(line));
        if (line.len > 0 && line.ptr[0] != '#')
            ask(a, path, out);
    }
    CHECK_INT(out->failed, LKS_OK);
}

/* Tests -------------------------------------------------------------------------------------- */

static bool is_asked(const struct lks_route *r)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf requests = {0};
    struct lks_str line, rest, bare, query;
    struct lks_route_match match;
    char path[256];
    lks_golden_read(API, "requests", &requests);
    for (rest = lks_buf_view(&requests); rest.len > 0;) {
        lks_str_cut(rest, '\n', &line, &rest);
        lks_str_cut(line, '?', &bare, &query);
        snprintf(path, sizeof(path), "%" LKS_STR_FMT, LKS_STR_ARG(bare));
        lks_route_find(r->listener, "GET", path, &match);
        if (match.route == r)
            return true;
    }
    return false;
}

static void test_every_get_route_is_asked_or_has_a_reason(void)
{
    for (size_t i = 0; i < lks_route_count; i++) {
        const struct lks_route *r = &lks_routes[i];
        bool reason = false;
        for (size_t k = 0; k < LKS_COUNT(unasked); k++)
            reason |= strcmp(unasked[k].id, r->id) == 0;
        lks_test_case("%s", r->path);
        if (strcmp(r->method, "GET") == 0)
            CHECK(reason != is_asked(r));
    }
}

/* Line by line, so that a report names the request and shows no more than its line. */
static void compare(struct lks_str got, struct lks_str want)
{
    struct lks_str a, b;
    for (unsigned wrong = 0; (got.len > 0 || want.len > 0) && wrong < 3;) {
        lks_str_cut(got, '\n', &a, &got);
        lks_str_cut(want, '\n', &b, &want);
        if (lks_str_starts(b, "GET "))
            lks_test_case("%" LKS_STR_FMT, LKS_STR_ARG(b));
        if (!CHECK(lks_str_eq(a, b))) {
            printf("    %" LKS_STR_FMT "\nexpected\n    %" LKS_STR_FMT "\n", LKS_STR_ARG(a),
                   LKS_STR_ARG(b));
            wrong++;
        }
    }
}

static void test_answers_are_what_they_were(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf got = {0}, want = {0};
    struct api a;
    open_api(&a);
    ask_all(&a, &got);
    lks_golden_read(API, "answers", &want);
    compare(lks_buf_view(&got), lks_buf_view(&want));
    close_api(&a);
}

/* A run on nodes of two pools, and one on two nodes of one. */
static void test_runs_of_several_pools(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf all = {0}, own = {0};
    struct api a;
    open_api(&a);
    struct lks_err err = {0};
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_PLACED,
         .placed = {.hosts = LKS_STR("inf[01-02]"),
                    .pool = LKS_STR("serve"),
                    .site = LKS_STR("fra")}},
        {.kind = LKS_RECORD_JOB_ENDED,
         .job_ended = {.job = LKS_STR("901"),
                       .site = LKS_STR("fra"),
                       .pool = LKS_STR("serve"),
                       .started = NOW - 2,
                       .ended = NOW - 1,
                       .hosts = LKS_STR("inf[01-02]")}},
        {.kind = LKS_RECORD_JOB_ENDED,
         .job_ended = {.job = LKS_STR("902"),
                       .site = LKS_STR("fra"),
                       .pool = LKS_STR("serve"),
                       .started = NOW - 2,
                       .ended = NOW - 1,
                       .hosts = LKS_STR("inf01,gpu01")}},
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        CHECK_CODE(lks_apply_record(&a.authz.engine->state, a.authz.state->seq + 1, NOW,
                                    &records[i], &err),
                   LKS_OK);
    lks_buf_init(&all, LKS_GOLDEN_BYTES_MAX);
    lks_buf_init(&own, LKS_GOLDEN_BYTES_MAX);
    ask_as(&a, &people[0], "/v1/jobs", &all);
    ask_as(&a, &people[2], "/v1/jobs", &own);
    CHECK_HAS(lks_buf_view(&all), "\"job\":\"901\"");
    CHECK_HAS(lks_buf_view(&all), "\"job\":\"902\"");
    CHECK_HAS(lks_buf_view(&own), "\"job\":\"901\"");
    CHECK(lks_str_find(lks_buf_view(&own), LKS_STR("\"job\":\"902\"")) < 0);
    close_api(&a);
}

/* The history of a node has the runs that its reader finds in the list of jobs. */
static void test_runs_in_histories(void)
{
    static const char *const jobs[] = {"822", "825", "826", "827"};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf all = {0}, own = {0};
    const struct lks_record place = {.kind = LKS_RECORD_PLACED,
                                     .placed = {.hosts = LKS_STR("inf[01-02]"),
                                                .pool = LKS_STR("serve"),
                                                .site = LKS_STR("fra")}};
    struct lks_err err = {0};
    struct api a;
    open_api(&a);
    CHECK_CODE(lks_apply_record(&a.authz.engine->state, a.authz.state->seq + 1, NOW, &place, &err),
               LKS_OK);
    lks_buf_init(&all, LKS_GOLDEN_BYTES_MAX);
    lks_buf_init(&own, LKS_GOLDEN_BYTES_MAX);
    ask_as(&a, &people[0], "/v1/nodes/inf01/history", &all);
    ask_as(&a, &people[2], "/v1/nodes/inf01/history", &own);
    for (size_t i = 0; i < LKS_COUNT(jobs); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf list = LKS_BUF(LKS_GOLDEN_BYTES_MAX);
        char member[32];
        snprintf(member, sizeof(member), "\"job\":\"%s\"", jobs[i]);
        ask_as(&a, &people[2], "/v1/jobs", &list);
        lks_test_case("job %s", jobs[i]);
        bool listed = lks_str_find(lks_buf_view(&list), lks_str_from(member)) >= 0;
        CHECK_INT(listed, i == 0 || i == 2);
        CHECK_HAS(lks_buf_view(&all), member);
        CHECK_INT(lks_str_find(lks_buf_view(&own), lks_str_from(member)) >= 0, listed);
    }
    close_api(&a);
}

/* Names of nodes that are read for one request are bounded: a page ends, and a sort is refused. */
static void test_work_of_runs(void)
{
    enum { RUNS = 2100, NODES = 1000, WORK = 200000 };
    LKS_CLEANUP(lks_buf_fini) struct lks_buf page = {0}, sorted = {0}, few = {0};
    struct lks_err err = {0};
    struct api a;
    open_api(&a);
    for (uint64_t i = 0; i < RUNS; i++) {
        const struct lks_record run = {.kind = LKS_RECORD_JOB_ENDED,
                                       .job_ended = {.job = LKS_STR("7"),
                                                     .site = LKS_STR("fra"),
                                                     .pool = LKS_STR("serve"),
                                                     .started = NOW - RUNS + i,
                                                     .ended = NOW,
                                                     .nodes = NODES,
                                                     .hosts = LKS_STR("inf[1001-2000]")}};
        CHECK_CODE(
            lks_apply_record(&a.authz.engine->state, a.authz.state->seq + 1, NOW, &run, &err),
            LKS_OK);
    }
    lks_buf_init(&page, LKS_GOLDEN_BYTES_MAX);
    lks_buf_init(&sorted, LKS_GOLDEN_BYTES_MAX);
    lks_buf_init(&few, LKS_GOLDEN_BYTES_MAX);
    ask_as(&a, &people[2], "/v1/jobs?limit=1000", &page);
    CHECK_INT(lks_str_count(lks_buf_view(&page), '{') - 1, WORK / (NODES + 1) + 1);
    CHECK_HAS(lks_buf_view(&page), "\"next\":");
    ask_as(&a, &people[2], "/v1/jobs?limit=10&sort=started", &sorted);
    CHECK_HAS(lks_buf_view(&sorted), "the list is too long to be sorted");
    ask_as(&a, &people[0], "/v1/jobs?limit=10&sort=started", &few); /* it reads no names */
    CHECK_HAS(lks_buf_view(&few), "\"items\":[{");
    close_api(&a);
}

/* Members that no answer over the rich journal has, and why. */
static const struct {
    const char *form, *fields; /* with blanks between */
    const char *why;
} unanswered[] = {
    {"Node", "inband_age_ms skew_ms heard_ms_ago", "heartbeats are of the process"},
    {"Node", "scheduler schedulers", "answers of schedulers are of the process"},
    {"Change", "jobs unlisted reserved", "lists of schedulers are of the process"},
    {"Procedure", "jobs", "lists of schedulers are of the process"},
    {"Endpoint", "failed failure", "leases are in the store beside the journal"},
    {"Admissions", "next", "the log of admissions is of the process"},
    {"Whoami", "issuer controller", "no login asks, and the process has no name"},
    {"ChangeGate", "estimate worst best", "they need more nodes than the journal has"},
};

static bool is_unanswered(const char *form, const char *field)
{
    for (size_t i = 0; i < LKS_COUNT(unanswered); i++) {
        struct lks_str rest = lks_str_from(unanswered[i].fields), word;
        while (strcmp(unanswered[i].form, form) == 0 && lks_str_word(&rest, &word)) {
            if (lks_str_is(word, field))
                return true;
        }
    }
    return false;
}

/* Behind the test above, which asks. */
static void test_every_member_of_an_answer_is_in_one(void)
{
    CHECK(seen_count > 30);
    for (size_t i = 0; i < seen_count; i++) {
        struct lks_field field;
        for (size_t k = 0; lks_schema_at(seen[i].form, k, &field); k++) {
            lks_test_case("%s.%s", seen[i].form->name, field.key);
            CHECK(seen[i].fields[k] != is_unanswered(seen[i].form->name, field.key));
        }
    }
}

/* Sorted lists ------------------------------------------------------------------------------- */

/* The columns that a list can be sorted by; NULL: none. */
static const struct lks_form *sorts_of(const struct lks_route *r)
{
    struct lks_field field;
    bool has = r->query != NULL && lks_schema_field(r->query, LKS_STR("sort"), &field);
    return has ? field.shape.form : NULL;
}

/* Add the items of all pages to `list`, a line each. */
static void walk_pages(struct api *a, const struct person *who, const char *path, const char *sort,
                       unsigned limit, struct lks_buf *list)
{
    char asked[512], after[256] = "";
    unsigned pages = 0;
    do {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        snprintf(asked, sizeof(asked), "%s?limit=%u%s%s%s%s", path, limit,
                 sort[0] != '\0' ? "&sort=" : "", sort, after[0] != '\0' ? "&after=" : "", after);
        struct lks_call *call = call_as(a, who, asked);
        answer(a, call);
        check_form(call);
        bool read = CHECK_INT(call->status, 200) &&
                    CHECK_CODE(lks_docs_init(&docs, "answer", &err), LKS_OK) &&
                    CHECK_CODE(lks_json_parse(lks_buf_view(&call->out), &docs, &err), LKS_OK);
        lks_call_free(call);
        if (!read)
            return;
        const struct lks_doc *items = lks_doc_member(docs.first, "items");
        CHECK(items->count <= limit);
        for (const struct lks_doc *i = items->first; i != NULL; i = i->next) {
            CHECK_CODE(lks_json_canonical(i, list, &err), LKS_OK);
            lks_buf_addc(list, '\n');
        }
        snprintf(after, sizeof(after), "%" LKS_STR_FMT,
                 LKS_STR_ARG(lks_doc_text(docs.first, "next")));
    } while (after[0] != '\0' && CHECK(++pages < 1000)); /* a cursor that stays is a fault */
}

/* The value of a member as people sort it: enum names by their place among the names. */
static int cmp_values(const struct lks_field *field, const struct lks_doc *a,
                      const struct lks_doc *b)
{
    uint64_t x = 0, y = 0;
    if (a == NULL || b == NULL)
        return (a != NULL) - (b != NULL);
    if (field->shape.type == LKS_TYPE_CHOICE) {
        CHECK(lks_record_word_find(field->shape.values, a->text, &x) &&
              lks_record_word_find(field->shape.values, b->text, &y));
        return (x > y) - (x < y);
    }
    if (a->kind == LKS_DOC_TEXT)
        return lks_str_cmp(a->text, b->text);
    int64_t m = a->kind == LKS_DOC_BOOL ? a->truth : a->number;
    int64_t n = b->kind == LKS_DOC_BOOL ? b->truth : b->number;
    return (m > n) - (m < n);
}

static size_t check_order(struct lks_str list, const struct lks_field *field, bool down)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    const struct lks_doc *before = NULL, *value;
    struct lks_str line;
    size_t count = 0;
    CHECK_CODE(lks_docs_init(&docs, "items", &err), LKS_OK);
    for (; list.len > 0; count++, before = value) {
        lks_str_cut(list, '\n', &line, &list);
        struct lks_doc *last = docs.last;
        CHECK_CODE(lks_json_parse(line, &docs, &err), LKS_OK);
        value = lks_doc_member(last == NULL ? docs.first : last->next, field->key);
        int order = cmp_values(field, before, value);
        if (count > 0)
            CHECK(down ? order >= 0 : order <= 0);
    }
    return count;
}

/* One list by one column: in order, the same rows as without `sort`, and the same in pages. */
static void check_sort(struct api *a, const struct person *who, const char *path,
                       const struct lks_field *field, bool down)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf plain = LKS_BUF(LKS_GOLDEN_BYTES_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf whole = LKS_BUF(LKS_GOLDEN_BYTES_MAX);
    char sort[64];
    snprintf(sort, sizeof(sort), "%s%s", down ? "-" : "", field->key);
    walk_pages(a, who, path, "", 1000, &plain);
    walk_pages(a, who, path, sort, 1000, &whole);
    size_t count = check_order(lks_buf_view(&whole), field, down);
    struct lks_str line, rest = lks_buf_view(&plain);
    for (; rest.len > 0; count--) {
        lks_str_cut(rest, '\n', &line, &rest);
        CHECK(lks_str_find(lks_buf_view(&whole), line) >= 0);
    }
    CHECK_INT(count, 0);
    for (unsigned limit = 1; limit <= 3; limit++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf pages = LKS_BUF(LKS_GOLDEN_BYTES_MAX);
        walk_pages(a, who, path, sort, limit, &pages);
        CHECK_STR(lks_buf_view(&pages), whole.ptr != NULL ? whole.ptr : "");
    }
}

static void test_sorted_lists_are_whole_and_in_order(void)
{
    struct api a;
    struct lks_field field;
    size_t sorts = 0;
    open_api(&a);
    for (size_t i = 0; i < lks_route_count; i++) {
        const struct lks_form *form = sorts_of(&lks_routes[i]);
        for (size_t k = 0; form != NULL && lks_schema_at(form, k, &field); k++, sorts++) {
            check_sort(&a, &people[0], lks_routes[i].path, &field, false);
            check_sort(&a, &people[0], lks_routes[i].path, &field, true);
        }
    }
    check_sort(&a, &people[2], "/v1/nodes", &(struct lks_field){.key = "name"}, true);
    CHECK(sorts > 40);
    close_api(&a);
}

static const struct {
    const char *path, *says;
} refused_sorts[] = {
    {"/v1/nodes?sort=rak",
     "query: sort: this list cannot be sorted by 'rak'; give one of: name, asset, pool, "
     "site, rack, domain, class, liveness, liveness_since, judged, tuple, "
     "intake, held, enrolled, admissible, assigned_to"},
    {"/v1/nodes?sort=why",
     "query: sort: this list cannot be sorted by 'why'; give one of: name, asset"},
    {"/v1/nodes?sort=--rack",
     "query: sort: this list cannot be sorted by '--rack'; give one of: name"},
    {"/v1/nodes?sort=-", "query: sort: this list cannot be sorted by '-'; give one of: name"},
    {"/v1/nodes?sort=", "query: sort: expected a column, found an empty text"},
    {"/v1/trust?sort=size",
     "query: sort: this list cannot be sorted by 'size'; give one of: name, pinned"},
    {"/v1/pools?sort=name", "query: sort: unknown"},
    /* A cursor belongs to the list, sorted as it was. */
    {"/v1/nodes?sort=rack&after=gpu03", "query: after: is not the `next` of a page with this"},
    {"/v1/nodes?sort=rack&after=sort=pool 2 r1 gpu03", "query: after: is not the `next` of a page"},
    {"/v1/nodes?sort=rack&after=sort=-rack 2 r1 gpu03", "query: after: is not the `next` of a"},
    {"/v1/nodes?sort=rack&after=sort=rack 2 r1 none", "query: after: is not the `next` of a page"},
    {"/v1/nodes?sort=rack&after=sort=rack 3 r1 gpu03", "query: after: is not the `next` of a page"},
    {"/v1/nodes?sort=rack&after=sort=rack 99 r1 gpu03", "query: after: is not the `next` of a"},
    {"/v1/nodes?sort=rack&after=sort=rack", "query: after: is not the `next` of a page"},
    {"/v1/nodes?sort=held&after=sort=held 2 r1 gpu03", "query: after: is not the `next` of a page"},
    {"/v1/nodes?after=sort=rack 2 r1 gpu03", "query: after: is not the `next` of a page"},
    {"/v1/alarms?sort=raised&after=3", "query: after: is not the `next` of a page with this"},
    {"/v1/alarms?after=sort=raised 1 5 3", "query: after: is not the `next` of a page"},
    {"/v1/sweeps?after=none", "query: after: is not the `next` of a page"},
    {"/v1/images?after=sort=added 1 5 x", "query: after: is not the `next` of a page"},
    {"/v1/images?sort=added&after=x", "query: after: is not the `next` of a page with this"},
};

static void test_refused_sorts(void)
{
    struct api a;
    open_api(&a);
    for (size_t i = 0; i < LKS_COUNT(refused_sorts); i++) {
        struct lks_call *call = call_as(&a, &people[0], refused_sorts[i].path);
        answer(&a, call);
        CHECK_INT(call->status, 400);
        if (!CHECK(lks_str_find(lks_buf_view(&call->out), lks_str_from(refused_sorts[i].says)) >=
                   0))
            printf("%" LKS_STR_FMT "\n", LKS_STR_ARG(lks_buf_view(&call->out)));
        lks_call_free(call);
    }
    close_api(&a);
}

static bool shows_in_slices(struct lks_rows_walk *walk, const void *row)
{
    (void)row;
    walk->work++;
    return true;
}

/* A list of nodes that is longer than a slice: other calls have their turn, and the answer is the
 * same. */
static void test_a_sorted_list_in_slices(void)
{
    static const struct lks_rows sliced = {
        .view = &lks_view_nodes, .shows = shows_in_slices, .work_max = 4};
    struct api a;
    open_api(&a);
    struct lks_call *whole = call_as(&a, &people[0], "/v1/nodes?sort=-rack&limit=3");
    struct lks_call *call = call_as(&a, &people[0], "/v1/nodes?sort=-rack&limit=3");
    answer(&a, whole);
    unsigned slices = 0;
    for (; call->status == 0 && slices < 100; slices++)
        lks_rows_page(&a.authz, call, &sliced);
    CHECK_INT(slices, (a.authz.state->node_count + 3) / 4);
    CHECK(lks_str_eq(lks_buf_view(&call->out), lks_buf_view(&whole->out)));
    lks_call_free(whole);
    lks_call_free(call);
    close_api(&a);
}

/* Parameters of lists, as OpenAPI has them: they follow from the tables of columns. */
static void put_lists(struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_GOLDEN_BYTES_MAX);
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    lks_buf_init(out, LKS_GOLDEN_BYTES_MAX);
    lks_openapi_json("1.2.3", &text);
    if (!CHECK_CODE(lks_docs_init(&docs, "openapi", &err), LKS_OK) ||
        !CHECK_CODE(lks_json_parse(lks_buf_view(&text), &docs, &err), LKS_OK))
        return;
    const struct lks_doc *paths = lks_doc_member(docs.first, "paths");
    for (size_t i = 0; i < lks_route_count; i++) {
        if (sorts_of(&lks_routes[i]) == NULL)
            continue;
        const struct lks_doc *get =
            lks_doc_member(lks_doc_member(paths, lks_routes[i].path), "get");
        lks_buf_addf(out, "GET %s\n", lks_routes[i].path);
        for (const struct lks_doc *p = lks_doc_member(get, "parameters")->first; p != NULL;
             p = p->next) {
            CHECK_CODE(lks_json_canonical(p, out, &err), LKS_OK);
            lks_buf_addc(out, '\n');
        }
        lks_buf_addc(out, '\n');
    }
}

static void test_parameters_of_lists(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf got = {0}, want = {0};
    put_lists(&got);
    lks_golden_read(API, "lists", &want);
    compare(lks_buf_view(&got), lks_buf_view(&want));
}

static int64_t no_time(void)
{
    return 0;
}

/* A state that is true in part ends the process before anything is read from it. */
static _Noreturn void decide_on_a_state_in_part(struct api *a)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_event event = {.kind = LKS_EVENT_HOLD, .name = LKS_STR("n1")};
    struct lks_log log;
    uv_mutex_t lock;
    (void)freopen("/dev/null", "w", stderr);
    lks_log_init(&log, stderr, LKS_LEVEL_ERROR, LKS_LOG_LOGFMT, no_time);
    uv_mutex_init(&lock);
    a->daemon.log = &log;
    a->daemon.log_lock = &lock;
    a->authz.engine->broken = true;
    struct lks_call *call = lks_call_new(&a->daemon);
    (void)lks_authz_turn(&a->authz, call, &event, NULL, &d);
    _exit(0);
}

static void test_a_state_in_part_ends_the_process(void)
{
    struct api a;
    int status = 0;
    open_api(&a);
    (void)fflush(stdout); /* or the child would print it too */
    pid_t pid = fork();
    if (pid == 0)
        decide_on_a_state_in_part(&a);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    close_api(&a);
}

static int write_answers(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf got = {0}, lists = {0};
    struct api a;
    open_api(&a);
    ask_all(&a, &got);
    close_api(&a);
    put_lists(&lists);
    return lks_golden_write(API, "answers", lks_buf_view(&got)) &&
                   lks_golden_write(API, "lists", lks_buf_view(&lists))
               ? 0
               : 6;
}

static const struct lks_test tests[] = {
    {"answers: every GET route is asked, or has a reason",
     test_every_get_route_is_asked_or_has_a_reason},
    {"answers: runs on nodes of several pools", test_runs_of_several_pools},
    {"answers: runs in histories of nodes", test_runs_in_histories},
    {"answers: names that are read for a list of runs", test_work_of_runs},
    {"answers: they are what they were", test_answers_are_what_they_were},
    {"answers: every member of an answer is in one", test_every_member_of_an_answer_is_in_one},
    {"answers: sorted lists are whole and in order", test_sorted_lists_are_whole_and_in_order},
    {"answers: a sort or cursor that does not fit is refused", test_refused_sorts},
    {"answers: a sorted list in slices is the same", test_a_sorted_list_in_slices},
    {"answers: parameters of lists are what they were", test_parameters_of_lists},
    {"a state that is true in part ends the process", test_a_state_in_part_ends_the_process},
    {0},
};

int main(int argc, char **argv)
{
    return argc == 2 && strcmp(argv[1], "write") == 0 ? write_answers() : lks_test_main(tests);
}
