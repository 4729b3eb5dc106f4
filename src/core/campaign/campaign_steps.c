/* Each kind of step: when it can begin, what it asks for, and when it is done. */
#include "core/campaign/campaign_parts.h"
#include "core/gate/gate.h"
#include "core/plan/drain.h"
#include "core/registry/book.h"
#include "core/rows/command.h"
#include "core/rows/flash.h"
#include "core/rows/pool.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "model/manifest/executor.h"

#include <stdio.h>

enum { DAY_HOURS = 24, PAUSE_SHIFT_MAX = 5 };
#define HOUR          (3600 * LKS_SECOND)
#define LIMIT_DEFAULT HOUR /* of a step whose plan does not say */
#define LIMIT_MAX     (DAY_HOURS * HOUR)
#define IDLE_PAUSE    (30 * LKS_SECOND)  /* until a busy node is asked again; then twice as long */
#define IDLE_LIMIT    (600 * LKS_SECOND) /* for an answer to that */
#define JUST_READ     (60 * LKS_SECOND)  /* who was read so lately is not read again at once */
#define LATER_PAUSE   (60 * LKS_SECOND)  /* until what cannot be asked for now is asked for again */

static const struct lks_next never = {UINT64_MAX, LKS_NEXT_NOTHING};

static lks_ms limit_of(const struct lks_step *step)
{
    lks_ms limit = step->limit > 0 ? step->limit : LIMIT_DEFAULT;
    return limit < LIMIT_MAX ? limit : LIMIT_MAX;
}

lks_ms lks_campaign_step_limit(const struct lks_look *k)
{
    return limit_of(k->step);
}

static lks_ms later(lks_ms time, lks_ms by)
{
    return time > UINT64_MAX - by ? UINT64_MAX : time + by;
}

/* Steps of a plan that never drains the node do not disrupt it. */
static bool disrupts(const struct lks_look *k)
{
    return lks_campaign_path_find(k->r, LKS_DO_LEAVE) < k->r->count;
}

/* When it may be touched: no yes that was given can bring a job to it any more. */
static lks_ms quiet_at(const struct lks_look *k)
{
    const struct lks_state *s = k->s;
    uint32_t pool = k->n->pool;
    if (!disrupts(k) || pool >= s->pool_count ||
        !lks_str_is(lks_state_text(s, s->pools[pool].enforce), "on"))
        return 0;
    return lks_node_status_quiet(s, k->m->node);
}

/* When it can begin ------------------------------------------------------------------------- */

/* A node that is lost has until the limit to come back. One that is late turns one or the other. */
static struct lks_next when_lost(const struct lks_look *k)
{
    if (k->n->liveness == LKS_LATE)
        return never;
    lks_ms late = later(k->m->since, limit_of(k->step));
    return lks_next_at(late > k->m->until ? late : k->m->until, LKS_NEXT_LATE);
}

/* By its agent, which answers one at a time. */
static struct lks_next when_agent(const struct lks_look *k)
{
    const struct lks_node *n = k->n;
    if (n->liveness != LKS_LIVE || n->boot == 0 || !n->enrolled)
        return when_lost(k);
    if (n->pending > 0 || n->flashing > 0)
        return never;
    return lks_next_at(quiet_at(k), LKS_NEXT_BEGIN);
}

static bool is_beside(const struct lks_look *k)
{
    return k->step->kind == LKS_DO_STAGE;
}

/* By its endpoint, which does so too. One that a person has to look at waits for that. */
static struct lks_next when_endpoint(const struct lks_look *k)
{
    if (k->n->pending > 0 || k->n->flashing > 0)
        return never;
    return lks_next_at(is_beside(k) ? 0 : quiet_at(k), LKS_NEXT_BEGIN);
}

static struct lks_next when_now(const struct lks_look *k)
{
    (void)k;
    return lks_next_at(0, LKS_NEXT_BEGIN);
}

static struct lks_next when_leave(const struct lks_look *k)
{
    return lks_campaign_unit_stopped(k) ? never : when_now(k);
}

static struct lks_next when_checked(const struct lks_look *k)
{
    return k->n->asset != 0 ? when_now(k) : when_agent(k);
}

/* All of its unit wait to return, and each of them is as it should be; who was not touched returns
 * as it is, once all of that is read that an update had ended, if it only staged something. */
