#include "model/manifest/fleet_gate.h"

#include "base/near.h"
#include "base/real.h"
#include "model/schema/tables.h"

#define MARGIN_MAX  100.0
#define MARGIN_LOST 1.0  /* of one whose preset had it */
#define NORMAL_MIN  1e-9 /* once in a hundred thousand years */
#define NORMAL_MAX  1000.0

static const struct lks_field metric_fields[] = {
    {"query", LKS_OF(TEXT), 0, NULL,
     "PromQL that returns one number for each node, with $window as the time range; else the "
     "name that the agent or the acceptance check has for it"},
    {"kind", LKS_ONE_OF("mean", "rate", "hard"), 0, NULL,
     "a value before and after, events in a time, or events of which one is enough"},
    {"better", LKS_ONE_OF("higher", "lower"), 0, NULL, "which way is better"},
    {"unit", LKS_ONE_OF("node", "domain"), 0, NULL,
     "what counts as one sample: fabrics are measured by the domain"},
    {"margin", LKS_OF(SCALAR), 0, NULL, "percent that a mean may be worse by: 1, or '0.5'"},
    {"normal", LKS_OF(SCALAR), 0, NULL,
     "of a rate: how many events a node has in an hour without a change, where that is known: "
     "'0.000158'. Changed nodes are held against it beside their controls"},
    {"critical", LKS_OF(BOOL), 0, NULL,
     "whether no data keeps a wave from passing; absent: as the preset says, and yes where the "
     "query is written here"},
    {"from", LKS_ONE_OF("prometheus", "agent", "accept"), 0, NULL, "who measures it"},
};
static const struct lks_form metric_form = {.name = "gate metric",
                                            .about = "what a preset does not say, or otherwise",
                                            LKS_FIELDS(metric_fields)};

static const struct lks_field gate_fields[] = {
    {"metrics", LKS_DICT(NAME, LKS_GATE_METRICS_MAX, LKS_FORM(metric_form)), LKS_REQUIRED, NULL,
     "what is measured, by name: presets of gate-metrics.csv ('step-time: {}'), or a site's own"},
    {"min_load_gpu_hours", LKS_NUMBERS(1, 1000000), 0, NULL,
     "GPU-hours under load that each changed node needs before its wave may pass"},
    {"min_soak", LKS_OF(TEXT), 0, NULL,
     "how long a wave is watched at the least: 4h; absent: as the change says"},
    {"max_soak", LKS_OF(TEXT), 0, NULL,
     "after how long without a verdict a person decides; absent: three times min_soak"},
    {"loss_budget", LKS_NUMBERS(1, 1000000), 0, NULL,
     "nodes that the next ones to start may cost: rings grow with the evidence; absent: by 5, 25 "
     "and 100 %"},
    {"reference_load", LKS_OF(NAME), 0, NULL,
     "the program of /etc/lockstep/loads on nodes that keeps canaries busy while they soak, "
     "instead of jobs that opt in"},
    {"controls", LKS_NUMBERS(1, LKS_GATE_CONTROLS_MAX), 0, NULL,
     "nodes that stay as they are, for each that changes; absent: 2"},
};
const struct lks_form lks_gate_form = {.name = "gate",
                                       .about = "what has to be measured before a change goes on",
                                       LKS_FIELDS(gate_fields)};

struct reading {
    struct lks_docs *docs;
    const struct lks_facts *facts;
    struct lks_err *err;
};

#define FAIL(r, at, ...) lks_doc_fail((r)->docs, (at), (r)->err, __VA_ARGS__)

static enum lks_code read_span(const struct reading *r, const struct lks_doc *gate, const char *key,
                               lks_ms *out)
{
    const struct lks_doc *at = lks_doc_member(gate, key);
    if (at == NULL || lks_time_span_parse(at->text, out))
        return LKS_OK;
    return FAIL(r, at, "'%" LKS_STR_FMT "' is not a span such as 30m, 24h or 7d",
                LKS_STR_ARG(at->text));
}

