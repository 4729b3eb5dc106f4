/* Changes as a whole: which wave is on, who may begin, what follows when a wave is over. */
#include "core/campaign/campaign.h"

#include "core/campaign/campaign_parts.h"
#include "core/firmware/endpoint.h"
#include "core/plan/drain.h"
#include "core/state/mass.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

enum {
    UNITS_SLICE = 4096, /* units of a wave that are looked at at once */
    BARRED_MAX = 256,   /* of them one after the other that wait: so will those behind */
};
#define TRY_AGAIN_MAX (600 * LKS_SECOND) /* behind a resume, for a person to try nodes again */

/* Whether this tick is to look at it: one just before may have done so, and nothing happened. */
static bool is_to_look(const struct lks_deciding *d, const struct lks_state_change *c)
{
    return c->looked == 0 || c->looked >= d->now.mono;
}

/* Records ----------------------------------------------------------------------------------- */

void lks_campaign_move(struct lks_deciding *d, const struct lks_state_change *c,
                       enum lks_change_state state, struct lks_str reason)
{
    lks_decision_add(d, LKS_RECORD_CHANGE_MOVED)->change_moved =
        (struct lks_rec_change_moved){.change = c->id, .state = state, .reason = reason};
}

static void move_wave(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave,
                      enum lks_wave_state state, lks_ms until, struct lks_str text)
{
    lks_decision_add(d, LKS_RECORD_WAVE)->wave = (struct lks_rec_wave){
        .change = c->id, .index = wave, .state = state, .until = until, .text = text};
}

void lks_campaign_alarm(struct lks_deciding *d, const struct lks_state_change *c,
                        struct lks_str text)
{
    char owner[LKS_CHANGE_OWNER_SIZE];
    struct lks_str subject = lks_decision_copy(d, lks_state_change_owner(c->id, owner));
    (void)lks_decision_alarm(d, LKS_ALARM_CHANGE, subject, text);
}

/* No further node starts from here on; nodes in progress finish or roll back. Nothing failed, so
 * finished nodes stay as they are, and a person decides. */
static void stop(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave,
                 enum lks_wave_state state, struct lks_str why)
{
    move_wave(d, c, wave, state, 0, why);
    lks_campaign_move(d, c, LKS_CHANGE_HALTED, why);
    lks_campaign_alarm(d, c, why);
}

/* The same for a failure: where the change says so, all of it rolls back. */
static void halt(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave,
                 struct lks_str why)
{
    stop(d, c, wave, LKS_WAVE_HALTED, why);
    if (c->rolls_back)
        lks_campaign_move(d, c, LKS_CHANGE_ROLLING_BACK,
                          LKS_STR("it was halted, and is rolled back at once"));
}

/* Who begins ------------------------------------------------------------------------------- */

/* No node starts before the change's earliest time or after its latest. */
static bool is_its_time(const struct lks_deciding *d, const struct lks_state_change *c)
{
    return d->now.wall >= c->not_before && (c->not_after == 0 || d->now.wall < c->not_after);
}

/* Why a unit that is meant did not begin, by the first of it that says so. */
static struct lks_str why_waits(const struct lks_unit_look *l)
{
    struct lks_str barred = lks_campaign_unit_barred(l->d, l->c, l->u, l->back);
    if (barred.len > 0)
        return lks_decision_text(l->d, LKS_WAVE_WAITS "%" LKS_STR_FMT, LKS_STR_ARG(barred));
    const char *crowds = lks_campaign_unit_crowds(l->d, l->c, l->u, 0, NULL);
    return lks_decision_text(l->d, LKS_WAVE_WAITS "%s",
                             crowds != NULL ? crowds : "for others of its wave");
}

/* A wave without a node in progress reports the reason; `waits`: the first unit that waits. */
static void tell_waiting(struct lks_unit_look *l, uint32_t wave, const struct lks_unit *waits)
{
    struct lks_str now = lks_state_text(l->d->state, l->c->waves[wave].text), text = LKS_STR("");
    if (waits == NULL && !lks_str_starts(now, LKS_WAVE_WAITS))
        return;
    if (waits != NULL) {
        l->u = waits;
        text = why_waits(l);
    }
    if (!lks_str_eq(text, now))
        move_wave(l->d, l->c, wave, LKS_WAVE_BEGUN, 0, text);
}

