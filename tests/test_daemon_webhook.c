/* Webhooks of Kubernetes, asked of the real daemon over TLS: by an API server that the test plays,
 * and by callers that are none. tests/k8s has the real one. */
#include "base/file.h"
#include "codec/kubernetes/review.h"
#include "tests/crew.h"
#include "tests/pki.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DRIP_MS = 500, OWN_SECONDS = 40 * 86400 + 43200 /* half a day more than whole days */ };

#define SERVER "kube-apiserver"

struct scene {
    struct crew crew;
    struct lks_tree tree; /* has the authority */
    struct lks_pair authority, own;
    struct lks_client *api; /* the API server */
    char digest[LKS_DIGEST_SIZE];
};

#define POD(more, spec)                                                                            \
    "{\"metadata\":{\"name\":\"p\"" more "},\"spec\":{\"containers\":[{\"name\":\"c\","            \
    "\"image\":\"r/x:1\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"8\"}}}]" spec "}}"
#define REVIEW(kind, more, pod)                                                                    \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{"           \
    "\"uid\":\"u-1\",\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"" kind                 \
    "\"},\"operation\":\"CREATE\",\"namespace\":\"ml\",\"userInfo\":{\"username\":\"kim\"}," more  \
    "\"object\":" pod "}}"
#define ON_GPU1 POD("", ",\"nodeName\":\"gpu1\"")

/* As API servers ask. */
#define VALIDATE "/v1/kubernetes/validate?timeout=2s"
#define MUTATE   "/v1/kubernetes/mutate?timeout=2s"

static bool enforce(struct scene *s, const char *word)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "lockstep: 1\nkind: Fleet\nname: here\nsites: {east: {}}\n"
             "pools:\n"
             "  train: {posture: batch, stack: golden, sched: kubernetes, enforce: \"%s\"}\n"
             "nodes:\n"
             "  - {hosts: \"gpu[1-2]\", pool: train, class: hgx-h200-8, site: east}\n",
             word);
    return crew_fleet(&s->crew, text);
}

/* A client with that certificate; `own` NULL: without one. */
static struct lks_client *client_of(const struct scene *s, const struct lks_pair *own)
{
    char server[64];
    snprintf(server, sizeof(server), "https://localhost:%u", s->crew.c.webhook);
    const struct lks_client_options options = {
        .server = server,
        .ca = ctl_path(&s->crew.c, "data/ca.crt"),
        .pem_own = own != NULL ? "a test's" : NULL,
        .certificate = own != NULL ? own->certificate.ptr : NULL,
        .key = own != NULL ? own->key.ptr : NULL,
        .timeout_ms = LKS_WAIT_MS,
    };
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    return client;
}

/* The authority that lockstepd knows API servers by, from its next reload on. */
static void write_ca(const struct scene *s, struct lks_str text)
{
    char path[160];
    struct lks_err err = {0};
    snprintf(path, sizeof(path), "%s/api.ca", s->tree.path);
    CHECK_CODE(lks_file_replace(path, text, &err), LKS_OK);
}

static bool begin(struct scene *s, const char *word)
{
    char config[512], path[160];
    s->tree = lks_tree_new();
    lks_pki_authority(&s->authority);
    lks_pki_issue(
        &s->authority,
        (struct lks_pki_wish){.use = LKS_X509_USER, .name = SERVER, .seconds = OWN_SECONDS},
        &s->own);
    snprintf(path, sizeof(path), "%s/api.ca", s->tree.path);
    write_ca(s, lks_buf_view(&s->authority.certificate));
    snprintf(config, sizeof(config),
             "webhook: {listen: '127.0.0.1:0', client_ca: %s}\nhttp: {request_ms: %d}\n", path,
             DRIP_MS);
    if (!crew_begin(&s->crew, config) || !crew_release(&s->crew, s->digest) || !enforce(s, word))
        return false;
    s->api = client_of(s, &s->own);
    return CHECK(s->api != NULL);
}

