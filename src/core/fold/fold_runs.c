/* How records of runs are applied. */
#include "base/vec.h"
#include "core/fold/apply.h"
#include "core/fold/sets.h"
#include "core/state/runs.h"
#include "core/state/state.h"

enum { DROPPED_PART = 4, MOVED_BYTES = LKS_STATE_RUNS_MAX * 4 + 4096 };

static uint64_t next_row(const struct lks_runs *r)
{
    return r->next > 0 ? r->next : 1;
}

static void drop_texts(struct lks_state *s, struct lks_run *run)
{
    lks_text *const texts[] = {&run->job,  &run->user,  &run->account, &run->partition,
                               &run->name, &run->hosts, &run->digest,  &run->exit,
                               &run->by,   &run->reason};
    for (size_t i = 0; i < LKS_COUNT(texts); i++)
        lks_apply_drop(s, texts[i]);
}

static bool is_ahead(const struct lks_runs *r, const struct lks_run *run)
{
    for (uint32_t i = 0; i < r->place_count; i++) {
        if (lks_runs_is_ahead(run, &r->places[i]))
            return true;
    }
    return false;
}

/* Drop the first `most` rows, or those of them that are not ahead of their place. */
static void drop(struct lks_state *s, uint32_t most, bool ahead, uint32_t *moved)
{
    struct lks_runs *r = &s->runs;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        bool drops = i - kept < most && (ahead || !is_ahead(r, &r->list[i]));
        moved[i] = drops ? LKS_RUNS_DROPPED : kept;
        if (drops)
            drop_texts(s, &r->list[i]);
        else
            r->list[kept++] = r->list[i];
    }
    lks_runs_moved(r, moved);
    r->count = kept;
}

/* A run whose row is ahead of its place would be counted again if its row were dropped. Decisions
 * leave each place with less than LKS_RUNS_AHEAD of them; in a journal that was not made by them
 * they may be all rows, and the oldest are dropped then. */
static enum lks_code drop_oldest(const struct lks_applying *a)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = MOVED_BYTES};
    struct lks_runs *r = &a->s->runs;
    uint32_t count = r->count;
    uint32_t *moved = lks_arena_array(&arena, count, sizeof(*moved));
    if (moved == NULL)
        return lks_arena_fail(&arena, a->err);
    drop(a->s, count / DROPPED_PART, false, moved);
    if (r->count == count)
        drop(a->s, count / DROPPED_PART, true, moved);
    return LKS_OK;
}

static enum lks_code add(const struct lks_applying *a, struct lks_run made)
{
    struct lks_runs *r = &a->s->runs;
    if (r->count == LKS_STATE_RUNS_MAX && drop_oldest(a) != LKS_OK)
        return a->err->code;
    if (LKS_VEC_RESERVE_MAX(r->list, r->room, r->count + (size_t)1, LKS_STATE_RUNS_MAX, a->err) !=
        LKS_OK)
        return a->err->code;
    struct lks_run *run = &r->list[r->count++];
    *run = made;
    run->id = next_row(r);
    r->next = run->id + 1;
    if (lks_sets_apply(a, run) != LKS_OK)
        return a->err->code;
    return lks_runs_index(a->s, r->count - 1, a->err);
}

enum lks_code lks_fold_runs_index(const struct lks_applying *a)
{
    for (uint32_t i = 0; i < a->s->runs.count; i++) {
        if (lks_runs_index(a->s, i, a->err) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}

/* A run that has its row already is not counted again. */
enum lks_code lks_fold_job_ended(const struct lks_applying *a)
{
    const struct lks_rec_job_ended *r = &a->r->job_ended;
    if (r->state >= LKS_RUN_STATE_COUNT || r->cause >= LKS_RUN_CAUSE_COUNT ||
        lks_runs_find(a->s, r->site, r->job, r->started) != NULL)
        return LKS_OK;
    return add(a, (struct lks_run){.count = 1});
}

enum lks_code lks_fold_job_batch(const struct lks_applying *a)
{
    const struct lks_rec_job_batch *r = &a->r->job_batch;
    if (r->state >= LKS_RUN_STATE_COUNT || r->cause >= LKS_RUN_CAUSE_COUNT || r->count == 0)
        return LKS_OK;
    return add(a, (struct lks_run){0});
}

/* Where the place of a scheduler is kept. A place of one that is asked is at most LKS_RUNS_IDLE
 * old, and there are no more of them than places: the oldest is of one that is not asked any more.
 */
static enum lks_code make_place(const struct lks_applying *a, struct lks_runs_place **out)
{
    struct lks_runs *all = &a->s->runs;
    if (all->place_count < LKS_STATE_RUNS_PLACES_MAX) {
        if (LKS_VEC_RESERVE_MAX(all->places, all->place_room, all->place_count + (size_t)1,
                                LKS_STATE_RUNS_PLACES_MAX, a->err) != LKS_OK)
            return a->err->code;
        LKS_ASSERT(all->places != NULL);
        *out = &all->places[all->place_count++];
    } else {
        LKS_ASSERT(all->places != NULL);
        *out = &all->places[0];
        for (uint32_t i = 1; i < all->place_count; i++)
            *out = all->places[i].recorded < (*out)->recorded ? &all->places[i] : *out;
        lks_apply_drop(a->s, &(*out)->job);
    }
    **out = (struct lks_runs_place){0};
    return LKS_OK;
}

enum lks_code lks_fold_runs_read(const struct lks_applying *a)
{
    const struct lks_rec_runs_read *r = &a->r->runs_read;
    struct lks_runs *all = &a->s->runs;
    const struct lks_runs_place *there = lks_runs_place(a->s, r->site, r->sched);
    struct lks_runs_place *place = there != NULL ? &all->places[there - all->places] : NULL;
    if (place == NULL && make_place(a, &place) != LKS_OK)
        return a->err->code;
    LKS_ASSERT(place != NULL);
    if (r->missing_until != 0) {
        place->missing_from = r->missing_from;
        place->missing_until = r->missing_until;
    }
    place->row = next_row(all);
    return lks_sets_apply(a, place);
}