/* Units of a wave that are in progress, and nodes that this decision begins. */
struct begun {
    uint32_t busy, nodes;
};

static void begin_unit(struct lks_unit_look *l, struct begun *b)
{
    lks_campaign_unit_begin(l);
    b->busy++;
    b->nodes += l->u->count;
}

/* Those whose nodes are down, or reserved for maintenance, come before the others of the wave. */
static void begin_idle(struct lks_unit_look *l, uint32_t wave, uint32_t width, struct begun *b)
{
    const struct lks_wave *w = &l->c->waves[wave];
    uint32_t seen = 0, barred = 0;
    for (uint32_t u = w->next != 0 ? w->next : w->first_unit;
         u != 0 && b->busy < width && seen < UNITS_SLICE && barred < BARRED_MAX &&
         lks_deciding_room(l->d);
         u = l->u->next, seen++) {
        l->u = &l->c->units[u - 1];
        if (!lks_campaign_unit_idle(l) || !lks_campaign_unit_meant(l))
            continue;
        enum lks_unit_bar_kind bar = lks_campaign_unit_bar_beside(l, b->nodes);
        barred = bar == LKS_UNIT_BAR_WAITS ? barred + 1 : 0;
        if (bar == LKS_UNIT_BAR_NOT)
            begin_unit(l, b);
    }
}

/* Units of the wave that may begin do, as many as it is wide, and as there is room in a decision.
 * How many of those that were looked at are only away. */
static uint32_t begin_units(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave)
{
    const struct lks_wave *w = &c->waves[wave];
    struct lks_downs downs = {0};
    struct lks_unit_look l = {.d = d, .c = c, .downs = &downs};
    const struct lks_unit *waits = NULL;
    struct begun b = {.busy = w->busy};
    uint32_t width = lks_campaign_ramp_room(c, wave);
    uint32_t seen = 0, absent = 0, shown = 0, meant = 0, barred = 0;
    begin_idle(&l, wave, width, &b);
    bool begun = b.nodes > 0; /* those of them that may; else that look may have ended early */
    for (uint32_t u = w->next != 0 ? w->next : w->first_unit;
         u != 0 && b.busy < width && seen < UNITS_SLICE && barred < BARRED_MAX &&
         lks_deciding_room(d);
         u = l.u->next, seen++) {
        l.u = &c->units[u - 1];
        if (!lks_campaign_unit_meant(&l))
            continue;
        enum lks_unit_bar_kind bar = lks_campaign_unit_bar_beside(&l, b.nodes);
        meant++;
        barred = bar == LKS_UNIT_BAR_WAITS ? barred + 1 : 0;
        absent += bar == LKS_UNIT_BAR_ABSENT;
        waits = waits == NULL && (bar == LKS_UNIT_BAR_WAITS || bar == LKS_UNIT_BAR_ABSENT) ? l.u
                                                                                           : waits;
        shown += bar == LKS_UNIT_BAR_WAITS && lks_campaign_unit_unproven(&l);
        if (bar == LKS_UNIT_BAR_OTHER)
            lks_campaign_unit_skip(&l);
        if (bar == LKS_UNIT_BAR_NOT && !(begun && lks_campaign_unit_idle(&l)))
            begin_unit(&l, &b);
    }
    tell_waiting(&l, wave, b.busy == 0 ? waits : NULL);
    return b.busy == 0 && absent + shown == meant ? absent : 0;
}

/* No other unit of the wave is left, and these were waited for. */
static void skip_units(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave)
{
    const struct lks_wave *w = &c->waves[wave];
    struct lks_downs downs = {0};
    struct lks_unit_look l = {.d = d, .c = c, .downs = &downs};
    for (uint32_t u = w->next != 0 ? w->next : w->first_unit; u != 0 && lks_deciding_room(d);
         u = l.u->next) {
        l.u = &c->units[u - 1];
        if (lks_campaign_unit_meant(&l) && lks_campaign_unit_bar(&l) == LKS_UNIT_BAR_ABSENT)
            lks_campaign_unit_skip(&l);
    }
}

