/*
 * The public keys that are pinned on this machine, for commands that work without lockstepd: a
 * folder `trust` with a file NAME.key for each, and a file `history` that says who pinned and
 * removed what, and why. Only its owner and root may be able to write there.
 */
#ifndef LKS_CLI_TRUSTDIR_H
#define LKS_CLI_TRUSTDIR_H

#include "cli/shared/path.h"
#include "port/verifier.h"

#define LKS_TRUSTDIR_KEYS_MAX 1000

/* The folder `trust` in `state`, the folder that --state names; NULL: in the user's own. */
enum lks_code lks_trustdir_path(const struct lks_cli *cli, const char *state, char out[PATH_MAX],
                                struct lks_err *err) LKS_MUST_CHECK;

/* All keys in the folder, by name; none where there is no such folder. `*out` is the caller's to
 * free. REFUSED where others could have put them there. */
enum lks_code lks_trustdir_read(const char *dir, struct lks_trusted **out, size_t *count,
                                struct lks_err *err) LKS_MUST_CHECK;

/* Pin a key, or remove one, and note it in the history. The folder is made where it is missing. A
 * name that is another key's, or a key that has another name, is REFUSED; the same again is fine.
 */
enum lks_code lks_trustdir_add(const struct lks_cli *cli, const char *dir, struct lks_str name,
                               const struct lks_pin *pin, struct lks_str reason,
                               struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_trustdir_remove(const struct lks_cli *cli, const char *dir, struct lks_str name,
                                  struct lks_str reason, struct lks_err *err) LKS_MUST_CHECK;

/* A public key as a user gives it: the text itself, or the name of a file that holds it. */
enum lks_code lks_trustdir_key(const char *text_or_file, struct lks_pin *out,
                               struct lks_err *err) LKS_MUST_CHECK;

#endif
