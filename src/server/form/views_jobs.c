/* Jobs of schedulers in changes, as JSON. */
#include "codec/notation/hostlist.h"
#include "core/campaign/campaign.h"
#include "core/plan/drain.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "server/form/views_change.h"

#include <stdio.h>

enum { ACTS_MAX = 100 };
#define FRESH (60 * LKS_SECOND) /* a list that is older is waited for, once it was asked for */

static void put_act(struct lks_json_writer *w, const struct lks_state *s,
                    const struct lks_job_acted *job)
{
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "job", lks_state_text(s, job->job));
    lks_view_text(w, "site", lks_state_text(s, job->site));
    lks_view_text(w, "user", lks_state_text(s, job->user));
    lks_view_text(w, "node", lks_state_text(s, job->node));
    lks_json_cstr(w, "act", lks_job_act_words[job->act]);
    lks_json_cstr(w, "state", lks_job_state_words[job->state]);
    lks_view_text(w, "signal", lks_state_text(s, job->signal));
    lks_view_time(w, "at", job->at);
    lks_view_time(w, "until", job->until);
    lks_view_text(w, "text", lks_state_text(s, job->text));
    lks_json_end(w, '}');
}

/* The last ones, where there are many. */
void lks_view_jobs_acted(struct lks_json_writer *w, const struct lks_state *s,
                         const struct lks_state_change *c)
{
    uint32_t from = c->job_count > ACTS_MAX ? c->job_count - ACTS_MAX : 0;
    if (c->job_count == 0)
        return;
    lks_json_int(w, "jobs_touched", c->job_count);
    lks_json_begin(w, "job_acts", '[');
    for (uint32_t i = from; i < c->job_count; i++)
        put_act(w, s, &c->jobs[i]);
    lks_json_end(w, ']');
}

/* Whether the change has a node there whose jobs it may have requeued now. */
static bool waits_at(const struct lks_state *s, const struct lks_state_change *c,
                     const struct lks_sched_site *site)
{
    for (uint32_t i = 0; i < c->member_count; i++) {
        const struct lks_node *n = &s->nodes[c->members[i].node];
        if (n->change == c->id && n->pool < s->pool_count &&
            lks_str_eq(lks_state_text(s, n->site), site->site) &&
            lks_drain_sched_has(lks_state_text(s, s->pools[n->pool].sched), site->sched) &&
            lks_campaign_jobs_wanted(s, c->members[i].node))
            return true;
    }
    return false;
}

void lks_view_jobs_unlisted(struct lks_json_writer *w, const struct lks_view_jobs *v,
                            const struct lks_state_change *c)
{
    bool any = false;
    for (uint32_t i = 0; i < v->sites->count; i++) {
        const struct lks_sched_site *site = v->sites->items[i];
        if (!lks_sched_sites_unlisted(site, v->now.mono) || !waits_at(v->state, c, site))
            continue;
        if (!any)
            lks_json_begin(w, "unlisted", '[');
        any = true;
        lks_json_begin(w, NULL, '{');
        lks_view_text(w, "site", site->site);
        lks_json_text(w, "scheduler", site->sched);
        lks_view_time(w, "since", site->failing_since);
        lks_view_text(w, "text", lks_str_from(site->trouble));
        lks_json_end(w, '}');
    }
    if (any)
        lks_json_end(w, ']');
}

/* Jobs now ----------------------------------------------------------------------------------- */

/* Nodes of a change with their waves and units. */
struct places {
    struct lks_arena memory;
    struct lks_job_place *list;
    size_t count;
};

static enum lks_code places_of(const struct lks_state_change *c, struct places *out,
                               struct lks_err *err)
{
    out->list = lks_arena_array(&out->memory, c->member_count + (size_t)1, sizeof(*out->list));
    if (out->list == NULL)
        return lks_arena_fail(&out->memory, err);
    for (uint32_t i = 0; i < c->member_count; i++) {
        const struct lks_member *m = &c->members[i];
        if (m->state == LKS_MEMBER_PENDING)
            out->list[out->count++] = (struct lks_job_place){
                .node = m->node, .wave = c->units[m->unit].wave, .unit = m->unit};
    }
    return LKS_OK;
}

