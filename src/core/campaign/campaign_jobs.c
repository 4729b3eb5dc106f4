/*
 * What the scheduler of a member's node reports: that it is drained, what it waits for, that
 * another ended the drain while the change works on the node; and its jobs.
 *
 * Jobs on nodes that drain. Where the plan says so, a job that its scheduler may requeue is
 * signalled, has its grace, and is then requeued: each once by one change, on however many nodes
 * and in however many waves it runs. A scheduler without signals (Kubernetes) is asked to requeue
 * at once: a pod has a grace of its own. A job that may not be requeued is left alone, and waited
 * for as every other. A scheduler may answer "not now": the act stays open, with what it said.
 *
 * Each act is a record before the scheduler is asked for it. The run of the job that is meant has
 * a time at which it started, so a request that is repeated after a crash finds whether the job was
 * requeued already: core/actions/job_acts.h.
 */
#include "core/actions/job_acts.h"
#include "core/actions/sched_sites.h"
#include "core/actions/sched_truth.h"
#include "core/campaign/campaign_parts.h"
#include "core/registry/book.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "model/manifest/fleet.h"

/* Jobs -------------------------------------------------------------------------------------- */

/* The scheduler that lists the jobs. */
static struct lks_str sched_of(const struct lks_deciding *d, const struct lks_look *k)
{
    lks_text pool = k->n->pool < k->s->pool_count ? k->s->pools[k->n->pool].sched : 0;
    struct lks_str sched = d->event->sched_jobs.sched;
    return sched.len > 0 ? sched : lks_look_text(k, pool);
}

/* By a plan without a signal none is sent, either. */
static bool signals(const struct lks_deciding *d, const struct lks_look *k)
{
    struct lks_str sched = sched_of(d, k);
    return k->step->signal != 0 && lks_drain_sched_next(&sched, LKS_DRAIN_SIGNALS) != NULL;
}

static void record(struct lks_deciding *d, const struct lks_look *k,
                   const struct lks_event_job *job, enum lks_job_act act)
{
    lks_decision_add(d, LKS_RECORD_JOB_ACT)->job_act = (struct lks_rec_job_act){
        .change = k->c->id,
        .job = job->id,
        .site = lks_look_text(k, k->n->site),
        .sched = sched_of(d, k),
        .node = lks_look_name(k),
        .user = job->user,
        .act = act,
        .state = LKS_JOB_ASKED,
        .signal = signals(d, k) ? lks_look_text(k, k->step->signal) : LKS_STR(""),
        .started = job->started,
        .until = act == LKS_JOB_SIGNAL ? d->now.wall + k->step->grace : 0,
        .text = LKS_STR(""),
    };
}

/* Whether its grace is over. An act that the scheduler did not answer yet has to end first; one
 * that it refused was the last. */
static bool is_due(const struct lks_job_acted *had, lks_ms wall)
{
    return had->act == LKS_JOB_SIGNAL && had->state == LKS_JOB_DONE && wall >= had->until;
}

static void act(struct lks_deciding *d, const struct lks_look *k, const struct lks_event_job *job)
{
    struct lks_str site = lks_look_text(k, k->n->site);
    const struct lks_job_acted *had = lks_state_change_job(k->s, k->c, site, job->id);
    if (!job->requeue || (had != NULL && had->started != job->started))
        return; /* another run of it: this change did its part */
    if (had == NULL && k->c->job_count < LKS_CHANGE_JOBS)
        record(d, k, job, signals(d, k) ? LKS_JOB_SIGNAL : LKS_JOB_REQUEUE);
    else if (had != NULL && is_due(had, d->now.wall))
        record(d, k, job, LKS_JOB_REQUEUE);
}

/* It drains by this change, has jobs, and its plan says that they are requeued. A change that is
 * paused or halted waits for jobs and touches none: a person may be about to end it. */
static bool requeues(const struct lks_look *k)
{
    char owner[LKS_CHANGE_OWNER_SIZE];
    return k->c->state == LKS_CHANGE_RUNNING && k->step != NULL && k->step->kind == LKS_DO_LEAVE &&
           k->m->state == LKS_MEMBER_ASKED && k->step->jobs == LKS_DRAIN_JOBS_REQUEUE &&
           lks_str_eq(lks_look_text(k, k->n->drained_by), lks_state_change_owner(k->c->id, owner));
}

