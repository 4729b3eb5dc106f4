#include "core/campaign/campaign_gate_plan.h"

#include "codec/notation/hostlist.h"
#include "core/campaign/campaign.h"
#include "core/gate/gate.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "model/facts/facts.h"

#include <assert.h>

enum { HOUR_SECONDS = 3600, ROWS_FIRST = 64 };

/* Nodes of a wave, and what the gates of their pools ask for. */
struct lks_gate_plan_wave {
    uint32_t nodes, silent;        /* without assets; of these, without heartbeats */
    uint32_t attested, unattested; /* nodes of pools that ask for it; of these, without it now */
    lks_ms patience;               /* of the pools' gates; 0: none says */
    uint64_t load;                 /* GPU-seconds that are asked for */
    bool unloaded;                 /* of a node whose pool has no reference load */
    uint32_t pool;                 /* of the last node, + 1 */
    uint64_t of_pool;              /* its metrics, a bit each */
    const struct lks_rec_plan_gate *gate; /* its gate; NULL: none */
    struct {
        uint32_t nodes, controls;
    } metrics[LKS_CHANGE_METRICS];
};

static_assert(LKS_CHANGE_METRICS <= 64, "a bit for each");

/* Rows -------------------------------------------------------------------------------------- */

static bool grow(struct lks_gate_plan *p)
{
    uint32_t room = p->room == 0 ? ROWS_FIRST : 2 * p->room;
    struct lks_gate_planned *rows = lks_arena_array(p->arena, room, sizeof(*rows));
    if (rows == NULL)
        return false;
    for (uint32_t i = 0; i < p->count; i++)
        rows[i] = p->rows[i];
    p->rows = rows;
    p->room = room;
    return true;
}

/* The row of the wave before that says the same; a wave has at most a row for each metric, and one
 * for the load. */
static struct lks_gate_planned *find_same(const struct lks_gate_plan *p,
                                          const struct lks_gate_planned *row)
{
    size_t most = 2 * (p->of.metric_count + 1);
    for (uint32_t i = p->count; i > 0 && p->count - i < most; i--) {
        struct lks_gate_planned *other = &p->rows[i - 1];
        if (other->gate == row->gate && other->metric == row->metric &&
            other->to + 1 == row->from && lks_str_eq(other->limit, row->limit) &&
            lks_str_eq(other->waits, row->waits))
            return other;
    }
    return NULL;
}

static void add(struct lks_gate_plan *p, uint32_t wave, const struct lks_rec_plan_metric *metric,
                struct lks_str limit, struct lks_str waits)
{
    const struct lks_gate_planned row = {.gate = p->gate,
                                         .metric = metric,
                                         .from = wave,
                                         .to = wave,
                                         .limit = limit,
                                         .waits = waits};
    p->failed = p->failed || limit.ptr == NULL || waits.ptr == NULL;
    struct lks_gate_planned *same = p->failed ? NULL : find_same(p, &row);
    if (same != NULL)
        same->to = wave;
    else if (p->failed || (p->count == p->room && !grow(p)))
        p->failed = true;
    else
        p->rows[p->count++] = row;
}

/* People ------------------------------------------------------------------------------------ */

/* The one gate before the first wave. */
static void add_approval(struct lks_gate_plan *p)
{
    const struct lks_rec_change *c = p->of.change;
    const char *standby = c->standby ? ", with a person on standby at the site" : "";
    char count[LKS_COUNT_TEXT_SIZE];
    p->gate = "approval";
    add(p, 0, NULL,
        c->quorum == 0
            ? lks_arena_format(p->arena, "a person starts the change%s", standby)
            : lks_arena_format(p->arena, "%s for each pool, and a person starts the change%s",
                               lks_str_count_text(c->quorum, "approval", count), standby),
        LKS_STR(""));
    if (!p->failed)
        p->rows[p->count - 1].before = true;
}

/* Failures and time ------------------------------------------------------------------------- */

