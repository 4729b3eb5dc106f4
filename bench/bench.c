/*
 * How long things take, each beside a rival measured in the same run:
 *
 *     bench PATH_OF_LOCKSTEP
 *
 * Figures are medians; machines are noisy, so look at ratios.
 */
#include "base/table.h"
#include "codec/json.h"
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

static void row(struct lks_table *t, const char *what, double ms, const char *bar,
                const char *rival, double rival_ms)
{
    lks_table_cellf(t, LKS_PLAIN, "%s", what);
    lks_table_cellf(t, LKS_PLAIN, "%.2f ms", ms);
    lks_table_cellf(t, LKS_PLAIN, "%s", bar);
    lks_table_cellf(t, LKS_PLAIN, "%s", rival);
    if (rival_ms > 0) {
        lks_table_cellf(t, LKS_PLAIN, "%.2f ms", rival_ms);
        lks_table_cellf(t, LKS_PLAIN, "%.2f", ms / rival_ms);
        return;
    }
    lks_table_cellf(t, LKS_PLAIN, "not here");
    lks_table_cellf(t, LKS_PLAIN, "-");
}

static bool is_program(const char *name)
{
    char path[4096];
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

/* Run a program and keep the beginning of what it says. */
static struct lks_str run_text(char *const argv[], char *text, size_t size)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int ends[2], status = 0;
    if (pipe(ends) != 0)
        die("pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    if (failed != 0 || f == NULL)
        die(argv[0]);
    size_t len = fread(text, 1, size, f);
    fclose(f);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        die("a measured command failed");
    return (struct lks_str){text, len};
}

static double member_mib(const struct lks_doc *map, const char *key)
{
    const struct lks_doc *kib = lks_doc_member(map, key);
    if (kib == NULL || kib->kind != LKS_DOC_NUMBER)
        die("inventory --cost says something else than expected");
    return (double)kib->number / 1024;
}

/* What `inventory --cost --json` says. */
static void print_memory(char *lockstep)
{
    static char inventory[] = "inventory", quick[] = "--quick", cost[] = "--cost",
                json[] = "--json";
    char text[4096];
    struct lks_str said =
        run_text((char *[]){lockstep, inventory, quick, cost, json, NULL}, text, sizeof(text));
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    if (lks_docs_init(&docs, "inventory --cost", &err) != LKS_OK ||
        lks_json_parse(said, &docs, &err) != LKS_OK)
        die(err.msg);
    printf("\nprivate memory of inventory --quick: parent %.1f MiB (bar 8 MiB), largest child %.1f "
           "MiB (%" LKS_STR_FMT ")\n",
           member_mib(docs.first, "parent_private_kib"),
           member_mib(docs.first, "child_private_kib"),
           LKS_STR_ARG(lks_doc_text(docs.first, "child")));
}

int main(int argc, char **argv)
{
    if (argc != 2)
        die("usage: bench PATH_OF_LOCKSTEP");
    static char stack[] = "examples/h200-train.yaml", word_stack[] = "stack",
                word_check[] = "check", inventory[] = "inventory", quick[] = "--quick";
    static char python[] = "python3", dash_c[] = "-c", pass[] = "pass";
    static char smi[] = "nvidia-smi", dash_q[] = "-q", dash_x[] = "-x";
    double bare = command_ms((char *[]){python, dash_c, pass, NULL});
    double vendor = is_program(smi) ? command_ms((char *[]){smi, dash_q, dash_x, NULL}) : 0;

    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_table_init(&t, 1 << 20);
    lks_table_column(&t, "what", 0);
    lks_table_column(&t, "median", LKS_COLUMN_RIGHT);
    lks_table_column(&t, "bar", LKS_COLUMN_RIGHT);
    lks_table_column(&t, "rival", 0);
    lks_table_column(&t, "median", LKS_COLUMN_RIGHT);
    lks_table_column(&t, "ratio", LKS_COLUMN_RIGHT);
    row(&t, "load all data tables", data_load_ms(), "10 ms", "python3 -c pass", bare);
    row(&t, "stack check, whole command",
        command_ms((char *[]){argv[1], word_stack, word_check, stack, NULL}), "20 ms",
        "python3 -c pass", bare);
    row(&t, "inventory without the library search",
        command_ms((char *[]){argv[1], inventory, quick, NULL}), "ratio 1", "nvidia-smi -q -x",
        vendor);

    struct lks_term term;
    struct lks_err err = {0};
    lks_term_of(stdout, &term);
    if (lks_table_print(&t, stdout, &term, &err) != LKS_OK)
        die(err.msg);
    fflush(stdout);
    print_memory(argv[1]);
    return 0;
}
