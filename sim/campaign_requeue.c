/* Jobs that changes signal and requeue, and the scheduler that carries it out. */
#include "core/actions/job_acts.h"
#include "core/decision/event.h"
#include "sim/campaign.h"

#include <inttypes.h>
#include <stdio.h>

enum { TASKS = 4 }; /* of an array */

#define SIGNALLED (5 * CAM_MINUTE) /* after it a job that hears its signal ends */

/* An array has the number of its first task. */
struct lks_str cam_requeue_id(const struct cam_job *job, char out[CAM_JOB_ID_SIZE])
{
    if (job->shape == CAM_TASK)
        (void)snprintf(out, CAM_JOB_ID_SIZE, "%" PRIu64 "_%" PRIu64, job->id / TASKS * TASKS,
                       job->id % TASKS);
    else
        (void)snprintf(out, CAM_JOB_ID_SIZE, "%" PRIu64, job->id);
    return lks_str_from(out);
}

struct lks_str cam_requeue_part(const struct cam_job *job, unsigned k, char out[CAM_JOB_ID_SIZE])
{
    if (job->shape != CAM_PARTS)
        return cam_requeue_id(job, out);
    (void)snprintf(out, CAM_JOB_ID_SIZE, "%" PRIu64 "+%u", job->id, k);
    return lks_str_from(out);
}

/* The name of a job stays over its runs. NULL: it does not run. */
static struct cam_job *find_job(struct cam *w, struct lks_str id)
{
    char name[CAM_JOB_ID_SIZE];
    for (uint32_t j = 0; j < CAM_JOBS_MAX; j++) {
        struct cam_job *job = &w->jobs[j];
        if (job->there && job->begun && !job->unlisted && lks_str_eq(cam_requeue_id(job, name), id))
            return job;
    }
    return NULL;
}

/* Lists ------------------------------------------------------------------------------------- */

static void list(struct lks_buf *out, struct lks_str id, const char *node, const char *state,
                 lks_ms started, bool requeue)
{
    lks_buf_addf(out,
                 "%s{\"id\":\"%" LKS_STR_FMT
                 "\",\"user\":\"ada\",\"account\":\"\",\"partition\":\"p\",\"state\":\"%s\","
                 "\"nodes\":\"%s\",\"started\":%" PRIu64
                 ",\"ends\":null,\"requeue\":%s,\"gpus\":8}",
                 lks_str_ends(lks_buf_view(out), "[") ? "" : ",", LKS_STR_ARG(id), state, node,
                 started, requeue ? "true" : "false");
}

/* Each node of a job has an entry of its own: what matters is which ids there are, and where. */
static void list_all(const struct cam *w, struct lks_buf *out)
{
    char name[CAM_JOB_ID_SIZE];
    lks_buf_addf(out, "{\"age\":0,\"jobs\":[");
    for (uint32_t j = 0; j < CAM_JOBS_MAX; j++) {
        const struct cam_job *job = &w->jobs[j];
        for (unsigned k = 0; k < job->count && job->there && job->begun && !job->unlisted; k++)
            list(out, cam_requeue_part(job, k, name), w->machines[job->nodes[k]].name,
                 job->completing ? "completing" : "running", job->started, job->requeue);
    }
    for (uint32_t i = 0; i < w->nodes && w->slurm.on; i++) {
        const struct cam_ghost *g = &w->slurm.nodes[i].ghost;
        if (g->there)
            list(out, lks_str_from(g->id), w->machines[i].name, "running", g->started, g->requeue);
    }
    lks_buf_addf(out, "]}");
}

/* What the scheduler lists of a node. */
void cam_requeue_list(struct cam *w, const struct cam_machine *m, uint32_t place)
{
    enum { ON_NODE = 4, BYTES_MAX = 1 << 20 };
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(BYTES_MAX);
    LKS_CLEANUP(lks_sched_jobs_fini) struct lks_sched_jobs jobs = {0};
    struct lks_event_job on[ON_NODE];
    struct lks_err err = {0};
    struct cam_shown is;
    cam_slurm_show(w, m, &is);
    if (is.jobs == 0)
        return;
    list_all(w, &json);
    enum lks_code code = lks_sched_jobs_read(lks_buf_view(&json), &jobs, &err);
    cam_require(w, code == LKS_OK, "jobs", "%s", err.msg);
    struct lks_event event = {.kind = LKS_EVENT_SCHED_JOBS, .node = place};
    event.sched_jobs.list = on;
    event.sched_jobs.count = lks_job_acts_on(&jobs, lks_str_from(m->name), on, ON_NODE);
    for (size_t k = 0; k < event.sched_jobs.count; k++) {
        const struct cam_job *job = find_job(w, on[k].id);
        cam_require(w, job == NULL || !job->completing, "jobs",
                    "job %" LKS_STR_FMT " is completing, and is to be signalled",
                    LKS_STR_ARG(on[k].id));
    }
    if (event.sched_jobs.count > 0)
        (void)cam_turn(w, &event, NULL);
}

