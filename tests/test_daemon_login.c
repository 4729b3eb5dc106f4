/* People log in with an OpenID provider that the test plays: who they are, what their groups give
 * them and for how long, what is refused, and what happens while the provider is away or changes
 * its keys. */
#include "base/file.h"
#include "server/base/auth.h"
#include "tests/crew.h"
#include "tests/liar.h"
#include "tests/provider.h"
#include "tests/test.h"
#include "tests/tree.h"
#include "tests/wait.h"
#include "trust/token.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHY  "{\"reason\":\"r\"}"
#define CODE "{\"code\":\"dc-1\"}"

#define KIM   ",\"email\":\"kim@x.org\",\"email_verified\":true,\"groups\":[\"board\",\"staff\"]"
#define LEE   ",\"email\":\"lee@x.org\",\"email_verified\":true,\"groups\":[\"board\"]"
#define OTTO  ",\"email\":\"otto@x.org\",\"email_verified\":true,\"groups\":[\"sre\"]"
#define GUEST ",\"email\":\"guest@x.org\",\"email_verified\":true,\"groups\":[\"visitors\"]"

static const char fleet[] = "lockstep: 1\nkind: Fleet\nname: here\n"
                            "pools: {train: {posture: batch, stack: golden},\n"
                            "        test: {posture: batch, stack: golden}}\n"
                            "nodes: [{hosts: gpu1, pool: train, class: hgx-h200-8},\n"
                            "        {hosts: gpu2, pool: test, class: hgx-h200-8}]\n";

struct scene {
    struct crew crew;
    struct lks_provider provider;
    struct lks_signer first, second;
    struct lks_client *nobody, *agent;
    uint64_t beats;
};

static void configure(const struct scene *s, struct lks_buf *out)
{
    lks_buf_init(out, 4096);
    lks_buf_addf(out,
                 "rate: {people_per_s: 100000, burst: 1000000}\nhttp: {address_calls: 2}\n"
                 "oidc:\n  issuer: %s\n  ca: %s\n  client_secret: file:%s\n"
                 "  roles: [board=approver@train, staff=viewer, sre=operator@train]\n"
                 "  session_hours: 8\n",
                 s->provider.issuer, s->provider.ca, s->provider.secret);
}

/* A client without a credential; NULL is a failed check. */
static struct lks_client *stranger(struct scene *s)
{
    struct lks_client *client = NULL;
    char server[64];
    struct lks_err err = {0};
    snprintf(server, sizeof(server), "https://localhost:%u", s->crew.c.people);
    const struct lks_client_options options = {
        .server = server, .ca = ctl_path(&s->crew.c, "data/ca.crt"), .timeout_ms = LKS_WAIT_MS};
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    return client;
}

static bool scene_begin(struct scene *s)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf config = {0};
    static const char *const cooler[] = {"name: ", "name: cooler",
                                         "  power_limit_w: ", "  power_limit_w: 650", NULL};
    char from[LKS_DIGEST_SIZE], to[LKS_DIGEST_SIZE];
    *s = (struct scene){0};
    lks_signer_make(&s->first, 2048, "k1");
    lks_signer_make(&s->second, 0, "k2");
    if (!lks_provider_init(&s->provider) || !lks_provider_start(&s->provider))
        return false;
    s->provider.signs = s->provider.published = &s->first;
    configure(s, &config);
    if (!crew_begin(&s->crew, config.ptr) || !crew_release(&s->crew, from) ||
        !crew_release_with(&s->crew, cooler, to) || !crew_fleet(&s->crew, fleet))
        return false;
    s->nobody = stranger(s);
    s->agent = crew_enroll(&s->crew, "gpu1");
    return s->agent != NULL && crew_report(s->agent, "gpu1", "", &s->beats);
}

static void scene_end(struct scene *s)
{
    lks_client_free(s->nobody);
    lks_client_free(s->agent);
    crew_end(&s->crew);
    lks_provider_fini(&s->provider);
    lks_signer_fini(&s->first);
    lks_signer_fini(&s->second);
}

/* Log in as whom the claims describe; a client with the token, and its id. NULL is a failed check.
 */
static struct lks_client *log_in(struct scene *s, const char *claims, char id[LKS_TOKEN_ID_MAX + 1])
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct lks_client *client = NULL;
    struct lks_token token;
    struct lks_err err = {0};
    char server[64], text[LKS_TOKEN_TEXT_MAX];
    lks_provider_mood(&s->provider, LKS_PROVIDER_NAMES, claims);
    if (!crew_fine(s->nobody, "loginPoll", "/v1/login/device/poll", CODE, &t) ||
        !CHECK_STR(crew_text(&t, "state"), "done"))
        return NULL;
    snprintf(text, sizeof(text), "%" LKS_STR_FMT, LKS_STR_ARG(crew_text(&t, "token")));
    CHECK_CODE(lks_token_parse(lks_str_from(text), &token, &err), LKS_OK);
    snprintf(id, LKS_TOKEN_ID_MAX + 1, "%" LKS_STR_FMT, LKS_STR_ARG(token.id));
    snprintf(server, sizeof(server), "https://localhost:%u", s->crew.c.people);
    const struct lks_client_options options = {.server = server,
                                               .ca = ctl_path(&s->crew.c, "data/ca.crt"),
                                               .token = text,
                                               .timeout_ms = LKS_WAIT_MS};
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    return client;
}

