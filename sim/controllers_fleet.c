#include "codec/format/hex.h"
#include "core/rows/command.h"
#include "core/state/state.h"
#include "sim/controllers.h"
#include "tests/facts.h"
#include "tests/tuples.h"

#include <inttypes.h>
#include <stdio.h>

/* Beginning ----------------------------------------------------------------------------------- */

/* The last third of the nodes serves. */
void ctl_fleet_write(struct ctl_world *w)
{
    static const char *const enforce[] = {"on", "warn", "observe"};
    size_t serve = lks_rng_below(&w->rng, LKS_COUNT(enforce));
    bool drains = ctl_chance(w, 40);
    uint32_t last = w->node_count - w->node_count / 3;
    struct lks_err err = {0};
    w->enforces[0] = ctl_chance(w, 90);
    w->enforces[1] = serve == 0;
    w->takes_deviations = ctl_chance(w, 70);
    lks_buf_init(&w->manifest_text, (size_t)1 << 20);
    lks_buf_addf(&w->manifest_text,
                 "%s---\nlockstep: 1\nkind: Fleet\nname: sim\npools:\n"
                 "  train: {posture: pre-training, enforce: '%s', stack: golden,\n"
                 "          on_drift: [alarm%s], deviations: %s}\n"
                 "  serve: {posture: online-inference, enforce: '%s', stack: golden}\n"
                 "nodes:\n  - {hosts: 'n[1-%u]', pool: train, class: hgx-h200-8}\n",
                 lks_test_node_stack, w->enforces[0] ? "on" : "warn", drains ? ", drain" : "",
                 w->takes_deviations ? "allow" : "refuse", enforce[serve], last);
    if (last < w->node_count)
        lks_buf_addf(&w->manifest_text, "  - {hosts: 'n[%u-%u]', pool: serve, class: hgx-h200-8}\n",
                     last + 1, w->node_count);
    for (uint32_t n = last; n < w->node_count; n++)
        w->nodes[n].serves = true;
    enum lks_code code = lks_manifest_parse("sim", lks_buf_view(&w->manifest_text),
                                            lks_test_facts(), NULL, &w->manifest, &err);
    ctl_require(w, code == LKS_OK, err.msg);
}

static void publish(struct ctl_world *w, struct ctl *c)
{
    const struct lks_stack *stack = &w->manifest.stacks[0];
    struct lks_store_blob blob = {.bytes = lks_str_from(lks_test_node_stack)};
    struct lks_err err = {0};
    LKS_ASSERT(lks_digest_text(blob.bytes, blob.digest, &err) == LKS_OK);
    struct lks_event event = {
        .kind = LKS_EVENT_PUBLISH,
        .by = CTL_BY,
        .reason = CTL_SAID,
        .publish = {.stack = stack, .manifest = lks_str_from(blob.digest)},
    };
    enum lks_code code = ctl_turn(w, c, &event, &blob);
    for (unsigned to = LKS_STEP_LAB; code == LKS_OK && to <= LKS_STEP_RELEASED; to++) {
        struct lks_event step = {.kind = LKS_EVENT_STEP, .by = LKS_STR("user:lee")};
        step.step.digest = lks_str_from(stack->digest);
        step.step.evidence = CTL_SAID;
        step.step.to = (enum lks_stack_step)to;
        code = ctl_turn(w, c, &step, NULL);
    }
    ctl_require(w, code == LKS_OK, "the stack is released");
}

static void enrol(struct ctl_world *w, struct ctl *c, uint32_t n)
{
    char token[LKS_DIGEST_SIZE], fingerprint[LKS_DIGEST_SIZE];
    struct lks_str name = lks_str_from(w->nodes[n].name);
    (void)snprintf(token, sizeof(token), "sha256:%064x", n + 1);
    (void)snprintf(fingerprint, sizeof(fingerprint), "sha256:%064x", n + 100);
    struct lks_event make = {
        .kind = LKS_EVENT_TOKEN,
        .by = CTL_BY,
        .reason = CTL_SAID,
        .name = name,
        .token = {.hash = lks_str_from(token),
                  .expires = lks_engine_now(c->engine, ctl_clock(w, c)).wall + LKS_SECOND},
    };
    struct lks_event use = {
        .kind = LKS_EVENT_ENROLL,
        .name = name,
        .certificate = {.token_hash = lks_str_from(token),
                        .fingerprint = lks_str_from(fingerprint),
                        .serial = LKS_STR("01"),
                        .expires = CTL_WALL + 24 * 3600 * LKS_SECOND},
    };
    if (ctl_turn(w, c, &make, NULL) == LKS_OK)
        ctl_require(w, ctl_turn(w, c, &use, NULL) == LKS_OK, "a node is enrolled");
}