/* Acts -------------------------------------------------------------------------------------- */

/* Each site has a scheduler of its own, which knows nothing of what the other was asked for. */
static bool spans_sites(const struct cam *w, const struct cam_job *job)
{
    for (unsigned k = 1; k < job->count; k++)
        if (w->machines[job->nodes[k]].site != w->machines[job->nodes[0]].site)
            return true;
    return false;
}

/* The scheduler requeues a run: it ends here, and starts again one day under the same name, maybe
 * at the other site. */
static void requeue(struct cam *w, struct cam_job *job, const struct lks_job_due *due)
{
    const struct cam_machine *m = &w->machines[job->nodes[0]];
    uint64_t change = due->change;
    unsigned site = 1U << w->machines[cam_machine(w, due->node)].site;
    unsigned sites = job->requeued_by == change ? job->requeued_at : 0;
    cam_require(w, w->requeues[m->pool], "jobs",
                "job %" PRIu64 " of pool %s is requeued, and its pool waits", job->id,
                cam_pool_name(m->pool));
    cam_require(w, job->requeue, "jobs", "job %" PRIu64 " is requeued, and may not be", job->id);
    cam_require(w, job->signalled == change, "jobs",
                "job %" PRIu64 " is requeued by change %" PRIu64 ", which sent it no signal",
                job->id, change);
    cam_require(w, (sites & site) == 0, "jobs",
                "job %" PRIu64 " is requeued a second time by change %" PRIu64, job->id, change);
    w->requeued++;
    w->requeued_shapes[job->shape]++;
    if (w->again_count < LKS_COUNT(w->again))
        w->again[w->again_count++] = (struct cam_again){
            .id = job->id,
            .by = change,
            .at = sites | site,
            .requeue = job->requeue,
            .signalled = job->signalled,
            .signalled_at = job->signalled_at,
            .shape = job->shape,
        };
    job->requeued_by = change;
    job->requeued_at = sites | site;
    job->unanswered = false;
    job->act_life = w->life;
    cam_job_over(w, (uint32_t)(job - w->jobs));
    cam_slurm_stirs(w);
}

static void signal_job(struct cam *w, struct cam_job *job, const struct lks_job_due *due)
{
    unsigned site = w->machines[cam_machine(w, due->node)].site;
    bool again = job->unanswered || job->act_life != w->life || spans_sites(w, job) ||
                 job->signalled_at != site;
    cam_require(w, job->signalled != due->change || again, "jobs",
                "job %" LKS_STR_FMT " is signalled a second time by change %" PRIu64,
                LKS_STR_ARG(due->job), due->change);
    job->signalled = due->change;
    job->signalled_at = site;
    job->unanswered = false;
    job->act_life = w->life;
    if (!job->deaf && !job->endless)
        cam_post(w,
                 (struct lks_message){.kind = CAM_JOB_ENDS,
                                      .number = job->serial,
                                      .value = (uint32_t)(job - w->jobs)},
                 SIGNALLED);
}

/* Each task of an array is asked for by itself; of a heterogeneous job all components are: Slurm
 * does not requeue one of them, and what is sent to it does not reach the others. */
static void check_named(struct cam *w, struct lks_str id)
{
    uint64_t number = 0;
    bool whole = lks_str_number(id, UINT64_MAX, &number);
    cam_require(w, lks_str_find(id, LKS_STR("+")) < 0, "jobs",
                "an act is for %" LKS_STR_FMT ", a component alone", LKS_STR_ARG(id));
    for (uint32_t j = 0; j < CAM_JOBS_MAX && whole; j++)
        cam_require(w, w->jobs[j].shape != CAM_TASK || w->jobs[j].id / TASKS * TASKS != number,
                    "jobs", "an act is for %" LKS_STR_FMT ", all tasks of an array",
                    LKS_STR_ARG(id));
}

static void carry_out(struct cam *w, const struct lks_job_due *due)
{
    struct cam_job *job = find_job(w, due->job);
    check_named(w, due->job);
    if (job == NULL && due->act == LKS_JOB_REQUEUE)
        cam_slurm_requeued(w, due->job, due->change);
    if (job == NULL || !lks_job_acts_meant(due, !job->completing, job->started))
        return;
    if (due->act == LKS_JOB_REQUEUE)
        requeue(w, job, due);
    else
        signal_job(w, job, due);
}

/* The answer is lost, and it may be asked for once more. */
static void lose_answer(struct cam *w, const struct lks_job_due *due)
{
    struct cam_job *job = find_job(w, due->job);
    if (job != NULL)
        job->unanswered = true;
    else
        cam_slurm_unanswered(w, due->job);
}

