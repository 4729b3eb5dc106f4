#include "core/campaign/state_apply.h"
#include "core/entity/entity.h"
#include "core/entity/settable.h"
#include "core/rows/pool.h"
#include "core/state/mass.h"
#include "core/state/state.h"
#include "model/tuple/tuple.h"
#include "sim/world.h"
#include "tests/reload.h"
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SLACK (2 * LKS_SECOND)

struct turn {
    lks_ms time;
    uint32_t node;
};

/* What the checks keep of one pool: when its nodes turned for the worse, and the alarm. */
struct pool {
    struct turn *turns; /* owned; all of them since the last release */
    size_t count, room;
    uint64_t alarm; /* open; 0: none */
    bool must_alarm;
};

/* The journal folded row by row as it becomes durable, apart from the engine's own state. */
struct sim_model {
    struct lks_state state;
    lks_ms time;
    uint8_t hash[LKS_HASH_BYTES]; /* of the last row */
    uint64_t acked;               /* the last row when an answer left */
    uint8_t acked_hash[LKS_HASH_BYTES];
    struct pool pools[SIM_POOLS];
    uint64_t *turns; /* owned; the last row of each turn of this process */
    size_t turn_count, turn_room;
};

void sim_model_init(struct sim *s)
{
    struct lks_err err = {0};
    s->model = calloc(1, sizeof(*s->model));
    LKS_ASSERT(s->model != NULL && lks_state_init(&s->model->state, 7, &err) == LKS_OK);
}

void sim_model_fini(struct sim *s)
{
    if (s->model == NULL)
        return;
    lks_state_fini(&s->model->state);
    for (unsigned i = 0; i < SIM_POOLS; i++)
        free(s->model->pools[i].turns);
    free(s->model->turns);
    free(s->model);
    s->model = NULL;
}

/* MASS ----------------------------------------------------------------------------------------- */

/* How many nodes, however often each of them turned. */
static uint64_t turned_within(const struct sim *s, const struct pool *p, lks_ms now, lks_ms window)
{
    uint64_t count = 0;
    bool *seen = calloc(s->model->state.node_count + 1, sizeof(*seen));
    LKS_ASSERT(seen != NULL);
    for (size_t i = p->count; i-- > 0 && p->turns[i].time + window > now;) {
        count += !seen[p->turns[i].node];
        seen[p->turns[i].node] = true;
    }
    free(seen);
    return count;
}

static void note_turn(struct sim *s, uint32_t node, lks_ms time)
{
    uint32_t pool = s->model->state.nodes[node].pool;
    const struct lks_limits *l = &s->model->state.limits;
    if (pool >= SIM_POOLS)
        return;
    struct pool *p = &s->model->pools[pool];
    p->turns = sim_grow(p->turns, p->count, &p->room, sizeof(p->turns[0]));
    p->turns[p->count++] = (struct turn){time, node};
    uint64_t limit =
        lks_mass_limit(l->mass_floor, l->mass_percent, s->model->state.pools[pool].nodes);
    if (!p->must_alarm && turned_within(s, p, time, l->mass_window) > limit)
        p->must_alarm = true;
}

static void check_mass(struct sim *s, lks_ms time, const struct lks_rec_mass *r)
{
    const struct lks_limits *l = &s->model->state.limits;
    uint32_t pool = lks_state_pool(&s->model->state, r->pool);
    sim_require(s, pool < SIM_POOLS, "a MASS record names a pool");
    if (s->broken)
        return;
    struct pool *p = &s->model->pools[pool];
    uint64_t limit =
        lks_mass_limit(l->mass_floor, l->mass_percent, s->model->state.pools[pool].nodes);
    uint64_t count = turned_within(s, p, time, l->mass_window);
    sim_require(s, p->alarm == 0, "one open MASS alarm a pool at the most");
    sim_require(s, count > limit, "MASS only when more than the limit turned within the window");
    sim_require(s, r->count == count, "MASS says how many turned");
    p->alarm = r->alarm;
}

