#include "tests/real/population.h"

#include "base/file.h"
#include "server/api/routes.h"
#include "tests/test.h"
#include "tests/tuples.h"
#include "tests/wait.h"
#include "trust/token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXT_LEN_MAX = 200, LOG_SHOWN = 16 << 10, LOG_MAX = 1 << 30 };

static const char config[] = "rate: {people_per_s: 100000, burst: 1000000}\n"
                             "limits: {validity_ms: 100, staleness_ms: 100}\n";

static const char fleet[] =
    "lockstep: 1\nkind: Fleet\nname: here\nsites: {east: {}, west: {}}\n"
    "pools:\n"
    "  train: {posture: pre-training, stack: golden, enforce: \"on\", sweep_hours: 6}\n"
    "  serve: {posture: online-inference, stack: golden}\n"
    "  play: {posture: dev}\n"
    "nodes:\n"
    "  - {hosts: \"gpu[1-4]\", pool: train, class: hgx-h200-8, site: east, rack: r1,\n"
    "     bmc: {url: \"https://bmc-{host}.invalid\", credentials: \"file:/nonexistent\"}}\n"
    "  - {hosts: \"inf[1-2]\", pool: serve, class: hgx-h200-8, site: west}\n"
    "  - {hosts: \"dev1\", pool: play, class: hgx-h200-8, site: west}\n";

static const struct {
    const char *node, *changes;
} nodes[POP_NODES] = {
    {"gpu1", ""},
    {"gpu2", "containerd=1.6.0"},
    {"gpu3", "dcgm?no answer"},
    {"inf1", "settings.power_limit_w@gpu *=650"},
};

/* Calls that leave something behind. `@` is a time to come, `$` the digest of the other stack. */
static const struct {
    const char *id, *path, *body;
} calls[] = {
    {"deviate", "/v1/deviations",
     "{\"nodes\":\"gpu2\",\"subject\":\"containerd\",\"owner\":\"kim\",\"reason\":\"x\","
     "\"expires\":\"@\"}"},
    {"holdNode", "/v1/nodes/inf2/hold", "{\"reason\":\"fan\"}"},
    {"nodeCondition", "/v1/nodes/gpu4/condition",
     "{\"condition\":\"unhealthy\",\"on\":true,\"text\":\"x\"}"},
    {"addImage", "/v1/images",
     "{\"ref\":\"registry.invalid/a:1\",\"cuda\":\"12.8\",\"source\":\"scan\"}"},
    {"override", "/v1/overrides",
     "{\"job\":\"7\",\"nodes\":\"gpu[1-2]\",\"reason\":\"x\",\"until\":\"@\"}"},
    {"propose", "/v1/changes", "{\"stack\":\"cooler\",\"pool\":\"serve\",\"reason\":\"r\"}"},
    {"propose", "/v1/changes", "{\"stack\":\"cooler\",\"nodes\":\"gpu1\",\"reason\":\"r\"}"},
    {"freeze", "/v1/freeze", "{\"pool\":\"play\",\"reason\":\"x\"}"},
    {"admit", "/v1/admit", "{\"job\":\"9\",\"nodes\":\"gpu[1-4]\"}"},
};

static void fill(const char *text, char *out, size_t size)
{
    struct lks_str head, tail;
    char at[LKS_TIME_TEXT_SIZE];
    bool timed = lks_str_cut(lks_str_from(text), '@', &head, &tail);
    (void)lks_time_text(((lks_ms)time(NULL) + 3600) * LKS_SECOND, at);
    snprintf(out, size, "%" LKS_STR_FMT "%s%" LKS_STR_FMT, LKS_STR_ARG(head), timed ? at : "",
             LKS_STR_ARG(tail));
}

/* What is refused in this state leaves nothing behind, and is no fault. */
static void leave_traces(struct population *p)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    for (size_t i = 0; i < LKS_COUNT(calls); i++) {
        char body[512];
        fill(calls[i].body, body, sizeof(body));
        lks_test_case("%s", calls[i].id);
        int status = crew_ask(p->crew.root, "POST", calls[i].path, body, &t);
        if (status != 200)
            printf("%s: %d %" LKS_STR_FMT "\n", calls[i].id, status,
                   LKS_STR_ARG(crew_text(&t, "detail")));
    }
}

/* People, with tokens that requests may have ended. */
static bool connect_people(struct population *p)
{
    static const char *const tokens[] = {"admin-all", "viewer-all", "operator-train",
                                         "approver-all"};
    const struct {
        struct lks_client **client;
        const char *role, *pool;
    } people[] = {
        {&p->admin, "admin", ""},
        {&p->viewer, "viewer", ""},
        {&p->operator_, "operator", "train"},
        {&p->approver, "approver", ""},
    };
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    bool all = true;
    for (size_t i = 0; i < LKS_COUNT(people); i++) {
        char path[64];
        snprintf(path, sizeof(path), "/v1/tokens/%s", tokens[i]);
        (void)crew_ask(p->crew.root, "DELETE", path, NULL, &t);
        lks_client_free(*people[i].client);
        *people[i].client = crew_person(&p->crew, people[i].role, people[i].pool);
        all = all && *people[i].client != NULL;
    }
    return all;
}

static struct lks_client *connect_nobody(const struct population *p)
{
    char server[64];
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    snprintf(server, sizeof(server), "https://localhost:%u", p->crew.c.people);
    struct lks_client_options options = {
        .server = server, .ca = ctl_path(&p->crew.c, "data/ca.crt"), .timeout_ms = LKS_WAIT_MS};
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    return client;
}

