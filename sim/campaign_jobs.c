/* Jobs and the scheduler that places them. */
#include "core/actions/sched_book.h"
#include "core/admission/admit.h"
#include "core/rows/node.h"
#include "sim/campaign.h"
#include "tests/facts.h"

#include <stdio.h>

#define JOB_TAKES (20 * CAM_MINUTE)

/* The scheduler -------------------------------------------------------------------------------- */

void cam_sched_later(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    if (m->sched_posted || m->type != CAM_NODE || !w->scheduled[m->pool])
        return;
    m->sched_posted = true;
    cam_post(w, (struct lks_message){.kind = CAM_SCHED_ACTS, .node = i, .life = w->life},
             cam_between(w, LKS_SECOND, 20 * LKS_SECOND));
}

#define OTHER "root" /* who has business of their own with nodes */

/* A drain that lockstep made: of a change, or of the drift of a pool. */
static bool is_lockstep(const char *owner)
{
    return owner[0] != '\0' && strcmp(owner, OTHER) != 0;
}

bool cam_sched_is_ours(const struct cam_machine *m)
{
    return is_lockstep(m->sched_owner);
}

/* What it does about a wish, by the truth. */
static void carry_out(struct cam *w, struct cam_machine *m, const struct lks_sched_wish *wish)
{
    if (m->sched_missing)
        return;
    bool takes_over = is_lockstep(m->sched_owner) && lks_str_is(wish->from, m->sched_owner);
    if (wish->verb == LKS_SCHED_DRAIN && (m->sched_owner[0] == '\0' || takes_over) &&
        (!m->deaf || w->calm))
        (void)snprintf(m->sched_owner, sizeof(m->sched_owner), "%" LKS_STR_FMT,
                       LKS_STR_ARG(wish->owner));
    if (wish->verb != LKS_SCHED_RELEASE)
        return;
    cam_require(w, !m->held, "promise 7", "%s: released in the scheduler while it is on hold",
                m->name);
    cam_require(w, !m->drained || !lks_str_is(wish->owner, m->owner), "promise 7",
                "%s: released in the scheduler while it is drained", m->name);
    if (!lks_str_is(wish->owner, m->sched_owner))
        return; /* the driver refuses that */
    cam_require(w, is_lockstep(m->sched_owner), "promise 7",
                "%s: the drain of %s is released in the scheduler", m->name, m->sched_owner);
    m->sched_owner[0] = '\0';
}

static void look(const struct cam_machine *m, const struct lks_sched_wish *wish,
                 struct lks_sched_said *out)
{
    if (m->sched_missing) {
        *out = (struct lks_sched_said){.text = "the scheduler does not know the node"};
        return;
    }
    *out = (struct lks_sched_said){
        .known = true,
        .closed = m->sched_owner[0] != '\0',
        .lockstep = is_lockstep(m->sched_owner),
        .ours = m->sched_owner[0] != '\0' && lks_str_is(wish->owner, m->sched_owner),
        .jobs = m->job != 0,
        .revision = 1,
    };
    (void)snprintf(out->owner, sizeof(out->owner), "%s", m->sched_owner);
    (void)snprintf(out->text, sizeof(out->text), "as simulated");
}

/* It did not answer: people are told, and nothing follows for the node. */
static void fail(struct cam *w, struct cam_machine *m, uint32_t place)
{
    m->sched_silent = m->sched_silent != 0 ? m->sched_silent : cam_now(w).wall;
    if (++m->sched_failures < LKS_SCHED_UNHEARD)
        return;
    struct lks_event event = {.kind = LKS_EVENT_SCHED,
                              .node = place,
                              .sched = {.unknown = true,
                                        .since = m->sched_silent,
                                        .owner = LKS_STR(""),
                                        .text = LKS_STR("no answer, as simulated")}};
    (void)cam_turn(w, &event, NULL);
}

