#include "model/record/machine.h"

#include <stdio.h>

bool lks_machine_may(const struct lks_machine *m, unsigned from, unsigned to)
{
    return from < m->count && to < m->count && m->when[(size_t)from * m->count + to] != NULL;
}

static const char *name_of(const struct lks_machine *m, unsigned state)
{
    return state < m->count ? m->words[state] : "?";
}

unsigned lks_machine_step(const struct lks_machine *m, unsigned from, unsigned to)
{
    if (!lks_machine_may(m, from, to)) {
        char text[128];
        snprintf(text, sizeof(text), "a %s may go from %s (%u) to %s (%u)", m->name,
                 name_of(m, from), from, name_of(m, to), to);
        lks_assert_failed(text, __FILE__, __LINE__);
    }
    return to;
}
