#include "core/gate/gate.h"
#include "core/rows/command.h"
#include "core/state/state.h"
#include "sim/world.h"
#include "tests/tuples.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Tuples --------------------------------------------------------------------------------------- */

static struct lks_tuple tuples[SIM_VARIANTS][SIM_BOARDS];

const struct lks_tuple *sim_tuple(unsigned variant, unsigned board)
{
    static const char *const variants[SIM_VARIANTS] = {
        "", "driver=570.86.15\n", "kernel=6.8.0-40-generic\n", "settings.ecc@gpu *=false\n"};
    struct lks_tuple *t = &tuples[variant][board];
    if (t->readings == NULL) {
        char changes[256];
        (void)snprintf(changes, sizeof(changes), "%splatform.serial=board-%u\n", variants[variant],
                       board);
        lks_test_tuple_with(lks_test_node, changes, t);
    }
    return t;
}

void sim_tuple_digest(unsigned variant, unsigned board, uint8_t out[LKS_HASH_BYTES])
{
    const char *hex = sim_tuple(variant, board)->digest + strlen("sha256:");
    for (unsigned i = 0; i < LKS_HASH_BYTES; i++) {
        uint64_t byte = 0;
        LKS_ASSERT(lks_str_hex((struct lks_str){hex + 2 * (size_t)i, 2}, 255, &byte));
        out[i] = (uint8_t)byte;
    }
}

void sim_tuples_free(void)
{
    for (unsigned v = 0; v < SIM_VARIANTS; v++)
        for (unsigned b = 0; b < SIM_BOARDS; b++)
            lks_tuple_fini(&tuples[v][b]);
}

/* Turns ---------------------------------------------------------------------------------------- */

/* A turn may have made something due earlier, or left rows to write. */
static void follow_up(struct sim *s)
{
    lks_ms next = lks_engine_next(s->engine);
    if (next < s->tick_at) {
        s->tick_at = next > s->mono ? next : s->mono;
        sim_post(s, (struct sim_message){.kind = SIM_TICK, .life = s->life, .number = s->tick_at},
                 s->tick_at - s->mono);
    }
    bool pending = lks_engine_seq(s->engine) > lks_engine_durable_seq(s->engine);
    if (pending && !s->writing && !s->take_posted) {
        s->take_posted = true;
        sim_post(s, (struct sim_message){.kind = SIM_TAKE, .life = s->life},
                 lks_rng_below(&s->rng, 20));
    }
}

static enum lks_code turn(struct sim *s, const struct lks_event *event,
                          const struct lks_store_blob *blob, uint64_t *needs, struct lks_err *err)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    uint64_t before = lks_engine_seq(s->engine);
    lks_decision_init(&d);
    bool more = false;
    enum lks_code code = lks_engine_turn(s->engine, sim_now(s), event, blob, &d, needs, err);
    if (code == LKS_OK) {
        sim_require(s, *needs == before + (d.refused.code == LKS_OK ? d.count : 0),
                    "an answer needs every row it rests on");
        sim_check_turn(s);
        more = d.more;
        code = d.refused.code;
        *err = d.refused;
    } else {
        sim_require(s, code == LKS_E_UNAVAILABLE, err->msg);
    }
    struct lks_event tick = {.kind = LKS_EVENT_TICK};
    if (more && event->kind == LKS_EVENT_TICK)
        return turn(s, &tick, NULL, needs, err);
    follow_up(s);
    return code;
}

bool sim_controller_turn(struct sim *s, const struct lks_event *event,
                         const struct lks_store_blob *blob)
{
    uint64_t needs = 0;
    struct lks_err err = {0};
    if (s->engine == NULL)
        return false;
    if (turn(s, event, blob, &needs, &err) == LKS_OK)
        return true;
    sim_say(s, "person: refused: %s", err.msg);
    return false;
}

void sim_controller_tick(struct sim *s, lks_ms due)
{
    uint64_t needs = 0;
    struct lks_err err = {0};
    if (due != s->tick_at)
        return;
    s->tick_at = UINT64_MAX;
    (void)turn(s, &(struct lks_event){.kind = LKS_EVENT_TICK}, NULL, &needs, &err);
    sim_check_fleet(s);
}

