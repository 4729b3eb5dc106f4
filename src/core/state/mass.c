#include "core/state/mass.h"

/* A turn is within the window while it is younger than the window is long. */
static bool within(lks_ms at, lks_ms now, lks_ms window)
{
    return at >= now || now - at < window;
}

bool lks_mass_counts(const struct lks_mass_turn *turn, lks_ms now, lks_ms window)
{
    return turn->counted && within(turn->at, now, window);
}

void lks_mass_remove(struct lks_mass *m, struct lks_mass_turn *turns, uint32_t node)
{
    struct lks_mass_turn gone = turns[node];
    if (!gone.counted)
        return;
    LKS_ASSERT(m->count > 0);
    if (node == m->oldest)
        m->oldest = gone.after;
    else
        turns[gone.before].after = gone.after;
    if (node == m->newest)
        m->newest = gone.before;
    else
        turns[gone.after].before = gone.before;
    turns[node] = (struct lks_mass_turn){0};
    m->count--;
}

void lks_mass_forget(struct lks_mass *m, struct lks_mass_turn *turns, lks_ms now, lks_ms window)
{
    while (m->count > 0 && !within(turns[m->oldest].at, now, window))
        lks_mass_remove(m, turns, m->oldest);
}

/* A clock that was set back is taken to stand still, so the chain is in the order of time. */
void lks_mass_add(struct lks_mass *m, struct lks_mass_turn *turns, uint32_t node, lks_ms now,
                  lks_ms window)
{
    if (m->count > 0 && turns[m->newest].at > now)
        now = turns[m->newest].at;
    lks_mass_forget(m, turns, now, window);
    lks_mass_remove(m, turns, node);
    turns[node] = (struct lks_mass_turn){.at = now, .before = m->newest, .counted = true};
    if (m->count == 0)
        m->oldest = node;
    else
        turns[m->newest].after = node;
    m->newest = node;
    m->count++;
}

uint32_t lks_mass_count(const struct lks_mass *m, const struct lks_mass_turn *turns, lks_ms now,
                        lks_ms window)
{
    uint32_t count = m->count;
    for (uint32_t n = m->oldest; count > 0 && !within(turns[n].at, now, window); n = turns[n].after)
        count--;
    return count;
}

void lks_mass_clear(struct lks_mass *m, struct lks_mass_turn *turns)
{
    while (m->count > 0)
        lks_mass_remove(m, turns, m->oldest);
}

uint64_t lks_mass_limit(uint64_t floor, uint64_t percent, uint64_t nodes)
{
    uint64_t part = nodes / 100 * percent + nodes % 100 * percent / 100;
    return part > floor ? part : floor;
}
