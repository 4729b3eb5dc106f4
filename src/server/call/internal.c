#include "server/call/internal.h"

#include <stdlib.h>

void lks_internal_free(struct lks_internal *own)
{
    if (own == NULL)
        return;
    lks_arena_fini(&own->arena);
    lks_sched_jobs_fini(&own->site.jobs);
    lks_sched_runs_fini(&own->site.runs);
    lks_sched_reservations_fini(&own->site.reservations);
    if (own->round != NULL)
        lks_gate_round_fini(own->round);
    free(own->round);
    free(own);
}
