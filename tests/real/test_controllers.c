/*
 * Two controllers, a primary and its synchronous standby, all of them real, under a load of writes;
 * and one after the other of them is killed, frozen and brought back. What was acknowledged stays,
 * there is one chain, one leads at any time, and jobs are not admitted by who does not know.
 */
#include "base/file.h"
#include "codec/format/json.h"
#include "drivers/store/postgres.h"
#include "engine/journal.h"
#include "model/record/record.h"
#include "tests/bmcd.h"
#include "tests/controller.h"
#include "tests/pki.h"
#include "tests/postgres.h"
#include "tests/provider.h"
#include "tests/test.h"
#include "tests/wait.h"
#include "trust/token.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define DATABASE "lockstep"

enum {
    COUNT = 2,
    LOADS = 2,
    LOAD_MAX = 65536,
    LOOK_MS = 50,
    LOOKS = 100, /* with a primary of before */
    SAID_MAX = 1 << 20,
};

static const char settings[] = "controller:\n  lease_ms: 2000\n"
                               "limits:\n  staleness_ms: 1000\n"
                               "sweep:\n  run: 'yes'\n"
                               "bmc:\n  concurrency: 4\n";

struct site {
    struct pg pg;
    struct ctl controllers[COUNT];
    char conninfo[PG_CONNINFO_SIZE];
};

/* Asking -------------------------------------------------------------------------------------- */

/* The status, or 0; what was answered is in `answer`, which is initialised here. */
static int ask(const struct ctl *c, const char *method, const char *path, const char *type,
               const char *body, struct lks_buf *answer)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer a = {0};
    const struct lks_client_options options = {.server = c->socket, .timeout_ms = LKS_WAIT_MS};
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    lks_buf_init(answer, SAID_MAX);
    if (lks_client_new(&options, &client, &err) != LKS_OK)
        return 0;
    enum lks_code code = lks_client_exchange(client, method, path, body != NULL ? type : NULL,
                                             lks_str_from(body != NULL ? body : ""), "", &a, &err);
    lks_client_free(client);
    lks_buf_addf(answer, "%s", "");
    lks_buf_add(answer, code == LKS_OK ? lks_buf_view(&a.body) : lks_str_from(err.msg));
    return code == LKS_OK ? a.status : 0;
}

static bool says(const struct lks_buf *answer, const char *text)
{
    return lks_str_find(lks_buf_view(answer), lks_str_from(text)) >= 0;
}

/* Until the answer says so, or does not any more. */
static bool await_answer(const struct ctl *c, const char *method, const char *path,
                         const char *body, const char *text, bool wanted, struct lks_buf *answer)
{
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        lks_buf_fini(answer);
        if (ask(c, method, path, "application/json", body, answer) == 200 &&
            says(answer, text) == wanted)
            return true;
    }
    return false;
}

/* The site ------------------------------------------------------------------------------------ */

/* What a supervisor does: one that ended is started again. */
static void supervise(struct site *s)
{
    for (size_t i = 0; i < COUNT; i++) {
        struct ctl *c = &s->controllers[i];
        int status = 0;
        if (c->pid != 0 && waitpid(c->pid, &status, WNOHANG) == c->pid)
            c->pid = 0;
        if (c->pid == 0)
            ctl_spawn(c);
    }
}

/* Until one of them leads, and another than `not`; NULL: a failed check. */
static struct ctl *await_leader(struct site *s, const struct ctl * not )
{
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        supervise(s);
        for (size_t i = 0; i < COUNT; i++)
            if (&s->controllers[i] != not &&ctl_leads(&s->controllers[i]))
                return &s->controllers[i];
    }
    for (size_t i = 0; i < COUNT; i++) {
        struct lks_str log = ctl_log(&s->controllers[i]);
        printf("%" LKS_STR_FMT "\n", LKS_STR_ARG(log));
    }
    CHECK(false);
    return NULL;
}

static struct ctl *other_of(struct site *s, const struct ctl *c)
{
    return c == &s->controllers[0] ? &s->controllers[1] : &s->controllers[0];
}

/* Until the one that does not lead answers too, and knows who does. */
static void await_follower(struct site *s, const struct ctl *c)
{
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        supervise(s);
        if (ctl_follows(c))
            return;
    }
    CHECK(false);
}

