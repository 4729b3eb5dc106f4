/* What people say of changes. What becomes of one that runs is in campaign.c. */
#include "core/campaign/campaign_parts.h"
#include "core/plan/plan.h"
#include "core/rows/flash.h"
#include "core/rows/pool.h"
#include "core/rules/decide_rules.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

static struct lks_str text_of(const struct lks_deciding *d, lks_text text)
{
    return lks_state_text(d->state, text);
}

const struct lks_state_change *lks_decide_change(struct lks_deciding *d, uint64_t id)
{
    const struct lks_state_change *c = lks_state_change(d->state, id);
    if (c == NULL)
        lks_decision_refuse(d, LKS_E_NOT_FOUND, "there is no change %llu", (unsigned long long)id);
    return c;
}

bool lks_decide_member(struct lks_deciding *d, const struct lks_state_change *c,
                       struct lks_str name, struct lks_look *out)
{
    const struct lks_member *m = lks_state_change_member(c, lks_state_node(d->state, name));
    if (m == NULL)
        lks_decision_refuse(d, LKS_E_NOT_FOUND, "%" LKS_STR_FMT " is not in change %llu",
                            LKS_STR_ARG(name), (unsigned long long)c->id);
    else
        *out = lks_campaign_look_at(d->state, c, m);
    return m != NULL;
}

void lks_decide_change_moved(struct lks_deciding *d, const struct lks_state_change *c,
                             enum lks_change_state to)
{
    bool runs = d->event->kind == LKS_EVENT_CHANGE_MOVE && to == LKS_CHANGE_RUNNING;
    lks_decision_add(d, LKS_RECORD_CHANGE_MOVED)->change_moved = (struct lks_rec_change_moved){
        .change = c->id,
        .state = to,
        .by = d->event->by,
        .reason = lks_str_trim(d->event->reason),
        .standby = runs ? lks_str_trim(d->event->move.standby) : LKS_STR(""),
        .starts = runs && d->event->move.order == LKS_ORDERED_START,
    };
}

/* A person has seen to it. */
static void end_alarm(struct lks_deciding *d, const struct lks_state_change *c)
{
    char space[LKS_CHANGE_OWNER_SIZE];
    struct lks_str owner = lks_decision_copy(d, lks_state_change_owner(c->id, space));
    lks_decision_alarm_over(d, LKS_ALARM_CHANGE, owner, lks_str_trim(d->event->reason));
}

/* Proposing --------------------------------------------------------------------------------- */

/* A plan's record in this decision: the change's number is filled in, and its texts live as long as
 * the decision does. */
static void add_planned(struct lks_deciding *d, const struct lks_record *planned)
{
    const struct lks_record_info *info = lks_record_info((unsigned)planned->kind);
    struct lks_record made = *planned;
    for (size_t i = 0; i < info->count; i++) {
        const struct lks_record_field *f = &info->fields[i];
        char *at = (char *)&made.begun + f->offset;
        struct lks_str text;
        if (f->type != LKS_RECORD_TEXT)
            continue;
        memcpy(&text, at, sizeof(text));
        if (text.len == 0)
            continue;
        text = lks_decision_copy(d, text);
        memcpy(at, &text, sizeof(text));
    }
    *lks_decision_add(d, planned->kind) = made;
}

