/* For exposure*.c: who looks, and the nodes behind a basis. */
#ifndef LKS_CORE_EXPOSURE_PARTS_H
#define LKS_CORE_EXPOSURE_PARTS_H

#include "core/exposure.h"

struct lks_exposure_view {
    const struct lks_state *state;
    const struct lks_facts *facts;
    lks_exposure_sees *sees; /* NULL: all */
    void *ctx;
};

/* The first node behind `node` (LKS_NO_NODE: the first of all) that is judged by this basis and may
 * be seen; LKS_NO_NODE: there is none. */
uint32_t lks_exposure_node(const struct lks_exposure_view *view, uint32_t basis, uint32_t node);

/* How many of them there are. */
uint64_t lks_exposure_nodes(const struct lks_exposure_view *view, uint32_t basis);

#endif
