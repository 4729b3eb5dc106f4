#include "core/firmware/sweep.h"

#include "base/intern.h"
#include "base/vec.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

#include <stdlib.h>

#define HOUR (3600 * LKS_SECOND)
#define DAY  (LKS_FLEET_SWEEP_HOURS * HOUR)

enum { DOUBLINGS_MAX = 20, DOMAIN_BYTES_MAX = 256 << 20 };

static const struct lks_str nothing = {"", 0};

static lks_ms every_of(const struct lks_pool *pool)
{
    return (lks_ms)pool->sweep_hours * HOUR;
}

/* How often each domain's assets are read: as often as its most frequent pool. */
struct domains {
    struct lks_intern names;
    lks_ms *every; /* owned; by id */
    size_t room;
};

static void domains_fini(struct domains *d)
{
    lks_intern_fini(&d->names);
    free(d->every);
}

static enum lks_code add_domain(struct domains *d, struct lks_str name, lks_ms every,
                                struct lks_err *err)
{
    uint32_t id = 0, before = lks_intern_count(&d->names);
    if (LKS_VEC_RESERVE(d->every, d->room, (size_t)before + 1, err) != LKS_OK ||
        lks_intern_id(&d->names, name, &id, err) != LKS_OK)
        return err->code;
    if (id == before || every < d->every[id])
        d->every[id] = every;
    return LKS_OK;
}

static enum lks_code find_domains(const struct lks_fleet *fleet, struct domains *d,
                                  struct lks_err *err)
{
    lks_intern_init(&d->names, DOMAIN_BYTES_MAX);
    for (size_t i = 0; i < fleet->node_groups; i++) {
        const struct lks_group *group = &fleet->nodes[i];
        if (group->domain.len > 0 &&
            add_domain(d, group->domain, every_of(group->pool), err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

struct listing {
    const struct lks_state *state;
    struct domains domains;
    struct lks_buf url;
    lks_sweep_fn *fn;
    void *ctx;
    bool stopped;
    struct lks_err *err;
};

static void listing_fini(struct listing *l)
{
    domains_fini(&l->domains);
    lks_buf_fini(&l->url);
}

static lks_ms due_of(const struct lks_state *s, struct lks_str name, lks_ms every)
{
    uint32_t node = lks_state_node(s, name);
    lks_ms taken = node != LKS_NO_NODE ? s->nodes[node].outband_taken : 0;
    return taken > 0 ? taken + every : 0;
}

static enum lks_code list_group(struct listing *l, const struct lks_group *group)
{
    struct lks_endpoint endpoint = {0};
    uint32_t domain = 0;
    if (!lks_endpoint_of(group, &endpoint))
        return LKS_OK;
    struct lks_sweep_task task = {
        .site = group->site, .pool = nothing, .every = DAY, .endpoint = &endpoint};
    if (group->pool != NULL) {
        task.pool = group->pool->name;
        task.every = every_of(group->pool);
    } else if (lks_intern_find(&l->domains.names, group->domain, &domain)) {
        task.every = l->domains.every[domain];
    }
    for (size_t i = 0; i < group->hosts.count && !l->stopped; i++) {
        task.name = group->hosts.names[i];
        lks_endpoint_url(endpoint.url, task.name, &l->url);
        if (lks_buf_check(&l->url, l->err) != LKS_OK)
            return lks_wrap(l->err, "address of %" LKS_STR_FMT, LKS_STR_ARG(task.name));
        task.url = lks_buf_view(&l->url);
        task.due = due_of(l->state, task.name, task.every);
        l->stopped = !l->fn(l->ctx, &task);
    }
    return LKS_OK;
}

static enum lks_code list_groups(struct listing *l, const struct lks_group *groups, size_t count)
{
    for (size_t i = 0; i < count && !l->stopped; i++) {
        if (list_group(l, &groups[i]) != LKS_OK)
            return l->err->code;
    }
    return LKS_OK;
}

enum lks_code lks_sweep_list(const struct lks_state *s, const struct lks_book *book,
                             lks_sweep_fn *fn, void *ctx, struct lks_err *err)
{
    LKS_CLEANUP(listing_fini) struct listing l = {.state = s, .fn = fn, .ctx = ctx, .err = err};
    const struct lks_fleet *fleet = lks_book_fleet(book);
    if (fleet == NULL)
        return LKS_OK;
    lks_buf_init(&l.url, LKS_ENDPOINT_URL_MAX);
    if (find_domains(fleet, &l.domains, err) != LKS_OK ||
        list_groups(&l, fleet->nodes, fleet->node_groups) != LKS_OK ||
        list_groups(&l, fleet->assets, fleet->asset_groups) != LKS_OK)
        return err->code;
    return LKS_OK;
}

lks_ms lks_sweep_retry(lks_ms wall, lks_ms every, uint32_t failures)
{
    uint32_t doublings = failures > 0 ? failures - 1 : 0;
    if (doublings > DOUBLINGS_MAX)
        doublings = DOUBLINGS_MAX;
    lks_ms wait = LKS_SWEEP_RETRY_MS << doublings;
    return wall + (wait < every ? wait : every);
}

static void add_age(const struct lks_state *s, const struct lks_group *group, lks_ms wall,
                    struct lks_sweep_age *out)
{
    for (size_t i = 0; i < group->hosts.count; i++) {
        uint32_t node = lks_state_node(s, group->hosts.names[i]);
        lks_ms taken = node != LKS_NO_NODE ? s->nodes[node].outband_taken : 0;
        lks_ms age = taken > 0 && wall > taken ? wall - taken : 0;
        out->endpoints++;
        out->never += taken == 0;
        out->oldest = age > out->oldest ? age : out->oldest;
    }
}

struct lks_sweep_age lks_sweep_age(const struct lks_state *s, const struct lks_book *book,
                                   uint32_t pool, lks_ms wall)
{
    const struct lks_fleet *fleet = lks_book_fleet(book);
    struct lks_str name = lks_state_text(s, s->pools[pool].name);
    struct lks_sweep_age age = {0};
    for (size_t i = 0; fleet != NULL && i < fleet->node_groups; i++) {
        const struct lks_group *group = &fleet->nodes[i];
        if (group->bmc && lks_str_eq(group->pool->name, name))
            add_age(s, group, wall, &age);
    }
    return age;
}
