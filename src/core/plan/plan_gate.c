/*
 * What gates will ask for while a plan is carried out: the metrics of the pools it has nodes of, as
 * their file says them now, and how small a loss each wave can find.
 */
#include "base/intern.h"
#include "base/real.h"
#include "core/plan/plan_work.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "core/stats/evidence.h"

#include <math.h>

#define CHANCE     0.8 /* with which a loss that is told of is found */
#define CHANCE_PCT 80
enum {
    KNOWN_MIN = 8, /* measurements from which it is known how far nodes differ */
    TOLD_MAX = 4,  /* metrics of one wave of which it is told */
};

/* What is asked for ------------------------------------------------------------------------- */

static struct lks_str real_text(struct lks_planning *p, double value)
{
    char text[LKS_REAL_SIZE];
    if (value <= 0)
        return LKS_STR("");
    return lks_arena_copy(&p->out->memory, lks_str_from(lks_real_text(value, text)));
}

static bool says_same(const struct lks_rec_plan_metric *a, const struct lks_rec_plan_metric *b)
{
    return lks_str_eq(a->name, b->name) && lks_str_eq(a->query, b->query) && a->kind == b->kind &&
           a->better == b->better && a->unit == b->unit && a->source == b->source &&
           a->critical == b->critical && lks_str_eq(a->margin, b->margin) &&
           lks_str_eq(a->normal, b->normal);
}

/* One that other pools ask for in the same words is one of them all. */
static enum lks_code add_metric(struct lks_planning *p, const struct lks_gate_metric *m,
                                struct lks_str pool)
{
    struct lks_plan *out = p->out;
    struct lks_rec_plan_metric made = {
        .name = m->name,
        .pools = pool,
        .kind = m->kind,
        .better = m->better,
        .unit = m->unit,
        .margin = real_text(p, m->margin),
        .critical = m->critical,
        .query = m->query,
        .source = m->from,
        .alpha = real_text(p, LKS_EVIDENCE_HALT),
        .sigma = real_text(p, m->sigma),
        .normal = real_text(p, m->normal),
    };
    if (made.margin.ptr == NULL || made.alpha.ptr == NULL || made.sigma.ptr == NULL ||
        made.normal.ptr == NULL)
        return lks_arena_fail(&out->memory, p->err);
    for (size_t i = 0; i < out->metric_count; i++) {
        if (!says_same(&out->metrics[i], &made))
            continue;
        out->metrics[i].pools =
            lks_plan_text(p, "%" LKS_STR_FMT " %" LKS_STR_FMT, LKS_STR_ARG(out->metrics[i].pools),
                          LKS_STR_ARG(pool));
        return out->metrics[i].pools.ptr != NULL ? LKS_OK : lks_arena_fail(&out->memory, p->err);
    }
    if (out->metric_count == LKS_CHANGE_METRICS)
        return lks_fail(p->err, LKS_E_LIMIT,
                        "the gates of its pools have more than %d metrics together: name fewer "
                        "pools, or let their gates say the same",
                        LKS_CHANGE_METRICS);
    out->metrics[out->metric_count++] = made;
    return LKS_OK;
}

static enum lks_code add_gate(struct lks_planning *p, const struct lks_pool *pool)
{
    enum { HOUR_SECONDS = 3600 };
    const struct lks_pool_gate_wish *g = pool->gate;
    for (size_t i = 0; i < g->metric_count; i++) {
        if (add_metric(p, &g->metrics[i], pool->name) != LKS_OK)
            return p->err->code;
    }
    p->out->gates[p->out->gate_count++] = (struct lks_rec_plan_gate){
        .pool = pool->name,
        .min_load = (uint64_t)g->min_load_gpu_hours * HOUR_SECONDS,
        .min_soak = g->min_soak,
        .max_soak = g->max_soak,
        .loss_budget = (uint64_t)g->loss_budget,
        .reference_load = g->reference_load,
    };
    return LKS_OK;
}

/* Pools that the plan has nodes of, in the order of the fleet's file. */
static enum lks_code add_gates(struct lks_planning *p, const bool *has)
{
    p->out->metrics = lks_plan_array(p, LKS_CHANGE_METRICS, sizeof(*p->out->metrics));
    p->out->gates = lks_plan_array(p, p->fleet->pool_count, sizeof(*p->out->gates));
    if (p->out->metrics == NULL || p->out->gates == NULL)
        return p->err->code;
    for (size_t i = 0; i < p->fleet->pool_count; i++) {
        uint32_t pool = lks_state_pool(p->state, p->fleet->pools[i].name);
        if (p->fleet->pools[i].gate != NULL && pool < p->state->pool_count && has[pool] &&
            add_gate(p, &p->fleet->pools[i]) != LKS_OK)
            return p->err->code;
    }
    return LKS_OK;
}

/* How far nodes differ ---------------------------------------------------------------------- */

struct spread {
    double sum, squares;
    uint32_t count;
};