void lks_campaign_gate_plan_failures(struct lks_gate_plan *p, uint32_t wave)
{
    char of_wave[LKS_COUNT_TEXT_SIZE];
    uint64_t all = p->of.change->failures_max, of = p->of.waves[wave].failures_max;
    struct lks_str limit = LKS_STR("no node fails");
    if (all > 0)
        limit = lks_arena_format(p->arena, "%s%s of the wave and at most %llu of the change fail",
                                 of > 0 ? "at most " : "",
                                 of > 0 ? lks_str_count_text(of, "node", of_wave) : "no node",
                                 (unsigned long long)all);
    add(p, wave, NULL, limit, LKS_STR(""));
}

void lks_campaign_gate_plan_soak(struct lks_gate_plan *p, uint32_t wave)
{
    char span[LKS_SPAN_TEXT_SIZE];
    uint64_t soak = p->of.waves[wave].soak;
    add(p, wave, NULL,
        soak == 0 ? LKS_STR("the last node was accepted; there is no soak")
                  : lks_arena_format(p->arena, "%s have passed since the last node was accepted",
                                     lks_time_span_text(soak, span)),
        LKS_STR(""));
}

/* Acceptance -------------------------------------------------------------------------------- */

static struct lks_str acceptance_waits(const struct lks_gate_plan *p,
                                       const struct lks_gate_plan_wave *w)
{
    char grace[LKS_SPAN_TEXT_SIZE];
    bool silent = w->silent > 0;
    if (!silent && w->unattested == 0)
        return LKS_STR("");
    return lks_arena_format(p->arena, "%u of %u nodes %s now: the gate holds %s after the soak",
                            silent ? w->silent : w->unattested, silent ? w->nodes : w->attested,
                            silent ? "send no heartbeat" : "are not attested",
                            lks_time_span_text(LKS_GATE_GRACE, grace));
}

void lks_campaign_gate_plan_acceptance(struct lks_gate_plan *p, uint32_t wave)
{
    const struct lks_gate_plan_wave *w = &p->told[wave];
    if (p->of.change->kind != LKS_CHANGE_STACK)
        return;
    add(p, wave, NULL,
        w->attested > 0 ? LKS_STR("every node conforms, is healthy and attested after the soak")
                        : LKS_STR("every node conforms and is healthy after the soak"),
        acceptance_waits(p, w));
}

/* Evidence ---------------------------------------------------------------------------------- */

static struct lks_str metric_limit(const struct lks_gate_plan *p,
                                   const struct lks_rec_plan_metric *m)
{
    if (m->kind == LKS_METRIC_HARD)
        return LKS_STR("no changed node has the event, or controls have it, too");
    if (m->kind == LKS_METRIC_RATE)
        return LKS_STR("changed nodes do not have the event more often than controls");
    return lks_arena_format(p->arena, "at most %" LKS_STR_FMT " %% %s than %s",
                            LKS_STR_ARG(m->margin.len > 0 ? m->margin : LKS_STR("1")),
                            m->better == LKS_BETTER_LOWER ? "higher" : "lower",
                            m->source == LKS_SOURCE_ACCEPT ? "on the same nodes before"
                                                           : "on controls");
}

static bool is_measured(const struct lks_gate_plan *p, const struct lks_rec_plan_metric *m)
{
    return m->source != LKS_SOURCE_PROMETHEUS || p->of.prometheus;
}

/* By the rule of campaign_evidence.c: a canary has to be compared. */
static bool is_compared(const struct lks_gate_plan *p, uint32_t wave, size_t metric)
{
    const struct lks_rec_plan_metric *m = &p->of.metrics[metric];
    bool own = m->source == LKS_SOURCE_ACCEPT;
    uint32_t nodes = p->told[wave].metrics[metric].nodes;
    uint32_t controls = own ? nodes : p->told[wave].metrics[metric].controls;
    if (m->kind != LKS_METRIC_MEAN || p->of.waves[wave].kind == LKS_WAVE_CANARY)
        return true;
    if (own && p->of.waves[wave].kind == LKS_WAVE_RING)
        return false;
    return nodes >= LKS_GATE_CONTROLS_MIN && controls >= LKS_GATE_CONTROLS_MIN;
}

