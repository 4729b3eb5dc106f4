/* The command line: a whole command, started anew each time, beside an interpreter that does
 * nothing and beside the vendor's own tool. */
#include "bench/bench.h"

#include "codec/format/json.h"
#include "model/facts/facts.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 31, COSTS = 7, ANSWER_MAX = 4096 };

/* Run a program to its end and say how long that took. */
static double run_ms(const char *const *argv)
{
    int status = 0;
    double start = bench_now_ms();
    pid_t pid = bench_spawn(argv, -1);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        bench_die(argv[0], "it failed");
    return bench_now_ms() - start;
}

static double command_ms(const char *const *argv)
{
    double values[RUNS];
    for (size_t i = 0; i < RUNS; i++)
        values[i] = run_ms(argv);
    return bench_median(values, RUNS);
}

static double data_load_ms(void)
{
    double values[RUNS];
    for (size_t i = 0; i < RUNS; i++) {
        struct lks_facts facts = {0};
        struct lks_err err = {0};
        double start = bench_now_ms();
        if (lks_facts_load(lks_embedded_data, NULL, 0, &facts, &err) != LKS_OK)
            bench_die("data tables", err.msg);
        values[i] = bench_now_ms() - start;
        lks_facts_fini(&facts);
    }
    return bench_median(values, RUNS);
}

/* What `inventory --cost --json` says. */
static struct lks_str ask_cost(char *text, size_t size)
{
    const char *const argv[] = {LKS_CLI_PROGRAM, "inventory", "--quick", "--cost", "--json", NULL};
    int ends[2], status = 0;
    if (pipe(ends) != 0)
        bench_die("inventory --cost", "no pipe");
    pid_t pid = bench_spawn(argv, ends[1]);
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    size_t len = f != NULL ? fread(text, 1, size, f) : 0;
    if (f != NULL)
        fclose(f);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        bench_die("inventory --cost", "it failed");
    return (struct lks_str){text, len};
}

static double one_inventory_mib(void)
{
    char text[ANSWER_MAX];
    struct lks_str said = ask_cost(text, sizeof(text));
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    if (lks_docs_init(&docs, "inventory --cost", &err) != LKS_OK ||
        lks_json_parse(said, &docs, &err) != LKS_OK)
        bench_die("inventory --cost", err.msg);
    const struct lks_doc *kib = lks_doc_member(docs.first, "parent_private_kib");
    if (kib != NULL && kib->kind == LKS_DOC_NUMBER)
        return (double)kib->number / 1024;
    bench_die("inventory --cost", "it says something else than expected");
}

static double inventory_mib(void)
{
    double values[COSTS];
    for (size_t i = 0; i < COSTS; i++)
        values[i] = one_inventory_mib();
    return bench_median(values, COSTS);
}

void bench_programs(struct lks_table *t)
{
    static const char *const nothing[] = {"python3", "-c", "pass", NULL};
    static const char *const vendor[] = {"nvidia-smi", "-q", "-x", NULL};
    static const char *const check[] = {LKS_CLI_PROGRAM, "stack", "check",
                                        "examples/h200-train.yaml", NULL};
    static const char *const inventory[] = {LKS_CLI_PROGRAM, "inventory", "--quick", NULL};
    double python = bench_has_program(nothing[0]) ? command_ms(nothing) : 0;
    double smi = bench_has_program(vendor[0]) ? command_ms(vendor) : 0;
    const struct bench_figure figures[] = {
        {"load all data tables", "10 ms", "python3 -c pass", "ms", data_load_ms(), python},
        {"stack check, whole command", "20 ms", "python3 -c pass", "ms", command_ms(check), python},
        {"inventory without the library search", "ratio 1", "nvidia-smi -q -x", "ms",
         command_ms(inventory), smi},
        {"its private memory", "8 MiB", "-", "MiB", inventory_mib(), 0},
    };
    for (size_t i = 0; i < LKS_COUNT(figures); i++)
        bench_row(t, &figures[i]);
}
