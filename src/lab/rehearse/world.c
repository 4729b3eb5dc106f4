#include "lab/rehearse/world.h"

#include "core/campaign/campaign_evidence.h"
#include "core/state/state.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    DAYS_MAX = 120,      /* that a run may take */
    RESUMES_MAX = 500,   /* by a person, before that person gives up */
    IN_VAIN_MAX = 5,     /* of these, with nothing done in between */
    ATTENDS_MINUTES = 20 /* until a person who was called responds */
};
/* The engine is asked what is due, and its rows are taken, no more often than this: of steps that
 * take minutes it delays each by seconds, and there are ten times fewer turns. */
#define TURN_EVERY (5 * LKS_SECOND)

const char *const lks_rehearse_bad_words[] = {"drawn", "accept", "step", "dies", "slow", NULL};
const char *const lks_rehearse_end_words[] = {"done", "rolled back", "aborted", "not over", NULL};

/* Time, chance and telling -------------------------------------------------------------------- */

struct lks_now lks_world_now(const struct lks_world *w)
{
    return (struct lks_now){.wall = w->options.wall + w->now, .mono = w->now};
}

bool lks_world_chance(struct lks_world *w, uint32_t share)
{
    return share > 0 && lks_rng_below(&w->rng, LKS_REHEARSE_MILLION) < share;
}

lks_ms lks_world_takes(struct lks_world *w, lks_ms median)
{
    static const double spread = 0.45, unit = 1.0 / 4294967296.0;
    double z = -6;
    for (unsigned i = 0; i < 6; i++) { /* twelve even ones add up to a normal one, or nearly */
        uint64_t two = lks_rng_next(&w->rng);
        z += (double)(uint32_t)two * unit + (double)(two >> 32) * unit;
    }
    double takes = (double)median * exp(spread * z);
    return takes < 1 ? 1 : (lks_ms)takes;
}

void lks_world_tell(const struct lks_world *w, const char *fmt, ...)
{
    char text[512];
    if (w->say == NULL)
        return;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    w->say->line(w->say->ctx, w->now - w->begun, text);
}

void lks_world_break(struct lks_world *w, enum lks_code code, const char *why)
{
    struct lks_err err = {.code = code};
    if (w->broken)
        return;
    w->broken = true;
    (void)snprintf(err.msg, sizeof(err.msg), "the rehearsal broke off: %s", why);
    *w->err = err;
}

void lks_world_post(struct lks_world *w, enum world_kind kind, uint32_t node, uint64_t number,
                    lks_ms delay)
{
    lks_queue_post(w->queue, w->now + delay,
                   (struct lks_message){.kind = kind, .node = node, .number = number});
}

const struct lks_state *lks_world_state(const struct lks_world *w)
{
    return lks_engine_state(w->engine);
}

const struct lks_state_change *lks_world_change(const struct lks_world *w)
{
    return w->change != 0 ? lks_state_change(lks_engine_state(w->engine), w->change) : NULL;
}

uint32_t lks_world_nodes(const struct lks_world *w)
{
    return lks_engine_state(w->engine)->node_count;
}

bool lks_world_member(const struct lks_world *w, uint32_t node)
{
    return lks_engine_state(w->engine)->nodes[node].asset == 0 &&
           lks_state_change_member(lks_world_change(w), node) != NULL;
}

void lks_world_size(const struct lks_world *w, uint32_t *nodes, uint32_t *gpus)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    const struct lks_state_change *c = lks_world_change(w);
    *nodes = *gpus = 0;
    for (uint32_t i = 0; c != NULL && i < c->member_count; i++) {
        *nodes += s->nodes[c->members[i].node].asset == 0;
        *gpus += lks_world_gpus(w, c->members[i].node);
    }
}

/* Turns ---------------------------------------------------------------------------------------- */

/* What was measured is judged by what is left of its error, so it is not asked twice: what it said
 * is recorded. */
static bool says_halt(const struct lks_world *w, const struct lks_state_change *c, uint32_t k,
                      const struct lks_gate *gate, struct lks_arena *arena)
{
    const struct lks_gate_look *l = lks_state_change_look(c, k, 0);
    if (gate->look == lks_campaign_gate_evidence)
        return l != NULL && l->verdict >= LKS_GATE_HOLD && l->at >= lks_world_change(w)->moved;
    lks_ms wall = lks_world_now(w).wall;
    return gate->look(lks_engine_state(w->engine), c, k, wall, arena).verdict >= LKS_GATE_HOLD;
}

