/* lockstepd is killed at moments that nobody chose, again and again, while people, programs and
 * agents write. Whatever it said yes to is in the journal afterwards, as it was asked, and the
 * journal is whole. How often is LKS_KILLS, from which seed LKS_SEED. */
#include "base/file.h"
#include "base/rng.h"
#include "codec/format/json.h"
#include "core/state/heartbeat.h"
#include "engine/journal.h"
#include "model/record/record.h"
#include "tests/controller.h"
#include "tests/test.h"
#include "tests/tuples.h"
#include "tests/wait.h"
#include "trust/token.h"
#include "trust/x509.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    KILLS = 8,
    WORKERS = 6,
    NODES = 64,
    SNAPSHOT_ROWS = 100, /* as below */
    LOAD_MS = 150,       /* the longest life under load */
    START_MS = 120,      /* and of a start that is not let finish */
    BODY_MAX = 1 << 20,
};

/* Small numbers, so that heads are signed and snapshots written all the time. */
static const char settings[] = "journal: {snapshot_rows: 100}\n"
                               "rate: {people_per_s: 100000, burst: 1000000}\n";

/* What was answered with yes: a row up to `seq` (0: any) has both texts in its JSON. Once it was
 * found, its hash stands for all of it. */
struct ack {
    uint64_t seq, row;
    char want[2][160];
    uint8_t hash[LKS_HASH_BYTES];
};

struct worker {
    pthread_t thread;
    unsigned id;
    struct lks_rng rng;
    struct lks_client *people, *agent;
    struct lks_buf answer, key, request; /* the last two: of the node that it enrols */
    struct ack *acks;                    /* owned */
    size_t count, room;
    uint64_t turn, beats;
    char trouble[512]; /* an answer that it should not have got */
};

struct army {
    struct ctl ctl;
    struct worker workers[WORKERS];
    struct lks_rng rng;
};

/* Writes ------------------------------------------------------------------------------------- */

/* No answer, because the daemon is gone, ends a round; any other than these is trouble. */
static bool expected(struct worker *w, const char *what, int status, int also)
{
    if (status == 200 || status == also)
        return true;
    if (status != 0 && w->trouble[0] == '\0')
        snprintf(w->trouble, sizeof(w->trouble), "%s: %d %.300s", what, status, w->answer.ptr);
    return false;
}

static struct ack *remember(struct worker *w, uint64_t seq)
{
    if (w->count == w->room) {
        w->room = 2 * w->room + 256;
        struct ack *grown = realloc(w->acks, w->room * sizeof(*grown));
        LKS_ASSERT(grown != NULL);
        w->acks = grown;
    }
    w->acks[w->count] = (struct ack){.seq = seq};
    return &w->acks[w->count++];
}

static bool say_hold(struct worker *w)
{
    static const char *const verbs[] = {"hold", "release"};
    static const char *const kinds[] = {"held", "unheld"};
    for (unsigned i = 0; i < 2; i++) {
        char path[64], body[96];
        snprintf(path, sizeof(path), "/v1/nodes/n%u/%s", w->id, verbs[i]);
        snprintf(body, sizeof(body), "{\"reason\":\"w%u t%llu\"}", w->id,
                 (unsigned long long)++w->turn);
        int status = ctl_ask(w->people, "POST", path, body, &w->answer);
        if (!expected(w, verbs[i], status, i == 0 ? 409 : 200))
            return false;
        if (status != 200)
            continue; /* held by a round whose answer was lost */
        struct ack *a = remember(w, ctl_number(&w->answer, "seq"));
        snprintf(a->want[0], sizeof(a->want[0]), "\"kind\":\"%s\",\"node\":\"n%u\"", kinds[i],
                 w->id);
        snprintf(a->want[1], sizeof(a->want[1]), "%.*s", (int)strlen(body) - 2, body + 1);
    }
    return true;
}

