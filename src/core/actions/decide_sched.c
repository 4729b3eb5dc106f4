/* What schedulers report of nodes that lockstep drains: an alarm where a scheduler does not answer,
 * does not drain a node, or does not keep it drained. Each ends by itself once that is over, but
 * for the last: people are told of a drain that another ended until the node returns. Alarms about
 * a whole site or a bridge begin and end, and slots of pools are given, as sched_truth.h finds
 * them.
 */
#include "core/actions/actions.h"
#include "core/actions/sched.h"
#include "core/rows/alarm.h"
#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

static struct lks_str text_of(const struct lks_deciding *d, lks_text text)
{
    return lks_state_text(d->state, text);
}

/* The name of its pool's scheduler; of several, that which the event is about. */
static struct lks_str sched_of(const struct lks_deciding *d, const struct lks_node *n)
{
    if (d->event->sched.sched.len > 0)
        return d->event->sched.sched;
    return n->pool < d->state->pool_count ? text_of(d, d->state->pools[n->pool].sched)
                                          : LKS_STR("its scheduler");
}

/* Who wants the node of the event drained: "change:17", "hold:812"; empty: nothing does. */
static struct lks_str owner_of(struct lks_deciding *d)
{
    char space[LKS_SCHED_HOLD_SIZE];
    return lks_decision_copy(d, lks_sched_cause(d->state, d->event->node, space).owner);
}

/* No answer ---------------------------------------------------------------------------------- */

/* Nodes of one pool at one site have the same bridges: one alarm is enough for all of them. Where
 * they have several schedulers it is one for each, by the name that its text starts with. */
static bool is_told(const struct lks_deciding *d, const struct lks_node *n)
{
    const struct lks_state *s = d->state;
    struct lks_str sched = d->event->sched.sched;
    for (uint32_t i = s->alarm_count; i-- > 0 && s->alarms_open > 0;) {
        const struct lks_state_alarm *a = &s->alarms[i];
        if (a->released != 0 || a->kind != LKS_ALARM_BRIDGE ||
            (sched.len > 0 && lks_str_find(text_of(d, a->text), sched) != 0))
            continue;
        uint32_t other = lks_state_node(s, text_of(d, a->subject));
        if (other != LKS_NO_NODE && s->nodes[other].pool == n->pool &&
            s->nodes[other].site == n->site)
            return true;
    }
    return false;
}

/* There is no answer, and not only for a moment. */
static bool is_silent(const struct lks_deciding *d)
{
    const struct lks_event_sched *e = &d->event->sched;
    return e->unknown && (e->refused || d->now.wall >= e->since + LKS_DECIDE_SCHED_SILENT);
}

static void look_at_silence(struct lks_deciding *d, const struct lks_node *n, struct lks_str name)
{
    const struct lks_event_sched *e = &d->event->sched;
    char since[LKS_TIME_TEXT_SIZE];
    if (!is_silent(d) || is_told(d, n))
        return;
    struct lks_str sched = sched_of(d, n);
    (void)lks_decision_alarm(
        d, LKS_ALARM_BRIDGE, name,
        lks_decision_text(d,
                          "%" LKS_STR_FMT " gives no answer since %s, and %" LKS_STR_FMT
                          " needs it for this node, perhaps for others of its pool: %" LKS_STR_FMT
                          "; no step starts on a node that it last reported as drained more than "
                          "90 s ago",
                          LKS_STR_ARG(sched), lks_time_text(e->since, since),
                          LKS_STR_ARG(owner_of(d)), LKS_STR_ARG(e->text)));
}

/* Answers ------------------------------------------------------------------------------------ */

static void tell_lost(struct lks_deciding *d, const struct lks_node *n, struct lks_str name)
{
    const struct lks_event_sched *e = &d->event->sched;
    struct lks_str sched = sched_of(d, n), owner = owner_of(d);
    const char *what = e->missing         ? "the scheduler does not know the node any more"
                       : e->foreign       ? "another owner took the drain over"
                       : e->owner.len > 0 ? "the node is not empty any more"
                                          : "another ended the drain";
    (void)lks_decision_alarm(d, LKS_ALARM_UNDRAINED, name,
                             lks_decision_text(d,
                                               "drained in %" LKS_STR_FMT " for %" LKS_STR_FMT
                                               ", and then %s (%" LKS_STR_FMT
                                               "); lockstep does nothing to the node before it is "
                                               "drained again",
                                               LKS_STR_ARG(sched), LKS_STR_ARG(owner), what,
                                               LKS_STR_ARG(e->text)));
}

