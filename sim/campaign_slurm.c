/*
 * What goes wrong in a real Slurm, as the tests with one showed it:
 *
 *     failover    the primary slurmctld dies, and its backup answers after a while with what was
 *                 saved up to 5 s before: drains, releases, starts and ends of jobs since then are
 *                 forgotten. Each of the two bridges shows what it read before for a while.
 *     upgrade     slurmctld speaks another version: answers that a bridge cannot read, answers
 *                 without fields, or each write is refused with a cause
 *     drains      of Slurm itself: "Prolog error", and "Kill task failed" of a job that is
 *                 completing for long
 *     outages     nodes that are down, or in a reservation for maintenance
 *
 * Chance of its own decides all of that, so that what other seeds draw stays as it was. The salt is
 * one by which no seed that sim_campaign.c remembered before is among them.
 */
#include "core/actions/sched_book.h"
#include "core/rows/alarm.h"
#include "core/rows/node.h"
#include "core/state/lookup.h"
#include "sim/campaign.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef SLURM_DRAW
#define SLURM_DRAW 35 /* percent of seeds */
#endif
#define SALT         UINT64_C(0x736c75726d63748b)
#define UNSAVED_MAX  (5 * LKS_SECOND)  /* what a primary that dies has not saved */
#define TAKEOVER_MAX (60 * LKS_SECOND) /* until the backup answers */
#define BRIDGE_OLD   (30 * LKS_SECOND) /* how long a bridge shows its last reading */
#define UNKILLABLE   (3 * CAM_MINUTE)  /* then Slurm drains the node of a job that does not end */
#define JOBS_MORE    40                /* an hour */
#define ENDLESS_MORE 30                /* percent */
#define HEARD_BY     (12 * CAM_MINUTE) /* an upgrade is on people's screens by then */
#define REFUSED_BY   (4 * CAM_MINUTE)  /* and a refusal, which does not pass by itself */

static const char *const causes[CAM_DIALECTS] = {
    NULL,
    "not a reading of the node, as simulated",
    "a reading without its jobs, as simulated",
    "refused: slurmctld has another version, as simulated",
};

struct cam_slurm_node *cam_slurm_node(const struct cam *w, const struct cam_machine *m)
{
    return w->slurm.on ? &w->slurm.nodes[m - w->machines] : NULL;
}

static bool draw(struct cam *w, unsigned percent)
{
    return lks_rng_percent(&w->slurm.rng, percent);
}

static lks_ms within(struct cam *w, lks_ms low, lks_ms high)
{
    return low + lks_rng_below(&w->slurm.rng, high - low + 1);
}

static void later(struct cam *w, enum cam_slurm_event event, uint32_t i, uint32_t value, lks_ms in)
{
    cam_post(w,
             (struct lks_message){
                 .kind = CAM_SLURM, .number = (uint64_t)event, .node = i, .value = value},
             in);
}

void cam_slurm_draw(struct cam *w)
{
    struct cam_slurm *s = &w->slurm;
    s->rng = (struct lks_rng){.state = w->seed ^ SALT};
    bool some = false;
    for (unsigned p = CAM_POOLS - w->pools; p < CAM_POOLS; p++)
        some = some || w->scheduled[p];
    s->on = some && draw(w, SLURM_DRAW) && !w->kind && w->nodes < CAM_FLEET_LARGE;
    if (!s->on)
        return;
    s->nodes = calloc(w->count, sizeof(s->nodes[0]));
    LKS_ASSERT(s->nodes != NULL);
    for (unsigned p = 0; p < CAM_POOLS; p++)
        w->requeues[p] = w->scheduled[p] && draw(w, 70);
    w->weather.jobs += (unsigned)lks_rng_below(&s->rng, JOBS_MORE);
    w->weather.endless += (unsigned)lks_rng_below(&s->rng, ENDLESS_MORE);
}

void cam_slurm_fini(struct cam *w)
{
    free(w->slurm.nodes);
    w->slurm.nodes = NULL;
    w->slurm.on = false;
}

