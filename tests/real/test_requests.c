/* Whole requests, made at random with names and numbers that exist, against a lockstepd that holds
 * some of everything: as root, admin, operator, approver, viewer and nobody. Every answer has a
 * status that the OpenAPI document has for its route, and a body of the form that it gives.
 *
 *     test_real_requests [COUNT [SEED]]
 *     test_real_requests serve              for another program: says where, and waits for its end
 */
#include "server/form/forms.h"
#include "tests/real/requests.h"
#include "tests/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 100000, REFRESH = 1000, FAULTS_MAX = 12, SHOWN = 400 };

static uint64_t count = COUNT, seed;

struct tally {
    uint64_t statuses[600];
    unsigned faults;
};

static void show(struct tally *t, const char *who, const struct random_request *r, int status,
                 const char *why, struct lks_str answer)
{
    t->faults++;
    CHECK(false);
    printf("%s: %s %.*s\n%sbody: %.*s\nanswer %d: %.*s\n%s\n\n", who, r->method,
           (int)(r->path.len < SHOWN ? r->path.len : SHOWN), r->path.ptr, r->head,
           (int)(r->body.len < SHOWN ? r->body.len : SHOWN), r->body.len > 0 ? r->body.ptr : "",
           status, (int)(answer.len < SHOWN ? answer.len : SHOWN), answer.ptr, why);
}

/* Why an answer is none that is documented; empty: it is. */
static void judge(const struct random_request *r, const struct lks_http_answer *a,
                  struct lks_err *why)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_route_match match;
    lks_route_find(LKS_LISTENER_PEOPLE, r->method, r->decoded.ptr, &match);
    const struct lks_route *route = match.route;
    struct lks_str type = lks_http_answer_header(a, "content-type");
    bool problem = a->status >= 400;
    bool too_long = a->status == 414 || a->status == 431;
    bool known = route != NULL
                     ? lks_openapi_documents(route, a->status)
                     : a->status == (match.known_path ? 405 : 404) || a->status == 400 || too_long;
    if (!known || a->status >= 500) {
        (void)!lks_fail(why, LKS_E_INVALID, "a status that %s does not document",
                        route != NULL ? route->id : "a path without a route");
        return;
    }
    if (problem && !lks_str_is(type, "application/problem+json")) {
        (void)!lks_fail(why, LKS_E_INVALID, "a problem of another type");
        return;
    }
    const struct lks_form *form = problem ? &lks_form_problem : route->answer;
    bool other = a->status == 304 || form == NULL;
    if (other || lks_docs_init(&docs, "answer", why) != LKS_OK ||
        lks_json_parse(lks_buf_view(&a->body), &docs, why) != LKS_OK)
        return;
    (void)!lks_schema_check(&docs, docs.first, form, why);
}

static bool exchange(struct lks_client *client, const struct random_request *r,
                     struct lks_http_answer *out, struct lks_err *err)
{
    return lks_client_exchange(client, r->method, r->path.ptr, r->type, lks_buf_view(&r->body),
                               r->head, out, err) == LKS_OK;
}

static void send_one(const struct population *p, struct random_request *r, struct lks_rng *rng,
                     struct tally *t)
{
    const struct {
        const char *name;
        struct lks_client *client;
    } people[] = {
        {"root", p->crew.root},     {"root", p->crew.root},    {"admin", p->admin},
        {"operator", p->operator_}, {"approver", p->approver}, {"viewer", p->viewer},
        {"nobody", p->nobody},
    };
    struct lks_http_answer answer = {0};
    struct lks_err err = {0}, why = {0};
    size_t who = (size_t)lks_rng_below(rng, LKS_COUNT(people));
    random_request_make(r, p, rng);
    /* One that the server ended between two requests is opened again. */
    bool answered = exchange(people[who].client, r, &answer, &err);
    if (!answered) {
        lks_http_answer_fini(&answer);
        answered = exchange(people[who].client, r, &answer, &err);
    }
    if (!answered) {
        show(t, people[who].name, r, 0, err.msg, LKS_STR(""));
    } else {
        t->statuses[answer.status < 600 ? answer.status : 0]++;
        judge(r, &answer, &why);
        if (why.code != LKS_OK)
            show(t, people[who].name, r, answer.status, why.msg, lks_buf_view(&answer.body));
    }
    lks_http_answer_fini(&answer);
}

