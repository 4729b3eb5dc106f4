#include "lab/sched/schedsim_parts.h"

#include "base/compiler.h"
#include "base/vec.h"
#include "codec/format/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEVER       UINT64_MAX
#define PATH        "/v1/nodes/"
#define BODY_MAX    ((size_t)1 << 20)
#define MINUTE      (60 * LKS_SECOND)
#define NAMES_MAX   ((size_t)64 << 20)
#define REQUESTS_IN 3
#define LATE        (30 * LKS_SECOND)
#define AGAIN       (2 * MINUTE) /* as Slurm: until credentials of the run before have expired */
#define UNSAVED     (5 * LKS_SECOND) /* changes that a failover may forget */

const char *const lks_schedsim_kind_words[] = {"training", "service", "batch", "dev", NULL};
const char *const lks_schedsim_fault_words[] = {
    "calm", "lost",    "unsaid",  "late",     "busy",    "broken",  "stale",   "conflict",
    "deaf", "garbage", "restart", "failover", "dialect", "partial", "refuses", NULL};

void lks_schedsim_init(struct lks_schedsim *m, uint64_t seed, lks_ms now)
{
    *m = (struct lks_schedsim){.now = now, .rng = {seed}, .next = NEVER, .late = LATE};
    lks_intern_init(&m->names, NAMES_MAX);
}

void lks_schedsim_fini(struct lks_schedsim *m)
{
    for (uint32_t i = 0; i < m->job_count; i++)
        free(m->jobs[i].nodes);
    free(m->jobs);
    free(m->nodes);
    lks_intern_fini(&m->names);
    *m = (struct lks_schedsim){0};
}

uint32_t lks_schedsim_add(struct lks_schedsim *m, const char *name, enum lks_schedsim_kind kind)
{
    struct lks_err err;
    uint32_t node = 0, before = lks_intern_count(&m->names);
    LKS_ASSERT(lks_intern_id(&m->names, lks_str_from(name), &node, &err) == LKS_OK &&
               node == before);
    LKS_ASSERT(LKS_VEC_RESERVE(m->nodes, m->node_room, node + 1, NULL) == LKS_OK);
    m->nodes[node] = (struct lks_schedsim_node){
        .now = {.revision = 1}, .before = {.revision = 1}, .kind = kind, .idle = m->now};
    m->next = m->now;
    return node;
}

uint32_t lks_schedsim_find(const struct lks_schedsim *m, struct lks_str name)
{
    uint32_t node = 0;
    return lks_intern_find(&m->names, name, &node) ? node : UINT32_MAX;
}

/* Before a change: what was so becomes what a stale answer says. */
static struct lks_schedsim_view *edit(struct lks_schedsim *m, uint32_t node)
{
    struct lks_schedsim_node *n = &m->nodes[node];
    n->before = n->now;
    n->before.as_of = m->now;
    n->now.revision++;
    m->next = m->now; /* something may follow from it */
    return &n->now;
}

/* Jobs -------------------------------------------------------------------------------------- */

/* A place for one more: one that is free, or behind the last. */
static uint32_t new_job(struct lks_schedsim *m)
{
    uint32_t place = m->free;
    if (place > 0) {
        m->free = m->jobs[place - 1].free;
        return place - 1;
    }
    LKS_ASSERT(LKS_VEC_RESERVE(m->jobs, m->job_room, m->job_count + 1, NULL) == LKS_OK);
    return m->job_count++;
}

static lks_ms earlier(lks_ms a, lks_ms b)
{
    return a < b ? a : b;
}

/* It begins on these nodes now. */
static void place_job(struct lks_schedsim *m, uint32_t place, const uint32_t *nodes, uint32_t count)
{
    struct lks_schedsim_job *job = &m->jobs[place];
    bool service = job->kind == LKS_SCHEDSIM_SERVICE;
    job->nodes = calloc(count, sizeof(*job->nodes));
    LKS_ASSERT(job->nodes != NULL);
    memcpy(job->nodes, nodes, count * sizeof(*nodes));
    job->count = count;
    job->waits = 0;
    job->begun = m->now;
    job->ends = service || job->length == 0 ? NEVER : m->now + job->length;
    for (uint32_t i = 0; i < count; i++) {
        struct lks_schedsim_view *v = edit(m, nodes[i]);
        *(service ? &v->service : &v->job) = place + 1;
        v->rotation = service;
        v->requests = service ? job->requests : 0;
    }
}

