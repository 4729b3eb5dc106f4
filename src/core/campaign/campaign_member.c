/* A member at its step: what is due, and how it moves on, turns and ends. */
#include "core/campaign/campaign_parts.h"
#include "core/rows/command.h"
#include "core/rows/flash.h"
#include "core/state/state.h"

#include <inttypes.h>
#include <stdio.h>

/* What is due ------------------------------------------------------------------------------- */

/* Nothing that was asked for is still in progress. */
static bool is_free(const struct lks_look *k)
{
    const struct lks_member *m = k->m;
    if (m->state == LKS_MEMBER_WAITING || k->step == NULL)
        return true;
    if (m->state == LKS_MEMBER_ASKED)
        return k->step->kind == LKS_DO_LEAVE;
    const struct lks_state_command *c = m->work != 0 ? lks_state_command(k->s, m->work) : NULL;
    return c == NULL || c->ended;
}

/* The change, or its unit, rolls back, and it does not yet. In a rollback a node that is not heard
 * of does not turn: it would return unread. */
static bool is_to_turn(const struct lks_look *k)
{
    bool all = k->c->state == LKS_CHANGE_ABORTING || k->c->state == LKS_CHANGE_ROLLING_BACK;
    if (lks_member_returns(k->m) || (all && k->n->asset == 0 && k->n->liveness != LKS_LIVE))
        return false;
    return (all || lks_campaign_unit_returns(k->c, k->u)) && is_free(k) &&
           lks_campaign_unit_can_return(k);
}

/* It was done and rolls back, or cannot roll back any more, but one of its unit did not drain for
 * that. */
static bool is_stranded(const struct lks_look *k)
{
    if (k->u->count == 1 || k->step == NULL || !is_free(k) || lks_campaign_unit_unsure(k) == NULL)
        return false;
    if (!lks_member_returns(k->m))
        return k->step->kind != LKS_DO_RETURN && !lks_campaign_unit_can_return(k);
    return k->step->kind != LKS_DO_RETURN || lks_campaign_look_touched(k);
}

static bool is_not_kept_out(const struct lks_look *k)
{
    return lks_campaign_look_out(k) &&
           (k->n->changing == 0 || (k->n->asset == 0 && k->n->drained_by == 0));
}

/* A person resolved what had to be inspected. A command has a number, too, and cannot be resolved:
 * where the outcome of an order is unknown, a person returns the member as is or retries it. */
static bool is_looked_at(const struct lks_look *k)
{
    if (k->m->state != LKS_MEMBER_UNKNOWN || k->m->failure != LKS_FAILURE_UNKNOWN ||
        k->step == NULL || !lks_campaign_step_by_endpoint(k->step))
        return false;
    const struct lks_state_flash *f = lks_state_flash(k->s, k->m->work);
    return f != NULL && f->node == k->m->node && f->outcome == LKS_BMC_UNKNOWN &&
           lks_state_flash_over(f);
}

/* Nothing starts on a node before its scheduler answers again: a job may run there by now. Checks
 * are asked for in the middle of a step, too. */
static bool is_barred(const struct lks_look *k, struct lks_next next)
{
    bool leaves = k->step != NULL && k->step->kind == LKS_DO_LEAVE;
    bool accepts = k->step != NULL && k->step->kind == LKS_DO_ACCEPT;
    bool starts = next.act == LKS_NEXT_BEGIN || (leaves && next.act == LKS_NEXT_ENDED) ||
                  (accepts && next.act == LKS_NEXT_READ);
    return starts && lks_campaign_sched_unheard(k);
}

/* Draining has a deadline of its own. */
static struct lks_next next_heard(const struct lks_look *k)
{
    struct lks_next next = lks_campaign_step_next(k);
    if (!is_barred(k, next))
        return next;
    return k->step->kind == LKS_DO_LEAVE ? lks_campaign_leave_ends(k)
                                         : lks_next_at(UINT64_MAX, LKS_NEXT_NOTHING);
}

bool lks_campaign_member_barred(const struct lks_look *k, lks_ms wall)
{
    struct lks_next next = lks_campaign_step_next(k);
    return next.at <= wall && is_barred(k, next) && k->step->kind != LKS_DO_LEAVE;
}

