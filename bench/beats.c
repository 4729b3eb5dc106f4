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

enum { RUNS = 5, FIRST = 2000, REQUESTS = 50000, TEXT_MAX = 64 * 1024 };

/* Processor time for each good answer, in microseconds. */
static double measure(struct bench_agents *a, pid_t pid, unsigned port)
{
    struct lks_load_plan plan = {.port = port,
                                 .pairs = a->shown,
                                 .connections = BENCH_AGENTS,
                                 .requests = FIRST,
                                 .next = bench_agents_next,
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
    static struct bench_agents a;
    struct ctl c;
    double ours[RUNS], theirs[RUNS];
    ctl_init(&c, "rate: {people_per_s: 100000, burst: 1000000}\n");
    bench_pin(0);
    if (!ctl_start(&c))
        bench_die("lockstepd", "it does not start");
    struct bench_rival rival = start_rival(&c);
    bench_pin(1);
    bench_agents_enroll(&c, &a);
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
