#include "tests/provider.h"

#include "base/file.h"
#include "codec/format/base64.h"
#include "codec/format/digest.h"
#include "codec/format/hex.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TEXT_MAX = 1 << 16, LIFE_S = 600 };

/* Answers ----------------------------------------------------------------------------------- */

static void add_discovery(const struct lks_provider *p, struct lks_buf *out)
{
    lks_buf_addf(out,
                 "{\"issuer\":\"%s\",\"token_endpoint\":\"%s/token\",\"jwks_uri\":\"%s/keys\","
                 "\"device_authorization_endpoint\":\"%s/device\","
                 "\"authorization_endpoint\":\"%s/auth?ui=1\"}",
                 p->issuer, p->issuer, p->issuer, p->issuer, p->issuer);
}

static void add_keys(struct lks_provider *p, struct lks_buf *out)
{
    p->asked_keys++;
    lks_buf_addf(out, "{\"keys\":[");
    lks_signer_key(p->published, out);
    lks_buf_addf(out, "]}");
}

static void add_token(const struct lks_provider *p, struct lks_buf *out)
{
    char claims[2048];
    long long now = (long long)time(NULL) - p->age;
    snprintf(claims, sizeof(claims), "{\"iss\":\"%s\",\"aud\":\"%s\",\"iat\":%lld,\"exp\":%lld%s}",
             p->issuer, p->audience != NULL ? p->audience : LKS_PROVIDER_CLIENT, now, now + LIFE_S,
             p->claims);
    lks_buf_addf(out, "{\"access_token\":\"x\",\"token_type\":\"bearer\",\"id_token\":\"");
    lks_signer_token(p->signs, p->header, claims, out);
    lks_buf_addf(out, "\"}");
}

/* The person's state, as a status and an answer. */
static int add_state(struct lks_provider *p, struct lks_buf *out)
{
    static const char *const errors[] = {
        [LKS_PROVIDER_PENDING] = "authorization_pending",
        [LKS_PROVIDER_SLOW] = "slow_down",
        [LKS_PROVIDER_DENIES] = "access_denied",
        [LKS_PROVIDER_EXPIRED] = "expired_token",
    };
    p->asked_tokens++;
    if (p->mood == LKS_PROVIDER_NAMES) {
        add_token(p, out);
        return 200;
    }
    lks_buf_addf(out, "{\"error\":\"%s\"}", errors[p->mood]);
    return 400;
}

/* Whoever asks shows the secret of the client. */
static bool is_client(const struct lks_httpd_request *r)
{
    return lks_str_find(r->body, LKS_STR("client_id=" LKS_PROVIDER_CLIENT "&client_secret="
                                         "a%20secret%20%26%20more")) >= 0;
}

/* A code is exchanged by whoever knows the verifier of the challenge. */
static bool is_verified(const struct lks_provider *p, struct lks_str body)
{
    static const char field[] = "&code_verifier=";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    ptrdiff_t at = lks_str_find(body, lks_str_from(field));
    char digest[LKS_DIGEST_SIZE];
    uint8_t bytes[32];
    struct lks_err err = {0};
    size_t skip = sizeof(field) - 1;
    if (at < 0 || lks_str_find(body, LKS_STR("&code=c-1&redirect_uri=https%3A%2F%2F")) < 0)
        return false;
    struct lks_str verifier = {body.ptr + at + skip, body.len - (size_t)at - skip};
    lks_buf_init(&text, sizeof(p->challenge));
    CHECK_CODE(lks_digest_text(verifier, digest, &err), LKS_OK);
    CHECK(lks_hex_read(lks_str_from(digest + strlen("sha256:")), bytes, sizeof(bytes)));
    lks_base64_url_add(&text, (struct lks_str){(const char *)bytes, sizeof(bytes)});
    return lks_str_is(lks_buf_view(&text), p->challenge);
}

static int answer(struct lks_provider *p, const struct lks_httpd_request *r, struct lks_buf *out)
{
    bool post = strcmp(r->method, "POST") == 0;
    if (p->mood == LKS_PROVIDER_BROKEN)
        return 500;
    if (p->mood == LKS_PROVIDER_GARBAGE)
        lks_buf_addf(out, "<html>");
    else if (strcmp(r->path, "/.well-known/openid-configuration") == 0)
        add_discovery(p, out);
    else if (strcmp(r->path, "/keys") == 0)
        add_keys(p, out);
    else if (post && !is_client(r))
        lks_buf_addf(out, "{\"error\":\"invalid_client\"}");
    else if (post && strcmp(r->path, "/token") == 0)
        return is_verified(p, r->body) || lks_str_find(r->body, LKS_STR("device_code=dc-1")) > 0
                   ? add_state(p, out)
                   : 400;
    else if (post && strcmp(r->path, "/device") == 0)
        lks_buf_addf(out,
                     "{\"device_code\":\"dc-1\",\"user_code\":\"ABCD-EFGH\",\"expires_in\":300,"
                     "\"interval\":1,\"verification_uri\":\"%s/device\"}",
                     p->issuer);
    else
        return 404;
    return lks_str_find(lks_buf_view(out), LKS_STR("invalid_client")) > 0 ? 401 : 200;
}