/* Waves ------------------------------------------------------------------------------------- */

/* How many of a wave, or of a whole change, are in progress. */
uint32_t lks_campaign_members_moving(const uint32_t members[LKS_MEMBER_STATE_COUNT])
{
    uint32_t count = 0;
    for (uint32_t i = LKS_MEMBER_WAITING; i <= (uint32_t)LKS_MEMBER_READING; i++)
        count += members[i];
    return count;
}

/* Whether this one exercises the rollback for the other. */
static bool shows_for(const struct lks_state *s, const struct lks_member *m,
                      const struct lks_member *of)
{
    const struct lks_node *a = &s->nodes[m->node], *b = &s->nodes[of->node];
    return m->proves && m->from == of->from && a->class == b->class && a->asset == b->asset;
}

/* Whether a member of this class and stack is on its way to exercise the rollback. */
static bool is_being_shown(const struct lks_state *s, const struct lks_state_change *c,
                           const struct lks_member *of, uint32_t wave)
{
    for (uint32_t i = 0; i < c->member_count; i++) {
        const struct lks_member *m = &c->members[i];
        if (!lks_member_over(m) && c->units[m->unit].wave <= wave && shows_for(s, m, of))
            return true;
    }
    return false;
}

/* What a person can do where the rollback was not exercised: a skipped member is not tried again.
 */
static struct lks_str way_out(struct lks_deciding *d, const struct lks_state_change *c,
                              const struct lks_member *of)
{
    for (uint32_t i = 0; i < c->member_count; i++) {
        const struct lks_member *m = &c->members[i];
        if (shows_for(d->state, m, of) && lks_member_over(m) && m->state != LKS_MEMBER_SKIPPED)
            return lks_decision_text(
                d, "resume it and try %" LKS_STR_FMT " again, or abort it: what is done stays",
                LKS_STR_ARG(lks_state_name(d->state, m->node)));
    }
    return LKS_STR("who was to show it was left alone: abort it, what is done stays, and propose "
                   "another one");
}

/* No member is left that could exercise the rollback on this hardware: promise 5 keeps the waiting
 * unit from ever starting, and a person has to know. */
static const struct lks_member *never_shown(struct lks_deciding *d,
                                            const struct lks_state_change *c, uint32_t wave)
{
    struct lks_unit_look l = {.d = d, .c = c};
    uint32_t seen = 0;
    const struct lks_wave *w = &c->waves[wave];
    if (w->busy > 0 || w->members[LKS_MEMBER_PENDING] == 0)
        return NULL;
    for (uint32_t u = w->next != 0 ? w->next : w->first_unit; u != 0 && seen < UNITS_SLICE;
         u = l.u->next, seen++) {
        l.u = &c->units[u - 1];
        for (uint32_t i = 0; i < l.u->count; i++) {
            const struct lks_member *m = &c->members[l.u->first + i];
            if (m->state == LKS_MEMBER_PENDING && d->state->nodes[m->node].placed &&
                lks_campaign_member_unproven(&l, m))
                return is_being_shown(d->state, c, m, wave) ? NULL : m;
        }
    }
    return NULL;
}

/* What keeps a wave from ever going on by itself; an empty text: nothing. */
static struct lks_str stuck_text(struct lks_deciding *d, const struct lks_state_change *c,
                                 uint32_t wave)
{
    const struct lks_wave *w = &c->waves[wave];
    char left[LKS_COUNT_TEXT_SIZE];
    if (w->members[LKS_MEMBER_PENDING] > 0 && w->busy == 0 && lks_change_late(c, d->now.wall))
        return lks_decision_text(d, "its time has expired, and " LKS_CHANGE_LATE_TEXT,
                                 lks_str_count_text(c->states[LKS_MEMBER_PENDING], "node", left));
    bool just = c->moved > c->started && d->now.wall < c->moved + TRY_AGAIN_MAX;
    const struct lks_member *m = just ? NULL : never_shown(d, c, wave);
    if (m == NULL)
        return LKS_STR("");
    const struct lks_node *n = &d->state->nodes[m->node];
    return lks_decision_text(
        d,
        "the rollback was not exercised yet on %" LKS_STR_FMT ": %" LKS_STR_FMT
        " does not start before that; %" LKS_STR_FMT,
        LKS_STR_ARG(lks_state_text(d->state, n->asset != 0 ? n->asset : n->class)),
        LKS_STR_ARG(lks_state_name(d->state, m->node)), LKS_STR_ARG(way_out(d, c, m)));
}