static bool is_ready(const struct lks_look *k)
{
    const struct lks_member *m = k->m;
    if (m->state != LKS_MEMBER_WAITING || k->step == NULL || k->step->kind != LKS_DO_RETURN ||
        !k->n->placed)
        return false;
    if (m->back && !lks_campaign_look_touched(k))
        return !lks_campaign_look_unread(k);
    return lks_campaign_look_read(k) == LKS_READ_RIGHT;
}

static bool is_unit_ready(const struct lks_look *k)
{
    for (uint32_t i = 0; i < k->u->count; i++) {
        const struct lks_member *m = &k->c->members[k->u->first + i];
        struct lks_look o = lks_campaign_look_at(k->s, k->c, m);
        if (!lks_member_over(m) && m->state != LKS_MEMBER_PENDING &&
            (!is_ready(&o) || m->back != k->m->back))
            return false;
    }
    return true;
}

/* The first member that is evaluated returns all of the unit. A member that is not right any more
 * delays it until it is late. */
static struct lks_next when_return(const struct lks_look *k)
{
    bool as_it_was = k->m->back && !lks_campaign_look_touched(k); /* whatever that is */
    if (!is_ready(k))
        return !as_it_was && lks_campaign_look_read(k) == LKS_READ_WRONG
                   ? lks_next_at(0, LKS_NEXT_LATE)
                   : when_lost(k);
    return is_unit_ready(k) ? lks_next_at(0, LKS_NEXT_BEGIN) : never;
}

/* What was asked for ------------------------------------------------------------------------ */

/* The node's answer; a command that is not in the state any more has none. */
static const struct lks_state_command *command_of(const struct lks_look *k)
{
    const struct lks_state_command *c = lks_state_command(k->s, k->m->work);
    return c != NULL && c->node == k->m->node ? c : NULL;
}

static struct lks_next asked_agent(const struct lks_look *k)
{
    const struct lks_state_command *c = command_of(k);
    return c == NULL || c->ended ? lks_next_at(0, LKS_NEXT_ENDED) : never;
}

static struct lks_next asked_endpoint(const struct lks_look *k)
{
    const struct lks_state_flash *f = lks_state_flash(k->s, k->m->work);
    return f == NULL || f->outcome != LKS_BMC_OPEN ? lks_next_at(0, LKS_NEXT_ENDED) : never;
}

/* It is done when the node is heard of in another boot, whatever became of the answer. */
static bool is_booted(const struct lks_look *k, const struct lks_state_command *c)
{
    return k->n->liveness == LKS_LIVE && k->n->boot != 0 && k->n->boot != c->boot;
}

static struct lks_next asked_reboot(const struct lks_look *k)
{
    const struct lks_state_command *c = command_of(k);
    bool refused =
        c == NULL ||
        (c->ended && (c->outcome == LKS_OUTCOME_REFUSED || c->outcome == LKS_OUTCOME_FAILED));
    if (refused || is_booted(k, c))
        return lks_next_at(0, LKS_NEXT_ENDED);
    return lks_next_at(k->m->until, LKS_NEXT_LATE);
}

static struct lks_next reads(const struct lks_look *k)
{
    if (lks_campaign_look_read(k) == LKS_READ_NOT_YET)
        return lks_next_at(k->m->until, LKS_NEXT_LATE);
    return lks_next_at(0, LKS_NEXT_READ);
}

/* Draining: a scheduler reports that it is drained, every yes has expired, its agent finds nothing
 * that runs. How long that may take is the deadline of the whole. */

enum lks_drain_sched lks_campaign_look_sched(const struct lks_look *k)
{
    uint32_t pool = k->n->pool;
    return pool < k->s->pool_count ? lks_drain_sched(lks_look_text(k, k->s->pools[pool].sched))
                                   : LKS_DRAIN_AGENT;
}

/* Its jobs may take as long as its posture says; an agent that is not heard of answers no question,
 * and is waited for no longer than one that did not begin. */
struct lks_next lks_campaign_leave_ends(const struct lks_look *k)
{
    lks_ms at = k->m->until, lost = later(k->n->liveness_since, LKS_CAMPAIGN_GRACE);
    bool away = k->n->liveness != LKS_LIVE && k->n->liveness != LKS_LATE;
    return lks_next_at(away && lost < at ? lost : at, LKS_NEXT_LATE);
}