void sim_controller_clock(struct sim *s, uint64_t forward, uint64_t back)
{
    struct lks_event event = {.kind = LKS_EVENT_CLOCK, .clock = {.forward = forward, .back = back}};
    sim_say(s, "the wall clock jumps");
    if (s->engine != NULL)
        (void)sim_controller_turn(s, &event, NULL);
}

/* Group commit --------------------------------------------------------------------------------- */

static void draw_crash(struct sim *s)
{
    uint64_t statements = s->batch.store.row_count + s->batch.store.blob_count + 1;
    if (lks_rng_below(&s->rng, 1000) >= s->weather.crash || s->calm)
        return;
    lks_memory_disk_fail(
        s->disk, lks_rng_percent(&s->rng, 50) ? LKS_MEMORY_CRASH_BEFORE : LKS_MEMORY_CRASH_AFTER,
        lks_rng_below(&s->rng, statements));
}

void sim_controller_take(struct sim *s)
{
    s->take_posted = false; /* one that was posted finds nothing, or a later batch */
    if (s->writing || !lks_engine_take(s->engine, sim_now(s), &s->batch))
        return;
    s->writing = true;
    if (!s->disk_full)
        draw_crash(s);
    lks_ms latency = lks_rng_percent(&s->rng, 2) ? 3 * LKS_SECOND : lks_rng_below(&s->rng, 20);
    sim_post(s, (struct sim_message){.kind = SIM_COMMIT, .life = s->life}, latency);
    follow_up(s);
}

static bool same_envelope(const struct lks_envelope *a, const struct lks_envelope *b)
{
    return a->id == b->id && a->attempt == b->attempt && a->expires == b->expires &&
           strcmp(a->journal, b->journal) == 0 && strcmp(a->node, b->node) == 0 &&
           strcmp(a->boot, b->boot) == 0 && strcmp(a->executor, b->executor) == 0;
}

/* The first time a command leaves says what it is; it must stay that. */
static void note_command(struct sim *s, uint64_t id, const char *name)
{
    const struct lks_state *state = lks_engine_state(s->engine);
    const struct lks_state_command *c = lks_state_command(state, id);
    LKS_ASSERT(c != NULL);
    while (c->id >= s->command_room)
        s->commands =
            sim_grow(s->commands, s->command_room, &s->command_room, sizeof(s->commands[0]));
    struct lks_envelope e = {.id = c->id, .epoch = 1, .attempt = c->attempt, .expires = c->expires};
    memcpy(e.journal, state->journal, sizeof(e.journal));
    (void)snprintf(e.node, sizeof(e.node), "%s", name);
    (void)snprintf(e.boot, sizeof(e.boot), "%s", lks_state_text(state, c->boot).ptr);
    (void)snprintf(e.executor, sizeof(e.executor), "%s", lks_state_text(state, c->executor).ptr);
    struct sim_command *known = &s->commands[c->id];
    sim_require(s, !known->known || same_envelope(&known->envelope, &e),
                "a command's number stands for one command");
    known->known = true;
    known->envelope = e;
}

static void note_enrolled(struct sim *s, uint32_t agent, const struct sim_letter *l)
{
    struct sim_token *t = &s->tokens[l->token];
    sim_require(s, t->agent == agent, "a token is good for its own node");
    sim_require(s, t->taken_by == 0 || t->taken_by == l->fresh, "a token is used once");
    t->taken_by = l->fresh;
}

/* Nothing leaves before the rows it rests on are durable. */
static void send_answer(struct sim *s, uint32_t agent, uint32_t life, uint64_t needs,
                        const struct sim_letter *l)
{
    sim_check_answer(s, needs);
    for (unsigned i = 0; i < l->command_count; i++)
        note_command(s, l->commands[i], s->agents[agent].name);
    if (l->act == LKS_LINK_ENROLL && l->ok)
        note_enrolled(s, agent, l);
    sim_send(s, SIM_ANSWER, agent, life, l);
}

static void release_answers(struct sim *s)
{
    uint64_t durable = lks_engine_durable_seq(s->engine);
    while (s->held_first < s->held_count && s->held[s->held_first].needs <= durable) {
        struct sim_held *h = &s->held[s->held_first++];
        struct sim_letter l = sim_letter_take(s, h->letter);
        send_answer(s, h->agent, h->life, h->needs, &l);
    }
    if (s->held_first == s->held_count)
        s->held_first = s->held_count = 0;
}

