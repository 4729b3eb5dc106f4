#include "core/rows/change_index.h"

#include "base/vec.h"
#include "core/rows/node.h"

#include <stdlib.h>

enum { FIRST_ROOM = 16 };

/* Where the unit of the domain in that wave is, or would be; there is always a free place. */
static uint32_t place_of(const struct lks_change_index *x, const struct lks_unit *units,
                         uint32_t wave, lks_text domain)
{
    uint32_t mask = x->room - 1;
    uint32_t at = (domain * UINT32_C(2654435761) ^ wave * UINT32_C(2246822519)) & mask;
    while (x->units[at] != 0 &&
           (units[x->units[at] - 1].domain != domain || units[x->units[at] - 1].wave != wave))
        at = (at + 1) & mask;
    return at;
}

/* At least half of it stays free. */
static enum lks_code make_room(struct lks_state_change *c, struct lks_err *err)
{
    const struct lks_change_index old = c->index;
    if (2 * (old.count + 1) <= old.room)
        return LKS_OK;
    struct lks_change_index grown = old;
    grown.room = old.room > 0 ? 2 * old.room : FIRST_ROOM;
    grown.units = calloc(grown.room, sizeof(grown.units[0]));
    if (grown.units == NULL)
        return lks_fail_nomem(err);
    for (uint32_t i = 0; i < old.room; i++) {
        uint32_t unit = old.units[i];
        if (unit != 0)
            grown.units[place_of(&grown, c->units, c->units[unit - 1].wave,
                                 c->units[unit - 1].domain)] = unit;
    }
    free(old.units);
    c->index = grown;
    return LKS_OK;
}

enum lks_code lks_change_index_unit(struct lks_state_change *c, uint32_t unit, struct lks_err *err)
{
    const struct lks_unit *u = &c->units[unit];
    if (make_room(c, err) != LKS_OK)
        return err->code;
    c->index.units[place_of(&c->index, c->units, u->wave, u->domain)] = unit + 1;
    c->index.count++;
    return LKS_OK;
}

uint32_t lks_change_unit(const struct lks_state_change *c, uint32_t wave, lks_text domain)
{
    return c->index.room == 0 ? 0 : c->index.units[place_of(&c->index, c->units, wave, domain)];
}

/* Where comers from there are, or would be. */
static uint32_t from_at(const struct lks_change_index *x, lks_text from)
{
    uint32_t at;
    LKS_VEC_PLACE(at, x->from_count, x->froms[at] < from);
    return at;
}

bool lks_change_comes_from(const struct lks_state_change *c, lks_text from)
{
    uint32_t at = from_at(&c->index, from);
    return at < c->index.from_count && c->index.froms[at] == from;
}

enum lks_code lks_change_index_from(struct lks_state_change *c, lks_text from, struct lks_err *err)
{
    struct lks_change_index *x = &c->index;
    if (lks_change_comes_from(c, from))
        return LKS_OK;
    uint32_t at = from_at(x, from);
    if (LKS_VEC_INSERT(x->froms, x->from_room, x->from_count, at, LKS_STATE_NODES_MAX, err) !=
        LKS_OK)
        return err->code;
    x->froms[at] = from;
    return LKS_OK;
}

void lks_change_index_fini(struct lks_change_index *x)
{
    free(x->units);
    free(x->froms);
    *x = (struct lks_change_index){0};
}
