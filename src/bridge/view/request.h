/*
 * Requests to the bridge, as a table of routes: read from method, path, headers and body into one
 * struct, or refused with a line that says what to do.
 *
 *     GET  /v1/health, /v1/nodes, /v1/nodes/NAME, /v1/jobs, /v1/reservations
 *     GET  /v1/runs?after=MS&id=ID&max=N
 *     PUT  /v1/nodes/NAME/drain    {owner, reason, checkpoint, from?}   If-Match: "REVISION"
 *     POST /v1/nodes/NAME/release  {owner}                       If-Match: "REVISION"
 *     POST /v1/jobs/ID/signal      {signal, batch, started?}
 *     POST /v1/jobs/ID/requeue     {started?}
 *     PUT  /v1/reservations/NAME   {nodes, from, until}
 *     DELETE /v1/reservations/NAME
 *     PUT  /v1/epoch
 *     PUT  /v1/truth               {truth: [{nodes, features, digest}]}
 *     PUT  /v1/policy              {policy: {pools, images}}
 *
 * Whatever changes something carries Lockstep-Epoch: N.
 */
#ifndef LKS_BRIDGE_REQUEST_H
#define LKS_BRIDGE_REQUEST_H

#include "base/time.h"
#include "bridge/view/policy.h"
#include "bridge/view/reservation.h"
#include "bridge/view/runs.h"
#include "bridge/view/truth.h"
#include "codec/notation/drain_reason.h"
#include "codec/notation/hostlist.h"

#define LKS_BRIDGE_BODY_MAX ((size_t)1 << 20)

enum lks_bridge_verb {
    LKS_BRIDGE_HEALTH,
    LKS_BRIDGE_NODES,
    LKS_BRIDGE_NODE,
    LKS_BRIDGE_JOBS,
    LKS_BRIDGE_RUNS,
    LKS_BRIDGE_RESERVATIONS,
    LKS_BRIDGE_DRAIN,
    LKS_BRIDGE_RELEASE,
    LKS_BRIDGE_SIGNAL,
    LKS_BRIDGE_REQUEUE,
    LKS_BRIDGE_RESERVE,
    LKS_BRIDGE_UNRESERVE,
    LKS_BRIDGE_TRUTH,
    LKS_BRIDGE_POLICY,
    LKS_BRIDGE_EPOCH,
    LKS_BRIDGE_VERBS
};
extern const char *const lks_bridge_request_words[]; /* "health" ... "epoch", NULL */

/* As they came; NULL: no such header. */
struct lks_bridge_raw {
    const char *method, *path, *if_match, *epoch;
    const char *after, *id, *max; /* parameters of the query */
    unsigned epochs, if_matches;  /* such headers: two that differ could be read either way */
    struct lks_str body;
};

struct lks_bridge_request {
    enum lks_bridge_verb verb;
    char name[LKS_HOST_NAME_MAX + 1]; /* of the node or reservation, or the id of the job */
    char owner[LKS_DRAIN_REASON_OWNER_MAX + 1];
    char from[LKS_DRAIN_REASON_OWNER_MAX + 1]; /* of a drain: the owner of one of lockstep's that it
                                                  takes over; "": an open node is drained */
    char reason[LKS_DRAIN_REASON_MAX + 1];
    bool checkpoint; /* of a drain: a job that writes checkpoints may be ended behind the next one.
                        Slurm knows no checkpoints: nothing follows from it here */
    uint64_t revision, epoch;
    lks_ms started; /* of a request about a job: the run that is meant started then; 0: any run, as
                       controllers of before ask */
    int signal;
    bool batch;                      /* of a signal: to the batch script as well as to the steps */
    struct lks_bridge_runs_ask runs; /* which runs are asked for */
    struct lks_bridge_truth truth;   /* owned */
    struct lks_bridge_reserve reserve; /* owned */
    struct lks_bridge_policy policy;   /* owned */
};
void lks_bridge_request_fini(struct lks_bridge_request *r);

/* Whether it changes something. */
bool lks_bridge_request_writes(enum lks_bridge_verb verb);

/* On success the caller owes lks_bridge_request_fini(). NOT_FOUND: no such path. USAGE: not with
 * this method. INVALID: what `err` says. */
enum lks_code lks_bridge_request_read(const struct lks_bridge_raw *raw,
                                      struct lks_bridge_request *out,
                                      struct lks_err *err) LKS_MUST_CHECK;

#endif