/* Said again, too: the first time may have been too early. */
static void hear(struct cam *w, struct cam_machine *m, uint32_t place,
                 const struct lks_sched_wish *wish)
{
    struct lks_sched_said said;
    struct lks_event event;
    look(m, wish, &said);
    lks_sched_event(place, &said, &event);
    event.sched.lost = m->sched_known && lks_sched_lost(m->sched_verb, &m->said, &said);
    m->sched_verb = wish->verb;
    m->sched_silent = m->sched_failures = 0;
    bool drained = m->drained && lks_sched_drained(&said) && strcmp(said.owner, m->owner) == 0;
    if (!cam_turn(w, &event, NULL))
        return;
    m->said = said;
    m->sched_known = true;
    if (m->sched_unheard)
        m->sched_lost = cam_now(w).wall;
    m->sched_unheard = false;
    m->sched_drained = m->drained && drained;
    cam_requeue_list(w, m, place);
}

void cam_sched_acts(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    uint32_t place = cam_place(w, m);
    struct lks_sched_wish wish = {0};
    char space[LKS_SCHED_HOLD_SIZE];
    m->sched_posted = false;
    if (lks_engine_seq(w->engine) > lks_engine_durable_seq(w->engine)) {
        cam_sched_later(w, i); /* nothing leaves before it is durable */
        return;
    }
    cam_requeue_acts(w);
    if (w->engine == NULL)
        return;
    if (place == LKS_NO_NODE ||
        !lks_sched_next(lks_engine_state(w->engine), lks_test_facts(), place,
                        m->sched_known ? &m->said : NULL, space, &wish))
        return;
    cam_sched_later(w, i);
    bool down = w->now < w->sched_down;
    if (!down && !cam_chance(w, w->weather.loss)) {
        carry_out(w, m, &wish);
        if (!cam_chance(w, w->weather.loss)) {
            hear(w, m, place, &wish);
            return;
        }
    }
    if (down)
        fail(w, m, place);
}

/* An administrator, or the scheduler itself, does something to a node that lockstep drained: ends
 * its drain, takes it over, or forgets the node. */
static void undrain(struct cam *w)
{
    uint32_t from = (uint32_t)lks_rng_below(&w->chance, w->nodes);
    for (uint32_t k = 0; k < w->nodes; k++) {
        uint32_t i = (from + k) % w->nodes;
        struct cam_machine *m = &w->machines[i];
        if (!w->scheduled[m->pool] || !is_lockstep(m->sched_owner))
            continue;
        bool resumes = lks_rng_percent(&w->chance, 60), takes = lks_rng_percent(&w->chance, 60);
        (void)snprintf(m->sched_owner, sizeof(m->sched_owner), "%s",
                       resumes || !takes ? "" : OTHER);
        m->sched_missing = !resumes && !takes;
        m->sched_unheard = true;
        cam_say(w, "%s: its drain is %s in the scheduler", m->name,
                resumes ? "ended"
                : takes ? "taken over"
                        : "forgotten");
        cam_sched_later(w, i);
        return;
    }
}

void cam_sched_meddle(struct cam *w)
{
    if (lks_rng_percent(&w->chance, w->weather.resumes))
        undrain(w);
    if (lks_rng_percent(&w->chance, w->weather.sched_down))
        w->sched_down = w->now + lks_rng_below(&w->chance, 30 * CAM_MINUTE);
}

/* Somebody else has business with the node. */
void cam_sched_other(struct cam *w, uint32_t i, bool on)
{
    struct cam_machine *m = &w->machines[i];
    if (on && m->sched_owner[0] == '\0')
        (void)snprintf(m->sched_owner, sizeof(m->sched_owner), OTHER);
    else if (!on && strcmp(m->sched_owner, OTHER) == 0)
        m->sched_owner[0] = '\0';
    if (w->engine != NULL)
        cam_sched_later(w, i);
}

/* Jobs -------------------------------------------------------------------------------------- */

static bool is_free(const struct cam *w, const struct cam_machine *m, unsigned pool)
{
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
               w->now >= w->sched_down;
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
    if (!there) {
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
    job->there = false;
}

void cam_job_ends(struct cam *w, const struct lks_message *msg)
{
    if (w->jobs[msg->value].serial == msg->number)
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
