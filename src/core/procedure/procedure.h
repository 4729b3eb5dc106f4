/*
 * The method of procedure of a change: what a board reads before it approves, and signs. What will
 * happen, what can go wrong, how to roll back, how long it takes and what it costs, what stays at
 * risk, who approved.
 *
 * It follows from the journal and the fleet's file alone, but for the section about jobs: the same
 * records, the same bytes. The digest in it names exactly the plan that it describes.
 *
 *     procedure.c          the change itself, and who stands behind it
 *     procedure_happens.c  waves, gates, windows, steps
 *     procedure_back.c     what can go wrong at each step, and the rollback
 *     procedure_jobs.c     jobs on its nodes now
 *     procedure_cost.c     time, GPU-hours and money; what stays at risk
 */
#ifndef LKS_CORE_PROCEDURE_H
#define LKS_CORE_PROCEDURE_H

#include "codec/format/digest.h"
#include "core/actions/job_cost.h"
#include "core/procedure/document.h"
#include "core/registry/book.h"

struct lks_state;
struct lks_state_change;

/* What a GPU costs an hour, as a text such as "2.5 EUR"; empty: nothing is said of money. False: it
 * is no price. */
#define LKS_PRICE_MAX 1000000
struct lks_price {
    double hour; /* 0: not said */
    struct lks_str currency;
};
bool lks_procedure_price_parse(struct lks_str text, struct lks_price *out);

/* `out` needs no initialisation; the caller owes lks_document_fini(), whatever comes of it. It
 * borrows texts of the state and the book until it is written. */
enum lks_code lks_procedure_make(const struct lks_state *s, const struct lks_book *book,
                                 const struct lks_state_change *c, const struct lks_price *price,
                                 struct lks_document *out, struct lks_err *err) LKS_MUST_CHECK;

/* In procedure_jobs.c: a section with the jobs on its nodes now, behind the others; none where no
 * scheduler can be asked. Texts of the lists are borrowed until the document is written. */
void lks_procedure_jobs(struct lks_document *p, const struct lks_state *s,
                        const struct lks_job_cost *cost);

/* What a plan is called: the SHA-256 of all that was proposed. How far it is does not change it. */
enum lks_code lks_procedure_plan_digest(const struct lks_state *s, const struct lks_state_change *c,
                                        char out[LKS_DIGEST_SIZE],
                                        struct lks_err *err) LKS_MUST_CHECK;

#endif