bool lks_campaign_jobs_wanted(const struct lks_state *s, uint32_t node)
{
    const struct lks_state_change *c = lks_state_changing(s, node);
    const struct lks_member *m = c != NULL ? lks_state_change_member(c, node) : NULL;
    if (m == NULL)
        return false;
    struct lks_look k = lks_campaign_look_at(s, c, m);
    return requeues(&k);
}

/* The scheduler answered "not now", with a reason. */
static bool is_deferred(const struct lks_job_acted *job)
{
    return job->state == LKS_JOB_ASKED && job->text != 0;
}

const char *lks_campaign_jobs_closed(const struct lks_state *s, const struct lks_job_due *due)
{
    const struct lks_state_change *c = lks_state_change(s, due->change);
    const struct lks_job_acted *had =
        c != NULL ? lks_state_change_job(s, c, due->site, due->job) : NULL;
    bool deferred = had != NULL && is_deferred(had);
    uint32_t node = lks_state_node(s, due->node);
    if (c == NULL || lks_change_over(c))
        return deferred ? "its change ended before the scheduler allowed it"
                        : "its change ended before the scheduler answered: whether it was done is "
                          "not known";
    if (c->state != LKS_CHANGE_RUNNING)
        return NULL;
    if (node != LKS_NO_NODE && s->nodes[node].change == due->change &&
        lks_campaign_jobs_wanted(s, node))
        return NULL;
    return deferred ? "its node stopped draining before the scheduler allowed it"
                    : "its node stopped draining before the scheduler answered: whether it was "
                      "done is not known";
}

/* Sites that list no jobs -------------------------------------------------------------------- */

static bool is_wanted_at(const struct lks_state *s, const struct lks_sched_site *site)
{
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (n->drained_by != 0 && n->pool < s->pool_count &&
            lks_str_eq(lks_state_text(s, n->site), site->site) &&
            lks_drain_sched_has(lks_state_text(s, s->pools[n->pool].sched), site->sched) &&
            lks_campaign_jobs_wanted(s, i))
            return true;
    }
    return false;
}

static struct lks_str unlisted_text(struct lks_arena *arena, const struct lks_sched_site *site)
{
    char since[LKS_TIME_TEXT_SIZE];
    return lks_arena_format(
        arena,
        "the jobs of %" LKS_STR_FMT " at site '%" LKS_STR_FMT
        "' have not been listed since %s: %s; jobs on draining nodes are neither "
        "signalled nor requeued until a list comes; 'lockstep scheduler ls' "
        "has the cause",
        LKS_STR_ARG(site->sched), LKS_STR_ARG(site->site),
        lks_time_text(site->failing_since, since), site->trouble);
}

/* Of a site that no node is at any more. */
static bool find_orphan(const struct lks_sched_sites *b, const struct lks_state *s,
                        struct lks_event_sched_alarm *out)
{
    uint32_t at = 0;
    struct lks_str subject;
    while (b->scan > 0 && lks_sched_alarm_next(s, LKS_ALARM_BRIDGE, &at, &subject)) {
        if (lks_sched_truth_alarm_site(subject).len == 0 || lks_sched_truth_alarm_known(b, subject))
            continue;
        *out = (struct lks_event_sched_alarm){.kind = LKS_ALARM_BRIDGE,
                                              .over = true,
                                              .subject = subject,
                                              .text = LKS_STR("lockstep has no node there")};
        return true;
    }
    return false;
}

