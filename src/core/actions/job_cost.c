#include "core/actions/job_cost.h"

#include "core/decision/size.h"
#include "core/plan/drain.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

#include <stdlib.h>

#define HOUR (3600 * LKS_SECOND)

/* The list of a site, and what was counted of its jobs. */
struct listing {
    lks_text site;
    const struct lks_drain_named *sched;
    const struct lks_sched_jobs *jobs; /* NULL: there is none */
    uint32_t *row;                     /* by job: the last row it was counted in, + 1 */
    uint32_t *nodes;                   /* by job: of the change */
    struct listing *next;
};

/* A unit: when its last job ends. */
struct unit {
    lks_ms ends;
    bool unknown;
};

struct counting {
    const struct lks_state *s;
    const struct lks_book *book;
    const struct lks_sched_sites *sites;
    lks_ms wall;
    struct lks_job_cost *out;
    struct listing *lists;
    struct unit *units;
    struct lks_err *err;
};

void lks_job_cost_fini(struct lks_job_cost *cost)
{
    lks_arena_fini(&cost->memory);
    *cost = (struct lks_job_cost){0};
}

uint64_t lks_job_cost_hours(uint64_t gpu_ms)
{
    return (gpu_ms + HOUR / 2) / HOUR;
}

/* Lists -------------------------------------------------------------------------------------- */

/* The scheduler of a node's pool that can be asked for its jobs; NULL: it has none. */
static const struct lks_drain_named *driven(const struct lks_state *s, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    if (n->asset != 0 || n->pool >= s->pool_count)
        return NULL;
    struct lks_str sched = lks_state_text(s, s->pools[n->pool].sched);
    return lks_drain_sched_next(&sched, LKS_DRAIN_LISTS);
}

static struct listing *new_list(struct counting *c, lks_text site,
                                const struct lks_drain_named *sched)
{
    struct lks_arena *memory = &c->out->memory;
    struct listing *made = lks_arena_array(memory, 1, sizeof(*made));
    if (made == NULL)
        return NULL;
    *made = (struct listing){.site = site, .sched = sched, .next = c->lists};
    made->jobs =
        lks_sched_sites_jobs(c->sites, lks_state_text(c->s, site), lks_str_from(sched->name));
    if (made->jobs != NULL) {
        made->row = lks_arena_array(memory, made->jobs->count + 1, sizeof(*made->row));
        made->nodes = lks_arena_array(memory, made->jobs->count + 1, sizeof(*made->nodes));
        if (made->row == NULL || made->nodes == NULL)
            return NULL;
        if (c->out->listed == 0 || made->jobs->listed < c->out->listed)
            c->out->listed = made->jobs->listed;
    } else if (c->out->sched.len == 0) {
        c->out->site = lks_state_text(c->s, site);
        c->out->sched = lks_str_from(sched->name);
    }
    c->lists = made;
    return made;
}

/* NULL: no memory. */
static struct listing *list_of(struct counting *c, uint32_t node)
{
    lks_text site = c->s->nodes[node].site;
    const struct lks_drain_named *sched = driven(c->s, node);
    for (struct listing *l = c->lists; l != NULL; l = l->next) {
        if (l->site == site && l->sched == sched)
            return l;
    }
    return new_list(c, site, sched);
}

/* Units -------------------------------------------------------------------------------------- */

static lks_ms ends_of(const struct counting *c, const struct lks_sched_job *job)
{
    return job->ends > c->wall ? job->ends : c->wall; /* one that is overdue may end any moment */
}

static void add_ends(struct counting *c, const struct listing *l, const struct lks_job_place *p)
{
    struct unit *u = &c->units[p->unit];
    struct lks_sched_jobs_at at = {0};
    const struct lks_sched_job *job;
    u->unknown = u->unknown || l->jobs == NULL;
    u->ends = u->ends > c->wall ? u->ends : c->wall;
    while (l->jobs != NULL &&
           (job = lks_sched_jobs_on(l->jobs, lks_state_name(c->s, p->node), &at)) != NULL) {
        lks_ms ends = ends_of(c, job);
        u->unknown = u->unknown || job->ends == 0;
        u->ends = ends > u->ends ? ends : u->ends;
    }
}

static enum lks_code find_units(struct counting *c, const struct lks_job_place *places,
                                size_t count)
{
    uint32_t units = 0;
    for (size_t i = 0; i < count; i++)
        units = places[i].unit >= units ? places[i].unit + 1 : units;
    c->units = lks_arena_array(&c->out->memory, units + (size_t)1, sizeof(*c->units));
    if (c->units == NULL)
        return lks_arena_fail(&c->out->memory, c->err);
    for (size_t i = 0; i < count; i++) {
        const struct listing *l =
            driven(c->s, places[i].node) != NULL ? list_of(c, places[i].node) : NULL;
        if (l != NULL)
            add_ends(c, l, &places[i]);
        else if (driven(c->s, places[i].node) != NULL)
            return lks_arena_fail(&c->out->memory, c->err);
    }
    return LKS_OK;
}

/* Rows --------------------------------------------------------------------------------------- */

/* GPUs of the job on one of its nodes. */
static uint64_t share_of(const struct lks_sched_job *job, uint64_t of_node, uint32_t jobs)
{
    if (job->gpus != LKS_SCHED_JOBS_UNKNOWN && job->node_count > 0)
        return job->gpus / job->node_count;
    return jobs > 0 ? of_node / jobs : 0;
}

