/* What commands and updates do to machines, how long they take, and what goes wrong. */
#include "core/campaign/campaign.h"
#include "core/rows/command.h"
#include "core/rows/flash.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "lab/rehearse/world.h"
#include "model/manifest/executor.h"
#include "model/manifest/fleet.h"

enum { BOOT_SECONDS = 10, LOOK_SECONDS = 10, READ_SECONDS = 20, SWEEP_SECONDS = 60, SLOW = 10 };

/* How long steps usually take, in minutes. What an endpoint does takes what the plan allows for. */
enum { APPLY_MINUTES = 8, IMAGE_MINUTES = 25, REBOOT_MINUTES = 7, ACCEPT_MINUTES = 8, CARE = 10 };
enum { REPAIR_HOURS = 2 }; /* until one that a person was called for starts again */

static const struct lks_state *state_of(const struct lks_world *w)
{
    return lks_engine_state(w->engine);
}

static lks_ms slowly(struct lks_world *w, lks_ms usual)
{
    lks_ms takes = lks_world_takes(w, usual);
    return lks_world_chance(w, w->faults.slow) ? takes * SLOW : takes;
}

/* A bad image is one where it is new: on the way there, and where it is bad. */
static bool is_bad(const struct lks_world *w, const struct world_machine *m,
                   enum lks_rehearse_bad way)
{
    return w->out->bad && m->bad && m->reached && w->out->way == way;
}

/* What a member was asked for ---------------------------------------------------------------- */

static const struct lks_member *asked(const struct lks_world *w, uint32_t node, uint64_t work,
                                      const struct lks_step **step)
{
    const struct lks_state_change *c = lks_world_change(w);
    const struct lks_member *m = lks_state_change_member(c, node);
    *step = m != NULL ? lks_member_step(c, m) : NULL;
    return m != NULL && m->work == work && *step != NULL ? m : NULL;
}

static bool changes(const struct lks_step *step)
{
    return step->kind == LKS_DO_APPLY || step->kind == LKS_DO_FLASH ||
           step->kind == LKS_DO_ACTIVATE;
}

/* The step is done, there or back: what the machine runs is another. */
static void arrive(struct lks_world *w, uint32_t node, const struct lks_member *m)
{
    const struct lks_recipe *r = &lks_world_change(w)->recipes[m->recipe];
    uint32_t stage = m->back ? m->step : m->step + 1;
    while (stage > 0 && !changes(&r->steps[stage - 1]))
        stage--;
    w->machines[node].stage = (uint16_t)stage;
}

/* The image comes to a node for the first time. */
static void reach(struct lks_world *w, uint32_t node, const struct lks_member *m)
{
    struct world_machine *machine = &w->machines[node];
    if (machine->reached || m->back)
        return;
    machine->reached = true;
    if (w->out->stopped)
        return;
    w->out->reached += state_of(w)->nodes[node].asset == 0;
    w->out->hurt += w->out->bad && machine->bad;
}

/* Saying it ---------------------------------------------------------------------------------- */

static void say_result(struct lks_world *w, uint32_t node, uint64_t id, enum lks_outcome outcome,
                       const char *text)
{
    (void)lks_world_turn(
        w,
        &(struct lks_event){.kind = LKS_EVENT_RESULT,
                            .node = node,
                            .result = {.id = id, .outcome = outcome, .text = lks_str_from(text)}},
        NULL);
}

