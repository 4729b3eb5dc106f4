#include "lab/bmcd/pull.h"

#include "drivers/http/client.h"
#include "lab/bmcsim/bmcsim.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

struct pull {
    uv_work_t work;
    lks_pull_done *done;
    void *ctx;
    char uri[LKS_PULL_URI_MAX + 1];
    char *ca;
    struct lks_buf bytes;
    struct lks_err err;
};

/* ---- Where. ---- */

/* "127.0.0.1:80", "[::1]:80", "localhost". */
static bool split_host(struct lks_str authority, const char *port, struct lks_pull_place *out)
{
    struct lks_str host = authority, number = lks_str_from(port);
    uint64_t ignored;
    if (lks_str_starts(authority, "[")) {
        struct lks_str rest;
        host = (struct lks_str){authority.ptr + 1, authority.len - 1};
        if (!lks_str_cut(host, ']', &host, &rest))
            return false;
        if (rest.len > 0 && rest.ptr[0] != ':')
            return false;
        if (rest.len > 0)
            number = (struct lks_str){rest.ptr + 1, rest.len - 1};
    } else {
        struct lks_str rest;
        if (lks_str_cut(authority, ':', &host, &rest))
            number = rest;
    }
    int size = snprintf(out->host, sizeof(out->host), "%" LKS_STR_FMT, LKS_STR_ARG(host));
    snprintf(out->port, sizeof(out->port), "%" LKS_STR_FMT, LKS_STR_ARG(number));
    return size > 0 && (size_t)size < sizeof(out->host) && number.len < sizeof(out->port) &&
           lks_str_number(number, UINT16_MAX, &ignored);
}

static bool is_loopback(const char *host)
{
    uint8_t v4[4], v6[16];
    static const uint8_t one[16] = {[15] = 1};
    if (strcmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, host, v4) == 1)
        return v4[0] == 127;
    return inet_pton(AF_INET6, host, v6) == 1 && memcmp(v6, one, sizeof(one)) == 0;
}

bool lks_pull_parse(const char *uri, struct lks_pull_place *out)
{
    static const struct {
        const char *scheme, *port;
        bool tls;
    } kinds[] = {{"http://", "80", false}, {"https://", "443", true}};
    for (size_t i = 0; i < LKS_COUNT(kinds); i++) {
        size_t skip = strlen(kinds[i].scheme);
        if (strncmp(uri, kinds[i].scheme, skip) != 0)
            continue;
        struct lks_str authority = {uri + skip, strcspn(uri + skip, "/?#")};
        out->path = authority.ptr + authority.len;
        out->tls = kinds[i].tls;
        return out->path[0] == '/' && split_host(authority, kinds[i].port, out) &&
               is_loopback(out->host);
    }
    return false;
}

/* ---- Fetching, in a thread of the pool. ---- */

static enum lks_code take(struct pull *p, struct lks_http_answer *answer, struct lks_err *err)
{
    if (answer->status != 200)
        return lks_fail(err, LKS_E_UNAVAILABLE, "status %d", answer->status);
    lks_buf_fini(&p->bytes);
    p->bytes = LKS_MOVE(answer->body);
    return LKS_OK;
}

static enum lks_code fetch(struct pull *p, const struct lks_pull_place *at, struct lks_err *err)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    char server[128];
    struct lks_client *client = NULL;
    bool six = strchr(at->host, ':') != NULL;
    if (at->tls && p->ca == NULL)
        return lks_fail(err, LKS_E_DENIED, "https needs --pull-ca");
    snprintf(server, sizeof(server), "%s://%s%s%s:%s", at->tls ? "https" : "http", six ? "[" : "",
             at->host, six ? "]" : "", at->port);
    const struct lks_client_options options = {.server = server,
                                               .plain = true,
                                               .ca = p->ca,
                                               .timeout_ms = LKS_PULL_MS,
                                               .body_max = p->bytes.max};
    if (lks_client_new(&options, &client, err) != LKS_OK)
        return err->code;
    enum lks_code code =
        lks_client_exchange(client, "GET", at->path, NULL, LKS_STR(""), "", &answer, err);
    lks_client_free(client);
    return code == LKS_OK ? take(p, &answer, err) : code;
}

static void on_work(uv_work_t *work)
{
    struct pull *p = work->data;
    struct lks_pull_place at = {0};
    enum lks_code code;
    if (!lks_pull_parse(p->uri, &at))
        code = lks_fail(&p->err, LKS_E_DENIED,
                        "images are fetched by http and https from loopback addresses alone");
    else
        code = fetch(p, &at, &p->err);
    if (code != LKS_OK)
        lks_buf_truncate(&p->bytes, 0);
}

static void on_worked(uv_work_t *work, int status)
{
    struct pull *p = work->data;
    bool good = status == 0 && p->err.code == LKS_OK;
    p->done(p->ctx, lks_buf_view(&p->bytes), good ? NULL : p->err.msg);
    lks_buf_fini(&p->bytes);
    free(p->ca);
    free(p);
}

/* A blank or a control character would make two requests of one. */
static bool is_text(struct lks_str uri)
{
    for (size_t i = 0; i < uri.len; i++) {
        if ((unsigned char)uri.ptr[i] <= ' ' || (unsigned char)uri.ptr[i] >= 0x7f)
            return false;
    }
    return uri.len > 0 && uri.len <= LKS_PULL_URI_MAX;
}

bool lks_pull_begin(uv_loop_t *loop, struct lks_str uri, const char *ca, size_t most,
                    lks_pull_done *done, void *ctx)
{
    struct pull *p = is_text(uri) ? calloc(1, sizeof(*p)) : NULL;
    if (p == NULL)
        return false;
    p->work.data = p;
    p->done = done;
    p->ctx = ctx;
    p->ca = ca != NULL ? strdup(ca) : NULL;
    memcpy(p->uri, uri.ptr, uri.len);
    lks_buf_init(&p->bytes, most);
    if (uv_queue_work(loop, &p->work, on_work, on_worked) == 0)
        return true;
    lks_buf_fini(&p->bytes);
    free(p->ca);
    free(p);
    return false;
}
