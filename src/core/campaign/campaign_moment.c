/* Of this moment, beside what records say: who is due, and when changes are looked at next. */
#include "base/heap.h"
#include "core/campaign/campaign.h"
#include "core/state/state.h"

/* The first that is really due stays in front: the tick moves it, and the next call goes on. */
void lks_campaign_settle(struct lks_state *s, struct lks_now now)
{
    lks_ms at = 0;
    uint32_t node = 0;
    while (lks_heap_peek(&s->members_due, &at, &node) && at <= now.wall) {
        lks_ms due = UINT64_MAX;
        struct lks_err err;
        for (uint32_t i = 0; i < s->change_count; i++) {
            const struct lks_member *m = lks_state_change_member(&s->changes[i], node);
            lks_ms its = m != NULL ? lks_campaign_due(s, &s->changes[i], m) : UINT64_MAX;
            due = its < due ? its : due;
        }
        if (due <= now.wall)
            break;
        /* It has a place already, so no memory is needed. */
        if (due == UINT64_MAX)
            (void)lks_heap_remove(&s->members_due, node);
        else if (lks_heap_set(&s->members_due, node, due, &err) != LKS_OK)
            break;
    }
    for (uint32_t i = 0; i < s->change_count; i++) {
        struct lks_state_change *c = &s->changes[i];
        if (c->looked == 0 || now.mono >= c->looked + s->limits.heartbeat)
            c->looked = now.mono > 0 ? now.mono : 1;
    }
}

/* Only these do something by themselves. */
static bool is_under_way(const struct lks_state_change *c)
{
    return c->state == LKS_CHANGE_RUNNING || c->state == LKS_CHANGE_ABORTING ||
           c->state == LKS_CHANGE_ROLLING_BACK;
}

lks_ms lks_campaign_next_look(const struct lks_state *s)
{
    lks_ms at = UINT64_MAX;
    for (uint32_t i = s->changes_open > 0 ? s->change_count : 0; i-- > 0;) {
        const struct lks_state_change *c = &s->changes[i];
        lks_ms next = c->looked == 0 ? s->seen.mono : c->looked + s->limits.heartbeat;
        if (is_under_way(c) && next < at)
            at = next;
    }
    return at;
}
