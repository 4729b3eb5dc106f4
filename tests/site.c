#include "tests/site.h"

#include "tests/test.h"
#include "tests/wait.h"

#include <stdio.h>
#include <stdlib.h>

enum { LONG_BODY = 3 * 1024 * 1024 };

static void reply_text(struct lks_httpd_exchange *x, int status, struct lks_str text)
{
    lks_httpd_reply(x, &(struct lks_httpd_reply){.status = status,
                                                 .type = "text/plain",
                                                 .body = text,
                                                 .headers = "X-Site: test\r\nX-More: 2\r\n"});
}

static void drop_memory(void *memory)
{
    unsigned *dropped = memory;
    ++*dropped;
}

static void on_ended(void *ctx, struct lks_httpd_stream *stream)
{
    struct lks_site *s = ctx;
    s->ended++;
    for (size_t i = 0; i < s->stream_count; i++)
        if (s->streams[i] == stream)
            s->streams[i] = NULL;
}

static void do_ok(struct lks_site *s, struct lks_httpd_exchange *x,
                  const struct lks_httpd_request *r)
{
    (void)r;
    lks_httpd_reply_constant(x, s->constant);
}

static void do_echo(struct lks_site *s, struct lks_httpd_exchange *x,
                    const struct lks_httpd_request *r)
{
    char text[512];
    const char *header = lks_httpd_header(x, "x-ask"), *query = lks_httpd_query(x, "q");
    (void)s;
    int size = snprintf(text, sizeof(text), "%s %s|%s|%s|%zu", r->method, r->path,
                        header != NULL ? header : "-", query != NULL ? query : "-", r->body.len);
    reply_text(x, 200, (struct lks_str){text, (size_t)size});
}

static void do_hold(struct lks_site *s, struct lks_httpd_exchange *x,
                    const struct lks_httpd_request *r)
{
    (void)r;
    lks_httpd_remember(x, s);
    s->held = x;
}

static void do_long(struct lks_site *s, struct lks_httpd_exchange *x,
                    const struct lks_httpd_request *r)
{
    char *text = malloc(LONG_BODY);
    (void)s, (void)r;
    memset(text, 'x', LONG_BODY);
    text[LONG_BODY - 1] = '!';
    reply_text(x, 200, (struct lks_str){text, LONG_BODY});
    free(text);
}

static struct lks_httpd_constant *make_long(void)
{
    char *text = malloc(LONG_BODY);
    memset(text, 'x', LONG_BODY);
    text[LONG_BODY - 1] = '!';
    struct lks_httpd_constant *c = lks_httpd_constant_new(&(struct lks_httpd_reply){
        .status = 200, .type = "text/plain", .body = {text, LONG_BODY}, .headers = "X-C: 1\r\n"});
    free(text);
    return c;
}

/* The constant is replaced while its answer is under way, as one is whose content changes. */
static void do_long_constant(struct lks_site *s, struct lks_httpd_exchange *x,
                             const struct lks_httpd_request *r)
{
    (void)r;
    lks_httpd_reply_constant(x, s->long_constant);
    lks_httpd_constant_free(s->long_constant);
    s->long_constant = make_long();
}

/* Answers the request that is held from inside this one. */
static void do_free(struct lks_site *s, struct lks_httpd_exchange *x,
                    const struct lks_httpd_request *r)
{
    struct lks_httpd_exchange *held = s->held;
    (void)r;
    s->held = NULL;
    reply_text(held, 200, LKS_STR("freed"));
    lks_httpd_reply_constant(x, s->constant);
}

static void do_again(struct lks_site *s, struct lks_httpd_exchange *x,
                     const struct lks_httpd_request *r)
{
    static const char again[] = "GET /again HTTP/1.1\r\nHost: x\r\n\r\n";
    char chunk[4096];
    (void)r;
    while (SSL_read(s->feed->ssl, chunk, sizeof(chunk)) > 0)
        ;
    if (s->handled < s->feed_max)
        CHECK(SSL_write(s->feed->ssl, again, sizeof(again) - 1) > 0);
    lks_httpd_reply(x, &(struct lks_httpd_reply){.status = 204});
}

static void do_stream(struct lks_site *s, struct lks_httpd_exchange *x,
                      const struct lks_httpd_request *r)
{
    (void)r;
    LKS_ASSERT(s->stream_count < LKS_SITE_STREAMS);
    s->streams[s->stream_count++] =
        lks_httpd_stream_new(x, "text/event-stream", LKS_SITE_BACKLOG, on_ended, s);
}

static void do_who(struct lks_site *s, struct lks_httpd_exchange *x,
                   const struct lks_httpd_request *r)
{
    struct lks_httpd_peer *peer = r->peer;
    struct lks_x509_about about = {0};
    struct lks_err err = {0};
    char text[512];
    bool again = peer->memory != NULL;
    peer->memory = &s->dropped;
    peer->drop = drop_memory;
    if (peer->kind == LKS_PEER_CERTIFICATE)
        CHECK_CODE(lks_x509_read(peer->certificate, &about, &err), LKS_OK);
    int size = snprintf(text, sizeof(text), "kind=%d name=%s uid=%d from=%s again=%d",
                        (int)peer->kind, about.name,
                        peer->kind == LKS_PEER_UNIX ? (int)peer->uid : -1, peer->address, again);
    reply_text(x, 200, (struct lks_str){text, (size_t)size});
}

