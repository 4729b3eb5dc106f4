/*
 * Heartbeats over mutual TLS: lockstepd on one core, agents that are enrolled on another, each with
 * a connection of its own. What is compared is the server's processor time for each answer, with
 * all its threads: it is what one core can do even where other programs disturb the clock on the
 * wall. Runs of both alternate.
 */
#include "bench/bench.h"
#include "bench/enroll.h"
#include "bench/load.h"
#include "bench/rival.h"

#include "base/file.h"
#include "core/pulse.h"

#include <stdio.h>
#include <time.h>

enum { AGENTS = 64, RUNS = 5, FIRST = 2000, REQUESTS = 50000, TEXT_MAX = 64 * 1024 };

struct agents {
    struct lks_pair pairs[AGENTS];
    struct lks_load_pair shown[AGENTS];
    struct lks_head head; /* that they all witnessed */
    uint64_t seq[AGENTS];
    char request[512];
};

static lks_ms wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (lks_ms)t.tv_sec * LKS_SECOND + (lks_ms)t.tv_nsec / 1000000;
}

/* The next heartbeat of an agent, as the agent would send it. */
static struct lks_str next(void *ctx, unsigned n)
{
    struct agents *a = ctx;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
    struct lks_beat beat = {.protocol = LKS_BEAT_PROTOCOL,
                            .boot = {1},
                            .seq = ++a->seq[n],
                            .sent = wall(),
                            .head_seq = a->head.seq};
    memcpy(beat.head_hash, a->head.hash, sizeof(beat.head_hash));
    lks_buf_init(&body, LKS_BEAT_BYTES_MAX);
    lks_beat_pack(&beat, &body);
    int len = snprintf(a->request, sizeof(a->request),
                       "POST /v1/agent/beat HTTP/1.1\r\nHost: localhost\r\nLockstep-Protocol: 1\r\n"
                       "Content-Type: application/octet-stream\r\nContent-Length: %zu\r\n\r\n",
                       body.len);
    memcpy(a->request + len, body.ptr, body.len);
    return (struct lks_str){a->request, (size_t)len + body.len};
}

static void witness(const struct ctl *c, struct lks_head *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    char text[LKS_HEAD_TEXT_MAX];
    struct lks_err err = {0};
    if (ctl_once(c, "GET", "/v1/journal/head", NULL, &answer) != 200)
        bench_die("/v1/journal/head", answer.ptr);
    ctl_text(&answer, "head", text, sizeof(text));
    if (text[0] != '\0' && lks_head_parse(lks_str_from(text), out, &err) != LKS_OK)
        bench_die("/v1/journal/head", err.msg);
}

/* Processor time for each good answer, in microseconds. */
static double measure(struct agents *a, pid_t pid, unsigned port)
{
    struct lks_load_plan plan = {.port = port,
                                 .pairs = a->shown,
                                 .connections = AGENTS,
                                 .requests = FIRST,
                                 .next = next,
                                 .ctx = a,
                                 .status = 200};
    struct lks_load_result result = {0};
    struct lks_err err = {0};
    if (lks_load_run(&plan, &result, &err) != LKS_OK) /* caches, and the pages of both */
        bench_die("heartbeats", err.msg);
    plan.requests = REQUESTS;
    double used = bench_cpu_us(pid);
    if (lks_load_run(&plan, &result, &err) != LKS_OK)
        bench_die("heartbeats", err.msg);
    if (result.bad > 0)
        bench_die("heartbeats", "not all were answered well");
    return (bench_cpu_us(pid) - used) / (double)result.good;
}

static struct bench_rival start_rival(const struct ctl *c)
{
    static struct lks_pair authority, server; /* ours is sealed; this one is of the same kind */
    static struct lks_buf trust;
    struct lks_err err = {0};
    lks_pki_authority(&authority);
    lks_pki_issue(&authority, (struct lks_pki_wish){.use = LKS_X509_SERVER, .name = "localhost"},
                  &server);
    lks_buf_init(&trust, TEXT_MAX);
    if (lks_file_read_plain(ctl_path(c, "data/ca.crt"), &trust, &err) != LKS_OK)
        bench_die("ca.crt", err.msg);
    return bench_rival_start(server.certificate.ptr, server.key.ptr, trust.ptr);
}

void bench_beats(struct lks_table *t)
{
    static struct agents a;
    struct ctl c;
    double ours[RUNS], theirs[RUNS];
    ctl_init(&c, "rate: {people_per_s: 100000, burst: 1000000}\n");
    bench_pin(0);
    if (!ctl_start(&c))
        bench_die("lockstepd", "it does not start");
    struct bench_rival rival = start_rival(&c);
    bench_pin(1);
    ctl_apply(&c, AGENTS);
    for (unsigned n = 0; n < AGENTS; n++) {
        bench_enroll(&c, n, &a.pairs[n]);
        a.shown[n] = (struct lks_load_pair){lks_buf_view(&a.pairs[n].certificate),
                                            lks_buf_view(&a.pairs[n].key)};
    }
    witness(&c, &a.head);
    for (size_t i = 0; i < RUNS; i++) {
        theirs[i] = measure(&a, rival.pid, rival.port);
        ours[i] = measure(&a, c.pid, c.agents);
    }
    bench_end(rival.pid);
    bench_row(t, &(struct bench_figure){"heartbeats answered in a second of processor time",
                                        "ratio 0.80", "libmicrohttpd alone, saying \"ok\"", "/s",
                                        1e6 / bench_median(ours, RUNS),
                                        1e6 / bench_median(theirs, RUNS)});
    ctl_fini(&c);
}
