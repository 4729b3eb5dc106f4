/* Which boards a stack will run on: those of its hardware classes. */
#ifndef LKS_CORE_BOARDS_H
#define LKS_CORE_BOARDS_H

#include "model/manifest/stack.h"

#define LKS_BOARDS_MAX 64

/* All boards of the stack's classes, each once, at most `max`. A class whose GPU no row knows adds
 * none. */
size_t lks_boards_of(const struct lks_facts *facts, const struct lks_stack *stack,
                     const struct lks_gpu **out, size_t max);

/* True when one of `boards` is of a family in `families` (blank-separated; a blank inside a name is
 * written '-'), or when `families` is empty. */
bool lks_boards_any_family(const struct lks_gpu *const *boards, size_t count,
                           struct lks_str families);

bool lks_board_among(const struct lks_gpu *gpu, const struct lks_gpu *const *boards, size_t count);

bool lks_board_in_families(const struct lks_gpu *gpu, struct lks_str families);

#endif