static void refused(struct scene *s, int status, const char *detail)
{
    crew_refused(s->nobody, "loginPoll", "/v1/login/device/poll", CODE, status, detail);
}

/* A login ----------------------------------------------------------------------------------- */

static void check_pending(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(s->nobody, "loginDevice", "/v1/login/device", NULL, &t);
    CHECK_STR(crew_text(&t, "code"), "dc-1");
    CHECK_STR(crew_text(&t, "user_code"), "ABCD-EFGH");
    CHECK_HAS(crew_text(&t, "uri"), s->provider.issuer);
    CHECK_INT(crew_number(&t, "interval"), 1);
    crew_fine(s->nobody, "loginPoll", "/v1/login/device/poll", CODE, &t);
    CHECK_STR(crew_text(&t, "state"), "pending");
    lks_provider_mood(&s->provider, LKS_PROVIDER_SLOW, "");
    crew_fine(s->nobody, "loginPoll", "/v1/login/device/poll", CODE, &t);
    CHECK_STR(crew_text(&t, "state"), "slow");
}

/* What the groups give: everywhere, and in one pool alone. */
static void check_roles(struct scene *s, struct lks_client *kim, const char *id)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(kim, "whoami", "/v1/whoami", NULL, &t);
    CHECK_STR(crew_text(&t, "identity"), "user:kim@x.org");
    CHECK_STR(crew_text(&t, "by"), "login");
    CHECK_STR(crew_text(&t, "issuer"), s->provider.issuer);
    CHECK(crew_text(&t, "expires").len > 0);
    CHECK_INT(crew_count(&t, "bindings"), 2);
    CHECK_STR(lks_doc_text(crew_item(&t, "bindings", 0), "role"), "approver");
    CHECK_STR(lks_doc_text(crew_item(&t, "bindings", 0), "pool"), "train");
    CHECK_STR(lks_doc_text(crew_item(&t, "bindings", 1), "role"), "viewer");
    crew_fine(kim, "node", "/v1/nodes/gpu2", NULL, &t);
    crew_refused(kim, "holdNode", "/v1/nodes/gpu1/hold", WHY, 403, "may not operate here");
    crew_refused(kim, "renewToken", "/v1/tokens/renew", NULL, 409, "is of a login; log in again");
    crew_fine(s->crew.admin, "access", "/v1/access", NULL, &t);
    const struct lks_doc *listed = lks_doc_member(t.doc, "tokens")->first;
    while (listed != NULL && !lks_str_is(lks_doc_text(listed, "id"), id))
        listed = listed->next;
    if (CHECK(listed != NULL)) {
        CHECK_STR(lks_doc_text(listed, "issuer"), s->provider.issuer);
        CHECK(lks_doc_member(listed, "minter") == NULL);
        CHECK_STR(lks_doc_member(listed, "roles")->first->text, "approver@train");
        CHECK(lks_doc_text(listed, "expires").len > 0);
    }
}

/* An admin asks what kim may: as long as a login lasts, what it gives. */
static void check_can(struct scene *s, const char *question, bool yes, const char *id)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[160];
    snprintf(path, sizeof(path), "/v1/access/can?%s&identity=user:kim@x.org", question);
    lks_test_case("%s", question);
    crew_fine(s->crew.admin, "can", path, NULL, &t);
    CHECK(crew_truth(&t, "yes") == yes);
    if (yes)
        CHECK_STR(lks_doc_text(crew_item(&t, "grants", 0), "login"), id);
}

/* The roles of a login are its token's: another credential of the same identity has none. */
static void check_others(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    char text[LKS_TOKEN_TEXT_MAX], server[64];
    crew_fine(s->crew.admin, "makeToken", "/v1/tokens",
              "{\"id\":\"kim-2\",\"identity\":\"user:kim@x.org\"}", &t);
    snprintf(text, sizeof(text), "%" LKS_STR_FMT, LKS_STR_ARG(crew_text(&t, "token")));
    snprintf(server, sizeof(server), "https://localhost:%u", s->crew.c.people);
    const struct lks_client_options options = {.server = server,
                                               .ca = ctl_path(&s->crew.c, "data/ca.crt"),
                                               .token = text,
                                               .timeout_ms = LKS_WAIT_MS};
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    crew_fine(client, "whoami", "/v1/whoami", NULL, &t);
    CHECK_INT(crew_count(&t, "bindings"), 0);
    crew_refused(client, "node", "/v1/nodes/gpu1", NULL, 403, "may not read here");
    crew_refused(client, "logout", "/v1/logout", NULL, 409, "did not log in");
    crew_refused(s->crew.admin, "makeToken", "/v1/tokens",
                 "{\"id\":\"login.kim\",\"identity\":\"kim\"}", 400, "are of logins");
    lks_client_free(client);
}