/* `more` are further lines of both configurations. */
static bool site_init_with(struct site *s, const char *more)
{
    *s = (struct site){0};
    if (!pg_start_pair(&s->pg) || !CHECK(pg_sql(&s->pg, "postgres", "create database " DATABASE)))
        return false;
    pg_conninfo(&s->pg, DATABASE, s->conninfo);
    ctl_init_shared(&s->controllers[0], "--postgres", s->conninfo, settings);
    ctl_init_shared(&s->controllers[1], "--join", s->controllers[0].data, settings);
    for (size_t i = 0; i < COUNT; i++)
        ctl_configure(&s->controllers[i], more);
    return await_leader(s, NULL) != NULL;
}

static bool site_init(struct site *s)
{
    return site_init_with(s, "");
}

/* The servers first: what is left of children is waited for. */
static void site_fini(struct site *s)
{
    for (size_t i = 0; i < COUNT; i++)
        if (s->controllers[i].pid != 0)
            ctl_kill(&s->controllers[i]);
    pg_free(&s->pg);
    for (size_t i = 0; i < COUNT; i++)
        if (s->controllers[i].data[0] != '\0')
            ctl_fini(&s->controllers[i]);
}

/* The load ------------------------------------------------------------------------------------ */

/* Somebody who grants roles, now through this controller, now through that. */
struct load {
    pthread_t thread;
    const struct site *site;
    unsigned id;
    atomic_bool stop;
    uint64_t asked;
    atomic_size_t acknowledged;
    bool yes[LOAD_MAX];
    int other; /* the first status that is none of the expected */
};

static void *load_run(void *arg)
{
    struct load *l = arg;
    while (!atomic_load(&l->stop) && l->asked < LOAD_MAX) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
        char body[128];
        snprintf(body, sizeof(body), "{\"identity\":\"load-%u-%" PRIu64 "\",\"role\":\"viewer\"}",
                 l->id, l->asked);
        int status = ask(&l->site->controllers[l->asked % COUNT], "POST", "/v1/access",
                         "application/json", body, &answer);
        l->yes[l->asked++] = status == 200;
        atomic_fetch_add(&l->acknowledged, status == 200);
        if (status != 200 && status != 0 && status != 503 && status != 504 && l->other == 0) {
            l->other = status;
            printf("%d %s\n", status, answer.ptr);
        }
        /* Slower and slower: however long it takes, there is always more to ask. */
        lks_rest(status == 200 ? 2 + (unsigned)l->asked / 256 : 20);
    }
    return NULL;
}

/* Further writes are acknowledged. */
static void await_writes(struct site *s, struct load *loads)
{
    size_t before = 0, now = 0;
    for (size_t i = 0; i < LOADS; i++)
        before += atomic_load(&loads[i].acknowledged);
    for (struct lks_wait w = {0}; now < before + 20 && lks_wait(&w);) {
        supervise(s);
        now = 0;
        for (size_t i = 0; i < LOADS; i++)
            now += atomic_load(&loads[i].acknowledged);
    }
    CHECK(now >= before + 20);
}

/* The journal --------------------------------------------------------------------------------- */

struct reading {
    struct load *loads;
    uint8_t *found[LOADS]; /* by number */
    uint64_t epoch, leaders, granted;
    bool rising;
};

/* "load-ID-NUMBER" */
static bool is_load(struct lks_str identity, uint64_t *id, uint64_t *number)
{
    struct lks_str word, rest, last;
    return lks_str_cut(identity, '-', &word, &rest) && lks_str_is(word, "load") &&
           lks_str_cut(rest, '-', &word, &last) && lks_str_number(word, LOADS - 1, id) &&
           lks_str_number(last, LOAD_MAX - 1, number);
}

static bool read_row(void *ctx, const struct lks_row *row)
{
    struct reading *r = ctx;
    struct lks_record record;
    struct lks_err err = {0};
    uint64_t id = 0, number = 0;
    if (!CHECK_CODE(lks_record_unpack(row->kind, row->version, row->body, &record, &err), LKS_OK))
        return false;
    if (record.kind == LKS_RECORD_LED) {
        r->rising &= record.led.epoch > r->epoch;
        r->epoch = record.led.epoch;
        r->leaders++;
    }
    if (record.kind == LKS_RECORD_GRANTED && is_load(record.granted.identity, &id, &number)) {
        r->found[id][number]++;
        r->granted++;
    }
    return true;
}

