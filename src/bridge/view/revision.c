#include "bridge/view/revision.h"

#include "base/compiler.h"

void lks_bridge_revision_init(struct lks_bridge_revision *r, uint64_t kept)
{
    *r = (struct lks_bridge_revision){.last = kept, .ceiling = kept};
}

static uint64_t from(const struct lks_bridge_revision *r, uint64_t now_us)
{
    return now_us > r->last ? now_us : r->last + 1;
}

bool lks_bridge_revision_ready(const struct lks_bridge_revision *r, uint64_t now_us, uint64_t count,
                               uint64_t *ceiling)
{
    uint64_t highest = from(r, now_us) + count;
    *ceiling = highest + LKS_BRIDGE_REVISION_AHEAD;
    return highest <= r->ceiling;
}

void lks_bridge_revision_allow(struct lks_bridge_revision *r, uint64_t ceiling)
{
    LKS_ASSERT(ceiling >= r->ceiling);
    r->ceiling = ceiling;
}

uint64_t lks_bridge_revision_next(struct lks_bridge_revision *r, uint64_t now_us)
{
    r->last = from(r, now_us);
    LKS_ASSERT(r->last <= r->ceiling);
    return r->last;
}
