/* The functions behind the table of commands, by the file they live in. */
#ifndef LKS_CLI_COMMANDS_H
#define LKS_CLI_COMMANDS_H

#include "cli/cli.h"

typedef enum lks_code lks_command_fn(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_err *err);

/* cmd_stack.c */
lks_command_fn lks_cmd_stack_lint;
lks_command_fn lks_cmd_stack_digest;
lks_command_fn lks_cmd_stack_show;
lks_command_fn lks_cmd_stack_classes;

/* cmd_check.c */
lks_command_fn lks_cmd_stack_check;
lks_command_fn lks_cmd_advisories;
lks_command_fn lks_cmd_lifecycle;

/* cmd_conform.c */
lks_command_fn lks_cmd_conform;
lks_command_fn lks_cmd_stack_init;

/* cmd_inventory.c */
lks_command_fn lks_cmd_inventory;

/* cmd_diff.c */
lks_command_fn lks_cmd_stack_diff;

/* cmd_compat.c */
lks_command_fn lks_cmd_compat;

/* cmd_xid.c */
lks_command_fn lks_cmd_xid;

#endif
