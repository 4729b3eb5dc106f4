/* The simulated scheduler as slurmrestd would show it: answers have the members that the driver
 * reads, in the form of the given version, as a real slurmrestd wrote them (tests/slurmrestd). */
#ifndef LKS_TESTS_SLURMRESTD_MODEL_H
#define LKS_TESTS_SLURMRESTD_MODEL_H

#include "lab/sched/schedsim.h"

#define SLURMRESTD_MODEL_USER "slurm"

/* What a server that has this version and no other answers. Faults of the simulated scheduler
 * befall the requests. Jobs are those of the
 * first node. */
void slurmrestd_model_take(struct lks_schedsim *m, const char *version,
                           const struct lks_http_request *request, struct lks_schedsim_reply *out);

#endif