void cam_slurm_plan(struct cam *w, lks_ms storm)
{
    if (!w->slurm.on)
        return;
    for (uint64_t n = lks_rng_below(&w->slurm.rng, 16); n > 0; n--)
        later(w, CAM_SLURM_DIES, 0, 0, within(w, 1, storm));
    for (uint64_t n = lks_rng_below(&w->slurm.rng, 3); n > 0; n--)
        later(w, CAM_SLURM_UPGRADES, 0, 0, within(w, 1, storm));
    for (uint32_t i = 0; i < w->nodes; i++) {
        if (!w->scheduled[w->machines[i].pool])
            continue;
        if (draw(w, 30))
            later(w, CAM_SLURM_DRAINS, i, 0, within(w, 1, storm));
        if (draw(w, 40))
            later(w, CAM_SLURM_OUTAGE, i, 1, within(w, 1, storm / 3));
    }
}

/* What it shows ----------------------------------------------------------------------------- */

void cam_slurm_show(const struct cam *w, const struct cam_machine *m, struct cam_shown *out)
{
    const struct cam_slurm_node *n = cam_slurm_node(w, m);
    bool runs = m->job != 0 && !w->jobs[m->job - 1].unlisted;
    *out = (struct cam_shown){.missing = m->sched_missing,
                              .jobs = runs || (n != NULL && n->ghost.there),
                              .outage = n != NULL ? n->outage : CAM_NO_OUTAGE};
    memcpy(out->owner, m->sched_owner, sizeof(out->owner));
}

bool cam_slurm_dead(const struct cam *w)
{
    return w->slurm.dead != 0;
}

const char *cam_slurm_trouble(const struct cam *w, const struct cam_machine *m, bool writes,
                              bool *old, bool *refused)
{
    const struct cam_slurm *s = &w->slurm;
    const struct cam_slurm_node *n = cam_slurm_node(w, m);
    if (n == NULL)
        return NULL;
    if (w->now < s->until && (s->dialect != CAM_REFUSES || writes)) {
        *refused = s->dialect == CAM_REFUSES;
        return causes[s->dialect];
    }
    lks_ms until = s->dead != 0 ? s->dead + BRIDGE_OLD : s->old[n->turn % CAM_BRIDGES];
    *old = !writes && w->now < until;
    return s->dead != 0 && !*old ? "no slurmctld answers, as simulated" : NULL;
}

/* Failovers --------------------------------------------------------------------------------- */

static void die(struct cam *w)
{
    struct cam_slurm *s = &w->slurm;
    if (s->dead != 0 || s->nodes == NULL)
        return;
    s->dead = w->now;
    s->failovers++;
    for (uint32_t i = 0; i < w->nodes; i++)
        cam_slurm_show(w, &w->machines[i], &s->nodes[i].old);
    lks_ms takes = within(w, 2 * LKS_SECOND, TAKEOVER_MAX);
    cam_say(w, "the primary slurmctld dies");
    later(w, CAM_SLURM_ANSWERS, 0, 0, takes);
}

/* Something happened that is not saved yet: now and then the primary dies of all moments then. */
void cam_slurm_stirs(struct cam *w)
{
    if (w->slurm.on && !w->calm && draw(w, 5))
        later(w, CAM_SLURM_DIES, 0, 0, within(w, 1, UNSAVED_MAX));
}

/* Its owner as it was saved. */
static void restore_owner(struct cam *w, uint32_t i, lks_ms saved)
{
    struct cam_machine *m = &w->machines[i];
    struct cam_slurm_node *n = &w->slurm.nodes[i];
    const char *owner = m->sched_owner;
    for (unsigned k = 0; k < CAM_OWNED; k++) { /* the newest first */
        const struct cam_owned *before = &n->owned[(n->owned_next - 1 - k) % CAM_OWNED];
        if (before->at <= saved || n->owned_next < k + 1)
            break;
        owner = before->owner;
    }
    if (strcmp(owner, m->sched_owner) == 0)
        return;
    cam_say(w, "%s: its scheduler forgets '%s', and has it drained by '%s'", m->name,
            m->sched_owner, owner);
    w->slurm.forgotten++;
    m->sched_unheard = m->sched_unheard || cam_sched_is_ours(m);
    char kept[LKS_SCHED_OWNER_MAX + 1];
    (void)snprintf(kept, sizeof(kept), "%s", owner);
    (void)snprintf(m->sched_owner, sizeof(m->sched_owner), "%s", kept);
}