static void say_tuple(struct lks_world *w, uint32_t node)
{
    const struct lks_state *s = state_of(w);
    const struct lks_member *m = lks_state_change_member(lks_world_change(w), node);
    if (m == NULL)
        return;
    struct lks_tuple tuple = *lks_world_tuple(w, m->from, m->recipe, w->machines[node].stage);
    bool asset = s->nodes[node].asset != 0;
    struct lks_event event = {.kind = asset ? LKS_EVENT_OUTBAND : LKS_EVENT_TUPLE};
    tuple.node = lks_state_name(s, node);
    tuple.boot_id = LKS_STR("");
    tuple.taken = (int64_t)(lks_world_now(w).wall / LKS_SECOND);
    if (asset) {
        event.name = tuple.node;
        event.outband.tuple = &tuple;
        event.outband.report = lks_str_from(tuple.digest);
    } else {
        event.node = node;
        event.tuple.tuple = &tuple;
        event.tuple.report = lks_str_from(tuple.digest);
    }
    (void)lks_world_turn(w, &event, NULL);
}

/* Commands ----------------------------------------------------------------------------------- */

static lks_ms takes_of(struct lks_world *w, uint32_t node, struct lks_str executor,
                       const struct lks_step *step)
{
    if (lks_str_is(executor, LKS_EXECUTOR_IDLE)) {
        lks_world_job_ask(w, node);
        return LOOK_SECONDS * LKS_SECOND;
    }
    if (lks_str_is(executor, LKS_EXECUTOR_INVENTORY))
        return lks_world_takes(w, READ_SECONDS * LKS_SECOND);
    if (step->kind == LKS_DO_REBOOT)
        return BOOT_SECONDS * LKS_SECOND;
    if (step->kind == LKS_DO_ACCEPT)
        return slowly(w, ACCEPT_MINUTES * WORLD_MINUTE);
    bool image = step->limit > WORLD_HOUR;
    return slowly(w, (image ? IMAGE_MINUTES : APPLY_MINUTES) * WORLD_MINUTE);
}

void lks_world_command(struct lks_world *w, const struct lks_rec_command *c)
{
    const struct lks_step *step = NULL;
    uint32_t node = lks_state_node(state_of(w), c->node);
    if (node == LKS_NO_NODE || w->machines[node].down || asked(w, node, c->id, &step) == NULL)
        return;
    lks_world_post(w, WORLD_EXECUTED, node, c->id, takes_of(w, node, c->executor, step));
}

static void go_down(struct lks_world *w, uint32_t node, bool for_good)
{
    struct world_machine *m = &w->machines[node];
    m->down = true;
    m->lost = for_good;
    if (for_good) {
        lks_world_tell(w, "%.*s does not come back",
                       LKS_STR_ARG(lks_state_name(state_of(w), node)));
        lks_engine_vouch(w->engine, node, w->now);
    } else {
        lks_world_post(w, WORLD_BOOTS, node, 0, slowly(w, REBOOT_MINUTES * WORLD_MINUTE));
    }
}

void lks_world_repair(struct lks_world *w, uint32_t node)
{
    struct world_machine *m = &w->machines[node];
    if (!m->lost)
        return;
    m->lost = false;
    lks_world_tell(w, "a person repairs %.*s", LKS_STR_ARG(lks_state_name(state_of(w), node)));
    lks_world_post(w, WORLD_BOOTS, node, 0, slowly(w, REPAIR_HOURS * WORLD_HOUR));
}

static bool kills(const struct lks_world *w, uint32_t node, const struct lks_member *m,
                  const struct lks_step *step)
{
    return changes(step) && !m->back && is_bad(w, &w->machines[node], LKS_BAD_DIES);
}

static enum lks_outcome carry_out(struct lks_world *w, uint32_t node, const struct lks_member *m,
                                  const struct lks_step *step)
{
    struct world_machine *machine = &w->machines[node];
    if (changes(step))
        reach(w, node, m);
    bool bad = !m->back && (is_bad(w, machine, LKS_BAD_STEP) && changes(step));
    bool fails = step->kind == LKS_DO_ACCEPT
                     ? is_bad(w, machine, LKS_BAD_ACCEPT) && machine->stage > 0
                     : bad;
    if (fails || lks_world_chance(w, w->faults.step))
        return LKS_OUTCOME_FAILED;
    if (changes(step))
        arrive(w, node, m);
    return LKS_OUTCOME_DONE;
}

