/* lockstepd as a process: what init makes, what a reload changes, a full disk, snapshots, and nodes
 * that come with certificates of their site's. */
#include "base/file.h"
#include "core/state/heartbeat.h"
#include "drivers/store/sqlite.h"
#include "engine/journal.h"
#include "server/base/secrets.h"
#include "tests/controller.h"
#include "tests/pki.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    ANSWER_MAX = 8 << 20,
    SITE_SECONDS = 3600, /* life of a certificate of the site's */
};

/* Rates and reload -------------------------------------------------------------------------- */

static void rewrite_config(const struct ctl *c, const char *more)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(ANSWER_MAX);
    struct lks_err err = {0};
    CHECK_CODE(lks_file_read_plain(c->config, &text, &err), LKS_OK);
    ptrdiff_t at = lks_str_find(lks_buf_view(&text), LKS_STR("rate:"));
    if (CHECK(at > 0))
        lks_buf_truncate(&text, (size_t)at);
    lks_buf_addf(&text, "%s", more);
    CHECK_CODE(lks_file_replace(c->config, lks_buf_view(&text), &err), LKS_OK);
}

static bool wait_for_log(const struct ctl *c, const char *text)
{
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (lks_str_find(ctl_log(c), lks_str_from(text)) >= 0)
            return true;
    }
    return false;
}