void sim_controller_commit(struct sim *s)
{
    struct lks_err err = {0};
    enum lks_code code = lks_engine_commit(&s->options, &s->store, &s->batch, &err);
    if (code == LKS_E_UNAVAILABLE) {
        s->stalls++;
        lks_engine_stall(s->engine, &err);
        sim_post(s, (struct sim_message){.kind = SIM_COMMIT, .life = s->life}, LKS_SECOND);
        return;
    }
    if (code != LKS_OK) {
        sim_require(s, code == LKS_E_IO, err.msg);
        sim_controller_crash(s);
        return;
    }
    if (lks_engine_stalled(s->engine, NULL))
        s->up_since = s->mono; /* deadlines passed unseen meanwhile */
    lks_engine_durable(s->engine, &s->batch);
    lks_engine_batch_fini(&s->batch);
    s->writing = false;
    s->commits++;
    sim_check_rows(s);
    release_answers(s);
    follow_up(s);
}

void sim_controller_snapshot(struct sim *s)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_STORE_SNAPSHOT_MAX);
    struct lks_err err = {0};
    uint64_t seq = 0;
    if (s->writing || lks_engine_seq(s->engine) != lks_engine_durable_seq(s->engine))
        return;
    enum lks_code code = lks_engine_snapshot(s->engine, &bytes, &seq, &err);
    sim_require(s, code == LKS_OK, err.msg);
    if (code == LKS_OK)
        code = s->store.ops->snapshot_put(s->store.self, seq, lks_buf_view(&bytes), &err);
    if (code == LKS_E_IO)
        sim_controller_crash(s);
}

/* Lives ---------------------------------------------------------------------------------------- */

static void drop_held(struct sim *s)
{
    while (s->held_first < s->held_count)
        (void)sim_letter_take(s, s->held[s->held_first++].letter);
    s->held_first = s->held_count = 0;
}

static void stop(struct sim *s)
{
    drop_held(s);
    lks_engine_batch_fini(&s->batch);
    lks_engine_free(s->engine);
    s->engine = NULL;
    lks_store_close(&s->store);
    s->writing = s->take_posted = false;
    s->life++;
}

void sim_controller_crash(struct sim *s)
{
    if (s->engine == NULL)
        return;
    sim_say(s, "the controller is gone");
    s->crashes++;
    stop(s);
    lks_memory_disk_fail(s->disk, s->disk_full ? LKS_MEMORY_FULL : LKS_MEMORY_NO_CRASH, 0);
    sim_post(s, (struct sim_message){.kind = SIM_RESTART},
             s->calm ? LKS_SECOND : sim_between(s, LKS_SECOND, 90 * LKS_SECOND));
}

/* Before the engine starts, old rows may go. */
static void trim(struct sim *s)
{
    struct lks_err err = {0};
    uint64_t through = 0;
    if (!lks_rng_percent(&s->rng, 30) || s->disk_full)
        return;
    lks_ms wall = sim_now(s).wall;
    enum lks_code code = lks_journal_trim(&s->store, &s->key, wall, wall - 120 * LKS_SECOND,
                                          LKS_STR("user:kim"), &through, &err);
    sim_require(s, code == LKS_OK, err.msg);
    s->trims += through != 0;
}

void sim_controller_start(struct sim *s)
{
    struct lks_err err = {0};
    if (s->engine != NULL)
        return;
    enum lks_code code = lks_store_memory_open(s->disk, &s->store, &err);
    sim_require(s, code == LKS_OK, err.msg);
    if (code != LKS_OK)
        return;
    sim_check_disk(s);
    trim(s);
    code = lks_engine_open(&s->store, &s->options, sim_now(s), &s->engine, &err);
    sim_require(s, code == LKS_OK, err.msg);
    if (code != LKS_OK) {
        lks_store_close(&s->store);
        return;
    }
    sim_say(s, "the controller starts at row %" PRIu64, lks_engine_seq(s->engine));
    s->restarts++;
    sim_check_turn(s); /* the first of all begins the journal */
    s->tick_at = UINT64_MAX;
    s->up_since = s->mono;
    for (uint32_t i = 0; i < s->agent_count; i++)
        s->agents[i].ever_heard = false;
    sim_check_restart(s);
    struct lks_event started = {
        .kind = LKS_EVENT_STARTED,
        .started = {.version = LKS_STR("1.2.3"), .host = LKS_STR("sim")},
    };
    (void)sim_controller_turn(s, &started, NULL);
    if (lks_engine_state(s->engine)->fleet_manifest == 0)
        sim_person_starts(s);
}

