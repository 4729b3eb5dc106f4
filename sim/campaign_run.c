/* One seed, from its beginning to its end. */
#include "core/actions/sched_book.h"
#include "sim/campaign.h"

#include "tests/facts.h"

#include <stdlib.h>

#define STEPS_MAX UINT64_C(400000000)
#define STILL_MAX 200000 /* messages within one millisecond */
#define PATIENCE  (120 * CAM_HOUR)

/* Each evil is there at all or not, and then as strong as chance has it. */
static unsigned draw(struct cam *w, unsigned most)
{
    return lks_rng_percent(&w->rng, 50) ? 1 + (unsigned)lks_rng_below(&w->rng, most) : 0;
}

/* What a large fleet has of everything, so that its changes go on. */
static const struct cam_weather usual = {
    .loss = 1,
    .doubling = 1,
    .late = 1,
    .delay_max = 200,
    .power_cuts = 1,
    .reboots = 1,
    .agent_stops = 1,
    .jobs = 600,
};

static void draw_weather(struct cam *w)
{
    w->kind = lks_rng_percent(&w->rng, 8);
    if (w->kind) {
        w->weather = (struct cam_weather){.delay_max = 50, .jobs = 20};
        return;
    }
    w->weather = (struct cam_weather){
        .loss = draw(w, 20),
        .doubling = draw(w, 20),
        .late = draw(w, 5),
        .delay_max = lks_rng_below(&w->rng, 2000),
        .crash = draw(w, 30),
        .power_cuts = draw(w, 2),
        .disk_full = draw(w, 2),
        .persons = draw(w, 25),
        .reboots = draw(w, 100),
        .agent_stops = draw(w, 100),
        .step_fails = draw(w, 20),
        .step_lies = draw(w, 10),
        .bmc_silent = draw(w, 10),
        .bmc_fails = draw(w, 20),
        .bmc_lies = draw(w, 20),
        .bmc_bricks = draw(w, 5),
        .bmc_forgets = draw(w, 10),
        .jobs = draw(w, 60),
        .endless = draw(w, 10),
        .stray = draw(w, 15),
        .sched_deaf = draw(w, 15),
        .foreign = draw(w, 50),
    };
}

void cam_init(struct cam *w, uint64_t seed, uint32_t nodes)
{
    enum { NODES_MAX = 9 };
    struct lks_err err = {0};
    uint8_t chance[LKS_KEY_BYTES] = {1, 2, 3};
    *w = (struct cam){.seed = seed, .rng.state = seed, .tick_at = UINT64_MAX};
    w->disk = lks_memory_disk_new();
    LKS_ASSERT(w->disk != NULL && lks_key_make(chance, &w->key, &err) == LKS_OK);
    w->heartbeat = nodes > 0 ? 30 * LKS_SECOND : cam_between(w, 30, 90) * LKS_SECOND;
    w->redfish = nodes == 0 && lks_rng_percent(&w->rng, 10);
    w->options = (struct lks_engine_options){
        .facts = lks_test_facts(),
        .key = &w->key,
        .version = "1.2.3",
        .journal = "00112233445566778899aabbccddeeff",
        .seed = 7,
    };
    if (nodes > 0)
        w->weather = usual;
    else
        draw_weather(w);
    cam_fleet_draw(w, nodes > 0 ? nodes : 2 + (uint32_t)lks_rng_below(&w->rng, NODES_MAX - 1));
    if (w->kind || nodes > 0)
        w->badness = CAM_GOOD;
    cam_gates_draw(w);
    cam_doom_draw(w);
    cam_spread_draw(w);
    cam_slurm_draw(w);
    cam_bridge_draw(w);
    cam_second_draw(w);
    for (uint32_t i = 0; i < w->nodes && w->redfish; i++)
        cam_redfish_init(w, i);
    w->model.folds = w->nodes < CAM_FLEET_LARGE;
    if (w->model.folds)
        LKS_ASSERT(lks_state_init(&w->model.state, 7, &err) == LKS_OK);
}

void cam_fini(struct cam *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        cam_redfish_fini(&w->machines[i]);
        lks_at_most_once_fini(&w->machines[i].once);
    }
    cam_control_fini(w);
    cam_rows_fini(w);
    cam_slurm_fini(w);
    cam_bridge_fini(w);
    cam_second_fini(w);
    lks_queue_fini(&w->queue);
    free(w->machines);
    free(w->commands);
    free(w->orders);
    free(w->flashes);
    w->machines = NULL;
    w->count = 0;
}