bool lks_campaign_jobs_alarm(const struct lks_sched_sites *b, const struct lks_state *s,
                             struct lks_now now, uint64_t speed, struct lks_arena *arena,
                             struct lks_event_sched_alarm *out)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const struct lks_sched_site *site = b->items[i];
        bool late = site->failures > 0 &&
                    now.wall >= site->failing_since + LKS_CAMPAIGN_JOBS_UNLISTED / speed;
        if (!late && s->alarms_open == 0)
            continue;
        struct lks_str subject = lks_sched_truth_alarm_subject(arena, site);
        bool open = lks_sched_alarm_open(s, LKS_ALARM_BRIDGE, subject);
        bool wanted = (late || open) && is_wanted_at(s, site);
        /* An alarm of before a start is kept until there is a list. */
        bool over = !wanted || (site->failures == 0 && site->jobs.listed > 0);
        bool raised = late && wanted;
        if (open == raised || (open && !over))
            continue;
        *out = (struct lks_event_sched_alarm){
            .kind = LKS_ALARM_BRIDGE,
            .over = over,
            .subject = subject,
            .text = over ? LKS_STR("its jobs are listed, or no drain there waits for the list")
                         : unlisted_text(arena, site)};
        return !arena->out_of_memory;
    }
    return find_orphan(b, s, out);
}

void lks_campaign_jobs(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    const struct lks_state *s = d->state;
    const struct lks_state_change *c =
        e->node < s->node_count ? lks_state_changing(s, e->node) : NULL;
    const struct lks_member *m = c != NULL ? lks_state_change_member(c, e->node) : NULL;
    if (m == NULL)
        return;
    struct lks_look k = lks_campaign_look_at(s, c, m);
    if (!requeues(&k))
        return;
    for (size_t i = 0; i < e->sched_jobs.count; i++)
        act(d, &k, &e->sched_jobs.list[i]);
}

/* The answer to an act that is still asked for: answers are repeated, and may come late. */
void lks_campaign_jobs_acted(struct lks_deciding *d)
{
    const struct lks_event_job_acted *e = &d->event->acted;
    const struct lks_state_change *c = lks_state_change(d->state, e->change);
    const struct lks_job_acted *had =
        c != NULL ? lks_state_change_job(d->state, c, e->site, e->job) : NULL;
    if (had == NULL || had->act != e->act || had->state != LKS_JOB_ASKED ||
        (e->later && lks_str_eq(e->text, lks_state_text(d->state, had->text))))
        return;
    bool graces = e->act == LKS_JOB_SIGNAL && !e->refused;
    lks_decision_add(d, LKS_RECORD_JOB_ACT)->job_act = (struct lks_rec_job_act){
        .change = c->id,
        .job = e->job,
        .site = e->site,
        .sched = lks_state_text(d->state, had->sched),
        .node = lks_state_text(d->state, had->node),
        .user = lks_state_text(d->state, had->user),
        .act = e->act,
        .state = e->later     ? LKS_JOB_ASKED
                 : e->refused ? LKS_JOB_REFUSED
                              : LKS_JOB_DONE,
        .signal = lks_state_text(d->state, had->signal),
        .started = had->started,
        .until = e->later ? had->until
                 : graces ? d->now.wall + (had->until - had->at)
                          : 0, /* from its answer on */
        .text = e->text,
    };
}

/* What is noted of a lost drain -------------------------------------------------------------- */

static bool is_noted(const struct lks_look *k, enum lks_note note)
{
    return (k->n->notes >> note & 1) != 0;
}

static void note(struct lks_deciding *d, const struct lks_look *k, enum lks_note note, bool on,
                 struct lks_str text)
{
    if (is_noted(k, note) != on)
        lks_decision_add(d, LKS_RECORD_NOTED)->noted =
            (struct lks_rec_noted){.node = lks_look_name(k), .note = note, .on = on, .text = text};
}

void lks_campaign_sched_over(struct lks_deciding *d, const struct lks_look *k, struct lks_str text)
{
    note(d, k, LKS_NOTE_UNDRAINED, false, text);
    note(d, k, LKS_NOTE_RESUMED, false, text);
    note(d, k, LKS_NOTE_UNHEARD, false, text);
}

/* The drain was lost -------------------------------------------------------------------------- */

/* Jobs may have started there since: before anything else is done to it, it is drained and read
 * once more. A member that waits to return needs no more of it. One that the change holds keeps its
 * note until it is drained again: assets of its domain wait for that. */
