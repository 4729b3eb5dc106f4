/* Jobs, and users who start them. */
#include "core/admission/admit.h"
#include "sim/campaign.h"

#include <stdio.h>

#define JOB_TAKES (20 * CAM_MINUTE)

static bool is_free(const struct cam *w, const struct cam_machine *m, unsigned pool)
{
    const struct cam_slurm_node *n = cam_slurm_node(w, m);
    if (n != NULL && (n->ghost.there || n->outage != CAM_NO_OUTAGE))
        return false;
    return m->type == CAM_NODE && m->placed && m->pool == pool && m->job == 0 && m->up &&
           w->now >= m->reserved;
}

static unsigned choose(struct cam *w, unsigned pool, uint32_t nodes[CAM_GANG_MAX])
{
    unsigned wanted = 1 + (unsigned)lks_rng_below(&w->rng, CAM_GANG_MAX), count = 0;
    uint32_t from = (uint32_t)lks_rng_below(&w->rng, w->nodes);
    for (uint32_t k = 0; k < w->nodes && k < 64 && count < wanted; k++) {
        uint32_t i = (from + k) % w->nodes;
        if (is_free(w, &w->machines[i], pool))
            nodes[count++] = i;
    }
    return count;
}

/* Where nobody enforces and nothing schedules, users look at what is said of a node. */
static bool users_agree(const struct cam *w, const struct cam_machine *m)
{
    if (w->scheduled[m->pool])
        return m->sched_owner[0] == '\0' && !m->sched_missing && !m->busy &&
               w->now >= w->sched_down && !cam_slurm_dead(w);
    return w->enforce[m->pool] || (!m->drained && !m->changing && !m->held);
}

/* Whether it may start; `until` is how long the yes is good. */
static bool is_admitted(struct cam *w, const uint32_t *nodes, unsigned count, lks_ms *until)
{
    LKS_CLEANUP(lks_admit_fini) struct lks_admit answer = {0};
    struct lks_str names[CAM_GANG_MAX];
    struct lks_err err = {0};
    *until = w->now;
    for (unsigned k = 0; k < count; k++) {
        names[k] = lks_str_from(w->machines[nodes[k]].name);
        if (!users_agree(w, &w->machines[nodes[k]]))
            return false;
    }
    if (!w->enforce[w->machines[nodes[0]].pool])
        return true;
    if (w->engine == NULL || lks_engine_stalled(w->engine, NULL) ||
        lks_engine_seq(w->engine) > lks_engine_durable_seq(w->engine))
        return false;
    struct lks_admit_ask ask = {.job = LKS_STR("job"),
                                .names = names,
                                .count = count,
                                .stack = LKS_STR(""),
                                .nccl = LKS_STR("")};
    struct lks_now now = lks_engine_now(w->engine, cam_now(w));
    enum lks_code code = lks_admit(lks_engine_state(w->engine), lks_engine_book(w->engine), now,
                                   &ask, &answer, &err);
    cam_require(w, code == LKS_OK, "admission", "%s", err.msg);
    if (code == LKS_OK && answer.yes)
        *until = w->now + (answer.valid_until - now.wall);
    return code == LKS_OK && answer.yes;
}

static void start(struct cam *w, const uint32_t *nodes, unsigned count, lks_ms until)
{
    for (uint32_t j = 0; j < CAM_JOBS_MAX; j++) {
        struct cam_job *job = &w->jobs[j];
        if (job->there)
            continue;
        *job = (struct cam_job){
            .there = true, .count = count, .until = until, .serial = ++w->job_serial};
        for (unsigned k = 0; k < count; k++) {
            struct cam_machine *m = &w->machines[nodes[k]];
            job->nodes[k] = nodes[k];
            m->reserved = until + 1;
            m->yes_until = until;
        }
        cam_post(w, (struct lks_message){.kind = CAM_JOB_BEGINS, .number = job->serial, .value = j},
                 until > w->now ? lks_rng_below(&w->rng, until - w->now) : 0);
        return;
    }
}

void cam_job_asks(struct cam *w)
{
    uint32_t nodes[CAM_GANG_MAX];
    lks_ms until = 0;
    unsigned pool = CAM_POOLS - w->pools + (unsigned)lks_rng_below(&w->rng, w->pools);
    unsigned count = choose(w, pool, nodes);
    if (count > 0 && is_admitted(w, nodes, count, &until)) {
        cam_check_yes(w, nodes, count);
        start(w, nodes, count, until);
    }
    if (w->weather.jobs > 0)
        cam_post(w, (struct lks_message){.kind = CAM_JOB_ASKS},
                 cam_between(w, 1, 2 * CAM_HOUR / w->weather.jobs));
}

void cam_job_begins(struct cam *w, const struct lks_message *msg)
{
    uint32_t j = msg->value;
    struct cam_job *job = &w->jobs[j];
    bool there = true;
    if (!job->there || job->serial != msg->number)
        return;
    for (unsigned k = 0; k < job->count; k++)
        there = there && w->machines[job->nodes[k]].up && w->machines[job->nodes[k]].job == 0;
    if (!there || !cam_slurm_starts(w, job)) {
        job->there = false;
        return;
    }
    cam_check_job(w, job);
    w->jobs_begun++;
    job->begun = true;
    cam_requeue_begins(w, job);
    cam_say(w, "job %u begins on %s and %u others", (unsigned)j, w->machines[job->nodes[0]].name,
            job->count - 1);
    for (unsigned k = 0; k < job->count; k++)
        w->machines[job->nodes[k]].job = j + 1;
    job->endless = cam_chance(w, w->weather.endless);
    if (!job->endless)
        cam_post(w, (struct lks_message){.kind = CAM_JOB_ENDS, .number = job->serial, .value = j},
                 cam_takes(w, JOB_TAKES) + 1);
}

void cam_job_over(struct cam *w, uint32_t j)
{
    struct cam_job *job = &w->jobs[j];
    for (unsigned k = 0; k < job->count && job->there && job->begun; k++)
        w->machines[job->nodes[k]].job = 0;
    if (job->there && job->begun)
        cam_slurm_ended(w, job);
    job->there = false;
}

void cam_job_ends(struct cam *w, const struct lks_message *msg)
{
    struct cam_job *job = &w->jobs[msg->value];
    if (job->serial == msg->number && !cam_slurm_lingers(w, job))
        cam_job_over(w, msg->value);
}

/* The machine went down under it. */
void cam_job_killed(struct cam *w, uint32_t i)
{
    if (w->machines[i].job != 0)
        cam_job_over(w, w->machines[i].job - 1);
}

void cam_jobs_calm(struct cam *w)
{
    for (uint32_t j = 0; j < CAM_JOBS_MAX; j++)
        if (w->jobs[j].there && w->jobs[j].endless)
            cam_post(
                w,
                (struct lks_message){.kind = CAM_JOB_ENDS, .number = w->jobs[j].serial, .value = j},
                cam_between(w, CAM_MINUTE, 10 * CAM_MINUTE));
}
