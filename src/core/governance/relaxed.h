/*
 * When a new edition of the fleet's file asks less of a pool's changes than the one before: fewer
 * or wider metrics, less load or time, days that are no longer frozen, a posture that is no longer
 * production. An approver of a change there agrees to that for a while, and is another person.
 */
#ifndef LKS_CORE_RELAXED_H
#define LKS_CORE_RELAXED_H

#include "base/buf.h"
#include "model/manifest/fleet.h"

struct lks_state;

#define LKS_RELAXED_AGE      ((lks_ms)90 * 24 * 3600 * LKS_SECOND)
#define LKS_RELAXED_TEXT_MAX 512

/* What `after` asks less of the pool than `before`, from `today` on, as one line; nothing is added
 * where it is not less. */
void lks_relaxed(const struct lks_facts *facts, const struct lks_fleet *before,
                 const struct lks_fleet *after, struct lks_str pool, lks_day today,
                 struct lks_buf *out);

/* Whether an approver of a change of the pool still has to agree to that. */
bool lks_relaxed_pending(const struct lks_state *s, uint32_t pool, lks_ms wall);

#endif