/* A job started since then is unknown to the backup: it kills what a node reports of it. */
static void forget_start(struct cam *w, uint32_t j, lks_ms saved)
{
    struct cam_job *job = &w->jobs[j];
    if (!job->there || !job->begun || job->started <= saved ||
        !w->scheduled[w->machines[job->nodes[0]].pool])
        return;
    job->unlisted = true;
    w->slurm.forgotten++;
    cam_say(w, "job %" PRIu64 " is forgotten by its scheduler", job->id);
    later(w, CAM_SLURM_KILLS, (uint32_t)job->serial, j, within(w, LKS_SECOND, CAM_MINUTE));
}

/* Where the node was drained and empty, lockstepd is yet to be told that it is not any more. */
static void list_ghost(struct cam *w, const struct cam_job *job, unsigned k)
{
    struct cam_machine *m = &w->machines[job->nodes[k]];
    struct cam_ghost *g = &cam_slurm_node(w, m)->ghost;
    bool here = (job->requeued_at >> m->site & 1) != 0;
    *g = (struct cam_ghost){.there = true,
                            .requeue = job->requeue,
                            .started = job->started,
                            .by = here ? job->requeued_by : 0,
                            .unanswered = job->unanswered,
                            .life = job->act_life};
    (void)cam_requeue_part(job, k, g->id);
    m->sched_unheard = m->sched_unheard || cam_sched_is_ours(m);
    w->slurm.forgotten++;
    cam_say(w, "%s: its scheduler forgets the end of %s", m->name, g->id);
    later(w, CAM_SLURM_MISSES, job->nodes[k], 0, within(w, LKS_SECOND, 3 * CAM_MINUTE));
}

/* A job that ended since then is listed until its nodes say that they do not have it. */
static void forget_end(struct cam *w, const struct cam_ended *e, lks_ms saved)
{
    bool there = e->at > saved && e->job.started <= saved;
    for (unsigned k = 0; k < e->job.count; k++) {
        const struct cam_machine *m = &w->machines[e->job.nodes[k]];
        there = there && m->job == 0 && !cam_slurm_node(w, m)->ghost.there &&
                cam_slurm_node(w, m)->outage != CAM_DOWN;
    }
    for (unsigned k = 0; k < e->job.count && there; k++)
        list_ghost(w, &e->job, k);
}

static void take_over(struct cam *w)
{
    struct cam_slurm *s = &w->slurm;
    if (s->dead == 0)
        return;
    lks_ms saved = s->dead - within(w, 0, s->dead < UNSAVED_MAX ? s->dead : UNSAVED_MAX);
    for (uint32_t i = 0; i < w->nodes; i++)
        if (w->scheduled[w->machines[i].pool])
            restore_owner(w, i, saved);
    for (uint32_t j = 0; j < CAM_JOBS_MAX; j++)
        forget_start(w, j, saved);
    for (unsigned k = 0; k < CAM_ENDED; k++)
        forget_end(w, &s->ended[k], saved);
    for (unsigned b = 0; b < CAM_BRIDGES; b++) {
        lks_ms until = w->now + within(w, 0, BRIDGE_OLD);
        s->old[b] = until < s->dead + BRIDGE_OLD ? until : s->dead + BRIDGE_OLD;
    }
    s->dead = 0;
    s->answered = w->now;
    cam_say(w, "the backup slurmctld answers");
}

static void kill_forgotten(struct cam *w, uint32_t serial, uint32_t j)
{
    if ((uint32_t)w->jobs[j].serial == serial && w->jobs[j].there && w->jobs[j].unlisted)
        cam_job_over(w, j);
}

void cam_slurm_ended(struct cam *w, const struct cam_job *job)
{
    struct cam_slurm *s = &w->slurm;
    if (s->on && w->scheduled[w->machines[job->nodes[0]].pool] && !job->unlisted)
        s->ended[s->ended_next++ % CAM_ENDED] = (struct cam_ended){*job, w->now};
}

static bool is_of(const char *listed, struct lks_str id)
{
    return lks_str_eq(lks_sched_jobs_whole(lks_str_from(listed)), id);
}

/* A run that is listed and ended before is requeued: nothing else ends. A change that had its
 * answer asks no second time. */
