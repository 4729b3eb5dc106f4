/* What a user wrote behind the name of a program or a command: options by table, the rest by
 * position. */
#ifndef LKS_BASE_ARGS_H
#define LKS_BASE_ARGS_H

#include "base/err.h"
#include "base/str.h"

#include <stdio.h>

struct lks_option {
    const char *usage; /* "--gpu NAME", "-o, --output FORMAT", or "--json" for a plain switch */
    const char *about;
};

/* "--gpu" of "--gpu NAME". */
struct lks_str lks_args_name(const struct lks_option *option);

/* "-o" of "-o, --output FORMAT"; empty: the option has no short name. */
struct lks_str lks_args_short(const struct lks_option *option);

/* Whether `name` is the name or the short name of the option. */
bool lks_args_is(const struct lks_option *option, struct lks_str name);

/* "NAME" of "--gpu NAME"; NULL for a plain switch. */
const char *lks_args_value(const struct lks_option *option);

#define LKS_ARGS_MAX 1024

struct lks_args {
    struct {
        const struct lks_option *option;
        const char *value; /* "" for a switch */
    } given[LKS_ARGS_MAX];
    size_t given_count;
    const char *positional[LKS_ARGS_MAX];
    size_t positional_count;
};

/* Read `argv`, `argc` long. `tables` are lists of options, `NULL` behind the last. `--opt VALUE`
 * and `--opt=VALUE` both work, as do `-o VALUE`, `-oVALUE` and `-o=VALUE` for a short name. `--`
 * ends the options, and an option may be given once, unless the name of its value ends in "...".
 */
enum lks_code lks_args_parse(int argc, char **argv, const struct lks_option *const *tables,
                             struct lks_args *out, struct lks_err *err) LKS_MUST_CHECK;

/* The same with one list of options. */
enum lks_code lks_args_read(int argc, char **argv, const struct lks_option *options,
                            struct lks_args *out, struct lks_err *err) LKS_MUST_CHECK;

/* The value of an option, or NULL when it was not given. */
const char *lks_args_get(const struct lks_args *args, const char *name);

/* The same as a view, empty when it was not given. */
struct lks_str lks_args_str(const struct lks_args *args, const char *name);

/* The values of an option that may be repeated, one after the other; `at` begins as 0. */
const char *lks_args_next(const struct lks_args *args, const char *name, size_t *at);

bool lks_args_has(const struct lks_args *args, const char *name);
bool lks_args_given(const struct lks_args *args, struct lks_str name);

/* "PROGRAM VERSION (commit COMMIT)" as every program prints it for --version. `commit` is
 * LKS_COMMIT of base/commit.h, which has "unknown" for a tree without git. */
void lks_args_version(const char *program, const char *commit, FILE *out);

/* Answer --help, with `help`, and --version, which every program has; false where neither was
 * given. */
bool lks_args_about(const struct lks_args *args, void (*help)(void), const char *program,
                    const char *commit);

/* One option as help shows it, and all of a list, which may be NULL: to column `columns` at the
 * most. */
void lks_args_print_option(const struct lks_option *option, size_t columns, FILE *out);
void lks_args_print(const struct lks_option *options, size_t columns, FILE *out);

#endif
