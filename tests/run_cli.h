/* The command line as a user has it, for tests: arguments in, exit status and both streams out. */
#ifndef LKS_TESTS_RUN_CLI_H
#define LKS_TESTS_RUN_CLI_H

#include "cli/cli.h"
#include "codec/json.h"
#include "tests/test.h"

#include <stdlib.h>

#define LKS_RUN_ARGS_MAX 16
#define LKS_RUN_TODAY    "2026-11-15"

struct lks_run {
    int exit;
    struct lks_str out, err; /* owned */
};

/* Run the program with `args`, which end with NULL and do not hold the program's name, on a
 * terminal of `width` columns (0: no terminal). */
static inline struct lks_run lks_run_wide(const char *const *args, unsigned width)
{
    char *argv[LKS_RUN_ARGS_MAX] = {(char *)(uintptr_t) "lockstep"};
    int argc = 1;
    while (args[argc - 1] != NULL && argc + 1 < LKS_RUN_ARGS_MAX) {
        argv[argc] = (char *)(uintptr_t)args[argc - 1];
        argc++;
    }
    char *out = NULL, *err = NULL;
    size_t out_len = 0, err_len = 0;
    struct lks_cli cli = {
        .out = open_memstream(&out, &out_len),
        .err = open_memstream(&err, &err_len),
        .term = {.width = width},
    };
    CHECK(lks_day_parse(LKS_STR(LKS_RUN_TODAY), &cli.today));
    cli.now = (int64_t)cli.today * 86400;
    struct lks_run run = {.exit = lks_cli_run(&cli, argc, argv)};
    fclose(cli.out);
    fclose(cli.err);
    run.out = (struct lks_str){out, out_len};
    run.err = (struct lks_str){err, err_len};
    return run;
}

static inline struct lks_run lks_run(const char *const *args)
{
    return lks_run_wide(args, 0);
}

static inline void lks_run_fini(struct lks_run *run)
{
    free((void *)(uintptr_t)run->out.ptr);
    free((void *)(uintptr_t)run->err.ptr);
    *run = (struct lks_run){0};
}

/* What was printed, read as JSON; NULL when it is none. The caller owes lks_docs_fini(). */
static inline const struct lks_doc *lks_run_json(const struct lks_run *run, struct lks_docs *docs)
{
    struct lks_err err = {0};
    if (!CHECK(lks_docs_init(docs, "answer", &err) == LKS_OK))
        return NULL;
    enum lks_code code = lks_json_parse(run->out, docs, &err);
    CHECK_STR(lks_str_from(err.msg), "");
    return code == LKS_OK ? docs->first : NULL;
}

#endif