/* One chain, from its beginning, signed; and all that was acknowledged is in it, once. */
static void check_journal(struct site *s, struct load *loads)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct lks_public_key key = ctl_key(&s->controllers[0]);
    struct lks_verify_options options = {.key = &key};
    struct lks_verify verified = {0};
    struct reading r = {.loads = loads, .rising = true};
    struct lks_err err = {0};
    size_t lost = 0, twice = 0, acknowledged = 0;
    if (!CHECK_CODE(lks_store_postgres_open(s->conninfo, LKS_STORE_READ, &store, &err), LKS_OK))
        return;
    CHECK_CODE(lks_journal_verify(&store, &options, &verified, &err), LKS_OK);
    if (!CHECK_INT(verified.fault, LKS_FAULT_NONE))
        printf("%s\n", verified.text);
    for (size_t i = 0; i < LOADS; i++)
        r.found[i] = calloc(LOAD_MAX, 1);
    CHECK_CODE(store.ops->rows(store.self, 1, read_row, &r, &err), LKS_OK);
    for (size_t i = 0; i < LOADS; i++) {
        for (uint64_t n = 0; n < loads[i].asked; n++) {
            lost += loads[i].yes[n] && r.found[i][n] == 0;
            twice += r.found[i][n] > 1;
            acknowledged += loads[i].yes[n];
        }
        free(r.found[i]);
    }
    printf("%zu writes acknowledged, %" PRIu64 " in the journal, %" PRIu64 " leaders\n",
           acknowledged, r.granted, r.leaders);
    CHECK_INT(lost, 0);
    CHECK_INT(twice, 0);
    CHECK(r.rising);
    CHECK(r.leaders >= 4); /* one that is killed and started again may win its own succession */
}

/* What happens -------------------------------------------------------------------------------- */

static void kill_leader(struct site *s)
{
    struct ctl *leader = await_leader(s, NULL);
    if (leader == NULL)
        return;
    ctl_kill(leader);
    (void)await_leader(s, NULL); /* the other, or the same one again */
}

static void kill_primary(struct site *s)
{
    pg_kill_primary(&s->pg);
    CHECK(pg_promote(&s->pg));
    CHECK(pg_rejoin_old(&s->pg));
    (void)await_leader(s, NULL);
}

static void kill_both(struct site *s)
{
    struct ctl *leader = await_leader(s, NULL);
    if (leader != NULL)
        ctl_kill(leader);
    kill_primary(s);
}

/* It wakes when another leads, and must not say anything any more: it ends. */
static void pause_leader(struct site *s)
{
    struct ctl *leader = await_leader(s, NULL);
    int status = 0;
    if (leader == NULL)
        return;
    CHECK(kill(leader->pid, SIGSTOP) == 0);
    struct ctl *next = await_leader(s, leader);
    CHECK(next == other_of(s, leader));
    CHECK(kill(leader->pid, SIGCONT) == 0);
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (waitpid(leader->pid, &status, WNOHANG) == leader->pid)
            break;
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 0);
    CHECK_HAS(ctl_log(leader), "no longer the leader");
    leader->pid = 0;
}

/* It takes itself for the primary, and nobody follows it. */
static void old_primary_returns(struct site *s)
{
    enum pg_place old = s->pg.primary;
    pg_kill_primary(&s->pg);
    CHECK(pg_promote(&s->pg));
    CHECK(pg_revive(&s->pg, old));
    for (unsigned i = 0; i < LOOKS; i++) {
        supervise(s);
        lks_rest(LOOK_MS);
    }
    CHECK(pg_rejoin_old(&s->pg));
    (void)await_leader(s, NULL);
}

static void test_whatever_dies_nothing_is_lost(void)
{
    static const struct {
        const char *name;
        void (*fall)(struct site *s);
    } acts[] = {
        {"kill -9 of the leader", kill_leader},
        {"kill -9 of the primary", kill_primary},
        {"a paused leader that wakes", pause_leader},
        {"kill -9 of the leader, then of the primary", kill_both},
        {"the old primary comes back", old_primary_returns},
    };
    LKS_CLEANUP(site_fini) struct site s = {0};
    static struct load loads[LOADS];
    if (!site_init(&s))
        return;
    for (unsigned i = 0; i < LOADS; i++) {
        loads[i].site = &s;
        loads[i].id = i;
        CHECK(pthread_create(&loads[i].thread, NULL, load_run, &loads[i]) == 0);
    }
    for (size_t i = 0; i < LKS_COUNT(acts); i++) {
        lks_test_case("%s", acts[i].name);
        await_writes(&s, loads);
        acts[i].fall(&s);
        await_writes(&s, loads);
    }
    lks_test_case("the end");
    for (unsigned i = 0; i < LOADS; i++) {
        atomic_store(&loads[i].stop, true);
        CHECK(pthread_join(loads[i].thread, NULL) == 0);
        CHECK_INT(loads[i].other, 0);
    }
    check_journal(&s, loads);
}