struct lks_next lks_campaign_member_next(const struct lks_look *k)
{
    const struct lks_member *m = k->m;
    if (lks_member_over(m))
        return lks_next_at(is_looked_at(k) ? 0 : UINT64_MAX, LKS_NEXT_LOOKED);
    if (m->state == LKS_MEMBER_PENDING || lks_change_over(k->c))
        return lks_next_at(UINT64_MAX, LKS_NEXT_NOTHING);
    if (!k->n->placed)
        return lks_next_at(0, LKS_NEXT_SKIP);
    if (is_to_turn(k))
        return lks_next_at(0, LKS_NEXT_TURN);
    if (is_stranded(k))
        return lks_next_at(0, LKS_NEXT_STAYS);
    if (is_not_kept_out(k))
        return lks_next_at(0, LKS_NEXT_KEEP);
    if (is_free(k) && lks_campaign_sched_undrained(k))
        return lks_next_at(0, LKS_NEXT_DRAIN);
    struct lks_next next = next_heard(k);
    lks_ms gone = lks_campaign_look_gone(k);
    bool first = gone != UINT64_MAX && (next.act == LKS_NEXT_BEGIN || next.at > gone);
    return first ? lks_next_at(gone, LKS_NEXT_GONE) : next;
}

lks_ms lks_campaign_due(const struct lks_state *s, const struct lks_state_change *c,
                        const struct lks_member *m)
{
    struct lks_look k = lks_campaign_look_at(s, c, m);
    return lks_campaign_member_next(&k).at;
}

/* Records ----------------------------------------------------------------------------------- */

struct lks_rec_member lks_campaign_member_record(const struct lks_look *k)
{
    struct lks_rec_member r = lks_state_member_said(k->m);
    r.change = k->c->id;
    r.node = lks_look_name(k);
    r.text = lks_look_text(k, k->m->text);
    return r;
}

void lks_campaign_member_list(struct lks_deciding *d, const struct lks_look *k,
                              struct lks_rec_member r)
{
    /* The reason of its rollback is what people want to know, until it is there. */
    if (r.back && k->m->back && r.state < LKS_MEMBER_OVER && k->m->failure != LKS_FAILURE_NONE)
        r.text = lks_look_text(k, k->m->text);
    r.change = k->c->id;
    r.node = lks_look_name(k);
    lks_decision_add(d, LKS_RECORD_MEMBER)->member = r;
}

lks_text lks_campaign_member_target(const struct lks_look *k, bool back)
{
    return k->c->stack == 0 ? 0 : back ? k->m->from : k->c->stack;
}

static struct lks_str owner_of(struct lks_deciding *d, const struct lks_look *k)
{
    char owner[LKS_CHANGE_OWNER_SIZE];
    return lks_decision_copy(d, lks_state_change_owner(k->c->id, owner));
}

static struct lks_str why_out(struct lks_deciding *d, const struct lks_look *k)
{
    return lks_decision_text(d, "change %llu to %" LKS_STR_FMT, (unsigned long long)k->c->id,
                             LKS_STR_ARG(lks_look_text(k, k->c->name)));
}

/* An earlier owner of the drain stays its owner. */
void lks_campaign_member_keep_out(struct lks_deciding *d, const struct lks_look *k, lks_text target)
{
    struct lks_str name = lks_look_name(k);
    if (lks_campaign_path_find(k->r, LKS_DO_LEAVE) == k->r->count)
        return; /* it never drains */
    if (k->n->asset == 0 && k->n->drained_by == 0) {
        struct lks_str owner = owner_of(d, k);
        struct lks_record *r = lks_decision_add(d, LKS_RECORD_DRAINED);
        r->drained = (struct lks_rec_drained){.node = name,
                                              .owner = owner,
                                              .reason = why_out(d, k),
                                              .row = lks_decision_row(d, owner)};
    }
    if (k->n->changing == 0 || k->n->target != target)
        lks_decision_add(d, LKS_RECORD_CONDITION)->condition =
            (struct lks_rec_condition){.node = name,
                                       .condition = LKS_CONDITION_CHANGING,
                                       .on = true,
                                       .stack = lks_look_text(k, target),
                                       .by = owner_of(d, k),
                                       .text = why_out(d, k)};
}

