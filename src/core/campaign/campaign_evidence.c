#include "core/campaign/campaign_evidence.h"

#include "core/campaign/campaign_evidence_waves.h"
#include "core/campaign/campaign_parts.h"
#include "core/gate/gate.h"
#include "core/governance/govern.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

#include <math.h>

#define HOUR      (3600.0 * (double)LKS_SECOND)
#define ERROR_MIN 1e-6                /* less is nothing that few nodes could ever show */
#define OF_NODE   (UINT32_C(1) << 31) /* a node that is in no domain, as a unit */

/* What was gathered of one metric. */
struct gathered {
    struct lks_unit_value *canary, *control;
    uint32_t canaries, controls; /* values */
    uint32_t expected;           /* units of the wave that are measured */
    uint32_t last;               /* of these, + 1: members of a unit follow each other */
    uint32_t there, there_last;  /* the same of those of which something is known */
    uint32_t others[2];          /* nodes among the controls: all, and those with data */
    uint32_t events[2];          /* nodes that had one: of the wave, of its controls */
    lks_ms heard;                /* the end of the last window of anybody of the wave */
    struct lks_counted counted;  /* RATE: through all waves so far */
};

struct judging {
    const struct lks_state *s;
    const struct lks_state_change *c;
    uint32_t wave;
    lks_ms wall;
    struct lks_arena *arena;
    struct lks_err *err;
    struct lks_gate_controls controls;
    struct lks_wave_evidence *out;
    struct gathered *of;        /* by row */
    uint32_t done;              /* members that are measured */
    lks_ms soak, patience;      /* of the wave, by all its gates */
    uint64_t load, load_wanted; /* GPU-seconds of the one with the least */
    struct lks_evidence_plan plan;
    bool last;
};

/* Whom it is about -------------------------------------------------------------------------- */

static bool is_measured(const struct judging *j, const struct lks_member *m)
{
    const struct lks_node *n = &j->s->nodes[m->node];
    return m->state == LKS_MEMBER_DONE && n->placed && n->asset == 0;
}

static uint32_t unit_of(const struct judging *j, const struct lks_plan_metric *m, uint32_t node)
{
    uint32_t domain = j->s->standing->domain[node];
    if (m->unit == LKS_UNIT_NODE || domain == 0)
        return OF_NODE | node;
    return domain;
}

static void add_value(struct lks_unit_value *list, uint32_t *count, uint32_t unit,
                      const struct lks_measure *m)
{
    bool there = m != NULL && m->has_before && m->has_after;
    list[(*count)++] =
        (struct lks_unit_value){unit, there ? m->before : NAN, there ? m->after : NAN};
}

/* Acceptance checks run on empty nodes alone, so no other node is measured beside them: each node
 * of the wave is compared with itself just before, and the control is a constant. */
static void gather_own(struct gathered *g, uint32_t unit, unsigned control,
                       const struct lks_measure *m)
{
    if (control != 0)
        return;
    add_value(g->canary, &g->canaries, unit, m);
    g->control[g->controls++] = (struct lks_unit_value){unit, 1, 1};
}

static void expect(struct gathered *g, uint32_t unit, const struct lks_measure *m)
{
    bool has = m != NULL && m->has_after;
    g->heard = m != NULL && m->until > g->heard ? m->until : g->heard;
    g->expected += g->last != unit + 1;
    g->last = unit + 1;
    g->there += has && g->there_last != unit + 1;
    g->there_last = has ? unit + 1 : g->there_last;
}

/* What is known of one node by one metric; `control`: 1 for one of those. One that had an event in
 * a wave before is a bad node rather than a sign of what happens to good ones. */
static void gather_node(struct judging *j, uint32_t row, uint32_t node, unsigned control)
{
    const struct lks_plan_metric *metric = j->out->rows[row].metric;
    struct gathered *g = &j->of[row];
    const struct lks_measure *m = lks_state_change_measure(j->c, j->wave, node, metric->name);
    uint32_t unit = unit_of(j, metric, node);
    if (control == 0)
        expect(g, unit, m);
    g->others[0] += control;
    g->others[1] += control != 0 && m != NULL && m->has_after;
    if (metric->source == LKS_SOURCE_ACCEPT && metric->kind == LKS_METRIC_MEAN) {
        gather_own(g, unit, control, m);
    } else if (metric->kind == LKS_METRIC_MEAN) {
        add_value(control == 0 ? g->canary : g->control, control == 0 ? &g->canaries : &g->controls,
                  unit, m);
    } else if (m != NULL) {
        g->events[control] +=
            m->events > 0 && !lks_campaign_waves_had(j->c, node, j->wave, metric->name);
    }
}

