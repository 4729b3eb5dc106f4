/*
 * May a job start on 4,096 nodes of 100,000: asked by name over the daemon's socket, as a range of
 * a host list and as names from anywhere, alone and while heartbeats and handshakes arrive. The
 * rivals are asked about the same nodes in the same rounds: SQLite within this process, without a
 * socket, and PostgreSQL over one. One question at a time, a little apart, so that all find the
 * caches as the others leave them.
 */
#include "bench/bench.h"
#include "bench/site.h"
#include "bench/sql.h"

#include "base/arena.h"
#include "base/rng.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ASKED = 4096, JOBS = 64, ROUNDS = 1000, FIRST = 50, REST_MS = 2, SETTLE_MS = 2000 };
enum { RIVALS_EVERY = 5 }; /* rounds: they take longer, and their caches stay warm all the same */
enum { KEPT = 1000, FRESH = 1000, BEATS_PER_S = 10000, HANDSHAKES_PER_S = 200, LOAD_NICE = 10 };
enum { ANSWER_MAX = 64 * 1024, LINE_MAX_BYTES = 1 << 20, NAMES_MEMORY = 64 << 20 };

/* How nodes are named, and who is asked. */
enum spelled { RANGE, NAMES, SPELLED_COUNT };
enum who { OURS, SQLITE, POSTGRES, WHO_COUNT };

struct asking {
    struct bench_site site;
    int fd;
    struct lks_arena arena; /* names */
    struct bench_jobs jobs; /* JOBS of ranges, and as many of names from anywhere */
    struct lks_buf lines[SPELLED_COUNT * JOBS]; /* the same as we are asked */
    struct bench_sql *sql[WHO_COUNT];
    double took[WHO_COUNT][SPELLED_COUNT][ROUNDS]; /* ms */
    size_t count[WHO_COUNT];
};

struct seen {
    double p50, p99, max; /* ms */
};
struct seen_all {
    struct seen of[WHO_COUNT][SPELLED_COUNT];
};

/* Jobs --------------------------------------------------------------------------------------- */

static void name(struct asking *a, uint32_t job, uint32_t rank, uint32_t node)
{
    char text[BENCH_SITE_NAME_SIZE];
    struct lks_str made = lks_arena_copy(&a->arena, lks_str_from(bench_site_name(node, text)));
    if (made.ptr == NULL)
        bench_die("jobs", "no memory");
    a->jobs.names[job * ASKED + rank] = made;
}

static void make_range(struct asking *a, uint32_t job)
{
    uint32_t from = job * (BENCH_SITE_NODES - ASKED) / JOBS;
    for (uint32_t i = 0; i < ASKED; i++)
        name(a, job, i, from + i);
    lks_buf_addf(&a->lines[job], "{\"job\":\"j%u\",\"nodes\":\"gpu[%06u-%06u]\"}\n", job, from + 1,
                 from + ASKED);
}

/* The first of all that were shuffled a bit further. */
static void make_names(struct asking *a, uint32_t job, struct lks_rng *rng, uint32_t *all)
{
    lks_buf_addf(&a->lines[job], "{\"job\":\"j%u\",\"nodes\":\"", job);
    for (uint32_t i = 0; i < ASKED; i++) {
        uint32_t k = i + (uint32_t)lks_rng_below(rng, BENCH_SITE_NODES - i), node = all[k];
        all[k] = all[i];
        all[i] = node;
        name(a, job, i, node);
        lks_buf_addf(&a->lines[job], "%s%s", i > 0 ? "," : "", a->jobs.names[job * ASKED + i].ptr);
    }
    lks_buf_addf(&a->lines[job], "\"}\n");
}

static void make_jobs(struct asking *a)
{
    struct lks_rng rng = {7};
    static uint32_t all[BENCH_SITE_NODES];
    uint32_t count = SPELLED_COUNT * JOBS;
    a->jobs =
        (struct bench_jobs){calloc((size_t)count * ASKED, sizeof(struct lks_str)), count, ASKED};
    lks_arena_init(&a->arena, NAMES_MEMORY);
    if (a->jobs.names == NULL)
        bench_die("jobs", "no memory");
    for (uint32_t i = 0; i < BENCH_SITE_NODES; i++)
        all[i] = i;
    for (uint32_t job = 0; job < count; job++) {
        lks_buf_init(&a->lines[job], LINE_MAX_BYTES);
        if (job < JOBS)
            make_range(a, job);
        else
            make_names(a, job, &rng, all);
        if (a->lines[job].failed != LKS_OK)
            bench_die("jobs", "the names are too long");
    }
}