/* A number, or a text that is one: YAML's own fractions are not taken. */
static bool read_real(const struct lks_doc *at, double *out)
{
    if (at->kind == LKS_DOC_TEXT)
        return lks_real_parse(at->text, out);
    *out = at->kind == LKS_DOC_NUMBER ? (double)at->number : 0;
    return at->kind == LKS_DOC_NUMBER;
}

static enum lks_code read_margin(const struct reading *r, const struct lks_doc *item, double *out)
{
    const struct lks_doc *at = lks_doc_member(item, "margin");
    double value = 0;
    if (at == NULL)
        return LKS_OK;
    if (!read_real(at, &value))
        return FAIL(r, at, "a margin is a number of percent, such as 1 or '0.5'");
    if (value <= 0 || value > MARGIN_MAX)
        return FAIL(r, at, "a margin is more than 0 and at most 100 percent");
    *out = value;
    return LKS_OK;
}

static enum lks_code read_normal(const struct reading *r, const struct lks_doc *item,
                                 struct lks_gate_metric *m)
{
    const struct lks_doc *at = lks_doc_member(item, "normal");
    if (at == NULL)
        return LKS_OK;
    if (m->kind != LKS_METRIC_RATE && !r->docs->kept)
        return FAIL(r, at, "a normal rate is of counted events: kind rate");
    if (!read_real(at, &m->normal) || m->normal < NORMAL_MIN || m->normal > NORMAL_MAX)
        return FAIL(r, at,
                    "a normal rate is the number of events of a node in an hour, such as "
                    "'0.000158': from 1e-9 to 1000");
    return LKS_OK;
}

/* The place of the word in its list; the schema knows that it is there. */
static void read_word(const struct lks_doc *item, const char *key, const char *const *words,
                      uint64_t *out)
{
    const struct lks_doc *at = lks_doc_member(item, key);
    if (at != NULL)
        (void)lks_record_word_find(words, at->text, out);
}

static void read_words(const struct lks_doc *item, struct lks_gate_metric *m)
{
    uint64_t kind = m->kind, better = m->better, unit = m->unit, from = m->from;
    read_word(item, "kind", lks_metric_kind_words, &kind);
    read_word(item, "better", lks_metric_better_words, &better);
    read_word(item, "unit", lks_metric_unit_words, &unit);
    read_word(item, "from", lks_metric_source_words, &from);
    m->kind = (enum lks_metric_kind)kind;
    m->better = (enum lks_metric_better)better;
    m->unit = (enum lks_metric_unit)unit;
    m->from = (enum lks_metric_source)from;
}

/* What would be measured makes sense. */
static enum lks_code check_metric(const struct reading *r, const struct lks_doc *item,
                                  const struct lks_gate_metric *m, bool preset)
{
    struct lks_near near = lks_near_to(m->name);
    char hint[LKS_NEAR_HINT_SIZE];
    for (size_t i = 0; i < r->facts->gate_presets.count; i++)
        lks_near_try(&near, r->facts->gate_presets.rows[i].name);
    if (!preset && m->query.len == 0)
        return FAIL(r, item, "no preset '%" LKS_STR_FMT "'%s; a metric of your own needs a query",
                    LKS_STR_ARG(m->name), lks_near_hint(&near, hint));
    if (m->query.len == 0)
        return FAIL(r, item, "this preset has no query of its own: say the one of your exporter");
    if (!preset && m->kind == LKS_METRIC_MEAN && lks_doc_member(item, "better") == NULL)
        return FAIL(r, item, "say which way is better: higher or lower");
    if (m->kind == LKS_METRIC_MEAN && m->margin <= 0)
        return FAIL(r, item, "say by how many percent it may be worse: margin");
    if (m->from == LKS_SOURCE_AGENT &&
        (m->kind == LKS_METRIC_MEAN ||
         (!lks_str_is(m->query, "xid-fatal") && !lks_str_is(m->query, "link-down"))))
        return FAIL(r, item, "agents tell of two sorts of events: query: xid-fatal or link-down");
    if (m->kind == LKS_METRIC_RATE && m->from == LKS_SOURCE_ACCEPT)
        return FAIL(r, item,
                    "an acceptance check runs for a moment and has no rate: kind mean or hard");
    if (m->kind != LKS_METRIC_MEAN && m->better != LKS_BETTER_LOWER)
        return FAIL(r, item, "events are better when they are fewer: better: lower");
    return LKS_OK;
}