static void test_rate_and_reload(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    struct ctl c = {0};
    ctl_init(&c, "rate:\n  people_per_s: 1\n  burst: 5\n");
    if (CHECK(ctl_start(&c))) {
        struct lks_client *admin = ctl_client(&c, CTL_TLS);
        int status = 200;
        for (int i = 0; i < 10 && status == 200; i++)
            status = ctl_ask(admin, "GET", "/v1/whoami", NULL, &answer);
        CHECK_INT(status, 429);
        CHECK_HAS(lks_buf_view(&answer), "too many requests; try again in");
        rewrite_config(&c, "rate:\n  burst: many\n");
        CHECK_INT(kill(c.pid, SIGHUP), 0);
        CHECK(wait_for_log(&c, "not reloaded"));
        rewrite_config(&c,
                       "rate:\n  people_per_s: 10000\n  burst: 10000\nhttp:\n  idle_ms: 5000\n");
        CHECK_INT(kill(c.pid, SIGHUP), 0);
        CHECK(wait_for_log(&c, "msg=reloaded"));
        CHECK(wait_for_log(&c, "needs a restart\" key=http.idle_ms"));
        for (int i = 0; i < 50; i++)
            CHECK_INT(ctl_ask(admin, "GET", "/v1/whoami", NULL, &answer), 200);
        lks_client_free(admin);
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
}

/* A journal that cannot be written ---------------------------------------------------------- */

static void limit_files(const struct ctl *c, rlim_t bytes)
{
    struct rlimit limit = {bytes, RLIM_INFINITY};
    CHECK_INT(prlimit(c->pid, RLIMIT_FSIZE, &limit, NULL), 0);
}

static int grant(const struct ctl *c, unsigned number, struct lks_buf *answer)
{
    char body[128];
    snprintf(body, sizeof(body), "{\"identity\":\"user:u%u\",\"role\":\"viewer\"}", number);
    return ctl_once(c, "POST", "/v1/access", body, answer);
}

/* Nothing is acknowledged while the disk is full; when it is not any more all goes on. */
static void test_stalled(void)
{
    static const char waits[] =
        "what is asked rests on records that are not durable yet; try again";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    struct ctl c = {0};
    ctl_init(&c, "");
    if (CHECK(ctl_start(&c))) {
        unsigned written = 0;
        CHECK_INT(grant(&c, written++, &answer), 200);
        limit_files(&c, 1);
        CHECK_INT(grant(&c, written, &answer), 503);
        CHECK_HAS(lks_buf_view(&answer), "the journal cannot be written: ");
        CHECK_HAS(lks_buf_view(&answer), "whether this takes effect shows when it can");
        CHECK_INT(ctl_once(&c, "GET", "/v1/access", NULL, &answer), 503);
        CHECK_HAS(lks_buf_view(&answer), waits);
        CHECK_INT(ctl_once(&c, "POST", "/v1/admit", "{\"job\":\"j\",\"nodes\":\"n1\"}", &answer),
                  503);
        CHECK_HAS(lks_buf_view(&answer), waits);
        CHECK_INT(ctl_once(&c, "GET", "/v1/ready", NULL, &answer), 503);
        CHECK_HAS(lks_buf_view(&answer), "the journal cannot be written");
        CHECK_INT(ctl_once(&c, "GET", "/v1/health", NULL, &answer), 200);
        CHECK_INT(grant(&c, written + 1, &answer), 503);
        limit_files(&c, RLIM_INFINITY);
        int status = 0;
        for (struct lks_wait w = {0}; status != 200 && lks_wait(&w);)
            status = ctl_once(&c, "GET", "/v1/ready", NULL, &answer);
        CHECK_INT(status, 200);
        CHECK_INT(grant(&c, written + 2, &answer), 200);
        CHECK_HAS(ctl_log(&c), "the journal is written again");
        CHECK_INT(ctl_stop(&c), 0);
        CHECK(ctl_start(&c)); /* the chain is whole */
        CHECK_INT(ctl_once(&c, "GET", "/v1/access", NULL, &answer), 200);
        CHECK_HAS(lks_buf_view(&answer), "user:u0");
        CHECK_HAS(lks_buf_view(&answer), "user:u3");
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
}

/* All rows that the snapshot stands for are let go. */
static void trim(const struct ctl *c)
{
    struct lks_store store = {0};
    struct lks_secrets secrets = {0};
    struct lks_err err = {0};
    lks_ms now = (lks_ms)time(NULL) * 1000 + 1000;
    uint64_t through = 0;
    char key[128];
    snprintf(key, sizeof(key), "file:%s/seal.key", c->data);
    CHECK_CODE(lks_secrets_load(c->data, key, &secrets, &err), LKS_OK);
    CHECK_CODE(lks_store_sqlite_open(ctl_path(c, "data/journal.db"), LKS_STORE_OWN, &store, &err),
               LKS_OK);
    CHECK_CODE(lks_journal_trim(&store, &secrets.journal, now, now, LKS_STR(""), &through, &err),
               LKS_OK);
    CHECK(through > 2);
    lks_store_close(&store);
    lks_secrets_fini(&secrets);
}

/* What a daemon that is killed may leave, and what only looks like that. */
static const struct {
    const char *name;
    bool stays;
} left_behind[] = {
    {"backup-1.tmp", false},   {"backup-1.tmp.journal", false},
    {"snapshot-1.tmp", false}, {"snapshot.tmp", false},
    {"backup-1", true},        {"snapshots", true},
};

static void leave_files(const struct ctl *c)
{
    for (size_t i = 0; i < LKS_COUNT(left_behind); i++) {
        char path[1200];
        struct lks_err err = {0};
        snprintf(path, sizeof(path), "%s/%s", c->data, left_behind[i].name);
        CHECK_CODE(lks_file_replace(path, LKS_STR("x"), &err), LKS_OK);
    }
}

static void check_swept(const struct ctl *c)
{
    for (size_t i = 0; i < LKS_COUNT(left_behind); i++) {
        char path[1200];
        lks_test_case("%s", left_behind[i].name);
        snprintf(path, sizeof(path), "%s/%s", c->data, left_behind[i].name);
        CHECK(left_behind[i].stays == (access(path, F_OK) == 0));
    }
}

static void test_snapshot(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    struct ctl c = {0};
    ctl_init(&c, "journal:\n  snapshot_rows: 100\n");
    if (CHECK(ctl_start(&c))) {
        for (unsigned i = 0; i < 150; i++)
            CHECK_INT(grant(&c, i, &answer), 200);
        bool made = false;
        for (struct lks_wait w = {0}; !made && lks_wait(&w);) {
            CHECK_INT(ctl_once(&c, "GET", "/metrics", NULL, &answer), 200);
            made = lks_str_find(lks_buf_view(&answer), LKS_STR("lockstep_snapshots_total 1\n")) > 0;
        }
        CHECK(made);
        struct lks_store store = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(ANSWER_MAX);
        struct lks_err err = {0};
        uint64_t seq = 0;
        for (struct lks_wait w = {0}; seq == 0 && lks_wait(&w) && ctl_store(&c, &store);) {
            CHECK_CODE(store.ops->snapshot(store.self, &seq, &bytes, &err), LKS_OK);
            lks_store_close(&store);
        }
        CHECK(seq >= 100);
        ctl_kill(&c);
        leave_files(&c);
        CHECK(ctl_start(&c));
        check_swept(&c);
        CHECK_INT(ctl_once(&c, "GET", "/v1/access", NULL, &answer), 200);
        CHECK_HAS(lks_buf_view(&answer), "user:u149");
        CHECK_INT(ctl_stop(&c), 0);
        trim(&c);
        CHECK(ctl_start(&c));
        CHECK_INT(ctl_once(&c, "GET", "/v1/events?from=2", NULL, &answer), 409);
        CHECK_HAS(lks_buf_view(&answer), "are not kept any more; start with ?from=");
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
}

static bool wait_for_metric(const struct ctl *c, const char *line, struct lks_buf *answer)
{
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        CHECK_INT(ctl_once(c, "GET", "/metrics", NULL, answer), 200);
        if (lks_str_find(lks_buf_view(answer), lks_str_from(line)) >= 0)
            return true;
    }
    return false;
}

/* A person who can write the file put in a snapshot of a row far ahead. */
static void forge_snapshot(const struct ctl *c)
{
    sqlite3 *db = NULL;
    CHECK_INT(sqlite3_open(ctl_path(c, "data/journal.db"), &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db,
                           "DELETE FROM snapshot;"
                           "INSERT INTO snapshot (part, seq, size, bytes) "
                           "VALUES (0, 999999999, 4, x'00010203')",
                           NULL, NULL, NULL),
              SQLITE_OK);
    sqlite3_close(db);
}

static void check_doctor(const struct ctl *c, const char *line)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(ANSWER_MAX);
    (void)ctl_run((const char *const[]){LKS_CLI_PROGRAM, "doctor", c->data, NULL}, &said);
    CHECK_HAS(lks_buf_view(&said), line);
}

static void test_forged_snapshot(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    struct ctl c = {0};
    ctl_init(&c, "journal:\n  snapshot_rows: 100\n");
    if (CHECK(ctl_start(&c))) {
        CHECK_INT(ctl_stop(&c), 0);
        forge_snapshot(&c);
        CHECK(ctl_start(&c));
        CHECK(wait_for_log(&c, "the snapshot was not used"));
        CHECK(wait_for_log(&c, "row=999999999 cause=\"snapshot: it is not signed\""));
        CHECK(wait_for_metric(&c, "\nlockstep_snapshots_unused_total 1\n", &answer));
        check_doctor(
            &c, "snapshot     note   lockstepd rejected the stored snapshot when it started, and "
                "read all rows; see 'the snapshot was not used' in its log");
        for (unsigned i = 0; i < 150; i++)
            CHECK_INT(grant(&c, i, &answer), 200);
        CHECK(wait_for_metric(&c, "\nlockstep_snapshots_total 1\n", &answer));
        CHECK_INT(ctl_stop(&c), 0);
        CHECK(ctl_start(&c));
        CHECK(wait_for_metric(&c, "\nlockstep_snapshots_unused_total 0\n", &answer));
        check_doctor(&c, "snapshot     good   lockstepd rejected no snapshot when it started");
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
}

static void test_snapshot_not_written(void)
{
    enum { FIRST = 100, LAST = 140 };
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    struct ctl c = {0};
    ctl_init(&c, "journal:\n  snapshot_rows: 100\n");
    for (unsigned row = FIRST; row < LAST; row++) { /* what it writes is no file any more */
        char name[64];
        snprintf(name, sizeof(name), "data/snapshot-%u.tmp", row);
        CHECK_INT(mkdir(ctl_path(&c, name), 0700), 0);
    }
    if (CHECK(ctl_start(&c))) {
        for (unsigned i = 0; i < FIRST; i++)
            CHECK_INT(grant(&c, i, &answer), 200);
        CHECK(wait_for_log(&c, "a snapshot could not be written"));
        CHECK(wait_for_log(&c, ".tmp: Is a directory"));
        CHECK_INT(ctl_stop(&c), 0);
    }
    for (unsigned row = FIRST; row < LAST; row++) {
        char name[64];
        snprintf(name, sizeof(name), "data/snapshot-%u.tmp", row);
        CHECK_INT(rmdir(ctl_path(&c, name)), 0);
    }
    ctl_fini(&c);
}

/* Events ------------------------------------------------------------------------------------ */

static const struct {
    const char *last, *path;
    int status;
    const char *says;
} resumes[] = {
    {"garbage", "/v1/events", 400, "Last-Event-ID has to be the number of a row"},
    {"-5", "/v1/events", 400, "Last-Event-ID has to be the number of a row"},
    {"18446744073709551615", "/v1/events", 400, "Last-Event-ID has to be the number of a row"},
    {"18446744073709551614", "/v1/events", 400, "Last-Event-ID has to be the number of a row"},
    {"", "/v1/events", 400, "Last-Event-ID has to be the number of a row"},
    {"99999999", "/v1/events", 409, "row 100000000 is beyond the journal's end"},
    {NULL, "/v1/events?from=99999999", 409, "row 99999999 is beyond the journal's end"},
};

/* Nobody is to miss rows in silence. */
static void test_resume(void)
{
    struct ctl c = {0};
    ctl_init(&c, "");
    if (CHECK(ctl_start(&c))) {
        struct lks_client *client = ctl_client(&c, CTL_UNIX);
        for (size_t i = 0; i < LKS_COUNT(resumes); i++) {
            struct lks_http_answer answer = {0};
            struct lks_err err = {0};
            char head[64] = "";
            lks_test_case("%s", resumes[i].last != NULL ? resumes[i].last : resumes[i].path);
            if (resumes[i].last != NULL)
                snprintf(head, sizeof(head), "Last-Event-ID: %s\r\n", resumes[i].last);
            CHECK_CODE(lks_client_exchange(client, "GET", resumes[i].path, NULL, LKS_STR(""), head,
                                           &answer, &err),
                       LKS_OK);
            CHECK_INT(answer.status, resumes[i].status);
            CHECK_HAS(lks_buf_view(&answer.body), resumes[i].says);
            lks_http_answer_fini(&answer);
        }
        lks_client_free(client);
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
}

/* init -------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    mode_t mode;
} files[] = {
    {"data", 0700},
    {"data/lockstepd.yaml", 0600},
    {"data/journal.db", 0600},
    {"data/ca.crt", 0644},
    {"data/server.crt", 0644},
    {"data/journal.pub", 0644},
    {"data/command.pub", 0644},
    {"data/admin.token", 0600},
    {"data/seal.key", 0600},
    {"data/secrets", 0700},
    {"data/secrets/ca.key.sealed", 0600},
    {"data/secrets/server.key.sealed", 0600},
    {"data/secrets/journal.key.sealed", 0600},
    {"data/secrets/command.key.sealed", 0600},
};

static void test_init(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(ANSWER_MAX);
    struct ctl c = {0};
    ctl_init(&c, "");
    for (size_t i = 0; i < LKS_COUNT(files); i++) {
        struct stat st;
        lks_test_case("%s", files[i].name);
        if (CHECK_INT(stat(ctl_path(&c, files[i].name), &st), 0))
            CHECK_INT(st.st_mode & 07777, files[i].mode);
    }
    lks_test_case("a sealing key that others can read");
    CHECK_INT(chmod(ctl_path(&c, "data/seal.key"), 0644), 0);
    CHECK(ctl_refused(&c, &said) != 0);
    CHECK_HAS(lks_buf_view(&said), "seal_key");
    ctl_fini(&c);
}

/* The first token is for a day. */
static void test_first_token(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    struct ctl c = {0};
    char from[LKS_TIME_TEXT_SIZE], to[LKS_TIME_TEXT_SIZE], got[LKS_TIME_TEXT_SIZE] = "";
    const lks_ms day = (lks_ms)24 * 3600 * LKS_SECOND;
    lks_time_text((lks_ms)time(NULL) * LKS_SECOND + day, from);
    ctl_init(&c, "");
    lks_time_text(((lks_ms)time(NULL) + 1) * LKS_SECOND + day, to);
    if (CHECK(ctl_start(&c))) {
        static const char mark[] = "\"id\":\"admin\",\"identity\":\"admin\",\"expires\":\"";
        CHECK_INT(ctl_once(&c, "GET", "/v1/access", NULL, &answer), 200);
        ptrdiff_t at = lks_str_find(lks_buf_view(&answer), lks_str_from(mark));
        if (CHECK(at >= 0))
            snprintf(got, sizeof(got), "%.*s", (int)strlen(from), answer.ptr + at + strlen(mark));
        CHECK(strcmp(got, from) >= 0 && strcmp(got, to) <= 0);
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
}

/* What a person names goes into the configuration as it is. */
static void test_init_quotes(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(ANSWER_MAX);
    struct ctl c = {.tree = lks_tree_new()};
    snprintf(c.data, sizeof(c.data), "%s/a\"b\\c: #d", c.tree.path);
    snprintf(c.config, sizeof(c.config), "%s/lockstepd.yaml", c.data);
    CHECK_INT(ctl_init_with(c.data, "--name", "localhost", &said), 0);
    lks_buf_truncate(&said, 0);
    CHECK_INT(ctl_check(&c, &said), 0);
    CHECK_HAS(lks_buf_view(&said), "good");
    ctl_fini(&c);
}

#define FIFTY "0123456789abcdefghij0123456789abcdefghij0123456789"

/* What cannot be made leaves nothing behind, so that the next try has an empty place. */
static void test_init_refused(void)
{
    static const char *const rows[][3] = {
        {"--name", "a b", "host name"},
        {"--name", "-x", "host name"},
        {"--name", "999.1.1.1", "host name"},
        {"--name", "a..b", "host name"},
        {"--people", "here", "people.listen"},
        {"--agents", "::1", "agents.listen: expected ADDRESS:PORT"},
        {"--agents", "127.0.0.1:7443", "the same place"},
        {"--socket", "/" FIFTY FIFTY "12345678", "at most 107 bytes"},
        {"--socket", "here", "socket"},
        {"--seal-key", "/dev/null/none", "/dev/null/none"},
    };
    struct lks_tree tree = lks_tree_new();
    char data[sizeof(tree.path) + 8];
    snprintf(data, sizeof(data), "%s/data", tree.path);
    for (size_t i = 0; i < 2 * LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(ANSWER_MAX);
        const char *const *row = rows[i / 2];
        lks_test_case("%s %s", row[0], row[1]);
        bool there = i % 2 == 1; /* a directory that was there stays, and is empty */
        CHECK(!there || mkdir(data, 0700) == 0);
        CHECK_INT(ctl_init_with(data, row[0], row[1], &said), 3);
        CHECK_HAS(lks_buf_view(&said), row[2]);
        CHECK_INT(rmdir(data), there ? 0 : -1);
    }
    lks_tree_free(&tree);
}

/* A site's own certificates ----------------------------------------------------------------- */

static EVP_PKEY *key_of(const struct lks_buf *pem)
{
    BIO *bio = BIO_new_mem_buf(pem->ptr, (int)pem->len);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    BIO_free(bio);
    LKS_ASSERT(key != NULL);
    return key;
}

static X509 *certificate_of(const struct lks_buf *pem)
{
    BIO *bio = BIO_new_mem_buf(pem->ptr, (int)pem->len);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    LKS_ASSERT(cert != NULL);
    return cert;
}

/* As a site's PKI would: a DNS name, and no word of us. */
static void site_issue(const struct lks_pair *authority, const char *dns, long seconds,
                       struct lks_pair *out)
{
    struct lks_err err = {0};
    char names[128];
    lks_buf_init(&out->key, LKS_X509_PEM_MAX);
    lks_buf_init(&out->certificate, LKS_X509_PEM_MAX);
    CHECK_CODE(lks_x509_key(&out->key, &err), LKS_OK);
    EVP_PKEY *own = key_of(&out->key), *signer = key_of(&authority->key);
    X509 *ca = certificate_of(&authority->certificate), *cert = X509_new();
    X509_set_version(cert, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), 77);
    X509_gmtime_adj(X509_getm_notBefore(cert), -60);
    X509_gmtime_adj(X509_getm_notAfter(cert), seconds);
    X509_set_pubkey(cert, own);
    X509_set_issuer_name(cert, X509_get_subject_name(ca));
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_UTF8,
                               (const unsigned char *)"machine", -1, -1, 0);
    snprintf(names, sizeof(names), "DNS:%s", dns);
    X509_EXTENSION *alternative = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, names);
    X509_EXTENSION *use = X509V3_EXT_conf_nid(NULL, NULL, NID_ext_key_usage, "clientAuth");
    X509_add_ext(cert, alternative, -1);
    X509_add_ext(cert, use, -1);
    CHECK(X509_sign(cert, signer, EVP_sha256()) > 0);
    BIO *bio = BIO_new(BIO_s_mem());
    char *bytes = NULL;
    PEM_write_bio_X509(bio, cert);
    long len = BIO_get_mem_data(bio, &bytes);
    lks_buf_add(&out->certificate, (struct lks_str){bytes, (size_t)len});
    BIO_free(bio);
    X509_EXTENSION_free(alternative);
    X509_EXTENSION_free(use);
    X509_free(cert);
    X509_free(ca);
    EVP_PKEY_free(own);
    EVP_PKEY_free(signer);
}

static struct lks_client *site_client(const struct ctl *c, const struct lks_pair *pair)
{
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    char server[64];
    snprintf(server, sizeof(server), "https://localhost:%u", c->agents);
    CHECK_CODE(lks_file_replace(ctl_path(c, "site.crt"), lks_buf_view(&pair->certificate), &err),
               LKS_OK);
    CHECK_CODE(lks_file_replace(ctl_path(c, "site.key"), lks_buf_view(&pair->key), &err), LKS_OK);
    struct lks_client_options options = {
        .server = server,
        .ca = ctl_path(c, "data/ca.crt"),
        .certificate = ctl_path(c, "site.crt"),
        .key = ctl_path(c, "site.key"),
        .timeout_ms = LKS_WAIT_MS,
    };
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    return client;
}

/* The status, and the interval that the answer names. */
static int beat_on(struct lks_client *client, uint64_t seq, uint64_t *interval)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_BEAT_BYTES_MAX);
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    struct lks_err err = {0};
    struct lks_beat b = {.protocol = 1, .boot = {7}, .seq = seq, .sent = (lks_ms)time(NULL) * 1000};
    lks_heartbeat_pack(&b, &bytes);
    enum lks_code code =
        lks_client_exchange(client, "POST", "/v1/agent/beat", "application/octet-stream",
                            lks_buf_view(&bytes), "Lockstep-Protocol: 1\r\n", &answer, &err);
    if (code != LKS_OK)
        return 0;
    *interval = ctl_number(&answer.body, "heartbeat_ms");
    return answer.status;
}

