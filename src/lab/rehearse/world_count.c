/* Capacity, gangs and GPU-hours, kept along as nodes drain and return. */
#include "core/campaign/campaign.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/state.h"
#include "lab/rehearse/world.h"

#include <stdio.h>
#include <stdlib.h>

/* By what was read of it; where nothing was, by its class. */
uint32_t lks_world_gpus(const struct lks_world *w, uint32_t node)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    const struct lks_book *book = lks_engine_book(w->engine);
    const struct lks_node *n = &s->nodes[node];
    struct lks_str name = lks_state_text(s, n->class);
    if (n->asset != 0)
        return 0;
    if (n->whole != 0 && s->bases[n->whole - 1].gpus > 0)
        return s->bases[n->whole - 1].gpus;
    const struct lks_class *class = lks_facts_class(book->facts, name);
    const struct lks_manifest *m = book->manifest;
    for (size_t i = 0; m != NULL && i < m->class_count; i++)
        class = lks_str_eq(m->classes[i].name, name) ? &m->classes[i] : class;
    return class != NULL ? (uint32_t) class->gpus : 0;
}

/* Beginning --------------------------------------------------------------------------------- */

/* Members by pool; the pools with most of them are told one by one. */
static bool choose_pools(struct lks_world *w)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    const struct lks_state_change *c = lks_world_change(w);
    uint32_t *members = calloc((size_t)s->pool_count + 1, sizeof(members[0]));
    if (members == NULL)
        return false;
    for (uint32_t i = 0; i < c->member_count; i++) {
        uint32_t pool = s->nodes[c->members[i].node].pool;
        members[pool < s->pool_count ? pool : s->pool_count]++;
    }
    for (; w->out->pool_count < LKS_REHEARSE_POOLS; w->out->pool_count++) {
        uint32_t most = s->pool_count;
        for (uint32_t p = 0; p < s->pool_count; p++)
            if (members[p] > (most < s->pool_count ? members[most] : 0))
                most = p;
        if (most == s->pool_count)
            break;
        members[most] = 0;
        w->pools[w->out->pool_count] =
            (struct world_pool){.place = most, .short_since = UINT64_MAX};
    }
    free(members);
    return true;
}

static uint32_t min_gang(const struct lks_world *w, struct lks_str name)
{
    const struct lks_manifest *m = lks_engine_book(w->engine)->manifest;
    const struct lks_pool *said =
        m != NULL && m->fleet_count > 0 ? lks_fleet_find_pool(&m->fleets[0], name) : NULL;
    if (said != NULL && said->min_gang > 0)
        return said->min_gang < UINT32_MAX ? (uint32_t)said->min_gang : UINT32_MAX;
    return 0;
}

static void name_pools(struct lks_world *w)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    for (uint32_t p = 0; p < w->out->pool_count; p++) {
        struct lks_rehearse_pool *pool = &w->out->pools[p];
        struct lks_str name = lks_state_text(s, s->pools[w->pools[p].place].name);
        (void)snprintf(pool->name, sizeof(pool->name), "%" LKS_STR_FMT, LKS_STR_ARG(name));
        pool->nodes = s->pools[w->pools[p].place].nodes;
        pool->in_use = pool->least = pool->gang = w->pools[p].used[0];
        uint32_t asked = w->pools[p].min_gang = min_gang(w, name);
        pool->wanted = asked > 0 ? asked : (pool->in_use + 1) / 2;
    }
}

bool lks_world_count_begin(struct lks_world *w)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    if (!choose_pools(w))
        return false;
    for (uint32_t i = 0; i < s->node_count; i++) {
        struct world_machine *m = &w->machines[i];
        m->pool = UINT32_MAX;
        for (uint32_t p = 0; p < w->out->pool_count && s->nodes[i].placed; p++)
            m->pool = s->nodes[i].pool == w->pools[p].place ? p : m->pool;
        m->gpus = lks_world_gpus(w, i);
        m->out = m->before = lks_plan_out(&s->nodes[i]) || !s->nodes[i].placed;
        if (m->pool != UINT32_MAX && !m->out)
            w->pools[m->pool].used[0]++;
    }
    name_pools(w);
    w->out->point = WORLD_MINUTE;
    return lks_world_jobs_begin(w);
}

/* Along the way ----------------------------------------------------------------------------- */

static uint32_t gang_of(const struct world_pool *p)
{
    return p->used[0] > p->used[1] ? p->used[0] : p->used[1];
}

