/* What is around a member: the other side of its pair, the nodes of its domain, and whether anybody
 * may leave use just now. */
#include "core/campaign_parts.h"

#include "core/mass.h"
#include "core/standing.h"

#define S(s)       LKS_STR_ARG(s)
#define HOUR       (3600 * LKS_SECOND)
#define MASS_PAUSE (60 * LKS_SECOND) /* until it is looked again whether acts still wait */

/* Sides ------------------------------------------------------------------------------------- */

static bool is_down(const struct lks_node *n)
{
    return n->changing != 0 || n->flashing > 0 || n->change != 0;
}

/* A person may be at work on it, or nobody knows how it is. */
static bool is_kept(const struct lks_node *n)
{
    return n->held || (n->asset == 0 && n->liveness == LKS_LOST);
}

static bool find_downs(struct lks_deciding *d, struct lks_downs *downs)
{
    const struct lks_state *s = d->state;
    struct lks_err err = {0};
    downs->room = 0;
    for (uint32_t n = 0; n < s->node_count; n++)
        downs->room += s->nodes[n].side != 0;
    downs->nodes = lks_arena_array(&d->out->arena, downs->room, sizeof(*downs->nodes));
    if (downs->nodes == NULL) {
        d->out->failed = lks_arena_fail(&d->out->arena, &err);
        return false;
    }
    for (uint32_t n = 0; n < s->node_count; n++) {
        const struct lks_node *o = &s->nodes[n];
        if (o->side != 0 && (is_down(o) || is_kept(o)))
            downs->nodes[downs->count++] = n;
    }
    downs->known = true;
    return true;
}

static enum lks_pair pair_of(struct lks_deciding *d, struct lks_downs *downs, uint32_t node)
{
    const struct lks_node *nodes = d->state->nodes;
    enum lks_pair pair = LKS_PAIR_UP;
    if (!downs->known && !find_downs(d, downs))
        return LKS_PAIR_DOWN;
    for (uint32_t i = 0; i < downs->count && pair != LKS_PAIR_DOWN; i++) {
        const struct lks_node *o = &nodes[downs->nodes[i]];
        if (lks_deciding_other_side(&nodes[node], o))
            pair = is_kept(o) && !is_down(o) ? LKS_PAIR_KEPT : LKS_PAIR_DOWN;
    }
    return pair;
}

enum lks_pair lks_member_pair(struct lks_deciding *d, const struct lks_state_change *c,
                              const struct lks_member *m, struct lks_downs *downs)
{
    bool alone = d->state->nodes[m->node].side != 0 && c->units[m->unit].domain == 0;
    return alone ? pair_of(d, downs, m->node) : LKS_PAIR_UP;
}

void lks_downs_add(const struct lks_deciding *d, struct lks_downs *downs, uint32_t node)
{
    if (d->state->nodes[node].side != 0 && downs->known && downs->count < downs->room)
        downs->nodes[downs->count++] = node;
}

uint32_t lks_side_kept(const struct lks_look *k)
{
    const struct lks_standing *st = k->s->standing;
    uint32_t node = k->m->node;
    if (k->n->side == 0 || st->domain[node] == 0)
        return LKS_NO_NODE;
    for (uint32_t n = st->domain_next[node]; n != node; n = st->domain_next[n]) {
        const struct lks_node *o = &k->s->nodes[n];
        const struct lks_member *m = lks_change_member(k->c, n);
        bool kept = m == NULL ? is_down(o) || is_kept(o) : o->changing != 0 && lks_member_over(m);
        if (kept && lks_deciding_other_side(k->n, o))
            return n;
    }
    return LKS_NO_NODE;
}

/* Nodes of its domain ----------------------------------------------------------------------- */

uint32_t lks_domain_used(const struct lks_state *s, const struct lks_state_change *without,
                         uint32_t node)
{
    const struct lks_standing *st = s->standing;
    if (s->nodes[node].asset == 0 || st->domain[node] == 0)
        return LKS_NO_NODE;
    for (uint32_t n = st->domain_next[node]; n != node; n = st->domain_next[n]) {
        if (lks_node_in_use(&s->nodes[n]) &&
            (without == NULL || lks_change_member(without, n) == NULL))
            return n;
    }
    return LKS_NO_NODE;
}