static int beat_as(const struct ctl *c, const struct lks_pair *pair, uint64_t seq)
{
    uint64_t interval = 0;
    struct lks_client *client = site_client(c, pair);
    int status = beat_on(client, seq, &interval);
    lks_client_free(client);
    return status;
}

static void use_site(struct ctl *c, const struct lks_pair *authority)
{
    struct lks_pair node = {0}, renewed = {0}, before = {0}, stranger = {0}, ours = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    site_issue(authority, "n1", SITE_SECONDS, &node);
    site_issue(authority, "n1", SITE_SECONDS + 60, &renewed);
    site_issue(authority, "n1", SITE_SECONDS / 2, &before);
    site_issue(authority, "n999", SITE_SECONDS, &stranger);
    lks_pki_issue(authority, (struct lks_pki_wish){.use = LKS_X509_NODE, .name = "n1"}, &ours);
    CHECK_INT(beat_as(c, &node, 1), 200);
    CHECK_INT(ctl_once(c, "GET", "/v1/nodes/n1", NULL, &answer), 200);
    CHECK_HAS(lks_buf_view(&answer), "\"enrolled\":true");
    CHECK_HAS(lks_buf_view(&answer), "\"liveness\":\"live\"");
    CHECK_INT(ctl_once(c, "GET", "/v1/fleet", NULL, &answer), 200);
    uint64_t seq = ctl_number(&answer, "seq");
    CHECK_INT(beat_as(c, &node, 2), 200);
    CHECK_INT(ctl_once(c, "GET", "/v1/fleet", NULL, &answer), 200);
    CHECK_INT(ctl_number(&answer, "seq"), seq); /* it is known by now */
    CHECK_INT(beat_as(c, &renewed, 3), 200);
    CHECK_INT(beat_as(c, &node, 4), 200);
    CHECK_INT(beat_as(c, &before, 5), 403);   /* no renewal: it ends sooner */
    CHECK_INT(beat_as(c, &stranger, 1), 403); /* the fleet has no such node */
    CHECK_INT(beat_as(c, &ours, 5), 403);     /* says that it is of ours, and is not */
    lks_pair_fini(&node);
    lks_pair_fini(&renewed);
    lks_pair_fini(&before);
    lks_pair_fini(&stranger);
    lks_pair_fini(&ours);
}

