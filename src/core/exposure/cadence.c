#include "core/exposure/cadence.h"

#include "base/vec.h"
#include "core/compat/policy.h"
#include "core/firmware/endpoint.h"
#include "core/governance/quiet.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/state.h"

#include <stdlib.h>

#define DAY ((lks_ms)24 * 3600 * LKS_SECOND)

/* Classes of pools -------------------------------------------------------------------------- */

void lks_cadence_classes_fini(struct lks_pool_classes *c)
{
    free(c->list);
    free(c->first);
    *c = (struct lks_pool_classes){0};
}

enum lks_code lks_cadence_classes_add(struct lks_pool_classes *c, const struct lks_state *s,
                                      uint32_t node, struct lks_err *err)
{
    const struct lks_node *n = &s->nodes[node];
    if (!n->placed || n->asset != 0 || n->pool >= s->pool_count)
        return LKS_OK;
    if (LKS_VEC_RESERVE(c->first, c->pool_room, s->pool_count, err) != LKS_OK)
        return err->code;
    for (uint32_t at = c->first[n->pool]; at != 0; at = c->list[at - 1].next) {
        if (c->list[at - 1].class == n->class) {
            c->list[at - 1].nodes++;
            return LKS_OK;
        }
    }
    if (LKS_VEC_RESERVE(c->list, c->room, c->count + 1, err) != LKS_OK)
        return err->code;
    c->list[c->count++] = (struct lks_pool_class){
        .pool = n->pool, .nodes = 1, .class = n->class, .next = c->first[n->pool]};
    c->first[n->pool] = c->count;
    return LKS_OK;
}

