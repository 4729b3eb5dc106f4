/*
 * Whose a file is, and how a new one appears whole or not at all.
 *
 * The claim is a lock of an open file (OFD) on PATH-lock, and goes when the process does, however
 * it ends. On a side file, because the database library keeps locks of its own on the database, and
 * of the older kind: the kernel drops all of those as soon as the process closes any descriptor of
 * that file, ours included, and then another program may take the log away under us. An OFD lock
 * has no such trap, and unlike the older kind it also refuses a second claim in the same process.
 * The side file is never removed: a claim on a file that is gone would exclude no process.
 */
#ifndef LKS_DRIVERS_STORE_CLAIM_H
#define LKS_DRIVERS_STORE_CLAIM_H

#include "base/buf.h"

#define LKS_CLAIM_PATH_MAX 4096

/* The path without links, so that a file has one claim whatever it is called; and that it is a
 * plain file we may read, and write if asked. No descriptor of it is opened. */
enum lks_code lks_claim_resolve(const char *path, bool write, char out[LKS_CLAIM_PATH_MAX],
                                struct lks_err *err) LKS_MUST_CHECK;

/* REFUSED while another process has it. `fd` holds the claim until it is closed. */
enum lks_code lks_claim_take(const char *path, int *fd, struct lks_err *err) LKS_MUST_CHECK;

/* The name of a new, empty file beside `path`, for its owner alone. */
enum lks_code lks_claim_draft(const char *path, char out[LKS_CLAIM_PATH_MAX],
                              struct lks_err *err) LKS_MUST_CHECK;

/* Give the draft its name, durably; REFUSED where something has that name. In either case the
 * draft's own name goes. */
enum lks_code lks_claim_publish(const char *draft, const char *path,
                                struct lks_err *err) LKS_MUST_CHECK;

#endif
