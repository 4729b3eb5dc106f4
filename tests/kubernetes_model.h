/* The simulated scheduler as an API server of Kubernetes would show it: nodes with a taint of
 * another owner, which writes have to keep, and jobs as pods beside others that do not count. */
#ifndef LKS_TESTS_KUBERNETES_MODEL_H
#define LKS_TESTS_KUBERNETES_MODEL_H

#include "lab/sched/schedsim.h"

#define KUBERNETES_MODEL_JOB "default/train-0" /* what the first job is called */

/* Faults of the simulated scheduler befall the requests. A write that loses a taint ends the test.
 */
void kubernetes_model_take(struct lks_schedsim *m, const struct lks_http_request *request,
                           struct lks_schedsim_reply *out);

#endif