/* Those of each wave that did not change, about their own mean: the fleet may have drifted. */
static bool add_change(struct lks_planning *p, const struct lks_state_change *c, lks_text metric,
                       struct spread *all)
{
    struct spread *waves = lks_plan_array(p, c->wave_count, sizeof(*waves));
    for (uint32_t i = 0; waves != NULL && i < c->measure_count; i++) {
        const struct lks_measure *m = &c->measures[i];
        const struct lks_member *member = lks_state_change_member(c, m->node);
        bool changed = member != NULL && c->units[member->unit].wave == m->wave;
        if (m->metric != metric || changed || !m->has_before || !m->has_after || m->before <= 0 ||
            m->after <= 0)
            continue;
        double gain = 100 * log(m->after / m->before);
        waves[m->wave].sum += gain;
        waves[m->wave].squares += gain * gain;
        waves[m->wave].count++;
    }
    for (uint32_t w = 0; waves != NULL && w < c->wave_count; w++) {
        if (waves[w].count < 2)
            continue;
        all->squares += waves[w].squares - waves[w].sum * waves[w].sum / waves[w].count;
        all->count += waves[w].count - 1;
    }
    return waves != NULL;
}

/* How far they differ, and whether that was measured. */
struct sigma {
    double value;
    bool known;
};

/* By what earlier changes measured of the same; else by the preset. */
static enum lks_code find_sigma(struct lks_planning *p, const struct lks_rec_plan_metric *m,
                                struct sigma *out)
{
    const struct lks_state *s = p->state;
    struct spread all = {0};
    uint32_t name = 0;
    *out = (struct sigma){0};
    bool named = lks_intern_find(&s->texts, m->name, &name);
    for (uint32_t i = 0; named && i < s->change_count; i++) {
        if (s->changes[i].measure_count > 0 && !add_change(p, &s->changes[i], name, &all))
            return p->err->code;
    }
    out->known = all.count >= KNOWN_MIN && all.squares > 0;
    if (out->known)
        out->value = sqrt(all.squares / all.count);
    else if (!lks_real_parse(m->sigma, &out->value))
        out->value = 0;
    return LKS_OK;
}

/* What a wave can find ---------------------------------------------------------------------- */

static bool is_of(const struct lks_planning *p, const struct lks_rec_plan_metric *m, uint32_t node)
{
    uint32_t pool = p->state->nodes[node].pool;
    return pool < p->state->pool_count &&
           lks_facts_words_have(m->pools, lks_state_text(p->state, p->state->pools[pool].name));
}

/* Samples among the units of the wave. */
static uint32_t count_canaries(const struct lks_planning *p, const struct lks_rec_plan_metric *m,
                               uint32_t wave)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->unit_count; i++) {
        const struct lks_plan_unit *u = &p->units[i];
        uint32_t nodes = 0;
        for (uint32_t k = 0; u->wave == wave && k < u->nodes; k++)
            nodes += is_of(p, m, p->members[u->first + k].node);
        count += m->unit == LKS_UNIT_DOMAIN && u->domain != 0 ? nodes > 0 : nodes;
    }
    return count;
}

/* What the notes on waves are made of. */
struct noting {
    struct lks_planning *p;
    struct lks_evidence_plan plan;
    uint32_t *waves; /* by node; LKS_PLAN_NONE: it is in none */
};

static bool list_waves(struct noting *n)
{
    struct lks_planning *p = n->p;
    n->waves = lks_plan_array(p, p->state->node_count, sizeof(*n->waves));
    for (uint32_t i = 0; n->waves != NULL && i < p->state->node_count; i++)
        n->waves[i] = LKS_PLAN_NONE;
    for (uint32_t i = 0; n->waves != NULL && i < p->unit_count; i++) {
        for (uint32_t k = 0; k < p->units[i].count; k++)
            n->waves[p->members[p->units[i].first + k].node] = p->units[i].wave;
    }
    return n->waves != NULL;
}

/* Samples among the controls; of these, that an earlier wave brings. */
struct control_count {
    uint32_t all, earlier;
};

static enum lks_code count_controls(const struct noting *n, const struct lks_rec_plan_metric *m,
                                    const struct lks_rec_plan_wave *w, struct control_count *out)
{
    struct lks_planning *p = n->p;
    struct lks_hostlist list = {0};
    lks_text last = 0;
    *out = (struct control_count){0};
    if (w->controls.len == 0)
        return LKS_OK;
    if (lks_hostlist_parse(w->controls, &p->out->memory, &list, p->err) != LKS_OK)
        return p->err->code;
    for (size_t i = 0; i < list.count; i++) {
        uint32_t node = lks_state_node(p->state, list.names[i]);
        if (node == LKS_NO_NODE || !is_of(p, m, node))
            continue;
        lks_text domain = p->state->nodes[node].domain;
        bool fresh = m->unit != LKS_UNIT_DOMAIN || domain == 0 || domain != last;
        out->all += fresh;
        out->earlier += fresh && n->waves[node] < w->index;
        last = domain;
    }
    return LKS_OK;
}

