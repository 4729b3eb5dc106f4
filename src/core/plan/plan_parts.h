/* What the files of a plan share: what plan_steps.c asks plan_orders.c. For core/plan/plan*.c
 * alone. */
#ifndef LKS_CORE_PLAN_PARTS_H
#define LKS_CORE_PLAN_PARTS_H

#include "core/compat/stackdiff.h"
#include "core/plan/plan.h"
#include "model/record/record.h"

#define LKS_PLAN_LAYER_ORDERS 8 /* that one layer may take */

/* One layer that executors of the node carry out: software and settings together, or the firmware
 * of one class by a tool of the node. */
struct lks_plan_layer {
    const struct lks_facts *facts;
    const struct lks_state *state; /* whether a verified bundle names the bits; NULL: it does */
    const struct lks_bundle_set *bundles;
    struct lks_str class, revision;    /* of the hardware: which artifacts fit */
    const struct lks_stack *from, *to; /* NULL with `agent` */
    struct lks_str hook; /* of the site, for what no bundle has a package for; or empty */
    struct lks_str agent, agent_before; /* versions of our own agent, instead of differences */
    const struct lks_difference *const *differences; /* each is ours to drive */
    size_t count;
    bool firmware; /* they are firmware, by a tool that is installed on the node */
};

/* An order of it, in the order of work; in a rollback the last goes first. */
struct lks_plan_told {
    /* The step that it becomes: executor, component, digests of the order and of what reverts it
     * (empty: nothing does), of the artifacts of both, and the files that are missing for the
     * revert. The rest is not set. */
    struct lks_rec_plan_step step;
    struct lks_str text, text_back; /* the orders */
    bool never;                     /* nothing could revert it, whatever files a bundle had */
    bool reboots; /* the node restarts by itself in the course of it, as with another image */
};

/* The component of the stack that a difference's subject is of, as "driver" of "driver.build";
 * NULL: none, as where there is no stack. In plan_carry.c. */
const struct lks_component *lks_plan_component_in(const struct lks_stack *stack,
                                                  struct lks_str subject);

/* Whether these may be its bits: one of the artifacts that it pins, where it pins any. */
bool lks_plan_pins(const struct lks_component *c, struct lks_str digest);

/* Refuse to choose between different files of two bundles, or of one. */
enum lks_code lks_plan_fail_two(struct lks_str component, struct lks_str version,
                                const struct lks_bundle *a, const struct lks_bundle *b,
                                struct lks_err *err);

/* Texts live in `arena` and in what the layer points to. REFUSED, with one line, where something
 * that has to be installed is nowhere: in no bundle, in none that is verified, no hook for it. */
enum lks_code lks_plan_orders(const struct lks_plan_layer *layer, struct lks_arena *arena,
                              struct lks_plan_told out[LKS_PLAN_LAYER_ORDERS], size_t *count,
                              struct lks_err *err) LKS_MUST_CHECK;

#endif