static void add_plan(struct lks_deciding *d, struct lks_plan *plan)
{
    uint64_t id = d->state->next_change;
    plan->change.id = id;
    plan->change.by = d->event->by;
    plan->change.minters = lks_decision_backing(d).minters;
    plan->change.reason = lks_str_trim(d->event->reason);
    add_planned(d, &(struct lks_record){.kind = LKS_RECORD_CHANGE, .change = plan->change});
#define ADD_ALL(KIND, member, list, many)                                                          \
    for (size_t i = 0; i < (many); i++) {                                                          \
        struct lks_record r = {.kind = LKS_RECORD_##KIND, .member = (list)[i]};                    \
        r.member.change = id;                                                                      \
        add_planned(d, &r);                                                                        \
    }
    ADD_ALL(PLAN_STEP, plan_step, plan->steps, plan->step_count)
    ADD_ALL(PLAN_WAVE, plan_wave, plan->waves, plan->wave_count)
    ADD_ALL(PLAN_PART, plan_part, plan->parts, plan->part_count)
    ADD_ALL(PLAN_ORDER, plan_order, plan->orders, plan->order_count)
    ADD_ALL(PLAN_NOTE, plan_note, plan->notes, plan->note_count)
    ADD_ALL(PLAN_METRIC, plan_metric, plan->metrics, plan->metric_count)
    ADD_ALL(PLAN_GATE, plan_gate, plan->gates, plan->gate_count)
#undef ADD_ALL
}

/* One person does not keep all others from proposing. */
static bool has_proposed_enough(struct lks_deciding *d)
{
    enum { MOST = LKS_STATE_CHANGES_MAX / 8 };
    uint32_t own = 0;
    for (uint32_t i = 0; i < d->state->change_count; i++) {
        const struct lks_state_change *c = &d->state->changes[i];
        own += !lks_change_over(c) && lks_str_eq(text_of(d, c->by), d->event->by);
    }
    if (own < MOST)
        return false;
    lks_decision_refuse(d, LKS_E_LIMIT,
                        "%" LKS_STR_FMT " proposed %u changes that are not over, which is the most "
                        "for one person: abort some of them first",
                        LKS_STR_ARG(d->event->by), own);
    return true;
}

static void add_proposed(struct lks_deciding *d, struct lks_plan *plan)
{
    add_plan(d, plan);
    if (plan->change.quorum == 0) /* by its class; no approval is needed */
        lks_decision_add(d, LKS_RECORD_CHANGE_MOVED)->change_moved = (struct lks_rec_change_moved){
            .change = plan->change.id,
            .state = LKS_CHANGE_APPROVED,
            .reason = lks_decision_text(d, "approved beforehand, as is all of class %" LKS_STR_FMT,
                                        LKS_STR_ARG(plan->change.class)),
        };
}

/* What is asked for is judged by the planner, in one place: that the stack is published, too, and
 * that what comes of it fits into a change. Whether production takes it is not: a plan may be
 * rehearsed before. */
void lks_decide_propose(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    static const struct lks_bundle_set none = {0};
    struct lks_plan plan;
    struct lks_err err = {0};
    if (!lks_decision_reason(d) ||
        !lks_decision_space(d, "changes that are not over", d->state->changes_open,
                            LKS_STATE_CHANGES_MAX / 2) ||
        has_proposed_enough(d))
        return;
    enum lks_code code =
        lks_plan_make(d->state, d->book, e->propose.known == NULL ? &none : e->propose.known,
                      d->now.wall, &e->propose.wish, &plan, &err);
    if (code == LKS_E_NOMEM) {
        d->out->failed = code;
        return;
    }
    if (code != LKS_OK) {
        lks_decision_refuse(d, code, "%s", err.msg);
        return;
    }
    if (lks_decide_hand_takes_plan(d, &plan))
        add_proposed(d, &plan);
    lks_plan_fini(&plan);
}

/* Waiting ----------------------------------------------------------------------------------- */

/* A plan is of the day it was made, and does not stay open for ever: one that is not approved and
 * started in time expires, and can be proposed again. */
void lks_decide_proposals_tick(struct lks_deciding *d)
{
    const struct lks_state *s = d->state;
    enum { HOUR_MS = 3600 * 1000 };
    for (uint32_t i = 0; i < s->change_count && s->changes_open > 0 && lks_deciding_room(d); i++) {
        const struct lks_state_change *c = &s->changes[i];
        lks_ms end = lks_state_change_expires(s, c);
        lks_ms since = c->state == LKS_CHANGE_APPROVED && c->moved != 0 ? c->moved : c->proposed;
        if (d->now.wall < end)
            continue;
        lks_decision_add(d, LKS_RECORD_CHANGE_MOVED)->change_moved = (struct lks_rec_change_moved){
            .change = c->id,
            .state = LKS_CHANGE_ABORTED,
            .reason =
                lks_decision_text(d, "it was not %s within %llu h: propose it again",
                                  c->state == LKS_CHANGE_PROPOSED ? "approved" : "started",
                                  (unsigned long long)((end > since ? end - since : 0) / HOUR_MS)),
        };
    }
}

/* Moving ------------------------------------------------------------------------------------ */

/* One row each order that means something in a state. To where it is already: said again. */
static const struct {
    enum lks_change_order_word order;
    enum lks_change_state from, to;
} moves[] = {
    {LKS_ORDERED_START, LKS_CHANGE_PROPOSED, LKS_CHANGE_RUNNING}, /* by breaking the glass */
    {LKS_ORDERED_START, LKS_CHANGE_APPROVED, LKS_CHANGE_RUNNING},
    {LKS_ORDERED_START, LKS_CHANGE_RUNNING, LKS_CHANGE_RUNNING},
    {LKS_ORDERED_PAUSE, LKS_CHANGE_RUNNING, LKS_CHANGE_PAUSED},
    {LKS_ORDERED_PAUSE, LKS_CHANGE_PAUSED, LKS_CHANGE_PAUSED},
    {LKS_ORDERED_RESUME, LKS_CHANGE_PAUSED, LKS_CHANGE_RUNNING},
    {LKS_ORDERED_RESUME, LKS_CHANGE_HALTED, LKS_CHANGE_RUNNING},
    {LKS_ORDERED_RESUME, LKS_CHANGE_RUNNING, LKS_CHANGE_RUNNING},
    {LKS_ORDERED_ABORT, LKS_CHANGE_PROPOSED, LKS_CHANGE_ABORTED},
    {LKS_ORDERED_ABORT, LKS_CHANGE_APPROVED, LKS_CHANGE_ABORTED},
    {LKS_ORDERED_ABORT, LKS_CHANGE_RUNNING, LKS_CHANGE_ABORTING},
    {LKS_ORDERED_ABORT, LKS_CHANGE_PAUSED, LKS_CHANGE_ABORTING},
    {LKS_ORDERED_ABORT, LKS_CHANGE_HALTED, LKS_CHANGE_ABORTING},
    {LKS_ORDERED_ABORT, LKS_CHANGE_ROLLING_BACK, LKS_CHANGE_ABORTING},
    {LKS_ORDERED_ABORT, LKS_CHANGE_ABORTING, LKS_CHANGE_ABORTING},
    {LKS_ORDERED_ABORT, LKS_CHANGE_ABORTED, LKS_CHANGE_ABORTED},
    {LKS_ORDERED_ROLLBACK, LKS_CHANGE_RUNNING, LKS_CHANGE_ROLLING_BACK},
    {LKS_ORDERED_ROLLBACK, LKS_CHANGE_PAUSED, LKS_CHANGE_ROLLING_BACK},
    {LKS_ORDERED_ROLLBACK, LKS_CHANGE_HALTED, LKS_CHANGE_ROLLING_BACK},
    {LKS_ORDERED_ROLLBACK, LKS_CHANGE_ABORTING, LKS_CHANGE_ROLLING_BACK},
    {LKS_ORDERED_ROLLBACK, LKS_CHANGE_ROLLING_BACK, LKS_CHANGE_ROLLING_BACK},
    {LKS_ORDERED_ROLLBACK, LKS_CHANGE_ROLLED_BACK, LKS_CHANGE_ROLLED_BACK},
};

/* Why it means nothing in this state, and what would. */
static const char *instead(enum lks_change_order_word order, const struct lks_state_change *c)
{
    if (order == LKS_ORDERED_ROLLBACK && c->state == LKS_CHANGE_DONE)
        return "; propose a change of its nodes to the stack before";
    if (lks_change_over(c))
        return "; it has ended";
    if (c->state == LKS_CHANGE_PROPOSED)
        return "; an approver has to approve it first";
    if (c->state == LKS_CHANGE_APPROVED)
        return "; it was not started";
    return "";
}

/* No node would start: to let it run would end where it is now. */
static bool is_in_time(struct lks_deciding *d, const struct lks_state_change *c)
{
    char end[LKS_TIME_TEXT_SIZE], left[LKS_COUNT_TEXT_SIZE];
    if (!lks_change_late(c, d->now.wall) || c->states[LKS_MEMBER_PENDING] == 0)
        return true;
    const char *word = lks_change_order_words[d->event->move.order];
    (void)lks_time_text(c->not_after, end);
    if (c->state <= LKS_CHANGE_APPROVED)
        lks_decision_refuse(d, LKS_E_REFUSED, "%s: its time has expired (%s); propose it again",
                            word, end);
    else
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%s: its time has expired (%s), and " LKS_CHANGE_LATE_TEXT, word, end,
                            lks_str_count_text(c->states[LKS_MEMBER_PENDING], "node", left));
    return false;
}

