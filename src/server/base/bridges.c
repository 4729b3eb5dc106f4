#include "server/base/bridges.h"

#include <stddef.h>

/* One row for each scheduler that drivers/sched/sched_drivers.c has. */
static const struct {
    const char *sched, *key;
    size_t at; /* the list, in the configuration */
} lists[] = {
    {"slurm", "slurm.bridges", offsetof(struct lks_config, slurm_bridges)},
    {"simulated", "simulated.bridges", offsetof(struct lks_config, simulated_bridges)},
    {"kubernetes", "kubernetes.bridges", offsetof(struct lks_config, kubernetes_bridges)},
};
_Static_assert(LKS_COUNT(lists) == LKS_BRIDGES_LISTS, "a list for each");

bool lks_bridges_next(const struct lks_config *c, struct lks_bridges_at *at, struct lks_bridge *out)
{
    for (; at->list < LKS_COUNT(lists); at->list++, at->item = 0) {
        const void *list = (const unsigned char *)c + lists[at->list].at;
        const struct lks_config_list *items = list;
        while (at->item < items->count) {
            *out = (struct lks_bridge){.sched = lists[at->list].sched,
                                       .key = lists[at->list].key,
                                       .item = items->items[at->item++]};
            if (lks_str_cut(out->item, '=', &out->site, &out->url))
                return true;
        }
    }
    return false;
}

bool lks_bridges_serves(const struct lks_bridge *b, struct lks_str sched, struct lks_str site)
{
    return lks_str_is(sched, b->sched) && (lks_str_eq(b->site, site) || lks_str_is(b->site, "*"));
}

struct lks_bridges_tls lks_bridges_tls(const struct lks_config *c, struct lks_str sched)
{
    if (lks_str_is(sched, "kubernetes"))
        return (struct lks_bridges_tls){c->kubernetes_ca, c->kubernetes_certificate,
                                        c->kubernetes_key};
    return (struct lks_bridges_tls){c->slurm_ca, c->slurm_certificate, c->slurm_key};
}

struct lks_str lks_bridges_hidden(const struct lks_config *c)
{
    static const char *const hidden[2][2] = {{"slurm+simulated+kubernetes", "slurm+simulated"},
                                             {"kubernetes", ""}};
    return lks_str_from(hidden[c->slurm_publish != 0][c->kubernetes_publish != 0]);
}