static void run_begun(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave)
{
    const struct lks_wave *w = &c->waves[wave];
    struct lks_gate_said said = lks_campaign_gate_judge(d, c, wave);
    if (said.verdict == LKS_GATE_HALT) {
        halt(d, c, wave, said.text);
        return;
    }
    struct lks_str held = lks_campaign_ramp_grow(d, c, wave);
    if (held.len > 0) {
        stop(d, c, wave, LKS_WAVE_HALTED, held);
        return;
    }
    if (w->members[LKS_MEMBER_PENDING] == 0 && lks_campaign_members_moving(w->members) == 0) {
        lks_ms until = w->soak < UINT64_MAX - d->now.wall ? d->now.wall + w->soak : UINT64_MAX;
        move_wave(d, c, wave, LKS_WAVE_SOAKS, until, LKS_STR("all are finished"));
        return;
    }
    struct lks_str stuck = stuck_text(d, c, wave);
    if (stuck.len > 0)
        stop(d, c, wave, LKS_WAVE_HALTED, stuck);
    else if (w->members[LKS_MEMBER_PENDING] > 0 && is_its_time(d, c) &&
             !lks_campaign_lacks(d, c, wave) && /* an approval may be withdrawn meanwhile */
             begin_units(d, c, wave) > 0 && d->now.wall >= w->since + LKS_CAMPAIGN_GRACE)
        skip_units(d, c, wave);
}

static void run_soaking(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave)
{
    const struct lks_wave *w = &c->waves[wave];
    struct lks_gate_said said = lks_campaign_gate_judge(d, c, wave);
    if (w->members[LKS_MEMBER_PENDING] + lks_campaign_members_moving(w->members) > 0) {
        /* One joined, or is tried again. */
        move_wave(d, c, wave, LKS_WAVE_BEGUN, 0, LKS_STR("not all are finished"));
        return;
    }
    switch (said.verdict) {
    case LKS_GATE_PASS:
        move_wave(d, c, wave, LKS_WAVE_PASSED, 0,
                  lks_decision_text(d, "%u done", w->members[LKS_MEMBER_DONE]));
        break;
    case LKS_GATE_EXTEND:
    case LKS_GATE_COUNT:
        break;
    case LKS_GATE_HOLD:
        stop(d, c, wave, LKS_WAVE_HELD, said.text);
        break;
    case LKS_GATE_HALT:
        halt(d, c, wave, said.text);
        break;
    }
}

/* The end ----------------------------------------------------------------------------------- */

uint32_t lks_campaign_change_kept(const struct lks_state_change *c)
{
    return c->states[LKS_MEMBER_FENCED] + c->states[LKS_MEMBER_HANDS] +
           c->states[LKS_MEMBER_UNKNOWN];
}

static void complete(struct lks_deciding *d, const struct lks_state_change *c)
{
    if (lks_campaign_absorb(d, c))
        return;
    uint32_t kept = lks_campaign_change_kept(c);
    /* A change with no node at its target did not succeed. */
    bool none = c->states[LKS_MEMBER_DONE] == 0 && c->states[LKS_MEMBER_REVERTED] + kept > 0;
    lks_campaign_pin(d, c);
    lks_campaign_move(d, c, none ? LKS_CHANGE_ROLLED_BACK : LKS_CHANGE_DONE,
                      lks_decision_text(d,
                                        "%u done, %u rolled back, %u skipped, %u out of "
                                        "service",
                                        c->states[LKS_MEMBER_DONE], c->states[LKS_MEMBER_REVERTED],
                                        c->states[LKS_MEMBER_SKIPPED], kept));
}