bool lks_campaign_sched_undrained(const struct lks_look *k)
{
    return is_noted(k, LKS_NOTE_UNDRAINED) && k->n->asset == 0 && k->step != NULL &&
           k->step->kind != LKS_DO_LEAVE && k->step->kind != LKS_DO_RETURN &&
           lks_campaign_look_out(k);
}

static bool holds(const struct lks_deciding *d, const struct lks_look *k)
{
    const struct lks_fleet *fleet = lks_book_fleet(d->book);
    if (fleet == NULL || k->n->pool >= k->s->pool_count)
        return false;
    const struct lks_pool *pool =
        lks_fleet_find_pool(fleet, lks_look_text(k, k->s->pools[k->n->pool].name));
    return pool != NULL && pool->resume_holds;
}

static void hold(struct lks_deciding *d, const struct lks_look *k, const char *why)
{
    note(d, k, LKS_NOTE_RESUMED, false, LKS_STR("the change holds it"));
    lks_campaign_member_give_up(
        d, k, k->m->back ? LKS_FAILURE_REVERT : LKS_FAILURE_BUSY,
        lks_decision_text(d, "its drain was ended in the scheduler by another, %s", why));
}

/* From its drain on, as one that a person has tried again: each step finds out what is left to do.
 * As often as it is lost: a scheduler that was killed may lose it more than once. Not in the
 * rollback, whose steps are not repeated: a bank that was switched would be switched again. */
void lks_campaign_sched_again(struct lks_deciding *d, const struct lks_look *k)
{
    struct lks_rec_member r = lks_campaign_member_record(k);
    if (holds(d, k) || k->m->back) {
        hold(d, k,
             k->m->back ? "in the middle of its rollback" : "and the pool's on_resume is hold");
        return;
    }
    struct lks_look leaves = *k; /* there it is out of service: its way has such a step */
    r.state = LKS_MEMBER_ASKED;
    r.step = lks_campaign_path_find(k->r, LKS_DO_LEAVE);
    r.reached = lks_campaign_look_reached(k);
    leaves.step = &k->r->steps[r.step];
    r.until = d->now.wall + lks_campaign_leave_limit(d, &leaves);
    r.attempt = 1;
    r.work = 0;
    r.failure = LKS_FAILURE_BUSY;
    bool unheard = is_noted(k, LKS_NOTE_UNHEARD);
    r.text = unheard
                 ? LKS_STR("its scheduler gives no answer for 5 minutes: it is drained again")
                 : LKS_STR("its drain was ended in the scheduler by another: it is drained again");
    lks_campaign_member_list(d, k, r);
    note(d, k, LKS_NOTE_UNDRAINED, false, r.text);
    if (!unheard)
        note(d, k, LKS_NOTE_RESUMED, true, r.text);
}

/* Answers ------------------------------------------------------------------------------------- */

/* Why a job of the node is not requeued now; empty: nothing stands in the way. */
static struct lks_str deferred_text(const struct lks_look *k)
{
    for (uint32_t i = k->c->job_count; requeues(k) && i-- > 0;) {
        const struct lks_job_acted *job = &k->c->jobs[i];
        if (is_deferred(job) && lks_str_eq(lks_look_text(k, job->node), lks_look_name(k)))
            return lks_look_text(k, job->text);
    }
    return LKS_STR("");
}

/* What it waits for, as its scheduler has it now: people see it, and an end by its limit names it.
 */
static void note_wait(struct lks_deciding *d, const struct lks_look *k, struct lks_str text)
{
    struct lks_str deferred = deferred_text(k);
    if (text.len > 0 && deferred.len > 0)
        text = lks_decision_text(d, "%" LKS_STR_FMT "; %" LKS_STR_FMT, LKS_STR_ARG(text),
                                 LKS_STR_ARG(deferred));
    if (text.len == 0 || lks_str_eq(text, lks_look_text(k, k->m->text)))
        return;
    struct lks_rec_member r = lks_campaign_member_record(k);
    r.text = text;
    lks_campaign_member_list(d, k, r);
}

/* By the drain that is recorded. */
static bool is_drained(const struct lks_state *s, const struct lks_node *n,
                       const struct lks_event_sched *e)
{
    return e->drained && n->drained_by != 0 &&
           lks_str_eq(e->owner, lks_state_text(s, n->drained_by));
}

