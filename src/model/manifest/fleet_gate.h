/* The `gate` of a pool: what is measured of nodes that a change brought further, how much worse it
 * may be, and what else has to be there before the next ones follow. */
#ifndef LKS_MODEL_FLEET_GATE_H
#define LKS_MODEL_FLEET_GATE_H

#include "model/facts/facts.h"
#include "model/record/record.h"
#include "model/schema/schema.h"

#define LKS_GATE_METRICS_MAX  64
#define LKS_GATE_CONTROLS     2 /* for each canary, where a gate does not say */
#define LKS_GATE_CONTROLS_MAX 4

/* A preset (data/gate-metrics.csv), with what the site says otherwise. */
struct lks_gate_metric {
    struct lks_str name, query;
    enum lks_metric_kind kind;
    enum lks_metric_better better;
    enum lks_metric_unit unit;
    enum lks_metric_source from;
    double margin, sigma; /* percent; 0: none, not known */
    double normal;        /* RATE: events of a node in an hour; 0: not known */
    bool critical;
};

/* Arrays live in the documents' arena. */
struct lks_pool_gate_wish {
    struct lks_gate_metric *metrics;
    size_t metric_count;
    int64_t min_load_gpu_hours;    /* 0: not asked */
    lks_ms min_soak, max_soak;     /* 0: as the change soaks; three times as long */
    int64_t loss_budget;           /* 0: rings are as planned */
    int64_t controls;              /* for each canary */
    struct lks_str reference_load; /* what keeps canaries busy; empty: nothing */
};

extern const struct lks_form lks_gate_form;

/* From a document that lks_schema_check() accepted for lks_gate_form. */
enum lks_code lks_fleet_gate_parse(struct lks_docs *docs, const struct lks_doc *doc,
                                   const struct lks_facts *facts, struct lks_pool_gate_wish *out,
                                   struct lks_err *err) LKS_MUST_CHECK;

#endif
