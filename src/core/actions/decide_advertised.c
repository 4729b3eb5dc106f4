/* What a pool's scheduler advertises of a node's GPUs: a reading beside those of its agent and of
 * its management endpoint. It holds until the scheduler says something else: a bridge that does not
 * answer makes nothing better or worse. */
#include "core/actions/actions.h"
#include "core/actions/sched.h"
#include "core/rows/node.h"
#include "core/state/state.h"

struct lks_str lks_decide_advertised_lines(struct lks_deciding *d, struct lks_str gres,
                                           struct lks_str state)
{
    struct lks_str lines = LKS_STR("");
    if (gres.len > 0)
        lines =
            lks_decision_text(d, "scheduler.gres\t\t\t=\t%" LKS_STR_FMT "\n", LKS_STR_ARG(gres));
    if (state.len > 0)
        lines = lks_decision_text(d, "%" LKS_STR_FMT "scheduler.state\t\t\t=\t%" LKS_STR_FMT "\n",
                                  LKS_STR_ARG(lines), LKS_STR_ARG(state));
    return lines;
}

struct lks_str lks_decide_advertised_known(struct lks_deciding *d, const struct lks_node *n)
{
    return lks_decide_advertised_lines(d, lks_state_text(d->state, n->scheduler_gres),
                                       lks_state_text(d->state, n->scheduler_state));
}

/* The same again is no news. */
void lks_decide_advertised(struct lks_deciding *d)
{
    const struct lks_state *s = d->state;
    const struct lks_event_advertised *said = &d->event->advertised;
    uint32_t node = d->event->node;
    struct lks_deciding_basis whole;
    if (node >= s->node_count || !s->nodes[node].placed || s->nodes[node].asset != 0)
        return;
    const struct lks_node *n = &s->nodes[node];
    if (lks_str_eq(lks_state_text(s, n->scheduler_gres), said->gres) &&
        lks_str_eq(lks_state_text(s, n->scheduler_state), said->state))
        return;
    const struct lks_deciding_bands bands = {
        .inband = lks_decide_tuple_known(d, n->inband),
        .outband = lks_decide_tuple_known(d, n->outband),
        .expired = lks_decide_tuple_expired(d, n->outband_taken),
        .scheduler = lks_decide_advertised_lines(d, said->gres, said->state),
    };
    if (!lks_decide_tuple_whole(d, &bands, &whole))
        return;
    lks_decide_tuple_basis(d, &whole);
    (void)lks_decide_tuple_judge(d, &whole, lks_state_intent(s, node));
    lks_decision_add(d, LKS_RECORD_ADVERTISED)->advertised =
        (struct lks_rec_advertised){.node = lks_state_name(s, node),
                                    .gres = said->gres,
                                    .state = said->state,
                                    .whole = whole.digest};
}

/* A condition that orders the nodes of a wave, and no more: what is changed there is safe without
 * it. While lockstep drains the node it starts none, because a node that reboots is down as well.
 */
void lks_decide_outage(struct lks_deciding *d)
{
    const struct lks_state *s = d->state;
    uint32_t node = d->event->node;
    if (node < s->node_count && lks_sched_outage_new(s, node, d->event->outage))
        lks_decision_add(d, LKS_RECORD_NOTED)->noted =
            (struct lks_rec_noted){.node = lks_state_name(s, node),
                                   .note = LKS_NOTE_OUTAGE,
                                   .on = d->event->outage.len > 0,
                                   .text = d->event->outage};
}