/* While it drains: it takes no new work and nothing runs there, by the drain that is recorded, ours
 * or one that was there before; or this is not so any more. */
static void leave(struct lks_deciding *d, const struct lks_look *k, bool lost)
{
    const struct lks_event_sched *e = &d->event->sched;
    bool asked = k->m->state == LKS_MEMBER_ASKED;
    bool drained = is_drained(k->s, k->n, e);
    if (lost && k->n->pending == 0 && holds(d, k)) {
        hold(d, k, "and the pool's on_resume is hold");
        return;
    }
    if (asked && !drained)
        note_wait(d, k, e->text);
    if (drained != asked || e->unknown)
        return;
    struct lks_rec_member r = lks_campaign_member_record(k);
    r.state = drained ? LKS_MEMBER_READING : LKS_MEMBER_ASKED;
    r.attempt = 1;
    r.work = 0; /* an answer that is still to come was found before this */
    r.text = drained ? LKS_STR("its scheduler says that nothing runs there")
                     : LKS_STR("its scheduler says that it is not drained any more");
    lks_campaign_member_list(d, k, r);
    if (drained) /* by this answer, whatever was lost before */
        note(d, k, LKS_NOTE_UNDRAINED, false, r.text);
}

/* It was reported as drained, and is out of service since. */
static bool is_verified(const struct lks_look *k)
{
    bool leaves = k->step != NULL && k->step->kind == LKS_DO_LEAVE;
    return leaves ? k->m->state == LKS_MEMBER_READING : lks_campaign_look_out(k);
}

/* A change holds it, after it was found drained: assets of its domain rely on that drain. */
static bool is_held_drained(const struct lks_state *s, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    const struct lks_state_change *c = n->change != 0 ? lks_state_change(s, n->change) : NULL;
    const struct lks_member *m = c != NULL ? lks_state_change_member(c, node) : NULL;
    if (m == NULL || !lks_member_over(m) || n->changing == 0 || n->drained_by == 0)
        return false;
    struct lks_look k = lks_campaign_look_at(s, c, m);
    uint32_t leave = lks_campaign_path_find(k.r, LKS_DO_LEAVE);
    return leave < k.r->count && m->step > leave;
}

/* A node that a change holds, or that none has. Its drain may be lost while it is held, too, and
 * Slurm may reboot it under the drain. */
static void hear_held(struct lks_deciding *d)
{
    const struct lks_event_sched *e = &d->event->sched;
    const struct lks_node *n = &d->state->nodes[d->event->node];
    bool noted = (n->notes >> LKS_NOTE_UNDRAINED & 1) != 0;
    bool relied = !noted && is_held_drained(d->state, d->event->node);
    bool lost = lks_decide_sched_heard(d, relied) && n->changing != 0;
    bool over = n->drained_by == 0 || is_drained(d->state, n, e);
    if (e->unknown || (noted ? !over : !lost))
        return;
    lks_decision_add(d, LKS_RECORD_NOTED)->noted =
        (struct lks_rec_noted){.node = lks_state_name(d->state, d->event->node),
                               .note = LKS_NOTE_UNDRAINED,
                               .on = !noted,
                               .text = e->text};
}

/* No answer ----------------------------------------------------------------------------------- */

/* A job may run there by now. A member that waits to return starts nothing any more. */
bool lks_campaign_sched_unheard(const struct lks_look *k)
{
    return is_noted(k, LKS_NOTE_UNHEARD) && k->n->asset == 0 && k->step != NULL &&
           k->step->kind != LKS_DO_RETURN && lks_campaign_look_sched(k) == LKS_DRAIN_DRIVEN &&
           is_verified(k);
}

/* From its drain on: no answer for so long is as good as a drain that was ended. */
static void leave_again(struct lks_deciding *d, const struct lks_look *k)
{
    struct lks_rec_member r = lks_campaign_member_record(k);
    r.state = LKS_MEMBER_ASKED;
    r.attempt = 1;
    r.work = 0; /* an answer of its agent that is still to come was found before this */
    r.text = LKS_STR("its scheduler gives no answer for 5 minutes: it is drained again");
    lks_campaign_member_list(d, k, r);
}

