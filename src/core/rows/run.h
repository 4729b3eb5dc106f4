/* A run of a job that ended, or several that are counted together; and up to which place the runs
 * of a scheduler are counted. */
#ifndef LKS_ROWS_RUN_H
#define LKS_ROWS_RUN_H

#include "base/time.h"
#include "core/rows/text.h"
#include "model/record/record_words.h"

/* At this many rows the oldest quarter is dropped, except those that are ahead of their place. */
#define LKS_STATE_RUNS_MAX        20000
#define LKS_STATE_RUNS_PLACES_MAX 256

struct lks_run {
    uint64_t id;
    uint64_t count; /* runs that it stands for; 1: the members below are of this one */
    lks_text job, site, sched, user, account, partition, name, pool, hosts;
    uint32_t nodes, gpus;
    lks_text digest; /* of stacks, separated by blanks */
    lks_ms started, ended;
    enum lks_run_state state;
    lks_text exit;
    uint32_t restarts;
    uint64_t gpu_ms;
    enum lks_run_cause cause;
    lks_text by, reason;
    lks_ms recorded;
};

struct lks_runs_place {
    lks_text site, sched;
    lks_ms at;
    lks_text job;
    lks_ms missing_from, missing_until; /* the last gap; 0: none yet */
    lks_ms recorded;
    uint64_t row; /* the first id that rows had after that */
};

struct lks_runs {
    struct lks_run *list; /* owned, as are the others; by rising id */
    uint32_t count, room;
    uint32_t *order; /* places of rows that stand for one run, for lks_runs_find() */
    uint32_t order_count, order_room;
    uint64_t next;                 /* id; 0: 1 */
    struct lks_runs_place *places; /* by site and scheduler, in no order */
    uint32_t place_count, place_room;
};

#endif