void cam_slurm_requeued(struct cam *w, struct lks_str id, uint64_t change)
{
    for (uint32_t i = 0; i < w->nodes && w->slurm.on; i++) {
        struct cam_ghost *g = &w->slurm.nodes[i].ghost;
        if (!g->there || !is_of(g->id, id))
            continue;
        cam_require(w, g->by != change || g->unanswered || g->life != w->life, "jobs",
                    "job %s is requeued a second time by change %" PRIu64
                    ", after its scheduler forgot the first",
                    g->id, change);
        g->there = false;
    }
}

/* The answer to a requeue is lost: it may be asked for once more. */
void cam_slurm_unanswered(struct cam *w, struct lks_str id)
{
    char name[CAM_JOB_ID_SIZE];
    for (unsigned k = 0; k < CAM_ENDED; k++)
        if (w->slurm.ended[k].at != 0 &&
            lks_str_eq(cam_requeue_id(&w->slurm.ended[k].job, name), id))
            w->slurm.ended[k].job.unanswered = true;
    for (uint32_t i = 0; i < w->nodes && w->slurm.on; i++)
        if (is_of(w->slurm.nodes[i].ghost.id, id))
            w->slurm.nodes[i].ghost.unanswered = true;
}

/* Upgrades ---------------------------------------------------------------------------------- */

static void upgrade(struct cam *w)
{
    struct cam_slurm *s = &w->slurm;
    if (w->now < s->until)
        return;
    s->dialect = (enum cam_dialect)(1 + lks_rng_below(&s->rng, CAM_DIALECTS - 1));
    s->from = w->now;
    s->until = w->now + within(w, CAM_MINUTE, 50 * CAM_MINUTE);
    s->upgrades++;
    cam_say(w, "slurmctld is upgraded: %s", causes[s->dialect]);
}

/* Drains of its own ------------------------------------------------------------------------- */

/* A node that is drained already keeps its owner. */
static void drain_itself(struct cam *w, uint32_t i, const char *why)
{
    struct cam_machine *m = &w->machines[i];
    if (!w->scheduled[m->pool] || m->sched_owner[0] != '\0' || cam_slurm_dead(w) || w->calm)
        return;
    cam_say(w, "%s: drained by Slurm itself: %s", m->name, why);
    w->slurm.drains++;
    cam_sched_other(w, i, true);
    later(w, CAM_SLURM_REPAIRED, i, 0, within(w, 5 * CAM_MINUTE, 60 * CAM_MINUTE));
}

bool cam_slurm_starts(struct cam *w, struct cam_job *job)
{
    bool scheduled = w->slurm.on && w->scheduled[w->machines[job->nodes[0]].pool];
    for (unsigned k = 0; k < job->count && scheduled; k++) {
        const struct cam_slurm_node *n = &w->slurm.nodes[job->nodes[k]];
        if (cam_slurm_dead(w) || n->ghost.there || n->outage != CAM_NO_OUTAGE)
            return false;
    }
    if (scheduled)
        cam_slurm_stirs(w);
    if (!scheduled || w->calm || !draw(w, 4))
        return true;
    drain_itself(w, job->nodes[0], "Prolog error");
    return false;
}

bool cam_slurm_lingers(struct cam *w, struct cam_job *job)
{
    if (!w->slurm.on || w->calm || !job->there || !job->begun || job->completing || job->unlisted ||
        !w->scheduled[w->machines[job->nodes[0]].pool] || !draw(w, 15))
        return false;
    job->completing = true;
    cam_say(w, "job %" PRIu64 " is completing", job->id);
    later(w, CAM_SLURM_DRAINS, job->nodes[0], 1, UNKILLABLE);
    cam_post(w,
             (struct lks_message){
                 .kind = CAM_JOB_ENDS, .number = job->serial, .value = (uint32_t)(job - w->jobs)},
             within(w, CAM_MINUTE, 60 * CAM_MINUTE));
    return true;
}

/* A job that is completing still, and not another one by now. */
static void kill_task_failed(struct cam *w, uint32_t i)
{
    uint32_t job = w->machines[i].job;
    if (job != 0 && w->jobs[job - 1].completing)
        drain_itself(w, i, "Kill task failed");
}

/* Outages ----------------------------------------------------------------------------------- */

