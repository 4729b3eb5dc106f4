/* Who stands behind a change: approvals, what begins without them, and its review. */
#include "base/near.h"
#include "core/campaign/campaign_parts.h"
#include "core/gate/gate.h"
#include "core/governance/govern.h"
#include "core/rows/credential.h"
#include "core/rules/decide_rules.h"
#include "core/state/state.h"

enum {
    STANDBY_MAX = 200,
    GLASS_SHARE = 4, /* of a change, that begins without approvals at most */
    GLASS_NODES = 8, /* or so many */
};
#define WAIVED_MAX ((lks_ms)7 * 24 * 3600 * LKS_SECOND)

static struct lks_str text_of(const struct lks_deciding *d, lks_text text)
{
    return lks_state_text(d->state, text);
}

static const struct lks_vote *vote_of(const struct lks_deciding *d,
                                      const struct lks_state_change *c)
{
    for (uint32_t i = 0; i < c->vote_count; i++) {
        if (lks_str_eq(text_of(d, c->votes[i].by), d->event->by))
            return &c->votes[i];
    }
    return NULL;
}

/* Voting ------------------------------------------------------------------------------------ */

/* Its rings wait for votes. */
static bool is_open_by_glass(const struct lks_deciding *d, const struct lks_state_change *c)
{
    struct lks_tally t;
    return !lks_change_over(c) && c->state > LKS_CHANGE_APPROVED &&
           lks_govern_waits(d->state, c, d->now.wall, &t);
}

/* Whether votes are asked for at all; a no is heard until it begins. */
static bool is_up(const struct lks_deciding *d, const struct lks_state_change *c)
{
    if (c->state == LKS_CHANGE_PROPOSED || (c->state == LKS_CHANGE_APPROVED && !d->event->vote.yes))
        return true;
    if (c->state == LKS_CHANGE_APPROVED) {
        struct lks_tally t = lks_govern_tally(d->state, c, d->now.wall, NULL, LKS_STR(""));
        return !lks_tally_complete(&t); /* some ended since */
    }
    return d->event->vote.yes && is_open_by_glass(d, c);
}

/* Roles define who may approve, and their scopes where; and the approver is another person than the
 * proposer. */
static bool may_vote(struct lks_deciding *d, const struct lks_state_change *c)
{
    const struct lks_event *e = d->event;
    if (e->by.len == 0 || lks_access_same_person(text_of(d, c->by), e->by)) {
        const char *next = e->vote.yes
                               ? "approve it; run 'lockstep change approve' as another approver"
                               : "reject it; abort withdraws it";
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " proposed change %llu: another person has to %s",
                            LKS_STR_ARG(text_of(d, c->by)), (unsigned long long)c->id, next);
        return false;
    }
    if (!lks_decision_apart(d, lks_govern_proposer(d->state, c),
                            lks_decision_text(d, "%s change %llu",
                                              e->vote.yes ? "approve" : "reject",
                                              (unsigned long long)c->id)))
        return false;
    if (lks_govern_may_vote(d->state, c, e->by, e->credential))
        return true;
    lks_decision_refuse(d, LKS_E_DENIED,
                        "%" LKS_STR_FMT " may approve in none of the pools of change %llu",
                        LKS_STR_ARG(e->by), (unsigned long long)c->id);
    return false;
}

static bool is_in_time(struct lks_deciding *d, const struct lks_state_change *c)
{
    char at[LKS_TIME_TEXT_SIZE];
    if (c->expires == 0 || d->now.wall < c->expires || c->state != LKS_CHANGE_PROPOSED)
        return true;
    lks_decision_refuse(d, LKS_E_REFUSED,
                        "the proposal of change %llu ended at %s: propose it again",
                        (unsigned long long)c->id, lks_time_text(c->expires, at));
    return false;
}

