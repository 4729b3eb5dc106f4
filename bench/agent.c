/*
 * The agent at rest, and the processor time of its duty in an hour: a heartbeat every ten seconds
 * and a reading of the machine every five minutes. The rival is prometheus-node-exporter, asked
 * every fifteen seconds. Both do in seconds what they would do in an hour or so.
 */
#include "bench/bench.h"
#include "bench/enroll.h"

#include "base/file.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BEATS_AN_HOUR = 360, READINGS_AN_HOUR = 12, SCRAPES_AN_HOUR = 240 };
enum { REST_SAMPLES = 15, BEATS = 50, READINGS = 5, SCRAPES = 60, PATIENCE_MS = 120000 };
enum { TICK_MS = 20, PAUSE_MS = 70, TEXT_MAX = 64 * 1024 };

#define EXPORTER "prometheus-node-exporter"
/* Long enough between two that the agent rests as it would for ten seconds. */
#define SETTINGS "limits: {heartbeat_ms: 400}\n"

/* Of /proc/PID/stat, counted from 1 as proc(5) does. */
enum { STAT_CHILD_FAULTS = 11, STAT_CHILD_USER = 16, STAT_CHILD_SYSTEM = 17 };

static uint64_t stat_field(pid_t pid, unsigned wanted)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_err err = {0};
    char path[64];
    uint64_t number = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    lks_buf_init(&text, TEXT_MAX);
    if (lks_file_read_plain(path, &text, &err) != LKS_OK)
        bench_die("the agent", err.msg);
    struct lks_str rest = lks_buf_view(&text), word = {0};
    for (unsigned field = 1; field <= wanted; field++)
        lks_str_cut(rest, ' ', &word, &rest); /* no blank is in its name */
    if (!lks_str_number(word, UINT64_MAX, &number))
        bench_die(path, "it says something else than expected");
    return number;
}

/* Of the agent's children that have ended, in microseconds. */
static double children_us(pid_t pid)
{
    uint64_t ticks = stat_field(pid, STAT_CHILD_USER) + stat_field(pid, STAT_CHILD_SYSTEM);
    return (double)ticks * 1e6 / (double)sysconf(_SC_CLK_TCK);
}

/* ---- Ours. ---- */

/* Heartbeats that lockstepd has heard. */
static uint64_t beats_heard(const struct ctl *c)
{
    static const char key[] = "\nlockstep_heartbeats_total ";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    uint64_t number = 0;
    if (ctl_once(c, "GET", "/metrics", NULL, &answer) != 200)
        bench_die("/metrics", answer.ptr);
    struct lks_str text = lks_buf_view(&answer), line, rest;
    ptrdiff_t at = lks_str_find(text, lks_str_from(key));
    if (at < 0)
        bench_die("/metrics", "no count of heartbeats");
    lks_str_cut(lks_str_from(text.ptr + at + strlen(key)), '\n', &line, &rest);
    if (!lks_str_number(line, UINT64_MAX, &number))
        bench_die("/metrics", "no count of heartbeats");
    return number;
}

static pid_t start_agent(const struct ctl *c)
{
    char token[256], controller[64];
    bench_token(c, 0, token, sizeof(token));
    lks_tree_file(&c->tree, "/token", token);
    snprintf(controller, sizeof(controller), "https://localhost:%u", c->people);
    const char *const argv[] = {LKS_AGENT_PROGRAM,
                                "--state",
                                ctl_path(c, "agent"),
                                "--controller",
                                controller,
                                "--ca",
                                ctl_path(c, "data/ca.crt"),
                                "--token-file",
                                ctl_path(c, "token"),
                                "--inventory-seconds",
                                "604800",
                                NULL};
    return bench_spawn(argv, -1);
}

/* Until a child that reads the machine has ended. */
static void await_reading(pid_t agent, uint64_t faults)
{
    for (unsigned waited = 0; stat_field(agent, STAT_CHILD_FAULTS) == faults; waited += TICK_MS) {
        if (waited > PATIENCE_MS)
            bench_die("the agent", "it does not read the machine");
        bench_rest(TICK_MS);
    }
}

static double at_rest_kib(pid_t agent)
{
    double kib[REST_SAMPLES];
    for (size_t i = 0; i < REST_SAMPLES; i++) {
        bench_rest(PAUSE_MS);
        kib[i] = bench_private_kib(agent);
    }
    return bench_median(kib, REST_SAMPLES);
}

static double beat_us(const struct ctl *c, pid_t agent)
{
    uint64_t first = beats_heard(c), heard = first;
    double used = bench_cpu_us(agent);
    for (unsigned waited = 0; heard < first + BEATS; waited += PAUSE_MS) {
        if (waited > PATIENCE_MS)
            bench_die("the agent", "its heartbeats do not arrive");
        bench_rest(PAUSE_MS);
        heard = beats_heard(c);
    }
    return (bench_cpu_us(agent) - used) / (double)(heard - first);
}

