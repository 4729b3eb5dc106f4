/* Endpoints and their leases, for the files of handlers that touch them. */
#ifndef LKS_SERVER_SWEEPS_H
#define LKS_SERVER_SWEEPS_H

#include "server/auth/authz.h"

/* The endpoint of call's {name} was read: its lease ends, if the caller holds it, and it is due
 * again after its interval. The answer, which stands already, waits for that. */
void lks_handle_sweep_read(struct lks_authz *authz, struct lks_call *call);

/* Why the endpoint could not be read when this controller, or one that reported to it, last tried,
 * and when that was; empty: it could, or was not tried. The view is good until the next lease. */
struct lks_str lks_handle_sweep_failure(const struct lks_authz *authz, struct lks_str name,
                                        lks_ms *at);

#endif
