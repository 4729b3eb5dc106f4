/*
 * Secrets of a controller on disk: DIR/secrets/NAME.sealed, each sealed as NAME under the key that
 * `seal_key` refers to. The reference is file:PATH or exec:PROGRAM; a program prints the key, so
 * that it can come from a vault or a TPM and never lie beside what it opens.
 *
 * A file that others can read is refused, as is a program that others can change: one that neither
 * root nor we own, or that others may write or replace in a folder above it.
 */
#ifndef LKS_DRIVERS_STORE_SECRETS_H
#define LKS_DRIVERS_STORE_SECRETS_H

#include "trust/seal.h"

#define LKS_SECRET_MAX ((size_t)64 << 10)

/* The key behind a reference; PATH and PROGRAM are absolute or relative to `dir`. */
enum lks_code lks_secrets_key(const char *dir, const char *reference, struct lks_seal_key *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* Append what a reference leads to: `kind` is "file" or "exec", `what` is for the message where a
 * program prints none. Blocks, for a program up to ten seconds; `out` is to be wiped. */
enum lks_code lks_secrets_text(struct lks_str kind, const char *path, const char *what,
                               struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

/* Append the secret called `name`, such as "ca.key". */
enum lks_code lks_secrets_read(const char *dir, const struct lks_seal_key *key, const char *name,
                               struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

/* Keep it, in place of what was there: whole or not at all, whenever the power goes. */
enum lks_code lks_secrets_write(const char *dir, const struct lks_seal_key *key, const char *name,
                                struct lks_str plain, struct lks_err *err) LKS_MUST_CHECK;

#endif
