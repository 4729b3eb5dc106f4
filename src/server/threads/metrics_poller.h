/*
 * Measuring for the gates of changes: now and then the client thread asks the state which numbers
 * are wanted (core/gate/gate_round.h), asks the site's monitoring system for them, and says what it
 * heard. Where it hears nothing, it says that: a gate without data does not pass.
 */
#ifndef LKS_SERVER_METRICS_POLLER_H
#define LKS_SERVER_METRICS_POLLER_H

#include "server/call/internal.h"

struct lks_client_thread;
struct lks_metrics_poll;

struct lks_metrics_poller {
    bool asked;                     /* what is wanted, or what was heard is being told */
    bool hears;                     /* what heartbeats tell is being recorded */
    lks_ms due, hear_due;           /* mono: when to ask again */
    struct lks_metrics_poll *watch; /* a round in progress; NULL: none. Owned */
    char said[LKS_ERR_MSG_MAX];     /* the last trouble that was logged; empty: all went well */
};

/* Ask what is wanted, where it is time for that; what agents know is wanted without a monitoring
 * system, too. */
void lks_metrics_poller_tick(struct lks_client_thread *c, lks_ms mono);

/* Here it is; or what was told is recorded. */
void lks_metrics_poller_take(struct lks_client_thread *c, struct lks_call *call, lks_ms mono);

/* Before the dialogs end. */
void lks_metrics_poller_fini(struct lks_client_thread *c);

/* The state thread's part, without a listener. */
void lks_metrics_poller_wanted(struct lks_authz *authz, struct lks_call *call);
void lks_metrics_poller_measured(struct lks_authz *authz, struct lks_call *call);
void lks_metrics_poller_heard(struct lks_authz *authz, struct lks_call *call);

#endif