/* One that was accepted once and makes no sense by now: its preset is gone, for one. It is not
 * measured, and unless the file says otherwise that holds a wave rather than being passed over. */
static void mend(const struct reading *r, const struct lks_doc *item, struct lks_gate_metric *m,
                 bool preset)
{
    struct lks_err ignored = {0};
    const struct reading quiet = {r->docs, r->facts, &ignored};
    if (check_metric(&quiet, item, m, preset) == LKS_OK)
        return;
    m->critical = m->critical || lks_doc_member(item, "critical") == NULL;
    if (m->kind == LKS_METRIC_MEAN && m->margin <= 0)
        m->margin = MARGIN_LOST;
}

static enum lks_code read_metric(const struct reading *r, const struct lks_doc *item,
                                 struct lks_gate_metric *out)
{
    const struct lks_gate_preset *p = lks_facts_gate_preset(r->facts, item->key);
    const struct lks_doc *critical = lks_doc_member(item, "critical");
    const struct lks_doc *query = lks_doc_member(item, "query");
    struct lks_gate_metric m = {.name = item->key};
    if (p != NULL)
        m = (struct lks_gate_metric){.name = item->key,
                                     .query = p->query,
                                     .kind = p->kind,
                                     .better = p->better,
                                     .unit = p->unit,
                                     .from = p->from,
                                     .margin = p->margin,
                                     .sigma = p->sigma,
                                     .critical = p->critical};
    if (query != NULL) {
        m.query = query->text;
        m.critical = true; /* a query that the site wrote itself is critical */
    }
    if (critical != NULL)
        m.critical = critical->truth;
    read_words(item, &m);
    if (p == NULL && m.kind != LKS_METRIC_MEAN && lks_doc_member(item, "better") == NULL)
        m.better = LKS_BETTER_LOWER;
    if (read_margin(r, item, &m.margin) != LKS_OK || read_normal(r, item, &m) != LKS_OK)
        return r->err->code;
    if (r->docs->kept)
        mend(r, item, &m, p != NULL);
    else if (check_metric(r, item, &m, p != NULL) != LKS_OK)
        return r->err->code;
    *out = m;
    return LKS_OK;
}

static int64_t number_of(const struct lks_doc *gate, const char *key, int64_t fallback)
{
    const struct lks_doc *at = lks_doc_member(gate, key);
    return at != NULL ? at->number : fallback;
}

enum lks_code lks_fleet_gate_parse(struct lks_docs *docs, const struct lks_doc *doc,
                                   const struct lks_facts *facts, struct lks_pool_gate_wish *out,
                                   struct lks_err *err)
{
    const struct reading r = {docs, facts, err};
    const struct lks_doc *metrics = lks_doc_member(doc, "metrics");
    struct lks_pool_gate_wish gate = {
        .min_load_gpu_hours = number_of(doc, "min_load_gpu_hours", 0),
        .loss_budget = number_of(doc, "loss_budget", 0),
        .controls = number_of(doc, "controls", LKS_GATE_CONTROLS),
        .reference_load = lks_doc_text(doc, "reference_load"),
    };
    if (metrics->count == 0)
        return FAIL(&r, metrics, "a gate measures something: name at least one metric");
    if (read_span(&r, doc, "min_soak", &gate.min_soak) != LKS_OK ||
        read_span(&r, doc, "max_soak", &gate.max_soak) != LKS_OK)
        return err->code;
    if (gate.max_soak > 0 && gate.max_soak < gate.min_soak)
        return FAIL(&r, lks_doc_member(doc, "max_soak"), "it is shorter than min_soak");
    gate.metrics = lks_arena_array(&docs->arena, metrics->count, sizeof(gate.metrics[0]));
    if (gate.metrics == NULL)
        return lks_arena_fail(&docs->arena, err);
    for (const struct lks_doc *item = metrics->first; item != NULL; item = item->next) {
        if (read_metric(&r, item, &gate.metrics[gate.metric_count]) != LKS_OK)
            return err->code;
        gate.metric_count++;
    }
    *out = gate;
    return LKS_OK;
}