/* A follower ---------------------------------------------------------------------------------- */

static const char fleet[] = "---\nlockstep: 1\nkind: Fleet\nname: two\n"
                            "pools: {train: {posture: dev, enforce: 'on'}}\n"
                            "nodes: [{hosts: 'n[1-4]', pool: train, class: hgx-h200-8}]\n";
static const char question[] = "{\"job\":\"j1\",\"nodes\":\"n1\"}";

/* Through a follower a write reaches the leader, with who asks; and is there for both to read. */
static void check_forwarding(struct site *s, const struct ctl *follower)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0}, held = {0}, node = {0};
    if (!CHECK_INT(
            ask(follower, "PUT", "/v1/fleet?accept=true", "application/yaml", fleet, &answer), 200))
        printf("%s\n", answer.ptr);
    if (!CHECK_INT(ask(follower, "POST", "/v1/nodes/n[2-3]/hold", "application/json",
                       "{\"reason\":\"a test, with a blank\"}", &held),
                   200))
        printf("%s\n", held.ptr);
    for (size_t i = 0; i < COUNT; i++)
        CHECK(await_answer(&s->controllers[i], "GET", "/v1/nodes/n3", NULL, "a test, with a blank",
                           true, &node));
    /* What the leader alone knows is asked of it, too. */
    CHECK_INT(ask(follower, "GET", "/v1/schedulers", "", NULL, &answer), 200);
}

/* A client of a token that `maker` makes by way of the follower. NULL: a failed check. */
static struct lks_client *token_of(const struct ctl *c, struct lks_client *maker, const char *id,
                                   const char *identity)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    char body[128], text[512];
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    snprintf(body, sizeof(body), "{\"id\":\"%s\",\"identity\":\"%s\"}", id, identity);
    if (!CHECK_INT(ctl_ask(maker, "POST", "/v1/tokens", body, &answer), 200))
        return NULL;
    (void)ctl_text(&answer, "token", text, sizeof(text));
    const struct lks_client_options options = {
        .server = c->socket, .token = text, .timeout_ms = LKS_WAIT_MS};
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    return client;
}

/* And by which credential they ask: the leader renews the very token that the follower was shown,
 * and records who stands behind one that is made by it. */
static void check_credentials(const struct ctl *follower)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    struct lks_client *root = ctl_client(follower, CTL_UNIX);
    CHECK_INT(
        ctl_ask(root, "POST", "/v1/access", "{\"identity\":\"kim\",\"role\":\"admin\"}", &answer),
        200);
    struct lks_client *kim = token_of(follower, root, "kim-1", "kim");
    if (kim == NULL) {
        lks_client_free(root);
        return;
    }
    CHECK(await_answer(follower, "GET", "/v1/access", NULL, "kim-1", true, &answer));
    CHECK_INT(ctl_ask(kim, "POST", "/v1/tokens/renew", NULL, &answer), 200);
    CHECK(says(&answer, "\"id\":\"kim-1\""));
    struct lks_client *ann = token_of(follower, kim, "ann-1", "ann");
    CHECK(await_answer(follower, "GET", "/v1/access", NULL, "\"identity\":\"ann\"", true, &answer));
    CHECK(says(&answer, "\"minter\":\"kim\""));
    CHECK_INT(ctl_ask(root, "DELETE", "/v1/tokens/kim-1", NULL, &answer), 200);
    CHECK_INT(ctl_ask(kim, "POST", "/v1/tokens/renew", NULL, &answer), 401);
    lks_client_free(root);
    lks_client_free(kim);
    lks_client_free(ann);
}

