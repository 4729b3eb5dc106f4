/* A state as the records of lockstep-snapshot-1: what tests list of a state, and fold again. */
#ifndef LKS_TESTS_DUMP_STATE_H
#define LKS_TESTS_DUMP_STATE_H

#include "core/fold/dump_plan.h"

/* Records that fold to this state, in order, with the times they are to be applied at. The seq of
 * all of them is s->seq. */
enum lks_code lks_dump_state(const struct lks_state *s, lks_state_emit *emit, void *ctx,
                             struct lks_err *err) LKS_MUST_CHECK;

/* Parts of it. Verdicts are of readings that are known, or of those that only nodes name. */
struct lks_str lks_dump_basis(const struct lks_dump *d, uint32_t handle); /* its digest */
void lks_dump_bases(struct lks_dump *d);
void lks_dump_verdicts(struct lks_dump *d, bool known);
void lks_dump_lists(struct lks_dump *d);
void lks_dump_tickets(struct lks_dump *d);
void lks_dump_resets(struct lks_dump *d);
void lks_dump_flashes(struct lks_dump *d);
void lks_dump_access(struct lks_dump *d);
void lks_dump_changes(struct lks_dump *d);

#endif
