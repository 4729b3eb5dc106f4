/* Variables that libraries of collectives and their transports read from the environment. */
#ifndef LKS_CODEC_COLLECTIVE_ENV_H
#define LKS_CODEC_COLLECTIVE_ENV_H

#include "base/str.h"

/* Whether a stack may set this variable in jobs: no other one, so that a stack cannot set
 * LD_PRELOAD in jobs of users. */
bool lks_collective_env_is(struct lks_str name);

#endif
