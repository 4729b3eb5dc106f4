/*
 * Requests to the bridge, as a table of routes: read from method, path, headers and body into one
 * struct, or refused with a line that says what to do.
 *
 *     GET  /v1/health, /v1/nodes, /v1/nodes/NAME, /v1/jobs
 *     PUT  /v1/nodes/NAME/drain    {owner, reason, checkpoint}   If-Match: "REVISION"
 *     POST /v1/nodes/NAME/release  {owner}                       If-Match: "REVISION"
 *     POST /v1/jobs/ID/signal      {signal, batch}
 *     POST /v1/jobs/ID/requeue
 *
 * Whatever changes something carries Lockstep-Epoch: N.
 */
#ifndef LKS_BRIDGE_REQUEST_H
#define LKS_BRIDGE_REQUEST_H

#include "bridge/view/drain.h"
#include "codec/notation/hostlist.h"

#define LKS_BRIDGE_BODY_MAX ((size_t)16 << 10)

enum lks_bridge_verb {
    LKS_BRIDGE_HEALTH,
    LKS_BRIDGE_NODES,
    LKS_BRIDGE_NODE,
    LKS_BRIDGE_JOBS,
    LKS_BRIDGE_DRAIN,
    LKS_BRIDGE_RELEASE,
    LKS_BRIDGE_SIGNAL,
    LKS_BRIDGE_REQUEUE,
    LKS_BRIDGE_VERBS
};
extern const char *const lks_bridge_request_words[]; /* "health" ... "requeue", NULL */

/* As they came; NULL: no such header. */
struct lks_bridge_raw {
    const char *method, *path, *if_match, *epoch;
    struct lks_str body;
};

struct lks_bridge_request {
    enum lks_bridge_verb verb;
    char name[LKS_HOST_NAME_MAX + 1]; /* of the node, or the id of the job */
    char owner[LKS_BRIDGE_OWNER_MAX + 1];
    char reason[LKS_BRIDGE_REASON_MAX + 1];
    bool checkpoint; /* of a drain: a job that writes checkpoints may be ended behind the next one.
                        Slurm knows no checkpoints: nothing follows from it here */
    uint64_t revision, epoch;
    int signal;
    bool batch; /* of a signal: to the batch script as well as to the steps */
};

/* Whether it changes something. */
bool lks_bridge_request_writes(enum lks_bridge_verb verb);

/* NOT_FOUND: no such path. USAGE: not with this method. INVALID: what `err` says. */
enum lks_code lks_bridge_request_read(const struct lks_bridge_raw *raw,
                                      struct lks_bridge_request *out,
                                      struct lks_err *err) LKS_MUST_CHECK;

#endif