static void executed(struct lks_world *w, uint32_t node, uint64_t id)
{
    const struct lks_step *step = NULL;
    const struct lks_member *m = asked(w, node, id, &step);
    const struct lks_state_command *c = lks_state_command(state_of(w), id);
    struct world_machine *machine = &w->machines[node];
    if (m == NULL || c == NULL || c->ended || machine->down)
        return;
    struct lks_str executor = lks_state_text(state_of(w), c->executor);
    if (lks_str_is(executor, LKS_EXECUTOR_IDLE)) {
        bool idle = lks_world_job_none(w, node);
        if (idle)
            lks_world_count_empty(w, node);
        say_result(w, node, id, idle ? LKS_OUTCOME_DONE : LKS_OUTCOME_FAILED,
                   idle ? "nothing runs" : "a job runs");
    } else if (lks_str_is(executor, LKS_EXECUTOR_INVENTORY)) {
        say_tuple(w, node);
        say_result(w, node, id, LKS_OUTCOME_DONE, "read");
    } else if (step->kind == LKS_DO_REBOOT) {
        bool dies = lks_world_chance(w, w->faults.lost);
        say_result(w, node, id, LKS_OUTCOME_DONE, "reboots");
        go_down(w, node, dies);
    } else {
        enum lks_outcome outcome = carry_out(w, node, m, step);
        if (kills(w, node, m, step))
            go_down(w, node, true); /* and does not live to tell */
        else
            say_result(w, node, id, outcome, outcome == LKS_OUTCOME_DONE ? "done" : "it failed");
    }
}

/* It is heard of in another boot, and reads itself. */
static void boots(struct lks_world *w, uint32_t node)
{
    struct world_machine *m = &w->machines[node];
    struct lks_beat beat = {.protocol = LKS_BEAT_PROTOCOL, .seq = 1, .sent = lks_world_now(w).wall};
    uint64_t words[2] = {UINT64_C(0x7265686561727365) ^ node, ++m->boot};
    memcpy(beat.boot, words, sizeof(beat.boot));
    m->down = false;
    if (lks_engine_hear(w->engine, lks_world_now(w), node, &beat, w->err) != LKS_OK)
        lks_world_break(w, w->err->code, w->err->msg);
    lks_engine_vouch(w->engine, node, UINT64_MAX / 2);
    say_tuple(w, node);
}

/* What the plan says of jobs on a node that leaves. One that was made here knew of no scheduler,
 * and the pool says it. */
struct lks_drain_rule lks_world_leave_rule(const struct lks_world *w, uint32_t node)
{
    const struct lks_state *s = state_of(w);
    const struct lks_state_change *c = lks_world_change(w);
    const struct lks_member *m = lks_state_change_member(c, node);
    const struct lks_step *step = m != NULL ? lks_member_step(c, m) : NULL;
    struct lks_drain_rule rule = {.jobs = LKS_DRAIN_JOBS_WAIT};
    if (step == NULL || step->kind != LKS_DO_LEAVE || s->nodes[node].pool >= s->pool_count)
        return rule;
    if (w->wished) {
        const struct lks_book *book = lks_engine_book(w->engine);
        const struct lks_state_pool *pool = &s->pools[s->nodes[node].pool];
        const struct lks_fleet *fleet = lks_book_fleet(book);
        struct lks_str name = lks_state_text(s, pool->name);
        rule = lks_drain_rule(book->facts, lks_state_text(s, pool->posture));
        return lks_drain_rule_jobs(&rule, fleet != NULL ? lks_fleet_find_pool(fleet, name) : NULL);
    }
    rule.jobs = step->jobs;
    rule.grace = step->grace;
    return rule;
}

bool lks_world_running(const struct lks_world *w)
{
    return lks_world_change(w)->state == LKS_CHANGE_RUNNING;
}

