/* What other rooms of the fold need of resets. */
#ifndef LKS_CORE_FOLD_H
#define LKS_CORE_FOLD_H

#include "base/str.h"

struct lks_state;

/* The node left the fleet: so does its reset. */
void lks_fold_resets_forget(struct lks_state *s, uint32_t node);

#endif
