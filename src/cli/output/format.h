/* The format of an answer: --output table, wide, json, yaml or name. A command writes text or JSON;
 * YAML and names are made of its JSON here, line by line as it is written, so that a command that
 * follows something keeps following it. */
#ifndef LKS_CLI_FORMAT_H
#define LKS_CLI_FORMAT_H

#include "base/buf.h"
#include "cli/shared/cli.h"

struct lks_format {
    struct lks_cli *cli;
    FILE *out;         /* where the answer goes; NULL: it is not converted */
    const char *names; /* --output name: the members that are names; NULL: YAML */
    struct lks_buf line;
    size_t documents;
    struct lks_err failed;
};

/* Read --output, and put it into effect: `args` gets --json where the answer has to be JSON, and
 * the output of `cli` may be converted from now on. `command` is NULL for help about several. After
 * LKS_OK the caller owes lks_format_end(), which ends the conversion. */
enum lks_code lks_format_begin(struct lks_format *f, struct lks_cli *cli,
                               const struct lks_command *command, struct lks_args *args,
                               struct lks_err *err) LKS_MUST_CHECK;

/* `code` is the outcome of the command, and is returned unless it is OK and the answer could not be
 * converted. */
enum lks_code lks_format_end(struct lks_format *f, enum lks_code code,
                             struct lks_err *err) LKS_MUST_CHECK;

/* Whether a command has an --output of its own, the path of a file; false for NULL. */
bool lks_format_writes_file(const struct lks_command *command);

/* The paths of the members that --output name prints for a command, separated by blanks:
 * "items.name". NULL: the command's answer has no names. */
const char *lks_format_names(const char *command);

#endif