/* Else it is refused. */
static bool can_start(struct lks_deciding *d, const struct lks_state_change *c)
{
    return is_in_time(d, c) && lks_decide_may_start(d, c) && lks_decide_hand_takes_change(d, c) &&
           lks_campaign_change_drift_fits(d, c);
}

struct lks_str lks_decide_change_barred(const struct lks_state *s, const struct lks_book *book,
                                        struct lks_now now, const struct lks_state_change *c,
                                        struct lks_decision *space)
{
    /* The person who starts it names the standby then. */
    static const struct lks_event asks = {
        .kind = LKS_EVENT_CHANGE_MOVE,
        .move = {.order = LKS_ORDERED_START, .standby = LKS_STR_C("a person on site")}};
    static const struct lks_str prefix = LKS_STR_C("start: ");
    struct lks_deciding d = {.state = s, .book = book, .now = now, .event = &asks, .out = space};
    if (c->state != LKS_CHANGE_APPROVED || can_start(&d, c))
        return LKS_STR("");
    struct lks_str why = lks_str_from(space->refused.msg);
    size_t skip = lks_str_starts(why, prefix.ptr) ? prefix.len : 0;
    return (struct lks_str){why.ptr + skip, why.len - skip};
}

void lks_decide_change_move(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    enum lks_change_order_word order = e->move.order;
    const struct lks_state_change *c = lks_decide_change(d, e->move.change);
    bool needed = order != LKS_ORDERED_START || e->move.glass;
    if (c == NULL || ((needed || lks_str_trim(e->reason).len > 0) && !lks_decision_reason(d)))
        return;
    for (size_t i = 0; i < LKS_COUNT(moves); i++) {
        if (moves[i].order != order || moves[i].from != c->state)
            continue;
        if (moves[i].to == c->state)
            return;
        if (moves[i].to == LKS_CHANGE_RUNNING &&
            !(order == LKS_ORDERED_START ? can_start(d, c) : is_in_time(d, c)))
            return;
        if (c->state == LKS_CHANGE_HALTED && moves[i].to == LKS_CHANGE_RUNNING &&
            !lks_decide_may_resume(d, c))
            return;
        lks_decide_change_moved(d, c, moves[i].to);
        if (order == LKS_ORDERED_START)
            lks_campaign_change_leave_drifted(d, c);
        if (moves[i].to != LKS_CHANGE_PAUSED)
            end_alarm(d, c);
        return;
    }
    lks_decision_refuse(d, LKS_E_REFUSED, "%s: change %llu is %s%s",
                        order < LKS_ORDERED_COUNT ? lks_change_order_words[order] : "order",
                        (unsigned long long)c->id, lks_change_state_words[c->state],
                        instead(order, c));
}