void sim_controller_fini(struct sim *s)
{
    if (s->engine != NULL)
        stop(s);
    lks_memory_disk_free(s->disk);
    lks_manifest_fini(&s->manifest);
    lks_buf_fini(&s->manifest_text);
    free(s->held);
}

/* Requests of agents --------------------------------------------------------------------------- */

struct asking {
    uint32_t agent, life, node;
    const struct sim_letter *letter;
    struct sim_letter answer;
    uint64_t needs;
};

static void hold_answer(struct sim *s, const struct asking *q)
{
    if (q->needs <= lks_engine_durable_seq(s->engine)) {
        send_answer(s, q->agent, q->life, q->needs, &q->answer);
        return;
    }
    s->held = sim_grow(s->held, s->held_count, &s->held_room, sizeof(s->held[0]));
    s->held[s->held_count++] = (struct sim_held){
        .needs = q->needs,
        .agent = q->agent,
        .life = q->life,
        .letter = sim_letter_new(s, &q->answer),
    };
}

/* What became of a turn, as an answer. */
static void conclude(struct sim *s, struct asking *q, enum lks_code code, const char *why)
{
    q->answer.ok = code == LKS_OK;
    q->answer.refused = code != LKS_OK && code != LKS_E_UNAVAILABLE;
    if (code != LKS_OK)
        sim_say(s, "%s: refused: %s", s->agents[q->agent].name, why);
    if (code == LKS_E_UNAVAILABLE)
        q->needs = 0;
}

static void hear(struct sim *s, struct asking *q)
{
    struct sim_agent *a = &s->agents[q->agent];
    const struct lks_state *state = lks_engine_state(s->engine);
    struct lks_err err = {0};
    enum lks_code code = lks_engine_hear(s->engine, sim_now(s), q->node, &q->letter->beat, &err);
    sim_require(s, code == LKS_OK || code == LKS_E_UNAVAILABLE, err.msg);
    sim_check_turn(s);
    if (code == LKS_OK && state->pulses[q->node].at == s->mono) {
        a->heard = s->mono;
        a->ever_heard = true;
    }
    follow_up(s);
    conclude(s, q, code, err.msg);
    q->answer.mail = lks_gate_mail(state, q->node);
    const struct lks_head *head = lks_engine_told(s->engine);
    q->answer.head_seq = head->seq;
    memcpy(q->answer.head_hash, head->hash, sizeof(head->hash));
    if (code == LKS_OK)
        sim_check_agent(s, q->agent);
}

static void take_tuple(struct sim *s, struct asking *q)
{
    const struct sim_report *r = &q->letter->report;
    struct lks_tuple tuple = *sim_tuple(r->variant, r->board);
    char text[128], boot[LKS_BOOT_TEXT_SIZE];
    uint8_t bytes[16];
    struct lks_err err = {0};
    struct lks_store_blob blob;
    sim_boot_bytes(q->agent, r->boot, bytes);
    lks_heartbeat_boot_text(bytes, boot);
    tuple.node = lks_str_from(s->agents[q->agent].name);
    tuple.boot_id = lks_str_from(boot);
    tuple.taken = (int64_t)(r->taken / LKS_SECOND);
    (void)snprintf(text, sizeof(text), "report %" PRIu64 " of %s", r->number,
                   s->agents[q->agent].name);
    blob.bytes = lks_str_from(text);
    LKS_ASSERT(lks_digest_text(blob.bytes, blob.digest, &err) == LKS_OK);
    struct lks_event event = {
        .kind = LKS_EVENT_TUPLE,
        .node = q->node,
        .tuple = {.tuple = &tuple, .report = lks_str_from(blob.digest)},
    };
    conclude(s, q, turn(s, &event, &blob, &q->needs, &err), err.msg);
}

static void take_result(struct sim *s, struct asking *q)
{
    const struct lks_state *state = lks_engine_state(s->engine);
    const struct lks_state_command *c = lks_state_command(state, q->letter->report.command);
    struct lks_err err = {0};
    bool news = c != NULL && !c->ended;
    struct lks_event event = {
        .kind = LKS_EVENT_RESULT,
        .node = q->node,
        .result = {.id = q->letter->report.command,
                   .outcome = q->letter->report.outcome,
                   .text = LKS_STR("as simulated")},
    };
    conclude(s, q, turn(s, &event, NULL, &q->needs, &err), err.msg);
    c = lks_state_command(state, q->letter->report.command);
    if (q->answer.ok && news)
        sim_require(s, c != NULL && c->ended && c->outcome == q->letter->report.outcome,
                    "a result that was taken is the command's outcome");
}

