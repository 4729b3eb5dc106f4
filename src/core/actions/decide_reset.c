/* Wedged nodes: one person asks for the reset, another approves it, and it is reviewed. */
#include "core/actions/actions.h"
#include "core/actions/drained.h"
#include "core/rows/command.h"
#include "core/state/access.h"
#include "core/state/resets.h"
#include "core/state/state.h"
#include "model/manifest/executor.h"

#define ASK_AGE ((lks_ms)3600 * LKS_SECOND) /* for the approver */
#define LIFE    ((lks_ms)600 * LKS_SECOND)  /* of the reboot command */

static struct lks_str text_of(const struct lks_deciding *d, lks_text text)
{
    return lks_state_text(d->state, text);
}

/* The last look at it is what makes it wedged: since it is out of service, or of late where it is
 * only unhealthy. `wall` is when the reset was asked for; of a node in service it is now, since
 * another job may have started there meanwhile. */
static const struct lks_state_command *last_look(const struct lks_deciding *d, uint32_t node,
                                                 lks_ms wall)
{
    lks_ms since = lks_drained_since(d->state, node);
    lks_ms recent = wall > LKS_DRAINED_AGE ? wall - LKS_DRAINED_AGE : 0;
    return lks_drained_look(d->state, node, since != UINT64_MAX && since > recent ? since : recent);
}

/* Promise 2 has no exception: where the pool enforces, every yes has expired. */
static bool is_wedged(struct lks_deciding *d, uint32_t node, lks_ms wall)
{
    const struct lks_node *n = &d->state->nodes[node];
    const struct lks_state_command *look = last_look(d, node, wall);
    struct lks_str name = lks_state_name(d->state, node);
    if (n->asset != 0)
        lks_decision_refuse(d, LKS_E_REFUSED, "%" LKS_STR_FMT " is an asset and has no agent",
                            LKS_STR_ARG(name));
    else if (!n->held && n->changing == 0 && !n->unhealthy)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " is in service: only a drained or unhealthy node is "
                            "reset; drain it first: lockstep node hold %" LKS_STR_FMT,
                            LKS_STR_ARG(name), LKS_STR_ARG(name));
    else if (!lks_decide_command_quiet(d, node))
        return false;
    else if (look == NULL)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "no reading shows a process on %" LKS_STR_FMT
                            "; read it first: lockstep node command %" LKS_STR_FMT " idle",
                            LKS_STR_ARG(name), LKS_STR_ARG(name));
    else if (look->outcome == LKS_OUTCOME_DONE)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "no process runs on %" LKS_STR_FMT ": reboot it without --wedged",
                            LKS_STR_ARG(name));
    else
        return true;
    return false;
}

static void ask(struct lks_deciding *d, uint32_t node)
{
    const struct lks_reset *known = lks_state_reset(d->state, node);
    struct lks_str name = lks_state_name(d->state, node);
    if (known != NULL && known->approved != 0) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "the last reset of %" LKS_STR_FMT " is not reviewed; an approver does "
                            "that first: lockstep node review %" LKS_STR_FMT,
                            LKS_STR_ARG(name), LKS_STR_ARG(name));
        return;
    }
    if (!lks_decide_hand_thaws(d, node) || !is_wedged(d, node, d->now.wall))
        return;
    lks_decision_add(d, LKS_RECORD_RESET)->reset =
        (struct lks_rec_reset){.node = name,
                               .step = LKS_RESET_ASKED,
                               .boot = text_of(d, d->state->nodes[node].boot),
                               .until = d->now.wall + ASK_AGE,
                               .by = d->event->by,
                               .reason = lks_str_trim(d->event->reason),
                               .credential = d->event->credential,
                               .minters = lks_decision_backing(d).minters};
}

