/* How TICKET records are applied. */
#include "base/vec.h"
#include "core/fold/apply.h"
#include "core/fold/fold.h"
#include "core/rows/change.h"
#include "core/state/change_room.h"
#include "core/state/state.h"
#include "core/state/tickets.h"
#include "model/record/record.h"
#include "model/record/record_words.h"

/* Those whose time is over by the record's; and where there are too many, the oldest. */
static void forget(const struct lks_applying *a)
{
    struct lks_tickets *t = &a->s->tickets;
    uint32_t kept = 0;
    uint32_t extra = t->heard_count == LKS_TICKETS_HEARD_MAX;
    for (uint32_t i = 0; i < t->heard_count; i++) {
        if (t->heard[i].until > a->s->clock && i >= extra)
            t->heard[kept++] = t->heard[i];
        else
            lks_apply_drop(a->s, &t->heard[i].event);
    }
    t->heard_count = kept;
}

static enum lks_code remember(const struct lks_applying *a, const struct lks_rec_ticket_heard *r)
{
    struct lks_tickets *t = &a->s->tickets;
    forget(a);
    if (r->event.len == 0 || r->until <= a->s->clock || lks_tickets_heard(a->s, r->event))
        return LKS_OK;
    if (LKS_VEC_RESERVE_MAX(t->heard, t->heard_room, t->heard_count + 1, LKS_TICKETS_HEARD_MAX,
                            a->err) != LKS_OK)
        return a->err->code;
    struct lks_ticket_heard *at = &t->heard[t->heard_count++];
    *at = (struct lks_ticket_heard){.until = r->until};
    return lks_apply_pass(a, r->event, &at->event);
}

enum lks_code lks_fold_ticket_heard(const struct lks_applying *a)
{
    const struct lks_rec_ticket_heard *r = &a->r->ticket_heard;
    struct lks_state_change *c = lks_state_change_find(a->s, r->change);
    if (remember(a, r) != LKS_OK)
        return a->err->code;
    for (uint32_t i = 0; c != NULL && i < c->vote_count; i++) {
        struct lks_vote *v = &c->votes[i];
        const struct lks_kept list[] = {{r->ticket, &v->ticket}, {r->who, &v->who}};
        if (lks_str_eq(lks_state_text(a->s, v->by), r->by))
            return lks_apply_keep_all(a, list, LKS_COUNT(list));
    }
    return LKS_OK;
}

static void drop_due(struct lks_state *s, uint32_t count)
{
    struct lks_tickets *t = &s->tickets;
    for (uint32_t i = 0; i < count; i++) {
        lks_apply_drop(s, &t->due[i].by);
        lks_apply_drop(s, &t->due[i].reason);
    }
    for (uint32_t i = count; i < t->due_count; i++)
        t->due[i - count] = t->due[i];
    t->due_count -= count;
}

enum lks_code lks_fold_ticket_told(const struct lks_applying *a)
{
    const struct lks_rec_ticket_told *r = &a->r->ticket_told;
    struct lks_tickets *t = &a->s->tickets;
    uint32_t told = 0;
    t->on = r->on;
    if (r->row > t->told)
        t->told = r->row;
    while (told < t->due_count && (!t->on || t->due[told].seq <= t->told))
        told++;
    drop_due(a->s, told);
    return LKS_OK;
}

/* In their order, and none twice. */
static enum lks_code add_due(const struct lks_applying *a, struct lks_rec_ticket_due r)
{
    struct lks_tickets *t = &a->s->tickets;
    bool last = t->due_count == 0 || r.row > t->due[t->due_count - 1].seq;
    if (!t->on || r.row <= t->told || !last || r.state >= LKS_CHANGE_STATE_COUNT)
        return LKS_OK;
    if (t->due_count == LKS_TICKETS_DUE_MAX)
        drop_due(a->s, 1);
    if (LKS_VEC_RESERVE_MAX(t->due, t->due_room, t->due_count + 1, LKS_TICKETS_DUE_MAX, a->err) !=
        LKS_OK)
        return a->err->code;
    struct lks_ticket_due *at = &t->due[t->due_count++];
    *at = (struct lks_ticket_due){
        .seq = r.row, .at = r.at, .change = r.change, .state = (enum lks_change_state)r.state};
    if (lks_apply_pass(a, r.by, &at->by) != LKS_OK)
        return a->err->code;
    return lks_apply_pass(a, r.reason, &at->reason);
}

enum lks_code lks_fold_ticket_due(const struct lks_applying *a)
{
    return add_due(a, a->r->ticket_due);
}

enum lks_code lks_fold_tickets_apply(const struct lks_applying *a)
{
    bool made = a->r->kind == LKS_RECORD_CHANGE, moved = a->r->kind == LKS_RECORD_CHANGE_MOVED;
    if (!a->s->tickets.on || (!made && !moved))
        return LKS_OK;
    uint64_t id = made ? a->r->change.id : a->r->change_moved.change;
    const struct lks_state_change *c = lks_state_change(a->s, id);
    if (c == NULL)
        return LKS_OK;
    return add_due(a, (struct lks_rec_ticket_due){
                          .row = a->s->seq,
                          .at = a->time,
                          .change = id,
                          .state = c->state,
                          .by = made ? a->r->change.by : a->r->change_moved.by,
                          .reason = made ? a->r->change.reason : a->r->change_moved.reason,
                      });
}
