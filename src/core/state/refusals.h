/* Lookups in the refusals of the last week. */
#ifndef LKS_CORE_STATE_REFUSALS_H
#define LKS_CORE_STATE_REFUSALS_H

#include "base/err.h"
#include "core/rows/refusal.h"
#include "model/record/record.h"

struct lks_state;

void lks_refusals_fini(struct lks_refusals *r);

/* The row that counts what the record counts, on `day`, which is the last day of the list; NULL:
 * there is none. */
const struct lks_refusal *lks_refusals_find(const struct lks_state *s, uint64_t day,
                                            const struct lks_rec_refusal *of);

/* Number of rows of a pool on that day: those of nodes, or those of users and images. */
uint32_t lks_refusals_rows(const struct lks_state *s, uint64_t day, struct lks_str pool,
                           bool of_nodes);

/* Let the lookups find the row at this place of the list, the last one so far. */
enum lks_code lks_refusals_index(struct lks_state *s, uint32_t at,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* The first rows of the list go, and the others move to its begin. */
void lks_refusals_unindex(struct lks_refusals *r, uint32_t dropped);

#endif
