/* Tickets and resets as records: written to a snapshot. */
#ifndef LKS_CORE_FOLD_H
#define LKS_CORE_FOLD_H

#include "core/state/state.h"

struct lks_dump;

void lks_fold_tickets_dump(struct lks_dump *d);

void lks_fold_resets_dump(struct lks_dump *d);

/* The node left the fleet: so does its reset. */
void lks_fold_resets_forget(struct lks_state *s, uint32_t node);

#endif