static void test_login(void)
{
    struct scene s;
    char id[LKS_TOKEN_ID_MAX + 1] = "", again[LKS_TOKEN_ID_MAX + 1] = "", path[320];
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    if (!CHECK(scene_begin(&s))) {
        scene_end(&s);
        return;
    }
    check_pending(&s);
    struct lks_client *kim = log_in(&s, KIM, id), *too = log_in(&s, KIM, again);
    CHECK(strcmp(id, again) != 0);
    check_roles(&s, kim, id);
    check_others(&s);
    check_can(&s, "act=unfreeze", false, "");
    CHECK(crew_again(&s.crew)); /* a login survives a restart: it is in the journal */
    lks_client_free(kim);
    lks_client_free(too);
    lks_client_free(s.nobody);
    s.nobody = stranger(&s);
    snprintf(path, sizeof(path), "/v1/tokens/%s", id);
    crew_fine(s.crew.admin, "endToken", path, NULL, &t);
    crew_refused(s.crew.admin, "endToken", path, NULL, 404, "no token");
    snprintf(path, sizeof(path), "/v1/tokens/%s", again);
    crew_fine(s.crew.admin, "endToken", path, NULL, &t);
    kim = log_in(&s, KIM, id);
    check_can(&s, "act=unfreeze&pool=train", true, id);
    crew_fine(kim, "logout", "/v1/logout", NULL, &t);
    crew_refused(kim, "whoami", "/v1/whoami", NULL, 401, "has expired");
    check_can(&s, "act=unfreeze&pool=train", false, "");
    lks_client_free(kim);
    scene_end(&s);
}

/* Votes ------------------------------------------------------------------------------------- */

static int64_t approvals(struct scene *s, uint64_t id)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[64];
    snprintf(path, sizeof(path), "/v1/changes/%llu", (unsigned long long)id);
    crew_fine(s->crew.admin, "change", path, NULL, &t);
    const struct lks_doc *given = lks_doc_member(lks_doc_member(t.doc, "approvals"), "given");
    return given != NULL ? given->number : -1;
}

/* Two whom the provider named stand for themselves, on a change of the one admin there is; a login
 * that ended leaves its vote, one that was revoked takes it along. */
static void test_votes(void)
{
    struct scene s;
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char kim_id[LKS_TOKEN_ID_MAX + 1] = "", lee_id[LKS_TOKEN_ID_MAX + 1] = "", path[320];
    if (CHECK(scene_begin(&s)) &&
        crew_fine(s.crew.admin, "propose", "/v1/changes",
                  "{\"stack\":\"cooler\",\"pool\":\"train\",\"class\":\"routine\","
                  "\"reason\":\"r\"}",
                  &t)) {
        uint64_t id = (uint64_t)crew_number(&t, "id");
        CHECK(lks_doc_member(t.doc, "unreachable") == NULL); /* who may log in is not known here */
        struct lks_client *kim = log_in(&s, KIM, kim_id), *lee = log_in(&s, LEE, lee_id);
        snprintf(path, sizeof(path), "/v1/changes/%llu/approve", (unsigned long long)id);
        crew_fine(kim, "approveChange", path, WHY, &t);
        CHECK_INT(approvals(&s, id), 1);
        crew_fine(kim, "logout", "/v1/logout", NULL, &t);
        CHECK_INT(approvals(&s, id), 1);
        crew_fine(lee, "approveChange", path, WHY, &t);
        CHECK_STR(crew_text(&t, "state"), "approved");
        CHECK_INT(approvals(&s, id), 2);
        snprintf(path, sizeof(path), "/v1/tokens/%s", lee_id);
        crew_fine(s.crew.admin, "endToken", path, NULL, &t);
        CHECK_INT(approvals(&s, id), 1);
        lks_client_free(kim);
        lks_client_free(lee);
    }
    scene_end(&s);
}

