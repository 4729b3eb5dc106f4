/* A plan while it is made. For core/plan/plan*.c alone. */
#ifndef LKS_CORE_PLAN_WORK_H
#define LKS_CORE_PLAN_WORK_H

#include "base/vec.h"
#include "core/firmware/endpoint.h"
#include "core/plan/plan_parts.h"
#include "core/rows/text.h"

#define LKS_PLAN_NONE     UINT32_MAX
#define LKS_PLAN_MINUTE   (60 * LKS_SECOND)
#define LKS_PLAN_NOTES_OF 8 /* of one sort are told one by one, the others counted */

enum lks_plan_endpoint { LKS_PLAN_NO_ENDPOINT, LKS_PLAN_REDFISH, LKS_PLAN_NVOS };

/* What decides which steps a node or asset goes by. */
struct lks_plan_kind {
    lks_text asset; /* class of an asset; 0: a node */
    lks_text class, revision, from;
    struct lks_str before; /* digest of the stack it comes from; AGENT: the version */
    enum lks_plan_endpoint endpoint;
    uint32_t beside;          /* bits by lks_plan_asset_bit(): assets of its domain */
    bool other_side;          /* of a redundant pair: it follows the first one */
    struct lks_str reads;     /* what was read of the firmware it gets: plan_reads.c */
    lks_ms leave;             /* how long its drain may take, */
    enum lks_drain_jobs jobs; /* and what may be done to its jobs meanwhile */
    struct lks_str signal;
    lks_ms grace;
};

/* A kind and its steps. Kinds that have the same steps share a number. */
struct lks_plan_recipe {
    struct lks_plan_kind kind;
    uint32_t node;               /* the first that goes by it, for messages */
    uint32_t number;             /* in the plan */
    size_t first, count;         /* of the plan's steps; 0: there is nothing to do */
    lks_ms takes;                /* about so long it is out of service */
    bool one_way;                /* it has an irreversible step, */
    uint32_t spares;             /* and so many spare parts for it; LKS_PLAN_NONE: needs none */
    bool reverts;                /* it has a step that can be reverted */
    enum lks_change_covers does; /* never ADVISORY; */
    struct lks_str because;      /* and the first difference that makes it so */
};

struct lks_plan_member {
    uint32_t node, recipe;
};

struct lks_plan_unit {
    struct lks_str name; /* of the domain or the node */
    lks_text domain;
    uint32_t first, count; /* members */
    uint32_t nodes;        /* of these, without assets */
    uint32_t pool;         /* of its first node, or LKS_PLAN_NONE */
    lks_text rack, zone;   /* of its first member */
    uint32_t recipe;       /* of its first member */
    lks_ms takes;
    lks_ms outage;    /* when a planned stop of it begins; UINT64_MAX: none */
    bool dev, barred; /* barred: something is wrong with it, so it is no canary */
    uint32_t dislike;
    uint32_t wave; /* or LKS_PLAN_NONE */
    bool proves;
};

/* Units of the plan that stand in one rack. */
struct lks_plan_rack {
    lks_text rack;
    uint32_t units;
};

struct lks_planning {
    const struct lks_state *state;
    const struct lks_book *book;
    const struct lks_fleet *fleet; /* NULL: none was applied */
    const struct lks_bundle_set *bundles;
    lks_ms wall;
    struct lks_plan_wish wish;
    const struct lks_stack *to;           /* AGENT: NULL */
    bool closes;                          /* the vulnerability that the wish names, somewhere */
    const struct lks_change_class *class; /* once it is known who goes by which steps */
    lks_text to_text;                     /* its digest, where the state has that text; else 0 */
    struct lks_plan *out;
    struct lks_err *err;
    const struct lks_group **groups; /* by node: where the fleet's file has it; NULL: nowhere */
    uint32_t *beside; /* by domain, as standing numbers them: bits of the assets in it */
    lks_ms *outages;  /* by node: when a planned stop begins; 0: none */
    struct lks_plan_member *members; /* by unit; nodes before assets */
    uint32_t member_count;
    struct lks_plan_unit *units; /* by name */
    uint32_t unit_count;
    struct lks_plan_rack *racks; /* rising */
    size_t rack_count;
    struct lks_plan_recipe *recipes; /* by kind */
    size_t recipe_count, recipe_room;
    uint64_t *
        out_now; /* by pool: nodes that are out of service whatever is planned; NULL: not counted */
    size_t step_room, order_room, note_room, wave_room, moment_room;
};

/* In plan.c. Memory of the plan: NULL, and err says so, where there is none. */
void *lks_plan_array(struct lks_planning *p, size_t count, size_t size);
/* Capacity for `wanted` elements of an array of the plan. */
#define LKS_PLANNING_RESERVE(p, array, room, wanted)                                               \
    LKS_VEC_RESERVE_IN(&(p)->out->memory, array, room, wanted, (p)->err)
struct lks_str lks_plan_text(struct lks_planning *p, const char *fmt, ...) LKS_PRINTF(2, 3);
/* Each once, whichever part notes it. */
enum lks_code lks_plan_note(struct lks_planning *p, enum lks_plan_note kind, const char *fmt, ...)
    LKS_PRINTF(3, 4) LKS_MUST_CHECK;
/* The names as a host list. */
enum lks_code lks_plan_fold(struct lks_planning *p, const struct lks_str *names, size_t count,
                            struct lks_str *out) LKS_MUST_CHECK;
/* The same for people: where it is too long for a line, how many they are, and the first. */
enum lks_code lks_plan_hosts(struct lks_planning *p, const struct lks_str *names, size_t count,
                             struct lks_str *out) LKS_MUST_CHECK;
const struct lks_pool *lks_plan_pool(const struct lks_planning *p, uint32_t pool);