static bool enroll_all(struct population *p)
{
    for (size_t i = 0; i < POP_NODES; i++) {
        p->agents[i] = crew_enroll(&p->crew, nodes[i].node);
        if (p->agents[i] == NULL ||
            !crew_report(p->agents[i], nodes[i].node, nodes[i].changes, &p->beats[i]))
            return false;
    }
    return true;
}

/* Values that were seen --------------------------------------------------------------------- */

static void keep(struct population *p, struct lks_str key, struct lks_str text)
{
    if (text.len == 0 || text.len > TEXT_LEN_MAX || key.len == 0 ||
        p->known_count == LKS_COUNT(p->known))
        return;
    for (size_t i = 0; i < p->known_count; i++) {
        if (lks_str_is(key, p->known[i].key) && lks_str_is(text, p->known[i].text))
            return;
    }
    p->known[p->known_count++] = (struct pop_value){
        strndup(key.ptr, key.len),
        strndup(text.ptr, text.len),
    };
}

static void keep_all(struct population *p, const struct lks_doc *doc, struct lks_str key)
{
    char number[32];
    if (doc->key.len > 0)
        key = doc->key;
    if (doc->kind == LKS_DOC_NUMBER) {
        snprintf(number, sizeof(number), "%lld", (long long)doc->number);
        keep(p, key, lks_str_from(number));
    } else if (doc->kind == LKS_DOC_TEXT) {
        keep(p, key, doc->text);
        if (lks_str_starts(doc->text, "sha256:"))
            keep(p, LKS_STR("digest"), doc->text);
    }
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next)
        keep_all(p, item, key);
}

static void forget(struct population *p)
{
    for (size_t i = 0; i < p->known_count; i++) {
        free(p->known[i].key);
        free(p->known[i].text);
    }
    p->known_count = 0;
}

static void harvest(struct population *p)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    static const char *const names[] = {"gpu1", "gpu2", "inf1", "dev1", "gpu[1-2]"};
    static const char *const stacks[] = {"golden", "cooler"};
    forget(p);
    for (size_t i = 0; i < LKS_COUNT(names); i++)
        keep(p, LKS_STR("name"), lks_str_from(names[i]));
    for (size_t i = 0; i < LKS_COUNT(stacks); i++)
        keep(p, LKS_STR("stack"), lks_str_from(stacks[i]));
    for (size_t i = 0; i < lks_route_count; i++) {
        const struct lks_route *r = &lks_routes[i];
        bool list = strcmp(r->method, "GET") == 0 && strchr(r->path, '{') == NULL;
        if (!list || r->answer == NULL || r->listener != LKS_LISTENER_PEOPLE)
            continue;
        lks_test_case("%s", r->path);
        int status = crew_ask(p->crew.root, "GET", r->path, NULL, &t);
        if (status == 200 && t.doc != NULL)
            keep_all(p, t.doc, (struct lks_str){0});
    }
}

const char *pop_pick(const struct population *p, const char *key, struct lks_rng *rng)
{
    if (p->known_count == 0)
        return NULL;
    size_t from = (size_t)lks_rng_below(rng, p->known_count);
    for (size_t i = 0; i < p->known_count; i++) {
        const struct pop_value *v = &p->known[(from + i) % p->known_count];
        if (key == NULL || strcmp(v->key, key) == 0)
            return v->text;
    }
    return NULL;
}

/* The daemon -------------------------------------------------------------------------------- */

bool pop_begin(struct population *p)
{
    static const char *const cooler[] = {"name: ", "name: cooler",
                                         "  power_limit_w: ", "  power_limit_w: 650", NULL};
    char digest[LKS_DIGEST_SIZE];
    *p = (struct population){0};
    if (!crew_begin(&p->crew, config) || !crew_release(&p->crew, digest) ||
        !crew_release_with(&p->crew, cooler, digest) || !crew_fleet(&p->crew, fleet) ||
        !enroll_all(p))
        return false;
    p->nobody = connect_nobody(p);
    leave_traces(p);
    harvest(p);
    return connect_people(p) && p->nobody != NULL;
}

void pop_refresh(struct population *p)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    (void)crew_ask(p->crew.root, "PUT", "/v1/fleet?accept=true", fleet, &t);
    (void)connect_people(p);
    harvest(p);
}

/* A sanitizer that finds something says so on the way out. */
static void check_log(const struct population *p)
{
    static const char *const marks[] = {"ERROR: AddressSanitizer",
                                        "runtime error:", "ERROR: LeakSanitizer",
                                        "this should be impossible"};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LOG_MAX);
    struct lks_err err = {0};
    CHECK_CODE(lks_file_read_plain(ctl_path(&p->crew.c, "log"), &text, &err), LKS_OK);
    struct lks_str log = lks_buf_view(&text);
    for (size_t i = 0; i < LKS_COUNT(marks); i++) {
        ptrdiff_t at = lks_str_find(log, lks_str_from(marks[i]));
        if (!CHECK(at < 0)) {
            size_t left = log.len - (size_t)at;
            printf("%.*s\n", (int)(left < LOG_SHOWN ? left : LOG_SHOWN), log.ptr + at);
        }
    }
}

void pop_end(struct population *p)
{
    struct lks_client *const all[] = {p->admin, p->viewer, p->operator_, p->approver, p->nobody};
    for (size_t i = 0; i < LKS_COUNT(all); i++)
        lks_client_free(all[i]);
    for (size_t i = 0; i < POP_NODES; i++)
        lks_client_free(p->agents[i]);
    lks_client_free(p->crew.root);
    lks_client_free(p->crew.admin);
    p->crew.root = p->crew.admin = NULL;
    lks_test_case("the end");
    if (p->crew.c.pid != 0)
        CHECK_INT(ctl_stop(&p->crew.c), 0);
    check_log(p);
    crew_end(&p->crew);
    forget(p);
}
