/* Controllers that lack files: each has a copy of one journal and a depot of its own. What is
 * missing is fetched from another one, which may be dead, lack it too, or lie; and the fetching one
 * is killed, full, and asked meanwhile. */
#include "base/file.h"
#include "codec/format/digest.h"
#include "drivers/depot/depot_files.h"
#include "drivers/store/secrets.h"
#include "tests/controller.h"
#include "tests/pki.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MIB   ((size_t)1 << 20)
#define QUICK "rate: {people_per_s: 100000, burst: 1000000}\n"

enum { TEXT_MAX = 1 << 20, PATH_SIZE = 256 };

struct thing {
    size_t size;
    char *bytes;
    char digest[LKS_DIGEST_SIZE];
};

static struct thing thing_new(size_t size)
{
    struct thing t = {.size = size, .bytes = malloc(size)};
    struct lks_err err = {0};
    for (size_t i = 0; i < size; i++)
        t.bytes[i] = (char)((i * 2654435761U + size) >> 7);
    CHECK_CODE(lks_digest_text((struct lks_str){t.bytes, size}, t.digest, &err), LKS_OK);
    return t;
}

/* The status of one exchange through the socket; its body replaces `out`. */
static int ask(const struct ctl *c, const char *method, const char *path, struct lks_str body,
               struct lks_buf *out)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    struct lks_client *client = ctl_client(c, CTL_UNIX);
    struct lks_err err = {0};
    bool put = strcmp(method, "PUT") == 0;
    lks_buf_fini(out);
    lks_buf_init(out, 64 * MIB);
    enum lks_code code = lks_client_exchange(
        client, method, path, put ? "application/octet-stream" : NULL, body, "", &answer, &err);
    lks_client_free(client);
    if (!CHECK_CODE(code, LKS_OK))
        return 0;
    lks_buf_add(out, lks_buf_view(&answer.body));
    return answer.status;
}

static int get(const struct ctl *c, const struct thing *t, struct lks_buf *out)
{
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof(path), "/v1/artifacts/%s", t->digest);
    return ask(c, "GET", path, LKS_STR(""), out);
}

static void put(const struct ctl *c, const struct thing *t)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof(path), "/v1/artifacts/%s", t->digest);
    CHECK_INT(ask(c, "PUT", path, (struct lks_str){t->bytes, t->size}, &out), 200);
}

/* The file of an artifact, or its part. */
static const char *file_of(const struct ctl *c, const struct thing *t, bool part)
{
    static char path[PATH_SIZE];
    const char *hex = t->digest + strlen("sha256:");
    if (part)
        (void)snprintf(path, sizeof(path), "%s/depot/parts/%s", c->data, hex);
    else
        (void)snprintf(path, sizeof(path), "%s/depot/sha256/%.2s/%s", c->data, hex, hex + 2);
    return path;
}

/* The value of a metric of the running one; -1: it has none. */
static int64_t metric(const struct ctl *c, const char *name)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
    char line[128];
    if (ask(c, "GET", "/metrics", LKS_STR(""), &out) != 200)
        return -1;
    (void)snprintf(line, sizeof(line), "\n%s ", name);
    const char *at = strstr(out.ptr, line);
    return at != NULL ? strtoll(at + strlen(line), NULL, 10) : -1;
}

static bool await_metric(const struct ctl *c, const char *name, int64_t least)
{
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (metric(c, name) >= least)
            return true;
    }
    printf("%" LKS_STR_FMT "\n", LKS_STR_ARG(ctl_log(c)));
    return CHECK(false);
}

static bool await_status(const struct ctl *c, const struct thing *t, int status)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (get(c, t, &out) == status)
            return true;
    }
    printf("%" LKS_STR_FMT "\n", LKS_STR_ARG(ctl_log(c)));
    return CHECK(false);
}

static void check_has(const struct ctl *c, const struct thing *t)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
    if (CHECK_INT(get(c, t, &out), 200) && CHECK_INT(out.len, t->size))
        CHECK(memcmp(out.ptr, t->bytes, t->size) == 0);
}

/* The site ------------------------------------------------------------------------------------ */

