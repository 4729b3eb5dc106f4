/*
 * Jobs of invented machines. Pools that are told one by one have gangs: jobs that need so many
 * nodes with one stack at the same time. A gang of which one node is asked to leave comes to its
 * next checkpoint, or its end, and gives up all its nodes; then it waits until as many are free
 * again. Jobs that wait begin in the order they came, and a smaller one does not wait for a larger.
 * Gangs of jobs that were listed are the same, but for their ends, which are in world_listed.c.
 */
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "lab/rehearse/world.h"

#include <stdlib.h>

enum { IN_USE_PERCENT = 80 };

/* By the posture of a pool: how long a node stays busy once it is asked to leave, in minutes (the
 * end of a job or its next checkpoint, the last requests, a moment at which it is idle); and nodes
 * of its largest jobs where it has no min_gang. */
static const struct posture {
    const char *word;
    uint32_t minutes, gang;
} postures[] = {
    {"pre-training", 20, 64},
    {"post-training", 15, 16},
    {"online-inference", 3, 1},
    {"batch", 45, 8},
    {"dev", 60, 1},
};

static const struct posture *posture_of(const struct lks_world *w, uint32_t node)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    uint32_t pool = s->nodes[node].pool;
    for (size_t i = 0; pool < s->pool_count && i < LKS_COUNT(postures); i++)
        if (lks_str_is(lks_state_text(s, s->pools[pool].posture), postures[i].word))
            return &postures[i];
    return &postures[0];
}

/* Free nodes of a pool, by the stack they have ------------------------------------------------- */

static void let_go(struct lks_world *w, uint32_t node)
{
    struct world_machine *m = &w->machines[node];
    struct world_pool *p = &w->pools[m->pool];
    uint32_t *first = &p->free[m->fresh];
    m->side = m->fresh;
    m->free = true;
    m->before_it = 0;
    m->behind_it = *first;
    if (*first != 0)
        w->machines[*first - 1].before_it = node + 1;
    *first = node + 1;
    p->free_count[m->side]++;
}

static void take(struct lks_world *w, uint32_t node)
{
    struct world_machine *m = &w->machines[node];
    struct world_pool *p = &w->pools[m->pool];
    if (m->before_it != 0)
        w->machines[m->before_it - 1].behind_it = m->behind_it;
    else
        p->free[m->side] = m->behind_it;
    if (m->behind_it != 0)
        w->machines[m->behind_it - 1].before_it = m->before_it;
    m->free = false;
    p->free_count[m->side]--;
}

/* Jobs ----------------------------------------------------------------------------------------- */

static void note_wait(struct lks_world *w, const struct world_job *job)
{
    struct lks_rehearse_jobs *like = &w->out->pools[job->pool].jobs[job->like];
    lks_ms waited = w->now - job->since;
    like->waited = waited > like->waited ? waited : like->waited;
}

static void join(struct lks_world *w, uint32_t j, uint32_t node)
{
    w->machines[node].job = j + 1;
    w->machines[node].behind_it = w->jobs[j].first;
    w->jobs[j].first = node + 1;
}

static void start(struct lks_world *w, uint32_t j, bool side)
{
    struct world_job *job = &w->jobs[j];
    struct world_pool *p = &w->pools[job->pool];
    job->first = 0;
    for (uint32_t i = 0; i < job->size; i++) {
        uint32_t node = p->free[side] - 1;
        take(w, node);
        join(w, j, node);
    }
    if (job->listed != 0)
        lks_world_listed_start(w, job->listed - 1);
}

/* Gangs that wait and find enough nodes now. */
static void start_waiting(struct lks_world *w, uint32_t pool)
{
    struct world_pool *p = &w->pools[pool];
    for (uint32_t *at = &p->waits; *at != 0 && p->free_count[0] + p->free_count[1] > 0;) {
        uint32_t j = *at - 1;
        struct world_job *job = &w->jobs[j];
        bool side = p->free_count[1] > p->free_count[0];
        if (p->free_count[side] < job->size) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        note_wait(w, job);
        start(w, j, side);
    }
}

static void wait_for_room(struct lks_world *w, uint32_t j)
{
    uint32_t *at = &w->pools[w->jobs[j].pool].waits;
    while (*at != 0)
        at = &w->jobs[*at - 1].next;
    *at = j + 1;
    w->jobs[j].next = 0;
    w->jobs[j].since = w->now;
}

void lks_world_job_ends(struct lks_world *w, uint32_t j)
{
    struct world_job *job = &w->jobs[j];
    job->ends = false;
    for (uint32_t at = job->first, next; at != 0; at = next) {
        struct world_machine *m = &w->machines[at - 1];
        next = m->behind_it;
        m->job = 0;
        if (!m->out)
            let_go(w, at - 1);
    }
    wait_for_room(w, j);
    start_waiting(w, job->pool);
}

/* Nodes ---------------------------------------------------------------------------------------- */

/* Of a pool that is not told a node has a job of its own, and one in five is idle. */
static void ask_alone(struct lks_world *w, uint32_t node)
{
    struct world_machine *m = &w->machines[node];
    if (m->busy != 0)
        return;
    lks_ms left = lks_world_takes(w, posture_of(w, node)->minutes * WORLD_MINUTE);
    m->busy = w->now + 1 + (lks_rng_percent(&w->rng, 100 - IN_USE_PERCENT) ? 0 : left);
}

