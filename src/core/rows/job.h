/* A job that a person let start although its nodes were refused. */
#ifndef LKS_ROWS_JOB_H
#define LKS_ROWS_JOB_H

#include "base/time.h"
#include "core/rows/text.h"

#define LKS_STATE_OVERRIDES_MAX 10000 /* at this many, the older ended ones make room */

struct lks_override {
    lks_text job, hosts, reason, by;
    lks_ms until;
};

#endif
