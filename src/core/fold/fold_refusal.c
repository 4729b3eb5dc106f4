/* How records of refusals are applied: the state keeps today and the seven days before. */
#include "base/vec.h"
#include "core/fold/apply.h"
#include "core/fold/sets.h"
#include "core/rows/pool.h"
#include "core/state/refusals.h"
#include "core/state/state.h"

#define DAY ((lks_ms)24 * 3600 * LKS_SECOND)

enum { DROPPED_PART = 4 };

static void drop_first(struct lks_state *s, uint32_t dropped)
{
    struct lks_refusals *r = &s->refusals;
    for (uint32_t i = 0; i < dropped; i++) {
        lks_text *const texts[] = {&r->list[i].pool, &r->list[i].user, &r->list[i].image,
                                   &r->list[i].node};
        for (size_t k = 0; k < LKS_COUNT(texts); k++)
            lks_apply_drop(s, texts[k]);
    }
    for (uint32_t i = dropped; dropped > 0 && i < r->count; i++)
        r->list[i - dropped] = r->list[i];
    r->count -= dropped;
    if (dropped > 0)
        lks_refusals_unindex(r, dropped);
}

enum lks_code lks_fold_refusals_index(const struct lks_applying *a)
{
    const struct lks_refusals *r = &a->s->refusals;
    for (uint32_t i = 0; i < r->count; i++) {
        if (r->list[i].day == r->list[r->count - 1].day &&
            lks_refusals_index(a->s, i, a->err) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}

enum lks_code lks_fold_refusal(const struct lks_applying *a)
{
    const struct lks_rec_refusal *from = &a->r->refusal;
    struct lks_refusals *r = &a->s->refusals;
    uint64_t day = a->time / DAY;
    uint32_t old = 0;
    if (from->bar >= LKS_BAR_COUNT || (r->count > 0 && r->list[r->count - 1].day > day))
        return LKS_OK;
    while (old < r->count && r->list[old].day + LKS_STATE_DAYS <= day)
        old++;
    drop_first(a->s, old);
    const struct lks_refusal *there = lks_refusals_find(a->s, day, from);
    if (there != NULL) {
        r->list[there - r->list].count += from->count;
        return LKS_OK;
    }
    if (r->count == LKS_STATE_REFUSALS_MAX)
        drop_first(a->s, LKS_STATE_REFUSALS_MAX / DROPPED_PART);
    if (LKS_VEC_RESERVE_MAX(r->list, r->room, r->count + (size_t)1, LKS_STATE_REFUSALS_MAX,
                            a->err) != LKS_OK)
        return a->err->code;
    struct lks_refusal *row = &r->list[r->count++];
    *row = (struct lks_refusal){.day = day, .count = from->count};
    if (lks_sets_apply(a, row) != LKS_OK)
        return a->err->code;
    return lks_refusals_index(a->s, r->count - 1, a->err);
}
