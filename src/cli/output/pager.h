/* The pager: an answer that does not fit on the terminal is shown by $LOCKSTEP_PAGER, $PAGER or
 * less. The pager starts when the command is done, so that its failure can cost nothing. */
#ifndef LKS_CLI_PAGER_H
#define LKS_CLI_PAGER_H

#include "cli/shared/cli.h"

/* The command line of the pager: `own` ($LOCKSTEP_PAGER), else `general` ($PAGER), else less, if a
 * folder of `path` has it; each may be NULL. NULL: none, as for an empty text or "cat". */
const char *lks_pager_choose(const char *own, const char *general, const char *path);

struct lks_pager {
    FILE *out; /* the terminal; NULL: nothing is collected */
    char *text;
    size_t len;
};

/* Whether the answer of a command may be paged: it reads, prints what it has to say once and asks
 * nothing. NULL: help. */
bool lks_pager_wants(const struct lks_cli *cli, const struct lks_command *command,
                     const struct lks_args *args);

/* Collect the output of `cli`, if it may be paged. The caller owes lks_pager_end(). */
void lks_pager_begin(struct lks_pager *p, struct lks_cli *cli, const struct lks_command *command,
                     const struct lks_args *args);

/* Show what was collected: directly if it fits, or if no pager can be started. `code` is the
 * outcome of the command, and is returned unless it is OK and part of the answer is lost. */
enum lks_code lks_pager_end(struct lks_pager *p, struct lks_cli *cli, enum lks_code code,
                            struct lks_err *err) LKS_MUST_CHECK;

/* The rows that `text` takes on a terminal of `width` columns; colours take none. */
size_t lks_pager_rows(struct lks_str text, unsigned width);

#endif