static void test_requests(void)
{
    static struct population p;
    struct random_request r = {0};
    struct tally t = {0};
    struct lks_rng rng = {seed};
    if (pop_begin(&p)) {
        for (uint64_t i = 0; i < count && t.faults < FAULTS_MAX; i++) {
            lks_test_case("request %llu of seed %llu", (unsigned long long)i,
                          (unsigned long long)seed);
            send_one(&p, &r, &rng, &t);
            if (kill(p.crew.c.pid, 0) != 0)
                break;
            if (i % REFRESH == REFRESH - 1)
                pop_refresh(&p);
        }
        for (size_t i = 0; i < LKS_COUNT(t.statuses); i++) {
            if (t.statuses[i] > 0)
                printf("%zu: %llu\n", i, (unsigned long long)t.statuses[i]);
        }
        /* A fuzzer that is refused everything finds nothing. */
        CHECK(t.statuses[200] > count / 20);
        CHECK(t.statuses[404] > count / 100 && t.statuses[409] > count / 1000);
    }
    random_request_fini(&r);
    pop_end(&p);
}

static void put_token(const struct population *p, const char *id, struct lks_json_writer *w)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char body[128];
    snprintf(body, sizeof(body), "{\"id\":\"serve-%s\",\"identity\":\"%s-\"}", id, id);
    if (crew_fine(p->crew.root, "makeToken", "/v1/tokens", body, &t))
        lks_json_text(w, id, crew_text(&t, "token"));
}

/* One line of JSON: the address, the CA, tokens by role, and what is known by key. */
static void say_where(const struct population *p)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(4 << 20);
    char server[64];
    struct lks_json_writer w = {.out = &line};
    snprintf(server, sizeof(server), "https://localhost:%u", p->crew.c.people);
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "server", server);
    lks_json_cstr(&w, "ca", ctl_path(&p->crew.c, "data/ca.crt"));
    lks_json_begin(&w, "tokens", '{');
    put_token(p, "admin", &w);
    put_token(p, "viewer", &w);
    lks_json_end(&w, '}');
    lks_json_begin(&w, "known", '[');
    for (size_t i = 0; i < p->known_count; i++) {
        lks_json_begin(&w, NULL, '[');
        lks_json_cstr(&w, NULL, p->known[i].key);
        lks_json_cstr(&w, NULL, p->known[i].text);
        lks_json_end(&w, ']');
    }
    lks_json_end(&w, ']');
    lks_json_end(&w, '}');
    printf("serving %s\n", line.ptr);
    fflush(stdout);
}

static void test_serve(void)
{
    static struct population p;
    char byte;
    if (pop_begin(&p)) {
        say_where(&p);
        while (read(STDIN_FILENO, &byte, 1) > 0)
            continue;
    }
    pop_end(&p);
}

int main(int argc, char **argv)
{
    static const struct lks_test tests[] = {
        {"requests at random get answers that are documented", test_requests},
        {0},
    };
    static const struct lks_test serve[] = {
        {"the daemon ends as it should", test_serve},
        {0},
    };
    /* `make test-real` names a lockstepd with sanitizers; by hand it is the build's own. */
    const char *sanitized = getenv("LKS_SANITIZED");
    if (sanitized != NULL)
        setenv("LKS_DAEMON", sanitized, 1);
    if (argc > 1 && strcmp(argv[1], "serve") == 0)
        return lks_test_main(serve);
    seed = (uint64_t)time(NULL);
    if (argc > 1)
        (void)lks_str_number(lks_str_from(argv[1]), UINT64_MAX, &count);
    if (argc > 2)
        (void)lks_str_number(lks_str_from(argv[2]), UINT64_MAX, &seed);
    printf("seed %llu\n", (unsigned long long)seed);
    return lks_test_main(tests);
}
