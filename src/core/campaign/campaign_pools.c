/* What changes mean for whole pools: what they can do without now, who joins them, and what they
 * pin at the end. */
#include "base/bitset.h"
#include "core/campaign/campaign_parts.h"
#include "core/firmware/endpoint.h"
#include "core/governance/delta.h"
#include "core/plan/plan.h"
#include "core/rows/change_index.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/state.h"

/* What a pool can do without -------------------------------------------------------------- */

/* Alone a change keeps to the width that it was planned with; no plan is for two at once. */
static bool is_alone(const struct lks_state *s, const struct lks_state_change *c)
{
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_state_change *o = &s->changes[i];
        bool has = o->states[LKS_MEMBER_WAITING] + o->states[LKS_MEMBER_ASKED] +
                       o->states[LKS_MEMBER_READING] + o->states[LKS_MEMBER_DONE] >
                   0;
        if (o != c && has && !lks_change_over(o))
            return false;
    }
    return true;
}

/* What a unit would be taken from: its change, the unit, and nodes that begin by the same decision.
 */
struct taking {
    const struct lks_deciding *d;
    const struct lks_state_change *c;
    const struct lks_unit *u;
    uint32_t begun;
};

static bool is_of_unit(const struct taking *t, uint32_t node)
{
    const struct lks_member *m = lks_state_change_member(t->c, node);
    return m != NULL && &t->c->units[m->unit] == t->u;
}

/* A rollback takes all waves at once, and the plan did not count with that either. */
static bool goes_back(const struct taking *t)
{
    return t->c->state == LKS_CHANGE_ROLLING_BACK;
}

/* Another change has it, and ends that by itself: so no wait is endless. */
static bool is_of_other(const struct taking *t, uint32_t node)
{
    uint64_t change = t->d->state->nodes[node].change;
    return change != 0 && change != t->c->id && lks_state_changing(t->d->state, node) != NULL;
}

/* An earlier change brought it to its stack and is not finished: the pool is in two parts by that
 * already. Of two changes only the later one waits for the other's end, and a rollback waits for
 * none. */
static bool is_of_earlier(const struct taking *t, uint32_t node)
{
    const struct lks_state *s = t->d->state;
    const struct lks_member *own = lks_state_change_member(t->c, node);
    if (goes_back(t) || s->nodes[node].pin == 0 || (own != NULL && own->state == LKS_MEMBER_DONE))
        return false;
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_state_change *o = &s->changes[i];
        const struct lks_member *m =
            o->id < t->c->id && !lks_change_over(o) ? lks_state_change_member(o, node) : NULL;
        if (m != NULL && m->state == LKS_MEMBER_DONE)
            return true;
    }
    return false;
}

static const struct lks_pool *pool_said(const struct taking *t, uint32_t pool)
{
    const struct lks_state *s = t->d->state;
    const struct lks_fleet *fleet = lks_book_fleet(t->d->book);
    return fleet == NULL || pool >= s->pool_count
               ? NULL
               : lks_fleet_find_pool(fleet, lks_state_text(s, s->pools[pool].name));
}

/* Nodes of a pool that are in use, by the stack they should run: how large a job could start. */
enum { KINDS_MAX = 8 }; /* of stacks; who has another is of no gang */
struct gangs {
    lks_text stacks[KINDS_MAX];
    uint64_t now[KINDS_MAX], left[KINDS_MAX]; /* without the unit */
};

static void add_to_gang(struct gangs *g, lks_text stack, bool stays)
{
    size_t i = 0;
    while (i < KINDS_MAX && g->now[i] > 0 && g->stacks[i] != stack)
        i++;
    if (i == KINDS_MAX)
        return;
    g->stacks[i] = stack;
    g->now[i]++;
    g->left[i] += stays;
}

static uint64_t largest(const uint64_t sizes[KINDS_MAX])
{
    uint64_t most = 0;
    for (size_t i = 0; i < KINDS_MAX; i++)
        most = sizes[i] > most ? sizes[i] : most;
    return most;
}