/* Which gate halted or held it. Gates do not count again what a person has seen, and by now a wave
 * of it says that it is halted: they are asked of the change as it was right before. */
static void name_gate(struct lks_world *w, uint32_t k)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_state_change before = *lks_world_change(w);
    struct lks_wave *waves = calloc(before.wave_count + 1, sizeof(waves[0]));
    const char *name = "other";
    if (waves == NULL)
        return;
    memcpy(waves, before.waves, before.wave_count * sizeof(waves[0]));
    waves[k].state = LKS_WAVE_SOAKS;
    before.waves = waves;
    before.state = LKS_CHANGE_RUNNING;
    before.moved = before.started;
    lks_arena_init(&arena, LKS_PLAN_MEMORY_MAX);
    for (size_t g = lks_gate_count; g-- > 0;)
        name = says_halt(w, &before, k, &lks_gates[g], &arena) ? lks_gates[g].name : name;
    (void)snprintf(w->out->gate, sizeof(w->out->gate), "%s", name);
    free(waves);
}

bool lks_world_turn(struct lks_world *w, const struct lks_event *event,
                    const struct lks_store_blob *blob)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_err err = {0};
    uint64_t needs = 0;
    if (w->broken)
        return false;
    lks_decision_init(&d);
    enum lks_code code =
        lks_engine_turn(w->engine, lks_world_now(w), event, blob, &d, &needs, &err);
    if (code != LKS_OK)
        lks_world_break(w, code, err.msg);
    else if (d.refused.code != LKS_OK && w->err != NULL)
        *w->err = d.refused;
    if (w->out != NULL)
        w->out->events++;
    return code == LKS_OK && d.refused.code == LKS_OK;
}

/* What became of it ---------------------------------------------------------------------------- */

#define OTHER_SIZE 32

/* "change 7: " for what happens in another change than the one that is rehearsed; else "". */
static const char *other(const struct lks_world *w, uint64_t change, char out[OTHER_SIZE])
{
    out[0] = '\0';
    if (change != w->change)
        (void)snprintf(out, OTHER_SIZE, "change %" PRIu64 ": ", change);
    return out;
}

static void tell_member(const struct lks_world *w, const struct lks_rec_member *m)
{
    char of[OTHER_SIZE];
    bool news = m->state >= LKS_MEMBER_OVER && m->state != LKS_MEMBER_DONE;
    if (w->say != NULL && news)
        lks_world_tell(w, "%s%.*s is %s: %.*s", other(w, m->change, of), LKS_STR_ARG(m->node),
                       lks_member_state_words[m->state], LKS_STR_ARG(m->text));
}

/* Another change: it moves on its own, and nothing of it counts here. */
static void other_moved(const struct lks_world *w, const struct lks_rec_change_moved *m)
{
    lks_world_tell(w, "change %" PRIu64 " is %s%s%.*s", m->change, lks_change_state_words[m->state],
                   m->reason.len > 0 ? ": " : "", LKS_STR_ARG(m->reason));
}

static void moved(struct lks_world *w, const struct lks_rec_change_moved *m)
{
    const struct lks_state_change *c = lks_world_change(w);
    struct lks_rehearsed *o = w->out;
    lks_world_tell(w, "the change is %s%s%.*s", lks_change_state_words[m->state],
                   m->reason.len > 0 ? ": " : "", LKS_STR_ARG(m->reason));
    if (m->state == LKS_CHANGE_HALTED) {
        o->halts++;
        lks_world_post(w, WORLD_PERSON, 0, 0, lks_world_takes(w, ATTENDS_MINUTES * WORLD_MINUTE));
    }
    bool stops =
        m->by.len == 0 && (m->state == LKS_CHANGE_HALTED || m->state == LKS_CHANGE_ROLLING_BACK);
    if (!stops || o->stopped)
        return;
    o->stopped = true;
    o->stopped_after = w->now - w->begun;
    (void)snprintf(o->why, sizeof(o->why), "%.*s", LKS_STR_ARG(m->reason));
    for (uint32_t k = 0; k < c->wave_count; k++) {
        if (c->waves[k].state == LKS_WAVE_PLANNED || c->waves[k].state == LKS_WAVE_PASSED)
            continue;
        o->stopped_wave = k;
        o->wave_kind = c->waves[k].kind;
    }
    if (c->wave_count > 0)
        name_gate(w, o->stopped_wave);
}