static void add_vote(struct lks_deciding *d, const struct lks_state_change *c)
{
    const struct lks_event *e = d->event;
    struct lks_backing behind = lks_decision_backing(d);
    lks_decision_add(d, LKS_RECORD_CHANGE_VOTED)->change_voted = (struct lks_rec_change_voted){
        .change = c->id,
        .yes = e->vote.yes,
        .by = e->by,
        .reason = lks_str_trim(e->reason),
        .credential = e->credential,
        .minters = behind.minters,
    };
    if (!e->vote.yes) {
        lks_decide_change_moved(d, c, LKS_CHANGE_REJECTED);
        return;
    }
    struct lks_tally t = lks_govern_tally(d->state, c, d->now.wall,
                                          &(struct lks_voice){behind, e->credential}, LKS_STR(""));
    if (lks_tally_complete(&t) && c->state == LKS_CHANGE_PROPOSED)
        lks_decide_change_moved(d, c, LKS_CHANGE_APPROVED);
}

/* Back it goes to where it was, if it is not approved any more. Nodes in progress go on; of a ring
 * that broke the glass no other begins. */
static void withdraw(struct lks_deciding *d, const struct lks_state_change *c)
{
    const struct lks_event *e = d->event;
    const struct lks_vote *v = vote_of(d, c);
    if (v == NULL || !v->yes) {
        lks_decision_refuse(d, LKS_E_REFUSED, "%" LKS_STR_FMT " did not approve change %llu",
                            LKS_STR_ARG(e->by), (unsigned long long)c->id);
        return;
    }
    if (c->state > LKS_CHANGE_APPROVED && (lks_change_over(c) || c->glass.at == 0)) {
        lks_decision_refuse(d, LKS_E_REFUSED, "change %llu is %s%s", (unsigned long long)c->id,
                            lks_change_state_words[c->state],
                            lks_change_over(c) ? "" : ": pause, abort or roll it back instead");
        return;
    }
    lks_decision_add(d, LKS_RECORD_VOTE_WITHDRAWN)->vote_withdrawn =
        (struct lks_rec_vote_withdrawn){
            .change = c->id, .by = e->by, .reason = lks_str_trim(e->reason)};
    struct lks_tally t = lks_govern_tally(d->state, c, d->now.wall, NULL, e->by);
    if (c->state == LKS_CHANGE_APPROVED && !lks_tally_complete(&t))
        lks_decide_change_moved(d, c, LKS_CHANGE_PROPOSED);
}

/* A login has roles of its own, so a vote by another one may be worth more. */
static bool is_by_another_login(struct lks_deciding *d, const struct lks_vote *had)
{
    struct lks_str before = text_of(d, had->credential), now = d->event->credential;
    return !lks_str_eq(before, now) && (lks_str_starts(before, "token:" LKS_LOGIN_ID) ||
                                        lks_str_starts(now, "token:" LKS_LOGIN_ID));
}

/* Whether it repeats a vote: a person who approved by a credential that another made may do so
 * again by another credential, which may be worth more. */
static bool is_said_again(struct lks_deciding *d, const struct lks_state_change *c,
                          const struct lks_vote *had)
{
    if (had == NULL || had->yes != d->event->vote.yes)
        return false;
    if (!had->yes)
        return c->state == LKS_CHANGE_REJECTED;
    struct lks_str minters = text_of(d, had->minters);
    if (is_by_another_login(d, had) && is_up(d, c))
        return false;
    return lks_govern_counts(d->state, c, had, d->now.wall) &&
           (minters.len == 0 || lks_str_eq(minters, lks_decision_backing(d).minters));
}

void lks_decide_vote(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    const struct lks_state_change *c = lks_decide_change(d, e->vote.change);
    bool said = lks_str_trim(e->reason).len > 0, needed = !e->vote.yes || e->vote.withdrawn;
    if (c == NULL || ((needed || said) && !lks_decision_reason(d)))
        return;
    if (e->vote.withdrawn) {
        withdraw(d, c);
        return;
    }
    if (!may_vote(d, c))
        return;
    const struct lks_vote *had = vote_of(d, c);
    if (is_said_again(d, c, had))
        return;
    if (!is_up(d, c))
        lks_decision_refuse(d, LKS_E_REFUSED, "change %llu is %s, and not up for approval",
                            (unsigned long long)c->id, lks_change_state_words[c->state]);
    else if (had == NULL && c->vote_count == LKS_CHANGE_VOTES)
        lks_decision_refuse(d, LKS_E_LIMIT, "change %llu has %u votes, which is the most",
                            (unsigned long long)c->id, c->vote_count);
    else if (is_in_time(d, c))
        add_vote(d, c);
}