/* Of those that are not measured, one event of which one is enough is heard all the same. */
static void gather_hard(struct judging *j, uint32_t row, uint32_t node)
{
    const struct lks_measure *m =
        lks_state_change_measure(j->c, j->wave, node, j->out->rows[row].metric->name);
    j->of[row].events[0] += m != NULL && m->events > 0;
}

/* Of those that earlier waves brought; what they had then was looked at then. */
static void gather_earlier(struct judging *j, const struct lks_member *m)
{
    if (!lks_gate_counts_on(j->s, j->c, m, j->wave))
        return;
    for (uint32_t i = 0; i < j->out->count; i++) {
        const struct lks_plan_metric *metric = j->out->rows[i].metric;
        const struct lks_measure *had =
            lks_state_change_measure(j->c, j->wave, m->node, metric->name);
        if (metric->kind != LKS_METRIC_MEAN && had != NULL && had->events > 0 &&
            lks_gate_metric_is_of(j->s, metric, j->s->nodes[m->node].pool) &&
            !lks_campaign_waves_had(j->c, m->node, j->wave, metric->name))
            j->of[i].events[0]++;
    }
}

static uint64_t load_of(const struct judging *j, uint32_t node)
{
    uint64_t most = 0;
    uint32_t at = node < j->c->measured_room ? j->c->measured[node] : 0;
    for (; at != 0; at = j->c->measures[at - 1].next) {
        const struct lks_measure *m = &j->c->measures[at - 1];
        if (m->wave == j->wave && m->load > most)
            most = m->load;
    }
    return most;
}

/* What the gate of its pool asks for beside metrics. */
static void ask_gate(struct judging *j, uint32_t node)
{
    const struct lks_pool_gate *gate = lks_gate_of(j->s, j->c, j->s->nodes[node].pool);
    if (gate == NULL)
        return;
    lks_ms max = gate->max_soak > 0 ? gate->max_soak : LKS_GATE_PATIENCE * gate->min_soak;
    j->soak = gate->min_soak > j->soak ? gate->min_soak : j->soak;
    j->patience = max > j->patience ? max : j->patience;
    if (gate->min_load == 0)
        return;
    uint64_t load = load_of(j, node);
    if (j->load_wanted == 0 || load < j->load)
        j->load = load;
    j->load_wanted = gate->min_load > j->load_wanted ? gate->min_load : j->load_wanted;
}

static void gather_member(struct judging *j, const struct lks_member *m)
{
    bool sampled = lks_gate_samples(j->c, m);
    uint32_t pool = j->s->nodes[m->node].pool;
    for (uint32_t i = 0; i < j->out->count; i++) {
        const struct lks_plan_metric *metric = j->out->rows[i].metric;
        if (!lks_gate_metric_is_of(j->s, metric, pool))
            continue;
        if (sampled)
            gather_node(j, i, m->node, 0);
        else if (metric->kind == LKS_METRIC_HARD)
            gather_hard(j, i, m->node);
    }
    if (sampled)
        ask_gate(j, m->node);
    j->done += sampled;
}

static enum lks_code make_room(struct judging *j)
{
    size_t members = j->c->waves[j->wave].members[LKS_MEMBER_DONE];
    size_t most = j->controls.count > members ? j->controls.count : members;
    j->out->rows = lks_arena_array(j->arena, j->c->metric_count + 1, sizeof(j->out->rows[0]));
    j->of = lks_arena_array(j->arena, j->c->metric_count + 1, sizeof(j->of[0]));
    if (j->out->rows == NULL || j->of == NULL)
        return lks_arena_fail(j->arena, j->err);
    for (uint32_t i = 0; i < j->c->metric_count; i++) {
        struct gathered *g = &j->of[i];
        j->out->rows[i].metric = &j->c->metrics[i];
        g->canary = lks_arena_array(j->arena, members + 1, sizeof(g->canary[0]));
        g->control = lks_arena_array(j->arena, most + 1, sizeof(g->control[0]));
        if (g->canary == NULL || g->control == NULL)
            return lks_arena_fail(j->arena, j->err);
    }
    j->out->count = j->c->metric_count;
    return LKS_OK;
}

