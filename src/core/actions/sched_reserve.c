/* Reservations for the windows of changes: core/actions/sched_book.h. */
#include "core/actions/sched_book.h"

#include "codec/notation/hostlist.h"
#include "core/plan/drain.h"
#include "core/plan/plan.h"
#include "core/registry/book.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/state/lookup.h"
#include "core/state/state.h"

#include <stdio.h>
#include <string.h>

#define WANTED_MAX   1024
#define GROUPS_MAX   64 /* pools and sites of one change */
#define NODES_MAX    LKS_SCHED_RESERVATION_NODES
#define OPENINGS_MAX 64                 /* ends of windows and of freezes that are followed */
#define AT_ONCE_MAX  16                 /* requests about a site */
#define ASKED_MAX    (300 * LKS_SECOND) /* longer than a conversation lasts */

/* When nodes may start ------------------------------------------------------------------------ */

/* Nodes of a change in one pool at one site: they have the same windows. */
struct group {
    uint32_t pool;
    lks_text site;
    bool reserves; /* it is wanted, from ... */
    lks_ms from, until;
};

struct finder {
    const struct lks_sched_book *b;
    const struct lks_state *s;
    const struct lks_book *book;
    lks_ms wall;
    struct lks_arena *arena;
    const struct lks_state_change *c;
    lks_ms earliest; /* the wave does not start before */
    struct group groups[GROUPS_MAX];
    uint32_t group_count;
    struct member {
        struct lks_str node;
        uint32_t group;
    } * members; /* in the arena */
    uint32_t member_count;
    struct lks_sched_reserves *out;
};

/* A window without an end is held open for a while after its start, where that is known. */
static lks_ms end_of(const struct finder *f, lks_ms from, lks_ms end)
{
    lks_ms late = f->c->not_after;
    if (late != 0 && late < end)
        end = late;
    if (end != UINT64_MAX)
        return end;
    if (from > f->wall)
        return from + LKS_SCHED_RESERVE_LONG;
    return f->c->not_before != 0 ? f->c->not_before + LKS_SCHED_RESERVE_LONG : 0;
}

/* The opening that there is, or the next one that is near. */
static bool find_opening(const struct finder *f, uint32_t node, lks_ms *from, lks_ms *until)
{
    lks_ms at = f->earliest > f->wall ? f->earliest : f->wall, next = 0;
    for (unsigned i = 0; i < OPENINGS_MAX && at <= f->wall + LKS_SCHED_RESERVE_AHEAD; i++) {
        if (lks_plan_may_begin(f->s, f->book, f->c, node, at, &next)) {
            lks_ms end = end_of(f, at, next);
            *from = at - at % LKS_SECOND;
            *until = end - end % LKS_SECOND;
            return *until > f->wall && *until > *from;
        }
        if (next == UINT64_MAX || next <= at)
            return false;
        at = next;
    }
    return false;
}

/* The change was not started, and its window has been open for long. */
static bool is_forgotten(const struct finder *f, uint32_t node)
{
    lks_ms next = 0;
    return f->c->state == LKS_CHANGE_APPROVED && f->wall > LKS_SCHED_RESERVE_GRACE &&
           lks_plan_may_begin(f->s, f->book, f->c, node, f->wall, &next) &&
           lks_plan_may_begin(f->s, f->book, f->c, node, f->wall - LKS_SCHED_RESERVE_GRACE, &next);
}

/* The scheduler of the pool that makes reservations; NULL: none can be asked to. */
static const struct lks_drain_named *reserving(const struct lks_state *s, uint32_t pool)
{
    struct lks_str rest = lks_state_text(s, s->pools[pool].sched);
    return lks_drain_sched_next(&rest, LKS_DRAIN_RESERVES);
}

/* Whether its pool says so, and has a scheduler that can be asked. */
static bool pool_reserves(const struct finder *f, uint32_t pool)
{
    const struct lks_fleet *fleet = lks_book_fleet(f->book);
    const struct lks_pool *is =
        fleet != NULL ? lks_fleet_find_pool(fleet, lks_state_text(f->s, f->s->pools[pool].name))
                      : NULL;
    return is != NULL && is->reserve && reserving(f->s, pool) != NULL;
}