/* Percentiles rise, and no more nodes are hit than the change has. */
static bool check_forecast(struct lks_deciding *d, const struct lks_state_change *c)
{
    const struct lks_rec_forecast *f = &d->event->forecast;
    const struct {
        const char *low, *high;
        bool fits;
    } rows[] = {
        {"took_low_ms", "took_middle_ms", f->took_low <= f->took_middle},
        {"took_middle_ms", "took_high_ms", f->took_middle <= f->took_high},
        {"gpu_hours_low", "gpu_hours_middle", f->gpu_hours_low <= f->gpu_hours_middle},
        {"gpu_hours_middle", "gpu_hours_high", f->gpu_hours_middle <= f->gpu_hours_high},
        {"kept_high", "the number of nodes in the change", f->kept_high <= c->member_count},
        {"reached_high", "the number of nodes in the change", f->reached_high <= c->member_count},
    };
    if (f->runs == 0) {
        lks_decision_refuse(d, LKS_E_INVALID, "runs: 0 is too few; a forecast has at least 1");
        return false;
    }
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        if (!rows[i].fits) {
            lks_decision_refuse(
                d, LKS_E_INVALID,
                "%s is above %s; 'lockstep rehearse CHANGE --keep' stores a valid forecast",
                rows[i].low, rows[i].high);
            return false;
        }
    }
    return true;
}

/* What is expected of it is said before it begins: afterwards it could be made to fit. */
void lks_decide_forecast(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    const struct lks_state_change *c = lks_decide_change(d, e->forecast.change);
    if (c == NULL)
        return;
    if (c->state != LKS_CHANGE_PROPOSED && c->state != LKS_CHANGE_APPROVED) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "change %llu is %s: a forecast can be stored only before it starts",
                            (unsigned long long)c->id, lks_change_state_words[c->state]);
        return;
    }
    if (!check_forecast(d, c))
        return;
    struct lks_rec_forecast *r = &lks_decision_add(d, LKS_RECORD_FORECAST)->forecast;
    *r = e->forecast;
    r->by = e->by;
}

/* Members ----------------------------------------------------------------------------------- */

/* Of its drain, which nothing relies on any more. */
static void end_notes(struct lks_deciding *d, uint32_t node, struct lks_str reason)
{
    static const enum lks_note notes[] = {LKS_NOTE_UNDRAINED, LKS_NOTE_UNHEARD};
    for (size_t i = 0; i < LKS_COUNT(notes); i++) {
        if ((d->state->nodes[node].notes >> notes[i] & 1) != 0)
            lks_decision_add(d, LKS_RECORD_NOTED)->noted =
                (struct lks_rec_noted){.node = lks_state_name(d->state, node),
                                       .note = notes[i],
                                       .on = false,
                                       .text = reason};
    }
}