/* In plan_who.c: members and units. */
enum lks_code lks_plan_who(struct lks_planning *p) LKS_MUST_CHECK;
/* The bit of a class of assets in lks_plan_kind.beside; 0: firmware of nodes only. */
uint32_t lks_plan_asset_bit(struct lks_str asset_class);

/* In plan_steps.c: the steps of a recipe. */
enum lks_code lks_plan_steps(struct lks_planning *p, struct lks_plan_recipe *recipe) LKS_MUST_CHECK;

/* In plan_layers.c: layers in an order in which every state in between can work. */
#define LKS_PLAN_LAYERS_MAX 48
struct lks_plan_work {
    const struct lks_difference **list;
    size_t count;
    const struct lks_firmware_update *update; /* NULL: software and settings */
    bool one_way;
    struct lks_str never;   /* what is irreversible by itself, "firmware/erot from 1 to 2" */
    struct lks_str missing; /* files for the rollback that no verified bundle of the depot has */
    uint64_t after;         /* bits: layers that go first */
};
struct lks_plan_layers {
    struct lks_plan_work list[LKS_PLAN_LAYERS_MAX];
    size_t count;
    size_t order[LKS_PLAN_LAYERS_MAX]; /* found by lks_plan_order() */
};
enum lks_code lks_plan_order(struct lks_planning *p, const struct lks_plan_kind *kind,
                             const struct lks_stack *from,
                             struct lks_plan_layers *layers) LKS_MUST_CHECK;

/* In plan_carry.c: what carries each layer out. */
/* How the firmware of one class is installed and reverted. */
struct lks_plan_flash {
    struct lks_str bundle, image, bundle_back, image_back;
    enum lks_bmc_act revert;
    bool staged; /* while it is in use */
};

/* A recipe while it is made. */
struct lks_plan_cook {
    struct lks_planning *p;
    struct lks_plan_recipe *recipe;
    const struct lks_stack *from;
    struct lks_plan_layers layers;
    struct {
        struct lks_plan_told told[LKS_PLAN_LAYER_ORDERS];
        size_t told_count;
        struct lks_plan_flash flash;
        bool by_endpoint;
    } made[LKS_PLAN_LAYERS_MAX];
    uint32_t rank;
};

struct lks_str lks_plan_class(const struct lks_plan_cook *k);
/* What every question for orders says: the facts, the class and the revision of the nodes. */
struct lks_plan_layer lks_plan_layer_of(const struct lks_plan_cook *k);
/* The component that a difference is of: the new one, or where it goes the old one; NULL: none. */
const struct lks_component *lks_plan_component_of(const struct lks_plan_cook *k,
                                                  const struct lks_difference *d);
struct lks_str lks_plan_transport(const struct lks_component *c,
                                  const struct lks_firmware_update *update);
/* Whether this node or asset can be reached for it, by its endpoint or by a tool of the node. */
bool lks_plan_reached(const struct lks_plan_cook *k, struct lks_str transport);
enum lks_code lks_plan_prepare(struct lks_plan_cook *k) LKS_MUST_CHECK;

/* In plan_reads.c. What was read of the firmware that the change brings to the node, as lines for
 * lks_plan_kind.reads; nothing where the change brings none. */
void lks_plan_reads(const struct lks_planning *p, uint32_t node, const struct lks_plan_kind *kind,
                    struct lks_buf *out);
/* The version of a class of firmware that it runs, where its stack pins none; empty: not known. */
struct lks_str lks_plan_runs(const struct lks_plan_kind *kind, struct lks_str bare);
/* Whether its endpoint was read, and offers no switch to another bank of this class. */
bool lks_plan_one_bank(const struct lks_plan_kind *kind, struct lks_str bare);

/* In plan_class.c. What the layers of a recipe make of it; and the class of the whole. */
void lks_plan_does(const struct lks_plan_cook *k);
enum lks_code lks_plan_class_whole(struct lks_planning *p) LKS_MUST_CHECK;

/* In plan_canary.c: which units are canaries, and who is compared with them. */
enum lks_code lks_plan_canary(struct lks_planning *p, uint32_t wave,
                              uint32_t *count) LKS_MUST_CHECK;
/* A host list of matched nodes for the units of `wave`, of those in `units` that come later. */
enum lks_code lks_plan_controls(struct lks_planning *p, const uint32_t *units, size_t count,
                                uint32_t wave, size_t max, struct lks_str *out) LKS_MUST_CHECK;

/* In plan_waves.c: waves and parts. */
enum lks_code lks_plan_waves(struct lks_planning *p) LKS_MUST_CHECK;

/* In plan_gate.c: what is measured of them, and what that can find. */
enum lks_code lks_plan_gates(struct lks_planning *p) LKS_MUST_CHECK;

/* In plan_after.c: what is left open, and what follows for pools that it does not cover whole. */
enum lks_code lks_plan_after(struct lks_planning *p) LKS_MUST_CHECK;

/* In plan_capacity.c. How many units of these, which are those of a wave, may be out of service
 * together; without `racks` their racks are not asked. `text`, which may be NULL, gets the limit
 * that decided it, for people. */
enum lks_code lks_plan_width(struct lks_planning *p, const uint32_t *units, size_t count,
                             bool racks, uint64_t *out, struct lks_str *text) LKS_MUST_CHECK;
/* Units of a rack that may be out of service together: a quarter of it, at least one. */
uint32_t lks_plan_rack_limit(const struct lks_planning *p, lks_text rack);
enum lks_code lks_plan_racks(struct lks_planning *p) LKS_MUST_CHECK;
/* What stays in use over time, as moments and notes. */
enum lks_code lks_plan_forecast(struct lks_planning *p) LKS_MUST_CHECK;

#endif
