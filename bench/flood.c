/*
 * Heartbeats while strangers send large bodies: 64 agents at a steady rate over mutual TLS, first
 * alone, then beside requests of 4 MiB without a token, each on a connection of its own. Whatever
 * the strangers send, agents must not notice, and memory must not grow with it.
 */
#include "bench/bench.h"
#include "bench/enroll.h"
#include "bench/load.h"

#include "base/file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BEATS = 10000,
    BEATS_PER_S = 1000,
    FIRST = 2000,
    STRANGERS = 12,
    FLOOD_PER_S = 50,
    BODY = 4 << 20,
    SETTLE_MS = 1000,
    STRANGER_NICE = 10,
    TEXT_MAX = 64 * 1024,
};

/* Agents ------------------------------------------------------------------------------------- */

static struct lks_load_result measure(struct bench_agents *a, unsigned port, unsigned requests)
{
    const struct lks_load_plan plan = {.port = port,
                                       .pairs = a->shown,
                                       .connections = BENCH_AGENTS,
                                       .requests = requests,
                                       .per_second = BEATS_PER_S,
                                       .next = bench_agents_next,
                                       .ctx = a,
                                       .status = 200};
    struct lks_load_result result = {0};
    struct lks_err err = {0};
    if (lks_load_run(&plan, &result, &err) != LKS_OK)
        bench_die("heartbeats", err.msg);
    if (result.bad > 0)
        bench_die("heartbeats", "not all were answered well");
    return result;
}

/* Strangers ---------------------------------------------------------------------------------- */

struct flood {
    unsigned port;
    SSL_CTX *tls;
    char *request; /* head and body */
    size_t size;
    double began;
    atomic_uint turn, refused;
};

/* Whether the answer to one request is that nobody knows us. The server may close while we send. */
static bool send_one(const struct flood *f)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)f->port)};
    char answer[64] = "";
    size_t sent = 0, got = 0;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    SSL *ssl = SSL_new(f->tls);
    bool open = fd >= 0 && ssl != NULL &&
                connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0 &&
                SSL_set_fd(ssl, fd) == 1 && SSL_connect(ssl) == 1;
    for (size_t at = 0; open && at < f->size; at += sent) {
        size_t left = f->size - at;
        if (SSL_write_ex(ssl, f->request + at, left < TEXT_MAX ? left : TEXT_MAX, &sent) != 1)
            break;
    }
    if (open)
        (void)!SSL_read_ex(ssl, answer, sizeof(answer) - 1, &got);
    SSL_free(ssl);
    if (fd >= 0)
        close(fd);
    return strncmp(answer, "HTTP/1.1 401", 12) == 0;
}

static void *send_all(void *ctx)
{
    struct flood *f = ctx;
    for (;;) {
        double due = f->began + 1e3 * atomic_fetch_add(&f->turn, 1) / FLOOD_PER_S;
        double wait = due - bench_now_ms();
        if (wait > 0)
            bench_rest((unsigned)wait);
        atomic_fetch_add(&f->refused, send_one(f));
    }
    return NULL;
}

/* In a process of its own; what it is told to end by asks for how many were refused. */
static _Noreturn void be_strangers(unsigned port, int until, int tell)
{
    static struct flood f;
    pthread_t thread;
    char byte;
    errno = 0; /* nice() may say -1 and mean it */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bench_pin(2); /* where there is one: what they encrypt is not what is measured */
    if (nice(STRANGER_NICE) < 0 && errno != 0)
        bench_die("strangers", strerror(errno));
    f.port = port;
    f.tls = SSL_CTX_new(TLS_client_method());
    f.request = malloc(BODY + TEXT_MAX);
    if (f.tls == NULL || f.request == NULL)
        bench_die("strangers", "out of memory");
    int head = snprintf(f.request, TEXT_MAX,
                        "POST /v1/bundles HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", BODY);
    memset(f.request + head, '[', BODY);
    f.size = (size_t)head + BODY;
    f.began = bench_now_ms();
    for (int i = 0; i < STRANGERS; i++) {
        if (pthread_create(&thread, NULL, send_all, &f) != 0)
            bench_die("strangers", "no thread");
    }
    double rate = 0;
    if (read(until, &byte, 1) >= 0)
        rate = atomic_load(&f.refused) / (bench_now_ms() - f.began) * 1e3;
    _exit(write(tell, &rate, sizeof(rate)) == sizeof(rate) ? 0 : 1);
}