/* Only our own drain is ended. */
static void put_in_use(struct lks_deciding *d, const struct lks_look *k, struct lks_str text)
{
    struct lks_str name = lks_look_name(k), owner = owner_of(d, k);
    lks_campaign_sched_over(d, k, text);
    if (k->n->changing != 0 && lks_campaign_path_find(k->r, LKS_DO_LEAVE) < k->r->count)
        lks_decision_add(d, LKS_RECORD_CONDITION)->condition = (struct lks_rec_condition){
            .node = name, .condition = LKS_CONDITION_CHANGING, .by = owner, .text = text};
    if (lks_str_eq(lks_look_text(k, k->n->drained_by), owner))
        lks_decision_add(d, LKS_RECORD_UNDRAINED)->undrained =
            (struct lks_rec_undrained){.node = name, .owner = owner, .reason = text};
    lks_decide_drift_changed(d, k->m->node, text);
}

/* Moving on --------------------------------------------------------------------------------- */

static void finish(struct lks_deciding *d, const struct lks_look *k)
{
    bool back = k->m->back;
    struct lks_str text = back                                ? LKS_STR("back to what it had")
                          : k->m->failure != LKS_FAILURE_NONE ? LKS_STR("done, on a later try")
                                                              : LKS_STR("done");
    if (back && k->m->failure != LKS_FAILURE_NONE)
        text = lks_look_text(k, k->m->text);
    put_in_use(d, k, text);
    struct lks_rec_member r = lks_campaign_member_record(k);
    r.state = back ? LKS_MEMBER_REVERTED : LKS_MEMBER_DONE;
    r.work = r.until = r.reached = 0;
    if (!back)
        r.failure = LKS_FAILURE_NONE;
    r.text = text;
    lks_campaign_member_list(d, k, r);
}

/* Nothing was done to it: it is in service as it was, and a person is told. */
void lks_campaign_member_leave(struct lks_deciding *d, const struct lks_look *k,
                               struct lks_str text)
{
    struct lks_rec_member r = lks_campaign_member_record(k);
    if (k->m->state != LKS_MEMBER_PENDING)
        put_in_use(d, k, text);
    r.state = LKS_MEMBER_SKIPPED;
    r.work = r.until = 0;
    r.failure = LKS_FAILURE_NONE;
    r.text = text;
    lks_campaign_member_list(d, k, r);
    (void)lks_decision_alarm(d, LKS_ALARM_CHANGE, lks_look_name(k),
                             lks_decision_text(d, "change %llu skipped it: %" LKS_STR_FMT,
                                               (unsigned long long)k->c->id, LKS_STR_ARG(text)));
}

/* At this step, it waits until it can start it. The reason of its rollback stays. */
static void go(struct lks_deciding *d, const struct lks_look *k, struct lks_rec_member r,
               uint32_t step)
{
    if (step >= k->r->count) {
        finish(d, k);
        return;
    }
    r.step = step;
    r.state = LKS_MEMBER_WAITING;
    r.attempt = 1;
    r.work = r.until = 0;
    if (!r.back) {
        r.failure = LKS_FAILURE_NONE;
        r.text = LKS_STR("");
    }
    lks_campaign_member_list(d, k, r);
}

/* It was there: to exercise the rollback, it rolls back now. */
static void show_back(struct lks_deciding *d, const struct lks_look *k)
{
    struct lks_rec_member r = lks_campaign_member_record(k);
    r.back = true;
    r.pass = 1;
    r.reached = 0;
    r.failure = LKS_FAILURE_NONE;
    r.text = LKS_STR("exercises the rollback");
    lks_campaign_member_keep_out(d, k, lks_campaign_member_target(k, true));
    go(d, k, r, lks_campaign_path_back(k, k->m->step, true));
}

/* It was there and is back, as it was: that is the proof, and now it goes there to stay. */
static void show_there(struct lks_deciding *d, const struct lks_look *k)
{
    struct lks_rec_member r = lks_campaign_member_record(k);
    lks_text class = k->n->asset != 0 ? k->n->asset : k->n->class;
    lks_text to = k->c->stack != 0 ? k->c->stack : k->c->name;
    if (lks_state_proven(k->s, class, k->m->from, to) == NULL)
        lks_decision_add(d, LKS_RECORD_REVERT_PROVEN)->revert_proven =
            (struct lks_rec_revert_proven){
                .class = lks_look_text(k, class),
                .from = lks_look_text(k, k->m->from),
                .to = lks_look_text(k, to),
                .change = k->c->id,
                .took = d->now.wall > k->m->turned ? d->now.wall - k->m->turned : 0,
                .node = lks_look_name(k),
            };
    r.back = false;
    r.pass = 2;
    lks_campaign_member_keep_out(d, k, lks_campaign_member_target(k, false));
    struct lks_member again = *k->m; /* as it will be: drained, and not to exercise the rollback */
    again.pass = 2;
    again.back = false;
    struct lks_look then = *k;
    then.m = &again;
    go(d, k, r, lks_campaign_path_there(&then, 0));
}

