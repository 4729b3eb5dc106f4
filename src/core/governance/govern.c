#include "core/governance/govern.h"

#include "base/intern.h"
#include "core/gate/gate.h"
#include "core/governance/relaxed.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

struct lks_backing lks_govern_proposer(const struct lks_state *s, const struct lks_state_change *c)
{
    return (struct lks_backing){lks_state_text(s, c->by), lks_state_text(s, c->minters)};
}

struct lks_backing lks_govern_voter(const struct lks_state *s, const struct lks_vote *v)
{
    return (struct lks_backing){lks_state_text(s, v->by), lks_state_text(s, v->minters)};
}

bool lks_govern_counts(const struct lks_state *s, const struct lks_state_change *c,
                       const struct lks_vote *v, lks_ms wall)
{
    bool old = c->approval_age != 0 && wall >= v->at && wall - v->at >= c->approval_age;
    return v->yes && !old && !lks_backing_shared(lks_govern_voter(s, v), lks_govern_proposer(s, c));
}

/* Those whose yes counts, what they may, and who of them may be one person. */
struct voters {
    struct lks_backing who[LKS_CHANGE_VOTES + 1];
    struct lks_sight sight[LKS_CHANGE_VOTES + 1];
    uint64_t rivals[LKS_CHANGE_VOTES + 1];
    uint32_t count;
    lks_ms wall;
};
_Static_assert(LKS_CHANGE_VOTES + 1 <= LKS_BACKING_VOICES, "all votes are counted together");

static void add_voter(const struct lks_state *s, struct voters *v, struct lks_backing who,
                      struct lks_str credential)
{
    v->who[v->count] = who;
    v->sight[v->count++] = lks_access_sight_by(s, who.by, credential, LKS_MAY_APPROVE);
}

static struct voters voters_of(const struct lks_state *s, const struct lks_state_change *c,
                               lks_ms wall, const struct lks_voice *also, struct lks_str without)
{
    struct voters v = {.wall = wall};
    for (uint32_t i = 0; i < c->vote_count; i++) {
        const struct lks_vote *vote = &c->votes[i];
        struct lks_str by = lks_state_text(s, vote->by);
        bool again = also != NULL && lks_str_eq(by, also->who.by); /* the later word counts */
        if (lks_govern_counts(s, c, vote, wall) && !lks_str_eq(by, without) && !again)
            add_voter(s, &v, lks_govern_voter(s, vote), lks_state_text(s, vote->credential));
    }
    if (also != NULL)
        add_voter(s, &v, also->who, also->credential);
    lks_backing_rivals(v.who, v.count, v.rivals);
    return v;
}

/* Whether they would agree to what they did themselves. */
static bool has_lowered(const struct lks_state *s, uint32_t pool, struct lks_backing who,
                        lks_ms wall)
{
    return lks_relaxed_pending(s, pool, wall) &&
           lks_backing_shared(
               who, (struct lks_backing){lks_state_text(s, s->pools[pool].lowered_by),
                                         lks_state_text(s, s->pools[pool].lowered_minters)});
}

/* Whether the voice counts at the node; LKS_NO_NODE: wherever it is. */
static bool is_heard(const struct lks_state *s, const struct voters *v, uint32_t voter,
                     uint32_t node)
{
    return node == LKS_NO_NODE || (!has_lowered(s, s->nodes[node].pool, v->who[voter], v->wall) &&
                                   lks_access_sees(s, &v->sight[voter], node));
}

/* People, by however many names and credentials they spoke. */
static uint32_t voices_for(const struct lks_state *s, const struct voters *v, uint32_t node)
{
    uint64_t heard = 0;
    for (uint32_t i = 0; i < v->count; i++)
        heard |= is_heard(s, v, i, node) ? UINT64_C(1) << i : 0;
    return lks_backing_most(v->rivals, heard);
}

/* Neighbours are mostly of one pool and site: each of these is counted once in a row. */
struct lks_tally lks_govern_tally(const struct lks_state *s, const struct lks_state_change *c,
                                  lks_ms wall, const struct lks_voice *also, struct lks_str without)
{
    struct voters v = voters_of(s, c, wall, also, without);
    struct lks_tally t = {.needed = c->quorum, .given = voices_for(s, &v, LKS_NO_NODE)};
    const struct lks_node *last = NULL;
    for (uint32_t i = 0; i < c->member_count; i++) {
        const struct lks_node *n = &s->nodes[c->members[i].node];
        if (!n->placed || (last != NULL && last->pool == n->pool && last->site == n->site))
            continue;
        last = n;
        uint32_t given = voices_for(s, &v, c->members[i].node);
        if (given >= t.given)
            continue;
        t.given = given;
        t.where = lks_access_scope_of_node(s, c->members[i].node);
    }
    return t;
}