/* It returns to service as is; whether jobs may start on it is up to what it runs. */
static void release_member(struct lks_deciding *d, const struct lks_state_change *c,
                           const struct lks_member *m)
{
    const struct lks_node *node = &d->state->nodes[m->node];
    struct lks_str name = lks_state_name(d->state, m->node);
    char space[LKS_CHANGE_OWNER_SIZE];
    struct lks_str owner = lks_decision_copy(d, lks_state_change_owner(c->id, space));
    struct lks_str reason = lks_str_trim(d->event->reason);
    bool ours = node->change == 0 || node->change == c->id;
    if (node->changing != 0 && node->change == c->id)
        lks_decision_add(d, LKS_RECORD_CONDITION)->condition = (struct lks_rec_condition){
            .node = name, .condition = LKS_CONDITION_CHANGING, .text = reason};
    if (lks_str_eq(text_of(d, node->drained_by), owner))
        lks_decision_add(d, LKS_RECORD_UNDRAINED)->undrained =
            (struct lks_rec_undrained){.node = name, .owner = owner, .reason = reason};
    if (ours) {
        end_notes(d, m->node, reason);
        lks_decide_drift_changed(d, m->node, reason);
    }
    struct lks_rec_member skipped = lks_state_member_said(m);
    skipped.change = c->id;
    skipped.node = name;
    skipped.state = LKS_MEMBER_SKIPPED;
    skipped.until = skipped.work = 0;
    skipped.text = lks_decision_text(d, "released as it is by %" LKS_STR_FMT ": %" LKS_STR_FMT,
                                     LKS_STR_ARG(d->event->by), LKS_STR_ARG(reason));
    lks_decision_add(d, LKS_RECORD_MEMBER)->member = skipped;
    if (!ours)
        return; /* what people are told of it now is of another change */
    lks_decision_alarm_over(d, LKS_ALARM_CHANGE, name, reason);
    lks_decision_alarm_over(d, LKS_ALARM_HANDS, name, reason);
}

/* A change that is finished, and that retains no node once these are returned as is. */
static bool is_settled(const struct lks_state_change *c, size_t released)
{
    return lks_change_over(c) && released >= (size_t)c->states[LKS_MEMBER_FENCED] +
                                                 c->states[LKS_MEMBER_HANDS] +
                                                 c->states[LKS_MEMBER_UNKNOWN];
}

/* Units that begin anew by one word of a person. */
struct trying {
    uint32_t units, last;    /* last: place + 1; 0: none */
    uint32_t leave;          /* members of these units that are in use until then */
    const char *once;        /* when the one that was looked at last may begin; NULL: now */
    struct lks_downs before; /* sides of pairs that are down without it, */
    struct lks_downs beside; /* and with those that begin by it */
    struct lks_crowded crowded;
    const struct lks_hostlist *hosts;
};

/* Its wave is as wide for those that are tried again as for all others, redundant peers are tried
 * one after the other, and pools do without nodes that rolled back no sooner than without nodes
 * that did not start. */
static const char *waits_for(struct lks_deciding *d, const struct lks_state_change *c,
                             const struct lks_member *m, struct trying *t)
{
    const struct lks_unit *u = &c->units[m->unit];
    const struct lks_wave *w = &c->waves[u->wave];
    if (w->busy + t->units >= (w->width > 0 ? w->width : 1))
        return "there is room in its wave";
    if (lks_campaign_member_pair(d, c, m, &t->beside) != LKS_PAIR_UP)
        return "its redundant peer is back";
    if (lks_campaign_unit_reverted(c, u) &&
        lks_campaign_unit_crowds(d, c, u, t->leave, &t->crowded) != NULL)
        return "its pool and power zone can do without it, beside what other changes have";
    return NULL;
}

/* Who finds no room waits for it. The time of those that are tried again is that of all others. */
static bool has_place(struct lks_deciding *d, const struct lks_state_change *c,
                      const struct lks_member *m, struct trying *t)
{
    const struct lks_unit *u = &c->units[m->unit];
    lks_ms next = 0;
    t->once = NULL;
    if (!lks_plan_may_begin(d->state, d->book, c, m->node, d->now.wall, &next)) {
        char at[LKS_TIME_TEXT_SIZE];
        lks_decision_refuse(d, LKS_E_REFUSED, "%" LKS_STR_FMT " may not start now: %s%s",
                            LKS_STR_ARG(lks_state_name(d->state, m->node)),
                            next == UINT64_MAX ? "the time of the change has expired"
                                               : "its window opens at ",
                            next == UINT64_MAX ? "" : lks_time_text(next, at));
        return false;
    }
    if (u->active > 0 || t->last == m->unit + 1)
        return true;
    t->once = waits_for(d, c, m, t);
    if (t->once != NULL)
        return true;
    t->units++;
    t->last = m->unit + 1;
    t->leave += lks_campaign_unit_reverted(c, u) ? u->count : 0;
    lks_campaign_downs_add(d, &t->beside, m->node);
    return true;
}