static struct lks_next when_idle(const struct lks_look *k, lks_ms from)
{
    struct lks_next late = lks_campaign_leave_ends(k);
    const struct lks_node *n = k->n;
    if (n->liveness != LKS_LIVE || n->boot == 0 || !n->enrolled || n->pending > 0 ||
        n->flashing > 0)
        return late;
    lks_ms quiet = quiet_at(k);
    return lks_next_of(late, lks_next_at(quiet > from ? quiet : from, LKS_NEXT_BEGIN));
}

static struct lks_next asked_leave(const struct lks_look *k)
{
    if (lks_campaign_look_sched(k) != LKS_DRAIN_AGENT)
        return lks_campaign_leave_ends(k);
    return when_idle(k, 0);
}

static struct lks_next reads_leave(const struct lks_look *k)
{
    if (k->m->work != 0)
        return asked_agent(k);
    uint32_t times = k->m->attempt > 1 ? k->m->attempt - 2 : 0;
    lks_ms pause = IDLE_PAUSE << (times < PAUSE_SHIFT_MAX ? times : PAUSE_SHIFT_MAX);
    return when_idle(k, k->m->attempt > 1 ? later(k->m->since, pause) : 0);
}

/* Asking ------------------------------------------------------------------------------------ */

static struct lks_str owner_of(struct lks_deciding *d, const struct lks_look *k)
{
    char owner[LKS_CHANGE_OWNER_SIZE];
    return lks_decision_copy(d, lks_state_change_owner(k->c->id, owner));
}

static struct lks_str both(struct lks_deciding *d, struct lks_str order, struct lks_str artifacts)
{
    if (artifacts.len == 0)
        return order;
    return lks_decision_text(d, "%" LKS_STR_FMT " %" LKS_STR_FMT, LKS_STR_ARG(order),
                             LKS_STR_ARG(artifacts));
}

/* The words of a step for people: "apt: driver nccl". */
static struct lks_str step_text(struct lks_deciding *d, const struct lks_look *k,
                                struct lks_str what)
{
    struct lks_str component = lks_look_text(k, k->step->component);
    if (component.len == 0)
        return what;
    return lks_decision_text(d, "%" LKS_STR_FMT ": %" LKS_STR_FMT "%s", LKS_STR_ARG(what),
                             LKS_STR_ARG(component), k->m->back ? ", back" : "");
}

/* An obstacle that passes by itself is no failure of the step: it is asked for again in a while,
 * for a day at the most. Draining has its own pauses, and a deadline as a whole. */
static void ask_later(struct lks_deciding *d, const struct lks_look *k, struct lks_str why)
{
    struct lks_rec_member r = lks_campaign_member_record(k);
    r.work = 0;
    r.text = why;
    if (k->step->kind == LKS_DO_LEAVE) {
        r.state = LKS_MEMBER_READING;
        r.attempt = (uint64_t)k->m->attempt + 1;
    } else {
        r.state = LKS_MEMBER_WAITING;
        r.until = later(d->now.wall, LATER_PAUSE);
    }
    lks_campaign_member_list(d, k, r);
}

/* It was refused: as many as there may be wait for answers, the redundant peer is being updated, or
 * that is how the step ended. */
void lks_campaign_step_refused(struct lks_deciding *d, const struct lks_look *k, enum lks_code code,
                               struct lks_str why)
{
    bool passes = code == LKS_E_LIMIT || (lks_campaign_step_by_endpoint(k->step) &&
                                          lks_decide_flash_side_busy(d, k->m->node));
    if (passes && d->now.wall < later(lks_campaign_unit_since(k), LIMIT_MAX))
        ask_later(d, k, why);
    else
        lks_campaign_member_fail(d, k, LKS_FAILURE_REFUSED, k->m->attempt > 1, why);
}

/* It is in progress from here on, or was refused. */
static void asked(struct lks_deciding *d, const struct lks_look *k, size_t count,
                  struct lks_rec_member r)
{
    struct lks_str why = LKS_STR("");
    enum lks_code code = lks_decision_unrefuse(d, count, &why);
    if (code != LKS_OK)
        lks_campaign_step_refused(d, k, code, why);
    else
        lks_campaign_member_list(d, k, r);
}

