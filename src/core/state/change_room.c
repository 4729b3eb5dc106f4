/* A change is released, and which one goes when there is no room for all. */
#include "core/state/change_room.h"
#include "base/compiler.h"
#include "core/rows/change_index.h"
#include "core/state/state.h"

#include <limits.h>
#include <stdlib.h>

void lks_change_fini(struct lks_state_change *c)
{
    for (uint32_t i = 0; i < c->recipe_count; i++)
        free(c->recipes[i].steps);
    void *const arrays[] = {c->recipes,  c->waves,  c->units,   c->members, c->places,
                            c->notes,    c->orders, c->metrics, c->gates,   c->measures,
                            c->measured, c->looks,  c->jobs};
    for (size_t i = 0; i < LKS_COUNT(arrays); i++)
        free(arrays[i]);
    lks_change_index_fini(&c->index);
    *c = (struct lks_state_change){0};
}

bool lks_change_brought(const struct lks_state_change *c, const struct lks_member *m)
{
    return c->stack != 0 && m != NULL && m->state == LKS_MEMBER_DONE;
}

/* Whether no change brought the node elsewhere after this one did. */
static bool is_last(const struct lks_state *s, const struct lks_state_change *c,
                    const struct lks_member *m)
{
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_state_change *o = &s->changes[i];
        const struct lks_member *k = lks_state_change_member(o, m->node);
        if (o != c && lks_change_brought(o, k) &&
            (k->since > m->since || (k->since == m->since && o > c)))
            return false;
    }
    return true;
}

/* It is over, and took nodes further that one brought somewhere which is not: without it they would
 * be held to that again. */
static bool overtook(const struct lks_state *s, const struct lks_state_change *c)
{
    if (c->states[LKS_MEMBER_DONE] == 0 || s->changes_open == 0)
        return false;
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_state_change *o = &s->changes[i];
        bool open = !lks_change_over(o) && o->states[LKS_MEMBER_DONE] > 0;
        for (uint32_t k = 0; k < o->member_count && open; k++) {
            const struct lks_member *m = lks_state_change_member(c, o->members[k].node);
            if (lks_change_brought(o, &o->members[k]) && lks_change_brought(c, m) &&
                is_last(s, c, m))
                return true;
        }
    }
    return false;
}

/* How much would be lost with it: nothing, the reason why nodes are out of service or on their
 * stack, or work in progress. */
static unsigned worth(const struct lks_state *s, const struct lks_state_change *c)
{
    if (!lks_change_over(c))
        return 2;
    return c->states[LKS_MEMBER_FENCED] + c->states[LKS_MEMBER_HANDS] +
                   c->states[LKS_MEMBER_UNKNOWN] >
               0 ||
           overtook(s, c);
}

uint32_t lks_change_least(const struct lks_state *s, unsigned *lost)
{
    uint32_t goes = 0;
    unsigned lowest = UINT_MAX;
    for (uint32_t i = 0; i < s->change_count && lowest > 0; i++) {
        unsigned is = worth(s, &s->changes[i]);
        goes = is < lowest ? i : goes;
        lowest = is < lowest ? is : lowest;
    }
    *lost = lowest;
    return goes;
}
