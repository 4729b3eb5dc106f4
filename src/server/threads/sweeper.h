/*
 * Reading every management endpoint in its turn. Each controller takes leases of the store for
 * those that are due (handle_sweep.c), reads them on its client thread, and says what they have
 * by the route that others use; so a fleet is read by as many controllers as there are, and each
 * endpoint by one.
 */
#ifndef LKS_SERVER_SWEEPER_H
#define LKS_SERVER_SWEEPER_H

#include "server/call/internal.h"

struct lks_client_thread;
struct lks_client_job;

struct lks_sweeper {
    bool asked;     /* for leases */
    lks_ms due;     /* mono: when to ask again */
    unsigned count; /* endpoints that are being read */
};

/* Ask for leases, where it is time for that. */
void lks_sweeper_tick(struct lks_client_thread *c, lks_ms mono);

/* Here they are. */
void lks_sweeper_take(struct lks_client_thread *c, const struct lks_call *call, lks_ms mono);

/* Read one endpoint; `leased`: a failure is reported to the controller that leased it. */
void lks_sweeper_read(struct lks_client_thread *c, const struct lks_internal_endpoint *at,
                      bool leased);

/* The conversation of a reading ended. */
void lks_sweeper_ended(struct lks_client_job *job, const struct lks_err *why);

#endif