static void turn_outage(struct cam *w, uint32_t i, bool on)
{
    struct cam_machine *m = &w->machines[i];
    struct cam_slurm_node *n = &w->slurm.nodes[i];
    if (!on || w->calm) {
        n->outage = CAM_NO_OUTAGE;
        return;
    }
    n->outage = draw(w, 50) ? CAM_DOWN : CAM_MAINTENANCE;
    w->slurm.outages++;
    cam_say(w, "%s: %s in its scheduler", m->name,
            n->outage == CAM_DOWN ? "down" : "in maintenance");
    if (n->outage == CAM_DOWN) {
        n->ghost.there = false;
        cam_job_killed(w, i);
    }
    later(w, CAM_SLURM_OUTAGE, i, 0, within(w, 40 * CAM_MINUTE, 150 * CAM_MINUTE));
}

/* Whether it could start: nothing about it, by what is durable and by the truth, keeps it. */
static bool could_start(const struct cam *w, const struct cam_change *c, uint32_t k)
{
    const struct cam_machine *m = &w->machines[k];
    uint32_t place = lks_state_node(&w->model.state, lks_str_from(m->name));
    if (place == LKS_NO_NODE || c->members[k].state != LKS_MEMBER_PENDING || m->domain != 0 ||
        !m->placed || m->drained || m->changing || m->held || !m->up || !m->agent_up)
        return false;
    const struct lks_node *n = &w->model.state.nodes[place];
    return n->liveness == LKS_LIVE && n->liveness_since + CAM_MINUTE < cam_now(w).wall &&
           (n->change == 0 || n->change == c->id) && c->members[k].from < CAM_STACKS &&
           cam_is_stack(w, m, c->members[k].from) && m->read == m->truth;
}

/* Nodes of which lockstepd was told that no job starts there come first in their wave. */
void cam_slurm_first(struct cam *w, const struct cam_change *c, uint32_t i)
{
    const struct cam_machine *m = &w->machines[i];
    const struct cam_member *member = &c->members[i];
    if (!w->slurm.on || m->type != CAM_NODE || m->domain != 0 || member->proves)
        return;
    if (w->slurm.nodes[i].outage_told != 0) {
        w->slurm.first++;
        return;
    }
    for (uint32_t k = 0; k < w->nodes; k++) {
        const struct cam_slurm_node *n = &w->slurm.nodes[k];
        const struct cam_machine *o = &w->machines[k];
        bool known = n->outage != CAM_NO_OUTAGE && n->outage_told != 0 &&
                     n->outage_told + CAM_MINUTE < w->now;
        if (!known || !c->members[k].in || c->members[k].wave != member->wave ||
            o->pool != m->pool || o->site != m->site || o->revision != m->revision)
            continue;
        cam_require(w, !could_start(w, c, k), "outages",
                    "%s begins before %s, which is down or in maintenance", m->name, o->name);
    }
}

/* People are told --------------------------------------------------------------------------- */

void cam_slurm_alarm(struct cam *w, const struct lks_record *r)
{
    for (uint32_t i = 0; i < w->nodes && w->slurm.on; i++) {
        struct cam_slurm_node *n = &w->slurm.nodes[i];
        if (r->kind == LKS_RECORD_ALARM && r->alarm.kind == LKS_ALARM_BRIDGE &&
            lks_str_is(r->alarm.subject, w->machines[i].name)) {
            n->alarm = r->alarm.id;
            n->alarmed = w->now;
        } else if (r->kind == LKS_RECORD_ALARM_RELEASED && n->alarm != 0 &&
                   n->alarm == r->alarm_released.id) {
            n->alarm = 0;
            n->alarmed = w->now;
        }
    }
}

/* Whether people see an alarm about its bridges, or just put it away. */
static bool is_alarmed(const struct cam *w, const struct cam_machine *m)
{
    for (uint32_t i = 0; i < w->nodes; i++) {
        const struct cam_slurm_node *n = &w->slurm.nodes[i];
        if (w->machines[i].pool == m->pool && w->machines[i].site == m->site &&
            (n->alarm != 0 || (n->alarmed != 0 && w->now < n->alarmed + 3 * CAM_MINUTE)))
            return true;
    }
    return false;
}

bool cam_slurm_is_named(const struct cam *w, struct lks_str text)
{
    return w->slurm.dialect != CAM_SPEAKS && lks_str_is(text, causes[w->slurm.dialect]);
}

/* A node that is to be drained, and waits for a slurmctld that is upgraded: the alarm is there, and
 * its member names the cause and has a deadline. */
