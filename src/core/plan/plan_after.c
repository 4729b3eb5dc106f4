/* Notes for the approvers of a plan: nodes that will wait, and the state of pools when it is
 * finished. */
#include "core/plan/drain.h"
#include "core/plan/plan_work.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

/* A person holds them: no change starts on them. */
static enum lks_code note_held(struct lks_planning *p)
{
    struct lks_str *names = lks_plan_array(p, p->member_count, sizeof(*names)), hosts;
    size_t count = 0;
    if (names == NULL)
        return p->err->code;
    for (uint32_t i = 0; i < p->member_count; i++) {
        if (p->state->nodes[p->members[i].node].held)
            names[count++] = lks_state_name(p->state, p->members[i].node);
    }
    if (count == 0)
        return LKS_OK;
    if (lks_plan_hosts(p, names, count, &hosts) != LKS_OK)
        return p->err->code;
    return lks_plan_note(p, LKS_PLAN_WARNING,
                         "on hold by a person, and waited for before they start: %" LKS_STR_FMT,
                         LKS_STR_ARG(hosts));
}

/* What is done to the jobs of a pool, where they are not only waited for. */
static enum lks_code note_jobs_of(struct lks_planning *p, const struct lks_state_pool *pool,
                                  const struct lks_plan_kind *kind)
{
    char grace[LKS_SPAN_TEXT_SIZE];
    struct lks_str name = lks_state_text(p->state, pool->name);
    if (kind->signal.len == 0)
        return lks_plan_note(p, LKS_PLAN_JOBS,
                             "on nodes of pool %" LKS_STR_FMT ", " LKS_DRAIN_EVICTIONS,
                             LKS_STR_ARG(name));
    bool evicts = lks_drain_sched_evicts(lks_state_text(p->state, pool->sched));
    return lks_plan_note(p, LKS_PLAN_JOBS,
                         "jobs on nodes of pool %" LKS_STR_FMT " are sent %" LKS_STR_FMT
                         ", given %s, then requeued, each once; jobs that their scheduler may not "
                         "requeue are waited for%s",
                         LKS_STR_ARG(name), LKS_STR_ARG(kind->signal),
                         lks_time_span_text(kind->grace, grace),
                         evicts ? "; " LKS_DRAIN_EVICTIONS : "");
}

static enum lks_code note_jobs(struct lks_planning *p)
{
    const struct lks_state *s = p->state;
    bool *told = lks_plan_array(p, s->pool_count, sizeof(*told));
    if (told == NULL)
        return p->err->code;
    for (uint32_t i = 0; i < p->member_count; i++) {
        const struct lks_plan_kind *kind = &p->recipes[p->members[i].recipe].kind;
        uint32_t pool = s->nodes[p->members[i].node].pool;
        if (kind->jobs != LKS_DRAIN_JOBS_REQUEUE || pool >= s->pool_count || told[pool])
            continue;
        told[pool] = true;
        if (note_jobs_of(p, &s->pools[pool], kind) != LKS_OK)
            return p->err->code;
    }
    return LKS_OK;
}

/* Nodes are kept from jobs that would run into a window: in pools that say so, where there is one.
 */
static enum lks_code note_reserved(struct lks_planning *p)
{
    const struct lks_state *s = p->state;
    bool *told = lks_plan_array(p, s->pool_count, sizeof(*told));
    bool window = p->wish.windows.len > 0 || p->wish.not_before > 0;
    if (told == NULL)
        return p->err->code;
    for (uint32_t i = 0; i < p->member_count && p->fleet != NULL; i++) {
        uint32_t pool = s->nodes[p->members[i].node].pool;
        if (pool >= s->pool_count || told[pool])
            continue;
        told[pool] = true;
        struct lks_str name = lks_state_text(s, s->pools[pool].name);
        const struct lks_pool *says = lks_fleet_find_pool(p->fleet, name);
        if (says == NULL || !says->reserve || (!window && says->windows.len == 0))
            continue;
        if (lks_plan_note(p, LKS_PLAN_JOBS,
                          "%" LKS_STR_FMT " reserves nodes of pool %" LKS_STR_FMT
                          " for the window, as many as change at once: no job starts on them that "
                          "would run into it, and running jobs are left alone",
                          LKS_STR_ARG(lks_drain_sched_first(lks_state_text(s, s->pools[pool].sched),
                                                            LKS_DRAIN_RESERVES)),
                          LKS_STR_ARG(name)) != LKS_OK)
            return p->err->code;
    }
    return LKS_OK;
}