/* `state` is what the member is while the command runs. */
static void command(struct lks_deciding *d, const struct lks_look *k, const char *executor,
                    struct lks_str digests, enum lks_member_state state)
{
    size_t count = d->out->count;
    bool leaves = k->step->kind == LKS_DO_LEAVE; /* which has a deadline as a whole */
    bool idle = leaves && strcmp(executor, LKS_EXECUTOR_IDLE) == 0;
    lks_ms until = later(d->now.wall, idle ? IDLE_LIMIT : limit_of(k->step));
    struct lks_str name = lks_decision_copy(d, lks_str_from(executor));
    struct lks_rec_member r = lks_campaign_member_record(k);
    r.state = state;
    r.work = d->next_command;
    if (!leaves)
        r.until = until;
    r.text = step_text(d, k, name);
    (void)lks_decide_command_issue(
        d, k->m->node,
        (struct lks_rec_command){.executor = name,
                                 .digests = digests,
                                 .attempt = k->m->attempt > 0 ? k->m->attempt : 1,
                                 .expires = until,
                                 .by = owner_of(d, k),
                                 .reason = r.text},
        disrupts(k));
    asked(d, k, count, r);
}

static void begin_apply(struct lks_deciding *d, const struct lks_look *k)
{
    const struct lks_step *step = k->step;
    bool back = k->m->back;
    size_t count = d->out->count;
    struct lks_str executor = lks_look_text(k, step->executor);
    struct lks_str artifacts = lks_look_text(k, back ? step->artifacts_back : step->artifacts);
    struct lks_str order = lks_look_text(k, back ? step->order_back : step->order);
    if (lks_decide_hand_vouched(d, artifacts)) /* at the moment it is sent */
        command(d, k, executor.ptr, both(d, order, artifacts), LKS_MEMBER_ASKED);
    else
        asked(d, k, count, lks_campaign_member_record(k));
}

static void begin_reboot(struct lks_deciding *d, const struct lks_look *k)
{
    struct lks_str executor = lks_look_text(k, k->step->executor);
    command(d, k, executor.len > 0 ? executor.ptr : LKS_EXECUTOR_REBOOT, LKS_STR(""),
            LKS_MEMBER_ASKED);
}

/* The step before was to read it, and nothing was done to it since. */
static bool is_just_read(const struct lks_deciding *d, const struct lks_look *k)
{
    const struct lks_member *m = k->m;
    return k->step->kind == LKS_DO_ACCEPT && !m->back && m->attempt <= 1 && m->step > 0 &&
           k->r->steps[m->step - 1].kind == LKS_DO_CHECK &&
           d->now.wall < later(m->since, JUST_READ);
}

/* An asset has no agent that could be asked to look. */
static void begin_check(struct lks_deciding *d, const struct lks_look *k)
{
    bool by_endpoint = k->n->asset != 0;
    if (!by_endpoint && !is_just_read(d, k)) {
        command(d, k, LKS_EXECUTOR_INVENTORY, LKS_STR(""), LKS_MEMBER_ASKED);
        return;
    }
    struct lks_rec_member r = lks_campaign_member_record(k);
    r.state = LKS_MEMBER_READING;
    r.until = later(d->now.wall, limit_of(k->step));
    r.text = by_endpoint ? LKS_STR("read again by its endpoint")
                         : LKS_STR("it was just read, and all readings are evaluated");
    lks_campaign_member_list(d, k, r);
}

/* Where the other bank cannot be switched to, the image before is flashed again, if there is one.
 */
static enum lks_bmc_act back_of(const struct lks_look *k)
{
    const struct lks_step *step = k->step;
    bool again = step->revert == LKS_BMC_SWITCH && step->image_back != 0 && k->m->attempt > 1;
    return again ? LKS_BMC_UPDATE : step->revert;
}

/* What each kind asks of the endpoint, there and back. A device that fell back to what it ran has
 * nothing staged any more: the next attempt brings the image along. */
static enum lks_bmc_act act_of(const struct lks_look *k)
{
    static const enum lks_bmc_act there[LKS_DO_COUNT] = {
        [LKS_DO_STAGE] = LKS_BMC_STAGE,
        [LKS_DO_FLASH] = LKS_BMC_UPDATE,
        [LKS_DO_ACTIVATE] = LKS_BMC_ACTIVATE,
    };
    if (!k->m->back && k->step->kind == LKS_DO_ACTIVATE && !lks_campaign_path_staged(k, k->step))
        return LKS_BMC_UPDATE;
    if (!k->m->back)
        return there[k->step->kind];
    if (k->step->kind != LKS_DO_STAGE)
        return back_of(k);
    return k->m->attempt > 1 && k->step->image_back != 0 ? LKS_BMC_STAGE : LKS_BMC_ABORT;
}

