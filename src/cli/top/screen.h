/* The terminal of `top`: keys from it, pictures onto it. All of ncurses is here. */
#ifndef LKS_CLI_TOP_SCREEN_H
#define LKS_CLI_TOP_SCREEN_H

#include "cli/shared/cli.h"

/* Run until the person quits. `*unfit`: this terminal cannot be drawn on, and nothing was done. */
enum lks_code lks_top_screen_run(struct lks_cli *cli, const struct lks_args *args, lks_ms interval,
                                 bool *unfit, struct lks_err *err) LKS_MUST_CHECK;

#endif