/* Refusals ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum lks_provider_mood mood;
    const char *claims, *audience, *header;
    int64_t age; /* seconds that the provider's clock is behind */
    int status;
    const char *told;
} rows[] = {
    {"the provider says no", LKS_PROVIDER_DENIES, "", NULL, NULL, 0, 403,
     "refuses the login (400 access_denied)"},
    {"the code is over", LKS_PROVIDER_EXPIRED, "", NULL, NULL, 0, 403, "start again"},
    {"no group has a role", LKS_PROVIDER_NAMES, GUEST, NULL, NULL, 0, 403,
     "no group of user:guest@x.org has a role here"},
    {"no groups at all", LKS_PROVIDER_NAMES, ",\"email\":\"kim@x.org\",\"email_verified\":true",
     NULL, NULL, 0, 403, "no group of user:kim@x.org"},
    {"no name", LKS_PROVIDER_NAMES, ",\"groups\":[\"board\"]", NULL, NULL, 0, 403,
     "no claim 'email' that names a person"},
    {"a name that is none here", LKS_PROVIDER_NAMES,
     ",\"email\":\"kim lee\",\"email_verified\":true,\"groups\":[\"board\"]", NULL, NULL, 0, 400,
     "is no identity"},
    {"an address that is not verified", LKS_PROVIDER_NAMES,
     ",\"email\":\"kim@x.org\",\"email_verified\":false,\"groups\":[\"board\"]", NULL, NULL, 0, 403,
     "does not say that it verified the address"},
    {"an address of which nothing is said", LKS_PROVIDER_NAMES,
     ",\"email\":\"kim@x.org\",\"groups\":[\"board\"]", NULL, NULL, 0, 403,
     "does not say that it verified the address"},
    {"for another client", LKS_PROVIDER_NAMES, KIM, "wiki", NULL, 0, 403, "aud is not lockstep"},
    {"not signed", LKS_PROVIDER_NAMES, KIM, NULL, "{\"alg\":\"none\",\"kid\":\"k1\"}", 0, 403,
     "signed with 'none'"},
    {"a clock that is an hour behind", LKS_PROVIDER_NAMES, KIM, NULL, NULL, 3600, 403,
     "exp has passed; do the clocks"},
    {"a clock that is an hour ahead", LKS_PROVIDER_NAMES, KIM, NULL, NULL, -3600, 403,
     "iat is in the future; do the clocks"},
    {"a provider that fails", LKS_PROVIDER_BROKEN, "", NULL, NULL, 0, 503, "answered 500"},
    {"a provider that answers in HTML", LKS_PROVIDER_GARBAGE, "", NULL, NULL, 0, 503,
     "cannot be asked"},
};

static void test_refusals(void)
{
    struct scene s;
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char id[LKS_TOKEN_ID_MAX + 1];
    if (!CHECK(scene_begin(&s))) {
        scene_end(&s);
        return;
    }
    struct lks_client *otto = log_in(&s, OTTO, id);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        pthread_mutex_lock(&s.provider.lock);
        s.provider.audience = rows[i].audience;
        s.provider.header = rows[i].header;
        s.provider.age = rows[i].age;
        pthread_mutex_unlock(&s.provider.lock);
        lks_provider_mood(&s.provider, rows[i].mood, rows[i].claims);
        refused(&s, rows[i].status, rows[i].told);
        crew_fine(otto, "whoami", "/v1/whoami", NULL, &t);
    }
    lks_client_free(otto);
    scene_end(&s);
}

/* Keys, and a provider that is away ---------------------------------------------------------- */

static unsigned asked_keys(struct scene *s)
{
    pthread_mutex_lock(&s->provider.lock);
    unsigned asked = s->provider.asked_keys;
    pthread_mutex_unlock(&s->provider.lock);
    return asked;
}

static void rotate(struct scene *s, struct lks_signer *signs, struct lks_signer *published)
{
    pthread_mutex_lock(&s->provider.lock);
    s->provider.signs = signs;
    s->provider.published = published;
    pthread_mutex_unlock(&s->provider.lock);
}

static void test_keys(void)
{
    struct scene s;
    char id[LKS_TOKEN_ID_MAX + 1];
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    if (CHECK(scene_begin(&s))) {
        struct lks_client *kim = log_in(&s, KIM, id), *lee = log_in(&s, LEE, id);
        CHECK_INT(asked_keys(&s), 1);
        rotate(&s, &s.second, &s.second); /* another kind of key, too */
        struct lks_client *otto = log_in(&s, OTTO, id);
        CHECK_INT(asked_keys(&s), 2);
        rotate(&s, &s.first, &s.second); /* signed with a key that was withdrawn */
        lks_provider_mood(&s.provider, LKS_PROVIDER_NAMES, KIM);
        refused(&s, 403, "the provider has no key 'k1'");
        refused(&s, 403, "the provider has no key 'k1'");
        CHECK_INT(asked_keys(&s), 2); /* not for each made-up token */
        crew_fine(kim, "whoami", "/v1/whoami", NULL, &t);
        lks_client_free(kim);
        lks_client_free(lee);
        lks_client_free(otto);
    }
    scene_end(&s);
}