/* What cannot be kept by one change alone is said in its plan; two wait for each other. */
static const char *pool_lacks(const struct taking *t, uint32_t pool)
{
    const struct lks_state *s = t->d->state;
    const struct lks_pool *said = pool_said(t, pool);
    uint64_t out = 0, gang = said != NULL ? (uint64_t)said->min_gang : 0;
    struct gangs gangs = {0};
    bool others = false, earlier = false;
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (!n->placed || n->asset != 0 || n->pool != pool)
            continue;
        if (n->change != 0 || lks_plan_out(n))
            out++;
        else if (gang > 0)
            add_to_gang(&gangs, lks_state_intent(s, i), !is_of_unit(t, i));
        others |= is_of_other(t, i);
        earlier = earlier || (gang > 0 && is_of_earlier(t, i));
    }
    if (!others && !earlier)
        return NULL;
    if (others && out + t->begun + t->u->count > lks_plan_spared(s, t->d->book, pool))
        return "its pool cannot do without more nodes beside what another change has";
    if (largest(gangs.now) >= gang && largest(gangs.left) < gang + t->begun)
        return "beside what another change has, its pool would not keep its min_gang on one stack";
    return NULL;
}

/* Power: the same for a zone, in watts. */
struct draws {
    uint64_t returning, unit; /* of nodes in progress; of the unit's nodes */
    int64_t draw, rise;       /* of all; by how much that of the unit's nodes rises */
    bool others, other_rises;
};

/* By how much the draw of a node rises from one stack to another. */
static int64_t rise_of(const struct taking *t, const struct lks_node *n, lks_text from, lks_text to)
{
    const struct lks_state *s = t->d->state;
    if (from == 0 || to == 0 || from == to || n->whole == 0)
        return 0;
    int64_t before = lks_plan_power_limit(lks_book_stack(t->d->book, lks_state_text(s, from)));
    int64_t after = lks_plan_power_limit(lks_book_stack(t->d->book, lks_state_text(s, to)));
    return before == 0 || after == 0 ? 0 : (after - before) * s->bases[n->whole - 1].gpus;
}

/* One that is on its way, or there before its pool is pinned to it, will draw what that asks for.
 */
static void add_draw(const struct taking *t, uint32_t node, uint64_t watts, struct draws *sum)
{
    const struct lks_state *s = t->d->state;
    const struct lks_node *n = &s->nodes[node];
    const struct lks_state_change *c = lks_state_changing(s, node);
    const struct lks_member *m = lks_state_change_member(t->c, node);
    lks_text to = c != NULL ? c->stack : n->pin;
    lks_text from = n->pool < s->pool_count ? s->pools[n->pool].stack_digest : 0;
    bool ours = c != NULL ? c == t->c : m != NULL && m->state == LKS_MEMBER_DONE;
    int64_t rise = rise_of(t, n, from, to);
    sum->draw += (int64_t)watts + rise;
    sum->returning += c != NULL ? watts : 0;
    sum->others |= is_of_other(t, node) || (goes_back(t) && c != NULL);
    sum->other_rises |= rise > 0 && !ours;
    if (m == NULL || !is_of_unit(t, node))
        return;
    sum->unit += watts;
    sum->rise +=
        goes_back(t) ? rise_of(t, n, t->c->stack, m->from) : rise_of(t, n, m->from, t->c->stack);
}

/* What restarts together comes back together, whichever change it is of. */
static const char *zone_lacks(const struct taking *t, lks_text zone)
{
    enum { WATTS = 1000 };
    const struct lks_state *s = t->d->state;
    const struct lks_fleet *fleet = lks_book_fleet(t->d->book);
    struct lks_power power = {0};
    struct draws sum = {0};
    uint32_t pool = UINT32_MAX;
    uint64_t watts = 0;
    if (fleet != NULL)
        power = lks_fleet_power(fleet, lks_state_text(s, zone));
    if (zone == 0 || (power.budget_kw == 0 && power.ramp_kw == 0))
        return NULL;
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (!n->placed || n->asset != 0 || n->power_zone != zone)
            continue;
        if (n->pool != pool) {
            const struct lks_pool *said = pool_said(t, n->pool);
            watts = said != NULL ? (uint64_t)said->node_power_w : 0;
            pool = n->pool;
        }
        add_draw(t, i, watts, &sum);
    }
    sum.returning += sum.unit + sum.unit * t->begun / t->u->count;
    sum.others |= goes_back(t) && t->begun > 0;
    if (sum.others && power.ramp_kw > 0 && sum.returning > (uint64_t)power.ramp_kw * WATTS)
        return "its power zone does not bear its return beside nodes that are in progress";
    if (sum.other_rises && sum.rise > 0 && power.budget_kw > 0 &&
        sum.draw + sum.rise > power.budget_kw * WATTS)
        return "its power zone has no budget for its new limit beside what another change asks for";
    return NULL;
}

