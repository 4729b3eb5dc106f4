/*
 * Telling a ticket system how changes stand: the client thread asks the state what is to be told
 * next (core/state/tickets.h), posts it, signed, and says that it was. One message at a time and in
 * their order; each has an id, since it may come twice. Who does not answer is asked ever more
 * seldom; what is refused is given up after a few times, so that others are told.
 */
#ifndef LKS_SERVER_TICKET_NOTIFIER_H
#define LKS_SERVER_TICKET_NOTIFIER_H

#include "server/call/internal.h"

struct lks_client_thread;
struct lks_ticket_notice;

#define LKS_TICKET_NOTIFIER_SAID (LKS_ERR_MSG_MAX + 32) /* an error, and what follows from it */

struct lks_ticket_notifier {
    bool asked;                        /* what is to be told, or that it was */
    lks_ms due;                        /* mono: when to ask again */
    unsigned tries;                    /* in vain, of the message that is next */
    struct lks_ticket_notice *telling; /* that is in progress; NULL: none. Owned */
    char
        said[LKS_TICKET_NOTIFIER_SAID]; /* the last trouble that was logged; empty: all went well */
};

void lks_ticket_notifier_tick(struct lks_client_thread *c, lks_ms mono);
void lks_ticket_notifier_take(struct lks_client_thread *c, struct lks_call *call, lks_ms mono);

/* Before the dialogs end. */
void lks_ticket_notifier_fini(struct lks_client_thread *c);

/* The state thread's part, without a listener. */
void lks_ticket_notifier_tell(struct lks_authz *authz, struct lks_call *call);
void lks_ticket_notifier_told(struct lks_authz *authz, struct lks_call *call);

#endif
