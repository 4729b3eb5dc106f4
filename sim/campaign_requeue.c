/* Jobs that changes signal and requeue, and the scheduler that carries it out. */
#include "core/actions/job_acts.h"
#include "sim/campaign.h"

#include <inttypes.h>
#include <stdio.h>

#define SIGNALLED (5 * CAM_MINUTE) /* after it a job that hears its signal ends */

struct lks_str cam_requeue_id(const struct cam_job *job, char out[CAM_JOB_ID_SIZE])
{
    (void)snprintf(out, CAM_JOB_ID_SIZE, "%" PRIu64, job->id);
    return lks_str_from(out);
}

/* The name of a job stays over its runs. NULL: it does not run. */
static struct cam_job *find_job(struct cam *w, struct lks_str id)
{
    char name[CAM_JOB_ID_SIZE];
    for (uint32_t j = 0; j < CAM_JOBS_MAX; j++) {
        struct cam_job *job = &w->jobs[j];
        if (job->there && job->begun && lks_str_eq(cam_requeue_id(job, name), id))
            return job;
    }
    return NULL;
}

/* What the scheduler lists of a node. */
void cam_requeue_list(struct cam *w, const struct cam_machine *m, uint32_t place)
{
    char name[CAM_JOB_ID_SIZE];
    if (m->job == 0)
        return;
    const struct cam_job *job = &w->jobs[m->job - 1];
    const struct lks_event_job listed = {.id = cam_requeue_id(job, name),
                                         .user = LKS_STR("ada"),
                                         .started = job->started,
                                         .requeue = job->requeue};
    const struct lks_event event = {
        .kind = LKS_EVENT_SCHED_JOBS, .node = place, .sched_jobs = {&listed, 1}};
    (void)cam_turn(w, &event, NULL);
}

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
    if (w->again_count < LKS_COUNT(w->again))
        w->again[w->again_count++] =
            (struct cam_again){job->id, change, job->requeue, job->signalled};
    cam_job_over(w, (uint32_t)(job - w->jobs));
}

static void carry_out(struct cam *w, const struct lks_job_due *due)
{
    struct cam_job *job = find_job(w, due->job);
    if (!lks_job_acts_meant(due, job != NULL, job != NULL ? job->started : 0) || job == NULL)
        return;
    if (due->act == LKS_JOB_REQUEUE) {
        requeue(w, job, due->change);
        return;
    }
    job->signalled = due->change;
    if (!job->deaf && !job->endless)
        cam_post(w,
                 (struct lks_message){.kind = CAM_JOB_ENDS,
                                      .number = job->serial,
                                      .value = (uint32_t)(job - w->jobs)},
                 SIGNALLED);
}

/* Acts that are durable are carried out; answers get lost as all do. */
void cam_requeue_acts(struct cam *w)
{
    struct lks_job_acts_at at = {0};
    struct lks_job_due due;
    while (lks_job_acts_next(lks_engine_state(w->engine), &at, &due)) {
        if (cam_chance(w, w->weather.loss))
            continue;
        carry_out(w, &due);
        if (cam_chance(w, w->weather.loss))
            continue;
        const struct lks_event event = {.kind = LKS_EVENT_JOB_ACTED,
                                        .acted = {.change = due.change,
                                                  .job = due.job,
                                                  .site = due.site,
                                                  .act = due.act,
                                                  .text = LKS_STR("")}};
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
    if (w->again_count == 0)
        return;
    struct cam_again again = w->again[--w->again_count];
    job->id = again.id;
    job->requeued_by = again.by;
    job->signalled = again.signalled;
    job->requeue = again.requeue;
}
