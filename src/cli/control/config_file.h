/* Changes of contexts.yaml, which cli/shared/context.h reads: the file is replaced whole. */
#ifndef LKS_CLI_CONFIG_FILE_H
#define LKS_CLI_CONFIG_FILE_H

#include "cli/shared/context.h"

/* What a context says; empty: nothing. */
struct lks_config_settings {
    struct lks_str server, ca, token_file, certificate_file;
};

/* What becomes of the file. */
struct lks_config_edit {
    struct lks_str current; /* that is current afterwards; empty: none */
    struct lks_str without; /* that is left out */
    struct lks_str name;    /* of one that is added at the end; empty: none */
    struct lks_config_settings to;
    struct lks_str removed_ca, removed_token_file, removed_certificate_file; /* that it had */
};

/* Replace the file that lks_context_edit() read. A link to it stays one, and a file that this
 * program would not read again is not written. */
enum lks_code lks_config_file_save(const struct lks_contexts *contexts,
                                   const struct lks_config_edit *edit,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* Make a token or a certificate the one of a context, and no other; both empty: none. */
enum lks_code lks_config_file_credential(const struct lks_cli *cli, struct lks_str name,
                                         struct lks_str token_file, struct lks_str certificate_file,
                                         struct lks_err *err) LKS_MUST_CHECK;

#endif