/* Whether something is measured of the wave: a gate without any data does not pass. */
static bool has_data(const struct lks_gate_plan *p, uint32_t wave)
{
    for (size_t i = 0; i < p->of.metric_count; i++)
        if (p->told[wave].metrics[i].nodes > 0 && is_measured(p, &p->of.metrics[i]) &&
            is_compared(p, wave, i))
            return true;
    return false;
}

static const char *patience(const struct lks_gate_plan *p, uint32_t wave,
                            char out[LKS_SPAN_TEXT_SIZE])
{
    lks_ms soak = p->of.waves[wave].soak, longest = p->told[wave].patience;
    return lks_time_span_text(longest > soak ? longest : LKS_GATE_PATIENCE * soak, out);
}

static struct lks_str waits_for_source(const struct lks_gate_plan *p, uint32_t wave, size_t metric)
{
    char span[LKS_SPAN_TEXT_SIZE];
    if (!p->of.metrics[metric].critical && has_data(p, wave))
        return LKS_STR("no metrics.url is configured: there is no data, and the metric, which is "
                       "not critical, does not count");
    return lks_arena_format(p->arena,
                            "no metrics.url is configured: there is no data, and the gate holds "
                            "after %s",
                            patience(p, wave, span));
}

static struct lks_str waits_for_controls(const struct lks_gate_plan *p, uint32_t wave,
                                         size_t metric)
{
    char span[LKS_SPAN_TEXT_SIZE];
    uint32_t controls = p->told[wave].metrics[metric].controls;
    if (!p->of.metrics[metric].critical)
        return lks_arena_format(p->arena, "%u controls are too few: the metric does not count",
                                controls);
    return lks_arena_format(p->arena, "%u controls are too few: the gate holds after %s", controls,
                            patience(p, wave, span));
}

static struct lks_str metric_waits(const struct lks_gate_plan *p, uint32_t wave, size_t metric)
{
    const struct lks_rec_plan_metric *m = &p->of.metrics[metric];
    const struct lks_gate_plan_wave *w = &p->told[wave];
    char span[LKS_SPAN_TEXT_SIZE];
    if (p->of.waves[wave].soak == 0)
        return LKS_STR("");
    if (!is_compared(p, wave, metric))
        return LKS_STR("nothing to compare with: the metric does not count in this wave");
    if (!is_measured(p, m))
        return waits_for_source(p, wave, metric);
    if (m->kind == LKS_METRIC_MEAN && m->source != LKS_SOURCE_ACCEPT &&
        w->metrics[metric].controls < LKS_GATE_CONTROLS_MIN)
        return waits_for_controls(p, wave, metric);
    if (m->source == LKS_SOURCE_AGENT && m->critical && w->silent > 0)
        return lks_arena_format(p->arena,
                                "%u of %u nodes send no heartbeat now: the gate holds after %s",
                                w->silent, w->nodes, patience(p, wave, span));
    return LKS_STR("");
}

/* Load is known by Prometheus, or by agents where a pool has a reference load. */
static struct lks_str load_waits(const struct lks_gate_plan *p, uint32_t wave)
{
    char span[LKS_SPAN_TEXT_SIZE];
    if (p->of.waves[wave].soak == 0 || !p->told[wave].unloaded || (p->of.prometheus && p->of.load))
        return LKS_STR("");
    return lks_arena_format(p->arena,
                            "no %s is configured, and a pool has no reference_load: the load is "
                            "unknown, and the gate holds after %s",
                            p->of.prometheus ? "metrics.load" : "metrics.url",
                            patience(p, wave, span));
}

void lks_campaign_gate_plan_evidence(struct lks_gate_plan *p, uint32_t wave)
{
    const struct lks_gate_plan_wave *w = &p->told[wave];
    bool any = false;
    for (size_t i = 0; i < p->of.metric_count; i++) {
        if (w->metrics[i].nodes == 0)
            continue;
        any = true;
        add(p, wave, &p->of.metrics[i], metric_limit(p, &p->of.metrics[i]),
            metric_waits(p, wave, i));
    }
    if (any && w->load > 0)
        add(p, wave, NULL,
            lks_arena_format(p->arena, "every changed node had %.4g GPU-hours under load",
                             (double)w->load / HOUR_SECONDS),
            load_waits(p, wave));
}

