/* The simulated scheduler as an API server of Kubernetes would show it: nodes with a taint and a
 * label of another owner, which writes have to keep, and jobs as pods beside others that do not
 * count. What lockstep says of nodes is the model's own: the simulated scheduler shows none. */
#ifndef LKS_TESTS_KUBERNETES_MODEL_H
#define LKS_TESTS_KUBERNETES_MODEL_H

#include "drivers/sched/kubernetes_truth.h"
#include "lab/sched/schedsim.h"

#define KUBERNETES_MODEL_JOB    "default/train-0" /* what the first job is called */
#define KUBERNETES_MODEL_NO_JOB "default/none#00000000"
#define KUBERNETES_MODEL_NODES  2

/* What an API server does besides the faults of the simulated scheduler; zeroes are none. Where a
 * number is, so many requests meet it. */
struct kubernetes_model_faults {
    const char *budget; /* of this name, and it never allows an eviction */
    unsigned gone;      /* second pages of lists whose place is forgotten */
    unsigned busy;      /* evictions that are answered with 429 and Retry-After */
    unsigned replaced;  /* pods that are another one of their name when they are evicted */
    bool stuck;         /* pods that are evicted do not end */
    unsigned evicted;   /* kept by the model: evictions that it took */
};
extern struct kubernetes_model_faults kubernetes_model_faults;

struct kubernetes_model {
    struct lks_schedsim sim; /* first */
    struct kubernetes_model_shown {
        char labels[LKS_KUBERNETES_TRUTH_LABELS][LKS_KUBERNETES_TRUTH_VALUE + 1];
        char digest[LKS_SCHED_DIGEST_MAX + 1];
        char status[8], reason[32], message[LKS_SCHED_NOTE_MAX + 1], since[LKS_TIME_TEXT_SIZE];
    } shown[KUBERNETES_MODEL_NODES];
};

/* Faults of the simulated scheduler befall the requests. A write that loses a taint, or that writes
 * a key of another owner, ends the test. */
void kubernetes_model_take(struct kubernetes_model *k, const struct lks_http_request *request,
                           struct lks_schedsim_reply *out);

#endif