static bool say_grant(struct worker *w)
{
    char body[128], path[128], who[64];
    snprintf(who, sizeof(who), "user:w%u-%llu", w->id, (unsigned long long)++w->turn);
    snprintf(body, sizeof(body), "{\"identity\":\"%s\",\"role\":\"viewer\"}", who);
    snprintf(path, sizeof(path), "/v1/access?identity=%s&role=viewer", who);
    if (!expected(w, "grant", ctl_ask(w->people, "POST", "/v1/access", body, &w->answer), 200))
        return false;
    struct ack *a = remember(w, ctl_number(&w->answer, "seq"));
    snprintf(a->want[0], sizeof(a->want[0]), "\"kind\":\"granted\",\"identity\":\"%s\"", who);
    if (!expected(w, "ungrant", ctl_ask(w->people, "DELETE", path, NULL, &w->answer), 200))
        return false;
    a = remember(w, ctl_number(&w->answer, "seq"));
    snprintf(a->want[0], sizeof(a->want[0]), "\"kind\":\"ungranted\",\"identity\":\"%s\"", who);
    return true;
}

static bool say_api_token(struct worker *w)
{
    char body[128];
    snprintf(body, sizeof(body), "{\"id\":\"w%u-%llu\",\"identity\":\"ci\"}", w->id,
             (unsigned long long)++w->turn);
    if (!expected(w, "token", ctl_ask(w->people, "POST", "/v1/tokens", body, &w->answer), 200))
        return false;
    struct ack *a = remember(w, 0);
    snprintf(a->want[0], sizeof(a->want[0]), "\"kind\":\"api-token\",%.90s", body + 1);
    a->want[0][strlen(a->want[0]) - 1] = '\0'; /* without the brace */
    return true;
}

static bool say_fleet(struct worker *w)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(BODY_MAX);
    char mark[48], digest[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    snprintf(mark, sizeof(mark), "w%u t%llu", w->id, (unsigned long long)++w->turn);
    ctl_fleet(NODES, mark, &text);
    int status = ctl_ask(w->people, "PUT", "/v1/fleet", text.ptr, &w->answer);
    if (!expected(w, "fleet", status, 200) ||
        lks_digest_text(lks_buf_view(&text), digest, &err) != LKS_OK)
        return false;
    struct ack *a = remember(w, ctl_number(&w->answer, "seq"));
    snprintf(a->want[0], sizeof(a->want[0]), "\"kind\":\"fleet\",\"name\":\"faults\"");
    snprintf(a->want[1], sizeof(a->want[1]), "\"manifest\":\"%s\"", digest);
    return true;
}

/* A token for the node, and with it a certificate, which is left in the answer. */
static bool enroll(struct worker *w, unsigned node)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(BODY_MAX);
    char path[64], text[LKS_TOKEN_TEXT_MAX], hash[LKS_DIGEST_SIZE];
    struct lks_token token;
    struct lks_err err = {0};
    snprintf(path, sizeof(path), "/v1/nodes/n%u/enroll", node);
    if (!expected(w, "token", ctl_ask(w->people, "POST", path, "{}", &w->answer), 200))
        return false;
    ctl_text(&w->answer, "token", text, sizeof(text));
    if (lks_token_parse(lks_str_from(text), &token, &err) != LKS_OK ||
        lks_token_hash(&token, hash, &err) != LKS_OK)
        return false;
    struct ack *a = remember(w, 0);
    snprintf(a->want[0], sizeof(a->want[0]), "\"kind\":\"token\",\"node\":\"n%u\"", node);
    snprintf(a->want[1], sizeof(a->want[1]), "\"hash\":\"%s\"", hash);
    struct lks_json_writer j = {.out = &body};
    lks_json_begin(&j, NULL, '{');
    lks_json_cstr(&j, "token", text);
    lks_json_text(&j, "request", lks_buf_view(&w->request));
    lks_json_end(&j, '}');
    return expected(w, "enroll", ctl_ask(w->people, "POST", "/v1/enroll", body.ptr, &w->answer),
                    200);
}

static bool say_enroll(struct worker *w)
{
    unsigned node = WORKERS + w->id;
    static _Thread_local char pem[16384];
    struct lks_x509_about about;
    struct lks_err err = {0};
    if (!enroll(w, node))
        return false;
    ctl_text(&w->answer, "certificate", pem, sizeof(pem));
    if (lks_x509_read(lks_str_from(pem), &about, &err) != LKS_OK)
        return false;
    struct ack *a = remember(w, 0);
    snprintf(a->want[0], sizeof(a->want[0]), "\"kind\":\"enrolled\",\"node\":\"n%u\"", node);
    snprintf(a->want[1], sizeof(a->want[1]), "\"fingerprint\":\"%s\"", about.fingerprint);
    return true;
}