static void hear(void *ctx, struct lks_httpd_exchange *x, const struct lks_httpd_request *r)
{
    struct lks_provider *p = ctx;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
    pthread_mutex_lock(&p->lock);
    bool silent = p->mood == LKS_PROVIDER_SILENT;
    p->unanswered += silent;
    int status = silent ? 0 : answer(p, r, &out);
    pthread_mutex_unlock(&p->lock);
    if (silent)
        return;
    if (out.len == 0)
        lks_buf_addf(&out, "{}");
    lks_httpd_reply(x, &(struct lks_httpd_reply){.status = status,
                                                 .type = "application/json",
                                                 .body = lks_buf_view(&out)});
}

static void gone(void *ctx, struct lks_httpd_exchange *x)
{
    (void)ctx;
    (void)x;
}

/* The thread -------------------------------------------------------------------------------- */

static void on_stop(uv_async_t *stop)
{
    struct lks_provider *p = stop->data;
    lks_httpd_free(p->httpd);
    uv_close((uv_handle_t *)stop, NULL);
}

static void *run(void *arg)
{
    struct lks_provider *p = arg;
    uv_run(&p->loop, UV_RUN_DEFAULT);
    uv_loop_close(&p->loop);
    return NULL;
}

bool lks_provider_start(struct lks_provider *p)
{
    char address[32];
    struct lks_err err = {0};
    snprintf(address, sizeof(address), "127.0.0.1:%u", p->port);
    const struct lks_httpd_options options = {
        .address = address,
        .certificate = lks_buf_view(&p->own.certificate),
        .key = lks_buf_view(&p->own.key),
        .connections = 64,
        .body_max = TEXT_MAX,
        .first_ms = (lks_ms)LKS_WAIT_MS,
        .request_ms = (lks_ms)LKS_WAIT_MS,
        .idle_ms = (lks_ms)LKS_WAIT_MS,
    };
    uv_loop_init(&p->loop);
    uv_async_init(&p->loop, &p->stop, on_stop);
    p->stop.data = p;
    if (!CHECK_CODE(lks_httpd_new(&p->loop, &options, hear, gone, p, &p->httpd, &err), LKS_OK))
        return false;
    p->port = lks_httpd_port(p->httpd);
    snprintf(p->issuer, sizeof(p->issuer), "https://localhost:%u", p->port);
    p->running = CHECK(pthread_create(&p->thread, NULL, run, p) == 0);
    return p->running;
}

void lks_provider_stop(struct lks_provider *p)
{
    if (!p->running)
        return;
    uv_async_send(&p->stop);
    pthread_join(p->thread, NULL);
    p->running = false;
}

bool lks_provider_init(struct lks_provider *p)
{
    struct lks_err err = {0};
    *p = (struct lks_provider){.claims = ""};
    pthread_mutex_init(&p->lock, NULL);
    p->tree = lks_tree_new();
    lks_pki_authority(&p->authority);
    lks_pki_issue(&p->authority, (struct lks_pki_wish){.use = LKS_X509_SERVER, .name = "localhost"},
                  &p->own);
    snprintf(p->ca, sizeof(p->ca), "%s/ca.crt", p->tree.path);
    snprintf(p->secret, sizeof(p->secret), "%s/secret", p->tree.path);
    return CHECK_CODE(lks_file_replace(p->ca, lks_buf_view(&p->authority.certificate), &err),
                      LKS_OK) &&
           CHECK_CODE(lks_file_replace(p->secret, LKS_STR(LKS_PROVIDER_SECRET "\n"), &err), LKS_OK);
}

void lks_provider_fini(struct lks_provider *p)
{
    lks_provider_stop(p);
    lks_pair_fini(&p->authority);
    lks_pair_fini(&p->own);
    lks_tree_free(&p->tree);
    pthread_mutex_destroy(&p->lock);
}

void lks_provider_mood(struct lks_provider *p, enum lks_provider_mood mood, const char *claims)
{
    pthread_mutex_lock(&p->lock);
    p->mood = mood;
    p->claims = claims;
    pthread_mutex_unlock(&p->lock);
}