bool lks_schedsim_start(struct lks_schedsim *m, const struct lks_schedsim_job *like,
                        const uint32_t *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct lks_schedsim_view *v = &m->nodes[nodes[i]].now;
        if (v->closed || v->job != 0 || v->service != 0)
            return false;
    }
    uint32_t place = new_job(m);
    m->jobs[place] = *like;
    place_job(m, place, nodes, count);
    return true;
}

/* It waits until some nodes are free: those that it had, or others. */
static void restart_job(struct lks_schedsim *m, struct lks_schedsim_job *job, lks_ms *next)
{
    uint32_t *free_nodes = calloc(job->waits, sizeof(*free_nodes));
    uint32_t count = 0;
    LKS_ASSERT(free_nodes != NULL);
    for (uint32_t i = 0; i < lks_intern_count(&m->names) && count < job->waits; i++) {
        const struct lks_schedsim_view *v = &m->nodes[i].now;
        if (!v->closed && v->job == 0 && v->service == 0)
            free_nodes[count++] = i;
    }
    if (m->now < job->after)
        *next = earlier(*next, job->after);
    else if (count == job->waits)
        place_job(m, (uint32_t)(job - m->jobs), free_nodes, count);
    free(free_nodes);
}

static void leave_nodes(struct lks_schedsim *m, struct lks_schedsim_job *job)
{
    for (uint32_t i = 0; i < job->count; i++) {
        struct lks_schedsim_view *v = edit(m, job->nodes[i]);
        v->job = v->service = 0;
        v->rotation = false;
        v->requests = 0;
        m->nodes[job->nodes[i]].idle = m->now;
    }
    free(job->nodes);
    job->nodes = NULL;
}

void lks_schedsim_requeue(struct lks_schedsim *m, struct lks_schedsim_job *job)
{
    leave_nodes(m, job);
    job->waits = job->count;
    job->after = m->now + AGAIN;
    job->count = 0;
    job->begun = job->ends = 0;
    job->restarts++;
}

static void end_job(struct lks_schedsim *m, struct lks_schedsim_job *job)
{
    leave_nodes(m, job);
    *job = (struct lks_schedsim_job){.over = true, .free = m->free};
    m->free = (uint32_t)(job - m->jobs) + 1;
}

/* When the job writes its first checkpoint behind the moment at which one of its nodes was drained
 * so that it may be stopped there; NEVER: no such node, or it writes none. */
static lks_ms stops(const struct lks_schedsim *m, const struct lks_schedsim_job *job)
{
    lks_ms at = NEVER;
    for (uint32_t i = 0; i < job->count && job->checkpoint > 0; i++) {
        const struct lks_schedsim_view *v = &m->nodes[job->nodes[i]].now;
        if (!v->closed || !v->checkpoint)
            continue;
        lks_ms from = v->since > job->begun ? v->since : job->begun;
        lks_ms next = job->begun + ((from - job->begun) / job->checkpoint + 1) * job->checkpoint;
        at = next < at ? next : at;
    }
    return at;
}

static bool is_stuck(const struct lks_schedsim *m, const struct lks_schedsim_job *job)
{
    for (uint32_t i = 0; i < job->count; i++) {
        if (m->nodes[job->nodes[i]].stuck)
            return true;
    }
    return false;
}

static void look_at_job(struct lks_schedsim *m, struct lks_schedsim_job *job, lks_ms *next)
{
    if (!job->over && job->waits > 0)
        restart_job(m, job, next);
    if (job->over || job->waits > 0 || is_stuck(m, job))
        return;
    lks_ms stop = stops(m, job), at = earlier(job->ends, stop);
    if (at > m->now) {
        *next = earlier(*next, at);
        return;
    }
    m->stopped += stop < job->ends;
    end_job(m, job);
}

