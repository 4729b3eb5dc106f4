/*
 * Which runs of jobs get a row of the journal of their own, and which are counted together.
 *
 * An answer of a scheduler is taken as a whole: the rows of all its runs that have none yet, and
 * the place behind its last run, are one decision. An answer about runs behind another place than
 * that of the state, which came twice or late or was asked for by another controller, changes
 * nothing. So no run is counted twice, and a run is missed only where the scheduler's bridge says
 * that some may be missing.
 *
 * An answer is not taken before its first run is LKS_RUNS_WAIT old: the next answer has the same
 * runs and others, and those without a row of their own become one row. Where many jobs end, each
 * row stands for up to LKS_SCHED_RUNS_PAGE of them. Meanwhile runs with a row of their own get it
 * ahead of the place, which stays. They come again with the next answer, and the state has their
 * rows: it does not drop these. With the LKS_RUNS_AHEAD-th of them the answer is taken.
 */
#ifndef LKS_CORE_DECIDE_RUNS_H
#define LKS_CORE_DECIDE_RUNS_H

#include "core/sched/runs.h"

struct lks_state;

#define LKS_RUNS_WAIT     (600 * LKS_SECOND)
#define LKS_RUNS_IDLE     (3600 * LKS_SECOND) /* so often a place is recorded without runs */
#define LKS_RUNS_OWN_MS   (600 * LKS_SECOND)  /* a run that long has a row of its own, and one of */
#define LKS_RUNS_OWN_GPUS (3600 * LKS_SECOND) /* so many GPU-ms; and each that was interrupted */
#define LKS_RUNS_OWN_HOUR 600 /* rows of their own of a pool in an hour; others are counted */
#define LKS_RUNS_GROUPS   64  /* rows for runs that are counted together, of an answer */
#define LKS_RUNS_AHEAD    64  /* rows of their own ahead of a place: it is moved then */
#define LKS_RUNS_BACK     (60 * LKS_SECOND) /* a clock that is so far behind was set back */

/* Behind which place the runs of a scheduler are asked for; texts are views of the state. */
struct lks_sched_runs_place lks_decide_runs_after(const struct lks_state *s, struct lks_str site,
                                                  struct lks_str sched);

#endif