static void check_release(struct sim *s, uint64_t alarm)
{
    for (unsigned i = 0; i < SIM_POOLS; i++)
        if (s->model->pools[i].alarm == alarm) {
            s->model->pools[i].alarm = 0;
            s->model->pools[i].count = 0;
            s->model->pools[i].must_alarm = false;
        }
}

/* Rows ----------------------------------------------------------------------------------------- */

static void check_ended(struct sim *s, const struct lks_rec_command_ended *r)
{
    const struct sim_command *c = r->id < s->command_room ? &s->commands[r->id] : NULL;
    bool known = c != NULL && c->known;
    if (r->outcome == LKS_OUTCOME_EXPIRED || r->outcome == LKS_OUTCOME_UNKNOWN)
        return;
    sim_require(s, known, "only a command that left can have an outcome of its node");
    if (!known)
        return;
    if (r->outcome == LKS_OUTCOME_REFUSED)
        sim_require(s, c->ran == 0, "a command that was refused did not run");
    else
        sim_require(s, c->ran == 1 && c->finished && c->outcome == r->outcome,
                    "a command ended as its node says");
}

static void note_value(struct sim *s, const struct lks_rec_node_set *r)
{
    for (uint32_t i = 0; i < s->agent_count; i++) {
        struct sim_agent *a = &s->agents[i];
        if (lks_str_is(r->node, a->name))
            (void)snprintf(a->value, sizeof(a->value), "%" LKS_STR_FMT, LKS_STR_ARG(r->value));
    }
}

/* `before` the record is applied: what it changes is still to be seen. */
static void check_record(struct sim *s, lks_ms time, const struct lks_record *r)
{
    const struct lks_state *before = &s->model->state;
    uint32_t node;
    if (r->kind == LKS_RECORD_LIVENESS) {
        node = lks_state_node(before, r->liveness.node);
        bool worse = r->liveness.state == LKS_LATE || r->liveness.state == LKS_LOST;
        if (node != LKS_NO_NODE && worse && before->nodes[node].liveness == LKS_LIVE)
            note_turn(s, node, time);
    } else if (r->kind == LKS_RECORD_DRIFT) {
        node = lks_state_node(before, r->drift.node);
        if (node != LKS_NO_NODE && r->drift.on && !before->nodes[node].drifting)
            note_turn(s, node, time);
    } else if (r->kind == LKS_RECORD_MASS) {
        check_mass(s, time, &r->mass);
    } else if (r->kind == LKS_RECORD_ALARM_RELEASED) {
        check_release(s, r->alarm_released.id);
    } else if (r->kind == LKS_RECORD_COMMAND_ENDED) {
        check_ended(s, &r->command_ended);
    } else if (r->kind == LKS_RECORD_NODE_SET) {
        note_value(s, &r->node_set);
    }
}

static void print_row(const struct sim *s, const struct lks_row *row)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_RECORD_BODY_MAX);
    struct lks_err err = {0};
    if (!s->print)
        return;
    if (lks_journal_json(row, &text, &err) == LKS_OK)
        sim_say(s, "%.200s", text.ptr);
}

static bool fold_row(void *ctx, const struct lks_row *row)
{
    struct sim *s = ctx;
    struct lks_record record;
    struct lks_err err = {0};
    print_row(s, row);
    sim_require(s, row->seq == s->model->state.seq + 1, "rows count up without a gap");
    sim_require(s, row->time >= s->model->time, "times of records never decrease");
    s->model->time = row->time;
    memcpy(s->model->hash, row->hash, sizeof(row->hash));
    for (unsigned i = 0; i < 8; i++)
        sim_mix(s, row->hash[i]);
    bool ok = lks_record_unpack(row->kind, row->version, row->body, &record, &err) == LKS_OK;
    if (ok) {
        check_record(s, row->time, &record);
        ok = lks_state_apply(&s->model->state, row->seq, row->time, &record, &err) == LKS_OK;
    }
    sim_require(s, ok, err.msg);
    return !s->broken;
}

