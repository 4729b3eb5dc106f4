/* Which runs of jobs a caller may read who does not read the whole fleet: for work in the thread
 * pool, which has no state. The rule is that of GET /v1/jobs: the pool and the site of the run, and
 * all of its nodes. */
#ifndef LKS_SERVER_RUNS_SIGHT_H
#define LKS_SERVER_RUNS_SIGHT_H

#include "base/err.h"

#include <stdbool.h>

struct lks_authz;
struct lks_call;
struct lks_rec_job_ended;
struct lks_runs_sight;

/* What the caller reads by the state; owned by the caller, for lks_runs_sight_free(). `*out` is
 * NULL if the caller reads the whole fleet. */
enum lks_code lks_runs_sight_new(const struct lks_authz *authz, const struct lks_call *call,
                                 struct lks_runs_sight **out, struct lks_err *err) LKS_MUST_CHECK;
void lks_runs_sight_free(void *sight);

/* Whether the caller reads that run; NULL reads all. Not for two threads at a time. */
bool lks_runs_sight_shows(struct lks_runs_sight *v, const struct lks_rec_job_ended *run);

#endif