static void free_jobs(struct asking *a)
{
    for (uint32_t job = 0; job < a->jobs.count; job++)
        lks_buf_fini(&a->lines[job]);
    lks_arena_fini(&a->arena);
    free(a->jobs.names);
}

/* Questions ---------------------------------------------------------------------------------- */

static int dial(const struct bench_site *site)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(at.sun_path, sizeof(at.sun_path), "%s/admit.sock", site->crew.c.data);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&at, sizeof(at)) != 0)
        bench_die(at.sun_path, strerror(errno));
    return fd;
}

static void ask_socket(const struct asking *a, uint32_t job)
{
    static char answer[ANSWER_MAX];
    const struct lks_buf *line = &a->lines[job];
    size_t len = 0;
    for (size_t sent = 0; sent < line->len;) {
        ssize_t n = send(a->fd, line->ptr + sent, line->len - sent, MSG_NOSIGNAL);
        if (n <= 0)
            bench_die("admit.sock", strerror(errno));
        sent += (size_t)n;
    }
    while (len == 0 || answer[len - 1] != '\n') {
        ssize_t n = recv(a->fd, answer + len, sizeof(answer) - 1 - len, 0);
        if (n <= 0)
            bench_die("admit.sock", "it does not answer");
        len += (size_t)n;
    }
    answer[len] = '\0';
    if (strstr(answer, "\"admitted\":true") == NULL)
        bench_die("it is not admitted", answer);
}

static void ask(const struct asking *a, enum who who, uint32_t job)
{
    if (who == OURS)
        ask_socket(a, job);
    else if (a->sql[who] != NULL)
        bench_sql_ask(a->sql[who], job);
}

