#include "core/entity/layout.h"

#include "base/vec.h"
#include "core/entity/columns.h"
#include "core/state/mass.h"
#include "core/state/state.h"

#define ROW struct lks_layout_turn
static const struct lks_column turn[] = {
    NODE(node, "The node."),
    TIME(at, "When it became late, lost or drifting."),
};
static const struct lks_entity turn_table = {
    .name = "turn",
    .about = "A node that became late, lost or drifting within the last mass_window.",
    COLUMNS(turn),
    LIST(lks_layout_turns, list, count, room, LKS_STATE_NODES_MAX),
};
#undef ROW

enum lks_code lks_layout_turns_of(const struct lks_state *s, struct lks_layout_turns *out,
                                  struct lks_err *err)
{
    for (uint32_t p = 0; p < s->pool_count; p++) {
        uint32_t n = s->mass[p].oldest;
        for (uint32_t i = 0; i < s->mass[p].count; i++, n = s->turns[n].after) {
            if (!lks_mass_counts(&s->turns[n], s->clock, s->limits.mass_window))
                continue;
            if (LKS_VEC_RESERVE(out->list, out->room, out->count + 1, err) != LKS_OK)
                return lks_wrap(err, "turns");
            out->list[out->count++] = (struct lks_layout_turn){n, s->turns[n].at};
        }
    }
    return LKS_OK;
}

size_t lks_layout_roots(void)
{
    return lks_entity_count + 1;
}

const struct lks_entity *lks_layout_root(size_t i)
{
    return i < lks_entity_count ? lks_entities[i] : &turn_table;
}

const void *lks_layout_parent(size_t i, const struct lks_state *s,
                              const struct lks_layout_turns *turns)
{
    return i < lks_entity_count ? (const void *)s : turns;
}