/* Beginning --------------------------------------------------------------------------------- */

static bool has_standby(struct lks_deciding *d, const struct lks_state_change *c)
{
    struct lks_str who = lks_str_trim(d->event->move.standby);
    if (who.len > 0)
        return lks_decision_line(d, "standby", who, STANDBY_MAX);
    if (!c->needs_standby)
        return true;
    lks_decision_refuse(d, LKS_E_REFUSED,
                        "start: a change of class %" LKS_STR_FMT
                        " starts with a person on site: standby has to name them",
                        LKS_STR_ARG(text_of(d, c->class)));
    return false;
}

/* How many nodes begin before the first ring, and of how many. The lab is none of production. */
struct vanguard {
    uint32_t nodes, units, of;
};

static struct vanguard vanguard_of(const struct lks_state_change *c)
{
    struct vanguard v = {0};
    for (uint32_t i = 0; i < c->unit_count; i++) {
        const struct lks_unit *u = &c->units[i];
        enum lks_wave_kind kind = c->waves[u->wave].kind;
        v.of += kind != LKS_WAVE_LAB ? u->count : 0;
        v.nodes += kind == LKS_WAVE_CANARY ? u->count : 0;
        v.units += kind == LKS_WAVE_CANARY;
    }
    return v;
}

/* How large a canary is can be asked for. One that is most of the pool is a ring by another name:
 * what begins without approvals is a quarter at most, or so few as a canary has by itself. */
static bool has_few_canaries(struct lks_deciding *d, const struct lks_state_change *c)
{
    struct vanguard v = vanguard_of(c);
    uint32_t most = v.of / GLASS_SHARE > GLASS_NODES ? v.of / GLASS_SHARE : GLASS_NODES;
    if (v.units <= 1 || (v.nodes <= most && v.nodes <= v.of / 2))
        return true;
    lks_decision_refuse(d, LKS_E_REFUSED,
                        "start: %u of %u nodes and assets are in the canary of change %llu, "
                        "which is too many to start without approvals: propose it with a smaller "
                        "canary (--canary-max), or have it approved",
                        v.nodes, v.of, (unsigned long long)c->id);
    return false;
}

static void break_glass(struct lks_deciding *d, const struct lks_state_change *c,
                        const struct lks_tally *t)
{
    char space[LKS_CHANGE_OWNER_SIZE];
    struct lks_str reason = lks_str_trim(d->event->reason);
    lks_decision_add(d, LKS_RECORD_GLASS_BROKEN)->glass_broken = (struct lks_rec_glass_broken){
        .change = c->id,
        .until = d->now.wall + c->review_age,
        .by = d->event->by,
        .reason = reason,
        .minters = lks_decision_backing(d).minters,
    };
    struct lks_str subject = lks_decision_copy(d, lks_state_change_owner(c->id, space));
    struct lks_str votes = lks_campaign_tally(d, t);
    (void)lks_decision_alarm(
        d, LKS_ALARM_GLASS, subject,
        lks_decision_text(d,
                          "%" LKS_STR_FMT " started it with %" LKS_STR_FMT ": %" LKS_STR_FMT
                          "; its rings wait for them, and another person has to review it",
                          LKS_STR_ARG(d->event->by), LKS_STR_ARG(votes), LKS_STR_ARG(reason)));
}