/* Acts that are durable are carried out; answers get lost as all do. */
void cam_requeue_acts(struct cam *w)
{
    struct lks_job_acts_at at = {0};
    struct lks_job_due due;
    while (lks_job_acts_next(lks_engine_state(w->engine), &at, &due)) {
        bool old = false, refused = false;
        uint32_t node = cam_machine(w, due.node);
        const char *trouble = cam_slurm_trouble(w, &w->machines[node], true, &old, &refused);
        if ((trouble != NULL && !refused) || cam_chance(w, w->weather.loss))
            continue;
        if (!refused)
            carry_out(w, &due);
        if (cam_chance(w, w->weather.loss)) {
            lose_answer(w, &due);
            continue;
        }
        const struct lks_event event = {.kind = LKS_EVENT_JOB_ACTED,
                                        .acted = {.change = due.change,
                                                  .job = due.job,
                                                  .site = due.site,
                                                  .act = due.act,
                                                  .refused = refused,
                                                  .text = lks_str_from(refused ? trouble : "")}};
        if (!cam_turn(w, &event, NULL))
            return;
    }
}

/* The act that a request is for. False: it is over by the rows. */
static bool find_due(const struct cam *w, const struct lks_bridge_request *r,
                     struct lks_job_due *out)
{
    struct lks_job_acts_at at = {0};
    enum lks_job_act act = r->verb == LKS_BRIDGE_SIGNAL ? LKS_JOB_SIGNAL : LKS_JOB_REQUEUE;
    while (lks_job_acts_open(&w->model.state, &at, out))
        if (out->act == act && lks_str_is(out->job, r->name))
            return true;
    return false;
}

/* Slurm lists the job, and knows none of this id: it is asked once by each change, or from each of
 * two sites, and again where the answer was lost. */
static void deny(struct cam *w, struct cam_job *job, const struct lks_job_due *due)
{
    enum { DENIED_MAX = 3 };
    job->denied = job->denied_by == due->change && job->act_life == w->life ? job->denied + 1 : 1;
    job->denied_by = due->change;
    job->act_life = w->life;
    w->bridges.denied++;
    cam_require(w, job->denied <= DENIED_MAX, "jobs",
                "job %" PRIu64 ", which its scheduler does not know, is asked for %u times",
                job->id, job->denied);
}

int cam_requeue_take(struct cam *w, const struct lks_bridge_request *r, struct lks_buf *body)
{
    enum { DONE = 200, MISSING = 404, CONFLICT = 409 };
    struct cam_job *job = find_job(w, lks_str_from(r->name));
    struct lks_job_due due;
    check_named(w, lks_str_from(r->name));
    if (job == NULL) {
        cam_site_say(body, "Invalid job id specified");
        return MISSING;
    }
    cam_require(w, job->odd == CAM_READABLE || (r->started != 0 && r->started != job->started),
                "jobs", "an act is for job %" PRIu64 ", which cannot be read", job->id);
    if (job->started != r->started || job->completing || !find_due(w, r, &due)) {
        lks_buf_addf(body, "{\"error\":\"the run has ended\",\"started\":%" PRIu64 "}",
                     job->started);
        return CONFLICT;
    }
    if (r->verb == LKS_BRIDGE_REQUEUE && job->unknown) {
        deny(w, job, &due);
        cam_site_say(body, "Invalid job id specified");
        return MISSING;
    }
    if (r->verb == LKS_BRIDGE_REQUEUE)
        requeue(w, job, &due);
    else
        signal_job(w, job, &due);
    lks_buf_addf(body, "{\"id\":\"%s\"}", r->name);
    return DONE;
}

void cam_requeue_lost(struct cam *w, struct lks_str id)
{
    struct cam_job *job = find_job(w, id);
    if (job == NULL)
        return;
    job->unanswered = true;
    job->denied -= job->denied > 0;
}

/* A run that starts: of a job that was requeued, or of a new one. */
void cam_requeue_begins(struct cam *w, struct cam_job *job)
{
    job->started = w->now;
    job->id = job->serial;
    job->requeue = job->serial % 4 != 0;
    job->deaf = job->serial % 3 == 0;
    job->shape = w->slurm.on || w->bridges.on ? (enum cam_shape)(job->serial / 4 % 3) : CAM_PLAIN;
    if (w->bridges.on && job->serial % 7 == 3)
        job->odd = (enum cam_odd)(1 + job->serial / 7 % (CAM_ODDS - 1));
    job->unknown = w->bridges.on && job->serial % 3 == 2;
    if (w->again_count == 0 || (w->bridges.on && w->sites > 1))
        return; /* a run of the one site has another name at the other */
    struct cam_again again = w->again[--w->again_count];
    job->id = again.id;
    job->requeued_by = again.by;
    job->requeued_at = again.at;
    job->signalled = again.signalled;
    job->signalled_at = again.signalled_at;
    job->requeue = again.requeue;
    job->shape = again.shape;
}