/* The nodes of a part; `unit` is the last number that was used. Parts of one domain stand next to
 * each other. */
static enum lks_code add_part(const struct lks_state *s, const struct lks_rec_plan_part *part,
                              bool same, uint32_t *unit, struct places *out, struct lks_err *err)
{
    struct lks_hostlist hosts = {0};
    if (lks_hostlist_parse(part->hosts, &out->memory, &hosts, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < hosts.count && out->count < s->node_count; i++) {
        uint32_t node = lks_state_node(s, hosts.names[i]);
        *unit += part->domain.len == 0 || (i == 0 && !same);
        if (node != LKS_NO_NODE)
            out->list[out->count++] =
                (struct lks_job_place){.node = node, .wave = (uint32_t)part->wave, .unit = *unit};
    }
    return LKS_OK;
}

static enum lks_code places_tried(const struct lks_state *s, const struct lks_change_sketch *k,
                                  struct places *out, struct lks_err *err)
{
    uint32_t unit = 0;
    out->list = lks_arena_array(&out->memory, s->node_count + (size_t)1, sizeof(*out->list));
    if (out->list == NULL)
        return lks_arena_fail(&out->memory, err);
    for (size_t i = 0; i < k->part_count; i++) {
        bool same = i > 0 && lks_str_eq(k->parts[i].domain, k->parts[i - 1].domain);
        if (add_part(s, &k->parts[i], same, &unit, out, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* The scheduler of the node's pool that lists its jobs; NULL: it has none. */
static const struct lks_drain_named *lists_of(const struct lks_state *s, const struct lks_node *n)
{
    struct lks_str sched =
        n->pool < s->pool_count ? lks_state_text(s, s->pools[n->pool].sched) : LKS_STR("");
    return lks_drain_sched_next(&sched, LKS_DRAIN_LISTS);
}

/* Have the lists taken anew: those that are shown are of the last time that they were asked for. */
static void ask_lists(const struct lks_state *s, struct lks_sched_sites *sites, lks_ms mono,
                      const struct places *all)
{
    lks_text site = 0;
    const struct lks_drain_named *sched = NULL;
    struct lks_err ignored = {0};
    for (size_t i = 0; i < all->count; i++) {
        const struct lks_node *n = &s->nodes[all->list[i].node];
        const struct lks_drain_named *its = n->asset == 0 ? lists_of(s, n) : NULL;
        if (its == NULL || (n->site == site && its == sched))
            continue;
        site = n->site;
        sched = its;
        if (lks_sched_sites_ask(sites, lks_state_text(s, site), lks_str_from(sched->name), mono,
                                &ignored) != LKS_OK)
            return; /* the lists that are there are shown */
    }
}

static void put_row(struct lks_json_writer *w, const struct lks_state *s,
                    const struct lks_job_cost_row *row)
{
    lks_json_begin(w, NULL, '{');
    lks_json_int(w, "wave", row->wave);
    lks_json_text(w, "pool", lks_state_text(s, s->pools[row->pool].name));
    lks_json_int(w, "nodes", row->nodes);
    lks_json_int(w, "busy", row->busy);
    lks_json_int(w, "jobs", row->jobs);
    lks_json_int(w, "requeue", row->requeue);
    lks_view_time(w, "ends", row->ends);
    lks_json_int(w, "unknown_ends", row->unknown_ends);
    lks_json_int(w, "lost_gpu_hours", (int64_t)lks_job_cost_hours(row->lost));
    lks_json_int(w, "idle_gpu_hours", (int64_t)lks_job_cost_hours(row->idle));
    lks_json_int(w, "unknown_idle", row->unknown_idle);
    lks_json_int(w, "unlisted", row->unlisted);
    lks_json_end(w, '}');
}

static void put_top(struct lks_json_writer *w, const struct lks_job_cost_job *top)
{
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "job", top->job->id);
    lks_view_text(w, "user", top->job->user);
    lks_view_text(w, "account", top->job->account);
    lks_json_int(w, "nodes", top->nodes);
    lks_json_int(w, "of", top->job->node_count);
    lks_view_time(w, "started", top->job->started);
    lks_view_time(w, "ends", top->job->ends);
    lks_json_bool(w, "requeue", top->job->requeue);
    lks_json_end(w, '}');
}

/* Why there is no list, and what to do. */
static void put_missing(struct lks_json_writer *w, const struct lks_sched_sites *sites,
                        const struct lks_job_cost *cost)
{
    const struct lks_sched_site *at = lks_sched_sites_find(sites, cost->site, cost->sched);
    char text[LKS_SCHED_REASON_MAX + 256];
    if (cost->sched.len == 0)
        return;
    (void)snprintf(
        text, sizeof(text), "the jobs of %" LKS_STR_FMT " at site '%" LKS_STR_FMT "' %s%s",
        LKS_STR_ARG(cost->sched), LKS_STR_ARG(cost->site),
        at != NULL && at->failures > 0 ? "cannot be listed: "
                                       : "are not listed yet; repeat the command in a few seconds",
        at != NULL && at->failures > 0 ? at->trouble : "");
    lks_json_cstr(w, "missing", text);
}

static void put_cost(struct lks_json_writer *w, const struct lks_state *s,
                     const struct lks_sched_sites *sites, const struct lks_job_cost *cost)
{
    if (cost->row_count == 0)
        return; /* no scheduler can be asked for the jobs of these nodes */
    lks_json_begin(w, "jobs", '{');
    lks_view_time(w, "listed", cost->listed);
    put_missing(w, sites, cost);
    lks_json_begin(w, "rows", '[');
    for (uint32_t i = 0; i < cost->row_count; i++)
        put_row(w, s, &cost->rows[i]);
    lks_json_end(w, ']');
    lks_json_begin(w, "top", '[');
    for (uint32_t i = 0; i < cost->top_count; i++)
        put_top(w, &cost->top[i]);
    lks_json_end(w, ']');
    lks_json_end(w, '}');
}

enum lks_code lks_view_jobs_cost(const struct lks_view_jobs *v, const struct lks_change_sketch *k,
                                 const struct lks_state_change *c, struct lks_job_cost *out,
                                 struct lks_err *err)
{
    struct places places = {0};
    *out = (struct lks_job_cost){0};
    lks_arena_init(&places.memory, LKS_JOB_COST_MEMORY_MAX);
    enum lks_code code =
        c != NULL ? places_of(c, &places, err) : places_tried(v->state, k, &places, err);
    if (code == LKS_OK) {
        ask_lists(v->state, v->sites, v->now.mono, &places);
        code = lks_job_cost_find(v->state, v->book, v->sites, v->now.wall, places.list,
                                 places.count, out, err);
    }
    lks_arena_fini(&places.memory);
    return code;
}

void lks_view_jobs_now(struct lks_json_writer *w, const struct lks_view_jobs *v,
                       const struct lks_change_sketch *k, const struct lks_state_change *c)
{
    LKS_CLEANUP(lks_job_cost_fini) struct lks_job_cost cost = {0};
    struct lks_err err = {0};
    if (lks_view_jobs_cost(v, k, c, &cost, &err) == LKS_OK)
        put_cost(w, v->state, v->sites, &cost);
}

/* Jobs of the fleet --------------------------------------------------------------------------
 *
 * As a rehearsal elsewhere takes them: lines of JSON. Each site of a scheduler has a line, and
 * behind it a line for each of its jobs that runs on nodes of the fleet. Other nodes of a job are
 * not named; jobs that wait in a queue are left out. */

/* Nodes of one site whose pools have this scheduler. */
struct group {
    lks_text site;
    const struct lks_drain_named *sched;
    struct lks_str *names;
    size_t count;
    struct group *next;
};

/* A node of a job. */
struct link {
    struct lks_str node;
    struct link *next;
};

struct telling {
    const struct lks_view_jobs *v;
    struct lks_arena memory;
    struct group *groups, **last;
    struct lks_buf *out;
    struct lks_err *err;
};

/* NULL: no memory. */
static struct group *group_of(struct telling *l, lks_text site, const struct lks_drain_named *sched)
{
    for (struct group *g = l->groups; g != NULL; g = g->next) {
        if (g->site == site && g->sched == sched)
            return g;
    }
    struct group *made = lks_arena_array(&l->memory, 1, sizeof(*made));
    if (made == NULL)
        return NULL;
    *made = (struct group){.site = site, .sched = sched};
    made->names =
        lks_arena_array(&l->memory, l->v->state->node_count + (size_t)1, sizeof(made->names[0]));
    *l->last = made;
    l->last = &made->next;
    return made->names != NULL ? made : NULL;
}

static enum lks_code group_nodes(struct telling *l)
{
    const struct lks_state *s = l->v->state;
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        const struct lks_drain_named *sched = n->placed && n->asset == 0 ? lists_of(s, n) : NULL;
        if (sched == NULL)
            continue;
        struct group *g = group_of(l, n->site, sched);
        if (g == NULL)
            return lks_arena_fail(&l->memory, l->err);
        g->names[g->count++] = lks_state_name(s, i);
    }
    return LKS_OK;
}

static enum lks_code put_hosts(struct lks_json_writer *w, const char *key,
                               const struct lks_str *names, size_t count, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf hosts = LKS_BUF(LKS_HOSTLIST_BYTES_MAX);
    if (lks_hostlist_fold(names, count, &hosts, err) != LKS_OK ||
        lks_buf_check(&hosts, err) != LKS_OK)
        return err->code;
    lks_json_text(w, key, lks_buf_view(&hosts));
    return LKS_OK;
}

/* Of a site ----------------------------------------------------------------------------- */

/* By job: its nodes. NULL: no memory. */
static struct link **find_links(struct telling *l, const struct group *g,
                                const struct lks_sched_jobs *jobs)
{
    struct link **of = lks_arena_array(&l->memory, jobs->count + (size_t)1, sizeof(*of));
    for (size_t i = 0; of != NULL && i < g->count; i++) {
        struct lks_sched_jobs_at at = {0};
        const struct lks_sched_job *job;
        while ((job = lks_sched_jobs_on(jobs, g->names[i], &at)) != NULL && !job->unplaced) {
            struct link *made = lks_arena_array(&l->memory, 1, sizeof(*made));
            if (made == NULL)
                return NULL;
            *made = (struct link){g->names[i], of[job - jobs->jobs]};
            of[job - jobs->jobs] = made;
        }
    }
    return of;
}

static enum lks_code put_nodes(struct telling *l, struct lks_json_writer *w,
                               const struct link *nodes)
{
    size_t count = 0;
    for (const struct link *at = nodes; at != NULL; at = at->next)
        count++;
    struct lks_str *names = lks_arena_array(&l->memory, count + 1, sizeof(names[0]));
    if (names == NULL)
        return lks_arena_fail(&l->memory, l->err);
    count = 0;
    for (const struct link *at = nodes; at != NULL; at = at->next)
        names[count++] = at->node;
    return put_hosts(w, "nodes", names, count, l->err);
}

static enum lks_code put_job(struct telling *l, const struct lks_sched_job *job,
                             const struct link *nodes)
{
    struct lks_json_writer w = {.out = l->out};
    lks_json_begin(&w, NULL, '{');
    lks_json_text(&w, "job", job->id);
    lks_view_text(&w, "user", job->user);
    if (!job->unplaced && put_nodes(l, &w, nodes) != LKS_OK)
        return l->err->code;
    lks_json_int(&w, "of", job->node_count);
    if (job->gpus != LKS_SCHED_JOBS_UNKNOWN)
        lks_json_int(&w, "gpus", job->gpus);
    lks_view_time(&w, "started", job->started);
    lks_view_time(&w, "ends", job->ends);
    lks_json_bool(&w, "requeue", job->requeue);
    lks_json_bool(&w, "ending", lks_str_is(job->state, "completing"));
    lks_json_end(&w, '}');
    lks_buf_addc(l->out, '\n');
    return LKS_OK;
}

/* Why there is no list, or none that is fresh; empty where it is on its way. */
static void put_state(struct lks_json_writer *w, const struct lks_view_jobs *v,
                      const struct lks_sched_site *at, const struct lks_sched_jobs *jobs)
{
    bool fails = at != NULL && at->failures > 0;
    bool fresh = jobs != NULL && lks_sched_jobs_age(jobs, v->now.wall) <= FRESH;
    lks_view_time(w, "now", v->now.wall);
    lks_view_time(w, "listed", jobs != NULL ? jobs->listed : 0);
    lks_json_bool(w, "awaited", !fails && !fresh);
    if (fails)
        lks_json_cstr(w, "missing", at->trouble);
}

static enum lks_code put_group(struct telling *l, const struct group *g)
{
    const struct lks_view_jobs *v = l->v;
    struct lks_str site = lks_state_text(v->state, g->site);
    struct lks_str sched = lks_str_from(g->sched->name);
    const struct lks_sched_jobs *jobs = lks_sched_sites_jobs(v->sites, site, sched);
    struct link **of = jobs != NULL ? find_links(l, g, jobs) : NULL;
    uint32_t count = 0;
    struct lks_json_writer w = {.out = l->out};
    if (jobs != NULL && of == NULL)
        return lks_arena_fail(&l->memory, l->err);
    for (uint32_t i = 0; jobs != NULL && i < jobs->count; i++)
        count += of[i] != NULL || jobs->jobs[i].unplaced;
    lks_json_begin(&w, NULL, '{');
    lks_json_text(&w, "site", site);
    lks_json_text(&w, "scheduler", sched);
    put_state(&w, v, lks_sched_sites_find(v->sites, site, sched), jobs);
    lks_json_int(&w, "jobs", count);
    if (put_hosts(&w, "hosts", g->names, g->count, l->err) != LKS_OK)
        return l->err->code;
    lks_json_end(&w, '}');
    lks_buf_addc(l->out, '\n');
    for (uint32_t i = 0; jobs != NULL && i < jobs->count; i++) {
        bool is_here = of[i] != NULL || jobs->jobs[i].unplaced;
        if (is_here && put_job(l, &jobs->jobs[i], of[i]) != LKS_OK)
            return l->err->code;
    }
    return LKS_OK;
}

/* Of all ---------------------------------------------------------------------------------- */

/* Have the lists taken anew: this answer has the last ones. */
static void ask_anew(const struct telling *l)
{
    struct lks_err ignored = {0};
    const struct lks_state *s = l->v->state;
    for (const struct group *g = l->groups; g != NULL; g = g->next) {
        if (lks_sched_sites_ask(l->v->sites, lks_state_text(s, g->site),
                                lks_str_from(g->sched->name), l->v->now.mono, &ignored) != LKS_OK)
            return;
    }
}

enum lks_code lks_view_jobs_listed(const struct lks_view_jobs *v, struct lks_buf *out,
                                   struct lks_err *err)
{
    struct telling l = {.v = v, .out = out, .err = err};
    enum lks_code code;
    l.last = &l.groups;
    lks_arena_init(&l.memory, LKS_JOB_COST_MEMORY_MAX);
    code = group_nodes(&l);
    if (code == LKS_OK)
        ask_anew(&l);
    for (const struct group *g = l.groups; code == LKS_OK && g != NULL; g = g->next)
        code = put_group(&l, g);
    lks_arena_fini(&l.memory);
    return code == LKS_OK ? lks_buf_check(out, err) : code;
}
