#include "core/state/runs.h"

#include "base/vec.h"
#include "core/state/state.h"

#include <stdlib.h>

void lks_runs_fini(struct lks_runs *r)
{
    free(r->list);
    free(r->order);
    free(r->places);
    *r = (struct lks_runs){0};
}

const struct lks_runs_place *lks_runs_place(const struct lks_state *s, struct lks_str site,
                                            struct lks_str sched)
{
    return LKS_VEC_FIND(s->runs.places, s->runs.place_count, it,
                        lks_str_eq(lks_state_text(s, it->site), site) &&
                            lks_str_eq(lks_state_text(s, it->sched), sched));
}

/* The index of rows of one run ----------------------------------------------------------------- */

struct key {
    struct lks_str site, job;
    lks_ms started;
};

static int compare(const struct lks_state *s, uint32_t at, const struct key *key)
{
    const struct lks_run *run = &s->runs.list[at];
    if (run->started != key->started)
        return run->started < key->started ? -1 : 1;
    int order = lks_str_cmp(lks_state_text(s, run->job), key->job);
    return order != 0 ? order : lks_str_cmp(lks_state_text(s, run->site), key->site);
}

static uint32_t place_of(const struct lks_state *s, const struct key *key)
{
    uint32_t i = 0;
    LKS_VEC_PLACE(i, s->runs.order_count, compare(s, s->runs.order[i], key) < 0);
    return i;
}

enum lks_code lks_runs_index(struct lks_state *s, uint32_t at, struct lks_err *err)
{
    struct lks_runs *r = &s->runs;
    const struct lks_run *run = &r->list[at];
    const struct key key = {lks_state_text(s, run->site), lks_state_text(s, run->job),
                            run->started};
    if (run->count != 1)
        return LKS_OK;
    uint32_t place = place_of(s, &key);
    if (LKS_VEC_INSERT(r->order, r->order_room, r->order_count, place, LKS_STATE_RUNS_MAX, err) !=
        LKS_OK)
        return err->code;
    r->order[place] = at;
    return LKS_OK;
}

void lks_runs_moved(struct lks_runs *r, const uint32_t *moved)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->order_count; i++) {
        if (moved[r->order[i]] != LKS_RUNS_DROPPED)
            r->order[kept++] = moved[r->order[i]];
    }
    r->order_count = kept;
}

/* Rows that count several runs have no nodes. */
bool lks_runs_is_ahead(const struct lks_run *run, const struct lks_runs_place *place)
{
    return run->id >= place->row && run->hosts != 0 && run->site == place->site &&
           run->sched == place->sched;
}

uint32_t lks_runs_ahead(const struct lks_state *s, const struct lks_runs_place *place)
{
    uint32_t count = 0;
    for (uint32_t i = s->runs.count; i-- > 0 && s->runs.list[i].id >= place->row;)
        count += lks_runs_is_ahead(&s->runs.list[i], place);
    return count;
}

const struct lks_run *lks_runs_find(const struct lks_state *s, struct lks_str site,
                                    struct lks_str job, lks_ms started)
{
    const struct key key = {site, job, started};
    uint32_t i = place_of(s, &key);
    if (i == s->runs.order_count || compare(s, s->runs.order[i], &key) != 0)
        return NULL;
    return &s->runs.list[s->runs.order[i]];
}

bool lks_runs_interrupted(enum lks_run_cause cause)
{
    return cause == LKS_RUN_BY_LOCKSTEP || cause == LKS_RUN_BY_NODE ||
           cause == LKS_RUN_BY_PREEMPTION || cause == LKS_RUN_BY_REQUEUE;
}