static bool is_like(const struct taking *t, const struct lks_unit *other)
{
    const struct lks_member *m = &t->c->members[t->u->first];
    const struct lks_member *o = &t->c->members[other->first];
    const struct lks_node *a = &t->d->state->nodes[m->node], *b = &t->d->state->nodes[o->node];
    return other->count == t->u->count && m->from == o->from && a->pool == b->pool &&
           a->power_zone == b->power_zone && a->asset == b->asset;
}

static const char *unit_lacks(const struct taking *t, bool alone)
{
    const struct lks_state *s = t->d->state;
    uint32_t pool = UINT32_MAX;
    lks_text zone = 0;
    const char *lacks = NULL;
    for (uint32_t i = 0; i < t->u->count && lacks == NULL; i++) {
        const struct lks_node *n = &s->nodes[t->c->members[t->u->first + i].node];
        if (n->asset != 0 || n->pool >= s->pool_count)
            continue;
        if (n->pool != pool && !alone)
            lacks = pool_lacks(t, n->pool);
        if (n->power_zone != zone && lacks == NULL)
            lacks = zone_lacks(t, n->power_zone);
        pool = n->pool;
        zone = n->power_zone;
    }
    return lacks;
}

const char *lks_campaign_unit_crowds(const struct lks_deciding *d, const struct lks_state_change *c,
                                     const struct lks_unit *u, uint32_t begun,
                                     struct lks_crowded *last)
{
    const struct taking t = {d, c, u, begun};
    bool alone = is_alone(d->state, c);
    if (alone && !goes_back(&t))
        return NULL;
    if (last != NULL && last->unit != NULL && is_like(&t, last->unit))
        return last->why;
    const char *lacks = unit_lacks(&t, alone);
    if (last != NULL && lacks != NULL)
        *last = (struct lks_crowded){u, lacks};
    return lacks;
}

/* Who joins --------------------------------------------------------------------------------- */

bool lks_campaign_absorb(struct lks_deciding *d, const struct lks_state_change *c)
{
    const struct lks_state *s = d->state;
    bool any = false;
    if (lks_change_late(c, d->now.wall)) /* they could not begin, and it would never be done */
        return false;
    for (uint32_t n = 0; n < s->node_count && lks_deciding_room(d); n++) {
        struct lks_rec_plan_part part = {0};
        if (!s->nodes[n].placed || s->nodes[n].asset != 0 ||
            lks_state_change_member(c, n) != NULL || !lks_plan_joins(s, d->book, c, n, &part) ||
            part.wave >= c->wave_count)
            continue;
        part.change = c->id;
        lks_decision_add(d, LKS_RECORD_PLAN_PART)->plan_part = part;
        if (!any)
            lks_decision_add(d, LKS_RECORD_WAVE)->wave =
                (struct lks_rec_wave){.change = c->id,
                                      .index = part.wave,
                                      .state = LKS_WAVE_BEGUN,
                                      .text = LKS_STR("nodes joined")};
        any = true;
    }
    return any;
}

/* What it pins ------------------------------------------------------------------------------ */

/* Whether it was asked for all of this pool, nodes that joined since included. */
static bool is_for_pool(const struct lks_state *s, const struct lks_state_change *c, uint32_t pool)
{
    static const struct lks_str all = LKS_STR_C(LKS_PLAN_POOL);
    struct lks_str hosts = lks_state_text(s, c->hosts);
    return lks_str_starts(hosts, all.ptr) &&
           lks_str_eq((struct lks_str){hosts.ptr + all.len, hosts.len - all.len},
                      lks_state_text(s, s->pools[pool].name));
}

