/*
 * What the API server of Kubernetes answers about a node; pods are in kubernetes_pods.h. An answer
 * that is about another object, that is cut off or that contradicts itself is refused with a line
 * that says so. Views are of the documents or of the answer.
 *
 * lockstep marks a node that it drains in three places: `spec.unschedulable`, a taint, and an
 * annotation with the owner. The taint counts: `kubectl uncordon` alone does not end a drain.
 */
#ifndef LKS_DRIVERS_KUBERNETES_READ_H
#define LKS_DRIVERS_KUBERNETES_READ_H

#include "codec/format/docs.h"
#include "drivers/sched/kubernetes_truth.h"
#include "port/sched.h"

#include <inttypes.h>

#define LKS_KUBERNETES_READ_MARK     "lockstep.dev/drain" /* the key of the taint and annotation */
#define LKS_KUBERNETES_READ_MANAGER  "lockstep"           /* our name in managedFields */
#define LKS_KUBERNETES_READ_VERSION  63                   /* bytes of a resourceVersion */
#define LKS_KUBERNETES_READ_TAINTS   8192                 /* bytes of the taints of others */
#define LKS_KUBERNETES_READ_CONTINUE 1024                 /* bytes of the place in a list */

/* A controller with a later epoch wrote the annotation of a drain: the node, that epoch, ours. */
#define LKS_KUBERNETES_READ_OUTDATED(node)                                                         \
    "node '" node "': a controller with epoch %" PRIu64 " drained it; this one has %" PRIu64       \
    ". If the store of lockstepd is new, see \"Epochs\" in docs/kubernetes.md"

enum lks_kubernetes_read {
    LKS_KUBERNETES_GOOD,     /* 200 or 201 */
    LKS_KUBERNETES_BUSY,     /* it did not even begin, and may say when to come again */
    LKS_KUBERNETES_BAD,      /* no answer, or one that says nothing: the outcome is open */
    LKS_KUBERNETES_DENIED,   /* the credentials are refused, or their user may not do this */
    LKS_KUBERNETES_MISSING,  /* there is no such node */
    LKS_KUBERNETES_CONFLICT, /* the node changed since it was read */
    LKS_KUBERNETES_GONE,     /* the place in a list is not known any more */
};

/* Which it is. `why` is one line, empty for a good one. */
enum lks_kubernetes_read lks_kubernetes_read_answer(const struct lks_http_response *answer,
                                                    char why[LKS_SCHED_REASON_MAX + 1]);

/* The annotation of a drain. */
struct lks_kubernetes_mark {
    bool valid; /* it names an owner */
    char owner[LKS_SCHED_OWNER_MAX + 1];
    uint64_t epoch; /* of the controller that wrote it; 0: unknown */
    lks_ms since;   /* 0: unknown */
};

/* False: it is no annotation of ours. */
bool lks_kubernetes_read_mark(struct lks_str text, struct lks_kubernetes_mark *out);

struct lks_kubernetes_node {
    bool unschedulable, tainted; /* by our taint */
    bool down;                   /* its kubelet is not ready, or does not report */
    bool crowded;                /* the taints of others are more than can be written back */
    struct lks_kubernetes_mark mark;
    struct lks_kubernetes_truth shown; /* what lockstep says of it */
    char version[LKS_KUBERNETES_READ_VERSION + 1];
    char cordoner[LKS_SCHED_OWNER_MAX + 1];      /* who set `unschedulable`; "": it does not say */
    char taints[LKS_KUBERNETES_READ_TAINTS + 1]; /* of others, as elements of a list in JSON */
};

/* The node in the body of a good answer. False, and `why`: it is about another, or cannot be read.
 */
bool lks_kubernetes_read_node(struct lks_str body, struct lks_str name,
                              struct lks_kubernetes_node *out, char why[LKS_SCHED_REASON_MAX + 1]);

/* For readers of other objects: one line of what is wrong; */
void lks_kubernetes_read_tell(char why[LKS_SCHED_REASON_MAX + 1], const char *format, ...)
    LKS_PRINTF(2, 3);

/* a text as a document, NULL: it cannot be read. `docs` is empty, and the caller owes
 * lks_docs_fini() in any case; */
const struct lks_doc *lks_kubernetes_read_json(struct lks_str text, struct lks_docs *docs,
                                               struct lks_err *err);

/* whether the object has this kind, a text with its quotes; */
bool lks_kubernetes_read_is(struct lks_str body, const char *quoted);

/* and whether a member is true. */
bool lks_kubernetes_read_truth(const struct lks_doc *map, const char *key);

/* A controller with a later epoch wrote the annotation of a drain, so this one does not lead any
 * more: the conversation fails. False: it may go on. */
bool lks_kubernetes_read_outdated(struct lks_conversation *c, const char *node,
                                  const struct lks_kubernetes_mark *mark, uint64_t epoch);

/* What a bearer token may have (RFC 6750); nothing of one is repeated in a message. */
enum lks_code lks_kubernetes_read_token(struct lks_str token, struct lks_err *err) LKS_MUST_CHECK;

#endif
