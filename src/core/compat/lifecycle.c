#include "core/compat/lifecycle.h"

#include "core/compat/boards.h"

lks_day lks_lifecycle_end(const struct lks_branch *branch)
{
    if (branch->eol == LKS_DAY_NONE)
        return branch->eol_other;
    if (branch->eol_other == LKS_DAY_NONE)
        return branch->eol;
    return branch->eol < branch->eol_other ? branch->eol : branch->eol_other;
}

lks_day lks_lifecycle_other_end(const struct lks_branch *branch)
{
    bool differ = branch->eol != LKS_DAY_NONE && branch->eol_other != LKS_DAY_NONE &&
                  branch->eol != branch->eol_other;
    if (!differ)
        return LKS_DAY_NONE;
    return branch->eol < branch->eol_other ? branch->eol_other : branch->eol;
}

bool lks_lifecycle_matters(const struct lks_facts *facts, const struct lks_stack *stack, int number)
{
    if (lks_version_major(lks_stack_version(stack, "driver")) == number)
        return true;
    const struct lks_gpu *boards[LKS_BOARDS_MAX];
    size_t count = lks_boards_of(facts, stack, boards, LKS_BOARDS_MAX);
    for (size_t i = 0; i < count; i++) {
        if (boards[i]->max_driver_branch == number)
            return true;
    }
    return false;
}