/* An older version is meant, on the way there, too: the plan says what it ran. */
static bool goes_down(const struct lks_deciding *d, const struct lks_look *k)
{
    struct lks_str component = lks_look_text(k, k->step->component);
    struct lks_str version = lks_look_text(k, k->step->version);
    struct lks_str before = lks_look_text(k, k->step->before);
    return k->m->back ||
           (before.len > 0 &&
            lks_version_cmp(version, before, lks_facts_scheme(d->book->facts, component)) < 0);
}

/* An activation that brings the image along takes the time of both. */
static lks_ms flash_limit(const struct lks_look *k, enum lks_bmc_act act)
{
    lks_ms limit = limit_of(k->step);
    if (act != LKS_BMC_UPDATE || k->step->kind != LKS_DO_ACTIVATE)
        return limit;
    for (uint32_t i = 0; i < k->r->count; i++) {
        const struct lks_step *other = &k->r->steps[i];
        if (other->kind == LKS_DO_STAGE && other->component == k->step->component)
            return later(limit, limit_of(other));
    }
    return limit;
}

static struct lks_rec_flash flash_of(struct lks_deciding *d, const struct lks_look *k)
{
    const struct lks_step *step = k->step;
    enum lks_bmc_act act = act_of(k);
    bool back = k->m->back, gives_up = act == LKS_BMC_ABORT;
    bool image = !back || act == LKS_BMC_UPDATE || act == LKS_BMC_STAGE;
    return (struct lks_rec_flash){
        .act = act,
        .component = lks_look_text(k, step->component),
        .version = gives_up ? LKS_STR("") : lks_look_text(k, back ? step->before : step->version),
        .bundle = gives_up || !image ? LKS_STR("")
                                     : lks_look_text(k, back ? step->bundle_back : step->bundle),
        .image = gives_up || !image ? LKS_STR("")
                                    : lks_look_text(k, back ? step->image_back : step->image),
        .force = goes_down(d, k),
        .one_way = step->one_way && k->c->one_way,
        .deadline = later(d->now.wall, flash_limit(k, act)),
        .by = owner_of(d, k),
        .reason = step_text(d, k, LKS_STR("firmware")),
    };
}

static void begin_flash(struct lks_deciding *d, const struct lks_look *k)
{
    size_t count = d->out->count;
    struct lks_rec_flash flash = flash_of(d, k);
    struct lks_rec_member r = lks_campaign_member_record(k);
    if (!is_beside(k) && !lks_campaign_look_clear(d, k))
        return;
    r.state = LKS_MEMBER_ASKED;
    r.work = d->next_flash;
    r.until = flash.deadline;
    r.text = flash.reason;
    (void)lks_decide_flash_issue(d, k->m->node, flash, true);
    asked(d, k, count, r);
}

/* Training waits for a job or its checkpoint, inference for its requests: the posture's row says
 * how long, unless the plan does. */
lks_ms lks_campaign_leave_limit(const struct lks_deciding *d, const struct lks_look *k)
{
    uint32_t pool = k->n->pool;
    struct lks_str posture =
        pool < k->s->pool_count ? lks_look_text(k, k->s->pools[pool].posture) : LKS_STR("");
    struct lks_drain_rule rule = lks_drain_rule(d->book->facts, posture);
    return k->step->limit > 0 ? lks_drain_longest(k->step->limit, k->step->retries)
                              : lks_drain_longest(rule.limit, rule.retries);
}

static void begin_idle(struct lks_deciding *d, const struct lks_look *k)
{
    command(d, k, LKS_EXECUTOR_IDLE, LKS_STR(""), LKS_MEMBER_READING);
}

/* From its first moment on it is out of service, by what is recorded; then it is made sure of. */
static void begin_leave(struct lks_deciding *d, const struct lks_look *k)
{
    if (k->m->state != LKS_MEMBER_WAITING) {
        begin_idle(d, k);
        return;
    }
    if (lks_campaign_look_sched(k) == LKS_DRAIN_NOT_YET) {
        lks_campaign_member_fail(d, k, LKS_FAILURE_REFUSED, false,
                                 LKS_STR("the scheduler of its pool cannot be asked to drain it"));
        return;
    }
    if (!lks_campaign_unit_may_leave(d, k))
        return;
    lks_campaign_member_keep_out(d, k, lks_campaign_member_target(k, k->m->back));
    if (k->n->asset != 0) {
        lks_campaign_member_advance(d, k);
        return;
    }
    struct lks_rec_member r = lks_campaign_member_record(k);
    r.state = LKS_MEMBER_ASKED;
    r.until = later(d->now.wall, lks_campaign_leave_limit(d, k));
    r.attempt = 1;
    r.work = 0;
    r.text = lks_campaign_look_sched(k) == LKS_DRAIN_DRIVEN
                 ? LKS_STR("waits until its scheduler drained it")
                 : LKS_STR("waits until nothing runs on it");
    lks_campaign_member_list(d, k, r);
}