bool lks_govern_may_vote(const struct lks_state *s, const struct lks_state_change *c,
                         struct lks_str who, struct lks_str credential)
{
    struct lks_sight sight = lks_access_sight_by(s, who, credential, LKS_MAY_APPROVE);
    for (uint32_t i = 0; i < c->member_count; i++) {
        if (lks_access_sees(s, &sight, c->members[i].node))
            return true;
    }
    return false;
}

static bool has_node_at(const struct lks_state *s, const struct lks_state_change *c,
                        struct lks_scope scope)
{
    for (uint32_t i = 0; i < c->member_count; i++) {
        struct lks_scope of = lks_access_scope_of_node(s, c->members[i].node);
        if ((scope.site.len == 0 || lks_str_eq(scope.site, of.site)) &&
            (scope.pool.len == 0 || lks_str_eq(scope.pool, of.pool)))
            return true;
    }
    return false;
}

const struct lks_state_change *lks_govern_own_at(const struct lks_state *s, struct lks_backing by,
                                                 struct lks_scope scope)
{
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_state_change *c = &s->changes[i];
        if (!lks_change_over(c) && lks_backing_shared(lks_govern_proposer(s, c), by) &&
            has_node_at(s, c, scope))
            return c;
    }
    return NULL;
}

bool lks_govern_waits(const struct lks_state *s, const struct lks_state_change *c, lks_ms wall,
                      struct lks_tally *out)
{
    if (c->glass.at == 0)
        return false;
    *out = lks_govern_tally(s, c, wall, NULL, LKS_STR(""));
    return !lks_tally_complete(out);
}

/* What a waiver is asked for. */
struct waived {
    lks_text gate;
    lks_ms since, wall; /* said no earlier, and holds now */
};

/* The last waiver or its end for this gate that applies to the node, by a person who may approve
 * there. */
static bool is_waived_at(const struct lks_state *s, const struct lks_state_change *c,
                         const struct waived *q, uint32_t node)
{
    uint32_t pool = s->nodes[node].pool;
    lks_text name = pool < s->pool_count ? s->pools[pool].name : 0;
    for (uint32_t i = c->waiver_count; i-- > 0;) {
        const struct lks_waiver *w = &c->waivers[i];
        if (w->gate != q->gate || (w->pool != 0 && w->pool != name))
            continue;
        struct lks_sight sight = lks_access_sight(s, lks_state_text(s, w->by), LKS_MAY_APPROVE);
        if (lks_access_sees(s, &sight, node))
            return q->wall < w->until && w->at >= q->since;
    }
    return false;
}

static bool is_named(const struct lks_state_change *c, lks_text gate)
{
    for (uint32_t i = 0; i < c->waiver_count; i++) {
        if (c->waivers[i].gate == gate)
            return true;
    }
    return false;
}

/* An event that did not happen yet cannot be waived. */
static bool is_seen(const struct lks_state_change *c, uint32_t wave,
                    const struct lks_plan_metric *metric, lks_ms *since)
{
    if (metric == NULL || metric->kind != LKS_METRIC_HARD)
        return true;
    const struct lks_gate_look *l = lks_state_change_look(c, wave, metric->name);
    *since = l != NULL ? l->at : 0;
    return l != NULL && l->verdict == LKS_GATE_HALT;
}

/* Neighbours are mostly of one pool and site, and each of these is asked about once in a row. */
bool lks_govern_waived(const struct lks_state *s, const struct lks_state_change *c, uint32_t wave,
                       struct lks_str gate, const struct lks_plan_metric *metric, lks_ms wall)
{
    const struct lks_node *last = NULL;
    struct waived q = {.wall = wall};
    if (c->waiver_count == 0 || !lks_intern_find(&s->texts, gate, &q.gate) ||
        !is_named(c, q.gate) || !is_seen(c, wave, metric, &q.since))
        return false;
    for (uint32_t u = c->waves[wave].first_unit; u != 0; u = c->units[u - 1].next) {
        const struct lks_unit *unit = &c->units[u - 1];
        for (uint32_t i = 0; i < unit->count; i++) {
            uint32_t node = c->members[unit->first + i].node;
            const struct lks_node *n = &s->nodes[node];
            bool of = metric == NULL || lks_gate_metric_is_of(s, metric, n->pool);
            if (!n->placed || !of ||
                (last != NULL && last->pool == n->pool && last->site == n->site))
                continue;
            last = n;
            if (!is_waived_at(s, c, &q, node))
                return false;
        }
    }
    return last != NULL;
}