static void check_equal(struct sim *s, const char *what)
{
    struct lks_err why = {0};
    LKS_CLEANUP(lks_state_fini) struct lks_state loaded = {0};
    if (lks_entity_equal(&s->model->state, lks_engine_state(s->engine), &why) &&
        lks_test_reloads(&s->model->state, &loaded, &why))
        return;
    char text[LKS_ERR_MSG_MAX + 128];
    (void)snprintf(text, sizeof(text), "%s: %s", what, why.msg);
    sim_require(s, false, text);
}

void sim_check_rows(struct sim *s)
{
    struct lks_err err = {0};
    struct sim_model *m = s->model;
    enum lks_code code = s->store.ops->rows(s->store.self, m->state.seq + 1, fold_row, s, &err);
    sim_require(s, code == LKS_OK, err.msg);
    for (unsigned i = 0; i < SIM_POOLS; i++)
        sim_require(s, !m->pools[i].must_alarm || m->pools[i].alarm != 0,
                    "more than the limit turned: there is an alarm");
    bool all = lks_engine_seq(s->engine) == m->state.seq;
    if (all && (s->agent_count <= 64 || s->commits % 1000 == 0))
        check_equal(s, "the fold of the rows is the state that is lived");
}

void sim_check_answer(struct sim *s, uint64_t needs)
{
    struct sim_model *m = s->model;
    struct lks_store_tail tail = {0};
    struct lks_err err = {0};
    if (needs <= m->acked)
        return;
    enum lks_code code = s->store.ops->tail(s->store.self, &tail, &err);
    sim_require(s, code == LKS_OK && tail.seq >= needs && m->state.seq >= needs,
                "no answer leaves before its rows are durable");
    m->acked = m->state.seq;
    memcpy(m->acked_hash, m->hash, sizeof(m->hash));
}

void sim_check_turn(struct sim *s)
{
    struct sim_model *m = s->model;
    uint64_t last = lks_engine_seq(s->engine);
    if (m->turn_count > 0 && m->turns[m->turn_count - 1] == last)
        return;
    m->turns = sim_grow(m->turns, m->turn_count, &m->turn_room, sizeof(m->turns[0]));
    m->turns[m->turn_count++] = last;
}

void sim_check_disk(struct sim *s)
{
    struct sim_model *m = s->model;
    struct lks_store_tail tail = {0};
    struct lks_err err = {0};
    enum lks_code code = s->store.ops->tail(s->store.self, &tail, &err);
    bool whole = tail.seq == m->state.seq;
    for (size_t i = m->turn_count; i-- > 0 && !whole && m->turns[i] >= tail.seq;)
        whole = m->turns[i] == tail.seq;
    sim_require(s, code == LKS_OK && whole, "a turn is there as a whole or not at all");
    m->turn_count = 0;
}

/* Each row's hash covers all before it, so the newest acknowledged one stands for all of them. */
void sim_check_restart(struct sim *s)
{
    struct sim_model *m = s->model;
    struct lks_err err = {0};
    struct lks_store_tail tail = {0};
    enum lks_code code = s->store.ops->tail(s->store.self, &tail, &err);
    sim_require(s, code == LKS_OK && tail.seq >= m->acked, "no acknowledged record is lost");
    const struct lks_row *row = lks_memory_disk_row(s->disk, m->acked);
    if (m->acked >= tail.first)
        sim_require(s, row != NULL && memcmp(row->hash, m->acked_hash, sizeof(row->hash)) == 0,
                    "what was acknowledged is still what was written");
    if (tail.seq > 0)
        sim_check_rows(s);
}

/* Liveness ------------------------------------------------------------------------------------- */