/* How it ended ------------------------------------------------------------------------------ */

/* One row an outcome of a command: how the step failed, and whether part of it may be done. An
 * order with unknown outcome is carried out again to find out, but not one of firmware. */
static const struct {
    enum lks_failure failure, of_firmware;
    bool done;
} outcomes[LKS_OUTCOME_COUNT] = {
    [LKS_OUTCOME_DONE] = {LKS_FAILURE_NONE, LKS_FAILURE_NONE, true},
    [LKS_OUTCOME_FAILED] = {LKS_FAILURE_STEP, LKS_FAILURE_STEP, true},
    [LKS_OUTCOME_REFUSED] = {LKS_FAILURE_REFUSED, LKS_FAILURE_REFUSED, false},
    [LKS_OUTCOME_EXPIRED] = {LKS_FAILURE_LOST, LKS_FAILURE_UNKNOWN, true},
    [LKS_OUTCOME_UNKNOWN] = {LKS_FAILURE_STEP, LKS_FAILURE_UNKNOWN, true},
};

static bool is_executor(const struct lks_look *k, const struct lks_state_command *c,
                        const char *name)
{
    return c != NULL && lks_str_is(lks_look_text(k, c->executor), name);
}

/* An attempt before may have done part of it, whatever became of this one. Draining does nothing to
 * it. */
static bool was_tried(const struct lks_look *k)
{
    return k->m->attempt > 1 && k->step->kind != LKS_DO_LEAVE;
}

static void failed(struct lks_deciding *d, const struct lks_look *k,
                   const struct lks_state_command *c)
{
    enum lks_outcome outcome = c == NULL ? LKS_OUTCOME_EXPIRED : c->outcome;
    bool firmware = is_executor(k, c, LKS_EXECUTOR_FIRMWARE);
    enum lks_failure failure = firmware ? outcomes[outcome].of_firmware : outcomes[outcome].failure;
    bool accepts =
        c != NULL && k->step->kind == LKS_DO_ACCEPT && !is_executor(k, c, LKS_EXECUTOR_INVENTORY);
    if (accepts && failure == LKS_FAILURE_STEP)
        failure = LKS_FAILURE_ACCEPT;
    struct lks_str text =
        c == NULL ? LKS_STR("its command was forgotten") : lks_look_text(k, c->text);
    lks_campaign_member_fail(
        d, k, failure, outcomes[outcome].done || was_tried(k),
        lks_decision_text(d, "%" LKS_STR_FMT ": %s%s%" LKS_STR_FMT,
                          LKS_STR_ARG(c == NULL ? LKS_STR("?") : lks_look_text(k, c->executor)),
                          lks_outcome_words[outcome], text.len > 0 ? ": " : "", LKS_STR_ARG(text)));
}

static void ended_apply(struct lks_deciding *d, const struct lks_look *k)
{
    const struct lks_state_command *c = command_of(k);
    if (c != NULL && c->outcome == LKS_OUTCOME_DONE)
        lks_campaign_member_advance(d, k);
    else
        failed(d, k, c);
}

static void ended_reboot(struct lks_deciding *d, const struct lks_look *k)
{
    const struct lks_state_command *c = command_of(k);
    if (c != NULL && is_booted(k, c))
        lks_campaign_member_advance(d, k);
    else
        failed(d, k, c);
}

/* It was read: now that is judged. Or it was accepted, and is still what was read. */
static void ended_check(struct lks_deciding *d, const struct lks_look *k)
{
    const struct lks_state_command *c = command_of(k);
    if (c == NULL || c->outcome != LKS_OUTCOME_DONE) {
        failed(d, k, c);
        return;
    }
    if (!is_executor(k, c, LKS_EXECUTOR_INVENTORY)) {
        lks_campaign_member_advance(d, k);
        return;
    }
    struct lks_rec_member r = lks_campaign_member_record(k);
    r.state = LKS_MEMBER_READING;
    r.until = later(d->now.wall, limit_of(k->step));
    r.text = LKS_STR("it was read again, and the readings are evaluated");
    lks_campaign_member_list(d, k, r);
}