/* Whether what comes next is behind all that changes something. */
static bool is_behind(const struct lks_look *k, uint32_t step)
{
    enum lks_step_kind kind = step < k->r->count ? k->r->steps[step].kind : LKS_DO_COUNT;
    return kind >= LKS_DO_ACCEPT;
}

void lks_campaign_member_advance(struct lks_deciding *d, const struct lks_look *k)
{
    struct lks_rec_member r = lks_campaign_member_record(k);
    if (k->m->back) {
        uint32_t next = lks_campaign_path_back_next(k);
        bool shown =
            k->m->pass == 1 && (next >= k->r->count || k->r->steps[next].kind == LKS_DO_RETURN);
        if (shown)
            show_there(d, k);
        else
            go(d, k, r, next);
        return;
    }
    uint32_t next = lks_campaign_path_there(k, k->m->step + 1);
    if (lks_campaign_look_proves(k) && is_behind(k, next))
        show_back(d, k);
    else
        go(d, k, r, next);
}

/* The whole unit at once: it never serves mixed, whatever happens next. */
static void return_unit(struct lks_deciding *d, const struct lks_look *k)
{
    for (uint32_t i = 0; i < k->u->count; i++) {
        const struct lks_member *m = &k->c->members[k->u->first + i];
        struct lks_look o = lks_campaign_look_at(k->s, k->c, m);
        if (!lks_member_over(m) && m->state != LKS_MEMBER_PENDING)
            finish(d, &o);
    }
}

/* It stays out as a whole, and a person is told. */
static void keep_unit(struct lks_deciding *d, const struct lks_look *k, struct lks_str why)
{
    struct lks_str text =
        lks_decision_text(d, "%" LKS_STR_FMT " stays out of service: %" LKS_STR_FMT,
                          LKS_STR_ARG(lks_look_text(k, k->u->domain)), LKS_STR_ARG(why));
    for (uint32_t i = 0; i < k->u->count; i++) {
        const struct lks_member *m = &k->c->members[k->u->first + i];
        struct lks_look o = lks_campaign_look_at(k->s, k->c, m);
        if (!lks_member_over(m) && m->state != LKS_MEMBER_PENDING)
            lks_campaign_member_fence(d, &o, LKS_MEMBER_FENCED, LKS_FAILURE_REVERT, m->back, text);
    }
}

/* This decision listed it already, or with `any` one of its unit: the next tick, which sees that,
 * goes on from there. */
static bool is_listed(const struct lks_deciding *d, const struct lks_look *k, bool any)
{
    for (size_t i = k->u->count > 1 ? d->out->count : 0; i-- > 0;) {
        const struct lks_record *r = &d->out->records[i];
        if (r->kind != LKS_RECORD_MEMBER || r->member.change != k->c->id)
            continue;
        const struct lks_member *m =
            lks_state_change_member(k->c, lks_state_node(k->s, r->member.node));
        if (m == k->m || (any && m != NULL && m->unit == k->m->unit))
            return true;
    }
    return false;
}

/* Nothing was done to any of those that return. One that was not touched says nothing of the
 * others, which return with it. */
static bool is_unit_as_it_was(const struct lks_look *k)
{
    for (uint32_t i = 0; i < k->u->count; i++) {
        const struct lks_member *m = &k->c->members[k->u->first + i];
        struct lks_look o = lks_campaign_look_at(k->s, k->c, m);
        if (!lks_member_over(m) && m->state != LKS_MEMBER_PENDING &&
            (!m->back || lks_campaign_look_touched(&o)))
            return false;
    }
    return true;
}

/* Not enough of it are left, or one that stays in use runs something else; empty: it may return. */
static struct lks_str why_not_return(struct lks_deciding *d, const struct lks_look *k)
{
    char count[LKS_COUNT_TEXT_SIZE];
    if (k->u->domain == 0 || is_unit_as_it_was(k))
        return LKS_STR("");
    uint32_t missing = lks_campaign_unit_missing(k);
    uint32_t spares = missing == 0 ? 0 : lks_campaign_domain_spares(d, k->u->domain);
    if (missing > spares)
        return lks_decision_text(d, "%s of it cannot return, and it has %u spare",
                                 lks_str_count_text(missing, "member", count), spares);
    uint32_t other = lks_campaign_unit_beside(k);
    if (other == LKS_NO_NODE)
        return LKS_STR("");
    return lks_decision_text(d,
                             "%" LKS_STR_FMT
                             " of it is in service and does not run the same; bring all of it to "
                             "one stack by a change, or put that one on hold (node hold)",
                             LKS_STR_ARG(lks_state_name(k->s, other)));
}