/* A database without what was seen in it is not taken. */
static void check_seen(struct ctl *c)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(SAID_MAX);
    char path[128];
    (void)ctl_stop(c);
    snprintf(path, sizeof(path), "%s/seen-head", c->data);
    FILE *file = fopen(path, "we");
    if (CHECK(file != NULL)) {
        fprintf(file, "999999 %064d\n", 0);
        CHECK(fclose(file) == 0);
    }
    CHECK_INT(ctl_refused(c, &said), 1);
    CHECK_HAS(lks_buf_view(&said), "row 999999 was seen in it");
}

static void test_a_follower_answers_as_long_as_it_knows(void)
{
    LKS_CLEANUP(site_fini) struct site s = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf before = {0}, after = {0}, again = {0}, read = {0};
    if (!site_init(&s))
        return;
    struct ctl *leader = await_leader(&s, NULL);
    struct ctl *follower = other_of(&s, leader);
    await_follower(&s, follower);
    check_forwarding(&s, follower);
    check_credentials(follower);
    CHECK_INT(ask(follower, "POST", "/v1/admit", "application/json", question, &before), 200);
    CHECK(says(&before, "\"admitted\":false") && !says(&before, "\"behind\""));

    /* Nobody can tell any more whether what it knows is all. */
    pg_freeze(&s.pg, s.pg.primary);
    CHECK(await_answer(follower, "POST", "/v1/admit", question, "\"behind\"", true, &after));
    CHECK(says(&after, "\"admitted\":false"));
    CHECK_INT(ask(follower, "GET", "/v1/nodes/n3", NULL, NULL, &read), 200);
    pg_thaw(&s.pg, s.pg.primary);
    (void)await_leader(&s, NULL);
    CHECK(await_answer(follower, "POST", "/v1/admit", question, "\"behind\"", false, &again));
    check_seen(other_of(&s, leader));
}

/* Logins --------------------------------------------------------------------------------------- */

/* A client of the people's address; `token` is NULL for a stranger. NULL is a failed check. */
static struct lks_client *person(const struct ctl *c, const char *token)
{
    struct lks_client *client = NULL;
    char server[64];
    struct lks_err err = {0};
    snprintf(server, sizeof(server), "https://localhost:%u", c->people);
    const struct lks_client_options options = {.server = server,
                                               .ca = ctl_path(c, "data/ca.crt"),
                                               .token = token,
                                               .timeout_ms = LKS_WAIT_MS};
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    return client;
}

/* The leader redeems the code, once, and the token is good at both controllers. */
static void log_in_at(struct site *s, const struct ctl *follower, struct lks_provider *provider)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0}, held = {0};
    char token[LKS_TOKEN_TEXT_MAX];
    struct lks_client *stranger = person(follower, NULL);
    CHECK_INT(ctl_ask(stranger, "POST", "/v1/login/device", NULL, &answer), 200);
    CHECK(says(&answer, "ABCD-EFGH"));
    lks_provider_mood(provider, LKS_PROVIDER_NAMES,
                      ",\"email\":\"kim@x.org\",\"email_verified\":true,\"groups\":[\"sre\"]");
    unsigned before = provider->asked_tokens;
    if (!CHECK_INT(
            ctl_ask(stranger, "POST", "/v1/login/device/poll", "{\"code\":\"dc-1\"}", &answer),
            200))
        printf("%s\n", answer.ptr);
    CHECK_INT(provider->asked_tokens, before + 1);
    (void)ctl_text(&answer, "token", token, sizeof(token));
    lks_client_free(stranger);
    for (size_t i = 0; i < COUNT; i++) {
        struct lks_client *kim = person(&s->controllers[i], token);
        bool known = false;
        for (struct lks_wait w = {0}; !known && lks_wait(&w);)
            known = ctl_ask(kim, "GET", "/v1/whoami", NULL, &answer) == 200;
        CHECK(says(&answer, "user:kim@x.org"));
        CHECK_INT(ctl_ask(kim, "POST", "/v1/nodes/n2/hold", "{\"reason\":\"r\"}", &held), 200);
        lks_client_free(kim);
    }
}

