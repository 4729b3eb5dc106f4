/* Each kind of failure: the member is retried, rolled back, fenced, or left to manual intervention
 * or to a person who resolves it. No failed node returns to service by itself. */
#include "core/campaign/campaign_parts.h"
#include "core/firmware/endpoint.h"
#include "core/plan/drain.h"
#include "core/rows/flash.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

enum { PAUSE_SHIFT_MAX = 4 };
#define PAUSE (30 * LKS_SECOND) /* before the second attempt; then twice as long each time */

uint32_t lks_campaign_domain_spares(const struct lks_deciding *d, lks_text domain)
{
    const struct lks_fleet *fleet = lks_book_fleet(d->book);
    const struct lks_doc *domains =
        fleet == NULL || fleet->doc == NULL ? NULL : lks_doc_member(fleet->doc, "domains");
    const struct lks_doc *found =
        domains == NULL ? NULL : lks_doc_find(domains, lks_state_text(d->state, domain));
    const struct lks_doc *spares = found == NULL ? NULL : lks_doc_member(found, "spares");
    if (spares == NULL || spares->number <= 0)
        return 0;
    return spares->number < UINT32_MAX ? (uint32_t)spares->number : UINT32_MAX;
}

/* Telling people ---------------------------------------------------------------------------- */

static struct lks_str or_unknown(struct lks_str text)
{
    return text.len > 0 ? text : LKS_STR("unknown");
}

/* Where it is, what of it, and what to do there. */
static struct lks_str hands_text(struct lks_deciding *d, const struct lks_look *k,
                                 struct lks_str text)
{
    struct lks_str part = k->step != NULL ? lks_look_text(k, k->step->component) : LKS_STR("");
    return lks_decision_text(
        d,
        "site %" LKS_STR_FMT ", rack %" LKS_STR_FMT ": %" LKS_STR_FMT " (%" LKS_STR_FMT
        "). Go there: check power and cable of the management port, cycle it, restore %" LKS_STR_FMT
        " by the vendor's recovery; then: lockstep node resolve %" LKS_STR_FMT
        ", and try it again or release it",
        LKS_STR_ARG(or_unknown(lks_look_text(k, k->n->site))),
        LKS_STR_ARG(or_unknown(lks_look_text(k, k->n->rack))), LKS_STR_ARG(or_unknown(part)),
        LKS_STR_ARG(text), LKS_STR_ARG(or_unknown(part)), LKS_STR_ARG(lks_look_name(k)));
}

void lks_campaign_member_fence(struct lks_deciding *d, const struct lks_look *k,
                               enum lks_member_state state, enum lks_failure failure,
                               bool unit_returns, struct lks_str text)
{
    struct lks_rec_member r = lks_campaign_member_record(k);
    r.state = state;
    r.failure = failure;
    r.until = 0;
    r.back = r.back || unit_returns;
    if (unit_returns && r.pass == 1)
        r.pass = 0;
    r.text = text;
    /* Nothing may start on it, however early it failed. One that is lost on the way is meant to be
     * where the others of its unit go. */
    bool undone = (failure == LKS_FAILURE_LOST || lks_campaign_look_retried(k)) && r.back &&
                  lks_campaign_look_changed(k);
    lks_campaign_member_keep_out(
        d, k,
        k->n->changing != 0 && !undone ? k->n->target : lks_campaign_member_target(k, r.back));
    lks_campaign_member_list(d, k, r);
    if (state == LKS_MEMBER_HANDS)
        (void)lks_decision_alarm(d, LKS_ALARM_HANDS, lks_look_name(k), hands_text(d, k, text));
    else
        (void)lks_decision_alarm(
            d, LKS_ALARM_CHANGE, lks_look_name(k),
            lks_decision_text(d, "change %llu holds it out of service: %" LKS_STR_FMT,
                              (unsigned long long)k->c->id, LKS_STR_ARG(text)));
}

/* What becomes of it ------------------------------------------------------------------------ */

/* It rolls back as a whole where it would be left with too few members. */
static bool is_too_few(const struct lks_deciding *d, const struct lks_look *k)
{
    return k->u->domain != 0 &&
           lks_campaign_unit_missing(k) + 1 > lks_campaign_domain_spares(d, k->u->domain);
}

static bool is_going_back(const struct lks_look *k)
{
    return k->c->state == LKS_CHANGE_ABORTING || k->c->state == LKS_CHANGE_ROLLING_BACK;
}

static bool goes_back(const struct lks_look *k)
{
    return is_going_back(k) || lks_campaign_unit_returns(k->c, k->u);
}

/* In a rollback a bank can be switched, or else the image before flashed again. And what is staged
 * can be given up, or else staged over with what runs: many services do not show what they hold. */
static bool has_two_ways(const struct lks_look *k)
{
    return k->m->back && k->step != NULL && k->step->image_back != 0 &&
           (k->step->kind == LKS_DO_STAGE || k->step->revert == LKS_BMC_SWITCH);
}

/* Firmware of one side of a pair, and the other is down: there is no spare for both. */
static bool is_last_side(const struct lks_look *k)
{
    return k->step != NULL && lks_campaign_step_by_endpoint(k->step) &&
           lks_campaign_side_kept(k) != LKS_NO_NODE;
}