/* The old machine still has a certificate that the site's authority stands behind. */
static void check_replaced(struct ctl *c, const struct lks_pair *old, const struct lks_pair *new,
                           uint64_t seq)
{
    CHECK_INT(beat_as(c, old, seq), 403);
    CHECK_INT(beat_as(c, new, seq), 200);
    CHECK_INT(beat_as(c, old, seq + 1), 403);
}

static void replace_with_site(struct ctl *c, const struct lks_pair *authority)
{
    struct lks_pair old = {0}, new = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    site_issue(authority, "n2", SITE_SECONDS, &old);
    site_issue(authority, "n2", SITE_SECONDS, &new);
    CHECK_INT(beat_as(c, &old, 1), 200);
    CHECK_INT(ctl_once(c, "POST", "/v1/nodes/n2/replace", "{\"reason\":\"new board\"}", &answer),
              200);
    lks_test_case("before the new machine is heard");
    CHECK_INT(beat_as(c, &old, 2), 403);
    lks_test_case("after it was");
    check_replaced(c, &old, &new, 3);
    lks_test_case("after a restart");
    CHECK_INT(ctl_stop(c), 0);
    if (CHECK(ctl_start(c)))
        check_replaced(c, &old, &new, 5);
    lks_pair_fini(&old);
    lks_pair_fini(&new);
}