/* What comes by itself has these lengths, by kind; a length is drawn between one and two of it. */
static const struct lks_schedsim_job usual[LKS_SCHEDSIM_KINDS] = {
    [LKS_SCHEDSIM_TRAINING] = {.length = 720 * MINUTE, .checkpoint = 30 * MINUTE},
    [LKS_SCHEDSIM_SERVICE] = {.length = 20 * LKS_SECOND, .requests = REQUESTS_IN},
    [LKS_SCHEDSIM_BATCH] = {.length = 20 * MINUTE},
    [LKS_SCHEDSIM_DEV] = {.length = 45 * MINUTE},
};

static void look_at_node(struct lks_schedsim *m, uint32_t node, lks_ms *next)
{
    struct lks_schedsim_node *n = &m->nodes[node];
    if (n->now.requests > 0 && !n->now.rotation && !n->stuck) {
        if (n->now.answered <= m->now)
            edit(m, node)->requests = 0;
        else
            *next = earlier(*next, n->now.answered);
    }
    if (m->gap == 0 || n->now.closed || n->now.job != 0 || n->now.service != 0)
        return;
    if (n->idle + m->gap > m->now) {
        *next = earlier(*next, n->idle + m->gap);
        return;
    }
    struct lks_schedsim_job job = usual[n->kind];
    job.kind = n->kind;
    job.length += lks_rng_below(&m->rng, job.length);
    n->idle = m->now; /* asked again a while later, if it may not now */
    if (m->may == NULL || m->may(m->context, lks_intern_text(&m->names, node)))
        (void)lks_schedsim_start(m, &job, &node, 1);
}

void lks_schedsim_pass(struct lks_schedsim *m, lks_ms now)
{
    LKS_ASSERT(now >= m->now);
    m->now = now;
    if (now < m->next)
        return;
    lks_ms next = NEVER;
    for (uint32_t i = 0; i < m->job_count; i++)
        look_at_job(m, &m->jobs[i], &next);
    for (uint32_t i = 0; i < lks_intern_count(&m->names); i++)
        look_at_node(m, i, &next);
    for (uint32_t i = 0; i < m->job_count; i++)
        look_at_job(m, &m->jobs[i], &next); /* those that began just now */
    m->next = next;
}

bool lks_schedsim_busy(const struct lks_schedsim *m, uint32_t node)
{
    const struct lks_schedsim_view *v = &m->nodes[node].now;
    return v->job != 0 || v->requests > 0 || v->rotation;
}

void lks_schedsim_down(struct lks_schedsim *m, uint32_t node)
{
    struct lks_schedsim_view *v = &m->nodes[node].now;
    m->killed += (v->job != 0) + v->requests;
    if (v->job != 0)
        end_job(m, &m->jobs[v->job - 1]);
    if (v->requests > 0)
        edit(m, node)->requests = 0;
}

/* Drains ------------------------------------------------------------------------------------ */

static void close_node(struct lks_schedsim *m, uint32_t node, const char *owner, bool checkpoint)
{
    struct lks_schedsim_view *v = edit(m, node);
    v->closed = true;
    v->checkpoint = checkpoint;
    v->since = m->now;
    snprintf(v->owner, sizeof(v->owner), "%s", owner);
    if (v->service != 0) {
        v->rotation = false;
        v->answered = m->now + m->jobs[v->service - 1].length;
    }
}

static void open_node(struct lks_schedsim *m, uint32_t node)
{
    struct lks_schedsim_view *v = edit(m, node);
    v->closed = v->checkpoint = false;
    v->owner[0] = v->reason[0] = '\0';
    if (v->service != 0) {
        v->rotation = true;
        v->requests = m->jobs[v->service - 1].requests;
    }
    m->nodes[node].idle = m->now;
}

void lks_schedsim_other(struct lks_schedsim *m, uint32_t node, const char *owner)
{
    if (owner == NULL) {
        open_node(m, node);
        return;
    }
    close_node(m, node, owner, false);
    snprintf(m->nodes[node].now.reason, sizeof(m->nodes[node].now.reason), "broken fan");
}

