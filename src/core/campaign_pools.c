/* What changes mean for whole pools: what they can do without now, and what they pin at the end. */
#include "core/campaign_parts.h"
#include "core/plan.h"

/* What a pool can do without -------------------------------------------------------------- */

/* Alone a change keeps to the width that it was planned with; nobody planned for two at once. */
static bool is_alone(const struct lks_state *s, const struct lks_state_change *c)
{
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_state_change *o = &s->changes[i];
        if (o != c && o->states[LKS_MEMBER_WAITING] + o->states[LKS_MEMBER_ASKED] +
                              o->states[LKS_MEMBER_READING] >
                          0)
            return false;
    }
    return true;
}

/* Of those that it counts, whoever another change has returns by itself: so nobody waits for ever.
 */
static bool has_room(const struct lks_deciding *d, const struct lks_state_change *c, uint32_t pool,
                     uint64_t more)
{
    const struct lks_state *s = d->state;
    uint64_t out = 0;
    bool others = false;
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (!n->placed || n->asset != 0 || n->pool != pool)
            continue;
        out += n->change != 0 || lks_plan_out(n);
        others |= n->change != 0 && n->change != c->id && lks_state_changing(s, i) != NULL;
    }
    return !others || out + more <= lks_plan_spared(s, d->book, pool);
}

bool lks_unit_fits(const struct lks_deciding *d, const struct lks_state_change *c,
                   const struct lks_unit *u, uint32_t begun)
{
    const struct lks_state *s = d->state;
    uint32_t pool = UINT32_MAX;
    if (is_alone(s, c))
        return true;
    for (uint32_t i = 0; i < u->count; i++) {
        const struct lks_node *n = &s->nodes[c->members[u->first + i].node];
        if (n->asset != 0 || n->pool >= s->pool_count || n->pool == pool)
            continue;
        pool = n->pool;
        if (!has_room(d, c, pool, (uint64_t)begun + u->count))
            return false;
    }
    return true;
}

/* What it pins ------------------------------------------------------------------------------ */

/* Whether it was asked for all of this pool, whoever came to it since. */
static bool is_for_pool(const struct lks_state *s, const struct lks_state_change *c, uint32_t pool)
{
    static const struct lks_str all = LKS_STR_C(LKS_PLAN_POOL);
    struct lks_str hosts = lks_state_text(s, c->hosts);
    return lks_str_starts(hosts, all.ptr) &&
           lks_str_eq((struct lks_str){hosts.ptr + all.len, hosts.len - all.len},
                      lks_state_text(s, s->pools[pool].name));
}

/* A pool of which every node was brought there, by another change, too, or is kept or named: what
 * it pins is the new one. */
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
        const struct lks_member *m = lks_change_member(c, n);
        uint32_t pool = s->nodes[n].pool;
        if (!s->nodes[n].placed || pool >= s->pool_count)
            continue;
        if (m == NULL ? s->nodes[n].right != c->stack : !lks_member_over(m))
            lks_bitset_set(&others, pool);
        else if (m != NULL && m->state == LKS_MEMBER_DONE)
            lks_bitset_set(&some, pool);
    }
    for (uint32_t p = 0; p < s->pool_count; p++) {
        if (lks_bitset_test(&some, p) && (is_for_pool(s, c, p) || !lks_bitset_test(&others, p)) &&
            s->pools[p].stack_digest != c->stack)
            lks_deciding_pin(d, p, c->name, c->stack);
    }
}