static int agent_ask(struct worker *w, const char *method, const char *path, const char *type,
                     struct lks_str body)
{
    struct lks_http_answer a = {0};
    struct lks_err err = {0};
    enum lks_code code = lks_client_exchange(w->agent, method, path, type, body,
                                             "Lockstep-Protocol: 1\r\n", &a, &err);
    lks_buf_truncate(&w->answer, 0);
    if (code == LKS_OK)
        lks_buf_add(&w->answer, lks_buf_view(&a.body));
    int status = code == LKS_OK ? a.status : 0;
    lks_http_answer_fini(&a);
    return status;
}

static bool say_beat(struct worker *w, const struct lks_tuple *tuple)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(LKS_BEAT_BYTES_MAX);
    struct lks_beat beat = {
        .protocol = LKS_BEAT_PROTOCOL,
        .seq = ++w->beats,
        .sent = (lks_ms)time(NULL) * LKS_SECOND,
    };
    if (!lks_heartbeat_boot_parse(tuple->boot_id, beat.boot))
        return false;
    lks_heartbeat_pack(&beat, &body);
    return expected(
        w, "beat",
        agent_ask(w, "POST", "/v1/agent/beat", "application/octet-stream", lks_buf_view(&body)),
        200);
}

static bool say_tuple(struct worker *w)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(BODY_MAX);
    struct lks_err err = {0};
    char lines[64], digest[LKS_DIGEST_SIZE], node[16];
    snprintf(lines, sizeof(lines), "driver=580.%u.%llu\n", w->id, (unsigned long long)++w->turn);
    snprintf(node, sizeof(node), "n%u", 2 * WORKERS + w->id);
    lks_test_tuple(lines, &tuple);
    tuple.node = lks_str_from(node);
    if (lks_tuple_json(&tuple, LKS_STR(""), &body, &err) != LKS_OK ||
        lks_digest_text(lks_buf_view(&body), digest, &err) != LKS_OK)
        return false;
    if (!expected(w, "tuple",
                  agent_ask(w, "PUT", "/v1/agent/tuple", "application/json", lks_buf_view(&body)),
                  200))
        return false;
    struct ack *a = remember(w, ctl_number(&w->answer, "seq"));
    snprintf(a->want[0], sizeof(a->want[0]), "\"kind\":\"tuple\",\"node\":\"%s\"", node);
    snprintf(a->want[1], sizeof(a->want[1]), "\"report\":\"%s\"", digest);
    return say_beat(w, &tuple);
}

static bool (*const deeds[])(struct worker *w) = {
    say_hold, say_grant, say_tuple, say_hold, say_api_token, say_tuple, say_fleet, say_enroll,
};

static void *work(void *arg)
{
    struct worker *w = arg;
    while (deeds[lks_rng_below(&w->rng, LKS_COUNT(deeds))](w)) {
    }
    return NULL;
}

/* The army ----------------------------------------------------------------------------------- */

static void file_of(const struct army *a, const struct worker *w, const char *what, char out[128])
{
    snprintf(out, 128, "%s/agent-%u.%s", a->ctl.tree.path, w->id, what);
}

/* Its agent's certificate, good for the whole life of the test. */
static void equip(struct army *a, struct worker *w)
{
    static char pem[16384];
    char path[128];
    struct lks_err err = {0};
    lks_buf_init(&w->key, LKS_X509_PEM_MAX);
    lks_buf_init(&w->request, LKS_X509_PEM_MAX);
    lks_buf_init(&w->answer, BODY_MAX);
    CHECK_CODE(lks_x509_key(&w->key, &err), LKS_OK);
    CHECK_CODE(lks_x509_request(lks_buf_view(&w->key), LKS_STR("any"), &w->request, &err), LKS_OK);
    w->people = ctl_client(&a->ctl, CTL_UNIX);
    if (!CHECK(enroll(w, 2 * WORKERS + w->id)))
        printf("%s\n", w->trouble);
    ctl_text(&w->answer, "certificate", pem, sizeof(pem));
    file_of(a, w, "crt", path);
    CHECK_CODE(lks_file_replace(path, lks_str_from(pem), &err), LKS_OK);
    file_of(a, w, "key", path);
    CHECK_CODE(lks_file_replace(path, lks_buf_view(&w->key), &err), LKS_OK);
    lks_client_free(w->people);
    w->people = NULL;
}