static void end(struct scene *s)
{
    lks_client_free(s->api);
    crew_end(&s->crew);
    lks_pair_fini(&s->authority);
    lks_pair_fini(&s->own);
    lks_tree_free(&s->tree);
}

static const struct lks_doc *response_of(const struct crew_told *t)
{
    return lks_doc_member(t->doc, "response");
}

static bool is_allowed(const struct crew_told *t)
{
    const struct lks_doc *allowed = lks_doc_member(response_of(t), "allowed");
    return allowed != NULL && allowed->kind == LKS_DOC_BOOL && allowed->truth;
}

static struct lks_str message_of(const struct crew_told *t)
{
    return lks_doc_text(lks_doc_member(response_of(t), "status"), "message");
}

/* How many jobs of the pool would have been refused, or were, as counted. */
static bool counted(struct scene *s, const char *want)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    CHECK_INT(crew_ask(s->crew.root, "GET", "/v1/observed?by=user", NULL, &t), 200);
    return CHECK_HAS(lks_buf_view(&t.answer.body), want);
}

/* A pod on a node that was never read, and one that may go anywhere. */
static void test_enforcing(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct scene s = {0};
    if (begin(&s, "on")) {
        CHECK(crew_fine(s.api, "validatePod", VALIDATE, REVIEW("Pod", "", ON_GPU1), &t));
        CHECK_STR(lks_doc_text(response_of(&t), "uid"), "u-1");
        CHECK(!is_allowed(&t));
        CHECK_HAS(message_of(&t), "lockstep does not admit this pod: pool train: node gpu1: ");
        CHECK(counted(&s, "\"user\":\"kim\""));
        CHECK(crew_fine(s.api, "validatePod", VALIDATE, REVIEW("Pod", "", POD("", "")), &t));
        CHECK(is_allowed(&t));
        CHECK(crew_fine(s.api, "mutatePod", MUTATE, REVIEW("Pod", "", POD("", "")), &t));
        CHECK(is_allowed(&t));
        CHECK_STR(lks_doc_text(response_of(&t), "patchType"), "JSONPatch");
        /* What comes after an unknown image in a batch pool is a warning. */
        CHECK(lks_doc_member(response_of(&t), "warnings") == NULL);
        crew_all_covered("daemon_webhook");
    }
    end(&s);
}

/* Nothing is refused and nothing is added; dry runs are not counted. */
static void test_observing(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct scene s = {0};
    if (begin(&s, "observe")) {
        CHECK(crew_fine(s.api, "validatePod", VALIDATE, REVIEW("Pod", "\"dryRun\":true,", ON_GPU1),
                        &t));
        CHECK(is_allowed(&t));
        CHECK(counted(&s, "\"items\":[]"));
        CHECK(crew_fine(s.api, "validatePod", VALIDATE, REVIEW("Pod", "", ON_GPU1), &t));
        CHECK(is_allowed(&t));
        CHECK_HAS(lks_buf_view(&t.answer.body), "\"warnings\":[\"lockstep: would refuse this pod");
        CHECK(counted(&s, "\"user\":\"kim\""));
        CHECK(crew_fine(s.api, "mutatePod", MUTATE, REVIEW("Pod", "", POD("", "")), &t));
        CHECK(is_allowed(&t));
        CHECK(lks_doc_member(response_of(&t), "patch") == NULL);
    }
    end(&s);
}

static void test_malformed(void)
{
    static const struct {
        const char *name, *body, *said;
    } rows[] = {
        {"no JSON", "no", "body:1:"},
        {"nothing", "", "body:1:"},
        {"no review", "{}", "not an AdmissionReview"},
        {"another kind", REVIEW("Node", "", "{}"), "not the creation of a Pod"},
        {"a pod that is none", REVIEW("Pod", "", "{}"), "expected a Pod with metadata and spec"},
    };
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct scene s = {0};
    bool ok = begin(&s, "on");
    for (size_t i = 0; i < LKS_COUNT(rows) && ok; i++) {
        lks_test_case("%s", rows[i].name);
        CHECK_INT(crew_ask(s.api, "POST", VALIDATE, rows[i].body, &t), 400);
        CHECK_HAS(crew_text(&t, "detail"), rows[i].said);
    }
    lks_test_case("a path of people");
    CHECK_INT(crew_ask(s.api, "GET", "/v1/health", NULL, &t), 404);
    lks_test_case("another parameter");
    CHECK_INT(crew_ask(s.api, "POST", "/v1/kubernetes/mutate?x=1", "{}", &t), 400);
    end(&s);
}

