/* The failure domain of a member: its redundant peer, the nodes of its domain, and whether any of
 * them may drain now. */
#include "core/campaign/campaign_parts.h"
#include "core/plan/plan.h"
#include "core/state/mass.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

#define HOUR       (3600 * LKS_SECOND)
#define MASS_PAUSE (60 * LKS_SECOND) /* until it is looked again whether acts still wait */

/* Sides ------------------------------------------------------------------------------------- */

static bool is_down(const struct lks_node *n)
{
    return n->changing != 0 || n->flashing > 0 || n->change != 0;
}

/* A person may be at work on it, or its status is unknown. */
static bool is_kept(const struct lks_node *n)
{
    return n->held || (n->asset == 0 && n->liveness == LKS_LOST);
}

/* A change that is finished with it keeps it out of service. */
static bool is_left_out(const struct lks_state *s, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    const struct lks_state_change *c = n->change != 0 ? lks_state_change(s, n->change) : NULL;
    const struct lks_member *m = c != NULL ? lks_state_change_member(c, node) : NULL;
    return m != NULL && lks_member_over(m) && n->flashing == 0;
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
        uint32_t n = downs->nodes[i];
        bool kept = is_left_out(d->state, n) || (is_kept(&nodes[n]) && !is_down(&nodes[n]));
        if (lks_decide_flash_other_side(&nodes[node], &nodes[n]))
            pair = kept ? LKS_PAIR_KEPT : LKS_PAIR_DOWN;
    }
    return pair;
}

enum lks_pair lks_campaign_member_pair(struct lks_deciding *d, const struct lks_state_change *c,
                                       const struct lks_member *m, struct lks_downs *downs)
{
    bool alone = d->state->nodes[m->node].side != 0 && c->units[m->unit].domain == 0;
    return alone ? pair_of(d, downs, m->node) : LKS_PAIR_UP;
}

void lks_campaign_downs_add(const struct lks_deciding *d, struct lks_downs *downs, uint32_t node)
{
    if (d->state->nodes[node].side != 0 && downs->known && downs->count < downs->room)
        downs->nodes[downs->count++] = node;
}

typedef bool side_fn(const struct lks_look *k, uint32_t node);

/* The redundant peer within its domain of which that is so. */
static uint32_t find_side(const struct lks_look *k, side_fn *is_so)
{
    const struct lks_node_status *st = k->s->standing;
    uint32_t node = k->m->node;
    if (k->n->side == 0 || st->domain[node] == 0)
        return LKS_NO_NODE;
    for (uint32_t n = st->domain_next[node]; n != node; n = st->domain_next[n]) {
        if (lks_decide_flash_other_side(k->n, &k->s->nodes[n]) && is_so(k, n))
            return n;
    }
    return LKS_NO_NODE;
}

static bool is_dead(const struct lks_look *k, uint32_t node)
{
    const struct lks_member *m = lks_state_change_member(k->c, node);
    const struct lks_node *n = &k->s->nodes[node];
    return m == NULL ? is_down(n) : n->changing != 0 && lks_member_over(m);
}

static bool is_held(const struct lks_look *k, uint32_t node)
{
    return is_kept(&k->s->nodes[node]);
}

uint32_t lks_campaign_side_kept(const struct lks_look *k)
{
    return find_side(k, is_dead);
}

/* Nodes of its domain ----------------------------------------------------------------------- */

uint32_t lks_campaign_domain_used(const struct lks_state *s, const struct lks_state_change *without,
                                  uint32_t node)
{
    const struct lks_node_status *st = s->standing;
    if (s->nodes[node].asset == 0 || st->domain[node] == 0)
        return LKS_NO_NODE;
    for (uint32_t n = st->domain_next[node]; n != node; n = st->domain_next[n]) {
        if (lks_campaign_node_in_use(&s->nodes[n]) &&
            (without == NULL || lks_state_change_member(without, n) == NULL))
            return n;
    }
    return LKS_NO_NODE;
}

uint32_t lks_campaign_unit_domain(const struct lks_state *s, const struct lks_state_change *c,
                                  const struct lks_unit *u)
{
    uint32_t first = c->members[u->first].node;
    bool whole = c->stack != 0 && u->domain != 0 && s->standing->domain[first] != 0;
    return whole ? first : LKS_NO_NODE;
}

bool lks_campaign_unit_apart(const struct lks_state *s, const struct lks_state_change *c,
                             const struct lks_unit *u)
{
    const struct lks_node_status *st = s->standing;
    uint32_t first = lks_campaign_unit_domain(s, c, u);
    if (first == LKS_NO_NODE)
        return false;
    for (uint32_t n = st->domain_next[first]; n != first; n = st->domain_next[n]) {
        if (s->nodes[n].asset == 0 && lks_state_change_member(c, n) == NULL &&
            (s->nodes[n].change != 0 || lks_state_intent(s, n) != c->stack))
            return true;
    }
    return false;
}

static bool is_noted(const struct lks_state *s, uint32_t node, enum lks_note note)
{
    return (s->nodes[node].notes >> note & 1) != 0;
}

/* A node around the asset whose drain was ended in its scheduler by another, and that is not
 * drained again, or whose scheduler gives no answer: jobs may have started there. */
