#include "core/compat/boards.h"

#include "core/compat/compat.h"

bool lks_board_in_families(const struct lks_gpu *gpu, struct lks_str families)
{
    char name[LKS_FAMILY_LEN_MAX + 1];
    if (gpu->family.len >= sizeof(name))
        return false;
    for (size_t i = 0; i < gpu->family.len; i++)
        name[i] = gpu->family.ptr[i] == ' ' ? '-' : gpu->family.ptr[i];
    return families.len == 0 ||
           lks_facts_words_have(families, (struct lks_str){name, gpu->family.len});
}

bool lks_board_among(const struct lks_gpu *gpu, const struct lks_gpu *const *boards, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (boards[i] == gpu)
            return true;
    }
    return false;
}

size_t lks_boards_of(const struct lks_facts *facts, const struct lks_stack *stack,
                     const struct lks_gpu **out, size_t max)
{
    size_t count = 0;
    for (size_t i = 0; i < stack->class_count; i++) {
        const struct lks_gpu *found[LKS_COMPAT_BOARDS_MAX];
        size_t n = lks_compat_boards(facts, stack->classes[i]->gpu, found, LKS_COUNT(found));
        for (size_t j = 0; j < n && count < max; j++) {
            if (!lks_board_among(found[j], out, count))
                out[count++] = found[j];
        }
    }
    return count;
}

bool lks_boards_any_family(const struct lks_gpu *const *boards, size_t count,
                           struct lks_str families)
{
    for (size_t i = 0; i < count; i++) {
        if (lks_board_in_families(boards[i], families))
            return true;
    }
    return families.len == 0;
}
