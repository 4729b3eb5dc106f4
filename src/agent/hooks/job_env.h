/*
 * Which value a variable of a job gets that its node's stack pins. Pure.
 *
 * What the job sets wins over the stack, unless the site forces the stack. A step of srun, and a
 * job that another one submits, inherit what the stack of an earlier node set. LOCKSTEP_ENV has a
 * hash of each such value: a value with that hash is the stack's, and any other one the job's.
 */
#ifndef LKS_AGENT_JOB_ENV_H
#define LKS_AGENT_JOB_ENV_H

#include "base/str.h"

#include <stdint.h>

#define LKS_JOB_ENV_LIST      "LOCKSTEP_ENV" /* words NAME=job, NAME=stack:HASH, NAME=forced:HASH */
#define LKS_JOB_ENV_MORE_SIZE 18 /* of a word behind its name, with a blank and the final 0 */

enum lks_job_env_source {
    LKS_JOB_ENV_STACK,  /* the job does not set it */
    LKS_JOB_ENV_JOB,    /* the job does, and keeps its value */
    LKS_JOB_ENV_FORCED, /* the job does, and gets the stack's value all the same */
    LKS_JOB_ENV_COUNT
};

/* Take the next variable off `rest`, which starts as the LOCKSTEP_ENV that a job inherited: its
 * name, and the hash of the value that a stack set. Words of other forms are skipped; false at the
 * end. */
bool lks_job_env_next(struct lks_str *rest, struct lks_str *name, uint32_t *hash);
uint32_t lks_job_env_hash(struct lks_str value);

/* `set`: the job has a value of the variable, which no stack set. */
enum lks_job_env_source lks_job_env_decide(bool set, bool force);

/* The word of LOCKSTEP_ENV behind NAME, such as "=stack:1a2b3c4d"; `value` is what was set. */
void lks_job_env_word(enum lks_job_env_source source, struct lks_str value,
                      char out[LKS_JOB_ENV_MORE_SIZE]);

#endif
