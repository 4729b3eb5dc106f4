/* The certificate of the server: lockstepd renews it in time, and doctor names the command. */
#include "base/file.h"
#include "server/base/secrets.h"
#include "tests/controller.h"
#include "tests/pki.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MAX = 1 << 20, DAY_S = 86400 };

/* A server.crt of this CA for the server's own key, good for some seconds. */
static void write_server(const struct ctl *c, const struct lks_secrets *s, struct lks_str ca,
                         struct lks_str ca_key, int64_t seconds)
{
    static const struct lks_str names[] = {LKS_STR_C("localhost")};
    LKS_CLEANUP(lks_buf_fini)
    struct lks_buf request = LKS_BUF(ANSWER_MAX), pem = LKS_BUF(ANSWER_MAX);
    struct lks_x509_about about;
    struct lks_err err = {0};
    char path[160];
    struct lks_x509_wish wish = {.use = LKS_X509_SERVER,
                                 .name = names[0],
                                 .alternatives = names,
                                 .alternative_count = 1,
                                 .now = (int64_t)time(NULL),
                                 .seconds = seconds};
    snprintf(path, sizeof(path), "%s/server.crt", c->data);
    CHECK_CODE(lks_x509_request(lks_buf_view(&s->server_key), names[0], &request, &err), LKS_OK);
    CHECK_CODE(lks_x509_issue(ca, ca_key, lks_buf_view(&request), &wish, &pem, &about, &err),
               LKS_OK);
    CHECK_CODE(lks_file_replace(path, lks_buf_view(&pem), &err), LKS_OK);
}

/* The days for which server.crt is good. */
static int64_t server_days(const struct ctl *c)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = LKS_BUF(ANSWER_MAX);
    struct lks_x509_about about = {0};
    struct lks_err err = {0};
    char path[160];
    snprintf(path, sizeof(path), "%s/server.crt", c->data);
    CHECK_CODE(lks_file_read(path, &pem, &err), LKS_OK);
    CHECK_CODE(lks_x509_read(lks_buf_view(&pem), &about, &err), LKS_OK);
    return (about.not_after - (int64_t)time(NULL)) / DAY_S;
}

/* The days for which the certificate is good that a new connection gets; -1: it gets none. */
static int64_t served_days(const struct ctl *c)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)c->people)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), days = -1, seconds = 0;
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(ctx);
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    SSL_set_fd(ssl, fd);
    if (connect(fd, (const struct sockaddr *)&in, sizeof(in)) == 0 && SSL_connect(ssl) == 1)
        ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(SSL_get0_peer_certificate(ssl)));
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    close(fd);
    return days;
}

static void check_doctor(const struct ctl *c, bool fixes)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(ANSWER_MAX);
    (void)ctl_run((const char *const[]){LKS_CLI_PROGRAM, "doctor", c->data, NULL}, &said);
    CHECK_HAS(lks_buf_view(&said), "server.crt");
    CHECK_INT(lks_str_find(lks_buf_view(&said),
                           LKS_STR("to fix server.crt: systemctl reload-or-restart lockstepd\n")) >=
                  0,
              fixes);
}

static void reload_renews(struct ctl *c, const struct lks_secrets *s)
{
    write_server(c, s, lks_buf_view(&s->ca), lks_buf_view(&s->ca_key), 20 * DAY_S);
    check_doctor(c, true);
    CHECK_INT(kill(c->pid, SIGHUP), 0);
    for (struct lks_wait w = {0}; server_days(c) < 800 && lks_wait(&w);) {
    }
    CHECK(server_days(c) > 800);
    check_doctor(c, false);
}

/* Certificates of the built-in CA are renewed when lockstepd starts and reloads; others stay. */
static void test_renewal(void)
{
    LKS_CLEANUP(lks_secrets_fini) struct lks_secrets s = {0};
    struct lks_pair authority = {0};
    struct ctl c = {0};
    struct lks_err err = {0};
    char reference[160];
    lks_pki_authority(&authority);
    ctl_init(&c, "");
    snprintf(reference, sizeof(reference), "file:%s/seal.key", c.data);
    CHECK_CODE(lks_secrets_load(c.data, reference, &s, &err), LKS_OK);
    lks_test_case("a start");
    write_server(&c, &s, lks_buf_view(&s.ca), lks_buf_view(&s.ca_key), 20 * DAY_S);
    check_doctor(&c, true);
    if (CHECK(ctl_start(&c))) {
        CHECK(server_days(&c) > 800);
        lks_test_case("a reload");
        reload_renews(&c, &s);
        CHECK_INT(ctl_stop(&c), 0);
    }
    lks_test_case("long before the end");
    write_server(&c, &s, lks_buf_view(&s.ca), lks_buf_view(&s.ca_key), 90 * DAY_S);
    if (CHECK(ctl_start(&c)))
        CHECK_INT(ctl_stop(&c), 0);
    CHECK(server_days(&c) < 91);
    lks_test_case("another CA");
    write_server(&c, &s, lks_buf_view(&authority.certificate), lks_buf_view(&authority.key),
                 20 * DAY_S);
    check_doctor(&c, false);
    if (CHECK(ctl_start(&c)))
        CHECK_INT(ctl_stop(&c), 0);
    CHECK(server_days(&c) < 21);
    ctl_fini(&c);
    lks_pair_fini(&authority);
}

/* Whether lockstepd started before the last 60 days of a certificate that is `margin` seconds away
 * from them, and then renewed it without a reload. */
static bool renews_itself(struct ctl *c, const struct lks_secrets *s, int64_t margin)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    write_server(c, s, lks_buf_view(&s->ca), lks_buf_view(&s->ca_key), 60 * DAY_S + margin);
    if (!CHECK(ctl_start(c)))
        return true;
    bool early = served_days(c) == 60;
    /* It may be 59 for a moment: the end of the margin comes before the renewal. */
    for (struct lks_wait w = {0}; early && served_days(c) <= 60 && lks_wait(&w);) {
    }
    if (early) {
        CHECK(served_days(c) > 800 && server_days(c) > 800);
        CHECK_INT(ctl_once(c, "GET", "/metrics", NULL, &answer), 200);
        CHECK_HAS(lks_buf_view(&answer), "\nlockstep_server_certificate_days 82");
        CHECK_HAS(ctl_log(c), "server.crt was renewed");
    }
    CHECK_INT(ctl_stop(c), 0);
    return early;
}

static void test_running(void)
{
    LKS_CLEANUP(lks_secrets_fini) struct lks_secrets s = {0};
    struct ctl c = {0};
    struct lks_err err = {0};
    char reference[160];
    int64_t margin = 4; /* a slow machine takes longer for a start, and gets more */
    ctl_init(&c, "");
    snprintf(reference, sizeof(reference), "file:%s/seal.key", c.data);
    CHECK_CODE(lks_secrets_load(c.data, reference, &s, &err), LKS_OK);
    while (!renews_itself(&c, &s, margin) && CHECK(margin < 600))
        margin *= 2;
    ctl_fini(&c);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"server.crt is renewed before it ends", test_renewal},
        {"and by a daemon that goes on running", test_running},
        {0},
    });
}
