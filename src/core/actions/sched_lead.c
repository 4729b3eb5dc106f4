#include "core/actions/sched_lead.h"

#include "base/vec.h"

#include <stdlib.h>

#define URLS_MAX ((size_t)1 << 20)

void lks_sched_lead_fini(struct lks_sched_lead *l)
{
    lks_intern_fini(&l->urls);
    free(l->bridges);
    *l = (struct lks_sched_lead){0};
}

/* NULL: there is no memory, or there are too many. It is tried again. */
static struct lks_sched_lead_bridge *find(struct lks_sched_lead *l, struct lks_str url)
{
    uint32_t id = 0, before = lks_intern_count(&l->urls);
    if (l->urls.bytes.max == 0)
        lks_intern_init(&l->urls, URLS_MAX);
    if (LKS_VEC_RESERVE_MAX(l->bridges, l->room, before + (size_t)1, LKS_SCHED_LEAD_MAX, NULL) !=
            LKS_OK ||
        lks_intern_id(&l->urls, url, &id, &(struct lks_err){0}) != LKS_OK)
        return NULL;
    if (id == before)
        l->bridges[id] = (struct lks_sched_lead_bridge){0};
    return &l->bridges[id];
}

bool lks_sched_lead_due(struct lks_sched_lead *l, struct lks_str url, uint64_t epoch, lks_ms mono)
{
    struct lks_sched_lead_bridge *b = epoch > 0 ? find(l, url) : NULL;
    if (b == NULL || b->epoch >= epoch || mono < b->due)
        return false;
    b->due = mono + LKS_SCHED_LEAD_ASKED;
    return true;
}

bool lks_sched_lead_told(struct lks_sched_lead *l, struct lks_str url, uint64_t epoch, bool done,
                         lks_ms mono, uint64_t speed)
{
    struct lks_sched_lead_bridge *b = find(l, url);
    if (b == NULL)
        return false;
    bool news = b->failing == done;
    b->failing = !done;
    if (done)
        b->epoch = epoch;
    b->due = mono + LKS_SCHED_LEAD_AGAIN / speed;
    return news;
}
