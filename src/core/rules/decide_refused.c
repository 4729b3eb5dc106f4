/* Nodes that admission refuses are drained where their pool asks for that, so that the scheduler
 * chooses others: a job that is refused waits, and would be given the same node again. */
#include "core/rows/pool.h"
#include "core/rules/decide_rules.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

enum { WORD = 64 };

/* NULL: the pool of this node does not drain such nodes. */
static const struct lks_state_pool *pool_of(const struct lks_deciding *d, uint32_t node)
{
    const struct lks_state *s = d->state;
    const struct lks_node *n = &s->nodes[node];
    if (!n->placed || n->asset != 0 || n->pool >= s->pool_count)
        return NULL;
    const struct lks_state_pool *pool = &s->pools[n->pool];
    bool enforces = lks_str_is(lks_state_text(s, pool->enforce), "on");
    return pool->drain_refused && enforces ? pool : NULL;
}

/* Its drift drains it in this decision, by the pool's `on_drift`: drift that begins, or all of it
 * where what waited is done. */
static bool drift_drains(const struct lks_deciding *d, uint32_t node,
                         const struct lks_state_pool *pool, bool all)
{
    const struct lks_node_status *st = d->state->standing;
    return (pool->on_drift & LKS_ACT_DRAIN) != 0 && lks_bitset_test(&st->differs, node) &&
           (all || !lks_bitset_test(&st->recorded, node));
}

/* Why the node is to be drained; NULL: it is not, or it is drained or held already. */
static const char *why_drain(const struct lks_deciding *d, uint32_t node, bool all)
{
    const struct lks_node *n = &d->state->nodes[node];
    const struct lks_state_pool *pool = pool_of(d, node);
    const char *why = NULL;
    if (pool == NULL || n->drained_by != 0 || n->change != 0 || n->held ||
        drift_drains(d, node, pool, all))
        return NULL;
    (void)lks_node_status_refused(d->state, node, d->now.wall, &why);
    return why;
}

static void drain(struct lks_deciding *d, uint32_t node, const char *why)
{
    struct lks_str owner = LKS_STR(LKS_NODE_STATUS_REFUSED);
    struct lks_record *r = lks_decision_add(d, LKS_RECORD_DRAINED);
    r->drained = (struct lks_rec_drained){.node = lks_state_name(d->state, node),
                                          .owner = owner,
                                          .reason = lks_str_from(why),
                                          .row = lks_decision_row(d, owner)};
}

/* Why our drain of the node is to end; NULL: it stays, or there is none. A change that has the node
 * goes on without a gap between two drains. */
static const char *why_end(const struct lks_deciding *d, uint32_t node)
{
    const char *why = NULL;
    if (!lks_node_status_drained_refused(d->state, node) || d->state->nodes[node].change != 0)
        return NULL;
    if (pool_of(d, node) == NULL)
        return "its pool does not drain nodes that admission refuses";
    bool refused = lks_node_status_refused(d->state, node, d->now.wall, &why) != LKS_BAR_COUNT;
    return refused ? NULL : "admission takes it again";
}

static void end(struct lks_deciding *d, uint32_t node, const char *why)
{
    lks_decision_add(d, LKS_RECORD_UNDRAINED)->undrained =
        (struct lks_rec_undrained){.node = lks_state_name(d->state, node),
                                   .owner = LKS_STR(LKS_NODE_STATUS_REFUSED),
                                   .reason = lks_str_from(why)};
}

static void look_at(struct lks_deciding *d, uint32_t node)
{
    const struct lks_state *s = d->state;
    const char *over = why_end(d, node);
    if (over != NULL) {
        end(d, node, over);
        return;
    }
    const char *why = why_drain(d, node, false);
    if (why == NULL || s->frozen || s->pools[s->nodes[node].pool].frozen)
        return;
    lks_decision_turn(d, node, "refused");
    if (!lks_decision_waits(d, s->nodes[node].pool))
        drain(d, node, why);
}

void lks_decide_refused_tick(struct lks_deciding *d)
{
    const struct lks_state *s = d->state;
    for (uint32_t n = 0; s->standing->refused_due && n < s->node_count; n += WORD) {
        uint64_t bits = lks_node_status_refused_word(s, n / WORD);
        for (; bits != 0; bits &= bits - 1) {
            uint32_t node = n + (uint32_t)__builtin_ctzll(bits);
            if (node >= s->node_count || !lks_deciding_room(d))
                return;
            look_at(d, node);
        }
    }
}

void lks_decide_refused_acts(struct lks_deciding *d, uint32_t pool)
{
    const struct lks_state *s = d->state;
    if (s->frozen || s->pools[pool].frozen)
        return;
    for (uint32_t n = 0; n < s->node_count; n++) {
        const char *why = s->nodes[n].pool == pool ? why_drain(d, n, true) : NULL;
        if (why != NULL)
            drain(d, n, why);
    }
}