static bool metric(struct scene *s, const char *line)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1 << 20);
    CHECK_INT(ctl_ask(s->crew.admin, "GET", "/metrics", NULL, &text), 200);
    return CHECK_HAS(lks_buf_view(&text), line);
}

static void doctor_says(struct scene *s, int exit, const char *want)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(1 << 16);
    const char *const doctor[] = {LKS_CLI_PROGRAM, "doctor", ctl_path(&s->crew.c, "data"), NULL};
    CHECK_INT(ctl_run(doctor, &said), exit);
    CHECK_HAS(lks_buf_view(&said), want);
}

static void test_away(void)
{
    struct scene s;
    char id[LKS_TOKEN_ID_MAX + 1];
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    if (CHECK(scene_begin(&s))) {
        struct lks_client *otto = log_in(&s, OTTO, id);
        lks_provider_stop(&s.provider);
        crew_refused(s.nobody, "loginDevice", "/v1/login/device", NULL, 503,
                     "logins that are open go on");
        refused(&s, 503, "logins that are open go on");
        crew_fine(otto, "holdNode", "/v1/nodes/gpu1/hold", WHY, &t);
        crew_refused(otto, "holdNode", "/v1/nodes/gpu2/hold", WHY, 403, "may not operate here");
        metric(&s, "\nlockstep_oidc_failed_total 2\n");
        CHECK_HAS(ctl_log(&s.crew.c), "the OpenID provider does not answer");
        doctor_says(&s, 1, "the OpenID provider has not answered for ");
        CHECK(lks_provider_start(&s.provider));
        struct lks_client *kim = log_in(&s, KIM, id);
        metric(&s, "\nlockstep_oidc_logins_total 2\n");
        metric(&s, "\nlockstep_oidc_failing_seconds 0\n");
        CHECK_HAS(ctl_log(&s.crew.c), "the OpenID provider answers again");
        doctor_says(&s, 0, "the OpenID provider answered when it was last asked");
        lks_client_free(otto);
        lks_client_free(kim);
    }
    scene_end(&s);
}

/* A login that waits for the provider. */
struct waiting {
    struct lks_client *client;
    pthread_t thread;
    atomic_int status; /* 0: not answered */
};

static void *wait_for_login(void *arg)
{
    struct waiting *w = arg;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1 << 20);
    atomic_store(&w->status, ctl_ask(w->client, "POST", "/v1/login/device", NULL, &text));
    return NULL;
}

static unsigned unanswered(struct scene *s)
{
    pthread_mutex_lock(&s->provider.lock);
    unsigned count = s->provider.unanswered;
    pthread_mutex_unlock(&s->provider.lock);
    return count;
}

/* Strangers who make the controller ask a provider that does not answer keep others from logging
 * in, and from nothing else; and each address has only so many such calls. */
static void test_silent(void)
{
    struct scene s;
    struct waiting all[2] = {0};
    char digest[LKS_DIGEST_SIZE];
    static const char *const warmer[] = {"name: ", "name: warmer",
                                         "  power_limit_w: ", "  power_limit_w: 690", NULL};
    if (!CHECK(scene_begin(&s))) {
        scene_end(&s);
        return;
    }
    lks_provider_mood(&s.provider, LKS_PROVIDER_SILENT, "");
    for (size_t i = 0; i < LKS_COUNT(all); i++) {
        all[i].client = stranger(&s);
        CHECK(pthread_create(&all[i].thread, NULL, wait_for_login, &all[i]) == 0);
    }
    for (struct lks_wait w = {0}; unanswered(&s) < LKS_COUNT(all) && lks_wait(&w);) {
    }
    crew_refused(s.nobody, "loginDevice", "/v1/login/device", NULL, 429, "http.address_calls");
    CHECK(crew_release_with(&s.crew, warmer, digest));
    for (size_t i = 0; i < LKS_COUNT(all); i++)
        CHECK_INT(atomic_load(&all[i].status), 0);
    lks_provider_stop(&s.provider);
    for (size_t i = 0; i < LKS_COUNT(all); i++) {
        pthread_join(all[i].thread, NULL);
        CHECK_INT(atomic_load(&all[i].status), 503);
        lks_client_free(all[i].client);
    }
    scene_end(&s);
}

/* The command ------------------------------------------------------------------------------- */

static void run_json(const char *const *argv, const char *want)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(1 << 20);
    const char *all[CTL_ARGS_MAX] = {0};
    size_t count = 0;
    for (; argv[count] != NULL; count++)
        all[count] = argv[count];
    all[count] = "--json";
    CHECK_INT(ctl_run(all, &said), 0);
    CHECK_HAS(lks_buf_view(&said), want);
}

static void check_json(const char *const *login, const char *const *logout)
{
    run_json(login, "{\"identity\":\"user:kim@x.org\",\"roles\":[\"approver@train\",\"viewer\"],"
                    "\"expires\":\"");
    run_json(logout, "{\"seq\":");
}

