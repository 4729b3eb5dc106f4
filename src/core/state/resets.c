#include "core/state/resets.h"

#include "core/state/state.h"
#include "core/state/state_room.h"

#include <stdlib.h>

void lks_resets_fini(struct lks_resets *r)
{
    free(r->list);
    *r = (struct lks_resets){0};
}

struct lks_reset *lks_resets_find(const struct lks_state *s, uint32_t node)
{
    for (uint32_t i = 0; i < s->resets.count; i++) {
        if (s->resets.list[i].node == node)
            return &s->resets.list[i];
    }
    return NULL;
}

const struct lks_reset *lks_state_reset(const struct lks_state *s, uint32_t node)
{
    return lks_resets_find(s, node);
}