/* Heartbeats beside them; `rate` is how many requests a second they had refused. */
static struct lks_load_result measure_flooded(struct bench_agents *a, const struct ctl *c,
                                              double *rate)
{
    int until[2], tell[2];
    fflush(stdout);
    if (pipe(until) != 0 || pipe(tell) != 0)
        bench_die("strangers", "no pipe");
    pid_t pid = fork();
    if (pid < 0)
        bench_die("strangers", "no process");
    if (pid == 0) {
        close(until[1]);
        be_strangers(c->people, until[0], tell[1]);
    }
    close(until[0]);
    close(tell[1]);
    bench_rest(SETTLE_MS);
    struct lks_load_result result = measure(a, c->agents, BEATS);
    close(until[1]);
    if (read(tell[0], rate, sizeof(*rate)) != sizeof(*rate))
        bench_die("strangers", "they broke off");
    close(tell[0]);
    (void)waitpid(pid, NULL, 0);
    return result;
}

/* What came of it ---------------------------------------------------------------------------- */

/* The most that the daemon had of memory, in MiB. */
static double peak_mib(pid_t pid)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_err err = {0};
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    lks_buf_init(&text, TEXT_MAX);
    if (lks_file_read_plain(path, &text, &err) != LKS_OK)
        bench_die(path, err.msg);
    const char *line = strstr(text.ptr, "VmHWM:");
    return line != NULL ? strtod(line + strlen("VmHWM:"), NULL) / 1024 : 0;
}

static double bodies_mib(const struct ctl *c)
{
    static const char name[] = "\nlockstep_http_body_peak_bytes{from=\"people\"} ";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    if (ctl_once(c, "GET", "/metrics", NULL, &answer) != 200)
        bench_die("/metrics", "no answer");
    const char *line = strstr(answer.ptr, name);
    return line != NULL ? strtod(line + strlen(name), NULL) / (1 << 20) : -1;
}

void bench_flood(struct lks_table *t)
{
    static struct bench_agents a;
    struct ctl c;
    double rate = 0;
    ctl_init(&c, "rate: {people_per_s: 100000, burst: 1000000}\n");
    bench_pin(0);
    if (!ctl_start(&c))
        bench_die("lockstepd", "it does not start");
    bench_pin(1);
    bench_agents_enroll(&c, &a);
    (void)measure(&a, c.agents, FIRST);
    struct lks_load_result quiet = measure(&a, c.agents, BEATS);
    double before = peak_mib(c.pid);
    struct lks_load_result flooded = measure_flooded(&a, &c, &rate);
    bench_row(t, &(struct bench_figure){"a heartbeat beside strangers", "-", "the same, quiet",
                                        "ms", flooded.p50_ms, quiet.p50_ms});
    bench_row(t, &(struct bench_figure){"a heartbeat beside strangers: p99", "max(ratio 2, 5 ms)",
                                        "the same, quiet", "ms", flooded.p99_ms, quiet.p99_ms});
    bench_row(t, &(struct bench_figure){"the strangers: 4 MiB without a token, refused", "50 /s",
                                        "-", "/s", rate, 0});
    bench_row(t, &(struct bench_figure){"memory of bodies, at most", "256 MiB", "-", "MiB",
                                        bodies_mib(&c), 0});
    bench_row(t, &(struct bench_figure){"lockstepd's memory, at most", "-", "before", "MiB",
                                        peak_mib(c.pid), before});
    ctl_fini(&c);
}