static void test_a_login_through_a_follower(void)
{
    LKS_CLEANUP(site_fini) struct site s = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf applied = {0};
    struct lks_provider provider;
    struct lks_signer signer;
    char oidc[512];
    lks_signer_make(&signer, 2048, "k1");
    if (!lks_provider_init(&provider) || !lks_provider_start(&provider))
        return;
    provider.signs = provider.published = &signer;
    snprintf(oidc, sizeof(oidc),
             "oidc:\n  issuer: %s\n  ca: %s\n  client_secret: file:%s\n"
             "  roles: [sre=operator@train]\n",
             provider.issuer, provider.ca, provider.secret);
    if (site_init_with(&s, oidc)) {
        struct ctl *leader = await_leader(&s, NULL), *follower = other_of(&s, leader);
        await_follower(&s, follower);
        ctl_ports(leader);
        ctl_ports(follower);
        CHECK_INT(ask(leader, "PUT", "/v1/fleet?accept=true", "application/yaml", fleet, &applied),
                  200);
        log_in_at(&s, follower, &provider);
    }
    lks_provider_fini(&provider);
    lks_signer_fini(&signer);
}

/* Management endpoints, which each of the two reads a part of. */
enum { BMCS = 60 };

static unsigned read_by(const struct ctl *c)
{
    static const char key[] = "lockstep_sweeps_total{result=\"read\"} ";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    unsigned count = 0;
    if (ask(c, "GET", "/metrics", NULL, NULL, &answer) != 200)
        return 0;
    ptrdiff_t at = lks_str_find(lks_buf_view(&answer), lks_str_from(key));
    CHECK(says(&answer, "lockstep_sweeps_total{result=\"failed\"} 0\n"));
    for (const char *p = at < 0 ? "" : answer.ptr + at + strlen(key); *p >= '0' && *p <= '9'; p++)
        count = count * 10 + (unsigned)(*p - '0');
    return count;
}

static bool apply_bmcs(const struct ctl *c, const char *path)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0}, answer = {0};
    struct lks_err err = {0};
    lks_buf_init(&text, SAID_MAX);
    return CHECK_CODE(lks_file_read_plain(path, &text, &err), LKS_OK) &&
           CHECK_INT(ask(c, "PUT", "/v1/fleet?accept=true", "application/yaml", text.ptr, &answer),
                     200);
}

static void test_endpoints_are_read_by_both(void)
{
    LKS_CLEANUP(site_fini) struct site s = {0};
    LKS_CLEANUP(bmcd_fini) struct bmcd bmcs = {0};
    char path[128];
    unsigned leader = 0, follower = 0;
    bmcd_init(&bmcs);
    snprintf(path, sizeof(path), "%s/fleet.yaml", bmcs.tree.path);
    const char *const options[] = {"--count",      "60",           "--speed", "0", "--faults",
                                   "slow:100=100", "--fleet-file", path,      NULL};
    if (!site_init(&s) || !bmcd_start(&bmcs, LKS_BMCSIM_PROGRAM, options))
        return;
    struct ctl *leads = await_leader(&s, NULL), *follows = other_of(&s, leads);
    await_follower(&s, follows);
    if (!apply_bmcs(follows, path))
        return;
    for (struct lks_wait w = {0}; leader + follower < BMCS && lks_wait(&w);) {
        leader = read_by(leads);
        follower = read_by(follows);
    }
    CHECK_INT(leader + follower, BMCS);
    CHECK(leader > 0 && follower > 0);
}

/* Files ---------------------------------------------------------------------------------------- */

#define FILE_BYTES "bytes of an artifact that only the leader has"

/* The agent of n1, by a key of its own; what it needs to show is in `out`. */
static bool enrol(const struct ctl *c, struct lks_pair *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf csr = {0}, body = {0}, answer = {0};
    static char text[LKS_X509_PEM_MAX];
    struct lks_err err = {0};
    lks_buf_init(&out->key, LKS_X509_PEM_MAX);
    lks_buf_init(&out->certificate, LKS_X509_PEM_MAX);
    lks_buf_init(&csr, LKS_X509_PEM_MAX);
    lks_buf_init(&body, LKS_X509_PEM_MAX);
    if (!CHECK_INT(ask(c, "POST", "/v1/nodes/n1/enroll", "application/json", "{}", &answer), 200))
        return false;
    CHECK_CODE(lks_x509_key(&out->key, &err), LKS_OK);
    CHECK_CODE(lks_x509_request(lks_buf_view(&out->key), LKS_STR("n1"), &csr, &err), LKS_OK);
    struct lks_json_writer w = {.out = &body};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "token", ctl_text(&answer, "token", text, sizeof(text)));
    lks_json_text(&w, "request", lks_buf_view(&csr));
    lks_json_end(&w, '}');
    lks_buf_fini(&answer);
    if (!CHECK_INT(ask(c, "POST", "/v1/enroll", "application/json", body.ptr, &answer), 200))
        return false;
    lks_buf_add(&out->certificate,
                lks_str_from(ctl_text(&answer, "certificate", text, sizeof(text))));
    return true;
}