void sim_check_agent(struct sim *s, uint32_t agent)
{
    const struct sim_agent *a = &s->agents[agent];
    if (s->engine == NULL || lks_engine_stalled(s->engine, NULL))
        return;
    const struct lks_state *state = lks_engine_state(s->engine);
    uint32_t node = lks_state_node(state, lks_str_from(a->name));
    if (node == LKS_NO_NODE)
        return;
    enum lks_liveness is = state->nodes[node].liveness;
    lks_ms since = a->heard > s->up_since ? a->heard : s->up_since;
    lks_ms silent = s->mono - since;
    const struct lks_limits *l = &state->limits;
    sim_require(s, is != LKS_LIVE || silent <= l->late + SLACK, "a silent node turns late");
    sim_require(s, is != LKS_LATE || silent <= l->lost + SLACK, "a late node turns lost");
    if (!a->ever_heard)
        return;
    sim_require(s, is != LKS_NEVER_SEEN, "a node that was heard was seen");
    sim_require(s, is == LKS_LIVE || s->mono - a->heard >= (is == LKS_LATE ? l->late : l->lost),
                "a node that was heard is live");
}

void sim_check_fleet(struct sim *s)
{
    if (s->agent_count > 64 && s->delivered % 1000 != 0)
        return;
    for (uint32_t i = 0; i < s->agent_count && !s->broken; i++)
        sim_check_agent(s, i);
}

/* The end -------------------------------------------------------------------------------------- */

static void check_settled(struct sim *s, uint32_t agent)
{
    const struct sim_agent *a = &s->agents[agent];
    const struct lks_state *state = lks_engine_state(s->engine);
    uint32_t node = lks_state_node(state, lks_str_from(a->name));
    sim_require(s, node != LKS_NO_NODE && a->up && a->certificate != 0, "every node is enrolled");
    if (s->broken)
        return;
    const struct lks_node *n = &state->nodes[node];
    struct lks_str digest = lks_state_text(state, n->tuple);
    uint8_t bytes[16];
    char boot[LKS_BOOT_TEXT_SIZE];
    sim_boot_bytes(agent, a->boot, bytes);
    lks_heartbeat_boot_text(bytes, boot);
    sim_require(s, n->liveness == LKS_LIVE, "every node is live");
    sim_require(s, a->link.spooled == 0, "every spool is empty");
    sim_require(s, a->delivered == a->reports, "every report arrived");
    sim_require(s, lks_str_is(digest, sim_tuple(a->variant, a->board)->digest),
                "what a node runs is known");
    sim_require(s,
                lks_state_judged(state, node) ==
                    (a->variant == 0 ? LKS_JUDGED_CONFORMS : LKS_JUDGED_DRIFT),
                "whether it conforms is known");
    sim_require(s, lks_str_is(lks_state_text(state, n->boot), boot), "its boot is known");
    sim_require(s, (n->notes >> LKS_NOTE_WITNESS & 1) == 0, "no witness contradicts the journal");
    if (lks_settable_node_words[0] == NULL)
        return;
    const struct lks_column *c = lks_settable_find(lks_str_from(lks_settable_node_words[0]));
    sim_require(s, lks_str_is(lks_entity_text(state, c, n, 0), a->value),
                "a node has the value that a person last set");
}

void sim_check_end(struct sim *s)
{
    struct lks_verify found = {0};
    struct lks_err err = {0};
    struct lks_public_key key = lks_key_public(&s->key);
    struct lks_verify_options options = {.key = s->seed % 16 == 0 ? &key : NULL};
    sim_require(s, s->engine != NULL, "the controller runs");
    if (s->broken)
        return;
    for (uint32_t i = 0; i < s->agent_count && !s->broken; i++)
        check_settled(s, i);
    const struct lks_state *state = lks_engine_state(s->engine);
    sim_require(s, state->commands_open == 0, "every command has ended");
    sim_require(s, lks_engine_seq(s->engine) == s->model->state.seq, "every row is durable");
    check_equal(s, "the fold of the rows is the state that was lived");
    enum lks_code code = lks_journal_verify(&s->store, &options, &found, &err);
    sim_require(s, code == LKS_OK, err.msg);
    sim_require(s, found.fault == LKS_FAULT_NONE, found.text);
}