static const char *acceptor(const struct lks_look *k)
{
    uint32_t at = lks_campaign_path_find(k->r, LKS_DO_ACCEPT);
    struct lks_str executor =
        at < k->r->count ? lks_look_text(k, k->r->steps[at].executor) : LKS_STR("");
    return executor.len > 0 ? executor.ptr : LKS_EXECUTOR_ACCEPT;
}

/* A node that is right is accepted by the site's checks; a member that only exercises the rollback
 * need not be. */
static void read_accept(struct lks_deciding *d, const struct lks_look *k)
{
    bool shows = k->m->back && k->m->pass == 1;
    if (lks_campaign_look_read(k) != LKS_READ_RIGHT)
        lks_campaign_member_fail(d, k, LKS_FAILURE_WRONG, true, lks_campaign_wrong_text(d, k));
    else if (k->n->asset != 0 || shows)
        lks_campaign_member_advance(d, k);
    else
        command(d, k, acceptor(k), LKS_STR(""), LKS_MEMBER_ASKED);
}

static void read_check(struct lks_deciding *d, const struct lks_look *k)
{
    if (lks_campaign_look_read(k) == LKS_READ_RIGHT)
        lks_campaign_member_advance(d, k);
    else
        lks_campaign_member_fail(d, k, LKS_FAILURE_WRONG, true, lks_campaign_wrong_text(d, k));
}

/* What an update's end means. Where the endpoint answers nothing any more, not even its version,
 * manual intervention is needed. */
static enum lks_failure flash_failure(const struct lks_look *k, const struct lks_state_flash *f)
{
    bool silent = f->found == 0 || lks_look_text(k, f->found).len == 0;
    switch (f->outcome) {
    case LKS_BMC_DONE:
        return LKS_FAILURE_NONE;
    case LKS_BMC_SAME: /* what we staged is not shown: it is staged over, where that can be */
        return f->act == LKS_BMC_ABORT && k->step->image_back != 0 ? LKS_FAILURE_REFUSED
                                                                   : LKS_FAILURE_NONE;
    case LKS_BMC_STAGED:
        return f->act == LKS_BMC_STAGE ? LKS_FAILURE_NONE : LKS_FAILURE_STEP;
    case LKS_BMC_REFUSED:
        return LKS_FAILURE_REFUSED;
    case LKS_BMC_FAILED:
        return silent ? LKS_FAILURE_ENDPOINT : LKS_FAILURE_STEP;
    case LKS_BMC_OPEN:
    case LKS_BMC_UNKNOWN:
    case LKS_BMC_OUTCOME_COUNT:
        break;
    }
    /* One whose bundle was revoked was cut off by us: that tells nothing of its endpoint. */
    return silent && !f->revoked ? LKS_FAILURE_ENDPOINT : LKS_FAILURE_UNKNOWN;
}

static void ended_flash(struct lks_deciding *d, const struct lks_look *k)
{
    const struct lks_state_flash *f = lks_state_flash(k->s, k->m->work);
    if (f == NULL) {
        lks_campaign_member_fail(d, k, LKS_FAILURE_UNKNOWN, true,
                                 LKS_STR("its update was forgotten"));
        return;
    }
    enum lks_failure failure = flash_failure(k, f);
    struct lks_str text = lks_look_text(k, f->text);
    if (failure == LKS_FAILURE_NONE)
        lks_campaign_member_advance(d, k);
    else
        lks_campaign_member_fail(
            d, k, failure, failure != LKS_FAILURE_REFUSED || was_tried(k),
            lks_decision_text(
                d, "update %llu of %" LKS_STR_FMT ": %s%s%" LKS_STR_FMT, (unsigned long long)f->id,
                LKS_STR_ARG(lks_look_text(k, f->component)), lks_bmc_outcome_words[f->outcome],
                text.len > 0 ? ": " : "", LKS_STR_ARG(text)));
}

/* Nothing runs on it, or it is asked again in a while, until its deadline. Where a gate wants to
 * know what its checks found before, they run now, and whatever came of that, it goes on. */
