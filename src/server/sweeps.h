/* Endpoints and their leases, for the files of handlers that touch them. */
#ifndef LKS_SERVER_SWEEPS_H
#define LKS_SERVER_SWEEPS_H

#include "server/desk.h"

/* The endpoint of call's {name} was read: its lease ends, if the caller holds it, and it is due
 * again after its interval. The answer, which stands already, waits for that. */
void lks_sweeps_read(struct lks_desk *desk, struct lks_call *call);

#endif
