#include "core/state/tickets.h"

#include "core/state/state.h"

#include <stdlib.h>

void lks_tickets_fini(struct lks_tickets *t)
{
    free(t->heard);
    free(t->due);
    *t = (struct lks_tickets){0};
}

bool lks_tickets_heard(const struct lks_state *s, struct lks_str event)
{
    const struct lks_tickets *t = &s->tickets;
    for (uint32_t i = 0; i < t->heard_count; i++) {
        if (t->heard[i].until > s->clock && lks_str_eq(lks_state_text(s, t->heard[i].event), event))
            return true;
    }
    return false;
}

uint32_t lks_tickets_remembered(const struct lks_state *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->tickets.heard_count; i++)
        count += s->tickets.heard[i].until > s->clock;
    return count;
}