static void test_site(void)
{
    struct lks_pair authority = {0};
    struct ctl c = {0};
    struct lks_err err = {0};
    char more[160];
    lks_pki_authority(&authority);
    struct lks_tree tree = lks_tree_new();
    char ca[96];
    snprintf(ca, sizeof(ca), "%s/site-ca.crt", tree.path);
    CHECK_CODE(lks_file_replace(ca, lks_buf_view(&authority.certificate), &err), LKS_OK);
    snprintf(more, sizeof(more), "tls:\n  site_ca: \"%s\"\n", ca);
    ctl_init(&c, more);
    if (CHECK(ctl_start(&c))) {
        ctl_apply(&c, 3);
        use_site(&c, &authority);
        replace_with_site(&c, &authority);
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
    lks_tree_free(&tree);
    lks_pair_fini(&authority);
}

/* The interval of heartbeats is told with each answer: the first one of a connection comes from the
 * state thread, the others from the server thread. A reload changes it for agents that are there.
 */
static void hear_interval(const struct ctl *c, struct lks_client *agent)
{
    uint64_t interval = 0, seq = 0;
    while (seq < 3) {
        lks_test_case("heartbeat %d", (int)++seq);
        CHECK_INT(beat_on(agent, seq, &interval), 200);
        CHECK_INT(interval, 7000);
    }
    lks_test_case("reloaded");
    rewrite_config(c, "limits:\n  heartbeat_ms: 3000\n");
    CHECK_INT(kill(c->pid, SIGHUP), 0);
    for (struct lks_wait w = {0}; interval != 3000 && lks_wait(&w);)
        CHECK_INT(beat_on(agent, ++seq, &interval), 200);
    CHECK_INT(interval, 3000);
}

static void test_interval(void)
{
    struct lks_pair authority = {0}, node = {0};
    struct ctl c = {0};
    struct lks_err err = {0};
    char ca[96], more[256];
    lks_pki_authority(&authority);
    struct lks_tree tree = lks_tree_new();
    snprintf(ca, sizeof(ca), "%s/site-ca.crt", tree.path);
    CHECK_CODE(lks_file_replace(ca, lks_buf_view(&authority.certificate), &err), LKS_OK);
    snprintf(more, sizeof(more),
             "tls:\n  site_ca: \"%s\"\nrate:\n  burst: 100\nlimits:\n  heartbeat_ms: 7000\n", ca);
    ctl_init(&c, more);
    if (CHECK(ctl_start(&c))) {
        ctl_apply(&c, 3);
        site_issue(&authority, "n1", SITE_SECONDS, &node);
        struct lks_client *agent = site_client(&c, &node);
        hear_interval(&c, agent);
        lks_client_free(agent);
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
    lks_tree_free(&tree);
    lks_pair_fini(&authority);
    lks_pair_fini(&node);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"init makes what it says, for its owner alone", test_init},
        {"init: the first token expires", test_first_token},
        {"init at a path with quotes", test_init_quotes},
        {"init that fails", test_init_refused},
        {"events that cannot be resumed", test_resume},
        {"rates, and a reload of them", test_rate_and_reload},
        {"a full disk", test_stalled},
        {"a snapshot is made, and a start uses it", test_snapshot},
        {"a forged snapshot is named, and replaced", test_forged_snapshot},
        {"why a snapshot could not be written", test_snapshot_not_written},
        {"a node comes with a certificate of the site's", test_site},
        {"agents hear of another interval", test_interval},
        {0},
    };
    return lks_test_main(tests);
}