/* At RETURN, for all of the unit. */
static void return_or_not(struct lks_deciding *d, const struct lks_look *k)
{
    if (is_listed(d, k, true))
        return;
    struct lks_str why = why_not_return(d, k);
    if (why.len == 0)
        return_unit(d, k);
    else if (!k->m->back && lks_campaign_unit_can_return(k))
        lks_campaign_member_turn(d, k, false, LKS_FAILURE_NONE,
                                 lks_decision_text(d, "%" LKS_STR_FMT " rolls back: %" LKS_STR_FMT,
                                                   LKS_STR_ARG(lks_look_text(k, k->u->domain)),
                                                   LKS_STR_ARG(why)));
    else
        keep_unit(d, k, why);
}

/* Turning ----------------------------------------------------------------------------------- */

/* Whether something that changes the node is among the steps up to `last`. */
static bool is_changed(const struct lks_look *k, uint32_t steps)
{
    uint32_t leave = lks_campaign_path_find(k->r, LKS_DO_LEAVE);
    for (uint32_t i = leave < k->r->count ? leave : 0; i < steps && i < k->r->count; i++) {
        enum lks_step_kind kind = k->r->steps[i].kind;
        if (kind == LKS_DO_APPLY || kind == LKS_DO_FLASH || kind == LKS_DO_ACTIVATE ||
            kind == LKS_DO_REBOOT)
            return true;
    }
    return false;
}

/* A member that rolls back has what it comes from as its intent from where something was done to
 * it. */
bool lks_campaign_look_changed(const struct lks_look *k)
{
    return k->m->pass != 0 || lks_campaign_look_touched(k) || lks_campaign_look_retried(k) ||
           (!k->m->back && (is_changed(k, k->m->step + 1) || is_changed(k, k->m->reached)));
}

bool lks_campaign_look_untouched(const struct lks_look *k)
{
    uint32_t back = lks_campaign_path_back(k, k->m->step, false);
    return !k->m->back && !lks_campaign_look_changed(k) &&
           (back >= k->r->count || k->r->steps[back].kind == LKS_DO_RETURN);
}

void lks_campaign_member_turn(struct lks_deciding *d, const struct lks_look *k, bool done,
                              enum lks_failure failure, struct lks_str text)
{
    struct lks_rec_member r = lks_campaign_member_record(k);
    uint32_t steps = k->m->step + done;
    if (steps < k->m->reached)
        steps = k->m->reached;
    bool touched = k->m->back || k->m->pass == 2 || is_changed(k, steps);
    r.back = true;
    r.pass = r.reached = 0;
    r.failure = failure;
    r.text = text;
    if (k->m->back) { /* it rolls back already, and now for good */
        lks_campaign_member_list(d, k, r);
        return;
    }
    if (touched)
        lks_campaign_member_keep_out(d, k, lks_campaign_member_target(k, true));
    go(d, k, r, lks_campaign_path_back(k, steps > 0 ? steps - 1 : 0, touched));
}

static struct lks_str why_turn(struct lks_deciding *d, const struct lks_look *k)
{
    if (k->c->state == LKS_CHANGE_ABORTING)
        return LKS_STR("the change was aborted");
    if (k->c->state == LKS_CHANGE_ROLLING_BACK)
        return LKS_STR("the change is rolled back");
    return lks_decision_text(d, "%" LKS_STR_FMT " rolls back as a whole",
                             LKS_STR_ARG(lks_look_text(k, k->u->domain)));
}

static void turn(struct lks_deciding *d, const struct lks_look *k)
{
    bool done = k->m->state != LKS_MEMBER_WAITING || k->m->attempt > 1;
    enum lks_failure failure =
        k->m->failure == LKS_FAILURE_NONE ? LKS_FAILURE_REVERT : k->m->failure;
    if (lks_campaign_look_retried(k))
        lks_campaign_member_fence(d, k, LKS_MEMBER_FENCED, failure, true, why_turn(d, k));
    else
        lks_campaign_member_turn(d, k, done, k->m->failure, why_turn(d, k));
}

