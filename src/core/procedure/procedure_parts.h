/* For core/procedure/procedure*.c alone. */
#ifndef LKS_CORE_PROCEDURE_PARTS_H
#define LKS_CORE_PROCEDURE_PARTS_H

#include "core/decision/size.h"
#include "core/plan/plan.h"
#include "core/procedure/procedure.h"
#include "core/rows/text.h"

enum { LKS_PROCEDURE_ROWS = 500 }; /* of one table; what is behind them is told in a row */

/* Steps of which a table says the same: they are one row of it. */
struct lks_procedure_step {
    const struct lks_step *step;
    uint32_t members; /* that go through it */
    uint32_t recipe;  /* the last that has it */
};

struct lks_procedure_work {
    const struct lks_state *s;
    const struct lks_book *book;
    const struct lks_state_change *c;
    const struct lks_price *price;
    struct lks_document *p;
    struct lks_err *err;
    struct lks_change_size whole;
    struct lks_change_size *by_wave, *by_pool; /* in the document's memory, as are all */
    uint32_t *by_recipe;                       /* members that go by it */
    lks_text *kinds;                           /* by recipe: hardware class, or class of assets */
    lks_ms *takes;                             /* by recipe: what its steps usually take */
    struct lks_procedure_step *steps;          /* as they were listed last, in their order */
    uint32_t step_count;
};

struct lks_str lks_procedure_text(const struct lks_procedure_work *w, lks_text text);

/* The names as a host list; of many, how many and where they are listed. */
struct lks_str lks_procedure_hosts(struct lks_procedure_work *w, const struct lks_str *names,
                                   size_t count);

/* List steps for a table that says the same of those that are alike. */
typedef bool (*lks_procedure_alike)(const struct lks_step *a, const struct lks_step *b);
void lks_procedure_list(struct lks_procedure_work *w, lks_procedure_alike alike);

/* "apply driver nccl" */
struct lks_str lks_procedure_step_text(struct lks_procedure_work *w, const struct lks_step *step);

/* What the plan itself says of time and GPU-hours, and a span as a board is told it. */
lks_ms lks_procedure_planned(const struct lks_procedure_work *w, uint64_t *gpu_hours);
lks_ms lks_procedure_rounded(lks_ms span);

/* The sections. `froms`: the stacks that members come from. */
void lks_procedure_summary(struct lks_procedure_work *w, const struct lks_str *froms,
                           uint32_t from_count);
void lks_procedure_happens(struct lks_procedure_work *w);
void lks_procedure_wrong(struct lks_procedure_work *w);
void lks_procedure_back(struct lks_procedure_work *w);
void lks_procedure_cost(struct lks_procedure_work *w);
void lks_procedure_risk(struct lks_procedure_work *w);

#endif
