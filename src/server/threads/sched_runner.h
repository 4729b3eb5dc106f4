/*
 * Asking schedulers. Where a scheduler is configured the client thread asks the state again and
 * again which nodes and sites are due (core/actions/sched_book.h, sched_sites.h), has the
 * conversation about each with the bridge of its site, and reports the answer or that none came.
 * Only the leader's state has nodes that are due; its epoch travels with every write.
 */
#ifndef LKS_SERVER_SCHED_RUNNER_H
#define LKS_SERVER_SCHED_RUNNER_H

#include "server/call/internal.h"

struct lks_client_thread;
struct lks_job_due;
struct lks_sched_entry;
struct lks_sched_talk;

struct lks_sched_runner {
    bool asked;                   /* which nodes are due */
    bool more;                    /* more than could be begun */
    uint64_t unasked;             /* the last search, where nothing that it found is asked; or 0 */
    lks_ms due;                   /* mono: when to ask again, or earlier where there were more */
    unsigned open, sites;         /* conversations in progress about nodes and about sites, */
    struct lks_sched_talk *talks; /* which are these; owned */
};

/* Ask which nodes are due, where it is time for that. */
void lks_sched_runner_tick(struct lks_client_thread *c, lks_ms mono);

/* Here they are. */
void lks_sched_runner_take(struct lks_client_thread *c, const struct lks_call *call, lks_ms mono);

/* Before the dialogs end. */
void lks_sched_runner_fini(struct lks_client_thread *c);

/* The state thread's part, without a listener. */
void lks_sched_runner_due(struct lks_authz *authz, struct lks_call *call);
void lks_sched_runner_said(struct lks_authz *authz, struct lks_call *call);
void lks_sched_runner_site_said(struct lks_authz *authz, struct lks_call *call);

/* sched_runner_site.c: whether the node of an act still drains for its change, which runs. */
bool lks_sched_runner_site_drains(const struct lks_state *s, const struct lks_job_due *due);

/* sched_runner_site.c: acts on jobs that no answer and no list will end any more. */
void lks_sched_runner_site_close(struct lks_authz *authz, struct lks_call *call);

#endif
