#include "bridge/view/since.h"

int64_t lks_bridge_since_ask(const struct lks_bridge_since *s, enum lks_bridge_since_what what,
                             lks_ms now)
{
    lks_ms whole = s->of[what].whole;
    bool recent = now >= whole && now - whole < LKS_BRIDGE_SINCE_MAX;
    return s->of[what].believed && recent ? s->of[what].clock : 0;
}

bool lks_bridge_since_got(struct lks_bridge_since *s, enum lks_bridge_since_what what, bool whole,
                          int64_t clock, lks_ms now)
{
    bool back = clock < s->of[what].clock;
    if (back)
        lks_bridge_since_lost(s);
    if (whole || back)
        s->of[what].clock = clock;
    if (whole) {
        s->of[what].whole = now;
        s->of[what].believed = true;
    }
    return !back;
}

void lks_bridge_since_lost(struct lks_bridge_since *s)
{
    for (size_t i = 0; i < LKS_BRIDGE_SINCE_COUNT; i++)
        s->of[i].believed = false;
}