static void wave(const struct lks_world *w, const struct lks_rec_wave *r)
{
    char of[OTHER_SIZE];
    if (w->say != NULL && r->state < LKS_WAVE_STATE_COUNT)
        lks_world_tell(w, "%swave %" PRIu64 " is %s%s%.*s", other(w, r->change, of), r->index,
                       lks_wave_state_words[r->state], r->text.len > 0 ? ": " : "",
                       LKS_STR_ARG(r->text));
}

bool lks_world_row_counts(unsigned kind)
{
    static const enum lks_record_kind kinds[] = {
        LKS_RECORD_MEMBER,  LKS_RECORD_COMMAND,   LKS_RECORD_FLASH,
        LKS_RECORD_DRAINED, LKS_RECORD_UNDRAINED, LKS_RECORD_CHANGE_MOVED,
        LKS_RECORD_WAVE,    LKS_RECORD_MASS,      LKS_RECORD_LIVENESS,
    };
    for (size_t i = 0; i < LKS_COUNT(kinds); i++)
        if (kind == (unsigned)kinds[i])
            return true;
    return false;
}

/* The node whose use a record may have changed. */
static struct lks_str node_of(const struct lks_record *r)
{
    bool member = r->kind == LKS_RECORD_MEMBER && r->member.state >= LKS_MEMBER_OVER;
    return member                            ? r->member.node
           : r->kind == LKS_RECORD_DRAINED   ? r->drained.node
           : r->kind == LKS_RECORD_UNDRAINED ? r->undrained.node
           : r->kind == LKS_RECORD_LIVENESS  ? r->liveness.node
                                             : LKS_STR("");
}

static void row(struct lks_world *w, const struct lks_record *r)
{
    struct lks_str node = node_of(r);
    uint32_t place = node.len > 0 ? lks_state_node(lks_engine_state(w->engine), node) : LKS_NO_NODE;
    if (r->kind == LKS_RECORD_COMMAND)
        lks_world_command(w, &r->command);
    else if (r->kind == LKS_RECORD_FLASH)
        lks_world_flash(w, &r->flash);
    else if (r->kind == LKS_RECORD_CHANGE_MOVED && r->change_moved.change == w->change)
        moved(w, &r->change_moved);
    else if (r->kind == LKS_RECORD_CHANGE_MOVED)
        other_moved(w, &r->change_moved);
    else if (r->kind == LKS_RECORD_WAVE)
        wave(w, &r->wave);
    else if (r->kind == LKS_RECORD_MASS)
        lks_world_post(w, WORLD_PERSON, 0, r->mass.alarm, lks_world_takes(w, WORLD_HOUR));
    else if (r->kind == LKS_RECORD_MEMBER)
        tell_member(w, &r->member);
    if (place != LKS_NO_NODE)
        lks_world_count_node(w, place);
}

/* The person ----------------------------------------------------------------------------------- */

static void order(struct lks_world *w, enum lks_change_order_word word)
{
    (void)lks_world_turn(
        w,
        &(struct lks_event){
            .kind = LKS_EVENT_CHANGE_MOVE,
            .by = LKS_STR("user:rehearsal"),
            .reason = LKS_STR("as rehearsed"),
            .move = {.change = w->change, .order = word, .standby = LKS_STR("as rehearsed")}},
        NULL);
}

/* An approver waives what was measured to be worse, for as long as one may. */
static void let_go(struct lks_world *w)
{
    enum { DAYS = 7 };
    const struct lks_str approver = LKS_STR("user:rehearsal-approver");
    char name[LKS_REHEARSE_NAME];
    (void)lks_world_turn(w,
                         &(struct lks_event){.kind = LKS_EVENT_GRANT,
                                             .by = WORLD_ADMIN,
                                             .grant = {.identity = approver,
                                                       .role = LKS_ROLE_APPROVER,
                                                       .site = LKS_STR(""),
                                                       .pool = LKS_STR("")}},
                         NULL);
    for (uint32_t i = 0; i < lks_world_change(w)->look_count; i++) {
        const struct lks_gate_look *l = &lks_world_change(w)->looks[i];
        struct lks_str metric = lks_state_text(lks_engine_state(w->engine), l->metric);
        if (l->verdict != LKS_GATE_HALT || metric.len == 0)
            continue;
        (void)snprintf(name, sizeof(name), "%" LKS_STR_FMT, LKS_STR_ARG(metric));
        (void)lks_world_turn(
            w,
            &(struct lks_event){.kind = LKS_EVENT_WAIVE,
                                .by = approver,
                                .reason = LKS_STR("as rehearsed"),
                                .waive = {.change = w->change,
                                          .gate = lks_str_from(name),
                                          .pool = LKS_STR(""),
                                          .until = lks_world_now(w).wall + DAYS * WORLD_DAY}},
            NULL);
    }
}