/* Metrics of pools without a node in the wave are none of its own. A node that is not measured may
 * have had the one event that is enough. */
static void drop_others(struct judging *j)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < j->out->count; i++) {
        if (j->of[i].expected == 0 && j->of[i].events[0] == 0)
            continue;
        j->of[kept] = j->of[i];
        j->out->rows[kept++] = j->out->rows[i];
    }
    j->out->count = kept;
}

/* Who has the change already is no measure of how often things happen without it. */
static enum lks_code gather_controls(struct judging *j, uint32_t row)
{
    const struct lks_plan_metric *m = j->out->rows[row].metric;
    bool mean = m->kind == LKS_METRIC_MEAN;
    uint32_t count = mean ? j->controls.count : j->controls.untouched;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t node = j->controls.nodes[k];
        if (lks_gate_metric_is_of(j->s, m, j->s->nodes[node].pool))
            gather_node(j, row, node, 1);
    }
    if (m->kind == LKS_METRIC_RATE &&
        !lks_campaign_waves_count(j->s, j->c, j->wave, m, j->arena, &j->of[row].counted))
        return lks_arena_fail(j->arena, j->err);
    return LKS_OK;
}

static enum lks_code gather(struct judging *j)
{
    const struct lks_state_change *c = j->c;
    if (lks_gate_controls(j->s, c, j->wave, j->arena, &j->controls, j->err) != LKS_OK ||
        make_room(j) != LKS_OK)
        return j->err->code;
    for (uint32_t u = c->waves[j->wave].first_unit; u != 0; u = c->units[u - 1].next) {
        const struct lks_unit *unit = &c->units[u - 1];
        for (uint32_t i = 0; i < unit->count; i++) {
            if (is_measured(j, &c->members[unit->first + i]))
                gather_member(j, &c->members[unit->first + i]);
        }
    }
    drop_others(j);
    for (uint32_t i = 0; i < c->member_count && i < LKS_GATE_NODES_MAX; i++)
        gather_earlier(j, &c->members[i]);
    for (uint32_t i = 0; i < j->out->count; i++) {
        if (gather_controls(j, i) != LKS_OK)
            return j->err->code;
    }
    return LKS_OK;
}

/* What can be compared ---------------------------------------------------------------------- */

/* One that came to a stop has a number, too: 0. */
static uint32_t values_there(const struct lks_unit_value *list, uint32_t count)
{
    uint32_t there = 0, last = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool has = list[i].before > 0 && list[i].after >= 0;
        there += has && last != list[i].unit + 1;
        last = has ? list[i].unit + 1 : last;
    }
    return there;
}

/* A ring without nodes to compare with, or of one node alone, is evaluated by events only. A canary
 * has to be compared. The checks of a ring did not run before its change. */
static bool is_comparable(const struct judging *j, uint32_t row)
{
    const struct gathered *g = &j->of[row];
    bool ring = j->c->waves[j->wave].kind == LKS_WAVE_RING;
    if (ring && j->out->rows[row].metric->source == LKS_SOURCE_ACCEPT)
        return false;
    return j->c->waves[j->wave].kind == LKS_WAVE_CANARY ||
           (g->expected >= LKS_GATE_CONTROLS_MIN && g->controls >= LKS_GATE_CONTROLS_MIN);
}

static void look_at_row(struct judging *j, uint32_t i)
{
    struct lks_metric_found *row = &j->out->rows[i];
    const struct gathered *g = &j->of[i];
    const struct lks_gate_look *l = lks_state_change_look(j->c, j->wave, row->metric->name);
    row->expected = g->expected;
    row->canary_events = g->events[0];
    row->control_events = g->events[1];
    row->look = l != NULL ? l->look : 0;
    row->waived = lks_govern_waived(j->s, j->c, j->wave, lks_state_text(j->s, row->metric->name),
                                    row->metric, j->wall);
    if (row->metric->kind == LKS_METRIC_MEAN) {
        row->canaries = values_there(g->canary, g->canaries);
        row->controls = values_there(g->control, g->controls);
    } else {
        row->canaries = g->there;
        row->controls = g->others[1];
    }
}