static struct lks_client *agent_client(const struct army *a, const struct worker *w)
{
    char server[64], ca[128], certificate[128], key[128];
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    snprintf(server, sizeof(server), "https://localhost:%u", a->ctl.agents);
    snprintf(ca, sizeof(ca), "%s/ca.crt", a->ctl.data);
    file_of(a, w, "crt", certificate);
    file_of(a, w, "key", key);
    CHECK_CODE(lks_client_new(&(struct lks_client_options){.server = server,
                                                           .ca = ca,
                                                           .certificate = certificate,
                                                           .key = key,
                                                           .timeout_ms = LKS_WAIT_MS},
                              &client, &err),
               LKS_OK);
    return client;
}

/* Everybody works until the daemon is gone, which is soon. */
static void fight(struct army *a)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        struct worker *w = &a->workers[i];
        w->people = ctl_client(&a->ctl, i % 2 == 0 ? CTL_UNIX : CTL_TLS);
        w->agent = agent_client(a, w);
        CHECK(pthread_create(&w->thread, NULL, work, w) == 0);
    }
    lks_rest((unsigned)lks_rng_below(&a->rng, LOAD_MS));
    ctl_kill(&a->ctl);
    for (unsigned i = 0; i < WORKERS; i++) {
        struct worker *w = &a->workers[i];
        CHECK(pthread_join(w->thread, NULL) == 0);
        lks_client_free(w->people);
        lks_client_free(w->agent);
        w->people = w->agent = NULL;
        CHECK_STR(lks_str_from(w->trouble), "");
        w->trouble[0] = '\0';
    }
}

/* The journal afterwards --------------------------------------------------------------------- */

struct reading {
    struct army *army;
    uint64_t seq, found, lost;
    lks_ms time;
    bool rising;
    struct lks_buf json;
};

static bool is_it(const struct ack *a, const struct lks_row *row, struct lks_str json)
{
    return (a->seq == 0 || row->seq <= a->seq) &&
           lks_str_find(json, lks_str_from(a->want[0])) >= 0 &&
           lks_str_find(json, lks_str_from(a->want[1])) >= 0;
}

static bool look_at_row(void *ctx, const struct lks_row *row)
{
    struct reading *r = ctx;
    struct lks_err err = {0};
    struct lks_record record;
    struct lks_json_writer w = {.out = &r->json};
    r->rising &= row->seq == r->seq + 1 && row->time >= r->time;
    r->seq = row->seq;
    r->time = row->time;
    lks_buf_truncate(&r->json, 0);
    CHECK_CODE(lks_record_unpack(row->kind, row->version, row->body, &record, &err), LKS_OK);
    lks_json_begin(&w, NULL, '{');
    lks_record_json(&record, &w); /* with what is shown to nobody: a token is known by its digest */
    lks_json_end(&w, '}');
    for (unsigned i = 0; i < WORKERS; i++) {
        struct worker *worker = &r->army->workers[i];
        for (size_t k = worker->count; k-- > 0;) {
            struct ack *a = &worker->acks[k];
            if (a->row == 0 && is_it(a, row, lks_buf_view(&r->json))) {
                a->row = row->seq;
                memcpy(a->hash, row->hash, sizeof(a->hash));
            }
            if (a->row == row->seq && memcmp(a->hash, row->hash, sizeof(a->hash)) == 0)
                r->found++;
            if (a->row != 0 && a->row < row->seq)
                break; /* one worker's acknowledgements are in the order of its rows */
        }
    }
    return true;
}

static void check_found(struct army *a, const struct reading *r)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < WORKERS; i++) {
        total += a->workers[i].count;
        for (size_t k = 0; k < a->workers[i].count; k++) {
            const struct ack *ack = &a->workers[i].acks[k];
            CHECK(ack->seq <= r->seq);
            if (ack->row == 0)
                printf("lost: %s %s (seq %llu)\n", ack->want[0], ack->want[1],
                       (unsigned long long)ack->seq);
        }
    }
    CHECK_INT(r->found, total);
}