/* Waves ------------------------------------------------------------------------------------- */

/* What a pool asks for. Nodes of a pool follow each other, so it is read once for many. */
static void count_pool(const struct lks_gate_plan *p, uint32_t pool, struct lks_gate_plan_wave *w)
{
    struct lks_str name = lks_state_text(p->s, p->s->pools[pool].name);
    w->pool = pool + 1;
    w->of_pool = 0;
    w->gate = NULL;
    for (size_t i = 0; i < p->of.metric_count; i++)
        if (lks_facts_words_have(p->of.metrics[i].pools, name))
            w->of_pool |= UINT64_C(1) << i;
    for (size_t i = 0; i < p->of.gate_count; i++)
        if (lks_str_eq(p->of.gates[i].pool, name))
            w->gate = &p->of.gates[i];
}

static void count_gate(const struct lks_rec_plan_gate *g, struct lks_gate_plan_wave *w)
{
    lks_ms max = g->max_soak > 0 ? g->max_soak : LKS_GATE_PATIENCE * g->min_soak;
    w->patience = max > w->patience ? max : w->patience;
    w->load = g->min_load > w->load ? g->min_load : w->load;
    w->unloaded = w->unloaded || (g->min_load > 0 && g->reference_load.len == 0);
}

static void count_node(const struct lks_gate_plan *p, uint32_t node, bool control,
                       struct lks_gate_plan_wave *w)
{
    const struct lks_node *n = &p->s->nodes[node];
    if (n->asset != 0 || n->pool >= p->s->pool_count)
        return;
    if (w->pool != n->pool + 1)
        count_pool(p, n->pool, w);
    for (size_t i = 0; i < p->of.metric_count; i++)
        if ((w->of_pool >> i & 1) != 0)
            ++*(control ? &w->metrics[i].controls : &w->metrics[i].nodes);
    if (control)
        return;
    bool attested = p->s->pools[n->pool].attested;
    w->nodes++;
    w->silent += n->liveness != LKS_LIVE;
    w->attested += attested;
    w->unattested += attested && n->attested_until <= p->wall;
    if (w->gate != NULL)
        count_gate(w->gate, w);
}

static enum lks_code count_hosts(struct lks_gate_plan *p, struct lks_str hosts, bool control,
                                 uint64_t wave, struct lks_err *err)
{
    struct lks_hostlist list = {0};
    if (hosts.len == 0 || wave >= p->of.wave_count)
        return LKS_OK;
    if (lks_hostlist_parse(hosts, p->arena, &list, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < list.count; i++) {
        uint32_t node = lks_state_node(p->s, list.names[i]);
        if (node != LKS_NO_NODE)
            count_node(p, node, control, &p->told[wave]);
    }
    return LKS_OK;
}

enum lks_code lks_campaign_gate_plan(const struct lks_state *s, const struct lks_gate_plan_of *of,
                                     lks_ms wall, struct lks_arena *arena,
                                     struct lks_gate_plan *out, struct lks_err *err)
{
    *out = (struct lks_gate_plan){.s = s, .of = *of, .arena = arena, .wall = wall};
    out->told = lks_arena_array(arena, of->wave_count + 1, sizeof(*out->told));
    if (out->told == NULL)
        return lks_arena_fail(arena, err);
    for (size_t i = 0; i < of->part_count; i++)
        if (count_hosts(out, of->parts[i].hosts, false, of->parts[i].wave, err) != LKS_OK)
            return err->code;
    for (size_t i = 0; i < of->wave_count; i++)
        if (count_hosts(out, of->waves[i].controls, true, i, err) != LKS_OK)
            return err->code;
    add_approval(out);
    for (size_t g = 0; g < lks_gate_count; g++) {
        out->gate = lks_gates[g].name;
        for (uint32_t i = 0; i < of->wave_count; i++) {
            if (lks_gates[g].plan != NULL)
                lks_gates[g].plan(out, i);
            else
                add(out, i, NULL, lks_str_from(lks_gates[g].about), LKS_STR(""));
        }
    }
    return out->failed ? lks_arena_fail(arena, err) : LKS_OK;
}