static bool is_named(const struct lks_hostlist *hosts, struct lks_str name)
{
    for (size_t i = 0; i < hosts->count; i++) {
        if (lks_str_eq(hosts->names[i], name))
            return true;
    }
    return false;
}

static bool is_kept(const struct lks_member *m)
{
    return m->state == LKS_MEMBER_FENCED || m->state == LKS_MEMBER_HANDS ||
           m->state == LKS_MEMBER_UNKNOWN;
}

/* A domain never serves mixed, and nothing is done to an asset around nodes that are in use. */
static bool may_try_beside(struct lks_deciding *d, const struct lks_state_change *c,
                           const struct lks_member *m, const struct lks_hostlist *hosts)
{
    const struct lks_unit *u = &c->units[m->unit];
    bool asset = d->state->nodes[m->node].asset != 0;
    for (uint32_t i = 0; i < u->count; i++) {
        const struct lks_member *o = &c->members[u->first + i];
        const struct lks_node *node = &d->state->nodes[o->node];
        struct lks_str name = lks_state_name(d->state, o->node);
        bool under_way = !lks_member_over(o) && o->state != LKS_MEMBER_PENDING;
        bool in_use = node->placed && node->asset == 0 && !under_way && !is_kept(o);
        bool back =
            lks_member_returns(o) && o->state != LKS_MEMBER_SKIPPED && o->state != LKS_MEMBER_DONE;
        if (o == m || (!back && !(asset && in_use)) || is_named(hosts, name))
            continue;
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " is of one domain with %" LKS_STR_FMT
                            ", which %s: try all of it again, or propose another change",
                            LKS_STR_ARG(lks_state_name(d->state, m->node)), LKS_STR_ARG(name),
                            back ? "is rolling back, or rolled back" : "is in service");
        return false;
    }
    return true;
}

/* No member is retried while none may start. */
static bool may_try(struct lks_deciding *d, const struct lks_state_change *c,
                    const struct lks_member *m, struct trying *t)
{
    struct lks_str name = lks_state_name(d->state, m->node);
    uint64_t other = d->state->nodes[m->node].change;
    if (c->state != LKS_CHANGE_RUNNING)
        lks_decision_refuse(d, LKS_E_REFUSED, "change %llu is %s: %s", (unsigned long long)c->id,
                            lks_change_state_words[c->state],
                            lks_change_over(c) ? "release them as they are (--as-is), and propose "
                                                 "another change for them"
                                               : "nodes are tried again while it is running");
    else if (lks_state_frozen(d->state, m->node))
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " is frozen: no further node is changed there",
                            LKS_STR_ARG(name));
    else if (lks_state_acts_wait(d->state, d->state->nodes[m->node].pool))
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "so many nodes of the pool of %" LKS_STR_FMT
                            " turned at once that acts wait: release that alarm first",
                            LKS_STR_ARG(name));
    else if (other != 0 && other != c->id)
        lks_decision_refuse(d, LKS_E_REFUSED, "change %llu is in progress on %" LKS_STR_FMT,
                            (unsigned long long)other, LKS_STR_ARG(name));
    else if (m->state == LKS_MEMBER_REVERTED && lks_campaign_member_elsewhere(d->state, c, m))
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " should run, or runs, another stack by now than the "
                            "one that this was planned from: propose another change for it",
                            LKS_STR_ARG(name));
    else if (lks_campaign_member_pair(d, c, m, &t->before) != LKS_PAIR_UP)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "the redundant peer of %" LKS_STR_FMT
                            " is in progress, on hold or out of service: wait for that, or "
                            "repair that one first",
                            LKS_STR_ARG(name));
    else
        return may_try_beside(d, c, m, t->hosts) && has_place(d, c, m, t);
    return false;
}

/* An update in progress ends by itself; one that ended has an unknown outcome. */
static void refuse_flashed(struct lks_deciding *d, uint32_t node)
{
    const struct lks_state_flash *f = lks_state_flashing(d->state, node);
    bool open = f != NULL && f->outcome == LKS_BMC_OPEN;
    lks_decision_refuse(d, LKS_E_REFUSED, "%s %" LKS_STR_FMT "%s",
                        open ? "an update is in progress on"
                             : "the outcome of an update is unknown on",
                        LKS_STR_ARG(lks_state_name(d->state, node)),
                        open ? ": wait for its end" : ": inspect it, and resolve that first");
}

