/* Nodes that a person wants tried again: at once, or when there is room for them. One that waits
 * for that stays as it ended, and has the time at which it was asked for as its `until`. */
#include "core/campaign/campaign_parts.h"
#include "core/plan/plan.h"
#include "core/rows/node.h"

void lks_campaign_member_queue(struct lks_deciding *d, const struct lks_look *k, const char *once,
                               struct lks_str asked)
{
    struct lks_rec_member r = lks_campaign_member_record(k);
    r.until = d->now.wall > 0 ? d->now.wall : 1;
    r.text =
        lks_decision_text(d, "is tried again when %s: %" LKS_STR_FMT, once, LKS_STR_ARG(asked));
    lks_campaign_member_list(d, k, r);
}

/* From its drain on, however far it came before: each step finds out what is left to do. Why it was
 * kept out of service stays until nothing is known to run on it. Alarms about that have ended. */
void lks_campaign_member_again(struct lks_deciding *d, const struct lks_look *k,
                               struct lks_str asked)
{
    uint32_t leave = lks_campaign_path_find(k->r, LKS_DO_LEAVE);
    bool back = k->m->state == LKS_MEMBER_REVERTED; /* it is what it was */
    lks_campaign_member_list(
        d, k,
        (struct lks_rec_member){
            .state = LKS_MEMBER_WAITING,
            .step = leave < k->r->count ? leave : 0,
            .attempt = 1,
            .failure = back ? LKS_FAILURE_NONE : k->m->failure,
            .reached = lks_campaign_look_reached(k),
            .text = lks_decision_text(d, "tried again %" LKS_STR_FMT, LKS_STR_ARG(asked)),
        });
    struct lks_str reason = lks_str_trim(d->event->reason);
    reason = reason.len > 0 ? reason : LKS_STR("it is tried again");
    lks_decision_alarm_over(d, LKS_ALARM_CHANGE, lks_look_name(k), reason);
    lks_decision_alarm_over(d, LKS_ALARM_HANDS, lks_look_name(k), reason);
}

/* Others of its domain rolled back meanwhile, or are in their rollback: it does not go there alone.
 */
static bool is_left(const struct lks_look *k)
{
    for (uint32_t i = 0; i < k->u->count; i++) {
        const struct lks_member *o = &k->c->members[k->u->first + i];
        if (o != k->m && lks_member_returns(o) && !lks_member_queued(o) &&
            o->state != LKS_MEMBER_SKIPPED && o->state != LKS_MEMBER_DONE)
            return true;
    }
    return false;
}

bool lks_campaign_unit_reverted(const struct lks_state_change *c, const struct lks_unit *u)
{
    for (uint32_t i = 0; i < u->count; i++) {
        if (c->members[u->first + i].state == LKS_MEMBER_REVERTED)
            return true;
    }
    return false;
}

/* Since its rollback, a member of its unit was brought to another stack: its steps do not start
 * there. */
static bool is_elsewhere(const struct lks_look *k)
{
    for (uint32_t i = 0; i < k->u->count; i++) {
        const struct lks_member *o = &k->c->members[k->u->first + i];
        if (o->state == LKS_MEMBER_REVERTED && lks_campaign_member_elsewhere(k->s, k->c, o))
            return true;
    }
    return false;
}

/* What keeps it for now. */
static bool is_barred(struct lks_deciding *d, const struct lks_look *k, struct lks_downs *downs,
                      struct lks_crowded *crowded)
{
    const struct lks_wave *w = &k->c->waves[k->u->wave];
    lks_ms next = 0;
    return (k->u->active == 0 && w->busy >= (w->width > 0 ? w->width : 1)) ||
           lks_state_frozen(k->s, k->m->node) || lks_decision_waits(d, k->n->pool) ||
           (k->n->change != 0 && k->n->change != k->c->id) || k->n->flashing > 0 ||
           !lks_plan_may_begin(k->s, d->book, k->c, k->m->node, d->now.wall, &next) ||
           lks_campaign_member_pair(d, k->c, k->m, downs) != LKS_PAIR_UP ||
           (lks_campaign_unit_reverted(k->c, k->u) &&
            lks_campaign_unit_crowds(d, k->c, k->u, 0, crowded) != NULL);
}

static void begin_queued(struct lks_deciding *d, const struct lks_look *k)
{
    for (uint32_t i = 0; i < k->u->count; i++) {
        struct lks_look o = lks_campaign_look_at(k->s, k->c, &k->c->members[k->u->first + i]);
        if (lks_member_queued(o.m))
            lks_campaign_member_again(d, &o, LKS_STR("it has a slot now"));
    }
}

/* One unit a decision: what it begins, the next has to see. */
enum lks_queue lks_campaign_queue(struct lks_deciding *d, const struct lks_state_change *c)
{
    enum lks_queue found = LKS_QUEUE_EMPTY;
    struct lks_downs downs = {0};
    struct lks_crowded crowded = {0};
    for (uint32_t i = 0, left = c->queued; i < c->member_count && left > 0; i++) {
        if (!lks_member_queued(&c->members[i]))
            continue;
        left--;
        struct lks_look k = lks_campaign_look_at(d->state, c, &c->members[i]);
        if (!k.n->placed || is_left(&k) || is_elsewhere(&k) || lks_change_late(c, d->now.wall))
            continue;
        if (!is_barred(d, &k, &downs, &crowded)) {
            begin_queued(d, &k);
            return LKS_QUEUE_BEGUN;
        }
        found = LKS_QUEUE_WAITS;
    }
    return found;
}
