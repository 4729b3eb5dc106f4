/* What the simulated scheduler answers about a whole site. */
#include "codec/format/json.h"
#include "codec/notation/hostlist.h"
#include "lab/sched/schedsim_parts.h"

#include <stdio.h>
#include <string.h>

#define JOBS  "/v1/jobs"
#define EPOCH "/v1/epoch"

bool lks_schedsim_site_is(struct lks_str path)
{
    return lks_str_starts(path, JOBS) || lks_str_is(path, EPOCH);
}

/* The list ---------------------------------------------------------------------------------- */

/* Sessions of people are not requeued. */
static bool may_requeue(const struct lks_schedsim_job *job)
{
    return job->kind == LKS_SCHEDSIM_TRAINING || job->kind == LKS_SCHEDSIM_BATCH;
}

static void write_nodes(const struct lks_schedsim *m, const struct lks_schedsim_job *job,
                        struct lks_json_writer *w)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf list = LKS_BUF(LKS_HTTP_BODY_MAX);
    for (uint32_t i = 0; i < job->count; i++) {
        struct lks_str name = lks_intern_text(&m->names, job->nodes[i]);
        lks_buf_addf(&list, "%s%" LKS_STR_FMT, i > 0 ? "," : "", LKS_STR_ARG(name));
    }
    lks_json_text(w, "nodes", lks_buf_view(&list));
}

static void write_job(const struct lks_schedsim *m, uint32_t place, struct lks_json_writer *w)
{
    const struct lks_schedsim_job *job = &m->jobs[place];
    char id[16];
    snprintf(id, sizeof(id), "%u", place + 1);
    lks_json_begin(w, NULL, '{');
    lks_json_cstr(w, "id", id);
    lks_json_cstr(w, "user", lks_schedsim_kind_words[job->kind]);
    lks_json_cstr(w, "state", job->waits > 0 ? "pending" : "running");
    write_nodes(m, job, w);
    if (job->waits > 0)
        lks_json_null(w, "started");
    else
        lks_json_int(w, "started", (int64_t)job->begun);
    lks_json_null(w, "ends");
    lks_json_bool(w, "requeue", may_requeue(job));
    lks_json_null(w, "gpus");
    lks_json_end(w, '}');
}

/* Services are not jobs: no drain waits for their end. */
static void list_jobs(struct lks_schedsim_asking *a)
{
    const struct lks_schedsim *m = a->m;
    struct lks_json_writer w = {.out = &a->out->body};
    a->out->status = 200;
    lks_json_begin(&w, NULL, '{');
    lks_json_int(&w, "age", 0);
    lks_json_begin(&w, "jobs", '[');
    for (uint32_t i = 0; i < m->job_count; i++) {
        if (!m->jobs[i].over && m->jobs[i].kind != LKS_SCHEDSIM_SERVICE)
            write_job(m, i, &w);
    }
    lks_json_end(&w, ']');
    lks_json_end(&w, '}');
}

/* A job ------------------------------------------------------------------------------------- */

static struct lks_schedsim_job *find_job(const struct lks_schedsim *m, struct lks_str id)
{
    uint64_t number = 0;
    if (!lks_str_number(id, m->job_count, &number) || number == 0 || m->jobs[number - 1].over)
        return NULL;
    return &m->jobs[number - 1];
}

/* Whether the run that is meant is there; else the answer has the start of the one that is. */
static bool is_run(struct lks_schedsim_asking *a, const struct lks_schedsim_job *job)
{
    const struct lks_doc *started = lks_doc_member(a->given, "started");
    struct lks_json_writer w = {.out = &a->out->body};
    if (started == NULL || (job->waits == 0 && started->kind == LKS_DOC_NUMBER &&
                            started->number == (int64_t)job->begun))
        return true;
    a->out->status = 409;
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "error", "the run that is meant has ended");
    if (job->waits > 0)
        lks_json_null(&w, "started");
    else
        lks_json_int(&w, "started", (int64_t)job->begun);
    lks_json_end(&w, '}');
    return false;
}

static void act(struct lks_schedsim_asking *a, struct lks_schedsim_job *job, bool requeue)
{
    if (a->fault != LKS_SCHEDSIM_DEAF) {
        a->m->writes++;
        if (requeue)
            lks_schedsim_requeue(a->m, job);
        else
            job->signals++;
    }
    a->out->status = 200;
    lks_buf_addf(&a->out->body, "{\"id\":\"%u\"}", (unsigned)(job - a->m->jobs) + 1);
}

/* By a leader; NULL: there is no such job. */
static void answer_act(struct lks_schedsim_asking *a, struct lks_schedsim_job *job, bool requeue)
{
    if (job == NULL)
        lks_schedsim_refuse(a, 404, "no such job");
    else if (is_run(a, job)) {
        if (job->waits > 0 || (requeue && !may_requeue(job)))
            lks_schedsim_refuse(a, 409,
                                job->waits > 0 ? "the job waits" : "it may not be requeued");
        else
            act(a, job, requeue);
    }
}

static void answer_job(struct lks_schedsim_asking *a, struct lks_str id, struct lks_str verb)
{
    struct lks_schedsim_job *job = find_job(a->m, id);
    bool requeue = lks_str_is(verb, "requeue");
    if (strcmp(a->request->method, "POST") != 0 || (!requeue && !lks_str_is(verb, "signal")))
        lks_schedsim_refuse(a, 405, "not here");
    else if (lks_schedsim_leads(a))
        answer_act(a, job, requeue);
}

void lks_schedsim_site_answer(struct lks_schedsim_asking *a, struct lks_str path)
{
    struct lks_str id, verb;
    size_t skip = sizeof(JOBS "/") - 1;
    if (lks_str_is(path, EPOCH)) {
        if (lks_schedsim_leads(a)) {
            a->out->status = 200;
            lks_buf_addf(&a->out->body, "{}");
        }
    } else if (lks_str_is(path, JOBS)) {
        list_jobs(a);
    } else {
        lks_str_cut((struct lks_str){path.ptr + skip, path.len > skip ? path.len - skip : 0}, '/',
                    &id, &verb);
        answer_job(a, id, verb);
    }
}
