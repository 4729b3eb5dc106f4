/*
 * From what nodes should run now to another stack: who goes when, in which order, by which steps.
 *
 * A plan is made from the state, the fleet's file and the bundles there are, and from nothing else:
 * the same question has the same plan. It is one answer, yes with everything in it, or no with the
 * first reason; what a person should know before they approve it is among its notes.
 *
 *     plan.c           the whole: what is asked for, and to which stack
 *     plan_who.c       who is meant, where each comes from, units
 *     plan_steps.c     recipes: which layers there are, and the steps they take
 *     plan_layers.c    an order of layers in which no state in between is incompatible
 *     plan_carry.c     what carries a layer out, with which image, and the rollback
 *     plan_class.c     which class of change it is by what it does, and what that asks for
 *     plan_orders.c    what executors are told, there and back
 *     plan_waves.c     lab, canary, rings; which units exercise the rollback
 *     plan_canary.c    which nodes cover what is there (core/stats/cover.h), and how many; controls
 *     plan_gate.c      what gates will ask for, and how small a loss each wave can find
 *     plan_after.c     notes of who is held, and of pools of which only a part changes
 *     plan_capacity.c  width by headroom, gangs, power and racks; what stays in use over time
 *     plan_join.c      what a change in progress asks: which nodes join, which may start
 */
#ifndef LKS_CORE_PLAN_H
#define LKS_CORE_PLAN_H

#include "core/plan/wish.h"
#include "core/rows/text.h"
#include "model/manifest/bundle.h"
#include "model/manifest/order.h"
#include "model/record/record.h"

#define LKS_PLAN_MEMORY_MAX   ((size_t)1 << 30)
#define LKS_PLAN_STRENGTH     2 /* unless stated */
#define LKS_PLAN_STRENGTH_MAX 3
#define LKS_PLAN_MILLION      1000000 /* shares are in millionths */
#define LKS_PLAN_POOL         "@"     /* a change of a whole pool has "@train" as its hosts */

struct lks_book;
struct lks_node;
struct lks_stack;
struct lks_state;
struct lks_state_change;
struct lks_step;

/* The manifests of the bundles that are good. */
struct lks_bundle_set {
    const struct lks_bundle *const *list;
    size_t count;
};

/* A moment of the forecast, for one pool. */
struct lks_plan_moment {
    struct lks_str pool;
    lks_ms after;                     /* the change began */
    uint32_t in_use, before, changed; /* nodes: in use, of these with the old and the new stack */
    uint32_t gang;                    /* the largest job that can start on one digest, in nodes */
};

/* All of it lives in `memory`; texts are views of it, of the state, the book and the bundles. The
 * records are those of the journal, without the change's number, `by` and `reason`. */
struct lks_plan {
    struct lks_arena memory;
    struct lks_rec_change change;
    struct lks_rec_plan_step *steps; /* by recipe, then index */
    struct lks_rec_plan_wave *waves;
    struct lks_rec_plan_part *parts; /* by wave; those of one domain next to each other */
    struct lks_rec_plan_order *orders;
    struct lks_rec_plan_note *notes;
    struct lks_rec_plan_metric *metrics;
    struct lks_rec_plan_gate *gates;
    struct lks_plan_moment *moments;
    size_t metric_count, gate_count;
    size_t step_count, wave_count, part_count, order_count, note_count, moment_count;
    size_t recipe_count;
    uint32_t nodes, assets, units, canaries;
    lks_ms takes; /* about so long, without waiting for jobs and windows */
};

/* `out` needs no initialisation; the caller owes lks_plan_fini() where it succeeds. A plan that
 * cannot be made is a failure with one line: INVALID, NOT_FOUND, REFUSED. */
enum lks_code lks_plan_make(const struct lks_state *s, const struct lks_book *book,
                            const struct lks_bundle_set *bundles, lks_ms wall,
                            const struct lks_plan_wish *wish, struct lks_plan *out,
                            struct lks_err *err) LKS_MUST_CHECK;
void lks_plan_fini(struct lks_plan *plan);

/* A node that came to a pool of a change in progress: the part it is to be in, by a recipe that
 * there is already; false: none fits, and a new change is needed. */
bool lks_plan_joins(const struct lks_state *s, const struct lks_book *book,
                    const struct lks_state_change *c, uint32_t node, struct lks_rec_plan_part *out);

/* Digest of the stack that a plan for the node starts from: what it is read to run, where that is
 * known, else what it should run; 0: there is none. */
lks_text lks_plan_from(const struct lks_state *s, uint32_t node);

/* It is evaluated to run something else than what it is planned from, and no known stack is what it
 * runs: its checks would fail. */
bool lks_plan_drifted(const struct lks_state *s, uint32_t node);

/* Whether it is out of service now, for whatever reason. */
bool lks_plan_out(const struct lks_node *n);

/* Nodes that a pool can do without at a time: its headroom and minimum capacity, else a tenth. */
uint64_t lks_plan_spared(const struct lks_state *s, const struct lks_book *book, uint32_t pool);

/* How long a step usually takes; and the members of a wave, without its soak: `longest` is what one
 * of its units takes, `proves` whether one of them rolls back and goes there again. */
lks_ms lks_plan_usual(const struct lks_step *step);
lks_ms lks_plan_wave_takes(uint64_t units, uint64_t width, lks_ms longest, bool proves);

/* Watts that a GPU may draw by the stack; 0: it does not say, or NULL. */
int64_t lks_plan_power_limit(const struct lks_stack *stack);

/* Whether the node may begin at `wall`: the change's times, its windows and those of the node's
 * pool, in the time of its site. `next` gets when to ask again; UINT64_MAX: never more. */
bool lks_plan_may_begin(const struct lks_state *s, const struct lks_book *book,
                        const struct lks_state_change *c, uint32_t node, lks_ms wall, lks_ms *next);

#endif