bool lks_decide_may_start(struct lks_deciding *d, const struct lks_state_change *c)
{
    bool glass = d->event->move.glass;
    struct lks_tally t = lks_govern_tally(d->state, c, d->now.wall, NULL, LKS_STR(""));
    if (lks_tally_complete(&t) && c->state == LKS_CHANGE_APPROVED) {
        if (glass)
            lks_decision_refuse(d, LKS_E_REFUSED,
                                "start: change %llu is approved: there is no glass to break",
                                (unsigned long long)c->id);
        return !glass && has_standby(d, c);
    }
    if (!glass && c->state == LKS_CHANGE_PROPOSED) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "start: change %llu is proposed; an approver has to approve it "
                            "first: it has %" LKS_STR_FMT,
                            (unsigned long long)c->id, LKS_STR_ARG(lks_campaign_tally(d, &t)));
        return false;
    }
    if (!glass) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "start: approvals of change %llu ended, and it has %" LKS_STR_FMT
                            ": it has to be approved again",
                            (unsigned long long)c->id, LKS_STR_ARG(lks_campaign_tally(d, &t)));
        return false;
    }
    if (!has_standby(d, c) || !is_in_time(d, c) || !has_few_canaries(d, c))
        return false;
    break_glass(d, c, &t);
    return true;
}

/* Reviewing --------------------------------------------------------------------------------- */

/* Whether no person behind the caller proposed the change, or started it without its approvals. */
static bool is_apart(struct lks_deciding *d, const struct lks_state_change *c, const char *what)
{
    struct lks_backing began = {text_of(d, c->glass.by), text_of(d, c->glass.minters)};
    struct lks_str act = lks_decision_text(d, "%s change %llu", what, (unsigned long long)c->id);
    return lks_decision_apart(d, lks_govern_proposer(d->state, c), act) &&
           (began.by.len == 0 || lks_decision_apart(d, began, act));
}

/* In time, the alarm is over; else a person has to say so as well. */
void lks_decide_review(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    const struct lks_state_change *c = lks_decide_change(d, e->review);
    if (c == NULL || !lks_decision_reason(d))
        return;
    if (c->glass.at == 0) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "change %llu started with its approvals, or not "
                            "yet",
                            (unsigned long long)c->id);
    } else if (e->by.len == 0 || lks_access_same_person(text_of(d, c->glass.by), e->by) ||
               lks_access_same_person(text_of(d, c->by), e->by)) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " proposed or started change %llu: another person "
                            "has to review it",
                            LKS_STR_ARG(e->by), (unsigned long long)c->id);
    } else if (!is_apart(d, c, "review")) {
        return;
    } else if (!lks_govern_may_vote(d->state, c, e->by, e->credential)) {
        lks_decision_refuse(d, LKS_E_DENIED,
                            "%" LKS_STR_FMT " may approve in none of the pools of change %llu",
                            LKS_STR_ARG(e->by), (unsigned long long)c->id);
    } else if (c->glass.reviewed == 0) {
        char space[LKS_CHANGE_OWNER_SIZE];
        struct lks_str reason = lks_str_trim(e->reason);
        struct lks_str owner = lks_decision_copy(d, lks_state_change_owner(c->id, space));
        lks_decision_add(d, LKS_RECORD_REVIEWED)->reviewed = (struct lks_rec_reviewed){
            .change = c->id, .by = e->by, .reason = reason, .credential = e->credential};
        lks_decision_alarm_over(d, LKS_ALARM_REVIEW, owner, reason);
        if (d->now.wall <= c->glass.until)
            lks_decision_alarm_over(d, LKS_ALARM_GLASS, owner, reason);
    }
}

/* A review that is late has an alarm of its own: the first one may be lost among others. */
void lks_decide_review_tick(struct lks_deciding *d)
{
    const struct lks_state *s = d->state;
    char space[LKS_CHANGE_OWNER_SIZE], until[LKS_TIME_TEXT_SIZE];
    for (uint32_t i = 0; i < s->change_count && s->glasses > 0 && lks_deciding_room(d); i++) {
        const struct lks_state_change *c = &s->changes[i];
        if (c->glass.at == 0 || c->glass.reviewed != 0 || d->now.wall <= c->glass.until)
            continue;
        struct lks_str owner = lks_decision_copy(d, lks_state_change_owner(c->id, space));
        (void)lks_decision_alarm(
            d, LKS_ALARM_REVIEW, owner,
            lks_decision_text(d,
                              "%" LKS_STR_FMT " started it without its approvals, and it was not "
                              "reviewed by %s: lockstep change review %llu",
                              LKS_STR_ARG(text_of(d, c->glass.by)),
                              lks_time_text(c->glass.until, until), (unsigned long long)c->id));
    }
}