/* What falls upon the fleet, and when. */
static void plan_evil(struct cam *w, lks_ms storm)
{
    const struct {
        enum cam_kind kind;
        unsigned count;
    } evils[] = {
        {CAM_POWER_CUT, w->weather.power_cuts},
        {CAM_DISK, w->weather.disk_full},
        {CAM_PERSON, w->weather.persons},
        {CAM_SNAPSHOT, 3},
    };
    for (size_t i = 0; i < LKS_COUNT(evils); i++)
        for (unsigned n = 0; n < evils[i].count; n++)
            cam_post(w, (struct lks_message){.kind = evils[i].kind}, cam_between(w, 1, storm));
    for (uint32_t i = 0; i < w->nodes; i++) {
        if (lks_rng_percent(&w->rng, w->weather.reboots))
            cam_post(w, (struct lks_message){.kind = CAM_FAULT, .node = i},
                     cam_between(w, 1, storm));
        if (lks_rng_percent(&w->rng, w->weather.agent_stops))
            cam_post(w, (struct lks_message){.kind = CAM_AGENT, .node = i, .life = UINT32_MAX},
                     cam_between(w, 1, storm));
    }
    cam_post(w, (struct lks_message){.kind = CAM_PERSON, .number = CAM_PERSON_MANAGES},
             2 * CAM_MINUTE);
    if (w->weather.jobs > 0)
        cam_post(w, (struct lks_message){.kind = CAM_JOB_ASKS}, LKS_SECOND);
    cam_slurm_plan(w, storm);
    cam_bridge_plan(w, storm);
}

static void fill_disk(struct cam *w, bool full)
{
    w->disk_full = full;
    lks_memory_disk_fail(w->disk, full ? LKS_MEMORY_FULL : LKS_MEMORY_NO_CRASH, 0);
    cam_say(w, "the disk %s", full ? "is full" : "has room");
    if (full)
        cam_post(w, (struct lks_message){.kind = CAM_DISK, .number = 1},
                 cam_between(w, LKS_SECOND, 5 * CAM_MINUTE));
}

static void deliver_person(struct cam *w, const struct lks_message *m)
{
    if (m->number == CAM_PERSON_MANAGES)
        cam_person_manages(w);
    else if (m->number == CAM_PERSON_WORKS)
        cam_hands_work(w);
    else if (m->number == CAM_PERSON_FREEZES)
        cam_spread_freezes(w, m->node, m->value != 0);
    else if (m->number == CAM_PERSON_PAIRS)
        cam_hands_pair(w, m->node, m->value);
    else
        cam_person_meddles(w);
}

/* For machines, and for the world. */
static void deliver_world(struct cam *w, const struct lks_message *m)
{
    if (m->kind == CAM_POWER_CUT)
        cam_control_crash(w);
    else if (m->kind == CAM_RESTART)
        cam_control_start(w);
    else if (m->kind == CAM_DISK)
        fill_disk(w, m->number == 0);
    else if (m->kind == CAM_PERSON)
        deliver_person(w, m);
    else if (m->kind == CAM_SNAPSHOT && w->engine != NULL)
        cam_control_snapshot(w);
    else if (m->kind == CAM_BMC_ASKED)
        cam_bmc_asked(w, m);
    else if (m->kind == CAM_BMC_ENDED)
        cam_bmc_ended(w, m);
    else if (m->kind == CAM_JOB_ASKS)
        cam_job_asks(w);
    else if (m->kind == CAM_JOB_BEGINS)
        cam_job_begins(w, m);
    else if (m->kind == CAM_JOB_ENDS)
        cam_job_ends(w, m);
    else if (m->kind == CAM_SLURM)
        cam_slurm_event(w, m);
    else if (m->kind == CAM_BRIDGE)
        cam_bridge_event(w, m);
    else if (m->kind == CAM_FAULT && w->machines[m->node].up)
        cam_machine_down(w, m->node, "restarts by itself");
}

static void deliver_agent(struct cam *w, const struct lks_message *m)
{
    const struct cam_machine *to = &w->machines[m->node];
    if (m->kind == CAM_BEAT_ANSWER && m->value == 0)
        return; /* there is nothing for it */
    if (to->life != m->life && m->life != UINT32_MAX)
        return;
    if (m->kind == CAM_AGENT)
        cam_agent_turn(w, m->node);
    else if (m->kind == CAM_BOOT)
        cam_machine_boot(w, m->node);
    else if (!to->agent_up)
        return;
    else if (m->kind == CAM_BEAT)
        cam_agent_beat(w, m->node);
    else if (m->kind == CAM_BEAT_ANSWER)
        cam_send(w, (struct lks_message){.kind = CAM_FETCH, .node = m->node, .life = m->life});
    else if (m->kind == CAM_FETCHED)
        cam_agent_fetched(w, m->node, m);
    else if (m->kind == CAM_PUSHED)
        cam_agent_pushed(w, m->node, m->number);
    else if (m->kind == CAM_AGAIN)
        cam_agent_again(w, m->node, m->number);
    else if (m->kind == CAM_EXECUTED)
        cam_agent_executed(w, m->node, m->number);
}

/* What travels to lockstepd, whichever life it is in. */
static void deliver_request(struct cam *w, const struct lks_message *m)
{
    if (w->engine == NULL)
        return;
    if (m->kind == CAM_HEARD)
        cam_control_hear(w, m);
    else if (m->kind == CAM_FETCH)
        cam_control_fetch(w, m);
    else
        cam_control_push(w, m);
}

