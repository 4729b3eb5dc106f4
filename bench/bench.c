/*
 * How long things take, each beside a rival measured in the same run:
 *
 *     bench PATH_OF_LOCKSTEP
 *
 * Figures are medians; machines are noisy, so look at ratios.
 */
#include "base/table.h"
#include "model/facts.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 61 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), by_value);
    return values[count / 2];
}

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

/* Run a program to its end, its output thrown away, and say how long that took. */
static double run_ms(char *const argv[])
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    double start = now_ms();
    int failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        die(argv[0]);
    if (WEXITSTATUS(status) != 0)
        die("a measured command failed");
    return now_ms() - start;
}

static double command_ms(char *const argv[])
{
    double values[RUNS];
    for (size_t i = 0; i < RUNS; i++)
        values[i] = run_ms(argv);
    return median(values, RUNS);
}

static double data_load_ms(void)
{
    double values[RUNS];
    for (size_t i = 0; i < RUNS; i++) {
        struct lks_facts facts = {0};
        struct lks_err err = {0};
        double start = now_ms();
        if (lks_facts_load(lks_embedded_data, NULL, 0, &facts, &err) != LKS_OK)
            die(err.msg);
        values[i] = now_ms() - start;
        lks_facts_fini(&facts);
    }
    return median(values, RUNS);
}

static void row(struct lks_table *t, const char *what, double ms, const char *bar, double rival)
{
    lks_table_cellf(t, LKS_PLAIN, "%s", what);
    lks_table_cellf(t, LKS_PLAIN, "%.2f ms", ms);
    lks_table_cellf(t, LKS_PLAIN, "%s", bar);
    lks_table_cellf(t, LKS_PLAIN, "%.2f ms", rival);
    lks_table_cellf(t, LKS_PLAIN, "%.2f", ms / rival);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        die("usage: bench PATH_OF_LOCKSTEP");
    static char stack[] = "examples/h200-train.yaml", word_stack[] = "stack",
                word_check[] = "check";
    static char python[] = "python3", dash_c[] = "-c", pass[] = "pass";
    double rival = command_ms((char *[]){python, dash_c, pass, NULL});

    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_table_init(&t, 1 << 20);
    lks_table_column(&t, "what", 0);
    lks_table_column(&t, "median", LKS_COLUMN_RIGHT);
    lks_table_column(&t, "bar", LKS_COLUMN_RIGHT);
    lks_table_column(&t, "python3 -c pass", LKS_COLUMN_RIGHT);
    lks_table_column(&t, "ratio", LKS_COLUMN_RIGHT);
    row(&t, "load all data tables", data_load_ms(), "10 ms", rival);
    row(&t, "stack check, whole command",
        command_ms((char *[]){argv[1], word_stack, word_check, stack, NULL}), "20 ms", rival);

    struct lks_term term;
    struct lks_err err = {0};
    lks_term_of(stdout, &term);
    if (lks_table_print(&t, stdout, &term, &err) != LKS_OK)
        die(err.msg);
    return 0;
}