/* A member that is to exercise the rollback and failed is tried again, and repaired first where it
 * is lost: others of its kind do not start before. */
static void try_provers(struct lks_world *w)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    for (uint32_t i = 0; i < lks_world_change(w)->member_count; i++) {
        const struct lks_member *m = &lks_world_change(w)->members[i];
        bool failed =
            lks_member_over(m) && m->state != LKS_MEMBER_DONE && m->state != LKS_MEMBER_SKIPPED;
        if (!m->proves || !failed)
            continue;
        lks_world_repair(w, m->node);
        (void)lks_world_turn(w,
                             &(struct lks_event){.kind = LKS_EVENT_MEMBER_MOVE,
                                                 .by = LKS_STR("user:rehearsal"),
                                                 .reason = LKS_STR("as rehearsed"),
                                                 .name = lks_state_name(s, m->node),
                                                 .member = {.change = w->change, .again = true}},
                             NULL);
    }
}

/* Whether one that exercises the rollback is away: its repair takes hours, and is waited for. */
static bool awaits_prover(const struct lks_world *w)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    const struct lks_state_change *c = lks_world_change(w);
    for (uint32_t i = 0; i < c->member_count; i++) {
        const struct lks_member *m = &c->members[i];
        if (m->proves && m->state != LKS_MEMBER_DONE && s->nodes[m->node].liveness != LKS_LIVE)
            return true;
    }
    return false;
}

/* Whether going on is worth a try: where the same thing is in the way each time it is not. */
static bool gives_up(struct lks_world *w)
{
    uint32_t done = lks_world_change(w)->states[LKS_MEMBER_DONE];
    w->in_vain = done > w->done_by || awaits_prover(w) ? 0 : w->in_vain + 1;
    w->done_by = done;
    return w->in_vain > IN_VAIN_MAX || w->out->halts > RESUMES_MAX;
}

/* A person responded. Where the image is to blame the change is rolled back, else it goes on. */
static void person(struct lks_world *w, uint64_t alarm)
{
    const struct lks_state_change *c = lks_world_change(w);
    if (alarm != 0)
        (void)lks_world_turn(w,
                             &(struct lks_event){.kind = LKS_EVENT_ALARM_RELEASE,
                                                 .by = LKS_STR("user:rehearsal"),
                                                 .reason = LKS_STR("as rehearsed"),
                                                 .alarm = alarm},
                             NULL);
    if (c->state != LKS_CHANGE_HALTED)
        return;
    if (w->out->bad && w->out->hurt > 0) {
        order(w, LKS_ORDERED_ROLLBACK);
        return;
    }
    let_go(w);
    if (gives_up(w)) {
        order(w, LKS_ORDERED_ABORT);
        return;
    }
    order(w, LKS_ORDERED_RESUME);
    try_provers(w);
}

/* A run ---------------------------------------------------------------------------------------- */

static void draw_bad(struct lks_world *w)
{
    static const uint32_t shares[] = {10000, 50000, 200000, LKS_REHEARSE_MILLION};
    struct lks_rehearsed *o = w->out;
    const struct lks_state *s = lks_engine_state(w->engine);
    bool measured = lks_world_change(w)->metric_count > 0;
    o->bad = lks_rehearse_bad(&w->faults, o->seed);
    if (w->faults.bad > 0)
        o->bad_share = w->faults.bad;
    else if (w->faults.revision[0] != '\0')
        o->bad_share = LKS_REHEARSE_MILLION;
    else if (o->bad)
        o->bad_share = shares[lks_rng_below(&w->rng, LKS_COUNT(shares))];
    o->way = w->faults.way;
    if (o->way == LKS_BAD_DRAWN)
        o->way = (enum lks_rehearse_bad)(1 + lks_rng_below(&w->rng, LKS_BAD_COUNT - 1 - !measured));
    for (uint32_t i = 0; i < w->machine_count; i++) {
        bool here =
            w->faults.revision[0] == '\0' ||
            lks_str_is(lks_state_text(s, s->nodes[i].hardware_revision), w->faults.revision);
        w->machines[i].bad = here && s->nodes[i].asset == 0 && lks_world_chance(w, o->bad_share);
    }
}