/* The number of its group; UINT32_MAX: there are too many. */
static uint32_t group_of(struct finder *f, uint32_t node)
{
    const struct lks_node *n = &f->s->nodes[node];
    for (uint32_t i = 0; i < f->group_count; i++) {
        if (f->groups[i].pool == n->pool && f->groups[i].site == n->site)
            return i;
    }
    if (f->group_count == GROUPS_MAX)
        return UINT32_MAX;
    struct group *g = &f->groups[f->group_count];
    *g = (struct group){.pool = n->pool, .site = n->site};
    g->reserves = pool_reserves(f, n->pool) && find_opening(f, node, &g->from, &g->until) &&
                  !is_forgotten(f, node);
    return f->group_count++;
}

/* Which nodes --------------------------------------------------------------------------------- */

/* A node that another change has, or a person, does not start. */
static bool may_start(const struct finder *f, uint32_t node)
{
    const struct lks_node *n = &f->s->nodes[node];
    if (!n->placed || n->asset != 0 || n->pool >= f->s->pool_count)
        return false;
    const struct lks_drain_named *sched = reserving(f->s, n->pool);
    const struct lks_sched_entry *e =
        sched != NULL ? lks_sched_book_find(f->b, node, lks_str_from(sched->name)) : NULL;
    return !n->held && (n->change == 0 || n->change == f->c->id) && !lks_state_frozen(f->s, node) &&
           (e == NULL || !e->heard || e->said.known);
}

static void add_unit(struct finder *f, const struct lks_unit *u)
{
    for (uint32_t i = 0; i < u->count; i++) {
        const struct lks_member *m = &f->c->members[u->first + i];
        if (lks_member_over(m) || !may_start(f, m->node) || f->member_count == NODES_MAX)
            continue;
        uint32_t group = group_of(f, m->node);
        if (group != UINT32_MAX && f->groups[group].reserves)
            f->members[f->member_count++] =
                (struct member){.node = lks_state_name(f->s, m->node), .group = group};
    }
}

/* As many units as may change at once: those that have begun, then those that are next. */
static void add_wave(struct finder *f, const struct lks_wave *w)
{
    uint32_t width = w->width > 0 ? w->width : 1, taken = 0;
    for (unsigned pass = 0; pass < 2; pass++) {
        const struct lks_unit *u = NULL;
        for (uint32_t at = w->first_unit; at != 0 && taken < width; at = u->next) {
            u = &f->c->units[at - 1];
            if (u->over == u->count || u->begun != (pass == 0))
                continue;
            add_unit(f, u);
            taken++;
        }
    }
}

/* The first wave that is not over; while it soaks, the one behind it as well. */
static void add_waves(struct finder *f)
{
    for (uint32_t i = 0; i < f->c->wave_count; i++) {
        const struct lks_wave *w = &f->c->waves[i];
        if (w->state == LKS_WAVE_PASSED)
            continue;
        if (w->state == LKS_WAVE_SOAKS && f->earliest == 0 && w->until != 0) {
            f->earliest = w->until;
            continue;
        }
        if (w->state == LKS_WAVE_PLANNED || w->state == LKS_WAVE_BEGUN)
            add_wave(f, w);
        return;
    }
}

/* What is wanted ------------------------------------------------------------------------------ */

static enum lks_code put_group(struct finder *f, uint32_t which, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf list = LKS_BUF(LKS_HOSTLIST_BYTES_MAX);
    const struct group *g = &f->groups[which];
    struct lks_str *names = lks_arena_array(f->arena, f->member_count + (size_t)1, sizeof(*names));
    struct lks_str pool = lks_state_text(f->s, f->s->pools[g->pool].name);
    struct lks_str site = lks_state_text(f->s, g->site);
    char name[LKS_SCHED_RESERVATION_NAME + 1];
    uint32_t count = 0;
    if (names == NULL)
        return lks_arena_fail(f->arena, err);
    for (uint32_t i = 0; i < f->member_count; i++) {
        if (f->members[i].group == which)
            names[count++] = f->members[i].node;
    }
    if (count == 0 || f->out->count == WANTED_MAX ||
        !lks_sched_reservations_name(f->c->id, pool, site, name))
        return LKS_OK;
    if (lks_hostlist_fold(names, count, &list, err) != LKS_OK ||
        lks_buf_check(&list, err) != LKS_OK)
        return err->code;
    f->out->list[f->out->count++] =
        (struct lks_sched_reserve){.change = f->c->id,
                                   .site = site,
                                   .sched = lks_str_from(reserving(f->s, g->pool)->name),
                                   .pool = pool,
                                   .it = {.name = lks_arena_copy(f->arena, lks_str_from(name)),
                                          .nodes = lks_arena_copy(f->arena, lks_buf_view(&list)),
                                          .from = g->from,
                                          .until = g->until},
                                   .nodes = count};
    return LKS_OK;
}