/* The first leader has a fleet to make; a later one where that was lost with it. */
void ctl_fleet_begin(struct ctl_world *w, struct ctl *c)
{
    if (lks_engine_state(c->engine)->fleet_manifest != 0)
        return;
    struct lks_store_blob blob = {.bytes = lks_buf_view(&w->manifest_text)};
    struct lks_err err = {0};
    LKS_ASSERT(lks_digest_text(blob.bytes, blob.digest, &err) == LKS_OK);
    struct lks_event fleet = {
        .kind = LKS_EVENT_FLEET,
        .by = CTL_BY,
        .reason = CTL_SAID,
        .fleet = {.manifest = &w->manifest, .digest = lks_str_from(blob.digest), .accept = true},
    };
    if (lks_engine_state(c->engine)->stack_count == 0)
        publish(w, c);
    ctl_require(w, ctl_turn(w, c, &fleet, &blob) == LKS_OK, "the fleet is taken");
    for (uint32_t n = 0; n < w->node_count && !w->failed; n++)
        enrol(w, c, n);
}

/* Agents and their machines ------------------------------------------------------------------- */

static void report(struct ctl_world *w, struct ctl *c, uint32_t n, uint32_t node)
{
    struct ctl_node *t = &w->nodes[n];
    struct lks_tuple tuple = *ctl_tuple(t->variant);
    char text[64], boot[LKS_BOOT_TEXT_SIZE];
    struct lks_store_blob blob;
    struct lks_err err = {0};
    uint8_t bytes[16] = {(uint8_t)(n + 1)};
    lks_heartbeat_boot_text(bytes, boot);
    tuple.node = lks_str_from(t->name);
    tuple.boot_id = lks_str_from(boot);
    tuple.taken = (int64_t)((CTL_WALL + w->now) / LKS_SECOND);
    (void)snprintf(text, sizeof(text), "report %u of %s", ++t->reports, t->name);
    blob.bytes = lks_str_from(text);
    LKS_ASSERT(lks_digest_text(blob.bytes, blob.digest, &err) == LKS_OK);
    struct lks_event event = {
        .kind = LKS_EVENT_TUPLE,
        .node = node,
        .tuple = {.tuple = &tuple, .report = lks_str_from(blob.digest)},
    };
    (void)ctl_turn(w, c, &event, &blob);
}

/* Agents talk to whoever leads. */
void ctl_beat(struct ctl_world *w, uint32_t n)
{
    struct ctl_node *t = &w->nodes[n];
    struct ctl *c = ctl_leader(w);
    struct lks_beat b = {.protocol = LKS_BEAT_PROTOCOL, .seq = ++t->beats};
    struct lks_err err = {0};
    ctl_at(w, CTL_BEAT(n), w->now + CTL_HEARTBEAT);
    if (c == NULL || t->silent || (!w->calm && ctl_chance(w, 5)))
        return;
    const struct lks_state *s = lks_engine_state(c->engine);
    const char *digest = ctl_tuple(t->variant)->digest;
    uint32_t node = lks_state_node(s, lks_str_from(t->name));
    if (node == LKS_NO_NODE || !s->nodes[node].enrolled)
        return;
    b.boot[0] = (uint8_t)(n + 1);
    b.sent = CTL_WALL + w->now;
    LKS_ASSERT(lks_hex_read(lks_str_from(digest + strlen("sha256:")), b.tuple, LKS_HASH_BYTES));
    enum lks_code code = lks_engine_hear(c->engine, ctl_clock(w, c), node, &b, &err);
    ctl_require(w, code == LKS_OK || code == LKS_E_UNAVAILABLE, err.msg);
    if (!lks_str_is(lks_state_text(s, s->nodes[node].tuple), digest) ||
        lks_state_wants_tuple(s, node))
        report(w, c, n, node);
    ctl_plan(w, c);
}