/* A curve that has no room left has points of twice the length. */
static void halve(struct lks_rehearsed *o)
{
    for (uint32_t p = 0; p < o->pool_count; p++) {
        for (size_t i = 0; i < LKS_REHEARSE_POINTS / 2; i++) {
            uint32_t *used = &o->in_use[p][2 * i], *gang = &o->gang[p][2 * i];
            o->in_use[p][i] = used[0] < used[1] ? used[0] : used[1];
            o->gang[p][i] = gang[0] < gang[1] ? gang[0] : gang[1];
        }
    }
    o->points = LKS_REHEARSE_POINTS / 2;
    o->point *= 2;
}

/* Between two changes of anything all stays as it is. */
void lks_world_count_time(struct lks_world *w)
{
    struct lks_rehearsed *o = w->out;
    lks_ms after = w->now - w->begun;
    while (after / o->point >= o->points) {
        if (o->points == LKS_REHEARSE_POINTS) {
            halve(o);
            continue;
        }
        for (uint32_t p = 0; p < o->pool_count; p++) {
            o->in_use[p][o->points] = w->pools[p].used[0] + w->pools[p].used[1];
            o->gang[p][o->points] = gang_of(&w->pools[p]);
        }
        o->points++;
    }
}

static void note_pool(struct lks_world *w, uint32_t p)
{
    struct lks_rehearsed *o = w->out;
    struct lks_rehearse_pool *pool = &o->pools[p];
    struct world_pool *now = &w->pools[p];
    uint32_t used = now->used[0] + now->used[1], gang = gang_of(now);
    lks_world_count_time(w);
    uint32_t at = o->points - 1;
    o->in_use[p][at] = used < o->in_use[p][at] ? used : o->in_use[p][at];
    o->gang[p][at] = gang < o->gang[p][at] ? gang : o->gang[p][at];
    pool->least = used < pool->least ? used : pool->least;
    pool->gang = gang < pool->gang ? gang : pool->gang;
    bool is_short = gang < pool->wanted;
    if (is_short && now->short_since == UINT64_MAX)
        now->short_since = w->now;
    lks_ms lasted = now->short_since == UINT64_MAX ? 0 : w->now - now->short_since;
    pool->starved = lasted > pool->starved ? lasted : pool->starved;
    if (!is_short)
        now->short_since = UINT64_MAX;
}

static double hours_out(const struct lks_world *w, const struct world_machine *m)
{
    return m->before ? 0 : (double)m->gpus * (double)(w->now - m->since) / (double)WORLD_HOUR;
}

void lks_world_count_empty(struct lks_world *w, uint32_t node)
{
    struct world_machine *m = &w->machines[node];
    if (!m->out || m->empty)
        return;
    m->empty = true;
    w->out->draining += hours_out(w, m);
}

static void lose(struct lks_world *w, const struct world_machine *m)
{
    w->out->gpu_hours += hours_out(w, m);
    w->out->draining += m->empty ? 0 : hours_out(w, m);
}

void lks_world_count_node(struct lks_world *w, uint32_t node)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    const struct lks_member *member = lks_state_change_member(lks_world_change(w), node);
    struct world_machine *m = &w->machines[node];
    bool out = lks_plan_out(&s->nodes[node]) || !s->nodes[node].placed;
    bool fresh = member != NULL && member->state == LKS_MEMBER_DONE;
    if (out == m->out && fresh == m->fresh)
        return;
    if (m->pool != UINT32_MAX) {
        lks_world_count_time(w);
        w->pools[m->pool].used[m->fresh] -= !m->out;
        w->pools[m->pool].used[fresh] += !out;
    }
    if (out && !m->out) {
        m->since = w->now;
        m->empty = false;
    }
    if (!out && m->out) {
        lose(w, m);
        m->before = false;
    }
    m->out = out;
    m->fresh = fresh;
    lks_world_job_moved(w, node);
    if (m->pool != UINT32_MAX)
        note_pool(w, m->pool);
}

/* What is still out when it is over counts until then. */
void lks_world_count_end(struct lks_world *w)
{
    const struct lks_state_change *c = lks_world_change(w);
    lks_world_count_time(w);
    lks_world_jobs_end(w);
    for (uint32_t p = 0; p < w->out->pool_count; p++)
        note_pool(w, p);
    for (uint32_t i = 0; i < w->machine_count; i++)
        if (w->machines[i].out)
            lose(w, &w->machines[i]);
    for (unsigned state = 0; state < LKS_MEMBER_STATE_COUNT; state++)
        w->out->members[state] = c->states[state];
}