/* One that has the journal and the keys of `from`, which does not run, and no files. */
static void copy_of(struct ctl *c, const struct ctl *from, const char *more)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf config = LKS_BUF(TEXT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    char depot[128];
    ctl_init(c, more);
    CHECK_CODE(lks_file_read(c->config, &config, &err), LKS_OK);
    ctl_copy(from->data, c->data);
    CHECK_CODE(lks_file_replace(c->config, lks_buf_view(&config), &err), LKS_OK);
    (void)snprintf(depot, sizeof(depot), "%s/depot", c->data);
    CHECK_INT(ctl_run((const char *[]){"/bin/rm", "-rf", depot, NULL}, &said), 0);
}

/* Start it, with the agents' addresses of others; no program listens at port 1. */
static bool start_beside(struct ctl *c, const struct ctl *first, const struct ctl *second)
{
    static const char key[] = "controller: {agents: ";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf config = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    CHECK_CODE(lks_file_read(c->config, &config, &err), LKS_OK);
    ptrdiff_t before = lks_str_find(lks_buf_view(&config), lks_str_from(key));
    lks_buf_truncate(&config, before < 0 ? config.len : (size_t)before);
    lks_buf_addf(&config, "%s'https://localhost:%u https://localhost:%u'}\n", key,
                 first != NULL ? first->agents : 1, second != NULL ? second->agents : 1);
    CHECK_CODE(lks_file_replace(c->config, lks_buf_view(&config), &err), LKS_OK);
    return ctl_start(c);
}

struct pair {
    struct ctl a, b; /* the one that has the files, and the one that lacks them */
    struct thing large, small;
};

/* With a third file, or NULL. */
static bool pair_begin_with(struct pair *p, const struct thing *third, const char *more)
{
    *p = (struct pair){.large = thing_new(3 * MIB + 5), .small = thing_new(100)};
    ctl_init(&p->a, QUICK);
    if (!ctl_start(&p->a))
        return false;
    put(&p->a, &p->large);
    put(&p->a, &p->small);
    if (third != NULL)
        put(&p->a, third);
    CHECK_INT(ctl_stop(&p->a), 0);
    copy_of(&p->b, &p->a, more);
    return ctl_start(&p->a);
}

static bool pair_begin(struct pair *p, const char *more)
{
    return pair_begin_with(p, NULL, more);
}

/* All end before the first is removed: that waits for every program of the test. */
static void pair_end(struct pair *p, struct ctl *more)
{
    struct ctl *const all[] = {&p->b, &p->a, more};
    for (size_t i = 0; i < LKS_COUNT(all); i++) {
        if (all[i] != NULL && all[i]->pid != 0)
            CHECK_INT(ctl_stop(all[i]), 0);
    }
    for (size_t i = 0; i < LKS_COUNT(all); i++) {
        if (all[i] != NULL)
            ctl_fini(all[i]);
    }
    free(p->large.bytes);
    free(p->small.bytes);
}

/* Tests --------------------------------------------------------------------------------------- */

static void test_fetched(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
    struct pair p;
    if (pair_begin(&p, QUICK "depot: {look_s: 1}\n") && start_beside(&p.b, NULL, &p.a)) {
        await_metric(&p.b, "lockstep_depot_fetched_total", 2);
        CHECK_INT(metric(&p.b, "lockstep_depot_missing"), 0);
        CHECK_INT(metric(&p.b, "lockstep_depot_lied_total"), 0);
        check_has(&p.b, &p.large);
        check_has(&p.b, &p.small);
        CHECK(access(file_of(&p.b, &p.large, true), F_OK) != 0);
        /* One that goes while it runs: who asks is asked to come again, and then served. */
        CHECK(unlink(file_of(&p.b, &p.large, false)) == 0);
        CHECK_INT(get(&p.b, &p.large, &out), 503);
        CHECK_HAS(lks_buf_view(&out), "is fetched from another controller");
        await_status(&p.b, &p.large, 200);
        check_has(&p.b, &p.large);
    }
    pair_end(&p, NULL);
}