/* Machines get other software, fall silent, and come back. */
void ctl_machine(struct ctl_world *w, uint32_t n)
{
    struct ctl_node *t = &w->nodes[n];
    ctl_at(w, CTL_MACHINE(n), w->now + ctl_between(w, 20 * LKS_SECOND, 90 * LKS_SECOND));
    if (w->calm)
        return;
    if (t->silent)
        t->silent = false;
    else if (ctl_chance(w, 40))
        t->silent = true;
    else
        t->variant = (unsigned)lks_rng_below(&w->rng, CTL_VARIANTS);
}

/* A change ------------------------------------------------------------------------------------ */

static struct lks_event about(const struct ctl_world *w, uint32_t n, enum lks_event_kind kind)
{
    return (struct lks_event){
        .kind = kind, .by = CTL_BY, .reason = CTL_SAID, .name = lks_str_from(w->nodes[n].name)};
}

static void say_condition(struct ctl_world *w, struct ctl *c, uint32_t n,
                          enum lks_condition condition, bool on)
{
    struct lks_event event = about(w, n, LKS_EVENT_CONDITION);
    event.condition.condition = condition;
    event.condition.on = on;
    event.condition.text = CTL_SAID;
    if (condition == LKS_CONDITION_CHANGING && on)
        event.condition.stack = lks_str_from(w->manifest.stacks[0].digest);
    (void)ctl_turn(w, c, &event, NULL);
}

/* A step begins by a command, which is refused until every yes that could name the node is over,
 * and until the node was read since then. */
static void command_step(struct ctl_world *w, struct ctl *c, uint32_t n)
{
    struct lks_event event = about(w, n, LKS_EVENT_COMMAND);
    event.command.executor = LKS_STR("noop");
    event.command.expires = lks_engine_now(c->engine, ctl_clock(w, c)).wall + 3600 * LKS_SECOND;
    if (ctl_turn(w, c, &event, NULL) == LKS_OK || c->engine == NULL)
        return;
    event.command.executor = LKS_STR("idle");
    (void)ctl_turn(w, c, &event, NULL);
}

/* What the node says of its commands. */
static void end_commands(struct ctl_world *w, struct ctl *c, uint32_t node)
{
    const struct lks_state *s = lks_engine_state(c->engine);
    for (uint32_t i = 0; i < s->command_count; i++) {
        if (s->commands[i].node != node || s->commands[i].ended)
            continue;
        struct lks_event event = {
            .kind = LKS_EVENT_RESULT,
            .node = node,
            .result = {.id = s->commands[i].id, .outcome = LKS_OUTCOME_DONE, .text = CTL_SAID},
        };
        (void)ctl_turn(w, c, &event, NULL);
    }
}

/* One node after the other is closed, changed when the time has come, and opened again: at random,
 * or, when all is calm, in turn, so that none is left over. */
void ctl_change(struct ctl_world *w)
{
    struct ctl *c = ctl_leader(w);
    uint32_t n = w->calm ? w->changed_last++ % w->node_count
                         : (uint32_t)lks_rng_below(&w->rng, w->node_count);
    ctl_at(w, CTL_CHANGE, w->now + ctl_between(w, LKS_SECOND, 4 * LKS_SECOND));
    if (c == NULL || lks_engine_state(c->engine)->placed_count == 0)
        return;
    struct ctl_node *t = &w->nodes[n];
    const struct lks_state *s = lks_engine_state(c->engine);
    uint32_t place = lks_state_node(s, lks_str_from(t->name));
    const struct lks_node *node = &s->nodes[place];
    if (t->stepped_until > w->now)
        return;
    if (t->truth.commands > 0) {
        end_commands(w, c, place);
    } else if (node->changing == 0 && !node->held) {
        if (!w->calm && ctl_chance(w, 30))
            say_condition(w, c, n, LKS_CONDITION_CHANGING, true);
    } else if (node->changing != 0 && (t->stepped_until != 0 || w->calm)) {
        t->stepped_until = 0;
        say_condition(w, c, n, LKS_CONDITION_CHANGING, false);
    } else if (!w->calm && node->pending == 0) {
        command_step(w, c, n);
    }
}

/* People -------------------------------------------------------------------------------------- */