/* A silence that lasts as long as its step may take: the member is held as if the drain was ended.
 * A step that is in progress goes to its end first. */
static void give_up(struct lks_deciding *d, const struct lks_look *k)
{
    char since[LKS_TIME_TEXT_SIZE];
    const struct lks_event_sched *e = &d->event->sched;
    if (d->now.wall >= e->since + lks_campaign_step_limit(k) &&
        lks_campaign_member_barred(k, d->now.wall))
        lks_campaign_member_give_up(
            d, k, k->m->back ? LKS_FAILURE_REVERT : LKS_FAILURE_BUSY,
            lks_decision_text(d, "its scheduler gives no answer since %s: %" LKS_STR_FMT,
                              lks_time_text(e->since, since), LKS_STR_ARG(e->text)));
}

/* Its last answer is too old to start anything on the node: the next one decides. After 5 minutes
 * it is drained and read once more as well. Where a drain that was ended would have the member held
 * it waits for its step's limit instead: the drain may be there still. */
static void silence(struct lks_deciding *d, const struct lks_look *k)
{
    const struct lks_event_sched *e = &d->event->sched;
    if (k->step == NULL || lks_member_over(k->m) || !is_verified(k))
        return;
    note(d, k, LKS_NOTE_UNHEARD, true, e->text);
    if (d->now.wall < e->since + LKS_DECIDE_SCHED_SILENT)
        return;
    if (k->m->back || holds(d, k))
        give_up(d, k);
    else if (k->step->kind == LKS_DO_LEAVE)
        leave_again(d, k);
    else
        note(d, k, LKS_NOTE_UNDRAINED, true, e->text);
}

/* The same of a node that a change holds. */
static void silence_held(struct lks_deciding *d)
{
    uint32_t node = d->event->node;
    bool noted = (d->state->nodes[node].notes >> LKS_NOTE_UNHEARD & 1) != 0;
    if (!noted && is_held_drained(d->state, node))
        lks_decision_add(d, LKS_RECORD_NOTED)->noted =
            (struct lks_rec_noted){.node = lks_state_name(d->state, node),
                                   .note = LKS_NOTE_UNHEARD,
                                   .on = true,
                                   .text = d->event->sched.text};
}

static void heard_again(struct lks_deciding *d, uint32_t node)
{
    if ((d->state->nodes[node].notes >> LKS_NOTE_UNHEARD & 1) != 0)
        lks_decision_add(d, LKS_RECORD_NOTED)->noted =
            (struct lks_rec_noted){.node = lks_state_name(d->state, node),
                                   .note = LKS_NOTE_UNHEARD,
                                   .text = LKS_STR("the scheduler answers again")};
}

void lks_campaign_sched(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    const struct lks_state *s = d->state;
    if (e->node >= s->node_count)
        return;
    const struct lks_state_change *c = lks_state_changing(s, e->node);
    const struct lks_member *m = c != NULL ? lks_state_change_member(c, e->node) : NULL;
    if (!e->sched.unknown && !e->sched.partial)
        heard_again(d, e->node);
    if (e->sched.old) /* people do nothing by hand on what was reported so long ago, either */
        lks_decide_sched_emptied(d, e->node, false, e->sched.text);
    if (m == NULL) {
        if (e->sched.old)
            silence_held(d);
        else
            hear_held(d);
        return;
    }
    struct lks_look k = lks_campaign_look_at(s, c, m);
    if (e->sched.old) {
        silence(d, &k);
        return;
    }
    bool lost = lks_decide_sched_heard(d, is_verified(&k));
    if (k.step == NULL || lks_member_over(m))
        return;
    if (k.step->kind != LKS_DO_LEAVE) {
        if (lost && lks_campaign_look_out(&k))
            note(d, &k, LKS_NOTE_UNDRAINED, true, e->sched.text);
    } else if (m->state != LKS_MEMBER_WAITING) {
        leave(d, &k, lost);
    }
}
