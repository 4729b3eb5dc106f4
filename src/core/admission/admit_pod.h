/*
 * May this pod of Kubernetes be created, and what is added to it.
 *
 * A pod that uses no GPUs, belongs to its node, or goes to nodes that the fleet does not have is no
 * concern of lockstep. The pools of another pod are those of the nodes that it names, else the pool
 * that its annotation or node selector lockstep.dev/pool names, else the pools with a stack of the
 * digest that it selects (lockstep.dev/digest), else all with `sched: kubernetes`. Where several
 * remain, a reason counts if all of them have one, and refuses if all of them enforce.
 *
 * Reasons: the nodes that it names are not admitted, its images do not fit the stack or are too
 * many, no stack has the digest that it selects. Other nodes are the scheduler's choice, by what is
 * added to the pod.
 */
#ifndef LKS_CORE_ADMIT_POD_H
#define LKS_CORE_ADMIT_POD_H

#include "base/buf.h"
#include "codec/kubernetes/pod.h"
#include "core/admission/admit.h"

#define LKS_ADMIT_POD_POOLS_MAX  64 /* that are looked at for one pod */
#define LKS_ADMIT_POD_IMAGES_MAX 16 /* different ones of one pod; more are a reason */
#define LKS_ADMIT_POD_SCHED      "kubernetes"

struct lks_admit_pod_ask {
    const struct lks_pod *pod;
    struct lks_str space, user; /* its namespace, and who creates it */
    lks_ms behind;              /* as in lks_admit_ask */
};

struct lks_admit_pod {
    struct lks_admit answer;  /* its lists are those of jobs; without a time until which it holds */
    bool concerns;            /* false: allowed, and nothing is added */
    bool enforces;            /* all of its pools do */
    bool several;             /* pools that do not all enforce: it has to name one */
    bool unknown_pool;        /* it names a pool that is none */
    uint32_t pool;            /* the only one; UINT32_MAX: there are several */
    struct lks_str pool_name; /* its name; empty: there are several */
    struct lks_str job, user; /* as they are counted and logged; in the arena of the answer */
    struct lks_admit_image *images; /* of containers that use GPUs; there, too */
    size_t image_count;
};

/* On success the caller owes lks_admit_pod_fini(). Texts are views of the state, the pod and the
 * arena of the answer. */
enum lks_code lks_admit_pod(const struct lks_state *s, const struct lks_book *book,
                            struct lks_now now, const struct lks_admit_pod_ask *ask,
                            struct lks_admit_pod *out, struct lks_err *err) LKS_MUST_CHECK;
void lks_admit_pod_fini(struct lks_admit_pod *a);

/* What is added to it, appended as a JSON patch; nothing where its pools do not all enforce. */
enum lks_code lks_admit_pod_patch(const struct lks_state *s, const struct lks_book *book,
                                  const struct lks_admit_pod *a, const struct lks_pod *pod,
                                  struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

/* The next container that gets no environment of the stack although its pool has one, as it may be
 * in `envFrom`; `*at` is 0 at first. NULL: there is none. */
const struct lks_pod_container *lks_admit_pod_unset(const struct lks_state *s,
                                                    const struct lks_book *book,
                                                    const struct lks_admit_pod *a,
                                                    const struct lks_pod *pod, size_t *at);

#endif
