#include "core/actions/job_acts.h"

#include "base/vec.h"
#include "core/decision/event.h"
#include "core/rows/change.h"
#include "core/sched/jobs.h"
#include "core/state/state.h"

#include <stdio.h>
#include <stdlib.h>

/* Acts of the state -------------------------------------------------------------------------- */

static struct lks_job_due due_of(const struct lks_state *s, const struct lks_state_change *c,
                                 const struct lks_job_acted *job)
{
    return (struct lks_job_due){
        .change = c->id,
        .job = lks_state_text(s, job->job),
        .site = lks_state_text(s, job->site),
        .sched = lks_state_text(s, job->sched),
        .node = lks_state_text(s, job->node),
        .signal = lks_state_text(s, job->signal),
        .job_text = job->job,
        .site_text = job->site,
        .act = job->act,
        .started = job->started,
        .asked = job->at,
    };
}

static bool next(const struct lks_state *s, bool running, struct lks_job_acts_at *at,
                 struct lks_job_due *out)
{
    for (; at->change < s->change_count; at->change++, at->job = 0) {
        const struct lks_state_change *c = &s->changes[at->change];
        while ((!running || c->state == LKS_CHANGE_RUNNING) && at->job < c->job_count) {
            const struct lks_job_acted *job = &c->jobs[at->job++];
            if (job->state != LKS_JOB_ASKED)
                continue;
            *out = due_of(s, c, job);
            return true;
        }
    }
    return false;
}

bool lks_job_acts_next(const struct lks_state *s, struct lks_job_acts_at *at,
                       struct lks_job_due *out)
{
    return next(s, true, at, out);
}

bool lks_job_acts_open(const struct lks_state *s, struct lks_job_acts_at *at,
                       struct lks_job_due *out)
{
    return next(s, false, at, out);
}

bool lks_job_acts_find(const struct lks_state *s, uint64_t change, struct lks_str site,
                       struct lks_str job, enum lks_job_act act, struct lks_job_due *out)
{
    const struct lks_state_change *c = lks_state_change(s, change);
    const struct lks_job_acted *had = c != NULL ? lks_state_change_job(s, c, site, job) : NULL;
    if (had == NULL || had->act != act || had->state != LKS_JOB_ASKED)
        return false;
    *out = due_of(s, c, had);
    return true;
}

bool lks_job_acts_wanted(const struct lks_state *s, uint32_t node)
{
    const struct lks_state_change *c = lks_state_changing(s, node);
    const struct lks_member *m = c != NULL ? lks_state_change_member(c, node) : NULL;
    const struct lks_recipe *r =
        m != NULL && m->recipe < c->recipe_count ? &c->recipes[m->recipe] : NULL;
    for (uint32_t i = 0; r != NULL && i < r->count; i++) {
        if (r->steps[i].kind == LKS_DO_LEAVE && r->steps[i].jobs == LKS_DRAIN_JOBS_REQUEUE)
            return true;
    }
    return false;
}

bool lks_job_acts_deferred(const struct lks_state *s, uint64_t change, struct lks_str site,
                           struct lks_str job, struct lks_str why)
{
    const struct lks_state_change *c = lks_state_change(s, change);
    const struct lks_job_acted *had = c != NULL ? lks_state_change_job(s, c, site, job) : NULL;
    return had != NULL && had->state == LKS_JOB_ASKED && had->text != 0 &&
           lks_str_eq(lks_state_text(s, had->text), why);
}

bool lks_job_acts_meant(const struct lks_job_due *due, bool runs, lks_ms started)
{
    return runs && started == due->started;
}

/* Requests ----------------------------------------------------------------------------------- */

void lks_job_acts_fini(struct lks_job_book *b)
{
    free(b->sent);
    *b = (struct lks_job_book){0};
}

static struct lks_job_sent *find(const struct lks_job_book *b, const struct lks_job_due *due)
{
    return LKS_VEC_FIND(b->sent, b->count, it,
                        it->change == due->change && it->job == due->job_text &&
                            it->site == due->site_text && it->act == due->act);
}

/* False: no memory. */
static bool note(struct lks_job_book *b, const struct lks_job_due *due, bool waits, lks_ms wall)
{
    struct lks_err ignored = {0};
    const struct lks_job_sent made = {.change = due->change,
                                      .job = due->job_text,
                                      .site = due->site_text,
                                      .act = due->act,
                                      .waits = waits,
                                      .at = wall};
    return LKS_VEC_ADD(b->sent, b->room, b->count, UINT32_MAX, made, &ignored) == LKS_OK;
}

/* One that ends has its nodes, and does nothing there any more. */
static bool is_running(const struct lks_sched_job *job)
{
    return job != NULL && job->runs && !lks_str_is(job->state, "completing");
}

/* Of a heterogeneous job the first component: the others end and start with it. */
static const struct lks_sched_job *lead_of(const struct lks_sched_jobs *jobs, struct lks_str id)
{
    const struct lks_sched_job *job = lks_sched_jobs_find(jobs, id);
    return job != NULL ? job : lks_sched_jobs_part(jobs, id, 0);
}