/* Waiving ----------------------------------------------------------------------------------- */

/* An error that must not happen once is waived after it was seen, never beforehand. */
static bool has_halted(const struct lks_state_change *c, const struct lks_plan_metric *m)
{
    for (uint32_t i = 0; i < c->look_count; i++) {
        const struct lks_gate_look *l = &c->looks[i];
        if (l->metric == m->name && l->verdict == LKS_GATE_HALT &&
            c->waves[l->wave].state != LKS_WAVE_PASSED)
            return true;
    }
    return false;
}

/* What halts a change for good is no gate that a person can lower: a machine that needs manual
 * intervention, or one with an unknown outcome. */
static bool is_waivable(struct lks_deciding *d, const struct lks_state_change *c)
{
    struct lks_str name = d->event->waive.gate;
    struct lks_near near = lks_near_to(name);
    char hint[LKS_NEAR_HINT_SIZE];
    bool known = false, early = false;
    for (size_t i = 0; i < lks_gate_count; i++) {
        known |= lks_str_is(name, lks_gates[i].name);
        if (lks_gates[i].waivable)
            lks_near_try(&near, lks_str_from(lks_gates[i].name));
        if (lks_gates[i].waivable && lks_str_is(name, lks_gates[i].name))
            return true;
    }
    for (uint32_t i = 0; i < c->metric_count; i++) {
        const struct lks_plan_metric *m = &c->metrics[i];
        bool same = lks_str_eq(text_of(d, m->name), name);
        if (same && (m->kind != LKS_METRIC_HARD || has_halted(c, m)))
            return true;
        known |= same;
        early |= same;
        lks_near_try(&near, text_of(d, m->name));
    }
    if (known)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            early ? "'%" LKS_STR_FMT "' halts by one event: it can be waived after "
                                    "it did, and not beforehand"
                                  : "'%" LKS_STR_FMT "' cannot be waived",
                            LKS_STR_ARG(name));
    else
        lks_decision_refuse(
            d, LKS_E_NOT_FOUND, "change %llu has no gate or metric '%" LKS_STR_FMT "'%s",
            (unsigned long long)c->id, LKS_STR_ARG(name), lks_near_hint(&near, hint));
    return false;
}

static bool is_short(struct lks_deciding *d)
{
    lks_ms until = d->event->waive.until;
    if (until > d->now.wall && until - d->now.wall <= WAIVED_MAX)
        return true;
    lks_decision_refuse(d, LKS_E_INVALID, "until: a gate is waived for a time, of at most 7 days");
    return false;
}

/* For a pool it takes a person who may approve for all of its nodes in the change. */
static bool may_waive(struct lks_deciding *d, const struct lks_state_change *c)
{
    const struct lks_event *e = d->event;
    struct lks_sight sight = lks_access_sight_by(d->state, e->by, e->credential, LKS_MAY_APPROVE);
    uint32_t pool = lks_state_pool(d->state, e->waive.pool), count = 0;
    if (e->waive.pool.len == 0)
        return lks_govern_may_vote(d->state, c, e->by, e->credential);
    for (uint32_t i = 0; i < c->member_count; i++) {
        uint32_t node = c->members[i].node;
        if (d->state->nodes[node].pool != pool || pool == UINT32_MAX)
            continue;
        count++;
        if (!lks_access_sees(d->state, &sight, node))
            return false;
    }
    return count > 0;
}

static void refuse_waiver(struct lks_deciding *d, const struct lks_state_change *c)
{
    const struct lks_event *e = d->event;
    if (e->waive.pool.len > 0)
        lks_decision_refuse(d, LKS_E_DENIED,
                            "%" LKS_STR_FMT " may not approve for pool '%" LKS_STR_FMT
                            "' of change %llu, or it has no node of it",
                            LKS_STR_ARG(e->by), LKS_STR_ARG(e->waive.pool),
                            (unsigned long long)c->id);
    else
        lks_decision_refuse(d, LKS_E_DENIED,
                            "%" LKS_STR_FMT " may approve in none of the pools of change %llu",
                            LKS_STR_ARG(e->by), (unsigned long long)c->id);
}