/* Larger than a review may be: refused by its length. */
static void test_too_large(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(2 * LKS_REVIEW_BYTES_MAX);
    struct scene s = {0};
    if (begin(&s, "on")) {
        while (body.len <= LKS_REVIEW_BYTES_MAX)
            lks_buf_add(&body, LKS_STR("                                "));
        CHECK_INT(crew_try(s.api, "POST", VALIDATE, body.ptr, &t), 413);
        CHECK_HAS(crew_text(&t, "detail"), "the body is too long");
    }
    end(&s);
}

/* No certificate, one of another authority, one of another name. */
static void test_strangers(void)
{
    struct scene s = {0};
    if (begin(&s, "on")) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        LKS_CLEANUP(lks_pair_fini) struct lks_pair other = {0};
        LKS_CLEANUP(lks_pair_fini) struct lks_pair forged = {0};
        LKS_CLEANUP(lks_pair_fini) struct lks_pair named = {0};
        lks_pki_authority(&other);
        lks_pki_issue(&other, (struct lks_pki_wish){.use = LKS_X509_USER, .name = SERVER}, &forged);
        lks_pki_issue(&s.authority, (struct lks_pki_wish){.use = LKS_X509_USER, .name = "kim"},
                      &named);
        const struct {
            const char *name;
            const struct lks_pair *own;
            int status; /* 0: the handshake fails */
            const char *said;
        } rows[] = {
            {"no certificate", NULL, 0, ""},
            {"of another authority", &forged, 403, "certificate"},
            {"of another name", &named, 403, "'kim', and webhook.clients does not name that"},
        };
        for (size_t i = 0; i < LKS_COUNT(rows); i++) {
            struct lks_client *client = client_of(&s, rows[i].own);
            lks_test_case("%s", rows[i].name);
            CHECK_INT(crew_try(client, "POST", VALIDATE, REVIEW("Pod", "", ON_GPU1), &t),
                      rows[i].status);
            CHECK_HAS(crew_text(&t, "detail"), rows[i].said);
            lks_client_free(client);
        }
        CHECK(counted(&s, "\"items\":[]"));
    }
    end(&s);
}

/* Slow clients ------------------------------------------------------------------------------- */

static int dial(unsigned port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)port)};
    struct timeval patience = {.tv_sec = LKS_WAIT_MS / 1000};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return fd;
}

static SSL *shake_hands(const struct scene *s, SSL_CTX *ctx, int fd)
{
    char certificate[160], key[160];
    struct lks_err err = {0};
    snprintf(certificate, sizeof(certificate), "%s/own.crt", s->tree.path);
    snprintf(key, sizeof(key), "%s/own.key", s->tree.path);
    CHECK_CODE(lks_file_replace(certificate, lks_buf_view(&s->own.certificate), &err), LKS_OK);
    CHECK_CODE(lks_file_replace(key, lks_buf_view(&s->own.key), &err), LKS_OK);
    CHECK(SSL_CTX_use_certificate_file(ctx, certificate, SSL_FILETYPE_PEM) == 1 &&
          SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) == 1);
    SSL *ssl = SSL_new(ctx);
    CHECK(ssl != NULL && SSL_set_fd(ssl, fd) == 1 && SSL_connect(ssl) == 1);
    return ssl;
}