static void begin_wave(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave)
{
    char at[LKS_TIME_TEXT_SIZE];
    struct lks_str stuck = stuck_text(d, c, wave);
    bool begins = stuck.len == 0 && is_its_time(d, c) && !lks_campaign_lacks(d, c, wave);
    struct lks_str drifted = begins ? lks_campaign_wave_drifted(d, c, wave) : LKS_STR("");
    if (stuck.len > 0 || drifted.len > 0)
        stop(d, c, wave, LKS_WAVE_HALTED, stuck.len > 0 ? stuck : drifted);
    else if (begins)
        move_wave(d, c, wave, LKS_WAVE_BEGUN, 0, LKS_STR(""));
    else if (c->waves[wave].text == 0)
        move_wave(d, c, wave, LKS_WAVE_PLANNED, 0,
                  lks_decision_text(d, LKS_WAVE_WAITS "no node starts before %s",
                                    lks_time_text(c->not_before, at)));
}

static void run(struct lks_deciding *d, const struct lks_state_change *c)
{
    uint32_t wave = 0;
    enum lks_queue queue = lks_campaign_queue(d, c);
    if (queue == LKS_QUEUE_BEGUN)
        return;
    while (wave < c->wave_count && c->waves[wave].state == LKS_WAVE_PASSED &&
           lks_campaign_members_moving(c->waves[wave].members) == 0)
        wave++;
    if (wave == c->wave_count) {
        if (queue == LKS_QUEUE_EMPTY)
            complete(d, c);
        return;
    }
    switch (c->waves[wave].state) {
    case LKS_WAVE_PLANNED:
        begin_wave(d, c, wave);
        break;
    case LKS_WAVE_BEGUN:
        run_begun(d, c, wave);
        break;
    case LKS_WAVE_SOAKS:
        run_soaking(d, c, wave);
        break;
    case LKS_WAVE_HELD: /* the person who resumed it has decided */
        move_wave(d, c, wave, LKS_WAVE_PASSED, 0, LKS_STR("a person let it pass"));
        break;
    case LKS_WAVE_HALTED: /* it may have been so before it began: a resume is no approval */
        if (c->waves[wave].members[LKS_MEMBER_PENDING] == 0 || !lks_campaign_lacks(d, c, wave))
            move_wave(d, c, wave, LKS_WAVE_BEGUN, 0, LKS_STR("a person resumed it"));
        break;
    case LKS_WAVE_PASSED: /* a person tried one of it again */
        move_wave(d, c, wave, LKS_WAVE_BEGUN, 0, LKS_STR("not all are finished"));
        break;
    case LKS_WAVE_STATE_COUNT:
        break;
    }
}

/* The tick ---------------------------------------------------------------------------------- */

void lks_campaign_tick(struct lks_deciding *d)
{
    const struct lks_state *s = d->state;
    if (s->change_count == 0 || !lks_deciding_room(d) ||
        !lks_decision_due(d, &s->members_due, d->now.wall, SIZE_MAX, lks_campaign_member_tick))
        return;
    size_t before = d->out->count;
    uint64_t turn = d->now.mono / (s->limits.heartbeat > 0 ? s->limits.heartbeat : 1);
    for (uint32_t i = 0; i < s->change_count && lks_deciding_room(d); i++) {
        /* Each is the first in its turn. */
        const struct lks_state_change *c = &s->changes[(i + turn) % s->change_count];
        if (d->out->count > before) { /* what one of them begins, the next one has to see */
            d->out->more = true;
            return;
        }
        if (!is_to_look(d, c))
            continue;
        if (c->state == LKS_CHANGE_RUNNING)
            run(d, c);
        else if (c->state == LKS_CHANGE_ROLLING_BACK)
            lks_campaign_roll_back(d, c);
        else if (c->state == LKS_CHANGE_ABORTING)
            lks_campaign_abort(d, c);
    }
}