/* By a person who may approve and did not propose it. */
void lks_decide_waive(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    const struct lks_state_change *c = lks_decide_change(d, e->waive.change);
    if (c == NULL || !lks_decision_reason(d))
        return;
    if (e->by.len == 0 || lks_access_same_person(text_of(d, c->by), e->by) ||
        lks_access_same_person(text_of(d, c->glass.by), e->by))
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " proposed or started change %llu: another person "
                            "has to waive a gate of it",
                            LKS_STR_ARG(e->by), (unsigned long long)c->id);
    else if (!is_apart(d, c, "waive a gate of"))
        return;
    else if (!may_waive(d, c))
        refuse_waiver(d, c);
    else if (lks_change_over(c))
        lks_decision_refuse(d, LKS_E_REFUSED, "change %llu is %s", (unsigned long long)c->id,
                            lks_change_state_words[c->state]);
    else if (is_waivable(d, c) && is_short(d) &&
             lks_decision_space(d, "waived gates", c->waiver_count, LKS_CHANGE_WAIVERS))
        lks_decision_add(d, LKS_RECORD_WAIVED)->waived =
            (struct lks_rec_waived){.change = c->id,
                                    .gate = e->waive.gate,
                                    .until = e->waive.until,
                                    .by = e->by,
                                    .reason = lks_str_trim(e->reason),
                                    .pool = e->waive.pool,
                                    .credential = e->credential};
}

/* Going on ---------------------------------------------------------------------------------- */

/* Whether the wave has nodes that the metric is about: pools may mean different things by a name.
 */
static bool is_about(const struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave,
                     const struct lks_plan_metric *m)
{
    for (uint32_t u = c->waves[wave].first_unit; u != 0; u = c->units[u - 1].next) {
        const struct lks_unit *unit = &c->units[u - 1];
        for (uint32_t i = 0; i < unit->count; i++) {
            const struct lks_node *n = &d->state->nodes[c->members[unit->first + i].node];
            if (n->placed && lks_gate_metric_is_of(d->state, m, n->pool))
                return true;
        }
    }
    return false;
}

/* The metric by which an evaluation halted a wave, and which an approver has to waive; NULL: none.
 */
static const struct lks_plan_metric *halted_by(const struct lks_deciding *d,
                                               const struct lks_state_change *c,
                                               const struct lks_gate_look *l)
{
    if (l->verdict != LKS_GATE_HALT || l->metric == 0 || c->waves[l->wave].state == LKS_WAVE_PASSED)
        return NULL;
    for (uint32_t i = 0; i < c->metric_count; i++) {
        const struct lks_plan_metric *m = &c->metrics[i];
        if (m->name == l->metric && is_about(d, c, l->wave, m) &&
            !lks_govern_waived(d->state, c, l->wave, text_of(d, m->name), m, d->now.wall))
            return m;
    }
    return NULL;
}

/* The person who resumes has seen the failed nodes: they are drained. Whether evidence counts, be
 * it one event, is for an approver to decide. */
bool lks_decide_may_resume(struct lks_deciding *d, const struct lks_state_change *c)
{
    for (uint32_t i = 0; i < c->look_count; i++) {
        const struct lks_plan_metric *m = halted_by(d, c, &c->looks[i]);
        if (m == NULL)
            continue;
        struct lks_str name = text_of(d, m->name);
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "resume: %" LKS_STR_FMT " halted wave %u of change %llu: an approver "
                            "who did not propose it has to waive that "
                            "first ('lockstep change waive %llu --gate "
                            "\"%" LKS_STR_FMT "\" --until 12h --reason ...'), or "
                            "roll it back",
                            LKS_STR_ARG(name), c->looks[i].wave, (unsigned long long)c->id,
                            (unsigned long long)c->id, LKS_STR_ARG(name));
        return false;
    }
    return true;
}