void lks_schedsim_restart(struct lks_schedsim *m, bool forgets)
{
    for (uint32_t i = 0; i < lks_intern_count(&m->names); i++) {
        if (forgets && m->nodes[i].now.closed)
            open_node(m, i);
    }
}

/* A backup answers, with the state that was saved last: a drain, or the end of one, that is newer
 * is forgotten. What runs on nodes runs on. */
static void fail_over(struct lks_schedsim *m, uint32_t node)
{
    const struct lks_schedsim_view saved = m->nodes[node].before;
    if (saved.as_of + UNSAVED < m->now || saved.closed == m->nodes[node].now.closed)
        return;
    if (!saved.closed) {
        open_node(m, node);
        return;
    }
    close_node(m, node, saved.owner, saved.checkpoint);
    snprintf(m->nodes[node].now.reason, sizeof(saved.reason), "%s", saved.reason);
}

/* Requests ---------------------------------------------------------------------------------- */

void lks_schedsim_reply_init(struct lks_schedsim_reply *r)
{
    *r = (struct lks_schedsim_reply){0};
    lks_buf_init(&r->body, BODY_MAX);
}

void lks_schedsim_reply_fini(struct lks_schedsim_reply *r)
{
    lks_buf_fini(&r->body);
    *r = (struct lks_schedsim_reply){0};
}

void lks_schedsim_refuse(struct lks_schedsim_asking *a, int status, const char *why)
{
    struct lks_json_writer w = {.out = &a->out->body};
    lks_buf_truncate(&a->out->body, 0);
    a->out->status = status;
    lks_json_write(&w, "{'error': '%s'}", why);
}

static void show(struct lks_schedsim_asking *a)
{
    const struct lks_schedsim *m = a->m;
    const struct lks_schedsim_node *n = &m->nodes[a->node];
    bool stale = a->fault == LKS_SCHEDSIM_STALE;
    const struct lks_schedsim_view *v = stale ? &n->before : &n->now;
    struct lks_json_writer w = {.out = &a->out->body};
    lks_buf_truncate(&a->out->body, 0);
    a->out->status = 200;
    struct lks_str node = lks_intern_text(&m->names, a->node);
    if (a->fault == LKS_SCHEDSIM_DIALECT) {
        lks_json_write(&w, "{'nodes': [{'name': '%.*s', 'drained': %s}]}", LKS_STR_ARG(node),
                       LKS_JSON_TRUTH(v->closed));
        return;
    }
    lks_json_write(&w, "{'node': '%.*s', 'revision': %lu, 'age': %lu, 'accepts': %s",
                   LKS_STR_ARG(node), v->revision, stale ? m->now - v->as_of : 0,
                   LKS_JSON_TRUTH(!v->closed));
    if (v->closed)
        lks_json_write(&w, "'drain': {'owner': '%s', 'reason': '%s', 'since': %lu}", v->owner,
                       v->reason, v->since);
    else
        lks_json_null(&w, "drain");
    lks_json_begin(&w, a->fault == LKS_SCHEDSIM_PARTIAL ? "steps" : "jobs", '[');
    if (v->job > 0 && v->job <= m->job_count && m->jobs != NULL)
        lks_json_write(&w, "{'id': '%u', 'kind': '%s'}", v->job,
                       lks_schedsim_kind_words[m->jobs[v->job - 1].kind]);
    lks_json_write(&w, "], 'rotation': %s, 'requests': %u", LKS_JSON_TRUTH(v->rotation),
                   v->requests);
    lks_json_cstr(&w, "state", n->invalid ? "idle+drain+invalid_registration" : "idle");
    lks_json_cstr(&w, "gres", n->gres);
    lks_json_end(&w, '}');
}

/* How many nodes of the service are in rotation. */
static uint32_t serving(const struct lks_schedsim *m, const struct lks_schedsim_job *service)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < service->count; i++)
        count += m->nodes[service->nodes[i]].now.rotation;
    return count;
}

