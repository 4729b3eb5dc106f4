/*
 * Heartbeats over mutual TLS, the server on one core and the clients on another:
 *
 *     bench_http [CONNECTIONS [REQUESTS]]
 *
 * The rival is the HTTP library itself, in its own loop, answering "ok" without looking. Runs
 * alternate, and the median by the server's time for each answer is shown: it is what one core can
 * do even where other programs disturb the clock on the wall.
 */
#include "bench/load.h"
#include "bench/measure.h"
#include "bench/rival.h"
#include "drivers/http/httpd.h"
#include "tests/pki.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 5, BODY_MAX = 4096, FIRST = 1000, CONNECTIONS = 30000 };

#define ANSWER "{\"mail\":false}"
#define REQUEST                                                                                    \
    "POST /v1/agent/beat HTTP/1.1\r\nHost: localhost:7444\r\nLockstep-Protocol: 1\r\n"             \
    "Content-Type: application/octet-stream\r\nContent-Length: 64\r\n\r\n"                         \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct lks_pair authority, server, node;

static void serve_bare(int tell)
{
    bench_rival_serve(tell, server.certificate.ptr, server.key.ptr, authority.certificate.ptr);
}

/* ---- Ours. ---- */

static void say_constant(void *ctx, struct lks_httpd_exchange *x,
                         const struct lks_httpd_request *request)
{
    (void)request;
    lks_httpd_reply_constant(x, ctx);
}

static void serve_ours(int tell)
{
    uv_loop_t loop;
    struct lks_httpd *h = NULL;
    struct lks_err err = {0};
    struct lks_httpd_constant *constant = lks_httpd_constant_new(&(struct lks_httpd_reply){
        .status = 200, .type = "application/json", .body = LKS_STR(ANSWER)});
    struct lks_httpd_options o = {.address = "127.0.0.1:0",
                                  .certificate = lks_buf_view(&server.certificate),
                                  .key = lks_buf_view(&server.key),
                                  .client_ca = lks_buf_view(&authority.certificate),
                                  .clients = LKS_HTTPD_CLIENTS_REQUIRED,
                                  .connections = CONNECTIONS,
                                  .body_max = BODY_MAX,
                                  .first_ms = 10 * LKS_SECOND,
                                  .request_ms = 10 * LKS_SECOND,
                                  .idle_ms = 60 * LKS_SECOND};
    uv_loop_init(&loop);
    if (lks_httpd_new(&loop, &o, say_constant, NULL, constant, &h, &err) != LKS_OK)
        bench_die("http", err.msg);
    unsigned port = lks_httpd_port(h);
    if (write(tell, &port, sizeof(port)) != sizeof(port))
        bench_die("http", "nobody asks for the port");
    uv_run(&loop, UV_RUN_DEFAULT);
}

/* ---- Both. ---- */

struct outcome {
    struct lks_load_result load;
    double cpu_us; /* of the server for each answer, handshakes included */
};

static struct outcome measure(void (*serve)(int tell), struct lks_load_plan plan)
{
    struct lks_load_result result = {0};
    double used = 0;
    struct lks_err err = {0};
    int ends[2];
    if (pipe(ends) != 0)
        bench_die("http", "no pipe");
    pid_t pid = fork();
    if (pid < 0)
        bench_die("http", "no process");
    if (pid == 0) {
        bench_pin(0);
        serve(ends[1]);
        exit(0);
    }
    bench_pin(1);
    if (read(ends[0], &plan.port, sizeof(plan.port)) != sizeof(plan.port))
        bench_die("http", "the server did not start");
    struct lks_load_plan first = plan;
    first.requests = FIRST; /* caches, and the pages of both */
    if (lks_load_run(&first, &result, &err) != LKS_OK)
        bench_die("http", err.msg);
    used = bench_cpu_us(pid);
    if (lks_load_run(&plan, &result, &err) != LKS_OK)
        bench_die("http", err.msg);
    used = bench_cpu_us(pid) - used;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    return (struct outcome){result, used / (double)result.good};
}

static int by_cost(const void *left, const void *right)
{
    const struct outcome *a = left, *b = right;
    return (a->cpu_us > b->cpu_us) - (a->cpu_us < b->cpu_us);
}

static void show(const char *name, const struct outcome *o)
{
    const struct lks_load_result *r = &o->load;
    printf("%-10s %6.2f us  %9.0f/s  p50 %6.2f ms  p99 %6.2f ms  handshakes %5.0f/s  bad %llu\n",
           name, o->cpu_us, r->per_second, r->p50_ms, r->p99_ms, r->handshakes_per_second,
           (unsigned long long)r->bad);
}

static unsigned number(const char *text, uint64_t max)
{
    uint64_t value = 0;
    if (!lks_str_number(lks_str_from(text), max, &value) || value == 0)
        bench_die("http", "usage: bench_http [CONNECTIONS [REQUESTS]]");
    return (unsigned)value;
}

int main(int argc, char **argv)
{
    struct outcome bare[RUNS], ours[RUNS];
    signal(SIGPIPE, SIG_IGN);
    lks_pki_authority(&authority);
    lks_pki_issue(&authority, (struct lks_pki_wish){.use = LKS_X509_SERVER, .name = "localhost"},
                  &server);
    lks_pki_issue(&authority, (struct lks_pki_wish){.use = LKS_X509_NODE, .name = "n1"}, &node);
    struct lks_load_plan plan = {.certificate = lks_buf_view(&node.certificate),
                                 .key = lks_buf_view(&node.key),
                                 .connections = 64,
                                 .requests = 200000,
                                 .request = LKS_STR(REQUEST),
                                 .status = 200};
    if (argc > 1)
        plan.connections = number(argv[1], LKS_LOAD_CONNECTIONS_MAX);
    if (argc > 2)
        plan.requests = number(argv[2], LKS_LOAD_REQUESTS_MAX);
    for (int i = 0; i < RUNS; i++) {
        bare[i] = measure(serve_bare, plan);
        ours[i] = measure(serve_ours, plan);
    }
    qsort(bare, RUNS, sizeof(bare[0]), by_cost);
    qsort(ours, RUNS, sizeof(ours[0]), by_cost);
    show("library", &bare[RUNS / 2]);
    show("lockstep", &ours[RUNS / 2]);
    printf("ratio      %6.2f\n", bare[RUNS / 2].cpu_us / ours[RUNS / 2].cpu_us);
    return 0;
}