/* It is not measured any more: a value from the start of a soak does not describe its end.
 * Acceptance checks have finished when the soak starts. */
static bool is_old(const struct judging *j, uint32_t i)
{
    return j->out->rows[i].metric->source != LKS_SOURCE_ACCEPT &&
           j->of[i].heard < j->c->waves[j->wave].since + j->soak / 2;
}

/* A node lacks data of a metric that has to pass. Rates are compared only where there is a node
 * that did not change. */
static bool is_lacking(const struct judging *j, uint32_t i)
{
    const struct lks_metric_found *row = &j->out->rows[i];
    enum lks_metric_kind kind = row->metric->kind;
    bool beside = kind == LKS_METRIC_MEAN ||
                  (kind == LKS_METRIC_RATE && j->of[i].others[0] >= LKS_GATE_CONTROLS_MIN);
    return row->metric->critical && (row->canaries < row->expected || is_old(j, i) ||
                                     (beside && row->controls < LKS_GATE_CONTROLS_MIN));
}

/* What is waited for; where all that is asked for is not known of anybody, the first of it: a gate
 * that measured nothing has found nothing good. */
static const struct lks_metric_found *lacking(const struct judging *j)
{
    const struct lks_metric_found *first = NULL;
    bool any = false;
    for (uint32_t i = 0; i < j->out->count; i++) {
        const struct lks_metric_found *row = &j->out->rows[i];
        if (row->waived || (row->metric->kind == LKS_METRIC_MEAN && !is_comparable(j, i)))
            continue;
        if (is_lacking(j, i))
            return row;
        any = any || (row->canaries > 0 && !is_old(j, i));
        first = first == NULL ? row : first;
    }
    return any ? NULL : first;
}

/* When it is looked at ---------------------------------------------------------------------- */

/* Looks of the soak that is on; earlier ones were at another set of nodes. */
static uint32_t looks_done(const struct judging *j)
{
    const struct lks_wave *w = &j->c->waves[j->wave];
    const struct lks_gate_look *l = lks_state_change_look(j->c, j->wave, 0);
    return l != NULL && l->at > w->since ? l->look : 0;
}

static lks_ms time_of(const struct judging *j, size_t look)
{
    lks_ms length = (lks_ms)(lks_evidence_at[look] * (double)j->soak);
    return j->c->waves[j->wave].since + length;
}

/* The planned look that is due, if one is. The last waits for what is lacking. */
static void find_look(struct judging *j)
{
    const struct lks_wave *w = &j->c->waves[j->wave];
    size_t looks = LKS_COUNT(lks_evidence_at), due = 0;
    j->out->look = LKS_LOOK_BETWEEN;
    if (w->state != LKS_WAVE_SOAKS || w->soak == 0)
        return;
    uint32_t done = looks_done(j);
    while (due < looks && j->wall >= time_of(j, due))
        due++;
    bool patient = j->wall < w->since + j->patience;
    if (due == looks && patient && (lacking(j) != NULL || j->load < j->load_wanted))
        due--;
    if (due > done)
        j->out->look = due - 1;
    j->last = due > done && due == looks;
}

/* The verdict ------------------------------------------------------------------------------- */

static struct lks_compared compare(const struct judging *j, uint32_t i)
{
    const struct lks_plan_metric *m = j->out->rows[i].metric;
    const struct gathered *g = &j->of[i];
    return (struct lks_compared){
        .name = lks_state_text(j->s, m->name),
        .scale = LKS_SCALE_RATIO,
        .lower_is_better = m->better == LKS_BETTER_LOWER,
        .critical = m->critical,
        .margin = m->margin > 0 ? m->margin : 1,
        .canary = g->canary,
        .control = g->control,
        .canary_count = g->canaries,
        .control_count = g->controls,
        .expected = m->critical ? g->expected : 0,
        .vouched = j->last && lks_campaign_waves_vouch(j->s, j->c, j->wave, m),
    };
}

/* Rows that are judged by numbers, in the order they are asked about. */
struct asked {
    struct lks_compared *compared;
    struct lks_counted *counted;
    struct lks_hard_fail *hard;
    uint32_t *of; /* rows of `compared` */
    size_t compared_count, counted_count, hard_count;
};

