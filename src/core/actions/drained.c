#include "core/actions/drained.h"

#include "core/governance/delta.h"
#include "core/plan/drain.h"
#include "core/rows/command.h"
#include "core/rows/pool.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "model/manifest/executor.h"

const struct lks_state_command *lks_drained_look(const struct lks_state *s, uint32_t node,
                                                 lks_ms since)
{
    for (uint32_t i = s->command_count; i-- > 0;) {
        const struct lks_state_command *c = &s->commands[i];
        if (c->node != node || !c->ended ||
            !lks_str_is(lks_state_text(s, c->executor), LKS_EXECUTOR_IDLE))
            continue;
        return c->sent >= since && c->boot == s->nodes[node].boot ? c : NULL;
    }
    return NULL;
}

lks_ms lks_drained_since(const struct lks_state *s, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    lks_ms out = n->changing != 0 ? n->changing : UINT64_MAX;
    if (n->held && n->held_since < out)
        out = n->held_since;
    bool enforces =
        n->pool < s->pool_count && lks_str_is(lks_state_text(s, s->pools[n->pool].enforce), "on");
    lks_ms quiet = enforces ? lks_node_status_quiet(s, node) : 0;
    return quiet > out ? quiet : out;
}

static enum lks_drain_sched sched_of(const struct lks_state *s, uint32_t node)
{
    uint32_t pool = s->nodes[node].pool;
    return pool < s->pool_count ? lks_drain_sched(lks_state_text(s, s->pools[pool].sched))
                                : LKS_DRAIN_AGENT;
}

enum lks_drained lks_drained(const struct lks_state *s, uint32_t node, lks_ms wall)
{
    lks_ms since = lks_drained_since(s, node);
    lks_ms recent = wall > LKS_DRAINED_AGE ? wall - LKS_DRAINED_AGE : 0;
    if (since > wall)
        return LKS_DRAINED_IN_SERVICE;
    enum lks_drain_sched sched = sched_of(s, node);
    lks_ms emptied = s->nodes[node].held ? s->nodes[node].emptied : 0;
    if (sched == LKS_DRAIN_NOT_YET)
        return LKS_DRAINED_NO_DRIVER;
    if (sched == LKS_DRAIN_DRIVEN && emptied == 0)
        return LKS_DRAINED_SCHED;
    if (sched == LKS_DRAIN_DRIVEN && emptied > since)
        since = emptied;
    const struct lks_state_command *look =
        lks_drained_look(s, node, since > recent ? since : recent);
    if (look == NULL)
        return LKS_DRAINED_UNREAD;
    return look->outcome == LKS_OUTCOME_DONE ? LKS_DRAINED_YES : LKS_DRAINED_BUSY;
}

uint32_t lks_drained_not(const struct lks_state *s, const struct lks_facts *facts, uint32_t node,
                         lks_ms wall, enum lks_drained *how)
{
    const struct lks_node_status *st = s->standing;
    uint32_t n = node;
    do {
        if (s->nodes[n].asset == 0 && lks_delta_in_production(s, facts, n)) {
            *how = lks_drained(s, n, wall);
            if (*how != LKS_DRAINED_YES)
                return n;
        }
        n = s->nodes[node].asset != 0 && st->domain[node] != 0 ? st->domain_next[n] : node;
    } while (n != node);
    return LKS_NO_NODE;
}
