/* The health check of a node's site, such as Slurm's HealthCheckProgram: a node whose check fails
 * is unhealthy until the check passes. Agents repeat what a check came to; only what changes the
 * state is recorded. */
#include "core/actions/actions.h"
#include "core/rows/node.h"
#include "core/state/state.h"

#define SOURCE "slurm-health" /* by which records and texts name it */

static bool is_failed(const struct lks_node *n)
{
    return (n->notes >> LKS_NOTE_CHECK & 1) != 0;
}

static void note(struct lks_deciding *d, uint32_t node, bool on, struct lks_str text)
{
    lks_decision_add(d, LKS_RECORD_NOTED)->noted = (struct lks_rec_noted){
        .node = lks_state_name(d->state, node), .note = LKS_NOTE_CHECK, .on = on, .text = text};
}

static void set_unhealthy(struct lks_deciding *d, uint32_t node, bool on, struct lks_str text)
{
    lks_decision_add(d, LKS_RECORD_CONDITION)->condition =
        (struct lks_rec_condition){.node = lks_state_name(d->state, node),
                                   .condition = LKS_CONDITION_UNHEALTHY,
                                   .on = on,
                                   .by = LKS_STR(SOURCE),
                                   .text = text};
}

void lks_decide_check_over(struct lks_deciding *d, uint32_t node, struct lks_str text)
{
    if (is_failed(&d->state->nodes[node]))
        note(d, node, false, text);
}

static void pass(struct lks_deciding *d, uint32_t node)
{
    const struct lks_node *n = &d->state->nodes[node];
    struct lks_str text = LKS_STR(SOURCE ": the check passes");
    if (!is_failed(n))
        return;
    note(d, node, false, text);
    if (n->unhealthy)
        set_unhealthy(d, node, false, text);
}

/* A node in the middle of a change fails checks for that reason. A person who said that it is
 * unhealthy decides when it is healthy again. */
static void fail(struct lks_deciding *d, uint32_t node)
{
    const struct lks_node *n = &d->state->nodes[node];
    if (n->changing != 0 || (n->unhealthy && !is_failed(n)))
        return;
    struct lks_str text =
        lks_decision_text(d, SOURCE ": %" LKS_STR_FMT, LKS_STR_ARG(d->event->check.text));
    if (n->unhealthy && lks_str_eq(lks_state_text(d->state, n->condition_text), text))
        return;
    if (!is_failed(n))
        note(d, node, true, text);
    set_unhealthy(d, node, true, text);
}

void lks_decide_check(struct lks_deciding *d)
{
    uint32_t node = d->event->node;
    if (d->event->check.passed)
        pass(d, node);
    else if (lks_decision_line(d, "text", d->event->check.text, LKS_CHECK_TEXT_MAX))
        fail(d, node);
}
