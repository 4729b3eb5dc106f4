/* What lockstepd does in this world: turns, group commit, crashes, restarts, answers to agents. */
#include "core/gate/gate.h"
#include "core/rows/command.h"
#include "core/rows/flash.h"
#include "core/rows/node.h"
#include "core/state/lookup.h"
#include "model/tuple/tuple.h"
#include "sim/campaign.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

uint32_t cam_place(struct cam *w, struct cam_machine *m)
{
    if (m->place_life != w->life + 1 || m->place == LKS_NO_NODE) {
        m->place = lks_state_node(lks_engine_state(w->engine), lks_str_from(m->name));
        m->place_life = w->life + 1;
    }
    return m->place;
}

/* Turns ---------------------------------------------------------------------------------------- */

/* A turn may have made something due earlier, or left rows to write. */
static void follow_up(struct cam *w)
{
    lks_ms next = lks_engine_next(w->engine);
    if (next < w->tick_at) {
        w->tick_at = next > w->now ? next : w->now;
        cam_post(w, (struct lks_message){.kind = CAM_TICK, .life = w->life, .number = w->tick_at},
                 w->tick_at - w->now);
    }
    bool pending = lks_engine_seq(w->engine) > lks_engine_durable_seq(w->engine);
    if (pending && !w->writing && !w->take_posted && !w->setting_up) {
        w->take_posted = true;
        cam_post(w, (struct lks_message){.kind = CAM_TAKE, .life = w->life},
                 1 + lks_rng_below(&w->rng, 20));
    }
}

static enum lks_code turn(struct cam *w, const struct lks_event *event,
                          const struct lks_store_blob *blob, struct lks_err *err)
{
    enum { TICKS_MAX = 100000 };
    struct lks_event tick = {.kind = LKS_EVENT_TICK};
    enum lks_code code = LKS_OK;
    for (unsigned i = 0; i < TICKS_MAX; i++, event = &tick, blob = NULL) {
        LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
        uint64_t needs = 0;
        lks_decision_init(&d);
        code = lks_engine_turn(w->engine, cam_now(w), event, blob, &d, &needs, err);
        cam_require(w, code == LKS_OK || code == LKS_E_UNAVAILABLE, "the engine", "%s", err->msg);
        if (code == LKS_OK && d.refused.code != LKS_OK) {
            code = d.refused.code;
            *err = d.refused;
        }
        w->turns++;
        if (code != LKS_OK || !d.more || event->kind != LKS_EVENT_TICK)
            break;
        cam_require(w, i + 1 < TICKS_MAX, "promise 11", "a tick comes to its end");
    }
    follow_up(w);
    return code;
}

bool cam_turn(struct cam *w, const struct lks_event *event, const struct lks_store_blob *blob)
{
    struct lks_err err = {0};
    if (w->engine == NULL || w->broken)
        return false;
    if (turn(w, event, blob, &err) == LKS_OK)
        return true;
    cam_say(w, "refused: %s", err.msg);
    return false;
}

void cam_person(struct cam *w, const struct lks_event *event)
{
    struct lks_err err = {0};
    if (w->engine == NULL || w->broken)
        return;
    if (lks_engine_seq(w->engine) > lks_engine_durable_seq(w->engine) + 1000)
        cam_settle(w); /* of a large fleet: more than one batch holds */
    enum lks_code code = turn(w, event, NULL, &err);
    cam_require(w, code == LKS_OK, "setup", "%s", err.msg);
}

void cam_control_tick(struct cam *w, lks_ms due)
{
    struct lks_err err = {0};
    if (due != w->tick_at)
        return;
    w->tick_at = UINT64_MAX;
    cam_asks_silence(w);
    (void)turn(w, &(struct lks_event){.kind = LKS_EVENT_TICK}, NULL, &err);
}

/* Group commit --------------------------------------------------------------------------------- */

static void draw_crash(struct cam *w)
{
    uint64_t statements = w->batch.store.row_count + w->batch.store.blob_count + 1;
    if (w->calm || w->disk_full || lks_rng_below(&w->rng, 1000) >= w->weather.crash)
        return;
    lks_memory_disk_fail(
        w->disk, lks_rng_percent(&w->rng, 50) ? LKS_MEMORY_CRASH_BEFORE : LKS_MEMORY_CRASH_AFTER,
        lks_rng_below(&w->rng, statements));
}

