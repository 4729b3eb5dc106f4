/* What commands read: the facts, and manifests from files. */
#ifndef LKS_CLI_INPUT_H
#define LKS_CLI_INPUT_H

#include "cli/shared/cli.h"
#include "model/manifest/manifest.h"

/* The built-in tables, with those of `dir` (NULL: none) in their place. A file there that looks
 * like a table and is none is refused: it is a misspelled one. */
enum lks_code lks_input_facts(const char *dir, struct lks_facts *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* Append a key or a token, `what`, to `out`. A reader of it can act with it: DENIED where others
 * than its owner may read the file. "-" is standard input; `plain`: only plain files, and "-" is
 * one. */
enum lks_code lks_input_private(const char *path, const char *what, bool plain, struct lks_buf *out,
                                struct lks_err *err) LKS_MUST_CHECK;
/* For buffers with a secret: overwrite it, and free it. */
void lks_input_wipe(struct lks_buf *b);

/* A manifest and what it needs to stay valid. All zero is empty. */
struct lks_input {
    struct lks_facts facts;
    struct lks_manifest library; /* of --class FILE */
    struct lks_manifest manifest;
};

/* The facts, the classes of --class and the manifest at `path`. The caller owes lks_input_fini().
 */
enum lks_code lks_input_load(struct lks_cli *cli, const struct lks_args *args, const char *path,
                             struct lks_input *out, struct lks_err *err) LKS_MUST_CHECK;
void lks_input_fini(struct lks_input *input);

/* The same for the file that is the command's argument, and the stack of it that --stack names. */
enum lks_code lks_input_load_stack(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_input *out, const struct lks_stack **stack,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* Another manifest against the same facts and classes. */
enum lks_code lks_input_manifest(const struct lks_input *input, const char *path,
                                 struct lks_manifest *out, struct lks_err *err) LKS_MUST_CHECK;

/* The same, with all that is wrong with the file in `faults`, which is empty if it was not read. */
enum lks_code lks_input_lint(const struct lks_input *input, const char *path,
                             struct lks_doc_faults *faults, struct lks_manifest *out,
                             struct lks_err *err) LKS_MUST_CHECK;

/* Print all that is wrong with a file; `err`, which is the first of it, becomes their number,
 * unless there is one. Returns its code. */
enum lks_code lks_input_faults(struct lks_cli *cli, const char *file,
                               const struct lks_doc_faults *faults,
                               struct lks_err *err) LKS_MUST_CHECK;

/* A manifest that is not a file: `source` names it in messages. */
enum lks_code lks_input_text(const struct lks_input *input, const char *source, struct lks_str text,
                             struct lks_manifest *out, struct lks_err *err) LKS_MUST_CHECK;

/* The facts and the classes of --class alone; the caller owes lks_input_fini(). */
enum lks_code lks_input_begin(struct lks_cli *cli, const struct lks_args *args,
                              struct lks_input *out, struct lks_err *err) LKS_MUST_CHECK;

/* The one stack of `manifest`, or the one called `name` (empty: there may be only one). */
enum lks_code lks_input_stack(const struct lks_manifest *manifest, struct lks_str name,
                              const struct lks_stack **out, struct lks_err *err) LKS_MUST_CHECK;

#endif