/* The change may still roll others of its domain back, and not one that was returned as is. */
static bool may_be_left(const struct lks_deciding *d, const struct lks_state_change *c,
                        const struct lks_member *m)
{
    const struct lks_unit *u = &c->units[m->unit];
    const struct lks_node *n = &d->state->nodes[m->node];
    bool done = false;
    for (uint32_t i = 0; i < u->count; i++)
        done |= c->members[u->first + i].state == LKS_MEMBER_DONE;
    return u->domain != 0 && n->asset == 0 && !n->held && done && !lks_change_over(c);
}

/* A node of the domain whose tuple is not known any more, so that the two may differ: the node
 * itself, or one that it would serve beside; LKS_NO_NODE: none. A node on hold is left out. */
static uint32_t find_unread(const struct lks_state *s, const struct lks_unit *u, uint32_t node,
                            uint32_t other)
{
    if (u->domain == 0 || s->nodes[node].held)
        return LKS_NO_NODE;
    if (lks_node_status_unread(s, node))
        return node;
    return other != LKS_NO_NODE && lks_node_status_unread(s, other) ? other : LKS_NO_NODE;
}

static void refuse_unread(struct lks_deciding *d, uint32_t node, struct lks_str name,
                          struct lks_str domain)
{
    const struct lks_node *n = &d->state->nodes[node];
    lks_decision_refuse(d, LKS_E_REFUSED,
                        "what %" LKS_STR_FMT " runs is not known: it is %s, and was not read since "
                        "it booted or was changed; wait until it reports, or hold %" LKS_STR_FMT
                        " first (node hold), and domain %" LKS_STR_FMT " does without it",
                        LKS_STR_ARG(lks_state_name(d->state, node)),
                        lks_liveness_words[n->liveness], LKS_STR_ARG(name), LKS_STR_ARG(domain));
}

/* In use as it is it would keep all of its domain from jobs: that is said, and how to go without
 * it. */
static bool may_release(struct lks_deciding *d, const struct lks_state_change *c,
                        const struct lks_member *m)
{
    const struct lks_unit *u = &c->units[m->unit];
    struct lks_str name = lks_state_name(d->state, m->node), domain = text_of(d, u->domain);
    char active[LKS_COUNT_TEXT_SIZE];
    uint32_t other = u->domain == 0 ? LKS_NO_NODE : lks_node_status_mixes(d->state, m->node);
    uint32_t unread = find_unread(d->state, u, m->node, other);
    struct lks_look k = lks_campaign_look_at(d->state, c, m);
    const struct lks_member *unresolved = lks_campaign_unit_unresolved(&k);
    if (unresolved != NULL)
        refuse_flashed(d, unresolved->node);
    else if (u->active > 0)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " returns with domain %" LKS_STR_FMT
                            ", or not before its other members finish: %s of it %s in progress",
                            LKS_STR_ARG(name), LKS_STR_ARG(domain),
                            lks_str_count_text(u->active, "member", active),
                            u->active == 1 ? "is" : "are");
    else if (unread != LKS_NO_NODE)
        refuse_unread(d, unread, name, domain);
    else if (other != LKS_NO_NODE)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " does not run the same as %" LKS_STR_FMT
                            ": in service as it is, it keeps all of domain %" LKS_STR_FMT
                            " from jobs; hold it first (node hold), and the domain does without it",
                            LKS_STR_ARG(name), LKS_STR_ARG(lks_state_name(d->state, other)),
                            LKS_STR_ARG(domain));
    else if (may_be_left(d, c, m))
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "change %llu is %s and may still take domain %" LKS_STR_FMT
                            " back, which then would not be one with %" LKS_STR_FMT
                            ": try it again, put it on hold first (node hold), or wait until the "
                            "change is finished",
                            (unsigned long long)c->id, lks_change_state_words[c->state],
                            LKS_STR_ARG(domain), LKS_STR_ARG(name));
    else
        return true;
    return false;
}

static bool may_move(struct lks_deciding *d, const struct lks_state_change *c,
                     const struct lks_member *m, struct lks_str name, struct trying *t)
{
    if (!lks_member_over(m) || m->state == LKS_MEMBER_DONE || m->state == LKS_MEMBER_SKIPPED)
        lks_decision_refuse(
            d, LKS_E_REFUSED, "%" LKS_STR_FMT " is %s in change %llu, and not one that failed",
            LKS_STR_ARG(name), lks_member_state_words[m->state], (unsigned long long)c->id);
    else if (d->state->nodes[m->node].flashing > 0)
        refuse_flashed(d, m->node);
    else
        return d->event->member.again
                   ? may_try(d, c, m, t)
                   : lks_decide_command_answered(d, m->node) && may_release(d, c, m);
    return false;
}