bool lks_unit_apart(const struct lks_state *s, const struct lks_state_change *c,
                    const struct lks_unit *u)
{
    const struct lks_standing *st = s->standing;
    uint32_t first = c->members[u->first].node;
    if (c->stack == 0 || u->domain == 0 || st->domain[first] == 0)
        return false;
    for (uint32_t n = st->domain_next[first]; n != first; n = st->domain_next[n]) {
        if (s->nodes[n].asset == 0 && lks_change_member(c, n) == NULL &&
            (s->nodes[n].change != 0 || lks_state_intent(s, n) != c->stack))
            return true;
    }
    return false;
}

bool lks_look_clear(struct lks_deciding *d, const struct lks_look *k)
{
    uint32_t kept = lks_side_kept(k), used = lks_domain_used(k->s, NULL, k->m->node);
    if (kept != LKS_NO_NODE)
        lks_member_fail(d, k, LKS_FAILURE_REFUSED, k->m->attempt > 1,
                        lks_deciding_text(d,
                                          "%" LKS_STR_FMT ", the other side of its pair, is kept "
                                          "out of use: see to that one first",
                                          S(lks_state_name(k->s, kept))));
    else if (used != LKS_NO_NODE)
        lks_step_refused(d, k, LKS_E_LIMIT,
                         lks_deciding_text(d, "%" LKS_STR_FMT " of its domain is in use",
                                           S(lks_state_name(k->s, used))));
    return kept == LKS_NO_NODE && used == LKS_NO_NODE;
}

/* Leaving use ------------------------------------------------------------------------------- */

/* Somebody of its unit is out of use by this change: the others follow. */
static bool has_left(const struct lks_look *k)
{
    for (uint32_t i = 0; i < k->u->count; i++) {
        const struct lks_node *n = &k->s->nodes[k->c->members[k->u->first + i].node];
        if (n->changing != 0 && n->change == k->c->id)
            return true;
    }
    return false;
}

static bool is_first(const struct lks_look *k)
{
    return k->step != NULL && k->step->kind == LKS_DO_LEAVE && !k->m->back &&
           k->m->state == LKS_MEMBER_WAITING && !has_left(k);
}

bool lks_unit_stopped(const struct lks_look *k)
{
    if (!is_first(k))
        return false;
    bool stopped = k->c->state != LKS_CHANGE_RUNNING;
    for (uint32_t i = 0; i < k->u->count && !stopped; i++)
        stopped = lks_state_frozen(k->s, k->c->members[k->u->first + i].node);
    return stopped;
}

static void wait_until(struct lks_deciding *d, const struct lks_look *k, lks_ms until,
                       struct lks_str why)
{
    struct lks_rec_member r = lks_member_record(k);
    r.until = until < d->now.wall + HOUR ? until : d->now.wall + HOUR;
    r.text = why;
    lks_member_list(d, k, r);
}

/* Of one of the unit. Where the time of the change is over for good it gives up what is staged, and
 * that is no failure. */
static bool may_leave(struct lks_deciding *d, const struct lks_look *k, uint32_t node)
{
    lks_ms next = UINT64_MAX;
    if (lks_deciding_waits(d, k->s->nodes[node].pool))
        wait_until(d, k, d->now.wall + MASS_PAUSE,
                   LKS_STR("so many of its pool turned at once that acts wait"));
    else if (lks_plan_may_begin(k->s, d->book, k->c, node, d->now.wall, &next))
        return true;
    else if (next == UINT64_MAX)
        lks_member_turn(d, k, false, LKS_FAILURE_NONE,
                        LKS_STR("the time of the change was over before it left use"));
    else
        wait_until(d, k, next, LKS_STR("outside its windows"));
    return false;
}

bool lks_unit_may_leave(struct lks_deciding *d, const struct lks_look *k)
{
    if (!is_first(k))
        return true;
    for (uint32_t i = 0; i < k->u->count; i++) {
        uint32_t node = k->c->members[k->u->first + i].node;
        const struct lks_node *n = &k->s->nodes[node];
        bool alike = node != k->m->node && n->pool == k->n->pool && n->site == k->n->site;
        if (n->placed && !alike && !may_leave(d, k, node))
            return false;
    }
    return true;
}