static enum lks_code note_metric(const struct noting *n, const struct lks_rec_plan_wave *w,
                                 const struct lks_rec_plan_metric *m, const struct sigma *sigma)
{
    struct lks_planning *p = n->p;
    bool domains = m->unit == LKS_UNIT_DOMAIN;
    uint32_t canaries = count_canaries(p, m, (uint32_t)w->index);
    struct control_count controls;
    double margin = 0;
    if (canaries == 0)
        return LKS_OK;
    const char *what = domains ? "domains" : "nodes";
    const char *one = domains ? "domain" : "node";
    if (count_controls(n, m, w, &controls) != LKS_OK)
        return p->err->code;
    if (canaries < 2 || controls.all < 2)
        return lks_plan_note(
            p, LKS_PLAN_EVIDENCE,
            "wave %llu, %s: %u %s with %u control%s: too few to compare %" LKS_STR_FMT ", %s",
            (unsigned long long)w->index, lks_wave_kind_words[w->kind], canaries,
            canaries == 1 ? one : what, controls.all, controls.all == 1 ? "" : "s",
            LKS_STR_ARG(m->name),
            w->kind == LKS_WAVE_CANARY ? "a person will have to decide"
                                       : "events alone are evaluated");
    if (sigma->value <= 0 || !lks_real_parse(m->margin, &margin))
        return LKS_OK;
    struct lks_evidence_power power =
        lks_evidence_power(&n->plan, canaries, controls.all, sigma->value, margin, CHANCE);
    return lks_plan_note(
        p, LKS_PLAN_EVIDENCE,
        "wave %llu, %s: %u %s with %u controls%s do not pass a loss of %.2g %% of %" LKS_STR_FMT
        " with %d %%, and halt one of %.2g %% (%s differ by %.2g %%, by %s)",
        (unsigned long long)w->index, lks_wave_kind_words[w->kind], canaries, what, controls.all,
        controls.earlier > 0 ? ", some changed before it," : "", power.not_passed,
        LKS_STR_ARG(m->name), CHANCE_PCT, power.halted, what, sigma->value,
        sigma->known ? "earlier changes" : "the preset");
}

/* Slices of a ring behind which no time passes are not told of. */
static enum lks_code note_waves(struct lks_planning *p)
{
    size_t tests = p->out->metric_count;
    struct noting n = {.p = p,
                       .plan = lks_evidence_plan(lks_evidence_at, LKS_COUNT(lks_evidence_at), tests,
                                                 LKS_EVIDENCE_PASS, LKS_EVIDENCE_HALT)};
    struct sigma *sigmas = lks_plan_array(p, tests, sizeof(*sigmas));
    if (sigmas == NULL || !list_waves(&n))
        return p->err->code;
    for (size_t k = 0; k < tests; k++) {
        if (find_sigma(p, &p->out->metrics[k], &sigmas[k]) != LKS_OK)
            return p->err->code;
    }
    for (size_t i = 0; i < p->out->wave_count; i++) {
        uint32_t told = 0;
        for (size_t k = 0; k < tests && told < TOLD_MAX && p->out->waves[i].soak > 0; k++) {
            const struct lks_rec_plan_metric *m = &p->out->metrics[k];
            if (m->kind != LKS_METRIC_MEAN || (!m->critical && tests > TOLD_MAX))
                continue;
            told++;
            if (note_metric(&n, &p->out->waves[i], m, &sigmas[k]) != LKS_OK)
                return p->err->code;
        }
    }
    return LKS_OK;
}

/* A wave is watched for as long as the gates of its pools ask for, so that is what the plan says
 * and counts with. */
static void lengthen_soaks(struct lks_planning *p)
{
    for (uint32_t i = 0; i < p->unit_count; i++) {
        const struct lks_plan_unit *u = &p->units[i];
        if (u->pool >= p->state->pool_count || u->wave >= p->out->wave_count)
            continue;
        struct lks_str name = lks_state_text(p->state, p->state->pools[u->pool].name);
        uint64_t *soak = &p->out->waves[u->wave].soak;
        for (size_t k = 0; k<p->out->gate_count && * soak> 0; k++) {
            const struct lks_rec_plan_gate *g = &p->out->gates[k];
            if (g->min_soak > *soak && lks_str_eq(g->pool, name))
                *soak = g->min_soak;
        }
    }
}

enum lks_code lks_plan_gates(struct lks_planning *p)
{
    bool *has = lks_plan_array(p, p->state->pool_count, sizeof(*has));
    if (has == NULL)
        return p->err->code;
    if (p->fleet == NULL)
        return LKS_OK;
    for (uint32_t i = 0; i < p->member_count; i++) {
        uint32_t pool = p->state->nodes[p->members[i].node].pool;
        if (pool < p->state->pool_count)
            has[pool] = true;
    }
    if (add_gates(p, has) != LKS_OK)
        return p->err->code;
    lengthen_soaks(p);
    return p->out->metric_count > 0 ? note_waves(p) : LKS_OK;
}