/* The next time that a node which nothing wants is asked about is posted first. */
static void deliver_sched(struct cam *w, const struct lks_message *m)
{
    if (m->value != 0)
        cam_post(w, *m, LKS_SCHED_REFRESH);
    cam_sched_acts(w, m->node, m->value != 0);
}

/* Timers and answers of one of its lives. */
static void deliver_control(struct cam *w, const struct lks_message *m)
{
    if (w->engine == NULL || m->life != w->life)
        return;
    if (m->kind == CAM_TICK) {
        cam_gates_measure(w);
        cam_control_tick(w, m->number);
    } else if (m->kind == CAM_TAKE)
        cam_control_take(w);
    else if (m->kind == CAM_COMMIT)
        cam_control_commit(w);
    else if (m->kind == CAM_TALK)
        cam_talk_go(w, m);
    else if (m->kind == CAM_BMC_SAID)
        cam_talk_said(w, m);
    else if (m->kind == CAM_SWEEP_READ)
        cam_sweep(w, m->node);
    else if (m->kind == CAM_SCHED_ACTS)
        deliver_sched(w, m);
    else if (m->kind == CAM_ASK)
        cam_asks_go(w, m);
    else if (m->kind == CAM_SECOND_ACTS)
        cam_second_acts(w, m->node);
}

enum who { WORLD, AGENT, REQUEST, CONTROL };
static const enum who recipients[CAM_KINDS] = {
    [CAM_TICK] = CONTROL,        [CAM_TAKE] = CONTROL,       [CAM_COMMIT] = CONTROL,
    [CAM_BEAT] = AGENT,          [CAM_HEARD] = REQUEST,      [CAM_BEAT_ANSWER] = AGENT,
    [CAM_FETCH] = REQUEST,       [CAM_FETCHED] = AGENT,      [CAM_PUSH] = REQUEST,
    [CAM_PUSHED] = AGENT,        [CAM_AGAIN] = AGENT,        [CAM_EXECUTED] = AGENT,
    [CAM_AGENT] = AGENT,         [CAM_BOOT] = AGENT,         [CAM_TALK] = CONTROL,
    [CAM_BMC_SAID] = CONTROL,    [CAM_SWEEP_READ] = CONTROL, [CAM_SCHED_ACTS] = CONTROL,
    [CAM_SECOND_ACTS] = CONTROL, [CAM_ASK] = CONTROL,
};

static void step(struct cam *w, const struct lks_message *m)
{
    static void (*const deliver[])(struct cam *, const struct lks_message *) = {
        [WORLD] = deliver_world,
        [AGENT] = deliver_agent,
        [REQUEST] = deliver_request,
        [CONTROL] = deliver_control,
    };
    w->still = m->due == w->now ? w->still + 1 : 0;
    cam_require(w, w->still < STILL_MAX, "promise 11", "nothing is done over and over");
    w->now = m->due;
    w->delivered++;
    cam_mix(w, m->due << 20 ^ m->number << 8 ^ (uint64_t)m->kind ^ (uint64_t)m->node << 40);
    deliver[recipients[m->kind]](w, m);
    cam_live_check(w);
    if (w->delivered % CAM_SWEEP == 0)
        cam_check_all(w);
    if (w->look != NULL)
        w->look(w);
}

static void run_until(struct cam *w, lks_ms end)
{
    struct lks_message m;
    while (!w->broken && (w->enough == 0 || w->delivered < w->enough) && cam_next(w, end, &m)) {
        step(w, &m);
        cam_require(w, w->delivered < STEPS_MAX, "promise 11", "a run comes to its end");
    }
    w->now = w->enough == 0 ? end : w->now;
}

static void calm_down(struct cam *w)
{
    cam_say(w, "the weather is calm");
    w->calm = true;
    w->sched_down = 0;
    cam_slurm_calm(w);
    cam_bridge_calm(w);
    w->weather = (struct cam_weather){.delay_max = 20, .jobs = w->weather.jobs / 4};
    if (w->disk_full)
        fill_disk(w, false);
    for (uint32_t i = 0; i < w->count; i++) {
        struct cam_machine *m = &w->machines[i];
        m->stray = m->deaf = m->bmc.silent = m->sched_missing = false;
        cam_sched_other(w, i, false);
    }
    cam_jobs_calm(w);
}

void cam_begin(struct cam *w)
{
    w->setting_up = true;
    cam_control_start(w);
    cam_setup(w);
    cam_asks_begin(w);
}

void cam_storm(struct cam *w, lks_ms storm)
{
    plan_evil(w, storm);
    run_until(w, w->now + storm);
}

void cam_run(struct cam *w, lks_ms storm)
{
    struct lks_err why = {0};
    cam_begin(w);
    cam_storm(w, storm);
    if (w->broken)
        return;
    calm_down(w);
    lks_ms end = w->now + PATIENCE;
    do
        run_until(w, w->now + 10 * CAM_MINUTE);
    while (!w->broken && w->now < end && !cam_is_settled(w, &why));
    cam_check_end(w);
}