static void test_command(void)
{
    struct scene s;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(1 << 20);
    struct stat st = {0};
    char server[64], ca[256], token[256];
    if (CHECK(scene_begin(&s))) {
        lks_provider_mood(&s.provider, LKS_PROVIDER_NAMES, KIM);
        snprintf(server, sizeof(server), "https://localhost:%u", s.crew.c.people);
        snprintf(ca, sizeof(ca), "%s", ctl_path(&s.crew.c, "data/ca.crt"));
        snprintf(token, sizeof(token), "%s", ctl_path(&s.crew.c, "kim.token"));
        const char *const login[] = {LKS_CLI_PROGRAM, "login", "--server", server, "--ca", ca,
                                     "--token-file",  token,   NULL};
        CHECK_INT(ctl_run(login, &said), 0);
        CHECK_HAS(lks_buf_view(&said), "/device and type ABCD-EFGH\n");
        CHECK_HAS(lks_buf_view(&said), "user:kim@x.org is logged in until ");
        CHECK(lks_str_find(lks_buf_view(&said), LKS_STR("lks_api_")) < 0);
        CHECK(stat(token, &st) == 0 && (st.st_mode & 0777) == 0600);
        const char *const logout[] = {LKS_CLI_PROGRAM, "logout", "--server", server, "--ca", ca,
                                      "--token-file",  token,    NULL};
        CHECK_INT(ctl_run(logout, &said), 0);
        CHECK_HAS(lks_buf_view(&said), "stays, and its token is not valid any more");
        check_json(login, logout);
        CHECK_INT(unlink(token), 0);
        lks_provider_mood(&s.provider, LKS_PROVIDER_DENIES, "");
        CHECK_INT(ctl_run(login, &said), 5);
        CHECK(access(token, F_OK) != 0);
        const char *const nowhere[] = {LKS_CLI_PROGRAM, "login", "--server", server,
                                       "--ca",          ca,      NULL};
        CHECK_INT(ctl_run(nowhere, &said), 2);
        CHECK_HAS(lks_buf_view(&said), "there is no context for the token; run");
    }
    scene_end(&s);
}

#define BEGUN(uri)                                                                                 \
    "{\"code\":\"c\",\"user_code\":\"ABCD\",\"uri\":\"" uri "\",\"interval\":1,\"expires_in\":"    \
    "600}"

static struct lks_liar_turn answer_with(struct lks_buf *text, const char *body)
{
    lks_buf_init(text, 4096);
    lks_buf_addf(text,
                 "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                 "Connection: close\r\n\r\n%s",
                 strlen(body), body);
    return (struct lks_liar_turn){LKS_LIAR_CLOSE, lks_buf_view(text)};
}

/* `done` NULL: nothing more is asked for. */
static void play_lockstepd(const struct lks_tree *tree, const char *begun, const char *done,
                           struct lks_buf *said)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf first = {0}, second = {0};
    char path[128], server[160], token[128];
    snprintf(path, sizeof(path), "%s/sock", tree->path);
    snprintf(server, sizeof(server), "unix:%s", path);
    snprintf(token, sizeof(token), "%s/token", tree->path);
    struct lks_liar liar = {.turns = {answer_with(&first, begun)}, .turn_count = 1, .path = path};
    if (done != NULL)
        liar.turns[liar.turn_count++] = answer_with(&second, done);
    const char *const login[] = {LKS_CLI_PROGRAM, "login", "--server", server,
                                 "--token-file",  token,   NULL};
    lks_buf_init(said, 1 << 16);
    lks_liar_start(&liar);
    CHECK_INT(ctl_run(login, said), 3);
    lks_liar_fini(&liar);
    CHECK(access(token, F_OK) != 0);
}

/* What answers in the place of lockstepd reaches neither the terminal nor the file. */
static void test_liars(void)
{
    static const struct {
        const char *name, *begun, *done, *want;
    } liars[] = {
        {"control characters", BEGUN("https://x\\u001b[2J"), NULL, "no usable 'uri'"},
        {"no place to go", "{\"code\":\"c\",\"user_code\":\"ABCD\"}", NULL, "no usable 'uri'"},
        {"no token", BEGUN("https://x"), "{\"state\":\"done\"}", "no usable 'token'"},
        {"two lines", BEGUN("https://x"), "{\"state\":\"done\",\"token\":\"a\\nb\"}",
         "no usable 'token'"},
    };
    for (size_t i = 0; i < LKS_COUNT(liars); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf said = {0};
        LKS_CLEANUP(lks_tree_free) struct lks_tree tree = lks_tree_new();
        lks_test_case("%s", liars[i].name);
        play_lockstepd(&tree, liars[i].begun, liars[i].done, &said);
        CHECK_HAS(lks_buf_view(&said), liars[i].want);
        CHECK(memchr(said.ptr, 0x1b, said.len) == NULL);
    }
}