static int by_value(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void one_round(struct asking *a, uint32_t round)
{
    for (enum who who = OURS; who < WHO_COUNT; who++) {
        if (who != OURS && round % RIVALS_EVERY != 0)
            continue;
        for (enum spelled spelled = RANGE; spelled < SPELLED_COUNT; spelled++) {
            double begun = bench_now_ms();
            ask(a, who, spelled * JOBS + round % JOBS);
            if (round >= FIRST)
                a->took[who][spelled][a->count[who]] = bench_now_ms() - begun;
            bench_rest(REST_MS);
        }
        a->count[who] += round >= FIRST;
    }
}

static void measure(struct asking *a, struct seen_all *out)
{
    memset(a->count, 0, sizeof(a->count));
    for (uint32_t round = 0; round < FIRST + ROUNDS; round++)
        one_round(a, round);
    for (enum who who = OURS; who < WHO_COUNT; who++) {
        for (enum spelled spelled = RANGE; spelled < SPELLED_COUNT; spelled++) {
            double *took = a->took[who][spelled];
            size_t count = a->count[who];
            qsort(took, count, sizeof(*took), by_value);
            out->of[who][spelled] =
                (struct seen){took[count / 2], took[count - 1 - count / 100], took[count - 1]};
        }
    }
}

/* The load ----------------------------------------------------------------------------------- */

/* In a process of its own: `begun` is told when it begins, `end` when it is to end, and then what
 * came of it follows. */
struct load {
    pid_t pid;
    int end, result;
};

struct beating {
    struct bench_site *site;
    int tell; /* -1: they know */
};

static struct lks_str next(void *ctx, unsigned n)
{
    struct beating *b = ctx;
    if (b->tell >= 0 && write(b->tell, "", 1) != 1)
        _exit(1);
    b->tell = -1;
    return bench_site_beat(b->site, n);
}

static _Noreturn void beat(struct bench_site *site, int until, int tell)
{
    struct beating b = {site, tell};
    const struct lks_load_plan plan = {.port = site->crew.c.agents,
                                       .pairs = site->shown,
                                       .connections = KEPT,
                                       .requests = LKS_LOAD_REQUESTS_MAX,
                                       .per_second = BEATS_PER_S,
                                       .fresh_per_second = HANDSHAKES_PER_S,
                                       .fresh = FRESH,
                                       .until = &until,
                                       .next = next,
                                       .ctx = &b,
                                       .status = 200};
    struct lks_load_result result = {0};
    struct lks_err err = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (nice(LOAD_NICE) < 0) /* agents do not run on the controller's machine */
        bench_die("heartbeats", strerror(errno));
    if (lks_load_run(&plan, &result, &err) != LKS_OK)
        bench_die("heartbeats", err.msg);
    _exit(write(tell, &result, sizeof(result)) == sizeof(result) ? 0 : 1);
}

static struct load load_begin(struct bench_site *site)
{
    int until[2], tell[2];
    char byte;
    fflush(stdout);
    if (pipe(until) != 0 || pipe(tell) != 0)
        bench_die("heartbeats", strerror(errno));
    struct load l = {.pid = fork(), .end = until[1], .result = tell[0]};
    if (l.pid < 0)
        bench_die("heartbeats", strerror(errno));
    if (l.pid == 0) {
        close(until[1]);
        beat(site, until[0], tell[1]);
    }
    close(until[0]);
    close(tell[1]);
    if (read(l.result, &byte, 1) != 1)
        bench_die("heartbeats", "they do not begin");
    bench_rest(SETTLE_MS);
    return l;
}

static void load_end(const struct load *l, struct lks_load_result *out)
{
    close(l->end);
    if (read(l->result, out, sizeof(*out)) != sizeof(*out))
        bench_die("heartbeats", "they broke off");
    close(l->result);
    (void)waitpid(l->pid, NULL, 0);
}

/* What came of it ---------------------------------------------------------------------------- */

static const char *rival_name(const struct asking *a, enum who who)
{
    return a->sql[who] != NULL ? bench_sql_name(a->sql[who]) : "PostgreSQL";
}

static void show(struct lks_table *t, const struct asking *a, const char *when, const char *bar,
                 const struct seen_all *seen)
{
    static const char *const words[] = {"a range", "names from anywhere"};
    for (enum spelled spelled = RANGE; spelled < SPELLED_COUNT; spelled++) {
        char what[3][80];
        const struct seen *ours = &seen->of[OURS][spelled];
        snprintf(what[0], sizeof(what[0]), "%s, %s", words[spelled], when);
        snprintf(what[1], sizeof(what[1]), "%s, %s: p99", words[spelled], when);
        snprintf(what[2], sizeof(what[2]), "%s, %s: the longest", words[spelled], when);
        for (enum who who = SQLITE; who < WHO_COUNT; who++)
            bench_row(t, &(struct bench_figure){
                             what[0], "ratio 0.01", rival_name(a, who), "ms", ours->p50,
                             a->sql[who] != NULL ? seen->of[who][spelled].p50 : 0});
        bench_row(t, &(struct bench_figure){what[1], bar, rival_name(a, SQLITE), "ms", ours->p99,
                                            seen->of[SQLITE][spelled].p99});
        bench_row(t, &(struct bench_figure){what[2], "-", rival_name(a, SQLITE), "ms", ours->max,
                                            seen->of[SQLITE][spelled].max});
    }
}

static void show_load(struct lks_table *t, const struct lks_load_result *r)
{
    bench_row(t, &(struct bench_figure){"the load: heartbeats over mutual TLS", "10,000 /s", "-",
                                        "/s", r->per_second, 0});
    bench_row(t, &(struct bench_figure){"the load: handshakes, each with a heartbeat", "200 /s",
                                        "-", "/s", r->fresh_per_second, 0});
    bench_row(
        t, &(struct bench_figure){"the load: not answered well", "0", "-", "", (double)r->bad, 0});
    bench_row(t,
              &(struct bench_figure){"the load: p99 of a heartbeat", "-", "-", "ms", r->p99_ms, 0});
}

void bench_admit(struct lks_table *t)
{
    static struct asking a;
    struct seen_all alone, loaded;
    struct lks_load_result result = {0};
    make_jobs(&a);
    bench_site_init(&a.site, BENCH_SITE_NODES, KEPT + FRESH);
    a.fd = dial(&a.site);
    a.sql[SQLITE] = bench_sqlite_new(&a.jobs);
    a.sql[POSTGRES] = bench_postgres_new(&a.jobs);
    measure(&a, &alone);
    struct load load = load_begin(&a.site);
    measure(&a, &loaded);
    load_end(&load, &result);
    show(t, &a, "alone", "-", &alone);
    show(t, &a, "under load", "2 ms", &loaded);
    show_load(t, &result);
    close(a.fd);
    bench_sql_free(a.sql[POSTGRES]);
    bench_sql_free(a.sql[SQLITE]);
    bench_site_fini(&a.site);
    free_jobs(&a);
}
