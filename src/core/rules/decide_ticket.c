/* Votes that come by a ticket system: the same rules as for all others, and two more. A vote is for
 * exactly the plan that was shown, and no message counts twice. */
#include "core/decision/size.h"
#include "core/procedure/procedure.h"
#include "core/rows/change.h"
#include "core/rules/decide_rules.h"
#include "core/state/state.h"
#include "core/state/tickets.h"

/* Whether what was shown is what there is. */
static bool is_shown(struct lks_deciding *d, const struct lks_state_change *c)
{
    const struct lks_event *e = d->event;
    struct lks_change_size size = lks_size_of_change(d->state, d->book, c);
    char digest[LKS_DIGEST_SIZE], count[LKS_COUNT_TEXT_SIZE];
    struct lks_err err = {0};
    if (lks_procedure_plan_digest(d->state, c, digest, &err) != LKS_OK) {
        lks_decision_refuse(d, err.code, "%s", err.msg);
        return false;
    }
    if (lks_str_is(e->ticket.plan, digest) && e->ticket.nodes == size.nodes)
        return true;
    lks_decision_refuse(d, LKS_E_REFUSED,
                        "change %llu is plan %s for %s, and the ticket was shown another: show it "
                        "this one, and ask again",
                        (unsigned long long)c->id, digest,
                        lks_str_count_text(size.nodes, "node", count));
    return false;
}

static bool is_new(struct lks_deciding *d)
{
    struct lks_str id = d->event->ticket.id;
    if (!lks_tickets_heard(d->state, id))
        return lks_decision_space(d, "messages of ticket systems", lks_tickets_remembered(d->state),
                                  LKS_TICKETS_HEARD_MAX);
    lks_decision_refuse(d, LKS_E_REFUSED, "message '%" LKS_STR_FMT "' was taken already",
                        LKS_STR_ARG(id));
    return false;
}

static bool is_said(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    return lks_decision_line(d, "event", e->ticket.id, LKS_TICKET_ID_MAX) &&
           lks_decision_line(d, "ticket", e->ticket.ticket, LKS_TICKET_ID_MAX) &&
           lks_decision_line(d, "who", e->ticket.who, LKS_TICKET_WHO_MAX);
}

/* What was said here would be decided by the same rule. */
void lks_decide_ticket(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    const struct lks_event vote = {
        .kind = LKS_EVENT_VOTE,
        .by = e->by,
        .credential = e->credential,
        .reason = e->reason,
        .vote = {.change = e->ticket.change, .yes = e->ticket.yes},
    };
    const struct lks_state_change *c = lks_decide_change(d, e->ticket.change);
    if (c == NULL || !is_said(d) || !is_new(d) || !is_shown(d, c))
        return;
    d->event = &vote;
    lks_decide_vote(d);
    d->event = e;
    if (d->out->refused.code != LKS_OK)
        return;
    lks_decision_add(d, LKS_RECORD_TICKET_HEARD)->ticket_heard = (struct lks_rec_ticket_heard){
        .event = e->ticket.id,
        .until = e->ticket.until,
        .change = c->id,
        .by = e->by,
        .ticket = e->ticket.ticket,
        .who = e->ticket.who,
    };
}

/* Nothing where it says what is known. */
void lks_decide_ticket_told(struct lks_deciding *d)
{
    const struct lks_tickets *t = &d->state->tickets;
    const struct lks_rec_ticket_told *told = &d->event->told;
    if (told->on != t->on || (told->on && told->row > t->told))
        lks_decision_add(d, LKS_RECORD_TICKET_TOLD)->ticket_told = *told;
}
