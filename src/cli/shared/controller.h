/* A controller's data directory, for commands that work on it without lockstepd. */
#ifndef LKS_CLI_CONTROLLER_H
#define LKS_CLI_CONTROLLER_H

#include "cli/shared/cli.h"
#include "cli/shared/path.h"
#include "codec/format/docs.h"
#include "drivers/store/sqlite.h"
#include "trust/key.h"
#include "trust/seal.h"

/* The journal of `place`, a data directory or the journal's file itself. */
enum lks_code lks_controller_journal(const char *place, enum lks_store_mode mode,
                                     struct lks_store *out, struct lks_err *err) LKS_MUST_CHECK;

/* Its configuration names it as the data directory, so that lockstepd runs there and not where the
 * configuration was copied from. */
enum lks_code lks_controller_at_home(const char *dir, struct lks_err *err) LKS_MUST_CHECK;

/* The socket its lockstepd listens on, as "unix:PATH". */
enum lks_code lks_controller_server(const char *dir, char out[PATH_MAX],
                                    struct lks_err *err) LKS_MUST_CHECK;

/* Paths in the configuration that lead into the directory it was written for lead into `dir`. */
enum lks_code lks_controller_move_in(const char *dir, struct lks_err *err) LKS_MUST_CHECK;

/* The key its secrets are sealed with, as its configuration refers to it. */
enum lks_code lks_controller_seal_key(const char *dir, struct lks_seal_key *out,
                                      struct lks_err *err) LKS_MUST_CHECK;

/* The key its journal's heads are signed with. The caller owes lks_key_wipe(). */
enum lks_code lks_controller_journal_key(const char *dir, struct lks_key *out,
                                         struct lks_err *err) LKS_MUST_CHECK;

/* A public key from a file, such as DIR/journal.pub. */
enum lks_code lks_controller_public_key(const char *path, struct lks_public_key *out,
                                        struct lks_err *err) LKS_MUST_CHECK;

/* Who runs this command, as the journal names people on this machine: "unix:UID". */
#define LKS_CONTROLLER_WHO_SIZE 32
const char *lks_controller_who(char out[LKS_CONTROLLER_WHO_SIZE]);

#endif