/* What is due by then, one after the other; then the engine's tick, and what came of all of it. */
static bool step(struct lks_world *w, lks_ms end)
{
    struct lks_message m;
    lks_ms next = lks_engine_next(w->engine), soon = w->ticked + TURN_EVERY;
    bool waits = lks_engine_seq(w->engine) > lks_engine_durable_seq(w->engine);
    lks_ms until = waits || next < soon ? soon : next;
    if (until > end)
        until = end;
    if (lks_queue_next(w->queue, until, &m)) {
        w->now = m.due > w->now ? m.due : w->now;
        if (m.kind == WORLD_PERSON)
            person(w, m.number);
        else
            lks_world_deliver(w, &m);
        return true;
    }
    if (until == end)
        return false;
    w->now = w->ticked = until > w->now ? until : w->now;
    lks_world_measure(w);
    do
        (void)lks_world_turn(w, &(struct lks_event){.kind = LKS_EVENT_TICK}, NULL);
    while (!w->broken && lks_engine_next(w->engine) <= w->now && lks_world_flush(w, row));
    return lks_world_flush(w, row);
}

static void finish(struct lks_world *w)
{
    static const enum lks_rehearse_end ends[LKS_CHANGE_STATE_COUNT] = {
        [LKS_CHANGE_DONE] = LKS_REHEARSED_DONE,
        [LKS_CHANGE_REJECTED] = LKS_REHEARSED_ABORTED,
        [LKS_CHANGE_ABORTED] = LKS_REHEARSED_ABORTED,
        [LKS_CHANGE_ROLLED_BACK] = LKS_REHEARSED_ROLLED_BACK,
    };
    const struct lks_state_change *c = lks_world_change(w);
    w->out->end = lks_change_over(c) ? ends[c->state] : LKS_REHEARSED_STUCK;
    w->out->took = w->now - w->begun;
    lks_world_count_end(w);
}

static bool begin(struct lks_world *w)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    w->machine_count = s->node_count;
    w->machines = calloc((size_t)s->node_count + 1, sizeof(w->machines[0]));
    w->queue = calloc(1, sizeof(*w->queue));
    if (w->machines == NULL || w->queue == NULL || !lks_world_count_begin(w)) {
        lks_world_break(w, LKS_E_NOMEM, "no memory");
        return false;
    }
    w->queue->about = (const char *)w->machines;
    w->queue->about_size = sizeof(w->machines[0]);
    for (uint32_t i = 0; i < s->node_count; i++)
        lks_engine_vouch(w->engine, i, UINT64_MAX / 2);
    draw_bad(w);
    w->begun = w->ticked = w->now;
    lks_world_count_time(w);
    return true;
}

enum lks_code lks_world_run(struct lks_world *w, uint64_t seed,
                            const struct lks_rehearse_faults *faults,
                            const struct lks_world_say *say, struct lks_rehearsed *out,
                            struct lks_err *err)
{
    LKS_ASSERT(w->machines == NULL && w->change != 0);
    *out = (struct lks_rehearsed){.seed = seed};
    w->refused = (struct lks_err){0};
    w->faults = *faults;
    w->say = say;
    w->out = out;
    w->err = &w->refused;
    w->rng.state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    if (begin(w)) {
        lks_ms end = w->begun + DAYS_MAX * WORLD_DAY;
        order(w, LKS_ORDERED_START);
        if (w->refused.code != LKS_OK && !w->broken)
            lks_world_break(w, w->refused.code, w->refused.msg);
        while (!w->broken && !lks_change_over(lks_world_change(w)) && step(w, end))
            continue;
        if (!w->broken && lks_world_flush(w, row))
            finish(w);
    }
    w->err = NULL;
    w->out = NULL;
    if (w->broken)
        *err = w->refused;
    return w->broken ? w->refused.code : LKS_OK;
}