/* As often as its step allows. A step that no person inspected is not repeated, and a member that
 * is to roll back does not try to go forward. */
static bool is_retried(const struct lks_look *k, enum lks_failure failure)
{
    if (k->step != NULL && k->step->kind == LKS_DO_LEAVE)
        return false; /* which has a deadline as a whole */
    if (is_last_side(k))
        return false;
    uint32_t retries = k->step != NULL ? k->step->retries : 0;
    retries += has_two_ways(k);
    return lks_failure_rules[failure].retries && k->m->attempt <= retries && k->n->flashing == 0 &&
           (k->m->back || !goes_back(k));
}

/* A device that was watched until it was clear what it runs, which took as long as it may take: to
 * wait some more would change nothing. */
static bool is_settled(const struct lks_look *k, enum lks_failure failure)
{
    static const bool by_endpoint[LKS_DO_COUNT] = {
        [LKS_DO_STAGE] = true, [LKS_DO_FLASH] = true, [LKS_DO_ACTIVATE] = true};
    bool watched = k->step != NULL && by_endpoint[k->step->kind] && failure == LKS_FAILURE_STEP;
    const struct lks_state_flash *f = watched ? lks_state_flash(k->s, k->m->work) : NULL;
    return f != NULL && f->outcome == LKS_BMC_FAILED;
}

static void try_again(struct lks_deciding *d, const struct lks_look *k, enum lks_failure failure,
                      struct lks_str text)
{
    struct lks_rec_member r = lks_campaign_member_record(k);
    uint32_t times = k->m->attempt > 0 ? k->m->attempt - 1 : 0;
    r.state = LKS_MEMBER_WAITING;
    r.attempt = (uint64_t)k->m->attempt + 1;
    r.until = d->now.wall;
    if (times > 0 || (!has_two_ways(k) && !is_settled(k, failure)))
        r.until += PAUSE << (times < PAUSE_SHIFT_MAX ? times : PAUSE_SHIFT_MAX);
    r.work = 0;
    if (!k->m->back || k->m->failure == LKS_FAILURE_NONE) {
        r.failure = k->m->back ? LKS_FAILURE_NONE : failure;
        r.text = text;
    }
    lks_campaign_member_list(d, k, r);
}

/* A node that did not drain stays retained for a person where its posture says so; a domain returns
 * to service whole, for it is unknown what runs there across it. */
static bool is_kept(const struct lks_deciding *d, const struct lks_look *k,
                    enum lks_failure failure)
{
    uint32_t pool = k->n->pool;
    if (failure != LKS_FAILURE_BUSY || k->u->count > 1 || goes_back(k))
        return false;
    struct lks_str posture =
        pool < k->s->pool_count ? lks_look_text(k, k->s->pools[pool].posture) : LKS_STR("");
    return lks_drain_rule(d->book->facts, posture).then == LKS_DRAIN_HOLD;
}

/* It is not known yet that nothing runs on it. */
static bool is_in_use(const struct lks_look *k)
{
    return k->u->count > 1 && k->step != NULL && k->step->kind <= LKS_DO_LEAVE;
}

/* Without it there are enough of its domain, and the others go on. Who may still be in use is not
 * left behind so: what is done to its domain would be done to it. */
static bool is_left_behind(const struct lks_deciding *d, const struct lks_look *k,
                           enum lks_failure failure)
{
    return k->u->count > 1 && failure != LKS_FAILURE_BUSY && k->step != NULL &&
           k->step->kind > LKS_DO_LEAVE && !goes_back(k) && !is_too_few(d, k) && !is_last_side(k);
}

void lks_campaign_member_give_up(struct lks_deciding *d, const struct lks_look *k,
                                 enum lks_failure failure, struct lks_str text)
{
    bool can = !k->m->back && lks_campaign_unit_can_return(k);
    lks_campaign_member_fence(d, k, lks_failure_rules[failure].ends, failure,
                              can && (is_too_few(d, k) || is_in_use(k)), text);
}

void lks_campaign_member_fail(struct lks_deciding *d, const struct lks_look *k,
                              enum lks_failure failure, bool done, struct lks_str text)
{
    if (is_retried(k, failure)) {
        try_again(d, k, failure, text);
        return;
    }
    /* A failure in the rollback ends by the rule for that, unless it is worse, or the node is lost
     * and may still join. */
    bool worse = failure == LKS_FAILURE_ENDPOINT || failure == LKS_FAILURE_UNKNOWN ||
                 (failure == LKS_FAILURE_LOST && is_going_back(k));
    if (k->m->back && !worse)
        failure = LKS_FAILURE_REVERT;
    const struct lks_failure_rule *rule = &lks_failure_rules[failure];
    bool can = !k->m->back && lks_campaign_unit_can_return(k);
    if (rule->reverts && can && !lks_campaign_look_retried(k) && !is_kept(d, k, failure) &&
        !is_left_behind(d, k, failure))
        lks_campaign_member_turn(d, k, done, failure, text);
    else
        lks_campaign_member_give_up(d, k, failure, text);
}
