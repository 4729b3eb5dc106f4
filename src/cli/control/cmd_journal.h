/* What the commands of the journal share. */
#ifndef LKS_CLI_CMD_JOURNAL_H
#define LKS_CLI_CMD_JOURNAL_H

#include "cli/shared/controller.h"

/* The key that --key names, or journal.pub beside the journal; none is an answer too. */
enum lks_code lks_journal_read_key(const struct lks_args *args, const char *place,
                                   struct lks_public_key *out, bool *found,
                                   struct lks_err *err) LKS_MUST_CHECK;

#endif