/* The tick ---------------------------------------------------------------------------------- */

static void skip(struct lks_deciding *d, const struct lks_look *k)
{
    struct lks_rec_member r = lks_campaign_member_record(k);
    r.state = LKS_MEMBER_SKIPPED;
    r.work = r.until = 0;
    r.text = LKS_STR("it is not in the fleet any more");
    lks_campaign_member_list(d, k, r);
}

static void looked(struct lks_deciding *d, const struct lks_look *k)
{
    struct lks_rec_member r = lks_campaign_member_record(k);
    r.state = LKS_MEMBER_FENCED;
    r.text = lks_change_over(k->c)
                 ? LKS_STR("inspect it, then return it as it is; another change has to bring it "
                           "to its intent")
                 : LKS_STR("inspect it, then return it as it is, or try it again while the "
                           "change is running");
    lks_campaign_member_list(d, k, r);
}

static void stays(struct lks_deciding *d, const struct lks_look *k)
{
    if (is_listed(d, k, false))
        return; /* its unit returned */
    lks_campaign_member_fence(
        d, k, LKS_MEMBER_FENCED, LKS_FAILURE_REVERT, true,
        lks_decision_text(d, "one of %" LKS_STR_FMT " did not drain: all of it stays as it is",
                          LKS_STR_ARG(lks_look_text(k, k->u->domain))));
}

static void keep(struct lks_deciding *d, const struct lks_look *k)
{
    lks_text target =
        k->n->changing != 0 ? k->n->target : lks_campaign_member_target(k, k->m->back);
    lks_campaign_member_keep_out(d, k, target);
    if (k->step == NULL || k->step->kind != LKS_DO_LEAVE)
        return;
    struct lks_rec_member r =
        lks_campaign_member_record(k); /* it was returned as is: all of it once more */
    r.state = LKS_MEMBER_ASKED;
    r.attempt = 1;
    r.work = 0;
    lks_campaign_member_list(d, k, r);
}

/* No member waits for it. It stays drained, and is not touched before it is heard of again. */
static void gone(struct lks_deciding *d, const struct lks_look *k)
{
    char since[LKS_TIME_TEXT_SIZE];
    if (is_listed(d, k, false))
        return; /* its unit returned */
    lks_campaign_member_fence(
        d, k, LKS_MEMBER_FENCED, LKS_FAILURE_LOST, k->m->back || lks_campaign_unit_can_return(k),
        lks_decision_text(d,
                          "the node is %s since %s and the change rolls back without it; it is "
                          "drained, and joins when it is heard of again",
                          lks_liveness_words[k->n->liveness],
                          lks_time_text(k->n->liveness_since, since)));
}

static void begin(struct lks_deciding *d, const struct lks_look *k)
{
    if (k->step == NULL)
        finish(d, k);
    else if (k->step->kind == LKS_DO_RETURN)
        return_or_not(d, k);
    else
        lks_campaign_step_begin(d, k);
}

static void (*const acts[LKS_NEXT_COUNT])(struct lks_deciding *d, const struct lks_look *k) = {
    [LKS_NEXT_SKIP] = skip,
    [LKS_NEXT_LOOKED] = looked,
    [LKS_NEXT_TURN] = turn,
    [LKS_NEXT_STAYS] = stays,
    [LKS_NEXT_KEEP] = keep,
    [LKS_NEXT_DRAIN] = lks_campaign_sched_again,
    [LKS_NEXT_BEGIN] = begin,
    [LKS_NEXT_ENDED] = lks_campaign_step_ended,
    [LKS_NEXT_READ] = lks_campaign_step_read,
    [LKS_NEXT_LATE] = lks_campaign_step_late,
    [LKS_NEXT_GONE] = gone,
};

void lks_campaign_member_tick(struct lks_deciding *d, uint32_t node)
{
    const struct lks_state *s = d->state;
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_member *m = lks_state_change_member(&s->changes[i], node);
        if (m == NULL || (lks_change_over(&s->changes[i]) && s->nodes[node].change == 0))
            continue;
        struct lks_look k = lks_campaign_look_at(s, &s->changes[i], m);
        struct lks_next next = lks_campaign_member_next(&k);
        if (next.at <= d->now.wall && acts[next.act] != NULL)
            acts[next.act](d, &k);
    }
}