void cam_control_take(struct cam *w)
{
    w->take_posted = false;
    if (w->writing || !lks_engine_take(w->engine, cam_now(w), &w->batch))
        return;
    w->writing = true;
    draw_crash(w);
    lks_ms latency = cam_chance(w, 2) ? 3 * LKS_SECOND : lks_rng_below(&w->rng, 20);
    cam_post(w, (struct lks_message){.kind = CAM_COMMIT, .life = w->life}, latency);
    follow_up(w);
}

static void release_answers(struct cam *w)
{
    uint64_t durable = lks_engine_durable_seq(w->engine);
    while (w->held_first < w->held_count && w->held[w->held_first].needs <= durable)
        cam_send(w, w->held[w->held_first++].message);
    if (w->held_first == w->held_count)
        w->held_first = w->held_count = 0;
}

static void done(struct cam *w)
{
    lks_engine_durable(w->engine, &w->batch);
    for (size_t i = 0; i < w->batch.store.row_count && !w->broken; i++)
        cam_row(w, &w->batch.store.rows[i]);
    lks_engine_batch_fini(&w->batch);
    w->writing = false;
    w->commits++;
    cam_rows_seen(w);
}

void cam_control_commit(struct cam *w)
{
    struct lks_err err = {0};
    if (!w->writing)
        return;
    enum lks_code code = lks_engine_commit(&w->options, &w->store, &w->batch, &err);
    if (code == LKS_E_UNAVAILABLE) {
        w->stalls++;
        lks_engine_stall(w->engine, &err);
        cam_post(w, (struct lks_message){.kind = CAM_COMMIT, .life = w->life}, LKS_SECOND);
        return;
    }
    if (code != LKS_OK) {
        cam_require(w, code == LKS_E_IO, "the store", "%s", err.msg);
        cam_control_crash(w);
        return;
    }
    if (lks_engine_stalled(w->engine, NULL))
        w->up_since = w->now;
    done(w);
    release_answers(w);
    follow_up(w);
}

/* What is pending becomes durable while somebody waits for it; false: it did not. */
bool cam_commit_now(struct cam *w)
{
    uint32_t life = w->life;
    for (unsigned i = 0; i < 2 && w->life == life && !w->broken; i++) {
        if (!w->writing)
            cam_control_take(w);
        if (w->writing)
            cam_control_commit(w);
    }
    return w->life == life && !w->broken &&
           lks_engine_seq(w->engine) == lks_engine_durable_seq(w->engine);
}

/* Everything that is pending, at once and without mishap. */
void cam_settle(struct cam *w)
{
    struct lks_err err = {0};
    LKS_ASSERT(!w->writing);
    while (!w->broken && lks_engine_take(w->engine, cam_now(w), &w->batch)) {
        enum lks_code code = lks_engine_commit(&w->options, &w->store, &w->batch, &err);
        cam_require(w, code == LKS_OK, "setup", "%s", err.msg);
        done(w);
    }
}

void cam_control_snapshot(struct cam *w)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_STORE_SNAPSHOT_MAX);
    struct lks_err err = {0};
    uint64_t seq = 0;
    if (w->writing || lks_engine_seq(w->engine) != lks_engine_durable_seq(w->engine))
        return;
    enum lks_code code = lks_engine_snapshot(w->engine, &bytes, &seq, &err);
    cam_require(w, code == LKS_OK, "snapshot", "%s", err.msg);
    if (code == LKS_OK)
        code = w->store.ops->snapshot_put(w->store.self, seq, lks_buf_view(&bytes), &err);
    if (code == LKS_E_IO)
        cam_control_crash(w);
}

/* Lives ---------------------------------------------------------------------------------------- */

static void stop(struct cam *w)
{
    cam_asks_forget(w);
    lks_engine_batch_fini(&w->batch);
    lks_engine_free(w->engine);
    w->engine = NULL;
    lks_store_close(&w->store);
    w->writing = w->take_posted = false;
    w->held_first = w->held_count = 0;
    w->life++;
    for (uint32_t i = 0; i < w->count; i++)
        cam_talk_forget(&w->machines[i]);
}

void cam_control_crash(struct cam *w)
{
    if (w->engine == NULL)
        return;
    cam_say(w, "the controller is gone");
    w->crashes++;
    stop(w);
    lks_memory_disk_fail(w->disk, w->disk_full ? LKS_MEMORY_FULL : LKS_MEMORY_NO_CRASH, 0);
    cam_post(w, (struct lks_message){.kind = CAM_RESTART},
             w->calm ? LKS_SECOND : cam_takes(w, 2 * CAM_MINUTE) + 1);
}