void lks_world_job_ask(struct lks_world *w, uint32_t node)
{
    struct world_machine *m = &w->machines[node];
    struct world_job *job = m->job != 0 ? &w->jobs[m->job - 1] : NULL;
    lks_world_listed_ask_stays(w, node);
    if (m->pool == UINT32_MAX && m->site == 0) {
        ask_alone(w, node);
    } else if (job != NULL && job->listed != 0) {
        lks_world_listed_ask(w, job->listed - 1, node);
    } else if (job != NULL && !job->ends) {
        job->ends = true;
        lks_world_post(w, WORLD_JOB_ENDS, node, m->job - 1,
                       lks_world_takes(w, posture_of(w, node)->minutes * WORLD_MINUTE));
    }
}

bool lks_world_job_none(struct lks_world *w, uint32_t node)
{
    struct world_machine *m = &w->machines[node];
    if (m->stay_count > 0 || lks_world_listed_blocks(w, node))
        return false;
    if (m->pool != UINT32_MAX)
        return m->job == 0;
    if (w->now < m->busy)
        return false;
    m->busy = 0;
    return true;
}

void lks_world_job_moved(struct lks_world *w, uint32_t node)
{
    const struct world_machine *m = &w->machines[node];
    if (m->stays != 0 && !m->out)
        lks_world_listed_back(w, node);
    if (m->pool == UINT32_MAX || m->job != 0 || m->stays != 0)
        return;
    if (m->free)
        take(w, node);
    if (m->out)
        return;
    let_go(w, node);
    start_waiting(w, m->pool);
}

/* Beginning and end ---------------------------------------------------------------------------- */

/* Sizes of its jobs: the largest, a half of it, a quarter, an eighth. */
static void name_jobs(struct lks_rehearse_pool *pool, uint32_t largest)
{
    uint32_t most = pool->in_use > 0 ? pool->in_use : 1;
    for (uint32_t size = largest < most ? largest : most;
         size > 0 && pool->job_count < LKS_REHEARSE_JOBS; size /= 2)
        pool->jobs[pool->job_count++].size = size;
}

/* As many as keep the free nodes of the pool busy; those that are too large for what is left are
 * not drawn again. */
static void fill(struct lks_world *w, uint32_t p)
{
    struct lks_rehearse_pool *pool = &w->out->pools[p];
    uint32_t free = w->pools[p].free_count[0] * IN_USE_PERCENT / 100, likes = pool->job_count;
    for (uint32_t first = 0; first < likes && free > 0;) {
        uint32_t like = first + (uint32_t)lks_rng_below(&w->rng, likes - first);
        if (pool->jobs[like].size > free) {
            first = like + 1;
            continue;
        }
        pool->jobs[like].count++;
        free -= pool->jobs[like].size;
        w->jobs[w->job_count] =
            (struct world_job){.size = pool->jobs[like].size, .pool = p, .like = like};
        start(w, w->job_count++, false);
    }
}

/* A pool whose jobs are all listed has the sizes of these. */
static void begin_pool(struct lks_world *w, uint32_t p)
{
    uint32_t node = w->pools[p].free[0], asked = w->pools[p].min_gang;
    if (node == 0 && w->pools[p].listed == 0)
        return;
    name_jobs(&w->out->pools[p], node == 0   ? w->pools[p].listed
                                 : asked > 0 ? asked
                                             : posture_of(w, node - 1)->gang);
    fill(w, p);
}

/* A listed job that moves is a gang, where it is. It counts with the next larger size. */
static void begin_listed(struct lks_world *w, uint32_t listed)
{
    const uint32_t *nodes;
    uint32_t pool = 0, size = lks_world_listed_nodes(w, listed, &nodes), j = w->job_count;
    if (!lks_world_listed_moves(w, listed, &pool))
        return;
    struct lks_rehearse_pool *told = &w->out->pools[pool];
    uint32_t like = told->job_count - 1;
    while (like > 0 && told->jobs[like].size < size)
        like--;
    told->jobs[like].count++;
    w->jobs[w->job_count++] =
        (struct world_job){.size = size, .pool = pool, .like = like, .listed = listed + 1};
    w->runs[listed].gang = j + 1;
    for (uint32_t i = size; i-- > 0;)
        join(w, j, nodes[i]);
}

static void free_nodes(struct lks_world *w, bool listed)
{
    for (uint32_t i = w->machine_count; i-- > 0;) {
        const struct world_machine *m = &w->machines[i];
        bool is_listed = m->site != 0;
        if (is_listed == listed && m->pool != UINT32_MAX && !m->out && m->job == 0 && m->stays == 0)
            let_go(w, i);
    }
}

bool lks_world_jobs_begin(struct lks_world *w)
{
    size_t listed = w->listed.list.job_count;
    w->jobs = calloc((size_t)w->machine_count + listed + 1, sizeof(w->jobs[0]));
    if (w->jobs == NULL || !lks_world_listed_begin(w))
        return false;
    free_nodes(w, false);
    for (uint32_t p = 0; p < w->out->pool_count; p++)
        begin_pool(w, p);
    for (uint32_t i = 0; i < listed; i++)
        begin_listed(w, i);
    free_nodes(w, true);
    return true;
}

void lks_world_jobs_end(struct lks_world *w)
{
    for (uint32_t p = 0; p < w->out->pool_count; p++)
        for (uint32_t j = w->pools[p].waits; j != 0; j = w->jobs[j - 1].next)
            note_wait(w, &w->jobs[j - 1]);
}