enum lks_code lks_sched_reserve_wanted(const struct lks_sched_book *b, const struct lks_state *s,
                                       const struct lks_book *book, lks_ms wall,
                                       struct lks_arena *arena, struct lks_sched_reserves *out,
                                       struct lks_err *err)
{
    struct finder f = {.b = b, .s = s, .book = book, .wall = wall, .arena = arena, .out = out};
    *out = (struct lks_sched_reserves){0};
    for (uint32_t i = s->changes_open > 0 ? s->change_count : 0; i-- > 0;) {
        f.c = &s->changes[i];
        if (f.c->state != LKS_CHANGE_APPROVED && f.c->state != LKS_CHANGE_RUNNING)
            continue;
        if (out->list == NULL) {
            out->list = lks_arena_array(arena, WANTED_MAX, sizeof(*out->list));
            f.members = lks_arena_array(arena, NODES_MAX, sizeof(*f.members));
        }
        if (out->list == NULL || f.members == NULL)
            return lks_arena_fail(arena, err);
        f.group_count = f.member_count = 0;
        f.earliest = 0;
        add_waves(&f);
        for (uint32_t g = 0; g < f.group_count; g++) {
            if (f.groups[g].reserves && put_group(&f, g, err) != LKS_OK)
                return err->code;
        }
    }
    return arena->out_of_memory ? lks_arena_fail(arena, err) : LKS_OK;
}

/* Requests ------------------------------------------------------------------------------------ */

struct asking {
    struct lks_sched_book *b;
    struct lks_arena *arena;
    struct lks_sched_site_due *out;
    uint32_t *count, max;
    const struct lks_sched_reserves *wanted;
    struct lks_now now;
};

static bool is_for(const struct lks_sched_reserve *r, const struct lks_sched_site *site)
{
    return lks_str_eq(r->site, site->site) && lks_str_eq(r->sched, site->sched);
}

static const struct lks_sched_reserve *
find_wanted(const struct asking *a, const struct lks_sched_site *site, struct lks_str name)
{
    for (uint32_t i = 0; i < a->wanted->count; i++) {
        const struct lks_sched_reserve *r = &a->wanted->list[i];
        if (is_for(r, site) && lks_str_eq(r->it.name, name))
            return r;
    }
    return NULL;
}

/* False: no more can be asked now. */
static bool put(const struct asking *a, struct lks_sched_site *site, enum lks_sched_site_verb verb,
                const struct lks_sched_reservation *r)
{
    if (*a->count == a->max || site->reserving == AT_ONCE_MAX)
        return false;
    struct lks_sched_site_due *due = &a->out[(*a->count)++];
    *due = (struct lks_sched_site_due){.site = lks_arena_copy(a->arena, site->site),
                                       .sched = lks_arena_copy(a->arena, site->sched),
                                       .turn = site->turn,
                                       .wish = {.verb = verb}};
    if (r != NULL)
        due->wish.reservation =
            (struct lks_sched_reservation){.name = lks_arena_copy(a->arena, r->name),
                                           .nodes = lks_arena_copy(a->arena, r->nodes),
                                           .from = r->from,
                                           .until = r->until};
    site->reserving++;
    site->reserving_until = a->now.mono + ASKED_MAX;
    site->reserve_search = a->b->sites.searches;
    a->b->sites.asked++;
    return true;
}

/* Two sites may have one scheduler: each removes what is its own, and what no site has any more. */
static bool is_left_over(const struct asking *a, const struct lks_sched_site *site,
                         struct lks_str name)
{
    struct lks_str pool, at;
    uint64_t change = 0;
    return lks_sched_reservations_of(name, &change, &pool, &at) &&
           find_wanted(a, site, name) == NULL &&
           (lks_str_eq(at, site->site) ||
            lks_sched_sites_find(&a->b->sites, at, site->sched) == NULL);
}

static void ask_differences(const struct asking *a, struct lks_sched_site *site)
{
    const struct lks_sched_reservations *is = &site->reserved;
    bool more = true;
    for (uint32_t i = 0; i < is->count && more; i++) {
        if (is_left_over(a, site, is->list[i].name))
            more = put(a, site, LKS_SCHED_SITE_UNRESERVE, &is->list[i]);
    }
    for (uint32_t i = 0; i < a->wanted->count && more; i++) {
        const struct lks_sched_reserve *r = &a->wanted->list[i];
        const struct lks_sched_reservation *there = lks_sched_reservations_find(is, r->it.name);
        if (is_for(r, site) &&
            (there == NULL || !lks_sched_reservations_alike(there, &r->it, a->now.wall)))
            more = put(a, site, LKS_SCHED_SITE_RESERVE, &r->it);
    }
    if (site->reserving == 0) {
        site->reserve_failures = 0;
        site->reserve_trouble[0] = '\0';
    }
}

