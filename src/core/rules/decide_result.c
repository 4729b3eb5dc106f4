/* What agents answer to commands; with it the figures of acceptance checks, for the gates of
 * changes. These run twice on a node that a gate evaluates: when it was drained and nothing was
 * done to it yet, and when it is to return. */
#include "core/campaign/campaign_parts.h"
#include "core/gate/gate.h"
#include "core/rows/command.h"
#include "core/rules/decide_rules.h"
#include "core/state/state.h"
#include "model/tuple/figures.h"

#include <math.h>

struct taking {
    struct lks_deciding *d;
    struct lks_look at;
    bool before;
};

/* Of those that are not measured, one event of which one is enough is heard all the same. */
static bool is_wanted(const struct taking *t, const struct lks_plan_metric *m, double value)
{
    bool events = m->kind != LKS_METRIC_MEAN;
    if (events && t->before)
        return false;
    return lks_gate_samples(t->at.c, t->at.m) || (events && value > 0);
}

static void take(const struct taking *t, const struct lks_plan_metric *m, double value)
{
    struct lks_deciding *d = t->d;
    const struct lks_look *k = &t->at;
    const struct lks_measure *had = lks_state_change_measure(k->c, k->u->wave, k->m->node, m->name);
    bool mean = m->kind == LKS_METRIC_MEAN;
    bool has_before = mean && (t->before || (had != NULL && had->has_before));
    struct lks_str before =
        lks_decide_measure_number(d, has_before, t->before || had == NULL ? value : had->before);
    struct lks_str after = lks_decide_measure_number(d, !t->before, mean ? value : 0);
    lks_decision_add(d, LKS_RECORD_MEASURED)->measured = (struct lks_rec_measured){
        .change = k->c->id,
        .wave = k->u->wave,
        .node = lks_state_name(d->state, k->m->node),
        .metric = lks_state_text(d->state, m->name),
        .before = before,
        .after = after,
        .samples = 1,
        .from = d->now.wall,
        .until = d->now.wall,
        .events = !mean && value > 0 ? (uint64_t)ceil(fmin(value, UINT32_MAX)) : 0,
    };
}

/* Which of the two it is; false: neither. A member that rolls back is not compared any more. */
static bool find_part(struct taking *t, uint64_t command)
{
    const struct lks_look *k = &t->at;
    if (k->step == NULL || k->m->work != command || k->m->back)
        return false;
    t->before = k->step->kind == LKS_DO_LEAVE;
    return t->before || k->step->kind == LKS_DO_ACCEPT;
}

static void take_figures(struct lks_deciding *d, const struct lks_state_command *command)
{
    const struct lks_state *s = d->state;
    const struct lks_node *n = &s->nodes[command->node];
    const struct lks_state_change *c = n->change != 0 ? lks_state_change(s, n->change) : NULL;
    const struct lks_member *m = c != NULL ? lks_state_change_member(c, command->node) : NULL;
    struct lks_figures figures;
    if (m == NULL || d->event->result.outcome != LKS_OUTCOME_DONE ||
        !lks_figures_parse(d->event->result.text, &figures))
        return;
    struct taking t = {.d = d, .at = lks_campaign_look_at(s, c, m)};
    if (!find_part(&t, command->id))
        return;
    for (uint32_t i = 0; i < c->metric_count; i++) {
        const struct lks_plan_metric *metric = &c->metrics[i];
        double value = 0;
        if (metric->source == LKS_SOURCE_ACCEPT && lks_gate_metric_is_of(s, metric, n->pool) &&
            lks_figures_find(&figures, lks_state_text(s, metric->query), &value) &&
            is_wanted(&t, metric, value))
            take(&t, metric, value);
    }
}

/* That a command expired is for lockstepd to say. */
static bool check_result(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    if (e->result.outcome >= LKS_OUTCOME_COUNT || e->result.outcome == LKS_OUTCOME_EXPIRED)
        lks_decision_refuse(d, LKS_E_INVALID, "no outcome that an agent can report");
    else if (e->result.text.len > LKS_REASON_MAX || !lks_str_printable(e->result.text))
        lks_decision_refuse(d, LKS_E_INVALID,
                            "the text of a result is one printable line of at most %d bytes",
                            LKS_REASON_MAX);
    else
        return true;
    return false;
}

/* Agents repeat a result until it is acknowledged, so one that is known, or that was forgotten with
 * its command, is welcome and changes nothing. Only of a command that we gave up for expired is the
 * node's own word news: it did run, or did not. */
void lks_decide_result(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    const struct lks_state_command *c = lks_state_command(d->state, e->result.id);
    unsigned long long id = e->result.id;
    if (!check_result(d))
        return;
    if (c == NULL && (id == 0 || id >= d->state->next_command))
        lks_decision_refuse(d, LKS_E_NOT_FOUND, "there was never a command %llu", id);
    else if (c != NULL && c->node != e->node)
        lks_decision_refuse(d, LKS_E_DENIED, "command %llu is not for this node", id);
    else if (c != NULL && (!c->ended || c->outcome == LKS_OUTCOME_EXPIRED)) {
        lks_decide_command_ended(d, c, e->result.outcome, e->result.text);
        take_figures(d, c);
    }
}
