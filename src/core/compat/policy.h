/* What versions a pool accepts: the version policy of the fleet's file, asked of a stack. */
#ifndef LKS_CORE_POLICY_H
#define LKS_CORE_POLICY_H

#include "base/time.h"
#include "core/compat/compat.h"
#include "model/manifest/fleet.h"

/* One by one, for callers that have to say which of them it is. NULL, where the tables do not know
 * the branch or the driver, is accepted: there is no evidence that it is not. */
bool lks_policy_takes_branch(const struct lks_version_policy *policy,
                             const struct lks_branch *branch);
bool lks_policy_takes_age(const struct lks_version_policy *policy, const struct lks_driver *driver,
                          lks_day today);
bool lks_policy_takes_reason(const struct lks_version_policy *policy, enum lks_reason reason);

/* All of them. */
bool lks_policy_accepts(const struct lks_facts *facts, const struct lks_version_policy *policy,
                        const struct lks_stack *stack, lks_day today);

#endif