static void do_none(struct lks_site *s, struct lks_httpd_exchange *x,
                    const struct lks_httpd_request *r)
{
    (void)s, (void)r;
    lks_httpd_reply(x, &(struct lks_httpd_reply){.status = 204});
}

static const struct {
    const char *path;
    void (*run)(struct lks_site *s, struct lks_httpd_exchange *x,
                const struct lks_httpd_request *r);
} routes[] = {
    {"/ok", do_ok},
    {"/hold", do_hold},
    {"/long", do_long},
    {"/stream", do_stream},
    {"/who", do_who},
    {"/none", do_none},
    {"/long-constant", do_long_constant},
    {"/free", do_free},
    {"/again", do_again},
};

static void handle(void *ctx, struct lks_httpd_exchange *x, const struct lks_httpd_request *r)
{
    struct lks_site *s = ctx;
    s->handled++;
    for (size_t i = 0; i < LKS_COUNT(routes); i++) {
        if (strcmp(r->path, routes[i].path) == 0) {
            routes[i].run(s, x, r);
            return;
        }
    }
    do_echo(s, x, r);
}

static void on_gone(void *ctx, struct lks_httpd_exchange *x)
{
    struct lks_site *s = ctx;
    s->gone++;
    s->left = x;
    CHECK(lks_httpd_memory(x) == s);
    if (s->held == x)
        s->held = NULL;
}

void lks_site_init(struct lks_site *s, bool tls)
{
    *s = (struct lks_site){0};
    CHECK_INT(uv_loop_init(&s->loop), 0);
    s->tree = lks_tree_new();
    snprintf(s->socket, sizeof(s->socket), "unix:%s/sock", s->tree.path);
    s->options = (struct lks_httpd_options){.address = tls ? "127.0.0.1:0" : s->socket,
                                            .connections = 100,
                                            .body_max = LKS_SITE_BODY_MAX,
                                            .first_ms = LKS_WAIT_MS,
                                            .request_ms = LKS_WAIT_MS,
                                            .idle_ms = LKS_WAIT_MS,
                                            .socket_mode = 0660};
    s->constant = lks_httpd_constant_new(&(struct lks_httpd_reply){
        .status = 200, .type = "text/plain", .body = LKS_STR("ok\n"), .headers = NULL});
    s->long_constant = make_long();
    if (!tls)
        return;
    lks_pki_authority(&s->authority);
    lks_pki_issue(&s->authority, (struct lks_pki_wish){.use = LKS_X509_SERVER, .name = "localhost"},
                  &s->server);
    s->options.certificate = lks_buf_view(&s->server.certificate);
    s->options.key = lks_buf_view(&s->server.key);
    s->options.client_ca = lks_buf_view(&s->authority.certificate);
    s->options.clients = LKS_HTTPD_CLIENTS_OPTIONAL;
}

void lks_site_start(struct lks_site *s)
{
    struct lks_err err = {0};
    enum lks_code code = lks_httpd_new(&s->loop, &s->options, handle, on_gone, s, &s->httpd, &err);
    if (!CHECK_CODE(code, LKS_OK))
        CHECK_STR(lks_str_from(err.msg), "");
    LKS_ASSERT(code == LKS_OK); /* nothing below makes sense without it */
}

void lks_site_stop(struct lks_site *s)
{
    lks_httpd_free(s->httpd);
    s->httpd = NULL;
    uv_run(&s->loop, UV_RUN_DEFAULT);
}

void lks_site_fini(struct lks_site *s)
{
    lks_site_stop(s);
    CHECK_INT(uv_loop_close(&s->loop), 0);
    lks_httpd_constant_free(s->constant);
    lks_httpd_constant_free(s->long_constant);
    lks_pair_fini(&s->authority);
    lks_pair_fini(&s->server);
    lks_tree_free(&s->tree);
}

void lks_site_dial(struct lks_site *s, struct lks_wire *w)
{
    if (s->options.certificate.len == 0) {
        lks_wire_unix(w, &s->loop, s->socket + strlen("unix:"));
        return;
    }
    struct lks_pair own;
    lks_pki_issue(&s->authority, (struct lks_pki_wish){.use = LKS_X509_NODE, .name = "n1"}, &own);
    lks_wire_tcp(w, &s->loop, lks_httpd_port(s->httpd));
    CHECK(lks_wire_tls(w, &own, TLS1_3_VERSION, NULL));
    lks_pair_fini(&own);
}

bool lks_site_wait(struct lks_site *s, const unsigned *number, unsigned wanted)
{
    for (struct lks_wait w = {0}; *number != wanted && lks_wait_on(&w);)
        lks_wire_round(&s->loop);
    return *number == wanted;
}

bool lks_site_empty(struct lks_site *s)
{
    for (struct lks_wait w = {0}; lks_httpd_counts(s->httpd).connections > 0 && lks_wait_on(&w);)
        lks_wire_round(&s->loop);
    return lks_httpd_counts(s->httpd).connections == 0;
}
