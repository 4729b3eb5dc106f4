/* Help: an overview on one screen, the commands of a group or of a family, one command. A family is
 * the commands with the same first word: "node". */
#ifndef LKS_CLI_HELP_H
#define LKS_CLI_HELP_H

#include "cli/shared/cli.h"

/* The width of help. Its reader is a person, also where the output is a pipe to a pager. */
size_t lks_help_columns(const struct lks_cli *cli);

void lks_help_overview(struct lks_cli *cli);

/* The command that the first words name, and how many they are; NULL: none. */
const struct lks_command *lks_help_find(const char *const *words, int count, int *used);

/* Whether commands have `word` as their first of two, or as their group. */
bool lks_help_is_listed(const char *word);

/* Those commands; and one command. */
enum lks_code lks_help_list(struct lks_cli *cli, const char *word, bool json, struct lks_err *err);
enum lks_code lks_help_command(struct lks_cli *cli, const struct lks_command *command, bool json,
                               struct lks_err *err);

/* "no command 'nod ls'; did you mean 'node ls'?": the words name no command. */
enum lks_code lks_help_fail(const char *const *words, int count, struct lks_err *err);

/* The failure `code`, with "; see 'lockstep COMMAND WHAT'" behind its message. */
enum lks_code lks_help_see(enum lks_code code, struct lks_err *err, const char *command,
                           struct lks_str what);

#endif