static void drain(struct lks_schedsim_asking *a)
{
    struct lks_schedsim *m = a->m;
    struct lks_schedsim_view *v = &m->nodes[a->node].now;
    char owner[sizeof(v->owner)], why[128];
    const struct lks_doc *checkpoint = lks_doc_member(a->given, "checkpoint");
    const struct lks_schedsim_job *service = v->service > 0 ? &m->jobs[v->service - 1] : NULL;
    if (v->closed && !lks_str_is(lks_doc_text(a->given, "from"), v->owner)) {
        lks_schedsim_refuse(a, 409, "it is drained already");
        return;
    }
    if (service != NULL && v->rotation && serving(m, service) <= service->minimum) {
        snprintf(why, sizeof(why), "the service keeps at least %" PRIu32 " nodes in rotation",
                 service->minimum);
        lks_schedsim_refuse(a, 422, why);
        return;
    }
    if (a->fault != LKS_SCHEDSIM_DEAF) {
        snprintf(owner, sizeof(owner), "%" LKS_STR_FMT,
                 LKS_STR_ARG(lks_doc_text(a->given, "owner")));
        close_node(m, a->node, owner, checkpoint != NULL && checkpoint->truth);
        snprintf(v->reason, sizeof(v->reason), "%" LKS_STR_FMT,
                 LKS_STR_ARG(lks_doc_text(a->given, "reason")));
        m->writes++;
    }
    show(a);
}

static void release(struct lks_schedsim_asking *a)
{
    const struct lks_schedsim_view *v = &a->m->nodes[a->node].now;
    if (!v->closed || !lks_str_is(lks_doc_text(a->given, "owner"), v->owner)) {
        lks_schedsim_refuse(a, 409, "it is not drained by that owner");
        return;
    }
    if (a->fault != LKS_SCHEDSIM_DEAF) {
        open_node(a->m, a->node);
        a->m->writes++;
    }
    show(a);
}

/* Is it for the revision that there is? */
static bool matches(const struct lks_schedsim_asking *a)
{
    char want[64];
    snprintf(want, sizeof(want), "If-Match: \"%" PRIu64 "\"\r\n",
             a->m->nodes[a->node].now.revision);
    return lks_str_find(lks_buf_view(&a->request->head), lks_str_from(want)) >= 0;
}

/* The epoch that the request names; false: none. */
static bool epoch_of(const struct lks_schedsim_asking *a, uint64_t *out)
{
    static const char name[] = "Lockstep-Epoch: ";
    struct lks_str head = lks_buf_view(&a->request->head);
    ptrdiff_t at = lks_str_find(head, lks_str_from(name));
    if (at < 0)
        return false;
    *out = strtoull(head.ptr + at + sizeof(name) - 1, NULL, 10); /* a line ends behind it */
    return true;
}

/* Whether the epoch of a write is there, and is no older one; else the answer says so. */
bool lks_schedsim_leads(struct lks_schedsim_asking *a)
{
    struct lks_json_writer w = {.out = &a->out->body};
    uint64_t epoch = 0;
    if (!epoch_of(a, &epoch)) {
        lks_schedsim_refuse(a, 400, "no epoch");
        return false;
    }
    if (epoch >= a->m->epoch) {
        a->m->epoch = epoch;
        return true;
    }
    lks_buf_truncate(&a->out->body, 0);
    a->out->status = 409;
    lks_json_write(&w, "{'error': 'an older epoch', 'epoch': %lu}", a->m->epoch);
    return false;
}

static const struct {
    const char *verb, *method;
    void (*answer)(struct lks_schedsim_asking *a);
} routes[] = {{"", "GET", show}, {"drain", "PUT", drain}, {"release", "POST", release}};

