/* Tickets and resets as records: written to a snapshot, and compared. */
#ifndef LKS_CORE_FOLD_H
#define LKS_CORE_FOLD_H

#include "core/state/state.h"

struct lks_dump;

void lks_fold_tickets_dump(struct lks_dump *d);
bool lks_fold_tickets_equal(const struct lks_state *a, const struct lks_state *b);

void lks_fold_resets_dump(struct lks_dump *d);
bool lks_fold_resets_equal(const struct lks_state *a, const struct lks_state *b);

/* The node left the fleet: so does its reset. */
void lks_fold_resets_forget(struct lks_state *s, uint32_t node);

#endif