/* Another owner's drain, the scheduler's own one included, is not replaced: it is waited for. */
static void tell_not_ours(struct lks_deciding *d, const struct lks_node *n, struct lks_str name)
{
    const struct lks_event_sched *e = &d->event->sched;
    struct lks_str sched = sched_of(d, n), owner = owner_of(d);
    (void)lks_decision_alarm(
        d, LKS_ALARM_SCHED, name,
        lks_decision_text(d,
                          "%" LKS_STR_FMT " waits for it in %" LKS_STR_FMT ": %" LKS_STR_FMT "; %s",
                          LKS_STR_ARG(owner), LKS_STR_ARG(sched), LKS_STR_ARG(e->text),
                          e->missing ? "add the node there under this name, or take it out of the "
                                       "fleet's file"
                                     : "repair the node and end that drain in the scheduler, or "
                                       "end what needs the drain"));
}

static void end_alarms(struct lks_deciding *d, struct lks_str name)
{
    static const enum lks_alarm_kind kinds[] = {LKS_ALARM_BRIDGE, LKS_ALARM_SCHED,
                                                LKS_ALARM_UNDRAINED};
    for (size_t i = 0; i < LKS_COUNT(kinds); i++)
        lks_decision_alarm_over(d, kinds[i], name, LKS_STR("lockstep does not drain it any more"));
}

/* A hold --------------------------------------------------------------------------------------- */

static bool is_emptied(const struct lks_node *n)
{
    return (n->notes >> LKS_NOTE_EMPTIED & 1) != 0;
}

void lks_decide_sched_emptied(struct lks_deciding *d, uint32_t node, bool on, struct lks_str text)
{
    if (is_emptied(&d->state->nodes[node]) != on)
        lks_decision_add(d, LKS_RECORD_NOTED)->noted =
            (struct lks_rec_noted){.node = lks_state_name(d->state, node),
                                   .note = LKS_NOTE_EMPTIED,
                                   .on = on,
                                   .text = text};
}

/* Answers of the scheduler -------------------------------------------------------------------- */

/* Drained, by whichever of our owners: one takes over from the other without a gap. */
static bool is_kept(const struct lks_event_sched *e)
{
    return e->drained && e->owner.len > 0;
}

static bool hear(struct lks_deciding *d, const struct lks_node *n, struct lks_str owner,
                 bool verified)
{
    const struct lks_event_sched *e = &d->event->sched;
    struct lks_str name = lks_state_name(d->state, d->event->node);
    bool ours = lks_str_eq(e->owner, owner);
    if (!e->partial)
        lks_decision_alarm_over(d, LKS_ALARM_BRIDGE, name, LKS_STR("the scheduler answers again"));
    if (ours)
        lks_decision_alarm_over(d, LKS_ALARM_SCHED, name, LKS_STR("the scheduler drains it"));
    if ((verified && !is_kept(e)) || (!ours && e->lost)) {
        tell_lost(d, n, name);
        return true;
    }
    if (!ours && (e->missing || e->foreign))
        tell_not_ours(d, n, name);
    return false;
}

bool lks_decide_sched_heard(struct lks_deciding *d, bool verified)
{
    const struct lks_event_sched *e = &d->event->sched;
    const struct lks_node *n = &d->state->nodes[d->event->node];
    struct lks_str name = lks_state_name(d->state, d->event->node), owner = owner_of(d);
    if (e->unknown && owner.len > 0)
        look_at_silence(d, n, name);
    if (is_silent(d)) /* what it said before is no word for what people do by hand now */
        lks_decide_sched_emptied(d, d->event->node, false, e->text);
    if (e->unknown)
        return false;
    if (owner.len == 0)
        end_alarms(d, name);
    bool lost = owner.len > 0 && hear(d, n, owner, verified || is_emptied(n));
    lks_decide_sched_emptied(d, d->event->node, n->held && is_kept(e), e->text);
    return lost;
}

/* A whole site ------------------------------------------------------------------------------- */

void lks_decide_sched_alarm(struct lks_deciding *d)
{
    const struct lks_event_sched_alarm *e = &d->event->sched_alarm;
    if (e->over)
        lks_decision_alarm_over(d, e->kind, e->subject, e->text);
    else
        (void)lks_decision_alarm(d, e->kind, e->subject, e->text);
}

/* Slots of pools ------------------------------------------------------------------------------ */

void lks_decide_sched_slot(struct lks_deciding *d)
{
    const struct lks_event_sched_slot *e = &d->event->slot;
    const struct lks_state_pool *pool =
        e->pool < d->state->pool_count ? &d->state->pools[e->pool] : NULL;
    if (pool == NULL || !pool->known || e->slot >= LKS_STATE_SLOTS)
        return; /* the pool left the fleet */
    lks_decision_add(d, LKS_RECORD_SLOT)->slot = (struct lks_rec_slot){
        .pool = lks_state_text(d->state, pool->name), .slot = e->slot, .digest = e->digest};
}
