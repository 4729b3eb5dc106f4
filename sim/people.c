#include "core/entity/settable.h"
#include "core/rows/alarm.h"
#include "core/rows/registry.h"
#include "core/state/state.h"
#include "sim/world.h"
#include "tests/facts.h"
#include "tests/tuples.h"

#include <inttypes.h>

#define BY     LKS_STR("user:kim")
#define REASON LKS_STR("as simulated")

static void draw_limits(struct sim *s, struct lks_limits *limits)
{
    *limits = lks_limits_default;
    limits->mass_floor = 1 + lks_rng_below(&s->rng, 5);
    limits->mass_percent = 2 + lks_rng_below(&s->rng, 30);
    limits->mass_window = sim_between(s, 60, 600) * LKS_SECOND;
    if (s->agent_count > 1000) {
        limits->mass_floor = lks_limits_default.mass_floor;
        limits->mass_percent = lks_limits_default.mass_percent;
    }
}

/* A third of the nodes, rounded down, is in the second pool. */
static void write_manifest(struct sim *s)
{
    struct lks_err err = {0};
    uint32_t last = s->agent_count - s->agent_count / 3;
    lks_buf_init(&s->manifest_text, (size_t)1 << 20);
    lks_buf_add(&s->manifest_text, lks_str_from(lks_test_node_stack));
    lks_buf_addf(&s->manifest_text,
                 "---\nlockstep: 1\nkind: Fleet\nname: sim\n"
                 "pools:\n"
                 "  train: {posture: pre-training, stack: golden}\n"
                 "  serve: {posture: online-inference, stack: golden}\n"
                 "nodes:\n"
                 "  - {hosts: 'n[%06u-%06" PRIu32 "]', pool: train, class: hgx-h200-8}\n",
                 1U, last);
    if (last < s->agent_count)
        lks_buf_addf(&s->manifest_text,
                     "  - {hosts: 'n[%06" PRIu32 "-%06" PRIu32 "]', pool: serve, "
                     "class: hgx-h200-8}\n",
                     last + 1, s->agent_count);
    struct lks_str text = lks_buf_view(&s->manifest_text);
    enum lks_code code =
        lks_manifest_parse("sim", text, lks_test_facts(), NULL, &s->manifest, &err);
    if (code == LKS_OK)
        code = lks_digest_text(text, s->manifest_digest, &err);
    sim_require(s, code == LKS_OK, err.msg);
}

/* Production pools take released stacks only. After a crash this goes on where the journal ends. */
static void release_stack(struct sim *s, const struct lks_store_blob *blob)
{
    const struct lks_stack *stack = &s->manifest.stacks[0];
    struct lks_str digest = lks_str_from(stack->digest);
    struct lks_event publish = {
        .kind = LKS_EVENT_PUBLISH,
        .by = BY,
        .publish = {.stack = stack, .manifest = lks_str_from(s->manifest_digest)},
    };
    sim_require(s, sim_controller_turn(s, &publish, blob), "the stack is published");
    const struct lks_state_stack *known = lks_state_stack(lks_engine_state(s->engine), digest);
    enum lks_stack_step step = known != NULL ? known->step : LKS_STEP_RELEASED;
    while (step < LKS_STEP_RELEASED) {
        struct lks_event promote = {
            .kind = LKS_EVENT_STEP,
            .by = LKS_STR("user:ann"),
            .step = {.digest = digest, .to = ++step, .evidence = REASON},
        };
        sim_require(s, sim_controller_turn(s, &promote, NULL), "the stack is promoted");
    }
}

void sim_person_starts(struct sim *s)
{
    struct lks_event limits = {.kind = LKS_EVENT_LIMITS, .by = BY};
    draw_limits(s, &limits.limits);
    sim_require(s, sim_controller_turn(s, &limits, NULL), "limits are taken");
    if (s->manifest_text.len == 0)
        write_manifest(s);
    struct lks_store_blob blob = {.bytes = lks_buf_view(&s->manifest_text)};
    memcpy(blob.digest, s->manifest_digest, sizeof(blob.digest));
    release_stack(s, &blob);
    struct lks_event fleet = {
        .kind = LKS_EVENT_FLEET,
        .by = BY,
        .reason = REASON,
        .fleet = {.manifest = &s->manifest,
                  .digest = lks_str_from(s->manifest_digest),
                  .accept = lks_rng_percent(&s->rng, 50)},
    };
    sim_require(s, sim_controller_turn(s, &fleet, &blob), "the fleet is taken");
}

