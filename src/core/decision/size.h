/* How large a change is, in what people count: nodes, assets, GPUs. */
#ifndef LKS_CORE_SIZE_H
#define LKS_CORE_SIZE_H

#include "core/registry/book.h"

struct lks_state;
struct lks_state_change;

struct lks_change_size {
    uint32_t units, nodes, assets, gpus;
};

/* By what was read of the node; where nothing was, by its class. An asset has none. */
uint32_t lks_size_gpus(const struct lks_state *s, const struct lks_book *book, uint32_t node);

/* One node or asset more. */
void lks_size_add(const struct lks_state *s, const struct lks_book *book, uint32_t node,
                  struct lks_change_size *size);

struct lks_change_size lks_size_of_change(const struct lks_state *s, const struct lks_book *book,
                                          const struct lks_state_change *c);

#endif
