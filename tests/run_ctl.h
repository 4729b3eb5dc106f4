/* Commands against a real lockstepd, as rows: one after the other, each stands on those before. */
#ifndef LKS_TESTS_RUN_CTL_H
#define LKS_TESTS_RUN_CTL_H

#include "tests/controller.h"
#include "tests/run_cli.h"

enum { LKS_RUN_WORD_MAX = 512 };

#define ARGS(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

/* "DIR/" at the start of a word is the controller's folder. */
struct lks_run_row {
    const char *args[LKS_RUN_ARGS_MAX - 4];
    int exit;
    const char *out, *err; /* what is said; an empty `err` of exit status 0: nothing */
};

static inline struct lks_run lks_run_row_on(const struct ctl *c, const struct lks_run_row *row)
{
    static const char dir[] = "DIR/";
    char file[LKS_RUN_WORD_MAX];
    const char *args[LKS_RUN_ARGS_MAX];
    size_t count = 0;
    for (; row->args[count] != NULL; count++) {
        args[count] = row->args[count];
        if (strncmp(args[count], dir, strlen(dir)) != 0)
            continue;
        snprintf(file, sizeof(file), "%s", ctl_path(c, args[count] + strlen(dir)));
        args[count] = file;
    }
    args[count] = "--server";
    args[count + 1] = c->socket;
    args[count + 2] = NULL;
    return lks_run(args);
}

static inline void lks_run_rows(const struct ctl *c, const struct lks_run_row *table, size_t count)
{
    for (const struct lks_run_row *row = table; row < table + count; row++) {
        lks_test_case("row %zu: %s %s %s", (size_t)(row - table), row->args[0], row->args[1],
                      row->args[2] != NULL ? row->args[2] : "");
        struct lks_run run = lks_run_row_on(c, row);
        CHECK_INT(run.exit, row->exit);
        CHECK_HAS(run.out, row->out);
        if (row->err[0] == '\0' && row->exit == 0)
            CHECK_STR(run.err, "");
        else
            CHECK_HAS(run.err, row->err);
        lks_run_fini(&run);
    }
}

#endif
