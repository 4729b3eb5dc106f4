#include "core/state/refusals.h"

#include "base/vec.h"
#include "core/state/state.h"

#include <stdlib.h>

void lks_refusals_fini(struct lks_refusals *r)
{
    free(r->list);
    free(r->order);
    *r = (struct lks_refusals){0};
}

/* The index of the last day: by pool, users before nodes, then by the others. */
static int compare_sort(const struct lks_state *s, const struct lks_refusal *row,
                        struct lks_str pool, bool of_nodes)
{
    int order = lks_str_cmp(lks_state_text(s, row->pool), pool);
    return order != 0 ? order : (row->node != 0) - of_nodes;
}

static int compare(const struct lks_state *s, const struct lks_refusal *row,
                   const struct lks_rec_refusal *of)
{
    int order = compare_sort(s, row, of->pool, of->node.len > 0);
    if (order == 0 && row->bar != of->bar)
        order = row->bar < of->bar ? -1 : 1;
    if (order == 0)
        order = lks_str_cmp(lks_state_text(s, row->node), of->node);
    if (order == 0)
        order = lks_str_cmp(lks_state_text(s, row->user), of->user);
    return order != 0 ? order : lks_str_cmp(lks_state_text(s, row->image), of->image);
}

static bool has_day(const struct lks_refusals *r, uint64_t day)
{
    return r->order_count > 0 && r->list[r->order[0]].day == day;
}

static uint32_t place_of(const struct lks_state *s, const struct lks_rec_refusal *of)
{
    const struct lks_refusals *r = &s->refusals;
    uint32_t i = 0;
    LKS_VEC_PLACE(i, r->order_count, compare(s, &r->list[r->order[i]], of) < 0);
    return i;
}

enum lks_code lks_refusals_index(struct lks_state *s, uint32_t at, struct lks_err *err)
{
    struct lks_refusals *r = &s->refusals;
    const struct lks_refusal *row = &r->list[at];
    const struct lks_rec_refusal of = {.pool = lks_state_text(s, row->pool),
                                       .bar = row->bar,
                                       .user = lks_state_text(s, row->user),
                                       .image = lks_state_text(s, row->image),
                                       .node = lks_state_text(s, row->node)};
    if (!has_day(r, row->day))
        r->order_count = 0;
    uint32_t place = place_of(s, &of);
    if (LKS_VEC_INSERT(r->order, r->order_room, r->order_count, place, LKS_STATE_REFUSALS_MAX,
                       err) != LKS_OK)
        return err->code;
    r->order[place] = at;
    return LKS_OK;
}

void lks_refusals_unindex(struct lks_refusals *r, uint32_t dropped)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->order_count; i++) {
        if (r->order[i] >= dropped)
            r->order[kept++] = r->order[i] - dropped;
    }
    r->order_count = kept;
}

const struct lks_refusal *lks_refusals_find(const struct lks_state *s, uint64_t day,
                                            const struct lks_rec_refusal *of)
{
    const struct lks_refusals *r = &s->refusals;
    if (!has_day(r, day))
        return NULL;
    uint32_t i = place_of(s, of);
    if (i == r->order_count || compare(s, &r->list[r->order[i]], of) != 0)
        return NULL;
    return &r->list[r->order[i]];
}

uint32_t lks_refusals_rows(const struct lks_state *s, uint64_t day, struct lks_str pool,
                           bool of_nodes)
{
    const struct lks_refusals *r = &s->refusals;
    uint32_t first = 0, end = 0;
    if (!has_day(r, day))
        return 0;
    LKS_VEC_PLACE(first, r->order_count,
                  compare_sort(s, &r->list[r->order[first]], pool, of_nodes) < 0);
    LKS_VEC_PLACE(end, r->order_count,
                  compare_sort(s, &r->list[r->order[end]], pool, of_nodes) <= 0);
    return end - first;
}