static void ended_leave(struct lks_deciding *d, const struct lks_look *k)
{
    const struct lks_state_command *c = command_of(k);
    if (is_executor(k, c, LKS_EXECUTOR_IDLE) && c->outcome == LKS_OUTCOME_DONE &&
        lks_gate_wants_before(k->s, k->c, k->m)) {
        command(d, k, acceptor(k), LKS_STR(""), LKS_MEMBER_READING);
        return;
    }
    if (c != NULL && (c->outcome == LKS_OUTCOME_DONE || !is_executor(k, c, LKS_EXECUTOR_IDLE))) {
        lks_campaign_member_advance(d, k);
        return;
    }
    if (c != NULL && c->outcome == LKS_OUTCOME_REFUSED) {
        failed(d, k, c);
        return;
    }
    struct lks_rec_member r = lks_campaign_member_record(k);
    r.attempt = k->m->attempt + 1;
    r.work = 0;
    r.text = c == NULL || lks_look_text(k, c->text).len == 0
                 ? LKS_STR("its agent did not find it empty")
                 : lks_decision_text(d, "its agent did not find it empty: %" LKS_STR_FMT,
                                     LKS_STR_ARG(lks_look_text(k, c->text)));
    lks_campaign_member_list(d, k, r);
}

/* The table --------------------------------------------------------------------------------- */

typedef struct lks_next when_fn(const struct lks_look *k);
typedef void act_fn(struct lks_deciding *d, const struct lks_look *k);

/* A step that a node's management endpoint carries out. */
#define BY_ENDPOINT                                                                                \
    {                                                                                              \
        when_endpoint, asked_endpoint, NULL, begin_flash, ended_flash, NULL,                       \
            lks_campaign_late_lost                                                                 \
    }

static const struct {
    when_fn *waits, *asked, *reads;
    act_fn *begin, *ended, *read, *late;
} kinds[LKS_DO_COUNT] = {
    [LKS_DO_STAGE] = BY_ENDPOINT,
    [LKS_DO_LEAVE] = {when_leave, asked_leave, reads_leave, begin_leave, ended_leave, NULL,
                      lks_campaign_late_leave},
    [LKS_DO_APPLY] = {when_agent, asked_agent, NULL, begin_apply, ended_apply, NULL,
                      lks_campaign_late_lost},
    [LKS_DO_FLASH] = BY_ENDPOINT,
    [LKS_DO_ACTIVATE] = BY_ENDPOINT,
    [LKS_DO_REBOOT] = {when_agent, asked_reboot, NULL, begin_reboot, ended_reboot, NULL,
                       lks_campaign_late_reboot},
    [LKS_DO_CHECK] = {when_checked, asked_agent, reads, begin_check, ended_check, read_check,
                      lks_campaign_late_check},
    [LKS_DO_ACCEPT] = {when_checked, asked_agent, reads, begin_check, ended_check, read_accept,
                       lks_campaign_late_check},
    [LKS_DO_RETURN] = {when_return, NULL, NULL, NULL, NULL, NULL, lks_campaign_late_check},
};

struct lks_next lks_campaign_step_next(const struct lks_look *k)
{
    if (k->step == NULL)
        return lks_next_at(lks_look_open(k) ? 0 : UINT64_MAX, LKS_NEXT_BEGIN);
    when_fn *in =
        k->m->state == LKS_MEMBER_ASKED ? kinds[k->step->kind].asked : kinds[k->step->kind].reads;
    if (k->m->state != LKS_MEMBER_WAITING)
        return in != NULL ? in(k) : lks_next_at(0, LKS_NEXT_LATE);
    if (!lks_look_open(k))
        return never;
    struct lks_next next = kinds[k->step->kind].waits(k);
    if (next.at < k->m->until)
        next.at = k->m->until;
    return next;
}

void lks_campaign_step_begin(struct lks_deciding *d, const struct lks_look *k)
{
    kinds[k->step->kind].begin(d, k);
}

void lks_campaign_step_ended(struct lks_deciding *d, const struct lks_look *k)
{
    kinds[k->step->kind].ended(d, k);
}

void lks_campaign_step_read(struct lks_deciding *d, const struct lks_look *k)
{
    kinds[k->step->kind].read(d, k);
}

void lks_campaign_step_late(struct lks_deciding *d, const struct lks_look *k)
{
    kinds[k->step->kind].late(d, k);
}
