#include "core/governance/delta.h"

#include "codec/notation/version.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "model/tuple/tuple.h"

#include <stdio.h>

bool lks_delta_production(const struct lks_facts *facts, struct lks_str posture)
{
    for (size_t i = 0; i < facts->postures.count; i++) {
        if (lks_str_eq(facts->postures.rows[i].name, posture))
            return facts->postures.rows[i].production;
    }
    return true;
}

static bool is_production(const struct lks_state *s, const struct lks_facts *facts, uint32_t pool)
{
    return pool < s->pool_count && s->pools[pool].known &&
           lks_delta_production(facts, lks_state_text(s, s->pools[pool].posture));
}

bool lks_delta_in_production(const struct lks_state *s, const struct lks_facts *facts,
                             uint32_t node)
{
    const struct lks_node_status *st = s->standing;
    if (is_production(s, facts, s->nodes[node].pool))
        return true;
    if (s->nodes[node].asset == 0 || st->domain[node] == 0)
        return false;
    for (uint32_t n = st->domain_next[node]; n != node; n = st->domain_next[n]) {
        if (is_production(s, facts, s->nodes[n].pool))
            return true;
    }
    return false;
}

bool lks_delta_released(const struct lks_state *s, struct lks_str stack)
{
    const struct lks_state_stack *known = lks_state_stack(s, stack);
    return known != NULL && known->step == LKS_STEP_RELEASED;
}

bool lks_delta_pins(const struct lks_state *s, const struct lks_facts *facts, uint32_t pool,
                    struct lks_str stack)
{
    return lks_str_eq(lks_state_text(s, s->pools[pool].stack_digest), stack) ||
           !is_production(s, facts, pool) || lks_delta_released(s, stack);
}

bool lks_delta_takes(const struct lks_state *s, const struct lks_facts *facts, uint32_t node,
                     struct lks_str stack, lks_ms wall)
{
    uint32_t pool = s->nodes[node].pool;
    return pool >= s->pool_count || lks_delta_pins(s, facts, pool, stack) ||
           lks_node_status_excused(s, node, LKS_STR("*"), LKS_STR(""), wall);
}

bool lks_delta_has_firmware(const struct lks_facts *facts, const struct lks_stack *stack,
                            struct lks_str component, struct lks_str version)
{
    char name[LKS_READING_NAME_MAX + 1];
    snprintf(name, sizeof(name), "firmware/%" LKS_STR_FMT, LKS_STR_ARG(component));
    for (size_t i = 0; i < stack->component_count; i++) {
        const struct lks_component *c = &stack->components[i];
        struct lks_range range;
        struct lks_err ignored = {0};
        if (!lks_str_is(c->name, name))
            continue;
        if (lks_str_eq(c->version, version))
            return true;
        enum lks_version_scheme scheme = lks_facts_scheme(facts, c->name);
        if (c->window.len > 0 &&
            lks_version_range_parse(c->window, scheme, &range, &ignored) == LKS_OK &&
            lks_version_range_has(&range, version, scheme))
            return true;
    }
    return false;
}
