/*
 * What gates with evidence want measured, and of which nodes.
 *
 * A pool's `gate:` in the fleet's file names metrics; a plan freezes them (PLAN_METRIC, PLAN_GATE),
 * so that a gate that runs is never lowered by an edit. While a wave is in progress, its members
 * that are done and the controls that were chosen for it are measured alike: the metrics poller
 * calls lks_gate_wants() now and then, and reports what it found by the event MEASURED. What a
 * verdict is made of then is in core/campaign/campaign_evidence.c.
 *
 * Of nodes that earlier waves of the change brought, events are counted on while later ones are
 * in progress; and where no unchanged node is left, means are compared with theirs: both of their
 * windows are behind their own change, so what that did to them is in both.
 */
#ifndef LKS_CORE_GATE_H
#define LKS_CORE_GATE_H

#include "base/compiler.h"
#include "base/err.h"
#include "base/str.h"
#include "base/time.h"

struct lks_arena;
struct lks_member;
struct lks_state;
struct lks_state_change;

#define LKS_GATE_NODES_MAX    512 /* of a wave that are measured: more would tell no more */
#define LKS_GATE_WINDOW_MIN   (300 * LKS_SECOND) /* before, at least so long is looked at */
#define LKS_GATE_WINDOW_MAX   ((lks_ms)7 * 86400 * LKS_SECOND)
#define LKS_GATE_SOAK_DEFAULT (3600 * LKS_SECOND) /* where a gate does not say */
#define LKS_GATE_PATIENCE     3 /* soaks, where a gate does not say how long it waits for data */
#define LKS_GATE_CONTROLS_MIN 2 /* and as many of the wave: fewer say nothing of a mean */
#define LKS_GATE_GRACE        (3600 * LKS_SECOND) /* after the soak, for nodes without a verdict */

/* One number that is wanted. Both windows are by the wall clock, and of nearly one length. */
struct lks_gate_want {
    uint64_t change;
    uint32_t wave, node;
    bool control; /* none of the wave, and compared with it */
    bool earlier; /* it is of an earlier wave: a control that has the change all the time, or one
                     of which events are counted on */
    const struct lks_plan_metric *metric;
    lks_ms before_from, before_until; /* before anything of the wave was changed */
    lks_ms from, until;               /* since it returned; EARLIER: since the wave began */
};

/* Called for each; false: stop. `arena` is for what is needed meanwhile. */
typedef bool lks_gate_want_fn(void *ctx, const struct lks_gate_want *want);
enum lks_code lks_gate_wants(const struct lks_state *s, lks_ms wall, struct lks_arena *arena,
                             lks_gate_want_fn *fn, void *ctx, struct lks_err *err) LKS_MUST_CHECK;

/* The metric of that name for nodes of the node's pool; NULL: the change has none. */
const struct lks_plan_metric *lks_gate_metric(const struct lks_state *s,
                                              const struct lks_state_change *c, uint32_t node,
                                              struct lks_str name);

/* Whether it is of nodes of that pool. */
bool lks_gate_metric_is_of(const struct lks_state *s, const struct lks_plan_metric *m,
                           uint32_t pool);

/* What else is asked of nodes of the pool; NULL: nothing. */
const struct lks_pool_gate *lks_gate_of(const struct lks_state *s, const struct lks_state_change *c,
                                        uint32_t pool);

/* The controls of a wave that are as they were: in the fleet, and no change is or was at them since
 * the wave began. Those that did not change at all come first; behind them those that this change
 * brought in an earlier wave which passed, at least a soak before: for means alone. */
struct lks_gate_controls {
    uint32_t *nodes; /* in the arena */
    uint32_t count, untouched;
};
enum lks_code lks_gate_controls(const struct lks_state *s, const struct lks_state_change *c,
                                uint32_t wave, struct lks_arena *arena,
                                struct lks_gate_controls *out, struct lks_err *err) LKS_MUST_CHECK;

/* Since when a wave is compared: the first of it that started, and the last that is done. Both 0:
 * none is done. */
struct lks_gate_times {
    lks_ms begun, done;
};
struct lks_gate_times lks_gate_times(const struct lks_state_change *c, uint32_t wave);

/* Whether the member is one of those that are measured. */
bool lks_gate_samples(const struct lks_state_change *c, const struct lks_member *m);

/* The reference load that a node is to be under now: a canary that soaks, of a change that runs,
 * whose gate has one. Empty: none. */
struct lks_str lks_gate_load(const struct lks_state *s, uint32_t node);

/* Whether the node's agent has something to fetch: a command, a wish for its tuple, or a load. */
bool lks_gate_mail(const struct lks_state *s, uint32_t node);

/* Whether its acceptance checks are to run before anything is done to the member: a gate compares
 * what they find with what they find afterwards. Canaries alone, since it drains nodes for longer,
 * and once. */
bool lks_gate_wants_before(const struct lks_state *s, const struct lks_state_change *c,
                           const struct lks_member *m);

/* Whether it is of a wave before this one that passed, and its events are counted on. */
bool lks_gate_counts_on(const struct lks_state *s, const struct lks_state_change *c,
                        const struct lks_member *m, uint32_t wave);

/* What was measured of one node by one metric of a gate. All of
 * it is since the node returned, or for a control since the wave is watched; each measurement takes
 * the place of the one before. */
struct lks_measured {
    uint64_t change;
    uint32_t wave, node;
    struct lks_str metric;
    bool has_before, has_after; /* whether there was data in each window */
    double before, after;       /* MEAN: finite; medians over windows of one length */
    uint64_t samples;           /* behind `after`; 0: the source does not tell */
    lks_ms from, until;         /* of the window of `after`, wall */
    uint64_t load;              /* GPU-seconds under load; 0: not known, or none */
    uint64_t events, exposure;  /* RATE, HARD; ms until the first, or without one */
};

#endif
