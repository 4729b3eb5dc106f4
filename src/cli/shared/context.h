/*
 * Contexts: controllers by name, in lockstep/contexts.yaml in the user's configuration folder. A
 * context says where lockstepd is and which files its CA and the user's token are in. A server goes
 * with the CA and the token of the place that names it, so a context's with the context's; only the
 * options --ca and --token-file win over them.
 */
#ifndef LKS_CLI_CONTEXT_H
#define LKS_CLI_CONTEXT_H

#include "cli/shared/cli.h"
#include "codec/format/docs.h"

#include <limits.h>

struct lks_contexts {
    char path[PATH_MAX];
    struct lks_docs docs; /* without a document where there is no file */
    int lock;             /* a descriptor, plus one; 0: none */
};

/* Read the file. The caller owes lks_context_fini(). INVALID where it cannot be read, or others can
 * write it or its folders: a context decides which server gets the user's token. */
enum lks_code lks_context_read(const struct lks_cli *cli, struct lks_contexts *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* The same for callers that replace the file: others that do wait until lks_context_fini(). Makes
 * the folder. */
enum lks_code lks_context_edit(const struct lks_cli *cli, struct lks_contexts *out,
                               struct lks_err *err) LKS_MUST_CHECK;
void lks_context_fini(struct lks_contexts *contexts);

/* The text of a file, checked; `docs` was initialised. */
enum lks_code lks_context_parse(struct lks_str text, struct lks_docs *docs,
                                struct lks_err *err) LKS_MUST_CHECK;

/* The context called `name`; NOT_FOUND names the nearest. */
enum lks_code lks_context_find(const struct lks_contexts *contexts, struct lks_str name,
                               const struct lks_doc **out, struct lks_err *err) LKS_MUST_CHECK;

/* The name of the current context; empty: none. */
struct lks_str lks_context_current(const struct lks_contexts *contexts);

/* Whether `address` is one that a client can ask. */
bool lks_context_address(struct lks_str address);

/* Settings of the context in use replace those of the environment in `cli`, once. The context is
 * that of --context, else $LOCKSTEP_CONTEXT, else the current one, unless --server or
 * $LOCKSTEP_SERVER says where lockstepd is. Called before `cli->server` or `cli->token_file` is
 * read, and by lks_remote_open(): a command that asks no controller needs no contexts. */
enum lks_code lks_context_apply(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err) LKS_MUST_CHECK;

/* "context prod (https://...)" on the error stream, once, where a context is in use: before the
 * command changes something, or asks whether it should. */
void lks_context_show(struct lks_cli *cli);

#endif
