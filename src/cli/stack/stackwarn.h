/* What commands that take a stack say beside their answer. */
#ifndef LKS_CLI_STACKWARN_H
#define LKS_CLI_STACKWARN_H

#include "cli/shared/cli.h"
#include "model/manifest/stack.h"

/* Unknown components and versions, as warnings on the other stream. */
enum lks_code lks_stack_warn(struct lks_cli *cli, const struct lks_facts *facts,
                             const struct lks_stack *stack, const char *file,
                             struct lks_err *err) LKS_MUST_CHECK;

#endif
