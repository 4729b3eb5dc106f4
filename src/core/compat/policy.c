#include "core/compat/policy.h"

#include "core/compat/boards.h"

bool lks_policy_takes_branch(const struct lks_version_policy *policy,
                             const struct lks_branch *branch)
{
    bool found = policy->branch_count == 0 || branch == NULL;
    for (size_t i = 0; i < policy->branch_count && !found; i++)
        found = lks_str_eq(policy->branches[i], branch->type);
    return found;
}

bool lks_policy_takes_age(const struct lks_version_policy *policy, const struct lks_driver *driver,
                          lks_day today)
{
    return policy->min_age_days == 0 || driver == NULL || driver->date == LKS_DAY_NONE ||
           (int64_t)today - driver->date >= policy->min_age_days;
}

bool lks_policy_takes_reason(const struct lks_version_policy *policy, enum lks_reason reason)
{
    return (reason != LKS_MINOR || policy->minor) && (reason != LKS_FORWARD || policy->forward);
}

static bool takes_boards(const struct lks_facts *facts, const struct lks_version_policy *policy,
                         const struct lks_stack *stack)
{
    const struct lks_gpu *boards[LKS_BOARDS_MAX];
    size_t count = lks_boards_of(facts, stack, boards, LKS_COUNT(boards));
    for (size_t i = 0; i < count; i++) {
        struct lks_compat_question q = lks_compat_of_stack(stack, boards[i]->product);
        if (q.driver.len > 0 && q.toolkit.len > 0 &&
            !lks_policy_takes_reason(policy, lks_compat_judge(facts, &q, boards[i], NULL)))
            return false;
    }
    return true;
}

bool lks_policy_accepts(const struct lks_facts *facts, const struct lks_version_policy *policy,
                        const struct lks_stack *stack, lks_day today)
{
    struct lks_str driver = lks_stack_version(stack, "driver");
    if (driver.len > 0 &&
        (!lks_policy_takes_branch(policy, lks_facts_branch(facts, lks_version_major(driver))) ||
         !lks_policy_takes_age(policy, lks_facts_driver(facts, driver), today)))
        return false;
    return takes_boards(facts, policy, stack);
}
