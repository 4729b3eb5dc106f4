/* How RESET records are applied. */
#include "base/vec.h"
#include "core/fold/fold.h"
#include "core/fold/sets.h"
#include "core/state/resets.h"
#include "core/state/state.h"
#include "core/state/state_room.h"
#include "model/record/record.h"
#include "model/record/record_words.h"

static void take_out(struct lks_resets *r, uint32_t at)
{
    LKS_VEC_REMOVE(r->list, r->count, at);
}

void lks_fold_resets_forget(struct lks_state *s, uint32_t node)
{
    const struct lks_reset *found = lks_resets_find(s, node);
    if (found != NULL)
        take_out(&s->resets, (uint32_t)(found - s->resets.list));
}

/* Applying ---------------------------------------------------------------------------------- */

/* The oldest that was not approved; where all are approved, the oldest. */
static void make_room(struct lks_resets *r)
{
    uint32_t at = 0;
    if (r->count < LKS_RESETS_MAX)
        return;
    while (at < r->count && r->list[at].approved != 0)
        at++;
    take_out(r, at < r->count ? at : 0);
}

static enum lks_code ask(const struct lks_applying *a, uint32_t node)
{
    struct lks_resets *r = &a->s->resets;
    const struct lks_reset *known = lks_resets_find(a->s, node);
    struct lks_reset made = {.node = node};
    if (known != NULL && known->approved != 0)
        return LKS_OK; /* it is to be reviewed first */
    if (lks_sets_apply(a, &made) != LKS_OK)
        return a->err->code;
    lks_fold_resets_forget(a->s, node);
    make_room(r);
    if (LKS_VEC_ADD(r->list, r->room, r->count, LKS_RESETS_MAX, made, a->err) != LKS_OK)
        return lks_wrap(a->err, "resets");
    return LKS_OK;
}

static enum lks_code approve(const struct lks_applying *a, uint32_t node)
{
    const struct lks_rec_reset *from = &a->r->reset;
    struct lks_reset *r = lks_resets_find(a->s, node);
    if (r == NULL || !lks_apply_once(a, &r->approved))
        return LKS_OK;
    r->command = from->command;
    a->s->resets.given++;
    const struct lks_kept list[] = {{from->by, &r->approved_by},
                                    {from->reason, &r->approved_reason}};
    return lks_apply_keep_all(a, list, LKS_COUNT(list));
}

/* A snapshot says how many there were by a record without a node. */
enum lks_code lks_fold_reset_apply(const struct lks_applying *a)
{
    const struct lks_rec_reset *from = &a->r->reset;
    const struct lks_node *node = lks_apply_find(a, from->node);
    if (from->node.len == 0)
        a->s->resets.given += from->command;
    if (node == NULL)
        return LKS_OK;
    uint32_t n = lks_apply_number(a, node);
    if (from->step == LKS_RESET_ASKED)
        return ask(a, n);
    if (from->step == LKS_RESET_APPROVED)
        return approve(a, n);
    lks_fold_resets_forget(a->s, n);
    return LKS_OK;
}