static void look_at(const struct asking *a, struct lks_sched_site *site)
{
    site->reserving = 0;
    site->reserve_due = a->now.mono + LKS_SCHED_RESERVE_PAUSE;
    site->reserve_wanted = 0;
    for (uint32_t i = 0; i < a->wanted->count; i++)
        site->reserve_wanted += is_for(&a->wanted->list[i], site);
    bool used = site->reserve_wanted + site->reserved.count > 0;
    if (a->now.mono >= site->reserve_list || (used && !site->reserve_fresh))
        (void)put(a, site, LKS_SCHED_SITE_RESERVATIONS, NULL);
    else if (site->reserve_fresh)
        ask_differences(a, site);
}

enum lks_code lks_sched_reserve_due(struct lks_sched_book *b, const struct lks_state *s,
                                    const struct lks_book *book, struct lks_now now, uint32_t max,
                                    struct lks_arena *arena, struct lks_sched_site_due *out,
                                    uint32_t *count, struct lks_err *err)
{
    struct lks_sched_reserves wanted;
    const struct asking a = {.b = b,
                             .arena = arena,
                             .out = out,
                             .count = count,
                             .max = max,
                             .wanted = &wanted,
                             .now = now};
    bool found = false;
    *count = 0;
    for (uint32_t i = 0; i < b->sites.count && *count < max; i++) {
        struct lks_sched_site *site = b->sites.items[i];
        if (now.mono < site->reserve_due ||
            (site->reserving > 0 && now.mono < site->reserving_until))
            continue;
        if (!found && lks_sched_reserve_wanted(b, s, book, now.wall, arena, &wanted, err) != LKS_OK)
            return err->code;
        found = true;
        look_at(&a, site);
    }
    return arena->out_of_memory ? lks_arena_fail(arena, err) : LKS_OK;
}

/* What came of it --------------------------------------------------------------------------- */

static void fail(struct lks_sched_book *b, struct lks_sched_site *site, const struct lks_err *why,
                 lks_ms mono, uint64_t speed)
{
    b->sites.failed++;
    site->reserve_failures++;
    site->turn += why->code == LKS_E_UNAVAILABLE || why->code == LKS_E_TIMEOUT;
    site->reserve_due = mono + LKS_SCHED_RESERVE_RETRY / speed;
    site->reserve_list = mono + LKS_SCHED_RESERVE_IDLE / speed;
    snprintf(site->reserve_trouble, sizeof(site->reserve_trouble), "%.*s", LKS_SCHED_REASON_MAX,
             why->msg);
}

static void keep_list(struct lks_sched_site *site, struct lks_sched_reservations *listed,
                      lks_ms mono, uint64_t speed)
{
    lks_sched_reservations_fini(&site->reserved);
    site->reserved = LKS_MOVE(*listed);
    bool used = site->reserve_wanted + site->reserved.count > 0;
    site->reserve_fresh = true;
    site->reserve_list = mono + (used ? LKS_SCHED_RESERVE_LIST : LKS_SCHED_RESERVE_IDLE) / speed;
    site->reserve_due = mono;
}

bool lks_sched_reserve_told(struct lks_sched_book *b, struct lks_str site, struct lks_str sched,
                            const struct lks_sched_site_wish *wish,
                            struct lks_sched_reservations *listed, const struct lks_err *why,
                            struct lks_now now, uint64_t speed)
{
    struct lks_sched_site *at = lks_sched_sites_get(&b->sites, site, sched);
    if (at == NULL)
        return false;
    bool failing = at->reserve_failures > 0;
    at->reserving -= at->reserving > 0;
    if (why->code != LKS_OK) {
        fail(b, at, why, now.mono, speed);
        at->reserve_fresh = false;
        return !failing && at->reserve_wanted + at->reserved.count > 0;
    }
    if (wish->verb == LKS_SCHED_SITE_RESERVATIONS) {
        keep_list(at, listed, now.mono, speed);
        return false;
    }
    at->reserve_fresh = false;
    if (at->reserving == 0 && !failing)
        at->reserve_due = now.mono + LKS_SCHED_RESERVE_PAUSE / speed; /* then it is listed */
    return false;
}
