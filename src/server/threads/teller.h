/*
 * Telling a ticket system how changes stand: the client thread asks the state what is to be told
 * next (core/state/ticket.h), posts it, signed, and says that it was. One message at a time and in
 * their order; each has an id, since it may come twice. Who does not answer is asked ever more
 * seldom; what is refused is given up after a few times, so that others are told.
 */
#ifndef LKS_SERVER_TELLER_H
#define LKS_SERVER_TELLER_H

#include "server/call/own.h"

struct lks_client_thread;
struct lks_telling;

#define LKS_TELLER_SAID (LKS_ERR_MSG_MAX + 32) /* an error, and what follows from it */

struct lks_teller {
    bool asked;                  /* what is to be told, or that it was */
    lks_ms due;                  /* mono: when to ask again */
    unsigned tries;              /* in vain, of the message that is next */
    struct lks_telling *telling; /* that is in progress; NULL: none. Owned */
    char said[LKS_TELLER_SAID];  /* the last trouble that was logged; empty: all went well */
};

void lks_teller_tick(struct lks_client_thread *c, lks_ms mono);
void lks_teller_take(struct lks_client_thread *c, struct lks_call *call, lks_ms mono);

/* Before the dialogs end. */
void lks_teller_fini(struct lks_client_thread *c);

/* The state thread's part, without a listener. */
void lks_own_tell(struct lks_desk *desk, struct lks_call *call);
void lks_own_told(struct lks_desk *desk, struct lks_call *call);

#endif