/* A token is carried to the node by hand, once the controller said yes. */
void sim_person_enrols(struct sim *s, uint32_t agent)
{
    struct sim_agent *a = &s->agents[agent];
    char hash[LKS_DIGEST_SIZE];
    if (a->certificate != 0)
        return;
    if (s->engine == NULL) {
        sim_post(s, (struct sim_message){.kind = SIM_PERSON, .agent = agent, .number = 1},
                 10 * LKS_SECOND);
        return;
    }
    uint64_t number = s->token_count + 1;
    sim_digest(hash, "token", number);
    struct lks_event event = {
        .kind = LKS_EVENT_TOKEN,
        .by = BY,
        .reason = REASON,
        .name = lks_str_from(a->name),
        .token = {.hash = lks_str_from(hash),
                  .expires = lks_engine_now(s->engine, sim_now(s)).wall + 3600 * LKS_SECOND},
    };
    s->tokens = sim_grow(s->tokens, number, &s->token_room, sizeof(s->tokens[0]));
    s->tokens[number] = (struct sim_token){.agent = agent};
    s->token_count = number;
    if (!sim_controller_turn(s, &event, NULL)) {
        sim_post(s, (struct sim_message){.kind = SIM_PERSON, .agent = agent, .number = 1},
                 10 * LKS_SECOND);
        return;
    }
    a->token = number;
    a->impostor_tried = false;
    if (a->up && a->waiting == 0)
        sim_agent_poke(s, agent);
}

static void release_alarms(struct sim *s, unsigned percent)
{
    const struct lks_state *state = lks_engine_state(s->engine);
    for (uint32_t i = 0; i < state->alarm_count && !s->broken; i++) {
        if (state->alarms[i].released != 0 || !lks_rng_percent(&s->rng, percent))
            continue;
        struct lks_event event = {
            .kind = LKS_EVENT_ALARM_RELEASE,
            .by = BY,
            .reason = REASON,
            .alarm = state->alarms[i].id,
        };
        (void)sim_controller_turn(s, &event, NULL);
        if (s->engine == NULL)
            return;
    }
}

/* False: there is no column that people set. */
static bool draw_value(struct sim *s, struct lks_event *event)
{
    static const char *const values[] = {"", "kim", "OPS-4711"};
    const char *column = lks_settable_node_words[0];
    event->set.value = lks_str_from(values[lks_rng_below(&s->rng, LKS_COUNT(values))]);
    if (column != NULL)
        event->set.column = lks_str_from(column);
    return column != NULL;
}

void sim_person_acts(struct sim *s)
{
    static const enum lks_event_kind kinds[] = {
        LKS_EVENT_HOLD,    LKS_EVENT_RELEASE, LKS_EVENT_RELEASE, LKS_EVENT_COMMAND,
        LKS_EVENT_COMMAND, LKS_EVENT_COMMAND, LKS_EVENT_REPLACE, LKS_EVENT_NODE_SET,
    };
    uint32_t agent = (uint32_t)lks_rng_below(&s->rng, s->agent_count);
    struct lks_event event = {
        .kind = kinds[lks_rng_below(&s->rng, LKS_COUNT(kinds))],
        .by = BY,
        .reason = REASON,
        .name = lks_str_from(s->agents[agent].name),
    };
    lks_ms life = sim_between(s, 5, 300) * LKS_SECOND;
    if (event.kind == LKS_EVENT_REPLACE && !lks_rng_percent(&s->rng, 20))
        return;
    if (event.kind == LKS_EVENT_RELEASE)
        event.release.force = lks_rng_percent(&s->rng, 50);
    if (event.kind == LKS_EVENT_COMMAND) {
        event.command.executor =
            lks_rng_percent(&s->rng, 70) ? LKS_STR("inventory") : LKS_STR("noop");
        event.command.expires = lks_engine_now(s->engine, sim_now(s)).wall + life;
    }
    if (event.kind == LKS_EVENT_NODE_SET && !draw_value(s, &event))
        return;
    bool yes = sim_controller_turn(s, &event, NULL);
    if (yes && event.kind == LKS_EVENT_REPLACE) { /* it is another machine now */
        s->agents[agent].ever_heard = false;
        s->agents[agent].excused = s->next_certificate; /* also where it is still on its way */
    }
    if (s->engine != NULL)
        release_alarms(s, 30);
}

void sim_person_tidies(struct sim *s)
{
    release_alarms(s, 100);
}