static void check_told(struct cam *w, uint32_t i)
{
    const struct cam_machine *m = &w->machines[i];
    const struct cam_slurm *s = &w->slurm;
    const struct cam_slurm_node *n = &s->nodes[i];
    lks_ms since = n->wants > s->from ? n->wants : s->from;
    lks_ms by = s->dialect == CAM_REFUSES ? REFUSED_BY : HEARD_BY;
    const lks_ms others[] = {w->up_since, w->sched_down, s->answered};
    for (size_t k = 0; k < LKS_COUNT(others); k++)
        since = others[k] > since ? others[k] : since;
    if (n->wants == 0 || s->dead != 0 || w->now >= s->until || w->now < since + by)
        return;
    cam_require(w, is_alarmed(w, m), "promise 11",
                "%s waits for a slurmctld of another version since %" PRIu64
                " min, and there is no alarm",
                m->name, (w->now - since) / CAM_MINUTE);
    const struct cam_change *c = cam_owner(w, lks_str_from(m->owner));
    if (c == NULL || c->members[i].state != LKS_MEMBER_ASKED ||
        c->recipes[c->members[i].recipe].kinds[c->members[i].step] != LKS_DO_LEAVE)
        return;
    cam_require(w, c->members[i].told, "promise 11",
                "%s waits for a slurmctld of another version, and its change does not name that",
                m->name);
}

static void look_at(struct cam *w, uint32_t i)
{
    const struct cam_machine *m = &w->machines[i];
    struct cam_slurm_node *n = &w->slurm.nodes[i];
    bool wants = w->scheduled[m->pool] && m->placed && (m->drained || m->held) &&
                 !cam_sched_is_ours(m) && !m->sched_missing;
    if (!wants || w->engine == NULL || w->disk_full)
        n->wants = 0;
    else if (n->wants == 0)
        n->wants = w->now;
    check_told(w, i);
}

void cam_slurm_check(struct cam *w)
{
    for (uint32_t i = 0; i < w->nodes && w->slurm.on && !w->broken; i++)
        look_at(w, i);
}

/* Its events -------------------------------------------------------------------------------- */

void cam_slurm_event(struct cam *w, const struct lks_message *msg)
{
    switch ((enum cam_slurm_event)msg->number) {
    case CAM_SLURM_DIES:
        if (!w->calm)
            die(w);
        break;
    case CAM_SLURM_ANSWERS:
        take_over(w);
        break;
    case CAM_SLURM_KILLS:
        kill_forgotten(w, msg->node, msg->value);
        break;
    case CAM_SLURM_MISSES:
        w->slurm.nodes[msg->node].ghost.there = false;
        break;
    case CAM_SLURM_UPGRADES:
        if (!w->calm)
            upgrade(w);
        break;
    case CAM_SLURM_DRAINS:
        if (msg->value != 0)
            kill_task_failed(w, msg->node);
        else
            drain_itself(w, msg->node, "Node unexpectedly rebooted");
        break;
    case CAM_SLURM_REPAIRED:
        if (!cam_slurm_dead(w))
            cam_sched_other(w, msg->node, false);
        break;
    case CAM_SLURM_OUTAGE:
        turn_outage(w, msg->node, msg->value != 0);
        break;
    }
}

/* lockstepd started: each node is asked about, wanted or not, for as long as it runs. */
void cam_slurm_resume(struct cam *w, uint32_t i)
{
    const struct cam_machine *m = &w->machines[i];
    bool asks = w->slurm.on || (!w->bridges.on && cam_drains_refused(w, m->pool));
    if (!asks || m->type != CAM_NODE || !w->scheduled[m->pool])
        return;
    if (w->slurm.on)
        w->slurm.nodes[i].outage_told = 0;
    cam_post(w,
             (struct lks_message){.kind = CAM_SCHED_ACTS, .node = i, .value = 1, .life = w->life},
             within(w, LKS_SECOND, LKS_SCHED_REFRESH));
}

void cam_slurm_calm(struct cam *w)
{
    if (!w->slurm.on)
        return;
    take_over(w);
    w->slurm.until = 0;
    for (uint32_t i = 0; i < w->nodes; i++)
        w->slurm.nodes[i].outage = CAM_NO_OUTAGE;
}