/* Endpoints ---------------------------------------------------------------------------------- */

/* The plan allows twice what the table says, and ten minutes more. */
void lks_world_flash(struct lks_world *w, const struct lks_rec_flash *f)
{
    const struct lks_step *step = NULL;
    uint32_t node = lks_state_node(state_of(w), f->node);
    if (node == LKS_NO_NODE || asked(w, node, f->id, &step) == NULL)
        return;
    lks_ms limit = step->limit > CARE * WORLD_MINUTE ? step->limit - CARE * WORLD_MINUTE : 0;
    lks_ms usual = limit > 0 ? limit * 2 / 5 : WORLD_MINUTE;
    lks_world_post(w, WORLD_FLASHED, node, f->id,
                   f->act == LKS_BMC_ABORT ? LKS_SECOND : slowly(w, usual));
}

static enum lks_bmc_outcome flash_outcome(struct lks_world *w, uint32_t node,
                                          const struct lks_member *m, enum lks_bmc_act act)
{
    struct world_machine *machine = &w->machines[node];
    if (act == LKS_BMC_ABORT)
        return LKS_BMC_DONE;
    if (act != LKS_BMC_STAGE)
        reach(w, node, m);
    if (lks_world_chance(w, w->faults.brick))
        return LKS_BMC_UNKNOWN;
    if (lks_world_chance(w, w->faults.endpoint) ||
        (!m->back && act != LKS_BMC_STAGE && is_bad(w, machine, LKS_BAD_STEP)))
        return LKS_BMC_FAILED;
    if (act == LKS_BMC_STAGE)
        return LKS_BMC_STAGED;
    arrive(w, node, m);
    return LKS_BMC_DONE;
}

static void flashed(struct lks_world *w, uint32_t node, uint64_t id)
{
    const struct lks_state *s = state_of(w);
    const struct lks_state_flash *f = lks_state_flash(s, id);
    const struct lks_step *step = NULL;
    const struct lks_member *m = asked(w, node, id, &step);
    if (f == NULL || f->outcome != LKS_BMC_OPEN || m == NULL)
        return;
    enum lks_bmc_outcome outcome = flash_outcome(w, node, m, f->act);
    bool silent = outcome == LKS_BMC_UNKNOWN;
    bool dies = outcome == LKS_BMC_DONE && kills(w, node, m, step);
    struct lks_event event = {
        .kind = LKS_EVENT_FLASH_ENDED,
        .flash_ended = {.id = id,
                        .outcome = outcome,
                        .found = silent ? LKS_STR("") : LKS_STR("as rehearsed"),
                        .text = silent ? LKS_STR("the endpoint does not answer")
                                       : LKS_STR("as rehearsed"),
                        .uploads = 1},
    };
    (void)lks_world_turn(w, &event, NULL);
    if (dies && s->nodes[node].asset == 0)
        go_down(w, node, true);
    if (s->nodes[node].asset != 0)
        lks_world_post(w, WORLD_SWEPT, node, 0, lks_world_takes(w, SWEEP_SECONDS * LKS_SECOND));
}

void lks_world_deliver(struct lks_world *w, const struct lks_message *m)
{
    static void (*const kinds[])(struct lks_world *, uint32_t, uint64_t) = {
        [WORLD_EXECUTED] = executed,
        [WORLD_FLASHED] = flashed,
    };
    if (m->kind == WORLD_BOOTS)
        boots(w, m->node);
    else if (m->kind == WORLD_SWEPT)
        say_tuple(w, m->node);
    else if (m->kind == WORLD_JOB_ENDS)
        lks_world_job_ends(w, (uint32_t)m->number);
    else if (m->kind == WORLD_LISTED_ENDS)
        lks_world_listed_stop(w, (uint32_t)m->number);
    else if (m->kind < LKS_COUNT(kinds) && kinds[m->kind] != NULL)
        kinds[m->kind](w, m->node, m->number);
}
