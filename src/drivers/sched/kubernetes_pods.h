/*
 * Lists of pods, as the API server of Kubernetes answers them page by page. Each page is read one
 * pod at a time; one that is cut off or has something else than pods is refused with a line that
 * says so. Views are of the pod that is read.
 *
 * The pods that count as jobs use GPUs or have a ResourceClaim, have not ended, and do not belong
 * to the node itself: those of a DaemonSet and static pods do.
 */
#ifndef LKS_DRIVERS_KUBERNETES_PODS_H
#define LKS_DRIVERS_KUBERNETES_PODS_H

#include "drivers/sched/kubernetes_read.h"

#define LKS_KUBERNETES_PODS_NAMESPACE 63
#define LKS_KUBERNETES_PODS_NAME      253
#define LKS_KUBERNETES_PODS_UID       36
#define LKS_KUBERNETES_PODS_UID_SHORT 8 /* characters of the uid that are in an id */
#define LKS_KUBERNETES_PODS_ID                                                                     \
    (LKS_KUBERNETES_PODS_NAMESPACE + 1 + LKS_KUBERNETES_PODS_NAME + 1 +                            \
     LKS_KUBERNETES_PODS_UID_SHORT)

struct lks_kubernetes_pod {
    struct lks_str namespace, name, uid, node; /* node: empty, it is not bound */
    struct lks_str kind, owner;                /* what it is a part of; both empty: nothing */
    bool counts;                               /* as a job */
    bool controlled;                           /* its controller makes it again */
    bool keeps;                                /* it is annotated not to be evicted */
    uint32_t gpus;                             /* or LKS_SCHED_JOBS_UNKNOWN */
    lks_ms started, ends;                      /* 0: unknown */
    lks_ms deleted; /* when its grace ends; 0: it was neither deleted nor evicted */
};

/* Called for each pod of a page. False, and `why`: the page is refused. */
typedef bool lks_kubernetes_pods_take(void *context, const struct lks_kubernetes_pod *pod,
                                      char why[LKS_SCHED_REASON_MAX + 1]);

/* The pods in the body of a good answer, and where the next page begins; "": that was all. False,
 * and `why`: it cannot be read, though some of its pods may have been taken. */
bool lks_kubernetes_pods_page(struct lks_str body, lks_kubernetes_pods_take *take, void *context,
                              char more[LKS_KUBERNETES_READ_CONTINUE + 1],
                              char why[LKS_SCHED_REASON_MAX + 1]);

/* What a pod is called as a job: "NAMESPACE/NAME#" and the first characters of its uid, so that a
 * pod of the same name that comes later is another one. */
void lks_kubernetes_pods_id(const struct lks_kubernetes_pod *pod,
                            char out[LKS_KUBERNETES_PODS_ID + 1]);

/* The parts of such a name. False: it is none. */
bool lks_kubernetes_pods_named(struct lks_str id, struct lks_str *namespace, struct lks_str *name);

/* The pods on one node that count as jobs. Zeroes before the first page. */
struct lks_kubernetes_pods {
    uint32_t count;
    bool endless;                                /* one of them has no deadline */
    lks_ms ends;                                 /* the last of the others may run until then */
    char first[LKS_SCHED_OWNER_MAX + 1];         /* "NAMESPACE/NAME" */
    char more[LKS_KUBERNETES_READ_CONTINUE + 1]; /* where the next page begins; "": that was all */
};

/* Add those of a page. False, and `why`: it cannot be read, or has a pod of another node. */
bool lks_kubernetes_pods_count(struct lks_str body, struct lks_str node,
                               struct lks_kubernetes_pods *to, char why[LKS_SCHED_REASON_MAX + 1]);

#endif