static void ask_row(struct judging *j, uint32_t i, struct asked *a)
{
    struct lks_metric_found *row = &j->out->rows[i];
    const struct gathered *g = &j->of[i];
    struct lks_str name = lks_state_text(j->s, row->metric->name);
    bool little = row->canaries < LKS_GATE_CONTROLS_MIN || row->controls < LKS_GATE_CONTROLS_MIN;
    if (row->waived) {
        row->text = LKS_STR("an approver waived it");
    } else if (row->metric->kind == LKS_METRIC_HARD) {
        a->hard[a->hard_count++] = (struct lks_hard_fail){
            .name = name, .canaries = g->events[0], .controls = g->events[1]};
    } else if (row->metric->kind == LKS_METRIC_RATE) {
        a->counted[a->counted_count++] = g->counted;
    } else if (!is_comparable(j, i)) {
        row->text = LKS_STR("no controls to compare with");
    } else if (little && !row->metric->critical) {
        row->text = LKS_STR("too little data, and it is not critical");
    } else {
        a->of[a->compared_count] = i;
        a->compared[a->compared_count++] = compare(j, i);
    }
}

static bool make_asked(struct judging *j, struct asked *a)
{
    size_t count = j->out->count + 1;
    a->compared = lks_arena_array(j->arena, count, sizeof(a->compared[0]));
    a->counted = lks_arena_array(j->arena, count, sizeof(a->counted[0]));
    a->hard = lks_arena_array(j->arena, count, sizeof(a->hard[0]));
    a->of = lks_arena_array(j->arena, count, sizeof(a->of[0]));
    if (a->compared == NULL || a->counted == NULL || a->hard == NULL || a->of == NULL)
        return false;
    for (uint32_t i = 0; i < j->out->count; i++)
        ask_row(j, i, a);
    return true;
}

/* Whether there was enough of it to tell the normal rate from a far higher one. */
static const char *quiet_text(const struct lks_counted *c)
{
    if (!(c->rate.rate > 0))
        return "";
    return c->times.end == LKS_SPRT_ACCEPT ? "; surely less than ten times what is normal"
                                           : "; too few node-hours to rule out ten times what is "
                                             "normal";
}

/* In this wave; and where more were counted before it, in all. */
static struct lks_str events_text(const struct judging *j, const struct gathered *g, bool rate)
{
    const struct lks_event_split *all = &g->counted.split;
    const char *quiet = rate ? quiet_text(&g->counted) : "";
    bool before = rate && (all->canary > g->events[0] || all->control > g->events[1]);
    struct lks_str text =
        before ? lks_arena_format(j->arena,
                                  "%u changed nodes and %u controls had it, and %g and %g since "
                                  "the change started%s",
                                  g->events[0], g->events[1], all->canary, all->control, quiet)
               : lks_arena_format(j->arena, "%u changed nodes and %u controls had it%s",
                                  g->events[0], g->events[1], quiet);
    return text.ptr != NULL ? text : LKS_STR("");
}

/* One event is enough, or so many are: said by rows as by the whole. */
static void tell_events(const struct judging *j)
{
    for (uint32_t i = 0; i < j->out->count; i++) {
        struct lks_metric_found *row = &j->out->rows[i];
        const struct gathered *g = &j->of[i];
        if (row->waived || row->metric->kind == LKS_METRIC_MEAN)
            continue;
        bool hard = row->metric->kind == LKS_METRIC_HARD && g->events[0] > 0 && g->events[1] == 0;
        bool many = row->metric->kind == LKS_METRIC_RATE &&
                    lks_evidence_counted_ln(&g->counted) >= j->plan.count_limit;
        row->verdict = hard || many ? LKS_GATE_HALT : LKS_GATE_PASS;
        row->text = events_text(j, g, row->metric->kind == LKS_METRIC_RATE);
    }
}

static void tell_means(const struct judging *j, const struct asked *a,
                       const struct lks_evidence_said *said)
{
    for (size_t i = 0; i < a->compared_count; i++) {
        struct lks_metric_found *row = &j->out->rows[a->of[i]];
        const struct lks_compared_said *m = &said->metrics[i];
        row->compared =
            m->canaries >= LKS_GATE_CONTROLS_MIN && m->controls >= LKS_GATE_CONTROLS_MIN;
        row->estimate = m->estimate;
        row->worst = m->worst;
        row->best = m->best;
        row->verdict = m->verdict == LKS_GATE_HOLD && !j->last ? LKS_GATE_EXTEND : m->verdict;
        row->text = m->why;
    }
}

