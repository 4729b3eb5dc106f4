/*
 * What the daemon asks of itself: the client thread wants endpoints to read, and says what came of
 * them and of updates; it asks what gates want measured, and says what was; it has pools looked at
 * that are behind what is released. Such questions travel as calls do, so that they wait for rows
 * to be durable and are forwarded to the controller that leads; they begin and end at the client
 * thread, and but for readings no listener has their routes.
 */
#ifndef LKS_SERVER_INTERNAL_H
#define LKS_SERVER_INTERNAL_H

#include "core/actions/sched.h"
#include "core/gate/gate_round.h"
#include "core/sched/jobs.h"
#include "server/call/call.h"

enum lks_internal_kind {
    LKS_INTERNAL_LEASE,      /* endpoints that are due */
    LKS_INTERNAL_FAILED,     /* one could not be read */
    LKS_INTERNAL_READ,       /* what was read of one */
    LKS_INTERNAL_SAVED,      /* how far an update is */
    LKS_INTERNAL_ENDED,      /* how it ended */
    LKS_INTERNAL_WATCH,      /* what gates want measured */
    LKS_INTERNAL_MEASURED,   /* what was */
    LKS_INTERNAL_CADENCE,    /* pools that are behind what is released */
    LKS_INTERNAL_HEARD,      /* what heartbeats tell of it */
    LKS_INTERNAL_TELL,       /* what a ticket system is to be told next */
    LKS_INTERNAL_TOLD,       /* that it was */
    LKS_INTERNAL_SCHED,      /* nodes and sites whose scheduler is to be asked */
    LKS_INTERNAL_SCHED_SAID, /* what it answered about a node */
    LKS_INTERNAL_SCHED_SITE, /* what it answered about a site */
    LKS_INTERNAL_COUNT
};

/* An endpoint, with all that is needed to talk to it. */
struct lks_internal_endpoint {
    struct lks_str name, site, url;
    struct lks_str trust, credentials, driver; /* as core/firmware/endpoint.h has them */
    struct lks_str fingerprint;                /* as recorded; empty: none is */
    bool unleased;                             /* it is read out of its turn */
};

/* What a scheduler is to be asked about a node, or about the site. */
struct lks_internal_wish {
    struct lks_str site, sched; /* of the node, and the name of one of its pool's */
    uint32_t turn;              /* of the site's bridges */
    bool whole;                 /* about the site */
    struct lks_str url;         /* of the bridge; empty: that whose turn it is */
    struct lks_sched_wish wish;
    struct lks_sched_site_wish site_wish;
};

struct lks_internal {
    enum lks_internal_kind kind;
    uint64_t job;           /* the client thread's number of whatever asks; 0: the sweeper */
    struct lks_arena arena; /* owns all texts */
    /* LEASE, SCHED: how many, and LEASE for how long; then which. */
    size_t max, max_sites; /* SCHED: nodes, sites */
    uint64_t search;       /* SCHED: the number of the search that was made, and */
    uint64_t unasked;      /* of an earlier one, where nothing that it found was asked; or 0 */
    lks_ms lasts;
    struct lks_internal_endpoint *endpoints;
    struct lks_internal_wish *wishes; /* SCHED */
    size_t count;
    bool full;                 /* there may be more that are due; CADENCE: the same */
    struct lks_str name, text; /* FAILED; SCHED_SAID: the node */
    struct {
        struct lks_str name; /* of the scheduler */
        struct lks_err why;  /* code LKS_OK: it answered */
        struct lks_sched_said said;
    } sched; /* SCHED_SAID */
    struct {
        struct lks_err why;
        bool unsent;                                /* it failed before anything was sent */
        struct lks_internal_wish wish;              /* what was asked */
        struct lks_sched_jobs jobs;                 /* owned: where a list is put, and ... */
        struct lks_sched_reservations reservations; /* ... the others */
        struct lks_sched_runs runs;
        bool written; /* POLICY: the bridge has a file for it, and wrote that */
    } site;           /* SCHED_SITE */
    struct lks_rec_flash_saved saved;
    struct lks_rec_flash_ended ended;
    struct lks_gate_round *round;  /* WATCH, MEASURED; owned. NULL: nothing is wanted */
    struct lks_measured *measured; /* MEASURED: lives in the round */
    size_t measured_count;
    uint64_t
        seq; /* TELL, TOLD: the record it is about; 0: nothing is to be told. Its text is `text` */
};

void lks_internal_free(struct lks_internal *own);

/* internal_calls.c: a call of that kind; its texts are filled in by the caller, in `own->arena`.
 * NULL: no memory. */
struct lks_call *lks_internal_call(struct lks_daemon *daemon, enum lks_internal_kind kind,
                                   uint64_t job);

/* Send one that has no texts to the state thread. False: no memory. */
bool lks_internal_send(struct lks_daemon *daemon, enum lks_internal_kind kind);

/* The readings of a node for LKS_INTERNAL_READ: a tuple as JSON. */
enum lks_code lks_internal_readings(struct lks_call *call, struct lks_str name, struct lks_str json,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* handle_sweep.c: leases, without a listener. */
void lks_handle_sweep_lease_internal(struct lks_authz *authz, struct lks_call *call);
void lks_handle_sweep_failed_internal(struct lks_authz *authz, struct lks_call *call);

#endif
