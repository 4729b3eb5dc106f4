/* Lookups in the runs of jobs that the state keeps. */
#ifndef LKS_CORE_STATE_RUNS_H
#define LKS_CORE_STATE_RUNS_H

#include "base/err.h"
#include "base/str.h"
#include "core/rows/run.h"

#include <stdbool.h>

struct lks_state;

void lks_runs_fini(struct lks_runs *r);

/* How far the runs of a scheduler are counted; NULL: none was. */
const struct lks_runs_place *lks_runs_place(const struct lks_state *s, struct lks_str site,
                                            struct lks_str sched);

/* The row of a run; NULL: it has none of its own, or was dropped. */
const struct lks_run *lks_runs_find(const struct lks_state *s, struct lks_str site,
                                    struct lks_str job, lks_ms started);

/* Let lks_runs_find() find the row at this place of the list, the last one so far. */
enum lks_code lks_runs_index(struct lks_state *s, uint32_t at, struct lks_err *err) LKS_MUST_CHECK;

/* Rows of the list moved: `moved` has the place that each has now, or LKS_RUNS_DROPPED. */
#define LKS_RUNS_DROPPED UINT32_MAX
void lks_runs_moved(struct lks_runs *r, const uint32_t *moved);

/* Whether it is the row of one run that is ahead of the place of its scheduler: the run comes again
 * with the next answer, and its row says that it is counted. */
bool lks_runs_is_ahead(const struct lks_run *run, const struct lks_runs_place *place);

/* How many of them a scheduler has. */
uint32_t lks_runs_ahead(const struct lks_state *s, const struct lks_runs_place *place);

/* Whether something else than the job, its limits or its user ended a run. */
bool lks_runs_interrupted(enum lks_run_cause cause);

#endif