/* What follows from the state is done again: conversations, readings, questions. */
static void resume(struct cam *w)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    for (uint32_t i = 0; i < w->count; i++) {
        struct cam_machine *m = &w->machines[i];
        m->sweep_posted = m->sched_posted = false;
        m->sched_known = false;
        cam_second_forget(w, i);
        cam_sweep_later(w, i);
        if (m->type == CAM_NODE && w->scheduled[m->pool])
            cam_sched_later(w, i);
        cam_slurm_resume(w, i);
    }
    cam_asks_begin(w);
    for (uint32_t i = 0; i < s->flash_count; i++)
        if (s->flashes[i].outcome == LKS_BMC_OPEN)
            cam_talk_begin(w, s->flashes[i].id);
}

void cam_control_start(struct cam *w)
{
    struct lks_err err = {0};
    if (w->engine != NULL || w->broken)
        return;
    enum lks_code code = lks_store_memory_open(w->disk, &w->store, &err);
    cam_require(w, code == LKS_OK, "the store", "%s", err.msg);
    if (code != LKS_OK)
        return;
    code = lks_engine_open(&w->store, &w->options, cam_now(w), &w->engine, &err);
    cam_require(w, code == LKS_OK, "promise 8", "%s", err.msg);
    if (code != LKS_OK) {
        lks_store_close(&w->store);
        return;
    }
    cam_say(w, "the controller starts at row %" PRIu64, lks_engine_seq(w->engine));
    w->tick_at = UINT64_MAX;
    w->up_since = w->now;
    cam_rows_restart(w);
    (void)cam_turn(
        w,
        &(struct lks_event){.kind = LKS_EVENT_STARTED,
                            .started = {.version = LKS_STR("1.2.3"), .host = LKS_STR("sim")}},
        NULL);
    if (w->commits > 0 && !w->broken)
        resume(w);
}

void cam_control_fini(struct cam *w)
{
    if (w->engine != NULL)
        stop(w);
    lks_memory_disk_free(w->disk);
    lks_manifest_fini(&w->manifest);
    lks_manifest_fini(&w->smaller);
    lks_buf_fini(&w->manifest_text);
    lks_buf_fini(&w->smaller_text);
    for (unsigned s = 0; s < CAM_STACKS; s++)
        if (w->bundle_there[s])
            lks_bundle_fini(&w->bundles[s]);
    free(w->held);
}

/* Agents ask ----------------------------------------------------------------------------------- */

void cam_boot_bytes(uint32_t node, uint32_t boot, uint8_t out[16])
{
    uint64_t words[2] = {UINT64_C(0x6c6f636b73746570) ^ node, boot};
    memcpy(out, words, sizeof(words));
}

/* It is heard soon, and what lockstepd knows of it is far away in memory: it is asked for now. */
void cam_control_soon(const void *world, const struct lks_message *msg)
{
    const struct cam *w = world;
    const struct cam_machine *m = &w->machines[msg->node];
    if (msg->kind != CAM_HEARD || w->engine == NULL || m->place_life != w->life + 1 ||
        m->place == LKS_NO_NODE)
        return;
    const struct lks_state *s = lks_engine_state(w->engine);
    const char *pulse = (const char *)&s->pulses[m->place];
    __builtin_prefetch(pulse);
    __builtin_prefetch(pulse + CAM_LINE);
    __builtin_prefetch(pulse + sizeof(s->pulses[0]) - 1);
    __builtin_prefetch(&s->nodes[m->place]);
}