static struct lks_str lacking_text(const struct judging *j, const struct lks_metric_found *lacks)
{
    struct lks_str name = lks_state_text(j->s, lacks->metric->name);
    bool old = lacks->canaries > 0 && is_old(j, (uint32_t)(lacks - j->out->rows));
    struct lks_str text =
        old ? lks_arena_format(j->arena,
                               "%" LKS_STR_FMT ": it was not measured in the second half of the "
                               "soak",
                               LKS_STR_ARG(name))
            : lks_arena_format(j->arena, "%" LKS_STR_FMT ": %u of %u have data, and %u controls",
                               LKS_STR_ARG(name), lacks->canaries, lacks->expected,
                               lacks->controls);
    return text.ptr != NULL ? text : LKS_STR("");
}

/* What is lacking is waited for; and a wave that passed its last look stays passed. */
static struct lks_gate_said conclude(struct judging *j, const struct lks_evidence_said *said)
{
    const struct lks_wave *w = &j->c->waves[j->wave];
    struct lks_gate_said all = {said->verdict, said->why};
    const struct lks_metric_found *lacks = lacking(j);
    if (said->verdict == LKS_GATE_HALT)
        return all;
    if (w->state != LKS_WAVE_SOAKS || w->soak == 0)
        return (struct lks_gate_said){LKS_GATE_PASS, LKS_STR("")};
    const struct lks_gate_look *l = lks_state_change_look(j->c, j->wave, 0);
    if (j->out->look == LKS_LOOK_BETWEEN && looks_done(j) == LKS_COUNT(lks_evidence_at))
        return (struct lks_gate_said){l->verdict, lks_state_text(j->s, l->text)};
    if (lacks != NULL && (j->last || all.verdict == LKS_GATE_PASS)) {
        all.verdict = LKS_GATE_HOLD;
        all.text = lacking_text(j, lacks);
    }
    if (!j->last)
        all.verdict = LKS_GATE_EXTEND;
    return all;
}

/* How often the wave may be judged wrongly, either way: what the plan says when it was made, the
 * least of its metrics. */
static double error_of(const struct judging *j)
{
    double least = LKS_EVIDENCE_HALT;
    for (uint32_t i = 0; i < j->out->count; i++) {
        double said = j->out->rows[i].metric->alpha;
        least = said > 0 && said < least ? said : least;
    }
    return fmax(least, ERROR_MIN);
}

static enum lks_code judge(struct judging *j)
{
    struct asked a = {0};
    struct lks_evidence_said said = {0};
    if (!make_asked(j, &a))
        return lks_arena_fail(j->arena, j->err);
    size_t tests = a.compared_count + a.counted_count;
    double error = error_of(j);
    const struct lks_wave *w = &j->c->waves[j->wave];
    j->plan = j->out->look == LKS_LOOK_BETWEEN || a.compared_count == 0
                  ? lks_evidence_plan_between(tests > 0 ? tests : 1, error)
                  : lks_evidence_plan(lks_evidence_at, LKS_COUNT(lks_evidence_at),
                                      tests > 0 ? tests : 1, error, error);
    const struct lks_evidence q = {
        .plan = &j->plan,
        .look = j->out->look,
        .metrics = a.compared,
        .metric_count = a.compared_count,
        .counted = a.counted,
        .counted_count = a.counted_count,
        .hard = a.hard,
        .hard_count = a.hard_count,
        .soak = {.gpu_hours = (double)j->load * (double)LKS_SECOND / HOUR,
                 .gpu_hours_wanted = (double)j->load_wanted * (double)LKS_SECOND / HOUR,
                 .wall_hours = (double)(j->wall - w->since) / HOUR,
                 .wall_hours_wanted = (double)j->soak / HOUR},
        .seed = j->c->id,
    };
    if (lks_evidence_judge(&q, j->arena, &said, j->err) != LKS_OK)
        return j->err->code;
    tell_means(j, &a, &said);
    tell_events(j);
    j->out->said = conclude(j, &said);
    return LKS_OK;
}

