/* Records about who stands behind a change: votes, and what began without them. */
#include "base/vec.h"
#include "core/fold/sets.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/state/change_room.h"
#include "core/state/state.h"
#include "model/record/record.h"

/* Where the vote of `by` is; vote_count: there is none. */
static uint32_t vote_of(const struct lks_applying *a, const struct lks_state_change *c,
                        struct lks_str by)
{
    uint32_t i = 0;
    while (i < c->vote_count && !lks_str_eq(lks_state_text(a->s, c->votes[i].by), by))
        i++;
    return i;
}

/* One each: who votes again has changed their mind, or says again what is too old. */
enum lks_code lks_apply_change_voted(const struct lks_applying *a)
{
    const struct lks_rec_change_voted *from = &a->r->change_voted;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    uint32_t at = c == NULL ? LKS_CHANGE_VOTES : vote_of(a, c, from->by);
    if (at == LKS_CHANGE_VOTES)
        return LKS_OK;
    c->vote_count += at == c->vote_count;
    c->looked = 0;
    struct lks_vote *vote = &c->votes[at];
    *vote = (struct lks_vote){0};
    return lks_sets_apply(a, vote);
}

enum lks_code lks_apply_vote_withdrawn(const struct lks_applying *a)
{
    const struct lks_rec_vote_withdrawn *from = &a->r->vote_withdrawn;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    uint32_t at = c == NULL ? 0 : vote_of(a, c, from->by);
    if (c == NULL || at == c->vote_count)
        return LKS_OK;
    LKS_VEC_REMOVE(c->votes, c->vote_count, at);
    c->votes[c->vote_count] = (struct lks_vote){0};
    c->looked = 0;
    return LKS_OK;
}

enum lks_code lks_apply_glass_broken(const struct lks_applying *a)
{
    const struct lks_rec_glass_broken *from = &a->r->glass_broken;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    if (c == NULL || !lks_apply_once(a, &c->glass.at))
        return LKS_OK;
    a->s->glasses++;
    return lks_sets_apply(a, c);
}

/* One for each gate, person and pool: what is said again counts as the last word. */
enum lks_code lks_apply_waived(const struct lks_applying *a)
{
    const struct lks_rec_waived *from = &a->r->waived;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    struct lks_waiver made = {0};
    if (c == NULL || from->gate.len == 0)
        return LKS_OK;
    if (lks_sets_apply(a, &made) != LKS_OK)
        return a->err->code;
    uint32_t at = 0;
    while (at < c->waiver_count &&
           (c->waivers[at].gate != made.gate || c->waivers[at].by != made.by ||
            c->waivers[at].pool != made.pool))
        at++;
    if (at < c->waiver_count)
        LKS_VEC_REMOVE(c->waivers, c->waiver_count, at);
    if (c->waiver_count == LKS_CHANGE_WAIVERS)
        return LKS_OK;
    c->waivers[c->waiver_count++] = made;
    c->looked = 0;
    return LKS_OK;
}

enum lks_code lks_apply_reviewed(const struct lks_applying *a)
{
    const struct lks_rec_reviewed *from = &a->r->reviewed;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    if (c == NULL || c->glass.at == 0 || !lks_apply_once(a, &c->glass.reviewed))
        return LKS_OK;
    a->s->glasses--;
    return lks_sets_apply(a, c);
}

enum lks_code lks_apply_lowered(const struct lks_applying *a)
{
    const struct lks_rec_lowered *from = &a->r->lowered;
    uint32_t pool = lks_state_pool(a->s, from->pool);
    if (pool == UINT32_MAX)
        return LKS_OK;
    struct lks_state_pool *p = &a->s->pools[pool];
    bool less = from->text.len > 0;
    p->lowered_at = less ? a->time : 0;
    const struct lks_kept list[] = {{from->text, &p->lowered},
                                    {less ? from->by : LKS_STR(""), &p->lowered_by},
                                    {less ? from->minters : LKS_STR(""), &p->lowered_minters}};
    return lks_apply_keep_all(a, list, LKS_COUNT(list));
}