/* A body that does not come ends its connection, and no other request waits for it. */
static void test_slow(void)
{
    static const char head[] = "POST /v1/kubernetes/validate HTTP/1.1\r\nHost: localhost\r\n"
                               "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct scene s = {0};
    char rest[4096];
    if (begin(&s, "on")) {
        int fd = dial(s.crew.c.webhook);
        SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
        SSL *ssl = shake_hands(&s, ctx, fd);
        CHECK_INT(SSL_write(ssl, head, sizeof(head) - 1), sizeof(head) - 1);
        CHECK(crew_fine(s.api, "validatePod", VALIDATE, REVIEW("Pod", "", POD("", "")), &t));
        int got = 1;
        while (got > 0)
            got = SSL_read(ssl, rest, sizeof(rest));
        CHECK(SSL_get_error(ssl, got) != SSL_ERROR_WANT_READ); /* it ended, before patience did */
        SSL_free(ssl);
        SSL_CTX_free(ctx);
        close(fd);
    }
    end(&s);
}

static bool reload(struct scene *s, const char *logged)
{
    CHECK_INT(kill(s->crew.c.pid, SIGHUP), 0);
    for (struct lks_wait w = {0};
         lks_str_find(ctl_log(&s->crew.c), lks_str_from(logged)) < 0 && lks_wait(&w);) {
    }
    return CHECK_HAS(ctl_log(&s->crew.c), logged);
}

/* Of another authority, the one before counts no more; a file that is none changes nothing. */
static void test_reload(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_pair_fini) struct lks_pair other = {0};
    struct scene s = {0};
    if (begin(&s, "on")) {
        write_ca(&s, LKS_STR("none\n"));
        CHECK(reload(&s, "msg=\"not reloaded; all stays as it was\" cause=\"webhook.client_ca: "));
        CHECK_INT(crew_ask(s.api, "POST", VALIDATE, REVIEW("Pod", "", ON_GPU1), &t), 200);
        lks_pki_authority(&other);
        write_ca(&s, lks_buf_view(&other.certificate));
        CHECK(reload(&s, "msg=reloaded"));
        struct lks_client *client = client_of(&s, &s.own);
        CHECK_INT(crew_try(client, "POST", VALIDATE, REVIEW("Pod", "", ON_GPU1), &t), 403);
        lks_client_free(client);
    }
    end(&s);
}

static void test_metrics(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct scene s = {0};
    if (begin(&s, "on")) {
        CHECK(crew_fine(s.api, "validatePod", VALIDATE, REVIEW("Pod", "", ON_GPU1), &t));
        CHECK(crew_fine(s.api, "mutatePod", MUTATE, REVIEW("Pod", "", POD("", "")), &t));
        CHECK_INT(crew_ask(s.crew.root, "GET", "/metrics", NULL, &t), 200);
        struct lks_str body = lks_buf_view(&t.answer.body);
        CHECK_HAS(body,
                  "\nlockstep_webhook_reviews_total{webhook=\"validate\",answer=\"refused\"} 1\n");
        CHECK_HAS(body,
                  "\nlockstep_webhook_reviews_total{webhook=\"mutate\",answer=\"patched\"} 1\n");
        CHECK_HAS(body, "\nlockstep_webhook_seconds_count 2\n");
        CHECK_HAS(body, "\nlockstep_webhook_client_days 40\n");
        CHECK_HAS(body, "\nlockstep_http_requests_total{listener=\"webhook\"} 2\n");
    }
    end(&s);
}

/* Without the listener there is none of it. */
static void test_off(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct crew crew;
    if (crew_begin(&crew, "")) {
        CHECK_INT(crew.c.webhook, 0);
        CHECK_INT(crew_ask(crew.root, "GET", "/metrics", NULL, &t), 200);
        CHECK(lks_str_find(lks_buf_view(&t.answer.body), LKS_STR("listener=\"webhook\"")) < 0);
        CHECK_INT(crew_ask(crew.root, "POST", VALIDATE, "{}", &t), 404);
    }
    crew_end(&crew);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"a pool that enforces", test_enforcing},
        {"a pool that observes", test_observing},
        {"what is no review", test_malformed},
        {"a body that is too large", test_too_large},
        {"callers that are no API server", test_strangers},
        {"a body that does not come", test_slow},
        {"another authority of API servers", test_reload},
        {"metrics", test_metrics},
        {"no listener", test_off},
        {0},
    });
}
