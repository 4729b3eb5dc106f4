/*
 * Jobs that schedulers listed, on their nodes. A job that has whole nodes of one pool that is told
 * moves: once it had to give them up it is a gang that waits for as many others (world_jobs.c). Any
 * other job stays: those that share nodes, or have nodes of several pools, start again where they
 * were, when all of their nodes are back.
 *
 * Behind a job that ends comes one that is drawn, like it and with its limit. As long as no node of
 * it is asked to leave nothing can be seen of that, so it is drawn only then which run is met.
 */
#include "base/vec.h"
#include "core/plan/drain.h"
#include "core/state/lookup.h"
#include "lab/rehearse/world.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_BYTES = 320 };

#define LIST_EVERY (30 * LKS_SECOND) /* a controller follows the lists of a site */

static const struct lks_listed_job *job_of(const struct lks_world *w, uint32_t job)
{
    return &w->listed.list.jobs[job];
}

uint32_t lks_world_listed_nodes(const struct lks_world *w, uint32_t job, const uint32_t **nodes)
{
    const struct world_listed *l = &w->listed;
    *nodes = &l->nodes[l->first[job]];
    return (uint32_t)(l->first[job + 1] - l->first[job]);
}

/* Before a run --------------------------------------------------------------------------------- */

void lks_world_listed_fini(struct lks_world *w)
{
    lks_listed_fini(&w->listed.list);
    free(w->listed.site_of);
    free(w->listed.nodes);
    free(w->listed.first);
    free(w->runs);
    free(w->stays);
    free(w->blocked);
    w->listed = (struct world_listed){0};
}