static void push(struct sim *s, struct asking *q)
{
    struct sim_agent *a = &s->agents[q->agent];
    if (q->letter->report.kind == SIM_REPORT_TUPLE)
        take_tuple(s, q);
    else
        take_result(s, q);
    uint64_t number = q->letter->report.number;
    if (q->answer.ok || q->answer.refused) {
        sim_require(s, number <= a->delivered + 1, "reports arrive in the order they were made");
        if (number > a->delivered)
            a->delivered = number;
    }
}

static void certify(struct sim *s, struct asking *q)
{
    char fingerprint[LKS_DIGEST_SIZE], shown[LKS_DIGEST_SIZE], token[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    bool enroll = q->letter->act == LKS_LINK_ENROLL;
    sim_digest(fingerprint, "certificate", q->letter->fresh);
    sim_digest(shown, "certificate", q->letter->certificate);
    sim_digest(token, "token", q->letter->token);
    struct lks_event event = {
        .kind = enroll ? LKS_EVENT_ENROLL : LKS_EVENT_RENEW,
        .node = q->node,
        .name = lks_str_from(s->agents[q->agent].name),
        .certificate = {.token_hash = lks_str_from(enroll ? token : ""),
                        .fingerprint = lks_str_from(fingerprint),
                        .serial = LKS_STR("01"),
                        .shown = lks_str_from(enroll ? "" : shown),
                        .expires = sim_now(s).wall + 24 * 3600 * LKS_SECOND},
    };
    enum lks_code code = turn(s, &event, NULL, &q->needs, &err);
    conclude(s, q, code, err.msg);
    q->answer.token = q->letter->token;
    q->answer.fresh = q->letter->fresh;
}

static void fetch(struct sim *s, struct asking *q)
{
    const struct lks_state *state = lks_engine_state(s->engine);
    for (uint32_t i = state->command_count; i-- > 0;) {
        const struct lks_state_command *c = &state->commands[i];
        if (c->node != q->node || c->ended || q->answer.command_count == SIM_COMMANDS_AT_ONCE)
            continue;
        q->answer.commands[q->answer.command_count++] = c->id;
    }
    q->answer.want_tuple = lks_state_wants_tuple(state, q->node);
    q->answer.ok = true;
}

/* TLS knows the certificates that the state knows. */
static bool is_known(struct sim *s, uint32_t node, uint64_t certificate)
{
    char fingerprint[LKS_DIGEST_SIZE];
    const struct lks_node *n = &lks_engine_state(s->engine)->nodes[node];
    sim_digest(fingerprint, "certificate", certificate);
    return lks_state_certificate_is(&n->certificates[0], lks_str_from(fingerprint)) ||
           lks_state_certificate_is(&n->certificates[1], lks_str_from(fingerprint));
}

void sim_controller_request(struct sim *s, uint32_t agent, uint32_t life, struct sim_letter *l)
{
    const struct lks_state *state = lks_engine_state(s->engine);
    struct asking q = {.agent = agent, .life = life, .letter = l};
    q.answer.request = l->request;
    q.answer.act = l->act;
    q.needs = lks_engine_seq(s->engine);
    q.node = lks_state_node(state, lks_str_from(s->agents[agent].name));
    if (q.node == LKS_NO_NODE ||
        (l->act != LKS_LINK_ENROLL && !is_known(s, q.node, l->certificate))) {
        q.answer.denied = true;
    } else if (l->act == LKS_LINK_RENEW && s->mono - l->sent > SIM_ANSWER_WITHIN) {
        return; /* an agent that gave up has reset the connection */
    } else if (l->act == LKS_LINK_ENROLL || l->act == LKS_LINK_RENEW) {
        certify(s, &q);
    } else if (l->act == LKS_LINK_BEAT) {
        hear(s, &q);
        q.needs = 0; /* a heartbeat's answer promises nothing */
    } else if (l->act == LKS_LINK_PUSH) {
        push(s, &q);
    } else if (l->act == LKS_LINK_FETCH) {
        fetch(s, &q);
    }
    hold_answer(s, &q);
}
