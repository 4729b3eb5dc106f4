/* Commands that are one request about one thing: node hold, alarm release, bundle revoke. */
#ifndef LKS_CLI_VERBS_H
#define LKS_CLI_VERBS_H

#include "cli/shared/cli.h"

struct lks_verb {
    const char *command; /* "node hold" */
    const char *base;    /* "/v1/nodes" */
    const char *verb;    /* "hold"; may have a '/' */
    const char *done;    /* "held" */
};

/* The last word of the command that runs: "approve" of "change approve". */
const char *lks_verbs_word(const struct lks_cli *cli);

/* POST BASE/ARGUMENT/VERB with --reason and perhaps --force, and report it. */
enum lks_code lks_verbs_run(struct lks_cli *cli, const struct lks_args *args,
                            const struct lks_verb *verb, struct lks_err *err) LKS_MUST_CHECK;

#endif
