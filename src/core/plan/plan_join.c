/* What a change in progress asks about its plan: may this node start now, and where does one that
 * came late belong. */
#include "codec/time/windows.h"
#include "core/governance/quiet.h"
#include "core/plan/plan_work.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

/* Beginning --------------------------------------------------------------------------------- */

/* Both have to be open; until then, or as long as they are, the earliest end of what is. */
static bool both(bool open, bool also, lks_ms *next, lks_ms its)
{
    if (open && also)
        *next = its < *next ? its : *next;
    else if (open || (!also && its > *next))
        *next = its; /* the one that is closed is waited for */
    return open && also;
}

/* Windows that cannot be read, or are in an unknown zone, are not open. */
static bool is_open(struct lks_str windows, struct lks_str zone, lks_ms wall, lks_ms *next)
{
    struct lks_windows parsed;
    struct lks_tz tz;
    struct lks_err ignored = {0};
    *next = UINT64_MAX;
    if (windows.len == 0)
        return true;
    return lks_windows_parse(windows, &parsed, &ignored) == LKS_OK &&
           lks_tz_parse(zone, &tz, &ignored) == LKS_OK &&
           lks_windows_open(&parsed, &tz, wall, next);
}

bool lks_plan_may_begin(const struct lks_state *s, const struct lks_book *book,
                        const struct lks_state_change *c, uint32_t node, lks_ms wall, lks_ms *next)
{
    const struct lks_fleet *fleet = lks_book_fleet(book);
    const struct lks_node *n = &s->nodes[node];
    struct lks_str zone = LKS_STR("UTC"), windows = LKS_STR(""), name = LKS_STR("");
    lks_ms its = UINT64_MAX;
    *next = UINT64_MAX;
    if (c->not_after != 0 && wall >= c->not_after)
        return false;
    if (wall < c->not_before) {
        *next = c->not_before;
        return false;
    }
    if (fleet != NULL) {
        zone = lks_fleet_timezone(fleet, lks_state_text(s, n->site));
        const struct lks_pool *pool =
            n->pool < s->pool_count
                ? lks_fleet_find_pool(fleet, lks_state_text(s, s->pools[n->pool].name))
                : NULL;
        windows = pool != NULL ? pool->windows : windows;
        name = pool != NULL ? pool->name : name;
    }
    bool open = is_open(lks_state_text(s, c->windows), zone, wall, next);
    bool also = is_open(windows, zone, wall, &its);
    open = both(open, also, next, its);
    if (c->advisory != 0)
        return open; /* a vulnerability does not wait */
    also = lks_quiet_over(fleet, name, zone, wall, &its);
    return both(open, also, next, its);
}

/* Coming late ------------------------------------------------------------------------------- */

/* Whether a member's recipe may fit the node: alike in all that decides one, but for the endpoint.
 */
static bool is_alike(const struct lks_node *x, const struct lks_node *y)
{
    return x->asset == y->asset && x->class == y->class &&
           x->hardware_revision == y->hardware_revision && x->pool == y->pool &&
           x->side == y->side && y->domain == 0;
}

static struct lks_str driver_of(const struct lks_state *s, const struct lks_book *book,
                                uint32_t node)
{
    struct lks_endpoint endpoint = {0};
    bool has = lks_endpoint_find(book, lks_state_name(s, node), &endpoint);
    return has ? endpoint.driver : LKS_STR("");
}

/* The first member whose recipe fits; each recipe is looked at once. */
static const struct lks_member *find_like(const struct lks_state *s, const struct lks_book *book,
                                          const struct lks_state_change *c, uint32_t node)
{
    struct lks_str from = lks_state_text(s, lks_plan_from(s, node)), driver = LKS_STR("");
    uint32_t refused = UINT32_MAX;
    bool known = false;
    for (uint32_t i = 0; i < c->member_count; i++) {
        const struct lks_member *m = &c->members[i];
        if (m->recipe == refused || !is_alike(&s->nodes[node], &s->nodes[m->node]) ||
            !lks_str_eq(lks_state_text(s, m->from), from))
            continue;
        if (!known)
            driver = driver_of(s, book, node);
        known = true;
        if (lks_str_eq(driver, driver_of(s, book, m->node)))
            return m;
        refused = m->recipe;
    }
    return NULL;
}

/* Only a change that was asked for a whole pool takes those that come to it. */
static bool is_for_pool(const struct lks_state *s, const struct lks_state_change *c, uint32_t node)
{
    struct lks_str hosts = lks_state_text(s, c->hosts);
    uint32_t pool = s->nodes[node].pool;
    if (pool >= s->pool_count || !lks_str_starts(hosts, LKS_PLAN_POOL))
        return false;
    hosts.ptr += strlen(LKS_PLAN_POOL);
    hosts.len -= strlen(LKS_PLAN_POOL);
    return lks_str_eq(hosts, lks_state_text(s, s->pools[pool].name));
}

/* The last wave that has the node's pool. */
static bool last_wave(const struct lks_state *s, const struct lks_state_change *c, uint32_t node,
                      uint64_t *out)
{
    lks_text pool = s->pools[s->nodes[node].pool].name;
    for (uint32_t i = c->wave_count; i-- > 0;) {
        if (c->waves[i].pool == 0 ||
            lks_str_eq(lks_state_text(s, c->waves[i].pool), lks_state_text(s, pool))) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* A node of a domain does not come alone, one that is to run something else is none of this, and
 * one that drifted has to be repaired first. */
bool lks_plan_joins(const struct lks_state *s, const struct lks_book *book,
                    const struct lks_state_change *c, uint32_t node, struct lks_rec_plan_part *out)
{
    const struct lks_node *n = &s->nodes[node];
    uint64_t wave = 0;
    if (!n->placed || n->asset != 0 || n->domain != 0 || c->kind != LKS_CHANGE_STACK ||
        !is_for_pool(s, c, node) || lks_state_change_member(c, node) != NULL ||
        lks_plan_drifted(s, node) || !last_wave(s, c, node, &wave))
        return false;
    const struct lks_member *like = find_like(s, book, c, node);
    if (like == NULL)
        return false;
    *out = (struct lks_rec_plan_part){.change = c->id,
                                      .wave = wave,
                                      .recipe = like->recipe,
                                      .domain = LKS_STR(""),
                                      .from = lks_state_text(s, like->from),
                                      .hosts = lks_state_name(s, node)};
    return true;
}