/* A controller with all files of `from`, one of them changed. */
static bool liar_begin(struct ctl *liar, struct ctl *from, const struct thing *t)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(TEXT_MAX);
    char source[128];
    CHECK_INT(ctl_stop(from), 0);
    copy_of(liar, from, QUICK);
    (void)snprintf(source, sizeof(source), "%s/depot", from->data);
    CHECK_INT(ctl_run((const char *[]){"/bin/cp", "-a", source, liar->data, NULL}, &said), 0);
    FILE *file = fopen(file_of(liar, t, false), "r+e");
    if (!CHECK(file != NULL))
        return false;
    CHECK(fseek(file, (long)MIB, SEEK_SET) == 0 && fputs("lies", file) >= 0);
    CHECK(fclose(file) == 0);
    return ctl_start(from) && ctl_start(liar);
}

/* Other bytes under that name are refused by the digest, and the next controller is asked. */
static void test_lied(void)
{
    struct pair p;
    struct ctl liar = {0};
    if (pair_begin(&p, QUICK "depot: {look_s: 1}\n") && liar_begin(&liar, &p.a, &p.large) &&
        start_beside(&p.b, &liar, NULL)) {
        await_metric(&p.b, "lockstep_depot_lied_total", 2);
        CHECK_INT(metric(&p.b, "lockstep_depot_missing"), 1);
        CHECK(access(file_of(&p.b, &p.large, false), F_OK) != 0);
        check_has(&p.b, &p.small);
        CHECK_HAS(ctl_log(&p.b), "a controller sent another artifact than it was asked for");
        CHECK_INT(ctl_stop(&p.b), 0);
        if (start_beside(&p.b, &liar, &p.a)) {
            await_metric(&p.b, "lockstep_depot_fetched_total", 1);
            check_has(&p.b, &p.large);
            CHECK(metric(&p.b, "lockstep_depot_lied_total") >= 1);
        }
    }
    pair_end(&p, &liar);
}

/* Where no controller has it the answer says so, and is not to come again. */
static void test_nowhere(void)
{
    struct pair p;
    if (pair_begin(&p, QUICK "depot: {look_s: 1}\n")) {
        CHECK(unlink(file_of(&p.a, &p.large, false)) == 0);
        if (start_beside(&p.b, &p.a, &p.a)) {
            await_metric(&p.b, "lockstep_depot_fetched_total", 1);
            await_status(&p.b, &p.large, 404);
            check_has(&p.b, &p.small);
            CHECK_INT(metric(&p.b, "lockstep_depot_missing"), 1);
            put(&p.b, &p.large); /* a person has it */
            check_has(&p.b, &p.large);
        }
    }
    pair_end(&p, NULL);
}

static bool await_part(const struct ctl *c, const struct thing *t, size_t least)
{
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(64 * MIB);
        struct lks_err err = {0};
        if (lks_file_read(file_of(c, t, true), &bytes, &err) == LKS_OK && bytes.len >= least)
            return true;
    }
    return CHECK(false);
}

/* Killed in the middle it goes on with what it has. The rate leaves time for that. */
static void test_killed(void)
{
    struct pair p;
    if (pair_begin(&p, QUICK "depot: {look_s: 1, rate_bytes_per_s: 1048576}\n") &&
        start_beside(&p.b, &p.a, NULL) && await_part(&p.b, &p.large, 2 * MIB)) {
        ctl_kill(&p.b);
        if (start_beside(&p.b, &p.a, NULL)) {
            await_status(&p.b, &p.large, 200);
            check_has(&p.b, &p.large);
            CHECK(metric(&p.b, "lockstep_depot_received_bytes_total") < (int64_t)(2 * MIB));
        }
    }
    pair_end(&p, NULL);
}

/* Files come in the order of their digests. The one that is asked for comes next, and the one that
 * waited before it comes all the same, without another look. */
static void test_asked_for(void)
{
    struct thing third = thing_new(219);
    struct pair p;
    if (pair_begin_with(&p, &third, QUICK "depot: {look_s: 3600, rate_bytes_per_s: 1048576}\n") &&
        start_beside(&p.b, &p.a, NULL) && await_part(&p.b, &p.large, MIB)) {
        CHECK(strcmp(p.large.digest, p.small.digest) < 0 &&
              strcmp(p.small.digest, third.digest) < 0);
        await_status(&p.b, &third, 200);
        for (struct lks_wait w = {0};
             access(file_of(&p.b, &p.small, false), F_OK) != 0 && lks_wait(&w);) {
        }
        check_has(&p.b, &p.small);
        check_has(&p.b, &p.large);
    }
    pair_end(&p, NULL);
    free(third.bytes);
}