/* One reading more, without the heartbeats in between. */
static double reading_us(const struct ctl *c, pid_t agent, double beat)
{
    uint64_t first = beats_heard(c);
    double used = bench_cpu_us(agent) + children_us(agent);
    for (unsigned i = 0; i < READINGS; i++) {
        uint64_t faults = stat_field(agent, STAT_CHILD_FAULTS);
        if (kill(agent, SIGHUP) != 0)
            bench_die("the agent", "it has ended");
        await_reading(agent, faults);
    }
    bench_rest(PAUSE_MS);
    used = bench_cpu_us(agent) + children_us(agent) - used;
    return (used - beat * (double)(beats_heard(c) - first)) / READINGS;
}

/* ---- The rival. ---- */

static int dial(unsigned port)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&in, sizeof(in)) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* A port nobody has at the moment. */
static unsigned free_port(void)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    socklen_t size = sizeof(in);
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&in, sizeof(in)) != 0 ||
        getsockname(fd, (struct sockaddr *)&in, &size) != 0)
        bench_die(EXPORTER, "no port for it");
    close(fd);
    return ntohs(in.sin_port);
}

/* As Prometheus asks: compressed. */
static void scrape(unsigned port)
{
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
                                  "Accept-Encoding: gzip\r\nConnection: close\r\n\r\n";
    char chunk[TEXT_MAX];
    int fd = dial(port);
    if (fd < 0 || send(fd, request, strlen(request), MSG_NOSIGNAL) != (ssize_t)strlen(request))
        bench_die(EXPORTER, "it does not listen");
    ssize_t got = 0, all = 0;
    while ((got = recv(fd, chunk, sizeof(chunk), 0)) > 0)
        all += got;
    close(fd);
    if (got < 0 || all < 1000)
        bench_die(EXPORTER, "it does not answer");
}

static pid_t start_exporter(unsigned port)
{
    char listen[64];
    snprintf(listen, sizeof(listen), "--web.listen-address=127.0.0.1:%u", port);
    pid_t pid = bench_spawn((const char *const[]){EXPORTER, listen, NULL}, -1);
    int fd = -1;
    for (unsigned waited = 0; fd < 0 && waited < PATIENCE_MS; waited += TICK_MS) {
        bench_rest(TICK_MS);
        fd = dial(port);
    }
    if (fd < 0)
        bench_die(EXPORTER, "it does not start");
    close(fd);
    return pid;
}

/* Both zero where it is not installed. */
static void measure_exporter(double *kib, double *hour_ms)
{
    if (!bench_has_program(EXPORTER))
        return;
    unsigned port = free_port();
    pid_t pid = start_exporter(port);
    for (unsigned i = 0; i < SCRAPES / 4; i++)
        scrape(port);
    double used = bench_cpu_us(pid);
    for (unsigned i = 0; i < SCRAPES; i++) {
        scrape(port);
        bench_rest(TICK_MS);
    }
    *hour_ms = (bench_cpu_us(pid) - used) / SCRAPES * SCRAPES_AN_HOUR / 1e3;
    *kib = bench_private_kib(pid);
    bench_end(pid);
}

/* ---- Both. ---- */

void bench_agent(struct lks_table *t)
{
    struct ctl c;
    double their_kib = 0, their_ms = 0;
    ctl_init(&c, SETTINGS);
    if (!ctl_start(&c))
        bench_die("lockstepd", "it does not start");
    ctl_apply(&c, 1);
    pid_t agent = start_agent(&c);
    await_reading(agent, 0);
    bench_rest(10 * PAUSE_MS); /* it tells what it found */
    double kib = at_rest_kib(agent);
    double beat = beat_us(&c, agent);
    double reading = reading_us(&c, agent, beat);
    bench_end(agent);
    ctl_fini(&c);
    measure_exporter(&their_kib, &their_ms);
    const struct bench_figure figures[] = {
        {"private memory of the agent at rest", "4 MiB", EXPORTER, "MiB", kib / 1024,
         their_kib / 1024},
        {"processor time of its duty in an hour", "ratio 0.50", EXPORTER, "ms",
         (beat * BEATS_AN_HOUR + reading * READINGS_AN_HOUR) / 1e3, their_ms},
        {"of that, a heartbeat", "-", "-", "ms", beat / 1e3, 0},
        {"of that, a reading of the machine", "-", "-", "ms", reading / 1e3, 0},
    };
    for (size_t i = 0; i < LKS_COUNT(figures); i++)
        bench_row(t, &figures[i]);
}