/* Whether `o` took more of the pool further than are where `c` brought them. */
static bool took_most(const struct lks_state *s, const struct lks_state_change *c,
                      const struct lks_state_change *o, uint32_t pool)
{
    uint32_t further = 0, here = 0;
    for (uint32_t n = 0; n < s->node_count; n++) {
        const struct lks_member *m = lks_state_change_member(o, n);
        if (!s->nodes[n].placed || s->nodes[n].pool != pool)
            continue;
        here += s->nodes[n].pin == c->stack;
        further += m != NULL && m->state == LKS_MEMBER_DONE;
    }
    return further > here;
}

/* Whether a later change took the pool further: to its own stack, from which this one did not
 * come. */
static bool went_on(const struct lks_state *s, const struct lks_state_change *c, uint32_t pool)
{
    lks_text now = s->pools[pool].stack_digest;
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_state_change *o = &s->changes[i];
        if (o->id > c->id && o->state == LKS_CHANGE_DONE && o->stack == now && now != 0 &&
            !lks_change_comes_from(c, now) && took_most(s, c, o, pool))
            return true;
    }
    return false;
}

/* A change brought the pool there: that is its pin from now on. */
static void pin_pool(struct lks_deciding *d, uint32_t pool, lks_text name, lks_text digest)
{
    static const char *const acts[] = {
        "",        "alarm",         "drain",         "alarm drain",
        "propose", "alarm propose", "drain propose", "alarm drain propose",
    };
    const struct lks_state *s = d->state;
    const struct lks_state_pool *p = &s->pools[pool];
    lks_decision_add(d, LKS_RECORD_POOL)->pool = (struct lks_rec_pool){
        .name = lks_state_text(s, p->name),
        .posture = lks_state_text(s, p->posture),
        .criticality = p->criticality,
        .enforce = lks_state_text(s, p->enforce),
        .sched = lks_state_text(s, p->sched),
        .stack = lks_state_text(s, name),
        .stack_digest = lks_state_text(s, digest),
        .by = d->event->by,
        .on_drift = lks_str_from(acts[p->on_drift & (LKS_COUNT(acts) - 1)]),
        .deviations = p->deviations,
        .attested = p->attested,
        .check_age = p->check_age,
        .sweep = p->sweep,
        .drain_refused = p->drain_refused,
    };
}

/* A pool of which every node was brought there, by another change, too, or is kept or named: what
 * it pins is the new one. Who was brought elsewhere since is not there; who drifted runs neither,
 * and is held to what the pool pins. */
void lks_campaign_pin(struct lks_deciding *d, const struct lks_state_change *c)
{
    LKS_CLEANUP(lks_bitset_fini) struct lks_bitset others = {0}, some = {0};
    const struct lks_state *s = d->state;
    struct lks_err err = {0};
    if (c->stack == 0)
        return;
    if (lks_bitset_init(&others, (size_t)s->pool_count + 1, &err) != LKS_OK ||
        lks_bitset_init(&some, (size_t)s->pool_count + 1, &err) != LKS_OK) {
        d->out->failed = err.code;
        return;
    }
    for (uint32_t n = 0; n < s->node_count; n++) {
        const struct lks_member *m = lks_state_change_member(c, n);
        uint32_t pool = s->nodes[n].pool;
        if (!s->nodes[n].placed || pool >= s->pool_count)
            continue;
        bool done = m != NULL && m->state == LKS_MEMBER_DONE;
        bool there = s->nodes[n].pin == c->stack;
        bool apart = s->nodes[n].right != c->stack && !lks_plan_drifted(s, n);
        if (m == NULL ? apart : !lks_member_over(m) || (done && !there))
            lks_bitset_set(&others, pool);
        else if (done)
            lks_bitset_set(&some, pool);
    }
    for (uint32_t p = 0; p < s->pool_count; p++) {
        if (lks_bitset_test(&some, p) && (is_for_pool(s, c, p) || !lks_bitset_test(&others, p)) &&
            s->pools[p].stack_digest != c->stack && !went_on(s, c, p) &&
            lks_delta_pins(s, d->book->facts, p, lks_state_text(s, c->stack)))
            pin_pool(d, p, c->name, c->stack);
    }
}