static void answer(struct lks_schedsim_asking *a)
{
    for (size_t i = 0; i < LKS_COUNT(routes); i++) {
        bool writes = i > 0;
        if (!lks_str_is(a->verb, routes[i].verb) ||
            strcmp(a->request->method, routes[i].method) != 0)
            continue;
        if (writes && a->fault == LKS_SCHEDSIM_CONFLICT)
            edit(a->m, a->node);
        if (writes && a->fault == LKS_SCHEDSIM_REFUSES)
            lks_schedsim_refuse(a, 409, LKS_SCHEDSIM_UPGRADED);
        else if (writes && (a->given == NULL || lks_doc_text(a->given, "owner").len == 0))
            lks_schedsim_refuse(a, 400, "no owner");
        else if (writes && !lks_schedsim_leads(a))
            return;
        else if (writes && !matches(a))
            lks_schedsim_refuse(a, 409, "another revision");
        else
            routes[i].answer(a);
        return;
    }
    lks_schedsim_refuse(a, 405, "not here");
}

static enum lks_schedsim_fault draw(struct lks_schedsim *m)
{
    if (m->fault != LKS_SCHEDSIM_CALM && m->requests >= m->fault_from &&
        m->requests - m->fault_from < m->fault_count)
        return m->fault;
    for (unsigned i = 1; i < LKS_SCHEDSIM_FAULTS; i++) {
        if (m->chance[i] > 0 && lks_rng_percent(&m->rng, m->chance[i]))
            return (enum lks_schedsim_fault)i;
    }
    return LKS_SCHEDSIM_CALM;
}

static void befall(struct lks_schedsim_asking *a)
{
    switch (a->fault) {
    case LKS_SCHEDSIM_LOST:
    case LKS_SCHEDSIM_UNSAID:
        a->out->status = 0;
        break;
    case LKS_SCHEDSIM_LATE:
        a->out->delay = a->m->late;
        break;
    case LKS_SCHEDSIM_BUSY:
        lks_schedsim_refuse(a, 503, "busy");
        break;
    case LKS_SCHEDSIM_BROKEN:
        lks_schedsim_refuse(a, 500, "broken");
        break;
    case LKS_SCHEDSIM_GARBAGE:
        lks_buf_truncate(&a->out->body, a->out->body.len / 2);
        break;
    case LKS_SCHEDSIM_CALM:
    case LKS_SCHEDSIM_STALE:
    case LKS_SCHEDSIM_CONFLICT:
    case LKS_SCHEDSIM_DEAF:
    case LKS_SCHEDSIM_RESTART:
    case LKS_SCHEDSIM_FAILOVER:
    case LKS_SCHEDSIM_DIALECT:
    case LKS_SCHEDSIM_PARTIAL:
    case LKS_SCHEDSIM_REFUSES:
    case LKS_SCHEDSIM_FAULTS:
        break;
    }
}

void lks_schedsim_take(struct lks_schedsim *m, const struct lks_http_request *request,
                       struct lks_schedsim_reply *out)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    struct lks_schedsim_asking a = {.m = m, .request = request, .out = out};
    struct lks_str path = lks_buf_view(&request->path), name = path;
    lks_buf_truncate(&out->body, 0);
    out->delay = 0;
    m->requests++;
    a.fault = draw(m);
    if (request->body.len > 0 && lks_docs_init(&docs, "request", &err) == LKS_OK &&
        lks_json_parse(lks_buf_view(&request->body), &docs, &err) == LKS_OK)
        a.given = docs.first;
    bool arrives = a.fault != LKS_SCHEDSIM_LOST && a.fault != LKS_SCHEDSIM_BUSY &&
                   a.fault != LKS_SCHEDSIM_BROKEN;
    if (lks_schedsim_site_is(path)) {
        if (arrives)
            lks_schedsim_site_answer(&a, path);
        befall(&a);
        return;
    }
    if (lks_str_starts(path, PATH))
        lks_str_cut((struct lks_str){path.ptr + sizeof(PATH) - 1, path.len - (sizeof(PATH) - 1)},
                    '/', &name, &a.verb);
    a.node = lks_schedsim_find(m, name);
    if (a.node == UINT32_MAX) {
        lks_schedsim_refuse(&a, 404, "no such node");
    } else if (arrives) {
        if (a.fault == LKS_SCHEDSIM_RESTART && m->nodes[a.node].now.closed)
            open_node(m, a.node);
        if (a.fault == LKS_SCHEDSIM_FAILOVER)
            fail_over(m, a.node);
        answer(&a);
    }
    befall(&a);
}
