#include "bench/measure.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SMAPS_MAX = 16 * 1024, PATH_SIZE = 4096, ARGS_MAX = 32 };

void bench_die(const char *what, const char *why)
{
    fflush(stdout);
    fprintf(stderr, "bench: %s: %s\n", what, why);
    exit(1);
}

double bench_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

double bench_cpu_us(pid_t pid)
{
    clockid_t clock;
    struct timespec t = {0};
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        bench_die("a measured process", "it has ended");
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), by_value);
    return values[count / 2];
}

void bench_pin(unsigned core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    (void)sched_setaffinity(0, sizeof(set), &set);
}

void bench_unpin(void)
{
    cpu_set_t set;
    memset(&set, 0xff, sizeof(set));
    (void)sched_setaffinity(0, sizeof(set), &set);
}

void bench_rest(unsigned ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) {
    }
}

bool bench_has_program(const char *name)
{
    char path[PATH_SIZE];
    const char *dirs = getenv("PATH");
    struct lks_str rest = lks_str_from(dirs != NULL ? dirs : ""), dir;
    for (bool more = true; more;) {
        more = lks_str_cut(rest, ':', &dir, &rest);
        snprintf(path, sizeof(path), "%.*s/%s", LKS_STR_ARG(dir), name);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

pid_t bench_spawn(const char *const *argv, int out)
{
    char *words[ARGS_MAX] = {0};
    LKS_ASSERT(argv[0] != NULL);
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0)
        bench_die(argv[0], strerror(errno));
    if (pid > 0)
        return pid;
    int null = open("/dev/null", O_RDWR);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t i = 0; argv[i] != NULL && i + 1 < ARGS_MAX; i++)
        memcpy(&words[i], &argv[i], sizeof(words[i])); /* execvp() promises not to change them */
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
        dup2(out >= 0 ? out : null, STDOUT_FILENO) >= 0 && dup2(null, STDERR_FILENO) >= 0)
        execvp(argv[0], words);
    _exit(127);
}

void bench_end(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

double bench_private_kib(pid_t pid)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_err err = {0};
    char path[64];
    double kib = 0;
    snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
    lks_buf_init(&text, SMAPS_MAX);
    if (lks_file_read_plain(path, &text, &err) != LKS_OK)
        bench_die("memory of a measured process", err.msg);
    struct lks_str rest = lks_buf_view(&text), line, key;
    for (bool more = true; more;) {
        uint64_t number = 0;
        more = lks_str_cut(rest, '\n', &line, &rest);
        if (!lks_str_cut(line, ':', &key, &line) ||
            (!lks_str_is(key, "Private_Clean") && !lks_str_is(key, "Private_Dirty")))
            continue;
        lks_str_cut(lks_str_trim(line), ' ', &line, &key);
        if (!lks_str_number(line, UINT32_MAX, &number))
            bench_die(path, "it says something else than expected");
        kib += (double)number;
    }
    return kib;
}

void bench_columns(struct lks_table *t)
{
    static const struct {
        const char *header;
        unsigned flags;
    } columns[] = {
        {"what", LKS_COLUMN_WRAP},  {"median", LKS_COLUMN_RIGHT}, {"bar", LKS_COLUMN_RIGHT},
        {"rival", LKS_COLUMN_WRAP}, {"median", LKS_COLUMN_RIGHT}, {"ratio", LKS_COLUMN_RIGHT},
    };
    for (size_t i = 0; i < LKS_COUNT(columns); i++)
        lks_table_column(t, columns[i].header, columns[i].flags);
}

static void cell(struct lks_table *t, double value, const char *unit)
{
    lks_table_cellf(t, LKS_PLAIN, "%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, unit);
}

void bench_row(struct lks_table *t, const struct bench_figure *f)
{
    lks_table_cellf(t, LKS_PLAIN, "%s", f->what);
    cell(t, f->ours, f->unit);
    lks_table_cellf(t, LKS_PLAIN, "%s", f->bar);
    lks_table_cellf(t, LKS_PLAIN, "%s", f->rival);
    if (f->theirs > 0) {
        cell(t, f->theirs, f->unit);
        double ratio = f->ours / f->theirs;
        lks_table_cellf(t, LKS_PLAIN, "%.*f", ratio < 0.1 ? 4 : 2, ratio);
        return;
    }
    lks_table_cellf(t, LKS_PLAIN, "%s", strcmp(f->rival, "-") == 0 ? "-" : "not here");
    lks_table_cellf(t, LKS_PLAIN, "-");
}
