/* Credentials of the user: where a login keeps them, and logins with one that the user has. */
#ifndef LKS_CLI_LOGIN_H
#define LKS_CLI_LOGIN_H

#include "cli/shared/cli.h"

#include <limits.h>

/* The file of a token. */
struct lks_login_place {
    char file[PATH_MAX];
    bool in_context; /* the context says so, or is to say so; the option and the environment do not
                      */
};

/* That of --token-file, else of the context or the environment, else NAME.token beside the
 * contexts. USAGE where there is neither; `command` is for the message. */
enum lks_code lks_login_place_find(struct lks_cli *cli, const struct lks_args *args,
                                   const char *command, struct lks_login_place *out,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* Whether `file` is NAME.END beside the contexts, which 'login' wrote: the user's own files are not
 * removed. */
bool lks_login_is_ours(const struct lks_cli *cli, const char *end, const char *file);

/* Put a token there, for its owner alone; the context in use has it from then on, and no
 * certificate. */
enum lks_code lks_login_keep_token(struct lks_cli *cli, const struct lks_login_place *place,
                                   struct lks_str token, struct lks_err *err) LKS_MUST_CHECK;

/* login --with-token, and --certificate with --key: lockstepd is asked who that is before anything
 * is kept. */
enum lks_code lks_login_with_token(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_login_with_certificate(struct lks_cli *cli, const struct lks_args *args,
                                         struct lks_err *err) LKS_MUST_CHECK;

#endif