void cam_control_hear(struct cam *w, const struct lks_message *msg)
{
    struct cam_machine *m = &w->machines[msg->node];
    uint32_t place = cam_place(w, m);
    struct lks_err err = {0};
    struct lks_beat beat = {.protocol = LKS_BEAT_PROTOCOL, .seq = msg->number};
    if (place == LKS_NO_NODE)
        return;
    cam_boot_bytes(msg->node, msg->value, beat.boot);
    if (m->measured && msg->value == m->boot)
        memcpy(beat.tuple, cam_tuple_digest(m->read), sizeof(beat.tuple));
    beat.sent = cam_now(w).wall;
    beat.head_seq = m->head_seq;
    if (m->head_seq > 0)
        memcpy(beat.head_hash, m->head_hash, sizeof(beat.head_hash));
    enum lks_code code = lks_engine_hear(w->engine, cam_now(w), place, &beat, &err);
    cam_require(w, code == LKS_OK || code == LKS_E_UNAVAILABLE, "the engine", "%s", err.msg);
    if (code != LKS_OK)
        return;
    follow_up(w);
    const struct lks_head *head = lks_engine_told(w->engine);
    if (w->nodes < CAM_FLEET_LARGE && head->seq > m->head_seq) {
        m->head_seq = head->seq;
        memcpy(m->head_hash, head->hash, sizeof(m->head_hash));
    }
    bool mail = lks_gate_mail(lks_engine_state(w->engine), place);
    cam_send(w, (struct lks_message){
                    .kind = CAM_BEAT_ANSWER, .node = msg->node, .life = msg->life, .value = mail});
}

/* What waits for the node: the command that rows gave it, and whether its tuple is wanted. */
void cam_control_fetch(struct cam *w, const struct lks_message *msg)
{
    struct cam_machine *m = &w->machines[msg->node];
    uint32_t place = cam_place(w, m);
    if (place == LKS_NO_NODE)
        return;
    const struct lks_state *s = lks_engine_state(w->engine);
    uint64_t id = m->command;
    const struct lks_state_command *c = id != 0 ? lks_state_command(s, id) : NULL;
    cam_send(w, (struct lks_message){.kind = CAM_FETCHED,
                                     .node = msg->node,
                                     .life = msg->life,
                                     .number = c != NULL && !c->ended ? id : 0,
                                     .value = lks_state_wants_tuple(s, place)});
}

static enum lks_code take_tuple(struct cam *w, uint32_t node, uint32_t place,
                                const struct cam_report *r, struct lks_err *err)
{
    struct lks_tuple tuple = *cam_tuple(r->truth, CAM_NODE, false);
    char text[64], boot[LKS_BOOT_TEXT_SIZE];
    struct lks_store_blob blob;
    uint8_t bytes[16];
    cam_boot_bytes(node, r->boot, bytes);
    lks_heartbeat_boot_text(bytes, boot);
    tuple.node = lks_str_from(w->machines[node].name);
    tuple.boot_id = lks_str_from(boot);
    tuple.taken = (int64_t)(r->taken / LKS_SECOND);
    (void)snprintf(text, sizeof(text), "%" PRIu32 " %" PRIu64, node, r->number);
    blob.bytes = lks_str_from(text);
    LKS_ASSERT(lks_digest_text(blob.bytes, blob.digest, err) == LKS_OK);
    struct lks_event event = {
        .kind = LKS_EVENT_TUPLE,
        .node = place,
        .tuple = {.tuple = &tuple, .report = lks_str_from(blob.digest)},
    };
    return turn(w, &event, &blob, err);
}

static enum lks_code take_result(struct cam *w, uint32_t place, const struct cam_report *r,
                                 struct lks_err *err)
{
    struct lks_event event = {
        .kind = LKS_EVENT_RESULT,
        .node = place,
        .result = {.id = r->command, .outcome = r->outcome, .text = CAM_SAID},
    };
    return turn(w, &event, NULL, err);
}

/* A report. What is refused will be refused again, so that is an answer, too. */
void cam_control_push(struct cam *w, const struct lks_message *msg)
{
    struct cam_machine *m = &w->machines[msg->node];
    const struct cam_report *r = cam_report(m, msg->number);
    uint32_t place = cam_place(w, m);
    struct lks_err err = {0};
    if (place == LKS_NO_NODE || r == NULL)
        return;
    enum lks_code code =
        r->command == 0 ? take_tuple(w, msg->node, place, r, &err) : take_result(w, place, r, &err);
    if (code == LKS_E_UNAVAILABLE || w->broken)
        return;
    if (code != LKS_OK)
        cam_say(w, "%s: refused: %s", m->name, err.msg);
    struct lks_message answer = {
        .kind = CAM_PUSHED, .node = msg->node, .life = msg->life, .number = msg->number};
    uint64_t needs = lks_engine_seq(w->engine);
    if (needs <= lks_engine_durable_seq(w->engine)) {
        cam_send(w, answer);
        return;
    }
    w->held = cam_grow(w->held, w->held_count, &w->held_room, sizeof(w->held[0]));
    w->held[w->held_count++] = (struct cam_held){.needs = needs, .message = answer};
}
