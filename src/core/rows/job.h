/* An override: a job that may start on nodes that admission would refuse. */
#ifndef LKS_ROWS_JOB_H
#define LKS_ROWS_JOB_H

#include "base/time.h"
#include "core/rows/text.h"

#define LKS_STATE_OVERRIDES_MAX 10000 /* at this many, older ended ones are dropped */

struct lks_override {
    lks_text job, hosts, reason, by;
    lks_ms until;
};

#endif
