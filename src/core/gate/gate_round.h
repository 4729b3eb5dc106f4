/*
 * One round of measuring for the gates: the questions to a monitoring system that answer what
 * lks_gate_wants() asks for, as few as possible, and what their answers say of each node.
 *
 * A question has one number for each node, so nodes whose windows are nearly the same share one: a
 * window is cut at its far end by at most a thirty-second, never made longer, so that nothing from
 * before a node returned is counted against it.
 *
 *     lks_gate_round_make()     from the state, for this moment
 *     (ask each of `questions`)
 *     lks_gate_round_answer()   the list for the event MEASURED
 */
#ifndef LKS_CORE_GATE_ROUND_H
#define LKS_CORE_GATE_ROUND_H

#include "base/arena.h"
#include "base/compiler.h"
#include "base/str.h"
#include "base/time.h"
#include "core/gate/gate.h"
#include "model/record/record_words.h"

struct lks_state;

#define LKS_ROUND_QUESTIONS_MAX 512 /* what needs more has no data: `left` says how many */
#define LKS_ROUND_WANTED_MAX    200000
#define LKS_ROUND_MEMORY_MAX    ((size_t)64 << 20)
#define LKS_ROUND_NONE          UINT32_MAX

struct lks_gate_question {
    struct lks_str query;
    bool counts;       /* how often something happened, rather than how much there is */
    lks_ms at, window; /* the window ends there */
};

/* What is wanted of a node, by the numbers of the questions that have it. */
struct lks_gate_wanted {
    uint64_t change;
    uint32_t wave, node;
    struct lks_str name, metric;
    enum lks_metric_kind kind;
    uint32_t before, after, load;
};

struct lks_gate_round {
    struct lks_arena arena; /* owns all of it: the state may go on meanwhile */
    struct lks_gate_question *questions;
    uint32_t question_count;
    struct lks_gate_wanted *wanted;
    uint32_t wanted_count;
    uint32_t left; /* numbers that are wanted and not asked for: too many questions */
};

/* `load` is the query for GPU-seconds under load; empty: there is none. `out` needs no
 * initialisation; the caller owes lks_gate_round_fini() where it succeeds. */
enum lks_code lks_gate_round_make(const struct lks_state *s, struct lks_str load, lks_ms wall,
                                  struct lks_gate_round *out, struct lks_err *err) LKS_MUST_CHECK;
void lks_gate_round_fini(struct lks_gate_round *r);

/* The answer to a question for a node; false: it has none. */
typedef bool lks_gate_answer_fn(void *ctx, uint32_t question, struct lks_str node, double *out);

/* What is known of each node now, nodes without any number included: that there is none counts,
 * too. The list lives in the round. NOMEM. */
enum lks_code lks_gate_round_answer(struct lks_gate_round *r, lks_gate_answer_fn *answer, void *ctx,
                                    struct lks_measured **out, size_t *count,
                                    struct lks_err *err) LKS_MUST_CHECK;

#endif
