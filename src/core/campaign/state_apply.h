/* Applies a record of the journal to the state. No other function changes what records say. */
#ifndef LKS_CORE_STATE_APPLY_H
#define LKS_CORE_STATE_APPLY_H

#include "base/compiler.h"
#include "base/err.h"
#include "base/time.h"

struct lks_record;
struct lks_state;

/* Make `record`, of row `seq`, true, and note when members that it is about are to be looked at:
 * core/fold/apply*.c decide nothing, so they do not say that. Fails only for lack of memory or at a
 * limit of size, and then the state is no longer good. */
enum lks_code lks_state_apply(struct lks_state *s, uint64_t seq, lks_ms time,
                              const struct lks_record *record, struct lks_err *err) LKS_MUST_CHECK;

/* The rows of `s` were loaded by lks_entity_unpack(): find everything that follows from them.
 * INVALID where they refer to what is not there. */
enum lks_code lks_state_index(struct lks_state *s, struct lks_err *err) LKS_MUST_CHECK;

#endif
