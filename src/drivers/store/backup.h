/*
 * A controller's data directory as one sealed file, and back.
 *
 * Inside the seal is a list of files: a line "NAME SIZE" and that many bytes for each, then the
 * line "END". The journal is a consistent copy, made while others write. The sealing key is not
 * part of it: without the key the backup is useless.
 */
#ifndef LKS_DRIVERS_STORE_BACKUP_H
#define LKS_DRIVERS_STORE_BACKUP_H

#include "port/store.h"
#include "trust/seal.h"

/* Write the new file `path`. `store` is a journal that may be read; it need not be ours alone. */
enum lks_code lks_backup_make(const char *dir, struct lks_store *store,
                              const struct lks_seal_key *key, const char *path,
                              struct lks_err *err) LKS_MUST_CHECK;

/* Make the new directory `dir` from it; on failure nothing of it stays. */
enum lks_code lks_backup_restore(const char *path, const struct lks_seal_key *key, const char *dir,
                                 struct lks_err *err) LKS_MUST_CHECK;

#endif