/* In a browser ------------------------------------------------------------------------------ */

/* One exchange with header lines of a browser; the status. */
static int browse(struct scene *s, const char *method, const char *path, const char *head,
                  struct lks_http_answer *out)
{
    struct lks_err err = {0};
    lks_http_answer_fini(out);
    CHECK_CODE(lks_client_exchange(s->nobody, method, path, NULL, LKS_STR(""), head, out, &err),
               LKS_OK);
    return out->status;
}

/* What stands behind `before` in a text, up to `end`. */
static void between(struct lks_str text, const char *before, char end, char *out, size_t size)
{
    ptrdiff_t at = lks_str_find(text, lks_str_from(before));
    struct lks_str rest = {0}, value = LKS_STR("");
    if (CHECK(at >= 0)) {
        size_t skip = (size_t)at + strlen(before);
        (void)lks_str_cut((struct lks_str){text.ptr + skip, text.len - skip}, end, &value, &rest);
    }
    snprintf(out, size, "%" LKS_STR_FMT, LKS_STR_ARG(value));
}

struct visit {
    char cookie[256]; /* as a header line */
    char state[64], claims[512];
};

/* Open /v1/login and go to the provider, which is told whom to name. */
static void visit(struct scene *s, const char *claims, struct visit *v)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char value[160], nonce[64], want[128];
    if (!crew_fine(s->nobody, "login", "/v1/login", NULL, &t))
        return;
    struct lks_str set = lks_http_answer_header(&t.answer, "set-cookie");
    struct lks_str page = lks_buf_view(&t.answer.body);
    between(set, "__Host-lockstep-login=", ';', value, sizeof(value));
    CHECK_HAS(set, "; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=600");
    CHECK_STR(lks_http_answer_header(&t.answer, "cache-control"), "no-store");
    snprintf(want, sizeof(want), "url=%s/auth?ui=1&#38;response_type=code&#38;client_id=lockstep",
             s->provider.issuer);
    CHECK_HAS(page, want);
    CHECK_HAS(page, "&#38;code_challenge_method=S256&#38;");
    snprintf(want, sizeof(want), "redirect_uri=https%%3A%%2F%%2Flocalhost%%3A%u%%2Fv1%%2Flogin",
             s->crew.c.people);
    CHECK_HAS(page, want);
    between(page, "&#38;state=", '&', v->state, sizeof(v->state));
    between(page, "&#38;nonce=", '&', nonce, sizeof(nonce));
    snprintf(v->cookie, sizeof(v->cookie), "Cookie: a=b; __Host-lockstep-login=%s\r\n", value);
    snprintf(v->claims, sizeof(v->claims), "%s,\"nonce\":\"%s\"", claims, nonce);
    lks_provider_mood(&s->provider, LKS_PROVIDER_NAMES, v->claims);
    pthread_mutex_lock(&s->provider.lock);
    between(page, "&#38;code_challenge=", '"', s->provider.challenge,
            sizeof(s->provider.challenge));
    pthread_mutex_unlock(&s->provider.lock);
}

static const char *back_with(const char *state)
{
    static char path[256];
    snprintf(path, sizeof(path), "/v1/login/callback?code=c-1&state=%s&session_state=x", state);
    return path;
}

/* Calls by the cookie: what changes something has to come from a page of this host. */
static void check_cookie(struct scene *s, const char *cookie)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    static const struct {
        const char *name, *origin;
        int status;
    } origins[] = {
        {"no origin", "", 401},
        {"another host", "Origin: https://evil.example\r\n", 401},
        {"another port", "Origin: https://localhost:1\r\n", 401},
        {"no TLS", "Origin: http://localhost:%u\r\n", 401},
        {"a name that begins alike", "Origin: https://localhost:%u.evil.example\r\n", 401},
        {"hidden", "Origin: null\r\n", 401},
        {"a page of this host", "Origin: https://localhost:%u\r\n", 200},
    };
    char head[1024], origin[128];
    CHECK_INT(browse(s, "GET", "/v1/whoami", cookie, &answer), 200);
    CHECK_HAS(lks_buf_view(&answer.body), "\"identity\":\"user:kim@x.org\"");
    for (size_t i = 0; i < LKS_COUNT(origins); i++) {
        lks_test_case("%s", origins[i].name);
        const char *number = strstr(origins[i].origin, "%u");
        int len =
            number != NULL ? (int)(number - origins[i].origin) : (int)strlen(origins[i].origin);
        char port[16] = "";
        if (number != NULL)
            snprintf(port, sizeof(port), "%u", s->crew.c.people);
        snprintf(origin, sizeof(origin), "%.*s%s%s", len, origins[i].origin, port,
                 number != NULL ? number + 2 : "");
        snprintf(head, sizeof(head), "%s%s", cookie, origin);
        CHECK_INT(browse(s, "POST", "/v1/logout", head, &answer), origins[i].status);
    }
    CHECK_HAS(lks_http_answer_header(&answer, "set-cookie"), "__Host-lockstep=; Path=/; Secure");
    CHECK_INT(browse(s, "GET", "/v1/whoami", cookie, &answer), 401);
}