enum lks_job_does lks_job_acts_does(struct lks_job_book *b, const struct lks_job_due *due,
                                    const struct lks_sched_jobs *jobs, bool fresh, lks_ms wall)
{
    const struct lks_sched_job *job = lead_of(jobs, due->job);
    struct lks_job_sent *sent = find(b, due);
    if (sent == NULL && !fresh) {
        (void)note(b, due, false, wall); /* of a controller before: the next list decides */
        return LKS_JOB_WAIT;
    }
    if (sent != NULL &&
        (sent->waits ? wall < sent->at + LKS_JOB_ACTS_ASKED : jobs->listed <= sent->at))
        return LKS_JOB_WAIT;
    if (job != NULL && job->runs && job->started == 0)
        return LKS_JOB_WAIT; /* it cannot be read */
    if (!is_running(job) || !lks_job_acts_meant(due, true, job->started))
        return LKS_JOB_OVER;
    if (sent != NULL && sent->why[0] != '\0')
        return LKS_JOB_DENIED;
    if (sent == NULL && !note(b, due, true, wall))
        return LKS_JOB_WAIT;
    if (sent != NULL) {
        sent->waits = true;
        sent->at = wall;
    }
    return LKS_JOB_SEND;
}

void lks_job_acts_leaves(struct lks_job_book *b, const struct lks_job_due *due, lks_ms wall)
{
    struct lks_job_sent *sent = find(b, due);
    if (sent == NULL)
        return;
    sent->waits = true;
    sent->at = wall;
}

void lks_job_acts_ended(struct lks_job_book *b, const struct lks_job_due *due, bool unknown,
                        lks_ms wall)
{
    struct lks_job_sent *sent = find(b, due);
    if (sent == NULL)
        return;
    if (unknown) {
        sent->waits = false;
        sent->at = wall;
        return;
    }
    LKS_VEC_REMOVE(b->sent, b->count, (uint32_t)(sent - b->sent));
}

bool lks_job_acts_old(const struct lks_job_book *b, const struct lks_job_due *due, lks_ms wall)
{
    const struct lks_job_sent *sent = find(b, due);
    bool waits = sent != NULL && sent->waits && wall < sent->at + LKS_JOB_ACTS_ASKED;
    return !waits && wall >= due->asked + LKS_JOB_ACTS_OPEN;
}

void lks_job_acts_sweep(struct lks_job_book *b, const struct lks_state *s)
{
    struct lks_job_due due;
    for (uint32_t i = b->count; i-- > 0;) {
        const struct lks_job_sent *sent = &b->sent[i];
        if (!lks_job_acts_find(s, sent->change, lks_state_text(s, sent->site),
                               lks_state_text(s, sent->job), sent->act, &due))
            LKS_VEC_REMOVE(b->sent, b->count, i);
    }
}

void lks_job_acts_missing(struct lks_job_book *b, const struct lks_job_due *due, const char *why,
                          lks_ms wall)
{
    struct lks_job_sent *sent = find(b, due);
    lks_job_acts_ended(b, due, true, wall);
    if (sent == NULL)
        return;
    (void)snprintf(sent->why, sizeof(sent->why), "%s", why);
    lks_str_make_printable(sent->why); /* it may be cut within a character */
}

const char *lks_job_acts_why(const struct lks_job_book *b, const struct lks_job_due *due)
{
    const struct lks_job_sent *sent = find(b, due);
    return sent != NULL ? sent->why : "";
}

/* Jobs of a node ----------------------------------------------------------------------------- */

static bool may_touch(const struct lks_sched_job *job)
{
    return is_running(job) && !job->unplaced && job->started != 0;
}

/* A component alone is neither signalled nor requeued: the job is named as a whole, and one
 * component that ends or may not be requeued keeps all of them. False: it is not touched. */
static bool read_job(const struct lks_sched_jobs *jobs, const struct lks_sched_job *job,
                     struct lks_event_job *out)
{
    const struct lks_str whole = lks_sched_jobs_whole(job->id);
    const struct lks_sched_job *lead = lead_of(jobs, whole);
    if (lead == NULL || !may_touch(job) || !may_touch(lead))
        return false;
    *out = (struct lks_event_job){
        .id = whole, .user = job->user, .started = lead->started, .requeue = job->requeue};
    for (uint32_t i = 0; i < LKS_SCHED_JOBS_PARTS && whole.len < job->id.len; i++) {
        const struct lks_sched_job *part = lks_sched_jobs_part(jobs, whole, i);
        if (part != NULL && !may_touch(part))
            return false;
        out->requeue = out->requeue && (part == NULL || part->requeue);
    }
    return true;
}

size_t lks_job_acts_on(const struct lks_sched_jobs *jobs, struct lks_str node,
                       struct lks_event_job *out, size_t max)
{
    struct lks_sched_jobs_at at = {0};
    const struct lks_sched_job *job;
    size_t count = 0;
    while (count < max && (job = lks_sched_jobs_on(jobs, node, &at)) != NULL) {
        struct lks_event_job read;
        if (read_job(jobs, job, &read) &&
            LKS_VEC_FIND(out, count, it, lks_str_eq(it->id, read.id)) == NULL)
            out[count++] = read;
    }
    return count;
}
