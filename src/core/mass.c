#include "core/mass.h"

#include <stdlib.h>

enum { FIRST_ROOM = 16 };

void lks_mass_fini(struct lks_mass *m)
{
    free(m->turns);
    *m = (struct lks_mass){0};
}

lks_ms lks_mass_turn(const struct lks_mass *m, uint32_t i)
{
    LKS_ASSERT(i < m->count);
    return m->turns[(m->first + i) & (m->room - 1)];
}

/* How many, from the oldest on, the window has left behind. A turn is within it while it is
 * younger than the window is long. */
static uint32_t stale(const struct lks_mass *m, lks_ms now, lks_ms window)
{
    uint32_t low = 0, high = m->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        lks_ms at = lks_mass_turn(m, middle);
        if (at < now && now - at >= window)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void drop(struct lks_mass *m, uint32_t oldest)
{
    m->first = (m->first + oldest) & (m->room - 1);
    m->count -= oldest;
}

void lks_mass_forget(struct lks_mass *m, lks_ms now, lks_ms window)
{
    uint32_t gone = stale(m, now, window);
    if (gone > 0)
        drop(m, gone);
}

/* Twice the room, a power of two, with the oldest in front. */
static enum lks_code grow(struct lks_mass *m, struct lks_err *err)
{
    uint32_t room = m->room == 0 ? FIRST_ROOM : m->room * 2;
    lks_ms *turns = calloc(room, sizeof(turns[0]));
    if (turns == NULL)
        return lks_fail_nomem(err);
    for (uint32_t i = 0; i < m->count; i++)
        turns[i] = lks_mass_turn(m, i);
    free(m->turns);
    *m = (struct lks_mass){.turns = turns, .count = m->count, .room = room};
    return LKS_OK;
}

enum lks_code lks_mass_add(struct lks_mass *m, lks_ms now, lks_ms window, struct lks_err *err)
{
    if (m->count > 0 && lks_mass_turn(m, m->count - 1) > now)
        now = lks_mass_turn(m, m->count - 1);
    lks_mass_forget(m, now, window);
    if (m->count == LKS_MASS_TURNS_MAX)
        drop(m, 1);
    if (m->count == m->room && grow(m, err) != LKS_OK)
        return err->code;
    m->turns[(m->first + m->count++) & (m->room - 1)] = now;
    return LKS_OK;
}

uint32_t lks_mass_count(const struct lks_mass *m, lks_ms now, lks_ms window)
{
    return m->count - stale(m, now, window);
}

void lks_mass_clear(struct lks_mass *m)
{
    m->first = m->count = 0;
}

uint64_t lks_mass_limit(uint64_t floor, uint64_t percent, uint64_t nodes)
{
    uint64_t part = nodes / 100 * percent + nodes % 100 * percent / 100;
    return part > floor ? part : floor;
}