/* What is not of this login: without the cookie, another's state, verifier or nonce. */
static void check_foreign(struct scene *s, const struct visit *v, const struct visit *other)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    CHECK_INT(browse(s, "GET", back_with(v->state), "", &answer), 403);
    CHECK_INT(browse(s, "GET", back_with(other->state), v->cookie, &answer), 403);
    CHECK_HAS(lks_buf_view(&answer.body), "not started in this browser");
    CHECK_INT(browse(s, "GET", back_with(other->state), other->cookie, &answer), 403);
    CHECK_INT(browse(s, "GET", "/v1/login/callback?error=access_denied", v->cookie, &answer), 403);
    CHECK_HAS(lks_buf_view(&answer.body), "refuses the login (access_denied)");
    lks_provider_mood(&s->provider, LKS_PROVIDER_NAMES, other->claims);
    CHECK_INT(browse(s, "GET", back_with(v->state), v->cookie, &answer), 403);
    CHECK_HAS(lks_buf_view(&answer.body), "nonce is not the one of this login");
}

static void test_browser(void)
{
    struct scene s;
    struct visit v = {0}, other = {0};
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char value[LKS_TOKEN_TEXT_MAX], cookie[512];
    if (CHECK(scene_begin(&s))) {
        visit(&s, KIM, &other);
        visit(&s, KIM, &v);
        check_foreign(&s, &v, &other);
        lks_provider_mood(&s.provider, LKS_PROVIDER_NAMES, v.claims);
        crew_fine_head(s.nobody, "loginCallback", back_with(v.state), NULL, v.cookie, &t);
        CHECK_HAS(lks_buf_view(&t.answer.body),
                  "content=\"0;url=/v1/whoami\"><a href=\"/v1/whoami\">go on</a>\n");
        struct lks_str head = lks_buf_view(&t.answer.head);
        CHECK_HAS(head, "set-cookie: __Host-lockstep-login=; Path=/; Secure; HttpOnly");
        between(head, "set-cookie: __Host-lockstep=", ';', value, sizeof(value));
        CHECK_HAS(head, "; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=28800");
        snprintf(cookie, sizeof(cookie), "Cookie: __Host-lockstep=%s\r\n", value);
        check_cookie(&s, cookie);
    }
    scene_end(&s);
}

/* A token that was made is none in a cookie: it could be put there without a login. */
static void test_planted(void)
{
    struct scene s;
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    char cookie[512];
    if (CHECK(scene_begin(&s))) {
        crew_fine(s.crew.root, "makeToken", "/v1/tokens", "{\"id\":\"a\",\"identity\":\"kim\"}",
                  &t);
        snprintf(cookie, sizeof(cookie), "Cookie: __Host-lockstep=%" LKS_STR_FMT "\r\n",
                 LKS_STR_ARG(crew_text(&t, "token")));
        CHECK_INT(browse(&s, "GET", "/v1/whoami", cookie, &answer), 401);
    }
    scene_end(&s);
}

/* Where no provider is configured. */
static void test_none(void)
{
    struct crew crew = {0};
    if (CHECK(crew_begin(&crew, ""))) {
        crew_refused(crew.admin, "loginDevice", "/v1/login/device", NULL, 409,
                     "no OpenID provider is configured here");
        crew_refused(crew.admin, "loginPoll", "/v1/login/device/poll", CODE, 409,
                     "no OpenID provider is configured here");
        crew_refused(crew.admin, "logout", "/v1/logout", NULL, 409, "did not log in");
        crew_refused(crew.admin, "login", "/v1/login", NULL, 409, "no OpenID provider");
        crew_refused(crew.admin, "loginCallback", "/v1/login/callback?code=c&state=s", NULL, 409,
                     "no OpenID provider");
    }
    crew_end(&crew);
    crew_all_covered("daemon_login");
}

int main(void)
{
    const struct lks_test tests[] = {
        {"a login", test_login},
        {"votes", test_votes},
        {"refusals", test_refusals},
        {"keys that change", test_keys},
        {"a provider that is away", test_away},
        {"a provider that does not answer", test_silent},
        {"the command", test_command},
        {"the command, and what is no lockstepd", test_liars},
        {"a browser", test_browser},
        {"a cookie that was planted", test_planted},
        {"no provider", test_none},
        {0},
    };
    return lks_test_main(tests);
}