static uint32_t find_undrained(const struct lks_state *s, uint32_t node)
{
    const struct lks_node_status *st = s->standing;
    if (s->nodes[node].asset == 0 || st->domain[node] == 0)
        return LKS_NO_NODE;
    for (uint32_t n = st->domain_next[node]; n != node; n = st->domain_next[n]) {
        if (is_noted(s, n, LKS_NOTE_UNDRAINED) || is_noted(s, n, LKS_NOTE_UNHEARD))
            return n;
    }
    return LKS_NO_NODE;
}

/* A reason that ends when a person acts, or a scheduler; empty: there is none. */
static struct lks_str why_not_yet(struct lks_deciding *d, const struct lks_look *k)
{
    struct lks_downs downs = {0};
    uint32_t used = lks_campaign_domain_used(k->s, NULL, k->m->node), held = find_side(k, is_held);
    uint32_t undrained = find_undrained(k->s, k->m->node);
    if (used != LKS_NO_NODE)
        return lks_decision_text(d, "%" LKS_STR_FMT " of its domain is in service",
                                 LKS_STR_ARG(lks_state_name(k->s, used)));
    if (undrained != LKS_NO_NODE && !is_noted(k->s, undrained, LKS_NOTE_UNDRAINED))
        return lks_decision_text(d,
                                 "the scheduler of %" LKS_STR_FMT " of its domain gives no answer, "
                                 "and jobs may run there",
                                 LKS_STR_ARG(lks_state_name(k->s, undrained)));
    if (undrained != LKS_NO_NODE)
        return lks_decision_text(d,
                                 "the drain of %" LKS_STR_FMT " of its domain was ended in the "
                                 "scheduler by another, and jobs may run there",
                                 LKS_STR_ARG(lks_state_name(k->s, undrained)));
    if (held != LKS_NO_NODE)
        return lks_decision_text(d, "%" LKS_STR_FMT ", its redundant peer, is on hold",
                                 LKS_STR_ARG(lks_state_name(k->s, held)));
    if (lks_campaign_member_pair(d, k->c, k->m, &downs) != LKS_PAIR_UP)
        return LKS_STR("its redundant peer is on hold, or down");
    return LKS_STR("");
}

bool lks_campaign_look_clear(struct lks_deciding *d, const struct lks_look *k)
{
    uint32_t kept = lks_campaign_side_kept(k);
    if (kept != LKS_NO_NODE) {
        lks_campaign_member_fail(d, k, LKS_FAILURE_REFUSED, k->m->attempt > 1,
                                 lks_decision_text(d,
                                                   "%" LKS_STR_FMT
                                                   ", its redundant peer, is out of "
                                                   "service: repair that one first",
                                                   LKS_STR_ARG(lks_state_name(k->s, kept))));
        return false;
    }
    struct lks_str why = why_not_yet(d, k);
    if (why.len > 0)
        lks_campaign_step_refused(d, k, LKS_E_LIMIT, why);
    return why.len == 0;
}

/* Draining ---------------------------------------------------------------------------------- */

/* A node of its unit was drained by this change: the others follow. An asset only waits for them.
 */
static bool has_left(const struct lks_look *k)
{
    for (uint32_t i = 0; i < k->u->count; i++) {
        struct lks_look o = lks_campaign_look_at(k->s, k->c, &k->c->members[k->u->first + i]);
        if (o.n->asset == 0 && lks_campaign_look_out(&o))
            return true;
    }
    return false;
}

static bool is_first(const struct lks_look *k)
{
    return k->step != NULL && k->step->kind == LKS_DO_LEAVE && !k->m->back &&
           k->m->state == LKS_MEMBER_WAITING && !has_left(k);
}

bool lks_campaign_unit_stopped(const struct lks_look *k)
{
    if (!is_first(k))
        return false;
    bool stopped = k->c->state != LKS_CHANGE_RUNNING;
    for (uint32_t i = 0; i < k->u->count && !stopped; i++) {
        uint32_t node = k->c->members[k->u->first + i].node;
        stopped = lks_state_frozen(k->s, node) || lks_state_acts_wait(k->s, k->s->nodes[node].pool);
    }
    return stopped;
}

static void wait_until(struct lks_deciding *d, const struct lks_look *k, lks_ms until,
                       struct lks_str why)
{
    struct lks_rec_member r = lks_campaign_member_record(k);
    r.until = until < d->now.wall + HOUR ? until : d->now.wall + HOUR;
    r.text = why;
    lks_campaign_member_list(d, k, r);
}

/* Of one of the unit. Where the time of the change is over for good it gives up what is staged, and
 * that is no failure. */
static bool may_leave(struct lks_deciding *d, const struct lks_look *k, uint32_t node)
{
    lks_ms next = UINT64_MAX;
    if (lks_decision_waits(d, k->s->nodes[node].pool))
        wait_until(d, k, d->now.wall + MASS_PAUSE,
                   LKS_STR("so many of its pool turned at once that acts wait"));
    else if (lks_plan_may_begin(k->s, d->book, k->c, node, d->now.wall, &next))
        return true;
    else if (lks_change_late(k->c, d->now.wall) && lks_campaign_look_retried(k))
        lks_campaign_member_fence(
            d, k, LKS_MEMBER_FENCED, k->m->failure, false,
            LKS_STR("the time of the change expired before it was tried again"));
    else if (lks_change_late(k->c, d->now.wall))
        lks_campaign_member_turn(d, k, false, LKS_FAILURE_NONE,
                                 LKS_STR("the time of the change expired before it drained"));
    else
        wait_until(d, k, next, LKS_STR("outside its windows"));
    return false;
}

bool lks_campaign_unit_may_leave(struct lks_deciding *d, const struct lks_look *k)
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