/* What would leave too little of the disk is not begun, and comes when there is room. */
static void test_full(void)
{
    struct pair p;
    if (pair_begin(&p, QUICK "depot: {look_s: 1, spare_bytes: 1000000000000000}\n") &&
        start_beside(&p.b, &p.a, NULL)) {
        for (struct lks_wait w = {0};
             lks_str_find(ctl_log(&p.b), LKS_STR("cannot be fetched")) < 0 && lks_wait(&w);) {
        }
        CHECK_HAS(ctl_log(&p.b), "an artifact that the journal has cannot be fetched");
        CHECK_INT(metric(&p.b, "lockstep_depot_missing"), 2);
        CHECK(access(file_of(&p.b, &p.large, false), F_OK) != 0);
        CHECK_INT(ctl_stop(&p.b), 0);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(TEXT_MAX);
        CHECK_INT(ctl_run((const char *[]){"/bin/sed", "-i", "s/, spare_bytes: 1[0]*}/}/",
                                           p.b.config, NULL},
                          &said),
                  0);
        if (start_beside(&p.b, &p.a, NULL))
            await_metric(&p.b, "lockstep_depot_fetched_total", 2);
    }
    pair_end(&p, NULL);
}

/* A controller's certificate at the agents' address opens artifacts, and nothing of agents. */
static void test_certificate(void)
{
    LKS_CLEANUP(lks_pair_fini) struct lks_pair authority = {0}, shown = {0};
    struct lks_seal_key seal;
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    struct pair p;
    if (pair_begin(&p, QUICK)) {
        char path[PATH_SIZE], server[64];
        LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer mail = {0}, bytes = {0};
        lks_buf_init(&authority.certificate, LKS_X509_PEM_MAX);
        lks_buf_init(&authority.key, LKS_SECRET_MAX);
        CHECK_CODE(lks_file_read(ctl_path(&p.a, "data/ca.crt"), &authority.certificate, &err),
                   LKS_OK);
        CHECK_CODE(lks_secrets_key(p.a.data, "file:seal.key", &seal, &err), LKS_OK);
        CHECK_CODE(lks_secrets_read(p.a.data, &seal, "ca.key", &authority.key, &err), LKS_OK);
        lks_pki_issue(&authority, (struct lks_pki_wish){.use = LKS_X509_CONTROLLER, .name = "ctl2"},
                      &shown);
        (void)snprintf(server, sizeof(server), "https://localhost:%u", p.a.agents);
        (void)snprintf(path, sizeof(path), "/v1/artifacts/%s", p.small.digest);
        const struct lks_client_options options = {.server = server,
                                                   .ca = authority.certificate.ptr,
                                                   .certificate = shown.certificate.ptr,
                                                   .key = shown.key.ptr,
                                                   .pem = true,
                                                   .timeout_ms = LKS_WAIT_MS};
        CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
        CHECK_CODE(lks_client_exchange(client, "GET", path, NULL, LKS_STR(""),
                                       "Lockstep-Protocol: 1\r\n", &bytes, &err),
                   LKS_OK);
        CHECK_INT(bytes.status, 200);
        CHECK_CODE(lks_client_exchange(client, "GET", "/v1/agent/mail", NULL, LKS_STR(""),
                                       "Lockstep-Protocol: 1\r\n", &mail, &err),
                   LKS_OK);
        CHECK_INT(mail.status, 403);
        lks_client_free(client);
    }
    pair_end(&p, NULL);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"fetched from another controller", test_fetched},
        {"a controller that lies", test_lied},
        {"no controller has it", test_nowhere},
        {"killed while fetching", test_killed},
        {"asked for while another comes", test_asked_for},
        {"no room", test_full},
        {"a controller's certificate", test_certificate},
        {0},
    });
}
