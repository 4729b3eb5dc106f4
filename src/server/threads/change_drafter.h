/*
 * Cadence: now and then the client thread has the state looked at for pools that are too long
 * behind what is released (core/exposure/cadence.h). People are told, and for one pool at a time a
 * change is drafted, for which bundles are read first as for any other that is proposed. A plan
 * that cannot be made is tried again after a day, or a restart.
 */
#ifndef LKS_SERVER_CHANGE_DRAFTER_H
#define LKS_SERVER_CHANGE_DRAFTER_H

#include "server/call/internal.h"

struct lks_client_thread;

struct lks_change_drafter {
    bool asked; /* it is being looked at */
    lks_ms due; /* mono: when to ask again */
};

/* Ask, where it is time for that. */
void lks_change_drafter_tick(struct lks_client_thread *c, lks_ms mono);

/* It was looked at. */
void lks_change_drafter_take(struct lks_client_thread *c, const struct lks_call *call, lks_ms mono);

/* The state thread's part, without a listener. */
void lks_change_drafter_cadence(struct lks_authz *authz, struct lks_call *call);

#endif