/* What the agent gets at the agents' address; the status. */
static int fetch(const struct ctl *c, const struct lks_pair *agent, const char *path,
                 struct lks_http_answer *out)
{
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    char server[64];
    snprintf(server, sizeof(server), "https://localhost:%u", c->agents);
    struct lks_client_options options = {.server = server,
                                         .ca = ctl_path(c, "data/ca.crt"),
                                         .certificate = ctl_path(c, "n1.crt"),
                                         .key = ctl_path(c, "n1.key"),
                                         .timeout_ms = LKS_WAIT_MS};
    CHECK_CODE(lks_file_replace(options.certificate, lks_buf_view(&agent->certificate), &err),
               LKS_OK);
    CHECK_CODE(lks_file_replace(options.key, lks_buf_view(&agent->key), &err), LKS_OK);
    if (!CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK))
        return 0;
    enum lks_code code = lks_client_exchange(client, "GET", path, NULL, LKS_STR(""),
                                             "Lockstep-Protocol: 1\r\n", out, &err);
    lks_client_free(client);
    return code == LKS_OK ? out->status : 0;
}

/* The follower knows the address of the one that leads now: ports are new with each start. */
static void know_peer(struct ctl *c, const struct ctl *peer)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(SAID_MAX);
    char edit[128];
    (void)ctl_stop(c);
    snprintf(edit, sizeof(edit), "s|^  lease_ms: .*|&\\n  agents: https://localhost:%u|",
             peer->agents);
    CHECK_INT(ctl_run((const char *[]){"/bin/sed", "-i", edit, c->config, NULL}, &said), 0);
    ctl_configure(c, "depot: {look_s: 1}\n");
    ctl_spawn(c);
}

/* A file that was put to the leader is the follower's too, when the leader and its disk are gone.
 */
static void test_files_outlive_the_leader(void)
{
    LKS_CLEANUP(site_fini) struct site s = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf applied = {0}, put = {0}, said = {0};
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer got = {0};
    LKS_CLEANUP(lks_pair_fini) struct lks_pair agent = {0};
    char digest[LKS_DIGEST_SIZE], path[128], depot[128];
    struct lks_err err = {0};
    if (!site_init(&s))
        return;
    struct ctl *leader = await_leader(&s, NULL), *follower = other_of(&s, leader);
    await_follower(&s, follower);
    CHECK(ctl_ready(leader));
    CHECK_CODE(lks_digest_text(LKS_STR(FILE_BYTES), digest, &err), LKS_OK);
    snprintf(path, sizeof(path), "/v1/artifacts/%s", digest);
    CHECK_INT(ask(leader, "PUT", path, "application/octet-stream", FILE_BYTES, &put), 200);
    CHECK_INT(ask(leader, "PUT", "/v1/fleet?accept=true", "application/yaml", fleet, &applied),
              200);
    if (!enrol(leader, &agent))
        return;
    know_peer(follower, leader);
    CHECK(await_answer(follower, "GET", path, NULL, FILE_BYTES, true, &said));
    snprintf(depot, sizeof(depot), "%s/depot", leader->data);
    ctl_kill(leader);
    CHECK_INT(ctl_run((const char *[]){"/bin/rm", "-rf", depot, NULL}, &said), 0);
    for (struct lks_wait w = {0}; !ctl_leads(follower) && lks_wait(&w);) {
    }
    CHECK(ctl_ready(follower));
    CHECK_INT(fetch(follower, &agent, path, &got), 200);
    CHECK_STR(lks_buf_view(&got.body), FILE_BYTES);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"controllers: a follower answers as long as it knows",
         test_a_follower_answers_as_long_as_it_knows},
        {"controllers: a login through a follower", test_a_login_through_a_follower},
        {"controllers: endpoints are read by both", test_endpoints_are_read_by_both},
        {"controllers: files outlive the leader", test_files_outlive_the_leader},
        {"controllers: whatever dies, nothing is lost", test_whatever_dies_nothing_is_lost},
        {0},
    });
}