static void check_whole(struct army *a, struct lks_store *store)
{
    struct lks_public_key key = ctl_key(&a->ctl);
    struct lks_verify_options options = {.key = &key};
    struct lks_verify v = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_journal_verify(store, &options, &v, &err), LKS_OK);
    CHECK_STR(lks_str_from(v.text), "");
    CHECK_INT(v.fault, LKS_FAULT_NONE);
}

/* Snapshots were written in between, and starts used them; a short life has none. */
static void check_snapshot(const struct army *a, uint64_t rows)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_STORE_SNAPSHOT_MAX);
    struct lks_err err = {0};
    uint64_t seq = 0;
    if (ctl_store(&a->ctl, &store))
        CHECK_CODE(store.ops->snapshot(store.self, &seq, &bytes, &err), LKS_OK);
    CHECK(seq > 0 || rows < UINT64_C(4) * SNAPSHOT_ROWS);
}

/* With `anew`, nothing that was found before counts. */
static uint64_t audit(struct army *a, bool anew)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct reading r = {.army = a, .rising = true};
    struct lks_err err = {0};
    for (unsigned i = 0; anew && i < WORKERS; i++) {
        for (size_t k = 0; k < a->workers[i].count; k++)
            a->workers[i].acks[k].row = 0;
    }
    if (!ctl_store(&a->ctl, &store))
        return 0;
    lks_buf_init(&r.json, BODY_MAX);
    CHECK_CODE(store.ops->rows(store.self, 1, look_at_row, &r, &err), LKS_OK);
    lks_buf_fini(&r.json);
    CHECK(r.rising);
    check_found(a, &r);
    check_whole(a, &store);
    return r.found;
}

static void disband(struct army *a)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        free(a->workers[i].acks);
        lks_buf_fini(&a->workers[i].answer);
        lks_buf_fini(&a->workers[i].key);
        lks_buf_fini(&a->workers[i].request);
    }
    ctl_fini(&a->ctl);
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    uint64_t number;
    return text != NULL && lks_str_number(lks_str_from(text), UINT64_MAX, &number) ? number
                                                                                   : otherwise;
}

static void loses_nothing_it_said_yes_to(void)
{
    static struct army a;
    uint64_t kills = from_environment("LKS_KILLS", KILLS);
    uint64_t seed = from_environment("LKS_SEED", (uint64_t)time(NULL));
    uint64_t found = 0, starts_cut = 0;
    a.rng = (struct lks_rng){seed};
    ctl_init(&a.ctl, settings);
    bool going = ctl_start(&a.ctl);
    if (going)
        ctl_apply(&a.ctl, NODES);
    for (unsigned i = 0; going && i < WORKERS; i++) {
        a.workers[i].id = i;
        a.workers[i].rng = (struct lks_rng){seed + i + 1};
        equip(&a, &a.workers[i]);
    }
    for (uint64_t kill = 0; going && kill < kills; kill++) {
        lks_test_case("LKS_SEED=%llu kill %llu", (unsigned long long)seed,
                      (unsigned long long)kill);
        fight(&a);
        for (; lks_rng_percent(&a.rng, 25); starts_cut++) {
            ctl_spawn(&a.ctl);
            lks_rest((unsigned)lks_rng_below(&a.rng, START_MS));
            ctl_kill(&a.ctl);
        }
        going = ctl_start(&a.ctl);
        found = audit(&a, false);
    }
    if (going)
        CHECK_INT(ctl_stop(&a.ctl), 0);
    CHECK_INT(audit(&a, true), found);
    CHECK(found > kills);
    check_snapshot(&a, found);
    printf("seed %llu: %llu kills, %llu of starts, %llu writes acknowledged and all there\n",
           (unsigned long long)seed, (unsigned long long)kills, (unsigned long long)starts_cut,
           (unsigned long long)found);
    disband(&a);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"loses nothing it said yes to", loses_nothing_it_said_yes_to},
        {0},
    };
    return lks_test_main(tests);
}