/* An approver of the node, and another person than the one who asked. */
static bool is_another(struct lks_deciding *d, uint32_t node, const struct lks_reset *r)
{
    struct lks_str by = d->event->by, name = lks_state_name(d->state, node);
    struct lks_backing asked = {text_of(d, r->by), text_of(d, r->minters)};
    if (by.len == 0 || lks_access_same_person(text_of(d, r->by), by))
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " asked for the reset of %" LKS_STR_FMT
                            ": another person approves and reviews it",
                            LKS_STR_ARG(by), LKS_STR_ARG(name));
    else if (!lks_decision_apart(d, asked,
                                 lks_decision_text(d,
                                                   "approve or review the reset of %" LKS_STR_FMT,
                                                   LKS_STR_ARG(name))))
        return false;
    else if (!lks_access_may_by(d->state, by, d->event->credential, LKS_MAY_APPROVE,
                                lks_access_scope_of_node(d->state, node)))
        lks_decision_refuse(d, LKS_E_DENIED, "%" LKS_STR_FMT " is no approver of %" LKS_STR_FMT,
                            LKS_STR_ARG(by), LKS_STR_ARG(name));
    else
        return true;
    return false;
}

static void raise(struct lks_deciding *d, uint32_t node, const struct lks_reset *r)
{
    struct lks_str name = lks_state_name(d->state, node);
    (void)lks_decision_alarm(
        d, LKS_ALARM_WEDGED, name,
        lks_decision_text(d,
                          "reset while a process held its GPUs: asked for by %" LKS_STR_FMT
                          " (%" LKS_STR_FMT "), approved by %" LKS_STR_FMT
                          "; review it: lockstep node review %" LKS_STR_FMT,
                          LKS_STR_ARG(text_of(d, r->by)), LKS_STR_ARG(text_of(d, r->reason)),
                          LKS_STR_ARG(d->event->by), LKS_STR_ARG(name)));
}

static void approve(struct lks_deciding *d, uint32_t node)
{
    const struct lks_reset *r = lks_state_reset(d->state, node);
    const struct lks_node *n = &d->state->nodes[node];
    struct lks_str name = lks_state_name(d->state, node);
    if (r == NULL || r->approved != 0 || r->until <= d->now.wall || r->boot != n->boot) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "no reset of %" LKS_STR_FMT " waits for an approval in this boot; an "
                            "operator asks for one: lockstep node command %" LKS_STR_FMT
                            " reboot --wedged",
                            LKS_STR_ARG(name), LKS_STR_ARG(name));
        return;
    }
    uint64_t command = d->next_command;
    lks_ms asked = n->held || n->changing != 0 ? r->asked : d->now.wall;
    if (!is_another(d, node, r) || !lks_decide_hand_thaws(d, node) || !is_wedged(d, node, asked) ||
        !lks_decide_command_issue(d, node,
                                  (struct lks_rec_command){.executor = LKS_STR(LKS_EXECUTOR_REBOOT),
                                                           .digests = LKS_STR(""),
                                                           .attempt = 1,
                                                           .expires = d->now.wall + LIFE,
                                                           .by = text_of(d, r->by),
                                                           .reason = text_of(d, r->reason)},
                                  true))
        return;
    lks_decision_add(d, LKS_RECORD_RESET)->reset =
        (struct lks_rec_reset){.node = name,
                               .step = LKS_RESET_APPROVED,
                               .boot = LKS_STR(""),
                               .command = command,
                               .by = d->event->by,
                               .reason = lks_str_trim(d->event->reason),
                               .credential = d->event->credential};
    raise(d, node, r);
}

static void review(struct lks_deciding *d, uint32_t node)
{
    const struct lks_reset *r = lks_state_reset(d->state, node);
    struct lks_str name = lks_state_name(d->state, node), reason = lks_str_trim(d->event->reason);
    if (r == NULL || r->approved == 0) {
        lks_decision_refuse(d, LKS_E_REFUSED, "no reset of %" LKS_STR_FMT " waits for a review",
                            LKS_STR_ARG(name));
        return;
    }
    if (!is_another(d, node, r))
        return;
    lks_decision_add(d, LKS_RECORD_RESET)->reset =
        (struct lks_rec_reset){.node = name,
                               .step = LKS_RESET_REVIEWED,
                               .boot = LKS_STR(""),
                               .by = d->event->by,
                               .reason = reason,
                               .credential = d->event->credential};
    lks_decision_alarm_over(d, LKS_ALARM_WEDGED, name, reason);
}

void lks_decide_reset(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    uint32_t node = LKS_NO_NODE;
    if (!lks_decision_reason(d) || !lks_decision_node(d, &node))
        return;
    lks_decision_touch(d, node);
    if (e->reset == LKS_RESET_ASKED)
        ask(d, node);
    else if (e->reset == LKS_RESET_APPROVED)
        approve(d, node);
    else
        review(d, node);
}