static void add_job(struct counting *c, struct listing *l, struct lks_job_cost_row *row,
                    const struct lks_sched_job *job, uint64_t share)
{
    size_t at = (size_t)(job - l->jobs->jobs);
    uint32_t number = (uint32_t)(row - c->out->rows) + 1;
    l->nodes[at]++;
    if (l->row[at] == number)
        return;
    l->row[at] = number;
    uint64_t gpus = job->gpus != LKS_SCHED_JOBS_UNKNOWN ? job->gpus : share * job->node_count;
    lks_ms ran = job->started != 0 && job->started < c->wall ? c->wall - job->started : 0;
    row->jobs++;
    row->requeue += job->requeue;
    row->unknown_ends += job->ends == 0;
    row->ends = job->ends > row->ends ? job->ends : row->ends;
    row->lost += job->requeue ? gpus * ran : 0;
}

static void add_node(struct counting *c, struct listing *l, struct lks_job_cost_row *row,
                     const struct lks_job_place *p)
{
    struct lks_str name = lks_state_name(c->s, p->node);
    const struct unit *u = &c->units[p->unit];
    uint64_t gpus = lks_size_gpus(c->s, c->book, p->node), used = 0;
    struct lks_sched_jobs_at at = {0}, again = {0};
    const struct lks_sched_job *job;
    uint32_t jobs = 0;
    row->nodes++;
    row->unlisted += l->jobs == NULL;
    if (l->jobs == NULL)
        return;
    while (lks_sched_jobs_on(l->jobs, name, &at) != NULL)
        jobs++;
    while ((job = lks_sched_jobs_on(l->jobs, name, &again)) != NULL) {
        uint64_t share = share_of(job, gpus, jobs);
        add_job(c, l, row, job, share);
        used += share * (ends_of(c, job) - c->wall);
    }
    uint64_t whole = gpus * (u->ends > c->wall ? u->ends - c->wall : 0);
    row->busy += jobs > 0;
    row->unknown_idle += u->unknown;
    row->idle += !u->unknown && whole > used ? whole - used : 0;
}

static enum lks_code find_rows(struct counting *c, const struct lks_job_place *places, size_t count)
{
    struct lks_job_cost *out = c->out;
    struct lks_job_cost_row *row = NULL;
    out->rows = lks_arena_array(&out->memory, count + 1, sizeof(*out->rows));
    if (out->rows == NULL)
        return lks_arena_fail(&out->memory, c->err);
    for (size_t i = 0; i < count; i++) {
        if (driven(c->s, places[i].node) == NULL)
            continue;
        if (row == NULL || row->wave != places[i].wave || row->pool != places[i].pool) {
            row = &out->rows[out->row_count++];
            *row = (struct lks_job_cost_row){.wave = places[i].wave, .pool = places[i].pool};
        }
        add_node(c, list_of(c, places[i].node), row, &places[i]);
    }
    return LKS_OK;
}

/* The largest ------------------------------------------------------------------------------- */

/* Of equal ones the first in its list stays first. */
static void add_top(struct lks_job_cost *out, const struct lks_sched_job *job, uint32_t nodes)
{
    uint32_t at = out->top_count;
    while (at > 0 && out->top[at - 1].nodes < nodes)
        at--;
    if (at == LKS_JOB_COST_TOP)
        return;
    if (out->top_count < LKS_JOB_COST_TOP)
        out->top_count++;
    for (uint32_t i = out->top_count - 1; i > at; i--)
        out->top[i] = out->top[i - 1];
    out->top[at] = (struct lks_job_cost_job){job, nodes};
}

static void find_top(struct counting *c)
{
    for (const struct listing *l = c->lists; l != NULL; l = l->next) {
        for (uint32_t i = 0; l->jobs != NULL && i < l->jobs->count; i++) {
            if (l->nodes[i] > 0)
                add_top(c->out, &l->jobs->jobs[i], l->nodes[i]);
        }
    }
}

/* The whole --------------------------------------------------------------------------------- */

static int by_wave_and_pool(const void *a, const void *b)
{
    const struct lks_job_place *x = a, *y = b;
    if (x->wave != y->wave)
        return x->wave < y->wave ? -1 : 1;
    if (x->pool != y->pool)
        return x->pool < y->pool ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

enum lks_code lks_job_cost_find(const struct lks_state *s, const struct lks_book *book,
                                const struct lks_sched_sites *sites, lks_ms wall,
                                struct lks_job_place *places, size_t count,
                                struct lks_job_cost *out, struct lks_err *err)
{
    struct counting c = {
        .s = s, .book = book, .sites = sites, .wall = wall, .out = out, .err = err};
    *out = (struct lks_job_cost){0};
    lks_arena_init(&out->memory, LKS_JOB_COST_MEMORY_MAX);
    for (size_t i = 0; i < count; i++)
        places[i].pool = s->nodes[places[i].node].pool;
    qsort(places, count, sizeof(*places), by_wave_and_pool);
    if (find_units(&c, places, count) != LKS_OK || find_rows(&c, places, count) != LKS_OK)
        return err->code;
    find_top(&c);
    return LKS_OK;
}
