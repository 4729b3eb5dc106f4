/* Looking up changes, and what follows from them for a node. */
#include "base/time.h"
#include "base/vec.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/state/change_room.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "core/state/state_room.h"
#include "model/record/record.h"
#include "model/record/record_words.h"

#include <inttypes.h>
#include <stdio.h>

const struct lks_state_change *lks_state_change(const struct lks_state *s, uint64_t id)
{
    return LKS_STATE_BY_ID(s->changes, s->change_count, id);
}

lks_ms lks_state_change_expires(const struct lks_state *s, const struct lks_state_change *c)
{
    lks_ms since = c->moved != 0 ? c->moved : c->proposed, age = s->limits.proposal_age;
    if (c->state == LKS_CHANGE_PROPOSED && c->expires != 0)
        return c->expires; /* as its class says */
    bool waits = c->state == LKS_CHANGE_PROPOSED || c->state == LKS_CHANGE_APPROVED;
    return !waits || since > UINT64_MAX - age ? UINT64_MAX : since + age;
}

struct lks_state_change *lks_state_change_find(struct lks_state *s, uint64_t id)
{
    return LKS_STATE_BY_ID(s->changes, s->change_count, id);
}

const struct lks_member *lks_state_change_member(const struct lks_state_change *c, uint32_t node)
{
    uint32_t place = node < c->place_room ? c->places[node] : 0;
    return place == 0 ? NULL : &c->members[place - 1];
}

struct lks_rec_member lks_state_member_said(const struct lks_member *m)
{
    return (struct lks_rec_member){
        .state = m->state,
        .step = m->step,
        .back = m->back,
        .pass = m->pass,
        .attempt = m->attempt,
        .until = m->until,
        .work = m->work,
        .failure = m->failure,
        .reached = m->reached,
    };
}

bool lks_state_change_is_of_pool(const struct lks_state *s, const struct lks_state_change *c,
                                 uint32_t pool)
{
    for (uint32_t i = 0; i < c->member_count; i++) {
        const struct lks_node *n = &s->nodes[c->members[i].node];
        if (n->asset == 0 && n->pool == pool)
            return true;
    }
    return false;
}

const struct lks_state_change *lks_state_changing(const struct lks_state *s, uint32_t node)
{
    uint64_t id = s->nodes[node].change;
    const struct lks_state_change *c = id == 0 ? NULL : lks_state_change(s, id);
    if (c == NULL || lks_change_over(c))
        return NULL;
    const struct lks_member *m = lks_state_change_member(c, node);
    return m == NULL || lks_member_over(m) ? NULL : c;
}

const struct lks_measure *lks_state_change_measure(const struct lks_state_change *c, uint32_t wave,
                                                   uint32_t node, lks_text metric)
{
    uint32_t at = node < c->measured_room ? c->measured[node] : 0;
    while (at != 0 && (c->measures[at - 1].wave != wave || c->measures[at - 1].metric != metric))
        at = c->measures[at - 1].next;
    return at != 0 ? &c->measures[at - 1] : NULL;
}

const struct lks_gate_look *lks_state_change_look(const struct lks_state_change *c, uint32_t wave,
                                                  lks_text metric)
{
    for (uint32_t i = c->look_count; i-- > 0;) {
        if (c->looks[i].wave == wave && c->looks[i].metric == metric)
            return &c->looks[i];
    }
    return NULL;
}

const struct lks_job_acted *lks_state_change_job(const struct lks_state *s,
                                                 const struct lks_state_change *c,
                                                 struct lks_str site, struct lks_str job)
{
    uint32_t id = 0;
    if (c->job_count == 0 || !lks_intern_find(&s->texts, job, &id))
        return NULL;
    for (uint32_t i = c->job_count; i-- > 0;) {
        if (c->jobs[i].job == id && lks_str_eq(lks_state_text(s, c->jobs[i].site), site))
            return &c->jobs[i];
    }
    return NULL;
}

bool lks_state_change_order_at(const struct lks_state *s, const struct lks_state_change *c,
                               struct lks_str digest, uint32_t *at)
{
    LKS_VEC_PLACE(*at, c->order_count,
                  lks_str_cmp(lks_state_text(s, c->orders[*at].digest), digest) < 0);
    return *at < c->order_count && lks_str_eq(lks_state_text(s, c->orders[*at].digest), digest);
}

struct lks_str lks_state_order(const struct lks_state *s, struct lks_str digest)
{
    for (uint32_t i = s->change_count; i-- > 0;) {
        uint32_t at = 0;
        if (lks_state_change_order_at(s, &s->changes[i], digest, &at))
            return lks_state_text(s, s->changes[i].orders[at].text);
    }
    return LKS_STR("");
}

static int compare_proven(const struct lks_state *s, const struct lks_proven *p,
                          struct lks_str class, struct lks_str from, struct lks_str to)
{
    int order = lks_str_cmp(lks_state_text(s, p->class), class);
    if (order == 0)
        order = lks_str_cmp(lks_state_text(s, p->from), from);
    return order != 0 ? order : lks_str_cmp(lks_state_text(s, p->to), to);
}

bool lks_state_proven_at(const struct lks_state *s, struct lks_str class, struct lks_str from,
                         struct lks_str to, uint32_t *at)
{
    LKS_VEC_PLACE(*at, s->proven_count, compare_proven(s, &s->proven[*at], class, from, to) < 0);
    return *at < s->proven_count && compare_proven(s, &s->proven[*at], class, from, to) == 0;
}

const struct lks_proven *lks_state_proven(const struct lks_state *s, lks_text class, lks_text from,
                                          lks_text to)
{
    uint32_t at = 0;
    return lks_state_proven_at(s, lks_state_text(s, class), lks_state_text(s, from),
                               lks_state_text(s, to), &at)
               ? &s->proven[at]
               : NULL;
}

static struct lks_freeze pool_freeze(const struct lks_state *s, uint32_t node)
{
    uint32_t pool = s->nodes[node].pool;
    if (pool == LKS_NO_POOL || !s->pools[pool].frozen)
        return (struct lks_freeze){0};
    const struct lks_state_pool *p = &s->pools[pool];
    return (struct lks_freeze){true, p->name, p->frozen_by, p->frozen_reason, p->frozen_since};
}

/* An asset has no pool: those of its domain count. */
struct lks_freeze lks_state_freeze(const struct lks_state *s, uint32_t node)
{
    const struct lks_node_status *st = s->standing;
    if (s->frozen)
        return (struct lks_freeze){true, 0, s->frozen_by, s->frozen_reason, s->frozen_since};
    struct lks_freeze f = pool_freeze(s, node);
    if (f.on || s->nodes[node].asset == 0 || st->domain[node] == 0)
        return f;
    for (uint32_t n = st->domain_next[node]; n != node && !f.on; n = st->domain_next[n])
        f = pool_freeze(s, n);
    return f;
}

bool lks_state_frozen(const struct lks_state *s, uint32_t node)
{
    return lks_state_freeze(s, node).on;
}

struct lks_str lks_state_change_owner(uint64_t change, char out[LKS_CHANGE_OWNER_SIZE])
{
    snprintf(out, LKS_CHANGE_OWNER_SIZE, "change:%" PRIu64, change);
    return lks_str_from(out);
}
