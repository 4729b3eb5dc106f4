/*
 * Names that are cut short. lockstepd takes whole names alone. Where it does not know one, the
 * command line asks for the list that the value is from (complete_table.c has it); if one name
 * there starts with what was typed, the command runs again with that name. A command that only
 * reads says so on standard error; one that acts asks first. Without a terminal both need the whole
 * name: a script must not get another node because one was added or removed.
 */
#ifndef LKS_CLI_PREFIX_H
#define LKS_CLI_PREFIX_H

#include "base/buf.h"
#include "cli/shared/cli.h"

enum { LKS_PREFIX_MAX = 4 };

/* The names that took the place of what was typed; `args` refers to them. All zero is empty. */
struct lks_prefix {
    struct lks_buf names[LKS_PREFIX_MAX];
    size_t count;
};

/* Put the whole name into `args` after lockstepd did not know one: `err` says which. On failure
 * `err` is that error, or says why the name does not count. */
enum lks_code lks_prefix_complete(struct lks_cli *cli, struct lks_args *args,
                                  struct lks_prefix *names, struct lks_err *err) LKS_MUST_CHECK;
void lks_prefix_fini(struct lks_prefix *names);

#endif
