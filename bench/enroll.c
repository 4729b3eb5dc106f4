#include "bench/enroll.h"

#include "bench/measure.h"
#include "codec/format/json.h"

#include <stdio.h>
#include <time.h>

enum { BODY_MAX = 64 * 1024 };

void bench_token(const struct ctl *c, unsigned node, char *out, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    char path[64];
    snprintf(path, sizeof(path), "/v1/nodes/n%u/enroll", node);
    if (ctl_once(c, "POST", path, "{}", &answer) != 200)
        bench_die(path, answer.ptr);
    ctl_text(&answer, "token", out, size);
}

static void put_body(const char *token, struct lks_str request, struct lks_buf *out)
{
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "token", token);
    lks_json_text(&w, "request", request);
    lks_json_end(&w, '}');
}

void bench_enroll(const struct ctl *c, unsigned node, struct lks_pair *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf request = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    char token[256], certificate[BODY_MAX];
    struct lks_err err = {0};
    lks_buf_init(&request, BODY_MAX);
    lks_buf_init(&body, BODY_MAX);
    lks_buf_init(&out->key, BODY_MAX);
    lks_buf_init(&out->certificate, BODY_MAX);
    bench_token(c, node, token, sizeof(token));
    if (lks_x509_key(&out->key, &err) != LKS_OK ||
        lks_x509_request(lks_buf_view(&out->key), LKS_STR("n"), &request, &err) != LKS_OK)
        bench_die("a node's key", err.msg);
    put_body(token, lks_buf_view(&request), &body);
    if (ctl_once(c, "POST", "/v1/enroll", body.ptr, &answer) != 200)
        bench_die("/v1/enroll", answer.ptr);
    ctl_text(&answer, "certificate", certificate, sizeof(certificate));
    lks_buf_add(&out->certificate, lks_str_from(certificate));
}

void bench_witness(const struct ctl *c, struct lks_head *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    char text[LKS_HEAD_TEXT_MAX];
    struct lks_err err = {0};
    if (ctl_once(c, "GET", "/v1/journal/head", NULL, &answer) != 200)
        bench_die("/v1/journal/head", answer.ptr);
    ctl_text(&answer, "head", text, sizeof(text));
    if (text[0] != '\0' && lks_row_head_parse(lks_str_from(text), out, &err) != LKS_OK)
        bench_die("/v1/journal/head", err.msg);
}

struct lks_str bench_beat(const struct lks_beat *beat, char out[BENCH_BEAT_MAX])
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
    struct lks_beat sent = *beat;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    sent.protocol = LKS_BEAT_PROTOCOL;
    sent.sent = (lks_ms)t.tv_sec * LKS_SECOND + (lks_ms)t.tv_nsec / 1000000;
    lks_buf_init(&body, LKS_BEAT_BYTES_MAX);
    lks_heartbeat_pack(&sent, &body);
    int len = snprintf(out, BENCH_BEAT_MAX,
                       "POST /v1/agent/beat HTTP/1.1\r\nHost: localhost\r\nLockstep-Protocol: 1\r\n"
                       "Content-Type: application/octet-stream\r\nContent-Length: %zu\r\n\r\n",
                       body.len);
    memcpy(out + len, body.ptr, body.len);
    return (struct lks_str){out, (size_t)len + body.len};
}

void bench_agents_enroll(const struct ctl *c, struct bench_agents *out)
{
    ctl_apply(c, BENCH_AGENTS);
    for (unsigned n = 0; n < BENCH_AGENTS; n++) {
        bench_enroll(c, n, &out->pairs[n]);
        out->shown[n] = (struct lks_load_pair){lks_buf_view(&out->pairs[n].certificate),
                                               lks_buf_view(&out->pairs[n].key)};
    }
    bench_witness(c, &out->head);
}

struct lks_str bench_agents_next(void *ctx, unsigned n)
{
    struct bench_agents *a = ctx;
    struct lks_beat beat = {.boot = {1}, .seq = ++a->seq[n], .head_seq = a->head.seq};
    memcpy(beat.head_hash, a->head.hash, sizeof(beat.head_hash));
    return bench_beat(&beat, a->request);
}
