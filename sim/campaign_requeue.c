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

/* The scheduler requeues a run: it ends here, and starts again one day under the same name. */
static void requeue(struct cam *w, struct cam_job *job, uint64_t change)
{
    const struct cam_machine *m = &w->machines[job->nodes[0]];
    cam_require(w, w->requeues[m->pool], "jobs",
                "job %" PRIu64 " of pool %s is requeued, and its pool waits", job->id,
                cam_pool_name(m->pool));
    cam_require(w, job->requeue, "jobs", "job %" PRIu64 " is requeued, and may not be", job->id);
    cam_require(w, job->signalled == change, "jobs",
                "job %" PRIu64 " is requeued by change %" PRIu64 ", which sent it no signal",
                job->id, change);
    cam_require(w, job->requeued_by != change, "jobs",
                "job %" PRIu64 " is requeued a second time by change %" PRIu64, job->id, change);
    w->requeued++;
    w->requeued_shapes[job->shape]++;
    if (w->again_count < LKS_COUNT(w->again))
        w->again[w->again_count++] = (struct cam_again){
            .id = job->id,
            .by = change,
            .requeue = job->requeue,
            .signalled = job->signalled,
            .shape = job->shape,
        };
    job->requeued_by = change;
    job->unanswered = false;
    job->act_life = w->life;
    cam_job_over(w, (uint32_t)(job - w->jobs));
    cam_slurm_stirs(w);
}

/* Each site has a scheduler of its own, which knows nothing of what the other was asked for. */
static bool spans_sites(const struct cam *w, const struct cam_job *job)
{
    for (unsigned k = 1; k < job->count; k++)
        if (w->machines[job->nodes[k]].site != w->machines[job->nodes[0]].site)
            return true;
    return false;
}

static void signal_job(struct cam *w, struct cam_job *job, const struct lks_job_due *due)
{
    bool again = job->unanswered || job->act_life != w->life || spans_sites(w, job);
    cam_require(w, job->signalled != due->change || again, "jobs",
                "job %" LKS_STR_FMT " is signalled a second time by change %" PRIu64,
                LKS_STR_ARG(due->job), due->change);
    job->signalled = due->change;
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
        requeue(w, job, due->change);
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

/* A run that starts: of a job that was requeued, or of a new one. */
void cam_requeue_begins(struct cam *w, struct cam_job *job)
{
    job->started = w->now;
    job->id = job->serial;
    job->requeue = job->serial % 4 != 0;
    job->deaf = job->serial % 3 == 0;
    job->shape = w->slurm.on ? (enum cam_shape)(job->serial / 4 % 3) : CAM_PLAIN;
    if (w->again_count == 0)
        return;
    struct cam_again again = w->again[--w->again_count];
    job->id = again.id;
    job->requeued_by = again.by;
    job->signalled = again.signalled;
    job->requeue = again.requeue;
    job->shape = again.shape;
}