static void say_unhealthy(struct ctl_world *w, struct ctl *c, uint32_t n)
{
    say_condition(w, c, n, LKS_CONDITION_UNHEALTHY, !w->nodes[n].truth.unhealthy);
}

static void hold(struct ctl_world *w, struct ctl *c, uint32_t n)
{
    bool on = !w->nodes[n].truth.held;
    struct lks_event event = about(w, n, on ? LKS_EVENT_HOLD : LKS_EVENT_RELEASE);
    if (!on)
        event.release.force = true;
    (void)ctl_turn(w, c, &event, NULL);
}

/* Most of them somebody else looks at. */
static void agree(struct ctl_world *w, struct ctl *c, uint32_t n, uint64_t id)
{
    struct lks_event may = about(w, n, LKS_EVENT_GRANT), event = may;
    may.grant.identity = event.by = LKS_STR("user:ann");
    may.grant.role = LKS_ROLE_APPROVER;
    event.kind = LKS_EVENT_DEVIATION_AGREE;
    event.deviation = id;
    if (ctl_turn(w, c, &may, NULL) == LKS_OK)
        (void)ctl_turn(w, c, &event, NULL);
}

static void deviate(struct ctl_world *w, struct ctl *c, uint32_t n)
{
    struct lks_event event = about(w, n, LKS_EVENT_DEVIATE);
    event.deviate.subject = LKS_STR("settings.ecc");
    event.deviate.owner = LKS_STR("user:kim");
    event.deviate.approver = LKS_STR("user:ann");
    event.deviate.expires = lks_engine_now(c->engine, ctl_clock(w, c)).wall +
                            ctl_between(w, 10 * LKS_SECOND, 100 * LKS_SECOND);
    uint64_t id = lks_engine_state(c->engine)->next_deviation;
    if (id < CTL_DEVIATIONS_MAX && ctl_turn(w, c, &event, NULL) == LKS_OK && id % 4 != 0)
        agree(w, c, n, id);
}

static void close_deviation(struct ctl_world *w, struct ctl *c, uint32_t n)
{
    struct lks_event event = about(w, n, LKS_EVENT_DEVIATION_CLOSE);
    event.name = LKS_STR("");
    for (uint64_t id = 1; id < CTL_DEVIATIONS_MAX; id++) {
        event.deviation = id;
        if (w->deviations[id] == n + 1)
            (void)ctl_turn(w, c, &event, NULL);
    }
}

/* Read out of band, by the management controller: what it says is so, or not, or no longer. */
static void read_outband(struct ctl_world *w, struct ctl *c, uint32_t n)
{
    struct lks_event event = about(w, n, LKS_EVENT_OUTBAND);
    struct lks_store_blob blob;
    struct lks_tuple tuple = *ctl_outband(ctl_chance(w, 40), &blob);
    tuple.node = lks_str_from(w->nodes[n].name);
    tuple.taken = (int64_t)(lks_engine_now(c->engine, ctl_clock(w, c)).wall / LKS_SECOND);
    if (!ctl_chance(w, 20)) {
        event.outband.tuple = &tuple;
        event.outband.report = lks_str_from(blob.digest);
    }
    (void)ctl_turn(w, c, &event, &blob);
}

/* At the end they open what they closed. */
static void tidy(struct ctl_world *w, struct ctl *c)
{
    for (uint32_t n = 0; n < w->node_count; n++) {
        if (w->nodes[n].truth.unhealthy)
            say_unhealthy(w, c, n);
        if (w->nodes[n].truth.held)
            hold(w, c, n);
    }
}

void ctl_person(struct ctl_world *w)
{
    static void (*const acts[])(struct ctl_world *, struct ctl *, uint32_t) = {
        say_unhealthy, hold, hold, deviate, deviate, close_deviation, read_outband, read_outband,
    };
    struct ctl *c = ctl_leader(w);
    size_t act = lks_rng_below(&w->rng, LKS_COUNT(acts));
    uint32_t n = (uint32_t)lks_rng_below(&w->rng, w->node_count);
    ctl_at(w, CTL_PERSON, w->now + ctl_between(w, LKS_SECOND, 15 * LKS_SECOND));
    if (c == NULL || lks_engine_state(c->engine)->placed_count == 0)
        return;
    if (w->calm)
        tidy(w, c);
    else
        acts[act](w, c, n);
}