enum lks_code lks_cadence_classes_all(struct lks_pool_classes *c, const struct lks_state *s,
                                      struct lks_err *err)
{
    for (uint32_t n = 0; n < s->node_count; n++) {
        if (lks_cadence_classes_add(c, s, n, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

uint32_t lks_cadence_classes_first(const struct lks_pool_classes *c, uint32_t pool)
{
    return pool < c->pool_room ? c->first[pool] : 0;
}

/* Stacks ------------------------------------------------------------------------------------ */

static const struct lks_component *find_component(const struct lks_stack *stack,
                                                  const struct lks_component *like)
{
    for (size_t i = 0; i < stack->component_count; i++) {
        const struct lks_component *c = &stack->components[i];
        if (c->version.len > 0 && lks_stack_component_cmp(c, like) == 0)
            return c;
    }
    return NULL;
}

bool lks_cadence_supersedes(const struct lks_facts *facts, const struct lks_stack *from,
                            const struct lks_stack *to)
{
    bool newer = false;
    if (from->vendor != to->vendor || strcmp(from->digest, to->digest) == 0)
        return false;
    if (lks_str_eq(from->name, to->name))
        return true;
    for (size_t i = 0; i < from->component_count; i++) {
        const struct lks_component *was = &from->components[i];
        if (was->version.len == 0)
            continue;
        const struct lks_component *is = find_component(to, was);
        int order = is == NULL ? 1
                               : lks_version_cmp(was->version, is->version,
                                                 lks_facts_scheme(facts, was->name));
        if (order > 0)
            return false;
        newer = newer || order < 0;
    }
    return newer;
}

/* One question about a pool: what it is pinned to, and since when that is out. */
struct asked {
    const struct lks_state *s;
    const struct lks_book *book;
    const struct lks_pool *said; /* NULL: the fleet's file does not have it */
    const struct lks_stack *pin; /* NULL: not known */
    lks_ms out;
    lks_day today;
};

static struct asked ask(const struct lks_state *s, const struct lks_book *book, uint32_t pool,
                        lks_ms wall)
{
    const struct lks_state_pool *p = &s->pools[pool];
    const struct lks_fleet *fleet = lks_book_fleet(book);
    struct lks_str digest = lks_state_text(s, p->stack_digest);
    const struct lks_state_stack *known = digest.len > 0 ? lks_state_stack(s, digest) : NULL;
    return (struct asked){
        .s = s,
        .book = book,
        .said = fleet == NULL ? NULL : lks_fleet_find_pool(fleet, lks_state_text(s, p->name)),
        .pin = digest.len > 0 ? lks_book_stack(book, digest) : NULL,
        .out = known == NULL                      ? 0
               : known->step == LKS_STEP_RELEASED ? known->stepped
                                                  : known->published,
        .today = lks_time_day_of((int64_t)(wall / LKS_SECOND)),
    };
}

/* The manifest of one that was released since, if it supersedes what is pinned; NULL: it does not.
 */
static const struct lks_stack *follows(const struct asked *a, const struct lks_state_stack *row)
{
    if (row->step != LKS_STEP_RELEASED || row->stepped <= a->out)
        return NULL;
    const struct lks_facts *facts = a->book->facts;
    const struct lks_stack *to = lks_book_stack(a->book, lks_state_text(a->s, row->digest));
    bool good = to != NULL && lks_cadence_supersedes(facts, a->pin, to) &&
                (a->said == NULL || lks_policy_accepts(facts, &a->said->policy, to, a->today));
    return good ? to : NULL;
}

static void count(struct lks_behind *b, const struct lks_state_stack *row)
{
    if (b->to == NULL || row->stepped >= b->to->stepped)
        b->to = row;
    if (b->since == 0 || row->stepped < b->since)
        b->since = row->stepped;
}

struct lks_behind lks_cadence_behind(const struct lks_state *s, const struct lks_book *book,
                                     uint32_t pool, lks_text class, lks_ms wall)
{
    struct asked a = ask(s, book, pool, wall);
    struct lks_behind b = {.known = a.pin != NULL};
    for (uint32_t i = 0; b.known && i < s->stack_count; i++) {
        const struct lks_stack *to = follows(&a, &s->stacks[i]);
        if (to != NULL && lks_stack_is_for(to, lks_state_text(s, class)))
            count(&b, &s->stacks[i]);
    }
    return b;
}

lks_ms lks_cadence_age(const struct lks_behind *b, lks_ms wall)
{
    return b->to != NULL && wall > b->since ? wall - b->since : 0;
}

lks_ms lks_cadence_limit(const struct lks_state *s, const struct lks_book *book, uint32_t pool)
{
    const struct lks_state_pool *p = &s->pools[pool];
    const struct lks_fleet *fleet = lks_book_fleet(book);
    const struct lks_pool *said =
        fleet == NULL ? NULL : lks_fleet_find_pool(fleet, lks_state_text(s, p->name));
    if (said != NULL && said->cadence_days >= 0)
        return (lks_ms)said->cadence_days * DAY;
    for (size_t i = 0; i < book->facts->postures.count; i++) {
        const struct lks_posture *row = &book->facts->postures.rows[i];
        if (lks_str_eq(row->name, lks_state_text(s, p->posture)) && row->cadence_days > 0)
            return (lks_ms)row->cadence_days * DAY;
    }
    return UINT64_MAX;
}

/* Pools ------------------------------------------------------------------------------------- */

/* Of what supersedes its pin, the newest that is for each class it has. */
static const struct lks_state_stack *for_all(const struct asked *a,
                                             const struct lks_pool_classes *classes, uint32_t pool)
{
    const struct lks_state_stack *newest = NULL;
    for (uint32_t i = 0; a->pin != NULL && i < a->s->stack_count; i++) {
        const struct lks_state_stack *row = &a->s->stacks[i];
        const struct lks_stack *to =
            newest != NULL && row->stepped < newest->stepped ? NULL : follows(a, row);
        uint32_t at = lks_cadence_classes_first(classes, pool);
        while (to != NULL && at != 0 &&
               lks_stack_is_for(to, lks_state_text(a->s, classes->list[at - 1].class)))
            at = classes->list[at - 1].next;
        if (to != NULL && at == 0)
            newest = row;
    }
    return newest;
}

struct lks_cadence lks_cadence_of(const struct lks_state *s, const struct lks_book *book,
                                  const struct lks_pool_classes *classes, uint32_t pool,
                                  lks_ms wall)
{
    struct asked a = ask(s, book, pool, wall);
    struct lks_cadence c = {.pool = pool,
                            .behind = {.known = a.pin != NULL},
                            .limit = lks_cadence_limit(s, book, pool)};
    for (uint32_t at = lks_cadence_classes_first(classes, pool); at != 0;
         at = classes->list[at - 1].next) {
        lks_text class = classes->list[at - 1].class;
        struct lks_behind b = lks_cadence_behind(s, book, pool, class, wall);
        if (b.to == NULL || (c.behind.to != NULL && c.behind.since <= b.since))
            continue;
        c.behind = b;
        c.class = class;
    }
    c.past = c.behind.to != NULL && lks_cadence_age(&c.behind, wall) >= c.limit;
    c.to = c.behind.to != NULL ? for_all(&a, classes, pool) : NULL;
    return c;
}

/* Drafts ------------------------------------------------------------------------------------ */

bool lks_cadence_is_draft(const struct lks_state *s, const struct lks_state_change *c,
                          uint32_t pool)
{
    return (c->state == LKS_CHANGE_PROPOSED || c->state == LKS_CHANGE_APPROVED) &&
           lks_str_is(lks_state_text(s, c->by), LKS_CADENCE_BY) &&
           lks_state_change_is_of_pool(s, c, pool);
}

/* It was tried, or a person decided against it: that is no matter of time any more. */
static bool is_settled(const struct lks_state *s, const struct lks_state_change *c)
{
    struct lks_str by = lks_state_text(s, c->moved_by);
    return lks_change_over(c) &&
           (c->started != 0 || (by.len > 0 && !lks_str_is(by, LKS_CADENCE_BY)));
}

/* Days of the fleet's file, by the clocks of the sites that the pool has nodes at. Neighbours are
 * mostly of one. */
static bool is_quiet(const struct lks_state *s, const struct lks_book *book, uint32_t pool,
                     lks_ms wall)
{
    const struct lks_fleet *fleet = lks_book_fleet(book);
    const struct lks_node *last = NULL;
    for (uint32_t i = 0; fleet != NULL && fleet->quiet_count > 0 && i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (!n->placed || n->pool != pool || (last != NULL && last->site == n->site))
            continue;
        lks_ms next = 0;
        last = n;
        if (!lks_quiet_over(fleet, lks_state_text(s, s->pools[pool].name),
                            lks_fleet_timezone(fleet, lks_state_text(s, n->site)), wall, &next))
            return true;
    }
    return false;
}

const char *lks_cadence_waits(const struct lks_state *s, const struct lks_book *book,
                              const struct lks_cadence *c, lks_ms wall)
{
    if (!c->past)
        return "it is not past its limit";
    if (c->to == NULL)
        return "no released stack is for all hardware of the pool";
    if (s->frozen || s->pools[c->pool].frozen)
        return "it is frozen";
    if (is_quiet(s, book, c->pool, wall))
        return "these days are frozen by the fleet's file";
    if (lks_state_acts_wait(s, c->pool))
        return "automatic acts wait for a person";
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_state_change *other = &s->changes[i];
        bool open = !lks_change_over(other);
        bool settled = other->stack == c->to->digest && is_settled(s, other);
        if ((open || settled) && lks_state_change_is_of_pool(s, other, c->pool))
            return open ? "another change of the pool is open"
                        : "a change to that stack was tried, or turned down";
    }
    return NULL;
}

uint32_t lks_cadence_wanted(const struct lks_state *s, const struct lks_book *book,
                            const struct lks_pool_classes *classes, uint32_t from, lks_ms wall)
{
    for (uint32_t p = from; p < s->pool_count; p++) {
        if (!s->pools[p].known || lks_cadence_classes_first(classes, p) == 0)
            continue;
        struct lks_cadence c = lks_cadence_of(s, book, classes, p, wall);
        if (lks_cadence_waits(s, book, &c, wall) == NULL)
            return p;
    }
    return UINT32_MAX;
}