void lks_decide_member_move(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    const struct lks_state_change *c = lks_decide_change(d, e->member.change);
    struct lks_hostlist hosts = {0};
    struct trying trying = {.hosts = &hosts};
    struct lks_str reason = lks_str_trim(e->reason);
    size_t kept = 0;
    if (c == NULL || !lks_decision_reason(d) || !lks_decision_hosts(d, &hosts))
        return;
    for (size_t i = 0; i < hosts.count; i++) {
        struct lks_look k;
        if (!lks_decide_member(d, c, hosts.names[i], &k) ||
            !may_move(d, c, k.m, hosts.names[i], &trying))
            return;
        struct lks_str asked = lks_decision_text(d, "by %" LKS_STR_FMT ": %" LKS_STR_FMT,
                                                 LKS_STR_ARG(e->by), LKS_STR_ARG(reason));
        if (!e->member.again)
            release_member(d, c, k.m);
        else if (trying.once != NULL)
            lks_campaign_member_queue(d, &k, trying.once, asked);
        else
            lks_campaign_member_again(d, &k, asked);
        kept += k.m->state != LKS_MEMBER_REVERTED;
    }
    if (!e->member.again && is_settled(c, kept))
        end_alarm(d, c);
}

/* Freezing ---------------------------------------------------------------------------------- */

/* Names of frozen pools, as far as a message has room; empty: none is frozen. */
static struct lks_str frozen_pools(struct lks_deciding *d)
{
    enum { NAMES_MAX = 5 };
    const struct lks_state *s = d->state;
    struct lks_str names = {"", 0};
    uint32_t count = 0;
    for (uint32_t p = 0; p < s->pool_count; p++) {
        if (!s->pools[p].known || !s->pools[p].frozen || count++ >= NAMES_MAX)
            continue;
        names = lks_decision_text(d, "%" LKS_STR_FMT "%s%" LKS_STR_FMT, LKS_STR_ARG(names),
                                  names.len > 0 ? ", " : "",
                                  LKS_STR_ARG(lks_state_text(s, s->pools[p].name)));
    }
    return count <= NAMES_MAX ? names
                              : lks_decision_text(d, "%" LKS_STR_FMT " and %u more",
                                                  LKS_STR_ARG(names), count - NAMES_MAX);
}

/* It is not frozen: a person may mean what is. Pools are named to those alone who may unfreeze the
 * whole fleet; that all of it is frozen concerns everyone. */
static void refuse_thawed(struct lks_deciding *d, uint32_t pool)
{
    const struct lks_state *s = d->state;
    struct lks_str pools = pool == UINT32_MAX ? frozen_pools(d) : LKS_STR("");
    if (pool != UINT32_MAX && s->frozen)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "pool '%" LKS_STR_FMT "' is not frozen: the whole fleet is, by "
                            "%" LKS_STR_FMT " (%" LKS_STR_FMT "); 'lockstep unfreeze' without "
                            "--pool ends that",
                            LKS_STR_ARG(lks_state_text(s, s->pools[pool].name)),
                            LKS_STR_ARG(lks_state_text(s, s->frozen_by)),
                            LKS_STR_ARG(lks_state_text(s, s->frozen_reason)));
    else if (pool != UINT32_MAX)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "pool '%" LKS_STR_FMT "' is not frozen, and neither is the whole "
                            "fleet; 'lockstep freeze --list' lists what is",
                            LKS_STR_ARG(lks_state_text(s, s->pools[pool].name)));
    else if (pools.len > 0)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "the whole fleet is not frozen; frozen pools: %" LKS_STR_FMT
                            "; 'lockstep unfreeze --pool POOL' ends one of these",
                            LKS_STR_ARG(pools));
    else
        lks_decision_refuse(d, LKS_E_REFUSED, "nothing is frozen: neither the fleet nor a pool");
}

void lks_decide_freeze(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    uint32_t pool = UINT32_MAX;
    if (!lks_decision_reason(d) ||
        (e->freeze.pool.len > 0 && !lks_decision_pool(d, e->freeze.pool, &pool)))
        return;
    bool frozen = pool == UINT32_MAX ? d->state->frozen : d->state->pools[pool].frozen;
    if (!frozen && !e->freeze.on)
        refuse_thawed(d, pool);
    if (frozen == e->freeze.on)
        return; /* frozen again */
    lks_decision_add(d, LKS_RECORD_FROZEN)->frozen = (struct lks_rec_frozen){
        .pool = e->freeze.pool,
        .on = e->freeze.on,
        .by = e->by,
        .reason = lks_str_trim(e->reason),
    };
    if (!e->freeze.on)
        lks_decide_drift_thawed(d, pool);
}