enum lks_code lks_campaign_wave_evidence(const struct lks_state *s,
                                         const struct lks_state_change *c, uint32_t wave,
                                         lks_ms wall, struct lks_arena *arena,
                                         struct lks_wave_evidence *out, struct lks_err *err)
{
    const struct lks_wave *w = &c->waves[wave];
    struct judging j = {.s = s, .c = c, .wave = wave, .arena = arena, .err = err, .out = out};
    *out = (struct lks_wave_evidence){.look = LKS_LOOK_BETWEEN};
    j.wall = wall > w->since ? wall : w->since;
    if (c->metric_count == 0 || w->members[LKS_MEMBER_DONE] == 0)
        return LKS_OK;
    if (gather(&j) != LKS_OK)
        return err->code;
    if (out->count == 0)
        return LKS_OK;
    out->asked = true;
    j.soak = w->soak > j.soak ? w->soak : j.soak;
    j.patience = j.patience > j.soak ? j.patience : LKS_GATE_PATIENCE * j.soak;
    for (uint32_t i = 0; i < out->count; i++)
        look_at_row(&j, i);
    find_look(&j);
    return judge(&j);
}

struct lks_gate_said lks_campaign_gate_evidence(const struct lks_state *s,
                                                const struct lks_state_change *c, uint32_t wave,
                                                lks_ms wall, struct lks_arena *arena)
{
    struct lks_wave_evidence found;
    struct lks_err err = {0};
    if (c->metric_count == 0)
        return (struct lks_gate_said){LKS_GATE_PASS, LKS_STR("")};
    /* Without memory nothing is known, and the next tick looks again. */
    if (lks_campaign_wave_evidence(s, c, wave, wall, arena, &found, &err) != LKS_OK)
        return (struct lks_gate_said){LKS_GATE_EXTEND, LKS_STR("")};
    return found.said;
}

/* What was said ----------------------------------------------------------------------------- */

static void list_look(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave,
                      struct lks_str metric, uint32_t look, enum lks_gate_verdict verdict,
                      struct lks_str text)
{
    lks_decision_add(d, LKS_RECORD_GATE_LOOKED)->gate_looked =
        (struct lks_rec_gate_looked){.change = c->id,
                                     .wave = wave,
                                     .metric = metric,
                                     .look = look,
                                     .verdict = verdict,
                                     .text = text};
}

/* Pools may have different metrics by one name, and the journal has one verdict for a name and
 * wave: the strictest, of several the first. */
static bool is_strictest(const struct lks_wave_evidence *found, uint32_t at)
{
    const struct lks_metric_found *row = &found->rows[at];
    for (uint32_t i = 0; i < found->count; i++) {
        const struct lks_metric_found *other = &found->rows[i];
        if (other->waived || other->metric->name != row->metric->name)
            continue;
        if (other->verdict > row->verdict || (other->verdict == row->verdict && i < at))
            return false;
    }
    return true;
}

/* Planned looks are written down as they are; in between only that it is to be halted. */
static void note(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave,
                 const struct lks_wave_evidence *found)
{
    bool planned = found->look != LKS_LOOK_BETWEEN;
    const struct lks_gate_look *before = lks_state_change_look(c, wave, 0);
    uint32_t number = planned ? (uint32_t)found->look + 1 : before != NULL ? before->look : 0;
    if (!planned && found->said.verdict != LKS_GATE_HALT)
        return;
    for (uint32_t i = 0; i < found->count; i++) {
        const struct lks_metric_found *row = &found->rows[i];
        if (!row->waived && (planned || row->verdict == LKS_GATE_HALT) && is_strictest(found, i))
            list_look(d, c, wave, lks_state_text(d->state, row->metric->name), number, row->verdict,
                      row->text);
    }
    list_look(d, c, wave, LKS_STR(""), number, found->said.verdict, found->said.text);
}

struct lks_gate_said lks_campaign_evidence_look(struct lks_deciding *d,
                                                const struct lks_state_change *c, uint32_t wave)
{
    struct lks_wave_evidence found = {0};
    struct lks_err err = {0};
    if (c->metric_count == 0)
        return (struct lks_gate_said){LKS_GATE_PASS, LKS_STR("")};
    if (lks_campaign_wave_evidence(d->state, c, wave, d->now.wall, &d->out->arena, &found, &err) !=
        LKS_OK) {
        d->out->failed = LKS_E_NOMEM;
        return (struct lks_gate_said){LKS_GATE_EXTEND, LKS_STR("")};
    }
    note(d, c, wave, &found);
    return found.said;
}
