/*
 * What applying a manifest of the fleet causes, by the records that it would make: which nodes join
 * and leave pools, whose intent changes and how they compare with it, whom admission starts to
 * refuse, and which changes and deviations have such nodes.
 *
 * Nothing is applied and no state is copied. Readings are compared with another stack once for all
 * nodes that have them. Domains are taken to be as they are; assets are left out.
 */
#ifndef LKS_CORE_EFFECTS_H
#define LKS_CORE_EFFECTS_H

#include "base/arena.h"
#include "codec/format/json.h"
#include "core/registry/book.h"
#include "model/record/record_words.h"

struct lks_record;
struct lks_state;

#define LKS_EFFECT_NAMES    5   /* of nodes that a row lists */
#define LKS_EFFECT_VERDICTS 256 /* comparisons for one answer; other nodes are UNCOMPARED */

enum lks_effect {
    LKS_EFFECT_JOINS,
    LKS_EFFECT_LEAVES,
    LKS_EFFECT_INTENT,     /* another stack is what they should run */
    LKS_EFFECT_CONFORMS,   /* of these, those that run it already */
    LKS_EFFECT_DRIFTS,     /* those that run something else */
    LKS_EFFECT_UNMEASURED, /* those of which not all of it could be measured */
    LKS_EFFECT_UNCOMPARED, /* those that are compared after it was applied */
    LKS_EFFECT_DRAINS,     /* drained for drift that there is already */
    LKS_EFFECT_ADMITTED,   /* admission refuses jobs there, and no longer would */
    LKS_EFFECT_REFUSED,    /* admission starts to refuse jobs there */
    LKS_EFFECT_CHANGE,     /* an open change has nodes of which any of this is so */
    LKS_EFFECT_DEVIATION,  /* a deviation has */
    LKS_EFFECT_COUNT
};
extern const char *const lks_effect_words[];

struct lks_effect_row {
    enum lks_effect effect;
    struct lks_str pool; /* empty for the last two */
    enum lks_bar bar;    /* REFUSED: the first reason */
    uint64_t id;         /* of the last two */
    uint32_t nodes;
    struct lks_str first[LKS_EFFECT_NAMES]; /* of `nodes`, as many as there are */
};

struct lks_effects {
    struct lks_arena arena;
    struct lks_effect_row *rows; /* by pool, those of the state first, and effect */
    size_t count, room;
};

/* Of the decision about a LKS_EVENT_FLEET whose manifest is `wanted`. The texts live as long as the
 * state and `wanted`. The caller owes lks_effects_fini(). */
enum lks_code lks_effects_make(const struct lks_state *s, const struct lks_book *book,
                               const struct lks_manifest *wanted, const struct lks_record *records,
                               size_t count, lks_ms wall, struct lks_effects *out,
                               struct lks_err *err) LKS_MUST_CHECK;
void lks_effects_fini(struct lks_effects *e);

/* Items of the list being written: {effect, pool?, reason?, id?, nodes, first}. */
void lks_effects_json(const struct lks_effects *e, struct lks_json_writer *w);

#endif
