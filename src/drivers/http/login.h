/*
 * Who we are to a management endpoint, by reference, so that no configuration, journal or command
 * line holds a password:
 *
 *     file:/PATH      a file that only its owner may read
 *     exec:/PROGRAM   what a program prints; run without a shell and without arguments
 *     env:NAME        a variable of our environment
 *
 * Each holds "USER:PASSWORD" on one line, or {"user": ..., "password": ...}.
 */
#ifndef LKS_DRIVERS_HTTP_LOGIN_H
#define LKS_DRIVERS_HTTP_LOGIN_H

#include "port/bmc.h"

#define LKS_LOGIN_REFERENCE_MAX 1024
#define LKS_LOGIN_BYTES_MAX     4096

/* Is it of one of these forms? INVALID says which there are. Nothing is opened. */
enum lks_code lks_login_check(const char *reference, struct lks_err *err) LKS_MUST_CHECK;

/* Read user and password; the rest of `out` is left as it is. Messages name the reference and
 * never what is behind it. Blocks, for a program up to ten seconds. */
enum lks_code lks_login_get(const char *reference, struct lks_bmc_secret *out,
                            struct lks_err *err) LKS_MUST_CHECK;

/* Nothing of it stays in memory. */
void lks_login_wipe(struct lks_bmc_secret *secret);

#endif
