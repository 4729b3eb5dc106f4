/*
 * How the whole fleet compares with one stack, pinned or not: what a change to it would find. Every
 * distinct basis is judged anew, and each node takes its basis's verdict.
 */
#ifndef LKS_CORE_SURVEY_H
#define LKS_CORE_SURVEY_H

#include "base/bitset.h"
#include "codec/format/json.h"
#include "core/conform/verdict.h"

struct lks_state;

/* One thing that differs in one way, and on how many nodes. */
struct lks_survey_row {
    struct lks_str subject, pinned, actual;
    uint32_t nodes;
};

struct lks_survey {
    struct lks_arena arena;
    uint32_t judged[LKS_JUDGED_COUNT]; /* nodes; unjudged: nothing is known of them */
    uint32_t bases;                    /* distinct ones that were judged */
    struct lks_bitset differs;         /* nodes that drift from it or are unmeasured */
    struct lks_survey_row *rows;       /* most nodes first */
    size_t row_count;
};

/* Nodes of `pool` alone, or of all for UINT32_MAX. The caller owes lks_survey_fini(). */
enum lks_code lks_survey_make(const struct lks_state *s, const struct lks_facts *facts,
                              const struct lks_stack *stack, uint32_t pool, struct lks_survey *out,
                              struct lks_err *err) LKS_MUST_CHECK;
void lks_survey_fini(struct lks_survey *v);

/* Members of the object being written: nodes, conforms, drift, unmeasured, unjudged, rows. */
void lks_survey_json(const struct lks_survey *v, struct lks_json_writer *w);

#endif
