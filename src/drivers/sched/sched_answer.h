/* What the drivers of bridges have in common: refusals, and answers that are no good. */
#ifndef LKS_DRIVERS_SCHED_ANSWER_H
#define LKS_DRIVERS_SCHED_ANSWER_H

#include "port/sched.h"

/* What an answer says besides its result. */
struct lks_sched_answer {
    int status;     /* 0: none came */
    bool busy;      /* nothing was done, and it may be asked again */
    uint64_t epoch; /* 409: the highest that the bridge has seen; 0: another reason */
    bool other_run; /* 409: the run of the job that is meant is not there any more */
    char why[LKS_SCHED_REASON_MAX + 1]; /* its own line about a failure; empty for 200 */
};

/* `answer` may be NULL. */
void lks_sched_answer_read(const struct lks_http_response *answer, struct lks_sched_answer *out);

/* The same step again at `until`; after the last try the failure names `why`. */
void lks_sched_answer_retry(struct lks_conversation *c, lks_ms until, const char *why);

/* Another controller leads, and this one may not write any more: `subject` is what it was to write
 * to. False: the answer does not say that. */
bool lks_sched_answer_outdated(struct lks_conversation *c, const struct lks_sched_answer *answer,
                               uint64_t epoch, const char *subject);

#endif