static enum lks_code add_nodes(struct lks_world *w, uint32_t job, struct lks_err *err)
{
    struct world_listed *l = &w->listed;
    const struct lks_hostlist *hosts = &l->list.jobs[job].hosts;
    const struct lks_state *s = lks_engine_state(w->engine);
    l->first[job] = l->node_count;
    if (LKS_VEC_RESERVE(l->nodes, l->node_room, l->node_count + hosts->count + 1, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < hosts->count; i++) {
        uint32_t node = lks_state_node(s, hosts->names[i]);
        if (node < lks_world_nodes(w) && l->site_of[node] == l->list.jobs[job].site + 1)
            l->nodes[l->node_count++] = node;
    }
    return LKS_OK;
}

static void mark_site(struct lks_world *w, uint32_t site)
{
    const struct lks_listed_site *from = &w->listed.list.sites[site];
    const struct lks_state *s = lks_engine_state(w->engine);
    for (size_t i = 0; i < from->hosts.count && from->missing.len == 0; i++) {
        uint32_t node = lks_state_node(s, from->hosts.names[i]);
        if (node < lks_world_nodes(w))
            w->listed.site_of[node] = site + 1;
    }
}

enum lks_code lks_world_listed_take(struct lks_world *w, struct lks_listed *listed,
                                    struct lks_err *err)
{
    struct world_listed *l = &w->listed;
    LKS_ASSERT(l->site_of == NULL && w->machines == NULL);
    l->list = LKS_MOVE(*listed);
    l->site_of = calloc((size_t)lks_world_nodes(w) + 1, sizeof(*l->site_of));
    l->first = calloc((size_t)l->list.job_count + 2, sizeof(*l->first));
    if (l->site_of == NULL || l->first == NULL)
        return lks_fail_nomem(err);
    for (uint32_t i = 0; i < l->list.site_count; i++)
        mark_site(w, i);
    for (uint32_t i = 0; i < l->list.job_count; i++) {
        if (add_nodes(w, i, err) != LKS_OK)
            return err->code;
    }
    l->first[l->list.job_count] = l->node_count;
    return LKS_OK;
}

static bool is_on_change(const struct lks_world *w, uint32_t job)
{
    const uint32_t *nodes;
    uint32_t count = lks_world_listed_nodes(w, job, &nodes);
    for (uint32_t i = 0; i < count; i++) {
        if (lks_world_member(w, nodes[i]))
            return true;
    }
    return job_of(w, job)->unplaced;
}

uint32_t lks_world_listed_sites(const struct lks_world *w, struct lks_rehearse_site *sites,
                                uint32_t *drawn)
{
    const struct lks_listed *l = &w->listed.list;
    const struct lks_state *s = lks_engine_state(w->engine);
    uint32_t count = lks_world_nodes(w);
    for (uint32_t i = 0; i < l->site_count; i++) {
        const struct lks_listed_site *from = &l->sites[i];
        sites[i] = (struct lks_rehearse_site){
            .site = from->site, .sched = from->sched, .missing = from->missing, .age = from->age};
        for (size_t k = 0; k < from->hosts.count; k++) {
            uint32_t node = lks_state_node(s, from->hosts.names[k]);
            sites[i].nodes += node < count && lks_world_member(w, node);
        }
    }
    for (uint32_t i = 0; i < l->job_count; i++) {
        bool here = is_on_change(w, i);
        sites[l->jobs[i].site].jobs += here;
        sites[l->jobs[i].site].endless += here && l->jobs[i].left == UINT64_MAX;
    }
    *drawn = 0;
    for (uint32_t i = 0; i < count; i++)
        *drawn +=
            lks_world_member(w, i) && (w->listed.site_of == NULL || w->listed.site_of[i] == 0);
    return l->site_count;
}

/* The beginning of a run ----------------------------------------------------------------------- */

/* All of its nodes are here, in service, in one pool that is told, and no other job is on them. */
bool lks_world_listed_moves(const struct lks_world *w, uint32_t job, uint32_t *pool)
{
    const uint32_t *nodes;
    uint32_t count = lks_world_listed_nodes(w, job, &nodes);
    if (count == 0 || count != job_of(w, job)->of || w->runs[job].gang != 0)
        return false;
    *pool = w->machines[nodes[0]].pool;
    for (uint32_t i = 0; i < count; i++) {
        const struct world_machine *m = &w->machines[nodes[i]];
        if (m->pool == UINT32_MAX || m->pool != *pool || m->out || m->stays != 0 || m->job != 0)
            return false;
    }
    return true;
}

/* Whether another job is on one of its nodes. `tally`: jobs by node. */
static bool is_shared(const struct lks_world *w, uint32_t job, const uint32_t *tally)
{
    const uint32_t *nodes;
    uint32_t count = lks_world_listed_nodes(w, job, &nodes);
    for (uint32_t i = 0; i < count; i++) {
        if (tally[nodes[i]] > 1)
            return true;
    }
    return false;
}

static void stay(struct lks_world *w, uint32_t job)
{
    const uint32_t *nodes;
    uint32_t count = lks_world_listed_nodes(w, job, &nodes);
    for (uint32_t i = 0; i < count; i++) {
        struct world_machine *m = &w->machines[nodes[i]];
        w->stays[w->stay_count] = (struct world_stay){.runs = job, .next = m->stays};
        m->stays = ++w->stay_count;
        m->stay_count++;
    }
}

static void draw(struct lks_world *w, uint32_t job)
{
    const struct lks_listed_job *from = job_of(w, job);
    struct world_runs *r = &w->runs[job];
    lks_ms left = lks_listed_left(from, &w->rng, &r->limit);
    if (from->unplaced) {
        lks_ms *until = &w->blocked[from->site];
        *until = w->now + left > *until ? w->now + left : *until;
        return;
    }
    r->since = w->now;
    r->ran = from->ran;
    r->ends = w->now + left;
    r->runs = r->own = true;
}

/* Who shares a node stays, and after that whose nodes are not all free for it. */
static void settle(struct lks_world *w, const uint32_t *tally)
{
    const struct world_listed *l = &w->listed;
    uint32_t pool;
    for (uint32_t i = 0; i < l->list.job_count; i++) {
        if (is_shared(w, i, tally) || !lks_world_listed_moves(w, i, &pool)) {
            stay(w, i);
            continue;
        }
        uint32_t size = (uint32_t)(l->first[i + 1] - l->first[i]);
        if (size > w->pools[pool].listed)
            w->pools[pool].listed = size;
    }
}

bool lks_world_listed_begin(struct lks_world *w)
{
    const struct world_listed *l = &w->listed;
    if (l->site_of == NULL)
        return true;
    uint32_t *tally = calloc((size_t)w->machine_count + 1, sizeof(*tally));
    w->runs = calloc((size_t)l->list.job_count + 1, sizeof(*w->runs));
    w->stays = calloc(l->node_count + 1, sizeof(*w->stays));
    w->blocked = calloc((size_t)l->list.site_count + 1, sizeof(*w->blocked));
    bool good = tally != NULL && w->runs != NULL && w->stays != NULL && w->blocked != NULL;
    for (uint32_t i = 0; good && i < w->machine_count; i++)
        w->machines[i].site = l->site_of[i];
    for (size_t i = 0; good && i < l->node_count; i++)
        tally[l->nodes[i]]++;
    for (uint32_t i = 0; good && i < l->list.job_count; i++)
        draw(w, i);
    if (good)
        settle(w, tally);
    free(tally);
    return good;
}

bool lks_world_listed_blocks(const struct lks_world *w, uint32_t node)
{
    uint32_t site = w->machines[node].site;
    return site != 0 && w->now < w->blocked[site - 1];
}

/* Leaving -------------------------------------------------------------------------------------- */

static void stop_at(struct lks_world *w, uint32_t job, uint32_t node, lks_ms at)
{
    w->runs[job].stops = at;
    lks_world_post(w, WORLD_LISTED_ENDS, node, job, at - w->now);
}

/* "job 17 of ada". */
static struct lks_str name_of(const struct lks_world *w, uint32_t job, char *out, size_t size)
{
    const struct lks_listed_job *j = job_of(w, job);
    if (!w->runs[job].own)
        return LKS_STR("a job that was drawn");
    (void)snprintf(out, size, "job %.*s%s%.*s", LKS_STR_ARG(j->id), j->user.len > 0 ? " of " : "",
                   LKS_STR_ARG(j->user));
    return lks_str_from(out);
}

static void tell_wait(const struct lks_world *w, uint32_t job, uint32_t node)
{
    lks_ms left = w->runs[job].ends - w->now;
    char text[NAME_BYTES];
    if (w->say == NULL)
        return;
    struct lks_str name = name_of(w, job, text, sizeof(text));
    struct lks_str where = lks_state_name(lks_engine_state(w->engine), node);
    lks_world_tell(w, "%.*s has %.*s, which runs for another %.1f h", LKS_STR_ARG(where),
                   LKS_STR_ARG(name), (double)left / (double)WORLD_HOUR);
}

/* It is signalled and requeued, once by a change, if the plan says so and its scheduler may. */
static void act(struct lks_world *w, uint32_t job, uint32_t node)
{
    struct world_runs *r = &w->runs[job];
    if (r->acted || !job_of(w, job)->requeue || !lks_world_running(w))
        return;
    struct lks_drain_rule rule = lks_world_leave_rule(w, node);
    if (rule.jobs != LKS_DRAIN_JOBS_REQUEUE)
        return;
    r->acted = true;
    lks_ms at = w->now + rule.grace + lks_rng_below(&w->rng, LIST_EVERY) +
                lks_rng_below(&w->rng, LIST_EVERY);
    if (at >= r->ends)
        return;
    r->requeues = true;
    stop_at(w, job, node, at);
}

void lks_world_listed_ask(struct lks_world *w, uint32_t job, uint32_t node)
{
    struct world_runs *r = &w->runs[job];
    if (!r->runs)
        return;
    if (!r->asked) {
        r->asked = true;
        if (r->ends <= w->now) { /* long since, and others were behind it */
            lks_ms left = 0;
            r->own = r->acted = false;
            lks_listed_met(r->limit, &w->rng, &r->ran, &left);
            r->since = w->now;
            r->ends = w->now + left;
        }
        stop_at(w, job, node, r->ends);
        tell_wait(w, job, node);
    }
    act(w, job, node);
}

void lks_world_listed_ask_stays(struct lks_world *w, uint32_t node)
{
    for (uint32_t at = w->machines[node].stays; at != 0; at = w->stays[at - 1].next)
        lks_world_listed_ask(w, w->stays[at - 1].runs, node);
}

static void count_requeue(struct lks_world *w, uint32_t job)
{
    const struct lks_listed_job *j = job_of(w, job);
    const struct world_runs *r = &w->runs[job];
    const uint32_t *nodes;
    char text[NAME_BYTES];
    uint32_t count = lks_world_listed_nodes(w, job, &nodes);
    double gpus = j->gpus != UINT32_MAX ? j->gpus : 0;
    for (uint32_t i = 0; i < count && j->gpus == UINT32_MAX; i++)
        gpus += w->machines[nodes[i]].gpus;
    w->out->requeued++;
    w->out->lost += gpus * (double)(r->ran + w->now - r->since) / (double)WORLD_HOUR;
    lks_world_tell(w, "%.*s is requeued", LKS_STR_ARG(name_of(w, job, text, sizeof(text))));
}

static void leave_nodes(struct lks_world *w, uint32_t job)
{
    const uint32_t *nodes;
    uint32_t count = lks_world_listed_nodes(w, job, &nodes);
    for (uint32_t i = 0; i < count; i++)
        w->machines[nodes[i]].stay_count--;
    if (count > 0)
        lks_world_listed_back(w, nodes[0]);
}

/* A request is not sent while the change is halted; an end comes all the same. */
void lks_world_listed_stop(struct lks_world *w, uint32_t job)
{
    struct world_runs *r = &w->runs[job];
    if (!r->runs || !r->asked || w->now < r->stops)
        return;
    bool requeued = r->requeues && w->now < r->ends;
    if (requeued && !lks_world_running(w)) {
        lks_ms again = w->now + LIST_EVERY;
        stop_at(w, job, 0, again < r->ends ? again : r->ends);
        return;
    }
    r->runs = r->asked = r->requeues = false;
    if (requeued) {
        count_requeue(w, job);
    } else { /* the one behind it was drawn, and not acted on yet */
        r->own = r->acted = false;
    }
    if (r->gang != 0)
        lks_world_job_ends(w, r->gang - 1);
    else
        leave_nodes(w, job);
}

/* Starting again ------------------------------------------------------------------------------- */

void lks_world_listed_start(struct lks_world *w, uint32_t job)
{
    struct world_runs *r = &w->runs[job];
    r->runs = true;
    r->since = w->now;
    r->ran = 0;
    r->ends = w->now + lks_listed_run(r->limit, &w->rng);
}

static bool are_back(const struct lks_world *w, uint32_t job)
{
    const uint32_t *nodes;
    uint32_t count = lks_world_listed_nodes(w, job, &nodes);
    for (uint32_t i = 0; i < count; i++) {
        if (w->machines[nodes[i]].out)
            return false;
    }
    return true;
}

void lks_world_listed_back(struct lks_world *w, uint32_t node)
{
    for (uint32_t at = w->machines[node].stays; at != 0; at = w->stays[at - 1].next) {
        uint32_t job = w->stays[at - 1].runs;
        const uint32_t *nodes;
        uint32_t count = lks_world_listed_nodes(w, job, &nodes);
        if (w->runs[job].runs || !are_back(w, job))
            continue;
        for (uint32_t i = 0; i < count; i++)
            w->machines[nodes[i]].stay_count++;
        lks_world_listed_start(w, job);
    }
}