/* Nodes by pool: those that change, and those that are neither among them nor there already. */
struct shares {
    bool *changes;         /* by node */
    uint32_t *ours, *rest; /* by pool */
    struct lks_str *names; /* room for all */
};

static enum lks_code share(struct lks_planning *p, struct shares *out)
{
    const struct lks_state *s = p->state;
    *out = (struct shares){
        .changes = lks_plan_array(p, s->node_count, sizeof(*out->changes)),
        .ours = lks_plan_array(p, s->pool_count, sizeof(*out->ours)),
        .rest = lks_plan_array(p, s->pool_count, sizeof(*out->rest)),
        .names = lks_plan_array(p, p->member_count, sizeof(*out->names)),
    };
    if (out->changes == NULL || out->ours == NULL || out->rest == NULL || out->names == NULL)
        return p->err->code;
    for (uint32_t i = 0; i < p->member_count; i++)
        out->changes[p->members[i].node] = true;
    for (uint32_t n = 0; n < s->node_count; n++) {
        const struct lks_node *node = &s->nodes[n];
        if (!node->placed || node->pool >= s->pool_count)
            continue;
        out->ours[node->pool] += out->changes[n];
        out->rest[node->pool] +=
            !out->changes[n] && node->right != p->to_text && !lks_plan_drifted(s, n);
    }
    return LKS_OK;
}

/* It keeps its pin, since not all of it changes: who does differs from that. */
static enum lks_code note_pool(struct lks_planning *p, const struct shares *all, uint32_t pool)
{
    const struct lks_state *s = p->state;
    struct lks_str hosts;
    char rest[LKS_COUNT_TEXT_SIZE];
    size_t count = 0;
    for (uint32_t i = 0; i < p->member_count; i++) {
        if (s->nodes[p->members[i].node].pool == pool)
            all->names[count++] = lks_state_name(s, p->members[i].node);
    }
    if (lks_plan_hosts(p, all->names, count, &hosts) != LKS_OK)
        return p->err->code;
    return lks_plan_note(p, LKS_PLAN_WARNING,
                         "pool %" LKS_STR_FMT " stays pinned to %" LKS_STR_FMT
                         ", for %s of it %s not among these: when this is finished, drift from "
                         "that pin is %" LKS_STR_FMT,
                         LKS_STR_ARG(lks_state_text(s, s->pools[pool].name)),
                         LKS_STR_ARG(lks_state_text(s, s->pools[pool].stack)),
                         lks_str_count_text(all->rest[pool], "node", rest),
                         all->rest[pool] == 1 ? "is" : "are", LKS_STR_ARG(hosts));
}

enum lks_code lks_plan_after(struct lks_planning *p)
{
    const struct lks_state *s = p->state;
    struct shares all;
    uint32_t told = 0;
    if (note_held(p) != LKS_OK || note_jobs(p) != LKS_OK || note_reserved(p) != LKS_OK)
        return p->err->code;
    if (p->wish.kind != LKS_CHANGE_STACK || p->wish.pool.len > 0)
        return LKS_OK;
    if (share(p, &all) != LKS_OK)
        return p->err->code;
    for (uint32_t i = 0; i < s->pool_count && told < LKS_PLAN_NOTES_OF; i++) {
        if (all.ours[i] == 0 || all.rest[i] == 0 || s->pools[i].stack_digest == p->to_text)
            continue;
        told++;
        if (note_pool(p, &all, i) != LKS_OK)
            return p->err->code;
    }
    return LKS_OK;
}
