#include "core/govern.h"

bool lks_govern_counts(const struct lks_state_change *c, const struct lks_vote *v, lks_ms wall)
{
    bool old = c->approval_age != 0 && wall >= v->at && wall - v->at >= c->approval_age;
    return v->yes && v->by != c->by && !old;
}

/* Those whose yes counts, and what they may. */
struct voters {
    struct lks_sight sights[LKS_CHANGE_VOTES + 1];
    uint32_t count;
};

static void add_voter(const struct lks_state *s, struct voters *v, struct lks_str who)
{
    v->sights[v->count++] = lks_access_sight(s, who, LKS_MAY_APPROVE);
}

static struct voters voters_of(const struct lks_state *s, const struct lks_state_change *c,
                               lks_ms wall, struct lks_str also, struct lks_str without)
{
    struct voters v = {.count = 0};
    bool had = false;
    for (uint32_t i = 0; i < c->vote_count; i++) {
        struct lks_str by = lks_state_text(s, c->votes[i].by);
        if (!lks_govern_counts(c, &c->votes[i], wall) || lks_str_eq(by, without))
            continue;
        had |= lks_str_eq(by, also);
        add_voter(s, &v, by);
    }
    if (also.len > 0 && !had)
        add_voter(s, &v, also);
    return v;
}

static uint32_t voices_for(const struct lks_state *s, const struct voters *v, uint32_t node)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < v->count; i++)
        count += lks_access_sees(s, &v->sights[i], node);
    return count;
}

/* Neighbours are mostly of one pool and site: each of these is counted once in a row. */
struct lks_tally lks_govern_tally(const struct lks_state *s, const struct lks_state_change *c,
                                  lks_ms wall, struct lks_str also, struct lks_str without)
{
    struct voters v = voters_of(s, c, wall, also, without);
    struct lks_tally t = {.needed = c->quorum, .given = v.count};
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
        t.where = lks_scope_of_node(s, c->members[i].node);
    }
    return t;
}

bool lks_govern_may_vote(const struct lks_state *s, const struct lks_state_change *c,
                         struct lks_str who)
{
    struct lks_sight sight = lks_access_sight(s, who, LKS_MAY_APPROVE);
    for (uint32_t i = 0; i < c->member_count; i++) {
        if (lks_access_sees(s, &sight, c->members[i].node))
            return true;
    }
    return false;
}

bool lks_govern_waits(const struct lks_state *s, const struct lks_state_change *c, lks_ms wall,
                      struct lks_tally *out)
{
    if (c->glass.at == 0)
        return false;
    *out = lks_govern_tally(s, c, wall, LKS_STR(""), LKS_STR(""));
    return !lks_tally_complete(out);
}

bool lks_change_waived(const struct lks_state *s, const struct lks_state_change *c,
                       struct lks_str gate, lks_ms wall)
{
    for (uint32_t i = 0; i < c->waiver_count; i++) {
        if (wall < c->waivers[i].until && lks_str_eq(lks_state_text(s, c->waivers[i].gate), gate))
            return true;
    }
    return false;
}
