/*
 * A stack that a command line names: a file, or a stack of lockstepd's registry. A word with a
 * slash, '-' (standard input), one that ends in .yaml, .yml or .json, and the name of a file that
 * exists are files. All others are in the registry: NAME, NAME@VERSION, a digest or the start of
 * one.
 */
#ifndef LKS_CLI_STACKREF_H
#define LKS_CLI_STACKREF_H

#include "cli/shared/input.h"
#include "cli/shared/remote.h"

/* All zero is empty. */
struct lks_stackref {
    struct lks_manifest manifest;   /* of a file, or of the registry */
    struct lks_remote_answer entry; /* the registry's entry; its document is NULL for a file */
};

bool lks_stackref_is_file(const char *text);

/* Read what `text` names. In the registry, the stack is `*stack`; of a file it is NULL, since the
 * options of the command choose it. */
enum lks_code lks_stackref_read(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_input *input, const char *text,
                                struct lks_stackref *out, const struct lks_stack **stack,
                                struct lks_err *err) LKS_MUST_CHECK;
void lks_stackref_fini(struct lks_stackref *ref);

#endif
