/* lockstepd --check: whether a daemon with this configuration would find all that it names. Nothing
 * is changed, and no connection is made. */
#ifndef LKS_SERVER_SELFCHECK_H
#define LKS_SERVER_SELFCHECK_H

#include "base/err.h"

/* The configuration at `path`, its keys and certificates, and every file of a secret in it. The
 * message names the key of the configuration and the file; never what is in it. */
enum lks_code lks_selfcheck_run(const char *path, struct lks_err *err) LKS_MUST_CHECK;

#endif
